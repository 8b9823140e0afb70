/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads of the CPU backend: an OpenMP team in which every memory access that crosses threads is
 * ordered by C11 atomics as well.
 *
 * The atomics order nothing that OpenMP does not order already. They are there for ThreadSanitizer,
 * which cannot see into an uninstrumented libgomp: with them it follows every hand-over, and real
 * races in the backend are found without a suppression. Only the compiler's own hand-over of the
 * arguments to the region stays out of its sight; the function that holds the region is therefore
 * not instrumented and does nothing else.
 */
#include <omp.h>
#include <stdatomic.h>

#include "cpu.h"

struct vscan__cpu_team {
    vscan__cpu_body *body;
    void *work;
};

/* One for all teams: static memory, since on a stack or a heap ThreadSanitizer would still remember
   what lay there before. */
static atomic_uint order;

/* A release and an acquire by every thread: all that was done before is seen after. */
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
    hand_over();
    region(&team, threads);
    hand_over();
}

void vscan__cpu_meet(struct vscan__cpu_team *team) {
    (void)team;
    hand_over();
#pragma omp barrier
    hand_over();
}
