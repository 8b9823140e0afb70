/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reduction warps of scan/large/large.cuh. A tile has 16 parts of 32 lines; a reduction warp sums the
 * groups of two of them.
 *
 * The sums go to shared memory. When all are there, reduction warp 0 alone goes on. Lane b adds the 32
 * sums of block b of level 1 from left to right, and leaves R1 of each group in the place of its sum.
 * Serial additions in one lane take about as long as a network of shuffles, and far fewer
 * instructions. Then lane b adds the sums of the blocks before block b, which is R2; one more lane
 * adds all, the tile's aggregate, and publishes it. All reduction warps arrive at groups_ready: each
 * has written which of its groups have heads.
 */
#pragma once

#include "scan/large/roles.cuh"

namespace vscan {

#ifdef VSCAN__TMA

template <class Pair, bool Segmented>
struct reduce_warps : large_role<Pair, Segmented> {
    using common = large_role<Pair, Segmented>;
    using T = typename Pair::T;
    using U = typename Pair::U;
    using shape = large_shape<Pair, Segmented>;
    static constexpr int R = shape::line_items;
    static constexpr int unrolled = Segmented ? 1 : shape::sums; /* registers are left */
    using common::a, common::carry, common::group_heads, common::hand_back, common::in_memory,
        common::lane, common::shared, common::slot_of, common::stage_of, common::tile_of,
        common::tiles, common::wait_loaded;

    /* Where the elements of a line take half of the registers, values that depend on an index
       are computed anew for each tile; they would be spilled. */
    static DEVICE int again(int number) { return R == 32 ? made_here(number) : number; }

    static __device__ void sync_reduction_warps() { sync_warps<1, 32 * shape::reduction_warps>(); }

    /* The sum of the elements of a line that are present, by the balanced tree; x in memory
       order. Only elements that precede others in scan order may be absent. If all are, the
       result is undefined. */
    template <bool Backward>
    static DEVICE U sum_present(U (&x)[R], uint32_t present) {
        UNROLL_FOR (int half = 1; half < R; half *= 2)
            UNROLL_FOR (int j = 0; j < R; j += 2 * half) {
                /* The half that is later in scan order has the sum. The other half has elements
                   if its last one in scan order is present. */
                const int later = Backward ? j : j + 2 * half - 1;
                const int other = Backward ? j + half : j + half - 1;
                combine_where<Pair>(present & 1u << other, x[other], x[later]);
            }
        return x[Backward ? 0 : R - 1];
    }

    /*
     * The sum of a lane's group, in both lanes of a group of two. Segmented: from the group's last
     * head on. Scanning backward does not change the balanced tree; only left and right are
     * exchanged.
     */
    __device__ U sum_group(int slot, int stage, int part) const {
        const int lane = again(common::lane), line = part * 32 + lane;
        U x[R], sum;
        this->read(x, slot, in_memory(line, shape::lines), false);
        if (Segmented) {
            const uint32_t heads = group_heads(stage, line / shape::group_lanes);
            const uint32_t last = heads ? 0x80000000u >> __clz(heads) : 0;
            const int shift = line % shape::group_lanes * R;
            uint32_t present = (heads ? ~(last - 1) : ~0u) >> shift;
            if (a.scan.backward) present = __brev(present) >> (32 - R); /* in memory order */
            if (a.scan.backward)
                sum = sum_present<true>(x, present);
            else
                sum = sum_present<false>(x, present);
            if (shape::group_lanes > 1 && (present & ((2u << (R - 1)) - 1)) == 0)
                sum = Pair::identity;
        } else {
            sum = sum_items<Pair>(x);
        }
        if (shape::group_lanes == 1) return sum;
        return Pair::combine(sum, __shfl_xor_sync(warp_mask, sum, 1));
    }

    __device__ void sum(int warp) const {
        for (int k = 0;; ++k) {
            if (tile_of(k) >= tiles()) return;
            sum_tile(warp, k);
            shared.groups_ready.arrive(k);
        }
    }

    /* Writes down what is known of the heads in a part. */
    __device__ void note_heads(int stage, int part, int lane) const {
        const int group = part * shape::part_groups + lane;
        const uint32_t heads = lane < shape::part_groups ? group_heads(stage, group) : 0;
        const uint32_t any = __ballot_sync(warp_mask, heads != 0);
        const uint32_t count = __reduce_add_sync(warp_mask, (uint32_t)__popc(heads));
        if (lane == 0) {
            shared.part_heads[stage][part] = any;
            shared.part_count[stage][part] = count;
        }
    }

    /* For the sum of a group of a call's first tile that precedes the carry's group: see
       scan/carried/large.cuh. */
    __device__ void stand_in(int group, U &sum) const {
        const int skew = (int)shared.carry.skew, end = skew / VSCAN__GROUP;
        if (group >= end) return;
        sum = Pair::identity;
        if (group == 0) sum = element_of<T>(present(shared.carry.old).r2);
        if (group == skew / VSCAN__LEVEL_1 * shape::block_groups)
            sum = element_of<T>(present(shared.carry.old).r1);
    }

    __device__ void sum_tile(int warp, int k) const {
        const int slot = slot_of(k), stage = stage_of(k);
        /* first what needs only heads: elements may still be in flight */
        if (Segmented) {
            shared.heads_ready.wait(k);
            UNROLL_FOR (int s = 0; s < shape::sums; ++s)
                note_heads(stage, s * shape::reduction_warps + again(warp), again(lane));
        }
#pragma unroll unrolled
        for (int s = 0; s < shape::sums; ++s) {
            const int part = s * shape::reduction_warps + again(warp),
                      q = part / shape::quarter_parts, line = part * 32 + again(lane);
            wait_loaded(k, q);
            U sum = sum_group(slot, stage, part);
            hand_back(k, q);
            if constexpr (shape::resumed)
                if (shared.taken.known(k) == 0) stand_in(line / shape::group_lanes, sum);
            if (line % shape::group_lanes == 0)
                shared.r1[stage][shape::index_of_group(line / shape::group_lanes)] = sum;
        }
        sync_reduction_warps();
        if (again(warp) == 0) finish_tile(stage, shared.taken.known(k));
    }

    /* Group sums become R1, by the lane of a block of level 1. heads, bit g: in group g. Returns
       the sum of the block, from its last head on. */
    DEVICE U add_groups(int stage, int block, uint32_t heads) const {
        constexpr int V = 16 / (int)sizeof(U), vectors = shape::block_groups / V;
        constexpr int batch = 8; /* as many vectors as there are registers for */
        char *const sums = (char *)shared.r1[stage];
        const int from = made_here(shape::index_of_group(block * shape::block_groups) *
                                   (int)sizeof(U)); /* of the first vector, in bytes */
        U r1 = Pair::identity;
        UNROLL_FOR (int first = 0; first < vectors; first += batch) {
            U x[batch * V];
            UNROLL_FOR (int c = 0; c < batch; ++c) {
                const int4 quad = *(const int4 *)(sums + (from ^ 16 * (first + c)));
                memcpy(x + c * V, &quad, 16);
            }
            UNROLL_FOR (int j = 0; j < batch * V; ++j) {
                U x1 = x[j];
                combine_where<Pair>(!Segmented || !(heads & 1u << (first * V + j)), r1, x1);
                x[j] = r1;
                r1 = x1;
            }
            UNROLL_FOR (int c = 0; c < batch; ++c) {
                int4 quad;
                memcpy(&quad, x + c * V, 16);
                *(int4 *)(sums + (from ^ 16 * (first + c))) = quad;
            }
        }
        return r1;
    }

    /* When all groups have been summed, by reduction warp 0: R1, R2, and the tile's aggregate,
       which it publishes. */
    __device__ void finish_tile(int stage, int64_t tile) const {
        constexpr int blocks = shape::blocks, V = 16 / (int)sizeof(U);
        const int lane = again(common::lane);
        uint32_t heads = 0, any = 0, count = 0; /* any, bit b: a head in block b */
        if (Segmented) {
            heads = lane < blocks ? shared.block_heads(stage, lane) : 0;
            any = __ballot_sync(warp_mask, heads != 0);
        }
        if (lane < blocks) shared.sums[stage][lane] = add_groups(stage, lane, heads);
        __syncwarp();
        if (Segmented)
            count = __reduce_add_sync(warp_mask,
                                      lane < shape::parts ? shared.part_count[stage][lane] : 0u);
        /* bit b: block b is before this lane's block, and none after it up to there has a head */
        const uint32_t before = lane <= blocks ? (1u << lane) - 1 : 0, heads_before = any & before;
        const uint32_t present =
            heads_before ? before & ~0u << (31 - __clz((int)heads_before)) : before;
        U r2 = Pair::identity;
        UNROLL_FOR (int q = 0; q < blocks / V; ++q) {
            U x2[V];
            const int4 quad = ((const int4 *)shared.sums[stage])[q];
            memcpy(x2, &quad, 16);
            UNROLL_FOR (int j = 0; j < V; ++j) {
                if (!(present & 1u << (q * V + j))) continue;
                r2 = Pair::combine(r2, x2[j]);
                changed_here(r2);
            }
        }
        if (carry()) __threadfence();
        if (lane == blocks) {
            jitter(a.lookback, shared.epoch, tile, jitter_publish);
            publish<U>(a.lookback, shared.epoch, tile, r2, count);
        }
        if (lane < blocks) shared.r2[stage][lane] = r2;
        if (Segmented && lane == (any ? __ffs((int)any) - 1 : 0))
            shared.first_group[stage] =
                any ? lane * shape::block_groups + __ffs((int)heads) - 1 : nested<T>::tile_groups;
    }
};

#endif

} /* namespace vscan */
