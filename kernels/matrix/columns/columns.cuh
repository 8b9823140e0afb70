/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scans of the columns of a matrix. One pass.
 *
 * A thread holds a piece of a column in registers, 128 bytes of values, and scans it alone: a group of
 * floats, half a group of doubles. A block has some columns, as many pieces of each, a power of 2;
 * these make up a chunk of the column. The lanes of a warp have adjacent columns, so that it reads and
 * writes whole lines of the cache; where there are fewer than 32, it has the next pieces of them as
 * well. Sums of pieces meet in shared memory, one level of the tree at a time.
 *
 * A column that is longer than a chunk is scanned by several blocks. They have the chunks in the order
 * of their numbers, in which they also start (reduce/large.cuh relies on that too): the earlier chunks
 * of a column are taken earlier. The ticket that each takes only says which launch this is, and is not
 * waited for before the elements.
 *
 * The number m of a chunk in its tile has digits. The chunk's word (common/lookback.cuh) is the sum of the
 * radix^d chunks that end with it, where so many of its last digits, and no more, are the highest that
 * there is; most chunks publish their own sum, and wait for nobody before that. The chunks before chunk
 * m are those of as many words for each digit of m as it says, and the word of a tile's last chunk is
 * the sum of the tile. So a word comes after as many others, one after the other, as m has digits, and
 * few have to be read. Sums of tiles are folded from the left by everyone; where there are more than a
 * window of them, from what comes before the first tile of the window, which that tile's predecessor
 * publishes too. A block only ever waits for words of earlier blocks, and publishes its chunk's before
 * it waits for what that does not need.
 *
 * A block asks for the elements of a later chunk to be brought to the L2 cache: those come in while
 * blocks wait for one another, and what a chunk has to load takes about as long as what others load,
 * which is what its successors wait for.
 */
#ifndef VSCAN_MATRIX_COLUMNS_COLUMNS_CUH
#define VSCAN_MATRIX_COLUMNS_COLUMNS_CUH

#include "matrix/lines.cuh"

namespace vscan {

static constexpr int matrix_threads = 512, matrix_blocks = 2; /* of a multiprocessor */
static constexpr int matrix_piece_bytes = 128;
static constexpr int matrix_window = 16;         /* tiles that are folded at a time, at most */
static constexpr int64_t matrix_ahead = 1 << 20; /* elements between what is loaded and asked for */

/* How a matrix is dealt to blocks. */
struct columns_shape {
    int lines, log_pieces; /* of a block; pieces of a line */
    int log_radix;
    int window;   /* tiles that are folded at a time, at most */
    int row_asks; /* lines of the cache that a row of a block has, about */
    uint32_t line_blocks;
    int64_t ahead;         /* blocks between a chunk's and that of the one that it asks for; or 0 */
    int64_t chunks, tiles; /* of a line, at least 1 */
    int64_t words;         /* of a line, for one chunk and one tile each; or 0 */
};

/* ---- Kernel ---------------------------------------------------------------------------------- */

/* What the rows of a chunk have in this block's columns, to the L2 cache. */
template <class T>
static __device__ __forceinline__ void ask_for_chunk(const vscan__matrix &matrix,
                                                     const columns_shape &shape, uint32_t item,
                                                     int chunk_items) {
    const uint32_t chunk = item / shape.line_blocks;
    const int64_t line = (int64_t)(item - chunk * shape.line_blocks) * shape.lines;
    const int64_t begin = (int64_t)chunk * chunk_items;
    const int64_t left = matrix.length - begin;
    const uint32_t rows = (uint32_t)(left < chunk_items ? left : (int64_t)chunk_items);
    const int64_t lines = matrix.lines - line < shape.lines ? matrix.lines - line : shape.lines;
    const int64_t first = matrix.backward ? left - rows : begin;
    const char *const from = (const char *)((const T *)matrix.in + line + first * matrix.step);
    const int64_t last = (lines - 1) * (int64_t)sizeof(T);
    if (matrix.step == lines) { /* one piece of memory */
        const int64_t end = (int64_t)rows * lines * (int64_t)sizeof(T);
        for (int64_t at = threadIdx.x * 128; at < end; at += blockDim.x * 128)
            prefetch_line(from + at);
        return;
    }
    const uint32_t asks = rows * shape.row_asks;
    for (uint32_t k = threadIdx.x; k < asks; k += blockDim.x) {
        const uint32_t row = k / shape.row_asks;
        const int64_t at = (k - row * shape.row_asks) * 128;
        prefetch_line(from + row * matrix.step * (int64_t)sizeof(T) + (at < last ? at : last));
    }
}

template <class Pair>
__global__ void __launch_bounds__(matrix_threads, matrix_blocks)
    matrix_columns(const __grid_constant__ matrix_arguments<columns_shape> a) {
    using T = typename Pair::T;
    using U = typename Pair::U;
    constexpr int R = matrix_piece_bytes / (int)sizeof(T);
    constexpr int group_pieces = Pair::in_any_order ? 1 : VSCAN__GROUP / R;
    constexpr int tile_items = sizeof(T) == 8 ? VSCAN__TILE_DOUBLE : VSCAN__TILE_FLOAT;
    __shared__ U sums[matrix_threads]; /* of a line's pieces up to one */
    __shared__ ticket shared_ticket;
    U *const waited = (U *)dynamic_shared(); /* values of words, for each all lines */

    const vscan__matrix &x_of = a.matrix;
    const columns_shape &shape = a.shape;
    const bool backward = x_of.backward, split = shape.chunks > 1;
    const int lines = shape.lines, pieces = 1 << shape.log_pieces;
    const int thread = (int)threadIdx.x;
    const int piece = (uint32_t)thread / (uint32_t)lines, line = thread - piece * lines;
    const int chunk_items = R << shape.log_pieces;

    /* ---- Which chunk of which lines ---------------------------------------------------------- */
    uint32_t item = blockIdx.x;
    epoch_t epoch = 0;
    ticket mine = {};
    if (split) {
        if (threadIdx.x == 0) mine = take_ticket(a.lookback);
    }
    /* in the order of memory */
    const uint32_t chunk = split ? item / shape.line_blocks : 0;
    const int64_t my_line = (int64_t)(item - chunk * shape.line_blocks) * lines + line;
    const bool there = my_line < x_of.lines && piece < pieces;
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
    {
        T raw[R];
#pragma unroll
        for (int k = 0; k < R; k += 8) {
            if (k < span) { /* columns may be short */
#pragma unroll
                for (int j = k; j < k + 8; ++j, in += step) raw[j] = j < here ? *in : (T)0;
            } else {
#pragma unroll
                for (int j = k; j < k + 8; ++j) raw[j] = (T)0;
            }
        }
        if (shape.ahead > 0 && item + shape.ahead < gridDim.x)
            ask_for_chunk<T>(x_of, shape, (uint32_t)(item + shape.ahead), chunk_items);
#pragma unroll
        for (int j = 0; j < R; ++j) x[j] = Pair::in(raw[j]);
    }
    scan_piece<Pair>(x, here);
    if (split && threadIdx.x == 0) {
        shared_ticket = mine;
        if (mine.index == gridDim.x - 1) advance(a.lookback, mine.epoch);
    }

    /* ---- Sums of the chunk's pieces: the network over them ------------------------------------ */
    U sum = x[R - 1], end;                         /* end: of the chunk's groups before this one */
    U part = Pair::identity;                       /* of the group's pieces before this one */
    const int group = piece & ~(group_pieces - 1); /* its first piece */
    sums[thread] = sum;
#pragma unroll 1
    for (int half = 1; half < pieces; half *= 2) {
        __syncthreads();
        if (!(piece & half)) continue;
        const U left = sums[((piece & ~(half - 1)) - 1) * lines + line];
        if (half < group_pieces) {
            part = Pair::combine(left, part);
#pragma unroll
            for (int j = 0; j < R; ++j) x[j] = Pair::combine(left, x[j]);
        }
        sum = Pair::combine(left, sum);
        sums[thread] = sum;
    }
    __syncthreads();
    if (split) {
        epoch = shared_ticket.epoch;
        if (shared_ticket.index == gridDim.x - 1)
            scrub(a.lookback, epoch, (int)threadIdx.x, (int)blockDim.x);
    }
    end = group > 0 ? sums[(group - 1) * lines + line] : Pair::identity;

    /* ---- The chunks before ------------------------------------------------------------------- */
    const U initial = there ? initial_of<Pair>(x_of, my_line) : (U)Pair::identity;

    U p = initial;
    const int chunks_a_tile = tile_items / chunk_items;
    const int m = (int)chunk & (chunks_a_tile - 1);
    if (split) {
        const int log_radix = shape.log_radix, highest = (1 << log_radix) - 1;
        const bool last = there && piece == pieces - 1; /* speaks for the chunk's line */
        const bool goes_on = chunk + 1 < shape.chunks;
        const uint32_t tile = chunk / (uint32_t)chunks_a_tile;
        /* words: of all columns for a chunk, beside one another; numbers of words are below 2^32 */
        const uint32_t word_step = (uint32_t)x_of.lines;
        const int count = (int)(tile < (uint32_t)shape.window ? tile : (uint32_t)shape.window);

        /* Words that are waited for: of the digits of m from the lowest on, of tiles, of all before */
        int digits = 0, own_digits = 0, own_bits = 0; /* own: that the chunk's own word needs */
#pragma unroll 1
        for (int bit = 0; m >> bit; bit += log_radix) {
            const int digit = m >> bit & highest;
            digits += digit;
            if (own_bits != bit || (digit != highest && m != chunks_a_tile - 1)) continue;
            own_bits += log_radix;
            own_digits = digits;
        }
        const auto place_of = [&](int k)
            -> uint32_t { /* of word k, in words of a line */
                          if (k == digits + count) return (uint32_t)shape.chunks + tile - count;
                          if (k >= digits)
                              return (tile - count + (k - digits) + 1) * chunks_a_tile - 1;
                          int bit = 0;
                          while (k >= (m >> bit & highest)) {
                              k -= m >> bit & highest;
                              bit += log_radix;
                          }
                          return chunk - m + (m >> bit >> log_radix << log_radix << bit) +
                                 ((k + 1) << bit) - 1;
        };
        const auto wait_for_words = [&](int from, int to) {
            if (!there) return;
            constexpr int some = 8 / (int)sizeof(U); /* reads at a time */
#pragma unroll 1
            for (int k = from + piece; k < to; k += some * pieces) {
                U value[some];
                uint32_t place[some];
                bool ready[some];
#pragma unroll
                for (int j = 0; j < some; ++j) {
                    const int each = k + j * pieces < to ? k + j * pieces : k;
                    place[j] = (uint32_t)my_line + place_of(each) * word_step;
                    ready[j] = try_read<U>(a.lookback, epoch, place[j], &value[j]);
                }
#pragma unroll
                for (int j = 0; j < some; ++j) {
                    if (!ready[j]) value[j] = wait_for<U>(a.lookback, epoch, place[j]);
                    if (k + j * pieces < to) waited[(k + j * pieces) * lines + line] = value[j];
                }
            }
        };
        /* f(first, log_words) for each bit of m from `from` to `to` that is set: the words that are of
           the chunks which that bit says; their sum is in the first one's place later. */
        const auto each_node = [&](int from, int to, auto &&f) {
            int before = 0;
#pragma unroll 1
            for (int bit = 0; bit < to && m >> bit; bit += log_radix) {
                const int digit = m >> bit & highest;
                if (bit >= from) {
#pragma unroll 1
                    for (int b = 0; digit >> b; ++b)
                        if (digit >> b & 1)
                            f((before + (digit >> b >> 1 << b << 1)) * lines + line, b);
                }
                before += digit;
            }
        };
        const auto sum_nodes = [&](int from, int to) {
            if (!there) return;
            int next = 0;
            each_node(from, to, [&](int first, int log_words) {
                if ((next++ & (pieces - 1)) != piece) return;
#pragma unroll 1
                for (int half = 1; half < 1 << log_words; half *= 2)
#pragma unroll 1
                    for (int k = 0; k < 1 << log_words; k += 2 * half) {
                        U *const left = waited + first + k * lines;
                        *left = Pair::combine(*left, left[half * lines]);
                    }
            });
        };

        /* The word is published before what it does not need is waited for: else each chunk would wait
           for the one before. */
        U node = sum;
        if (own_digits > 0) {
            wait_for_words(0, own_digits);
            __syncthreads();
            sum_nodes(0, own_bits);
            __syncthreads();
        }
        if (last && goes_on) {
            each_node(0, own_bits,
                      [&](int first, int) { node = Pair::combine(waited[first], node); });
            jitter(a.lookback, epoch, item, jitter_publish);
            publish<U>(a.lookback, epoch, (uint32_t)my_line + chunk * word_step, node);
        }
        jitter(a.lookback, epoch, item, jitter_wait);
        wait_for_words(own_digits, digits + count + (tile > (uint32_t)count));
        __syncthreads();
        sum_nodes(own_bits, 32);
        if (last) {
            U *const tiles = waited + digits * lines + line;
            if (tile > (uint32_t)count) p = tiles[count * lines];
#pragma unroll 8
            for (int k = 0; k < count; ++k) p = Pair::combine(p, tiles[k * lines]);
            tiles[count * lines] = p;
            if (goes_on && m == chunks_a_tile - 1 && shape.tiles > shape.window)
                publish<U>(a.lookback, epoch,
                           (uint32_t)my_line + ((uint32_t)shape.chunks + tile + 1) * word_step,
                           Pair::combine(p, node));
        }
        __syncthreads();
        p = waited[(digits + count) * lines + line];
        each_node(0, 32, [&](int first, int) {
            const U left = waited[first];
            end = Pair::combine(left, end);
            sum = Pair::combine(left, sum);
        });
    }

    /* ---- Results ----------------------------------------------------------------------------- */
    const bool whole_group = here == R && piece - group == group_pieces - 1;
    const U visible = x_of.has_initial ? initial : Pair::visible;
    U earlier = begin + at == 0 ? visible : p;
    if (piece > group)
        earlier = Pair::combine(p, Pair::combine(end, part));
    else if (group > 0 || m > 0)
        earlier = Pair::combine(p, end);
    if constexpr (Pair::in_any_order) {
        const U before = Pair::combine(p, end);
#pragma unroll
        for (int j = 0; j < R; ++j) x[j] = Pair::combine(before, x[j]);
    } else {
        const U whole = Pair::combine(p, sum);
#pragma unroll
        for (int j = 0; j < R; ++j) x[j] = Pair::combine(p, Pair::combine(end, x[j]));
        if (whole_group) x[R - 1] = whole;
    }
    if (x_of.totals != nullptr && there && chunk + 1 == shape.chunks &&
        (x_of.length == 0 ? piece == 0 : here > 0 && at + here == span)) {
        U result = visible;
#pragma unroll
        for (int j = 0; j < R; ++j)
            if (opaque(j) == here - 1) result = x[j]; /* not x[here - 1], from memory */
        ((T *)x_of.totals)[my_line] = Pair::out(result);
    }
    if (x_of.exclusive) {
#pragma unroll
        for (int j = R - 1; j > 0; --j) x[j] = x[j - 1];
        x[0] = earlier;
    }
    T *out = (T *)x_of.out + column;
#pragma unroll
    for (int k = 0; k < R; k += 8) {
        if (k >= span) break;
#pragma unroll
        for (int j = k; j < k + 8; ++j, out += step)
            if (j < here) *out = Pair::out(x[j]);
    }
}

/* ---- Launch ---------------------------------------------------------------------------------- */

static int log_over(int64_t n) {
    int log = 0;
    while ((int64_t)1 << log < n) ++log;
    return log;
}

/* How many of 4096 lanes have an element, of blocks of so many threads that have some of the columns,
   and up to so many pieces of each. */
static int64_t busy_lanes(int64_t lines, int64_t some, int threads, int pieces) {
    while (pieces > 1 && pieces * some > threads) pieces /= 2;
    const int64_t blocks = (lines + some - 1) / some;
    return lines * pieces * 4096 / (blocks * ((pieces * some + 31) / 32 * 32));
}

/*
 * Columns of a block of so many threads: 32 and more, so that whole lines of the cache are read and
 * written, or all that there are, if these are no more than `most` and fewer lanes are idle.
 *   pieces   of a column, a power of 2
 */
static int lines_of_block(int64_t lines, int most, int threads, int pieces) {
    const int some = threads / pieces > 32 ? threads / pieces : 32;
    if (lines <= some || (lines <= most && busy_lanes(lines, lines, threads, pieces) >
                                               busy_lanes(lines, some, threads, pieces)))
        return (int)lines;
    return some;
}

/* Threads of a block, at most: measured on an H200. Few columns want long chunks, and so few words
   that have to be waited for; rows that begin anywhere in lines of the cache want small blocks. */
static int columns_threads(const vscan__matrix &matrix, int size) {
    const bool one_chunk = matrix.length * size <= matrix_piece_bytes * matrix_threads / 32;
    if (matrix.lines * matrix.length * size >= (int64_t)1 << 27 && (matrix.lines < 32 || one_chunk))
        return matrix_threads;
    return matrix.lines > 64 && matrix.lines < 256 && matrix.lines % 32 != 0 ? 128 : 256;
}

static columns_shape columns_shape_of(const vscan__matrix &matrix, int size) {
    const int R = matrix_piece_bytes / size;
    const int tile_items = size == 8 ? VSCAN__TILE_DOUBLE : VSCAN__TILE_FLOAT;
    const int64_t length = matrix.length;
    const int threads = columns_threads(matrix, size);
    columns_shape s = {};
    const int64_t pieces = length > R ? (length + R - 1) / R : 1;
    s.log_pieces = log_over(pieces < threads ? pieces : threads);
    s.lines = lines_of_block(matrix.lines, threads / 4, threads, 1 << s.log_pieces);
    while (s.lines << s.log_pieces > threads) --s.log_pieces;
    const int64_t chunk_items = (int64_t)R << s.log_pieces;
    /* as few digits as can be, of at most 4 bits */
    const int bits = log_over(tile_items / chunk_items), digits = bits > 4 ? (bits + 3) / 4 : 1;
    s.log_radix = bits > 0 ? (bits + digits - 1) / digits : 1;
    s.line_blocks = (uint32_t)((matrix.lines + s.lines - 1) / s.lines);
    s.row_asks = (s.lines * size + 127) / 128;
    /* of many columns, what a chunk waits for has been there for long */
    s.ahead = s.line_blocks < 128 ? matrix_ahead / (s.lines * chunk_items) : 0;
    s.chunks = length > chunk_items ? (length + chunk_items - 1) / chunk_items : 1;
    s.tiles = length > tile_items ? (length + tile_items - 1) / tile_items : 1;
    s.words = s.chunks > 1 ? s.chunks + s.tiles : 0;
    s.window = matrix_window;
    return s;
}

/* Words that a block waits for at most, of a line. */
static int words_waited_for(const columns_shape &s, int chunks_a_tile) {
    if (s.chunks == 1) return 0;
    int words = s.window + 1;
    for (int left = chunks_a_tile - 1; left > 0; left >>= s.log_radix)
        words += left < 1 << s.log_radix ? left : (1 << s.log_radix) - 1;
    return words;
}

template <class Pair>
static cudaError_t launch_columns(const vscan__launch *launch, const vscan__matrix *matrix) {
    using U = typename Pair::U;
    const int size = (int)sizeof(typename Pair::T);
    const columns_shape s = columns_shape_of(*matrix, size);
    const int chunks_a_tile = (size == 8 ? VSCAN__TILE_DOUBLE : VSCAN__TILE_FLOAT) /
                              (matrix_piece_bytes / size << s.log_pieces);
    const int64_t blocks = s.line_blocks * s.chunks;
    /* words are counted in 32 bits */
    if (blocks > INT32_MAX || s.words * matrix->lines > UINT32_MAX)
        return cudaErrorInvalidConfiguration;
    return start(matrix_columns<Pair>, blocks, ((s.lines << s.log_pieces) + 31) / 32 * 32,
                 words_waited_for(s, chunks_a_tile) * s.lines * (int)sizeof(U), launch->stream,
                 matrix_arguments_of(launch, *matrix, s));
}

} /* namespace vscan */

#endif
