/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reductions of large vectors. All blocks but the last are workers: a worker reduces one partition
 * after the other and publishes aggregates (common/lookback.cuh), one for all its partitions where
 * any order will do, else one a partition. The last block is the finisher: it adds the aggregates
 * up to tiles, and the tiles from left to right, while workers still read.
 *
 * The first partition of a worker has the number of its block. The next are either every workers-th
 * partition or, with Tickets, the next one that nobody has taken, so that slower blocks take fewer.
 * A worker takes the next ticket when it begins to load a partition, so before it publishes that
 * partition. There are as many tickets as partitions, hence nobody takes a ticket any more once the
 * finisher has seen all aggregates.
 *
 * Shared memory: the sums of the warps, twice, so that one barrier a partition is enough; and the
 * tile sums of the finisher.
 *
 * Memory order and progress: an aggregate carries its own epoch, so relaxed accesses suffice
 * (kernels/README.md). Only the finisher waits, and blocks start in the order of their numbers:
 * when it runs, all workers run or have ended. Each block reads the epoch at its start. The
 * finisher has seen an aggregate of every worker in the end, so all have read the epoch, and it may
 * advance it. Only then may blocks of the next kernel start: earlier they would be distributed
 * unevenly over the multiprocessors that become free.
 */
#ifndef VSCAN_REDUCE_LARGE_CUH
#define VSCAN_REDUCE_LARGE_CUH

#include "reduce/parts.cuh"

namespace vscan {

/* ---- Finisher: waiting and adding ------------------------------------------------------------ */

/* The sum of the thread's share of all workers' aggregates, mostly one aggregate. */
template <class Pair, int Threads>
static __device__ __forceinline__ typename Pair::U sum_of_workers(const reduce_arguments &a,
                                                                  epoch_t epoch, int workers) {
    using U = typename Pair::U;
    U sum = Pair::identity;
    for (int worker = (int)threadIdx.x; worker < workers; worker += Threads) {
        sum = Pair::combine(sum, wait_for<U>(a.lookback, epoch, worker));
    }
    __syncwarp();
    return sum;
}

/*
 * p + x[0] + ... + x[31], from left to right; if `fewer`, identities follow x[count - 1]. In the
 * usual case no branch separates the reads from the additions, so all reads are issued first.
 */
template <class Pair>
static __device__ __forceinline__ typename Pair::U
add_from_left(typename Pair::U p, const typename Pair::U *x, bool fewer, int count) {
    using U = typename Pair::U;
    const auto add = [&](auto &some, int from) {
        read_quads(some, x + from);
#pragma unroll
        for (int j = 0; j < (int)(sizeof some / sizeof some[0]); ++j) p = Pair::combine(p, some[j]);
    };
    if (fewer) {
        U some[8];
#pragma unroll 1
        for (int from = 0; from < count; from += 8) add(some, from);
    } else {
        U all[32];
        add(all, 0);
    }
    return p;
}

/*
 * The prefix of all tiles, from the initial p, valid in the first warp. The other warps are
 * readers. They take 32 tiles at a time, one after the other; a lane waits for the aggregates of
 * one tile, of Partitions partitions, and adds them. The first warp adds what the readers have from
 * left to right, 32 tiles after 32 tiles. So many tiles are waited for at once because a read takes
 * microseconds while memory is busy. A reader and the first warp synchronize when 32 sums are
 * written. These are read before the two synchronize again; the buffer has room for them and the
 * next 32.
 *   rest   the lane's element outside the body; their sum belongs to the last tile
 */
template <class Pair, int Partitions, int Warps>
struct tile_prefix {
    using U = typename Pair::U;
    struct shared {
        __align__(16) U sums[Warps - 1][2][32];
        unsigned groups_seen; /* how many groups of 32 tiles have been read; 0 at first */
    };

    static __device__ __forceinline__ U all_tiles(const reduce_arguments &a, shared &s,
                                                  epoch_t epoch, int64_t partitions, int64_t tiles,
                                                  U p, U rest) {
        const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
        int buffer = 0;
        if (warp == 0) {
            int reader = 1;
            for (int64_t first = 0; first < tiles; first += 32) {
                sync_warps(reader, 64);
                p = add_from_left<Pair>(p, s.sums[reader - 1][buffer], tiles - first < 32,
                                        (int)(tiles - first));
                if (++reader == Warps) {
                    reader = 1;
                    buffer ^= 1;
                }
            }
            return p;
        }
        if (a.outside > 0) rest = over_lanes<Pair>::sum(rest);
        for (int64_t first = 32 * (warp - 1); first < tiles; first += 32 * (Warps - 1)) {
            U x[Partitions];
            uint32_t none[Partitions];
            wait_for_all<1>(a.lookback, epoch, (U)Pair::identity, x, none,
                            (first + lane) * Partitions, partitions);
            __syncwarp();
            U sum = sum_items<Pair>(x);
            if (first + lane == tiles - 1) sum = Pair::combine(sum, rest);
            s.sums[warp - 1][buffer][lane] = sum;
            if (lane == 0 && atomicAdd(&s.groups_seen, 1u) == (unsigned)((tiles - 1) / 32))
                let_next_kernel_begin();
            sync_warps(warp, 64);
            buffer ^= 1;
        }
        return p;
    }
};

/* ---- Kernel ---------------------------------------------------------------------------------- */

/* A partition: what a block reduces at a time, Loads warp loads a warp; a tile or half a tile. */
template <class Pair, int Loads>
struct reduce_partition : reduce_part_shape<Pair, Loads> {
    using part = reduce_part_shape<Pair, Loads>;
    static constexpr int warps = reduce_large_warps, threads = 32 * warps;
    static constexpr int part_items = part::items, items = warps * part_items;
    static constexpr int a_tile = part::tile / items;
    static_assert(a_tile * items == part::tile, "partitions make up tiles");
};

template <class Pair, int Loads, bool Tickets>
__global__ void __launch_bounds__(reduce_partition<Pair, Loads>::threads, reduce_resident)
    reduce_large(const __grid_constant__ reduce_arguments a) {
    using T = typename Pair::T;
    using U = typename Pair::U;
    using shape = reduce_partition<Pair, Loads>;
    constexpr int warps = shape::warps;
    __shared__ __align__(16) U parts[2][warps];
    __shared__ uint32_t tickets[2];
    using prefix_of = tile_prefix<Pair, shape::a_tile, warps>;
    __shared__ typename prefix_of::shared prefix_shared; /* in order only */

    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int workers = (int)gridDim.x - 1;
    const int64_t partitions = (a.body_n + shape::items - 1) / shape::items;
    wait_for_kernel_before(false);
    const epoch_t epoch = read_epoch(a.lookback);

    /* ---- Workers ----------------------------------------------------------------------------- */
    if ((int)blockIdx.x < workers) {
        const auto publish_sums = [&](int64_t at, const U(&sums)[warps]) {
            if (threadIdx.x != 0) return;
            U x[warps];
#pragma unroll
            for (int w = 0; w < warps; ++w) x[w] = sums[w];
            jitter(a.lookback, epoch, at, jitter_publish);
            publish<U>(a.lookback, epoch, at, sum_items<Pair>(x));
        };
        finish<Pair> f; /* not used */
        U all = Pair::identity;
        int buffer = 0;
        for (int64_t partition = blockIdx.x; partition < partitions;) {
            uint32_t ticket = 0;
            if (Tickets && threadIdx.x == 0) ticket = take_ticket(a.lookback).index;
            const int64_t first = partition * shape::items + warp * shape::part_items;
            const U sum =
                (partition + 1) * shape::items <= a.body_n
                    ? sum_any_part<Pair, Loads, true, reduce_part>(a, first, lane, f, false)
                    : sum_any_part<Pair, Loads, false, reduce_part>(a, first, lane, f, false);
            if constexpr (Pair::in_any_order)
                all = Pair::combine(all, sum);
            else if (lane == 0)
                parts[buffer][warp] = sum;
            if (Tickets && threadIdx.x == 0) tickets[buffer] = ticket;
            /* also: the buffer of the next partition but one has been read */
            if (Tickets || !Pair::in_any_order) __syncthreads();
            if (!Pair::in_any_order) publish_sums(partition, parts[buffer]);
            partition = workers + (Tickets ? (int64_t)tickets[buffer] : partition);
            buffer ^= 1;
        }
        if constexpr (Pair::in_any_order) {
            all = over_lanes<Pair>::sum(all);
            if (lane == 0) parts[0][warp] = all;
            __syncthreads();
            publish_sums(blockIdx.x, parts[0]);
        }
        return;
    }

    /* ---- Finisher ---------------------------------------------------------------------------- */
    const int64_t published = Pair::in_any_order ? workers : partitions;
    finish<Pair> f;
    f.load(a, lane, true);
    scrub(a.lookback, epoch, (int)threadIdx.x, shape::threads);
    jitter(a.lookback, epoch, published, jitter_wait);
    U p = f.initial(a);
    if constexpr (Pair::in_any_order) {
        U sum = sum_of_workers<Pair, shape::threads>(a, epoch, workers);
        if (warp == 0) sum = Pair::combine(sum, f.rest(a, lane));
        sum = over_lanes<Pair>::sum(sum);
        if (lane == 0) parts[0][warp] = sum;
        __syncthreads();
        let_next_kernel_begin();
        if (warp > 0) return;
        sum = over_lanes<Pair>::sum(lane < warps ? parts[0][lane] : Pair::identity);
        p = Pair::combine(p, sum);
    } else {
        if (threadIdx.x == 0) prefix_shared.groups_seen = 0;
        __syncthreads(); /* also: all threads have read the epoch */
        p = prefix_of::all_tiles(a, addressed_once(prefix_shared), epoch, partitions,
                                 (a.n + shape::tile - 1) / shape::tile, p, f.rest(a, lane));
        if (warp > 0) return;
    }
    /* an aggregate of every worker has been seen */
    if (lane == 0) {
        *(T *)a.total = Pair::out(p);
        advance(a.lookback, epoch);
    }
}

} /* namespace vscan */

#endif
