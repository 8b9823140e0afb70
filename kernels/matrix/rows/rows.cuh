/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scans and reductions of rows. Blocks mostly own whole rows; then none waits for another.
 *
 * A lane holds a slice of a row in registers, 64 bytes, and scans it alone. A warp has several
 * rows, each from a lane of its own on; or one row; or a part of a row that continues in the next
 * warp and, where the row is longer than the block's chunk, in the block's next step. What precedes
 * a slice is added one level after the other (matrix/rows/levels.cuh). Sums of groups or, in any
 * order, of warps go through shared memory. A chunk is as long as some blocks of level 1, and a
 * tile as some chunks.
 *
 * If rows are long and too few for all multiprocessors, a block owns half a tile, by ticket, so that a
 * multiprocessor has two blocks. It publishes the sum of the tile up to its end, and adds the sums of the
 * row's earlier tiles; in order, the second half waits for the first one's sum, too. So it waits only for
 * what was taken earlier. An aggregate carries its epoch (protocol/lookback.cuh), so relaxed order is enough
 * (kernels/README.md). (Blocks of a whole tile: 156 of them, in 52 rows of 20001 doubles, were two rounds
 * of 132, 19 us in place of 12.6.)
 *
 * On an H200 the number of instructions limits such a kernel, and then its registers: what does not
 * fit is spilled. So blocks do several steps if there are many rows, and steps recompute little.
 *
 * A warp copies its elements to shared memory of its own, asynchronously on GPUs that can: the
 * loads of the next step are in flight during this one. There the 16-byte vectors of slices are
 * swizzled, so that lanes read the same vector of their slices without bank conflicts. Where a row
 * is not aligned to 16 bytes (a pitch of 17), elements are copied one by one.
 */
#pragma once

#include "machine/launch.cuh"
#include "matrix/lines.cuh"
#include "matrix/rows/large.cuh"
#include "matrix/rows/levels.cuh"

namespace vscan {

struct rows_shape {
    int warps;
    int row_warps;   /* of a row; if less than all, a block has several such rows */
    int lanes, rows; /* of each row of a warp; rows of a warp */
    int row_items;   /* from one of them to the next in shared memory */
    bool across;     /* a warp has one row, or a part of it, on all lanes */
    bool along;      /* a block has one row, a chunk of it in each step */
    bool quads;      /* rows are aligned to 16 bytes */
    bool dense;      /* and what a warp has is as contiguous in memory as in shared memory */
    int over_row, over_quads;     /* several rows a warp: 2^20 / elements, vectors of a row */
    int64_t step_lines;           /* a block's, in one step */
    int steps;                    /* of a block */
    int lines_ahead, items_ahead; /* from one step to the next: rows, elements of a row */
    int64_t advance;              /* bytes of memory */
    uint32_t halves;              /* of tiles of a row, if a block has only one of them; else 0 */
};

/* Backward: reverses the elements of each 16 bytes. A loop that runs once or never: for a branch
   the compiler would make instructions that are skipped one by one. */
template <int V, class T, int R>
static DEVICE void reverse_quads(T (&raw)[R], bool backward) {
    ROLLED_FOR (int times = made_here(backward); times > 0; --times) {
        UNROLL_FOR (int c = 0; c < R; c += V)
            UNROLL_FOR (int j = 0; j < V / 2; ++j) exchange_here(raw[c + j], raw[c + V - 1 - j]);
    }
}

/* ---- Phases of a step ------------------------------------------------------------------------ */

/* What the warps of a block share. */
template <class Pair>
struct rows_shared {
    using U = typename Pair::U;
    using levels = row_levels<Pair, slice_quads * 16 / (int)sizeof(typename Pair::T)>;
    /* of warps, or of groups */
    static constexpr int sums_of_step =
        Pair::in_any_order ? 32 : 32 / levels::block_warps * levels::stride;
    alignas(16) U sums[2][sums_of_step];
    U r4; /* of the block's half of a tile, if it has one */
    ticket next;
    /* of a warp, in its first step: in shared memory, since registers are scarce */
    int64_t first_line[32], first_base[32];
    U r3;
};

/* Where a warp is, and its copies between memory and slices. */
template <class Pair>
struct rows_copies {
    using T = typename Pair::T;
    using U = typename Pair::U;
    static constexpr int V = 16 / (int)sizeof(T), R = slice_quads * V, warp_items = 32 * R;

    const matrix_arguments<rows_shape> &a;
    rows_shared<Pair> &shared;
    const vscan__matrix &matrix = a.matrix;
    const rows_shape &shape = a.shape;
    const bool backward = matrix.backward, across = shape.across, along = shape.along;
    const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
    int4 *const loaded = (int4 *)dynamic_shared() + warp * (warp_bytes / 16);
    int4 *const staged = shape.steps > 1 ? loaded + shape.warps *(warp_bytes / 16) : loaded;
    const int row = across ? 0 : lane / shape.lanes; /* in the warp */
    const int k = lane - row * shape.lanes, first_lane = lane - k;
    const int row_warp = shape.row_warps > 1 ? warp % shape.row_warps : 0;
    const int at0 = row_warp * warp_items; /* of the warp in the chunk */
    int chunk = 0;                         /* of the row, in the first step */

    DEVICE rows_copies(const matrix_arguments<rows_shape> &a, rows_shared<Pair> &shared)
        : a(a), shared(shared) {}

    /* ---- Where a warp is --------------------------------------------------------------------- */

    DEVICE void find_rows() {
        uint32_t item = blockIdx.x;
        if (shape.halves > 0) {
            if (threadIdx.x == 0) {
                shared.next = take_ticket(a.lookback);
                end_launch_after(a.lookback, shared.next, gridDim.x);
            }
            __syncthreads();
            item = shared.next.index / shape.halves;
            chunk = (int)(shared.next.index % shape.halves);
        }
        if (lane == 0) {
            const int64_t first = item * (along ? 1 : shape.steps) * shape.step_lines +
                                  warp / shape.row_warps * shape.rows;
            const int64_t begin = (int64_t)chunk * shape.row_warps * warp_items + at0;
            const int64_t base =
                first * matrix.line_step + (backward ? matrix.length - begin : begin);
            shared.first_line[warp] = first;
            shared.first_base[warp] = base * (int64_t)sizeof(T);
        }
        __syncwarp();
    }
    /* In a step: the warp's first row; elements of the row from the chunk on; the offset in
       bytes of the warp's first element or, backward, of its end. */
    DEVICE int64_t line_in(int step) const {
        return shared.first_line[warp] + (int64_t)step * shape.lines_ahead;
    }
    DEVICE int64_t left_in(int step) const {
        return matrix.length - (int64_t)(chunk + step) * shape.items_ahead;
    }
    DEVICE int64_t base_in(int step) const {
        return shared.first_base[warp] + step * shape.advance;
    }
    DEVICE bool has_row(int step) const {
        return row < shape.rows && line_in(step) + row < matrix.lines;
    }

    /* ---- Copies between memory and shared memory --------------------------------------------- */

    /* Calls each(vector of a slice in shared memory, in memory from base on), if shape.quads;
       offsets in bytes. */
    template <class Each>
    DEVICE void each_quad(int items, Each each) const {
        if (shape.dense) {
            const int offset = (lane ^ (lane >> 3 & 3)) * 16, direction = backward ? -1 : 1;
            const int64_t from = backward ? -16 * (lane + 1) : 16 * lane;
            UNROLL_FOR (int t = 0; t < slice_quads; ++t)
                if ((t * 32 + lane) * V < items) each(offset + t * 512, from + direction * t * 512);
            return;
        }
        ROLLED_FOR (int e = lane; e * V < items; e += 32) {
            const int r = (int)((uint32_t)e * (uint32_t)shape.over_quads >> 20);
            const int i = e - r * ((int)matrix.length / V), at = r * (shape.row_items / V) + i;
            each((at ^ (at >> 3 & 3)) * 16,
                 (r * matrix.line_step + (backward ? -(i + 1) * V : i * V)) * (int64_t)sizeof(T));
        }
    }
    /* Calls each(element of a slice in shared memory, of the matrix from base on). */
    template <class Each>
    DEVICE void each_element(int items, Each each) const {
        if (across) {
            ROLLED_FOR (int from = lane; from < items; from += 4 * 32) {
                UNROLL_FOR (int j = 0; j < 4; ++j) {
                    const int e = from + j * 32;
                    if (e >= items) break;
                    const int swizzle = ((32 * j + lane) / (8 * V) & 3) * V;
                    each(e ^ swizzle ^ (backward ? V - 1 : 0), backward ? -1 - e : e);
                }
            }
            return;
        }
        const int64_t gap = matrix.line_step + (backward ? matrix.length : -matrix.length);
#pragma unroll 2
        for (int e = lane; e < items; e += 32) {
            const int r = (int)((uint32_t)e * (uint32_t)shape.over_row >> 20);
            const int i = e - r * (int)matrix.length;
            const int at = r * shape.row_items + (backward ? i ^ (V - 1) : i);
            each(at ^ (at / (8 * V) & 3) * V, r * gap + (backward ? -1 - e : e));
        }
    }

    /* Elements of the warp in a step. */
    DEVICE int items_in(int step) const {
        const int64_t rows_left = matrix.lines - line_in(step);
        const int64_t items_left = left_in(step) - at0;
        if (across)
            return rows_left <= 0 || items_left <= 0 ? 0
                   : items_left < warp_items         ? (int)items_left
                                                     : warp_items;
        return (rows_left >= shape.rows ? shape.rows
                : rows_left > 0         ? (int)rows_left
                                        : 0) *
               (int)matrix.length;
    }

    DEVICE void load(int step, int items) const {
        const char *const in = (const char *)matrix.in + base_in(step);
        if (shape.quads && items % V == 0) {
            each_quad(items, [&](int at, int64_t from) {
                async_copy((int4 *)((char *)loaded + at), (const int4 *)(in + from));
            });
        } else {
            each_element(items, [&](int at, int64_t from) {
                async_copy((T *)loaded + at, (const T *)in + from);
            });
        }
    }

    DEVICE void read_slice(U (&x)[R]) const {
        T raw[R];
        async_copies_wait();
        __syncwarp();
        UNROLL_FOR (int c = 0; c < slice_quads; ++c) {
            const int4 quad = loaded[lane * slice_quads + (c ^ (lane >> 1 & 3))];
            memcpy(raw + c * V, &quad, 16);
        }
        reverse_quads<V>(raw, backward);
        UNROLL_FOR (int j = 0; j < R; ++j) x[j] = Pair::in(raw[j], a.transform);
        __syncwarp();
    }

    DEVICE void store(U (&x)[R], int step, int items) const {
        T raw[R];
        UNROLL_FOR (int j = 0; j < R; ++j) raw[j] = Pair::out(x[j], a.transform);
        reverse_quads<V>(raw, backward);
        UNROLL_FOR (int c = 0; c < slice_quads; ++c) {
            int4 quad;
            memcpy(&quad, raw + c * V, 16);
            staged[lane * slice_quads + (c ^ (lane >> 1 & 3))] = quad;
        }
        __syncwarp();
        char *const out = (char *)matrix.out + base_in(step);
        if (shape.quads && items % V == 0) {
            each_quad(items, [&](int at, int64_t to) {
                *(int4 *)(out + to) = *(const int4 *)((char *)staged + at);
            });
        } else {
            each_element(items, [&](int at, int64_t to) { ((T *)out)[to] = ((T *)staged)[at]; });
        }
    }
};

/* What precedes a slice, and its results. */
template <class Pair>
struct rows_warp : rows_copies<Pair> {
    using copies = rows_copies<Pair>;
    using copies::a, copies::across, copies::along, copies::at0, copies::chunk, copies::first_lane,
        copies::has_row, copies::k, copies::lane, copies::left_in, copies::line_in, copies::matrix,
        copies::R, copies::row, copies::row_warp, copies::shape, copies::shared, copies::staged,
        copies::store, copies::warp, copies::warp_items;
    using typename copies::T;
    using typename copies::U;
    static constexpr int tile_warps = nested<T>::tile / warp_items;
    /* In order, aggregates of second halves are sums of tiles. */
    static constexpr int halves_at_once = Pair::in_any_order ? 1 : 2;

    /* what precedes the lane's slice: in order, and in any order */
    row_levels<Pair, R> levels;
    U p = Pair::identity; /* prefix of the tile */
    U left_chunk[2];      /* sums of the chunk before, and of the first two, in this tile */

    using copies::rows_copies;

    /* ---- Warps, chunks, tiles ---------------------------------------------------------------- */

    DEVICE void begin_rows(int step) {
        p = Pair::identity;
        if (matrix.has_initial == 1) p = Pair::in(element_of<T>(matrix.initial), a.transform);
        if (matrix.has_initial == 2 && has_row(step))
            p = Pair::in(
                ((const T *)matrix.initial_at)[(line_in(step) + row) * matrix.initial_step],
                a.transform);
        if (!Pair::in_any_order) levels.begin_row(p);
    }

    /* The number of the block's chunk in this step: in its row or, of half a tile, in its tile. */
    DEVICE int chunk_in(int step) const { return shape.halves > 0 ? chunk & 1 : step; }
    /* In order, before the barrier of a step: a second half waits for the sum of the first one, and
       whether that has a head. */
    DEVICE void wait_for_first_half(U &sum, bool &head) const {
        if (shape.halves == 0 || !(chunk & 1) || threadIdx.x > 0) return;
        uint32_t heads;
        while (!try_read(a.lookback, shared.next.epoch, line_in(0) * shape.halves + chunk - 1, &sum,
                         &heads)) {
        }
        head = heads != 0;
    }

    /* What precedes the slices x, which are scanned; in any order it returns the prefix of the
       tile. */
    DEVICE U add_row(U (&x)[R], int step, U &upto, U &end) {
        if constexpr (Pair::in_any_order) {
            add_lanes<Pair>(x, k, first_lane, shape.lanes, upto, end);
            if (!along || step == 0) begin_rows(step);
            return add_other_warps(step, upto, end);
        } else {
            levels.scan_groups(x, k, first_lane);
            if (!along || step == 0) begin_rows(step);
            if (shape.row_warps == 1) {
                levels.add_lanes(x, k, row, first_lane, shape.lanes, (U *)staged);
                return levels.before.r4;
            }
            U *const of_row =
                shared.sums[0] + warp / shape.row_warps * levels.sums_of(shape.row_warps);
            U *const of_row_before = of_row + (~chunk_in(step) & 1) * shared.sums_of_step;
            bool no_head;
            wait_for_first_half(of_row_before[levels.next_r2], no_head);
            const U sum = levels.add_warps(
                x, lane, row_warp, shape.row_warps, along, along ? chunk_in(step) : 0,
                of_row + (chunk_in(step) & 1) * shared.sums_of_step, of_row_before, (U *)staged);
            if (shape.halves > 0) levels.before = pass_tiles(levels.before, sum);
            return levels.before.r4;
        }
    }

    /* In any order: adds what other warps have of the row; returns the prefix of the tile. */
    DEVICE U add_other_warps(int step, U &upto, U &end) {
        const U before = p;
        if (shape.row_warps == 1) return before;
        U *const of_warps = shared.sums[step & 1];
        if (lane == 31) of_warps[warp] = upto;
        __syncthreads();
        U sum = lane < shape.row_warps ? of_warps[warp - row_warp + lane] : Pair::identity;
        add_warps<Pair>(lane, row_warp, shape.row_warps, sum, upto, end);
        if (!along) return before;
        U chunk_sum = __shfl_sync(warp_mask, sum, shape.row_warps - 1);
        const int chunks_a_tile = tile_warps / shape.row_warps;
        add_chunks<Pair>(step & (chunks_a_tile - 1), chunks_a_tile, chunk_sum, left_chunk, p, upto,
                         end);
        return shape.halves > 0 ? pass_tiles({Pair::identity, before}, chunk_sum).r4 : before;
    }

    /* A block with half a tile: publishes the sum of the tile up to its end, or of the half in any order,
       and whether there is a head; its first warp passes what is before the tile, or the half, by
       pass(number of their first aggregate, how many, epoch). */
    template <class Pass>
    DEVICE void look_back(before_tile<Pair> &before, U sum, bool head, Pass pass) const {
        const epoch_t epoch = shared.next.epoch;
        const uint32_t half = (uint32_t)chunk;
        const int64_t aggregates_at = line_in(0) * shape.halves;
        if (threadIdx.x == 0 && half + 1 < shape.halves) {
            jitter(a.lookback, epoch, shared.next.index, jitter_publish);
            publish<U>(a.lookback, epoch, aggregates_at + half, sum, head);
        }
        if (warp == 0) {
            jitter(a.lookback, epoch, shared.next.index, jitter_wait);
            pass(aggregates_at, half / halves_at_once, epoch);
            if (lane == 0) {
                shared.r4 = before.r4;
                if (!Pair::in_any_order) shared.r3 = before.r3;
            }
        }
        __syncthreads();
        if (!Pair::in_any_order) before.r3 = shared.r3;
        before.r4 = shared.r4;
    }

    /* The same without heads. */
    DEVICE before_tile<Pair> pass_tiles(before_tile<Pair> before, U sum) const {
        look_back(before, sum, false, [&](int64_t first, uint32_t tiles, epoch_t epoch) {
            pass_row_tiles<Pair, halves_at_once>(before, a.lookback, first, tiles, epoch, lane);
        });
        return before;
    }

    /* ---- Results ----------------------------------------------------------------------------- */

    /* here: elements of the slice. */
    DEVICE void write(U (&x)[R], int step, int items, int here, U before, U end) {
        const bool has_total =
            (!across || left_in(step) - at0 <= warp_items) && matrix.totals != nullptr &&
            has_row(step) && (matrix.length == 0 ? k == 0 && row_warp == 0 : here > 0 && here <= R);
        if (matrix.out == nullptr && !has_total) return;
        const U visible = matrix.has_initial ? before : Pair::visible;
        if constexpr (Pair::in_any_order) {
            make_results<Pair>(x, before, end);
        } else {
            end =
                levels.make_results(x, shape.row_warps > levels.block_warps, along, has_r4(matrix));
        }
        if (has_total)
            ((T *)matrix.totals)[line_in(step) + row] =
                Pair::out(last_of(x, here, visible), a.transform);
        if (matrix.out == nullptr) return;
        if (matrix.exclusive) {
            U earlier = __shfl_up_sync(warp_mask, x[R - 1], 1);
            if (k == 0) earlier = end;
            if (k == 0 && row_warp == 0 && left_in(step) == matrix.length) earlier = visible;
            UNROLL_FOR (int j = R - 1; j > 0; --j) x[j] = x[j - 1];
            x[0] = earlier;
        }
        store(x, step, items);
    }
};

/* ---- Kernel ---------------------------------------------------------------------------------- */

/* All steps of a block: prepare(step), then each(x, step, items of the warp), where x is the lane's slice. The elements
   of the next step are copied meanwhile. */
template <class Pair, class Prepare, class Each>
static DEVICE void each_step(rows_warp<Pair> &w, Prepare prepare, Each each) {
    typename Pair::U x[rows_warp<Pair>::R];
    w.find_rows();
    int items = 0, next_items = 0; /* of the warp in this step and the next */
    ROLLED_FOR (int step = -1; step < w.shape.steps; ++step) {
        items = next_items;
        if (step >= 0) {
            prepare(step);
            w.read_slice(x);
        }
        if (step + 1 < w.shape.steps) {
            next_items = w.items_in(step + 1);
            w.load(step + 1, next_items);
        }
        if (step >= 0) each(x, step, items);
    }
}

template <class Pair>
__global__ void __launch_bounds__(1024)
    matrix_rows(const __grid_constant__ matrix_arguments<rows_shape> a) {
    using U = typename Pair::U;
    constexpr int R = rows_warp<Pair>::R;
    __shared__ rows_shared<Pair> shared;
    begin_rows<typename Pair::T>(a);
    rows_warp<Pair> w(a, shared);
    each_step(
        w, [](int) {},
        [&](U(&x)[R], int step, int items) {
            const int here = w.across                               ? items - w.lane * R
                             : w.row * (int)a.matrix.length < items ? (int)a.matrix.length - w.k * R
                                                                    : 0;
            scan_slice<Pair>(x, here);
            U upto, end;
            const U before = w.add_row(x, step, upto, end);
            w.write(x, step, items, here, before, end);
        });
}

/* ---- Launch ---------------------------------------------------------------------------------- */

/* Whether a row is more than a block may have at once. */
static bool is_long_row(int64_t length, int size) {
    return length > 16 * warp_bytes / size;
}

/* Halves of tiles of a row. */
static int64_t row_halves(const vscan__matrix &matrix, int size) {
    const int64_t half = split_row_warps * warp_bytes / size;
    return (matrix.length + half - 1) / half;
}

/* Status words of a row that a launch may need. */
static int64_t row_status_words(const vscan__matrix &matrix, int size) {
    const bool may_split = is_long_row(matrix.length, size) && matrix.lines < split_rows_below;
    const bool large = matrix.heads == nullptr && may_have_large_rows(matrix, size);
    return may_split ? row_halves(matrix, size) : large ? row_tiles(matrix, size) : 0;
}

static rows_shape rows_shape_of(const vscan__launch *launch, const vscan__matrix &matrix,
                                int size) {
    const int V = 16 / size, R = slice_quads * V, warp_items = 32 * R;
    const int64_t length = matrix.length;
    rows_shape s = {};
    s.across = length > warp_items / 2;
    s.lanes = s.across ? 32 : length > R ? (int)((length + R - 1) / R) : 1;
    s.rows = 32 / s.lanes;
    s.row_items = s.lanes * R;
    const bool of_lines = matrix.has_initial == 2 && matrix.initial_step != 0;
    if (matrix.heads != nullptr && !of_lines && length > 0 && length <= R / 2) {
        s.row_items = V; /* several rows a slice */
        while (s.row_items < length) s.row_items *= 2;
        s.rows = 32 * (R / s.row_items);
    }
    s.row_warps = 1;
    s.along = is_long_row(length, size);
    const int multiprocessors = launch->multiprocessors;
    if (s.along) { /* fewer rows: more of each at a time, if a block may have the shared memory */
        const bool roomy = launch->architecture >= 80;
        s.row_warps = roomy && matrix.lines < 2 * multiprocessors ? 16 : 8;
        if (matrix.lines < multiprocessors && launch->shared_memory > 2 * 32 * warp_bytes)
            s.row_warps = 32;
        if (roomy && matrix.lines < split_rows_below && matrix.lines < multiprocessors * 2 / 3) {
            s.row_warps = split_row_warps;
            s.halves = (uint32_t)row_halves(matrix, size);
        }
    } else if (s.across) {
        s.row_warps = (int)((length + warp_items - 1) / warp_items);
    }
    s.warps = s.row_warps < 8 ? 8 / s.row_warps * s.row_warps : s.row_warps;
    s.step_lines = s.warps / s.row_warps * s.rows;
    const int64_t chunk = (int64_t)s.row_warps * warp_items;
    const int64_t line_steps = (matrix.lines + s.step_lines - 1) / s.step_lines;
    const int64_t many = matrix.out != nullptr ? rows_scan_steps : rows_reduce_steps;
    s.steps = 1;
    if (s.along && s.halves == 0)
        s.steps = (int)((length + chunk - 1) / chunk);
    else if (!s.along && line_steps >= 8 * many * multiprocessors)
        s.steps = (int)many;
    s.lines_ahead = s.along ? 0 : (int)s.step_lines;
    s.items_ahead = s.along ? (int)chunk : 0;
    s.advance =
        (s.lines_ahead * matrix.line_step + (matrix.backward ? -1 : 1) * s.items_ahead) * size;
    s.quads = (((uintptr_t)matrix.in | (uintptr_t)matrix.out) & 15) == 0 &&
              matrix.line_step % V == 0 && (length % V == 0 || (s.across && !matrix.backward));
    s.dense = s.across || (!matrix.backward && matrix.line_step == length &&
                           (length % R == 0 || length == s.row_items));
    if (!s.across && length > 0) {
        s.over_row = (int)(((1 << 20) + length - 1) / length);
        const int64_t quads = length < V ? 1 : length / V;
        s.over_quads = (int)(((1 << 20) + quads - 1) / quads);
    }
    return s;
}

/* rows: the kernel, which has `fixed` bytes of static shared memory. */
template <class Pair, class Kernel>
static cudaError_t launch_rows(vscan__launch *launch, const vscan__matrix *matrix,
                               const pair_transform &transform, Kernel *rows, int fixed) {
    const rows_shape s = rows_shape_of(launch, *matrix, sizeof(typename Pair::T));
    const int64_t line_steps = (matrix->lines + s.step_lines - 1) / s.step_lines;
    const int64_t blocks = s.halves > 0 ? matrix->lines * s.halves
                           : s.along    ? line_steps
                                        : (line_steps + s.steps - 1) / s.steps;
    if (blocks > INT32_MAX) return cudaErrorInvalidConfiguration;
    const int shared = s.warps * warp_bytes * (s.steps > 1 ? 2 : 1);
    /* more than any block may have */
    const bool more = shared + fixed > 48 << 10;
    if (more) {
        /* the most that any launch may need */
        const int most = 32 * warp_bytes * (launch->shared_memory > 2 * 32 * warp_bytes ? 2 : 1);
        const cudaError_t error = allow_shared_memory(launch, rows, most);
        if (error != cudaSuccess) return error;
    }
    const auto a = rows_arguments_of(launch, *matrix, s, transform, sizeof(typename Pair::T),
                                     blocks, rows_overlap_to);
    return start(rows, blocks, 32 * s.warps, shared, launch->stream, a, a.ahead > 0);
}

} /* namespace vscan */
