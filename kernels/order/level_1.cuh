/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What precedes a group, for scan/small/small.cuh and scan/portable/portable.cuh. In order: the blocks of level 1
 * (lib/core/order.h) of a partition or tile. One warp adds up their groups, a lane each block.
 */
#pragma once

#include "order/nested.cuh"
#include "machine/warp.cuh"

namespace vscan {

/* What one instruction reads of shared memory. */
template <class U, int N>
struct __align__(N * sizeof(U)) packed {
    U value[N];
};

/* N values, at one index each, that lanes read and write by 16 bytes, each lane those of another
   row: the rows lie in different banks. */
template <class U, int N>
struct row_of {
    static constexpr int wide = 16 / sizeof(U);
    packed<U, wide> quads[N / wide + 1];
    DEVICE U &operator[](int k) { return ((U *)quads)[k]; }
    DEVICE U operator[](int k) const { return ((const U *)quads)[k]; }
};

/* The sums of a partition's groups, and their head flags: whether any; counting: how many. */
template <class Pair, bool Segmented, int Blocks>
struct group_sums {
    using U = typename Pair::U;
    static constexpr int groups = nested<U>::groups;
    row_of<U, groups> sums[Blocks];
    uint32_t all_heads[Segmented ? Blocks : 1][groups];
    DEVICE U &sum(int group) { return sums[group / groups][group % groups]; }
    DEVICE uint32_t &heads(int group) { return all_heads[group / groups][group % groups]; }
};

/* What add_groups makes of them. */
template <class Pair, bool Segmented, int Blocks>
struct level_1_blocks {
    using U = typename Pair::U;
    row_of<U, nested<U>::groups> r1[Blocks];                    /* of each group */
    U sums[Blocks];                                             /* X1 at the end */
    uint32_t heads[Blocks];                                     /* bit g: in group g */
    uint32_t counts[Segmented ? Blocks : 1][nested<U>::groups]; /* counting: before each */
};

/*
 * Adds up the groups of each block of level 1. By a warp, which has a lane for each block; it calls
 * done(sum of the block, number of its heads or whether there are any). writes: all of `to`.
 */
template <class Pair, bool Segmented, int Blocks, class Done>
static DEVICE void add_groups(level_1_blocks<Pair, Segmented, Blocks> &to,
                              group_sums<Pair, Segmented, Blocks> &from, bool counting, int lane,
                              bool writes, Done done) {
    using U = typename Pair::U;
    uint32_t any = 0, before = 0, heads = 0;
#pragma unroll(Blocks < 8 ? Blocks : 4)
    for (int b = 0; b < (Segmented ? Blocks : 0); ++b) {
        const uint32_t count = from.all_heads[b][lane];
        const uint32_t any_here = __ballot_sync(warp_mask, count != 0);
        uint32_t all = any_here != 0;
        if (counting) {
            const uint32_t upto = warp_inclusive_sum(count);
            if (writes) to.counts[b][lane] = before + upto - count;
            all = __shfl_sync(warp_mask, upto, 31);
            before += all;
        }
        if (lane != b) continue;
        any = any_here;
        heads = all;
    }
    if (lane >= Blocks) return;
    U sum = Pair::identity;
    constexpr int wide = row_of<U, 1>::wide;
    constexpr int quads = nested<U>::groups / wide;
    /* with heads there are too few registers for all at once */
#pragma unroll(Segmented || (Blocks > 1 && sizeof(U) == 4) ? quads / 2 : quads)
    for (int q = 0; q < quads; ++q) {
        packed<U, wide> s = from.sums[lane].quads[q], r1;
        UNROLL_FOR (int j = 0; j < wide; ++j) {
            r1.value[j] = sum;
            if (Segmented ? !(any & 1u << (q * wide + j)) : q + j > 0)
                s.value[j] = Pair::combine(sum, s.value[j]);
            sum = s.value[j];
        }
        if (writes) to.r1[lane].quads[q] = r1;
    }
    done(sum, heads);
    if (!writes) return;
    to.sums[lane] = sum;
    to.heads[lane] = any;
}

/* What precedes a group. */
template <class Pair>
struct before_group {
    using U = typename Pair::U;
    before_tile<Pair> tile;
    U r2, r1;
    U initial;
    uint32_t count; /* of heads, in the partition, if counting */

    /* The result before its first element. */
    DEVICE U base() const { return tile.sum(Pair::combine(r2, r1)); }
    /* The result of an element with X0 = x; cut: its segment begins in the group. */
    DEVICE U result(U x, bool cut) const {
        const U sum = tile.sum(Pair::combine(r2, Pair::combine(r1, x)));
        return cut ? Pair::combine(initial, x) : sum;
    }
};

/* The same for pairs that any order suits. */
template <class Pair>
struct before_group_in_any_order {
    using U = typename Pair::U;
    U all;
    uint32_t count;
    DEVICE U base() const { return all; }
    DEVICE U result(U x, bool cut) const { return Pair::combine(cut ? Pair::identity : all, x); }
};

} /* namespace vscan */
