/* SPDX-License-Identifier: Apache-2.0 */
/* Test inputs; see inputs.h. Values are composed of bits, so that they are the same everywhere. */
#include "inputs.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

uint64_t inputs_next(struct inputs_random *random) {
    uint64_t z = random->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

int64_t inputs_below(struct inputs_random *random, int64_t bound) {
    return (int64_t)(inputs_next(random) % (uint64_t)bound);
}

const char *inputs_name(enum inputs_pattern pattern) {
    static const char *const names[INPUTS_PATTERNS] = {
        [INPUTS_RANDOM] = "random",         [INPUTS_CONSTANT] = "constant",
        [INPUTS_EQUAL] = "equal",           [INPUTS_SAWTOOTH] = "sawtooth",
        [INPUTS_EXTREMES] = "extremes",     [INPUTS_NAN_FIRST] = "nan_first",
        [INPUTS_NAN_MIDDLE] = "nan_middle", [INPUTS_NAN_LAST] = "nan_last",
        [INPUTS_INFINITE] = "infinite",     [INPUTS_ZEROS] = "zeros",
        [INPUTS_DENORMAL] = "denormal",     [INPUTS_OVERFLOW] = "overflow",
        [INPUTS_RARE_ZERO] = "rare_zero",   [INPUTS_RARE_ONE] = "rare_one",
    };
    return names[pattern];
}

/* ---- One value ------------------------------------------------------------------------------- */

static float float_of(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static double double_of(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint32_t sign_float(uint64_t r) {
    return (uint32_t)(r & 1) << 31;
}
static uint64_t sign_double(uint64_t r) {
    return (r & 1) << 63;
}

/* sign, an exponent of -10 .. 10, a mantissa: of separate bits of r */
static float random_float(uint64_t r) {
    const uint32_t exponent = 117 + (uint32_t)(r >> 1 & 0xffff) % 21;
    return float_of(sign_float(r) | exponent << 23 | (uint32_t)(r >> 41));
}

static double random_double(uint64_t r, uint64_t s) {
    const uint64_t exponent = 1013 + (r >> 1 & 0xffff) % 21;
    return double_of(sign_double(r) | exponent << 52 | s >> 12);
}

static int32_t int_value(enum inputs_pattern pattern, int64_t i, uint64_t r, uint64_t fixed) {
    const int32_t ordinary = (int32_t)(r >> 40) - (1 << 23);
    switch (pattern) {
    case INPUTS_CONSTANT:
        return 1;
    case INPUTS_EQUAL:
        return (int32_t)(uint32_t)fixed;
    case INPUTS_SAWTOOTH:
        return (int32_t)(i % 17) - 8;
    case INPUTS_EXTREMES:
        return r & 2 ? ordinary : (r & 1 ? INT32_MAX : INT32_MIN);
    case INPUTS_INFINITE:
        if (r % 50 != 0) return ordinary;
        return r >> 63 ? INT32_MAX : INT32_MIN;
    case INPUTS_ZEROS:
        return r % 100 == 0 ? ordinary : 0;
    case INPUTS_DENORMAL:
        return (int32_t)(r % 3) - 1;
    case INPUTS_OVERFLOW:
        return (int32_t)(uint32_t)r;
    case INPUTS_RARE_ZERO:
        return (int32_t) ~(r % 700 == 0 ? UINT32_C(1) << (r >> 59) : 0);
    case INPUTS_RARE_ONE:
        return (int32_t)(r % 700 == 0 ? UINT32_C(1) << (r >> 59) : 0);
    default:
        return ordinary;
    }
}

/* Ordinary ones are of 47 bits, so that both halves of sums, and what is carried between them, matter. */
static int64_t long_value(enum inputs_pattern pattern, int64_t i, uint64_t r, uint64_t fixed) {
    const int64_t ordinary = (int64_t)(r >> 17) - (INT64_C(1) << 46);
    switch (pattern) {
    case INPUTS_CONSTANT:
        return 1;
    case INPUTS_EQUAL:
        return (int64_t)fixed;
    case INPUTS_SAWTOOTH:
        return i % 17 - 8;
    case INPUTS_EXTREMES:
        return r & 2 ? ordinary : (r & 1 ? INT64_MAX : INT64_MIN);
    case INPUTS_INFINITE:
        if (r % 50 != 0) return ordinary;
        return r >> 63 ? INT64_MAX : INT64_MIN;
    case INPUTS_ZEROS:
        return r % 100 == 0 ? ordinary : 0;
    case INPUTS_DENORMAL:
        return (int64_t)(r % 3) - 1;
    case INPUTS_OVERFLOW:
        return (int64_t)r;
    case INPUTS_RARE_ZERO:
        return (int64_t) ~(r % 700 == 0 ? UINT64_C(1) << (r >> 58) : 0);
    case INPUTS_RARE_ONE:
        return (int64_t)(r % 700 == 0 ? UINT64_C(1) << (r >> 58) : 0);
    default:
        return ordinary;
    }
}

static float float_value(enum inputs_pattern pattern, int64_t i, uint64_t r, uint64_t fixed) {
    switch (pattern) {
    case INPUTS_CONSTANT:
        return 1;
    case INPUTS_EQUAL:
        return random_float(fixed);
    case INPUTS_SAWTOOTH:
        return (float)(i % 17 - 8) / 4;
    case INPUTS_EXTREMES:
        return r & 2 ? random_float(r) : (r & 1 ? FLT_MAX : -FLT_MAX);
    case INPUTS_INFINITE:
        if (r >> 8 & 0xff) return random_float(r);
        return r & 1 ? INFINITY : -INFINITY;
    case INPUTS_ZEROS:
        return float_of(sign_float(r));
    case INPUTS_DENORMAL:
        return float_of(sign_float(r) | (uint32_t)(r >> 41));
    case INPUTS_OVERFLOW:
        return float_of(sign_float(r) | (191 + (uint32_t)(r >> 1 & 63)) << 23 |
                        (uint32_t)(r >> 41));
    case INPUTS_RARE_ZERO:
        return r % 700 == 0 ? float_of(sign_float(r >> 63)) : random_float(r);
    case INPUTS_RARE_ONE:
        return r % 700 == 0 ? random_float(r) : float_of(sign_float(r >> 63));
    default:
        return random_float(r);
    }
}

static double double_value(enum inputs_pattern pattern, int64_t i, uint64_t r, uint64_t s,
                           uint64_t fixed) {
    switch (pattern) {
    case INPUTS_CONSTANT:
        return 1;
    case INPUTS_EQUAL:
        return random_double(fixed, fixed * 3);
    case INPUTS_SAWTOOTH:
        return (double)(i % 17 - 8) / 4;
    case INPUTS_EXTREMES:
        return r & 2 ? random_double(r, s) : (r & 1 ? DBL_MAX : -DBL_MAX);
    case INPUTS_INFINITE:
        if (r >> 8 & 0xff) return random_double(r, s);
        return r & 1 ? (double)INFINITY : (double)-INFINITY;
    case INPUTS_ZEROS:
        return double_of(sign_double(r));
    case INPUTS_DENORMAL:
        return double_of(sign_double(r) | s >> 12);
    case INPUTS_OVERFLOW:
        return double_of(sign_double(r) | (1535 + (r >> 1 & 511)) << 52 | s >> 12);
    case INPUTS_RARE_ZERO:
        return r % 700 == 0 ? double_of(sign_double(r >> 63)) : random_double(r, s);
    case INPUTS_RARE_ONE:
        return r % 700 == 0 ? random_double(r, s) : double_of(sign_double(r >> 63));
    default:
        return random_double(r, s);
    }
}

/* ---- A vector -------------------------------------------------------------------------------- */

void inputs_fill(enum inputs_pattern pattern, vscan_type type, int64_t n, uint64_t seed, void *v) {
    struct inputs_random random = {seed};
    const uint64_t fixed = inputs_next(&random);
    for (int64_t i = 0; i < n; i++) {
        const uint64_t r = inputs_next(&random);
        if (type == VSCAN_INT) ((int32_t *)v)[i] = int_value(pattern, i, r, fixed);
        if (type == VSCAN_LONG) ((int64_t *)v)[i] = long_value(pattern, i, r, fixed);
        if (type == VSCAN_FLOAT) ((float *)v)[i] = float_value(pattern, i, r, fixed);
        if (type == VSCAN_DOUBLE)
            ((double *)v)[i] = double_value(pattern, i, r, inputs_next(&random), fixed);
    }
    int64_t at = -1;
    if (pattern == INPUTS_NAN_FIRST) at = 0;
    if (pattern == INPUTS_NAN_MIDDLE) at = n / 2;
    if (pattern == INPUTS_NAN_LAST) at = n - 1;
    if (at < 0 || at >= n) return;
    if (type == VSCAN_INT) ((int32_t *)v)[at] = INT32_MIN;
    if (type == VSCAN_LONG) ((int64_t *)v)[at] = INT64_MIN;
    if (type == VSCAN_FLOAT) ((float *)v)[at] = NAN;
    if (type == VSCAN_DOUBLE) ((double *)v)[at] = (double)NAN;
}

/* ---- Flags ----------------------------------------------------------------------------------- */

const char *inputs_flags_name(enum inputs_flags pattern) {
    static const char *const names[INPUTS_FLAGS_PATTERNS] = {
        [INPUTS_FLAGS_NONE] = "none",
        [INPUTS_FLAGS_FIRST] = "first",
        [INPUTS_FLAGS_ALL] = "all",
        [INPUTS_FLAGS_LAST] = "last",
        [INPUTS_FLAGS_HALF] = "1 in 2",
        [INPUTS_FLAGS_30] = "1 in 30",
        [INPUTS_FLAGS_1000] = "1 in 1000",
        [INPUTS_FLAGS_GROUP] = "every 32",
        [INPUTS_FLAGS_TILE] = "tile",
        [INPUTS_FLAGS_BEFORE_TILE] = "before tile",
        [INPUTS_FLAGS_AFTER_TILE] = "after tile",
        [INPUTS_FLAGS_RUNS] = "runs",
        [INPUTS_FLAGS_MIXED] = "mixed",
    };
    return names[pattern];
}

void inputs_flags_fill(enum inputs_flags pattern, int64_t tile, int64_t n, uint64_t seed,
                       uint8_t *flags) {
    struct inputs_random random = {seed};
    int64_t next = inputs_below(&random, tile); /* runs: where the next segment begins */
    for (int64_t i = 0; i < n; i++) {
        uint64_t r = inputs_next(&random) >> 8;
        bool set = false;
        switch (pattern) {
        case INPUTS_FLAGS_FIRST:
            set = i == 0;
            break;
        case INPUTS_FLAGS_ALL:
            set = true;
            break;
        case INPUTS_FLAGS_LAST:
            set = i == n - 1;
            break;
        case INPUTS_FLAGS_HALF:
            set = r % 2 == 0;
            break;
        case INPUTS_FLAGS_30:
            set = r % 30 == 0;
            break;
        case INPUTS_FLAGS_1000:
            set = r % 1000 == 0;
            break;
        case INPUTS_FLAGS_GROUP:
            set = i % 32 == 0;
            break;
        case INPUTS_FLAGS_TILE:
            set = i % tile == 0;
            break;
        case INPUTS_FLAGS_BEFORE_TILE:
            set = i % tile == tile - 1;
            break;
        case INPUTS_FLAGS_AFTER_TILE:
            set = i % tile == 1;
            break;
        case INPUTS_FLAGS_RUNS:
            set = i == next;
            if (set) next += tile / 2 + (int64_t)(r % (uint64_t)(2 * tile));
            break;
        case INPUTS_FLAGS_MIXED:
            set = i / (tile + tile / 3) % 3 == 1 && r % 5 == 0;
            break;
        default:
            break;
        }
        flags[i] = set;
    }
}

void inputs_flags_encode(vscan_type type, int64_t n, const uint8_t *flags, uint64_t seed,
                         void *encoded) {
    static const int32_t set_ints[] = {1, -1, 256, INT32_MIN, 1 << 16, 1 << 24, 2, -256};
    static const uint8_t set_bytes[] = {1, 255, 128, 2, 16, 254, 64, 1};
    struct inputs_random random = {seed};
    if (type == VSCAN_BIT && n % 32 != 0) {
        const uint32_t garbage = (uint32_t)inputs_next(&random);
        memcpy((char *)encoded + n / 32 * 4, &garbage, sizeof garbage);
    }
    for (int64_t i = 0; i < n; i++) {
        const uint64_t r = inputs_next(&random) >> 61;
        if (type == VSCAN_INT) ((int32_t *)encoded)[i] = flags[i] ? set_ints[r] : 0;
        if (type == VSCAN_BYTE) ((uint8_t *)encoded)[i] = flags[i] ? set_bytes[r] : 0;
        if (type == VSCAN_BIT) {
            uint32_t *word = (uint32_t *)encoded + i / 32, bit = UINT32_C(1) << i % 32;
            *word = flags[i] ? *word | bit : *word & ~bit;
        }
    }
}
