/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The blocks of a tile, for tile.h: what is kept of one, and the loops over the groups of a whole
 * one. There are two of each loop, for blocks without heads (most blocks of most vectors) and for
 * blocks with heads, wherever these are: the second asks no question about a group either, and takes
 * the heads as masks.
 */
struct NAME(block) {
    /* From LANES - 1 on, q = 0 .. 32: B of the tile's groups before group q, and the inclusive result
       before it. Without what lies before a head. */
    _Alignas(64) K ends[LANES + GROUP];
    K carries[LANES + GROUP];
    K befores[GROUP];                   /* with segments: what comes before the tile for group q */
    uint32_t open[NAME(levels)][GROUP]; /* with heads: see network.h, of every group */
    const uint32_t *words;              /* with segments: the heads of every group */
    K *locals;
    uint32_t heads; /* bit q: a segment begins in group q */
    K before;       /* what comes before the tile, for the first group */
};

/* Where the locals of a block are. */
struct NAME(space) {
    _Alignas(64) K locals[BLOCK];
};

static ALWAYS_INLINE K *NAME(locals_of)(struct NAME(block) * b, int q) {
    return b->locals + q * GROUP;
}

/* Fills open. */
static ALWAYS_INLINE void NAME(mark)(struct NAME(block) * b) {
    enum { WORDS = VECTOR_BYTES / 4 };
#pragma GCC unroll 1
    for (int q = 0; q < GROUP; q += WORDS) {
        cpu_words words;
        memcpy(&words, b->words + q, sizeof words);
#pragma GCC unroll 32
        for (int level = 0; level < NAME(levels); level++) {
            const cpu_words open = NAME(open_words)(words, level);
            memcpy(b->open[level] + q, &open, sizeof open);
        }
    }
}

#if TIGHT
/* ---- One group ------------------------------------------------------------------------------- */

/* Its locals. ends: the last values of the groups before; returns them with its own. In a vector:
   values that are stored one by one cannot be loaded together before they have left the queue of
   stores, where many may wait that go past the caches. */
static ALWAYS_INLINE vec NAME(group_locals)(enum vscan_op op, bool headed, bool backward,
                                            const T *in, const struct vscan__cpu_segments *segments,
                                            struct NAME(block) * b, int q, vec ends) {
    vec v[VECTORS];
#pragma GCC unroll 32
    for (int k = 0; k < VECTORS; k++) v[k] = NAME(load)(op, in + k * LANES);
    if (__builtin_expect(backward, 0)) NAME(reverse_group)(v);
    if (headed) {
        const vec z = NAME(splat)(NAME(unbox)(segments->z));
#pragma GCC unroll 32
        for (int k = 0; k < VECTORS; k++)
            v[k] = NAME(where_at)(b->words + q, k, NAME(combine)(op, z, v[k]), v[k]);
        NAME(segmented_network)(op, v, &b->open[0][q], GROUP);
    } else {
        NAME(network)(op, v);
    }
#pragma GCC unroll 32
    for (int k = 0; k < VECTORS; k++) NAME(store_keys)(NAME(locals_of)(b, q) + k * LANES, v[k]);
    return SHUFFLE(ivec, ends, v[VECTORS - 1], LANE_PATTERN(PUSH));
}

/* Its results. first: what an exclusive scan writes at heads. */
static ALWAYS_INLINE void NAME(group_results)(enum vscan_op op, bool headed, bool backward,
                                              bool exclusive, bool stream, vec first,
                                              struct NAME(block) * b, int q, T *out) {
    const K *from = NAME(locals_of)(b, q) - (exclusive ? 1 : 0);
    const K *ends = b->ends + LANES - 1 + q, *carries = b->carries + LANES - 1 + q;
    const vec before = NAME(splat)(headed ? b->befores[q] : b->before);
    const uint32_t *open = &b->open[NAME(levels) - 1][q];
    vec v[VECTORS];
#pragma GCC unroll 32
    for (int k = 0; k < VECTORS; k++) {
        /* the first value of all is replaced below; it may have just been stored for another tile,
           and a load that gets a part of itself from there waits */
        vec local = NAME(load_keys)(k > 0 ? from + k * LANES : NAME(locals_of)(b, q));
        if (k == 0 && __builtin_expect(exclusive, 0))
            local = SHUFFLE(ivec, local, local, LANE_PATTERN(SLIDE));
        if (EXACT)
            v[k] = NAME(combine)(op, NAME(splat)(carries[0]), local);
        else
            v[k] = NAME(combine)(op, before, NAME(combine)(op, NAME(splat)(ends[0]), local));
        if (headed)
            v[k] = exclusive ? NAME(where)(*open << 1 | 1, k, v[k], local)
                             : NAME(where_at)(open, k, v[k], local);
    }
    if (__builtin_expect(exclusive, 0)) {
        v[0][0] = carries[0];
#pragma GCC unroll 32
        for (int k = 0; k < VECTORS && headed; k++)
            v[k] = NAME(where_at)(b->words + q, k, first, v[k]);
    } else if (!EXACT) {
        v[VECTORS - 1][LANES - 1] = carries[1];
    }
    if (__builtin_expect(backward, 0)) NAME(reverse_group)(v);
#ifdef STREAM
    if (stream) {
        NAME(stream_group)(op, out, v);
        return;
    }
#endif
    (void)stream;
#pragma GCC unroll 32
    for (int k = 0; k < VECTORS; k++) NAME(store)(op, out + k * LANES, v[k]);
}

/* ---- Whole blocks ---------------------------------------------------------------------------- */

/* The lines of a group at an address, which may lie outside of the vector: as an integer. */
#define ASK(address, ...)                                                                          \
    _Pragma("GCC unroll 32") for (uintptr_t line = 0; line < GROUP * sizeof(T); line += 64)        \
        __builtin_prefetch((const void *)((address) + line), __VA_ARGS__)

/* The locals of the block at p. Asks for the next block's elements and for the lines of the results:
   reading a block and writing it take turns, and without this memory would rest from one in the time
   of the other (a vector of 2^24 floats then takes 1.6 times as long). */
static ALWAYS_INLINE void NAME(block_locals)(enum vscan_op op, bool headed,
                                             const struct vscan__cpu_span *span,
                                             const struct vscan__cpu_segments *segments, int64_t p,
                                             struct NAME(block) * b) {
    const bool backward = span->backward, stream = span->stream;
    const int64_t at = backward ? span->n - p - GROUP : p, step = backward ? -GROUP : GROUP;
    const T *in = (const T *)span->in + at;
    const uintptr_t bytes = (uintptr_t)(step * (int64_t)sizeof(T));
    uintptr_t next = (uintptr_t)in + bytes * GROUP;
    uintptr_t out = (uintptr_t)span->out + (uintptr_t)at * sizeof(T);
    vec ends = NAME(splat)(NAME(identity)(op));
    for (int q = 0; q < GROUP;) {
        for (int j = 0; j < LANES; j++, q++) {
            ASK(next, 0);
            if (__builtin_expect(!stream, 1)) ASK(out, 1);
            ends = NAME(group_locals)(op, headed, backward, in, segments, b, q, ends);
            in += step;
            next += bytes;
            out += bytes;
        }
        NAME(store_keys)(b->ends + q, ends);
    }
}

/* Its results. Asks for what lies span->ahead bytes on: reading does not rest. */
static ALWAYS_INLINE void NAME(block_results)(enum vscan_op op, bool headed,
                                              const struct vscan__cpu_span *span,
                                              const struct vscan__cpu_segments *segments, int64_t p,
                                              struct NAME(block) * b) {
    const bool backward = span->backward, exclusive = span->exclusive, stream = span->stream;
    const int64_t at = backward ? span->n - p - GROUP : p, step = backward ? -GROUP : GROUP;
    const vec first = NAME(splat)(headed ? NAME(unbox)(segments->first) : NAME(identity)(op));
    const bool asks = span->ahead != 0;
    T *out = (T *)span->out + at;
    uintptr_t far = (uintptr_t)((const T *)span->in + at) + (uintptr_t)span->ahead;
    for (int q = 0; q < GROUP; q++) {
        NAME(group_results)(op, headed, backward, exclusive, stream, first, b, q, out);
        if (asks) ASK(far, 0, 2);
        out += step;
        far += (uintptr_t)(step * (int64_t)sizeof(T));
    }
}

/* The results of a block and the locals of a later one, of which the first group lies at in, in
   turns, where results go past the caches: memory would rest from writing in the time of the locals.
   The locals may be in the same place. jump: bytes between the later block and the one after it. */
static ALWAYS_INLINE void NAME(block_turns)(enum vscan_op op, bool headed,
                                            const struct vscan__cpu_span *span,
                                            const struct vscan__cpu_segments *segments, int64_t p,
                                            struct NAME(block) * b, const T *in, int64_t jump,
                                            struct NAME(block) * later) {
    const bool backward = span->backward, exclusive = span->exclusive;
    const int64_t at = backward ? span->n - p - GROUP : p, step = backward ? -GROUP : GROUP;
    const vec first = NAME(splat)(headed ? NAME(unbox)(segments->first) : NAME(identity)(op));
    const bool asks = span->ahead != 0;
    T *out = (T *)span->out + at;
    uintptr_t far = (uintptr_t)((const T *)span->in + at) + (uintptr_t)span->ahead;
    const uintptr_t bytes = (uintptr_t)(step * (int64_t)sizeof(T));
    uintptr_t next = (uintptr_t)in + bytes * GROUP + (uintptr_t)jump;
    vec ends = NAME(splat)(NAME(identity)(op));
    for (int q = 0; q < GROUP;) {
        for (int j = 0; j < LANES; j++, q++) {
            NAME(group_results)(op, headed, backward, exclusive, true, first, b, q, out);
            ASK(next, 0);
            if (__builtin_expect(asks, 1)) ASK(far, 0, 2);
            ends = NAME(group_locals)(op, headed, backward, in, segments, later, q, ends);
            out += step;
            in += step;
            next += bytes;
            far += bytes;
        }
        NAME(store_keys)(later->ends + q, ends);
    }
}
#undef ASK
#endif
