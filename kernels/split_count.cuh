/* SPDX-License-Identifier: Apache-2.0 */
/* The first kernel of a split, see split.cuh: flags as bits, and what each tile has to know. */
#ifndef VSCAN_SPLIT_COUNT_CUH
#define VSCAN_SPLIT_COUNT_CUH

#include "split.cuh"

namespace vscan {

struct fold_plus {
    static __device__ __forceinline__ int64_t fold(int64_t a, int64_t b) { return a + b; }
};
struct fold_max {
    static __device__ __forceinline__ int64_t fold(int64_t a, int64_t b) { return a > b ? a : b; }
};
struct fold_min {
    static __device__ __forceinline__ int64_t fold(int64_t a, int64_t b) { return a < b ? a : b; }
};

/* By the block: *carry and the values of the threads before this one, or Backward of those behind
   it; all of them go into *carry. */
template <class Fold, bool Backward>
static __device__ int64_t scan_threads(int64_t value, int64_t *carry,
                                       int64_t (&sums)[split_warps]) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int rank = Backward ? 31 - lane : lane;
    int64_t upto = value;
#pragma unroll
    for (int d = 1; d < 32; d *= 2) {
        const int64_t other = Backward ? __shfl_down_sync(0xffffffffu, upto, d)
                                       : __shfl_up_sync(0xffffffffu, upto, d);
        if (rank >= d) upto = Fold::fold(other, upto);
    }
    if (rank == 31) sums[warp] = upto;
    __syncthreads();
    int64_t all = *carry, before = all;
#pragma unroll
    for (int k = 0; k < split_warps; ++k) {
        const int w = Backward ? split_warps - 1 - k : k;
        if (w == warp) before = all;
        all = Fold::fold(all, sums[w]);
    }
    *carry = all;
    __syncthreads();
    const int64_t other =
        Backward ? __shfl_down_sync(0xffffffffu, upto, 1) : __shfl_up_sync(0xffffffffu, upto, 1);
    return rank > 0 ? Fold::fold(before, other) : before;
}

/* Chunks that a thread adds up at a time, side by side. */
static constexpr int fold_items = 8, fold_chunks = split_threads * fold_items;

/* Sums from .. from + fold_items - 1, of which those at end and past it are `none`. */
static __device__ __forceinline__ void load_sums(uint32_t (&x)[fold_items], const uint32_t *sums,
                                                 int64_t from, int64_t end, uint32_t none) {
#pragma unroll
    for (int k = 0; k < fold_items; k += 4) {
        int4 quad = {};
        if (from + k < end) quad = load_quad(sums + from + k);
        memcpy(&x[k], &quad, 16);
    }
#pragma unroll
    for (int k = 0; k < fold_items; ++k)
        if (from + k >= end) x[k] = none;
}

/* The entries of all chunks, by one block, after all sums. */
static __device__ void add_up_chunks(const split_arguments &a, int64_t chunks,
                                     int64_t (&sums)[split_warps]) {
    const int64_t n = a.split.n, items = a.chunk_tiles * tile_items;
    const split_scratch &s = a.scratch;
    const bool segmented = a.split.heads != nullptr;
    int64_t all = 0, head = 0;
    for (int64_t begin = 0; begin < chunks; begin += fold_chunks) {
        const int64_t from = begin + threadIdx.x * fold_items;
        uint32_t set[fold_items], heads[fold_items];
        load_sums(set, s.sums.set, from, chunks, 0);
        if (segmented) load_sums(heads, s.sums.head, from, chunks, nowhere);
        int64_t own = 0;
#pragma unroll
        for (int k = 0; k < fold_items; ++k) own += set[k];
        const int64_t before = scan_threads<fold_plus, false>(own, &all, sums);
        int64_t greatest = 0, at = before;
        if (segmented) {
#pragma unroll
            for (int k = 0; k < fold_items; ++k) {
                if (heads[k] != nowhere) greatest = at + heads[k];
                at += set[k];
            }
            greatest = scan_threads<fold_max, false>(greatest, &head, sums);
            at = before;
        }
#pragma unroll
        for (int k = 0; k < fold_items; ++k) {
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
        for (int64_t begin = (chunks - 1) / fold_chunks * fold_chunks; begin >= 0;
             begin -= fold_chunks) {
            const int64_t from = begin + threadIdx.x * fold_items;
            uint32_t set[fold_items], firsts[fold_items];
            load_sums(set, s.sums.set, from, chunks, 0);
            load_sums(firsts, s.sums.next, from, chunks, nowhere);
            int64_t upto = from < chunks ? s.chunks[from].before : 0;
#pragma unroll
            for (int k = 0; k < fold_items; ++k) upto += set[k];
            int64_t least = n, at = upto;
#pragma unroll
            for (int k = fold_items - 1; k >= 0; --k) {
                at -= set[k];
                if (firsts[k] != nowhere) least = (from + k) * items - at + firsts[k];
            }
            least = scan_threads<fold_min, true>(least, &next, sums);
            at = upto;
#pragma unroll
            for (int k = fold_items - 1; k >= 0; --k) {
                at -= set[k];
                if (from + k < chunks) s.chunks[from + k].next = least;
                if (firsts[k] != nowhere) least = (from + k) * items - at + firsts[k];
            }
        }
    }
}

__global__ void __launch_bounds__(split_threads, 4)
    count_flags(const __grid_constant__ split_arguments a) {
    __shared__ __align__(16) uint32_t flag_words[most_tiles][tile_words];
    __shared__ __align__(16) uint32_t head_words[most_tiles][tile_words];
    __shared__ uint32_t tile_set[most_tiles], tile_last[most_tiles], tile_first[most_tiles];
    __shared__ int64_t sums[split_warps];
    __shared__ bool is_last;

    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int tiles = a.chunk_tiles;
    const bool segmented = a.split.heads != nullptr;
    const int64_t n = a.split.n, chunk = blockIdx.x, tile = chunk * tiles + warp;
    const bool is = warp < tiles && tile * tile_items < n; /* the warp has a tile */
    wait_for_kernel_before(); /* then the next one may begin, which loads elements at once */

    /* ---- Bits -------------------------------------------------------------------------------- */
#pragma unroll 1
    for (int k = 0; k < 1 + (int)segmented; ++k) {
        if ((k ? a.scratch.heads : a.scratch.flags) == nullptr) continue; /* bits already */
        flags_to_words(k ? head_words[0] : flag_words[0], k ? a.split.heads : a.split.flags,
                       k ? a.split.head_type : a.split.flag_type, chunk * tiles * tile_items,
                       tiles * tile_items, n);
    }
    __syncthreads();

    /* ---- A warp's tile ----------------------------------------------------------------------- */
    if (warp < tiles) {
        const auto keep = [&](uint32_t(&x)[lane_words], const void *bits, uint32_t *kept,
                              const uint32_t(&words)[tile_words]) {
            if (kept == nullptr) return load_words(x, (const uint32_t *)bits, tile, n);
            load_piece<uint32_t, lane_words>(x, &words[lane_words * lane]);
            if (is)
                store_piece<uint32_t, lane_words>(kept + tile * tile_words + lane_words * lane, x);
        };
        tile_marks marks;
        keep(marks.flags, a.split.flags, a.scratch.flags, flag_words[warp]);
        bool any_head = false;
        if (segmented) {
            keep(marks.heads, a.split.heads, a.scratch.heads, head_words[warp]);
            uint32_t any = 0;
#pragma unroll
            for (int j = 0; j < lane_words; ++j) any |= marks.heads[j];
            any_head = __any_sync(0xffffffffu, any != 0);
        }
        marks.count(segmented);
        if (lane == 0) {
            tile_set[warp] = marks.set;
            if (segmented) {
                tile_last[warp] = any_head ? marks.last : nowhere;
                tile_first[warp] = any_head ? marks.first : nowhere;
            }
        }
    }
    __syncthreads();

    /* ---- The chunk's tiles ------------------------------------------------------------------- */
    uint32_t set = 0; /* flags before tile k */
    tile_entry entry = {0, nowhere, nowhere, 0};
    uint32_t last = nowhere, first = nowhere; /* of the chunk */
    for (int k = 0; k < tiles; ++k) {
        if (k == warp) entry.before = set;
        if (segmented) {
            if (tile_first[k] != nowhere) {
                const uint32_t z = tile_items * (uint32_t)k - set + tile_first[k];
                const uint32_t h = set + tile_last[k];
                if (k < warp) entry.head = h;
                if (k > warp && entry.next == nowhere) entry.next = z;
                if (first == nowhere) first = z;
                last = h;
            }
        }
        set += tile_set[k];
    }
    if (lane == 0 && is) a.scratch.tiles[tile] = entry;

    /* ---- The last block adds up all chunks --------------------------------------------------- */
    if (threadIdx.x == 0) {
        a.scratch.sums.set[chunk] = set;
        if (segmented) {
            a.scratch.sums.head[chunk] = last;
            a.scratch.sums.next[chunk] = first;
        }
        __threadfence();
        is_last = gridDim.x == 1 || atomicAdd(&a.header->arrived, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (!is_last) return;
    __threadfence();
    if (threadIdx.x == 0) a.header->arrived = 0; /* for the next launch */
    add_up_chunks(a, gridDim.x, sums);
}

} /* namespace vscan */

#endif
