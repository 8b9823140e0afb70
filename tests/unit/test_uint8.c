/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is said of uint8 alone: which calls refuse it, on either side, and what becomes of the numbers that
 * do not fit. All that it can do is in the matrices of test_map, test_pack, test_permute, test_split,
 * test_segment_forms, test_elements and test_buffer.
 */
#include "pairs.h"
#include "world.h"

#include <math.h>

enum { TYPE = VSCAN_ERROR_TYPE, PAIR = VSCAN_ERROR_PAIR };
#define REFUSED(status, word, call) refused_untouched((vscan_status)(status), word, call)

/* ---- Refusals -------------------------------------------------------------------------------- */

static void refused_by_operators(void **state) {
    (void)state;
    vscan_ctx *c = w.ctx;
    vscan_buffer *const v = w.of_uint8;
    const uint8_t one = 1;
    for (int k = VSCAN_PLUS; k <= LAST_OP; k++) {
        const vscan_op op = (vscan_op)k;
        REFUSED(PAIR, "in ", vscan_scan(c, op, v, v, NULL));
        REFUSED(PAIR, "in ", vscan_scan_segmented(c, op, v, w.of_bit, v, NULL));
        REFUSED(PAIR, "in ", vscan_reduce(c, op, v, w.total, NULL));
        REFUSED(PAIR, "in ", vscan_reduce_segmented(c, op, v, w.of_bit, v, NULL));
        REFUSED(PAIR, "in ", vscan_reduce_by_offsets(c, op, v, w.of_long, v, NULL));
        REFUSED(PAIR, "in ", vscan_scan_rows(c, op, v, 10, 10, v, NULL));
        REFUSED(PAIR, "in ", vscan_scan_columns(c, op, v, 10, 10, v, NULL));
        REFUSED(PAIR, "in ", vscan_reduce_rows(c, op, v, 10, 10, v, NULL));
        REFUSED(PAIR, "in ", vscan_reduce_columns(c, op, v, 10, 10, v, NULL));
        REFUSED(PAIR, "in ", vscan_distribute_totals(c, op, v, w.of_bit, v));
        vscan_carry *carry = NULL;
        REFUSED(PAIR, "type ", vscan_carry_create(c, op, VSCAN_UINT8, VSCAN_FORWARD, &carry));
        assert_null(carry);
    }
    for (int op = VSCAN_UNARY_NEGATE; op <= VSCAN_UNARY_ROUND_EVEN; op++)
        REFUSED(PAIR, "in ", vscan_map_unary(c, (vscan_unary)op, v, v));
    for (int k = VSCAN_BINARY_ADD; k <= VSCAN_BINARY_SHIFT_RIGHT; k++) {
        const vscan_binary op = (vscan_binary)k;
        REFUSED(PAIR, "a ", vscan_map_binary(c, op, v, v, v));
        REFUSED(PAIR, "a ", vscan_map_right(c, op, v, &one, v));
        REFUSED(PAIR, "b ", vscan_map_left(c, op, &one, v, v));
    }
}

/* As flags, heads, positions, offsets, lengths, counts, keys and values. */
static void refused_as(void **state) {
    (void)state;
    vscan_ctx *c = w.ctx;
    vscan_buffer *const v = w.of_uint8, *const in = w.in, *const out = w.out;
    const int32_t one = 1;
    const vscan_op plus = VSCAN_PLUS;
    REFUSED(TYPE, "heads ", vscan_scan_segmented(c, plus, in, v, out, NULL));
    REFUSED(TYPE, "heads ", vscan_reduce_segmented(c, plus, in, v, w.totals, NULL));
    REFUSED(TYPE, "offsets ", vscan_reduce_by_offsets(c, plus, in, v, w.totals, NULL));
    REFUSED(TYPE, "flags ", vscan_compare(c, VSCAN_LESS, in, in, v));
    REFUSED(TYPE, "flags ", vscan_compare_right(c, VSCAN_LESS, in, &one, v));
    REFUSED(TYPE, "flags ", vscan_compare(c, VSCAN_LESS, v, v, v));
    REFUSED(TYPE, "b ", vscan_compare(c, VSCAN_LESS, v, w.of_byte, w.of_bit));
    REFUSED(TYPE, "b ", vscan_compare(c, VSCAN_LESS, in, v, w.of_bit));
    REFUSED(TYPE, "flags ", vscan_select(c, v, in, w.flags, out));
    REFUSED(TYPE, "flags ", vscan_select_right(c, v, in, &one, out));
    REFUSED(TYPE, "flags ", vscan_select_left(c, v, &one, in, out));
    REFUSED(TYPE, "b ", vscan_select(c, w.flags, v, w.of_byte, v));
    REFUSED(TYPE, "out ", vscan_select_right(c, w.flags, v, &one, w.of_byte));
    REFUSED(TYPE, "out ", vscan_index(c, 0, 1, v));
    REFUSED(TYPE, "value ", vscan_distribute(c, w.one_int, v));
    REFUSED(TYPE, "positions ", vscan_gather(c, in, v, out));
    REFUSED(TYPE, "out ", vscan_gather(c, v, w.flags, w.of_byte));
    REFUSED(TYPE, "positions ", vscan_permute(c, in, v, out, NULL));
    const vscan_permute_options written = {.size = sizeof written, .written = v};
    REFUSED(TYPE, "written ", vscan_permute(c, in, w.flags, out, &written));
    REFUSED(TYPE, "flags ", vscan_pack(c, in, v, out, NULL));
    REFUSED(TYPE, "out ", vscan_pack(c, v, w.flags, w.of_byte, NULL));
    REFUSED(TYPE, "out ", vscan_pack_compare(c, VSCAN_LESS, v, &one, w.of_byte, NULL));
    const vscan_count_options count = {.size = sizeof count, .count = v};
    REFUSED(TYPE, "options->count ", vscan_pack(c, in, w.flags, out, &count));
    REFUSED(TYPE, "flags ", vscan_enumerate(c, v, out, NULL));
    REFUSED(TYPE, "out ", vscan_enumerate(c, w.flags, v, NULL));
    REFUSED(TYPE, "keys ", vscan_sort(c, v, NULL, v, NULL, NULL));
    REFUSED(TYPE, "values ", vscan_sort(c, in, v, out, v, NULL));
    REFUSED(TYPE, "keys ", vscan_sort_by_offsets(c, v, NULL, w.of_long, v, NULL, NULL));
    REFUSED(TYPE, "offsets ", vscan_sort_by_offsets(c, in, NULL, v, out, NULL, NULL));
    REFUSED(TYPE, "keys ", vscan_sort_reserve(c, VSCAN_UINT8, VSCAN_NONE, 1));
    REFUSED(TYPE, "values ", vscan_sort_reserve(c, VSCAN_INT, VSCAN_UINT8, 1));
    REFUSED(TYPE, "sorted ", vscan_lower_bound(c, v, v, out));
    REFUSED(TYPE, "values ", vscan_lower_bound(c, in, v, out));
    REFUSED(TYPE, "positions ", vscan_lower_bound(c, in, w.flags, v));
    REFUSED(TYPE, "sorted ", vscan_upper_bound(c, v, v, out));
    REFUSED(TYPE, "values ", vscan_upper_bound(c, in, v, out));
    REFUSED(TYPE, "positions ", vscan_upper_bound(c, in, w.flags, v));
    REFUSED(TYPE, "flags ", vscan_split(c, in, v, out, NULL));
    REFUSED(TYPE, "heads ", vscan_split_segmented(c, in, w.flags, v, out, NULL));
    REFUSED(TYPE, "flags ", vscan_split_positions(c, v, out, NULL));
    REFUSED(TYPE, "out ", vscan_split_positions(c, w.flags, v, NULL));
    REFUSED(TYPE, "heads ", vscan_split_segmented_positions(c, w.flags, v, out, NULL));
    REFUSED(TYPE, "heads ", vscan_distribute_segmented(c, VSCAN_FIRST, in, v, out));
    REFUSED(TYPE, "heads ", vscan_distribute_totals(c, plus, in, v, out));
    REFUSED(TYPE, "heads ", vscan_heads_to_offsets(c, v, out, NULL));
    REFUSED(TYPE, "offsets ", vscan_heads_to_offsets(c, w.flags, v, NULL));
    REFUSED(TYPE, "keys ", vscan_keys_to_heads(c, v, NULL, out));
    REFUSED(TYPE, "within ", vscan_keys_to_heads(c, in, v, out));
    REFUSED(TYPE, "heads ", vscan_keys_to_heads(c, in, NULL, v));
    REFUSED(TYPE, "flags ", vscan_flags_to_positions(c, v, out, NULL));
    REFUSED(TYPE, "positions ", vscan_flags_to_positions(c, w.flags, v, NULL));
    REFUSED(TYPE, "options->count ", vscan_flags_to_positions(c, w.flags, out, &count));
    REFUSED(TYPE, "offsets ", vscan_offsets_to_heads(c, v, w.of_bit));
    REFUSED(TYPE, "heads ", vscan_offsets_to_heads(c, w.of_long, v));
    REFUSED(TYPE, "offsets ", vscan_offsets_to_lengths(c, v, w.shorter));
    REFUSED(TYPE, "lengths ", vscan_offsets_to_lengths(c, in, v));
    REFUSED(TYPE, "lengths ", vscan_lengths_to_offsets(c, v, out));
    REFUSED(TYPE, "offsets ", vscan_lengths_to_offsets(c, w.shorter, v));
    REFUSED(TYPE, "type ", vscan_ctx_reserve(c, VSCAN_UINT8, 1));
    REFUSED(TYPE, "to ", vscan_buffer_copy(w.of_byte, v));
}

/* As an initial value and a total. */
static void refused_in_options(void **state) {
    (void)state;
    vscan_ctx *c = w.ctx;
    vscan_scan_options o = {.size = sizeof o};
    o.initial.holds = VSCAN_UINT8;
    REFUSED(TYPE, "options->initial ", vscan_scan(c, VSCAN_PLUS, w.in, w.out, &o));
    o.initial.holds = VSCAN_NONE;
    o.total = w.of_uint8;
    REFUSED(TYPE, "options->total ", vscan_scan(c, VSCAN_PLUS, w.in, w.out, &o));
    o.total = NULL;
    o.initial_buffer = w.of_uint8;
    REFUSED(TYPE, "options->initial_buffer ", vscan_scan(c, VSCAN_PLUS, w.in, w.out, &o));
}

static void refused_on_the_host(void **state) {
    (void)state;
    uint8_t in[8] = {1, 2, 3, 4, 5, 6, 7, 8}, out[8] = {9};
    const int64_t offsets[] = {0, 8};
    const vscan_op plus = VSCAN_PLUS;
    const vscan_type type = VSCAN_UINT8;
    refused(NULL, VSCAN_ERROR_PAIR, "type ",
            vscan_host_scan(plus, type, VSCAN_INCLUSIVE, VSCAN_FORWARD, in, 8, out));
    refused(NULL, VSCAN_ERROR_PAIR, "type ",
            vscan_host_scan_segmented(plus, type, VSCAN_INCLUSIVE, VSCAN_FORWARD, in, in, 8, out));
    refused(NULL, VSCAN_ERROR_PAIR, "type ",
            vscan_host_scan_by_offsets(plus, type, VSCAN_INCLUSIVE, VSCAN_FORWARD, in, 8,
                                       VSCAN_LONG, offsets, 1, out));
    refused(NULL, VSCAN_ERROR_PAIR, "type ",
            vscan_host_reduce(plus, type, VSCAN_FORWARD, in, 8, out));
    refused(NULL, VSCAN_ERROR_TYPE, "key_type ",
            vscan_host_sort(VSCAN_ASCENDING, type, in, VSCAN_NONE, NULL, 8, out, NULL));
    const int32_t keys[8] = {0};
    int32_t sorted[8];
    refused(NULL, VSCAN_ERROR_TYPE, "value_type ",
            vscan_host_sort(VSCAN_ASCENDING, VSCAN_INT, keys, type, in, 8, sorted, out));
    assert_int_equal(out[0], 9);
}

/* ---- What is decided ------------------------------------------------------------------------- */

enum { DECIDED = 9 };

/* Numbers of that type as uint8. */
static void check_numbers(vscan_type type, const void *numbers, const uint8_t expected[DECIDED]) {
    vscan_buffer *const from = world_make(type, DECIDED), *const to =
                                                              world_make(VSCAN_UINT8, DECIDED);
    uint8_t got[DECIDED];
    ok(w.ctx, vscan_buffer_upload(from, 0, DECIDED, numbers));
    ok(w.ctx, vscan_convert(w.ctx, from, to));
    ok(w.ctx, vscan_buffer_download(to, 0, DECIDED, got));
    assert_memory_equal(got, expected, DECIDED);
}

static void decided(void **state) {
    (void)state;
    static const int32_t ints[DECIDED] = {0, 1, 254, 255, 256, -1, 300, INT32_MIN, INT32_MAX};
    static const int64_t longs[DECIDED] = {
        0, 1, 254, 255, 256, -1, INT64_MIN, INT64_MAX, INT64_C(1) << 32};
    check_numbers(VSCAN_INT, ints, (uint8_t[]){0, 1, 254, 255, 255, 0, 255, 0, 255});
    check_numbers(VSCAN_LONG, longs, (uint8_t[]){0, 1, 254, 255, 255, 0, 0, 255, 255});
}

static void decided_real(void **state) {
    (void)state;
    const float floats[DECIDED] = {0,     1.999F, 254.99F,   255.5F,  256,
                                   -0.5F, NAN,    -INFINITY, INFINITY};
    const double doubles[DECIDED] = {0,    1.999,       254.99, 255.5, 256,
                                     -0.5, (double)NAN, -1e300, 1e300};
    static const uint8_t expected[DECIDED] = {0, 1, 254, 255, 255, 0, 0, 0, 255};
    check_numbers(VSCAN_FLOAT, floats, expected);
    check_numbers(VSCAN_DOUBLE, doubles, expected);
}

/* A uint8 keeps its value where a byte flag becomes 1, and 128 is more than 127. */
static void number_and_flag(void **state) {
    (void)state;
    vscan_ctx *c = w.ctx;
    const uint8_t bytes[4] = {0, 7, 128, 255}, limit = 127;
    vscan_buffer *number = world_make(VSCAN_UINT8, 4), *flag = world_make(VSCAN_BYTE, 4);
    vscan_buffer *real = world_make(VSCAN_FLOAT, 4);
    float reals[4];
    uint8_t got[4];
    ok(c, vscan_buffer_upload(number, 0, 4, bytes));
    ok(c, vscan_buffer_upload(flag, 0, 4, bytes));
    ok(c, vscan_convert(c, number, real));
    ok(c, vscan_buffer_download(real, 0, 4, reals));
    assert_memory_equal(reals, ((float[]){0, 7, 128, 255}), sizeof reals);
    ok(c, vscan_convert(c, flag, real));
    ok(c, vscan_buffer_download(real, 0, 4, reals));
    assert_memory_equal(reals, ((float[]){0, 1, 1, 1}), sizeof reals);
    ok(c, vscan_compare_right(c, VSCAN_GREATER, number, &limit, flag));
    ok(c, vscan_buffer_download(flag, 0, 4, got));
    assert_memory_equal(got, ((uint8_t[]){0, 0, 1, 1}), sizeof got);
    ok(c, vscan_convert(c, number, flag));
    ok(c, vscan_buffer_download(flag, 0, 4, got));
    assert_memory_equal(got, ((uint8_t[]){0, 1, 1, 1}), sizeof got);
    ok(c, vscan_convert(c, flag, number));
    ok(c, vscan_buffer_download(number, 0, 4, got));
    assert_memory_equal(got, ((uint8_t[]){0, 1, 1, 1}), sizeof got);
}

/* Flags and bytes have no index. */
static void no_index(void **state) {
    (void)state;
    static const vscan_type types[] = {VSCAN_BYTE, VSCAN_BIT, VSCAN_UINT8};
    for (int k = 0; k < 3; k++)
        refused_untouched(VSCAN_ERROR_TYPE, "out ",
                          vscan_index(w.ctx, 0, 1, world_make(types[k], 4)));
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        world_unit_test(no_index),
        world_unit_test(refused_by_operators),
        world_unit_test(refused_as),
        world_unit_test(refused_in_options),
        world_unit_test(refused_on_the_host),
        world_unit_test(decided),
        world_unit_test(decided_real),
        world_unit_test(number_and_flag),
    };
    return harness_run(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
