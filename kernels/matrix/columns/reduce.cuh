/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reductions of the columns of a matrix, in the nested order (matrix/columns/nested.cuh); of small matrices:
 * reduce_small.cuh.
 *
 * A block owns a chunk of some columns, at most a tile: a power of 2 of slices of each. A thread
 * reduces a slice of a column, in batches of 128 bytes whose loads are in flight together. Shared
 * memory has the sum of each batch: of a group of 4-byte elements, of half a group of 8-byte ones. One
 * thread of a column folds those of a block of level 1. The elements of a column behind its last whole
 * group are reduced by the block of its last chunk.
 *
 * The last chunk of a block of level 1, of a tile, of a window of tiles and of a column fold what was
 * published before; the others are finished once they have published. The last tile of a window
 * publishes R3 and R4 behind it.
 *
 * Blocks own chunks in the order of their numbers, in which they also start (reduce/large.cuh
 * relies on that too). The ticket only tells the epoch and which block is the last, so no block
 * waits for it before it loads. An aggregate carries its epoch, so relaxed order is enough
 * (kernels/README.md).
 *
 * Pairs that any order suits are reduced in that order, too: when they had code of their own, 2^28 ints took
 * 0.997 to 1.01 of the time of floats, 2^20 ints 1.0 to 2.4 times it (H100).
 */
#pragma once

#include "matrix/columns/columns.cuh"

namespace vscan {

/* How a matrix is divided among blocks. */
struct column_sums_shape {
    int lines, log_slices; /* of a block; slices of a line */
    int batches;           /* of a slice, a power of 2 */
    uint32_t line_blocks;
    int64_t chunks, tiles; /* of a line, at least 1 */
    int64_t status_words;  /* of a line, if chunks > 1; or 0 */
};

template <class Pair>
struct column_sums {
    using T = typename Pair::T;
    using U = typename Pair::U;
    static constexpr int R = 128 / (int)sizeof(T), log_R = sizeof(T) == 8 ? 4 : 5;
    static constexpr int group_batches = VSCAN__GROUP / R, reads = column_sums_reads;

    const matrix_arguments<column_sums_shape> &a;
    U *const read_values; /* [reads * slices][line] */
    const uint32_t thread;
    const int lines = a.shape.lines, batches = a.shape.batches, slices = 1 << a.shape.log_slices;
    const int slice = thread / (uint32_t)lines;
    const int line = (int)thread - slice * lines;
    const uint32_t chunk = a.shape.chunks > 1 ? blockIdx.x / a.shape.line_blocks : 0;
    const int64_t my_line = (int64_t)(blockIdx.x - chunk * a.shape.line_blocks) * lines + line;
    const bool there = my_line < a.matrix.lines && slice < slices;
    const bool folds = there && slice == 0;
    const int rows = R * batches << a.shape.log_slices; /* of a chunk */
    const int own_blocks = rows > VSCAN__LEVEL_1 ? rows / VSCAN__LEVEL_1 : 1;
    epoch_t epoch = 0;

    /* [batch][line], [block of level 1][line] */
    DEVICE U *batch_sums() const { return (U *)dynamic_shared() + line; }
    DEVICE U *block_sums() const { return batch_sums() + (batches << a.shape.log_slices) * lines; }

    /* ---- Elements ---------------------------------------------------------------------------- */

    /* Sums of 128 bytes of a column from `at` on, of which `left` exist. */
    template <bool Whole>
    static DEVICE U sum_batch(const T *at, int64_t step, int left,
                              const pair_transform &transform) {
        T raw[R];
        UNROLL_FOR (int j = 0; j < R; ++j, at += step) raw[j] = Whole || j < left ? *at : (T)0;
        U x[R];
        UNROLL_FOR (int j = 0; j < R; ++j)
            x[j] = Whole || j < left ? Pair::in(raw[j], transform) : (U)Pair::identity;
        return sum_items<Pair>(x);
    }

    DEVICE void sum_batches() const {
        const vscan__matrix &matrix = a.matrix;
        const int64_t grouped = matrix.length & -VSCAN__GROUP;
        const int64_t step = matrix.backward ? -matrix.step : matrix.step;
        const T *const column = (const T *)matrix.in + column_at(matrix, my_line) +
                                (matrix.backward ? (matrix.length - 1) * matrix.step : 0);
        const int64_t first = ((int64_t)chunk << a.shape.log_slices) * R * batches;
        const int64_t mine = first + slice * R * batches;
        const int64_t left = there ? (grouped - mine) / R : 0;
        const T *at = column + mine * step;
        U *to = batch_sums() + slice * batches * lines;
        ROLLED_FOR (int b = 0; b < batches && b < left; ++b, at += R * step, to += lines)
            *to = sum_batch<true>(at, step, R, a.transform);
        if (!folds || chunk + 1 < a.shape.chunks) return;
        if (grouped == matrix.length) return;
        /* the last group: the parts that do not exist, too */
        ROLLED_FOR (int64_t row = grouped; row < grouped + VSCAN__GROUP; row += R)
            batch_sums()[(row - first) / R * lines] = sum_batch<false>(
                column + row * step, step, (int)(matrix.length - row), a.transform);
    }

    /* Groups of the chunk that exist. */
    DEVICE int groups() const {
        const int64_t left = a.matrix.length - (int64_t)chunk * rows;
        return ((int)(left < rows ? left : (int64_t)rows) + VSCAN__GROUP - 1) / VSCAN__GROUP;
    }
    DEVICE U group_sum(int group) const {
        const U *const at = batch_sums() + group * group_batches * lines;
        return group_batches == 1 ? *at : Pair::combine(*at, at[(group_batches - 1) * lines]);
    }
    /* X1 at the end of the chunk's part of a block. */
    DEVICE U fold_block(U r1, int block) const {
        const int first = block * nested<T>::groups, left = groups() - first;
        return fold<Pair, 8, group_batches>(
            r1, batch_sums() + first * group_batches * lines,
            (left < nested<T>::groups ? left : nested<T>::groups) * group_batches, lines);
    }

    /* ---- Aggregates -------------------------------------------------------------------------- */

    DEVICE int64_t index_of(uint32_t number) const {
        return my_line + (int64_t)number * a.matrix.lines;
    }
    DEVICE void publish_sum(uint32_t number, U value) const {
        publish<U>(a.lookback, epoch, index_of(number), value);
    }
    /* R3 and R4 behind a window of tiles. */
    DEVICE uint32_t prefix_number(uint32_t window) const {
        return ((uint32_t)a.shape.chunks << log_words_of_chunk(log_R + log_batches())) + 2 * window;
    }
    DEVICE int log_batches() const { return __ffs(batches) - 1 + a.shape.log_slices; }

    /* Adds count aggregates to p, in the column's first thread: number first, first + step, ... By
       the whole block. tile: the first one's number, or 0 where they are sums of smaller blocks,
       which end no block of level 3. */
    DEVICE void add_aggregates(before_tile<Pair> &p, int count, uint32_t first, uint32_t step,
                               uint32_t tile, uint32_t next) const {
        ROLLED_FOR (int k = 0; k < count; k += reads * slices) {
            U x[reads];
            bool ready[reads];
            UNROLL_FOR (int j = 0; j < reads; ++j) {
                const int each = k + j * slices + slice;
                ready[j] = !there || each >= count ||
                           try_read<U>(a.lookback, epoch, index_of(first + each * step), &x[j]);
            }
            UNROLL_FOR (int j = 0; j < reads; ++j) {
                const int each = k + j * slices + slice;
                if (!there || each >= count) continue;
                if (!ready[j]) x[j] = wait_for<U>(a.lookback, epoch, index_of(first + each * step));
                read_values[(each - k) * lines + line] = x[j];
            }
            __syncthreads();
            const int some = count - k < reads * slices ? count - k : reads * slices;
            if (folds) {
#pragma unroll 4
                for (int j = 0; j < some; ++j, tile += next)
                    p.pass(tile, read_values[j * lines + line]);
            }
            __syncthreads();
        }
    }

    /* ---- Levels ------------------------------------------------------------------------------ */

    DEVICE void add_levels() const {
        const auto place = nested_place<T>::of(chunk, log_R + log_batches());
        const bool resumed = chunk + 1 < a.shape.chunks, ends_tile = resumed && place.ends_tile();
        jitter(a.lookback, epoch, blockIdx.x, jitter_publish);
        if (resumed && !place.begins_block() && !place.ends_block()) {
            for (int g = slice; there && g < rows / VSCAN__GROUP; g += slices)
                publish_sum(place.first + g, group_sum(g));
            return;
        }
        const uint32_t tile = place.tile(), in_window = tile % column_sums_window;
        const uint32_t window = tile / column_sums_window;
        U x2 = Pair::identity;
        ROLLED_FOR (int level = 1; level <= 3; ++level) {
            auto p = before_tile<Pair>::from(Pair::identity);
            if (level == 3 && folds && window == 0)
                p.r4 = initial_of<Pair>(a, my_line);
            else if (level == 3 && folds)
                p = {wait_for<U>(a.lookback, epoch, index_of(prefix_number(window - 1))),
                     wait_for<U>(a.lookback, epoch, index_of(prefix_number(window - 1) + 1))};
            const uint32_t block_words = 1u << place.log_block;
            const bool of_groups = level == 1, of_tiles = level == 3;
            add_aggregates(p,
                           of_groups  ? place.groups()
                           : of_tiles ? (int)in_window
                                      : place.blocks(),
                           of_groups  ? place.first_group()
                           : of_tiles ? place.tile_number(tile - in_window)
                                      : place.block(0),
                           of_groups  ? 1
                           : of_tiles ? block_words * nested<T>::blocks
                                      : block_words,
                           of_tiles ? tile - in_window : 0, of_tiles);
            if (level == 1) {
                if (there &&
                    slice < own_blocks) { /* R1 is known to slice 0, and nothing to others */
                    const U x1 = fold_block(p.sum(Pair::identity), slice);
                    block_sums()[slice * lines] = x1;
                    if (resumed && !(ends_tile && slice == own_blocks - 1))
                        publish_sum(own_blocks > 1 ? place.first + slice : place.last(), x1);
                }
                if (resumed && !ends_tile) return;
                jitter(a.lookback, epoch, blockIdx.x, jitter_wait);
                __syncthreads();
            } else if (level == 2) {
                const int blocks = (groups() + nested<T>::groups - 1) / nested<T>::groups;
                x2 = p.sum(Pair::identity);
                for (int j = 0; folds && j < blocks; ++j)
                    x2 = Pair::combine(x2, block_sums()[j * lines]);
                if (resumed && folds) publish_sum(place.last(), x2);
                if (resumed && in_window < column_sums_window - 1) return;
            } else if (folds && resumed) {
                p.pass(tile, x2);
                publish_sum(prefix_number(window), p.r3);
                publish_sum(prefix_number(window) + 1, p.r4);
            } else if (folds) {
                const bool nothing = a.matrix.length == 0 && !a.matrix.has_initial;
                ((T *)a.matrix.totals)[my_line] =
                    Pair::out(nothing ? (U)Pair::visible : p.sum(x2), a.transform);
            }
        }
    }
};

template <class Pair>
__global__ void __launch_bounds__(column_sums_max_threads, column_sums_resident)
    matrix_column_sums(const __grid_constant__ matrix_arguments<column_sums_shape> a) {
    using U = typename Pair::U;
    __shared__ U read_values[column_sums_max_threads * column_sums_reads];
    __shared__ ticket shared_ticket;
    const bool split = a.shape.chunks > 1;
    ticket mine = {};
    if (split && threadIdx.x == 0) mine = take_ticket(a.lookback);
    column_sums<Pair>{a, read_values, threadIdx.x}.sum_batches();
    if (split && threadIdx.x == 0) {
        shared_ticket = mine;
        if (mine.index == gridDim.x - 1) advance(a.lookback, mine.epoch);
    }
    __syncthreads();
    /* computed again: otherwise it would take registers from the batches */
    column_sums<Pair> s = {a, read_values, opaque((uint32_t)threadIdx.x)};
    if (split) {
        s.epoch = shared_ticket.epoch;
        if (shared_ticket.index == gridDim.x - 1)
            scrub(a.lookback, s.epoch, (int)threadIdx.x, (int)blockDim.x);
    }
    s.add_levels();
}

/* ---- Launch: matrix/columns/reduce_small.cuh -------------------------------------------------- */

static column_sums_shape column_sums_shape_of(const vscan__matrix &matrix, int size) {
    const int R = 128 / size;
    const int tile_items = size == 8 ? VSCAN__TILE_DOUBLE : VSCAN__TILE_FLOAT;
    const int64_t length = matrix.length;
    column_sums_shape s = {};
    /* few batches if there would be few blocks */
    constexpr int threads = column_sums_threads;
    const int64_t at_once = column_sums_batch_threads * R;
    s.batches = 1;
    while (s.batches < 4 && matrix.lines * length >= at_once * 2 * s.batches) s.batches *= 2;
    int64_t run = (int64_t)R * s.batches;
    const int64_t slices = length > run ? (length + run - 1) / run : 1;
    s.log_slices = log_over(slices < threads ? slices : threads);
    s.lines = lines_of_block(matrix.lines, threads / 2, threads, 1 << s.log_slices);
    while (s.lines << s.log_slices > threads || run << s.log_slices > tile_items) --s.log_slices;
    /* chunks that are a block of level 1 publish one sum and wait for nothing */
    const int64_t large = at_once * 2, n = matrix.lines * length;
    const int64_t rows = length < VSCAN__LEVEL_1 ? length : (int64_t)VSCAN__LEVEL_1;
    while (run << s.log_slices < rows && s.lines >= 64 && n >= large) {
        if (s.lines << (s.log_slices + 1) > column_sums_max_threads) s.lines = (s.lines + 1) / 2;
        ++s.log_slices;
    }
    while (run << s.log_slices < rows && n >= large * s.batches) run *= 2, s.batches *= 2;
    const int64_t chunk_items = run << s.log_slices;
    s.line_blocks = (uint32_t)((matrix.lines + s.lines - 1) / s.lines);
    s.chunks = length > chunk_items ? (length + chunk_items - 1) / chunk_items : 1;
    s.tiles = length > tile_items ? (length + tile_items - 1) / tile_items : 1;
    const int64_t windows = (s.tiles + column_sums_window - 1) / column_sums_window;
    const int64_t own = (int64_t)1 << log_words_of_chunk(log_over(chunk_items));
    s.status_words = s.chunks > 1 ? s.chunks * own + 2 * windows : 0;
    return s;
}

} /* namespace vscan */
