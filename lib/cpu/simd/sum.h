/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reductions of adjacent elements, for tile.h.
 *
 * Where any order gives the same bits, elements are combined as they come, into several accumulators in
 * turn, so that no operation waits for the one before. Of float and double plus, the groups' sums are
 * balanced trees, LANES at a time, and added one after the other.
 *
 * What lies some KiB on is prefetched: the processor's own prefetching stops at every page, which is
 * too slow for one thread alone.
 */
static ALWAYS_INLINE void NAME(prefetch_ahead)(const T *from) {
    __builtin_prefetch((const void *)((uintptr_t)from + 8192), 0, 3);
}

/* The balanced tree over the lanes of a vector. */
static ALWAYS_INLINE K NAME(over_lanes)(enum vscan_op op, vec x) {
#define FOLD(bit)                                                                                  \
    if (bit < LANES) x = NAME(combine)(op, x, SHUFFLE(ivec, x, x, EACH_LANE(ACROSS, bit)))
    FOLD(1);
    FOLD(2);
    FOLD(4);
    FOLD(8);
#undef FOLD
    return x[0];
}

#if EXACT
static ALWAYS_INLINE K NAME(any_order)(enum vscan_op op, const T *from, int64_t n) {
    enum { SUMS = 4 };
    const bool far = n >= 16 * TILE; /* what is in a cache comes without prefetches, and sooner */
    vec sum = NAME(splat)(NAME(identity)(op));
    int64_t i = 0;
    if (n >= SUMS * LANES) {
        vec sums[SUMS];
#pragma GCC unroll 4
        for (int k = 0; k < SUMS; k++) sums[k] = sum;
        for (; i + SUMS * LANES <= n; i += SUMS * LANES) {
#pragma GCC unroll 4
            for (int k = 0; k < SUMS; k++) {
                if (far && k * VECTOR_BYTES % 64 == 0) NAME(prefetch_ahead)(from + i + k * LANES);
                sums[k] = NAME(combine)(op, sums[k], NAME(load)(op, from + i + k * LANES));
            }
        }
#pragma GCC unroll 4
        for (int k = 0; k < SUMS; k++) sum = NAME(combine)(op, sum, sums[k]);
    }
    for (; i + LANES <= n; i += LANES) sum = NAME(combine)(op, sum, NAME(load)(op, from + i));
#ifdef LOAD_MASKED
    if (i < n) {
        const uint32_t present = ~(UINT32_MAX << (n - i));
        const tvec other = NAME(put)(op, NAME(splat)(NAME(identity)(op)));
        sum = NAME(combine)(op, sum,
                            NAME(take)(op, (tvec)LOAD_MASKED(K_BITS, other, from + i, present,
                                                             NAME(lanes)(present, 0))));
        i = n;
    }
#endif
    K result = NAME(over_lanes)(op, sum);
    for (; i < n; i++) result = NAME(combine1)(op, result, NAME(take1)(op, from + i));
    return result;
}
#else
/*
 * The sums of LANES groups, one in each lane. A vector holds elements of one group; level l adds
 * neighbours of two vectors, of groups whose numbers differ in bit l, until a lane has all that the
 * vector of one group held. Lanes hardly move between parts of 16 bytes, which takes longest.
 */
#define PART (16 / (int)sizeof(T))
#define NEAR(i, odd) ((i) / PART * PART + (i)*2 % PART + odd + ((i) % PART * 2 < PART ? 0 : LANES))
#define NEIGHBOURS(one, i, other, j)                                                               \
    NAME(combine)                                                                                  \
    (op, SHUFFLE(ivec, a, b, EACH_LANE(one, i)), SHUFFLE(ivec, a, b, EACH_LANE(other, j)))
static ALWAYS_INLINE vec NAME(neighbours)(enum vscan_op op, int level, vec a, vec b) {
    if (1 << level < PART) return NEIGHBOURS(NEAR, 0, NEAR, 1);
    if (level == 1) return NEIGHBOURS(HERE, 2, ACROSS, 2);
    return level == 2 ? NEIGHBOURS(HERE, 4, ACROSS, 4) : NEIGHBOURS(HERE, 8, ACROSS, 8);
}
#undef NEIGHBOURS
#undef NEAR
#undef PART

/* The sums of twice as many vectors as half_name has. A recursion, so that only some vectors are alive
   at a time. */
#define TREE_OF(name, half_name, level)                                                            \
    static ALWAYS_INLINE vec NAME(name)(enum vscan_op op, const T *from) {                         \
        const bool lanes = level < LANE_PATTERN(LEVELS);                                           \
        const vec a = NAME(half_name)(op, from);                                                   \
        const vec b = NAME(half_name)(op, from + (lanes ? GROUP << level : 1 << level));           \
        return lanes ? NAME(neighbours)(op, level, a, b) : NAME(combine)(op, a, b);                \
    }
TREE_OF(two, load, 0)
TREE_OF(four, two, 1)
TREE_OF(eight, four, 2)
TREE_OF(sixteen, eight, 3)

/* R1 and R2 at position p, in the direction of the scan. */
struct NAME(passed) {
    int64_t p;
    K r1, r2;
};

static ALWAYS_INLINE void NAME(end_sums)(enum vscan_op op, struct NAME(passed) * at) {
    if (at->p % BLOCK != 0) return;
    at->r2 = NAME(combine1)(op, at->r2, at->r1);
    at->r1 = NAME(identity)(op);
}

/* Passes LANES groups at a time. Additions to R1 wait for each other, so those of some groups stand
   between the trees of the next. A group's sum is the same read backwards, as addition is symmetric. */
static ALWAYS_INLINE struct NAME(passed)
    NAME(pass_whole)(enum vscan_op op, const struct vscan__cpu_span *span, struct NAME(passed) at) {
    enum { STEP = GROUP * LANES };
    K sums[LANES];
    NAME(store_keys)(sums, NAME(splat)(NAME(identity)(op)));
    for (bool more = true; more;) {
        more = span->n - at.p >= STEP;
        vec half[2] = {{0}, {0}};
#pragma GCC unroll 2
        for (int h = 0; h < 2; h++) {
            if (more) {
                const T *from = span->in;
                from += span->backward ? span->n - at.p - STEP : at.p;
#pragma GCC unroll 16
                for (int i = 0; i < STEP / 2; i += 64 / (int)sizeof(T))
                    NAME(prefetch_ahead)(from + h * (STEP / 2) + i);
                half[h] = NAME(sixteen)(op, from + 16 * h);
            }
#pragma GCC unroll 8
            for (int q = 0; q < LANES / 2; q++)
                at.r1 = NAME(combine1)(op, at.r1, sums[h * (LANES / 2) + q]);
        }
        NAME(end_sums)(op, &at);
        if (!more) break;
        half[0] = NAME(combine)(op, half[0], half[1]);
        NAME(store_keys)(sums, span->backward ? NAME(reverse)(half[0]) : half[0]);
        at.p += STEP;
    }
    return at;
}

/* The elements of a tile from position start on. */
static ALWAYS_INLINE K NAME(in_order)(enum vscan_op op, const struct vscan__cpu_span *span,
                                      int64_t start) {
    const K identity = NAME(identity)(op);
    struct NAME(passed) at = {start / GROUP * GROUP, identity, identity};
    while (at.p < span->n) {
        if (at.p % (GROUP * LANES) == 0 && at.p >= start && span->n - at.p >= GROUP * LANES) {
            at = NAME(pass_whole)(op, span, at);
            continue;
        }
        const uint32_t present = at.p < start ? UINT32_MAX << (start - at.p) : UINT32_MAX;
        vec v[VECTORS];
        NAME(load_group)(op, span, at.p, v);
#pragma GCC unroll 32
        for (int k = 0; k < VECTORS; k++)
            v[k] = NAME(where)(present, k, v[k], NAME(splat)(identity));
        NAME(network)(op, v);
        at.p += GROUP;
        at.r1 = NAME(combine1)(op, at.r1, v[VECTORS - 1][LANES - 1]);
        NAME(end_sums)(op, &at);
    }
    return NAME(combine1)(op, at.r2, at.r1);
}
#endif

static ALWAYS_INLINE union vscan__value
NAME(aggregate)(enum vscan_op op, const struct vscan__cpu_span *span, int64_t start) {
#if EXACT
    return NAME(box)(
        NAME(any_order)(op, (const T *)span->in + (span->backward ? 0 : start), span->n - start));
#else
    return NAME(box)(NAME(in_order)(op, span, start));
#endif
}
