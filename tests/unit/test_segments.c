/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Segmented reductions, by flags and by offsets, against the totals of the serial reference: one test a
 * pair, with lengths, segments and values inside. What the calls refuse is at the end.
 */
#include "cases.h"
#include "maps.h"
#include "core/pairs.h"
#include "refusal.h"
#include "world.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT = 240 };

static const vscan_type flag_types[] = {VSCAN_INT, VSCAN_BYTE, VSCAN_BIT};

/* ---- One call -------------------------------------------------------------------------------- */

struct reduction {
    vscan_op op;
    vscan_type type;
    int64_t n;
    enum inputs_pattern pattern;
    enum inputs_flags flags;
    const void *in;
    const uint8_t *set; /* n flags, 0 or 1 */
    const void *z;      /* or NULL */
};

/* The reference's totals; *segments: how many. */
static void *expected_totals(const struct reduction *c, const uint8_t *set, int64_t *segments) {
    void *totals = malloc(reference_bytes(c->type, c->n + 1));
    assert_non_null(totals);
    struct reference r = {.op = c->op,
                          .type = c->type,
                          .n = c->n,
                          .in = c->in,
                          .flags = set,
                          .initial = c->z,
                          .totals = totals};
    reference_scan(&r);
    *segments = r.count;
    return totals;
}

/* Where the initial value comes from, and where the number of segments goes. */
struct around {
    struct guarded z, count;
    vscan_reduce_segmented_options options;
};

static void around_make(struct around *a, const struct reduction *c, struct inputs_random *random) {
    vscan_ctx *ctx = harness_ctx();
    *a = (struct around){.options = {.size = sizeof a->options}};
    a->z = guarded_make(ctx, c->type, 1, 0, c->z);
    a->count = guarded_make(ctx, VSCAN_LONG, 1, 1, NULL);
    if (c->z != NULL && inputs_below(random, 2))
        a->options.initial = harness_value(c->type, c->z);
    else if (c->z != NULL)
        a->options.initial_buffer = a->z.view;
    if (inputs_below(random, 2)) a->options.count = a->count.view;
}

/* The late error, the number, the totals, and all that is only read. */
static void judge(struct around *a, vscan_status status, vscan_status late, int64_t segments,
                  struct guarded *totals, const void *expected, struct guarded *in,
                  struct guarded *by, const char *what) {
    vscan_ctx *ctx = harness_ctx();
    if (status != VSCAN_OK) {
        print_error("%s: got %s: %s\n", what, vscan_status_name(status), vscan_ctx_last_error(ctx));
        fail();
    }
    maps_late(ctx, late, what);
    if (expected != NULL) maps_check(totals, expected, what);
    maps_check(in, guarded_original(in), what);
    maps_check(by, guarded_original(by), what);
    maps_check(&a->z, guarded_original(&a->z), what);
    maps_check(&a->count, a->options.count != NULL ? &segments : guarded_original(&a->count), what);
    struct guarded *const all[] = {in, by, totals, &a->z, &a->count};
    for (int k = 0; k < 5; k++) guarded_free(all[k]);
}

static void by_flags(const struct reduction *c, struct inputs_random *random) {
    vscan_ctx *ctx = harness_ctx();
    int64_t segments;
    void *all = expected_totals(c, c->set, &segments);
    const vscan_type flag_type = flag_types[inputs_below(random, 3)];
    void *encoded = malloc(reference_bytes(flag_type, c->n) + 8);
    assert_non_null(encoded);
    inputs_flags_encode(flag_type, c->n, c->set, inputs_next(random), encoded);
    const int64_t rooms[] = {segments, segments + 5, inputs_below(random, segments + 1), c->n};
    const int64_t room = rooms[inputs_below(random, 4)];
    int shift[3];
    maps_shifts(random, 3, shift);
    struct guarded in = guarded_make(ctx, c->type, c->n, shift[0], c->in);
    struct guarded flags = guarded_make(ctx, flag_type, c->n, shift[1], encoded);
    struct guarded totals = guarded_make(ctx, c->type, room, shift[2], NULL);
    struct around a;
    around_make(&a, c, random);
    void *expected = maps_original(&totals);
    memcpy(expected, all, reference_bytes(c->type, room < segments ? room : segments));
    char what[TEXT];
    snprintf(what, sizeof what,
             "%s of %s by %s flags (%s), n %" PRId64 " (%s), room for %" PRId64 " of %" PRId64
             ", z %d, shifts %d %d %d",
             reference_op_name(c->op), reference_type_name(c->type), reference_type_name(flag_type),
             inputs_flags_name(c->flags), c->n, inputs_name(c->pattern), room, segments,
             c->z != NULL, shift[0], shift[1], shift[2]);
    const vscan_reduce_segmented_options *options =
        c->z == NULL && !a.options.count ? NULL : &a.options;
    const vscan_status status =
        vscan_reduce_segmented(ctx, c->op, in.view, flags.view, totals.view, options);
    judge(&a, status, segments > room ? VSCAN_ERROR_TOTALS_LENGTH : VSCAN_OK, segments, &totals,
          expected, &in, &flags, what);
    free(all);
    free(encoded);
    free(expected);
}

/* As a vector of int or long that the caller frees. */
static void *numbers(vscan_type type, int64_t n, const int64_t *from) {
    void *v = malloc(reference_bytes(type, n) + 8);
    assert_non_null(v);
    for (int64_t i = 0; i < n; i++) {
        if (type == VSCAN_LONG)
            ((int64_t *)v)[i] = from[i];
        else
            ((int32_t *)v)[i] = (int32_t)from[i];
    }
    return v;
}

/*
 * Segments that begin at the set flags; empty ones among them; perhaps some elements before the first
 * and after the last are in none. faults: some offsets are wrong.
 */
static void by_offsets(const struct reduction *c, bool faults, struct inputs_random *random) {
    vscan_ctx *ctx = harness_ctx();
    const int64_t n = c->n;
    int64_t room = 2 * n + 600, k = 0;
    int64_t *offsets = malloc((size_t)room * sizeof *offsets);
    assert_non_null(offsets);
    const bool all = inputs_below(random, 2); /* elements are in segments */
    for (int64_t i = 0; i <= n; i++) {
        if (i == n ? !all && k > 0 : !(c->set[i] || (i == 0 && all))) continue;
        const bool many = k < room - n - 400 && inputs_below(random, 30) == 0;
        for (int64_t r = many ? 1 + inputs_below(random, 9) : 1; r > 0; r--) offsets[k++] = i;
    }
    if (inputs_below(random, 4) == 0) /* many empty ones at the end */
        for (int r = 0; r < 300; r++, k++) offsets[k] = offsets[k - 1];
    const vscan_type type = inputs_below(random, 2) ? VSCAN_INT : VSCAN_LONG;
    int shift[3];
    maps_shifts(random, 3, shift);
    struct guarded totals = guarded_make(ctx, c->type, k - 1, shift[2], NULL);
    void *expected = maps_original(&totals);
    for (int64_t i = 0; i + 1 < k; i++) { /* each a vector of its own */
        struct reference r = {.op = c->op,
                              .type = c->type,
                              .n = offsets[i + 1] - offsets[i],
                              .in = (const char *)c->in + reference_bytes(c->type, offsets[i]),
                              .initial = c->z,
                              .total = maps_at(c->type, expected, i)};
        reference_scan(&r);
    }
    if (faults) {
        const int64_t wrong[] = {-1, n + 1, INT32_MAX, INT32_MIN, n + 17000};
        offsets[inputs_below(random, k)] = wrong[inputs_below(random, 5)];
        if (k > 2 && offsets[k / 2] > 0) offsets[k / 2 + 1] = offsets[k / 2] - 1;
    }
    void *encoded = numbers(type, k, offsets);
    struct guarded in = guarded_make(ctx, c->type, n, shift[0], c->in);
    struct guarded by = guarded_make(ctx, type, k, shift[1], encoded);
    struct around a;
    around_make(&a, c, random);
    char what[TEXT];
    snprintf(what, sizeof what,
             "%s of %s by %" PRId64 " %s offsets (%s)%s, n %" PRId64 " (%s), z %d, shifts %d %d %d",
             reference_op_name(c->op), reference_type_name(c->type), k, reference_type_name(type),
             inputs_flags_name(c->flags), faults ? ", some wrong" : "", n, inputs_name(c->pattern),
             c->z != NULL, shift[0], shift[1], shift[2]);
    a.options.count = NULL; /* there is none by offsets */
    const vscan_reduce_by_offsets_options options = {.size = sizeof options,
                                                     .initial = a.options.initial,
                                                     .initial_buffer = a.options.initial_buffer};
    const vscan_status status =
        vscan_reduce_by_offsets(ctx, c->op, in.view, by.view, totals.view, &options);
    judge(&a, status, faults ? VSCAN_ERROR_OFFSETS : VSCAN_OK, k - 1, &totals,
          faults ? NULL : expected, &in, &by, what);
    free(expected);
    free(encoded);
    free(offsets);
}

static void run(struct reduction *c, struct inputs_random *random) {
    void *in = malloc(reference_bytes(c->type, c->n) + 1);
    uint8_t *set = malloc((size_t)c->n + 1);
    char z[8];
    assert_non_null(in);
    assert_non_null(set);
    c->pattern = INPUTS_RANDOM;
    if (inputs_below(random, 2))
        c->pattern = (enum inputs_pattern)inputs_below(random, INPUTS_PATTERNS);
    inputs_fill(c->pattern, c->type, c->n, inputs_next(random), in);
    inputs_flags_fill(c->flags, reference_tile(c->type), c->n, inputs_next(random), set);
    inputs_fill(INPUTS_RANDOM, c->type, 1, inputs_next(random), z);
    c->in = in;
    c->set = set;
    c->z = inputs_below(random, 3) == 0 ? z : NULL;
    by_flags(c, random);
    by_offsets(c, false, random);
    if (inputs_below(random, 8) == 0) by_offsets(c, true, random);
    free(in);
    free(set);
}

static void test_pair(vscan_op op, vscan_type type) {
    struct reduction c = {.op = op, .type = type};
    struct inputs_random random = {case_seed(op, type, 31)};
    int64_t sizes[CASE_SIZES];
    const size_t count = case_sizes(type, inputs_next(&random), sizes);
    int first = (int)op + (int)type;
    for (size_t s = 0; s < count; s++) {
        c.n = sizes[s];
        const int step = harness_small() ? 6 : c.n <= 5000 ? 1 : 3;
        for (int p = first++ % step; p < INPUTS_FLAGS_PATTERNS; p += step) {
            c.flags = (enum inputs_flags)p;
            run(&c, &random);
        }
    }
    if (harness_small()) return;
    static const enum inputs_flags flags[] = {INPUTS_FLAGS_1000, INPUTS_FLAGS_RUNS,
                                              INPUTS_FLAGS_MIXED, INPUTS_FLAGS_NONE};
    for (int k = 0; k < 2; k++) {
        c.n = 1 + inputs_below(&random, k ? 8000000 : 1000000);
        c.flags = flags[(first + k) % 4];
        run(&c, &random);
    }
}

#define X(pair, op, type, OP, TYPE)                                                                \
    static void reduce_##pair(void **state) {                                                      \
        (void)state;                                                                               \
        test_pair(VSCAN_##OP, VSCAN_##TYPE);                                                       \
    }
VSCAN__PAIRS(X)
#undef X

/* ---- Segments of very unlike lengths --------------------------------------------------------- */

enum skew {
    GIANT_LAST,
    GIANT_FIRST,
    GIANT_BETWEEN,
    EVERY_PLACE,
    AT_EDGES,
    THREE,
    LONG_ONES,
    SKEWS
};

/* Where segments begin: many small ones beside large ones, at every place of a group of 32, and just at
   and beside the first elements of tiles and of parts of them. */
static void skewed_flags(enum skew skew, int64_t n, struct inputs_random *random, uint8_t *set) {
    memset(set, 0, (size_t)n + 1);
    const int64_t side = n / 100 + 1;
    if (skew == GIANT_LAST || skew == GIANT_BETWEEN)
        for (int64_t i = 0; i < side; i += 1 + inputs_below(random, 5)) set[i] = 1;
    if (skew == GIANT_FIRST || skew == GIANT_BETWEEN)
        for (int64_t i = n - 1; i >= n - side && i >= 0; i -= 1 + inputs_below(random, 5))
            set[i] = 1;
    if (skew == EVERY_PLACE)
        for (int64_t i = inputs_below(random, 32); i < n; i += 32 * inputs_below(random, 40) + 33)
            set[i] = 1;
    if (skew == AT_EDGES)
        for (int64_t i = 0; i < n; i += 512)
            if (inputs_below(random, 3) == 0 && i + 3 < n) set[i + inputs_below(random, 4)] = 1;
    if (skew == THREE)
        for (int k = 0; k < 3; k++) set[inputs_below(random, n)] = 1;
    if (skew == LONG_ONES) /* up to 256 KiB or 512 KiB */
        for (int64_t i = 0; i < n; i += 1 + inputs_below(random, 65536)) set[i] = 1;
}

static void test_skewed(vscan_op op, vscan_type type) {
    struct reduction c = {.op = op, .type = type, .flags = INPUTS_FLAGS_MIXED};
    struct inputs_random random = {case_seed(op, type, 37)};
    const int64_t tile = reference_tile(type), most = harness_small() ? 3 : 40;
    for (enum skew skew = 0; skew < SKEWS; skew++) {
        for (int variant = 0; variant < (harness_small() ? 1 : 4); variant++) {
            /* so many long ones that blocks have several parts of the vector each */
            const int64_t tiles = skew == LONG_ONES && !harness_small() ? 10 * most : most;
            c.n = tile + inputs_below(&random, tiles * tile);
            if (variant == 1) c.n -= c.n % (tile / 2);
            void *in = malloc(reference_bytes(type, c.n));
            uint8_t *set = malloc((size_t)c.n + 1);
            char z[8];
            assert_non_null(in);
            assert_non_null(set);
            inputs_fill(INPUTS_RANDOM, type, c.n, inputs_next(&random), in);
            inputs_fill(INPUTS_RANDOM, type, 1, inputs_next(&random), z);
            skewed_flags(skew, c.n, &random, set);
            c.in = in;
            c.set = set;
            c.z = variant == 2 ? z : NULL;
            by_offsets(&c, false, &random);
            if (variant == 3) by_offsets(&c, true, &random);
            free(in);
            free(set);
        }
    }
}

static void skewed_plus_float(void **state) {
    (void)state;
    test_skewed(VSCAN_PLUS, VSCAN_FLOAT);
}
static void skewed_plus_double(void **state) {
    (void)state;
    test_skewed(VSCAN_PLUS, VSCAN_DOUBLE);
}
static void skewed_max_double(void **state) {
    (void)state;
    test_skewed(VSCAN_MAX, VSCAN_DOUBLE);
}
static void skewed_plus_int(void **state) {
    (void)state;
    test_skewed(VSCAN_PLUS, VSCAN_INT);
}

/* ---- Refusals -------------------------------------------------------------------------------- */

static vscan_status by_flags_on(vscan_ctx *ctx) {
    return vscan_reduce_segmented(ctx, VSCAN_PLUS, w.in, w.flags, w.totals, NULL);
}
static vscan_status by_offsets_on(vscan_ctx *ctx) {
    return vscan_reduce_by_offsets(ctx, VSCAN_PLUS, w.in, w.flags, w.shorter, NULL);
}

static void refused_handles(void **state) {
    (void)state;
    world_check_contexts(by_flags_on);
    world_check_contexts(by_offsets_on);
    vscan_ctx *c = w.ctx;
    const vscan_op op = VSCAN_PLUS;
    for (int i = 0; i < WRONG_HANDLES; i++) {
        const struct wrong_handle h = wrong_handle(i);
        vscan_buffer *const bad = h.handle;
        refused_untouched(h.status, "in ",
                          vscan_reduce_segmented(c, op, bad, w.flags, w.totals, NULL));
        refused_untouched(h.status, "heads ",
                          vscan_reduce_segmented(c, op, w.in, bad, w.totals, NULL));
        refused_untouched(h.status, "totals ",
                          vscan_reduce_segmented(c, op, w.in, w.flags, bad, NULL));
        refused_untouched(h.status, "in ",
                          vscan_reduce_by_offsets(c, op, bad, w.flags, w.shorter, NULL));
        refused_untouched(h.status, "offsets ",
                          vscan_reduce_by_offsets(c, op, w.in, bad, w.shorter, NULL));
        refused_untouched(h.status, "totals ",
                          vscan_reduce_by_offsets(c, op, w.in, w.flags, bad, NULL));
        if (bad == NULL) continue; /* none */
        vscan_reduce_segmented_options o = {.size = sizeof o, .count = bad};
        refused_untouched(h.status, "count ",
                          vscan_reduce_segmented(c, op, w.in, w.flags, w.totals, &o));
        const vscan_reduce_by_offsets_options by = {.size = sizeof by, .initial_buffer = bad};
        refused_untouched(h.status, "initial_buffer ",
                          vscan_reduce_by_offsets(c, op, w.in, w.flags, w.shorter, &by));
    }
}

static vscan_status scan_by_offsets_on(vscan_ctx *ctx) {
    return vscan_scan_by_offsets(ctx, VSCAN_PLUS, w.in, w.flags, w.out, NULL);
}

/* vscan_scan_by_offsets: what is its own, its handles and totals. */
static void refused_scans(void **state) {
    (void)state;
    world_check_contexts(scan_by_offsets_on);
    vscan_ctx *c = w.ctx;
    const vscan_op op = VSCAN_PLUS;
    vscan_scan_by_offsets_options o = {.size = sizeof o};
    for (int i = 0; i < WRONG_HANDLES; i++) {
        const struct wrong_handle h = wrong_handle(i);
        vscan_buffer *const bad = h.handle;
        refused_untouched(h.status, "in ", vscan_scan_by_offsets(c, op, bad, w.flags, w.out, NULL));
        refused_untouched(h.status, "offsets ",
                          vscan_scan_by_offsets(c, op, w.in, bad, w.out, NULL));
        refused_untouched(h.status, "out ", vscan_scan_by_offsets(c, op, w.in, w.flags, bad, NULL));
        if (bad == NULL) continue; /* none */
        o.totals = bad;
        refused_untouched(h.status, "totals ",
                          vscan_scan_by_offsets(c, op, w.in, w.flags, w.out, &o));
    }
    const struct {
        vscan_status status;
        const char *word;
        vscan_buffer *in, *offsets, *out, *totals;
    } wrong[] = {
        {VSCAN_ERROR_PAIR, "in ", w.of_bit, w.flags, w.of_bit, NULL},
        {VSCAN_ERROR_TYPE, "offsets ", w.in, w.of_float, w.out, NULL},
        {VSCAN_ERROR_LENGTH, "offsets ", w.in, world_make(VSCAN_INT, 0), w.out, NULL},
        {VSCAN_ERROR_TYPE, "out ", w.in, w.flags, w.of_float, NULL},
        {VSCAN_ERROR_LENGTH, "out ", w.in, w.flags, w.shorter, NULL},
        {VSCAN_ERROR_OVERLAP, "out ", w.in, w.flags, w.shifted, NULL},
        {VSCAN_ERROR_OVERLAP, "offsets ", w.in, w.out, w.out, NULL},
        {VSCAN_ERROR_TYPE, "options->totals ", w.in, w.flags, w.out, w.of_float},
        {VSCAN_ERROR_LENGTH, "options->totals ", w.in, w.flags, w.out, w.in},
    };
    for (size_t k = 0; k < sizeof wrong / sizeof wrong[0]; k++) {
        o.totals = wrong[k].totals;
        refused_untouched(
            wrong[k].status, wrong[k].word,
            vscan_scan_by_offsets(c, op, wrong[k].in, wrong[k].offsets, wrong[k].out, &o));
    }
    vscan_buffer *const others[] = {w.in, w.flags, w.out, w.shorter};
    static const char *const overlaps[] = {
        "options->totals overlaps in", "options->totals overlaps offsets",
        "options->totals overlaps out", "options->totals overlaps options->initial_buffer"};
    vscan_buffer *inside;
    ok(c, vscan_buffer_view(w.shorter, 1, 1, &inside));
    for (int k = 0; k < 4; k++) {
        ok(c, vscan_buffer_view(others[k], 0, N - 1, &o.totals));
        o.initial_buffer = k == 3 ? inside : NULL;
        refused_untouched(VSCAN_ERROR_OVERLAP, overlaps[k],
                          vscan_scan_by_offsets(c, op, w.in, w.flags, w.out, &o));
        ok(NULL, vscan_buffer_destroy(o.totals));
    }
    o = (vscan_scan_by_offsets_options){.size = sizeof o, .initial_buffer = inside};
    refused_untouched(VSCAN_ERROR_OVERLAP, "options->initial_buffer overlaps out",
                      vscan_scan_by_offsets(c, op, w.shorter, w.flags, w.shorter, &o));
    ok(NULL, vscan_buffer_destroy(inside));
    o = (vscan_scan_by_offsets_options){.size = sizeof o - 1};
    refused_untouched(VSCAN_ERROR_STRUCT_SIZE, "options->size ",
                      vscan_scan_by_offsets(c, op, w.in, w.flags, w.out, &o));
    o = (vscan_scan_by_offsets_options){.size = sizeof o, .initial_buffer = w.one_float};
    refused_untouched(VSCAN_ERROR_TYPE, "options->initial_buffer ",
                      vscan_scan_by_offsets(c, op, w.in, w.flags, w.out, &o));
}

static void refused_vectors(void **state) {
    (void)state;
    vscan_ctx *c = w.ctx;
    const vscan_op op = VSCAN_PLUS;
    const vscan_status type = VSCAN_ERROR_TYPE, length = VSCAN_ERROR_LENGTH,
                       overlap = VSCAN_ERROR_OVERLAP;
    vscan_buffer *const unscanned[] = {w.of_byte, w.of_bit, w.of_uint8};
    for (int k = 0; k < 3; k++) {
        refused_untouched(VSCAN_ERROR_PAIR, "in ",
                          vscan_reduce_segmented(c, op, unscanned[k], w.flags, w.totals, NULL));
        refused_untouched(VSCAN_ERROR_PAIR, "in ",
                          vscan_reduce_by_offsets(c, op, unscanned[k], w.flags, w.shorter, NULL));
    }
    refused_untouched(VSCAN_ERROR_ENUM, "op ",
                      vscan_reduce_segmented(c, (vscan_op)6, w.in, w.flags, w.totals, NULL));
    refused_untouched(VSCAN_ERROR_ENUM, "op ",
                      vscan_reduce_by_offsets(c, (vscan_op)0, w.in, w.flags, w.shorter, NULL));
    refused_untouched(type, "totals ",
                      vscan_reduce_segmented(c, op, w.in, w.flags, w.of_float, NULL));
    refused_untouched(type, "heads ",
                      vscan_reduce_segmented(c, op, w.in, w.of_long, w.totals, NULL));
    refused_untouched(type, "offsets ",
                      vscan_reduce_by_offsets(c, op, w.in, w.of_byte, w.shorter, NULL));
    refused_untouched(type, "offsets ",
                      vscan_reduce_by_offsets(c, op, w.in, w.of_float, w.shorter, NULL));
    refused_untouched(length, "heads ",
                      vscan_reduce_segmented(c, op, w.in, w.shorter, w.totals, NULL));
    refused_untouched(length, "totals ",
                      vscan_reduce_by_offsets(c, op, w.in, w.flags, w.out, NULL));
    refused_untouched(length, "offsets ",
                      vscan_reduce_by_offsets(c, op, w.in, world_make(VSCAN_INT, 0), w.out, NULL));
    refused_untouched(overlap, "totals ",
                      vscan_reduce_segmented(c, op, w.in, w.flags, w.shifted, NULL));
    refused_untouched(overlap, "totals ", vscan_reduce_segmented(c, op, w.in, w.out, w.out, NULL));
    refused_untouched(overlap, "totals ", vscan_reduce_by_offsets(c, op, w.in, w.out, w.in, NULL));
}

static void refused_options(void **state) {
    (void)state;
    vscan_ctx *c = w.ctx;
    vscan_reduce_segmented_options o = {.size = sizeof o, .count = w.one_int};
#define REFUSED(status, word)                                                                      \
    do {                                                                                           \
        refused_untouched(status, word,                                                            \
                          vscan_reduce_segmented(c, VSCAN_MAX, w.in, w.flags, w.totals, &o));      \
        const vscan_reduce_by_offsets_options by = {                                               \
            .size = o.size == sizeof o ? (int64_t)sizeof by : o.size,                              \
            .initial = o.initial,                                                                  \
            .initial_buffer = o.initial_buffer};                                                   \
        if (o.count == NULL)                                                                       \
            refused_untouched(                                                                     \
                status, word,                                                                      \
                vscan_reduce_by_offsets(c, VSCAN_MAX, w.in, w.flags, w.shorter, &by));             \
    } while (0)
    REFUSED(VSCAN_ERROR_TYPE, "options->count ");
    o.count = w.two_long;
    REFUSED(VSCAN_ERROR_LENGTH, "options->count ");
    vscan_buffer *inside = NULL;
    ok(c, vscan_buffer_wrap(c, VSCAN_LONG, (char *)vscan_buffer_pointer(w.in) + 16, 1, &inside));
    o.count = inside;
    REFUSED(VSCAN_ERROR_OVERLAP, "options->count ");
    ok(NULL, vscan_buffer_destroy(inside));
    vscan_buffer *const among[] = {w.flags, w.totals, w.initial};
    o.initial_buffer = w.initial;
    for (int k = 0; k < 3; k++) { /* a long that begins where another buffer does */
        if (vscan_buffer_wrap(c, VSCAN_LONG, vscan_buffer_pointer(among[k]), 1, &inside) !=
            VSCAN_OK)
            continue; /* one int is not enough memory for it on a GPU */
        o.count = inside;
        refused_untouched(VSCAN_ERROR_OVERLAP, "options->count ",
                          vscan_reduce_segmented(c, VSCAN_MAX, w.in, w.flags, w.totals, &o));
        ok(NULL, vscan_buffer_destroy(inside));
    }
    o.count = NULL;
    ok(c, vscan_buffer_view(w.totals, 1, 1, &inside));
    o.initial_buffer = inside;
    refused_untouched(VSCAN_ERROR_OVERLAP, "totals ",
                      vscan_reduce_segmented(c, VSCAN_MAX, w.in, w.flags, w.totals, &o));
    ok(NULL, vscan_buffer_destroy(inside));
    o.initial_buffer = NULL;
    o.initial = (vscan_value){.holds = VSCAN_INT, .as_int = 3};
    o.initial_buffer = w.one_int;
    REFUSED(VSCAN_ERROR_VALUE, "options->initial ");
    o.initial = (vscan_value){.holds = VSCAN_DOUBLE};
    o.initial_buffer = NULL;
    REFUSED(VSCAN_ERROR_TYPE, "options->initial ");
    o.initial = (vscan_value){.holds = VSCAN_INT, .unused = 1};
    REFUSED(VSCAN_ERROR_VALUE, "options->initial.unused ");
    o.initial = (vscan_value){.holds = VSCAN_MAX};
    REFUSED(VSCAN_ERROR_ENUM, "options->initial.holds ");
    o.initial = (vscan_value){0};
    o.initial_buffer = w.one_float;
    REFUSED(VSCAN_ERROR_TYPE, "options->initial_buffer ");
    o.initial_buffer = NULL;
    const int64_t sizes[] = {0,         -1,       8, sizeof(vscan_reduce_by_offsets_options) - 1,
                             INT64_MAX, INT64_MIN}; /* of both structs */
    for (int k = 0; k < 6; k++) {
        o.size = sizes[k];
        REFUSED(VSCAN_ERROR_STRUCT_SIZE, "size");
    }
#undef REFUSED
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
#define X(pair, op, type, OP, TYPE) cmocka_unit_test(reduce_##pair),
        VSCAN__PAIRS(X)
#undef X
            cmocka_unit_test(skewed_plus_float),
        cmocka_unit_test(skewed_plus_double),
        cmocka_unit_test(skewed_max_double),
        cmocka_unit_test(skewed_plus_int),
        world_unit_test(refused_handles),
        world_unit_test(refused_scans),
        world_unit_test(refused_vectors),
        world_unit_test(refused_options)};
    return harness_run(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
