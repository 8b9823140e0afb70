/* SPDX-License-Identifier: Apache-2.0 */
/* Every value of every enum, given to every argument and option that wants a value of another one, is
   VSCAN_ERROR_ENUM, with a sentence that says whose it is; 0 is, where it is no default. */
#include "pairs.h"
#include "world.h"

#include <stdio.h>

/* ---- The enums ------------------------------------------------------------------------------- */

/* Where the values of an enum begin and end; 0 is a value besides. */
struct family {
    const char *name;
    int first, last;
    const char *first_name, *last_name;
    bool zero;
};
static struct family families[] = {
    {"vscan_op", VSCAN_PLUS, LAST_OP, "VSCAN_PLUS", NULL, false}, /* main: its last name */
#define F(of, first, last, zero)                                                                   \
    { "vscan_" #of, VSCAN_##first, VSCAN_##last, "VSCAN_" #first, "VSCAN_" #last, zero }
    F(type, INT, UINT8, false),
    F(unary, UNARY_NEGATE, UNARY_ROUND_EVEN, false),
    F(binary, BINARY_ADD, BINARY_SHIFT_RIGHT, false),
    F(relation, EQUAL, GREATER_OR_EQUAL, false),
    F(kind, EXCLUSIVE, EXCLUSIVE, true),
    F(direction, BACKWARD, BACKWARD, true),
    F(order, DESCENDING, DESCENDING, true),
    F(end, FIRST, LAST, false),
    F(backend, BACKEND_CPU, BACKEND_CUDA, false),
#undef F
};
enum { FAMILIES = sizeof families / sizeof families[0], MOST = 120 };

static const struct family *family_of(const char *name) {
    for (int f = 0; f < FAMILIES; f++)
        if (strcmp(families[f].name, name) == 0) return &families[f];
    fail_msg("no enum %s", name);
    return NULL;
}

static void no_value_is_shared(void **state) {
    (void)state;
    const char *taken[MOST] = {NULL};
    for (int f = 0; f < FAMILIES; f++)
        for (int v = families[f].first; v <= families[f].last; v++) {
            assert_in_range(v, 10, MOST - 1); /* no small number, which may be a count or a truth */
            if (taken[v] != NULL) fail_msg("%d is of %s and %s", v, taken[v], families[f].name);
            taken[v] = families[f].name;
        }
    assert_int_equal(VSCAN_INCLUSIVE, 0);
    assert_int_equal(VSCAN_FORWARD, 0);
    assert_int_equal(VSCAN_ASCENDING, 0);
    assert_int_equal(VSCAN_BACKEND_AUTO, 0);
}

/* ---- The calls ------------------------------------------------------------------------------- */

/* Makes a call with this number for one enum, all else being right. */
typedef vscan_status with_number(int number);

static const int32_t one = 1;

#define OF(type, name, call)                                                                       \
    static vscan_status name(int number) {                                                         \
        const type value = (type)number;                                                           \
        return call;                                                                               \
    }
#define OPTION(name, options, member, call)                                                        \
    static vscan_status name(int number) {                                                         \
        const options o = {.size = sizeof o, .member = number};                                    \
        return call;                                                                               \
    }
/* clang-format off */
static vscan_buffer *made;
static vscan_carry *carry;
static vscan_ctx *created;
static int32_t devices;
static int64_t bytes;
static char text[80];
static int32_t array[4];

OF(vscan_type, buffer_create, vscan_buffer_create(w.ctx, value, 1, &made))
OF(vscan_type, buffer_wrap, vscan_buffer_wrap(w.ctx, value, NULL, 0, &made))
OF(vscan_type, ctx_reserve, vscan_ctx_reserve(w.ctx, value, 1))
OF(vscan_type, sort_reserve, vscan_sort_reserve(w.ctx, value, 0, 1))
OF(int32_t, sort_reserve_values, vscan_sort_reserve(w.ctx, VSCAN_INT, value, 1))
OF(vscan_type, carry_type, vscan_carry_create(w.ctx, VSCAN_PLUS, value, VSCAN_FORWARD, &carry))
OF(vscan_op, carry_op, vscan_carry_create(w.ctx, value, VSCAN_INT, VSCAN_FORWARD, &carry))
OF(int32_t, carry_direction, vscan_carry_create(w.ctx, VSCAN_PLUS, VSCAN_INT, value, &carry))
OF(vscan_op, scan, vscan_scan(w.ctx, value, w.in, w.out, NULL))
OF(vscan_op, scan_segmented, vscan_scan_segmented(w.ctx, value, w.in, w.flags, w.out, NULL))
OF(vscan_op, reduce, vscan_reduce(w.ctx, value, w.in, w.total, NULL))
OF(vscan_op, reduce_segmented, vscan_reduce_segmented(w.ctx, value, w.in, w.flags, w.totals, NULL))
OF(vscan_op, reduce_offsets, vscan_reduce_by_offsets(w.ctx, value, w.in, w.flags, w.shorter, NULL))
OF(vscan_op, reduce_key,
   vscan_reduce_by_key(w.ctx, value, w.in, w.in, w.out, w.totals, NULL))
OF(vscan_op, scan_offsets, vscan_scan_by_offsets(w.ctx, value, w.in, w.flags, w.out, NULL))
OF(vscan_op, scan_rows, vscan_scan_rows(w.ctx, value, w.in, 5, 5, w.out, NULL))
OF(vscan_op, scan_columns, vscan_scan_columns(w.ctx, value, w.in, 5, 5, w.out, NULL))
OF(vscan_op, reduce_rows, vscan_reduce_rows(w.ctx, value, w.in, N, 1, w.out, NULL))
OF(vscan_op, reduce_columns, vscan_reduce_columns(w.ctx, value, w.in, 1, N, w.out, NULL))
OF(vscan_op, distribute_totals, vscan_distribute_totals(w.ctx, value, w.in, w.flags, w.out))
OF(vscan_unary, map_unary, vscan_map_unary(w.ctx, value, w.in, w.out))
OF(vscan_binary, map_binary, vscan_map_binary(w.ctx, value, w.in, w.in, w.out))
OF(vscan_binary, map_right, vscan_map_right(w.ctx, value, w.in, &one, w.out))
OF(vscan_binary, map_left, vscan_map_left(w.ctx, value, &one, w.in, w.out))
OF(vscan_relation, compare, vscan_compare(w.ctx, value, w.in, w.in, w.of_bit))
OF(vscan_relation, compare_right, vscan_compare_right(w.ctx, value, w.in, &one, w.of_bit))
OF(vscan_relation, pack_compare, vscan_pack_compare(w.ctx, value, w.in, &one, w.out, NULL))
OF(vscan_end, distribute, vscan_distribute_segmented(w.ctx, value, w.in, w.flags, w.out))
OF(vscan_backend, device_count, vscan_device_count(value, &devices))
OF(vscan_backend, device_name, vscan_device_name(value, 0, text, sizeof text))
OF(vscan_backend, device_memory, vscan_device_memory(value, 0, &bytes, &bytes))
OF(vscan_op, host_scan_op, vscan_host_scan(value, VSCAN_INT, 0, 0, array, 1, array))
OF(vscan_type, host_scan_type, vscan_host_scan(VSCAN_PLUS, value, 0, 0, array, 1, array))
OF(vscan_kind, host_scan_kind, vscan_host_scan(VSCAN_PLUS, VSCAN_INT, value, 0, array, 1, array))
OF(vscan_direction, host_scan_direction,
   vscan_host_scan(VSCAN_PLUS, VSCAN_INT, 0, value, array, 1, array))
OF(vscan_op, host_reduce_op, vscan_host_reduce(value, VSCAN_INT, 0, array, 1, array + 1))
OF(vscan_op, host_offsets_op,
   vscan_host_reduce_by_offsets(value, VSCAN_INT, array, 1, VSCAN_INT, array, 0, array))
OF(vscan_type, host_offsets_type,
   vscan_host_reduce_by_offsets(VSCAN_PLUS, VSCAN_INT, array, 1, value, array, 0, array))
OF(vscan_type, host_scan_offsets_type,
   vscan_host_scan_by_offsets(VSCAN_PLUS, VSCAN_INT, 0, 0, array, 1, value, array, 0, array + 1))
OF(vscan_op, host_key_op,
   vscan_host_reduce_by_key(value, VSCAN_INT, VSCAN_INT, array, array, 1, NULL, array + 1, &bytes))
OF(vscan_type, host_key_keys,
   vscan_host_reduce_by_key(VSCAN_PLUS, VSCAN_INT, value, array, array, 1, NULL, array + 1, &bytes))
OF(vscan_type, host_pack_type, vscan_host_pack(value, array, NULL, 0, array, &bytes))
OF(vscan_type, host_positions_type,
   vscan_host_positions(NULL, 0, value, NULL, &bytes))
OF(vscan_order, host_argsort_order, vscan_host_argsort(value, VSCAN_INT, array, 1, 11, array + 1))
OF(vscan_type, host_argsort_key, vscan_host_argsort(0, value, array, 1, VSCAN_INT, array + 1))
OF(vscan_type, host_argsort_type, vscan_host_argsort(0, VSCAN_INT, array, 1, value, array + 1))
OF(vscan_type, host_lower_type,
   vscan_host_lower_bound(value, array, 1, array, 1, VSCAN_INT, array + 1))
OF(vscan_type, host_upper_type,
   vscan_host_upper_bound(VSCAN_INT, array, 1, array, 1, value, array + 1))
OF(vscan_kind, host_as_long_kind, vscan_host_scan_as_long(value, 0, array, 1, &bytes))
OF(vscan_direction, host_as_long_direction, vscan_host_scan_as_long(0, value, array, 1, &bytes))
OF(vscan_order, host_sort_order, vscan_host_sort(value, VSCAN_INT, array, 0, NULL, 1, array, NULL))
OF(vscan_type, host_sort_key, vscan_host_sort(0, value, array, 0, NULL, 1, array, NULL))
OF(vscan_type, host_sort_value,
   vscan_host_sort(0, VSCAN_INT, array, value, array, 1, array, array + 1))
OPTION(ctx_backend, vscan_ctx_options, backend, vscan_ctx_create(&o, &created))
OPTION(scan_kind, vscan_scan_options, kind, vscan_scan(w.ctx, VSCAN_MAX, w.in, w.out, &o))
OPTION(scan_direction, vscan_scan_options, direction, vscan_scan(w.ctx, VSCAN_MAX, w.in, w.out, &o))
OPTION(segmented_kind, vscan_scan_segmented_options, kind,
       vscan_scan_segmented(w.ctx, VSCAN_MAX, w.in, w.flags, w.out, &o))
OPTION(segmented_direction, vscan_scan_segmented_options, direction,
       vscan_scan_segmented(w.ctx, VSCAN_MAX, w.in, w.flags, w.out, &o))
OPTION(offsets_kind, vscan_scan_by_offsets_options, kind,
       vscan_scan_by_offsets(w.ctx, VSCAN_MAX, w.in, w.flags, w.out, &o))
OPTION(offsets_direction, vscan_scan_by_offsets_options, direction,
       vscan_scan_by_offsets(w.ctx, VSCAN_MAX, w.in, w.flags, w.out, &o))
OPTION(reduce_direction, vscan_reduce_options, direction,
       vscan_reduce(w.ctx, VSCAN_MAX, w.in, w.total, &o))
OPTION(rows_kind, vscan_matrix_options, kind,
       vscan_scan_rows(w.ctx, VSCAN_MAX, w.in, 5, 5, w.out, &o))
OPTION(rows_direction, vscan_matrix_options, direction,
       vscan_reduce_rows(w.ctx, VSCAN_MAX, w.in, N, 1, w.out, &o))
OPTION(sort_order, vscan_sort_options, order, vscan_sort(w.ctx, w.in, NULL, w.out, NULL, &o))
OPTION(sort_segmented_order, vscan_sort_options, order,
       vscan_sort_by_offsets(w.ctx, w.in, NULL, w.flags, w.out, NULL, &o))
/* clang-format on */

static const struct {
    const char *family, *name;
    with_number *call;
    bool zero_too; /* 0 stands for something else than a value of the enum */
} calls[] = {
#define C(family, name)                                                                            \
    { "vscan_" #family, #name, name, false }
    C(type, buffer_create),
    C(type, buffer_wrap),
    C(type, ctx_reserve),
    C(type, sort_reserve),
    {"vscan_type", "sort_reserve_values", sort_reserve_values, true},
    C(type, carry_type),
    C(op, carry_op),
    C(direction, carry_direction),
    C(op, scan),
    C(op, scan_segmented),
    C(op, reduce),
    C(op, reduce_segmented),
    C(op, reduce_offsets),
    C(op, scan_offsets),
    C(op, reduce_key),
    C(op, scan_rows),
    C(op, scan_columns),
    C(op, reduce_rows),
    C(op, reduce_columns),
    C(op, distribute_totals),
    C(unary, map_unary),
    C(binary, map_binary),
    C(binary, map_right),
    C(binary, map_left),
    C(relation, compare),
    C(relation, compare_right),
    C(relation, pack_compare),
    C(end, distribute),
    C(backend, device_count),
    C(backend, device_name),
    C(backend, device_memory),
    {"vscan_backend", "ctx_backend", ctx_backend, true},
    C(op, host_scan_op),
    C(type, host_scan_type),
    C(kind, host_scan_kind),
    C(direction, host_scan_direction),
    C(op, host_reduce_op),
    C(op, host_offsets_op),
    C(type, host_offsets_type),
    C(type, host_scan_offsets_type),
    C(op, host_key_op),
    C(type, host_key_keys),
    C(type, host_pack_type),
    C(type, host_positions_type),
    C(order, host_argsort_order),
    C(type, host_argsort_key),
    C(type, host_argsort_type),
    C(type, host_lower_type),
    C(type, host_upper_type),
    C(kind, host_as_long_kind),
    C(direction, host_as_long_direction),
    C(order, host_sort_order),
    C(type, host_sort_key),
    {"vscan_type", "host_sort_value", host_sort_value, true},
    C(kind, scan_kind),
    C(direction, scan_direction),
    C(kind, segmented_kind),
    C(direction, segmented_direction),
    C(direction, offsets_direction),
    C(kind, offsets_kind),
    C(direction, reduce_direction),
    C(kind, rows_kind),
    C(direction, rows_direction),
    C(order, sort_order),
    C(order, sort_segmented_order),
#undef C
};

/* Says whose the number is, or which are the right ones. */
static void check_sentence(const char *call, const struct family *own, int number) {
    const bool alone = strncmp(call, "host_", 5) == 0 || strncmp(call, "device_", 7) == 0 ||
                       strcmp(call, "ctx_backend") == 0;
    const char *const sentence = vscan_ctx_last_error(alone ? NULL : w.ctx);
    const char *first = own->first_name, *last = own->last_name;
    char word[80];
    snprintf(word, sizeof word, " is %d, not a %s (", number, own->name);
    for (int f = 0; f < FAMILIES; f++) {
        if (number < families[f].first || number > families[f].last) continue;
        snprintf(word, sizeof word, ", which is a %s: are two ", families[f].name);
        first = number == families[f].first ? families[f].first_name : "";
        last = number == families[f].last ? families[f].last_name : "";
    }
    if (strstr(sentence, word) == NULL || strstr(sentence, first) == NULL ||
        strstr(sentence, last) == NULL)
        fail_msg("%s of %d: %s", call, number, sentence);
}

static void others_are_refused(void **state) {
    (void)state;
    for (size_t c = 0; c < sizeof calls / sizeof calls[0]; c++) {
        const struct family *own = family_of(calls[c].family);
        for (int number = -1; number < MOST; number++) {
            if (number >= own->first && number <= own->last) continue;
            if (number == 0 && (own->zero || calls[c].zero_too)) continue;
            const vscan_status status = calls[c].call(number);
            if (status != VSCAN_ERROR_ENUM)
                fail_msg("%s of %d: %s", calls[c].name, number, vscan_status_name(status));
            check_sentence(calls[c].name, own, number);
            world_check_untouched(__FILE__, __LINE__);
        }
    }
    assert_null(made);
    assert_null(carry);
    assert_null(created);
}

int main(int argc, char **argv) {
    static const char *const ops[] = {
#define X(op, OP) "VSCAN_" #OP,
        VSCAN__OPERATORS(X)
#undef X
    };
    families[0].last_name = ops[VSCAN__OPS - 1];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_value_is_shared),
        world_unit_test(others_are_refused),
    };
    return harness_run(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
