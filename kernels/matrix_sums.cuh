/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reductions of rows that are not short: no element goes through shared memory.
 *
 * A warp has a part of a row, 4 KiB, all of its loads under way at once; a lane's 16 bytes are added
 * in the lane, then over the lanes, the part's lines of 512 bytes, and the parts: the balanced tree of
 * lib/order.h. A block has 16 parts: some rows, or one tile of a row. What is left of a row behind its
 * last whole group of 32 elements is one element a lane of the row's first warp, a tree of its own. In
 * a backward reduction the elements of 16 bytes are in memory's order: a sum of two has the same bits
 * either way.
 *
 * Of a row of several tiles, each block but that of the last tile publishes its sum as a word
 * (unit_words.cuh), and that one folds them from the left. Blocks have the tiles in the order of their
 * numbers, in which they also start (reduce_units.cuh relies on that too); the ticket that each takes
 * only says which launch this is, and is not waited for before the elements.
 */
#ifndef VSCAN_MATRIX_SUMS_CUH
#define VSCAN_MATRIX_SUMS_CUH

#include "matrix_lines.cuh"
#include "reduce_lanes.cuh"

namespace vscan {

static constexpr int sum_warps = 16, sum_loads = 8, sum_part_bytes = sum_loads * 512;

struct row_sums_shape {
    int row_warps;  /* of a row, a power of 2 */
    uint32_t tiles; /* of a row */
    bool quads;     /* 16 bytes of a lane are 16 bytes of memory */
};

/* p and the sums of so many tiles, whose words begin at `at`, from left to right; by a warp. */
template <class Pair>
static __device__ __forceinline__ typename Pair::U fold_words(typename Pair::U p, const word *words,
                                                              int64_t at, uint32_t tiles,
                                                              uint32_t tag, int lane) {
    using U = typename Pair::U;
#pragma unroll 1
    for (uint32_t t = 0; t < tiles; t += 32) {
        U of_tile = Pair::identity;
        if (t + lane < tiles) of_tile = wait_for_word<U>(words, at + t + lane, tag);
        __syncwarp();
#pragma unroll 1
        for (uint32_t l = 0; l < 32 && t + l < tiles; ++l)
            p = Pair::combine(p, __shfl_sync(all_lanes, of_tile, l));
    }
    return p;
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

/* By one thread of each block; used: words that the launch writes. */
static __device__ __forceinline__ ticket next_ticket(const matrix_arguments<row_sums_shape> &a,
                                                     uint32_t tickets, int64_t used) {
    const ticket mine = take_ticket(a.header);
    if (mine.index == tickets - 1) end_tickets(a.header, a.words, a.capacity, used);
    return mine;
}

template <class Pair>
__global__ void __launch_bounds__(32 * sum_warps, 2)
    matrix_row_sums(const __grid_constant__ matrix_arguments<row_sums_shape> a) {
    using T = typename Pair::T;
    using U = typename Pair::U;
    constexpr int V = 16 / (int)sizeof(T), load_items = 32 * V, part_items = sum_loads * load_items;
    __shared__ U sums[sum_warps];

    const vscan__matrix &matrix = a.matrix;
    const row_sums_shape &shape = a.shape;
    const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
    ticket mine = {};
    if (shape.tiles > 1 && threadIdx.x == 0)
        mine = next_ticket(a, gridDim.x, matrix.lines * shape.tiles * unit_word<U>::words);

    /* ---- Elements ---------------------------------------------------------------------------- */
    const uint32_t tile = blockIdx.x % shape.tiles;
    const int part = warp & (shape.row_warps - 1);
    const int64_t line = (int64_t)(blockIdx.x / shape.tiles) * (sum_warps / shape.row_warps) +
                         warp / shape.row_warps;
    const bool there = line < matrix.lines,
               ends_row = there && part == 0 && tile == shape.tiles - 1;
    const int64_t grouped = matrix.length & -VSCAN__GROUP;
    const int64_t first = ((int64_t)tile * sum_warps + part) * part_items + lane * V;
    const int64_t left = there ? grouped - first : 0; /* elements from the lane's first one on */
    const T *const row = (const T *)matrix.in + line * matrix.line_step;
    const T *const at = row + (matrix.backward ? matrix.length - V - first : first);
    const int64_t step = matrix.backward ? -load_items : load_items;
    T raw[sum_loads][V];
#pragma unroll
    for (int r = 0; r < sum_loads; ++r)
#pragma unroll
        for (int j = 0; j < V; ++j) raw[r][j] = 0;
    if (shape.quads) {
#pragma unroll
        for (int r = 0; r < sum_loads; ++r) {
            if (r * load_items >= left) continue;
            const int4 quad = load_quad(at + r * step);
            memcpy(raw[r], &quad, 16);
        }
    } else {
#pragma unroll
        for (int r = 0; r < sum_loads; ++r) {
            if (r * load_items >= left) continue;
#pragma unroll
            for (int j = 0; j < V; ++j) raw[r][j] = at[r * step + j];
        }
    }
    U rest = Pair::identity;
    if (ends_row && lane < (int)(matrix.length - grouped))
        rest = Pair::in(row[matrix.backward ? matrix.length - 1 - grouped - lane : grouped + lane]);

    /* ---- Their sum --------------------------------------------------------------------------- */
    U x[sum_loads];
#pragma unroll
    for (int r = 0; r < sum_loads; ++r) {
        U items[V];
#pragma unroll
        for (int j = 0; j < V; ++j) items[j] = Pair::in(raw[r][j]);
        x[r] = sum_items<Pair>(items);
        if (r * load_items >= left) x[r] = Pair::identity;
    }
    U sum;
    if constexpr (Pair::in_any_order)
        sum = over_lanes<Pair>::sum(sum_items<Pair>(x));
    else
        sum = sum_rows<Pair>(x, lane);
    if (shape.row_warps > 1) {
        if (lane == 0) sums[warp] = sum;
        __syncthreads();
        if (part > 0) return;
        sum = over_lanes<Pair>::sum(lane < shape.row_warps ? sums[warp + lane] : Pair::identity);
    }
    if (!there) return;

    /* ---- The row's other tiles --------------------------------------------------------------- */
    const int64_t words_at = line * shape.tiles;
    uint32_t tag = 0;
    if (shape.tiles > 1) {
        tag = __shfl_sync(all_lanes, mine.tag, 0);
        if (!ends_row) {
            test_delay(a.delay, tag, blockIdx.x, 0);
            if (lane == 0) unit_word<U>::publish(a.words, words_at + tile, tag, sum);
            return;
        }
        test_delay(a.delay, tag, blockIdx.x, 1);
    }
    if (matrix.length > grouped) sum = Pair::combine(sum, over_lanes<Pair>::sum(rest));
    const U p =
        fold_words<Pair>(initial_of<Pair>(matrix, line), a.words, words_at, tile, tag, lane);
    if (lane == 0) ((T *)matrix.totals)[line] = Pair::out(Pair::combine(p, sum));
}

/* ---- Launch ---------------------------------------------------------------------------------- */

/* Pairs that have this kernel: all of them would make the library larger by some 300 KB, and of doubles
   the compiler has one load wait for another. */
template <class Pair>
static constexpr bool sums_rows = false;
template <>
constexpr bool sums_rows<pair<op_plus, int>> = true;
template <>
constexpr bool sums_rows<pair<op_plus, float>> = true;

/* Whether a matrix is one for this kernel. Shorter rows are packed more tightly by that for scans. */
static bool has_row_sums(const vscan__matrix &matrix, int size) {
    return matrix.out == nullptr && matrix.totals != nullptr && matrix.length * size >= 2048;
}

static row_sums_shape row_sums_shape_of(const vscan__matrix &matrix, int size) {
    const int64_t parts = (matrix.length * size + sum_part_bytes - 1) / sum_part_bytes;
    row_sums_shape s = {};
    s.row_warps = 1;
    while (s.row_warps < sum_warps && s.row_warps < parts) s.row_warps *= 2;
    s.tiles = (uint32_t)((parts + sum_warps - 1) / sum_warps);
    s.quads = (uintptr_t)matrix.in % 16 == 0 && matrix.line_step * size % 16 == 0 &&
              (!matrix.backward || matrix.length * size % 16 == 0);
    return s;
}

template <class Pair>
static cudaError_t launch_row_sums(const vscan__launch *launch, const vscan__matrix *matrix) {
    const row_sums_shape s = row_sums_shape_of(*matrix, sizeof(typename Pair::T));
    const int64_t rows = sum_warps / s.row_warps; /* of a block */
    const int64_t blocks = (matrix->lines + rows - 1) / rows * s.tiles;
    if (blocks > INT32_MAX) return cudaErrorInvalidConfiguration;
    return start(matrix_row_sums<Pair>, blocks, 32 * sum_warps, 0, launch->stream,
                 matrix_arguments_of(launch, *matrix, s));
}

} /* namespace vscan */

#endif
