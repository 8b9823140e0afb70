/* SPDX-License-Identifier: Apache-2.0 */
/* Sorts: check the arguments, call. */
#include "api/check.h"

#include <inttypes.h>

static bool is_small(vscan_type type) {
    return type == VSCAN_BYTE || type == VSCAN_BIT || type == VSCAN_UINT8;
}

/* Which types can be keys and values, and of what size. */
static vscan_status check_types(vscan_ctx *ctx, vscan_type key, vscan_type value, bool has_values,
                                struct vscan__sort *sort) {
    if (is_small(key))
        return VSCAN__FAIL(ctx, VSCAN_ERROR_TYPE,
                           "keys are of type %s, must be int, float, double or long",
                           vscan__type_name(key));
    if (has_values && is_small(value))
        return VSCAN__FAIL(ctx, VSCAN_ERROR_TYPE,
                           "values are of type %s, must be int, float, double or long",
                           vscan__type_name(value));
    sort->key_size = (int32_t)vscan__element_size(key);
    sort->value_size = has_values ? (int32_t)vscan__element_size(value) : 0;
    sort->real = key == VSCAN_FLOAT || key == VSCAN_DOUBLE;
    sort->bits = 8 * sort->key_size;
    return VSCAN_OK;
}

/* ---- Vectors --------------------------------------------------------------------------------- */

/* out is of in's type and length: the very same elements, or apart. */
static vscan_status check_out(vscan_ctx *ctx, const char *in_name, const vscan_buffer *in,
                              const char *out_name, const vscan_buffer *out) {
    TRY(vscan__check_like(ctx, out_name, out, in_name, in));
    return vscan__check_same_or_apart(ctx, out_name, out, in_name, in);
}

/* The vectors of a call; NULL: there is none. values_out alone: it is for the permutation. */
struct vectors {
    const vscan_buffer *keys, *keys_out, *values, *values_out;
};

/* The values are the positions, which fill_positions writes where they are sorted. */
static vscan_status check_positions(vscan_ctx *ctx, const struct vectors *v) {
    TRY(vscan__check_integers(ctx, "values_out", v->values_out));
    TRY(vscan__check_length(ctx, "values_out", v->values_out, "keys", v->keys));
    if (v->values_out->type == VSCAN_INT && v->keys->n > INT32_MAX)
        return VSCAN__FAIL(ctx, VSCAN_ERROR_LENGTH,
                           "keys has %" PRId64 " elements, and values_out of type int cannot count "
                           "that many",
                           v->keys->n);
    return VSCAN_OK;
}

static vscan_status fill_positions(vscan_ctx *ctx, const struct vectors *v) {
    const vscan_buffer *out = v->values_out;
    if (v->values != NULL || out == NULL || out->n == 0) return VSCAN_OK;
    const struct vscan__map map = {
        .n = out->n, .out = out->pointer, .out_type = (int32_t)out->type, .step = 1};
    return ctx->backend->index(ctx, &map);
}

/* The handles become buffers. */
static vscan_status check_vectors(vscan_ctx *ctx, struct vectors *v, struct vscan__sort *sort) {
    const bool has_values = v->values != NULL || v->values_out != NULL;
    const bool positions = has_values && v->values == NULL;
    TRY(vscan__check_buffer(ctx, "keys", &v->keys));
    TRY(vscan__check_buffer(ctx, "keys_out", &v->keys_out));
    if (has_values && !positions) TRY(vscan__check_buffer(ctx, "values", &v->values));
    if (has_values) TRY(vscan__check_buffer(ctx, "values_out", &v->values_out));
    if (positions) TRY(check_positions(ctx, v));
    const vscan_buffer *keys = v->keys, *keys_out = v->keys_out, *values_out = v->values_out;
    const vscan_buffer *values = positions ? values_out : v->values;
    TRY(check_types(ctx, keys->type, has_values ? values->type : VSCAN_INT, has_values, sort));
    TRY(check_out(ctx, "keys", keys, "keys_out", keys_out));
    sort->n = keys->n;
    sort->keys = keys->pointer;
    sort->keys_out = keys_out->pointer;
    if (!has_values) return VSCAN_OK;
    if (!positions) {
        TRY(vscan__check_length(ctx, "values", values, "keys", keys));
        TRY(check_out(ctx, "values", values, "values_out", values_out));
        TRY(vscan__check_apart(ctx, "values", values, "keys_out", keys_out));
    }
    TRY(vscan__check_apart(ctx, "values_out", values_out, "keys", keys));
    TRY(vscan__check_apart(ctx, "values_out", values_out, "keys_out", keys_out));
    sort->values = values->pointer;
    sort->values_out = values_out->pointer;
    return VSCAN_OK;
}

/* ---- Options --------------------------------------------------------------------------------- */

static vscan_status check_options(vscan_ctx *ctx, const vscan_sort_options *options,
                                  struct vscan__sort *sort) {
    if (options == NULL) return VSCAN_OK;
    vscan_sort_options set = {0};
    TRY(vscan__check_options(ctx, options, VSCAN__FIRST_SORT, sizeof set, &set));
    if (set.order != VSCAN_ASCENDING && set.order != VSCAN_DESCENDING)
        return vscan__refuse_enum(ctx, "options->order", set.order, "vscan_order");
    if (set.unused != 0) return VSCAN__FAIL(ctx, VSCAN_ERROR_VALUE, "options->unused is not 0");
    sort->descending = set.order == VSCAN_DESCENDING;
    if (set.first_bit == 0 && set.bits == 0) return VSCAN_OK;
    if (sort->real)
        return VSCAN__FAIL(ctx, VSCAN_ERROR_VALUE,
                           "options->first_bit or bits is set, which is for keys of int and long");
    const int32_t all = sort->bits;
    if (set.first_bit < 0 || set.first_bit >= all)
        return VSCAN__FAIL(ctx, VSCAN_ERROR_VALUE,
                           "options->first_bit is %" PRId32 ", must be 0 to %" PRId32,
                           set.first_bit, all - 1);
    if (set.bits < 0 || set.bits > all - set.first_bit)
        return VSCAN__FAIL(ctx, VSCAN_ERROR_VALUE,
                           "options->bits is %" PRId32 ", must be 0 to %" PRId32
                           " from first_bit %" PRId32 " on",
                           set.bits, all - set.first_bit, set.first_bit);
    sort->first_bit = set.first_bit;
    sort->bits = set.bits != 0 ? set.bits : all - set.first_bit;
    return VSCAN_OK;
}

/* ---- Sort ------------------------------------------------------------------------------------ */

static vscan_status sort_all(vscan_ctx *ctx, struct vectors *vectors,
                             const vscan_sort_options *options) {
    struct vscan__sort sort = {0};
    TRY(check_vectors(ctx, vectors, &sort));
    TRY(check_options(ctx, options, &sort));
    if (sort.n == 0) return VSCAN_OK;
    TRY(fill_positions(ctx, vectors));
    return ctx->backend->sort(ctx, &sort);
}

vscan_status vscan_sort(vscan_ctx *ctx, const vscan_buffer *keys, const vscan_buffer *values,
                        vscan_buffer *keys_out, vscan_buffer *values_out,
                        const vscan_sort_options *options) {
    VSCAN__ENTER(ctx);
    struct vectors vectors = {keys, keys_out, values, values_out};
    return sort_all(ctx, &vectors, options);
}

static vscan_status sort_segmented(vscan_ctx *ctx, struct vectors *vectors,
                                   const vscan_buffer *offsets, const vscan_sort_options *options) {
    struct vscan__sort sort = {0};
    TRY(check_vectors(ctx, vectors, &sort));
    VSCAN__FIND(ctx, offsets);
    TRY(vscan__check_integers(ctx, "offsets", offsets));
    if (offsets->n == 0)
        return VSCAN__FAIL(ctx, VSCAN_ERROR_LENGTH,
                           "offsets has 0 elements, must have one more than there are segments");
    TRY(vscan__check_apart(ctx, "offsets", offsets, "keys_out", vectors->keys_out));
    TRY(vscan__check_apart(ctx, "offsets", offsets, "values_out", vectors->values_out));
    TRY(check_options(ctx, options, &sort));
    sort.offsets = offsets->pointer;
    sort.offset_type = (int32_t)offsets->type;
    sort.segments = offsets->n - 1;
    TRY(fill_positions(ctx, vectors));
    return ctx->backend->sort_segmented(ctx, &sort);
}

vscan_status vscan_sort_by_offsets(vscan_ctx *ctx, const vscan_buffer *keys,
                                   const vscan_buffer *values, const vscan_buffer *offsets,
                                   vscan_buffer *keys_out, vscan_buffer *values_out,
                                   const vscan_sort_options *options) {
    VSCAN__ENTER(ctx);
    struct vectors vectors = {keys, keys_out, values, values_out};
    return sort_segmented(ctx, &vectors, offsets, options);
}

/* ---- Reserve --------------------------------------------------------------------------------- */

vscan_status vscan_sort_reserve(vscan_ctx *ctx, vscan_type keys, vscan_type values, int64_t n) {
    VSCAN__ENTER(ctx);
    struct vscan__sort sort = {.n = n};
    int64_t bytes; /* of all that is needed, at most three times the vectors */
    TRY(vscan__check_a_type(ctx, "keys", keys));
    if (values != VSCAN_NONE) TRY(vscan__check_a_type(ctx, "values", values));
    TRY(vscan__check_size(ctx, keys, n, &bytes));
    if (values != VSCAN_NONE) TRY(vscan__check_size(ctx, values, n, &bytes));
    TRY(check_types(ctx, keys, values, values != VSCAN_NONE, &sort));
    if (n > PTRDIFF_MAX / 64)
        return VSCAN__FAIL(ctx, VSCAN_ERROR_OVERFLOW,
                           "n is %" PRId64 ": a sort of that many elements does not fit in the "
                           "address range",
                           n);
    return n == 0 ? VSCAN_OK : ctx->backend->reserve_sort(ctx, &sort);
}
