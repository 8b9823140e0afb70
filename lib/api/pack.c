/* SPDX-License-Identifier: Apache-2.0 */
/* Pack, enumerate, count: check the arguments, look up the row, call. */
#include "api/check.h"

#include <stddef.h>

/* ---- A call ---------------------------------------------------------------------------------- */

/* Vectors that a call works on; NULL: there is none. */
struct vectors {
    const vscan_buffer *in, *flags, *out;
};

/* Checks the options, runs the slot. */
static vscan_status run(vscan_ctx *ctx, vscan__pack_fn *slot, const struct vectors *vectors,
                        const vscan_count_options *options, struct vscan__pack *pack) {
    const struct vscan__named named[] = {
        {"in", vectors->in}, {"flags", vectors->flags}, {"out", vectors->out}, {0}};
    TRY(vscan__check_count(ctx, options, named, &pack->count));
    return pack->n > 0 ? slot(ctx, pack) : vscan__count_none(ctx, pack->count);
}

/* ---- Pack ------------------------------------------------------------------------------------ */

static vscan_status check_out(vscan_ctx *ctx, const vscan_buffer *in, const vscan_buffer *out) {
    TRY(vscan__check_type(ctx, "out", out, in->type));
    if (out->pointer == in->pointer) return VSCAN_OK;
    return vscan__check_apart(ctx, "out", out, "in", in);
}

vscan_status vscan_pack(vscan_ctx *ctx, const vscan_buffer *in, const vscan_buffer *flags,
                        vscan_buffer *out, const vscan_count_options *options) {
    VSCAN__ENTER(ctx);
    VSCAN__FIND(ctx, in, flags, out);
    if (in->type == VSCAN_BIT)
        return VSCAN__FAIL(ctx, VSCAN_ERROR_TYPE,
                           "in is a buffer of type bit, which cannot be packed");
    TRY(vscan__check_flags(ctx, "flags", flags));
    TRY(vscan__check_length(ctx, "flags", flags, "in", in));
    TRY(check_out(ctx, in, out));
    TRY(vscan__check_apart(ctx, "flags", flags, "out", out));
    struct vscan__pack work = {.n = in->n,
                               .length = out->n,
                               .in = in->pointer,
                               .flags = flags->pointer,
                               .out = out->pointer,
                               .type = (int32_t)in->type,
                               .flag_type = (int32_t)flags->type};
    return run(ctx, ctx->backend->pack, &(struct vectors){in, flags, out}, options, &work);
}

vscan_status vscan_pack_compare(vscan_ctx *ctx, vscan_relation relation, const vscan_buffer *in,
                                const void *right, vscan_buffer *out,
                                const vscan_count_options *options) {
    VSCAN__ENTER(ctx);
    VSCAN__FIND(ctx, in, out);
    if (right == NULL) return VSCAN__FAIL(ctx, VSCAN_ERROR_NULL, "right is NULL");
    struct vscan__pack work = {
        .n = in->n, .length = out->n, .in = in->pointer, .out = out->pointer};
    work.type = (int32_t)in->type;
    TRY(vscan__check_relation(ctx, relation, "in", in, &work.row, &work.exchanged, &work.turned));
    TRY(check_out(ctx, in, out));
    work.scalar = vscan__load(in->type, right);
    return run(ctx, ctx->backend->pack, &(struct vectors){in, NULL, out}, options, &work);
}

/* ---- Enumerate ------------------------------------------------------------------------------- */

vscan_status vscan_enumerate(vscan_ctx *ctx, const vscan_buffer *flags, vscan_buffer *out,
                             const vscan_count_options *options) {
    VSCAN__ENTER(ctx);
    VSCAN__FIND(ctx, flags, out);
    TRY(vscan__check_flags(ctx, "flags", flags));
    TRY(vscan__check_numbers(ctx, "out", out, "count that many"));
    TRY(vscan__check_length(ctx, "out", out, "flags", flags));
    TRY(vscan__check_same_or_apart(ctx, "out", out, "flags", flags));
    struct vscan__pack work = {.n = flags->n,
                               .length = out->n,
                               .flags = flags->pointer,
                               .out = out->pointer,
                               .type = (int32_t)out->type,
                               .flag_type = (int32_t)flags->type};
    return run(ctx, ctx->backend->enumerate, &(struct vectors){NULL, flags, out}, options, &work);
}

/* ---- Count ----------------------------------------------------------------------------------- */

vscan_status vscan_count(vscan_ctx *ctx, const vscan_buffer *flags, vscan_buffer *count) {
    VSCAN__ENTER(ctx);
    VSCAN__FIND(ctx, flags, count);
    TRY(vscan__check_flags(ctx, "flags", flags));
    TRY(vscan__check_one(ctx, "count", count, VSCAN_LONG));
    TRY(vscan__check_apart(ctx, "count", count, "flags", flags));
    if (flags->n == 0) return vscan__count_none(ctx, count->pointer);
    const struct vscan__pack work = {.n = flags->n,
                                     .flags = flags->pointer,
                                     .count = count->pointer,
                                     .flag_type = (int32_t)flags->type};
    return ctx->backend->count(ctx, &work);
}
