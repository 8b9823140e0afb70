/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scans of columns of large matrices: the kernel and its launch. A block has a pipeline of chunks
 * in shared memory (matrix/columns/large_roles.cuh). Other matrices: matrix/columns/columns.cuh.
 */
#pragma once

#include "machine/launch.cuh"
#include "matrix/columns/columns.cuh"
#include "matrix/columns/large_compute.cuh"

namespace vscan {

template <class Pair>
__global__ void __launch_bounds__(large_columns_threads<Pair>, 1)
    matrix_columns_large(const __grid_constant__ large_columns_arguments a) {
#ifdef VSCAN__TMA
    using shared_t = large_columns_shared<Pair>;
    shared_t &shared = address_once(*(shared_t *)dynamic_shared());
    if (threadIdx.x == 0) {
        init_stages(a.shape.stages, shared.taken, shared.loaded, shared.summed, shared.prefixed,
                    shared.scanned, shared.emptied);
        fence_for_tma();
    }
    __syncthreads();
    int thread = (int)threadIdx.x;
    if (thread < 32 * column_scan_warps<Pair>)
        return large_columns<Pair>{a, shared, thread}.scan_chunks();
    thread -= 32 * column_scan_warps<Pair>;
    if (thread < 32 * column_reduction_warps)
        return large_columns<Pair>{a, shared, thread}.reduce_chunks();
    thread -= 32 * column_reduction_warps;
    if (thread < 32 * column_group_warps)
        return large_columns<Pair>{a, shared, thread}.look_back_groups();
    thread -= 32 * column_group_warps;
    if (thread < 32 * column_block_warps)
        return large_columns<Pair>{a, shared, thread}.look_back_blocks();
    thread -= 32 * column_block_warps;
    if (thread < 32 * column_tile_prefix_warps)
        return large_columns<Pair>{a, shared, thread}.look_back_tiles();
    thread -= 32 * column_tile_prefix_warps;
    if (thread < 32) return large_column_copies<Pair>{{a, shared, thread}}.load_chunks();
    large_column_copies<Pair>{{a, shared, thread - 32}}.store_chunks();
#endif
}

/* ---- Launch ---------------------------------------------------------------------------------- */

static bool is_copied_as_it_is(const vscan__matrix &matrix) {
    return matrix.step == matrix.lines && matrix.lines <= columns_as_they_are_to;
}

static large_columns_shape large_columns_shape_of(const vscan__matrix &matrix, int size) {
    const int quad = 16 / size, line_items = 128 / size; /* elements of 16 bytes, of 128 bytes */
    large_columns_shape s = {};
    s.boxes = !is_copied_as_it_is(matrix);
    s.width = s.boxes ? line_items : (int)matrix.lines;
    s.strips = (int)((matrix.lines + s.width - 1) / s.width);
    s.slice_step = VSCAN__GROUP * s.width;
    /* boxes begin at multiples of 128 bytes */
    if (!s.boxes) s.slice_step += (s.width % line_items + quad - 1) / quad * quad;
    /* a slice for each lane that copies; with 8 floats 1024 rows were better than 2048 */
    s.log_slices = 5;
    while (s.slice_step * size << s.log_slices > large_columns_slices_bytes) --s.log_slices;
    const int sums = s.width * size; /* bytes of a sum for each column */
    s.sums_at = s.slice_step * size << s.log_slices;
    s.levels_at = s.sums_at + (sums << s.log_slices);
    s.stage_bytes = (s.levels_at + 4 * sums + 127) & ~127;
    const int value_bytes = (column_levels_read + column_tiles_read) * sums;
    s.kept = matrix.lines * size <= large_columns_kept;
    const int prefix_bytes = s.kept ? s.strips * (2 * sums + (int)sizeof(int)) : 0; /* R3, R4 */
    s.stages =
        (VSCAN__TMA_SHARED - large_columns_header - value_bytes - prefix_bytes) / s.stage_bytes;
    if (s.stages > large_columns_stages) s.stages = large_columns_stages;
    s.values_at = large_columns_header + s.stages * s.stage_bytes;
    s.prefixes_at = s.values_at + value_bytes;
    /* boxes: not if a line_items of a strip lies in two cache lines */
    const bool lines = matrix.step * size % 128 == 0 && (uintptr_t)matrix.in % 128 == 0;
    s.ahead = s.boxes && !lines ? 0 : large_columns_ahead_bytes / s.stage_bytes;
    const int64_t rows = (int64_t)VSCAN__GROUP << s.log_slices;
    s.chunks = (matrix.length + rows - 1) / rows;
    return s;
}

/* Whether the kernel can scan such columns, on some GPU. Boxes: what a store leaves out beyond
   the matrix is a multiple of 16 bytes. */
static bool is_large_columns(const vscan__matrix &matrix, int size) {
    if (is_copied_as_it_is(matrix)) return matrix.lines >= columns_as_they_are_from;
    const int64_t tile = size == 8 ? VSCAN__TILE_DOUBLE : VSCAN__TILE_FLOAT;
    return (matrix.step | matrix.lines) * size % 16 == 0 && matrix.lines > columns_as_they_are_to &&
           matrix.lines <= INT32_MAX / 32 && matrix.length <= INT32_MAX &&
           (matrix.lines * size <= large_columns_kept || matrix.length <= column_tiles_read * tile);
}

/* Whether it can scan this one, and should. */
static bool has_large_columns(const vscan__launch *launch, const vscan__matrix &matrix, int size) {
    if (launch->shared_memory == 0 || matrix.length == 0 || !is_large_columns(matrix, size))
        return false;
    const int64_t elements = matrix.lines * matrix.length;
    const uintptr_t addresses = (uintptr_t)matrix.in | (uintptr_t)matrix.out;
    if (addresses % 16 != 0 ||
        elements / VSCAN__GROUP >= INT32_MAX) /* indices of aggregates have 32 bits */
        return false;
    if (is_copied_as_it_is(matrix) && matrix.backward && elements * size % 16 != 0) return false;
    if (launch->large_from == 0) return true; /* for tests */
    /* not if a large part of the chunks is empty */
    const large_columns_shape s = large_columns_shape_of(matrix, size);
    const int64_t rows = s.chunks * VSCAN__GROUP << s.log_slices;
    return matrix.length * 4 >= rows * 3 && elements * size >= large_columns_bytes;
}

/* Boxes of 32 rows of a strip. */
static cudaError_t map_boxes(const vscan__launch *launch, CUtensorMap *map, const void *first,
                             const vscan__matrix &matrix, int size) {
    const cuuint64_t sizes[2] = {(cuuint64_t)matrix.lines * size / 4, (cuuint64_t)matrix.length};
    const cuuint64_t stride = (cuuint64_t)matrix.step * size;
    const cuuint32_t box[2] = {128 / 4, VSCAN__GROUP};
    const cuuint32_t steps[2] = {1, 1};
    const CUresult result =
        launch->encode_tiled(map, CU_TENSOR_MAP_DATA_TYPE_INT32, 2, (void *)first, sizes, &stride,
                             box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
                             CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    return (cudaError_t)result; /* the numbers are the same; of a lost device too */
}

template <class Pair>
static cudaError_t launch_large_columns(vscan__launch *launch, const vscan__matrix *matrix,
                                        const pair_transform &transform) {
    const int size = (int)sizeof(typename Pair::T);
    const large_columns_shape s = large_columns_shape_of(*matrix, size);
    large_columns_arguments a = {matrix_arguments_of(launch, *matrix, s, transform), {}, {}};
    cudaError_t error = cudaSuccess;
    if (s.boxes) error = map_boxes(launch, &a.in_map, matrix->in, *matrix, size);
    if (s.boxes && error == cudaSuccess)
        error = map_boxes(launch, &a.out_map, matrix->out, *matrix, size);
    if (error == cudaSuccess)
        error = allow_shared_memory(launch, matrix_columns_large<Pair>, VSCAN__TMA_SHARED);
    if (error != cudaSuccess) return error;
    const int64_t chunks = s.chunks * s.strips;
    const int64_t most = (chunks + large_columns_share - 1) / large_columns_share;
    const int blocks = (int)(most < launch->multiprocessors ? most : launch->multiprocessors);
    return start(matrix_columns_large<Pair>, blocks, large_columns_threads<Pair>, VSCAN__TMA_SHARED,
                 launch->stream, a);
}

/* Status words of a column that a scan needs at most, by either kernel and kind of pair. */
static int64_t scan_columns_status_words(const vscan__matrix &matrix, int size) {
    int64_t words = 0;
    for (const bool in_any_order : {true, false}) {
        const int64_t small = columns_shape_of(matrix, size, in_any_order).status_words;
        if (small > words) words = small;
    }
    if (!is_large_columns(matrix, size)) return words;
    const large_columns_shape s = large_columns_shape_of(matrix, size);
    const int64_t large = s.chunks << log_words_of_chunk(log_group + s.log_slices);
    return large > words ? large : words;
}

} /* namespace vscan */
