/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scans of the columns of a matrix, in one pass.
 *
 * A thread holds a slice of a column in registers, 128 bytes, and scans it alone: a group of
 * floats, half a group of doubles. A block owns a chunk of some columns: a power of 2 of slices of
 * each. The lanes of a warp have adjacent columns, so that it reads and writes whole cache lines;
 * of fewer than 32 columns it also has the next slices. Shared memory has the sums of slices, and
 * the aggregates of earlier chunks that the block has read.
 *
 * A column longer than a chunk is scanned by several blocks. They own chunks in the order of their
 * numbers, in which they also start (reduce/large.cuh relies on that too), so the earlier chunks of
 * a column are taken earlier. The ticket only tells the epoch and which block is the last, so no
 * block waits for it before it loads.
 *
 * Float and double plus: the levels of the nested order and their look-back are explained in
 * matrix/columns/nested.cuh and nested_look_back.cuh.
 *
 * Where any order suits, the sums of slices are combined one level of a tree at a time. The number
 * m of a chunk in its tile is written with digits of radix 2^log_radix. If the last d digits of m,
 * and no more, have the highest value, the aggregate of the chunk is the sum of the radix^d chunks
 * that end with it. The chunks before chunk m are covered by as many aggregates for each digit as
 * its value says; the aggregate of a tile's last chunk is the sum of the tile. So the longest chain
 * of aggregates is as long as m has digits, and few are read.
 *
 * Tiles are added from the left by every chunk. Where there are more than a window of them, a chunk
 * begins with the prefix of the first tile of the window, which that tile's predecessor publishes
 * too.
 *
 * Memory order and progress: an aggregate carries its epoch, so relaxed order is enough
 * (kernels/README.md). A block waits only for earlier blocks, and it publishes its aggregate before
 * it waits for anything that this does not need.
 *
 * A block prefetches a later chunk to L2, while blocks wait for one another. So a chunk's load is
 * fast when its successors wait for it.
 */
#pragma once

#include "matrix/columns/look_back.cuh"
#include "matrix/columns/nested_look_back.cuh"

namespace vscan {

/* ---- Kernel ---------------------------------------------------------------------------------- */

/* Small: a small matrix, of float or double plus. */
template <class Pair, bool Small>
__global__ void __launch_bounds__(Small ? small_columns_threads : columns_max_threads,
                                  Small ? small_columns_resident : columns_resident)
    matrix_columns(const __grid_constant__ matrix_arguments<columns_shape> a) {
    using U = typename Pair::U;
    __shared__ U sums[Small ? small_columns_threads : columns_max_threads];
    __shared__ ticket shared_ticket;
    const bool split = a.shape.chunks > 1; /* columns, among blocks */
    ticket mine = {};
    if (split) {
        if (threadIdx.x == 0) mine = take_ticket(a.lookback);
    }
    column_chunk<Pair> c = {a, sums};
    c.load();
    if (split && threadIdx.x == 0) {
        shared_ticket = mine;
        if (mine.index == gridDim.x - 1) advance(a.lookback, mine.epoch);
    }
    U sum, part;
    c.add_slices(sum, part);
    if constexpr (Pair::in_any_order) {
        epoch_t epoch = 0;
        if (split) {
            epoch = shared_ticket.epoch;
            if (shared_ticket.index == gridDim.x - 1)
                scrub(a.lookback, epoch, (int)threadIdx.x, (int)blockDim.x);
        }
        U end = c.slice > 0 ? sums[(c.slice - 1) * c.lines + c.line] : Pair::identity;
        const U initial = c.there ? initial_of<Pair>(a, c.my_line) : (U)Pair::identity;
        U p = initial;
        column_look_back<Pair> l = {a,       epoch,   c.chunk, (uint32_t)c.my_line,
                                    c.there, c.slice, c.line,  c.slices};
        if (split) p = l.look_back(initial, sum, end);
        c.add_and_write(initial, p, end, l.m);
    } else {
        nested_look_back<Pair, Small> l = {c};
        if (split) {
            l.epoch = shared_ticket.epoch;
            if (shared_ticket.index == gridDim.x - 1)
                scrub(a.lookback, l.epoch, (int)threadIdx.x, (int)blockDim.x);
        }
        l.add_levels();
        l.write(part);
    }
}

/* ---- Launch ---------------------------------------------------------------------------------- */

static int log_over(int64_t n) {
    int log = 0;
    while ((int64_t)1 << log < n) ++log;
    return log;
}

/* How many of 4096 lanes have an element, in blocks of up to `threads` threads that have `some`
   of the columns and up to `slices` slices of each. */
static int64_t busy_lanes(int64_t lines, int64_t some, int threads, int slices) {
    while (slices > 1 && slices * some > threads) slices /= 2;
    const int64_t blocks = (lines + some - 1) / some;
    return lines * slices * 4096 / (blocks * ((slices * some + 31) / 32 * 32));
}

/*
 * How many columns a block has, of `threads` threads: 32 or more, so that whole cache lines are read and
 * written; or all columns, if these are at most `most` and fewer lanes are idle.
 *   slices   of a column, a power of 2
 */
static int lines_of_block(int64_t lines, int most, int threads, int slices) {
    const int some = threads / slices > 32 ? threads / slices : 32;
    if (lines <= some || (lines <= most && busy_lanes(lines, lines, threads, slices) >
                                               busy_lanes(lines, some, threads, slices)))
        return (int)lines;
    return some;
}

/*
 * Float and double plus in small matrices: a block has a block of level 1 of as few columns as a
 * sector of 32 bytes, so that as little as possible is waited for. Slices of a column, a whole
 * group at least, and columns of a block.
 */
static int log_small_slices(int64_t length, int size) {
    const int R = matrix_slice_bytes / size;
    const int64_t rows = length < VSCAN__LEVEL_1 ? length : VSCAN__LEVEL_1;
    return log_over((rows > VSCAN__GROUP ? rows + R - 1 : VSCAN__GROUP) / R);
}
static int small_lines_of_block(int64_t lines, int log_slices) {
    const int some = small_columns_threads >> log_slices;
    return lines < some ? (int)lines : some;
}
/* Rows begin anywhere in a cache line. */
static bool is_unaligned(const vscan__matrix &matrix) {
    return matrix.lines > 64 && matrix.lines < 256 && matrix.lines % 32 != 0;
}
static bool has_small_columns(const vscan__matrix &matrix, int size) {
    const int64_t most = is_unaligned(matrix) ? small_unaligned_columns_items : small_columns_items;
    return matrix.lines * matrix.length <= most && matrix.lines * size >= 32 &&
           matrix.length > VSCAN__GROUP;
}

/* Threads of a block, at most. */
static int columns_threads(const vscan__matrix &matrix, int size) {
    const bool one_chunk = matrix.length * size <= matrix_slice_bytes * columns_max_threads / 32;
    const bool large = matrix.lines * matrix.length * size >= columns_max_threads_from;
    if (large && (matrix.lines < 32 || one_chunk)) return columns_max_threads;
    return is_unaligned(matrix) ? columns_unaligned_threads : columns_threads_else;
}

static columns_shape columns_shape_of(const vscan__matrix &matrix, int size, bool in_any_order) {
    const int R = matrix_slice_bytes / size;
    const int tile_items = size == 8 ? VSCAN__TILE_DOUBLE : VSCAN__TILE_FLOAT;
    const int64_t length = matrix.length;
    const int threads = columns_threads(matrix, size);
    columns_shape s = {};
    const int64_t slices = length > R ? (length + R - 1) / R : 1;
    s.log_slices = log_over(slices < threads ? slices : threads);
    s.lines = lines_of_block(matrix.lines, threads / 4, threads, 1 << s.log_slices);
    while (s.lines << s.log_slices > threads) --s.log_slices;
    const bool small = !in_any_order && has_small_columns(matrix, size);
    if (small) {
        s.log_slices = log_small_slices(length, size);
        s.lines = small_lines_of_block(matrix.lines, s.log_slices);
    }
    const int64_t chunk_items = (int64_t)R << s.log_slices;
    /* as few digits as possible, of at most 4 bits */
    const int bits = log_over(tile_items / chunk_items), digits = bits > 4 ? (bits + 3) / 4 : 1;
    s.log_radix = bits > 0 ? (bits + digits - 1) / digits : 1;
    s.line_blocks = (uint32_t)((matrix.lines + s.lines - 1) / s.lines);
    s.row_prefetches = (s.lines * size + 127) / 128;
    /* of many columns, what a chunk waits for was published long ago */
    const bool one_matrix = matrix.each == matrix.lines;
    s.ahead = one_matrix && s.line_blocks < 128 && !small
                  ? columns_ahead_items / (s.lines * chunk_items)
                  : 0;
    s.chunks = length > chunk_items ? (length + chunk_items - 1) / chunk_items : 1;
    s.tiles = length > tile_items ? (length + tile_items - 1) / tile_items : 1;
    s.window = columns_window;
    const int64_t own = (int64_t)1 << log_words_of_chunk(log_over(chunk_items));
    const int64_t words = in_any_order ? s.chunks + s.tiles : s.chunks * own + 2 * s.tiles;
    s.status_words = s.chunks > 1 ? words : 0;
    return s;
}

/* Aggregates of a line that a block reads, at most, and other sums. */
template <class Pair>
static int shared_values(const columns_shape &s, int64_t chunk_items) {
    using T = typename Pair::T;
    if constexpr (Pair::in_any_order) {
        if (s.chunks == 1) return 0;
        int count = s.window + 1;
        for (int left = (int)(nested<T>::tile / chunk_items) - 1; left > 0; left >>= s.log_radix)
            count += left < 1 << s.log_radix ? left : (1 << s.log_radix) - 1;
        return count;
    } else {
        const int sums = nested_sums_of_line(chunk_items);
        return s.chunks == 1 ? sums : sums + nested<T>::groups + nested<T>::blocks + s.window;
    }
}

template <class Pair>
static cudaError_t launch_columns(const vscan__launch *launch, const vscan__matrix *matrix,
                                  const pair_transform &transform) {
    using U = typename Pair::U;
    const int size = (int)sizeof(typename Pair::T);
    const columns_shape s = columns_shape_of(*matrix, size, Pair::in_any_order);
    const int64_t blocks = s.line_blocks * s.chunks;
    /* indices of aggregates have 32 bits */
    if (blocks > INT32_MAX || s.status_words * matrix->lines > UINT32_MAX)
        return cudaErrorInvalidConfiguration;
    const int values = shared_values<Pair>(s, matrix_slice_bytes / size << s.log_slices);
    auto *kernel = matrix_columns<Pair, false>;
    if constexpr (!Pair::in_any_order) {
        if (has_small_columns(*matrix, size)) kernel = matrix_columns<Pair, true>;
    }
    return start(kernel, blocks, ((s.lines << s.log_slices) + 31) / 32 * 32,
                 values * s.lines * (int)sizeof(U), launch->stream,
                 matrix_arguments_of(launch, *matrix, s, transform));
}

} /* namespace vscan */
