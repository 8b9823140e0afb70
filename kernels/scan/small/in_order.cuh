/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What scan/small/small.cuh does for float and double plus above the groups, in the order of
 * lib/core/order.h.
 *
 * Blocks of level 1. A partition has 1, 2 or 4 of them. One warp, the one with the fewest
 * aggregates to wait for, adds up their groups, a lane each block: it reads the sums of the groups,
 * writes R1 of each, and publishes X1 at the end of the block, with its head flags, as an aggregate
 * of its own. (Where there is one block: scan/small/one_block.cuh.)
 *
 * The look-back. A thread reads aggregates by 16 bytes; what a warp has read at a time is 4 whole
 * tiles. It goes to shared memory, a row each tile, and one lane each row adds it up. What is not
 * before the partition counts as nothing, so the sum of the own tile's row is R2 of the partition,
 * and those of the rows before are added up to R3.
 *
 * Where values have head flags, a sum begins again at each of them.
 */
#pragma once

#include <type_traits>

#include "order/level_1.cuh"
#include "scan/small/shape.cuh"

namespace vscan {

template <class Pair, bool Segmented, int Loads, int Warps, class Before = before_tile<Pair>>
struct in_order_shared {
    using U = typename Pair::U;
    using shape = small_shape<Pair, Loads, Warps>;
    static constexpr int blocks = shape::items / VSCAN__LEVEL_1; /* of level 1 */
    static constexpr int each = aggregates_each<U>;
    static constexpr int polls = /* of a thread, `each` aggregates each */
        (shape::max_partitions * blocks - 1) / (shape::threads * each) + 1;
    static constexpr int tiles = polls * shape::threads * each / nested<U>::blocks;
    static constexpr bool all_warps_add = tiles <= 32; /* tiles, each warp for itself */

    group_sums<Pair, Segmented, blocks> groups;
    level_1_blocks<Pair, Segmented, blocks> own;
    /* of the earlier partitions */
    row_of<U, nested<U>::blocks> rows[tiles];
    __align__(16) uint8_t row_heads[tiles][nested<U>::blocks]; /* whether there are any */
    row_of<U, tiles> sums;                                     /* of tiles before the own one */
    uint32_t tile_heads[tiles];
    U r2;
    uint32_t r2_heads;
    uint32_t counts[Warps];
    Before before;
};

/* Passes the `own` tiles before the partition's, whose sums are in shared memory. By a warp. */
template <class Pair, bool Segmented, class Shared, class Before>
static DEVICE void pass_all_tiles(Before &before, const Shared &shared, int own, int lane) {
    using U = typename Pair::U;
    int last = 0; /* tile with a head */
    UNROLL_FOR (int t = 0; t < (Segmented ? Shared::tiles : 0); t += 32) {
        const bool head = t + lane < Shared::tiles && shared.tile_heads[t + lane];
        const unsigned tile_any = __ballot_sync(warp_mask, head);
        if (tile_any) last = t + 31 - __clz((int)tile_any);
    }
    constexpr int wide = row_of<U, 1>::wide, step = 16;
    ROLLED_FOR (int t = last & ~(step - 1); t < own; t += step) {
        packed<U, wide> s[step / wide];
        UNROLL_FOR (int q = 0; q < step / wide; ++q) s[q] = shared.sums.quads[t / wide + q];
        constexpr bool may_end = !std::is_same_v<Before, before_tile<Pair>> ||
                                 nested<U>::tiles < Shared::tiles; /* a block of level 3 */
        if (may_end && before.ends_level_3(t, step)) {
            UNROLL_FOR (int j = 0; j < step; ++j) {
                if (Segmented && t + j < last) continue;
                if (t + j < own) before.pass(t + j, s[j / wide].value[j % wide]);
            }
            continue;
        }
        UNROLL_FOR (int j = 0; j < step; ++j) {
            const U next = Segmented && t + j < last ? Pair::identity : s[j / wide].value[j % wide];
            before.r3 = Pair::combine(before.r3, next);
        }
    }
}

/*
 * The look-back: waits for the aggregates of all blocks of level 1 before the partition, the first
 * `end` ones. before: what precedes the partition's tile; r2: its blocks in the tile; heads: how
 * many there are before it, if counting. By all threads.
 */
template <class Pair, bool Segmented, class Shared, class Before>
static DEVICE void look_back_in_order(Before &before, typename Pair::U &r2, uint32_t &heads,
                                      Shared &shared, const lookback_memory &memory, epoch_t epoch,
                                      int end, typename Pair::U initial, bool counting) {
    using U = typename Pair::U;
    constexpr int threads = Shared::shape::threads, polls = Shared::polls, each = Shared::each,
                  blocks = nested<U>::blocks,
                  rows = 32 * each / blocks; /* of a warp's aggregates of one poll */
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int own = (unsigned)end / blocks;
    packed<U, each> nothing;
    UNROLL_FOR (int j = 0; j < each; ++j) nothing.value[j] = Pair::identity;

    /* ---- Wait; a row each tile --------------------------------------------------------------- */
    uint32_t waits = 0, all = 0; /* bit k: for poll k */
    const auto put = [&](int at, packed<U, each> s, packed<uint8_t, each> h) {
        *(packed<U, each> *)&shared.rows[at / blocks][at % blocks] = s;
        if (Segmented) *(packed<uint8_t, each> *)&shared.row_heads[at / blocks][at % blocks] = h;
    };
    UNROLL_FOR (int k = 0; k < polls; ++k) {
        const int at = (k * threads + (int)threadIdx.x) * each;
        if (at < end)
            waits |= 1u << k;
        else
            put(at, nothing, {});
    }
    if (waits != 0)
        wait_before_first_read<Pair, Segmented, Shared::shape::loads>(warp == threads / 32 - 1);
    while (waits != 0) {
        U sum[polls][each];
        uint32_t count[polls][each], published[polls];
        UNROLL_FOR (int k = 0; k < polls; ++k) {
            published[k] = 0;
            if (waits & 1u << k)
                published[k] = try_read_each<U>(
                    memory, epoch, (k * threads + (int)threadIdx.x) * each, sum[k], count[k]);
        }
        UNROLL_FOR (int k = 0; k < polls; ++k) {
            const int at = (k * threads + (int)threadIdx.x) * each;
            const bool two = each == 2 && at + 1 < end;
            if ((published[k] & (two ? 3 : 1)) != (two ? 3 : 1)) continue;
            waits &= ~(1u << k);
            packed<U, each> s = nothing;
            packed<uint8_t, each> h = {};
            UNROLL_FOR (int j = 0; j < each; ++j) {
                if (j > 0 && !two) break;
                s.value[j] = sum[k][j];
                h.value[j] = count[k][j] != 0;
                all += count[k][j];
            }
            put(at, s, h);
        }
    }
    __syncwarp();
    if (Segmented && counting) {
        all = warp_sum(all);
        if (lane == 0) shared.counts[warp] = all;
    }
    const int row = (lane / rows * threads + warp * 32) * each / blocks + lane % rows;
    if (lane < polls * rows) {
        U upto = Pair::identity;
        uint32_t any = 0;
        constexpr int wide = row_of<U, 1>::wide;
        UNROLL_FOR (int q = 0; q < blocks / wide; ++q) {
            packed<U, wide> s = shared.rows[row].quads[q];
            packed<uint8_t, wide> h = {};
            if (Segmented) h = *(packed<uint8_t, wide> *)&shared.row_heads[row][q * wide];
            UNROLL_FOR (int j = 0; j < wide; ++j) {
                if (Segmented) any |= h.value[j];
                if (Segmented ? !h.value[j] : q + j > 0)
                    s.value[j] = Pair::combine(upto, s.value[j]);
                upto = s.value[j];
            }
        }
        shared.sums[row] = row < own ? upto : Pair::identity;
        if (Segmented) shared.tile_heads[row] = row < own && any != 0;
        if (row == own) {
            shared.r2 = upto;
            shared.r2_heads = any;
        }
    }
    __syncthreads();

    /* ---- The tiles --------------------------------------------------------------------------- */
    const bool all_add = Shared::all_warps_add || own <= all_warps_add_to;
    if (all_add || warp == 0) pass_all_tiles<Pair, Segmented>(before, shared, own, lane);
    if (!all_add) {
        if (threadIdx.x == 0) shared.before = before;
        __syncthreads();
        before = shared.before;
    }
    r2 = shared.r2;
    if (Segmented && shared.r2_heads) before.cut(initial);
    heads = 0;
    if (Segmented && counting) {
        UNROLL_FOR (int w = 0; w < threads / 32; ++w) heads += shared.counts[w];
    }
}

/* What precedes the lane's groups: found by all threads of a block. Before: what precedes a tile, and
   how one is passed. */
template <class Pair, bool Segmented, int Loads, int Warps, class Before = before_tile<Pair>>
struct in_order_before {
    using U = typename Pair::U;
    using shape = small_shape<Pair, Loads, Warps>;
    using shared_t = in_order_shared<Pair, Segmented, Loads, Warps, Before>;
    static constexpr int blocks = shared_t::blocks, groups = nested<U>::groups;
    Before tile;
    U initial, r2;
    uint32_t count; /* counting: heads in all earlier partitions */

    DEVICE void find(shared_t &shared, const partition_place<int> &place, U initial_, bool) {
        find_from(shared, place, initial_, Before::from(initial_));
        if (place.last && threadIdx.x == shape::threads - 1) advance(place.lookback, place.epoch);
    }
    /* first: what precedes the first tile */
    DEVICE void find_from(shared_t &shared, const partition_place<int> &place, U initial_,
                          const Before &first) {
        const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
        auto &own = shared.own;
        initial = initial_;
        tile = first;
        r2 = Pair::identity;
        count = 0;
        jitter(place.lookback, place.epoch, place.number * Warps + warp, jitter_publish);
        if (warp >= Warps - 2) {
            const bool publishes = warp == Warps - 1 && !place.last;
            const auto publish_it = [&](U sum, uint32_t head_count) {
                if (!publishes) return;
                if (place.carry) __threadfence();
                publish<U>(place.lookback, place.epoch, place.number * blocks + lane, sum,
                           head_count & head_count_mask);
            };
            add_groups<Pair, Segmented>(own, shared.groups, place.counting, lane, warp == Warps - 2,
                                        publish_it);
        }
        look_back_in_order<Pair, Segmented>(tile, r2, count, shared, place.lookback, place.epoch,
                                            place.number * blocks, initial, place.counting);
        UNROLL_FOR (int b = 0; b < blocks - 1; ++b) {
            if (b >= warp * shape::warp_groups / groups) break;
            const bool cut = Segmented && own.heads[b];
            r2 = Pair::combine(cut ? Pair::identity : r2, own.sums[b]);
            if (cut) tile.cut(initial);
        }
    }

    DEVICE uint32_t heads_before(const shared_t &) const { return count; }
    DEVICE before_group<Pair> of_group(const shared_t &shared, int, int r, bool counting) const {
        const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
        const auto &own = shared.own;
        const int first = warp * shape::warp_groups, block = first / groups;
        const int group = first % groups + r * shape::load_groups + lane / shape::group_lanes;
        before_group<Pair> to = {tile, r2, own.r1[block][group], initial, 0};
        if (Segmented && own.heads[block] & ((1u << group) - 1)) {
            to.r2 = Pair::identity;
            to.tile.cut(initial);
        }
        if (Segmented && counting) to.count = own.counts[block][group];
        return to;
    }
};

} /* namespace vscan */
