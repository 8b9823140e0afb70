/* SPDX-License-Identifier: Apache-2.0 */
/* Scans and reductions of rows and of columns: check the arguments, look up the row, call. */
#include "api/check.h"

#include <inttypes.h>
#include <stddef.h>

vscan_status vscan__check_shape(vscan_ctx *ctx, const vscan_buffer *in, int64_t rows,
                                int64_t columns, int64_t *pitch, int64_t *matrices) {
    int64_t elements = 0; /* from the first matrix's first to the last one's last, both counted */
    if (rows < 0)
        return VSCAN__FAIL(ctx, VSCAN_ERROR_LENGTH, "rows is %" PRId64 ", negative", rows);
    if (columns < 0)
        return VSCAN__FAIL(ctx, VSCAN_ERROR_LENGTH, "columns is %" PRId64 ", negative", columns);
    if (*pitch == 0) *pitch = columns;
    if (*pitch < columns)
        return VSCAN__FAIL(ctx, VSCAN_ERROR_VALUE,
                           "options->pitch is %" PRId64 ", must be at least columns, %" PRId64,
                           *pitch, columns);
    if (*matrices < 0)
        return VSCAN__FAIL(ctx, VSCAN_ERROR_VALUE, "options->matrices is %" PRId64 ", negative",
                           *matrices);
    if (*matrices == 0) *matrices = 1;
    int64_t all = 0;
    if (__builtin_mul_overflow(*matrices, rows > columns ? rows : columns, &all))
        return VSCAN__FAIL(ctx, VSCAN_ERROR_OVERFLOW,
                           "options->matrices is %" PRId64 ": there are too many lines", *matrices);
    if (rows == 0 || columns == 0) {
        *pitch = columns; /* multiples of what was given may overflow, and there is nothing there */
        return VSCAN_OK;
    }
    if (__builtin_mul_overflow(*matrices * rows - 1, *pitch, &elements) ||
        __builtin_add_overflow(elements, columns, &elements))
        return VSCAN__FAIL(ctx, VSCAN_ERROR_OVERFLOW,
                           "rows is %" PRId64 ", pitch %" PRId64 " and matrices %" PRId64
                           ": no buffer is as long",
                           rows, *pitch, *matrices);
    if (in->n < elements)
        return VSCAN__FAIL(ctx, VSCAN_ERROR_LENGTH, "in has %" PRId64 " elements, the %s %" PRId64,
                           in->n, *matrices > 1 ? "matrices have" : "matrix has", elements);
    return VSCAN_OK;
}

vscan_status vscan__check_lines(vscan_ctx *ctx, const char *name, const vscan_buffer *buffer,
                                int64_t lines) {
    if (buffer->n == lines) return VSCAN_OK;
    return VSCAN__FAIL(ctx, VSCAN_ERROR_LENGTH,
                       "%s has %" PRId64 " elements, must have one a line, %" PRId64, name,
                       buffer->n, lines);
}

/* The same, of that type. */
static vscan_status check_lines(vscan_ctx *ctx, const char *name, const vscan_buffer *buffer,
                                vscan_type type, int64_t lines) {
    TRY(vscan__check_type(ctx, name, buffer, type));
    return vscan__check_lines(ctx, name, buffer, lines);
}

/* The initial value; the handle in the options, if any, becomes the buffer. */
static vscan_status check_initial(vscan_ctx *ctx, vscan_matrix_options *options, vscan_type type,
                                  const vscan_buffer *out, struct vscan__matrix *matrix) {
    const char *const name = "options->initial_buffer";
    const vscan_buffer *buffer = options->initial_buffer;
    TRY(vscan__check_value(ctx, &options->initial, type, &matrix->has_initial, &matrix->initial));
    if (buffer == NULL) return VSCAN_OK;
    if (matrix->has_initial)
        return VSCAN__FAIL(ctx, VSCAN_ERROR_VALUE,
                           "options->initial and options->initial_buffer are both set");
    TRY(vscan__check_buffer(ctx, name, &buffer));
    options->initial_buffer = buffer;
    if (buffer->n != 1 || buffer->type != type)
        TRY(check_lines(ctx, name, buffer, type, matrix->lines));
    TRY(vscan__check_apart(ctx, name, buffer, "out", out));
    matrix->has_initial = 2;
    matrix->initial_at = buffer->pointer;
    matrix->initial_step = buffer->n != 1;
    return VSCAN_OK;
}

/* A vector for totals, of the call's own name. */
static vscan_status check_totals(vscan_ctx *ctx, const char *name, const vscan_buffer *totals,
                                 vscan_type type, const vscan_matrix_options *options,
                                 const vscan_buffer *in, const vscan_buffer *out,
                                 struct vscan__matrix *matrix) {
    TRY(check_lines(ctx, name, totals, type, matrix->lines));
    TRY(vscan__check_apart(ctx, name, totals, "in", in));
    TRY(vscan__check_apart(ctx, name, totals, "out", out));
    TRY(vscan__check_apart(ctx, name, totals, "options->initial_buffer", options->initial_buffer));
    matrix->totals = totals->pointer;
    return VSCAN_OK;
}

/* Head flags in the places of in's elements. */
static vscan_status check_heads(vscan_ctx *ctx, const vscan_buffer *heads, const vscan_buffer *in,
                                const vscan_buffer *out, struct vscan__matrix *matrix) {
    TRY(vscan__check_flags(ctx, "heads", heads));
    TRY(vscan__check_length(ctx, "heads", heads, "in", in));
    TRY(vscan__check_apart(ctx, "heads", heads, "out", out));
    matrix->heads = heads->pointer;
    matrix->head_type = (int32_t)heads->type;
    return VSCAN_OK;
}

/* Columns that can be seen as rows: a single column without gaps is one, and so is each element of a single row. */
static void see_as_rows(struct vscan__matrix *matrix, int64_t rows, int64_t columns,
                        const vscan_matrix_options *options) {
    if (!matrix->columns || matrix->lines > INT32_MAX) return;
    if (columns == 1 && options->pitch == 1)
        matrix->line_step = rows;
    else if (rows != 1 || (options->matrices > 1 && options->pitch != columns))
        return;
    matrix->step = 1;
    matrix->columns = 0;
    matrix->each = matrix->lines;
}

/* Whether lines are single elements without gaps, of which results are copies. */
static bool are_copies(const struct vscan__matrix *matrix, vscan_op op, vscan_type type) {
    const bool truth = VSCAN__IS_REAL(type) && (op == VSCAN_AND || op == VSCAN_OR);
    return matrix->length == 1 && matrix->line_step == 1 && !matrix->columns &&
           matrix->has_initial == 0 && !truth;
}

static vscan_status copy_lines(vscan_ctx *ctx, const struct vscan__matrix *matrix, vscan_op op,
                               vscan_type type) {
    const int64_t bytes = matrix->lines * vscan__element_size(type);
    if (matrix->totals != NULL) TRY(ctx->backend->copy(ctx, matrix->totals, matrix->in, bytes));
    if (matrix->out == NULL) return VSCAN_OK;
    if (matrix->exclusive)
        return ctx->backend->fill(ctx, type, matrix->out, 0, matrix->lines,
                                  vscan__identity(op, type));
    return matrix->out == matrix->in ? VSCAN_OK
                                     : ctx->backend->copy(ctx, matrix->out, matrix->in, bytes);
}

static vscan_status read_options(vscan_ctx *ctx, const vscan_matrix_options *options, bool reduce,
                                 vscan_matrix_options *set) {
    if (options == NULL) return VSCAN_OK;
    TRY(vscan__check_options(ctx, options, VSCAN__FIRST_MATRIX, sizeof *set, set));
    TRY(vscan__check_kind(ctx, set->kind));
    TRY(vscan__check_direction(ctx, "options->direction", set->direction));
    if (reduce && set->kind != 0)
        return VSCAN__FAIL(ctx, VSCAN_ERROR_VALUE, "options->kind is set in a reduction");
    if (reduce && set->totals != NULL)
        return VSCAN__FAIL(ctx, VSCAN_ERROR_VALUE, "options->totals is set in a reduction");
    return VSCAN_OK;
}

/* heads: of a segmented scan of rows. to: out of a scan, totals of a reduction. */
static vscan_status run(vscan_ctx *ctx, bool reduce, bool by_columns, vscan_op op,
                        const vscan_buffer *in, const vscan_buffer *heads, const vscan_buffer *to,
                        int64_t rows, int64_t columns, const vscan_matrix_options *options) {
    enum vscan__pair pair;
    const vscan_buffer *const out = reduce ? NULL : to;
    TRY(vscan__check_pair(ctx, op, in->type, &pair));
    const bool widens = reduce && vscan__widens(op, in, to->type);
    const vscan_type type = widens ? VSCAN_LONG : in->type; /* of results */
    vscan_matrix_options set = {0};
    TRY(read_options(ctx, options, reduce, &set));
    TRY(vscan__check_shape(ctx, in, rows, columns, &set.pitch, &set.matrices));
    if (!reduce) {
        TRY(vscan__check_like(ctx, "out", out, "in", in));
        TRY(vscan__check_same_or_apart(ctx, "out", out, "in", in));
    }
    const int64_t lines = set.matrices * (by_columns ? columns : rows);
    struct vscan__matrix matrix = {.lines = lines,
                                   .each = by_columns ? columns : lines,
                                   .apart = rows * set.pitch, /* rows have no second matrix */
                                   .length = by_columns ? rows : columns,
                                   .line_step = by_columns ? 1 : set.pitch,
                                   .step = by_columns ? set.pitch : 1,
                                   .in = in->pointer,
                                   .out = reduce ? NULL : out->pointer,
                                   .columns = by_columns,
                                   .exclusive = set.kind == VSCAN_EXCLUSIVE,
                                   .backward = set.direction == VSCAN_BACKWARD};
    if (heads != NULL) TRY(check_heads(ctx, heads, in, out, &matrix));
    TRY(check_initial(ctx, &set, type, out, &matrix));
    const vscan_buffer *totals = reduce ? to : set.totals;
    if (!reduce && totals != NULL) TRY(vscan__check_buffer(ctx, "options->totals", &totals));
    if (totals != NULL) {
        const char *const name = reduce ? "totals" : "options->totals";
        if (reduce) TRY(vscan__check_results(ctx, op, in, name, totals));
        TRY(check_totals(ctx, name, totals, type, &set, in, out, &matrix));
        TRY(vscan__check_apart(ctx, name, totals, "heads", heads));
    }
    if (matrix.lines == 0 || (matrix.length == 0 && matrix.totals == NULL)) return VSCAN_OK;
    see_as_rows(&matrix, rows, columns, &set);
    if (widens) return ctx->backend->widening_matrix(ctx, &matrix);
    if (are_copies(&matrix, op, in->type)) return copy_lines(ctx, &matrix, op, in->type);
    return ctx->backend->pairs[pair].matrix(ctx, &matrix);
}

vscan_status vscan_scan_rows(vscan_ctx *ctx, vscan_op op, const vscan_buffer *in, int64_t rows,
                             int64_t columns, vscan_buffer *out,
                             const vscan_matrix_options *options) {
    VSCAN__ENTER(ctx);
    VSCAN__FIND(ctx, in, out);
    return run(ctx, false, false, op, in, NULL, out, rows, columns, options);
}

vscan_status vscan_scan_rows_segmented(vscan_ctx *ctx, vscan_op op, const vscan_buffer *in,
                                       const vscan_buffer *heads, int64_t rows, int64_t columns,
                                       vscan_buffer *out, const vscan_matrix_options *options) {
    VSCAN__ENTER(ctx);
    VSCAN__FIND(ctx, in, heads, out);
    return run(ctx, false, false, op, in, heads, out, rows, columns, options);
}

vscan_status vscan_scan_columns(vscan_ctx *ctx, vscan_op op, const vscan_buffer *in, int64_t rows,
                                int64_t columns, vscan_buffer *out,
                                const vscan_matrix_options *options) {
    VSCAN__ENTER(ctx);
    VSCAN__FIND(ctx, in, out);
    return run(ctx, false, true, op, in, NULL, out, rows, columns, options);
}

vscan_status vscan_reduce_rows(vscan_ctx *ctx, vscan_op op, const vscan_buffer *in, int64_t rows,
                               int64_t columns, vscan_buffer *totals,
                               const vscan_matrix_options *options) {
    VSCAN__ENTER(ctx);
    VSCAN__FIND(ctx, in, totals);
    return run(ctx, true, false, op, in, NULL, totals, rows, columns, options);
}

vscan_status vscan_reduce_columns(vscan_ctx *ctx, vscan_op op, const vscan_buffer *in, int64_t rows,
                                  int64_t columns, vscan_buffer *totals,
                                  const vscan_matrix_options *options) {
    VSCAN__ENTER(ctx);
    VSCAN__FIND(ctx, in, totals);
    return run(ctx, true, true, op, in, NULL, totals, rows, columns, options);
}

/* ---- Groups of rows -------------------------------------------------------------------------- */

static vscan_status check_groups(vscan_ctx *ctx, const vscan_buffer *offsets, int64_t columns,
                                 const vscan_buffer *totals) {
    TRY(vscan__check_offsets(ctx, offsets));
    int64_t length;
    if (!__builtin_mul_overflow(offsets->n - 1, columns, &length) && totals->n == length)
        return VSCAN_OK;
    return VSCAN__FAIL(ctx, VSCAN_ERROR_LENGTH,
                       "totals has %" PRId64 " elements, must have %" PRId64 " for each of %" PRId64
                       " groups, one less than offsets has elements",
                       totals->n, columns, offsets->n - 1);
}

vscan_status vscan_reduce_columns_by_offsets(vscan_ctx *ctx, vscan_op op, const vscan_buffer *in,
                                             const vscan_buffer *offsets, int64_t rows,
                                             int64_t columns, vscan_buffer *totals,
                                             const vscan_matrix_options *options) {
    VSCAN__ENTER(ctx);
    VSCAN__FIND(ctx, in, offsets, totals);
    enum vscan__pair pair;
    TRY(vscan__check_pair(ctx, op, in->type, &pair));
    vscan_matrix_options set = {0};
    TRY(read_options(ctx, options, true, &set));
    if (set.matrices > 1)
        return VSCAN__FAIL(ctx, VSCAN_ERROR_VALUE,
                           "options->matrices is %" PRId64 ", and only one matrix can have offsets",
                           set.matrices);
    TRY(vscan__check_shape(ctx, in, rows, columns, &set.pitch, &set.matrices));
    TRY(check_groups(ctx, offsets, columns, totals));
    TRY(vscan__check_type(ctx, "totals", totals, in->type));
    struct vscan__row_groups work = {.matrix = {.lines = columns,
                                                .each = columns,
                                                .length = rows,
                                                .line_step = 1,
                                                /* of one row any number; multiples may overflow */
                                                .step = rows > 1 ? set.pitch : columns,
                                                .in = in->pointer,
                                                .totals = totals->pointer,
                                                .columns = 1,
                                                .backward = set.direction == VSCAN_BACKWARD},
                                     .offsets = offsets->pointer,
                                     .groups = offsets->n - 1,
                                     .offset_type = (int32_t)offsets->type,
                                     .pair = pair};
    TRY(check_initial(ctx, &set, in->type, NULL, &work.matrix));
    TRY(vscan__check_apart(ctx, "totals", totals, "in", in));
    TRY(vscan__check_apart(ctx, "totals", totals, "offsets", offsets));
    TRY(vscan__check_apart(ctx, "totals", totals, "options->initial_buffer", set.initial_buffer));
    if (columns == 0) return VSCAN_OK;
    /* a column without gaps is a vector; of no groups at all, the one offset is looked at */
    const bool is_vector = columns == 1 && work.matrix.step == 1 && !work.matrix.backward;
    if (is_vector || work.groups == 0) {
        const struct vscan__scan scan = vscan__as_segments(&work);
        return ctx->backend->pairs[pair].by_offsets(ctx, &scan);
    }
    return ctx->backend->columns_by_offsets(ctx, &work);
}
