/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scans of rows of more than about 1 KiB that are not aligned to 16 bytes (4099 elements).
 *
 * As in matrix/rows/rows.cuh a lane has a slice of 64 bytes of a row, a warp 32 slices, and a block
 * one row, several rows, or of a longer row one chunk of 8 warps after the other. But a warp loads
 * its elements one a lane, with all loads in flight at once: each load has 32 elements from a
 * multiple of 128 bytes on, and so does each store. They go through the warp's shared memory from
 * loads to slices and back, where an element is left free after each 128 bytes against bank
 * conflicts. Since a load has 32 elements, all shared addresses follow from one number. A block has
 * one row; the threads have few registers, so that a multiprocessor has 36 warps or more, which
 * hide the time that others wait. Warps exchange sums behind barriers of the block; nothing goes
 * through status words.
 *
 * It was measured on sm_90, and is compiled only for GPUs with TMA (which it does not use): for all
 * architectures it would take three times as much of the library.
 */
#pragma once

#include "matrix/rows/levels.cuh"
#include "matrix/rows/narrow.cuh"

namespace vscan {

static_assert(unaligned_chunk_warps * 4 == 32, "a tile is 64 KiB, a warp has 2 KiB");

/* Blocks of a multiprocessor. GPUs without TMA have no room for two blocks of that many threads,
   and the kernel is empty there. */
#ifdef VSCAN__TMA
static constexpr int unaligned_resident = 2;
#else
static constexpr int unaligned_resident = 1;
#endif

struct unaligned_rows_shape {
    int row_warps;      /* of a row */
    int over_row_warps; /* 2^12 / row_warps, rounded up */
    int rows;           /* of a block */
    int chunks;         /* of a row */
};

/* *from, if so; else 0, since a register would otherwise be kept for the old value. Loads are
   issued in the order in which they are written. */
template <class T>
static DEVICE T load_where(bool there, const T *from) {
    T x;
#ifdef VSCAN_EMULATOR
    x = there ? *from : T();
#else
    if constexpr (sizeof(T) == 8) {
        uint64_t bits;
        asm volatile(
            "{.reg .pred p; setp.ne.u32 p, %2, 0; mov.b64 %0, 0; @p ld.global.b64 %0, [%1];}"
            : "=&l"(bits)
            : "l"(from), "r"((uint32_t)there));
        memcpy(&x, &bits, 8);
    } else {
        uint32_t bits;
        asm volatile(
            "{.reg .pred p; setp.ne.u32 p, %2, 0; mov.b32 %0, 0; @p ld.global.b32 %0, [%1];}"
            : "=&r"(bits)
            : "l"(from), "r"((uint32_t)there));
        memcpy(&x, &bits, 4);
    }
#endif
    return x;
}

/* Where a warp's elements are, and how a lane copies them. */
template <class T>
struct unaligned_items {
    static constexpr int R = 64 / (int)sizeof(T), all = 32 * R, loads = R + 1;
    static constexpr int pad = 2 * R; /* elements before a free one */
    static constexpr int room = all + all / pad, step = 32 + 32 / pad;
    int r;     /* the lane's element in the first load; may be negative */
    int mine;  /* elements from that one on */
    int index; /* its index in shared memory, if it exists */

    /* from: the first of the elements */
    DEVICE unaligned_items(const T *from, int items, bool backward, int lane) {
        r = lane - ((int)((uintptr_t)from / sizeof(T)) & 31);
        mine = items - r;
        const int q = r + (backward ? all - items : 0);
        index = q + (q >> (sizeof(T) == 8 ? 4 : 5));
        static_assert(pad == (sizeof(T) == 8 ? 16 : 32), "a power of 2");
    }
    DEVICE bool has(int j) const { return 32 * j < mine && (j > 0 || r >= 0); }

    /* from: the first of the elements; shared: the warp's */
    DEVICE void load(const T *from, T *shared) {
        T raw[loads];
        from += r;
        UNROLL_FOR (int j = 0; j < loads; ++j) raw[j] = load_where(has(j), from + 32 * j);
        T *const to = shared + index;
        mine = opaque(mine);
        UNROLL_FOR (int j = 0; j < loads; ++j)
            if (has(j)) to[step * j] = raw[j];
    }
    DEVICE void store(T *to, const T *shared) const {
        to += r;
        const T *const from = shared + index;
        UNROLL_FOR (int j = 0; j < loads; ++j)
            if (has(j)) to[32 * j] = from[step * j];
    }
};

template <class Pair>
__global__ void __launch_bounds__(32 * unaligned_warps, unaligned_resident)
    matrix_unaligned_rows(const __grid_constant__ matrix_arguments<unaligned_rows_shape> a) {
#ifdef VSCAN__TMA
    using T = typename Pair::T;
    using U = typename Pair::U;
    using items_of = unaligned_items<T>;
    constexpr int R = items_of::R, warp_items = items_of::all;
    using row_levels = vscan::row_levels<Pair, R>;
    constexpr int blocks = unaligned_warps / row_levels::block_warps + 1;
    /* of warps, or of groups */
    alignas(16)
        __shared__ U sums[2][Pair::in_any_order ? unaligned_warps : blocks * row_levels::stride];

    const vscan__matrix &matrix = a.matrix;
    const unaligned_rows_shape &shape = a.shape;
    const bool backward = matrix.backward;
    const int lane = (int)(threadIdx.x % 32), warp = (int)(threadIdx.x / 32);
    const int row = warp * shape.over_row_warps >> 12, first_warp = row * shape.row_warps;
    const int row_warp = warp - first_warp;
    const int64_t line = (int64_t)blockIdx.x * shape.rows + row;
    const bool there = line < matrix.lines;
    T *const shared = (T *)dynamic_shared() + warp * items_of::room;
    const int block = backward ? 31 - lane : lane; /* the lane's slice, in memory order */
    T *const slice = shared + block * R + block / 2;

    begin_rows<T>(a);
    U p = Pair::identity; /* initial value; in any order the prefix of the tile */
    if (there) p = initial_of<Pair>(a, line);
    row_levels levels; /* in order */
    if (!Pair::in_any_order) levels.begin_row(p);
    U left_chunk[2] = {}; /* sums of the chunk before, and of the first two, in this tile */
    ROLLED_FOR (int chunk = 0; chunk < shape.chunks; ++chunk) {
        /* ---- Elements ------------------------------------------------------------------------ */
        const int begin = (chunk * unaligned_chunk_warps + row_warp) * warp_items;
        const int left = there ? (int)matrix.length - begin : 0;
        const int items = left < 0 ? 0 : left < warp_items ? left : warp_items;
        const int64_t at =
            line * matrix.line_step + (backward ? (int)matrix.length - begin - items : begin);
        {
            const T *const from = (const T *)matrix.in + at;
            items_of(from, items, backward, lane).load(from, shared);
        }
        __syncwarp();
        U x[R];
        {
            T mine[R];
            UNROLL_FOR (int j = 0; j < R; ++j) mine[j] = slice[j];
            reverse_items(mine, backward);
            UNROLL_FOR (int j = 0; j < R; ++j) x[j] = Pair::in(mine[j], a.transform);
        }

        /* ---- Lanes, warps, chunks: as in matrix/rows/rows.cuh -------------------------------- */
        const int here = items - lane * R;
        scan_slice<Pair>(x, here);
        U end, visible = Pair::visible; /* the results before x[0], and before the row */
        if constexpr (Pair::in_any_order) {
            U upto;
            add_lanes<Pair>(x, lane, 0, 32, upto, end);
            U before = p;
            if (shape.row_warps > 1) {
                U *const of_warps = sums[chunk & 1];
                if (lane == 31) of_warps[warp] = upto;
                __syncthreads();
                U sum = lane < shape.row_warps ? of_warps[first_warp + lane] : Pair::identity;
                add_warps<Pair>(lane, row_warp, shape.row_warps, sum, upto, end);
                if (shape.chunks > 1) {
                    U chunk_sum = __shfl_sync(warp_mask, sum, unaligned_chunk_warps - 1);
                    add_chunks<Pair>(chunk & 3, 4, chunk_sum, left_chunk, p, upto, end);
                }
            }
            if (matrix.has_initial) visible = before;
            make_results<Pair>(x, before, end);
        } else {
            levels.scan_groups(x, lane, 0);
            if (shape.row_warps > 1) {
                U *const of_row = sums[0] + row * levels.sums_of(shape.row_warps);
                constexpr int next = sizeof sums[0] / sizeof(U);
                levels.add_warps(x, lane, row_warp, shape.row_warps, shape.chunks > 1, chunk,
                                 of_row + (chunk & 1) * next, of_row + (~chunk & 1) * next,
                                 (U *)shared);
            } else {
                __syncwarp(); /* the slices have been read */
                levels.add_lanes(x, lane, 0, 0, 32, (U *)shared);
            }
            if (matrix.has_initial) visible = levels.before.r4;
            end = levels.make_results(x, shape.row_warps > levels.block_warps, shape.chunks > 1,
                                      has_r4(matrix));
        }

        /* ---- Results ------------------------------------------------------------------------ */
        if (matrix.totals != nullptr && left <= warp_items && here > 0 && here <= R)
            ((T *)matrix.totals)[line] = Pair::out(last_of(x, here, x[0]), a.transform);
        if (matrix.exclusive) {
            U earlier = __shfl_up_sync(warp_mask, x[R - 1], 1);
            if (lane == 0) earlier = begin == 0 ? visible : end;
            UNROLL_FOR (int j = R - 1; j > 0; --j) x[j] = x[j - 1];
            x[0] = earlier;
        }
        T results[R];
        UNROLL_FOR (int j = 0; j < R; ++j) results[j] = Pair::out(x[j], a.transform);
        reverse_items(results, backward);
        UNROLL_FOR (int j = 0; j < R; ++j) slice[j] = results[j];
        __syncwarp();
        T *const to = (T *)matrix.out + at;
        items_of(to, items, backward, lane).store(to, shared);
        __syncwarp();
    }
#endif
}

/* ---- Launch ---------------------------------------------------------------------------------- */

static unaligned_rows_shape odd_rows_shape_of(const vscan__matrix &matrix, int size) {
    const int64_t warp_items = 32 * 64 / size,
                  warps = (matrix.length + warp_items - 1) / warp_items;
    unaligned_rows_shape s = {(int)warps, 0, 1, 1};
    if (warps > unaligned_warps) {
        s.row_warps = unaligned_chunk_warps;
        s.chunks = (int)((warps + unaligned_chunk_warps - 1) / unaligned_chunk_warps);
    } else if (warps < 8) {
        s.rows = 8 / s.row_warps;
    }
    s.over_row_warps = ((1 << 12) + s.row_warps - 1) / s.row_warps;
    return s;
}

/* Whether this kernel is used for a matrix that matrix/rows/narrow.cuh is not used for. */
static bool has_unaligned_rows(const vscan__launch *launch, const vscan__matrix &matrix, int size) {
    const int V = 16 / size;
    const bool quads = (((uintptr_t)matrix.in | (uintptr_t)matrix.out) & 15) == 0 &&
                       matrix.line_step % V == 0 && (matrix.length % V == 0 || !matrix.backward);
    if (launch->shared_memory == 0 || quads || matrix.out == nullptr || matrix.length >= 1 << 30 ||
        matrix.length * size <= 1024)
        return false;
    const unaligned_rows_shape s = odd_rows_shape_of(matrix, size);
    /* not where a large part of the chunks is empty */
    const int64_t items = (int64_t)s.chunks * s.row_warps * (32 * 64 / size);
    if (s.chunks > 1 && matrix.length * 4 < items * 3) return false;
    const int64_t thirds = s.chunks == 1                      ? unaligned_thirds
                           : s.chunks <= unaligned_few_chunks ? unaligned_thirds_few
                           : size == 4                        ? unaligned_thirds_4_bytes
                                                              : unaligned_thirds;
    return matrix.lines * 3 >= thirds * launch->multiprocessors * s.rows;
}

template <class Pair>
static cudaError_t launch_unaligned_rows(const vscan__launch *launch, const vscan__matrix *matrix,
                                         const pair_transform &transform) {
    using T = typename Pair::T;
    const unaligned_rows_shape s = odd_rows_shape_of(*matrix, sizeof(T));
    const int64_t blocks = (matrix->lines + s.rows - 1) / s.rows;
    if (blocks > INT32_MAX) return cudaErrorInvalidConfiguration;
    const int warps = s.rows * s.row_warps;
    const auto a =
        rows_arguments_of(launch, *matrix, s, transform, sizeof(T), blocks, odd_rows_overlap_to);
    return start(matrix_unaligned_rows<Pair>, blocks, 32 * warps,
                 warps * unaligned_items<T>::room * (int)sizeof(T), launch->stream, a, a.ahead > 0);
}

} /* namespace vscan */
