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
 * are, so there are two kernels, except for small vectors (split/small.cuh). The first
 * (split/count.cuh) reads only the flags, and stores them as bits for the second, unless they are
 * bits already. A tile has 4096 elements, a chunk up to 32 tiles, and a block has a chunk. The last
 * block to arrive scans the results of all chunks; no block waits for another. The second kernel
 * (split/move.cuh) moves the elements, a tile a block.
 *
 * Seen from a tile, its elements go to three runs, whatever the segments are. Split the tile by
 * itself, as if segments were cut at its ends; an element's position in that is its slot.
 *   - Clear elements of the segment that began before the tile come first; they continue that
 *     segment's clear elements.
 *   - Set elements of the segment that is open at the end of the tile come last; they continue that
 *     segment's set elements.
 *   - All others have a segment that begins in the tile, if they are clear, or ends in it, if they
 *     are set. Their slot is their position.
 * So elements are moved to their slots in shared memory, and written from there as consecutive
 * runs. Flags past the n-th element count as set, so that such elements have the last slots.
 */
#pragma once

#include "machine/warp.cuh"
#include "elements/elementwise.cuh"
#include "protocol/lookback.cuh"
#include "elements/vectors.cuh"
#include "split/tuning.cuh"

namespace vscan {

static constexpr int most_tiles = 32;                       /* of a chunk: one a lane */
static constexpr int lane_words = tile_words / 32;          /* consecutive flag words of a tile */
static constexpr int warp_lines = tile_words / split_warps; /* a line: 32 elements, one flag word */
static constexpr uint32_t nowhere = 0xffffffffu;

/* Of a tile: K at its begin, K(h) of the last head before it, Z(e) of the first head after it.
   All are relative to K or Z at the begin of the chunk, and heads count only if they are in the
   chunk. */
struct __align__(16) tile_entry {
    uint32_t before, head, next, unused;
};

/* Of a chunk: the same in the whole vector, where a segment begins at 0 and ends at n. */
struct __align__(16) chunk_entry {
    int64_t before, head, next, unused;
};

/* Of a chunk, as its block leaves it for the last block: the number of set flags, K(h) of the last
   head in it and Z(e) of the first, relative to its begin. */
struct chunk_sums {
    uint32_t *set, *head, *next;
};

/* The scratch memory. */
struct split_scratch {
    int64_t *set; /* flags of the vector */
    chunk_sums sums;
    chunk_entry *chunks;
    tile_entry *tiles;
    uint32_t *flags, *heads; /* bits, 0 past the n-th; NULL if the caller's are bits */
};

struct split_arguments {
    vscan__split split;
    lookback_memory lookback;
    split_scratch scratch;
    int chunk_log2; /* of a chunk's tiles */
};

/* ---- Bits ------------------------------------------------------------------------------------ */

/* This lane's flag words of a tile; bits past the n-th are 0. */
static DEVICE void load_words(uint32_t (&x)[lane_words], const uint32_t *bits, int64_t tile,
                              int64_t n) {
    const int64_t first = tile * tile_words + lane_words * (int)(threadIdx.x % 32);
    if ((tile + 1) * tile_items <= n && (uintptr_t)bits % 16 == 0) {
        load_wide<uint32_t, lane_words>(x, bits + first);
        return;
    }
    UNROLL_FOR (int j = 0; j < lane_words; ++j) {
        const uint32_t mask = bits_that_are(first + j, n);
        x[j] = mask != 0 ? bits[first + j] & mask : 0;
    }
}

/* Packs what a warp has loaded, 16-byte loads two a lane (256 ints or 1024 bytes), into bits. */
static DEVICE void pack_flags(void *bits, const int4 (&quads)[2], int type) {
    const int lane = threadIdx.x % 32;
    if (type == VSCAN_INT) { /* 4 bits a load: two neighbours make 2 bytes, one each */
        uint32_t own = 0;
        UNROLL_FOR (int half = 0; half < 2; ++half)
            own |= bits_of_quad<int32_t>(quads[half]) << 8 * half;
        const uint32_t other = __shfl_xor_sync(warp_mask, own, 1);
        const uint32_t both = lane % 2 ? other >> 8 | own >> 4 : own | other << 4;
        ((uint8_t *)bits)[lane % 2 * 16 + lane / 2] = (uint8_t)both;
        return;
    }
    UNROLL_FOR (int half = 0; half < 2; ++half)
        ((uint16_t *)bits)[half * 32 + lane] = (uint16_t)bits_of_quad<uint8_t>(quads[half]);
}

/* By a block: packs `items` ints or bytes, from element `first` on, into bits; those past the n-th
   are 0. */
static DEVICE void flags_to_words(uint32_t *words, const void *flags, int type, int64_t first,
                                  int items, int64_t n) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int each = type == VSCAN_INT ? 256 : 1024, size = 1024 / each;
    const bool aligned = (uintptr_t)flags % 16 == 0;
    const auto is_wide = [&](int at) { return aligned && at < items && first + at + each <= n; };
    ROLLED_FOR (int begin = warp * each; begin < items;
                begin += loads_at_once * split_warps * each) {
        const char *const from = (const char *)flags + (first + begin) * size + lane * 16;
        const int step = split_warps * each;
        int4 quads[loads_at_once][2] = {};
        UNROLL_FOR (int k = 0; k < loads_at_once; ++k)
            if (is_wide(begin + k * step)) {
                quads[k][0] = load_quad(from + k * step * size);
                quads[k][1] = load_quad(from + k * step * size + 512);
            }
        UNROLL_FOR (int k = 0; k < loads_at_once; ++k) {
            const int at = begin + k * step;
            if (is_wide(at)) pack_flags((char *)words + at / 8, quads[k], type);
        }
        ROLLED_FOR (int at = begin; at < items && at < begin + loads_at_once * step; at += step) {
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

/* What a warp knows of its tile's flag words; all numbers are relative to the begin of the tile. */
struct tile_flags {
    uint32_t flags[lane_words], heads[lane_words];
    uint32_t before[lane_words]; /* K at the begin of the word */
    uint32_t head[lane_words];   /* K(h) of the last head before the word, or 0 */
    uint32_t next[lane_words];   /* Z(e) of the first head after it, or the Z of the tile */
    /* of the tile: K; K(h) of the last head, or 0; Z(e) of the first, or the Z of the tile */
    uint32_t set, last, first;

    /* Sets the flags past the count-th element, so that they have the last slots. */
    DEVICE void set_past(int count) {
        if (count == tile_items) return;
        UNROLL_FOR (int j = 0; j < lane_words; ++j)
            flags[j] |= ~bits_that_are(lane_words * ((int)threadIdx.x % 32) + j, count);
    }

    /* By a warp that has loaded flags: K of each word and of the tile. */
    DEVICE void count() {
        uint32_t own = 0;
        UNROLL_FOR (int j = 0; j < lane_words; ++j) own += (uint32_t)__popc(flags[j]);
        const uint32_t upto = warp_inclusive_sum(own);
        set = __shfl_sync(warp_mask, upto, 31);
        before[0] = upto - own;
        UNROLL_FOR (int j = 1; j < lane_words; ++j)
            before[j] = before[j - 1] + (uint32_t)__popc(flags[j - 1]);
    }

    /* After count, with heads: finds last and first. Returns whether there are any heads. */
    DEVICE bool find_ends() {
        uint32_t greatest = 0, least = tile_items - set; /* of this lane's last and first head */
        UNROLL_FOR (int j = 0; j < lane_words; ++j) {
            if (heads[j] != 0) greatest = last_of(j);
            const int k = lane_words - 1 - j;
            if (heads[k] != 0) least = first_of(k);
        }
        const uint32_t lanes = lanes_with_heads();
        last = __shfl_sync(warp_mask, greatest, lanes != 0 ? 31 - __clz((int)lanes) : 0);
        first = __shfl_sync(warp_mask, least, lanes != 0 ? __ffs((int)lanes) - 1 : 0);
        return lanes != 0;
    }

    /* Instead of find_ends: finds these two, and head and next of each word. */
    DEVICE void find_heads() {
        const int lane = threadIdx.x % 32;
        uint32_t greatest = 0, least = tile_items - set;
        UNROLL_FOR (int j = 0; j < lane_words; ++j) { /* in this lane */
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
        /* K and Z never decrease from left to right. So the last head has the greatest K, and the
           first one the least Z. */
        UNROLL_FOR (int j = 0; j < lane_words; ++j) {
            if (left != 0 && before_lane > head[j]) head[j] = before_lane;
            if (right != 0 && after_lane < next[j]) next[j] = after_lane;
        }
    }

  private:
    DEVICE uint32_t lanes_with_heads() const {
        uint32_t any = 0;
        UNROLL_FOR (int j = 0; j < lane_words; ++j) any |= heads[j];
        return __ballot_sync(warp_mask, any != 0);
    }
    /* K(h) of the last head of word j, which has one. */
    DEVICE uint32_t last_of(int j) const {
        return before[j] + (uint32_t)__popc(flags[j] & (0x7fffffffu >> __clz((int)heads[j])));
    }
    /* Z(e) of the first head of word j. */
    DEVICE uint32_t first_of(int j) const {
        const uint32_t below = (heads[j] - 1) & ~heads[j];
        const uint32_t start = 32u * (uint32_t)(lane_words * ((int)threadIdx.x % 32) + j);
        return start - before[j] + (uint32_t)__popc(~flags[j] & below);
    }
};

} /* namespace vscan */
