/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scans of vectors of up to a few MiB by pairs that may be combined in any order, with few
 * instructions: where a multiprocessor has 32 warps with 4 vectors of doubles a lane, the
 * instructions of scan/small/small.cuh take longer to issue than memory takes to deliver.
 *
 * Blocks, partitions, status words and launches are those of scan/small/small.cuh. Segmented scans stay
 * there.
 *
 * What all blocks wait for comes first. A lane combines all its elements, a warp its lanes, mostly
 * by one or two instructions, a block its warps, and publishes. Only then, while data and
 * aggregates of other partitions are in flight, each lane computes its prefix in the partition. The
 * sums of the lanes' vectors lie in shared memory in the order of the vector; a lane takes as many
 * consecutive ones as a warp has loads, so that one scan over the lanes serves all loads. The
 * prefix of the partition is then combined from what all lanes have read, and with each element.
 *
 * Shared memory: a sum for each lane's vectors, and two values a warp.
 *
 * Memory order: status words are relaxed, see kernels/README.md. Barriers: (1) the sums of the
 * warps are written; (2) the aggregates have been read and their sums written.
 */
#pragma once

#include "elements/warp_reduce.cuh"
#include "scan/small/shape.cuh"

namespace vscan {

template <class Pair, int Loads, int Warps>
struct any_order_shared {
    using U = typename Pair::U;
    packed<U, Loads> lanes[Warps][Loads > 1 ? 32 : 1]; /* of a lane's vectors, in their order */
    U warps[Warps];
    U before[Warps]; /* of the aggregates that a warp has waited for */
};

/*
 * The prefixes e of a lane's vectors: everything in the warp before them, and `outside` before
 * that. `at`: the sums of all the warp's vectors; `sum`: the lane's, where it has one vector.
 */
template <class Pair, int Loads>
static DEVICE void prefixes_of_loads(typename Pair::U (&e)[Loads],
                                     packed<typename Pair::U, Loads> *at, typename Pair::U sum,
                                     typename Pair::U outside, int lane) {
    using U = typename Pair::U;
    packed<U, Loads> upto;
    upto.value[0] = sum;
    if constexpr (Loads > 1) {
        upto = at[lane];
        UNROLL_FOR (int k = 1; k < Loads; ++k)
            upto.value[k] = Pair::combine(upto.value[k - 1], upto.value[k]);
    }
    U all = upto.value[Loads - 1];
    UNROLL_FOR (int d = 1; d < 32; d *= 2) {
        const U left = __shfl_up_sync(warp_mask, all, d);
        if (lane >= d) all = Pair::combine(left, all);
    }
    U left = __shfl_up_sync(warp_mask, all, 1);
    left = lane == 0 ? outside : Pair::combine(outside, left);
    if constexpr (Loads == 1) {
        e[0] = left;
    } else {
        UNROLL_FOR (int k = Loads - 1; k > 0; --k)
            upto.value[k] = Pair::combine(left, upto.value[k - 1]);
        upto.value[0] = left;
        at[lane] = upto; /* only this lane has read what was there */
        __syncwarp();
        UNROLL_FOR (int r = 0; r < Loads; ++r) e[r] = ((const U *)at)[r * 32 + lane];
    }
}

/* The sum of those aggregates of earlier partitions that the warp has waited for. */
template <class Pair, class Shape>
static DEVICE typename Pair::U wait_for_partitions(const lookback_memory &lookback, epoch_t epoch,
                                                   int partition) {
    using U = typename Pair::U;
    using shape = Shape;
    wait_before_first_read<Pair>();
    U seen[shape::polls];
    bool waits[shape::polls], ready;
    UNROLL_FOR (int k = 0; k < shape::polls; ++k) {
        seen[k] = Pair::identity;
        waits[k] = k * shape::threads + (int)threadIdx.x < partition;
    }
    do {
        ready = true;
        UNROLL_FOR (int k = 0; k < shape::polls; ++k) {
            const int u = k * shape::threads + (int)threadIdx.x;
            uint32_t heads;
            if (waits[k]) waits[k] = !try_read<U>(lookback, epoch, u, &seen[k], &heads);
            ready &= !waits[k];
        }
    } while (!ready);
    __syncwarp();
    UNROLL_FOR (int k = 1; k < shape::polls; ++k) seen[0] = Pair::combine(seen[0], seen[k]);
    return over_lanes<Pair>::sum(seen[0]);
}

template <class Pair, int Loads, int Warps, bool OneBlock>
__global__ void __launch_bounds__(32 * Warps, OneBlock ? 1 : 4)
    scan_small_any_order(const __grid_constant__ small_arguments hot) {
    using T = typename Pair::T;
    using U = typename Pair::U;
    using shape = small_shape<Pair, Loads, Warps>;
    constexpr int V = shape::lane_items;
    using shared_t = any_order_shared<Pair, Loads, Warps>;
    __shared__ shared_t shared_here;
    shared_t &shared = address_once(shared_here);

    const int n = hot.n;
    const bool backward = hot.backward;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int partition = OneBlock ? 0 : (int)blockIdx.x;
    const bool last_partition = OneBlock || partition == (int)gridDim.x - 1;

    /* ---- Load: as in scan_small -------------------------------------------------------------- */
    const int begin = partition * shape::items + warp * (Loads * shape::load_items) + lane * V;
    prefetch_loads<typename Pair::In, Loads>(
        hot, partition * shape::items + warp * (Loads * shape::load_items), lane);
    grid_dependency_wait();
    const lookback_memory lookback = {hot.header, hot.rest.lookback.capacity, hot.delay};
    epoch_t epoch = 0;
    if (!OneBlock) epoch = read_epoch(lookback);
    const bool whole = begin - lane * V + Loads * shape::load_items <= n; /* the warp's elements */
    lane_items<Pair, V> items[Loads];
    const bool fast = whole && !backward;
    load_vectors<Pair, Loads, V>(items, hot, begin, whole, fast);
    U initial = Pair::identity;
    if (hot.initial_from == 1) initial = Pair::in(element_of<T>(hot.initial), hot.rest.transform);
    if (hot.initial_from >= 2)
        initial = Pair::in(*(const volatile T *)hot.rest.scan.initial_at, hot.rest.transform);
    const bool carry = hot.initial_from == 3;

    /* ---- Sums of the lane, the warp, the block; publish -------------------------------------- */
    U x[Loads][V]; /* of the lane's vector, up to each element */
    U sum = Pair::identity;
    UNROLL_FOR (int r = 0; r < Loads; ++r) {
        items[r].items(x[r], false, hot.rest.transform);
        UNROLL_FOR (int j = 1; j < V; ++j) x[r][j] = Pair::combine(x[r][j - 1], x[r][j]);
        sum = r == 0 ? x[r][V - 1] : Pair::combine(sum, x[r][V - 1]);
        if (Loads > 1) ((U *)shared.lanes[warp])[r * 32 + lane] = x[r][V - 1];
    }
    const U load_sum = sum; /* where a warp has one load */
    sum = over_lanes<Pair>::sum(sum);
    if (lane == 0) shared.warps[warp] = sum;
    __syncthreads();

    const bool publishes = !OneBlock && warp == 0; /* no warp precedes warp 0 */
    sum = Pair::identity;
    if (lane < (publishes ? Warps : warp)) sum = shared.warps[lane];
    sum = over_lanes<Pair>::sum(sum);
    if (!OneBlock) jitter(lookback, epoch, partition * Warps + warp, jitter_publish);
    if (publishes) {
        if (carry) __threadfence();
        if (lane == 0 && !last_partition) publish<U>(lookback, epoch, partition, sum);
        sum = Pair::identity;
    }

    /* ---- Prefixes in the partition, with the initial value ----------------------------------- */
    U e[Loads];
    prefixes_of_loads<Pair, Loads>(e, shared.lanes[Loads > 1 ? warp : 0], load_sum,
                                   Pair::combine(initial, sum), lane);
    U total = Pair::identity; /* up to the last element of the vector, in the lane that has it */
    const bool has_last = hot.total != nullptr && last_partition;
    if (has_last) {
        UNROLL_FOR (int r = 0; r < Loads; ++r)
            UNROLL_FOR (int j = 0; j < V; ++j)
                if (begin + r * shape::load_items + j == n - 1)
                    total = Pair::combine(e[r], x[r][j]);
    }
    UNROLL_FOR (int r = 0; r < Loads; ++r) {
        if (hot.exclusive) {
            UNROLL_FOR (int j = V - 1; j > 0; --j) move_here(x[r][j], x[r][j - 1]);
            move_here(x[r][0], Pair::identity);
        }
        UNROLL_FOR (int j = 0; j < V; ++j) x[r][j] = Pair::combine(e[r], x[r][j]);
    }

    /* ---- Look back --------------------------------------------------------------------------- */
    if (!OneBlock) {
        const bool closes = last_partition && threadIdx.x == shape::threads - 1;
        sum = wait_for_partitions<Pair, shape>(lookback, epoch, partition);
        if (lane == 0) shared.before[warp] = sum;
        __syncthreads();
        if (closes) advance(lookback, epoch);
        sum = over_lanes<Pair>::sum(lane < Warps ? shared.before[lane] : Pair::identity);
        total = Pair::combine(sum, total);
        UNROLL_FOR (int r = 0; r < Loads; ++r)
            UNROLL_FOR (int j = 0; j < V; ++j) x[r][j] = Pair::combine(sum, x[r][j]);
    }

    /* ---- Results ----------------------------------------------------------------------------- */
    if (has_last && (unsigned)(n - 1 - begin) % shape::load_items < V &&
        (unsigned)(n - 1 - begin) < Loads * shape::load_items) {
        if (carry) __threadfence();
        *(T *)hot.total = Pair::out(total, hot.rest.transform);
    }
    UNROLL_FOR (int r = 0; r < Loads; ++r) items[r].results(x[r], false, hot.rest.transform);
    store_vectors<Pair, Loads, V>(items, hot, begin, whole, fast);
    if (!OneBlock && last_partition) scrub(lookback, epoch, (int)threadIdx.x, shape::threads);
}

} /* namespace vscan */
