/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many runs of many lengths without a wait between them. A witness is one long vector and its scan
 * by the CPU backend; the scan of its first m elements (backward: of its last m) must give the first
 * m of those results (the last m), for every m. Runs are judged when a number of them is done, by
 * the sum modulo 2^32 of the 32-bit words of their results, which the library adds up on the device:
 * it differs for certain where one word is wrong.
 *
 * Nothing here ends a test, so that threads may use it: a runner counts its failures and keeps the
 * first one's words.
 */
#ifndef WITNESS_H
#define WITNESS_H

#include "harness.h"
#include "inputs.h"

struct witness {
    /* what the caller says */
    vscan_op op;
    vscan_type type;
    int64_t n;
    vscan_type flag_type;    /* 0: not segmented; no bits backward, whose views begin at words */
    enum inputs_flags flags; /* the pattern */
    bool exclusive, backward;
    /* what witness_make adds, on the host */
    void *in, *out, *encoded;
    uint32_t *sums; /* n + 1: of the words of the first (backward: last) so many results */
};

void witness_make(struct witness *w);
void witness_free(struct witness *w);

enum {
    WITNESS_SHIFTS = 4, /* inputs and outputs miss their alignment by 0 .. 3 elements */
    WITNESS_RUNS = 64,  /* that are enqueued before they are judged */
    WITNESS_VIEWS = 6   /* of a run */
};

/* How a run is done; none of it may show in its results. */
struct witness_manner {
    bool reduce; /* the reduction that gives the total; for inclusive scans without segments */
    bool in_place;
    int shift_in, shift_out;
};
struct witness_manner witness_draw(const struct witness *w, struct inputs_random *random);

/* A witness's vectors in one context. */
struct witness_runner {
    const struct witness *w;
    vscan_ctx *ctx;
    vscan_buffer *in[WITNESS_SHIFTS], *out, *words, *flags;
    vscan_buffer *sums, *totals; /* one element a run that is not judged yet */
    struct {
        int64_t m;
        struct witness_manner manner;
        vscan_buffer *views[WITNESS_VIEWS];
    } runs[WITNESS_RUNS];
    int pending;
    int64_t done;
    int failures;
    char first[400];
};

void witness_open(struct witness_runner *r, const struct witness *w, vscan_ctx *ctx);

/* Enqueues a run on m elements, 1 .. n; judges those before it when there is room for no more. */
void witness_run(struct witness_runner *r, int64_t m, struct witness_manner manner);

/* Waits, and judges what has been enqueued. */
void witness_judge(struct witness_runner *r);

/* Enqueues one run into buffers of the caller's alone, so that it can be captured: scans in to out
   and adds the sum of its words to *sum, a one-element int buffer. */
void witness_enqueue(struct witness_runner *r, int64_t m, vscan_buffer *sum);

/* Releases the runner after judging what is left; returns its failures, the first of them printed. */
int witness_close(struct witness_runner *r);

#endif
