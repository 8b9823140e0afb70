/* SPDX-License-Identifier: Apache-2.0 */
/*
 * As test_epochs.c, with the calls in between replayed from a captured graph: each replay's launches take
 * launch numbers as plain ones do, so a graph crosses the wrap too. And a graph of the larger call
 * itself, replayed on other data 65,536 launches after its first replay.
 */
#include <stdlib.h>
#include <string.h>

#include "calls.h"
#include "captured.h"
#include "cases.h"
#include "inputs.h"

enum { WRAP = 65536, IN_GRAPH = 255, PLACES = 1300000 }; /* 255 divides 65,535 */

struct made {
    struct call_ready ready;
    vscan_buffer *outputs[CALL_OUTPUTS];
};

static void open_call(struct call_inputs *inputs, const struct call *call, struct made *m) {
    ok(inputs->ctx, call_open(inputs, call, &m->ready));
    for (int k = 0; k < CALL_OUTPUTS; ++k) {
        const struct call_output *const o = &m->ready.outputs[k];
        m->outputs[k] = k > 0 && o->n == 0 ? NULL : new_buffer(inputs->ctx, o->type, o->n);
        if (m->outputs[k] == NULL) continue;
        ok(inputs->ctx, vscan_buffer_fill(m->outputs[k], &(uint64_t){0}));
    }
}

static void close_call(struct made *m) {
    for (int k = 0; k < CALL_OUTPUTS; ++k) ok(NULL, vscan_buffer_destroy(m->outputs[k]));
    call_close(&m->ready);
}

static cudaGraphExec_t capture(const struct made *m, int times) {
    cudaStream_t stream = begin_capture(m->ready.ctx);
    for (int k = 0; k < times; ++k) ok(m->ready.ctx, call_make(&m->ready, m->outputs));
    return end_capture(stream);
}

static void replay(vscan_ctx *ctx, cudaGraphExec_t graph, int64_t times) {
    void *stream;
    ok(ctx, vscan_ctx_get_stream(ctx, &stream));
    for (int64_t k = 0; k < times; ++k) cuda(cudaGraphLaunch(graph, (cudaStream_t)stream));
}

/* Fails unless both calls have the same results. */
static void expect_alike(const struct made *a, const struct made *b) {
    for (int k = 0; k < CALL_OUTPUTS; ++k) {
        const struct call_output *const o = &a->ready.outputs[k];
        if (o->n == 0) continue;
        const size_t bytes = reference_bytes(o->type, o->n);
        void *const got = calloc(1, bytes), *const expected = calloc(1, bytes);
        assert_non_null(got);
        assert_non_null(expected);
        ok(a->ready.ctx, vscan_buffer_download(a->outputs[k], 0, o->n, got));
        ok(b->ready.ctx, vscan_buffer_download(b->outputs[k], 0, o->n, expected));
        assert_int_equal(memcmp(got, expected, bytes), 0);
        free(got);
        free(expected);
    }
}

/* Random elements, the same for both calls. */
static void upload(struct made *a, struct made *b, uint64_t seed) {
    const vscan_type type = a->ready.call.type;
    const int64_t n = a->ready.call.n;
    void *const host = malloc(reference_bytes(type, n));
    assert_non_null(host);
    inputs_fill(INPUTS_RANDOM, type, n, seed, host);
    ok(a->ready.ctx, vscan_buffer_upload(a->ready.in, 0, n, host));
    ok(b->ready.ctx, vscan_buffer_upload(b->ready.in, 0, n, host));
    free(host);
}

static void across(const struct call *larger, const struct call *smaller) {
    const uint64_t seed = case_seed(larger->op, larger->type, 42);
    struct call_inputs inputs = call_inputs(harness_new_ctx(0), seed, PLACES);
    struct call_inputs cpu = call_inputs(harness_new_cpu_ctx(0, NULL), seed, PLACES);
    struct made large, small, expected;
    open_call(&inputs, larger, &large);
    open_call(&inputs, smaller, &small);
    open_call(&cpu, larger, &expected);
    ok(inputs.ctx, call_make(&large.ready, large.outputs)); /* the workspace grows outside of it */
    ok(inputs.ctx, call_make(&small.ready, small.outputs));
    cudaGraphExec_t of_large = capture(&large, 1), of_small = capture(&small, IN_GRAPH);
    for (uint64_t k = 0; k < (harness_small() ? 1 : 3); ++k) {
        upload(&large, &expected, seed + 2 * k);
        replay(inputs.ctx, of_large, 1);
        replay(inputs.ctx, of_small, harness_small() ? 1 : (WRAP - 1) / IN_GRAPH);
        upload(&large, &expected, seed + 2 * k + 1);
        replay(inputs.ctx, of_large, 1);
        ok(cpu.ctx, call_make(&expected.ready, expected.outputs));
        expect_alike(&large, &expected);
    }
    cuda(cudaGraphExecDestroy(of_large));
    cuda(cudaGraphExecDestroy(of_small));
    struct made *const all[] = {&large, &small, &expected};
    for (int k = 0; k < 3; ++k) close_call(all[k]);
    vscan_ctx *const contexts[] = {inputs.ctx, cpu.ctx};
    call_inputs_free(&inputs);
    call_inputs_free(&cpu);
    for (int k = 0; k < 2; ++k) ok(NULL, vscan_ctx_destroy(contexts[k]));
}

static struct call on(enum call_family family, vscan_type type, int64_t rows, int64_t columns) {
    return (struct call){.family = family,
                         .op = VSCAN_PLUS,
                         .type = type,
                         .flag_type = VSCAN_INT,
                         .position_type = VSCAN_INT,
                         .n = rows * columns,
                         .rows = rows,
                         .columns = columns};
}

static void epochs_of_graphs_rows(void **state) {
    (void)state;
    const struct call larger = on(CALL_SCAN_ROWS, VSCAN_FLOAT, 3, 200000);
    const struct call smaller = on(CALL_SCAN_ROWS, VSCAN_FLOAT, 3, 70000);
    across(&larger, &smaller);
}
static void epochs_of_graphs_columns(void **state) {
    (void)state;
    const struct call larger = on(CALL_SCAN_COLUMNS, VSCAN_FLOAT, 40000, 8);
    const struct call smaller = on(CALL_SCAN_COLUMNS, VSCAN_FLOAT, 10000, 8);
    across(&larger, &smaller);
}
static void epochs_of_graphs_scan(void **state) {
    (void)state;
    const struct call larger = on(CALL_SCAN, VSCAN_DOUBLE, 1, 200003);
    const struct call smaller = on(CALL_SCAN, VSCAN_DOUBLE, 1, 70001);
    across(&larger, &smaller);
}
static void epochs_of_graphs_pack(void **state) {
    (void)state;
    struct call larger = on(CALL_PACK, VSCAN_DOUBLE, 1, 60889);
    larger.extra = true;
    struct call smaller = larger;
    smaller.n = 20000;
    across(&larger, &smaller);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(epochs_of_graphs_rows),
        cmocka_unit_test(epochs_of_graphs_columns),
        cmocka_unit_test(epochs_of_graphs_scan),
        cmocka_unit_test(epochs_of_graphs_pack),
    };
    return harness_run(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
