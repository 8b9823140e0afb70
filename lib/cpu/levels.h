/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What precedes a tile: R3 and R4 of core/order.h. A tile's sum, X2 at its end, is all that it adds.
 * Pairs for which any order gives the same bits go through the same levels.
 *
 * A scan that is to begin inside a tile needs R1 and R2 beside them, and of an unfinished group the
 * sums of at most five halves: with each of these in its half's last lane, and nothing in the lanes
 * before, the network goes on as if the group's elements were there.
 */
#ifndef VSCAN_CPU_LEVELS_H
#define VSCAN_CPU_LEVELS_H

#include "cpu/simd/simd.h"

/* At the vector's begin; an initial value becomes r4. */
static inline struct vscan__cpu_levels vscan__cpu_begin(const struct vscan__cpu_pair *pair) {
    const union vscan__value identity = pair->identity();
    return (struct vscan__cpu_levels){.r3 = identity, .r4 = identity};
}

/* A segment begins in the tile that is passed next. */
static inline void vscan__cpu_cut(const struct vscan__cpu_pair *pair,
                                  struct vscan__cpu_levels *levels, union vscan__value initial) {
    levels->r3 = pair->identity();
    levels->r4 = initial;
}

/* Passes a tile. */
static inline void vscan__cpu_pass(const struct vscan__cpu_pair *pair,
                                   struct vscan__cpu_levels *levels, union vscan__value sum) {
    levels->r3 = pair->combine(levels->r3, sum);
    if (++levels->tiles * pair->tile < VSCAN__LEVEL_3) return;
    levels->r4 = pair->combine(levels->r4, levels->r3);
    levels->r3 = pair->identity();
    levels->tiles = 0;
}

/* The inclusive result at the last element so far. */
static inline union vscan__value vscan__cpu_last(const struct vscan__cpu_pair *pair,
                                                 const struct vscan__cpu_levels *levels) {
    return pair->combine(levels->r4, levels->r3);
}

#endif
