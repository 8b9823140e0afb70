/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reductions of vectors of up to 512 KiB by one warp, one block or one cluster of blocks. Each warp
 * reduces one part. In any order, the first warp adds the sums of the parts; in order, the first
 * warp of each block the sums of the parts' groups to those of blocks of level 1, and the first of
 * all these to the total. They find the sums in shared memory, behind a barrier of the block or an
 * mbarrier of the cluster. Nothing goes through status words.
 */
#pragma once

#include "machine/tma.cuh"
#include "reduce/parts.cuh"

namespace vscan {

/* The sums of the groups of a block that runs once, of at most 32 warps. */
template <class Pair, int Loads>
struct block_groups {
    using U = typename Pair::U;
    static constexpr int of_part = reduce_part_shape<Pair, Loads>::groups;
    static constexpr int level_1 = nested<typename Pair::In>::groups;
    static constexpr int blocks = 32 * of_part / level_1; /* of level 1 */
    nested_sums<U, level_1, blocks> sums;

    DEVICE U *of_warp(int warp) { return sums.at(warp * of_part); }

    /* By the first warp: the sum of the lanes' sums, of `count` blocks. */
    static DEVICE U add_up(U sum, int count) {
        constexpr int some = blocks < 8 ? blocks : 8;
        U all = add_lanes<Pair, some - 1>(__shfl_sync(warp_mask, sum, 0), sum, 1);
        UNROLL_FOR (int first = some; first < blocks; first += some)
            if (first < count) all = add_lanes<Pair, some>(all, sum, first);
        return all;
    }

    /* By the first warp, when all groups are there: the sum of block `lane` of `count`. No branch,
       all lanes read. */
    DEVICE U sum(int lane, int count) const {
        const U sum = sums.template sum<Pair>(lane % blocks);
        return lane < count ? sum : (U)Pair::identity;
    }
};

/*
 * One block of at most 32 warps, each with Loads warp loads; at most a tile. In order it has warps
 * for whole blocks of level 1. Alone: one warp. One: one block of level 1, in order. A small kernel
 * runs each instruction once, so its time is mostly instruction fetches: few instructions, no
 * branches.
 */
template <class Pair, int Loads, bool Aligned, bool Alone, bool One = false>
__global__ void __launch_bounds__(Alone ? 32 : 1024, 1)
    reduce_block(const __grid_constant__ reduce_arguments a) {
    using U = typename Pair::U;
    using shape = reduce_part_shape<Pair, Loads>;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int first = warp * shape::items;
    grid_dependency_wait();
    finish<Pair> f;
    using I = typename reduce_position<!Pair::in_any_order>::type;
    const auto load_more = [&] { f.template load<I>(a, lane, Alone || warp == 0); };
    U sum;
    if constexpr (Pair::in_any_order) {
        sum = sum_part<Pair, Loads, false, Aligned, true>(a, first, lane, nullptr, load_more);
        const U rest = warp == 0 ? f.rest(a, lane) : Pair::identity;
        sum = over_lanes<Pair>::sum(Pair::combine(sum, rest));
        if constexpr (!Alone) {
            __shared__ part_sums<U, 4> part_sums_here;
            part_sums<U, 4> &parts = address_once(part_sums_here);
            if (lane == 0) *parts.at(warp) = sum;
            if (warp == 0 && lane >= (int)blockDim.x / 32) *parts.at(lane) = Pair::identity;
            __syncthreads();
            if (warp != 0) return;
            sum = parts.template sum_eight<Pair>(lane % 4);
            sum = across<Pair>(sum, 1);
            sum = across<Pair>(sum, 2);
        }
    } else if constexpr (Alone) {
        __shared__ nested_sums<U, shape::groups, 1> groups;
        sum_part<Pair, Loads, false, Aligned, true>(a, 0, lane, groups.at(0), load_more);
        const U rest = f.sum_rest(a, lane);
        __syncwarp();
        sum = Pair::combine(groups.template sum<Pair>(0), rest);
    } else {
        using groups_of = block_groups<Pair, Loads>;
        __shared__ groups_of groups_here;
        groups_of &groups = address_once(groups_here);
        sum_part<Pair, Loads, false, Aligned, true>(a, first, lane, groups.of_warp(warp),
                                                    load_more);
        U rest = Pair::identity;
        if (warp == 0 && a.outside > 0) rest = f.sum_rest(a, lane);
        __syncthreads();
        if (warp != 0) return;
        if constexpr (One) {
            sum = Pair::combine(groups.sums.template sum<Pair>(0), rest);
        } else {
            const int blocks = (int)(a.n - 1) / VSCAN__LEVEL_1 + 1;
            sum = groups.sum(lane, blocks);
            if (lane == blocks - 1) sum = Pair::combine(sum, rest);
            sum = groups_of::add_up(sum, blocks);
        }
    }
    if (threadIdx.x == 0)
        put_total<Pair>(a, Pair::out(Pair::combine(f.initial(a), sum), a.transform));
}

#ifdef VSCAN__TMA
/* By each block of a cluster, at its begin: the first one's barrier is then known to all others. */
static DEVICE void begin_cluster(uint64_t *barrier, bool first_thread) {
    if (first_thread) {
        barrier_init(barrier, 1);
        fence_for_cluster();
    }
    __syncthreads();
    cluster_arrive();
}
#endif

/*
 * One cluster: as reduce_block, but the sums of all parts, or of all blocks of level 1, go to the
 * shared memory of the first block. There an mbarrier counts them, and the first warp adds them.
 * (With a cluster barrier instead, each thread would wait for a fence of all its memory.) In order,
 * each block has whole blocks of level 1, which makes a few warps more.
 */
template <class Pair>
__global__ void __launch_bounds__(1024, 1)
    reduce_blocks(const __grid_constant__ reduce_arguments a) {
#ifdef VSCAN__TMA
    using T = typename Pair::T;
    using U = typename Pair::U;
    using shape = reduce_part_shape<Pair, reduce_block_loads>;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
    const bool finisher = warp == 0 && blockIdx.x == 0;
    finish<Pair> f;
    if constexpr (Pair::in_any_order) {
        static_assert(32 * shape::items == shape::tile, "a tile is the eights of four lanes");
        static_assert(reduce_cluster == 8, "as many eights as a block has warps");
        __shared__ part_sums<U, 32> part_sums_here;
        part_sums<U, 32> &parts = address_once(part_sums_here);
        __shared__ uint64_t all_arrived;
        begin_cluster(&all_arrived, finisher && lane == 0);
        const int part = (int)blockIdx.x * warps + warp;
        grid_dependency_wait();
        U sum = sum_any_part<Pair, reduce_block_loads, false, true>(
            a, part * shape::items, lane, nullptr, [&] { f.load(a, lane, finisher); });
        const U rest = finisher ? f.rest(a, lane) : Pair::identity;
        sum = over_lanes<Pair>::sum(Pair::combine(sum, rest));
        cluster_wait();
        if (finisher && lane == 0)
            barrier_arrive_expecting(&all_arrived, (uint32_t)(reduce_cluster * warps * sizeof(U)));
        if (lane == 0) send_to_first_block(parts.at(part), sum, &all_arrived);
        if (!finisher) return;
        barrier_wait(&all_arrived, 0);
        __syncwarp();
        U p = f.initial(a);
        sum = lane < warps ? parts.template sum_eight<Pair>(lane) : Pair::identity;
        p = Pair::combine(p, over_lanes<Pair>::sum(sum));
        if (lane == 0) put_total<Pair>(a, Pair::out(p, a.transform));
    } else {
        using groups_of = block_groups<Pair, reduce_block_loads>;
        constexpr int of_tile = nested<T>::blocks;
        __shared__ groups_of groups_here;
        groups_of &groups = address_once(groups_here);
        using blocks_of = nested_sums<U, of_tile, reduce_cluster>;
        __shared__ blocks_of blocks_here;
        blocks_of &blocks = address_once(blocks_here);
        const int count = warps * groups_of::of_part / groups_of::level_1; /* of this block */
        const int first = (int)blockIdx.x * count, all = reduce_cluster * count;
        /* the last tile has nothing to add where no block of level 1 arrives */
        if (finisher && lane < (of_tile - all % of_tile) % of_tile)
            *blocks.at(all + lane) = Pair::identity;
        __shared__ uint64_t all_arrived;
        begin_cluster(&all_arrived, finisher && lane == 0);
        const int part = (int)blockIdx.x * warps + warp;
        grid_dependency_wait();
        sum_any_part<Pair, reduce_block_loads, false, true>(
            a, part * shape::items, lane, groups.of_warp(warp), [&] {
                f.template load_rest<int>(a, lane, warp == 0);
                f.load_initial(a, finisher);
            });
        U rest = Pair::identity;
        if (warp == 0 && a.outside > 0) rest = f.sum_rest(a, lane);
        __syncthreads();
        cluster_wait();
        if (warp != 0) return;
        if (finisher && lane == 0)
            barrier_arrive_expecting(&all_arrived, (uint32_t)(all * sizeof(U)));
        U sum = groups.sum(lane, count);
        if (first + lane == (int)(a.n - 1) / VSCAN__LEVEL_1) sum = Pair::combine(sum, rest);
        if (lane < count) send_to_first_block(blocks.at(first + lane), sum, &all_arrived);
        if (!finisher) return;
        barrier_wait(&all_arrived, 0);
        __syncwarp();

        sum = lane * of_tile < all ? blocks.template sum<Pair>(lane) : Pair::identity;
        before_tile<Pair> before = before_tile<Pair>::from(f.initial(a));
        UNROLL_FOR (int t = 0; t < reduce_cluster; ++t)
            before.pass(t, __shfl_sync(warp_mask, sum, t));
        if (lane == 0) *(T *)a.total = Pair::out(before.sum(Pair::identity), a.transform);
    }
#endif
}

} /* namespace vscan */
