/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What scan/small/small.cuh does above the groups for float and double plus where there is one block. Each
 * warp finds for itself what precedes its groups, without a barrier: a lane adds up the groups
 * before its own one in their block of level 1, and some lanes instead a whole earlier block.
 */
#pragma once

#include "order/level_1.cuh"
#include "scan/small/shape.cuh"

namespace vscan {

template <class Pair, bool Segmented, int Warps>
struct in_order_one_block {
    using U = typename Pair::U;
    using shape = small_shape<Pair, 1, Warps>;
    static constexpr int blocks = shape::items / VSCAN__LEVEL_1, groups = nested<U>::groups;
    struct shared_t {
        group_sums<Pair, Segmented, blocks> groups;
    };
    before_group<Pair> group;

    /* By all threads. */
    DEVICE void find(shared_t &shared, const partition_place<int> &place, U initial, bool) {
        const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
        const int first = warp * shape::warp_groups, block = first / groups;
        const int own = first % groups + lane / shape::group_lanes;
        group = {before_tile<Pair>::from(initial), Pair::identity, Pair::identity, initial, 0};

        uint32_t any[blocks] = {}, any_own = 0; /* bit g: heads in group g of a block */
        UNROLL_FOR (int b = 0; b < (Segmented ? blocks : 0); ++b) {
            if (b > block) break;
            const uint32_t heads = shared.groups.all_heads[b][lane];
            any[b] = __ballot_sync(warp_mask, heads != 0);
            if (b == block) any_own = any[b];
            if (!place.counting) continue;
            const uint32_t upto = warp_inclusive_sum(heads);
            group.count += b < block ? __shfl_sync(warp_mask, upto, 31)
                                     : __shfl_sync(warp_mask, upto - heads, own);
        }

        /* lane % 8 = b: earlier block b, if there is one; lane % 8 = 7: always the own one */
        static_assert(blocks < 8 && shape::group_lanes % 8 == 0, "a lane each block");
        const int role = lane % 8 < block ? lane % 8 : block;
        uint32_t take = role < block ? ~0u : (1u << own) - 1;
        uint32_t cuts = any_own;
        UNROLL_FOR (int b = 0; b < (Segmented ? blocks - 1 : 0); ++b)
            if (role == b) cuts = any[b];
        if (Segmented && (cuts & take)) take &= ~0u << (31 - __clz((int)(cuts & take)));
        /* by chunks, as many as there are groups; the next one is loaded ahead */
        U sum = Pair::identity;
        constexpr int wide = row_of<U, 1>::wide, quads = 4, chunk = quads * wide;
        packed<U, wide> next[quads];
        const auto load = [&](int from) {
            UNROLL_FOR (int q = 0; q < quads; ++q)
                next[q] = shared.groups.sums[role].quads[from / wide + q];
        };
        load(0);
        UNROLL_FOR (int g = 0; g < groups; g += chunk) {
            packed<U, wide> s[quads];
            memcpy(s, next, sizeof s);
            const bool last = g + chunk >= first + shape::warp_groups || g + chunk == groups;
            if (!last) load(g + chunk);
            UNROLL_FOR (int j = 0; j < chunk; ++j)
                if (take & 1u << (g + j)) sum = Pair::combine(sum, s[j / wide].value[j % wide]);
            if (last) break;
        }
        group.r1 = sum;
        if (block == 0) return;
        group.r1 = __shfl_sync(warp_mask, sum, lane | 7);
        UNROLL_FOR (int b = 0; b < blocks - 1; ++b) {
            if (b >= block) break;
            const U next = __shfl_sync(warp_mask, sum, b);
            group.r2 = Pair::combine(any[b] ? Pair::identity : group.r2, next);
        }
        if (Segmented && any_own & ((1u << own) - 1)) group.r2 = Pair::identity;
    }

    DEVICE uint32_t heads_before(const shared_t &) const { return 0; }
    DEVICE const before_group<Pair> &of_group(const shared_t &, int, int, bool) const {
        return group;
    }
};

} /* namespace vscan */
