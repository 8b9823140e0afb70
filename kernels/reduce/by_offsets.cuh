/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Segmented reduction by offsets, for all but very small segments: one pass, one launch.
 *
 *   reduce/by_offsets_window.cuh   what a warp does to a window, in any order
 *   reduce/by_offsets_blocks.cuh   the same in order (core/order.h); the stages of the pipeline
 *   reduce/by_offsets_search.cuh   shared memory of a block; the search of partitions' offsets
 *   reduce/by_offsets_prefix.cuh   the prefix warp
 *
 * A block owns partitions, halves of tiles, by ticket (in order, whole tiles by ticket, one half
 * after the other); if each block has only one, partition number and block number are equal, as in
 * scan/small/small.cuh. Shared memory has two windows a reduction warp, and a pipeline of partitions. The
 * warps hand partitions on:
 *
 *   search warps      take a ticket (-> taken), and search the partition's offsets      -> found
 *   reduction warps   load a window each to shared memory while they reduce the one before, reduce
 *                     it from its last offset on (-> summed), and write the totals of segments
 *                     that begin and end in it                                           -> done
 *   prefix warp       publishes the partition's aggregate (protocol/lookback.cuh), and writes the
 *                     totals of segments that only end in it                             -> freed
 *
 * Each arrow is an mbarrier at which every thread of the warps arrives; a partition has its stage
 * of the pipeline until it is freed. No warp waits for all others. In order, a window is handed on
 * at once when all is done (-> summed).
 *
 * An offset belongs to the window with the element before it (0: to the first one), so a segment's
 * total is written where its last element is. The parts of a segment that began in an earlier
 * window of the partition come from the reduction warps. At most one segment that ends in a
 * partition began before it. It needs the aggregates of earlier partitions, from the one with its
 * first element on; the aggregate is the sum of a partition from its last offset on, or of all of
 * it. Such a segment is pending until they are published. The prefix warp keeps up to four of them
 * and looks once a partition; it waits only if there is no room for another, and at the end.
 * In order, pending are those that began before the tile, and the aggregate of a second half is
 * that of the tile: blocks with one partition wait for the first half's.
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

#include "machine/launch.cuh"
#include "reduce/by_offsets_prefix.cuh"

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
    const U initial = initial_of<Pair>(a);
    const bool by_ticket = offsets_by_ticket(a);
#pragma unroll 1
    for (int k = 0;; ++k) {
        offsets_partition<Pair> &here = shared.stage[k % offsets_stages];
        int64_t next = a.partitions;
        if (by_ticket) next = shared.taken.index_of(k + 1);
        if (next < a.partitions)
            load_share<Pair>(a, buffer(k + 1), first_of(next));
        else
            launch_dependents();
        commit_async_copies();
        wait_async_copies(1);
        __syncwarp();
        const U of_line = line_of_window<Pair>(buffer(k), a.transform);
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

/* The same in order. What is known of partition k is read again where it is needed: registers are
   few. */
template <class Pair>
static __device__ __forceinline__ void reduce_in_order(const segmented_reduce_arguments &a,
                                                       const segments_offsets &offsets,
                                                       offsets_shared<Pair> &shared) {
    using T = typename Pair::T;
    using U = typename Pair::U;
    using shape = offsets_shape<Pair>;
    const int warp = threadIdx.x / 32;
    const auto buffer = [&](int k) {
        return (T *)dynamic_shared() + (k % 2 * offsets_reduction_warps + warp) * shape::window;
    };
    const auto first_of = [&](int64_t partition) {
        return partition * shape::items + warp * shape::window;
    };
    const int64_t partition = first_partition(a, shared);
    if (partition >= a.partitions) return;
    load_share<Pair>(a, buffer(0), first_of(partition));
    commit_async_copies();
    const U initial = initial_of<Pair>(a);
#pragma unroll 1
    for (int k = 0;; ++k) {
        offsets_partition<Pair> &here = shared.stage[k % offsets_stages];
        const int64_t next = shared.taken.index_of(k + 1);
        if (next < a.partitions)
            load_share<Pair>(a, buffer(k + 1), first_of(next));
        else
            launch_dependents();
        commit_async_copies();
        wait_async_copies(1);
        __syncwarp();
        const U of_line = line_of_window<Pair>(buffer(k), a.transform);
        shared.found.wait(k);
        in_order_window<Pair> window = {a, offsets, here, buffer(k), shared.taken.known(k), warp};
        window.reduce(of_line, initial);
        shared.summed.arrive(k);
        report(a.late, VSCAN_ERROR_OFFSETS, window.wrong);
        if (shared.taken.known(k + 1) >= a.partitions) return;
        __syncwarp(); /* all lanes have read the window */
    }
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
        shared.found.init(threadIdx.x, !Pair::in_any_order || offsets_by_ticket(a)
                                           ? 32
                                           : 32 * offsets_search_warps);
        shared.summed.init(threadIdx.x, 32 * offsets_reduction_warps);
        shared.done.init(threadIdx.x, 32 * offsets_reduction_warps);
        shared.freed.init(threadIdx.x, 32);
    }
    if (!Pair::in_any_order && !offsets_by_ticket(a) && threadIdx.x == 0) {
        shared.taken.set(0, blockIdx.x);
        shared.taken.set(1, a.partitions); /* no other */
    }
    __syncthreads();
    if (warp < offsets_reduction_warps && !offsets_by_ticket(a)) {
        using shape = offsets_shape<Pair>;
        prefetch_by_warp((const typename Pair::T *)a.scan.in, a.scan.n,
                         (int64_t)blockIdx.x * shape::items + warp * shape::window, shape::window);
    }
    grid_dependency_wait(false);
    const segments_offsets offsets = {a.scan.offsets, a.scan.totals_length + 1,
                                      a.scan.offset_type == VSCAN_LONG};
    if constexpr (Pair::in_any_order) {
        if (warp < offsets_reduction_warps)
            report(a.late, VSCAN_ERROR_OFFSETS, reduce_windows<Pair>(a, offsets, shared));
        else if (warp < offsets_reduction_warps + offsets_search_warps)
            offsets_by_ticket(a)
                ? search_partitions<Pair>(a, offsets, shared, warp - offsets_reduction_warps)
                : search_partition<Pair>(a, offsets, shared, warp - offsets_reduction_warps);
        else
            finish_in_any_order<Pair>(a, offsets, shared);
    } else if (warp < offsets_reduction_warps)
        reduce_in_order<Pair>(a, offsets, shared);
    else if (warp == offsets_reduction_warps + offsets_search_warps)
        finish_in_order<Pair>(a, shared);
    else
        search_in_order<Pair>(a, offsets, shared, warp - offsets_reduction_warps);
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
static cudaError_t launch_reduce_offsets(vscan__launch *launch, segmented_reduce_arguments &a) {
    const int64_t n = a.scan.n, items = offsets_shape<Pair>::items;
    const int bytes =
        2 * offsets_reduction_warps * segments_share + (int)sizeof(offsets_shared<Pair>);
    const cudaError_t error = allow_shared_memory(launch, reduce_offsets<Pair>, bytes);
    if (error != cudaSuccess) return error;
    a.partitions = n > 0 ? (n + items - 1) / items : 1;
    /* twice the average: what a search has read is in the cache */
    const int64_t each = (a.scan.totals_length + 1) * items / (n + 1);
    a.copied = each < offsets_copied / 2 - 16 ? (int)(2 * each) + 32 : offsets_copied;
    a.guess.step =
        1 + (int64_t)(sqrt((double)(a.scan.totals_length + 1)) / (Pair::in_any_order ? 50 : 100));
    const int64_t resident = (int64_t)offsets_resident * launch->multiprocessors;
    return start(reduce_offsets<Pair>, a.partitions < resident ? a.partitions : resident,
                 offsets_threads, bytes, launch->stream, a, launch->may_overlap);
}

} /* namespace vscan */

#endif
