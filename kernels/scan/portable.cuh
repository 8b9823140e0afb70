/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scans and segmented scans for every architecture, alignment and length.
 *
 * A block takes one partition after the other by ticket (common/lookback.cuh) and holds it in
 * registers. It keeps the prefix P of the last tile that it looked back to, so it reads each status
 * word of a launch once. It publishes a partition's aggregate as soon as its groups are summed,
 * before it waits for anything. So a waiting block never holds up another one.
 *
 * Shared memory: two values a group, and what one thread tells the others.
 *
 * Memory order: the status words are relaxed, see kernels/README.md. Inside a block there are three
 * barriers for each partition: (1) the ticket is known; (2) the group sums are written; (3) the
 * group prefixes and P are written. What is written between two barriers was last read two barriers
 * before, so the loop needs no more.
 */
#ifndef VSCAN_SCAN_PORTABLE_CUH
#define VSCAN_SCAN_PORTABLE_CUH

#include "scan/partition.cuh"

namespace vscan {

/* ---- Look-back -------------------------------------------------------------------------------- */

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

template <class Pair, bool Segmented>
__global__ void __launch_bounds__(partition_shape<Pair>::threads, Segmented ? 3 : 4)
    scan_portable(const __grid_constant__ scan_arguments a) {
    using T = typename Pair::T;
    using U = typename Pair::U;
    using shape = partition_shape<Pair>;
    constexpr int V = shape::lane_items;
    constexpr int S = shape::scan_groups;

    __shared__ U sums[shape::groups];         /* of each group alone */
    __shared__ U prefixes[shape::groups + 1]; /* of the tile up to a group; the last: up to its
                                                 end */
    __shared__ uint32_t sum_heads[Segmented ? shape::groups : 1];
    __shared__ uint32_t prefix_heads[Segmented ? shape::groups + 1 : 1];
    __shared__ U shared_p;
    __shared__ int64_t shared_heads; /* head flags before the partition */
    __shared__ ticket shared_ticket;

    const vscan__scan &scan = a.scan;
    const int64_t n = scan.n;
    const bool backward = scan.backward;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int64_t partitions = (n + shape::items - 1) / shape::items;
    const bool counting = Segmented && (scan.totals != nullptr || scan.count != nullptr);
    const bool in_aligned = is_aligned((const T *)scan.in, n, backward);
    const bool out_aligned = is_aligned((const T *)scan.out, n, backward);

    U initial = Pair::identity;
    if (scan.has_initial == 1) initial = Pair::in(element_of<T>(scan.initial));
    if (scan.has_initial == 2) initial = Pair::in(*(const volatile T *)scan.initial_at);
    const U visible = scan.has_initial ? initial : Pair::visible;
    /* The initial value may be a carry, at the place of the total. The total may be written as
       soon as every aggregate is published, so a block reads the initial value before it
       publishes one. */
    const bool carry = !Segmented && scan.has_initial == 2 && scan.initial_at == scan.total;

    prefix<Pair> before = {Segmented ? Pair::identity : initial, 0, 0};

    for (;;) {
        /* ---- Ticket -------------------------------------------------------------------------- */
        if (threadIdx.x == 0) {
            ticket t = {0, 0};
            if (partitions > 1) {
                t = take_ticket(a.lookback);
                end_launch_after(a.lookback, t, partitions + gridDim.x);
            }
            shared_ticket = t;
        }
        __syncthreads();
        const epoch_t epoch = shared_ticket.epoch;
        const int64_t partition = shared_ticket.index;
        if (partition >= partitions) return;

        /* ---- Load, and scan inside groups ---------------------------------------------------- */
        const int64_t begin =
            partition * shape::items + warp * (shape::loads * shape::load_items) + lane * V;
        lane_items<Pair, V> items[shape::loads];
        lane_heads<V> flags[shape::loads];
        U x[shape::loads][V];
        uint32_t heads[shape::loads] = {};
        unsigned any[shape::loads];
        uint32_t rank[shape::loads]; /* counting: heads in the group before this lane */
        const bool whole = begin - lane * V + shape::loads * shape::load_items <= n; /* all of
                                                                                        the
                                                                                        warp's
                                                                                        elements
                                                                                        exist */
        load_items(items, scan.in, begin, shape::load_items, n, backward, in_aligned && whole);
        if (Segmented) {
            load_heads(flags, scan, begin, shape::load_items);
            bits_of_heads(heads, flags, scan, begin, shape::load_items);
        }
#pragma unroll
        for (int r = 0; r < shape::loads; ++r) {
            items[r].items(x[r], backward);
            any[r] = 0;
            if (Segmented) {
                any[r] = __ballot_sync(warp_mask, heads[r] != 0);
                if (scan.has_initial) {
#pragma unroll
                    for (int j = 0; j < V; ++j)
                        if (heads[r] >> j & 1) x[r][j] = Pair::combine(initial, x[r][j]);
                }
            }
            sklansky<Pair, Segmented, shape::group_lanes>(x[r], heads[r], any[r], lane);
            const int group =
                (warp * shape::loads + r) * shape::load_groups + lane / shape::group_lanes;
            const bool last = lane % shape::group_lanes == shape::group_lanes - 1;
            if (last) sums[group] = x[r][V - 1];
            if (Segmented) {
                const int first = lane & ~(shape::group_lanes - 1);
                uint32_t count = lanes_between(any[r], first, lane) != 0;
                rank[r] = 0;
                if (counting) {
                    rank[r] = heads_before_lane<shape::group_lanes>(heads[r], lane);
                    count = rank[r];
                }
                if (last) sum_heads[group] = count + (counting ? __popc(heads[r]) : heads[r] != 0);
            }
        }
        __syncthreads();

        /* ---- Scan the groups, publish, look back: the first warp ----------------------------- */
        if (warp == 0) {
            U g[S];
            uint32_t h[S];
            uint32_t h_mask = 0, h_sum = 0;
#pragma unroll
            for (int k = 0; k < S; ++k) {
                g[k] = sums[lane * S + k];
                h[k] = Segmented ? sum_heads[lane * S + k] : 0;
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
            if (partitions > 1) {
                jitter(a.lookback, epoch, partition, jitter_publish);
                if (carry) __threadfence();
                if (lane == 31)
                    publish<U>(a.lookback, epoch, partition, g[S - 1],
                               Segmented ? h[S - 1] & head_count_mask : 0);
            }
            jitter(a.lookback, epoch, partition, jitter_wait);
            const upper<Pair> up =
                look_back_partitions<Pair, Segmented>(before, a.lookback, epoch, partition, lane);
            /* before the partition's first group there are only the earlier partitions of the
               tile */
            const U alone =
                Segmented && up.beside_heads ? up.beside : Pair::combine(up.above, up.beside);
            if (lane == 0) {
                prefixes[0] = alone;
                shared_p = before.p;
                if (Segmented) {
                    prefix_heads[0] = up.heads != 0;
                    shared_heads = before.heads + up.heads;
                }
            }
#pragma unroll
            for (int k = 0; k < S; ++k) {
                if (Segmented) {
                    if (!h[k]) g[k] = Pair::combine(up.beside, g[k]);
                    if (!(h[k] | up.beside_heads)) g[k] = Pair::combine(up.above, g[k]);
                    /* bit 0: a head in the tile so far; other bits: heads in the partition so
                       far */
                    prefix_heads[lane * S + k + 1] = h[k] << 1 | (h[k] | up.heads ? 1 : 0);
                } else {
                    g[k] = Pair::combine(up.above, Pair::combine(up.beside, g[k]));
                }
                prefixes[lane * S + k + 1] = g[k];
            }
        }
        __syncthreads();

        /* ---- Results ------------------------------------------------------------------------- */
        const U p = shared_p;
#pragma unroll
        for (int r = 0; r < shape::loads; ++r) {
            const int64_t i = begin + r * shape::load_items;
            const int group =
                (warp * shape::loads + r) * shape::load_groups + lane / shape::group_lanes;
            const int first = lane & ~(shape::group_lanes - 1);
            const U e = prefixes[group];
            const bool e_head = Segmented && (prefix_heads[group] & 1);
            const bool lane_head = Segmented && lanes_between(any[r], first, lane);
            const bool group_end = lane % shape::group_lanes == shape::group_lanes - 1;
            U y[V];
#pragma unroll
            for (int j = 0; j < V; ++j) {
                const bool cut = Segmented && (lane_head || (heads[r] & ((2u << j) - 1)));
                U local = Pair::combine(cut ? Pair::identity : e, x[r][j]);
                if (j == V - 1 && group_end) local = prefixes[group + 1];
                y[j] = Pair::combine(cut || e_head ? Pair::identity : p, local);
            }
            if (i + V >= n && i < n && scan.total != nullptr) {
                if (carry) __threadfence();
#pragma unroll
                for (int j = 0; j < V; ++j)
                    if (i + j == n - 1) *(T *)scan.total = Pair::out(y[j]);
            }
            if (Segmented && counting)
                write_totals<Pair>(a, i, y, heads[r],
                                   shared_heads + (prefix_heads[group] >> 1) + rank[r], lane);
            if (scan.exclusive) {
                const U left = __shfl_up_sync(warp_mask, y[V - 1], 1);
                U shifted[V];
                shifted[0] = lane == first ? Pair::combine(e_head ? Pair::identity : p, e) : left;
#pragma unroll
                for (int j = 1; j < V; ++j) shifted[j] = y[j - 1];
#pragma unroll
                for (int j = 0; j < V; ++j) {
                    const bool start = Segmented ? heads[r] >> j & 1 : i + j == 0;
                    y[j] = start ? visible : shifted[j];
                }
            }
            items[r].results(y, backward);
        }
        store_items(items, scan.out, begin, shape::load_items, n, backward, out_aligned && whole);
        if (partitions == 1) return; /* no tickets */
    }
}

} /* namespace vscan */

#endif
