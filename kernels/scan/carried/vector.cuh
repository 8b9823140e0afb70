/* SPDX-License-Identifier: Apache-2.0 */
/* What scan/carried/carried.cuh reads and writes: the virtual vector with its stand-in, segments that go
   on, and what the carry becomes. */
#pragma once

#include "core/carry.h"
#include "order/level_1.cuh"
#include "scan/partition.cuh"

namespace vscan {

/* In the workspace's header, for one call of scan/carried/carried.cuh: what the carry becomes, and how many
   segments there are after the launches that have ended and after the running one. */
struct carried_memory {
    vscan__carry_state next;
    int64_t segments_so_far, next_segments;
};
static_assert(sizeof(carried_memory) <= sizeof(vscan__workspace_header::heads), "room for it");

static DEVICE carried_memory &carried_memory_of(const lookback_memory &memory) {
    return *(carried_memory *)memory.header->heads;
}

/* Into shared memory, aligned to 16 bytes. By so many threads, of which this is one; the copy is there
   when each of them has waited for it. */
static_assert(sizeof(vscan__carry) % 16 == 0, "by 16 bytes");
static DEVICE void copy_carry(vscan__carry &to, const vscan__carry *from, int thread, int threads) {
    for (int k = thread; k < (int)sizeof to / 16; k += threads)
        async_copy((int4 *)&to + k, (const int4 *)from + k);
}

/* The state that a carry has, and the one that it gets. */
static DEVICE const vscan__carry_state &present(const vscan__carry &carry) {
    return carry.states[carry.present & 1];
}
static DEVICE vscan__carry_state &next_state(vscan__carry *carry, const vscan__carry &old) {
    return carry->states[~old.present & 1];
}

/* The new state is the present one. Once a launch, by one thread, when all blocks have read the old one. */
static DEVICE void replace_state(vscan__carry *carry, const vscan__carry &old) {
    carry->present = ~old.present & 1;
}

/* An element as a carry holds it. */
template <class T>
static DEVICE uint64_t word_of(T x) {
    uint64_t word = 0;
    memcpy(&word, &x, sizeof x);
    return word;
}

/* ---- The virtual vector ---------------------------------------------------------------------- */

/* The old carry in shared memory, and the element that is nothing. */
template <class T>
struct carry_before {
    alignas(16) vscan__carry carry;
    T nothing;

    /* Element v < skew of the stand-in. One load, without branches: it is compiled for each element
       of a lane. */
    DEVICE T stand_in(int skew, int v) const {
        const vscan__carry_state &state = present(carry);
        const int group = skew / VSCAN__GROUP * VSCAN__GROUP;
        const void *at = &nothing;
        if (v == 0) at = &state.r2;
        if (v == skew / VSCAN__LEVEL_1 * VSCAN__LEVEL_1) at = &state.r1;
        if (v >= group) at = &state.group[v - group];
        return *(const T *)at;
    }
};

/* Of a partition: its place in the virtual vector, and which of its elements there are: the call's
   are from .. to - 1, and before them is the stand-in. */
template <class Pair, class Index>
struct carried_partition {
    using T = typename Pair::T;
    Index first;
    int from, to, skew;

    /* left: what the virtual vector has from there on; items: of a partition. */
    static DEVICE carried_partition at(Index first, int skew, Index left, int items) {
        return {first, first < skew ? (int)(skew - first) : 0, left < items ? (int)left : items,
                skew};
    }

    /* Whether the call has all of so many elements. */
    DEVICE bool has_all(int begin, int items) const { return begin >= from && begin + items <= to; }
    /*
     * A lane's vectors from `at` on, 32 V elements apart, but for those of the stand-in: in a vector that begins
     * (backward: ends) with the partition, as lane_items has them. whole: the call has all of them; aligned: by
     * 16 bytes.
     */
    template <int V, int N>
    DEVICE void load(lane_items<Pair, V> (&items)[N], const T *vector, int at, bool backward,
                     bool aligned, bool whole, const pair_transform &transform) const {
        if (aligned && whole) {
            UNROLL_FOR (int r = 0; r < N; ++r)
                items[r].load_whole(vector, at + r * 32 * V, 0, backward);
            return;
        }
        UNROLL_FOR (int r = 0; r < N; ++r)
            load_each(items[r], vector, at + r * 32 * V, backward, whole, transform);
    }
    template <int V>
    DEVICE void load_each(lane_items<Pair, V> &items, const T *vector, int at, bool backward,
                          bool whole, const pair_transform &transform) const {
        const T *const in = backward ? vector - V - at : vector + at;
        if (whole) {
            UNROLL_FOR (int j = 0; j < V; ++j) items.raw[j] = in[j];
            return;
        }
        UNROLL_FOR (int j = 0; j < V; ++j) {
            const int k = at + (backward ? V - 1 - j : j);
            items.raw[j] = Pair::out(Pair::identity, transform);
            if (k >= from && k < to) items.raw[j] = in[j];
        }
    }
    /* Those of the stand-in. Apart from loading, which need not wait for the carry. */
    template <int V, int N>
    DEVICE void stand_in(lane_items<Pair, V> (&items)[N], int at, bool backward,
                         const carry_before<T> &old) const {
        UNROLL_FOR (int r = 0; r < N; ++r)
            UNROLL_FOR (int j = 0; j < V; ++j) {
                const int k = at + r * 32 * V + (backward ? V - 1 - j : j);
                if (k < from) items[r].raw[j] = old.stand_in(skew, (int)first + k);
            }
    }
    template <int V, int N>
    DEVICE void store(const lane_items<Pair, V> (&items)[N], T *vector, int at, bool backward,
                      bool aligned, bool whole) const {
        if (aligned && whole) {
            UNROLL_FOR (int r = 0; r < N; ++r)
                items[r].store_whole(vector, at + r * 32 * V, 0, backward);
            return;
        }
        UNROLL_FOR (int r = 0; r < N; ++r) {
            const int first_here = at + r * 32 * V;
            T *const out = backward ? vector - V - first_here : vector + first_here;
            UNROLL_FOR (int j = 0; j < V; ++j) {
                const int k = first_here + (backward ? V - 1 - j : j);
                if (whole || (k >= from && k < to)) out[j] = items[r].raw[j];
            }
        }
    }
};

/* Head flags of the call's elements p .. p + V - 1, some of which may not exist; first: of element
   0. */
template <int V>
static DEVICE uint32_t heads_at_ends(const vscan__scan &scan, int64_t p, bool first) {
    uint32_t mask = 0;
    ROLLED_FOR (int j = 0; j < V; ++j)
        if (p + j >= 0 && p + j < scan.n && (p + j == 0 ? first : head_at(scan, p + j)))
            mask |= 1u << j;
    return mask;
}

/* Bits of the lane's head flags, of the elements from p on and those `step` further on;
   first: of element 0. */
template <int V, int L>
static DEVICE void find_heads(uint32_t (&heads)[L], lane_heads<V> (&flags)[L],
                              const vscan__scan &scan, int64_t p, int step, bool first) {
    with_flag_type(scan.flag_type, [&](auto type) {
        constexpr int Type = decltype(type)::value;
        UNROLL_FOR (int r = 0; r < L; ++r) flags[r].template load<Type>(scan, p + r * step);
        UNROLL_FOR (int r = 0; r < L; ++r)
            if (!flags[r].slow) heads[r] = flags[r].template bits<Type>(scan, p + r * step);
    });
    UNROLL_FOR (int r = 0; r < L; ++r)
        if (flags[r].slow) heads[r] = heads_at_ends<V>(scan, p + r * step, first);
}

/* Where the segments of a call begin. */
struct carried_segments {
    bool first;     /* one begins at element 0 */
    bool resumed;   /* one is open, and is this call's first */
    int64_t so_far; /* segments before element 0, in this call */

    /* carry: the old one. */
    static DEVICE carried_segments of(const vscan__scan &scan, const vscan__carry_state &carry) {
        const bool fresh =
            carry.position == 0 || (scan.backward && (carry.flags & VSCAN__CARRY_STARTS));
        return {fresh || (!scan.backward && flag_at(scan.flags, scan.flag_type, 0)), !fresh,
                !fresh};
    }
};

/* Total of the segment with this number, counted from 1 in the direction of the scan. */
template <class T>
static DEVICE void write_total(const scan_arguments &a, int64_t number, T total) {
    const int64_t k = a.count_backward ? (int64_t)a.lookback.header->segments - number : number - 1;
    if (k < a.scan.totals_length)
        ((T *)a.scan.totals)[k] = total;
    else
        report_totals_length(a.late);
}

/* write_totals of partition.cuh for elements p .. p + V - 1 of a call; those before element 0
   belong to the stand-in. */
template <class Pair, int V>
static DEVICE void write_carried_totals(const scan_arguments &a, bool first, int64_t p,
                                        const typename Pair::U (&y)[V], uint32_t heads,
                                        int64_t before, int lane) {
    const vscan__scan &scan = a.scan;
    uint32_t next = __shfl_down_sync(warp_mask, heads & 1, 1);
    if (lane == 31) next = heads_at_ends<1>(scan, p + V, first);
    uint32_t ends = heads >> 1 | next << (V - 1);
    const int64_t left = scan.n - p;
    if (left <= V && left > 0) ends |= 1u << (left - 1);
    if (p < 0) ends &= p > -V ? ~0u << -p : 0;
    while (ends != 0) {
        const int j = __ffs((int)ends) - 1;
        ends &= ends - 1;
        typename Pair::U total = y[0];
        UNROLL_FOR (int k = 1; k < V; ++k)
            if (k == j) total = y[k];
        const int64_t number = before + __popc(heads & ((2u << j) - 1));
        if (scan.totals != nullptr) write_total(a, number, Pair::out(total, a.transform));
        if (j != left - 1) continue;
        carried_memory_of(a.lookback).next_segments = number;
        if (scan.count != nullptr) *scan.count = number;
    }
}

/* What precedes a tile, whose number is counted from the carry's tile on. */
template <class Pair>
struct before_carried_tile : before_tile<Pair> {
    using U = typename Pair::U;
    int64_t first_tile; /* number of the carry's */
    static DEVICE before_carried_tile from(U initial) {
        return {before_tile<Pair>::from(initial), 0};
    }
    DEVICE void pass(int64_t tile, U sum) { before_tile<Pair>::pass(first_tile + tile, sum); }
    DEVICE bool ends_level_3(int64_t tile, int tiles) const {
        return before_tile<Pair>::ends_level_3(first_tile + tile, tiles);
    }
};

/* For lane_of_partition: what becomes of the results. First: says what precedes the call's element 0. */
template <class Pair, bool Segmented, class Shape, class Index, class First>
struct resumed_vector {
    using T = typename Pair::T;
    using U = typename Pair::U;
    static constexpr int V = Shape::lane_items;
    const scan_arguments &a;
    void *const &total;
    vscan__carry_state &to;
    const carried_partition<Pair, Index> &here;
    int begin; /* of the lane's elements, in the partition */
    bool last_partition;
    bool first; /* a segment begins at the call's element 0 */
    U visible;
    const First &first_result;

    DEVICE void put_total(int r, const U (&y)[V]) const {
        const int i = begin + r * Shape::load_items;
        if (last_partition && i + V >= here.to && i < here.to) {
            UNROLL_FOR (int j = 0; j < V; ++j) {
                if (i + j != here.to - 1) continue;
                const T last = Pair::out(y[j], a.transform);
                if (total != nullptr) *(T *)total = last;
                to.last.bits = word_of(last);
                if (Pair::in_any_order) to.r4.bits = word_of(last);
            }
        }
    }
    DEVICE int64_t position(int r) const {
        return here.first - here.skew + begin + r * Shape::load_items;
    }
    DEVICE void put_totals(int64_t p, const U (&y)[V], uint32_t heads, int64_t before) const {
        write_carried_totals<Pair>(a, first, p, y, heads, before, threadIdx.x % 32);
    }
    DEVICE void put_first(int r, U (&y)[V], uint32_t heads) const {
        UNROLL_FOR (int j = 0; j < V; ++j)
            if (Segmented && (heads >> j & 1)) y[j] = visible;
        if (here.first > here.skew) return;
        UNROLL_FOR (int j = 0; j < V; ++j) {
            if (begin + r * Shape::load_items + j == here.from) y[j] = first_result();
        }
    }
};

/* ---- The new carry --------------------------------------------------------------------------- */

/* Before they are scanned, in place: of a lane's elements from i on, those of the last group. Before a head all
   is absent. */
template <class Pair, bool Segmented, class Shape, class Index>
static DEVICE void keep_unfinished(typename Pair::U (&unfinished)[VSCAN__GROUP],
                                   const carried_partition<Pair, Index> &here, int i,
                                   const typename Pair::U (&x)[Shape::lane_items], uint32_t heads,
                                   unsigned any, int lane) {
    constexpr int V = Shape::lane_items;
    const int first = lane & ~(Shape::group_lanes - 1);
    const unsigned lanes = ((1u << (Shape::group_lanes - 1) << 1) - 1) << first;
    const bool later = Segmented && (any & lanes) >> lane >> 1;
    UNROLL_FOR (int j = 0; j < V; ++j)
        if (i + j >= here.to / VSCAN__GROUP * VSCAN__GROUP && i + j < here.to)
            unfinished[(i + j) % VSCAN__GROUP] =
                later || (Segmented && heads >> j >> 1) ? Pair::identity : x[j];
}

/* By all threads of the last partition's block: the unfinished group, where the virtual vector ends at n. */
template <class Pair>
static DEVICE void write_group(vscan__carry_state &to,
                               const typename Pair::U (&unfinished)[VSCAN__GROUP], int64_t n) {
    if (threadIdx.x >= VSCAN__GROUP) return;
    const bool there = !Pair::in_any_order && threadIdx.x < (unsigned)(n % VSCAN__GROUP);
    to.group[threadIdx.x].bits = there ? word_of(unfinished[threadIdx.x]) : 0;
}

static DEVICE void write_place(vscan__carry_state &to, const vscan__carry_state &from, int64_t n,
                               bool starts) {
    to.position = from.position + n;
    to.flags = (from.flags & VSCAN__CARRY_HAS_INITIAL) | (starts ? VSCAN__CARRY_STARTS : 0);
    to.initial = from.initial;
}

/* What precedes position n, the one behind the last element, at each level. */
template <class Pair>
struct levels_behind {
    using U = typename Pair::U;
    U r1, r2;
    before_tile<Pair> tile;

    /*
     *   r1, r2   of n's group, unless a block of level 1 ends with it, and of the last element's block
     *   sum      of that block
     *   before   the tile that has the given number
     */
    template <class Before, class Number>
    static DEVICE levels_behind of(int64_t n, U r1, U r2, U sum, Before before, Number number) {
        if (n % VSCAN__LEVEL_1 == 0) {
            r1 = Pair::identity;
            r2 = Pair::combine(r2, sum);
        }
        if (n % nested<U>::tile == 0) {
            before.pass(number, r2);
            r2 = Pair::identity;
        }
        return {r1, r2, {before.r3, before.r4}};
    }
    /* By one thread. */
    DEVICE void write(vscan__carry_state &to) const {
        to.r1.bits = word_of(r1);
        to.r2.bits = word_of(r2);
        to.r3.bits = word_of(tile.r3);
        to.r4.bits = word_of(tile.r4);
    }
};

} /* namespace vscan */
