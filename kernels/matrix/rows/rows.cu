/* SPDX-License-Identifier: Apache-2.0 */
/* Launches scans and reductions of rows: chooses the kernel. */
#include "matrix/matrix.cuh"
#include "matrix/rows/large.cuh"
#include "matrix/rows/narrow.cuh"
#include "matrix/rows/reduce.cuh"
#include "matrix/rows/rows.cuh"
#include "matrix/rows/segmented.cuh"
#include "matrix/rows/unaligned.cuh"

namespace vscan {

template <class Pair>
cudaError_t launch_any_rows(vscan__launch *launch, const vscan__matrix *matrix,
                            const pair_transform &transform) {
    const int size = sizeof(typename Pair::T);
    if (matrix->heads != nullptr)
        return launch_rows<Pair>(launch, matrix, transform, matrix_segmented_rows<Pair>,
                                 sizeof(segmented_rows_shared<Pair>));
    if constexpr (many_rows<Pair>) {
        if (has_narrow_rows(launch, *matrix, size))
            return launch_narrow_rows<Pair>(launch, matrix, transform);
        if (has_unaligned_rows(launch, *matrix, size))
            return launch_unaligned_rows<Pair>(launch, matrix, transform);
        if (has_vector_sums(*matrix, size, Pair::in_any_order))
            return launch_row_sums<Pair, true>(launch, matrix, transform);
    }
    if constexpr (!Pair::in_any_order) {
        if (has_scalar_sums(*matrix, size))
            return launch_row_sums<Pair, false>(launch, matrix, transform);
    }
    if constexpr (large_rows<Pair>) {
        if (has_large_rows(launch, *matrix, size)) return launch_large_rows<Pair>(launch, matrix);
    }
    return launch_rows<Pair>(launch, matrix, transform, matrix_rows<Pair>,
                             sizeof(rows_shared<Pair>));
}

int64_t row_words(const vscan__matrix &matrix, int size) {
    /* a reduction never needs fewer than a scan */
    const int64_t sums = sum_tiles(matrix, size);
    const int64_t of_row =
        matrix.out == nullptr && sums > 1 ? sums : row_status_words(matrix, size);
    return of_row * matrix.lines;
}

#define X(op, type)                                                                                \
    template cudaError_t launch_any_rows<pair<op, type>>(vscan__launch *, const vscan__matrix *,   \
                                                         const pair_transform &);
VSCAN__FORMS(X)

} /* namespace vscan */
