/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Segmented reduction by offsets, for all but very small segments: one pass, one launch.
 *
 *   reduce/by_offsets_window.cuh   what a warp does to a window
 *   reduce/by_offsets_search.cuh   shared memory of a block; the search of partitions' offsets
 *
 * A block owns partitions, halves of tiles, by ticket; if each block has only one, partition number
 * and block number are equal, as in scan/small.cuh. Shared memory has two windows a reduction warp,
 * and a pipeline of partitions. The warps hand partitions on:
 *
 *   search warps      take a ticket (-> taken), and search the partition's offsets      -> found
 *   reduction warps   load a window each to shared memory while they reduce the one before, reduce
 *                     it from its last offset on (-> summed), and write the totals of segments
 *                     that begin and end in it                                           -> done
 *   prefix warp       publishes the partition's aggregate (common/lookback.cuh), and writes the
 *                     totals of segments that only end in it                             -> freed
 *
 * Each arrow is an mbarrier at which every thread of the warps arrives; a partition has its stage
 * of the pipeline until it is freed. No warp waits for all others.
 *
 * An offset belongs to the window with the element before it (0: to the first one), so a segment's
 * total is written where its last element is. The parts of a segment that began in an earlier
 * window of the partition come from the reduction warps. At most one segment that ends in a
 * partition began before it. It needs the aggregates of earlier partitions, from the one with its
 * first element on; the aggregate is the sum of a partition from its last offset on, or of all of
 * it. Such a segment is pending until they are published. The prefix warp keeps up to four of them
 * and looks once a partition; it waits only if there is no room for another, and at the end.
 *
 * Progress: a block publishes its partitions in ascending order, and waits only for partitions
 * before all that it has not published. So among all blocks that wait, the one that waits for the
 * first partition waits for a running block. Memory order: an aggregate carries its epoch
 * (kernels/README.md); in a block the mbarriers order all accesses.
 *
 * Each offset is checked by a reduction warp, since the ranges that are found are adjacent; a
 * negative range is reported. An offset outside its window is reported and not used.
 */
#ifndef VSCAN_REDUCE_BY_OFFSETS_CUH
#define VSCAN_REDUCE_BY_OFFSETS_CUH

#include "reduce/by_offsets_search.cuh"

namespace vscan {

#ifdef VSCAN__TMA

/* ---- Reduction warps ------------------------------------------------------------------------- */

template <class Pair>
static __device__ __forceinline__ int64_t reduce_windows(const segmented_reduce_arguments &a,
                                                         const segments_offsets &offsets,
                                                         offsets_shared<Pair> &shared) {
    using T = typename Pair::T;
    using U = typename Pair::U;
    using shape = offsets_shape<Pair>;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const auto buffer = [&](int k) {
        return (T *)dynamic_shared() + (k % 2 * offsets_reduction_warps + warp) * shape::window;
    };
    const auto first_of = [&](int64_t partition) {
        return partition * shape::items + warp * shape::window;
    };
    int64_t partition = first_partition(a, shared), wrong = -1;
    if (partition >= a.partitions) return -1;
    load_share<Pair>(a, buffer(0), first_of(partition));
    commit_async_copies();
    const U initial = initial_of<Pair>(a.scan);
    const bool by_ticket = offsets_by_ticket(a);
#pragma unroll 1
    for (int k = 0;; ++k) {
        offsets_partition<Pair> &here = shared.stage[k % offsets_stages];
        int64_t next = a.partitions;
        if (by_ticket) next = shared.taken.index_of(k + 1);
        if (next < a.partitions)
            load_share<Pair>(a, buffer(k + 1), first_of(next));
        else
            let_next_kernel_begin();
        commit_async_copies();
        wait_async_copies(1);
        __syncwarp();
        const U of_line = line_of_window<Pair>(buffer(k));
        shared.found.wait(k);
        offsets_window<Pair> window = {a,
                                       {offsets, here.copy, here.edges[0], here.edges[1], a.copied},
                                       initial,
                                       buffer(k),
                                       first_of(partition),
                                       of_line};
        window.choose(warp == 0, warp == offsets_reduction_warps - 1);
        const seen_offsets seen = window.look(window.lower);
        bool any;
        const U suffix = window.suffix(seen, any);
        if (lane == 0) {
            here.sums[warp] = suffix;
            here.any[warp] = any;
        }
        shared.summed.arrive(k);
        const open_segment<U> open = window.totals(seen);
        if (lane == 0) here.open[warp] = open;
        shared.done.arrive(k);
        if (window.wrong >= 0) wrong = window.wrong;
        if (next >= a.partitions) return wrong;
        partition = next;
        __syncwarp(); /* all lanes have read the window */
    }
}

/* ---- Prefix warp ----------------------------------------------------------------------------- */

/* Segments that began before their partition, in the order of their ends. By a warp. */
template <class Pair>
struct pending_segments {
    using T = typename Pair::T;
    using U = typename Pair::U;
    using shape = offsets_shape<Pair>;

    const segmented_reduce_arguments &a;
    offsets_shared<Pair> &shared;
    int first = 0, count = 0; /* which are pending */

    /* of the first one: the next tile to be added to p, or -1; the partition that precedes its
       own in the same tile */
    int64_t tile = -1;
    bool gathered = false; /* all tiles are added */
    U p = Pair::identity, beside = Pair::identity;

    /* Adds the next 32 tiles to p, two partitions a lane, if they are published. */
    __device__ __forceinline__ bool gather(epoch_t epoch) {
        const int lane = threadIdx.x % 32;
        const pending_segment<U> &s = shared.pending[first % offsets_pending];
        const int64_t partition = s.partition, own = partition / 2, from = s.begin / shape::items;
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
        if constexpr (Pair::in_any_order) {
            p = Pair::combine(p, over_lanes<Pair>::sum(t < own ? of_tile : (U)Pair::identity));
        } else {
            shared.tiles[lane] = of_tile;
            __syncwarp();
            const int tiles = gathered ? (int)(own - tile) : 32;
#pragma unroll 8
            for (int i = 0; i < tiles; ++i) p = Pair::combine(p, shared.tiles[i]);
        }
        beside = __shfl_sync(warp_mask, of_tile, (int)(own - tile) & 31);
        __syncwarp();
        tile += 32;
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
            if (threadIdx.x % 32 == 0)
                ((T *)a.scan.totals)[s.segment] = Pair::out(
                    Pair::combine(p, Pair::combine(Pair::combine(beside, s.node), s.rest)));
            ++first;
            --count;
            tile = -1;
            gathered = false;
        }
    }
};

template <class Pair>
static __device__ __forceinline__ void finish_partitions(const segmented_reduce_arguments &a,
                                                         const segments_offsets &offsets,
                                                         offsets_shared<Pair> &shared) {
    using T = typename Pair::T;
    using U = typename Pair::U;
    using shape = offsets_shape<Pair>;
    const int lane = threadIdx.x % 32;
    const bool by_ticket = offsets_by_ticket(a);
    pending_segments<Pair> pending = {a, shared};
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
                ((T *)a.scan.totals)[open.segment] = Pair::out(Pair::combine(all, open.rest));
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

#endif

/* ---- Kernel ---------------------------------------------------------------------------------- */

template <class Pair>
__global__ void __launch_bounds__(offsets_threads, offsets_resident)
    reduce_offsets(const __grid_constant__ segmented_reduce_arguments a) {
#ifdef VSCAN__TMA
    offsets_shared<Pair> &shared =
        *(offsets_shared<Pair> *)(dynamic_shared() + 2 * offsets_reduction_warps * segments_share);
    const int warp = threadIdx.x / 32;
    if (threadIdx.x < offsets_stages) {
        shared.taken.init(threadIdx.x, 32);
        shared.found.init(threadIdx.x, offsets_by_ticket(a) ? 32 : 32 * offsets_search_warps);
        shared.summed.init(threadIdx.x, 32 * offsets_reduction_warps);
        shared.done.init(threadIdx.x, 32 * offsets_reduction_warps);
        shared.freed.init(threadIdx.x, 32);
    }
    __syncthreads();
    wait_for_kernel_before(false);
    const segments_offsets offsets = {a.scan.offsets, a.scan.totals_length + 1,
                                      a.scan.offset_type == VSCAN_LONG};
    if (warp < offsets_reduction_warps)
        report(a.late, VSCAN_ERROR_OFFSETS, reduce_windows<Pair>(a, offsets, shared));
    else if (warp < offsets_reduction_warps + offsets_search_warps)
        offsets_by_ticket(a)
            ? search_partitions<Pair>(a, offsets, shared, warp - offsets_reduction_warps)
            : search_partition<Pair>(a, offsets, shared, warp - offsets_reduction_warps);
    else
        finish_partitions<Pair>(a, offsets, shared);
#endif
}

/* ---- Launch ---------------------------------------------------------------------------------- */

/*
 * Whether this is faster than reduce_segments, by the average length of segments.
 */
template <class Pair>
static bool suits_reduce_offsets(const vscan__launch *launch, const vscan__scan *scan) {
    const int64_t each = scan->n / (scan->totals_length + 1);
    return launch->shared_memory > 0 && scan->offsets != nullptr &&
           each >= (Pair::in_any_order ? offsets_from_any_order : offsets_from_in_order) &&
           each < offsets_below;
}

template <class Pair>
static cudaError_t launch_reduce_offsets(vscan__launch *launch, segmented_reduce_arguments &a,
                                         int pair) {
    const int64_t n = a.scan.n, items = offsets_shape<Pair>::items;
    const int bytes =
        2 * offsets_reduction_warps * segments_share + (int)sizeof(offsets_shared<Pair>);
    const unsigned ready = 1u << (16 + pair); /* above the bits of reduce_segments */
    if (!(launch->segments_ready & ready)) {
        const cudaError_t error = cudaFuncSetAttribute(
            reduce_offsets<Pair>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
        if (error != cudaSuccess) return error;
        launch->segments_ready |= ready;
    }
    a.partitions = n > 0 ? (n + items - 1) / items : 1;
    /* twice the average: what a search has read is in the cache */
    const int64_t each = (a.scan.totals_length + 1) * items / (n + 1);
    a.copied = each < offsets_copied / 2 - 16 ? (int)(2 * each) + 32 : offsets_copied;
    a.guess.step = 1 + (int64_t)(sqrt((double)(a.scan.totals_length + 1)) / 50);
    const int64_t resident = (int64_t)offsets_resident * launch->multiprocessors;
    return start(reduce_offsets<Pair>, a.partitions < resident ? a.partitions : resident,
                 offsets_threads, bytes, launch->stream, a, launch->may_overlap);
}

} /* namespace vscan */

#endif
