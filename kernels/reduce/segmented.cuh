/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Segmented reduction: one pass over the vector, one launch; only totals are written.
 *
 * A block owns one partition at a time, a half or a quarter of a tile, by ticket. The share of a
 * warp is 4 KiB. It is loaded to shared memory and read as lines of 128 bytes, one a lane
 * (reduce/segmented_tile.cuh). Shared memory has two buffers of shares, and segments_shared.
 *
 * A head is an element where a segment begins; the position behind the last element is one more.
 * Each head ends the segment before it, so a partition has as many totals as heads. The total of a
 * segment that also begins in the partition is final there. It is staged in the share, in order,
 * since the elements are in registers by then. For the partition's first head, only the part of its
 * segment in this partition is known until the look-back.
 *
 * Order (lib/core/order.h): each node of a group's balanced tree holds the sum before its first
 * head and the sum from its last head on; one addition joins two nodes, wherever the heads are. A
 * group is a line (of doubles, two). Group sums are added from left to right in a block of level 1,
 * which is a share (of doubles, two), sums of such blocks in a tile, sums of tiles in a block of
 * level 3; each level begins anew at a head. A total is r4 + (r3 + (r2 + (r1 + x0))) at the last
 * element of its segment; r4 begins with the initial value, and where the segment began in the same
 * tile, r3 is nothing, and so on. Where any order will do, lines are added from left to right, and
 * partitions take the place of tiles.
 *
 * A block is one partition ahead: it publishes the aggregate of the next partition before it looks
 * back for the one whose totals it has staged. The aggregate is the number of heads, and the sum
 * from the last head on; where the order matters and the partition has no head, this sum continues
 * that of the partitions before it in the same tile (r2 at its end). Only then a block waits before
 * it publishes, and for earlier partitions alone. Otherwise a block that waits has published all
 * that others wait for.
 *
 * Memory order: aggregates carry their epoch, so relaxed order is enough (kernels/README.md). One
 * case needs more. Where totals go to the last elements of their segments (out), in place, the
 * element before a partition's first head may belong to another partition. That one's aggregate
 * then also says that its elements have been read: hence the fences.
 *
 * Barriers: (1) sums of warps written; (2) tiles of the look-back written; (3) totals written, the
 * next ticket known.
 */
#pragma once

#include "machine/launch.cuh"
#include "reduce/segmented_phases.cuh"

namespace vscan {

/* ---- Kernel ---------------------------------------------------------------------------------- */

template <class Pair>
__global__ void __launch_bounds__(32 * segments_warps, segments_resident)
    reduce_segments(const __grid_constant__ segmented_reduce_arguments a) {
    using block_of = segmented_reduction<Pair>;
    using U = typename Pair::U;
    segments_shared<Pair> &shared =
        *(segments_shared<Pair> *)(dynamic_shared() + 2 * (blockDim.x / 32) * segments_share);
    block_of b(a, shared);
    first_head<U> first; /* in any order */
    if (threadIdx.x == 0) shared.before = before_tile<Pair>::from(Pair::identity);
    for (;;) {
        b.take();
        __syncthreads(); /* (3) */
        b.partition = b.next;
        if (b.partition >= a.partitions) return;
        b.staged = b.coming;
        b.buffer ^= 1;
        if (Pair::in_any_order && threadIdx.x == 0) first = shared.first[0];
        b.epoch = shared.next.epoch;
        b.next = shared.next.index;
        b.coming = {};
        if (b.next < a.partitions) {
            U sum;
            b.load();
            typename block_of::line_sums lines = b.reduce_lines(sum);
            b.add_lanes(lines, sum);
            sum = b.add_warps(lines);
            b.publish_next(sum); /* at once: other blocks wait for it */
            b.stage_first_total(lines);
        }
        if (b.partition >= 0) {
            b.look_back();
            const first_head<U> &of = Pair::in_any_order ? first : shared.first[b.buffer ^ 1];
            const int64_t base = b.before + (Pair::in_any_order ? 0 : of.heads);
            b.write_first_total(base, of);
            b.write_staged_totals(base);
        } else {
            __syncthreads();
        }
    }
}

/* ---- Launch ---------------------------------------------------------------------------------- */

/* Whether totals are those of a scan of a small vector (scan/small/small.cuh) whose results are not written. */
static bool is_scanned(const vscan__launch *launch, const vscan__scan *scan, int64_t size) {
    const int64_t bytes = scan->n * size;
    return scan->out == nullptr && scan->n <= segments_scanned_to && bytes <= launch->small_to &&
           bytes < launch->large_from;
}

template <class Pair>
static cudaError_t launch_segments(vscan__launch *launch, const vscan__scan *scan,
                                   const pair_transform &transform) {
    using shape = segments_shape<Pair>;
    segmented_reduce_arguments a;
    a.scan = *scan;
    a.lookback = lookback_of(launch);
    a.late = launch->late;
    a.transform = transform;
    a.aligned = (uintptr_t)scan->in % 16 == 0;
    a.wide_flags = (uintptr_t)scan->flags % 16 == 0;
    /* GPUs without TMA: a block may have no more than 48 or 64 KiB of shared memory */
    const int warps = launch->shared_memory > 0 ? segments_warps : segments_warps / 2;
    const int bytes = 2 * warps * segments_share + (int)sizeof(segments_shared<Pair>);
    if (bytes > 48 << 10) {
        const cudaError_t error = allow_shared_memory(launch, reduce_segments<Pair>, bytes);
        if (error != cudaSuccess) return error;
    }
    const int64_t partitions = a.partitions = scan->n / (warps * shape::share) + 1;
    const int64_t resident = (int64_t)segments_resident * launch->multiprocessors;
    return start(reduce_segments<Pair>, partitions < resident ? partitions : resident, 32 * warps,
                 bytes, launch->stream, a);
}

} /* namespace vscan */
