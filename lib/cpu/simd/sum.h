/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reductions of adjacent elements, for tile.h.
 *
 * Where any order gives the same bits, elements are combined as they come, into several accumulators in
 * turn, so that no operation waits for the one before. Of float and double plus, the groups' sums are
 * balanced trees, LANES at a time, and added one after the other; the additions of one block do not
 * wait for those of the block before, and the processor overlaps them.
 *
 * What lies some KiB on is prefetched: the processor's own prefetching stops at every page, which is
 * too slow for one thread alone.
 */
static ALWAYS_INLINE void NAME(prefetch_ahead)(const T *from) {
    __builtin_prefetch((const void *)((uintptr_t)from + 8192), 0, 3);
}

#if !SUM || !T_REAL
static ALWAYS_INLINE K NAME(any_order)(enum vscan_op op, const T *from, int64_t n) {
    enum { SUMS = 8 };
    const bool far = n >= TILE;
    vec sums[SUMS];
    int64_t i = 0;
#pragma GCC unroll 8
    for (int k = 0; k < SUMS; k++) sums[k] = NAME(splat)(NAME(identity)(op));
    for (; i + SUMS * LANES <= n; i += SUMS * LANES) {
#pragma GCC unroll 8
        for (int k = 0; k < SUMS; k++) {
            if (far && k * VECTOR_BYTES % 64 == 0) NAME(prefetch_ahead)(from + i + k * LANES);
            sums[k] = NAME(combine)(op, sums[k], NAME(load)(op, from + i + k * LANES));
        }
    }
    for (; i + LANES <= n; i += LANES)
        sums[0] = NAME(combine)(op, sums[0], NAME(load)(op, from + i));
#pragma GCC unroll 8
    for (int half = SUMS / 2; half > 0; half /= 2) {
#pragma GCC unroll 8
        for (int k = 0; k < half; k++) sums[k] = NAME(combine)(op, sums[k], sums[k + half]);
    }
    K sum = NAME(identity)(op);
    for (int k = 0; k < LANES; k++) sum = NAME(combine1)(op, sum, sums[0][k]);
    for (; i < n; i++) sum = NAME(combine1)(op, sum, NAME(take1)(op, from + i));
    return sum;
}
#else
/* (a0 + a1), (a2 + a3), ..., (b0 + b1), ...: one level of the tree. */
static ALWAYS_INLINE vec NAME(pairs)(enum vscan_op op, vec a, vec b) {
    return NAME(combine)(op, SHUFFLE(ivec, a, b, LANE_PATTERN(EVEN)),
                         SHUFFLE(ivec, a, b, LANE_PATTERN(ODD)));
}

static ALWAYS_INLINE vec NAME(two)(enum vscan_op op, const T *from) {
    NAME(prefetch_ahead)(from);
    if (VECTOR_BYTES == 64) NAME(prefetch_ahead)(from + LANES);
    return NAME(pairs)(op, NAME(load)(op, from), NAME(load)(op, from + LANES));
}

/* The sums of twice as many adjacent vectors as half_name has, which has `half`. A recursion, so that
   only some vectors are alive at a time. */
#define TREE_OF(name, half_name, half)                                                             \
    static ALWAYS_INLINE vec NAME(name)(enum vscan_op op, const T *from) {                         \
        return NAME(pairs)(op, NAME(half_name)(op, from),                                          \
                           NAME(half_name)(op, from + half * LANES));                              \
    }
TREE_OF(four, two, 2)
TREE_OF(eight, four, 4)
TREE_OF(sixteen, eight, 8)
TREE_OF(thirty_two, sixteen, 16)

/* The elements of a tile from position start on. A group's sum is the same read backwards, as addition
   is symmetric. */
static ALWAYS_INLINE K NAME(in_order)(enum vscan_op op, const struct vscan__cpu_span *span,
                                      int64_t start) {
    const K identity = NAME(identity)(op);
    K r1 = identity, r2 = identity;
    for (int64_t p = start / GROUP * GROUP; p < span->n;) {
        if (p % (GROUP * LANES) == 0 && p >= start && span->n - p >= GROUP * LANES) {
            K sums[LANES];
            const T *from = span->in;
            vec v = NAME(thirty_two)(op, from + (span->backward ? span->n - p - GROUP * LANES : p));
            if (span->backward) v = NAME(reverse)(v);
            NAME(store_keys)(sums, v);
            for (int q = 0; q < LANES; q++) r1 = NAME(combine1)(op, r1, sums[q]);
            p += GROUP * LANES;
        } else {
            const uint32_t present = p < start ? UINT32_MAX << (start - p) : UINT32_MAX;
            vec v[VECTORS];
            NAME(load_group)(op, span, p, v);
#pragma GCC unroll 32
            for (int k = 0; k < VECTORS; k++)
                v[k] = NAME(where)(present, k, v[k], NAME(splat)(identity));
            NAME(network)(op, v);
            r1 = NAME(combine1)(op, r1, v[VECTORS - 1][LANES - 1]);
            p += GROUP;
        }
        if (p % BLOCK != 0) continue;
        r2 = NAME(combine1)(op, r2, r1);
        r1 = identity;
    }
    return NAME(combine1)(op, r2, r1);
}
#endif

static ALWAYS_INLINE union vscan__value
NAME(aggregate)(enum vscan_op op, const struct vscan__cpu_span *span, int64_t start) {
#if !SUM || !T_REAL
    return NAME(box)(
        NAME(any_order)(op, (const T *)span->in + (span->backward ? 0 : start), span->n - start));
#else
    return NAME(box)(NAME(in_order)(op, span, start));
#endif
}
