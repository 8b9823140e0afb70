/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order of addition: the reference against what lib/core/order.h says, the sums against exact
 * ones, and what follows from the order: exclusive is inclusive shifted, the total is the last
 * inclusive result, chunks of whole blocks of level 3 give the bits of one call, a segmented scan
 * without flags gives the plain scan's.
 */
#include "harness.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "core/order.h"
#include "pairs.h"

static void *allocate(vscan_type type, int64_t n) {
    void *memory = malloc(reference_bytes(type, n) + 1);
    assert_non_null(memory);
    return memory;
}

static void *at(vscan_type type, void *v, int64_t i) {
    return (char *)v + reference_bytes(type, 1) * (size_t)i;
}

static void assert_same(const char *what, vscan_op op, vscan_type type, int64_t n,
                        const void *expected, const void *got) {
    const int64_t i = reference_difference(type, n, expected, got);
    if (i < 0) return;
    char a[REFERENCE_TEXT], b[REFERENCE_TEXT];
    print_error(
        "%s %s: %s_%s, n %" PRId64 ", seed %" PRIu64 ", index %" PRId64 ": expected %s, got %s\n",
        harness_backend_name(), what, reference_op_name(op), reference_type_name(type), n,
        harness_seed(), i, reference_text(type, expected, i, a), reference_text(type, got, i, b));
    fail();
}

/* ---- The reference against the definition ---------------------------------------------------- */

/* B(v): neighbours are added, then neighbours of these sums. */
static double tree(vscan_type type, double *v, int64_t n) {
    for (; n > 1; n /= 2)
        for (int64_t j = 0; j < n / 2; j++) {
            v[j] = v[2 * j] + v[2 * j + 1]; /* of floats exact before it is rounded */
            if (type == VSCAN_FLOAT) v[j] = (float)v[j];
        }
    return v[0];
}

/*
 * Xk[i] as rules 1, 2 and 4 are written, from x[begin] on, where the segment begins. The network's
 * prefix is the tree's sum of the elements up to i, filled up with -0.0 to a power of two.
 */
static double by_definition(vscan_type type, int level, const void *x, int64_t begin, int64_t i) {
    const int64_t size[] = {VSCAN__GROUP, VSCAN__LEVEL_1, reference_tile(type), VSCAN__LEVEL_3,
                            INT64_MAX};
    if (level == 0) {
        double v[VSCAN__GROUP];
        for (int64_t j = 0; j < VSCAN__GROUP; j++) {
            const int64_t k = i / VSCAN__GROUP * VSCAN__GROUP + j;
            v[j] = -0.0;
            if (k >= begin && k <= i)
                v[j] = type == VSCAN_FLOAT ? (double)((const float *)x)[k] : ((const double *)x)[k];
        }
        return tree(type, v, VSCAN__GROUP);
    }
    const double below = by_definition(type, level - 1, x, begin, i);
    const int64_t before =
        i / size[level - 1] * size[level - 1] - 1; /* the end of the block before */
    double r = -0.0;
    if (before >= begin && before >= i / size[level] * size[level])
        r = by_definition(type, level, x, begin, before);
    return type == VSCAN_FLOAT ? (double)((float)r + (float)below) : r + below;
}

static void definition(vscan_type type, enum inputs_flags pattern, int64_t n) {
    struct inputs_random random = {case_seed(VSCAN_PLUS, type, 4) + (uint64_t)n};
    void *in = allocate(type, n), *out = allocate(type, n);
    uint8_t *flags = allocate(VSCAN_BYTE, n);
    inputs_fill(INPUTS_RANDOM, type, n, inputs_next(&random), in);
    inputs_flags_fill(pattern, reference_tile(type), n, inputs_next(&random), flags);
    struct reference r = {
        .op = VSCAN_PLUS, .type = type, .n = n, .in = in, .flags = flags, .out = out};
    reference_scan(&r);
    for (int k = 0; k < 200; k++) {
        const int64_t i = k < 100 && k < n ? n - 1 - k : inputs_below(&random, n);
        int64_t begin = i;
        while (begin > 0 && !flags[begin]) begin--;
        const double expected = by_definition(type, 4, in, begin, i);
        const float narrow = (float)expected;
        assert_same("by definition", VSCAN_PLUS, type, 1,
                    type == VSCAN_FLOAT ? (const void *)&narrow : (const void *)&expected,
                    at(type, out, i));
    }
    free(in);
    free(out);
    free(flags);
}

static void order_reference(void **state) {
    (void)state;
    static const vscan_type types[] = {VSCAN_FLOAT, VSCAN_DOUBLE};
    static const enum inputs_flags patterns[] = {INPUTS_FLAGS_NONE, INPUTS_FLAGS_30,
                                                 INPUTS_FLAGS_1000, INPUTS_FLAGS_RUNS};
    for (int t = 0; t < 2; t++)
        for (int p = 0; p < 4; p++) {
            definition(types[t], patterns[p], 7);
            definition(types[t], patterns[p], 100);
            definition(types[t], patterns[p], 3 * reference_tile(types[t]) + 77);
        }
}

/* ---- The library's scan, on vectors from the host -------------------------------------------- */

struct scan {
    vscan_op op;
    vscan_type type;
    int64_t n;
    const void *in;
    const void *initial; /* one element, or NULL */
    bool exclusive, backward;
};

static void scan(const struct scan *s, void *out, void *total) {
    vscan_ctx *ctx = harness_ctx();
    vscan_buffer *v;
    ok(ctx, vscan_buffer_create(ctx, s->type, s->n, &v));
    ok(ctx, vscan_buffer_upload(v, 0, s->n, s->in));
    const vscan_scan_options options = {.size = sizeof options,
                                        .kind = s->exclusive ? VSCAN_EXCLUSIVE : VSCAN_INCLUSIVE,
                                        .direction = s->backward ? VSCAN_BACKWARD : VSCAN_FORWARD,
                                        .initial = harness_value(s->type, s->initial),
                                        .total = total != NULL ? harness_one(ctx, s->type) : NULL};
    ok(ctx, vscan_scan(ctx, s->op, v, v, &options));
    if (total != NULL) harness_take(ctx, options.total, total);
    ok(ctx, vscan_buffer_download(v, 0, s->n, out));
    ok(ctx, vscan_buffer_destroy(v));
}

/*
 * The same in chunks of so many elements, in the direction of the scan; the carry stays in one
 * element of the backend's memory, initial value and total at once.
 */
static void scan_in_chunks(const struct scan *s, int64_t chunk, void *out, void *total) {
    vscan_ctx *ctx = harness_ctx();
    vscan_buffer *v, *carry;
    ok(ctx, vscan_buffer_create(ctx, s->type, s->n, &v));
    ok(ctx, vscan_buffer_create(ctx, s->type, 1, &carry));
    ok(ctx, vscan_buffer_upload(v, 0, s->n, s->in));
    for (int64_t done = 0; done < s->n; done += chunk) {
        const int64_t here = s->n - done < chunk ? s->n - done : chunk;
        const vscan_scan_options options = {
            .size = sizeof options,
            .kind = s->exclusive ? VSCAN_EXCLUSIVE : VSCAN_INCLUSIVE,
            .direction = s->backward ? VSCAN_BACKWARD : VSCAN_FORWARD,
            .initial_buffer = done > 0 ? carry : NULL,
            .total = carry};
        vscan_buffer *part;
        ok(ctx, vscan_buffer_view(v, s->backward ? s->n - done - here : done, here, &part));
        ok(ctx, vscan_scan(ctx, s->op, part, part, &options));
        ok(ctx, vscan_buffer_destroy(part));
    }
    ok(ctx, vscan_buffer_download(v, 0, s->n, out));
    ok(ctx, vscan_buffer_get(carry, 0, total));
    ok(ctx, vscan_buffer_destroy(v));
    ok(ctx, vscan_buffer_destroy(carry));
}

/* ---- What follows from the order ------------------------------------------------------------- */

static void shifted(vscan_op op, vscan_type type, int64_t n, bool backward) {
    struct scan s = {.op = op, .type = type, .n = n, .backward = backward};
    void *in = allocate(type, n), *inclusive = allocate(type, n), *exclusive = allocate(type, n);
    inputs_fill(INPUTS_RANDOM, type, n, case_seed(op, type, 5) + (uint64_t)n, in);
    uint64_t total = 0, other = 0;
    s.in = in;
    scan(&s, inclusive, &total);
    s.exclusive = true;
    scan(&s, exclusive, &other);
    assert_same("total", op, type, 1, &total, &other);
    assert_same("total is the last inclusive", op, type, 1,
                at(type, inclusive, backward ? 0 : n - 1), &total);
    assert_same("exclusive is inclusive shifted", op, type, n - 1,
                at(type, inclusive, backward ? 1 : 0), at(type, exclusive, backward ? 0 : 1));
    free(in);
    free(inclusive);
    free(exclusive);
}

static void order_shifted(void **state) {
    (void)state;
    static const int64_t sizes[] = {1, 2, 33, 1000, 8193, 16385, 50000, 1000003};
    for (int op = VSCAN_PLUS; op <= LAST_OP; op++)
        for (int t = 0; t < REFERENCE_TYPES; t++)
            for (int i = 0;
                 reference_has_pair(op, reference_types[t]) && i < (harness_small() ? 5 : 8); i++)
                shifted((vscan_op)op, reference_types[t], sizes[i], (i + op + t) % 2);
}

static void chunked(vscan_op op, vscan_type type, int64_t n, int64_t chunk, int mode) {
    struct scan s = {.op = op, .type = type, .n = n, .exclusive = mode & 1, .backward = mode >> 1};
    void *in = allocate(type, n), *whole = allocate(type, n), *parts = allocate(type, n);
    inputs_fill(INPUTS_RANDOM, type, n, case_seed(op, type, 6) + (uint64_t)n, in);
    uint64_t total = 0, other = 0;
    s.in = in;
    scan(&s, whole, &total);
    scan_in_chunks(&s, chunk, parts, &other);
    assert_same("chunks", op, type, n, whole, parts);
    assert_same("total of chunks", op, type, 1, &total, &other);
    free(in);
    free(whole);
    free(parts);
}

/* Where the operator is associative, chunks may have any length; sums of floats and doubles go on with
   the same bits from one block of level 3 to the next. */
static void order_chunks(void **state) {
    (void)state;
    const int64_t n = harness_small() ? 2 * 16384 + 33 : 20 * 16384 + 77;
    for (int op = VSCAN_PLUS; op <= LAST_OP; op++)
        for (int t = 0; t < REFERENCE_TYPES; t++)
            for (int mode = 0; mode < 4; mode++) {
                const vscan_type type = reference_types[t];
                const bool real = type == VSCAN_FLOAT || type == VSCAN_DOUBLE;
                if (!reference_has_pair(op, type) || (harness_small() && mode != (op + t) % 4))
                    continue;
                if (op != VSCAN_PLUS || !real) {
                    chunked((vscan_op)op, type, n, 16384, mode);
                    if (!harness_small()) chunked((vscan_op)op, type, n, 50000, mode);
                } else if (!harness_small() && mode == t) {
                    chunked((vscan_op)op, type, 2 * VSCAN__LEVEL_3 + 77, VSCAN__LEVEL_3, mode);
                }
            }
}

static void without_flags(vscan_op op, vscan_type type, int64_t n, int mode) {
    vscan_ctx *ctx = harness_ctx();
    struct scan s = {.op = op, .type = type, .n = n, .exclusive = mode & 1, .backward = mode >> 1};
    void *in = allocate(type, n), *plain = allocate(type, n), *segmented = allocate(type, n);
    inputs_fill(INPUTS_RANDOM, type, n, case_seed(op, type, 7) + (uint64_t)n, in);
    s.in = in;
    s.initial = mode & 1 ? at(type, in, n / 2) : NULL;
    scan(&s, plain, NULL);

    vscan_buffer *v, *flags;
    const uint8_t unset = 0;
    ok(ctx, vscan_buffer_create(ctx, type, n, &v));
    ok(ctx, vscan_buffer_create(ctx, VSCAN_BIT, n, &flags));
    ok(ctx, vscan_buffer_upload(v, 0, n, in));
    ok(ctx, vscan_buffer_fill(flags, &unset));
    int64_t count = -1;
    const vscan_scan_segmented_options options = {
        .size = sizeof options,
        .kind = mode & 1 ? VSCAN_EXCLUSIVE : VSCAN_INCLUSIVE,
        .direction = mode >> 1 ? VSCAN_BACKWARD : VSCAN_FORWARD,
        .initial = harness_value(type, s.initial),
        .count = harness_one(ctx, VSCAN_LONG)};
    ok(ctx, vscan_scan_segmented(ctx, op, v, flags, v, &options));
    harness_take(ctx, options.count, &count);
    ok(ctx, vscan_buffer_download(v, 0, n, segmented));
    assert_int_equal(count, 1);
    assert_same("no flags", op, type, n, plain, segmented);
    ok(ctx, vscan_buffer_destroy(v));
    ok(ctx, vscan_buffer_destroy(flags));
    free(in);
    free(plain);
    free(segmented);
}

static void order_segmented(void **state) {
    (void)state;
    static const int64_t sizes[] = {1, 33, 1000, 16385, 70000, 300007};
    for (int op = VSCAN_PLUS; op <= LAST_OP; op++)
        for (int t = 0; t < REFERENCE_TYPES; t++)
            for (int i = 0;
                 reference_has_pair(op, reference_types[t]) && i < (harness_small() ? 4 : 6); i++)
                without_flags((vscan_op)op, reference_types[t], sizes[i], (i + op + t) % 4);
}

/* ---- The order is a sum: nearness to the exact one ------------------------------------------- */

/*
 * A result comes from at most 5 additions of the network, and at each level above one for each block
 * before it; each errs by at most half a unit in the last place of a partial sum, which is at most the sum of
 * the magnitudes. The exact sums are carried in two long doubles (Neumaier's compensation).
 */
static void accurate(vscan_type type, int64_t n) {
    struct scan s = {.op = VSCAN_PLUS, .type = type, .n = n};
    void *in = allocate(type, n), *out = allocate(type, n);
    inputs_fill(INPUTS_RANDOM, type, n, case_seed(VSCAN_PLUS, type, 8), in);
    s.in = in;
    uint64_t total;
    scan(&s, out, &total);
    const int64_t tile = reference_tile(type);
    const long double unit = type == VSCAN_FLOAT ? FLT_EPSILON / 2 : DBL_EPSILON / 2;
    volatile long double sum = 0, lost = 0;
    long double magnitudes = 0;
    for (int64_t i = 0; i < n; i++) {
        const long double x =
            type == VSCAN_FLOAT ? (long double)((float *)in)[i] : (long double)((double *)in)[i];
        const long double got =
            type == VSCAN_FLOAT ? (long double)((float *)out)[i] : (long double)((double *)out)[i];
        const long double next = sum + x;
        if (fabsl(sum) >= fabsl(x))
            lost += (sum - next) + x;
        else
            lost += (x - next) + sum;
        sum = next;
        magnitudes += fabsl(x);
        const int64_t steps = 9 + i % VSCAN__LEVEL_1 / VSCAN__GROUP + i % tile / VSCAN__LEVEL_1 +
                              i % VSCAN__LEVEL_3 / tile + i / VSCAN__LEVEL_3;
        const long double bound = (long double)steps * unit * magnitudes * 1.001L;
        if (fabsl(got - (sum + lost)) <= bound) continue;
        print_error("%s accuracy: plus_%s, n %" PRId64 ", index %" PRId64
                    ": exact %.20Lg, got %.20Lg, bound %.3Lg\n",
                    harness_backend_name(), reference_type_name(type), n, i, sum + lost, got,
                    bound);
        fail();
    }
    free(in);
    free(out);
}

static void order_accuracy(void **state) {
    (void)state;
    accurate(VSCAN_FLOAT, harness_small() ? 20000 : 3000001);
    accurate(VSCAN_DOUBLE, harness_small() ? 20000 : 3000001);
}

/*
 * The inputs of these tests and of tests/golden/ tell orders apart: the left-to-right loop gives
 * other bits than the fixed order.
 */
static void order_matters(void **state) {
    (void)state;
    enum { N = 1000 };
    float in[N], out[N], loop[N];
    inputs_fill(INPUTS_RANDOM, VSCAN_FLOAT, N, 1, in);
    struct reference r = {.op = VSCAN_PLUS, .type = VSCAN_FLOAT, .n = N, .in = in, .out = out};
    reference_scan(&r);
    float sum = 0;
    int64_t different = 0;
    for (int i = 0; i < N; i++) {
        sum += in[i];
        loop[i] = sum;
        different += memcmp(&loop[i], &out[i], sizeof sum) != 0;
    }
    assert_true(different > N / 2);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_reference), cmocka_unit_test(order_matters),
        cmocka_unit_test(order_shifted),   cmocka_unit_test(order_chunks),
        cmocka_unit_test(order_segmented), cmocka_unit_test(order_accuracy),
    };
    return harness_run(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
