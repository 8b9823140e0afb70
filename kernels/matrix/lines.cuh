/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernels for rows and for columns of a matrix have in common. A line is a row or a
   column; a slice is the part of a line that a thread holds in registers. */
#ifndef VSCAN_MATRIX_LINES_CUH
#define VSCAN_MATRIX_LINES_CUH

#include "matrix/tuning.cuh"
#include "scan/large_tile.cuh"

namespace vscan {

/* Arguments of the kernels; Shape says how the matrix is divided among blocks. */
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

/* The initial value of a line, or the identity. */
template <class Pair>
static __device__ __forceinline__ typename Pair::U initial_of(const vscan__matrix &matrix,
                                                              int64_t line) {
    using T = typename Pair::T;
    if (matrix.has_initial == 1) return Pair::in(element_of<T>(matrix.initial));
    if (matrix.has_initial == 2)
        return Pair::in(((const T *)matrix.initial_at)[line * matrix.initial_step]);
    return Pair::identity;
}

/* Sets x to the identity from x[here] on, then scans it: x[j] = x[0] + ... + x[j]. */
template <class Pair, int R>
static __device__ __forceinline__ void scan_slice(typename Pair::U (&x)[R], int here) {
    if (here < R) {
#pragma unroll
        for (int j = 0; j < R; ++j)
            if (j >= here) x[j] = Pair::identity;
    }
    if constexpr (Pair::in_any_order) {
#pragma unroll
        for (int j = 1; j < R; ++j) x[j] = Pair::combine(x[j - 1], x[j]);
    } else {
        scan_line<Pair, false, R>(x, 0);
    }
}

/*
 * The network of lib/order.h over lanes, warps and chunks that hold consecutive slices of a row. x:
 * a lane's slice, scanned. upto: the sum of the row, or of the tile, up to and with the slice. end:
 * the sum of the whole groups before the slice.
 */

/* Over the row's lanes in the warp, from first_lane on: this is lane k of `lanes`. */
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
        U before = __shfl_sync(warp_mask, upto, first_lane + (k & ~(half - 1)) - 1);
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

/* Over the row's warps: this is warp row_warp of `warps`. sum: in lane l, that of warp l;
   becomes that of its left subtree and itself, in the last warp's lane the sum of all. */
template <class Pair>
static __device__ __forceinline__ void add_warps(int lane, int row_warp, int warps,
                                                 typename Pair::U &sum, typename Pair::U &upto,
                                                 typename Pair::U &end) {
    using U = typename Pair::U;
#pragma unroll 1
    for (int half = 1; half < warps; half *= 2) {
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

/* Turns x into results, and end into the result before x[0]. before: the prefix of the tile. */
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

/* p and the aggregates of so many tiles from number `at` on, from left to right; the same in all
   lanes. By a warp. */
template <class Pair>
static __device__ __forceinline__ typename Pair::U
add_row_tiles(typename Pair::U p, const lookback_memory &memory, int64_t at, uint32_t tiles,
              epoch_t epoch, int lane) {
    using U = typename Pair::U;
#pragma unroll 1
    for (uint32_t t = 0; t < tiles; t += 32) {
        U of_tile = Pair::identity;
        if (t + lane < tiles) of_tile = wait_for<U>(memory, epoch, at + t + lane);
        __syncwarp();
#pragma unroll 1
        for (uint32_t l = 0; l < 32 && t + l < tiles; ++l)
            p = Pair::combine(p, __shfl_sync(warp_mask, of_tile, l));
    }
    return p;
}

/* x[here - 1] if it exists, else `none`; by selects, since an index would put x in local memory. */
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
