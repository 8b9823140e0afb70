/* SPDX-License-Identifier: Apache-2.0 */
/* vscan_reduce: checks the arguments, looks up the row, calls. */
#include "api/check.h"

/* The total's, or without one that of a carry that is there, which is checked later; else in's. */
static vscan_type result_type(const vscan_buffer *in, const vscan_buffer *total,
                              const vscan_carry *carry) {
    if (total != NULL) return total->type;
    const vscan_carry *found = vscan__find_carry(carry);
    return found != NULL ? found->type : in->type;
}

vscan_status vscan_reduce(vscan_ctx *ctx, vscan_op op, const vscan_buffer *in, vscan_buffer *total,
                          const vscan_reduce_options *options) {
    VSCAN__ENTER(ctx);
    VSCAN__FIND(ctx, in);
    if (total != NULL) VSCAN__FIND(ctx, total);
    vscan_reduce_options set = {0};
    if (options != NULL)
        TRY(vscan__check_options(ctx, options, VSCAN__FIRST_REDUCE, sizeof set, &set));
    const bool widens = vscan__widens(op, in, result_type(in, total, set.carry));
    const vscan_type type = widens ? VSCAN_LONG : in->type;
    enum vscan__pair pair;
    TRY(vscan__check_pair(ctx, op, type, &pair));

    struct vscan__scan scan = {.n = in->n, .in = in->pointer};
    if (options != NULL) {
        TRY(vscan__check_direction(ctx, "options->direction", set.direction));
        if (set.unused != 0) return VSCAN__FAIL(ctx, VSCAN_ERROR_VALUE, "options->unused is not 0");
        TRY(vscan__check_initial(ctx, &set.initial, &set.initial_buffer, type, NULL, &scan));
        if (set.carry != NULL) TRY(vscan__check_carry(ctx, set.carry, pair, set.direction, &scan));
        scan.backward = set.direction == VSCAN_BACKWARD;
    }
    if (total != NULL) {
        if (op == VSCAN_PLUS && in->type == VSCAN_INT)
            TRY(vscan__check_integers(ctx, "total", total));
        TRY(vscan__check_one(ctx, "total", total, type));
        TRY(vscan__check_apart(ctx, "total", total, "in", in));
        scan.total = total->pointer; /* an element is initial_buffer's, or apart from it */
    } else if (set.carry == NULL) {
        return VSCAN__FAIL(ctx, VSCAN_ERROR_NULL, "total is NULL, and so is options->carry");
    }
    if (widens && in->n > 0) return ctx->backend->widening(ctx, &scan);
    return ctx->backend->pairs[pair].reduce(ctx, &scan);
}
