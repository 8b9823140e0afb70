/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the tests of the pool of threads share: a scan that is checked, and a process of its own for each test,
 * as the pool remembers what happened to it.
 */
#ifndef POOL_JOB_H
#define POOL_JOB_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "children.h"
#include "harness.h"

enum {
    N = 300000,
    LONG = 1 << 24
};                    /* elements; LONG: a call takes a millisecond alone, or longer */
enum { LIMIT = 120 }; /* seconds until a child is taken for hung */

/* ---- A scan that is checked --------------------------------------------------------------------- */

struct job {
    vscan_ctx *ctx;
    vscan_buffer *in, *out;
    int32_t *values, *results;
};

static inline int32_t value_at(int64_t i) {
    return (int32_t)((uint32_t)i * UINT32_C(2654435761) >> 8);
}

static inline bool make_job(struct job *job, int32_t threads) {
    const vscan_ctx_options options = {
        .size = sizeof options, .backend = VSCAN_BACKEND_CPU, .threads = threads};
    job->values = malloc(N * sizeof *job->values);
    job->results = malloc(N * sizeof *job->results);
    if (job->values == NULL || job->results == NULL) return false;
    for (int64_t i = 0; i < N; i++) job->values[i] = value_at(i);
    return vscan_ctx_create(&options, &job->ctx) == VSCAN_OK &&
           vscan_buffer_wrap(job->ctx, VSCAN_INT, job->values, N, &job->in) == VSCAN_OK &&
           vscan_buffer_wrap(job->ctx, VSCAN_INT, job->results, N, &job->out) == VSCAN_OK;
}

/* The stack of a caller may be small, so it has next to nothing on it. */
static inline bool scan(const struct job *job) {
    memset(job->results, 0x55, N * sizeof *job->results);
    if (vscan_scan(job->ctx, VSCAN_PLUS, job->in, job->out, NULL) != VSCAN_OK) return false;
    uint32_t sum = 0;
    for (int64_t i = 0; i < N; i++) {
        sum += (uint32_t)job->values[i];
        if ((uint32_t)job->results[i] != sum) return false;
    }
    return true;
}

static inline bool end_job(struct job *job) {
    bool well = vscan_buffer_destroy(job->in) == VSCAN_OK;
    well &= vscan_buffer_destroy(job->out) == VSCAN_OK;
    well &= vscan_ctx_destroy(job->ctx) == VSCAN_OK;
    free(job->values);
    free(job->results);
    return well;
}

static inline bool scan_in_new_context(int32_t threads) {
    struct job job;
    if (!make_job(&job, threads)) return false;
    const bool well = scan(&job) && scan(&job);
    return end_job(&job) && well;
}

/* Sanitizers have threads of their own and need far more memory than a limit would leave them. */
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif

/* Without the tests' own number of threads. */
static inline void ask_the_machine(void) {
    unsetenv("VSCAN_TEST_THREADS");
    unsetenv("VSCAN_NUM_THREADS");
    unsetenv("OMP_NUM_THREADS");
}

/* ---- Processes ---------------------------------------------------------------------------------- */

/* What a test does is its child's: 0 when all went well, else the line where not. */
#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition)) return __LINE__;                                                         \
    } while (0)

/* Waits for a child that is to end with 0. */
static inline int wait_for(pid_t child) {
    MUST(child_status(child) == 0);
    return 0;
}

static inline void report(int line) {
    if (line == 0) _exit(0);
    fprintf(stderr, "line %d: %s (%s)\n", line, vscan_ctx_last_error(NULL), strerror(errno));
    _exit(1);
}

/* A child that does this; SIGALRM ends it where it hangs. */
static inline pid_t start_child(int (*work)(void)) {
    fflush(NULL);
    const pid_t child = fork();
    if (child != 0) return child;
    alarm(LIMIT);
    report(work());
    return 0;
}

static inline void run_alone(int (*work)(void)) {
    if (harness_backend != VSCAN_BACKEND_CPU) skip();
    assert_int_equal(wait_for(start_child(work)), 0);
}

static inline int scans(void) {
    for (int i = 0; i < 3; i++) MUST(scan_in_new_context(2));
    return 0;
}

/* pool_NAME, a test that runs NAME so. */
#define POOL_TEST(name)                                                                            \
    static void pool_##name(void **state) {                                                        \
        (void)state;                                                                               \
        run_alone(name);                                                                           \
    }
#define POOL_UNIT_TEST(name) cmocka_unit_test(pool_##name),

#endif
