/* SPDX-License-Identifier: Apache-2.0 */
/* Scans by offsets, segmented reductions, segmented distribute, offsets and lengths: check the arguments,
   call. */
#include "api/check.h"

#include <inttypes.h>
#include <stddef.h>

/* ---- Reduction ------------------------------------------------------------------------------- */

/* The vector or vectors of a call. */
struct segments {
    const vscan_buffer *in, *by; /* by: the heads or the offsets */
    const char *by_name;
    const vscan_buffer *totals;
};

vscan_status vscan__check_offsets(vscan_ctx *ctx, const vscan_buffer *offsets) {
    TRY(vscan__check_integers(ctx, "offsets", offsets));
    if (offsets->n < 1)
        return VSCAN__FAIL(ctx, VSCAN_ERROR_LENGTH,
                           "offsets has no elements, must have one more than there are segments");
    return VSCAN_OK;
}

vscan_status vscan__check_one_less(vscan_ctx *ctx, const char *name, const vscan_buffer *buffer,
                                   const vscan_buffer *offsets) {
    if (buffer->n == offsets->n - 1) return VSCAN_OK;
    return VSCAN__FAIL(ctx, VSCAN_ERROR_LENGTH,
                       "%s has %" PRId64 " elements, must have one less than offsets, "
                       "which has %" PRId64,
                       name, buffer->n, offsets->n);
}

/* What reductions by heads and by offsets have in common. */
static vscan_status check_reduction(vscan_ctx *ctx, vscan_op op, const struct segments *segments,
                                    enum vscan__pair *pair) {
    const vscan_buffer *in = segments->in, *totals = segments->totals;
    TRY(vscan__check_pair(ctx, op, in->type, pair));
    TRY(vscan__check_results(ctx, op, in, "totals", totals));
    TRY(vscan__check_apart(ctx, "totals", totals, "in", in));
    return vscan__check_apart(ctx, "totals", totals, segments->by_name, segments->by);
}

/* The initial value, apart from the totals. */
static vscan_status check_initial(vscan_ctx *ctx, const struct segments *segments,
                                  const vscan_value *initial, const vscan_buffer **initial_buffer,
                                  struct vscan__scan *scan) {
    TRY(vscan__check_initial(ctx, initial, initial_buffer, segments->totals->type, NULL, scan));
    return vscan__check_apart(ctx, "totals", segments->totals, "options->initial_buffer",
                              *initial_buffer);
}

vscan_status vscan_reduce_segmented(vscan_ctx *ctx, vscan_op op, const vscan_buffer *in,
                                    const vscan_buffer *heads, vscan_buffer *totals,
                                    const vscan_reduce_segmented_options *options) {
    VSCAN__ENTER(ctx);
    VSCAN__FIND(ctx, in, heads, totals);
    const struct segments segments = {in, heads, "heads", totals};
    enum vscan__pair pair;
    TRY(check_reduction(ctx, op, &segments, &pair));
    TRY(vscan__check_flags(ctx, "heads", heads));
    TRY(vscan__check_length(ctx, "heads", heads, "in", in));
    struct vscan__scan scan = {
        .n = in->n,
        .in = in->pointer,
        .flag_type = (int32_t)heads->type,
        .flags = heads->pointer,
        /* not NULL, which means no totals, also where there is room for none */
        .totals = totals->n > 0 ? totals->pointer : ctx->scratch,
        .totals_length = totals->n};
    if (options != NULL) {
        vscan_reduce_segmented_options set = {0};
        TRY(vscan__check_options(ctx, options, VSCAN__FIRST_REDUCE_SEGMENTED, sizeof set, &set));
        TRY(check_initial(ctx, &segments, &set.initial, &set.initial_buffer, &scan));
        const vscan_buffer *count = set.count;
        if (count != NULL) {
            TRY(vscan__check_element(ctx, "options->count", &count, VSCAN_LONG));
            TRY(vscan__check_apart(ctx, "options->count", count, "in", in));
            TRY(vscan__check_apart(ctx, "options->count", count, "heads", heads));
            TRY(vscan__check_apart(ctx, "options->count", count, "totals", totals));
            TRY(vscan__check_apart(ctx, "options->count", count, "options->initial_buffer",
                                   set.initial_buffer));
            scan.count = count->pointer;
        }
    }
    if (totals->type == in->type) return ctx->backend->pairs[pair].reduce_segmented(ctx, &scan);
    if (in->n == 0) return vscan__count_none(ctx, scan.count);
    return vscan__reduce_heads(ctx, ctx->backend->widening_by_offsets, &scan);
}

vscan_status vscan_reduce_by_offsets(vscan_ctx *ctx, vscan_op op, const vscan_buffer *in,
                                     const vscan_buffer *offsets, vscan_buffer *totals,
                                     const vscan_reduce_by_offsets_options *options) {
    VSCAN__ENTER(ctx);
    VSCAN__FIND(ctx, in, offsets, totals);
    const struct segments segments = {in, offsets, "offsets", totals};
    enum vscan__pair pair;
    TRY(check_reduction(ctx, op, &segments, &pair));
    TRY(vscan__check_offsets(ctx, offsets));
    TRY(vscan__check_one_less(ctx, "totals", totals, offsets));
    struct vscan__scan scan = {.n = in->n,
                               .in = in->pointer,
                               .totals = totals->pointer,
                               .totals_length = totals->n,
                               .offsets = offsets->pointer,
                               .offset_type = (int32_t)offsets->type};
    if (options != NULL) {
        vscan_reduce_by_offsets_options set = {0};
        TRY(vscan__check_options(ctx, options, VSCAN__FIRST_REDUCE_BY_OFFSETS, sizeof set, &set));
        TRY(check_initial(ctx, &segments, &set.initial, &set.initial_buffer, &scan));
    }
    return totals->type != in->type ? ctx->backend->widening_by_offsets(ctx, &scan)
                                    : ctx->backend->pairs[pair].by_offsets(ctx, &scan);
}

vscan_status vscan_scan_by_offsets(vscan_ctx *ctx, vscan_op op, const vscan_buffer *in,
                                   const vscan_buffer *offsets, vscan_buffer *out,
                                   const vscan_scan_by_offsets_options *options) {
    VSCAN__ENTER(ctx);
    VSCAN__FIND(ctx, in, offsets, out);
    enum vscan__pair pair;
    TRY(vscan__check_pair(ctx, op, in->type, &pair));
    TRY(vscan__check_offsets(ctx, offsets));
    TRY(vscan__check_like(ctx, "out", out, "in", in));
    TRY(vscan__check_same_or_apart(ctx, "out", out, "in", in));
    TRY(vscan__check_apart(ctx, "offsets", offsets, "out", out));
    struct vscan__scan scan = {.n = in->n,
                               .in = in->pointer,
                               .out = out->pointer,
                               .totals_length = offsets->n - 1,
                               .offsets = offsets->pointer,
                               .offset_type = (int32_t)offsets->type};
    if (options != NULL) {
        vscan_scan_by_offsets_options set = {0};
        TRY(vscan__check_options(ctx, options, VSCAN__FIRST_SCAN_BY_OFFSETS, sizeof set, &set));
        TRY(vscan__check_kind(ctx, set.kind));
        TRY(vscan__check_direction(ctx, "options->direction", set.direction));
        TRY(vscan__check_initial(ctx, &set.initial, &set.initial_buffer, in->type, out, &scan));
        const vscan_buffer *totals = set.totals;
        if (totals != NULL) {
            TRY(vscan__check_buffer(ctx, "options->totals", &totals));
            TRY(vscan__check_type(ctx, "options->totals", totals, in->type));
            TRY(vscan__check_one_less(ctx, "options->totals", totals, offsets));
            TRY(vscan__check_apart(ctx, "options->totals", totals, "in", in));
            TRY(vscan__check_apart(ctx, "options->totals", totals, "offsets", offsets));
            TRY(vscan__check_apart(ctx, "options->totals", totals, "out", out));
            TRY(vscan__check_apart(ctx, "options->totals", totals, "options->initial_buffer",
                                   set.initial_buffer));
            scan.totals = totals->pointer;
        }
        scan.exclusive = set.kind == VSCAN_EXCLUSIVE;
        scan.backward = set.direction == VSCAN_BACKWARD;
    }
    return ctx->backend->pairs[pair].by_offsets(ctx, &scan);
}

/* ---- Distribute ------------------------------------------------------------------------------ */

static vscan_status check_distribute(vscan_ctx *ctx, const vscan_buffer *in,
                                     const vscan_buffer *heads, const vscan_buffer *out) {
    TRY(vscan__check_flags(ctx, "heads", heads));
    TRY(vscan__check_length(ctx, "heads", heads, "in", in));
    TRY(vscan__check_like(ctx, "out", out, "in", in));
    TRY(vscan__check_same_or_apart(ctx, "out", out, "in", in));
    return vscan__check_apart(ctx, "heads", heads, "out", out);
}

/* Buffers that have been checked. */
static vscan_status run_distribute(vscan_ctx *ctx, vscan_end which, const vscan_buffer *in,
                                   const vscan_buffer *heads, const vscan_buffer *out) {
    const struct vscan__distribution distribution = {.n = in->n,
                                                     .in = in->pointer,
                                                     .flags = heads->pointer,
                                                     .out = out->pointer,
                                                     .type = (int32_t)in->type,
                                                     .flag_type = (int32_t)heads->type,
                                                     .backward = which == VSCAN_LAST};
    return ctx->backend->distribute_segmented(ctx, &distribution);
}

vscan_status vscan_distribute_segmented(vscan_ctx *ctx, vscan_end which, const vscan_buffer *in,
                                        const vscan_buffer *heads, vscan_buffer *out) {
    VSCAN__ENTER(ctx);
    VSCAN__FIND(ctx, in, heads, out);
    if (which != VSCAN_FIRST && which != VSCAN_LAST)
        return vscan__refuse_enum(ctx, "which", (int32_t)which, "vscan_end");
    if (in->type == VSCAN_BIT)
        return VSCAN__FAIL(ctx, VSCAN_ERROR_TYPE,
                           "in is a buffer of type bit, which cannot be distributed");
    TRY(check_distribute(ctx, in, heads, out));
    return in->n == 0 ? VSCAN_OK : run_distribute(ctx, which, in, heads, out);
}

/* Totals to the last places of segments; then these to all places, in place. */
vscan_status vscan_distribute_totals(vscan_ctx *ctx, vscan_op op, const vscan_buffer *in,
                                     const vscan_buffer *heads, vscan_buffer *out) {
    VSCAN__ENTER(ctx);
    VSCAN__FIND(ctx, in, heads, out);
    enum vscan__pair pair;
    TRY(vscan__check_pair(ctx, op, in->type, &pair));
    TRY(check_distribute(ctx, in, heads, out));
    if (in->n == 0) return VSCAN_OK;
    const struct vscan__scan scan = {.n = in->n,
                                     .in = in->pointer,
                                     .out = out->pointer,
                                     .flag_type = (int32_t)heads->type,
                                     .flags = heads->pointer};
    TRY(ctx->backend->pairs[pair].reduce_segmented(ctx, &scan));
    return run_distribute(ctx, VSCAN_LAST, out, heads, out);
}

/* ---- Flags, offsets, lengths ----------------------------------------------------------------- */

/* So that ints can hold the position after the last element. */
static vscan_status check_countable(vscan_ctx *ctx, const char *name, const vscan_buffer *positions,
                                    const char *of_name, const vscan_buffer *of) {
    if (positions->type == VSCAN_LONG || of->n <= INT32_MAX) return VSCAN_OK;
    return VSCAN__FAIL(ctx, VSCAN_ERROR_LENGTH,
                       "%s has %" PRId64 " elements, and %s of type int cannot count that many",
                       of_name, of->n, name);
}

/* Checks what both functions below take. *pack becomes their work. */
static vscan_status check_positions_of(vscan_ctx *ctx, const struct vscan__named *flags,
                                       const struct vscan__named *positions,
                                       const vscan_count_options *options,
                                       struct vscan__pack *pack) {
    const vscan_buffer *const from = flags->buffer, *const to = positions->buffer;
    TRY(vscan__check_flags(ctx, flags->name, from));
    TRY(vscan__check_integers(ctx, positions->name, to));
    TRY(check_countable(ctx, positions->name, to, flags->name, from));
    TRY(vscan__check_apart(ctx, positions->name, to, flags->name, from));
    *pack = (struct vscan__pack){.n = from->n,
                                 .length = to->n,
                                 .flags = from->pointer,
                                 .out = to->pointer,
                                 .type = (int32_t)to->type,
                                 .flag_type = (int32_t)from->type};
    const struct vscan__named named[] = {*flags, *positions, {0}};
    return vscan__check_count(ctx, options, named, &pack->count);
}

vscan_status vscan_heads_to_offsets(vscan_ctx *ctx, const vscan_buffer *heads,
                                    vscan_buffer *offsets, const vscan_count_options *options) {
    VSCAN__ENTER(ctx);
    VSCAN__FIND(ctx, heads, offsets);
    const struct vscan__named from = {"heads", heads}, to = {"offsets", offsets};
    struct vscan__pack pack;
    TRY(check_positions_of(ctx, &from, &to, options, &pack));
    pack.first_is_set = 1;
    if (pack.length < 1)
        return VSCAN__FAIL(ctx, VSCAN_ERROR_LENGTH,
                           "offsets has no elements, must have one more than there are segments");
    if (pack.n > 0) return ctx->backend->flags_to_offsets(ctx, &pack);
    TRY(ctx->backend->fill(ctx, (vscan_type)pack.type, pack.out, 0, 1,
                           (union vscan__value){.as_long = 0}));
    return vscan__count_none(ctx, pack.count);
}

vscan_status vscan_flags_to_positions(vscan_ctx *ctx, const vscan_buffer *flags,
                                      vscan_buffer *positions, const vscan_count_options *options) {
    VSCAN__ENTER(ctx);
    VSCAN__FIND(ctx, flags, positions);
    const struct vscan__named from = {"flags", flags}, to = {"positions", positions};
    struct vscan__pack pack;
    TRY(check_positions_of(ctx, &from, &to, options, &pack));
    if (pack.n > 0) return ctx->backend->flags_to_offsets(ctx, &pack);
    return vscan__count_none(ctx, pack.count);
}

vscan_status vscan_offsets_to_heads(vscan_ctx *ctx, const vscan_buffer *offsets,
                                    vscan_buffer *heads) {
    VSCAN__ENTER(ctx);
    VSCAN__FIND(ctx, offsets, heads);
    TRY(vscan__check_integers(ctx, "offsets", offsets));
    TRY(vscan__check_flags(ctx, "heads", heads));
    TRY(vscan__check_apart(ctx, "heads", heads, "offsets", offsets));
    if (offsets->n == 0 && heads->n == 0) return VSCAN_OK;
    const struct vscan__ranges ranges = {.n = offsets->n,
                                         .length = heads->n,
                                         .in = offsets->pointer,
                                         .out = heads->pointer,
                                         .type = (int32_t)offsets->type,
                                         .out_type = (int32_t)heads->type};
    return ctx->backend->mark(ctx, &ranges);
}

/* One more offset than there are lengths. */
static vscan_status check_lengths(vscan_ctx *ctx, const vscan_buffer *offsets,
                                  const vscan_buffer *lengths) {
    TRY(vscan__check_offsets(ctx, offsets));
    TRY(vscan__check_integers(ctx, "lengths", lengths));
    TRY(vscan__check_one_less(ctx, "lengths", lengths, offsets));
    return vscan__check_apart(ctx, "lengths", lengths, "offsets", offsets);
}

vscan_status vscan_offsets_to_lengths(vscan_ctx *ctx, const vscan_buffer *offsets,
                                      vscan_buffer *lengths) {
    VSCAN__ENTER(ctx);
    VSCAN__FIND(ctx, offsets, lengths);
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

vscan_status vscan_lengths_to_offsets(vscan_ctx *ctx, const vscan_buffer *lengths,
                                      vscan_buffer *offsets) {
    VSCAN__ENTER(ctx);
    VSCAN__FIND(ctx, lengths, offsets);
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
