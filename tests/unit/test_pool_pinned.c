/* SPDX-License-Identifier: Apache-2.0 */
/* The pool of threads, and threads that are pinned: how many help, and where they run. */
#include "pool_job.h"

#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>

static bool pin(const cpu_set_t *mask) {
    return sched_setaffinity(0, sizeof *mask, mask) == 0;
}

/* The calling thread's mask, and its first processor. */
static bool read_masks(cpu_set_t *mask, cpu_set_t *one) {
    if (sched_getaffinity(0, sizeof *mask, mask) != 0) return false;
    CPU_ZERO(one);
    for (size_t cpu = 0; CPU_COUNT(one) == 0; cpu++)
        if (CPU_ISSET(cpu, mask)) CPU_SET(cpu, one);
    return true;
}

/* One processor, no thread beside the caller's, whatever is asked for. */
static int one_processor(void) {
    cpu_set_t mask, one;
    ask_the_machine();
    MUST(read_masks(&mask, &one) && pin(&one));
    struct job job;
    MUST(make_job(&job, 8));
    for (int i = 0; i < 20; i++) MUST(scan(&job));
    MUST(SANITIZED || count_threads() == 1);
    MUST(vscan_ctx_threads(job.ctx) == 1);
    MUST(vscan_ctx_set_threads(job.ctx, 0) == VSCAN_OK);
    MUST(vscan_ctx_threads(job.ctx) == 1);
    return end_job(&job) ? 0 : __LINE__;
}

struct pinned {
    vscan_ctx *ctx;
    vscan_buffer *buffer;
    cpu_set_t one;
    int threads; /* of the process, when it has made its calls */
};

static void *scan_pinned(void *argument) {
    struct pinned *p = argument;
    bool well = pin(&p->one) && vscan_ctx_threads(p->ctx) == 1;
    for (int i = 0; i < 3; i++)
        well = well && vscan_scan(p->ctx, VSCAN_PLUS, p->buffer, p->buffer, NULL) == VSCAN_OK;
    p->threads = count_threads();
    return well ? argument : NULL;
}

/* The library's threads after the calls of one that is pinned, or -1. */
static int workers_after_pinned(struct pinned *p) {
    pthread_t thread;
    void *well;
    if (pthread_create(&thread, NULL, scan_pinned, p) != 0) return -1;
    if (pthread_join(thread, &well) != 0 || well == NULL) return -1;
    while (count_threads() >= p->threads) sched_yield(); /* until it is gone */
    return p->threads - 2;
}

/* What the machine gives to a process in which nobody has asked before. */
static int threads_of_a_child(const vscan_ctx *ctx) {
    const pid_t child = fork();
    if (child == 0) _exit(vscan_ctx_threads(ctx));
    return child_status(child);
}

/* Every call goes by the mask of its own thread: one that is pinned gets no help, before and after those
   that get some. */
static int pinned_and_not(bool asks_first) {
    struct pinned p;
    cpu_set_t mask;
    ask_the_machine();
    const vscan_ctx_options options = {
        .size = sizeof options, .backend = VSCAN_BACKEND_CPU, .threads = 2};
    MUST(read_masks(&mask, &p.one));
    MUST(vscan_ctx_create(&options, &p.ctx) == VSCAN_OK);
    const int threads = threads_of_a_child(p.ctx);
    if (CPU_COUNT(&mask) < 2 || threads == 1) return 0; /* one processor, or a quota of one */
    MUST(threads == 2);
    if (asks_first) MUST(vscan_ctx_threads(p.ctx) == 2);
    MUST(vscan_buffer_create(p.ctx, VSCAN_INT, LONG, &p.buffer) == VSCAN_OK);
    MUST(workers_after_pinned(&p) == 0);
    for (int i = 0; i < 3; i++) {
        MUST(pin(&p.one));
        MUST(vscan_ctx_threads(p.ctx) == 1);
        MUST(vscan_scan(p.ctx, VSCAN_PLUS, p.buffer, p.buffer, NULL) == VSCAN_OK);
        MUST(count_threads() == (i == 0 ? 1 : 2));
        MUST(pin(&mask));
        MUST(vscan_ctx_threads(p.ctx) == 2);
        MUST(vscan_scan(p.ctx, VSCAN_PLUS, p.buffer, p.buffer, NULL) == VSCAN_OK);
        MUST(count_threads() == 2);
    }
    MUST(workers_after_pinned(&p) == 1);
    MUST(vscan_buffer_destroy(p.buffer) == VSCAN_OK);
    return vscan_ctx_destroy(p.ctx) == VSCAN_OK ? 0 : __LINE__;
}

static int pinned_calls_first(void) {
    return SANITIZED ? 0 : pinned_and_not(false);
}

static int pinned_calls_second(void) {
    return SANITIZED ? 0 : pinned_and_not(true);
}

/* Whether all threads but this one have this mask. */
static bool have_mask(const cpu_set_t *mask) {
    DIR *threads = opendir("/proc/self/task");
    bool have = threads != NULL;
    for (struct dirent *entry; have && (entry = readdir(threads)) != NULL;) {
        const pid_t thread = (pid_t)atoi(entry->d_name);
        cpu_set_t its;
        if (thread == 0 || thread == (pid_t)syscall(SYS_gettid)) continue;
        have = sched_getaffinity(thread, sizeof its, &its) == 0 && CPU_EQUAL(&its, mask);
    }
    if (threads != NULL) closedir(threads);
    return have;
}

/* The library's threads run where the caller may, whoever it is; the tests' number makes them come to one
   that is pinned. */
static int masks_of_workers(void) {
    cpu_set_t mask, one;
    struct job job;
    if (SANITIZED) return 0;
    MUST(read_masks(&mask, &one));
    MUST(make_job(&job, 4));
    for (int i = 0; i < 3; i++) {
        MUST(pin(&one) && scan(&job));
        MUST(count_threads() == 4 && have_mask(&one));
        MUST(pin(&mask) && scan(&job));
        MUST(count_threads() == 4 && have_mask(&mask));
    }
    /* those that the call does not use stay where they are */
    MUST(pin(&one) && vscan_ctx_set_threads(job.ctx, 1) == VSCAN_OK && scan(&job));
    MUST(have_mask(&mask));
    return end_job(&job) ? 0 : __LINE__;
}

/* ---- Tests -------------------------------------------------------------------------------------- */

#define TESTS(X)                                                                                   \
    X(one_processor)                                                                               \
    X(pinned_calls_first)                                                                          \
    X(pinned_calls_second)                                                                         \
    X(masks_of_workers)
TESTS(POOL_TEST)

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {TESTS(POOL_UNIT_TEST)};
    return harness_run(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
