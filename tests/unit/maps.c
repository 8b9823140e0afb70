/* SPDX-License-Identifier: Apache-2.0 */
/* Vectors of any type, and the check of what was written; see maps.h. */
#include "maps.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Vectors --------------------------------------------------------------------------------- */

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
    default: /* bits: 32 at a time */
        break;
    }
}

void *maps_random(vscan_type type, int64_t n, struct inputs_random *random) {
    void *v = malloc(reference_bytes(type, n) + 8);
    assert_non_null(v);
    if (type == VSCAN_BIT)
        for (int64_t i = 0; i < (n + 31) / 32; i++)
            ((uint32_t *)v)[i] = (uint32_t)inputs_next(random);
    else
        for (int64_t i = 0; i < n; i++) put(type, v, i, inputs_next(random), inputs_next(random));
    return v;
}

size_t maps_sizes(int64_t sizes[MAPS_SIZES], struct inputs_random *random) {
    static const int64_t usual[] = {0,    1,    2,    3,    4,    5,    7,    15,   16,   31,
                                    32,   33,   63,   100,  127,  128,  129,  1023, 1024, 1025,
                                    2047, 2048, 2049, 4095, 4096, 4097, 8192, 8199, 2080};
    size_t count = 0;
    for (size_t k = 0; k < sizeof usual / sizeof usual[0]; k++)
        if (!harness_small() || inputs_below(random, 6) == 0) sizes[count++] = usual[k];
    for (int k = 0; k < (harness_small() ? 1 : 6); k++)
        sizes[count++] = inputs_below(random, k % 2 || harness_small() ? 10000 : 70000);
    return count;
}

void maps_shifts(struct inputs_random *random, int count, int shifts[]) {
    const bool alike = inputs_below(random, 2);
    const int all = (int)inputs_below(random, 6);
    for (int k = 0; k < count; k++) shifts[k] = alike ? all : (int)inputs_below(random, 17);
}

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

uint8_t *maps_draw_flags(int density, int64_t n, struct inputs_random *random) {
    uint8_t *flags = malloc((size_t)n + 1);
    assert_non_null(flags);
    bool set = false;
    for (int64_t i = 0; i < n; i++) {
        if (density == 0) set = false;
        if (density == 1) set = inputs_below(random, 1000) == 0;
        if (density == 2) set = inputs_below(random, 2);
        if (density == 3) set = true;
        if (density == 4 && inputs_below(random, 3000) == 0) set = !set;
        flags[i] = set;
    }
    return flags;
}

void *maps_encode_flags(vscan_type type, int64_t n, const uint8_t *flags,
                        struct inputs_random *random) {
    void *encoded = malloc(reference_bytes(type, n) + 8);
    assert_non_null(encoded);
    inputs_flags_encode(type, n, flags, inputs_next(random), encoded);
    return encoded;
}

void *maps_at(vscan_type type, const void *v, int64_t i) {
    return (char *)v + (size_t)i * reference_bytes(type, 1);
}

/* ---- Checks ---------------------------------------------------------------------------------- */

void *maps_original(const struct guarded *g) {
    void *copy = malloc(g->bytes + 8);
    assert_non_null(copy);
    memcpy(copy, guarded_original(g), g->bytes);
    return copy;
}

void maps_check(struct guarded *g, const void *expected, const char *what) {
    bool intact;
    const void *got = guarded_download(g, &intact);
    const bool bits = g->type == VSCAN_BIT;
    const vscan_type type = bits ? VSCAN_INT : g->type; /* 32-bit words */
    const int64_t i = reference_difference(type, bits ? (g->n + 31) / 32 : g->n, expected, got);
    if (i < 0 && intact) return;
    print_error("%s: %s, VSCAN_TEST_SEED=%" PRIu64 "\n", harness_backend_name(), what,
                harness_seed());
    char a[REFERENCE_TEXT], b[REFERENCE_TEXT];
    if (i >= 0)
        print_error("    %s %" PRId64 " of %" PRId64 ": expected %s, got %s\n",
                    bits ? "word" : "element", i, g->n, reference_text(type, expected, i, a),
                    reference_text(type, got, i, b));
    if (!intact) print_error("    memory beside the vector was written\n");
    fail();
}

void maps_late(vscan_ctx *ctx, vscan_status expected, const char *what) {
    const vscan_status got = vscan_ctx_synchronize(ctx);
    if (got == expected) return;
    print_error("%s: %s: expected %s, got %s, VSCAN_TEST_SEED=%" PRIu64 "\n",
                harness_backend_name(), what, vscan_status_name(expected), vscan_status_name(got),
                harness_seed());
    fail();
}

void maps_judge(vscan_ctx *ctx, vscan_status late, struct guarded *to, const void *expected,
                struct guarded *all[], const char *what) {
    maps_late(ctx, late, what);
    for (int k = 0; all[k] != NULL; k++)
        maps_check(all[k], all[k] == to ? expected : guarded_original(all[k]), what);
    for (int k = 0; all[k] != NULL; k++) guarded_free(all[k]);
}
