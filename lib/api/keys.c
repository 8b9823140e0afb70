/* SPDX-License-Identifier: Apache-2.0 */
/* Heads of keys, bounds in sorted vectors: check the arguments, call. */
#include "api/check.h"

#include <inttypes.h>
#include <stddef.h>

/* Numbers, which vscan_sort has an order for. */
static vscan_status check_keys(vscan_ctx *ctx, const char *name, const vscan_buffer *keys) {
    switch (keys->type) {
    case VSCAN_INT:
    case VSCAN_LONG:
    case VSCAN_FLOAT:
    case VSCAN_DOUBLE:
        return VSCAN_OK;
    default:
        return vscan__refuse_type(ctx, name, keys, "int, long, float or double");
    }
}

/* ---- Heads ----------------------------------------------------------------------------------- */

vscan_status vscan_keys_to_heads(vscan_ctx *ctx, const vscan_buffer *keys,
                                 const vscan_buffer *within, vscan_buffer *heads) {
    VSCAN__ENTER(ctx);
    VSCAN__FIND(ctx, keys);
    if (within != NULL) VSCAN__FIND(ctx, within);
    VSCAN__FIND(ctx, heads);
    TRY(check_keys(ctx, "keys", keys));
    TRY(vscan__check_flags(ctx, "heads", heads));
    TRY(vscan__check_length(ctx, "heads", heads, "keys", keys));
    TRY(vscan__check_apart(ctx, "heads", heads, "keys", keys));
    if (within != NULL) {
        TRY(vscan__check_flags(ctx, "within", within));
        TRY(vscan__check_length(ctx, "within", within, "keys", keys));
        TRY(vscan__check_same_or_apart(ctx, "heads", heads, "within", within));
    }
    if (keys->n == 0) return VSCAN_OK;
    const struct vscan__keys work = {.n = keys->n,
                                     .keys = keys->pointer,
                                     .flags = within != NULL ? within->pointer : NULL,
                                     .out = heads->pointer,
                                     .type = (int32_t)keys->type,
                                     .flag_type = within != NULL ? (int32_t)within->type : 0,
                                     .out_type = (int32_t)heads->type};
    return ctx->backend->keys_to_heads(ctx, &work);
}

/* ---- Bounds ---------------------------------------------------------------------------------- */

static vscan_status find_bounds(vscan_ctx *ctx, bool upper, const vscan_buffer *sorted,
                                const vscan_buffer *values, const vscan_buffer *positions) {
    VSCAN__FIND(ctx, sorted, values, positions);
    TRY(check_keys(ctx, "sorted", sorted));
    TRY(vscan__check_type(ctx, "values", values, sorted->type));
    TRY(vscan__check_integers(ctx, "positions", positions));
    TRY(vscan__check_length(ctx, "positions", positions, "values", values));
    if (positions->type == VSCAN_INT && sorted->n > INT32_MAX)
        return VSCAN__FAIL(ctx, VSCAN_ERROR_LENGTH,
                           "sorted has %" PRId64 " elements, and positions of type int cannot "
                           "count that many",
                           sorted->n);
    TRY(vscan__check_apart(ctx, "positions", positions, "sorted", sorted));
    TRY(vscan__check_apart(ctx, "positions", positions, "values", values));
    if (values->n == 0) return VSCAN_OK;
    const struct vscan__bounds bounds = {.n = values->n,
                                         .length = sorted->n,
                                         .sorted = sorted->pointer,
                                         .values = values->pointer,
                                         .out = positions->pointer,
                                         .type = (int32_t)sorted->type,
                                         .out_type = (int32_t)positions->type,
                                         .upper = upper};
    return ctx->backend->bounds(ctx, &bounds);
}

vscan_status vscan_lower_bound(vscan_ctx *ctx, const vscan_buffer *sorted,
                               const vscan_buffer *values, vscan_buffer *positions) {
    VSCAN__ENTER(ctx);
    return find_bounds(ctx, false, sorted, values, positions);
}

vscan_status vscan_upper_bound(vscan_ctx *ctx, const vscan_buffer *sorted,
                               const vscan_buffer *values, vscan_buffer *positions) {
    VSCAN__ENTER(ctx);
    return find_bounds(ctx, true, sorted, values, positions);
}
