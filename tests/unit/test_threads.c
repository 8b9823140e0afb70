/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads: several on one context, several contexts, handles made and destroyed at once, the last
 * error of each thread, calls from an OpenMP region, fork before the first use. Meant to be run
 * under ThreadSanitizer as well. cmocka's own functions are for one thread: the threads here count
 * their failures and keep the first one's message.
 */
#include "harness.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "cases.h"

enum { THREADS = 4 };

static int repetitions(void) {
    return harness_small() ? 5 : 40;
}

struct worker {
    int number;
    vscan_ctx *ctx;       /* shared, or NULL */
    vscan_buffer *shared; /* an input that all read, or NULL */
    pthread_barrier_t *barrier;
    int failures;
    char first[200];
};

#define EXPECT(w, condition)                                                                       \
    do {                                                                                           \
        if (!(condition)) note((w), __LINE__, #condition);                                         \
    } while (0)

static void note(struct worker *w, int line, const char *what) {
    if (w->failures++ > 0) return;
    snprintf(w->first, sizeof w->first, "thread %d, line %d: %s (%.100s)", w->number, line, what,
             vscan_ctx_last_error(w->ctx));
}

/* Runs f in THREADS threads and fails if any of them noted a failure. */
static void together(void *(*f)(void *), vscan_ctx *ctx, vscan_buffer *shared) {
    pthread_t threads[THREADS];
    struct worker workers[THREADS];
    pthread_barrier_t barrier;
    assert_int_equal(pthread_barrier_init(&barrier, NULL, THREADS), 0);
    for (int t = 0; t < THREADS; t++) {
        workers[t] =
            (struct worker){.number = t, .ctx = ctx, .shared = shared, .barrier = &barrier};
        assert_int_equal(pthread_create(&threads[t], NULL, f, &workers[t]), 0);
    }
    int failures = 0;
    for (int t = 0; t < THREADS; t++) {
        pthread_join(threads[t], NULL);
        if (workers[t].failures > 0)
            print_error("%s: %d failures, the first: %s\n", harness_backend_name(),
                        workers[t].failures, workers[t].first);
        failures += workers[t].failures;
    }
    pthread_barrier_destroy(&barrier);
    assert_int_equal(failures, 0);
}

/* ---- What a thread does ---------------------------------------------------------------------- */

/* One scan of a pair with buffers of its own, or of the shared input, against the reference. */
static void scan_once(struct worker *w, vscan_ctx *ctx, struct inputs_random *random) {
    struct reference r = {.op = (vscan_op)(VSCAN_PLUS + inputs_below(random, 5)),
                          .type = reference_types[inputs_below(random, REFERENCE_TYPES)],
                          .n = 1 + inputs_below(random, 40000),
                          .exclusive = inputs_below(random, 2),
                          .backward = inputs_below(random, 2)};
    if (inputs_below(random, 4) == 0) r.n += 150000; /* enough for several threads of a backend */
    if (w->shared != NULL) {
        r.type = vscan_buffer_type(w->shared);
        r.n = vscan_buffer_length(w->shared);
    }
    const size_t bytes = reference_bytes(r.type, r.n);
    void *in = malloc(bytes), *expected = malloc(bytes), *got = malloc(bytes);
    if (in == NULL || expected == NULL || got == NULL) abort();
    const uint64_t seed = w->shared != NULL ? 7 : inputs_next(random);
    inputs_fill(INPUTS_RANDOM, r.type, r.n, seed, in);
    uint64_t expected_total = 0, total = 0;
    r.in = in;
    r.out = expected;
    r.total = &expected_total;
    reference_scan(&r);

    vscan_buffer *source = w->shared, *out = NULL;
    EXPECT(w, vscan_buffer_create(ctx, r.type, r.n, &out) == VSCAN_OK);
    if (source == NULL) {
        EXPECT(w, vscan_buffer_upload(out, 0, r.n, in) == VSCAN_OK);
        source = out;
    }
    vscan_buffer *one = NULL;
    EXPECT(w, vscan_buffer_create(ctx, r.type, 1, &one) == VSCAN_OK);
    const vscan_scan_options options = {.size = sizeof options,
                                        .kind = r.exclusive ? VSCAN_EXCLUSIVE : VSCAN_INCLUSIVE,
                                        .direction = r.backward ? VSCAN_BACKWARD : VSCAN_FORWARD,
                                        .total = one};
    EXPECT(w, vscan_scan(ctx, r.op, source, out, &options) == VSCAN_OK);
    EXPECT(w, vscan_buffer_get(one, 0, &total) == VSCAN_OK);
    EXPECT(w, vscan_buffer_destroy(one) == VSCAN_OK);
    EXPECT(w, vscan_buffer_download(out, 0, r.n, got) == VSCAN_OK);
    EXPECT(w, reference_difference(r.type, r.n, expected, got) < 0);
    EXPECT(w, reference_difference(r.type, 1, &expected_total, &total) < 0);
    EXPECT(w, vscan_buffer_destroy(out) == VSCAN_OK);
    free(in);
    free(expected);
    free(got);
}

static struct inputs_random random_of(const struct worker *w) {
    return (struct inputs_random){harness_seed() + 1000 * (uint64_t)w->number};
}

static void *scans(void *argument) {
    struct worker *w = argument;
    struct inputs_random random = random_of(w);
    for (int i = 0; i < repetitions(); i++) {
        scan_once(w, w->ctx, &random);
        /* results do not depend on the number of threads, whoever changes it meanwhile */
        EXPECT(w, vscan_ctx_set_threads(w->ctx, (w->number + i) % 4) == VSCAN_OK);
        EXPECT(w, vscan_ctx_threads(w->ctx) >= 1);
    }
    return NULL;
}

static vscan_status new_ctx(int32_t threads, vscan_ctx **ctx) {
    const vscan_ctx_options options = {
        .size = sizeof options, .backend = (int32_t)harness_backend, .threads = threads};
    return vscan_ctx_create(&options, ctx);
}

static void *scans_in_own_context(void *argument) {
    struct worker *w = argument;
    struct inputs_random random = random_of(w);
    vscan_ctx *ctx = NULL;
    EXPECT(w, new_ctx(1 + w->number, &ctx) == VSCAN_OK);
    if (ctx == NULL) return NULL;
    for (int i = 0; i < repetitions(); i++) scan_once(w, ctx, &random);
    EXPECT(w, vscan_ctx_destroy(ctx) == VSCAN_OK);
    return NULL;
}

static void *contexts_come_and_go(void *argument) {
    struct worker *w = argument;
    struct inputs_random random = random_of(w);
    for (int i = 0; i < repetitions() / 4 + 1; i++) {
        vscan_ctx *ctx = NULL;
        EXPECT(w, new_ctx(i % 3, &ctx) == VSCAN_OK);
        if (ctx == NULL) return NULL;
        EXPECT(w, vscan_ctx_backend(ctx) == harness_backend);
        if (i % 2) scan_once(w, ctx, &random);
        EXPECT(w, vscan_ctx_destroy(ctx) == VSCAN_OK);
    }
    return NULL;
}

static void *buffers_come_and_go(void *argument) {
    struct worker *w = argument;
    struct inputs_random random = random_of(w);
    for (int i = 0; i < repetitions(); i++) {
        vscan_buffer *buffers[4] = {NULL}, *views[4] = {NULL};
        for (int b = 0; b < 4; b++) {
            const int64_t n = 10 + inputs_below(&random, 5000);
            const int32_t value = (int32_t)inputs_next(&random);
            int32_t got = 0;
            EXPECT(w, vscan_buffer_create(w->ctx, VSCAN_INT, n, &buffers[b]) == VSCAN_OK);
            EXPECT(w, vscan_buffer_view(buffers[b], n / 2, n / 4, &views[b]) == VSCAN_OK);
            EXPECT(w, vscan_buffer_fill(buffers[b], &value) == VSCAN_OK);
            EXPECT(w, vscan_buffer_length(views[b]) == n / 4);
            EXPECT(w, vscan_buffer_get(views[b], n / 8, &got) == VSCAN_OK);
            EXPECT(w, got == value);
        }
        /* in any order: a view keeps its memory alive */
        for (int b = 0; b < 4; b++) EXPECT(w, vscan_buffer_destroy(buffers[b]) == VSCAN_OK);
        for (int b = 0; b < 4; b++) EXPECT(w, vscan_buffer_destroy(views[b]) == VSCAN_OK);
    }
    return NULL;
}

/* Each thread fails in its own way, and finds its own sentence after the others have failed too. */
static void *errors_of_threads(void *argument) {
    struct worker *w = argument;
    static const char *const functions[THREADS] = {"vscan_buffer_create", "vscan_ctx_reserve",
                                                   "vscan_scan", "vscan_ctx_synchronize"};
    for (int i = 0; i < repetitions(); i++) {
        vscan_buffer *buffer = NULL;
        vscan_status status = VSCAN_OK;
        if (w->number == 0) status = vscan_buffer_create(NULL, VSCAN_INT, 1, &buffer);
        if (w->number == 1) status = vscan_ctx_reserve(NULL, VSCAN_INT, 1);
        if (w->number == 2) status = vscan_scan(NULL, VSCAN_PLUS, NULL, NULL, NULL);
        if (w->number == 3) status = vscan_ctx_synchronize(NULL);
        EXPECT(w, status == VSCAN_ERROR_NULL);
        pthread_barrier_wait(w->barrier);
        EXPECT(w, strstr(vscan_ctx_last_error(NULL), functions[w->number]) != NULL);
        pthread_barrier_wait(w->barrier);
    }
    return NULL;
}

/* The string that a thread was given stays as it is while others fail on the same context. */
static void *errors_of_one_context(void *argument) {
    struct worker *w = argument;
    for (int i = 0; i < repetitions(); i++) {
        EXPECT(w, vscan_ctx_reserve(w->ctx, VSCAN_INT, -1 - w->number) == VSCAN_ERROR_LENGTH);
        const char *sentence = vscan_ctx_last_error(w->ctx);
        char copy[600];
        snprintf(copy, sizeof copy, "%s", sentence);
        EXPECT(w, strncmp(copy, "vscan_ctx_", 10) == 0); /* of this thread or of another */
        EXPECT(w, vscan_ctx_set_threads(w->ctx, -1) == VSCAN_ERROR_VALUE);
        pthread_barrier_wait(w->barrier);
        EXPECT(w, strcmp(copy, sentence) == 0);
        pthread_barrier_wait(w->barrier);
    }
    return NULL;
}

/* ---- Tests ----------------------------------------------------------------------------------- */

/* A child of a process that has not used the library yet. CUDA's driver is not for forked ones. */
static void threads_fork_before_use(void **state) {
    (void)state;
    if (harness_backend != VSCAN_BACKEND_CPU) skip();
    fflush(NULL);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct worker w = {.number = 0};
        struct inputs_random random = random_of(&w);
        vscan_ctx *ctx = NULL;
        EXPECT(&w, new_ctx(2, &ctx) == VSCAN_OK);
        for (int i = 0; i < 5 && ctx != NULL; i++) scan_once(&w, ctx, &random);
        EXPECT(&w, vscan_ctx_destroy(ctx) == VSCAN_OK);
        if (w.failures > 0) fprintf(stderr, "%s\n", w.first);
        _exit(w.failures > 0);
    }
    int status = -1;
    assert_true(waitpid(child, &status, 0) == child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void threads_one_context(void **state) {
    (void)state;
    together(scans, harness_ctx(), NULL);
}

static void threads_one_input(void **state) {
    (void)state;
    vscan_ctx *ctx = harness_ctx();
    enum { N = 100000 };
    float *in = malloc(N * sizeof *in);
    assert_non_null(in);
    inputs_fill(INPUTS_RANDOM, VSCAN_FLOAT, N, 7, in);
    vscan_buffer *shared;
    ok(ctx, vscan_buffer_create(ctx, VSCAN_FLOAT, N, &shared));
    ok(ctx, vscan_buffer_upload(shared, 0, N, in));
    together(scans, ctx, shared);
    ok(ctx, vscan_buffer_destroy(shared));
    free(in);
}

static void threads_own_contexts(void **state) {
    (void)state;
    together(scans_in_own_context, NULL, NULL);
}

static void threads_contexts_come_and_go(void **state) {
    (void)state;
    together(contexts_come_and_go, NULL, NULL);
}

static void threads_buffers_come_and_go(void **state) {
    (void)state;
    together(buffers_come_and_go, harness_ctx(), NULL);
}

static const vscan_type flag_types[] = {VSCAN_INT, VSCAN_BYTE, VSCAN_BIT};

/* Case k of several threads of the CPU backend: the pair and the segments go by k, the rest has been
   drawn. */
static void case_of_threads(struct test_case *c, int k, int threads) {
    vscan_ctx *ctx = harness_ctx();
    void *in = malloc(reference_bytes(c->type, c->n));
    uint8_t *flags = malloc((size_t)c->n);
    assert_non_null(in);
    assert_non_null(flags);
    inputs_fill(c->pattern, c->type, c->n, c->seed, in);
    inputs_flags_fill(c->flags, reference_tile(c->type), c->n, c->seed, flags);
    ok(ctx, vscan_ctx_set_threads(ctx, threads));
    if ((k + k / 15) % 2 != 0)
        case_segmented(c, in, flags);
    else
        case_scan(c, in);
    ok(ctx, vscan_ctx_set_threads(ctx, 0));
    free(in);
    free(flags);
}

static struct test_case drawn_case(int k, int64_t n, struct inputs_random *random) {
    struct test_case c = {.family = "threads", .pattern = INPUTS_RANDOM, .n = n};
    c.op = (vscan_op)(VSCAN_PLUS + k % 5);
    c.type = reference_types[k / 5 % REFERENCE_TYPES];
    c.flags = (enum inputs_flags)inputs_below(random, INPUTS_FLAGS_PATTERNS);
    c.flag_type = flag_types[k % 3];
    c.seed = inputs_next(random);
    case_draw(&c, random);
    return c;
}

/*
 * Vectors so long that several threads of the CPU backend store results past the caches, where they
 * go another way than in all other tests: overlapped, in lib/cpu/scan_batches.c.
 */
static void threads_long(void **state) {
    (void)state;
    if (harness_backend != VSCAN_BACKEND_CPU) skip();
    enum { LONG = 8 << 20 }; /* ints of 32 MiB */
    for (int k = 0; k < 30; k++) {
        if (harness_small() && k % 7 != 2) continue; /* 5 cases */
        struct inputs_random random = {harness_seed() + 5000 + (uint64_t)k};
        const size_t size = reference_bytes(reference_types[k / 5 % REFERENCE_TYPES], 1);
        const int64_t n = LONG / (size == 8 ? 2 : 1) + inputs_below(&random, 200000);
        struct test_case c = drawn_case(k, n, &random);
        c.in_place = false;
        c.shift_out = 0;
        c.totals = TOTALS_NONE;
        case_of_threads(&c, k, 2 + k % 7);
    }
}

/* Some tiles, and up to as many threads: batches in which a thread has no tile, or part of one. */
static void threads_rounds(void **state) {
    (void)state;
    if (harness_backend != VSCAN_BACKEND_CPU) skip();
    for (int k = 0; k < 90; k++) {
        if (harness_small() && k % 7 != 2) continue; /* 13 cases */
        struct inputs_random random = {harness_seed() + 6000 + (uint64_t)k};
        const int64_t tile = reference_tile(reference_types[k / 5 % REFERENCE_TYPES]);
        const int64_t n = tile * (4 + inputs_below(&random, 40)) + inputs_below(&random, tile);
        struct test_case c = drawn_case(k, n - inputs_below(&random, 2) * (n % tile), &random);
        case_of_threads(&c, k, 2 + k % 11);
    }
}

static void threads_last_error(void **state) {
    (void)state;
    together(errors_of_threads, NULL, NULL);
    together(errors_of_one_context, harness_ctx(), NULL);
}

/*
 * From inside a parallel region of the caller's, where the library's own is nested. ThreadSanitizer
 * does not see how libgomp hands over: hence the counter, in static memory, and a function that is
 * not instrumented for the region itself, as in lib/cpu/parallel.c.
 */
#ifdef _OPENMP
static atomic_int handed_over;

static __attribute__((noinline)) void openmp_member(struct worker *w, vscan_ctx *ctx) {
    atomic_fetch_add(&handed_over, 1);
    struct inputs_random random = random_of(w);
    for (int i = 0; i < repetitions(); i++) scan_once(w, ctx, &random);
    vscan_ctx *own = NULL;
    EXPECT(w, new_ctx(2, &own) == VSCAN_OK);
    if (own != NULL) scan_once(w, own, &random);
    EXPECT(w, vscan_ctx_destroy(own) == VSCAN_OK);
    atomic_fetch_add(&handed_over, 1);
}

static __attribute__((noinline, no_sanitize("thread"))) void openmp_region(struct worker *workers,
                                                                           vscan_ctx *ctx) {
#pragma omp parallel num_threads(THREADS)
    openmp_member(&workers[omp_get_thread_num()], ctx);
}
#endif

static void threads_openmp(void **state) {
    (void)state;
#ifdef _OPENMP
    struct worker workers[THREADS] = {{0}};
    for (int t = 0; t < THREADS; t++) workers[t].number = t;
    atomic_fetch_add(&handed_over, 1);
    openmp_region(workers, harness_ctx());
    atomic_fetch_add(&handed_over, 1);
    for (int t = 0; t < THREADS; t++) {
        if (workers[t].failures > 0) print_error("%s\n", workers[t].first);
        assert_int_equal(workers[t].failures, 0);
    }
#else
    skip();
#endif
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_fork_before_use), /* first: nothing has run yet */
        cmocka_unit_test(threads_one_context),
        cmocka_unit_test(threads_one_input),
        cmocka_unit_test(threads_own_contexts),
        cmocka_unit_test(threads_contexts_come_and_go),
        cmocka_unit_test(threads_buffers_come_and_go),
        cmocka_unit_test(threads_long),
        cmocka_unit_test(threads_rounds),
        cmocka_unit_test(threads_last_error),
        cmocka_unit_test(threads_openmp),
    };
    return harness_run(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
