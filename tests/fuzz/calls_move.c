/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that move each element to a place of its own: gather, permute, split. */
#include <string.h>

#include "fuzz.h"
#include "map_reference.h"
#include "move_reference.h"

/* ---- Positions --------------------------------------------------------------------------------- */

static void check_moved(struct arg in, struct arg positions, struct arg out) {
    check_buffer(in);
    check_buffer(positions);
    check_buffer(out);
    check_type(in, MOVED);
    check_type(positions, INTEGERS);
    if (in.b != NULL) check_type(out, TYPES(in.b->type));
    check_apart(out, in);
    check_apart(out, positions);
}

void fuzz_gather(void) {
    context_drawn();
    const vscan_type type = type_drawn(MOVED), position_type = type_drawn(INTEGERS);
    const struct arg in = vector_drawn(type, length_drawn(), VALUES);
    const int64_t length = length_of(in, 0);
    const struct arg positions = positions_drawn(position_type, length_drawn(), length);
    const struct arg out = vector_drawn(type, length_of(positions, 0), OPEN);
    check_moved(in, positions, out);
    if (positions.b != NULL) check_length(out, positions.b->n);
    if (right()) {
        char *const v = copy_of(out);
        const size_t size = (size_t)bytes_of(in.b->type, 1);
        for (int64_t i = 0; i < out.b->n; i++) {
            const int64_t at = number_at(positions.b->type, shadow_of(positions.b), i);
            if (at < 0 || at >= in.b->n)
                expect_late(VSCAN_ERROR_POSITION);
            else
                memcpy(v + (size_t)i * size, shadow_of(in.b) + (size_t)at * size, size);
        }
        expect(out, v);
    }
    MAKE(vscan_gather, (call.ctx_handle, in.handle, positions.handle, out.handle));
}

/* Where a position is repeated, any of its elements may be there: that one is expected then. */
static void expect_permuted(struct arg in, struct arg positions, struct arg out, bool watched) {
    const int64_t n = in.b->n;
    const size_t size = (size_t)bytes_of(in.b->type, 1);
    uint8_t *const times = scratch(out.b->n);
    bool repeated = false, outside = false;
    char *const v = copy_of(out);
    for (int64_t i = 0; i < n; i++) {
        const int64_t at = number_at(positions.b->type, shadow_of(positions.b), i);
        if (at < 0 || at >= out.b->n) {
            outside = true;
            continue;
        }
        if (times[at]) repeated = true;
        times[at] = 1;
        memcpy(v + (size_t)at * size, shadow_of(in.b) + (size_t)i * size, size);
    }
    if (repeated && watched) expect_late(VSCAN_ERROR_REPEATED);
    if (outside) expect_late(VSCAN_ERROR_POSITION);
    expect(out, repeated ? NULL : v);
}

void fuzz_permute(void) {
    context_drawn();
    const vscan_type type = type_drawn(MOVED), position_type = type_drawn(INTEGERS);
    const int64_t n = length_drawn(), length = below(2) ? n : length_drawn();
    const struct arg in = vector_drawn(type, n, VALUES);
    const struct arg positions = positions_drawn(position_type, n, length);
    const struct arg out = vector_drawn(type, length, OPEN);
    struct arg written = {NULL, NULL};
    if (below(2)) written = vector_drawn(VSCAN_BIT, length, OPEN);
    check_moved(in, positions, out);
    if (in.b != NULL) check_length(positions, in.b->n);
    if (written.handle != NULL) {
        check_buffer(written);
        check_type(written, TYPES(VSCAN_BIT));
        if (out.b != NULL) check_length(written, out.b->n);
        check_apart(written, in);
        check_apart(written, positions);
        check_apart(written, out);
    }
    const vscan_permute_options o = {.size = sizeof o, .written = written.handle};
    const void *const options = options_drawn(&o, sizeof o);
    if (right()) {
        expect_permuted(in, positions, out, written.handle != NULL);
        if (written.handle != NULL) {
            uint32_t *const bits = scratch(written.b->bytes);
            for (int64_t i = 0; i < in.b->n; i++) {
                const int64_t at = number_at(positions.b->type, shadow_of(positions.b), i);
                if (at >= 0 && at < out.b->n) maps_put_flag(VSCAN_BIT, bits, at, true);
            }
            expect(written, bits);
        }
    }
    MAKE(vscan_permute, (call.ctx_handle, in.handle, positions.handle, out.handle, options));
}

/* ---- Split ------------------------------------------------------------------------------------- */

struct splitting {
    struct arg in, flags, heads, out;
    const void *options;
};

static void draw_splitting(struct splitting *s, bool moves, bool segmented) {
    context_drawn();
    *s = (struct splitting){.in = {NULL, NULL}};
    const vscan_type type = type_drawn(moves ? MOVED : INTEGERS);
    const int64_t n = length_drawn();
    if (moves) s->in = vector_drawn(type, n, VALUES);
    s->flags = vector_drawn(type_drawn(FLAG_TYPES), n, FLAGS);
    if (segmented)
        s->heads = below(8) == 0 ? s->flags : vector_drawn(type_drawn(FLAG_TYPES), n, FLAGS);
    s->out = vector_drawn(type, n, OPEN);
    const struct arg like = moves ? s->in : s->out;
    check_buffer(s->out);
    if (moves) {
        check_buffer(s->in);
        check_type(s->in, MOVED);
        check_like(s->out, s->in);
        check_apart(s->out, s->in);
    } else {
        check_countable(s->out, s->out.b != NULL ? s->out.b->n : 0);
    }
    check_flags(s->flags, like, s->out);
    if (segmented) check_flags(s->heads, like, s->out);
    const struct arg others[] = {s->in, s->flags, s->heads, s->out};
    const struct counting c = counting_drawn(others, 4);
    s->options = counting_options_drawn(&c);
    if (!right()) return;
    int64_t *const positions = scratch(s->flags.b->n * 8);
    const int64_t clear = split_positions(s->flags.b->n, flags_of(s->flags),
                                          segmented ? flags_of(s->heads) : NULL, positions);
    char *const v = copy_of(s->out);
    const size_t size = (size_t)bytes_of(s->out.b->type, 1);
    for (int64_t i = 0; i < s->flags.b->n; i++)
        if (moves)
            memcpy(v + (size_t)positions[i] * size, shadow_of(s->in.b) + (size_t)i * size, size);
        else
            put_number(s->out.b->type, v, i, positions[i]);
    expect(s->out, v);
    expect_count(&c, clear, true);
}

void fuzz_split(void) {
    struct splitting s;
    draw_splitting(&s, true, false);
    MAKE(vscan_split, (call.ctx_handle, s.in.handle, s.flags.handle, s.out.handle, s.options));
}

void fuzz_split_segmented(void) {
    struct splitting s;
    draw_splitting(&s, true, true);
    MAKE(vscan_split_segmented,
         (call.ctx_handle, s.in.handle, s.flags.handle, s.heads.handle, s.out.handle, s.options));
}

void fuzz_split_positions(void) {
    struct splitting s;
    draw_splitting(&s, false, false);
    MAKE(vscan_split_positions, (call.ctx_handle, s.flags.handle, s.out.handle, s.options));
}

void fuzz_split_segmented_positions(void) {
    struct splitting s;
    draw_splitting(&s, false, true);
    MAKE(vscan_split_segmented_positions,
         (call.ctx_handle, s.flags.handle, s.heads.handle, s.out.handle, s.options));
}
