/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Segmented reduction: one pass over the vector, one launch; nothing but totals is written.
 *
 * A block owns one partition at a time, a half or a quarter of a tile, taken by ticket (common/lookback.cuh). A
 * warp's share of it is 4 KiB, brought to shared memory as it lies there and read as rows of 128
 * bytes, one a lane (pieces of 16 bytes are permuted, so that lanes meet in no bank).
 *
 * Where a segment starts is a head; one past the last element is one more. Each head closes the
 * segment that was open before it, so a partition has as many totals as heads. Those of segments that also
 * start in the partition are final there: they wait in the warp's share, whose elements are in registers
 * by then, in order. Of the partition's first head only the part in this partition is known until earlier partitions
 * are folded.
 *
 * The order of lib/order.h: in a row a node of the balanced tree has the sum of what comes before
 * its first head and of what follows its last one; one addition joins two nodes, whatever lies where.
 * Rows are groups (of doubles, pairs of rows are), whose prefixes come from the Sklansky network over
 * lanes, warps and partitions; tiles are folded from left to right, from the last one that has a head on.
 * Where any order will do, a row is summed from left to right, and partitions take the place of tiles.
 *
 * The word of a partition, its sum from the last head on and the number of heads, is published before the
 * totals of the partition before it, which another slot holds, wait for their places: a block that waits
 * has nothing of its own that others wait for.
 *
 * Where totals go to the last elements of their segments (out), lanes write those of their rows. In
 * place, the element before a partition's first head may be another partition's, whose word says that its elements
 * have been read: hence the fences.
 *
 * Segments by offsets, where they are not for reduce/by_offsets.cuh: a warp looks for the first offset in
 * the partition, another for that of the next one (common/lower_bound.cuh); heads are marked in shared memory, and
 * totals are known by their segments' numbers at once. Every offset is looked at by a partition: the ranges
 * that partitions find are joined, and where one is negative that is reported. An offset outside its partition is
 * reported and not followed.
 *
 * Barriers: (1) sums of the warps written; (2) words seen; (3) totals written, the next ticket known.
 */
#ifndef VSCAN_REDUCE_SEGMENTED_CUH
#define VSCAN_REDUCE_SEGMENTED_CUH

#include "reduce/by_offsets.cuh"
#include "reduce/segmented_tile.cuh"

namespace vscan {

/* ---- Kernel ---------------------------------------------------------------------------------- */

template <class Pair>
__global__ void __launch_bounds__(32 * segments_warps, segments_resident)
    reduce_segments(const __grid_constant__ segments_arguments a) {
    using T = typename Pair::T;
    using U = typename Pair::U;
    using shape = segments_shape<Pair>;
    constexpr int R = shape::row_items, V = shape::piece, G = shape::group_lanes;

    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
    T *const slots = (T *)dynamic_shared();
    segments_shared<Pair> &shared =
        *(segments_shared<Pair> *)(dynamic_shared() + 2 * warps * segments_share);
    const vscan__scan &scan = a.scan;
    const int items = warps * shape::share;
    const int parts = Pair::in_any_order ? 1 : shape::tile / items; /* 1, 2 or 4 */
    const int64_t n = scan.n;
    const int64_t partitions = a.partitions;
    const bool by_offsets = scan.offsets != nullptr, at_ends = scan.out != nullptr;
    const segments_offsets offsets = {scan.offsets, scan.totals_length + 1,
                                      scan.offset_type == VSCAN_LONG};
    T *const totals = (T *)scan.totals;

    const U initial = initial_of<Pair>(scan);
    const T nothing = Pair::out(scan.has_initial ? initial : Pair::visible);

    U p = Pair::identity;                   /* in the first warp: all tiles before number seen */
    int64_t seen = 0, before = 0;           /* and the heads in them */
    int64_t partition = -1;                 /* whose totals are to be written; -1: none */
    uint32_t warp_rank = 0, warp_count = 0; /* heads before this warp's, and its own */
    uint32_t row_heads = 0;                 /* of this lane's row; and how many come before them */
    int row_rank = 0, first_at = 0; /* in the warp; the place of the partition's first head */
    uint32_t partition_count = 0;
    U first_prefix = Pair::identity, first_pre = Pair::identity;
    int64_t first_segment = -1;
    int parity = 0; /* of the next partition's slot */

    const auto take = [&] {
        ticket t = {0, (uint32_t)(partition + 1)}; /* one partition needs no tickets */
        if (partitions > 1) {
            t = take_ticket(a.lookback);
            end_launch_after(a.lookback, t, partitions + gridDim.x);
        }
        shared.next = t;
    };
    if (threadIdx.x == blockDim.x - 1) take();
    __syncthreads();

    for (;;) {
        const epoch_t epoch = shared.next.epoch;
        const int64_t next = shared.next.index;
        const T *const staged = slots + ((parity ^ 1) * warps + warp) * shape::share;
        T *const share = slots + (parity * warps + warp) * shape::share;
        uint32_t next_rank = 0, next_count = 0, next_partition_count = 0, heads = 0;
        int rank = 0;
        uint32_t warps_with_heads = 0; /* bit w: the next partition's warp w has heads */

        /* ---- The next partition: elements, heads -------------------------------------------------- */
        if (next < partitions) {
            const int64_t partition_first = next * items,
                          first = partition_first + warp * shape::share;
            load_share<Pair>(a, share, first);
#ifdef VSCAN__TMA
            end_of_pieces();
#endif
            if (by_offsets) {
                if (warp < 2) {
                    const int64_t of = next + warp;
                    int64_t found = of == 0 ? 0 : offsets.n;
                    if (of > 0 && of < partitions)
                        found = lower_bound<2>(offsets, offsets.n, of * items, a.guess);
                    if (lane == 0) shared.edges[warp] = found;
                }
                shared.rows[threadIdx.x] = 0;
                if (threadIdx.x == 0) shared.first_segment = -1;
                __syncthreads();
                const int64_t from = shared.edges[0], to = shared.edges[1];
                int64_t wrong = to < from ? from : -1;
#pragma unroll 1
                for (int64_t b = from + threadIdx.x; b < to; b += segments_batch * blockDim.x) {
                    int64_t o[segments_batch], before_it[segments_batch];
                    load_batch(o, before_it, offsets, b, from, to);
#pragma unroll
                    for (int j = 0; j < segments_batch; ++j) {
                        const int64_t i = b + j * (int)blockDim.x, at = o[j] - partition_first;
                        if (i >= to) continue;
                        if (at >= 0 && at < items && o[j] <= n && before_it[j] <= o[j])
                            atomicOr(&shared.rows[(unsigned)at / R], 1u << (unsigned)at % R);
                        else
                            wrong = i;
                    }
                }
                __syncwarp();
                report(a.late, VSCAN_ERROR_OFFSETS, wrong);
                __syncthreads();
                heads = shared.rows[threadIdx.x];
            } else {
                heads = row_of_flags<R>(a, first);
            }

            /* ---- Rows ------------------------------------------------------------------------ */
            uint32_t upto = __popc(heads);
#pragma unroll
            for (int d = 1; d < 32; d *= 2) {
                const uint32_t left = __shfl_up_sync(segments_lanes, upto, d);
                if (lane >= d) upto += left;
            }
            rank = (int)upto - __popc(heads);
            next_count = __shfl_sync(segments_lanes, upto, 31);
            if (by_offsets) shared.ranks[threadIdx.x] = (uint16_t)rank;
#ifdef VSCAN__TMA
            wait_for_pieces(0);
#endif
            __syncwarp();
            U x[R];
#pragma unroll
            for (int c = 0; c < R / V; ++c) {
                T raw[V];
                const int4 quad = *(const int4 *)segments_at(share, lane * R + c * V);
                memcpy(raw, &quad, 16);
#pragma unroll
                for (int j = 0; j < V; ++j) x[c * V + j] = Pair::in(raw[j]);
            }
            __syncwarp();
            if (scan.has_initial) {
#pragma unroll
                for (int j = 0; j < R; ++j)
                    if (heads >> j & 1) x[j] = Pair::combine(initial, x[j]);
            }
            U pre, sum;
            if (next_count == 0)
                pre = sum = sum_items<Pair>(x);
            else
                sum_row<Pair>(x, heads, share, rank, &pre, &sum);

            /* ---- Groups: the network over the lanes ------------------------------------------ */
            bool head = heads != 0, inside = false; /* inside: a head in the group's left half */
            if (G == 2) {
                const U other = __shfl_xor_sync(segments_lanes, sum, 1);
                const bool other_head = __shfl_xor_sync(segments_lanes, (int)head, 1);
                if (lane & 1) {
                    pre = Pair::combine(other, pre);
                    inside = other_head;
                    if (!head) sum = Pair::combine(other, sum);
                } else if (other_head) {
                    sum = other;
                } else {
                    sum = Pair::combine(sum, other);
                }
                head |= other_head;
            }
            const unsigned any = __ballot_sync(segments_lanes, head);
            const int group = lane & ~(G - 1);
#pragma unroll
            for (int half = G; half < 32; half *= 2) {
                const int right = lane & ~(half - 1);
                const U left = __shfl_sync(segments_lanes, sum, right - 1);
                const bool open = !head && !(any & ((1u << group) - (1u << right)));
                if ((lane & half) && open) sum = Pair::combine(left, sum);
            }
            U prefix = __shfl_up_sync(segments_lanes, sum, G);
            if (lane < G) prefix = Pair::identity;
            if (lane == 31) {
                shared.sums[warp] = sum;
                shared.counts[warp] = next_count;
            }
            __syncthreads(); /* (1) */

            /* ---- Warps ----------------------------------------------------------------------- */
            U level = lane < warps ? shared.sums[lane] : Pair::identity; /* of warp `lane` */
            const uint32_t count = lane < warps ? shared.counts[lane] : 0;
            const uint32_t with_heads = __ballot_sync(segments_lanes, count != 0);
            uint32_t counts = count;
#pragma unroll
            for (int d = 1; d < segments_warps; d *= 2) {
                const uint32_t left = __shfl_up_sync(segments_lanes, counts, d);
                if (lane >= d) counts += left;
            }
            warps_with_heads = with_heads;
            next_partition_count = __shfl_sync(segments_lanes, counts, segments_warps - 1);
            next_rank = __shfl_sync(segments_lanes, counts - count, warp);
            const bool first_group =
                !(any & ((1u << group) - 1)); /* no heads before it in the warp */
#pragma unroll
            for (int half = 1; half < segments_warps; half *= 2) {
                const int right = lane & ~(half - 1), right_here = warp & ~(half - 1);
                const U left = __shfl_sync(segments_lanes, level, right - 1);
                const U left_here = __shfl_sync(segments_lanes, level, right_here - 1);
                if ((warp & half) && first_group &&
                    !(with_heads & ((1u << warp) - (1u << right_here))))
                    prefix = Pair::combine(left_here, prefix);
                if ((lane & half) && !(with_heads & ((2u << lane) - (1u << right))))
                    level = Pair::combine(left, level);
            }
            const U all = __shfl_sync(segments_lanes, level, segments_warps - 1);

            /* ---- The total that a row's first head closes ------------------------------------ */
            if (heads != 0) {
                if (inside) {
                    share[staged_at<T>(rank)] = Pair::out(pre);
                } else if (rank + next_rank == 0) {
                    shared.first_prefix = prefix;
                    shared.first_pre = pre;
                    shared.first_at = threadIdx.x * R + __ffs((int)heads) - 1;
                } else {
                    share[staged_at<T>(rank)] = Pair::out(Pair::combine(prefix, pre));
                }
            }
            if (threadIdx.x == 0 && partitions > 1) {
                jitter(a.lookback, epoch, next, jitter_publish);
                if (scan.out == scan.in) __threadfence();
                publish<U>(a.lookback, epoch, next, all, next_partition_count);
            }
        }

        /* ---- What came before the partition ------------------------------------------------------- */
        U beside = Pair::identity, above = Pair::identity;
        uint32_t beside_heads = 0, own_heads = 0;
        if (partition >= 0) {
            jitter(a.lookback, epoch, partition, jitter_wait);
            const int64_t own = partition >> parts / 2;
            const int mine = (int)partition & (parts - 1);
            for (;;) {
                const int64_t tile = seen + threadIdx.x;
                const int here = tile < own ? parts : tile == own ? mine : 0;
                U x[shape::parts];
                uint32_t count[shape::parts];
                wait_for_all<1>(a.lookback, epoch, (U)Pair::identity, x, count, tile * parts,
                                tile * parts + here);
                if (scan.out == scan.in) __threadfence();
                __syncwarp();
                U sum = x[0];
                uint32_t heads = count[0];
                if constexpr (!Pair::in_any_order) {
                    const U low = count[1] ? x[1] : Pair::combine(x[0], x[1]);
                    const U high = count[3] ? x[3] : Pair::combine(x[2], x[3]);
                    sum = count[2] | count[3] ? high : Pair::combine(low, high);
                    heads += count[1] + count[2] + count[3];
                    if (tile == own) {
                        shared.beside = mine == 3 ? x[2] : mine == 1 ? x[0] : Pair::identity;
                        shared.beside_heads = mine == 3 ? count[2] : mine == 1 ? count[0] : 0;
                        shared.above = mine & 2 ? low : Pair::identity;
                        shared.own_heads = heads;
                        sum = Pair::identity;
                        heads = 0;
                    }
                }
                uint32_t all = heads;
#pragma unroll
                for (int d = 16; d > 0; d /= 2) all += __shfl_xor_sync(segments_lanes, all, d);
                const unsigned cut = __ballot_sync(segments_lanes, heads != 0);
                if constexpr (
                    Pair::in_any_order) { /* what lies before the last head does not count */
                    if (cut && lane < 31 - __clz((int)cut)) sum = Pair::identity;
#pragma unroll
                    for (int d = 16; d > 0; d /= 2)
                        sum = Pair::combine(sum, __shfl_xor_sync(segments_lanes, sum, d));
                    if (lane == 0) shared.tiles[warp] = sum;
                } else {
                    shared.tiles[threadIdx.x] = sum;
                }
                if (lane == 0) {
                    shared.tile_heads[warp] = cut;
                    shared.tile_counts[warp] = all;
                }
                __syncthreads(); /* (2) */
                uint32_t heads_here = lane < warps ? shared.tile_counts[lane] : 0;
#pragma unroll
                for (int d = segments_warps / 2; d > 0; d /= 2)
                    heads_here += __shfl_down_sync(segments_lanes, heads_here, d);
                before += __shfl_sync(segments_lanes, heads_here, 0);
                if (warp == 0) {
                    if constexpr (Pair::in_any_order) {
#pragma unroll
                        for (int w = 0; w < segments_warps; ++w) {
                            if (w >= warps) continue;
                            p = shared.tile_heads[w] ? shared.tiles[w]
                                                     : Pair::combine(p, shared.tiles[w]);
                        }
                    } else {
                        int from = 0; /* the last tile with a head */
#pragma unroll 1
                        for (int w = 0; w < warps; ++w)
                            if (shared.tile_heads[w])
                                from = 32 * w + 31 - __clz((int)shared.tile_heads[w]);
                        if (shared.tile_heads[from / 32]) p = Pair::identity;
                        const int to =
                            own - seen < (int)blockDim.x ? (int)(own - seen) : (int)blockDim.x;
#pragma unroll 8
                        for (int t = from; t < to; ++t) p = Pair::combine(p, shared.tiles[t]);
                    }
                }
                seen += blockDim.x;
                if (seen > own || (Pair::in_any_order && seen == own)) break;
                __syncthreads();
            }
            seen = own;
            if constexpr (!Pair::in_any_order) {
                beside = shared.beside;
                above = shared.above;
                beside_heads = shared.beside_heads;
                own_heads = shared.own_heads;
            }

            /* ---- Totals ---------------------------------------------------------------------- */
            const int64_t base = before + own_heads; /* heads before the partition */
            if (threadIdx.x == 0 && partition_count > 0) {
                U local = Pair::combine(beside, first_prefix);
                if (!beside_heads) local = Pair::combine(above, local);
                local = Pair::combine(local, first_pre);
                if (!own_heads) local = Pair::combine(p, local);
                const int64_t k = by_offsets ? first_segment : base - 1;
                if (at_ends && base > 0)
                    ((T *)scan.out)[partition * items + first_at - 1] = Pair::out(local);
                else if (k >= 0 && k < scan.totals_length)
                    totals[k] = Pair::out(local);
            }
            if (at_ends) {
                T *const row = (T *)scan.out + partition * items + threadIdx.x * R - 1;
#pragma unroll 1
                for (uint32_t left = row_heads; left != 0; left &= left - 1, ++row_rank)
                    if (warp_rank + row_rank > 0)
                        row[__ffs((int)left) - 1] = staged[staged_at<T>(row_rank)];
            } else if (!by_offsets) {
#pragma unroll 4
                for (int i = lane; i < (int)warp_count; i += 32) {
                    const int64_t k = base + warp_rank + i - 1;
                    if (warp_rank + i > 0 && k < scan.totals_length)
                        totals[k] = staged[staged_at<T>(i)];
                }
                if (threadIdx.x == 0 && partition == partitions - 1) {
                    const int64_t segments = base + partition_count - 1;
                    if (scan.count != nullptr) *scan.count = segments;
                    if (segments > scan.totals_length) report_totals_length(a.late);
                }
            }
        } else {
            __syncthreads();
        }

        /* ---- By offsets, the next partition's totals already -------------------------------------- */
        if (next < partitions && by_offsets) {
            const int64_t partition_first = next * items;
            const int64_t to = shared.edges[1];
#pragma unroll 1
            for (int64_t b = shared.edges[0] + threadIdx.x; b < to;
                 b += segments_batch * blockDim.x) {
                int64_t o[segments_batch], before_it[segments_batch];
                load_batch(o, before_it, offsets, b, 0, to);
#pragma unroll
                for (int j = 0; j < segments_batch; ++j) {
                    const int64_t i = b + j * (int)blockDim.x, at = o[j] - partition_first;
                    if (i == 0 || i >= to || at < 0 || at >= items || o[j] > n) continue;
                    if (before_it[j] == o[j]) {
                        totals[i - 1] = nothing;
                        continue;
                    }
                    const unsigned row = (unsigned)at / R, of = row / 32;
                    const uint32_t earlier = shared.rows[row] & ((1u << (unsigned)at % R) - 1);
                    const int rank = shared.ranks[row] + __popc(earlier);
                    if (rank == 0 && (warps_with_heads & ((1u << of) - 1)) == 0)
                        shared.first_segment = i - 1;
                    else
                        totals[i - 1] =
                            slots[(parity * warps + of) * shape::share + staged_at<T>(rank)];
                }
            }
        }
        partition = next;
        if (threadIdx.x == blockDim.x - 1 && next < partitions) take();
        __syncthreads(); /* (3) */
        if (next >= partitions) return;
        warp_rank = next_rank;
        warp_count = next_count;
        partition_count = next_partition_count;
        first_prefix = shared.first_prefix;
        first_pre = shared.first_pre;
        first_at = shared.first_at;
        row_heads = heads;
        row_rank = rank;
        if (threadIdx.x == 0) first_segment = shared.first_segment;
        parity ^= 1;
    }
}

/* ---- Launching ------------------------------------------------------------------------------- */

template <class Pair>
static cudaError_t launch_segments(vscan__launch *launch, const vscan__scan *scan, int pair) {
    using shape = segments_shape<Pair>;
    segments_arguments a;
    a.scan = *scan;
    a.lookback = lookback_of(launch);
    a.late = launch->late;
    a.aligned = (uintptr_t)scan->in % 16 == 0;
    a.wide_flags = scan->offsets == nullptr && (uintptr_t)scan->flags % 16 == 0;
    a.guess = guess_search(scan->totals_length + 1, scan->n, 2);
    if (suits_reduce_offsets<Pair>(launch, scan))
        return launch_reduce_offsets<Pair>(launch, a, pair);
    /* where no block can have more than 48 KiB without asking, or than 64 at all, half a block */
    const int warps = launch->shared_memory > 0 ? segments_warps : segments_warps / 2;
    const int bytes = 2 * warps * segments_share + (int)sizeof(segments_shared<Pair>);
    if (bytes > 48 << 10 && !(launch->segments_ready >> pair & 1)) {
        const cudaError_t error = cudaFuncSetAttribute(
            reduce_segments<Pair>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
        if (error != cudaSuccess) return error;
        launch->segments_ready |= 1u << pair;
    }
    const int64_t partitions = a.partitions = scan->n / (warps * shape::share) + 1;
    const int64_t resident = (int64_t)segments_resident * launch->multiprocessors;
    return start(reduce_segments<Pair>, partitions < resident ? partitions : resident, 32 * warps,
                 bytes, launch->stream, a);
}

} /* namespace vscan */

#endif
