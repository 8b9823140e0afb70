/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packs and splits of small vectors, where latency counts. Such a kernel executes each instruction
 * about once, so its time is mostly that of fetching instructions, and these kernels have few of
 * them.
 *
 * A warp has small_lines lines of 32 consecutive elements; a lane has one element of each. A line's
 * flags are one 32-bit word, by ballot, so a position in the block is a sum of bit counts. Only
 * one number a warp goes through shared memory, and the alignment of vectors does not matter.
 */
#pragma once

#include "machine/warp.cuh"
#include "elements/elementwise.cuh"

namespace vscan {

static constexpr int small_lines = 4; /* lines of a warp */
static constexpr int small_most_threads = 1024;

/* A lane's elements, one of each line of its warp. */
struct lane_elements {
    int first, n; /* the lane's first element */

    DEVICE explicit lane_elements(int64_t all) {
        first = (int)(blockIdx.x * blockDim.x + threadIdx.x / 32 * 32) * small_lines +
                (int)threadIdx.x % 32;
        n = (int)all;
    }
    DEVICE int at(int r) const { return first + 32 * r; }
    DEVICE bool is(int r) const { return at(r) < n; }

    template <class T>
    DEVICE void load(T (&x)[small_lines], const void *vector) const {
        const T *const from = (const T *)vector + first;
        UNROLL_FOR (int r = 0; r < small_lines; ++r) x[r] = is(r) ? from[32 * r] : (T)0;
    }
    /* masks[r]: the flags of line r as bits, 0 past the n-th element. */
    template <class Flag>
    DEVICE void load_masks_of(uint32_t (&masks)[small_lines], const void *flags) const {
        Flag x[small_lines];
        load(x, flags);
        UNROLL_FOR (int r = 0; r < small_lines; ++r) masks[r] = __ballot_sync(warp_mask, x[r] != 0);
    }
    DEVICE void load_masks(uint32_t (&masks)[small_lines], const void *flags, int type) const {
        if (type == VSCAN_INT) return load_masks_of<int32_t>(masks, flags);
        if (type == VSCAN_BYTE) return load_masks_of<uint8_t>(masks, flags);
        const int begin = first & ~31;
        const uint32_t *const words = (const uint32_t *)flags + begin / 32;
        UNROLL_FOR (int r = 0; r < small_lines; ++r) {
            const int left = n - begin - 32 * r;
            masks[r] = left > 0 ? words[r] : 0;
            if (left < 32) masks[r] &= bits_below(left > 0 ? left : 0);
        }
    }
};

/* By a block: its elements, of `bits` bits each, are prefetched, at most 128 bytes a thread. */
static DEVICE void prefetch_of_block(const void *vector, int bits, int64_t n) {
    const int items = (int)blockDim.x * small_lines, begin = (int)blockIdx.x * items;
    const int end = begin + items < (int)n ? begin + items : (int)n;
    const int at = begin / 8 * bits + 128 * (int)threadIdx.x;
    if (at < end / 8 * bits) prefetch_line((const char *)vector + at);
}

/* By all threads of the block; contains a barrier. own: a number of the warp, at most 32 *
   small_lines. Returns the sum over the warps before this one in the low 16 bits, over all warps in
   the high ones. */
static DEVICE uint32_t sum_over_warps(uint32_t own, uint32_t (&warps)[32]) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    if (lane == 0) warps[warp] = own;
    __syncthreads();
    const uint32_t x = lane < (int)blockDim.x / 32 ? warps[lane] : 0;
    return warp_sum(x << 16 | (lane < warp ? x : 0));
}

/* ---- Launching ------------------------------------------------------------------------------- */

/* Threads of a block. One block has the whole vector if it can. Otherwise blocks are so large that
   they are few, because each waits for all others. Measured on an H200. */
static inline int small_threads(int64_t n) {
    constexpr int row = 32 * small_lines;
    if (n <= small_most_threads * small_lines) return (int)((n + row - 1) / row) * 32;
    return n <= 1 << 15 ? 256 : n <= 1 << 17 ? 512 : small_most_threads;
}

static inline int64_t small_blocks(int64_t n, int threads) {
    const int64_t items = (int64_t)threads * small_lines;
    return (n + items - 1) / items;
}

} /* namespace vscan */
