/* SPDX-License-Identifier: Apache-2.0 */
/* Split, segmented split, and the positions of either: check the arguments, call. */
#include "api/check.h"

#include <stddef.h>

/* Vectors that a call works on; NULL: there is none. */
struct vectors {
    const vscan_buffer *in, *flags, *heads, *out;
};

/* The flags, and the heads where there are any: of the length of another vector, apart from out. */
static vscan_status check_flags(vscan_ctx *ctx, const struct vectors *v, const char *like_name,
                                const vscan_buffer *like) {
    TRY(vscan__check_flags(ctx, "flags", v->flags));
    TRY(vscan__check_length(ctx, "flags", v->flags, like_name, like));
    TRY(vscan__check_apart(ctx, "flags", v->flags, "out", v->out));
    if (v->heads == NULL) return VSCAN_OK;
    TRY(vscan__check_flags(ctx, "heads", v->heads));
    TRY(vscan__check_length(ctx, "heads", v->heads, like_name, like));
    return vscan__check_apart(ctx, "heads", v->heads, "out", v->out);
}

/* Checks the options, runs the slot. */
static vscan_status run(vscan_ctx *ctx, const struct vectors *v,
                        const vscan_count_options *options) {
    struct vscan__split split = {.n = v->flags->n,
                                 .flags = v->flags->pointer,
                                 .out = v->out->pointer,
                                 .type = (int32_t)v->out->type,
                                 .flag_type = (int32_t)v->flags->type};
    if (v->in != NULL) split.in = v->in->pointer;
    if (v->heads != NULL) {
        split.heads = v->heads->pointer;
        split.head_type = (int32_t)v->heads->type;
    }
    const struct vscan__named named[] = {
        {"in", v->in}, {"flags", v->flags}, {"heads", v->heads}, {"out", v->out}, {0}};
    TRY(vscan__check_count(ctx, options, named, &split.count));
    return split.n > 0 ? ctx->backend->split(ctx, &split) : vscan__count_none(ctx, split.count);
}

/* ---- Split ----------------------------------------------------------------------------------- */

static vscan_status split(vscan_ctx *ctx, const struct vectors *v,
                          const vscan_count_options *options) {
    if (v->in->type == VSCAN_BIT)
        return VSCAN__FAIL(ctx, VSCAN_ERROR_TYPE,
                           "in is a buffer of type bit, which cannot be split");
    TRY(vscan__check_like(ctx, "out", v->out, "in", v->in));
    TRY(vscan__check_apart(ctx, "out", v->out, "in", v->in));
    TRY(check_flags(ctx, v, "in", v->in));
    return run(ctx, v, options);
}

vscan_status vscan_split(vscan_ctx *ctx, const vscan_buffer *in, const vscan_buffer *flags,
                         vscan_buffer *out, const vscan_count_options *options) {
    VSCAN__ENTER(ctx);
    VSCAN__FIND(ctx, in, flags, out);
    const struct vectors v = {in, flags, NULL, out};
    return split(ctx, &v, options);
}

vscan_status vscan_split_segmented(vscan_ctx *ctx, const vscan_buffer *in,
                                   const vscan_buffer *flags, const vscan_buffer *heads,
                                   vscan_buffer *out, const vscan_count_options *options) {
    VSCAN__ENTER(ctx);
    VSCAN__FIND(ctx, in, flags, heads, out);
    const struct vectors v = {in, flags, heads, out};
    return split(ctx, &v, options);
}

/* ---- Positions ------------------------------------------------------------------------------- */

static vscan_status positions(vscan_ctx *ctx, const struct vectors *v,
                              const vscan_count_options *options) {
    TRY(vscan__check_numbers(ctx, "out", v->out, "hold positions that far"));
    TRY(check_flags(ctx, v, "out", v->out));
    return run(ctx, v, options);
}

vscan_status vscan_split_positions(vscan_ctx *ctx, const vscan_buffer *flags, vscan_buffer *out,
                                   const vscan_count_options *options) {
    VSCAN__ENTER(ctx);
    VSCAN__FIND(ctx, flags, out);
    const struct vectors v = {NULL, flags, NULL, out};
    return positions(ctx, &v, options);
}

vscan_status vscan_split_segmented_positions(vscan_ctx *ctx, const vscan_buffer *flags,
                                             const vscan_buffer *heads, vscan_buffer *out,
                                             const vscan_count_options *options) {
    VSCAN__ENTER(ctx);
    VSCAN__FIND(ctx, flags, heads, out);
    const struct vectors v = {NULL, flags, heads, out};
    return positions(ctx, &v, options);
}
