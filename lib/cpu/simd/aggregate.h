/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tile's aggregate without its results, for tile.h: the same tree, in whatever way is quickest.
 */

#include "cpu/simd/tree.h"

/* The last values of LANES groups that lie at `from`, lowest first: 32 vectors, five levels. A
   group's sum is the same read backwards: the tree is symmetric, and so is every operator. */
TREE_OF(tree_2, load, 1)
TREE_OF(tree_4, tree_2, 2)
TREE_OF(tree_8, tree_4, 4)
TREE_OF(tree_16, tree_8, 8)
TREE_OF(tree_32, tree_16, 16)

#if !SUM || !T_REAL
/* All elements from start on, and z before them, in any order. Several sums at a time: one would be a
   chain of operations that wait for each other. */
static ALWAYS_INLINE K NAME(fold)(enum vscan_op op, const struct vscan__cpu_span *span,
                                  int64_t start, K z) {
    enum { SUMS = 8 };
    const T *from = span->in;
    const int64_t n = span->n - start;
    if (!span->backward) from += start;
    vec sums[SUMS];
    int64_t i = 0;
#pragma GCC unroll 8
    for (int k = 0; k < SUMS; k++) sums[k] = NAME(splat)(NAME(identity)(op));
    for (; i + SUMS * LANES <= n; i += SUMS * LANES) {
#pragma GCC unroll 8
        for (int k = 0; k < SUMS; k++)
            sums[k] = NAME(combine)(op, sums[k], NAME(load)(op, from + i + k * LANES));
    }
    for (; i + LANES <= n; i += LANES)
        sums[0] = NAME(combine)(op, sums[0], NAME(load)(op, from + i));
#pragma GCC unroll 8
    for (int half = SUMS / 2; half > 0; half /= 2) {
#pragma GCC unroll 8
        for (int k = 0; k < half; k++) sums[k] = NAME(combine)(op, sums[k], sums[k + half]);
    }
    K sum = z;
    for (int k = 0; k < LANES; k++) sum = NAME(combine1)(op, sum, sums[0][k]);
    for (; i < n; i++) sum = NAME(combine1)(op, sum, NAME(take1)(op, from + i));
    return sum;
}
#endif

static ALWAYS_INLINE union vscan__value NAME(aggregate)(enum vscan_op op,
                                                        const struct vscan__cpu_span *span,
                                                        int64_t start, union vscan__value z) {
#if !SUM || !T_REAL
    return NAME(box)(NAME(fold)(op, span, start, NAME(unbox)(z)));
#else
    K ends[TILE / GROUP + 1];
    const K identity = NAME(identity)(op);
    const int64_t whole = span->n / GROUP; /* groups */
    /* the group that the first segment begins in, if there is one */
    const bool all = start == 0 && z.bits == NAME(box)(identity).bits;
    const int64_t first = all ? -1 : start / GROUP;
    int64_t q = 0;
    for (; q < first; q++) ends[q] = identity;
    while (q * GROUP < span->n) {
        if (q > first && q + LANES <= whole) {
            const int64_t p = q * GROUP;
            const T *from = span->in;
            vec v = NAME(tree_32)(op, from + (span->backward ? span->n - p - GROUP * LANES : p));
            if (span->backward) v = NAME(reverse)(v);
            NAME(store_keys)(ends + q, v);
            q += LANES;
            continue;
        }
        /* a group by itself: that one, or one of the last */
        vec v[VECTORS];
        K x[GROUP];
        NAME(load_group)(op, span, q * GROUP, v);
#pragma GCC unroll 32
        for (int k = 0; k < VECTORS; k++) NAME(store_keys)(x + k * LANES, v[k]);
        for (int64_t j = span->n - q * GROUP; j < GROUP; j++) x[j] = identity;
        if (q == first) {
            for (int64_t j = 0; j < start % GROUP; j++) x[j] = identity;
            x[start % GROUP] = NAME(combine1)(op, NAME(unbox)(z), x[start % GROUP]);
        }
        ends[q++] = NAME(balanced)(op, x, GROUP);
    }

    /* core/order.h: B of all whole groups, powers of two with the nearest first, then the rest */
    K sum = identity;
    for (int64_t rest = whole; rest != 0;) {
        const int64_t size = rest & -rest;
        rest -= size;
        sum = NAME(combine1)(op, NAME(balanced)(op, ends + rest, size), sum);
    }
    if (span->n % GROUP != 0) sum = NAME(combine1)(op, sum, ends[whole]);
    return NAME(box)(sum);
#endif
}
