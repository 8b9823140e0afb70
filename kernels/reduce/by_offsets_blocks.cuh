/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Segmented reduction by offsets (reduce/by_offsets.cuh) where the order of addition matters: what
 * a reduction warp does to a window, and what it leaves of it in the partition's stage.
 *
 * A window is a block of level 1 of core/order.h, of doubles half of one. All sums of its groups go
 * to the stage. Then each lane has one offset. It splits the offset's group in two trees, before
 * the offset and from it on; what is not there is an identity. The segment that ends at the offset,
 * if it also begins in the window, is then the fold of: the second tree of the offset before, the
 * whole groups between the two, the first tree. If not, the prefix warp adds it up, from the sums
 * of the groups before, and the first tree. The group with the window's last offset keeps its
 * second tree as its sum: what is added from there on belongs to the segment that begins there.
 */
#ifndef VSCAN_REDUCE_BY_OFFSETS_BLOCKS_CUH
#define VSCAN_REDUCE_BY_OFFSETS_BLOCKS_CUH

#include "reduce/by_offsets_window.cuh"

namespace vscan {

/* What a window leaves: group numbers are those in its block of level 1. */
template <class U>
struct window_part {
    int64_t segment; /* the one that ends in it first, if that began before it; or -1 */
    int first;       /* the group of its end */
    int last;        /* the group of the window's last offset; -1: it has none */
    U rest;          /* the part of group `first` in the segment */
};

/* A stage of the pipeline of partitions. */
template <class Pair, bool InOrder = !Pair::in_any_order>
struct offsets_partition {
    using U = typename Pair::U;
    int64_t edges[offsets_search_warps]; /* its first offset, and that of the next one */
    int64_t copy[offsets_copied];        /* of its offsets */
    U sums[offsets_reduction_warps];     /* of windows, from the last offset on */
    int any[offsets_reduction_warps];    /* whether they have an offset */
    open_segment<U> open[offsets_reduction_warps];
};

/* Offsets as positions in the partition: -1 before it, items + 1 behind it. An int counts them:
   segments are long enough on average that more would not fit into memory. */
template <class Pair>
struct offsets_partition<Pair, true> {
    using U = typename Pair::U;
    using shape = offsets_shape<Pair>;
    int64_t from;             /* the index of its first offset */
    int64_t begin;            /* the offset before that, or -1 */
    int count;                /* of its offsets; negative if they do not ascend */
    int copy[offsets_copied]; /* from the one before the first on, if they are not too many */
    window_part<U> windows[offsets_reduction_warps];
    /* 16 bytes apart, so that lanes read the sums of different blocks without bank conflicts */
    alignas(16) U groups[shape::blocks][nested<U>::groups + 16 / sizeof(U)];

    static __device__ __forceinline__ int position(int64_t offset, int64_t partition) {
        const int64_t begin = partition * shape::items;
        return offset < begin                  ? -1
               : offset - begin > shape::items ? shape::items + 1
                                               : (int)(offset - begin);
    }
};

/* sum and those of N values in shared memory whose bit in the mask is set, from left to right. */
template <class Pair, int N, class U>
static __device__ __forceinline__ U fold(U sum, const U *values, uint32_t mask) {
    constexpr int V = 16 / (int)sizeof(U);
#pragma unroll
    for (int q = 0; q < N / V; ++q) {
        U x[V];
        const int4 quad = ((const int4 *)values)[q];
        memcpy(x, &quad, 16);
#pragma unroll
        for (int j = 0; j < V; ++j)
            if (mask & 1u << (q * V + j)) sum = Pair::combine(sum, x[j]);
    }
    return sum;
}

/* Two trees over a group: where a segment ends, and where the next one begins. */
template <class U>
struct split_group {
    U before, after;
};

template <class Pair>
struct in_order_window {
    using T = typename Pair::T;
    using U = typename Pair::U;
    using shape = offsets_shape<Pair>;
    static constexpr int G = VSCAN__GROUP;

    const segmented_reduce_arguments &a;
    const segments_offsets &offsets;
    offsets_partition<Pair> &stage;
    const T *const share;
    const int64_t partition;
    const int warp;
    int64_t wrong = -1; /* the index of an invalid offset, or -1 */

    /* The position of offset k of the partition, k >= -1. */
    __device__ __forceinline__ int position(int k) const {
        if (stage.count < a.copied) return stage.copy[k + 1];
        const int64_t i = stage.from + k;
        return i < 0 ? -1 : stage.position(offsets[i], partition);
    }

    /* How many of the partition's offsets are up to this position, if they ascend. */
    __device__ __forceinline__ int count_up_to(int at) const {
        int low = 0, high = stage.count;
#pragma unroll 1
        while (low < high) { /* 32 at a time */
            const int step = (high - low + 32) / 33,
                      i = low + ((int)(threadIdx.x % 32) + 1) * step - 1;
            const int count = __popc(__ballot_sync(warp_mask, i < high && position(i) <= at));
            if (count < 32 && low + (count + 1) * step - 1 < high)
                high = low + (count + 1) * step - 1;
            low += count * step;
        }
        return low;
    }

    /* The trees over N elements from position `at` on, under two masks. */
    template <int N>
    __device__ __forceinline__ split_group<U> split(int at, uint32_t before, uint32_t after) const {
        constexpr int V = 16 / (int)sizeof(T);
        if constexpr (N > V) {
            split_group<U> sum = {Pair::identity, Pair::identity};
            /* registers are few */
#pragma unroll(N * sizeof(T) > 64 ? 1 : 2)
            for (int half = 0; half < 2; ++half) {
                const split_group<U> x =
                    split<N / 2>(at + half * N / 2, before >> half * N / 2, after >> half * N / 2);
                sum.before = Pair::combine(sum.before, x.before);
                sum.after = Pair::combine(sum.after, x.after);
            }
            return sum;
        } else {
            T raw[V];
            const int4 quad = *(const int4 *)swizzled(share, (unsigned)at);
            memcpy(raw, &quad, 16);
            U x[V], y[V];
#pragma unroll
            for (int j = 0; j < V; ++j) {
                x[j] = before & 1u << j ? Pair::in(raw[j], a.transform) : (U)Pair::identity;
                y[j] = after & 1u << j ? Pair::in(raw[j], a.transform) : (U)Pair::identity;
            }
            return {sum_items<Pair>(x), sum_items<Pair>(y)};
        }
    }

    /*
     * The same for `few` of these lanes, which are removed: lane j has element j of each one's group. (A lane
     * alone takes as many instructions for one offset as for 32.) at: where the group is; from, to: the
     * elements before its offset; those from `to` on are after it.
     */
    static constexpr int few = 4;
    __device__ __forceinline__ split_group<U> split_few(unsigned &lanes, int at, int from,
                                                        int to) const {
        const int lane = threadIdx.x % 32, packed = at << 16 | from << 8 | to;
        int row = 0; /* of the lane's own trees */
        U x[2 * few];
#pragma unroll
        for (int r = 0; r < few; ++r) {
            const bool any = lanes != 0;
            const int next = any ? __ffs((int)lanes) - 1 : 0;
            lanes &= lanes - 1;
            if (any && lane == next) row = 2 * r;
            const int its = __shfl_sync(warp_mask, packed, next);
            U element = Pair::identity;
            if (any)
                element = Pair::in(*swizzled(share, (unsigned)((its >> 16) + lane)), a.transform);
            const bool before = lane >= (its >> 8 & 0xff) && lane < (its & 0xff);
            x[2 * r] = before ? element : (U)Pair::identity;
            x[2 * r + 1] = lane >= (its & 0xff) ? element : (U)Pair::identity;
        }
        const U sum = rows_over_lanes<Pair, 2 * few, 32>(x, lane);
        return {__shfl_sync(warp_mask, sum, row), __shfl_sync(warp_mask, sum, row + 1)};
    }

    /* Writes the totals of segments that begin and end here; leaves the rest in the stage. */
    __device__ __forceinline__ void reduce(U of_group, U initial) {
        const int lane = threadIdx.x % 32;
        T *const totals = (T *)a.scan.totals;
        window_part<U> &part = stage.windows[warp];
        /* its first group, in the block */
        const int base = warp % shape::block_windows * shape::groups;
        U *const groups = stage.groups[warp / shape::block_windows] + base;
        if constexpr (shape::group_lines == 2) of_group = across<Pair>(of_group, 1);
        if (lane % shape::group_lines == 0) groups[lane / shape::group_lines] = of_group;
        if (lane == 0) part = {-1, 0, -1, Pair::identity};

        const int first = warp * shape::window; /* position */
        const int64_t to_end = a.scan.n - partition * shape::items - first;
        const int size = to_end < shape::window ? (int)to_end : shape::window;
        int lower = 0, upper = stage.count; /* its offsets */
        if (upper < a.copied) {
            upper = 0;
#pragma unroll 1
            for (int k0 = 0; k0 < stage.count; k0 += 32) {
                const int at = k0 + lane < stage.count ? stage.copy[k0 + lane + 1] : INT32_MAX;
                lower += __popc(__ballot_sync(warp_mask, at <= first));
                upper += __popc(__ballot_sync(warp_mask, at <= first + shape::window));
            }
            if (warp == 0) lower = 0;
            if (warp == offsets_reduction_warps - 1) upper = stage.count;
        } else {
            if (warp > 0) lower = count_up_to(first);
            if (warp < offsets_reduction_warps - 1) upper = count_up_to(first + shape::window);
        }
        if (upper < lower) wrong = stage.from;

        U previous = Pair::identity; /* the second tree of the offset before the lanes' */
#pragma unroll 1
        for (int k0 = lower; k0 < upper; k0 += 32) {
            __syncwarp(); /* sums of groups have been written */
            const int k = k0 + lane;
            int stop = 0, begin = 0; /* positions in the window */
            if (k < upper) {
                stop = position(k) - first;
                begin = position(k - 1) - first;
            }
            const int64_t segment = stage.from + k - 1; /* -1: none, offset 0 */
            const bool is_offset = k < upper && stop >= 0 && stop <= size && begin <= stop;
            if (k < upper && !is_offset) wrong = segment + 1;
            if (!is_offset) stop = 0;
            const bool inside = is_offset && begin >= 0 && segment >= 0;
            const bool empty = inside && begin == stop;
            const unsigned ends = __ballot_sync(warp_mask, is_offset && !empty);
            if (!inside) begin = 0;
            const int to = stop / G, from = begin / G;
            const int first_before = from == to ? begin % G : 0;
            const bool splits = is_offset && to < shape::groups;
            const unsigned all = __ballot_sync(warp_mask, splits);
            split_group<U> of = {Pair::identity, Pair::identity};
            /* doubles always: with both ways 2^26 in segments of 1000 were 5 % slower */
            if (sizeof(T) == 8 || __popc(all) <= few) {
#pragma unroll 1
                for (unsigned left = all; left != 0;) {
                    const unsigned before = left;
                    const split_group<U> its = split_few(left, to * G, first_before, stop % G);
                    if ((before & ~left) >> lane & 1) of = its;
                }
            } else if (splits) {
                of = split<G>(to * G, bits_below(stop % G) & ~bits_below(first_before),
                              ~bits_below(stop % G));
            }
            U x1 = __shfl_up_sync(warp_mask, of.after, 1);
            if (lane == 0) x1 = previous;
            previous = __shfl_sync(warp_mask, of.after, 31);
            const bool partial = begin % G != 0; /* group `from`, which x1 is a part of */
            if (!partial || from == to) x1 = Pair::identity;
            const uint32_t between =
                inside && from < to ? bits_below(to) & ~bits_below(from + partial) : 0;
            if (__any_sync(warp_mask, between != 0))
                x1 = fold<Pair, shape::groups>(x1, groups, between);
            x1 = Pair::combine(initial, Pair::combine(x1, of.before));
            if (empty) x1 = a.scan.has_initial ? initial : (U)Pair::visible;
            if (inside) totals[segment] = Pair::out(x1, a.transform);
            __syncwarp(); /* and read */
            if (k0 == lower && lane == __ffs((int)ends) - 1) {
                if (!inside) part.segment = segment;
                part.first = base + to;
                part.rest = of.before;
            }
            if (lane == 31 - __clz((int)ends)) {
                part.last = base + to;
                if (to < shape::groups) groups[to] = of.after;
            }
        }
    }
};

} /* namespace vscan */

#endif
