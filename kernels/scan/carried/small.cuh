/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scans and reductions of vectors of up to a few MiB that go on from a carry (core/carry.h), for pairs
 * that add in order. As in scan/small/small.cuh a block owns one partition, in the order of the blocks, and
 * there are no tickets. As in scan/carried/carried.cuh partitions are those of a virtual vector: the call's
 * elements begin at position `skew`, and a stand-in precedes them.
 *
 * Where the carry is is known on the device alone. But the host knows where it must be if every call so
 * far ran once, which is so but for graphs that are launched again. So a block loads and adds up groups as
 * if it were there, while it reads the carry, and again if it is not.
 *
 * The host launches as many blocks as the longest virtual vector needs, so behind the block of the last
 * partition there may be some without elements. The last block of the launch, whichever it is, waits for an
 * aggregate of every block before it: all have read the carry then, and it says that the new state is the
 * present one. The block of the last partition has written that where the old one is not, at any time. So
 * blocks wait for earlier blocks alone. Memory order is as in scan/small/small.cuh.
 */
#ifndef VSCAN_SCAN_CARRIED_SMALL_CUH
#define VSCAN_SCAN_CARRIED_SMALL_CUH

#include "elements/shifted.cuh"
#include "machine/tma.cuh"
#include "scan/carried/vector.cuh"
#include "scan/small/in_order.cuh"

namespace vscan {

/* What precedes the element behind the last one, position n of the virtual vector, at each level. By a
   thread of the last partition's block. */
template <class Pair, class BeforeT, class Shared>
static __device__ __forceinline__ void
write_small_levels(vscan__carry_state &to, const BeforeT &before, const Shared &shared, int n,
                   int first_item) {
    using U = typename Pair::U;
    const int b = (n - 1 - first_item) / VSCAN__LEVEL_1; /* its block of level 1 */
    U r1 = Pair::identity, r2 = shared.r2;
    for (int k = 0; k < b; ++k) r2 = Pair::combine(r2, shared.own.sums[k]);
    if (n % VSCAN__LEVEL_1 != 0)
        r1 = shared.own.r1[b][n % VSCAN__LEVEL_1 / VSCAN__GROUP];
    else
        r2 = Pair::combine(r2, shared.own.sums[b]);
    before_carried_tile<Pair> tile = before.tile;
    if (n % nested<U>::tile == 0) {
        tile.pass(first_item / nested<U>::tile, r2);
        r2 = Pair::identity;
    }
    to.r1.bits = word_of(r1);
    to.r2.bits = word_of(r2);
    to.r3.bits = word_of(tile.r3);
    to.r4.bits = word_of(tile.r4);
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
#pragma unroll
    for (int r = 0; r < Loads; ++r)
        prefetch_element<false, T>(hot, first_item + begin + r * shape::load_items);
    grid_dependency_wait(true);
    const lookback_memory lookback = {hot.header, a.lookback.capacity, hot.delay};
    copy_carry(old.carry, a.scan.carry, (int)threadIdx.x, shape::threads);
    if (threadIdx.x == 0) old.nothing = Pair::identity;
    const epoch_t epoch = read_epoch(lookback);

    /* ---- Load, and scan inside groups -------------------------------------------------------- */
    lane_items<Pair, V> items[Loads];
    U x[Loads][V];
    const int first = lane & ~(shape::group_lanes - 1);
    const bool group_end = lane % shape::group_lanes == shape::group_lanes - 1;
    U *const sums = &shared.groups.sum(warp * shape::warp_groups + lane / shape::group_lanes);
    /* of the call's elements in the virtual vector; none: left <= 0 */
    int skew, left;
    carried_partition<Pair> here;
    const auto place_at = [&](int64_t position) {
        skew = (int)(position % tile), left = skew + hot.n - first_item;
        here = {first_item, first_item < skew ? skew - first_item : 0,
                left < shape::items ? left : shape::items, skew};
    };
    const auto is_whole = [&](int warp_begin) {
        return warp_begin >= here.from && warp_begin + Loads * shape::load_items <= here.to;
    };
    int64_t position = hot.initial.as_long; /* where it is expected */
#pragma unroll 1
    for (;;) {
        begin = opaque(begin); /* nothing is computed before the loop and kept */
        const int warp_begin = begin - lane * V;
        place_at(position);
        const bool whole = is_whole(warp_begin);
        /* the partition's first element in scan order, if only in theory */
        const T *const in = (const T *)hot.in + (backward ? left : first_item - skew);
        const int in_misses = (int)((uintptr_t)in % 16 / sizeof(T));
        /* the vectors of 16 bytes that the warp's elements begin and end in are the call's */
        const bool inside = warp_begin - V >= skew - first_item &&
                            warp_begin + Loads * shape::load_items + V <= left;
        if (whole && in_misses == 0) {
#pragma unroll
            for (int r = 0; r < Loads; ++r)
                items[r].load_whole(in, begin + r * shape::load_items, 0, backward);
        } else if (inside && !backward) {
            load_shifted(items, in + begin, in_misses, lane);
        } else {
#pragma unroll
            for (int r = 0; r < Loads; ++r)
                here.load(items[r], in, begin + r * shape::load_items, backward, whole,
                          a.transform);
        }
        async_copies_wait();
        if (here.from > 0) {
            __syncthreads();
#pragma unroll
            for (int r = 0; r < Loads; ++r)
                here.stand_in(items[r], begin + r * shape::load_items, backward, old);
        }
#pragma unroll
        for (int r = 0; r < Loads; ++r) {
            const int i = begin + r * shape::load_items;
            items[r].items(x[r], backward, a.transform);
            if (left <= shape::items) {
#pragma unroll
                for (int j = 0; j < V; ++j)
                    if (i + j >= here.to / VSCAN__GROUP * VSCAN__GROUP && i + j < here.to)
                        unfinished[(i + j) % VSCAN__GROUP] = x[r][j];
            }
            sklansky<Pair, false, shape::group_lanes>(x[r], 0, 0, lane);
        }
        if (group_end) {
#pragma unroll
            for (int r = 0; r < Loads; ++r) sums[r * shape::load_groups] = x[r][V - 1];
        }
        __syncthreads();
        const int64_t expected = position;
        position = present(old.carry).position;
        if ((position - expected) % tile == 0) break;
    }
    vscan__carry *const carry = a.scan.carry;
    const auto end_it = [&] { /* by the last block, when all have read the old carry */
                              if (threadIdx.x == 0) {
                                  replace_state(carry, old.carry);
                                  advance(lookback, epoch);
                              }
                              scrub(lookback, epoch, (int)threadIdx.x, shape::threads);
    };
    place_at(position);
    if (left <= 0) {
        jitter(lookback, epoch, partition, jitter_publish);
        if (threadIdx.x == 0) publish<U>(lookback, epoch, partition * blocks, Pair::identity);
        if (!last_block) return;
        for (int p = (int)threadIdx.x; p < partition; p += shape::threads)
            (void)wait_for<U>(lookback, epoch, p * blocks);
        __syncthreads();
        end_it();
        return;
    }
    const bool last_partition = left <= shape::items, whole = is_whole(begin - lane * V);

    /* ---- What precedes each group; publish; look back ---------------------------------------- */
    const vscan__carry_state &from = present(old.carry);
    const bool has_initial = from.flags & VSCAN__CARRY_HAS_INITIAL;
    const U initial = has_initial ? element_of<T>(from.initial) : Pair::identity;
    before_carried_tile<Pair> before_call = before_carried_tile<Pair>::from(initial);
    if (position > 0)
        before_call = {{element_of<T>(from.r3), element_of<T>(from.r4)}, position / tile};
    const small_place place = {lookback, epoch, partition, last_block, false, false};
    before_t before;
    before.find_from(shared, place, initial, before_call);

    /* ---- Results ----------------------------------------------------------------------------- */
    vscan__carry_state &next = next_state(carry, old.carry);
    T *const out = (T *)hot.out + (backward ? left : first_item - skew);
#pragma unroll
    for (int r = 0; r < Loads; ++r) {
        const int i = begin + r * shape::load_items;
        const auto of_group = before.of_group(shared, r, false);
        U y[V];
#pragma unroll
        for (int j = 0; j < V; ++j) y[j] = of_group.result(x[r][j], false);
        if (last_partition && i + V >= here.to && i < here.to) {
#pragma unroll
            for (int j = 0; j < V; ++j) {
                if (i + j != here.to - 1) continue;
                if (hot.total != nullptr) *(T *)hot.total = y[j];
                next.last.bits = word_of(y[j]);
            }
        }
        if (hot.exclusive) {
            const U before_lane = __shfl_up_sync(warp_mask, y[V - 1], 1);
#pragma unroll
            for (int j = V - 1; j > 0; --j) y[j] = y[j - 1];
            y[0] = lane == first ? of_group.base() : before_lane;
            if (first_item <= skew) {
#pragma unroll
                for (int j = 0; j < V; ++j) {
                    if (i + j != here.from) continue;
                    y[j] = element_of<T>(from.last);
                    if (position == 0) y[j] = has_initial ? initial : Pair::visible;
                }
            }
        }
        items[r].results(y, backward, a.transform);
    }
    if (hot.out != nullptr) {
        const int out_misses = (int)((uintptr_t)out % 16 / sizeof(T));
        if (whole && out_misses == 0) {
#pragma unroll
            for (int r = 0; r < Loads; ++r)
                items[r].store_whole(out, begin + r * shape::load_items, 0, backward);
        } else if (whole && !backward) {
            store_shifted(items, out + begin, out_misses, lane);
        } else {
#pragma unroll
            for (int r = 0; r < Loads; ++r)
                here.store(items[r], out, begin + r * shape::load_items, backward, whole);
        }
    }
    if (!last_partition) return;

    /* ---- The new carry ----------------------------------------------------------------------- */
    if (threadIdx.x < VSCAN__GROUP)
        next.group[threadIdx.x].bits = threadIdx.x < (unsigned)((skew + hot.n) % VSCAN__GROUP)
                                           ? word_of(unfinished[threadIdx.x])
                                           : 0;
    if (threadIdx.x == 0) {
        next.position = position + hot.n;
        next.flags = from.flags & VSCAN__CARRY_HAS_INITIAL;
        next.initial = from.initial;
        write_small_levels<Pair>(next, before, shared, skew + hot.n, first_item);
    }
    if (last_block) end_it();
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

#endif
