/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scans and reductions of rows and columns: every line against the serial reference and, to the bit,
 * against vscan_scan of the line alone; what lies between rows must stay as it was. What the calls
 * refuse is at the end.
 */
#include "maps.h"
#include "refusal.h"
#include "world.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/pairs.h"

enum { TEXT = 240 };

/* One call. The buffers hold elements past the matrix too. */
struct matrix_case {
    vscan_op op;
    vscan_type type;
    int64_t rows, columns, pitch, extra;
    bool by_columns, reduce, exclusive, backward, in_place, with_totals, pitch_given;
    bool aligned; /* the matrices, to 16 bytes; else at random */
    int initial;  /* 0: none, 1: on the host, 2: one element, 3: one a line */
    enum inputs_pattern pattern;
    uint64_t seed;
};

static int64_t lines_of(const struct matrix_case *c) {
    return c->by_columns ? c->columns : c->rows;
}
static int64_t length_of(const struct matrix_case *c) {
    return c->by_columns ? c->rows : c->columns;
}
/* Where element k of a line is. */
static int64_t place(const struct matrix_case *c, int64_t line, int64_t k) {
    return c->by_columns ? k * c->pitch + line : line * c->pitch + k;
}

/* Copies a line out of a matrix, or back into one. */
static void take_line(const struct matrix_case *c, int64_t line, const void *matrix, void *vector) {
    for (int64_t k = 0; k < length_of(c); k++)
        memcpy(maps_at(c->type, vector, k), maps_at(c->type, (void *)matrix, place(c, line, k)),
               reference_bytes(c->type, 1));
}
static void put_line(const struct matrix_case *c, int64_t line, void *matrix, const void *vector) {
    for (int64_t k = 0; k < length_of(c); k++)
        memcpy(maps_at(c->type, matrix, place(c, line, k)), maps_at(c->type, (void *)vector, k),
               reference_bytes(c->type, 1));
}

/* Element `line` of the initial values, or NULL. */
static const void *initial_of(const struct matrix_case *c, const void *initials, int64_t line) {
    if (c->initial == 0) return NULL;
    return maps_at(c->type, (void *)initials, c->initial == 3 ? line : 0);
}

/* The line by vscan_scan, compared with what is expected of it. */
static void check_alone(vscan_ctx *ctx, const struct matrix_case *c, const void *vector,
                        const void *initial, const void *expected, const void *total,
                        const char *what) {
    const int64_t n = length_of(c);
    vscan_buffer *v = NULL;
    char got_total[8];
    void *got = malloc(reference_bytes(c->type, n) + 8);
    assert_non_null(got);
    const vscan_scan_options o = {.size = sizeof o,
                                  .kind = c->exclusive ? VSCAN_EXCLUSIVE : VSCAN_INCLUSIVE,
                                  .direction = c->backward ? VSCAN_BACKWARD : VSCAN_FORWARD,
                                  .initial = harness_value(c->type, initial),
                                  .total = harness_one(ctx, c->type)};
    ok(ctx, vscan_buffer_create(ctx, c->type, n, &v));
    ok(ctx, vscan_buffer_upload(v, 0, n, vector));
    ok(ctx, vscan_scan(ctx, c->op, v, v, &o));
    ok(ctx, vscan_buffer_download(v, 0, n, got));
    harness_take(ctx, o.total, got_total);
    if (reference_difference(c->type, n, expected, got) >= 0 ||
        reference_difference(c->type, 1, total, got_total) >= 0) {
        print_error("%s: vscan_scan of a line alone gives other bits\n", what);
        fail();
    }
    ok(NULL, vscan_buffer_destroy(v));
    free(got);
}

static void run_case(const struct matrix_case *c, struct inputs_random *random) {
    vscan_ctx *ctx = harness_ctx();
    const int64_t lines = lines_of(c), length = length_of(c);
    const int64_t whole = c->rows > 0 && c->columns > 0 ? (c->rows - 1) * c->pitch + c->columns : 0;
    const int64_t n = whole + c->extra;
    const size_t size = reference_bytes(c->type, 1);
    char what[TEXT];
    snprintf(what, sizeof what,
             "%s %s of %s, %s, %" PRId64 " x %" PRId64 ", pitch %" PRId64 ", %s %s, initial %d%s%s",
             c->reduce ? "reduce" : "scan", c->by_columns ? "columns" : "rows",
             reference_type_name(c->type), reference_op_name(c->op), c->rows, c->columns, c->pitch,
             c->exclusive ? "exclusive" : "inclusive", c->backward ? "backward" : "forward",
             c->initial, c->in_place ? ", in place" : "", c->with_totals ? ", totals" : "");
    int shift[4];
    maps_shifts(random, 4, shift);
    if (c->aligned) shift[0] = shift[1] = 0;
    void *in = malloc((size_t)n * size + 8), *initials = malloc((size_t)lines * size + 8);
    void *line_in = malloc((size_t)length * size + 8),
         *line_out = malloc((size_t)length * size + 8);
    assert_true(in && initials && line_in && line_out);
    inputs_fill(c->pattern, c->type, n, c->seed, in);
    inputs_fill(INPUTS_RANDOM, c->type, lines > 0 ? lines : 1, c->seed + 1, initials);
    struct guarded from = guarded_make(ctx, c->type, n, shift[0], in);
    struct guarded apart = guarded_make(ctx, c->type, n, shift[1], NULL);
    struct guarded totals = guarded_make(ctx, c->type, lines, shift[2], NULL);
    struct guarded firsts =
        guarded_make(ctx, c->type, c->initial == 3 ? lines : 1, shift[3], initials);
    struct guarded *const to = c->in_place ? &from : &apart;

    void *expected = maps_original(to), *expected_totals = maps_original(&totals);
    const bool some_alone = inputs_below(random, 4) == 0;
    for (int64_t line = 0; line < lines; line++) {
        char total[8] = {0};
        take_line(c, line, in, line_in);
        struct reference r = {.op = c->op,
                              .type = c->type,
                              .n = length,
                              .in = line_in,
                              .initial = initial_of(c, initials, line),
                              .exclusive = c->exclusive,
                              .backward = c->backward,
                              .out = line_out,
                              .total = total};
        reference_scan(&r);
        if (length == 0 && r.initial == NULL) reference_identity(c->op, c->type, total);
        if (!c->reduce) put_line(c, line, expected, line_out);
        if (c->reduce || c->with_totals)
            memcpy(maps_at(c->type, expected_totals, line), total, size);
        if (some_alone && length > 0 && (line == 0 || line == lines - 1))
            check_alone(ctx, c, line_in, r.initial, line_out, total, what);
    }

    const vscan_matrix_options o = {.size = sizeof o,
                                    .kind = c->exclusive ? VSCAN_EXCLUSIVE : VSCAN_INCLUSIVE,
                                    .direction = c->backward ? VSCAN_BACKWARD : VSCAN_FORWARD,
                                    .pitch = c->pitch_given ? c->pitch : 0,
                                    .initial =
                                        harness_value(c->type, c->initial == 1 ? initials : NULL),
                                    .initial_buffer = c->initial >= 2 ? firsts.view : NULL,
                                    .totals = c->with_totals && !c->reduce ? totals.view : NULL};
    if (c->reduce)
        ok(ctx, (c->by_columns ? vscan_reduce_columns : vscan_reduce_rows)(
                    ctx, c->op, from.view, c->rows, c->columns, totals.view, &o));
    else
        ok(ctx, (c->by_columns ? vscan_scan_columns : vscan_scan_rows)(
                    ctx, c->op, from.view, c->rows, c->columns, to->view, &o));
    ok(ctx, vscan_ctx_synchronize(ctx));
    maps_check(to, expected, what);
    maps_check(&totals, expected_totals, what);
    struct guarded *const other = c->in_place ? &apart : &from;
    maps_check(other, guarded_original(other), what);
    maps_check(&firsts, guarded_original(&firsts), what);
    struct guarded *const all[] = {&from, &apart, &totals, &firsts};
    for (int k = 0; k < 4; k++) guarded_free(all[k]);
    void *const memory[] = {in, initials, line_in, line_out, expected, expected_totals};
    for (int k = 0; k < 6; k++) free(memory[k]);
}

/* Draws all that is not the pair or the shape. */
static void draw(struct matrix_case *c, struct inputs_random *random) {
    static const enum inputs_pattern patterns[] = {
        INPUTS_RANDOM,   INPUTS_RANDOM, INPUTS_EXTREMES,  INPUTS_NAN_MIDDLE,
        INPUTS_INFINITE, INPUTS_ZEROS,  INPUTS_RARE_ZERO, INPUTS_RARE_ONE};
    c->pitch = c->columns;
    if (inputs_below(random, 2)) c->pitch += inputs_below(random, 2) ? 8 : inputs_below(random, 40);
    c->pitch_given = c->pitch != c->columns || inputs_below(random, 2);
    c->extra = inputs_below(random, 2) ? inputs_below(random, 9) : 0;
    c->by_columns = inputs_below(random, 2);
    c->reduce = inputs_below(random, 4) == 0;
    c->exclusive = !c->reduce && inputs_below(random, 2);
    c->backward = inputs_below(random, 2);
    c->in_place = !c->reduce && inputs_below(random, 3) == 0;
    c->with_totals = inputs_below(random, 2);
    c->initial = (int)inputs_below(random, 4);
    c->pattern = patterns[inputs_below(random, 8)];
    c->seed = inputs_next(random);
}

static void draw_and_run(struct matrix_case *c, struct inputs_random *random) {
    draw(c, random);
    run_case(c, random);
}

static void test_pair(vscan_op op, vscan_type type) {
    struct inputs_random random = {harness_seed() + 100 * (uint64_t)op + (uint64_t)type};
    struct matrix_case c = {.op = op, .type = type};
    const int64_t tile = reference_tile(type);
    static const int64_t sides[] = {0,   1,   2,   3,   4,   7,   8,   15,  16,
                                    17,  31,  32,  33,  63,  64,  65,  100, 127,
                                    128, 129, 255, 256, 257, 300, 511, 513, 1000};
    enum { SIDES = sizeof sides / sizeof sides[0] };
    for (int a = 0; a < SIDES; a++)
        for (int b = 0; b < SIDES; b++) {
            /* every side, with a few others each */
            if (inputs_below(&random, harness_small() ? 60 : 4) != 0) continue;
            c.rows = sides[a];
            c.columns = sides[b];
            draw_and_run(&c, &random);
        }
    /* long lines, few of them, around the borders of chunks and of tiles */
    for (int k = 0; k < (harness_small() ? 3 : 24); k++) {
        const int64_t lines = 1 + inputs_below(&random, 6);
        int64_t length = tile / 4 * (1 + inputs_below(&random, 14)) + inputs_below(&random, 5) - 2;
        if (k % 4 == 3) length = 1 + inputs_below(&random, 6 * tile);
        const bool tall = inputs_below(&random, 2);
        c.rows = tall ? length : lines;
        c.columns = tall ? lines : length;
        draw_and_run(&c, &random);
    }
    /* about as many rows as a GPU has multiprocessors, and several times as many; longer than a block's
       share */
    static const int64_t many[] = {100, 150, 600};
    for (int k = 0; k < 3; k++) {
        c.rows = many[k];
        c.columns = tile / 4 + inputs_below(&random, k < 2 ? 2 * tile : tile);
        do draw_and_run(&c, &random);
        while (c.by_columns);
    }
    /* rows of several tiles that are multiples of 128 bytes: enough of them to be about 10 MB,
       and fewer */
    for (int k = 0; k < (harness_small() ? 2 : 6); k++) {
        c.rows = k % 3 ? 1 + inputs_below(&random, 4) : 60;
        c.columns = (2 + inputs_below(&random, 4)) * tile - 32 * inputs_below(&random, tile / 300);
        if (harness_backend != VSCAN_BACKEND_CUDA && c.rows > 4) c.rows = 4;
        do draw(&c, &random);
        while (c.by_columns || c.reduce || c.pitch % 4 != 0);
        c.aligned = true;
        run_case(&c, &random);
        c.aligned = false;
    }
    /* rows of more than 1 KiB, none of 16 bytes, enough of them that a block has one or some */
    for (int k = 0; k < (harness_small() ? 1 : 3); k++) {
        static const int64_t lengths[] = {4099, 8700, 1000};
        c.rows = lengths[k] > 1000 ? 270 : 1200;
        c.columns = lengths[k] - inputs_below(&random, 90);
        if (harness_backend != VSCAN_BACKEND_CUDA) c.rows = 11;
        do draw(&c, &random);
        while (c.by_columns || c.reduce);
        run_case(&c, &random);
    }
    /* sums of rows that have several warps or tiles, some of them hardly anything of the last one */
    static const int64_t longer[] = {512, 1024, 4096, 5000};
    for (int k = 0; op == VSCAN_PLUS && k < (harness_small() ? 2 : 8); k++) {
        c.rows = 1 + inputs_below(&random, 20);
        c.columns = k % 2 ? longer[k / 2] : tile / 2 * (1 + inputs_below(&random, 4));
        c.columns += inputs_below(&random, 3) ? inputs_below(&random, 80) - 40 : 0;
        draw(&c, &random);
        c.reduce = true;
        c.by_columns = c.exclusive = c.in_place = false;
        run_case(&c, &random);
    }
    /* columns of rows that lie one behind the other, or nearly so, from a multiple of 16 bytes on:
       first so many rows that a block of the kernel with stages in shared memory, where it is forced,
       has more chunks than stages; then some of 2^20 elements and some of a few rows */
    const bool gpu = harness_backend == VSCAN_BACKEND_CUDA; /* numbers below are of its kernels */
    static const int64_t widths[] = {8, 64, 16, 17, 31, 33, 100, 101, 128, 4, 9, 2600};
    for (int k = 0; k < (harness_small() ? 2 : 12); k++) {
        const int64_t most = gpu && !harness_small() ? 1 << 20 : 1 << 16;
        c.columns = widths[k];
        c.rows = 1 + inputs_below(&random, k % 3 == 2 ? 200 : most / c.columns);
        if (k < 2 && gpu) c.rows += k == 0 ? 40000 : 20000;
        draw(&c, &random);
        c.pitch = c.columns + (c.columns > 32 ? 4 * inputs_below(&random, 3) : 0);
        c.pitch_given = c.pitch > c.columns;
        c.reduce = false;
        c.by_columns = c.aligned = true;
        run_case(&c, &random);
    }
    c.aligned = false;
    if (harness_small()) return;
    /* so many rows that a lane has one, and none of 16 bytes */
    for (int k = 0; k < 2; k++) {
        c.rows = 9000 + inputs_below(&random, 40);
        c.columns = 1 + 2 * inputs_below(&random, k ? 128 : 40);
        do draw_and_run(&c, &random);
        while (c.by_columns);
    }
    /* so many that a block sums all tiles of one */
    if (op == VSCAN_PLUS) {
        c.rows = gpu ? 1100 : 11;
        c.columns = tile + inputs_below(&random, 2 * tile) / 3;
        draw(&c, &random);
        c.reduce = true;
        c.by_columns = c.exclusive = c.in_place = false;
        run_case(&c, &random);
    }
    /* so many rows of 90 elements that a block has several shares of them, one after the other */
    if (op == VSCAN_PLUS) {
        c.rows = 200000;
        c.columns = 90;
        do draw_and_run(&c, &random);
        while (c.by_columns);
    }
    /* more tiles than a look-back reads at a time; a wide and a tall matrix */
    for (int k = 0; k < 3; k++) {
        const int64_t length = (k == 0 ? 140 : 12) * tile + 77,
                      lines = k == 0 ? 1 : 2 + 30 * (k == 2);
        if (k == 2 && op != VSCAN_PLUS) continue;
        c.rows = k == 0 ? 1 : length;
        c.columns = k == 0 ? length : lines;
        do draw_and_run(&c, &random);
        while (c.by_columns != (k > 0));
    }
    /* the same of columns, for both kernels */
    for (int reduce = 0; reduce < 2 && (gpu || op == VSCAN_PLUS); reduce++) {
        c.rows = 40 * tile + 77;
        c.columns = gpu ? 1 + inputs_below(&random, 3) : 1;
        draw(&c, &random);
        c.by_columns = true;
        c.reduce = reduce;
        if (reduce) c.exclusive = c.in_place = false;
        run_case(&c, &random);
    }
}

#define X(pair, op, type, OP, TYPE)                                                                \
    static void matrix_##pair(void **state) {                                                      \
        (void)state;                                                                               \
        test_pair(VSCAN_##OP, VSCAN_##TYPE);                                                       \
    }
VSCAN__PAIRS(X)
#undef X

/* So few rows, so long, that all threads of a CPU reduce one after the other. */
static void few_long_rows(void **state) {
    (void)state;
    struct inputs_random random = {harness_seed() + 7};
    for (int t = 0; t < REFERENCE_TYPES; t++)
        for (int reduce = 0; reduce < 2; reduce++) {
            struct matrix_case c = {.op = VSCAN_PLUS, .type = reference_types[t]};
            c.rows = 2;
            c.columns = (1 << 20) / (int64_t)reference_bytes(c.type, 1) + 1000;
            do draw(&c, &random);
            while (c.by_columns);
            c.reduce = reduce;
            if (reduce) c.exclusive = c.in_place = false;
            run_case(&c, &random);
        }
}

/* ---- Refusals -------------------------------------------------------------------------------- */

static vscan_status rows_on(vscan_ctx *ctx) {
    return vscan_scan_rows(ctx, VSCAN_PLUS, w.in, 10, 10, w.out, NULL);
}
static vscan_status columns_on(vscan_ctx *ctx) {
    return vscan_scan_columns(ctx, VSCAN_PLUS, w.in, 10, 10, w.out, NULL);
}
static vscan_status row_sums_on(vscan_ctx *ctx) {
    return vscan_reduce_rows(ctx, VSCAN_PLUS, w.in, N, 1, w.out, NULL);
}
static vscan_status column_sums_on(vscan_ctx *ctx) {
    return vscan_reduce_columns(ctx, VSCAN_PLUS, w.in, 1, N, w.out, NULL);
}

/* Rows without elements lie nowhere: no multiple of their pitch may be computed (the sanitizers see it). */
static void nothing_far_apart(void **state) {
    (void)state;
    vscan_ctx *ctx = harness_ctx();
    vscan_buffer *in, *totals;
    ok(ctx, vscan_buffer_create(ctx, VSCAN_INT, 0, &in));
    ok(ctx, vscan_buffer_create(ctx, VSCAN_INT, 5, &totals));
    ok(ctx, vscan_buffer_fill(totals, &(int32_t){7}));
    const vscan_matrix_options o = {.size = sizeof o, .pitch = INT64_MAX / 2};
    ok(ctx, vscan_reduce_rows(ctx, VSCAN_PLUS, in, 5, 0, totals, &o));
    for (int k = 0; k < 5; k++) {
        int32_t total = 7;
        ok(ctx, vscan_buffer_get(totals, k, &total));
        assert_int_equal(total, 0);
    }
    ok(ctx, vscan_scan_rows(ctx, VSCAN_PLUS, in, 5, 0, in, &o));
    ok(ctx, vscan_buffer_destroy(in));
    ok(ctx, vscan_buffer_destroy(totals));
}

static void refused_handles(void **state) {
    (void)state;
    world_check_contexts(rows_on);
    world_check_contexts(columns_on);
    world_check_contexts(row_sums_on);
    world_check_contexts(column_sums_on);
    vscan_ctx *c = w.ctx;
    const vscan_op plus = VSCAN_PLUS;
    for (int i = 0; i < WRONG_HANDLES; i++) {
        const struct wrong_handle h = wrong_handle(i);
        refused_untouched(h.status, "in ", vscan_scan_rows(c, plus, h.handle, 2, 3, w.out, NULL));
        refused_untouched(h.status, "out ", vscan_scan_rows(c, plus, w.in, 2, 3, h.handle, NULL));
        refused_untouched(h.status, "in ",
                          vscan_scan_columns(c, plus, h.handle, 2, 3, w.out, NULL));
        refused_untouched(h.status, "out ",
                          vscan_scan_columns(c, plus, w.in, 2, 3, h.handle, NULL));
        refused_untouched(h.status, "in ", vscan_reduce_rows(c, plus, h.handle, 2, 3, w.out, NULL));
        refused_untouched(h.status, "totals ",
                          vscan_reduce_columns(c, plus, w.in, 2, 3, h.handle, NULL));
        if (h.handle == NULL) continue; /* none */
        vscan_matrix_options o = {.size = sizeof o, .totals = h.handle};
        refused_untouched(h.status, "options->totals ",
                          vscan_scan_rows(c, plus, w.in, 2, 3, w.out, &o));
        o = (vscan_matrix_options){.size = sizeof o, .initial_buffer = h.handle};
        refused_untouched(h.status, "options->initial_buffer ",
                          vscan_scan_columns(c, plus, w.in, 2, 3, w.out, &o));
        refused_untouched(h.status, "options->initial_buffer ",
                          vscan_reduce_rows(c, plus, w.in, N, 1, w.out, &o));
    }
}

static void refused_shapes(void **state) {
    (void)state;
    vscan_ctx *c = w.ctx;
    const vscan_op plus = VSCAN_PLUS;
    const vscan_status length = VSCAN_ERROR_LENGTH;
    vscan_matrix_options o = {.size = sizeof o};
    refused_untouched(length, "rows ", vscan_scan_rows(c, plus, w.in, -1, 3, w.out, NULL));
    refused_untouched(length, "columns ", vscan_scan_rows(c, plus, w.in, 3, -1, w.out, NULL));
    refused_untouched(length, "in ", vscan_scan_rows(c, plus, w.in, 1, N + 1, w.out, NULL));
    refused_untouched(length, "in ", vscan_scan_columns(c, plus, w.in, N + 1, 1, w.out, NULL));
    refused_untouched(length, "out ", vscan_scan_rows(c, plus, w.in, 2, 3, w.shorter, NULL));
    refused_untouched(length, "totals ", vscan_reduce_rows(c, plus, w.in, 10, 10, w.out, NULL));
    refused_untouched(length, "totals ", vscan_reduce_columns(c, plus, w.in, 10, 9, w.out, NULL));
    o.pitch = 34;
    refused_untouched(length, "in ", vscan_scan_rows(c, plus, w.in, 3, 33, w.out, &o));
    o.pitch = 9;
    refused_untouched(VSCAN_ERROR_VALUE, "options->pitch ",
                      vscan_scan_rows(c, plus, w.in, 3, 10, w.out, &o));
    o.pitch = -1;
    refused_untouched(VSCAN_ERROR_VALUE, "options->pitch ",
                      vscan_scan_columns(c, plus, w.in, 3, 0, w.out, &o));
    o.pitch = INT64_MAX / 2;
    refused_untouched(VSCAN_ERROR_OVERFLOW, "pitch",
                      vscan_scan_columns(c, plus, w.in, 4, 10, w.out, &o));
    o.pitch = INT64_MAX;
    refused_untouched(VSCAN_ERROR_OVERFLOW, "pitch",
                      vscan_scan_columns(c, plus, w.in, 2, 10, w.out, &o));
    refused_untouched(VSCAN_ERROR_OVERLAP, "out ",
                      vscan_scan_rows(c, plus, w.in, 2, 3, w.shifted, NULL));
    refused_untouched(VSCAN_ERROR_OVERLAP, "totals ",
                      vscan_reduce_rows(c, plus, w.in, N, 1, w.in, NULL));
    refused_untouched(VSCAN_ERROR_TYPE, "out ",
                      vscan_scan_rows(c, plus, w.in, 2, 3, w.of_float, NULL));
    refused_untouched(VSCAN_ERROR_TYPE, "totals ",
                      vscan_reduce_rows(c, plus, w.in, N, 1, w.of_float, NULL));
    vscan_buffer *const none[] = {w.of_byte, w.of_bit, w.of_uint8};
    for (int k = 0; k < 3; k++) {
        refused_untouched(VSCAN_ERROR_PAIR, "in ",
                          vscan_scan_rows(c, plus, none[k], 2, 3, none[k], NULL));
        refused_untouched(VSCAN_ERROR_PAIR, "in ",
                          vscan_reduce_columns(c, plus, none[k], 2, 3, w.out, NULL));
    }
    refused_untouched(VSCAN_ERROR_ENUM, "op ",
                      vscan_scan_rows(c, (vscan_op)6, w.in, 2, 3, w.out, NULL));
}

static void refused_options(void **state) {
    (void)state;
    vscan_ctx *c = w.ctx;
    const vscan_op plus = VSCAN_PLUS;
    const struct {
        vscan_status status;
        const char *word;
        vscan_matrix_options o;
        bool reduce; /* a reduction refuses it too */
    } cases[] = {
        {VSCAN_ERROR_ENUM, "options->kind ", {.kind = 2}, true},
        {VSCAN_ERROR_ENUM, "options->direction ", {.direction = -1}, true},
        {VSCAN_ERROR_VALUE,
         "options->initial ",
         {.initial = {.holds = VSCAN_INT, .as_int = 3}, .initial_buffer = w.one_int},
         true},
        {VSCAN_ERROR_TYPE, "options->initial ", {.initial = {.holds = VSCAN_FLOAT}}, true},
        {VSCAN_ERROR_TYPE, "options->initial_buffer ", {.initial_buffer = w.one_float}, true},
        {VSCAN_ERROR_LENGTH, "options->initial_buffer ", {.initial_buffer = w.shorter}, true},
        {VSCAN_ERROR_OVERLAP, "options->initial_buffer ", {.initial_buffer = w.out}, true},
        {VSCAN_ERROR_TYPE, "options->totals ", {.totals = w.of_float}, false},
        {VSCAN_ERROR_LENGTH, "options->totals ", {.totals = w.shorter}, false},
        {VSCAN_ERROR_OVERLAP, "options->totals ", {.totals = w.in}, false},
        {VSCAN_ERROR_OVERLAP, "options->totals ", {.totals = w.out}, false},
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        vscan_matrix_options o = cases[k].o;
        o.size = sizeof o;
        refused_untouched(cases[k].status, cases[k].word,
                          vscan_scan_rows(c, plus, w.in, N, 1, w.out, &o));
        refused_untouched(cases[k].status, cases[k].word,
                          vscan_scan_columns(c, plus, w.in, 1, N, w.out, &o));
        if (!cases[k].reduce) continue;
        const bool overlaps = cases[k].status == VSCAN_ERROR_OVERLAP; /* totals come second */
        refused_untouched(cases[k].status, overlaps ? "totals " : cases[k].word,
                          vscan_reduce_rows(c, plus, w.in, N, 1, w.out, &o));
    }
    vscan_matrix_options o = {.size = sizeof o, .kind = VSCAN_EXCLUSIVE};
    refused_untouched(VSCAN_ERROR_VALUE, "options->kind ",
                      vscan_reduce_rows(c, plus, w.in, N, 1, w.out, &o));
    o = (vscan_matrix_options){.size = sizeof o, .totals = w.out};
    refused_untouched(VSCAN_ERROR_VALUE, "options->totals ",
                      vscan_reduce_columns(c, plus, w.in, 1, N, w.out, &o));
    const int64_t sizes[] = {0, -1, 8, sizeof o - 1, INT64_MAX, INT64_MIN};
    o = (vscan_matrix_options){0};
    for (int k = 0; k < 6; k++) {
        o.size = sizes[k];
        refused_untouched(VSCAN_ERROR_STRUCT_SIZE, "size",
                          vscan_scan_rows(c, plus, w.in, 2, 3, w.out, &o));
        refused_untouched(VSCAN_ERROR_STRUCT_SIZE, "size",
                          vscan_reduce_rows(c, plus, w.in, N, 1, w.out, &o));
    }
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
#define X(pair, op, type, OP, TYPE) cmocka_unit_test(matrix_##pair),
        VSCAN__PAIRS(X)
#undef X
            cmocka_unit_test(few_long_rows),
        cmocka_unit_test(nothing_far_apart),
        world_unit_test(refused_handles),
        world_unit_test(refused_shapes),
        world_unit_test(refused_options),
    };
    return harness_run(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
