/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums over the lanes of a warp, and over rows of values that its lanes have: by the balanced tree of
 * lib/order.h, or by one instruction where any order will do and there is one.
 */
#ifndef VSCAN_COMMON_WARP_REDUCE_CUH
#define VSCAN_COMMON_WARP_REDUCE_CUH

#include "common/operators.cuh"
#include "common/warp.cuh"

namespace vscan {

static constexpr unsigned reduce_lanes = warp_mask; /* the name in kernels/reduce */

template <class Pair>
static __device__ __forceinline__ typename Pair::U across(typename Pair::U x, int distance) {
    return Pair::combine(x, __shfl_xor_sync(warp_mask, x, distance));
}

/* The balanced tree over the lanes of a warp, in all of them. */
template <class Pair>
struct over_lanes {
    using U = typename Pair::U;
    static __device__ __forceinline__ U sum(U x) {
#pragma unroll
        for (int d = 1; d < 32; d *= 2) x = across<Pair>(x, d);
        return x;
    }
};

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800 /* one instruction, where there is one */
template <>
struct over_lanes<pair<op_plus, int>> {
    static __device__ __forceinline__ int32_t sum(int32_t x) {
        return (int32_t)__reduce_add_sync(warp_mask, (uint32_t)x);
    }
};
template <class T>
struct over_lanes<pair<op_and, T>> {
    static __device__ __forceinline__ int32_t sum(int32_t x) {
        return (int32_t)__reduce_and_sync(warp_mask, (uint32_t)x);
    }
};
template <class T>
struct over_lanes<pair<op_or, T>> {
    static __device__ __forceinline__ int32_t sum(int32_t x) {
        return (int32_t)__reduce_or_sync(warp_mask, (uint32_t)x);
    }
};
template <class T>
struct over_lanes<pair<op_max, T>> {
    static __device__ __forceinline__ int32_t sum(int32_t x) {
        return __reduce_max_sync(warp_mask, x);
    }
    static __device__ __forceinline__ float sum(float x) {
        using key = extreme_float_key<true>;
        return key::out(sum(key::in(x)));
    }
    /* the high half decides; among lanes that have the same, the low one */
    static __device__ __forceinline__ int64_t sum(int64_t x) {
        const int32_t high = sum((int32_t)(x >> 32));
        const uint32_t low = (int32_t)(x >> 32) == high ? (uint32_t)x : 0;
        return (int64_t)high << 32 | __reduce_max_sync(warp_mask, low);
    }
};
template <class T>
struct over_lanes<pair<op_min, T>> {
    static __device__ __forceinline__ int32_t sum(int32_t x) {
        return __reduce_min_sync(warp_mask, x);
    }
    static __device__ __forceinline__ float sum(float x) {
        using key = extreme_float_key<false>;
        return key::out(sum(key::in(x)));
    }
    static __device__ __forceinline__ int64_t sum(int64_t x) {
        const int32_t high = sum((int32_t)(x >> 32));
        const uint32_t low = (int32_t)(x >> 32) == high ? (uint32_t)x : ~0u;
        return (int64_t)high << 32 | __reduce_min_sync(warp_mask, low);
    }
};
#endif

/*
 * Sums over the lanes of N rows, x[r] the lane's value of row r: lane l returns that of row l % N,
 * over the End lanes of its block of so many, by the balanced tree. While a lane has several rows, a
 * step gives half of them to the lane across and gets that lane's values of the other half: N - 1
 * exchanges until each lane has one row, not N a level.
 */
template <class Pair, int Rows, int End, int Distance = 1, int N>
static __device__ __forceinline__ typename Pair::U rows_over_lanes(typename Pair::U (&x)[N],
                                                                   int lane) {
    using U = typename Pair::U;
    static_assert(N <= 32, "a lane has one row in the end");
    if constexpr (Distance == End) {
        return x[0];
    } else if constexpr (Rows == 1) {
        x[0] = across<Pair>(x[0], Distance);
        return rows_over_lanes<Pair, 1, End, 2 * Distance>(x, lane);
    } else {
        const bool odd = lane & Distance;
#pragma unroll
        for (int r = 0; r < Rows; r += 2) {
            const U keep = odd ? x[r + 1] : x[r], give = odd ? x[r] : x[r + 1];
            x[r / 2] = Pair::combine(keep, __shfl_xor_sync(warp_mask, give, Distance));
        }
        return rows_over_lanes<Pair, Rows / 2, End, 2 * Distance>(x, lane);
    }
}

/* The balanced tree over N rows of 32 values: over the lanes, then over the rows. In all lanes. */
template <class Pair, int N>
static __device__ __forceinline__ typename Pair::U sum_rows(typename Pair::U (&x)[N], int lane) {
    typename Pair::U sum = rows_over_lanes<Pair, N, 32>(x, lane);
#pragma unroll
    for (int d = 1; d < N; d *= 2) sum = across<Pair>(sum, d);
    return sum;
}

} /* namespace vscan */

#endif
