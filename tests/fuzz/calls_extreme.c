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

/* What is refused in both calls, and the options. */
static void check_extreme(struct extreme *x) {
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
        const int64_t best = extreme_reference((vscan_op)x.op, type, x.in.b->n, in,
                                               x.o.direction == VSCAN_BACKWARD, NULL, type, NULL);
        extreme_put_position(x.at.b->type, at, 0, best);
        if (best >= 0)
            memcpy(total, (const char *)in + bytes_of(type, best), (size_t)bytes_of(type, 1));
        else if (type == VSCAN_LONG)
            *(int64_t *)total = x.op == VSCAN_MIN ? INT64_MAX : INT64_MIN;
        else
            reference_identity((vscan_op)x.op, type, total);
        expect(x.at, at);
        if (x.out.handle != NULL) expect(x.out, total);
    }
    MAKE(vscan_reduce_extreme,
         (call.ctx_handle, (vscan_op)x.op, x.in.handle, x.out.handle, x.at.handle, x.options));
}
