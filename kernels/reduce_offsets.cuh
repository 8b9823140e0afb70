/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Segmented reduction by offsets of segments that are not very short: one pass, one launch.
 *
 * A block owns one unit at a time, half a tile; a warp's share of it, a window, is 4 KiB, which it has
 * in registers as eight rows of 512 bytes. A lane adds its 16 bytes of each row; rows are then summed
 * over the lanes of a group (rows_over_lanes), after which every lane has the sum of one group. Nothing
 * so far depends on segments, whose offsets are looked for meanwhile.
 *
 * An offset belongs to the window that has the element before it (0: to the first), so a segment's
 * total is made where its last element is. The group that an offset lies in is read once more, for
 * the part before it and the part after it; whole groups between two offsets are there already.
 * Absent elements and groups are identities in the trees of lib/order.h, so what a segment is in a
 * window is one node of the tile's tree, and its last group, if that is not whole, a second value,
 * which is added when the tree is done.
 *
 * A segment that began in an earlier window of the unit is put together from what the warps have.
 * Of one that began before the unit, of which a unit has one at most that ends in it, the sums of
 * earlier units are needed, from the one on that has the segment's first element; these are published
 * as words (unit_words.cuh): the sum of a unit from its last offset on, or all of it. The warp that
 * found its end waits for them when it has asked for its window of the next unit, so words that are
 * waited for have mostly been there for long, and only the unit in which a segment ends waits at all.
 *
 * While a unit is summed, two warps look for the first offsets of the next one and of the one after
 * it, and one takes the ticket for that. Where each block has one unit only there are no tickets: unit
 * number and block number are the same, as in scan_short.cuh.
 *
 * Every offset is looked at by a window: the ranges that are found are joined, and where one is
 * negative that is reported. An offset outside its window is reported and not followed.
 *
 * One barrier a unit: sums of the windows, the next unit's offsets and the next ticket are known. What
 * it is about has two places, used in turn.
 */
#ifndef VSCAN_REDUCE_OFFSETS_CUH
#define VSCAN_REDUCE_OFFSETS_CUH

#include "reduce_lanes.cuh"
#include "reduce_segments_rows.cuh"

namespace vscan {

static constexpr int offsets_warps = 8, offsets_threads = 32 * offsets_warps;
#ifndef FORMS_RESIDENT
#define FORMS_RESIDENT 3
#endif
static constexpr int offsets_resident = FORMS_RESIDENT; /* blocks of a multiprocessor */

template <class Pair>
struct offsets_shape {
    using T = typename Pair::T;
    static constexpr int rows = 8, piece = 16 / (int)sizeof(T);
    static constexpr int window = rows * 32 * piece, items = offsets_warps * window;
    static constexpr int groups = window / VSCAN__GROUP; /* of a window */
    static constexpr int group_lanes = VSCAN__GROUP / piece;
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
    U sums[2][offsets_warps]; /* of windows, from their last offset on */
    int any[2][offsets_warps]; /* whether there is one */
    int64_t edges[2][2];       /* the first offset of the unit, and of the next one */
    ticket next[2];
    pending_segment<U> pending[offsets_warps]; /* each its warp's */
    U tiles[offsets_warps][32];                /* the same */
};

/* ---- Windows --------------------------------------------------------------------------------- */

/* Asks for the elements of a window; row r, lane l: elements (32 r + l) V, ... */
template <class Pair, int R, int V>
static __device__ __forceinline__ void
load_window(typename Pair::T (&raw)[R][V], const segments_arguments &a, int64_t first) {
    using T = typename Pair::T;
    const int lane = threadIdx.x % 32;
    const T *const from = (const T *)a.scan.in + first + lane * V;
    const int64_t left = a.scan.n - first;
    if (a.aligned && left >= R * 32 * V) {
#pragma unroll
        for (int r = 0; r < R; ++r) {
            const int4 quad = *(const int4 *)(from + r * 32 * V);
            memcpy(raw[r], &quad, 16);
        }
    } else {
#pragma unroll
        for (int r = 0; r < R; ++r)
#pragma unroll
            for (int j = 0; j < V; ++j) {
                raw[r][j] = Pair::out(Pair::identity);
                if ((r * 32 + lane) * V + j < left) raw[r][j] = from[r * 32 * V + j];
            }
    }
}

/* The sum of this lane's group. */
template <class Pair, int R, int V>
static __device__ __forceinline__ typename Pair::U sum_groups(const typename Pair::T (&raw)[R][V]) {
    using U = typename Pair::U;
    U rows[R];
#pragma unroll
    for (int r = 0; r < R; ++r) {
        U x[V];
#pragma unroll
        for (int j = 0; j < V; ++j) x[j] = Pair::in(raw[r][j]);
        rows[r] = sum_items<Pair>(x);
    }
    return rows_over_lanes<Pair, R, offsets_shape<Pair>::group_lanes>(rows, threadIdx.x % 32);
}

/* Which group of the window that is. */
template <class Pair>
static __device__ __forceinline__ int group_of_lane(int lane) {
    using shape = offsets_shape<Pair>;
    constexpr int of_row = 32 / shape::group_lanes;
    return lane % shape::rows * of_row + lane / shape::group_lanes;
}

/* The tree over the groups of a window, one a lane (of doubles, two lanes have the same). */
template <class Pair>
static __device__ __forceinline__ typename Pair::U over_groups(typename Pair::U x) {
    using shape = offsets_shape<Pair>;
    if constexpr (Pair::in_any_order && shape::groups == 32) {
        return over_lanes<Pair>::sum(x);
    } else {
#pragma unroll
        for (int d = shape::group_lanes; d < 32; d *= 2) x = across<Pair>(x, d);
#pragma unroll
        for (int d = 1; d < shape::rows; d *= 2) x = across<Pair>(x, d);
        return x;
    }
}

/* The tree over the windows of a unit, one a lane. */
template <class Pair>
static __device__ __forceinline__ typename Pair::U over_windows(typename Pair::U x) {
#pragma unroll
    for (int d = 1; d < offsets_warps; d *= 2) x = across<Pair>(x, d);
    return x;
}

/* ---- Segments that began before their unit --------------------------------------------------- */

template <class U>
static __device__ __forceinline__ U wait_for_unit(const segments_arguments &a, int64_t unit,
                                                  uint32_t tag) {
    U x;
    uint32_t none;
    while (!unit_word<U>::read(a.words, unit, tag, &x, &none)) {
    }
    return x;
}

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
            high = wait_for_unit<U>(a, 2 * tile + 1, tag);
            if (2 * tile >= from) low = wait_for_unit<U>(a, 2 * tile, tag);
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
    if (s.unit % 2 == 1) sum = Pair::combine(wait_for_unit<U>(a, s.unit - 1, tag), sum);
    __syncwarp();
    return Pair::combine(p, Pair::combine(sum, s.rest));
}

/* ---- Offsets --------------------------------------------------------------------------------- */

/* How many of the offsets from .. to - 1 are at most `key`, and from: by a warp. */
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

/* ---- Kernel ---------------------------------------------------------------------------------- */

template <class Pair>
__global__ void __launch_bounds__(offsets_threads, offsets_resident)
    reduce_offsets(const __grid_constant__ segments_arguments a) {
    using T = typename Pair::T;
    using U = typename Pair::U;
    using shape = offsets_shape<Pair>;
    constexpr int R = shape::rows, V = shape::piece;
    __shared__ offsets_shared<Pair> shared;

    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const vscan__scan &scan = a.scan;
    const int64_t n = scan.n, units = a.units;
    const bool turns = units > gridDim.x; /* blocks have several units, by ticket */
    const segments_offsets offsets = {scan.offsets, scan.totals_length + 1,
                                      scan.offset_type == VSCAN_LONG};
    T *const totals = (T *)scan.totals;
    const T *const in = (const T *)scan.in;
    const int group = group_of_lane<Pair>(lane);
    wait_for_kernel_before(false);

    U initial = Pair::identity;
    if (scan.has_initial == 1) {
        T z;
        memcpy(&z, &scan.initial, sizeof z);
        initial = Pair::in(z);
    }
    if (scan.has_initial == 2) initial = Pair::in(*(const T *)scan.initial_at);
    const T nothing = Pair::out(scan.has_initial ? initial : Pair::visible);

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
    /* by the last two warps: where a unit's offsets begin, and where they end */
    const auto look = [&](int64_t unit, int at) {
        const int64_t edge = unit + warp - (offsets_warps - 2);
        int64_t found = edge == 0 ? 0 : offsets.n;
        if (edge > 0 && edge < units)
            found = numbers_below<2>(offsets, offsets.n, edge * shape::items + 1, a.guess);
        if (lane == 0) shared.edges[at][warp - (offsets_warps - 2)] = found;
    };
    if (lane == 0) shared.pending[warp].segment = -1;
    int64_t unit = blockIdx.x;
    if (turns) {
        if (threadIdx.x == 0) take(0);
        __syncthreads();
        unit = shared.next[0].index;
    }
    if (unit >= units) return;
    uint32_t tag = 0;
    int64_t wrong = -1;
    bool begun = false;

    for (int parity = 0;; parity ^= 1) {
        const int64_t unit_first = unit * shape::items, first = unit_first + warp * shape::window;
        const int64_t end = first + shape::window < n ? first + shape::window : n;

        /* ---- Loads; what will be next -------------------------------------------------------- */
        T raw[R][V];
        load_window<Pair>(raw, a, first);
        if (!begun) {
            begun = true;
            if (threadIdx.x == 0) take(1);
            if (warp >= offsets_warps - 2) look(unit, 0);
            __syncthreads();
            tag = shared.next[1].tag;
        }
        const int64_t next = shared.next[parity ^ 1].index;
        if (next < units) {
            if (threadIdx.x == 32 * (offsets_warps - 3)) take(parity);
            if (warp >= offsets_warps - 2) look(next, parity ^ 1);
        } else {
            let_next_kernel_begin();
        }
        if (shared.pending[warp].segment >= 0) {
            test_delay(a.delay, tag, unit, 1);
            const U total = fold_pending<Pair>(a, shared.pending[warp], tag, shared.tiles[warp]);
            if (lane == 0) {
                totals[shared.pending[warp].segment] = Pair::out(total);
                shared.pending[warp].segment = -1;
            }
        }

        /* ---- The window's offsets ------------------------------------------------------------ */
        const int64_t from = shared.edges[parity][0], to = shared.edges[parity][1];
        int64_t lower = from, upper = to, base = from - 1; /* `there` has numbers base, ... */
        if (to < from) wrong = from;
        int64_t there = -1;
        if (base + lane >= 0 && base + lane < to) there = offsets[base + lane];
        if (to - from < 32) {
            const bool own = lane > 0 && base + lane < to;
            const unsigned earlier = __ballot_sync(segments_lanes, own && there <= first);
            const unsigned not_later =
                __ballot_sync(segments_lanes, own && there <= first + shape::window);
            if (warp > 0) lower = from + __popc(earlier);
            if (warp < offsets_warps - 1) upper = from + __popc(not_later);
        } else {
            if (warp > 0) lower = split_offsets(offsets, from, to, first);
            if (warp < offsets_warps - 1)
                upper = split_offsets(offsets, from, to, first + shape::window);
            base = lower - 1;
            there = -1;
            if (base + lane >= 0 && base + lane < to) there = offsets[base + lane];
        }
        if (upper < lower) wrong = lower;

        /* ---- Segments that end in the window -------------------------------------------------- */
        const U of_group = sum_groups<Pair>(raw);
        /* this lane's element of a group, if it is in the vector */
        const auto element = [&](int of) {
            const int64_t i = first + of * VSCAN__GROUP + lane;
            return of < shape::groups && i < n ? Pair::in(in[i]) : (U)Pair::identity;
        };
        /* the part of a group from element `begin` of the window on, where a segment begins */
        const auto head = [&](int begin, U x) {
            const int at = begin / VSCAN__GROUP * VSCAN__GROUP + lane;
            if (scan.has_initial && at == begin) x = Pair::combine(initial, x);
            return over_lanes<Pair>::sum(at >= begin ? x : (U)Pair::identity);
        };
        int64_t before = __shfl_sync(segments_lanes, there, (int)(lower - 1 - base) & 31);
        int begin = 0, head_group = -1; /* of the running segment, if it begins here */
        U head_sum = Pair::identity;
        bool any = false;
        int64_t open = -1, open_begin = 0; /* the one that ends here and began before */
        U open_node = Pair::identity, open_rest = Pair::identity;
        const auto node_upto = [&](int of) {
            U x = group == head_group ? head_sum : of_group;
            if (group < head_group || group >= of) x = Pair::identity;
            return over_groups<Pair>(x);
        };
        if (scan.has_initial && lower > 0 && before == first && first < n) {
            head_group = 0;
            head_sum = head(0, element(0));
        }
#pragma unroll 1
        for (int64_t k = lower; k < upper; ++k) {
            if (k - base >= 32) {
                base = k;
                there = base + lane < to ? offsets[base + lane] : -1;
            }
            const int64_t offset = __shfl_sync(segments_lanes, there, (int)(k - base));
            const bool good = offset >= first && offset <= end &&
                              (k == 0 || (before >= 0 && before <= offset));
            if (!good) wrong = k;
            const bool empty = k > 0 && before == offset;
            if (good && empty && lane == 0) totals[k - 1] = nothing;
            if (good && !empty) {
                const int stop = (int)(offset - first), last = stop / VSCAN__GROUP;
                const U x = element(last);
                if (k > 0) {
                    const int at = last * VSCAN__GROUP + lane;
                    U rest = at >= begin && at < stop ? x : (U)Pair::identity;
                    if (scan.has_initial && before >= first && at == begin && at < stop)
                        rest = Pair::combine(initial, rest);
                    rest = over_lanes<Pair>::sum(rest);
                    const U node = node_upto(last);
                    if (before < first) {
                        open = k - 1;
                        open_begin = before;
                        open_node = node;
                        open_rest = rest;
                    } else if (lane == 0) {
                        totals[k - 1] = Pair::out(Pair::combine(node, rest));
                    }
                }
                begin = stop;
                head_group = last;
                head_sum = head(stop, x);
                any = true;
            }
            before = offset;
        }
        const U suffix = node_upto(shape::groups);
        if (lane == 0) {
            shared.sums[parity][warp] = suffix;
            shared.any[parity][warp] = any;
        }
        __syncthreads();

        /* ---- The unit ------------------------------------------------------------------------ */
        const U of_window = lane < offsets_warps ? shared.sums[parity][lane] : (U)Pair::identity;
        const unsigned offsets_in =
            __ballot_sync(segments_lanes, lane < offsets_warps && shared.any[parity][lane]);
        if (warp == offsets_warps - 1 && units > 1) {
            const int latest = 31 - __clz((int)(offsets_in | 1));
            const U sum = over_windows<Pair>(lane >= latest ? of_window : (U)Pair::identity);
            if (lane == 0) {
                test_delay(a.delay, tag, unit, 0);
                unit_word<U>::publish(a.words, unit, tag, sum);
            }
        }
        if (open >= 0) {
            const unsigned earlier = offsets_in & ((1u << warp) - 1);
            const int since = 31 - __clz((int)(earlier | 1));
            U node = lane == warp ? open_node : of_window;
            if (lane < since || lane > warp) node = Pair::identity;
            node = over_windows<Pair>(node);
            if (earlier || open_begin >= unit_first) {
                if (lane == 0) totals[open] = Pair::out(Pair::combine(node, open_rest));
            } else if (lane == 0) {
                shared.pending[warp] = {node, open_rest, open, open_begin, unit};
            }
            __syncwarp();
        }
        if (next >= units) break;
        unit = next;
    }
    report(a.late, VSCAN_ERROR_OFFSETS, wrong);
    if (shared.pending[warp].segment >= 0) {
        test_delay(a.delay, tag, unit, 2);
        const U total = fold_pending<Pair>(a, shared.pending[warp], tag, shared.tiles[warp]);
        if (lane == 0) totals[shared.pending[warp].segment] = Pair::out(total);
    }
}

/* ---- Launching ------------------------------------------------------------------------------- */

/* Elements of a segment on average from which on this is faster than reduce_segments. Measured on an
   H200. */
#ifndef FORMS_FROM
#define FORMS_FROM 48
#endif
static constexpr int reduce_offsets_from = FORMS_FROM;

template <class Pair>
static cudaError_t launch_reduce_offsets(const vscan__launch *launch, segments_arguments &a) {
    const int64_t n = a.scan.n, items = offsets_shape<Pair>::items;
    a.units = n > 0 ? (n + items - 1) / items : 1;
    const int64_t resident = (int64_t)offsets_resident * launch->multiprocessors;
    return start(reduce_offsets<Pair>, a.units < resident ? a.units : resident, offsets_threads, 0,
                 launch->stream, a, launch->may_overlap);
}

} /* namespace vscan */

#endif
