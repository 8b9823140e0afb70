/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One call of any family that hands over status words between blocks, as a value: what it works on and
 * how. The same call can be made on several contexts, and many times. The public interface alone is
 * used here, so that a program made of it also runs with an older library.
 *
 * Inputs are views of long vectors of random contents. These are made when they are first needed; they
 * follow from a seed, so they are the same on every context.
 */
#ifndef CALLS_H
#define CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "reference.h"
#include "vscan.h"

enum call_family {
    CALL_SCAN,
    CALL_SCAN_SEGMENTED,
    CALL_REDUCE,
    CALL_REDUCE_SEGMENTED,
    CALL_REDUCE_OFFSETS,
    CALL_SCAN_ROWS,
    CALL_SCAN_ROWS_SEGMENTED,
    CALL_SCAN_COLUMNS,
    CALL_REDUCE_ROWS,
    CALL_REDUCE_COLUMNS,
    CALL_REDUCE_COLUMNS_OFFSETS,
    CALL_PACK,
    CALL_PACK_COMPARE,
    CALL_ENUMERATE,
    CALL_SORT,
    CALL_SORT_SEGMENTED,
    CALL_SPLIT,
    CALL_SPLIT_SEGMENTED,
    CALL_SPLIT_POSITIONS,
    CALL_SPLIT_SEGMENTED_POSITIONS,
    CALL_DISTRIBUTE_SEGMENTED,
    CALL_DISTRIBUTE_TOTALS,
    CALL_FLAGS_TO_OFFSETS,
    CALL_OFFSETS_TO_FLAGS,
    CALL_OFFSETS_TO_LENGTHS,
    CALL_LENGTHS_TO_OFFSETS,
    CALL_FLAGS_TO_POSITIONS,
    CALL_KEYS_TO_HEADS,
    CALL_LOWER_BOUND,
    CALL_UPPER_BOUND,
    CALL_SCAN_EXTREME,
    CALL_REDUCE_EXTREME,
    CALL_SCAN_OFFSETS,
    CALL_RUNS,
    CALL_REDUCE_BY_KEY,
    CALL_COUNT,
    CALL_EXTREME_ROWS,
    CALL_EXTREME_COLUMNS,
    CALL_EXTREME_OFFSETS,
    CALL_SCAN_EXTREME_ROWS,
    CALL_SCAN_EXTREME_COLUMNS,
    CALL_FAMILIES
};
const char *call_family_name(enum call_family family);

/* Flags are set with a probability of 1/2, 1/30, 1/1000, or in long runs. */
enum { CALL_DENSITIES = 4, CALL_TYPES = VSCAN_UINT8 - VSCAN_INT + 1, CALL_OUTPUTS = 2 };

struct call {
    enum call_family family;
    vscan_op op;
    vscan_type type;          /* of elements; int, long, float or double where they are combined */
    vscan_type flag_type;     /* of flags and heads: int, byte or bit */
    vscan_type position_type; /* of offsets, lengths and positions: int or long */
    int density;              /* of flags; heads have the next one */
    int64_t n;                /* elements, flags or lengths; a matrix: rows * columns */
    int64_t rows, columns;    /* of a matrix */
    int64_t at;               /* where elements, offsets or lengths begin in the inputs */
    int64_t flags_at;         /* where flags begin; a multiple of 32 */
    int64_t room;             /* of what a pack or a conversion to offsets writes; 0: for all */
    bool exclusive, backward; /* a sort: descending */
    bool extra;               /* with total, totals, count, or a sort's values */
};

/* Types, and a random n of up to `most`, and all the rest; lengths are uniform in their logarithm. */
struct inputs_random;
struct call call_draw(struct inputs_random *random, enum call_family family, int64_t most);

/* The same call on other data. */
struct call call_elsewhere(const struct call *call);

/* The same kind of call, with the same types, of a smaller size. */
struct call call_smaller(struct inputs_random *random, const struct call *call, int64_t most);

/* "scan_rows plus float 3 x 200000, ..." */
enum { CALL_TEXT = 320 };
const char *call_text(const struct call *call, char text[CALL_TEXT]);

/* What a call writes; n = 0: nothing. */
struct call_output {
    vscan_type type;
    int64_t n;
};

/* Inputs of calls on one context: each a vector of `length` elements, at least twice a call's n. */
enum call_vectors { CALL_VALUES, CALL_OFFSETS, CALL_LENGTHS, CALL_FLAGS };
struct call_inputs {
    vscan_ctx *ctx;
    uint64_t seed;
    int64_t length;
    vscan_buffer *vectors[CALL_FLAGS + CALL_DENSITIES][CALL_TYPES];
    int64_t *offsets; /* those of CALL_OFFSETS, on the host */
};
struct call_inputs call_inputs(vscan_ctx *ctx, uint64_t seed, int64_t length);
void call_inputs_free(struct call_inputs *inputs);

/* A call that can be made any number of times. */
struct call_ready {
    struct call call;
    vscan_ctx *ctx;
    vscan_buffer *in, *values, *flags, *heads, *offsets;
    struct call_output outputs[CALL_OUTPUTS];
};
vscan_status call_open(struct call_inputs *inputs, const struct call *call,
                       struct call_ready *ready);
vscan_status call_make(const struct call_ready *ready, vscan_buffer *const outputs[CALL_OUTPUTS]);
void call_close(struct call_ready *ready);

#endif
