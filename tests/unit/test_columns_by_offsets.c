/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reductions of columns by offsets: every column of every group against the serial reference of its elements alone.
 * Groups of all lengths, empty ones, rows in no group, pitches, alignments; wrong offsets; what is refused.
 */
#include "cases.h"
#include "maps.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/pairs.h"
#include "refusal.h"
#include "world.h"

enum { TEXT = 240 };

enum lengths { EMPTY, TINY, SHORT, AROUND, LONG, HUGE_AMONG_TINY, MIXED, LENGTHS };
static const char *const length_names[] = {
    "empty", "0 to 3", "0 to 70", "around blocks", "of tiles", "a huge one among tiny ones",
    "mixed"};

struct grouped {
    vscan_op op;
    vscan_type type;
    enum lengths lengths;
    int64_t rows, columns, pitch, groups;
    int64_t *offsets;
    bool backward, faults;
    int initial; /* 0: none, 1: on the host, 2: one element, 3: one a column */
    enum inputs_pattern pattern;
};

static int64_t draw_length(const struct grouped *c, int64_t k, struct inputs_random *random) {
    const int64_t tile = reference_tile(c->type);
    static const int64_t around[] = {0, 1, 31, 32, 33, 63, 64, 65, 1023, 1024, 1025, 2047, 2049};
    switch (c->lengths) {
    case TINY:
        return inputs_below(random, 4);
    case SHORT:
        return inputs_below(random, 71);
    case AROUND:
        return around[inputs_below(random, 13)];
    case LONG:
        return inputs_below(random, 4) * tile / 2 + inputs_below(random, tile + 2000);
    case HUGE_AMONG_TINY:
        return k == c->groups / 3 ? 3 * tile + inputs_below(random, tile) : inputs_below(random, 4);
    case MIXED:
        return inputs_below(random, INT64_C(1) << inputs_below(random, 13));
    default:
        return 0;
    }
}

static void draw_offsets(struct grouped *c, struct inputs_random *random) {
    c->offsets = malloc((size_t)(c->groups + 1) * sizeof *c->offsets);
    assert_non_null(c->offsets);
    c->offsets[0] = inputs_below(random, 2) * inputs_below(random, 100);
    for (int64_t k = 0; k < c->groups; k++)
        c->offsets[k + 1] = c->offsets[k] + draw_length(c, k, random);
    c->rows = c->offsets[c->groups] + inputs_below(random, 2) * inputs_below(random, 100);
}

/* Element `at` of a vector on the host. */
static const void *element(vscan_type type, const void *vector, int64_t at) {
    return (const char *)vector + reference_bytes(type, at);
}

/* What is expected: each column of each group alone. */
static void reduce_each(const struct grouped *c, const void *in, const void *initials,
                        void *totals) {
    const size_t size = reference_bytes(c->type, 1);
    char *const line = malloc((size_t)(c->rows + 1) * size);
    assert_non_null(line);
    for (int64_t k = 0; k < c->groups; k++) {
        const int64_t from = c->offsets[k], length = c->offsets[k + 1] - from;
        for (int64_t j = 0; j < c->columns; j++) {
            for (int64_t i = 0; i < length; i++)
                memcpy(line + (size_t)i * size, element(c->type, in, (from + i) * c->pitch + j),
                       size);
            struct reference r = {
                .op = c->op,
                .type = c->type,
                .n = length,
                .in = line,
                .backward = c->backward,
                .initial =
                    c->initial == 0 ? NULL : element(c->type, initials, c->initial == 3 ? j : 0),
                .total = (char *)totals + (size_t)(k * c->columns + j) * size};
            reference_scan(&r);
            if (length == 0 && r.initial == NULL) reference_identity(c->op, c->type, r.total);
        }
    }
    free(line);
}

/* The offsets as ints or longs. */
static void *encode(vscan_type type, const struct grouped *c) {
    void *v = malloc((size_t)(c->groups + 1) * 8);
    assert_non_null(v);
    for (int64_t k = 0; k <= c->groups; k++) {
        if (type == VSCAN_LONG)
            ((int64_t *)v)[k] = c->offsets[k];
        else
            ((int32_t *)v)[k] = (int32_t)c->offsets[k];
    }
    return v;
}

static void spoil(struct grouped *c, struct inputs_random *random) {
    const int64_t wrong[] = {-1, c->rows + 1, INT32_MAX, INT32_MIN, c->rows + 17000};
    const int64_t n = c->groups + 1, other = inputs_below(random, n);
    if (inputs_below(random, 2) && c->rows > 0) /* many that do not ascend */
        for (int64_t k = 0; k < other; k++) c->offsets[k] = inputs_below(random, c->rows);
    c->offsets[inputs_below(random, n)] = wrong[inputs_below(random, 5)];
}

static void run(struct grouped *c, struct inputs_random *random) {
    vscan_ctx *ctx = harness_ctx();
    const bool aligned = inputs_below(random, 2);
    int shift[4];
    maps_shifts(random, 4, shift);
    if (aligned) shift[0] = shift[2] = 0;
    const int64_t n = c->rows > 0 ? (c->rows - 1) * c->pitch + c->columns : 0;
    const int64_t extra = inputs_below(random, 3);
    void *const values = malloc(reference_bytes(c->type, n + extra) + 8);
    void *const initials = malloc(reference_bytes(c->type, c->columns) + 8);
    assert_true(values != NULL && initials != NULL);
    inputs_fill(c->pattern, c->type, n + extra, inputs_next(random), values);
    inputs_fill(INPUTS_RANDOM, c->type, c->columns, inputs_next(random), initials);
    struct guarded totals = guarded_make(ctx, c->type, c->groups * c->columns, shift[2], NULL);
    void *const expected = maps_original(&totals);
    reduce_each(c, values, initials, expected);
    const vscan_type of = inputs_below(random, 2) ? VSCAN_INT : VSCAN_LONG;
    if (c->faults) spoil(c, random);
    void *const encoded = encode(of, c);
    struct guarded in = guarded_make(ctx, c->type, n + extra, shift[0], values);
    struct guarded by = guarded_make(ctx, of, c->groups + 1, shift[1], encoded);
    struct guarded z =
        guarded_make(ctx, c->type, c->initial == 3 ? c->columns : 1, shift[3], initials);
    vscan_matrix_options o = {.size = sizeof o,
                              .pitch = c->pitch,
                              .direction = c->backward ? VSCAN_BACKWARD : VSCAN_FORWARD,
                              .matrices = inputs_below(random, 2)};
    if (c->pitch == c->columns && inputs_below(random, 2)) o.pitch = 0;
    if (c->initial == 1) o.initial = harness_value(c->type, initials);
    if (c->initial > 1) o.initial_buffer = z.view;
    const bool plain = c->initial == 0 && !c->backward && o.pitch == 0 && o.matrices == 0;
    char what[TEXT];
    snprintf(what, sizeof what,
             "%s of %s, %" PRId64 " rows in %" PRId64 " groups (%s%s), %" PRId64
             " columns, pitch %" PRId64
             ", %s, initial %d, %s offsets, shifts %d %d %d, seed %" PRIu64,
             reference_op_name(c->op), reference_type_name(c->type), c->rows, c->groups,
             length_names[c->lengths], c->faults ? ", some wrong" : "", c->columns, c->pitch,
             c->backward ? "backward" : "forward", c->initial, reference_type_name(of), shift[0],
             shift[1], shift[2], harness_seed());
    ok(ctx, vscan_reduce_columns_by_offsets(ctx, c->op, in.view, by.view, c->rows, c->columns,
                                            totals.view, plain ? NULL : &o));
    struct guarded *all[] = {&in, &by, &z, &totals, NULL};
    if (c->faults) { /* the totals may hold anything, and nothing else is touched */
        bool intact;
        maps_late(ctx, VSCAN_ERROR_OFFSETS, what);
        memcpy(expected, guarded_download(&totals, &intact),
               reference_bytes(c->type, c->groups * c->columns));
        maps_judge(ctx, VSCAN_OK, &totals, expected, all, what);
    } else {
        maps_judge(ctx, VSCAN_OK, &totals, expected, all, what);
    }
    free(expected);
    free(encoded);
    free(values);
    free(initials);
}

/* Groups and columns of a case, so that it has about so many elements at most. */
static void draw_shape(struct grouped *c, int64_t elements, struct inputs_random *random) {
    static const int64_t of[] = {1, 2, 3, 4, 5, 8, 12, 16, 31, 32, 33, 64, 68, 100, 130, 260};
    static const int64_t length[] = {1, 2, 35, 600, 12000, 100, 340};
    c->columns = of[inputs_below(random, 16)];
    const int64_t rows = elements / c->columns, most = 2 * rows / length[c->lengths];
    c->groups = 1 + inputs_below(random, most > 1 ? most : 1);
    if (inputs_below(random, 20) == 0) c->groups = 0;
    c->pitch = c->columns + (inputs_below(random, 3) == 0 ? inputs_below(random, 9) : 0);
    draw_offsets(c, random);
}

static void test_pair(vscan_op op, vscan_type type) {
    struct inputs_random random = {case_seed(op, type, 53)};
    const int cases = harness_small() ? 9 : 30;
    for (int k = 0; k < cases; k++) {
        struct grouped c = {.op = op, .type = type};
        c.lengths = (enum lengths)((k + (int)op) % LENGTHS);
        draw_shape(&c, harness_small() ? 6000 : k % 10 == 9 ? 1000000 : 60000, &random);
        c.backward = inputs_below(&random, 3) == 0;
        c.initial = (int)inputs_below(&random, 6);
        if (c.initial > 3) c.initial = 0;
        c.pattern = inputs_below(&random, 2)
                        ? INPUTS_RANDOM
                        : (enum inputs_pattern)inputs_below(&random, INPUTS_PATTERNS);
        c.faults = inputs_below(&random, 8) == 0;
        run(&c, &random);
        free(c.offsets);
    }
}

#define X(pair, op, type, OP, TYPE)                                                                \
    static void reduce_##pair(void **state) {                                                      \
        (void)state;                                                                               \
        test_pair(VSCAN_##OP, VSCAN_##TYPE);                                                       \
    }
VSCAN__PAIRS(X)
#undef X

/* Groups of such lengths, some rows before the first and after the last. */
static void run_lengths(struct grouped *c, const int64_t *lengths, struct inputs_random *random) {
    c->offsets = malloc((size_t)(c->groups + 1) * sizeof *c->offsets);
    assert_non_null(c->offsets);
    c->offsets[0] = 3;
    for (int64_t k = 0; k < c->groups; k++) c->offsets[k + 1] = c->offsets[k] + lengths[k];
    c->rows = c->offsets[c->groups] + 2;
    run(c, random);
    free(c->offsets);
}

/* Long groups: of several tiles; so many bytes that all threads of a processor work on one; and, where there is
   time, of more than a block of level 3. */
static void long_groups(void **state) {
    (void)state;
    static const struct {
        int64_t columns, pitch, lengths[3];
        bool backward;
    } cases[] = {{1, 1, {40, 9000, 0}, true},      {1, 2, {20000, 5, 33}, false},
                 {2, 2, {0, 50000, 1025}, false},  {3, 3, {70000, 17, 300}, true},
                 {4, 4, {257, 256, 41000}, false}, {260, 260, {2500, 7, 40}, false},
                 {260, 264, {0, 1, 2100}, true}};
    struct inputs_random random = {case_seed(VSCAN_PLUS, VSCAN_FLOAT, 59)};
    for (size_t k = 0; k < 2 * sizeof cases / sizeof cases[0]; k++) {
        const size_t i = k / 2;
        struct grouped c = {.op = VSCAN_PLUS,
                            .type = k % 2 ? VSCAN_FLOAT : VSCAN_DOUBLE,
                            .lengths = LONG,
                            .columns = cases[i].columns,
                            .pitch = cases[i].pitch,
                            .backward = cases[i].backward,
                            .groups = 3,
                            .pattern = INPUTS_RANDOM};
        run_lengths(&c, cases[i].lengths, &random);
    }
    if (harness_small()) return;
    const int64_t lengths[] = {5, (INT64_C(1) << 24) + 40000};
    struct grouped c = {.op = VSCAN_PLUS,
                        .type = VSCAN_FLOAT,
                        .lengths = LONG,
                        .columns = 2,
                        .pitch = 2,
                        .groups = 2,
                        .pattern = INPUTS_RANDOM};
    run_lengths(&c, lengths, &random);
}

/* The same group among others, and alone by vscan_reduce_columns. */
static void group_alone(void **state) {
    (void)state;
    vscan_ctx *ctx = harness_ctx();
    enum { ROWS = 3000, COLUMNS = 7 };
    struct inputs_random random = {case_seed(VSCAN_PLUS, VSCAN_FLOAT, 61)};
    const int64_t offsets[] = {5, 40, 40, 1500, 2990};
    char *const values = malloc(ROWS * COLUMNS * sizeof(float));
    float found[4][COLUMNS], alone[COLUMNS];
    assert_non_null(values);
    inputs_fill(INPUTS_RANDOM, VSCAN_FLOAT, ROWS * COLUMNS, inputs_next(&random), values);
    vscan_buffer *in, *by, *totals, *group, *to;
    ok(ctx, vscan_buffer_create(ctx, VSCAN_FLOAT, ROWS * COLUMNS, &in));
    ok(ctx, vscan_buffer_create(ctx, VSCAN_LONG, 5, &by));
    ok(ctx, vscan_buffer_create(ctx, VSCAN_FLOAT, 4 * COLUMNS, &totals));
    ok(ctx, vscan_buffer_create(ctx, VSCAN_FLOAT, COLUMNS, &to));
    ok(ctx, vscan_buffer_upload(in, 0, ROWS * COLUMNS, values));
    ok(ctx, vscan_buffer_upload(by, 0, 5, offsets));
    ok(ctx, vscan_reduce_columns_by_offsets(ctx, VSCAN_PLUS, in, by, ROWS, COLUMNS, totals, NULL));
    ok(ctx, vscan_buffer_download(totals, 0, 4 * COLUMNS, found));
    for (int k = 0; k < 4; k++) {
        const int64_t rows = offsets[k + 1] - offsets[k];
        ok(ctx, vscan_buffer_view(in, offsets[k] * COLUMNS, rows * COLUMNS, &group));
        ok(ctx, vscan_reduce_columns(ctx, VSCAN_PLUS, group, rows, COLUMNS, to, NULL));
        ok(ctx, vscan_buffer_download(to, 0, COLUMNS, alone));
        assert_memory_equal(alone, found[k], sizeof alone);
        ok(ctx, vscan_buffer_destroy(group));
    }
    vscan_buffer *const all[] = {in, by, totals, to};
    for (int k = 0; k < 4; k++) ok(ctx, vscan_buffer_destroy(all[k]));
    free(values);
}

/* ---- What is refused ------------------------------------------------------------------------- */

static vscan_status on(vscan_ctx *ctx) {
    return vscan_reduce_columns_by_offsets(ctx, VSCAN_PLUS, w.in, w.flags, 1, 1, w.shorter, NULL);
}

static void refusals(void **state) {
    (void)state;
    world_check_contexts(on);
    vscan_ctx *const c = w.ctx;
    const vscan_op op = VSCAN_PLUS;
    vscan_matrix_options o = {.size = sizeof o};
#define CALL(in, by, rows, columns, to, options)                                                   \
    vscan_reduce_columns_by_offsets(c, op, in, by, rows, columns, to, options)
    for (int k = 0; k < WRONG_HANDLES; k++) {
        const struct wrong_handle h = wrong_handle(k);
        refused_untouched(h.status, "in ", CALL(h.handle, w.flags, 1, 1, w.shorter, NULL));
        refused_untouched(h.status, "offsets ", CALL(w.in, h.handle, 1, 1, w.shorter, NULL));
        refused_untouched(h.status, "totals ", CALL(w.in, w.flags, 1, 1, h.handle, NULL));
        if (h.handle == NULL) continue; /* none */
        o.initial_buffer = h.handle;
        refused_untouched(h.status, "initial_buffer ", CALL(w.in, w.flags, 1, 1, w.shorter, &o));
    }
    const struct {
        vscan_status status;
        const char *word;
        vscan_buffer *in, *offsets;
        int64_t rows, columns;
        vscan_buffer *totals;
    } wrong[] = {
        {VSCAN_ERROR_PAIR, "in ", w.of_bit, w.flags, 1, 1, w.of_bit},
        {VSCAN_ERROR_TYPE, "offsets ", w.in, w.of_float, 1, 1, w.shorter},
        {VSCAN_ERROR_LENGTH, "offsets ", w.in, world_make(VSCAN_INT, 0), 1, 1, w.shorter},
        {VSCAN_ERROR_LENGTH, "rows ", w.in, w.flags, -1, 1, w.shorter},
        {VSCAN_ERROR_LENGTH, "columns ", w.in, w.flags, 1, -1, w.shorter},
        {VSCAN_ERROR_LENGTH, "in ", w.in, w.flags, N + 1, 1, w.shorter},
        {VSCAN_ERROR_OVERFLOW, "rows ", w.in, w.flags, INT64_MAX, 2, w.shorter},
        {VSCAN_ERROR_TYPE, "totals ", w.in, w.shorter, 1, 1, world_make(VSCAN_FLOAT, N - 2)},
        {VSCAN_ERROR_LENGTH, "totals ", w.in, w.flags, 1, 1, w.out},
        {VSCAN_ERROR_LENGTH, "totals ", w.in, w.flags, 1, 2, w.shorter},
        {VSCAN_ERROR_LENGTH, "totals ", w.in, w.flags, 0, INT64_MAX / 2, w.shorter},
    };
    for (size_t k = 0; k < sizeof wrong / sizeof wrong[0]; k++)
        refused_untouched(wrong[k].status, wrong[k].word,
                          CALL(wrong[k].in, wrong[k].offsets, wrong[k].rows, wrong[k].columns,
                               wrong[k].totals, NULL));
    refused_untouched(
        VSCAN_ERROR_ENUM, "op ",
        vscan_reduce_columns_by_offsets(c, (vscan_op)0, w.in, w.flags, 1, 1, w.shorter, NULL));
    /* totals lie in another argument */
    vscan_buffer *const others[] = {w.in, w.flags, w.shorter};
    static const char *const overlaps[] = {"totals overlaps in", "totals overlaps offsets",
                                           "totals overlaps options->initial_buffer"};
    vscan_buffer *inside, *to;
    ok(c, vscan_buffer_view(w.shorter, 1, 1, &inside));
    for (int k = 0; k < 3; k++) {
        ok(c, vscan_buffer_view(others[k], 0, N - 1, &to));
        o.initial_buffer = k == 2 ? inside : NULL;
        refused_untouched(VSCAN_ERROR_OVERLAP, overlaps[k], CALL(w.in, w.flags, 1, 1, to, &o));
        ok(NULL, vscan_buffer_destroy(to));
    }
    ok(NULL, vscan_buffer_destroy(inside));
    const struct {
        vscan_status status;
        const char *word;
        vscan_matrix_options options;
    } bad[] = {
        {VSCAN_ERROR_STRUCT_SIZE, "options->size ", {.size = 1}},
        {VSCAN_ERROR_VALUE, "options->kind ", {.size = sizeof o, .kind = VSCAN_EXCLUSIVE}},
        {VSCAN_ERROR_VALUE, "options->totals ", {.size = sizeof o, .totals = w.out}},
        {VSCAN_ERROR_VALUE, "options->matrices ", {.size = sizeof o, .matrices = 2}},
        {VSCAN_ERROR_VALUE, "options->matrices ", {.size = sizeof o, .matrices = -1}},
        {VSCAN_ERROR_VALUE, "options->pitch ", {.size = sizeof o, .pitch = -1}},
        {VSCAN_ERROR_ENUM, "options->direction ", {.size = sizeof o, .direction = 9}},
        {VSCAN_ERROR_TYPE,
         "options->initial_buffer ",
         {.size = sizeof o, .initial_buffer = w.one_float}},
        {VSCAN_ERROR_VALUE,
         "options->initial ",
         {.size = sizeof o, .initial = {.holds = VSCAN_INT}, .initial_buffer = w.one_int}},
    };
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++)
        refused_untouched(bad[k].status, bad[k].word,
                          CALL(w.in, w.flags, 1, 1, w.shorter, &bad[k].options));
#undef CALL
}

/* No columns: not even offsets are looked at. */
static void no_columns(void **state) {
    (void)state;
    vscan_ctx *ctx = harness_ctx();
    const int32_t wrong[] = {3, -1};
    vscan_buffer *by, *none;
    ok(ctx, vscan_buffer_create(ctx, VSCAN_INT, 2, &by));
    ok(ctx, vscan_buffer_create(ctx, VSCAN_FLOAT, 0, &none));
    ok(ctx, vscan_buffer_upload(by, 0, 2, wrong));
    ok(ctx, vscan_reduce_columns_by_offsets(ctx, VSCAN_PLUS, none, by, 2, 0, none, NULL));
    ok(ctx, vscan_ctx_synchronize(ctx));
    ok(ctx, vscan_buffer_destroy(by));
    ok(ctx, vscan_buffer_destroy(none));
}

/* Numbers whose products nobody may compute: columns of no groups, and the pitch of a single row. */
static void large_numbers(void **state) {
    (void)state;
    vscan_ctx *ctx = harness_ctx();
    static const float row[] = {1, 2, 3};
    const int32_t offsets[] = {0, 1, 1};
    float found[6];
    vscan_buffer *in, *by, *first, *none, *totals;
    ok(ctx, vscan_buffer_create(ctx, VSCAN_FLOAT, 3, &in));
    ok(ctx, vscan_buffer_create(ctx, VSCAN_INT, 3, &by));
    ok(ctx, vscan_buffer_create(ctx, VSCAN_FLOAT, 0, &none));
    ok(ctx, vscan_buffer_create(ctx, VSCAN_FLOAT, 6, &totals));
    ok(ctx, vscan_buffer_view(by, 0, 1, &first));
    ok(ctx, vscan_buffer_upload(in, 0, 3, row));
    ok(ctx, vscan_buffer_upload(by, 0, 3, offsets));
    const int64_t large = INT64_MAX / 2;
    ok(ctx, vscan_reduce_columns_by_offsets(ctx, VSCAN_PLUS, in, first, 0, large, none, NULL));
    vscan_matrix_options o = {.size = sizeof o, .pitch = large, .direction = VSCAN_BACKWARD};
    for (int k = 0; k < 2; k++) {
        ok(ctx, vscan_reduce_columns_by_offsets(ctx, VSCAN_PLUS, in, by, 1, 3, totals, &o));
        ok(ctx, vscan_buffer_download(totals, 0, 6, found));
        for (int c = 0; c < 6; c++) assert_true(found[c] == (c < 3 ? row[c] : 0));
        o.direction = VSCAN_FORWARD;
    }
    ok(ctx, vscan_buffer_upload(by, 0, 1, &(int32_t){1})); /* rows are 0 */
    ok(ctx, vscan_reduce_columns_by_offsets(ctx, VSCAN_PLUS, in, first, 0, 5, none, NULL));
    refuses(VSCAN_ERROR_OFFSETS, vscan_ctx_synchronize(ctx));
    vscan_buffer *const all[] = {first, in, by, none, totals};
    for (int k = 0; k < 5; k++) ok(ctx, vscan_buffer_destroy(all[k]));
}

int main(int argc, char **argv) {
#define X(pair, op, type, OP, TYPE) cmocka_unit_test(reduce_##pair),
    const struct CMUnitTest tests[] = {VSCAN__PAIRS(X) cmocka_unit_test(long_groups),
                                       cmocka_unit_test(group_alone), cmocka_unit_test(no_columns),
                                       cmocka_unit_test(large_numbers),
                                       world_unit_test(refusals)};
#undef X
    return harness_run(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
