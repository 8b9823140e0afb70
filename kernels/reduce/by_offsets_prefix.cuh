/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Segmented reduction by offsets (reduce/by_offsets.cuh): the prefix warp, which joins the windows
 * of a partition, publishes its aggregate, and writes the totals of segments that only end in it.
 *
 * Where the order of addition matters, lanes fold the sums of groups that reduction warps have left
 * (reduce/by_offsets_blocks.cuh): one lane a window, up to where its first segment ends, and one
 * lane a block of level 1, to its end. Blocks are then added from left to right, from the segment's
 * first one on, and what began in the tile is complete. The sum of a tile's first half is carried
 * on to the second one, by the same block of threads, or by the look-back where each has only one
 * partition. The aggregate of the second half is the sum of the tile.
 */
#ifndef VSCAN_REDUCE_BY_OFFSETS_PREFIX_CUH
#define VSCAN_REDUCE_BY_OFFSETS_PREFIX_CUH

#include "reduce/by_offsets_search.cuh"

namespace vscan {

#ifdef VSCAN__TMA

/* ---- Segments that wait ---------------------------------------------------------------------- */

/* Segments that began before their partition, in order: before their tile; in the order of their
   ends. By a warp. */
template <class Pair>
struct pending_segments {
    using T = typename Pair::T;
    using U = typename Pair::U;
    using shape = offsets_shape<Pair>;

    const segmented_reduce_arguments &a;
    offsets_shared<Pair> &shared;
    const U initial;          /* in order */
    int first = 0, count = 0; /* which are pending */

    /* of the first one: the next tile to be added, or -1; the sum of tiles; the partition that
       precedes its own in the same tile */
    int64_t tile = -1;
    bool gathered = false;                                              /* all tiles are added */
    U p = Pair::identity, beside = Pair::identity;                      /* in any order */
    before_tile<Pair> before = before_tile<Pair>::from(Pair::identity); /* in order */

    /* Adds the next tiles, one a lane, if they are published. */
    __device__ __forceinline__ bool gather(epoch_t epoch) {
        const int lane = threadIdx.x % 32;
        const pending_segment<U> &s = shared.pending[first % offsets_pending];
        if constexpr (Pair::in_any_order) {
            const int64_t partition = s.partition, own = partition / 2,
                          from = s.begin / shape::items;
            if (tile < 0) {
                tile = from / 2;
                p = Pair::identity;
            }
            /* in its own tile: the partition before it, if there is one */
            const int64_t t = tile + lane;
            U low = Pair::identity, high = Pair::identity;
            bool ready = true;
            if (2 * t + 1 < partition) ready = try_read<U>(a.lookback, epoch, 2 * t + 1, &high);
            if (2 * t >= from && 2 * t < partition)
                ready = try_read<U>(a.lookback, epoch, 2 * t, &low) && ready;
            if (!__all_sync(warp_mask, ready)) return false;
            const U of_tile = Pair::combine(low, high);
            gathered = own - tile < 32;
            p = Pair::combine(p, over_lanes<Pair>::sum(t < own ? of_tile : (U)Pair::identity));
            beside = __shfl_sync(warp_mask, of_tile, (int)(own - tile) & 31);
            __syncwarp();
            tile += 32;
        } else {
            /* so many at a time, from a multiple on, that no block of level 3 ends among them */
            constexpr int tiles = nested<T>::tiles, each = tiles < 32 ? tiles : 32;
            const int64_t own = s.partition / 2, from = s.begin / nested<T>::tile;
            if (tile < 0) {
                tile = from / each * each;
                before = before_tile<Pair>::from(initial);
            }
            const int64_t t = tile + lane;
            U sum = Pair::identity;
            bool ready = true;
            if (lane < each && t >= from && t < own)
                ready = try_read<U>(a.lookback, epoch, 2 * t + 1, &sum);
            if (!__all_sync(warp_mask, ready)) return false;
            shared.tiles[lane] = sum;
            __syncwarp();
            tile += each;
            before.r3 = fold<Pair, 32>(before.r3, shared.tiles, ~0u);
            if (tile <= own && (uint32_t)tile % tiles == 0) {
                before.r4 = Pair::combine(before.r4, before.r3);
                before.r3 = Pair::identity;
            }
            gathered = own <= tile;
            __syncwarp();
        }
        return true;
    }

    /* Writes the totals of those whose predecessors are published; waits until at most `room`
       segments are pending. */
    __device__ __forceinline__ void write_totals(epoch_t epoch, int room) {
#pragma unroll 1
        for (int tries = 0; count > 0 && (count > room || tries < 2); ++tries) {
            if (!gathered) {
                jitter(a.lookback, epoch, blockIdx.x + tries, jitter_wait);
                if (!gather(epoch) && count <= room) return;
            }
            if (!gathered) continue;
            const pending_segment<U> &s = shared.pending[first % offsets_pending];
            if (threadIdx.x % 32 == 0) {
                U sum;
                if constexpr (Pair::in_any_order)
                    sum = Pair::combine(p, Pair::combine(Pair::combine(beside, s.node), s.rest));
                else
                    sum = before.sum(s.node);
                ((T *)a.scan.totals)[s.segment] = Pair::out(sum, a.transform);
            }
            ++first;
            --count;
            tile = -1;
            gathered = false;
        }
    }
};

/* ---- Partitions, in any order ---------------------------------------------------------------- */

template <class Pair>
static __device__ __forceinline__ void finish_in_any_order(const segmented_reduce_arguments &a,
                                                           const segments_offsets &offsets,
                                                           offsets_shared<Pair> &shared) {
    using T = typename Pair::T;
    using U = typename Pair::U;
    using shape = offsets_shape<Pair>;
    const int lane = threadIdx.x % 32;
    const bool by_ticket = offsets_by_ticket(a);
    pending_segments<Pair> pending = {a, shared, Pair::identity};
    int64_t partition = first_partition(a, shared);
    if (partition >= a.partitions) return;
    shared.taken.wait(0); /* then the epoch is valid */
    const epoch_t epoch = shared.epoch;
#pragma unroll 1
    for (int k = 0;; ++k) {
        offsets_partition<Pair> &here = shared.stage[k % offsets_stages];
        const int64_t begin_of_partition = partition * shape::items;
        shared.summed.wait(k);
        const unsigned with_offsets = __ballot_sync(
            warp_mask, lane < offsets_reduction_warps && here.any[lane % offsets_reduction_warps]);
        const int latest = 31 - __clz((int)(with_offsets | 1));
        if (a.partitions > 1) {
            U sum[offsets_reduction_warps];
#pragma unroll
            for (int w = 0; w < offsets_reduction_warps; ++w)
                sum[w] = w < latest ? (U)Pair::identity : here.sums[w];
            const U all = sum_items<Pair>(sum);
            if (lane == 0) {
                jitter(a.lookback, epoch, partition, jitter_publish);
                publish<U>(a.lookback, epoch, partition, all);
            }
        }

        /* the segment that ends here first, if it began before the partition */
        shared.found.wait(k);
        const partition_offsets of_partition = {offsets, here.copy, here.edges[0], here.edges[1],
                                                a.copied};
        const int64_t begin = of_partition.from > 0 && of_partition.from < of_partition.to
                                  ? of_partition[of_partition.from - 1]
                                  : -1;
        const bool one_more = begin >= 0 && begin < begin_of_partition;
        pending_segment<U> &latest_one =
            shared.pending[(pending.first + pending.count) % offsets_pending];
        if (one_more) {
            __syncwarp();
            if (lane == 0) {
                latest_one.begin = begin;
                latest_one.partition = partition;
                latest_one.segment = of_partition.from - 1;
            }
            __syncwarp();
            if (!by_ticket) {
                jitter(a.lookback, epoch, partition, jitter_wait);
                while (!pending.gathered) pending.gather(epoch);
            }
        }

        /* a segment that ends in window `lane` and began in an earlier one */
        shared.done.wait(k);
        const open_segment<U> open = here.open[lane % offsets_reduction_warps];
        const bool ends = lane < offsets_reduction_warps && open.segment >= 0;
        const unsigned earlier = with_offsets & ((1u << lane) - 1);
        bool mine = false;
        if (__any_sync(warp_mask, ends)) {
            const int since = 31 - __clz((int)(earlier | 1));
            U node[offsets_reduction_warps];
#pragma unroll
            for (int w = 0; w < offsets_reduction_warps; ++w) {
                node[w] = w == lane ? open.node : here.sums[w];
                if (w < since || w > lane) node[w] = Pair::identity;
            }
            const U all = sum_items<Pair>(node);
            mine = ends && !earlier && open.begin < begin_of_partition;
            if (ends && !mine)
                ((T *)a.scan.totals)[open.segment] =
                    Pair::out(Pair::combine(all, open.rest), a.transform);
            if (mine && one_more) {
                latest_one.node = all;
                latest_one.rest = open.rest;
            }
        }
        if (one_more && __any_sync(warp_mask, mine)) ++pending.count; /* only for valid offsets */
        if (by_ticket) partition = shared.taken.index_of(k + 1);
        shared.freed.arrive(k);
        __syncwarp();
        if (!by_ticket || partition >= a.partitions) break;
        pending.write_totals(epoch, offsets_pending - 1);
    }
    pending.write_totals(epoch, 0);
}

/* ---- Partitions, in order -------------------------------------------------------------------- */

/* What lanes know of a partition: lane w < 8 of window w. */
template <class Pair>
struct partition_sums {
    using U = typename Pair::U;
    using shape = offsets_shape<Pair>;
    static constexpr int windows = offsets_reduction_warps, each = shape::block_windows;

    unsigned with_offsets; /* bit w: window w has offsets */
    U chain; /* lane w: X1 of the groups before the end of its first segment; lane 8 + b: of the
                whole block b, from its last offset on */

    __device__ __forceinline__ explicit partition_sums(const offsets_partition<Pair> &stage) {
        const int lane = threadIdx.x % 32;
        const int block = lane < windows ? lane / each : lane % shape::blocks;
        int from = 0, to = nested<U>::groups;
        if (lane < windows) to = stage.windows[lane].first;
#pragma unroll
        for (int v = 0; v < each; ++v) {
            const int last = stage.windows[block * each + v].last;
            if (last >= 0 && (lane >= windows || v < lane % each)) from = last;
        }
        with_offsets =
            __ballot_sync(warp_mask, lane < windows && stage.windows[lane % windows].last >= 0);
        chain = fold<Pair, nested<U>::groups>(Pair::identity, stage.groups[block],
                                              bits_below(to) & ~bits_below(from));
    }

    /* X2 at the end, if it was `sum` at the begin; r2: before the block of the lane's window, or
       nothing, if its first segment began in the block. */
    __device__ __forceinline__ U add_blocks(U sum, U &r2) const {
        const int lane = threadIdx.x % 32;
#pragma unroll
        for (int b = 0; b < shape::blocks; ++b) {
            const U of_block = __shfl_sync(warp_mask, chain, windows + b);
            if (lane / each == b) r2 = sum;
            sum = with_offsets >> b * each & bits_below(each) ? of_block
                                                              : Pair::combine(sum, of_block);
        }
        if (each == 2 && lane % 2 == 1 && (with_offsets >> (lane - 1) & 1)) r2 = Pair::identity;
        return sum;
    }
};

template <class Pair>
static __device__ __forceinline__ void finish_in_order(const segmented_reduce_arguments &a,
                                                       offsets_shared<Pair> &shared) {
    using T = typename Pair::T;
    using U = typename Pair::U;
    const int lane = threadIdx.x % 32;
    const bool by_ticket = offsets_by_ticket(a);
    pending_segments<Pair> pending = {a, shared, initial_of<Pair>(a)};
    int64_t partition = first_partition(a, shared);
    if (partition >= a.partitions) return;
    shared.taken.wait(0); /* then the epoch is valid */
    const epoch_t epoch = shared.epoch;
    U half = Pair::identity; /* X2 at the end of the partition before */
#pragma unroll 1
    for (int k = 0;; ++k) {
        const offsets_partition<Pair> &here = shared.stage[k % offsets_stages];
        const bool second = partition % 2 == 1;
        shared.summed.wait(k);
        const partition_sums<Pair> sums(here);
        const auto publish_sum = [&](U sum) {
            if (lane != 0 || a.partitions == 1) return;
            jitter(a.lookback, epoch, partition, jitter_publish);
            publish<U>(a.lookback, epoch, partition, sum);
        };
        U r2 = Pair::identity;
        if (!second) half = Pair::identity;
        if (second && !by_ticket) {
            /* before it waits for what it need not know for that */
            if (sums.with_offsets) publish_sum(sums.add_blocks(half, r2));
            jitter(a.lookback, epoch, partition, jitter_wait);
            half = wait_for<U>(a.lookback, epoch, partition - 1);
        }
        half = sums.add_blocks(half, r2);
        if (by_ticket ? second : !(second && sums.with_offsets)) publish_sum(half);

        /* a segment that ends in window `lane` and began before; only the first one of them may
           have begun before the tile */
        const window_part<U> &part = here.windows[lane % offsets_reduction_warps];
        const bool ends = lane < offsets_reduction_warps && part.segment >= 0;
        const bool waits =
            ends && part.segment == here.from - 1 && here.begin < partition / 2 * nested<T>::tile;
        const U x2 = Pair::combine(r2, Pair::combine(sums.chain, part.rest));
        if (ends && !waits)
            ((T *)a.scan.totals)[part.segment] =
                Pair::out(Pair::combine(pending.initial, x2), a.transform);
        const unsigned waiting = __ballot_sync(warp_mask, waits);
        __syncwarp();                                 /* the place has been read */
        if (waits && lane == __ffs((int)waiting) - 1) /* with valid offsets there is only one */
            shared.pending[(pending.first + pending.count) % offsets_pending] = {
                x2, Pair::identity, part.segment, here.begin, partition};
        if (waiting) ++pending.count;
        if (by_ticket) partition = shared.taken.index_of(k + 1);
        shared.freed.arrive(k);
        __syncwarp();
        if (!by_ticket || partition >= a.partitions) break;
        pending.write_totals(epoch, offsets_pending - 1);
    }
    pending.write_totals(epoch, 0);
}

#endif

} /* namespace vscan */

#endif
