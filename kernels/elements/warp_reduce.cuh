/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reductions over the lanes of a warp, and over several values of each lane: by the balanced tree
 * of core/order.h, or by one instruction where the order does not matter and there is one.
 */
#pragma once

#include "elements/operators.cuh"
#include "machine/warp.cuh"

namespace vscan {

template <class Pair>
static DEVICE typename Pair::U across(typename Pair::U x, int distance) {
    return Pair::combine(x, __shfl_xor_sync(warp_mask, x, distance));
}

/* The balanced tree over the lanes of a warp. All lanes get the result. */
template <class Pair>
struct over_lanes {
    using U = typename Pair::U;
    static DEVICE U sum(U x) {
        UNROLL_FOR (int d = 1; d < 32; d *= 2) x = across<Pair>(x, d);
        return x;
    }
};

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800 /* redux.sync */
template <>
struct over_lanes<pair<op_plus, int>> {
    static DEVICE int32_t sum(int32_t x) {
        return (int32_t)__reduce_add_sync(warp_mask, (uint32_t)x);
    }
};
template <class T>
struct over_lanes<pair<op_or, T>> {
    static DEVICE int32_t sum(int32_t x) {
        return (int32_t)__reduce_or_sync(warp_mask, (uint32_t)x);
    }
    static DEVICE int64_t sum(int64_t x) {
        const uint32_t high = (uint32_t)sum((int32_t)(x >> 32));
        return (int64_t)((uint64_t)high << 32 | (uint32_t)sum((int32_t)x));
    }
};
template <class T>
struct over_lanes<pair<op_max, T>> {
    static DEVICE int32_t sum(int32_t x) { return __reduce_max_sync(warp_mask, x); }
    static DEVICE float sum(float x) {
        return float_of(key_of_float::bits(sum(key_of_float::of(bits_of(x)))));
    }
    /* the high 32 bits decide; among lanes in which they are equal, the low ones */
    static DEVICE int64_t sum(int64_t x) {
        const int32_t high = sum((int32_t)(x >> 32));
        const uint32_t low = (int32_t)(x >> 32) == high ? (uint32_t)x : 0;
        return (int64_t)high << 32 | __reduce_max_sync(warp_mask, low);
    }
};
#endif

/*
 * N reductions over lanes at once, by the balanced tree. Row r is x[r] of all lanes. The lanes form
 * groups of End; lane l returns the sum of row l % N over its group. While a lane has several rows,
 * each step sends half of them to the lane at Distance and receives its values of the other half.
 * So it takes N - 1 exchanges until each lane has one row, not N at each level.
 */
template <class Pair, int Rows, int End, int Distance = 1, int N>
static DEVICE typename Pair::U rows_over_lanes(typename Pair::U (&x)[N], int lane) {
    using U = typename Pair::U;
    static_assert(N <= 32, "a lane has one row in the end");
    if constexpr (Distance == End) {
        return x[0];
    } else if constexpr (Rows == 1) {
        x[0] = across<Pair>(x[0], Distance);
        return rows_over_lanes<Pair, 1, End, 2 * Distance>(x, lane);
    } else {
        const bool odd = lane & Distance;
        UNROLL_FOR (int r = 0; r < Rows; r += 2) {
            const U keep = odd ? x[r + 1] : x[r], give = odd ? x[r] : x[r + 1];
            x[r / 2] = Pair::combine(keep, __shfl_xor_sync(warp_mask, give, Distance));
        }
        return rows_over_lanes<Pair, Rows / 2, End, 2 * Distance>(x, lane);
    }
}

} /* namespace vscan */
