/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What scan/carried/carried.cuh does above the groups, in the order of lib/core/order.h. Pairs that any
 * order suits are added in this one, too.
 *
 * A tile has as many status words as blocks of level 1. The partitions but its last one publish
 * X1 at the end of each of their blocks. The last one waits for these, as it must anyway, and
 * publishes X2 at the end of the tile in the place of its last block: later tiles read nothing
 * else. It waits for partitions of its own tile alone, which wait for nobody before they publish,
 * so all waits end.
 */
#pragma once

#include "order/level_1.cuh"
#include "scan/partition.cuh"

namespace vscan {

/* What precedes each group of a partition. Before: what precedes a tile, and how one is passed. */
template <class Pair, bool Segmented, class Before = before_tile<Pair>>
struct before_partition {
    using U = typename Pair::U;
    static constexpr int blocks = partition_shape<Pair>::items / VSCAN__LEVEL_1,
                         tile_blocks = nested<U>::blocks, groups = nested<U>::groups;
    static_assert(blocks * VSCAN__PARTITIONS_A_TILE == tile_blocks, "partitions make up tiles");
    struct shared_t {
        group_sums<Pair, Segmented, blocks> groups;
        level_1_blocks<Pair, Segmented, blocks> own;
        U r2[blocks];
        uint32_t cut[blocks]; /* whether there are heads in the tile before the block */
        Before before;
        int64_t heads; /* head flags before the partition */
    };
    /* the same in all lanes of the first warp */
    U initial;
    Before before;
    int64_t tile;  /* the one that `before` precedes */
    int64_t heads; /* head flags before it */

    DEVICE explicit before_partition(U initial_)
        : initial(initial_), before(Before::from(initial_)), tile(0), heads(0) {}

    /* Adds up the groups, publishes, looks back. By the first warp. */
    DEVICE void find(shared_t &shared, const partition_place<int64_t> &place, int lane) {
        constexpr int parts = VSCAN__PARTITIONS_A_TILE;
        const lookback_memory &memory = place.lookback;
        const int64_t own_tile = place.number / parts, first_word = own_tile * tile_blocks;
        const int mine = (int)(place.number % parts), first = mine * blocks;

        U sum = Pair::identity;
        uint32_t count = 0;
        add_groups<Pair, Segmented>(shared.own, shared.groups, place.counting, lane, true,
                                    [&](U sum_of_block, uint32_t heads_of_block) {
                                        sum = sum_of_block;
                                        count = heads_of_block;
                                    });
        if (!place.last) {
            jitter(memory, place.epoch, place.number, jitter_publish);
            if (place.carry) __threadfence();
            if (mine < parts - 1 && lane < blocks)
                publish<U>(memory, place.epoch, first_word + first + lane, sum,
                           count & head_count_mask);
        }
        jitter(memory, place.epoch, place.number, jitter_wait);

        /* ---- The own tile, a lane each block ------------------------------------------------- */
        U a[1];
        uint32_t h[1];
        wait_for_all<1>(memory, place.epoch, (U)Pair::identity, a, h, first_word + lane,
                        first_word + first);
        __syncwarp();
        const U own_sum = __shfl_sync(warp_mask, sum, lane - first);
        const bool is_own = lane >= first && lane < first + blocks;
        if (is_own) a[0] = own_sum;
        uint32_t all = 0, before_own = 0;
        unsigned any = 0;
        if (Segmented) {
            before_own = warp_sum(h[0]);
            const uint32_t own_count = __shfl_sync(warp_mask, count, lane - first);
            if (is_own) h[0] = own_count;
            any = __ballot_sync(warp_mask, h[0] != 0);
            all = warp_sum(h[0]);
        }
        U upto = Pair::identity, r2 = Pair::identity;
        UNROLL_FOR (int k = 0; k < tile_blocks; ++k) {
            if (lane == k) r2 = upto;
            const U next = __shfl_sync(warp_mask, a[0], k);
            upto = Pair::combine(Segmented && any & 1u << k ? Pair::identity : upto, next);
        }
        if (is_own) {
            shared.r2[lane - first] = r2;
            shared.cut[lane - first] = any & ((1u << lane) - 1);
        }
        if (mine == parts - 1) {
            if (place.carry) __threadfence(); /* who sees this word has seen the others' */
            if (lane == 0)
                publish<U>(memory, place.epoch, first_word + tile_blocks - 1, upto,
                           all & head_count_mask);
        }

        /* ---- The tiles before it ------------------------------------------------------------- */
        while (tile < own_tile) {
            const int tiles = own_tile - tile < 32 ? (int)(own_tile - tile) : 32;
            wait_for_all<32>(memory, place.epoch, (U)Pair::identity, a, h,
                             (tile + lane + 1) * tile_blocks - 1, own_tile * tile_blocks);
            __syncwarp();
            const unsigned cut = Segmented ? __ballot_sync(warp_mask, h[0] != 0) : 0;
            for (int k = 0; k < tiles; ++k) {
                const U next = __shfl_sync(warp_mask, a[0], k);
                if (Segmented && cut & 1u << k) before.cut(initial);
                before.pass(tile + k, next);
            }
            if (Segmented) heads += warp_sum(h[0]);
            tile += tiles;
        }
        if (lane != 0) return;
        shared.before = before;
        shared.heads = heads + before_own;
    }

    DEVICE int64_t heads_before(const shared_t &shared) const { return shared.heads; }
    DEVICE before_group<Pair> of_group(shared_t &shared, int group, int, bool counting) const {
        const int block = group / groups, g = group % groups;
        before_group<Pair> to = {shared.before, shared.r2[block], shared.own.r1[block][g], initial,
                                 0};
        if (Segmented) {
            const bool in_block = shared.own.heads[block] & ((1u << g) - 1);
            if (in_block) to.r2 = Pair::identity;
            if (in_block || shared.cut[block]) to.tile.cut(initial);
            if (counting) to.count = shared.own.counts[block][g];
        }
        return to;
    }
};

} /* namespace vscan */
