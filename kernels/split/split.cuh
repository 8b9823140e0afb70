/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Split, segmented split, and the positions of either.
 *
 * With K(i) the number of set flags before i, and Z(i) = i - K(i) that of the clear ones, an
 * element of the segment h .. e - 1 goes to
 *
 *     K(h) + Z(i) if its flag is clear,  Z(e) + K(i) if it is set;
 *
 * a plain split is that of one segment, h = 0, e = n. Z(e) is known only when the flags up to e
 * are, so there are two kernels, except for short vectors. The first reads the flags alone, which
 * it leaves as bits for the second, unless they are bits already: a tile is 4096 elements, a chunk
 * up to 32 tiles, and a block has a chunk. The block that ends last adds up what the chunks have found;
 * nobody waits for anybody. The second kernel moves the elements, a tile a block.
 *
 * Seen from a tile, the places of its elements are three runs, whatever segments there are. Let its
 * elements be split within the tile, as if segments were cut at its ends; the place in that is a
 * slot. The clear ones of the segment that was begun before the tile come first and go where that
 * one's clear ones go on; the set ones of the segment that is open at the tile's end come last, and
 * go where that one's set ones do; for all others, whose segment begins here, if they are clear, or
 * ends here, if they are set, the slot is the place. So elements are brought to their slots in
 * shared memory and written from there, runs side by side. Past the n-th element flags count as
 * set, so that such elements have the last slots.
 */
#ifndef VSCAN_SPLIT_SPLIT_CUH
#define VSCAN_SPLIT_SPLIT_CUH

#include "common/warp.cuh"
#include "common/elementwise.cuh"
#include "common/lookback.cuh"
#include "common/vectors.cuh"

namespace vscan {

static constexpr int split_warps = 8, split_threads = 32 * split_warps;
static constexpr int tile_words = 128, tile_items = 32 * tile_words;
static constexpr int most_tiles = 32;                      /* of a chunk: one a lane */
static constexpr int lane_words = tile_words / 32;         /* of a tile's bits, side by side */
static constexpr int warp_lines = tile_words / split_warps; /* a row is 32 elements, one word */
static constexpr uint32_t nowhere = 0xffffffffu;

/* Blocks of a multiprocessor: as many as have registers enough. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
static constexpr int most_blocks = 4; /* no more threads than that */
#else
static constexpr int most_blocks = 6;
#endif

/* Of a tile: K where it begins, K(h) of the last head before it, Z(e) of the first head behind it;
   all of them less K or Z where the chunk begins, and the heads only if they are in the chunk. */
struct __align__(16) tile_entry {
    uint32_t before, head, next, unused;
};

/* Of a chunk: the same in all of the vector, where a segment begins at 0 and ends at n. */
struct __align__(16) chunk_entry {
    int64_t before, head, next, unused;
};

/* Of a chunk, as its block leaves it for the last one: set flags, and from its beginning on K(h) of
   the last head in it and Z(e) of the first. */
struct chunk_sums {
    uint32_t *set, *head, *next;
};

/* What lies in the scratch memory. */
struct split_scratch {
    int64_t *set; /* flags of the vector */
    chunk_sums sums;
    chunk_entry *chunks;
    tile_entry *tiles;
    uint32_t *flags, *heads; /* bits, 0 past the n-th; NULL: the caller's are bits */
};

struct split_arguments {
    vscan__split split;
    lookback_memory lookback;
    split_scratch scratch;
    int chunk_log2; /* of a chunk's tiles */
};

/* ---- Bits ------------------------------------------------------------------------------------ */

/* This lane's words of a tile of bits; those past the n-th are 0. */
static __device__ __forceinline__ void load_words(uint32_t (&x)[lane_words], const uint32_t *bits,
                                                  int64_t tile, int64_t n) {
    const int64_t first = tile * tile_words + lane_words * (int)(threadIdx.x % 32);
    if ((tile + 1) * tile_items <= n && (uintptr_t)bits % 16 == 0) {
        load_piece<uint32_t, lane_words>(x, bits + first);
        return;
    }
#pragma unroll
    for (int j = 0; j < lane_words; ++j) {
        const uint32_t mask = bits_that_are(first + j, n);
        x[j] = mask != 0 ? bits[first + j] & mask : 0;
    }
}

/* A piece is what a warp loads as two quads a lane, 256 ints or 1024 bytes; so many at a time. */
static constexpr int vectors_at_once = 4;

/* A whole piece as bits. */
static __device__ __forceinline__ void pack_flags(void *bits, const int4 (&quads)[2], int type) {
    const int lane = threadIdx.x % 32;
    if (type == VSCAN_INT) { /* 4 bits a quad: a lane has one of two neighbours' bytes */
        uint32_t own = 0;
#pragma unroll
        for (int half = 0; half < 2; ++half)
            own |= (uint32_t)((quads[half].x != 0) | (quads[half].y != 0) << 1 |
                              (quads[half].z != 0) << 2 | (quads[half].w != 0) << 3)
                   << 8 * half;
        const uint32_t other = __shfl_xor_sync(warp_mask, own, 1);
        const uint32_t both = lane % 2 ? other >> 8 | own >> 4 : own | other << 4;
        ((uint8_t *)bits)[lane % 2 * 16 + lane / 2] = (uint8_t)both;
        return;
    }
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        uint32_t fours[4], sixteen = 0;
        memcpy(fours, &quads[half], 16);
#pragma unroll
        for (int j = 0; j < 4; ++j) sixteen |= bits_of_bytes(fours[j]) << 4 * j;
        ((uint16_t *)bits)[half * 32 + lane] = (uint16_t)sixteen;
    }
}

/* Ints or bytes from element `first` on as bits, so many of them, by a block; those past the n-th
   are 0. */
static __device__ __forceinline__ void flags_to_words(uint32_t *words, const void *flags, int type,
                                                      int64_t first, int items, int64_t n) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int each = type == VSCAN_INT ? 256 : 1024, size = 1024 / each;
    const bool aligned = (uintptr_t)flags % 16 == 0;
    const auto is_wide = [&](int at) { return aligned && at < items && first + at + each <= n; };
#pragma unroll 1
    for (int begin = warp * each; begin < items; begin += vectors_at_once * split_warps * each) {
        const char *const from = (const char *)flags + (first + begin) * size + lane * 16;
        const int step = split_warps * each;
        int4 quads[vectors_at_once][2] = {};
#pragma unroll
        for (int k = 0; k < vectors_at_once; ++k)
            if (is_wide(begin + k * step)) {
                quads[k][0] = load_quad(from + k * step * size);
                quads[k][1] = load_quad(from + k * step * size + 512);
            }
#pragma unroll
        for (int k = 0; k < vectors_at_once; ++k) {
            const int at = begin + k * step;
            if (is_wide(at)) pack_flags((char *)words + at / 8, quads[k], type);
        }
#pragma unroll 1
        for (int at = begin; at < items && at < begin + vectors_at_once * step; at += step) {
            if (is_wide(at)) continue;
#pragma unroll 8
            for (int r = 0; r < each / 32; ++r) {
                const int64_t i = first + at + 32 * r + lane;
                const uint32_t word = __ballot_sync(warp_mask, i < n && flag_at(flags, type, i));
                if (lane == 0) words[at / 32 + r] = word;
            }
        }
    }
}

/* What a warp knows of its tile's words; numbers count from the tile's beginning. */
struct tile_flags {
    uint32_t flags[lane_words], heads[lane_words];
    uint32_t before[lane_words]; /* K where the word begins */
    uint32_t head[lane_words];   /* K(h) of the last head before the word, or 0 */
    uint32_t next[lane_words];   /* Z(e) of the first head behind it, or all of the tile's Z */
    /* of the whole tile: K, K(h) of the last head, or 0, and Z(e) of the first, or all of its Z */
    uint32_t set, last, first;

    /* Elements past the tile's count-th have their flags set, so that they have the last slots. */
    __device__ __forceinline__ void set_past(int count) {
        if (count == tile_items) return;
#pragma unroll
        for (int j = 0; j < lane_words; ++j)
            flags[j] |= ~bits_that_are(lane_words * ((int)threadIdx.x % 32) + j, count);
    }

    /* By whole warps, with flags: K of each word and of the tile. */
    __device__ __forceinline__ void count() {
        uint32_t own = 0;
#pragma unroll
        for (int j = 0; j < lane_words; ++j) own += (uint32_t)__popc(flags[j]);
        const uint32_t upto = warp_inclusive_sum(own);
        set = __shfl_sync(warp_mask, upto, 31);
        before[0] = upto - own;
#pragma unroll
        for (int j = 1; j < lane_words; ++j)
            before[j] = before[j - 1] + (uint32_t)__popc(flags[j - 1]);
    }

    /* Then, with heads: last and first. Whether there are any. */
    __device__ __forceinline__ bool find_ends() {
        uint32_t greatest = 0, least = tile_items - set; /* of this lane's last and first head */
#pragma unroll
        for (int j = 0; j < lane_words; ++j) {
            if (heads[j] != 0) greatest = last_of(j);
            const int k = lane_words - 1 - j;
            if (heads[k] != 0) least = first_of(k);
        }
        const uint32_t lanes = lanes_with_heads();
        last = __shfl_sync(warp_mask, greatest, lanes != 0 ? 31 - __clz((int)lanes) : 0);
        first = __shfl_sync(warp_mask, least, lanes != 0 ? __ffs((int)lanes) - 1 : 0);
        return lanes != 0;
    }

    /* In its place: these two, and head and next of each word. */
    __device__ __forceinline__ void find_heads() {
        const int lane = threadIdx.x % 32;
        uint32_t greatest = 0, least = tile_items - set;
#pragma unroll
        for (int j = 0; j < lane_words; ++j) { /* in this lane */
            head[j] = greatest;
            greatest = heads[j] != 0 ? last_of(j) : greatest;
            const int k = lane_words - 1 - j;
            next[k] = least;
            least = heads[k] != 0 ? first_of(k) : least;
        }
        const uint32_t lanes = lanes_with_heads(), left = lanes & bits_below(lane);
        const uint32_t right = lanes & ~bits_below(lane + 1);
        last = __shfl_sync(warp_mask, greatest, lanes != 0 ? 31 - __clz((int)lanes) : 0);
        first = __shfl_sync(warp_mask, least, lanes != 0 ? __ffs((int)lanes) - 1 : 0);
        const uint32_t before_lane =
            __shfl_sync(warp_mask, greatest, left != 0 ? 31 - __clz((int)left) : lane);
        const uint32_t after_lane =
            __shfl_sync(warp_mask, least, right != 0 ? __ffs((int)right) - 1 : lane);
        /* K never falls from left to right, and Z neither: the last head has the greatest K, the
           first one the least Z, and those of this lane are greater or less than any other's. */
#pragma unroll
        for (int j = 0; j < lane_words; ++j) {
            if (left != 0 && before_lane > head[j]) head[j] = before_lane;
            if (right != 0 && after_lane < next[j]) next[j] = after_lane;
        }
    }

  private:
    __device__ __forceinline__ uint32_t lanes_with_heads() const {
        uint32_t any = 0;
#pragma unroll
        for (int j = 0; j < lane_words; ++j) any |= heads[j];
        return __ballot_sync(warp_mask, any != 0);
    }
    /* K(h) of word j's last head, if it has one. */
    __device__ __forceinline__ uint32_t last_of(int j) const {
        return before[j] + (uint32_t)__popc(flags[j] & (0x7fffffffu >> __clz((int)heads[j])));
    }
    /* Z(e) of its first head. */
    __device__ __forceinline__ uint32_t first_of(int j) const {
        const uint32_t below = (heads[j] - 1) & ~heads[j];
        const uint32_t start = 32u * (uint32_t)(lane_words * ((int)threadIdx.x % 32) + j);
        return start - before[j] + (uint32_t)__popc(~flags[j] & below);
    }
};

} /* namespace vscan */

#endif
