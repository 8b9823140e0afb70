/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Running maxima and minima of every row or column, with positions.
 *
 * A *sequence* is what a look-back goes along: a column; or all rows, one after the other without their gaps, each of
 * which begins anew. A tile is `width` adjacent sequences, so many places of each: a sequence has `teams` teams in it,
 * one after the other, of so many lanes, which go through their places in rounds, one of a lane. Adjacent lanes have
 * adjacent places of a row, or adjacent columns and then, where these are few, adjacent places. So all accesses are
 * of adjacent elements, whatever the shape and the alignment are.
 *
 * A block reads a tile twice. First each team finds the best of its last row, or of its column: the tile's are published
 * (protocol/lookback.cuh), the best key and its place. Then, with what the block has read of earlier tiles, it writes all
 * results: the tile is in the L1 or L2 cache. Tiles are taken by ticket, those of a sequence in order. Where there are
 * sequences enough, a block has all tiles of its own and reads no others'.
 *
 * In a round, a lane's result is a *record* where its element is greater than all before it: lanes scan keys by
 * shuffles, and positions follow from the ballot of records. Mostly there is none, and nothing is scanned.
 *
 * In place, an element is read and written by the same thread, and by no other.
 */
#pragma once

#include "scan/extreme/lines.cuh"

namespace vscan {

static constexpr int scan_lines_threads = 512, scan_lines_blocks = 2; /* of a multiprocessor */
static constexpr int scan_lines_rounds = 32, scan_lines_unroll = 4;   /* rounds: at most; read together */
/* Places of a tile at most, and what stands for longer rows: places in a row are below the sum. */
static constexpr int scan_lines_places = scan_lines_threads * scan_lines_rounds;
static constexpr int scan_lines_far = 2 * scan_lines_places;
static_assert(scan_lines_places <= (int)head_count_mask + 1, "a place fits where others have heads");

template <class I>
struct scan_lines_arguments {
    vscan__extreme_lines work;
    any_extreme_order<I> order;
    lookback_memory lookback;
    int64_t sequences, places; /* and places of each */
    int64_t step, jump;        /* in memory: to the next place; and besides where a row begins */
    int64_t at_step, at_jump;  /* the same of positions */
    int64_t groups, tiles;     /* of sequences side by side; of each group */
    int32_t width, teams, lanes, rounds;
    int32_t row;      /* the length of a row, or scan_lines_far where it is longer */
    uint32_t inverse; /* 2^32 / row, rounded up */
    bool chained;     /* tiles are taken by ticket */
};

template <class I>
struct scan_lines_kernel {
    using in_tile = extreme_pair<I, int32_t>;
    using in_sequence = extreme_pair<I, int64_t>;
    static constexpr I lowest = any_extreme_order<I>::lowest;

    struct shared_memory {
        in_tile bests[scan_lines_threads];       /* of teams */
        in_sequence earlier[scan_lines_threads]; /* their shares of the look-back */
        epoch_t epoch;
        uint32_t taken;
    };

    const scan_lines_arguments<I> &a;
    shared_memory &shared;
    const vscan__extreme_lines &w = a.work;
    const int lane = threadIdx.x % 32;
    const int width = a.width, lanes = a.lanes;
    int team, t, x; /* t: the lane's number in its team; x: of the sequence in the group */
    bool there;
    uint32_t alike = 0; /* lanes of the same sequence up to this one */
    /* of a tile */
    int64_t first, base, at_base; /* its first place, where that is in memory, and its position */
    int64_t row_begins;           /* that place's row */
    int left, begun;              /* places; how many of its first row are before it */
    in_sequence earlier;          /* the best of those */

    DEVICE scan_lines_kernel(const scan_lines_arguments<I> &a, shared_memory &shared)
        : a(a), shared(shared) {
        const int unit = lanes > 1 ? 32 : width;
        team = (int)threadIdx.x / unit;
        const int rest = (int)threadIdx.x - team * unit;
        t = rest / width;
        x = rest - t * width;
        for (int l = x; lanes > 1 && l <= lane; l += width) alike |= 1u << l;
    }

    /* Of a place in the tile: rows that have begun since the tile's first place, and its place in its row, or if the row
       began before the tile something greater than its place in the tile. */
    DEVICE int rows_to(int place) const {
        return (int)((uint64_t)(uint32_t)(place + begun) * a.inverse >> 32);
    }
    DEVICE int in_row(int place) const { return place + begun - rows_to(place) * a.row; }
    DEVICE int64_t in_memory(int place, int rows) const {
        return base + place * a.step + rows * a.jump;
    }

    DEVICE void begin_tile(int64_t group, int64_t number) {
        const int64_t sequence = group * width + x, all = a.teams * lanes * a.rounds;
        there = team < a.teams && t < lanes && sequence < a.sequences;
        first = number * all;
        left = a.places - first < all ? (int)(a.places - first) : (int)all;
        const int64_t row = first / w.length, before = first - row * w.length;
        const int64_t matrix = a.sequences == 1 ? 0 : sequence / w.each;
        const int64_t line = a.sequences == 1 ? row : sequence - matrix * w.each;
        const int64_t in_line = w.backward ? w.length - 1 - before : before;
        base = matrix * w.apart + line * w.line_step + in_line * w.step;
        at_base = w.in_vector ? base : in_line;
        const int64_t to_next = w.length - before;
        begun = a.row - (to_next < scan_lines_places ? (int)to_next : scan_lines_places);
        row_begins = first - before;
        if (before == 0) earlier = {lowest, first};
    }

    /* Of the tile's last row, in all teams, and of the row that begins at a place of the tile, or before it, in the
       earlier teams. */
    DEVICE void over_teams(in_tile &all, in_tile &before, int begin) const {
        const int end = a.teams * lanes * a.rounds - 1, last = end - in_row(end);
        all = {lowest, last > 0 ? last : 0};
        before = {lowest, begin > 0 ? begin : 0};
        if (a.teams * lanes == 1) return;
        ROLLED_FOR (int k = 0; k < a.teams; ++k) {
            const in_tile other = shared.bests[k * width + x];
            if (other.at >= last) all.then(other.key, other.at);
            if (other.at >= begin && k < team) before.then(other.key, other.at);
        }
    }

    /* Of a team's last row. */
    DEVICE void count() {
        constexpr int loads = 2 * scan_lines_unroll;
        const int from = team * a.rounds * lanes, end = from + a.rounds * lanes - 1;
        const int rows = rows_to(end), begin = end - in_row(end);
        in_tile best = {lowest, from};
        ROLLED_FOR (int l = begin > from ? (begin - from) / lanes : 0; l < a.rounds; l += loads) {
            I value[loads];
            const int place = from + l * lanes + t;
            UNROLL_FOR (int k = 0; k < loads; ++k) {
                const int at = place + k * lanes;
                value[k] = a.order.nothing();
                if (there && at >= begin && at <= end && at < left)
                    value[k] = ((const I *)w.in)[in_memory(at, rows)];
            }
            UNROLL_FOR (int k = 0; k < loads; ++k) {
                const int at = place + k * lanes;
                if (at >= begin && at < left) best.then(a.order.key(value[k]), at);
            }
        }
        __syncwarp();
        over_lanes(best);
        if (t == lanes - 1) shared.bests[team * width + x] = best;
    }

    /* In a team's last lane the best of all its lanes. */
    template <class P>
    DEVICE void over_lanes(extreme_pair<I, P> &best) const {
        ROLLED_FOR (int d = 1; d < lanes; d *= 2) {
            const I y = __shfl_up_sync(warp_mask, best.key, d * width);
            const P y_at = __shfl_up_sync(warp_mask, best.at, d * width);
            if (t >= d) best.with(y, y_at);
        }
    }

    /* What tiles from .. tile - 1 have published, of the sequence whose first tile is `zero`. By all threads. */
    DEVICE void look_back(int64_t zero, int64_t from, int64_t tile) {
        if (from >= tile) return;
        constexpr int each = 4; /* read together */
        const int readers = a.teams * lanes;
        in_sequence best = {lowest, INT64_MAX};
        jitter(a.lookback, shared.epoch, tile * 16 + threadIdx.x / 32, jitter_wait);
        ROLLED_FOR (int64_t i = from + team * lanes + t; there && i < tile; i += each * readers) {
            I key[each];
            uint32_t place[each];
            bool ready;
            do {
                ready = true;
                UNROLL_FOR (int k = 0; k < each; ++k)
                    if (i + k * readers < tile)
                        ready &= try_read(a.lookback, shared.epoch, (i + k * readers) * width + x,
                                          &key[k], &place[k]);
            } while (!ready);
            UNROLL_FOR (int k = 0; k < each; ++k)
                if (i + k * readers < tile)
                    best.with(key[k], (i + k * readers - zero) * (readers * a.rounds) + place[k]);
        }
        __syncwarp();
        over_lanes(best);
        if (t == lanes - 1) shared.earlier[team * width + x] = best;
        __syncthreads();
        ROLLED_FOR (int k = 0; k < a.teams; ++k) {
            const in_sequence other = shared.earlier[k * width + x];
            earlier.with(other.key, other.at);
        }
    }

    /* One place of each lane. best: before the round and, after it, up to its end; running: up to the lane. */
    DEVICE in_tile do_round(in_tile &best, I key, int place, int in_row) const {
        if (lanes == 1) {
            if (key > best.key || in_row == 0) best = {key, place};
            return best;
        }
        const bool carried = in_row > t; /* the row began before the round */
        if (!__any_sync(warp_mask, key > best.key || !carried)) return best;
        const int reach = carried ? t : in_row; /* lanes of the row before this one */
        I upto = key;
        ROLLED_FOR (int d = 1; d < lanes; d *= 2) {
            const I y = __shfl_up_sync(warp_mask, upto, d * width);
            if (d <= reach && y > upto) upto = y;
        }
        I before = __shfl_up_sync(warp_mask, upto, width);
        if (reach == 0) before = lowest;
        if (carried && best.key > before) before = best.key;
        const bool record = in_row == 0 || key > before;
        const uint32_t records = __ballot_sync(warp_mask, record) & alike;
        const int at = __shfl_sync(warp_mask, place, records != 0 ? 31 - __clz((int)records) : 0);
        const in_tile running = {before > key ? before : key, records != 0 ? at : best.at};
        const int last = (lanes - 1) * width + x;
        best = {__shfl_sync(warp_mask, running.key, last), __shfl_sync(warp_mask, running.at, last)};
        return running;
    }

    DEVICE void store(in_tile running, int place, int64_t earlier_position) const {
        const int rows = rows_to(place);
        const int64_t i = in_memory(place, rows);
        const int64_t position =
            running.at < 0 ? earlier_position : at_base + running.at * a.at_step + rows * a.at_jump;
        if (w.out != nullptr) ((I *)w.out)[i] = a.order.element(running.key);
        if (w.position_type == VSCAN_INT)
            ((int32_t *)w.positions)[i] = (int32_t)position;
        else
            ((int64_t *)w.positions)[i] = position;
    }

    /* best: before the team; then up to its end. */
    DEVICE void write(in_tile &best) {
        constexpr int loads = scan_lines_unroll;
        const int from = team * a.rounds * lanes;
        const int64_t earlier_position = at_base + (earlier.at - first) * a.at_step;
        ROLLED_FOR (int l = 0; l < a.rounds && from + l * lanes < left; l += loads) {
            I value[loads];
            const int place = from + l * lanes + t;
            UNROLL_FOR (int k = 0; k < loads; ++k) {
                const int at = place + k * lanes;
                value[k] = a.order.nothing();
                if (there && at < left) value[k] = ((const I *)w.in)[in_memory(at, rows_to(at))];
            }
            UNROLL_FOR (int k = 0; k < loads; ++k) {
                const int at = place + k * lanes;
                const in_tile running = do_round(best, a.order.key(value[k]), at, in_row(at));
                if (there && at < left) store(running, at, earlier_position);
            }
        }
    }

    /* earlier: the best of the tiles before `seen`. */
    DEVICE void do_tile(int64_t tile, int64_t seen) {
        const int64_t group = tile / a.tiles, zero = group * a.tiles;
        begin_tile(group, tile - zero);
        const int readers = a.teams * lanes, from = team * a.rounds * lanes;
        in_tile all, best;
        const int begin = from - in_row(from);
        if (readers > 1) {
            count();
            __syncthreads();
        }
        over_teams(all, best, begin);
        if (a.chained) {
            jitter(a.lookback, shared.epoch, tile * 16 + threadIdx.x / 32, jitter_publish);
            if (there && team == a.teams - 1 && t == 0)
                publish<I>(a.lookback, shared.epoch, tile * width + x, all.key, (uint32_t)all.at);
            const int64_t begins = zero + row_begins / (readers * a.rounds);
            if (seen <= begins) earlier = {lowest, first};
            look_back(zero, seen > begins ? seen : begins, tile);
        }
        if (begin < 0 && earlier.key >= best.key) best = {earlier.key, -1};
        write(best);
        if (readers == 1) all = best;
        if (all.at >= 0 && all.key > earlier.key && !a.chained)
            earlier = {all.key, first + all.at};
        __syncthreads(); /* shared memory */
    }

    /* With tickets, tile after tile of all; without, the tiles of a group. */
    DEVICE void run() {
        int64_t tile = blockIdx.x * a.tiles, end = tile + a.tiles, seen = -1;
        if (a.chained) end = a.groups * a.tiles;
        for (;; ++tile) {
            if (a.chained) {
                if (threadIdx.x == 0) {
                    const ticket taken = take_ticket(a.lookback);
                    end_launch_after(a.lookback, taken, end + gridDim.x);
                    shared.taken = taken.index;
                    shared.epoch = taken.epoch;
                }
                __syncthreads();
                tile = shared.taken;
            }
            if (tile >= end) return;
            do_tile(tile, seen);
            seen = tile;
        }
    }
};

template <class I>
__global__ void __launch_bounds__(scan_lines_threads, scan_lines_blocks)
    scan_extreme_lines(const __grid_constant__ scan_lines_arguments<I> a) {
    __shared__ typename scan_lines_kernel<I>::shared_memory shared;
    grid_dependency_wait();
    scan_lines_kernel<I>(a, shared).run();
}

/* ---- Launch ---------------------------------------------------------------------------------- */

struct scan_lines_shape {
    int64_t sequences, places, groups, tiles;
    int width, teams, lanes, rounds;
    bool chained;
};

static scan_lines_shape scan_lines_shape_of(const vscan__launch *launch,
                                            const vscan__extreme_lines &work) {
    const int64_t resident = (int64_t)scan_lines_blocks * launch->multiprocessors;
    const bool columns = work.columns || work.length == 1;
    scan_lines_shape s = {};
    s.sequences = columns ? work.lines : 1;
    s.places = columns ? work.length : work.lines * work.length;
    s.lanes = 1;
    if (s.sequences <= 16) {
        s.width = (int)s.sequences;
        s.lanes = 32 / s.width;
        s.teams = scan_lines_threads / 32;
    } else {
        int64_t width = 32; /* about so many, without a group that is nearly empty */
        while (width < scan_lines_threads && s.sequences >= 2 * width * resident) width *= 2;
        const int64_t groups = (s.sequences + width / 2) / width;
        if (width < scan_lines_threads) width = (s.sequences - 1) / groups + 1;
        s.width = (int)width;
        s.teams = scan_lines_threads / s.width;
    }
    s.groups = (s.sequences - 1) / s.width + 1;
    const int64_t of_round = (int64_t)s.teams * s.lanes;
    s.rounds = scan_lines_rounds;
    while (s.rounds > scan_lines_unroll &&
           s.groups * (s.places / (of_round * s.rounds)) < 2 * resident)
        s.rounds /= 2;
    s.tiles = (s.places - 1) / (of_round * s.rounds) + 1;
    s.chained = s.tiles > 1 && s.groups < resident && of_round > 1;
    return s;
}

/* Of status words. */
static int64_t scan_lines_words(const vscan__launch *launch, const vscan__extreme_lines &work) {
    const scan_lines_shape s = scan_lines_shape_of(launch, work);
    return s.chained ? s.groups * s.tiles * s.width * (map_size(work.type) / 4) : 0;
}

template <class I>
static cudaError_t launch_scan_lines(const vscan__launch *launch,
                                     const vscan__extreme_lines *work) {
    const scan_lines_shape s = scan_lines_shape_of(launch, *work);
    const int64_t all = s.groups * s.tiles, length = work->length;
    const int64_t resident = (int64_t)scan_lines_blocks * launch->multiprocessors;
    if (all > INT32_MAX - resident) return cudaErrorInvalidConfiguration;
    scan_lines_arguments<I> a = {};
    a.work = *work;
    a.order = any_extreme_order<I>::of(*work);
    a.lookback = lookback_of(launch);
    a.sequences = s.sequences;
    a.places = s.places;
    a.step = work->backward ? -work->step : work->step;
    a.jump = work->line_step - length * a.step;
    a.at_step = work->in_vector ? a.step : work->backward ? -1 : 1;
    a.at_jump = work->in_vector ? a.jump : -length * a.at_step;
    a.groups = s.groups;
    a.tiles = s.tiles;
    a.width = s.width;
    a.teams = s.teams;
    a.lanes = s.lanes;
    a.rounds = s.rounds;
    a.row = length < scan_lines_far ? (int32_t)length : scan_lines_far;
    a.inverse = (uint32_t)((UINT64_C(1) << 32) / (uint64_t)a.row + 1);
    a.chained = s.chained;
    const int64_t blocks = !s.chained || all < resident ? (s.chained ? all : s.groups) : resident;
    return start(scan_extreme_lines<I>, blocks, scan_lines_threads, 0, launch->stream, a,
                 launch->may_overlap);
}

} /* namespace vscan */
