/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Segmented reduction by offsets (reduce/by_offsets.cuh): what a warp does to a window, 4 KiB in
 * shared memory, and to the offsets that belong to it, where any order of addition will do.
 *
 * Each lane reduces a line of 128 bytes; this does not depend on segments. The group with an offset
 * is read once more, for the part before it and the part after it; the whole groups between two
 * offsets have been reduced already. Missing elements and groups are identities. What a window has
 * of a segment is a sum of whole groups, and its last group, if not whole, is a second value.
 *
 * The sum from the window's last offset on comes first, since others wait for it.
 */
#ifndef VSCAN_REDUCE_BY_OFFSETS_WINDOW_CUH
#define VSCAN_REDUCE_BY_OFFSETS_WINDOW_CUH

#include "order/nested.cuh"
#include "elements/warp_reduce.cuh"
#include "reduce/segmented_tile.cuh"

namespace vscan {

template <class Pair>
struct offsets_shape {
    using T = typename Pair::T;
    static constexpr int line = 128 / (int)sizeof(T), window = 32 * line;
    static constexpr int items = offsets_reduction_warps * window; /* of a partition */
    static constexpr int groups = window / VSCAN__GROUP, group_lines = VSCAN__GROUP / line;
    static constexpr int block_windows = VSCAN__LEVEL_1 / window; /* of a block of level 1 */
    static constexpr int blocks = offsets_reduction_warps / block_windows; /* of a partition */
    static_assert(nested<T>::tile == 2 * items, "a partition is half a tile");
};

/* The part of a window in the segment that ends in it first, if that began before the window. */
template <class U>
struct open_segment {
    U node, rest;
    int64_t segment; /* -1: none */
    int64_t begin;
};

/* ---- Offsets --------------------------------------------------------------------------------- */

/* The index of the partition's first offset above key, if offsets ascend. By a warp. */
template <class Offsets>
static __device__ __forceinline__ int64_t split_offsets(const Offsets &offsets, int64_t key) {
    int64_t low = offsets.from, high = offsets.to;
#pragma unroll 1
    while (low < high) { /* 32 at a time */
        const int64_t step = (high - low + 32) / 33;
        const int64_t i = low + ((int)(threadIdx.x % 32) + 1) * step - 1;
        const bool upto = i < high && offsets[i] <= key;
        const int count = __popc(__ballot_sync(warp_mask, upto));
        const int64_t begin = low;
        low = begin + count * step;
        if (count < 32 && begin + (count + 1) * step - 1 < high)
            high = begin + (count + 1) * step - 1;
    }
    return low;
}

/* The offsets of a partition and the one before them: a copy in shared memory, if not too many. */
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
    int stop;             /* its position in the window */
    bool empty;           /* it ends an empty segment */
    uint32_t ends;        /* bit i: that of lane i ends a segment with elements, or is the first */
};

/* The sum of a lane's line of a window. */
template <class Pair>
static __device__ __forceinline__ typename Pair::U line_of_window(const typename Pair::T *share,
                                                                  const pair_transform &transform) {
    using T = typename Pair::T;
    using U = typename Pair::U;
    using shape = offsets_shape<Pair>;
    constexpr int V = 16 / (int)sizeof(T);
    const int lane = threadIdx.x % 32;
    U x[shape::line];
#pragma unroll
    for (int c = 0; c < shape::line / V; ++c) {
        T raw[V];
        const int4 quad = *(const int4 *)swizzled(share, lane * shape::line + c * V);
        memcpy(raw, &quad, 16);
#pragma unroll
        for (int j = 0; j < V; ++j) x[c * V + j] = Pair::in(raw[j], transform);
    }
    return sum_items<Pair>(x);
}

template <class Pair>
struct offsets_window {
    using T = typename Pair::T;
    using U = typename Pair::U;
    using shape = offsets_shape<Pair>;
    static constexpr int G = VSCAN__GROUP;

    const segmented_reduce_arguments &a;
    const partition_offsets offsets;
    const U initial;
    const T *const share;
    const int64_t first; /* its first element */
    const U of_line;
    int64_t lower = 0, upper = 0; /* its offsets are lower .. upper - 1 */
    int64_t wrong = -1;           /* the index of an invalid offset, or -1 */

    /* Chooses the window's offsets among the partition's. */
    __device__ __forceinline__ void choose(bool is_first, bool is_last) {
        const int lane = threadIdx.x % 32;
        const int64_t from = offsets.from, to = offsets.to;
        lower = from;
        upper = to;
        if (to - from <= 32) {
            int64_t there = INT64_MAX;
            if (lane < to - from) there = offsets[from + lane];
            const unsigned earlier = __ballot_sync(warp_mask, there <= first);
            const unsigned up_to_end = __ballot_sync(warp_mask, there <= first + shape::window);
            if (!is_first) lower = from + __popc(earlier);
            if (!is_last) upper = from + __popc(up_to_end);
        } else {
#pragma unroll 1
            for (int edge = is_first; edge < 2 - is_last; ++edge)
                (edge ? upper : lower) = split_offsets(offsets, first + edge * shape::window);
        }
        if (to < from || upper < lower) wrong = from;
    }

    /* Also where there are no more, lane 0 knows the offset before k0. */
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
        s.ends = __ballot_sync(warp_mask, good && !s.empty);
        return s;
    }

    /* Element `lane` of a group; the identity beyond the window. */
    __device__ __forceinline__ U in_group(int group) const {
        U x = Pair::identity;
        if (group < shape::groups)
            x = Pair::in(*swizzled(share, group * G + (int)(threadIdx.x % 32)), a.transform);
        return x;
    }
    /* By lines, one a lane: whole groups from .. to - 1; of group `from` only `head`. */
    __device__ __forceinline__ U groups_of(int from, U head, int to) const {
        const int lane = threadIdx.x % 32, group = lane / shape::group_lines;
        U x = of_line;
        if (group == from) x = lane % shape::group_lines == 0 ? head : (U)Pair::identity;
        return group >= from && group < to ? x : (U)Pair::identity;
    }
    /* The sum of the group from position `at` on, where a segment begins; in all lanes. */
    __device__ __forceinline__ U sum_head(int at) const {
        const int lane = threadIdx.x % 32;
        U x = in_group(at / G);
        if (a.scan.has_initial && lane == at % G) x = Pair::combine(initial, x);
        return over_lanes<Pair>::sum(lane < at % G ? (U)Pair::identity : x);
    }

    /* The sum from the last offset on; any: whether there is an offset. s: the first 32. */
    __device__ __forceinline__ U suffix(const seen_offsets &s, bool &any) {
        int at = s.ends ? __shfl_sync(warp_mask, s.stop, 31 - __clz((int)s.ends)) : -1;
#pragma unroll 1
        for (int64_t k0 = lower + 32; k0 < upper; k0 += 32) {
            const seen_offsets more = look(k0);
            if (more.ends) at = __shfl_sync(warp_mask, more.stop, 31 - __clz((int)more.ends));
        }
        any = at >= 0;
        if (!any && __shfl_sync(warp_mask, s.previous, 0) == first) at = 0;
        int from = -1;
        U head = Pair::identity;
        if (at >= 0) {
            from = at / G;
            head = sum_head(at);
        }
        return over_lanes<Pair>::sum(groups_of(from, head, shape::groups));
    }

    /* Writes the totals of segments that begin and end here; returns the part of one that only
       ends here. */
    __device__ __forceinline__ open_segment<U> totals(seen_offsets s) {
        const int lane = threadIdx.x % 32;
        const bool has_initial = a.scan.has_initial != 0;
        T *const totals = (T *)a.scan.totals;
        open_segment<U> open = {Pair::identity, Pair::identity, -1, 0};
        if (lower >= upper) return open;

        /* the current segment: whether it began here, and if so where, and its part of that
           group */
        bool here = __shfl_sync(warp_mask, s.previous, 0) == first;
        int begin = 0, head_group = -1;
        U head = Pair::identity;
        if (here && has_initial) {
            head = sum_head(0);
            head_group = 0;
        }
#pragma unroll 1
        for (;;) {
            const int64_t k = s.k0 + lane;
            if (s.empty)
                totals[k - 1] = Pair::out(has_initial ? initial : (U)Pair::visible, a.transform);
            uint32_t written = 0;
            U total = Pair::identity;
#pragma unroll 1
            for (uint32_t left = s.ends; left != 0; left &= left - 1) {
                const int i = __ffs((int)left) - 1;
                const int stop = __shfl_sync(warp_mask, s.stop, i);
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
                    open = {node, rest, s.k0 + i - 1, __shfl_sync(warp_mask, s.previous, i)};
                }
                here = true;
                begin = stop;
                head_group = last;
                head = next_head;
            }
            if (written >> lane & 1) totals[k - 1] = Pair::out(total, a.transform);
            if (s.k0 + 32 >= upper) return open;
            s = look(s.k0 + 32);
        }
    }

    /* The trees over the lanes of three values; results in all lanes. */
    template <class P>
    static __device__ __forceinline__ void sum_three(U &x, U &y, U &z) {
        if constexpr (P::in_any_order && sizeof(U) == 4) {
            x = over_lanes<P>::sum(x);
            y = over_lanes<P>::sum(y);
            z = over_lanes<P>::sum(z);
        } else {
            U all[4] = {x, y, z, P::identity};
            const U sum = rows_over_lanes<P, 4, 32>(all, threadIdx.x % 32);
            x = __shfl_sync(warp_mask, sum, 0);
            y = __shfl_sync(warp_mask, sum, 1);
            z = __shfl_sync(warp_mask, sum, 2);
        }
    }
};

} /* namespace vscan */

#endif
