/* SPDX-License-Identifier: Apache-2.0 */
/* What the calls on arrays of the host refuse, which changes nothing; and calls without elements. */
#include "harness.h"

#include <string.h>

#include "refusal.h"

static const vscan_op plus = VSCAN_PLUS;
static const vscan_type i32 = VSCAN_INT, i64 = VSCAN_LONG, none = VSCAN_NONE;
static const vscan_order up = VSCAN_ASCENDING;
static const int64_t too_many = INT64_C(1) << 31; /* for positions of int */
static const int64_t no_count[] = {-1, INT64_MIN, INT64_MAX};
static const int64_t some[] = {1, 3, 3, 8};
static const uint8_t set[8] = {1, 0, 1, 1, 0, 0, 0, 1};

/* Operands, as they are before a refused call and after it. */
static int32_t in[8], out[8], amounts[8], sums[8];
static int64_t offsets[4], sums_of[8], count;

static void fill(void) {
    for (int i = 0; i < 8; i++) {
        in[i] = amounts[i] = i + 1;
        out[i] = sums[i] = 9;
        sums_of[i] = 9;
    }
    memcpy(offsets, (int64_t[]){0, 3, 3, 8}, sizeof offsets);
    count = 99;
}

static void all_unchanged(void) {
    for (int i = 0; i < 8; i++) {
        assert_true(in[i] == i + 1 && amounts[i] == i + 1);
        assert_true(out[i] == 9 && sums[i] == 9 && sums_of[i] == 9);
    }
    assert_memory_equal(offsets, ((int64_t[]){0, 3, 3, 8}), sizeof offsets);
    assert_int_equal(count, 99);
}

static void scans(void **state) {
    (void)state;
    if (harness_backend != VSCAN_BACKEND_CPU) skip();
    fill();
    uint8_t heads[8] = {0};
#define REFUSED(status, word, op, type, kind, direction, in, n, out)                               \
    do {                                                                                           \
        refused(NULL, status, word, vscan_host_scan(op, type, kind, direction, in, n, out));       \
        refused(NULL, status, word,                                                                \
                vscan_host_scan_segmented(op, type, kind, direction, in, heads, n, out));          \
        refused(NULL, status, word,                                                                \
                vscan_host_scan_by_offsets(op, type, kind, direction, in, n, VSCAN_LONG, offsets,  \
                                           3, out));                                               \
    } while (0)
    REFUSED(VSCAN_ERROR_ENUM, "op ", (vscan_op)VSCAN_INT, i32, VSCAN_INCLUSIVE, VSCAN_FORWARD, in,
            8, out);
    REFUSED(VSCAN_ERROR_ENUM, "type ", plus, (vscan_type)VSCAN_PLUS, VSCAN_INCLUSIVE, VSCAN_FORWARD,
            in, 8, out);
    REFUSED(VSCAN_ERROR_ENUM, "kind ", plus, i32, (vscan_kind)1, VSCAN_FORWARD, in, 8, out);
    REFUSED(VSCAN_ERROR_ENUM, "direction ", plus, i32, VSCAN_INCLUSIVE,
            (vscan_direction)VSCAN_EXCLUSIVE, in, 8, out);
    REFUSED(VSCAN_ERROR_PAIR, "type is uint8,", plus, VSCAN_UINT8, VSCAN_INCLUSIVE, VSCAN_FORWARD,
            in, 4, out);
    REFUSED(VSCAN_ERROR_PAIR, "type is bit,", plus, VSCAN_BIT, VSCAN_INCLUSIVE, VSCAN_FORWARD, in,
            4, out);
    REFUSED(VSCAN_ERROR_NULL, "in ", plus, i32, VSCAN_INCLUSIVE, VSCAN_FORWARD, NULL, 8, out);
    REFUSED(VSCAN_ERROR_NULL, "out ", plus, i32, VSCAN_INCLUSIVE, VSCAN_FORWARD, in, 8, NULL);
    REFUSED(VSCAN_ERROR_LENGTH, "n ", plus, i32, VSCAN_INCLUSIVE, VSCAN_FORWARD, in, -1, out);
    REFUSED(VSCAN_ERROR_OVERFLOW, "n ", plus, i32, VSCAN_INCLUSIVE, VSCAN_FORWARD, in, INT64_MAX,
            out);
    REFUSED(VSCAN_ERROR_ALIGNMENT, "in ", plus, i32, VSCAN_INCLUSIVE, VSCAN_FORWARD, (char *)in + 1,
            4, out);
    REFUSED(VSCAN_ERROR_OVERLAP, "out ", plus, i32, VSCAN_INCLUSIVE, VSCAN_FORWARD, in, 7, in + 1);
#undef REFUSED
    refused(NULL, VSCAN_ERROR_NULL, "heads ",
            vscan_host_scan_segmented(plus, i32, VSCAN_INCLUSIVE, VSCAN_FORWARD, in, NULL, 8, out));
    refused(NULL, VSCAN_ERROR_OVERLAP, "heads ",
            vscan_host_scan_segmented(plus, i32, VSCAN_INCLUSIVE, VSCAN_FORWARD, in, (uint8_t *)out,
                                      8, out));
    refused(NULL, VSCAN_ERROR_NULL, "in ",
            vscan_host_reduce(plus, i32, VSCAN_FORWARD, NULL, 8, out));
    refused(NULL, VSCAN_ERROR_NULL, "total ",
            vscan_host_reduce(plus, i32, VSCAN_FORWARD, in, 8, NULL));
    refused(NULL, VSCAN_ERROR_OVERLAP, "total ",
            vscan_host_reduce(plus, i32, VSCAN_FORWARD, in, 8, in + 3));
    refused(NULL, VSCAN_ERROR_PAIR, "type is byte,",
            vscan_host_reduce(plus, VSCAN_BYTE, VSCAN_FORWARD, in, 8, out));
    refused(NULL, VSCAN_ERROR_ENUM, "direction ",
            vscan_host_reduce(plus, i32, (vscan_direction)1, in, 8, out));
    all_unchanged();
}

static void scans_by_offsets(void **state) {
    (void)state;
    if (harness_backend != VSCAN_BACKEND_CPU) skip();
    fill();
#define REFUSED(status, name, of, offsets, segments, out)                                          \
    refused(NULL, status, name,                                                                    \
            vscan_host_scan_by_offsets(plus, i32, VSCAN_INCLUSIVE, VSCAN_FORWARD, in, 8, of,       \
                                       offsets, segments, out))
    REFUSED(VSCAN_ERROR_OVERLAP, "offsets ", i64, offsets, 3, offsets);
    for (int k = 0; k < 3; k++)
        REFUSED(VSCAN_ERROR_LENGTH, "segments ", i64, offsets, no_count[k], out);
    REFUSED(VSCAN_ERROR_NULL, "offsets ", i64, NULL, 3, out);
    REFUSED(VSCAN_ERROR_NULL, "offsets ", i32, NULL, 0, out);
    REFUSED(VSCAN_ERROR_TYPE, "offset_type ", VSCAN_DOUBLE, offsets, 3, out);
    REFUSED(VSCAN_ERROR_ENUM, "offset_type ", VSCAN_NONE, offsets, 3, out);
    REFUSED(VSCAN_ERROR_ALIGNMENT, "offsets ", i32, (const char *)offsets + 2, 3, out);
    static const int64_t one_is[] = {-1, 9}; /* no segments: the only offset is looked at, too */
    for (int k = 0; k < 2; k++) REFUSED(VSCAN_ERROR_OFFSETS, "offsets", i64, one_is + k, 0, out);
    /* int and long: 0 .. n, ascending; the first need not be 0 */
    static const int32_t bad[][4] = {
        {-1, 3, 3, 8}, {1, 3, 2, 8}, {1, 3, 3, 9}, {INT32_MIN, 0, 1, 2}};
    for (int k = 0; k < 4; k++) {
        const int64_t as_long[] = {bad[k][0], bad[k][1], bad[k][2], bad[k][3]};
        refused(NULL, VSCAN_ERROR_OFFSETS, "offsets",
                vscan_host_reduce_by_offsets(plus, i32, in, 8, i32, bad[k], 3, out));
        refused(NULL, VSCAN_ERROR_OFFSETS, "offsets",
                vscan_host_reduce_by_offsets(plus, i32, in, 8, VSCAN_LONG, as_long, 3, out));
        REFUSED(VSCAN_ERROR_OFFSETS, "offsets", i32, bad[k], 3, out);
        REFUSED(VSCAN_ERROR_OFFSETS, "offsets", i64, as_long, 3, out);
    }
#undef REFUSED
    all_unchanged();
}

static void reductions_by_offsets(void **state) {
    (void)state;
    if (harness_backend != VSCAN_BACKEND_CPU) skip();
    fill();
#define REFUSED(status, name, ...)                                                                 \
    refused(NULL, status, name, vscan_host_reduce_by_offsets(__VA_ARGS__))
    REFUSED(VSCAN_ERROR_TYPE, "offset_type ", plus, i32, in, 8, VSCAN_FLOAT, some, 3, out);
    REFUSED(VSCAN_ERROR_ENUM, "offset_type ", plus, i32, in, 8, VSCAN_NONE, some, 3, out);
    REFUSED(VSCAN_ERROR_ENUM, "op ", (vscan_op)6, i32, in, 8, i64, some, 3, out);
    REFUSED(VSCAN_ERROR_PAIR, "type is bit,", plus, VSCAN_BIT, in, 8, i64, some, 3, out);
    REFUSED(VSCAN_ERROR_NULL, "in ", plus, i32, NULL, 8, i64, some, 3, out);
    REFUSED(VSCAN_ERROR_NULL, "offsets ", plus, i32, in, 8, i64, NULL, 3, out);
    REFUSED(VSCAN_ERROR_NULL, "offsets ", plus, i32, in, 8, i64, NULL, 0, out);
    REFUSED(VSCAN_ERROR_NULL, "totals ", plus, i32, in, 8, i64, some, 3, NULL);
    REFUSED(VSCAN_ERROR_LENGTH, "n ", plus, i32, in, -1, i64, some, 3, out);
    for (int k = 0; k < 3; k++)
        REFUSED(VSCAN_ERROR_LENGTH, "segments ", plus, i32, in, 8, i64, some, no_count[k], out);
    REFUSED(VSCAN_ERROR_ALIGNMENT, "offsets ", plus, i32, in, 8, i64, (const char *)some + 4, 2,
            out);
    REFUSED(VSCAN_ERROR_OVERLAP, "totals ", plus, i32, in, 8, i64, some, 3, in + 2);
    REFUSED(VSCAN_ERROR_OVERLAP, "totals ", plus, i32, in, 8, i64, offsets, 3, offsets);
#undef REFUSED
    all_unchanged();
}

static void reductions_by_key(void **state) {
    (void)state;
    if (harness_backend != VSCAN_BACKEND_CPU) skip();
    fill();
#define REFUSED(status, name, ...)                                                                 \
    refused(NULL, status, name, vscan_host_reduce_by_key(__VA_ARGS__))
    REFUSED(VSCAN_ERROR_TYPE, "key_type ", plus, i32, VSCAN_BYTE, in, amounts, 8, out, sums,
            &count);
    REFUSED(VSCAN_ERROR_ENUM, "key_type ", plus, i32, VSCAN_NONE, in, amounts, 8, out, sums,
            &count);
    REFUSED(VSCAN_ERROR_PAIR, "type is byte,", plus, VSCAN_BYTE, i32, in, amounts, 8, out, sums,
            &count);
    REFUSED(VSCAN_ERROR_ENUM, "op ", (vscan_op)6, i32, i32, in, amounts, 8, out, sums, &count);
    REFUSED(VSCAN_ERROR_NULL, "keys ", plus, i32, i32, NULL, amounts, 8, out, sums, &count);
    REFUSED(VSCAN_ERROR_NULL, "in ", plus, i32, i32, in, NULL, 8, out, sums, &count);
    REFUSED(VSCAN_ERROR_NULL, "totals ", plus, i32, i32, in, amounts, 8, out, NULL, &count);
    REFUSED(VSCAN_ERROR_NULL, "count ", plus, i32, i32, in, amounts, 8, out, sums, NULL);
    REFUSED(VSCAN_ERROR_NULL, "count ", plus, i32, i32, in, amounts, 0, out, sums, NULL);
    REFUSED(VSCAN_ERROR_LENGTH, "n ", plus, i32, i32, in, amounts, -1, out, sums, &count);
    REFUSED(VSCAN_ERROR_OVERLAP, "totals ", plus, i32, i32, in, amounts, 8, out, amounts, &count);
    REFUSED(VSCAN_ERROR_OVERLAP, "totals ", plus, i32, i32, in, amounts, 8, out, in, &count);
    REFUSED(VSCAN_ERROR_OVERLAP, "keys_out ", plus, i32, i32, in, amounts, 8, in, sums, &count);
    REFUSED(VSCAN_ERROR_OVERLAP, "keys_out ", plus, i32, i32, in, amounts, 8, sums + 1, sums,
            &count);
    REFUSED(VSCAN_ERROR_OVERLAP, "count ", plus, i32, i32, in, amounts, 3, out, offsets,
            offsets + 1);
#undef REFUSED
    all_unchanged();
}

static void packs(void **state) {
    (void)state;
    if (harness_backend != VSCAN_BACKEND_CPU) skip();
    fill();
#define REFUSED(status, name, ...) refused(NULL, status, name, vscan_host_pack(__VA_ARGS__))
    REFUSED(VSCAN_ERROR_ENUM, "type ", VSCAN_NONE, in, set, 8, out, &count);
    REFUSED(VSCAN_ERROR_TYPE, "type ", VSCAN_BIT, in, set, 8, out, &count);
    REFUSED(VSCAN_ERROR_NULL, "in ", i32, NULL, set, 8, out, &count);
    REFUSED(VSCAN_ERROR_NULL, "flags ", i32, in, NULL, 8, out, &count);
    REFUSED(VSCAN_ERROR_NULL, "out ", i32, in, set, 8, NULL, &count);
    REFUSED(VSCAN_ERROR_NULL, "count ", i32, in, set, 8, out, NULL);
    REFUSED(VSCAN_ERROR_LENGTH, "n ", i32, in, set, -1, out, &count);
    REFUSED(VSCAN_ERROR_ALIGNMENT, "out ", i32, in, set, 7, (char *)out + 1, &count);
    REFUSED(VSCAN_ERROR_OVERLAP, "out ", i32, in, set, 7, in + 1, &count);
    REFUSED(VSCAN_ERROR_OVERLAP, "flags ", i32, in, (uint8_t *)(out + 7), 8, out, &count);
    REFUSED(VSCAN_ERROR_OVERLAP, "count ", i64, some, set, 3, offsets, offsets + 2);
#undef REFUSED
#define REFUSED(status, name, ...) refused(NULL, status, name, vscan_host_positions(__VA_ARGS__))
    REFUSED(VSCAN_ERROR_TYPE, "position_type ", set, 8, VSCAN_FLOAT, out, &count);
    REFUSED(VSCAN_ERROR_ENUM, "position_type ", set, 8, VSCAN_NONE, out, &count);
    REFUSED(VSCAN_ERROR_LENGTH, "n ", set, too_many, i32, out, &count);
    REFUSED(VSCAN_ERROR_LENGTH, "n ", set, -1, i32, out, &count);
    REFUSED(VSCAN_ERROR_NULL, "flags ", NULL, 8, i32, out, &count);
    REFUSED(VSCAN_ERROR_NULL, "positions ", set, 8, i32, NULL, &count);
    REFUSED(VSCAN_ERROR_NULL, "count ", set, 0, i32, NULL, NULL);
    REFUSED(VSCAN_ERROR_ALIGNMENT, "positions ", set, 4, i32, (char *)out + 1, &count);
    REFUSED(VSCAN_ERROR_OVERLAP, "positions ", (uint8_t *)(out + 7), 8, i32, out, &count);
    REFUSED(VSCAN_ERROR_OVERLAP, "count ", set, 3, i64, offsets, offsets + 2);
    REFUSED(VSCAN_ERROR_OVERLAP, "count ", (uint8_t *)&count, 3, i32, out, &count);
#undef REFUSED
    all_unchanged();
}

static void bounds(void **state) {
    (void)state;
    if (harness_backend != VSCAN_BACKEND_CPU) skip();
    fill();
#define REFUSED(status, name, ...)                                                                 \
    refused(NULL, status, name, vscan_host_lower_bound(__VA_ARGS__));                              \
    refused(NULL, status, name, vscan_host_upper_bound(__VA_ARGS__))
    REFUSED(VSCAN_ERROR_TYPE, "type ", VSCAN_UINT8, in, 8, amounts, 8, i32, out);
    REFUSED(VSCAN_ERROR_ENUM, "type ", VSCAN_NONE, in, 8, amounts, 8, i32, out);
    REFUSED(VSCAN_ERROR_TYPE, "position_type ", i32, in, 8, amounts, 8, VSCAN_BIT, out);
    REFUSED(VSCAN_ERROR_ENUM, "position_type ", i32, in, 8, amounts, 8, (vscan_type)1, out);
    REFUSED(VSCAN_ERROR_LENGTH, "n ", i32, in, too_many, amounts, 8, i32, out);
    REFUSED(VSCAN_ERROR_LENGTH, "n ", i32, in, -1, amounts, 8, i32, out);
    REFUSED(VSCAN_ERROR_LENGTH, "m ", i32, in, 8, amounts, -1, i32, out);
    REFUSED(VSCAN_ERROR_OVERFLOW, "m ", i32, in, 8, amounts, INT64_MAX / 8 + 1, i32, out);
    REFUSED(VSCAN_ERROR_NULL, "sorted ", i32, NULL, 8, amounts, 8, i32, out);
    REFUSED(VSCAN_ERROR_NULL, "values ", i32, in, 8, NULL, 8, i32, out);
    REFUSED(VSCAN_ERROR_NULL, "positions ", i32, in, 8, amounts, 8, i32, NULL);
    REFUSED(VSCAN_ERROR_ALIGNMENT, "values ", i32, in, 8, (char *)amounts + 1, 7, i32, out);
    REFUSED(VSCAN_ERROR_OVERLAP, "positions ", i32, in, 8, amounts, 8, i32, in);
    REFUSED(VSCAN_ERROR_OVERLAP, "positions ", i32, in, 8, amounts, 8, i32, amounts);
#undef REFUSED
    all_unchanged();
}

static void sums_as_long(void **state) {
    (void)state;
    if (harness_backend != VSCAN_BACKEND_CPU) skip();
    fill();
#define REFUSED(status, name, ...) refused(NULL, status, name, vscan_host_scan_as_long(__VA_ARGS__))
    REFUSED(VSCAN_ERROR_ENUM, "kind ", (vscan_kind)1, VSCAN_FORWARD, in, 8, sums_of);
    REFUSED(VSCAN_ERROR_ENUM, "direction ", VSCAN_INCLUSIVE, (vscan_direction)1, in, 8, sums_of);
    REFUSED(VSCAN_ERROR_LENGTH, "n ", VSCAN_INCLUSIVE, VSCAN_FORWARD, in, -1, sums_of);
    REFUSED(VSCAN_ERROR_NULL, "in ", VSCAN_INCLUSIVE, VSCAN_FORWARD, NULL, 8, sums_of);
    REFUSED(VSCAN_ERROR_NULL, "out ", VSCAN_INCLUSIVE, VSCAN_FORWARD, in, 8, NULL);
    REFUSED(VSCAN_ERROR_OVERLAP, "out ", VSCAN_INCLUSIVE, VSCAN_FORWARD, (int32_t *)sums_of, 8,
            sums_of);
#undef REFUSED

#define REFUSED(status, name, ...)                                                                 \
    refused(NULL, status, name, vscan_host_reduce_as_long(__VA_ARGS__))
    REFUSED(VSCAN_ERROR_LENGTH, "n ", in, -1, sums_of);
    REFUSED(VSCAN_ERROR_NULL, "in ", NULL, 8, sums_of);
    REFUSED(VSCAN_ERROR_NULL, "total ", in, 8, NULL);
    REFUSED(VSCAN_ERROR_NULL, "total ", in, 0, NULL);
    REFUSED(VSCAN_ERROR_OVERLAP, "total ", (int32_t *)sums_of, 8, sums_of + 1);
#undef REFUSED
    all_unchanged();
}

static void sorts(void **state) {
    (void)state;
    if (harness_backend != VSCAN_BACKEND_CPU) skip();
    fill();
#define REFUSED(status, name, ...) refused(NULL, status, name, vscan_host_argsort(__VA_ARGS__))
    REFUSED(VSCAN_ERROR_ENUM, "order ", (vscan_order)1, i32, in, 8, i32, out);
    REFUSED(VSCAN_ERROR_TYPE, "key_type ", VSCAN_DESCENDING, VSCAN_BYTE, in, 8, i32, out);
    REFUSED(VSCAN_ERROR_ENUM, "key_type ", VSCAN_ASCENDING, VSCAN_NONE, in, 8, i32, out);
    REFUSED(VSCAN_ERROR_TYPE, "position_type ", VSCAN_ASCENDING, i32, in, 8, VSCAN_FLOAT, out);
    REFUSED(VSCAN_ERROR_LENGTH, "n ", VSCAN_ASCENDING, i32, in, too_many, i32, out);
    REFUSED(VSCAN_ERROR_LENGTH, "n ", VSCAN_ASCENDING, i32, in, -1, i32, out);
    REFUSED(VSCAN_ERROR_NULL, "keys ", VSCAN_ASCENDING, i32, NULL, 8, i32, out);
    REFUSED(VSCAN_ERROR_NULL, "positions ", VSCAN_ASCENDING, i32, in, 8, i32, NULL);
    REFUSED(VSCAN_ERROR_OVERLAP, "positions ", VSCAN_ASCENDING, i32, in, 8, i32, in);
#undef REFUSED
    refused(NULL, VSCAN_ERROR_ENUM, "order ",
            vscan_host_sort((vscan_order)1, i32, in, none, NULL, 8, out, NULL));
    refused(NULL, VSCAN_ERROR_ENUM, "key_type ",
            vscan_host_sort(up, none, in, none, NULL, 8, out, NULL));
    refused(NULL, VSCAN_ERROR_TYPE, "key_type ",
            vscan_host_sort(up, VSCAN_BYTE, in, none, NULL, 8, out, NULL));
    refused(NULL, VSCAN_ERROR_TYPE, "value_type ",
            vscan_host_sort(up, i32, in, VSCAN_BIT, in, 8, out, out));
    refused(NULL, VSCAN_ERROR_NULL, "values ",
            vscan_host_sort(up, i32, in, i32, NULL, 8, out, out));
    refused(NULL, VSCAN_ERROR_VALUE, "values ",
            vscan_host_sort(up, i32, in, none, in, 8, out, NULL));
    refused(NULL, VSCAN_ERROR_VALUE, "values_out ",
            vscan_host_sort(up, i32, in, none, NULL, 8, out, out));
    int32_t values[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9}, values_out[8];
    refused(NULL, VSCAN_ERROR_OVERLAP, "values_out ",
            vscan_host_sort(up, i32, in, i32, values, 8, out, out));
    refused(NULL, VSCAN_ERROR_OVERLAP, "values_out ",
            vscan_host_sort(up, i32, in, i32, values, 8, out, in));
    refused(NULL, VSCAN_ERROR_OVERLAP, "values_out ",
            vscan_host_sort(up, i32, in, i32, values, 8, out, values + 1));
    refused(NULL, VSCAN_ERROR_OVERLAP, "values ",
            vscan_host_sort(up, i32, in, i32, out, 8, out, values_out));
    refused(NULL, VSCAN_ERROR_OVERLAP, "keys_out ",
            vscan_host_sort(up, i32, in, none, NULL, 7, in + 1, NULL));
    for (int i = 0; i < 8; i++) assert_int_equal(values[i], i + 1);
    all_unchanged();
}

static void no_elements(void **state) {
    (void)state;
    if (harness_backend != VSCAN_BACKEND_CPU) skip();
    fill();
    ok(NULL, vscan_host_scan(plus, i32, VSCAN_INCLUSIVE, VSCAN_FORWARD, NULL, 0, NULL));
    ok(NULL, vscan_host_scan_by_offsets(plus, i32, VSCAN_INCLUSIVE, VSCAN_FORWARD, NULL, 0, i64,
                                        offsets, 0, NULL));
    ok(NULL, vscan_host_scan_by_offsets(plus, i32, VSCAN_INCLUSIVE, VSCAN_FORWARD, in, 8, i64, some,
                                        0, out));
    assert_int_equal(out[1], 9);
    ok(NULL, vscan_host_sort(up, i32, NULL, none, NULL, 0, NULL, NULL));
    ok(NULL, vscan_host_pack(i32, NULL, NULL, 0, NULL, &count));
    assert_int_equal(count, 0);
    count = 99;
    ok(NULL, vscan_host_reduce_by_key(plus, i32, i32, NULL, NULL, 0, NULL, NULL, &count));
    assert_int_equal(count, 0);
    ok(NULL, vscan_host_reduce_by_offsets(plus, i32, NULL, 0, i32, (const int32_t[]){0}, 0, NULL));
    ok(NULL, vscan_host_reduce(VSCAN_MIN, i32, VSCAN_FORWARD, NULL, 0, out));
    assert_int_equal(out[0], INT32_MAX);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scans),
        cmocka_unit_test(scans_by_offsets),
        cmocka_unit_test(reductions_by_offsets),
        cmocka_unit_test(reductions_by_key),
        cmocka_unit_test(packs),
        cmocka_unit_test(bounds),
        cmocka_unit_test(sums_as_long),
        cmocka_unit_test(sorts),
        cmocka_unit_test(no_elements),
    };
    return harness_run(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
