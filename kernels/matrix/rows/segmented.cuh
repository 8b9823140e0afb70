/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Segmented scans of rows: the places of elements, steps and copies of matrix/rows/rows.cuh, and sums that
 * begin again at each head.
 *
 * A lane knows the heads of its slice as bits. What precedes a slice is a sum of adjacent groups, or warps,
 * since the last head; so the chains of matrix/rows/levels.cuh have shorter masks, and where there has been a
 * head, what lies before its block, tile or chunk is replaced by the initial value.
 *
 * A slice of 64 bytes may have several short rows, each at a multiple of a power of 2 so that the order of
 * addition is that of a row alone. All but the first begin with a head.
 *
 * Flags are read where they lie, the R of a slice at a time, while the elements are on their way.
 */
#pragma once

#include "elements/flags.cuh"
#include "matrix/rows/rows.cuh"
#include "order/network.cuh"

namespace vscan {

/* A sum since the last head, and whether there is one. */
template <class U>
struct since_head {
    U sum;
    bool head;
};

/* pass_row_tiles of matrix/rows/levels.cuh, with heads. */
template <class Pair, int Step>
static DEVICE void pass_segmented_tiles(before_tile<Pair> &before, const lookback_memory &memory,
                                        int64_t first, uint32_t tiles, epoch_t epoch,
                                        typename Pair::U initial, int lane) {
    using U = typename Pair::U;
    ROLLED_FOR (uint32_t t = 0; t < tiles; t += 32) {
        U sum[1];
        uint32_t head[1];
        wait_for_all<32>(memory, epoch, (U)Pair::identity, sum, head,
                         first + (int64_t)(t + lane + 1) * Step - 1, first + (int64_t)tiles * Step);
        const uint32_t any = __ballot_sync(warp_mask, head[0] != 0);
        ROLLED_FOR (uint32_t l = any != 0 ? 31 - __clz((int)any) : 0; l < 32 && t + l < tiles;
                    ++l) {
            if (any >> l & 1) before.cut(initial);
            before.pass(t + l, __shfl_sync(warp_mask, sum[0], l));
        }
    }
}

/* The bits below `count`, from the last one of `heads` on that is among them; cut: whether there is one. */
static DEVICE uint32_t since_last(uint32_t heads, int count, bool &cut) {
    heads &= bits_below(count);
    cut = heads != 0;
    return cut ? bits_below(count) & ~bits_below(31 - __clz((int)heads)) : bits_below(count);
}

template <class Pair>
struct segmented_rows_shared {
    rows_shared<Pair> rows;
    /* twice, as the sums there. In order, of each block of level 1: bit g: group g has a head. In any
       order, of each warp: whether it has one. */
    uint32_t heads[2][32];
    bool chunk_head[2]; /* in order: of the chunk */
};

/* The heads of a lane's slice. */
template <class Pair>
struct slice_heads {
    using rows = rows_warp<Pair>;
    using levels = row_levels<Pair, rows::R>;
    static constexpr int R = rows::R, group_lanes = levels::group_lanes;

    rows &w;
    segmented_rows_shared<Pair> &shared;
    const vscan__matrix &matrix = w.matrix;
    const rows_shape &shape = w.shape;
    const int lane = w.lane, k = w.k, first_lane = w.first_lane;
    const bool alone = shape.row_warps == 1;
    /* the rows of a slice, where there may be several */
    const int slice_rows = shape.lanes > 1 ? 1 : R / shape.row_items;

    uint32_t heads = 0; /* bit j: the slice's element j is one */
    uint32_t any = 0;   /* the lanes that have some */

    DEVICE slice_heads(rows &w, segmented_rows_shared<Pair> &shared) : w(w), shared(shared) {}

    /* The place of element j in its row, and the row in the matrix. */
    DEVICE int64_t place_in(int step) const {
        return matrix.length - w.left_in(step) + w.at0 + k * R;
    }
    DEVICE int64_t row_in(int step) const { return w.line_in(step) + w.row * slice_rows; }

    /* Where rows of a slice begin, if there are several. */
    DEVICE uint32_t row_begins() const {
        const uint32_t begins = shape.row_items == 8   ? 0x0101
                                : shape.row_items == 4 ? 0x1111
                                                       : 0x5555;
        return begins & bits_below(R);
    }

    DEVICE void load_heads(int step) {
        const bool backward = matrix.backward;
        const int64_t n = matrix.length, p = place_in(step), line = row_in(step);
        heads = 0;
        if (w.row * slice_rows < shape.rows && line < matrix.lines && p < n) {
            const int64_t at = line * matrix.line_step + (backward ? n - p - (R - 1) : p);
            const int64_t end = (matrix.lines - 1) * matrix.line_step + n;
            const bool adjacent =
                slice_rows == 1 || (!backward && shape.row_items == matrix.line_step);
            if (adjacent && at >= 0 && at + R + 3 <= end) {
                heads = read_flags<R>(matrix.heads, matrix.head_type, at);
                if (backward) heads = __brev(heads) >> (32 - R);
            } else {
                const int items = shape.row_items < R ? shape.row_items : R;
                ROLLED_FOR (int j = 0; j < R; ++j) {
                    const int64_t in_row = p + j % items, of = line + j / items;
                    if (in_row >= n || of >= matrix.lines) continue;
                    if (in_row == 0) continue;
                    heads |= flag_at(matrix.heads, matrix.head_type,
                                     of * matrix.line_step + (backward ? n - in_row : in_row))
                             << j;
                }
            }
        }
        /* a row's first element is none, but for those of a slice's other rows */
        if (slice_rows > 1) heads |= row_begins();
        if (p == 0) heads &= ~1u;
        any = __ballot_sync(warp_mask, heads != 0);
    }

    /* Bit g: group g of the warp has a head. */
    DEVICE uint32_t heads_of_groups() const {
        const bool head = lane < levels::warp_groups &&
                          (any >> lane * group_lanes & bits_below(group_lanes)) != 0;
        return __ballot_sync(warp_mask, head);
    }
};

/* What precedes a slice. */
template <class Pair>
struct before_slice : slice_heads<Pair> {
    using T = typename Pair::T;
    using U = typename Pair::U;
    using slice = slice_heads<Pair>;
    using slice::alone, slice::any, slice::first_lane, slice::group_lanes, slice::heads,
        slice::heads_of_groups, slice::k, slice::lane, slice::matrix, slice::place_in, slice::R,
        slice::row_begins, slice::row_in, slice::shape, slice::shared, slice::slice_rows, slice::w;
    using typename slice::levels;
    using typename slice::rows;

    U initial; /* of the row */
    /* what precedes the slice: in order R1 to R4, in any order r4 */
    U r1 = Pair::identity, r2 = Pair::identity, r3 = Pair::identity, r4;
    before_tile<Pair> before; /* the chunk: R3 and R4 */
    U chunk_r2 = Pair::identity;

    using slice::slice_heads;

    /* ---- The slice and its group ------------------------------------------------------------- */

    DEVICE void scan_slice(U (&x)[R]) const {
        if constexpr (Pair::in_any_order) {
            UNROLL_FOR (int j = 1; j < R; ++j)
                x[j] = Pair::combine(heads >> j & 1 ? (U)Pair::identity : x[j - 1], x[j]);
        } else {
            network<Pair, true>(x, heads);
            network_over_lanes<Pair, true, group_lanes>(x, heads, any, k, first_lane);
        }
    }

    /* ---- In any order ------------------------------------------------------------------------ */

    DEVICE void add_row(const U (&x)[R], int step) {
        U upto = x[R - 1], end = Pair::identity;
        UNROLL_FOR (int half = 1; half < 32; half *= 2) {
            if (half >= shape.lanes) break;
            const int first = first_lane + (k & ~(half - 1));
            const U left = __shfl_sync(warp_mask, upto, first - 1);
            if (k & half && lanes_between(any, first, lane) == 0) {
                end = Pair::combine(left, end);
                if (heads == 0) upto = Pair::combine(left, upto);
            }
        }
        bool cut = lanes_between(any, first_lane, lane) != 0;
        U base = before.r4;
        if (!alone) {
            const int of_row = w.warp - w.row_warp;
            U *const sums = shared.rows.sums[step & 1];
            uint32_t *const words = shared.heads[step & 1];
            if (lane == 31) {
                sums[w.warp] = upto;
                words[w.warp] = any;
            }
            __syncthreads();
            const bool is = lane < shape.row_warps;
            U sum[1] = {is ? sums[of_row + lane] : (U)Pair::identity};
            const uint32_t warps = __ballot_sync(warp_mask, is && words[of_row + lane] != 0);
            sklansky<Pair, true, 32>(sum, warps >> lane & 1, warps, lane, shape.row_warps);
            const U earlier = __shfl_sync(warp_mask, sum[0], w.row_warp - 1);
            const since_head<U> chunk = {__shfl_sync(warp_mask, sum[0], shape.row_warps - 1),
                                         warps != 0};
            if (shape.halves > 0) {
                look_back(chunk);
                base = before.r4;
            }
            if (w.row_warp > 0 && !cut) {
                end = Pair::combine(earlier, end);
                cut = (warps & bits_below(w.row_warp)) != 0;
            }
            if (w.along) before.r4 = Pair::combine(chunk.head ? initial : before.r4, chunk.sum);
        }
        r4 = Pair::combine(cut ? initial : base, end);
    }

    /* ---- In order ---------------------------------------------------------------------------- */

    /* R1 where a row has lanes of one warp. */
    DEVICE void add_lanes(const U (&x)[R]) {
        r4 = initial;
        if (shape.lanes <= group_lanes) return;
        const int group = k / group_lanes;
        U *const sums = (U *)w.staged + w.row * (levels::warp_groups / 2);
        if (k % group_lanes == group_lanes - 1) sums[group] = x[R - 1];
        __syncwarp();
        /* the group with the last head before this one */
        const uint32_t lanes =
            any & ~bits_below(first_lane) & bits_below(first_lane + group * group_lanes);
        const int from = lanes != 0 ? (31 - __clz((int)lanes) - first_lane) / group_lanes : 0;
        r1 = add_where<Pair, 8>(Pair::identity, sums, bits_below(group) & ~bits_below(from),
                                (shape.lanes - 1) / group_lanes);
        __syncwarp(); /* before the memory is used otherwise */
    }

    /* R1 to R4 where it has several warps: see row_levels::add_warps. */
    DEVICE void add_warps(const U (&x)[R], int step) {
        constexpr int block_warps = levels::block_warps, warp_groups = levels::warp_groups,
                      stride = levels::stride, groups = nested<T>::groups;
        const int block = w.row_warp / block_warps, its = lane / group_lanes;
        const int group = w.row_warp % block_warps * warp_groups + its;
        const int number = w.warp / shape.row_warps; /* of the row */
        const int chunk = w.chunk_in(step), now = chunk & 1;
        U *const sums = shared.rows.sums[now] + number * levels::sums_of(shape.row_warps);
        uint32_t *const words =
            shared.heads[now] + number * ((shape.row_warps + block_warps - 1) / block_warps);
        const uint32_t own = heads_of_groups();
        w.wait_for_first_half(shared.rows.sums[!now][levels::next_r2], shared.chunk_head[!now]);
        if (lane % group_lanes == group_lanes - 1) sums[block * stride + group] = x[R - 1];
        if (lane == 0) { /* its bits of the block's word */
            if (warp_groups == 16)
                ((uint16_t *)(words + block))[w.row_warp % block_warps] = (uint16_t)own;
            else
                ((uint8_t *)(words + block))[w.row_warp % block_warps] = (uint8_t)own;
        }
        __syncthreads();
        const bool earlier_head = w.along && chunk > 0 && shared.chunk_head[!now];
        if (w.along && chunk > 0) { /* the chunk before */
            chunk_r2 = shared.rows.sums[!now][levels::next_r2];
            if (earlier_head) before.cut(initial);
            const uint32_t warps = (uint32_t)(chunk * shape.row_warps);
            if (warps % levels::tile_warps == 0) {
                before.pass(warps / levels::tile_warps - 1, chunk_r2);
                chunk_r2 = Pair::identity;
            }
        }
        const int blocks = w.along && w.row_warp == 0 ? shape.row_warps / block_warps : block;
        const bool of_block = lane % group_lanes == 1 && its < blocks;
        bool cut_block, cut_blocks;
        const uint32_t mask =
            since_last(words[of_block ? its : block], of_block ? groups : group, cut_block);
        const U chain = add_where<Pair, warp_groups>(
            Pair::identity, sums + (of_block ? its : block) * stride, mask,
            blocks > 0 ? groups : (w.row_warp + 1) * warp_groups);
        r1 = __shfl_sync(warp_mask, chain, lane & -group_lanes);
        cut_block = __shfl_sync(warp_mask, (int)cut_block, lane & -group_lanes);
        U *const of_warp = (U *)w.staged;
        if (of_block) of_warp[its] = chain;
        const uint32_t head_blocks =
            __ballot_sync(warp_mask, lane < blocks && words[lane < blocks ? lane : 0] != 0);
        __syncwarp();
        const uint32_t blocks_mask = since_last(head_blocks, blocks, cut_blocks);
        const U sum = add_where<Pair, nested<T>::blocks / 2>(
            cut_blocks ? (U)Pair::identity : chunk_r2, of_warp, blocks_mask, blocks);
        __syncwarp(); /* before the memory is used otherwise */
        if (w.along && w.row_warp == 0 && lane == 0) {
            sums[levels::next_r2] = sum;
            shared.chunk_head[now] = cut_blocks;
        }
        if (shape.halves > 0) {
            look_back({sum, cut_blocks || earlier_head}); /* of the first warp */
            if (earlier_head) before.cut(initial);
        }
        r2 = w.row_warp > 0 ? sum : chunk_r2;
        const bool cut_tile = w.row_warp > 0 && cut_blocks;
        if (cut_block) r2 = Pair::identity;
        r3 = cut_block || cut_tile ? (U)Pair::identity : before.r3;
        r4 = cut_block || cut_tile ? initial : before.r4;
    }

    /* ---- Tiles ------------------------------------------------------------------------------- */

    DEVICE void look_back(const since_head<U> &tile) {
        w.look_back(before, tile.sum, tile.head, [&](int64_t first, uint32_t tiles, epoch_t epoch) {
            pass_segmented_tiles<Pair, rows::halves_at_once>(before, w.a.lookback, first, tiles,
                                                             epoch, initial, lane);
        });
    }

    /* ---- A step ------------------------------------------------------------------------------ */

    /* X2 and so on of X0: what precedes a slice, combined with a sum in its group. */
    DEVICE U sum(U x0) const {
        if constexpr (Pair::in_any_order) return Pair::combine(r4, x0);
        return Pair::combine(r4, Pair::combine(r3, Pair::combine(r2, Pair::combine(r1, x0))));
    }
};

template <class Pair>
struct segmented_rows : before_slice<Pair> {
    using T = typename Pair::T;
    using U = typename Pair::U;
    using base = before_slice<Pair>;
    using base::alone, base::any, base::before, base::first_lane, base::group_lanes, base::heads,
        base::initial, base::k, base::lane, base::matrix, base::place_in, base::R, base::row_begins,
        base::row_in, base::shape, base::slice_rows, base::sum, base::w;
    using base::before_slice;

    DEVICE void write_totals(const U (&x)[R], int step, int64_t p) const {
        T *const totals = (T *)matrix.totals + row_in(step);
        const int64_t n = matrix.length, left = matrix.lines - row_in(step);
        if (w.row * slice_rows >= shape.rows || left <= 0) return;
        if (n == 0 && k == 0 && w.row_warp == 0)
            *totals = Pair::out(matrix.has_initial ? initial : (U)Pair::visible, w.a.transform);
        uint32_t last = p < n && n - p <= R ? 1u << (n - 1 - p) : 0; /* elements of rows */
        if (slice_rows > 1) last *= row_begins();
        UNROLL_FOR (int j = 0; j < R; ++j) {
            if (!(last >> j & 1)) continue;
            const int of = __popc(last & bits_below(j));
            if (of < left) totals[of] = Pair::out(x[j], w.a.transform);
        }
    }

    DEVICE void step(U (&x)[R], int step, int items) {
        if (!w.along || step == 0) {
            w.begin_rows(step);
            initial = w.p;
            before = before_tile<Pair>::from(initial);
        }
        base::scan_slice(x);
        bool cut_lane = false;
        if constexpr (Pair::in_any_order) {
            base::add_row(x, step);
        } else {
            if (alone)
                base::add_lanes(x);
            else
                base::add_warps(x, step);
            cut_lane = lanes_between(any, first_lane + (k & -group_lanes), lane) != 0;
        }
        const U visible = matrix.has_initial ? initial : (U)Pair::visible;
        const int64_t p = place_in(step);
        U earlier = p == 0 ? visible : sum(Pair::identity);
        UNROLL_FOR (int j = 0; j < R; ++j) {
            const bool cut = cut_lane || (heads & ((2u << j) - 1));
            const U y = sum(x[j]);
            x[j] = cut ? Pair::combine(initial, x[j]) : y;
        }
        if (matrix.totals != nullptr) write_totals(x, step, p);
        if (matrix.exclusive) {
            const U left = __shfl_up_sync(warp_mask, x[R - 1], 1);
            if (k > 0) earlier = left;
            UNROLL_FOR (int j = R - 1; j > 0; --j) x[j] = heads >> j & 1 ? visible : x[j - 1];
            x[0] = heads & 1 ? visible : earlier;
        }
        w.store(x, step, items);
    }
};

template <class Pair>
__global__ void __launch_bounds__(1024)
    matrix_segmented_rows(const __grid_constant__ matrix_arguments<rows_shape> a) {
    using U = typename Pair::U;
    __shared__ segmented_rows_shared<Pair> shared;
    begin_rows<typename Pair::T>(a);
    rows_warp<Pair> w(a, shared.rows);
    segmented_rows<Pair> segments(w, shared);
    each_step(
        w, [&](int step) { segments.load_heads(step); },
        [&](U(&x)[rows_warp<Pair>::R], int step, int items) { segments.step(x, step, items); });
}

} /* namespace vscan */
