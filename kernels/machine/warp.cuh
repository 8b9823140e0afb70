/* SPDX-License-Identifier: Apache-2.0 */
/* What a warp does together: sums over its lanes, 32-bit words of flags, prefetches. */
#pragma once

#include <stdint.h>

#include "machine/ptx.cuh"

namespace vscan {

/* For the *_sync intrinsics: all lanes of a warp take part. */
static constexpr unsigned warp_mask = 0xffffffffu;

/* The sum over all lanes, in every lane. */
template <class T>
static DEVICE T warp_sum(T x) {
    UNROLL_FOR (int d = 16; d > 0; d /= 2) x += __shfl_xor_sync(warp_mask, x, d);
    return x;
}

/* The sum over the lanes up to and including this one. Only the first Lanes have something to add. */
template <int Lanes = 32, class T>
static DEVICE T warp_inclusive_sum(T x) {
    const int lane = threadIdx.x % 32;
    UNROLL_FOR (int d = 1; d < Lanes; d *= 2) {
        const T left = __shfl_up_sync(warp_mask, x, d);
        if (lane >= d) x += left;
    }
    return x;
}

/* The lowest count bits. */
static DEVICE uint32_t bits_below(int count) {
    return count < 32 ? (1u << count) - 1 : 0xffffffffu;
}

/* The bits of flag word number `word` that belong to the first n elements. */
static DEVICE uint32_t bits_that_are(int64_t word, int64_t n) {
    const int64_t left = n - 32 * word;
    return left >= 32 ? 0xffffffffu : left > 0 ? (1u << left) - 1 : 0;
}

/* Prefetches elements first .. first + items - 1 of a vector, those that exist, into the L2 cache. Useful
   where launches overlap. */
template <class T>
static DEVICE void prefetch_by_warp(const T *vector, int64_t n, int64_t first, int items) {
    constexpr int sector = 32 / (int)sizeof(T);
    for (int i = (int)(threadIdx.x % 32) * sector; i < items; i += 32 * sector)
        if (first + i >= 0 && first + i < n) prefetch_line(vector + first + i);
}

} /* namespace vscan */
