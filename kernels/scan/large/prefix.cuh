/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The prefix warp of scan/large/large.cuh. It reads the aggregates of the other tiles and computes what
 * precedes a tile. A status word carries its own epoch, and nothing else is read because of it, so
 * relaxed order is enough (kernels/README.md).
 */
#pragma once

#include "scan/carried/large.cuh"
#include "scan/pass_tiles.cuh"

namespace vscan {

#ifdef VSCAN__TMA

/*
 * The look-back, by the prefix warp: what precedes tile `to` from what precedes tile `from`. All
 * loads are issued at once. Then 32 aggregates at a time are waited for, so that everything before
 * the last ones is combined already when they arrive.
 *   row      the tile where the vector or matrix row begins
 *   initial  what precedes a segment
 */
template <class Pair, bool Segmented>
static __device__ before_tile<Pair>
look_back_tiles(typename Pair::U r3, typename Pair::U r4, const lookback_memory &memory,
                epoch_t epoch, int64_t row, int64_t from, int64_t to, typename Pair::U initial,
                typename Pair::U *aggregates, int lane, int64_t *heads_before) {
    using U = typename Pair::U;
    constexpr int per_lane = large_shape<Pair, Segmented>::lookback_words;
    uint32_t count = 0;
    while (from < to) {
        U a[per_lane];
        uint32_t heads[per_lane];
        bool ready[per_lane];
        const auto ask = [&](int k) {
            const int64_t tile = from + 32 * k + lane;
            a[k] = Pair::identity;
            heads[k] = 0;
            ready[k] = tile >= to || try_read<U>(memory, epoch, tile, &a[k], &heads[k]);
        };
        UNROLL_FOR (int k = 0; k < per_lane; ++k) ask(k);
        UNROLL_FOR (int k = 0; k < per_lane; ++k) {
            if (from + 32 * k >= to) break;
            while (!__all_sync(warp_mask, ready[k]))
                if (!ready[k]) ask(k);
            count += heads[k];
            if (Segmented) { /* what precedes the last tile with a head does not matter */
                const unsigned cut = __ballot_sync(warp_mask, heads[k] != 0);
                if (cut) {
                    if (lane < 31 - __clz(cut)) a[k] = Pair::identity;
                    r3 = Pair::identity;
                    r4 = initial;
                }
            }
            const int64_t left = to - from - 32 * k;
            pass_tiles<Pair>(r3, r4, a[k], (uint32_t)(from - row) + 32 * k,
                             left < 32 ? (int)left : 32, aggregates, lane);
        }
        from = to - from < 32 * per_lane ? to : from + 32 * per_lane;
        if (Segmented) {
            *heads_before += __reduce_add_sync(warp_mask, count);
            count = 0;
        }
    }
    return {r3, r4};
}

template <class Pair, bool Segmented>
struct prefix_warp : large_role<Pair, Segmented> {
    using common = large_role<Pair, Segmented>;
    using T = typename Pair::T;
    using U = typename Pair::U;
    using shape = large_shape<Pair, Segmented>;
    using common::a, common::lane, common::matrix, common::matrix_row_of, common::of_rows,
        common::shared, common::stage_of, common::tile_in_row, common::tile_of, common::tiles;

    __device__ void find_prefixes() const {
        U r4 = Segmented ? Pair::identity : shared.initial, r3 = Pair::identity;
        int64_t row = 0, prefix_ready = 0, heads_before = 0;
        if constexpr (common::resumed) {
            const before_tile<Pair> p = before_call<Pair>(present(shared.carry.old));
            r3 = p.r3, r4 = p.r4;
            row = -(present(shared.carry.old).position / shape::items %
                    nested<T>::tiles); /* level 3 */
        }
        for (int k = 0;; ++k) {
            const int64_t tile = tile_of(k);
            if (tile >= tiles()) return;
            jitter(a.lookback, shared.epoch, tile, jitter_wait);
            if constexpr (of_rows) { /* begins anew in each row */
                row = tile - tile_in_row(tile);
                if (prefix_ready <= row) {
                    prefix_ready = row;
                    U initial = shared.initial;
                    if (a.scan.has_initial == 2)
                        initial = Pair::in(
                            ((const T *)
                                 a.scan.initial_at)[matrix_row_of(tile) * matrix().initial_step],
                            a.transform);
                    r3 = Pair::identity;
                    r4 = initial;
                }
            }
            const before_tile<Pair> p = look_back_tiles<Pair, Segmented>(
                r3, r4, a.lookback, shared.epoch, row, prefix_ready, tile, shared.initial,
                shared.aggregates, lane, &heads_before);
            r3 = p.r3, r4 = p.r4;
            prefix_ready = tile;
            if (lane == 0) {
                shared.r3[stage_of(k)] = r3;
                shared.r4[stage_of(k)] = r4;
                shared.heads_before[stage_of(k)] = heads_before;
                shared.prefix_ready.arrive(k);
            }
            if constexpr (common::resumed)
                if (tile == tiles() - 1) leave_carry(*this, k, tile, p);
        }
    }
};

#endif

} /* namespace vscan */
