/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Maxima and minima of rows, columns and segments, and running ones of rows and columns, with positions, against one
 * plain element after another. What the calls refuse is at the end.
 */
#include "extreme_inputs.h"
#include "extreme_reference.h"
#include "maps.h"
#include "refusal.h"
#include "world.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { TEXT = 200 };

static const vscan_type numbers[] = {VSCAN_INT, VSCAN_LONG, VSCAN_FLOAT, VSCAN_DOUBLE};

/* ---- Rows, columns, segments ----------------------------------------------------------------- */

/* Lines of a vector: line l has `length` elements from `first` on, `step` apart. */
struct line {
    int64_t first, length, step;
};

/* One call on such lines: of rows or columns of matrices, or with offsets. */
struct lines_call {
    enum { ROWS, COLUMNS, SEGMENTS } form;
    enum extreme_pattern pattern;
    vscan_type type;
    int64_t rows, columns;
    int64_t n, lines; /* elements of in, and lines */
    vscan_extreme_lines_options o;
    const struct line *line; /* each */
    struct guarded *offsets;
};

static bool is_plain(const struct lines_call *c) {
    return c->o.direction == VSCAN_FORWARD && c->o.in_vector == 0 && c->o.pitch == 0 &&
           c->o.matrices == 0;
}

static vscan_status call_lines(const struct lines_call *c, vscan_op op, vscan_buffer *in,
                               vscan_buffer *totals, vscan_buffer *positions, bool plain) {
    vscan_ctx *ctx = harness_ctx();
    const vscan_extreme_lines_options *o = plain ? NULL : &c->o;
    if (c->form == SEGMENTS)
        return vscan_reduce_extreme_by_offsets(ctx, op, in, c->offsets->view, totals, positions, o);
    return (c->form == ROWS ? vscan_reduce_extreme_rows : vscan_reduce_extreme_columns)(
        ctx, op, in, c->rows, c->columns, totals, positions, o);
}

/* The running results of rows or columns. what: the reduction. */
static void run_scan(const struct lines_call *c, vscan_op op, const void *v, const char *what,
                     struct inputs_random *random) {
    vscan_ctx *ctx = harness_ctx();
    int shift[3];
    maps_shifts(random, 3, shift);
    const vscan_type of = inputs_below(random, 2) ? VSCAN_INT : VSCAN_LONG;
    const int64_t place = inputs_below(random, 3); /* 0: no out, 1: in place */
    struct guarded in = guarded_make(ctx, c->type, c->n, shift[0], v);
    struct guarded apart = guarded_make(ctx, c->type, c->n, shift[1], NULL);
    struct guarded positions = guarded_make(ctx, of, c->n, shift[2], NULL);
    struct guarded *const out = place == 1 ? &in : &apart;
    void *const results = maps_original(out), *const places = maps_original(&positions);
    const size_t size = reference_bytes(c->type, 1);
    char *const line = malloc(2 * reference_bytes(c->type, c->n + 1));
    int64_t *const at = malloc((size_t)(c->n + 1) * sizeof *at);
    for (int64_t l = 0; l < c->lines; l++) {
        const struct line from = c->line[l];
        char *const scanned = line + (size_t)from.length * size;
        for (int64_t k = 0; k < from.length; k++)
            memcpy(line + (size_t)k * size,
                   (const char *)v + (size_t)(from.first + k * from.step) * size, size);
        extreme_reference(op, c->type, from.length, line, c->o.direction == VSCAN_BACKWARD, scanned,
                          VSCAN_LONG, at);
        for (int64_t k = 0; k < from.length; k++) {
            const int64_t i = from.first + k * from.step;
            memcpy((char *)results + (size_t)i * size, scanned + (size_t)k * size, size);
            extreme_put_position(of, places, i,
                                 c->o.in_vector ? from.first + at[k] * from.step : at[k]);
        }
    }
    char text[TEXT + 60];
    snprintf(text, sizeof text, "scan, out %d, positions %s: %s", (int)place,
             reference_type_name(of), what);
    ok(ctx, (c->form == ROWS ? vscan_scan_extreme_rows : vscan_scan_extreme_columns)(
                ctx, op, in.view, c->rows, c->columns, place == 0 ? NULL : out->view,
                positions.view, is_plain(c) ? NULL : &c->o));
    maps_late(ctx, VSCAN_OK, text);
    maps_check(&positions, places, text);
    maps_check(out, place == 0 ? guarded_original(out) : results, text);
    maps_check(place == 1 ? &apart : &in, guarded_original(place == 1 ? &apart : &in), text);
    guarded_free(&in);
    guarded_free(&apart);
    guarded_free(&positions);
    free(results);
    free(places);
    free(line);
    free(at);
}

static void run_lines(const struct lines_call *c, struct inputs_random *random) {
    vscan_ctx *ctx = harness_ctx();
    int shift[3];
    maps_shifts(random, 3, shift);
    void *const v = extreme_draw(c->pattern, c->type, c->n, random);
    const vscan_op op = inputs_below(random, 2) ? VSCAN_MIN : VSCAN_MAX;
    const bool backward = c->o.direction == VSCAN_BACKWARD, no_totals = inputs_below(random, 4) == 0;
    const vscan_type of = inputs_below(random, 2) ? VSCAN_INT : VSCAN_LONG;
    struct guarded in = guarded_make(ctx, c->type, c->n, shift[0], v);
    struct guarded totals = guarded_make(ctx, c->type, c->lines, shift[1], NULL);
    struct guarded positions = guarded_make(ctx, of, c->lines, shift[2], NULL);
    void *const results = maps_original(&totals), *const places = maps_original(&positions);
    const size_t size = reference_bytes(c->type, 1);
    char *const line = malloc(reference_bytes(c->type, c->n + 1));
    for (int64_t l = 0; l < c->lines; l++) {
        const struct line *from = &c->line[l];
        for (int64_t k = 0; k < from->length; k++)
            memcpy(line + (size_t)k * size,
                   (char *)v + (size_t)(from->first + k * from->step) * size, size);
        const int64_t best =
            extreme_reference(op, c->type, from->length, line, backward, NULL, of, NULL);
        if (best >= 0)
            memcpy((char *)results + (size_t)l * size, line + (size_t)best * size, size);
        else
            extreme_put(c->type, results, l, op == VSCAN_MIN ? INFINITY : -INFINITY);
        extreme_put_position(of, places, l,
                             best >= 0 && c->o.in_vector ? from->first + best * from->step : best);
    }
    char what[TEXT];
    snprintf(what, sizeof what,
             "%s %s, form %d, pattern %d, %" PRId64 " x %" PRId64 ", n %" PRId64 ", pitch %" PRId64
             ", matrices %" PRId64 "%s%s, positions %s",
             op == VSCAN_MIN ? "min" : "max", reference_type_name(c->type), (int)c->form,
             (int)c->pattern, c->rows, c->columns, c->n, c->o.pitch, c->o.matrices,
             backward ? ", backward" : "", c->o.in_vector ? ", in the vector" : "",
             reference_type_name(of));
    ok(ctx,
       call_lines(c, op, in.view, no_totals ? NULL : totals.view, positions.view, is_plain(c)));
    maps_late(ctx, VSCAN_OK, what);
    maps_check(&positions, places, what);
    maps_check(&totals, no_totals ? guarded_original(&totals) : results, what);
    maps_check(&in, guarded_original(&in), what);
    guarded_free(&in);
    guarded_free(&totals);
    guarded_free(&positions);
    if (c->form != SEGMENTS) run_scan(c, op, v, what, random);
    free(v);
    free(results);
    free(places);
    free(line);
}

/* Matrices of that shape, by rows or by columns. */
static void run_matrix_of(enum extreme_pattern pattern, bool by_columns, int64_t rows,
                          int64_t columns, int64_t matrices, int64_t gap,
                          struct inputs_random *random) {
    const int64_t pitch = columns + gap, each = by_columns ? columns : rows;
    struct lines_call c = {.form = by_columns ? COLUMNS : ROWS,
                           .pattern = pattern,
                           .type = numbers[inputs_below(random, 4)],
                           .rows = rows,
                           .columns = columns,
                           .n = (matrices * rows == 1 ? columns : matrices * rows * pitch) +
                                inputs_below(random, 3),
                           .lines = matrices * each};
    c.o = (vscan_extreme_lines_options){
        .size = sizeof c.o,
        .direction = inputs_below(random, 2) ? VSCAN_BACKWARD : VSCAN_FORWARD,
        .in_vector = (int32_t)inputs_below(random, 2),
        .pitch = gap > 0 ? pitch : 0,
        .matrices = matrices != 1 || inputs_below(random, 2) ? matrices : 0};
    struct line *const line = malloc((size_t)(c.lines + 1) * sizeof *line);
    for (int64_t l = 0; l < c.lines; l++)
        line[l] = by_columns
                      ? (struct line){l / each * rows * pitch + l % each, rows, pitch}
                      : (struct line){l * pitch, columns, 1};
    c.line = line;
    run_lines(&c, random);
    free(line);
}

static void run_matrix(bool by_columns, int64_t rows, int64_t columns, int64_t matrices,
                       int64_t gap, struct inputs_random *random) {
    run_matrix_of((enum extreme_pattern)inputs_below(random, PATTERNS), by_columns, rows, columns,
                  matrices, gap, random);
}

/* Around what lanes, warps, blocks and chunks have; and what columns have in numbers of 4 bytes. */
static void extremes_of_matrices(void **state) {
    (void)state;
    struct inputs_random random = {harness_seed() + 73};
    const int64_t lengths[] = {0,  1,  2,   3,   4,   5,    8,    9,    15,   16,   17,    24,
                               31, 32, 33,  64,  100, 127,  129,  500,  513,  1023, 1025,  2049,
                               3000, 5000, 9001, 33000, 66000};
    const int count = sizeof lengths / sizeof lengths[0];
    const int64_t most = harness_small() ? 40000 : 300000;
    for (int r = 0; r < count; r++)
        for (int c = 0; c < count; c++) {
            const int64_t rows = lengths[r], columns = lengths[c];
            if (rows * columns > most || (harness_small() && inputs_below(&random, 3) > 0)) continue;
            for (int by_columns = 0; by_columns < 2; by_columns++) {
                const int64_t gap = inputs_below(&random, 2) ? 0 : inputs_below(&random, 9);
                const bool one = rows * (columns + gap) > most / 4 || inputs_below(&random, 2);
                run_matrix(by_columns, rows, columns, one ? 1 : 1 + inputs_below(&random, 4), gap,
                           &random);
            }
        }
    for (int k = 0; k < 32; k++) { /* lines of one element, with gaps and without */
        const int64_t gap = k & 1 ? 2 : 0, matrices = k & 2 ? 3 : 1;
        run_matrix(true, 1, 50, matrices, gap, &random);
        run_matrix(false, 50, 1, matrices, gap, &random);
    }
    for (int k = 0; k < 4; k++) /* more elements in a column than are counted at once */
        run_matrix(true, 66000 + inputs_below(&random, 9), 1 + k, 1, k % 2, &random);
    for (int k = 0; k < 8; k++)
        run_matrix_of(k < 4 ? RISING : FALLING, true, 66000 + inputs_below(&random, 9), 17 + k % 4, 1,
                      k % 2, &random);
    for (int k = 0; k < 16; k++) /* the pitch of a single row may be any */
        run_matrix(k % 2, 1, 1 + inputs_below(&random, 3000), 1, INT64_MAX / (k < 8 ? 4 : 2),
                   &random);
    for (int k = 0; k < (harness_small() ? 4 : 40); k++)
        run_matrix(k % 2, 1 + inputs_below(&random, 300), 1 + inputs_below(&random, 300),
                   1 + inputs_below(&random, 3), k % 3, &random);
}

enum { LENGTHS = 7 };

/* Of segments: 0 to 3, to 40, around what warps have, one huge one, mixed, none, of some blocks. */
static int64_t draw_length(int lengths, int64_t k, struct inputs_random *random) {
    static const int64_t around[] = {0, 1, 4, 31, 32, 33, 127, 128, 129, 1023, 1024, 1025, 3000};
    switch (lengths) {
    case 0:
        return inputs_below(random, 4);
    case 1:
        return inputs_below(random, 41);
    case 2:
        return around[inputs_below(random, 13)];
    case 3:
        return k == 3 ? 20000 + inputs_below(random, 9000) : inputs_below(random, 4);
    case 4:
        return inputs_below(random, INT64_C(1) << inputs_below(random, 13));
    case 5:
        return 0;
    default:
        return inputs_below(random, 3) * (5000 + inputs_below(random, 9000));
    }
}

/* So many segments; some elements before the first and after the last. */
static void run_segments(int lengths, int64_t segments, struct inputs_random *random) {
    struct lines_call c = {.form = SEGMENTS,
                           .pattern = (enum extreme_pattern)inputs_below(random, PATTERNS),
                           .type = numbers[inputs_below(random, 4)],
                           .lines = segments};
    c.o = (vscan_extreme_lines_options){
        .size = sizeof c.o,
        .direction = inputs_below(random, 2) ? VSCAN_BACKWARD : VSCAN_FORWARD,
        .in_vector = (int32_t)inputs_below(random, 2)};
    const vscan_type of = inputs_below(random, 2) ? VSCAN_INT : VSCAN_LONG;
    struct line *const line = malloc((size_t)(segments + 1) * sizeof *line);
    int64_t *const offsets = malloc((size_t)(segments + 1) * sizeof *offsets);
    int64_t at = inputs_below(random, 2) * inputs_below(random, 2000);
    for (int64_t k = 0; k <= segments; k++) {
        extreme_put_position(of, offsets, k, at);
        line[k] = (struct line){at, draw_length(lengths, k, random), 1};
        if (k < segments) at += line[k].length;
    }
    c.n = at + inputs_below(random, 2) * inputs_below(random, 2000);
    c.line = line;
    struct guarded by = guarded_make(harness_ctx(), of, segments + 1,
                                     (int)inputs_below(random, 3), offsets);
    c.offsets = &by;
    run_lines(&c, random);
    maps_check(&by, offsets, "offsets");
    guarded_free(&by);
    free(line);
    free(offsets);
}

static void extremes_of_segments(void **state) {
    (void)state;
    struct inputs_random random = {harness_seed() + 75};
    for (int lengths = 0; lengths < LENGTHS; lengths++)
        for (int k = 0; k < (harness_small() ? 8 : 40); k++)
            run_segments(lengths, k % 4 == 0 ? inputs_below(&random, 9)
                                             : inputs_below(&random, lengths < 2 ? 6000 : 60),
                         &random);
    if (harness_small()) return;
    for (int lengths = 0; lengths < LENGTHS; lengths++) /* threads have several, blocks, too */
        run_segments(lengths, lengths < 2 || lengths == 5 ? 500000 : 3000, &random);
}

/* Offsets that do not ascend, or lie outside: reported late, and nothing else is written. */
static void extremes_of_wrong_segments(void **state) {
    (void)state;
    struct inputs_random random = {harness_seed() + 76};
    vscan_ctx *ctx = harness_ctx();
    for (int k = 0; k < (harness_small() ? 40 : 200); k++) {
        const int64_t n = 1 + inputs_below(&random, k % 2 ? 40000 : 3000);
        const int64_t segments = inputs_below(&random, k % 3 ? 40 : 3000);
        const vscan_type type = numbers[k % 4];
        int64_t *const offsets = malloc((size_t)(segments + 1) * sizeof *offsets);
        for (int64_t i = 0; i <= segments; i++) offsets[i] = i * n / (segments + 1);
        const int64_t wrong = inputs_below(&random, segments + 1);
        const int64_t bad[] = {-1, n + 1, INT64_MIN, INT64_MAX, -n, 2 * n};
        offsets[wrong] = bad[inputs_below(&random, 6)];
        if (k % 5 == 0) /* any */
            for (int64_t i = 0; i < segments; i++)
                offsets[i] = inputs_below(&random, 3 * n) - n;
        void *const v = extreme_draw(NO_NAN, type, n, &random);
        struct guarded in = guarded_make(ctx, type, n, 0, v);
        struct guarded by = guarded_make(ctx, VSCAN_LONG, segments + 1, 0, offsets);
        struct guarded totals = guarded_make(ctx, type, segments, 0, NULL);
        struct guarded positions = guarded_make(ctx, VSCAN_LONG, segments, 0, NULL);
        ok(ctx, vscan_reduce_extreme_by_offsets(ctx, VSCAN_MAX, in.view, by.view, totals.view,
                                                positions.view, NULL));
        bool ascend = offsets[0] >= 0 && offsets[segments] <= n;
        for (int64_t i = 0; i < segments; i++) ascend = ascend && offsets[i] <= offsets[i + 1];
        maps_late(ctx, ascend ? VSCAN_OK : VSCAN_ERROR_OFFSETS, "wrong offsets");
        bool intact[4];
        guarded_download(&in, &intact[0]);
        guarded_download(&by, &intact[1]);
        guarded_download(&totals, &intact[2]);
        guarded_download(&positions, &intact[3]);
        assert_true(intact[0] && intact[1] && intact[2] && intact[3]);
        guarded_free(&in);
        guarded_free(&by);
        guarded_free(&totals);
        guarded_free(&positions);
        free(offsets);
        free(v);
    }
}

/* Fewer long rows than threads. */
static void extremes_of_long_rows(void **state) {
    (void)state;
    struct inputs_random random = {harness_seed() + 74};
    for (int k = 0; k < 16; k++)
        run_matrix(false, 1 + k % 2, (1 << 18) + inputs_below(&random, 99), 1, k, &random);
    run_matrix(false, 2, 100000, 1, 1, &random); /* not that long */
    if (harness_small()) return;
    for (int k = 0; k < 4; k++) {
        run_matrix(false, 2 + k, 2000000, 1, k, &random);
        run_matrix(true, 1000000, 2 + k, 1, k, &random);
    }
}

/* ---- Refusals -------------------------------------------------------------------------------- */

static vscan_status rows_on(vscan_ctx *c) {
    return vscan_reduce_extreme_rows(c, VSCAN_MAX, w.in, N, 1, w.out, w.flags, NULL);
}
static vscan_status columns_on(vscan_ctx *c) {
    return vscan_reduce_extreme_columns(c, VSCAN_MAX, w.in, 1, N, w.out, w.flags, NULL);
}
static vscan_status scan_rows_on(vscan_ctx *c) {
    return vscan_scan_extreme_rows(c, VSCAN_MAX, w.in, 2, N / 2, w.out, w.flags, NULL);
}
static vscan_status scan_columns_on(vscan_ctx *c) {
    return vscan_scan_extreme_columns(c, VSCAN_MAX, w.in, 2, N / 2, w.out, w.flags, NULL);
}
static vscan_status segments_on(vscan_ctx *c) {
    return vscan_reduce_extreme_by_offsets(c, VSCAN_MAX, w.in, w.out, NULL, w.shorter, NULL);
}

/* By rows of one element, by columns of one, and by offsets, which are w.out: `totals` and `positions` have N elements,
   and N - 1. */
#define LINES(status, word, op, in, totals, positions, o)                                          \
    do {                                                                                           \
        refused_untouched(status, word,                                                            \
                          vscan_reduce_extreme_rows(w.ctx, op, in, N, 1, totals, positions, o));   \
        refused_untouched(                                                                         \
            status, word,                                                                          \
            vscan_reduce_extreme_columns(w.ctx, op, in, 1, N, totals, positions, o));              \
    } while (0)
#define SCANS(status, word, op, in, out, positions, o)                                             \
    do {                                                                                           \
        refused_untouched(                                                                         \
            status, word,                                                                          \
            vscan_scan_extreme_rows(w.ctx, op, in, 2, N / 2, out, positions, o));                  \
        refused_untouched(                                                                         \
            status, word,                                                                          \
            vscan_scan_extreme_columns(w.ctx, op, in, 2, N / 2, out, positions, o));               \
    } while (0)
#define BY_OFFSETS(status, word, in, offsets, totals, positions, o)                                \
    refused_untouched(status, word,                                                                \
                      vscan_reduce_extreme_by_offsets(w.ctx, VSCAN_MAX, in, offsets, totals,       \
                                                      positions, o))

/* What is not said of reductions. */
static void refused_scans(void) {
    const vscan_status type = VSCAN_ERROR_TYPE, length = VSCAN_ERROR_LENGTH,
                       overlap = VSCAN_ERROR_OVERLAP;
    const vscan_op max = VSCAN_MAX;
    for (int i = 0; i < WRONG_HANDLES; i++) {
        const struct wrong_handle h = wrong_handle(i);
        vscan_buffer *const b = h.handle;
        SCANS(h.status, "in ", max, b, w.out, w.flags, NULL);
        SCANS(h.status, "positions ", max, w.in, w.out, b, NULL);
        if (b != NULL) SCANS(h.status, "out ", max, w.in, b, w.flags, NULL);
    }
    SCANS(VSCAN_ERROR_ENUM, "op ", VSCAN_OR, w.in, w.out, w.flags, NULL);
    SCANS(type, "in ", max, w.of_byte, w.out, w.flags, NULL);
    SCANS(type, "out ", max, w.in, w.of_float, w.flags, NULL);
    SCANS(type, "positions ", max, w.in, w.out, w.of_double, NULL);
    SCANS(length, "in ", max, w.shorter, w.shorter, w.flags, NULL);
    SCANS(length, "out ", max, w.in, w.shorter, w.flags, NULL);
    SCANS(length, "positions ", max, w.in, w.out, w.shorter, NULL);
    SCANS(overlap, "out ", max, w.in, w.shifted, w.flags, NULL);
    SCANS(overlap, "positions ", max, w.in, w.out, w.in, NULL);
    SCANS(overlap, "positions ", max, w.in, w.out, w.out, NULL);
    vscan_extreme_lines_options o = {.size = sizeof o, .in_vector = -1};
    SCANS(VSCAN_ERROR_VALUE, "options->in_vector ", max, w.in, w.out, w.flags, &o);
    o = (vscan_extreme_lines_options){.size = sizeof o, .pitch = 1};
    SCANS(VSCAN_ERROR_VALUE, "options->pitch ", max, w.in, w.out, w.flags, &o);
    o = (vscan_extreme_lines_options){.size = sizeof o, .direction = VSCAN_EXCLUSIVE};
    SCANS(VSCAN_ERROR_ENUM, "options->direction ", max, w.in, w.out, w.flags, &o);
    refused_untouched(length, "columns ",
                      vscan_scan_extreme_columns(w.ctx, max, w.in, 1, -1, w.out, w.flags, NULL));
}

static void refused_lines(void **state) {
    (void)state;
    world_check_contexts(rows_on);
    world_check_contexts(columns_on);
    world_check_contexts(scan_rows_on);
    world_check_contexts(scan_columns_on);
    world_check_contexts(segments_on);
    const vscan_status type = VSCAN_ERROR_TYPE, length = VSCAN_ERROR_LENGTH,
                       overlap = VSCAN_ERROR_OVERLAP;
    const vscan_op max = VSCAN_MAX;
    vscan_buffer *const fewer = world_make(VSCAN_INT, N - 1), *const none = world_make(VSCAN_INT, 0);
    for (int i = 0; i < WRONG_HANDLES; i++) {
        const struct wrong_handle h = wrong_handle(i);
        vscan_buffer *const b = h.handle;
        LINES(h.status, "in ", max, b, w.out, w.flags, NULL);
        LINES(h.status, "positions ", max, w.in, w.out, b, NULL);
        BY_OFFSETS(h.status, "in ", b, w.out, fewer, w.shorter, NULL);
        BY_OFFSETS(h.status, "offsets ", w.in, b, fewer, w.shorter, NULL);
        BY_OFFSETS(h.status, "positions ", w.in, w.out, fewer, b, NULL);
        if (b == NULL) continue; /* then there is none */
        LINES(h.status, "totals ", max, w.in, b, w.flags, NULL);
        BY_OFFSETS(h.status, "totals ", w.in, w.out, b, w.shorter, NULL);
    }
    LINES(VSCAN_ERROR_ENUM, "op ", VSCAN_PLUS, w.in, w.out, w.flags, NULL);
    LINES(type, "in ", max, w.of_byte, w.out, w.flags, NULL);
    LINES(type, "totals ", max, w.in, w.of_float, w.flags, NULL);
    LINES(type, "positions ", max, w.in, w.out, w.of_double, NULL);
    LINES(length, "totals ", max, w.in, w.shorter, w.flags, NULL);
    LINES(length, "positions ", max, w.in, w.out, w.shorter, NULL);
    LINES(length, "in ", max, w.shorter, w.out, w.flags, NULL);
    LINES(overlap, "totals ", max, w.in, w.shifted, w.flags, NULL);
    LINES(overlap, "positions ", max, w.in, w.out, w.in, NULL);
    LINES(overlap, "positions ", max, w.in, w.out, w.out, NULL);
    BY_OFFSETS(type, "in ", w.of_byte, w.out, NULL, w.shorter, NULL);
    BY_OFFSETS(type, "offsets ", w.in, w.of_float, NULL, w.shorter, NULL);
    BY_OFFSETS(length, "offsets ", w.in, none, NULL, w.shorter, NULL);
    BY_OFFSETS(length, "positions ", w.in, w.out, NULL, w.flags, NULL);
    BY_OFFSETS(length, "totals ", w.in, w.out, w.flags, w.shorter, NULL);
    BY_OFFSETS(overlap, "positions ", w.in, w.out, fewer, fewer, NULL);
    vscan_extreme_lines_options o = {.size = sizeof o, .in_vector = 2};
    LINES(VSCAN_ERROR_VALUE, "options->in_vector ", max, w.in, w.out, w.flags, &o);
    BY_OFFSETS(VSCAN_ERROR_VALUE, "options->in_vector ", w.in, w.out, NULL, w.shorter, &o);
    o = (vscan_extreme_lines_options){.size = sizeof o, .direction = VSCAN_EXCLUSIVE};
    LINES(VSCAN_ERROR_ENUM, "options->direction ", max, w.in, w.out, w.flags, &o);
    o = (vscan_extreme_lines_options){.size = sizeof o, .pitch = -1};
    LINES(VSCAN_ERROR_VALUE, "options->pitch ", max, w.in, w.out, w.flags, &o);
    BY_OFFSETS(VSCAN_ERROR_VALUE, "options->pitch ", w.in, w.out, NULL, w.shorter, &o);
    o = (vscan_extreme_lines_options){.size = sizeof o, .matrices = -1};
    LINES(VSCAN_ERROR_VALUE, "options->matrices ", max, w.in, w.out, w.flags, &o);
    BY_OFFSETS(VSCAN_ERROR_VALUE, "options->matrices ", w.in, w.out, NULL, w.shorter, &o);
    o = (vscan_extreme_lines_options){.size = 24};
    LINES(VSCAN_ERROR_STRUCT_SIZE, "options", max, w.in, w.out, w.flags, &o);
    BY_OFFSETS(VSCAN_ERROR_STRUCT_SIZE, "options", w.in, w.out, NULL, w.shorter, &o);
    refused_untouched(length, "rows ",
                      vscan_reduce_extreme_rows(w.ctx, max, w.in, -1, 1, w.out, w.flags, NULL));
    refused_scans();
    /* an offset is among the positions or the totals */
    vscan_buffer *const offsets = world_make(VSCAN_INT, 2);
    vscan_buffer *one;
    ok(w.ctx, vscan_buffer_view(offsets, 1, 1, &one));
    BY_OFFSETS(overlap, "positions ", w.in, offsets, NULL, one, NULL);
    BY_OFFSETS(overlap, "totals ", w.in, offsets, one, w.one_int, NULL);
    ok(w.ctx, vscan_buffer_destroy(one));
    ok(w.ctx, vscan_buffer_view(w.in, 1, N - 1, &one));
    BY_OFFSETS(overlap, "totals ", w.in, w.out, one, w.shorter, NULL);
    BY_OFFSETS(overlap, "positions ", w.in, w.out, NULL, one, NULL);
    ok(w.ctx, vscan_buffer_destroy(one));
}

/* More elements than an int can count. They are never read, so their memory need not be there. */
static void refused_many(void **state) {
    (void)state;
    if (harness_backend != VSCAN_BACKEND_CPU) skip();
    const int64_t n = INT64_C(1) << 31;
    void *const memory =
        mmap(NULL, (size_t)n * 4, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_true(memory != MAP_FAILED);
    vscan_buffer *many;
    ok(w.ctx, vscan_buffer_wrap(w.ctx, VSCAN_INT, memory, n, &many));
    const vscan_extreme_lines_options o = {.size = sizeof o, .in_vector = 1};
    refused_untouched(VSCAN_ERROR_LENGTH, "positions ",
                      vscan_reduce_extreme_rows(w.ctx, VSCAN_MAX, many, 1, n, NULL, w.one_int,
                                                NULL));
    refused_untouched(VSCAN_ERROR_LENGTH, "positions ",
                      vscan_scan_extreme_rows(w.ctx, VSCAN_MAX, many, 1, n, NULL, w.out, NULL));
    LINES(VSCAN_ERROR_LENGTH, "positions ", VSCAN_MAX, many, w.out, w.flags, &o);
    BY_OFFSETS(VSCAN_ERROR_LENGTH, "positions ", many, w.out, NULL, w.shorter, NULL);
    ok(NULL, vscan_buffer_destroy(many));
    munmap(memory, (size_t)n * 4);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(extremes_of_matrices),
        cmocka_unit_test(extremes_of_long_rows),
        cmocka_unit_test(extremes_of_segments),
        cmocka_unit_test(extremes_of_wrong_segments),
        world_unit_test(refused_lines),
        world_unit_test(refused_many)};
    return harness_run(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
