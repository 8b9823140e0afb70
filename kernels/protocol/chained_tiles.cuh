/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The loop of kernels whose tiles need to know what their predecessors have, in one pass (packs,
 * positions of flags, distribution, sums of lengths, maxima with positions). A block takes its tiles
 * by ticket and has two of them in hand: it loads and counts the next one and publishes its
 * aggregate, and only then looks back for the tile that it counted before, and writes that. So the
 * loads of a tile are under way while the tile before it waits for its prefix. A block that waits has
 * published all that others may wait for, and a ticket is taken only after all tickets before it: so
 * waiting always ends.
 *
 * A kernel is a struct, whose members are the state of a thread, with phases that run in this
 * order:
 *
 *     stage()                        stores the results of the tile in hand in shared memory
 *     count(next)                    loads the next tile; its warps store their counts in shared
 *                                    memory
 *     ---- barrier (1)
 *     publish(launch, next)          adds up the counts; one thread calls launch.publish
 *     look_back(launch, seen, tile)  reads the aggregates of tiles seen .. tile - 1: those since
 *                                    the last look-back of this block
 *     ---- barrier (2)
 *     write(tile)                    writes the results of the tile in hand
 *     keep()                         the next tile becomes the tile in hand
 *     ---- barrier (3), if the kernel needs it
 *
 * All threads call all of these. A thread of warp ticket_warp takes the next ticket at the moment
 * that ticket_time() names and calls prefetch(taken, first), which begins to load what count(taken)
 * needs. There is no such tile if taken >= tiles. first: it is the block's first ticket. If tickets
 * are taken after barrier (2), there must be a barrier (3).
 */
#pragma once

#include "protocol/lookback.cuh"
#include "machine/warp.cuh"

namespace vscan {

enum ticket_time { after_counting, after_look_back, after_writing };

/* What the phases need to know of the launch. */
struct chained_launch {
    const lookback_memory &memory;
    const epoch_t &epoch; /* in shared memory, which saves a register while tiles are counted */
    int tiles;

    /* Makes value and head flag the aggregate of a tile. By one thread. */
    template <class U>
    DEVICE void publish(int tile, U value, uint32_t head = 0) const {
        if (tiles == 1) return;
        vscan::publish<U>(memory, epoch, tile, value, head);
    }

    /* sums[w]: warp w's share of the sum of aggregates from .. to - 1, by so many threads. */
    template <class U, class Sum>
    DEVICE void sum_by_warps(Sum *sums, int from, int to, int threads) const {
        Sum sum = sum_of_aggregates<U, Sum>(memory, epoch, from, to, (int)threadIdx.x, threads);
        __syncwarp();
        sum = warp_sum(sum);
        if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
    }
};

/* What kernels inherit: phases that they do not need. */
struct chained_kernel {
    static constexpr bool barrier_3 = true;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    DEVICE enum ticket_time ticket_time() const { return after_counting; }
    DEVICE void stage() {}
    DEVICE void keep() {}
};

template <class Kernel>
static DEVICE void chain_tiles(Kernel &kernel, const lookback_memory &memory, int tiles) {
    __shared__ epoch_t epoch;
    __shared__ uint32_t taken;
    const auto take = [&](int tile) {
        if (threadIdx.x != 32 * Kernel::ticket_warp) return;
        ticket t = {0, (uint32_t)(tile + 1)}; /* one tile needs no tickets */
        if (tiles > 1) {
            t = take_ticket(memory);
            end_launch_after(memory, t, (int64_t)tiles + gridDim.x);
        }
        taken = t.index;
        if (tile < 0) epoch = t.epoch;
        kernel.prefetch((int)t.index, tile < 0);
    };
    const chained_launch launch = {memory, epoch, tiles};
    take(-1);
    __syncthreads();
    int tile = -1; /* in hand: published, but not yet written; -1: none */
    int next = (int)taken;
    for (int seen = 0;;) {
        const bool counts = next < tiles;
        if (tile >= 0) kernel.stage();
        if (counts) kernel.count(next);
        __syncthreads(); /* (1) */
        if (counts) {
            jitter(memory, epoch, next * 32 + kernel.warp, jitter_publish);
            kernel.publish(launch, next);
        }
        if (counts && kernel.ticket_time() == after_counting) take(next);
        if (tile >= 0) {
            kernel.look_back(launch, seen, tile);
            seen = tile;
        }
        __syncthreads(); /* (2) */
        if (counts && kernel.ticket_time() == after_look_back) take(next);
        if (tile >= 0) kernel.write(tile);
        if (!counts) return;
        if (kernel.ticket_time() == after_writing) take(next);
        kernel.keep();
        if (Kernel::barrier_3) __syncthreads(); /* (3) */
        tile = next;
        next = (int)taken;
    }
}

} /* namespace vscan */
