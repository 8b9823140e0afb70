/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reduction: one pass over the vector at the speed of memory, one launch.
 *
 *   elements/warp_reduce.cuh   sums over the lanes of a warp
 *   reduce/tuning.cuh        sizes of blocks and parts, and which kernel is used for which size
 *   reduce/parts.cuh         what a warp reads and reduces
 *   reduce/small.cuh         kernels for small vectors: one block, one cluster
 *   reduce/large.cuh         the kernel for all others: workers and a finisher
 *
 * The vector is a body, which is cut into parts, and a few elements outside it, which only the
 * finishing warp reads. In any order (Pair::in_any_order) the body is whatever lies in whole
 * 16-byte vectors, wherever the vector begins. Float and double plus follow core/order.h: there the
 * body is all whole groups, and the elements after the last one are outside: the last group of the
 * last block of level 1. A balanced tree gives the same bits when left and right are
 * exchanged, so the 16 bytes of a lane are added in memory order in both directions.
 *
 * Launches may overlap (grid_dependency_wait). The total may overwrite the initial value: only
 * the finishing warp accesses either.
 */
#pragma once

#include "reduce/small.cuh"
#include "reduce/large.cuh"

namespace vscan {

/* ---- Launch ---------------------------------------------------------------------------------- */

static_assert(reduce_medium_bytes / (VSCAN__LEVEL_1 * (int)sizeof(float)) <= VSCAN__SMALL_WORDS &&
                  reduce_medium_bytes % (32 * VSCAN__TILE_FLOAT * (int)sizeof(float)) == 0,
              "status words for blocks of level 1, of whole batches of tiles");

/* Warps of a block, for a vector that so many blocks reduce; in order, for whole blocks of level
   1. */
template <class Pair, int Loads>
static int reduce_warps(const reduce_arguments &a, int blocks) {
    constexpr int items = reduce_part_shape<Pair, Loads>::items;
    constexpr int step = Pair::in_any_order ? 1 : VSCAN__LEVEL_1 / items;
    const int all = blocks * step * items;
    return a.n <= all ? step : (int)((a.n + all - 1) / all) * step;
}

/* If launches may overlap, blocks start before the kernel before has ended. */
template <class Kernel>
static cudaError_t start_reduce(const vscan__launch *launch, Kernel kernel, int blocks, int threads,
                                const reduce_arguments &a, bool cluster = false) {
    return start(kernel, blocks, threads, 0, launch->stream, a, launch->may_overlap,
                 cluster ? reduce_cluster : 1);
}

template <class Pair, int Loads, bool Alone>
static cudaError_t launch_reduce_block(const vscan__launch *launch, const reduce_arguments &a) {
    const int threads = Alone ? 32 : 32 * reduce_warps<Pair, Loads>(a, 1);
    auto kernel = a.aligned ? reduce_block<Pair, Loads, true, Alone>
                            : reduce_block<Pair, Loads, Pair::in_any_order, Alone>;
    if constexpr (!Pair::in_any_order && Loads == 1) {
        if (a.n <= VSCAN__LEVEL_1)
            kernel = a.aligned ? reduce_block<Pair, Loads, true, Alone, true>
                               : reduce_block<Pair, Loads, false, Alone, true>;
    }
    return start_reduce(launch, kernel, 1, threads, a);
}

template <class Pair>
static cudaError_t launch_reduce_blocks(const vscan__launch *launch, const reduce_arguments &a) {
    const int warps = reduce_warps<Pair, reduce_block_loads>(a, reduce_cluster);
    return start_reduce(launch, reduce_blocks<Pair>, reduce_cluster, 32 * warps, a, true);
}

template <class Pair, int Loads, bool Tickets>
static cudaError_t launch_reduce_large(const vscan__launch *launch, const reduce_arguments &a) {
    using shape = reduce_partition<Pair, Loads>;
    const int64_t n = Pair::in_any_order ? a.body_n : a.n;
    const int64_t partitions = (n + shape::items - 1) / shape::items;
    const int64_t resident = (int64_t)reduce_resident * launch->multiprocessors - 1;
    const int blocks = (int)(partitions < resident ? partitions : resident) + 1;
    const auto kernel = a.aligned ? reduce_large<Pair, Loads, Tickets, true>
                                  : reduce_large<Pair, Loads, Tickets, Pair::in_any_order>;
    return start_reduce(launch, kernel, blocks, shape::threads, a);
}

template <class Pair>
static cudaError_t launch_reduce(const vscan__launch *launch, const vscan__scan *scan,
                                 const pair_transform &transform) {
    using T = typename Pair::In;
    const int64_t n = scan->n;
    reduce_arguments a;
    a.in = scan->in;
    a.n = n;
    if (Pair::in_any_order) {
        const int64_t before = (int64_t)(-(uintptr_t)scan->in % 16 / sizeof(T));
        a.begin = (int)(before < n ? before : n);
        a.body_n = (n - a.begin) * (int64_t)sizeof(T) / 16 * 16 / (int64_t)sizeof(T);
        a.backward = false;
        a.aligned = true;
    } else {
        a.body_n = n / VSCAN__GROUP * VSCAN__GROUP;
        a.backward = scan->backward;
        a.begin = a.backward ? (int)(n - a.body_n) : 0;
        a.aligned = (uintptr_t)((const T *)scan->in + a.begin) % 16 == 0;
    }
    a.body = (const T *)scan->in + a.begin;
    a.outside = (int)(n - a.body_n);
    a.has_initial = scan->has_initial;
    a.initial = scan->initial;
    a.initial_at = scan->initial_at;
    a.total = scan->total;
    a.lookback = lookback_of(launch);
    a.transform = transform;

    const int64_t bytes = n * (int64_t)sizeof(T);
    const bool clusters = launch->shared_memory > 0; /* every GPU with TMA has clusters */
    if (launch->large_from == 0)                     /* for tests */
        return launch_reduce_large<Pair, 8, true>(launch, a);
    if (bytes <= reduce_warp_bytes) return launch_reduce_block<Pair, 2, true>(launch, a);
    if (bytes <= reduce_large_warp_bytes) return launch_reduce_block<Pair, 4, true>(launch, a);
    if (bytes <= reduce_one_load_bytes) return launch_reduce_block<Pair, 1, false>(launch, a);
    if (bytes <= (clusters ? reduce_block_bytes : reduce_portable_block_bytes))
        return launch_reduce_block<Pair, reduce_block_loads, false>(launch, a);
    if (clusters && bytes <= reduce_cluster_bytes) return launch_reduce_blocks<Pair>(launch, a);
    if (bytes <= reduce_medium_bytes) return launch_reduce_large<Pair, 4, false>(launch, a);
    return launch_reduce_large<Pair, 8, true>(launch, a);
}

} /* namespace vscan */
