/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests share whose ranks are threads: threads, what each has to say, and all that a transport does. */
#ifndef RANKS_THREADS_H
#define RANKS_THREADS_H

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "ranks/internal.h"
#include "verbs.h"

enum { SHORT = 200, LONG = 600000 }; /* ms: of a rank that does not come, and of those that do */

/* What the threads of a group share. */
struct run {
    pthread_barrier_t all;
    bool says[MOST_RANKS];
    vscan_ctx *ctxs[MOST_RANKS];
    vscan_ranks *groups[MOST_RANKS];
    int64_t n, passed[MOST_RANKS], failed[MOST_RANKS];
    uint64_t seed;
    vscan_status status[MOST_RANKS];
    char sentence[MOST_RANKS][512];
};
extern struct run run;

/* Runs the body on a thread for each rank, with its context and group. */
void on_all_ranks(int count, void (*body)(void));

/* What a call has given on this rank, for the main thread; and that it is TRANSPORT, with those words. */
void note(vscan_status status);
void expect(int r, const char *words);

/* A scan of one element a rank. */
vscan_status scan_one(void);

/* Bodies: run_verbs with run.n elements and run.seed, and every function of a group's transport. */
void verbs_of_rank(void);
void transport_of_rank(void);

/*
 * verbs_of_rank with lengths drawn from a seed, on groups of 1 to `most` ranks, for so many seconds: the exit status. The
 * program's arguments: MODE SECONDS [SEED].
 */
int run_at_random(char **argv, int most, void (*open)(int count, int64_t timeout),
                  void (*close)(int count));

#endif
