// SPDX-License-Identifier: Apache-2.0
// The operators as function objects for peers and checks, and the step from a row's number to its
// types. Inputs hold no NaN and no -0, and logical values are 0 and 1 (values.h), so the plain forms
// give what vscan promises.
#ifndef BENCH_OPERATORS_CUH
#define BENCH_OPERATORS_CUH

#include <cuda/functional>
#include <cuda/std/functional>
#include <cuda/std/limits>
#include <cuda/std/type_traits>

#include "device.h"

struct op_plus {
    template <class T>
    __host__ __device__ T operator()(T a, T b) const {
        return a + b;
    }
    __host__ __device__ int32_t operator()(int32_t a, int32_t b) const {
        return int32_t(uint32_t(a) + uint32_t(b));
    }
    __host__ __device__ int64_t operator()(int64_t a, int64_t b) const {
        return int64_t(uint64_t(a) + uint64_t(b));
    }
    template <class T>
    static __host__ __device__ T identity() {
        return T(0);
    }
};
struct op_max {
    template <class T>
    __host__ __device__ T operator()(T a, T b) const {
        return a < b ? b : a;
    }
    template <class T>
    static __host__ __device__ T identity() {
        using limits = cuda::std::numeric_limits<T>;
        return limits::has_infinity ? T(-limits::infinity()) : limits::lowest();
    }
};
struct op_min {
    template <class T>
    __host__ __device__ T operator()(T a, T b) const {
        return b < a ? b : a;
    }
    template <class T>
    static __host__ __device__ T identity() {
        using limits = cuda::std::numeric_limits<T>;
        return limits::has_infinity ? limits::infinity() : limits::max();
    }
};
struct op_and {
    template <class T>
    __host__ __device__ T operator()(T a, T b) const {
        return a != 0 && b != 0 ? T(1) : T(0);
    }
    __host__ __device__ int32_t operator()(int32_t a, int32_t b) const { return a & b; }
    __host__ __device__ int64_t operator()(int64_t a, int64_t b) const { return a & b; }
    template <class T>
    static __host__ __device__ T identity() {
        return cuda::std::is_integral_v<T> ? T(-1) : T(1);
    }
};
struct op_or {
    template <class T>
    __host__ __device__ T operator()(T a, T b) const {
        return a != 0 || b != 0 ? T(1) : T(0);
    }
    __host__ __device__ int32_t operator()(int32_t a, int32_t b) const { return a | b; }
    __host__ __device__ int64_t operator()(int64_t a, int64_t b) const { return a | b; }
    template <class T>
    static __host__ __device__ T identity() {
        return T(0);
    }
};

// with_type(type, f): f(T{}).
template <class F>
static auto with_type(vscan_type type, F f) {
    switch (type) {
    case VSCAN_LONG:
        return f(int64_t{});
    case VSCAN_FLOAT:
        return f(float{});
    case VSCAN_DOUBLE:
        return f(double{});
    default:
        return f(int32_t{});
    }
}

// with_op(op, f): f(op_...{}).
template <class F>
static auto with_op(vscan_op op, F f) {
    switch (op) {
    case VSCAN_MAX:
        return f(op_max{});
    case VSCAN_MIN:
        return f(op_min{});
    case VSCAN_AND:
        return f(op_and{});
    case VSCAN_OR:
        return f(op_or{});
    case VSCAN_PLUS:
    case VSCAN_OP_FORCE_INT:
        break;
    }
    return f(op_plus{});
}

// Flags of any form, as a function of the position.
struct flag_reader {
    const void *flags;
    vscan_type type;
    __host__ __device__ bool operator()(int64_t i) const {
        return type == VSCAN_INT    ? ((const int32_t *)flags)[i] != 0
               : type == VSCAN_BYTE ? ((const uint8_t *)flags)[i] != 0
               : type == VSCAN_BIT  ? (((const uint32_t *)flags)[i / 32] >> (i % 32) & 1) != 0
                                    : false;
    }
};

#endif
