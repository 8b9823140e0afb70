/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a reduction reads. A vector is a body and fewer than 32 elements outside it. A warp reads
 * its part of the body and reduces it; in order, to the sums of its groups, which it leaves in
 * shared memory. One warp also reads the elements outside, and one the initial value.
 */
#pragma once

#include <stddef.h>

#include "order/nested.cuh"
#include "elements/warp_reduce.cuh"
#include "protocol/lookback.cuh"
#include "core/carry.h"
#include "reduce/tuning.cuh"

namespace vscan {

struct reduce_arguments {
    const void *in;   /* n elements */
    const void *body; /* body_n of them, begin elements after in */
    int64_t n, body_n;
    int begin, outside; /* elements before the body; before and after it together, < 32 */
    bool backward;      /* in order only: partitions count from the end of the body */
    bool aligned;       /* the body begins at a multiple of 16 bytes */
    int has_initial;    /* 3: see put_total */
    vscan__value initial;
    const void *initial_at;
    void *total;
    lookback_memory lookback;
    pair_transform transform;
};

/*
 * Stores the total. Of pairs that any order suits it may be a carry that goes on (has_initial 3, scan/carried/carried.cuh):
 * initial_at is its r4, and total the call's own, or NULL. What is not a total is done by atomic operations whose
 * results nobody waits for.
 */
template <class Pair>
static DEVICE void put_total(const reduce_arguments &a, typename Pair::T total) {
    using T = typename Pair::T;
    if (!Pair::in_any_order || a.has_initial != 3) {
        *(T *)a.total = total;
        return;
    }
    char *const r4 = (char *)const_cast<void *>(a.initial_at);
    vscan__carry_state &state = *(vscan__carry_state *)(r4 - offsetof(vscan__carry_state, r4));
    atomicAdd((unsigned long long *)&state.position, (unsigned long long)a.n);
    clear_bits((unsigned long long *)&state.flags, ~(unsigned long long)VSCAN__CARRY_HAS_INITIAL);
    *(T *)&state.r4 = *(T *)&state.last = total;
    if (a.total != nullptr) *(T *)a.total = total;
}

/* Positions in a vector; in order, in a block that runs once, an int is wide enough. */
template <bool Narrow>
struct reduce_position {
    using type = int64_t;
};
template <>
struct reduce_position<true> {
    using type = int;
};

/* A part: what a warp reduces at a time, as many warp loads of 512 bytes as Loads says. */
template <class Pair, int Loads>
struct reduce_part_shape {
    using T = typename Pair::In;
    static constexpr int lane_items = 16 / (int)sizeof(T);
    static constexpr int items = Loads * 32 * lane_items, groups = items / VSCAN__GROUP;
    static constexpr int tile = nested<T>::tile;
};

/* x = 16-byte reads from shared memory; from is a multiple of 16 bytes. */
template <class U, int N>
static DEVICE void read_quads(U (&x)[N], const U *from) {
    int4 quads[sizeof x / 16];
    UNROLL_FOR (int q = 0; q < (int)(sizeof x / 16); ++q) quads[q] = ((const int4 *)from)[q];
    memcpy(x, quads, sizeof x);
}

/* What a warp reads besides its part: loaded early, used late. */
template <class Pair>
struct finish {
    using T = typename Pair::T;
    using In = typename Pair::In;
    using U = typename Pair::U;
    In element = 0; /* the lane's element outside the body */
    T z = 0;        /* the initial value */

    /* No branch: with one, the compiler adds what was loaded earlier before it issues these
       loads. I: int where that is wide enough. */
    template <class I = int64_t>
    DEVICE void load_rest(const reduce_arguments &a, int lane, bool asked) {
        const int k = a.backward ? a.outside - 1 - lane : lane; /* in memory order */
        if (asked && lane < a.outside)
            element = ((const In *)a.in)[k < a.begin ? k : (I)a.body_n + k];
    }
    DEVICE void load_initial(const reduce_arguments &a, bool asked) {
        memcpy(&z, &a.initial, sizeof z);
        if (asked && a.has_initial >= 2) z = *(const T *)a.initial_at;
    }
    template <class I = int64_t>
    DEVICE void load(const reduce_arguments &a, int lane, bool asked) {
        load_rest<I>(a, lane, asked);
        load_initial(a, asked);
    }
    /* the lane's element outside the body */
    DEVICE U rest(const reduce_arguments &a, int lane) const {
        return lane < a.outside ? Pair::in(element, a.transform) : Pair::identity;
    }
    /* in order, by a whole warp: the sum of the group outside the body */
    DEVICE U sum_rest(const reduce_arguments &a, int lane) const {
        return over_lanes<Pair>::sum(rest(a, lane));
    }
    /* the leftmost operand of the total */
    DEVICE U initial(const reduce_arguments &a) const {
        if (a.has_initial) return Pair::in(z, a.transform);
        return a.n == 0 ? Pair::visible : Pair::identity;
    }
};

/*
 * Reduces a warp's part, Loads warp loads from position `first` of the body. In any order: returns
 * the lane's own elements combined. In order: writes the sums of the part's groups to groups[0],
 * groups[1], ... in shared memory. Whole: the part lies wholly inside the body. Once: the block
 * runs once. Backward, position i is element body_n - 1 - i in memory. Between the loads and their
 * first use the warp does what `meanwhile` says.
 */
template <class Pair, int Loads, bool Whole, bool Aligned, bool Once, class Meanwhile>
static DEVICE typename Pair::U sum_part(const reduce_arguments &a, int64_t first, int lane,
                                        typename Pair::U *groups, const Meanwhile &meanwhile) {
    using T = typename Pair::In;
    using U = typename Pair::U;
    using shape = reduce_part_shape<Pair, Loads>;
    /* not aligned: 32 elements a load, the same bytes in flight, more shuffles */
    constexpr int V = Aligned ? shape::lane_items : 1;
    constexpr int loads = Loads * shape::lane_items / V;
    const int sign = !Pair::in_any_order && a.backward ? -1 : 1;
    const int i = lane * V; /* in the part; `left` elements of the part exist */
    using I = typename reduce_position<Once && !Pair::in_any_order>::type;
    const I begin = (I)first, end = (I)a.body_n;
    const int left =
        sizeof(I) < 8 || end - begin < shape::items ? (int)(end - begin) : shape::items;
    const T *const at = (const T *)a.body + (sign < 0 ? end - V - begin : begin);
    T raw[loads][V];
    UNROLL_FOR (int r = 0; r < loads; ++r)
        UNROLL_FOR (int j = 0; j < V; ++j) raw[r][j] = 0;
    /* whether load r has elements of the vector; not aligned, it is a whole group */
    const auto there = [&](int r) { return (Aligned ? i : 0) + r * 32 * V < left; };
    const auto load = [&](int r, int k) {
        if constexpr (Aligned) {
            const int4 quad = load_quad(at + sign * k);
            memcpy(raw[r], &quad, 16);
        } else {
            raw[r][0] = at[sign * k];
        }
    };
    if constexpr (!Once) {
        /* Loads behind the end repeat the last vector, since unconditional loads are issued
           sooner. In a block that runs once this is slower. */
        if (Whole || left > 0) {
            UNROLL_FOR (int r = 0; r < loads; ++r) {
                const int k = i + r * 32 * V;
                load(r, Whole || there(r) ? k : Aligned ? left - V : i);
            }
        }
    } else {
        UNROLL_FOR (int r = 0; r < loads; ++r)
            if (there(r)) load(r, i + r * 32 * V);
    }
    meanwhile();
    U x[loads];
    UNROLL_FOR (int r = 0; r < loads; ++r) {
        U items[V];
        UNROLL_FOR (int j = 0; j < V; ++j) items[j] = Pair::in(raw[r][j], a.transform);
        x[r] = sum_items<Pair>(items);
        if (!Whole && !there(r)) x[r] = Pair::identity;
    }
    if constexpr (Pair::in_any_order) {
        return sum_items<Pair>(x);
    } else {
        /* so many lanes have a group, and each load has V groups */
        constexpr int lanes = VSCAN__GROUP / V;
        static_assert(loads <= lanes, "a lane has one group in the end");
        const U sum = rows_over_lanes<Pair, loads, lanes>(x, lane);
        if (lane % lanes < loads) groups[lane % lanes * V + lane / lanes] = sum;
        return sum;
    }
}

/* The same, for an alignment known only at run time. */
template <class Pair, int Loads, bool Whole, bool Once, class Meanwhile>
static DEVICE typename Pair::U sum_any_part(const reduce_arguments &a, int64_t first, int lane,
                                            typename Pair::U *groups, const Meanwhile &meanwhile) {
    if (Pair::in_any_order || a.aligned)
        return sum_part<Pair, Loads, Whole, true, Once>(a, first, lane, groups, meanwhile);
    return sum_part<Pair, Loads, Whole, Pair::in_any_order, Once>(a, first, lane, groups,
                                                                  meanwhile);
}

/* x[0] + x[1] + ..., from left to right. */
template <class Pair, class U, int N>
static DEVICE U from_left(const U (&x)[N]) {
    U sum = x[0];
    UNROLL_FOR (int j = 1; j < N; ++j) sum = Pair::combine(sum, x[j]);
    return sum;
}

/* p + x of lane `first` + x of the next lane + ..., of N lanes. All lanes get it. The shuffles do
   not wait for one another. */
template <class Pair, int N, class U>
static DEVICE U add_lanes(U p, U x, int first) {
    U all[N];
    UNROLL_FOR (int j = 0; j < N; ++j) all[j] = __shfl_sync(warp_mask, x, first + j);
    UNROLL_FOR (int j = 0; j < N; ++j) p = Pair::combine(p, all[j]);
    return p;
}

/*
 * Sums in shared memory that lanes add from left to right, N a lane: of the groups of a block of
 * level 1, or of the blocks of a tile. Between what two lanes read 16 bytes are unused, so that
 * lanes read by 16 bytes without bank conflicts.
 */
template <class U, int N, int Lanes>
struct nested_sums {
    static constexpr int pitch = N + 16 / (int)sizeof(U);
    __align__(16) U sums[Lanes * pitch];

    DEVICE U *at(int k) { return &sums[k / N * pitch + k % N]; }

    /* those numbered N * k .. N * k + N - 1 */
    template <class Pair>
    DEVICE U sum(int k) const {
        U x[N];
        read_quads(x, &sums[k * pitch]);
        return from_left<Pair>(x);
    }
};

/*
 * Sums of parts in shared memory. A lane reads eight of them at a time. Groups of eight are 16
 * bytes apart, so that lanes read without bank conflicts.
 */
template <class U, int Eights>
struct part_sums {
    static constexpr int pitch = 8 + 16 / (int)sizeof(U);
    __align__(16) U sums[Eights * pitch];

    DEVICE U *at(int part) { return &sums[part / 8 * pitch + part % 8]; }

    template <class Pair>
    DEVICE U sum_eight(int eight) const {
        U x[8];
        read_quads(x, &sums[eight * pitch]);
        return sum_items<Pair>(x);
    }
};

} /* namespace vscan */
