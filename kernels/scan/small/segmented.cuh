/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What scan/small/small.cuh does above the groups for segmented scans by pairs that any order suits. An
 * aggregate is a partition's, and P, what precedes the partition, the sum of all earlier ones.
 */
#pragma once

#include "order/level_1.cuh"
#include "scan/small/shape.cuh"

namespace vscan {

template <class Pair, int Loads, int Warps>
struct small_shared {
    using U = typename Pair::U;
    using shape = small_shape<Pair, Loads, Warps>;
    static constexpr int S = shape::scan_groups;
    struct {
        packed<U, S> sums[shape::scan_lanes]; /* of each group alone */
        packed<uint32_t, S> all_heads[shape::scan_lanes];
        DEVICE U &sum(int group) { return ((U *)sums)[group]; }
        DEVICE uint32_t &heads(int group) { return ((uint32_t *)all_heads)[group]; }
    } groups;
    /* of a warp's groups: the partition up to them; [S - 1]: up to the one before its first */
    packed<U, S> prefixes[S > 1 ? Warps : 1][shape::warp_groups / S + 1];
    packed<uint32_t, S> prefix_heads[S > 1 ? Warps : 1][shape::warp_groups / S + 1];
    /* of the earlier partitions, what each warp has read */
    uint32_t counts_before[Warps]; /* if counting */
    packed<U, 16 / sizeof(U)> sums_before[shape::polls * Warps * sizeof(U) / 16];
    uint32_t heads_before[shape::polls * Warps];
};

/* By a warp whose lanes have S groups each: their sums g and numbers of heads h become those from
   the partition's first group on. The first `used` lanes have groups. */
template <class Pair, bool Segmented, int S>
static DEVICE void scan_groups(typename Pair::U (&g)[S], uint32_t (&h)[S], int lane,
                               int used = 32) {
    uint32_t h_mask = 0, h_sum = 0;
    if (Segmented) {
        UNROLL_FOR (int k = 0; k < S; ++k) {
            h_mask |= (uint32_t)(h[k] != 0) << k;
            h_sum += h[k];
            h[k] = h_sum;
        }
    }
    const unsigned h_any = Segmented ? __ballot_sync(warp_mask, h_mask != 0) : 0;
    sklansky<Pair, Segmented, 32>(g, h_mask, h_any, lane, used);
    if (Segmented) {
        const uint32_t mine = h_sum;
        UNROLL_FOR (int d = 1; d < 32; d *= 2) {
            const uint32_t left = __shfl_up_sync(warp_mask, h_sum, d);
            if (lane >= d) h_sum += left;
        }
        UNROLL_FOR (int k = 0; k < S; ++k) h[k] += h_sum - mine;
    }
}

/*
 * The look-back: waits for the aggregates of all partitions before `partition`, and combines them
 * into p; heads: how many there are in them, if counting. By all threads.
 */
template <class Pair, int Loads, int Warps>
static DEVICE void look_back_small(typename Pair::U &p, uint32_t &heads_before,
                                   small_shared<Pair, Loads, Warps> &shared,
                                   const lookback_memory &memory, epoch_t epoch, int partition,
                                   bool counting) {
    using U = typename Pair::U;
    using shape = small_shape<Pair, Loads, Warps>;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    U *const sums = (U *)shared.sums_before;

    U sum[shape::polls];
    uint32_t heads[shape::polls];
    wait_before_first_read<Pair>();
    wait_for_all<shape::threads>(memory, epoch, (U)Pair::identity, sum, heads, (int)threadIdx.x,
                                 partition);
    __syncwarp();

    if (counting) {
        uint32_t count = 0;
        UNROLL_FOR (int k = 0; k < shape::polls; ++k) count += heads[k];
        UNROLL_FOR (int d = 16; d > 0; d /= 2) count += __shfl_xor_sync(warp_mask, count, d);
        if (lane == 0) shared.counts_before[warp] = count;
    }
    UNROLL_FOR (int k = 0; k < shape::polls; ++k) {
        const unsigned any = __ballot_sync(warp_mask, heads[k] != 0);
        /* what precedes the last head does not matter */
        if (any && lane < 31 - __clz((int)any)) sum[k] = Pair::identity;
        UNROLL_FOR (int d = 16; d > 0; d /= 2)
            sum[k] = Pair::combine(sum[k], __shfl_xor_sync(warp_mask, sum[k], d));
        if (lane == 0) {
            sums[k * Warps + warp] = sum[k];
            shared.heads_before[k * Warps + warp] = any;
        }
    }
    __syncthreads();

    UNROLL_FOR (int w = 0; w < shape::polls * Warps; ++w) {
        const U next = sums[w];
        p = shared.heads_before[w] ? next : Pair::combine(p, next);
    }
    if (counting) {
        UNROLL_FOR (int w = 0; w < Warps; ++w) heads_before += shared.counts_before[w];
    }
}

/*
 * Prefixes of the lane's groups in the partition: e before the group, and e_heads, the heads before
 * it (whether any; counting: how many). g, h: of this lane's S groups, as scan_groups leaves them.
 */
template <class Pair, int Loads, int Warps, int S>
static DEVICE void prefixes_of_groups(typename Pair::U (&e)[Loads], uint32_t (&e_heads)[Loads],
                                      packed<typename Pair::U, S> &g, packed<uint32_t, S> &h,
                                      small_shared<Pair, Loads, Warps> &shared, int warp,
                                      int lane) {
    using U = typename Pair::U;
    using shape = small_shape<Pair, Loads, Warps>;
    const int in_load = lane / shape::group_lanes;
    if (S == 1) {
        UNROLL_FOR (int r = 0; r < Loads; ++r) {
            const int group = warp * shape::warp_groups + in_load + r * shape::load_groups;
            e[r] = __shfl_sync(warp_mask, g.value[0], group - 1);
            e_heads[r] = __shfl_sync(warp_mask, h.value[0], group - 1);
            if (group == 0) {
                e[r] = Pair::identity;
                e_heads[r] = 0;
            }
        }
    } else if (S == shape::warp_groups) { /* a lane has scanned the groups of a warp */
        const U left = __shfl_sync(warp_mask, g.value[S - 1], warp - 1);
        e[0] = warp == 0 ? Pair::identity : left;
        const uint32_t left_heads = __shfl_sync(warp_mask, h.value[S - 1], warp - 1);
        e_heads[0] = warp == 0 ? 0 : left_heads;
        UNROLL_FOR (int k = 1; k < S; ++k) {
            const U before_it = __shfl_sync(warp_mask, g.value[k - 1], warp);
            const uint32_t heads_before = __shfl_sync(warp_mask, h.value[k - 1], warp);
            if (in_load != k) continue;
            e[0] = before_it;
            e_heads[0] = heads_before;
        }
    } else {
        constexpr int lanes = shape::warp_groups / S;
        const int at = lane - (warp * lanes - 1);
        const bool outside = warp == 0 && lane == 31; /* nothing precedes the first group */
        if ((at >= 0 && at <= lanes) || outside) {
            const int to = outside ? 0 : at;
            if (outside) {
                UNROLL_FOR (int k = 0; k < S; ++k) {
                    g.value[k] = Pair::identity;
                    h.value[k] = 0;
                }
            }
            shared.prefixes[warp][to] = g;
            shared.prefix_heads[warp][to] = h;
        }
        __syncwarp();
        UNROLL_FOR (int r = 0; r < Loads; ++r) {
            const int group = S + r * shape::load_groups + in_load;
            e[r] = ((const U *)shared.prefixes[warp])[group - 1];
            e_heads[r] = ((const uint32_t *)shared.prefix_heads[warp])[group - 1];
        }
    }
}

/* What precedes the lane's groups: found by all threads of a block. */
template <class Pair, int Loads, int Warps, bool OneBlock>
struct segmented_before {
    using U = typename Pair::U;
    using shape = small_shape<Pair, Loads, Warps>;
    using shared_t = small_shared<Pair, Loads, Warps>;
    U p;
    U e[Loads];
    uint32_t e_heads[Loads];
    uint32_t count; /* counting: heads in all earlier partitions */

    DEVICE void find(shared_t &shared, const partition_place<int> &place, U, bool let_next_late) {
        constexpr int S = shape::scan_groups;
        const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
        const int scan_lanes =
            OneBlock ? (int)blockDim.x / 32 * shape::warp_groups / S : shape::scan_lanes;
        packed<U, S> g;
        packed<uint32_t, S> h = {};
        UNROLL_FOR (int k = 0; k < S; ++k) g.value[k] = Pair::identity;
        if (lane < scan_lanes) {
            g = shared.groups.sums[lane];
            h = shared.groups.all_heads[lane];
        }
        scan_groups<Pair, true>(g.value, h.value, lane, scan_lanes);
        if (!OneBlock)
            jitter(place.lookback, place.epoch, place.number * Warps + warp, jitter_publish);
        if (!OneBlock && !place.last) {
            if (warp == 0) {
                if (place.carry) __threadfence();
                if (lane == shape::scan_lanes - 1)
                    publish<U>(place.lookback, place.epoch, place.number, g.value[S - 1],
                               h.value[S - 1] & head_count_mask);
            }
        }
        prefixes_of_groups(e, e_heads, g, h, shared, warp, lane);
        p = Pair::identity;
        count = 0;
        if (OneBlock) return;
        const bool closes = place.last && threadIdx.x == shape::threads - 1;
        look_back_small<Pair, Loads, Warps>(p, count, shared, place.lookback, place.epoch,
                                            place.number, place.counting);
        if (closes) advance(place.lookback, place.epoch);
        if (let_next_late) launch_dependents();
    }

    DEVICE uint32_t heads_before(const shared_t &) const { return count; }
    DEVICE before_group_in_any_order<Pair> of_group(const shared_t &, int, int r, bool) const {
        return {Pair::combine(e_heads[r] ? Pair::identity : p, e[r]), e_heads[r]};
    }
};

} /* namespace vscan */
