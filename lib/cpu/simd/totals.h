/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The totals of a tile's segments, forward, without results of elements. For tile.h.
 *
 * Groups with heads go by the segmented network. What precedes a group is added to its first total alone,
 * and the sums of groups without heads are trees. Where any order gives the same bits and heads are few, the
 * elements between two heads are reduced as they come.
 */

/* What precedes a group, and where the next total goes. */
struct NAME(open_segment) {
    K r1, r2, r3, r4, z;
    T *totals;
    int64_t open, end; /* the number of the open segment; totals there are */
};

/* The result at an element with that X0. */
static ALWAYS_INLINE K NAME(total_at)(enum vscan_op op, const struct NAME(open_segment) * s, K x) {
    K total = NAME(combine1)(op, s->r1, x);
    if (!EXACT) total = NAME(combine1)(op, s->r3, NAME(combine1)(op, s->r2, total));
    return NAME(combine1)(op, s->r4, total);
}

/* The open segment ends, with that total. */
static ALWAYS_INLINE void NAME(end_segment)(enum vscan_op op, struct NAME(open_segment) * s,
                                            K total) {
    if (0 <= s->open && s->open < s->end) NAME(put1)(op, s->totals + s->open, total);
    s->open++;
    s->r1 = s->r2 = s->r3 = NAME(identity)(op);
    s->r4 = s->z;
}

/* Those of x whose bits are set in word are the totals of the next segments, which all have room. */
static ALWAYS_INLINE void NAME(put_some)(enum vscan_op op, struct NAME(open_segment) * s,
                                         uint32_t word, const vec x[VECTORS]) {
#if VECTOR_BYTES == 64
#pragma GCC unroll 32
    for (int k = 0; k < VECTORS; k++) {
        const uint32_t some = word >> k * LANES & (UINT32_MAX >> (32 - LANES));
        const int count = __builtin_popcount(some);
        STORE_MASKED(K_BITS, s->totals + s->open, (1u << count) - 1, 0,
                     COMPRESSED(K_BITS, some, NAME(put)(op, x[k])));
        s->open += count;
    }
#else
    T group[GROUP];
#pragma GCC unroll 32
    for (int k = 0; k < VECTORS; k++) NAME(store)(op, group + k * LANES, x[k]);
    T *to = s->totals + s->open;
    s->open += __builtin_popcount(word);
    for (; word != 0; word &= word - 1) *to++ = group[__builtin_ctz(word)];
#endif
}

/* A group of elements with its word of heads, open as in struct heads. */
static ALWAYS_INLINE void NAME(total_group)(enum vscan_op op, struct NAME(open_segment) * s,
                                            uint32_t word, const uint32_t *open, vec x[VECTORS]) {
    if ((word & 1) != 0) NAME(end_segment)(op, s, NAME(total_at)(op, s, NAME(identity)(op)));
    NAME(segmented_network)(op, x, open, GROUP);
    const K last = x[VECTORS - 1][LANES - 1];
    K results[GROUP];
#pragma GCC unroll 32
    for (int k = 0; k < VECTORS; k++) NAME(store_keys)(results + k * LANES, x[k]);
    uint32_t ends = word >> 1; /* the last elements of segments */
    if (ends != 0) {
        NAME(end_segment)(op, s, NAME(total_at)(op, s, results[__builtin_ctz(ends)]));
        ends &= ends - 1;
    }
    if (s->open + GROUP <= s->end) {
        const vec z = NAME(splat)(s->z);
#pragma GCC unroll 32
        for (int k = 0; k < VECTORS; k++) x[k] = NAME(combine)(op, z, x[k]);
        NAME(put_some)(op, s, ends, x);
    } else {
        for (; ends != 0; ends &= ends - 1)
            NAME(end_segment)(op, s, NAME(combine1)(op, s->z, results[__builtin_ctz(ends)]));
    }
    s->r1 = NAME(combine1)(op, s->r1, last);
}

/* A group without heads. */
static ALWAYS_INLINE void NAME(pass_group)(enum vscan_op op, struct NAME(open_segment) * s,
                                           const vec x[VECTORS]) {
    K sums[VECTORS];
#pragma GCC unroll 32
    for (int k = 0; k < VECTORS; k++) sums[k] = NAME(over_lanes)(op, x[k]);
#pragma GCC unroll 8
    for (int half = VECTORS / 2; half > 0; half /= 2) {
#pragma GCC unroll 32
        for (int k = 0; k < half; k++) sums[k] = NAME(combine1)(op, sums[2 * k], sums[2 * k + 1]);
    }
    s->r1 = NAME(combine1)(op, s->r1, sums[0]);
}

/* With more heads, a block's groups go by the network one and all. */
enum { NAME(many_heads) = 48 };

/* Heads in the block of a tile of n elements that begins with these words. */
static ALWAYS_INLINE int NAME(heads_in)(const uint32_t *words, int64_t n) {
    int count = 0;
    for (int64_t q = 0; q < vscan__cpu_smaller(n, BLOCK); q += GROUP)
        count += __builtin_popcount(words[q / GROUP]);
    return count;
}

#if EXACT
/* Elements of some blocks, where heads are few. */
static ALWAYS_INLINE void NAME(total_stretch)(enum vscan_op op, struct NAME(open_segment) * s,
                                              const uint32_t *words, const T *in, int64_t n) {
    uint32_t word = words[0];
    int64_t from = 0, q = 0;
    for (bool head = true; head;) {
        while (word == 0 && ++q * GROUP < n) word = words[q];
        head = word != 0;
        const int64_t at = head ? q * GROUP + __builtin_ctz(word) : n;
        s->r1 = NAME(combine1)(op, s->r1, NAME(any_order)(op, in + from, at - from));
        if (head) NAME(end_segment)(op, s, NAME(combine1)(op, s->r4, s->r1));
        word &= word - 1;
        from = at;
    }
}
#endif

static ALWAYS_INLINE union vscan__value NAME(totals)(enum vscan_op op,
                                                     const struct vscan__cpu_span *span,
                                                     const struct vscan__cpu_segments *segments,
                                                     struct vscan__cpu_levels *levels) {
    const K identity = NAME(identity)(op);
    const T *in = span->in;
    const int64_t n = span->n;
    struct NAME(open_segment) s = {.r1 = identity,
                                   .r2 = identity,
                                   .r3 = NAME(unbox)(levels->r3),
                                   .r4 = NAME(unbox)(levels->r4),
                                   .z = NAME(unbox)(segments->z),
                                   .totals = segments->totals,
                                   .open = segments->open,
                                   .end = segments->end};
    if (EXACT) {
        s.r4 = NAME(combine1)(op, s.r4, s.r3);
        s.r3 = identity;
    }
    struct NAME(heads) heads;
    for (int64_t p = 0; p < n; p += BLOCK) {
        const uint32_t *words = segments->heads + p / GROUP;
        const int count = NAME(heads_in)(words, n - p);
#if EXACT
        if (count <= NAME(many_heads)) {
            int64_t end = p + BLOCK;
            while (end < n &&
                   NAME(heads_in)(segments->heads + end / GROUP, n - end) <= NAME(many_heads))
                end += BLOCK;
            NAME(total_stretch)(op, &s, words, in + p, vscan__cpu_smaller(end, n) - p);
            p = end - BLOCK;
            continue;
        }
#else
        if (count == 0 && n - p >= BLOCK) {
            const struct vscan__cpu_span block = {.in = in, .n = p + BLOCK};
            const struct NAME(passed) at =
                NAME(pass_whole)(op, &block, (struct NAME(passed)){p, s.r1, s.r2});
            s.r1 = at.r1;
            s.r2 = at.r2;
            continue;
        }
#endif
        NAME(mark)(words, &heads);
        for (int64_t q = 0; q < BLOCK / GROUP && p + q * GROUP < n; q++) {
            vec x[VECTORS];
            NAME(load_group)(op, span, p + q * GROUP, x);
            if (!EXACT && count <= NAME(many_heads) && words[q] == 0)
                NAME(pass_group)(op, &s, x);
            else
                NAME(total_group)(op, &s, words[q], &heads.open[0][q], x);
        }
        if (EXACT) continue;
        s.r2 = NAME(combine1)(op, s.r2, s.r1);
        s.r1 = identity;
    }
    levels->r3 = NAME(box)(s.r3);
    levels->r4 = NAME(box)(s.r4);
    return NAME(box)(EXACT ? s.r1 : s.r2);
}
