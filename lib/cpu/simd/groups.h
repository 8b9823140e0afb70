/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tiles of a few groups and without segments, for tile.h: group after group, and nothing is kept
 * in memory between.
 */

/* Up to this many elements. The tree over the sums of many groups is quicker with as many of them as
   there are in a vector: 1024 floats took 400 ns, and 280 by blocks. */
enum { NAME(groups_most) = !TIGHT ? GROUP : EXACT ? TILE - 1 : BLOCK / 2 };

/* Makes exclusive results of inclusive ones. The last lane of *last is the one before them; becomes
   their last vector. */
static ALWAYS_INLINE void NAME(slide)(vec *last, vec v[VECTORS]) {
#pragma GCC unroll 32
    for (int k = 0; k < VECTORS; k++) {
        const vec inclusive = v[k];
        v[k] = SHUFFLE(ivec, *last, inclusive, LANE_PATTERN(SLIDE));
        *last = inclusive;
    }
}

#ifndef LOAD_SOME
/* A tile of a few elements, without vectors: to fill a part of one takes longer where there are no
   masks. */
enum { NAME(few) = 8 };
static ALWAYS_INLINE K NAME(scan_few)(enum vscan_op op, const struct vscan__cpu_span *span,
                                      K before) {
    const int n = (int)span->n;
    const T *in = span->in;
    T *out = span->out;
    K x[1 + NAME(few)];
    x[0] = before;
    for (int j = 0; j < n; j++) x[1 + j] = NAME(take1)(op, in + (span->backward ? n - 1 - j : j));
    K *local = x + 1;
    for (int half = 1; half < n; half *= 2) {
        for (int j = half; j < n; j++)
            if ((j & half) != 0) local[j] = NAME(combine1)(op, local[(j & -half) - 1], local[j]);
    }
    for (int j = 0; j < n; j++) local[j] = NAME(combine1)(op, before, local[j]);
    for (int j = 0; j < n; j++)
        NAME(put1)(op, out + (span->backward ? n - 1 - j : j), x[span->exclusive ? j : 1 + j]);
    return x[n];
}
#endif

/* The same span, known not to be stored past the caches. */
static ALWAYS_INLINE struct vscan__cpu_span NAME(in_cache)(const struct vscan__cpu_span *span) {
    return (struct vscan__cpu_span){.in = span->in,
                                    .out = span->out,
                                    .n = span->n,
                                    .backward = span->backward,
                                    .exclusive = span->exclusive};
}

/* One group. */
static ALWAYS_INLINE K NAME(scan_group)(enum vscan_op op, const struct vscan__cpu_span *given,
                                        K before) {
#ifndef LOAD_SOME
    if (given->n <= NAME(few)) return NAME(scan_few)(op, given, before);
#endif
    const struct vscan__cpu_span in_cache = NAME(in_cache)(given), *span = &in_cache;
    _Alignas(64) K results[GROUP]; /* inclusive */
    vec v[VECTORS];
    NAME(load_group)(op, span, 0, v);
    NAME(network)(op, v);
#pragma GCC unroll 32
    for (int k = 0; k < VECTORS; k++) {
        v[k] = NAME(combine)(op, NAME(splat)(before), v[k]);
        NAME(store_keys)(results + k * LANES, v[k]);
    }
    if (span->exclusive) {
        vec last = NAME(splat)(before);
        NAME(slide)(&last, v);
    }
    NAME(store_group)(op, span, 0, v);
    return results[span->n - 1];
}

#if TIGHT
/* ---- Several groups -------------------------------------------------------------------------- */

/*
 * B of q + 1 groups, everywhere in a vector; sum: that of the last one. After q groups, stack[b] has
 * the sum of 2^b of them for every bit b of q: one more is added as 1 is to a binary counter.
 */
enum { NAME(groups_bits) = 4 };
static ALWAYS_INLINE vec NAME(count_group)(enum vscan_op op, vec stack[NAME(groups_bits)],
                                           uint32_t q, vec sum) {
    bool joins = true;
#pragma GCC unroll 8
    for (int bit = 0; bit < NAME(groups_bits); bit++) {
        if ((q >> bit & 1) != 0) {
            sum = NAME(combine)(op, stack[bit], sum);
        } else if (joins) {
            stack[bit] = sum;
            joins = false;
        }
    }
    return sum;
}

static ALWAYS_INLINE K NAME(scan_groups)(enum vscan_op op, const struct vscan__cpu_span *given,
                                         K first) {
    const struct vscan__cpu_span in_cache = NAME(in_cache)(given), *span = &in_cache;
    const int64_t n = span->n;
    const bool exclusive = span->exclusive;
    const vec before = NAME(splat)(first);
    vec carry = before, last = before;
    vec end = NAME(splat)(NAME(identity)(op)); /* B of the groups before */
    vec stack[NAME(groups_bits)] = {end, end, end, end};
    vec v[VECTORS];
    for (int64_t q = 0;; q++) {
        NAME(load_group)(op, span, q * GROUP, v);
        NAME(network)(op, v);
        if (EXACT) {
#pragma GCC unroll 32
            for (int k = 0; k < VECTORS; k++) v[k] = NAME(combine)(op, carry, v[k]);
            carry = NAME(last_lane)(v[VECTORS - 1]);
        } else {
            const vec sum = NAME(last_lane)(v[VECTORS - 1]);
#pragma GCC unroll 32
            for (int k = 0; k < VECTORS; k++)
                v[k] = NAME(combine)(op, before, NAME(combine)(op, end, v[k]));
            end = NAME(count_group)(op, stack, (uint32_t)q, sum);
            /* the last element is that of the tree over all groups */
            if (n - q * GROUP >= GROUP)
                v[VECTORS - 1] = NAME(where)(UINT32_C(1) << 31, VECTORS - 1,
                                             NAME(combine)(op, before, end), v[VECTORS - 1]);
        }
        if (n - q * GROUP <= GROUP) break;
        if (exclusive) NAME(slide)(&last, v);
        NAME(store_group)(op, span, q * GROUP, v);
    }
    _Alignas(64) K results[GROUP];
#pragma GCC unroll 32
    for (int k = 0; k < VECTORS; k++) NAME(store_keys)(results + k * LANES, v[k]);
    if (exclusive) NAME(slide)(&last, v);
    NAME(store_group)(op, span, (n - 1) / GROUP * GROUP, v);
    return results[(n - 1) % GROUP];
}
#endif
