/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reductions of the columns of a small matrix, and which kernel a matrix has.
 *
 * Latency counts here: hops from block to block, and instructions, most of which a launch runs
 * once and has to fetch. A block owns a block of level 1 of some columns, as few as a sector of
 * 32 bytes; a thread has 128 bytes of a column. One thread of a column folds its groups. Columns
 * of several blocks: all but the last publish X1, and the last one reads all of these and folds
 * them by tiles. So it waits once.
 */
#pragma once

#include "matrix/columns/reduce.cuh"

namespace vscan {

static bool has_small_column_sums(const vscan__matrix &matrix) {
    return matrix.lines * matrix.length <= small_column_sums_items &&
           matrix.length <= (int64_t)small_column_sums_blocks * VSCAN__LEVEL_1 &&
           matrix.length <= VSCAN__LEVEL_3;
}

static column_sums_shape small_column_sums_shape_of(const vscan__matrix &matrix, int size) {
    const int64_t length = matrix.length, level_1 = VSCAN__LEVEL_1;
    column_sums_shape s = {};
    s.batches = 1;
    s.log_slices = log_small_slices(length, size);
    s.lines = small_lines_of_block(matrix.lines, s.log_slices);
    s.line_blocks = (uint32_t)((matrix.lines + s.lines - 1) / s.lines);
    s.chunks = length > level_1 ? (length + level_1 - 1) / level_1 : 1;
    const int64_t tile_blocks = (size == 8 ? VSCAN__TILE_DOUBLE : VSCAN__TILE_FLOAT) / level_1;
    s.tiles = (s.chunks + tile_blocks - 1) / tile_blocks;
    s.status_words = s.chunks > 1 ? s.chunks : 0;
    return s;
}

template <class Pair>
__global__ void __launch_bounds__(small_columns_threads, small_column_sums_resident)
    matrix_small_column_sums(const __grid_constant__ matrix_arguments<column_sums_shape> a) {
    using T = typename Pair::T;
    using U = typename Pair::U;
    using sums_of = column_sums<Pair>;
    constexpr int R = 128 / (int)sizeof(T), parts = VSCAN__GROUP / R, reads = column_sums_reads;
    __shared__ U sums[small_columns_threads];
    __shared__ U blocks[small_column_sums_blocks * small_columns_threads * R / VSCAN__LEVEL_1];
    __shared__ ticket shared_ticket;
    const vscan__matrix &matrix = a.matrix;
    const int lines = a.shape.lines, slices = 1 << a.shape.log_slices;
    const int chunks = (int)a.shape.chunks;
    ticket mine = {};
    if (chunks > 1 && threadIdx.x == 0) mine = take_ticket(a.lookback);

    const int chunk = chunks > 1 ? blockIdx.x / a.shape.line_blocks : 0;
    const int slice = threadIdx.x / (uint32_t)lines, line = (int)threadIdx.x - slice * lines;
    const int my_line = (blockIdx.x - chunk * (int)a.shape.line_blocks) * lines + line;
    const bool there = my_line < (int)matrix.lines && slice < slices;
    const bool folds = there && slice == 0, resumed = chunk + 1 < chunks;
    const int length = (int)matrix.length, first = chunk * VSCAN__LEVEL_1 + slice * R;
    const int left = there ? length - first : 0;
    const int64_t step = matrix.backward ? -matrix.step : matrix.step;
    const T *const at = (const T *)matrix.in + column_at(matrix, my_line) +
                        (matrix.backward ? length - 1 - first : first) * matrix.step;
    sums[threadIdx.x] = __all_sync(~0u, left >= R)
                            ? sums_of::template sum_batch<true>(at, step, R, a.transform)
                            : sums_of::template sum_batch<false>(at, step, left, a.transform);
    if (chunks > 1 && threadIdx.x == 0) {
        shared_ticket = mine;
        if (mine.index == gridDim.x - 1) advance(a.lookback, mine.epoch);
    }
    __syncthreads();

    U x1 = Pair::identity;
    if (folds) x1 = fold<Pair, 8, parts>(x1, sums + line, slices, lines);
    U r3 = Pair::identity; /* and x1 becomes X2 */
    if (chunks > 1) {
        const epoch_t epoch = shared_ticket.epoch;
        if (shared_ticket.index == gridDim.x - 1)
            scrub(a.lookback, epoch, (int)threadIdx.x, (int)blockDim.x);
        jitter(a.lookback, epoch, blockIdx.x, jitter_publish);
        const auto index_of = [&](int k) { return k * (int)matrix.lines + my_line; };
        if (resumed) {
            if (folds) publish<U>(a.lookback, epoch, index_of(chunk), x1);
            return;
        }
        if (folds) blocks[chunk * lines + line] = x1;
        jitter(a.lookback, epoch, blockIdx.x, jitter_wait);
        if (there)
            read_of_line<reads>(a.lookback, epoch, blocks + line, lines, slice, slices, 0, chunk,
                                index_of);
        __syncthreads();
        /* more slices than tiles */
        const int block = slice * nested<T>::blocks, rest = chunks - block;
        if (rest > 0)
            sums[threadIdx.x] =
                fold<Pair, 8>(Pair::identity, blocks + block * lines + line,
                              rest < nested<T>::blocks ? rest : nested<T>::blocks, lines);
        __syncthreads();
        if (folds) {
            const int tiles = (int)a.shape.tiles;
            r3 = fold<Pair, 4>(Pair::identity, sums + line, tiles - 1, lines);
            x1 = sums[(tiles - 1) * lines + line];
        }
    }
    if (!folds) return;
    const U sum = Pair::combine(initial_of<Pair>(a, my_line), Pair::combine(r3, x1));
    const bool nothing = length == 0 && !matrix.has_initial;
    ((T *)matrix.totals)[my_line] = Pair::out(nothing ? (U)Pair::visible : sum, a.transform);
}

/* ---- Launch ---------------------------------------------------------------------------------- */

/* Of the kernel that a matrix has. */
static column_sums_shape chosen_column_sums_shape(const vscan__matrix &matrix, int size) {
    return has_small_column_sums(matrix) ? small_column_sums_shape_of(matrix, size)
                                         : column_sums_shape_of(matrix, size);
}

template <class Pair>
static cudaError_t launch_column_sums(const vscan__launch *launch, const vscan__matrix *matrix,
                                      const pair_transform &transform) {
    const int size = sizeof(typename Pair::T);
    const bool small = has_small_column_sums(*matrix);
    const column_sums_shape s = chosen_column_sums_shape(*matrix, size);
    const int64_t blocks = s.line_blocks * s.chunks;
    if (blocks > INT32_MAX) return cudaErrorInvalidConfiguration;
    const int batches = s.batches << s.log_slices;
    const int own_blocks = batches * 128 / size / VSCAN__LEVEL_1 + 1;
    return start(small ? matrix_small_column_sums<Pair> : matrix_column_sums<Pair>, blocks,
                 ((s.lines << s.log_slices) + 31) / 32 * 32,
                 small ? 0 : (batches + own_blocks) * s.lines * size, launch->stream,
                 matrix_arguments_of(launch, *matrix, s, transform));
}

} /* namespace vscan */
