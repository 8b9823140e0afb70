/* SPDX-License-Identifier: Apache-2.0 */
/* vscan_scan and vscan_scan_segmented: check the arguments, look up the row, call. */
#include "api/check.h"

/* ---- Scan ------------------------------------------------------------------------------------ */

/* The total's element: what may lie where, and its place in the scan. */
static vscan_status check_total(vscan_ctx *ctx, const vscan_scan_options *options,
                                const vscan_buffer *in, const vscan_buffer *out,
                                struct vscan__scan *scan) {
    const vscan_buffer *total = options->total;
    TRY(vscan__check_element(ctx, "options->total", &total, out->type));
    TRY(vscan__check_apart(ctx, "options->total", total, "in", in));
    TRY(vscan__check_apart(ctx, "options->total", total, "out", out));
    scan->total = total->pointer; /* an element is initial_buffer's, or apart from it */
    return VSCAN_OK;
}

vscan_status vscan_scan(vscan_ctx *ctx, vscan_op op, const vscan_buffer *in, vscan_buffer *out,
                        const vscan_scan_options *options) {
    VSCAN__ENTER(ctx);
    VSCAN__FIND(ctx, in, out);
    const bool widens = vscan__widens(op, in, out->type);
    enum vscan__pair pair;
    TRY(vscan__check_pair(ctx, op, widens ? VSCAN_LONG : in->type, &pair));
    if (widens) {
        TRY(vscan__check_length(ctx, "out", out, "in", in));
        TRY(vscan__check_apart(ctx, "out", out, "in", in));
    } else {
        if (op == VSCAN_PLUS && in->type == VSCAN_INT) TRY(vscan__check_integers(ctx, "out", out));
        TRY(vscan__check_like(ctx, "out", out, "in", in));
        TRY(vscan__check_same_or_apart(ctx, "out", out, "in", in));
    }

    struct vscan__scan scan = {.n = in->n, .in = in->pointer, .out = out->pointer};
    if (options != NULL) {
        vscan_scan_options set = {0};
        TRY(vscan__check_options(ctx, options, VSCAN__FIRST_SCAN, sizeof set, &set));
        TRY(vscan__check_kind(ctx, set.kind));
        TRY(vscan__check_direction(ctx, "options->direction", set.direction));
        TRY(vscan__check_initial(ctx, &set.initial, &set.initial_buffer, out->type, out, &scan));
        if (set.total != NULL) TRY(check_total(ctx, &set, in, out, &scan));
        if (set.carry != NULL) TRY(vscan__check_carry(ctx, set.carry, pair, set.direction, &scan));
        scan.exclusive = set.kind == VSCAN_EXCLUSIVE;
        scan.backward = set.direction == VSCAN_BACKWARD;
    }
    if (widens && in->n > 0) return ctx->backend->widening(ctx, &scan);
    return ctx->backend->pairs[pair].scan(ctx, &scan);
}

/* ---- Segmented scan -------------------------------------------------------------------------- */

/* totals, count: of the right type, and apart from everything else. */
static vscan_status check_results(vscan_ctx *ctx, const vscan_scan_segmented_options *options,
                                  const vscan_buffer *in, const vscan_buffer *heads,
                                  const vscan_buffer *out, struct vscan__scan *scan) {
    const vscan_buffer *totals = options->totals, *count = options->count;
    const struct {
        const char *name;
        const vscan_buffer *buffer;
    } others[] = {{"in", in},
                  {"heads", heads},
                  {"out", out},
                  {"options->initial_buffer", options->initial_buffer}};
    enum { OTHERS = sizeof others / sizeof others[0] };

    if (totals != NULL) {
        TRY(vscan__check_buffer(ctx, "options->totals", &totals));
        if (totals->type != in->type)
            return VSCAN__FAIL(ctx, VSCAN_ERROR_TYPE, "options->totals is not of in's type");
        for (int i = 0; i < OTHERS; i++)
            TRY(vscan__check_apart(ctx, "options->totals", totals, others[i].name,
                                   others[i].buffer));
        /* For a backend NULL means that no totals are wanted. Here they are, and there may be room for
           none: any address will do, as nothing is written there. */
        scan->totals = totals->n > 0 ? totals->pointer : ctx->scratch;
        scan->totals_length = totals->n;
    }
    if (count != NULL) {
        TRY(vscan__check_element(ctx, "options->count", &count, VSCAN_LONG));
        for (int i = 0; i < OTHERS; i++)
            TRY(vscan__check_apart(ctx, "options->count", count, others[i].name, others[i].buffer));
        TRY(vscan__check_apart(ctx, "options->count", count, "options->totals", totals));
        scan->count = count->pointer;
    }
    return VSCAN_OK;
}

vscan_status vscan_scan_segmented(vscan_ctx *ctx, vscan_op op, const vscan_buffer *in,
                                  const vscan_buffer *heads, vscan_buffer *out,
                                  const vscan_scan_segmented_options *options) {
    VSCAN__ENTER(ctx);
    VSCAN__FIND(ctx, in, heads, out);
    enum vscan__pair pair;
    TRY(vscan__check_pair(ctx, op, in->type, &pair));
    TRY(vscan__check_flags(ctx, "heads", heads));
    TRY(vscan__check_length(ctx, "heads", heads, "in", in));
    TRY(vscan__check_like(ctx, "out", out, "in", in));
    TRY(vscan__check_same_or_apart(ctx, "out", out, "in", in));
    TRY(vscan__check_apart(ctx, "heads", heads, "out", out));

    struct vscan__scan scan = {.n = in->n,
                               .in = in->pointer,
                               .out = out->pointer,
                               .flag_type = (int32_t)heads->type,
                               .flags = heads->pointer};
    if (options != NULL) {
        vscan_scan_segmented_options set = {0};
        TRY(vscan__check_options(ctx, options, VSCAN__FIRST_SCAN_SEGMENTED, sizeof set, &set));
        TRY(vscan__check_kind(ctx, set.kind));
        TRY(vscan__check_direction(ctx, "options->direction", set.direction));
        TRY(vscan__check_initial(ctx, &set.initial, &set.initial_buffer, in->type, out, &scan));
        if (set.carry != NULL) TRY(vscan__check_carry(ctx, set.carry, pair, set.direction, &scan));
        TRY(check_results(ctx, &set, in, heads, out, &scan));
        scan.exclusive = set.kind == VSCAN_EXCLUSIVE;
        scan.backward = set.direction == VSCAN_BACKWARD;
    }
    return ctx->backend->pairs[pair].scan_segmented(ctx, &scan);
}
