/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each pair of kernels ours_X and cub_X does the same with this library's parts and with the CUB
 * collective that could replace them, in blocks of 512 threads. Only their machine code is
 * compared; the commands and the results are in kernels/CUB.md. Reductions give the result to all
 * lanes, as the library needs it.
 */
#include "sort/segmented/network.cuh"
#include "elements/warp_reduce.cuh"
#include <cub/cub.cuh>
using namespace vscan;
#define KERNEL extern "C" __global__ void __launch_bounds__(512)
KERNEL ours_WarpScan_u32(uint32_t *x) {
    x[threadIdx.x] = warp_inclusive_sum(x[threadIdx.x]);
}
KERNEL cub_WarpScan_u32(uint32_t *x) {
    using W = cub::WarpScan<uint32_t>;
    __shared__ typename W::TempStorage t[16];
    uint32_t y;
    W(t[threadIdx.x / 32]).InclusiveSum(x[threadIdx.x], y);
    x[threadIdx.x] = y;
}
KERNEL ours_WarpScan_s64(int64_t *x) {
    x[threadIdx.x] = warp_inclusive_sum(x[threadIdx.x]);
}
KERNEL cub_WarpScan_s64(int64_t *x) {
    using W = cub::WarpScan<int64_t>;
    __shared__ typename W::TempStorage t[16];
    int64_t y;
    W(t[threadIdx.x / 32]).InclusiveSum(x[threadIdx.x], y);
    x[threadIdx.x] = y;
}
KERNEL ours_WarpReduce_u64(uint64_t *x) {
    x[threadIdx.x] = warp_sum(x[threadIdx.x]);
}
KERNEL cub_WarpReduce_u64(uint64_t *x) {
    using W = cub::WarpReduce<uint64_t>;
    __shared__ typename W::TempStorage t[16];
    uint64_t y = W(t[threadIdx.x / 32]).Sum(x[threadIdx.x]);
    x[threadIdx.x] = __shfl_sync(warp_mask, y, 0);
}
template <class P>
struct combine_of {
    __device__ typename P::U operator()(typename P::U a, typename P::U b) const {
        return P::combine(a, b);
    }
};
#define REDUCE(name, P)                                                                            \
    KERNEL ours_WarpReduce_##name(P::U *x) {                                                       \
        x[threadIdx.x] = over_lanes<P>::sum(x[threadIdx.x]);                                       \
    }                                                                                              \
    KERNEL cub_WarpReduce_##name(P::U *x) {                                                        \
        using W = cub::WarpReduce<P::U>;                                                           \
        __shared__ typename W::TempStorage t[16];                                                  \
        P::U y = W(t[threadIdx.x / 32]).Reduce(x[threadIdx.x], combine_of<P>());                   \
        x[threadIdx.x] = __shfl_sync(warp_mask, y, 0);                                             \
    }
using plus_float = vscan::pair<op_plus, float>;
using max_float = vscan::pair<op_max, float>;
using max_double = vscan::pair<op_max, double>;
using plus_int = vscan::pair<op_plus, int>;
REDUCE(plus_int, plus_int)
REDUCE(plus_float, plus_float)
REDUCE(max_float, max_float) REDUCE(max_double, max_double) KERNEL
    ours_OddEvenSort16_u32(uint32_t *x) {
    uint32_t y[16];
    for (int i = 0; i < 16; ++i) y[i] = x[i * 512 + threadIdx.x];
    sort_items(y);
    for (int i = 0; i < 16; ++i) x[i * 512 + threadIdx.x] = y[i];
}
struct less_than {
    template <class T>
    __device__ bool operator()(T a, T b) const {
        return a < b;
    }
};
KERNEL cub_OddEvenSort16_u32(uint32_t *x) {
    uint32_t y[16];
    for (int i = 0; i < 16; ++i) y[i] = x[i * 512 + threadIdx.x];
    cub::NullType n[16];
    cub::StableOddEvenSort(y, n, less_than());
    for (int i = 0; i < 16; ++i) x[i * 512 + threadIdx.x] = y[i];
}
struct rank_shared {
    uint32_t counts[sort_warps][digits], sums[digits / 32];
};
KERNEL ours_RadixRank16(uint32_t *x, uint32_t *c) {
    __shared__ rank_shared s;
    uint32_t y[16];
    for (int i = 0; i < 16; ++i) y[i] = x[item_at<16>(i)] & 255;
    const digit_counts own = rank_tile(s, y, 16, [](uint32_t) {});
    for (int i = 0; i < 16; ++i) x[item_at<16>(i)] = y[i];
    if (threadIdx.x < 256) c[threadIdx.x] = own.rank;
}
struct low8 {
    __device__ uint32_t Digit(uint32_t k) const { return k & 255; }
};
template <class R>
__device__ void rank_with(uint32_t *x, uint32_t *c) {
    __shared__ typename R::TempStorage t;
    uint32_t y[16];
    int r[16], e[R::BINS_TRACKED_PER_THREAD];
    for (int i = 0; i < 16; ++i) y[i] = x[item_at<16>(i)];
    R(t).RankKeys(y, r, low8(), e);
    for (int i = 0; i < 16; ++i) x[item_at<16>(i)] = r[i];
    if (threadIdx.x < 256) c[threadIdx.x] = e[0];
}
KERNEL cub_RadixRank16(uint32_t *x, uint32_t *c) {
    rank_with<cub::BlockRadixRankMatchEarlyCounts<512, 8, false>>(x, c);
}
KERNEL cub_RadixRank16_match(uint32_t *x, uint32_t *c) {
    rank_with<cub::BlockRadixRankMatch<512, 8, false>>(x, c);
}
KERNEL ours_Exchange16(uint32_t *x, uint32_t *r) {
    __shared__ uint32_t s[8192];
    uint32_t y[16], q[16];
    for (int i = 0; i < 16; ++i) y[i] = x[item_at<16>(i)], q[i] = r[item_at<16>(i)];
    for (int i = 0; i < 16; ++i) s[q[i]] = y[i];
    __syncthreads();
    for (int i = 0; i < 16; ++i) y[i] = s[i * 512 + threadIdx.x];
    for (int i = 0; i < 16; ++i) x[i * 512 + threadIdx.x] = y[i];
}
KERNEL cub_Exchange16(uint32_t *x, uint32_t *r) {
    using E = cub::BlockExchange<uint32_t, 512, 16>;
    __shared__ typename E::TempStorage t;
    uint32_t y[16], q[16];
    for (int i = 0; i < 16; ++i) y[i] = x[item_at<16>(i)], q[i] = r[item_at<16>(i)];
    E(t).ScatterToStriped(y, y, (int(&)[16])q);
    for (int i = 0; i < 16; ++i) x[i * 512 + threadIdx.x] = y[i];
}
KERNEL ours_LoadStore16(uint32_t *x, const uint32_t *in, int n) {
    uint32_t y[16];
    load_items<true>(y, in, n);
    for (int i = 0; i < 16; ++i)
        if (n == 8192 || item_at<16>(i) < n) x[item_at<16>(i)] = y[i];
}
KERNEL cub_LoadStore16(uint32_t *x, const uint32_t *in, int n) {
    using L = cub::BlockLoad<uint32_t, 512, 16, cub::BLOCK_LOAD_WARP_TRANSPOSE>;
    using S = cub::BlockStore<uint32_t, 512, 16, cub::BLOCK_STORE_WARP_TRANSPOSE>;
    __shared__ union {
        typename L::TempStorage l;
        typename S::TempStorage s;
    } t;
    uint32_t y[16];
    if (n == 8192) {
        L(t.l).Load(in, y);
        __syncthreads();
        S(t.s).Store(x, y);
    } else {
        L(t.l).Load(in, y, n, 0u);
        __syncthreads();
        S(t.s).Store(x, y, n);
    }
}
KERNEL ours_BlockReduce_float(float *x) {
    __shared__ float w[16];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const float s = over_lanes<plus_float>::sum(x[threadIdx.x]);
    if (lane == 0) w[warp] = s;
    __syncthreads();
    float y = lane < 16 ? w[lane] : -0.0f;
    y = over_lanes<plus_float>::sum(y);
    if (threadIdx.x == 0) x[0] = y;
}
KERNEL cub_BlockReduce_float(float *x) {
    using B = cub::BlockReduce<float, 512>;
    __shared__ typename B::TempStorage t;
    const float y = B(t).Reduce(x[threadIdx.x], combine_of<plus_float>());
    if (threadIdx.x == 0) x[0] = y;
}
