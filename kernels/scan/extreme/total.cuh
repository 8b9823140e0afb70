/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The maximum or minimum of a vector alone, with its position, in one pass.
 *
 * A region is what a warp has of a tile: consecutive elements. While a thread reads it keeps the best key
 * and the number of the region that has it: one comparison for each region, none for each position. Blocks
 * take partitions of several tiles by ticket and publish the best key of each, together with the number of
 * its region in the partition. The block that has the last partition compares them all, and a warp reads
 * the region of the best key again, to find where in it that is first.
 *
 * Inside a region order does not matter, so it is read in memory order, and regions are counted from the
 * multiple of 16 bytes before the scan's beginning: reading is aligned at any address. `skew` elements of
 * the first region are then outside the vector.
 */
#pragma once

#include "scan/extreme/extreme.cuh"

namespace vscan {

/* Tiles of a partition, at most: 512 KiB, so that the last ones, for which other blocks wait, take few
   microseconds. */
static constexpr int extreme_most_tiles = 16;
/* Partitions that a block has, where these are shorter: several level out unequal speeds, and few leave the
   loads of one tile to overlap with the work on another. */
static constexpr int extreme_partitions = 2;
static_assert(extreme_most_tiles * extreme_warps <= (int)head_count_mask,
              "a region's number fits where other kernels have the number of heads");

/* As any_extreme_order, of one kind of elements: here the fewer instructions are seen. */
template <class I, bool Real>
struct extreme_order {
    static constexpr I highest = (I)(sizeof(I) == 4 ? INT32_MAX : INT64_MAX);
    static constexpr I lowest = ~highest; /* loses to everything, or ties */
    static constexpr I infinity = (I)(sizeof(I) == 4 ? 0x7f800000 : INT64_C(0x7ff0000000000000));
    static constexpr I worst = Real ? ~infinity : lowest; /* of an element: for max -infinity's */
    static DEVICE I key(I x, I transform) {
        if (!Real) return x ^ transform;
        return (x & highest) > infinity ? highest : x ^ (x < 0 ? highest : 0) ^ transform;
    }
    static DEVICE I element(I key, I transform) {
        const I x = key ^ transform;
        return Real && x < 0 ? x ^ highest : x;
    }
};

struct extreme_total_arguments {
    vscan__extreme work;
    lookback_memory lookback;
    int64_t tiles;
    int32_t skew, partition_tiles;
};

template <class I, bool Real>
struct extreme_total_kernel : chained_kernel {
    using order = extreme_order<I, Real>;
    using in_partition = extreme_pair<I, int32_t>; /* a key and its region */
    using in_vector = extreme_pair<I, int64_t>;
    static constexpr int V = 16 / (int)sizeof(I), chunks = extreme_chunks;
    static constexpr int region_items = extreme_items<I> / extreme_warps;
    static constexpr int ticket_warp = extreme_warps - 1;
    static constexpr bool barrier_3 = false; /* as in extreme_kernel */

    struct shared_memory {
        in_partition
            bests[extreme_warps]; /* of the warps in the next partition; before barrier (1) */
        in_partition partition;   /* of all of it; before barrier (2) */
        in_vector earlier[extreme_warps]; /* the warps' shares of the look-back */
    };

    const extreme_total_arguments &a;
    shared_memory &shared;
    const vscan__extreme &w = a.work;
    const I transform = w.min ? (I)-1 : (I)0;
    const int partitions;

    DEVICE extreme_total_kernel(const extreme_total_arguments &a, shared_memory &shared)
        : a(a), shared(shared),
          partitions((int)((a.tiles + a.partition_tiles - 1) / a.partition_tiles)) {}

    /* Index in memory of a region's first element there. */
    DEVICE int64_t memory_of(int64_t region) const {
        return w.backward ? w.n + a.skew - (region + 1) * region_items
                          : region * region_items - a.skew;
    }
    /* Place in the region, in memory order, of element 0 of this lane's chunk r. */
    DEVICE int place_of(int r) const { return (r * 32 + lane) * V; }

    DEVICE void prefetch(int partition, bool) const {
        if (partition >= partitions) launch_dependents();
    }

    /* The lane's elements of a region; for those outside the vector the worst one. */
    DEVICE void load(I (&x)[chunks][V], int64_t region) const {
        const int64_t from = memory_of(region);
        const I *const in = (const I *)w.in + from;
        if (from >= 0 && from + region_items <= w.n)
            return load_chunks(x, in + place_of(0), 32 * V, true);
        /* Loses to all elements, or ties. A region without elements is behind all that have some. */
        const I nothing = order::element(order::worst, transform);
        load_chunks_where(x, in + place_of(0), 32 * V, nothing, [&](int r, int j) {
            const int64_t i = from + (place_of(r) + j);
            return i >= 0 && i < w.n;
        });
    }

    DEVICE void take(in_partition &best, const I (&x)[chunks][V], int tile) const {
        I key = order::lowest;
        UNROLL_FOR (int r = 0; r < chunks; ++r)
            UNROLL_FOR (int j = 0; j < V; ++j) {
                const I y = order::key(x[r][j], transform);
                key = y > key ? y : key;
            }
        best.then(key, tile * extreme_warps + warp);
    }

    /* A tile's loads are under way while the one before it is compared. */
    DEVICE void count(int partition) {
        const int64_t first = (int64_t)partition * a.partition_tiles, left = a.tiles - first;
        const int tiles = left < a.partition_tiles ? (int)left : a.partition_tiles;
        const auto region = [&](int k) { return (first + k) * extreme_warps + warp; };
        in_partition best = {order::lowest,
                             warp}; /* of the first tile, if all keys are the lowest */
        I x[chunks][V], y[chunks][V];
        load(x, region(0));
        for (int k = 0; k < tiles; k += 2) {
            if (k + 1 < tiles) load(y, region(k + 1));
            take(best, x, k);
            if (k + 1 >= tiles) break;
            if (k + 2 < tiles) load(x, region(k + 2));
            take(best, y, k + 1);
        }
        best.reduce();
        if (lane == 0) shared.bests[warp] = best;
    }

    DEVICE void publish(const chained_launch &launch, int partition) {
        if (warp != 0) return;
        in_partition best = {order::lowest, INT32_MAX};
        if (lane < extreme_warps) best = shared.bests[lane];
        best.reduce();
        if (lane == 0) {
            shared.partition = best;
            launch.publish(partition, best.key, (uint32_t)best.at);
        }
        __syncwarp();
    }

    DEVICE void look_back(const chained_launch &launch, int, int partition) {
        if (partition < partitions - 1) return;
        in_vector best = {order::lowest, INT64_MAX};
        for (int p = (int)threadIdx.x; p < partition; p += extreme_threads) {
            I key;
            uint32_t region;
            while (!try_read<I>(launch.memory, launch.epoch, p, &key, &region)) {
            }
            best.with(key, first_region(p) + region);
        }
        __syncwarp();
        best.reduce();
        if (lane == 0) shared.earlier[warp] = best;
    }

    DEVICE int64_t first_region(int partition) const {
        return (int64_t)partition * a.partition_tiles * extreme_warps;
    }

    /* By a warp of the block that has the last partition. None was counted since, so shared.partition is
       that one's. */
    DEVICE void write(int partition) {
        if (partition < partitions - 1 || warp > 0) return;
        in_vector best = {shared.partition.key, first_region(partition) + shared.partition.at};
        if (lane < extreme_warps) best.with(shared.earlier[lane].key, shared.earlier[lane].at);
        best.reduce();
        I x[chunks][V];
        load(x, best.at);
        const int64_t from = memory_of(best.at);
        in_vector found = {order::lowest, INT64_MAX};
        UNROLL_FOR (int r = 0; r < chunks; ++r)
            UNROLL_FOR (int j = 0; j < V; ++j) {
                const int64_t i = from + (place_of(r) + j);
                if (i >= 0 && i < w.n)
                    found.with(order::key(x[r][j], transform), w.backward ? w.n - 1 - i : i);
            }
        found.reduce();
        if (lane > 0) return;
        const int64_t position = w.backward ? w.n - 1 - found.at : found.at;
        if (w.total != nullptr) *(I *)w.total = order::element(found.key, transform);
        if (w.position_type == VSCAN_INT)
            *(int32_t *)w.position = (int32_t)position;
        else
            *(int64_t *)w.position = position;
    }
};

template <class I, bool Real>
__global__ void __launch_bounds__(extreme_threads, extreme_blocks)
    reduce_extreme(const __grid_constant__ extreme_total_arguments a) {
    using kernel = extreme_total_kernel<I, Real>;
    __shared__ typename kernel::shared_memory shared;
    grid_dependency_wait(false);
    kernel total(a, shared);
    chain_tiles(total, a.lookback, total.partitions);
}

} /* namespace vscan */
