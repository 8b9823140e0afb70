/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Segmented reduction by offsets (reduce/by_offsets.cuh): what a warp does to a window, 4 KiB in
 * shared memory, and to the offsets that belong to it.
 *
 * A lane sums a row of 128 bytes; nothing so far depends on segments. The group that an offset lies
 * in is read once more, for the part before it and the part after it; whole groups between two
 * offsets are there already. Absent elements and groups are identities in the trees of lib/order.h,
 * so what a segment is in a window is one node of the tile's tree, and its last group, if that is
 * not whole, a second value, which is added when the tree is done.
 *
 * The sum from the window's last offset on comes first: others wait for it.
 */
#ifndef VSCAN_REDUCE_BY_OFFSETS_WINDOW_CUH
#define VSCAN_REDUCE_BY_OFFSETS_WINDOW_CUH

#include "common/warp_reduce.cuh"
#include "reduce/segmented_tile.cuh"

namespace vscan {

static constexpr int offsets_workers = 8;

template <class Pair>
struct offsets_shape {
    using T = typename Pair::T;
    static constexpr int row = 128 / (int)sizeof(T), window = 32 * row;
    static constexpr int items = offsets_workers * window; /* of a partition */
    static constexpr int groups = window / VSCAN__GROUP, group_rows = VSCAN__GROUP / row;
    static constexpr int tile = sizeof(T) == 8 ? VSCAN__TILE_DOUBLE : VSCAN__TILE_FLOAT;
    static_assert(tile == 2 * items, "a partition is half a tile");
};

/* What of a window is in the segment that ends in it first, if that began before it. */
template <class U>
struct open_segment {
    U node, rest;
    int64_t segment; /* -1: none */
    int64_t begin;
};

/* ---- Offsets --------------------------------------------------------------------------------- */

/* The first of a partition's offsets that is more than key, if they ascend: by a warp. */
template <class Offsets>
static __device__ __forceinline__ int64_t split_offsets(const Offsets &offsets, int64_t key) {
    int64_t low = offsets.from, high = offsets.to;
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

/* The offsets of a partition, and the one before them: a copy in shared memory, if not too many. */
static constexpr int offsets_copied = 128;
struct partition_offsets {
    const segments_offsets &all;
    const int64_t *copy; /* from the one before the first on */
    int64_t from, to;
    int copied;
    __device__ __forceinline__ int64_t operator[](int64_t i) const {
        return to - from < copied ? copy[i - from + 1] : all[i];
    }
};

/* Offsets k0 .. k0 + 31 of a window, one a lane. */
struct seen_offsets {
    int64_t k0, previous; /* the one before the lane's */
    int stop;             /* where in the window it is */
    bool empty;           /* it ends a segment without elements */
    uint32_t ends;        /* bit i: that of lane i ends one that has some, or begins the first */
};

/* The sum of a lane's row of a window. */
template <class Pair>
static __device__ __forceinline__ typename Pair::U row_of_window(const typename Pair::T *share) {
    using T = typename Pair::T;
    using U = typename Pair::U;
    using shape = offsets_shape<Pair>;
    constexpr int V = 16 / (int)sizeof(T);
    const int lane = threadIdx.x % 32;
    U x[shape::row];
#pragma unroll
    for (int c = 0; c < shape::row / V; ++c) {
        T raw[V];
        const int4 quad = *(const int4 *)segments_at(share, lane * shape::row + c * V);
        memcpy(raw, &quad, 16);
#pragma unroll
        for (int j = 0; j < V; ++j) x[c * V + j] = Pair::in(raw[j]);
    }
    return sum_items<Pair>(x);
}

template <class Pair>
struct offsets_window {
    using T = typename Pair::T;
    using U = typename Pair::U;
    using shape = offsets_shape<Pair>;
    static constexpr int G = VSCAN__GROUP;

    const segments_arguments &a;
    const partition_offsets offsets;
    const U initial;
    const T *const share;
    const int64_t first; /* its first element */
    const U of_row;
    int64_t lower = 0, upper = 0; /* its offsets are lower .. upper - 1 */
    int64_t wrong = -1;           /* the number of an offset that is, if there is one */

    /* Which offsets are the window's, of the partition's. */
    __device__ __forceinline__ void choose(bool is_first, bool is_last) {
        const int lane = threadIdx.x % 32;
        const int64_t from = offsets.from, to = offsets.to;
        lower = from;
        upper = to;
        if (to - from <= 32) {
            int64_t there = INT64_MAX;
            if (lane < to - from) there = offsets[from + lane];
            const unsigned earlier = __ballot_sync(segments_lanes, there <= first);
            const unsigned not_later =
                __ballot_sync(segments_lanes, there <= first + shape::window);
            if (!is_first) lower = from + __popc(earlier);
            if (!is_last) upper = from + __popc(not_later);
        } else {
#pragma unroll 1
            for (int edge = is_first; edge < 2 - is_last; ++edge)
                (edge ? upper : lower) = split_offsets(offsets, first + edge * shape::window);
        }
        if (to < from || upper < lower) wrong = from;
    }

    /* Lane 0 also knows the one before offset k0 where there are no more. */
    __device__ __forceinline__ seen_offsets look(int64_t k0) {
        const int64_t k = k0 + (int)(threadIdx.x % 32);
        const int64_t to_end = a.scan.n - first;
        const int size = to_end < shape::window ? (int)to_end : shape::window;
        seen_offsets s;
        int64_t offset = -1;
        s.k0 = k0;
        s.previous = -1;
        if (k < upper) offset = offsets[k];
        if (k > 0 && k <= upper) s.previous = offsets[k - 1];
        const bool good = k < upper && offset >= first && offset - first <= size &&
                          (k == 0 || (s.previous >= 0 && s.previous <= offset));
        if (k < upper && !good) wrong = k;
        s.empty = good && s.previous == offset;
        s.stop = (int)(offset - first);
        s.ends = __ballot_sync(segments_lanes, good && !s.empty);
        return s;
    }

    /* Element `lane` of a group; an identity beyond the window. */
    __device__ __forceinline__ U in_group(int group) const {
        U x = Pair::identity;
        if (group < shape::groups)
            x = Pair::in(*segments_at(share, group * G + (int)(threadIdx.x % 32)));
        return x;
    }
    /* By rows, one a lane: whole groups from .. to - 1, but of group `from` what the head has. */
    __device__ __forceinline__ U groups_of(int from, U head, int to) const {
        const int lane = threadIdx.x % 32, group = lane / shape::group_rows;
        U x = of_row;
        if (group == from) x = lane % shape::group_rows == 0 ? head : (U)Pair::identity;
        return group >= from && group < to ? x : (U)Pair::identity;
    }
    /* What follows place `at` of its group, in a segment that begins there; in all lanes. */
    __device__ __forceinline__ U sum_head(int at) const {
        const int lane = threadIdx.x % 32;
        U x = in_group(at / G);
        if (a.scan.has_initial && lane == at % G) x = Pair::combine(initial, x);
        return over_lanes<Pair>::sum(lane < at % G ? (U)Pair::identity : x);
    }

    /* The sum from the last offset on, and whether there is one; s: the first offsets. */
    __device__ __forceinline__ U suffix(const seen_offsets &s, bool &any) {
        int at = s.ends ? __shfl_sync(segments_lanes, s.stop, 31 - __clz((int)s.ends)) : -1;
#pragma unroll 1
        for (int64_t k0 = lower + 32; k0 < upper; k0 += 32) {
            const seen_offsets more = look(k0);
            if (more.ends) at = __shfl_sync(segments_lanes, more.stop, 31 - __clz((int)more.ends));
        }
        any = at >= 0;
        if (!any && __shfl_sync(segments_lanes, s.previous, 0) == first) at = 0;
        int from = -1;
        U head = Pair::identity;
        if (at >= 0) {
            from = at / G;
            head = sum_head(at);
        }
        return over_lanes<Pair>::sum(groups_of(from, head, shape::groups));
    }

    /* Totals of segments that begin and end here, and what is here of one that only ends here. */
    __device__ __forceinline__ open_segment<U> totals(seen_offsets s) {
        const int lane = threadIdx.x % 32;
        const bool has_initial = a.scan.has_initial != 0;
        T *const totals = (T *)a.scan.totals;
        open_segment<U> open = {Pair::identity, Pair::identity, -1, 0};
        if (lower >= upper) return open;

        /* the running segment: whether it began here, and if so where, its part of that group */
        bool here = __shfl_sync(segments_lanes, s.previous, 0) == first;
        int begin = 0, head_group = -1;
        U head = Pair::identity;
        if (here && has_initial) {
            head = sum_head(0);
            head_group = 0;
        }
#pragma unroll 1
        for (;;) {
            const int64_t k = s.k0 + lane;
            if (s.empty) totals[k - 1] = Pair::out(has_initial ? initial : (U)Pair::visible);
            uint32_t written = 0;
            U total = Pair::identity;
#pragma unroll 1
            for (uint32_t left = s.ends; left != 0; left &= left - 1) {
                const int i = __ffs((int)left) - 1;
                const int stop = __shfl_sync(segments_lanes, s.stop, i);
                const int last = (int)((unsigned)stop / G), in_last = (int)((unsigned)stop % G);
                const int from = begin - last * G;
                const U x = in_group(last);
                U rest = x, next_head = x;
                if (has_initial) {
                    if (here && lane == from) rest = Pair::combine(initial, x);
                    if (lane == in_last) next_head = Pair::combine(initial, x);
                }
                if (lane < from || lane >= in_last) rest = Pair::identity;
                if (lane < in_last) next_head = Pair::identity;
                U node = groups_of(head_group, head, last);
                sum_three<Pair>(rest, next_head, node);
                if (here) {
                    if (lane == i) total = Pair::combine(node, rest);
                    written |= 1u << i;
                } else if (s.k0 + i > 0) {
                    open = {node, rest, s.k0 + i - 1, __shfl_sync(segments_lanes, s.previous, i)};
                }
                here = true;
                begin = stop;
                head_group = last;
                head = next_head;
            }
            if (written >> lane & 1) totals[k - 1] = Pair::out(total);
            if (s.k0 + 32 >= upper) return open;
            s = look(s.k0 + 32);
        }
    }

    /* The trees over the lanes of three values, in all lanes. */
    template <class P>
    static __device__ __forceinline__ void sum_three(U &x, U &y, U &z) {
        if constexpr (P::in_any_order && sizeof(U) == 4) {
            x = over_lanes<P>::sum(x);
            y = over_lanes<P>::sum(y);
            z = over_lanes<P>::sum(z);
        } else {
            U all[4] = {x, y, z, P::identity};
            const U sum = rows_over_lanes<P, 4, 32>(all, threadIdx.x % 32);
            x = __shfl_sync(segments_lanes, sum, 0);
            y = __shfl_sync(segments_lanes, sum, 1);
            z = __shfl_sync(segments_lanes, sum, 2);
        }
    }
};

} /* namespace vscan */

#endif
