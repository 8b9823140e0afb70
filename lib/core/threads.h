/* SPDX-License-Identifier: Apache-2.0 */
/* How many threads: what the machine gives, what the environment asks for, what a context may use. */
#ifndef VSCAN_THREADS_H
#define VSCAN_THREADS_H

#include "core/internal.h"

/* The threads that a context's calls on the CPU may use at most: as set, else as VSCAN_NUM_THREADS or
   OMP_NUM_THREADS say, else as many as there are processors. */
int vscan__threads(const vscan_ctx *ctx);

/* The processors that the process may keep busy, found out by the first call that asks. */
int vscan__processors(void);

/* Whether VSCAN_TEST_THREADS is set, for the tests alone: so many threads are used whatever the machine
   gives, and whether they pay or not. */
bool vscan__threads_are_tested(void);

/*
 * When the last call that was worth several threads has ended, whether it had them or not, by
 * vscan__now, in ns: it shows whether such calls come in quick succession. Such a call sets ctx->timed,
 * and notes its end when it leaves.
 */
int64_t vscan__now(void);
int64_t vscan__last_end(void);
void vscan__note_end(vscan_ctx *ctx);
void vscan__note_time(int64_t now); /* inside a call that goes on: as if one had ended */

/* Before the first call in a forked child. */
void vscan__forget_processors(void);

/* ---- processors.c ---------------------------------------------------------------------------- */

/* By the calling thread's affinity mask and the quotas of control groups (v1 and v2), at least 1. root:
   what stands before /proc and /sys; empty, but for tests. */
int vscan__count_processors(const char *root);

/* The processors that run, those of the mask, and the least quota, 0 where there is none. */
void vscan__count_each(const char *root, long numbers[3]);

/* What limits threads, in this order: the processors that run, those of the mask, the least quota; then what
   the environment asks for, of which the second counts where the first is not there. 0: no limit. */
enum { VSCAN__LIMITS = 5 };
struct vscan__limits {
    long number[VSCAN__LIMITS];
};
extern const char *const vscan__limit_names[VSCAN__LIMITS];
void vscan__find_limits(const char *root, struct vscan__limits *limits);

#endif
