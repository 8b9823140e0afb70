/* SPDX-License-Identifier: Apache-2.0 */
/*
 * B(v) of core/order.h, the balanced tree, over vectors of elements and over keys in memory. Included
 * once for each kind of element, after keys.h, by aggregate.h and sum.h.
 */

/* (a0 + a1), (a2 + a3), ..., (b0 + b1), ...: one level of the tree. */
static ALWAYS_INLINE vec NAME(pairs)(enum vscan_op op, vec a, vec b) {
    return NAME(combine)(op, SHUFFLE(ivec, a, b, LANE_PATTERN(EVEN)),
                         SHUFFLE(ivec, a, b, LANE_PATTERN(ODD)));
}

/* The sums of twice as many adjacent vectors as half_name's, which has `half`. Written as a recursion
   so that few vectors are alive at a time. */
#define TREE_OF(name, half_name, half)                                                             \
    static ALWAYS_INLINE vec NAME(name)(enum vscan_op op, const T *from) {                         \
        return NAME(pairs)(op, NAME(half_name)(op, from),                                          \
                           NAME(half_name)(op, from + half * LANES));                              \
    }

/* B of n keys, n a power of two; overwrites them. */
static ALWAYS_INLINE K NAME(balanced)(enum vscan_op op, K *x, int64_t n) {
    for (; n >= 2 * LANES; n /= 2) {
        for (int64_t i = 0; i < n / 2; i += LANES) NAME(store_keys)
        (x + i, NAME(pairs)(op, NAME(load_keys)(x + 2 * i), NAME(load_keys)(x + 2 * i + LANES)));
    }
    for (; n > 1; n /= 2) {
        for (int64_t i = 0; i < n / 2; i++) x[i] = NAME(combine1)(op, x[2 * i], x[2 * i + 1]);
    }
    return x[0];
}
