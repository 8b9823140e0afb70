/* SPDX-License-Identifier: Apache-2.0 */
#include "vectors.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "reference.h"

/* ---- Contents -------------------------------------------------------------------------------- */

static int64_t special_integer(uint64_t r, int64_t least, int64_t most) {
    const int64_t special[] = {0,  1,  -1,    2,    31,        32,   33,       63,
                               64, -2, least, most, least + 1, 1000, most - 1, 0};
    return special[r % (sizeof special / sizeof special[0])];
}

static double special_real(uint64_t r, bool is_double) {
    const double of_float[] = {0x1p-149, 0x1p-126, FLT_MAX, 0x1p24};
    const double of_double[] = {0x1p-1074, 0x1p-1022, DBL_MAX, 0x1p53};
    const double common[] = {0,       1,       0.5,          INFINITY, NAN,  0x1p31,
                             0x1p63,  0x1p-31, 2147483647.0, 1.5,      -0.5, 0.99999994,
                             -0x1p31, 1e9,     16777217.0,   3};
    const uint64_t k = r >> 1 & 31;
    const double x = k < 4 ? (is_double ? of_double : of_float)[k] : common[k % 16];
    return r & 1 ? -x : x;
}

static void put(vscan_type type, void *v, int64_t i, uint64_t r, uint64_t s) {
    const bool special = s % 8 < 2, small = s % 8 < 6;
    int32_t as_int = (int32_t)(uint32_t)r;
    int64_t as_long = (int64_t)r;
    float as_float;
    double as_double;
    memcpy(&as_float, &as_int, 4);
    memcpy(&as_double, &as_long, 8);
    const int64_t little = (int64_t)(r % 2001) - 1000;
    switch (type) {
    case VSCAN_INT:
        if (small) as_int = (int32_t)little;
        if (special) as_int = (int32_t)special_integer(r, INT32_MIN, INT32_MAX);
        ((int32_t *)v)[i] = as_int;
        break;
    case VSCAN_LONG:
        if (small) as_long = little;
        if (special) as_long = special_integer(r, INT64_MIN, INT64_MAX);
        ((int64_t *)v)[i] = as_long;
        break;
    case VSCAN_FLOAT:
        if (small) as_float = (float)little / 7;
        if (special) as_float = (float)special_real(r, false);
        ((float *)v)[i] = as_float;
        break;
    case VSCAN_DOUBLE:
        if (small) as_double = (double)little / 7;
        if (special) as_double = special_real(r, true);
        ((double *)v)[i] = as_double;
        break;
    case VSCAN_BYTE:
        ((uint8_t *)v)[i] = (uint8_t)(s & 64 ? 0 : r);
        break;
    case VSCAN_UINT8:
        if (small) r %= 5;
        if (special) r = r & 1 ? 127 + (r >> 1 & 1) : r & 2 ? 255 : 0;
        ((uint8_t *)v)[i] = (uint8_t)r;
        break;
    default: /* bits: 32 at a time */
        break;
    }
}

void maps_fill(vscan_type type, int64_t n, struct inputs_random *random, void *v) {
    if (type == VSCAN_BIT)
        for (int64_t i = 0; i < (n + 31) / 32; i++)
            ((uint32_t *)v)[i] = (uint32_t)inputs_next(random);
    else
        for (int64_t i = 0; i < n; i++) put(type, v, i, inputs_next(random), inputs_next(random));
}

/* ---- Elements -------------------------------------------------------------------------------- */

bool maps_flag(vscan_type type, const void *flags, int64_t i) {
    if (type == VSCAN_INT) return ((const int32_t *)flags)[i] != 0;
    if (type == VSCAN_BYTE) return ((const uint8_t *)flags)[i] != 0;
    return ((const uint32_t *)flags)[i / 32] >> i % 32 & 1;
}

void maps_put_flag(vscan_type type, void *flags, int64_t i, bool set) {
    if (type == VSCAN_INT) {
        ((int32_t *)flags)[i] = set;
    } else if (type == VSCAN_BYTE) {
        ((uint8_t *)flags)[i] = set;
    } else {
        uint32_t *word = (uint32_t *)flags + i / 32;
        const uint32_t bit = UINT32_C(1) << i % 32;
        *word = set ? *word | bit : *word & ~bit;
    }
}

