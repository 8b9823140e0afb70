/* SPDX-License-Identifier: Apache-2.0 */
/* Runs of the library against the reference; see cases.h. */
#include "cases.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "guarded.h"

/* ---- Saying which case failed ---------------------------------------------------------------- */

static void print_case(const struct test_case *c) {
    static const char *const initials[] = {"none", "host", "buffer", "carry"};
    static const char *const totals[] = {"none", "exact", "longer", "short"};
    print_error(
        "%s %s: %s_%s, n %" PRId64 ", pattern %s, seed %" PRIu64 " (VSCAN_TEST_SEED=%" PRIu64 ")\n",
        harness_backend_name(), c->family, reference_op_name(c->op), reference_type_name(c->type),
        c->n, inputs_name(c->pattern), c->seed, harness_seed());
    print_error("    %s, %s, %s, initial %s, shifts in %d out %d",
                c->exclusive ? "exclusive" : "inclusive", c->backward ? "backward" : "forward",
                c->in_place ? "in place" : "not in place", initials[c->initial], c->shift_in,
                c->shift_out);
    if (strcmp(c->family, "segmented") == 0)
        print_error(", flags %s as %s shift %d, totals %s, count %s\n", inputs_flags_name(c->flags),
                    reference_type_name(c->flag_type), c->shift_flags, totals[c->totals],
                    c->count_buffer ? "yes" : "-");
    else
        print_error(", total %s\n", c->total_buffer ? "yes" : "-");
}

static bool same_bits(int64_t n, const uint32_t *a, const uint32_t *b) {
    if (memcmp(a, b, (size_t)n / 32 * 4) != 0) return false;
    return n % 32 == 0 || (a[n / 32] ^ b[n / 32]) << (32 - n % 32) == 0;
}

/* Compares what is in a view with what should be, and its surroundings with what they were. */
static void check(const struct test_case *c, const char *what, struct guarded *g, int64_t n,
                  const void *expected) {
    bool intact;
    const void *got = guarded_download(g, &intact);
    const bool bits = g->type == VSCAN_BIT; /* flags: the same ones, whatever lies behind them */
    const int64_t at = bits ? (same_bits(n, expected, got) ? -1 : 0)
                            : reference_difference(g->type, n, expected, got);
    if (at < 0 && intact) return;
    print_case(c);
    if (at >= 0 && !bits) {
        char a[REFERENCE_TEXT], b[REFERENCE_TEXT];
        print_error("    %s[%" PRId64 "]: expected %s, got %s\n", what, at,
                    reference_text(g->type, expected, at, a), reference_text(g->type, got, at, b));
    } else {
        print_error("    %s: %s\n", what, intact ? "changed" : "written outside its ends");
    }
    fail();
}

static void check_unchanged(const struct test_case *c, const char *what, struct guarded *g) {
    check(c, what, g, g->n, guarded_original(g));
}

static void check_status(const struct test_case *c, const char *what, vscan_status expected,
                         vscan_status got) {
    if (expected == got) return;
    print_case(c);
    print_error("    %s: expected %s, got %s: %s\n", what, vscan_status_name(expected),
                vscan_status_name(got), vscan_ctx_last_error(harness_ctx()));
    fail();
}

static void *allocate(size_t bytes) {
    void *memory = malloc(bytes > 0 ? bytes : 1);
    assert_non_null(memory);
    return memory;
}

/* ---- What a case draws ----------------------------------------------------------------------- */

/* -1: the view is the whole buffer */
static int draw_shift(struct inputs_random *random) {
    static const int shifts[] = {0, 0, 1, 2, 3, 4, 5, -1};
    return shifts[inputs_below(random, 8)];
}

void case_draw(struct test_case *c, struct inputs_random *random) {
    c->initial = (enum case_initial)inputs_below(random, INITIAL_CHOICES);
    c->total_buffer = inputs_below(random, 2);
    c->shift_in = draw_shift(random);
    c->shift_out = draw_shift(random);
    c->shift_flags = draw_shift(random);
    c->totals = (enum case_totals)inputs_below(random, TOTALS_CHOICES);
    c->count_buffer = inputs_below(random, 2);
}

/* The initial value of a case: mostly an ordinary number, now and then one of the others. */
static void draw_initial(const struct test_case *c, void *element) {
    static const float special[] = {0.0F, -0.0F, 1.0F, INFINITY, -INFINITY, NAN, 2.5F, -1.0F};
    struct inputs_random random = {c->seed ^ UINT64_C(0x1234567)};
    inputs_fill(INPUTS_RANDOM, c->type, 1, inputs_next(&random), element);
    const bool real = c->type == VSCAN_FLOAT || c->type == VSCAN_DOUBLE;
    const bool logical = real && (c->op == VSCAN_AND || c->op == VSCAN_OR);
    if (!logical && inputs_below(&random, 4) != 0) return;
    const float value = special[inputs_below(&random, 8)];
    const double wide = (double)value;
    const int32_t bits = -(int32_t)inputs_below(&random, 2);
    const int64_t ends[] = {0, -1, INT64_MIN, INT64_MAX};
    const int64_t end = ends[inputs_below(&random, 4)];
    if (c->type == VSCAN_INT) memcpy(element, &bits, sizeof bits);
    if (c->type == VSCAN_LONG) memcpy(element, &end, sizeof end);
    if (c->type == VSCAN_FLOAT) memcpy(element, &value, sizeof value);
    if (c->type == VSCAN_DOUBLE) memcpy(element, &wide, sizeof wide);
}

/* ---- Runs ------------------------------------------------------------------------------------ */

/* What the runs of all families have in common. */
struct run {
    struct reference reference;
    struct guarded in, out, initial, total; /* unused: all zero */
    uint64_t z;                             /* room for one element */
    uint64_t expected_total;
    const void *host_initial; /* what the options get */
    vscan_buffer *initial_buffer, *total_buffer;
};

static void begin(const struct test_case *c, struct run *run, const void *in,
                  const uint8_t *flags) {
    vscan_ctx *ctx = harness_ctx();
    const bool reduce = strcmp(c->family, "reduce") == 0, segmented = flags != NULL;
    *run = (struct run){.reference = {.op = c->op,
                                      .type = c->type,
                                      .n = c->n,
                                      .in = in,
                                      .flags = flags,
                                      .exclusive = c->exclusive,
                                      .backward = c->backward}};
    struct reference *r = &run->reference;
    if (!reduce) r->out = allocate(reference_bytes(c->type, c->n));
    if (segmented) r->totals = allocate(reference_bytes(c->type, c->n));
    if (!segmented) r->total = &run->expected_total;

    if (c->initial != INITIAL_NONE) {
        draw_initial(c, &run->z);
        r->initial = &run->z;
    }
    if (c->initial == INITIAL_HOST) run->host_initial = &run->z;
    if (c->initial >= INITIAL_BUFFER) {
        run->initial = guarded_make(ctx, c->type, 1, 1, &run->z);
        run->initial_buffer = run->initial.view;
    }
    if (c->total_buffer && !segmented) {
        run->total = guarded_make(ctx, c->type, 1, 3, NULL);
        run->total_buffer = run->total.view;
        if (c->initial == INITIAL_CARRY) run->total_buffer = run->initial.view;
    }

    run->in = guarded_make(ctx, c->type, c->n, c->shift_in, in);
    if (!reduce && !c->in_place) run->out = guarded_make(ctx, c->type, c->n, c->shift_out, NULL);
    reference_scan(r);
}

static vscan_buffer *out_view(const struct test_case *c, const struct run *run) {
    return c->in_place ? run->in.view : run->out.view;
}

/* Everything but the totals of segments. */
static void end(const struct test_case *c, struct run *run) {
    const struct reference *r = &run->reference;
    if (r->out != NULL) check(c, "out", c->in_place ? &run->in : &run->out, c->n, r->out);
    if (!c->in_place) check_unchanged(c, "in", &run->in);
    if (run->initial.view != NULL) {
        if (run->total_buffer == run->initial.view)
            check(c, "total (in the initial value's place)", &run->initial, 1, r->total);
        else
            check_unchanged(c, "initial", &run->initial);
    }
    if (run->total.view != NULL && run->total_buffer == run->total.view)
        check(c, "total", &run->total, 1, r->total);
    if (run->in.view != NULL) guarded_free(&run->in);
    if (run->out.view != NULL) guarded_free(&run->out);
    if (run->initial.view != NULL) guarded_free(&run->initial);
    if (run->total.view != NULL) guarded_free(&run->total);
    free(r->out);
    free(r->totals);
}

void case_scan(const struct test_case *c, const void *in) {
    struct run run;
    begin(c, &run, in, NULL);
    const vscan_scan_options options = {.size = sizeof options,
                                        .kind = c->exclusive ? VSCAN_EXCLUSIVE : VSCAN_INCLUSIVE,
                                        .direction = c->backward ? VSCAN_BACKWARD : VSCAN_FORWARD,
                                        .initial = harness_value(c->type, run.host_initial),
                                        .initial_buffer = run.initial_buffer,
                                        .total = run.total_buffer};
    /* NULL stands for all defaults: use it where that is what is asked */
    const bool defaults = !c->exclusive && !c->backward && c->initial == INITIAL_NONE &&
                          !c->total_buffer && c->n % 2 == 1;
    check_status(c, "vscan_scan", VSCAN_OK,
                 vscan_scan(harness_ctx(), c->op, run.in.view, out_view(c, &run),
                            defaults ? NULL : &options));
    end(c, &run);
}

void case_reduce(const struct test_case *drawn, const void *in) {
    struct test_case with_total = *drawn;
    const struct test_case *const c = &with_total;
    struct run run;
    with_total.total_buffer = true; /* or there would be nothing to reduce to */
    begin(c, &run, in, NULL);
    const vscan_reduce_options options = {.size = sizeof options,
                                          .direction = c->backward ? VSCAN_BACKWARD : VSCAN_FORWARD,
                                          .initial = harness_value(c->type, run.host_initial),
                                          .initial_buffer = run.initial_buffer};
    const bool defaults = !c->backward && c->initial == INITIAL_NONE && c->n % 2 == 1;
    check_status(c, "vscan_reduce", VSCAN_OK,
                 vscan_reduce(harness_ctx(), c->op, run.in.view, run.total_buffer,
                              defaults ? NULL : &options));
    end(c, &run);
}

void case_segmented(const struct test_case *c, const void *in, const uint8_t *flags) {
    vscan_ctx *ctx = harness_ctx();
    struct run run;
    begin(c, &run, in, flags);
    const struct reference *r = &run.reference;

    void *encoded = allocate(reference_bytes(c->flag_type, c->n));
    inputs_flags_encode(c->flag_type, c->n, flags, c->seed, encoded);
    struct guarded device_flags = guarded_make(ctx, c->flag_type, c->n, c->shift_flags, encoded);

    /* room for the totals: more than there are segments, or fewer, down to none */
    int64_t room = r->count;
    if (c->totals == TOTALS_LONGER) room = r->count + 1 + (int64_t)(c->seed % 40);
    if (c->totals == TOTALS_SHORT) room = r->count / 2;
    const int64_t written = room < r->count ? room : r->count;
    const bool late = c->totals != TOTALS_NONE && room < r->count;
    struct guarded totals = {0}, count = {0};
    if (c->totals != TOTALS_NONE) totals = guarded_make(ctx, c->type, room, c->shift_out, NULL);
    if (c->count_buffer) count = guarded_make(ctx, VSCAN_LONG, 1, 1, NULL);

    const vscan_scan_segmented_options options = {
        .size = sizeof options,
        .kind = c->exclusive ? VSCAN_EXCLUSIVE : VSCAN_INCLUSIVE,
        .direction = c->backward ? VSCAN_BACKWARD : VSCAN_FORWARD,
        .initial = harness_value(c->type, run.host_initial),
        .initial_buffer = run.initial_buffer,
        .totals = totals.view,
        .count = count.view};
    const vscan_status reported = late ? VSCAN_ERROR_TOTALS_LENGTH : VSCAN_OK;
    check_status(c, "vscan_scan_segmented", VSCAN_OK,
                 vscan_scan_segmented(ctx, c->op, run.in.view, device_flags.view, out_view(c, &run),
                                      &options));
    check_status(c, "vscan_ctx_synchronize", reported, vscan_ctx_synchronize(ctx));
    if (count.view != NULL) check(c, "count", &count, 1, &r->count);
    if (totals.view != NULL) {
        /* beyond those that are written the poison must still be there */
        void *expected = allocate(totals.bytes);
        memcpy(expected, guarded_original(&totals), totals.bytes);
        memcpy(expected, r->totals, reference_bytes(c->type, written));
        check(c, "totals", &totals, room, expected);
        free(expected);
        guarded_free(&totals);
    }
    check_unchanged(c, "flags", &device_flags);
    guarded_free(&device_flags);
    if (count.view != NULL) guarded_free(&count);
    free(encoded);
    end(c, &run);
}

/* ---- Lengths and seeds ----------------------------------------------------------------------- */

uint64_t case_seed(vscan_op op, vscan_type type, uint64_t purpose) {
    struct inputs_random random = {harness_seed() + 64 * purpose + 8 * (uint64_t)op +
                                   (uint64_t)type};
    return inputs_next(&random);
}

size_t case_sizes(vscan_type type, uint64_t seed, int64_t sizes[CASE_SIZES]) {
    static const int64_t smallest[] = {0, 1, 2, 31, 33, 129, 1025};
    static const int64_t many[] = {0,    1,    2,    3,    31,   32,    33,    63,   64,
                                   65,   127,  128,  129,  255,  1023,  1024,  1025, 4095,
                                   4096, 4097, 8191, 8192, 8193, 16383, 16384, 16385};
    const int64_t tile = reference_tile(type);
    size_t count = 0;
    if (harness_small()) {
        for (size_t i = 0; i < sizeof smallest / sizeof smallest[0]; i++)
            sizes[count++] = smallest[i];
        sizes[count++] = tile;
        sizes[count++] = 2 * tile + 1;
        return count;
    }
    for (size_t i = 0; i < sizeof many / sizeof many[0]; i++) sizes[count++] = many[i];
    for (int64_t i = -1; i <= 1; i++) sizes[count++] = 2 * tile + i;
    sizes[count++] = 5 * tile + 7;
    struct inputs_random random = {seed};
    for (int i = 0; i < 4; i++) sizes[count++] = 1 + inputs_below(&random, i < 2 ? 5000 : 100000);
    if (harness_backend != VSCAN_BACKEND_CUDA) return count;
    /* longer than narrow partitions, and than those behind them: see kernels/scan/small/small.cuh */
    sizes[count++] = (1 << 18) - 3 + inputs_below(&random, 7);
    sizes[count++] = (1 << 18) + inputs_below(&random, 1 << 18);
    sizes[count++] = (1 << 19) + inputs_below(&random, 1 << 20);
    return count;
}
