/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first kernel of a split (split/split.cuh): packs flags into bits, and computes what each tile
 * needs. A block owns a chunk; a warp counts a tile at a time. Shared memory: the flag words of a
 * tile a warp, and three numbers a tile. Memory order: a block writes its sums, then a fence, then
 * its arrival; the last block to arrive has a fence before it reads them.
 */
#pragma once

#include "split/split.cuh"

namespace vscan {

/* By the block: combines *carry with the values of the threads before this one (Backward: after
   it), and returns that. Then *carry includes the values of all threads. */
template <bool Backward, class Op>
static __device__ int64_t scan_threads(int64_t value, int64_t *carry, int64_t (&sums)[split_warps],
                                       const Op &combine) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int rank = Backward ? 31 - lane : lane;
    int64_t upto = value;
    UNROLL_FOR (int d = 1; d < 32; d *= 2) {
        const int64_t other =
            Backward ? __shfl_down_sync(warp_mask, upto, d) : __shfl_up_sync(warp_mask, upto, d);
        if (rank >= d) upto = combine(other, upto);
    }
    if (rank == 31) sums[warp] = upto;
    __syncthreads();
    int64_t all = *carry, before = all;
    UNROLL_FOR (int k = 0; k < split_warps; ++k) {
        const int w = Backward ? split_warps - 1 - k : k;
        if (w == warp) before = all;
        all = combine(all, sums[w]);
    }
    *carry = all;
    __syncthreads();
    const int64_t other =
        Backward ? __shfl_down_sync(warp_mask, upto, 1) : __shfl_up_sync(warp_mask, upto, 1);
    return rank > 0 ? combine(before, other) : before;
}

static constexpr int batch_chunks = split_threads * thread_chunks;

/* Sums from .. from + thread_chunks - 1; those from `end` on are `none`. */
static DEVICE void load_sums(uint32_t (&x)[thread_chunks], const uint32_t *sums, int64_t from,
                             int64_t end, uint32_t none) {
    UNROLL_FOR (int k = 0; k < thread_chunks; k += 4) {
        int4 quad = {};
        if (from + k < end) quad = load_quad(sums + from + k);
        memcpy(&x[k], &quad, 16);
    }
    UNROLL_FOR (int k = 0; k < thread_chunks; ++k)
        if (from + k >= end) x[k] = none;
}

/* By one block, when the sums of all chunks are there: computes their entries. Batch by batch,
   forwards for K and the heads before, then backwards for the heads after. */
static __device__ void scan_chunks(const split_arguments &a, int64_t chunks,
                                   int64_t (&sums)[split_warps]) {
    const int64_t n = a.split.n, items = (int64_t)tile_items << a.chunk_log2;
    const split_scratch &s = a.scratch;
    const bool segmented = a.split.heads != nullptr;
    const auto plus = [](int64_t x, int64_t y) { return x + y; };
    const auto max = [](int64_t x, int64_t y) { return x > y ? x : y; };
    const auto min = [](int64_t x, int64_t y) { return x < y ? x : y; };
    int64_t all = 0, head = 0;
    for (int64_t begin = 0; begin < chunks; begin += batch_chunks) {
        const int64_t from = begin + threadIdx.x * thread_chunks;
        uint32_t set[thread_chunks], heads[thread_chunks];
        load_sums(set, s.sums.set, from, chunks, 0);
        if (segmented) load_sums(heads, s.sums.head, from, chunks, nowhere);
        int64_t own = 0;
        UNROLL_FOR (int k = 0; k < thread_chunks; ++k) own += set[k];
        const int64_t before = scan_threads<false>(own, &all, sums, plus);
        int64_t greatest = 0, at = before;
        if (segmented) {
            UNROLL_FOR (int k = 0; k < thread_chunks; ++k) {
                if (heads[k] != nowhere) greatest = at + heads[k];
                at += set[k];
            }
            greatest = scan_threads<false>(greatest, &head, sums, max);
            at = before;
        }
        UNROLL_FOR (int k = 0; k < thread_chunks; ++k) {
            if (from + k >= chunks) break;
            s.chunks[from + k].before = at;
            if (segmented) {
                s.chunks[from + k].head = greatest;
                if (heads[k] != nowhere) greatest = at + heads[k];
            }
            at += set[k];
        }
    }
    int64_t next = n - all;
    if (threadIdx.x == 0) {
        *s.set = all;
        if (a.split.count != nullptr) *a.split.count = n - all;
    }
    if (segmented) {
        for (int64_t begin = (chunks - 1) / batch_chunks * batch_chunks; begin >= 0;
             begin -= batch_chunks) {
            const int64_t from = begin + threadIdx.x * thread_chunks;
            uint32_t set[thread_chunks], firsts[thread_chunks];
            load_sums(set, s.sums.set, from, chunks, 0);
            load_sums(firsts, s.sums.next, from, chunks, nowhere);
            int64_t upto = from < chunks ? s.chunks[from].before : 0;
            UNROLL_FOR (int k = 0; k < thread_chunks; ++k) upto += set[k];
            int64_t least = n, at = upto;
            UNROLL_FOR (int k = thread_chunks - 1; k >= 0; --k) {
                at -= set[k];
                if (firsts[k] != nowhere) least = (from + k) * items - at + firsts[k];
            }
            least = scan_threads<true>(least, &next, sums, min);
            at = upto;
            UNROLL_FOR (int k = thread_chunks - 1; k >= 0; --k) {
                at -= set[k];
                if (from + k < chunks) s.chunks[from + k].next = least;
                if (firsts[k] != nowhere) least = (from + k) * items - at + firsts[k];
            }
        }
    }
}

/* By a block: prefetches the bits of some tiles. */
static DEVICE void prefetch_bits(const void *bits, int64_t tile, int tiles, int64_t n) {
    const int64_t end = (tile + tiles) * tile_items;
    prefetch_elements(bits, 1, tile * tile_items, end < n ? end : n);
}

/* By a block: prefetches what it loads next at a time, 128 bytes a thread. */
static DEVICE void prefetch_batch(const void *vector, int bits, int64_t first, int64_t n) {
    const int64_t end = first + split_threads * 128 * 8 / bits;
    prefetch_elements(vector, bits, first, end < n ? end : n);
}

/* Bits: flags and heads are bits already. */
template <bool Bits>
__global__ void __launch_bounds__(split_threads, (Bits ? most_blocks : 4))
    count_flags(const __grid_constant__ split_arguments a) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ != 900
    if (Bits) return; /* never launched: see bits_architecture */
#endif
    __shared__ __align__(16) uint32_t flag_words[Bits ? 1 : split_warps][tile_words];
    __shared__ __align__(16) uint32_t head_words[Bits ? 1 : split_warps][tile_words];
    __shared__ uint32_t tile_set[most_tiles], tile_last[most_tiles], tile_first[most_tiles];
    __shared__ int64_t sums[split_warps];
    __shared__ bool is_last;

    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int tiles = 1 << a.chunk_log2;
    const bool segmented = a.split.heads != nullptr;
    const int64_t n = a.split.n, chunk = blockIdx.x, first = chunk << a.chunk_log2; /* tile */
    if (a.scratch.flags == nullptr) prefetch_bits(a.split.flags, first, tiles, n);
    if (segmented && a.scratch.heads == nullptr) prefetch_bits(a.split.heads, first, tiles, n);
    grid_dependency_wait(); /* the next kernel may then start, and load its elements */

    ROLLED_FOR (int begin = 0; begin < tiles; begin += split_warps) {
        /* ---- Bits ---------------------------------------------------------------------------- */
        const int items = (tiles < split_warps ? tiles : split_warps) * tile_items;
        ROLLED_FOR (int k = 0; k < (Bits ? 0 : 1 + (int)segmented); ++k) {
            if ((k ? a.scratch.heads : a.scratch.flags) == nullptr) continue; /* bits already */
            flags_to_words(k ? head_words[0] : flag_words[0], k ? a.split.heads : a.split.flags,
                           k ? a.split.head_type : a.split.flag_type, (first + begin) * tile_items,
                           items, n);
        }
        if (!Bits) __syncthreads();
        if (!Bits && begin + split_warps < tiles) { /* while tiles are counted */
            const int64_t ahead = (first + begin + split_warps) * tile_items;
            if (a.scratch.flags != nullptr)
                prefetch_batch(a.split.flags, map_bits(a.split.flag_type), ahead, n);
            if (segmented && a.scratch.heads != nullptr)
                prefetch_batch(a.split.heads, map_bits(a.split.head_type), ahead, n);
        }

        /* ---- Count a tile, by a warp --------------------------------------------------------- */
        const int k = begin + warp;
        const int64_t tile = first + k;
        if (k < tiles) {
            const auto keep = [&](uint32_t(&x)[lane_words], const void *bits, uint32_t *kept,
                                  const uint32_t(&words)[tile_words]) {
                if (Bits || kept == nullptr) return load_words(x, (const uint32_t *)bits, tile, n);
                load_wide<uint32_t, lane_words>(x, &words[lane_words * lane]);
                if (tile * tile_items < n)
                    store_wide<uint32_t, lane_words>(kept + tile * tile_words + lane_words * lane,
                                                     x);
            };
            tile_flags marks;
            keep(marks.flags, a.split.flags, a.scratch.flags, flag_words[Bits ? 0 : warp]);
            if (segmented)
                keep(marks.heads, a.split.heads, a.scratch.heads, head_words[Bits ? 0 : warp]);
            marks.count();
            const bool any = segmented && marks.find_ends();
            if (lane == 0) {
                tile_set[k] = marks.set;
                tile_last[k] = any ? marks.last : nowhere;
                tile_first[k] = any ? marks.first : nowhere;
            }
        }
        if (!Bits) __syncthreads();
    }
    __syncthreads();

    /* ---- Scan the tiles of the chunk, by one warp, a lane each ------------------------------- */
    if (warp == 0) {
        const uint32_t own = lane < tiles ? tile_set[lane] : 0, upto = warp_inclusive_sum(own);
        const uint32_t last = lane < tiles ? tile_last[lane] : nowhere;
        tile_entry entry = {upto - own, nowhere, nowhere, 0};
        uint32_t chunk_last = nowhere, chunk_first = nowhere;
        if (segmented) {
            const uint32_t h = entry.before + last;
            const uint32_t z =
                tile_items * (uint32_t)lane - entry.before + (lane < tiles ? tile_first[lane] : 0);
            const uint32_t lanes = __ballot_sync(warp_mask, last != nowhere);
            const uint32_t left = lanes & bits_below(lane), right = lanes & ~bits_below(lane + 1);
            const auto from = [](uint32_t x, uint32_t those, int there) {
                const uint32_t y = __shfl_sync(warp_mask, x, those != 0 ? there : 0);
                return those != 0 ? y : nowhere;
            };
            entry.head = from(h, left, 31 - __clz((int)left));
            entry.next = from(z, right, __ffs((int)right) - 1);
            chunk_last = from(h, lanes, 31 - __clz((int)lanes));
            chunk_first = from(z, lanes, __ffs((int)lanes) - 1);
        }
        if (lane < tiles && (first + lane) * tile_items < n) a.scratch.tiles[first + lane] = entry;
        const uint32_t set = __shfl_sync(warp_mask, upto, 31);
        if (lane == 0) {
            a.scratch.sums.set[chunk] = set;
            if (segmented) {
                a.scratch.sums.head[chunk] = chunk_last;
                a.scratch.sums.next[chunk] = chunk_first;
            }
            __threadfence();
            is_last = gridDim.x == 1 || atomicAdd(&a.lookback.header->arrived, 1u) == gridDim.x - 1;
        }
    }

    /* ---- Scan all chunks, by the last block -------------------------------------------------- */
    __syncthreads();
    if (!is_last) return;
    __threadfence();
    if (threadIdx.x == 0) a.lookback.header->arrived = 0; /* for the next launch */
    scan_chunks(a, gridDim.x, sums);
}

} /* namespace vscan */
