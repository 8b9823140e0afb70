/* SPDX-License-Identifier: Apache-2.0 */
/* What the scans and reductions of rows and columns refuse: handles, shapes, batches, flags, options. */
#include "refusal.h"
#include "world.h"

static vscan_status rows_on(vscan_ctx *ctx) {
    return vscan_scan_rows(ctx, VSCAN_PLUS, w.in, 10, 10, w.out, NULL);
}
static vscan_status segmented_on(vscan_ctx *ctx) {
    return vscan_scan_rows_segmented(ctx, VSCAN_PLUS, w.in, w.flags, 10, 10, w.out, NULL);
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

static void refused_handles(void **state) {
    (void)state;
    world_check_contexts(rows_on);
    world_check_contexts(segmented_on);
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
        refused_untouched(h.status, "in ",
                          vscan_reduce_columns(c, plus, h.handle, 2, 3, w.out, NULL));
        refused_untouched(h.status, "totals ",
                          vscan_reduce_rows(c, plus, w.in, 2, 3, h.handle, NULL));
        refused_untouched(h.status, "in ",
                          vscan_scan_rows_segmented(c, plus, h.handle, w.flags, 2, 3, w.out, NULL));
        refused_untouched(h.status, "heads ",
                          vscan_scan_rows_segmented(c, plus, w.in, h.handle, 2, 3, w.out, NULL));
        refused_untouched(h.status, "out ",
                          vscan_scan_rows_segmented(c, plus, w.in, w.flags, 2, 3, h.handle, NULL));
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

static void refused_batches_and_heads(void **state) {
    (void)state;
    vscan_ctx *c = w.ctx;
    const vscan_op plus = VSCAN_PLUS;
    vscan_matrix_options o = {.size = sizeof o, .matrices = -1};
    refused_untouched(VSCAN_ERROR_VALUE, "options->matrices ",
                      vscan_scan_columns(c, plus, w.in, 2, 3, w.out, &o));
    refused_untouched(VSCAN_ERROR_VALUE, "options->matrices ",
                      vscan_reduce_rows(c, plus, w.in, 2, 0, w.out, &o));
    o.matrices = N / 6 + 1;
    refused_untouched(VSCAN_ERROR_LENGTH, "in ",
                      vscan_scan_columns(c, plus, w.in, 2, 3, w.out, &o));
    refused_untouched(VSCAN_ERROR_LENGTH, "in ", vscan_scan_rows(c, plus, w.in, 2, 3, w.out, &o));
    o.matrices = INT64_MAX / 2;
    refused_untouched(VSCAN_ERROR_OVERFLOW, "options->matrices ",
                      vscan_scan_columns(c, plus, w.in, 1, 3, w.out, &o));
    refused_untouched(VSCAN_ERROR_OVERFLOW, "options->matrices ",
                      vscan_reduce_columns(c, plus, w.in, 0, 3, w.out, &o));
    o.matrices = INT64_MAX / 8;
    o.pitch = 100;
    refused_untouched(VSCAN_ERROR_OVERFLOW, "matrices",
                      vscan_scan_columns(c, plus, w.in, 2, 3, w.out, &o));
    o = (vscan_matrix_options){.size = sizeof o, .matrices = 2, .totals = w.one_int};
    refused_untouched(VSCAN_ERROR_LENGTH, "options->totals ",
                      vscan_scan_columns(c, plus, w.in, 3, 4, w.out, &o));

    refused_untouched(VSCAN_ERROR_TYPE, "heads ",
                      vscan_scan_rows_segmented(c, plus, w.in, w.of_float, 2, 3, w.out, NULL));
    refused_untouched(VSCAN_ERROR_LENGTH, "heads ",
                      vscan_scan_rows_segmented(c, plus, w.in, w.shorter, 2, 3, w.out, NULL));
    refused_untouched(VSCAN_ERROR_OVERLAP, "heads ",
                      vscan_scan_rows_segmented(c, plus, w.in, w.out, 2, 3, w.out, NULL));
    o = (vscan_matrix_options){.size = sizeof o, .totals = w.flags};
    refused_untouched(VSCAN_ERROR_OVERLAP, "options->totals ",
                      vscan_scan_rows_segmented(c, plus, w.in, w.flags, N, 1, w.out, &o));
    refused_untouched(VSCAN_ERROR_LENGTH, "in ",
                      vscan_scan_rows_segmented(c, plus, w.in, w.flags, N, 2, w.out, NULL));
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
        world_unit_test(refused_handles),
        world_unit_test(refused_shapes),
        world_unit_test(refused_batches_and_heads),
        world_unit_test(refused_options),
    };
    return harness_run(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
