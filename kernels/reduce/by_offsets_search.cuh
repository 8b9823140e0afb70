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
 *
 * In order, all probes of a search are under way together, and the last ones are the copy.
 */
#ifndef VSCAN_REDUCE_BY_OFFSETS_SEARCH_CUH
#define VSCAN_REDUCE_BY_OFFSETS_SEARCH_CUH

#include "protocol/pipeline.cuh"
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

/* ---- Search warps, in any order -------------------------------------------------------------- */

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
   order of the block's partitions, and none after one that finds no more. */
template <class Pair>
static __device__ __forceinline__ void
search_partitions(const segmented_reduce_arguments &a, const segments_offsets &offsets,
                  offsets_shared<Pair> &shared, int search_warp) {
    using shape = offsets_shape<Pair>;
    const int lane = threadIdx.x % 32;
#pragma unroll 1
    for (int k = search_warp;; k += offsets_search_warps) {
        offsets_partition<Pair> &here = shared.stage[k % offsets_stages];
        shared.freed.wait_for_previous(k);
        if (k > 0 && shared.taken.index_of(k - 1) >= a.partitions) return;
        ticket t = {0, 0};
        if (lane == 0) {
            t = take_ticket(a.lookback);
            shared.taken.set(k, t.index);
            if (k == 0) shared.epoch = t.epoch;
        }
        shared.taken.arrive(k);
        if (lane == 0) end_launch_after(a.lookback, t, a.partitions + gridDim.x);
        const int64_t partition = __shfl_sync(warp_mask, t.index, 0);
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

/* ---- Search warps, in order ------------------------------------------------------------------ */

/*
 * Each lane of half a warp loads N offsets: those in `base`, base + step, ... Offsets that do not
 * exist are some other one. All are under way together, as none is converted before all are asked
 * for: the compiler puts the conversion of an int behind its load, and waits there.
 */
template <class Int, int N>
static __device__ __forceinline__ void load_probes(const segments_offsets &offsets, int64_t base,
                                                   int step, int64_t (&x)[N]) {
    Int raw[N];
#pragma unroll
    for (int j = 0; j < N; ++j) {
        const int64_t i = base + (j * 16 + (int)(threadIdx.x % 16)) * step;
        raw[j] = ((const Int *)offsets.at)[(uint64_t)i < (uint64_t)offsets.n ? i : 0];
    }
#pragma unroll
    for (int j = 0; j < N; ++j) x[j] = raw[j];
}

/*
 * Finds the edges of a partition, as lower_bounds does, and copies its offsets. Half a warp has the
 * first edge, the other half that of the next partition. What an edge is found to be does not
 * depend on the other one, so partitions agree on the edge between them even if offsets do not
 * ascend. The last probes at the first edge are consecutive offsets, mostly all of the partition,
 * so that the copy costs no further access to memory.
 */
template <class Pair>
static __device__ __forceinline__ void
search_edges(const segmented_reduce_arguments &a, const segments_offsets &offsets,
             offsets_partition<Pair> &here, int64_t partition) {
    constexpr int each = 8, probes = 16 * each;
    const int lane = threadIdx.x % 32, side = lane / 16;
    const int64_t key = (partition + side) * offsets_shape<Pair>::items + 1;
    int64_t low = side == 1 && partition == a.partitions - 1 ? offsets.n : 0;
    int64_t high = side == 0 && partition == 0 ? 0 : offsets.n;
    int step = (int)a.guess.step;
    int64_t base = (int64_t)((double)key * a.guess.each) - probes / 2 * step;
    if (base > offsets.n - probes * step) base = offsets.n - probes * step;
    if (base < 0) base = 0;
    const bool copied = low < high; /* x will be the offsets from `base` on */
    int64_t x[each];
    const auto load = [&] {
        if (offsets.wide)
            load_probes<int64_t>(offsets, base, step, x);
        else
            load_probes<int32_t>(offsets, base, step, x);
    };
#pragma unroll 1
    while (__any_sync(warp_mask, low < high)) {
        const bool mine = low < high;
        if (mine) load();
        int less = 0; /* so many of the probes are, from the first one on */
#pragma unroll
        for (int j = 0; j < each; ++j) {
            const int64_t i = base + (j * 16 + lane % 16) * step;
            const unsigned all = __ballot_sync(warp_mask, i < low || (i < high && x[j] < key));
            less += __popc(all >> 16 * side & 0xffff);
        }
        if (!mine) continue;
        const int64_t at = base + less * step;
        if (less > 0 && at - step >= low) low = at - step + 1;
        if (less < probes && at < high) high = at;
        if (low >= high) continue;
        base = low - 1; /* is less; the copy begins with it */
        const int64_t distance = (high - low + probes - 2) / (probes - 1);
        step = distance < 1 << 23 ? (int)distance : 1 << 23;
    }
    const int64_t to = __shfl_sync(warp_mask, low, 16);
    if (side == 1) return;
    if (lane == 0) {
        here.from = low;
        here.count = to < low ? -1 : (int)(to - low);
    }
    const int64_t from = low - 1; /* the copy begins with it */
    if (!copied || step > 1 || base > from || (to > base + probes && to - low < a.copied)) {
        base = from;
        step = 1;
        load();
    }
#pragma unroll
    for (int j = 0; j < each; ++j) {
        const int64_t i = base - from + j * 16 + lane; /* in the copy */
        const int64_t offset = from + i < 0 ? -1 : x[j];
        if (i == 0) here.begin = offset < 0 ? -1 : offset;
        if (i >= 0 && i < a.copied) here.copy[i] = here.position(offset, partition);
    }
}

/*
 * Blocks with several partitions take whole tiles, so that the sum of a tile's first half, with
 * which that of the second begins, is the block's own. The first search warp takes tickets and has
 * the first halves. None is taken after one that finds no more, or a last tile of one half; as
 * there are several blocks, the last ticket of all is one that finds no more.
 * With one partition a block, the first search warp searches, and the other one takes the ticket.
 */
template <class Pair>
static __device__ __forceinline__ void
search_in_order(const segmented_reduce_arguments &a, const segments_offsets &offsets,
                offsets_shared<Pair> &shared, int search_warp) {
    const bool by_ticket = offsets_by_ticket(a), first_lane = threadIdx.x % 32 == 0;
    if (!by_ticket && search_warp == 1) {
        shared.taken.arrive(1); /* there is no other partition */
        const bool takes = first_lane && a.partitions > 1;
        ticket t = {0, 0};
        if (takes) t = take_ticket(a.lookback);
        if (first_lane) shared.epoch = t.epoch;
        shared.taken.arrive(0);
        if (takes) end_launch_after(a.lookback, t, gridDim.x);
        return;
    }
#pragma unroll 1
    for (int k = search_warp;; k += offsets_search_warps) {
        int64_t partition = blockIdx.x;
        if (by_ticket) {
            shared.freed.wait_for_previous(k);
            if (k > 0 && shared.taken.index_of(k - 1) >= a.partitions) return;
            ticket t = {0, 0};
            if (search_warp == 0) {
                if (first_lane) t = take_ticket(a.lookback);
                if (first_lane && k == 0) shared.epoch = t.epoch;
                partition = 2 * (int64_t)__shfl_sync(warp_mask, t.index, 0);
            } else {
                partition = shared.taken.known(k - 1) + 1;
            }
            if (first_lane) shared.taken.set(k, partition);
            shared.taken.arrive(k);
            if (partition >= a.partitions) {
                if (search_warp == 0 && first_lane)
                    end_launch_after(a.lookback, t, a.partitions / 2 + gridDim.x);
                return;
            }
        }
        search_edges<Pair>(a, offsets, shared.stage[k % offsets_stages], partition);
        shared.found.arrive(k);
        if (!by_ticket) return;
    }
}

#endif

} /* namespace vscan */

#endif
