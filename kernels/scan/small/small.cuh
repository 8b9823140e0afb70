/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scans and segmented scans of vectors of up to a few MiB, where latency counts. A block owns one
 * partition and holds it in registers from its loads to its stores. Plain scans by pairs that any
 * order suits are in scan/small/any_order.cuh.
 *
 * There are some shapes (scan/small/shape.cuh). One block: with as many warps as the vector
 * needs; nothing is exchanged between blocks. Narrow partitions of 4 KiB (8-byte elements: 8 KiB),
 * so that many multiprocessors load a small vector. Wide partitions of 16 KiB, so that there are no
 * more aggregates than a block can load at once. Floats in order have partitions of 8 KiB between, on
 * GPUs with TMA (which they do not use): for all architectures they would take too much of the library.
 *
 * Several blocks: the partition's index is the block's. A block waits for the aggregates of all
 * earlier partitions (protocol/lookback.cuh), each thread for a few. There are no tickets: blocks
 * start in the order of their indices, as other single-pass scans assume too. So whatever a block
 * waits for runs or is done, and between its start and its aggregate there are only loads and sums.
 * The epoch is read together with the data. The last block, once it has an aggregate of every other
 * block, knows that all have read the epoch, and advances it. It publishes no aggregate of its own:
 * nobody needs it.
 *
 * Above the groups float and double plus have the order of lib/core/order.h, and an aggregate for
 * each block of level 1: scan/small/in_order.cuh, scan/small/one_block.cuh. All other pairs (in
 * segmented scans) have an aggregate for each partition: scan/small/segmented.cuh.
 *
 * Shared memory: the group sums, and the sums of earlier partitions.
 *
 * Memory order: status words are relaxed, see kernels/README.md. Inside a block the barriers are:
 * (1) the group sums are written (each warp then scans all of them, which takes no longer than in
 * one warp and saves a barrier; in order one warp does it); (2) the aggregates have been read and
 * their sums written; (3) in order, where one warp adds up the tiles, that has been done.
 */
#pragma once

#include <type_traits>

#include "machine/tma.cuh"
#include "scan/small/one_block.cuh"
#include "scan/small/any_order.cuh"
#include "scan/small/in_order.cuh"
#include "scan/small/segmented.cuh"

namespace vscan {

/* Flags that all exist are loaded without any choice: up to 8 % of small segmented scans of floats. Only where
   there is TMA, which it has nothing to do with: for all architectures it would take too much of the library. */
#ifdef VSCAN__TMA
static constexpr bool flags_at_once = true;
#else
static constexpr bool flags_at_once = false;
#endif

template <class Pair, bool Segmented, int Loads, int Warps, bool OneBlock>
__global__ void __launch_bounds__(32 * Warps, OneBlock ? 1 : small_blocks<Pair, Segmented, Loads>)
    scan_small(const __grid_constant__ small_arguments hot) {
    using T = typename Pair::T;
#ifndef VSCAN__TMA
    if (Loads == medium_loads && sizeof(T) == 4) return; /* saves room, see launch_small */
#endif
    using U = typename Pair::U;
    using shape = small_shape<Pair, Loads, Warps>;
    constexpr int V = shape::lane_items;
    using in_order = std::conditional_t<OneBlock, in_order_one_block<Pair, Segmented, Warps>,
                                        in_order_before<Pair, Segmented, Loads, Warps>>;
    using before_t = std::conditional_t<Pair::in_any_order,
                                        segmented_before<Pair, Loads, Warps, OneBlock>, in_order>;
    using shared_t = typename before_t::shared_t;
    __shared__ shared_t shared_here;
    shared_t &shared = address_once(shared_here);

    const scan_arguments &a = hot.rest;
    const vscan__scan &scan = a.scan;
    const int n = hot.n;
    const bool backward = hot.backward;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int partition = OneBlock ? 0 : (int)blockIdx.x;
    const bool last_partition = OneBlock || partition == (int)gridDim.x - 1;
    const bool counting = Segmented && (scan.totals != nullptr || scan.count != nullptr);

    /* ---- Load -------------------------------------------------------------------------------- */
    /* Where the launch allows it, blocks start before the preceding kernel is done, and have
       their code and parameters ready. Nothing is read or written before the wait, so launches
       still follow one another for the data and for everyone else; but what will be read is
       prefetched. */
    const int begin = partition * shape::items + warp * (Loads * shape::load_items) + lane * V;
    UNROLL_FOR (int r = 0; r < Loads; ++r)
        prefetch_element<Segmented, T>(hot, begin + r * shape::load_items);
    /* Blocks of the next kernel are distributed unevenly over the multiprocessors if they come
       early and find much room. Only these kernels leave that much. */
    const bool let_next_late =
        Pair::in_any_order && sizeof(U) == 8 && Loads == 2 && gridDim.x > let_next_late_from;
    grid_dependency_wait(!let_next_late);
    const lookback_memory lookback = {hot.header, a.lookback.capacity, hot.delay};
    epoch_t epoch = 0;
    if (!OneBlock) epoch = read_epoch(lookback);
    /* Segmented scans reverse the elements of a backward scan where they load and store them.
       Plain scans are 3 to 6 % faster if they choose where an element is used. */
    const bool in_aligned = is_aligned((const T *)hot.in, n, backward);
    const bool whole = begin - lane * V + Loads * shape::load_items <= n; /* the warp's elements */
    lane_items<Pair, V> items[Loads];
    lane_heads<V> flags[Loads];
    const bool fast = whole && !backward;
    const bool reversed = Segmented || !backward;
    if (Segmented) {
        /* Elements that have been loaded are moved to other registers before the next loads, which
           therefore wait for them. Bits and bytes backward are faster that way nevertheless. */
        const bool whole_flags = flags_at_once && fast && lane_heads<V>::are_whole(scan);
        const bool flags_first = flags_at_once && scan.flag_type == VSCAN_INT;
        if (whole_flags)
            load_heads<true>(flags, scan, begin, shape::load_items);
        else if (flags_first)
            UNROLL_FOR (int r = 0; r < Loads; ++r)
                flags[r].template load<VSCAN_INT>(scan, begin + r * shape::load_items);
        load_vectors<Pair, Loads, V>(items, hot, begin, whole, fast);
        if (!whole_flags && !flags_first) load_heads(flags, scan, begin, shape::load_items);
    } else
        load_items(items, hot.in, begin, shape::load_items, n, backward, in_aligned && whole,
                   a.transform);
    U initial = Pair::identity;
    if (hot.initial_from == 1) initial = Pair::in(element_of<T>(hot.initial), a.transform);
    if (hot.initial_from >= 2)
        initial = Pair::in(*(const volatile T *)scan.initial_at, a.transform);
    const U visible = hot.initial_from ? initial : Pair::visible;
    /* as in scan_portable: the initial value is read before an aggregate is published */
    const bool carry = hot.initial_from == 3;

    /* ---- Scan inside groups ------------------------------------------------------------------ */
    U x[Loads][V];
    uint32_t heads[Loads] = {}, rank[Loads], together[Loads];
    unsigned any[Loads];
    const lane_place<shape> at = lane_place<shape>::of(lane, warp);
    if (Segmented) bits_of_heads(heads, flags, scan, begin, shape::load_items);
    const lane_of_partition<Pair, Segmented, shape, !Pair::in_any_order> mine = {
        at, items, x, heads, any, rank, together};
    mine.scan_groups(shared.groups, !reversed, counting, a.transform, [&](int r) {
        if (Segmented && Pair::in_any_order && hot.initial_from)
            UNROLL_FOR (int j = 0; j < V; ++j)
                if (heads[r] >> j & 1) x[r][j] = Pair::combine(initial, x[r][j]);
    });
    __syncthreads();

    /* ---- What precedes each group; publish; look back ---------------------------------------- */
    before_t before;
    before.find(shared, {lookback, epoch, partition, last_partition, counting, carry}, initial,
                let_next_late);

    /* ---- Results ----------------------------------------------------------------------------- */
    const bool out_aligned = is_aligned((const T *)hot.out, n, backward);
    const whole_vector<Pair, Segmented, shape, int> vector = {a,     hot.total, n,
                                                              begin, visible,   carry};
    mine.results(vector, before, shared, !reversed, counting, hot.exclusive, a.transform);
    if (Segmented) {
        if (hot.out != nullptr) store_vectors<Pair, Loads, V>(items, hot, begin, whole, fast);
    } else
        store_items(items, hot.out, begin, shape::load_items, n, backward, out_aligned && whole);
    if (!OneBlock && last_partition) scrub(lookback, epoch, (int)threadIdx.x, shape::threads);
}

/* ---- Launching ------------------------------------------------------------------------------- */

template <class Pair, bool Segmented, int Loads, int Warps, bool OneBlock>
static constexpr auto small_kernel() {
    if constexpr (!Segmented && Pair::in_any_order)
        return scan_small_any_order<Pair, Loads, Warps, OneBlock>;
    else
        return scan_small<Pair, Segmented, Loads, Warps, OneBlock>;
}

/* Elements of a vector up to which partitions are narrow. */
template <class Pair, bool Segmented>
static constexpr int64_t narrow_max_items =
    Segmented || !Pair::in_any_order
        ? (int64_t)narrow_partitions<Pair>::items * narrow_partitions<Pair>::max_partitions
        : any_order_narrow_items<typename Pair::U>;

/* The largest vector, in elements. */
template <class Pair>
static constexpr int64_t
    small_max_items = (int64_t)wide_partitions<Pair>::items *wide_partitions<Pair>::max_partitions;

template <class Pair>
static bool small_fits(const vscan__launch *launch, const vscan__scan *scan) {
    return scan->n <= small_max_items<Pair> &&
           scan->n * (int64_t)sizeof(typename Pair::T) <= launch->small_to;
}

template <class Pair, bool Segmented>
static cudaError_t launch_small(const vscan__launch *launch, const scan_arguments &rest) {
    using T = typename Pair::T;
    using one = one_block<Pair>;
    using small = narrow_partitions<Pair>;
    using large = wide_partitions<Pair>;
    small_arguments a;
    a.in = rest.scan.in;
    a.out = rest.scan.out;
    a.total = rest.scan.total;
    a.n = (int32_t)rest.scan.n;
    a.exclusive = (uint8_t)rest.scan.exclusive;
    a.backward = (uint8_t)rest.scan.backward;
    a.initial_from = (uint8_t)rest.scan.has_initial;
    if (!Segmented && a.initial_from == 2 && rest.scan.initial_at == a.total) a.initial_from = 3;
    a.delay = (uint8_t)(rest.lookback.delay ? rest.lookback.delay % 255 + 1 : 0);
    a.initial = rest.scan.initial;
    a.header = rest.lookback.header;
    a.rest = rest;
    const auto over = [&](int items) { return (a.n + items - 1) / items; };
    static_assert(one_block_bytes <= one::items * (int64_t)sizeof(T), "one block");
    const bool overlap = launch->may_overlap;
    const cudaStream_t stream = launch->stream;
    if (a.n * (int64_t)sizeof(T) <= one_block_bytes)
        return start(small_kernel<Pair, Segmented, 1, 32, true>(), 1, 32 * over(one::load_items), 0,
                     stream, a, overlap);
    if (a.n <= narrow_max_items<Pair, Segmented>)
        return start(small_kernel<Pair, Segmented, small::loads, small_warps, false>(),
                     over(small::items), small::threads, 0, stream, a, overlap);
    if constexpr (!Pair::in_any_order && sizeof(T) == 4) {
        using medium = small_shape<Pair, medium_loads, small_warps>;
        if (launch->shared_memory > 0 && a.n <= medium::items * medium_partitions)
            return start(small_kernel<Pair, Segmented, medium::loads, small_warps, false>(),
                         over(medium::items), medium::threads, 0, stream, a, overlap);
    }
    return start(small_kernel<Pair, Segmented, large::loads, small_warps, false>(),
                 over(large::items), large::threads, 0, stream, a, overlap);
}

} /* namespace vscan */
