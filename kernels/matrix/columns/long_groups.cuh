/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reductions of long segments that are given by offsets, and of the columns of long groups of rows: what
 * segments/by_offsets/ and by_offsets.cuh do, in the same order, where groups are long and columns few. A vector is a
 * matrix of one column.
 *
 * Warps share out the list of all rows and groups in the order of memory, in which a group stands before its first
 * row and counts as much as group_rows rows, about what one costs. A warp takes a run of this list by ticket: the
 * groups that begin in it, and of longer ones the pieces that do, blocks of level 1. So every row is read by one
 * warp. Warps have no barriers and share nothing, and enough of them are resident to hide each other's latency.
 *
 *   piece    512 rows at a time: lane l loads row l of each of 16 groups of level 0, a column after the other (what
 *            they share of a sector is in the cache then). The trees of 16 groups are added up together: with
 *            each exchange of lanes, half as many values are left to a lane. Lane c has the sum of column c
 *   group    one that begins and ends in the run is added up in registers. Of others, pieces are published
 *            but for a group's last one, for which nobody asks; then tiles, and blocks of level 3, as soon as one
 *            that begins in the run has ended
 *   end      what ends in the run and began before it is added up last, from what has been published: a tile, then a block
 *            of level 3, then the group
 *
 * Numbers of what is published: as in segments/by_offsets/by_offsets.cuh. Progress: tickets ascend; a warp waits at the
 * end of a run alone, first for pieces, which are published without waiting, then for tiles and blocks of level 3 of
 * lower tickets.
 *
 * Offsets are checked apart from what is added up: by each run some. Where they do not ascend, a run is no longer
 * than others, nothing outside of the matrix is read, and nobody waits for ever.
 *
 * The operator is an argument of the kernel, as in by_offsets.cuh.
 */
#pragma once

#include "elements/any_operator.cuh"
#include "matrix/lines.cuh"
#include "segments/by_offsets/merge_path.cuh"

namespace vscan {

struct long_groups_arguments {
    vscan__matrix matrix;
    const void *offsets;
    int64_t groups;
    int64_t runs, items;          /* how many, and entries of one */
    int64_t checked;              /* offsets that a run checks */
    int64_t tiles_at, level_3_at; /* the first numbers of tiles, and of blocks of level 3 */
    lookback_memory lookback;
    pair_transform transform;
    vscan__late *late;
    search_guess guess;
    int op;        /* an any_operator's */
    int row_bytes; /* from row to row */
    bool wide;     /* offsets */
};

/* Where groups stand in the list. */
struct group_places {
    const segment_begins &begin_of;
    DEVICE int64_t operator[](int64_t k) const {
        return (int64_t)((uint64_t)begin_of(k) + group_rows * (uint64_t)k);
    }
};

template <class Real>
struct long_groups_warp : any_operator<Real> {
    using op_of = any_operator<Real>;
    using op_of::add, op_of::bits, op_of::combine, op_of::combine_integers, op_of::identity,
        op_of::op, op_of::real;
    using typename op_of::U;
    static constexpr int G = VSCAN__GROUP, B = VSCAN__LEVEL_1, M = 16, chunk = M * G;
    static constexpr int blocks = nested<Real>::blocks, tiles = nested<Real>::tiles;

    /* A warp's group that has begun before the run. */
    struct open_group {
        int64_t group, begin;       /* group -1: none */
        int64_t tile, level_3;      /* those that began before the run, and end in it, or -1 */
        int64_t last;               /* the group's last piece, if it is of the run, or -1 */
        U of_tile[32], of_last[32]; /* by columns, sums of the tile's last piece, of the group's */
    };

    const long_groups_arguments &a;
    const segment_begins begin_of;
    open_group &before;
    const int lane;
    epoch_t epoch = 0;

    /* ---- Pieces ------------------------------------------------------------------------------ */

    /* sum, and so many rows of a column, chunk at most, from `at` on. */
    DEVICE U add_chunk(U sum, const char *at, int count) const {
        U x[M];
        const int row = made_here(lane); /* or 16 products are kept, which there is no room for */
        if (count == chunk) {
            UNROLL_FOR (int g = 0; g < M; ++g)
                x[g] = *(const U *)(at + (int64_t)(g * G + row) * a.row_bytes);
            UNROLL_FOR (int g = 0; g < M; ++g) changed_here(x[g]);
        } else { /* the last row once more, which neither a maximum nor `or` notices */
            const bool adds = op == add_reals || op == add_integers;
            UNROLL_FOR (int g = 0; g < M; ++g) {
                const int i = g * G + row < count ? g * G + row : count - 1;
                x[g] = *(const U *)(at + (int64_t)i * a.row_bytes);
            }
            UNROLL_FOR (int g = 0; g < M; ++g) changed_here(x[g]);
            UNROLL_FOR (int g = 0; g < M; ++g)
                x[g] = adds && g * G + row >= count ? identity() : x[g];
        }
        if (op == add_reals) {
            Real y[M];
            UNROLL_FOR (int g = 0; g < M; ++g) y[g] = real(x[g]);
            return bits(add_groups(real(sum), y));
        }
        U y = this->in(x[0]);
        UNROLL_FOR (int g = 1; g < M; ++g) y = combine_integers(y, this->in(x[g]));
        return combine_integers(sum, combine_lanes(*this, y));
    }

    /* r1, and 16 groups from left to right. */
    DEVICE Real add_groups(Real r1, Real (&y)[M]) const {
        UNROLL_FOR (int step = 0; step < 5; ++step) {
            const int d = 1 << step, m = M >> (step + 1); /* values that are given; at last all */
            const bool upper = lane & d;
            UNROLL_FOR (int g = 0; g < M; ++g) {
                if (g >= m && g > 0) continue;
                const Real give = m > 0 && !upper ? y[g + m] : y[g];
                const Real keep = m > 0 && upper ? y[g + m] : y[g];
                y[g] = add(keep, __shfl_xor_sync(warp_mask, give, d));
            }
        }
        UNROLL_FOR (int g = 0; g < M; ++g) /* the lane of a group has its bits in reverse */
            r1 = add(r1, __shfl_sync(warp_mask, y[0],
                                     (g & 1) << 3 | (g & 2) << 1 | (g & 4) >> 1 | g >> 3));
        return r1;
    }

    /* Of all lanes, where any order gives the same bits. */
    static DEVICE U combine_lanes(const op_of &o, U y) {
        ROLLED_FOR (int d = 1; d < 32; d *= 2)
            y = o.combine_integers(y, __shfl_xor_sync(warp_mask, y, d));
        return y;
    }

    /* In lane c the sum of column c of so many rows, B at most. */
    DEVICE U sum_piece(int64_t first, int count) const {
        const int columns = (int)a.matrix.lines;
        U sums = identity();
        const char *at = (const char *)a.matrix.in + first * a.row_bytes;
        ROLLED_FOR (; count > 0; count -= chunk, at += (int64_t)chunk * a.row_bytes)
            ROLLED_FOR (int c = 0; c < columns; ++c) {
                const char *const column = at + c * (int)sizeof(U);
                const int here = count < chunk ? count : chunk;
                U sum = __shfl_sync(warp_mask, sums, c);
                sum = add_chunk(sum, column, here);
                if (lane == c) sums = sum;
            }
        return sums;
    }

    /* ---- Aggregates -------------------------------------------------------------------------- */

    static __device__ __noinline__ void publish_sums(const long_groups_arguments &a, epoch_t epoch,
                                                     int64_t at, U sum) {
        const int64_t lane = threadIdx.x % 32;
        jitter(a.lookback, epoch, at, jitter_publish);
        if (lane < a.matrix.lines) publish<U>(a.lookback, epoch, at * a.matrix.lines + lane, sum);
    }
    DEVICE void put_aggregate(int64_t at, U sum) const { publish_sums(a, epoch, at, sum); }

    /* In lane c: aggregates first, first + 1, ... of column c behind sum, from left to right. */
    static __device__ __noinline__ U sum_published(const long_groups_arguments &a, epoch_t epoch,
                                                   U sums, int64_t first, int64_t count) {
        const op_of o = {a.op, a.transform};
        const segment_begins begin_of = {a.offsets, a.groups, a.matrix.length, a.wide, false};
        const int columns = (int)a.matrix.lines, lane = threadIdx.x % 32;
        bool ascend = true;
        ROLLED_FOR (int c = 0; c < columns; ++c) {
            U sum = __shfl_sync(warp_mask, sums, c);
            ROLLED_FOR (int64_t i = 0; i < count; i += 32) {
                U x = o.identity();
                if (i + lane < count)
                    x = wait_for_aggregate<U>(a.lookback, epoch, (first + i + lane) * columns + c,
                                              begin_of, x, &ascend);
                __syncwarp();
                if (a.op != add_reals) {
                    sum = o.combine_integers(sum, combine_lanes(o, x));
                    continue;
                }
                Real r = real(sum);
#pragma unroll 8
                for (int l = 0; l < 32; ++l) r = add(r, __shfl_sync(warp_mask, real(x), l));
                sum = bits(r);
            }
            if (lane == c) sums = sum;
        }
        return sums;
    }
    DEVICE U add_aggregates(U sums, int64_t first, int64_t count) const {
        return sum_published(a, epoch, sums, first, count);
    }

    /* ---- Groups ------------------------------------------------------------------------------ */

    DEVICE U initial() const {
        const vscan__matrix &m = a.matrix;
        if (m.has_initial == 0 || lane >= m.lines) return identity();
        if (m.has_initial == 1) return this->in(element_of<U>(m.initial));
        return this->in(((const U *)m.initial_at)[lane * m.initial_step]);
    }
    DEVICE void put_total(int64_t group, U total) const {
        if (lane < a.matrix.lines)
            ((U *)a.matrix.totals)[group * a.matrix.lines + lane] = this->out(total);
    }

    DEVICE int64_t tiles_of(int64_t begin) const {
        return a.tiles_at + begin / nested<Real>::tile;
    }
    DEVICE int64_t blocks_of(int64_t begin) const {
        return a.level_3_at + begin / VSCAN__LEVEL_3;
    }

    /* Pieces first .. last of a group. */
    DEVICE void add_pieces(int64_t group, int64_t begin, int64_t end, int64_t first, int64_t last) {
        const int64_t pieces = (end - begin + B - 1) / B;
        const bool whole = first == 0 && last == pieces - 1;
        /* what precedes a piece is known of its tile, of its block of level 3 */
        bool of_tile = first % blocks == 0, of_level_3 = first % ((int64_t)blocks * tiles) == 0;
        U r2 = identity(), r3 = identity(), r4 = initial();
        if (first > 0 && lane == 0) {
            before.group = group;
            before.begin = begin;
        }
        ROLLED_FOR (int64_t j = first; j <= last; ++j) {
            const int64_t at = begin + j * B, t = j / blocks;
            const U r1 = sum_piece(at, end - at < B ? (int)(end - at) : B);
            if (j == pieces - 1) {
                if (whole) {
                    put_total(group, combine(r4, combine(r3, combine(r2, r1))));
                } else {
                    before.of_last[lane] = r1;
                    if (lane == 0) before.last = j;
                }
                break;
            }
            if (!whole) put_aggregate(begin / B + j, r1);
            if (j % blocks != blocks - 1) {
                r2 = combine(r2, r1);
                continue;
            }
            if (of_tile) {
                r2 = combine(r2, r1);
                if (!whole) put_aggregate(tiles_of(begin) + t, r2);
                r3 = combine(r3, r2);
            } else {
                before.of_tile[lane] = r1;
                if (lane == 0) before.tile = t;
            }
            of_tile = true;
            r2 = identity();
            if (t % tiles != tiles - 1) continue;
            if (!of_level_3) {
                if (lane == 0) before.level_3 = t / tiles;
            } else if (!whole) {
                put_aggregate(blocks_of(begin) + t / tiles, r3);
            }
            of_level_3 = true;
            r4 = combine(r4, r3);
            r3 = identity();
        }
    }

    /* What ends in the run and began before it. */
    DEVICE void end_group() {
        const int64_t begin = before.begin, pieces_at = begin / B;
        if (before.tile >= 0) {
            const U r2 = add_aggregates(identity(), pieces_at + before.tile * blocks, blocks - 1);
            put_aggregate(tiles_of(begin) + before.tile, combine(r2, before.of_tile[lane]));
        }
        if (before.level_3 >= 0)
            put_aggregate(
                blocks_of(begin) + before.level_3,
                add_aggregates(identity(), tiles_of(begin) + before.level_3 * tiles, tiles));
        if (before.last < 0) return;
        const int64_t t = before.last / blocks, b = t / tiles;
        const U r4 = add_aggregates(initial(), blocks_of(begin), b);
        const U r3 = add_aggregates(identity(), tiles_of(begin) + b * tiles, t % tiles);
        const U r2 = add_aggregates(identity(), pieces_at + t * blocks, before.last % blocks);
        put_total(before.group, combine(r4, combine(r3, combine(r2, before.of_last[lane]))));
    }

    /* ---- Runs -------------------------------------------------------------------------------- */

    /* The number of a wrong offset among those that the run checks, or -1. */
    DEVICE int64_t check(int64_t run) const {
        const int64_t n = a.matrix.length, first = run * a.checked;
        int64_t wrong = -1;
        ROLLED_FOR (int64_t k = first + lane; k < first + a.checked && k < a.groups; k += 32) {
            const int64_t begin = begin_of(k), end = begin_of(k + 1);
            if (k == 0 && (begin < 0 || begin > n))
                wrong = 0;
            else if (wrong < 0 && (begin < 0 || end < begin || end > n))
                wrong = k + 1;
        }
        return wrong;
    }

    DEVICE void do_run(int64_t run) {
        const int64_t n = a.matrix.length, keys[2] = {run * a.items, (run + 1) * a.items};
        int64_t low[2] = {0, 0}, high[2] = {a.groups, a.groups};
        if (run == 0) high[0] = 0;
        if (run == a.runs - 1) low[1] = a.groups;
        lower_bounds<1>(group_places{begin_of}, a.groups, keys, a.guess, low, high);
        const int64_t from = low[0], to = low[1];
        /* pieces that begin behind the one, and up to the other, are the run's */
        const int64_t first_at = keys[0] - group_rows * from;
        const int64_t last_at = run == a.runs - 1 ? n : keys[1] - group_rows * to;
        if (to - from > a.items / group_rows + 1) return; /* offsets do not ascend */
        if (lane == 0) before.group = before.tile = before.level_3 = before.last = -1;
        int64_t next = from > 0 ? begin_of(from - 1) : 0;
        if (from == 0 && to > 0) next = begin_of(0);
        ROLLED_FOR (int64_t k = from > 0 ? from - 1 : 0; k < to; ++k) {
            const int64_t begin = next, end = begin_of(k + 1);
            next = end;
            if (begin < 0 || end < begin || end > n) continue;
            const int64_t pieces = (end - begin + B - 1) / B;
            int64_t first = 0, last = pieces - 1;
            if (k < from) first = first_at > begin ? (first_at - begin) / B + 1 : 1;
            if (k == to - 1) {
                const int64_t here = last_at > begin ? (last_at - begin) / B : 0;
                if (here < last) last = here;
            }
            if (last - first > a.items / B + 1) continue; /* offsets do not ascend */
            if (first <= last)
                add_pieces(k, begin, end, first, last);
            else if (pieces == 0 && k >= from)
                put_total(k, a.matrix.has_initial ? initial() : this->visible());
        }
        __syncwarp(); /* `before` */
        if (before.group >= 0) end_group();
        __syncwarp();
    }

    DEVICE void run_all() {
        const int64_t tickets = a.runs + (int64_t)gridDim.x * (long_groups_threads / 32);
        int64_t wrong = -1;
        ROLLED_FOR (;;) {
            ticket t = {0, 0};
            if (lane == 0) t = take_ticket(a.lookback);
            epoch = __shfl_sync(warp_mask, t.epoch, 0);
            t.index = __shfl_sync(warp_mask, t.index, 0);
            if (lane == 0) end_launch_after(a.lookback, t, tickets);
            if (t.index >= a.runs) break;
            const int64_t found = check(t.index);
            if (wrong < 0) wrong = found;
            do_run(t.index);
        }
        report(a.late, VSCAN_ERROR_OFFSETS, wrong);
    }
};

template <class Real>
__global__ void __launch_bounds__(long_groups_threads, long_groups_blocks<Real>)
    matrix_long_groups(const __grid_constant__ long_groups_arguments a) {
#ifdef VSCAN__TMA /* all others do without: there is little room for machine code */
    __shared__ typename long_groups_warp<Real>::open_group before[long_groups_threads / 32];
    grid_dependency_wait();
    long_groups_warp<Real> warp = {{a.op, a.transform},
                                   a,
                                   {a.offsets, a.groups, a.matrix.length, a.wide, false},
                                   before[threadIdx.x / 32],
                                   (int)(threadIdx.x % 32)};
    warp.run_all();
#endif
}

/* ---- Launch ---------------------------------------------------------------------------------- */

/* Whether the kernel is for them. */
static bool are_long_groups(const vscan__row_groups &work, int size) {
    const vscan__matrix &m = work.matrix;
    return !m.backward && work.groups > 0 && m.lines * size <= long_groups_bytes &&
           m.length / work.groups >= long_groups_rows && m.step < INT32_MAX / size;
}

/* Status words that it needs. */
static int64_t long_groups_words(const vscan__row_groups &work, int size) {
    const int64_t n = work.matrix.length;
    const int64_t tiles = n / (size == 8 ? VSCAN__TILE_DOUBLE : VSCAN__TILE_FLOAT);
    return (n / VSCAN__LEVEL_1 + tiles + n / VSCAN__LEVEL_3 + 3) * work.matrix.lines * (size / 4);
}

template <class Real>
static cudaError_t launch_long_groups(const vscan__launch *launch, const vscan__row_groups *work,
                                      any_op op, const pair_transform &transform) {
    constexpr int warps = long_groups_threads / 32;
    const int64_t n = work->matrix.length, entries = n + group_rows * work->groups;
    const int64_t resident = (int64_t)long_groups_blocks<Real> * launch->multiprocessors;
    long_groups_arguments a;
    a.matrix = work->matrix;
    a.offsets = work->offsets;
    a.groups = work->groups;
    a.items = entries / (resident * warps * long_groups_runs);
    if (a.items < long_groups_least) a.items = long_groups_least;
    if (a.items > long_groups_most) a.items = long_groups_most;
    a.runs = entries / a.items + 1;
    a.checked = work->groups / a.runs + 1;
    a.tiles_at = n / VSCAN__LEVEL_1 + 1;
    a.level_3_at = a.tiles_at + n / nested<Real>::tile + 1;
    a.lookback = lookback_of(launch);
    a.transform = transform;
    a.late = launch->late;
    a.guess = guess_search(work->groups, entries, 1);
    a.op = op;
    a.row_bytes = (int)(work->matrix.step * (int64_t)sizeof(Real));
    a.wide = work->offset_type == VSCAN_LONG;
    const int64_t blocks = (a.runs + warps - 1) / warps;
    return start(matrix_long_groups<Real>, blocks < resident ? blocks : resident,
                 long_groups_threads, 0, launch->stream, a, launch->may_overlap);
}

} /* namespace vscan */
