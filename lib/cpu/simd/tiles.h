/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tiles: keys.h and tile.h for each kind of element, and from them the functions of each pair of
 * core/pairs.h, in a table that the includer names:
 *
 *     PAIRS  vscan__cpu_pairs_portable, ...
 *
 * tiles_*.c include it, each compiled for an instruction set; the results are the same.
 */
#include "cpu/simd/simd.h"
#include "cpu/simd/vector.h"

/* Prefetches the lines of so many bytes at an address, an integer, as it may lie outside the vector. */
#define PREFETCH_LINES(address, bytes, ...)                                                        \
    _Pragma("GCC unroll 32") for (uintptr_t line = 0; line < (bytes); line += 64)                  \
        __builtin_prefetch((const void *)((address) + line), __VA_ARGS__)

/* Without masked loads and stores the scan of a group is large, and segments that are one call it. */
typedef union vscan__value vscan__cpu_group(const struct vscan__cpu_span *span,
                                            union vscan__value initial);
#ifdef LOAD_MASKED
#define GROUP_INLINE ALWAYS_INLINE
#define CALLED(scan_group) NULL
#define GROUP_OF(op, type) KIND_OF(scan_group, op, type)
#else
#define GROUP_INLINE __attribute__((noinline))
#define CALLED(scan_group) scan_group
#define GROUP_OF(op, type) LARGE(scan_group, scan_group, op, type)
#endif

#define KIND_BODY "cpu/simd/tile.h"
#include "cpu/simd/kinds.h"

/* ---- Pairs ----------------------------------------------------------------------------------- */

#define TILE_int VSCAN__TILE_FLOAT
#define TILE_long VSCAN__TILE_DOUBLE
#define TILE_float VSCAN__TILE_FLOAT
#define TILE_double VSCAN__TILE_DOUBLE

/*
 * What is large of a pair. Max and min of longs are one function, and so are or and and of longs, floats and
 * doubles: what they differ by is chosen when they are called (keys.h). With functions of their own the
 * library would be 250 KB larger.
 */
#define SHARE(type, result, name, function, parameters, ...)                                       \
    static __attribute__((noinline)) type name##_long_max parameters {                             \
        result function##_long_key(op == VSCAN_MAX ? VSCAN_MAX : VSCAN_MIN, __VA_ARGS__);          \
    }                                                                                              \
    static __attribute__((noinline)) type name##_long_or parameters {                              \
        result function##_long_key(op == VSCAN_OR ? VSCAN_OR : VSCAN_AND, __VA_ARGS__);            \
    }                                                                                              \
    static __attribute__((noinline)) type name##_float_or parameters {                             \
        result function##_float_key(op == VSCAN_OR ? VSCAN_OR : VSCAN_AND, __VA_ARGS__);           \
    }                                                                                              \
    static __attribute__((noinline)) type name##_double_or parameters {                            \
        result function##_double_key(op == VSCAN_OR ? VSCAN_OR : VSCAN_AND, __VA_ARGS__);          \
    }
#define SCAN_PARAMETERS                                                                            \
    (enum vscan_op op, const struct vscan__cpu_span *span,                                         \
     const struct vscan__cpu_segments *segments, struct vscan__cpu_levels *levels)
SHARE(union vscan__value, return, scan_segments, scan, SCAN_PARAMETERS, span, segments, levels)
#if CPU_TIGHT
SHARE(union vscan__value, return, totals, totals, SCAN_PARAMETERS, span, segments, levels)
#endif
SHARE(union vscan__value, return, scan_blocks, scan, SCAN_PARAMETERS, span, segments, levels)
SHARE(union vscan__value, return, scan_one_block, scan_one_block,
      (enum vscan_op op, const struct vscan__cpu_span *span, struct vscan__cpu_levels *levels),
      span, levels)
#ifndef LOAD_MASKED
SHARE(union vscan__value, return, scan_group, scan_group,
      (enum vscan_op op, const struct vscan__cpu_span *span, union vscan__value initial), span,
      initial)
#endif
SHARE(int64_t, return, short_segments, short_segments,
      (enum vscan_op op, const struct vscan__cpu_ragged *ragged, int64_t k, int64_t to,
       vscan__cpu_group *scan_group),
      ragged, k, to, scan_group)
SHARE(void, , scan_band, scan_band, (enum vscan_op op, const struct vscan__cpu_band *band), band)
#if CPU_TIGHT
SHARE(union vscan__value, return, overlap, overlap,
      (enum vscan_op op, const struct vscan__cpu_overlap *overlap), overlap)
#endif

/* The function of that name: the shared one that a row below names, else the kind's own. */
#define LARGE(name, function, op, type)                                                            \
    SECOND_OF(SHARED_##type##_##op(name), KIND_OF(function, op, type), )
#define SECOND_OF(...) SECOND_OF_(__VA_ARGS__)
#define SECOND_OF_(first, second, ...) second
#define SHARED_long_max(name) , name##_long_max
#define SHARED_long_min(name) , name##_long_max
#define SHARED_long_and(name) , name##_long_or
#define SHARED_long_or(name) , name##_long_or
#define SHARED_float_and(name) , name##_float_or
#define SHARED_float_or(name) , name##_float_or
#define SHARED_double_and(name) , name##_double_or
#define SHARED_double_or(name) , name##_double_or

#if CPU_TIGHT
#define OVERLAP(pair, op, type, OP)                                                                \
    static union vscan__value overlap_##pair(const struct vscan__cpu_overlap *overlap) {           \
        return LARGE(overlap, overlap, op, type)(VSCAN_##OP, overlap);                             \
    }
#define TOTALS(pair, op, type, OP)                                                                 \
    static union vscan__value totals_##pair(const struct vscan__cpu_span *span,                    \
                                            const struct vscan__cpu_segments *segments,            \
                                            struct vscan__cpu_levels *levels) {                    \
        return LARGE(totals, totals, op, type)(VSCAN_##OP, span, segments, levels);                \
    }
#define TIGHT_ONES(pair, op, type)                                                                 \
    .totals = totals_##pair, .overlap = overlap_##pair,                                            \
    .kept = sizeof(struct KIND_OF(kept, op, type)),
#else
#define OVERLAP(pair, op, type, OP)
#define TOTALS(pair, op, type, OP)
#define TIGHT_ONES(pair, op, type) .totals = scan_##pair,
#endif

#define X(pair, op, type, OP, TYPE)                                                                \
    static union vscan__value take_##pair(const void *element) {                                   \
        return KIND_OF(box, op, type)(KIND_OF(take1, op, type)(VSCAN_##OP, element));              \
    }                                                                                              \
    static void put_##pair(void *element, union vscan__value key) {                                \
        KIND_OF(put1, op, type)(VSCAN_##OP, element, KIND_OF(unbox, op, type)(key));               \
    }                                                                                              \
    static union vscan__value combine_##pair(union vscan__value left, union vscan__value right) {  \
        return KIND_OF(box, op, type)(KIND_OF(combine1, op, type)(                                 \
            VSCAN_##OP, KIND_OF(unbox, op, type)(left), KIND_OF(unbox, op, type)(right)));         \
    }                                                                                              \
    static union vscan__value identity_##pair(void) {                                              \
        return KIND_OF(box, op, type)(KIND_OF(identity, op, type)(VSCAN_##OP));                    \
    }                                                                                              \
    static union vscan__value aggregate_##pair(const struct vscan__cpu_span *span,                 \
                                               int64_t start) {                                    \
        return KIND_OF(aggregate, op, type)(VSCAN_##OP, span, start);                              \
    }                                                                                              \
    OVERLAP(pair, op, type, OP)                                                                    \
    TOTALS(pair, op, type, OP)                                                                     \
    static __attribute__((noinline)) union vscan__value scan_segments_##pair(                      \
        const struct vscan__cpu_span *span, const struct vscan__cpu_segments *segments,            \
        struct vscan__cpu_levels *levels) {                                                        \
        return LARGE(scan_segments, scan, op, type)(VSCAN_##OP, span, segments, levels);           \
    }                                                                                              \
    static __attribute__((noinline)) union vscan__value scan_blocks_##pair(                        \
        const struct vscan__cpu_span *span, struct vscan__cpu_levels *levels) {                    \
        return LARGE(scan_blocks, scan, op, type)(VSCAN_##OP, span, NULL, levels);                 \
    }                                                                                              \
    static __attribute__((noinline)) union vscan__value scan_one_block_##pair(                     \
        const struct vscan__cpu_span *span, struct vscan__cpu_levels *levels) {                    \
        return LARGE(scan_one_block, scan_one_block, op, type)(VSCAN_##OP, span, levels);          \
    }                                                                                              \
    static GROUP_INLINE union vscan__value scan_group_##pair(const struct vscan__cpu_span *span,   \
                                                             union vscan__value initial) {         \
        return GROUP_OF(op, type)(VSCAN_##OP, span, initial);                                      \
    }                                                                                              \
    static union vscan__value scan_##pair(const struct vscan__cpu_span *span,                      \
                                          const struct vscan__cpu_segments *segments,              \
                                          struct vscan__cpu_levels *levels) {                      \
        if (segments != NULL) return scan_segments_##pair(span, segments, levels);                 \
        if (span->n > VSCAN__LEVEL_1) return scan_blocks_##pair(span, levels);                     \
        if (span->n > VSCAN__GROUP || levels->tiles != 0)                                          \
            return scan_one_block_##pair(span, levels);                                            \
        return scan_group_##pair(span, levels->r4);                                                \
    }                                                                                              \
    static void band_##pair(const struct vscan__cpu_band *band) {                                  \
        LARGE(scan_band, scan_band, op, type)(VSCAN_##OP, band);                                   \
    }                                                                                              \
    static int64_t short_segments_##pair(const struct vscan__cpu_ragged *ragged, int64_t k,        \
                                         int64_t to) {                                             \
        return LARGE(short_segments, short_segments, op, type)(VSCAN_##OP, ragged, k, to,          \
                                                               CALLED(scan_group_##pair));         \
    }
VSCAN__PAIRS(X)
#undef X

#include "cpu/simd/widening.h"

const struct vscan__cpu_pair PAIRS[VSCAN__CPU_PAIRS] = {
#define X(pair, op, type, OP, TYPE)                                                                \
    [vscan__pair_##pair] = {                                                                       \
        .size = 65536 / TILE_##type,                                                               \
        .in_size = 65536 / TILE_##type,                                                            \
        .tile = TILE_##type,                                                                       \
        .sum = VSCAN_##OP == VSCAN_PLUS,                                                           \
        .arithmetic =                                                                              \
            VSCAN__IS_REAL(VSCAN_##TYPE) && VSCAN_##OP != VSCAN_MAX && VSCAN_##OP != VSCAN_MIN,    \
        .identity = identity_##pair,                                                               \
        .take = take_##pair,                                                                       \
        .put = put_##pair,                                                                         \
        .combine = combine_##pair,                                                                 \
        .aggregate = aggregate_##pair,                                                             \
        .scan = scan_##pair,                                                                       \
        TIGHT_ONES(pair, op, type).band = band_##pair,                                             \
        .short_segments = short_segments_##pair,                                                   \
    },
    VSCAN__PAIRS(X)
#undef X
        [VSCAN__CPU_WIDENING] = {.size = sizeof(int64_t),
                                 .in_size = sizeof(int32_t),
                                 .tile = VSCAN__TILE_DOUBLE,
                                 .sum = true,
                                 .identity = identity_plus_long,
                                 .take = take_plus_long,
                                 .put = put_plus_long,
                                 .combine = combine_plus_long,
                                 .aggregate = sum_widening,
                                 .scan = scan_widening,
                                 .band = band_widening,
                                 .short_segments = short_segments_widening},
};
