/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a warp of segments/flags_to_offsets.cu does to its part of a tile: flags of any kind become words of 32 bits, which
 * lanes keep, and the places of set bits become positions.
 *
 * A warp has rows of 32 lanes, a lane of a row `each` words beside one another. The places of its flags
 * stand side by side in shared memory; where they are too many for that, the flags are read once more,
 * row by row. So what is written is written 32 positions at a time.
 *
 * The first tile begins up to 16 bytes before the vector, so that pieces of 16 bytes lie on multiples of
 * 16 bytes; what lies outside of the vector is not read.
 */
#ifndef VSCAN_SEGMENTS_FLAGS_TO_OFFSETS_CUH
#define VSCAN_SEGMENTS_FLAGS_TO_OFFSETS_CUH

#include "common/tma.cuh"
#include "common/elementwise.cuh"
#include "common/lookback.cuh"
#include "common/vectors.cuh"

namespace vscan {

static constexpr unsigned all_lanes = 0xffffffffu;
static constexpr int flag_warps_a_block = 16; /* of a block at most */
static constexpr int offsets_staged = 1024;   /* places that a warp has room for */
static constexpr int many_flags = 8;          /* of a word: more are taken a bit a lane */

/* Blocks of a multiprocessor; before sm_80 it may have no more than 1024 threads. */
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
static constexpr int flags_blocks = 2;
#else
static constexpr int flags_blocks = 1;
#endif

struct flags_to_offsets_arguments {
    vscan__pack pack;
    lookback_memory lookback;
    vscan__late *late;
    int shift; /* flags that the first tile has before the vector */
    int rows;  /* of a warp */
};

/* Rows of a warp at most, and words of a lane in a row. */
template <class Flag>
struct flags_shape;
struct one_bit {};
template <>
struct flags_shape<one_bit> {
    static constexpr int rows = 4, each = 4;
};
template <>
struct flags_shape<uint8_t> {
    static constexpr int rows = 4, each = 1;
    using part = uint16_t; /* bits of 16 bytes of flags */
};
template <>
struct flags_shape<int32_t> {
    static constexpr int rows = 1, each = 1;
    using part = uint8_t; /* the same; half of it is not used */
};

/* A warp's part of a tile: flags begin .. end - 1 of it are in the vector, whose number `first` is its
   first one. */
struct offsets_part {
    int64_t first;
    int begin, end;
};

/* ---- Flags as words -------------------------------------------------------------------------- */

/* The word of bits at flag o of a part; those outside are 0. */
static __device__ __forceinline__ uint32_t word_at(const flags_to_offsets_arguments &a,
                                                   const offsets_part &part, int o) {
    if (o < part.begin || o >= part.end) return 0;
    const uint32_t bits = ((const uint32_t *)a.pack.flags + part.first / 32)[o / 32];
    return part.end - o < 32 ? bits & ((1u << (part.end - o)) - 1) : bits;
}

/* x[r][j]: word j of this lane in row `from` + r, of so many rows. A part that is whole has no jump
   between its loads, as else the compiler waits for one before the next. */
template <int Rows, int Each>
static __device__ __forceinline__ void load_bits(uint32_t (&x)[Rows][Each],
                                                 const flags_to_offsets_arguments &a,
                                                 const offsets_part &part, int from, int rows) {
    const uint32_t *const words =
        (const uint32_t *)a.pack.flags + part.first / 32 + (int)(threadIdx.x % 32) * Each;
#pragma unroll
    for (int r = 0; r < Rows; ++r)
#pragma unroll
        for (int j = 0; j < Each; ++j) x[r][j] = 0;
    if (part.begin == 0 && part.end == rows * 1024 * Each) {
#pragma unroll
        for (int r = 0; r < Rows; ++r)
            if (from + r < rows) load_piece<uint32_t, Each>(x[r], words + (from + r) * 32 * Each);
    } else {
#pragma unroll
        for (int r = 0; r < Rows; ++r)
#pragma unroll
            for (int j = 0; j < Each; ++j)
                x[r][j] =
                    word_at(a, part, (((from + r) * 32 + (int)threadIdx.x % 32) * Each + j) * 32);
    }
}

/* 16 bytes of flags as bits. */
static __device__ __forceinline__ uint32_t bits_of_piece(const uint8_t (&flags)[16]) {
    uint32_t fours[4], bits = 0;
    memcpy(fours, flags, 16);
#pragma unroll
    for (int j = 3; j >= 0; --j) bits = push_bytes(bits, fours[j]);
    return bits;
}
static __device__ __forceinline__ uint32_t bits_of_piece(const int32_t (&flags)[4]) {
    uint32_t bits = 0;
#pragma unroll
    for (int j = 0; j < 4; ++j) bits |= (uint32_t)(flags[j] != 0) << j;
    return bits;
}

/* Word number w of the bits of pieces, that lie side by side: 16 bits each or, of ints, a byte. */
static __device__ __forceinline__ uint32_t word_of_parts(const uint16_t *parts, int w) {
    return ((const uint32_t *)parts)[w];
}
static __device__ __forceinline__ uint32_t word_of_parts(const uint8_t *parts, int w) {
    const uint2 fours = ((const uint2 *)parts)[w];
    uint32_t low = fours.x | fours.x >> 4, high = fours.y | fours.y >> 4;
    low = (low & 255) | (low >> 8 & 0xff00);
    high = (high & 255) | (high >> 8 & 0xff00);
    return low | high << 16;
}

/* The same of the bits of flags; memory: of the warp, without any contents. */
template <class Flag, int Rows>
static __device__ __forceinline__ void
load_flags(uint32_t (&x)[Rows][1], const flags_to_offsets_arguments &a, const offsets_part &part,
           int from, int rows, uint16_t *memory) {
    using part_type = typename flags_shape<Flag>::part;
    constexpr int F = 16 / (int)sizeof(Flag); /* flags of a piece */
    constexpr int pieces = 32 / F;            /* of a lane in a row */
    part_type *const parts = (part_type *)memory;
    const Flag *const flags = (const Flag *)a.pack.flags + part.first;
    const int lane = threadIdx.x % 32, last = rows - from < Rows ? rows - from : Rows;
    Flag raw[Rows * pieces][F];
#pragma unroll
    for (int k = 0; k < Rows * pieces; ++k) {
        const int o = from * 1024 + (k * 32 + lane) * F;
#pragma unroll
        for (int j = 0; j < F; ++j) raw[k][j] = 0;
        if (k < last * pieces && o >= part.begin && o + F <= part.end)
            load_piece<Flag, F>(raw[k], flags + o);
    }
#pragma unroll
    for (int k = 0; k < Rows * pieces; ++k) parts[k * 32 + lane] = (part_type)bits_of_piece(raw[k]);
    if (part.begin > 0 || part.end < rows * 1024) { /* pieces that lie partly in the vector */
#pragma unroll 1
        for (int k = 0; k < last * pieces; ++k) {
            const int o = from * 1024 + (k * 32 + lane) * F;
            if (o + F <= part.begin || o >= part.end) continue;
            uint32_t bits = 0;
#pragma unroll
            for (int j = 0; j < F; ++j)
                if (o + j >= part.begin && o + j < part.end)
                    bits |= (uint32_t)(flags[o + j] != 0) << j;
            parts[k * 32 + lane] = (part_type)bits;
        }
    }
    __syncwarp();
#pragma unroll
    for (int r = 0; r < Rows; ++r) x[r][0] = r < last ? word_of_parts(parts, r * 32 + lane) : 0;
    __syncwarp();
}

template <class Flag, int Rows, int Each>
static __device__ __forceinline__ void
load_words(uint32_t (&x)[Rows][Each], const flags_to_offsets_arguments &a, const offsets_part &part,
           int from, int rows, uint16_t *memory) {
    if constexpr (same_type<Flag, one_bit>)
        load_bits(x, a, part, from, rows);
    else
        load_flags<Flag>(x, a, part, from, rows, memory);
}

/* ---- Places ---------------------------------------------------------------------------------- */

/* The sum of x over the lanes up to this one. */
static __device__ __forceinline__ uint32_t sum_upto(uint32_t x) {
#pragma unroll
    for (int d = 1; d < 32; d *= 2) {
        const uint32_t other = __shfl_up_sync(all_lanes, x, d);
        if ((int)(threadIdx.x % 32) >= d) x += other;
    }
    return x;
}

static __device__ __forceinline__ int64_t sum_of_lanes(int64_t x) {
#pragma unroll
    for (int d = 16; d > 0; d /= 2) x += __shfl_xor_sync(all_lanes, x, d);
    return x;
}

/* The places of a lane's flags, the first of which is `first`, to staged[at], ...; for few flags. */
template <int Each>
static __device__ __forceinline__ void stage_few(const uint32_t (&x)[Each], int first, uint32_t at,
                                                 uint16_t *staged) {
#pragma unroll
    for (int j = 0; j < Each; ++j) {
        uint32_t left = x[j];
#pragma unroll 1
        for (; left != 0; left &= left - 1)
            staged[at++] = (uint16_t)(first + 32 * j + __ffs((int)left) - 1);
    }
}

/* The same of a row of 32 words, one word at a time, a bit a lane; first: the place of the row's first
   flag. By whole warps. */
static __device__ __forceinline__ void stage_many(uint32_t x, int first, uint32_t at,
                                                  uint16_t *staged) {
    const int lane = threadIdx.x % 32;
    const uint32_t below = (1u << lane) - 1;
#pragma unroll 4
    for (int q = 0; q < 32; ++q) {
        const uint32_t bits = __shfl_sync(all_lanes, x, q);
        const uint32_t place = __shfl_sync(all_lanes, at, q) + __popc(bits & below);
        if (bits >> lane & 1) staged[place] = (uint16_t)(first + q * 32 + lane);
    }
}

/* Writes count positions, from place `at` of out on, each first + its place. By whole warps. */
static __device__ __forceinline__ void write_staged(const flags_to_offsets_arguments &a,
                                                    const uint16_t *staged, uint32_t count,
                                                    int64_t at, int64_t first) {
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

/*
 * Writes the positions of the flags of a row of 32 words, one a lane, a bit a lane; first: the position
 * of the row's first flag; at: the place of the lane's first one in out, from `to` on; pairs: memory of
 * the warp. By whole warps.
 */
static __device__ __forceinline__ void write_many(const flags_to_offsets_arguments &a, uint32_t x,
                                                  uint32_t at, int64_t to, int64_t first,
                                                  uint2 *pairs) {
    const int lane = threadIdx.x % 32;
    const uint32_t below = (1u << lane) - 1;
    const int64_t space = a.pack.length - to;
    const uint32_t room = space < 0 ? 0 : space > 1024 ? 1024 : (uint32_t)space;
    pairs[lane] = {x, at};
    __syncwarp();
    const auto each = [&](auto *out, auto position) {
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

/* Reads so many rows of bits of a part once more and writes their positions, from place `at` of out on;
   first_set: the vector's first flag is set in any case. By whole warps. */
static __device__ __forceinline__ void write_again(const flags_to_offsets_arguments &a,
                                                   const offsets_part &part, int rows, int64_t at,
                                                   bool first_set, uint2 *pairs) {
    uint32_t y[1][1];
    load_bits(y, a, part, 0, rows);
    if (first_set && (int)threadIdx.x == a.shift / 32) y[0][0] |= 1u << a.shift % 32;
#pragma unroll 1
    for (int r = 0; r < rows; ++r) {
        const uint32_t bits = y[0][0], own = (uint32_t)__popc(bits);
        if (r + 1 < rows) load_bits(y, a, part, r + 1, rows);
        const uint32_t upto = sum_upto(own);
        write_many(a, bits, upto - own, at, part.first + r * 1024, pairs);
        at += __shfl_sync(all_lanes, upto, 31);
    }
}

} /* namespace vscan */

#endif
