/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A backend is a table of functions. The public functions check every argument before they call a
 * slot. A slot is called with the context locked, gets addresses in the backend's memory, and returns a
 * status whose sentence it has left with vscan__fail. "Late" are the errors that it may find in the
 * data, which a later call reports.
 */
#ifndef VSCAN_BACKEND_H
#define VSCAN_BACKEND_H

#include <stdbool.h>

#include "core/map_ops.h"
#include "core/pairs.h"
#include "vscan.h"

struct vscan__text; /* core/text.h */

/* One element of any type. */
union vscan__value {
    int32_t as_int;
    float as_float;
    double as_double;
    int64_t as_long;
    uint8_t as_byte;
    uint64_t bits;
};

/* Whether a type is one of floating-point numbers. */
#define VSCAN__IS_REAL(type) ((type) == VSCAN_FLOAT || (type) == VSCAN_DOUBLE)

struct vscan__carry; /* core/carry.h */

/* One scan or reduction, segmented or not. Addresses are in the backend's memory. */
struct vscan__scan {
    int64_t n;           /* elements; 0 is legal */
    const void *in;      /* n elements */
    void *out;           /* n elements, the same address as in or no overlap; reduce: NULL;
                            reduce_segmented: NULL, or totals go to their segments' last elements,
                            and the others may be anything */
    int32_t exclusive;   /* 0 or 1 */
    int32_t backward;    /* 0 or 1 */
    int32_t has_initial; /* 0: none; 1: initial; 2: the element at initial_at */
    int32_t flag_type;   /* segmented: VSCAN_INT, VSCAN_BYTE or VSCAN_BIT; else 0 */
    union vscan__value initial;
    const void *initial_at; /* one element; may be the very address total */
    void *total;            /* scan, reduce: one element, or NULL */
    const void *flags;      /* segmented: n flags */
    void *totals;           /* segmented: room for totals_length elements, or NULL */
    int64_t totals_length;
    int64_t *count;             /* segmented: one int64_t for the number of segments, or NULL;
                                   by_offsets: where it is read, or NULL: totals_length */
    struct vscan__carry *carry; /* where to go on, or NULL; then there is no initial value */
    int64_t *carry_at;          /* with a carry: vscan_carry's `at` */
    const void *offsets; /* by_offsets: totals_length + 1 positions; else NULL */
    int32_t offset_type; /* VSCAN_INT or VSCAN_LONG */
    int64_t first_flag;  /* element 0's in flags; only the CPU's functions know it, 0 elsewhere */
};

typedef vscan_status vscan__scan_fn(vscan_ctx *ctx, const struct vscan__scan *scan);

/* Operators on flags, for byte and bit; the results are 0 and 1. */
enum vscan__logic { vscan__logic_not, vscan__logic_and, vscan__logic_or, vscan__logic_xor };

/* One operation element by element. Vectors have n elements; out is the very same elements as a or b,
   where types allow that, or overlaps nothing. */
struct vscan__map {
    int64_t n;         /* > 0 */
    const void *a, *b; /* NULL: in its place stands the scalar, or there is none */
    const void *flags; /* select: of flag_type */
    void *out;
    int32_t row;       /* of the slot's table in map_ops.h; logic: an enum vscan__logic */
    int32_t type;      /* of a and b */
    int32_t out_type;  /* of out */
    int32_t flag_type; /* select: VSCAN_INT, VSCAN_BYTE or VSCAN_BIT */
    int32_t turned;    /* compare: 1 where the flags are to be inverted */
    union vscan__value scalar;
    int64_t first, step; /* index */
};

typedef vscan_status vscan__map_fn(vscan_ctx *ctx, const struct vscan__map *map);

/* A gather or a permute. Nothing overlaps what is written. */
struct vscan__move {
    int64_t n;             /* positions, > 0 */
    int64_t length;        /* of the vector that they are positions in */
    const void *in;        /* gather: length elements; permute: n */
    const void *positions; /* of position_type */
    void *out;             /* gather: n elements; permute: length */
    uint32_t *written;     /* permute: length bits, or NULL; no other bit changes */
    int32_t type;          /* of in and out; never VSCAN_BIT */
    int32_t position_type; /* VSCAN_INT or VSCAN_LONG */
};

typedef vscan_status vscan__move_fn(vscan_ctx *ctx, const struct vscan__move *move);

/* A pack or an enumeration: flags, or with flags NULL a comparison of in with the scalar. */
struct vscan__pack {
    int64_t n;         /* flags, > 0 */
    int64_t length;    /* of out */
    const void *in;    /* pack: n elements */
    const void *flags; /* n flags, or NULL */
    void *out;         /* pack: the same address as in or no overlap; enumerate: n elements */
    int64_t *count;    /* one int64_t for the number of set flags, or NULL */
    int32_t type; /* of out, and pack: of in; never VSCAN_BIT; enumerate: VSCAN_INT, VSCAN_LONG */
    int32_t flag_type;    /* VSCAN_INT, VSCAN_BYTE or VSCAN_BIT */
    int32_t row;          /* without flags: of VSCAN__COMPARE, */
    int32_t exchanged;    /* 1 where the scalar is its a, */
    int32_t turned;       /* and 1 where the flags are to be inverted */
    int32_t first_is_set; /* 1, of heads: flag 0 counts as set, and n comes after the last offset */
    union vscan__value scalar;
};

typedef vscan_status vscan__pack_fn(vscan_ctx *ctx, const struct vscan__pack *pack);

/* A sort of whole vectors or of segments of them. Integers compare as unsigned ones with the sign bit
   inverted. */
struct vscan__sort {
    int64_t n;           /* elements; sort: > 0 */
    const void *keys;    /* of key_size bytes each */
    void *keys_out;      /* the same address as keys or no overlap */
    const void *values;  /* of value_size bytes each, or NULL */
    void *values_out;    /* the same address as values or no overlap; NULL with values */
    const void *offsets; /* sort_segmented: segments + 1 positions of offset_type */
    int64_t segments;
    int32_t offset_type; /* VSCAN_INT or VSCAN_LONG */
    int32_t key_size;    /* 4 or 8 */
    int32_t value_size;  /* 4 or 8; 0 without values */
    int32_t real;        /* 1: keys are floating point, 0: integers */
    int32_t descending;  /* 0 or 1 */
    int32_t first_bit;   /* integers are compared by so many bits from this one on; */
    int32_t bits;        /* > 0; floating point: 0, and all */
};

typedef vscan_status vscan__sort_fn(vscan_ctx *ctx, const struct vscan__sort *sort);

/* A split, or the positions of one. Nothing overlaps what is written. */
struct vscan__split {
    int64_t n;         /* flags, > 0 */
    const void *in;    /* n elements, or NULL: out receives positions */
    const void *flags; /* n flags */
    const void *heads; /* n flags that begin segments, or NULL: there is one */
    void *out;         /* n elements */
    int64_t *count;    /* one int64_t for the number of clear flags, or NULL */
    int32_t type;      /* of in and out, never VSCAN_BIT; of positions: VSCAN_INT, VSCAN_LONG */
    int32_t flag_type; /* VSCAN_INT, VSCAN_BYTE or VSCAN_BIT */
    int32_t head_type; /* the same; without heads 0 */
};

typedef vscan_status vscan__split_fn(vscan_ctx *ctx, const struct vscan__split *split);

/* out[i] = in[first of i's segment], backward in[last of i's segment]. */
struct vscan__distribution {
    int64_t n;         /* > 0 */
    const void *in;    /* n elements */
    const void *flags; /* n flags */
    void *out;         /* n elements, the same address as in or no overlap */
    int32_t type;      /* of in and out; never VSCAN_BIT */
    int32_t flag_type; /* VSCAN_INT, VSCAN_BYTE or VSCAN_BIT */
    int32_t backward;  /* 0 or 1 */
};

typedef vscan_status vscan__distribution_fn(vscan_ctx *ctx,
                                            const struct vscan__distribution *distribution);

/* Keys to heads: a flag where a key differs from the one before it, as a sort's order tells them apart. */
struct vscan__keys {
    int64_t n;         /* > 0 */
    const void *keys;  /* n numbers */
    const void *flags; /* n flags that are heads, too, or NULL */
    void *out;         /* n flags; the same address as flags, of their type, or no overlap */
    int32_t type;      /* of keys */
    int32_t flag_type; /* VSCAN_INT, VSCAN_BYTE or VSCAN_BIT; without flags 0 */
    int32_t out_type;  /* the same */
};

typedef vscan_status vscan__keys_fn(vscan_ctx *ctx, const struct vscan__keys *keys);

/* Lower or upper bounds: how many of the sorted numbers are less than a value, or not greater. */
struct vscan__bounds {
    int64_t n;          /* values, > 0 */
    int64_t length;     /* sorted numbers, >= 0 */
    const void *sorted; /* of type, in the order of a sort; else results are in 0 .. length */
    const void *values; /* of type */
    void *out;          /* n positions; overlaps nothing */
    int32_t type;       /* VSCAN_INT, VSCAN_LONG, VSCAN_FLOAT or VSCAN_DOUBLE */
    int32_t out_type;   /* VSCAN_INT or VSCAN_LONG */
    int32_t upper;      /* 0 or 1 */
};

typedef vscan_status vscan__bounds_fn(vscan_ctx *ctx, const struct vscan__bounds *bounds);

/* A running maximum or minimum with positions, or only its last result. Positions count elements of in, in
   either direction; of equal elements it is that of the first one in the direction of the scan. */
struct vscan__extreme {
    int64_t n;             /* > 0 */
    const void *in;        /* n elements */
    void *out;             /* n elements, the same address as in or no overlap; or NULL */
    void *positions;       /* n positions; NULL: the last result alone, and out is NULL, too */
    void *total;           /* one element, or NULL */
    void *position;        /* one position; NULL where all results are wanted, and total is, too */
    int32_t type;          /* VSCAN_INT, VSCAN_LONG, VSCAN_FLOAT or VSCAN_DOUBLE */
    int32_t position_type; /* VSCAN_INT or VSCAN_LONG */
    int32_t min;           /* 0: the maximum; 1: the minimum */
    int32_t backward;      /* 0 or 1 */
};

typedef vscan_status vscan__extreme_fn(vscan_ctx *ctx, const struct vscan__extreme *extreme);

/* The maximum or minimum of every line, with its position: of rows or columns, which are as in struct vscan__matrix, or
   of segments by offsets. Of equal elements the first one counts, in the direction. A line without elements has the
   identity and position -1. Or the running ones of rows or columns. */
struct vscan__extreme_lines {
    int64_t n;                              /* by offsets: elements of in */
    int64_t lines;                          /* > 0; by offsets >= 0 */
    int64_t each, apart, length, line_step; /* rows and columns: length > 0 */
    int64_t step;
    const void *in;
    const void *offsets;   /* lines + 1 positions, or NULL; late: OFFSETS */
    void *totals;          /* one element a line, or NULL; in a scan NULL */
    void *out;             /* scan: where in's elements are, the same address or no overlap; or NULL */
    void *positions;       /* one position a line; in a scan where in's elements are */
    int32_t type;          /* VSCAN_INT, VSCAN_LONG, VSCAN_FLOAT or VSCAN_DOUBLE */
    int32_t position_type; /* VSCAN_INT or VSCAN_LONG */
    int32_t offset_type;   /* VSCAN_INT or VSCAN_LONG */
    int32_t columns;       /* 0 or 1 */
    int32_t min;           /* 0: the maximum; 1: the minimum */
    int32_t backward;      /* 0 or 1 */
    int32_t in_vector;     /* positions count elements 0: of the line; 1: of in */
    int32_t scan;          /* 0 or 1 */
};

typedef vscan_status vscan__extreme_lines_fn(vscan_ctx *ctx,
                                             const struct vscan__extreme_lines *lines);

/* Offsets or lengths to flags, lengths or offsets. in and out do not overlap. Late: OFFSETS. */
struct vscan__ranges {
    int64_t n;        /* elements of in; subtract: one less */
    int64_t length;   /* mark: of out */
    const void *in;   /* of type */
    void *out;        /* of out_type */
    int32_t type;     /* VSCAN_INT or VSCAN_LONG */
    int32_t out_type; /* mark: VSCAN_INT, VSCAN_BYTE or VSCAN_BIT; else VSCAN_INT or VSCAN_LONG */
};

typedef vscan_status vscan__ranges_fn(vscan_ctx *ctx, const struct vscan__ranges *ranges);

/* A scan or a reduction of every line of matrices of one shape, their rows or their columns. Element k of line
   l, which is line l % each of matrix l / each, is number (l / each) * apart + (l % each) * line_step + k *
   step; no other is read or written. */
struct vscan__matrix {
    int64_t lines;           /* > 0 */
    int64_t each;            /* lines of a matrix; of rows: all */
    int64_t apart;           /* elements from one matrix to the next */
    int64_t length;          /* elements of a line; 0 is legal */
    int64_t line_step, step; /* rows: the pitch, 1; columns: 1, the pitch */
    const void *in;
    void *out;            /* the same address as in or no overlap; reduce: NULL */
    void *totals;         /* one element a line, or NULL */
    int32_t columns;      /* 0 or 1 */
    int32_t exclusive;    /* 0 or 1 */
    int32_t backward;     /* 0 or 1 */
    int32_t has_initial;  /* 0: none; 1: initial; 2: those at initial_at */
    int32_t initial_step; /* 0: one element for all lines; 1: one a line */
    union vscan__value initial;
    const void *initial_at;
    const void *heads; /* scans of rows: a flag for each element, with the same number, or NULL */
    int32_t head_type; /* VSCAN_INT, VSCAN_BYTE or VSCAN_BIT */
};

typedef vscan_status vscan__matrix_fn(vscan_ctx *ctx, const struct vscan__matrix *matrix);

/* A reduction of the columns of groups of rows. */
struct vscan__row_groups {
    struct vscan__matrix matrix; /* of all rows; totals: one element a column, group after group; initial
                                    values: one for all, or one a column */
    const void *offsets;         /* groups + 1 numbers of rows */
    int64_t groups;              /* 0 is legal */
    int32_t offset_type;         /* VSCAN_INT or VSCAN_LONG */
    enum vscan__pair pair;
};

typedef vscan_status vscan__row_groups_fn(vscan_ctx *ctx, const struct vscan__row_groups *work);

struct vscan__backend {
    const char *name; /* as VSCAN_BACKEND in the environment spells it */

    /* devices; no context yet. `device` is below the count, here and in open. */
    vscan_status (*device_count)(int32_t *count); /* NO_BACKEND, NO_DRIVER: with *count = 0 */
    vscan_status (*device_name)(int32_t device, char *name, int64_t capacity);
    vscan_status (*device_memory)(int32_t device, int64_t *total, int64_t *free); /* none NULL */
    void (*describe)(struct vscan__text *text); /* adds lines on the backend, its devices included */

    /* the backend's part of a context: ctx->device and threads are set, ctx->state is the result */
    vscan_status (*open)(vscan_ctx *ctx, void *stream);
    void (*close)(vscan_ctx *ctx);                                       /* waits first */
    vscan_status (*reserve)(vscan_ctx *ctx, vscan_type type, int64_t n); /* the types of pairs */

    /* the stream */
    vscan_status (*synchronize)(vscan_ctx *ctx); /* waits, then takes and reports the late error */
    vscan_status (*set_stream)(vscan_ctx *ctx, void *stream); /* NULL: the context's own */
    vscan_status (*get_stream)(vscan_ctx *ctx, void **stream);
    vscan_status (*may_wait)(vscan_ctx *ctx); /* CAPTURE where waiting is impossible now */

    /* memory; bytes > 0 */
    vscan_status (*allocate)(vscan_ctx *ctx, int64_t bytes, void **pointer);
    void (*release)(vscan_ctx *ctx, void *pointer); /* waits for its work; NULL: only waits */
    vscan_status (*check_pointer)(vscan_ctx *ctx, const void *pointer, int64_t bytes); /* POINTER */
    vscan_status (*upload)(vscan_ctx *ctx, void *to, const void *from, int64_t bytes);
    vscan_status (*download)(vscan_ctx *ctx, void *to, const void *from, int64_t bytes); /* waits */
    vscan_status (*copy)(vscan_ctx *ctx, void *to, const void *from, int64_t bytes);

    /* memory for what one call's slots hand on, of so many bytes or more, at a multiple of 16 */
    vscan_status (*between)(vscan_ctx *ctx, int64_t bytes, void **memory);

    /* elements first .. first + n - 1 of a vector of this type at pointer become value; n > 0.
       Bits: value.as_byte is 0 or 1, and no other bit changes. */
    vscan_status (*fill)(vscan_ctx *ctx, vscan_type type, void *pointer, int64_t first, int64_t n,
                         union vscan__value value);
    /* to[i] = from[i] for n bits, n > 0, both beginning at bit 0 of a word; no other bit changes */
    vscan_status (*copy_bits)(vscan_ctx *ctx, void *to, const void *from, int64_t n);

    /* one row a pair */
    struct {
        vscan__scan_fn *scan, *scan_segmented, *reduce;
        vscan__scan_fn *reduce_segmented; /* late: TOTALS_LENGTH */
        vscan__scan_fn *by_offsets;       /* a scan or, with out NULL, a reduction of each segment, a
                                             vector of its own; late: OFFSETS, TOTALS_LENGTH */
        vscan__matrix_fn *matrix;
    } pairs[vscan__pair_count];

    vscan__row_groups_fn *columns_by_offsets; /* late: OFFSETS */

    vscan__scan_fn *widening; /* plus of int with results of long, n > 0: a scan, or with out NULL a
                                   reduction; the initial value and the carry are of long */
    vscan__scan_fn *widening_by_offsets; /* the same for a reduction of each segment */
    vscan__matrix_fn *widening_matrix;   /* or of each line */
    vscan__extreme_fn *extreme; /* maximum or minimum with positions */
    vscan__extreme_lines_fn *extreme_lines; /* of every row, column or segment */

    /* element by element */
    vscan__map_fn *unary;   /* row of VSCAN__UNARY: out = row(a) */
    vscan__map_fn *binary;  /* row of VSCAN__BINARY: out = row(a, b); late: DIVISION */
    vscan__map_fn *compare; /* row of VSCAN__COMPARE; out is int, byte or bit */
    vscan__map_fn *logic;   /* a, b and out are bytes or bits, all of one type */
    vscan__map_fn *select;  /* out = flags ? a : b, any one type */
    vscan__map_fn
        *convert; /* row of VSCAN__CONVERT; a of byte or bit: flags to any out_type but uint8,
                               which byte stands for */

    /* by position */
    vscan__map_fn *index;      /* out[i] = first + i * step; out is int, float, double or long */
    vscan__map_fn *distribute; /* out[i] = a[0], any one type */
    vscan__move_fn *gather;    /* out[i] = in[positions[i]]; late: POSITION */
    vscan__move_fn *permute;   /* out[positions[i]] = in[i]; late: POSITION, REPEATED */

    /* by flags */
    vscan__pack_fn *pack;      /* out = the elements of in that are flagged; late: OUT_LENGTH */
    vscan__pack_fn *enumerate; /* out[i] = the number of set flags before i */
    vscan__pack_fn *count;     /* only the number of set flags: of n, flags, flag_type and count */

    /* by order */
    vscan__sort_fn *sort;           /* the whole vectors */
    vscan__sort_fn *sort_segmented; /* segments of them; late: POSITION */
    vscan__sort_fn *reserve_sort;   /* of n, key_size and value_size; nothing else is set */
    vscan__bounds_fn *bounds;       /* out[i] = the lower or upper bound of values[i] */
    vscan__split_fn *split; /* out = in, or its places, clear flags to the left, set to the right */

    /* segments */
    vscan__distribution_fn *distribute_segmented;
    vscan__pack_fn *flags_to_offsets; /* out = the positions of set flags; late: OUT_LENGTH */
    vscan__keys_fn *keys_to_heads;    /* out[i] = 1 where a key differs from the one before it */
    vscan__ranges_fn *mark;           /* out[in[i]] = 1, all other flags 0; n + length > 0 */
    vscan__ranges_fn *subtract;       /* out[i] = in[i + 1] - in[i]; n > 0 */
    vscan__ranges_fn *add;            /* out[i] = in[0] + ... + in[i - 1], n + 1 elements; n >= 0 */
};

extern const struct vscan__backend vscan__cpu;  /* cpu/backend.c */
extern const struct vscan__backend vscan__cuda; /* cuda/backend.c, or cuda/absent.c */

#endif
