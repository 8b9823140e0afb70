/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Segmented reduction by offsets of segments that are not very short: one pass, one launch.
 *
 * A block owns one unit at a time, half a tile, by ticket; each of its eight workers, warps, has a
 * window of it, 4 KiB, that is brought to shared memory while the window before it is summed. A lane
 * sums a row of 128 bytes; nothing so far depends on segments, whose offsets two more warps, scouts,
 * look for meanwhile.
 *
 * An offset belongs to the window that has the element before it (0: to the first), so a segment's
 * total is made where its last element is. The group that an offset lies in is read once more, for
 * the part before it and the part after it; whole groups between two offsets are there already.
 * Absent elements and groups are identities in the trees of lib/order.h, so what a segment is in a
 * window is one node of the tile's tree, and its last group, if that is not whole, a second value,
 * which is added when the tree is done.
 *
 * A segment that began in an earlier window of the unit is put together from what the workers have.
 * Of one that began before the unit, of which a unit has one at most that ends in it, the sums of
 * earlier units are needed, from the one on that has the segment's first element; these are published
 * as words (unit_words.cuh): the sum of a unit from its last offset on, or all of it. The worker that
 * found its end waits for them when it has asked for its window of the next unit, so words that are
 * waited for have mostly been there for long, and only the unit in which a segment ends waits at all.
 *
 * Where each block has one unit only there are no tickets: unit number and block number are the same,
 * as in scan_short.cuh.
 *
 * Every offset is looked at by a worker: the ranges that are found are joined, and where one is
 * negative that is reported. An offset outside its window is reported and not followed.
 *
 * One barrier a unit: sums of the windows, where the next unit's offsets are, the next ticket. All
 * that it is about has two places, used in turn.
 */
#ifndef VSCAN_REDUCE_OFFSETS_CUH
#define VSCAN_REDUCE_OFFSETS_CUH

#include "reduce_lanes.cuh"
#include "reduce_segments_rows.cuh"

namespace vscan {

static constexpr int offsets_workers = 8, offsets_scouts = 2;
static constexpr int offsets_threads = 32 * (offsets_workers + offsets_scouts);
static constexpr int offsets_resident = 3; /* blocks of a multiprocessor */

template <class Pair>
struct offsets_shape {
    using T = typename Pair::T;
    static constexpr int row = 128 / (int)sizeof(T), window = 32 * row;
    static constexpr int items = offsets_workers * window; /* of a unit */
    static constexpr int groups = window / VSCAN__GROUP, group_rows = VSCAN__GROUP / row;
    static constexpr int tile = sizeof(T) == 8 ? VSCAN__TILE_DOUBLE : VSCAN__TILE_FLOAT;
    static_assert(tile == 2 * items, "a unit is half a tile");
};

/* A segment that ends in a unit and began before it. */
template <class U>
struct pending_segment {
    U node, rest;    /* the node of its unit, the last group */
    int64_t segment; /* -1: none */
    int64_t begin;   /* its first element */
    int64_t unit;
};

template <class Pair>
struct offsets_shared {
    using U = typename Pair::U;
    U sums[2][offsets_workers];       /* of windows, from their last offset on */
    int any[2][offsets_workers];      /* whether there is one */
    int64_t edges[2][offsets_scouts]; /* the first offset of the unit, and after it */
    ticket next[2];
    pending_segment<U> pending[offsets_workers]; /* each its worker's */
    U tiles[offsets_workers][32];                /* the same */
};

/* ---- Segments that began before their unit --------------------------------------------------- */

/* The total of one, by a warp; tiles: of the warp. */
template <class Pair>
static __device__ __forceinline__ typename Pair::U
fold_pending(const segments_arguments &a, const pending_segment<typename Pair::U> &s, uint32_t tag,
             typename Pair::U *tiles) {
    using U = typename Pair::U;
    using shape = offsets_shape<Pair>;
    const int lane = threadIdx.x % 32;
    const int64_t own = s.unit / 2, from = s.begin / shape::items;
    U p = Pair::identity, sum = s.node;
    for (int64_t first = from / 2; first < own; first += 32) {
        const int64_t tile = first + lane;
        U low = Pair::identity, high = Pair::identity;
        if (tile < own) {
            high = wait_for_word<U>(a.words, 2 * tile + 1, tag);
            if (2 * tile >= from) low = wait_for_word<U>(a.words, 2 * tile, tag);
        }
        __syncwarp();
        const U of_tile = Pair::combine(low, high);
        if constexpr (Pair::in_any_order) {
            p = Pair::combine(p, over_lanes<Pair>::sum(of_tile));
        } else {
            tiles[lane] = of_tile;
            __syncwarp();
            const int count = own - first < 32 ? (int)(own - first) : 32;
#pragma unroll 8
            for (int t = 0; t < count; ++t) p = Pair::combine(p, tiles[t]);
            __syncwarp();
        }
    }
    if (s.unit % 2 == 1) sum = Pair::combine(wait_for_word<U>(a.words, s.unit - 1, tag), sum);
    __syncwarp();
    return Pair::combine(p, Pair::combine(sum, s.rest));
}

/* ---- Offsets --------------------------------------------------------------------------------- */

/* The first of the offsets from .. to - 1 that is more than key, if they ascend: by a warp. */
static __device__ __forceinline__ int64_t split_offsets(const segments_offsets &offsets,
                                                        int64_t from, int64_t to, int64_t key) {
    int64_t low = from, high = to;
#pragma unroll 1
    while (low < high) { /* 32 at a time */
        const int64_t step = (high - low + 32) / 33;
        const int64_t i = low + ((int)(threadIdx.x % 32) + 1) * step - 1;
        const bool upto = i < high && offsets[i] <= key;
        const int count = __popc(__ballot_sync(segments_lanes, upto));
        const int64_t begin = low;
        low = begin + count * step;
        if (count < 32 && begin + (count + 1) * step - 1 < high)
            high = begin + (count + 1) * step - 1;
    }
    return low;
}

/* ---- A window -------------------------------------------------------------------------------- */

/* What of a window is in the segment that ends in it first, if that began before it. */
template <class U>
struct open_segment {
    U node, rest;
    int64_t segment; /* -1: none */
    int64_t begin;
};

/* The trees over the lanes of three values, in all lanes. */
template <class Pair>
static __device__ __forceinline__ void sum_three(typename Pair::U &x, typename Pair::U &y,
                                                 typename Pair::U &z) {
    using U = typename Pair::U;
    if constexpr (Pair::in_any_order && sizeof(U) == 4) {
        x = over_lanes<Pair>::sum(x);
        y = over_lanes<Pair>::sum(y);
        z = over_lanes<Pair>::sum(z);
    } else {
        U all[4] = {x, y, z, Pair::identity};
        const U sum = rows_over_lanes<Pair, 4, 32>(all, threadIdx.x % 32);
        x = __shfl_sync(segments_lanes, sum, 0);
        y = __shfl_sync(segments_lanes, sum, 1);
        z = __shfl_sync(segments_lanes, sum, 2);
    }
}

/*
 * The segments that end in a window, whose first element is `first` and whose offsets are lower ..
 * upper - 1: writes the totals of those that began here. Returns the sum from the last offset on.
 */
template <class Pair>
static __device__ __forceinline__ typename Pair::U
sum_window(const segments_arguments &a, const segments_offsets &offsets, typename Pair::T *share,
           int64_t first, int64_t lower, int64_t upper, typename Pair::U initial,
           open_segment<typename Pair::U> &open, int64_t &wrong, bool &any) {
    using T = typename Pair::T;
    using U = typename Pair::U;
    using shape = offsets_shape<Pair>;
    constexpr int V = 16 / (int)sizeof(T), G = VSCAN__GROUP;
    const int lane = threadIdx.x % 32, group = lane / shape::group_rows;
    const bool first_row = lane % shape::group_rows == 0;
    const bool has_initial = a.scan.has_initial != 0;
    T *const totals = (T *)a.scan.totals;
    const int64_t end = first + shape::window < a.scan.n ? first + shape::window : a.scan.n;

    U of_row;
    {
        U x[shape::row];
#pragma unroll
        for (int c = 0; c < shape::row / V; ++c) {
            T raw[V];
            const int4 quad = *(const int4 *)segments_at(share, lane * shape::row + c * V);
            memcpy(raw, &quad, 16);
#pragma unroll
            for (int j = 0; j < V; ++j) x[c * V + j] = Pair::in(raw[j]);
        }
        of_row = sum_items<Pair>(x);
    }

    /* the running segment: whether it began here, and if so where, and its part of that group */
    const int64_t before = lower > 0 ? offsets[lower - 1] : -1;
    bool here = before == first;
    int begin = 0, head_group = -1;
    U head = Pair::identity;
    if (here && has_initial) {
        U x = Pair::in(*segments_at(share, lane));
        if (lane == 0) x = Pair::combine(initial, x);
        head = over_lanes<Pair>::sum(x);
        head_group = 0;
    }
    /* of whole groups, and the one it began in, those before group `of`, a row a lane */
    const auto groups_before = [&](int of) {
        U x = group == head_group ? first_row ? head : (U)Pair::identity : of_row;
        return group >= head_group && group < of ? x : (U)Pair::identity;
    };

    any = false;
#pragma unroll 1
    for (int64_t k0 = lower; k0 < upper; k0 += 32) {
        const int64_t k = k0 + lane;
        int64_t offset = 0, previous = -1;
        if (k < upper) {
            offset = offsets[k];
            if (k > 0) previous = offsets[k - 1];
        }
        const bool good = k < upper && offset >= first && offset <= end &&
                          (k == 0 || (previous >= 0 && previous <= offset));
        const bool empty = good && previous == offset;
        if (k < upper && !good) wrong = k;
        if (empty) totals[k - 1] = Pair::out(has_initial ? initial : (U)Pair::visible);
        const int stops = (int)(offset - first);
        uint32_t left = __ballot_sync(segments_lanes, good && !empty), written = 0;
        U total = Pair::identity;
        any |= left != 0;
#pragma unroll 1
        for (; left != 0; left &= left - 1) {
            const int i = __ffs((int)left) - 1;
            const int stop = __shfl_sync(segments_lanes, stops, i);
            const int last = (int)((unsigned)stop / G), in_last = (int)((unsigned)stop % G);
            const int from = begin - last * G;
            U x = Pair::identity;
            if (last < shape::groups) x = Pair::in(*segments_at(share, last * G + lane));
            U rest = x, next_head = x;
            if (has_initial) {
                if (here && lane == from) rest = Pair::combine(initial, x);
                if (lane == in_last) next_head = Pair::combine(initial, x);
            }
            if (lane < from || lane >= in_last) rest = Pair::identity;
            if (lane < in_last) next_head = Pair::identity;
            U node = groups_before(last);
            sum_three<Pair>(rest, next_head, node);
            if (here) {
                if (lane == i) total = Pair::combine(node, rest);
                written |= 1u << i;
            } else if (k0 + i > 0) {
                open = {node, rest, k0 + i - 1, __shfl_sync(segments_lanes, previous, i)};
            }
            here = true;
            begin = stop;
            head_group = last;
            head = next_head;
        }
        if (written >> lane & 1) totals[k - 1] = Pair::out(total);
    }
    return over_lanes<Pair>::sum(groups_before(shape::groups));
}

/* ---- Kernel ---------------------------------------------------------------------------------- */

/* The tree over the windows of a unit, one a lane. */
template <class Pair>
static __device__ __forceinline__ typename Pair::U over_windows(typename Pair::U x) {
#pragma unroll
    for (int d = 1; d < offsets_workers; d *= 2) x = across<Pair>(x, d);
    return x;
}

template <class Pair>
__global__ void __launch_bounds__(offsets_threads, offsets_resident)
    reduce_offsets(const __grid_constant__ segments_arguments a) {
#ifdef VSCAN__BULK
    using T = typename Pair::T;
    using U = typename Pair::U;
    using shape = offsets_shape<Pair>;
    T *const slots = (T *)dynamic_shared();
    offsets_shared<Pair> &shared =
        *(offsets_shared<Pair> *)(dynamic_shared() + 2 * offsets_workers * segments_share);

    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const bool worker = warp < offsets_workers;
    const vscan__scan &scan = a.scan;
    const int64_t units = a.units;
    const bool turns = units > gridDim.x; /* blocks have several units, by ticket */
    const segments_offsets offsets = {scan.offsets, scan.totals_length + 1,
                                      scan.offset_type == VSCAN_LONG};
    T *const totals = (T *)scan.totals;
    wait_for_kernel_before(false);

    U initial = Pair::identity;
    if (scan.has_initial == 1) {
        T z;
        memcpy(&z, &scan.initial, sizeof z);
        initial = Pair::in(z);
    }
    if (scan.has_initial == 2) initial = Pair::in(*(const T *)scan.initial_at);

    const auto slot = [&](int at) { return slots + (at * offsets_workers + warp) * shape::window; };
    const auto take = [&](int at) {
        ticket t = {0, (uint32_t)units};
        if (units > 1) {
            t = take_ticket(a.header);
            const int64_t all = turns ? units + gridDim.x : gridDim.x;
            if (t.index == all - 1)
                end_tickets(a.header, a.words, a.capacity, units * unit_word<U>::words);
            if (!turns) t.index = (uint32_t)units;
        }
        shared.next[at] = t;
    };
    /* by the scouts: where a unit's offsets begin, and where they end */
    const auto look = [&](int64_t unit, int at) {
        const int64_t edge = unit + warp - offsets_workers;
        int64_t found = edge == 0 ? 0 : offsets.n;
        if (edge > 0 && edge < units)
            found = numbers_below<4>(offsets, offsets.n, edge * shape::items + 1, a.guess);
        if (lane == 0) shared.edges[at][warp - offsets_workers] = found;
    };

    int64_t unit = blockIdx.x, next = 0;
    uint32_t tag = 0;
    if (turns) {
        if (threadIdx.x == 32 * offsets_workers) take(0);
        __syncthreads();
        unit = shared.next[0].index;
        if (unit >= units) return;
    }
    if (worker) {
        if (lane == 0) shared.pending[warp].segment = -1;
        load_share<Pair>(a, slot(0), unit * shape::items + warp * shape::window);
        end_of_pieces();
    }
    int64_t wrong = -1;
    int parity = 0;
    /* the first turn only looks for the first unit's offsets, and takes a ticket */
#pragma unroll 1
    for (bool begun = false;; begun = true) {
        const int64_t of = begun ? next : unit; /* what the scouts look for */
        const int ahead = begun ? parity ^ 1 : 0;
        open_segment<U> open = {Pair::identity, Pair::identity, -1, 0};
        if (!worker) {
            if (of < units) {
                if (threadIdx.x == 32 * offsets_workers) take(ahead ^ 1);
                look(of, ahead);
            }
        } else if (begun) {

            /* ---- The next window is asked for, what is pending becomes a total ---------------- */
            if (next < units)
                load_share<Pair>(a, slot(ahead), next * shape::items + warp * shape::window);
            end_of_pieces();
            if (shared.pending[warp].segment >= 0) {
                test_delay(a.delay, tag, unit, 1);
                const U total =
                    fold_pending<Pair>(a, shared.pending[warp], tag, shared.tiles[warp]);
                if (lane == 0) {
                    totals[shared.pending[warp].segment] = Pair::out(total);
                    shared.pending[warp].segment = -1;
                }
                __syncwarp();
            }
            if (unit >= units) break;

            /* ---- The window ------------------------------------------------------------------ */
            const int64_t first = unit * shape::items + warp * shape::window;
            const int64_t from = shared.edges[parity][0], to = shared.edges[parity][1];
            int64_t lower = from, upper = to;
            if (to - from <= 32) {
                int64_t there = INT64_MAX;
                if (lane < to - from) there = offsets[from + lane];
                const unsigned earlier = __ballot_sync(segments_lanes, there <= first);
                const unsigned not_later =
                    __ballot_sync(segments_lanes, there <= first + shape::window);
                if (warp > 0) lower = from + __popc(earlier);
                if (warp < offsets_workers - 1) upper = from + __popc(not_later);
            } else {
#pragma unroll 1
                for (int edge = warp == 0; edge < 2 - (warp == offsets_workers - 1); ++edge)
                    (edge ? upper : lower) =
                        split_offsets(offsets, from, to, first + edge * shape::window);
            }
            if (to < from || upper < lower) wrong = from;
            wait_for_pieces(1);
            __syncwarp();
            bool any;
            const U suffix = sum_window<Pair>(a, offsets, slot(parity), first, lower, upper,
                                              initial, open, wrong, any);
            if (lane == 0) {
                shared.sums[parity][warp] = suffix;
                shared.any[parity][warp] = any;
            }
        }
        if (unit >= units) break;
        __syncthreads();

        /* ---- The unit ------------------------------------------------------------------------ */
        if (begun) {
            U of_window = Pair::identity;
            bool any = false;
            if (lane < offsets_workers) {
                of_window = shared.sums[parity][lane];
                any = shared.any[parity][lane];
            }
            const unsigned with_offsets = __ballot_sync(segments_lanes, any);
            if (warp == offsets_workers && units > 1) {
                const int latest = 31 - __clz((int)(with_offsets | 1));
                const U sum = over_windows<Pair>(lane >= latest ? of_window : (U)Pair::identity);
                if (lane == 0) {
                    test_delay(a.delay, tag, unit, 0);
                    unit_word<U>::publish(a.words, unit, tag, sum);
                }
            }
            if (open.segment >= 0) {
                const unsigned earlier = with_offsets & ((1u << warp) - 1);
                const int since = 31 - __clz((int)(earlier | 1));
                U node = lane == warp ? open.node : of_window;
                if (lane < since || lane > warp) node = Pair::identity;
                node = over_windows<Pair>(node);
                if (earlier || open.begin >= unit * shape::items) {
                    if (lane == 0) totals[open.segment] = Pair::out(Pair::combine(node, open.rest));
                } else if (lane == 0) {
                    shared.pending[warp] = {node, open.rest, open.segment, open.begin, unit};
                }
                __syncwarp();
            }
            unit = next;
            parity ^= 1;
        } else {
            tag = shared.next[1].tag;
        }
        next = unit < units ? shared.next[ahead ^ 1].index : units;
        if (next >= units) let_next_kernel_begin();
    }
    report(a.late, VSCAN_ERROR_OFFSETS, wrong);
#endif
}

/* ---- Launching ------------------------------------------------------------------------------- */

/*
 * Whether this is faster than reduce_segments, by the segments' length on average: measured on an H200.
 * The tiles of a segment of nearly all the vector are folded by one warp in the end (of 2^28 floats in
 * 290 us), which reduce_segments does while it runs.
 */
template <class Pair>
static bool suits_reduce_offsets(const vscan__launch *launch, const vscan__scan *scan) {
    const int64_t each = scan->n / (scan->totals_length + 1);
    return launch->shared_memory > 0 && scan->offsets != nullptr &&
           each >= (Pair::in_any_order ? 96 : 128) && each < 1 << 17;
}

template <class Pair>
static cudaError_t launch_reduce_offsets(vscan__launch *launch, segments_arguments &a, int pair) {
    const int64_t n = a.scan.n, items = offsets_shape<Pair>::items;
    const int bytes = 2 * offsets_workers * segments_share + (int)sizeof(offsets_shared<Pair>);
    const unsigned ready = 1u << (16 + pair); /* there are 15 pairs */
    if (!(launch->segments_ready & ready)) {
        const cudaError_t error = cudaFuncSetAttribute(
            reduce_offsets<Pair>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
        if (error != cudaSuccess) return error;
        launch->segments_ready |= ready;
    }
    a.units = n > 0 ? (n + items - 1) / items : 1;
    a.guess.step = 1 + (int64_t)(sqrt((double)(a.scan.totals_length + 1)) / 50);
    const int64_t resident = (int64_t)offsets_resident * launch->multiprocessors;
    return start(reduce_offsets<Pair>, a.units < resident ? a.units : resident, offsets_threads,
                 bytes, launch->stream, a, launch->may_overlap);
}

} /* namespace vscan */

#endif
