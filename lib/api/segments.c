/* SPDX-License-Identifier: Apache-2.0 */
/* Segmented reductions, segmented distribute, offsets and lengths: check the arguments, call. */
#include "api/check.h"

#include <inttypes.h>
#include <stddef.h>

/* ---- Reduction ------------------------------------------------------------------------------- */

/* The vector or vectors of a call. */
struct segments {
    const vscan_buffer *in, *by; /* by: the flags or the offsets */
    const char *by_name;
    const vscan_buffer *totals;
};

static vscan_status check_offsets(vscan_ctx *ctx, const vscan_buffer *offsets) {
    TRY(vscan__check_integers(ctx, "offsets", offsets));
    if (offsets->n < 1)
        return VSCAN__FAIL(ctx, VSCAN_ERROR_LENGTH,
                           "offsets has no elements, must have one more than there are segments");
    return VSCAN_OK;
}

/* What reductions by flags and by offsets have in common; the handles become buffers. */
static vscan_status check_reduction(vscan_ctx *ctx, vscan_op op, struct segments *segments,
                                    enum vscan__pair *pair) {
    TRY(vscan__check_buffer(ctx, "in", &segments->in));
    TRY(vscan__check_buffer(ctx, segments->by_name, &segments->by));
    TRY(vscan__check_buffer(ctx, "totals", &segments->totals));
    const vscan_buffer *in = segments->in, *totals = segments->totals;
    TRY(vscan__check_pair(ctx, op, in->type, pair));
    TRY(vscan__check_type(ctx, "totals", totals, in->type));
    TRY(vscan__check_apart(ctx, "totals", totals, "in", in));
    return vscan__check_apart(ctx, "totals", totals, segments->by_name, segments->by);
}

/* Checks the options, runs the slot, delivers the number of segments. */
static vscan_status run(vscan_ctx *ctx, enum vscan__pair pair, const struct segments *segments,
                        const vscan_reduce_segmented_options *options, struct vscan__scan *scan) {
    vscan_reduce_segmented_options set = {0};
    if (options != NULL) {
        TRY(vscan__check_options(ctx, options, sizeof set, sizeof set, &set));
        TRY(vscan__check_initial(ctx, set.initial, &set.initial_buffer, segments->in->type, NULL,
                                 scan));
        TRY(vscan__check_apart(ctx, "totals", segments->totals, "options->initial_buffer",
                               set.initial_buffer));
    }
    const vscan_buffer *count = set.count;
    if (count != NULL) {
        TRY(vscan__check_element(ctx, "options->count", &count, VSCAN_LONG));
        TRY(vscan__check_apart(ctx, "options->count", count, "in", segments->in));
        TRY(vscan__check_apart(ctx, "options->count", count, segments->by_name, segments->by));
        TRY(vscan__check_apart(ctx, "options->count", count, "totals", segments->totals));
        TRY(vscan__check_apart(ctx, "options->count", count, "options->initial_buffer",
                               set.initial_buffer));
        scan->count = count->pointer;
    } else if (set.host_count != NULL) {
        scan->count = (int64_t *)ctx->scratch + 1; /* after the place of a value */
    }
    if (set.host_count != NULL) TRY(ctx->backend->may_wait(ctx));
    if (scan->offsets != NULL && scan->count != NULL)
        TRY(ctx->backend->fill(ctx, VSCAN_LONG, scan->count, 0, 1,
                               (union vscan__value){.as_long = scan->totals_length}));
    TRY(ctx->backend->pairs[pair].reduce_segmented(ctx, scan));
    if (set.host_count == NULL) return VSCAN_OK;
    return vscan__fetch(ctx, set.host_count, scan->count, sizeof *set.host_count);
}

static vscan_status reduce_by_flags(vscan_ctx *ctx, vscan_op op, const vscan_buffer *in,
                                    const vscan_buffer *flags, const vscan_buffer *totals,
                                    const vscan_reduce_segmented_options *options) {
    struct segments segments = {in, flags, "flags", totals};
    enum vscan__pair pair;
    TRY(check_reduction(ctx, op, &segments, &pair));
    in = segments.in, flags = segments.by, totals = segments.totals;
    TRY(vscan__check_flags(ctx, "flags", flags));
    TRY(vscan__check_length(ctx, "flags", flags, "in", in));
    struct vscan__scan scan = {
        .n = in->n,
        .in = in->pointer,
        .flag_type = (int32_t)flags->type,
        .flags = flags->pointer,
        /* not NULL, which means no totals, also where there is room for none */
        .totals = totals->n > 0 ? totals->pointer : ctx->scratch,
        .totals_length = totals->n};
    return run(ctx, pair, &segments, options, &scan);
}

vscan_status vscan_reduce_segmented(vscan_ctx *ctx, vscan_op op, const vscan_buffer *in,
                                    const vscan_buffer *flags, vscan_buffer *totals,
                                    const vscan_reduce_segmented_options *options) {
    TRY(vscan__enter(&ctx, __func__));
    return vscan__leave(ctx, reduce_by_flags(ctx, op, in, flags, totals, options));
}

static vscan_status reduce_by_offsets(vscan_ctx *ctx, vscan_op op, const vscan_buffer *in,
                                      const vscan_buffer *offsets, const vscan_buffer *totals,
                                      const vscan_reduce_segmented_options *options) {
    struct segments segments = {in, offsets, "offsets", totals};
    enum vscan__pair pair;
    TRY(check_reduction(ctx, op, &segments, &pair));
    in = segments.in, offsets = segments.by, totals = segments.totals;
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
    TRY(vscan__enter(&ctx, __func__));
    return vscan__leave(ctx, reduce_by_offsets(ctx, op, in, offsets, totals, options));
}

/* ---- Distribute ------------------------------------------------------------------------------ */

static vscan_status check_distribute(vscan_ctx *ctx, const vscan_buffer *in,
                                     const vscan_buffer *flags, const vscan_buffer *out) {
    TRY(vscan__check_flags(ctx, "flags", flags));
    TRY(vscan__check_length(ctx, "flags", flags, "in", in));
    TRY(vscan__check_like(ctx, "out", out, "in", in));
    TRY(vscan__check_same_or_apart(ctx, "out", out, "in", in));
    return vscan__check_apart(ctx, "flags", flags, "out", out);
}

static vscan_status check_three(vscan_ctx *ctx, const vscan_buffer **in, const vscan_buffer **flags,
                                const vscan_buffer **out) {
    TRY(vscan__check_buffer(ctx, "in", in));
    TRY(vscan__check_buffer(ctx, "flags", flags));
    return vscan__check_buffer(ctx, "out", out);
}

/* Buffers that have been checked. */
static vscan_status run_distribute(vscan_ctx *ctx, vscan_end which, const vscan_buffer *in,
                                   const vscan_buffer *flags, const vscan_buffer *out) {
    const struct vscan__distribution distribution = {.n = in->n,
                                                     .in = in->pointer,
                                                     .flags = flags->pointer,
                                                     .out = out->pointer,
                                                     .type = (int32_t)in->type,
                                                     .flag_type = (int32_t)flags->type,
                                                     .backward = which == VSCAN_LAST};
    return ctx->backend->distribute_segmented(ctx, &distribution);
}

static vscan_status distribute(vscan_ctx *ctx, vscan_end which, const vscan_buffer *in,
                               const vscan_buffer *flags, const vscan_buffer *out) {
    TRY(check_three(ctx, &in, &flags, &out));
    if (which != VSCAN_FIRST && which != VSCAN_LAST)
        return vscan__refuse_enum(ctx, "which", (int32_t)which, "vscan_end");
    if (in->type == VSCAN_BIT)
        return VSCAN__FAIL(ctx, VSCAN_ERROR_TYPE,
                           "in is a buffer of type bit, which cannot be distributed");
    TRY(check_distribute(ctx, in, flags, out));
    return in->n == 0 ? VSCAN_OK : run_distribute(ctx, which, in, flags, out);
}

vscan_status vscan_distribute_segmented(vscan_ctx *ctx, vscan_end which, const vscan_buffer *in,
                                        const vscan_buffer *flags, vscan_buffer *out) {
    TRY(vscan__enter(&ctx, __func__));
    return vscan__leave(ctx, distribute(ctx, which, in, flags, out));
}

/* Totals to the last places of segments; then these to all places, in place. */
static vscan_status distribute_totals(vscan_ctx *ctx, vscan_op op, const vscan_buffer *in,
                                      const vscan_buffer *flags, const vscan_buffer *out) {
    TRY(check_three(ctx, &in, &flags, &out));
    enum vscan__pair pair;
    TRY(vscan__check_pair(ctx, op, in->type, &pair));
    TRY(check_distribute(ctx, in, flags, out));
    if (in->n == 0) return VSCAN_OK;
    const struct vscan__scan scan = {.n = in->n,
                                     .in = in->pointer,
                                     .out = out->pointer,
                                     .flag_type = (int32_t)flags->type,
                                     .flags = flags->pointer};
    TRY(ctx->backend->pairs[pair].reduce_segmented(ctx, &scan));
    return run_distribute(ctx, VSCAN_LAST, out, flags, out);
}

vscan_status vscan_distribute_totals(vscan_ctx *ctx, vscan_op op, const vscan_buffer *in,
                                     const vscan_buffer *flags, vscan_buffer *out) {
    TRY(vscan__enter(&ctx, __func__));
    return vscan__leave(ctx, distribute_totals(ctx, op, in, flags, out));
}

/* ---- Flags, offsets, lengths ----------------------------------------------------------------- */

/* So that int offsets can hold the position after the last element. */
static vscan_status check_countable(vscan_ctx *ctx, const vscan_buffer *offsets,
                                    const vscan_buffer *flags) {
    if (offsets->type == VSCAN_LONG || flags->n <= INT32_MAX) return VSCAN_OK;
    return VSCAN__FAIL(ctx, VSCAN_ERROR_LENGTH,
                       "flags has %" PRId64 " elements, and offsets of type int cannot count that "
                       "many",
                       flags->n);
}

static vscan_status flags_to_offsets(vscan_ctx *ctx, const vscan_buffer *flags,
                                     const vscan_buffer *offsets,
                                     const vscan_pack_options *options) {
    TRY(vscan__check_buffer(ctx, "flags", &flags));
    TRY(vscan__check_buffer(ctx, "offsets", &offsets));
    TRY(vscan__check_flags(ctx, "flags", flags));
    TRY(vscan__check_integers(ctx, "offsets", offsets));
    TRY(check_countable(ctx, offsets, flags));
    TRY(vscan__check_apart(ctx, "offsets", offsets, "flags", flags));
    struct vscan__pack pack = {.n = flags->n,
                               .length = offsets->n,
                               .flags = flags->pointer,
                               .out = offsets->pointer,
                               .type = (int32_t)offsets->type,
                               .flag_type = (int32_t)flags->type,
                               .first_is_set = 1};
    const struct vscan__named named[] = {{"flags", flags}, {"offsets", offsets}, {0}};
    int64_t *host_count;
    TRY(vscan__check_count(ctx, options, named, &pack.count, &host_count));
    if (offsets->n < 1)
        return VSCAN__FAIL(ctx, VSCAN_ERROR_LENGTH,
                           "offsets has no elements, must have one more than there are segments");
    if (pack.n > 0)
        TRY(ctx->backend->flags_to_offsets(ctx, &pack));
    else
        TRY(ctx->backend->fill(ctx, offsets->type, offsets->pointer, 0, 1,
                               (union vscan__value){.as_long = 0}));
    return vscan__deliver_count(ctx, pack.n, pack.count, host_count);
}

vscan_status vscan_flags_to_offsets(vscan_ctx *ctx, const vscan_buffer *flags,
                                    vscan_buffer *offsets, const vscan_pack_options *options) {
    TRY(vscan__enter(&ctx, __func__));
    return vscan__leave(ctx, flags_to_offsets(ctx, flags, offsets, options));
}

static vscan_status offsets_to_flags(vscan_ctx *ctx, const vscan_buffer *offsets,
                                     const vscan_buffer *flags) {
    TRY(vscan__check_buffer(ctx, "offsets", &offsets));
    TRY(vscan__check_buffer(ctx, "flags", &flags));
    TRY(vscan__check_integers(ctx, "offsets", offsets));
    TRY(vscan__check_flags(ctx, "flags", flags));
    TRY(vscan__check_apart(ctx, "flags", flags, "offsets", offsets));
    if (offsets->n == 0 && flags->n == 0) return VSCAN_OK;
    const struct vscan__ranges ranges = {.n = offsets->n,
                                         .length = flags->n,
                                         .in = offsets->pointer,
                                         .out = flags->pointer,
                                         .type = (int32_t)offsets->type,
                                         .out_type = (int32_t)flags->type};
    return ctx->backend->mark(ctx, &ranges);
}

vscan_status vscan_offsets_to_flags(vscan_ctx *ctx, const vscan_buffer *offsets,
                                    vscan_buffer *flags) {
    TRY(vscan__enter(&ctx, __func__));
    return vscan__leave(ctx, offsets_to_flags(ctx, offsets, flags));
}

/* One more offset than there are lengths. */
static vscan_status check_lengths(vscan_ctx *ctx, const vscan_buffer *offsets,
                                  const vscan_buffer *lengths) {
    TRY(check_offsets(ctx, offsets));
    TRY(vscan__check_integers(ctx, "lengths", lengths));
    if (lengths->n != offsets->n - 1)
        return VSCAN__FAIL(ctx, VSCAN_ERROR_LENGTH,
                           "lengths has %" PRId64 " elements, must have one less than offsets, "
                           "which has %" PRId64,
                           lengths->n, offsets->n);
    return vscan__check_apart(ctx, "lengths", lengths, "offsets", offsets);
}

static vscan_status offsets_to_lengths(vscan_ctx *ctx, const vscan_buffer *offsets,
                                       const vscan_buffer *lengths) {
    TRY(vscan__check_buffer(ctx, "offsets", &offsets));
    TRY(vscan__check_buffer(ctx, "lengths", &lengths));
    TRY(check_lengths(ctx, offsets, lengths));
    if (lengths->type != offsets->type)
        return VSCAN__FAIL(ctx, VSCAN_ERROR_TYPE, "lengths is a buffer of type %s, must be %s",
                           vscan__type_name(lengths->type), vscan__type_name(offsets->type));
    if (lengths->n == 0) return VSCAN_OK;
    const struct vscan__ranges ranges = {.n = lengths->n,
                                         .in = offsets->pointer,
                                         .out = lengths->pointer,
                                         .type = (int32_t)offsets->type,
                                         .out_type = (int32_t)lengths->type};
    return ctx->backend->subtract(ctx, &ranges);
}

vscan_status vscan_offsets_to_lengths(vscan_ctx *ctx, const vscan_buffer *offsets,
                                      vscan_buffer *lengths) {
    TRY(vscan__enter(&ctx, __func__));
    return vscan__leave(ctx, offsets_to_lengths(ctx, offsets, lengths));
}

static vscan_status lengths_to_offsets(vscan_ctx *ctx, const vscan_buffer *lengths,
                                       const vscan_buffer *offsets) {
    TRY(vscan__check_buffer(ctx, "lengths", &lengths));
    TRY(vscan__check_buffer(ctx, "offsets", &offsets));
    TRY(check_lengths(ctx, offsets, lengths));
    if (offsets->type != lengths->type && offsets->type != VSCAN_LONG)
        return VSCAN__FAIL(ctx, VSCAN_ERROR_TYPE,
                           "offsets is a buffer of type int, must be long, as lengths is");
    const struct vscan__ranges ranges = {.n = lengths->n,
                                         .in = lengths->pointer,
                                         .out = offsets->pointer,
                                         .type = (int32_t)lengths->type,
                                         .out_type = (int32_t)offsets->type};
    return ctx->backend->add(ctx, &ranges);
}

vscan_status vscan_lengths_to_offsets(vscan_ctx *ctx, const vscan_buffer *lengths,
                                      vscan_buffer *offsets) {
    TRY(vscan__enter(&ctx, __func__));
    return vscan__leave(ctx, lengths_to_offsets(ctx, lengths, offsets));
}
