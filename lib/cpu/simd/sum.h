/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What reductions do to whole vectors of elements. Included once for each kind of element, after
 * keys.h; the operator is a constant parameter.
 *
 * Where any order gives the same bits, elements are combined as they come, in a few vectors in turn so
 * that none waits for the one before. Float and double plus follow the tree of core/order.h; a whole
 * tile is one balanced tree, and the same read backwards: addition is symmetric.
 *
 * Memory is asked for what lies AHEAD bytes on: a thread alone reads faster than the processor's
 * own prefetching, which stops at every page, lets it.
 */

#include "cpu/simd/tree.h"

/* Vectors that are combined in turn, and elements of a round of them. */
enum { NAME(turns) = 4, NAME(round) = NAME(turns) * LANES };

static ALWAYS_INLINE void NAME(ask)(const T *from) {
    __builtin_prefetch((const void *)((uintptr_t)from + AHEAD), 0, 3);
}

static ALWAYS_INLINE K NAME(any_order)(enum vscan_op op, const T *from, int64_t n) {
    vec all[NAME(turns)];
#pragma GCC unroll 4
    for (int k = 0; k < NAME(turns); k++) all[k] = NAME(splat)(NAME(identity)(op));
    for (; n >= NAME(round); n -= NAME(round), from += NAME(round)) {
#pragma GCC unroll 4
        for (int k = 0; k < NAME(turns); k++) {
            if (k * VECTOR_BYTES % 64 == 0) NAME(ask)(from + k * LANES);
            all[k] = NAME(combine)(op, all[k], NAME(load)(op, from + k * LANES));
        }
    }
    K result = NAME(identity)(op);
#pragma GCC unroll 4
    for (int k = 0; k < NAME(turns); k++) {
        for (int j = 0; j < LANES; j++) result = NAME(combine1)(op, result, all[k][j]);
    }
    for (int64_t i = 0; i < n; i++) result = NAME(combine1)(op, result, NAME(take1)(op, from + i));
    return result;
}

static ALWAYS_INLINE vec NAME(two)(enum vscan_op op, const T *from) {
    NAME(ask)(from);
    if (VECTOR_BYTES == 64) NAME(ask)(from + LANES);
    return NAME(pairs)(op, NAME(load)(op, from), NAME(load)(op, from + LANES));
}

TREE_OF(four, two, 2)
TREE_OF(eight, four, 4)
TREE_OF(sixteen, eight, 8)

/* B of a whole tile. */
static ALWAYS_INLINE K NAME(tile_sum)(enum vscan_op op, const T *from) {
    K sums[TILE / 16];
    for (int64_t i = 0; i < TILE / 16; i += LANES, from += 16 * LANES)
        NAME(store_keys)(sums + i, NAME(sixteen)(op, from));
    return NAME(balanced)(op, sums, TILE / 16);
}

/* n elements; float and double plus: a whole tile. */
static ALWAYS_INLINE union vscan__value NAME(reduce)(enum vscan_op op, const void *from,
                                                     int64_t n) {
    if (!EXACT) return NAME(box)(NAME(tile_sum)(op, from));
    return NAME(box)(NAME(any_order)(op, from, n));
}

#include "cpu/simd/keys_end.h" /* ready for the next kind of element */
