/* SPDX-License-Identifier: Apache-2.0 */
/* What the lanes of a warp add up together, and words whose bits are flags. */
#ifndef VSCAN_COMMON_WARP_CUH
#define VSCAN_COMMON_WARP_CUH

#include <stdint.h>

#include "common/ptx.cuh"

namespace vscan {

/* In all lanes of a warp. */
template <class T>
static __device__ __forceinline__ T warp_sum(T x) {
#pragma unroll
    for (int d = 16; d > 0; d /= 2) x += __shfl_xor_sync(0xffffffffu, x, d);
    return x;
}

/* Of the lanes up to and with this one; Lanes is how many have something to add. */
template <int Lanes = 32>
static __device__ __forceinline__ uint32_t warp_inclusive_sum(uint32_t x) {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int d = 1; d < Lanes; d *= 2) {
        const uint32_t left = __shfl_up_sync(0xffffffffu, x, d);
        if (lane >= d) x += left;
    }
    return x;
}

static __device__ __forceinline__ uint32_t bits_below(int count) {
    return count < 32 ? (1u << count) - 1 : 0xffffffffu;
}

/* Which bits of a word are elements before the n-th. */
static __device__ __forceinline__ uint32_t bits_that_are(int64_t word, int64_t n) {
    const int64_t left = n - 32 * word;
    return left >= 32 ? 0xffffffffu : left > 0 ? (1u << left) - 1 : 0;
}

/* Bit j: whether byte j is not 0. */
static __device__ __forceinline__ uint32_t bits_of_bytes(uint32_t four) {
    /* the product moves bit 8 j, whether byte j is not 0, to bit 24 + j */
    return __vsetne4(four, 0) * 0x01020408u >> 24 & 15;
}

} /* namespace vscan */

#endif
