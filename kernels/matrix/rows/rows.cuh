/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scans and reductions of rows, by blocks that mostly do whole rows: none waits for another then.
 *
 * A lane holds a piece of a row in registers, 64 bytes of values, and scans it alone. A warp has some
 * rows, each from a lane of its own on; or one; or a part of a row that goes on in the next warp and,
 * where it is longer than a block's chunk, in the block's next step. The network of lib/order.h goes
 * over elements, lanes, warps and chunks, so what comes from the left is added one level after the
 * other. Sums of warps meet in shared memory.
 *
 * Where rows are long and so few that this would leave multiprocessors without one, a block does one
 * tile, taken by ticket (common/lookback.cuh), publishes its sum, and folds those of the row's tiles before
 * it: it only ever waits for tiles that were taken earlier.
 *
 * What limits such a kernel on an H200 is the number of its instructions, and then its registers: what
 * does not fit in them goes through memory beside the elements. So blocks do several steps where there
 * are many rows, and steps work out little anew.
 *
 * A warp copies its elements into shared memory of its own, asynchronously where the GPU can: what the
 * next step needs is on its way while this one is worked on. There the 16 bytes of pieces are permuted
 * so that lanes that read the same ones of their pieces meet in no bank. Where 16 bytes of a piece are
 * none of memory's (a pitch of 17), elements are copied one by one.
 */
#ifndef VSCAN_MATRIX_ROWS_ROWS_CUH
#define VSCAN_MATRIX_ROWS_ROWS_CUH

#include "matrix/lines.cuh"
#include "matrix/rows/large.cuh"

namespace vscan {

static constexpr int piece_quads = 4, warp_bytes = 32 * 16 * piece_quads;

struct rows_shape {
    int warps;
    int row_warps;   /* of a row; where that is less than all, a block has several such rows */
    int lanes, rows; /* a warp has so many rows, each on so many lanes */
    bool across;     /* a warp has one row, or a part of it, on all lanes */
    bool along;      /* a block has one row, and a chunk of it in each step */
    bool quads;      /* 16 bytes of a piece are 16 bytes of memory */
    bool dense;      /* and what a warp has lies in memory as it does in shared memory */
    int over_row, over_quads; /* several rows a warp: 2^20 / a row's elements, quads, rounded up */
    int64_t step_lines;       /* a block's, in one step */
    int steps;                /* of a block */
    int lines_ahead, items_ahead; /* from one step to the next: rows, elements of a row */
    int64_t advance;              /* bytes of memory */
    uint32_t tiles;               /* 0, or of a row: a block does one of them */
};

/* Backward, the elements of each 16 bytes change places. A loop of one turn or none: of a branch the
   compiler would make instructions that are skipped one by one. */
template <int V, class T, int R>
static __device__ __forceinline__ void turn_quads(T (&raw)[R], bool backward) {
#pragma unroll 1
    for (int turns = made_here(backward); turns > 0; --turns) {
#pragma unroll
        for (int c = 0; c < R; c += V)
#pragma unroll
            for (int j = 0; j < V / 2; ++j) exchange_here(raw[c + j], raw[c + V - 1 - j]);
    }
}

template <class Pair>
__global__ void __launch_bounds__(1024)
    matrix_rows(const __grid_constant__ matrix_arguments<rows_shape> a) {
    using T = typename Pair::T;
    using U = typename Pair::U;
    constexpr int V = 16 / (int)sizeof(T), R = piece_quads * V, warp_items = 32 * R;
    constexpr int group_lanes = Pair::in_any_order ? 1 : VSCAN__GROUP / R;
    constexpr int tile_warps =
        (sizeof(T) == 8 ? VSCAN__TILE_DOUBLE : VSCAN__TILE_FLOAT) / warp_items;
    __shared__ U sums[2][32];
    __shared__ U folded; /* all tiles before */
    __shared__ ticket shared_ticket;
    /* of a warp, in its first step: here, where registers are few */
    __shared__ int64_t first_line_of[32], first_base_of[32];

    const vscan__matrix &x_of = a.matrix;
    const rows_shape &shape = a.shape;
    const bool backward = x_of.backward, across = shape.across, along = shape.along;
    const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
    int4 *const loaded = (int4 *)dynamic_shared() + warp * (warp_bytes / 16);
    int4 *const staged = shape.steps > 1 ? loaded + shape.warps * (warp_bytes / 16) : loaded;

    const int row = across ? 0 : lane / shape.lanes; /* of the warp's */
    const int k = lane - row * shape.lanes, first_lane = lane - k;
    const int row_warp = shape.row_warps > 1 ? warp % shape.row_warps : 0;
    const int at0 = row_warp * warp_items; /* of the warp in the chunk */

    /* ---- Where a warp is --------------------------------------------------------------------- */
    const int chunk_items = shape.row_warps * warp_items;
    uint32_t item = blockIdx.x;
    int chunk = 0; /* of the row, in the first step */
    if (shape.tiles > 0) {
        if (threadIdx.x == 0) {
            shared_ticket = take_ticket(a.lookback);
            end_launch_after(a.lookback, shared_ticket, gridDim.x);
        }
        __syncthreads();
        item = shared_ticket.index / shape.tiles;
        chunk = (int)(shared_ticket.index % shape.tiles);
    }
    if (lane == 0) {
        const int64_t first = item * (along ? 1 : shape.steps) * shape.step_lines +
                              warp / shape.row_warps * shape.rows;
        const int64_t begin = (int64_t)chunk * chunk_items + at0;
        const int64_t base = first * x_of.line_step + (backward ? x_of.length - begin : begin);
        first_line_of[warp] = first;
        first_base_of[warp] = base * (int64_t)sizeof(T);
    }
    __syncwarp();
    /* In a step: the warp's first row; elements of the row from the chunk on; and bytes of memory before
       the warp's first element or, backward, up to its end. */
    const auto line_in = [&](int step) {
        return first_line_of[warp] + (int64_t)step * shape.lines_ahead;
    };
    const auto left_in = [&](int step) {
        return x_of.length - (int64_t)(chunk + step) * shape.items_ahead;
    };
    const auto base_in = [&](int step) { return first_base_of[warp] + step * shape.advance; };

    /* Calls each(16 bytes of a piece in shared memory, of memory from base on), where shape.quads. */
    const auto each_quad = [&](int items, auto each) {
        if (shape.dense) {
            const int slot = (lane ^ (lane >> 3 & 3)) * 16, turned = backward ? -1 : 1;
            const int64_t from = backward ? -16 * (lane + 1) : 16 * lane;
#pragma unroll
            for (int t = 0; t < piece_quads; ++t)
                if ((t * 32 + lane) * V < items) each(slot + t * 512, from + turned * t * 512);
            return;
        }
#pragma unroll 1
        for (int e = lane; e * V < items; e += 32) {
            const int r = (int)((uint32_t)e * (uint32_t)shape.over_quads >> 20);
            const int i = e - r * ((int)x_of.length / V), at = r * shape.lanes * piece_quads + i;
            each((at ^ (at >> 3 & 3)) * 16,
                 (r * x_of.line_step + (backward ? -(i + 1) * V : i * V)) * (int64_t)sizeof(T));
        }
    };
    /* Calls each(element of a piece in shared memory, of the matrix from base on). */
    const auto each_element = [&](int items, auto each) {
        if (across) {
#pragma unroll 1
            for (int from = lane; from < items; from += 4 * 32) {
#pragma unroll
                for (int j = 0; j < 4; ++j) {
                    const int e = from + j * 32;
                    if (e >= items) break;
                    const int swizzle = ((32 * j + lane) / (8 * V) & 3) * V;
                    each(e ^ swizzle ^ (backward ? V - 1 : 0), backward ? -1 - e : e);
                }
            }
            return;
        }
        const int64_t gap = x_of.line_step + (backward ? x_of.length : -x_of.length);
#pragma unroll 2
        for (int e = lane; e < items; e += 32) {
            const int r = (int)((uint32_t)e * (uint32_t)shape.over_row >> 20);
            const int i = e - r * (int)x_of.length;
            const int at = r * shape.lanes * R + (backward ? i ^ (V - 1) : i);
            each(at ^ (at / (8 * V) & 3) * V, r * gap + (backward ? -1 - e : e));
        }
    };

    U p = Pair::identity; /* the row's initial value and all its tiles before */
    U left_chunk[2];      /* sums of the chunk before, and of the first two, in this tile */
    U x[R];
    int items = 0, next_items = 0; /* of the warp in this step and the next */
#pragma unroll 1
    for (int step = -1; step < shape.steps; ++step) {
        /* ---- Elements ------------------------------------------------------------------------ */
        items = next_items;
        if (step >= 0) {
            T raw[R];
            wait_for_copies();
            __syncwarp();
#pragma unroll
            for (int c = 0; c < piece_quads; ++c) {
                const int4 quad = loaded[lane * piece_quads + (c ^ (lane >> 1 & 3))];
                memcpy(raw + c * V, &quad, 16);
            }
            turn_quads<V>(raw, backward);
#pragma unroll
            for (int j = 0; j < R; ++j) x[j] = Pair::in(raw[j]);
            __syncwarp();
        }
        if (step + 1 < shape.steps) {
            const int64_t rows_left = x_of.lines - line_in(step + 1);
            const int64_t items_left = left_in(step + 1) - at0;
            if (across)
                next_items = rows_left <= 0 || items_left <= 0 ? 0
                             : items_left < warp_items         ? (int)items_left
                                                               : warp_items;
            else
                next_items = (rows_left >= shape.rows ? shape.rows
                              : rows_left > 0         ? (int)rows_left
                                                      : 0) *
                             (int)x_of.length;
            const char *const in = (const char *)x_of.in + base_in(step + 1);
            if (shape.quads && next_items % V == 0) {
                each_quad(next_items, [&](int at, int64_t from) {
                    copy_ahead((int4 *)((char *)loaded + at), (const int4 *)(in + from));
                });
            } else {
                each_element(next_items, [&](int at, int64_t from) {
                    copy_ahead((T *)loaded + at, (const T *)in + from);
                });
            }
        }
        if (step < 0) continue;

        /* ---- Sums inside pieces, and over lanes ---------------------------------------------- */
        const int here = across                           ? items - lane * R
                         : row * (int)x_of.length < items ? (int)x_of.length - k * R
                                                          : 0;
        scan_piece<Pair>(x, here);
        U upto, end;
        add_lanes<Pair>(x, k, first_lane, shape.lanes, upto, end);

        /* ---- Warps, chunks ------------------------------------------------------------------- */
        if (!along || step == 0) {
            p = Pair::identity;
            if (x_of.has_initial == 1) p = Pair::in(element_of<T>(x_of.initial));
            if (x_of.has_initial == 2 && row < shape.rows && line_in(step) + row < x_of.lines)
                p = Pair::in(
                    ((const T *)x_of.initial_at)[(line_in(step) + row) * x_of.initial_step]);
        }
        U before = p;
        if (shape.row_warps > 1) {
            U *const of_warps = sums[step & 1];
            if (lane == 31) of_warps[warp] = upto;
            __syncthreads();
            U sum = lane < shape.row_warps ? of_warps[warp - row_warp + lane] : Pair::identity;
            add_warps<Pair>(lane, row_warp, shape.row_warps, sum, upto, end);
            if (along) {
                U chunk_sum = __shfl_sync(all_lanes, sum, shape.row_warps - 1);
                const int chunks_a_tile = tile_warps / shape.row_warps;
                add_chunks<Pair>((int)step & (chunks_a_tile - 1), chunks_a_tile, chunk_sum,
                                 left_chunk, p, upto, end);
                if (shape.tiles > 0) {
                    const epoch_t epoch = shared_ticket.epoch, tile = (uint32_t)chunk;
                    const int64_t words_at = line_in(0) * shape.tiles;
                    if (threadIdx.x == 0 && tile + 1 < shape.tiles) {
                        jitter(a.lookback, epoch, shared_ticket.index, jitter_publish);
                        publish<U>(a.lookback, epoch, words_at + tile, chunk_sum);
                    }
                    if (warp == 0) {
                        jitter(a.lookback, epoch, shared_ticket.index, jitter_wait);
#pragma unroll 1
                        for (uint32_t t = 0; t < tile; t += 32) {
                            U of_tile = Pair::identity;
                            if (t + lane < tile)
                                of_tile = wait_for<U>(a.lookback, epoch, words_at + t + lane);
                            __syncwarp();
#pragma unroll 1
                            for (uint32_t l = 0; l < 32 && t + l < tile; ++l)
                                before = Pair::combine(before, __shfl_sync(all_lanes, of_tile, l));
                        }
                        if (lane == 0) folded = before;
                    }
                    __syncthreads();
                    before = folded;
                }
            }
        }

        /* ---- Results ------------------------------------------------------------------------- */
        const bool has_total = (!across || left_in(step) - at0 <= warp_items) &&
                               x_of.totals != nullptr && row < shape.rows &&
                               line_in(step) + row < x_of.lines &&
                               (x_of.length == 0 ? k == 0 && row_warp == 0 : here > 0 && here <= R);
        if (x_of.out == nullptr && !has_total) continue;
        const U visible = x_of.has_initial ? before : Pair::visible;
        const bool ends_group = k % group_lanes == group_lanes - 1;
        make_results<Pair>(x, before, upto, end, ends_group);
        if (has_total)
            ((T *)x_of.totals)[line_in(step) + row] = Pair::out(last_of(x, here, visible));
        if (x_of.out == nullptr) continue;
        if (x_of.exclusive) {
            U earlier = __shfl_up_sync(all_lanes, x[R - 1], 1);
            if (k == 0) earlier = end;
            if (k == 0 && row_warp == 0 && left_in(step) == x_of.length) earlier = visible;
#pragma unroll
            for (int j = R - 1; j > 0; --j) x[j] = x[j - 1];
            x[0] = earlier;
        }
        T raw[R];
#pragma unroll
        for (int j = 0; j < R; ++j) raw[j] = Pair::out(x[j]);
        turn_quads<V>(raw, backward);
#pragma unroll
        for (int c = 0; c < piece_quads; ++c) {
            int4 quad;
            memcpy(&quad, raw + c * V, 16);
            staged[lane * piece_quads + (c ^ (lane >> 1 & 3))] = quad;
        }
        __syncwarp();
        char *const out = (char *)x_of.out + base_in(step);
        if (shape.quads && items % V == 0) {
            each_quad(items, [&](int at, int64_t to) {
                *(int4 *)(out + to) = *(const int4 *)((char *)staged + at);
            });
        } else {
            each_element(items, [&](int at, int64_t to) { ((T *)out)[to] = ((T *)staged)[at]; });
        }
    }
}

/* ---- Launch ---------------------------------------------------------------------------------- */

/* Fewer rows than this may be so few that blocks do single tiles of them. */
static constexpr int64_t few_rows = 256;

/* Whether a row is more than a block may have at once. */
static bool is_long_row(int64_t length, int size) {
    return length > 16 * warp_bytes / size;
}

/* Words of a row that a launch may need. */
static int64_t row_words(const vscan__matrix &matrix, int size) {
    const bool may_split = is_long_row(matrix.length, size) && matrix.lines < few_rows;
    return may_split || may_have_large_rows(matrix, size) ? row_tiles(matrix, size) : 0;
}

static rows_shape rows_shape_of(const vscan__launch *launch, const vscan__matrix &matrix,
                                int size) {
    const int V = 16 / size, R = piece_quads * V, warp_items = 32 * R;
    const int64_t length = matrix.length;
    rows_shape s = {};
    s.across = length > warp_items / 2;
    s.lanes = s.across ? 32 : length > R ? (int)((length + R - 1) / R) : 1;
    s.rows = 32 / s.lanes;
    s.row_warps = 1;
    s.along = is_long_row(length, size);
    const int multiprocessors = launch->multiprocessors;
    if (s.along) { /* the fewer rows, the more of each at a time, where a block may have the memory */
        const bool roomy = launch->architecture >= 80;
        s.row_warps = roomy && matrix.lines < 2 * multiprocessors ? 16 : 8;
        if (matrix.lines < multiprocessors && launch->shared_memory > 2 * 32 * warp_bytes)
            s.row_warps = 32;
        if (roomy && matrix.lines < few_rows && matrix.lines < multiprocessors * 2 / 3) {
            s.row_warps = 32;
            s.tiles = (uint32_t)row_tiles(matrix, size);
        }
    } else if (s.across) {
        s.row_warps = (int)((length + warp_items - 1) / warp_items);
    }
    s.warps = s.row_warps < 8 ? 8 / s.row_warps * s.row_warps : s.row_warps;
    s.step_lines = s.warps / s.row_warps * s.rows;
    const int64_t chunk = (int64_t)s.row_warps * warp_items;
    const int64_t line_steps = (matrix.lines + s.step_lines - 1) / s.step_lines;
    /* steps: what a block works out once is then worked out once for several */
    const int64_t few = matrix.out != nullptr ? 4 : 8;
    s.steps = 1;
    if (s.along && s.tiles == 0)
        s.steps = (int)((length + chunk - 1) / chunk);
    else if (!s.along && line_steps >= 8 * few * multiprocessors)
        s.steps = (int)few;
    s.lines_ahead = s.along ? 0 : (int)s.step_lines;
    s.items_ahead = s.along ? (int)chunk : 0;
    s.advance =
        (s.lines_ahead * matrix.line_step + (matrix.backward ? -1 : 1) * s.items_ahead) * size;
    s.quads = (((uintptr_t)matrix.in | (uintptr_t)matrix.out) & 15) == 0 &&
              matrix.line_step % V == 0 && (length % V == 0 || (s.across && !matrix.backward));
    s.dense = s.across || (!matrix.backward && matrix.line_step == length && length % R == 0);
    if (!s.across && length > 0) {
        s.over_row = (int)(((1 << 20) + length - 1) / length);
        const int64_t quads = length < V ? 1 : length / V;
        s.over_quads = (int)(((1 << 20) + quads - 1) / quads);
    }
    return s;
}

/* bit: the kernel's own in launch->matrix_ready */
template <class Pair>
static cudaError_t launch_rows(vscan__launch *launch, const vscan__matrix *matrix, int bit) {
    const rows_shape s = rows_shape_of(launch, *matrix, sizeof(typename Pair::T));
    const int64_t line_steps = (matrix->lines + s.step_lines - 1) / s.step_lines;
    const int64_t blocks = s.tiles > 0 ? matrix->lines * s.tiles
                           : s.along   ? line_steps
                                       : (line_steps + s.steps - 1) / s.steps;
    if (blocks > INT32_MAX) return cudaErrorInvalidConfiguration;
    const int shared = s.warps * warp_bytes * (s.steps > 1 ? 2 : 1);
    if (shared > 48 << 10 && !(launch->matrix_ready >> bit & 1)) {
        /* as much as it will ever have */
        const int most = 32 * warp_bytes * (launch->shared_memory > 2 * 32 * warp_bytes ? 2 : 1);
        const cudaError_t error = cudaFuncSetAttribute(
            matrix_rows<Pair>, cudaFuncAttributeMaxDynamicSharedMemorySize, most);
        if (error != cudaSuccess) return error;
        launch->matrix_ready |= 1u << bit;
    }
    return start(matrix_rows<Pair>, blocks, 32 * s.warps, shared, launch->stream,
                 matrix_arguments_of(launch, *matrix, s));
}

} /* namespace vscan */

#endif
