/* SPDX-License-Identifier: Apache-2.0 */
/*
 * X0 of lib/core/order.h: the network of J. Sklansky (1960) over the elements of a group. In step h = 1, 2, 4, ...
 * the last element of each block of h elements is added to all of the block behind it. Elements of one
 * lane are added in registers (network), those of several lanes by shuffles (network_over_lanes).
 *
 * With Segmented, an element takes what precedes it only where no segment begins in between. heads has a bit
 * for each element of the lane: a segment begins there.
 */
#pragma once

#include "elements/operators.cuh"
#include "machine/warp.cuh"

namespace vscan {

/* Bits from .. lane - 1 of a ballot, for from <= lane. */
static DEVICE unsigned lanes_between(unsigned ballot, int from, int lane) {
    return ballot & ((1u << lane) - (1u << from));
}

/* x[j] becomes the sum of x[0 .. j], or of its segment. */
template <class Pair, bool Segmented = false, int R>
static DEVICE void network(typename Pair::U (&x)[R], uint32_t heads = 0) {
    UNROLL_FOR (int half = 1; half < R; half *= 2) {
        UNROLL_FOR (int j = 0; j < R; ++j) {
            if (!(j & half)) continue;
            const int first = j & ~(half - 1); /* of the right half */
            const uint32_t span = (2u << j) - (1u << first);
            const typename Pair::U sum = Pair::combine(x[first - 1], x[j]);
            x[j] = Segmented && (heads & span) ? x[j] : sum;
        }
    }
}

/* The same for many elements with few heads. Returns, bit j: a segment begins among x[0 .. j]. */
template <class Pair, bool Segmented, int R>
static DEVICE uint32_t network_spreading_heads(typename Pair::U (&x)[R], uint32_t heads) {
    if constexpr (!Segmented) {
        network<Pair>(x);
    } else {
        UNROLL_FOR (int half = 1; half < R; half *= 2) {
            /* heads, bit j: a segment begins in its block of `half` elements, up to x[j] */
            UNROLL_FOR (int j = 0; j < R; ++j)
                if (j & half)
                    combine_where<Pair>(!(heads & 1u << j), x[(j & ~(half - 1)) - 1], x[j]);
            /* the last bits of left halves are carried to all bits of the right halves */
            const uint32_t last = heads & 0xffffffffu / ((1u << half) + 1) / ((1u << half) - 1)
                                              << (half - 1);
            heads |= (last << half) * 2 - last * 2;
        }
    }
    return heads;
}

/*
 * Goes on over a block of Lanes lanes, each with x as network() leaves it.
 *   any          ballot of heads != 0
 *   k            the lane's number among those from first_lane on, a multiple of Lanes lanes
 *   first_lane   of the warp
 *   used         only so many lanes have elements; the same in all lanes
 */
template <class Pair, bool Segmented, int Lanes, int R>
static DEVICE void network_over_lanes(typename Pair::U (&x)[R], uint32_t heads, unsigned any, int k,
                                      int first_lane, int used = Lanes) {
    UNROLL_FOR (int half = 1; half < Lanes; half *= 2) {
        if (half >= used) break;
        const int first = first_lane + (k & ~(half - 1));
        const typename Pair::U left = __shfl_sync(warp_mask, x[R - 1], first - 1);
        bool take = k & half;
        if (Segmented) take = take && lanes_between(any, first, first_lane + k) == 0;
        UNROLL_FOR (int j = 0; j < R; ++j) {
            const bool here = Segmented ? take && (heads & ((2u << j) - 1)) == 0 : take;
            x[j] = Pair::combine(here ? left : Pair::identity, x[j]);
        }
    }
}

/*
 * Both: x[j] becomes the sum of the elements from the beginning of its block of Lanes * V elements, or of its
 * segment, up to itself. Where any order suits, only the sums of lanes go over the lanes.
 */
template <class Pair, bool Segmented, int Lanes, int V>
static DEVICE void sklansky(typename Pair::U (&x)[V], uint32_t heads, unsigned any, int lane,
                            int used = Lanes) {
    using U = typename Pair::U;
    network<Pair, Segmented>(x, heads);
    if constexpr (Pair::in_any_order && V > 1) {
        U upto = x[V - 1];
        UNROLL_FOR (int half = 1; half < Lanes; half *= 2) {
            if (half >= used) break;
            const int first = lane & ~(half - 1);
            const U left = __shfl_sync(warp_mask, upto, first - 1);
            bool take = lane & half;
            if (Segmented) take = take && heads == 0 && lanes_between(any, first, lane) == 0;
            upto = Pair::combine(take ? left : Pair::identity, upto);
        }
        U left = __shfl_up_sync(warp_mask, upto, 1);
        if (lane % Lanes == 0) left = Pair::identity;
        UNROLL_FOR (int j = 0; j + 1 < V; ++j) {
            const bool cut = Segmented && (heads & ((2u << j) - 1));
            x[j] = Pair::combine(cut ? Pair::identity : left, x[j]);
        }
        x[V - 1] = upto;
    } else {
        network_over_lanes<Pair, Segmented, Lanes>(x, heads, any, lane, 0, used);
    }
}

} /* namespace vscan */
