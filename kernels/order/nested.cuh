/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The nested order of lib/core/order.h in the kernels: the sizes of its levels by type, what
 * precedes a tile, and the chain of additions of one level.
 */
#pragma once

#include <stdint.h>

#include "elements/operators.cuh"
#include "core/order.h"

namespace vscan {

/* How many blocks of the level below a block has. */
template <class T>
struct nested {
    static constexpr int tile = sizeof(T) == 8 ? VSCAN__TILE_DOUBLE : VSCAN__TILE_FLOAT;
    static constexpr int groups = VSCAN__LEVEL_1 / VSCAN__GROUP; /* of a block of level 1 */
    static constexpr int blocks = tile / VSCAN__LEVEL_1;         /* of level 1, of a tile */
    static constexpr int tiles = VSCAN__LEVEL_3 / tile;          /* of a block of level 3 */
    static constexpr int tile_groups = tile / VSCAN__GROUP;
    static_assert(tiles > 0 && tiles * tile == VSCAN__LEVEL_3, "whole tiles");
};

/*
 * What precedes a tile: R3, the sum of the tiles before it in its block of level 3, and R4, the
 * initial value and all blocks of level 3 before that. Where any order suits, all is in R4.
 */
template <class Pair>
struct before_tile {
    using U = typename Pair::U;
    U r3, r4;

    static DEVICE before_tile from(U initial) { return {Pair::identity, initial}; }
    /* A segment begins in the tile that is passed next: what was before it is absent. */
    DEVICE void cut(U initial) {
        r3 = Pair::identity;
        r4 = initial;
    }
    /* Passes tile number `tile`, whose sum (X2 at its end) is `sum`. */
    template <class Index>
    DEVICE void pass(Index tile, U sum) {
        if constexpr (Pair::in_any_order) {
            r4 = Pair::combine(r4, sum);
        } else {
            r3 = Pair::combine(r3, sum);
            if ((uint32_t)(tile + 1) % nested<typename Pair::T>::tiles == 0) {
                r4 = Pair::combine(r4, r3);
                r3 = Pair::identity;
            }
        }
    }
    /* Whether one of so many tiles is the last of its block of level 3. */
    template <class Index>
    DEVICE bool ends_level_3(Index tile, int tiles) const {
        constexpr int all = nested<typename Pair::T>::tiles;
        return (int)((uint32_t)tile % all) + tiles >= all;
    }
    /* X4 from X2. */
    DEVICE U sum(U x2) const {
        if constexpr (Pair::in_any_order) return Pair::combine(r4, x2);
        return Pair::combine(r4, Pair::combine(r3, x2));
    }
};

} /* namespace vscan */
