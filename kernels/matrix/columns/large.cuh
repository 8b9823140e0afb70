/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scans of columns of large matrices: the kernel, whose blocks have chunks in a stage in shared memory
 * (matrix/columns/large_roles.cuh), and its launch. What it cannot do, or not faster: matrix/columns/columns.cuh.
 */
#ifndef VSCAN_MATRIX_COLUMNS_LARGE_CUH
#define VSCAN_MATRIX_COLUMNS_LARGE_CUH

#include "matrix/columns/large_roles.cuh"

namespace vscan {

template <class Pair>
__global__ void __launch_bounds__(large_columns_threads<Pair>, 1)
    matrix_columns_large(const __grid_constant__ large_columns_arguments a) {
#ifdef VSCAN__TMA
    large_columns_shared &shared = addressed_once(*(large_columns_shared *)dynamic_shared());
    if (threadIdx.x == 0) {
        for (int s = 0; s < a.shape.slots; ++s) {
            barrier_init(&shared.taken[s], 1);
            barrier_init(&shared.loaded[s], 32);
            barrier_init(&shared.summed[s], 32 * column_reduction_warps);
            barrier_init(&shared.folded[s], 32 * column_prefix_warps);
            barrier_init(&shared.scanned[s], 32 * column_scanners<Pair>);
            barrier_init(&shared.emptied[s], 32 * column_storers);
        }
        fence_for_tma();
    }
    __syncthreads();
    int thread = (int)threadIdx.x;
    if (thread < 32 * column_scanners<Pair>)
        return large_columns<Pair>{a, shared, thread}.scan_chunks();
    thread -= 32 * column_scanners<Pair>;
    if (thread < 32 * column_reduction_warps)
        return large_columns<Pair>{a, shared, thread}.sum_chunks();
    thread -= 32 * column_reduction_warps;
    if (thread < 32 * column_chunk_prefix_warps)
        return large_columns<Pair>{a, shared, thread}.fold_chunks();
    thread -= 32 * column_chunk_prefix_warps;
    if (thread < 32 * column_tile_prefix_warps)
        return large_columns<Pair>{a, shared, thread}.look_back();
    thread -= 32 * column_tile_prefix_warps;
    if (thread < 32) return large_columns<Pair>{a, shared, thread}.load_chunks();
    large_columns<Pair>{a, shared, thread - 32}.store_chunks();
#endif
}

/* ---- Launch ---------------------------------------------------------------------------------- */

/* Columns of a matrix whose rows lie one behind the other that are copied as they are: these, as was
   measured on an H200. With no more than 32 a piece is at most 1024 elements, also as it is in a
   slot. Others are copied as boxes. */
static constexpr int columns_as_they_are_from = 8, columns_as_they_are_to = 32;

/* Bytes of a matrix from which on the kernel is used, so that filling and emptying the stage, the way
   of a chunk through it, takes less than it gains. On an H200, floats of 64, 256 and 1024 columns, of
   memcpy's rate: of 16 MiB 0.35 to 0.41, with the kernel of matrix/columns/columns.cuh 0.63 to 0.75; of 64
   MiB 0.74 to 0.83 and 0.68 to 0.82. Of 8, 16 and 32 columns, of 32 MiB 0.51 to 0.64 and 0.58 to 0.60;
   of 64 MiB 0.69 to 0.72 and 0.60 to 0.63. */
static constexpr int64_t large_columns_bytes = 64 << 20;

/* Bytes of pieces in a slot, at most: 64 KiB of elements (chunks of 32 KiB were slower, but for 8
   floats), and what 32 pieces of 8 doubles or of 16 floats leave out for the banks. Three such
   slots fit, with 28 KiB left for sums, nodes and words, which are largest for 32 doubles:
   3 * 3.5 KiB and 9.75 KiB; and for what is kept of strips. */
static constexpr int large_columns_pieces_bytes = (64 << 10) + 32 * 64;

/* Bytes of a row at most of which what comes before a tile is kept; else all tiles are folded for
   each chunk, at most column_tile_words of them. */
static constexpr int large_columns_kept = 8 << 10;

/* Chunks for a block, at least, so that tests with small matrices go round the stage too; matrices
   of large_columns_bytes have about as many for each multiprocessor of an H200. */
static constexpr int large_columns_share = 8;

static bool is_copied_as_it_is(const vscan__matrix &matrix) {
    return matrix.step == matrix.lines && matrix.lines <= columns_as_they_are_to;
}

static large_columns_shape large_columns_shape_of(const vscan__matrix &matrix, int size,
                                                  int sum_size) {
    const int quad = 16 / size, row = 128 / size; /* elements of 16 bytes, of all banks */
    large_columns_shape s = {};
    s.boxes = !is_copied_as_it_is(matrix);
    s.width = s.boxes ? row : (int)matrix.lines;
    s.strips = (int)((matrix.lines + s.width - 1) / s.width);
    s.piece_step = VSCAN__GROUP * s.width;
    /* boxes begin at multiples of 128 bytes */
    if (!s.boxes) s.piece_step += (s.width % row + quad - 1) / quad * quad;
    /* a piece for each lane that copies; of 8 floats 1024 rows were better than 2048 */
    s.log_pieces = 5;
    while (s.piece_step * size << s.log_pieces > large_columns_pieces_bytes) --s.log_pieces;
    const int bits = (size == 8 ? log_tile_double : log_tile_float) - 5 - s.log_pieces;
    const int sums = s.width * sum_size; /* bytes of one a column */
    s.sums_at = s.piece_step * size << s.log_pieces;
    s.nodes_at = s.sums_at + (sums << s.log_pieces);
    s.slot_bytes = (s.nodes_at + (bits + 1) * sums + 127) & ~127;
    const int word_bytes = ((1 << column_chunk_bits) - 1 + column_tile_words) * sums;
    s.kept = matrix.lines * size <= large_columns_kept;
    const int kept_bytes = s.kept ? s.strips * (sums + (int)sizeof(int)) : 0;
    s.slots = (VSCAN__TMA_SHARED - large_columns_header - word_bytes - kept_bytes) / s.slot_bytes;
    if (s.slots > large_columns_slots) s.slots = large_columns_slots;
    s.words_at = large_columns_header + s.slots * s.slot_bytes;
    s.tiles_at = s.words_at + word_bytes;
    /* boxes: not where a strip's row lies in two lines of the cache */
    const bool lines = matrix.step * size % 128 == 0 && (uintptr_t)matrix.in % 128 == 0;
    s.ahead = s.boxes && !lines ? 0 : (4 << 20) / s.slot_bytes;
    const int64_t rows = (int64_t)VSCAN__GROUP << s.log_pieces;
    s.chunks = (matrix.length + rows - 1) / rows;
    return s;
}

/* Whether the kernel can do a scan of such columns, on some GPU. Boxes: what a store leaves out of
   one beyond the matrix are multiples of 16 bytes. */
static bool is_large_columns(const vscan__matrix &matrix, int size) {
    if (is_copied_as_it_is(matrix)) return matrix.lines >= columns_as_they_are_from;
    const int64_t tile = size == 8 ? VSCAN__TILE_DOUBLE : VSCAN__TILE_FLOAT;
    return (matrix.step | matrix.lines) * size % 16 == 0 && matrix.lines > columns_as_they_are_to &&
           matrix.lines <= INT32_MAX / 32 && matrix.length <= INT32_MAX &&
           (matrix.lines * size <= large_columns_kept || matrix.length <= column_tile_words * tile);
}

/* Whether it can do this one, and should. */
static bool has_large_columns(const vscan__launch *launch, const vscan__matrix &matrix, int size) {
    if (launch->shared_memory == 0 || matrix.length == 0 || !is_large_columns(matrix, size))
        return false;
    const int64_t elements = matrix.lines * matrix.length;
    const uintptr_t places = (uintptr_t)matrix.in | (uintptr_t)matrix.out;
    if (places % 16 != 0 || elements / VSCAN__GROUP >= INT32_MAX) /* words: 32 bits */
        return false;
    if (is_copied_as_it_is(matrix) && matrix.backward && elements * size % 16 != 0) return false;
    if (launch->large_from == 0) return true; /* for tests */
    /* not where much of chunks is empty */
    const large_columns_shape s = large_columns_shape_of(matrix, size, size);
    const int64_t rows = s.chunks * VSCAN__GROUP << s.log_pieces;
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
    return result == CUDA_SUCCESS ? cudaSuccess : cudaErrorUnknown;
}

template <class Pair>
static cudaError_t launch_large_columns(vscan__launch *launch, const vscan__matrix *matrix,
                                        int pair) {
    const int size = (int)sizeof(typename Pair::T);
    const large_columns_shape s =
        large_columns_shape_of(*matrix, size, (int)sizeof(typename Pair::U));
    large_columns_arguments a = {matrix_arguments_of(launch, *matrix, s), {}, {}};
    cudaError_t error = cudaSuccess;
    if (s.boxes) error = map_boxes(launch, &a.in_map, matrix->in, *matrix, size);
    if (s.boxes && error == cudaSuccess)
        error = map_boxes(launch, &a.out_map, matrix->out, *matrix, size);
    if (error == cudaSuccess && !(launch->columns_ready >> pair & 1)) {
        error =
            cudaFuncSetAttribute(matrix_columns_large<Pair>,
                                 cudaFuncAttributeMaxDynamicSharedMemorySize, VSCAN__TMA_SHARED);
        if (error == cudaSuccess) launch->columns_ready |= 1u << pair;
    }
    if (error != cudaSuccess) return error;
    const int64_t chunks = s.chunks * s.strips;
    const int64_t most = (chunks + large_columns_share - 1) / large_columns_share;
    const int blocks = (int)(most < launch->multiprocessors ? most : launch->multiprocessors);
    return start(matrix_columns_large<Pair>, blocks, large_columns_threads<Pair>, VSCAN__TMA_SHARED,
                 launch->stream, a);
}

} /* namespace vscan */

#endif
