/* SPDX-License-Identifier: Apache-2.0 */
/* Calls on keys: their heads, and bounds in a sorted vector; and the positions of flags. */
#include <string.h>

#include "fuzz.h"
#include "map_reference.h"
#include "move_reference.h"

/* The elements that it holds, in the order of sorts. */
static unsigned char *in_order(struct arg a) {
    const struct sort_rule rule = {.type = a.b->type};
    const int64_t n = a.b->n;
    const size_t size = (size_t)bytes_of(a.b->type, 1);
    int64_t *const positions = scratch(n * 8), *const room = scratch(n * 8);
    unsigned char *const v = scratch(a.b->bytes + 8);
    for (int64_t i = 0; i < n; i++) positions[i] = i;
    sort_positions(&rule, shadow_of(a.b), positions, room, 0, n);
    for (int64_t i = 0; i < n; i++)
        memcpy(v + (size_t)i * size, shadow_of(a.b) + (size_t)positions[i] * size, size);
    return v;
}

/* ---- Heads ------------------------------------------------------------------------------------- */

void fuzz_keys_to_heads(void) {
    context_drawn();
    const vscan_type type = type_drawn(NUMBERS), head_type = type_drawn(FLAG_TYPES);
    const int64_t n = length_drawn();
    const struct arg keys = vector_drawn(type, n, VALUES);
    struct arg within = {NULL, NULL};
    if (below(2)) within = vector_drawn(below(2) ? head_type : type_drawn(FLAG_TYPES), n, FLAGS);
    const struct arg heads = output_drawn(head_type, n, within.b != NULL ? &within : &keys);
    check_buffer(keys);
    check_buffer(heads);
    check_type(keys, NUMBERS);
    check_type(heads, FLAG_TYPES);
    if (keys.b != NULL) check_length(heads, keys.b->n);
    check_apart(heads, keys);
    if (within.handle != NULL) {
        check_buffer(within);
        check_type(within, FLAG_TYPES);
        if (keys.b != NULL) check_length(within, keys.b->n);
        check_same_or_apart(heads, within);
    }
    if (right()) {
        if (keys.b->n > 0 && below(2)) write_both(keys.b, in_order(keys));
        const struct sort_rule rule = {.type = keys.b->type};
        const uint8_t *const set = within.handle != NULL ? flags_of(within) : NULL;
        void *const v = copy_of(heads);
        for (int64_t i = 0; i < keys.b->n; i++)
            maps_put_flag(heads.b->type, v, i,
                          i == 0 || (set != NULL && set[i]) ||
                              sort_compare(&rule, shadow_of(keys.b), i - 1, i) != 0);
        expect(heads, v);
    }
    MAKE(vscan_keys_to_heads, (call.ctx_handle, keys.handle, within.handle, heads.handle));
}

/* ---- Runs -------------------------------------------------------------------------------------- */

void draw_runs(struct runs *r, int64_t n, const struct arg *others, int count) {
    const vscan_type type = type_drawn(NUMBERS);
    *r = (struct runs){.keys = vector_drawn(type, n, VALUES)};
    if (below(2)) r->within = vector_drawn(type_drawn(FLAG_TYPES), n, FLAGS);
    if (below(4)) r->keys_out = vector_drawn(type, below(4) ? n : below(n + 1), OPEN);
    check_buffer(r->keys);
    check_type(r->keys, NUMBERS);
    if (r->within.handle != NULL) {
        check_buffer(r->within);
        check_type(r->within, FLAG_TYPES);
        if (r->keys.b != NULL) check_length(r->within, r->keys.b->n);
    }
    struct arg all[ARGUMENTS] = {r->keys, r->within, r->keys_out};
    memcpy(all + 3, others, (size_t)count * sizeof *others);
    if (r->keys_out.handle != NULL) {
        check_buffer(r->keys_out);
        if (r->keys.b != NULL) check_type(r->keys_out, TYPES(r->keys.b->type));
        for (int k = 0; k < count + 3; k++)
            if (k != 2) check_apart(r->keys_out, all[k]);
    }
    r->c = counting_drawn(all, count + 3);
}

int64_t *runs_expected(const struct runs *r, int64_t *count) {
    struct buffer *const keys = r->keys.b;
    if (keys->n > 0 && below(2)) write_both(keys, in_order(r->keys));
    const struct sort_rule rule = {.type = keys->type};
    const size_t size = (size_t)bytes_of(keys->type, 1);
    const uint8_t *const set = r->within.handle != NULL ? flags_of(r->within) : NULL;
    int64_t *const begins = scratch((keys->n + 1) * 8);
    *count = 0;
    for (int64_t i = 0; i < keys->n; i++)
        if (i == 0 || (set != NULL && set[i]) ||
            sort_compare(&rule, shadow_of(keys), i - 1, i) != 0)
            begins[(*count)++] = i;
    begins[*count] = keys->n;
    expect_count(&r->c, *count, true);
    if (r->keys_out.handle == NULL) return begins;
    char *const v = copy_of(r->keys_out);
    for (int64_t k = 0; k < *count && k < r->keys_out.b->n; k++)
        memcpy(v + (size_t)k * size, shadow_of(keys) + (size_t)begins[k] * size, size);
    expect(r->keys_out, v);
    if (*count > r->keys_out.b->n) expect_late(VSCAN_ERROR_OUT_LENGTH);
    return begins;
}

void fuzz_runs(void) {
    context_drawn();
    const int64_t n = length_drawn();
    struct arg offsets = {NULL, NULL};
    if (below(4))
        offsets = vector_drawn(type_drawn(INTEGERS), below(4) ? n + 1 : 1 + below(n + 1), OPEN);
    struct runs r;
    draw_runs(&r, n, &offsets, 1);
    if (offsets.handle != NULL) {
        check_buffer(offsets);
        check_countable(offsets, r.keys.b != NULL ? r.keys.b->n : 0);
        if (offsets.b != NULL && offsets.b->n < 1) refuse(VSCAN_ERROR_LENGTH);
        check_apart(offsets, r.keys);
        check_apart(offsets, r.within);
    }
    const vscan_runs_options o = {
        .size = sizeof o, .within = r.within.handle, .count = r.c.at.handle};
    const void *const options = options_drawn(&o, sizeof o);
    if (right()) {
        int64_t count;
        const int64_t *const begins = runs_expected(&r, &count);
        if (offsets.handle != NULL) {
            void *const v = copy_of(offsets);
            for (int64_t k = 0; k <= count && k < offsets.b->n; k++)
                put_number(offsets.b->type, v, k, begins[k]);
            if (count + 1 > offsets.b->n) expect_late(VSCAN_ERROR_OUT_LENGTH);
            expect(offsets, v);
        }
    }
    MAKE(vscan_runs, (call.ctx_handle, r.keys.handle, r.keys_out.handle, offsets.handle, options));
}

/* ---- Positions of flags ------------------------------------------------------------------------ */

void fuzz_flags_to_positions(void) {
    context_drawn();
    const vscan_type flag_type = type_drawn(FLAG_TYPES), type = type_drawn(INTEGERS);
    const int64_t n = length_drawn();
    const struct arg flags = vector_drawn(flag_type, n, FLAGS);
    const struct arg positions = vector_drawn(type, below(4) ? n : below(n + 1), OPEN);
    check_buffer(flags);
    check_buffer(positions);
    check_type(flags, FLAG_TYPES);
    check_countable(positions, flags.b != NULL ? flags.b->n : 0);
    check_apart(positions, flags);
    const struct arg others[] = {flags, positions};
    const struct counting c = counting_drawn(others, 2);
    const void *const options = counting_options_drawn(&c);
    if (right()) {
        const uint8_t *const set = flags_of(flags);
        void *const v = copy_of(positions);
        int64_t found = 0;
        for (int64_t i = 0; i < flags.b->n; i++) {
            if (!set[i]) continue;
            if (found < positions.b->n) put_number(positions.b->type, v, found, i);
            found++;
        }
        if (found > positions.b->n) expect_late(VSCAN_ERROR_OUT_LENGTH);
        expect(positions, v);
        expect_count(&c, found, true);
    }
    MAKE(vscan_flags_to_positions, (call.ctx_handle, flags.handle, positions.handle, options));
}

/* ---- Bounds ------------------------------------------------------------------------------------ */

struct bounds {
    struct arg sorted, values, positions;
};

int64_t bound_of(const struct sort_rule *rule, const void *numbers, int64_t n, int64_t v,
                 bool upper) {
    int64_t low = 0, high = n;
    while (low < high) {
        const int64_t middle = (low + high) / 2;
        const int order = sort_compare(rule, numbers, middle, v);
        if (order < 0 || (upper && order == 0))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void draw_bounds(struct bounds *d, bool upper) {
    context_drawn();
    const vscan_type type = type_drawn(NUMBERS), to = type_drawn(INTEGERS);
    d->values = vector_drawn(type, length_drawn(), VALUES);
    d->sorted = vector_drawn(type, length_drawn(), VALUES);
    d->positions = vector_drawn(to, length_of(d->values, 0), OPEN);
    check_buffer(d->sorted);
    check_buffer(d->values);
    check_buffer(d->positions);
    check_type(d->sorted, NUMBERS);
    if (d->sorted.b != NULL) {
        check_type(d->values, TYPES(d->sorted.b->type));
        check_countable(d->positions, d->sorted.b->n);
    }
    check_type(d->positions, INTEGERS);
    if (d->values.b != NULL) check_length(d->positions, d->values.b->n);
    check_apart(d->positions, d->sorted);
    check_apart(d->positions, d->values);
    if (!right()) return;
    const struct sort_rule rule = {.type = d->sorted.b->type};
    const int64_t n = d->sorted.b->n;
    const size_t size = (size_t)bytes_of(rule.type, 1);
    unsigned char *const v = copy_of(d->positions);
    unsigned char *const numbers = scratch((n + 1) * (int64_t)size);
    if (n > 0) { /* they are in order from now on */
        unsigned char *const ordered = in_order(d->sorted);
        write_both(d->sorted.b, ordered);
        memcpy(numbers, ordered, (size_t)n * size);
    }
    for (int64_t i = 0; i < d->values.b->n; i++) {
        memcpy(numbers + (size_t)n * size, shadow_of(d->values.b) + (size_t)i * size, size);
        put_number(d->positions.b->type, v, i, bound_of(&rule, numbers, n, n, upper));
    }
    expect(d->positions, v);
}

void fuzz_lower_bound(void) {
    struct bounds d;
    draw_bounds(&d, false);
    MAKE(vscan_lower_bound,
         (call.ctx_handle, d.sorted.handle, d.values.handle, d.positions.handle));
}

void fuzz_upper_bound(void) {
    struct bounds d;
    draw_bounds(&d, true);
    MAKE(vscan_upper_bound,
         (call.ctx_handle, d.sorted.handle, d.values.handle, d.positions.handle));
}
