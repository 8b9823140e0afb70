/* SPDX-License-Identifier: Apache-2.0 */
/* Late errors: the report names the function whose call found one, and, where several did, is of the first
   and names the others. What each function takes for an error is tested with the function. */
#include "harness.h"

#include <stdio.h>
#include <string.h>

/* Vectors in which every call below finds an error. */
static vscan_ctx *ctx;
static vscan_buffer *numbers, *zeros, *out, *one, *flags, *offsets, *three, *wide;

static vscan_buffer *make(vscan_type type, int64_t n, const void *host) {
    vscan_buffer *buffer;
    ok(ctx, vscan_buffer_create(ctx, type, n, &buffer));
    ok(ctx, vscan_buffer_upload(buffer, 0, n, host));
    return buffer;
}

static int set_up(void **state) {
    (void)state;
    const int32_t host_numbers[4] = {5, 6, 5, -1}, host_zeros[4] = {0},
                  descending[4] = {0, 3, 2, 4};
    const int32_t ones[4] = {1, 1, 1, 1};
    const int64_t zero_longs[5] = {0};
    ctx = harness_new_ctx(0);
    numbers = make(VSCAN_INT, 4, host_numbers);
    zeros = make(VSCAN_INT, 4, host_zeros);
    out = make(VSCAN_INT, 4, host_zeros);
    one = make(VSCAN_INT, 1, host_zeros);
    three = make(VSCAN_INT, 3, host_zeros);
    flags = make(VSCAN_INT, 4, ones);
    offsets = make(VSCAN_INT, 4, descending);
    wide = make(VSCAN_LONG, 5, zero_longs);
    return 0;
}

static void destroy_buffers(void) {
    vscan_buffer *const all[] = {numbers, zeros, out, one, flags, offsets, three, wide};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) ok(NULL, vscan_buffer_destroy(all[i]));
}

static int tear_down(void **state) {
    (void)state;
    destroy_buffers();
    ok(NULL, vscan_ctx_destroy(ctx));
    return 0;
}

static const int32_t zero = 0;

static vscan_status segmented(void) {
    const vscan_scan_segmented_options options = {.size = sizeof options, .totals = one};
    return vscan_scan_segmented(ctx, VSCAN_PLUS, numbers, flags, out, &options);
}

/* X(function, what its report says, the call) */
#define CALLS(X)                                                                                   \
    X(vscan_map_binary, VSCAN_ERROR_DIVISION,                                                      \
      vscan_map_binary(ctx, VSCAN_BINARY_DIVIDE, numbers, zeros, out))                             \
    X(vscan_map_right, VSCAN_ERROR_DIVISION,                                                       \
      vscan_map_right(ctx, VSCAN_BINARY_DIVIDE, numbers, &zero, out))                              \
    X(vscan_gather, VSCAN_ERROR_POSITION, vscan_gather(ctx, zeros, numbers, out))                  \
    X(vscan_permute, VSCAN_ERROR_POSITION, vscan_permute(ctx, zeros, numbers, out, NULL))          \
    X(vscan_pack, VSCAN_ERROR_OUT_LENGTH, vscan_pack(ctx, numbers, flags, one, NULL))              \
    X(vscan_pack_compare, VSCAN_ERROR_OUT_LENGTH,                                                  \
      vscan_pack_compare(ctx, VSCAN_NOT_EQUAL, numbers, &zero, one, NULL))                         \
    X(vscan_heads_to_offsets, VSCAN_ERROR_OUT_LENGTH,                                              \
      vscan_heads_to_offsets(ctx, flags, one, NULL))                                               \
    X(vscan_flags_to_positions, VSCAN_ERROR_OUT_LENGTH,                                            \
      vscan_flags_to_positions(ctx, flags, one, NULL))                                             \
    X(vscan_sort_by_offsets, VSCAN_ERROR_OFFSETS,                                                  \
      vscan_sort_by_offsets(ctx, numbers, NULL, offsets, out, NULL, NULL))                         \
    X(vscan_offsets_to_heads, VSCAN_ERROR_OFFSETS, vscan_offsets_to_heads(ctx, offsets, out))      \
    X(vscan_offsets_to_lengths, VSCAN_ERROR_OFFSETS,                                               \
      vscan_offsets_to_lengths(ctx, offsets, three))                                               \
    X(vscan_lengths_to_offsets, VSCAN_ERROR_OFFSETS, vscan_lengths_to_offsets(ctx, numbers, wide)) \
    X(vscan_reduce_by_offsets, VSCAN_ERROR_OFFSETS,                                                \
      vscan_reduce_by_offsets(ctx, VSCAN_PLUS, numbers, offsets, three, NULL))                     \
    X(vscan_scan_by_offsets, VSCAN_ERROR_OFFSETS,                                                  \
      vscan_scan_by_offsets(ctx, VSCAN_PLUS, numbers, offsets, out, NULL))                         \
    X(vscan_reduce_segmented, VSCAN_ERROR_TOTALS_LENGTH,                                           \
      vscan_reduce_segmented(ctx, VSCAN_PLUS, numbers, flags, one, NULL))                          \
    X(vscan_scan_segmented, VSCAN_ERROR_TOTALS_LENGTH, segmented())

enum call {
#define X(function, status, call) CALL_##function,
    CALLS(X)
#undef X
        CALLS_ALL
};

static const char *const names[] = {
#define X(function, status, call) #function,
    CALLS(X)
#undef X
};

static const vscan_status statuses[] = {
#define X(function, status, call) status,
    CALLS(X)
#undef X
};

static void make_call(int which) {
    switch ((enum call)which) {
#define X(function, status, call)                                                                  \
    case CALL_##function:                                                                          \
        ok(ctx, call);                                                                             \
        break;
        CALLS(X)
#undef X
    case CALLS_ALL:
        break;
    }
}

/* The report of some calls, of which the first was this one. */
static void check_report(int first) {
    char beginning[100];
    snprintf(beginning, sizeof beginning, "vscan_ctx_synchronize: an earlier call of %s ",
             names[first]);
    harness_status(statuses[first], vscan_ctx_synchronize(ctx), names[first], __FILE__, __LINE__);
    const char *sentence = vscan_ctx_last_error(ctx);
    if (strncmp(sentence, beginning, strlen(beginning)) != 0)
        fail_msg("\"%s\" does not begin with \"%s\"", sentence, beginning);
    ok(ctx, vscan_ctx_synchronize(ctx)); /* it comes once */
}

static void each_alone(void **state) {
    (void)state;
    for (int i = 0; i < CALLS_ALL; i++) {
        make_call(i);
        make_call(i);
        check_report(i);
        assert_null(strstr(vscan_ctx_last_error(ctx), "too by")); /* there is no other function */
    }
}

static void all_together(void **state) {
    (void)state;
    for (int first = 0; first < CALLS_ALL; first++) {
        for (int i = 0; i < CALLS_ALL; i++) make_call((first + i) % CALLS_ALL);
        make_call(first);
        check_report(first);
        const char *others = strstr(vscan_ctx_last_error(ctx), "; errors were found too by ");
        assert_non_null(others);
        for (int i = 0; i < CALLS_ALL; i++) {
            char name[60];
            snprintf(name, sizeof name, "%s, ", names[i]);
            const bool last = i == (first + CALLS_ALL - 1) % CALLS_ALL;
            if (last) name[strlen(names[i])] = 0;
            assert_int_equal(strstr(others, name) != NULL, i != first);
        }
    }
}

/* What nobody has taken is reported when the context goes, which it does all the same. */
static void at_the_end(void **state) {
    for (int i = 0; i < 2 * CALLS_ALL; i++) {
        const int which = i / 2;
        set_up(state);
        make_call((which + 1) % CALLS_ALL);
        refuses(statuses[(which + 1) % CALLS_ALL], vscan_ctx_synchronize(ctx)); /* it is taken */
        make_call(which);
        if (i % 2 == 0) destroy_buffers();
        char beginning[100];
        snprintf(beginning, sizeof beginning, "vscan_ctx_destroy: an earlier call of %s ",
                 names[which]);
        harness_status(statuses[which], vscan_ctx_destroy(ctx), names[which], __FILE__, __LINE__);
        const char *sentence = vscan_ctx_last_error(ctx); /* the thread's, as the context is gone */
        if (strncmp(sentence, beginning, strlen(beginning)) != 0)
            fail_msg("\"%s\" does not begin with \"%s\"", sentence, beginning);
        assert_string_equal(vscan_ctx_last_error(NULL), sentence);
        refuses(VSCAN_ERROR_HANDLE, vscan_ctx_destroy(ctx));
        if (i % 2 == 1) destroy_buffers();
    }
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(each_alone, set_up, tear_down),
        cmocka_unit_test_setup_teardown(all_together, set_up, tear_down),
        cmocka_unit_test(at_the_end)};
    return harness_run(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
