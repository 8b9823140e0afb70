/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Elements as the loops compute with them, and vectors of them. Included once for each kind of element
 * (kinds.h), with
 *
 *     T          the element's type; T_REAL: 1 for float and double
 *     K, K_BITS  the key's type, as wide as T
 *     SUM        1: keys are added; 0: keys are integers for max, min, and, or
 *     NAME(x)    x with the suffix of this kind
 *
 * Keys turn 18 of the 20 pairs into operations on integers, which are associative, so that any
 * order gives the same result:
 *
 *     int, long plus    unsigned, wraps
 *     max, min of reals  the bits, with those below the sign inverted in negative numbers: the integers
 *                        then have the order of the numbers, -0 below +0, and NaNs lie at both ends,
 *                        by their signs. A constant is added, so that they wrap around to one end:
 *                        the upper one for max, the lower one for min
 *     and, or of reals   all ones for true (unequal to 0), all zeros for false, combined bit by bit
 *     min, and of longs, and of reals   all bits inverted, so that max and min, and or and and, share their
 *                        code (tiles.h)
 *
 * Float and double plus have the number itself as the key.
 */
#include <string.h>

#include "cpu/simd/vector.h"

#if K_BITS == 32
#define S int32_t
#define U uint32_t
#define LANES (VECTOR_BYTES / 4)
#else
#define S int64_t
#define U uint64_t
#define LANES (VECTOR_BYTES / 8)
#endif

/* LANES as a literal, to build names from */
#if VECTOR_BYTES * 8 / K_BITS == 2
#define LANES_LITERAL 2
#elif VECTOR_BYTES * 8 / K_BITS == 4
#define LANES_LITERAL 4
#elif VECTOR_BYTES * 8 / K_BITS == 8
#define LANES_LITERAL 8
#else
#define LANES_LITERAL 16
#endif
#define LANE_PATTERN(pattern) CPU_JOIN(pattern##_, LANES_LITERAL)
#define EACH_LANE CPU_JOIN(EACH_, LANES_LITERAL)

#define GROUP VSCAN__GROUP
#define VECTORS (GROUP / LANES) /* of a group */
#define BLOCK VSCAN__LEVEL_1    /* elements */
#define EXACT !(SUM && T_REAL)  /* any order of additions gives the same bits */
#define TILE (K_BITS == 32 ? VSCAN__TILE_FLOAT : VSCAN__TILE_DOUBLE)
#define TIGHT CPU_TIGHT
#define MIN_IS_MAX (!SUM && !T_REAL && K_BITS == 64) /* of inverted bits */
#define AND_IS_OR (!SUM && (T_REAL || K_BITS == 64)) /* of inverted bits */

#define vec NAME(vec)
#define ivec NAME(ivec)
#define uvec NAME(uvec)
#define tvec NAME(tvec)
typedef K vec __attribute__((vector_size(VECTOR_BYTES)));
typedef S ivec __attribute__((vector_size(VECTOR_BYTES)));
typedef U uvec __attribute__((vector_size(VECTOR_BYTES)));
typedef T tvec __attribute__((vector_size(VECTOR_BYTES)));

#define S_MAX (K_BITS == 32 ? (S)INT32_MAX : (S)INT64_MAX)
#define S_MIN (-S_MAX - 1)
#define S_INFINITY (K_BITS == 32 ? (S)INT32_C(0x7f800000) : (S)INT64_C(0x7ff0000000000000))
#define S_ONE (K_BITS == 32 ? (S)INT32_C(0x3f800000) : (S)INT64_C(0x3ff0000000000000))

static ALWAYS_INLINE vec NAME(splat)(K k) {
    return k - (vec){0};
}

static ALWAYS_INLINE vec NAME(select)(ivec mask, vec yes, vec no) {
    return (vec)((mask & (ivec)yes) | (~mask & (ivec)no));
}

#if K_BITS == 32
#define LANE_BITS(i)                                                                               \
    { 1u << i }
#else
#define LANE_BITS(i)                                                                               \
    { 1u << i, 1u << i }
#endif

/* All ones in the lanes of vector k of a group whose bits are set in word. Compares 32-bit words,
   whatever the width of a lane: not every instruction set can compare longer ones. */
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
#undef LANE_BITS

/* yes in those lanes, no in the others. */
static ALWAYS_INLINE vec NAME(where)(uint32_t word, int k, vec yes, vec no) {
#if VECTOR_BYTES == 64
    return MASKED(K_BITS, SUM && T_REAL, vec, word >> k * LANES, yes, no);
#else
    return NAME(select)(NAME(lanes)(word, k), yes, no);
#endif
}

/* The same by a word in memory. Loads a mask for each vector: compilers load the word and shift it,
   two instructions that compete with those that move lanes. */
static ALWAYS_INLINE vec NAME(where_at)(const uint32_t *word, int k, vec yes, vec no) {
#if VECTOR_BYTES == 64
#if K_BITS == 32
    uint16_t mask;
#else
    uint8_t mask;
#endif
    memcpy(&mask, (const char *)word + k * (int)sizeof mask, sizeof mask);
    return MASKED(K_BITS, SUM && T_REAL, vec, mask, yes, no);
#else
    return NAME(where)(*word, k, yes, no);
#endif
}

static ALWAYS_INLINE vec NAME(load_keys)(const K *from) {
    vec v;
    memcpy(&v, from, sizeof v);
    return v;
}

static ALWAYS_INLINE void NAME(store_keys)(K *to, vec v) {
    memcpy(to, &v, sizeof v);
}

/* ---- Operators ------------------------------------------------------------------------------- */

_Static_assert(VSCAN__OPS == 5, "identity, combine, take and put know each operator");

static ALWAYS_INLINE K NAME(identity)(enum vscan_op op) {
#if SUM
    (void)op;
    return (K)-0.0; /* 0 for int and long */
#else
    if (MIN_IS_MAX && op == VSCAN_MIN) return (K)S_MIN;
    if (AND_IS_OR && op == VSCAN_AND) return 0;
    switch (op) {
    case VSCAN_MAX:
        return S_MIN; /* reals: the key of -infinity */
    case VSCAN_MIN:
        return S_MAX;
    case VSCAN_AND:
        return -1;
    default:
        return 0;
    }
#endif
}

/* Combines two vectors of keys, or two keys. */
#if SUM
#define COMBINE(name, type, greater, lesser)                                                       \
    static ALWAYS_INLINE type NAME(name)(enum vscan_op op, type a, type b) {                       \
        (void)op;                                                                                  \
        return a + b;                                                                              \
    }
#else
#define COMBINE(name, type, greater, lesser)                                                       \
    static ALWAYS_INLINE type NAME(name)(enum vscan_op op, type a, type b) {                       \
        if (op == VSCAN_MAX || (MIN_IS_MAX && op == VSCAN_MIN)) return greater;                    \
        if (op == VSCAN_MIN) return lesser;                                                        \
        return op == VSCAN_AND && !AND_IS_OR ? a & b : a | b;                                      \
    }
#endif
COMBINE(combine, vec, GREATER(vec, K_BITS, a, b), LESSER(vec, K_BITS, a, b))
COMBINE(combine1, K, a > b ? a : b, a < b ? a : b)
#undef COMBINE

/* ---- Elements and keys ----------------------------------------------------------------------- */

#if !SUM && T_REAL
/* What takes the identity, an infinity, to the least or the greatest key. */
static ALWAYS_INLINE uvec NAME(key_offset)(enum vscan_op op) {
    const ivec infinity_to_end = (ivec){0} + (S)(S_MAX - S_INFINITY);
    return (uvec)(op == VSCAN_MAX ? -infinity_to_end : infinity_to_end);
}
#endif

static ALWAYS_INLINE vec NAME(take)(enum vscan_op op, tvec x) {
#if MIN_IS_MAX
    return x ^ NAME(splat)(op == VSCAN_MIN || op == VSCAN_AND ? -1 : 0);
#elif SUM || !T_REAL
    (void)op;
    return (vec)x;
#else
    if (op == VSCAN_AND || op == VSCAN_OR)
        return (vec)(x != (tvec){0}) ^ NAME(splat)(op == VSCAN_AND ? -1 : 0);
    const ivec bits = (ivec)x;
    return (vec)((uvec)(bits ^ ((bits >> (K_BITS - 1)) & S_MAX)) + NAME(key_offset)(op));
#endif
}

static ALWAYS_INLINE tvec NAME(put)(enum vscan_op op, vec key) {
#if MIN_IS_MAX
    return NAME(take)(op, key);
#elif SUM || !T_REAL
    (void)op;
    return (tvec)key;
#else
    if (op == VSCAN_AND || op == VSCAN_OR)
        return (tvec)((key ^ NAME(splat)(op == VSCAN_AND ? -1 : 0)) & S_ONE);
    const ivec bits = (ivec)((uvec)key - NAME(key_offset)(op));
    return (tvec)(bits ^ ((bits >> (K_BITS - 1)) & S_MAX));
#endif
}

static ALWAYS_INLINE K NAME(take1)(enum vscan_op op, const void *element) {
    tvec x = {0};
    memcpy(&x, element, sizeof(T));
    return NAME(take)(op, x)[0];
}

static ALWAYS_INLINE void NAME(put1)(enum vscan_op op, void *element, K key) {
    const T x = NAME(put)(op, (vec){key})[0];
    memcpy(element, &x, sizeof x);
}

static ALWAYS_INLINE vec NAME(load)(enum vscan_op op, const T *from) {
    tvec x;
    memcpy(&x, from, sizeof x);
    return NAME(take)(op, x);
}

static ALWAYS_INLINE void NAME(store)(enum vscan_op op, T *to, vec v) {
    const tvec x = NAME(put)(op, v);
    memcpy(to, &x, sizeof x);
}

/* ---- Keys as the callers carry them ---------------------------------------------------------- */

static ALWAYS_INLINE union vscan__value NAME(box)(K key) {
    union vscan__value value = {.bits = 0};
    memcpy(&value, &key, sizeof key);
    return value;
}

static ALWAYS_INLINE K NAME(unbox)(union vscan__value value) {
    K key;
    memcpy(&key, &value, sizeof key);
    return key;
}
