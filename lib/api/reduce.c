/* SPDX-License-Identifier: Apache-2.0 */
/* vscan_reduce: checks the arguments, looks up the row, calls. */
#include "api/check.h"

static vscan_status reduce(vscan_ctx *ctx, vscan_op op, const vscan_buffer *in,
                           const vscan_buffer *total, const vscan_reduce_options *options) {
    TRY(vscan__check_buffer(ctx, "in", &in));
    if (total != NULL) TRY(vscan__check_buffer(ctx, "total", &total));
    enum vscan__pair pair;
    TRY(vscan__check_pair(ctx, op, in->type, &pair));

    struct vscan__scan scan = {.n = in->n, .in = in->pointer};
    vscan_reduce_options set = {0};
    if (options != NULL) {
        TRY(vscan__check_options(ctx, options, VSCAN__FIRST_REDUCE, sizeof set, &set));
        TRY(vscan__check_direction(ctx, "options->direction", set.direction));
        if (set.unused != 0) return VSCAN__FAIL(ctx, VSCAN_ERROR_VALUE, "options->unused is not 0");
        TRY(vscan__check_initial(ctx, &set.initial, &set.initial_buffer, in->type, NULL, &scan));
        if (set.carry != NULL) TRY(vscan__check_carry(ctx, set.carry, pair, set.direction, &scan));
        scan.backward = set.direction == VSCAN_BACKWARD;
    }
    if (total != NULL) {
        TRY(vscan__check_one(ctx, "total", total, in->type));
        TRY(vscan__check_apart(ctx, "total", total, "in", in));
        scan.total = total->pointer; /* an element is initial_buffer's, or apart from it */
    } else if (set.carry == NULL) {
        return VSCAN__FAIL(ctx, VSCAN_ERROR_NULL, "total is NULL, and so is options->carry");
    }
    return ctx->backend->pairs[pair].reduce(ctx, &scan);
}

vscan_status vscan_reduce(vscan_ctx *ctx, vscan_op op, const vscan_buffer *in, vscan_buffer *total,
                          const vscan_reduce_options *options) {
    TRY(vscan__enter(&ctx, __func__));
    return vscan__leave(ctx, reduce(ctx, op, in, total, options));
}
