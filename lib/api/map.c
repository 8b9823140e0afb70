/* SPDX-License-Identifier: Apache-2.0 */
/* The functions that work element by element: check the arguments, look up the row, call. */
#include "api/check.h"

#include <stddef.h>

/* ---- Rows ------------------------------------------------------------------------------------ */

/* Tables of 1 + the row, so that 0 is a row that is missing. */
enum {
    UNARIES = VSCAN_UNARY_ROUND_EVEN - VSCAN_UNARY_NEGATE + 1,
    BINARIES = VSCAN_BINARY_SHIFT_RIGHT - VSCAN_BINARY_ADD + 1
};

#define X(row, OP, TYPE, T, result)                                                                \
    [VSCAN__AT_TYPE(VSCAN_##TYPE)][VSCAN_UNARY_##OP - VSCAN_UNARY_NEGATE] = 1 + vscan__unary_##row,
static const uint8_t unary_rows[VSCAN__TYPES][UNARIES] = {VSCAN__UNARY(X)};
#undef X

#define X(row, OP, TYPE, T, result, by_0)                                                          \
    [VSCAN__AT_TYPE(VSCAN_##TYPE)][VSCAN_BINARY_##OP - VSCAN_BINARY_ADD] = 1 + vscan__binary_##row,
static const uint8_t binary_rows[VSCAN__TYPES][BINARIES] = {VSCAN__BINARY(X)};
#undef X

#define X(row, FROM, F, TO, T, result)                                                             \
    [VSCAN__AT_TYPE(VSCAN_##FROM)][VSCAN__AT_TYPE(VSCAN_##TO)] = 1 + vscan__convert_##row,
static const uint8_t convert_rows[VSCAN__TYPES][VSCAN__TYPES] = {VSCAN__CONVERT(X)};
#undef X

static bool is_flag(vscan_type type) {
    return type == VSCAN_BYTE || type == VSCAN_BIT;
}

static vscan_status no_row(vscan_ctx *ctx, const char *name, vscan_type type) {
    return VSCAN__FAIL(ctx, VSCAN_ERROR_PAIR,
                       "%s is a buffer of type %s, which this operator does not work on", name,
                       vscan__type_name(type));
}

/* ---- Unary ----------------------------------------------------------------------------------- */

vscan_status vscan_map_unary(vscan_ctx *ctx, vscan_unary op, const vscan_buffer *in,
                             vscan_buffer *out) {
    VSCAN__ENTER(ctx);
    VSCAN__FIND(ctx, in, out);
    if ((unsigned)op < VSCAN_UNARY_NEGATE || (unsigned)op > VSCAN_UNARY_ROUND_EVEN)
        return vscan__refuse_enum(ctx, "op", (int32_t)op, "vscan_unary");
    const bool logic = op == VSCAN_UNARY_NOT && is_flag(in->type);
    const int32_t row = unary_rows[VSCAN__AT_TYPE(in->type)][op - VSCAN_UNARY_NEGATE] - 1;
    if (row < 0 && !logic) return no_row(ctx, "in", in->type);
    TRY(vscan__check_like(ctx, "out", out, "in", in));
    TRY(vscan__check_same_or_apart(ctx, "out", out, "in", in));
    if (in->n == 0) return VSCAN_OK;
    const struct vscan__map map = {.n = in->n,
                                   .a = in->pointer,
                                   .out = out->pointer,
                                   .row = logic ? vscan__logic_not : row,
                                   .type = (int32_t)in->type,
                                   .out_type = (int32_t)in->type};
    return logic ? ctx->backend->logic(ctx, &map) : ctx->backend->unary(ctx, &map);
}

/* ---- Binary ---------------------------------------------------------------------------------- */

static int32_t binary_row(vscan_binary op, vscan_type type) {
    return binary_rows[VSCAN__AT_TYPE(type)][op - VSCAN_BINARY_ADD] - 1;
}

static vscan_status check_binary(vscan_ctx *ctx, vscan_binary op) {
    if ((unsigned)op >= VSCAN_BINARY_ADD && (unsigned)op <= VSCAN_BINARY_SHIFT_RIGHT)
        return VSCAN_OK;
    return vscan__refuse_enum(ctx, "op", (int32_t)op, "vscan_binary");
}

/* What an operator is on flags, or -1. */
static int32_t logic_of(vscan_binary op, vscan_type type) {
    if (!is_flag(type)) return -1;
    switch (op) {
    case VSCAN_BINARY_AND:
        return vscan__logic_and;
    case VSCAN_BINARY_OR:
        return vscan__logic_or;
    case VSCAN_BINARY_XOR:
        return vscan__logic_xor;
    default:
        return -1;
    }
}

vscan_status vscan_map_binary(vscan_ctx *ctx, vscan_binary op, const vscan_buffer *a,
                              const vscan_buffer *b, vscan_buffer *out) {
    VSCAN__ENTER(ctx);
    VSCAN__FIND(ctx, a, b, out);
    TRY(check_binary(ctx, op));
    const int32_t row = binary_row(op, a->type), logic = logic_of(op, a->type);
    if (row < 0 && logic < 0) return no_row(ctx, "a", a->type);
    TRY(vscan__check_like(ctx, "b", b, "a", a));
    TRY(vscan__check_like(ctx, "out", out, "a", a));
    TRY(vscan__check_same_or_apart(ctx, "out", out, "a", a));
    TRY(vscan__check_same_or_apart(ctx, "out", out, "b", b));
    if (a->n == 0) return VSCAN_OK;
    const struct vscan__map map = {.n = a->n,
                                   .a = a->pointer,
                                   .b = b->pointer,
                                   .out = out->pointer,
                                   .row = logic >= 0 ? logic : row,
                                   .type = (int32_t)a->type,
                                   .out_type = (int32_t)a->type};
    return logic >= 0 ? ctx->backend->logic(ctx, &map) : ctx->backend->binary(ctx, &map);
}

/* A vector, named name, and a scalar on its left or right. */
static vscan_status scalar(vscan_ctx *ctx, vscan_binary op, const char *name,
                           const vscan_buffer *vector, const char *value_name, const void *value,
                           bool left, const vscan_buffer *out) {
    TRY(check_binary(ctx, op));
    if (value == NULL) return VSCAN__FAIL(ctx, VSCAN_ERROR_NULL, "%s is NULL", value_name);
    const int32_t row = binary_row(op, vector->type);
    if (row < 0) return no_row(ctx, name, vector->type);
    TRY(vscan__check_like(ctx, "out", out, name, vector));
    TRY(vscan__check_same_or_apart(ctx, "out", out, name, vector));
    if (vector->n == 0) return VSCAN_OK;
    const struct vscan__map map = {.n = vector->n,
                                   .a = left ? NULL : vector->pointer,
                                   .b = left ? vector->pointer : NULL,
                                   .out = out->pointer,
                                   .row = row,
                                   .type = (int32_t)vector->type,
                                   .out_type = (int32_t)vector->type,
                                   .scalar = vscan__load(vector->type, value)};
    return ctx->backend->binary(ctx, &map);
}

vscan_status vscan_map_right(vscan_ctx *ctx, vscan_binary op, const vscan_buffer *a,
                             const void *right, vscan_buffer *out) {
    VSCAN__ENTER(ctx);
    VSCAN__FIND(ctx, a, out);
    return scalar(ctx, op, "a", a, "right", right, false, out);
}

vscan_status vscan_map_left(vscan_ctx *ctx, vscan_binary op, const void *left,
                            const vscan_buffer *b, vscan_buffer *out) {
    VSCAN__ENTER(ctx);
    VSCAN__FIND(ctx, b, out);
    return scalar(ctx, op, "b", b, "left", left, true, out);
}

/* ---- Comparison ------------------------------------------------------------------------------ */

/* b is NULL: *right stands in its place. */
static vscan_status compare(vscan_ctx *ctx, vscan_relation relation, const vscan_buffer *a,
                            const vscan_buffer *b, const void *right, const vscan_buffer *flags) {
    int32_t row, exchanged, turned;
    const bool by_value = b == NULL;
    if (by_value && right == NULL) return VSCAN__FAIL(ctx, VSCAN_ERROR_NULL, "right is NULL");
    TRY(vscan__check_relation(ctx, relation, "a", a, &row, &exchanged, &turned));
    if (!by_value) TRY(vscan__check_like(ctx, "b", b, "a", a));
    TRY(vscan__check_flags(ctx, "flags", flags));
    TRY(vscan__check_length(ctx, "flags", flags, "a", a));
    TRY(vscan__check_same_or_apart(ctx, "flags", flags, "a", a));
    if (!by_value) TRY(vscan__check_same_or_apart(ctx, "flags", flags, "b", b));
    if (a->n == 0) return VSCAN_OK;
    const void *other = by_value ? NULL : b->pointer;
    struct vscan__map map = {.n = a->n,
                             .a = exchanged ? other : a->pointer,
                             .b = exchanged ? a->pointer : other,
                             .out = flags->pointer,
                             .row = row,
                             .type = (int32_t)a->type,
                             .out_type = (int32_t)flags->type,
                             .turned = turned};
    if (by_value) map.scalar = vscan__load(a->type, right);
    return ctx->backend->compare(ctx, &map);
}

vscan_status vscan_compare(vscan_ctx *ctx, vscan_relation relation, const vscan_buffer *a,
                           const vscan_buffer *b, vscan_buffer *flags) {
    VSCAN__ENTER(ctx);
    VSCAN__FIND(ctx, a, b, flags);
    return compare(ctx, relation, a, b, NULL, flags);
}

vscan_status vscan_compare_right(vscan_ctx *ctx, vscan_relation relation, const vscan_buffer *a,
                                 const void *right, vscan_buffer *flags) {
    VSCAN__ENTER(ctx);
    VSCAN__FIND(ctx, a, flags);
    return compare(ctx, relation, a, NULL, right, flags);
}

/* ---- Select ---------------------------------------------------------------------------------- */

/* a or b may be NULL: a value stands in its place. */
static vscan_status select_elements(vscan_ctx *ctx, const vscan_buffer *flags,
                                    const vscan_buffer *a, const vscan_buffer *b,
                                    const char *value_name, const void *value,
                                    const vscan_buffer *out) {
    if (value_name != NULL && value == NULL)
        return VSCAN__FAIL(ctx, VSCAN_ERROR_NULL, "%s is NULL", value_name);
    const vscan_buffer *vector = a != NULL ? a : b;
    const char *name = a != NULL ? "a" : "b";
    TRY(vscan__check_flags(ctx, "flags", flags));
    TRY(vscan__check_length(ctx, "flags", flags, name, vector));
    if (a != NULL && b != NULL) TRY(vscan__check_like(ctx, "b", b, "a", a));
    TRY(vscan__check_like(ctx, "out", out, name, vector));
    if (a != NULL) TRY(vscan__check_same_or_apart(ctx, "out", out, "a", a));
    if (b != NULL) TRY(vscan__check_same_or_apart(ctx, "out", out, "b", b));
    TRY(vscan__check_apart(ctx, "flags", flags, "out", out));
    if (vector->n == 0) return VSCAN_OK;
    struct vscan__map map = {.n = vector->n,
                             .a = a != NULL ? a->pointer : NULL,
                             .b = b != NULL ? b->pointer : NULL,
                             .flags = flags->pointer,
                             .out = out->pointer,
                             .type = (int32_t)vector->type,
                             .out_type = (int32_t)vector->type,
                             .flag_type = (int32_t)flags->type};
    if (value != NULL) map.scalar = vscan__load(vector->type, value);
    return ctx->backend->select(ctx, &map);
}

vscan_status vscan_select(vscan_ctx *ctx, const vscan_buffer *flags, const vscan_buffer *a,
                          const vscan_buffer *b, vscan_buffer *out) {
    VSCAN__ENTER(ctx);
    VSCAN__FIND(ctx, flags, a, b, out);
    return select_elements(ctx, flags, a, b, NULL, NULL, out);
}

vscan_status vscan_select_right(vscan_ctx *ctx, const vscan_buffer *flags, const vscan_buffer *a,
                                const void *right, vscan_buffer *out) {
    VSCAN__ENTER(ctx);
    VSCAN__FIND(ctx, flags, a, out);
    return select_elements(ctx, flags, a, NULL, "right", right, out);
}

vscan_status vscan_select_left(vscan_ctx *ctx, const vscan_buffer *flags, const void *left,
                               const vscan_buffer *b, vscan_buffer *out) {
    VSCAN__ENTER(ctx);
    VSCAN__FIND(ctx, flags, b, out);
    return select_elements(ctx, flags, NULL, b, "left", left, out);
}

/* ---- Conversion ------------------------------------------------------------------------------ */

vscan_status vscan_convert(vscan_ctx *ctx, const vscan_buffer *in, vscan_buffer *out) {
    VSCAN__ENTER(ctx);
    VSCAN__FIND(ctx, in, out);
    TRY(vscan__check_length(ctx, "out", out, "in", in));
    TRY(vscan__check_same_or_apart(ctx, "out", out, "in", in));
    if (in->n == 0) return VSCAN_OK;
    struct vscan__map map = {.n = in->n,
                             .a = in->pointer,
                             .out = out->pointer,
                             .row = -1,
                             .type = (int32_t)in->type,
                             .out_type = (int32_t)out->type};
    /* where the other side is flags, a uint8 is converted as a byte flag is */
    if (in->type == VSCAN_UINT8 && is_flag(out->type)) map.type = VSCAN_BYTE;
    if (out->type == VSCAN_UINT8 && is_flag(in->type)) map.out_type = VSCAN_BYTE;
    if (is_flag((vscan_type)map.type)) return ctx->backend->convert(ctx, &map);
    if (is_flag(out->type)) { /* what is unequal to 0: a scalar whose bits are all clear */
        int32_t exchanged;
        (void)vscan__check_relation(ctx, VSCAN_NOT_EQUAL, "in", in, &map.row, &exchanged,
                                    &map.turned); /* numbers can be compared */
        return ctx->backend->compare(ctx, &map);
    }
    if (in->type != out->type) {
        map.row = convert_rows[VSCAN__AT_TYPE(in->type)][VSCAN__AT_TYPE(out->type)] - 1;
        return ctx->backend->convert(ctx, &map);
    }
    if (in->pointer == out->pointer) return VSCAN_OK;
    return ctx->backend->copy(ctx, out->pointer, in->pointer, vscan__bytes(in->type, in->n));
}
