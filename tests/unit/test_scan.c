/* SPDX-License-Identifier: Apache-2.0 */
/* vscan_scan: one test a pair, with lengths, patterns and modes inside. */
#include "cases.h"

#include <stdlib.h>

#include "core/pairs.h"

/* The four modes of a scan, and in place or not. */
enum { MODES = 8 };

static void set_mode(struct test_case *c, int mode) {
    c->exclusive = mode & 1;
    c->backward = mode >> 1 & 1;
    c->in_place = mode >> 2 & 1;
}

static void *make_input(const struct test_case *c) {
    void *in = malloc(reference_bytes(c->type, c->n) + 1);
    assert_non_null(in);
    inputs_fill(c->pattern, c->type, c->n, c->seed, in);
    return in;
}

/* Every initial value with every total, in every mode: where the data are short. */
static void all_options(struct test_case *c, struct inputs_random *random, const void *in) {
    const int first = harness_small() ? (int)inputs_below(random, MODES) : 0;
    for (int mode = first; mode < (harness_small() ? first + 1 : MODES); mode++)
        for (int initial = 0; initial < INITIAL_CHOICES; initial++)
            for (int total = 0; total < 2; total++) {
                case_draw(c, random);
                set_mode(c, mode);
                c->initial = (enum case_initial)initial;
                c->total_buffer = total != 0;
                case_scan(c, in);
            }
}

/* Every mode with drawn options; every other mode where sizes are small. */
static void all_modes(struct test_case *c, struct inputs_random *random, const void *in) {
    const int64_t odd = inputs_below(random, 2);
    for (int mode = 0; mode < MODES; mode++) {
        if (harness_small() && (mode + mode / 4) % 2 != odd) continue;
        case_draw(c, random);
        set_mode(c, mode);
        case_scan(c, in);
    }
}

static void test_pair(vscan_op op, vscan_type type) {
    struct test_case c = {.family = "scan", .op = op, .type = type};
    struct inputs_random random = {case_seed(op, type, 1)};
    int64_t sizes[CASE_SIZES];
    const size_t count = case_sizes(type, inputs_next(&random), sizes);
    for (size_t s = 0; s < count; s++) {
        c.n = sizes[s];
        /* all patterns where it is cheap, else random values and two others */
        int64_t chosen[2];
        for (int k = 0; k < 2; k++) chosen[k] = inputs_below(&random, INPUTS_PATTERNS);
        for (int p = 0; p < INPUTS_PATTERNS; p++) {
            if ((c.n > 1500 || harness_small()) && p != INPUTS_RANDOM && p != chosen[0] &&
                (p != chosen[1] || harness_small()))
                continue;
            c.pattern = (enum inputs_pattern)p;
            c.seed = inputs_next(&random);
            void *in = make_input(&c);
            if (p == INPUTS_RANDOM && c.n <= 130 && (!harness_small() || c.n == 33))
                all_options(&c, &random, in);
            else
                all_modes(&c, &random, in);
            free(in);
        }
    }
    if (harness_small()) return;

    /* long vectors: another mode for each pair */
    static const int64_t limits[] = {1000000, 3000000, 10000000};
    for (int k = 0; k < 3; k++) {
        c.n = 1 + inputs_below(&random, limits[k]);
        c.pattern =
            k == 2 ? INPUTS_RANDOM : (enum inputs_pattern)inputs_below(&random, INPUTS_PATTERNS);
        c.seed = inputs_next(&random);
        void *in = make_input(&c);
        case_draw(&c, &random);
        set_mode(&c, ((int)op * 3 + (int)type * 5 + k * 3) % MODES);
        case_scan(&c, in);
        free(in);
    }
}

#define X(pair, op, type, OP, TYPE)                                                                \
    static void scan_##pair(void **state) {                                                        \
        (void)state;                                                                               \
        test_pair(VSCAN_##OP, VSCAN_##TYPE);                                                       \
    }
VSCAN__PAIRS(X)
#undef X

/*
 * More than 2^31 elements, in place: in[i] = i % 5, so that out[i] = 10 (i / 5) + r (r + 1) / 2
 * with r = i % 5, modulo 2^32. Checked in chunks.
 */
static void scan_long(void **state) {
    (void)state;
    if (!harness_long()) skip();
    vscan_ctx *ctx = harness_ctx();
    const int64_t n = (INT64_C(1) << 31) + 100003, chunk = INT64_C(5) << 22;
    int32_t *host = malloc((size_t)chunk * sizeof *host);
    assert_non_null(host);
    vscan_buffer *v;
    ok(ctx, vscan_buffer_create(ctx, VSCAN_INT, n, &v));
    for (int64_t i = 0; i < chunk; i++) host[i] = (int32_t)(i % 5);
    for (int64_t at = 0; at < n; at += chunk)
        ok(ctx, vscan_buffer_upload(v, at, n - at < chunk ? n - at : chunk, host));
    int32_t total = 0;
    const vscan_scan_options options = {.size = sizeof options,
                                        .total = harness_one(ctx, VSCAN_INT)};
    ok(ctx, vscan_scan(ctx, VSCAN_PLUS, v, v, &options));
    harness_take(ctx, options.total, &total);
    uint32_t expected = 0;
    for (int64_t at = 0; at < n; at += chunk) {
        const int64_t here = n - at < chunk ? n - at : chunk;
        ok(ctx, vscan_buffer_download(v, at, here, host));
        for (int64_t i = 0; i < here; i++) {
            const uint64_t q = (uint64_t)(at + i) / 5, r = (uint64_t)(at + i) % 5;
            expected = (uint32_t)(10 * q + r * (r + 1) / 2);
            if ((uint32_t)host[i] == expected) continue;
            print_error("scan_long: out[%lld]: expected %u, got %u\n", (long long)(at + i),
                        (unsigned)expected, (unsigned)host[i]);
            fail();
        }
    }
    assert_int_equal(expected, (uint32_t)total);
    ok(ctx, vscan_buffer_destroy(v));
    free(host);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
#define X(pair, op, type, OP, TYPE) cmocka_unit_test(scan_##pair),
        VSCAN__PAIRS(X)
#undef X
            cmocka_unit_test(scan_long),
    };
    return harness_run(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
