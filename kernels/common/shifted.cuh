/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads and stores of a warp where its vectors of 16 bytes are not aligned: by aligned accesses, and
 * shuffles between lanes. A warp has Loads times 32 vectors of V elements, one behind the other. m:
 * elements by which they miss their alignment, 1 .. V - 1. at: the lane's first vector; the others
 * follow 32 * V elements apart. Forward only.
 */
#ifndef VSCAN_COMMON_SHIFTED_CUH
#define VSCAN_COMMON_SHIFTED_CUH

#include "common/vectors.cuh"
#include "common/warp.cuh"

namespace vscan {

/* x[j] = from x and then `next` the element m + j. */
template <class T, int V>
static __device__ __forceinline__ void shift_down(T (&x)[V], const T (&next)[V], int m) {
    T all[2 * V];
#pragma unroll
    for (int j = 0; j < V; ++j) {
        all[j] = x[j];
        all[V + j] = next[j];
    }
#pragma unroll
    for (int by = 1; by < V; by *= 2)
#pragma unroll
        for (int j = 0; j < 2 * V - by; ++j) all[j] = m & by ? all[j + by] : all[j];
#pragma unroll
    for (int j = 0; j < V; ++j) x[j] = all[j];
}

/* Reads m elements before the warp's first one and V - m behind the last one, too: they must be there. */
template <class Items, int Loads, class T>
static __device__ __forceinline__ void load_shifted(Items (&items)[Loads], const T *at, int m,
                                                    int lane) {
    constexpr int V = 16 / (int)sizeof(T);
    T behind[V];
    int4 quad = {};
    if (lane == 31) quad = *(const int4 *)(at - m + ((Loads - 1) * 32 + 1) * V);
    memcpy(behind, &quad, 16);
#pragma unroll
    for (int r = 0; r < Loads; ++r) {
        quad = *(const int4 *)(at - m + r * 32 * V);
        memcpy(items[r].raw, &quad, 16);
    }
#pragma unroll
    for (int r = 0; r < Loads; ++r) {
        T next[V];
#pragma unroll
        for (int j = 0; j < V; ++j) {
            next[j] = __shfl_down_sync(warp_mask, items[r].raw[j], 1);
            const T of_first =
                r + 1 < Loads ? __shfl_sync(warp_mask, items[r + 1 < Loads ? r + 1 : r].raw[j], 0)
                              : behind[j];
            if (lane == 31) next[j] = of_first;
        }
        shift_down(items[r].raw, next, m);
    }
}

template <class Items, int Loads, class T>
static __device__ __forceinline__ void store_shifted(const Items (&items)[Loads], T *at, int m,
                                                     int lane) {
    constexpr int V = 16 / (int)sizeof(T);
    T last[V] = {}; /* of lane 31, one load earlier */
#pragma unroll
    for (int r = 0; r < Loads; ++r) {
        T x[V]; /* the lane before, then this one */
#pragma unroll
        for (int j = 0; j < V; ++j) {
            x[j] = __shfl_up_sync(warp_mask, items[r].raw[j], 1);
            if (lane == 0) x[j] = last[j];
            if (r + 1 < Loads) last[j] = __shfl_sync(warp_mask, items[r].raw[j], 31);
        }
        shift_down(x, items[r].raw, V - m);
        T *const to = at - m + r * 32 * V;
        if (r > 0 || lane > 0) {
            int4 quad;
            memcpy(&quad, x, 16);
            *(int4 *)to = quad;
        } else {
#pragma unroll
            for (int j = 1; j < V; ++j)
                if (j >= m) to[j] = x[j];
        }
        if (r == Loads - 1 && lane == 31) {
#pragma unroll
            for (int j = 1; j < V; ++j)
                if (j >= V - m) to[m + j] = items[r].raw[j];
        }
    }
}

} /* namespace vscan */

#endif
