/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A segment given by offsets is a vector: its results depend on its own elements alone. Each has the bits of
 * the vector's call; equal lengths have those of rows; permuting segments permutes results, and changing
 * one segment changes no other.
 */
#include "harness.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "core/order.h"
#include "core/pairs.h"

/* ---- Batches --------------------------------------------------------------------------------- */

/* Segments on the host, some elements before the first and after the last. */
struct batch {
    vscan_type type;
    int64_t n, segments;
    int64_t *offsets;
    char *in, *totals;
};

enum lengths { TINY, SHORT, MIDDLE, LONG, HUGE_AMONG_TINY, MIXED, EMPTY, LENGTHS };
static const char *const length_names[] = {
    "0 to 3", "0 to 40", "around 1024", "of some tiles", "a huge one among tiny ones",
    "mixed",  "empty"};

static int64_t draw_length(enum lengths lengths, vscan_type type, int64_t k, int64_t segments,
                           struct inputs_random *random) {
    const int64_t tile = reference_tile(type);
    static const int64_t around[] = {0, 1, 31, 32, 33, 64, 1023, 1024, 1025, 2048, 3000};
    switch (lengths) {
    case TINY:
        return inputs_below(random, 4);
    case SHORT:
        return inputs_below(random, 41);
    case MIDDLE:
        return around[inputs_below(random, 11)];
    case LONG:
        return inputs_below(random, 4) * tile / 2 + inputs_below(random, 3 * tile);
    case HUGE_AMONG_TINY:
        return k == segments / 3 ? 20 * tile + inputs_below(random, tile) : inputs_below(random, 4);
    case MIXED:
        return inputs_below(random, INT64_C(1) << inputs_below(random, 17));
    default:
        return 0;
    }
}

static struct batch make_batch(enum lengths lengths, vscan_type type, int64_t segments,
                               struct inputs_random *random) {
    struct batch b = {.type = type, .segments = segments};
    b.offsets = malloc((size_t)(segments + 1) * sizeof *b.offsets);
    assert_non_null(b.offsets);
    b.offsets[0] = inputs_below(random, 2) * inputs_below(random, 100);
    for (int64_t k = 0; k < segments; k++)
        b.offsets[k + 1] = b.offsets[k] + draw_length(lengths, type, k, segments, random);
    b.n = b.offsets[segments] + inputs_below(random, 2) * inputs_below(random, 100);
    b.in = malloc(reference_bytes(type, b.n) + 1);
    b.totals = malloc(reference_bytes(type, segments) + 1);
    assert_true(b.in != NULL && b.totals != NULL);
    inputs_fill(INPUTS_RANDOM, type, b.n, inputs_next(random), b.in);
    return b;
}

static void end_batch(struct batch *b) {
    free(b->offsets);
    free(b->in);
    free(b->totals);
}

/* A vector on the device, `shift` elements off. */
static vscan_buffer *upload(vscan_ctx *ctx, vscan_type type, int64_t n, const void *from, int shift,
                            vscan_buffer **whole) {
    vscan_buffer *view;
    ok(ctx, vscan_buffer_create(ctx, type, n + shift, whole));
    ok(ctx, vscan_buffer_view(*whole, shift, n, &view));
    if (from != NULL) ok(ctx, vscan_buffer_upload(view, 0, n, from));
    return view;
}

/* The offsets as a vector of int or long. */
static vscan_buffer *upload_offsets(vscan_ctx *ctx, const struct batch *b, vscan_type type,
                                    vscan_buffer **whole) {
    int32_t *narrow = malloc((size_t)(b->segments + 1) * sizeof *narrow);
    assert_non_null(narrow);
    for (int64_t k = 0; k <= b->segments; k++) narrow[k] = (int32_t)b->offsets[k];
    vscan_buffer *v =
        upload(ctx, type, b->segments + 1,
               type == VSCAN_LONG ? (const void *)b->offsets : (const void *)narrow, 1, whole);
    free(narrow);
    return v;
}

static void reduce(vscan_ctx *ctx, vscan_op op, struct batch *b, vscan_type offset_type,
                   int shift) {
    vscan_buffer *whole[3], *view[3];
    view[0] = upload(ctx, b->type, b->n, b->in, shift, &whole[0]);
    view[1] = upload_offsets(ctx, b, offset_type, &whole[1]);
    view[2] = upload(ctx, b->type, b->segments, NULL, 0, &whole[2]);
    ok(ctx, vscan_reduce_by_offsets(ctx, op, view[0], view[1], view[2], NULL));
    ok(ctx, vscan_ctx_synchronize(ctx));
    ok(ctx, vscan_buffer_download(view[2], 0, b->segments, b->totals));
    for (int k = 0; k < 3; k++) {
        ok(ctx, vscan_buffer_destroy(view[k]));
        ok(ctx, vscan_buffer_destroy(whole[k]));
    }
}

static void must_be_same(const struct batch *b, vscan_op op, enum lengths lengths, const char *what,
                         int64_t n, const void *expected, const void *got) {
    const int64_t i = reference_difference(b->type, n, expected, got);
    char x[REFERENCE_TEXT], y[REFERENCE_TEXT];
    if (i < 0) return;
    print_error("%s: %s: %s_%s, %" PRId64 " segments of lengths %s, seed %" PRIu64
                ", index %" PRId64 ": expected %s, got %s\n",
                harness_backend_name(), what, reference_op_name(op), reference_type_name(b->type),
                b->segments, length_names[lengths], harness_seed(), i,
                reference_text(b->type, expected, i, x), reference_text(b->type, got, i, y));
    fail();
}

/* ---- Properties ------------------------------------------------------------------------------ */

/* Totals of the segments one by one, as vectors of their own. */
static void each_alone(vscan_ctx *ctx, vscan_op op, const struct batch *b, char *totals) {
    vscan_buffer *in, *total;
    ok(ctx, vscan_buffer_create(ctx, b->type, b->n + 1, &in));
    ok(ctx, vscan_buffer_create(ctx, b->type, b->segments + 1, &total));
    ok(ctx, vscan_buffer_upload(in, 0, b->n, b->in));
    for (int64_t k = 0; k < b->segments; k++) {
        vscan_buffer *segment, *to;
        ok(ctx, vscan_buffer_view(in, b->offsets[k], b->offsets[k + 1] - b->offsets[k], &segment));
        ok(ctx, vscan_buffer_view(total, k, 1, &to));
        ok(ctx, vscan_reduce(ctx, op, segment, to, NULL));
        ok(ctx, vscan_buffer_destroy(segment));
        ok(ctx, vscan_buffer_destroy(to));
    }
    ok(ctx, vscan_buffer_download(total, 0, b->segments, totals));
    ok(ctx, vscan_buffer_destroy(in));
    ok(ctx, vscan_buffer_destroy(total));
}

/* The same segments in another order. */
static struct batch permuted(const struct batch *b, const int64_t *from) {
    struct batch p = *b;
    const size_t size = reference_bytes(b->type, 1);
    p.offsets = malloc((size_t)(b->segments + 1) * sizeof *p.offsets);
    p.in = malloc(reference_bytes(b->type, b->n) + 1);
    p.totals = malloc(reference_bytes(b->type, b->segments) + 1);
    assert_true(p.offsets != NULL && p.in != NULL && p.totals != NULL);
    p.offsets[0] = 0;
    for (int64_t k = 0; k < b->segments; k++) {
        const int64_t begin = b->offsets[from[k]], n = b->offsets[from[k] + 1] - begin;
        memcpy(p.in + (size_t)p.offsets[k] * size, b->in + (size_t)begin * size, (size_t)n * size);
        p.offsets[k + 1] = p.offsets[k] + n;
    }
    p.n = p.offsets[b->segments];
    return p;
}

static void properties(vscan_op op, enum lengths lengths, vscan_type type, int64_t segments,
                       struct inputs_random *random) {
    vscan_ctx *ctx = harness_ctx();
    struct batch b = make_batch(lengths, type, segments, random);
    const size_t size = reference_bytes(type, 1), bytes = (size_t)segments * size;
    char *expected = malloc(bytes + 1);
    int64_t *from = malloc((size_t)(segments + 1) * sizeof *from);
    assert_true(expected != NULL && from != NULL);
    each_alone(ctx, op, &b, expected);
    reduce(ctx, op, &b, VSCAN_INT, 0);
    must_be_same(&b, op, lengths, "as a vector alone", segments, expected, b.totals);
    reduce(ctx, op, &b, VSCAN_LONG, 1 + (int)inputs_below(random, 3));
    must_be_same(&b, op, lengths, "long offsets, another address", segments, expected, b.totals);

    for (int64_t k = 0; k < segments; k++) from[k] = k;
    for (int64_t k = segments - 1; k > 0; k--) {
        const int64_t j = inputs_below(random, k + 1), other = from[j];
        from[j] = from[k];
        from[k] = other;
    }
    struct batch p = permuted(&b, from);
    reduce(ctx, op, &p, VSCAN_INT, 0);
    for (int64_t k = 0; k < segments; k++)
        memcpy(b.totals + (size_t)from[k] * size, p.totals + (size_t)k * size, size);
    must_be_same(&b, op, lengths, "permuted", segments, expected, b.totals);
    end_batch(&p);

    /* one segment changes, and is of another length */
    const int64_t one = inputs_below(random, segments);
    const int64_t cut = b.offsets[one + 1] - b.offsets[one] > 0;
    memmove(b.in + (size_t)b.offsets[one] * size, b.in + (size_t)(b.offsets[one] + cut) * size,
            (size_t)(b.n - b.offsets[one] - cut) * size);
    for (int64_t k = one + 1; k <= segments; k++) b.offsets[k] -= cut;
    b.n -= cut;
    reduce(ctx, op, &b, VSCAN_INT, 0);
    memcpy(b.totals + (size_t)one * size, expected + (size_t)one * size, size);
    must_be_same(&b, op, lengths, "another one changed", segments, expected, b.totals);
    end_batch(&b);
    free(expected);
    free(from);
}

/* Scans: results and totals of each segment as of a vector alone; what is in no segment stays. */
static void scans(vscan_op op, enum lengths lengths, vscan_type type, int64_t segments, int mode,
                  struct inputs_random *random) {
    vscan_ctx *ctx = harness_ctx();
    struct batch b = make_batch(lengths, type, segments, random);
    const int32_t kind = mode & 1 ? VSCAN_EXCLUSIVE : VSCAN_INCLUSIVE;
    const int32_t direction = mode & 2 ? VSCAN_BACKWARD : VSCAN_FORWARD;
    const bool in_place = mode & 4;
    char *expected = malloc(reference_bytes(type, b.n) + 1);
    char *other = malloc(reference_bytes(type, b.n) + 1);
    char *totals = malloc(reference_bytes(type, segments) + 1);
    char z[8];
    assert_true(expected != NULL && other != NULL && totals != NULL);
    inputs_fill(INPUTS_RANDOM, type, b.n, inputs_next(random), other);
    inputs_fill(INPUTS_RANDOM, type, 1, inputs_next(random), z);
    const vscan_value initial = harness_value(type, mode & 8 ? z : NULL);
    vscan_buffer *whole[5], *view[5];
    view[0] = upload(ctx, type, b.n, b.in, (int)inputs_below(random, 4), &whole[0]);
    view[1] = upload_offsets(ctx, &b, mode & 16 ? VSCAN_LONG : VSCAN_INT, &whole[1]);
    view[2] = upload(ctx, type, b.n, other, (int)inputs_below(random, 4), &whole[2]);
    view[3] = upload(ctx, type, segments, NULL, 0, &whole[3]);
    view[4] = upload(ctx, type, segments, NULL, 0, &whole[4]);
    for (int64_t k = 0; k < segments; k++) {
        const int64_t n = b.offsets[k + 1] - b.offsets[k];
        vscan_buffer *from, *to, *total;
        ok(ctx, vscan_buffer_view(view[0], b.offsets[k], n, &from));
        ok(ctx, vscan_buffer_view(view[2], b.offsets[k], n, &to));
        ok(ctx, vscan_buffer_view(view[4], k, 1, &total));
        const vscan_scan_options one = {.size = sizeof one,
                                        .kind = kind,
                                        .direction = direction,
                                        .initial = initial,
                                        .total = total};
        ok(ctx, vscan_scan(ctx, op, from, to, &one));
        ok(ctx, vscan_buffer_destroy(from));
        ok(ctx, vscan_buffer_destroy(to));
        ok(ctx, vscan_buffer_destroy(total));
    }
    ok(ctx, vscan_buffer_download(view[2], 0, b.n, expected));
    ok(ctx, vscan_buffer_download(view[4], 0, segments, totals));
    vscan_buffer *const out = in_place ? view[0] : view[2];
    if (in_place) { /* what is in no segment */
        const size_t size = reference_bytes(type, 1), from = (size_t)b.offsets[0] * size;
        const size_t end = (size_t)b.offsets[segments] * size;
        memcpy(expected, b.in, from);
        memcpy(expected + end, b.in + end, (size_t)b.n * size - end);
    } else {
        ok(ctx, vscan_buffer_upload(out, 0, b.n, other));
    }
    const vscan_scan_by_offsets_options o = {.size = sizeof o,
                                             .kind = kind,
                                             .direction = direction,
                                             .initial = initial,
                                             .totals = mode & 32 ? NULL : view[3]};
    ok(ctx, vscan_scan_by_offsets(ctx, op, view[0], view[1], out, &o));
    ok(ctx, vscan_ctx_synchronize(ctx));
    ok(ctx, vscan_buffer_download(out, 0, b.n, other));
    must_be_same(&b, op, lengths, "scan", b.n, expected, other);
    ok(ctx, vscan_buffer_download(view[3], 0, segments, b.totals));
    if (o.totals != NULL) must_be_same(&b, op, lengths, "totals", segments, totals, b.totals);
    for (int k = 0; k < 5; k++) {
        ok(ctx, vscan_buffer_destroy(view[k]));
        ok(ctx, vscan_buffer_destroy(whole[k]));
    }
    end_batch(&b);
    free(expected);
    free(other);
    free(totals);
}

static void properties_of(vscan_op op, vscan_type type) {
    struct inputs_random random = {case_seed(op, type, 61)};
    for (enum lengths lengths = 0; lengths < LENGTHS; lengths++)
        for (int k = 0; k < (harness_small() ? 1 : 3); k++) {
            const int64_t most = lengths == LONG ? 12 : k == 0 ? 40 : 700;
            properties(op, lengths, type, 1 + inputs_below(&random, most), &random);
            scans(op, lengths, type, 1 + inputs_below(&random, most),
                  (int)inputs_below(&random, 64), &random);
        }
}

#define X(pair, op, type, OP, TYPE)                                                                \
    static void segments_##pair(void **state) {                                                    \
        (void)state;                                                                               \
        properties_of(VSCAN_##OP, VSCAN_##TYPE);                                                   \
    }
VSCAN__PAIRS(X)
#undef X

/* Segments of one length have the bits of rows. */
static void segments_as_rows(void **state) {
    (void)state;
    vscan_ctx *ctx = harness_ctx();
    struct inputs_random random = {case_seed(VSCAN_PLUS, VSCAN_FLOAT, 62)};
    static const int64_t lengths[] = {1, 3, 31, 32, 33, 100, 1024, 1025, 5000, 20000};
    for (int type = 0; type < 2; type++)
        for (int i = 0; i < (harness_small() ? 6 : 10); i++) {
            const vscan_type t = type ? VSCAN_DOUBLE : VSCAN_FLOAT;
            const int64_t rows = 1 + inputs_below(&random, 100), each = lengths[i];
            struct batch b = {.type = t, .n = rows * each, .segments = rows};
            b.offsets = malloc((size_t)(rows + 1) * sizeof *b.offsets);
            b.in = malloc(reference_bytes(t, b.n));
            b.totals = malloc(reference_bytes(t, rows));
            char *expected = malloc(reference_bytes(t, rows));
            assert_true(b.offsets != NULL && b.in != NULL && b.totals != NULL && expected != NULL);
            for (int64_t k = 0; k <= rows; k++) b.offsets[k] = k * each;
            inputs_fill(INPUTS_RANDOM, t, b.n, inputs_next(&random), b.in);
            vscan_buffer *in, *totals;
            ok(ctx, vscan_buffer_create(ctx, t, b.n, &in));
            ok(ctx, vscan_buffer_create(ctx, t, rows, &totals));
            ok(ctx, vscan_buffer_upload(in, 0, b.n, b.in));
            ok(ctx, vscan_reduce_rows(ctx, VSCAN_PLUS, in, rows, each, totals, NULL));
            ok(ctx, vscan_buffer_download(totals, 0, rows, expected));
            reduce(ctx, VSCAN_PLUS, &b, VSCAN_INT, 0);
            must_be_same(&b, VSCAN_PLUS, MIXED, "as rows", rows, expected, b.totals);
            ok(ctx, vscan_buffer_destroy(in));
            ok(ctx, vscan_buffer_destroy(totals));
            end_batch(&b);
            free(expected);
        }
}

/* Any number of threads gives the same bits; a huge segment is shared by all of them. */
static void segments_and_threads(void **state) {
    (void)state;
    if (harness_backend != VSCAN_BACKEND_CPU) skip();
    struct inputs_random random = {case_seed(VSCAN_PLUS, VSCAN_DOUBLE, 63)};
    for (enum lengths lengths = 0; lengths < LENGTHS; lengths++)
        for (int type = 0; type < 2; type++) {
            const int64_t segments = lengths == LONG ? 60 : 30000 >> 5 * (lengths == MIXED);
            struct batch b =
                make_batch(lengths, type ? VSCAN_DOUBLE : VSCAN_FLOAT, segments, &random);
            char *expected = malloc(reference_bytes(b.type, segments));
            assert_non_null(expected);
            for (int32_t threads = 1; threads <= 5; threads += 2) {
                vscan_ctx *ctx = harness_new_ctx(threads);
                reduce(ctx, VSCAN_PLUS, &b, VSCAN_INT, 0);
                if (threads == 1) memcpy(expected, b.totals, reference_bytes(b.type, segments));
                must_be_same(&b, VSCAN_PLUS, lengths, "threads", segments, expected, b.totals);
                ok(NULL, vscan_ctx_destroy(ctx));
            }
            end_batch(&b);
            free(expected);
        }
}

/* 10^7 segments of 0 to 3 elements (fewer where sizes are small), each by a plain sum of its tree. */
static void segments_many(void **state) {
    (void)state;
    struct inputs_random random = {case_seed(VSCAN_PLUS, VSCAN_FLOAT, 64)};
    const int64_t segments = harness_small() ? 10000 : 10000000;
    struct batch b = make_batch(TINY, VSCAN_FLOAT, segments, &random);
    float *expected = malloc((size_t)segments * sizeof *expected);
    assert_non_null(expected);
    for (int64_t k = 0; k < segments; k++) {
        const float *x = (const float *)b.in + b.offsets[k];
        const int64_t n = b.offsets[k + 1] - b.offsets[k];
        expected[k] = n == 0 ? 0 : n == 1 ? x[0] : n == 2 ? x[0] + x[1] : (x[0] + x[1]) + x[2];
    }
    reduce(harness_ctx(), VSCAN_PLUS, &b, VSCAN_INT, 0);
    must_be_same(&b, VSCAN_PLUS, TINY, "many", segments, expected, b.totals);
    end_batch(&b);
    free(expected);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
#define X(pair, op, type, OP, TYPE) cmocka_unit_test(segments_##pair),
        VSCAN__PAIRS(X)
#undef X
            cmocka_unit_test(segments_as_rows),
        cmocka_unit_test(segments_and_threads),
        cmocka_unit_test(segments_many),
    };
    return harness_run(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
