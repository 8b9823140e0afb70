/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The calls on arrays of the host: checks of plain arguments, then a slot of the CPU backend with the
 * caller's own addresses. There are no buffers. The context is one of a few that are kept.
 */
#include "api/check.h"
#include "api/context.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>

/* ---- Contexts -------------------------------------------------------------------------------- */

/*
 * Contexts that no call uses. A call takes one out, so that no two ever wait for each other, and puts it
 * back; what does not fit is destroyed. Neither locks anything: a fork finds every place whole, and what
 * other threads had taken out is missing in the child.
 */
enum { KEPT = 16 };
static _Atomic(vscan_ctx *) kept[KEPT];

static vscan_status take(const char *function, vscan_ctx **ctx) {
    vscan_ctx *found = NULL;
    vscan__begin();
    for (int k = 0; k < KEPT && found == NULL; k++)
        if (atomic_load_explicit(&kept[k], memory_order_relaxed) != NULL)
            found = atomic_exchange_explicit(&kept[k], NULL, memory_order_acquire);
    if (found == NULL) TRY(vscan__ctx_create_cpu(&found));
    pthread_mutex_lock(&found->mutex); /* as every call, see lose_contexts in handle.c */
    found->running = function;
    *ctx = found;
    return VSCAN_OK;
}

static vscan_status give(vscan_ctx *ctx, vscan_status status) {
    if (status != VSCAN_OK)
        vscan__restore_thread_error(ctx->error); /* the caller knows no context */
    (void)vscan__leave(ctx, status);
    for (int k = 0; k < KEPT; k++) {
        vscan_ctx *none = NULL;
        if (atomic_compare_exchange_strong_explicit(&kept[k], &none, ctx, memory_order_release,
                                                    memory_order_relaxed))
            return status;
    }
    vscan__ctx_end(ctx);
    return status;
}

/* ---- Checks ---------------------------------------------------------------------------------- */

/* n elements of a type at an address. */
struct array {
    const char *name;
    vscan_type type;
    const void *at;
    int64_t n;
};

/* Not NULL, aligned, and of a length that memory can have. */
static vscan_status check_array(const struct array *a) {
    int64_t bytes;
    TRY(vscan__check_size(NULL, a->type, a->n, &bytes));
    if (a->n == 0) return VSCAN_OK;
    if (a->at == NULL) return VSCAN__FAIL(NULL, VSCAN_ERROR_NULL, "%s is NULL", a->name);
    if ((uintptr_t)a->at % (uintptr_t)vscan__element_size(a->type) != 0)
        return VSCAN__FAIL(NULL, VSCAN_ERROR_ALIGNMENT, "%s is not aligned to its elements of %s",
                           a->name, vscan__type_name(a->type));
    return VSCAN_OK;
}

/* No byte in common; same_too: or the very same elements, of one type and number. */
static vscan_status check_apart(const struct array *a, const struct array *b, bool same_too) {
    const uintptr_t at_a = (uintptr_t)a->at, at_b = (uintptr_t)b->at;
    const uintptr_t end_a = at_a + (uintptr_t)vscan__bytes(a->type, a->n);
    const uintptr_t end_b = at_b + (uintptr_t)vscan__bytes(b->type, b->n);
    if (a->n == 0 || b->n == 0 || at_a >= end_b || at_b >= end_a) return VSCAN_OK;
    if (same_too && at_a == at_b) return VSCAN_OK;
    return same_too ? vscan__refuse_partial(NULL, a->name, b->name)
                    : vscan__refuse_overlap(NULL, a->name, b->name);
}

/* Outputs overlap no other array. */
static vscan_status check_outputs(const struct array *arrays, int inputs, int all) {
    for (int k = 0; k < all; k++) TRY(check_array(&arrays[k]));
    for (int o = inputs; o < all; o++)
        for (int k = 0; k < o; k++) TRY(check_apart(&arrays[o], &arrays[k], false));
    return VSCAN_OK;
}

/* What counts elements: int or long. */
static vscan_status check_integer(const char *name, vscan_type type) {
    TRY(vscan__check_a_type(NULL, name, type));
    if (type == VSCAN_INT || type == VSCAN_LONG) return VSCAN_OK;
    return VSCAN__FAIL(NULL, VSCAN_ERROR_TYPE, "%s is %s, must be int or long", name,
                       vscan__type_name(type));
}

/* positions: int or long, int only if it can count n elements. */
static vscan_status check_positions(vscan_type type, int64_t n) {
    TRY(check_integer("position_type", type));
    if (type == VSCAN_LONG || n <= INT32_MAX) return VSCAN_OK;
    return VSCAN__FAIL(NULL, VSCAN_ERROR_LENGTH,
                       "n is %" PRId64 ", and positions of type int cannot count that many", n);
}

/* What keys can be. */
static bool can_be_sorted(vscan_type type) {
    return type == VSCAN_INT || type == VSCAN_FLOAT || type == VSCAN_DOUBLE || type == VSCAN_LONG;
}

static vscan_status check_sorted(const char *name, vscan_type type) {
    if (can_be_sorted(type)) return VSCAN_OK;
    TRY(vscan__check_a_type(NULL, name, type));
    return VSCAN__FAIL(NULL, VSCAN_ERROR_TYPE, "%s is %s, must be int, float, double or long", name,
                       vscan__type_name(type));
}

static vscan_status check_order(vscan_order order) {
    if (order == VSCAN_ASCENDING || order == VSCAN_DESCENDING) return VSCAN_OK;
    return vscan__refuse_enum(NULL, "order", (int32_t)order, "vscan_order");
}

static vscan_status check_kind(vscan_kind kind) {
    if (kind == VSCAN_INCLUSIVE || kind == VSCAN_EXCLUSIVE) return VSCAN_OK;
    return vscan__refuse_enum(NULL, "kind", (int32_t)kind, "vscan_kind");
}

static vscan_status check_pair(vscan_op op, vscan_type type, enum vscan__pair *pair) {
    TRY(vscan__check_a_type(NULL, "type", type));
    return vscan__check_pair_of(NULL, "type is", op, type, pair);
}

/* ---- Scans ----------------------------------------------------------------------------------- */

/* A scan whose arguments were checked. */
struct host_scan {
    const char *function;
    struct array in, out;
    enum vscan__pair pair;
    struct vscan__scan scan;
};

static vscan_status begin_scan(const char *function, vscan_op op, vscan_type type, vscan_kind kind,
                               vscan_direction direction, const void *in, int64_t n, void *out,
                               struct host_scan *s) {
    vscan__set_running(function);
    s->function = function;
    s->in = (struct array){"in", type, in, n};
    s->out = (struct array){"out", type, out, n};
    TRY(check_pair(op, type, &s->pair));
    TRY(check_kind(kind));
    TRY(vscan__check_direction(NULL, "direction", (int32_t)direction));
    TRY(check_array(&s->in));
    TRY(check_array(&s->out));
    TRY(check_apart(&s->out, &s->in, true));
    s->scan = (struct vscan__scan){.n = n,
                                   .in = in,
                                   .out = out,
                                   .exclusive = kind == VSCAN_EXCLUSIVE,
                                   .backward = direction == VSCAN_BACKWARD};
    return VSCAN_OK;
}

/* What says where segments begin. */
static vscan_status check_segments(const struct host_scan *s, const struct array *by) {
    TRY(check_array(by));
    return check_apart(by, &s->out, false);
}

static vscan_status end_scan(const struct host_scan *s) {
    vscan_ctx *ctx;
    if (s->scan.n == 0) return VSCAN_OK;
    TRY(take(s->function, &ctx));
    vscan__scan_fn *const scan = s->scan.flags != NULL ? ctx->backend->pairs[s->pair].scan_segmented
                                 : s->scan.offsets != NULL ? ctx->backend->pairs[s->pair].by_offsets
                                                           : ctx->backend->pairs[s->pair].scan;
    return give(ctx, scan(ctx, &s->scan));
}

vscan_status vscan_host_scan(vscan_op op, vscan_type type, vscan_kind kind,
                             vscan_direction direction, const void *in, int64_t n, void *out) {
    struct host_scan s;
    TRY(begin_scan(__func__, op, type, kind, direction, in, n, out, &s));
    return end_scan(&s);
}

vscan_status vscan_host_scan_segmented(vscan_op op, vscan_type type, vscan_kind kind,
                                       vscan_direction direction, const void *in,
                                       const uint8_t *heads, int64_t n, void *out) {
    struct host_scan s;
    TRY(begin_scan(__func__, op, type, kind, direction, in, n, out, &s));
    TRY(check_segments(&s, &(struct array){"heads", VSCAN_BYTE, heads, n}));
    s.scan.flags = heads;
    s.scan.flag_type = VSCAN_BYTE;
    return end_scan(&s);
}

static int64_t offset_at(const struct array *offsets, int64_t k) {
    return offsets->type == VSCAN_INT ? ((const int32_t *)offsets->at)[k]
                                      : ((const int64_t *)offsets->at)[k];
}

/* segments + 1 numbers in 0 .. n. */
static vscan_status check_offsets(const struct array *offsets, int64_t n) {
    const int64_t segments = offsets->n - 1;
    int64_t before = offset_at(offsets, 0);
    if (before < 0)
        return VSCAN__FAIL(NULL, VSCAN_ERROR_OFFSETS, "offsets[0] is %" PRId64 ", less than 0",
                           before);
    for (int64_t k = 1; k <= segments; k++) {
        const int64_t at = offset_at(offsets, k);
        if (at < before)
            return VSCAN__FAIL(NULL, VSCAN_ERROR_OFFSETS,
                               "offsets[%" PRId64 "] is %" PRId64
                               ", less than the one before it, %" PRId64,
                               k, at, before);
        before = at;
    }
    if (before > n)
        return VSCAN__FAIL(NULL, VSCAN_ERROR_OFFSETS,
                           "the last of offsets is %" PRId64 ", more than n, %" PRId64, before, n);
    return VSCAN_OK;
}

static vscan_status check_number(int64_t segments) {
    if (segments >= 0 && segments < INT64_MAX) return VSCAN_OK;
    return VSCAN__FAIL(NULL, VSCAN_ERROR_LENGTH, "segments is %" PRId64, segments);
}

vscan_status vscan_host_scan_by_offsets(vscan_op op, vscan_type type, vscan_kind kind,
                                        vscan_direction direction, const void *in, int64_t n,
                                        vscan_type offset_type, const void *offsets,
                                        int64_t segments, void *out) {
    struct host_scan s;
    TRY(begin_scan(__func__, op, type, kind, direction, in, n, out, &s));
    TRY(check_integer("offset_type", offset_type));
    TRY(check_number(segments));
    const struct array by = {"offsets", offset_type, offsets, segments + 1};
    TRY(check_segments(&s, &by));
    TRY(check_offsets(&by, n));
    if (segments == 0) return VSCAN_OK;
    s.scan.offsets = offsets;
    s.scan.offset_type = (int32_t)offset_type;
    s.scan.totals_length = segments;
    return end_scan(&s);
}

vscan_status vscan_host_scan_as_long(vscan_kind kind, vscan_direction direction, const int32_t *in,
                                     int64_t n, int64_t *out) {
    vscan__set_running(__func__);
    const struct array arrays[] = {{"in", VSCAN_INT, in, n}, {"out", VSCAN_LONG, out, n}};
    vscan_ctx *ctx;
    TRY(check_kind(kind));
    TRY(vscan__check_direction(NULL, "direction", (int32_t)direction));
    TRY(check_outputs(arrays, 1, 2));
    if (n == 0) return VSCAN_OK;
    const struct vscan__scan scan = {.n = n,
                                     .in = in,
                                     .out = out,
                                     .exclusive = kind == VSCAN_EXCLUSIVE,
                                     .backward = direction == VSCAN_BACKWARD};
    TRY(take(__func__, &ctx));
    return give(ctx, ctx->backend->widening(ctx, &scan));
}

/* ---- Reductions ------------------------------------------------------------------------------ */

vscan_status vscan_host_reduce(vscan_op op, vscan_type type, vscan_direction direction,
                               const void *in, int64_t n, void *total) {
    vscan__set_running(__func__);
    const struct array from = {"in", type, in, n}, to = {"total", type, total, 1};
    enum vscan__pair pair;
    vscan_ctx *ctx;
    TRY(check_pair(op, type, &pair));
    TRY(vscan__check_direction(NULL, "direction", (int32_t)direction));
    TRY(check_array(&from));
    TRY(check_array(&to));
    TRY(check_apart(&to, &from, false));
    const struct vscan__scan scan = {
        .n = n, .in = in, .total = total, .backward = direction == VSCAN_BACKWARD};
    TRY(take(__func__, &ctx));
    return give(ctx, ctx->backend->pairs[pair].reduce(ctx, &scan));
}

vscan_status vscan_host_reduce_as_long(const int32_t *in, int64_t n, int64_t *total) {
    vscan__set_running(__func__);
    const struct array arrays[] = {{"in", VSCAN_INT, in, n}, {"total", VSCAN_LONG, total, 1}};
    vscan_ctx *ctx;
    TRY(check_outputs(arrays, 1, 2));
    if (n == 0) {
        *total = 0;
        return VSCAN_OK;
    }
    const struct vscan__scan scan = {.n = n, .in = in, .total = total};
    TRY(take(__func__, &ctx));
    return give(ctx, ctx->backend->widening(ctx, &scan));
}

vscan_status vscan_host_reduce_by_offsets(vscan_op op, vscan_type type, const void *in, int64_t n,
                                          vscan_type offset_type, const void *offsets,
                                          int64_t segments, void *totals) {
    vscan__set_running(__func__);
    enum vscan__pair pair;
    vscan_ctx *ctx;
    TRY(check_pair(op, type, &pair));
    TRY(check_integer("offset_type", offset_type));
    TRY(check_number(segments));
    const struct array from = {"in", type, in, n}, to = {"totals", type, totals, segments};
    const struct array by = {"offsets", offset_type, offsets, segments + 1};
    TRY(check_array(&from));
    TRY(check_array(&by));
    TRY(check_array(&to));
    TRY(check_apart(&to, &from, false));
    TRY(check_apart(&to, &by, false));
    TRY(check_offsets(&by, n));
    if (segments == 0) return VSCAN_OK;
    const struct vscan__scan scan = {.n = n,
                                     .in = in,
                                     .totals = totals,
                                     .totals_length = segments,
                                     .offsets = offsets,
                                     .offset_type = (int32_t)offset_type};
    TRY(take(__func__, &ctx));
    return give(ctx, ctx->backend->pairs[pair].by_offsets(ctx, &scan));
}

vscan_status vscan_host_reduce_by_key(vscan_op op, vscan_type type, vscan_type key_type,
                                      const void *keys, const void *in, int64_t n, void *keys_out,
                                      void *totals, int64_t *count) {
    vscan__set_running(__func__);
    const struct array arrays[] = {{"keys", key_type, keys, n},
                                   {"in", type, in, n},
                                   {"totals", type, totals, n},
                                   {"count", VSCAN_LONG, count, 1},
                                   {"keys_out", key_type, keys_out, n}};
    enum vscan__pair pair;
    vscan_ctx *ctx;
    TRY(check_sorted("key_type", key_type));
    TRY(check_pair(op, type, &pair));
    TRY(check_outputs(arrays, 2, keys_out != NULL ? 5 : 4));
    if (n == 0) {
        *count = 0;
        return VSCAN_OK;
    }
    const struct vscan__runs runs = {.n = n,
                                     .keys = keys,
                                     .keys_out = keys_out,
                                     .keys_out_length = keys_out != NULL ? n : -1,
                                     .type = (int32_t)key_type};
    struct vscan__scan scan = {
        .n = n, .in = in, .totals = totals, .totals_length = n, .count = count};
    TRY(take(__func__, &ctx));
    return give(ctx, vscan__reduce_runs(ctx, &runs, ctx->backend->pairs[pair].by_offsets, &scan));
}

/* ---- Pack, positions ------------------------------------------------------------------------- */

vscan_status vscan_host_pack(vscan_type type, const void *in, const uint8_t *flags, int64_t n,
                             void *out, int64_t *count) {
    vscan__set_running(__func__);
    const struct array arrays[] = {{"in", type, in, n},
                                   {"flags", VSCAN_BYTE, flags, n},
                                   {"out", type, out, n},
                                   {"count", VSCAN_LONG, count, 1}};
    vscan_ctx *ctx;
    TRY(vscan__check_a_type(NULL, "type", type));
    if (type == VSCAN_BIT)
        return VSCAN__FAIL(NULL, VSCAN_ERROR_TYPE, "type is bit, which cannot be packed");
    for (int k = 0; k < 4; k++) TRY(check_array(&arrays[k]));
    TRY(check_apart(&arrays[2], &arrays[0], true));
    TRY(check_apart(&arrays[1], &arrays[2], false));
    for (int k = 0; k < 3; k++) TRY(check_apart(&arrays[3], &arrays[k], false));
    if (n == 0) {
        *count = 0;
        return VSCAN_OK;
    }
    const struct vscan__pack pack = {.n = n,
                                     .length = n,
                                     .in = in,
                                     .flags = flags,
                                     .out = out,
                                     .count = count,
                                     .type = (int32_t)type,
                                     .flag_type = VSCAN_BYTE};
    TRY(take(__func__, &ctx));
    return give(ctx, ctx->backend->pack(ctx, &pack));
}

vscan_status vscan_host_positions(const uint8_t *flags, int64_t n, vscan_type position_type,
                                  void *positions, int64_t *count) {
    vscan__set_running(__func__);
    const struct array arrays[] = {{"flags", VSCAN_BYTE, flags, n},
                                   {"positions", position_type, positions, n},
                                   {"count", VSCAN_LONG, count, 1}};
    vscan_ctx *ctx;
    TRY(check_positions(position_type, n));
    TRY(check_outputs(arrays, 1, 3));
    if (n == 0) {
        *count = 0;
        return VSCAN_OK;
    }
    const struct vscan__pack pack = {.n = n,
                                     .length = n,
                                     .flags = flags,
                                     .out = positions,
                                     .count = count,
                                     .type = (int32_t)position_type,
                                     .flag_type = VSCAN_BYTE};
    TRY(take(__func__, &ctx));
    return give(ctx, ctx->backend->flags_to_offsets(ctx, &pack));
}

/* ---- Sort ------------------------------------------------------------------------------------ */

/* Of all bits of n keys; where they and the values lie besides is still to be said. */
static struct vscan__sort sort_of(vscan_order order, vscan_type key_type, const void *keys,
                                  vscan_type value_type, int64_t n) {
    const int32_t key_size = (int32_t)vscan__element_size(key_type);
    return (struct vscan__sort){.n = n,
                                .keys = keys,
                                .key_size = key_size,
                                .value_size = (int32_t)vscan__element_size(value_type),
                                .real = key_type == VSCAN_FLOAT || key_type == VSCAN_DOUBLE,
                                .descending = order == VSCAN_DESCENDING,
                                .bits = 8 * key_size};
}

vscan_status vscan_host_sort(vscan_order order, vscan_type key_type, const void *keys,
                             vscan_type value_type, const void *values, int64_t n, void *keys_out,
                             void *values_out) {
    vscan__set_running(__func__);
    const bool has_values = value_type != VSCAN_NONE;
    const struct array arrays[] = {{"keys", key_type, keys, n},
                                   {"keys_out", key_type, keys_out, n},
                                   {"values", value_type, values, n},
                                   {"values_out", value_type, values_out, n}};
    vscan_ctx *ctx;
    TRY(check_order(order));
    TRY(check_sorted("key_type", key_type));
    if (has_values) TRY(check_sorted("value_type", value_type));
    for (int k = 0; k < (has_values ? 4 : 2); k++) TRY(check_array(&arrays[k]));
    if (!has_values && (values != NULL || values_out != NULL))
        return VSCAN__FAIL(NULL, VSCAN_ERROR_VALUE, "value_type is VSCAN_NONE, and %s is not NULL",
                           values != NULL ? "values" : "values_out");
    TRY(check_apart(&arrays[1], &arrays[0], true));
    if (has_values) {
        TRY(check_apart(&arrays[3], &arrays[2], true));
        TRY(check_apart(&arrays[2], &arrays[1], false));
        TRY(check_apart(&arrays[3], &arrays[0], false));
        TRY(check_apart(&arrays[3], &arrays[1], false));
    }
    if (n == 0) return VSCAN_OK;
    struct vscan__sort sort = sort_of(order, key_type, keys, value_type, n);
    sort.keys_out = keys_out;
    sort.values = values;
    sort.values_out = values_out;
    TRY(take(__func__, &ctx));
    return give(ctx, ctx->backend->sort(ctx, &sort));
}

/* The numbers 0, 1, 2, ... are sorted in place; the sorted keys are wanted by nobody. */
static vscan_status sort_positions(vscan_ctx *ctx, struct vscan__sort *sort,
                                   vscan_type position_type, void *positions) {
    const struct vscan__map index = {
        .n = sort->n, .out = positions, .out_type = (int32_t)position_type, .step = 1};
    TRY(ctx->backend->between(ctx, sort->n * sort->key_size, &sort->keys_out));
    TRY(ctx->backend->index(ctx, &index));
    sort->values = sort->values_out = positions;
    return ctx->backend->sort(ctx, sort);
}

vscan_status vscan_host_argsort(vscan_order order, vscan_type key_type, const void *keys, int64_t n,
                                vscan_type position_type, void *positions) {
    vscan__set_running(__func__);
    const struct array arrays[] = {{"keys", key_type, keys, n},
                                   {"positions", position_type, positions, n}};
    vscan_ctx *ctx;
    TRY(check_order(order));
    TRY(check_sorted("key_type", key_type));
    TRY(check_positions(position_type, n));
    TRY(check_outputs(arrays, 1, 2));
    if (n == 0) return VSCAN_OK;
    struct vscan__sort sort = sort_of(order, key_type, keys, position_type, n);
    TRY(take(__func__, &ctx));
    return give(ctx, sort_positions(ctx, &sort, position_type, positions));
}

/* ---- Bounds ---------------------------------------------------------------------------------- */

/* How many values there are. */
static vscan_status check_m(int64_t m) {
    if (m < 0) return VSCAN__FAIL(NULL, VSCAN_ERROR_LENGTH, "m is %" PRId64 ", negative", m);
    if (m <= PTRDIFF_MAX / 8) return VSCAN_OK;
    return VSCAN__FAIL(NULL, VSCAN_ERROR_OVERFLOW,
                       "m is %" PRId64 ": that many values do not fit in the address range", m);
}

static vscan_status find_bounds(const char *function, bool upper, vscan_type type,
                                const void *sorted, int64_t n, const void *values, int64_t m,
                                vscan_type position_type, void *positions) {
    vscan__set_running(function);
    const struct array arrays[] = {{"sorted", type, sorted, n},
                                   {"values", type, values, m},
                                   {"positions", position_type, positions, m}};
    vscan_ctx *ctx;
    TRY(check_sorted("type", type));
    TRY(check_positions(position_type, n));
    TRY(check_m(m));
    TRY(check_outputs(arrays, 2, 3));
    if (m == 0) return VSCAN_OK;
    const struct vscan__bounds bounds = {.n = m,
                                         .length = n,
                                         .sorted = sorted,
                                         .values = values,
                                         .out = positions,
                                         .type = (int32_t)type,
                                         .out_type = (int32_t)position_type,
                                         .upper = upper};
    TRY(take(function, &ctx));
    return give(ctx, ctx->backend->bounds(ctx, &bounds));
}

vscan_status vscan_host_lower_bound(vscan_type type, const void *sorted, int64_t n,
                                    const void *values, int64_t m, vscan_type position_type,
                                    void *positions) {
    return find_bounds(__func__, false, type, sorted, n, values, m, position_type, positions);
}

vscan_status vscan_host_upper_bound(vscan_type type, const void *sorted, int64_t n,
                                    const void *values, int64_t m, vscan_type position_type,
                                    void *positions) {
    return find_bounds(__func__, true, type, sorted, n, values, m, position_type, positions);
}
