/* SPDX-License-Identifier: Apache-2.0 */
/* Launchers of scans and reductions of rows and columns, one for each row of lib/core/pairs.h. Their
   kernels, one for each form of elements/operators.cuh, are in rows/ and columns/. */
#include "matrix/matrix.cuh"

extern "C" int64_t vscan__matrix_words_needed(vscan_type type, const vscan__matrix *matrix) {
    const int size = type == VSCAN_DOUBLE || type == VSCAN_LONG ? 8 : 4;
    const int64_t words =
        matrix->columns ? vscan::column_words(*matrix, size) : vscan::row_words(*matrix, size);
    return words * (size / 4);
}

#define X(pair_name, op, type, OP, TYPE)                                                           \
    extern "C" cudaError_t vscan__launch_matrix_##pair_name(vscan__launch *launch,                 \
                                                            const vscan__matrix *matrix) {         \
        using form = vscan::form<vscan::op_##op, type>;                                            \
        return matrix->columns                                                                     \
                   ? vscan::launch_any_columns<form::kernel>(launch, matrix, form::transform)      \
                   : vscan::launch_any_rows<form::kernel>(launch, matrix, form::transform);        \
    }
VSCAN__PAIRS(X)
