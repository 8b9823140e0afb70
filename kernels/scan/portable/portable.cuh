/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scans and segmented scans for every architecture, alignment and length.
 *
 * A block takes one tile after the other by ticket (protocol/lookback.cuh) and has two of them in hand, in
 * registers: it loads the next one, sums it up and publishes its sum, and only then writes the results of the one
 * before. What these wait for was published about as long ago as it takes to load a tile, so hardly anybody waits
 * for the slowest load of all that are under way. There is one block on a multiprocessor: with more of
 * them, or smaller partitions, each has more sums to read.
 *
 * The first warp adds up and publishes while the others write. The second one looks back before it loads: there are
 * no registers for both at once. Its elements are on their way to the L2 cache meanwhile. A block that looks back
 * holds a ticket whose sum it has not published yet. It waits for smaller tickets alone, and whoever holds the
 * smallest such ticket waits for nobody: so waiting ends.
 *
 * A tile has one status word, X2 at its end (lib/core/order.h). Pairs that any order suits are added in
 * this one, too.
 *
 * Shared memory: two values a group, and R1 of each for two tiles.
 *
 * Memory order: the status words are relaxed, see kernels/README.md. Inside a block there are two
 * barriers for each tile: (1) the sums of the next one's groups are written, and what precedes the one in
 * hand; (2) the next one's prefixes are written, in one of two places, and the next ticket.
 */
#pragma once

#include <type_traits>

#include "scan/portable/before.cuh"
#include "scan/portable/heads.cuh"
#include "scan/portable/lines.cuh"

namespace vscan {

template <class Pair, bool Segmented>
using portable_tile =
    partition_shape<Pair, portable_warps<Pair, Segmented>, 128 / portable_warps<Pair, Segmented>>;

template <class Pair, bool Segmented>
__global__ void __launch_bounds__(portable_tile<Pair, Segmented>::threads, 1)
    scan_portable(const __grid_constant__ scan_arguments a) {
    using T = typename Pair::T;
    using U = typename Pair::U;
    using shape = portable_tile<Pair, Segmented>;
    constexpr int V = shape::lane_items, L = shape::loads, N = L * V; /* elements of a lane */
    using before_t = before_in_hand<Pair, Segmented>;
    __shared__ typename before_t::shared_t shared;
    __shared__ typename before_t::sums_t sums[2];
    __shared__ ticket shared_ticket;
    alignas(16) __shared__ T passed[shape::warps][32 * V];

    grid_dependency_wait();
    const vscan__scan &scan = a.scan;
    const int64_t n = scan.n;
    const bool backward = scan.backward;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int tiles = (int)((n + shape::items - 1) / shape::items);
    const bool counting = Segmented && (scan.totals != nullptr || scan.count != nullptr);
    const bool in_aligned = is_aligned((const T *)scan.in, n, backward);
    const bool out_aligned = is_aligned((const T *)scan.out, n, backward);

    U initial = Pair::identity;
    if (scan.has_initial == 1) initial = Pair::in(element_of<T>(scan.initial), a.transform);
    if (scan.has_initial == 2)
        initial = Pair::in(*(const volatile T *)scan.initial_at, a.transform);
    const U visible = scan.has_initial ? initial : Pair::visible;
    /* The initial value may be a carry, at the place of the total, which may be written as soon as every
       aggregate is published: so a block reads the initial value before it publishes one. */
    const bool carry = !Segmented && scan.has_initial == 2 && scan.initial_at == scan.total;
    /* `otherwise`: where there is one tile, and so no tickets */
    const auto take = [&](int otherwise) {
        ticket t = {0, (uint32_t)otherwise};
        if (tiles > 1) {
            t = take_ticket(a.lookback);
            end_launch_after(a.lookback, t, (int64_t)tiles + gridDim.x);
        }
        shared_ticket = t;
    };
    if (threadIdx.x == 0) {
        shared.before = before_tile<Pair>::from(initial);
        shared.heads = 0;
        shared.tile = 0;
        take(0);
    }
    __syncthreads();
    const epoch_t epoch = shared_ticket.epoch;
    const lane_place<shape> at = lane_place<shape>::of(lane, warp);
    lane_items<Pair, V> items[L], results[L];
    U x[L][V], next_x[L][V];
    uint32_t all_heads = 0, next_heads = 0; /* of the lane */
    uint32_t heads[L] = {}, rank[L] = {}, together[L];
    unsigned any[L] = {};
    /* the warp's elements: position of the first one; whether all of them exist */
    const auto begin_of = [&](int tile) { return (int64_t)tile * shape::items + warp * (32 * N); };
    const auto is_whole = [&](int64_t begin) { return begin + 32 * N <= n; };
    const auto lines_of = [&](int64_t begin) {
        return warp_lines<Pair, shape>::of(passed[warp], begin, n, backward, lane);
    };

    for (int k = 0, tile = -1;; ++k) { /* tile: in hand; -1: none */
        const int next = (int)shared_ticket.index;
        const bool loads = next < tiles, writes = tile >= 0;
        const before_t of_next = {initial, sums[k & 1]}, of_this = {initial, sums[~k & 1]};
        const auto place_of = [&](int number) {
            return partition_place<int>{a.lookback, epoch, number, tiles == 1, counting, carry};
        };

        /* ---- Look back ----------------------------------------------------------------------- */
        if (writes && warp == 1) {
            const int64_t begin = begin_of(next);
            prefetch_by_warp((const T *)scan.in, n, backward ? n - begin - 32 * N : begin, 32 * N);
            of_this.look_back(shared, place_of(tile), lane);
        }

        /* ---- Load the next tile, and scan inside groups -------------------------------------- */
        if (loads) {
            const int64_t begin = begin_of(next);
            if (in_aligned && is_whole(begin))
                load_whole_items(items, scan.in, begin + lane * V, shape::load_items, n, backward);
            else
                lines_of(begin).load(items, (const T *)scan.in, a.transform);
            if constexpr (Segmented) {
                next_heads = heads_of_warp<shape>(scan, begin, counting, lane);
                heads_of_loads<L, V>(heads, next_heads, false, lane);
            }
            const lane_of_partition<Pair, Segmented, shape, false> mine = {
                at, items, next_x, heads, any, rank, together};
            mine.scan_groups(shared.groups, backward, counting, a.transform, [](int) {});
        }
        __syncthreads(); /* (1) */

        /* ---- Publish; results of the tile in hand -------------------------------------------- */
        if (loads && warp == 0) of_next.sum_tile(shared, place_of(next), lane);
        if (loads && threadIdx.x == 64) take(tiles);
        if (writes) {
            const int64_t begin = begin_of(tile);
            if constexpr (Segmented)
                heads_of_results<shape>(heads, any, rank, all_heads, counting, lane);
            const lane_of_partition<Pair, Segmented, shape, false> mine = {
                at, results, x, heads, any, rank, together};
            using vector_t = std::conditional_t<Segmented, vector_of_segments<Pair, shape>,
                                                whole_vector<Pair, false, shape, int64_t>>;
            vector_t vector = {a, scan.total, n, begin + lane * V, visible, carry};
            mine.results(vector, of_this, shared, backward, counting, scan.exclusive, a.transform);
            if (out_aligned && is_whole(begin))
                store_whole_items(results, scan.out, begin + lane * V, shape::load_items, n,
                                  backward);
            else
                lines_of(begin).store(results, (T *)scan.out);
        }
        if (!loads) return;
        __syncthreads(); /* (2) */
        tile = next;
        all_heads = next_heads;
        UNROLL_FOR (int r = 0; r < L; ++r)
            UNROLL_FOR (int j = 0; j < V; ++j) x[r][j] = next_x[r][j];
    }
}

} /* namespace vscan */
