/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Segmented reduction by offsets (reduce/by_offsets.cuh): what a block's warps hand on to each other,
 * and the scouts, two warps, which take units and look for their offsets.
 *
 * Where a unit's offsets are is found by reads of memory that follow one another, and these may
 * take as long as the unit itself: so each scout has every other unit, and a ring of four units
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
static constexpr int offsets_ring = 4;    /* units of a block, at most, at a time */
static constexpr int offsets_pending = 4; /* segments that wait for earlier units */

template <class Pair>
struct offsets_unit {
    using U = typename Pair::U;
    int64_t unit;                  /* its number */
    int64_t edges[offsets_scouts]; /* its first offset, and the next unit's */
    int64_t copy[offsets_copied];  /* of its offsets */
    U sums[offsets_workers];       /* of windows, from their last offset on */
    int any[offsets_workers];      /* whether there is one */
    open_segment<U> open[offsets_workers];
};

/* A segment that ends in a unit and began before it. */
template <class U>
struct pending_segment {
    U node, rest; /* the node of its unit, the last group */
    int64_t segment;
    int64_t begin; /* its first element */
    int64_t unit;
};

template <class Pair>
struct offsets_shared {
    using U = typename Pair::U;
    uint64_t taken[offsets_ring], found[offsets_ring], summed[offsets_ring], done[offsets_ring],
        freed[offsets_ring];
    offsets_unit<Pair> ring[offsets_ring];
    epoch_t epoch; /* of the launch: there once taken[0] has been arrived at */
    pending_segment<U> pending[offsets_pending];
    U tiles[32];
};

static __device__ __forceinline__ uint32_t offsets_parity(int k) {
    return (uint32_t)(k / offsets_ring) & 1;
}

/* Whether blocks have several units, by ticket; else one each, by number. */
static __device__ __forceinline__ bool offsets_turns(const segments_arguments &a) {
    return a.units > gridDim.x;
}

#ifdef VSCAN__BULK

/* The first unit of a block. */
template <class Pair>
static __device__ __forceinline__ int64_t first_unit(const segments_arguments &a,
                                                     offsets_shared<Pair> &shared) {
    if (!offsets_turns(a)) return blockIdx.x;
    barrier_wait(&shared.taken[0], 0);
    return shared.ring[0].unit;
}

/* ---- Scouts ---------------------------------------------------------------------------------- */

/* By lane 0: the ticket is the last of the launch. */
template <class Pair>
static __device__ __forceinline__ void end_after(const segments_arguments &a, const ticket &t,
                                                 int64_t all) {
    end_launch_after(a.lookback, t, all);
}

/* Copies a unit's offsets, from the one before number `from` on. */
template <class Pair>
static __device__ __forceinline__ void copy_offsets(const segments_arguments &a,
                                                    const segments_offsets &offsets,
                                                    offsets_unit<Pair> &here, int64_t from) {
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

/* Units by ticket: each scout has every other one. Tickets are taken in the order of the units, and
   none once there are no more. */
template <class Pair>
static __device__ __forceinline__ void scout_units(const segments_arguments &a,
                                                   const segments_offsets &offsets,
                                                   offsets_shared<Pair> &shared, int number) {
    using shape = offsets_shape<Pair>;
    const int lane = threadIdx.x % 32;
#pragma unroll 1
    for (int k = number;; k += offsets_scouts) {
        const int at = k % offsets_ring, before = (k + offsets_ring - 1) % offsets_ring;
        offsets_unit<Pair> &here = shared.ring[at];
        if (k >= offsets_ring) barrier_wait(&shared.freed[at], offsets_parity(k - offsets_ring));
        if (k > 0) {
            barrier_wait(&shared.taken[before], offsets_parity(k - 1));
            if (shared.ring[before].unit >= a.units) return;
        }
        ticket t = {0, 0};
        if (lane == 0) {
            t = take_ticket(a.lookback);
            here.unit = t.index;
            if (k == 0) shared.epoch = t.epoch;
        }
        barrier_arrive_at(&shared.taken[at]);
        if (lane == 0) end_after<Pair>(a, t, a.units + gridDim.x);
        const int64_t unit = __shfl_sync(segments_lanes, t.index, 0);
        if (unit >= a.units) return;
        const int64_t keys[2] = {unit * shape::items + 1, (unit + 1) * shape::items + 1};
        int64_t edges[2] = {0, 0}, ends[2] = {offsets.n, offsets.n};
        if (unit == 0) ends[0] = 0;
        if (unit == a.units - 1) edges[1] = offsets.n;
        find_numbers<4>(offsets, offsets.n, keys, a.guess, edges, ends);
        if (lane < 2) here.edges[lane] = lane ? edges[1] : edges[0];
        copy_offsets<Pair>(a, offsets, here, edges[0]);
        barrier_arrive_at(&shared.found[at]);
    }
}

/* The only unit of the block: where it begins, and where it ends. */
template <class Pair>
static __device__ __forceinline__ void scout_unit(const segments_arguments &a,
                                                  const segments_offsets &offsets,
                                                  offsets_shared<Pair> &shared, int number) {
    using shape = offsets_shape<Pair>;
    const int lane = threadIdx.x % 32;
    const bool takes = number == 0 && lane == 0 && a.units > 1;
    ticket t = {0, 0};
    if (takes) t = take_ticket(a.lookback);
    const int64_t edge = blockIdx.x + number;
    int64_t found = edge == 0 ? 0 : offsets.n;
    if (edge > 0 && edge < a.units)
        found = numbers_below<4>(offsets, offsets.n, edge * shape::items + 1, a.guess);
    if (lane == 0) shared.ring[0].edges[number] = found;
    if (number == 0) copy_offsets<Pair>(a, offsets, shared.ring[0], found);
    barrier_arrive_at(&shared.found[0]);
    if (number != 0) return;
    if (lane == 0) shared.epoch = t.epoch;
    barrier_arrive_at(&shared.taken[0]);
    if (takes) end_after<Pair>(a, t, gridDim.x);
}

#endif

} /* namespace vscan */

#endif
