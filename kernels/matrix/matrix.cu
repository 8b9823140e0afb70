/* SPDX-License-Identifier: Apache-2.0 */
/* Launchers of scans and reductions of rows and columns, one for each row of lib/pairs.h. */
#include "matrix/columns/reduce.cuh"
#include "matrix/columns/columns.cuh"
#include "matrix/columns/large.cuh"
#include "matrix/rows/narrow.cuh"
#include "matrix/rows/unaligned.cuh"
#include "matrix/rows/rows.cuh"
#include "matrix/rows/large.cuh"
#include "matrix/rows/reduce.cuh"

namespace vscan {

template <class Pair>
static cudaError_t launch_matrix(vscan__launch *launch, const vscan__matrix *matrix, int pair) {
    const int size = sizeof(typename Pair::T);
    if (matrix->columns) {
        if (matrix->out == nullptr) return launch_column_sums<Pair>(launch, matrix);
        return has_large_columns(launch, *matrix, size)
                   ? launch_large_columns<Pair>(launch, matrix, pair)
                   : launch_columns<Pair>(launch, matrix);
    }
    if constexpr (many_rows<Pair>) {
        if (has_narrow_rows(launch, *matrix, size)) return launch_narrow_rows<Pair>(launch, matrix);
        if (has_unaligned_rows(launch, *matrix, size))
            return launch_unaligned_rows<Pair>(launch, matrix);
        if (has_vector_sums(*matrix, size, Pair::in_any_order))
            return launch_row_sums<Pair, true>(launch, matrix);
    }
    if constexpr (!Pair::in_any_order) {
        if (has_scalar_sums(*matrix, size)) return launch_row_sums<Pair, false>(launch, matrix);
    }
    if constexpr (large_rows<Pair>) {
        if (has_large_rows(launch, *matrix, size))
            return launch_large_rows<Pair>(launch, matrix, pair);
    }
    return launch_rows<Pair>(launch, matrix, pair);
}

static_assert(vscan__pair_count <= 16, "each has a bit in launch->matrix_ready");

} /* namespace vscan */

using namespace vscan;

extern "C" int64_t vscan__matrix_words_needed(vscan_type type, const vscan__matrix *matrix) {
    const int size = type == VSCAN_DOUBLE ? 8 : 4;
    int64_t of_line = row_status_words(*matrix, size);
    if (matrix->columns)
        of_line = matrix->out == nullptr ? column_sums_status_words(*matrix, size)
                                         : scan_columns_status_words(*matrix, size);
    else if (matrix->out == nullptr && sum_tiles(*matrix, size) > 1)
        of_line = sum_tiles(*matrix, size); /* never fewer than for a scan */
    return of_line * matrix->lines * (size / 4);
}

#define X(pair_name, op, type, OP, TYPE)                                                           \
    extern "C" cudaError_t vscan__launch_matrix_##pair_name(vscan__launch *launch,                 \
                                                            const vscan__matrix *matrix) {         \
        return launch_matrix<pair<op_##op, type>>(launch, matrix, vscan__pair_##pair_name);        \
    }
VSCAN__PAIRS(X)
