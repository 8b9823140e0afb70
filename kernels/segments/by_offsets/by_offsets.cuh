/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scans and reductions of segments that are given by offsets, each a vector of its own: its groups, its
 * blocks of level 1 and its tiles (core/order.h) are counted from its own first element. One pass, one
 * launch, one kernel for all lengths.
 *
 * What blocks share out is the list of all elements and all segments in the order of memory, a segment
 * before its first element: a partition is so many entries of this list, whatever the lengths are. (S. Odeh
 * et al., Merge Path, 2012.) A partition has the segments that begin in it, and of longer ones the pieces
 * that do: blocks of level 1. What begins in it is all its own, also where it ends up to 1023 elements later,
 * so every element is read by one block, and the sum of a piece needs nothing from elsewhere.
 *
 * Positions count elements in the direction of the scan. A block has eight warps that work, and one
 * that looks up the next partition meanwhile (merge_path.cuh). For each partition:
 *
 *   load      its elements, from its first piece to the end of its last one, to shared memory (elements.cuh)
 *   segments  a thread has a segment. One of a group or less it does alone; of longer ones it lists the
 *             pieces, and the groups of these (short_segments.cuh)
 *   groups    (long_segments.cuh) a thread has a group of a piece, and leaves its sum. Lane l takes element i ^ l in step i:
 *             without bank conflicts, and a balanced tree is the same where left and right are exchanged
 *   pieces    a thread has a piece, and adds the sums of its groups from left to right. That is a total,
 *             unless the segment is longer than a piece
 *   look-back pieces of longer segments are published, one sum a piece, a tile, and a block of level 3, by
 *             who has its end; and what precedes a piece is added up from what was published
 *   results   (scans) a warp has a group, a lane an element; then all are stored
 *
 * Look-back: a piece is published under the number first / 1024 + j, where first is the segment's first
 * position and j the piece's number in it, but for the segment's last piece, for which nobody asks. So no
 * number is used twice: a segment of p pieces has numbers up to first / 1024 + p - 2, less than the next
 * segment's first position / 1024. The same goes for tiles and blocks of level 3.
 *
 * Progress: a block publishes all pieces of a partition before it waits, takes partitions in ascending
 * order, and waits only for what begins before. So who waits for the first of all unpublished numbers
 * waits for a running block. Memory order: an aggregate carries its epoch (kernels/README.md). In
 * place, an element is read and written by the one block that has it.
 *
 * Offsets are checked by the thread that has the segment. Where they do not ascend, blocks may
 * disagree on whose a piece is, and somebody may wait in vain: who has waited for long looks whether they
 * ascend, and goes on without if they do not.
 */
#pragma once

#include "segments/by_offsets/long_segments.cuh"

namespace vscan {

/* All phases of a partition, and the loop over a block's partitions. */
template <class Pair, bool Scan>
struct by_offsets_block : long_segments<Pair, Scan> {
    using base = long_segments<Pair, Scan>;
    using base::a, base::look_back, base::element, base::empty, base::find_partition,
        base::group_at, base::groups, base::load, base::min_of, base::number_groups, base::p,
        base::partitions, base::pieces, base::segments, base::shared, base::store, base::threads,
        base::value, base::wrong, base::z;
    using typename base::shape;
    using typename base::U;

    /* ---- Results ----------------------------------------------------------------------------- */

    DEVICE void results() const {
        const int lane = threadIdx.x % 32;
        const int count = min_of(shared.group_count, shape::groups);
        ROLLED_FOR (int g = threadIdx.x / 32; g < count; g += threads / 32) {
            const offsets_piece *of_group;
            int length;
            const int at = group_at(g, &length, &of_group);
            if (length <= 0) continue;
            const offsets_piece &piece = *of_group;
            U r1 = shared.sums[g], b2 = Pair::identity, b3 = Pair::identity, b4 = z;
            bool begins = at == piece.at; /* the segment */
            if (piece.long_one > 0) {
                const long_piece<U> &of = shared.longs[piece.long_one - 1];
                b2 = of.r2;
                b3 = of.r3;
                b4 = of.r4;
                begins = begins && p.first_loaded + piece.at == of.begin;
            }
            const auto after = [&](U x1) {
                return Pair::combine(b4, Pair::combine(b3, Pair::combine(b2, x1)));
            };
            U x[1] = {Pair::identity};
            if (lane < length) x[0] = value(at + lane);
            network_over_lanes<Pair, false, 32>(x, 0, 0, lane, 0);
            U y = after(Pair::combine(r1, x[0]));
            if (a.scan.exclusive) {
                const U before = begins ? empty() : after(r1);
                y = __shfl_up_sync(warp_mask, y, 1);
                if (lane == 0) y = before;
            }
            if (lane < length) *element(at + lane) = Pair::out(y, a.transform);
        }
    }

    /* ---- All --------------------------------------------------------------------------------- */

    DEVICE void do_partition() {
        load();
        if (threadIdx.x == 0) shared.piece_count = shared.group_count = shared.long_count = 0;
        segments();
        sync_warps<1, threads>();
        if (shared.group_count > 0) { /* the same for all */
            number_groups();
            sync_warps<1, threads>();
            groups();
            sync_warps<1, threads>();
            pieces();
            sync_warps<1, threads>();
            if (shared.long_count > 0) look_back();
            if (Scan) {
                sync_warps<1, threads>();
                results();
                sync_warps<1, threads>();
            }
        }
        if (Scan) store();
    }

    DEVICE void run() {
        const bool works = threadIdx.x<threads, by_ticket = partitions> gridDim.x;
        ticket t = {0, 0};
        /* the next partition: by the last warp */
        const auto find_next = [&](int k) {
            int64_t number = k == 0 ? blockIdx.x : partitions;
            if (by_ticket || k == 0) {
                if (threadIdx.x % 32 == 0) t = take_ticket(a.lookback);
                t.epoch = __shfl_sync(warp_mask, t.epoch, 0);
                t.index = __shfl_sync(warp_mask, t.index, 0);
                if (by_ticket) number = t.index;
                if (threadIdx.x % 32 == 0)
                    end_launch_after(a.lookback, t, by_ticket ? partitions + gridDim.x : gridDim.x);
            }
            find_partition(shared.next[k % 2], number, t.epoch);
        };
        ROLLED_FOR (int k = -1;; ++k) {
            if (k >= 0) p = shared.next[k % 2];
            if (k >= 0 && p.number >= partitions) break;
            if (!works)
                find_next(k + 1);
            else if (k >= 0)
                do_partition();
            __syncthreads(); /* the next partition is known, this one is done */
        }
        report(a.late, VSCAN_ERROR_OFFSETS, wrong);
    }
};

/* ---- Kernel ---------------------------------------------------------------------------------- */

template <class Pair, bool Scan>
__global__ void __launch_bounds__(by_offsets_threads + 32, by_offsets_blocks<Scan>)
    segments_by_offsets(const __grid_constant__ by_offsets_arguments a) {
    using T = typename Pair::T;
    using U = typename Pair::U;
#ifndef VSCAN__TMA /* sums of ints as longs are by reduce/widening.cu: there is little room for machine code */
    if constexpr (sizeof(T) != sizeof(typename Pair::In)) return;
#endif
    grid_dependency_wait();
    U z = Pair::identity;
    if (a.scan.has_initial == 2) z = Pair::in(*(const T *)a.scan.initial_at, a.transform);
    if (a.scan.has_initial == 1) {
        T initial;
        memcpy(&initial, &a.scan.initial, sizeof initial);
        z = Pair::in(initial, a.transform);
    }
    int64_t segments = a.scan.totals_length, partitions = a.partitions;
    search_guess guess = a.guess;
    if (a.scan.count != nullptr) {
        const int64_t count = *a.scan.count;
        if (count > segments && blockIdx.x == 0 && threadIdx.x == 0) report_totals_length(a.late);
        if (count < segments) segments = count;
        partitions = partitions_of<Pair>(a.scan.n, segments);
        guess.each = (double)segments / (double)(a.scan.n + segments + 1);
    }
    /* members of the bases, in their order */
    by_offsets_block<Pair, Scan> block = {a,
                                          {a.scan.offsets, segments, a.scan.n,
                                           a.scan.offset_type == VSCAN_LONG, a.scan.backward != 0},
                                          partitions,
                                          guess,
                                          -1,
                                          *(by_offsets_shared<Pair> *)dynamic_shared(),
                                          z};
    block.run();
}

/* ---- Launch ---------------------------------------------------------------------------------- */

template <class Pair, bool Scan>
static cudaError_t launch_by_offsets(const vscan__launch *launch, const vscan__scan *scan,
                                     const pair_transform &transform) {
    static_assert(sizeof(by_offsets_shared<Pair>) <= 48 << 10, "without asking for more");
    const int64_t n = scan->n, entries = n + scan->totals_length;
    by_offsets_arguments a;
    a.scan = *scan;
    a.lookback = lookback_of(launch);
    a.partitions = partitions_of<Pair>(n, scan->totals_length);
    a.tiles_at = n / VSCAN__LEVEL_1 + 1;
    a.level_3_at = a.tiles_at + n / nested<typename Pair::T>::tile + 1;
    a.late = launch->late;
    a.guess = guess_search(scan->totals_length, entries, 2);
    a.transform = transform;
    const int64_t resident = (int64_t)by_offsets_blocks<Scan> * launch->multiprocessors;
    return start(segments_by_offsets<Pair, Scan>, a.partitions < resident ? a.partitions : resident,
                 by_offsets_threads + 32, (int)sizeof(by_offsets_shared<Pair>), launch->stream, a,
                 launch->may_overlap);
}

} /* namespace vscan */
