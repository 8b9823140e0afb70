/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Right results under pressure: while other contexts keep the device busy, many times over, with
 * several contexts at once, and with more queued work than the device has room for. Everything is
 * enqueued without waiting and checked afterwards (queued_scans.h); the inputs are random floats and
 * doubles, whose sums show every change of the order.
 */
#include "harness.h"

#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "core/order.h"
#include "queued_scans.h"

/* So many on a device; the CPU has no queue to put under pressure, and sanitizers are slow. */
static int times(int on_a_device, int on_a_cpu) {
    return harness_small() ? 2 : harness_backend == VSCAN_BACKEND_CUDA ? on_a_device : on_a_cpu;
}

/* ---- A neighbour that keeps the device busy -------------------------------------------------- */

struct neighbour {
    pthread_t thread;
    atomic_bool busy, enough;
    int failures;
};

/* Long scans, which fill every multiprocessor, and copies; several of them queued at any time. busy: the
   first ones are done, so it is there for the whole test. */
static void *keep_busy(void *argument) {
    struct neighbour *neighbour = argument;
    const vscan_ctx_options options = {
        .size = sizeof options, .backend = (int32_t)harness_backend, .threads = 1};
    const int64_t n = times(1 << 23, 1 << 18) + 20000;
    const vscan_scan_options backward = {.size = sizeof backward, .direction = VSCAN_BACKWARD};
    vscan_ctx *ctx = NULL;
    vscan_buffer *a = NULL, *b = NULL;
    int failures = vscan_ctx_create(&options, &ctx) != VSCAN_OK;
    failures += vscan_buffer_create(ctx, VSCAN_INT, n, &a) != VSCAN_OK;
    failures += vscan_buffer_create(ctx, VSCAN_INT, n, &b) != VSCAN_OK;
    failures += vscan_buffer_fill(a, &(int32_t){1}) != VSCAN_OK;
    failures += vscan_buffer_fill(b, &(int32_t){1}) != VSCAN_OK; /* initcheck sees no tensor copy */
    while (failures == 0 && !atomic_load(&neighbour->enough)) {
        for (int k = 0; k < 4; k++) {
            failures += vscan_scan(ctx, VSCAN_PLUS, a, b, NULL) != VSCAN_OK;
            failures += vscan_scan(ctx, VSCAN_MAX, b, b, &backward) != VSCAN_OK;
            failures += vscan_buffer_copy(b, a) != VSCAN_OK;
        }
        failures += vscan_ctx_synchronize(ctx) != VSCAN_OK;
        atomic_store(&neighbour->busy, true);
    }
    atomic_store(&neighbour->busy, true); /* or has failed */
    failures += vscan_buffer_destroy(a) != VSCAN_OK;
    failures += vscan_buffer_destroy(b) != VSCAN_OK;
    failures += vscan_ctx_destroy(ctx) != VSCAN_OK;
    neighbour->failures = failures;
    return NULL;
}

static void move_in(struct neighbour *neighbour) {
    *neighbour = (struct neighbour){.failures = 0};
    assert_int_equal(pthread_create(&neighbour->thread, NULL, keep_busy, neighbour), 0);
    while (!atomic_load(&neighbour->busy)) sched_yield();
}

static int move_out(struct neighbour *neighbour) {
    atomic_store(&neighbour->enough, true);
    pthread_join(neighbour->thread, NULL);
    return neighbour->failures;
}

/* ---- The same, a thousand times -------------------------------------------------------------- */

/* From one partition of one block to the lengths of every kernel. The last ones are for segmented scans,
   which use TMA from a greater length on than others. */
static const int64_t lengths[] = {1000, 5000, 40000, 300007, (1 << 20) + 9, (5 << 20) + 3};
enum { LENGTHS = sizeof lengths / sizeof lengths[0] };

/*
 * Each length a thousand times beside the neighbour, in place and not, with every shift of input
 * and output, and between them reductions.
 */
static void repeated(struct expected_scan w) {
    vscan_ctx *ctx = harness_new_ctx(0);
    const int count = harness_small() ? 3 : harness_backend == VSCAN_BACKEND_CUDA ? LENGTHS : 4;
    const int repetitions = times(1000, 20);
    struct inputs_random random = {case_seed(w.op, w.type, 13) + (uint64_t)w.backward};
    struct neighbour neighbour;
    struct scan_queue queue;
    w.n = lengths[count - 1];
    expected_scan_make(&w);
    scan_queue_open(&queue, &w, ctx);
    move_in(&neighbour);
    for (int k = 0; k < count; k++)
        for (int i = 0; i < repetitions; i++)
            scan_queue_add(&queue, lengths[k], scan_variant_draw(&w, &random));
    const int failures = scan_queue_close(&queue);
    const int others = move_out(&neighbour);
    expected_scan_free(&w);
    ok(NULL, vscan_ctx_destroy(ctx));
    assert_int_equal(failures, 0);
    assert_int_equal(others, 0);
}

static void pressure_scan(vscan_type type) {
    repeated((struct expected_scan){.op = VSCAN_PLUS, .type = type});
    repeated((struct expected_scan){
        .op = VSCAN_PLUS, .type = type, .exclusive = true, .backward = true});
}

static void pressure_scan_int(void **state) {
    (void)state;
    pressure_scan(VSCAN_INT);
}
static void pressure_scan_float(void **state) {
    (void)state;
    pressure_scan(VSCAN_FLOAT);
}
static void pressure_scan_double(void **state) {
    (void)state;
    pressure_scan(VSCAN_DOUBLE);
}

static void pressure_segmented_float(void **state) {
    (void)state;
    repeated((struct expected_scan){
        .op = VSCAN_PLUS, .type = VSCAN_FLOAT, .flag_type = VSCAN_BIT, .flags = INPUTS_FLAGS_RUNS});
    repeated((struct expected_scan){.op = VSCAN_PLUS,
                                    .type = VSCAN_FLOAT,
                                    .flag_type = VSCAN_BYTE,
                                    .flags = INPUTS_FLAGS_MIXED,
                                    .backward = true});
}
static void pressure_segmented_double(void **state) {
    (void)state;
    repeated((struct expected_scan){.op = VSCAN_PLUS,
                                    .type = VSCAN_DOUBLE,
                                    .flag_type = VSCAN_BYTE,
                                    .flags = INPUTS_FLAGS_MIXED,
                                    .exclusive = true});
    repeated((struct expected_scan){.op = VSCAN_PLUS,
                                    .type = VSCAN_DOUBLE,
                                    .flag_type = VSCAN_INT,
                                    .flags = INPUTS_FLAGS_RUNS,
                                    .backward = true});
}

/* ---- Chunks ---------------------------------------------------------------------------------- */

/*
 * A long vector in chunks of 1 to 40 times 16384 elements, so that one chunk goes to another kernel
 * than the next; the carry stays on the device, total of one chunk and initial value of the next.
 */
static void in_chunks(struct expected_scan w) {
    vscan_ctx *ctx = harness_new_ctx(0);
    struct inputs_random random = {case_seed(w.op, w.type, 14) + (uint64_t)w.backward};
    struct neighbour neighbour;
    w.n = (harness_small() ? 4 : 200) * VSCAN__TILE_FLOAT + 77;
    expected_scan_make(&w);
    const size_t bytes = reference_bytes(w.type, w.n);
    void *got = malloc(bytes);
    assert_non_null(got);
    vscan_buffer *in, *out, *carry, *parts[2];
    ok(ctx, vscan_buffer_create(ctx, w.type, w.n, &in));
    ok(ctx, vscan_buffer_create(ctx, w.type, w.n, &out));
    ok(ctx, vscan_buffer_create(ctx, w.type, 1, &carry));
    ok(ctx, vscan_buffer_upload(in, 0, w.n, w.in));
    move_in(&neighbour);
    for (int i = 0; i < times(30, 3); i++) {
        ok(ctx, vscan_buffer_fill(out, w.in)); /* its first element; any value will do */
        for (int64_t done = 0, here; done < w.n; done += here) {
            here = VSCAN__TILE_FLOAT * (1 + inputs_below(&random, harness_small() ? 2 : 40));
            if (here > w.n - done) here = w.n - done;
            const int64_t first = w.backward ? w.n - done - here : done;
            const vscan_scan_options options = {
                .size = sizeof options,
                .kind = w.exclusive ? VSCAN_EXCLUSIVE : VSCAN_INCLUSIVE,
                .direction = w.backward ? VSCAN_BACKWARD : VSCAN_FORWARD,
                .initial_buffer = done > 0 ? carry : NULL,
                .total = carry};
            ok(ctx, vscan_buffer_view(in, first, here, &parts[0]));
            ok(ctx, vscan_buffer_view(out, first, here, &parts[1]));
            ok(ctx, vscan_scan(ctx, w.op, parts[0], parts[1], &options));
            ok(ctx, vscan_buffer_destroy(parts[0]));
            ok(ctx, vscan_buffer_destroy(parts[1]));
        }
        ok(ctx, vscan_buffer_download(out, 0, w.n, got));
        if (memcmp(got, w.out, bytes) != 0)
            fail_msg("%s_%s in chunks, %s, VSCAN_TEST_SEED=%" PRIu64 ": index %" PRId64,
                     reference_op_name(w.op), reference_type_name(w.type),
                     w.backward ? "backward" : "forward", harness_seed(),
                     reference_difference(w.type, w.n, w.out, got));
    }
    assert_int_equal(move_out(&neighbour), 0);
    ok(ctx, vscan_buffer_destroy(in));
    ok(ctx, vscan_buffer_destroy(out));
    ok(ctx, vscan_buffer_destroy(carry));
    ok(NULL, vscan_ctx_destroy(ctx));
    free(got);
    expected_scan_free(&w);
}

static void pressure_chunks(void **state) {
    (void)state;
    /* pairs that may be cut anywhere */
    in_chunks((struct expected_scan){.op = VSCAN_PLUS, .type = VSCAN_INT});
    in_chunks((struct expected_scan){
        .op = VSCAN_MAX, .type = VSCAN_DOUBLE, .exclusive = true, .backward = true});
}

/* ---- Several contexts ------------------------------------------------------------------------ */

/* What the threads and contexts below share: one long vector, scanned and scanned by segments. */
enum { PLAIN, SEGMENTED, BACKWARD, SCANS };
static struct expected_scan scans[SCANS];

static void make_scans(int64_t n) {
    scans[PLAIN] = (struct expected_scan){.op = VSCAN_PLUS, .type = VSCAN_FLOAT, .n = n};
    scans[SEGMENTED] = (struct expected_scan){.op = VSCAN_PLUS,
                                              .type = VSCAN_FLOAT,
                                              .n = n,
                                              .flag_type = VSCAN_BIT,
                                              .flags = INPUTS_FLAGS_RUNS};
    scans[BACKWARD] =
        (struct expected_scan){.op = VSCAN_PLUS, .type = VSCAN_DOUBLE, .n = n, .backward = true};
    for (int k = 0; k < SCANS; k++) expected_scan_make(&scans[k]);
}

static void free_scans(void) {
    for (int k = 0; k < SCANS; k++) expected_scan_free(&scans[k]);
}

struct one_of_two {
    pthread_t thread;
    int number, failures;
};

/* Any length; all orders of magnitude are equally likely. */
static int64_t any_length(struct inputs_random *random, int64_t most) {
    const int64_t bound = INT64_C(1) << inputs_below(random, 24);
    return 1 + inputs_below(random, bound < most ? bound : most);
}

static void *run_one_of_two(void *argument) {
    struct one_of_two *one = argument;
    const vscan_ctx_options options = {.size = sizeof options, .backend = (int32_t)harness_backend};
    struct inputs_random random = {harness_seed() + 77 * (uint64_t)one->number};
    struct scan_queue queues[SCANS];
    vscan_ctx *ctx = NULL;
    if (vscan_ctx_create(&options, &ctx) != VSCAN_OK) return one->failures = 1, NULL;
    for (int k = 0; k < SCANS; k++) scan_queue_open(&queues[k], &scans[k], ctx);
    for (int i = 0; i < times(3000, 60); i++) {
        const int k = (int)inputs_below(&random, SCANS);
        scan_queue_add(&queues[k], any_length(&random, scans[k].n),
                       scan_variant_draw(&scans[k], &random));
    }
    for (int k = 0; k < SCANS; k++) one->failures += scan_queue_close(&queues[k]);
    one->failures += vscan_ctx_destroy(ctx) != VSCAN_OK;
    return NULL;
}

/* Two contexts, each on its own stream and from its own thread, with lengths as they come. */
static void pressure_two_contexts(void **state) {
    (void)state;
    struct one_of_two two[2] = {{.number = 0}, {.number = 1}};
    make_scans(harness_small() ? 40000 : times(2500000, 200000));
    for (int k = 0; k < 2; k++)
        assert_int_equal(pthread_create(&two[k].thread, NULL, run_one_of_two, &two[k]), 0);
    for (int k = 0; k < 2; k++) pthread_join(two[k].thread, NULL);
    free_scans();
    assert_int_equal(two[0].failures + two[1].failures, 0);
}

/*
 * Eight contexts with long scans of every kind queued on all of them at once: more blocks than can
 * be resident, of kernels that wait for each other's blocks. A ninth context does small work beside
 * them and waits for it each time.
 */
static void pressure_full_device(void **state) {
    (void)state;
    enum { CONTEXTS = 8 };
    const int64_t n = harness_small() ? 30000 : times(6 << 20, 150000);
    const int repetitions = times(60, 4), all = harness_small() ? 3 : CONTEXTS;
    struct inputs_random random = {harness_seed() + 99};
    struct scan_queue loads[CONTEXTS], beside;
    vscan_ctx *contexts[CONTEXTS], *ctx = harness_new_ctx(0);
    make_scans(n);
    scan_queue_open(&beside, &scans[PLAIN], ctx);
    for (int k = 0; k < all; k++) {
        contexts[k] = harness_new_ctx(0);
        scan_queue_open(&loads[k], &scans[k % SCANS], contexts[k]);
    }
    for (int i = 0; i < repetitions; i++) {
        for (int k = 0; k < all; k++)
            scan_queue_add(&loads[k], n - inputs_below(&random, 1000),
                           scan_variant_draw(loads[k].w, &random));
        scan_queue_add(&beside, 1 + inputs_below(&random, n < 100000 ? n : 100000),
                       (struct scan_variant){.reduce = i % 3 == 0});
        scan_queue_check(&beside);
    }
    int failures = scan_queue_close(&beside);
    for (int k = 0; k < all; k++) {
        failures += scan_queue_close(&loads[k]);
        ok(NULL, vscan_ctx_destroy(contexts[k]));
    }
    ok(NULL, vscan_ctx_destroy(ctx));
    free_scans();
    assert_int_equal(failures, 0);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pressure_scan_int),         cmocka_unit_test(pressure_scan_float),
        cmocka_unit_test(pressure_scan_double),      cmocka_unit_test(pressure_segmented_float),
        cmocka_unit_test(pressure_segmented_double), cmocka_unit_test(pressure_chunks),
        cmocka_unit_test(pressure_two_contexts),     cmocka_unit_test(pressure_full_device),
    };
    return harness_run(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
