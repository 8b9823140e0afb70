/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel and its launcher for scans of matrix rows of several tiles: see
   matrix/rows/large.cuh. */
#include "machine/launch.cuh"
#include "matrix/rows/large.cuh"
#include "scan/large/large.cuh"

namespace vscan {

template <class Pair>
__global__ void __launch_bounds__(large_shape<Pair, false>::threads, 1)
    scan_large_rows(const __grid_constant__ large_rows_arguments b) {
#ifdef VSCAN__TMA
    scan_large_block<row_by_row<Pair>, false>(b);
#endif
}

template <class Shape>
static cudaError_t map_rows(const vscan__launch *launch, line_map *v, const void *first,
                            const vscan__matrix &matrix) {
    using T = typename Shape::T;
    v->first = v->shift = 0;
    v->lines = matrix.length / Shape::line_items;
    const cuuint64_t sizes[3] = {Shape::line_bytes / 4, (cuuint64_t)v->lines,
                                 (cuuint64_t)matrix.lines};
    const cuuint64_t strides[2] = {Shape::line_bytes, (cuuint64_t)matrix.line_step * sizeof(T)};
    const cuuint32_t box[3] = {Shape::line_bytes / 4, Shape::quarter_lines, 1};
    const cuuint32_t steps[3] = {1, 1, 1};
    const CUresult result = launch->encode_tiled(
        &v->map, CU_TENSOR_MAP_DATA_TYPE_INT32, 3, (void *)first, sizes, strides, box, steps,
        CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_NONE,
        CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    return (cudaError_t)result; /* the numbers are the same; of a lost device too */
}

template <class Pair>
cudaError_t launch_large_rows(vscan__launch *launch, const vscan__matrix *matrix) {
    using shape = large_shape<Pair, false>;
    constexpr int bytes = (int)sizeof(typename shape::shared);
    cudaError_t error = allow_shared_memory(launch, scan_large_rows<Pair>, bytes);
    if (error != cudaSuccess) return error;
    const int64_t row_tiles = vscan::row_tiles(*matrix, sizeof(typename Pair::T));
    const int64_t tiles = matrix->lines * row_tiles;
    large_rows_arguments b = {};
    b.length = matrix->length;
    b.pitch = matrix->line_step;
    b.row_tiles = (uint32_t)row_tiles;
    b.rows = (int32_t)matrix->lines;
    b.initial_step = matrix->initial_step;
    scan_arguments &a = b.rest;
    a.scan.n = tiles * shape::items;
    a.scan.in = matrix->in;
    a.scan.out = matrix->out;
    a.scan.exclusive = matrix->exclusive;
    a.scan.backward = matrix->backward;
    a.scan.has_initial = matrix->has_initial;
    a.scan.initial = matrix->initial;
    a.scan.initial_at = matrix->initial_at;
    a.scan.total = matrix->totals;
    a.lookback = lookback_of(launch);
    a.late = launch->late;
    error = map_rows<shape>(launch, &b.in, matrix->in, *matrix);
    if (error == cudaSuccess) error = map_rows<shape>(launch, &b.out, matrix->out, *matrix);
    if (error != cudaSuccess) return error;
    const int blocks = (int)(tiles < launch->multiprocessors ? tiles : launch->multiprocessors);
    return start(scan_large_rows<Pair>, blocks, shape::threads, bytes, launch->stream, b,
                 launch->may_overlap);
}

template cudaError_t launch_large_rows<pair<op_plus, int>>(vscan__launch *, const vscan__matrix *);
template cudaError_t launch_large_rows<pair<op_plus, long>>(vscan__launch *, const vscan__matrix *);
template cudaError_t launch_large_rows<pair<op_plus, double>>(vscan__launch *,
                                                              const vscan__matrix *);
template cudaError_t launch_large_rows<pair<op_plus, float>>(vscan__launch *,
                                                             const vscan__matrix *);

} /* namespace vscan */
