/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One run of the library, compared with the reference in everything it may and may not write.
 *
 * Every vector is a view inside a larger buffer with canaries on both sides. Outputs are poisoned
 * before the run; inputs are compared after it. A failure prints the whole case.
 */
#ifndef CASES_H
#define CASES_H

#include "harness.h"
#include "inputs.h"
#include "reference.h"

enum case_initial { INITIAL_NONE, INITIAL_HOST, INITIAL_BUFFER, INITIAL_CARRY, INITIAL_CHOICES };
enum case_totals { TOTALS_NONE, TOTALS_EXACT, TOTALS_LONGER, TOTALS_SHORT, TOTALS_CHOICES };

/* INITIAL_CARRY: the initial value's buffer receives the total as well; segmented: INITIAL_BUFFER. */
struct test_case {
    const char *family; /* "scan", "segmented", "reduce" */
    vscan_op op;
    vscan_type type;
    int64_t n;
    enum inputs_pattern pattern;
    uint64_t seed; /* of the values; what else is random follows from it */
    bool exclusive, backward, in_place;
    enum case_initial initial;
    bool total_buffer;       /* scan */
    int shift_in, shift_out; /* elements by which the views are misaligned */

    enum inputs_flags flags; /* segmented */
    vscan_type flag_type;
    int shift_flags; /* elements; bits: 32-bit words */
    enum case_totals totals;
    bool count_buffer;
};

/* Draws everything about the run that is not the family, the pair, n, the pattern or the flags. */
void case_draw(struct test_case *c, struct inputs_random *random);

/* in: n elements on the host. flags: n bytes, 0 or 1. */
void case_scan(const struct test_case *c, const void *in);
void case_segmented(const struct test_case *c, const void *in, const uint8_t *flags);
void case_reduce(const struct test_case *c, const void *in);

/* The lengths that matter for a type (some of them where sizes are small); returns how many. */
enum { CASE_SIZES = 64 };
size_t case_sizes(vscan_type type, uint64_t seed, int64_t sizes[CASE_SIZES]);

/* A seed for each pair and purpose, from the program's seed. */
uint64_t case_seed(vscan_op op, vscan_type type, uint64_t purpose);

#endif
