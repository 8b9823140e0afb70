/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Teams of threads: an OpenMP region, with a barrier of our own.
 *
 * The barrier yields the processor after a short while. That of libgomp spins for milliseconds, which
 * makes every call slow where other programs keep a processor busy.
 *
 * Every hand-over of memory between threads goes through C11 atomics, at the start and the end of a
 * team too, where OpenMP orders everything already: ThreadSanitizer cannot see into an uninstrumented
 * libgomp, and with the atomics it finds the real races and no others. It still does not see how the
 * compiler hands the arguments to the region, so the function that holds the region is not
 * instrumented, and does nothing else.
 */
#include "cpu/parallel.h"

#include <sched.h>

#include "core/threads.h"

enum { PATIENCE = 1000 }; /* loads before a thread yields: 20 to 50 us */

struct vscan__cpu_team {
    vscan__cpu_body *body;
    void *work;
    atomic_int arrived;   /* at the barrier */
    atomic_uint barriers; /* passed */
};

/* Orders the start and the end of teams. One for all teams, in static memory: of a place on a stack
   ThreadSanitizer remembers what lay there before. */
static atomic_uint order;

/* Release and acquire: what any thread did before it came here is seen by those that come later. */
static void hand_over(void) {
    atomic_fetch_add_explicit(&order, 1, memory_order_acq_rel);
}

static __attribute__((noinline)) void run_body(struct vscan__cpu_team *team, int thread,
                                               int threads) {
    hand_over();
    team->body(team, team->work, thread, threads);
    hand_over();
}

static __attribute__((noinline, no_sanitize("thread"))) void region(struct vscan__cpu_team *team,
                                                                    int threads) {
#pragma omp parallel num_threads(threads) default(none) shared(team)
    run_body(team, omp_get_thread_num(), omp_get_num_threads());
}

int vscan__cpu_choose_threads(const vscan_ctx *ctx, int64_t worth) {
    int64_t threads = vscan__threads(ctx);
    if (threads > worth) threads = worth;
    if (threads > VSCAN__CPU_THREADS) threads = VSCAN__CPU_THREADS;
    return threads < 2 || omp_in_parallel() ? 1 : (int)threads;
}

void vscan__cpu_run_team(int threads, vscan__cpu_body *body, void *work) {
    struct vscan__cpu_team team = {.body = body, .work = work};
    atomic_init(&team.arrived, 0);
    atomic_init(&team.barriers, 0);
    hand_over();
    region(&team, threads);
    hand_over();
}

static void pause_or_yield(int *loads) {
    if (*loads == PATIENCE) {
        sched_yield();
        return;
    }
    ++*loads;
#if defined __SSE2__
    __builtin_ia32_pause();
#endif
}

void vscan__cpu_wait_for_team(struct vscan__cpu_team *team, int threads) {
    const unsigned int passed = atomic_load_explicit(&team->barriers, memory_order_relaxed);
    if (atomic_fetch_add_explicit(&team->arrived, 1, memory_order_acq_rel) == threads - 1) {
        /* the last to arrive has seen what all others did; who sees the new number sees that too */
        atomic_store_explicit(&team->arrived, 0, memory_order_relaxed);
        atomic_store_explicit(&team->barriers, passed + 1, memory_order_release);
        return;
    }
    for (int loads = 0; atomic_load_explicit(&team->barriers, memory_order_acquire) == passed;)
        pause_or_yield(&loads);
}

void vscan__cpu_await(atomic_uint_least64_t *word, uint64_t epoch) {
    for (int loads = 0; atomic_load_explicit(word, memory_order_acquire) != epoch;)
        pause_or_yield(&loads);
}
