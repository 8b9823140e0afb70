/* SPDX-License-Identifier: Apache-2.0 */
/* What scan/portable/portable.cuh does above the groups: adds up a tile, publishes, looks back. */
#pragma once

#include "order/level_1.cuh"
#include "scan/partition.cuh"
#include "scan/pass_tiles.cuh"
#include "scan/tuning.cuh"

namespace vscan {

/* What precedes each group of the tile in hand. */
template <class Pair, bool Segmented>
struct before_in_hand {
    using U = typename Pair::U;
    static constexpr int blocks = nested<U>::blocks, groups = nested<U>::groups,
                         each = portable_lookback_words<U>; /* of a lane at a time */
    struct shared_t {
        group_sums<Pair, Segmented, blocks> groups;
        /* in the look-back: sums that are passed, what has been read */
        alignas(16) U aggregates[32];
        U read[each][32];
        uint32_t read_heads[Segmented ? each : 1][32];
        before_tile<Pair> before; /* precedes the tile that was looked back to */
        int64_t heads;            /* head flags before it */
        int tile;                 /* its number */
    };
    struct sums_t {
        level_1_blocks<Pair, Segmented, blocks> own;
        U r2[blocks];
        uint32_t cut[blocks]; /* whether there are heads in the tile before the block */
    };
    U initial;
    sums_t &sums;

    /* Adds up the groups, and publishes. By a warp. */
    DEVICE void sum_tile(shared_t &shared, const partition_place<int> &place, int lane) const {
        U sum = Pair::identity;
        uint32_t count = 0;
        add_groups<Pair, Segmented>(sums.own, shared.groups, place.counting, lane, true,
                                    [&](U sum_of_block, uint32_t heads_of_block) {
                                        sum = sum_of_block;
                                        count = heads_of_block;
                                    });
        const unsigned any = Segmented ? __ballot_sync(warp_mask, count != 0) : 0;
        U upto = Pair::identity, r2 = Pair::identity;
        UNROLL_FOR (int k = 0; k < blocks; ++k) {
            if (lane == k) r2 = upto;
            const U next = __shfl_sync(warp_mask, sum, k);
            upto = Pair::combine(Segmented && any & 1u << k ? Pair::identity : upto, next);
        }
        if (!place.last) {
            const uint32_t all = Segmented ? warp_sum(count) : 0;
            jitter(place.lookback, place.epoch, place.number, jitter_publish);
            if (place.carry) __threadfence();
            if (lane == 0)
                publish<U>(place.lookback, place.epoch, place.number, upto, all & head_count_mask);
        }
        if (lane >= blocks) return;
        sums.r2[lane] = r2;
        sums.cut[lane] = any & ((1u << lane) - 1);
    }

    /*
     * Passes the tiles since the last one that the block looked back to. By another warp. All loads are issued
     * at once; then 32 sums at a time are waited for. The loop is not unrolled: there are no registers for
     * that, and code is short.
     */
    DEVICE void look_back(shared_t &shared, const partition_place<int> &place, int lane) const {
        const int own = place.number;
        jitter(place.lookback, place.epoch, own, jitter_wait);
        int tile = shared.tile;
        U r3 = Pair::in_any_order ? Pair::identity : shared.before.r3, r4 = shared.before.r4;
        int64_t heads_before = 0;
#pragma unroll 1
        while (tile < own) {
            U a[each];
            uint32_t h[each], missing = 0, count = 0;
            UNROLL_FOR (int e = 0; e < each; ++e) {
                const int at = tile + 32 * e + lane;
                a[e] = Pair::identity;
                h[e] = 0;
                if (at < own && !try_read<U>(place.lookback, place.epoch, at, &a[e], &h[e]))
                    missing |= 1u << e;
            }
            UNROLL_FOR (int e = 0; e < each; ++e) {
                shared.read[e][lane] = a[e];
                if (Segmented) shared.read_heads[e][lane] = h[e];
            }
            ROLLED_FOR (int e = 0; e < each && tile < own; ++e) {
                U sum = shared.read[e][lane];
                uint32_t heads = Segmented ? shared.read_heads[e][lane] : 0;
                bool ready = !(missing >> e & 1);
                while (!__all_sync(warp_mask, ready))
                    if (!ready)
                        ready = try_read<U>(place.lookback, place.epoch, tile + lane, &sum, &heads);
                if (Segmented) { /* what precedes the last tile with a head does not matter */
                    const unsigned cut = __ballot_sync(warp_mask, heads != 0);
                    count += heads;
                    if (cut) {
                        if (lane < 31 - __clz((int)cut)) sum = Pair::identity;
                        r3 = Pair::identity;
                        r4 = initial;
                    }
                }
                const int tiles = own - tile < 32 ? own - tile : 32;
                pass_tiles<Pair>(r3, r4, sum, (uint32_t)tile, tiles, shared.aggregates, lane);
                tile += tiles;
            }
            if (Segmented) heads_before += warp_sum(count);
        }
        if (lane != 0) return;
        /* where any order suits, all is in r4 */
        shared.before = {r3, Pair::in_any_order ? Pair::combine(r4, r3) : r4};
        shared.heads += heads_before;
        shared.tile = own;
    }

    DEVICE int64_t heads_before(const shared_t &shared) const {
        return shared.heads;
    }
    DEVICE before_group<Pair> of_group(shared_t &shared, int group, int, bool counting) const {
        const int block = group / groups, g = group % groups;
        before_group<Pair> to = {shared.before, sums.r2[block], sums.own.r1[block][g], initial, 0};
        if (Segmented) {
            const bool in_block = sums.own.heads[block] & ((1u << g) - 1);
            if (in_block) to.r2 = Pair::identity;
            if (in_block || sums.cut[block]) to.tile.cut(initial);
            if (counting) to.count = sums.own.counts[block][g];
        }
        return to;
    }
};

} /* namespace vscan */
