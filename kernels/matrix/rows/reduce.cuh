/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reductions of rows: no element goes through shared memory.
 *
 * A warp has a part of a row, 4 KiB, all of its loads under way at once: 8 of 16 bytes a lane, or,
 * where 16 bytes of a lane are none of memory's, one element a lane in each. They are added in the
 * lane, then over the lanes, the part's lines, and the parts: the balanced tree of lib/order.h. What is
 * left of a row behind its last whole group of 32 elements is one element a lane of the row's first
 * warp, a tree of its own. In a backward reduction the elements of 16 bytes are in memory's order: a
 * sum of two has the same bits either way. Where any order will do, a row's parts begin where memory
 * has 16 bytes, and the few elements before and after them are those of the row's first warp.
 *
 * Of short rows a warp has several. Each line of 32 elements, and what is left of a row, is a load of
 * the warp; a row has as many as the next power of 2, so that its sum is one over neighbouring lanes
 * once each lane has the sum of a line.
 *
 * A block has some rows, each by some warps, which have parts of it one after the other where there are
 * more than 16: they meet once, when all have their sums. Where there are so few rows that
 * multiprocessors would be left without one, a block has one tile. Each block but that of the last tile
 * of a row publishes its sum as a word (common/lookback.cuh), and that one folds them from the left. Blocks
 * have the tiles in the order of their numbers, in which they also start (reduce/large.cuh relies on
 * that too); the ticket that each takes only says which launch this is, and is not waited for before
 * the elements.
 *
 * Loads are without conditions where that can be, or each the only thing that its condition decides: of
 * more the compiler makes branches, and moves what has been loaded to other registers behind them, so
 * that one load waits for another.
 */
#ifndef VSCAN_MATRIX_ROWS_REDUCE_CUH
#define VSCAN_MATRIX_ROWS_REDUCE_CUH

#include "matrix/lines.cuh"
#include "common/warp_reduce.cuh"

namespace vscan {

static constexpr int sum_warps = 16, sum_part_bytes = 4096, tile_parts = 16;
static constexpr int sum_most_parts = 256; /* of a row that one block has */

struct row_sums_shape {
    int row_warps;      /* of a row */
    int over_row_warps; /* 256 / that, rounded up */
    int rows;           /* of a block or, where they are short, of a warp */
    int parts;          /* of a row */
    uint32_t tiles;     /* of a row, each of a block of its own; or 1 */
    /* short rows: lines of each as a power of 2; bit l: all lanes have an element of the warp's line l;
       those lanes have one that what is left has */
    int line_bits;
    uint32_t whole, left;
    bool is_short;
};

/* A part: how many elements a lane loads at a time, and how often. */
template <class Pair, bool Quads>
struct sum_part_shape {
    using T = typename Pair::T;
    static constexpr int V = Quads ? 16 / (int)sizeof(T) : 1;
    static constexpr int items = sum_part_bytes / (int)sizeof(T);
    static constexpr int line_items = 32 * V, lines = items / line_items;
};

/* p and the sums of so many tiles, whose words begin at `at`, from left to right; by a warp. */
template <class Pair>
static __device__ __forceinline__ typename Pair::U
fold_words(typename Pair::U p, const lookback_memory &memory, int64_t at, uint32_t tiles,
           epoch_t epoch, int lane) {
    using U = typename Pair::U;
#pragma unroll 1
    for (uint32_t t = 0; t < tiles; t += 32) {
        U of_tile = Pair::identity;
        if (t + lane < tiles) of_tile = wait_for<U>(memory, epoch, at + t + lane);
        __syncwarp();
#pragma unroll 1
        for (uint32_t l = 0; l < 32 && t + l < tiles; ++l)
            p = Pair::combine(p, __shfl_sync(all_lanes, of_tile, l));
    }
    return p;
}

/* The lane's elements of a part of which `left` are there, line after line, from `at` in the direction of
   the reduction; x[r] becomes their sum in line r. */
template <class Pair, bool Quads, int N>
static __device__ __forceinline__ void
sum_lines(typename Pair::U (&x)[N], const typename Pair::T *at, int sign, int left, int lane) {
    using T = typename Pair::T;
    using U = typename Pair::U;
    using shape = sum_part_shape<Pair, Quads>;
    constexpr int V = shape::V;
    static_assert(N == shape::lines, "all of a part");
    T raw[N][V];
#pragma unroll
    for (int r = 0; r < N; ++r)
#pragma unroll
        for (int j = 0; j < V; ++j) raw[r][j] = 0;
    const int mine = left - lane * V; /* from the lane's first on */
    const char *const from = (const char *)(at + sign * lane * V);
    const int step = sign * (int)sizeof(T);
    /* Always, which the compiler does not know: it would add what has been loaded before it loads the
       rest. Lines that are not there load the last that is. */
    if (left > 0) {
#pragma unroll
        for (int r = 0; r < N; ++r) {
            const int i = r * shape::line_items, k = i < mine ? i : mine - V;
            const void *const line = from + (int64_t)k * step;
            if constexpr (Quads) {
                const int4 quad = load_quad(line);
                memcpy(raw[r], &quad, 16);
            } else {
                raw[r][0] = *(const T *)line;
            }
        }
    }
#pragma unroll
    for (int r = 0; r < N; ++r) {
        U items[V];
#pragma unroll
        for (int j = 0; j < V; ++j) items[j] = Pair::in(raw[r][j]);
        x[r] = sum_items<Pair>(items);
        if (r * shape::line_items >= mine) x[r] = Pair::identity;
    }
}

/* Some short rows, by a warp. */
template <class Pair>
static __device__ __forceinline__ void
sum_small_rows(const vscan__matrix &matrix, const row_sums_shape &shape, int64_t first, int lane) {
    using T = typename Pair::T;
    using U = typename Pair::U;
    constexpr int lines = sum_part_shape<Pair, false>::lines;
    const int row_lines = 1 << shape.line_bits, sign = matrix.backward ? -1 : 1;
    const int groups = (int)matrix.length / VSCAN__GROUP, left = (int)matrix.length % VSCAN__GROUP;
    if (first >= matrix.lines) return;
    uint32_t mine = shape.whole | (lane < left ? shape.left : 0);
    if (matrix.lines - first < shape.rows)
        mine &= (1u << (int)(matrix.lines - first) * row_lines) - 1;

    const T *at = (const T *)matrix.in + first * matrix.line_step +
                  (matrix.backward ? matrix.length - 1 - lane : lane);
    const int64_t step = sign * VSCAN__GROUP,
                  jump = matrix.line_step - (row_lines - 1) * step; /* to the next row */
    int64_t steps[5]; /* to a line whose number has so many zeros at its end */
#pragma unroll
    for (int zeros = 0; zeros < 5; ++zeros) steps[zeros] = zeros < shape.line_bits ? step : jump;
    T raw[lines];
#pragma unroll
    for (int l = 0; l < lines; ++l) {
        if (l > 0) at += steps[__ffs(l) - 1];
        raw[l] = Pair::out(Pair::identity);
        if (mine >> l & 1) raw[l] = *at;
    }
    U x[lines];
#pragma unroll
    for (int l = 0; l < lines; ++l) x[l] = Pair::in(raw[l]);
    U sum = rows_over_lanes<Pair, lines, 32>(x, lane); /* the lane's own line's */

    const int line = lane & (row_lines - 1);
    const U rest = __shfl_sync(all_lanes, sum, lane - line + groups);
    if (line >= groups) sum = Pair::identity;
#pragma unroll 1
    for (int d = 1; d < row_lines; d *= 2) sum = across<Pair>(sum, d);
    if (left > 0) sum = Pair::combine(sum, rest);
    const int64_t row = first + (lane >> shape.line_bits);
    if (lane < lines && line == 0 && row < matrix.lines)
        ((T *)matrix.totals)[row] = Pair::out(Pair::combine(initial_of<Pair>(matrix, row), sum));
}

template <class Pair, bool Quads>
__global__ void __launch_bounds__(32 * sum_warps, 2)
    matrix_row_sums(const __grid_constant__ matrix_arguments<row_sums_shape> a) {
    using T = typename Pair::T;
    using U = typename Pair::U;
    using part_shape = sum_part_shape<Pair, Quads>;
    __shared__ U sums[Pair::in_any_order ? sum_warps : sum_most_parts];

    const vscan__matrix &matrix = a.matrix;
    const row_sums_shape &shape = a.shape;
    const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
    if constexpr (!Quads) {
        if (shape.is_short) {
            sum_small_rows<Pair>(matrix, shape,
                                 ((int64_t)blockIdx.x * sum_warps + warp) * shape.rows, lane);
            return;
        }
    }
    ticket mine = {};
    if (shape.tiles > 1 && threadIdx.x == 0) mine = take_ticket(a.lookback); /* used later */

    /* ---- Sums of parts ----------------------------------------------------------------------- */
    uint32_t tile = 0, item = blockIdx.x;
    if (shape.tiles > 1) {
        item = blockIdx.x / shape.tiles;
        tile = blockIdx.x - item * shape.tiles;
    }
    const int row = warp * shape.over_row_warps >> 8, row_warp = warp - row * shape.row_warps;
    const int64_t line = (int64_t)item * shape.rows + row;
    const bool there = line < matrix.lines, ends_row = tile == shape.tiles - 1;
    const int first_part = (int)tile * tile_parts;
    const int parts = ends_row ? shape.parts - first_part : tile_parts; /* of the row here */
    constexpr int V = part_shape::V;
    const bool backward = !Pair::in_any_order && matrix.backward;
    const int sign = backward ? -1 : 1;
    const T *first = (const T *)matrix.in + line * matrix.line_step;
    int head = 0; /* elements before the body */
    if (Pair::in_any_order && Quads) head = -(int)((uintptr_t)first / sizeof(T)) & (V - 1);
    const int64_t body = (matrix.length - head) & (Pair::in_any_order ? -V : -VSCAN__GROUP);
    T last = Pair::out(Pair::identity); /* the lane's outside the body */
    if (matrix.length > body && there && ends_row && row_warp == 0) {
        const int64_t i = lane < head ? lane : body + lane;
        if (lane < (int)(matrix.length - body)) last = first[backward ? matrix.length - 1 - i : i];
    }
    first += backward ? matrix.length - V : head;
    U *const of_row = sums + row * (Pair::in_any_order ? shape.row_warps : parts);
    U sum = Pair::identity;
#pragma unroll 1
    for (int part = there ? row_warp : parts; part < parts; part += shape.row_warps) {
        const int64_t at = (int64_t)(first_part + part) * part_shape::items;
        U x[part_shape::lines];
        sum_lines<Pair, Quads>(x, first + sign * at, sign,
                               body - at < part_shape::items ? (int)(body - at) : part_shape::items,
                               lane);
        if constexpr (Pair::in_any_order) {
            sum = Pair::combine(sum, sum_items<Pair>(x));
        } else {
            sum = sum_rows<Pair>(x, lane);
            if (shape.row_warps > 1 && lane == 0) of_row[part] = sum;
        }
    }
    if constexpr (Pair::in_any_order) {
        sum = over_lanes<Pair>::sum(sum);
        if (shape.row_warps > 1 && lane == 0) of_row[row_warp] = sum;
    }
    if (shape.row_warps > 1) __syncthreads();
    if (row_warp > 0 || !there) return;

    /* ---- The row ----------------------------------------------------------------------------- */
    const int64_t words_at = line * shape.tiles;
    epoch_t epoch = 0;
    if (shape.tiles > 1) {
        epoch = __shfl_sync(all_lanes, mine.epoch, 0);
        if (lane == 0) end_launch_after(a.lookback, mine, gridDim.x);
    }
    U p = initial_of<Pair>(matrix, line);
    if constexpr (Pair::in_any_order) {
        if (shape.row_warps > 1)
            sum = over_lanes<Pair>::sum(lane < shape.row_warps ? of_row[lane] : Pair::identity);
    } else if (shape.row_warps > 1) {
        /* tile after tile; the last one is kept, with what is left */
#pragma unroll 1
        for (int from = 0;; from += tile_parts) {
            sum = over_lanes<Pair>::sum(
                lane < tile_parts && from + lane < parts ? of_row[from + lane] : Pair::identity);
            if (shape.tiles > 1 ||
                (from + tile_parts) * (int64_t)part_shape::items >= matrix.length)
                break;
            p = Pair::combine(p, sum);
        }
    }
    if (shape.tiles > 1) {
        if (!ends_row) {
            jitter(a.lookback, epoch, blockIdx.x, jitter_publish);
            if (lane == 0) publish<U>(a.lookback, epoch, words_at + tile, sum);
            return;
        }
        jitter(a.lookback, epoch, blockIdx.x, jitter_wait);
        p = fold_words<Pair>(p, a.lookback, words_at, tile, epoch, lane);
    }
    if (matrix.length > body) sum = Pair::combine(sum, over_lanes<Pair>::sum(Pair::in(last)));
    if (lane == 0) ((T *)matrix.totals)[line] = Pair::out(Pair::combine(p, sum));
}

/* ---- Launch ---------------------------------------------------------------------------------- */

/* Whether a matrix is for this kernel by quads, and by single lines. Where any order will do, the kernel
   for scans has shorter rows; where a row is a few pieces of 64 bytes, too, and is faster: 64 floats
   0.92 of memcpy in place of 0.83. */
static bool has_quad_sums(const vscan__matrix &matrix, int size, bool in_any_order) {
    if (matrix.out != nullptr || matrix.totals == nullptr || matrix.length * size < 2048)
        return false;
    return in_any_order || ((uintptr_t)matrix.in % 16 == 0 && matrix.line_step * size % 16 == 0 &&
                            (!matrix.backward || matrix.length * size % 16 == 0));
}
static bool has_line_sums(const vscan__matrix &matrix, int size) {
    if (matrix.out != nullptr || matrix.totals == nullptr || matrix.length <= 16) return false;
    const bool dense = (uintptr_t)matrix.in % 16 == 0 && matrix.line_step == matrix.length &&
                       matrix.length * size % 64 == 0 && !matrix.backward;
    return !dense || matrix.length * size > 1024;
}

/* Tiles of a row, where each has a block: words that a launch may need. */
static int64_t sum_tiles(const vscan__matrix &matrix, int size) {
    const int64_t tile = (int64_t)tile_parts * sum_part_bytes / size;
    return (matrix.length + tile - 1) / tile;
}

static row_sums_shape row_sums_shape_of(const vscan__launch *launch, const vscan__matrix &matrix,
                                        int size, bool quads, bool in_any_order) {
    const int lines = sum_part_bytes / (32 * size); /* of a part, where it is not by quads */
    const int groups = VSCAN__GROUP;
    const int64_t row_lines = (matrix.length + groups - 1) / groups;
    row_sums_shape s = {};
    s.tiles = 1;
    if (row_lines <= lines && !quads) {
        while (1 << s.line_bits < row_lines) ++s.line_bits;
        s.is_short = true;
        s.rows = lines >> s.line_bits;
        const int whole = (int)matrix.length / groups;
        for (int row = 0; row < s.rows; ++row) {
            s.whole |= (uint32_t)((UINT64_C(1) << whole) - 1) << (row << s.line_bits);
            if (matrix.length % groups > 0) s.left |= 1u << ((row << s.line_bits) + whole);
        }
        return s;
    }
    const int64_t part = sum_part_bytes / size;
    const int64_t body = matrix.length & (in_any_order ? -16 / size : -groups);
    const int64_t parts = (body + part - 1) / part, tiles = sum_tiles(matrix, size);
    s.parts = (int)parts;
    if (parts > sum_most_parts || (tiles > 1 && matrix.lines < 8 * launch->multiprocessors)) {
        s.tiles = (uint32_t)tiles;
        s.row_warps = sum_warps;
        s.rows = 1;
    } else {
        int64_t steps = (parts + sum_warps - 1) / sum_warps;
        /* of single lines a warp has rather two parts, where there are that many: 4099 floats 0.99 of
           memcpy in place of 0.92 */
        if (!quads && steps == 1 && parts > 2 &&
            matrix.lines * parts > 64 * sum_warps * launch->multiprocessors)
            steps = 2;
        s.row_warps = (int)((parts + steps - 1) / steps);
        s.rows = parts > sum_warps ? 1 : sum_warps / s.row_warps;
    }
    s.over_row_warps = (255 + s.row_warps) / s.row_warps;
    return s;
}

template <class Pair, bool Quads>
static cudaError_t launch_row_sums(const vscan__launch *launch, const vscan__matrix *matrix) {
    const row_sums_shape s =
        row_sums_shape_of(launch, *matrix, sizeof(typename Pair::T), Quads, Pair::in_any_order);
    const int64_t rows = s.is_short ? s.rows * sum_warps : s.rows; /* of a block */
    const int64_t blocks = (matrix->lines + rows - 1) / rows * s.tiles;
    if (blocks > INT32_MAX) return cudaErrorInvalidConfiguration;
    return start(matrix_row_sums<Pair, Quads>, blocks,
                 32 * (s.is_short ? sum_warps : s.rows * s.row_warps), 0, launch->stream,
                 matrix_arguments_of(launch, *matrix, s));
}

} /* namespace vscan */

#endif
