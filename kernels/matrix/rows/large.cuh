/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scans of rows of several tiles, as scan/large.cuh scans a vector: tiles of all rows are taken one after
 * the other, and P(t) begins anew with each row. A tile at a row's end may be short: what it has of the
 * slot beyond the row is zeros, which come later than all that is there, and are not stored.
 *
 * Rows begin at multiples of 16 bytes and are multiples of 128 bytes long, so that there is nothing
 * but whole rows of slots: half of the code for vectors is for all else. Forward alone: backward, the
 * short tile's first box begins before the row, and H200s said "illegal instruction" then (of the store,
 * most likely: vectors load so). Other rows: matrix/rows/rows.cuh.
 */
#ifndef VSCAN_MATRIX_ROWS_LARGE_CUH
#define VSCAN_MATRIX_ROWS_LARGE_CUH

#include "common/launch.h"
#include "common/operators.cuh"

namespace vscan {

/* Tiles of a row, and words that a launch may need for it. */
static int64_t row_tiles(const vscan__matrix &matrix, int size) {
    const int64_t tile = size == 8 ? VSCAN__TILE_DOUBLE : VSCAN__TILE_FLOAT;
    return (matrix.length + tile - 1) / tile;
}

/* Whether a matrix is one for this kernel on some GPU. */
static bool may_have_large_rows(const vscan__matrix &matrix, int size) {
    const int64_t tiles = row_tiles(matrix, size);
    /* at most 1/9 of a row's tiles may be empty */
    return matrix.out != nullptr && !matrix.columns && !matrix.backward && tiles >= 2 &&
           matrix.length * size * 9 >= tiles * 8 * (64 << 10) && matrix.length * size % 128 == 0 &&
           matrix.line_step * size % 16 == 0 &&
           (((uintptr_t)matrix.in | (uintptr_t)matrix.out) & 15) == 0 &&
           matrix.lines <= INT32_MAX && tiles * matrix.lines < INT32_MAX;
}

static inline bool has_large_rows(const vscan__launch *launch, const vscan__matrix &matrix,
                                  int size) {
    return launch->shared_memory > 0 && matrix.lines * matrix.length * size >= launch->large_from &&
           may_have_large_rows(matrix, size);
}

/* In matrix/rows/large.cu. */
template <class Pair>
cudaError_t launch_large_rows(vscan__launch *launch, const vscan__matrix *matrix, int pair);

/* Pairs that have this kernel: each is some 10 KB of the library. */
template <class Pair>
static constexpr bool large_rows = false;
template <>
constexpr bool large_rows<pair<op_plus, int>> = true;
template <>
constexpr bool large_rows<pair<op_plus, float>> = true;
template <>
constexpr bool large_rows<pair<op_plus, double>> = true;

} /* namespace vscan */

#endif
