/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is done to one tile, in the order of lib/order.h. Included once for each kind of element,
 * after cpu_keys.h; the operator is a constant parameter of every function here.
 *
 * A tile is worked off in blocks of 32 groups of 32 elements, small enough to stay in the first
 * level of cache:
 *
 *     locals    in each group the Sklansky network over its elements, kept in `local`
 *     ends      the same network over the groups' last values, then the upper levels of the tree:
 *               `stack` holds the trees over the blocks before, 2^b of them at b, like the bits of
 *               a binary counter. ends[q + 1] becomes B of the tile's groups up to q of this block,
 *               ends[0] B of those of the blocks before
 *     results   before + (ends[q] + local), and before + ends[q + 1] for a group's last element
 *
 * Whole blocks without heads are most blocks of most vectors and have loops of their own (plain_...).
 * Where results go past the caches, the locals of the next block come between the results of this
 * one: the processor computes while memory takes what it has stored.
 *
 * A segmented tile does the same additions, but for those whose left operand lies before the head
 * of the right one's segment: lib/order.h makes it -0.0 there, and here the sum is not taken.
 */
#define GROUP VSCAN__GROUP
#define VECTORS (GROUP / LANES) /* of a group */
#define BLOCK (GROUP * GROUP)   /* elements */
#define EXACT !(SUM && T_REAL)  /* any order of additions gives the same bits */
/* Whether whole blocks without heads have loops of their own. Not with SSE2: the code would be the
   largest there, for processors of before 2013. */
#if VECTOR_BYTES > 16 || !defined __SSE2__
#define TIGHT 1
#else
#define TIGHT 0
#endif
#define TILE (K_BITS == 32 ? VSCAN__TILE_FLOAT : VSCAN__TILE_DOUBLE)

#if K_BITS == 32
#define LANE_BITS(i)                                                                               \
    { 1u << i }
#else
#define LANE_BITS(i)                                                                               \
    { 1u << i, 1u << i }
#endif

/* ---- The network over 32 values -------------------------------------------------------------- */

/* What one level adds inside a vector, see SHIFT_2_0. */
static ALWAYS_INLINE vec NAME(shift)(vec v, vec identity, int level) {
#if LANES_LITERAL > 2
    if (level == 1) return SHUFFLE(ivec, v, identity, SHIFT_PATTERN(1));
#endif
#if LANES_LITERAL > 4
    if (level == 2) return SHUFFLE(ivec, v, identity, SHIFT_PATTERN(2));
#endif
#if LANES_LITERAL > 8
    if (level == 3) return SHUFFLE(ivec, v, identity, SHIFT_PATTERN(3));
#endif
    (void)level;
    return SHUFFLE(ivec, v, identity, SHIFT_PATTERN(0));
}

static ALWAYS_INLINE vec NAME(last_lane)(vec v) {
    return SHUFFLE(ivec, v, v, LANE_PATTERN(LAST));
}

static ALWAYS_INLINE vec NAME(reverse)(vec v) {
    return SHUFFLE(ivec, v, v, LANE_PATTERN(REVERSE));
}

/* v[i] = B(v[0 .. i]) */
static ALWAYS_INLINE void NAME(network)(enum vscan_op op, vec v[VECTORS]) {
    const vec identity = NAME(splat)(NAME(identity)(op));
#pragma GCC unroll 32
    for (int k = 0; k < VECTORS; k++) {
#pragma GCC unroll 32
        for (int level = 0; level < LANE_PATTERN(LEVELS); level++)
            v[k] = NAME(combine)(op, NAME(shift)(v[k], identity, level), v[k]);
    }
#pragma GCC unroll 32
    for (int half = 1; half < VECTORS; half *= 2) {
#pragma GCC unroll 32
        for (int right = half; right < VECTORS; right += 2 * half) {
            const vec left = NAME(last_lane)(v[right - 1]);
#pragma GCC unroll 32
            for (int k = right; k < right + half; k++) v[k] = NAME(combine)(op, left, v[k]);
        }
    }
}

static ALWAYS_INLINE void NAME(reverse_group)(vec v[VECTORS]) {
#pragma GCC unroll 32
    for (int k = 0; k < VECTORS / 2; k++) {
        const vec left = v[k], right = v[VECTORS - 1 - k];
        v[k] = NAME(reverse)(right);
        v[VECTORS - 1 - k] = NAME(reverse)(left);
    }
}

/* All ones in the lanes of vector k of a group whose bits are set in word. By comparing words of 32
   bits, whatever the width of a lane: not every instruction set can compare longer ones. */
static ALWAYS_INLINE ivec NAME(lanes)(uint32_t word, int k) {
    static const uint32_t bit[GROUP][K_BITS / 32] __attribute__((aligned(64))) = {
        LANE_BITS(0),  LANE_BITS(1),  LANE_BITS(2),  LANE_BITS(3),  LANE_BITS(4),  LANE_BITS(5),
        LANE_BITS(6),  LANE_BITS(7),  LANE_BITS(8),  LANE_BITS(9),  LANE_BITS(10), LANE_BITS(11),
        LANE_BITS(12), LANE_BITS(13), LANE_BITS(14), LANE_BITS(15), LANE_BITS(16), LANE_BITS(17),
        LANE_BITS(18), LANE_BITS(19), LANE_BITS(20), LANE_BITS(21), LANE_BITS(22), LANE_BITS(23),
        LANE_BITS(24), LANE_BITS(25), LANE_BITS(26), LANE_BITS(27), LANE_BITS(28), LANE_BITS(29),
        LANE_BITS(30), LANE_BITS(31)};
    cpu_words bits;
    memcpy(&bits, bit[k * LANES], sizeof bits);
    return (ivec)((((cpu_words){0} + word) & bits) == bits);
}

/* The network where no sum reaches over a head: word has the heads among the 32 values, at least
   one. `seen` has bit i where a head lies in i's part of the level's right half, at or before i. */
static ALWAYS_INLINE void NAME(segmented_network)(enum vscan_op op, vec v[VECTORS], uint32_t word) {
    static const uint32_t last_of_left[] = {0x55555555, 0x22222222, 0x08080808, 0x00800080, 0x8000};
    const vec identity = NAME(splat)(NAME(identity)(op));
    uint32_t seen = word;
#pragma GCC unroll 32
    for (int level = 0; level < 5; level++) {
        const int half = (1 << level) / LANES; /* in vectors */
#pragma GCC unroll 32
        for (int k = 0; k < VECTORS; k++) {
            if (half > 0 && (k & half) == 0) continue;
            const vec left = half > 0 ? NAME(last_lane)(v[k / half * half - 1])
                                      : NAME(shift)(v[k], identity, level);
            v[k] = NAME(select)(NAME(lanes)(seen, k), v[k], NAME(combine)(op, left, v[k]));
        }
        /* what was seen up to the end of a left half has been seen in all of the right half */
        seen |= ((seen & last_of_left[level]) << 1) * ((1u << (1 << level)) - 1);
    }
}

/* ---- Groups ---------------------------------------------------------------------------------- */

/* Bits of the elements that a tile's last group has, fewer than a group, in the order of memory: in
   a backward scan they are those at the end. Its first element, whether the tile has it or not, is
   n - GROUP elements before the tile then: addresses as integers. */
static ALWAYS_INLINE uint32_t NAME(some)(bool backward, int64_t n) {
    return backward ? UINT32_MAX << (GROUP - n) : ~(UINT32_MAX << n);
}

static ALWAYS_INLINE uintptr_t NAME(address)(const void *tile, const struct vscan__cpu_span *span,
                                             int64_t p) {
    return (uintptr_t)tile + (uintptr_t)(span->backward ? span->n - p - GROUP : p) * sizeof(T);
}

/* The last group of a tile, fewer than 32 elements, in the order of memory. */
static ALWAYS_INLINE void NAME(load_some)(enum vscan_op op, const struct vscan__cpu_span *span,
                                          int64_t p, vec v[VECTORS]) {
    const int64_t n = span->n - p;
    const uintptr_t from = NAME(address)(span->in, span, p);
#ifdef LOAD_SOME
    const uint32_t some = NAME(some)(span->backward, n);
#pragma GCC unroll 32
    for (int k = 0; k < VECTORS; k++)
        v[k] = NAME(take)(op,
                          (tvec)LOAD_SOME(K_BITS, (const void *)(from + (uintptr_t)k * sizeof v[k]),
                                          some >> k * LANES, NAME(lanes)(some, k)));
#else
    T group[GROUP] = {0};
    const int64_t first = span->backward ? GROUP - n : 0;
    memcpy(group + first, (const void *)(from + (uintptr_t)first * sizeof(T)),
           (size_t)n * sizeof(T));
#pragma GCC unroll 32
    for (int k = 0; k < VECTORS; k++) v[k] = NAME(load)(op, group + k * LANES);
#endif
}

static ALWAYS_INLINE void NAME(store_some)(enum vscan_op op, const struct vscan__cpu_span *span,
                                           int64_t p, const vec v[VECTORS]) {
    const int64_t n = span->n - p;
    const uintptr_t to = NAME(address)(span->out, span, p);
#ifdef STORE_SOME
    const uint32_t some = NAME(some)(span->backward, n);
#pragma GCC unroll 32
    for (int k = 0; k < VECTORS; k++)
        STORE_SOME(K_BITS, (void *)(to + (uintptr_t)k * sizeof v[k]), some >> k * LANES,
                   NAME(lanes)(some, k), NAME(put)(op, v[k]));
#else
    T group[GROUP];
    const int64_t first = span->backward ? GROUP - n : 0;
#pragma GCC unroll 32
    for (int k = 0; k < VECTORS; k++) NAME(store)(op, group + k * LANES, v[k]);
    memcpy((void *)(to + (uintptr_t)first * sizeof(T)), group + first, (size_t)n * sizeof(T));
#endif
}

/* The group at position p in scan order; what lies past the tile's end is of no consequence. */
static ALWAYS_INLINE void NAME(load_group)(enum vscan_op op, const struct vscan__cpu_span *span,
                                           int64_t p, vec v[VECTORS]) {
    if (span->n - p < GROUP) {
        NAME(load_some)(op, span, p, v);
    } else {
        const T *from = (const T *)span->in + (span->backward ? span->n - p - GROUP : p);
#pragma GCC unroll 32
        for (int k = 0; k < VECTORS; k++) v[k] = NAME(load)(op, from + k * LANES);
    }
    if (span->backward) NAME(reverse_group)(v);
}

#ifdef STREAM
/* To a multiple of 16: of what malloc returns, little is a multiple of more. */
static ALWAYS_INLINE void NAME(stream_group)(enum vscan_op op, T *to, const vec v[VECTORS]) {
    if ((uintptr_t)to % VECTOR_BYTES == 0) {
#pragma GCC unroll 32
        for (int k = 0; k < VECTORS; k++) STREAM(to + k * LANES, NAME(put)(op, v[k]));
        return;
    }
    __m128i parts[GROUP * sizeof(T) / 16];
#pragma GCC unroll 32
    for (int k = 0; k < VECTORS; k++) {
        const tvec x = NAME(put)(op, v[k]);
        memcpy(parts + (size_t)k * (VECTOR_BYTES / 16), &x, sizeof x);
    }
#pragma GCC unroll 32
    for (size_t i = 0; i < GROUP * sizeof(T) / 16; i++)
        _mm_stream_si128((__m128i *)to + i, parts[i]);
}
#endif

static ALWAYS_INLINE void NAME(store_group)(enum vscan_op op, const struct vscan__cpu_span *span,
                                            int64_t p, vec v[VECTORS]) {
    if (span->backward) NAME(reverse_group)(v);
    if (span->n - p < GROUP) {
        NAME(store_some)(op, span, p, v);
        return;
    }
    T *to = (T *)span->out + (span->backward ? span->n - p - GROUP : p);
#ifdef STREAM
    if (span->stream) {
        NAME(stream_group)(op, to, v);
        return;
    }
#endif
#pragma GCC unroll 32
    for (int k = 0; k < VECTORS; k++) NAME(store)(op, to + k * LANES, v[k]);
}

/* ---- Scan ------------------------------------------------------------------------------------ */

struct NAME(block) {
    /* A block's locals: each block's lie a group below those of the block before, so that they can be
       written while the results of that block are. An exclusive scan reads one before them too. */
    _Alignas(64) K space[LANES + (GROUP + TILE / BLOCK) * GROUP];
    K both[2][GROUP + 1];
    K *local, *ends; /* those of the block at work */
    uint32_t heads;  /* bit q: a segment begins in group q */
    /* the tile so far */
    K stack[16];
    uint32_t stack_heads; /* bit b: a segment begins in what stack[b] covers */
    K before;             /* what comes before the tile; the identity once a segment has begun */
    K carry;              /* the inclusive result before the next position */
    int64_t open;         /* the number of the segment that is open */
};

/*
 * Asks for the input of one block on and for the output of this one. Reading a block and writing it
 * take turns: without this, memory would rest from one in the time of the other (a vector of 2^24
 * floats then takes 1.6 times as long). Addresses as integers: they may lie outside of the vector.
 */
static ALWAYS_INLINE void NAME(prefetch)(const struct vscan__cpu_span *span, int64_t p) {
    const int64_t size = sizeof(T);
    const int64_t at = (span->backward ? span->n - p - GROUP : p) * size;
    const int64_t next = span->backward ? at - BLOCK * size : at + BLOCK * size;
    for (int64_t line = 0; line < GROUP * size; line += 64) {
        __builtin_prefetch((const void *)((uintptr_t)span->in + (uintptr_t)(next + line)), 0);
        if (!span->stream)
            __builtin_prefetch((const void *)((uintptr_t)span->out + (uintptr_t)(at + line)), 1);
    }
}

/* The same of what lies span->ahead bytes on, while results are stored: reading does not rest. */
static ALWAYS_INLINE void NAME(ask_ahead)(const struct vscan__cpu_span *span, int64_t p) {
    const int64_t size = sizeof(T);
    if (span->ahead == 0) return;
    const int64_t at = (span->backward ? span->n - p - GROUP : p) * size + span->ahead;
    for (int64_t line = 0; line < GROUP * size; line += 64)
        __builtin_prefetch((const void *)((uintptr_t)span->in + (uintptr_t)(at + line)), 0, 2);
}

static ALWAYS_INLINE void NAME(locals)(enum vscan_op op, const struct vscan__cpu_span *span,
                                       const struct vscan__cpu_segments *segments, int64_t p,
                                       int groups, struct NAME(block) * b) {
    b->heads = 0;
    for (int q = 0; q < groups; q++, p += GROUP) {
        vec v[VECTORS];
        if (span->n > BLOCK) NAME(prefetch)(span, p);
        NAME(load_group)(op, span, p, v);
        const uint32_t word = segments != NULL ? segments->heads[p / GROUP] : 0;
        if (word != 0) {
            const vec z = NAME(splat)(NAME(unbox)(segments->z));
#pragma GCC unroll 32
            for (int k = 0; k < VECTORS; k++)
                v[k] = NAME(select)(NAME(lanes)(word, k), NAME(combine)(op, z, v[k]), v[k]);
            NAME(segmented_network)(op, v, word);
            b->heads |= 1u << q;
        } else {
            NAME(network)(op, v);
        }
#pragma GCC unroll 32
        for (int k = 0; k < VECTORS; k++) NAME(store_keys)(b->local + q * GROUP + k * LANES, v[k]);
        b->ends[q + 1] = v[VECTORS - 1][LANES - 1];
    }
    for (int q = groups; q < GROUP; q++) b->ends[q + 1] = NAME(identity)(op);
}

static ALWAYS_INLINE void NAME(ends)(enum vscan_op op, uint32_t number, struct NAME(block) * b) {
    vec v[VECTORS];
#pragma GCC unroll 32
    for (int k = 0; k < VECTORS; k++) v[k] = NAME(load_keys)(b->ends + 1 + k * LANES);
    if (b->heads != 0)
        NAME(segmented_network)(op, v, b->heads);
    else
        NAME(network)(op, v);
    K tree = v[VECTORS - 1][LANES - 1];
    bool tree_heads = b->heads != 0;

    /* the blocks before, the nearest first, added to what comes before the block's first head */
    const uint32_t reached = -(b->heads & -b->heads);
    for (int bit = 0; number >> bit != 0; bit++) {
        if ((number >> bit & 1) == 0) continue;
        const vec left = NAME(splat)(b->stack[bit]);
#pragma GCC unroll 32
        for (int k = 0; k < VECTORS; k++) {
            const vec sum = NAME(combine)(op, left, v[k]);
            v[k] = reached != 0 ? NAME(select)(NAME(lanes)(reached, k), v[k], sum) : sum;
        }
        if ((b->stack_heads >> bit & 1) != 0) break;
    }
#pragma GCC unroll 32
    for (int k = 0; k < VECTORS; k++) NAME(store_keys)(b->ends + 1 + k * LANES, v[k]);

    /* the block joins the blocks before, as 1 is added to a binary counter */
    int bit = 0;
    for (; (number >> bit & 1) != 0; bit++) {
        if (!tree_heads) tree = NAME(combine1)(op, b->stack[bit], tree);
        tree_heads |= (b->stack_heads >> bit & 1) != 0;
    }
    b->stack[bit] = tree;
    b->stack_heads = (b->stack_heads & ~(1u << bit)) | (uint32_t)tree_heads << bit;
}

/* A group without a head. */
static ALWAYS_INLINE void NAME(plain_group)(enum vscan_op op, const struct vscan__cpu_span *span,
                                            int64_t p, int q, struct NAME(block) * b) {
    const int64_t n = span->n - p;
    const K *local = b->local + q * GROUP;
    const K *from = span->exclusive ? local - 1 : local;
    const K first = b->carry;
    vec v[VECTORS];
    if (EXACT) {
        const K left = NAME(combine1)(op, b->before, b->ends[q]);
#pragma GCC unroll 32
        for (int k = 0; k < VECTORS; k++)
            v[k] = NAME(combine)(op, NAME(splat)(left), NAME(load_keys)(from + k * LANES));
        b->carry = NAME(combine1)(op, left, local[n < GROUP ? n - 1 : GROUP - 1]);
    } else {
        const vec before = NAME(splat)(b->before), end = NAME(splat)(b->ends[q]);
#pragma GCC unroll 32
        for (int k = 0; k < VECTORS; k++)
            v[k] = NAME(combine)(op, before,
                                 NAME(combine)(op, end, NAME(load_keys)(from + k * LANES)));
        b->carry = NAME(combine1)(op, b->before,
                                  n < GROUP ? NAME(combine1)(op, b->ends[q], local[n - 1])
                                            : b->ends[q + 1]);
        if (!span->exclusive && n >= GROUP) v[VECTORS - 1][LANES - 1] = b->carry;
    }
    if (span->exclusive) v[0][0] = first;
    NAME(store_group)(op, span, p, v);
}

/* The locals of a whole block without heads. A third of the time went to asking, group by group,
   what is the same for all of them. */
static ALWAYS_INLINE void NAME(plain_locals)(enum vscan_op op, const struct vscan__cpu_span *span,
                                             int64_t p, struct NAME(block) * b) {
    const int64_t at = span->backward ? span->n - p - GROUP : p;
    const int64_t step = span->backward ? -GROUP : GROUP;
    const T *in = (const T *)span->in + at;
    /* addresses as integers: they may lie outside of the vector */
    uintptr_t next = (uintptr_t)in + (uintptr_t)(step * GROUP * (int64_t)sizeof(T));
    uintptr_t out = (uintptr_t)span->out + (uintptr_t)at * sizeof(T);
    b->heads = 0;
    for (int q = 0; q < GROUP; q++) {
        vec v[VECTORS];
#pragma GCC unroll 32
        for (uintptr_t line = 0; line < GROUP * sizeof(T); line += 64)
            __builtin_prefetch((const void *)(next + line), 0);
        if (__builtin_expect(!span->stream, 1)) {
#pragma GCC unroll 32
            for (uintptr_t line = 0; line < GROUP * sizeof(T); line += 64)
                __builtin_prefetch((const void *)(out + line), 1);
        }
#pragma GCC unroll 32
        for (int k = 0; k < VECTORS; k++) v[k] = NAME(load)(op, in + k * LANES);
        if (__builtin_expect(span->backward, 0)) NAME(reverse_group)(v);
        NAME(network)(op, v);
#pragma GCC unroll 32
        for (int k = 0; k < VECTORS; k++) NAME(store_keys)(b->local + q * GROUP + k * LANES, v[k]);
        b->ends[q + 1] = v[VECTORS - 1][LANES - 1];
        in += step;
        next += (uintptr_t)(step * (int64_t)sizeof(T));
        out += (uintptr_t)(step * (int64_t)sizeof(T));
    }
}

/* Its results. */
static ALWAYS_INLINE void NAME(plain_results)(enum vscan_op op, const struct vscan__cpu_span *span,
                                              int64_t p, struct NAME(block) * b) {
    const int64_t step = span->backward ? -GROUP : GROUP;
    T *out = (T *)span->out + (span->backward ? span->n - p - GROUP : p);
    const K *from = b->local - (span->exclusive ? 1 : 0);
    const K before1 = b->before;
    const vec before = NAME(splat)(before1);
    K carry = b->carry;
    for (int q = 0; q < GROUP; q++) {
        const vec end = NAME(splat)(EXACT ? NAME(combine1)(op, before1, b->ends[q]) : b->ends[q]);
        const K first = carry;
        vec v[VECTORS];
        carry = NAME(combine1)(op, before1, b->ends[q + 1]);
#pragma GCC unroll 32
        for (int k = 0; k < VECTORS; k++) {
            v[k] = NAME(combine)(op, end, NAME(load_keys)(from + k * LANES));
            if (!EXACT) v[k] = NAME(combine)(op, before, v[k]);
        }
        if (__builtin_expect(span->exclusive, 0))
            v[0][0] = first;
        else if (!EXACT)
            v[VECTORS - 1][LANES - 1] = carry;
        if (__builtin_expect(span->backward, 0)) NAME(reverse_group)(v);
#ifdef STREAM
        if (span->stream) {
            NAME(stream_group)(op, out, v);
        } else
#endif
        {
#pragma GCC unroll 32
            for (int k = 0; k < VECTORS; k++) NAME(store)(op, out + k * LANES, v[k]);
        }
        NAME(ask_ahead)(span, p + q * GROUP);
        from += GROUP;
        out += step;
    }
    b->carry = carry;
}

/* The results of such a block and the locals of the next in turns, where results go past the
   caches: memory would rest from writing in the time of the locals. */
static ALWAYS_INLINE void NAME(plain_turns)(enum vscan_op op, const struct vscan__cpu_span *span,
                                            int64_t p, K *next_ends, struct NAME(block) * b) {
#if VECTOR_BYTES > 16
    const int64_t at = span->backward ? span->n - p - GROUP : p;
    const int64_t step = span->backward ? -GROUP : GROUP;
    T *out = (T *)span->out + at;
    const T *in = (const T *)span->in + at + step * GROUP;
    uintptr_t near = (uintptr_t)in + (uintptr_t)(step * GROUP * (int64_t)sizeof(T));
    uintptr_t far = (uintptr_t)in + (uintptr_t)span->ahead;
    const K *from = b->local - (span->exclusive ? 1 : 0);
    K *to = b->local - GROUP;
    const K before1 = b->before;
    const vec before = NAME(splat)(before1);
    K carry = b->carry;
    for (int q = 0; q < GROUP; q++) {
        const vec end = NAME(splat)(EXACT ? NAME(combine1)(op, before1, b->ends[q]) : b->ends[q]);
        const K first = carry;
        vec v[VECTORS];
        carry = NAME(combine1)(op, before1, b->ends[q + 1]);
#pragma GCC unroll 32
        for (int k = 0; k < VECTORS; k++) {
            v[k] = NAME(combine)(op, end, NAME(load_keys)(from + k * LANES));
            if (!EXACT) v[k] = NAME(combine)(op, before, v[k]);
        }
        if (__builtin_expect(span->exclusive, 0))
            v[0][0] = first;
        else if (!EXACT)
            v[VECTORS - 1][LANES - 1] = carry;
        if (__builtin_expect(span->backward, 0)) NAME(reverse_group)(v);
        NAME(stream_group)(op, out, v);

#pragma GCC unroll 32
        for (uintptr_t line = 0; line < GROUP * sizeof(T); line += 64)
            __builtin_prefetch((const void *)(near + line), 0);
        if (__builtin_expect(span->ahead != 0, 1)) {
#pragma GCC unroll 32
            for (uintptr_t line = 0; line < GROUP * sizeof(T); line += 64)
                __builtin_prefetch((const void *)(far + line), 0, 2);
        }
#pragma GCC unroll 32
        for (int k = 0; k < VECTORS; k++) v[k] = NAME(load)(op, in + k * LANES);
        if (__builtin_expect(span->backward, 0)) NAME(reverse_group)(v);
        NAME(network)(op, v);
#pragma GCC unroll 32
        for (int k = 0; k < VECTORS; k++) NAME(store_keys)(to + k * LANES, v[k]);
        next_ends[q + 1] = v[VECTORS - 1][LANES - 1];
        from += GROUP;
        to += GROUP;
        out += step;
        in += step;
        near += (uintptr_t)(step * (int64_t)sizeof(T));
        far += (uintptr_t)(step * (int64_t)sizeof(T));
    }
    b->carry = carry;
#else
    (void)op, (void)span, (void)p, (void)next_ends, (void)b;
#endif
}

/* A group in which segments begin, at the bits of word. */
static ALWAYS_INLINE void NAME(headed_group)(enum vscan_op op, const struct vscan__cpu_span *span,
                                             const struct vscan__cpu_segments *segments, int64_t p,
                                             int q, uint32_t word, struct NAME(block) * b) {
    const int64_t n = span->n - p;
    const uint32_t reached = -(word & -word); /* the first head and all after it */
    const vec before = NAME(splat)(b->before), end = NAME(splat)(b->ends[q]);
    K results[1 + GROUP]; /* inclusive; the first is that of the position before the group */
    vec v[VECTORS];
    results[0] = b->carry;
#pragma GCC unroll 32
    for (int k = 0; k < VECTORS; k++) {
        const vec local = NAME(load_keys)(b->local + q * GROUP + k * LANES);
        v[k] = NAME(combine)(op, before, NAME(combine)(op, end, local));
        v[k] = NAME(select)(NAME(lanes)(reached, k), local, v[k]);
        NAME(store_keys)(results + 1 + k * LANES, v[k]);
    }
    T *totals = segments->totals;
    for (uint32_t rest = word; rest != 0 && totals != NULL; rest &= rest - 1) {
        if (0 <= b->open && b->open < segments->end)
            NAME(put1)(op, totals + b->open, results[__builtin_ctz(rest)]);
        b->open += segments->step;
    }
    if (span->exclusive) {
        const vec first = NAME(splat)(NAME(unbox)(segments->first));
#pragma GCC unroll 32
        for (int k = 0; k < VECTORS; k++)
            v[k] = NAME(select)(NAME(lanes)(word, k), first, NAME(load_keys)(results + k * LANES));
    }
    b->carry = results[n < GROUP ? n : GROUP];
    b->before = NAME(identity)(op);
    NAME(store_group)(op, span, p, v);
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

/* Whether there is a whole block at start, without heads. */
static ALWAYS_INLINE bool NAME(plain)(const struct vscan__cpu_span *span,
                                      const struct vscan__cpu_segments *segments, int64_t start) {
    if (!TIGHT || start + BLOCK > span->n) return false;
    if (segments == NULL) return true;
    uint32_t any = 0;
    for (int q = 0; q < GROUP; q++) any |= segments->heads[start / GROUP + q];
    return any == 0;
}

/* A tile of one group. */
static ALWAYS_INLINE K NAME(scan_group)(enum vscan_op op, const struct vscan__cpu_span *span,
                                        K before) {
    K results[1 + GROUP]; /* inclusive, after what comes before */
    vec v[VECTORS];
    NAME(load_group)(op, span, 0, v);
    NAME(network)(op, v);
    results[0] = before;
#pragma GCC unroll 32
    for (int k = 0; k < VECTORS; k++) {
        v[k] = NAME(combine)(op, NAME(splat)(before), v[k]);
        NAME(store_keys)(results + 1 + k * LANES, v[k]);
    }
    if (span->exclusive) {
#pragma GCC unroll 32
        for (int k = 0; k < VECTORS; k++) v[k] = NAME(load_keys)(results + k * LANES);
    }
    NAME(store_group)(op, span, 0, v);
    return results[span->n];
}

static ALWAYS_INLINE union vscan__value NAME(scan)(enum vscan_op op,
                                                   const struct vscan__cpu_span *span,
                                                   const struct vscan__cpu_segments *segments,
                                                   union vscan__value before) {
#ifndef LOAD_SOME
    if (segments == NULL && span->n <= NAME(few))
        return NAME(box)(NAME(scan_few)(op, span, NAME(unbox)(before)));
#endif
    if (segments == NULL && span->n <= GROUP)
        return NAME(box)(NAME(scan_group)(op, span, NAME(unbox)(before)));
    struct NAME(block) b;
    b.before = NAME(unbox)(before);
    b.carry = b.before;
    b.stack_heads = 0;
    b.open = segments != NULL ? segments->open : 0;
    K *const highest = b.space + LANES + TILE / BLOCK * GROUP;
    b.both[0][0] = NAME(identity)(op);
    bool ready = false; /* the block's locals */
    for (uint32_t number = 0; (int64_t)number * BLOCK < span->n; number++) {
        const int64_t start = (int64_t)number * BLOCK;
        const int64_t left = (span->n - start + GROUP - 1) / GROUP;
        const int groups = (int)(left < GROUP ? left : GROUP);
        b.local = highest - (int64_t)number * GROUP;
        b.ends = b.both[number % 2];
        K *const next = b.both[1 - number % 2];
        b.local[-1] = NAME(identity)(op);
        if (!ready) {
            if (NAME(plain)(span, segments, start))
                NAME(plain_locals)(op, span, start, &b);
            else
                NAME(locals)(op, span, segments, start, groups, &b);
        }
        NAME(ends)(op, number, &b);
        next[0] = b.ends[GROUP];
        ready = false;
        if (TIGHT && b.heads == 0 && start + BLOCK <= span->n) {
            ready = VECTOR_BYTES > 16 && span->stream && NAME(plain)(span, segments, start + BLOCK);
            if (ready)
                NAME(plain_turns)(op, span, start, next, &b);
            else
                NAME(plain_results)(op, span, start, &b);
            continue;
        }
        for (int q = 0; q < groups; q++) {
            const int64_t p = start + q * GROUP;
            NAME(ask_ahead)(span, p);
            if ((b.heads >> q & 1) != 0)
                NAME(headed_group)(op, span, segments, p, q, segments->heads[p / GROUP], &b);
            else
                NAME(plain_group)(op, span, p, q, &b);
        }
    }
    return NAME(box)(b.carry);
}

/* ---- Aggregate ------------------------------------------------------------------------------- */

/* (a0 + a1), (a2 + a3), ..., (b0 + b1), ...: one level of the tree. */
static ALWAYS_INLINE vec NAME(pairs)(enum vscan_op op, vec a, vec b) {
    return NAME(combine)(op, SHUFFLE(ivec, a, b, LANE_PATTERN(EVEN)),
                         SHUFFLE(ivec, a, b, LANE_PATTERN(ODD)));
}

/* The last values of LANES groups that lie at `from`, lowest first: 32 vectors, five levels.
   Written as a recursion so that few vectors are alive at a time. A group's sum is the same read
   backwards: the tree is symmetric, and so is every operator. */
#define PAIRS(name, half_name, half)                                                               \
    static ALWAYS_INLINE vec NAME(name)(enum vscan_op op, const T *from) {                         \
        return NAME(pairs)(op, NAME(half_name)(op, from),                                          \
                           NAME(half_name)(op, from + half * LANES));                              \
    }
PAIRS(tree_2, load, 1)
PAIRS(tree_4, tree_2, 2)
PAIRS(tree_8, tree_4, 4)
PAIRS(tree_16, tree_8, 8)
PAIRS(tree_32, tree_16, 16)
#undef PAIRS

/* B of n keys, n a power of two; overwrites them. */
static ALWAYS_INLINE K NAME(balanced)(enum vscan_op op, K *x, int64_t n) {
    for (; n >= 2 * LANES; n /= 2) {
        for (int64_t i = 0; i < n / 2; i += LANES) NAME(store_keys)
        (x + i, NAME(pairs)(op, NAME(load_keys)(x + 2 * i), NAME(load_keys)(x + 2 * i + LANES)));
    }
    for (; n > 1; n /= 2) {
        for (int64_t i = 0; i < n / 2; i++) x[i] = NAME(combine1)(op, x[2 * i], x[2 * i + 1]);
    }
    return x[0];
}

static ALWAYS_INLINE union vscan__value NAME(aggregate)(enum vscan_op op,
                                                        const struct vscan__cpu_span *span,
                                                        int64_t start, union vscan__value z) {
    K ends[TILE / GROUP + 1];
    const K identity = NAME(identity)(op);
    const int64_t whole = span->n / GROUP; /* groups */
    int64_t q = 0;
    for (; q < start / GROUP; q++) ends[q] = identity;
    while (q * GROUP < span->n) {
        if (q > start / GROUP && q + LANES <= whole) {
            const int64_t p = q * GROUP;
            const T *from = span->in;
            vec v = NAME(tree_32)(op, from + (span->backward ? span->n - p - GROUP * LANES : p));
            if (span->backward) v = NAME(reverse)(v);
            NAME(store_keys)(ends + q, v);
            q += LANES;
            continue;
        }
        /* a group by itself: in it the first segment begins, or it is one of the last */
        vec v[VECTORS];
        K x[GROUP];
        NAME(load_group)(op, span, q * GROUP, v);
#pragma GCC unroll 32
        for (int k = 0; k < VECTORS; k++) NAME(store_keys)(x + k * LANES, v[k]);
        for (int64_t j = span->n - q * GROUP; j < GROUP; j++) x[j] = identity;
        if (q == start / GROUP) {
            for (int64_t j = 0; j < start % GROUP; j++) x[j] = identity;
            x[start % GROUP] = NAME(combine1)(op, NAME(unbox)(z), x[start % GROUP]);
        }
        ends[q++] = NAME(balanced)(op, x, GROUP);
    }

    /* lib/order.h: B of all whole groups, powers of two with the nearest first, then the rest */
    K sum = identity;
    for (int64_t rest = whole; rest != 0;) {
        const int64_t size = rest & -rest;
        rest -= size;
        sum = NAME(combine1)(op, NAME(balanced)(op, ends + rest, size), sum);
    }
    if (span->n % GROUP != 0) sum = NAME(combine1)(op, sum, ends[whole]);
    return NAME(box)(sum);
}

/* ---- Columns --------------------------------------------------------------------------------- */

/*
 * A band of columns, LANES of them in a vector, row after row. In each column the trees are kept as in
 * a binary counter: after r rows of a group, stack[b] of it has the sum of 2^b rows for every bit b of
 * r, and the same one level up for the groups of a tile. The local prefix of a row is its group's
 * counter summed up, the lowest bit first, added to that of the groups.
 */
enum { NAME(band_vectors) = VSCAN__CPU_BAND / VECTOR_BYTES };

struct NAME(counters) {
    vec group[6][NAME(band_vectors)];
    vec tile[10][NAME(band_vectors)];
    vec ends[NAME(band_vectors)];    /* B of the tile's whole groups so far */
    vec before[NAME(band_vectors)];  /* what comes before the tile */
    vec results[NAME(band_vectors)]; /* the inclusive results of the row before */
};

/* Adds 1 to a counter of `count` with node as its lowest digit; the sum of all digits. */
static ALWAYS_INLINE vec NAME(count)(enum vscan_op op, vec (*stack)[NAME(band_vectors)], int k,
                                     uint32_t count, vec node) {
    int bit = 0;
    for (; (count >> bit & 1) != 0; bit++) node = NAME(combine)(op, stack[bit][k], node);
    stack[bit][k] = node;
    for (uint32_t rest = count >> bit; rest != 0; rest &= rest - 1)
        node = NAME(combine)(op, stack[bit + __builtin_ctz(rest)][k], node);
    return node;
}

/* Vectors of a row's elements, the last with fewer. */
static ALWAYS_INLINE vec NAME(load_columns)(enum vscan_op op, const T *from, int64_t columns) {
    if (columns >= LANES) return NAME(load)(op, from);
    T some[LANES] = {0};
    memcpy(some, from, (size_t)columns * sizeof(T));
    return NAME(load)(op, some);
}

static ALWAYS_INLINE void NAME(store_columns)(enum vscan_op op, T *to, int64_t columns, vec v) {
    if (columns >= LANES) {
        NAME(store)(op, to, v);
        return;
    }
    T some[LANES];
    NAME(store)(op, some, v);
    memcpy(to, some, (size_t)columns * sizeof(T));
}

static ALWAYS_INLINE void NAME(scan_band)(enum vscan_op op, const struct vscan__cpu_band *band) {
    struct NAME(counters) c;
    const int vectors = (int)((band->columns + LANES - 1) / LANES);
    const vec identity = NAME(splat)(NAME(identity)(op));
    const T *initial = band->initial;
    for (int k = 0; k < vectors; k++) {
        vec z = identity;
        if (initial != NULL)
            z = band->initial_step == 0
                    ? NAME(splat)(NAME(take1)(op, initial))
                    : NAME(load_columns)(op, initial + k * LANES, band->columns - k * LANES);
        c.before[k] = z;
        c.results[k] = initial != NULL || !SUM ? z : (vec){0}; /* what callers see */
        c.ends[k] = identity;
    }
    for (int64_t p = 0; p < band->rows; p++) {
        const int64_t at = (band->backward ? band->rows - 1 - p : p) * band->pitch;
        const T *in = (const T *)band->in + at;
        const uint32_t in_tile = (uint32_t)(p % TILE), in_group = in_tile % GROUP;
        const bool whole = in_group == GROUP - 1;
        if (in_tile == 0 && p > 0) {
            for (int k = 0; k < vectors; k++) {
                c.before[k] = c.results[k];
                c.ends[k] = identity;
            }
        }
        if (band->out == NULL && !whole && p < band->rows - 1) { /* nobody asks for the prefix */
            int bit = 0;
            while ((in_group >> bit & 1) != 0) bit++;
            for (int k = 0; k < vectors; k++) {
                vec node = NAME(load_columns)(op, in + k * LANES, band->columns - k * LANES);
                for (int b = 0; b < bit; b++) node = NAME(combine)(op, c.group[b][k], node);
                c.group[bit][k] = node;
            }
            continue;
        }
        for (int k = 0; k < vectors; k++) {
            const int64_t left = band->columns - k * LANES;
            vec sum =
                NAME(count)(op, c.group, k, in_group, NAME(load_columns)(op, in + k * LANES, left));
            if (whole)
                sum = c.ends[k] = NAME(count)(op, c.tile, k, in_tile / GROUP, sum);
            else
                sum = NAME(combine)(op, c.ends[k], sum);
            sum = NAME(combine)(op, c.before[k], sum);
            if (band->out != NULL)
                NAME(store_columns)
                (op, (T *)band->out + at + k * LANES, left, band->exclusive ? c.results[k] : sum);
            c.results[k] = sum;
        }
    }
    if (band->totals == NULL) return;
    for (int k = 0; k < vectors; k++)
        NAME(store_columns)
        (op, (T *)band->totals + k * LANES, band->columns - k * LANES, c.results[k]);
}

/* ready for the next kind of element */
#undef T
#undef T_REAL
#undef K
#undef K_BITS
#undef SUM
#undef NAME
#undef S
#undef S_MAX
#undef S_MIN
#undef S_INFINITY
#undef S_ONE
#undef LANES
#undef LANES_LITERAL
#undef LANE_PATTERN
#undef SHIFT_PATTERN
#undef vec
#undef ivec
#undef tvec
#undef LANE_BITS
#undef GROUP
#undef VECTORS
#undef BLOCK
#undef TILE
#undef EXACT
#undef TIGHT
