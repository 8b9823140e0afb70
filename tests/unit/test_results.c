/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Totals and counts in every place where they can be asked for, nothing to scan, and the one error
 * that is found only while the work runs.
 */
#include "harness.h"
#include "refusal.h"
#include "world.h"

#include <string.h>

static void upload_ints(vscan_buffer *buffer, const int32_t *values, int64_t n) {
    ok(NULL, vscan_buffer_upload(buffer, 0, n, values));
}

static void expect_ints(const vscan_buffer *buffer, const int32_t *values, int64_t n) {
    int32_t got[N];
    assert_true(n <= N);
    ok(NULL, vscan_buffer_download(buffer, 0, n, got));
    assert_memory_equal(got, values, (size_t)n * sizeof *values);
}

/* A buffer for the total, the same element for initial value and total, in place. */
static void totals_in_every_place(void **state) {
    (void)state;
    vscan_ctx *ctx = w.ctx;
    vscan_buffer *v = world_make(VSCAN_INT, 4), *carry = world_make(VSCAN_INT, 1);
    const int32_t in[] = {1, 2, 3, 4}, zero = 0, ten = 10;
    const vscan_value from_ten = {.holds = VSCAN_INT, .as_int = 10};
    upload_ints(v, in, 4);
    upload_ints(carry, &ten, 1);
    vscan_scan_options o = {.size = sizeof o, .initial_buffer = carry, .total = carry};
    ok(ctx, vscan_scan(ctx, VSCAN_PLUS, v, v, &o));
    expect_ints(v, (const int32_t[]){11, 13, 16, 20}, 4);
    expect_ints(carry, (const int32_t[]){20}, 1);

    upload_ints(v, in, 4);
    o = (vscan_scan_options){
        .size = sizeof o, .kind = VSCAN_EXCLUSIVE, .initial = from_ten, .total = carry};
    ok(ctx, vscan_scan(ctx, VSCAN_MAX, v, v, &o));
    expect_ints(v, (const int32_t[]){10, 10, 10, 10}, 4);
    expect_ints(carry, (const int32_t[]){10}, 1);

    upload_ints(v, in, 4);
    vscan_reduce_options r = {.size = sizeof r, .initial = from_ten};
    ok(ctx, vscan_reduce(ctx, VSCAN_PLUS, v, carry, &r));
    expect_ints(carry, (const int32_t[]){20}, 1);
    upload_ints(carry, &zero, 1);
    r = (vscan_reduce_options){.size = sizeof r, .initial_buffer = carry};
    ok(ctx, vscan_reduce(ctx, VSCAN_PLUS, v, carry, &r));
    ok(ctx, vscan_reduce(ctx, VSCAN_PLUS, v, carry, &r));
    expect_ints(carry, (const int32_t[]){20}, 1);
}

static void nothing_to_scan(void **state) {
    (void)state;
    vscan_ctx *ctx = w.ctx;
    vscan_buffer *none = NULL, *flags = NULL;
    int64_t count = -1;
    ok(ctx, vscan_buffer_create(ctx, VSCAN_INT, 0, &none));
    ok(ctx, vscan_buffer_view(w.of_bit, 32, 0, &flags));
    ok(ctx, vscan_scan(ctx, VSCAN_PLUS, none, none, NULL));
    vscan_scan_options o = {.size = sizeof o, .total = w.total};
    ok(ctx, vscan_scan(ctx, VSCAN_MIN, none, none, &o));
    expect_ints(w.total, (const int32_t[]){INT32_MAX}, 1);
    vscan_scan_segmented_options s = {.size = sizeof s, .totals = none, .count = w.count};
    ok(ctx, vscan_scan_segmented(ctx, VSCAN_MIN, none, flags, none, &s));
    ok(ctx, vscan_buffer_get(w.count, 0, &count));
    assert_int_equal(count, 0);
    ok(ctx, vscan_reduce(ctx, VSCAN_AND, none, w.total, NULL));
    expect_ints(w.total, (const int32_t[]){-1}, 1);
    ok(NULL, vscan_buffer_destroy(none));
    ok(NULL, vscan_buffer_destroy(flags));
}

/* Too many segments: found while the work runs, reported once by whichever call waits next, which
   does its own work all the same. */
static void totals_too_short(void **state) {
    (void)state;
    vscan_ctx *ctx = w.ctx;
    const int32_t in[] = {1, 2, 3, 4, 5, 6}, flags[] = {0, 0, 1, 0, 1, 1};
    const int32_t poison[] = {-7, -7, -7};
    vscan_buffer *v = world_make(VSCAN_INT, 6), *f = world_make(VSCAN_INT, 6),
                 *out = world_make(VSCAN_INT, 6);
    vscan_buffer *short_totals = NULL, *no_totals = NULL;
    ok(ctx, vscan_buffer_view(w.totals, 0, 2, &short_totals));
    ok(ctx, vscan_buffer_view(w.totals, 0, 0, &no_totals));
    upload_ints(v, in, 6);
    upload_ints(f, flags, 6);
    vscan_scan_segmented_options s = {.size = sizeof s, .totals = short_totals};
    int32_t got[6] = {0};
    int64_t count = 0;
#define SEGMENTED vscan_scan_segmented(ctx, VSCAN_PLUS, v, f, out, &s)

    upload_ints(w.totals, poison, 3);
    ok(ctx, SEGMENTED);
    refused(ctx, VSCAN_ERROR_TOTALS_LENGTH, "totals", vscan_ctx_synchronize(ctx));
    ok(ctx, vscan_ctx_synchronize(ctx));
    expect_ints(w.totals, (const int32_t[]){3, 7, -7}, 3);
    expect_ints(out, (const int32_t[]){1, 3, 3, 7, 5, 6}, 6);

    ok(ctx, SEGMENTED);
    refused(ctx, VSCAN_ERROR_TOTALS_LENGTH, "totals", vscan_buffer_download(v, 0, 6, got));
    assert_memory_equal(got, in, sizeof in);

    ok(ctx, SEGMENTED);
    refused(ctx, VSCAN_ERROR_TOTALS_LENGTH, "totals", vscan_buffer_get(v, 5, got));
    assert_int_equal(got[0], 6);

    ok(ctx, SEGMENTED);
    ok(ctx,
       vscan_reduce(ctx, VSCAN_PLUS, v, w.total, NULL)); /* waits for nothing, reports nothing */
    refused(ctx, VSCAN_ERROR_TOTALS_LENGTH, "totals", vscan_buffer_get(w.total, 0, got));
    assert_int_equal(got[0], 21);

    /* the first late error is the one that is reported */
    const int32_t astray[] = {0, 1, 2, 6, 4, 5};
    vscan_buffer *positions = world_make(VSCAN_INT, 6);
    upload_ints(positions, astray, 6);
    ok(ctx, vscan_gather(ctx, v, positions, out));
    ok(ctx, SEGMENTED);
    refused(ctx, VSCAN_ERROR_POSITION, "position", vscan_ctx_synchronize(ctx));
    ok(ctx, vscan_ctx_synchronize(ctx));

    s.totals = no_totals; /* asked for, with room for none */
    s.count = w.count;
    s.direction = VSCAN_BACKWARD;
    ok(ctx, SEGMENTED);
    refused(ctx, VSCAN_ERROR_TOTALS_LENGTH, "totals", vscan_buffer_get(w.count, 0, &count));
    assert_int_equal(count, 4);
    expect_ints(out, (const int32_t[]){3, 2, 7, 4, 5, 6}, 6);
    expect_ints(w.totals, (const int32_t[]){3, 7, -7}, 3);
#undef SEGMENTED
    ok(NULL, vscan_buffer_destroy(short_totals));
    ok(NULL, vscan_buffer_destroy(no_totals));
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        world_unit_test(totals_in_every_place),
        world_unit_test(nothing_to_scan),
        world_unit_test(totals_too_short),
    };
    return harness_run(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
