/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reductions of vectors by partitions, of which one block, a worker, sums one after the other. The last
 * block is the finisher: it adds up what the workers publish as words (common/lookback.cuh), one a worker
 * where any order will do, else one a partition, summed to tiles, and tiles folded strictly from left to
 * right while workers still read.
 *
 * A worker's first partition has its own number. The others it takes in turn, partition k by worker k modulo
 * their number, or, where Tickets is set, as the next that nobody has taken: the slower ones then take
 * fewer. It asks for the next ticket when it begins to load a partition, and so has it before it publishes
 * that partition: there are as many tickets as partitions, and when the finisher has seen all words, nobody
 * will ask for one, and it may set their number back to 0.
 *
 * The finisher is the only one that waits for anybody, and blocks start in the order of their numbers,
 * as single-pass scans elsewhere rely on too: when it runs, all workers run or are done. Every block
 * reads the launch number at its start; the finisher has seen a word of every worker in the end, hence
 * all have read it, and moves it on. When it has seen the last word, not before, blocks of the next
 * kernel may begin: were they to come earlier, they would lie unevenly on the multiprocessors, as
 * these became free.
 */
#ifndef VSCAN_REDUCE_LARGE_CUH
#define VSCAN_REDUCE_LARGE_CUH

#include "reduce/parts.cuh"

namespace vscan {

/* ---- What only the finisher does -------------------------------------------------------------- */

/* The thread's share of the words of all workers, most often one. */
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
 * p + x[0] + x[1] + ... + x[31]; where there are fewer, identities follow. All that reads may be early:
 * there are no jumps before the additions but where there are fewer.
 */
template <class Pair>
static __device__ __forceinline__ typename Pair::U
fold_left(typename Pair::U p, const typename Pair::U *x, bool fewer, int count) {
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
 * P(tiles) from P(0) = p, valid in the first warp. The other warps, readers, take 32 tiles each in
 * turn; a lane reads the words of one tile, of Units partitions, again and again until all are there, and
 * sums them. The first warp folds what the readers have, 32 tiles after 32 tiles. So many tiles are
 * waited for at once, since a read takes microseconds while memory is busy. A reader and the first
 * warp meet when 32 sums are written; these are read when they meet the next time, and there is room
 * for those and the next.
 *   rest   the lane's share of what is outside the body, which ends the last tile
 */
template <class Pair, int Units, int Warps>
struct tile_prefix {
    using U = typename Pair::U;
    struct shared {
        __align__(16) U sums[Warps - 1][2][32];
        unsigned seen; /* how often 32 tiles' words have been; 0 before */
    };

    static __device__ __forceinline__ U fold(const reduce_arguments &a, shared &s, epoch_t epoch,
                                             int64_t partitions, int64_t tiles, U p, U rest) {
        const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
        int turn = 0;
        if (warp == 0) {
            int reader = 1;
            for (int64_t first = 0; first < tiles; first += 32) {
                meet_warps(reader, 64);
                p = fold_left<Pair>(p, s.sums[reader - 1][turn], tiles - first < 32,
                                    (int)(tiles - first));
                if (++reader == Warps) {
                    reader = 1;
                    turn ^= 1;
                }
            }
            return p;
        }
        if (a.outside > 0) rest = over_lanes<Pair>::sum(rest);
        for (int64_t first = 32 * (warp - 1); first < tiles; first += 32 * (Warps - 1)) {
            U x[Units];
            uint32_t none[Units];
            wait_for_all<1>(a.lookback, epoch, (U)Pair::identity, x, none, (first + lane) * Units,
                            partitions);
            __syncwarp();
            U sum = sum_items<Pair>(x);
            if (first + lane == tiles - 1) sum = Pair::combine(sum, rest);
            s.sums[warp - 1][turn][lane] = sum;
            if (lane == 0 && atomicAdd(&s.seen, 1u) == (unsigned)((tiles - 1) / 32))
                let_next_kernel_begin();
            meet_warps(warp, 64);
            turn ^= 1;
        }
        return p;
    }
};

/* ---- Kernel ---------------------------------------------------------------------------------- */

/* A partition: what the warps of a block sum at a time, Rows rows each; a tile or half of one. */
template <class Pair, int Rows>
struct reduce_partition : reduce_part_shape<Pair, Rows> {
    using part = reduce_part_shape<Pair, Rows>;
    static constexpr int warps = 16, threads = 32 * warps;
    static constexpr int part_items = part::items, items = warps * part_items;
    static constexpr int a_tile = part::tile / items;
    static_assert(a_tile * items == part::tile, "partitions make up tiles");
};

static constexpr int reduce_resident = 2; /* blocks an SM */

template <class Pair, int Rows, bool Tickets>
__global__ void __launch_bounds__(reduce_partition<Pair, Rows>::threads, reduce_resident)
    reduce_large(const __grid_constant__ reduce_arguments a) {
    using T = typename Pair::T;
    using U = typename Pair::U;
    using shape = reduce_partition<Pair, Rows>;
    constexpr int warps = shape::warps;
    __shared__ __align__(16) U parts[2][warps];
    __shared__ uint32_t tickets[2];
    using prefix_warp = tile_prefix<Pair, shape::a_tile, warps>;
    __shared__ typename prefix_warp::shared folding; /* in order only */

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
        int turn = 0;
        for (int64_t partition = blockIdx.x; partition < partitions;) {
            uint32_t ticket = 0;
            if (Tickets && threadIdx.x == 0) ticket = take_ticket(a.lookback).index;
            const int64_t first = partition * shape::items + warp * shape::part_items;
            const U sum =
                (partition + 1) * shape::items <= a.body_n
                    ? sum_any_part<Pair, Rows, true, reduce_part>(a, first, lane, f, false)
                    : sum_any_part<Pair, Rows, false, reduce_part>(a, first, lane, f, false);
            if constexpr (Pair::in_any_order)
                all = Pair::combine(all, sum);
            else if (lane == 0)
                parts[turn][warp] = sum;
            if (Tickets && threadIdx.x == 0) tickets[turn] = ticket;
            /* also: what is written in the next turn but one has been read */
            if (Tickets || !Pair::in_any_order) __syncthreads();
            if (!Pair::in_any_order) publish_sums(partition, parts[turn]);
            partition = workers + (Tickets ? (int64_t)tickets[turn] : partition);
            turn ^= 1;
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
        if (threadIdx.x == 0) folding.seen = 0;
        __syncthreads(); /* also: all have read the launch number */
        p = prefix_warp::fold(a, addressed_once(folding), epoch, partitions,
                              (a.n + shape::tile - 1) / shape::tile, p, f.rest(a, lane));
        if (warp > 0) return;
    }
    /* here a word of every worker has been seen */
    if (lane == 0) {
        *(T *)a.total = Pair::out(p);
        advance(a.lookback, epoch);
    }
}

} /* namespace vscan */

#endif
