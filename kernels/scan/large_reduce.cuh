/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reduction warps and the prefix warp of scan/large.cuh.
 *
 * A tile has 16 parts of 32 lines; a reduction warp sums two of them. The group sums of a part are
 * scanned by shuffles, the sums of the parts go through shared memory, and reduction warp 0
 * publishes the tile's aggregate. All of this is the balanced tree of lib/core/order.h.
 *
 * The prefix warp reads the aggregates of the other tiles and computes P. A status word carries its
 * own epoch, and nothing else is read because of it, so relaxed order is enough
 * (kernels/README.md).
 */
#ifndef VSCAN_SCAN_LARGE_REDUCE_CUH
#define VSCAN_SCAN_LARGE_REDUCE_CUH

#include "scan/large_roles.cuh"

namespace vscan {

#ifdef VSCAN__TMA

/*
 * The look-back, by the prefix warp: P(to) from P(from). All loads are issued at once. Then 32
 * aggregates at a time are waited for, so that everything before the last ones is combined already
 * when they arrive.
 */
template <class Pair, bool Segmented>
static __device__ typename Pair::U
look_back_tiles(typename Pair::U p, const lookback_memory &memory, epoch_t epoch, int64_t from,
                int64_t to, typename Pair::U *aggregates, int lane, int64_t *heads_before) {
    using U = typename Pair::U;
    constexpr int per_lane = large_shape<Pair, Segmented>::lookback_words;
    uint32_t count = 0;
    while (from < to) {
        U a[per_lane];
        uint32_t heads[per_lane];
        bool ready[per_lane];
        const auto ask = [&](int k) {
            const int64_t tile = from + 32 * k + lane;
            a[k] = Pair::identity;
            heads[k] = 0;
            ready[k] = tile >= to || try_read<U>(memory, epoch, tile, &a[k], &heads[k]);
        };
#pragma unroll
        for (int k = 0; k < per_lane; ++k) ask(k);
        U sum = Pair::identity;
#pragma unroll
        for (int k = 0; k < per_lane; ++k) {
            if (from + 32 * k >= to) break;
            while (!__all_sync(warp_mask, ready[k]))
                if (!ready[k]) ask(k);
            count += heads[k];
            if (Segmented) { /* what precedes the last tile with a head does not matter */
                const unsigned cut = __ballot_sync(warp_mask, heads[k] != 0);
                if (cut) {
                    if (lane < 31 - __clz(cut)) a[k] = Pair::identity;
                    sum = p = Pair::identity;
                }
            }
            if (Pair::in_any_order) {
                sum = Pair::combine(sum, a[k]);
                continue;
            }
            aggregates[lane] = a[k];
            __syncwarp();
            constexpr int V = 16 / (int)sizeof(U);
#pragma unroll
            for (int q = 0; q < 32 / V; ++q) {
                U next[V]; /* identities beyond the last one change nothing */
                const int4 quad = ((const int4 *)aggregates)[q];
                memcpy(next, &quad, 16);
#pragma unroll
                for (int j = 0; j < V; ++j) p = Pair::combine(p, next[j]);
            }
            __syncwarp();
        }
        if (Pair::in_any_order) {
#pragma unroll
            for (int d = 16; d > 0; d /= 2)
                sum = Pair::combine(sum, __shfl_xor_sync(warp_mask, sum, d));
            p = Pair::combine(p, sum);
        }
        from = to - from < 32 * per_lane ? to : from + 32 * per_lane;
        if (Segmented) {
            *heads_before += __reduce_add_sync(warp_mask, count);
            count = 0;
        }
    }
    return p;
}

template <class Pair, bool Segmented>
struct reduce_warps : large_role<Pair, Segmented> {
    using common = large_role<Pair, Segmented>;
    using T = typename Pair::T;
    using U = typename Pair::U;
    using shape = large_shape<Pair, Segmented>;
    static constexpr int R = shape::line_items;
    static constexpr int unrolled = Segmented ? 1 : shape::sums; /* plain scans have registers
                                                                    left */
    using common::a;
    using common::b;
    using common::carry;
    using common::group_heads;
    using common::in_memory;
    using common::in_shift;
    using common::lane;
    using common::matrix;
    using common::matrix_row_of;
    using common::of_rows;
    using common::shared;
    using common::slot_of;
    using common::stage_of;
    using common::tile_in_row;
    using common::tile_of;
    using common::tiles;
    using common::wait_loaded;

    /* ---- Reduction warps --------------------------------------------------------------------- */

    /* Where the elements of a line take half of the registers, values that depend on an index
       are computed anew for each tile; they would be spilled. */
    static __device__ __forceinline__ int again(int number) {
        return R == 32 ? made_here(number) : number;
    }

    static __device__ void sync_reduction_warps() { sync_warps<1, 32 * shape::reduction_warps>(); }

    /* The sum of the elements of a line that are present, by the balanced tree; x in memory
       order. Only elements that precede others in scan order may be absent. If all are, the
       result is undefined. */
    template <bool Backward>
    static __device__ __forceinline__ U sum_present(U (&x)[R], uint32_t present) {
#pragma unroll
        for (int half = 1; half < R; half *= 2)
#pragma unroll
            for (int j = 0; j < R; j += 2 * half) {
                /* The half that is later in scan order has the sum. The other half has elements
                   if its last one in scan order is present. */
                const int later = Backward ? j : j + 2 * half - 1;
                const int other = Backward ? j + half : j + half - 1;
                combine_where<Pair>(present & 1u << other, x[other], x[later]);
            }
        return x[Backward ? 0 : R - 1];
    }

    /*
     * The sums of a part's groups: lane g returns that of group g, other lanes the identity.
     * Segmented: the sum from the group's last head on, whose element is combined with the initial
     * value. Scanning backward does not change the balanced tree; only left and right are
     * exchanged.
     */
    __device__ U sum_groups(int slot, int stage, int part) const {
        const int lane = again(common::lane), line = part * 32 + lane;
        U x[R], sum;
        read_line<Pair>(x, shared.slot[0], slot * shape::lines + in_memory(line, shape::lines),
                        in_shift(), shared.after[slot], false);
        if (Segmented) {
            const uint32_t heads = group_heads(stage, line / shape::group_lanes);
            const uint32_t last = heads ? 0x80000000u >> __clz(heads) : 0;
            const int shift = line % shape::group_lanes * R;
            uint32_t present = (heads ? ~(last - 1) : ~0u) >> shift, head = last >> shift;
            if (a.scan.backward) { /* in memory order */
                present = __brev(present) >> (32 - R);
                head = __brev(head) >> (32 - R);
            }
            if (a.scan.has_initial) {
#pragma unroll
                for (int j = 0; j < R; ++j)
                    if (head & 1u << j) x[j] = Pair::combine(shared.initial, x[j]);
            }
            if (a.scan.backward)
                sum = sum_present<true>(x, present);
            else
                sum = sum_present<false>(x, present);
            if (shape::group_lanes > 1 && (present & ((2u << (R - 1)) - 1)) == 0)
                sum = Pair::identity;
        } else {
            sum = sum_items<Pair>(x);
        }
        if (shape::group_lanes == 1) return sum;
        const U both = Pair::combine(sum, __shfl_xor_sync(warp_mask, sum, 1));
        const U mine = __shfl_sync(warp_mask, both, 2 * lane);
        return lane < shape::part_groups ? mine : Pair::identity;
    }

    __device__ void sum(int warp) const {
        for (int k = 0;; ++k) {
            if (tile_of(k) >= tiles()) return;
            const int slot = slot_of(k), stage = stage_of(k);
            const int lane = again(common::lane), reduction_warp = again(warp);
            U inside[shape::sums]; /* prefix of the lane's group in its part */
            uint32_t open[shape::sums];
            /* first what needs only heads: elements may still be in flight */
            if (Segmented) shared.heads_ready.wait(k);
#pragma unroll
            for (int s = 0; s < shape::sums; ++s)
                open[s] = Segmented
                              ? open_levels(stage, s * shape::reduction_warps + reduction_warp)
                              : lane;
#pragma unroll unrolled
            for (int s = 0; s < shape::sums; ++s) {
                const int part = s * shape::reduction_warps + again(warp),
                          q = part / shape::quarter_parts;
                wait_loaded(k, q);
                const U sum = sum_groups(slot, stage, part);
                shared.emptied.arrive(k, q);
                /* registers cannot be indexed at run time */
#pragma unroll
                for (int t = 0; t < shape::sums; ++t)
                    if (t == s) inside[t] = sum;
            }
            /* from sums of a part's groups to prefixes in the part: the Sklansky network */
#pragma unroll
            for (int half = 1; half < shape::part_groups; half *= 2)
#pragma unroll
                for (int s = 0; s < shape::sums; ++s) {
                    const U left = __shfl_sync(warp_mask, inside[s], (lane & ~(half - 1)) - 1);
                    combine_where<Pair>(open[s] & half, left, inside[s]);
                }
#pragma unroll
            for (int s = 0; s < shape::sums; ++s)
                if (lane == shape::part_groups - 1)
                    shared.sums[stage][s * shape::reduction_warps + reduction_warp] = inside[s];
            sync_reduction_warps();
            finish_sums(again(warp), stage, shared.taken.known(k), inside);
            shared.groups_ready.arrive(k);
        }
    }

    /*
     * Writes down what is known of the heads in a part. Returns the levels of the network over the
     * part's groups, each as half of its block, at which something is combined with the lane's
     * group: the group is in the right half, in which no segment begins up to the group.
     */
    __device__ uint32_t open_levels(int stage, int part) const {
        const int lane = again(common::lane), group = part * shape::part_groups + lane;
        const uint32_t heads = lane < shape::part_groups ? group_heads(stage, group) : 0;
        const uint32_t any = __ballot_sync(warp_mask, heads != 0);
        const uint32_t count = __reduce_add_sync(warp_mask, (uint32_t)__popc(heads));
        if (lane == 0) {
            shared.part_heads[stage][part] = any;
            shared.part_count[stage][part] = count;
        }
        if (lane + 1 == __ffs((int)any))
            shared.part_first[stage][part] = group * shape::group_items + __ffs((int)heads) - 1;
        /* the last lane up to this one that has a head: it must precede the right half */
        const uint32_t upto = any & ((2u << lane) - 1);
        const int since = upto ? 31 - __clz(upto) : -1;
        uint32_t open = 0;
#pragma unroll
        for (int half = 1; half < shape::part_groups; half *= 2)
            if (since < (lane & ~(half - 1))) open |= half;
        return open & lane;
    }

    /* The bits from .. to - 1. */
    static __device__ uint32_t bits(int from, int to) {
        return (1u << to) - (1u << from);
    }

    /* When all parts have been summed: publishes the tile's aggregate, and writes the prefixes
       in the tile. */
    __device__ void finish_sums(int reduction_warp, int stage, int64_t tile,
                                const U (&inside)[shape::sums]) const {
        const int lane = again(common::lane);
        uint32_t any = 0, count = 0; /* bit p: a head in part p; the number of heads */
        if (Segmented) {
            const uint32_t mine = lane < shape::parts ? shared.part_count[stage][lane] : 0;
            any = __ballot_sync(warp_mask, mine != 0);
            if (reduction_warp == 0) count = __reduce_add_sync(warp_mask, mine);
        }
        /* the levels of the tree above the parts: lane p has the block of 2^level parts that
           contains p */
        U block[shape::levels + 1] = {shared.sums[stage][lane % shape::parts]};
#pragma unroll
        for (int level = 0; level < shape::levels; ++level) {
            const int half = 1 << level;
            const U other = __shfl_xor_sync(warp_mask, block[level], half);
            block[level + 1] = Pair::combine(block[level], other);
            if (Segmented) {
                const int right = (lane % shape::parts | half) & ~(half - 1);
                if (any & bits(right, right + half))
                    block[level + 1] = lane & half ? block[level] : other;
            }
        }
        if (reduction_warp == 0) {
            if (carry()) __threadfence();
            if (lane == 0) {
                jitter(a.lookback, shared.epoch, tile, jitter_publish);
                publish<U>(a.lookback, shared.epoch, tile, block[shape::levels], count);
                shared.prefixes[stage][0] = Pair::identity;
                if (Segmented)
                    shared.first_head[stage] =
                        any ? shared.part_first[stage][__ffs((int)any) - 1] : shape::items;
            }
        }
#pragma unroll
        for (int s = 0; s < shape::sums; ++s) {
            const int part = s * shape::reduction_warps + reduction_warp;
            const bool open = !Segmented || !(shared.part_heads[stage][part] & ((2u << lane) - 1));
            U prefix = inside[s];
#pragma unroll
            for (int level = 0; level < shape::levels; ++level) {
                const int half = 1 << level, right = part & ~(half - 1);
                const U left = __shfl_sync(warp_mask, block[level], right - 1);
                const bool take = (part & half) && open && !(any & bits(right, part));
                combine_where<Pair>(take, left, prefix);
            }
            if (lane < shape::part_groups)
                shared.prefixes[stage][part * shape::part_groups + lane + 1] = prefix;
        }
    }

    /* ---- Prefix warp ------------------------------------------------------------------------- */

    __device__ void find_prefixes(U p) const {
        int64_t prefix_ready = 0, heads_before = 0;
        for (int k = 0;; ++k) {
            const int64_t tile = tile_of(k);
            if (tile >= tiles()) return;
            jitter(a.lookback, shared.epoch, tile, jitter_wait);
            if constexpr (of_rows) { /* P begins anew in each row */
                const int64_t first = tile - tile_in_row(tile);
                if (prefix_ready <= first) {
                    prefix_ready = first;
                    p = shared.initial;
                    if (a.scan.has_initial == 2)
                        p = Pair::in(
                            ((const T *)
                                 a.scan.initial_at)[matrix_row_of(tile) * matrix().initial_step]);
                }
            }
            p = look_back_tiles<Pair, Segmented>(p, a.lookback, shared.epoch, prefix_ready, tile,
                                                 shared.aggregates, lane, &heads_before);
            prefix_ready = tile;
            if (lane == 0) {
                shared.p[stage_of(k)] = p;
                shared.heads_before[stage_of(k)] = heads_before;
                shared.prefix_ready.arrive(k);
            }
        }
    }
};

#endif

} /* namespace vscan */

#endif
