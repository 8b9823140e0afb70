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

#include "common/operators.cuh"
#include "common/lookback.cuh"
#include "common/vectors.cuh"
#include "common/warp.cuh"

namespace vscan {

struct scan_arguments {
    pair_turn turn;
    vscan__scan scan;
    lookback_memory lookback;
    vscan__late *late;
    bool count_backward; /* header->segments has the number of segments: totals count down from
                            it */
};

static inline scan_arguments scan_arguments_of(const vscan__launch *launch, const vscan__scan &scan,
                                               const pair_turn &turn) {
    return {turn, scan, lookback_of(launch), launch->late, false};
}

template <class T>
static __device__ __forceinline__ T element_of(const vscan__value &value) {
    T x;
    memcpy(&x, &value, sizeof x);
    return x;
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
    static constexpr int scan_groups = groups / 32; /* of a lane, when a warp scans the groups */
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

/* What one instruction reads of shared memory. */
template <class U, int N>
struct __align__(N * sizeof(U)) packed {
    U value[N];
};

/* Bits from .. lane - 1 of a ballot, for from <= lane. */
static __device__ __forceinline__ unsigned lanes_between(unsigned ballot, int from, int lane) {
    return ballot & ((1u << lane) - (1u << from));
}

/*
 * The Sklansky network, first over the items of a lane, then over blocks of Lanes lanes. x[j]
 * becomes the sum of the elements from the beginning of its block of Lanes * V elements (or of its
 * segment) up to itself.
 *   heads   bit j: a segment begins at x[j]
 *   any     ballot of heads != 0
 *   used    only the first `used` lanes have elements; the same in all lanes
 */
template <class Pair, bool Segmented, int Lanes, int V>
static __device__ __forceinline__ void sklansky(typename Pair::U (&x)[V], uint32_t heads,
                                                unsigned any, int lane, int used = Lanes) {
    using U = typename Pair::U;
#pragma unroll
    for (int half = 1; half < V; half *= 2) {
#pragma unroll
        for (int j = 0; j < V; ++j) {
            if (!(j & half)) continue;
            const int first = j & ~(half - 1); /* of the right half */
            const uint32_t span = ((2u << j) - (1u << first));
            const U sum = Pair::combine(x[first - 1], x[j]);
            x[j] = Segmented && (heads & span) ? x[j] : sum;
        }
    }
    if constexpr (Pair::in_any_order && V > 1) { /* only the sums of lanes go through the network */
        U upto = x[V - 1];
#pragma unroll
        for (int half = 1; half < Lanes; half *= 2) {
            if (half >= used) break;
            const int first = lane & ~(half - 1);
            const U left = __shfl_sync(warp_mask, upto, first - 1);
            bool take = lane & half;
            if (Segmented) take = take && heads == 0 && lanes_between(any, first, lane) == 0;
            upto = Pair::combine(take ? left : Pair::identity, upto);
        }
        U left = __shfl_up_sync(warp_mask, upto, 1);
        if (lane % Lanes == 0) left = Pair::identity;
#pragma unroll
        for (int j = 0; j + 1 < V; ++j) {
            const bool cut = Segmented && (heads & ((2u << j) - 1));
            x[j] = Pair::combine(cut ? Pair::identity : left, x[j]);
        }
        x[V - 1] = upto;
    } else {
#pragma unroll
        for (int half = 1; half < Lanes; half *= 2) {
            if (half >= used) break;
            const int first = lane & ~(half - 1);
            const U left = __shfl_sync(warp_mask, x[V - 1], first - 1);
            bool take = lane & half;
            if (Segmented) take = take && lanes_between(any, first, lane) == 0;
#pragma unroll
            for (int j = 0; j < V; ++j) {
                const bool here = Segmented ? take && (heads & ((2u << j) - 1)) == 0 : take;
                x[j] = Pair::combine(here ? left : Pair::identity, x[j]);
            }
        }
    }
}

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
                ((T *)scan.totals)[k] = Pair::out(y[j], a.turn);
            else
                report_totals_length(a.late);
        }
    }
}

/* ---- Phases that scan/portable.cuh and scan/small.cuh share ------------------------------------ */

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
                                                  const pair_turn &turn) {
    using T = typename Pair::T;
    if (fast) {
        load_whole_items(items, in, i, step, n, backward);
    } else {
#pragma unroll
        for (int r = 0; r < N; ++r) items[r].load((const T *)in, i + r * step, n, backward, turn);
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
