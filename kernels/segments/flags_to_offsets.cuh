/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a warp of segments/flags_to_offsets.cu does to its share of a tile: flags of any type become
 * 32-bit flag words in registers, and the places of set flags in the share become positions.
 *
 * A share has up to `lines` lines: in a line, each of 32 lanes has `each` consecutive flag words.
 * The places of set flags stand side by side in shared memory, so that a warp writes 32 positions
 * at a time. Where they are too many for that, the flags are read once more, line by line.
 *
 * The first tile begins up to 16 bytes before the vector, so that chunks of 16 bytes are aligned;
 * what is outside of the vector is not read.
 */
#pragma once

#include "elements/elementwise.cuh"
#include "protocol/lookback.cuh"
#include "machine/tma.cuh"
#include "elements/vectors.cuh"
#include "machine/warp.cuh"
#include "segments/tuning.cuh"

namespace vscan {

struct flags_to_offsets_arguments {
    vscan__pack pack;
    lookback_memory lookback;
    vscan__late *late;
    int shift; /* flags of the first tile before the vector */
    int lines; /* of a warp */
};

/* Lines of a warp at most, and flag words of a lane in a line. */
template <class Flag>
struct flags_shape;
struct one_bit {};
template <>
struct flags_shape<one_bit> {
    static constexpr int lines = 4, each = 4;
};
template <>
struct flags_shape<uint8_t> {
    static constexpr int lines = 4, each = 1;
    using bits_type = uint16_t; /* bits of 16 bytes of flags */
};
template <>
struct flags_shape<int32_t> {
    static constexpr int lines = 1, each = 1;
    using bits_type = uint8_t; /* the same; half of it is not used */
};

/* A warp's share of a tile: its flags begin .. end - 1 are in the vector; its flag 0 is flag
   `first` of the vector. */
struct warp_share {
    int64_t first;
    int begin, end;
};

/* ---- Flag words ------------------------------------------------------------------------------ */

/* The flag word at flag o of a share, with 0 for flags outside of the vector. */
static DEVICE uint32_t flag_word(const flags_to_offsets_arguments &a, const warp_share &share,
                                 int o) {
    if (o < share.begin || o >= share.end) return 0;
    const uint32_t bits = ((const uint32_t *)a.pack.flags + share.first / 32)[o / 32];
    return share.end - o < 32 ? bits & ((1u << (share.end - o)) - 1) : bits;
}

/* x[r][j]: flag word j of this lane in line `from` + r, of so many lines. A whole share has no
   branch between its loads; with one, the compiler waits for each load before the next. */
template <int Lines, int Each>
static DEVICE void load_bits(uint32_t (&x)[Lines][Each], const flags_to_offsets_arguments &a,
                             const warp_share &share, int from, int lines) {
    const uint32_t *const words =
        (const uint32_t *)a.pack.flags + share.first / 32 + (int)(threadIdx.x % 32) * Each;
    UNROLL_FOR (int r = 0; r < Lines; ++r)
        UNROLL_FOR (int j = 0; j < Each; ++j) x[r][j] = 0;
    if (share.begin == 0 && share.end == lines * 1024 * Each) {
        UNROLL_FOR (int r = 0; r < Lines; ++r)
            if (from + r < lines) load_wide<uint32_t, Each>(x[r], words + (from + r) * 32 * Each);
    } else {
        UNROLL_FOR (int r = 0; r < Lines; ++r)
            UNROLL_FOR (int j = 0; j < Each; ++j)
                x[r][j] = flag_word(a, share,
                                    (((from + r) * 32 + (int)threadIdx.x % 32) * Each + j) * 32);
    }
}

/* Flag word w, given the bits of chunks side by side: 16 bits each or, for ints, a byte. */
static DEVICE uint32_t word_of_chunks(const uint16_t *chunk_bits, int w) {
    return ((const uint32_t *)chunk_bits)[w];
}
static DEVICE uint32_t word_of_chunks(const uint8_t *chunk_bits, int w) {
    const uint2 fours = ((const uint2 *)chunk_bits)[w];
    uint32_t low = fours.x | fours.x >> 4, high = fours.y | fours.y >> 4;
    low = (low & 255) | (low >> 8 & 0xff00);
    high = (high & 255) | (high >> 8 & 0xff00);
    return low | high << 16;
}

/* load_bits for other flags; memory: scratch memory of the warp. */
template <class Flag, int Lines>
static DEVICE void load_flags(uint32_t (&x)[Lines][1], const flags_to_offsets_arguments &a,
                              const warp_share &share, int from, int lines, uint16_t *memory) {
    using bits_type = typename flags_shape<Flag>::bits_type;
    constexpr int F = 16 / (int)sizeof(Flag); /* flags of a chunk */
    constexpr int chunks = 32 / F;            /* of a lane in a line */
    bits_type *const chunk_bits = (bits_type *)memory;
    const Flag *const flags = (const Flag *)a.pack.flags + share.first;
    const int lane = threadIdx.x % 32, last = lines - from < Lines ? lines - from : Lines;
    int4 raw[Lines * chunks];
    UNROLL_FOR (int k = 0; k < Lines * chunks; ++k) {
        const int o = from * 1024 + (k * 32 + lane) * F;
        raw[k] = {};
        if (k < last * chunks && o >= share.begin && o + F <= share.end)
            raw[k] = *(const int4 *)(flags + o);
    }
    UNROLL_FOR (int k = 0; k < Lines * chunks; ++k)
        chunk_bits[k * 32 + lane] = (bits_type)bits_of_quad<Flag>(raw[k]);
    if (share.begin > 0 || share.end < lines * 1024) { /* chunks that are partly in the vector */
        ROLLED_FOR (int k = 0; k < last * chunks; ++k) {
            const int o = from * 1024 + (k * 32 + lane) * F;
            if (o + F <= share.begin || o >= share.end) continue;
            uint32_t bits = 0;
            UNROLL_FOR (int j = 0; j < F; ++j)
                if (o + j >= share.begin && o + j < share.end)
                    bits |= (uint32_t)(flags[o + j] != 0) << j;
            chunk_bits[k * 32 + lane] = (bits_type)bits;
        }
    }
    __syncwarp();
    UNROLL_FOR (int r = 0; r < Lines; ++r)
        x[r][0] = r < last ? word_of_chunks(chunk_bits, r * 32 + lane) : 0;
    __syncwarp();
}

template <class Flag, int Lines, int Each>
static DEVICE void load_flag_words(uint32_t (&x)[Lines][Each], const flags_to_offsets_arguments &a,
                                   const warp_share &share, int from, int lines, uint16_t *memory) {
    if constexpr (same_type<Flag, one_bit>)
        load_bits(x, a, share, from, lines);
    else
        load_flags<Flag>(x, a, share, from, lines, memory);
}

/* ---- Places ---------------------------------------------------------------------------------- */

/* Stores the places of a lane's set flags in staged[at], ...; its first flag has place `first`. */
template <int Each>
static DEVICE void stage_sparse(const uint32_t (&x)[Each], int first, uint32_t at,
                                uint16_t *staged) {
    UNROLL_FOR (int j = 0; j < Each; ++j) {
        uint32_t left = x[j];
        ROLLED_FOR (; left != 0; left &= left - 1)
            staged[at++] = (uint16_t)(first + 32 * j + __ffs((int)left) - 1);
    }
}

/* The same for a line of 32 flag words, one word at a time, a bit a lane; first: the place of the
   line's first flag. By whole warps. */
static DEVICE void stage_dense(uint32_t x, int first, uint32_t at, uint16_t *staged) {
    const int lane = threadIdx.x % 32;
    const uint32_t below = (1u << lane) - 1;
#pragma unroll 4
    for (int q = 0; q < 32; ++q) {
        const uint32_t bits = __shfl_sync(warp_mask, x, q);
        const uint32_t place = __shfl_sync(warp_mask, at, q) + __popc(bits & below);
        if (bits >> lane & 1) staged[place] = (uint16_t)(first + q * 32 + lane);
    }
}

/* Writes count positions, first + a place each, from out[at] on. By whole warps. */
static DEVICE void write_staged(const flags_to_offsets_arguments &a, const uint16_t *staged,
                                uint32_t count, int64_t at, int64_t first) {
    __syncwarp();
    const int64_t room = a.pack.length - at;
    const int fits = room < count ? room > 0 ? (int)room : 0 : (int)count;
    const bool narrow = a.pack.type == VSCAN_INT;
#pragma unroll 2
    for (int k = threadIdx.x % 32; k < fits; k += 32) {
        if (narrow)
            ((int32_t *)a.pack.out)[at + k] = (int32_t)first + staged[k];
        else
            ((int64_t *)a.pack.out)[at + k] = first + staged[k];
    }
    __syncwarp();
}

/* Writes the positions of the set flags of a line of 32 flag words x, a bit a lane; first: the
   position of the line's first flag; out[to + at] gets the lane's first one; pairs: scratch memory
   of the warp. By whole warps. */
static DEVICE void write_dense(const flags_to_offsets_arguments &a, uint32_t x, uint32_t at,
                               int64_t to, int64_t first, uint2 *pairs) {
    const int lane = threadIdx.x % 32;
    const uint32_t below = (1u << lane) - 1;
    const int64_t space = a.pack.length - to;
    const uint32_t room = space < 0 ? 0 : space > 1024 ? 1024 : (uint32_t)space;
    pairs[lane] = {x, at};
    __syncwarp();
    const auto each = [&](auto *out, auto position) {
        out = address_once(out);
#pragma unroll 4
        for (int q = 0; q < 32; q += 2) {
            const uint4 two = *(const uint4 *)(pairs + q); /* of two words */
            const uint32_t low = two.y + __popc(two.x & below);
            const uint32_t high = two.w + __popc(two.z & below);
            if (two.x >> lane & 1 && low < room) out[low] = position + q * 32;
            if (two.z >> lane & 1 && high < room) out[high] = position + q * 32 + 32;
        }
    };
    if (a.pack.type == VSCAN_INT)
        each((int32_t *)a.pack.out + to, (int32_t)first + lane);
    else
        each((int64_t *)a.pack.out + to, first + lane);
    __syncwarp();
}

/* Reads so many lines of bits of a share once more and writes their positions from out[at] on;
   first_set: the vector's first flag counts as set. By whole warps. */
static DEVICE void write_again(const flags_to_offsets_arguments &a, const warp_share &share,
                               int lines, int64_t at, bool first_set, uint2 *pairs) {
    uint32_t y[1][1];
    load_bits(y, a, share, 0, lines);
    if (first_set && (int)threadIdx.x == a.shift / 32) y[0][0] |= 1u << a.shift % 32;
    ROLLED_FOR (int r = 0; r < lines; ++r) {
        const uint32_t bits = y[0][0], own = (uint32_t)__popc(bits);
        if (r + 1 < lines) load_bits(y, a, share, r + 1, lines);
        const uint32_t upto = warp_inclusive_sum(own);
        write_dense(a, bits, upto - own, at, share.first + r * 1024, pairs);
        at += __shfl_sync(warp_mask, upto, 31);
    }
}

} /* namespace vscan */
