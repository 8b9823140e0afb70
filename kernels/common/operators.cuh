/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pairs (operator, type) of core/pairs.h as types. A pair has
 *     in            converts an element T of a vector to the value U that kernels scan
 *     combine       combines two values
 *     out           converts a value back to an element
 *     identity      the value that changes no bit of any result
 *     visible       what callers see where nothing has been combined
 *     in_any_order  whether any order of combining gives the same bits
 *
 * Double max and min work on integers that are ordered like the doubles: in negative numbers all
 * bits but the sign are flipped, so that signed comparison gives -inf < ... < -0 < +0 < ... < +inf,
 * and every NaN becomes an integer that wins. Logical and, or work on 0 and 1. So there are four
 * types of values (int32, int64, float, double), and only float and double plus depend on the
 * order.
 */
#ifndef VSCAN_COMMON_OPERATORS_CUH
#define VSCAN_COMMON_OPERATORS_CUH

#include <math.h>
#include <stdint.h>

#include "common/ptx.cuh"

namespace vscan {

struct op_plus {};
struct op_max {};
struct op_min {};
struct op_and {};
struct op_or {};

template <class Op, class T>
struct pair;

/* ---- int ------------------------------------------------------------------------------------- */

template <int32_t Identity>
struct int_pair {
    using T = int32_t;
    using U = int32_t;
    static constexpr U identity = Identity;
    static constexpr U visible = Identity;
    static constexpr bool in_any_order = true;
    static __device__ U in(T x) { return x; }
    static __device__ T out(U x) { return x; }
};

template <>
struct pair<op_plus, int> : int_pair<0> {
    static __device__ U combine(U a, U b) { return (U)((uint32_t)a + (uint32_t)b); }
};
template <>
struct pair<op_max, int> : int_pair<INT32_MIN> {
    static __device__ U combine(U a, U b) { return a > b ? a : b; }
};
template <>
struct pair<op_min, int> : int_pair<INT32_MAX> {
    static __device__ U combine(U a, U b) { return a < b ? a : b; }
};
template <>
struct pair<op_and, int> : int_pair<~0> {
    static __device__ U combine(U a, U b) { return a & b; }
};
template <>
struct pair<op_or, int> : int_pair<0> {
    static __device__ U combine(U a, U b) { return a | b; }
};

/* ---- float and double plus ------------------------------------------------------------------- */

template <>
struct pair<op_plus, float> {
    using T = float;
    using U = float;
    static constexpr U identity = -0.0f;
    static constexpr U visible = 0.0f;
    static constexpr bool in_any_order = false;
    static __device__ U in(T x) { return x; }
    static __device__ T out(U x) { return x; }
    static __device__ U combine(U a, U b) { return __fadd_rn(a, b); }
};
template <>
struct pair<op_plus, double> {
    using T = double;
    using U = double;
    static constexpr U identity = -0.0;
    static constexpr U visible = 0.0;
    static constexpr bool in_any_order = false;
    static __device__ U in(T x) { return x; }
    static __device__ T out(U x) { return x; }
    static __device__ U combine(U a, U b) { return __dadd_rn(a, b); }
};

/* ---- float and double max, min --------------------------------------------------------------- */

static __device__ __forceinline__ int32_t bits_of(float x) {
    return __float_as_int(x);
}
static __device__ __forceinline__ int64_t bits_of(double x) {
    return __double_as_longlong(x);
}
static __device__ __forceinline__ float float_of(int32_t x) {
    return __int_as_float(x);
}
static __device__ __forceinline__ double float_of(int64_t x) {
    return __longlong_as_double(x);
}

/* -1 where x is negative, else 0. opaque keeps the compiler from using a predicate instead. */
static __device__ __forceinline__ int32_t all_signs(int32_t x) {
    return opaque(x >> 31);
}
static __device__ __forceinline__ int64_t all_signs(int64_t x) {
    const int32_t high = all_signs((int32_t)(x >> 32));
    return (int64_t)((uint64_t)(uint32_t)high << 32 | (uint32_t)high);
}

/*
 * Keys: in a negative number all bits but the sign are flipped. NaNs of one sign are then beyond
 * the infinity that they must beat, and NaNs of the other sign beyond the other infinity. So an
 * offset is added, modulo 2^32 or 2^64, that makes this other infinity the last integer; the NaNs
 * beyond it wrap around to the winning end.
 */
template <class F, class I, class Unsigned, I Lowest, I Infinity, bool Max>
struct extreme_key {
    using T = F;
    using U = I;
    static constexpr I highest = ~Lowest;
    /* Flips all bits but the sign of a negative number. It is its own inverse and needs no
       predicate. */
    static __device__ I flip(I x) { return x ^ (all_signs(x) & highest); }
    static constexpr Unsigned offset =
        Max ? (Unsigned)Lowest - (Unsigned)((Lowest | Infinity) ^ highest)
            : (Unsigned)highest - (Unsigned)Infinity;
    static constexpr U identity = Max ? Lowest : highest; /* -inf for max, +inf for min */
    static constexpr U visible = identity;
    static constexpr bool in_any_order = true;
    static __device__ U in(T x) { return (I)((Unsigned)flip(bits_of(x)) + offset); }
    static __device__ T out(U x) { return float_of(flip((I)((Unsigned)x - offset))); }
    static __device__ U combine(U a, U b) { return (Max ? a > b : a < b) ? a : b; }
};

template <bool Max>
using extreme_float_key =
    extreme_key<float, int32_t, uint32_t, INT32_MIN, INT32_C(0x7f800000), Max>;

/* sm_80 and later have instructions for this, with +0 > -0. */
template <bool Max>
struct extreme_float {
    using T = float;
    using U = float;
    static constexpr U identity = Max ? -HUGE_VALF : HUGE_VALF;
    static constexpr U visible = identity;
    static constexpr bool in_any_order = true;
    static __device__ U in(T x) { return x; }
    static __device__ T out(U x) { return x; }
    static __device__ U combine(U a, U b) {
#if __CUDA_ARCH__ >= 800
        U y;
        if (Max)
            asm("max.NaN.f32 %0, %1, %2;" : "=f"(y) : "f"(a), "f"(b));
        else
            asm("min.NaN.f32 %0, %1, %2;" : "=f"(y) : "f"(a), "f"(b));
        return y;
#else
        using key = extreme_float_key<Max>;
        return key::out(key::combine(key::in(a), key::in(b)));
#endif
    }
};
template <bool Max>
using extreme_double =
    extreme_key<double, int64_t, uint64_t, INT64_MIN, INT64_C(0x7ff0000000000000), Max>;

template <>
struct pair<op_max, float> : extreme_float<true> {};
template <>
struct pair<op_min, float> : extreme_float<false> {};
template <>
struct pair<op_max, double> : extreme_double<true> {};
template <>
struct pair<op_min, double> : extreme_double<false> {};

/* ---- float and double and, or ---------------------------------------------------------------- */

template <class F, bool And>
struct logical_pair {
    using T = F;
    using U = int32_t;
    static constexpr U identity = And ? 1 : 0;
    static constexpr U visible = identity;
    static constexpr bool in_any_order = true;
    /* NaN is true. opaque: an integer, where the compiler would otherwise keep 32 predicates. */
    static __device__ U in(T x) { return opaque((U) !(x == (T)0)); }
    static __device__ T out(U x) { return (T)x; }
    static __device__ U combine(U a, U b) { return And ? a & b : a | b; }
};

template <>
struct pair<op_and, float> : logical_pair<float, true> {};
template <>
struct pair<op_or, float> : logical_pair<float, false> {};
template <>
struct pair<op_and, double> : logical_pair<double, true> {};
template <>
struct pair<op_or, double> : logical_pair<double, false> {};

/* The balanced tree over the N = 2^k values of a lane. */
template <class Pair, int N>
static __device__ __forceinline__ typename Pair::U sum_items(typename Pair::U (&x)[N]) {
#pragma unroll
    for (int half = 1; half < N; half *= 2)
#pragma unroll
        for (int j = 0; j < N; j += 2 * half) x[j] = Pair::combine(x[j], x[j + half]);
    return x[0];
}

} /* namespace vscan */

#endif
