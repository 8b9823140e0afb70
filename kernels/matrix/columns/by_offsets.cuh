/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reductions of the columns of groups of rows that are given by offsets, each group a matrix of its own: its groups
 * of 32 rows, blocks of level 1 and tiles (core/order.h) are counted from its own first row. One launch, one
 * kernel for all lengths.
 *
 * Row groups of up to row_groups_short rows: a thread has some columns of one, and adds its rows up alone. Nothing is
 * searched for or shared, and the threads of a warp read whole rows.
 *
 * A block that meets a longer one lists its pieces, blocks of level 1, in the workspace, and takes a ticket when it has
 * done so. The last blocks of the grid wait until all others have taken theirs, and then take pieces by ticket, a
 * strip of columns of one or several at a time:
 *
 *   slots    a thread has a group of 32 rows, of some columns
 *   pieces   a thread has a column of a piece, and adds the sums of its groups from left to right. That is a total,
 *            unless the row group has several pieces. It is published, but for the row group's last one, for which
 *            nobody asks
 *   tiles    who has the last piece of a tile adds up the others', and publishes the tile's sum in place of the
 *            piece's; who has the row group's last piece adds up all tiles before it
 *
 * Progress: blocks start in the order of their numbers, so those that list wait for nobody, and the others for
 * running blocks. A row group's pieces have numbers in their order, tickets ascend, and a block publishes its
 * pieces before it waits for pieces, and tiles before it waits for tiles: it waits only for lower numbers. Memory
 * order: fences order what is listed before the ticket; an aggregate carries its epoch (kernels/README.md), and what
 * is listed has both bits of an epoch's half clear, so it never passes for an aggregate.
 *
 * Offsets are checked by whoever reads them, and no row group depends on another one's.
 *
 * The operator is an argument of the kernel, which is compiled for values of 4 and of 8 bytes alone: reading takes
 * longer than what a switch costs. With 80 registers nothing is spilled; with 64, four blocks instead of three, it
 * takes up to a tenth longer (H100).
 */
#pragma once

#include "elements/any_operator.cuh"
#include "elements/elementwise.cuh"
#include "matrix/lines.cuh"

namespace vscan {

struct row_groups_arguments {
    vscan__matrix matrix;
    const void *offsets;
    int64_t groups;
    int64_t room; /* pieces that can be listed */
    lookback_memory lookback;
    pair_transform transform;
    vscan__late *late;
    uint32_t short_blocks;         /* the first blocks of the grid */
    uint32_t strips, piece_strips; /* of short row groups, of pieces */
    int width, piece_width;        /* threads side by side in a strip */
    int together;                  /* pieces of a block */
    int op;                        /* an any_operator's */
    bool wide;                     /* offsets */
    bool aligned;                  /* vectors of 16 bytes are, and there is no rest */
};

/* A piece as it is listed: rows begin .. end - 1 are the row group's, counted in the direction of the reduction. */
struct row_piece {
    int64_t group, number, begin, end; /* group -1: none */
};

/* Sums of rows of a thread's columns. */
template <class Real>
struct row_sums : any_operator<Real> {
    using op_of = any_operator<Real>;
    using op_of::add, op_of::bits, op_of::combine_integers, op_of::identity, op_of::real;
    using typename op_of::U;
    static constexpr int G = VSCAN__GROUP, V = 16 / (int)sizeof(U); /* columns */
    static constexpr int batch = 8; /* rows that are loaded together */
    struct vector {
        U x[V];
    };

    /* Aligned: as one vector. */
    template <bool Aligned>
    static DEVICE void load(const U *at, int columns, U (&x)[V]) {
        if constexpr (Aligned) {
            const int4 quad = *(const int4 *)at;
            memcpy(x, &quad, 16);
        } else {
            UNROLL_FOR (int v = 0; v < V; ++v)
                if (v < columns) x[v] = at[v];
        }
    }

    /* The sum of rows of V columns: groups by the network's tree, kept like a binary counter, from left to right. */
    template <bool Aligned>
    DEVICE vector add_rows(const U *in, int64_t step, int length, int columns) const {
        using plus = pair<op_plus, Real>;
        constexpr int batches = G / batch;
        Real r1[V], tree[2][V]; /* of one batch, of two */
        UNROLL_FOR (int v = 0; v < V; ++v) r1[v] = tree[0][v] = tree[1][v] = plus::identity;
        ROLLED_FOR (int b = 0; length > 0; ++b, length -= batch, in += batch * step) {
            U raw[batch][V];
            UNROLL_FOR (int k = 0; k < batch; ++k) {
                UNROLL_FOR (int v = 0; v < V; ++v) raw[k][v] = bits(plus::identity);
                if (k < length) load<Aligned>(in + k * step, columns, raw[k]);
            }
            const bool odd = b % 2 != 0, ends = b % batches == batches - 1 || length <= batch;
            UNROLL_FOR (int v = 0; v < V; ++v) {
                Real x[batch];
                UNROLL_FOR (int k = 0; k < batch; ++k) x[k] = real(raw[k][v]);
                Real y = sum_items<plus>(x);
                y = add(odd ? tree[0][v] : plus::identity, y);
                if (!odd) tree[0][v] = y;
                if (odd || ends) {
                    y = add(tree[1][v], y);
                    tree[1][v] = y;
                }
                if (!ends) continue;
                r1[v] = add(r1[v], y);
                tree[1][v] = plus::identity;
            }
        }
        vector sum;
        UNROLL_FOR (int v = 0; v < V; ++v) sum.x[v] = bits(r1[v]);
        return sum;
    }

    /* The same where any order gives the same bits. */
    template <bool Aligned>
    DEVICE vector combine_rows(const U *in, int64_t step, int length, int columns) const {
        vector sum;
        UNROLL_FOR (int v = 0; v < V; ++v) sum.x[v] = identity();
        ROLLED_FOR (; length > 0; length -= 4, in += 4 * step) {
            U x[4][V] = {};
            UNROLL_FOR (int k = 0; k < 4; ++k)
                if (k < length) load<Aligned>(in + k * step, columns, x[k]);
            UNROLL_FOR (int k = 0; k < 4; ++k) {
                if (k >= length) break;
                UNROLL_FOR (int v = 0; v < V; ++v)
                    sum.x[v] = combine_integers(sum.x[v], this->in(x[k][v]));
            }
        }
        return sum;
    }

    template <bool Aligned>
    DEVICE vector sum_of(const U *in, int64_t step, int length, int columns) const {
        return this->op == add_reals ? add_rows<Aligned>(in, step, length, columns)
                                     : combine_rows<Aligned>(in, step, length, columns);
    }
};

template <class Real>
struct row_groups_block : any_operator<Real> {
    using op_of = any_operator<Real>;
    using op_of::combine, op_of::identity, op_of::op;
    using typename op_of::U;
    using vector = typename row_sums<Real>::vector;
    static constexpr int G = VSCAN__GROUP, B = VSCAN__LEVEL_1, threads = row_groups_threads;
    static constexpr int tile_blocks = nested<Real>::blocks, tiles = nested<Real>::tiles;
    static constexpr int slots = B / G, V = 16 / (int)sizeof(U); /* columns of a thread */
    static constexpr int reads = 4; /* aggregates that are read together */

    struct memory {
        U sums[slots][row_piece_columns<Real>];
        int64_t listed[threads]; /* row groups of a block that are long */
        int64_t first[threads];  /* and where their pieces are listed */
        unsigned count;
        ticket mine;
    };

    const row_groups_arguments &a;
    memory &shared;

    DEVICE row_piece *list() const {
        return (row_piece *)(words_of(a.lookback) + a.room * a.matrix.lines * words_each<U>);
    }

    /* ---- Rows -------------------------------------------------------------------------------- */

    /* Where a row group begins, in memory's order. */
    DEVICE int64_t offset(int64_t k) const {
        return a.wide ? ((const int64_t *)a.offsets)[k] : ((const int32_t *)a.offsets)[k];
    }
    /* From row `first` on, counted in the direction; of column c and the next ones. */
    static DEVICE vector sum_rows(const row_groups_arguments &a, int64_t first, int length,
                                  int64_t c) {
        const row_sums<Real> b = {{a.op, a.transform}};
        const vscan__matrix &m = a.matrix;
        const U *const in =
            (const U *)m.in + (m.backward ? m.length - 1 - first : first) * m.step + c;
        const int64_t step = m.backward ? -m.step : m.step, left = m.lines - c;
        const int columns = left < V ? (int)left : V;
        return a.aligned ? b.template sum_of<true>(in, step, length, columns)
                         : b.template sum_of<false>(in, step, length, columns);
    }

    /* What begins a row group in a column. */
    static __device__ __noinline__ U initial_of(const row_groups_arguments &a, int64_t c) {
        const any_operator<Real> o = {a.op, a.transform};
        const vscan__matrix &m = a.matrix;
        if (m.has_initial == 0) return o.identity();
        if (m.has_initial == 1) return o.in(element_of<U>(m.initial));
        return o.in(((const U *)m.initial_at)[c * m.initial_step]);
    }
    DEVICE U initial(int64_t c) const { return initial_of(a, c); }
    DEVICE U *total_at(int64_t k, int64_t c) const {
        return (U *)a.matrix.totals + k * a.matrix.lines + c;
    }

    /* ---- Short row groups -------------------------------------------------------------------- */

    DEVICE void put_totals(int64_t k, int64_t c, bool empty, vector sum) const {
        U *const to = total_at(k, c);
        const int left = a.matrix.lines - c < V ? (int)(a.matrix.lines - c) : V;
        if (empty)
            for (int v = 0; v < V; ++v) sum.x[v] = this->visible();
        UNROLL_FOR (int v = 0; v < V; ++v) {
            if (a.matrix.has_initial && v < left)
                sum.x[v] = empty ? initial(c + v) : combine(initial(c + v), sum.x[v]);
            if (op != add_reals) sum.x[v] = this->out(sum.x[v]);
            if (!a.aligned && v < left) to[v] = sum.x[v];
        }
        if (!a.aligned) return;
        int4 quad;
        memcpy(&quad, sum.x, 16);
        *(int4 *)to = quad;
    }

    DEVICE void short_groups() {
        const uint32_t group_block = blockIdx.x / a.strips,
                       strip = blockIdx.x - group_block * a.strips;
        const int of_block = threads / a.width, mine = threadIdx.x / a.width;
        const int x = threadIdx.x - mine * a.width;
        const int64_t k = (int64_t)group_block * of_block + mine;
        const int64_t c = ((int64_t)strip * a.width + x) * V;
        if (threadIdx.x == 0) shared.count = 0;
        if (a.matrix.length > row_groups_short) __syncthreads();
        int64_t wrong = -1;
        if (mine < of_block && k < a.groups && c < a.matrix.lines) {
            const int64_t begin = offset(k), end = offset(k + 1), n = a.matrix.length;
            if (k == 0 && (begin < 0 || begin > n)) {
                wrong = 0;
            } else if (begin < 0 || end < begin || end > n) {
                wrong = k + 1;
            } else if (end - begin > row_groups_short) {
                if (c == 0) shared.listed[atomicAdd(&shared.count, 1u)] = k;
            } else {
                const int64_t first = a.matrix.backward ? n - end : begin;
                put_totals(k, c, begin == end, sum_rows(a, first, (int)(end - begin), c));
            }
        }
        if (a.groups == 0 && threadIdx.x == 0 && (offset(0) < 0 || offset(0) > a.matrix.length))
            wrong = 0;
        report(a.late, VSCAN_ERROR_OFFSETS, wrong);
        if (a.matrix.length > row_groups_short) list_pieces();
    }

    DEVICE void list_pieces() {
        __syncthreads();
        const int count = (int)shared.count;
        if (count == 0) return;
        int64_t wrong = -1;
        if ((int)threadIdx.x < count) {
            const int64_t k = shared.listed[threadIdx.x];
            const int64_t pieces = (offset(k + 1) - offset(k) + B - 1) / B;
            shared.first[threadIdx.x] =
                (int64_t)atomicAdd(&a.lookback.header->marked, (unsigned long long)pieces);
            /* not if all offsets ascend */
            if (shared.first[threadIdx.x] + pieces > a.room) wrong = k + 1;
        }
        report(a.late, VSCAN_ERROR_OFFSETS, wrong);
        __syncthreads();
        ROLLED_FOR (int i = 0; i < count; ++i) {
            const int64_t k = shared.listed[i], at = shared.first[i], n = a.matrix.length;
            int64_t begin = offset(k), end = offset(k + 1);
            const int64_t pieces = (end - begin + B - 1) / B;
            if (a.matrix.backward) {
                const int64_t kept = begin;
                begin = n - end;
                end = n - kept;
            }
            const bool fits = at + pieces <= a.room;
            ROLLED_FOR (int64_t q = threadIdx.x; q < pieces && at + q < a.room; q += threads)
                list()[at + q] = {fits ? k : -1, q, begin, end};
        }
        __threadfence();
        __syncthreads();
    }

    /* ---- Long row groups --------------------------------------------------------------------- */

    /* n <= reads aggregates of a column from that of piece `at` on, `apart` pieces from one to the next. */
    DEVICE void read(U (&x)[reads], int64_t at, int64_t apart, int64_t n, int64_t c) const {
        bool ready;
        do {
            ready = true;
            UNROLL_FOR (int j = 0; j < reads; ++j) {
                x[j] = identity();
                if (j < n)
                    ready &= try_read<U>(a.lookback, shared.mine.epoch,
                                         (at + j * apart) * a.matrix.lines + c, &x[j]);
            }
        } while (!ready);
    }

    /* The last steps of piece number `at` of the list in column c, whose sum is sum. */
    DEVICE void look_back(const row_piece &piece, int64_t at, int64_t c, U sum) const {
        const int64_t in_tile = piece.number & (tile_blocks - 1),
                      tile = (int64_t)((uint64_t)piece.number / tile_blocks);
        const bool last = (piece.number + 1) * B >= piece.end - piece.begin;
        const epoch_t epoch = shared.mine.epoch;
        if (!last && in_tile < tile_blocks - 1) return; /* it has been published */
        U before = identity(), r4 = initial(c);
        jitter(a.lookback, epoch, at, jitter_wait);
        /* pieces of the tile, then tiles */
        int64_t n = in_tile, from = at - in_tile, apart = 1;
        ROLLED_FOR (int round = 0;; ++round) {
            ROLLED_FOR (int64_t q = 0; q < n; q += reads) {
                U x[reads];
                read(x, from + q * apart, apart, n - q, c);
                UNROLL_FOR (int j = 0; j < reads; ++j) before = combine(before, x[j]);
                if (round == 0 || q + reads > n || (q + reads) % tiles != 0) continue;
                r4 = combine(r4, before); /* a block of level 3 */
                before = identity();
            }
            if (round > 0 || !last) break;
            sum = combine(before, sum);
            before = identity();
            n = tile;
            from = at - piece.number + tile_blocks - 1;
            apart = tile_blocks;
        }
        if (last)
            *total_at(piece.group, c) = this->out(combine(r4, combine(before, sum)));
        else
            publish<U>(a.lookback, epoch, at * a.matrix.lines + c, combine(before, sum));
    }

    DEVICE void long_groups() {
        if (threadIdx.x == 0) {
            while ((uint32_t)load_relaxed(&a.lookback.header->epoch_and_ticket) < a.short_blocks)
                __nanosleep(100);
            __threadfence();
            shared.first[0] = (int64_t)load_relaxed(&a.lookback.header->marked);
        }
        __syncthreads();
        const int64_t listed = shared.first[0] < a.room ? shared.first[0] : a.room;
        const int64_t work = (listed + a.together - 1) / a.together * a.piece_strips;
        const int each = threads / a.together, which = threadIdx.x / each, t = threadIdx.x % each;
        const int width = a.piece_width, rows = each / width, slot = t / width, x = t % width * V;
        ROLLED_FOR (;;) {
            __syncthreads(); /* sums have been read */
            if (threadIdx.x == 0) {
                shared.mine = take_ticket(a.lookback);
                if (shared.mine.index == work + gridDim.x - 1) {
                    a.lookback.header->marked = 0;
                    end_launch(a.lookback, shared.mine.epoch);
                }
            }
            __syncthreads();
            const uint32_t number = shared.mine.index - a.short_blocks;
            if (number >= work) return;
            const int64_t at = (int64_t)(number / a.piece_strips) * a.together + which;
            const int64_t first_column = (int64_t)(number % a.piece_strips) * width * V;
            const int64_t left = a.matrix.lines - first_column;
            const int columns = left < width * V ? (int)left : width * V;
            row_piece piece = {-1, 0, 0, 0};
            if (at < listed) piece = list()[at];
            const int64_t begin = piece.begin + piece.number * B;
            const int length = piece.end - begin < B ? (int)(piece.end - begin) : B;
            const int of_piece = (length + G - 1) / G;
            if (piece.group >= 0 && slot < rows && x < columns) {
                ROLLED_FOR (int s = slot; s < of_piece; s += rows) {
                    const int here = length - s * G;
                    const vector sum =
                        sum_rows(a, begin + s * G, here < G ? here : G, first_column + x);
                    UNROLL_FOR (int v = 0; v < V; ++v)
                        shared.sums[s][which * width * V + x + v] = sum.x[v];
                }
            }
            __syncthreads();
            if (piece.group < 0 || t >= columns) continue;
            const int64_t c = first_column + t;
            U sum = shared.sums[0][which * width * V + t];
            ROLLED_FOR (int s = 1; s < of_piece; ++s)
                sum = combine(sum, shared.sums[s][which * width * V + t]);
            const bool last = begin + length == piece.end;
            if (!last && (piece.number & (tile_blocks - 1)) != tile_blocks - 1) {
                jitter(a.lookback, shared.mine.epoch, at, jitter_publish);
                publish<U>(a.lookback, shared.mine.epoch, at * a.matrix.lines + c, sum);
            }
            look_back(piece, at, c, sum);
        }
    }
};

template <class Real>
__global__ void __launch_bounds__(row_groups_threads, row_groups_blocks)
    matrix_row_groups(const __grid_constant__ row_groups_arguments a) {
    using block = row_groups_block<Real>;
    __shared__ typename block::memory shared;
    block b = {{a.op, a.transform}, a, shared};
    if (blockIdx.x >= a.short_blocks) {
        b.long_groups();
        return;
    }
    b.short_groups();
    if (threadIdx.x != 0) return;
    const ticket mine = take_ticket(a.lookback);
    if (gridDim.x == a.short_blocks) end_launch_after(a.lookback, mine, a.short_blocks);
}

/* ---- Launch ---------------------------------------------------------------------------------- */

/* Pieces of row groups of more than row_groups_short rows, at most. */
static int64_t row_pieces_room(const vscan__row_groups &work) {
    const int64_t n = work.matrix.length;
    return n > row_groups_short ? n / VSCAN__LEVEL_1 + n / (row_groups_short + 1) + 1 : 0;
}

/* Threads side by side for so many vectors: so few strips that most threads of a block have one. */
static int64_t row_groups_width(int64_t across) {
    int64_t best = 0, width = 0;
    for (int64_t strips = (across + row_groups_threads - 1) / row_groups_threads, more = 0;
         more < 3; ++strips, ++more) {
        const int64_t w = (across + strips - 1) / strips, of_block = row_groups_threads / w;
        const int64_t busy = across * of_block * 1024 / strips;
        if (busy <= best) continue;
        best = busy;
        width = w;
    }
    return width;
}

template <class Real>
static cudaError_t launch_row_groups(const vscan__launch *launch, const vscan__row_groups *work,
                                     any_op op, const pair_transform &transform) {
    constexpr int size = sizeof(Real), V = 16 / size;
    const vscan__matrix &matrix = work->matrix;
    const auto aligned = [](const void *at) { return (uintptr_t)at % 16 == 0; };
    const bool is_aligned = matrix.lines % V == 0 && matrix.step % V == 0 && aligned(matrix.in) &&
                            aligned(matrix.totals);
    const int64_t across = (matrix.lines + V - 1) / V;
    row_groups_arguments a;
    a.matrix = matrix;
    a.offsets = work->offsets;
    a.groups = work->groups;
    a.room = row_pieces_room(*work);
    a.lookback = lookback_of(launch);
    a.transform = transform;
    a.late = launch->late;
    a.op = op;
    a.wide = work->offset_type == VSCAN_LONG;
    a.aligned = is_aligned;
    a.width = (int)row_groups_width(across);
    const int64_t strips = (across + a.width - 1) / a.width,
                  of_block = row_groups_threads / a.width;
    const int64_t blocks = work->groups > 0 ? (work->groups + of_block - 1) / of_block * strips : 1;
    const int64_t most = row_piece_columns<Real> / V;
    const int64_t piece_strips = (across + most - 1) / most;
    a.piece_width = (int)((across + piece_strips - 1) / piece_strips);
    a.together = 1;
    while (2 * a.together * a.piece_width * (VSCAN__LEVEL_1 / VSCAN__GROUP) <= row_groups_threads)
        a.together *= 2;
    const int64_t work_most = (a.room + a.together - 1) / a.together * piece_strips,
                  resident = row_groups_blocks * (int64_t)launch->multiprocessors;
    const int64_t for_long = work_most < resident ? work_most : resident;
    if (blocks + for_long > INT32_MAX || blocks + for_long + work_most > UINT32_MAX)
        return cudaErrorInvalidConfiguration;
    a.strips = (uint32_t)strips;
    a.piece_strips = (uint32_t)piece_strips;
    a.short_blocks = (uint32_t)blocks;
    return start(matrix_row_groups<Real>, blocks + for_long, row_groups_threads, 0, launch->stream,
                 a);
}

} /* namespace vscan */
