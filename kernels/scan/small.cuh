/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scans and segmented scans of vectors of up to a few MiB, where latency counts. A block owns one
 * partition and holds it in registers from its loads to its stores. Plain scans by pairs that any
 * order suits are in scan/small_any_order.cuh.
 *
 * There are three shapes (scan/small_shape.cuh). Alone: one block with as many warps as the vector
 * needs; nothing is exchanged between blocks. Narrow partitions of 4 KiB (8-byte elements: 8 KiB),
 * so that many multiprocessors load a small vector. Wide partitions of 16 KiB, so that there are no
 * more aggregates than a block can load at once.
 *
 * Several blocks: the partition's index is the block's. A block waits for the aggregates of all
 * earlier partitions (common/lookback.cuh), each thread for one or two. There are no tickets:
 * blocks start in the order of their indices, as other single-pass scans assume too. So whatever a
 * block waits for runs or is done, and between its start and its aggregate there are only loads and
 * sums. The epoch is read together with the data. The last block, once it has an aggregate of every
 * other block, knows that all have read the epoch, and advances it. It publishes no aggregate of
 * its own: nobody needs it.
 *
 * Float and double plus have the order of lib/core/order.h: the lanes that hold the aggregates of
 * one tile sum them by its tree, and these sums are combined strictly from left to right into P.
 * For all other pairs (in segmented scans) tiles do not matter, and P is the sum of all earlier
 * partitions.
 *
 * Shared memory: the group sums, and the sums of earlier partitions.
 *
 * Memory order: status words are relaxed, see kernels/README.md. Inside a block the barriers are:
 * (1) the group sums are written (each warp then scans all of them, which takes no longer than in
 * one warp and saves a barrier); (2) the aggregates have been read and their sums written; (3) P is
 * written, only where one warp computes it.
 */
#ifndef VSCAN_SCAN_SMALL_CUH
#define VSCAN_SCAN_SMALL_CUH

#include "scan/small_any_order.cuh"

namespace vscan {

template <class Pair, bool Segmented, int Loads, int Warps>
struct small_shared {
    using U = typename Pair::U;
    using shape = small_shape<Pair, Loads, Warps>;
    static constexpr int S = shape::scan_groups;
    packed<U, S> sums[shape::scan_lanes]; /* of each group alone */
    packed<uint32_t, S> sum_heads[Segmented ? shape::scan_lanes : 1];
    /* of a warp's groups: the partition up to them; [S - 1]: up to the one before its first */
    packed<U, S> prefixes[S > 1 ? Warps : 1][shape::warp_groups / S + 1];
    packed<uint32_t, S> prefix_heads[Segmented && S > 1 ? Warps : 1][shape::warp_groups / S + 1];
    /* of the earlier partitions */
    packed<U, 16 / sizeof(U)> sums_before[shape::tiles * sizeof(U) / 16]; /* of tiles, or of what
                                                                             warps have read */
    uint32_t heads_before[shape::tiles];                                  /* of the same */
    uint32_t counts_before[Warps]; /* of warps, if counting */
    U uppers
        [shape::
             levels]; /* of the own tile: the blocks of 1, 2, ... partitions before the own one */
    uint32_t upper_heads[shape::levels];
    U p;
};

/* The prefix P, and the levels of the tree above the partition: the same in all threads. */
template <class Pair, int Levels>
struct small_before {
    typename Pair::U p;
    typename Pair::U uppers[Levels];
    bool upper_heads[Levels];
    uint32_t heads; /* counting: in all earlier partitions */
};

/*
 * The look-back: waits for the aggregates of all partitions before `partition`, and combines them.
 * By all threads.
 */
template <class Pair, bool Segmented, int Loads, int Warps>
static __device__ __forceinline__ void
look_back_small(small_before<Pair, small_shape<Pair, Loads, Warps>::levels> &before,
                small_shared<Pair, Segmented, Loads, Warps> &shared, const lookback_memory &memory,
                epoch_t epoch, int partition, bool counting) {
    using U = typename Pair::U;
    using shape = small_shape<Pair, Loads, Warps>;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int own = (unsigned)partition / shape::parts, mine = (unsigned)partition % shape::parts;
    U *const sums = (U *)shared.sums_before;

    U sum[shape::polls];
    uint32_t heads[shape::polls];
    wait_before_first_read<Pair>();
    wait_for_all<shape::threads>(memory, epoch, (U)Pair::identity, sum, heads, (int)threadIdx.x,
                                 partition);
    __syncwarp();

    if (Segmented && counting) {
        uint32_t count = 0;
#pragma unroll
        for (int k = 0; k < shape::polls; ++k) count += heads[k];
#pragma unroll
        for (int d = 16; d > 0; d /= 2) count += __shfl_xor_sync(warp_mask, count, d);
        if (lane == 0) shared.counts_before[warp] = count;
    }
#pragma unroll
    for (int k = 0; k < shape::polls; ++k) {
        unsigned any = 0;
        if (Segmented) any = __ballot_sync(warp_mask, heads[k] != 0);
        if (Pair::in_any_order) {
            /* what precedes the last head does not matter */
            if (Segmented && any && lane < 31 - __clz((int)any)) sum[k] = Pair::identity;
#pragma unroll
            for (int d = 16; d > 0; d /= 2)
                sum[k] = Pair::combine(sum[k], __shfl_xor_sync(warp_mask, sum[k], d));
            if (lane == 0) {
                sums[k * Warps + warp] = sum[k];
                shared.heads_before[k * Warps + warp] = any;
            }
            continue;
        }
        const unsigned u = k * shape::threads + threadIdx.x;
        const int tile = u / shape::parts, part = u % shape::parts;
#pragma unroll
        for (int level = 0; level < shape::levels; ++level) {
            const int half = 1 << level;
            const unsigned half_mask = (1u << half) - 1;
            if (tile == own && (mine & half) && part == (mine & ~(2 * half - 1))) {
                shared.uppers[level] = sum[k];
                if (Segmented) shared.upper_heads[level] = any >> lane & half_mask;
            }
            const U other = __shfl_xor_sync(warp_mask, sum[k], half);
            const int right = (lane | half) & ~(half - 1);
            if (Segmented && (any >> right & half_mask))
                sum[k] = lane & half ? sum[k] : other;
            else
                sum[k] = Pair::combine(sum[k], other);
        }
        if (part == 0) {
            sums[tile] = tile < own ? sum[k] : Pair::identity;
            if (Segmented)
                shared.heads_before[tile] =
                    tile < own && (any >> lane & (0xffffffffu >> (32 - shape::parts))) != 0;
        }
    }
    __syncthreads();

    if (Pair::in_any_order) {
#pragma unroll
        for (int w = 0; w < shape::polls * Warps; ++w) {
            const U next = sums[w];
            before.p = Segmented && shared.heads_before[w] ? next : Pair::combine(before.p, next);
        }
    } else {
#pragma unroll
        for (int level = 0; level < shape::levels; ++level) {
            before.uppers[level] = shared.uppers[level];
            before.upper_heads[level] = Segmented && shared.upper_heads[level];
        }
        if (shape::all_warps_add || warp == 0) {
            int from = 0; /* the last tile with a head */
            if (Segmented) {
#pragma unroll
                for (int t = 0; t < shape::tiles; t += 32) {
                    const bool head = t + lane < shape::tiles && shared.heads_before[t + lane];
                    const unsigned any = __ballot_sync(warp_mask, head);
                    if (any) from = t + 31 - __clz((int)any);
                }
            }
            constexpr int step = shape::prefix_step;
#pragma unroll 1
            for (int t = from & ~(step - 1); t < own; t += step) {
                packed<U, 16 / sizeof(U)> quads[step * sizeof(U) / 16];
                U next[step];
#pragma unroll
                for (int q = 0; q < (int)(step * sizeof(U) / 16); ++q)
                    quads[q] = shared.sums_before[t * sizeof(U) / 16 + q];
                memcpy(next, quads, sizeof next);
#pragma unroll
                for (int j = 0; j < step; ++j)
                    before.p = Pair::combine(before.p,
                                             Segmented && t + j < from ? Pair::identity : next[j]);
            }
        }
        if (!shape::all_warps_add) {
            if (threadIdx.x == 0) shared.p = before.p;
            __syncthreads();
            before.p = shared.p;
        }
    }
    before.heads = 0;
    if (Segmented && counting) {
#pragma unroll
        for (int w = 0; w < Warps; ++w) before.heads += shared.counts_before[w];
    }
}

/*
 * Prefixes of the lane's groups in the partition: e before the group, end up to its end, and
 * e_heads, the heads before it (whether any; counting: how many). g, h: of this lane's S groups, as
 * scan_groups leaves them.
 */
template <class Pair, bool Segmented, int Loads, int Warps, int S>
static __device__ __forceinline__ void
prefixes_of_groups(typename Pair::U (&e)[Loads], typename Pair::U (&end)[Loads],
                   uint32_t (&e_heads)[Loads], packed<typename Pair::U, S> &g,
                   packed<uint32_t, S> &h, small_shared<Pair, Segmented, Loads, Warps> &shared,
                   int warp, int lane) {
    using U = typename Pair::U;
    using shape = small_shape<Pair, Loads, Warps>;
    const int in_load = lane / shape::group_lanes;
    if (S == 1) {
#pragma unroll
        for (int r = 0; r < Loads; ++r) {
            const int group = warp * shape::warp_groups + in_load + r * shape::load_groups;
            e[r] = __shfl_sync(warp_mask, g.value[0], group - 1);
            end[r] = __shfl_sync(warp_mask, g.value[0], group);
            e_heads[r] = Segmented ? __shfl_sync(warp_mask, h.value[0], group - 1) : 0;
            if (group == 0) {
                e[r] = Pair::identity;
                e_heads[r] = 0;
            }
        }
    } else if (S == shape::warp_groups) { /* a lane has scanned the groups of a warp */
        const U left = __shfl_sync(warp_mask, g.value[S - 1], warp - 1);
        e[0] = warp == 0 ? Pair::identity : left;
        end[0] = __shfl_sync(warp_mask, g.value[0], warp);
        e_heads[0] = 0;
        if (Segmented) {
            const uint32_t left_heads = __shfl_sync(warp_mask, h.value[S - 1], warp - 1);
            e_heads[0] = warp == 0 ? 0 : left_heads;
        }
#pragma unroll
        for (int k = 1; k < S; ++k) {
            const U before_it = __shfl_sync(warp_mask, g.value[k - 1], warp);
            const U up_to_it = __shfl_sync(warp_mask, g.value[k], warp);
            const uint32_t heads_before =
                Segmented ? __shfl_sync(warp_mask, h.value[k - 1], warp) : 0;
            if (in_load != k) continue;
            e[0] = before_it;
            end[0] = up_to_it;
            e_heads[0] = heads_before;
        }
    } else {
        constexpr int lanes = shape::warp_groups / S;
        const int at = lane - (warp * lanes - 1);
        const bool outside = warp == 0 && lane == 31; /* nothing precedes the first group */
        if ((at >= 0 && at <= lanes) || outside) {
            const int to = outside ? 0 : at;
            if (outside) {
#pragma unroll
                for (int k = 0; k < S; ++k) {
                    g.value[k] = Pair::identity;
                    h.value[k] = 0;
                }
            }
            shared.prefixes[warp][to] = g;
            if (Segmented) shared.prefix_heads[warp][to] = h;
        }
        __syncwarp();
#pragma unroll
        for (int r = 0; r < Loads; ++r) {
            const int group = S + r * shape::load_groups + in_load;
            e[r] = ((const U *)shared.prefixes[warp])[group - 1];
            end[r] = ((const U *)shared.prefixes[warp])[group];
            e_heads[r] = Segmented ? ((const uint32_t *)shared.prefix_heads[warp])[group - 1] : 0;
        }
    }
}

template <class Pair, bool Segmented, int Loads, int Warps, bool Alone>
__global__ void __launch_bounds__(32 * Warps, Alone ? 1 : 4)
    scan_small(const __grid_constant__ small_arguments hot) {
    using T = typename Pair::T;
    using U = typename Pair::U;
    using shape = small_shape<Pair, Loads, Warps>;
    constexpr int V = shape::lane_items;
    constexpr int S = shape::scan_groups;
    using shared_t = small_shared<Pair, Segmented, Loads, Warps>;
    __shared__ shared_t shared_here;
    shared_t &shared = addressed_once(shared_here);

    const scan_arguments &a = hot.rest;
    const vscan__scan &scan = a.scan;
    const int n = hot.n;
    const bool backward = hot.backward;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int partition = Alone ? 0 : (int)blockIdx.x;
    const bool last_partition = Alone || partition == (int)gridDim.x - 1;
    const bool counting = Segmented && (scan.totals != nullptr || scan.count != nullptr);

    /* ---- Load -------------------------------------------------------------------------------- */
    /* Where the launch allows it, blocks start before the preceding kernel is done, and have
       their code and parameters ready. Nothing is read or written before the wait, so launches
       still follow one another for the data and for everyone else; but what will be read is
       prefetched. */
    const int begin = partition * shape::items + warp * (Loads * shape::load_items) + lane * V;
#pragma unroll
    for (int r = 0; r < Loads; ++r)
        prefetch_element<Segmented, T>(hot, begin + r * shape::load_items);
    /* Blocks of the next kernel are distributed unevenly over the multiprocessors if they come
       early and find much room. Only these kernels leave that much. */
    const bool let_next_late =
        Pair::in_any_order && sizeof(U) == 8 && Loads == 2 && gridDim.x > let_next_late_from;
    wait_for_kernel_before(!let_next_late);
    const lookback_memory lookback = {hot.header, a.lookback.capacity, hot.delay};
    epoch_t epoch = 0;
    if (!Alone) epoch = read_epoch(lookback);
    /* Segmented scans reverse the elements of a backward scan where they load and store them.
       Plain scans are 3 to 6 % faster if they choose where an element is used. */
    const bool in_aligned = is_aligned((const T *)hot.in, n, backward);
    const bool whole = begin - lane * V + Loads * shape::load_items <= n; /* all of the warp's
                                                                             elements exist */
    lane_items<Pair, V> items[Loads];
    lane_heads<V> flags[Loads];
    const bool fast = whole && !backward;
    const bool reversed = Segmented || !backward;
    if (Segmented) {
        load_vectors<Pair, Loads, V>(items, hot, begin, whole, fast);
    } else
        load_items(items, hot.in, begin, shape::load_items, n, backward, in_aligned && whole);
    if (Segmented) load_heads(flags, scan, begin, shape::load_items);
    U initial = Pair::identity;
    if (hot.initial_from == 1) initial = Pair::in(element_of<T>(hot.initial));
    if (hot.initial_from >= 2) initial = Pair::in(*(const volatile T *)scan.initial_at);
    const U visible = hot.initial_from ? initial : Pair::visible;
    /* as in scan_portable: the initial value is read before an aggregate is published */
    const bool carry = hot.initial_from == 3;

    /* ---- Scan inside groups ------------------------------------------------------------------ */
    U x[Loads][V];
    uint32_t heads[Loads] = {};
    unsigned any[Loads];
    uint32_t rank[Loads]; /* counting: heads in the group before this lane */
    const int first = lane & ~(shape::group_lanes - 1);
    const bool group_end = lane % shape::group_lanes == shape::group_lanes - 1;
    const int first_group = warp * shape::warp_groups + lane / shape::group_lanes;
    if (Segmented) bits_of_heads(heads, flags, scan, begin, shape::load_items);
#pragma unroll
    for (int r = 0; r < Loads; ++r) {
        items[r].items(x[r], !reversed);
        any[r] = 0;
        if (Segmented) {
            any[r] = __ballot_sync(warp_mask, heads[r] != 0);
            if (hot.initial_from) {
#pragma unroll
                for (int j = 0; j < V; ++j)
                    if (heads[r] >> j & 1) x[r][j] = Pair::combine(initial, x[r][j]);
            }
        }
        sklansky<Pair, Segmented, shape::group_lanes>(x[r], heads[r], any[r], lane);
        const int group = first_group + r * shape::load_groups;
        if (group_end) ((U *)shared.sums)[group] = x[r][V - 1];
        rank[r] = 0;
        if (Segmented) {
            uint32_t count = (lanes_between(any[r], first, lane) != 0) | (heads[r] != 0);
            if (counting) {
                rank[r] = heads_before_lane<shape::group_lanes>(heads[r], lane);
                count = rank[r] + __popc(heads[r]);
            }
            if (group_end) ((uint32_t *)shared.sum_heads)[group] = count;
        }
    }
    __syncthreads();

    /* ---- Scan the groups, by each warp; publish ---------------------------------------------- */
    const int scan_lanes =
        Alone ? (int)blockDim.x / 32 * shape::warp_groups / S : shape::scan_lanes;
    packed<U, S> g;
    packed<uint32_t, S> h = {};
#pragma unroll
    for (int k = 0; k < S; ++k) g.value[k] = Pair::identity;
    if (lane < scan_lanes) {
        g = shared.sums[lane];
        if (Segmented) h = shared.sum_heads[lane];
    }
    scan_groups<Pair, Segmented>(g.value, h.value, lane, scan_lanes);
    if (!Alone) jitter(lookback, epoch, partition * Warps + warp, jitter_publish);
    if (!Alone && !last_partition) {
        if (warp == 0) {
            if (carry) __threadfence();
            if (lane == shape::scan_lanes - 1)
                publish<U>(lookback, epoch, partition, g.value[S - 1],
                           Segmented ? h.value[S - 1] & head_count_mask : 0);
        }
    }

    U e[Loads], end[Loads];
    uint32_t e_heads[Loads];
    prefixes_of_groups(e, end, e_heads, g, h, shared, warp, lane);

    /* ---- Look back --------------------------------------------------------------------------- */
    small_before<Pair, shape::levels> before;
    before.p = Segmented ? Pair::identity : initial;
    before.heads = 0;
    if (!Alone) {
        const bool closes = last_partition && threadIdx.x == shape::threads - 1;
        look_back_small<Pair, Segmented, Loads, Warps>(before, shared, lookback, epoch, partition,
                                                       counting);
        if (closes) advance(lookback, epoch);
        if (let_next_late) let_next_kernel_begin();
        if (!Pair::in_any_order) {
            const int mine = (unsigned)partition % shape::parts;
            bool open_tile = true;
#pragma unroll
            for (int level = 0; level < shape::levels; ++level) {
                if (!(mine >> level & 1)) continue;
                const U left = before.uppers[level];
#pragma unroll
                for (int r = 0; r < Loads; ++r) {
                    const bool here = e_heads[r] || heads[r] || lanes_between(any[r], first, lane);
                    if (!Segmented || (open_tile && !e_heads[r])) e[r] = Pair::combine(left, e[r]);
                    if (!Segmented || (open_tile && !here)) end[r] = Pair::combine(left, end[r]);
                }
                if (Segmented && before.upper_heads[level]) open_tile = false;
            }
            if (!open_tile) before.p = Pair::identity;
        }
    }

    /* ---- Results ----------------------------------------------------------------------------- */
    const bool out_aligned = is_aligned((const T *)hot.out, n, backward);
#pragma unroll
    for (int r = 0; r < Loads; ++r) {
        const int i = begin + r * shape::load_items;
        const bool e_head = Segmented && e_heads[r];
        const bool lane_head = Segmented && lanes_between(any[r], first, lane);
        const U base = Pair::combine(e_head ? Pair::identity : before.p, e[r]);
        U y[V];
#pragma unroll
        for (int j = 0; j < V; ++j) {
            const bool cut = Segmented && (lane_head || (heads[r] & ((2u << j) - 1)));
            if (Pair::in_any_order) {
                y[j] = Pair::combine(cut ? Pair::identity : base, x[r][j]);
                continue;
            }
            U local = Pair::combine(cut ? Pair::identity : e[r], x[r][j]);
            if (j == V - 1 && group_end) local = end[r];
            y[j] = Pair::combine(cut || e_head ? Pair::identity : before.p, local);
        }
        if (hot.total != nullptr && i + V >= n && i < n) {
            if (carry) __threadfence();
#pragma unroll
            for (int j = 0; j < V; ++j)
                if (i + j == n - 1) *(T *)hot.total = Pair::out(y[j]);
        }
        if (Segmented && counting)
            write_totals<Pair>(a, i, y, heads[r], before.heads + e_heads[r] + rank[r], lane);
        if (hot.exclusive) {
            const U left = __shfl_up_sync(warp_mask, y[V - 1], 1);
#pragma unroll
            for (int j = V - 1; j > 0; --j) y[j] = y[j - 1];
            y[0] = lane == first ? base : left;
#pragma unroll
            for (int j = 0; j < V; ++j)
                if (Segmented ? heads[r] >> j & 1 : i + j == 0) y[j] = visible;
        }
        items[r].results(y, !reversed);
    }
    if (Segmented) {
        store_vectors<Pair, Loads, V>(items, hot, begin, whole, fast);
    } else
        store_items(items, hot.out, begin, shape::load_items, n, backward, out_aligned && whole);
    if (!Alone && last_partition) scrub(lookback, epoch, (int)threadIdx.x, shape::threads);
}

/* ---- Launching ------------------------------------------------------------------------------- */

template <class Pair, bool Segmented, int Loads, int Warps, bool Alone>
static constexpr auto small_kernel() {
    if constexpr (!Segmented && Pair::in_any_order)
        return scan_small_any_order<Pair, Loads, Warps, Alone>;
    else
        return scan_small<Pair, Segmented, Loads, Warps, Alone>;
}

/* Elements of a vector up to which partitions are narrow. */
template <class Pair, bool Segmented>
static constexpr int64_t narrow_max_items =
    Segmented || !Pair::in_any_order
        ? (int64_t)narrow_partitions<Pair>::items * narrow_partitions<Pair>::max_partitions
        : any_order_narrow_items<typename Pair::U>;

/* The largest vector, in elements. */
template <class Pair>
static constexpr int64_t
    small_max_items = (int64_t)wide_partitions<Pair>::items *wide_partitions<Pair>::max_partitions;

template <class Pair>
static bool small_fits(const vscan__launch *launch, const vscan__scan *scan) {
    return scan->n <= small_max_items<Pair> &&
           scan->n * (int64_t)sizeof(typename Pair::T) <= launch->small_to;
}

template <class Pair, bool Segmented>
static cudaError_t launch_small(const vscan__launch *launch, const scan_arguments &rest) {
    using T = typename Pair::T;
    using alone = one_block<Pair>;
    using small = narrow_partitions<Pair>;
    using large = wide_partitions<Pair>;
    small_arguments a;
    a.in = rest.scan.in;
    a.out = rest.scan.out;
    a.total = rest.scan.total;
    a.n = (int32_t)rest.scan.n;
    a.exclusive = (uint8_t)rest.scan.exclusive;
    a.backward = (uint8_t)rest.scan.backward;
    a.initial_from = (uint8_t)rest.scan.has_initial;
    if (!Segmented && a.initial_from == 2 && rest.scan.initial_at == a.total) a.initial_from = 3;
    a.delay = (uint8_t)(rest.lookback.delay ? rest.lookback.delay % 255 + 1 : 0);
    a.initial = rest.scan.initial;
    a.header = rest.lookback.header;
    a.rest = rest;
    const auto over = [&](int items) { return (a.n + items - 1) / items; };
    static_assert(one_block_bytes <= alone::items * (int64_t)sizeof(T), "one block");
    const bool overlap = launch->may_overlap;
    const cudaStream_t stream = launch->stream;
    if (a.n * (int64_t)sizeof(T) <= one_block_bytes)
        return start(small_kernel<Pair, Segmented, 1, 32, true>(), 1, 32 * over(alone::load_items),
                     0, stream, a, overlap);
    if (a.n <= narrow_max_items<Pair, Segmented>)
        return start(small_kernel<Pair, Segmented, small::loads, small_warps, false>(),
                     over(small::items), small::threads, 0, stream, a, overlap);
    return start(small_kernel<Pair, Segmented, large::loads, small_warps, false>(),
                 over(large::items), large::threads, 0, stream, a, overlap);
}

} /* namespace vscan */

#endif
