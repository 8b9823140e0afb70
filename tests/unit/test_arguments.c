/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What scan, segmented scan and reduce refuse: each status that they document, a sentence that
 * names the argument, and after each refusal every buffer and host value as it was.
 */
#include "harness.h"
#include "pairs.h"
#include "refusal.h"
#include "world.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- Statuses and version -------------------------------------------------------------------- */

static void statuses(void **state) {
    (void)state;
    static const struct {
        int number;
        const char *name;
    } all[] = {{0, "VSCAN_OK"},
               {100, "VSCAN_ERROR_NULL"},
               {101, "VSCAN_ERROR_HANDLE"},
               {102, "VSCAN_ERROR_CONTEXT"},
               {103, "VSCAN_ERROR_TYPE"},
               {104, "VSCAN_ERROR_LENGTH"},
               {105, "VSCAN_ERROR_RANGE"},
               {106, "VSCAN_ERROR_OVERLAP"},
               {107, "VSCAN_ERROR_ENUM"},
               {108, "VSCAN_ERROR_PAIR"},
               {109, "VSCAN_ERROR_STRUCT_SIZE"},
               {110, "VSCAN_ERROR_OVERFLOW"},
               {111, "VSCAN_ERROR_ALIGNMENT"},
               {112, "VSCAN_ERROR_POINTER"},
               {113, "VSCAN_ERROR_VALUE"},
               {114, "VSCAN_ERROR_CARRY"},
               {200, "VSCAN_ERROR_HOST_MEMORY"},
               {201, "VSCAN_ERROR_DEVICE_MEMORY"},
               {300, "VSCAN_ERROR_NO_BACKEND"},
               {301, "VSCAN_ERROR_NO_DRIVER"},
               {302, "VSCAN_ERROR_NO_DEVICE"},
               {303, "VSCAN_ERROR_NO_KERNEL"},
               {304, "VSCAN_ERROR_UNSUPPORTED"},
               {305, "VSCAN_ERROR_CAPTURE"},
               {306, "VSCAN_ERROR_BACKEND"},
               {307, "VSCAN_ERROR_DEVICE_LOST"},
               {400, "VSCAN_ERROR_TOTALS_LENGTH"},
               {401, "VSCAN_ERROR_DIVISION"},
               {402, "VSCAN_ERROR_POSITION"},
               {403, "VSCAN_ERROR_REPEATED"},
               {404, "VSCAN_ERROR_OUT_LENGTH"},
               {405, "VSCAN_ERROR_OFFSETS"}};
    const char *unknown = vscan_status_text((vscan_status)-1);
    size_t next = 0;
    for (int number = -5; number < 1000; number++) {
        const char *name = vscan_status_name((vscan_status)number);
        const char *text = vscan_status_text((vscan_status)number);
        if (next < sizeof all / sizeof all[0] && all[next].number == number) {
            assert_string_equal(name, all[next++].name);
            assert_string_not_equal(text, unknown);
            assert_true(strlen(text) > 10);
        } else {
            assert_string_equal(name, "VSCAN_ERROR_UNKNOWN");
            assert_string_equal(text, unknown);
        }
    }
    assert_int_equal(next, sizeof all / sizeof all[0]);
    assert_string_equal(vscan_status_name(VSCAN_STATUS_FORCE_INT), "VSCAN_ERROR_UNKNOWN");
    assert_string_equal(vscan_status_text(VSCAN_STATUS_FORCE_INT), unknown);
}

static void version(void **state) {
    (void)state;
    char text[32];
    assert_int_equal(vscan_version(), VSCAN_VERSION);
    snprintf(text, sizeof text, "%d.%d.%d", VSCAN_VERSION_MAJOR, VSCAN_VERSION_MINOR,
             VSCAN_VERSION_PATCH);
    assert_string_equal(vscan_version_text(), text);
}

static const int wrong_ops[] = {0, 6, -1, INT32_MIN, INT32_MAX};
enum { WRONG_OPS = sizeof wrong_ops / sizeof wrong_ops[0] };
static const int32_t wrong_switches[] = {-1, 2, INT32_MIN, INT32_MAX};
enum { WRONG_SWITCHES = sizeof wrong_switches / sizeof wrong_switches[0] };

/* ---- Scan ------------------------------------------------------------------------------------ */

static vscan_status scan_on(vscan_ctx *ctx) {
    return vscan_scan(ctx, VSCAN_PLUS, w.in, w.out, NULL);
}

static void scan_vectors(void **state) {
    (void)state;
    world_check_contexts(scan_on);
    for (int i = 0; i < WRONG_HANDLES; i++) {
        const struct wrong_handle h = wrong_handle(i);
        refused_untouched(h.status, "in ", vscan_scan(w.ctx, VSCAN_PLUS, h.handle, w.out, NULL));
        refused_untouched(h.status, "out ", vscan_scan(w.ctx, VSCAN_PLUS, w.in, h.handle, NULL));
    }
    for (int i = 0; i < WRONG_OPS; i++)
        refused_untouched(VSCAN_ERROR_ENUM, "op ",
                          vscan_scan(w.ctx, (vscan_op)wrong_ops[i], w.in, w.out, NULL));
    for (int op = VSCAN_PLUS; op <= LAST_OP; op++) {
        vscan_buffer *const pairless[] = {w.of_byte, w.of_bit, w.of_uint8};
        for (int i = 0; i < 3; i++)
            refused_untouched(VSCAN_ERROR_PAIR, "in ",
                              vscan_scan(w.ctx, (vscan_op)op, pairless[i], pairless[i], NULL));
    }
    vscan_buffer *const typed[] = {w.of_float, w.of_double, w.of_byte, w.of_bit, w.of_long};
    for (int i = 0; i < 5; i++) /* a sum of ints may be one of longs: test_widening.c */
        refused_untouched(VSCAN_ERROR_TYPE, "out ",
                          vscan_scan(w.ctx, typed[i] == w.of_long ? VSCAN_MAX : VSCAN_PLUS, w.in,
                                     typed[i], NULL));
    refused_untouched(VSCAN_ERROR_LENGTH, "out ",
                      vscan_scan(w.ctx, VSCAN_PLUS, w.in, w.shorter, NULL));
    refused_untouched(VSCAN_ERROR_OVERLAP, "out ",
                      vscan_scan(w.ctx, VSCAN_PLUS, w.in, w.shifted, NULL));
    refused_untouched(VSCAN_ERROR_OVERLAP, "out ",
                      vscan_scan(w.ctx, VSCAN_PLUS, w.shifted, w.in, NULL));
}

/* Sizes that no library of this version understands, for a struct of that size. */
static int64_t wrong_size(int i, int64_t size) {
    const int64_t sizes[] = {0, -1, 8, size - 1, size - 16, INT64_MAX, INT64_MIN};
    return sizes[i];
}
enum { WRONG_SIZES = 7 };

static void scan_options(void **state) {
    (void)state;
    vscan_scan_options o = {.size = sizeof o, .total = w.total};
    for (int i = 0; i < WRONG_SIZES; i++) {
        o.size = wrong_size(i, sizeof o);
        refused_untouched(VSCAN_ERROR_STRUCT_SIZE, "size",
                          vscan_scan(w.ctx, VSCAN_PLUS, w.in, w.out, &o));
    }
    o.size = sizeof o;
    for (int i = 0; i < WRONG_SWITCHES; i++) {
        o.kind = wrong_switches[i];
        refused_untouched(VSCAN_ERROR_ENUM, "kind", vscan_scan(w.ctx, VSCAN_PLUS, w.in, w.out, &o));
        o.kind = 0;
        o.direction = wrong_switches[i];
        refused_untouched(VSCAN_ERROR_ENUM, "direction",
                          vscan_scan(w.ctx, VSCAN_PLUS, w.in, w.out, &o));
        o.direction = 0;
    }
    struct {
        vscan_scan_options known;
        unsigned char later[8];
    } larger = {.known = o};
    larger.known.size = sizeof larger;
    larger.later[7] = 1;
    refused_untouched(VSCAN_ERROR_STRUCT_SIZE, "size",
                      vscan_scan(w.ctx, VSCAN_PLUS, w.in, w.out, &larger.known));
    larger.later[7] = 0;
    ok(w.ctx, vscan_scan(w.ctx, VSCAN_PLUS, w.in, w.out, &larger.known));
}

static void scan_initial_and_total(void **state) {
    (void)state;
    vscan_scan_options o = {.size = sizeof o};
#define SCAN vscan_scan(w.ctx, VSCAN_PLUS, w.in, w.out, &o)
    o.initial = (vscan_value){.holds = VSCAN_INT, .as_int = 7};
    o.initial_buffer = w.initial;
    refused_untouched(VSCAN_ERROR_VALUE, "initial", SCAN);
    o.initial_buffer = NULL;
    o.initial.holds = VSCAN_FLOAT;
    refused_untouched(VSCAN_ERROR_TYPE, "initial", SCAN);
    o.initial.holds = VSCAN_BYTE;
    refused_untouched(VSCAN_ERROR_TYPE, "initial", SCAN);
    o.initial.holds = VSCAN_PLUS;
    refused_untouched(VSCAN_ERROR_ENUM, "initial.holds", SCAN);
    o.initial.holds = VSCAN_INT;
    o.initial.unused = 1;
    refused_untouched(VSCAN_ERROR_VALUE, "initial.unused", SCAN);
    o.initial = (vscan_value){0};
    for (int i = 1; i < WRONG_HANDLES; i++) { /* not 0: NULL is none */
        const struct wrong_handle h = wrong_handle(i);
        o.initial_buffer = h.handle;
        o.total = NULL;
        refused_untouched(h.status, "initial_buffer", SCAN);
        o.initial_buffer = NULL;
        o.total = h.handle;
        refused_untouched(h.status, "total", SCAN);
    }
    o.total = NULL;
    o.initial_buffer = w.one_float;
    refused_untouched(VSCAN_ERROR_TYPE, "initial_buffer", SCAN);
    o.initial_buffer = w.shorter;
    refused_untouched(VSCAN_ERROR_LENGTH, "initial_buffer", SCAN);
    o.initial_buffer = NULL;
    o.total = w.one_float;
    refused_untouched(VSCAN_ERROR_TYPE, "total", SCAN);
    o.total = w.shorter;
    refused_untouched(VSCAN_ERROR_LENGTH, "total", SCAN);

    vscan_buffer *in_in = NULL, *in_out = NULL, *none = NULL;
    ok(w.ctx, vscan_buffer_view(w.in, N - 1, 1, &in_in));
    ok(w.ctx, vscan_buffer_view(w.out, 0, 1, &in_out));
    ok(w.ctx, vscan_buffer_view(w.out, 0, 0, &none));
    o.total = in_in;
    refused_untouched(VSCAN_ERROR_OVERLAP, "total", SCAN);
    o.total = in_out;
    refused_untouched(VSCAN_ERROR_OVERLAP, "total", SCAN);
    o.total = none;
    refused_untouched(VSCAN_ERROR_LENGTH, "total", SCAN);
    o.total = NULL;
    o.initial_buffer = in_out;
    refused_untouched(VSCAN_ERROR_OVERLAP, "initial_buffer", SCAN);
    o.initial_buffer = none;
    refused_untouched(VSCAN_ERROR_LENGTH, "initial_buffer", SCAN);
    o.initial_buffer = in_in; /* only read, as in is */
    o.total = w.total;
    ok(w.ctx, SCAN);
    /* ... but not in place */
    refused(w.ctx, VSCAN_ERROR_OVERLAP, "initial_buffer",
            vscan_scan(w.ctx, VSCAN_PLUS, w.in, w.in, &o));
#undef SCAN
    ok(NULL, vscan_buffer_destroy(in_in));
    ok(NULL, vscan_buffer_destroy(in_out));
    ok(NULL, vscan_buffer_destroy(none));
}

/* ---- Segmented scan -------------------------------------------------------------------------- */

static vscan_status segmented_on(vscan_ctx *ctx) {
    return vscan_scan_segmented(ctx, VSCAN_PLUS, w.in, w.flags, w.out, NULL);
}

static void segmented_vectors(void **state) {
    (void)state;
    world_check_contexts(segmented_on);
    for (int i = 0; i < WRONG_HANDLES; i++) {
        const struct wrong_handle h = wrong_handle(i);
        refused_untouched(h.status, "in ",
                          vscan_scan_segmented(w.ctx, VSCAN_MAX, h.handle, w.flags, w.out, NULL));
        refused_untouched(h.status, "heads ",
                          vscan_scan_segmented(w.ctx, VSCAN_MAX, w.in, h.handle, w.out, NULL));
        refused_untouched(h.status, "out ",
                          vscan_scan_segmented(w.ctx, VSCAN_MAX, w.in, w.flags, h.handle, NULL));
    }
    for (int i = 0; i < WRONG_OPS; i++)
        refused_untouched(
            VSCAN_ERROR_ENUM, "op ",
            vscan_scan_segmented(w.ctx, (vscan_op)wrong_ops[i], w.in, w.flags, w.out, NULL));
    vscan_buffer *const pairless[] = {w.of_byte, w.of_bit, w.of_uint8};
    for (int i = 0; i < 3; i++)
        refused_untouched(
            VSCAN_ERROR_PAIR, "in ",
            vscan_scan_segmented(w.ctx, VSCAN_OR, pairless[i], w.flags, pairless[i], NULL));
    vscan_buffer *const no_flags[] = {w.of_float, w.of_double, w.of_long};
    for (int i = 0; i < 3; i++) {
        refused_untouched(VSCAN_ERROR_TYPE, "heads ",
                          vscan_scan_segmented(w.ctx, VSCAN_MIN, w.in, no_flags[i], w.out, NULL));
        refused_untouched(VSCAN_ERROR_TYPE, "out ",
                          vscan_scan_segmented(w.ctx, VSCAN_MIN, w.in, w.flags, no_flags[i], NULL));
    }
    refused_untouched(VSCAN_ERROR_LENGTH, "heads ",
                      vscan_scan_segmented(w.ctx, VSCAN_PLUS, w.in, w.shorter, w.out, NULL));
    refused_untouched(VSCAN_ERROR_LENGTH, "out ",
                      vscan_scan_segmented(w.ctx, VSCAN_PLUS, w.in, w.flags, w.shorter, NULL));
    refused_untouched(VSCAN_ERROR_OVERLAP, "out ",
                      vscan_scan_segmented(w.ctx, VSCAN_PLUS, w.in, w.flags, w.shifted, NULL));
    refused_untouched(VSCAN_ERROR_OVERLAP, "heads ",
                      vscan_scan_segmented(w.ctx, VSCAN_PLUS, w.in, w.flags, w.flags, NULL));
    refused_untouched(VSCAN_ERROR_OVERLAP, "heads ",
                      vscan_scan_segmented(w.ctx, VSCAN_PLUS, w.in, w.shifted, w.in, NULL));
    /* in and flags are both only read */
    ok(w.ctx, vscan_scan_segmented(w.ctx, VSCAN_PLUS, w.in, w.in, w.out, NULL));
}

static void segmented_options(void **state) {
    (void)state;
    vscan_scan_segmented_options o = {.size = sizeof o, .totals = w.totals, .count = w.count};
    const vscan_scan_segmented_options good = o;
#define SEGMENTED vscan_scan_segmented(w.ctx, VSCAN_PLUS, w.in, w.flags, w.out, &o)
    for (int i = 0; i < WRONG_SIZES; i++) {
        o.size = wrong_size(i, sizeof o);
        refused_untouched(VSCAN_ERROR_STRUCT_SIZE, "size", SEGMENTED);
    }
    o = good;
    for (int i = 0; i < WRONG_SWITCHES; i++) {
        o.kind = wrong_switches[i];
        refused_untouched(VSCAN_ERROR_ENUM, "kind", SEGMENTED);
        o = good;
        o.direction = wrong_switches[i];
        refused_untouched(VSCAN_ERROR_ENUM, "direction", SEGMENTED);
        o = good;
    }
    o.initial = (vscan_value){.holds = VSCAN_INT, .as_int = 7};
    o.initial_buffer = w.initial;
    refused_untouched(VSCAN_ERROR_VALUE, "initial", SEGMENTED);
    o = good;
    for (int i = 1; i < WRONG_HANDLES; i++) {
        const struct wrong_handle h = wrong_handle(i);
        o.initial_buffer = h.handle;
        refused_untouched(h.status, "initial_buffer", SEGMENTED);
        o = good;
        o.totals = h.handle;
        refused_untouched(h.status, "totals", SEGMENTED);
        o = good;
        o.count = h.handle;
        refused_untouched(h.status, "count", SEGMENTED);
        o = good;
    }
    const struct {
        vscan_status status;
        const char *word;
        vscan_buffer *initial, *totals, *count;
    } bad[] = {
        {VSCAN_ERROR_TYPE, "initial_buffer", w.one_float, NULL, NULL},
        {VSCAN_ERROR_LENGTH, "initial_buffer", w.shorter, NULL, NULL},
        {VSCAN_ERROR_TYPE, "totals", NULL, w.of_float, NULL},
        {VSCAN_ERROR_TYPE, "count", NULL, NULL, w.one_int},
        {VSCAN_ERROR_LENGTH, "count", NULL, NULL, w.two_long},
        {VSCAN_ERROR_OVERLAP, "totals", NULL, w.in, NULL},
        {VSCAN_ERROR_OVERLAP, "totals", NULL, w.flags, NULL},
        {VSCAN_ERROR_OVERLAP, "totals", NULL, w.out, NULL},
        {VSCAN_ERROR_OVERLAP, "totals", w.initial, w.initial, NULL},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        o.initial_buffer = bad[i].initial;
        o.totals = bad[i].totals;
        o.count = bad[i].count;
        refused_untouched(bad[i].status, bad[i].word, SEGMENTED);
    }
    /* A count that lies where something else does: wrapped, as its type is another. */
    vscan_buffer *const taken[] = {w.in, w.flags, w.out, w.totals};
    for (int i = 0; i < 4; i++) {
        vscan_buffer *count = NULL;
        ok(w.ctx, vscan_buffer_wrap(w.ctx, VSCAN_LONG, vscan_buffer_pointer(taken[i]), 1, &count));
        o = good;
        o.count = count;
        refused_untouched(VSCAN_ERROR_OVERLAP, "count", SEGMENTED);
        ok(NULL, vscan_buffer_destroy(count));
    }
    vscan_buffer *in_out = NULL;
    ok(w.ctx, vscan_buffer_view(w.out, 5, 1, &in_out));
    o = good;
    o.initial_buffer = in_out;
    refused_untouched(VSCAN_ERROR_OVERLAP, "initial_buffer", SEGMENTED);
    ok(NULL, vscan_buffer_destroy(in_out));
#undef SEGMENTED
}

/* ---- Reduce ---------------------------------------------------------------------------------- */

static vscan_status reduce_on(vscan_ctx *ctx) {
    return vscan_reduce(ctx, VSCAN_PLUS, w.in, w.total, NULL);
}

static void reduce(void **state) {
    (void)state;
    world_check_contexts(reduce_on);
    vscan_reduce_options o = {.size = sizeof o};
    const vscan_reduce_options good = o;
#define REDUCE vscan_reduce(w.ctx, VSCAN_PLUS, w.in, w.total, &o)
    for (int i = 0; i < WRONG_HANDLES; i++) {
        const struct wrong_handle h = wrong_handle(i);
        refused_untouched(h.status, "in ", vscan_reduce(w.ctx, VSCAN_PLUS, h.handle, w.total, &o));
        if (h.handle == NULL) continue;
        refused_untouched(h.status, "total ", vscan_reduce(w.ctx, VSCAN_PLUS, w.in, h.handle, &o));
        o.initial_buffer = h.handle;
        refused_untouched(h.status, "initial_buffer", REDUCE);
        o = good;
    }
    refused_untouched(VSCAN_ERROR_NULL, "total", vscan_reduce(w.ctx, VSCAN_PLUS, w.in, NULL, NULL));
    refused_untouched(VSCAN_ERROR_NULL, "total", vscan_reduce(w.ctx, VSCAN_PLUS, w.in, NULL, &o));
    o = good;
    for (int i = 0; i < WRONG_OPS; i++)
        refused_untouched(VSCAN_ERROR_ENUM, "op ",
                          vscan_reduce(w.ctx, (vscan_op)wrong_ops[i], w.in, w.total, NULL));
    vscan_buffer *const pairless[] = {w.of_byte, w.of_bit, w.of_uint8};
    for (int i = 0; i < 3; i++)
        refused_untouched(VSCAN_ERROR_PAIR, "in ",
                          vscan_reduce(w.ctx, VSCAN_PLUS, pairless[i], w.total, &o));
    refused_untouched(VSCAN_ERROR_TYPE, "total ",
                      vscan_reduce(w.ctx, VSCAN_PLUS, w.in, w.one_float, NULL));
    refused_untouched(VSCAN_ERROR_LENGTH, "total ",
                      vscan_reduce(w.ctx, VSCAN_PLUS, w.in, w.shorter, NULL));
    vscan_buffer *in_in = NULL;
    ok(w.ctx, vscan_buffer_view(w.in, 3, 1, &in_in));
    refused_untouched(VSCAN_ERROR_OVERLAP, "total ",
                      vscan_reduce(w.ctx, VSCAN_PLUS, w.in, in_in, NULL));
    ok(NULL, vscan_buffer_destroy(in_in));
    for (int i = 0; i < WRONG_SIZES; i++) {
        o.size = wrong_size(i, sizeof o);
        refused_untouched(VSCAN_ERROR_STRUCT_SIZE, "size", REDUCE);
    }
    o = good;
    for (int i = 0; i < WRONG_SWITCHES; i++) {
        o.direction = wrong_switches[i];
        refused_untouched(VSCAN_ERROR_ENUM, "direction", REDUCE);
    }
    o = good;
    o.unused = 1;
    refused_untouched(VSCAN_ERROR_VALUE, "unused", REDUCE);
    o = good;
    o.initial = (vscan_value){.holds = VSCAN_INT, .as_int = 7};
    o.initial_buffer = w.initial;
    refused_untouched(VSCAN_ERROR_VALUE, "initial", REDUCE);
    o = good;
    o.initial_buffer = w.one_float;
    refused_untouched(VSCAN_ERROR_TYPE, "initial_buffer", REDUCE);
    o.initial_buffer = w.shorter;
    refused_untouched(VSCAN_ERROR_LENGTH, "initial_buffer", REDUCE);
#undef REDUCE
}

/* A number whose type was forgotten is not dropped, in any of the options. */
static void initial_without_holds(void **state) {
    (void)state;
    const vscan_value forgotten[] = {{.as_int = -1},          {.as_float = 5},
                                     {.as_float = 0x1p-149F}, {.as_float = NAN},
                                     {.unused = 1},           {.as_double = -0x1p-1074},
                                     {.as_double = INFINITY}, {.as_long = INT64_C(1) << 40}};
    const vscan_value nothing = {.as_float = -0.0F, .as_double = -0.0};
#define ALL(CALL, value)                                                                           \
    do {                                                                                           \
        const vscan_scan_options scan = {.size = sizeof scan, .initial = value};                   \
        const vscan_scan_segmented_options segmented = {.size = sizeof segmented,                  \
                                                        .initial = value};                         \
        const vscan_reduce_options reduce = {.size = sizeof reduce, .initial = value};             \
        const vscan_reduce_segmented_options heads = {.size = sizeof heads, .initial = value};     \
        const vscan_reduce_by_offsets_options by = {.size = sizeof by, .initial = value};          \
        const vscan_scan_by_offsets_options each = {.size = sizeof each, .initial = value};        \
        const vscan_matrix_options rows = {.size = sizeof rows, .initial = value};                 \
        const vscan_op max = VSCAN_MAX;                                                            \
        CALL(vscan_scan(w.ctx, max, w.in, w.out, &scan));                                          \
        CALL(vscan_scan_segmented(w.ctx, max, w.in, w.flags, w.out, &segmented));                  \
        CALL(vscan_reduce(w.ctx, max, w.in, w.total, &reduce));                                    \
        CALL(vscan_reduce_segmented(w.ctx, max, w.in, w.flags, w.totals, &heads));                 \
        CALL(vscan_reduce_by_offsets(w.ctx, max, w.in, zeros, w.out, &by));                        \
        CALL(vscan_scan_by_offsets(w.ctx, max, w.in, zeros, w.out, &each));                        \
        CALL(vscan_scan_rows(w.ctx, max, w.in, N / 5, 5, w.out, &rows));                           \
        CALL(vscan_scan_columns(w.ctx, max, w.in, N / 5, 5, w.out, &rows));                        \
        CALL(vscan_scan_rows_segmented(w.ctx, max, w.in, w.flags, N / 5, 5, w.out, &rows));        \
        CALL(vscan_reduce_rows(w.ctx, max, w.in, N, 1, w.out, &rows));                             \
        CALL(vscan_reduce_columns(w.ctx, max, w.in, 1, N, w.out, &rows));                          \
    } while (0)
#define REFUSED(call) refused_untouched(VSCAN_ERROR_VALUE, "options->initial ", call)
#define TAKEN(call) ok(w.ctx, call)
    vscan_buffer *zeros = NULL;
    ok(w.ctx, vscan_buffer_create(w.ctx, VSCAN_INT, N + 1, &zeros));
    ok(w.ctx, vscan_buffer_fill(zeros, &(int32_t){0}));
    for (size_t k = 0; k < sizeof forgotten / sizeof forgotten[0]; k++) ALL(REFUSED, forgotten[k]);
    ALL(TAKEN, nothing);
    ok(w.ctx, vscan_buffer_destroy(zeros));
#undef REFUSED
#undef TAKEN
#undef ALL
}

/* Sentences that say what may have been meant. */
static void hints(void **state) {
    (void)state;
    int32_t host[4] = {1, 2, 3, 4};
    vscan_buffer *const no_buffer = (vscan_buffer *)(void *)host, *none = NULL;
    vscan_carry *carry = NULL;
    refused_untouched(VSCAN_ERROR_HANDLE, "host memory? see vscan_buffer_wrap",
                      vscan_scan(w.ctx, VSCAN_PLUS, no_buffer, w.out, NULL));
    refused(NULL, VSCAN_ERROR_HANDLE, "host memory? see vscan_buffer_wrap",
            vscan_buffer_upload(no_buffer, 0, 4, host));
    refused_untouched(
        VSCAN_ERROR_ENUM, "type is VSCAN_PLUS, which is a vscan_op: are two arguments swapped?",
        vscan_carry_create(w.ctx, (vscan_op)VSCAN_INT, (vscan_type)VSCAN_PLUS, 0, &carry));
    const vscan_scan_options o = {
        .size = sizeof o, .kind = VSCAN_BACKWARD, .direction = VSCAN_EXCLUSIVE};
    refused_untouched(VSCAN_ERROR_ENUM,
                      "options->kind is VSCAN_BACKWARD, which is a vscan_direction: are two "
                      "members swapped?",
                      vscan_scan(w.ctx, VSCAN_PLUS, w.in, w.out, &o));
    const vscan_scan_options seven = {.size = sizeof seven, .kind = 7};
    refused_untouched(VSCAN_ERROR_ENUM,
                      "options->kind is 7, not a vscan_kind (VSCAN_INCLUSIVE, VSCAN_EXCLUSIVE)",
                      vscan_scan(w.ctx, VSCAN_PLUS, w.in, w.out, &seven));
    refused_untouched(VSCAN_ERROR_ENUM, "op is VSCAN_PLUS, must be VSCAN_MAX or VSCAN_MIN",
                      vscan_scan_extreme(w.ctx, VSCAN_PLUS, w.in, NULL, w.out, NULL));
    refused_untouched(VSCAN_ERROR_ENUM, "op is VSCAN_INT, which is a vscan_type",
                      vscan_scan_extreme(w.ctx, (vscan_op)VSCAN_INT, w.in, NULL, w.out, NULL));
    refused_untouched(VSCAN_ERROR_TYPE, "type is byte, must be int, long, float or double",
                      vscan_ctx_reserve(w.ctx, VSCAN_BYTE, 1));
    refused_untouched(VSCAN_ERROR_ENUM, "VSCAN_BINARY_SHIFT_LEFT, VSCAN_BINARY_SHIFT_RIGHT)",
                      vscan_map_binary(w.ctx, (vscan_binary)1, w.in, w.in, w.out));
    refused_untouched(VSCAN_ERROR_ENUM, "type is 0, not a vscan_type (VSCAN_INT, ",
                      vscan_buffer_create(w.ctx, VSCAN_NONE, 1, &none));
    ok(w.ctx, vscan_carry_create(w.ctx, VSCAN_MIN, VSCAN_LONG, VSCAN_FORWARD, &carry));
    const vscan_scan_options with_carry = {.size = sizeof with_carry, .carry = carry};
    refused_untouched(VSCAN_ERROR_CARRY, "options->carry is for VSCAN_MIN of long, ",
                      vscan_scan(w.ctx, VSCAN_MIN, w.in, w.out, &with_carry));
    ok(w.ctx, vscan_carry_destroy(carry));
    assert_null(none);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(statuses),
        cmocka_unit_test(version),
        world_unit_test(scan_vectors),
        world_unit_test(scan_options),
        world_unit_test(scan_initial_and_total),
        world_unit_test(segmented_vectors),
        world_unit_test(segmented_options),
        world_unit_test(reduce),
        world_unit_test(initial_without_holds),
        world_unit_test(hints),
    };
    return harness_run(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
