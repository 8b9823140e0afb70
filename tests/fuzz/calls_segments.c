/* SPDX-License-Identifier: Apache-2.0 */
/* Calls on segments: distribute, and one description of them into another. */
#include <string.h>

#include "fuzz.h"
#include "move_reference.h"
#include "reference.h"

/* ---- Distribute -------------------------------------------------------------------------------- */

struct distribution {
    struct arg in, flags, out;
};

static void draw_distribution(struct distribution *d, unsigned types) {
    const vscan_type type = type_drawn(types), flag_type = type_drawn(FLAG_TYPES);
    const int64_t n = length_drawn();
    d->in = vector_drawn(type, n, VALUES);
    d->flags = vector_drawn(flag_type, n, FLAGS);
    d->out = output_drawn(type, n, &d->in);
    check_in_out(d->in, d->out);
    check_flags(d->flags, d->in, d->out);
}

void fuzz_distribute_segmented(void) {
    context_drawn();
    const int which = enum_drawn(VSCAN_FIRST, VSCAN_LAST, VSCAN_ERROR_ENUM);
    struct distribution d;
    draw_distribution(&d, MOVED);
    check_type(d.in, MOVED);
    if (right()) {
        void *const v = copy_of(d.in);
        copy_over_segments(d.in.b->type, d.in.b->n, flags_of(d.flags), which == VSCAN_LAST, v);
        expect(d.out, v);
    }
    MAKE(vscan_distribute_segmented,
         (call.ctx_handle, (vscan_end)which, d.in.handle, d.flags.handle, d.out.handle));
}

void fuzz_distribute_totals(void) {
    context_drawn();
    const int op = enum_drawn(VSCAN_PLUS, LAST_OP, VSCAN_ERROR_ENUM);
    struct distribution d;
    draw_distribution(&d, SCANNED);
    check_pair(op, d.in);
    if (right()) {
        void *const v = copy_of(d.in);
        struct reference r = {.op = (vscan_op)op,
                              .type = d.in.b->type,
                              .n = d.in.b->n,
                              .in = shadow_of(d.in.b),
                              .flags = flags_of(d.flags),
                              .out = v};
        reference_scan(&r);
        copy_over_segments(d.in.b->type, d.in.b->n, r.flags, true, v);
        expect(d.out, v);
    }
    MAKE(vscan_distribute_totals,
         (call.ctx_handle, (vscan_op)op, d.in.handle, d.flags.handle, d.out.handle));
}

/* ---- Flags, offsets, lengths ------------------------------------------------------------------- */

void fuzz_heads_to_offsets(void) {
    context_drawn();
    const vscan_type flag_type = type_drawn(FLAG_TYPES), type = type_drawn(INTEGERS);
    const int64_t n = length_drawn();
    const struct arg flags = vector_drawn(flag_type, n, FLAGS);
    const struct arg offsets = vector_drawn(type, below(4) ? n + 1 : 1 + below(n + 1), OPEN);
    check_buffer(flags);
    check_buffer(offsets);
    check_type(flags, FLAG_TYPES);
    check_countable(offsets, flags.b != NULL ? flags.b->n : 0);
    if (offsets.b != NULL && offsets.b->n < 1) refuse(VSCAN_ERROR_LENGTH);
    check_apart(offsets, flags);
    const struct arg others[] = {flags, offsets};
    const struct counting c = counting_drawn(others, 2);
    const void *const options = counting_options_drawn(&c);
    if (right()) {
        const uint8_t *const set = flags_of(flags);
        void *const v = copy_of(offsets);
        int64_t found = 0, room = offsets.b->n;
        for (int64_t i = 0; i < flags.b->n; i++) {
            if (i > 0 && !set[i]) continue;
            if (found < room) put_number(offsets.b->type, v, found, i);
            found++;
        }
        if (found < room)
            put_number(offsets.b->type, v, found, flags.b->n);
        else
            expect_late(VSCAN_ERROR_OUT_LENGTH);
        expect(offsets, v);
        expect_count(&c, found, true);
    }
    MAKE(vscan_heads_to_offsets, (call.ctx_handle, flags.handle, offsets.handle, options));
}

void fuzz_offsets_to_heads(void) {
    context_drawn();
    const vscan_type type = type_drawn(INTEGERS), flag_type = type_drawn(FLAG_TYPES);
    const int64_t n = length_drawn();
    const struct arg offsets = offsets_drawn(type, n), flags = vector_drawn(flag_type, n, FLAGS);
    check_buffer(offsets);
    check_buffer(flags);
    check_type(offsets, INTEGERS);
    check_type(flags, FLAG_TYPES);
    check_apart(flags, offsets);
    if (right()) {
        void *const v = copy_of(flags);
        for (int64_t i = 0; i < flags.b->n; i++) maps_put_flag(flags.b->type, v, i, false);
        int64_t before = 0;
        for (int64_t k = 0; k < offsets.b->n; k++) {
            const int64_t at = number_at(offsets.b->type, shadow_of(offsets.b), k);
            if (at < 0 || at > flags.b->n || (k > 0 && at < before))
                expect_late(VSCAN_ERROR_OFFSETS);
            else if (at < flags.b->n)
                maps_put_flag(flags.b->type, v, at, true);
            before = at;
        }
        expect(flags, v);
    }
    MAKE(vscan_offsets_to_heads, (call.ctx_handle, offsets.handle, flags.handle));
}

static void check_lengths(struct arg offsets, struct arg lengths) {
    check_buffer(offsets);
    check_buffer(lengths);
    check_type(offsets, INTEGERS);
    check_type(lengths, INTEGERS);
    if (offsets.b != NULL && offsets.b->n < 1) refuse(VSCAN_ERROR_LENGTH);
    if (offsets.b != NULL) check_length(lengths, offsets.b->n - 1);
    check_apart(lengths, offsets);
}

void fuzz_offsets_to_lengths(void) {
    context_drawn();
    const vscan_type type = type_drawn(INTEGERS);
    const struct arg offsets = offsets_drawn(type, length_drawn());
    const struct arg lengths = vector_drawn(type, length_of(offsets, 1) - 1, OPEN);
    check_lengths(offsets, lengths);
    if (offsets.b != NULL) check_type(lengths, TYPES(offsets.b->type));
    if (right() && lengths.b->n > 0) {
        void *const v = copy_of(lengths);
        const void *const x = shadow_of(offsets.b);
        const vscan_type t = offsets.b->type;
        if (number_at(t, x, 0) < 0) expect_late(VSCAN_ERROR_OFFSETS);
        for (int64_t k = 0; k < lengths.b->n; k++) {
            const int64_t a = number_at(t, x, k), b = number_at(t, x, k + 1);
            if (b < a) expect_late(VSCAN_ERROR_OFFSETS);
            put_number(t, v, k, (int64_t)((uint64_t)b - (uint64_t)a));
        }
        expect(lengths, v);
    }
    MAKE(vscan_offsets_to_lengths, (call.ctx_handle, offsets.handle, lengths.handle));
}

void fuzz_lengths_to_offsets(void) {
    context_drawn();
    const vscan_type type = type_drawn(INTEGERS),
                     to = type == VSCAN_LONG || below(2) ? VSCAN_LONG : VSCAN_INT;
    const struct arg lengths = lengths_drawn(type, length_drawn());
    const struct arg offsets = vector_drawn(to, length_of(lengths, 0) + 1, OPEN);
    check_lengths(offsets, lengths);
    if (lengths.b != NULL && offsets.b != NULL && offsets.b->type != lengths.b->type)
        check_type(offsets, TYPES(VSCAN_LONG));
    if (right()) {
        void *const v = copy_of(offsets);
        __extension__ __int128 sum = 0;
        const bool narrow = offsets.b->type == VSCAN_INT;
        for (int64_t k = 0; k <= lengths.b->n; k++) {
            put_number(offsets.b->type, v, k, (int64_t)(uint64_t)sum);
            if (sum > (narrow ? INT32_MAX : INT64_MAX)) expect_late(VSCAN_ERROR_OFFSETS);
            if (k == lengths.b->n) break;
            const int64_t x = number_at(lengths.b->type, shadow_of(lengths.b), k);
            if (x < 0) expect_late(VSCAN_ERROR_OFFSETS);
            sum += x;
        }
        expect(offsets, v);
    }
    MAKE(vscan_lengths_to_offsets, (call.ctx_handle, lengths.handle, offsets.handle));
}
