/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a lane loads and stores its consecutive elements of a vector, and their head flags. Positions
 * i count in scan order: in a backward scan position i is element n - 1 - i in memory. So no caller
 * needs to know the direction.
 */
#ifndef VSCAN_ELEMENTS_VECTORS_CUH
#define VSCAN_ELEMENTS_VECTORS_CUH

#include <stdint.h>

#include "cuda/launch.h"
#include "elements/operators.cuh"
#include "machine/ptx.cuh"

namespace vscan {

/* A value of an argument as an element. */
template <class T>
static __device__ __forceinline__ T element_of(const vscan__value &value) {
    T x;
    memcpy(&x, &value, sizeof x);
    return x;
}

/* Whether positions that are multiples of 16 bytes have addresses that are, too; or of fewer. */
template <int Bytes = 16, class T>
static __device__ __forceinline__ bool is_aligned(const T *vector, int64_t n, bool backward) {
    return ((uintptr_t)(backward ? vector + n : vector) & (Bytes - 1)) == 0;
}

/*
 * A lane's 16 bytes of a vector of results, and the elements for them, from position i on. load only
 * issues the loads, and items converts the elements, so that a lane can have several loads in flight
 * before it waits for one. I: int where that is wide enough, which saves instructions, or int64_t.
 */
template <class Pair, int V>
struct lane_items {
    using T = typename Pair::T;
    using In = typename Pair::In;
    static constexpr int in_bytes = V * (int)sizeof(In);
    T raw[V]; /* in memory order; from position n on the identity */

    /* aligned to in_bytes, and all before position n */
    template <class I>
    __device__ __forceinline__ void load_whole(const In *in, I i, I n, bool backward) {
        const In *const from = backward ? in + (n - V - i) : in + i;
        if constexpr (in_bytes == 16) {
            const int4 quad = *(const int4 *)from;
            memcpy(raw, &quad, 16);
        } else {
            static_assert(V == 2 && in_bytes == 8, "two ints for two longs");
            const int2 two = *(const int2 *)from;
            raw[0] = two.x;
            raw[1] = two.y;
        }
    }

    template <class I>
    __device__ __forceinline__ void load(const In *in, I i, I n, bool backward,
                                         const pair_transform &transform) {
        const In *const from = backward ? in + (n - V - i) : in + i;
#pragma unroll
        for (int j = 0; j < V; ++j)
            raw[j] = i + (backward ? V - 1 - j : j) < n ? (T)from[j]
                                                        : Pair::out(Pair::identity, transform);
    }

    /* x[j] = Pair::in(element at position i + j), or the identity from position n on */
    __device__ __forceinline__ void items(typename Pair::U (&x)[V], bool backward,
                                          const pair_transform &transform) const {
#pragma unroll
        for (int j = 0; j < V; ++j) x[j] = Pair::in(backward ? raw[V - 1 - j] : raw[j], transform);
    }

    __device__ __forceinline__ void results(const typename Pair::U (&y)[V], bool backward,
                                            const pair_transform &transform) {
#pragma unroll
        for (int j = 0; j < V; ++j) raw[j] = Pair::out(backward ? y[V - 1 - j] : y[j], transform);
    }

    template <class I>
    __device__ __forceinline__ void store_whole(T *out, I i, I n, bool backward) const {
        int4 quad;
        memcpy(&quad, raw, 16);
        *(int4 *)(backward ? out + (n - V - i) : out + i) = quad;
    }

    template <class I>
    __device__ __forceinline__ void store(T *out, I i, I n, bool backward) const {
        T *const to = backward ? out + (n - V - i) : out + i;
#pragma unroll
        for (int j = 0; j < V; ++j)
            if (i + (backward ? V - 1 - j : j) < n) to[j] = raw[j];
    }
};

/* Four ints as four bits: 1 where the int is not 0. */
static __device__ __forceinline__ uint32_t bits_of_ints(int4 x) {
    return (is_not_0(x.w) * 2 + is_not_0(x.z)) * 4 + (is_not_0(x.y) * 2 + is_not_0(x.x));
}

/* Four bytes as four bits, 1 where the byte is not 0, which are shifted into bits from the
   right. */
static __device__ __forceinline__ uint32_t push_bytes(uint32_t bits, uint32_t bytes) {
    const uint32_t low = 0x7f7f7f7f, any = ((bytes & low) + low) | bytes; /* bit 7 of each byte */
    /* the product moves bit 8 j + 7 to bit 28 + j; no two bits of it coincide */
    return __funnelshift_l((any & ~low) * 0x00204081u, bits, 4);
}

/* Four bits as four bytes. */
static __device__ __forceinline__ uint32_t bytes_of_bits(uint32_t bits) {
    return bits * 0x00204081u & 0x01010101u; /* the product copies bit j to bit 8 j */
}

/* Logarithm of the bits that a flag takes. */
static __host__ __device__ __forceinline__ int log_bits_of_flags(int type) {
    return type == VSCAN_INT ? 5 : type == VSCAN_BYTE ? 3 : 0;
}

/* Flag number `at` in memory. */
static __device__ __forceinline__ uint32_t flag_at(const void *flags, int type, int64_t at) {
    if (type == VSCAN_INT) return ((const int32_t *)flags)[at] != 0;
    if (type == VSCAN_BYTE) return ((const uint8_t *)flags)[at] != 0;
    return ((const uint32_t *)flags)[at >> 5] >> (at & 31) & 1;
}

/*
 * Whether the element at position i > 0 is the first of its segment in scan order. In a backward
 * scan this is so if the element before it in scan order, the next one in memory, has its flag set.
 */
static __device__ __forceinline__ uint32_t head_at(const vscan__scan &scan, int64_t i) {
    return flag_at(scan.flags, scan.flag_type, scan.backward ? scan.n - i : i);
}

/* The head flags of a lane's V elements from position i on; load only issues the loads, as
   above. */
template <int V>
struct lane_heads {
    uint32_t raw[V];
    bool slow; /* at an end of the vector: nothing is loaded, bits does all the work */

    /* index of the first flag in memory */
    static __device__ __forceinline__ int64_t first(const vscan__scan &scan, int64_t i) {
        return scan.backward ? scan.n - i - (V - 1) : i;
    }

    /* V flags of int from an aligned address on */
    __device__ __forceinline__ void load_ints(const int32_t *from) {
        if (V == 4) {
            const int4 quad = *(const int4 *)from;
            memcpy(raw, &quad, sizeof raw);
        } else {
            const int2 two = *(const int2 *)from;
            memcpy(raw, &two, sizeof raw);
        }
    }

    template <int Type>
    __device__ __forceinline__ void load(const vscan__scan &scan, int64_t i) {
        const int64_t at = first(scan, i);
        /* whole 32-bit words are read, so the next 3 flags must exist, too */
        slow = at <= 0 || at + V + 3 > scan.n;
        if (slow) return;
        if (Type == VSCAN_INT) {
            const int32_t *const from = (const int32_t *)scan.flags + at;
            if (((uintptr_t)from & (4 * V - 1)) == 0) {
                load_ints(from);
            } else {
#pragma unroll
                for (int j = 0; j < V; ++j) raw[j] = (uint32_t)from[j];
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
    static __device__ __forceinline__ bool are_whole(const vscan__scan &scan) {
        return ((uintptr_t)scan.flags & (scan.flag_type == VSCAN_INT ? 4 * V - 1 : 3)) == 0;
    }
    template <int Type>
    __device__ __forceinline__ void load_whole(const vscan__scan &scan, int i) {
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
    __device__ __forceinline__ uint32_t bits(const vscan__scan &scan, int64_t i) const {
        uint32_t mask = 0;
        if (slow) {
#pragma unroll
            for (int j = 0; j < V; ++j) {
                if (i + j >= scan.n) break;
                if (i + j == 0 || head_at(scan, i + j)) mask |= 1u << j;
            }
            return mask;
        }
        const int64_t at = first(scan, i);
        if (Type == VSCAN_INT) {
#pragma unroll
            for (int j = 0; j < V; ++j) mask |= (uint32_t)(raw[j] != 0) << j;
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
static __device__ __forceinline__ void with_flag_type(int type, const Use &use) {
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
static __device__ __forceinline__ void load_heads(lane_heads<V> (&flags)[Rows],
                                                  const vscan__scan &scan, int64_t i, int step) {
    with_flag_type(scan.flag_type, [&](auto type) {
#pragma unroll
        for (int r = 0; r < Rows; ++r) {
            constexpr int Type = decltype(type)::value;
            if constexpr (Whole)
                flags[r].template load_whole<Type>(scan, (int)i + r * step);
            else
                flags[r].template load<Type>(scan, i + r * step);
        }
    });
}

template <int Rows, int V>
static __device__ __forceinline__ void bits_of_heads(uint32_t (&heads)[Rows],
                                                     const lane_heads<V> (&flags)[Rows],
                                                     const vscan__scan &scan, int64_t i, int step) {
    with_flag_type(scan.flag_type, [&](auto type) {
#pragma unroll
        for (int r = 0; r < Rows; ++r)
            heads[r] = flags[r].template bits<decltype(type)::value>(scan, i + r * step);
    });
}

} /* namespace vscan */

#endif
