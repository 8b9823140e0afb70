/* SPDX-License-Identifier: Apache-2.0 */
/* Scans and reductions by offsets: sums of groups and pieces, and what precedes the pieces of long segments. */
#pragma once

#include "order/nested.cuh"
#include "segments/by_offsets/short_segments.cuh"

namespace vscan {

/* Sums of listed groups and pieces; the look-back of segments that have several pieces. */
template <class Pair, bool Scan>
struct long_segments : short_segments<Pair, Scan> {
    using base = short_segments<Pair, Scan>;
    using base::a, base::B, base::begin_of, base::G, base::group_at, base::min_of, base::p,
        base::put_total, base::shared, base::threads, base::tree_of_group, base::z;
    using typename base::shape;
    using typename base::T;
    using typename base::U;
    static constexpr int tile = nested<T>::tile;

    bool ascend = true; /* no wait has ended in vain */
    /* of a warp: of which segment r3 and r4 are, before which tile */
    int64_t segment_before = -1, tile_before = 0;
    U r3 = Pair::identity, r4 = Pair::identity;

    /* ---- Groups and pieces ------------------------------------------------------------------- */

    DEVICE void groups() const {
        const int count = min_of(shared.group_count, shape::groups);
        ROLLED_FOR (int g = threadIdx.x; g < count; g += threads) {
            const offsets_piece *piece;
            int length;
            const int at = group_at(g, &length, &piece);
            shared.sums[g] = length > 0 ? tree_of_group(at, length) : (U)Pair::identity;
        }
    }

    DEVICE void pieces() const {
        constexpr int batch = 8; /* sums that are read together */
        const int count = min_of(shared.piece_count, shape::pieces);
        ROLLED_FOR (int i = threadIdx.x; i < count; i += threads) {
            const offsets_piece piece = shared.pieces[i];
            U *const sums = shared.sums + piece.group, sum = Pair::identity;
            const int of_piece = (piece.length + G - 1) / G;
            ROLLED_FOR (int q = 0; q < of_piece; q += batch) {
                U x[batch];
                UNROLL_FOR (int j = 0; j < batch; ++j)
                    x[j] = q + j < of_piece ? sums[q + j] : (U)Pair::identity;
                UNROLL_FOR (int j = 0; j < batch; ++j) {
                    if (Scan && q + j < of_piece) sums[q + j] = sum;
                    sum = Pair::combine(sum, x[j]);
                }
            }
            if (piece.long_one == 0) {
                put_total(p.from - 1 + piece.segment, Pair::combine(z, sum));
                continue;
            }
            long_piece<U> &of = shared.longs[piece.long_one - 1];
            of.sum = sum;
            if (of.last) continue;
            jitter(a.lookback, p.epoch, p.first_loaded + piece.at, jitter_publish);
            publish<U>(a.lookback, p.epoch, of.begin / B + number_in_segment(of), sum);
        }
    }

    /* ---- Long segments ----------------------------------------------------------------------- */

    DEVICE int64_t number_in_segment(const long_piece<U> &piece) const {
        return (p.first_loaded + piece.at - piece.begin) / B;
    }

    /* sum, and aggregates from .. to - 1, from left to right; by a warp. */
    DEVICE U add_aggregates(U sum, int64_t from, int64_t to) {
        ROLLED_FOR (; from < to; from += 32) {
            const int count = to - from < 32 ? (int)(to - from) : 32, lane = threadIdx.x % 32;
            U x = Pair::identity;
            if (lane < count)
                x = wait_for_aggregate<U>(a.lookback, p.epoch, from + lane, begin_of, x, &ascend);
            __syncwarp();
#pragma unroll 4
            for (int i = 0; i < count; ++i) sum = Pair::combine(sum, __shfl_sync(warp_mask, x, i));
        }
        return sum;
    }

    /* By warps: what precedes pieces of long segments. In three rounds, so that nobody waits for what is published
       in the same one: sums of tiles, sums of blocks of level 3, results. */
    DEVICE void look_back() {
        constexpr int blocks = nested<T>::blocks, tiles = nested<T>::tiles;
        const int count = min_of(shared.long_count, shape::longs), lane = threadIdx.x % 32;
        ROLLED_FOR (int round = 0; round < 3; ++round) {
            ROLLED_FOR (int l = threadIdx.x / 32; l < count; l += threads / 32) {
                long_piece<U> &piece = shared.longs[l];
                if (piece.at < 0) continue; /* offsets do not ascend */
                const int64_t begin = piece.begin, j = number_in_segment(piece), t = j / blocks;
                const bool last = piece.last, ends_tile = last || j % blocks == blocks - 1;
                const bool ends_level_3 = !last && ends_tile && t % tiles == tiles - 1;
                const int64_t tiles_at = a.tiles_at + begin / tile;
                if (round == 0 && (Scan || ends_tile)) {
                    const U r2 =
                        add_aggregates(Pair::identity, begin / B + t * blocks, begin / B + j);
                    if (lane == 0) piece.r2 = r2;
                    if (ends_tile && !last && lane == 0)
                        publish<U>(a.lookback, p.epoch, tiles_at + t, Pair::combine(r2, piece.sum));
                }
                __syncwarp(); /* r2 */
                if (round == 1 && ends_level_3) {
                    const U before =
                        add_aggregates(Pair::identity, tiles_at + t - (tiles - 1), tiles_at + t);
                    if (lane == 0)
                        publish<U>(a.lookback, p.epoch,
                                   a.level_3_at + begin / VSCAN__LEVEL_3 + t / tiles,
                                   Pair::combine(before, Pair::combine(piece.r2, piece.sum)));
                }
                if (round != 2 || !(Scan || last)) continue;
                const int64_t segment = p.from - 1 + piece.segment;
                go_to(segment, begin, t);
                if (last && lane == 0)
                    put_total(
                        segment,
                        Pair::combine(r4, Pair::combine(r3, Pair::combine(piece.r2, piece.sum))));
                if (Scan && lane == 0) {
                    piece.r3 = r3;
                    piece.r4 = r4;
                }
            }
        }
    }

    /* Makes r3 and r4 what precedes tile t of a segment. */
    DEVICE void go_to(int64_t segment, int64_t begin, int64_t t) {
        constexpr int tiles = nested<T>::tiles;
        const int64_t first = t - t % tiles, blocks_at = a.level_3_at + begin / VSCAN__LEVEL_3;
        const int64_t tiles_at = a.tiles_at + begin / tile;
        if (segment != segment_before || t < tile_before) {
            segment_before = segment;
            tile_before = 0;
            r3 = Pair::identity;
            r4 = z;
        }
        if (tile_before < first) {
            r4 = add_aggregates(r4, blocks_at + tile_before / tiles, blocks_at + t / tiles);
            r3 = Pair::identity;
            tile_before = first;
        }
        r3 = add_aggregates(r3, tiles_at + tile_before, tiles_at + t);
        tile_before = t;
    }
};

} /* namespace vscan */
