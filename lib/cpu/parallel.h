/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one way to run work in parallel on the CPU. Work is cut into parts, and a body is run once for
 * each part, by the calling thread and by those threads of the pool that come in time. Results never
 * depend on which thread runs a part, or when: the caller runs what nobody else has taken up, in the
 * last case everything. Where a part needs what others have found, they are run in one round, and the
 * parts that need it in the next. Nothing else in lib/cpu knows how threads are made.
 */
#ifndef VSCAN_CPU_PARALLEL_H
#define VSCAN_CPU_PARALLEL_H

#include <stdatomic.h>

#include "core/internal.h"
#include "core/threads.h" /* VSCAN__CPU_THREADS: parts of a call at most */

/* A call worth so many threads takes a millisecond alone, or longer. */
enum { VSCAN__CPU_LONG = 128 };

typedef void vscan__cpu_body(void *work, int part, int parts);

/* What the two below do where there are several threads. A small call finds out inline that it is
   worth only one. */
int vscan__cpu_choose_threads(vscan_ctx *ctx, int64_t worth, bool is_long);
void vscan__cpu_run_parts(int parts, vscan__cpu_body *body, void *work);

/* The threads for a call that is worth so many: no more than the context may use, and 1 where the pool
   is busy, or would not make the call faster. A thread is worth about 10 us of work. */
static inline int vscan__cpu_threads(vscan_ctx *ctx, int64_t worth) {
    return worth < 2 ? 1 : vscan__cpu_choose_threads(ctx, worth, worth >= VSCAN__CPU_LONG);
}

/* Runs all parts, and returns when they are done. */
static inline void vscan__cpu_parallel(int parts, vscan__cpu_body *body, void *work) {
    if (parts == 1)
        body(work, 0, 1);
    else
        vscan__cpu_run_parts(parts, body, work);
}

/*
 * Between parts that may run at the same time. await waits until the word holds this epoch, and its
 * thread then sees what the one that published it wrote before. Only what a part that has begun is sure
 * to publish may be awaited.
 */
void vscan__cpu_publish(atomic_uint_least64_t *word, uint64_t epoch);
void vscan__cpu_await(atomic_uint_least64_t *word, uint64_t epoch);

#endif
