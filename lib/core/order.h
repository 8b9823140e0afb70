/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order in which float and double plus add: the nested order. Both backends follow it to the
 * bit, and it is part of the contract of a major version: change nothing here without changing
 * tests/golden/.
 *
 * Elements are counted in the direction of the scan: from element 0 forward, from element n - 1
 * backward. The vector is cut into blocks of several levels, each block into whole blocks of the
 * level below; the last level is the vector itself.
 *
 *     level 0   VSCAN__GROUP elements, a group
 *     level 1   VSCAN__LEVEL_1 elements
 *     level 2   VSCAN__TILE_FLOAT or VSCAN__TILE_DOUBLE elements, a tile: 64 KiB
 *     level 3   VSCAN__LEVEL_3 elements
 *     level 4   everything
 *
 * 1. Inside a group, X0[i] is the prefix that the Sklansky network gives (J. Sklansky,
 *    Conditional-sum addition logic, 1960): for half = 1, 2, 4, 8, 16 the last value of each left
 *    half is added to its whole right half, left + right.
 * 2. Above it there is one rule, for k = 1, 2, 3, 4:
 *
 *        Xk[i] = Rk + X(k-1)[i]
 *
 *    where Rk is Xk at the end of the preceding block of level k - 1 inside the same block of level
 *    k, and nothing in its first one. R4 begins with the initial value, or nothing.
 * 3. Inclusive out[i] = X4[i] = R4 + (R3 + (R2 + (R1 + X0[i]))). Exclusive out[i] is the inclusive
 *    result before it, and for i = 0 the initial value, or +0.0. The total is the last inclusive
 *    result.
 * 4. In a segmented scan by head flags, what lies before a segment's first element is absent at every level; R4
 *    then begins with the initial value again. So a segmented scan without flags has the bits of
 *    the scan.
 *
 * -0.0 is what "nothing" and "absent" are computed as: -0.0 + x has the bits of x for every x.
 *
 * It follows that results are monotone: where no element is negative, no result is smaller than the
 * one before it. Rounding is monotone, Xk[i] >= Xk[i - 1] inside a block of level k - 1 because
 * X(k-1) is monotone there, and at such a block's begin because X(k-1) >= 0 is added to Rk, which
 * is Xk[i - 1]. And what comes after an element depends on what came before only through one value
 * a level and at most five sums of halves of the element's group.
 *
 * Why these sizes: benchmarks/notes/order_of_addition.md.
 */
#ifndef VSCAN_ORDER_H
#define VSCAN_ORDER_H

#ifndef VSCAN__LOG2_LEVEL_3
#define VSCAN__LOG2_LEVEL_3 24 /* a test may define it smaller, to reach level 4 with less */
#endif

enum {
    VSCAN__GROUP = 32,                        /* elements of a block of level 0 */
    VSCAN__LEVEL_1 = 1024,                    /* 32 groups */
    VSCAN__TILE_FLOAT = 16384,                /* level 2, 4-byte values: 16 blocks of level 1 */
    VSCAN__TILE_DOUBLE = 8192,                /* level 2, 8-byte values: 8 blocks of level 1 */
    VSCAN__LEVEL_3 = 1 << VSCAN__LOG2_LEVEL_3 /* 1024 or 2048 tiles */
};

#endif
