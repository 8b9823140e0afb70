/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pairs (operator, type) of core/pairs.h as types, and which of them share a kernel. A pair has
 *     T             the type of its results, and of initial values; of elements, too, but for widened_plus
 *     In            the type of its elements
 *     in            converts an element In, or a T, to the value U that kernels scan
 *     combine       combines two values
 *     out           converts a value back to an element
 *     identity      the value that changes no bit of any result
 *     visible       the value that callers see where nothing has been combined
 *     in_any_order  whether any order of combining gives the same bits
 *
 * Double max and min work on integers that are ordered like the doubles: in negative numbers all
 * bits but the sign are flipped, so that signed comparison gives -inf < ... < -0 < +0 < ... < +inf,
 * and every NaN becomes an integer that wins. Logical and, or work on 0 and 1. So there are four
 * types of values (int32, int64, float, double), and only float and double plus depend on the
 * order.
 *
 * A minimum is a maximum of elements whose order is reversed, `and` is `or` of complements, and logical
 * operators are bitwise ones of 0 and 1. So the kernels are compiled for plus, max and or alone, and in
 * and out take a transform, which a launch passes with its arguments. `form` says which kernel's pair a pair of
 * core/pairs.h is, and by which transform: 9 kernels for 20 pairs.
 */
#pragma once

#include <math.h>
#include <stdint.h>

#include <type_traits>

#include "machine/ptx.cuh"

namespace vscan {

struct op_plus {};
struct op_max {};
struct op_min {};
struct op_and {};
struct op_or {};

template <class Op, class T>
struct pair;

/* How in and out change elements: see the pairs. flip: bits of an element that are inverted. */
struct pair_transform {
    uint64_t flip, mask, number, factor;
};

/* ---- int and long ---------------------------------------------------------------------------- */

template <class I, I Identity>
struct integer_pair {
    using T = I;
    using In = I;
    using U = I;
    static constexpr U identity = Identity;
    static constexpr U visible = Identity;
    static constexpr bool in_any_order = true;
    static __device__ U in(T x, const pair_transform & = {}) { return x; }
    static __device__ T out(U x, const pair_transform & = {}) { return x; }
};

template <>
struct pair<op_plus, int> : integer_pair<int32_t, 0> {
    static __device__ U combine(U a, U b) { return (U)((uint32_t)a + (uint32_t)b); }
};
template <>
struct pair<op_plus, long> : integer_pair<int64_t, 0> {
    static __device__ U combine(U a, U b) { return (U)((uint64_t)a + (uint64_t)b); }
};

/* Sums of ints as longs. */
struct widened_plus : pair<op_plus, long> {
    using In = int32_t;
    static __device__ U in(In x, const pair_transform & = {}) { return x; }
    static __device__ U in(T x, const pair_transform & = {}) { return x; }
};

/* max, and min where all bits are flipped. */
template <>
struct pair<op_max, int> : integer_pair<int32_t, INT32_MIN> {
    static __device__ U in(T x, const pair_transform &transform) { return x ^ (U)transform.flip; }
    static __device__ T out(U x, const pair_transform &transform) { return x ^ (T)transform.flip; }
    static __device__ U combine(U a, U b) { return a > b ? a : b; }
};

/*
 * or, and `and` where bits are flipped: all bits of integers; bit 0 of the truth of reals, which is computed
 * as 0 or 1. An element is 4 or 8 bytes of either type.
 *   mask     the bits that count: all, or all but a real's sign, since -0 is false. (A NaN is true.)
 *   number   the greatest value of what is left: of a real 1
 *   factor   of a result: 1, or the bits of the real 1
 */
template <class I, class Unsigned>
struct or_pair : integer_pair<I, 0> {
    static __device__ I in(I x, const pair_transform &transform) {
        const Unsigned bits = (Unsigned)x & (Unsigned)transform.mask,
                       most = (Unsigned)transform.number;
        return (I)((bits < most ? bits : most) ^ (Unsigned)transform.flip);
    }
    static __device__ I out(I x, const pair_transform &transform) {
        return (I)(((Unsigned)x ^ (Unsigned)transform.flip) * (Unsigned)transform.factor);
    }
    static __device__ I combine(I a, I b) { return a | b; }
};
template <>
struct pair<op_or, int> : or_pair<int32_t, uint32_t> {};
template <>
struct pair<op_or, long> : or_pair<int64_t, uint64_t> {};

/* ---- float and double plus ------------------------------------------------------------------- */

template <>
struct pair<op_plus, float> {
    using T = float;
    using In = float;
    using U = float;
    static constexpr U identity = -0.0f;
    static constexpr U visible = 0.0f;
    static constexpr bool in_any_order = false;
    static __device__ U in(T x, const pair_transform & = {}) { return x; }
    static __device__ T out(U x, const pair_transform & = {}) { return x; }
    static __device__ U combine(U a, U b) { return __fadd_rn(a, b); }
};
template <>
struct pair<op_plus, double> {
    using T = double;
    using In = double;
    using U = double;
    static constexpr U identity = -0.0;
    static constexpr U visible = 0.0;
    static constexpr bool in_any_order = false;
    static __device__ U in(T x, const pair_transform & = {}) { return x; }
    static __device__ T out(U x, const pair_transform & = {}) { return x; }
    static __device__ U combine(U a, U b) { return __dadd_rn(a, b); }
};

/* ---- float max, and double and long max; min where a transform inverts the sign, or all bits ------- */

static DEVICE int32_t bits_of(float x) {
    return __float_as_int(x);
}
static DEVICE int64_t bits_of(double x) {
    return __double_as_longlong(x);
}
static DEVICE float float_of(int32_t x) {
    return __int_as_float(x);
}
static DEVICE double float_of(int64_t x) {
    return __longlong_as_double(x);
}

/* -1 where x is negative, else 0. opaque keeps the compiler from using a predicate instead. */
static DEVICE int32_t all_signs(int32_t x) {
    return opaque(x >> 31);
}
static DEVICE int64_t all_signs(int64_t x) {
    const int32_t high = all_signs((int32_t)(x >> 32));
    return (int64_t)((uint64_t)(uint32_t)high << 32 | (uint32_t)high);
}

/*
 * Keys: in a negative number all bits but the sign are flipped. NaNs without a sign are then beyond
 * +infinity, which they must beat, and NaNs with a sign below -infinity. So an offset is added, modulo
 * 2^32 or 2^64, that makes -infinity the lowest integer; the NaNs below it wrap around to the winning
 * end.
 */
template <class I, class Unsigned, I Lowest, I Infinity>
struct float_key {
    static constexpr I below_zero = ~Lowest; /* all bits but the sign */
    static constexpr Unsigned offset =
        (Unsigned)Lowest - (Unsigned)((Lowest | Infinity) ^ below_zero);
    /* Flips those bits of a negative number. It is its own inverse and needs no predicate. */
    static __device__ I flip(I x, I bits = below_zero) { return x ^ (all_signs(x) & bits); }
    static __device__ I of(I x) { return (I)((Unsigned)flip(x) + offset); }
    static __device__ I bits(I key) { return flip((I)((Unsigned)key - offset)); }
};
using key_of_float = float_key<int32_t, uint32_t, INT32_MIN, INT32_C(0x7f800000)>;
using key_of_double = float_key<int64_t, uint64_t, INT64_MIN, INT64_C(0x7ff0000000000000)>;

/* sm_80 and later have an instruction for this, with +0 > -0. */
template <>
struct pair<op_max, float> {
    using T = float;
    using In = float;
    using U = float;
    static constexpr U identity = -HUGE_VALF;
    static constexpr U visible = identity;
    static constexpr bool in_any_order = true;
    static __device__ U in(T x, const pair_transform &transform) {
        return float_of(bits_of(x) ^ (int32_t)transform.flip);
    }
    static __device__ T out(U x, const pair_transform &transform) { return in(x, transform); }
    static __device__ U combine(U a, U b) {
#if __CUDA_ARCH__ >= 800
        U y;
        asm("max.NaN.f32 %0, %1, %2;" : "=f"(y) : "f"(a), "f"(b));
        return y;
#else
        const int32_t x = key_of_float::of(bits_of(a)), y = key_of_float::of(bits_of(b));
        return float_of(key_of_float::bits(x > y ? x : y));
#endif
    }
};

/* Of doubles and of longs, which the transform makes keys of: mask has the bits that are flipped in negative
   numbers, and number is added then. An element is 8 bytes of either type. */
template <>
struct pair<op_max, double> {
    using T = double;
    using In = double;
    using U = int64_t;
    static constexpr U identity = INT64_MIN; /* -infinity's key */
    static constexpr U visible = identity;
    static constexpr bool in_any_order = true;
    static __device__ U in(T x, const pair_transform &transform) {
        const int64_t key =
            key_of_double::flip(bits_of(x) ^ (int64_t)transform.flip, (int64_t)transform.mask);
        return (U)((uint64_t)key + transform.number);
    }
    static __device__ T out(U x, const pair_transform &transform) {
        const int64_t key =
            key_of_double::flip((int64_t)((uint64_t)x - transform.number), (int64_t)transform.mask);
        return float_of(key ^ (int64_t)transform.flip);
    }
    static __device__ U combine(U a, U b) { return a > b ? a : b; }
};

/* ---- Which pairs share a kernel --------------------------------------------------------------- */

/* The kernel's pair of a pair of core/pairs.h, and the transform. */
template <class Op, class T>
struct form;
/* The pairs that kernels are compiled for, by the size of their elements. */
#define VSCAN__FORMS_OF_4_BYTES(X)                                                                 \
    X(op_plus, int)                                                                                \
    X(op_max, int)                                                                                 \
    X(op_or, int)                                                                                  \
    X(op_plus, float)                                                                              \
    X(op_max, float)
#define VSCAN__FORMS_OF_8_BYTES(X)                                                                 \
    X(op_plus, long)                                                                               \
    X(op_or, long)                                                                                 \
    X(op_plus, double)                                                                             \
    X(op_max, double)
#define VSCAN__FORMS(X)                                                                            \
    VSCAN__FORMS_OF_4_BYTES(X)                                                                     \
    VSCAN__FORMS_OF_8_BYTES(X)
template <class Pair>
static constexpr bool is_compiled = false;
#define X(op, T)                                                                                   \
    template <>                                                                                    \
    constexpr bool is_compiled<pair<op, T>> = true;
VSCAN__FORMS(X)
#undef X
#define FORM(op, T, kernel_op, kernel_T, ...)                                                      \
    static_assert(is_compiled<pair<kernel_op, kernel_T>>, "VSCAN__FORMS has it");                  \
    template <>                                                                                    \
    struct form<op, T> {                                                                           \
        using kernel = pair<kernel_op, kernel_T>;                                                  \
        static constexpr pair_transform transform = {__VA_ARGS__};                                 \
    };
#define ALL ~UINT64_C(0)
#define SIGN (UINT64_C(1) << 63)
#define KEY (uint64_t) key_of_double::below_zero, key_of_double::offset
#define FLOAT_TRUTH ~SIGN >> 32, 1, UINT64_C(0x3f800000)
#define DOUBLE_TRUTH ~SIGN, 1, UINT64_C(0x3ff0000000000000)
FORM(op_plus, int, op_plus, int)
FORM(op_plus, long, op_plus, long)
FORM(op_plus, float, op_plus, float)
FORM(op_plus, double, op_plus, double)
FORM(op_max, int, op_max, int)
FORM(op_min, int, op_max, int, ALL)
FORM(op_max, float, op_max, float)
FORM(op_min, float, op_max, float, SIGN >> 32)
FORM(op_max, long, op_max, double)
FORM(op_min, long, op_max, double, ALL)
FORM(op_max, double, op_max, double, 0, KEY)
FORM(op_min, double, op_max, double, SIGN, KEY)
FORM(op_or, int, op_or, int, 0, ALL, ALL, 1)
FORM(op_and, int, op_or, int, ALL, ALL, ALL, 1)
FORM(op_or, float, op_or, int, 0, FLOAT_TRUTH)
FORM(op_and, float, op_or, int, 1, FLOAT_TRUTH)
FORM(op_or, long, op_or, long, 0, ALL, ALL, 1)
FORM(op_and, long, op_or, long, ALL, ALL, ALL, 1)
FORM(op_or, double, op_or, long, 0, DOUBLE_TRUTH)
FORM(op_and, double, op_or, long, 1, DOUBLE_TRUTH)
#undef DOUBLE_TRUTH
#undef FLOAT_TRUTH
#undef ALL
#undef FORM
#undef SIGN
#undef KEY

/* The balanced tree over the N = 2^k values of a lane. */
template <class Pair, int N>
static DEVICE typename Pair::U sum_items(typename Pair::U (&x)[N]) {
    UNROLL_FOR (int half = 1; half < N; half *= 2)
        UNROLL_FOR (int j = 0; j < N; j += 2 * half) x[j] = Pair::combine(x[j], x[j + half]);
    return x[0];
}

/* Combines left and x into x, where `there` is true. */
template <class Pair>
static DEVICE void combine_where(bool there, typename Pair::U left, typename Pair::U &x) {
    if constexpr (std::is_same_v<typename Pair::U, int64_t> && Pair::identity == INT64_MIN) {
        take_where(there, left, x); /* a maximum */
    } else if (there) {
        x = Pair::combine(left, x);
        changed_here(x);
    }
}

/* x = outer + (inner + x), where `there` is true. */
template <class Pair>
static DEVICE void combine_twice(bool there, typename Pair::U outer, typename Pair::U inner,
                                 typename Pair::U &x) {
    if (!there) return;
    x = Pair::combine(inner, x);
    changed_here(x);
    x = Pair::combine(outer, x);
    changed_here(x);
}

} /* namespace vscan */
