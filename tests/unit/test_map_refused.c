/* SPDX-License-Identifier: Apache-2.0 */
/* What the functions that work element by element refuse, with its status and the name of the argument,
   and nothing written. */
#include "map_reference.h"
#include "maps.h"
#include "refusal.h"
#include "world.h"

static const int32_t one = 1;

static vscan_status unary_on(vscan_ctx *ctx) {
    return vscan_map_unary(ctx, VSCAN_UNARY_NEGATE, w.in, w.out);
}
static vscan_status binary_on(vscan_ctx *ctx) {
    return vscan_map_binary(ctx, VSCAN_BINARY_ADD, w.in, w.flags, w.out);
}
static vscan_status right_on(vscan_ctx *ctx) {
    return vscan_map_right(ctx, VSCAN_BINARY_ADD, w.in, &one, w.out);
}
static vscan_status left_on(vscan_ctx *ctx) {
    return vscan_map_left(ctx, VSCAN_BINARY_ADD, &one, w.in, w.out);
}
static vscan_status compare_on(vscan_ctx *ctx) {
    return vscan_compare(ctx, VSCAN_LESS, w.in, w.out, w.of_byte);
}
static vscan_status compare_right_on(vscan_ctx *ctx) {
    return vscan_compare_right(ctx, VSCAN_LESS, w.in, &one, w.of_byte);
}
static vscan_status select_on(vscan_ctx *ctx) {
    return vscan_select(ctx, w.flags, w.in, w.totals, w.out);
}
static vscan_status select_right_on(vscan_ctx *ctx) {
    return vscan_select_right(ctx, w.flags, w.in, &one, w.out);
}
static vscan_status select_left_on(vscan_ctx *ctx) {
    return vscan_select_left(ctx, w.flags, &one, w.in, w.out);
}
static vscan_status convert_on(vscan_ctx *ctx) {
    return vscan_convert(ctx, w.in, w.of_float);
}

static void refused_handles(void **state) {
    (void)state;
    vscan_status (*const calls[])(vscan_ctx *) = {
        unary_on,         binary_on, right_on,        left_on,        compare_on,
        compare_right_on, select_on, select_right_on, select_left_on, convert_on};
    for (size_t k = 0; k < sizeof calls / sizeof calls[0]; k++) world_check_contexts(calls[k]);
    for (int i = 0; i < WRONG_HANDLES; i++) {
        const struct wrong_handle h = wrong_handle(i);
        vscan_ctx *c = w.ctx;
        refused_untouched(h.status, "in ", vscan_map_unary(c, VSCAN_UNARY_NOT, h.handle, w.out));
        refused_untouched(h.status, "out ", vscan_map_unary(c, VSCAN_UNARY_NOT, w.in, h.handle));
        const vscan_binary add = VSCAN_BINARY_ADD;
        refused_untouched(h.status, "a ", vscan_map_binary(c, add, h.handle, w.in, w.out));
        refused_untouched(h.status, "b ", vscan_map_binary(c, add, w.in, h.handle, w.out));
        refused_untouched(h.status, "out ", vscan_map_binary(c, add, w.in, w.in, h.handle));
        refused_untouched(h.status, "a ", vscan_map_right(c, add, h.handle, &one, w.out));
        refused_untouched(h.status, "out ", vscan_map_right(c, add, w.in, &one, h.handle));
        refused_untouched(h.status, "b ", vscan_map_left(c, add, &one, h.handle, w.out));
        refused_untouched(h.status, "out ", vscan_map_left(c, add, &one, w.in, h.handle));
        const vscan_relation less = VSCAN_LESS;
        refused_untouched(h.status, "a ", vscan_compare(c, less, h.handle, w.in, w.of_bit));
        refused_untouched(h.status, "b ", vscan_compare(c, less, w.in, h.handle, w.of_bit));
        refused_untouched(h.status, "flags ", vscan_compare(c, less, w.in, w.in, h.handle));
        refused_untouched(h.status, "a ", vscan_compare_right(c, less, h.handle, &one, w.of_bit));
        refused_untouched(h.status, "flags ", vscan_compare_right(c, less, w.in, &one, h.handle));
        refused_untouched(h.status, "flags ", vscan_select(c, h.handle, w.in, w.in, w.out));
        refused_untouched(h.status, "a ", vscan_select(c, w.flags, h.handle, w.in, w.out));
        refused_untouched(h.status, "b ", vscan_select(c, w.flags, w.in, h.handle, w.out));
        refused_untouched(h.status, "out ", vscan_select(c, w.flags, w.in, w.in, h.handle));
        refused_untouched(h.status, "flags ", vscan_select_right(c, h.handle, w.in, &one, w.out));
        refused_untouched(h.status, "a ", vscan_select_right(c, w.flags, h.handle, &one, w.out));
        refused_untouched(h.status, "out ", vscan_select_right(c, w.flags, w.in, &one, h.handle));
        refused_untouched(h.status, "flags ", vscan_select_left(c, h.handle, &one, w.in, w.out));
        refused_untouched(h.status, "b ", vscan_select_left(c, w.flags, &one, h.handle, w.out));
        refused_untouched(h.status, "out ", vscan_select_left(c, w.flags, &one, w.in, h.handle));
        refused_untouched(h.status, "in ", vscan_convert(c, h.handle, w.out));
        refused_untouched(h.status, "out ", vscan_convert(c, w.in, h.handle));
    }
}

static void refused_operators(void **state) {
    (void)state;
    vscan_ctx *c = w.ctx;
    const int wrong[] = {0, -1, 99, INT32_MIN, INT32_MAX};
    for (int k = 0; k < 5; k++) {
        const vscan_binary op = (vscan_binary)wrong[k];
        refused_untouched(VSCAN_ERROR_ENUM, "op ",
                          vscan_map_unary(c, (vscan_unary)wrong[k], w.in, w.out));
        refused_untouched(VSCAN_ERROR_ENUM, "op ", vscan_map_binary(c, op, w.in, w.in, w.out));
        refused_untouched(VSCAN_ERROR_ENUM, "op ", vscan_map_right(c, op, w.in, &one, w.out));
        refused_untouched(VSCAN_ERROR_ENUM, "op ", vscan_map_left(c, op, &one, w.in, w.out));
        const vscan_relation relation = (vscan_relation)wrong[k];
        refused_untouched(VSCAN_ERROR_ENUM, "relation ",
                          vscan_compare(c, relation, w.in, w.in, w.of_bit));
        refused_untouched(VSCAN_ERROR_ENUM, "relation ",
                          vscan_compare_right(c, relation, w.in, &one, w.of_bit));
    }
    vscan_buffer *const all[] = {w.in, w.of_float, w.of_double, w.of_byte, w.of_bit, w.of_long};
    for (int type = VSCAN_INT; type <= VSCAN_LONG; type++) {
        vscan_buffer *v = all[type - VSCAN_INT];
        for (int op = VSCAN_UNARY_NEGATE; op <= VSCAN_UNARY_ROUND_EVEN; op++)
            if (!maps_has_unary((vscan_unary)op, (vscan_type)type))
                refused_untouched(VSCAN_ERROR_PAIR, "in ",
                                  vscan_map_unary(c, (vscan_unary)op, v, v));
        for (int k = VSCAN_BINARY_ADD; k <= VSCAN_BINARY_SHIFT_RIGHT; k++) {
            const vscan_binary op = (vscan_binary)k;
            if (!maps_has_binary(op, (vscan_type)type))
                refused_untouched(VSCAN_ERROR_PAIR, "a ", vscan_map_binary(c, op, v, v, v));
            if (maps_has_binary(op, (vscan_type)type) && !maps_is_flag((vscan_type)type)) continue;
            refused_untouched(VSCAN_ERROR_PAIR, "a ", vscan_map_right(c, op, v, &one, v));
            refused_untouched(VSCAN_ERROR_PAIR, "b ", vscan_map_left(c, op, &one, v, v));
        }
    }
    refused_untouched(VSCAN_ERROR_NULL, "right ",
                      vscan_map_right(c, VSCAN_BINARY_ADD, w.in, NULL, w.out));
    refused_untouched(VSCAN_ERROR_NULL, "left ",
                      vscan_map_left(c, VSCAN_BINARY_ADD, NULL, w.in, w.out));
    refused_untouched(VSCAN_ERROR_NULL, "right ",
                      vscan_select_right(c, w.flags, w.in, NULL, w.out));
    refused_untouched(VSCAN_ERROR_NULL, "left ", vscan_select_left(c, w.flags, NULL, w.in, w.out));
    refused_untouched(VSCAN_ERROR_NULL, "right ",
                      vscan_compare_right(c, VSCAN_LESS, w.in, NULL, w.of_bit));
}

static void refused_vectors(void **state) {
    (void)state;
    vscan_ctx *c = w.ctx;
    const vscan_binary add = VSCAN_BINARY_ADD;
    const vscan_relation less = VSCAN_LESS;
    const vscan_status type = VSCAN_ERROR_TYPE, length = VSCAN_ERROR_LENGTH,
                       overlap = VSCAN_ERROR_OVERLAP;
    refused_untouched(type, "out ", vscan_map_unary(c, VSCAN_UNARY_NOT, w.in, w.of_float));
    refused_untouched(length, "out ", vscan_map_unary(c, VSCAN_UNARY_NOT, w.in, w.shorter));
    refused_untouched(overlap, "out ", vscan_map_unary(c, VSCAN_UNARY_NOT, w.in, w.shifted));
    refused_untouched(type, "b ", vscan_map_binary(c, add, w.in, w.of_float, w.out));
    refused_untouched(type, "out ", vscan_map_binary(c, add, w.in, w.in, w.of_long));
    refused_untouched(length, "b ", vscan_map_binary(c, add, w.in, w.shorter, w.out));
    refused_untouched(length, "out ", vscan_map_binary(c, add, w.in, w.in, w.shorter));
    refused_untouched(overlap, "out ", vscan_map_binary(c, add, w.shifted, w.flags, w.in));
    refused_untouched(overlap, "out ", vscan_map_binary(c, add, w.flags, w.shifted, w.in));
    refused_untouched(overlap, "out ", vscan_map_binary(c, add, w.in, w.shifted, w.in));
    refused_untouched(type, "out ", vscan_map_right(c, add, w.in, &one, w.of_float));
    refused_untouched(length, "out ", vscan_map_right(c, add, w.in, &one, w.shorter));
    refused_untouched(overlap, "out ", vscan_map_left(c, add, &one, w.in, w.shifted));
    refused_untouched(type, "a ", vscan_compare(c, less, w.of_byte, w.of_byte, w.of_bit));
    refused_untouched(type, "a ", vscan_compare_right(c, less, w.of_bit, &one, w.of_byte));
    refused_untouched(type, "b ", vscan_compare(c, less, w.in, w.of_long, w.of_bit));
    refused_untouched(length, "b ", vscan_compare(c, less, w.in, w.shorter, w.of_bit));
    refused_untouched(type, "flags ", vscan_compare(c, less, w.in, w.in, w.of_long));
    refused_untouched(type, "flags ", vscan_compare(c, less, w.of_float, w.of_float, w.of_float));
    refused_untouched(length, "flags ", vscan_compare(c, less, w.in, w.in, w.shorter));
    refused_untouched(overlap, "flags ", vscan_compare(c, less, w.in, w.in, w.shifted));
    refused_untouched(overlap, "flags ", vscan_compare(c, less, w.out, w.in, w.shifted));
    refused_untouched(type, "flags ", vscan_select(c, w.of_float, w.in, w.in, w.out));
    refused_untouched(length, "flags ", vscan_select(c, w.shorter, w.in, w.in, w.out));
    refused_untouched(type, "b ", vscan_select(c, w.flags, w.in, w.of_float, w.out));
    refused_untouched(length, "b ", vscan_select(c, w.flags, w.in, w.shorter, w.out));
    refused_untouched(type, "out ", vscan_select(c, w.flags, w.in, w.in, w.of_float));
    refused_untouched(length, "out ", vscan_select(c, w.flags, w.in, w.in, w.shorter));
    refused_untouched(overlap, "out ", vscan_select(c, w.flags, w.in, w.in, w.shifted));
    refused_untouched(overlap, "out ", vscan_select(c, w.flags, w.out, w.in, w.shifted));
    refused_untouched(overlap, "flags ", vscan_select(c, w.flags, w.in, w.in, w.flags));
    refused_untouched(type, "flags ", vscan_select_right(c, w.of_long, w.in, &one, w.out));
    refused_untouched(length, "flags ", vscan_select_left(c, w.shorter, &one, w.in, w.out));
    refused_untouched(type, "out ", vscan_select_right(c, w.flags, w.in, &one, w.of_float));
    refused_untouched(length, "out ", vscan_select_left(c, w.flags, &one, w.in, w.shorter));
    refused_untouched(overlap, "out ", vscan_select_right(c, w.flags, w.in, &one, w.shifted));
    refused_untouched(overlap, "out ", vscan_select_left(c, w.flags, &one, w.in, w.shifted));
    refused_untouched(overlap, "flags ", vscan_select_left(c, w.flags, &one, w.in, w.flags));
    refused_untouched(length, "out ", vscan_convert(c, w.in, w.shorter));
    refused_untouched(overlap, "out ", vscan_convert(c, w.in, w.shifted));
    vscan_buffer *as_float = NULL; /* the same memory as another type */
    ok(c, vscan_buffer_wrap(c, VSCAN_FLOAT, vscan_buffer_pointer(w.in), N, &as_float));
    refused_untouched(overlap, "out ", vscan_convert(c, w.in, as_float));
    ok(NULL, vscan_buffer_destroy(as_float));
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        world_unit_test(refused_handles),
        world_unit_test(refused_operators),
        world_unit_test(refused_vectors),
    };
    return harness_run(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
