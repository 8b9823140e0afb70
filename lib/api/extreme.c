/* SPDX-License-Identifier: Apache-2.0 */
/* Running and total maximum and minimum with positions, of vectors and lines: check the arguments, call. */
#include "api/check.h"

#include <inttypes.h>

static vscan_status check_op(vscan_ctx *ctx, vscan_op op, const vscan_buffer *in) {
    if (op != VSCAN_MAX && op != VSCAN_MIN)
        return vscan__refuse_op(ctx, op, "VSCAN_MAX or VSCAN_MIN");
    if (!vscan__has_pairs(in->type))
        return vscan__refuse_type(ctx, "in", in, "int, long, float or double");
    return VSCAN_OK;
}

/* op, in's type and the options, which are the same in both. */
static vscan_status begin(vscan_ctx *ctx, vscan_op op, const vscan_buffer *in,
                          const vscan_extreme_options *options, struct vscan__extreme *work) {
    TRY(check_op(ctx, op, in));
    *work = (struct vscan__extreme){
        .n = in->n, .in = in->pointer, .type = (int32_t)in->type, .min = op == VSCAN_MIN};
    if (options == NULL) return VSCAN_OK;
    vscan_extreme_options set = {0};
    TRY(vscan__check_options(ctx, options, VSCAN__FIRST_EXTREME, sizeof set, &set));
    TRY(vscan__check_direction(ctx, "options->direction", set.direction));
    if (set.unused != 0) return VSCAN__FAIL(ctx, VSCAN_ERROR_VALUE, "options->unused is not 0");
    work->backward = set.direction == VSCAN_BACKWARD;
    return VSCAN_OK;
}

/* Of int or long, and able to count so many elements of what is counted. */
static vscan_status check_counting(vscan_ctx *ctx, const char *name, const vscan_buffer *positions,
                                   const char *of, int64_t n) {
    TRY(vscan__check_integers(ctx, name, positions));
    if (positions->type == VSCAN_INT && n > INT32_MAX)
        return VSCAN__FAIL(ctx, VSCAN_ERROR_LENGTH,
                           "%s has %" PRId64 " elements, and %s of type int cannot count that many",
                           of, n, name);
    return VSCAN_OK;
}

static vscan_status check_positions(vscan_ctx *ctx, const char *name, const vscan_buffer *positions,
                                    const vscan_buffer *in) {
    return check_counting(ctx, name, positions, "in", in->n);
}

/* Results of each element, of which out may be NULL. */
static vscan_status check_vectors(vscan_ctx *ctx, const vscan_buffer *in, const vscan_buffer *out,
                                  const vscan_buffer *positions) {
    TRY(vscan__check_length(ctx, "positions", positions, "in", in));
    TRY(vscan__check_apart(ctx, "positions", positions, "in", in));
    if (out == NULL) return VSCAN_OK;
    TRY(vscan__check_like(ctx, "out", out, "in", in));
    TRY(vscan__check_same_or_apart(ctx, "out", out, "in", in));
    return vscan__check_apart(ctx, "positions", positions, "out", out);
}

/* ---- Scan ------------------------------------------------------------------------------------ */

vscan_status vscan_scan_extreme(vscan_ctx *ctx, vscan_op op, const vscan_buffer *in,
                                vscan_buffer *out, vscan_buffer *positions,
                                const vscan_extreme_options *options) {
    VSCAN__ENTER(ctx);
    VSCAN__FIND(ctx, in);
    if (out != NULL) VSCAN__FIND(ctx, out);
    VSCAN__FIND(ctx, positions);
    struct vscan__extreme work;
    TRY(begin(ctx, op, in, options, &work));
    TRY(check_positions(ctx, "positions", positions, in));
    TRY(check_vectors(ctx, in, out, positions));
    if (in->n == 0) return VSCAN_OK;
    if (out != NULL) work.out = out->pointer;
    work.positions = positions->pointer;
    work.position_type = (int32_t)positions->type;
    return ctx->backend->extreme(ctx, &work);
}

/* ---- Reduction ------------------------------------------------------------------------------- */

/* The identity and position -1, everywhere. */
static vscan_status reduce_nothing(vscan_ctx *ctx, vscan_op op, const vscan_buffer *totals,
                                   const vscan_buffer *positions) {
    if (totals != NULL)
        TRY(ctx->backend->fill(ctx, totals->type, totals->pointer, 0, totals->n,
                               vscan__identity(op, totals->type)));
    union vscan__value none = {.as_long = -1};
    if (positions->type == VSCAN_INT) none.as_int = -1;
    return ctx->backend->fill(ctx, positions->type, positions->pointer, 0, positions->n, none);
}

vscan_status vscan_reduce_extreme(vscan_ctx *ctx, vscan_op op, const vscan_buffer *in,
                                  vscan_buffer *total, vscan_buffer *position,
                                  const vscan_extreme_options *options) {
    VSCAN__ENTER(ctx);
    VSCAN__FIND(ctx, in);
    if (total != NULL) VSCAN__FIND(ctx, total);
    VSCAN__FIND(ctx, position);
    struct vscan__extreme work;
    TRY(begin(ctx, op, in, options, &work));
    TRY(check_positions(ctx, "position", position, in));
    TRY(vscan__check_one(ctx, "position", position, position->type));
    TRY(vscan__check_apart(ctx, "position", position, "in", in));
    if (total != NULL) {
        TRY(vscan__check_one(ctx, "total", total, in->type));
        TRY(vscan__check_apart(ctx, "total", total, "in", in));
        TRY(vscan__check_apart(ctx, "position", position, "total", total));
        work.total = total->pointer;
    }
    if (in->n == 0) return reduce_nothing(ctx, op, total, position);
    work.position = position->pointer;
    work.position_type = (int32_t)position->type;
    return ctx->backend->extreme(ctx, &work);
}

/* ---- Rows, columns, segments ----------------------------------------------------------------- */

/* op, in's type and the options of all of these. */
static vscan_status begin_lines(vscan_ctx *ctx, vscan_op op, const vscan_buffer *in,
                                const vscan_extreme_lines_options *options,
                                vscan_extreme_lines_options *set,
                                struct vscan__extreme_lines *work) {
    TRY(check_op(ctx, op, in));
    if (options != NULL) {
        TRY(vscan__check_options(ctx, options, VSCAN__FIRST_EXTREME_LINES, sizeof *set, set));
        TRY(vscan__check_direction(ctx, "options->direction", set->direction));
        if (set->in_vector != 0 && set->in_vector != 1)
            return VSCAN__FAIL(ctx, VSCAN_ERROR_VALUE, "options->in_vector is %" PRId32
                               ", must be 0 or 1", set->in_vector);
    }
    *work = (struct vscan__extreme_lines){.n = in->n,
                                          .in = in->pointer,
                                          .type = (int32_t)in->type,
                                          .min = op == VSCAN_MIN,
                                          .backward = set->direction == VSCAN_BACKWARD,
                                          .in_vector = set->in_vector};
    return VSCAN_OK;
}

/* Of positions in lines, which have so many elements at most. */
static vscan_status check_counts(vscan_ctx *ctx, const vscan_buffer *in,
                                 const vscan_buffer *positions, int64_t length,
                                 struct vscan__extreme_lines *work) {
    work->positions = positions->pointer;
    work->position_type = (int32_t)positions->type;
    return work->in_vector ? check_positions(ctx, "positions", positions, in)
                           : check_counting(ctx, "positions", positions, "a line", length);
}

/* Vectors with an element for each line. */
static vscan_status check_results(vscan_ctx *ctx, const vscan_buffer *in, const vscan_buffer *totals,
                                  const vscan_buffer *positions, int64_t length,
                                  struct vscan__extreme_lines *work) {
    TRY(check_counts(ctx, in, positions, length, work));
    TRY(vscan__check_apart(ctx, "positions", positions, "in", in));
    if (totals == NULL) return VSCAN_OK;
    TRY(vscan__check_type(ctx, "totals", totals, in->type));
    TRY(vscan__check_apart(ctx, "totals", totals, "in", in));
    TRY(vscan__check_apart(ctx, "positions", positions, "totals", totals));
    work->totals = totals->pointer;
    return VSCAN_OK;
}

/* Whether line l is element l. */
static bool are_elements(const struct vscan__extreme_lines *work) {
    return work->length == 1 && work->line_step == 1 &&
           (work->each == work->lines || work->apart == work->each);
}

/* Copies, and position 0, or in the vector the element's number. */
static vscan_status reduce_elements(vscan_ctx *ctx, const struct vscan__extreme_lines *work) {
    if (work->totals != NULL)
        TRY(ctx->backend->copy(ctx, work->totals, work->in,
                               work->lines * vscan__element_size((vscan_type)work->type)));
    if (!work->in_vector)
        return ctx->backend->fill(ctx, (vscan_type)work->position_type, work->positions, 0,
                                  work->lines, (union vscan__value){.as_long = 0});
    const struct vscan__map index = {.n = work->lines,
                                     .out = work->positions,
                                     .out_type = work->position_type,
                                     .step = 1};
    return ctx->backend->index(ctx, &index);
}

/* The shape of a matrix, and how many elements and positions there are. */
static vscan_status begin_matrix(vscan_ctx *ctx, bool by_columns, vscan_op op,
                                 const vscan_buffer *in, int64_t rows, int64_t columns,
                                 const vscan_extreme_lines_options *options,
                                 struct vscan__extreme_lines *work) {
    vscan_extreme_lines_options set = {0};
    TRY(begin_lines(ctx, op, in, options, &set, work));
    TRY(vscan__check_shape(ctx, in, rows, columns, &set.pitch, &set.matrices));
    work->lines = set.matrices * (by_columns ? columns : rows);
    work->each = by_columns ? columns : work->lines;
    work->apart = rows * set.pitch; /* rows have no second matrix */
    work->length = by_columns ? rows : columns;
    work->line_step = by_columns ? 1 : set.pitch;
    work->step = by_columns ? set.pitch : 1;
    work->columns = by_columns;
    return VSCAN_OK;
}

static vscan_status reduce_lines(vscan_ctx *ctx, bool by_columns, vscan_op op,
                                 const vscan_buffer *in, int64_t rows, int64_t columns,
                                 const vscan_buffer *totals, const vscan_buffer *positions,
                                 const vscan_extreme_lines_options *options) {
    struct vscan__extreme_lines work;
    TRY(begin_matrix(ctx, by_columns, op, in, rows, columns, options, &work));
    TRY(check_results(ctx, in, totals, positions, work.length, &work));
    TRY(vscan__check_lines(ctx, "positions", positions, work.lines));
    if (totals != NULL) TRY(vscan__check_lines(ctx, "totals", totals, work.lines));
    if (work.lines == 0) return VSCAN_OK;
    if (work.length == 0) return reduce_nothing(ctx, op, totals, positions);
    if (are_elements(&work)) return reduce_elements(ctx, &work);
    return ctx->backend->extreme_lines(ctx, &work);
}

static vscan_status scan_lines(vscan_ctx *ctx, bool by_columns, vscan_op op, const vscan_buffer *in,
                               int64_t rows, int64_t columns, const vscan_buffer *out,
                               const vscan_buffer *positions,
                               const vscan_extreme_lines_options *options) {
    struct vscan__extreme_lines work;
    TRY(begin_matrix(ctx, by_columns, op, in, rows, columns, options, &work));
    TRY(check_counts(ctx, in, positions, work.length, &work));
    TRY(check_vectors(ctx, in, out, positions));
    if (work.lines == 0 || work.length == 0) return VSCAN_OK;
    work.scan = 1;
    if (out != NULL) work.out = out->pointer;
    return ctx->backend->extreme_lines(ctx, &work);
}

/* The functions for rows and columns: a result of each line, or of each element. */
#define LINES(name, call, by_columns, results)                                                     \
    vscan_status name(vscan_ctx *ctx, vscan_op op, const vscan_buffer *in, int64_t rows,           \
                      int64_t columns, vscan_buffer *results, vscan_buffer *positions,             \
                      const vscan_extreme_lines_options *options) {                                \
        VSCAN__ENTER(ctx);                                                                         \
        VSCAN__FIND(ctx, in);                                                                      \
        if (results != NULL) VSCAN__FIND(ctx, results);                                            \
        VSCAN__FIND(ctx, positions);                                                               \
        return call(ctx, by_columns, op, in, rows, columns, results, positions, options);          \
    }
LINES(vscan_reduce_extreme_rows, reduce_lines, false, totals)
LINES(vscan_reduce_extreme_columns, reduce_lines, true, totals)
LINES(vscan_scan_extreme_rows, scan_lines, false, out)
LINES(vscan_scan_extreme_columns, scan_lines, true, out)

vscan_status vscan_reduce_extreme_by_offsets(vscan_ctx *ctx, vscan_op op, const vscan_buffer *in,
                                             const vscan_buffer *offsets, vscan_buffer *totals,
                                             vscan_buffer *positions,
                                             const vscan_extreme_lines_options *options) {
    VSCAN__ENTER(ctx);
    VSCAN__FIND(ctx, in, offsets);
    if (totals != NULL) VSCAN__FIND(ctx, totals);
    VSCAN__FIND(ctx, positions);
    struct vscan__extreme_lines work;
    vscan_extreme_lines_options set = {0};
    TRY(begin_lines(ctx, op, in, options, &set, &work));
    if (set.pitch != 0 || set.matrices != 0)
        return VSCAN__FAIL(ctx, VSCAN_ERROR_VALUE, "options->%s is set, and there is no matrix",
                           set.pitch != 0 ? "pitch" : "matrices");
    TRY(vscan__check_offsets(ctx, offsets));
    TRY(check_results(ctx, in, totals, positions, in->n, &work));
    TRY(vscan__check_one_less(ctx, "positions", positions, offsets));
    TRY(vscan__check_apart(ctx, "positions", positions, "offsets", offsets));
    if (totals != NULL) {
        TRY(vscan__check_one_less(ctx, "totals", totals, offsets));
        TRY(vscan__check_apart(ctx, "totals", totals, "offsets", offsets));
    }
    work.lines = offsets->n - 1;
    work.step = 1;
    work.offsets = offsets->pointer;
    work.offset_type = (int32_t)offsets->type;
    return ctx->backend->extreme_lines(ctx, &work);
}
