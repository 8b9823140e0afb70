/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays on the host. */
#include <string.h>

#include "draw.h"
#include "fuzz.h"
#include "move_reference.h"
#include "reference.h"

/* A scan or reduction; out is in, or apart. */
struct host_call {
    int op, type, kind, direction;
    int64_t n;
    void *in, *out, *expected, *total;
    const uint8_t *heads;
};

/* The results of elements from .. to - 1 as a vector of their own. */
static void expect_segment(const struct host_call *h, int64_t from, int64_t to) {
    const vscan_type type = (vscan_type)h->type;
    struct reference r = {.op = (vscan_op)h->op,
                          .type = type,
                          .n = to - from,
                          .in = (const char *)h->in + bytes_of(type, from),
                          .exclusive = h->kind != 0,
                          .backward = h->direction != 0,
                          .out = (char *)h->expected + bytes_of(type, from)};
    reference_scan(&r);
}

static void draw_scan(struct host_call *h, bool has_kind, bool segmented) {
    call_begin();
    *h = (struct host_call){.op = enum_drawn(VSCAN_PLUS, LAST_OP, VSCAN_ERROR_ENUM)};
    h->type =
        below(4) ? (int)type_drawn(SCANNED) : enum_drawn(VSCAN_INT, VSCAN_UINT8, VSCAN_ERROR_ENUM);
    if (has_kind) h->kind = enum_drawn(VSCAN_INCLUSIVE, VSCAN_EXCLUSIVE, VSCAN_ERROR_ENUM);
    h->direction = enum_drawn(VSCAN_FORWARD, VSCAN_BACKWARD, VSCAN_ERROR_ENUM);
    check_pair_of(h->op, h->type);
    const bool known = call.refusals == 0;
    const int64_t n = length_drawn();
    const vscan_type type = known ? (vscan_type)h->type : VSCAN_DOUBLE;
    uint8_t *const heads = scratch(n);
    h->n = n;
    h->in = scratch(bytes_of(type, n));
    h->out = has_kind && below(2) ? h->in : scratch(bytes_of(type, n));
    h->expected = scratch(bytes_of(type, n));
    h->total = scratch(8);
    fill_values(type, n, h->in);
    for (int64_t i = 0; segmented && i < n; i++) heads[i] = one_in(9) ? 1 + (uint8_t)below(200) : 0;
    h->heads = heads;
    struct reference r = {.op = (vscan_op)h->op,
                          .type = type,
                          .n = n,
                          .in = h->in,
                          .flags = segmented ? heads : NULL,
                          .exclusive = h->kind != 0,
                          .backward = h->direction != 0,
                          .out = h->expected,
                          .total = h->total};
    if (known) reference_scan(&r);
    if (n > 0 && hostile()) {
        h->in = h->out = NULL;
        refuse(VSCAN_ERROR_NULL);
    }
    if (hostile()) {
        h->n = -1 - below(9);
        refuse(VSCAN_ERROR_LENGTH);
    }
}

static void finish(const char *function, const struct host_call *h, vscan_status status) {
    if (status == VSCAN_OK && call.refusals == 0 && !call.open &&
        reference_difference((vscan_type)h->type, h->n, h->expected, h->out) >= 0)
        wrong("%s: wrong results", function);
    call_over(function, status);
}

#define MODE(h)                                                                                    \
    (vscan_op)(h).op, (vscan_type)(h).type, (vscan_kind)(h).kind, (vscan_direction)(h).direction

void fuzz_host_scan(void) {
    struct host_call h;
    draw_scan(&h, true, false);
    if (call_ready("vscan_host_scan"))
        finish("vscan_host_scan", &h, vscan_host_scan(MODE(h), h.in, h.n, h.out));
}

void fuzz_host_scan_segmented(void) {
    struct host_call h;
    draw_scan(&h, true, true);
    const uint8_t *heads = h.heads;
    if (h.n > 0 && hostile()) {
        heads = NULL;
        refuse(VSCAN_ERROR_NULL);
    }
    if (call_ready("vscan_host_scan_segmented"))
        finish("vscan_host_scan_segmented", &h,
               vscan_host_scan_segmented(MODE(h), h.in, heads, h.n, h.out));
}

void fuzz_host_scan_by_offsets(void) {
    struct host_call h;
    draw_scan(&h, true, true);
    const int64_t n = h.n < 0 ? 0 : h.n;
    int64_t *const offsets = scratch((n + 2) * 8), segments = 0;
    for (int64_t i = 1; i < n; i++)
        if (h.heads[i]) offsets[++segments] = i;
    offsets[++segments] = n;
    for (int64_t k = 0; call.refusals == 0 && k < segments; k++)
        expect_segment(&h, offsets[k], offsets[k + 1]);
    if (hostile()) {
        offsets[below(segments + 1)] += 1 + below(5) - 10 * below(2);
        call.open = true; /* OFFSETS, or they are in order all the same: other segments */
    }
    if (hostile()) {
        segments = -1 - below(3);
        refuse(VSCAN_ERROR_LENGTH);
    }
    if (call_ready("vscan_host_scan_by_offsets"))
        finish("vscan_host_scan_by_offsets", &h,
               vscan_host_scan_by_offsets(MODE(h), h.in, h.n, offsets, segments, h.out));
}

void fuzz_host_reduce(void) {
    struct host_call h;
    draw_scan(&h, false, false);
    uint64_t got = 0;
    void *const total = hostile() ? NULL : &got;
    if (total == NULL) refuse(VSCAN_ERROR_NULL);
    if (!call_ready("vscan_host_reduce")) return;
    const vscan_status status = vscan_host_reduce((vscan_op)h.op, (vscan_type)h.type,
                                                  (vscan_direction)h.direction, h.in, h.n, total);
    if (right() && reference_difference((vscan_type)h.type, 1, h.total, &got) >= 0)
        wrong("vscan_host_reduce: a wrong total");
    call_over("vscan_host_reduce", status);
}

void fuzz_host_sort(void) {
    call_begin();
    const int order = enum_drawn(VSCAN_ASCENDING, VSCAN_DESCENDING, VSCAN_ERROR_ENUM);
    const vscan_type key = type_drawn(NUMBERS);
    const bool has_values = below(2);
    const vscan_type value = has_values ? type_drawn(NUMBERS) : VSCAN_NONE;
    if ((TYPES(key) & NUMBERS) == 0 || (has_values && (TYPES(value) & NUMBERS) == 0))
        refuse(VSCAN_ERROR_TYPE);
    int64_t n = length_drawn();
    const int64_t key_size = bytes_of(key, 1), value_size = has_values ? bytes_of(value, 1) : 0;
    char *const keys = scratch(key_size * n), *const values = scratch(value_size * n);
    char *const keys_out = scratch(key_size * n), *const values_out = scratch(value_size * n);
    int64_t *const p = scratch(8 * n), *const room = scratch(8 * n), real_n = n;
    const struct sort_rule rule = {.type = key, .descending = order == VSCAN_DESCENDING};
    if (right()) {
        fill_values(key, n, keys);
        if (has_values) fill_values(value, n, values);
        for (int64_t i = 0; i < n; i++) p[i] = i;
        sort_positions(&rule, keys, p, room, 0, n);
    }
    if (hostile()) {
        n = -2;
        refuse(VSCAN_ERROR_LENGTH);
    }
    if (!call_ready("vscan_host_sort")) return;
    const vscan_status status =
        vscan_host_sort((vscan_order)order, key, keys, value, has_values ? values : NULL, n,
                        keys_out, has_values ? values_out : NULL);
    for (int64_t i = 0; right() && i < real_n; i++)
        if (memcmp(keys_out + i * key_size, keys + p[i] * key_size, (size_t)key_size) != 0 ||
            memcmp(values_out + i * value_size, values + p[i] * value_size, (size_t)value_size) !=
                0)
            wrong("vscan_host_sort: wrong results at %lld", (long long)i);
    call_over("vscan_host_sort", status);
}
