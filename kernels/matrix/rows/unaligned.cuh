/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scans of rows of more than some 1 KiB where 16 bytes of a row are none of memory's (4099 elements).
 *
 * As in matrix/rows/rows.cuh a lane has 64 bytes of a row, a warp 32 times as many, and a block a row, or
 * some, or of longer ones a chunk of 8 warps after the other. But a warp loads its elements one a lane
 * and all under way at once, each load from 32 elements that memory has side by side from a multiple of
 * 128 bytes on, and stores them so. In shared memory they pass from loads to lanes, and back: there one
 * place is left free after each 128 bytes, so that lanes meet in no bank, and since a load is 32
 * elements, places are known but for one number. Blocks do one row: what a block waits for others do
 * meanwhile, of which a multiprocessor has 36 warps or more as threads have few registers.
 *
 * It has been measured on sm_90, and is there where bulk copies are, none of which it uses: with all
 * architectures it would take three times as much of the library.
 */
#ifndef VSCAN_MATRIX_ROWS_UNALIGNED_CUH
#define VSCAN_MATRIX_ROWS_UNALIGNED_CUH

#include "matrix/rows/narrow.cuh"

namespace vscan {

/* Of a block: 16, and one more, as rows are sooner a few elements longer than a power of 2 than shorter.
   Of a longer row's chunk 8, a quarter of a tile: of the last one less is empty. */
static constexpr int odd_warps = 17, odd_chunk_warps = 8;
static_assert(odd_chunk_warps * 4 == 32, "a tile is 64 KiB, a warp has 2 KiB");

/* Of a multiprocessor: for two blocks of this kernel's threads others than those with bulk copies have no
   room, and the kernel is empty there. */
#ifdef VSCAN__TMA
static constexpr int odd_blocks = 2;
#else
static constexpr int odd_blocks = 1;
#endif

struct odd_rows_shape {
    int row_warps;      /* of a row */
    int over_row_warps; /* 2^12 / that, rounded up */
    int rows;           /* of a block */
    int chunks;         /* of a row */
};

/* *from, where so; else 0, as a register would else be kept for what it had been. Loads are begun
   in the order in which they are written. */
template <class T>
static __device__ __forceinline__ T load_where(bool there, const T *from) {
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
struct odd_items {
    static constexpr int R = 64 / (int)sizeof(T), all = 32 * R, loads = R + 1;
    static constexpr int pad = 2 * R; /* elements up to a free place */
    static constexpr int room = all + all / pad, step = 32 + 32 / pad;
    int r;     /* the lane's element in the first load; may be below 0 */
    int mine;  /* there are so many from it on */
    int place; /* in shared memory, as if it had one */

    /* from: where memory has the first of them */
    __device__ __forceinline__ odd_items(const T *from, int items, bool backward, int lane) {
        r = lane - ((int)((uintptr_t)from / sizeof(T)) & 31);
        mine = items - r;
        const int q = r + (backward ? all - items : 0);
        place = q + (q >> (sizeof(T) == 8 ? 4 : 5));
        static_assert(pad == (sizeof(T) == 8 ? 16 : 32), "a power of 2");
    }
    __device__ __forceinline__ bool has(int j) const { return 32 * j < mine && (j > 0 || r >= 0); }
};

template <class Pair>
__global__ void __launch_bounds__(32 * odd_warps, odd_blocks)
    matrix_odd_rows(const __grid_constant__ matrix_arguments<odd_rows_shape> a) {
#ifdef VSCAN__TMA
    using T = typename Pair::T;
    using U = typename Pair::U;
    using items_of = odd_items<T>;
    constexpr int R = items_of::R, warp_items = items_of::all;
    constexpr int group_lanes = Pair::in_any_order ? 1 : VSCAN__GROUP / R;
    __shared__ U sums[2][odd_warps];

    const vscan__matrix &matrix = a.matrix;
    const odd_rows_shape &shape = a.shape;
    const bool backward = matrix.backward;
    const int lane = (int)(threadIdx.x % 32), warp = (int)(threadIdx.x / 32);
    const int row = warp * shape.over_row_warps >> 12, first_warp = row * shape.row_warps;
    const int row_warp = warp - first_warp;
    const int64_t line = (int64_t)blockIdx.x * shape.rows + row;
    const bool there = line < matrix.lines;
    T *const shared = (T *)dynamic_shared() + warp * items_of::room;
    const int block =
        backward ? 31 - lane : lane; /* the lane's, of the warp's elements in memory */
    T *const piece = shared + block * R + block / 2;

    U p = Pair::identity; /* the row's initial value, and all its tiles before */
    if (there) p = initial_of<Pair>(matrix, line);
    U left_chunk[2] = {}; /* sums of the chunk before, and of the first two, in this tile */
#pragma unroll 1
    for (int chunk = 0; chunk < shape.chunks; ++chunk) {
        /* ---- Elements ------------------------------------------------------------------------ */
        const int begin = (chunk * odd_chunk_warps + row_warp) * warp_items;
        const int left = there ? (int)matrix.length - begin : 0;
        const int items = left < 0 ? 0 : left < warp_items ? left : warp_items;
        const int64_t at =
            line * matrix.line_step + (backward ? (int)matrix.length - begin - items : begin);
        T raw[items_of::loads];
        {
            const T *from = (const T *)matrix.in + at;
            items_of in(from, items, backward, lane);
            from += in.r;
#pragma unroll
            for (int j = 0; j < items_of::loads; ++j) raw[j] = load_where(in.has(j), from + 32 * j);
            T *const places = shared + in.place;
            in.mine = opaque(in.mine);
#pragma unroll
            for (int j = 0; j < items_of::loads; ++j)
                if (in.has(j)) places[items_of::step * j] = raw[j];
        }
        __syncwarp();
        U x[R];
        {
            T mine[R];
#pragma unroll
            for (int j = 0; j < R; ++j) mine[j] = piece[j];
            turn_items(mine, backward);
#pragma unroll
            for (int j = 0; j < R; ++j) x[j] = Pair::in(mine[j]);
        }

        /* ---- Sums: of lanes, warps, chunks, as in matrix/rows/rows.cuh ------------------------------ */
        const int here = items - lane * R;
        scan_piece<Pair>(x, here);
        U upto, end;
        add_lanes<Pair>(x, lane, 0, 32, upto, end);
        U before = p;
        if (shape.row_warps > 1) {
            U *const of_warps = sums[chunk & 1];
            if (lane == 31) of_warps[warp] = upto;
            __syncthreads();
            U sum = lane < shape.row_warps ? of_warps[first_warp + lane] : Pair::identity;
            add_warps<Pair>(lane, row_warp, shape.row_warps, sum, upto, end);
            if (shape.chunks > 1) {
                U chunk_sum = __shfl_sync(all_lanes, sum, odd_chunk_warps - 1);
                add_chunks<Pair>(chunk & 3, 4, chunk_sum, left_chunk, p, upto, end);
            }
        }

        /* ---- Results ------------------------------------------------------------------------- */
        const bool ends_group = lane % group_lanes == group_lanes - 1;
        const U visible = matrix.has_initial ? before : Pair::visible;
        make_results<Pair>(x, before, upto, end, ends_group);
        if (matrix.totals != nullptr && left <= warp_items && here > 0 && here <= R)
            ((T *)matrix.totals)[line] = Pair::out(last_of(x, here, x[0]));
        if (matrix.exclusive) {
            U earlier = __shfl_up_sync(all_lanes, x[R - 1], 1);
            if (lane == 0) earlier = begin == 0 ? visible : end;
#pragma unroll
            for (int j = R - 1; j > 0; --j) x[j] = x[j - 1];
            x[0] = earlier;
        }
        T results[R];
#pragma unroll
        for (int j = 0; j < R; ++j) results[j] = Pair::out(x[j]);
        turn_items(results, backward);
#pragma unroll
        for (int j = 0; j < R; ++j) piece[j] = results[j];
        __syncwarp();
        T *to = (T *)matrix.out + at;
        const items_of out(to, items, backward, lane);
        to += out.r;
        const T *const places = shared + out.place;
#pragma unroll
        for (int j = 0; j < items_of::loads; ++j)
            if (out.has(j)) to[32 * j] = places[items_of::step * j];
        __syncwarp();
    }
#endif
}

/* ---- Launch ---------------------------------------------------------------------------------- */

static odd_rows_shape odd_rows_shape_of(const vscan__matrix &matrix, int size) {
    const int64_t warp_items = 32 * 64 / size,
                  warps = (matrix.length + warp_items - 1) / warp_items;
    odd_rows_shape s = {(int)warps, 0, 1, 1};
    if (warps > odd_warps) {
        s.row_warps = odd_chunk_warps;
        s.chunks = (int)((warps + odd_chunk_warps - 1) / odd_chunk_warps);
    } else if (warps < 8) {
        s.rows = 8 / s.row_warps;
    }
    s.over_row_warps = ((1 << 12) + s.row_warps - 1) / s.row_warps;
    return s;
}

/* Whether a matrix that is none for matrix/rows/narrow.cuh is one for this kernel. */
static bool has_odd_rows(const vscan__launch *launch, const vscan__matrix &matrix, int size) {
    const int V = 16 / size;
    const bool quads = (((uintptr_t)matrix.in | (uintptr_t)matrix.out) & 15) == 0 &&
                       matrix.line_step % V == 0 && (matrix.length % V == 0 || !matrix.backward);
    if (launch->shared_memory == 0 || quads || matrix.out == nullptr || matrix.length >= 1 << 30 ||
        matrix.length * size <= 1024)
        return false;
    const odd_rows_shape s = odd_rows_shape_of(matrix, size);
    /* not where much of a row's chunks is empty */
    const int64_t items = (int64_t)s.chunks * s.row_warps * (32 * 64 / size);
    return (s.chunks == 1 || matrix.length * 4 >= items * 3) &&
           matrix.lines >= 2 * launch->multiprocessors * s.rows;
}

template <class Pair>
static cudaError_t launch_odd_rows(const vscan__launch *launch, const vscan__matrix *matrix) {
    using T = typename Pair::T;
    const odd_rows_shape s = odd_rows_shape_of(*matrix, sizeof(T));
    const int64_t blocks = (matrix->lines + s.rows - 1) / s.rows;
    if (blocks > INT32_MAX) return cudaErrorInvalidConfiguration;
    const int warps = s.rows * s.row_warps;
    return start(matrix_odd_rows<Pair>, blocks, 32 * warps,
                 warps * odd_items<T>::room * (int)sizeof(T), launch->stream,
                 matrix_arguments_of(launch, *matrix, s));
}

} /* namespace vscan */

#endif
