/* SPDX-License-Identifier: Apache-2.0 */
/* The unsigned numbers that keys compare as, in sorts and in sorted vectors. */
#ifndef VSCAN_CPU_KEY_ORDER_H
#define VSCAN_CPU_KEY_ORDER_H

#include <stdbool.h>
#include <stdint.h>

/* min((x ^ (x < 0 ? turned : 0)) + shift, most), where integers get their sign bit turned over, and
   floating point comes to begin at -infinity and to end at NaN, any of them. */
struct vscan__key_order {
    uint64_t turned, shift, most;
};

static inline struct vscan__key_order vscan__key_order_of(int key_size, bool real) {
    const uint64_t sign = UINT64_C(1) << (8 * key_size - 1);
    const uint64_t infinity = key_size == 8 ? UINT64_C(0x7ff0000000000000) : 0x7f800000;
    if (real) return (struct vscan__key_order){sign - 1, infinity + 1, 2 * infinity + 2};
    return (struct vscan__key_order){0, sign, UINT64_MAX};
}

/* Of key i. */
static inline __attribute__((always_inline)) uint64_t
vscan__key_number(const struct vscan__key_order *order, int key_size, const void *keys, int64_t i) {
    if (key_size == 4) {
        const uint32_t x = ((const uint32_t *)keys)[i];
        const uint32_t y =
            (x ^ ((0 - (x >> 31)) & (uint32_t)order->turned)) + (uint32_t)order->shift;
        return y < (uint32_t)order->most ? y : (uint32_t)order->most;
    }
    const uint64_t x = ((const uint64_t *)keys)[i];
    const uint64_t y = (x ^ ((0 - (x >> 63)) & order->turned)) + order->shift;
    return y < order->most ? y : order->most;
}

#endif
