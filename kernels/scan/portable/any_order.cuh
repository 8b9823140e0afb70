/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What scan/portable/portable.cuh does above the groups for pairs that any order suits. An aggregate is a
 * partition's.
 */
#ifndef VSCAN_SCAN_PORTABLE_ANY_ORDER_CUH
#define VSCAN_SCAN_PORTABLE_ANY_ORDER_CUH

#include "scan/partition.cuh"

namespace vscan {

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
            const unsigned cut = __ballot_sync(warp_mask, count != 0);
            for (int k = 0; k < tiles; ++k) {
                const U next = __shfl_sync(warp_mask, sum, k);
                before.p = cut >> k & 1 ? next : Pair::combine(before.p, next);
            }
            uint32_t all = lane < tiles ? count : 0;
#pragma unroll
            for (int d = 16; d > 0; d /= 2) all += __shfl_xor_sync(warp_mask, all, d);
            before.heads += all;
        } else {
            for (int k = 0; k < tiles; ++k)
                before.p = Pair::combine(before.p, __shfl_sync(warp_mask, sum, k));
        }
        before.tile += tiles;
        if (left < 32) {
            upper<Pair> up;
            const U last = mine == 3 ? a[2] : a[0]; /* the partition before an odd one */
            up.beside = __shfl_sync(warp_mask, mine & 1 ? last : Pair::identity, (int)left);
            up.above = __shfl_sync(warp_mask, mine & 2 ? low : Pair::identity, (int)left);
            if (Segmented) {
                const uint32_t beside = mine == 3 ? heads[2] : mine == 1 ? heads[0] : 0;
                const uint32_t above = mine & 2 ? heads[0] + heads[1] : 0;
                up.beside_heads = __shfl_sync(warp_mask, beside, (int)left);
                up.above_heads = __shfl_sync(warp_mask, above, (int)left);
                up.heads = __shfl_sync(warp_mask, count, (int)left);
            }
            return up;
        }
    }
}

/* What precedes each group of a partition. */
template <class Pair, bool Segmented>
struct portable_before {
    using U = typename Pair::U;
    using shape = partition_shape<Pair>;
    struct shared_t {
        struct {
            U sums[shape::groups]; /* of each group alone */
            uint32_t all_heads[Segmented ? shape::groups : 1];
            __device__ __forceinline__ U &sum(int group) { return sums[group]; }
            __device__ __forceinline__ uint32_t &heads(int group) { return all_heads[group]; }
        } groups;
        U prefixes[shape::groups + 1]; /* of the tile up to a group; the last: up to its end */
        uint32_t prefix_heads[Segmented ? shape::groups + 1 : 1];
        U p;
        int64_t heads; /* head flags before the partition */
    };
    prefix<Pair> before;

    __device__ __forceinline__ explicit portable_before(U initial)
        : before{Segmented ? Pair::identity : initial, 0, 0} {}

    /* Scans the groups, publishes, looks back. By the first warp. */
    __device__ __forceinline__ void find(shared_t &shared, const portable_place &place, int lane) {
        constexpr int S = shape::scan_groups;
        U g[S];
        uint32_t h[S];
        uint32_t h_mask = 0, h_sum = 0;
#pragma unroll
        for (int k = 0; k < S; ++k) {
            g[k] = shared.groups.sums[lane * S + k];
            h[k] = Segmented ? shared.groups.all_heads[lane * S + k] : 0;
            h_mask |= (uint32_t)(h[k] != 0) << k;
            h_sum += h[k];
            h[k] = h_sum;
        }
        const unsigned h_any = Segmented ? __ballot_sync(warp_mask, h_mask != 0) : 0;
        sklansky<Pair, Segmented, 32>(g, h_mask, h_any, lane);
        if (Segmented) {
#pragma unroll
            for (int d = 1; d < 32; d *= 2) {
                const uint32_t left = __shfl_up_sync(warp_mask, h_sum, d);
                if (lane >= d) h_sum += left;
            }
            const uint32_t lane_before = h_sum - h[S - 1];
#pragma unroll
            for (int k = 0; k < S; ++k) h[k] += lane_before;
        }
        if (!place.only) {
            jitter(place.lookback, place.epoch, place.partition, jitter_publish);
            if (place.carry) __threadfence();
            if (lane == 31)
                publish<U>(place.lookback, place.epoch, place.partition, g[S - 1],
                           Segmented ? h[S - 1] & head_count_mask : 0);
        }
        jitter(place.lookback, place.epoch, place.partition, jitter_wait);
        const upper<Pair> up = look_back_partitions<Pair, Segmented>(
            before, place.lookback, place.epoch, place.partition, lane);
        /* before the partition's first group there are only the earlier partitions of the
               tile */
        const U alone =
            Segmented && up.beside_heads ? up.beside : Pair::combine(up.above, up.beside);
        if (lane == 0) {
            shared.prefixes[0] = alone;
            shared.p = before.p;
            if (Segmented) {
                shared.prefix_heads[0] = up.heads != 0;
                shared.heads = before.heads + up.heads;
            }
        }
#pragma unroll
        for (int k = 0; k < S; ++k) {
            if (Segmented) {
                if (!h[k]) g[k] = Pair::combine(up.beside, g[k]);
                if (!(h[k] | up.beside_heads)) g[k] = Pair::combine(up.above, g[k]);
                /* bit 0: a head in the tile so far; other bits: heads in the partition so
                       far */
                shared.prefix_heads[lane * S + k + 1] = h[k] << 1 | (h[k] | up.heads ? 1 : 0);
            } else {
                g[k] = Pair::combine(up.above, Pair::combine(up.beside, g[k]));
            }
            shared.prefixes[lane * S + k + 1] = g[k];
        }
    }

    struct group {
        U p, e, end;
        bool e_head;
        uint32_t count; /* of heads, in the partition, if counting */
        __device__ __forceinline__ U base() const {
            return Pair::combine(e_head ? Pair::identity : p, e);
        }
        __device__ __forceinline__ U result(U x, bool cut, bool last) const {
            U local = Pair::combine(cut ? Pair::identity : e, x);
            if (last) local = end;
            return Pair::combine(cut || e_head ? Pair::identity : p, local);
        }
    };
    __device__ __forceinline__ group of_group(const shared_t &shared, int group, bool) const {
        const uint32_t heads = Segmented ? shared.prefix_heads[group] : 0;
        return {shared.p, shared.prefixes[group], shared.prefixes[group + 1], (heads & 1) != 0,
                heads >> 1};
    }
};

} /* namespace vscan */

#endif
