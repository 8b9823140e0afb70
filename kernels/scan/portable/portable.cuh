/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scans and segmented scans for every architecture, alignment and length.
 *
 * A block takes one partition after the other by ticket (protocol/lookback.cuh) and holds it in
 * registers. It keeps what precedes the last tile that it looked back to, so it reads each word of
 * a launch once. It publishes the aggregates of a partition's blocks of level 1 as soon as its groups
 * are summed, before it waits for anything. So a waiting block never holds up another one. What is
 * published and read: scan/portable/before.cuh.
 *
 * Shared memory: two values a group, and what one thread tells the others.
 *
 * Memory order: the status words are relaxed, see kernels/README.md. Inside a block there are three
 * barriers for each partition: (1) the ticket is known; (2) the group sums are written; (3) the
 * group prefixes and P are written. What is written between two barriers was last read two barriers
 * before, so the loop needs no more.
 */
#pragma once

#include "scan/portable/before.cuh"

namespace vscan {

template <class Pair, bool Segmented>
__global__ void __launch_bounds__(partition_shape<Pair>::threads, Segmented ? 3 : 4)
    scan_portable(const __grid_constant__ scan_arguments a) {
    using T = typename Pair::T;
    using U = typename Pair::U;
    using shape = partition_shape<Pair>;
    constexpr int V = shape::lane_items;
    using before_t = portable_before<Pair, Segmented>;
    __shared__ typename before_t::shared_t shared;
    __shared__ ticket shared_ticket;

    const vscan__scan &scan = a.scan;
    const int64_t n = scan.n;
    const bool backward = scan.backward;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int64_t partitions = (n + shape::items - 1) / shape::items;
    const bool counting = Segmented && (scan.totals != nullptr || scan.count != nullptr);
    const bool in_aligned = is_aligned((const T *)scan.in, n, backward);
    const bool out_aligned = is_aligned((const T *)scan.out, n, backward);

    U initial = Pair::identity;
    if (scan.has_initial == 1) initial = Pair::in(element_of<T>(scan.initial), a.transform);
    if (scan.has_initial == 2)
        initial = Pair::in(*(const volatile T *)scan.initial_at, a.transform);
    const U visible = scan.has_initial ? initial : Pair::visible;
    /* The initial value may be a carry, at the place of the total. The total may be written as
       soon as every aggregate is published, so a block reads the initial value before it
       publishes one. */
    const bool carry = !Segmented && scan.has_initial == 2 && scan.initial_at == scan.total;

    before_t before(initial);

    for (;;) {
        /* ---- Ticket -------------------------------------------------------------------------- */
        if (threadIdx.x == 0) {
            ticket t = {0, 0};
            if (partitions > 1) {
                t = take_ticket(a.lookback);
                end_launch_after(a.lookback, t, partitions + gridDim.x);
            }
            shared_ticket = t;
        }
        __syncthreads();
        const epoch_t epoch = shared_ticket.epoch;
        const int64_t partition = shared_ticket.index;
        if (partition >= partitions) return;

        /* ---- Load, and scan inside groups ---------------------------------------------------- */
        const int64_t begin =
            partition * shape::items + warp * (shape::loads * shape::load_items) + lane * V;
        const bool whole =
            begin - lane * V + shape::loads * shape::load_items <= n; /* all of the warp's
                                                                                        elements exist */
        lane_items<Pair, V> items[shape::loads];
        lane_heads<V> flags[shape::loads];
        U x[shape::loads][V];
        uint32_t heads[shape::loads] = {}, rank[shape::loads], together[shape::loads];
        unsigned any[shape::loads];
        load_items(items, scan.in, begin, shape::load_items, n, backward, in_aligned && whole,
                   a.transform);
        if (Segmented) {
            load_heads(flags, scan, begin, shape::load_items);
            bits_of_heads(heads, flags, scan, begin, shape::load_items);
        }
        const lane_place<shape> at = lane_place<shape>::of(lane, warp);
        const lane_of_partition<Pair, Segmented, shape, false> mine = {at,  items, x,       heads,
                                                                       any, rank,  together};
        mine.scan_groups(shared.groups, backward, counting, a.transform, [](int) {});
        __syncthreads();

        /* ---- Publish, look back: the first warp ---------------------------------------------- */
        if (warp == 0)
            before.find(shared, {a.lookback, epoch, partition, partitions == 1, counting, carry},
                        lane);
        __syncthreads();

        /* ---- Results ------------------------------------------------------------------------- */
        const whole_vector<Pair, Segmented, shape, int64_t> vector = {a,     scan.total, n,
                                                                      begin, visible,    carry};
        mine.results(vector, before, shared, backward, counting, scan.exclusive, a.transform);
        store_items(items, scan.out, begin, shape::load_items, n, backward, out_aligned && whole);
        if (partitions == 1) return; /* no tickets */
    }
}

} /* namespace vscan */
