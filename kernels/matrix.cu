/* SPDX-License-Identifier: Apache-2.0 */
/* The launchers of scans and reductions of rows and columns, one a row of lib/pairs.h. */
#include "matrix.cuh"

extern "C" int64_t vscan__matrix_words_needed(vscan_type type, const vscan__matrix *matrix) {
    const int size = type == VSCAN_DOUBLE ? 8 : 4;
    const int64_t of_line =
        matrix->columns ? vscan::shape_of(*matrix, size).words : vscan::row_words(*matrix, size);
    return of_line * matrix->lines * (size / 4);
}

#define X(pair_name, op, type, OP, TYPE)                                                           \
    extern "C" cudaError_t vscan__launch_matrix_##pair_name(const vscan__launch *launch,           \
                                                            const vscan__matrix *matrix) {         \
        return vscan::launch_matrix<vscan::pair<vscan::op_##op, type>>(launch, matrix);            \
    }
VSCAN__PAIRS(X)
