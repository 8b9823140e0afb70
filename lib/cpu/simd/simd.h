/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the vector code offers: a table of loops for each pair, and one for what is done element by
 * element, each once an instruction set. Nothing here knows of threads, and the
 * callers know nothing of element types.
 *
 * Positions count elements in the direction of the scan. Keys are elements as the loops compute with
 * them (keys.h), in a vscan__value of which only the table's functions know the member.
 */
#ifndef VSCAN_CPU_SIMD_H
#define VSCAN_CPU_SIMD_H

#include <stdbool.h>
#include <stdint.h>

#include "core/backend.h"
#include "core/order.h"

/* ---- Tiles ----------------------------------------------------------------------------------- */

static inline int64_t vscan__cpu_smaller(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/* A tile: n elements whose lowest address is in; position p is in[p], backward in[n - 1 - p]. */
struct vscan__cpu_span {
    const void *in;
    void *out;     /* the same address as in, or no overlap */
    int64_t n;     /* 1 .. the pair's tile */
    int64_t ahead; /* prefetches the input so many bytes on; 0: none */
    int64_t jump;  /* overlapped: past the tile's end it prefetches so many bytes further */
    bool backward;
    bool exclusive;
    bool stream; /* non-temporal stores; out is a multiple of 16 and n one of a group */
};

/* What a segmented tile needs beside its elements. */
struct vscan__cpu_segments {
    const uint32_t *heads;    /* bit p % 32 of word p / 32: position p is a segment's first */
    union vscan__value z;     /* key of the initial value, R4 at a segment's begin */
    union vscan__value first; /* key that an exclusive scan writes at every first element */
    void *totals;             /* or NULL */
    int64_t open;             /* the number of the segment that is open at the tile's start */
    int64_t step;             /* 1, backward -1: the next segment's number minus this one's */
    int64_t end;              /* totals[k] is written for 0 <= k < end */
};

/* What precedes a tile: see cpu/levels.h. */
struct vscan__cpu_levels {
    union vscan__value r3, r4;
    int64_t tiles; /* before it in its block of level 3 */
};

/*
 * The results of a tile (span), overlapped with X2 of a later one: how several threads scan with
 * non-temporal stores. X2 is computed once the elements are read, and kept until it is known what comes
 * before the tile. That of the later tile takes the same place.
 */
struct vscan__cpu_overlap {
    void *kept; /* as many bytes as the pair says, a multiple of 64 */
    const struct vscan__cpu_span *span, *later; /* whole tiles, or NULL */
    const uint32_t *heads, *later_heads;        /* of each, or NULL */
    union vscan__value z, first;                /* as in struct vscan__cpu_segments */
    struct vscan__cpu_levels *levels;           /* before span, cut by its heads */
};

/* Overlapped, the input is prefetched so many bytes ahead. */
enum { VSCAN__CPU_PREFETCH = 16 << 10 };

/* Adjacent columns of a matrix, at most VSCAN__CPU_BAND bytes of a row. */
struct vscan__cpu_band {
    const void *in;       /* the first column's element in row 0 */
    void *out;            /* the same address as in, or no overlap; NULL: a reduction */
    void *totals;         /* one element a column, or NULL */
    const void *initial;  /* one element, or one a column, or NULL */
    int64_t initial_step; /* 0 or 1 */
    int64_t columns, rows, pitch;
    bool backward;
    bool exclusive;
};

enum { VSCAN__CPU_BAND = 512 };

/* Segments given by offsets: a scan, or with out NULL a reduction. */
struct vscan__cpu_ragged {
    const struct vscan__scan *scan;
    union vscan__value z;     /* key of the initial value, or of the identity */
    union vscan__value empty; /* key of what callers see where nothing precedes */
};

/* Offset i; another thread may change it meanwhile. */
static inline int64_t vscan__cpu_offset(const struct vscan__scan *scan, int64_t i) {
    return scan->offset_type == VSCAN_LONG
               ? __atomic_load_n((const int64_t *)scan->offsets + i, __ATOMIC_RELAXED)
               : __atomic_load_n((const int32_t *)scan->offsets + i, __ATOMIC_RELAXED);
}

/* The functions of a pair. */
struct vscan__cpu_pair {
    int64_t size;    /* bytes of an element */
    int64_t in_size; /* of one that is read: only in VSCAN__CPU_WIDENING it is another */
    int64_t tile;    /* elements of a tile */
    bool sum;        /* plus: the result of no elements is 0, all bits clear */
    bool arithmetic; /* adds or compares floating-point numbers: their modes matter */
    union vscan__value (*identity)(void); /* key; -0.0 for float and double plus */
    union vscan__value (*take)(const void *element);
    void (*put)(void *element, union vscan__value key);
    union vscan__value (*combine)(union vscan__value left, union vscan__value right);
    /* the tile's sum, X2 at its end, as if all before position start were absent; where any order
       gives the same bits, a span may be longer than a tile */
    union vscan__value (*aggregate)(const struct vscan__cpu_span *span, int64_t start);
    /* scans a tile after `levels`, by segments or NULL; returns its sum since its last head. Heads cut
       the levels, which are then ready to pass the sum */
    union vscan__value (*scan)(const struct vscan__cpu_span *span,
                               const struct vscan__cpu_segments *segments,
                               struct vscan__cpu_levels *levels);
    /* the same for the totals of a forward scan alone: what is in out is lost */
    union vscan__value (*totals)(const struct vscan__cpu_span *span,
                                 const struct vscan__cpu_segments *segments,
                                 struct vscan__cpu_levels *levels);
    /* scans overlapped and returns what scan returns, but for the later tile; or NULL */
    union vscan__value (*overlap)(const struct vscan__cpu_overlap *overlap);
    int64_t kept; /* bytes that it keeps of a tile */
    /* scans or reduces every column of a band */
    void (*band)(const struct vscan__cpu_band *band);
    /* scans or reduces segments k .. to - 1, up to one of more than a few groups, or one whose offsets
       are wrong; returns its number, or `to` */
    int64_t (*short_segments)(const struct vscan__cpu_ragged *ragged, int64_t k, int64_t to);
};

/* One row more: plus of int with results of long, without heads, overlaps and scans of bands and by offsets. */
enum { VSCAN__CPU_WIDENING = vscan__pair_count, VSCAN__CPU_PAIRS };

/* ---- Element by element ---------------------------------------------------------------------- */

enum { VSCAN__CPU_LANES = 32 }; /* elements of a group */

/* n elements. */
struct vscan__cpu_operands {
    const void *a, *b;    /* b: NULL where there is one operand */
    const uint8_t *flags; /* select: 0 and 1 */
    void *out;            /* the same address as a or b, or no overlap */
    int64_t n;
    int64_t step_a, step_b; /* VSCAN__CPU_LANES, or 0: the same group again and again */
    uint8_t inverted;       /* compare: 1 where the flags are to be inverted */
};

typedef void vscan__cpu_loop(const struct vscan__cpu_operands *operands);

typedef bool vscan__cpu_sort_keys(const void *in, void *out, void *room, int64_t n, bool real,
                                  bool descending);

typedef void vscan__cpu_flagged(const void *in, const uint8_t *flags, int64_t n, int64_t first,
                                void *packed);

/* By keys (simd/extreme.h); turn: -1 for the minimum, else 0. */
enum { VSCAN__CPU_ABREAST = 256 };

/* A running maximum or minimum with positions: of n elements in a row, or of n rows of adjacent columns. */
struct vscan__cpu_running {
    const void *in;   /* the element that is first in memory; of columns, the first row in the direction */
    void *out;        /* where in is, the same address or no overlap; or NULL */
    void *positions;  /* where in is */
    int64_t n;
    int64_t position; /* what is written as the position of in's element */
    int32_t turn;
    bool backward, wide; /* in a row; positions of 8 bytes */
};

struct vscan__cpu_extremes {
    /* the greatest key of n > 0 elements */
    int64_t (*highest)(const void *in, int64_t n, int32_t turn);
    /* the same, and the index of the first element, backward of the last one, that has it */
    int64_t (*best)(const void *in, int64_t n, bool backward, int32_t turn, int64_t *key);
    /* for each of so many lines abreast, line_step elements apart, the greatest key of `length` elements from its first
       on, step apart, and the number of the first of these that has it; 0 < length <= INT32_MAX */
    void (*abreast)(const void *in, int64_t line_step, int64_t step, int64_t lines, int64_t length,
                    int32_t turn, int64_t *keys, int64_t *numbers);
    /* in a row; what comes before has that key, or at less than all keys, and position, and then the best of all has */
    void (*scan)(const struct vscan__cpu_running *r, int64_t *key, int64_t *at);
    /* of lines that are line_step elements apart, each on its own; next_line: how positions go on */
    void (*scan_lines)(const struct vscan__cpu_running *r, int64_t lines, int64_t line_step,
                       int64_t next_line);
    /* of at most VSCAN__CPU_ABREAST adjacent columns, whose rows are `step` elements apart; next_row and next_column:
       how positions go on */
    void (*scan_columns)(const struct vscan__cpu_running *r, int64_t step, int64_t columns,
                         int64_t next_row, int64_t next_column);
};

struct vscan__cpu_maps {
    vscan__cpu_loop *unary[vscan__unary_count];
    vscan__cpu_loop *binary[vscan__binary_count];
    vscan__cpu_loop *compare[vscan__compare_count]; /* out: bytes */
    vscan__cpu_loop *convert[vscan__convert_count];
    vscan__cpu_loop *select_1, *select_4, *select_8; /* by bytes of an element */
    /* the same element LANES times, by its bytes */
    void (*repeat_1)(const void *element, void *group);
    void (*repeat_4)(const void *element, void *group);
    void (*repeat_8)(const void *element, void *group);
    /* copies n positions of 4 or 8 bytes, each read once; whether all that are copied lie in 0 .. last */
    bool (*take_4)(const void *positions, int64_t n, uint64_t last, void *copy);
    bool (*take_8)(const void *positions, int64_t n, uint64_t last, void *copy);
    /* those of n elements of 4 or 8 bytes that are flagged 0 to clear, those flagged 1 to set, in
       their order; both have room for VSCAN__CPU_LANES more than n */
    void (*separate_4)(const void *in, const uint8_t *flags, int64_t n, void *clear, void *set);
    void (*separate_8)(const void *in, const uint8_t *flags, int64_t n, void *clear, void *set);
    /* those of n elements of 4 or 8 bytes that are flagged 1; packed has room for n */
    vscan__cpu_flagged *pack_4, *pack_8;
    vscan__cpu_flagged *number_4, *number_8; /* of their numbers: element 0 is number first */
    /* out[i] = in[positions[i]] for elements of 4 or 8 bytes that lie beyond the nearest cache */
    void (*gather_4)(const void *in, const int32_t *positions, int64_t n, void *out);
    void (*gather_8)(const void *in, const int32_t *positions, int64_t n, void *out);
    struct vscan__cpu_extremes extremes_int, extremes_long, extremes_float, extremes_double;
    void (*stream)(void *to, const void *from, int64_t bytes); /* a copy by non-temporal stores */
    /* sorts n > 0 keys of 4 or 8 bytes; out may be in, room has room for n, and may be in. false, and `in` is as it
       was, where a NaN is among them, as NaNs may be told apart. NULL: without vectors that are worth it */
    vscan__cpu_sort_keys *sort_4, *sort_8;
};

/* ---- The tables of an instruction set: they differ in speed, never in a bit of a result ------ */

#define VSCAN__CPU_TABLES(set)                                                                     \
    extern const struct vscan__cpu_pair vscan__cpu_pairs_##set[VSCAN__CPU_PAIRS];                  \
    extern const struct vscan__cpu_maps vscan__cpu_maps_##set;
VSCAN__CPU_TABLES(portable)
#if defined __x86_64__
VSCAN__CPU_TABLES(avx2)
VSCAN__CPU_TABLES(avx512)
#endif

#endif
