/* SPDX-License-Identifier: Apache-2.0 */
/* The pool of threads, and forks: before it is used, after, and in the middle of calls. */
#include "pool_job.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

static struct job inherited;

static int fork_before_use(void) {
    MUST(wait_for(start_child(scans)) == 0);
    return scans();
}

/* The child's own threads come. */
static int scans_of_inherited(void) {
    for (int i = 0; i < 3; i++) MUST(scan(&inherited));
    MUST(SANITIZED || count_threads() == 2);
    return 0;
}

static int scans_and_forks(void) {
    MUST(scans() == 0);
    MUST(scans_of_inherited() == 0);
    MUST(wait_for(start_child(scans)) == 0);
    return wait_for(start_child(scans_of_inherited));
}

/* The child's first scan hung for ever with OpenMP's threads, which it did not have. */
static int fork_after_use(void) {
    MUST(make_job(&inherited, 2));
    MUST(scan(&inherited));
    MUST(SANITIZED || count_threads() == 2);
    for (int i = 0; i < 5; i++) {
        MUST(wait_for(start_child(scans_and_forks)) == 0);
        MUST(scan(&inherited));
    }
    return end_job(&inherited) ? 0 : __LINE__;
}

static atomic_bool enough;
static atomic_int ready;

static void *keep_scanning(void *failed) {
    struct job job;
    bool well = make_job(&job, 2);
    while (well && !atomic_load(&enough)) {
        for (int i = 0; well && i < 4; i++) well = scan(&job);
        well = well && end_job(&job) && make_job(&job, 2);
    }
    if (!well || !end_job(&job)) atomic_store((atomic_bool *)failed, true);
    return NULL;
}

/* With a context that has its memory already. */
static void *keep_scanning_alone(void *job) {
    bool well = scan(job);
    atomic_fetch_add(&ready, 1);
    while (well && !atomic_load(&enough)) well = scan(job);
    return well ? NULL : job;
}

static int forks_of_inherited(void) {
    for (int i = 0; i < (harness_small() ? 20 : 100); i++)
        MUST(wait_for(start_child(scans_of_inherited)) == 0);
    atomic_store(&enough, true);
    return 0;
}

/* Others are in the middle of calls then, have the pool, and make and destroy contexts. A child may use what
   none of them used. */
static int fork_among_allocations(void) {
    pthread_t threads[2];
    atomic_bool failed = false;
    for (int t = 0; t < 2; t++)
        MUST(pthread_create(&threads[t], NULL, keep_scanning, &failed) == 0);
    MUST(forks_of_inherited() == 0);
    for (int t = 0; t < 2; t++) pthread_join(threads[t], NULL);
    MUST(!atomic_load(&failed));
    return 0;
}

/* The same under a sanitizer. Its allocator has locks of its own that no fork waits for, and a child that
   finds one taken hangs in its first malloc; so nobody allocates any more when the first fork comes. */
static int fork_without_allocations(void) {
    pthread_t threads[2];
    struct job jobs[2];
    void *failed = NULL;
    for (int t = 0; t < 2; t++) MUST(make_job(&jobs[t], 2) && scan(&jobs[t]));
    for (int t = 0; t < 2; t++)
        MUST(pthread_create(&threads[t], NULL, keep_scanning_alone, &jobs[t]) == 0);
    while (atomic_load(&ready) < 2) sched_yield();
    MUST(forks_of_inherited() == 0);
    for (int t = 0; t < 2; t++) {
        MUST(pthread_join(threads[t], &failed) == 0 && failed == NULL);
        MUST(end_job(&jobs[t]));
    }
    return 0;
}

static int fork_during_use(void) {
    MUST(make_job(&inherited, 2));
    MUST((SANITIZED ? fork_without_allocations() : fork_among_allocations()) == 0);
    return end_job(&inherited) ? 0 : __LINE__;
}

/* ---- Tests -------------------------------------------------------------------------------------- */

#define TESTS(X)                                                                                   \
    X(fork_before_use)                                                                             \
    X(fork_after_use)                                                                              \
    X(fork_during_use)
TESTS(POOL_TEST)

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {TESTS(POOL_UNIT_TEST)};
    return harness_run(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
