/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a lane reads and writes its consecutive elements of a vector, and the head flags that go with
 * them. Positions i count in scan order: a backward scan has element n - 1 - i of memory at i, so
 * that nothing above this file needs to know the direction.
 */
#ifndef VSCAN_VECTORS_CUH
#define VSCAN_VECTORS_CUH

#include <stdint.h>

#include "launch.h"

namespace vscan {

/* Whether positions that are multiples of 16 bytes lie on addresses that are. */
template <class T>
static __device__ __forceinline__ bool is_aligned(const T *vector, int64_t n, bool backward) {
    return ((uintptr_t)(backward ? vector + n : vector) & 15) == 0;
}

/* x[j] = Pair::in(element at position i + j), or the identity from position n on; 16 bytes. */
template <class Pair, int V>
static __device__ __forceinline__ void load_items(typename Pair::U (&x)[V],
                                                  const typename Pair::T *in, int64_t i, int64_t n,
                                                  bool backward, bool aligned) {
    using T = typename Pair::T;
    if (aligned && i + V <= n) {
        const int4 quad = *(const int4 *)(backward ? in + (n - V - i) : in + i);
        T raw[V];
        memcpy(raw, &quad, 16);
#pragma unroll
        for (int j = 0; j < V; ++j) x[j] = Pair::in(backward ? raw[V - 1 - j] : raw[j]);
    } else {
#pragma unroll
        for (int j = 0; j < V; ++j) {
            const int64_t at = i + j;
            x[j] = at < n ? Pair::in(in[backward ? n - 1 - at : at]) : Pair::identity;
        }
    }
}

template <class Pair, int V>
static __device__ __forceinline__ void store_items(const typename Pair::U (&x)[V],
                                                   typename Pair::T *out, int64_t i, int64_t n,
                                                   bool backward, bool aligned) {
    using T = typename Pair::T;
    if (aligned && i + V <= n) {
        T raw[V];
#pragma unroll
        for (int j = 0; j < V; ++j) raw[j] = Pair::out(backward ? x[V - 1 - j] : x[j]);
        int4 quad;
        memcpy(&quad, raw, 16);
        *(int4 *)(backward ? out + (n - V - i) : out + i) = quad;
    } else {
#pragma unroll
        for (int j = 0; j < V; ++j) {
            const int64_t at = i + j;
            if (at < n) out[backward ? n - 1 - at : at] = Pair::out(x[j]);
        }
    }
}

/* Flag number at of memory. */
static __device__ __forceinline__ uint32_t flag_at(const void *flags, int type, int64_t at) {
    if (type == VSCAN_INT) return ((const int32_t *)flags)[at] != 0;
    if (type == VSCAN_BYTE) return ((const uint8_t *)flags)[at] != 0;
    return ((const uint32_t *)flags)[at >> 5] >> (at & 31) & 1;
}

/*
 * Whether the element at position i > 0 is the first of its segment in scan order. Backward it is
 * where the element before it in scan order, the next one in memory, has its flag set.
 */
static __device__ __forceinline__ uint32_t head_at(const vscan__scan &scan, int64_t i) {
    return flag_at(scan.flags, scan.flag_type, scan.backward ? scan.n - i : i);
}

/* V flags of memory from number at on, as bits. */
template <int V>
static __device__ __forceinline__ uint32_t flags_from(const void *flags, int type, int64_t at) {
    uint32_t mask = 0;
    if (type == VSCAN_INT) {
        const int32_t *p = (const int32_t *)flags + at;
        int32_t raw[V];
        if (((uintptr_t)p & (4 * V - 1)) == 0) {
            if (V == 4) {
                const int4 quad = *(const int4 *)p;
                memcpy(raw, &quad, sizeof raw);
            } else {
                const int2 two = *(const int2 *)p;
                memcpy(raw, &two, sizeof raw);
            }
        } else {
#pragma unroll
            for (int j = 0; j < V; ++j) raw[j] = p[j];
        }
#pragma unroll
        for (int j = 0; j < V; ++j) mask |= (uint32_t)(raw[j] != 0) << j;
    } else if (type == VSCAN_BYTE) {
        const uint8_t *p = (const uint8_t *)flags + at;
        uint8_t raw[V];
        if (((uintptr_t)p & (V - 1)) == 0) {
            if (V == 4) {
                const uint32_t four = *(const uint32_t *)p;
                memcpy(raw, &four, sizeof raw);
            } else {
                const uint16_t two = *(const uint16_t *)p;
                memcpy(raw, &two, sizeof raw);
            }
        } else {
#pragma unroll
            for (int j = 0; j < V; ++j) raw[j] = p[j];
        }
#pragma unroll
        for (int j = 0; j < V; ++j) mask |= (uint32_t)(raw[j] != 0) << j;
    } else {
        const uint32_t *p = (const uint32_t *)flags + (at >> 5);
        const int shift = (int)(at & 31);
        mask = p[0] >> shift;
        if (shift + V > 32) mask |= p[1] << (32 - shift);
        mask &= (1u << V) - 1;
    }
    return mask;
}

/* Bit j: whether the element at position i + j is the first of its segment in scan order. */
template <int V>
static __device__ __forceinline__ uint32_t load_heads(const vscan__scan &scan, int64_t i) {
    if (i > 0 && i + V <= scan.n) {
        if (!scan.backward) return flags_from<V>(scan.flags, scan.flag_type, i);
        const uint32_t mask = flags_from<V>(scan.flags, scan.flag_type, scan.n - i - (V - 1));
        return __brev(mask) >> (32 - V);
    }
    uint32_t mask = 0;
#pragma unroll
    for (int j = 0; j < V; ++j) {
        if (i + j >= scan.n) break;
        if (i + j == 0 || head_at(scan, i + j)) mask |= 1u << j;
    }
    return mask;
}

} /* namespace vscan */

#endif
