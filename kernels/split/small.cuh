/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Splits of small vectors by one launch (split/split.cuh, elements/small_vectors.cuh). A block
 * publishes its number of set flags (protocol/lookback.cuh), and needs those of all blocks. Blocks
 * need not be resident together: a block that has polled a status word for long counts that block's
 * flags itself, so none depends on another. Relaxed order is enough, because a status word carries
 * all that is published. A block arrives after it has read the epoch; the last one to arrive ends
 * the launch.
 */
#pragma once

#include "elements/small_vectors.cuh"
#include "split/move.cuh"

namespace vscan {

/* By a warp: the number of set flags of a block. */
static __device__ uint32_t count_elements(const vscan__split &split, int64_t first, int items) {
    const int64_t end = first + items < split.n ? first + items : split.n;
    uint32_t count = 0;
    ROLLED_FOR (int64_t i = first + threadIdx.x % 32; i < end; i += 32)
        count += flag_at(split.flags, split.flag_type, i);
    return warp_sum(count);
}

/* By a block: the number of set flags of all blocks, with `items` elements each, and in the high 32
   bits of those before this one. Each warp returns a part of the sum, in all lanes. */
static DEVICE uint64_t sum_of_blocks(const split_arguments &a, epoch_t epoch, int items) {
    const int lane = threadIdx.x % 32, number = (int)blockIdx.x, blocks = (int)gridDim.x;
    uint64_t sum = 0;
    ROLLED_FOR (int begin = (int)threadIdx.x - lane; begin < blocks; begin += (int)blockDim.x) {
        const int block = begin + lane;
        uint32_t value = 0;
        bool missing = block < blocks;
        ROLLED_FOR (int poll = 0; poll < most_polls && missing; ++poll)
            missing = !try_read<uint32_t>(a.lookback, epoch, block, &value);
        for (uint32_t left; (left = __ballot_sync(warp_mask, missing)) != 0;) {
            const int helped = __ffs((int)left) - 1;
            const uint32_t count =
                count_elements(a.split, (int64_t)(begin + helped) * items, items);
            if (lane == helped) {
                value = count;
                missing = false;
            }
        }
        if (block < blocks) sum += value | (uint64_t)(block < number ? value : 0) << 32;
    }
    return warp_sum(sum);
}

/* The smallest vectors, as elements/small_vectors.cuh says. A block has fewer elements than a tile,
   or all. */
template <class T>
__global__ void __launch_bounds__(small_most_threads, 1)
    split_lines(const __grid_constant__ split_arguments a) {
    __shared__ uint32_t warp_counts[32];
    __shared__ uint64_t sums[32];

    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = (int)blockDim.x / 32;
    const int number = (int)blockIdx.x, blocks = (int)gridDim.x;
    const int items = (int)blockDim.x * small_lines;
    const lane_elements elements(a.split.n);
    prefetch_of_block(a.split.in, 8 * (int)sizeof(T), a.split.n);
    prefetch_of_block(a.split.flags, map_bits(a.split.flag_type), a.split.n);
    grid_dependency_wait();

    epoch_t epoch = 0;
    if (blocks > 1) epoch = read_epoch(a.lookback);
    T x[small_lines];
    elements.load(x, a.split.in);
    uint32_t masks[small_lines];
    elements.load_masks(masks, a.split.flags, a.split.flag_type);
    uint32_t own = 0;
    UNROLL_FOR (int r = 0; r < small_lines; ++r) own += (uint32_t)__popc(masks[r]);
    const uint32_t sum =
        sum_over_warps(own, warp_counts);        /* then all threads have read the epoch */
    uint32_t at = sum & 0xffff, all = sum >> 16; /* set flags before the warp, and of the vector */
    if (blocks > 1) {
        unsigned before_me = (unsigned)blocks; /* blocks that have arrived */
        if (threadIdx.x == 0) {
            jitter(a.lookback, epoch, number, jitter_publish);
            publish<uint32_t>(a.lookback, epoch, number, all);
            before_me = atomicAdd(&a.lookback.header->arrived, 1u);
        }
        jitter(a.lookback, epoch, number, jitter_wait);
        __syncwarp();
        uint64_t total = sum_of_blocks(a, epoch, items);
        if (lane == 0) sums[warp] = total;
        __syncthreads();
        total = warp_sum(lane < warps ? sums[lane] : 0);
        at += (uint32_t)(total >> 32);
        all = (uint32_t)total;
        if (before_me == (unsigned)blocks - 1) {
            a.lookback.header->arrived = 0;
            end_launch(a.lookback, epoch);
        }
    }
    const uint32_t clear = (uint32_t)elements.n - all;
    UNROLL_FOR (int r = 0; r < small_lines; ++r) {
        const uint32_t set = at + (uint32_t)__popc(masks[r] & bits_below(lane));
        const uint32_t position =
            masks[r] >> lane & 1 ? clear + set : (uint32_t)elements.at(r) - set;
        if (elements.is(r)) ((T *)a.split.out)[position] = x[r];
        at += (uint32_t)__popc(masks[r]);
    }
    if (number == 0 && threadIdx.x == 0 && a.split.count != nullptr) *a.split.count = clear;
}

/*
 * A block has the tile of its number. Barriers: (1) flag words and epoch are written; (2) slots and
 * the sums of the warps are written; (3) elements are in their slots.
 */
template <class T>
__global__ void __launch_bounds__(split_threads, small_most_blocks<T>)
    split_small(const __grid_constant__ split_arguments a) {
    __shared__ T packed[tile_items];
    __shared__ __align__(16) uint32_t flag_words[tile_words];
    __shared__ tile_slots slots;
    __shared__ uint64_t sums[split_warps];
    __shared__ epoch_t shared_epoch;

    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, number = (int)blockIdx.x;
    const int tiles = (int)gridDim.x;
    const int64_t n = a.split.n;
    const split_tile tile(number, n);
    const int64_t end = tile.first + tile.count;
    prefetch_elements(a.split.in, 8 * (int)sizeof(T), tile.first, end);
    prefetch_elements(a.split.flags, map_bits(a.split.flag_type), tile.first, end);
    grid_dependency_wait();

    /* ---- Elements and flags ------------------------------------------------------------------ */
    epoch_t epoch = 0;
    if (threadIdx.x == 0 && tiles > 1) epoch = read_epoch(a.lookback);
    T x[warp_lines];
    tile.load(x, a.split.in);
    const bool bits = a.split.flag_type == VSCAN_BIT;
    if (!bits)
        flags_to_words(flag_words, a.split.flags, a.split.flag_type, tile.first, tile_items, n);
    if (threadIdx.x == 0) shared_epoch = epoch;
    __syncthreads();
    uint32_t own = 0; /* set flags, in the first warp */
    if (warp == 0) {
        tile_flags marks;
        if (bits)
            load_words(marks.flags, (const uint32_t *)a.split.flags, number, n);
        else
            load_wide<uint32_t, lane_words>(marks.flags, &flag_words[lane_words * lane]);
        find_slots(slots, marks, tile.count, false);
        own = marks.set - (uint32_t)(tile_items - tile.count);
    }

    /* ---- Set flags of all tiles -------------------------------------------------------------- */
    uint64_t sum = own;                   /* of all tiles; high 32 bits: of those before this one */
    unsigned before_me = (unsigned)tiles; /* blocks that have arrived */
    if (tiles > 1) {
        epoch = shared_epoch;
        if (threadIdx.x == 0) {
            jitter(a.lookback, epoch, number, jitter_publish);
            publish<uint32_t>(a.lookback, epoch, number, own);
            before_me = atomicAdd(&a.lookback.header->arrived, 1u);
        }
        jitter(a.lookback, epoch, number, jitter_wait);
        sum = sum_of_blocks(a, epoch, tile_items);
    }
    if (lane == 0) sums[warp] = sum;
    __syncthreads();
    sum = 0;
    UNROLL_FOR (int w = 0; w < split_warps; ++w) sum += sums[w];
    if (threadIdx.x == 0 && before_me == (unsigned)tiles - 1) {
        a.lookback.header->arrived = 0;
        end_launch(a.lookback, epoch);
    }
    const int64_t all = (int64_t)(sum & 0xffffffffu);
    if (number == 0 && threadIdx.x == 0 && a.split.count != nullptr) *a.split.count = n - all;
    const tile_bases bases = {(int64_t)(sum >> 32), 0, n - all};
    move_tile<T, false, false>((T *)a.split.out, tile, bases, slots, x, packed);
}

} /* namespace vscan */
