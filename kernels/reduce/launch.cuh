/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reduction: one pass over the vector at the speed of memory, one launch.
 *
 *     common/warp_reduce.cuh   sums over the lanes of a warp
 *     reduce/parts.cuh   what a warp reads and sums
 *     reduce/small.cuh   kernels for short vectors: one block, one cluster
 *     reduce/large.cuh   the kernel for all others: workers and a finisher
 *
 * The vector is a body, which is cut into parts, and a few elements outside it, which only the
 * finishing warp reads. Where the order does not matter (Pair::in_any_order), the body is all that
 * lies on whole 16-byte quads, wherever the vector begins. Float and double plus follow lib/order.h:
 * there the body is all whole groups, and outside are the elements after the last of these, whose sum
 * is added last to their tile's. The balanced tree does not mind left and right exchanged, so a lane's
 * 16 bytes are summed in the order of memory in both directions.
 *
 * Launches overlap where they may (wait_for_kernel_before). The total may be written over the initial
 * value: only the finishing warp touches either.
 */
#ifndef VSCAN_REDUCE_LAUNCH_CUH
#define VSCAN_REDUCE_LAUNCH_CUH

#include "reduce/small.cuh"
#include "reduce/large.cuh"

namespace vscan {

/* ---- Launch ---------------------------------------------------------------------------------- */

/* Bytes up to which kernels and shapes are the fastest. Measured on an H200. */
enum {
    REDUCE_WARP_BYTES = 1 << 10,      /* one warp, two rows */
    REDUCE_LONG_WARP_BYTES = 2 << 10, /* one warp, four rows */
    REDUCE_ROW_BYTES = 16 << 10,      /* one block, one row a warp */
    REDUCE_BLOCK_BYTES = 32 << 10,    /* one block, four rows a warp */
    REDUCE_TILE_BYTES = 64 << 10,     /* the same where there are no clusters; what it can hold */
    REDUCE_CLUSTER_BYTES = 512 << 10, /* one cluster; what it can hold */
    REDUCE_MIDDLE_BYTES =
        128 << 20 /* partitions of half a tile, in turn; then of a tile, by tickets */
};
static_assert(REDUCE_MIDDLE_BYTES / (VSCAN__TILE_FLOAT * (int)sizeof(float) / 2) <=
                  VSCAN__SMALL_WORDS,
              "words for half tiles");

/* Warps for a vector, dealt to so many blocks. */
template <class Pair, int Rows>
static int reduce_warps(const reduce_arguments &a, int blocks) {
    const int items = blocks * reduce_part_shape<Pair, Rows>::items;
    return a.n <= items ? 1 : (int)((a.n + items - 1) / items);
}

/* Where launches may overlap, blocks are there before the kernel before is done. */
template <class Kernel>
static cudaError_t start_reduce(const vscan__launch *launch, Kernel kernel, int blocks, int threads,
                                const reduce_arguments &a, bool cluster = false) {
    return start(kernel, blocks, threads, 0, launch->stream, a, launch->may_overlap,
                 cluster ? reduce_cluster : 1);
}

template <class Pair, int Rows, bool Alone>
static cudaError_t launch_reduce_block(const vscan__launch *launch, const reduce_arguments &a) {
    const int threads = Alone ? 32 : 32 * reduce_warps<Pair, Rows>(a, 1);
    const auto kernel = a.aligned ? reduce_block<Pair, Rows, true, Alone>
                                  : reduce_block<Pair, Rows, Pair::in_any_order, Alone>;
    return start_reduce(launch, kernel, 1, threads, a);
}

template <class Pair>
static cudaError_t launch_reduce_blocks(const vscan__launch *launch, const reduce_arguments &a) {
    return start_reduce(launch, reduce_blocks<Pair>, reduce_cluster,
                        32 * reduce_warps<Pair, reduce_block_rows>(a, reduce_cluster), a, true);
}

template <class Pair, int Rows, bool Tickets>
static cudaError_t launch_reduce_large(const vscan__launch *launch, const reduce_arguments &a) {
    using shape = reduce_partition<Pair, Rows>;
    const int64_t partitions = (a.body_n + shape::items - 1) / shape::items;
    const int64_t resident = (int64_t)reduce_resident * launch->multiprocessors - 1;
    const int blocks = (int)(partitions < resident ? partitions : resident) + 1;
    return start_reduce(launch, reduce_large<Pair, Rows, Tickets>, blocks, shape::threads, a);
}

template <class Pair>
static cudaError_t launch_reduce(const vscan__launch *launch, const vscan__scan *scan) {
    using T = typename Pair::T;
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

    const int64_t bytes = n * (int64_t)sizeof(T);
    const bool clusters = launch->shared_memory > 0; /* they came with bulk copies */
    if (launch->large_from == 0)                     /* for tests */
        return launch_reduce_large<Pair, 8, true>(launch, a);
    if (bytes <= REDUCE_WARP_BYTES) return launch_reduce_block<Pair, 2, true>(launch, a);
    if (bytes <= REDUCE_LONG_WARP_BYTES) return launch_reduce_block<Pair, 4, true>(launch, a);
    if (bytes <= REDUCE_ROW_BYTES) return launch_reduce_block<Pair, 1, false>(launch, a);
    if (bytes <= (clusters ? REDUCE_BLOCK_BYTES : REDUCE_TILE_BYTES))
        return launch_reduce_block<Pair, reduce_block_rows, false>(launch, a);
    if (clusters && bytes <= REDUCE_CLUSTER_BYTES) return launch_reduce_blocks<Pair>(launch, a);
    if (bytes <= REDUCE_MIDDLE_BYTES) return launch_reduce_large<Pair, 4, false>(launch, a);
    return launch_reduce_large<Pair, 8, true>(launch, a);
}

} /* namespace vscan */

#endif
