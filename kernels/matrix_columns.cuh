/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scans and reductions of the columns of a matrix. One pass.
 *
 * A thread holds a piece of a column in registers, 64 bytes of values, and scans it alone: half a group
 * of floats, a quarter of doubles. A block has 256 pieces, of some columns, as many of each; these make
 * up a chunk of the column, at most a quarter of a tile. The lanes of a warp have adjacent columns, so
 * that it reads and writes whole lines of the cache; sums of pieces meet in shared memory, one level of
 * the tree at a time.
 *
 * A column that is longer than a chunk is scanned by several blocks, which take their chunks by ticket
 * (unit_words.cuh), so that the earlier chunks of a column are taken earlier. Chunk m of a tile
 * publishes a word as the binary counter 1 + m says: with b the number of times that 2 goes into
 * 1 + m, the sum of the 2^b chunks that end with it. The chunks before chunk m are then those of one
 * word for each bit of m that is set, and the word of a tile's last chunk is the sum of the tile.
 * Sums of tiles are folded from the left by everyone; where there are more than a window of them, from
 * what comes before the first tile of the window, which that tile's predecessor publishes too. A block
 * only ever waits for words of earlier tickets, and publishes its chunk's before it waits for tiles.
 */
#ifndef VSCAN_MATRIX_COLUMNS_CUH
#define VSCAN_MATRIX_COLUMNS_CUH

#include "matrix_lines.cuh"

namespace vscan {

static constexpr int matrix_threads = 256, log_matrix_threads = 8;
static constexpr int matrix_piece_bytes = 64;
static constexpr int matrix_tiles = 128; /* of a line that are folded at a time, at most */
static constexpr int matrix_levels = 7;  /* of the tree between a chunk and a tile, at most */

/* Blocks of a multiprocessor, as many as there are registers for: what does not fit in them would go
   through memory beside the elements, and take as long. Measured on an H200. */
#if __CUDA_ARCH__ == 750 /* has at most 1024 threads a multiprocessor */
static constexpr int matrix_blocks = 4;
#else
static constexpr int matrix_blocks = 6;
#endif

/* How a matrix is dealt to blocks. */
struct columns_shape {
    int log_lines, log_pieces; /* of a block; pieces of a line. Together log_matrix_threads */
    int window;                /* tiles */
    int64_t line_blocks, chunks, tiles; /* the latter two of a line, at least 1 */
    int64_t words;                      /* of a line, for one chunk and one tile each; or 0 */
};

/* ---- Kernel ---------------------------------------------------------------------------------- */

template <class Pair>
__global__ void __launch_bounds__(matrix_threads, matrix_blocks)
    matrix_columns(const __grid_constant__ matrix_arguments<columns_shape> a) {
    using T = typename Pair::T;
    using U = typename Pair::U;
    constexpr int R = matrix_piece_bytes / (int)sizeof(T);
    constexpr int group_pieces = Pair::in_any_order ? 1 : VSCAN__GROUP / R;
    constexpr int tile_items = sizeof(T) == 8 ? VSCAN__TILE_DOUBLE : VSCAN__TILE_FLOAT;
    __shared__ U sums[matrix_threads];      /* of a line's pieces up to one */
    __shared__ U above[matrix_levels * 32]; /* for each bit of m, those of the chunks before */
    __shared__ U before[32];                /* all tiles before */
    __shared__ ticket shared_ticket;

    const vscan__matrix &x_of = a.matrix;
    const columns_shape &shape = a.shape;
    const bool backward = x_of.backward, split = shape.chunks > 1;
    const int lines = 1 << shape.log_lines, pieces = 1 << shape.log_pieces;
    const int thread = (int)threadIdx.x;
    const int line = thread & (lines - 1);
    const int piece = thread >> shape.log_lines;
    const int chunk_items = R << shape.log_pieces;

    /* ---- Which chunk of which lines ---------------------------------------------------------- */
    uint32_t item = blockIdx.x;
    uint32_t tag = 0;
    if (split) {
        if (threadIdx.x == 0) {
            shared_ticket = take_ticket(a.header);
            if (shared_ticket.index == gridDim.x - 1)
                end_tickets(a.header, a.words, a.capacity,
                            x_of.lines * shape.words * unit_word<U>::words);
        }
        __syncthreads();
        item = shared_ticket.index;
        tag = shared_ticket.tag;
    }
    /* in the order of memory */
    uint32_t chunk = 0, line_block = item;
    if (split) {
        chunk = item / (uint32_t)shape.line_blocks;
        line_block = item % (uint32_t)shape.line_blocks;
    }
    const int64_t my_line = ((int64_t)line_block << shape.log_lines) + line;
    const bool there = my_line < x_of.lines;
    const int64_t begin = (int64_t)chunk * chunk_items; /* positions count in scan order */
    const int span =
        (int)(x_of.length - begin < chunk_items ? x_of.length - begin : (int64_t)chunk_items);
    const int at = piece * R; /* of the chunk */
    int here = span - at < R ? span - at : R;
    if (here < 0 || !there) here = 0;

    /* ---- Elements, and sums inside pieces ---------------------------------------------------- */
    U x[R];
    const int64_t column =
        my_line + (backward ? x_of.length - 1 - begin - at : begin + at) * x_of.step;
    const int64_t step = backward ? -x_of.step : x_of.step;
    const T *in = (const T *)x_of.in + column;
    T raw[R];
#pragma unroll
    for (int j = 0; j < R; ++j, in += step) raw[j] = j < here ? *in : (T)0;
#pragma unroll
    for (int j = 0; j < R; ++j) x[j] = Pair::in(raw[j]);
    scan_piece<Pair>(x, here);

    /* ---- Sums of the chunk's pieces: the network over them ------------------------------------ */
    U sum = x[R - 1], end;                         /* end: of the chunk's groups before this one */
    U part = Pair::identity;                       /* of the group's pieces before this one */
    const int group = piece & ~(group_pieces - 1); /* its first piece */
    const auto level = [&](U left, int half) {
        if (half < group_pieces) {
            part = Pair::combine(left, part);
#pragma unroll
            for (int j = 0; j < R; ++j) x[j] = Pair::combine(left, x[j]);
        }
        sum = Pair::combine(left, sum);
    };
    sums[thread] = sum;
#pragma unroll 1
    for (int half = 1; half < pieces; half *= 2) {
        __syncthreads();
        if (!(piece & half)) continue;
        level(sums[(((piece & ~(half - 1)) - 1) << shape.log_lines) + line], half);
        sums[thread] = sum;
    }
    __syncthreads();
    end = group > 0 ? sums[((group - 1) << shape.log_lines) + line] : Pair::identity;

    /* ---- The chunks before ------------------------------------------------------------------- */
    U initial = Pair::identity;
    if (x_of.has_initial == 1) initial = Pair::in(element_of<T>(x_of.initial));
    if (x_of.has_initial == 2 && there)
        initial = Pair::in(((const T *)x_of.initial_at)[my_line * x_of.initial_step]);

    U p = initial;
    const int chunks_a_tile = tile_items / chunk_items;
    const int m = (int)chunk & (chunks_a_tile - 1);
    if (split) {
        const bool last = piece == pieces - 1; /* speaks for the chunk's line */
        const bool goes_on = there && chunk + 1 < shape.chunks;
        const int64_t tile = chunk / (uint32_t)chunks_a_tile;
        /* words: of all columns for a chunk, beside one another */
        const int64_t word_step = x_of.lines;
        /* The word needs those of the levels below its own, the lowest bits of m. It is published before
           the others are waited for: else each chunk would wait for the one before. */
        const int below = __ffs(~m) - 1;
        const auto wait_for_levels = [&](int from, int to) {
            if (!there || piece < from || piece >= to || !(m >> piece & 1)) return;
            const int64_t ended = (int64_t)chunk - m + (m >> piece << piece) - 1;
            above[(piece << shape.log_lines) + line] =
                wait_for_word<U>(a.words, my_line + ended * word_step, tag);
        };
        wait_for_levels(0, below);
        if (below > 0) __syncthreads();
        U node = sum;
        if (last && goes_on) {
#pragma unroll 1
            for (int b = 0; b < below; ++b)
                node = Pair::combine(above[(b << shape.log_lines) + line], node);
            test_delay(a.delay, tag, item, 0);
            unit_word<U>::publish(a.words, my_line + chunk * word_step, tag, node);
        }
        wait_for_levels(below, matrix_levels);
        if (m >> below) __syncthreads();
#pragma unroll 1
        for (int b = 0; m >> b; ++b) {
            if (!(m >> b & 1)) continue;
            const U left = above[(b << shape.log_lines) + line];
            end = Pair::combine(left, end);
            sum = Pair::combine(left, sum);
        }
        if (tile > 0) {
            U *const tiles = (U *)dynamic_shared();
            const int count = (int)(tile < shape.window ? tile : (int64_t)shape.window);
            test_delay(a.delay, tag, item, 1);
            if (there && piece < count)
                tiles[(piece << shape.log_lines) + line] = wait_for_word<U>(
                    a.words, my_line + ((tile - count + piece + 1) * chunks_a_tile - 1) * word_step,
                    tag);
            __syncthreads();
            if (last && there) {
                if (tile > count)
                    p = wait_for_word<U>(a.words,
                                         my_line + (shape.chunks + tile - count) * word_step, tag);
#pragma unroll 8
                for (int k = 0; k < count; ++k)
                    p = Pair::combine(p, tiles[(k << shape.log_lines) + line]);
                before[line] = p;
            }
            __syncthreads();
            p = before[line];
        }
        if (last && goes_on && m == chunks_a_tile - 1 && shape.tiles > shape.window)
            unit_word<U>::publish(a.words, my_line + (shape.chunks + tile + 1) * word_step, tag,
                                  Pair::combine(p, node));
    }

    /* ---- Results ----------------------------------------------------------------------------- */
    const bool whole_group = here == R && piece - group == group_pieces - 1;
    const U visible = x_of.has_initial ? initial : Pair::visible;
    /* the line's last element; -1: there is none */
    const int last_item = chunk + 1 == shape.chunks && at + here == span ? here - 1 : -1;
    const bool total_here =
        there && x_of.totals != nullptr && (x_of.length == 0 ? piece == 0 : last_item >= 0);
    if (x_of.out == nullptr && !total_here) return; /* a reduction; all barriers are behind */
    U result = visible;
    U earlier = begin + at == 0 ? visible : p;
    if (piece > group)
        earlier = Pair::combine(p, Pair::combine(end, part));
    else if (group > 0 || m > 0)
        earlier = Pair::combine(p, end);
#pragma unroll
    for (int j = 0; j < R; ++j) {
        U y = Pair::combine(p, Pair::combine(end, x[j]));
        if (j == R - 1 && whole_group) y = Pair::combine(p, sum);
        if (total_here && j == last_item) result = y;
        x[j] = x_of.exclusive ? earlier : y;
        earlier = y;
    }
    if (total_here) ((T *)x_of.totals)[my_line] = Pair::out(result);
    if (x_of.out == nullptr) return;

    T *out = (T *)x_of.out + column;
#pragma unroll
    for (int j = 0; j < R; ++j, out += step)
        if (j < here) *out = Pair::out(x[j]);
}

/* ---- Launch ---------------------------------------------------------------------------------- */

static int log_over(int64_t n) {
    int log = 0;
    while ((int64_t)1 << log < n) ++log;
    return log;
}

static columns_shape columns_shape_of(const vscan__matrix &matrix, int size) {
    const int R = matrix_piece_bytes / size;
    const int tile_items = size == 8 ? VSCAN__TILE_DOUBLE : VSCAN__TILE_FLOAT;
    const int64_t length = matrix.length;
    columns_shape s;
    const int64_t pieces = length > R ? (length + R - 1) / R : 1;
    s.log_pieces = log_over(pieces < matrix_threads ? pieces : matrix_threads);
    /* a warp has 32 columns, or all that there are */
    const int most = log_matrix_threads - log_over(matrix.lines < 32 ? matrix.lines : 32);
    if (s.log_pieces > most) s.log_pieces = most;
    s.log_lines = log_matrix_threads - s.log_pieces;
    const int64_t chunk_items = (int64_t)R << s.log_pieces;
    s.window = 1 << s.log_pieces; /* a thread waits for one */
    if (s.window > matrix_tiles) s.window = matrix_tiles;
    s.line_blocks = (matrix.lines + (1 << s.log_lines) - 1) >> s.log_lines;
    s.chunks = length > chunk_items ? (length + chunk_items - 1) / chunk_items : 1;
    s.tiles = length > tile_items ? (length + tile_items - 1) / tile_items : 1;
    s.words = s.chunks > 1 ? s.chunks + s.tiles : 0;
    return s;
}

template <class Pair>
static cudaError_t launch_columns(const vscan__launch *launch, const vscan__matrix *matrix) {
    using U = typename Pair::U;
    const columns_shape s = columns_shape_of(*matrix, sizeof(typename Pair::T));
    const int64_t blocks = s.line_blocks * s.chunks;
    if (blocks > INT32_MAX) return cudaErrorInvalidConfiguration;
    const int shared = s.tiles > 1 ? (s.window << s.log_lines) * (int)sizeof(U) : 0;
    return start(matrix_columns<Pair>, blocks, matrix_threads, shared, launch->stream,
                 matrix_arguments_of(launch, *matrix, s));
}

} /* namespace vscan */

#endif
