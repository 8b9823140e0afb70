/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernels for rows and for columns of a matrix have in common. */
#ifndef VSCAN_MATRIX_LINES_CUH
#define VSCAN_MATRIX_LINES_CUH

#include "scan/large_tile.cuh"

namespace vscan {

/* What the kernels are given; Shape says how the matrix is dealt to blocks. */
template <class Shape>
struct matrix_arguments {
    vscan__matrix matrix;
    Shape shape;
    lookback_memory lookback;
};

template <class Shape>
static matrix_arguments<Shape>
matrix_arguments_of(const vscan__launch *launch, const vscan__matrix &matrix, const Shape &shape) {
    return {matrix, shape, lookback_of(launch)};
}

/* Initial value of a line, or the identity. */
template <class Pair>
static __device__ __forceinline__ typename Pair::U initial_of(const vscan__matrix &matrix,
                                                              int64_t line) {
    using T = typename Pair::T;
    if (matrix.has_initial == 1) return Pair::in(element_of<T>(matrix.initial));
    if (matrix.has_initial == 2)
        return Pair::in(((const T *)matrix.initial_at)[line * matrix.initial_step]);
    return Pair::identity;
}

/* x becomes the identity from x[here] on, and then x[j] the sum of x[0 .. j]. */
template <class Pair, int R>
static __device__ __forceinline__ void scan_piece(typename Pair::U (&x)[R], int here) {
    if (here < R) {
#pragma unroll
        for (int j = 0; j < R; ++j)
            if (j >= here) x[j] = Pair::identity;
    }
    if constexpr (Pair::in_any_order) {
#pragma unroll
        for (int j = 1; j < R; ++j) x[j] = Pair::combine(x[j - 1], x[j]);
    } else {
        scan_row<Pair, false, R>(x, 0);
    }
}

/*
 * Rows of which lanes, warps and chunks have pieces one after the other, in this order. x: a lane's
 * R elements, scanned. upto: the sum of the row, or tile, so far, with the lane's; end: of the whole
 * groups before the lane's.
 */

/* Over the row's lanes in the warp, from first_lane on: the lane is number k of so many. */
template <class Pair, int R>
static __device__ __forceinline__ void add_lanes(typename Pair::U (&x)[R], int k, int first_lane,
                                                 int lanes, typename Pair::U &upto,
                                                 typename Pair::U &end) {
    using U = typename Pair::U;
    constexpr int group_lanes = Pair::in_any_order ? 1 : VSCAN__GROUP / R;
    end = Pair::identity;
    upto = x[R - 1];
#pragma unroll
    for (int half = 1; half < 32; half *= 2) {
        if (half >= lanes) break;
        U before = __shfl_sync(all_lanes, upto, first_lane + (k & ~(half - 1)) - 1);
        if (!(k & half)) before = Pair::identity;
        if (half < group_lanes) {
#pragma unroll
            for (int j = 0; j < R; ++j) x[j] = Pair::combine(before, x[j]);
            upto = x[R - 1];
        } else {
            end = Pair::combine(before, end);
            upto = Pair::combine(before, upto);
        }
    }
}

/* Over the row's warps, number row_warp of so many. sum: that of warp number `lane`; becomes that of
   the warps up to it in its part of the tree, in the last one's lane of them all. */
template <class Pair>
static __device__ __forceinline__ void add_warps(int lane, int row_warp, int warps,
                                                 typename Pair::U &sum, typename Pair::U &upto,
                                                 typename Pair::U &end) {
    using U = typename Pair::U;
#pragma unroll 1
    for (int half = 1; half < warps; half *= 2) {
        const U to_warp = __shfl_sync(all_lanes, sum, (row_warp & ~(half - 1)) - 1);
        const U to_lane = __shfl_sync(all_lanes, sum, (lane & ~(half - 1)) - 1);
        if (row_warp & half) {
            end = Pair::combine(to_warp, end);
            upto = Pair::combine(to_warp, upto);
        }
        if (lane & half) sum = Pair::combine(to_lane, sum);
    }
}

/* Over the tile's chunks, of which this is number m of 1, 2 or 4. left_chunk: sums of the chunk
   before, and of the first two. p: what comes before the tile; after its last chunk, with it. */
template <class Pair>
static __device__ __forceinline__ void
add_chunks(int m, int chunks, typename Pair::U &chunk_sum, typename Pair::U (&left_chunk)[2],
           typename Pair::U &p, typename Pair::U &upto, typename Pair::U &end) {
#pragma unroll
    for (int b = 0; b < 2; ++b) {
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

/* x becomes the results, end the one before the first. before: what comes before the tile. */
template <class Pair, int R>
static __device__ __forceinline__ void make_results(typename Pair::U (&x)[R],
                                                    typename Pair::U before, typename Pair::U upto,
                                                    typename Pair::U &end, bool ends_group) {
    using U = typename Pair::U;
    if constexpr (Pair::in_any_order) {
        end = Pair::combine(before, end);
#pragma unroll
        for (int j = 0; j < R; ++j) x[j] = Pair::combine(end, x[j]);
    } else {
#pragma unroll
        for (int j = 0; j < R; ++j) {
            const U of_tile = Pair::combine(end, x[j]);
            x[j] = Pair::combine(before, j == R - 1 && ends_group ? upto : of_tile);
        }
        end = Pair::combine(before, end);
    }
}

/* x[here - 1], or else this: not from memory. */
template <class U, int R>
static __device__ __forceinline__ U last_of(const U (&x)[R], int here, U none) {
    U last = none;
#pragma unroll
    for (int j = 0; j < R; ++j)
        if (j == here - 1) last = x[j];
    return last;
}

} /* namespace vscan */

#endif
