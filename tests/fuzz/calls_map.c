/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that work element by element. */
#include <string.h>

#include "fuzz.h"
#include "map_reference.h"

static void *element(vscan_type type, const void *v, int64_t i) {
    return maps_at(type, (void *)(uintptr_t)v, i);
}

/* What a flag vector of the type becomes where it is set or not; other bytes as they were. */
static void put_flags(struct arg to, const uint8_t *set) {
    void *const v = copy_of(to);
    for (int64_t i = 0; i < to.b->n; i++) maps_put_flag(to.b->type, v, i, set[i] != 0);
    expect(to, v);
}

/* ---- Unary, binary ----------------------------------------------------------------------------- */

void fuzz_map_unary(void) {
    context_drawn();
    const int op = enum_drawn(VSCAN_UNARY_NEGATE, VSCAN_UNARY_ROUND_EVEN, VSCAN_ERROR_ENUM);
    const vscan_type type = type_drawn(op == VSCAN_UNARY_NOT           ? ALL_TYPES
                                       : op >= VSCAN_UNARY_SQUARE_ROOT ? SCANNED & ~INTEGERS
                                                                       : NUMBERS);
    const int64_t n = length_drawn();
    const struct arg in = vector_drawn(type, n, VALUES), out = output_drawn(type, n, &in);
    check_in_out(in, out);
    if (in.b != NULL && !maps_has_unary((vscan_unary)op, in.b->type)) refuse(VSCAN_ERROR_PAIR);
    if (right()) {
        void *const v = copy_of(out);
        for (int64_t i = 0; i < in.b->n; i++)
            if (maps_is_flag(in.b->type))
                maps_put_flag(in.b->type, v, i, !maps_flag(in.b->type, shadow_of(in.b), i));
            else
                maps_unary((vscan_unary)op, in.b->type, element(in.b->type, shadow_of(in.b), i),
                           element(in.b->type, v, i));
        expect(out, v);
    }
    MAKE(vscan_map_unary, (call.ctx_handle, (vscan_unary)op, in.handle, out.handle));
}

static int binary_drawn(void) {
    return enum_drawn(VSCAN_BINARY_ADD, VSCAN_BINARY_SHIFT_RIGHT, VSCAN_ERROR_ENUM);
}

static vscan_type type_for(int op, bool flags_too) {
    unsigned types = 0;
    for (int t = VSCAN_INT; t <= VSCAN_LONG; t++)
        if (maps_has_binary((vscan_binary)op, (vscan_type)t) &&
            (flags_too || !maps_is_flag((vscan_type)t)))
            types |= TYPES(t);
    return type_drawn(types != 0 ? types : NUMBERS);
}

/* *v op *w into out; a division of integers by 0 is a late error. */
static void binary(int op, vscan_type type, const void *v, const void *w, void *out) {
    maps_binary((vscan_binary)op, type, v, w, out);
    if ((op == VSCAN_BINARY_DIVIDE || op == VSCAN_BINARY_REMAINDER) && maps_is_integer(type) &&
        !maps_truth(type, w, 0))
        expect_late(VSCAN_ERROR_DIVISION);
}

void fuzz_map_binary(void) {
    context_drawn();
    const int op = binary_drawn();
    const vscan_type type = type_for(op, true);
    const int64_t n = length_drawn();
    const struct arg a = vector_drawn(type, n, VALUES);
    const struct arg b = below(4) == 0 ? a : vector_drawn(type, n, VALUES);
    const struct arg out = output_drawn(type, n, below(2) ? &a : &b);
    check_in_out(a, out);
    check_in_out(b, out);
    check_like(b, a);
    if (a.b != NULL && !maps_has_binary((vscan_binary)op, a.b->type)) refuse(VSCAN_ERROR_PAIR);
    if (right()) {
        void *const v = copy_of(out);
        const vscan_type t = a.b->type;
        const unsigned char *const x = shadow_of(a.b), *const y = shadow_of(b.b);
        for (int64_t i = 0; i < a.b->n; i++) {
            const bool p = maps_is_flag(t) && maps_flag(t, x, i);
            const bool q = maps_is_flag(t) && maps_flag(t, y, i);
            if (!maps_is_flag(t))
                binary(op, t, element(t, x, i), element(t, y, i), element(t, v, i));
            else
                maps_put_flag(t, v, i,
                              op == VSCAN_BINARY_AND  ? p && q
                              : op == VSCAN_BINARY_OR ? p || q
                                                      : p != q);
        }
        expect(out, v);
    }
    MAKE(vscan_map_binary, (call.ctx_handle, (vscan_binary)op, a.handle, b.handle, out.handle));
}

struct scalar {
    int op;
    struct arg a, out;
    const void *value;
};

static void draw_scalar(struct scalar *s, bool left) {
    context_drawn();
    s->op = binary_drawn();
    const vscan_type type = type_for(s->op, false);
    const int64_t n = length_drawn();
    s->a = vector_drawn(type, n, VALUES);
    s->value = value_drawn(s->a.b != NULL ? s->a.b->type : type, false);
    s->out = output_drawn(type, n, &s->a);
    check_in_out(s->a, s->out);
    if (s->a.b != NULL &&
        (maps_is_flag(s->a.b->type) || !maps_has_binary((vscan_binary)s->op, s->a.b->type)))
        refuse(VSCAN_ERROR_PAIR);
    if (!right()) return;
    void *const v = copy_of(s->out);
    const vscan_type t = s->a.b->type;
    uint64_t value[1] = {0};
    memcpy(value, s->value, (size_t)bytes_of(t, 1));
    for (int64_t i = 0; i < s->a.b->n; i++) {
        const void *const x = element(t, shadow_of(s->a.b), i);
        binary(s->op, t, left ? value : x, left ? x : value, element(t, v, i));
    }
    expect(s->out, v);
}

void fuzz_map_right(void) {
    struct scalar s;
    draw_scalar(&s, false);
    MAKE(vscan_map_right, (call.ctx_handle, (vscan_binary)s.op, s.a.handle, s.value, s.out.handle));
}

void fuzz_map_left(void) {
    struct scalar s;
    draw_scalar(&s, true);
    MAKE(vscan_map_left, (call.ctx_handle, (vscan_binary)s.op, s.value, s.a.handle, s.out.handle));
}

/* ---- Comparison -------------------------------------------------------------------------------- */

struct comparison {
    int relation;
    struct arg a, b, flags;
    const void *right;
};

static void draw_comparison(struct comparison *c, bool by_value) {
    context_drawn();
    *c = (struct comparison){.relation =
                                 enum_drawn(VSCAN_EQUAL, VSCAN_GREATER_OR_EQUAL, VSCAN_ERROR_ENUM)};
    const vscan_type type = type_drawn(COMPARED), flag_type = type_drawn(FLAG_TYPES);
    const int64_t n = length_drawn();
    c->a = vector_drawn(type, n, VALUES);
    if (by_value)
        c->right = value_drawn(c->a.b != NULL ? c->a.b->type : type, false);
    else
        c->b = below(4) == 0 ? c->a : vector_drawn(type, n, VALUES);
    c->flags = output_drawn(flag_type, n, &c->a);
    check_buffer(c->a);
    if (!by_value) check_buffer(c->b);
    check_buffer(c->flags);
    check_type(c->a, COMPARED);
    check_like(c->b, c->a);
    check_type(c->flags, FLAG_TYPES);
    if (c->a.b != NULL) check_length(c->flags, c->a.b->n);
    check_same_or_apart(c->flags, c->a);
    check_same_or_apart(c->flags, c->b);
    if (!right()) return;
    uint8_t *const set = scratch(c->a.b->n);
    const vscan_type t = c->a.b->type;
    uint64_t value[1] = {0};
    if (by_value) memcpy(value, c->right, (size_t)bytes_of(t, 1));
    for (int64_t i = 0; i < c->a.b->n; i++)
        set[i] = maps_related((vscan_relation)c->relation, t, element(t, shadow_of(c->a.b), i),
                              by_value ? value : element(t, shadow_of(c->b.b), i));
    put_flags(c->flags, set);
}

void fuzz_compare(void) {
    struct comparison c;
    draw_comparison(&c, false);
    MAKE(vscan_compare,
         (call.ctx_handle, (vscan_relation)c.relation, c.a.handle, c.b.handle, c.flags.handle));
}

void fuzz_compare_right(void) {
    struct comparison c;
    draw_comparison(&c, true);
    MAKE(vscan_compare_right,
         (call.ctx_handle, (vscan_relation)c.relation, c.a.handle, c.right, c.flags.handle));
}

/* ---- Selection --------------------------------------------------------------------------------- */

struct selection {
    struct arg flags, a, b, out;
    const void *value;
};

/* One of a and b may be a value. */
static void draw_selection(struct selection *s, bool a_is_value, bool b_is_value) {
    context_drawn();
    *s = (struct selection){.value = NULL};
    const vscan_type type = type_drawn(ALL_TYPES), flag_type = type_drawn(FLAG_TYPES);
    const int64_t n = length_drawn();
    s->flags = vector_drawn(flag_type, n, FLAGS);
    if (!a_is_value) s->a = vector_drawn(type, n, VALUES);
    if (!b_is_value) s->b = !a_is_value && below(4) == 0 ? s->a : vector_drawn(type, n, VALUES);
    const struct arg v = a_is_value ? s->b : s->a;
    if (a_is_value || b_is_value) s->value = value_drawn(v.b != NULL ? v.b->type : type, false);
    s->out = output_drawn(type, n, b_is_value || (!a_is_value && below(2)) ? &s->a : &s->b);
    check_flags(s->flags, v, s->out);
    if (!a_is_value) check_in_out(s->a, s->out);
    if (!b_is_value) check_in_out(s->b, s->out);
    if (!a_is_value && !b_is_value) check_like(s->b, s->a);
    if (!right()) return;
    const uint8_t *const set = flags_of(s->flags);
    void *const to = copy_of(s->out);
    const vscan_type t = v.b->type;
    for (int64_t i = 0; i < v.b->n; i++) {
        const bool value = set[i] ? a_is_value : b_is_value;
        const unsigned char *const from = value ? s->value : shadow_of(set[i] ? s->a.b : s->b.b);
        if (value)
            put_element(t, to, i, from);
        else if (t == VSCAN_BIT)
            maps_put_flag(t, to, i, maps_flag(t, from, i));
        else
            put_element(t, to, i, element(t, from, i));
    }
    expect(s->out, to);
}

void fuzz_select(void) {
    struct selection s;
    draw_selection(&s, false, false);
    MAKE(vscan_select, (call.ctx_handle, s.flags.handle, s.a.handle, s.b.handle, s.out.handle));
}

void fuzz_select_right(void) {
    struct selection s;
    draw_selection(&s, false, true);
    MAKE(vscan_select_right, (call.ctx_handle, s.flags.handle, s.a.handle, s.value, s.out.handle));
}

void fuzz_select_left(void) {
    struct selection s;
    draw_selection(&s, true, false);
    MAKE(vscan_select_left, (call.ctx_handle, s.flags.handle, s.value, s.b.handle, s.out.handle));
}

/* ---- Conversion, index, distribute ------------------------------------------------------------- */

void fuzz_convert(void) {
    context_drawn();
    const vscan_type from = type_drawn(ALL_TYPES), to = type_drawn(ALL_TYPES);
    const int64_t n = length_drawn();
    const struct arg in = vector_drawn(from, n, VALUES), out = output_drawn(to, n, &in);
    check_buffer(in);
    check_buffer(out);
    if (in.b != NULL) check_length(out, in.b->n);
    check_same_or_apart(out, in);
    if (right()) {
        void *const v = copy_of(out);
        const vscan_type f = in.b->type, t = out.b->type;
        for (int64_t i = 0; i < in.b->n; i++) {
            const bool truth = maps_truth(f, shadow_of(in.b), i);
            const double one = truth;
            if (maps_is_flag(t))
                maps_put_flag(t, v, i, truth);
            else if (maps_is_flag(f))
                maps_convert(VSCAN_DOUBLE, &one, t, element(t, v, i));
            else if (f == t)
                put_element(t, v, i, element(f, shadow_of(in.b), i));
            else
                maps_convert(f, element(f, shadow_of(in.b), i), t, element(t, v, i));
        }
        expect(out, v);
    }
    MAKE(vscan_convert, (call.ctx_handle, in.handle, out.handle));
}

void fuzz_index(void) {
    context_drawn();
    const struct arg out = vector_drawn(type_drawn(NUMBERS), length_drawn(), OPEN);
    const int64_t first = below(2) ? hostile_number(100) : below(1000);
    const int64_t step = below(2) ? hostile_number(1) : below(100) - 50;
    check_buffer(out);
    check_type(out, NUMBERS);
    if (right()) {
        void *const v = copy_of(out);
        for (int64_t i = 0; i < out.b->n; i++) {
            const int64_t x = (int64_t)((uint64_t)first + (uint64_t)i * (uint64_t)step);
            put_number(out.b->type, v, i, x);
            if ((TYPES(out.b->type) & INTEGERS) == 0)
                maps_convert(VSCAN_LONG, &x, out.b->type, element(out.b->type, v, i));
        }
        expect(out, v);
    }
    MAKE(vscan_index, (call.ctx_handle, first, step, out.handle));
}

void fuzz_distribute(void) {
    context_drawn();
    const vscan_type type = type_drawn(ALL_TYPES);
    const struct arg value = vector_drawn(type, 1, FLAGS);
    const struct arg out = vector_drawn(type, length_drawn(), OPEN);
    check_buffer(value);
    check_buffer(out);
    if (out.b != NULL) check_type(value, TYPES(out.b->type));
    check_length(value, 1);
    check_apart(value, out);
    if (right()) {
        void *const v = copy_of(out);
        const uint8_t flag = type == VSCAN_BIT && maps_flag(type, shadow_of(value.b), 0);
        for (int64_t i = 0; i < out.b->n; i++)
            put_element(out.b->type, v, i,
                        out.b->type == VSCAN_BIT ? &flag : (const void *)shadow_of(value.b));
        expect(out, v);
    }
    MAKE(vscan_distribute, (call.ctx_handle, value.handle, out.handle));
}
