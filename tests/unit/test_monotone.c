/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums are monotone: where no element is negative, no result is smaller than the one before it, and
 * where none is positive, none is larger. A serial loop has this, as rounding is monotone; most
 * parallel scans do not. Inclusive and exclusive scans, segments, rows and columns, forward and
 * backward, each on data of several kinds.
 */
#include "harness.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "core/order.h"

enum kind { DENSE, SPARSE, WIDE, DENORMAL, EQUAL, KINDS };
static const char *const kind_names[] = {"dense", "sparse", "wide", "denormal", "equal"};

static double uniform(struct inputs_random *random) {
    return (double)(inputs_next(random) >> 11) * 0x1p-53;
}

static double element(enum kind kind, vscan_type type, double equal, struct inputs_random *random) {
    const double u = uniform(random);
    switch (kind) {
    case DENSE:
        return u;
    case SPARSE:
        return u < 0.97 ? 0 : u < 0.98 ? 0x1p24 * uniform(random) : uniform(random);
    case WIDE:
        return pow(10, 60 * u - 30);
    case DENORMAL:
        return u * (type == VSCAN_FLOAT ? 0x1p-126 : 0x1p-1022);
    default:
        return equal;
    }
}

static void fill(enum kind kind, vscan_type type, double sign, int64_t n, uint64_t seed, void *v) {
    struct inputs_random random = {seed};
    const double equal = uniform(&random);
    for (int64_t i = 0; i < n; i++) {
        const double x = sign * element(kind, type, equal, &random);
        if (type == VSCAN_FLOAT)
            ((float *)v)[i] = (float)x;
        else
            ((double *)v)[i] = x;
    }
}

struct results {
    enum kind kind;
    vscan_type type;
    double sign;
    bool backward;
    const char *what;
    const void *out;
};

static double result(const struct results *r, int64_t i) {
    return r->type == VSCAN_FLOAT ? (double)((const float *)r->out)[i]
                                  : ((const double *)r->out)[i];
}

/* The results at first, first + step, ... of a line or segment of so many. */
static void check(const struct results *r, int64_t first, int64_t step, int64_t length) {
    for (int64_t k = 1; k < length; k++) {
        const int64_t i = first + step * (r->backward ? length - 1 - k : k);
        const double before = result(r, i + (r->backward ? step : -step)), here = result(r, i);
        if (r->sign * here >= r->sign * before) continue;
        print_error("%s: plus_%s, %s, %s %s, seed %" PRIu64 ": result %" PRId64
                    " is %.17g, the one before it %.17g\n",
                    harness_backend_name(), reference_type_name(r->type), r->what,
                    kind_names[r->kind], r->backward ? "backward" : "forward", harness_seed(), i,
                    here, before);
        fail();
    }
}

/* Each kind of call on n elements, which are also a matrix of so many columns. */
static void monotone(enum kind kind, vscan_type type, int64_t n, int64_t columns, int mode) {
    vscan_ctx *ctx = harness_ctx();
    struct results r = {
        .kind = kind, .type = type, .sign = mode & 1 ? -1 : 1, .backward = mode >> 1 & 1};
    const int32_t exclusive = mode >> 2 & 1;
    const uint64_t seed =
        case_seed(VSCAN_PLUS, type, 40 + (uint64_t)kind) + (uint64_t)n * 8 + (uint64_t)mode;
    void *host = malloc(reference_bytes(type, n));
    uint8_t *set = malloc((size_t)n);
    assert_non_null(host);
    assert_non_null(set);
    r.out = host;
    fill(kind, type, r.sign, n, seed, host);
    vscan_buffer *in, *out, *flags;
    ok(ctx, vscan_buffer_create(ctx, type, n, &in));
    ok(ctx, vscan_buffer_create(ctx, type, n, &out));
    ok(ctx, vscan_buffer_create(ctx, VSCAN_BYTE, n, &flags));
    ok(ctx, vscan_buffer_upload(in, 0, n, host));

    r.what = "scan";
    const vscan_scan_options options = {.size = sizeof options,
                                        .kind = exclusive ? VSCAN_EXCLUSIVE : VSCAN_INCLUSIVE,
                                        .direction = r.backward ? VSCAN_BACKWARD : VSCAN_FORWARD};
    ok(ctx, vscan_scan(ctx, VSCAN_PLUS, in, out, &options));
    ok(ctx, vscan_buffer_download(out, 0, n, host));
    check(&r, 0, 1, n);

    r.what = "segmented scan";
    inputs_flags_fill(INPUTS_FLAGS_MIXED, reference_tile(type), n, seed, set);
    ok(ctx, vscan_buffer_upload(flags, 0, n, set));
    const vscan_scan_segmented_options segmented = {
        .size = sizeof segmented,
        .kind = exclusive ? VSCAN_EXCLUSIVE : VSCAN_INCLUSIVE,
        .direction = r.backward ? VSCAN_BACKWARD : VSCAN_FORWARD};
    ok(ctx, vscan_scan_segmented(ctx, VSCAN_PLUS, in, flags, out, &segmented));
    ok(ctx, vscan_buffer_download(out, 0, n, host));
    for (int64_t first = 0, i = 1; i <= n; i++)
        if (i == n || set[i]) {
            check(&r, first, 1, i - first);
            first = i;
        }

    const int64_t rows = n / columns;
    const vscan_matrix_options matrix = {.size = sizeof matrix,
                                         .kind = exclusive ? VSCAN_EXCLUSIVE : VSCAN_INCLUSIVE,
                                         .direction = r.backward ? VSCAN_BACKWARD : VSCAN_FORWARD};
    r.what = "rows";
    ok(ctx, vscan_scan_rows(ctx, VSCAN_PLUS, in, rows, columns, out, &matrix));
    ok(ctx, vscan_buffer_download(out, 0, n, host));
    for (int64_t l = 0; l < rows; l++) check(&r, l * columns, 1, columns);
    r.what = "columns";
    ok(ctx, vscan_scan_columns(ctx, VSCAN_PLUS, in, rows, columns, out, &matrix));
    ok(ctx, vscan_buffer_download(out, 0, n, host));
    for (int64_t l = 0; l < columns; l++) check(&r, l, columns, rows);

    ok(ctx, vscan_buffer_destroy(in));
    ok(ctx, vscan_buffer_destroy(out));
    ok(ctx, vscan_buffer_destroy(flags));
    free(host);
    free(set);
}

static void monotone_short(void **state) {
    (void)state;
    static const int64_t sizes[][2] = {
        {33, 33}, {1000, 25}, {5000, 1250}, {70000, 7}, {300000, 100}};
    for (int kind = 0; kind < KINDS; kind++)
        for (int type = VSCAN_FLOAT; type <= VSCAN_DOUBLE; type++)
            for (int i = 0; i < (harness_small() ? 3 : 5); i++)
                for (int mode = 0; mode < 8; mode++)
                    if (!harness_small() || mode == (kind + type + i) % 8)
                        monotone((enum kind)kind, (vscan_type)type, sizes[i][0], sizes[i][1], mode);
}

/* Beyond a block of level 3; VSCAN_TEST_SIZES=long: 5 * 10^8 elements, each in four
   calls. */
static void monotone_long(void **state) {
    (void)state;
    if (harness_small()) skip();
    const int64_t n = VSCAN__LEVEL_3 + 5 * VSCAN__TILE_FLOAT;
    for (int k = 0; k < (harness_long() ? 15 : 1); k++) {
        const enum kind kind = (enum kind)(k % KINDS);
        const int mode = (3 * k + 2) % 8;
        monotone(kind, VSCAN_FLOAT, n, k % 2 ? n : VSCAN__GROUP, mode);
        monotone((enum kind)((kind + 1) % KINDS), VSCAN_DOUBLE, n, k % 2 ? VSCAN__LEVEL_1 : n,
                 mode);
    }
}

/* What the order until 0.1 did: result 127 was smaller than result 126. */
static void monotone_seen(void **state) {
    (void)state;
    enum { N = 128 };
    float x[N] = {[0] = 0x1p24F, [64] = 1.25F, [96] = 1.25F};
    const struct results r = {
        .kind = SPARSE, .type = VSCAN_FLOAT, .sign = 1, .what = "scan of 128", .out = x};
    vscan_ctx *ctx = harness_ctx();
    vscan_buffer *v;
    ok(ctx, vscan_buffer_create(ctx, VSCAN_FLOAT, N, &v));
    ok(ctx, vscan_buffer_upload(v, 0, N, x));
    ok(ctx, vscan_scan(ctx, VSCAN_PLUS, v, v, NULL));
    ok(ctx, vscan_buffer_download(v, 0, N, x));
    check(&r, 0, 1, N);
    ok(ctx, vscan_buffer_destroy(v));
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(monotone_seen),
        cmocka_unit_test(monotone_short),
        cmocka_unit_test(monotone_long),
    };
    return harness_run(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
