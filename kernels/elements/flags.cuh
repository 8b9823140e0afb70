/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Head and pack flags, given as int, byte or bit, become bits: 1 where a flag is set. A lane reads
 * flags that are adjacent in memory (read_flags), or the lanes of a warp read them side by side and
 * vote (flags_by_ballots). lane_heads has them in scan order.
 */
#pragma once

#include <stdint.h>
#include <string.h>

#include "cuda/launch.h"
#include "machine/ptx.cuh"
#include "machine/warp.cuh"

namespace vscan {

/* ---- Ints and bytes as bits ------------------------------------------------------------------- */

/* Four ints as four bits: 1 where the int is not 0. */
static DEVICE uint32_t bits_of_ints(int4 x) {
    return (is_not_0(x.w) * 2 + is_not_0(x.z)) * 4 + (is_not_0(x.y) * 2 + is_not_0(x.x));
}

/* Bit j is set if byte j is not 0. */
static DEVICE uint32_t bits_of_bytes(uint32_t four) {
    /* __vsetne4 sets bit 8 j if byte j is not 0; the product moves that bit to bit 24 + j */
    return __vsetne4(four, 0) * 0x01020408u >> 24 & 15;
}

/* Four bytes as four bits, 1 where the byte is not 0, which are shifted into bits from the
   right. */
static DEVICE uint32_t push_bytes(uint32_t bits, uint32_t bytes) {
    const uint32_t low = 0x7f7f7f7f, any = ((bytes & low) + low) | bytes; /* bit 7 of each byte */
    /* the product moves bit 8 j + 7 to bit 28 + j; no two bits of it coincide */
    return __funnelshift_l((any & ~low) * 0x00204081u, bits, 4);
}

/* The same for N words of bytes, at most 8. */
template <int N>
static DEVICE uint32_t bits_of_words(const uint32_t *bytes) {
    uint32_t bits = 0;
    UNROLL_FOR (int j = N - 1; j >= 0; --j) bits = push_bytes(bits, bytes[j]);
    return bits;
}

/* 16 bytes of flags, which are ints or bytes, as 4 or 16 bits. */
template <class Flag>
static DEVICE uint32_t bits_of_quad(int4 quad) {
    if (sizeof(Flag) == 4) return bits_of_ints(quad);
    uint32_t words[4];
    memcpy(words, &quad, 16);
    return bits_of_words<4>(words);
}

/* Four bits as four bytes. */
static DEVICE uint32_t bytes_of_bits(uint32_t bits) {
    return bits * 0x00204081u & 0x01010101u; /* the product copies bit j to bit 8 j */
}

/* ---- Single flags ------------------------------------------------------------------------------ */

/* Logarithm of the bits that a flag takes. */
static __host__ DEVICE int log_bits_of_flags(int type) {
    return type == VSCAN_INT ? 5 : type == VSCAN_BYTE ? 3 : 0;
}

/* Flag number `at` in memory. */
static DEVICE uint32_t flag_at(const void *flags, int type, int64_t at) {
    if (type == VSCAN_INT) return ((const int32_t *)flags)[at] != 0;
    if (type == VSCAN_BYTE) return ((const uint8_t *)flags)[at] != 0;
    return ((const uint32_t *)flags)[at >> 5] >> (at & 31) & 1;
}

/*
 * Whether the element at position i > 0 is the first of its segment in scan order. In a backward
 * scan this is so if the element before it in scan order, the next one in memory, has its flag set.
 */
static DEVICE uint32_t head_at(const vscan__scan &scan, int64_t i) {
    return flag_at(scan.flags, scan.flag_type, scan.backward ? scan.n - i : i);
}

/* ---- Flags that lanes read --------------------------------------------------------------------- */

/* N flags that are adjacent in memory, from number `at` on, as bits. Whole 32-bit words are read. */
template <int N>
static DEVICE uint32_t read_flags(const void *flags, int type, int64_t at) {
    uint32_t bits = 0;
    if (type == VSCAN_BYTE) {
        const char *const from = (const char *)flags + at;
        const int misfit = (int)((uintptr_t)from & 3);
        const uint32_t *const words = (const uint32_t *)(from - misfit);
        uint32_t word[N / 4 + 1];
        UNROLL_FOR (int c = 0; c < N / 4; ++c) word[c] = words[c];
        word[N / 4] = misfit > 0 ? words[N / 4] : 0;
        UNROLL_FOR (int c = 0; c < N / 4; ++c)
            bits |= bits_of_bytes(__funnelshift_r(word[c], word[c + 1], 8 * misfit)) << 4 * c;
    } else if (type == VSCAN_BIT) {
        const uint32_t *const words = (const uint32_t *)flags + (at >> 5);
        const int misfit = (int)(at & 31);
        bits = __funnelshift_r(words[0], misfit + N > 32 ? words[1] : 0, misfit) & bits_below(N);
    } else {
        const int32_t *const from = (const int32_t *)flags + at;
        if (((uintptr_t)from & 15) == 0) {
            int4 quad[N / 4];
            UNROLL_FOR (int c = 0; c < N / 4; ++c) quad[c] = load_quad(from + 4 * c);
            UNROLL_FOR (int c = 0; c < N / 4; ++c) bits |= bits_of_ints(quad[c]) << 4 * c;
        } else {
#pragma unroll 4
            for (int j = 0; j < N; ++j) bits |= is_not_0(from[j]) << j;
        }
    }
    return bits;
}

/* The same for 32 byte flags, in aligned chunks of 16 bytes; false if these are not all in the vector, which is
   from begin to end. */
static DEVICE bool read_32_bytes(uint32_t &bits, const uint8_t *from, const uint8_t *begin,
                                 const uint8_t *end) {
    const int misfit = (int)((uintptr_t)from & 15);
    const int4 *const chunks = (const int4 *)(from - misfit);
    if ((const uint8_t *)chunks < begin || (const uint8_t *)(chunks + (misfit ? 3 : 2)) > end)
        return false;
    uint32_t raw[12] = {};
    const int4 first = chunks[0], second = chunks[1];
    memcpy(raw, &first, 16);
    memcpy(raw + 4, &second, 16);
    if (misfit) {
        const int4 third = chunks[2];
        memcpy(raw + 8, &third, 16);
    }
    bits = __funnelshift_r(bits_of_words<8>(raw), bits_of_words<4>(raw + 8), (unsigned)misfit);
    return true;
}

/* N flags of each lane of a warp, of which 32 lanes read 32 at a time: line r of them begins step * r
   behind `from`, the lane's own flag in it. there(r): whether that exists. Batch: lines that are in flight. */
template <int N, int Batch, class Flag, class There>
static DEVICE uint32_t flags_by_ballots(const Flag *from, int step, const There &there) {
    uint32_t flags = 0;
    UNROLL_FOR (int b = 0; b < N; b += Batch) {
        Flag x[Batch];
        UNROLL_FOR (int r = 0; r < Batch; ++r) x[r] = there(b + r) ? from[(b + r) * step] : (Flag)0;
        UNROLL_FOR (int r = 0; r < Batch; ++r) {
            const uint32_t line = __ballot_sync(warp_mask, x[r] != 0);
            const int lane = (int)threadIdx.x % 32;
            if (lane * N / 32 == b + r) flags = N == 32 ? line : line >> lane * N % 32;
        }
    }
    return flags;
}

/* ---- Heads in scan order ----------------------------------------------------------------------- */

/* The head flags of a lane's V elements from position i on. load only issues the loads, and bits converts the
   flags, so that a lane can have several loads in flight. */
template <int V>
struct lane_heads {
    uint32_t raw[V];
    bool slow; /* at an end of the vector: nothing is loaded, bits does all the work */

    /* index of the first flag in memory */
    static DEVICE int64_t first(const vscan__scan &scan, int64_t i) {
        return scan.backward ? scan.n - i - (V - 1) : i;
    }

    /* V flags of int from an aligned address on */
    DEVICE void load_ints(const int32_t *from) {
        if (V == 4) {
            const int4 quad = *(const int4 *)from;
            memcpy(raw, &quad, sizeof raw);
        } else {
            const int2 two = *(const int2 *)from;
            memcpy(raw, &two, sizeof raw);
        }
    }

    template <int Type>
    DEVICE void load(const vscan__scan &scan, int64_t i) {
        const int64_t at = first(scan, i);
        /* whole 32-bit words are read, so the next 3 flags must exist, too */
        slow = at <= 0 || at + V + 3 > scan.n;
        if (slow) return;
        if (Type == VSCAN_INT) {
            const int32_t *const from = (const int32_t *)scan.flags + at;
            if (((uintptr_t)from & (4 * V - 1)) == 0) {
                load_ints(from);
            } else {
                UNROLL_FOR (int j = 0; j < V; ++j) raw[j] = (uint32_t)from[j];
            }
        } else if (Type == VSCAN_BYTE) {
            const char *const from = (const char *)scan.flags + at;
            const int misfit = (int)((uintptr_t)from & 3);
            raw[0] = *(const uint32_t *)(from - misfit);
            if (misfit + V > 4) raw[1] = *(const uint32_t *)(from - misfit + 4);
        } else {
            const uint32_t *const from = (const uint32_t *)scan.flags + (at >> 5);
            raw[0] = from[0];
            if ((at & 31) + V > 32) raw[1] = from[1];
        }
    }

    /* The same, forward, where all of them exist and are_whole(scan): nothing is chosen, and position 0 is
       not slow. */
    static DEVICE bool are_whole(const vscan__scan &scan) {
        return ((uintptr_t)scan.flags & (scan.flag_type == VSCAN_INT ? 4 * V - 1 : 3)) == 0;
    }
    template <int Type>
    DEVICE void load_whole(const vscan__scan &scan, int i) {
        slow = false;
        if (Type == VSCAN_INT) {
            load_ints((const int32_t *)scan.flags + i);
        } else if (Type == VSCAN_BYTE) {
            raw[0] = ((const uint32_t *)scan.flags)[i >> 2];
        } else {
            raw[0] = ((const uint32_t *)scan.flags)[i >> 5];
        }
    }

    /* bit j: whether the element at position i + j is the first of its segment in scan order */
    template <int Type>
    DEVICE uint32_t bits(const vscan__scan &scan, int64_t i) const {
        uint32_t mask = 0;
        if (slow) {
            UNROLL_FOR (int j = 0; j < V; ++j) {
                if (i + j >= scan.n) break;
                if (i + j == 0 || head_at(scan, i + j)) mask |= 1u << j;
            }
            return mask;
        }
        const int64_t at = first(scan, i);
        if (Type == VSCAN_INT) {
            UNROLL_FOR (int j = 0; j < V; ++j) mask |= (uint32_t)(raw[j] != 0) << j;
        } else if (Type == VSCAN_BYTE) {
            const unsigned misfit = (unsigned)((uintptr_t)scan.flags + (uintptr_t)at) & 3;
            /* the product moves bit 8 j, whether byte j is not 0, to bit 24 + j */
            mask = (__vsetne4(__funnelshift_r(raw[0], raw[1], 8 * misfit), 0) * 0x01020408u) >> 24;
        } else {
            mask = __funnelshift_r(raw[0], raw[1], (unsigned)at & 31);
        }
        mask &= (1u << V) - 1;
        if (i == 0) mask |= 1; /* by load_whole */
        return scan.backward ? __brev(mask) >> (32 - V) : mask;
    }
};

/* use(t), t::value being the type of flags as a constant. */
template <int Type>
struct flag_type_constant {
    static constexpr int value = Type;
};
template <class Use>
static DEVICE void with_flag_type(int type, const Use &use) {
    if (type == VSCAN_BYTE)
        use(flag_type_constant<VSCAN_BYTE>());
    else if (type == VSCAN_BIT)
        use(flag_type_constant<VSCAN_BIT>());
    else
        use(flag_type_constant<VSCAN_INT>());
}

/* load, or load_whole, and bits for several groups of V elements: the first from position i on, the others
   step positions apart. */
template <bool Whole = false, int Rows, int V>
static DEVICE void load_heads(lane_heads<V> (&flags)[Rows], const vscan__scan &scan, int64_t i,
                              int step) {
    with_flag_type(scan.flag_type, [&](auto type) {
        UNROLL_FOR (int r = 0; r < Rows; ++r) {
            constexpr int Type = decltype(type)::value;
            if constexpr (Whole)
                flags[r].template load_whole<Type>(scan, (int)i + r * step);
            else
                flags[r].template load<Type>(scan, i + r * step);
        }
    });
}

template <int Rows, int V>
static DEVICE void bits_of_heads(uint32_t (&heads)[Rows], const lane_heads<V> (&flags)[Rows],
                                 const vscan__scan &scan, int64_t i, int step) {
    with_flag_type(scan.flag_type, [&](auto type) {
        UNROLL_FOR (int r = 0; r < Rows; ++r)
            heads[r] = flags[r].template bits<decltype(type)::value>(scan, i + r * step);
    });
}

} /* namespace vscan */
