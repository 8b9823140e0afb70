/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What one block does with one partition, a quarter of a tile: lanes and warps combine in the order
 * of lib/core/order.h.
 *
 * A lane loads vectors of 16 bytes. The 32 adjacent vectors of a warp are one warp load; a warp of
 * a partition has 4 of them, one after the other. A group (32 elements) is 8 or 16 lanes of a warp
 * load.
 *
 * The functions exist for plain scans and, with Segmented, for values with head flags: a value is
 * combined with what precedes it only where no segment begins in between. Combining with
 * Pair::identity changes no bits.
 */
#ifndef VSCAN_SCAN_PARTITION_CUH
#define VSCAN_SCAN_PARTITION_CUH

#include "elements/vectors.cuh"
#include "order/network.cuh"
#include "protocol/lookback.cuh"

namespace vscan {

struct scan_arguments {
    pair_transform transform;
    vscan__scan scan;
    lookback_memory lookback;
    vscan__late *late;
    bool count_backward; /* header->segments has the number of segments: totals count down from
                            it */
};

static inline scan_arguments scan_arguments_of(const vscan__launch *launch, const vscan__scan &scan,
                                               const pair_transform &transform) {
    return {transform, scan, lookback_of(launch), launch->late, false};
}

template <class Pair>
struct partition_shape {
    using T = typename Pair::T;
    static constexpr int lane_items = 16 / (int)sizeof(T);
    static constexpr int loads = 4; /* of a warp */
    static constexpr int warps = 8;
    static constexpr int threads = 32 * warps;
    static constexpr int load_items = 32 * lane_items;
    static constexpr int items = warps * loads * load_items;
    static constexpr int group_lanes = VSCAN__GROUP / lane_items;
    static constexpr int load_groups = 32 / group_lanes;
    static constexpr int groups = items / VSCAN__GROUP;
    static_assert(items * VSCAN__PARTITIONS_A_TILE ==
                      (sizeof(T) == 8 ? VSCAN__TILE_DOUBLE : VSCAN__TILE_FLOAT),
                  "partitions make up tiles");
};

/* A partition, for the phases of scan_portable. */
struct portable_place {
    lookback_memory lookback;
    epoch_t epoch;
    int64_t partition;
    bool only; /* there is no other */
    bool counting, carry;
};

/* The number of head flags in the lane's group before the lane. heads: the lane's own, as bits. */
template <int GroupLanes>
static __device__ __forceinline__ uint32_t heads_before_lane(uint32_t heads, int lane) {
    uint32_t upto = __popc(heads);
#pragma unroll
    for (int d = 1; d < GroupLanes; d *= 2) {
        const uint32_t left = __shfl_up_sync(warp_mask, upto, d);
        if (lane % GroupLanes >= d) upto += left;
    }
    return upto - __popc(heads);
}

/*
 * Stores the totals of the segments that end among a lane's items, and the number of segments if
 * the vector ends there. By whole warps.
 *   i        position of the first item
 *   y        inclusive results
 *   before   head flags before position i
 */
template <class Pair, int V>
static __device__ __forceinline__ void write_totals(const scan_arguments &a, int64_t i,
                                                    const typename Pair::U (&y)[V], uint32_t heads,
                                                    int64_t before, int lane) {
    using T = typename Pair::T;
    const vscan__scan &scan = a.scan;
    uint32_t next = __shfl_down_sync(warp_mask, heads & 1, 1);
    if (lane == 31) next = i + V < scan.n ? head_at(scan, i + V) : 0;
    const uint32_t ends = heads >> 1 | next << (V - 1);
#pragma unroll
    for (int j = 0; j < V; ++j) {
        const int64_t segments = before + __popc(heads & ((2u << j) - 1));
        const bool end = i + j == scan.n - 1;
        if (end && scan.count != nullptr) *scan.count = segments;
        if (scan.totals != nullptr && i + j < scan.n && (end || (ends >> j & 1))) {
            const int64_t k =
                a.count_backward ? (int64_t)a.lookback.header->segments - segments : segments - 1;
            if (k < scan.totals_length)
                ((T *)scan.totals)[k] = Pair::out(y[j], a.transform);
            else
                report_totals_length(a.late);
        }
    }
}

/* ---- Phases that scan/portable/portable.cuh and scan/small/small.cuh share ------------------------------------ */

/* Loads vectors `step` positions apart, all of which are whole and aligned. */
template <class Pair, int V, int N, class I>
static __device__ __forceinline__ void load_whole_items(lane_items<Pair, V> (&items)[N],
                                                        const void *in, I i, int step, I n,
                                                        bool backward) {
    using T = typename Pair::T;
#pragma unroll
    for (int r = 0; r < N; ++r) items[r].load_whole((const T *)in, i + r * step, n, backward);
}

/* The same if fast is true; else for each element whether it exists. */
template <class Pair, int V, int N, class I>
static __device__ __forceinline__ void load_items(lane_items<Pair, V> (&items)[N], const void *in,
                                                  I i, int step, I n, bool backward, bool fast,
                                                  const pair_transform &transform) {
    using T = typename Pair::T;
    if (fast) {
        load_whole_items(items, in, i, step, n, backward);
    } else {
#pragma unroll
        for (int r = 0; r < N; ++r)
            items[r].load((const T *)in, i + r * step, n, backward, transform);
    }
}

/* The same to memory. */
template <class Pair, int V, int N, class I>
static __device__ __forceinline__ void store_whole_items(const lane_items<Pair, V> (&items)[N],
                                                         void *out, I i, int step, I n,
                                                         bool backward) {
    using T = typename Pair::T;
#pragma unroll
    for (int r = 0; r < N; ++r) items[r].store_whole((T *)out, i + r * step, n, backward);
}

template <class Pair, int V, int N, class I>
static __device__ __forceinline__ void store_items(const lane_items<Pair, V> (&items)[N], void *out,
                                                   I i, int step, I n, bool backward, bool fast) {
    using T = typename Pair::T;
    if (fast) {
        store_whole_items(items, out, i, step, n, backward);
    } else {
#pragma unroll
        for (int r = 0; r < N; ++r) items[r].store((T *)out, i + r * step, n, backward);
    }
}

/* By a warp whose lanes have S groups each: their sums g and numbers of heads h become those from
   the partition's first group on. The first `used` lanes have groups. */
template <class Pair, bool Segmented, int S>
static __device__ __forceinline__ void scan_groups(typename Pair::U (&g)[S], uint32_t (&h)[S],
                                                   int lane, int used = 32) {
    uint32_t h_mask = 0, h_sum = 0;
    if (Segmented) {
#pragma unroll
        for (int k = 0; k < S; ++k) {
            h_mask |= (uint32_t)(h[k] != 0) << k;
            h_sum += h[k];
            h[k] = h_sum;
        }
    }
    const unsigned h_any = Segmented ? __ballot_sync(warp_mask, h_mask != 0) : 0;
    sklansky<Pair, Segmented, 32>(g, h_mask, h_any, lane, used);
    if (Segmented) {
        const uint32_t mine = h_sum;
#pragma unroll
        for (int d = 1; d < 32; d *= 2) {
            const uint32_t left = __shfl_up_sync(warp_mask, h_sum, d);
            if (lane >= d) h_sum += left;
        }
#pragma unroll
        for (int k = 0; k < S; ++k) h[k] += h_sum - mine;
    }
}

} /* namespace vscan */

#endif
