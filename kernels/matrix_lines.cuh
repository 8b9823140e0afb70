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

template <class U>
static __device__ __forceinline__ U wait_for_word(const word *words, int64_t at, uint32_t tag) {
    U value;
    uint32_t none;
    while (!unit_word<U>::read(words, at, tag, &value, &none)) {
    }
    return value;
}

/* The two halves of end_tickets: by the thread that has the launch's last ticket, and by the whole block,
   which clears words by all of its threads. used: words that the launch writes. */
template <class Arguments>
static __device__ __forceinline__ void end_launch(const Arguments &a) {
    next_launch(a.header, (uint32_t)(a.header->launches_and_ticket >> 32));
}
template <class Arguments>
static __device__ __forceinline__ void clear_words(const Arguments &a, uint32_t tag, int64_t used) {
    scrub(tag >> 15 & 0x7fff, a.words, a.capacity, used, (int)threadIdx.x, (int)blockDim.x);
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
