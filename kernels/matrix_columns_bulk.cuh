/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scans of few columns of large matrices whose rows lie one behind the other: the kernel, whose
 * blocks have chunks in a ring in shared memory (matrix_columns_ring.cuh), and its launch.
 */
#ifndef VSCAN_MATRIX_COLUMNS_BULK_CUH
#define VSCAN_MATRIX_COLUMNS_BULK_CUH

#include "matrix_columns_ring.cuh"

namespace vscan {

template <class Pair>
__global__ void __launch_bounds__(bulk_columns_threads<Pair>, 1)
    matrix_columns_bulk(const __grid_constant__ matrix_arguments<bulk_columns_shape> a) {
#ifdef VSCAN__BULK
    bulk_columns_shared &shared = addressed_once(*(bulk_columns_shared *)dynamic_shared());
    if (threadIdx.x == 0) {
        for (int s = 0; s < a.shape.slots; ++s) {
            barrier_init(&shared.taken[s], 1);
            barrier_init(&shared.loaded[s], 1);
            barrier_init(&shared.summed[s], 32 * column_summers);
            barrier_init(&shared.folded[s], 32 * column_folders);
            barrier_init(&shared.scanned[s], 32 * column_scanners<Pair>);
            barrier_init(&shared.emptied[s], 32 * column_storers);
        }
        fence_for_bulk();
    }
    __syncthreads();
    int thread = (int)threadIdx.x;
    if (thread < 32 * column_scanners<Pair>)
        return bulk_columns<Pair>{a, shared, thread}.scan_chunks();
    thread -= 32 * column_scanners<Pair>;
    if (thread < 32 * column_summers) return bulk_columns<Pair>{a, shared, thread}.sum_chunks();
    thread -= 32 * column_summers;
    if (thread < 32 * column_chunk_folders)
        return bulk_columns<Pair>{a, shared, thread}.fold_chunks();
    thread -= 32 * column_chunk_folders;
    if (thread < 32 * column_tile_folders)
        return bulk_columns<Pair>{a, shared, thread}.fold_tiles();
    thread -= 32 * column_tile_folders;
    if (thread < 32) return bulk_columns<Pair>{a, shared, thread}.load_chunks();
    bulk_columns<Pair>{a, shared, thread - 32}.store_chunks();
#endif
}

/* ---- Launch ---------------------------------------------------------------------------------- */

/* Widths that it is faster for than the kernel of matrix_columns.cuh: measured on an H200, where
   64 columns are not. With no more than 32 a piece is at most 1024 elements, also as it is in a
   slot. */
static constexpr int bulk_columns_from = 8, bulk_columns_to = 32;

/* Bytes of a matrix from which on it is used: some 30 chunks a block, so that filling and emptying
   the ring, the way of a chunk through it, takes less than it gains. An estimate: only 1 GiB was
   measured. */
static constexpr int64_t bulk_columns_bytes = 256 << 20;

/* Bytes of pieces in a slot, at most: 64 KiB of elements (chunks of 32 KiB were slower, but for 8
   floats), and what 32 pieces of 8 doubles or of 16 floats leave out for the banks. Three such
   slots fit, with 28 KiB left for sums, nodes and words, which are largest for 32 doubles:
   3 * 3.5 KiB and 9.75 KiB. */
static constexpr int bulk_columns_pieces_bytes = (64 << 10) + 32 * 64;

/* Chunks for a block, at least, so that tests with small matrices go round the ring too; matrices
   of bulk_columns_bytes have more for each multiprocessor of any GPU. */
static constexpr int bulk_columns_share = 8;

static bulk_columns_shape bulk_columns_shape_of(const vscan__matrix &matrix, int size,
                                                int sum_size) {
    const int lines = (int)matrix.lines;
    const int quad = 16 / size, row = 128 / size; /* elements of 16 bytes, of all banks */
    bulk_columns_shape s = {};
    s.piece_step = VSCAN__GROUP * lines + (lines % row + quad - 1) / quad * quad;
    /* a piece for each lane that copies; of 8 floats 1024 rows were better than 2048 */
    s.log_pieces = 5;
    while (s.piece_step * size << s.log_pieces > bulk_columns_pieces_bytes) --s.log_pieces;
    const int bits = (size == 8 ? log_tile_double : log_tile_float) - 5 - s.log_pieces;
    s.sums_at = s.piece_step * size << s.log_pieces;
    s.nodes_at = s.sums_at + (lines * sum_size << s.log_pieces);
    s.slot_bytes = (s.nodes_at + (bits + 1) * lines * sum_size + 127) & ~127;
    const int word_bytes = ((1 << column_chunk_bits) - 1 + column_tile_words) * lines * sum_size;
    s.slots = (VSCAN__BULK_SHARED - bulk_columns_header - word_bytes) / s.slot_bytes;
    if (s.slots > bulk_columns_slots) s.slots = bulk_columns_slots;
    s.words_at = bulk_columns_header + s.slots * s.slot_bytes;
    s.ahead = (4 << 20) / s.slot_bytes;
    const int64_t rows = (int64_t)VSCAN__GROUP << s.log_pieces;
    s.chunks = (matrix.length + rows - 1) / rows;
    return s;
}

/* Whether the kernel can do a scan of such columns, on some GPU. */
static bool is_bulk_columns(const vscan__matrix &matrix) {
    return matrix.step == matrix.lines && matrix.lines >= bulk_columns_from &&
           matrix.lines <= bulk_columns_to;
}

/* Whether it can do this one, and should. */
static bool has_bulk_columns(const vscan__launch *launch, const vscan__matrix &matrix, int size) {
    if (launch->shared_memory == 0 || !is_bulk_columns(matrix) || matrix.length == 0) return false;
    const int64_t elements = matrix.lines * matrix.length;
    const int64_t from = launch->bulk_from == 0 ? 0 : bulk_columns_bytes; /* 0: for tests */
    const uintptr_t places = (uintptr_t)matrix.in | (uintptr_t)matrix.out;
    if (elements * size < from || places % 16 != 0) return false;
    if (matrix.backward && elements * size % 16 != 0) return false;
    return elements / VSCAN__GROUP < INT32_MAX; /* words are counted in 32 bits */
}

template <class Pair>
static cudaError_t launch_bulk_columns(vscan__launch *launch, const vscan__matrix *matrix,
                                       int pair) {
    const bulk_columns_shape s = bulk_columns_shape_of(*matrix, (int)sizeof(typename Pair::T),
                                                       (int)sizeof(typename Pair::U));
    if (!(launch->columns_ready >> pair & 1)) {
        const cudaError_t error =
            cudaFuncSetAttribute(matrix_columns_bulk<Pair>,
                                 cudaFuncAttributeMaxDynamicSharedMemorySize, VSCAN__BULK_SHARED);
        if (error != cudaSuccess) return error;
        launch->columns_ready |= 1u << pair;
    }
    const int64_t most = (s.chunks + bulk_columns_share - 1) / bulk_columns_share;
    const int blocks = (int)(most < launch->multiprocessors ? most : launch->multiprocessors);
    return start(matrix_columns_bulk<Pair>, blocks, bulk_columns_threads<Pair>, VSCAN__BULK_SHARED,
                 launch->stream, matrix_arguments_of(launch, *matrix, s));
}

} /* namespace vscan */

#endif
