/* SPDX-License-Identifier: Apache-2.0 */
/* Packs of small vectors: see elements/small_vectors.cuh. */
#pragma once

#include "pack/pack.cuh"
#include "elements/relations.cuh"
#include "elements/small_vectors.cuh"

namespace vscan {

/* Bit l of masks[r]: whether lane l keeps its element of row r. x has elements of type Value as
   integers. */
template <class Value, class T>
static DEVICE void compare_lines(uint32_t (&masks)[small_lines], const pack_arguments &a,
                                 const lane_elements &elements, const T (&x)[small_lines]) {
    Value scalar;
    memcpy(&scalar, &a.pack.scalar, sizeof scalar);
    with_relation<Value>(a.pack.row, [&](auto relation) {
        UNROLL_FOR (int r = 0; r < small_lines; ++r) {
            Value y;
            memcpy(&y, &x[r], sizeof y);
            const bool holds =
                a.pack.exchanged ? relation.apply(scalar, y) : relation.apply(y, scalar);
            masks[r] = __ballot_sync(warp_mask, elements.is(r) && holds != (a.pack.turned != 0));
        }
    });
}

/*
 * Elements, as integers T of their size, by flags or by comparison. One block has the whole vector,
 * or a partition of it in the order of block numbers. The block then reads the aggregates of all
 * partitions before its own at once. As in scan/small/small.cuh there are no tickets: blocks start in the
 * order of their numbers. The last block has seen an aggregate of every other block, so it knows
 * that all have read the epoch, and advances it.
 *
 * In place, results go where elements of this or of earlier partitions were. Those of this
 * partition have been read before the first barrier, those of an earlier one before its aggregate
 * was published.
 */
template <class T, bool Flags>
__global__ void __launch_bounds__(small_most_threads, pack_small_blocks)
    pack_small(const __grid_constant__ pack_arguments a) {
    __shared__ uint32_t warp_counts[32], warp_sums[32];

    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int partition = (int)blockIdx.x, partitions = (int)gridDim.x;
    const lane_elements elements(a.pack.n);
    prefetch_of_block(a.pack.in, 8 * (int)sizeof(T), a.pack.n);
    if (Flags) prefetch_of_block(a.pack.flags, map_bits(a.pack.flag_type), a.pack.n);
    grid_dependency_wait();

    /* ---- Elements and flags ------------------------------------------------------------------ */
    epoch_t epoch = 0;
    if (partitions > 1) epoch = read_epoch(a.lookback);
    T x[small_lines];
    elements.load(x, a.pack.in);
    uint32_t masks[small_lines];
    if constexpr (Flags) {
        elements.load_masks(masks, a.pack.flags, a.pack.flag_type);
    } else if constexpr (sizeof(T) == 8) {
        if (a.pack.type == VSCAN_LONG)
            compare_lines<int64_t>(masks, a, elements, x);
        else
            compare_lines<double>(masks, a, elements, x);
    } else if constexpr (sizeof(T) == 1) {
        compare_lines<uint8_t>(masks, a, elements, x);
    } else {
        if (a.pack.type == VSCAN_INT)
            compare_lines<int32_t>(masks, a, elements, x);
        else
            compare_lines<float>(masks, a, elements, x);
    }
    uint32_t own = 0;
    UNROLL_FOR (int r = 0; r < small_lines; ++r) own += (uint32_t)__popc(masks[r]);
    if (a.in_place && partitions > 1) __threadfence();
    const uint32_t sum = sum_over_warps(own, warp_counts);

    /* ---- Look-back --------------------------------------------------------------------------- */
    uint32_t before = 0;
    if (partitions > 1) {
        const bool last = partition == partitions - 1;
        if (threadIdx.x == 0 && !last) {
            jitter(a.lookback, epoch, partition, jitter_publish);
            if (a.in_place) __threadfence();
            publish<uint32_t>(a.lookback, epoch, partition, sum >> 16);
        }
        jitter(a.lookback, epoch, partition, jitter_wait);
        ROLLED_FOR (int p = (int)threadIdx.x; p < partition; p += (int)blockDim.x)
            before += wait_for<uint32_t>(a.lookback, epoch, p);
        __syncwarp();
        before = warp_sum(before);
        if (lane == 0) warp_sums[warp] = before;
        if (a.in_place) __threadfence();
        __syncthreads();
        before = warp_sum(lane < (int)blockDim.x / 32 ? warp_sums[lane] : 0);
        if (last && threadIdx.x == 0) advance(a.lookback, epoch);
    }

    /* ---- Results ----------------------------------------------------------------------------- */
    const uint32_t length =
        a.pack.length < a.pack.n ? (uint32_t)a.pack.length : (uint32_t)elements.n;
    uint32_t at = before + (sum & 0xffff);
    UNROLL_FOR (int r = 0; r < small_lines; ++r) {
        const uint32_t place = at + (uint32_t)__popc(masks[r] & bits_below(lane));
        if ((masks[r] >> lane & 1) && place < length) ((T *)a.pack.out)[place] = x[r];
        at += (uint32_t)__popc(masks[r]);
    }
    if (partition == partitions - 1 && threadIdx.x == 0) {
        const int64_t all = before + (sum >> 16);
        if (a.pack.count != nullptr) *a.pack.count = all;
        check_room(a, all);
    }
    if (partitions > 1 && partition == partitions - 1)
        scrub(a.lookback, epoch, (int)threadIdx.x, (int)blockDim.x);
}

} /* namespace vscan */
