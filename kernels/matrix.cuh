/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scans and reductions of many lines at once: the rows of a matrix, or its columns. One pass.
 *
 * A thread holds a piece of a line in registers, 64 bytes of values, and scans it alone: half a group
 * of floats, a quarter of doubles. A block has 256 pieces, of some lines, as many of each; these make
 * up a chunk of the line, at most a quarter of a tile.
 *
 * Columns: the lanes of a warp have adjacent columns, so that it reads and writes whole lines of the
 * cache; sums of pieces meet in shared memory, one level of the tree at a time. Rows: what the block
 * reads, in the order of memory, goes through shared memory, a slot for each piece, and results go
 * back the same way; the lanes of a warp have adjacent pieces of a row, whose sums they exchange.
 * Slots are an odd number of 16 bytes apart, so that lanes that read 16 bytes each of their slots meet
 * in no bank.
 *
 * A line that is longer than a chunk is scanned by several blocks, which take their chunks by ticket
 * (unit_words.cuh), so that the earlier chunks of a line are taken earlier. Chunk m of a tile
 * publishes a word as the binary counter 1 + m says: with b the number of times that 2 goes into
 * 1 + m, the sum of the 2^b chunks that end with it. The chunks before chunk m are then those of one
 * word for each bit of m that is set, and the word of a tile's last chunk is the sum of the tile.
 * Sums of tiles are folded from the left by everyone; where there are more than a window of them, from
 * what comes before the first tile of the window, which that tile's predecessor publishes too. A block
 * only ever waits for words of earlier tickets, and publishes its chunk's before it waits for tiles.
 */
#ifndef VSCAN_MATRIX_CUH
#define VSCAN_MATRIX_CUH

#include "bulk_tile.cuh"

namespace vscan {

static constexpr int matrix_threads = 256, log_matrix_threads = 8;
static constexpr int matrix_piece_bytes = 64;
static constexpr int matrix_tiles = 128; /* of a line that are folded at a time, at most */
static constexpr int matrix_levels = 7;  /* of the tree between a chunk and a tile, at most */

/* Blocks of a multiprocessor, as many as there are registers for: what does not fit in them would go
   through memory beside the elements, and take as long. Measured on an H200. */
template <class Pair, bool Columns>
static constexpr int matrix_blocks = Columns                         ? 6
                                     : sizeof(typename Pair::U) == 8 ? 3
                                                                     : 4;

/* How a block copies rows: a thread's vectors lie one step after the other. */
struct matrix_copy {
    int log_threads;   /* that share a row */
    int rows;          /* from a thread's first row to its next, after its steps */
    int step;          /* in rows, or, along a row, in elements */
    int to_step;       /* in elements of the slots */
    int64_t from_step; /* in elements of the matrix */
    bool along;
};

/* How a matrix is dealt to blocks. */
struct matrix_shape {
    int log_lines, log_pieces; /* of a block; pieces of a line. Together log_matrix_threads */
    int piece_items;           /* fewer than a thread can hold where that is all of a line */
    int slot;                  /* rows: elements from one slot to the next */
    matrix_copy copies[2];     /* rows: of 16 bytes at a time, and of single elements */
    int window;                /* tiles */
    int64_t line_blocks, chunks, tiles; /* the latter two of a line, at least 1 */
    int64_t words;                      /* of a line, for one chunk and one tile each; or 0 */
};

struct matrix_arguments {
    vscan__matrix matrix;
    matrix_shape shape;
    vscan__workspace_header *header;
    word *words;
    int64_t capacity;
    uint32_t delay; /* for tests: see test_delay */
};

/* ---- Rows in shared memory ------------------------------------------------------------------- */

/* What a block copies of its rows: elements begin .. begin + span - 1 of each. */
struct matrix_slab {
    int64_t line, begin; /* the first row */
    int lines, span;
    int pad; /* elements of the slots that come before the span */
};

/*
 * The vectors of V elements that a thread copies: one after the other of the same column, or of the
 * same row where rows are long, so that addresses only take steps. Calls first(k, element of the
 * matrix, of the slots) for up to 4 of them, k from 0 on, then second for the same.
 */
template <class T, int V, class First, class Second>
static __device__ __forceinline__ void each_vector(const matrix_arguments &a, const matrix_slab &s,
                                                   First first, Second second) {
    constexpr int ahead = 4, R = matrix_piece_bytes / (int)sizeof(T);
    const matrix_copy &c = a.shape.copies[V * sizeof(T) == 16 ? 0 : 1];
    const int at = ((int)threadIdx.x & ((1 << c.log_threads) - 1)) * V;
    const int in_slots = at + s.pad;
    if (at >= s.span) return;
#pragma unroll 1
    for (int line = (int)threadIdx.x >> c.log_threads; line < s.lines; line += c.rows) {
        int left = (c.along ? s.span - at : s.lines - line) - 1;
        int64_t from = (s.line + line) * a.matrix.line_step + s.begin + at;
        int to = ((line << a.shape.log_pieces) + in_slots / R) * a.shape.slot + in_slots % R;
#pragma unroll 1
        for (; left >= 0;
             left -= ahead * c.step, from += ahead * c.from_step, to += ahead * c.to_step) {
            int64_t here = from;
#pragma unroll
            for (int k = 0; k < ahead; ++k, here += c.from_step)
                if (left >= k * c.step) first(k, here, to + k * c.to_step);
            here = from;
#pragma unroll
            for (int k = 0; k < ahead; ++k, here += c.from_step)
                if (left >= k * c.step) second(k, here, to + k * c.to_step);
        }
    }
}

template <class T>
static __device__ __forceinline__ bool whole_quads(const matrix_arguments &a, const matrix_slab &s,
                                                   const void *vector) {
    constexpr int V = 16 / (int)sizeof(T);
    return ((uintptr_t)vector & 15) == 0 && (a.matrix.line_step | s.begin | s.span) % V == 0;
}

template <class T, class Piece>
static __device__ __forceinline__ void load_pieces(const matrix_arguments &a, const matrix_slab &s,
                                                   T *slots) {
    const T *const in = (const T *)a.matrix.in;
    Piece held[4];
    each_vector<T, (int)(sizeof(Piece) / sizeof(T))>(
        a, s, [&](int k, int64_t from, int) { held[k] = *(const Piece *)(in + from); },
        [&](int k, int64_t, int to) { *(Piece *)(slots + to) = held[k]; });
}

template <class T, class Piece>
static __device__ __forceinline__ void store_pieces(const matrix_arguments &a, const matrix_slab &s,
                                                    const T *slots) {
    T *const out = (T *)a.matrix.out;
    Piece held[4];
    each_vector<T, (int)(sizeof(Piece) / sizeof(T))>(
        a, s, [&](int k, int64_t, int from) { held[k] = *(const Piece *)(slots + from); },
        [&](int k, int64_t to, int) { *(Piece *)(out + to) = held[k]; });
}

/* ---- Kernel ---------------------------------------------------------------------------------- */

template <class U>
static __device__ __forceinline__ U wait_for_word(const word *words, int64_t at, uint32_t tag) {
    U value;
    uint32_t none;
    while (!unit_word<U>::read(words, at, tag, &value, &none)) {
    }
    return value;
}

template <class Pair, bool Columns>
__global__ void __launch_bounds__(matrix_threads, (matrix_blocks<Pair, Columns>))
    matrix_lines(const __grid_constant__ matrix_arguments a) {
    using T = typename Pair::T;
    using U = typename Pair::U;
    constexpr int V = 16 / (int)sizeof(T), R = matrix_piece_bytes / (int)sizeof(T);
    constexpr int group_pieces = Pair::in_any_order ? 1 : VSCAN__GROUP / R;
    constexpr int tile_items = sizeof(T) == 8 ? VSCAN__TILE_DOUBLE : VSCAN__TILE_FLOAT;
    __shared__ U sums[matrix_threads];      /* of a line's pieces up to one */
    __shared__ U above[matrix_levels * 32]; /* for each bit of m, those of the chunks before */
    __shared__ U before[32];                /* all tiles before */
    __shared__ ticket shared_ticket;
    char *const dynamic = dynamic_shared();

    const vscan__matrix &x_of = a.matrix;
    const matrix_shape &shape = a.shape;
    const bool backward = x_of.backward, split = shape.chunks > 1;
    const int lines = 1 << shape.log_lines, pieces = 1 << shape.log_pieces;
    const int thread = (int)threadIdx.x, lane = thread % 32;
    const int line = Columns ? thread & (lines - 1) : thread >> shape.log_pieces;
    const int piece = Columns ? thread >> shape.log_lines : thread & (pieces - 1);
    const int chunk_items = shape.piece_items << shape.log_pieces;

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
        const uint32_t by = (uint32_t)(Columns ? shape.line_blocks : shape.chunks);
        const uint32_t high = item / by, low = item % by;
        chunk = Columns ? high : low;
        line_block = Columns ? low : high;
    }
    const int64_t first_line = (int64_t)line_block << shape.log_lines;
    const int64_t my_line = first_line + line;
    const bool there = my_line < x_of.lines;
    const int64_t begin = (int64_t)chunk * chunk_items; /* positions count in scan order */
    const int span =
        (int)(x_of.length - begin < chunk_items ? x_of.length - begin : (int64_t)chunk_items);
    const int at = piece * shape.piece_items; /* of the chunk */
    int here = span - at < shape.piece_items ? span - at : shape.piece_items;
    if (here < 0 || !there) here = 0;

    /* ---- Elements, and sums inside pieces ---------------------------------------------------- */
    U x[R];
    matrix_slab slab;
    T *const slots = (T *)dynamic;
    T *slot = nullptr;
    const auto column = [&] {
        return my_line + (backward ? x_of.length - 1 - begin - at : begin + at) * x_of.step;
    };
    const int64_t step = backward ? -x_of.step : x_of.step;
    if constexpr (Columns) {
        const T *in = (const T *)x_of.in + column();
        T raw[R];
#pragma unroll
        for (int j = 0; j < R; ++j, in += step) raw[j] = j < here ? *in : (T)0;
#pragma unroll
        for (int j = 0; j < R; ++j) x[j] = Pair::in(raw[j]);
    } else {
        slab.line = first_line;
        slab.begin = backward ? x_of.length - begin - span : begin;
        slab.lines = (int)(x_of.lines - first_line < lines ? x_of.lines - first_line : lines);
        slab.span = span;
        slab.pad = backward ? chunk_items - span : 0;
        if (whole_quads<T>(a, slab, x_of.in))
            load_pieces<T, int4>(a, slab, slots);
        else
            load_pieces<T, T>(a, slab, slots);
        __syncthreads();
        const int in_memory = backward ? pieces - 1 - piece : piece;
        slot = slots + ((line << shape.log_pieces) + in_memory) * shape.slot;
#pragma unroll
        for (int c = 0; c < R; c += V) {
            T raw[V] = {};
            if (c < shape.piece_items) {
                const int4 quad =
                    *(const int4 *)(slot + (backward ? shape.piece_items - V - c : c));
                memcpy(raw, &quad, 16);
            }
#pragma unroll
            for (int j = 0; j < V; ++j) x[c + j] = Pair::in(backward ? raw[V - 1 - j] : raw[j]);
        }
    }
    if (here < R) {
#pragma unroll
        for (int j = 0; j < R; ++j)
            if (j >= here) x[j] = Pair::identity;
    }
    if constexpr (Pair::in_any_order) {
#pragma unroll
        for (int j = 1; j < R; ++j) x[j] = Pair::combine(x[j - 1], x[j]);
    } else {
        scan_row<Pair, false, R>(x, 0);
    }

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
    if constexpr (Columns) {
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
    } else {
        /* the pieces of a row lie beside one another in a warp, and then in warps */
#pragma unroll
        for (int half = 1; half < 32; half *= 2) {
            if (half >= pieces) break;
            const U left = __shfl_sync(all_lanes, sum, (lane & ~(half - 1)) - 1);
            if (piece & half) level(left, half);
        }
        const U left = __shfl_sync(all_lanes, sum, (lane & ~(group_pieces - 1)) - 1);
        end = group % 32 > 0 ? left : Pair::identity;
        if (pieces > 32) {
            if (lane == 31) sums[thread / 32] = sum;
            __syncthreads();
            const int warp = piece / 32; /* of the row */
            const U *const before_row = sums + (thread / 32 - warp);
#pragma unroll
            for (int half = 1; half < matrix_threads / 32; half *= 2) {
                if (!(warp & half)) continue;
                U tree[matrix_threads / 64];
#pragma unroll
                for (int k = 0; k < half; ++k) tree[k] = before_row[(warp & ~(2 * half - 1)) + k];
#pragma unroll
                for (int d = 1; d < half; d *= 2)
#pragma unroll
                    for (int k = 0; k < half; k += 2 * d)
                        tree[k] = Pair::combine(tree[k], tree[k + d]);
                end = Pair::combine(tree[0], end);
                sum = Pair::combine(tree[0], sum);
            }
        }
    }

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
        /* words: of a line, or of all lines for a chunk, beside one another */
        const int64_t line_words = Columns ? 1 : shape.words;
        const int64_t word_step = Columns ? x_of.lines : 1;
        const int64_t words_at = my_line * line_words;
        if (there && piece < matrix_levels && (m >> piece & 1)) {
            const int64_t ended = (int64_t)chunk - m + (m >> piece << piece) - 1;
            above[(piece << shape.log_lines) + line] =
                wait_for_word<U>(a.words, words_at + ended * word_step, tag);
        }
        __syncthreads();
        U node = sum;
        if (last && goes_on) {
#pragma unroll 1
            for (int b = 0; m >> b & 1; ++b)
                node = Pair::combine(above[(b << shape.log_lines) + line], node);
            test_delay(a.delay, tag, item, 0);
            unit_word<U>::publish(a.words, words_at + chunk * word_step, tag, node);
        }
#pragma unroll 1
        for (int b = 0; m >> b; ++b) {
            if (!(m >> b & 1)) continue;
            const U left = above[(b << shape.log_lines) + line];
            end = Pair::combine(left, end);
            sum = Pair::combine(left, sum);
        }
        if (tile > 0) {
            U *const tiles =
                (U *)(dynamic + (Columns ? 0 : matrix_threads * shape.slot * (int)sizeof(T)));
            const int count = (int)(tile < shape.window ? tile : (int64_t)shape.window);
            test_delay(a.delay, tag, item, 1);
            if (there && piece < count)
                tiles[(piece << shape.log_lines) + line] = wait_for_word<U>(
                    a.words,
                    words_at + ((tile - count + piece + 1) * chunks_a_tile - 1) * word_step, tag);
            __syncthreads();
            if (last && there) {
                if (tile > count)
                    p = wait_for_word<U>(a.words,
                                         words_at + (shape.chunks + tile - count) * word_step, tag);
#pragma unroll 8
                for (int k = 0; k < count; ++k)
                    p = Pair::combine(p, tiles[(k << shape.log_lines) + line]);
                before[line] = p;
            }
            __syncthreads();
            p = before[line];
        }
        if (last && goes_on && m == chunks_a_tile - 1 && shape.tiles > shape.window)
            unit_word<U>::publish(a.words, words_at + (shape.chunks + tile + 1) * word_step, tag,
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

    if constexpr (Columns) {
        T *out = (T *)x_of.out + column();
#pragma unroll
        for (int j = 0; j < R; ++j, out += step)
            if (j < here) *out = Pair::out(x[j]);
    } else {
#pragma unroll
        for (int c = 0; c < R; c += V) {
            T raw[V];
#pragma unroll
            for (int j = 0; j < V; ++j) raw[j] = Pair::out(backward ? x[c + V - 1 - j] : x[c + j]);
            int4 quad;
            memcpy(&quad, raw, 16);
            if (c < shape.piece_items)
                *(int4 *)(slot + (backward ? shape.piece_items - V - c : c)) = quad;
        }
        __syncthreads();
        if (whole_quads<T>(a, slab, x_of.out))
            store_pieces<T, int4>(a, slab, slots);
        else
            store_pieces<T, T>(a, slab, slots);
    }
}

/* ---- Launch ---------------------------------------------------------------------------------- */

static int log_over(int64_t n) {
    int log = 0;
    while ((int64_t)1 << log < n) ++log;
    return log;
}

static matrix_shape shape_of(const vscan__matrix &matrix, int size) {
    const int V = 16 / size, R = matrix_piece_bytes / size;
    const int tile_items = size == 8 ? VSCAN__TILE_DOUBLE : VSCAN__TILE_FLOAT;
    const int64_t length = matrix.length;
    matrix_shape s;
    const int64_t pieces = length > R ? (length + R - 1) / R : 1;
    s.log_pieces = log_over(pieces < matrix_threads ? pieces : matrix_threads);
    if (matrix.columns) { /* a warp has 32 columns, or all that there are */
        const int most = log_matrix_threads - log_over(matrix.lines < 32 ? matrix.lines : 32);
        if (s.log_pieces > most) s.log_pieces = most;
    }
    s.log_lines = log_matrix_threads - s.log_pieces;
    s.piece_items = R;
    if (s.log_pieces == 0 && !matrix.columns)
        s.piece_items = length > V ? (int)((length + V - 1) / V * V) : V;
    s.slot = (s.piece_items / V | 1) * V;
    const int64_t chunk_items = (int64_t)s.piece_items << s.log_pieces;
    const int log_span = log_over(length < chunk_items ? length : chunk_items);
    for (int k = 0; k < 2; ++k) {
        matrix_copy &c = s.copies[k];
        const int vector = k == 0 ? V : 1;
        c.log_threads =
            log_span - log_over(vector); /* a row's vectors, made up to a power of two */
        if (c.log_threads < 0) c.log_threads = 0;
        c.along = c.log_threads > log_matrix_threads;
        if (c.along) {
            c.log_threads = s.log_pieces < log_over(R) ? log_over(R) : s.log_pieces;
            c.rows = matrix_threads >> c.log_threads;
            c.step = vector << c.log_threads;
            c.from_step = c.step;
            c.to_step = c.step / R * s.slot;
        } else {
            c.rows = matrix_threads;
            c.step = matrix_threads >> c.log_threads;
            c.from_step = c.step * matrix.line_step;
            c.to_step = (c.step << s.log_pieces) * s.slot;
        }
    }
    s.window = 1 << s.log_pieces; /* a thread waits for one */
    if (s.window > matrix_tiles) s.window = matrix_tiles;
    s.line_blocks = (matrix.lines + (1 << s.log_lines) - 1) >> s.log_lines;
    s.chunks = length > chunk_items ? (length + chunk_items - 1) / chunk_items : 1;
    s.tiles = length > tile_items ? (length + tile_items - 1) / tile_items : 1;
    s.words = s.chunks > 1 ? s.chunks + s.tiles : 0;
    return s;
}

template <class Pair>
static cudaError_t launch_matrix(const vscan__launch *launch, const vscan__matrix *matrix) {
    using T = typename Pair::T;
    using U = typename Pair::U;
    matrix_arguments a;
    a.matrix = *matrix;
    a.shape = shape_of(*matrix, sizeof(T));
    a.header = (vscan__workspace_header *)launch->workspace;
    a.words = (word *)((char *)launch->workspace + VSCAN__WORKSPACE_HEADER);
    a.capacity = launch->words;
    a.delay = launch->test_delay;
    const int64_t blocks = a.shape.line_blocks * a.shape.chunks;
    if (blocks > INT32_MAX) return cudaErrorInvalidConfiguration;
    int shared = matrix->columns ? 0 : matrix_threads * a.shape.slot * (int)sizeof(T);
    if (a.shape.tiles > 1) shared += (a.shape.window << a.shape.log_lines) * (int)sizeof(U);
    return start(matrix->columns ? matrix_lines<Pair, true> : matrix_lines<Pair, false>, blocks,
                 matrix_threads, shared, launch->stream, a);
}

} /* namespace vscan */

#endif
