/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Segmented reduction by offsets (reduce/by_offsets.cuh): the shared memory through which the warps
 * of a block hand partitions on, and the two search warps, which take partitions and search their
 * offsets.
 *
 * A search reads memory several times, each read depending on the last, which may take as long as a
 * partition itself. So each search warp has every other partition, and a pipeline of four
 * partitions lets them run ahead. Offsets are copied to shared memory: the L1 cache, which has what
 * shared memory leaves of it, does not keep them, and reduction warps would wait for memory several
 * times a window.
 */
#ifndef VSCAN_REDUCE_BY_OFFSETS_SEARCH_CUH
#define VSCAN_REDUCE_BY_OFFSETS_SEARCH_CUH

#include "common/pipeline.cuh"
#include "reduce/by_offsets_blocks.cuh"

namespace vscan {

/* A segment that ends in a partition and began before it; in order, before its tile. */
template <class U>
struct pending_segment {
    U node, rest; /* its part of the partition: a node; the last group. In order: node is X2 */
    int64_t segment;
    int64_t begin; /* its first element */
    int64_t partition;
};

template <class Pair>
struct offsets_shared {
    using U = typename Pair::U;
    taken_tiles<offsets_stages> taken; /* partitions */
    handover<offsets_stages> found, summed, done, freed;
    offsets_partition<Pair> stage[offsets_stages];
    epoch_t epoch; /* of the launch; valid once partition 0 is taken */
    pending_segment<U> pending[offsets_pending];
    alignas(16) U tiles[32];
};

/* Whether blocks have several partitions, by ticket; otherwise one each, by block search_warp. */
static __device__ __forceinline__ bool offsets_by_ticket(const segmented_reduce_arguments &a) {
    return a.partitions > gridDim.x;
}

#ifdef VSCAN__TMA

/* The first partition of a block. */
template <class Pair>
static __device__ __forceinline__ int64_t first_partition(const segmented_reduce_arguments &a,
                                                          offsets_shared<Pair> &shared) {
    if (!offsets_by_ticket(a)) return blockIdx.x;
    return shared.taken.index_of(0);
}

/* ---- Search warps ---------------------------------------------------------------------------- */

/* Copies the offsets of a partition, from search_warp `from` - 1 on. */
template <class Pair>
static __device__ __forceinline__ void copy_offsets(const segmented_reduce_arguments &a,
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

/* Several partitions a block: each search warp has every other one. Tickets are taken in the
   order of the block's partitions, and none after one that finds no more. In order, a ticket is of
   a tile, whose first half the first search warp has: so the sum of that half, which the second
   half's begins with, is the block's own. Who has a last tile of one half finds no more by it. */
template <class Pair>
static __device__ __forceinline__ void
search_partitions(const segmented_reduce_arguments &a, const segments_offsets &offsets,
                  offsets_shared<Pair> &shared, int search_warp) {
    using shape = offsets_shape<Pair>;
    constexpr bool by_tiles = !Pair::in_any_order;
    const int lane = threadIdx.x % 32;
#pragma unroll 1
    for (int k = search_warp;; k += offsets_search_warps) {
        offsets_partition<Pair> &here = shared.stage[k % offsets_stages];
        shared.freed.wait_for_previous(k);
        if (k > 0 && shared.taken.index_of(k - 1) >= a.partitions) return;
        const bool second = by_tiles && k % 2 == 1;
        ticket t = {0, 0};
        uint32_t index = 0;
        if (lane == 0) {
            if (!second) t = take_ticket(a.lookback);
            index = second ? (uint32_t)shared.taken.known(k - 1) + 1 : t.index << by_tiles;
            shared.taken.set(k, index);
            if (k == 0) shared.epoch = t.epoch;
        }
        shared.taken.arrive(k);
        if (lane == 0 && !second)
            end_launch_after(a.lookback, t, (a.partitions >> by_tiles) + gridDim.x);
        const int64_t partition = __shfl_sync(warp_mask, index, 0);
        if (partition >= a.partitions) return;
        const int64_t keys[2] = {partition * shape::items + 1, (partition + 1) * shape::items + 1};
        int64_t edges[2] = {0, 0}, ends[2] = {offsets.n, offsets.n};
        if (partition == 0) ends[0] = 0;
        if (partition == a.partitions - 1) edges[1] = offsets.n;
        lower_bounds<4>(offsets, offsets.n, keys, a.guess, edges, ends);
        if (lane < 2) here.edges[lane] = lane ? edges[1] : edges[0];
        copy_offsets<Pair>(a, offsets, here, edges[0]);
        shared.found.arrive(k);
    }
}

/* One partition a block: one search warp finds its first offset, the other that of the next one. */
template <class Pair>
static __device__ __forceinline__ void
search_partition(const segmented_reduce_arguments &a, const segments_offsets &offsets,
                 offsets_shared<Pair> &shared, int search_warp) {
    using shape = offsets_shape<Pair>;
    const int lane = threadIdx.x % 32;
    const bool takes = search_warp == 0 && lane == 0 && a.partitions > 1;
    ticket t = {0, 0};
    if (takes) t = take_ticket(a.lookback);
    const int64_t edge = blockIdx.x + search_warp;
    int64_t found = edge == 0 ? 0 : offsets.n;
    if (edge > 0 && edge < a.partitions)
        found = lower_bound<4>(offsets, offsets.n, edge * shape::items + 1, a.guess);
    if (lane == 0) shared.stage[0].edges[search_warp] = found;
    if (search_warp == 0) copy_offsets<Pair>(a, offsets, shared.stage[0], found);
    shared.found.arrive(0);
    if (search_warp != 0) return;
    if (lane == 0) shared.epoch = t.epoch;
    shared.taken.arrive(0);
    if (takes) end_launch_after(a.lookback, t, gridDim.x);
}

#endif

} /* namespace vscan */

#endif
