/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernels for rows and for columns of a matrix have in common. */
#ifndef VSCAN_MATRIX_LINES_CUH
#define VSCAN_MATRIX_LINES_CUH

#include "bulk_tile.cuh"

namespace vscan {

/* What the kernels are given; Shape says how the matrix is dealt to blocks. */
template <class Shape>
struct matrix_arguments {
    vscan__matrix matrix;
    Shape shape;
    vscan__workspace_header *header;
    word *words;
    int64_t capacity;
    uint32_t delay; /* for tests: see test_delay */
};

template <class Shape>
static matrix_arguments<Shape>
matrix_arguments_of(const vscan__launch *launch, const vscan__matrix &matrix, const Shape &shape) {
    return {matrix,
            shape,
            (vscan__workspace_header *)launch->workspace,
            (word *)((char *)launch->workspace + VSCAN__WORKSPACE_HEADER),
            launch->words,
            launch->test_delay};
}

/* Initial value of a line, or the identity. */
template <class Pair>
static __device__ __forceinline__ typename Pair::U initial_of(const vscan__matrix &matrix,
                                                              int64_t line) {
    using T = typename Pair::T;
    if (matrix.has_initial == 1) return Pair::in(element_of<T>(matrix.initial));
    if (matrix.has_initial == 2)
        return Pair::in(((const T *)matrix.initial_at)[line * matrix.initial_step]);
    return Pair::identity;
}

/* x becomes the identity from x[here] on, and then x[j] the sum of x[0 .. j]. */
template <class Pair, int R>
static __device__ __forceinline__ void scan_piece(typename Pair::U (&x)[R], int here) {
    if (here < R) {
#pragma unroll
        for (int j = 0; j < R; ++j)
            if (j >= here) x[j] = Pair::identity;
    }
    if constexpr (Pair::in_any_order) {
#pragma unroll
        for (int j = 1; j < R; ++j) x[j] = Pair::combine(x[j - 1], x[j]);
    } else {
        scan_row<Pair, false, R>(x, 0);
    }
}

} /* namespace vscan */

#endif
