/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What precedes a slice in its row, for kernels whose lanes, warps and chunks hold consecutive
 * slices of a row, scanned already (scan_slice): in any order, and in the nested order of
 * core/order.h.
 */
#pragma once

#include "order/nested.cuh"
#include "machine/warp.cuh"
#include "matrix/lines.cuh"

namespace vscan {

/* Passes the first `tiles` tiles of a row. Their aggregates are every Step-th one, the first at number first + Step - 1.
   By a warp; all lanes get the same. */
template <class Pair, int Step = 1>
static DEVICE void pass_row_tiles(before_tile<Pair> &before, const lookback_memory &memory,
                                  int64_t first, uint32_t tiles, epoch_t epoch, int lane) {
    using U = typename Pair::U;
    /* In order, of a block of level 3 at most. */
    constexpr uint32_t block_tiles = nested<typename Pair::T>::tiles;
    constexpr uint32_t batch = Pair::in_any_order || block_tiles > 32 ? 32 : block_tiles;
    constexpr uint32_t most = 32 / sizeof(U), some = batch < most ? batch : most;
    ROLLED_FOR (uint32_t t = 0; t < tiles; t += batch) {
        U of_tile = Pair::identity;
        if (lane < (int)batch && t + lane < tiles)
            of_tile = wait_for<U>(memory, epoch, first + (int64_t)(t + lane + 1) * Step - 1);
        __syncwarp();
        if constexpr (Pair::in_any_order) {
            ROLLED_FOR (uint32_t l = 0; l < 32 && t + l < tiles; ++l)
                before.pass(t + l, __shfl_sync(warp_mask, of_tile, l));
        } else {
            /* Tiles that do not exist have nothing to add. Shuffles do not wait for one another. */
            ROLLED_FOR (uint32_t l = 0; l < batch && t + l < tiles; l += some) {
                U x[some];
                UNROLL_FOR (uint32_t i = 0; i < some; ++i)
                    x[i] = __shfl_sync(warp_mask, of_tile, l + i);
                UNROLL_FOR (uint32_t i = 0; i < some; ++i)
                    before.r3 = Pair::combine(before.r3, x[i]);
            }
            if (t + batch <= tiles) before.pass(t + batch - 1, (U)Pair::identity);
        }
    }
}

/* ---- In any order ---------------------------------------------------------------------------- */

/* upto: the sum of the row, or of the tile, up to and with the slice. end: that before it. */

/* Over the row's lanes in the warp, from first_lane on: this is lane k of `lanes`. */
template <class Pair, int R>
static DEVICE void add_lanes(typename Pair::U (&x)[R], int k, int first_lane, int lanes,
                             typename Pair::U &upto, typename Pair::U &end) {
    using U = typename Pair::U;
    end = Pair::identity;
    upto = x[R - 1];
    UNROLL_FOR (int half = 1; half < 32; half *= 2) {
        if (half >= lanes) break;
        U before = __shfl_sync(warp_mask, upto, first_lane + (k & ~(half - 1)) - 1);
        if (!(k & half)) before = Pair::identity;
        end = Pair::combine(before, end);
        upto = Pair::combine(before, upto);
    }
}

/* Over the row's warps: this is warp row_warp of `warps`. sum: in lane l, that of warp l;
   becomes that of its left subtree and itself, in the last warp's lane the sum of all. */
template <class Pair>
static DEVICE void add_warps(int lane, int row_warp, int warps, typename Pair::U &sum,
                             typename Pair::U &upto, typename Pair::U &end) {
    using U = typename Pair::U;
    ROLLED_FOR (int half = 1; half < warps; half *= 2) {
        const U to_warp = __shfl_sync(warp_mask, sum, (row_warp & ~(half - 1)) - 1);
        const U to_lane = __shfl_sync(warp_mask, sum, (lane & ~(half - 1)) - 1);
        if (row_warp & half) {
            end = Pair::combine(to_warp, end);
            upto = Pair::combine(to_warp, upto);
        }
        if (lane & half) sum = Pair::combine(to_lane, sum);
    }
}

/* Over the tile's chunks: this is chunk m of 1, 2 or 4. left_chunk: sums of the chunk before,
   and of the first two. p: the prefix of the tile; of the next one after the last chunk. */
template <class Pair>
static DEVICE void add_chunks(int m, int chunks, typename Pair::U &chunk_sum,
                              typename Pair::U (&left_chunk)[2], typename Pair::U &p,
                              typename Pair::U &upto, typename Pair::U &end) {
    UNROLL_FOR (int b = 0; b < 2; ++b) {
        if (!(m >> b & 1)) continue;
        end = Pair::combine(left_chunk[b], end);
        upto = Pair::combine(left_chunk[b], upto);
    }
    if (m & 1) chunk_sum = Pair::combine(left_chunk[0], chunk_sum);
    if (m == 3) chunk_sum = Pair::combine(left_chunk[1], chunk_sum);
    if (m & 1)
        left_chunk[1] = chunk_sum;
    else
        left_chunk[0] = chunk_sum;
    if (m == chunks - 1) p = Pair::combine(p, chunk_sum);
}

/* Turns x into results, and end into the result before x[0]. before: the prefix of the tile. */
template <class Pair, int R>
static DEVICE void make_results(typename Pair::U (&x)[R], typename Pair::U before,
                                typename Pair::U &end) {
    end = Pair::combine(before, end);
    UNROLL_FOR (int j = 0; j < R; ++j) x[j] = Pair::combine(end, x[j]);
}

/* ---- In the nested order --------------------------------------------------------------------- */

/*
 * sum, and the values at `from` whose bits are set in mask, added to it one after the other; only
 * the first `count` bits may be set. from: in shared memory, aligned to 16 bytes; lanes that read
 * different blocks of sums have them row_levels::stride apart, which is without bank conflicts.
 * Step: values that are read at once.
 */
template <class Pair, int Step>
static DEVICE typename Pair::U add_where(typename Pair::U sum, const typename Pair::U *from,
                                         uint32_t mask, int count) {
    using U = typename Pair::U;
    ROLLED_FOR (int left = count; left > 0; left -= Step) {
        U x[Step];
        UNROLL_FOR (int i = 0; i < Step; i += 16 / (int)sizeof(U)) {
            const int4 quad = *(const int4 *)(from + i);
            memcpy(x + i, &quad, 16);
        }
        UNROLL_FOR (int i = 0; i < Step; ++i) {
            if (mask & 1u << i) {
                sum = Pair::combine(sum, x[i]);
                changed_here(sum);
            }
        }
        mask >>= Step & 31;
        from += Step;
    }
    return sum;
}

/* Of a lane, whose slice has R elements: what precedes it. */
template <class Pair, int R>
struct row_levels {
    using T = typename Pair::T;
    using U = typename Pair::U;
    static constexpr int group_lanes = VSCAN__GROUP / R, warp_groups = 32 / group_lanes;
    static constexpr int block_warps = nested<T>::groups / warp_groups; /* of a block of level 1 */
    static constexpr int stride = nested<T>::groups + 16 / (int)sizeof(U);
    static constexpr int tile_warps = block_warps * nested<T>::blocks;
    static constexpr int next_r2 = nested<T>::groups; /* index in the sums: X2 behind the chunk */

    before_tile<Pair> before; /* R3 and R4 */
    U r1, r2;

    DEVICE void begin_row(U initial) { before = before_tile<Pair>::from(initial); }

    /* X0 from scanned slices; this is lane k of the row's, in the warp from first_lane on. */
    static DEVICE void scan_groups(U (&x)[R], int k, int first_lane) {
        network_over_lanes<Pair, false, group_lanes>(x, 0, 0, k, first_lane);
    }

    /* R1 where a row has at most the lanes of one warp: `lanes` of them, from first_lane on. This is lane k of
       row number `row` of the warp. sums: shared memory of the warp. */
    DEVICE void add_lanes(const U (&x)[R], int k, int row, int first_lane, int lanes, U *sums) {
        constexpr int few = 4; /* groups */
        r1 = r2 = Pair::identity;
        if (lanes <= group_lanes) return;
        k = made_here(k);
        if (lanes <= few * group_lanes) {
            UNROLL_FOR (int g = 0; g < few - 1; ++g) {
                const U sum =
                    __shfl_sync(warp_mask, x[R - 1], first_lane + (g + 1) * group_lanes - 1);
                if (g < k / group_lanes) r1 = Pair::combine(r1, sum);
            }
            return;
        }
        U *const of_row = sums + row * (warp_groups / 2); /* if there are several */
        if (k % group_lanes == group_lanes - 1) of_row[k / group_lanes] = x[R - 1];
        __syncwarp();
        r1 = add_where<Pair, 8>(r1, of_row, bits_below(k / group_lanes), (lanes - 1) / group_lanes);
        __syncwarp(); /* before the memory is used otherwise */
    }

    /* How many sums of a row with row_warps warps are in shared memory. */
    static DEVICE int sums_of(int row_warps) {
        return (row_warps + block_warps - 1) / block_warps * stride;
    }
    /*
     * R1 and R2 where a row has several warps; this is warp row_warp, in chunk number `chunk` of
     * the row. sums: shared memory of the row, of this chunk and of the one before. of_warp: of the
     * warp, not used otherwise. With a barrier of the block. along: the row continues in the next
     * chunk. The first warp returns X2 at the end of the chunk, if so.
     */
    DEVICE U add_warps(const U (&x)[R], int lane, int row_warp, int row_warps, bool along,
                       int chunk, U *sums, const U *sums_before, U *of_warp) {
        row_warp = made_here(row_warp), lane = made_here(lane);
        const int block = row_warp / block_warps, its = lane / group_lanes;
        const int group = row_warp % block_warps * warp_groups + its;
        if (lane % group_lanes == group_lanes - 1) sums[block * stride + group] = x[R - 1];
        __syncthreads();
        r2 = Pair::identity;
        if (chunk > 0) {
            r2 = sums_before[next_r2];
            const uint32_t warps = (uint32_t)(chunk * row_warps);
            if (warps % tile_warps == 0) {
                before.pass(warps / tile_warps - 1, r2);
                r2 = Pair::identity;
            }
        }
        /* One chain of additions a lane: in the first lane of a group that of its R1, in the second
           lane of group b of the warp the sum of block b, if the warp needs it: those before its
           own, or the first warp all. */
        const int blocks = along && row_warp == 0 ? row_warps / block_warps : block;
        const bool of_block = lane % group_lanes == 1 && its < blocks;
        const U chain = add_where<Pair, warp_groups>(
            Pair::identity, sums + (of_block ? its : block) * stride,
            of_block ? 0xffffffffu : bits_below(group),
            blocks > 0 ? nested<T>::groups : (row_warp + 1) * warp_groups);
        r1 = __shfl_sync(warp_mask, chain, lane & -group_lanes);
        if (of_block) of_warp[its] = chain;
        __syncwarp();
        const U sum =
            add_where<Pair, nested<T>::blocks / 2>(r2, of_warp, bits_below(blocks), blocks);
        __syncwarp(); /* before the memory is used otherwise */
        if (row_warp > 0)
            r2 = sum;
        else if (lane == 0)
            sums[next_r2] = sum;
        return sum;
    }

    /* left + x[j], if so. A loop that runs once or never: see reverse_quads. */
    static DEVICE void add_if(bool so, U left, U (&x)[R], U &end) {
        ROLLED_FOR (int times = made_here(so); times > 0; --times) {
            end = Pair::combine(left, end);
            UNROLL_FOR (int j = 0; j < R; ++j) x[j] = Pair::combine(left, x[j]);
        }
    }
    /* Turns X0 into results; returns the one before x[0]. initial: R4 is more than nothing. */
    DEVICE U make_results(U (&x)[R], bool blocks, bool tiles, bool initial) {
        U end = r1;
        UNROLL_FOR (int j = 0; j < R; ++j) x[j] = Pair::combine(r1, x[j]);
        add_if(blocks, r2, x, end);
        add_if(tiles, before.r3, x, end);
        add_if(initial, before.r4, x, end);
        return end;
    }
};

} /* namespace vscan */
