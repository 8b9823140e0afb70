/* SPDX-License-Identifier: Apache-2.0 */
/* How ranks reach each other: a table of functions, which is chosen when a vscan_ranks is made. */
#ifndef VSCAN_RANKS_TRANSPORT_H
#define VSCAN_RANKS_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vscan_ranks.h"

typedef struct vscan__ranks vscan__ranks;

/* What of each rank's longs an all_reduce gives: the lowest, their sum, or the sum of the ranks before. */
enum vscan__ranks_reduction { REDUCE_MIN, REDUCE_SUM, REDUCE_SUM_BEFORE };

/* Where elements lie that are sent, or received. */
struct vscan__ranks_place {
    char *at;
    bool on_gpu;
};

/* Elements of one memory for each rank, and from each into another memory: all of them, in the order of the ranks. */
struct vscan__ranks_run {
    struct vscan__ranks_place from, to;
    const int64_t *send_begin, *receive_begin; /* elements, size + 1 numbers each */
    int64_t size;                              /* bytes of an element */
};
enum { MOST_RUNS = 2 };

/*
 * Collective functions, those from all_gather to all_to_all, move words of the host. A failure there is known to the
 * ranks that see it: so it sets broken, as there is nothing left to tell it with. What fails elsewhere fails on this rank
 * alone, which goes on with the call and then tells all ranks (agree.c).
 */
struct vscan__ranks_transport {
    /* Whether ranks can be reached, as far as this rank knows. */
    vscan_status (*check)(vscan__ranks *ranks);
    /* Leaves the other ranks, for ever. Nothing happens where they cannot be reached. */
    vscan_status (*end)(vscan__ranks *ranks);
    /* Whether exchange sends from and receives to a GPU's memory. */
    bool (*takes_gpu_memory)(void);

    /* So many bytes from each rank to all, in the order of the ranks. */
    vscan_status (*all_gather)(vscan__ranks *ranks, const void *own, int bytes, void *all);
    /* counts[r] words from rank r to all, where they are all[begins[r]] and further: on rank r they are there before. */
    vscan_status (*all_gatherv)(vscan__ranks *ranks, uint64_t *all, const int *counts,
                                const int *begins);
    vscan_status (*all_reduce)(vscan__ranks *ranks, enum vscan__ranks_reduction how,
                               const int64_t *own, int64_t *all, int n);
    /* own[r] of this rank becomes all[rank] on rank r. */
    vscan_status (*all_to_all)(vscan__ranks *ranks, const int64_t *own, int64_t *all);

    /* A state of few bytes for one rank, and one from there; message: 0 or 1, which of a call's. send waits for nobody. */
    vscan_status (*send)(vscan__ranks *ranks, int to, int message, const void *state, int bytes);
    vscan_status (*receive)(vscan__ranks *ranks, int from, int message, void *state, int bytes);
    /* Ends what was sent by a call. */
    vscan_status (*wait_sent)(vscan__ranks *ranks);
    /* The exchange of move.h, but for what stays on this rank: one run or more, which all ranks have alike, at once. */
    vscan_status (*exchange)(vscan__ranks *ranks, const struct vscan__ranks_run *runs, int n);
};

#endif
