/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reductions of rows; no element goes through shared memory.
 *
 * A warp owns a part of a row, 4 KiB, with all its loads in flight at once: 8 loads of 16 bytes a
 * lane, or, where a row is not aligned to 16 bytes, loads of one element a lane. The sums go over
 * the lane and the lanes of a group of 32 elements, as trees, then as core/order.h says, one after
 * the other, over groups, blocks of level 1 and tiles (matrix/rows/row_blocks.cuh). The elements of
 * a row behind its last whole group are loaded one a lane by the row's first warp. In a backward
 * reduction the 16 bytes of a lane are in memory order: a sum of two has the same bits either way.
 * In any order, parts of a row begin at multiples of 16 bytes, and the few elements before and
 * after them belong to the row's first warp.
 *
 * Of small rows a warp has several. A row has as many warp loads as the next power of 2. Each lane
 * has the sum of one load, a group; adjacent lanes those of a row.
 *
 * A block owns some rows, each with some warps, which have several parts of it if there are more
 * than 16; they synchronize once, when all sums are in shared memory. If there are too few rows for
 * all multiprocessors, a block owns one tile. Each block publishes its sum (protocol/lookback.cuh),
 * except that of a row's last tile, which adds them from left to right. Blocks own the tiles in the
 * order of their numbers, in which they also start (reduce/large.cuh relies on that too). The
 * ticket only tells the epoch and which block is the last, so no block waits for it before it
 * loads. An aggregate carries its epoch, so relaxed order is enough (kernels/README.md).
 *
 * Loads are unconditional where possible, or each is all that its condition controls. Of more than
 * that the compiler makes branches and moves loaded values to other registers behind them, so that
 * one load waits for another.
 */
#pragma once

#include "elements/warp_reduce.cuh"
#include "matrix/lines.cuh"
#include "matrix/rows/row_blocks.cuh"

namespace vscan {

/* Loads a part of which `left` elements exist, from `at` in the direction of the reduction; x[r]
   becomes the lane's sum of load r. */
template <class Pair, bool Vectors, int N>
static DEVICE void sum_loads(typename Pair::U (&x)[N], const typename Pair::T *at, int sign,
                             int left, int lane, const pair_transform &transform) {
    using T = typename Pair::T;
    using U = typename Pair::U;
    using shape = sum_part_shape<Pair, Vectors>;
    constexpr int V = shape::V;
    static_assert(N == shape::loads, "all of a part");
    T raw[N][V];
    UNROLL_FOR (int r = 0; r < N; ++r)
        UNROLL_FOR (int j = 0; j < V; ++j) raw[r][j] = 0;
    const int mine = left - lane * V; /* from the lane's first element on */
    const char *const from = (const char *)(at + sign * lane * V);
    const int step = sign * (int)sizeof(T);
    /* Always true, which the compiler does not know: otherwise it adds what has been loaded
       before it issues the rest. Loads behind the end repeat the last vector. */
    if (left > 0) {
        UNROLL_FOR (int r = 0; r < N; ++r) {
            const int i = r * shape::load_items, k = i < mine ? i : mine - V;
            const void *const source = from + (int64_t)k * step;
            if constexpr (Vectors) {
                const int4 quad = load_quad(source);
                memcpy(raw[r], &quad, 16);
            } else {
                raw[r][0] = *(const T *)source;
            }
        }
    }
    UNROLL_FOR (int r = 0; r < N; ++r) {
        U items[V];
        UNROLL_FOR (int j = 0; j < V; ++j) items[j] = Pair::in(raw[r][j], transform);
        x[r] = sum_items<Pair>(items);
        if (r * shape::load_items >= mine) x[r] = Pair::identity;
    }
}

/* Several small rows, by a warp. */
template <class Pair>
static DEVICE void sum_small_rows(const matrix_arguments<row_sums_shape> &a, int64_t first,
                                  int lane) {
    const vscan__matrix &matrix = a.matrix;
    const row_sums_shape &shape = a.shape;
    using T = typename Pair::T;
    using U = typename Pair::U;
    constexpr int loads = sum_part_shape<Pair, false>::loads;
    const int row_loads = 1 << shape.load_bits, sign = matrix.backward ? -1 : 1;
    const int left = (int)matrix.length % VSCAN__GROUP;
    if (first >= matrix.lines) return;
    uint32_t mine = shape.whole | (lane < left ? shape.left : 0);
    if (matrix.lines - first < shape.rows)
        mine &= (1u << (int)(matrix.lines - first) * row_loads) - 1;

    const T *at = (const T *)matrix.in + first * matrix.line_step +
                  (matrix.backward ? matrix.length - 1 - lane : lane);
    const int64_t step = sign * VSCAN__GROUP,
                  jump = matrix.line_step - (row_loads - 1) * step; /* to the next row */
    int64_t steps[5]; /* steps[z]: to a load whose number has z trailing zeros */
    UNROLL_FOR (int zeros = 0; zeros < 5; ++zeros)
        steps[zeros] = zeros < shape.load_bits ? step : jump;
    T raw[loads];
    UNROLL_FOR (int l = 0; l < loads; ++l) {
        if (l > 0) at += steps[__ffs(l) - 1];
        raw[l] = Pair::out(Pair::identity, a.transform);
        if (mine >> l & 1) raw[l] = *at;
    }
    U x[loads];
    UNROLL_FOR (int l = 0; l < loads; ++l) x[l] = Pair::in(raw[l], a.transform);
    U sum = rows_over_lanes<Pair, loads, 32>(x, lane); /* of the lane's own load */

    const int load = lane & (row_loads - 1);
    const U of_load = sum;
    sum = __shfl_sync(warp_mask, of_load, lane - load);
    UNROLL_FOR (int l = 1; l < loads; ++l) {
        if ((l & (l - 1)) == 0 && l >= row_loads) break;
        sum = Pair::combine(sum, __shfl_sync(warp_mask, of_load, lane - load + l));
    }
    const int64_t row = first + (lane >> shape.load_bits);
    if (lane < loads && load == 0 && row < matrix.lines)
        ((T *)matrix.totals)[row] =
            Pair::out(Pair::combine(initial_of<Pair>(a, row), sum), a.transform);
}

template <class Pair, bool Vectors>
__global__ void __launch_bounds__(32 * sum_warps, 2)
    matrix_row_sums(const __grid_constant__ matrix_arguments<row_sums_shape> a) {
    using T = typename Pair::T;
    using U = typename Pair::U;
    using part_shape = sum_part_shape<Pair, Vectors>;
    using row_sums = row_blocks<Pair, Vectors>;
    __shared__ row_sums_shared<Pair> shared;

    const vscan__matrix &matrix = a.matrix;
    const row_sums_shape &shape = a.shape;
    const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
    if constexpr (!Vectors) {
        if (shape.small_rows) {
            grid_dependency_wait();
            sum_small_rows<Pair>(a, ((int64_t)blockIdx.x * sum_warps + warp) * shape.rows, lane);
            return;
        }
    }
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
    const int parts =
        ends_row ? shape.parts - first_part : tile_parts; /* of the row, in this block */
    constexpr int V = part_shape::V;
    const bool backward = !Pair::in_any_order && matrix.backward;
    const int sign = backward ? -1 : 1;
    const T *first = (const T *)matrix.in + line * matrix.line_step;
    int head = 0; /* elements before the body */
    if (Pair::in_any_order && Vectors) head = -(int)((uintptr_t)first / sizeof(T)) & (V - 1);
    const int64_t body = (matrix.length - head) & (Pair::in_any_order ? -V : -VSCAN__GROUP);
    const int groups =
        ends_row ? (int)(body / VSCAN__GROUP - first_part * (int64_t)row_sums::part_groups)
                 : tile_parts * row_sums::part_groups;
    const row_sums blocks = {shape, shared, row, row_warp, lane, groups};
    /* where launches overlap, what the warp loads first */
    if (a.ahead > 0 && there && blocks.first_part() < parts) {
        const int64_t from = (int64_t)(first_part + blocks.first_part()) * part_shape::items;
        prefetch_by_warp(first, matrix.length,
                         backward ? matrix.length - from - part_shape::items : from,
                         part_shape::items);
    }
    grid_dependency_wait();
    ticket mine = {};
    if (shape.tiles > 1 && threadIdx.x == 0) mine = take_ticket(a.lookback); /* used later */
    T last = Pair::out(Pair::identity, a.transform); /* the lane's element outside the body */
    if (matrix.length > body && there && ends_row && row_warp == 0) {
        const int64_t i = lane < head ? lane : body + lane;
        if (lane < (int)(matrix.length - body)) last = first[backward ? matrix.length - 1 - i : i];
    }
    first += backward ? matrix.length - V : head;
    U sum = Pair::identity;
    ROLLED_FOR (int part = there ? blocks.first_part() : parts; part < parts;
                part = blocks.part_after(part)) {
        const int64_t at = (int64_t)(first_part + part) * part_shape::items;
        U x[part_shape::loads];
        sum_loads<Pair, Vectors>(x, first + sign * at, sign,
                                 body - at < part_shape::items ? (int)(body - at)
                                                               : part_shape::items,
                                 lane, a.transform);
        if constexpr (Pair::in_any_order)
            sum = Pair::combine(sum, sum_items<Pair>(x));
        else
            sum = blocks.add_part(x, part, parts);
    }
    if constexpr (Pair::in_any_order) {
        sum = over_lanes<Pair>::sum(sum);
        if (shape.row_warps > 1 && lane == 0) shared.warps[row * shape.row_warps + row_warp] = sum;
    }
    if (shape.row_warps > 1) __syncthreads();
    if (row_warp > 0 || !there) return;

    /* ---- The row ----------------------------------------------------------------------------- */
    const int64_t aggregates_at = line * shape.tiles;
    epoch_t epoch = 0;
    if (shape.tiles > 1) {
        epoch = __shfl_sync(warp_mask, mine.epoch, 0);
        if (lane == 0) end_launch_after(a.lookback, mine, gridDim.x);
    }
    before_tile<Pair> before = before_tile<Pair>::from(initial_of<Pair>(a, line));
    if constexpr (Pair::in_any_order) {
        if (shape.row_warps > 1)
            sum = over_lanes<Pair>::sum(lane < shape.row_warps
                                            ? shared.warps[row * shape.row_warps + lane]
                                            : Pair::identity);
    } else {
        const bool has_left = ends_row && matrix.length > body;
        U left = Pair::identity;
        if (has_left) left = over_lanes<Pair>::sum(Pair::in(last, a.transform));
        sum = shape.row_warps > 1 ? blocks.sum_tiles(before, has_left, left)
                                  : Pair::combine(sum, left);
    }
    if (shape.tiles > 1) {
        if (!ends_row) {
            jitter(a.lookback, epoch, blockIdx.x, jitter_publish);
            if (lane == 0) publish<U>(a.lookback, epoch, aggregates_at + tile, sum);
            return;
        }
        jitter(a.lookback, epoch, blockIdx.x, jitter_wait);
        pass_row_tiles<Pair>(before, a.lookback, aggregates_at, tile, epoch, lane);
    }
    if (Pair::in_any_order && matrix.length > body)
        sum = Pair::combine(sum, over_lanes<Pair>::sum(Pair::in(last, a.transform)));
    if (lane == 0) ((T *)matrix.totals)[line] = Pair::out(before.sum(sum), a.transform);
}

/* ---- Launch ---------------------------------------------------------------------------------- */

/* Whether this kernel is used for a matrix, by vectors of 16 bytes or by single elements. */
static bool has_vector_sums(const vscan__matrix &matrix, int size, bool in_any_order) {
    if (matrix.out != nullptr || matrix.totals == nullptr ||
        matrix.length * size < vector_sums_from_bytes)
        return false;
    return in_any_order || ((uintptr_t)matrix.in % 16 == 0 && matrix.line_step * size % 16 == 0 &&
                            (!matrix.backward || matrix.length * size % 16 == 0));
}
static bool has_scalar_sums(const vscan__matrix &matrix, int size) {
    if (matrix.out != nullptr || matrix.totals == nullptr || matrix.length <= 16) return false;
    const bool dense = (uintptr_t)matrix.in % 16 == 0 && matrix.line_step == matrix.length &&
                       matrix.length * size % 64 == 0 && !matrix.backward;
    return !dense || matrix.length * size > scan_sums_to_bytes;
}

/* Tiles of a row, if each has a block: aggregates of a row. */
static int64_t sum_tiles(const vscan__matrix &matrix, int size) {
    const int64_t tile = (int64_t)tile_parts * sum_part_bytes / size;
    return (matrix.length + tile - 1) / tile;
}

static row_sums_shape row_sums_shape_of(const vscan__launch *launch, const vscan__matrix &matrix,
                                        int size, bool vectors, bool in_any_order) {
    const int loads = sum_part_bytes / (32 * size); /* of a part, by single elements */
    const int groups = VSCAN__GROUP;
    const int64_t row_loads = (matrix.length + groups - 1) / groups;
    row_sums_shape s = {};
    s.tiles = 1;
    if (row_loads <= loads && !vectors) {
        while (1 << s.load_bits < row_loads) ++s.load_bits;
        s.small_rows = true;
        s.rows = loads >> s.load_bits;
        const int whole = (int)matrix.length / groups;
        for (int row = 0; row < s.rows; ++row) {
            s.whole |= (uint32_t)((UINT64_C(1) << whole) - 1) << (row << s.load_bits);
            if (matrix.length % groups > 0) s.left |= 1u << ((row << s.load_bits) + whole);
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
        /* of single elements a warp has rather two parts, if there are as many: 4099 floats 0.99
           of memcpy in place of 0.92 */
        if (!vectors && steps == 1 && parts > 2 &&
            matrix.lines * parts > 64 * sum_warps * launch->multiprocessors)
            steps = 2;
        const int64_t block_parts = in_any_order ? 1 : VSCAN__LEVEL_1 / part;
        if (steps > 1) steps = (steps + block_parts - 1) / block_parts * block_parts;
        s.whole_blocks = steps > 1 || parts == 1;
        s.row_warps = (int)((parts + steps - 1) / steps);
        s.rows = parts > sum_warps ? 1 : sum_warps / s.row_warps;
        /* where rows are few, a block has fewer, so that each multiprocessor has some */
        while (s.rows > 1 && s.rows * s.row_warps > sum_least_warps &&
               matrix.lines < (int64_t)s.rows * launch->multiprocessors)
            s.rows = (s.rows + 1) / 2;
    }
    s.over_row_warps = (255 + s.row_warps) / s.row_warps;
    return s;
}

template <class Pair, bool Vectors>
static cudaError_t launch_row_sums(const vscan__launch *launch, const vscan__matrix *matrix,
                                   const pair_transform &transform) {
    const row_sums_shape s =
        row_sums_shape_of(launch, *matrix, sizeof(typename Pair::T), Vectors, Pair::in_any_order);
    const int64_t rows = s.small_rows ? s.rows * sum_warps : s.rows; /* of a block */
    const int64_t blocks = (matrix->lines + rows - 1) / rows * s.tiles;
    if (blocks > INT32_MAX) return cudaErrorInvalidConfiguration;
    const auto a = rows_arguments_of(launch, *matrix, s, transform, sizeof(typename Pair::T),
                                     blocks, rows_overlap_to);
    return start(matrix_row_sums<Pair, Vectors>, blocks,
                 32 * (s.small_rows ? sum_warps : s.rows * s.row_warps), 0, launch->stream, a,
                 a.ahead > 0);
}

} /* namespace vscan */
