/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scans and reductions of vectors of up to a few MiB that go on from a carry (core/carry.h), for pairs
 * that add in order. As in scan/small/small.cuh a block owns one partition, in the order of the blocks, and
 * there are no tickets. As in scan/carried/carried.cuh partitions are those of a virtual vector: the call's
 * elements begin at position `skew`, and a stand-in precedes them.
 *
 * Only the device knows the carry's position. But the host knows where it must be if every call so
 * far ran once, which is so but for graphs that are launched again. So a block loads and adds up groups as
 * if it were there, while it reads the carry, and again if it is not.
 *
 * The host launches as many blocks as the longest virtual vector needs, so behind the block of the last
 * partition there may be some without elements. The last block of the launch, whichever it is, waits for an
 * aggregate of every block before it: all have read the carry then, and it says that the new state is the
 * present one. The block of the last partition has written that where the old one is not, at any time. So
 * blocks wait for earlier blocks alone. Memory order is as in scan/small/small.cuh.
 */
#pragma once

#include "elements/shifted.cuh"
#include "machine/tma.cuh"
#include "scan/carried/vector.cuh"
#include "scan/small/in_order.cuh"

namespace vscan {

/* What precedes position n, behind the last element, at each level. By one thread of the last partition's block. */
template <class Pair, class Before, class Shared>
static DEVICE void write_small_levels(vscan__carry_state &to, const Before &before,
                                      const Shared &shared, int n, int first_item) {
    typename Pair::U r2 = shared.r2;
    const int b = (n - 1 - first_item) / VSCAN__LEVEL_1; /* its block of level 1 */
    for (int k = 0; k < b; ++k) r2 = Pair::combine(r2, shared.own.sums[k]);
    levels_behind<Pair>::of(n, shared.own.r1[b][n % VSCAN__LEVEL_1 / VSCAN__GROUP], r2,
                            shared.own.sums[b], before.tile,
                            first_item / nested<typename Pair::U>::tile)
        .write(to);
}

/* By a block without elements, and by the last one of these; blocks: aggregates of a partition. */
template <class Pair>
static DEVICE void publish_nothing(const lookback_memory &lookback, epoch_t epoch, int partition,
                                   int blocks) {
    jitter(lookback, epoch, partition, jitter_publish);
    if (threadIdx.x == 0)
        publish<typename Pair::U>(lookback, epoch, partition * blocks, Pair::identity);
}
template <class U>
static DEVICE void wait_for_blocks(const lookback_memory &lookback, epoch_t epoch, int partition,
                                   int blocks, int threads) {
    for (int p = (int)threadIdx.x; p < partition; p += threads)
        (void)wait_for<U>(lookback, epoch, p * blocks);
    __syncthreads();
}

/* By the last block, when all have read the old carry. */
static DEVICE void end_carried(vscan__carry *carry, const vscan__carry &old,
                               const lookback_memory &lookback, epoch_t epoch, int threads) {
    if (threadIdx.x == 0) {
        replace_state(carry, old);
        advance(lookback, epoch);
    }
    scrub(lookback, epoch, (int)threadIdx.x, threads);
}

/* A lane's vectors from element `at` of the partition on, in a vector that begins (backward: ends) with the
   partition, at any address. whole: the call has all of the warp's. */
template <class Pair, int Loads, int V>
static DEVICE void load_at(lane_items<Pair, V> (&items)[Loads], const typename Pair::T *in,
                           const carried_partition<Pair, int> &here, int left, int at,
                           bool backward, bool whole, int lane, const pair_transform &transform) {
    const int misses = (int)((uintptr_t)in % 16 / sizeof *in), begin = at - lane * V;
    /* the vectors of 16 bytes that the warp's elements begin and end in are the call's */
    const bool inside = begin - V >= here.skew - here.first && begin + Loads * 32 * V + V <= left;
    if (inside && misses != 0 && !backward)
        load_shifted(items, in + at, misses, lane);
    else
        here.load(items, in, at, backward, misses == 0, whole, transform);
}
template <class Pair, int Loads, int V>
static DEVICE void store_at(lane_items<Pair, V> (&items)[Loads], typename Pair::T *out,
                            const carried_partition<Pair, int> &here, int at, bool backward,
                            bool whole, int lane) {
    const int misses = (int)((uintptr_t)out % 16 / sizeof *out);
    if (whole && misses != 0 && !backward)
        store_shifted(items, out + at, misses, lane);
    else
        here.store(items, out, at, backward, misses == 0, whole);
}

template <class Pair, int Loads, int Warps>
__global__ void __launch_bounds__(32 * Warps, small_blocks<Pair, true, Loads> *small_warps / Warps)
    scan_small_carried(const __grid_constant__ small_arguments hot) {
    using T = typename Pair::T;
#ifndef VSCAN__TMA
    if (Loads == medium_loads && sizeof(T) == 4) return; /* as in scan/small/small.cuh */
#endif
    using U = typename Pair::U;
    using shape = small_shape<Pair, Loads, Warps>;
    constexpr int V = shape::lane_items, tile = nested<T>::tile;
    using before_t = in_order_before<Pair, false, Loads, Warps, before_carried_tile<Pair>>;
    constexpr int blocks = before_t::blocks; /* aggregates of a partition */
    __shared__ typename before_t::shared_t shared;
    __shared__ carry_before<T> old;
    __shared__ U unfinished[VSCAN__GROUP]; /* the elements of the last group */

    const scan_arguments &a = hot.rest;
    const bool backward = hot.backward;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int partition = (int)blockIdx.x, first_item = partition * shape::items;
    int begin = warp * (Loads * shape::load_items) + lane * V; /* in the partition */
    const bool last_block = partition == (int)gridDim.x - 1;

    /* ---- The old carry ----------------------------------------------------------------------- */
    /* some blocks prefetch for others: where the own elements are is not known yet */
    UNROLL_FOR (int r = 0; r < Loads; ++r)
        prefetch_element<false, T>(hot, first_item + begin + r * shape::load_items);
    grid_dependency_wait(true);
    const lookback_memory lookback = {hot.header, a.lookback.capacity, hot.delay};
    copy_carry(old.carry, a.scan.carry, (int)threadIdx.x, shape::threads);
    if (threadIdx.x == 0) old.nothing = Pair::identity;
    const epoch_t epoch = read_epoch(lookback);

    /* ---- Load, and scan inside groups -------------------------------------------------------- */
    lane_items<Pair, V> items[Loads];
    U x[Loads][V];
    uint32_t heads[Loads] = {}, rank[Loads], together[Loads]; /* there are none */
    unsigned any[Loads];
    const lane_place<shape> at = lane_place<shape>::of(lane, warp);
    const lane_of_partition<Pair, false, shape, true> mine = {at,  items, x,       heads,
                                                              any, rank,  together};
    /* of the call's elements in the virtual vector; none: left <= 0 */
    int skew, left;
    carried_partition<Pair, int> here;
    const auto place_at = [&](int64_t position) {
        skew = (int)(position % tile), left = skew + hot.n - first_item;
        here = carried_partition<Pair, int>::at(first_item, skew, left, shape::items);
    };
    int64_t position = hot.initial.as_long; /* where it is expected */
    ROLLED_FOR (;;) {
        begin = opaque(begin); /* nothing is computed before the loop and kept */
        const int warp_begin = begin - lane * V;
        place_at(position);
        const bool whole = here.has_all(warp_begin, Loads * shape::load_items);
        /* the partition's first element in scan order, if only in theory */
        const T *const in = (const T *)hot.in + (backward ? left : first_item - skew);
        load_at(items, in, here, left, begin, backward, whole, lane, a.transform);
        async_copies_wait();
        if (here.from > 0) {
            __syncthreads();
            here.stand_in(items, begin, backward, old);
        }
        mine.scan_groups(shared.groups, backward, false, a.transform, [&](int r) {
            if (left <= shape::items)
                keep_unfinished<Pair, false, shape>(unfinished, here, begin + r * shape::load_items,
                                                    x[r], 0, 0, lane);
        });
        __syncthreads();
        const int64_t expected = position;
        position = present(old.carry).position;
        if ((position - expected) % tile == 0) break;
    }
    vscan__carry *const carry = a.scan.carry;
    place_at(position);
    if (left <= 0) {
        publish_nothing<Pair>(lookback, epoch, partition, blocks);
        if (!last_block) return;
        wait_for_blocks<U>(lookback, epoch, partition, blocks, shape::threads);
        end_carried(carry, old.carry, lookback, epoch, shape::threads);
        return;
    }
    const bool last_partition = left <= shape::items,
               whole = here.has_all(begin - lane * V, Loads * shape::load_items);

    /* ---- What precedes each group; publish; look back ---------------------------------------- */
    const vscan__carry_state &from = present(old.carry);
    const bool has_initial = from.flags & VSCAN__CARRY_HAS_INITIAL;
    const U initial = has_initial ? element_of<T>(from.initial) : Pair::identity;
    before_carried_tile<Pair> before_call = before_carried_tile<Pair>::from(initial);
    if (position > 0)
        before_call = {{element_of<T>(from.r3), element_of<T>(from.r4)}, position / tile};
    before_t before;
    before.find_from(shared, {lookback, epoch, partition, last_block, false, false}, initial,
                     before_call);

    /* ---- Results ----------------------------------------------------------------------------- */
    vscan__carry_state &next = next_state(carry, old.carry);
    T *const out = (T *)hot.out + (backward ? left : first_item - skew);
    const auto first_result = [&] {
        if (position > 0) return (U)element_of<T>(from.last);
        return has_initial ? initial : Pair::visible;
    };
    const resumed_vector<Pair, false, shape, int, decltype(first_result)> vector = {
        a, hot.total, next, here, begin, last_partition, false, Pair::visible, first_result};
    mine.results(vector, before, shared, backward, false, hot.exclusive, a.transform);
    if (hot.out != nullptr) store_at(items, out, here, begin, backward, whole, lane);
    if (!last_partition) return;

    /* ---- The new carry ----------------------------------------------------------------------- */
    write_group<Pair>(next, unfinished, skew + hot.n);
    if (threadIdx.x == 0) {
        write_place(next, from, hot.n, false);
        write_small_levels<Pair>(next, before, shared, skew + hot.n, first_item);
    }
    if (last_block) end_carried(carry, old.carry, lookback, epoch, shape::threads);
}

/* ---- Launching ------------------------------------------------------------------------------- */

/* The call's elements and what may precede them in the carry's tile. */
template <class Pair>
static int64_t longest_carried(const vscan__scan *scan) {
    return scan->n + nested<typename Pair::T>::tile - 1;
}

template <class Pair>
using deep_partitions = small_shape<Pair, wide_loads, deep_warps>;

template <class Pair>
static bool small_carried_fits(const vscan__launch *launch, const vscan__scan *scan) {
    using deep = deep_partitions<Pair>;
    return scan->flags == nullptr &&
           scan->n * (int64_t)sizeof(typename Pair::T) <= launch->small_to &&
           longest_carried<Pair>(scan) <= (int64_t)deep::items * deep::max_partitions;
}

template <class Pair>
static cudaError_t launch_small_carried(const vscan__launch *launch, const scan_arguments &rest,
                                        int64_t expected) {
    using narrow = narrow_partitions<Pair>;
    using wide = wide_partitions<Pair>;
    small_arguments a = {};
    a.in = rest.scan.in;
    a.out = rest.scan.out;
    a.total = rest.scan.total;
    a.n = (int32_t)rest.scan.n;
    a.exclusive = (uint8_t)rest.scan.exclusive;
    a.backward = (uint8_t)rest.scan.backward;
    a.delay = (uint8_t)(rest.lookback.delay ? rest.lookback.delay % 255 + 1 : 0);
    a.initial.as_long = expected; /* the initial value is the carry's */
    a.header = rest.lookback.header;
    a.rest = rest;
    const int longest = (int)longest_carried<Pair>(&rest.scan);
    const auto launch_it = [&](auto kernel, int items, int threads) {
        return start(kernel, (longest + items - 1) / items, threads, 0, launch->stream, a,
                     launch->may_overlap);
    };
    using deep = deep_partitions<Pair>;
    using medium = small_shape<Pair, medium_loads, small_warps>;
    if (longest <= narrow::items * narrow::max_partitions)
        return launch_it(scan_small_carried<Pair, narrow::loads, small_warps>, narrow::items,
                         narrow::threads);
    if (launch->shared_memory > 0 && longest <= medium::items * medium::max_partitions)
        return launch_it(scan_small_carried<Pair, medium::loads, small_warps>, medium::items,
                         medium::threads);
    if (longest <= wide::items * wide::max_partitions)
        return launch_it(scan_small_carried<Pair, wide::loads, small_warps>, wide::items,
                         wide::threads);
    return launch_it(scan_small_carried<Pair, deep::loads, deep_warps>, deep::items, deep::threads);
}

} /* namespace vscan */
