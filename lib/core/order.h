/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order in which float and double plus add. Both backends follow it to the bit, and it is part
 * of the contract of a major version: change nothing here without changing tests/golden/.
 *
 * Elements are counted in the direction of the scan: from element 0 forward, from element n - 1
 * backward. Let B(v) be the sum of a vector v by the balanced binary tree: v is padded at its end
 * with -0.0 (which changes no bit of any sum) to a power of two, and neighbours are added, (v0 +
 * v1), (v2 + v3), ..., then neighbours of these, until one value is left.
 *
 * 1. The vector is cut into tiles of VSCAN__TILE_FLOAT or VSCAN__TILE_DOUBLE elements, 64 KiB both.
 * 2. Inside a tile x, with G = VSCAN__GROUP and i + 1 = G q + r, 0 <= r < G, the local prefix is
 *
 *        L[i] = B(x[0 .. G q)) + B(x[G q .. G q + r))
 *
 *    where, if one of the two ranges is empty, L[i] is the other term alone. In words: one tree over
 *    the whole groups before i + 1, one over the rest of the current group, and one addition.
 *    The tile's aggregate is A = L[last], so for a full tile A = B(x).
 * 3. Tiles are added strictly from left to right: P(0) = the initial value, or nothing;
 *    P(t + 1) = P(t) + A(t). Inclusive out[i] = P(t) + L[i]; exclusive out[i] is the inclusive
 *    result before it, and for i = 0 the initial value, or +0.0.
 * 4. A segmented scan adds in the same places. Elements before the segment's first one are absent:
 *    they count as -0.0 in the trees, and P(t) holds only what belongs to the segment open at the
 *    start of tile t, from its first tile on. The initial value z is added to a segment's first
 *    element, z + x, before everything else.
 *
 * -0.0 is what "nothing" and "absent" may be computed as: -0.0 + x has the bits of x for every x.
 *
 * Prefixes under a balanced tree are those of the Sklansky network (J. Sklansky, Conditional-sum
 * addition logic, 1960): at level k the last value of a left half of 2^k is added to its whole
 * right half. B(x[0 .. m)) is what that network holds at element m - 1.
 *
 * Why this tree. A network can be split at every power of two, so a lane may hold 2 or 4 elements, a
 * CPU vector 4 to 16, and several blocks may share a tile and exchange the totals of its parts; all
 * get the same bits. The network over a whole tile would cost every element an addition in half of the
 * 14 levels. With groups it costs those of 5 levels and one more, and the upper levels run over one
 * value a group. benchmarks/notes/order_of_addition.md has the two measured side by side.
 */
#ifndef VSCAN_ORDER_H
#define VSCAN_ORDER_H

enum {
    VSCAN__GROUP = 32,         /* elements of a group: 2^5 */
    VSCAN__TILE_FLOAT = 16384, /* elements of a tile, 4-byte values: 2^14, 512 groups */
    VSCAN__TILE_DOUBLE = 8192  /* elements of a tile, 8-byte values: 2^13, 256 groups */
};

#endif
