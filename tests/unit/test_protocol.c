/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The look-back protocol under delays: with VSCAN_TEST_DELAY=SEED, which is read when a context is
 * made, blocks of the CUDA backend wait for pseudo-random times before they publish an aggregate and
 * before they poll for one. So they publish and read in orders that are rare on an idle device. The
 * lengths lie around every boundary of 1 to 40 partitions and tiles; all kinds of scans run in mixed
 * order on one context, so that each finds the workspace as another one left it. The same with captured
 * graphs is in test_cuda.c.
 */
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>

#include "cases.h"
#include "queued_scans.h"

enum { LENGTHS = 40, KINDS = 5, TYPES = 3, PARTITIONS = 4 };

static const vscan_type types[TYPES] = {VSCAN_INT, VSCAN_FLOAT, VSCAN_DOUBLE};

/* What is run with one type: every kind of kernel and both directions. */
static struct expected_scan kind(vscan_type type, int k) {
    struct expected_scan w = {.op = VSCAN_PLUS, .type = type};
    w.n = (harness_small() ? 3 : LENGTHS) * reference_tile(type) + 1;
    w.backward = k == 1 || k == 3;
    w.exclusive = k == 1 || k == 2;
    if (k == 2) w.flag_type = VSCAN_BIT, w.flags = INPUTS_FLAGS_RUNS;
    if (k == 3) w.flag_type = VSCAN_BYTE, w.flags = INPUTS_FLAGS_MIXED;
    if (k == 4) w.flag_type = VSCAN_INT, w.flags = INPUTS_FLAGS_BEFORE_TILE;
    return w;
}

/* One run: the number of its expected scan, and how many of its elements. */
struct run {
    int k;
    int64_t m;
};

/* Boundaries of 1 .. 40 quarters of a tile (the partitions of some kernels) and of 1 .. 40 tiles, and one
   element less and more; every scan with every length, in random order. */
static struct run *make_runs(const struct expected_scan *scans, struct inputs_random *random,
                             int *count) {
    struct run *runs = malloc(sizeof *runs * TYPES * KINDS * LENGTHS * 2 * 3);
    assert_non_null(runs);
    *count = 0;
    for (int k = 0; k < TYPES * KINDS; k++)
        for (int times = 1; times <= LENGTHS; times++)
            for (int whole = 0; whole < 2; whole++)
                for (int off = -1; off <= 1; off++) {
                    const int64_t size = reference_tile(scans[k].type) / (whole ? 1 : PARTITIONS);
                    const int64_t m = times * size + off;
                    if (m > scans[k].n || (harness_small() && (times * 7 + k + off) % 9 != 0))
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

static void delayed(const struct expected_scan *scans, int seed) {
    struct inputs_random random = {case_seed(VSCAN_PLUS, VSCAN_INT, 15) + (uint64_t)seed};
    struct scan_queue *queues = calloc(TYPES * KINDS, sizeof *queues);
    assert_non_null(queues);
    vscan_ctx *ctx = new_ctx(seed);
    int count, failures = 0;
    struct run *runs = make_runs(scans, &random, &count);
    for (int k = 0; k < TYPES * KINDS; k++) scan_queue_open(&queues[k], &scans[k], ctx);
    for (int i = 0; i < count; i++)
        scan_queue_add(&queues[runs[i].k], runs[i].m,
                       scan_variant_draw(&scans[runs[i].k], &random));
    for (int k = 0; k < TYPES * KINDS; k++) failures += scan_queue_close(&queues[k]);
    free(runs);
    free(queues);
    ok(NULL, vscan_ctx_destroy(ctx));
    if (failures > 0) fail_msg("VSCAN_TEST_DELAY=%d", seed);
}

static void protocol_delays(void **state) {
    (void)state;
    struct expected_scan scans[TYPES * KINDS];
    const int seeds = harness_small() || harness_backend == VSCAN_BACKEND_CPU ? 1 : 5;
    for (int k = 0; k < TYPES * KINDS; k++) {
        scans[k] = kind(types[k / KINDS], k % KINDS);
        expected_scan_make(&scans[k]);
    }
    for (int seed = 1; seed <= seeds; seed++) delayed(scans, seed);
    delayed(scans, 0);
    for (int k = 0; k < TYPES * KINDS; k++) expected_scan_free(&scans[k]);
}

/*
 * Two contexts at once, one that waits and one that does not: blocks of both are resident together,
 * and those of the first leave late.
 */
static void protocol_beside(void **state) {
    (void)state;
    struct expected_scan w = kind(VSCAN_FLOAT, 0);
    struct scan_queue queues[2];
    struct inputs_random random = {case_seed(VSCAN_PLUS, VSCAN_FLOAT, 16)};
    vscan_ctx *contexts[2] = {new_ctx(7), new_ctx(0)};
    expected_scan_make(&w);
    for (int k = 0; k < 2; k++) scan_queue_open(&queues[k], &w, contexts[k]);
    for (int i = 0; i < (harness_small()                        ? 4
                         : harness_backend == VSCAN_BACKEND_CPU ? 40
                                                                : 1000);
         i++)
        for (int k = 0; k < 2; k++)
            scan_queue_add(&queues[k], 1 + inputs_below(&random, w.n),
                           scan_variant_draw(&w, &random));
    int failures = 0;
    for (int k = 0; k < 2; k++) {
        failures += scan_queue_close(&queues[k]);
        ok(NULL, vscan_ctx_destroy(contexts[k]));
    }
    expected_scan_free(&w);
    assert_int_equal(failures, 0);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(protocol_delays),
        cmocka_unit_test(protocol_beside),
    };
    return harness_run(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
