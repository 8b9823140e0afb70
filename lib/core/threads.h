/* SPDX-License-Identifier: Apache-2.0 */
/* How many threads: what the machine gives, what the environment asks for, what a context may use. */
#ifndef VSCAN_THREADS_H
#define VSCAN_THREADS_H

#include <sched.h>

#include "core/internal.h"

enum { VSCAN__CPU_THREADS = 256 }; /* of a call at most, the caller's own among them */

/* The number that is asked for: as the context is set, else as VSCAN_NUM_THREADS or OMP_NUM_THREADS say,
   else the most. No more than that. */
int vscan__threads_asked_for(const vscan_ctx *ctx);

/* The number that a call of the calling thread may have: no more than there are processors for it. */
int vscan__threads(const vscan_ctx *ctx);

/* The processors that the calling thread may keep busy, by its affinity mask and the quotas of control
   groups, at least 1. To ask for the mask takes as long as many a short call. So one that was found less
   than a millisecond before now (vscan__now) will do; 0: it is asked for. Quotas are read once. */
int vscan__processors(int64_t now);

/* No thread of the process has had more, and none is expected to: for memory that is set aside. */
int vscan__most_processors(void);

/* The mask that the calling thread's last vscan__processors went by; empty where there is none. */
struct vscan__mask {
    cpu_set_t sets[8]; /* 8192 processors, as many as Linux can be built for on x86-64 */
};

const struct vscan__mask *vscan__mask(void);

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
void vscan__forget_quota(void);

/* ---- processors.c ---------------------------------------------------------------------------- */

/* By the quotas of control groups (v1 and v2), or 0 where there is none. root: what stands before /proc
   and /sys; empty, but for tests. */
int vscan__quota(const char *root);

/* By the calling thread's affinity mask, at least 1. */
int vscan__read_mask(struct vscan__mask *mask);

/* ---- All limits, for vscan_describe ------------------------------------------------------------- */

/* What limits threads, in this order: the processors that run, those of the mask, the least quota; then what
   the environment asks for, of which the second counts where the first is not there. 0: no limit. */
enum { VSCAN__LIMITS = 5 };
struct vscan__limits {
    long number[VSCAN__LIMITS];
};
extern const char *const vscan__limit_names[VSCAN__LIMITS];
void vscan__find_limits(const char *root, struct vscan__limits *limits);

#endif
