/* SPDX-License-Identifier: Apache-2.0 */
/* Every operation of libvscan_ranks on random vectors in uneven parts, against one call on the whole vector. */
#ifndef RANKS_VERBS_H
#define RANKS_VERBS_H

#include <stdbool.h>
#include <stdint.h>

#include "vscan_ranks.h"

enum { MOST_RANKS = 63 };

/* Of this rank, which is a thread or a process: its context, one of the CPU, and the group. */
extern _Thread_local int rank, ranks;
extern _Thread_local vscan_ctx *ctx, *host;
extern _Thread_local vscan_ranks *group;

/* Comparisons on all ranks. */
extern _Thread_local int64_t passed, failed;

/* VSCAN_OK, or the end of the program. */
#define CHECK(call)                                                                                \
    do {                                                                                           \
        const vscan_status status = (call);                                                        \
        if (status != VSCAN_OK) stop(status, #call);                                               \
    } while (0)

/* What whoever uses this has: the end of the program, and whether all ranks say so. */
void stop(vscan_status status, const char *call);
bool all_say(bool yes);

/* All of them, with vectors of so many elements. */
void run_verbs(int64_t n, uint64_t seed);

#endif
