/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reductions of large vectors. All blocks but the last are workers: a worker reduces one partition
 * after the other and publishes aggregates (protocol/lookback.cuh): one for all its partitions where
 * any order will do; else the sum of each partition that is a tile, or of each block of level 1
 * where a partition is half a tile. The last block is the finisher: it adds the aggregates up to
 * tiles, and the tiles from left to right, while workers still read.
 *
 * The first partition of a worker has the number of its block. The next are either every workers-th
 * partition or, with Tickets, the next one that nobody has taken, so that slower blocks take fewer.
 * A worker takes the next ticket when it begins to load a partition, so before it publishes that
 * partition. There are as many tickets as partitions, hence nobody takes a ticket any more once the
 * finisher has seen all aggregates. In order it does so behind the loads, which need not wait for
 * the ticket.
 *
 * Shared memory: of a worker the sums of its warps or, in order, of the groups of a partition,
 * twice, so that one barrier a partition is enough; and the tile sums of the finisher. In order the
 * first warp adds the groups' sums of a partition when the loads of the next one are under way.
 *
 * Memory order and progress: an aggregate carries its own epoch, so relaxed accesses suffice
 * (kernels/README.md). Only the finisher waits, and blocks start in the order of their numbers:
 * when it runs, all workers run or have ended. Each block reads the epoch at its start. The
 * finisher has seen an aggregate of every worker in the end, so all have read the epoch, and it may
 * advance it. Blocks of the next kernel start early, and prefetch, where let_next says so. Else they
 * start only then: earlier they would be distributed unevenly over the multiprocessors that become
 * free.
 */
#pragma once

#include "reduce/parts.cuh"

namespace vscan {

/* ---- Finisher: the sums of workers ----------------------------------------------------------- */

/* The sum of the thread's share of all workers' aggregates, mostly one aggregate. */
template <class Pair, int Threads>
static DEVICE typename Pair::U sum_of_workers(const reduce_arguments &a, epoch_t epoch,
                                              int workers) {
    using U = typename Pair::U;
    U sum = Pair::identity;
    for (int worker = (int)threadIdx.x; worker < workers; worker += Threads) {
        sum = Pair::combine(sum, wait_for<U>(a.lookback, epoch, worker));
    }
    __syncwarp();
    return sum;
}

/* ---- Partitions ------------------------------------------------------------------------------ */

/* A partition: what a block reduces at a time, Loads warp loads a warp; a tile or half a tile. */
template <class Pair, int Loads>
struct reduce_partition : reduce_part_shape<Pair, Loads> {
    using part = reduce_part_shape<Pair, Loads>;
    using levels = nested<typename Pair::In>;
    static constexpr int warps = reduce_large_warps, threads = 32 * warps;
    static constexpr int part_items = part::items, items = warps * part_items;
    static constexpr int a_tile = part::tile / items;
    static_assert(a_tile * items == part::tile, "partitions make up tiles");

    /* In order: blocks of level 1 of a partition, aggregates of a tile, and how many tiles a reader
       of the finisher waits for at a time. They are all in one block of level 3. */
    static constexpr int blocks = items / VSCAN__LEVEL_1;
    static constexpr int aggregates = a_tile == 1 ? 1 : levels::blocks;
    static constexpr int batch = levels::tiles < 32 ? levels::tiles : 32;
    static_assert(levels::tiles % batch == 0, "a batch does not cross a block of level 3");

    /* The last partition of a vector that is not empty. */
    static DEVICE int last(const reduce_arguments &a) { return (int)((a.n - 1) / items); }
    /* of a partition, in shared memory */
    using groups_of = nested_sums<typename Pair::U, levels::groups, blocks>;

    /* The number of aggregate k of a tile. Those with the same k of a batch of tiles are side by
       side: each lane of a reader adds up a tile, so that its loads are coalesced. */
    static DEVICE int aggregate(int tile, int k) {
        return (tile / batch * aggregates + k) * batch + tile % batch;
    }
};

/* By the first warp of a worker: publishes the aggregates of a partition, from the sums of its
   groups, and of the group outside the body if that belongs to it. */
template <class Pair, class Shape>
static DEVICE void publish_groups(const reduce_arguments &a, epoch_t epoch, int partition,
                                  const typename Shape::groups_of &groups,
                                  typename Pair::U rest = Pair::identity) {
    using U = typename Pair::U;
    constexpr int blocks = Shape::blocks;
    const int lane = threadIdx.x % 32;
    U sum = lane < blocks ? groups.template sum<Pair>(lane) : (U)Pair::identity;
    if (lane == (int)((a.n - 1) / VSCAN__LEVEL_1 % blocks)) sum = Pair::combine(sum, rest);
    jitter(a.lookback, epoch, partition, jitter_publish);
    if constexpr (Shape::a_tile == 1) {
        U of_tile = Pair::identity;
#pragma unroll 1 /* fewer registers */
        for (int b = 0; b < blocks; b += 4) of_tile = add_lanes<Pair, 4>(of_tile, sum, b);
        if (lane == 0) publish<U>(a.lookback, epoch, partition, of_tile);
    } else if (lane < blocks) {
        const int k = partition % Shape::a_tile * blocks + lane;
        publish<U>(a.lookback, epoch, Shape::aggregate(partition / Shape::a_tile, k), sum);
    }
}

/* ---- Finisher: tiles from left to right ------------------------------------------------------ */

/*
 * The total of all tiles, from the initial value, valid in the first warp. The other warps are
 * readers. They take a batch of tiles at a time, one after the other; a lane waits for the
 * aggregates of one tile, and adds them. The first warp adds what the readers have from left to
 * right, batch after batch. So many tiles are waited for at once because a read takes microseconds
 * while memory is busy. A reader and the first warp synchronize when the sums of a batch are
 * written. These are read before the two synchronize again; the buffer has room for them and the
 * next ones.
 */
template <class Pair, class Shape>
struct tile_prefix {
    using U = typename Pair::U;
    static constexpr int readers = Shape::warps - 1, batch = Shape::batch, late_tiles = 256;
    struct shared {
        __align__(16) U sums[readers][2][32];
        unsigned batches_seen; /* 0 at first */
    };

    /* Passes a batch of tiles from number `first` on, the sums of which are at x. Those that do not exist
       have nothing to add. No branch separates the reads from the additions, so all reads are issued
       first. */
    static DEVICE void pass(before_tile<Pair> &before, const U *x, int first) {
        U all[32];
        read_quads(all, x);
        UNROLL_FOR (int j = 0; j < batch - 1; ++j) before.r3 = Pair::combine(before.r3, all[j]);
        before.pass(first + batch - 1, all[batch - 1]);
    }

    /* Reads aggregate number `at`; the result, but for the bits of head_count_mask, is 0 if it has
       been published. */
    static DEVICE uint32_t try_epoch(const lookback_memory &memory, epoch_t epoch, int64_t at,
                                     U *value) {
        status_word w[sizeof(U) / 4];
        if constexpr (sizeof(U) == 4)
            w[0] = load_relaxed(words_of(memory) + at);
        else
            load_relaxed(words_of(memory) + 2 * at, &w[0], &w[1]);
        uint32_t wrong = 0, bits[sizeof(U) / 4];
        UNROLL_FOR (int k = 0; k < (int)sizeof(U) / 4; ++k) {
            bits[k] = (uint32_t)w[k];
            wrong |= (uint32_t)(w[k] >> 32) ^ epoch;
        }
        memcpy(value, bits, sizeof bits);
        return wrong;
    }

    /* The sum of this tile, of which the first `count` aggregates exist. Early: many tiles follow;
       one aggregate is polled until it is there, and only then are the others read, since the
       worker beside the finisher needs the bandwidth. At the end this would take a read's time
       more. What the warp does when it has seen all aggregates: `seen`. */
    template <class Seen>
    static DEVICE U wait_for_tile(const reduce_arguments &a, epoch_t epoch, int tile, int count,
                                  bool early, const Seen &seen) {
        constexpr int all = Shape::aggregates;
        const int64_t at = Shape::aggregate(tile, 0);
        U x[all];
        if (all > 1 && early && count == all)
            wait_for<U>(a.lookback, epoch, at + (all - 1) * batch);
        bool ready = count == 0;
        while (!ready) {
            /* Words are there for whole batches. With loads under conditions the compiler would run
               out of predicates, and have loads wait for others; so too with a comparison each. */
            uint32_t wrong = 0;
            UNROLL_FOR (int k = 0; k < all; ++k) {
                const uint32_t other = try_epoch(a.lookback, epoch, at + k * batch, &x[k]);
                if (k < count) wrong |= other;
            }
            ready = (wrong & ~head_count_mask) == 0;
        }
        __syncwarp();
        seen();
        UNROLL_FOR (int k = 0; k < all; ++k)
            if (k >= count) x[k] = Pair::identity;
        return from_left<Pair>(x);
    }

    static DEVICE U all_tiles(const reduce_arguments &a, shared &s, epoch_t epoch, int partitions,
                              U initial) {
        const int tiles = (partitions + Shape::a_tile - 1) / Shape::a_tile;
        const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
        int buffer = 0;
        if (warp == 0) {
            before_tile<Pair> before = before_tile<Pair>::from(initial);
            int reader = 0;
            for (int first = 0; first < tiles; first += batch) {
                sync_warps(reader + 1, 64);
                pass(before, s.sums[reader][buffer], first);
                if (++reader == readers) {
                    reader = 0;
                    buffer ^= 1;
                }
            }
            return before.sum(Pair::identity);
        }
        for (int first = batch * (warp - 1); first < tiles; first += batch * readers) {
            const int tile = first + lane;
            const int left = (partitions / Shape::a_tile - tile) * Shape::aggregates +
                             partitions % Shape::a_tile * Shape::blocks;
            int count = left < Shape::aggregates ? left : Shape::aggregates;
            if (left < 0 || lane >= batch) count = 0;
            s.sums[warp - 1][buffer][lane] =
                wait_for_tile(a, epoch, tile, count, tiles - first > late_tiles, [&] {
                    if (lane == 0 &&
                        atomicAdd(&s.batches_seen, 1u) == (unsigned)(tiles - 1) / batch)
                        launch_dependents();
                });
            sync_warps(warp, 64);
            buffer ^= 1;
        }
        return initial;
    }
};

/* ---- Kernel ---------------------------------------------------------------------------------- */

/* A worker, in order: publishes the sums of each of its partitions, while it reads the next one. */
template <class Pair, int Loads, bool Tickets, bool Aligned>
static DEVICE void publish_tiles(const reduce_arguments &a, epoch_t epoch, finish<Pair> &f,
                                 typename reduce_partition<Pair, Loads>::groups_of (&groups)[2],
                                 uint32_t (&tickets)[2], int partitions, int lane, int warp,
                                 int workers) {
    using U = typename Pair::U;
    using shape = reduce_partition<Pair, Loads>;
    U rest = Pair::identity;
    int before = -1; /* the worker's partition before */
    int buffer = 0;
    for (int partition = (int)blockIdx.x; partition < partitions;) {
        const int64_t first = (int64_t)partition * shape::items + warp * shape::part_items;
        U *const to = groups[buffer].at(warp * shape::part::groups);
        const auto meanwhile = [&] {
            if (warp != 0) return;
            uint32_t ticket = 0;
            if (Tickets && threadIdx.x == 0) ticket = take_ticket(a.lookback).index;
            f.load_rest(a, lane, partition == shape::last(a));
            if (before >= 0) publish_groups<Pair, shape>(a, epoch, before, groups[buffer ^ 1]);
            if (Tickets && threadIdx.x == 0) tickets[buffer] = ticket;
        };
        if ((int64_t)(partition + 1) * shape::items <= a.body_n)
            sum_part<Pair, Loads, true, Aligned, false>(a, first, lane, to, meanwhile);
        else
            sum_part<Pair, Loads, false, Aligned, false>(a, first, lane, to, meanwhile);
        if (warp == 0 && partition == shape::last(a) && a.outside > 0) rest = f.sum_rest(a, lane);
        /* also: the groups of the partition before have been read */
        __syncthreads();
        before = partition;
        partition = workers + (Tickets ? (int)tickets[buffer] : partition);
        buffer ^= 1;
    }
    if (warp == 0) publish_groups<Pair, shape>(a, epoch, before, groups[buffer ^ 1], rest);
}

template <class Pair, int Loads, bool Tickets, bool Aligned>
__global__ void __launch_bounds__(reduce_partition<Pair, Loads>::threads, reduce_resident)
    reduce_large(const __grid_constant__ reduce_arguments a) {
    using U = typename Pair::U;
    using shape = reduce_partition<Pair, Loads>;
    constexpr int warps = shape::warps;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int workers = (int)gridDim.x - 1;
    /* (Blocks of pairs that any order suits would be slower by 1 to 5 % from 2^21 elements on.) */
    constexpr bool let_next = !Pair::in_any_order && !Tickets;
    if (let_next && (int)blockIdx.x < workers) {
        const int64_t first = (int64_t)blockIdx.x * shape::items + warp * shape::part_items;
        prefetch_by_warp((const typename Pair::In *)a.body, a.body_n,
                         a.backward ? a.body_n - shape::part_items - first : first,
                         shape::part_items);
    }
    grid_dependency_wait(let_next);
    const epoch_t epoch = read_epoch(a.lookback);

    finish<Pair> f;
    U total;
    if constexpr (Pair::in_any_order) {
        __shared__ __align__(16) U parts[2][warps];
        __shared__ uint32_t tickets[2];
        const int64_t partitions = (a.body_n + shape::items - 1) / shape::items;

        /* ---- Workers ------------------------------------------------------------------------- */
        if ((int)blockIdx.x < workers) {
            const auto publish_sums = [&](int64_t at, const U(&sums)[warps]) {
                if (threadIdx.x != 0) return;
                U x[warps];
                UNROLL_FOR (int w = 0; w < warps; ++w) x[w] = sums[w];
                jitter(a.lookback, epoch, at, jitter_publish);
                publish<U>(a.lookback, epoch, at, sum_items<Pair>(x));
            };
            U all = Pair::identity;
            int buffer = 0;
            for (int64_t partition = blockIdx.x; partition < partitions;) {
                uint32_t ticket = 0;
                if (Tickets && threadIdx.x == 0) ticket = take_ticket(a.lookback).index;
                const int64_t first = partition * shape::items + warp * shape::part_items;
                const auto nothing = [] {};
                const U sum =
                    (partition + 1) * shape::items <= a.body_n
                        ? sum_any_part<Pair, Loads, true, false>(a, first, lane, nullptr, nothing)
                        : sum_any_part<Pair, Loads, false, false>(a, first, lane, nullptr, nothing);
                all = Pair::combine(all, sum);
                if (Tickets && threadIdx.x == 0) tickets[buffer] = ticket;
                /* also: the buffer of the next partition but one has been read */
                if (Tickets) __syncthreads();
                partition = workers + (Tickets ? (int64_t)tickets[buffer] : partition);
                buffer ^= 1;
            }
            all = over_lanes<Pair>::sum(all);
            if (lane == 0) parts[0][warp] = all;
            __syncthreads();
            publish_sums(blockIdx.x, parts[0]);
            return;
        }

        /* ---- Finisher ------------------------------------------------------------------------ */
        f.load(a, lane, true);
        scrub(a.lookback, epoch, (int)threadIdx.x, shape::threads);
        jitter(a.lookback, epoch, workers, jitter_wait);
        total = f.initial(a);
        U sum = sum_of_workers<Pair, shape::threads>(a, epoch, workers);
        if (warp == 0) sum = Pair::combine(sum, f.rest(a, lane));
        sum = over_lanes<Pair>::sum(sum);
        if (lane == 0) parts[0][warp] = sum;
        __syncthreads();
        launch_dependents();
        if (warp > 0) return;
        sum = over_lanes<Pair>::sum(lane < warps ? parts[0][lane] : Pair::identity);
        total = Pair::combine(total, sum);
    } else {
        using groups_of = typename shape::groups_of;
        using prefix_of = tile_prefix<Pair, shape>;
        __shared__ groups_of groups_here[2];
        __shared__ typename prefix_of::shared prefix_shared;
        __shared__ uint32_t tickets[2];
        const int partitions = (int)((a.n + shape::items - 1) / shape::items);

        /* ---- Workers ------------------------------------------------------------------------- */
        if ((int)blockIdx.x < workers) {
            publish_tiles<Pair, Loads, Tickets, Aligned>(a, epoch, f, groups_here, tickets,
                                                         partitions, lane, warp, workers);
            return;
        }

        /* ---- Finisher ------------------------------------------------------------------------ */
        f.load_initial(a, true);
        scrub(a.lookback, epoch, (int)threadIdx.x, shape::threads);
        jitter(a.lookback, epoch, partitions, jitter_wait);
        if (threadIdx.x == 0) prefix_shared.batches_seen = 0;
        __syncthreads(); /* also: all threads have read the epoch */
        total =
            prefix_of::all_tiles(a, address_once(prefix_shared), epoch, partitions, f.initial(a));
        if (warp > 0) return;
    }
    /* an aggregate of every worker has been seen */
    if (lane == 0) {
        put_total<Pair>(a, Pair::out(total, a.transform));
        advance(a.lookback, epoch);
    }
}

} /* namespace vscan */
