/* SPDX-License-Identifier: Apache-2.0 */
/* Launches scans and reductions of columns: chooses the kernel. */
#include "matrix/columns/columns.cuh"
#include "matrix/columns/large.cuh"
#include "matrix/columns/reduce_small.cuh"
#include "matrix/columns/short.cuh"
#include "matrix/matrix.cuh"

namespace vscan {

/* Of one matrix, or of several that one launch can have. */
template <class Pair>
static cudaError_t launch_together(vscan__launch *launch, const vscan__matrix *matrix,
                                   const pair_transform &transform) {
    if (has_short_columns(*matrix)) return launch_short_columns<Pair>(launch, matrix, transform);
    if (matrix->out == nullptr) return launch_column_sums<Pair>(launch, matrix, transform);
    if (matrix->each == matrix->lines &&
        has_large_columns(launch, *matrix, (int)sizeof(typename Pair::T)))
        return launch_large_columns<Pair>(launch, matrix, transform);
    return launch_columns<Pair>(launch, matrix, transform);
}

/* Some of all matrices: from number `first` on. */
static vscan__matrix some_of(const vscan__matrix &all, int64_t first, int64_t matrices, int size) {
    vscan__matrix some = all;
    const int64_t at = first * all.apart * size, line = first * all.each * size;
    some.lines = matrices * all.each;
    some.in = (const char *)all.in + at;
    if (all.out != nullptr) some.out = (char *)all.out + at;
    if (all.totals != nullptr) some.totals = (char *)all.totals + line;
    if (all.has_initial == 2)
        some.initial_at = (const char *)all.initial_at + line * all.initial_step;
    return some;
}

/* How many of all matrices one launch can have: as many columns as column_at of matrix/lines.cuh
   can number. */
static int64_t matrices_together(const vscan__matrix &all) {
    const int64_t most = (int64_t)UINT32_MAX / all.each, matrices = all.lines / all.each;
    return most < 1 ? 1 : most < matrices ? most : matrices;
}

/* Matrices for which the kernel for large ones is made go one by one. */
template <class Pair>
cudaError_t launch_any_columns(vscan__launch *launch, const vscan__matrix *matrix,
                               const pair_transform &transform) {
    const int size = (int)sizeof(typename Pair::T);
    const int64_t matrices = matrix->lines / matrix->each;
    if (matrices == 1) return launch_together<Pair>(launch, matrix, transform);
    const bool large = matrix->out != nullptr && !has_short_columns(*matrix) &&
                       has_large_columns(launch, some_of(*matrix, 0, 1, size), size);
    const int64_t most = large ? 1 : matrices_together(*matrix);
    for (int64_t first = 0; first < matrices; first += most) {
        const vscan__matrix some =
            some_of(*matrix, first, matrices - first < most ? matrices - first : most, size);
        const cudaError_t error = launch_together<Pair>(launch, &some, transform);
        if (error != cudaSuccess) return error;
    }
    return cudaSuccess;
}

int64_t column_words(const vscan__matrix &matrix, int size) {
    const int64_t matrices = matrix.lines / matrix.each, most = matrices_together(matrix);
    int64_t words = 0;
    for (const int64_t together : {(int64_t)1, most, matrices % most}) {
        if (together == 0) continue;
        const vscan__matrix some = some_of(matrix, 0, together, size);
        const int64_t of_column = some.out == nullptr
                                      ? chosen_column_sums_shape(some, size).status_words
                                      : scan_columns_status_words(some, size);
        if (of_column * some.lines > words) words = of_column * some.lines;
    }
    return words;
}

#define X(op, type)                                                                                \
    template cudaError_t launch_any_columns<pair<op, type>>(                                       \
        vscan__launch *, const vscan__matrix *, const pair_transform &);
VSCAN__FORMS(X)

} /* namespace vscan */
