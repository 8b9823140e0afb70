/* SPDX-License-Identifier: Apache-2.0 */
/* Running and total maxima and minima with positions. */
#include <string.h>

#include "extreme_reference.h"
#include "fuzz.h"
#include "reference.h"

struct extreme {
    int op;
    vscan_extreme_options o;
    struct arg in, out, at; /* at: the positions, or the one of the total */
    const void *options;
};

static void draw_extreme(struct extreme *x) {
    context_drawn();
    *x = (struct extreme){.op = enum_drawn(VSCAN_MAX, VSCAN_MIN, VSCAN_ERROR_ENUM)};
    x->o.size = sizeof x->o;
    x->o.direction = enum_drawn(VSCAN_FORWARD, VSCAN_BACKWARD, VSCAN_ERROR_ENUM);
    x->in = vector_drawn(type_drawn(NUMBERS), length_drawn(), VALUES);
}

/* What is refused in all calls. */
static void check_vectors(const struct extreme *x) {
    check_buffer(x->in);
    check_buffer(x->at);
    check_type(x->in, NUMBERS);
    if (x->op != VSCAN_MAX && x->op != VSCAN_MIN) refuse(VSCAN_ERROR_ENUM);
    check_countable(x->at, x->in.b != NULL ? x->in.b->n : 0);
    check_apart(x->at, x->in);
    if (x->out.handle != NULL) {
        check_buffer(x->out);
        if (x->in.b != NULL) check_type(x->out, TYPES(x->in.b->type));
        check_apart(x->at, x->out);
    }
}

/* The same in those of vectors, and the options. */
static void check_extreme(struct extreme *x) {
    check_vectors(x);
    if (hostile()) {
        x->o.unused = 1 + (int32_t)below(200);
        refuse(VSCAN_ERROR_VALUE);
    }
    x->options = options_drawn(&x->o, sizeof x->o);
}

void fuzz_scan_extreme(void) {
    struct extreme x;
    draw_extreme(&x);
    const int64_t n = length_of(x.in, 0);
    const vscan_type type = x.in.b != NULL ? x.in.b->type : VSCAN_INT;
    if (below(4)) x.out = output_drawn(type, n, &x.in);
    x.at = vector_drawn(type_drawn(INTEGERS), n, OPEN);
    check_extreme(&x);
    if (x.in.b != NULL) check_length(x.at, x.in.b->n);
    if (x.in.b != NULL && x.out.handle != NULL) check_length(x.out, x.in.b->n);
    check_same_or_apart(x.out, x.in);
    if (right()) {
        void *const out = scratch(x.in.b->bytes + 8), *const at = scratch(x.at.b->bytes + 8);
        extreme_reference((vscan_op)x.op, x.in.b->type, x.in.b->n, shadow_of(x.in.b),
                          x.o.direction == VSCAN_BACKWARD, out, x.at.b->type, at);
        if (x.out.handle != NULL) expect(x.out, out);
        expect(x.at, at);
    }
    MAKE(vscan_scan_extreme,
         (call.ctx_handle, (vscan_op)x.op, x.in.handle, x.out.handle, x.at.handle, x.options));
}

int64_t extreme_expected(vscan_op op, vscan_type type, int64_t n, const void *in, bool backward,
                         void *total) {
    const int64_t best = extreme_reference(op, type, n, in, backward, NULL, type, NULL);
    if (total == NULL) return best;
    if (best >= 0)
        memcpy(total, (const char *)in + bytes_of(type, best), (size_t)bytes_of(type, 1));
    else if (type == VSCAN_LONG)
        *(int64_t *)total = op == VSCAN_MIN ? INT64_MAX : INT64_MIN;
    else
        reference_identity(op, type, total);
    return best;
}

void fuzz_reduce_extreme(void) {
    struct extreme x;
    draw_extreme(&x);
    if (below(4)) x.out = vector_drawn(x.in.b != NULL ? x.in.b->type : VSCAN_INT, 1, OPEN);
    x.at = vector_drawn(type_drawn(INTEGERS), 1, OPEN);
    check_extreme(&x);
    check_length(x.at, 1);
    check_length(x.out, 1);
    check_apart(x.out, x.in);
    if (right()) {
        const vscan_type type = x.in.b->type;
        const void *const in = shadow_of(x.in.b);
        void *const total = scratch(8), *const at = scratch(8);
        const int64_t best = extreme_expected((vscan_op)x.op, type, x.in.b->n, in,
                                              x.o.direction == VSCAN_BACKWARD, total);
        extreme_put_position(x.at.b->type, at, 0, best);
        expect(x.at, at);
        if (x.out.handle != NULL) expect(x.out, total);
    }
    MAKE(vscan_reduce_extreme,
         (call.ctx_handle, (vscan_op)x.op, x.in.handle, x.out.handle, x.at.handle, x.options));
}

/* The results of all segments; false where offsets are not in order. */
static bool segments_of(const struct extreme *x, struct arg by, int32_t in_vector, char *totals,
                        void *at) {
    const vscan_type type = x->in.b->type;
    int64_t before = 0;
    for (int64_t k = 0; k < by.b->n; k++) {
        const int64_t here = number_at(by.b->type, shadow_of(by.b), k);
        if (here < before || here > x->in.b->n) return false;
        if (k > 0) {
            const int64_t best = extreme_expected(
                (vscan_op)x->op, type, here - before,
                (const char *)shadow_of(x->in.b) + bytes_of(type, before),
                x->o.direction == VSCAN_BACKWARD,
                totals != NULL ? totals + bytes_of(type, k - 1) : NULL);
            extreme_put_position(x->at.b->type, at, k - 1,
                                 best >= 0 && in_vector ? before + best : best);
        }
        before = here;
    }
    return true;
}

void fuzz_reduce_extreme_by_offsets(void) {
    struct extreme x;
    draw_extreme(&x);
    const struct arg by = offsets_drawn(type_drawn(INTEGERS), length_of(x.in, 0));
    const int64_t segments = length_of(by, 1) - 1;
    if (below(4)) x.out = vector_drawn(x.in.b != NULL ? x.in.b->type : VSCAN_INT, segments, OPEN);
    x.at = vector_drawn(type_drawn(INTEGERS), segments, OPEN);
    vscan_extreme_lines_options o = {.size = sizeof o, .direction = x.o.direction};
    o.in_vector = (int32_t)below(2);
    if (hostile()) o.in_vector = 2 + (int32_t)below(200);
    if (hostile()) o.pitch = 1 + below(9);
    if (hostile()) o.matrices = 1 + below(9);
    if (o.in_vector > 1 || o.pitch != 0 || o.matrices != 0) refuse(VSCAN_ERROR_VALUE);
    check_vectors(&x);
    check_buffer(by);
    check_type(by, INTEGERS);
    if (by.b != NULL && by.b->n < 1) refuse(VSCAN_ERROR_LENGTH);
    if (by.b != NULL) check_length(x.at, by.b->n - 1);
    check_apart(x.at, by);
    if (x.out.handle != NULL) {
        if (by.b != NULL) check_length(x.out, by.b->n - 1);
        check_apart(x.out, x.in);
        check_apart(x.out, by);
    }
    x.options = options_drawn(&o, sizeof o);
    if (right()) {
        char *const totals = x.out.handle != NULL ? scratch(x.out.b->bytes + 8) : NULL;
        void *const at = scratch(x.at.b->bytes + 8);
        const bool in_order = segments_of(&x, by, o.in_vector, totals, at);
        if (!in_order) expect_late(VSCAN_ERROR_OFFSETS);
        expect(x.at, in_order ? at : NULL);
        if (totals != NULL) expect(x.out, in_order ? totals : NULL);
    }
    MAKE(vscan_reduce_extreme_by_offsets,
         (call.ctx_handle, (vscan_op)x.op, x.in.handle, by.handle, x.out.handle, x.at.handle,
          x.options));
}
