/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When calls use the pool, by numbers alone: times are those of vscan__now, in ns.
 *
 * Calls in quick succession find the workers awake, and use all that they are worth. After a pause the workers
 * sleep. The first comes some 10 us after it is woken, on a virtual machine 100 us, so that a call of less than about
 * 0.2 ms does without them; a longer one wakes as many as have some 40 us of work each. On a busy machine a worker that
 * has taken a part may lose its processor while the caller waits. Where that made a call slower than one thread would
 * have been, calls do without the pool for a time that is in proportion to what was lost.
 */
#ifndef VSCAN_CPU_POLICY_H
#define VSCAN_CPU_POLICY_H

#include <stdbool.h>
#include <stdint.h>

#define VSCAN__CPU_SUCCESSION (INT64_C(200) * 1000) /* between calls in quick succession at most */
enum {
    VSCAN__CPU_AWAKEN = 4, /* worth of a thread that may sleep: so many times 10 us */
    VSCAN__CPU_LEAST = 24  /* of a call that wakes threads */
};
#define VSCAN__CPU_UNHELPED INT64_C(1000000) /* calls in a row without help: a loss */
enum { VSCAN__CPU_LOSS_TIMES = 8 }; /* so many times what was lost is the time without the pool */

/*
 * No more counts as lost. A thread that another one has displaced gets a processor again after a few time
 * slices of some ms. Who waits longer was stopped: by a signal, a debugger, a container that is frozen. The
 * caller would have been stopped alone too, and what comes next has nothing to do with it. So 0.2 s is the
 * longest time without the pool.
 */
#define VSCAN__CPU_MOST_LOST (INT64_C(25) * 1000 * 1000)

/* Threads for a call that is worth so many where all are awake; 1: it does without the pool. */
static inline int64_t vscan__cpu_helpful(int64_t now, int64_t alone_until, int64_t last_end,
                                         int64_t worth) {
    if (now < alone_until) return 1;
    if (now - last_end <= VSCAN__CPU_SUCCESSION) return worth;
    return worth < VSCAN__CPU_LEAST ? 1 : worth / VSCAN__CPU_AWAKEN;
}

/* A call that has used the pool. */
struct vscan__cpu_course {
    int64_t begin, end;
    int64_t slept;  /* the caller, of that time */
    int own, parts; /* run by the caller, and all */
};

/* Until when calls do without the pool after this one; 0: they need not. unhelped: how long the calls have
   taken since the last one in which a worker came. Alone, a call would have taken about as long for each
   of the others' parts as for each of the caller's. */
static inline int64_t vscan__cpu_judge(const struct vscan__cpu_course *call, int64_t *unhelped) {
    const int64_t worked = call->end - call->begin - call->slept;
    const int others = call->parts - call->own;
    int64_t lost = call->slept * call->own > worked * others ? call->slept : 0;
    /* nobody came: two rounds where one would have done may be a quarter of the time */
    *unhelped = others == 0 ? *unhelped + worked : 0;
    if (*unhelped > VSCAN__CPU_UNHELPED) {
        lost = *unhelped / 4;
        *unhelped = 0;
    }
    if (lost > VSCAN__CPU_MOST_LOST) lost = VSCAN__CPU_MOST_LOST;
    return lost > 0 ? call->end + VSCAN__CPU_LOSS_TIMES * lost : 0;
}

#endif
