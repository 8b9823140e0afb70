/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scans and reductions of short columns, of a group at most: a thread has a column.
 *
 * They are many short scans side by side, for which nothing is shared and nobody is waited for. A thread loads all rows of
 * its column before it uses the first. The rows of a strip are added by the network. What precedes a strip in its group is
 * kept like the digits of a binary counter: before strip 3, the sums of strips 0 and 1 together and of strip 2, of which
 * the nearer one is added first. That is the network of the whole group.
 */
#pragma once

#include "matrix/lines.cuh"

namespace vscan {

static constexpr int short_strip = 8; /* rows */

struct short_columns_shape {}; /* a thread a column */

static bool has_short_columns(const vscan__matrix &matrix) {
    return matrix.length > 0 && matrix.length <= VSCAN__GROUP;
}

template <class Pair, int Strips>
__global__ void __launch_bounds__(short_columns_threads)
    matrix_short_columns(const __grid_constant__ matrix_arguments<short_columns_shape> a) {
    using T = typename Pair::T;
    using U = typename Pair::U;
    constexpr int R = short_strip;
    const vscan__matrix &matrix = a.matrix;
    const int64_t line = (int64_t)blockIdx.x * short_columns_threads + threadIdx.x;
    if (line >= matrix.lines) return;
    const int length = (int)matrix.length;
    const int64_t step = matrix.backward ? -matrix.step : matrix.step;
    const int64_t first =
        column_at(matrix, line) + (matrix.backward ? (length - 1) * matrix.step : 0);
    const T *const in = (const T *)matrix.in + first;
    T *const out = matrix.out != nullptr ? (T *)matrix.out + first : nullptr;

    T raw[Strips * R];
    UNROLL_FOR (int k = 0; k < Strips * R; ++k) raw[k] = k < length ? in[k * step] : (T)0;
    const U z = initial_of<Pair>(a, line);
    U previous = matrix.has_initial ? z : (U)Pair::visible; /* the result before this one */
    U sums[Strips > 1 ? 2 : 1];                             /* of one strip, of two */
    UNROLL_FOR (int strip = 0; strip < Strips; ++strip) {
        const int here = length - strip * R;
        if (here <= 0) break;
        U x[R];
        UNROLL_FOR (int j = 0; j < R; ++j)
            x[j] = j < here ? Pair::in(raw[strip * R + j], a.transform) : (U)Pair::identity;
        network<Pair>(x);
        const U sum = x[R - 1];
        UNROLL_FOR (int j = 0; j < R; ++j) {
            if (strip & 1) x[j] = Pair::combine(sums[0], x[j]);
            if (strip & 2) x[j] = Pair::combine(sums[Strips > 1], x[j]);
            x[j] = Pair::combine(z, x[j]);
        }
        if (strip & 1)
            sums[Strips > 1] = Pair::combine(sums[0], sum);
        else
            sums[0] = sum;
        UNROLL_FOR (int j = 0; j < R; ++j) {
            if (j >= here) break;
            const U result = matrix.exclusive ? previous : x[j];
            if (matrix.out != nullptr) out[(strip * R + j) * step] = Pair::out(result, a.transform);
            previous = x[j];
        }
    }
    if (matrix.totals != nullptr) ((T *)matrix.totals)[line] = Pair::out(previous, a.transform);
}

template <class Pair>
static cudaError_t launch_short_columns(const vscan__launch *launch, const vscan__matrix *matrix,
                                        const pair_transform &transform) {
    const int64_t blocks = (matrix->lines + short_columns_threads - 1) / short_columns_threads;
    if (blocks > INT32_MAX) return cudaErrorInvalidConfiguration;
    return start(matrix->length <= short_strip
                     ? matrix_short_columns<Pair, 1>
                     : matrix_short_columns<Pair, VSCAN__GROUP / short_strip>,
                 blocks, short_columns_threads, 0, launch->stream,
                 matrix_arguments_of(launch, *matrix, short_columns_shape{}, transform));
}

} /* namespace vscan */
