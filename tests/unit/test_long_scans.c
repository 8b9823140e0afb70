/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vectors that the CPU backend writes past its caches, and reduces in several batches: a scan has the bits of
 * one in place, which it does in the ordinary way, and its last result those of the reduction.
 */
#include "harness.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "inputs.h"
#include "reference.h"

enum { BYTES = 36 << 20, SHIFTS = 3 };

struct vectors {
    vscan_buffer *in, *same, *whole, *out, *flags;
};

static void check(vscan_ctx *ctx, const struct vectors *v, vscan_type type, int64_t n, void *a,
                  void *b, const char *what) {
    ok(ctx, vscan_buffer_download(v->same, 0, n, a));
    ok(ctx, vscan_buffer_download(v->out, 0, n, b));
    const int64_t i = reference_difference(type, n, a, b);
    if (i < 0) return;
    fail_msg("%s of %s, n %" PRId64 ", seed %" PRIu64 ": index %" PRId64 " differs", what,
             reference_type_name(type), n, harness_seed(), i);
}

static void scan_both(vscan_op op, vscan_type type, int32_t threads, struct inputs_random *random) {
    const int64_t n = BYTES / (int64_t)reference_bytes(type, 1) + inputs_below(random, 40000);
    vscan_ctx *ctx = harness_new_ctx(threads);
    void *a = malloc(reference_bytes(type, n)), *b = malloc(reference_bytes(type, n));
    assert_non_null(a);
    assert_non_null(b);
    inputs_fill(INPUTS_RANDOM, type, n, inputs_next(random), a);
    struct vectors v;
    ok(ctx, vscan_buffer_create(ctx, type, n, &v.in));
    ok(ctx, vscan_buffer_create(ctx, type, n, &v.same));
    ok(ctx, vscan_buffer_create(ctx, type, n + SHIFTS, &v.whole));
    ok(ctx, vscan_buffer_create(ctx, VSCAN_BIT, n, &v.flags));
    ok(ctx, vscan_buffer_upload(v.in, 0, n, a));
    uint32_t *const words = b;
    for (int64_t i = 0; i < (n + 31) / 32; i++)
        words[i] = inputs_below(random, 500) ? 0 : UINT32_C(1) << inputs_below(random, 32);
    ok(ctx, vscan_buffer_upload(v.flags, 0, n, b));
    for (int mode = 0; mode < 8; mode++) {
        const int32_t kind = inputs_below(random, 2) ? VSCAN_EXCLUSIVE : VSCAN_INCLUSIVE;
        const int32_t direction = mode & 1 ? VSCAN_BACKWARD : VSCAN_FORWARD;
        const int64_t shift = mode & 2 ? 1 + inputs_below(random, SHIFTS) : 0; /* not aligned */
        ok(ctx, vscan_buffer_view(v.whole, shift, n, &v.out));
        ok(ctx, vscan_buffer_copy(v.in, v.same));
        if (mode & 4) {
            const vscan_scan_segmented_options o = {
                .size = sizeof o, .kind = kind, .direction = direction};
            ok(ctx, vscan_scan_segmented(ctx, op, v.in, v.flags, v.out, &o));
            ok(ctx, vscan_scan_segmented(ctx, op, v.same, v.flags, v.same, &o));
        } else {
            const vscan_scan_options o = {.size = sizeof o, .kind = kind, .direction = direction};
            ok(ctx, vscan_scan(ctx, op, v.in, v.out, &o));
            ok(ctx, vscan_scan(ctx, op, v.same, v.same, &o));
        }
        check(ctx, &v, type, n, a, b, mode & 4 ? "a segmented scan" : "a scan");
        ok(ctx, vscan_buffer_destroy(v.out));
    }
    vscan_buffer *const all[] = {v.in, v.same, v.whole, v.flags};
    for (int k = 0; k < 4; k++) ok(ctx, vscan_buffer_destroy(all[k]));
    ok(NULL, vscan_ctx_destroy(ctx));
    free(a);
    free(b);
}

static void past_the_caches(void **state) {
    (void)state;
    if (harness_small()) skip();
    struct inputs_random random = {harness_seed()};
    for (int t = 0; t < REFERENCE_TYPES; t++)
        for (int32_t threads = 1; threads <= 12; threads += 11)
            scan_both(reference_types[t] == VSCAN_INT ? VSCAN_MAX : VSCAN_PLUS, reference_types[t],
                      threads, &random);
}

/* A reduction of more tiles than a batch has. */
static void several_batches(void **state) {
    (void)state;
    if (harness_small()) skip();
    const int64_t n = 2100 * reference_tile(VSCAN_FLOAT) + 12345;
    vscan_ctx *ctx = harness_ctx();
    float *values = malloc((size_t)n * sizeof *values), scanned = 0, reduced = 1;
    vscan_buffer *v, *total;
    assert_non_null(values);
    inputs_fill(INPUTS_RANDOM, VSCAN_FLOAT, n, harness_seed(), values);
    ok(ctx, vscan_buffer_create(ctx, VSCAN_FLOAT, n, &v));
    ok(ctx, vscan_buffer_upload(v, 0, n, values));
    ok(ctx, vscan_buffer_create(ctx, VSCAN_FLOAT, 1, &total));
    ok(ctx, vscan_reduce(ctx, VSCAN_PLUS, v, total, NULL));
    ok(ctx, vscan_buffer_get(total, 0, &reduced));
    ok(ctx, vscan_scan(ctx, VSCAN_PLUS, v, v, NULL));
    ok(ctx, vscan_buffer_get(v, n - 1, &scanned));
    assert_memory_equal(&scanned, &reduced, sizeof scanned);
    ok(ctx, vscan_buffer_destroy(v));
    ok(ctx, vscan_buffer_destroy(total));
    free(values);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(past_the_caches),
                                       cmocka_unit_test(several_batches)};
    return harness_run(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
