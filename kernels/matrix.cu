/* SPDX-License-Identifier: Apache-2.0 */
/* The launchers of scans and reductions of rows and columns, one a row of lib/pairs.h. */
#include "matrix_column_sums.cuh"
#include "matrix_columns.cuh"
#include "matrix_rows.cuh"
#include "matrix_sums.cuh"

namespace vscan {

template <class Pair>
static cudaError_t launch_matrix(vscan__launch *launch, const vscan__matrix *matrix, int pair) {
    if (matrix->columns)
        return matrix->out == nullptr ? launch_column_sums<Pair>(launch, matrix)
                                      : launch_columns<Pair>(launch, matrix);
    if constexpr (sums_rows<Pair>) {
        if (has_row_sums(*matrix, sizeof(typename Pair::T)))
            return launch_row_sums<Pair>(launch, matrix);
    }
    return launch_rows<Pair>(launch, matrix, pair);
}

static_assert(vscan__pair_count <= 32, "each has a bit in launch->matrix_ready");

} /* namespace vscan */

using namespace vscan;

extern "C" int64_t vscan__matrix_words_needed(vscan_type type, const vscan__matrix *matrix) {
    const int size = type == VSCAN_DOUBLE ? 8 : 4;
    int64_t of_line = row_words(*matrix, size);
    if (matrix->columns)
        of_line = matrix->out == nullptr ? column_sums_shape_of(*matrix, size).words
                                         : columns_shape_of(*matrix, size).words;
    else if (has_row_sums(*matrix, size) && row_sums_shape_of(*matrix, size).tiles > of_line)
        of_line = row_sums_shape_of(*matrix, size).tiles;
    return of_line * matrix->lines * (size / 4);
}

#define X(pair_name, op, type, OP, TYPE)                                                           \
    extern "C" cudaError_t vscan__launch_matrix_##pair_name(vscan__launch *launch,                 \
                                                            const vscan__matrix *matrix) {         \
        return launch_matrix<pair<op_##op, type>>(launch, matrix, vscan__pair_##pair_name);        \
    }
VSCAN__PAIRS(X)
