/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What one block does with one partition, a quarter of a tile: lanes and warps combine in the order
 * of lib/core/order.h.
 *
 * A lane loads vectors of 16 bytes. The 32 adjacent vectors of a warp are one warp load; a warp of
 * a partition has 4 of them, one after the other. A group (32 elements) is 8 or 16 lanes of a warp
 * load.
 *
 * The functions exist for plain scans and, with Segmented, for values with head flags: a value is
 * combined with what precedes it only where no segment begins in between. Combining with
 * Pair::identity changes no bits.
 */
#pragma once

#include "elements/vectors.cuh"
#include "order/nested.cuh"
#include "order/network.cuh"
#include "protocol/lookback.cuh"

namespace vscan {

struct scan_arguments {
    pair_transform transform;
    vscan__scan scan;
    lookback_memory lookback;
    vscan__late *late;
    bool count_backward; /* header->segments has the number of segments: totals count down from
                            it */
};

static inline scan_arguments scan_arguments_of(const vscan__launch *launch, const vscan__scan &scan,
                                               const pair_transform &transform) {
    return {transform, scan, lookback_of(launch), launch->late, false};
}

template <class Pair, int Warps = 8, int Loads = 4>
struct partition_shape {
    using T = typename Pair::T;
    static constexpr int lane_items = 16 / (int)sizeof(T);
    static constexpr int loads = Loads; /* of a warp */
    static constexpr int warps = Warps;
    static constexpr int threads = 32 * warps;
    static constexpr int load_items = 32 * lane_items;
    static constexpr int items = warps * loads * load_items;
    static constexpr int group_lanes = VSCAN__GROUP / lane_items;
    static constexpr int load_groups = 32 / group_lanes;
    static constexpr int warp_groups = loads * load_groups;
    static constexpr int groups = items / VSCAN__GROUP;
    static_assert(nested<T>::tile % items == 0, "partitions make up tiles");
};

/* A block's partition, for what finds what precedes its groups. */
template <class Index>
struct partition_place {
    lookback_memory lookback;
    epoch_t epoch;
    Index number;
    bool last; /* nobody needs its aggregates */
    bool counting, carry;
};

/* The number of head flags in the lane's group before the lane. heads: the lane's own, as bits. */
template <int GroupLanes>
static DEVICE uint32_t heads_before_lane(uint32_t heads, int lane) {
    uint32_t upto = __popc(heads);
    UNROLL_FOR (int d = 1; d < GroupLanes; d *= 2) {
        const uint32_t left = __shfl_up_sync(warp_mask, upto, d);
        if (lane % GroupLanes >= d) upto += left;
    }
    return upto - __popc(heads);
}

/*
 * Stores the totals of the segments that end among a lane's items, and the number of segments if
 * the vector ends there. By whole warps.
 *   i        position of the first item
 *   y        inclusive results
 *   before   head flags before position i
 */
template <class Pair, int V>
static DEVICE void write_totals(const scan_arguments &a, int64_t i, const typename Pair::U (&y)[V],
                                uint32_t heads, int64_t before, int lane) {
    using T = typename Pair::T;
    const vscan__scan &scan = a.scan;
    uint32_t next = __shfl_down_sync(warp_mask, heads & 1, 1);
    if (lane == 31) next = i + V < scan.n ? head_at(scan, i + V) : 0;
    const uint32_t ends = heads >> 1 | next << (V - 1);
    UNROLL_FOR (int j = 0; j < V; ++j) {
        const int64_t segments = before + __popc(heads & ((2u << j) - 1));
        const bool end = i + j == scan.n - 1;
        if (end && scan.count != nullptr) *scan.count = segments;
        if (scan.totals != nullptr && i + j < scan.n && (end || (ends >> j & 1))) {
            const int64_t k =
                a.count_backward ? (int64_t)a.lookback.header->segments - segments : segments - 1;
            if (k < scan.totals_length)
                ((T *)scan.totals)[k] = Pair::out(y[j], a.transform);
            else
                report_totals_length(a.late);
        }
    }
}

/* ---- Phases that scan/portable/portable.cuh and scan/small/small.cuh share ------------------------------------ */

/* Loads vectors `step` positions apart, all of which are whole and aligned. */
template <class Pair, int V, int N, class I>
static DEVICE void load_whole_items(lane_items<Pair, V> (&items)[N], const void *in, I i, int step,
                                    I n, bool backward) {
    using T = typename Pair::T;
    UNROLL_FOR (int r = 0; r < N; ++r)
        items[r].load_whole((const T *)in, i + r * step, n, backward);
}

/* The same if fast is true; else for each element whether it exists. */
template <class Pair, int V, int N, class I>
static DEVICE void load_items(lane_items<Pair, V> (&items)[N], const void *in, I i, int step, I n,
                              bool backward, bool fast, const pair_transform &transform) {
    using T = typename Pair::T;
    if (fast) {
        load_whole_items(items, in, i, step, n, backward);
    } else {
        UNROLL_FOR (int r = 0; r < N; ++r)
            items[r].load((const T *)in, i + r * step, n, backward, transform);
    }
}

/* The same to memory. */
template <class Pair, int V, int N, class I>
static DEVICE void store_whole_items(const lane_items<Pair, V> (&items)[N], void *out, I i,
                                     int step, I n, bool backward) {
    using T = typename Pair::T;
    UNROLL_FOR (int r = 0; r < N; ++r) items[r].store_whole((T *)out, i + r * step, n, backward);
}

template <class Pair, int V, int N, class I>
static DEVICE void store_items(const lane_items<Pair, V> (&items)[N], void *out, I i, int step, I n,
                               bool backward, bool fast) {
    using T = typename Pair::T;
    if (fast) {
        store_whole_items(items, out, i, step, n, backward);
    } else {
        UNROLL_FOR (int r = 0; r < N; ++r) items[r].store((T *)out, i + r * step, n, backward);
    }
}

/* ---- The body of the kernels whose blocks hold a partition in registers ------------------------- */

/* Where a lane is: in its warp, and its group in the partition. Shape: partition_shape or small_shape. */
template <class Shape>
struct lane_place {
    int lane, first; /* first: lane of the group */
    bool ends_group;
    int group; /* of the warp's load 0 */

    static DEVICE lane_place of(int lane, int warp) {
        return {lane, lane & ~(Shape::group_lanes - 1),
                lane % Shape::group_lanes == Shape::group_lanes - 1,
                warp * Shape::warp_groups + lane / Shape::group_lanes};
    }
};

/*
 * What a lane does with its elements between their loads and their stores. It refers to arrays of the kernel:
 * with arrays of its own nvcc 13.0 spills registers.
 *
 * SideBySide: sums of groups are written after all networks, which therefore run side by side; and what is known
 * of heads is packed while registers are scarce, over the look-back.
 */
template <class Pair, bool Segmented, class Shape, bool SideBySide>
struct lane_of_partition {
    using U = typename Pair::U;
    static constexpr int V = Shape::lane_items, L = Shape::loads;
    static constexpr bool packs = Segmented && SideBySide;
    const lane_place<Shape> &at;
    lane_items<Pair, V> (&items)[L];
    U (&x)[L][V];
    uint32_t (&heads)[L];
    unsigned (&any)[L];      /* ballots of heads */
    uint32_t (&rank)[L];     /* counting: heads in the group before this lane */
    uint32_t (&together)[L]; /* these three, packed */

    /* x becomes X0; sums of groups, and whether or how many heads they have, go to `groups`. first(r): what is
       to be done with x[r] before it is scanned. */
    template <class Groups, class First>
    DEVICE void scan_groups(Groups &groups, bool reversed, bool counting,
                            const pair_transform &transform, First first) const {
        uint32_t counts[L];
        UNROLL_FOR (int r = 0; r < L; ++r) {
            items[r].items(x[r], reversed, transform);
            any[r] = Segmented ? __ballot_sync(warp_mask, heads[r] != 0) : 0;
            first(r);
            sklansky<Pair, Segmented, Shape::group_lanes>(x[r], heads[r], any[r], at.lane);
            const int group = at.group + r * Shape::load_groups;
            if (!SideBySide && at.ends_group) groups.sum(group) = x[r][V - 1];
            rank[r] = 0;
            if (!Segmented) continue;
            const uint32_t earlier = lanes_between(any[r], at.first, at.lane) != 0;
            counts[r] = earlier | (heads[r] != 0);
            if (counting) {
                rank[r] = heads_before_lane<Shape::group_lanes>(heads[r], at.lane);
                counts[r] = rank[r] + __popc(heads[r]);
            }
            if (!SideBySide && at.ends_group) groups.heads(group) = counts[r];
            if (packs) together[r] = opaque(rank[r] << 8 | earlier << V | heads[r]);
        }
        if (!SideBySide || !at.ends_group) return;
        U *const sums = &groups.sum(at.group);
        uint32_t *const all_heads = &groups.heads(Segmented ? at.group : 0);
        UNROLL_FOR (int r = 0; r < L; ++r) {
            sums[r * Shape::load_groups] = x[r][V - 1];
            if (Segmented) all_heads[r * Shape::load_groups] = counts[r];
        }
    }

    /*
     * Results take the place of the elements. `before` knows what precedes each group, and `vector`
     *   put_total(r, y)                where y has the last result
     *   put_totals(i, y, heads, n)     of the segments that end there, n heads before position(r) = i
     *   put_first(r, y, heads)         exclusive results that no other one precedes
     */
    template <class Vector, class Before, class Shared, class Flag>
    DEVICE void results(const Vector &vector, const Before &before, Shared &shared, bool reversed,
                        bool counting, const Flag &exclusive,
                        const pair_transform &transform) const {
        UNROLL_FOR (int r = 0; r < L; ++r) {
            if (packs) {
                heads[r] = together[r] & ((1u << V) - 1);
                rank[r] = together[r] >> 8;
            }
            const bool earlier = packs ? together[r] >> V & 1
                                       : Segmented && lanes_between(any[r], at.first, at.lane);
            const auto of_group =
                before.of_group(shared, at.group + r * Shape::load_groups, r, counting);
            U y[V];
            UNROLL_FOR (int j = 0; j < V; ++j) {
                const bool cut = Segmented && (earlier || (heads[r] & ((2u << j) - 1)));
                y[j] = of_group.result(x[r][j], cut);
            }
            vector.put_total(r, y);
            if (Segmented && counting)
                vector.put_totals(vector.position(r), y, heads[r],
                                  before.heads_before(shared) + of_group.count + rank[r]);
            if (exclusive) {
                const U left = __shfl_up_sync(warp_mask, y[V - 1], 1);
                UNROLL_FOR (int j = V - 1; j > 0; --j) y[j] = y[j - 1];
                y[0] = at.lane == at.first ? of_group.base() : left;
                vector.put_first(r, y, heads[r]);
            }
            items[r].results(y, reversed, transform);
        }
    }
};

/* For lane_of_partition: a vector that is scanned from its own beginning on. */
template <class Pair, bool Segmented, class Shape, class Index>
struct whole_vector {
    using T = typename Pair::T;
    using U = typename Pair::U;
    static constexpr int V = Shape::lane_items;
    const scan_arguments &a;
    void *const &total;
    Index n, begin; /* position of the lane's first element */
    U visible;      /* precedes it where nothing else does */
    bool carry;     /* the initial value is read where the total goes */

    DEVICE void put_total(int r, const U (&y)[V]) const {
        const Index i = begin + r * Shape::load_items;
        if (total == nullptr || i + V < n || i >= n) return;
        if (carry) __threadfence();
        UNROLL_FOR (int j = 0; j < V; ++j)
            if (i + j == n - 1) *(T *)total = Pair::out(y[j], a.transform);
    }
    DEVICE int64_t position(int r) const { return begin + r * Shape::load_items; }
    DEVICE void put_totals(int64_t i, const U (&y)[V], uint32_t heads, int64_t before) const {
        write_totals<Pair>(a, i, y, heads, before, threadIdx.x % 32);
    }
    DEVICE void put_first(int r, U (&y)[V], uint32_t heads) const {
        UNROLL_FOR (int j = 0; j < V; ++j)
            if (Segmented ? heads >> j & 1 : begin + r * Shape::load_items + j == 0) y[j] = visible;
    }
};

} /* namespace vscan */
