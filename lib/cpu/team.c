/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads of the CPU backend: an OpenMP team, and a barrier of our own for it.
 *
 * The barrier gives the processor away after a short while: the one of libgomp goes on asking for
 * milliseconds, which is ruinous, round after round, where other programs keep a processor busy.
 *
 * Every hand-over of memory between threads goes through C11 atomics, the start and the end of a
 * team too, where OpenMP orders everything already: ThreadSanitizer cannot see into an
 * uninstrumented libgomp, and so it can follow all the same and finds the races that are real. Only
 * the compiler's own hand-over of the arguments to the region stays out of its sight; the function
 * that holds the region is therefore not instrumented, and does nothing else.
 */
#include <omp.h>
#include <sched.h>
#include <stdatomic.h>

#include "cpu/cpu.h"

enum { PATIENCE = 1000 }; /* looks before a thread yields: some 20 to 50 us */

struct vscan__cpu_team {
    vscan__cpu_body *body;
    void *work;
    atomic_int arrived; /* at the barrier */
    atomic_uint meetings;
};

/* What the start and the end of teams are ordered by. One for all teams, in static memory: on a
   stack ThreadSanitizer would still remember what lay there before. */
static atomic_uint order;

/* A release and an acquire: all that was done before, by whoever came here before, is seen after.
 */
static void hand_over(void) {
    atomic_fetch_add_explicit(&order, 1, memory_order_acq_rel);
}

static __attribute__((noinline)) void member(struct vscan__cpu_team *team, int thread,
                                             int threads) {
    hand_over();
    team->body(team, team->work, thread, threads);
    hand_over();
}

static __attribute__((noinline, no_sanitize("thread"))) void region(struct vscan__cpu_team *team,
                                                                    int threads) {
#pragma omp parallel num_threads(threads) default(none) shared(team)
    member(team, omp_get_thread_num(), omp_get_num_threads());
}

void vscan__cpu_together(int threads, vscan__cpu_body *body, void *work) {
    struct vscan__cpu_team team = {.body = body, .work = work};
    atomic_init(&team.arrived, 0);
    atomic_init(&team.meetings, 0);
    hand_over();
    region(&team, threads);
    hand_over();
}

void vscan__cpu_in_threads(vscan_ctx *ctx, int64_t threads, vscan__cpu_body *body, void *work) {
    if (threads >= 2) {
        const int64_t most = ctx->threads > 0 ? ctx->threads : omp_get_max_threads();
        if (threads > most) threads = most;
        if (threads > VSCAN__CPU_THREADS) threads = VSCAN__CPU_THREADS;
    }
    if (threads < 2 || omp_in_parallel())
        body(NULL, work, 0, 1);
    else
        vscan__cpu_together((int)threads, body, work);
}

static void look_again(int *looks) {
    if (*looks == PATIENCE) {
        sched_yield();
        return;
    }
    ++*looks;
#if defined __SSE2__
    __builtin_ia32_pause();
#endif
}

void vscan__cpu_meet(struct vscan__cpu_team *team, int threads) {
    const unsigned int meeting = atomic_load_explicit(&team->meetings, memory_order_relaxed);
    if (atomic_fetch_add_explicit(&team->arrived, 1, memory_order_acq_rel) == threads - 1) {
        /* the last: it has seen what all others did, and who sees the new number sees that too */
        atomic_store_explicit(&team->arrived, 0, memory_order_relaxed);
        atomic_store_explicit(&team->meetings, meeting + 1, memory_order_release);
        return;
    }
    for (int looks = 0; atomic_load_explicit(&team->meetings, memory_order_acquire) == meeting;)
        look_again(&looks);
}

void vscan__cpu_await(atomic_uint_least64_t *word, uint64_t number) {
    for (int looks = 0; atomic_load_explicit(word, memory_order_acquire) != number;)
        look_again(&looks);
}
