/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scans and reductions of rows and columns, of one matrix or several, and segmented scans of rows: every line
 * against the serial reference and, to the bit, against vscan_scan or vscan_scan_segmented of the line alone;
 * what lies between rows must stay as it was. What the calls refuse: test_matrix_refused.c.
 */
#include "maps.h"

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
    int64_t matrices; /* 0: one, and the option is not set */
    vscan_type heads; /* 0: not segmented; else the flags' type, and by rows */
    int density;      /* of the flags, as in maps_draw_flags */
    bool by_columns, reduce, exclusive, backward, in_place, with_totals, pitch_given;
    bool aligned; /* the matrices, to 16 bytes; else at random */
    int initial;  /* 0: none, 1: on the host, 2: one element, 3: one a line */
    enum inputs_pattern pattern;
    uint64_t seed;
};

static int64_t matrices_of(const struct matrix_case *c) {
    return c->matrices == 0 ? 1 : c->matrices;
}
static int64_t lines_of(const struct matrix_case *c) {
    return matrices_of(c) * (c->by_columns ? c->columns : c->rows);
}
static int64_t length_of(const struct matrix_case *c) {
    return c->by_columns ? c->rows : c->columns;
}
/* Where element k of a line is. */
static int64_t place(const struct matrix_case *c, int64_t line, int64_t k) {
    if (!c->by_columns) return line * c->pitch + k;
    return (line / c->columns * c->rows + k) * c->pitch + line % c->columns;
}

/* Copies a line out of a matrix, or back into one. */
static void copy_line(const struct matrix_case *c, void *to, int64_t to_step, const void *from,
                      int64_t from_step) {
    const int64_t length = length_of(c);
    if (reference_bytes(c->type, 1) == 8)
        for (int64_t k = 0; k < length; k++)
            memcpy((char *)to + 8 * k * to_step, (const char *)from + 8 * k * from_step, 8);
    else
        for (int64_t k = 0; k < length; k++)
            memcpy((char *)to + 4 * k * to_step, (const char *)from + 4 * k * from_step, 4);
}
static void take_line(const struct matrix_case *c, int64_t line, const void *matrix, void *vector) {
    const void *const first = maps_at(c->type, matrix, place(c, line, 0));
    copy_line(c, vector, 1, first, c->by_columns ? c->pitch : 1);
}
static void put_line(const struct matrix_case *c, int64_t line, void *matrix, const void *vector) {
    void *const first = maps_at(c->type, matrix, place(c, line, 0));
    copy_line(c, first, c->by_columns ? c->pitch : 1, vector, 1);
}

/* Element `line` of the initial values, or NULL. */
static const void *initial_of(const struct matrix_case *c, const void *initials, int64_t line) {
    if (c->initial == 0) return NULL;
    return maps_at(c->type, (void *)initials, c->initial == 3 ? line : 0);
}

/* The line's segments by vscan_scan_segmented, compared with what is expected of them. */
static void check_segments_alone(vscan_ctx *ctx, const struct matrix_case *c,
                                 const struct reference *r, const char *what) {
    vscan_buffer *v = NULL, *flags = NULL;
    void *got = malloc(reference_bytes(c->type, r->n) + 8);
    assert_non_null(got);
    const vscan_scan_segmented_options o = {
        .size = sizeof o,
        .kind = c->exclusive ? VSCAN_EXCLUSIVE : VSCAN_INCLUSIVE,
        .direction = c->backward ? VSCAN_BACKWARD : VSCAN_FORWARD,
        .initial = harness_value(c->type, r->initial)};
    ok(ctx, vscan_buffer_create(ctx, c->type, r->n, &v));
    ok(ctx, vscan_buffer_create(ctx, VSCAN_BYTE, r->n, &flags));
    ok(ctx, vscan_buffer_upload(v, 0, r->n, r->in));
    ok(ctx, vscan_buffer_upload(flags, 0, r->n, r->flags));
    ok(ctx, vscan_scan_segmented(ctx, c->op, v, flags, v, &o));
    ok(ctx, vscan_buffer_download(v, 0, r->n, got));
    if (reference_difference(c->type, r->n, r->out, got) >= 0) {
        print_error("%s: vscan_scan_segmented of a row alone gives other bits\n", what);
        fail();
    }
    ok(NULL, vscan_buffer_destroy(v));
    ok(NULL, vscan_buffer_destroy(flags));
    free(got);
}

/* The line by vscan_scan, compared with what is expected of it. */
static void check_alone(vscan_ctx *ctx, const struct matrix_case *c, const struct reference *r,
                        const char *what) {
    if (r->flags != NULL) {
        check_segments_alone(ctx, c, r, what);
        return;
    }
    const void *const vector = r->in, *const initial = r->initial, *const expected = r->out,
                      *const total = r->total;
    const int64_t n = r->n;
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

/* The reference of a line and of its total, which is the last inclusive result. */
static void scan_line(struct reference *r) {
    if (r->flags == NULL || r->n == 0) {
        r->flags = NULL;
        reference_scan(r);
        if (r->n == 0 && r->initial == NULL) reference_identity(r->op, r->type, r->total);
        return;
    }
    void *const total = r->total;
    struct reference inclusive = *r;
    inclusive.exclusive = false;
    inclusive.total = r->total = NULL; /* of no meaning there */
    reference_scan(&inclusive);
    memcpy(total, maps_at(r->type, r->out, r->backward ? 0 : r->n - 1),
           reference_bytes(r->type, 1));
    reference_scan(r);
    r->total = total;
}

static void run_case(const struct matrix_case *c, struct inputs_random *random) {
    vscan_ctx *ctx = harness_ctx();
    const int64_t lines = lines_of(c), length = length_of(c);
    const int64_t all_rows = matrices_of(c) * c->rows;
    const int64_t whole =
        c->rows > 0 && c->columns > 0 ? (all_rows - 1) * c->pitch + c->columns : 0;
    const int64_t n = whole + c->extra;
    const size_t size = reference_bytes(c->type, 1);
    char what[TEXT];
    snprintf(what, sizeof what,
             "%s %s of %s, %s, %" PRId64 " of %" PRId64 " x %" PRId64 ", pitch %" PRId64
             ", heads %s, %s %s, initial %d%s%s",
             c->reduce ? "reduce" : "scan", c->by_columns ? "columns" : "rows",
             reference_type_name(c->type), reference_op_name(c->op), matrices_of(c), c->rows,
             c->columns, c->pitch, c->heads == 0 ? "none" : reference_type_name(c->heads),
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
    uint8_t *const flags = c->heads != 0 ? maps_draw_flags(c->density, n, random) : NULL;
    void *const encoded = flags != NULL ? maps_encode_flags(c->heads, n, flags, random) : NULL;
    struct guarded heads =
        guarded_make(ctx, flags != NULL ? c->heads : VSCAN_BYTE, flags != NULL ? n : 0,
                     (int)inputs_below(random, 5), encoded);

    void *expected = maps_original(to), *expected_totals = maps_original(&totals);
    const bool some_alone = inputs_below(random, 4) == 0;
    for (int64_t line = 0; line < lines; line++) {
        char total[8] = {0};
        take_line(c, line, in, line_in);
        struct reference r = {.op = c->op,
                              .type = c->type,
                              .n = length,
                              .in = line_in,
                              .flags = flags != NULL ? flags + line * c->pitch : NULL,
                              .initial = initial_of(c, initials, line),
                              .exclusive = c->exclusive,
                              .backward = c->backward,
                              .out = line_out,
                              .total = total};
        scan_line(&r);
        if (!c->reduce) put_line(c, line, expected, line_out);
        if (c->reduce || c->with_totals)
            memcpy(maps_at(c->type, expected_totals, line), total, size);
        if (some_alone && length > 0 && (line == 0 || line == lines - 1))
            check_alone(ctx, c, &r, what);
    }

    const vscan_matrix_options o = {.size = sizeof o,
                                    .kind = c->exclusive ? VSCAN_EXCLUSIVE : VSCAN_INCLUSIVE,
                                    .direction = c->backward ? VSCAN_BACKWARD : VSCAN_FORWARD,
                                    .pitch = c->pitch_given ? c->pitch : 0,
                                    .initial =
                                        harness_value(c->type, c->initial == 1 ? initials : NULL),
                                    .initial_buffer = c->initial >= 2 ? firsts.view : NULL,
                                    .totals = c->with_totals && !c->reduce ? totals.view : NULL,
                                    .matrices = c->matrices};
    if (flags != NULL)
        ok(ctx, vscan_scan_rows_segmented(ctx, c->op, from.view, heads.view, c->rows, c->columns,
                                          to->view, &o));
    else if (c->reduce)
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
    maps_check(&heads, guarded_original(&heads), what);
    struct guarded *const all[] = {&from, &apart, &totals, &firsts, &heads};
    for (int k = 0; k < 5; k++) guarded_free(all[k]);
    void *const memory[] = {in,       initials,        line_in, line_out,
                            expected, expected_totals, flags,   encoded};
    for (int k = 0; k < 8; k++) free(memory[k]);
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

/* The same, and that it is a segmented scan of rows. */
static void draw_segmented(struct matrix_case *c, struct inputs_random *random) {
    static const vscan_type types[] = {VSCAN_INT, VSCAN_BYTE, VSCAN_BIT};
    draw(c, random);
    c->by_columns = c->reduce = false;
    c->heads = types[inputs_below(random, 3)];
    c->density = (int)inputs_below(random, MAPS_DENSITIES);
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
    /* one row and one column: vectors, or lines of one element */
    static const int64_t thin[] = {1, 2, 33, 1000, 5000};
    for (int k = 0; k < (harness_small() ? 20 : 80); k++) {
        const int64_t side = k < 20 ? thin[k / 4] : 1 + inputs_below(&random, tile);
        c.rows = k % 2 ? 1 : side;
        c.columns = k % 2 ? side : 1;
        draw(&c, &random);
        c.by_columns = c.reduce ? k / 2 % 2 : k % 4 != 3;
        if (k % 3 < 2) c.pitch = c.columns;
        run_case(&c, &random);
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
    /* few columns of many rows without a gap, which the CPU takes apart */
    for (int k = 0; k < (harness_small() ? 6 : 24); k++) {
        c.columns = 2 + k % 3;
        c.rows = k % 6 < 3 ? 1022 + inputs_below(&random, 5) : 1 + inputs_below(&random, 3 * tile);
        draw(&c, &random);
        c.pitch = c.columns;
        c.by_columns = k % 4 != 3;
        run_case(&c, &random);
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

/* Columns of several matrices: few and many, narrow and wide, of one chunk and of several. */
static void test_batch(vscan_op op, vscan_type type) {
    struct inputs_random random = {harness_seed() + 200 * (uint64_t)op + (uint64_t)type};
    struct matrix_case c = {.op = op, .type = type};
    static const int64_t shapes[][3] = {
        {0, 3, 4},     {5, 0, 4},    {5, 3, 0},    {2, 1, 1},     {3, 7, 5},      {40, 33, 3},
        {700, 16, 1},  {9, 64, 64},  {4, 1, 1000}, {3, 1025, 31}, {100, 50, 3},   {2, 3000, 65},
        {6, 257, 100}, {2, 40, 513}, {17, 129, 8}, {3, 20000, 2}, {2, 33000, 40}, {300, 100, 96},
        {5, 1500, 3}, {7, 1100, 2}, {4, 2100, 4}};
    for (size_t k = 0; k < sizeof shapes / sizeof shapes[0]; k++) {
        const bool large = shapes[k][0] * shapes[k][1] * shapes[k][2] > 200000;
        if (large && (harness_small() || (op != VSCAN_PLUS && op != VSCAN_MAX))) continue;
        c.matrices = shapes[k][0];
        c.rows = shapes[k][1];
        c.columns = shapes[k][2];
        draw(&c, &random);
        c.by_columns = k % 5 != 4;
        run_case(&c, &random);
    }
}

/* Rows of segments: of less than a group and more, up to several blocks of every level. */
static void test_segmented_rows(vscan_op op, vscan_type type) {
    struct inputs_random random = {harness_seed() + 300 * (uint64_t)op + (uint64_t)type};
    struct matrix_case c = {.op = op, .type = type};
    const int64_t tile = reference_tile(type);
    const int64_t lengths[] = {0,    1,    2,    3,    5,        8,         11,
                               16,   17,   31,   32,   33,       64,        100,
                               127,  128,  129,  500,  1000,     1023,      1024,
                               1025, 1057, 2048, 5000, tile - 1, tile + 33, 3 * tile};
    for (size_t k = 0; k < sizeof lengths / sizeof lengths[0]; k++)
        for (int again = 0; again < (harness_small() ? 1 : 2); again++) {
            c.columns = lengths[k];
            c.rows = 1 + inputs_below(&random, lengths[k] > 2000 ? 4 : 80);
            draw_segmented(&c, &random);
            if (again == 1) c.matrices = 1 + inputs_below(&random, 3);
            run_case(&c, &random);
            c.matrices = 0;
        }
    /* so long that all threads of a CPU share a row, and that it is worth a launch of its own */
    if (harness_small()) return;
    for (int k = 0; k < 2; k++) {
        c.rows = 1 + k;
        c.columns = 20 * tile + inputs_below(&random, 100);
        draw_segmented(&c, &random);
        if (k == 0) c.with_totals = false;
        run_case(&c, &random);
    }
}

#define X(pair, op, type, OP, TYPE)                                                                \
    static void matrix_##pair(void **state) {                                                      \
        (void)state;                                                                               \
        test_pair(VSCAN_##OP, VSCAN_##TYPE);                                                       \
    }                                                                                              \
    static void batch_##pair(void **state) {                                                       \
        (void)state;                                                                               \
        test_batch(VSCAN_##OP, VSCAN_##TYPE);                                                      \
    }                                                                                              \
    static void segmented_rows_##pair(void **state) {                                              \
        (void)state;                                                                               \
        test_segmented_rows(VSCAN_##OP, VSCAN_##TYPE);                                             \
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
            draw_segmented(&c, &random);
            c.with_totals = reduce;
            run_case(&c, &random);
        }
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

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
#define X(pair, op, type, OP, TYPE)                                                                \
    cmocka_unit_test(matrix_##pair), cmocka_unit_test(batch_##pair),                               \
        cmocka_unit_test(segmented_rows_##pair),
        VSCAN__PAIRS(X)
#undef X
            cmocka_unit_test(few_long_rows),
        cmocka_unit_test(nothing_far_apart),
    };
    return harness_run(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
