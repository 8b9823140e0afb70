/* SPDX-License-Identifier: Apache-2.0 */
/* Running and total maximum and minimum with positions: check the arguments, call. */
#include "api/check.h"

#include <inttypes.h>

/* op, in's type and the options, which are the same in both. */
static vscan_status begin(vscan_ctx *ctx, vscan_op op, const vscan_buffer *in,
                          const vscan_extreme_options *options, struct vscan__extreme *work) {
    if (op != VSCAN_MAX && op != VSCAN_MIN)
        return vscan__refuse_op(ctx, op, "VSCAN_MAX or VSCAN_MIN");
    if (!vscan__has_pairs(in->type))
        return vscan__refuse_type(ctx, "in", in, "int, long, float or double");
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

/* Of int or long, and able to count in's elements. */
static vscan_status check_positions(vscan_ctx *ctx, const char *name, const vscan_buffer *positions,
                                    const vscan_buffer *in) {
    TRY(vscan__check_integers(ctx, name, positions));
    if (positions->type == VSCAN_INT && in->n > INT32_MAX)
        return VSCAN__FAIL(ctx, VSCAN_ERROR_LENGTH,
                           "in has %" PRId64 " elements, and %s of type int cannot count that many",
                           in->n, name);
    return VSCAN_OK;
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
    TRY(vscan__check_length(ctx, "positions", positions, "in", in));
    TRY(vscan__check_apart(ctx, "positions", positions, "in", in));
    if (out != NULL) {
        TRY(vscan__check_like(ctx, "out", out, "in", in));
        TRY(vscan__check_same_or_apart(ctx, "out", out, "in", in));
        TRY(vscan__check_apart(ctx, "positions", positions, "out", out));
        work.out = out->pointer;
    }
    if (in->n == 0) return VSCAN_OK;
    work.positions = positions->pointer;
    work.position_type = (int32_t)positions->type;
    return ctx->backend->extreme(ctx, &work);
}

/* ---- Reduction ------------------------------------------------------------------------------- */

/* The identity and position -1. */
static vscan_status reduce_nothing(vscan_ctx *ctx, vscan_op op, const vscan_buffer *total,
                                   const vscan_buffer *position) {
    if (total != NULL)
        TRY(ctx->backend->fill(ctx, total->type, total->pointer, 0, 1,
                               vscan__identity(op, total->type)));
    union vscan__value none = {.as_long = -1};
    if (position->type == VSCAN_INT) none.as_int = -1;
    return ctx->backend->fill(ctx, position->type, position->pointer, 0, 1, none);
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
