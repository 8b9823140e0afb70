/* SPDX-License-Identifier: Apache-2.0 */
/* Segmented reductions: check the arguments, look up the row, call. */
#include "check.h"

#include <inttypes.h>
#include <stddef.h>

/* ---- Reduction ------------------------------------------------------------------------------- */

/* The vector or vectors of a call. */
struct segments {
    const vscan_buffer *in, *by; /* by: the flags or the offsets */
    const char *by_name;
    vscan_buffer *totals;
};

static vscan_status check_offsets(vscan_ctx *ctx, const vscan_buffer *offsets) {
    if (offsets->type != VSCAN_INT && offsets->type != VSCAN_LONG)
        return VSCAN__FAIL(ctx, VSCAN_ERROR_TYPE,
                           "offsets is a buffer of type %s, must be int or long",
                           vscan__type_name(offsets->type));
    if (offsets->n < 1)
        return VSCAN__FAIL(ctx, VSCAN_ERROR_LENGTH,
                           "offsets has no elements, must have one more than there are segments");
    return VSCAN_OK;
}

/* What reductions by flags and by offsets have in common. */
static vscan_status check_reduction(vscan_ctx *ctx, vscan_op op, const struct segments *segments,
                                    enum vscan__pair *pair) {
    const vscan_buffer *in = segments->in, *totals = segments->totals;
    TRY(vscan__check_buffer(ctx, "in", in));
    TRY(vscan__check_buffer(ctx, segments->by_name, segments->by));
    TRY(vscan__check_buffer(ctx, "totals", totals));
    TRY(vscan__check_pair(ctx, op, in->type, pair));
    if (totals->type != in->type)
        return VSCAN__FAIL(ctx, VSCAN_ERROR_TYPE, "totals is a buffer of type %s, must be %s",
                           vscan__type_name(totals->type), vscan__type_name(in->type));
    TRY(vscan__check_apart(ctx, "totals", totals, "in", in));
    return vscan__check_apart(ctx, "totals", totals, segments->by_name, segments->by);
}

/* Checks the options, runs the slot, delivers the number of segments. */
static vscan_status run(vscan_ctx *ctx, enum vscan__pair pair, const struct segments *segments,
                        const vscan_reduce_segmented_options *options, struct vscan__scan *scan) {
    vscan_reduce_segmented_options set = {0};
    if (options != NULL) {
        TRY(vscan__check_options(ctx, options, sizeof set, sizeof set, &set));
        TRY(vscan__check_initial(ctx, set.initial, set.initial_buffer, segments->in->type, NULL,
                                 scan));
        TRY(vscan__check_apart(ctx, "totals", segments->totals, "options->initial_buffer",
                               set.initial_buffer));
    }
    if (set.count != NULL) {
        TRY(vscan__check_element(ctx, "options->count", set.count, VSCAN_LONG));
        TRY(vscan__check_apart(ctx, "options->count", set.count, "in", segments->in));
        TRY(vscan__check_apart(ctx, "options->count", set.count, segments->by_name, segments->by));
        TRY(vscan__check_apart(ctx, "options->count", set.count, "totals", segments->totals));
        TRY(vscan__check_apart(ctx, "options->count", set.count, "options->initial_buffer",
                               set.initial_buffer));
        scan->count = set.count->pointer;
    } else if (set.host_count != NULL) {
        scan->count = (int64_t *)ctx->scratch + 1; /* after the place of a value */
    }
    if (set.host_count != NULL) TRY(ctx->backend->may_wait(ctx));
    if (scan->offsets != NULL && scan->count != NULL)
        TRY(ctx->backend->fill(ctx, VSCAN_LONG, scan->count, 0, 1,
                               (union vscan__value){.as_long = scan->totals_length}));
    TRY(ctx->backend->reduce_segmented[pair](ctx, scan));
    if (set.host_count == NULL) return VSCAN_OK;
    return vscan__fetch(ctx, set.host_count, scan->count, sizeof *set.host_count);
}

static vscan_status reduce_by_flags(vscan_ctx *ctx, vscan_op op, const vscan_buffer *in,
                                    const vscan_buffer *flags, vscan_buffer *totals,
                                    const vscan_reduce_segmented_options *options) {
    const struct segments segments = {in, flags, "flags", totals};
    enum vscan__pair pair;
    TRY(check_reduction(ctx, op, &segments, &pair));
    TRY(vscan__check_flags(ctx, "flags", flags));
    TRY(vscan__check_length(ctx, "flags", flags, "in", in));
    struct vscan__scan scan = {.n = in->n,
                               .in = in->pointer,
                               .flag_type = (int32_t)flags->type,
                               .flags = flags->pointer,
                               /* NULL is for no totals; of none there may be more than room */
                               .totals = totals->n > 0 ? totals->pointer : ctx->scratch,
                               .totals_length = totals->n};
    return run(ctx, pair, &segments, options, &scan);
}

vscan_status vscan_reduce_segmented(vscan_ctx *ctx, vscan_op op, const vscan_buffer *in,
                                    const vscan_buffer *flags, vscan_buffer *totals,
                                    const vscan_reduce_segmented_options *options) {
    TRY(vscan__enter(ctx, __func__));
    return vscan__leave(ctx, reduce_by_flags(ctx, op, in, flags, totals, options));
}

static vscan_status reduce_by_offsets(vscan_ctx *ctx, vscan_op op, const vscan_buffer *in,
                                      const vscan_buffer *offsets, vscan_buffer *totals,
                                      const vscan_reduce_segmented_options *options) {
    const struct segments segments = {in, offsets, "offsets", totals};
    enum vscan__pair pair;
    TRY(check_reduction(ctx, op, &segments, &pair));
    TRY(check_offsets(ctx, offsets));
    if (totals->n != offsets->n - 1)
        return VSCAN__FAIL(ctx, VSCAN_ERROR_LENGTH,
                           "totals has %" PRId64 " elements, must have one less than offsets, "
                           "which has %" PRId64,
                           totals->n, offsets->n);
    struct vscan__scan scan = {.n = in->n,
                               .in = in->pointer,
                               .totals = totals->pointer,
                               .totals_length = totals->n,
                               .offsets = offsets->pointer,
                               .offset_type = (int32_t)offsets->type};
    return run(ctx, pair, &segments, options, &scan);
}

vscan_status vscan_reduce_offsets(vscan_ctx *ctx, vscan_op op, const vscan_buffer *in,
                                  const vscan_buffer *offsets, vscan_buffer *totals,
                                  const vscan_reduce_segmented_options *options) {
    TRY(vscan__enter(ctx, __func__));
    return vscan__leave(ctx, reduce_by_offsets(ctx, op, in, offsets, totals, options));
}
