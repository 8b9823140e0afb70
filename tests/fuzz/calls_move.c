/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that move elements: gather, permute, pack, enumerate, sort, split. */
#include <string.h>

#include "fuzz.h"
#include "map_reference.h"
#include "move_reference.h"

/* ---- Positions --------------------------------------------------------------------------------- */

void fuzz_gather(void) {
    context_drawn();
    const vscan_type type = type_drawn(MOVED), position_type = type_drawn(INTEGERS);
    const struct arg in = vector_drawn(type, length_drawn(), VALUES);
    const int64_t length = length_of(in, 0);
    const struct arg positions = positions_drawn(position_type, length_drawn(), length);
    const struct arg out = vector_drawn(type, length_of(positions, 0), OPEN);
    check_buffer(in);
    check_buffer(positions);
    check_buffer(out);
    check_type(in, MOVED);
    check_type(positions, INTEGERS);
    if (in.b != NULL) check_type(out, TYPES(in.b->type));
    if (positions.b != NULL) check_length(out, positions.b->n);
    check_apart(out, in);
    check_apart(out, positions);
    if (right()) {
        char *const v = copy_of(out);
        const size_t size = (size_t)bytes_of(type, 1);
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
    check_buffer(in);
    check_buffer(positions);
    check_buffer(out);
    check_type(in, MOVED);
    check_type(positions, INTEGERS);
    if (in.b != NULL) check_type(out, TYPES(in.b->type));
    if (in.b != NULL) check_length(positions, in.b->n);
    check_apart(out, in);
    check_apart(out, positions);
    if (written.handle != NULL) {
        check_buffer(written);
        check_type(written, TYPES(VSCAN_BIT));
        if (out.b != NULL) check_length(written, out.b->n);
        check_apart(written, in);
        check_apart(written, positions);
        check_apart(written, out);
    }
    const vscan_permute_options o = {.size = sizeof o, .written = written.handle};
    const void *const options = options_drawn(&o, sizeof o, written.handle == NULL);
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

/* ---- Pack -------------------------------------------------------------------------------------- */

/* Options that ask for a count, for pack, split and their relatives. */
struct counting {
    struct arg count;
    bool on_host;
    const void *options;
};

static struct counting counting_drawn(const struct arg *others, int n) {
    struct counting c = {.count = element_drawn(VSCAN_LONG), .on_host = below(3) == 0};
    if (c.count.handle != NULL) {
        check_buffer(c.count);
        check_type(c.count, TYPES(VSCAN_LONG));
        check_length(c.count, 1);
        for (int k = 0; k < n; k++) check_apart(c.count, others[k]);
    }
    call.waits = c.on_host;
    const vscan_pack_options o = {.size = sizeof o,
                                  .count = c.count.handle,
                                  .host_count =
                                      c.on_host ? (int64_t *)(void *)call.host.value : NULL};
    c.options = options_drawn(&o, sizeof o, c.count.handle == NULL && !c.on_host);
    return c;
}

static void expect_count(const struct counting *c, int64_t count) {
    int64_t *const v = scratch(8);
    *v = count;
    if (c->count.handle != NULL) expect(c->count, v);
    if (c->on_host) expect_host(v, VSCAN_LONG);
}

/* Those of set, as far as there is room. */
static void expect_packed(struct arg in, const uint8_t *set, struct arg out,
                          const struct counting *c) {
    const size_t size = (size_t)bytes_of(in.b->type, 1);
    char *const v = copy_of(out);
    int64_t count = 0;
    for (int64_t i = 0; i < in.b->n; i++) {
        if (!set[i]) continue;
        if (count < out.b->n)
            memcpy(v + (size_t)count * size, shadow_of(in.b) + (size_t)i * size, size);
        count++;
    }
    if (count > out.b->n) expect_late(VSCAN_ERROR_OUT_LENGTH);
    expect(out, v);
    expect_count(c, count);
}

/* Of any length, often the one of in; it may begin where in does. */
static struct arg packed_drawn(struct arg in, vscan_type type, int64_t n) {
    if (below(4) == 0) return vector_drawn(type, below(n + 1), OPEN);
    return output_drawn(type, n, &in);
}

static void check_packed(struct arg in, struct arg out) {
    if (in.b != NULL) check_type(out, TYPES(in.b->type));
    if (in.b != NULL && out.b != NULL && in.b->address != out.b->address) check_apart(out, in);
}

void fuzz_pack(void) {
    context_drawn();
    const vscan_type type = type_drawn(MOVED), flag_type = type_drawn(FLAG_TYPES);
    const int64_t n = length_drawn();
    const struct arg in = vector_drawn(type, n, VALUES), flags = vector_drawn(flag_type, n, FLAGS);
    const struct arg out = packed_drawn(in, type, n);
    check_buffer(in);
    check_buffer(flags);
    check_buffer(out);
    check_type(in, MOVED);
    check_type(flags, FLAG_TYPES);
    if (in.b != NULL) check_length(flags, in.b->n);
    check_packed(in, out);
    check_apart(flags, out);
    const struct arg others[] = {in, flags, out};
    const struct counting c = counting_drawn(others, 3);
    if (right()) expect_packed(in, flags_of(flags), out, &c);
    MAKE(vscan_pack, (call.ctx_handle, in.handle, flags.handle, out.handle, c.options));
}

void fuzz_pack_compare(void) {
    context_drawn();
    const int relation = enum_drawn(VSCAN_EQUAL, VSCAN_GREATER_OR_EQUAL, VSCAN_ERROR_ENUM);
    const vscan_type type = type_drawn(NUMBERS);
    const int64_t n = length_drawn();
    const struct arg in = vector_drawn(type, n, VALUES);
    const void *const value = value_drawn(in.b != NULL ? in.b->type : type, false);
    const struct arg out = packed_drawn(in, type, n);
    check_buffer(in);
    check_buffer(out);
    check_type(in, NUMBERS);
    check_packed(in, out);
    const struct arg others[] = {in, out};
    const struct counting c = counting_drawn(others, 2);
    if (right()) {
        uint8_t *const set = scratch(in.b->n);
        uint64_t right_value[1] = {0};
        memcpy(right_value, value, (size_t)bytes_of(in.b->type, 1));
        for (int64_t i = 0; i < in.b->n; i++)
            set[i] = maps_related((vscan_relation)relation, in.b->type,
                                  maps_at(in.b->type, shadow_of(in.b), i), right_value);
        expect_packed(in, set, out, &c);
    }
    MAKE(vscan_pack_compare,
         (call.ctx_handle, in.handle, (vscan_relation)relation, value, out.handle, c.options));
}

static void check_countable(struct arg out, int64_t n) {
    check_type(out, INTEGERS);
    if (out.b != NULL && out.b->type == VSCAN_INT && n > INT32_MAX) refuse(VSCAN_ERROR_LENGTH);
}

void fuzz_enumerate(void) {
    context_drawn();
    const vscan_type type = type_drawn(INTEGERS), flag_type = type_drawn(FLAG_TYPES);
    const int64_t n = length_drawn();
    const struct arg flags = vector_drawn(flag_type, n, FLAGS);
    const struct arg out = output_drawn(type, n, &flags);
    check_buffer(flags);
    check_buffer(out);
    check_type(flags, FLAG_TYPES);
    check_countable(out, out.b != NULL ? out.b->n : 0);
    if (flags.b != NULL) check_length(out, flags.b->n);
    check_same_or_apart(out, flags);
    const struct arg others[] = {flags, out};
    const struct counting c = counting_drawn(others, 2);
    if (right()) {
        const uint8_t *const set = flags_of(flags);
        void *const v = copy_of(out);
        int64_t count = 0;
        for (int64_t i = 0; i < flags.b->n; count += set[i++]) put_number(out.b->type, v, i, count);
        expect(out, v);
        expect_count(&c, count);
    }
    MAKE(vscan_enumerate, (call.ctx_handle, flags.handle, out.handle, c.options));
}

/* ---- Sort -------------------------------------------------------------------------------------- */

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
    const vscan_sort_options plain = {.size = sizeof plain};
    s->options = options_drawn(&o, sizeof o, memcmp(&o, &plain, sizeof o) == 0);
}

static void *in_order(struct arg v, const int64_t *positions) {
    const size_t size = (size_t)bytes_of(v.b->type, 1);
    char *const out = scratch(v.b->bytes + 8);
    for (int64_t i = 0; i < v.b->n; i++)
        memcpy(out + (size_t)i * size, shadow_of(v.b) + (size_t)positions[i] * size, size);
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
    if (open) expect_late(VSCAN_ERROR_POSITION);
    expect(s->keys_out, open ? NULL : in_order(s->keys, positions));
    if (s->values.handle != NULL)
        expect(s->values_out, open ? NULL : in_order(s->values, positions));
}

static void draw_sorting(struct sorting *s, bool segmented) {
    context_drawn();
    *s = (struct sorting){.options = NULL};
    const vscan_type type = type_drawn(NUMBERS), value_type = type_drawn(NUMBERS);
    const int64_t n = length_drawn();
    const bool has_values = below(2) == 1, one_missing = hostile();
    s->keys = vector_drawn(type, n, VALUES);
    s->keys_out = output_drawn(type, n, &s->keys);
    if (has_values || one_missing) s->values = vector_drawn(value_type, n, VALUES);
    if (has_values) s->values_out = output_drawn(value_type, n, &s->values);
    if (segmented) s->offsets = offsets_drawn(type_drawn(INTEGERS), n);
    check_buffer(s->keys);
    check_buffer(s->keys_out);
    check_type(s->keys, NUMBERS);
    check_like(s->keys_out, s->keys);
    check_same_or_apart(s->keys_out, s->keys);
    if (s->values.handle != NULL || s->values_out.handle != NULL) {
        check_buffer(s->values);
        check_buffer(s->values_out);
        check_type(s->values, NUMBERS);
        if (s->keys.b != NULL) check_length(s->values, s->keys.b->n);
        check_like(s->values_out, s->values);
        check_same_or_apart(s->values_out, s->values);
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
    MAKE(vscan_sort, (call.ctx_handle, s.keys.handle, s.keys_out.handle, s.values.handle,
                      s.values_out.handle, s.options));
}

void fuzz_sort_segmented(void) {
    struct sorting s;
    draw_sorting(&s, true);
    MAKE(vscan_sort_segmented, (call.ctx_handle, s.keys.handle, s.offsets.handle, s.keys_out.handle,
                                s.values.handle, s.values_out.handle, s.options));
}

/* 0 is legal here: no values. */
static int values_drawn(void) {
    const uint64_t refusals = call.refusals;
    const int values = enum_drawn(VSCAN_INT, VSCAN_LONG, VSCAN_ERROR_ENUM);
    if (values == 0) call.refusals = refusals;
    return values;
}

void fuzz_sort_reserve(void) {
    context_drawn();
    const int keys = enum_drawn(VSCAN_INT, VSCAN_LONG, VSCAN_ERROR_ENUM);
    const int values = below(3) ? 0 : values_drawn();
    const int64_t n = hostile() ? hostile_number(0) : below(100000);
    if (keys == VSCAN_BYTE || keys == VSCAN_BIT) refuse(VSCAN_ERROR_TYPE);
    if (values == VSCAN_BYTE || values == VSCAN_BIT) refuse(VSCAN_ERROR_TYPE);
    if (n < 0) refuse(VSCAN_ERROR_LENGTH);
    if (n > PTRDIFF_MAX / 64) refuse(VSCAN_ERROR_OVERFLOW);
    if (n > LONGEST * 2) refuse(VSCAN_ERROR_HOST_MEMORY);
    MAKE(vscan_sort_reserve, (call.ctx_handle, (vscan_type)keys, values, n));
}

/* ---- Split ------------------------------------------------------------------------------------- */

struct splitting {
    struct arg in, flags, heads, out;
    struct counting c;
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
    if (moves) check_buffer(s->in);
    check_buffer(s->flags);
    if (segmented) check_buffer(s->heads);
    check_buffer(s->out);
    if (moves) {
        check_type(s->in, MOVED);
        check_like(s->out, s->in);
        check_apart(s->out, s->in);
    } else {
        check_countable(s->out, s->out.b != NULL ? s->out.b->n : 0);
    }
    check_type(s->flags, FLAG_TYPES);
    if (like.b != NULL) check_length(s->flags, like.b->n);
    check_apart(s->flags, s->out);
    check_type(s->heads, FLAG_TYPES);
    if (like.b != NULL) check_length(s->heads, like.b->n);
    check_apart(s->heads, s->out);
    const struct arg others[] = {s->in, s->flags, s->heads, s->out};
    s->c = counting_drawn(others, 4);
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
    expect_count(&s->c, clear);
}

void fuzz_split(void) {
    struct splitting s;
    draw_splitting(&s, true, false);
    MAKE(vscan_split, (call.ctx_handle, s.in.handle, s.flags.handle, s.out.handle, s.c.options));
}

void fuzz_split_segmented(void) {
    struct splitting s;
    draw_splitting(&s, true, true);
    MAKE(vscan_split_segmented,
         (call.ctx_handle, s.in.handle, s.flags.handle, s.heads.handle, s.out.handle, s.c.options));
}

void fuzz_split_positions(void) {
    struct splitting s;
    draw_splitting(&s, false, false);
    MAKE(vscan_split_positions, (call.ctx_handle, s.flags.handle, s.out.handle, s.c.options));
}

void fuzz_split_segmented_positions(void) {
    struct splitting s;
    draw_splitting(&s, false, true);
    MAKE(vscan_split_segmented_positions,
         (call.ctx_handle, s.flags.handle, s.heads.handle, s.out.handle, s.c.options));
}
