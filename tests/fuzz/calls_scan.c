/* SPDX-License-Identifier: Apache-2.0 */
/* Scans and reductions of vectors, segmented or not, with and without a carry. */
#include <string.h>

#include "carry.h"
#include "fuzz.h"
#include "reference.h"

/* What several of these have in common. */
struct scanned {
    int op, kind, direction;
    vscan_type type; /* of results */
    bool widens;     /* in is of int and results are of long, in a sum */
    struct arg in, initial_buffer;
    const void *initial;
    vscan_type initial_type; /* as it was drawn */
    struct carry_arg carry;
    bool goes_on; /* with a carry: one that was found, or a new one */
};

/* The operator, the type and so on; often those of a carry with which the call then goes on, more often
   than not the one that a scan was last given. */
static void draw_scan(struct scanned *s, bool has_kind, bool segmented) {
    const int64_t way = below(8);
    const int64_t first = way > 4 ? last_carry : way == 4 ? below(CARRIES) : CARRIES;
    *s = (struct scanned){.op = enum_drawn(VSCAN_PLUS, LAST_OP, VSCAN_ERROR_ENUM)};
    if (has_kind) s->kind = enum_drawn(VSCAN_INCLUSIVE, VSCAN_EXCLUSIVE, VSCAN_ERROR_ENUM);
    s->direction = enum_drawn(VSCAN_FORWARD, VSCAN_BACKWARD, VSCAN_ERROR_ENUM);
    s->type = type_drawn(SCANNED);
    s->goes_on = way >= 4;
    if (call.refusals != 0) return; /* what is hostile stays */
    for (int64_t k = first; k < CARRIES && s->carry.y == NULL; k++) {
        struct carry *const y = &carries[k];
        if (!carry_alive(y) || y->ctx != call.home || (y->n > 0 && y->segmented != segmented))
            continue;
        s->carry = (struct carry_arg){y->handle, y};
        s->op = (int)y->op;
        s->type = y->type;
        s->direction = y->direction;
    }
}

/* Of a sum of longs sometimes ints are the elements. */
static struct arg in_drawn(const struct scanned *s, int64_t n) {
    const bool ints = s->op == VSCAN_PLUS && s->type == VSCAN_LONG && below(2);
    return vector_drawn(ints ? VSCAN_INT : s->type, n, VALUES);
}

/* What the vectors say; results: their type, or 0. */
static void set_widens(struct scanned *s, vscan_type results) {
    s->widens = s->op == VSCAN_PLUS && s->in.b != NULL && s->in.b->type == VSCAN_INT &&
                results == VSCAN_LONG;
}

/* Of initial values, totals and carries; 0: in is none. */
static vscan_type value_type(const struct scanned *s) {
    if (s->in.b == NULL) return (vscan_type)0;
    return s->widens ? VSCAN_LONG : s->in.b->type;
}

/* At most one initial value, or a carry; two of them are refused. */
static void draw_begin(struct scanned *s, bool may_carry) {
    const vscan_type type = s->in.b != NULL ? value_type(s) : VSCAN_INT;
    const int64_t way = s->carry.y != NULL ? 0 : s->goes_on ? 3 : below(6);
    const bool two = hostile();
    s->initial_type = type;
    s->initial = way == 1 || (two && way < 4) ? value_drawn(type, true) : NULL;
    if (way == 2 || (two && way > 2)) s->initial_buffer = vector_drawn(type, 1, VALUES);
    if (may_carry && (way == 3 || (two && way > 3)))
        s->carry = carry_drawn(s->op, type, (int32_t)s->direction);
    if (s->carry.y != NULL) last_carry = s->carry.y - carries;
}

static void check_begin(const struct scanned *s) {
    if (s->initial_buffer.handle != NULL) {
        if (check_buffer(s->initial_buffer)) check_length(s->initial_buffer, 1);
        if (s->in.b != NULL) check_type(s->initial_buffer, TYPES(value_type(s)));
    }
    if (s->initial != NULL && s->in.b != NULL && s->initial_type != value_type(s))
        refuse(VSCAN_ERROR_TYPE);
    if (s->initial != NULL && s->initial_buffer.handle != NULL) refuse(VSCAN_ERROR_VALUE);
    check_carry(s->carry, s->op, value_type(s), (int32_t)s->direction,
                s->initial != NULL || s->initial_buffer.handle != NULL);
}

/* What all scans have in common, and what those with a total have. */
static void check_scan(const struct scanned *s, struct arg out) {
    if (s->widens) {
        check_buffer(s->in);
        check_buffer(out);
        check_length(out, s->in.b->n);
        check_apart(out, s->in);
    } else {
        check_in_out(s->in, out);
    }
    check_pair(s->op, s->in);
    check_begin(s);
    check_apart(s->initial_buffer, out);
}

static void check_total(const struct scanned *s, struct arg total, struct arg out) {
    if (total.handle == NULL) return;
    if (check_buffer(total)) check_length(total, 1);
    if (s->in.b != NULL) check_type(total, TYPES(value_type(s)));
    check_apart(total, s->in);
    check_apart(total, out);
    check_same_or_apart(total, s->initial_buffer);
}

static const void *initial_of(const struct scanned *s) {
    if (s->initial_buffer.handle == NULL) return s->initial;
    return shadow_of(s->initial_buffer.b);
}

/* A one-element buffer for a total; it may be the initial value's. */
static struct arg total_drawn(const struct scanned *s) {
    const int64_t way = below(4);
    if (way == 0 && s->initial_buffer.handle != NULL && s->initial_buffer.b != NULL)
        return s->initial_buffer;
    return way < 2 ? vector_drawn(s->type, 1, OPEN) : (struct arg){NULL, NULL};
}

/* In's elements as the type of the results. */
static char *elements_of(const struct scanned *s) {
    if (!s->widens) return (char *)shadow_of(s->in.b);
    const int64_t n = s->in.b->n;
    int64_t *const longs = scratch(8 * n + 8);
    for (int64_t i = 0; i < n; i++) longs[i] = ((const int32_t *)(void *)shadow_of(s->in.b))[i];
    return (char *)longs;
}

/* A carry's or the reference's results; false: they are not known. */
static bool results(const struct scanned *s, const uint8_t *flags, struct reference *r,
                    struct piece *p) {
    const int64_t n = s->in.b->n;
    const vscan_type type = value_type(s);
    *p = (struct piece){.n = n, .in = elements_of(s), .flags = flags, .exclusive = s->kind != 0};
    p->out = scratch(bytes_of(type, n) + 8);
    p->total = scratch(8);
    p->totals = scratch(bytes_of(type, n + 1)); /* of a carry's open segment, too */
    if (s->carry.y != NULL) return carry_scan(s->carry.y, p);
    *r = (struct reference){.op = (vscan_op)s->op,
                            .type = type,
                            .n = n,
                            .in = p->in,
                            .flags = flags,
                            .initial = initial_of(s),
                            .exclusive = s->kind != 0,
                            .backward = s->direction != 0,
                            .out = p->out,
                            .total = p->total,
                            .totals = p->totals};
    reference_scan(r);
    p->count = r->count;
    return true;
}

/* The initial value as the options have it. */
static vscan_value initial_value(const struct scanned *s) {
    return option_value(s->initial_type, s->initial);
}

void fuzz_scan(void) {
    context_drawn();
    struct scanned s;
    draw_scan(&s, true, false);
    const int64_t n = length_drawn();
    s.in = in_drawn(&s, n);
    const struct arg out = output_drawn(s.type, n, &s.in);
    set_widens(&s, out.b != NULL ? out.b->type : (vscan_type)0);
    draw_begin(&s, true);
    const struct arg total = total_drawn(&s);
    check_scan(&s, out);
    check_total(&s, total, out);
    const vscan_scan_options o = {.size = sizeof o,
                                  .kind = s.kind,
                                  .direction = s.direction,
                                  .initial = initial_value(&s),
                                  .initial_buffer = s.initial_buffer.handle,
                                  .total = total.handle,
                                  .carry = s.carry.handle};
    const void *const options = options_drawn(&o, sizeof o);
    if (right()) {
        struct reference r;
        struct piece p;
        const bool is_known = results(&s, NULL, &r, &p);
        expect(out, is_known ? p.out : NULL);
        if (total.handle != NULL) expect(total, is_known ? p.total : NULL);
    }
    MAKE(vscan_scan, (call.ctx_handle, (vscan_op)s.op, s.in.handle, out.handle, options));
}

void fuzz_reduce(void) {
    context_drawn();
    struct scanned s;
    draw_scan(&s, false, false);
    s.in = in_drawn(&s, length_drawn());
    set_widens(&s, s.type); /* as it should be */
    draw_begin(&s, true);
    struct arg total = total_drawn(&s);
    if (total.handle == NULL && s.carry.handle == NULL && !hostile())
        total = vector_drawn(s.type, 1, OPEN);
    if (total.handle != NULL)
        set_widens(&s, total.b != NULL ? total.b->type : (vscan_type)0);
    else
        set_widens(&s, s.carry.y != NULL ? s.carry.y->type : (vscan_type)0);
    check_buffer(s.in);
    check_pair(s.op, s.in);
    check_begin(&s);
    if (total.handle == NULL && s.carry.handle == NULL) refuse(VSCAN_ERROR_NULL);
    check_total(&s, total, (struct arg){NULL, NULL});
    vscan_reduce_options o = {.size = sizeof o,
                              .direction = s.direction,
                              .initial = initial_value(&s),
                              .initial_buffer = s.initial_buffer.handle,
                              .carry = s.carry.handle};
    if (hostile()) {
        o.unused = 1 + (int32_t)below(200);
        refuse(VSCAN_ERROR_VALUE);
    }
    const void *const options = options_drawn(&o, sizeof o);
    if (right()) {
        struct reference r;
        struct piece p;
        const bool is_known = results(&s, NULL, &r, &p);
        if (total.handle != NULL) expect(total, is_known ? p.total : NULL);
    }
    MAKE(vscan_reduce, (call.ctx_handle, (vscan_op)s.op, s.in.handle, total.handle, options));
}

/* ---- Segments ---------------------------------------------------------------------------------- */

/* The segments' totals as far as there is room; more are a late error. */
static void expect_totals(struct arg totals, const struct piece *p, bool is_known) {
    if (totals.handle == NULL) return;
    if (!is_known) {
        expect_open(totals);
        return;
    }
    const int64_t n = totals.b->n, some = p->count < n ? p->count : n;
    if (p->count > n) expect_late(VSCAN_ERROR_TOTALS_LENGTH);
    void *const v = copy_of(totals);
    memcpy(v, p->totals, (size_t)bytes_of(totals.b->type, some));
    expect(totals, v);
}

/* So many totals as there are segments, or more, or fewer, as the flags seem to say. */
static struct arg totals_drawn(vscan_type type, struct arg flags, int64_t n) {
    int64_t count = n > 0;
    if (flags.b != NULL && flags.b->memory != NULL && (TYPES(flags.b->type) & FLAG_TYPES) != 0) {
        const uint8_t *const set = flags_of(flags);
        for (int64_t i = 1; i < flags.b->n; i++) count += set[i];
    }
    const int64_t way = below(8);
    if (way == 7) count = below(count + 1);
    return vector_drawn(type, count + (way == 6 ? below(40) : 0), OPEN);
}

void fuzz_scan_segmented(void) {
    context_drawn();
    struct scanned s;
    draw_scan(&s, true, true);
    const int64_t n = length_drawn();
    s.in = vector_drawn(s.type, n, VALUES);
    const struct arg flags = vector_drawn(type_drawn(FLAG_TYPES), n, FLAGS);
    const struct arg out = output_drawn(s.type, n, &s.in);
    draw_begin(&s, true);
    struct arg totals = {NULL, NULL};
    if (below(2)) totals = totals_drawn(s.type, flags, n);
    check_scan(&s, out);
    check_flags(flags, s.in, out);
    const struct arg others[] = {s.in, flags, out, s.initial_buffer, totals};
    if (totals.handle != NULL) {
        check_buffer(totals);
        if (s.in.b != NULL) check_type(totals, TYPES(s.in.b->type));
        for (int k = 0; k < 4; k++) check_apart(totals, others[k]);
    }
    const struct counting c = counting_drawn(others, 5);
    const vscan_scan_segmented_options o = {.size = sizeof o,
                                            .kind = s.kind,
                                            .direction = s.direction,
                                            .initial = initial_value(&s),
                                            .initial_buffer = s.initial_buffer.handle,
                                            .totals = totals.handle,
                                            .count = c.at.handle,
                                            .carry = s.carry.handle};
    const void *const options = options_drawn(&o, sizeof o);
    if (right()) {
        struct reference r;
        struct piece p;
        const bool is_known = results(&s, flags_of(flags), &r, &p);
        expect(out, is_known ? p.out : NULL);
        expect_totals(totals, &p, is_known);
        expect_count(&c, p.count, is_known);
        if (!is_known && totals.handle != NULL) { /* which may be too few */
            call_dropped();
            return;
        }
    }
    MAKE(vscan_scan_segmented,
         (call.ctx_handle, (vscan_op)s.op, s.in.handle, flags.handle, out.handle, options));
}

/* What reductions by flags and by offsets have in common after their vectors. */
struct reduction {
    struct scanned s;
    struct arg by, totals;
    struct counting c;
    const void *options;
};

static void draw_reduction(struct reduction *r, bool by_offsets) {
    set_widens(&r->s, r->totals.b != NULL ? r->totals.b->type : (vscan_type)0);
    draw_begin(&r->s, false);
    check_buffer(r->s.in);
    check_buffer(r->totals);
    check_pair(r->s.op, r->s.in);
    if (r->s.in.b != NULL) check_type(r->totals, TYPES(value_type(&r->s)));
    check_apart(r->totals, r->s.in);
    check_begin(&r->s);
    check_apart(r->totals, r->s.initial_buffer);
    if (by_offsets) {
        const vscan_reduce_by_offsets_options o = {.size = sizeof o,
                                                   .initial = initial_value(&r->s),
                                                   .initial_buffer = r->s.initial_buffer.handle};
        r->options = options_drawn(&o, sizeof o);
        return;
    }
    const struct arg others[] = {r->s.in, r->by, r->totals, r->s.initial_buffer};
    r->c = counting_drawn(others, 4);
    const vscan_reduce_segmented_options o = {.size = sizeof o,
                                              .initial = initial_value(&r->s),
                                              .initial_buffer = r->s.initial_buffer.handle,
                                              .count = r->c.at.handle};
    r->options = options_drawn(&o, sizeof o);
}

void fuzz_reduce_segmented(void) {
    context_drawn();
    struct reduction d = {.s = {.op = enum_drawn(VSCAN_PLUS, LAST_OP, VSCAN_ERROR_ENUM)}};
    const vscan_type type = d.s.type = type_drawn(SCANNED), flag_type = type_drawn(FLAG_TYPES);
    const int64_t n = length_drawn();
    d.s.in = in_drawn(&d.s, n);
    d.by = vector_drawn(flag_type, n, FLAGS);
    d.totals = totals_drawn(type, d.by, n);
    check_flags(d.by, d.s.in, d.totals);
    draw_reduction(&d, false);
    if (right()) {
        struct reference r;
        struct piece p;
        results(&d.s, flags_of(d.by), &r, &p);
        expect_totals(d.totals, &p, true);
        expect_count(&d.c, p.count, true);
    }
    MAKE(vscan_reduce_segmented, (call.ctx_handle, (vscan_op)d.s.op, d.s.in.handle, d.by.handle,
                                  d.totals.handle, d.options));
}

/* Results and totals, or NULL, of segments by offsets, each a vector of its own; false where offsets are not in
   order. */
static bool by_offsets(const struct scanned *s, struct arg by, void *out, void *totals) {
    const int64_t n = s->in.b->n, count = by.b->n - 1;
    const vscan_type type = value_type(s);
    const char *const in = elements_of(s);
    int64_t before = 0;
    uint64_t none;
    for (int64_t k = 0; k <= count; k++) {
        const int64_t at = number_at(by.b->type, shadow_of(by.b), k);
        if (at < before || at > n) return false;
        struct reference r = {.op = (vscan_op)s->op,
                              .type = type,
                              .n = at - before,
                              .in = in + bytes_of(type, before),
                              .initial = initial_of(s),
                              .exclusive = s->kind != 0,
                              .backward = s->direction != 0,
                              .out = out != NULL ? (char *)out + bytes_of(type, before) : NULL,
                              .total = totals != NULL ? (char *)totals + bytes_of(type, k - 1)
                                                      : (void *)&none};
        if (k > 0) reference_scan(&r);
        before = at;
    }
    return true;
}

static void check_offsets(struct arg offsets, struct arg other) {
    check_buffer(offsets);
    check_type(offsets, INTEGERS);
    check_apart(offsets, other);
    if (offsets.b != NULL && offsets.b->n < 1) refuse(VSCAN_ERROR_LENGTH);
}

void fuzz_scan_by_offsets(void) {
    context_drawn();
    struct scanned s;
    draw_scan(&s, true, false);
    s.carry = (struct carry_arg){NULL, NULL}; /* it takes none */
    s.goes_on = false;
    const int64_t n = length_drawn();
    s.in = vector_drawn(s.type, n, VALUES);
    const struct arg offsets = offsets_drawn(type_drawn(INTEGERS), n);
    const struct arg out = output_drawn(s.type, n, &s.in);
    draw_begin(&s, false);
    struct arg totals = {NULL, NULL};
    if (below(2)) totals = vector_drawn(s.type, length_of(offsets, 1) - 1, OPEN);
    check_scan(&s, out);
    check_offsets(offsets, out);
    if (totals.handle != NULL) {
        check_buffer(totals);
        if (s.in.b != NULL) check_type(totals, TYPES(s.in.b->type));
        if (offsets.b != NULL) check_length(totals, offsets.b->n - 1);
        const struct arg others[] = {s.in, offsets, out, s.initial_buffer};
        for (int k = 0; k < 4; k++) check_apart(totals, others[k]);
    }
    const vscan_scan_by_offsets_options o = {.size = sizeof o,
                                             .kind = s.kind,
                                             .direction = s.direction,
                                             .initial = initial_value(&s),
                                             .initial_buffer = s.initial_buffer.handle,
                                             .totals = totals.handle};
    const void *const options = options_drawn(&o, sizeof o);
    if (right()) {
        void *const results = copy_of(out);
        void *const sums = totals.handle != NULL ? scratch(totals.b->bytes + 8) : NULL;
        const bool in_order = by_offsets(&s, offsets, results, sums);
        if (!in_order) expect_late(VSCAN_ERROR_OFFSETS);
        expect(out, in_order ? results : NULL);
        if (totals.handle != NULL) expect(totals, in_order ? sums : NULL);
    }
    MAKE(vscan_scan_by_offsets,
         (call.ctx_handle, (vscan_op)s.op, s.in.handle, offsets.handle, out.handle, options));
}

void fuzz_reduce_by_offsets(void) {
    context_drawn();
    struct reduction d = {.s = {.op = enum_drawn(VSCAN_PLUS, LAST_OP, VSCAN_ERROR_ENUM)}};
    const vscan_type type = d.s.type = type_drawn(SCANNED), offset_type = type_drawn(INTEGERS);
    const int64_t n = length_drawn();
    d.s.in = in_drawn(&d.s, n);
    d.by = offsets_drawn(offset_type, n);
    d.totals = vector_drawn(type, length_of(d.by, 1) - 1, OPEN);
    check_offsets(d.by, d.totals);
    if (d.by.b != NULL) check_length(d.totals, d.by.b->n - 1);
    draw_reduction(&d, true);
    if (right()) {
        void *const totals = scratch(d.totals.b->bytes + 8);
        const bool in_order = by_offsets(&d.s, d.by, NULL, totals);
        if (!in_order) expect_late(VSCAN_ERROR_OFFSETS);
        expect(d.totals, in_order ? totals : NULL);
    }
    MAKE(vscan_reduce_by_offsets, (call.ctx_handle, (vscan_op)d.s.op, d.s.in.handle, d.by.handle,
                                   d.totals.handle, d.options));
}

void fuzz_reduce_by_key(void) {
    context_drawn();
    struct scanned s = {.op = enum_drawn(VSCAN_PLUS, LAST_OP, VSCAN_ERROR_ENUM)};
    const vscan_type type = s.type = type_drawn(SCANNED);
    const int64_t n = length_drawn();
    s.in = in_drawn(&s, n);
    const struct arg totals = vector_drawn(type, below(4) ? n : below(n + 1), OPEN);
    set_widens(&s, totals.b != NULL ? totals.b->type : (vscan_type)0);
    draw_begin(&s, false);
    const struct arg others[] = {s.in, totals, s.initial_buffer};
    struct runs runs;
    draw_runs(&runs, n, others, 3);
    check_buffer(s.in);
    check_buffer(totals);
    check_pair(s.op, s.in);
    if (runs.keys.b != NULL) check_length(s.in, runs.keys.b->n);
    if (s.in.b != NULL) check_type(totals, TYPES(value_type(&s)));
    check_begin(&s);
    const struct arg inputs[] = {s.in, s.initial_buffer, runs.keys, runs.within};
    for (int k = 0; k < 4; k++) check_apart(totals, inputs[k]);
    const vscan_reduce_by_key_options o = {.size = sizeof o,
                                           .initial = initial_value(&s),
                                           .initial_buffer = s.initial_buffer.handle,
                                           .within = runs.within.handle,
                                           .count = runs.c.at.handle};
    const void *const options = options_drawn(&o, sizeof o);
    if (right()) {
        int64_t count;
        const int64_t *const begins = runs_expected(&runs, &count);
        char *const sums = copy_of(totals);
        const char *const in = elements_of(&s);
        const vscan_type of_sums = value_type(&s);
        for (int64_t k = 0; k < count && k < totals.b->n; k++) {
            struct reference r = {.op = (vscan_op)s.op,
                                  .type = of_sums,
                                  .n = begins[k + 1] - begins[k],
                                  .in = in + bytes_of(of_sums, begins[k]),
                                  .initial = initial_of(&s),
                                  .total = sums + bytes_of(of_sums, k)};
            reference_scan(&r);
        }
        if (count > totals.b->n && call.late == VSCAN_OK) expect_late(VSCAN_ERROR_TOTALS_LENGTH);
        expect(totals, sums);
    }
    MAKE(vscan_reduce_by_key, (call.ctx_handle, (vscan_op)s.op, runs.keys.handle, s.in.handle,
                               runs.keys_out.handle, totals.handle, options));
}
