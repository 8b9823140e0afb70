/* SPDX-License-Identifier: Apache-2.0 */
/* The functions that work by position: check the arguments, call. */
#include "api/check.h"

#include <stddef.h>

/* ---- Index, distribute ----------------------------------------------------------------------- */

vscan_status vscan_index(vscan_ctx *ctx, int64_t first, int64_t step, vscan_buffer *out) {
    VSCAN__ENTER(ctx);
    VSCAN__FIND(ctx, out);
    if (vscan__element_size(out->type) < 4) /* flags and bytes */
        return vscan__refuse_type(ctx, "out", out, "int, float, double or long");
    if (out->n == 0) return VSCAN_OK;
    const struct vscan__map map = {.n = out->n,
                                   .out = out->pointer,
                                   .out_type = (int32_t)out->type,
                                   .first = first,
                                   .step = step};
    return ctx->backend->index(ctx, &map);
}

vscan_status vscan_distribute(vscan_ctx *ctx, const vscan_buffer *value, vscan_buffer *out) {
    VSCAN__ENTER(ctx);
    VSCAN__FIND(ctx, value, out);
    TRY(vscan__check_one(ctx, "value", value, out->type));
    TRY(vscan__check_apart(ctx, "value", value, "out", out));
    if (out->n == 0) return VSCAN_OK;
    const struct vscan__map map = {.n = out->n,
                                   .a = value->pointer,
                                   .out = out->pointer,
                                   .type = (int32_t)out->type,
                                   .out_type = (int32_t)out->type};
    return ctx->backend->distribute(ctx, &map);
}

/* ---- Gather, permute ------------------------------------------------------------------------- */

/* What gather and permute have in common; by is the vector that has as many elements as positions. */
static vscan_status check_move(vscan_ctx *ctx, const vscan_buffer *in,
                               const vscan_buffer *positions, const vscan_buffer *out,
                               const char *by_name, const vscan_buffer *by) {
    if (in->type == VSCAN_BIT)
        return VSCAN__FAIL(ctx, VSCAN_ERROR_TYPE,
                           "in is a buffer of type bit, which cannot be moved by position");
    TRY(vscan__check_integers(ctx, "positions", positions));
    TRY(vscan__check_type(ctx, "out", out, in->type));
    TRY(vscan__check_length(ctx, "positions", positions, by_name, by));
    TRY(vscan__check_apart(ctx, "out", out, "in", in));
    return vscan__check_apart(ctx, "out", out, "positions", positions);
}

vscan_status vscan_gather(vscan_ctx *ctx, const vscan_buffer *in, const vscan_buffer *positions,
                          vscan_buffer *out) {
    VSCAN__ENTER(ctx);
    VSCAN__FIND(ctx, in, positions, out);
    TRY(check_move(ctx, in, positions, out, "out", out));
    if (positions->n == 0) return VSCAN_OK;
    const struct vscan__move move = {.n = positions->n,
                                     .length = in->n,
                                     .in = in->pointer,
                                     .positions = positions->pointer,
                                     .out = out->pointer,
                                     .type = (int32_t)in->type,
                                     .position_type = (int32_t)positions->type};
    return ctx->backend->gather(ctx, &move);
}

vscan_status vscan_permute(vscan_ctx *ctx, const vscan_buffer *in, const vscan_buffer *positions,
                           vscan_buffer *out, const vscan_permute_options *options) {
    VSCAN__ENTER(ctx);
    VSCAN__FIND(ctx, in, positions, out);
    TRY(check_move(ctx, in, positions, out, "in", in));
    struct vscan__move move = {.n = positions->n,
                               .length = out->n,
                               .in = in->pointer,
                               .positions = positions->pointer,
                               .out = out->pointer,
                               .type = (int32_t)in->type,
                               .position_type = (int32_t)positions->type};
    if (options != NULL) {
        vscan_permute_options set = {0};
        TRY(vscan__check_options(ctx, options, VSCAN__FIRST_PERMUTE, sizeof set, &set));
        const vscan_buffer *written = set.written;
        if (written != NULL) {
            TRY(vscan__check_buffer(ctx, "options->written", &written));
            TRY(vscan__check_type(ctx, "options->written", written, VSCAN_BIT));
            TRY(vscan__check_length(ctx, "options->written", written, "out", out));
            TRY(vscan__check_apart(ctx, "options->written", written, "in", in));
            TRY(vscan__check_apart(ctx, "options->written", written, "positions", positions));
            TRY(vscan__check_apart(ctx, "options->written", written, "out", out));
            if (written->n > 0)
                TRY(ctx->backend->fill(ctx, VSCAN_BIT, written->pointer, 0, written->n,
                                       (union vscan__value){.bits = 0}));
            move.written = written->pointer;
        }
    }
    return move.n == 0 ? VSCAN_OK : ctx->backend->permute(ctx, &move);
}
