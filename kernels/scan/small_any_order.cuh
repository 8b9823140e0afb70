/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scans of vectors of up to a few MiB by pairs whose combinations may be done in any order, and so
 * with few instructions: 32 warps of a multiprocessor that have 4 rows of doubles each would take
 * longer to issue what scan/small.cuh does than memory takes to bring them.
 *
 * Blocks, partitions, words and launches are those of scan/small.cuh; segmented scans stay there.
 *
 * What everybody waits for comes first: a lane combines all that it has, a warp its lanes, mostly by
 * one or two instructions, a block its warps, and publishes. Only then, while data and words of other
 * partitions are under way, lanes learn what is before them: the sums of a warp's rows in its lanes lie in
 * shared memory in the order of the vector, a lane takes as many consecutive ones as there are rows,
 * and one scan over the lanes does for all rows. What is before the partition is again one combination of
 * all lanes, and is combined with each element.
 *
 * Barriers: (1) sums of warps written; (2) words seen, sums of them written.
 */
#ifndef VSCAN_SCAN_SMALL_ANY_ORDER_CUH
#define VSCAN_SCAN_SMALL_ANY_ORDER_CUH

#include "common/warp_reduce.cuh"
#include "scan/small_shape.cuh"

namespace vscan {

template <class Pair, int Rows, int Warps>
struct any_shared {
    using U = typename Pair::U;
    packed<U, Rows> lanes[Warps][Rows > 1 ? 32 : 1]; /* of a warp's rows, one after the other */
    U warps[Warps];
    U before[Warps]; /* of the words that a warp has waited for */
};

/*
 * What a lane of a warp has before each of its rows in the warp, and from outside; x: its sums of
 * rows. By the scan over a warp's Rows * 32 sums; at: where they lie, those of this lane among them.
 */
template <class Pair, int Rows>
static __device__ __forceinline__ void
before_rows(typename Pair::U (&e)[Rows], packed<typename Pair::U, Rows> *at, typename Pair::U sum,
            typename Pair::U outside, int lane) {
    using U = typename Pair::U;
    packed<U, Rows> upto;
    upto.value[0] = sum;
    if constexpr (Rows > 1) {
        upto = at[lane];
#pragma unroll
        for (int k = 1; k < Rows; ++k)
            upto.value[k] = Pair::combine(upto.value[k - 1], upto.value[k]);
    }
    U all = upto.value[Rows - 1];
#pragma unroll
    for (int d = 1; d < 32; d *= 2) {
        const U left = __shfl_up_sync(all_lanes, all, d);
        if (lane >= d) all = Pair::combine(left, all);
    }
    U left = __shfl_up_sync(all_lanes, all, 1);
    left = lane == 0 ? outside : Pair::combine(outside, left);
    if constexpr (Rows == 1) {
        e[0] = left;
    } else {
#pragma unroll
        for (int k = Rows - 1; k > 0; --k) upto.value[k] = Pair::combine(left, upto.value[k - 1]);
        upto.value[0] = left;
        at[lane] = upto; /* only this lane has read what was there */
        __syncwarp();
#pragma unroll
        for (int r = 0; r < Rows; ++r) e[r] = ((const U *)at)[r * 32 + lane];
    }
}

template <class Pair, int Rows, int Warps, bool Alone>
__global__ void __launch_bounds__(32 * Warps, Alone ? 1 : 4)
    scan_small_any_order(const __grid_constant__ small_arguments hot) {
    using T = typename Pair::T;
    using U = typename Pair::U;
    using shape = small_shape<Pair, Rows, Warps>;
    constexpr int V = shape::lane_items;
    using shared_t = any_shared<Pair, Rows, Warps>;
    __shared__ shared_t shared_here;
    shared_t &shared = addressed_once(shared_here);

    const int n = hot.n;
    const bool backward = hot.backward;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int partition = Alone ? 0 : (int)blockIdx.x;
    const bool last_partition = Alone || partition == (int)gridDim.x - 1;

    /* ---- Loads: as in scan_small ------------------------------------------------------------- */
    const int begin = partition * shape::items + warp * (Rows * shape::row_items) + lane * V;
    prefetch_rows<T, Rows>(hot, partition * shape::items + warp * (Rows * shape::row_items), lane);
    wait_for_kernel_before();
    const lookback_memory lookback = {hot.header, hot.rest.lookback.capacity, hot.delay};
    epoch_t epoch = 0;
    if (!Alone) epoch = read_epoch(lookback);
    const bool whole = begin - lane * V + Rows * shape::row_items <= n; /* of the warp */
    lane_items<Pair, V> items[Rows];
    const bool fast = whole && !backward;
    load_turned<Pair, Rows, V>(items, hot, begin, whole, fast);
    U initial = Pair::identity;
    if (hot.initial_from == 1) initial = Pair::in(element_of<T>(hot.initial));
    if (hot.initial_from >= 2) initial = Pair::in(*(const volatile T *)hot.rest.scan.initial_at);
    const bool carry = hot.initial_from == 3;

    /* ---- Sums: of the lane, the warp, the block ----------------------------------------------- */
    U x[Rows][V]; /* of the lane's piece of a row, up to each element */
    U sum = Pair::identity;
#pragma unroll
    for (int r = 0; r < Rows; ++r) {
        items[r].items(x[r], false);
#pragma unroll
        for (int j = 1; j < V; ++j) x[r][j] = Pair::combine(x[r][j - 1], x[r][j]);
        sum = r == 0 ? x[r][V - 1] : Pair::combine(sum, x[r][V - 1]);
        if (Rows > 1) ((U *)shared.lanes[warp])[r * 32 + lane] = x[r][V - 1];
    }
    const U row_sum = sum; /* where there is one row */
    sum = over_lanes<Pair>::sum(sum);
    if (lane == 0) shared.warps[warp] = sum;
    __syncthreads();

    const bool publishes = !Alone && warp == 0; /* and has no warp before it */
    sum = Pair::identity;
    if (lane < (publishes ? Warps : warp)) sum = shared.warps[lane];
    sum = over_lanes<Pair>::sum(sum);
    if (publishes) {
        jitter(lookback, epoch, partition, jitter_publish);
        if (carry) __threadfence();
        if (lane == 0 && !last_partition) publish<U>(lookback, epoch, partition, sum);
        sum = Pair::identity;
    }

    /* ---- What is before a lane, in the partition, and the initial value ----------------------------- */
    U e[Rows];
    before_rows<Pair, Rows>(e, shared.lanes[Rows > 1 ? warp : 0], row_sum,
                            Pair::combine(initial, sum), lane);
    U total = Pair::identity; /* up to the last element of all, in the lane that has it */
    const bool has_last = hot.total != nullptr && last_partition;
    if (has_last) {
#pragma unroll
        for (int r = 0; r < Rows; ++r)
#pragma unroll
            for (int j = 0; j < V; ++j)
                if (begin + r * shape::row_items + j == n - 1) total = Pair::combine(e[r], x[r][j]);
    }
#pragma unroll
    for (int r = 0; r < Rows; ++r) {
        if (hot.exclusive) {
#pragma unroll
            for (int j = V - 1; j > 0; --j) move_here(x[r][j], x[r][j - 1]);
            move_here(x[r][0], Pair::identity);
        }
#pragma unroll
        for (int j = 0; j < V; ++j) x[r][j] = Pair::combine(e[r], x[r][j]);
    }

    /* ---- Units before this one --------------------------------------------------------------- */
    if (!Alone) {
        jitter(lookback, epoch, partition, jitter_wait);
        const bool closes = last_partition && threadIdx.x == shape::threads - 1;
        wait_cycles(first_read_delay<Pair>(gridDim.x));
        U seen[shape::polls];
        bool waits[shape::polls], ready;
#pragma unroll
        for (int k = 0; k < shape::polls; ++k) {
            seen[k] = Pair::identity;
            waits[k] = k * shape::threads + (int)threadIdx.x < partition;
        }
        do {
            ready = true;
#pragma unroll
            for (int k = 0; k < shape::polls; ++k) {
                const int u = k * shape::threads + (int)threadIdx.x;
                uint32_t heads;
                if (waits[k]) waits[k] = !try_read<U>(lookback, epoch, u, &seen[k], &heads);
                ready &= !waits[k];
            }
        } while (!ready);
        __syncwarp();
#pragma unroll
        for (int k = 1; k < shape::polls; ++k) seen[0] = Pair::combine(seen[0], seen[k]);
        sum = over_lanes<Pair>::sum(seen[0]);
        if (lane == 0) shared.before[warp] = sum;
        __syncthreads();
        if (closes) advance(lookback, epoch);
        sum = over_lanes<Pair>::sum(lane < Warps ? shared.before[lane] : Pair::identity);
        total = Pair::combine(sum, total);
#pragma unroll
        for (int r = 0; r < Rows; ++r)
#pragma unroll
            for (int j = 0; j < V; ++j) x[r][j] = Pair::combine(sum, x[r][j]);
    }

    /* ---- Results ----------------------------------------------------------------------------- */
    if (has_last && (unsigned)(n - 1 - begin) % shape::row_items < V &&
        (unsigned)(n - 1 - begin) < Rows * shape::row_items) {
        if (carry) __threadfence();
        *(T *)hot.total = Pair::out(total);
    }
#pragma unroll
    for (int r = 0; r < Rows; ++r) items[r].results(x[r], false);
    store_turned<Pair, Rows, V>(items, hot, begin, whole, fast);
    if (!Alone && last_partition) scrub(lookback, epoch, (int)threadIdx.x, shape::threads);
}

} /* namespace vscan */

#endif
