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
    if (has_kind || !segmented)
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

/* The type of numbers that are written as offsets. */
static vscan_type written(vscan_type of) {
    return of == VSCAN_INT ? of : VSCAN_LONG;
}

/* Offsets where the heads are. The first and the last one are seldom the vector's ends. */
static void *offsets_at_heads(const struct host_call *h, vscan_type *of, int64_t *segments) {
    *of = type_drawn(INTEGERS);
    if ((TYPES(*of) & INTEGERS) == 0) refuse(VSCAN_ERROR_TYPE);
    const int64_t n = h->n < 0 ? 0 : h->n;
    void *const offsets = scratch(bytes_of(written(*of), n + 1));
    *segments = -1;
    for (int64_t i = 0; i <= n; i++)
        if (i == n ? *segments < 0 || below(2) : h->heads[i] != 0)
            put_number(written(*of), offsets, ++*segments, i);
    return offsets;
}

static void spoil_offset(vscan_type of, void *offsets, int64_t segments) {
    const int64_t k = below(segments + 1);
    put_number(written(of), offsets, k, number_at(written(of), offsets, k) + 5 - below(10));
    call.open = true; /* OFFSETS, or they are in order all the same: other segments */
}

void fuzz_host_scan_by_offsets(void) {
    struct host_call h;
    draw_scan(&h, true, true);
    vscan_type of;
    int64_t segments;
    void *const offsets = offsets_at_heads(&h, &of, &segments);
    const vscan_type type = (vscan_type)h.type;
    if (right() && h.n > 0) memcpy(h.expected, h.out, (size_t)bytes_of(type, h.n));
    for (int64_t k = 0; right() && k < segments; k++)
        expect_segment(&h, number_at(of, offsets, k), number_at(of, offsets, k + 1));
    if (hostile()) spoil_offset(of, offsets, segments);
    if (hostile()) {
        segments = -1 - below(3);
        refuse(VSCAN_ERROR_LENGTH);
    }
    if (call_ready("vscan_host_scan_by_offsets"))
        finish("vscan_host_scan_by_offsets", &h,
               vscan_host_scan_by_offsets(MODE(h), h.in, h.n, of, offsets, segments, h.out));
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

/* Ints, and their sum as long; or an argument that is refused. */
static int32_t *ints_drawn(int64_t *n, int64_t *sum) {
    const int64_t count = *n = length_drawn();
    int32_t *in = scratch(4 * count);
    struct inputs_random random = random_drawn();
    *sum = 0;
    for (int64_t i = 0; i < count; i++) *sum += in[i] = (int32_t)inputs_next(&random);
    if (count > 0 && hostile()) {
        in = NULL;
        refuse(VSCAN_ERROR_NULL);
    }
    if (hostile()) {
        *n = -1 - below(9);
        refuse(VSCAN_ERROR_LENGTH);
    }
    return in;
}

void fuzz_host_reduce_as_long(void) {
    call_begin();
    int64_t n, sum, got = -1;
    const int32_t *const in = ints_drawn(&n, &sum);
    int64_t *const total = hostile() ? NULL : &got;
    if (total == NULL) refuse(VSCAN_ERROR_NULL);
    if (!call_ready("vscan_host_reduce_as_long")) return;
    const vscan_status status = vscan_host_reduce_as_long(in, n, total);
    if (right() && got != sum) wrong("vscan_host_reduce_as_long: a wrong total");
    call_over("vscan_host_reduce_as_long", status);
}

void fuzz_host_scan_as_long(void) {
    call_begin();
    const int kind = enum_drawn(VSCAN_INCLUSIVE, VSCAN_EXCLUSIVE, VSCAN_ERROR_ENUM);
    const int direction = enum_drawn(VSCAN_FORWARD, VSCAN_BACKWARD, VSCAN_ERROR_ENUM);
    int64_t n, sum;
    const int32_t *const in = ints_drawn(&n, &sum);
    int64_t *const out = scratch(8 * (n < 0 ? 0 : n));
    if (!call_ready("vscan_host_scan_as_long")) return;
    const vscan_status status =
        vscan_host_scan_as_long((vscan_kind)kind, (vscan_direction)direction, in, n, out);
    sum = 0;
    for (int64_t k = 0; right() && k < n; k++) {
        const int64_t i = direction == VSCAN_BACKWARD ? n - 1 - k : k;
        if (out[i] != (kind == VSCAN_EXCLUSIVE ? sum : sum + in[i]))
            wrong("vscan_host_scan_as_long: wrong results at %lld", (long long)i);
        sum += in[i];
    }
    call_over("vscan_host_scan_as_long", status);
}

void fuzz_host_reduce_by_offsets(void) {
    struct host_call h;
    draw_scan(&h, false, true);
    vscan_type of;
    int64_t segments;
    void *const offsets = offsets_at_heads(&h, &of, &segments);
    const vscan_type type = (vscan_type)h.type;
    char *const totals = scratch(8 * segments), *const expected = scratch(8 * segments);
    for (int64_t k = 0; right() && k < segments; k++) {
        const int64_t from = number_at(of, offsets, k);
        struct reference r = {.op = (vscan_op)h.op,
                              .type = type,
                              .n = number_at(of, offsets, k + 1) - from,
                              .in = (const char *)h.in + bytes_of(type, from),
                              .total = expected + bytes_of(type, k)};
        reference_scan(&r);
    }
    if (hostile()) spoil_offset(of, offsets, segments);
    void *const to = segments > 0 && hostile() ? NULL : totals;
    if (to == NULL) refuse(VSCAN_ERROR_NULL);
    if (hostile()) {
        segments = -1 - below(3);
        refuse(VSCAN_ERROR_LENGTH);
    }
    if (!call_ready("vscan_host_reduce_by_offsets")) return;
    const vscan_status status =
        vscan_host_reduce_by_offsets((vscan_op)h.op, type, h.in, h.n, of, offsets, segments, to);
    if (right() && !call.open && reference_difference(type, segments, expected, totals) >= 0)
        wrong("vscan_host_reduce_by_offsets: wrong totals");
    call_over("vscan_host_reduce_by_offsets", status);
}

void fuzz_host_reduce_by_key(void) {
    struct host_call h;
    draw_scan(&h, false, true);
    const vscan_type key = type_drawn(NUMBERS), type = (vscan_type)h.type;
    if ((TYPES(key) & NUMBERS) == 0) refuse(VSCAN_ERROR_TYPE);
    const int64_t n = h.n < 0 ? 0 : h.n;
    char *const keys = scratch(8 * n), *const keys_out = scratch(8 * n),
                *const totals = scratch(8 * n);
    int64_t *const begins = scratch(8 * (n + 1)), runs = 0, count = -1;
    const size_t size = right() ? (size_t)bytes_of(key, 1) : 8;
    for (int64_t i = 0, x = 0; i < n; i++) {
        if (h.heads[i]) x = (x + below(3)) % 3;
        memset(keys + (size_t)i * size, (int)x, size);
        if (i == 0 || memcmp(keys + (size_t)i * size, keys + (size_t)(i - 1) * size, size) != 0)
            begins[runs++] = i;
    }
    begins[runs] = n;
    int64_t *const to = hostile() ? NULL : &count;
    if (to == NULL) refuse(VSCAN_ERROR_NULL);
    const bool wants_keys = below(2), overlaps = n > 0 && hostile();
    if (overlaps) refuse(VSCAN_ERROR_OVERLAP);
    if (!call_ready("vscan_host_reduce_by_key")) return;
    const vscan_status status =
        vscan_host_reduce_by_key((vscan_op)h.op, type, key, keys, h.in, h.n,
                                 wants_keys ? keys_out : NULL, overlaps ? h.in : totals, to);
    if (right() && count != runs) wrong("vscan_host_reduce_by_key: a wrong count");
    for (int64_t k = 0; right() && k < runs; k++) {
        uint64_t total = 0;
        struct reference r = {.op = (vscan_op)h.op,
                              .type = type,
                              .n = begins[k + 1] - begins[k],
                              .in = (const char *)h.in + bytes_of(type, begins[k]),
                              .total = &total};
        reference_scan(&r);
        if (reference_difference(type, 1, &total, totals + bytes_of(type, k)) >= 0 ||
            (wants_keys &&
             memcmp(keys_out + (size_t)k * size, keys + (size_t)begins[k] * size, size) != 0))
            wrong("vscan_host_reduce_by_key: wrong results at %lld", (long long)k);
    }
    call_over("vscan_host_reduce_by_key", status);
}

void fuzz_host_pack(void) {
    call_begin();
    const vscan_type type = type_drawn(MOVED);
    if ((TYPES(type) & MOVED) == 0) refuse(VSCAN_ERROR_TYPE);
    int64_t n = length_drawn(), set = 0, count = -1;
    const int64_t size = right() ? bytes_of(type, 1) : 8, real_n = n;
    const bool in_place = below(2);
    char *const in = scratch(size * n), *const expected = scratch(size * n);
    char *const out = in_place ? in : scratch(size * n);
    uint8_t *const flags = scratch(n);
    struct inputs_random random = random_drawn();
    const int64_t one_in_ = 1 + below(40);
    for (int64_t i = 0; i < size * n; i++) in[i] = (char)inputs_next(&random);
    for (int64_t i = 0; i < n; i++)
        flags[i] =
            inputs_below(&random, one_in_) == 0 ? 1 + (uint8_t)inputs_below(&random, 255) : 0;
    memcpy(expected, out, (size_t)(size * n));
    for (int64_t i = 0; i < n; i++)
        if (flags[i]) memcpy(expected + size * set++, in + size * i, (size_t)size);
    if (hostile()) {
        n = -1 - below(9);
        refuse(VSCAN_ERROR_LENGTH);
    }
    int64_t *const to = hostile() ? NULL : &count;
    if (to == NULL) refuse(VSCAN_ERROR_NULL);
    if (!call_ready("vscan_host_pack")) return;
    const vscan_status status = vscan_host_pack(type, in, flags, n, out, to);
    if (right() && (count != set || memcmp(out, expected, (size_t)(size * real_n)) != 0))
        wrong("vscan_host_pack: wrong results");
    call_over("vscan_host_pack", status);
}

void fuzz_host_positions(void) {
    call_begin();
    const vscan_type to = type_drawn(INTEGERS);
    if ((TYPES(to) & INTEGERS) == 0) refuse(VSCAN_ERROR_TYPE);
    int64_t n = length_drawn(), set = 0, count = -1;
    uint8_t *const flags = scratch(n);
    int64_t *const expected = scratch(8 * n);
    char *const positions = scratch(8 * n);
    struct inputs_random random = random_drawn();
    const int64_t one_in_ = 1 + below(40);
    for (int64_t i = 0; i < n; i++) {
        flags[i] =
            inputs_below(&random, one_in_) == 0 ? 1 + (uint8_t)inputs_below(&random, 255) : 0;
        if (flags[i]) expected[set++] = i;
    }
    if (hostile()) {
        n = -1 - below(9);
        refuse(VSCAN_ERROR_LENGTH);
    }
    int64_t *const at = hostile() ? NULL : &count;
    if (at == NULL) refuse(VSCAN_ERROR_NULL);
    if (!call_ready("vscan_host_positions")) return;
    const vscan_status status = vscan_host_positions(flags, n, to, positions, at);
    if (right() && count != set) wrong("vscan_host_positions: a wrong count");
    for (int64_t k = 0; right() && k < set; k++)
        if (number_at(to, positions, k) != expected[k])
            wrong("vscan_host_positions: wrong results at %lld", (long long)k);
    call_over("vscan_host_positions", status);
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

void fuzz_host_argsort(void) {
    call_begin();
    const int order = enum_drawn(VSCAN_ASCENDING, VSCAN_DESCENDING, VSCAN_ERROR_ENUM);
    const vscan_type key = type_drawn(NUMBERS), to = type_drawn(INTEGERS);
    if ((TYPES(key) & NUMBERS) == 0 || (TYPES(to) & INTEGERS) == 0) refuse(VSCAN_ERROR_TYPE);
    int64_t n = length_drawn();
    const int64_t real_n = n;
    char *const keys = scratch(8 * n), *const positions = scratch(8 * n);
    int64_t *const p = scratch(8 * n), *const room = scratch(8 * n);
    const struct sort_rule rule = {.type = key, .descending = order == VSCAN_DESCENDING};
    if (right()) {
        fill_values(key, n, keys);
        for (int64_t i = 0; i < n; i++) p[i] = i;
        sort_positions(&rule, keys, p, room, 0, n);
    }
    if (hostile()) {
        n = -2;
        refuse(VSCAN_ERROR_LENGTH);
    }
    const bool overlaps = n > 0 && hostile();
    if (overlaps) refuse(VSCAN_ERROR_OVERLAP);
    if (!call_ready("vscan_host_argsort")) return;
    const vscan_status status =
        vscan_host_argsort((vscan_order)order, key, keys, n, to, overlaps ? keys : positions);
    for (int64_t i = 0; right() && i < real_n; i++)
        if (number_at(to, positions, i) != p[i])
            wrong("vscan_host_argsort: wrong results at %lld", (long long)i);
    call_over("vscan_host_argsort", status);
}

typedef vscan_status host_bound(vscan_type type, const void *sorted, int64_t n, const void *values,
                                int64_t m, vscan_type position_type, void *positions);

static void host_bounds(const char *name, host_bound *function, bool upper) {
    call_begin();
    const vscan_type type = type_drawn(NUMBERS), to = type_drawn(INTEGERS);
    if ((TYPES(type) & NUMBERS) == 0 || (TYPES(to) & INTEGERS) == 0) refuse(VSCAN_ERROR_TYPE);
    int64_t n = length_drawn(), m = length_drawn();
    const int64_t real_m = m, size = right() ? bytes_of(type, 1) : 8;
    /* the sorted ones, as many that they come from, and the values, so that one comparison serves all */
    char *const all = scratch(size * (2 * n + m)), *const positions = scratch(8 * m);
    int64_t *const p = scratch(8 * n), *const room = scratch(8 * n), *const places = scratch(8 * m);
    char *const values = all + size * 2 * n;
    const struct sort_rule rule = {.type = type};
    if (right()) {
        fill_values(type, n + m, all + size * n);
        for (int64_t i = 0; i < n; i++) p[i] = n + i;
        sort_positions(&rule, all, p, room, 0, n);
        for (int64_t i = 0; i < n; i++) memcpy(all + size * i, all + size * p[i], (size_t)size);
        for (int64_t i = 0; i < m; i++) places[i] = bound_of(&rule, all, n, 2 * n + i, upper);
    }
    if (hostile()) {
        *(below(2) ? &n : &m) = -3;
        refuse(VSCAN_ERROR_LENGTH);
    }
    void *const out = m > 0 && hostile() ? NULL : positions;
    if (out == NULL) refuse(VSCAN_ERROR_NULL);
    if (!call_ready(name)) return;
    const vscan_status status = function(type, all, n, values, m, to, out);
    for (int64_t i = 0; right() && i < real_m; i++)
        if (number_at(to, positions, i) != places[i])
            wrong("%s: wrong results at %lld", name, (long long)i);
    call_over(name, status);
}

void fuzz_host_lower_bound(void) {
    host_bounds("vscan_host_lower_bound", vscan_host_lower_bound, false);
}

void fuzz_host_upper_bound(void) {
    host_bounds("vscan_host_upper_bound", vscan_host_upper_bound, true);
}
