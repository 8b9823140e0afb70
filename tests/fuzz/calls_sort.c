/* SPDX-License-Identifier: Apache-2.0 */
/* Sorts. */
#include <string.h>

#include "fuzz.h"
#include "move_reference.h"

struct sorting {
    struct arg keys, keys_out, values, values_out, offsets;
    struct sort_rule rule;
    const void *options;
};

static void options_of_sort(struct sorting *s, vscan_type type) {
    vscan_sort_options o = {
        .size = sizeof o, .order = enum_drawn(VSCAN_ASCENDING, VSCAN_DESCENDING, VSCAN_ERROR_ENUM)};
    const int width = type == VSCAN_LONG || type == VSCAN_DOUBLE ? 64 : 32;
    const bool real = type == VSCAN_FLOAT || type == VSCAN_DOUBLE;
    if (!real && below(3) == 0) {
        o.first_bit = (int32_t)below(width);
        o.bits = (int32_t)below(width - o.first_bit + 1);
    }
    if (hostile()) o.first_bit = (int32_t)hostile_number(width);
    if (hostile()) o.bits = (int32_t)hostile_number(width - o.first_bit / 2);
    if (hostile()) o.unused = 5;
    if (o.unused != 0) refuse(VSCAN_ERROR_VALUE);
    const bool window = o.first_bit != 0 || o.bits != 0;
    if (window && (real || o.first_bit < 0 || o.first_bit >= width || o.bits < 0 ||
                   o.bits > width - o.first_bit))
        refuse(VSCAN_ERROR_VALUE);
    s->rule = (struct sort_rule){.type = type,
                                 .descending = o.order == VSCAN_DESCENDING,
                                 .first_bit = o.first_bit,
                                 .bits = o.bits};
    s->options = options_drawn(&o, sizeof o);
}

static void *in_order(struct arg v, const int64_t *positions) {
    const size_t size = (size_t)bytes_of(v.b->type, 1);
    char *const out = scratch(v.b->bytes + 8);
    for (int64_t i = 0; i < v.b->n; i++)
        memcpy(out + (size_t)i * size, shadow_of(v.b) + (size_t)positions[i] * size, size);
    return out;
}

static void *as_numbers(struct arg v, const int64_t *positions) {
    void *const out = copy_of(v);
    for (int64_t i = 0; i < v.b->n; i++) put_number(v.b->type, out, i, positions[i]);
    return out;
}

static void expect_sorted(const struct sorting *s, bool segmented) {
    const int64_t n = s->keys.b->n;
    int64_t *const positions = scratch(n * 8), *const room = scratch(n * 8);
    bool open = false;
    for (int64_t i = 0; i < n; i++) positions[i] = i;
    if (segmented && s->offsets.b->n == 1) {
        const int64_t at = number_at(s->offsets.b->type, shadow_of(s->offsets.b), 0);
        open = at < 0 || at > n;
    }
    if (!segmented) sort_positions(&s->rule, shadow_of(s->keys.b), positions, room, 0, n);
    for (int64_t k = 0; segmented && k + 1 < s->offsets.b->n; k++) {
        const int64_t a = number_at(s->offsets.b->type, shadow_of(s->offsets.b), k);
        const int64_t b = number_at(s->offsets.b->type, shadow_of(s->offsets.b), k + 1);
        if (a < 0 || b < a || b > n) open = true;
        if (!open) sort_positions(&s->rule, shadow_of(s->keys.b), positions, room, a, b);
    }
    if (open) expect_late(VSCAN_ERROR_OFFSETS);
    expect(s->keys_out, open ? NULL : in_order(s->keys, positions));
    if (s->values.handle != NULL)
        expect(s->values_out, open ? NULL : in_order(s->values, positions));
    else if (s->values_out.handle != NULL)
        expect(s->values_out, open ? NULL : as_numbers(s->values_out, positions));
}

static void draw_sorting(struct sorting *s, bool segmented) {
    context_drawn();
    *s = (struct sorting){.options = NULL};
    const vscan_type type = type_drawn(NUMBERS), value_type = type_drawn(NUMBERS);
    const int64_t n = length_drawn();
    const bool has_values = below(2) == 1, one_missing = hostile();
    s->keys = vector_drawn(type, n, VALUES);
    s->keys_out = output_drawn(type, n, &s->keys);
    const bool positions = has_values && below(3) == 0;
    if ((has_values && !positions) || one_missing) s->values = vector_drawn(value_type, n, VALUES);
    if (positions)
        s->values_out = vector_drawn(type_drawn(INTEGERS), n, OPEN);
    else if (has_values)
        s->values_out = output_drawn(value_type, n, &s->values);
    if (segmented) s->offsets = offsets_drawn(type_drawn(INTEGERS), n);
    check_type(s->keys, NUMBERS);
    check_in_out(s->keys, s->keys_out);
    if (s->values.handle == NULL && s->values_out.handle != NULL) {
        check_buffer(s->values_out);
        check_type(s->values_out, INTEGERS);
        if (s->keys.b != NULL) check_length(s->values_out, s->keys.b->n);
        if (s->keys.b != NULL) check_countable(s->values_out, s->keys.b->n);
        check_apart(s->values_out, s->keys);
        check_apart(s->values_out, s->keys_out);
    } else if (s->values.handle != NULL) {
        check_type(s->values, NUMBERS);
        if (s->keys.b != NULL) check_length(s->values, s->keys.b->n);
        check_in_out(s->values, s->values_out);
        check_apart(s->values, s->keys_out);
        check_apart(s->values_out, s->keys);
        check_apart(s->values_out, s->keys_out);
    }
    if (segmented) {
        check_buffer(s->offsets);
        check_type(s->offsets, INTEGERS);
        if (s->offsets.b != NULL && s->offsets.b->n < 1) refuse(VSCAN_ERROR_LENGTH);
        check_apart(s->offsets, s->keys_out);
        check_apart(s->offsets, s->values_out);
    }
    options_of_sort(s, s->keys.b != NULL ? s->keys.b->type : type);
    if (right()) expect_sorted(s, segmented);
}

void fuzz_sort(void) {
    struct sorting s;
    draw_sorting(&s, false);
    MAKE(vscan_sort, (call.ctx_handle, s.keys.handle, s.values.handle, s.keys_out.handle,
                      s.values_out.handle, s.options));
}

void fuzz_sort_by_offsets(void) {
    struct sorting s;
    draw_sorting(&s, true);
    MAKE(vscan_sort_by_offsets, (call.ctx_handle, s.keys.handle, s.values.handle, s.offsets.handle,
                                 s.keys_out.handle, s.values_out.handle, s.options));
}

/* 0 is legal here: no values. */
static int values_drawn(void) {
    const uint64_t refusals = call.refusals;
    const int values = enum_drawn(VSCAN_INT, VSCAN_UINT8, VSCAN_ERROR_ENUM);
    if (values == 0) call.refusals = refusals;
    return values;
}

void fuzz_sort_reserve(void) {
    context_drawn();
    const int keys = enum_drawn(VSCAN_INT, VSCAN_UINT8, VSCAN_ERROR_ENUM);
    const int values = below(3) ? 0 : values_drawn();
    const int64_t n = hostile() ? hostile_number(0) : below(100000);
    if (keys == VSCAN_BYTE || keys == VSCAN_BIT || keys == VSCAN_UINT8) refuse(VSCAN_ERROR_TYPE);
    if (values == VSCAN_BYTE || values == VSCAN_BIT || values == VSCAN_UINT8)
        refuse(VSCAN_ERROR_TYPE);
    if (n < 0) refuse(VSCAN_ERROR_LENGTH);
    if (n > PTRDIFF_MAX / 64) refuse(VSCAN_ERROR_OVERFLOW);
    if (n > LONGEST * 2) refuse(VSCAN_ERROR_HOST_MEMORY);
    MAKE(vscan_sort_reserve, (call.ctx_handle, (vscan_type)keys, (vscan_type)values, n));
}
