/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Segmented reduction by offsets (reduce/by_offsets.cuh): what a block's warps hand on to each other,
 * and the scouts, two warps, which take partitions and look for their offsets.
 *
 * Where a partition's offsets are is found by reads of memory that follow one another, and these may
 * take as long as the partition itself: so each scout has every other partition, and a stage of four partitions
 * lets them run ahead. Offsets are copied to shared memory, as the level 1 cache, which has what
 * shared memory leaves of it, does not keep them: workers that read them there wait for memory
 * several times in a window.
 */
#ifndef VSCAN_REDUCE_BY_OFFSETS_SEARCH_CUH
#define VSCAN_REDUCE_BY_OFFSETS_SEARCH_CUH

#include "reduce/by_offsets_window.cuh"

namespace vscan {

static constexpr int offsets_scouts = 2;
static constexpr int offsets_threads = 32 * (offsets_workers + offsets_scouts + 1);
/* Blocks of a multiprocessor; before sm_80 it may have no more than 1024 threads. */
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
static constexpr int offsets_resident = 3;
#else
static constexpr int offsets_resident = 2;
#endif
static constexpr int offsets_stages = 4;  /* partitions of a block, at most, at a time */
static constexpr int offsets_pending = 4; /* segments that wait for earlier partitions */

template <class Pair>
struct offsets_partition {
    using U = typename Pair::U;
    int64_t partition;             /* its number */
    int64_t edges[offsets_scouts]; /* its first offset, and the next partition's */
    int64_t copy[offsets_copied];  /* of its offsets */
    U sums[offsets_workers];       /* of windows, from their last offset on */
    int any[offsets_workers];      /* whether there is one */
    open_segment<U> open[offsets_workers];
};

/* A segment that ends in a partition and began before it. */
template <class U>
struct pending_segment {
    U node, rest; /* the node of its partition, the last group */
    int64_t segment;
    int64_t begin; /* its first element */
    int64_t partition;
};

template <class Pair>
struct offsets_shared {
    using U = typename Pair::U;
    uint64_t taken[offsets_stages], found[offsets_stages], summed[offsets_stages],
        done[offsets_stages], freed[offsets_stages];
    offsets_partition<Pair> stage[offsets_stages];
    epoch_t epoch; /* of the launch: there once taken[0] has been arrived at */
    pending_segment<U> pending[offsets_pending];
    U tiles[32];
};

static __device__ __forceinline__ uint32_t offsets_parity(int k) {
    return (uint32_t)(k / offsets_stages) & 1;
}

/* Whether blocks have several partitions, by ticket; else one each, by number. */
static __device__ __forceinline__ bool offsets_turns(const segments_arguments &a) {
    return a.partitions > gridDim.x;
}

#ifdef VSCAN__TMA

/* The first partition of a block. */
template <class Pair>
static __device__ __forceinline__ int64_t first_partition(const segments_arguments &a,
                                                          offsets_shared<Pair> &shared) {
    if (!offsets_turns(a)) return blockIdx.x;
    barrier_wait(&shared.taken[0], 0);
    return shared.stage[0].partition;
}

/* ---- Scouts ---------------------------------------------------------------------------------- */

/* By lane 0: the ticket is the last of the launch. */
template <class Pair>
static __device__ __forceinline__ void end_after(const segments_arguments &a, const ticket &t,
                                                 int64_t all) {
    end_launch_after(a.lookback, t, all);
}

/* Copies a partition's offsets, from the one before number `from` on. */
template <class Pair>
static __device__ __forceinline__ void copy_offsets(const segments_arguments &a,
                                                    const segments_offsets &offsets,
                                                    offsets_partition<Pair> &here, int64_t from) {
    const int lane = threadIdx.x % 32;
    int64_t some[offsets_copied / 32];
#pragma unroll
    for (int j = 0; j < offsets_copied / 32; ++j) {
        const int64_t i = from - 1 + j * 32 + lane;
        some[j] = -1;
        if (i >= 0 && i < offsets.n && j * 32 + lane < a.copied) some[j] = offsets[i];
    }
#pragma unroll
    for (int j = 0; j < offsets_copied / 32; ++j)
        if (j * 32 < a.copied) here.copy[j * 32 + lane] = some[j];
}

/* Units by ticket: each scout has every other one. Tickets are taken in the order of the partitions, and
   none once there are no more. */
template <class Pair>
static __device__ __forceinline__ void scout_partitions(const segments_arguments &a,
                                                        const segments_offsets &offsets,
                                                        offsets_shared<Pair> &shared, int number) {
    using shape = offsets_shape<Pair>;
    const int lane = threadIdx.x % 32;
#pragma unroll 1
    for (int k = number;; k += offsets_scouts) {
        const int at = k % offsets_stages, before = (k + offsets_stages - 1) % offsets_stages;
        offsets_partition<Pair> &here = shared.stage[at];
        if (k >= offsets_stages)
            barrier_wait(&shared.freed[at], offsets_parity(k - offsets_stages));
        if (k > 0) {
            barrier_wait(&shared.taken[before], offsets_parity(k - 1));
            if (shared.stage[before].partition >= a.partitions) return;
        }
        ticket t = {0, 0};
        if (lane == 0) {
            t = take_ticket(a.lookback);
            here.partition = t.index;
            if (k == 0) shared.epoch = t.epoch;
        }
        barrier_arrive_at(&shared.taken[at]);
        if (lane == 0) end_after<Pair>(a, t, a.partitions + gridDim.x);
        const int64_t partition = __shfl_sync(segments_lanes, t.index, 0);
        if (partition >= a.partitions) return;
        const int64_t keys[2] = {partition * shape::items + 1, (partition + 1) * shape::items + 1};
        int64_t edges[2] = {0, 0}, ends[2] = {offsets.n, offsets.n};
        if (partition == 0) ends[0] = 0;
        if (partition == a.partitions - 1) edges[1] = offsets.n;
        lower_bounds<4>(offsets, offsets.n, keys, a.guess, edges, ends);
        if (lane < 2) here.edges[lane] = lane ? edges[1] : edges[0];
        copy_offsets<Pair>(a, offsets, here, edges[0]);
        barrier_arrive_at(&shared.found[at]);
    }
}

/* The only partition of the block: where it begins, and where it ends. */
template <class Pair>
static __device__ __forceinline__ void scout_partition(const segments_arguments &a,
                                                       const segments_offsets &offsets,
                                                       offsets_shared<Pair> &shared, int number) {
    using shape = offsets_shape<Pair>;
    const int lane = threadIdx.x % 32;
    const bool takes = number == 0 && lane == 0 && a.partitions > 1;
    ticket t = {0, 0};
    if (takes) t = take_ticket(a.lookback);
    const int64_t edge = blockIdx.x + number;
    int64_t found = edge == 0 ? 0 : offsets.n;
    if (edge > 0 && edge < a.partitions)
        found = lower_bound<4>(offsets, offsets.n, edge * shape::items + 1, a.guess);
    if (lane == 0) shared.stage[0].edges[number] = found;
    if (number == 0) copy_offsets<Pair>(a, offsets, shared.stage[0], found);
    barrier_arrive_at(&shared.found[0]);
    if (number != 0) return;
    if (lane == 0) shared.epoch = t.epoch;
    barrier_arrive_at(&shared.taken[0]);
    if (takes) end_after<Pair>(a, t, gridDim.x);
}

#endif

} /* namespace vscan */

#endif
