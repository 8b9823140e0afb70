/* SPDX-License-Identifier: Apache-2.0 */
/* See queued_scans.h. */
#include "queued_scans.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"

/* ---- An expected scan ------------------------------------------------------------------------ */

static void *allocate(size_t bytes) {
    void *memory = calloc(1, bytes + 1);
    assert_non_null(memory);
    return memory;
}

static int64_t words_of(vscan_type type) {
    return reference_bytes(type, 1) == 8 ? 2 : 1;
}

/* The sum of one result's words. */
static uint32_t word_sum(const struct expected_scan *w, int64_t i) {
    uint32_t words[2] = {0, 0};
    memcpy(words, (const char *)w->out + (size_t)i * reference_bytes(w->type, 1),
           reference_bytes(w->type, 1));
    return words[0] + words[1];
}

static void scan_on_cpu(struct expected_scan *w) {
    const vscan_ctx_options cpu = {.size = sizeof cpu, .backend = VSCAN_BACKEND_CPU};
    vscan_ctx *ctx = NULL;
    vscan_buffer *in, *out, *flags = NULL;
    ok(NULL, vscan_ctx_create(&cpu, &ctx));
    ok(ctx, vscan_buffer_wrap(ctx, w->type, w->in, w->n, &in));
    ok(ctx, vscan_buffer_wrap(ctx, w->type, w->out, w->n, &out));
    if (w->flag_type == 0) {
        const vscan_scan_options options = {
            .size = sizeof options,
            .kind = w->exclusive ? VSCAN_EXCLUSIVE : VSCAN_INCLUSIVE,
            .direction = w->backward ? VSCAN_BACKWARD : VSCAN_FORWARD};
        ok(ctx, vscan_scan(ctx, w->op, in, out, &options));
    } else {
        const vscan_scan_segmented_options options = {
            .size = sizeof options,
            .kind = w->exclusive ? VSCAN_EXCLUSIVE : VSCAN_INCLUSIVE,
            .direction = w->backward ? VSCAN_BACKWARD : VSCAN_FORWARD};
        ok(ctx, vscan_buffer_wrap(ctx, w->flag_type, w->encoded, w->n, &flags));
        ok(ctx, vscan_scan_segmented(ctx, w->op, in, flags, out, &options));
    }
    ok(ctx, vscan_buffer_destroy(in));
    ok(ctx, vscan_buffer_destroy(out));
    ok(ctx, vscan_buffer_destroy(flags));
    ok(NULL, vscan_ctx_destroy(ctx));
}

void expected_scan_make(struct expected_scan *w) {
    const uint64_t seed = case_seed(w->op, w->type, 12) + (uint64_t)w->backward;
    assert_false(w->backward && w->flag_type == VSCAN_BIT);
    w->in = allocate(reference_bytes(w->type, w->n));
    w->out = allocate(reference_bytes(w->type, w->n));
    w->encoded = allocate((size_t)w->n * 4 + 4);
    w->sums = allocate((size_t)(w->n + 1) * sizeof *w->sums);
    inputs_fill(INPUTS_RANDOM, w->type, w->n, seed, w->in);
    if (w->flag_type != 0) {
        uint8_t *flags = allocate((size_t)w->n);
        inputs_flags_fill(w->flags, reference_tile(w->type), w->n, seed + 1, flags);
        inputs_flags_encode(w->flag_type, w->n, flags, seed + 2, w->encoded);
        free(flags);
    }
    scan_on_cpu(w);
    for (int64_t m = 0; m < w->n; m++)
        w->sums[m + 1] = w->sums[m] + word_sum(w, w->backward ? w->n - 1 - m : m);
}

void expected_scan_free(struct expected_scan *w) {
    free(w->in);
    free(w->out);
    free(w->encoded);
    free(w->sums);
}

struct scan_variant scan_variant_draw(const struct expected_scan *w, struct inputs_random *random) {
    return (struct scan_variant){.reduce = inputs_below(random, 4) == 0 && w->flag_type == 0 &&
                                           !w->exclusive,
                                 .in_place = inputs_below(random, 3) == 0,
                                 .shift_in = (int)inputs_below(random, SCAN_QUEUE_SHIFTS),
                                 .shift_out = (int)inputs_below(random, SCAN_QUEUE_SHIFTS)};
}

/* ---- A queue --------------------------------------------------------------------------------- */

static void note(struct scan_queue *r, const char *what) {
    if (r->failures++ > 0) return;
    snprintf(r->first, sizeof r->first, "%s (%.150s)", what, vscan_ctx_last_error(r->ctx));
}

#define EXPECT(r, call)                                                                            \
    do {                                                                                           \
        if ((call) != VSCAN_OK) note((r), #call);                                                  \
    } while (0)

/* A value that no result of random numbers has. */
static const void *poison(vscan_type type) {
    static const int32_t of_int = INT32_MIN;
    static const float of_float = -1e30F;
    static const double of_double = -1e300;
    static const int64_t of_long = INT64_MIN;
    return type == VSCAN_INT     ? (const void *)&of_int
           : type == VSCAN_FLOAT ? (const void *)&of_float
           : type == VSCAN_LONG  ? (const void *)&of_long
                                 : (const void *)&of_double;
}

void scan_queue_open(struct scan_queue *r, const struct expected_scan *w, vscan_ctx *ctx) {
    *r = (struct scan_queue){.w = w, .ctx = ctx};
    const int64_t room = w->n + SCAN_QUEUE_SHIFTS;
    for (int s = 0; s < SCAN_QUEUE_SHIFTS; s++) {
        EXPECT(r, vscan_buffer_create(ctx, w->type, room, &r->in[s]));
        EXPECT(r, vscan_buffer_upload(r->in[s], s, w->n, w->in));
    }
    EXPECT(r, vscan_buffer_create(ctx, w->type, room, &r->out));
    EXPECT(r, vscan_buffer_wrap(ctx, VSCAN_INT, vscan_buffer_pointer(r->out),
                                room * words_of(w->type), &r->words));
    if (w->flag_type != 0) {
        EXPECT(r, vscan_buffer_create(ctx, w->flag_type, w->n, &r->flags));
        EXPECT(r, vscan_buffer_upload(r->flags, 0, w->n, w->encoded));
    }
    /* set, because all are downloaded and a run may write one of the two alone */
    EXPECT(r, vscan_buffer_create(ctx, VSCAN_INT, SCAN_QUEUE_RUNS, &r->sums));
    EXPECT(r, vscan_buffer_create(ctx, w->type, SCAN_QUEUE_RUNS, &r->totals));
    EXPECT(r, vscan_buffer_fill(r->sums, &(int32_t){0}));
    EXPECT(r, vscan_buffer_fill(r->totals, poison(w->type)));
}

static void scan(struct scan_queue *r, vscan_buffer *in, vscan_buffer *flags, vscan_buffer *out,
                 vscan_buffer *total) {
    const struct expected_scan *w = r->w;
    if (flags != NULL) {
        const vscan_scan_segmented_options options = {
            .size = sizeof options,
            .kind = w->exclusive ? VSCAN_EXCLUSIVE : VSCAN_INCLUSIVE,
            .direction = w->backward ? VSCAN_BACKWARD : VSCAN_FORWARD};
        EXPECT(r, vscan_scan_segmented(r->ctx, w->op, in, flags, out, &options));
    } else {
        const vscan_scan_options options = {
            .size = sizeof options,
            .kind = w->exclusive ? VSCAN_EXCLUSIVE : VSCAN_INCLUSIVE,
            .direction = w->backward ? VSCAN_BACKWARD : VSCAN_FORWARD,
            .total = total};
        EXPECT(r, vscan_scan(r->ctx, w->op, in, out, &options));
    }
}

void scan_queue_add(struct scan_queue *r, int64_t m, struct scan_variant variant) {
    const struct expected_scan *w = r->w;
    const int64_t k = words_of(w->type), first = w->backward ? w->n - m : 0;
    if (r->pending == SCAN_QUEUE_RUNS) scan_queue_check(r);
    vscan_buffer **views = r->runs[r->pending].views;
    vscan_buffer *in, *out, *words, *sum, *total, *flags = NULL;
    EXPECT(r, vscan_buffer_view(r->in[variant.shift_in], first + variant.shift_in, m, &views[0]));
    EXPECT(r, vscan_buffer_view(r->out, first + variant.shift_out, m, &views[1]));
    EXPECT(r, vscan_buffer_view(r->words, k * (first + variant.shift_out), k * m, &views[2]));
    EXPECT(r, vscan_buffer_view(r->sums, r->pending, 1, &views[3]));
    EXPECT(r, vscan_buffer_view(r->totals, r->pending, 1, &views[4]));
    if (r->flags != NULL) EXPECT(r, vscan_buffer_view(r->flags, first, m, &views[5]));
    in = views[0], out = views[1], words = views[2], sum = views[3], total = views[4];
    flags = views[5];
    if (variant.reduce) {
        const vscan_reduce_options options = {
            .size = sizeof options, .direction = w->backward ? VSCAN_BACKWARD : VSCAN_FORWARD};
        EXPECT(r, vscan_reduce(r->ctx, w->op, in, total, &options));
    } else {
        if (variant.in_place)
            EXPECT(r, vscan_buffer_copy(in, out));
        else
            EXPECT(r, vscan_buffer_fill(out, poison(w->type)));
        scan(r, variant.in_place ? out : in, flags, out, total);
        EXPECT(r, vscan_reduce(r->ctx, VSCAN_PLUS, words, sum, NULL));
    }
    r->runs[r->pending].m = m;
    r->runs[r->pending].variant = variant;
    r->pending++;
    r->done++;
}

void scan_queue_capture(struct scan_queue *r, int64_t m, vscan_buffer *sum) {
    const struct expected_scan *w = r->w;
    const int64_t k = words_of(w->type), first = w->backward ? w->n - m : 0;
    vscan_buffer *in, *out, *words, *flags = NULL;
    EXPECT(r, vscan_buffer_view(r->in[0], first, m, &in));
    EXPECT(r, vscan_buffer_view(r->out, first, m, &out));
    EXPECT(r, vscan_buffer_view(r->words, k * first, k * m, &words));
    if (r->flags != NULL) EXPECT(r, vscan_buffer_view(r->flags, first, m, &flags));
    const vscan_reduce_options add = {.size = sizeof add, .initial_buffer = sum};
    EXPECT(r, vscan_buffer_fill(out, poison(w->type)));
    scan(r, in, flags, out, NULL);
    EXPECT(r, vscan_reduce(r->ctx, VSCAN_PLUS, words, sum, &add));
    EXPECT(r, vscan_buffer_destroy(in)); /* views: what they show stays */
    EXPECT(r, vscan_buffer_destroy(out));
    EXPECT(r, vscan_buffer_destroy(words));
    EXPECT(r, vscan_buffer_destroy(flags));
}

/* ---- Checks ---------------------------------------------------------------------------------- */

static void wrong(struct scan_queue *r, int run, const char *what, const char *expected,
                  const char *got) {
    const struct expected_scan *w = r->w;
    const struct scan_variant variant = r->runs[run].variant;
    char text[sizeof r->first];
    snprintf(text, sizeof text,
             "%s_%s%s%s, %s, %s, n %" PRId64 ", %s, shifts in %d out %d, run %" PRId64
             ", VSCAN_TEST_SEED=%" PRIu64 ": %s: expected %s, got %s",
             reference_op_name(w->op), reference_type_name(w->type),
             w->flag_type ? ", segments " : "", w->flag_type ? inputs_flags_name(w->flags) : "",
             w->exclusive ? "exclusive" : "inclusive", w->backward ? "backward" : "forward",
             r->runs[run].m,
             variant.reduce     ? "reduction"
             : variant.in_place ? "in place"
                                : "not in place",
             variant.shift_in, variant.shift_out, r->done - r->pending + run, harness_seed(), what,
             expected, got);
    if (r->failures++ == 0) memcpy(r->first, text, sizeof text);
}

static void check_sum(struct scan_queue *r, int run, uint32_t got) {
    const uint32_t expected = r->w->sums[r->runs[run].m];
    char a[REFERENCE_TEXT], b[REFERENCE_TEXT];
    if (got == expected) return;
    snprintf(a, sizeof a, "%08" PRIx32, expected);
    snprintf(b, sizeof b, "%08" PRIx32, got);
    wrong(r, run, "sum of the results' words", a, b);
}

/* The total is the last inclusive result. */
static void check_total(struct scan_queue *r, int run, const void *totals) {
    const struct expected_scan *w = r->w;
    const int64_t m = r->runs[run].m, last = w->backward ? w->n - m : m - 1;
    const size_t size = reference_bytes(w->type, 1);
    const char *expected = (const char *)w->out + (size_t)last * size;
    const char *got = (const char *)totals + (size_t)run * size;
    char a[REFERENCE_TEXT], b[REFERENCE_TEXT];
    if (w->exclusive || w->flag_type != 0 || memcmp(expected, got, size) == 0) return;
    wrong(r, run, "total", reference_text(w->type, expected, 0, a),
          reference_text(w->type, got, 0, b));
}

void scan_queue_check(struct scan_queue *r) {
    uint32_t sums[SCAN_QUEUE_RUNS] = {0};
    uint64_t totals[SCAN_QUEUE_RUNS] = {0};
    if (r->pending == 0) return;
    EXPECT(r, vscan_buffer_download(r->sums, 0, r->pending, sums));
    if (r->w->flag_type == 0) EXPECT(r, vscan_buffer_download(r->totals, 0, r->pending, totals));
    for (int run = 0; run < r->pending; run++) {
        if (!r->runs[run].variant.reduce) check_sum(r, run, sums[run]);
        check_total(r, run, totals);
        for (int v = 0; v < SCAN_QUEUE_VIEWS; v++) {
            EXPECT(r, vscan_buffer_destroy(r->runs[run].views[v]));
            r->runs[run].views[v] = NULL;
        }
    }
    r->pending = 0;
}

int scan_queue_close(struct scan_queue *r) {
    scan_queue_check(r);
    for (int s = 0; s < SCAN_QUEUE_SHIFTS; s++) EXPECT(r, vscan_buffer_destroy(r->in[s]));
    EXPECT(r, vscan_buffer_destroy(r->words));
    EXPECT(r, vscan_buffer_destroy(r->out));
    EXPECT(r, vscan_buffer_destroy(r->flags));
    EXPECT(r, vscan_buffer_destroy(r->sums));
    EXPECT(r, vscan_buffer_destroy(r->totals));
    if (r->failures > 0)
        print_error("%s: %d failures in %" PRId64 " runs, the first: %s\n", harness_backend_name(),
                    r->failures, r->done, r->first);
    return r->failures;
}
