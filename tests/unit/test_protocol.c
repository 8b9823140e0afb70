/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The protocol by which blocks hand on what they know: aggregates are published and polled for in
 * orders that a quiet device hardly shows. VSCAN_TEST_DELAY=SEED, read where a context is made,
 * lets blocks of the CUDA backend wait for pseudo-random times before they publish and before they
 * poll. Here are lengths around every boundary of 1 to 40 units and tiles, of all kinds of scans in
 * mixed order on one context, so that each finds the workspace as another one left it. Captured graphs
 * have their turn in tests/unit/test_cuda.c.
 */
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>

#include "cases.h"
#include "witness.h"

enum { LENGTHS = 40, KINDS = 5, TYPES = 3, UNITS = 4 };

static const vscan_type types[TYPES] = {VSCAN_INT, VSCAN_FLOAT, VSCAN_DOUBLE};

/* What is run with one type: every kind of kernel and both directions. */
static struct witness kind(vscan_type type, int k) {
    struct witness w = {.op = VSCAN_PLUS, .type = type};
    w.n = (harness_small() ? 3 : LENGTHS) * reference_tile(type) + 1;
    w.backward = k == 1 || k == 3;
    w.exclusive = k == 1 || k == 2;
    if (k == 2) w.flag_type = VSCAN_BIT, w.flags = INPUTS_FLAGS_RUNS;
    if (k == 3) w.flag_type = VSCAN_BYTE, w.flags = INPUTS_FLAGS_MIXED;
    if (k == 4) w.flag_type = VSCAN_INT, w.flags = INPUTS_FLAGS_BEFORE_TILE;
    return w;
}

/* One run: which witness, and how many of its elements. */
struct run {
    int k;
    int64_t m;
};

/* Boundaries of 1 .. 40 quarters of a tile (the units of lib/core/order.h's tiles) and of 1 .. 40 tiles,
   and their neighbours; every witness with every length, in random order. */
static struct run *make_runs(const struct witness *witnesses, struct inputs_random *random,
                             int *count) {
    struct run *runs = malloc(sizeof *runs * TYPES * KINDS * LENGTHS * 2 * 3);
    assert_non_null(runs);
    *count = 0;
    for (int k = 0; k < TYPES * KINDS; k++)
        for (int units = 1; units <= LENGTHS; units++)
            for (int whole = 0; whole < 2; whole++)
                for (int off = -1; off <= 1; off++) {
                    const int64_t unit = reference_tile(witnesses[k].type) / (whole ? 1 : UNITS);
                    const int64_t m = units * unit + off;
                    if (m > witnesses[k].n || (harness_small() && (units * 7 + k + off) % 9 != 0))
                        continue;
                    runs[(*count)++] = (struct run){k, m};
                }
    for (int i = *count - 1; i > 0; i--) {
        const int j = (int)inputs_below(random, i + 1);
        const struct run kept = runs[i];
        runs[i] = runs[j];
        runs[j] = kept;
    }
    return runs;
}

/* A context whose blocks wait as this seed says; 0: they do not. */
static vscan_ctx *new_ctx(int seed) {
    char text[16];
    snprintf(text, sizeof text, "%d", seed);
    if (seed != 0) setenv("VSCAN_TEST_DELAY", text, 1);
    vscan_ctx *ctx = harness_new_ctx(0);
    unsetenv("VSCAN_TEST_DELAY");
    return ctx;
}

static void delayed(const struct witness *witnesses, int seed) {
    struct inputs_random random = {case_seed(VSCAN_PLUS, VSCAN_INT, 15) + (uint64_t)seed};
    struct witness_runner *runners = calloc(TYPES * KINDS, sizeof *runners);
    assert_non_null(runners);
    vscan_ctx *ctx = new_ctx(seed);
    int count, failures = 0;
    struct run *runs = make_runs(witnesses, &random, &count);
    for (int k = 0; k < TYPES * KINDS; k++) witness_open(&runners[k], &witnesses[k], ctx);
    for (int i = 0; i < count; i++)
        witness_run(&runners[runs[i].k], runs[i].m, witness_draw(&witnesses[runs[i].k], &random));
    for (int k = 0; k < TYPES * KINDS; k++) failures += witness_close(&runners[k]);
    free(runs);
    free(runners);
    ok(NULL, vscan_ctx_destroy(ctx));
    if (failures > 0) fail_msg("VSCAN_TEST_DELAY=%d", seed);
}

static void protocol_delays(void **state) {
    (void)state;
    struct witness witnesses[TYPES * KINDS];
    const int seeds = harness_small() || harness_backend == VSCAN_BACKEND_CPU ? 1 : 5;
    for (int k = 0; k < TYPES * KINDS; k++) {
        witnesses[k] = kind(types[k / KINDS], k % KINDS);
        witness_make(&witnesses[k]);
    }
    for (int seed = 1; seed <= seeds; seed++) delayed(witnesses, seed);
    delayed(witnesses, 0);
    for (int k = 0; k < TYPES * KINDS; k++) witness_free(&witnesses[k]);
}

/*
 * Two contexts at once, one that waits and one that does not: blocks of both are resident together,
 * and those of the first leave late.
 */
static void protocol_beside(void **state) {
    (void)state;
    struct witness w = kind(VSCAN_FLOAT, 0);
    struct witness_runner runners[2];
    struct inputs_random random = {case_seed(VSCAN_PLUS, VSCAN_FLOAT, 16)};
    vscan_ctx *contexts[2] = {new_ctx(7), new_ctx(0)};
    witness_make(&w);
    for (int k = 0; k < 2; k++) witness_open(&runners[k], &w, contexts[k]);
    for (int i = 0; i < (harness_small()                        ? 4
                         : harness_backend == VSCAN_BACKEND_CPU ? 40
                                                                : 1000);
         i++)
        for (int k = 0; k < 2; k++)
            witness_run(&runners[k], 1 + inputs_below(&random, w.n), witness_draw(&w, &random));
    int failures = 0;
    for (int k = 0; k < 2; k++) {
        failures += witness_close(&runners[k]);
        ok(NULL, vscan_ctx_destroy(contexts[k]));
    }
    witness_free(&w);
    assert_int_equal(failures, 0);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(protocol_delays),
        cmocka_unit_test(protocol_beside),
    };
    return harness_run(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
