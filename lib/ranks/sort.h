/* SPDX-License-Identifier: Apache-2.0 */
/* The order of keys, and merges of sorted runs. */
#ifndef VSCAN_RANKS_SORT_H
#define VSCAN_RANKS_SORT_H

#include <stdbool.h>

#include "move.h"

/* How keys compare: as unsigned numbers of so many bits. */
struct vscan__ranks_order {
    vscan_type type;
    bool descending;
    int first_bit, bits;
};

#define INLINE static inline __attribute__((always_inline))

/* A float's bits, or a double's, as a number in the order of vscan_sort: all NaNs are the last one. */
INLINE uint64_t vscan__ranks_ordered_float(uint64_t bits, uint64_t sign, uint64_t infinity) {
    const uint64_t magnitude = bits & (sign - 1);
    if (magnitude > infinity) return sign | (sign - 1);
    return (bits & sign) != 0 ? sign - 1 - magnitude : sign | magnitude;
}

/* Key i as such a number. type: the order's; a constant where time matters. */
INLINE uint64_t vscan__ranks_ordered(const struct vscan__ranks_order *order, vscan_type type,
                                     const char *keys, int64_t i) {
    const bool is_short = type == VSCAN_INT || type == VSCAN_FLOAT;
    const uint64_t sign = UINT64_C(1) << (is_short ? 31 : 63);
    const uint64_t bits = is_short ? ((const uint32_t *)(const void *)keys)[i]
                                   : ((const uint64_t *)(const void *)keys)[i];
    uint64_t key = bits ^ sign;
    if (type == VSCAN_FLOAT) key = vscan__ranks_ordered_float(bits, sign, UINT64_C(0xff) << 23);
    if (type == VSCAN_DOUBLE) key = vscan__ranks_ordered_float(bits, sign, UINT64_C(0x7ff) << 52);
    key = (key >> order->first_bit) ^ (order->descending ? UINT64_MAX : 0);
    return key & (UINT64_MAX >> (64 - order->bits));
}

/* Elements on the host; values: NULL where there are none. */
struct vscan__ranks_elements {
    char *keys, *values;
};

/* How often vscan__ranks_merge reads and writes every element. */
int vscan__ranks_merges_of(int runs);

/*
 * Merges sorted runs of floats or doubles, stable: elements begin[r] .. begin[r + 1] - 1 are run r. They lie in `from`
 * where there is an odd number of merges, in `to` where it is even; the other one has room for them. The result is in
 * `to`.
 * value_size: bytes, 0 where there are no values.
 */
void vscan__ranks_merge(const struct vscan__ranks_order *order, int64_t value_size,
                        const int64_t *begin, int runs, struct vscan__ranks_elements from,
                        struct vscan__ranks_elements to);

#endif
