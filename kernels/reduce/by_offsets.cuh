/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Segmented reduction by offsets of segments that are not very short: one pass, one launch.
 *
 *     reduce/by_offsets_window.cuh   what a warp does to a window
 *     reduce/by_offsets_search.cuh    what a block's warps share; which partitions, and their offsets
 *
 * A block owns partitions, halves of tiles, by ticket; where each block has one only, partition number and
 * block number are the same, as in scan/small.cuh. Its warps hand partitions on:
 *
 *   scouts    take a ticket (-> taken), and look for the partition's offsets           -> found
 *   workers   bring a window of it each to shared memory while they sum the one before, sum
 *             it from its last offset on (-> summed), and make the totals of segments that
 *             begin and end in it                                                 -> done
 *   finisher  publishes the partition's sum (common/lookback.cuh), and makes the totals of segments
 *             that only end in it                                                 -> freed
 *
 * Each arrow is a barrier in shared memory (mbarrier), at which every thread arrives; a partition has
 * one place in a stage until it is freed. No warp waits for all others.
 *
 * An offset belongs to the window that has the element before it (0: to the first), so a segment's
 * total is made where its last element is. A segment that began in an earlier window of the partition is
 * put together from what the workers have. Of one that began before the partition, of which a partition has
 * one at most that ends in it, the sums of earlier partitions are needed, from the one on that has the
 * segment's first element; these are published as words: the sum of a partition from its last offset on,
 * or all of it. Such a segment is pending until they are there. The finisher has room for a few,
 * and looks once a partition; it waits only where there is no more room, and in the end. It publishes
 * its block's partitions in ascending order, and what it waits for comes before all that it has not
 * published: so of all that wait, the one for the first partition waits for nobody who waits.
 *
 * Every offset is looked at by a worker: the ranges that are found are joined, and where one is
 * negative that is reported. An offset outside its window is reported and not followed.
 */
#ifndef VSCAN_REDUCE_BY_OFFSETS_CUH
#define VSCAN_REDUCE_BY_OFFSETS_CUH

#include "reduce/by_offsets_search.cuh"

namespace vscan {

#ifdef VSCAN__TMA

/* ---- Workers --------------------------------------------------------------------------------- */

template <class Pair>
static __device__ __forceinline__ int64_t reduce_windows(const segments_arguments &a,
                                                         const segments_offsets &offsets,
                                                         offsets_shared<Pair> &shared) {
    using T = typename Pair::T;
    using U = typename Pair::U;
    using shape = offsets_shape<Pair>;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const auto slot = [&](int k) {
        return (T *)dynamic_shared() + (k % 2 * offsets_workers + warp) * shape::window;
    };
    const auto first_of = [&](int64_t partition) {
        return partition * shape::items + warp * shape::window;
    };
    int64_t partition = first_partition(a, shared), wrong = -1;
    if (partition >= a.partitions) return -1;
    load_share<Pair>(a, slot(0), first_of(partition));
    end_of_pieces();
    const U initial = initial_of<Pair>(a.scan);
    const bool turns = offsets_turns(a);
#pragma unroll 1
    for (int k = 0;; ++k) {
        offsets_partition<Pair> &here = shared.stage[k % offsets_stages];
        int64_t next = a.partitions;
        if (turns) {
            barrier_wait(&shared.taken[(k + 1) % offsets_stages], offsets_parity(k + 1));
            next = shared.stage[(k + 1) % offsets_stages].partition;
        }
        if (next < a.partitions)
            load_share<Pair>(a, slot(k + 1), first_of(next));
        else
            let_next_kernel_begin();
        end_of_pieces();
        wait_for_pieces(1);
        __syncwarp();
        const U of_row = row_of_window<Pair>(slot(k));
        barrier_wait(&shared.found[k % offsets_stages], offsets_parity(k));
        offsets_window<Pair> window = {a,
                                       {offsets, here.copy, here.edges[0], here.edges[1], a.copied},
                                       initial,
                                       slot(k),
                                       first_of(partition),
                                       of_row};
        window.choose(warp == 0, warp == offsets_workers - 1);
        const seen_offsets seen = window.look(window.lower);
        bool any;
        const U suffix = window.suffix(seen, any);
        if (lane == 0) {
            here.sums[warp] = suffix;
            here.any[warp] = any;
        }
        barrier_arrive_at(&shared.summed[k % offsets_stages]);
        const open_segment<U> open = window.totals(seen);
        if (lane == 0) here.open[warp] = open;
        barrier_arrive_at(&shared.done[k % offsets_stages]);
        if (window.wrong >= 0) wrong = window.wrong;
        if (next >= a.partitions) return wrong;
        partition = next;
        __syncwarp(); /* all have read the window */
    }
}

/* ---- Finisher -------------------------------------------------------------------------------- */

/* Segments that began before their partition, in the order of their ends: by a warp. */
template <class Pair>
struct pending_segments {
    using T = typename Pair::T;
    using U = typename Pair::U;
    using shape = offsets_shape<Pair>;

    const segments_arguments &a;
    offsets_shared<Pair> &shared;
    int first = 0, count = 0; /* which are there */

    /* of the first one: the next tile to be added to p, -1: none has been; its partition's neighbour */
    int64_t tile = -1;
    bool gathered = false; /* all are */
    U p = Pair::identity, beside = Pair::identity;

    /* Adds the next tiles to p, two partitions a lane, if they are there. */
    __device__ __forceinline__ bool gather(epoch_t epoch) {
        const int lane = threadIdx.x % 32;
        const pending_segment<U> &s = shared.pending[first % offsets_pending];
        const int64_t partition = s.partition, own = partition / 2, from = s.begin / shape::items;
        if (tile < 0) {
            tile = from / 2;
            p = Pair::identity;
        }
        /* in the own tile, the one that comes before the partition, if one does */
        const int64_t t = tile + lane;
        U low = Pair::identity, high = Pair::identity;
        bool ready = true;
        if (2 * t + 1 < partition) ready = try_read<U>(a.lookback, epoch, 2 * t + 1, &high);
        if (2 * t >= from && 2 * t < partition)
            ready = try_read<U>(a.lookback, epoch, 2 * t, &low) && ready;
        if (!__all_sync(segments_lanes, ready)) return false;
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
        beside = __shfl_sync(segments_lanes, of_tile, (int)(own - tile) & 31);
        __syncwarp();
        tile += 32;
        return true;
    }

    /* Totals of those whose earlier partitions are there; waits until no more than `room` are left. */
    __device__ __forceinline__ void fold(epoch_t epoch, int room) {
#pragma unroll 1
        for (int turns = 0; count > 0 && (count > room || turns < 2); ++turns) {
            if (!gathered) {
                jitter(a.lookback, epoch, blockIdx.x + turns, jitter_wait);
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
static __device__ __forceinline__ void finish_partitions(const segments_arguments &a,
                                                         const segments_offsets &offsets,
                                                         offsets_shared<Pair> &shared) {
    using T = typename Pair::T;
    using U = typename Pair::U;
    using shape = offsets_shape<Pair>;
    const int lane = threadIdx.x % 32;
    const bool turns = offsets_turns(a);
    pending_segments<Pair> pending = {a, shared};
    int64_t partition = first_partition(a, shared);
    if (partition >= a.partitions) return;
    barrier_wait(&shared.taken[0], 0); /* then the epoch is there */
    const epoch_t epoch = shared.epoch;
#pragma unroll 1
    for (int k = 0;; ++k) {
        const int at = k % offsets_stages;
        offsets_partition<Pair> &here = shared.stage[at];
        const int64_t begin_of_partition = partition * shape::items;
        barrier_wait(&shared.summed[at], offsets_parity(k));
        const unsigned with_offsets = __ballot_sync(
            segments_lanes, lane < offsets_workers && here.any[lane % offsets_workers]);
        const int latest = 31 - __clz((int)(with_offsets | 1));
        if (a.partitions > 1) {
            U sum[offsets_workers];
#pragma unroll
            for (int w = 0; w < offsets_workers; ++w)
                sum[w] = w < latest ? (U)Pair::identity : here.sums[w];
            const U all = sum_items<Pair>(sum);
            if (lane == 0) {
                jitter(a.lookback, epoch, partition, jitter_publish);
                publish<U>(a.lookback, epoch, partition, all);
            }
        }

        /* the segment that ends here first, if it began before the partition */
        barrier_wait(&shared.found[at], offsets_parity(k));
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
            if (!turns) {
                jitter(a.lookback, epoch, partition, jitter_wait);
                while (!pending.gathered) pending.gather(epoch);
            }
        }

        /* a segment that ends in window `lane`, from an earlier one on */
        barrier_wait(&shared.done[at], offsets_parity(k));
        const open_segment<U> open = here.open[lane % offsets_workers];
        const bool ends = lane < offsets_workers && open.segment >= 0;
        const unsigned earlier = with_offsets & ((1u << lane) - 1);
        bool mine = false;
        if (__any_sync(segments_lanes, ends)) {
            const int since = 31 - __clz((int)(earlier | 1));
            U node[offsets_workers];
#pragma unroll
            for (int w = 0; w < offsets_workers; ++w) {
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
        if (one_more && __any_sync(segments_lanes, mine)) ++pending.count; /* offsets are right */
        if (turns) {
            barrier_wait(&shared.taken[(k + 1) % offsets_stages], offsets_parity(k + 1));
            partition = shared.stage[(k + 1) % offsets_stages].partition;
        }
        barrier_arrive_at(&shared.freed[at]);
        __syncwarp();
        if (!turns || partition >= a.partitions) break;
        pending.fold(epoch, offsets_pending - 1);
    }
    pending.fold(epoch, 0);
}

#endif

/* ---- Kernel ---------------------------------------------------------------------------------- */

template <class Pair>
__global__ void __launch_bounds__(offsets_threads, offsets_resident)
    reduce_offsets(const __grid_constant__ segments_arguments a) {
#ifdef VSCAN__TMA
    offsets_shared<Pair> &shared =
        *(offsets_shared<Pair> *)(dynamic_shared() + 2 * offsets_workers * segments_share);
    const int warp = threadIdx.x / 32;
    if (threadIdx.x < offsets_stages) {
        barrier_init(&shared.taken[threadIdx.x], 32);
        barrier_init(&shared.found[threadIdx.x], offsets_turns(a) ? 32 : 32 * offsets_scouts);
        barrier_init(&shared.summed[threadIdx.x], 32 * offsets_workers);
        barrier_init(&shared.done[threadIdx.x], 32 * offsets_workers);
        barrier_init(&shared.freed[threadIdx.x], 32);
    }
    __syncthreads();
    wait_for_kernel_before(false);
    const segments_offsets offsets = {a.scan.offsets, a.scan.totals_length + 1,
                                      a.scan.offset_type == VSCAN_LONG};
    if (warp < offsets_workers)
        report(a.late, VSCAN_ERROR_OFFSETS, reduce_windows<Pair>(a, offsets, shared));
    else if (warp < offsets_workers + offsets_scouts)
        offsets_turns(a) ? scout_partitions<Pair>(a, offsets, shared, warp - offsets_workers)
                         : scout_partition<Pair>(a, offsets, shared, warp - offsets_workers);
    else
        finish_partitions<Pair>(a, offsets, shared);
#endif
}

/* ---- Launching ------------------------------------------------------------------------------- */

/*
 * Whether this is faster than reduce_segments, by the segments' length on average: measured on an
 * H200. The tiles of a segment of nearly all the vector are folded by one warp in the end (of 2^28
 * floats in 290 us), which reduce_segments does while it runs.
 */
template <class Pair>
static bool suits_reduce_offsets(const vscan__launch *launch, const vscan__scan *scan) {
    const int64_t each = scan->n / (scan->totals_length + 1);
    return launch->shared_memory > 0 && scan->offsets != nullptr &&
           each >= (Pair::in_any_order ? 96 : 128) && each < 1 << 20;
}

template <class Pair>
static cudaError_t launch_reduce_offsets(vscan__launch *launch, segments_arguments &a, int pair) {
    const int64_t n = a.scan.n, items = offsets_shape<Pair>::items;
    const int bytes = 2 * offsets_workers * segments_share + (int)sizeof(offsets_shared<Pair>);
    const unsigned ready = 1u << (16 + pair); /* there are 15 pairs */
    if (!(launch->segments_ready & ready)) {
        const cudaError_t error = cudaFuncSetAttribute(
            reduce_offsets<Pair>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
        if (error != cudaSuccess) return error;
        launch->segments_ready |= ready;
    }
    a.partitions = n > 0 ? (n + items - 1) / items : 1;
    /* twice as many as if all segments were alike: what a search has looked at is in the cache */
    const int64_t each = (a.scan.totals_length + 1) * items / (n + 1);
    a.copied = each < offsets_copied / 2 - 16 ? (int)(2 * each) + 32 : offsets_copied;
    a.guess.step = 1 + (int64_t)(sqrt((double)(a.scan.totals_length + 1)) / 50);
    const int64_t resident = (int64_t)offsets_resident * launch->multiprocessors;
    return start(reduce_offsets<Pair>, a.partitions < resident ? a.partitions : resident,
                 offsets_threads, bytes, launch->stream, a, launch->may_overlap);
}

} /* namespace vscan */

#endif
