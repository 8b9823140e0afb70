/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reductions of the columns of a matrix.
 *
 * A block owns a chunk of some columns, at most a tile: a power of 2 of slices of each. A thread
 * reduces a slice of a column, in batches of 128 bytes whose loads are in flight together. The
 * elements of a column behind its last whole group of 32 are reduced by the block of its last
 * chunk. Shared memory has the sums of slices and the aggregates that have been read.
 *
 * Float and double plus: matrix/columns/reduce_nested.cuh, and reduce_small.cuh for small matrices.
 * Where any order suits, each chunk publishes its sum (protocol/lookback.cuh). The block of a tile's
 * last chunk adds up the chunks of the tile and publishes that sum instead. The block of a column's
 * last chunk adds the tiles from left to right, from the prefix that the last tile of each window
 * publishes. So few blocks wait, and for blocks that ran long before.
 *
 * Blocks own chunks in the order of their numbers, in which they also start (reduce/large.cuh
 * relies on that too). The ticket only tells the epoch and which block is the last, so no block
 * waits for it before it loads. An aggregate carries its epoch, so relaxed order is enough
 * (kernels/README.md).
 */
#ifndef VSCAN_MATRIX_COLUMNS_REDUCE_CUH
#define VSCAN_MATRIX_COLUMNS_REDUCE_CUH

#include "matrix/columns/columns.cuh"
#include "matrix/columns/reduce_small.cuh"

namespace vscan {

/* The sum of values that come one after the other. */
template <class Pair>
struct sum_so_far {
    using U = typename Pair::U;
    U so_far;
    int values = 0;

    __device__ __forceinline__ void add(U x) {
        so_far = values == 0 ? x : Pair::combine(so_far, x);
        ++values;
    }
    __device__ __forceinline__ U sum() const { return values == 0 ? Pair::identity : so_far; }
};

/* The sum of the sums of each line's slices, in slice 0. By the whole block; sums: of each
   thread, for all to read and write. */
template <class Pair>
static __device__ __forceinline__ typename Pair::U
sum_slices(typename Pair::U x, typename Pair::U *sums, int slice, int slices, int lines) {
    __syncthreads(); /* sums may still be read */
    sums[threadIdx.x] = x;
#pragma unroll 1
    for (int half = 1; half < slices; half *= 2) {
        __syncthreads();
        if (slice & (2 * half - 1) || slice >= slices) continue;
        x = Pair::combine(x, sums[threadIdx.x + half * lines]);
        sums[threadIdx.x] = x;
    }
    return x;
}

/* Of a column from `at` on: batches of 128 bytes. */
template <class Pair>
static __device__ __forceinline__ typename Pair::U sum_batches(const typename Pair::T *at,
                                                               int64_t step, int batches,
                                                               const pair_transform &transform) {
    using T = typename Pair::T;
    using U = typename Pair::U;
    constexpr int R = 128 / (int)sizeof(T);
    sum_so_far<Pair> all;
#pragma unroll 1
    for (int b = 0; b < batches; ++b) {
        T raw[R];
#pragma unroll
        for (int j = 0; j < R; ++j, at += step) raw[j] = *at;
        U x[R];
#pragma unroll
        for (int j = 0; j < R; ++j) x[j] = Pair::in(raw[j], transform);
        all.add(sum_items<Pair>(x));
    }
    return all.sum();
}

/* Of a column from `at` on: fewer than 32 elements. */
template <class Pair>
static __device__ __forceinline__ typename Pair::U sum_last_group(const typename Pair::T *at,
                                                                  int64_t step, int left,
                                                                  const pair_transform &transform) {
    using T = typename Pair::T;
    using U = typename Pair::U;
    constexpr int R = 128 / (int)sizeof(T);
    sum_so_far<Pair> all;
#pragma unroll 1
    for (; left > 0; left -= R) {
        T raw[R];
#pragma unroll
        for (int j = 0; j < R; ++j, at += step) raw[j] = j < left ? *at : (T)0;
        U x[R];
#pragma unroll
        for (int j = 0; j < R; ++j) x[j] = j < left ? Pair::in(raw[j], transform) : Pair::identity;
        all.add(sum_items<Pair>(x));
    }
    return all.sum();
}

template <class Pair>
__global__ void __launch_bounds__(column_sums_threads, column_sums_resident)
    matrix_column_sums(const __grid_constant__ matrix_arguments<column_sums_shape> a) {
    using T = typename Pair::T;
    using U = typename Pair::U;
    constexpr int R = 128 / (int)sizeof(T), W = column_sums_reads;
    constexpr int tile_items = sizeof(T) == 8 ? VSCAN__TILE_DOUBLE : VSCAN__TILE_FLOAT;
    __shared__ U sums[column_sums_threads];
    __shared__ U tiles[column_sums_threads * W];
    __shared__ ticket shared_ticket;

    const vscan__matrix &matrix = a.matrix;
    const column_sums_shape &shape = a.shape;
    const bool split = shape.chunks > 1;
    const int lines = shape.lines, slices = 1 << shape.log_slices;
    const int thread = (int)threadIdx.x;
    const int slice = (uint32_t)thread / (uint32_t)lines, line = thread - slice * lines;
    ticket mine = {};
    if (split && thread == 0) mine = take_ticket(a.lookback);

    const uint32_t chunk = split ? blockIdx.x / shape.line_blocks : 0;
    const int64_t my_line = (int64_t)(blockIdx.x - chunk * shape.line_blocks) * lines + line;
    const bool there = my_line < matrix.lines && slice < slices;
    const bool ends = chunk + 1 == shape.chunks; /* the columns */

    /* ---- Elements ---------------------------------------------------------------------------- */
    const int64_t grouped = matrix.length & -VSCAN__GROUP;
    const int64_t step = matrix.backward ? -matrix.step : matrix.step;
    const T *const column = (const T *)matrix.in + column_at(matrix, my_line) +
                            (matrix.backward ? (matrix.length - 1) * matrix.step : 0);
    const int64_t first = (((int64_t)chunk << shape.log_slices) + slice) * R * shape.batches;
    const int64_t left = there ? (grouped - first) / R : 0;
    U rest = Pair::identity;
    U sum =
        sum_batches<Pair>(column + first * step, step,
                          (int)(left < shape.batches ? left : (int64_t)shape.batches), a.transform);
    if (ends && there && slice == 0 && matrix.length > grouped)
        rest = sum_last_group<Pair>(column + grouped * step, step, (int)(matrix.length - grouped),
                                    a.transform);
    if (split && thread == 0) {
        shared_ticket = mine;
        if (mine.index == gridDim.x - 1) advance(a.lookback, mine.epoch);
    }
    const bool publishes = there && slice == 0;
    sum = sum_slices<Pair>(sum, sums, slice, slices, lines);

    /* ---- The tile's other chunks ------------------------------------------------------------- */
    U p = Pair::identity;
    if (ends && publishes) p = initial_of<Pair>(a, my_line);
    if (split) {
        __syncthreads();
        const epoch_t epoch = shared_ticket.epoch;
        if (shared_ticket.index == gridDim.x - 1)
            scrub(a.lookback, epoch, (int)threadIdx.x, (int)blockDim.x);
        const int chunks_a_tile = tile_items / R / shape.batches >> shape.log_slices;
        const int m = (int)chunk & (chunks_a_tile - 1);
        const int64_t tile = chunk / (uint32_t)chunks_a_tile;
        const bool ends_tile = m == chunks_a_tile - 1;
        /* the line's aggregate of this number */
        const auto publish_sum = [&](int64_t number, U value) {
            if (!publishes) return;
            publish<U>(a.lookback, epoch, my_line + number * matrix.lines, value);
        };
        /* x[j] = the line's aggregate number + j, if that is below `end` */
        const auto read_aggregates = [&](U(&x)[W], int64_t number, int64_t end) {
            const int64_t at = my_line + number * matrix.lines;
            bool ready[W];
#pragma unroll
            for (int j = 0; j < W; ++j) {
                x[j] = Pair::identity;
                ready[j] = !there || number + j >= end ||
                           try_read<U>(a.lookback, epoch, at + j * matrix.lines, &x[j]);
            }
#pragma unroll
            for (int j = 0; j < W; ++j)
                if (!ready[j]) x[j] = wait_for<U>(a.lookback, epoch, at + j * matrix.lines);
        };
        jitter(a.lookback, epoch, blockIdx.x, jitter_publish);
        if (!ends_tile && !ends) {
            publish_sum(chunk, sum);
            return;
        }
        if (m > 0) {
            sum_so_far<Pair> all;
            const U own = sums[line];
#pragma unroll 1
            for (int k = 0; k <= m; k += W * slices) {
                const int mine_from = k + slice * W;
                U x[W];
                read_aggregates(x, (int64_t)chunk - m + mine_from, chunk);
#pragma unroll
                for (int j = 0; j < W; ++j)
                    if (mine_from + j == m) x[j] = own;
                all.add(sum_slices<Pair>(sum_items<Pair>(x), sums, slice, slices, lines));
            }
            sum = all.sum();
        }
        if (!ends) publish_sum(chunk, sum);

        /* ---- The other tiles ----------------------------------------------------------------- */
        const int in_window = (int)(tile % column_sums_window);
        if (!ends && (in_window < column_sums_window - 1)) return;
        jitter(a.lookback, epoch, blockIdx.x, jitter_wait);
        const int64_t window = tile / column_sums_window;
        if (window > 0 && publishes)
            p = wait_for<U>(a.lookback, epoch,
                            my_line + (shape.chunks + window - 1) * matrix.lines);
        else if (!ends && publishes)
            p = initial_of<Pair>(a, my_line);
        const U last = sum;
#pragma unroll 1
        for (int k = 0; k < in_window; k += W * slices) {
            const int mine_from = k + slice * W;
#pragma unroll
            for (int j = 0; j < W; ++j) {
                const int64_t t = tile - in_window + mine_from + j;
                if (t >= tile || !there) continue;
                tiles[(slice * W + j) * lines + line] = wait_for<U>(
                    a.lookback, epoch, my_line + ((t + 1) * chunks_a_tile - 1) * matrix.lines);
            }
            __syncthreads();
            const int some = in_window - k < W * slices ? in_window - k : W * slices;
            if (publishes) {
#pragma unroll 8
                for (int j = 0; j < some; ++j) p = Pair::combine(p, tiles[j * lines + line]);
            }
            __syncthreads();
        }
        if (!ends) {
            publish_sum(shape.chunks + window, Pair::combine(p, last));
            return;
        }
    }
    if (!publishes) return;
    if (matrix.length > grouped) sum = Pair::combine(sum, rest);
    const bool nothing = matrix.length == 0 && !matrix.has_initial;
    ((T *)matrix.totals)[my_line] =
        Pair::out(nothing ? Pair::visible : Pair::combine(p, sum), a.transform);
}

/* ---- Launch ---------------------------------------------------------------------------------- */

static column_sums_shape column_sums_shape_of(const vscan__matrix &matrix, int size,
                                              bool in_any_order) {
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
    if (!in_any_order) {
        /* chunks that are a block of level 1 publish one sum and wait for nothing */
        const int64_t large = at_once * 2, n = matrix.lines * length;
        const int64_t rows = length < VSCAN__LEVEL_1 ? length : (int64_t)VSCAN__LEVEL_1;
        while (run << s.log_slices < rows && s.lines >= 64 && n >= large) {
            if (s.lines << (s.log_slices + 1) > nested_sums_threads) s.lines = (s.lines + 1) / 2;
            ++s.log_slices;
        }
        while (run << s.log_slices < rows && n >= large * s.batches) run *= 2, s.batches *= 2;
    }
    const int64_t chunk_items = run << s.log_slices;
    s.line_blocks = (uint32_t)((matrix.lines + s.lines - 1) / s.lines);
    s.chunks = length > chunk_items ? (length + chunk_items - 1) / chunk_items : 1;
    s.tiles = length > tile_items ? (length + tile_items - 1) / tile_items : 1;
    const int64_t windows = (s.tiles + column_sums_window - 1) / column_sums_window;
    const int64_t own = (int64_t)1 << log_words_of_chunk(log_over(chunk_items));
    const int64_t words = in_any_order ? s.chunks + windows : s.chunks * own + 2 * windows;
    s.status_words = s.chunks > 1 ? words : 0;
    return s;
}

/* Status words of a column, at most, with either kind of pair. */
static int64_t column_sums_status_words(const vscan__matrix &matrix, int size) {
    const int64_t any = column_sums_shape_of(matrix, size, true).status_words;
    const int64_t nested = column_sums_shape_of(matrix, size, false).status_words;
    const int64_t most = any > nested ? any : nested;
    const int64_t small =
        has_small_column_sums(matrix) ? small_column_sums_shape_of(matrix, size).status_words : 0;
    return small > most ? small : most;
}

template <class Pair>
static cudaError_t launch_column_sums(const vscan__launch *launch, const vscan__matrix *matrix,
                                      const pair_transform &transform) {
    const int size = sizeof(typename Pair::T);
    if constexpr (!Pair::in_any_order) {
        if (has_small_column_sums(*matrix)) {
            const column_sums_shape s = small_column_sums_shape_of(*matrix, size);
            return start(matrix_small_column_sums<Pair>, s.line_blocks * s.chunks,
                         ((s.lines << s.log_slices) + 31) / 32 * 32, 0, launch->stream,
                         matrix_arguments_of(launch, *matrix, s, transform));
        }
    }
    const column_sums_shape s = column_sums_shape_of(*matrix, size, Pair::in_any_order);
    const int64_t blocks = s.line_blocks * s.chunks;
    if (blocks > INT32_MAX) return cudaErrorInvalidConfiguration;
    const int threads = ((s.lines << s.log_slices) + 31) / 32 * 32;
    const auto a = matrix_arguments_of(launch, *matrix, s, transform);
    if constexpr (Pair::in_any_order) {
        return start(matrix_column_sums<Pair>, blocks, threads, 0, launch->stream, a);
    } else {
        const int batches = s.batches << s.log_slices;
        const int own_blocks = batches * 128 / size / VSCAN__LEVEL_1 + 1;
        return start(matrix_nested_column_sums<Pair>, blocks, threads,
                     (batches + own_blocks) * s.lines * size, launch->stream, a);
    }
}

} /* namespace vscan */

#endif
