/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Elements as integers of which the greatest is the maximum, or with turn -1 the minimum. In negative
 * numbers all bits but the sign are inverted, so that -0 is below +0; for the minimum all bits are inverted
 * then. Every NaN is the greatest integer, which no number becomes.
 */
#ifndef VSCAN_CPU_SIMD_EXTREME_H
#define VSCAN_CPU_SIMD_EXTREME_H

#include <stdbool.h>
#include <stdint.h>

static inline int32_t vscan__extreme_key_int(int32_t x, int32_t turn) {
    return x ^ turn;
}
static inline int64_t vscan__extreme_key_long(int64_t x, int32_t turn) {
    return x ^ turn;
}

/* of: the bits of a number. By masks, which a compiler makes vectors of. */
#define EXTREME_KEY(name, I, MAX, INFINITE)                                                        \
    static inline I vscan__extreme_key_##name(I of, int32_t turn) {                                \
        const I negative = -(I)(of < 0), nan = -(I)((of & MAX) > (INFINITE));                      \
        return ((of ^ (negative & MAX) ^ turn) & ~nan) | (nan & MAX);                              \
    }
EXTREME_KEY(float, int32_t, INT32_MAX, 0x7f800000)
EXTREME_KEY(double, int64_t, INT64_MAX, INT64_C(0x7ff0000000000000))
#undef EXTREME_KEY

/* The element with that key, its bits. The key of all NaNs becomes a NaN. size: bytes of an element. */
static inline int64_t vscan__extreme_element(int64_t key, int32_t turn, bool real, int64_t size) {
    const int64_t turned = key ^ turn;
    if (turned >= 0 || !real) return turned;
    return turned ^ (size == 4 ? INT32_MAX : INT64_MAX);
}

#endif
