/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scans of matrix rows of several tiles. They run as scan/large/large.cuh scans a vector: blocks take the
 * tiles of all rows by ticket, one row after the other, and the prefix begins anew with each row.
 * The last tile of a row may be partial. TMA fills the part beyond the row with zeros, which come
 * after all elements in scan order, and does not store it.
 *
 * Rows begin at multiples of 16 bytes and their length is a multiple of 128 bytes, so every
 * 128-byte line is whole. (Half of the code for vectors handles everything else.) Forward only:
 * backward, the first box of a partial tile begins before the row, and an H200 reported "illegal
 * instruction" for that, most likely for the store. Other rows: matrix/rows/rows.cuh.
 *
 * Shared memory, barriers and memory order are those of scan/large/large.cuh.
 */
#pragma once

#include "cuda/launch.h"
#include "elements/operators.cuh"

namespace vscan {

/* Tiles of a row. Each publishes an aggregate. */
static int64_t row_tiles(const vscan__matrix &matrix, int size) {
    const int64_t tile = size == 8 ? VSCAN__TILE_DOUBLE : VSCAN__TILE_FLOAT;
    return (matrix.length + tile - 1) / tile;
}

/* Whether the kernel can process a matrix, on some GPU. */
static bool may_have_large_rows(const vscan__matrix &matrix, int size) {
    const int64_t tiles = row_tiles(matrix, size);
    /* at most 1/9 of the elements of a row's tiles may lie beyond the row */
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

/* Defined in matrix/rows/large.cu. */
template <class Pair>
cudaError_t launch_large_rows(vscan__launch *launch, const vscan__matrix *matrix);

/* The pairs that have this kernel, none with a transform. Each adds some 10 KB to the library. */
template <class Pair>
static constexpr bool large_rows = false;
template <>
constexpr bool large_rows<pair<op_plus, int>> = true;
template <>
constexpr bool large_rows<pair<op_plus, long>> = true;
template <>
constexpr bool large_rows<pair<op_plus, float>> = true;
template <>
constexpr bool large_rows<pair<op_plus, double>> = true;

} /* namespace vscan */
