/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reductions of vectors of up to 512 KiB by one warp, one block or one cluster of blocks. Each warp
 * reduces one part; the first warp adds the sums of the parts, which it finds in shared memory,
 * behind a barrier of the block or an mbarrier of the cluster. Nothing goes through status words.
 */
#ifndef VSCAN_REDUCE_SMALL_CUH
#define VSCAN_REDUCE_SMALL_CUH

#include "common/tma.cuh"
#include "reduce/parts.cuh"

namespace vscan {

/*
 * One block of at most 32 warps, each with Loads warp loads; at most a tile. Alone: one warp. A
 * small kernel runs each instruction once, so its time is mostly instruction fetches: few
 * instructions, no branches.
 */
template <class Pair, int Loads, bool Aligned, bool Alone>
__global__ void __launch_bounds__(Alone ? 32 : 1024, 1)
    reduce_block(const __grid_constant__ reduce_arguments a) {
    using T = typename Pair::T;
    using U = typename Pair::U;
    constexpr reduce_role role = Alone ? reduce_alone : reduce_first;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int first = warp * reduce_part_shape<Pair, Loads>::items;
    wait_for_kernel_before();
    finish<Pair> f;
    U sum = sum_part<Pair, Loads, false, Aligned, role>(a, first, lane, f, warp == 0);
    U rest = warp == 0 ? f.rest(a, lane) : Pair::identity;
    if constexpr (Pair::in_any_order) sum = over_lanes<Pair>::sum(Pair::combine(sum, rest));
    if constexpr (!Alone) {
        __shared__ part_sums<U, 4> part_sums_here;
        part_sums<U, 4> &parts = addressed_once(part_sums_here);
        if (lane == 0) *parts.at(warp) = sum;
        if (warp == 0 && lane >= (int)blockDim.x / 32) *parts.at(lane) = Pair::identity;
        if (!Pair::in_any_order && warp == 0 && a.outside > 0) rest = over_lanes<Pair>::sum(rest);
        __syncthreads();
        if (warp != 0) return;
        sum = parts.template sum_eight<Pair>(lane % 4);
        sum = across<Pair>(sum, 1);
        sum = across<Pair>(sum, 2);
        if constexpr (!Pair::in_any_order) sum = Pair::combine(sum, rest);
    }
    if (threadIdx.x == 0) *(T *)a.total = Pair::out(Pair::combine(f.initial(a), sum));
}

/*
 * One cluster: as reduce_block, but the sums of all parts go to the shared memory of the first
 * block. There an mbarrier counts them, and the first warp adds them up to tiles and the tiles from
 * left to right. (With a cluster barrier instead, each thread would wait for a fence of all its
 * memory.)
 */
template <class Pair>
__global__ void __launch_bounds__(1024, 1)
    reduce_blocks(const __grid_constant__ reduce_arguments a) {
#ifdef VSCAN__TMA
    using T = typename Pair::T;
    using U = typename Pair::U;
    using shape = reduce_part_shape<Pair, reduce_block_loads>;
    static_assert(32 * shape::items == shape::tile, "a tile is the eights of four lanes");
    static_assert(reduce_cluster == 8, "as many eights as a block has warps");
    __shared__ part_sums<U, 32> part_sums_here;
    part_sums<U, 32> &parts = addressed_once(part_sums_here);
    __shared__ uint64_t all_arrived;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
    const bool finisher = warp == 0 && blockIdx.x == 0;
    if (finisher && lane == 0) {
        barrier_init(&all_arrived, 1);
        fence_for_cluster();
    }
    __syncthreads();
    cluster_arrive();
    const int part = (int)blockIdx.x * warps + warp;
    wait_for_kernel_before();
    finish<Pair> f;
    U sum = sum_any_part<Pair, reduce_block_loads, false, reduce_first>(a, part * shape::items,
                                                                        lane, f, finisher);
    U rest = finisher ? f.rest(a, lane) : Pair::identity;
    if constexpr (Pair::in_any_order) sum = over_lanes<Pair>::sum(Pair::combine(sum, rest));
    cluster_wait();
    if (finisher && lane == 0)
        barrier_arrive_expecting(&all_arrived, (uint32_t)(reduce_cluster * warps * sizeof(U)));
    if (lane == 0) send_to_first_block(parts.at(part), sum, &all_arrived);
    if (!finisher) return;
    if (!Pair::in_any_order && a.outside > 0) rest = over_lanes<Pair>::sum(rest);
    barrier_wait(&all_arrived, 0);
    __syncwarp();

    U p = f.initial(a);
    sum = lane < warps ? parts.template sum_eight<Pair>(lane) : Pair::identity;
    if constexpr (Pair::in_any_order) {
        p = Pair::combine(p, over_lanes<Pair>::sum(sum));
    } else {
        sum = across<Pair>(sum, 1);
        sum = across<Pair>(sum, 2); /* of tile lane / 4 */
        if (lane / 4 == (int)((a.n - 1) / shape::tile)) sum = Pair::combine(sum, rest);
#pragma unroll
        for (int t = 0; t < reduce_cluster; ++t)
            p = Pair::combine(p, __shfl_sync(warp_mask, sum, 4 * t));
    }
    if (lane == 0) *(T *)a.total = Pair::out(p);
#endif
}

} /* namespace vscan */

#endif
