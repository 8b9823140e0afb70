/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scans and reductions of small contiguous rows that are not aligned to 16 bytes, or that would
 * leave much of the slices of matrix/rows/rows.cuh empty: a lane owns a row.
 *
 * A warp owns 32 rows. It copies them to shared memory as they lie in memory, by 16 bytes except at
 * both ends, scans them there, each lane eight elements of its row at a time in registers, and
 * copies them back. Lanes are one row apart; with an odd number of elements that is without bank
 * conflicts. A warp then ends; others work while it waits. Warps share nothing, so no memory order
 * but that of a warp matters.
 *
 * The network of core/order.h goes over eight elements, then over the four eights of a group, all
 * in the lane. A row is shorter than a block of level 1.
 */
#pragma once

#include "matrix/lines.cuh"

namespace vscan {

struct narrow_rows_shape {
    int warps, warp_bytes;
    int shift;      /* input elements between the previous multiple of 16 bytes and the first one */
    bool out_quads; /* the output has as many */
};

/*
 * Calls copy(to, from) for a range of elements whose first one has `shift` elements before it in
 * its 16 bytes: by 16 bytes, and by elements at both ends. By a warp.
 */
template <class T, class Copy>
static DEVICE void copy_range(T *to, const T *from, int items, int shift, int lane, Copy copy) {
    constexpr int V = 16 / (int)sizeof(T);
    const int begin = -shift & (V - 1), head = begin < items ? begin : items;
    const int whole = head + (items - head) / V * V;
    const int i = lane < V ? lane : whole + lane - V;
    if (lane < V ? lane < head : i < items && lane < 2 * V) copy(to + i, from + i);
    int4 *quad_to = (int4 *)(to + head) + lane;
    const int4 *quad_from = (const int4 *)(from + head) + lane;
#pragma unroll 4
    for (int left = whole - head - lane * V; left > 0; left -= 32 * V) {
        copy(quad_to, quad_from);
        quad_to += 32;
        quad_from += 32;
    }
}

/* Reverses x, if so; see reverse_quads in matrix/rows/rows.cuh. */
template <class T, int N>
static DEVICE void reverse_items(T (&x)[N], bool backward) {
    ROLLED_FOR (int times = made_here(backward); times > 0; --times) {
        UNROLL_FOR (int j = 0; j < N / 2; ++j) exchange_here(x[j], x[N - 1 - j]);
    }
}

/* The state of a lane in its row, before the next eight elements. */
template <class Pair, bool InAnyOrder = Pair::in_any_order>
struct lane_row {
    using U = typename Pair::U;
    U r4, r1 = Pair::identity;
    U eight, half; /* the group's first or third eight; at last its first two eights */

    DEVICE explicit lane_row(U initial) : r4(initial) {}

    /* Turns eight number k of the row into its results of an inclusive scan; in a reduction,
       only x[7]. */
    DEVICE void scan(U (&x)[8], int k, bool reduce) {
        if (reduce) {
            x[7] = sum_items<Pair>(x);
            add_left<7>(x, k);
            return;
        }
        network<Pair>(x);
        add_left<0>(x, k);
    }

    /* Adds what is left of the eight to x[Begin] and all behind it. */
    template <int Begin>
    DEVICE void add_left(U (&x)[8], int k) {
        if (k & 1) add<Begin>(eight, x);
        eight = x[7];
        if (k & 2)
            add<Begin>(half, x);
        else
            half = x[7];
        add<Begin>(r1, x);
        if ((k & 3) == 3) r1 = x[7];
        add<Begin>(r4, x);
    }
    template <int Begin>
    static DEVICE void add(U left, U (&x)[8]) {
        UNROLL_FOR (int j = Begin; j < 8; ++j) x[j] = Pair::combine(left, x[j]);
    }
};
template <class Pair>
struct lane_row<Pair, true> {
    using U = typename Pair::U;
    U sum;

    DEVICE explicit lane_row(U p) : sum(p) {}

    DEVICE void scan(U (&x)[8], int, bool) {
        UNROLL_FOR (int j = 0; j < 8; ++j) x[j] = sum = Pair::combine(sum, x[j]);
    }
};

/* Bit j: element j of eight exists, if `left` do. */
static DEVICE uint32_t items_there(int left, bool backward) {
    const uint32_t some = left >= 8 ? 255 : (1u << left) - 1;
    return backward ? some << (left >= 8 ? 0 : 8 - left) : some;
}

template <class Pair>
__global__ void __launch_bounds__(256)
    matrix_narrow_rows(const __grid_constant__ matrix_arguments<narrow_rows_shape> a) {
    using T = typename Pair::T;
    using U = typename Pair::U;

    begin_rows<T>(a);
    const vscan__matrix &matrix = a.matrix;
    const narrow_rows_shape &shape = a.shape;
    const bool backward = matrix.backward;
    const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
    const int length = (int)matrix.length;
    const int64_t first = ((int64_t)blockIdx.x * shape.warps + warp) * 32, row = first + lane;
    if (first >= matrix.lines) return;
    const int rows = matrix.lines - first < 32 ? (int)(matrix.lines - first) : 32;
    const int items = rows * length;
    T *const shared = (T *)(dynamic_shared() + warp * shape.warp_bytes) + shape.shift;

    /* ---- Elements ---------------------------------------------------------------------------- */
    const T *const in = (const T *)matrix.in + first * length;
    copy_range(shared, in, items, shape.shift, lane,
               [](auto *to, auto *from) { async_copy(to, from); });
    U p = Pair::identity;
    if (matrix.has_initial == 1) p = Pair::in(element_of<T>(matrix.initial), a.transform);
    if (matrix.has_initial == 2 && lane < rows)
        p = Pair::in(((const T *)matrix.initial_at)[row * matrix.initial_step], a.transform);
    async_copies_wait();
    __syncwarp();

    /* ---- Rows -------------------------------------------------------------------------------- */
    if (lane < rows) {
        T *const begin = shared + lane * length;
        U earlier = matrix.has_initial ? p : Pair::visible, x[8];
        lane_row<Pair> r(p);
        ROLLED_FOR (int k = 0, left = length; left > 0; ++k, left -= 8) {
            T *const at = begin + (backward ? left - 8 : length - left);
            const uint32_t there = items_there(left, backward);
            T raw[8];
            UNROLL_FOR (int j = 0; j < 8; ++j) {
                raw[j] = Pair::out(Pair::identity, a.transform);
                if (there >> j & 1) raw[j] = at[j];
            }
            reverse_items(raw, backward);
            UNROLL_FOR (int j = 0; j < 8; ++j) x[j] = Pair::in(raw[j], a.transform);
            r.scan(x, k, matrix.out == nullptr);
            const U last = x[7];
            if (matrix.exclusive) {
                UNROLL_FOR (int j = 7; j > 0; --j) x[j] = x[j - 1];
                x[0] = earlier;
            }
            earlier = last;
            if (matrix.out == nullptr) continue;
            UNROLL_FOR (int j = 0; j < 8; ++j) raw[j] = Pair::out(x[j], a.transform);
            reverse_items(raw, backward);
            UNROLL_FOR (int j = 0; j < 8; ++j)
                if (there >> j & 1) at[j] = raw[j];
        }
        /* behind the row's end are identities */
        if (matrix.totals != nullptr) ((T *)matrix.totals)[row] = Pair::out(earlier, a.transform);
    }
    if (matrix.out == nullptr) return;
    __syncwarp();

    /* ---- Results ----------------------------------------------------------------------------- */
    T *const out = (T *)matrix.out + first * length;
    if (shape.out_quads) {
        copy_range(out, shared, items, shape.shift, lane,
                   [](auto *to, auto *from) { *to = *from; });
    } else {
#pragma unroll 4
        for (int i = lane; i < items; i += 32) out[i] = shared[i];
    }
}

/* ---- Launch ---------------------------------------------------------------------------------- */

/* Kernels' pairs that have this kernel and those of matrix/rows/unaligned.cuh and, for vectors,
   matrix/rows/reduce.cuh: plus and max. With op_or each architecture's code would be some 20 KB larger. */
template <class Pair>
static constexpr bool many_rows = true;
template <class T>
static constexpr bool many_rows<pair<op_or, T>> = false;

/* Whether this kernel is used for a matrix. */
static bool has_narrow_rows(const vscan__launch *launch, const vscan__matrix &matrix, int size) {
    const int V = 16 / size, slice = 4 * V; /* a slice of matrix/rows/rows.cuh */
    const int64_t length = matrix.length;
    /* sums of 4-byte types: as much as 32 rows may have of the shared memory of a block */
    const bool longer = matrix.out == nullptr && size == 4 &&
                        matrix.lines >= narrow_many_rows * launch->multiprocessors;
    const int most = longer ? narrow_sums_items : narrow_bytes / size;
    /* multiples of 8 have too many bank conflicts */
    if (matrix.line_step != length || length % 8 == 0 || length > most) return false;
    if (length > narrow_always_items && matrix.lines < narrow_rows * launch->multiprocessors)
        return false;
    if (matrix.out == nullptr) return matrix.totals != nullptr;
    const bool quads =
        (((uintptr_t)matrix.in | (uintptr_t)matrix.out) & 15) == 0 && length % V == 0;
    const int64_t rows = 32 / ((length + slice - 1) / slice); /* of a warp there */
    return !quads || rows * length * 4 < 3 * 32 * slice;
}

template <class Pair>
static cudaError_t launch_narrow_rows(const vscan__launch *launch, const vscan__matrix *matrix,
                                      const pair_transform &transform) {
    using T = typename Pair::T;
    const int size = sizeof(T);
    narrow_rows_shape s = {};
    s.shift = (int)((uintptr_t)matrix->in % 16) / size;
    s.out_quads = (uintptr_t)matrix->in % 16 == (uintptr_t)matrix->out % 16;
    s.warp_bytes = 32 * (int)matrix->length * size + 16;
    const int most = (48 << 10) / s.warp_bytes;
    s.warps = most < 8 ? most : 8;
    const int64_t rows = 32 * s.warps, blocks = (matrix->lines + rows - 1) / rows;
    if (blocks > INT32_MAX) return cudaErrorInvalidConfiguration;
    const auto a = rows_arguments_of(launch, *matrix, s, transform, sizeof(typename Pair::T),
                                     blocks, odd_rows_overlap_to);
    return start(matrix_narrow_rows<Pair>, blocks, 32 * s.warps, s.warps * s.warp_bytes,
                 launch->stream, a, a.ahead > 0);
}

} /* namespace vscan */
