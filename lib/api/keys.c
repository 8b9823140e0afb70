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

/* ---- Runs ------------------------------------------------------------------------------------ */

/* Keys, whose runs are looked for. */
struct runs {
    const vscan_buffer *keys, *within, *keys_out, *count; /* all but keys may be NULL */
};

/* The members that are no keys of their own: apart from the others, of which the last one has no name. */
static vscan_status check_runs(vscan_ctx *ctx, struct runs *runs, struct vscan__named *others) {
    const vscan_buffer *const keys = runs->keys;
    TRY(check_keys(ctx, "keys", keys));
    if (runs->within != NULL) {
        TRY(vscan__check_buffer(ctx, "options->within", &runs->within));
        TRY(vscan__check_flags(ctx, "options->within", runs->within));
        TRY(vscan__check_length(ctx, "options->within", runs->within, "keys", keys));
    }
    if (runs->keys_out != NULL) TRY(vscan__check_type(ctx, "keys_out", runs->keys_out, keys->type));
    if (runs->count != NULL)
        TRY(vscan__check_element(ctx, "options->count", &runs->count, VSCAN_LONG));
    const struct vscan__named inputs[] = {{"keys", keys}, {"options->within", runs->within}};
    const struct vscan__named outputs[] = {{"keys_out", runs->keys_out},
                                           {"options->count", runs->count}};
    for (int o = 0; o < 2; o++) {
        if (outputs[o].buffer == NULL) continue;
        for (int i = 0; i < 2; i++)
            TRY(vscan__check_apart(ctx, outputs[o].name, outputs[o].buffer, inputs[i].name,
                                   inputs[i].buffer));
        for (const struct vscan__named *other = others; other->name != NULL; other++)
            TRY(vscan__check_apart(ctx, outputs[o].name, outputs[o].buffer, other->name,
                                   other->buffer));
    }
    if (runs->count == NULL) return VSCAN_OK;
    return vscan__check_apart(ctx, "options->count", runs->count, "keys_out", runs->keys_out);
}

/* Bytes of a vector between slots: a multiple of 16. */
static int64_t bytes_between(vscan_type type, int64_t n) {
    return (vscan__bytes(type, n) + 15) / 16 * 16;
}

/* The vectors of buffers that have been checked. */
static struct vscan__runs vectors_of(const struct runs *runs) {
    const vscan_buffer *const keys = runs->keys, *const within = runs->within;
    const vscan_buffer *const keys_out = runs->keys_out;
    return (struct vscan__runs){.n = keys->n,
                                .keys = keys->pointer,
                                .within = within != NULL ? within->pointer : NULL,
                                .keys_out = keys_out != NULL ? keys_out->pointer : NULL,
                                .keys_out_length = keys_out != NULL ? keys_out->n : -1,
                                .type = (int32_t)keys->type,
                                .within_type = within != NULL ? (int32_t)within->type : 0};
}

/* Marks where runs begin, and gives their keys, their number and, as the type says, their offsets. There are
   elements. */
static vscan_status find_runs(vscan_ctx *ctx, const struct vscan__runs *runs, void *heads,
                              const struct vscan__pack *offsets) {
    const struct vscan__keys work = {.n = runs->n,
                                     .keys = runs->keys,
                                     .flags = runs->within,
                                     .out = heads,
                                     .type = runs->type,
                                     .flag_type = runs->within_type,
                                     .out_type = VSCAN_BIT};
    TRY(ctx->backend->keys_to_heads(ctx, &work));
    struct vscan__pack pack = {.n = runs->n,
                               .length = runs->keys_out_length,
                               .in = runs->keys,
                               .flags = heads,
                               .out = runs->keys_out,
                               .type = runs->type,
                               .flag_type = VSCAN_BIT};
    if (runs->keys_out_length >= 0) TRY(ctx->backend->pack(ctx, &pack));
    pack = *offsets;
    pack.n = runs->n;
    pack.flags = heads;
    pack.flag_type = VSCAN_BIT;
    pack.first_is_set = 1;
    return ctx->backend->flags_to_offsets(ctx, &pack);
}

/* Offsets of runs that no caller sees: ints where they can count that many. */
static vscan_type type_between(int64_t n) {
    return n <= INT32_MAX ? VSCAN_INT : VSCAN_LONG;
}

/* Memory for the offsets of a scan's segments, and before them for so many bytes at *before: the scan gets the
   offsets and, where it has none, a place for the count. */
static vscan_status offsets_between(vscan_ctx *ctx, struct vscan__scan *scan, int64_t bytes,
                                    void **before, struct vscan__pack *pack) {
    const vscan_type type = type_between(scan->n);
    const int64_t offsets = bytes_between(type, scan->n + 1);
    TRY(ctx->backend->between(ctx, bytes + offsets + 16, before));
    char *const at = (char *)*before + bytes;
    scan->offsets = at;
    scan->offset_type = (int32_t)type;
    if (scan->count == NULL) scan->count = (void *)(at + offsets);
    *pack = (struct vscan__pack){
        .length = scan->n + 1, .out = at, .type = (int32_t)type, .count = scan->count};
    return VSCAN_OK;
}

vscan_status vscan__reduce_runs(vscan_ctx *ctx, const struct vscan__runs *runs,
                                vscan__scan_fn *by_offsets, struct vscan__scan *scan) {
    struct vscan__pack pack;
    void *heads;
    TRY(offsets_between(ctx, scan, bytes_between(VSCAN_BIT, runs->n), &heads, &pack));
    TRY(find_runs(ctx, runs, heads, &pack));
    return by_offsets(ctx, scan);
}

vscan_status vscan__reduce_heads(vscan_ctx *ctx, vscan__scan_fn *by_offsets,
                                 struct vscan__scan *scan) {
    struct vscan__pack pack;
    void *none;
    TRY(offsets_between(ctx, scan, 0, &none, &pack));
    pack.n = scan->n;
    pack.flags = scan->flags;
    pack.flag_type = scan->flag_type;
    pack.first_is_set = 1;
    TRY(ctx->backend->flags_to_offsets(ctx, &pack));
    return by_offsets(ctx, scan);
}

vscan_status vscan_runs(vscan_ctx *ctx, const vscan_buffer *keys, vscan_buffer *keys_out,
                        vscan_buffer *offsets, const vscan_runs_options *options) {
    VSCAN__ENTER(ctx);
    VSCAN__FIND(ctx, keys);
    if (keys_out != NULL) VSCAN__FIND(ctx, keys_out);
    if (offsets != NULL) VSCAN__FIND(ctx, offsets);
    vscan_runs_options set = {0};
    if (options != NULL)
        TRY(vscan__check_options(ctx, options, VSCAN__FIRST_RUNS, sizeof set, &set));
    struct runs runs = {keys, set.within, keys_out, set.count};
    TRY(check_runs(ctx, &runs, (struct vscan__named[]){{"offsets", offsets}, {0}}));
    if (offsets != NULL) {
        TRY(vscan__check_integers(ctx, "offsets", offsets));
        if (offsets->n < 1)
            return VSCAN__FAIL(ctx, VSCAN_ERROR_LENGTH,
                               "offsets has no elements, must have one more than there are runs");
        if (offsets->type == VSCAN_INT && keys->n > INT32_MAX)
            return VSCAN__FAIL(ctx, VSCAN_ERROR_LENGTH,
                               "keys has %" PRId64 " elements, and offsets of type int cannot "
                               "count that many",
                               keys->n);
        TRY(vscan__check_apart(ctx, "offsets", offsets, "keys", keys));
        TRY(vscan__check_apart(ctx, "offsets", offsets, "options->within", runs.within));
    }
    int64_t *const count = runs.count != NULL ? runs.count->pointer : NULL;
    if (keys->n == 0) {
        if (offsets != NULL)
            TRY(ctx->backend->fill(ctx, offsets->type, offsets->pointer, 0, 1,
                                   (union vscan__value){.as_long = 0}));
        return vscan__count_none(ctx, count);
    }
    const int64_t heads = bytes_between(VSCAN_BIT, keys->n);
    const vscan_type type = offsets != NULL ? offsets->type : type_between(keys->n);
    void *memory;
    TRY(ctx->backend->between(ctx, heads + (offsets != NULL ? 0 : bytes_between(type, keys->n + 1)),
                              &memory));
    const struct vscan__pack pack = {.length = offsets != NULL ? offsets->n : keys->n + 1,
                                     .out = offsets != NULL ? offsets->pointer
                                                            : (char *)memory + heads,
                                     .type = (int32_t)type,
                                     .count = count};
    const struct vscan__runs vectors = vectors_of(&runs);
    return find_runs(ctx, &vectors, memory, &pack);
}

vscan_status vscan_reduce_by_key(vscan_ctx *ctx, vscan_op op, const vscan_buffer *keys,
                                 const vscan_buffer *in, vscan_buffer *keys_out,
                                 vscan_buffer *totals, const vscan_reduce_by_key_options *options) {
    VSCAN__ENTER(ctx);
    VSCAN__FIND(ctx, keys, in);
    if (keys_out != NULL) VSCAN__FIND(ctx, keys_out);
    VSCAN__FIND(ctx, totals);
    enum vscan__pair pair;
    TRY(vscan__check_pair(ctx, op, in->type, &pair));
    TRY(vscan__check_length(ctx, "in", in, "keys", keys));
    TRY(vscan__check_results(ctx, op, in, "totals", totals));
    vscan_reduce_by_key_options set = {0};
    if (options != NULL)
        TRY(vscan__check_options(ctx, options, VSCAN__FIRST_REDUCE_BY_KEY, sizeof set, &set));
    struct vscan__scan scan = {
        .n = in->n, .in = in->pointer, .totals = totals->pointer, .totals_length = totals->n};
    TRY(vscan__check_initial(ctx, &set.initial, &set.initial_buffer, totals->type, NULL, &scan));
    struct runs runs = {keys, set.within, keys_out, set.count};
    struct vscan__named others[] = {
        {"in", in}, {"totals", totals}, {"options->initial_buffer", set.initial_buffer}, {0}};
    TRY(check_runs(ctx, &runs, others));
    others[1] = (struct vscan__named){"keys", keys};
    for (const struct vscan__named *other = others; other->name != NULL; other++)
        TRY(vscan__check_apart(ctx, "totals", totals, other->name, other->buffer));
    TRY(vscan__check_apart(ctx, "totals", totals, "options->within", runs.within));
    if (keys->n == 0)
        return vscan__count_none(ctx, runs.count != NULL ? runs.count->pointer : NULL);
    if (runs.count != NULL) scan.count = runs.count->pointer;
    const struct vscan__runs vectors = vectors_of(&runs);
    return vscan__reduce_runs(ctx, &vectors,
                              totals->type != in->type ? ctx->backend->widening_by_offsets
                                                       : ctx->backend->pairs[pair].by_offsets,
                              &scan);
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
