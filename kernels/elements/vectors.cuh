/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a lane loads and stores its consecutive elements of a vector. Positions i count in scan order:
 * in a backward scan position i is element n - 1 - i in memory. So no caller needs to know the
 * direction. Their head flags: elements/flags.cuh.
 */
#pragma once

#include <stdint.h>

#include "cuda/launch.h"
#include "elements/flags.cuh"
#include "elements/operators.cuh"
#include "machine/ptx.cuh"

namespace vscan {

/* A value of an argument as an element. */
template <class T>
static DEVICE T element_of(const vscan__value &value) {
    T x;
    memcpy(&x, &value, sizeof x);
    return x;
}

/* Whether positions that are multiples of Bytes bytes have addresses that are, too. */
template <int Bytes = 16, class T>
static DEVICE bool is_aligned(const T *vector, int64_t n, bool backward) {
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
    DEVICE void load_whole(const In *in, I i, I n, bool backward) {
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
    DEVICE void load(const In *in, I i, I n, bool backward, const pair_transform &transform) {
        const In *const from = backward ? in + (n - V - i) : in + i;
        UNROLL_FOR (int j = 0; j < V; ++j)
            raw[j] = i + (backward ? V - 1 - j : j) < n ? (T)from[j]
                                                        : Pair::out(Pair::identity, transform);
    }

    /* x[j] = Pair::in(element at position i + j), or the identity from position n on */
    DEVICE void items(typename Pair::U (&x)[V], bool backward,
                      const pair_transform &transform) const {
        UNROLL_FOR (int j = 0; j < V; ++j)
            x[j] = Pair::in(backward ? raw[V - 1 - j] : raw[j], transform);
    }

    DEVICE void results(const typename Pair::U (&y)[V], bool backward,
                        const pair_transform &transform) {
        UNROLL_FOR (int j = 0; j < V; ++j)
            raw[j] = Pair::out(backward ? y[V - 1 - j] : y[j], transform);
    }

    template <class I>
    DEVICE void store_whole(T *out, I i, I n, bool backward) const {
        int4 quad;
        memcpy(&quad, raw, 16);
        *(int4 *)(backward ? out + (n - V - i) : out + i) = quad;
    }

    template <class I>
    DEVICE void store(T *out, I i, I n, bool backward) const {
        T *const to = backward ? out + (n - V - i) : out + i;
        UNROLL_FOR (int j = 0; j < V; ++j)
            if (i + (backward ? V - 1 - j : j) < n) to[j] = raw[j];
    }
};

} /* namespace vscan */
