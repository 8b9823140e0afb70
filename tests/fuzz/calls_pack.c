/* SPDX-License-Identifier: Apache-2.0 */
/* Pack, enumerate, count. */
#include <string.h>

#include "fuzz.h"
#include "map_reference.h"

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
    expect_count(c, count, true);
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
    check_buffer(out);
    check_type(in, MOVED);
    check_packed(in, out);
    check_flags(flags, in, out);
    const struct arg others[] = {in, flags, out};
    const struct counting c = counting_drawn(others, 3);
    const void *const options = counting_options_drawn(&c);
    if (right()) expect_packed(in, flags_of(flags), out, &c);
    MAKE(vscan_pack, (call.ctx_handle, in.handle, flags.handle, out.handle, options));
}

void fuzz_pack_compare(void) {
    context_drawn();
    const int relation = enum_drawn(VSCAN_EQUAL, VSCAN_GREATER_OR_EQUAL, VSCAN_ERROR_ENUM);
    const vscan_type type = type_drawn(COMPARED);
    const int64_t n = length_drawn();
    const struct arg in = vector_drawn(type, n, VALUES);
    const void *const value = value_drawn(in.b != NULL ? in.b->type : type, false);
    const struct arg out = packed_drawn(in, type, n);
    check_buffer(in);
    check_buffer(out);
    check_type(in, COMPARED);
    check_packed(in, out);
    const struct arg others[] = {in, out};
    const struct counting c = counting_drawn(others, 2);
    const void *const options = counting_options_drawn(&c);
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
         (call.ctx_handle, (vscan_relation)relation, in.handle, value, out.handle, options));
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
    const void *const options = counting_options_drawn(&c);
    if (right()) {
        const uint8_t *const set = flags_of(flags);
        void *const v = copy_of(out);
        int64_t count = 0;
        for (int64_t i = 0; i < flags.b->n; count += set[i++]) put_number(out.b->type, v, i, count);
        expect(out, v);
        expect_count(&c, count, true);
    }
    MAKE(vscan_enumerate, (call.ctx_handle, flags.handle, out.handle, options));
}

void fuzz_count(void) {
    context_drawn();
    const struct arg flags = vector_drawn(type_drawn(FLAG_TYPES), length_drawn(), FLAGS);
    const struct arg count = vector_drawn(VSCAN_LONG, 1, OPEN);
    check_buffer(flags);
    check_buffer(count);
    check_type(flags, FLAG_TYPES);
    check_type(count, TYPES(VSCAN_LONG));
    if (count.b != NULL) check_length(count, 1);
    check_apart(count, flags);
    if (right()) {
        const uint8_t *const set = flags_of(flags);
        int64_t *const v = copy_of(count);
        v[0] = 0;
        for (int64_t i = 0; i < flags.b->n; i++) v[0] += set[i];
        expect(count, v);
    }
    MAKE(vscan_count, (call.ctx_handle, flags.handle, count.handle));
}
