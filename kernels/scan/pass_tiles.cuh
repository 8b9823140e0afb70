/* SPDX-License-Identifier: Apache-2.0 */
/* What the look-backs over whole tiles share: scan/large/prefix.cuh, scan/portable/portable.cuh. */
#pragma once

#include "machine/warp.cuh"
#include "order/nested.cuh"

namespace vscan {

/*
 * Passes so many tiles from number `tile` on, 32 at most, from left to right. Lane j has the sum a
 * of the j-th, the identity beyond the last. Where a block of level 3 ends among them, first those
 * up to its end are passed, the others being identities, and then the rest.
 */
template <class Pair>
static DEVICE void pass_tiles(typename Pair::U &r3, typename Pair::U &r4, typename Pair::U a,
                              uint32_t tile, int count, typename Pair::U *aggregates, int lane) {
    using U = typename Pair::U;
    constexpr int tiles = nested<typename Pair::T>::tiles, V = 16 / (int)sizeof(U);
    for (int from = 0, to;; from = to) {
        to = from + tiles - (int)((tile + (uint32_t)from) % tiles); /* to the end of its block */
        aggregates[lane] = from <= lane && lane < to ? a : Pair::identity;
        __syncwarp();
        UNROLL_FOR (int q = 0; q < 32 / V; ++q) {
            U next[V];
            const int4 quad = ((const int4 *)aggregates)[q];
            memcpy(next, &quad, 16);
            UNROLL_FOR (int j = 0; j < V; ++j) r3 = Pair::combine(r3, next[j]);
        }
        __syncwarp();
        if (count < to) return;
        r4 = Pair::combine(r4, r3);
        r3 = Pair::identity;
        if (count == to) return;
    }
}

} /* namespace vscan */
