/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Elements as the rows compute with them, and vectors of them. Included once for each kind of
 * element (cpu_tiles.h), with
 *
 *     T          the element's type; T_REAL: 1 for float and double
 *     K, K_BITS  the key's type, as wide as T
 *     SUM        1: keys are added; 0: keys are integers for max, min, and, or
 *     NAME(x)    x with the suffix of this kind
 *
 * Keys turn 13 of the 15 pairs into operations on integers, which are associative, so that any
 * order gives the same result:
 *
 *     int plus          unsigned, wraps
 *     max, min of reals the bits, with those below the sign flipped in negative numbers: the order
 * of the integers is then that of the numbers, -0 below +0. A NaN becomes the greatest key for max,
 * the least for min, which are NaNs again when turned back. and, or of reals  all ones for true
 * (unequal to 0), all zeros for false, combined bit by bit
 *
 * Float and double plus have the number itself as the key.
 */
#include <string.h>

#include "cpu_vector.h"

#if K_BITS == 32
#define S int32_t
#define LANES (VECTOR_BYTES / 4)
#else
#define S int64_t
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
#define SHIFT_PATTERN(level) CPU_JOIN(CPU_JOIN(SHIFT_, LANES_LITERAL), _##level)

#define vec NAME(vec)
#define ivec NAME(ivec)
#define tvec NAME(tvec)
typedef K vec __attribute__((vector_size(VECTOR_BYTES)));
typedef S ivec __attribute__((vector_size(VECTOR_BYTES)));
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

static ALWAYS_INLINE vec NAME(load_keys)(const K *from) {
    vec v;
    memcpy(&v, from, sizeof v);
    return v;
}

static ALWAYS_INLINE void NAME(store_keys)(K *to, vec v) {
    memcpy(to, &v, sizeof v);
}

/* ---- Operators ------------------------------------------------------------------------------- */

static ALWAYS_INLINE K NAME(identity)(enum vscan_op op) {
#if SUM
    (void)op;
    return (K)-0.0; /* 0 for int */
#else
    switch (op) {
    case VSCAN_MAX:
        return T_REAL ? -S_INFINITY - 1 : S_MIN; /* reals: the key of -infinity */
    case VSCAN_MIN:
        return T_REAL ? S_INFINITY : S_MAX;
    case VSCAN_AND:
        return -1;
    default:
        return 0;
    }
#endif
}

static ALWAYS_INLINE vec NAME(combine)(enum vscan_op op, vec a, vec b) {
#if SUM
    (void)op;
    return a + b;
#else
    switch (op) {
    case VSCAN_MAX:
        return GREATER(vec, K_BITS, a, b);
    case VSCAN_MIN:
        return LESSER(vec, K_BITS, a, b);
    case VSCAN_AND:
        return a & b;
    default:
        return a | b;
    }
#endif
}

static ALWAYS_INLINE K NAME(combine1)(enum vscan_op op, K a, K b) {
#if SUM
    (void)op;
    return a + b;
#else
    switch (op) {
    case VSCAN_MAX:
        return a > b ? a : b;
    case VSCAN_MIN:
        return a < b ? a : b;
    case VSCAN_AND:
        return a & b;
    default:
        return a | b;
    }
#endif
}

/* ---- Elements and keys ----------------------------------------------------------------------- */

static ALWAYS_INLINE vec NAME(take)(enum vscan_op op, tvec x) {
#if SUM || !T_REAL
    (void)op;
    return (vec)x;
#else
    if (op == VSCAN_AND || op == VSCAN_OR) return (vec)(x != (tvec){0});
    const ivec bits = (ivec)x;
    const ivec key = bits ^ ((bits >> (K_BITS - 1)) & S_MAX);
    const ivec nan = (bits & S_MAX) > S_INFINITY;
    return NAME(select)(nan, NAME(splat)(op == VSCAN_MAX ? S_MAX : S_MIN), key);
#endif
}

static ALWAYS_INLINE tvec NAME(put)(enum vscan_op op, vec key) {
#if SUM || !T_REAL
    (void)op;
    return (tvec)key;
#else
    if (op == VSCAN_AND || op == VSCAN_OR) return (tvec)(key & S_ONE);
    return (tvec)(key ^ ((key >> (K_BITS - 1)) & S_MAX));
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

/* ---- Keys as the drivers carry them ---------------------------------------------------------- */

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
