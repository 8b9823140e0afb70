/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Head flags, 16 at a time, for kernels that ask for several before they need one: head_flags::load
 * starts the loads, bits() waits for them. Positions are as in vectors.cuh.
 */
#ifndef VSCAN_HEADS_CUH
#define VSCAN_HEADS_CUH

#include "vectors.cuh"

namespace vscan {

/* Four bytes as four bits: 1 where the byte is not 0. */
static __device__ __forceinline__ uint32_t bits_of_bytes(uint32_t bytes) {
    /* the product moves bit 8 j to bit 24 + j; no two bits of it meet */
    return (__vsetne4(bytes, 0) * 0x01020408u) >> 24 & 15;
}

/* At an end of the vector; a call, so that it takes no registers from the rest. */
static __device__ __noinline__ uint32_t heads_one_by_one(const vscan__scan &scan, int64_t i) {
    uint32_t mask = 0;
    for (int j = 0; j < 16 && i + j < scan.n; ++j)
        if (i + j == 0 || head_at(scan, i + j)) mask |= 1u << j;
    return mask;
}

template <int Type>
struct head_flags {
    static constexpr int words = Type == VSCAN_INT ? 16 : Type == VSCAN_BYTE ? 5 : 2;
    uint32_t raw[words];
    bool slow; /* at an end of the vector: bits() does all the work */

    /* number of the first flag in memory of those for positions i .. i + 15 */
    static __device__ int64_t first(const vscan__scan &scan, int64_t i) {
        return scan.backward ? scan.n - i - 15 : i;
    }

    /* i is a multiple of 16 */
    __device__ __forceinline__ void load(const vscan__scan &scan, int64_t i) {
        /* whole words are read that have a wanted byte, so the next 4 flags must be there too */
        slow = i == 0 || i + 20 > scan.n;
        if (slow) return;
        const int64_t at = first(scan, i);
        if (Type == VSCAN_BIT) {
            const uint32_t *from = (const uint32_t *)scan.flags + (at >> 5);
            raw[0] = from[0];
            raw[1] = (at & 31) > 16 ? from[1] : 0;
            return;
        }
        const char *from = (const char *)scan.flags + at * (Type == VSCAN_INT ? 4 : 1);
        const int misfit = (int)((uintptr_t)from & 15);
        if (misfit == 0) {
#pragma unroll
            for (int k = 0; k < words / 4; ++k) {
                const int4 quad = ((const int4 *)from)[k];
                memcpy(raw + 4 * k, &quad, 16);
            }
        } else {
#pragma unroll
            for (int k = 0; k < words; ++k) raw[k] = ((const uint32_t *)(from - misfit % 4))[k];
        }
    }

    __device__ __forceinline__ uint32_t bits(const vscan__scan &scan, int64_t i) const {
        if (slow) return heads_one_by_one(scan, i);
        uint32_t mask = 0;
        const int64_t at = first(scan, i);
        if (Type == VSCAN_BIT) {
            mask = __funnelshift_r(raw[0], raw[1], (unsigned)at & 31) & 0xffff;
        } else if (Type == VSCAN_BYTE) {
            const unsigned shift = (unsigned)((uintptr_t)scan.flags + (uintptr_t)at) % 4 * 8;
#pragma unroll
            for (int k = 0; k < 4; ++k) {
                const uint32_t next = shift ? raw[words > k + 1 ? k + 1 : k] : 0;
                mask |= bits_of_bytes(__funnelshift_r(raw[words > k ? k : 0], next, shift))
                        << 4 * k;
            }
        } else {
#pragma unroll
            for (int k = 0; k < 16; ++k) mask |= (uint32_t)(raw[words > k ? k : 0] != 0) << k;
        }
        return scan.backward ? __brev(mask) >> 16 : mask;
    }
};

} /* namespace vscan */

#endif
