/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Sklansky network over the 32 values of a group, for tile.h, with and without segment heads
 * among them.
 *
 * At level k the last value of a left half of 2^k is added to the whole right half. With heads, lane
 * i of the right half takes no sum where a head lies between the start of that half and i: all of
 * the left half is absent then (core/order.h).
 */

/*
 * For heads at the bits of each word, the lanes that take the sum of a level, and for level 5 those
 * that lie before the first head. A field is a half of 2^level lanes, and the lanes before its first
 * head are the bits below its lowest one: field & ~(field - 1), where a bit put above the others keeps
 * the subtraction within the field.
 */
#define OPEN(low, high, right) (~words & (((words | (high)) - (low)) ^ (high)) & (right))
static ALWAYS_INLINE cpu_words NAME(open)(cpu_words words, int level) {
    switch (level) {
    case 0:
        return ~words & 0xaaaaaaaa;
    case 1:
        return OPEN(0x55555555, 0xaaaaaaaa, 0xcccccccc);
    case 2:
        return OPEN(0x11111111, 0x88888888, 0xf0f0f0f0);
    case 3:
        return OPEN(0x01010101, 0x80808080, 0xff00ff00);
    case 4:
        return OPEN(0x00010001, 0x80008000, 0xffff0000);
    default:
        return OPEN(1, 0x80000000, 0xffffffff);
    }
}
#undef OPEN

enum { NAME(levels) = 6 };

#define SPREADS (VECTOR_BYTES == 32 && K_BITS == 32)

/* What one level adds inside a vector: see HALF and SHIFT. */
static ALWAYS_INLINE vec NAME(half)(vec v, int level) {
#if SPREADS
    if (level == 2) return SPREAD(vec, v, 3);
#endif
    if (level == 0) return SHUFFLE(ivec, v, v, EACH_LANE(HALF, 0));
    if (level == 1) return SHUFFLE(ivec, v, v, EACH_LANE(HALF, 1));
    if (level == 2) return SHUFFLE(ivec, v, v, EACH_LANE(HALF, 2));
    return SHUFFLE(ivec, v, v, EACH_LANE(HALF, 3));
}

static ALWAYS_INLINE vec NAME(shift)(vec v, vec identity, int level) {
#if SPREADS
    if (level == 2) return HALVES(vec, identity, NAME(half)(v, 2));
#endif
    if (level == 0) return SHUFFLE(ivec, v, identity, EACH_LANE(SHIFT, 0));
    return SHUFFLE(ivec, v, identity, EACH_LANE(SHIFT, 1));
}

static ALWAYS_INLINE vec NAME(last_lane)(vec v) {
#if SPREADS
    return SPREAD(vec, v, 7);
#else
    return SHUFFLE(ivec, v, v, EACH_LANE(HALF, LANE_PATTERN(LEVELS)));
#endif
}

#undef SPREADS

static ALWAYS_INLINE vec NAME(reverse)(vec v) {
    return SHUFFLE(ivec, v, v, EACH_LANE(REVERSE, 0));
}

/* The last lane of a, and the lanes of b, one up. */
static ALWAYS_INLINE vec NAME(slide)(vec a, vec b) {
#if VECTOR_BYTES == 32 /* a blend and one shuffle, where two shuffles would be made of it */
    const vec v = SHUFFLE(ivec, b, a, EACH_LANE(LAST_OF_SECOND, 0));
    return SHUFFLE(ivec, v, v, EACH_LANE(ROTATE, 0));
#else
    return SHUFFLE(ivec, a, b, EACH_LANE(SLIDE, 0));
#endif
}

/* The levels inside a vector. */
static ALWAYS_INLINE void NAME(inner_network)(enum vscan_op op, vec v[VECTORS]) {
    const vec identity = NAME(splat)(NAME(identity)(op));
#pragma GCC unroll 32
    for (int k = 0; k < VECTORS; k++) {
#pragma GCC unroll 32
        for (int level = 0; level < LANE_PATTERN(LEVELS); level++) {
#if VECTOR_BYTES == 64
            static const uint32_t right[] = {0xaaaaaaaa, 0xcccccccc, 0xf0f0f0f0, 0xff00ff00};
            (void)identity;
            v[k] = NAME(where)(right[level], k, NAME(combine)(op, NAME(half)(v[k], level), v[k]),
                               v[k]);
#else
            v[k] = NAME(combine)(op, NAME(shift)(v[k], identity, level), v[k]);
#endif
        }
    }
}

/* v[i] = B(v[0 .. i]) */
static ALWAYS_INLINE void NAME(network)(enum vscan_op op, vec v[VECTORS]) {
    NAME(inner_network)(op, v);
#pragma GCC unroll 32
    for (int half = 1; half < VECTORS; half *= 2) {
#pragma GCC unroll 32
        for (int k = half; k < VECTORS; k++) {
            if ((k & half) != 0)
                v[k] = NAME(combine)(op, NAME(last_lane)(v[k / half * half - 1]), v[k]);
        }
    }
}

/* The same with heads, of which open has the lanes of each level, `step` words apart. */
static ALWAYS_INLINE void NAME(segmented_network)(enum vscan_op op, vec v[VECTORS],
                                                  const uint32_t *open, int step) {
#pragma GCC unroll 32
    for (int level = 0; level < NAME(levels) - 1; level++) {
        const int half = (1 << level) / LANES; /* in vectors */
        const uint32_t *word = open + level * step;
#pragma GCC unroll 32
        for (int k = 0; k < VECTORS; k++) {
            if (half > 0 && (k & half) == 0) continue;
            const vec left =
                half > 0 ? NAME(last_lane)(v[k / half * half - 1]) : NAME(half)(v[k], level);
            v[k] = NAME(where_at)(word, k, NAME(combine)(op, left, v[k]), v[k]);
        }
    }
}

/* ---- The heads of a block -------------------------------------------------------------------- */

struct NAME(heads) {
    const uint32_t *words;              /* of every group */
    uint32_t open[NAME(levels)][GROUP]; /* see NAME(open) */
};

static ALWAYS_INLINE void NAME(mark)(const uint32_t *words, struct NAME(heads) * heads) {
    enum { WORDS = VECTOR_BYTES / 4 };
    heads->words = words;
#pragma GCC unroll 1
    for (int q = 0; q < GROUP; q += WORDS) {
        cpu_words w;
        memcpy(&w, words + q, sizeof w);
#pragma GCC unroll 32
        for (int level = 0; level < NAME(levels); level++) {
            const cpu_words open = NAME(open)(w, level);
            memcpy(heads->open[level] + q, &open, sizeof open);
        }
    }
}

static ALWAYS_INLINE bool NAME(any_heads)(const uint32_t *words, int64_t groups) {
    uint32_t any = 0;
    for (int64_t q = 0; q < groups; q++) any |= words[q];
    return any != 0;
}
