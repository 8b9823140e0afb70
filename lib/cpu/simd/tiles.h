/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of the CPU backend: keys.h and tile.h for each kind of element, and from them
 * one set of functions for each pair of core/pairs.h, in a table that the includer names:
 *
 *     ROWS   vscan__cpu_portable, ...
 *
 * No threads, no libraries, no state. tiles_*.c include it, each compiled for an instruction
 * set; the results are the same.
 */
#include "cpu/cpu.h"

#define KIND_BODY "cpu/simd/tile.h"
#include "cpu/simd/kinds.h"

/* ---- Rows ------------------------------------------------------------------------------------ */

#define TILE_int VSCAN__TILE_FLOAT
#define TILE_float VSCAN__TILE_FLOAT
#define TILE_double VSCAN__TILE_DOUBLE

#if CPU_TIGHT
#define WHOLE(pair, op, type, OP)                                                                  \
    static __attribute__((noinline)) void work_##pair(                                             \
        const struct vscan__cpu_span *span, int64_t p, struct KIND_OF(block, op, type) * b,        \
        const struct vscan__cpu_span *later, int64_t later_p,                                      \
        struct KIND_OF(block, op, type) * fresh, const struct vscan__cpu_segments *segments) {     \
        KIND_OF(work_on, op, type)(VSCAN_##OP, span, p, b, later, later_p, fresh, segments);       \
    }                                                                                              \
    static union vscan__value halves_##pair(struct vscan__cpu_halves *halves) {                    \
        return KIND_OF(halves, op, type)(VSCAN_##OP, halves, work_##pair);                         \
    }                                                                                              \
    static __attribute__((noinline)) union vscan__value scan_groups_##pair(                        \
        const struct vscan__cpu_span *span, union vscan__value before) {                           \
        return KIND_OF(box, op, type)(                                                             \
            KIND_OF(scan_groups, op, type)(VSCAN_##OP, span, KIND_OF(unbox, op, type)(before)));   \
    }
#define KEPT(pair, op, type)                                                                       \
    .halves = halves_##pair, .kept = sizeof(struct KIND_OF(kept, op, type)),
#define WORK(pair) work_##pair
#define GROUPS(pair, span, before)                                                                 \
    if (span->n > VSCAN__GROUP) return scan_groups_##pair(span, before);
#else
#define WHOLE(pair, op, type, OP)
#define KEPT(pair, op, type)
#define WORK(pair) NULL
#define GROUPS(pair, span, before)
#endif

#define X(pair, op, type, OP, TYPE)                                                                \
    static union vscan__value take_##pair(const void *element) {                                   \
        return KIND_OF(box, op, type)(KIND_OF(take1, op, type)(VSCAN_##OP, element));              \
    }                                                                                              \
    static void put_##pair(void *element, union vscan__value key) {                                \
        KIND_OF(put1, op, type)(VSCAN_##OP, element, KIND_OF(unbox, op, type)(key));               \
    }                                                                                              \
    static union vscan__value fold_##pair(union vscan__value left, union vscan__value right) {     \
        return KIND_OF(box, op, type)(KIND_OF(combine1, op, type)(                                 \
            VSCAN_##OP, KIND_OF(unbox, op, type)(left), KIND_OF(unbox, op, type)(right)));         \
    }                                                                                              \
    static union vscan__value identity_##pair(void) {                                              \
        return KIND_OF(box, op, type)(KIND_OF(identity, op, type)(VSCAN_##OP));                    \
    }                                                                                              \
    static union vscan__value aggregate_##pair(const struct vscan__cpu_span *span, int64_t start,  \
                                               union vscan__value z) {                             \
        return KIND_OF(aggregate, op, type)(VSCAN_##OP, span, start, z);                           \
    }                                                                                              \
    WHOLE(pair, op, type, OP)                                                                      \
    static __attribute__((noinline)) union vscan__value scan_blocks_##pair(                        \
        const struct vscan__cpu_span *span, const struct vscan__cpu_segments *segments,            \
        union vscan__value before) {                                                               \
        return KIND_OF(scan, op, type)(VSCAN_##OP, span, segments, before, WORK(pair));            \
    }                                                                                              \
    static union vscan__value scan_##pair(const struct vscan__cpu_span *span,                      \
                                          const struct vscan__cpu_segments *segments,              \
                                          union vscan__value before) {                             \
        if (segments != NULL || span->n > KIND_OF(groups_most, op, type))                          \
            return scan_blocks_##pair(span, segments, before);                                     \
        GROUPS(pair, span, before)                                                                 \
        return KIND_OF(box, op, type)(                                                             \
            KIND_OF(scan_group, op, type)(VSCAN_##OP, span, KIND_OF(unbox, op, type)(before)));    \
    }                                                                                              \
    static void band_##pair(const struct vscan__cpu_band *band) {                                  \
        KIND_OF(scan_band, op, type)(VSCAN_##OP, band);                                            \
    }
VSCAN__PAIRS(X)
#undef X

const struct vscan__cpu_row ROWS[vscan__pair_count] = {
#define X(pair, op, type, OP, TYPE)                                                                \
    [vscan__pair_##pair] = {                                                                       \
        .size = 65536 / TILE_##type,                                                               \
        .tile = TILE_##type,                                                                       \
        .sum = VSCAN_##OP == VSCAN_PLUS,                                                           \
        .arithmetic =                                                                              \
            VSCAN_##TYPE != VSCAN_INT && VSCAN_##OP != VSCAN_MAX && VSCAN_##OP != VSCAN_MIN,       \
        .identity = identity_##pair,                                                               \
        .take = take_##pair,                                                                       \
        .put = put_##pair,                                                                         \
        .fold = fold_##pair,                                                                       \
        .aggregate = aggregate_##pair,                                                             \
        .scan = scan_##pair,                                                                       \
        KEPT(pair, op, type).band = band_##pair,                                                   \
    },
    VSCAN__PAIRS(X)
#undef X
};
