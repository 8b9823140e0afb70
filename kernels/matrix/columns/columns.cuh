/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scans of the columns of a matrix, in one pass.
 *
 * A thread holds a slice of a column in registers, 128 bytes, and scans it alone: a group of
 * floats, half a group of doubles. A block owns a chunk of some columns: a power of 2 of slices of
 * each. The lanes of a warp have adjacent columns, so that it reads and writes whole cache lines;
 * of fewer than 32 columns it also has the next slices. Shared memory has the sums of slices, which
 * are combined one level of the tree at a time, and the aggregates of earlier chunks that the block
 * has read.
 *
 * A column longer than a chunk is scanned by several blocks. They own chunks in the order of their
 * numbers, in which they also start (reduce/large.cuh relies on that too), so the earlier chunks of
 * a column are taken earlier. The ticket only tells the epoch and which block is the last, so no
 * block waits for it before it loads.
 *
 * Look-back: the number m of a chunk in its tile is written with digits of radix 2^log_radix. If
 * the last d digits of m, and no more, have the highest value, the aggregate of the chunk is the
 * sum of the radix^d chunks that end with it. Most chunks publish their own sum, and wait for
 * nobody before that. The chunks before chunk m are covered by as many aggregates for each digit as
 * its value says; the aggregate of a tile's last chunk is the sum of the tile. So the longest chain
 * of aggregates is as long as m has digits, and few are read. Tiles are added from the left by
 * every chunk. Where there are more than a window of them, a chunk begins with the prefix of the
 * first tile of the window, which that tile's predecessor publishes too.
 *
 * Memory order and progress: an aggregate carries its epoch, so relaxed order is enough
 * (kernels/README.md). A block waits only for earlier blocks, and it publishes its aggregate before
 * it waits for anything that this does not need.
 *
 * A block prefetches a later chunk to L2, while blocks wait for one another. So a chunk's load is
 * fast when its successors wait for it.
 */
#ifndef VSCAN_MATRIX_COLUMNS_COLUMNS_CUH
#define VSCAN_MATRIX_COLUMNS_COLUMNS_CUH

#include "matrix/columns/look_back.cuh"

namespace vscan {

/* ---- Phases of a chunk ----------------------------------------------------------------------- */

/* Prefetches a chunk of the block's columns to L2. */
template <class T>
static __device__ __forceinline__ void prefetch_chunk(const vscan__matrix &matrix,
                                                      const columns_shape &shape, uint32_t item,
                                                      int chunk_items) {
    const uint32_t chunk = item / shape.line_blocks;
    const int64_t line = (int64_t)(item - chunk * shape.line_blocks) * shape.lines;
    const int64_t begin = (int64_t)chunk * chunk_items;
    const int64_t left = matrix.length - begin;
    const uint32_t rows = (uint32_t)(left < chunk_items ? left : (int64_t)chunk_items);
    const int64_t lines = matrix.lines - line < shape.lines ? matrix.lines - line : shape.lines;
    const int64_t first = matrix.backward ? left - rows : begin;
    const char *const from = (const char *)((const T *)matrix.in + line + first * matrix.step);
    const int64_t last = (lines - 1) * (int64_t)sizeof(T);
    if (matrix.step == lines) { /* contiguous */
        const int64_t end = (int64_t)rows * lines * (int64_t)sizeof(T);
        for (int64_t at = threadIdx.x * 128; at < end; at += blockDim.x * 128)
            prefetch_line(from + at);
        return;
    }
    const uint32_t prefetches = rows * shape.row_prefetches;
    for (uint32_t k = threadIdx.x; k < prefetches; k += blockDim.x) {
        const uint32_t row = k / shape.row_prefetches;
        const int64_t at = (k - row * shape.row_prefetches) * 128;
        prefetch_line(from + row * matrix.step * (int64_t)sizeof(T) + (at < last ? at : last));
    }
}

template <class Pair>
struct column_chunk {
    using T = typename Pair::T;
    using U = typename Pair::U;
    static constexpr int R = matrix_slice_bytes / (int)sizeof(T);
    static constexpr int group_slices = Pair::in_any_order ? 1 : VSCAN__GROUP / R;

    const matrix_arguments<columns_shape> &a;
    U *const sums; /* of a column up to each slice, in the chunk */
    const int lines = a.shape.lines, slices = 1 << a.shape.log_slices;
    const int slice = (uint32_t)threadIdx.x / (uint32_t)lines;
    const int line = (int)threadIdx.x - slice * lines;
    const int group = slice & ~(group_slices - 1); /* its first slice */
    const int chunk_items = R << a.shape.log_slices;
    const uint32_t chunk = a.shape.chunks > 1 ? blockIdx.x / a.shape.line_blocks : 0;
    const int64_t my_line = (int64_t)(blockIdx.x - chunk * a.shape.line_blocks) * lines + line;
    const bool there = my_line < a.matrix.lines && slice < slices;
    const int64_t begin = (int64_t)chunk * chunk_items; /* positions count in scan order */
    const int span = (int)(a.matrix.length - begin < chunk_items ? a.matrix.length - begin
                                                                 : (int64_t)chunk_items);
    const int at = slice * R; /* in the chunk */
    int here = span - at < R ? span - at : R;
    U x[R];

    __device__ __forceinline__ int64_t step() const {
        return a.matrix.backward ? -a.matrix.step : a.matrix.step;
    }
    __device__ __forceinline__ int64_t first_item() const {
        return my_line +
               (a.matrix.backward ? a.matrix.length - 1 - begin - at : begin + at) * a.matrix.step;
    }

    /* ---- Load and scan a slice --------------------------------------------------------------- */

    __device__ __forceinline__ void load() {
        if (here < 0 || !there) here = 0;
        const T *in = (const T *)a.matrix.in + first_item();
        T raw[R];
#pragma unroll
        for (int k = 0; k < R; k += 8) {
            if (k < span) { /* columns may be small */
#pragma unroll
                for (int j = k; j < k + 8; ++j, in += step()) raw[j] = j < here ? *in : (T)0;
            } else {
#pragma unroll
                for (int j = k; j < k + 8; ++j) raw[j] = (T)0;
            }
        }
        const int64_t ahead = a.shape.ahead;
        if (ahead > 0 && blockIdx.x + ahead < gridDim.x)
            prefetch_chunk<T>(a.matrix, a.shape, (uint32_t)(blockIdx.x + ahead), chunk_items);
#pragma unroll
        for (int j = 0; j < R; ++j) x[j] = Pair::in(raw[j]);
        scan_slice<Pair>(x, here);
    }

    /* ---- The network over the chunk's slices ------------------------------------------------- */

    /* sum: of the column up to the slice; part: of the group's slices before it. */
    __device__ __forceinline__ void add_slices(U &sum, U &part) {
        sum = x[R - 1];
        part = Pair::identity;
        sums[threadIdx.x] = sum;
#pragma unroll 1
        for (int half = 1; half < slices; half *= 2) {
            __syncthreads();
            if (!(slice & half)) continue;
            const U left = sums[((slice & ~(half - 1)) - 1) * lines + line];
            if (half < group_slices) {
                part = Pair::combine(left, part);
#pragma unroll
                for (int j = 0; j < R; ++j) x[j] = Pair::combine(left, x[j]);
            }
            sum = Pair::combine(left, sum);
            sums[threadIdx.x] = sum;
        }
        __syncthreads();
    }

    /* ---- Results ----------------------------------------------------------------------------- */

    /* p: prefix of the tile; sum, end: of the tile up to the slice, and before its group. */
    __device__ __forceinline__ void write(U initial, U p, U sum, U end, U part, int m) {
        const bool whole_group = here == R && slice - group == group_slices - 1;
        const U visible = a.matrix.has_initial ? initial : Pair::visible;
        U earlier = begin + at == 0 ? visible : p;
        if (slice > group)
            earlier = Pair::combine(p, Pair::combine(end, part));
        else if (group > 0 || m > 0)
            earlier = Pair::combine(p, end);
        if constexpr (Pair::in_any_order) {
            const U before = Pair::combine(p, end);
#pragma unroll
            for (int j = 0; j < R; ++j) x[j] = Pair::combine(before, x[j]);
        } else {
            const U whole = Pair::combine(p, sum);
#pragma unroll
            for (int j = 0; j < R; ++j) x[j] = Pair::combine(p, Pair::combine(end, x[j]));
            if (whole_group) x[R - 1] = whole;
        }
        if (a.matrix.totals != nullptr && there && chunk + 1 == a.shape.chunks &&
            (a.matrix.length == 0 ? slice == 0 : here > 0 && at + here == span)) {
            U result = visible;
#pragma unroll
            for (int j = 0; j < R; ++j)
                if (opaque(j) == here - 1) result = x[j]; /* x[here - 1] would be in local memory */
            ((T *)a.matrix.totals)[my_line] = Pair::out(result);
        }
        if (a.matrix.exclusive) {
#pragma unroll
            for (int j = R - 1; j > 0; --j) x[j] = x[j - 1];
            x[0] = earlier;
        }
        T *out = (T *)a.matrix.out + first_item();
#pragma unroll
        for (int k = 0; k < R; k += 8) {
            if (k >= span) break;
#pragma unroll
            for (int j = k; j < k + 8; ++j, out += step())
                if (j < here) *out = Pair::out(x[j]);
        }
    }
};

/* ---- Kernel ---------------------------------------------------------------------------------- */

template <class Pair>
__global__ void __launch_bounds__(columns_max_threads, columns_resident)
    matrix_columns(const __grid_constant__ matrix_arguments<columns_shape> a) {
    using U = typename Pair::U;
    __shared__ U sums[columns_max_threads];
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
    epoch_t epoch = 0;
    if (split) {
        epoch = shared_ticket.epoch;
        if (shared_ticket.index == gridDim.x - 1)
            scrub(a.lookback, epoch, (int)threadIdx.x, (int)blockDim.x);
    }
    U end = c.group > 0 ? sums[(c.group - 1) * c.lines + c.line] : Pair::identity;
    const U initial = c.there ? initial_of<Pair>(a.matrix, c.my_line) : (U)Pair::identity;
    U p = initial;
    column_look_back<Pair> l = {a,       epoch,   c.chunk, (uint32_t)c.my_line,
                                c.there, c.slice, c.line,  c.slices};
    if (split) p = l.look_back(initial, sum, end);
    c.write(initial, p, sum, end, part, l.m);
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
 * Columns of a block of so many threads: 32 or more, so that whole cache lines are read and
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

/* Threads of a block, at most. */
static int columns_threads(const vscan__matrix &matrix, int size) {
    const bool one_chunk = matrix.length * size <= matrix_slice_bytes * columns_max_threads / 32;
    const bool large = matrix.lines * matrix.length * size >= columns_max_threads_from;
    if (large && (matrix.lines < 32 || one_chunk)) return columns_max_threads;
    const bool unaligned = matrix.lines > 64 && matrix.lines < 256 && matrix.lines % 32 != 0;
    return unaligned ? columns_unaligned_threads : columns_threads_else;
}

static columns_shape columns_shape_of(const vscan__matrix &matrix, int size) {
    const int R = matrix_slice_bytes / size;
    const int tile_items = size == 8 ? VSCAN__TILE_DOUBLE : VSCAN__TILE_FLOAT;
    const int64_t length = matrix.length;
    const int threads = columns_threads(matrix, size);
    columns_shape s = {};
    const int64_t slices = length > R ? (length + R - 1) / R : 1;
    s.log_slices = log_over(slices < threads ? slices : threads);
    s.lines = lines_of_block(matrix.lines, threads / 4, threads, 1 << s.log_slices);
    while (s.lines << s.log_slices > threads) --s.log_slices;
    const int64_t chunk_items = (int64_t)R << s.log_slices;
    /* as few digits as possible, of at most 4 bits */
    const int bits = log_over(tile_items / chunk_items), digits = bits > 4 ? (bits + 3) / 4 : 1;
    s.log_radix = bits > 0 ? (bits + digits - 1) / digits : 1;
    s.line_blocks = (uint32_t)((matrix.lines + s.lines - 1) / s.lines);
    s.row_prefetches = (s.lines * size + 127) / 128;
    /* of many columns, what a chunk waits for was published long ago */
    s.ahead = s.line_blocks < 128 ? columns_ahead_items / (s.lines * chunk_items) : 0;
    s.chunks = length > chunk_items ? (length + chunk_items - 1) / chunk_items : 1;
    s.tiles = length > tile_items ? (length + tile_items - 1) / tile_items : 1;
    s.status_words = s.chunks > 1 ? s.chunks + s.tiles : 0;
    s.window = columns_window;
    return s;
}

/* Aggregates of a line that a block reads, at most. */
static int most_aggregates_read(const columns_shape &s, int chunks_a_tile) {
    if (s.chunks == 1) return 0;
    int count = s.window + 1;
    for (int left = chunks_a_tile - 1; left > 0; left >>= s.log_radix)
        count += left < 1 << s.log_radix ? left : (1 << s.log_radix) - 1;
    return count;
}

template <class Pair>
static cudaError_t launch_columns(const vscan__launch *launch, const vscan__matrix *matrix) {
    using U = typename Pair::U;
    const int size = (int)sizeof(typename Pair::T);
    const columns_shape s = columns_shape_of(*matrix, size);
    const int chunks_a_tile = (size == 8 ? VSCAN__TILE_DOUBLE : VSCAN__TILE_FLOAT) /
                              (matrix_slice_bytes / size << s.log_slices);
    const int64_t blocks = s.line_blocks * s.chunks;
    /* indices of aggregates have 32 bits */
    if (blocks > INT32_MAX || s.status_words * matrix->lines > UINT32_MAX)
        return cudaErrorInvalidConfiguration;
    return start(matrix_columns<Pair>, blocks, ((s.lines << s.log_slices) + 31) / 32 * 32,
                 most_aggregates_read(s, chunks_a_tile) * s.lines * (int)sizeof(U), launch->stream,
                 matrix_arguments_of(launch, *matrix, s));
}

} /* namespace vscan */

#endif
