/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one way to run work in parallel on the CPU: a body is run by every thread of a team, which can
 * wait for one another. Nothing else in lib/cpu knows how threads are made.
 */
#ifndef VSCAN_CPU_PARALLEL_H
#define VSCAN_CPU_PARALLEL_H

#include <stdatomic.h>

#include "core/internal.h"

enum { VSCAN__CPU_THREADS = 256 }; /* of a team at most */

struct vscan__cpu_team;

typedef void vscan__cpu_body(struct vscan__cpu_team *team, void *work, int thread, int threads);

/* What the three below do where there are several threads. A small call finds out inline that it is
   worth only one. */
int vscan__cpu_choose_threads(const vscan_ctx *ctx, int64_t worth);
void vscan__cpu_run_team(int threads, vscan__cpu_body *body, void *work);
void vscan__cpu_wait_for_team(struct vscan__cpu_team *team, int threads);

/* The threads for a call that is worth so many: no more than the context may use; 1 inside a parallel
   region of the caller. */
static inline int vscan__cpu_threads(const vscan_ctx *ctx, int64_t worth) {
    return worth < 2 ? 1 : vscan__cpu_choose_threads(ctx, worth);
}

/* Runs body in up to `threads` threads, this one among them, and waits for all of them. 1: calls it
   here, with no team. */
static inline void vscan__cpu_parallel(int threads, vscan__cpu_body *body, void *work) {
    if (threads == 1)
        body(NULL, work, 0, 1);
    else
        vscan__cpu_run_team(threads, body, work);
}

/* Waits until all threads of the team are here; all then see what any of them wrote before. */
static inline void vscan__cpu_barrier(struct vscan__cpu_team *team, int threads) {
    if (threads > 1) vscan__cpu_wait_for_team(team, threads);
}

/* Waits until another thread has stored this epoch; this one then sees what it wrote before. */
void vscan__cpu_await(atomic_uint_least64_t *word, uint64_t epoch);

#endif
