/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A status word carries the launch number modulo 65,536 (kernels/protocol/lookback.cuh), so what a launch
 * published 65,536 launches ago has the epoch of this one. No launch may take such a status word for its own.
 *
 * Here a call is made, then so many smaller ones of the same family that the first call, made again on
 * other data, has the same epochs; the result is compared with the CPU backend's, bit for bit. The smaller
 * calls publish fewer status words, or other ones, so that some of the first call are left where the last one
 * looks for them. Every sequence is made on a new context; the first of each test goes on, across twice
 * 65,536.
 *
 * Where sizes are small, and on the CPU backend, fewer calls are made in between: these show that the
 * calls are right, and nothing about the wrap.
 */
#include "harness.h"

#include <stdlib.h>
#include <string.h>

#include "calls.h"
#include "cases.h"

enum { WRAP = 65536, PLACES = 2000000 };

/* Calls in between, where there would be `calls` of them. */
static int64_t between(int64_t calls) {
    if (harness_backend == VSCAN_BACKEND_CPU) return 3;
    return harness_small() ? 12 : calls;
}

static void open_outputs(vscan_ctx *ctx, const struct call_ready *ready,
                         vscan_buffer *outputs[CALL_OUTPUTS]) {
    for (int k = 0; k < CALL_OUTPUTS; ++k) {
        const struct call_output *const o = &ready->outputs[k];
        outputs[k] = NULL;
        if (k > 0 && o->n == 0) continue;
        ok(ctx, vscan_buffer_create(ctx, o->type, o->n, &outputs[k]));
        ok(ctx, vscan_buffer_fill(outputs[k], &(uint64_t){0})); /* not all of it is written */
    }
}

static void close_outputs(vscan_ctx *ctx, vscan_buffer *outputs[CALL_OUTPUTS]) {
    for (int k = 0; k < CALL_OUTPUTS; ++k) ok(ctx, vscan_buffer_destroy(outputs[k]));
}

/* The call so many times; late errors are those of the data, and are reported by none of these calls. */
static void make(struct call_inputs *inputs, const struct call *call, int64_t times) {
    struct call_ready ready;
    vscan_buffer *outputs[CALL_OUTPUTS];
    ok(inputs->ctx, call_open(inputs, call, &ready));
    open_outputs(inputs->ctx, &ready, outputs);
    for (int64_t k = 0; k < times; ++k) ok(inputs->ctx, call_make(&ready, outputs));
    ok(inputs->ctx, vscan_ctx_synchronize(inputs->ctx));
    close_outputs(inputs->ctx, outputs);
    call_close(&ready);
}

/* Fails unless the call gives what it gives on the CPU backend. */
static void make_and_compare(struct call_inputs *inputs, struct call_inputs *cpu,
                             const struct call *call, const char *after) {
    struct call_inputs *const of[2] = {inputs, cpu};
    void *results[2][CALL_OUTPUTS] = {{NULL}};
    struct call_ready ready;
    struct call_output shapes[CALL_OUTPUTS];
    for (int side = 0; side < 2; ++side) {
        vscan_ctx *const ctx = of[side]->ctx;
        vscan_buffer *outputs[CALL_OUTPUTS];
        ok(ctx, call_open(of[side], call, &ready));
        open_outputs(ctx, &ready, outputs);
        ok(ctx, call_make(&ready, outputs));
        ok(ctx, vscan_ctx_synchronize(ctx));
        for (int k = 0; k < CALL_OUTPUTS; ++k) {
            shapes[k] = ready.outputs[k];
            results[side][k] = calloc(1, reference_bytes(shapes[k].type, shapes[k].n) + 8);
            assert_non_null(results[side][k]);
            if (outputs[k] != NULL)
                ok(ctx, vscan_buffer_download(outputs[k], 0, shapes[k].n, results[side][k]));
        }
        close_outputs(ctx, outputs);
        call_close(&ready);
    }
    for (int k = 0; k < CALL_OUTPUTS; ++k) {
        if (memcmp(results[0][k], results[1][k], reference_bytes(shapes[k].type, shapes[k].n)) !=
            0) {
            const unsigned char *const got = results[0][k], *const expected = results[1][k];
            size_t at = 0;
            while (got[at] == expected[at]) ++at;
            char text[CALL_TEXT];
            fail_msg("%s, %s: output %d differs from byte %zu on", call_text(call, text), after, k,
                     at);
        }
        free(results[0][k]);
        free(results[1][k]);
    }
}

static bool first; /* of a test's sequences */

static int set_first(void **state) {
    (void)state;
    first = true;
    return 0;
}

/*
 * The larger call; smaller ones, and the larger one again, 65,536 launches after the first time. Calls of
 * `launches` launches each: as many fewer in between.
 */
static void across(const struct call *larger, const struct call *smaller, int launches) {
    const int64_t most = larger->n > PLACES / 2 ? larger->n : PLACES / 2;
    const uint64_t seed = case_seed(larger->op, larger->type, 41);
    struct call_inputs inputs = call_inputs(harness_new_ctx(0), seed, 2 * most);
    struct call_inputs cpu = call_inputs(harness_new_cpu_ctx(0, NULL), seed, 2 * most);
    struct call call = *larger;
    for (int wraps = 1; wraps <= (first && !harness_small() ? 2 : 1); ++wraps) {
        make(&inputs, &call, 1);
        make(&inputs, smaller, between((int64_t)wraps * WRAP / launches - 1));
        call = call_elsewhere(&call);
        make_and_compare(&inputs, &cpu, &call, wraps == 1 ? "across 65,536" : "across 131,072");
    }
    first = false;
    vscan_ctx *const contexts[] = {inputs.ctx, cpu.ctx};
    call_inputs_free(&inputs);
    call_inputs_free(&cpu);
    for (int k = 0; k < 2; ++k) ok(NULL, vscan_ctx_destroy(contexts[k]));
}

/* ---- Families ---------------------------------------------------------------------------------- */

static const vscan_type types[] = {VSCAN_INT, VSCAN_FLOAT, VSCAN_DOUBLE};

/* A call on a vector. */
static struct call on(enum call_family family, vscan_op op, vscan_type type, vscan_type flag_type,
                      int64_t n) {
    return (struct call){.family = family,
                         .op = op,
                         .type = type,
                         .flag_type = flag_type,
                         .position_type = VSCAN_INT,
                         .n = n};
}

static void vectors(enum call_family family, vscan_op op, vscan_type type, vscan_type flag_type,
                    int64_t n, int64_t fewer) {
    struct call larger = on(family, op, type, flag_type, n);
    struct call smaller = on(family, op, type, flag_type, fewer);
    across(&larger, &smaller, 1);
}

static void matrices(enum call_family family, vscan_type type, int64_t rows, int64_t columns,
                     int64_t other_rows, int64_t other_columns) {
    struct call larger = on(family, VSCAN_PLUS, type, VSCAN_INT, rows * columns);
    struct call smaller = on(family, VSCAN_PLUS, type, VSCAN_INT, other_rows * other_columns);
    larger.rows = rows, larger.columns = columns;
    smaller.rows = other_rows, smaller.columns = other_columns;
    across(&larger, &smaller, 1);
}

static void epochs_scan(void **state) {
    (void)state;
    for (int t = 0; t < 3; ++t) vectors(CALL_SCAN, VSCAN_PLUS, types[t], VSCAN_INT, 200003, 70001);
    vectors(CALL_SCAN, VSCAN_MAX, VSCAN_FLOAT, VSCAN_INT, 300007, 50021);
}
static void epochs_scan_backward(void **state) {
    (void)state;
    struct call larger = on(CALL_SCAN, VSCAN_PLUS, VSCAN_DOUBLE, VSCAN_INT, 100003),
                smaller = larger;
    larger.backward = smaller.backward = larger.extra = smaller.extra = true;
    smaller.n = 30011;
    across(&larger, &smaller, 1);
}
static void epochs_scan_segmented(void **state) {
    (void)state;
    static const vscan_type flags[] = {VSCAN_BIT, VSCAN_BYTE, VSCAN_INT};
    for (int f = 0; f < 3; ++f) {
        struct call larger =
            on(CALL_SCAN_SEGMENTED, f == 1 ? VSCAN_MAX : VSCAN_PLUS, types[f], flags[f], 200003);
        larger.density = 2; /* segments that go on from block to block */
        struct call smaller = larger;
        smaller.n = 70001;
        across(&larger, &smaller, 1);
    }
}
static void epochs_reduce(void **state) {
    (void)state;
    for (int t = 0; t < 3; ++t)
        vectors(CALL_REDUCE, VSCAN_PLUS, types[t], VSCAN_INT, 900001, 200003);
    vectors(CALL_REDUCE, VSCAN_MAX, VSCAN_FLOAT, VSCAN_INT, 900001, 200003);
}
/* Sums of ints as longs: see calls_run.c. */
static void epochs_widening(void **state) {
    (void)state;
    for (int k = 0; k < 2; ++k) {
        struct call larger =
            on(k ? CALL_REDUCE : CALL_SCAN, VSCAN_PLUS, VSCAN_INT, VSCAN_INT, k ? 900001 : 200003);
        larger.position_type = VSCAN_LONG;
        larger.extra = true;
        struct call smaller = larger;
        smaller.n = k ? 200003 : 70001;
        across(&larger, &smaller, 1);
    }
}
static void epochs_reduce_segmented(void **state) {
    (void)state;
    static const vscan_type flags[] = {VSCAN_BIT, VSCAN_BYTE, VSCAN_INT};
    for (int f = 0; f < 3; ++f) {
        struct call larger = on(CALL_REDUCE_SEGMENTED, VSCAN_PLUS, types[f], flags[f], 200003);
        larger.density = 2, larger.extra = true;
        struct call smaller = larger;
        smaller.n = 70001;
        across(&larger, &smaller, 1);
    }
}
static void epochs_reduce_offsets(void **state) {
    (void)state;
    for (int t = 0; t < 3; ++t)
        vectors(CALL_REDUCE_OFFSETS, VSCAN_PLUS, types[t], VSCAN_INT, 300007, 70001);
}
static void epochs_scan_rows(void **state) {
    (void)state;
    matrices(CALL_SCAN_ROWS, VSCAN_FLOAT, 3, 200000, 3, 70000);
    matrices(CALL_SCAN_ROWS, VSCAN_FLOAT, 2, 300000, 2, 50000);
    matrices(CALL_SCAN_ROWS, VSCAN_DOUBLE, 3, 100000, 3, 35000);
}
static void epochs_scan_rows_segmented(void **state) {
    (void)state;
    matrices(CALL_SCAN_ROWS_SEGMENTED, VSCAN_FLOAT, 3, 200000, 3, 70000);
    matrices(CALL_SCAN_ROWS_SEGMENTED, VSCAN_INT, 2, 300000, 2, 50000);
    matrices(CALL_SCAN_ROWS_SEGMENTED, VSCAN_DOUBLE, 3, 100000, 3, 35000);
}
static void epochs_scan_columns(void **state) {
    (void)state;
    matrices(CALL_SCAN_COLUMNS, VSCAN_FLOAT, 40000, 8, 10000, 8);
    matrices(CALL_SCAN_COLUMNS, VSCAN_DOUBLE, 30000, 8, 10000, 8);
    matrices(CALL_SCAN_COLUMNS, VSCAN_FLOAT, 20000, 48, 5000, 48);
}
/* Matrices of 64 MiB and more have another kernel. */
static void epochs_scan_large_columns(void **state) {
    (void)state;
    if (harness_small() || harness_backend == VSCAN_BACKEND_CPU) return;
    matrices(CALL_SCAN_COLUMNS, VSCAN_FLOAT, 600000, 32, 525000, 32);
}
static void epochs_reduce_rows(void **state) {
    (void)state;
    matrices(CALL_REDUCE_ROWS, VSCAN_FLOAT, 3, 200000, 3, 70000);
    matrices(CALL_REDUCE_ROWS, VSCAN_DOUBLE, 2, 300000, 2, 50000);
}
static void epochs_reduce_columns(void **state) {
    (void)state;
    matrices(CALL_REDUCE_COLUMNS, VSCAN_FLOAT, 40000, 8, 10000, 8);
    matrices(CALL_REDUCE_COLUMNS, VSCAN_DOUBLE, 40000, 8, 10000, 8);
}
static void epochs_pack(void **state) {
    (void)state;
    struct call larger = on(CALL_PACK, VSCAN_PLUS, VSCAN_DOUBLE, VSCAN_INT, 60889);
    larger.extra = true;
    struct call smaller = larger;
    smaller.n = 20000;
    across(&larger, &smaller, 1);
    larger.density = smaller.density = 1;
    larger.type = smaller.type = VSCAN_FLOAT;
    larger.flag_type = smaller.flag_type = VSCAN_BIT;
    larger.n = 700001, smaller.n = 200003;
    across(&larger, &smaller, 1);
}
static void epochs_pack_compare(void **state) {
    (void)state;
    vectors(CALL_PACK_COMPARE, VSCAN_PLUS, VSCAN_DOUBLE, VSCAN_INT, 60889, 20000);
    vectors(CALL_PACK_COMPARE, VSCAN_PLUS, VSCAN_INT, VSCAN_INT, 700001, 200003);
}
static void epochs_enumerate(void **state) {
    (void)state;
    vectors(CALL_ENUMERATE, VSCAN_PLUS, VSCAN_INT, VSCAN_BYTE, 60889, 20000);
    vectors(CALL_ENUMERATE, VSCAN_PLUS, VSCAN_INT, VSCAN_INT, 700001, 200003);
}
static void epochs_split(void **state) {
    (void)state;
    vectors(CALL_SPLIT, VSCAN_PLUS, VSCAN_FLOAT, VSCAN_INT, 60889, 20000);
    vectors(CALL_SPLIT, VSCAN_PLUS, VSCAN_DOUBLE, VSCAN_BIT, 400009, 100003);
    vectors(CALL_SPLIT_POSITIONS, VSCAN_PLUS, VSCAN_INT, VSCAN_BYTE, 60889, 20000);
}
static void epochs_split_segmented(void **state) {
    (void)state;
    vectors(CALL_SPLIT_SEGMENTED, VSCAN_PLUS, VSCAN_FLOAT, VSCAN_INT, 60889, 20000);
    vectors(CALL_SPLIT_SEGMENTED_POSITIONS, VSCAN_PLUS, VSCAN_INT, VSCAN_BIT, 400009, 100003);
}
static void epochs_distribute(void **state) {
    (void)state;
    struct call larger = on(CALL_DISTRIBUTE_SEGMENTED, VSCAN_PLUS, VSCAN_FLOAT, VSCAN_BYTE, 200003);
    larger.density = 3;
    struct call smaller = larger;
    smaller.n = 70001;
    across(&larger, &smaller, 1);
    larger.family = smaller.family = CALL_DISTRIBUTE_TOTALS;
    across(&larger, &smaller, 2);
    across(&larger, &smaller, 1);
}
static void epochs_flags_to_offsets(void **state) {
    (void)state;
    vectors(CALL_FLAGS_TO_OFFSETS, VSCAN_PLUS, VSCAN_INT, VSCAN_BYTE, 200003, 70001);
    vectors(CALL_FLAGS_TO_OFFSETS, VSCAN_PLUS, VSCAN_INT, VSCAN_BIT, 900001, 300007);
}
static void epochs_offsets_to_heads(void **state) {
    (void)state;
    vectors(CALL_OFFSETS_TO_FLAGS, VSCAN_PLUS, VSCAN_INT, VSCAN_BYTE, 200003, 70001);
    vectors(CALL_OFFSETS_TO_FLAGS, VSCAN_PLUS, VSCAN_INT, VSCAN_BIT, 900001, 300007);
}
static void epochs_lengths(void **state) {
    (void)state;
    vectors(CALL_LENGTHS_TO_OFFSETS, VSCAN_PLUS, VSCAN_INT, VSCAN_INT, 200003, 70001);
    vectors(CALL_OFFSETS_TO_LENGTHS, VSCAN_PLUS, VSCAN_INT, VSCAN_INT, 900001, 200003);
}
static void epochs_sort(void **state) {
    (void)state;
    vectors(CALL_SORT, VSCAN_PLUS, VSCAN_INT, VSCAN_INT, 200003, 20011);
    vectors(CALL_SORT_SEGMENTED, VSCAN_PLUS, VSCAN_FLOAT, VSCAN_INT, 200003, 20011);
}

#define epochs_unit_test(test) cmocka_unit_test_setup(test, set_first)

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        epochs_unit_test(epochs_scan),
        epochs_unit_test(epochs_scan_backward),
        epochs_unit_test(epochs_scan_segmented),
        epochs_unit_test(epochs_reduce),
        epochs_unit_test(epochs_widening),
        epochs_unit_test(epochs_reduce_segmented),
        epochs_unit_test(epochs_reduce_offsets),
        epochs_unit_test(epochs_scan_rows),
        epochs_unit_test(epochs_scan_rows_segmented),
        epochs_unit_test(epochs_scan_columns),
        epochs_unit_test(epochs_scan_large_columns),
        epochs_unit_test(epochs_reduce_rows),
        epochs_unit_test(epochs_reduce_columns),
        epochs_unit_test(epochs_pack),
        epochs_unit_test(epochs_pack_compare),
        epochs_unit_test(epochs_enumerate),
        epochs_unit_test(epochs_split),
        epochs_unit_test(epochs_split_segmented),
        epochs_unit_test(epochs_distribute),
        epochs_unit_test(epochs_flags_to_offsets),
        epochs_unit_test(epochs_offsets_to_heads),
        epochs_unit_test(epochs_lengths),
        epochs_unit_test(epochs_sort),
    };
    return harness_run(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
