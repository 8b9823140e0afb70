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

namespace vscan {

static constexpr unsigned all_lanes = 0xffffffffu;

struct scan_arguments {
    vscan__scan scan;
    lookback_memory lookback;
    vscan__late *late;
    bool count_backward; /* header->segments has the number of segments: totals count down from
                            it */
};

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
            const U left = __shfl_sync(all_lanes, upto, first - 1);
            bool take = lane & half;
            if (Segmented) take = take && heads == 0 && lanes_between(any, first, lane) == 0;
            upto = Pair::combine(take ? left : Pair::identity, upto);
        }
        U left = __shfl_up_sync(all_lanes, upto, 1);
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
            const U left = __shfl_sync(all_lanes, x[V - 1], first - 1);
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
        const uint32_t left = __shfl_up_sync(all_lanes, upto, d);
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
    uint32_t next = __shfl_down_sync(all_lanes, heads & 1, 1);
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
                ((T *)scan.totals)[k] = Pair::out(y[j]);
            else
                report_totals_length(a.late);
        }
    }
}

/* What a block knows of the tiles before its own: the same in all lanes of the first warp. */
template <class Pair>
struct prefix {
    typename Pair::U p; /* P: the aggregates of all earlier tiles, combined from left to right */
    int64_t tile;
    int64_t heads; /* head flags in these tiles */
};

/* What precedes a partition in its own tile. */
template <class Pair>
struct upper {
    typename Pair::U beside; /* the partition before it, where its index is odd */
    typename Pair::U above;  /* the first two partitions, where it is in the second half */
    uint32_t beside_heads, above_heads, heads;
};

/*
 * The look-back, by the first warp. Waits for the aggregates of all partitions from tile
 * before.tile up to `partition`, combines those of whole tiles into `before`, and returns those in
 * the own tile. Each lane reads the partitions of one tile. The tiles' sums are then combined
 * strictly from left to right, P = P + A, by shuffles.
 */
template <class Pair, bool Segmented>
static __device__ upper<Pair> look_back_partitions(prefix<Pair> &before,
                                                   const lookback_memory &memory, epoch_t epoch,
                                                   int64_t partition, int lane) {
    using U = typename Pair::U;
    constexpr int parts = VSCAN__PARTITIONS_A_TILE;
    const int64_t own = partition / parts;
    const int mine = (int)(partition % parts);
    for (;;) {
        const int64_t left = own - before.tile;
        const int64_t tile = before.tile + lane;
        const int here = tile < own ? parts : tile == own ? mine : 0;
        U a[parts];
        uint32_t heads[parts];
        wait_for_all<1>(memory, epoch, (U)Pair::identity, a, heads, tile * parts,
                        tile * parts + here);
        __syncwarp();

        const U low = Segmented && heads[1] ? a[1] : Pair::combine(a[0], a[1]);
        const U high = Segmented && heads[3] ? a[3] : Pair::combine(a[2], a[3]);
        const U sum = Segmented && (heads[2] | heads[3]) ? high : Pair::combine(low, high);
        uint32_t count = heads[0] + heads[1] + heads[2] + heads[3];

        const int tiles = left < 32 ? (int)left : 32;
        if (Segmented) {
            const unsigned cut = __ballot_sync(all_lanes, count != 0);
            for (int k = 0; k < tiles; ++k) {
                const U next = __shfl_sync(all_lanes, sum, k);
                before.p = cut >> k & 1 ? next : Pair::combine(before.p, next);
            }
            uint32_t all = lane < tiles ? count : 0;
#pragma unroll
            for (int d = 16; d > 0; d /= 2) all += __shfl_xor_sync(all_lanes, all, d);
            before.heads += all;
        } else {
            for (int k = 0; k < tiles; ++k)
                before.p = Pair::combine(before.p, __shfl_sync(all_lanes, sum, k));
        }
        before.tile += tiles;
        if (left < 32) {
            upper<Pair> up;
            const U last = mine == 3 ? a[2] : a[0]; /* the partition before an odd one */
            up.beside = __shfl_sync(all_lanes, mine & 1 ? last : Pair::identity, (int)left);
            up.above = __shfl_sync(all_lanes, mine & 2 ? low : Pair::identity, (int)left);
            if (Segmented) {
                const uint32_t beside = mine == 3 ? heads[2] : mine == 1 ? heads[0] : 0;
                const uint32_t above = mine & 2 ? heads[0] + heads[1] : 0;
                up.beside_heads = __shfl_sync(all_lanes, beside, (int)left);
                up.above_heads = __shfl_sync(all_lanes, above, (int)left);
                up.heads = __shfl_sync(all_lanes, count, (int)left);
            }
            return up;
        }
    }
}

} /* namespace vscan */

#endif
