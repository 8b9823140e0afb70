/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernels for rows and for columns of a matrix have in common. A line is a row or a
   column; a slice is the part of a line that a thread holds in registers. */
#pragma once

#include "elements/vectors.cuh"
#include "machine/tma.cuh"
#include "matrix/tuning.cuh"
#include "order/nested.cuh"
#include "order/network.cuh"
#include "protocol/lookback.cuh"

namespace vscan {

/* Arguments of the kernels; Shape says how the matrix is divided among blocks. */
template <class Shape>
struct matrix_arguments {
    vscan__matrix matrix;
    Shape shape;
    lookback_memory lookback;
    pair_transform transform;
    uint32_t ahead; /* bytes that a block prefetches; 0: launches do not overlap */
};

template <class Shape>
static matrix_arguments<Shape> matrix_arguments_of(const vscan__launch *launch,
                                                   const vscan__matrix &matrix, const Shape &shape,
                                                   const pair_transform &transform) {
    return {matrix, shape, lookback_of(launch), transform, 0};
}

/* ---- Overlapping launches, of rows ------------------------------------------------------------- */

/* Bytes that rows take. */
static __host__ DEVICE int64_t rows_span(const vscan__matrix &matrix, int size) {
    return ((matrix.lines - 1) * matrix.line_step + matrix.length) * size;
}

/* The same for kernels that begin with begin_rows. blocks: of the launch. Launches overlap if the matrix has at
   most overlap_to bytes. */
template <class Shape>
static matrix_arguments<Shape>
rows_arguments_of(const vscan__launch *launch, const vscan__matrix &matrix, const Shape &shape,
                  const pair_transform &transform, int size, int64_t blocks, int64_t overlap_to) {
    matrix_arguments<Shape> a = matrix_arguments_of(launch, matrix, shape, transform);
    const int64_t span = rows_span(matrix, size);
    if (launch->may_overlap && span <= overlap_to)
        a.ahead = (uint32_t)(span / blocks / 16 + 1) * 16;
    return a;
}

/* By each block, before anything is read: waits for the kernel before, where launches overlap. Meanwhile
   a share of the matrix is prefetched, about what the block will read, and together all of it. */
template <class T, class Arguments>
static DEVICE void begin_rows(const Arguments &a) {
#ifdef VSCAN__TMA
    if (a.ahead > 0 && threadIdx.x == 0) {
        const uintptr_t in = (uintptr_t)a.matrix.in, first = in & ~(uintptr_t)15;
        const uintptr_t from = first + (uintptr_t)blockIdx.x * a.ahead;
        const uintptr_t end = (in + rows_span(a.matrix, sizeof(T))) & ~(uintptr_t)15;
        if (from < end)
            tma_prefetch((const void *)from,
                         end - from < a.ahead ? (uint32_t)(end - from) : a.ahead);
    }
#endif
    grid_dependency_wait();
}

/* ---- Lines --------------------------------------------------------------------------------------- */

/* The number of a column's first element in memory. Columns of several matrices are numbered
   consecutively. A launch has fewer than 2^32 of them: a division of 64 bits takes some 100 instructions. */
static DEVICE int64_t column_at(const vscan__matrix &matrix, int64_t column) {
    if (matrix.each == matrix.lines) return column;
    const uint32_t of = (uint32_t)column / (uint32_t)matrix.each;
    return of * matrix.apart + ((uint32_t)column - of * (uint32_t)matrix.each);
}

/* The initial value of a line, or the identity. */
template <class Pair, class Arguments>
static DEVICE typename Pair::U initial_of(const Arguments &a, int64_t line) {
    using T = typename Pair::T;
    const vscan__matrix &matrix = a.matrix;
    if (matrix.has_initial == 1) return Pair::in(element_of<T>(matrix.initial), a.transform);
    if (matrix.has_initial == 2)
        return Pair::in(((const T *)matrix.initial_at)[line * matrix.initial_step], a.transform);
    return Pair::identity;
}

/* In order: whether R4 can be more than nothing. */
static DEVICE bool has_r4(const vscan__matrix &matrix) {
    return matrix.has_initial || matrix.length > VSCAN__LEVEL_3;
}

/* Sets x to the identity from x[here] on, then scans it, in order by the Sklansky network. */
template <class Pair, int R>
static DEVICE void scan_slice(typename Pair::U (&x)[R], int here) {
    if (here < R) {
        UNROLL_FOR (int j = 0; j < R; ++j)
            if (j >= here) x[j] = Pair::identity;
    }
    if constexpr (Pair::in_any_order) {
        UNROLL_FOR (int j = 1; j < R; ++j) x[j] = Pair::combine(x[j - 1], x[j]);
    } else {
        network<Pair>(x);
    }
}

/* x[here - 1] if it exists, else `none`; by selects, since an index would put x in local memory. */
template <class U, int R>
static DEVICE U last_of(const U (&x)[R], int here, U none) {
    U last = none;
    UNROLL_FOR (int j = 0; j < R; ++j)
        if (j == here - 1) last = x[j];
    return last;
}

} /* namespace vscan */
