/* SPDX-License-Identifier: Apache-2.0 */
/* The order of keys, for sorts and for searches in sorted vectors. */
#pragma once

#include "cuda/launch.h"
#include "machine/ptx.cuh"

namespace vscan {

/*
 * A key compares as the unsigned number
 *
 *     min((x ^ (x < 0 ? flipped : 0)) + shift, most)
 *
 * Integers: x with its sign bit flipped. Floating point: in negative numbers the other bits are
 * flipped, too; then -infinity becomes 0, and every NaN, of either sign, becomes the number after
 * +infinity.
 */
struct sort_order {
    unsigned long long flipped, shift, most;
    uint32_t descending; /* ~0: digits are flipped; else 0 */
    int first_bit, bits;
};

template <class K>
static DEVICE K ordered(K x, const sort_order &order) {
    constexpr int top = 8 * (int)sizeof(K) - 1;
    const K negative = (K)0 - (x >> top);
    const K number = (x ^ (negative & (K)order.flipped)) + (K)order.shift;
    return number < (K)order.most ? number : (K)order.most;
}

static inline sort_order order_of(const vscan__sort *sort) {
    const unsigned long long sign = 1ull << (8 * sort->key_size - 1);
    const unsigned long long infinity = sort->key_size == 8 ? 0x7ff0000000000000ull : 0x7f800000u;
    sort_order order = {0, sign, ~0ull, sort->descending ? ~0u : 0, sort->first_bit, sort->bits};
    if (sort->real) {
        order.flipped = sign - 1;
        order.shift = infinity + 1; /* -infinity, flipped, is sign + sign - 1 - infinity */
        order.most = 2 * infinity + 2;
    }
    return order;
}

} /* namespace vscan */
