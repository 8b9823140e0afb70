/* SPDX-License-Identifier: Apache-2.0 */
/* Vectors of any type, and the check of what was written; see maps.h. */
#include "maps.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- Vectors --------------------------------------------------------------------------------- */

void *maps_random(vscan_type type, int64_t n, struct inputs_random *random) {
    void *v = malloc(reference_bytes(type, n) + 8);
    assert_non_null(v);
    maps_fill(type, n, random, v);
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
