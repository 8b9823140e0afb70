/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many scans of many lengths, enqueued without a wait between them and checked afterwards.
 *
 * An expected scan is one long vector and its scan by the CPU backend. The scan of its first m elements
 * (backward: of its last m) must give the first m of those results (the last m), for every m. The runs
 * of a queue are checked when a number of them is done: by the sum modulo 2^32 of the 32-bit words of
 * their results, which the library computes on the device. If one such word is wrong, the sum is wrong.
 *
 * Nothing here ends a test, so that threads may use it: a queue counts its failures and keeps the
 * message of the first one.
 */
#ifndef QUEUED_SCANS_H
#define QUEUED_SCANS_H

#include "harness.h"
#include "inputs.h"

struct expected_scan {
    /* what the caller says */
    vscan_op op;
    vscan_type type;
    int64_t n;
    vscan_type flag_type;    /* 0: no segments; backward not bits, of which views begin at words */
    enum inputs_flags flags; /* the pattern */
    bool exclusive, backward;
    /* what expected_scan_make adds, on the host */
    void *in, *out, *encoded;
    uint32_t *sums; /* n + 1: [m]: of the words of the first (backward: last) m results */
};

void expected_scan_make(struct expected_scan *w);
void expected_scan_free(struct expected_scan *w);

enum {
    SCAN_QUEUE_SHIFTS = 4, /* inputs and outputs miss their alignment by 0 .. 3 elements */
    SCAN_QUEUE_RUNS = 64,  /* that are enqueued before they are checked */
    SCAN_QUEUE_VIEWS = 6   /* of a run */
};

/* How a run is done. Its results must not depend on it. */
struct scan_variant {
    bool reduce; /* the reduction that gives the total; for inclusive scans without segments */
    bool in_place;
    int shift_in, shift_out;
};
struct scan_variant scan_variant_draw(const struct expected_scan *w, struct inputs_random *random);

/* An expected scan's vectors in one context, and the runs that are not checked yet. */
struct scan_queue {
    const struct expected_scan *w;
    vscan_ctx *ctx;
    vscan_buffer *in[SCAN_QUEUE_SHIFTS], *out, *words, *flags;
    vscan_buffer *sums, *totals; /* one element a run */
    struct {
        int64_t m;
        struct scan_variant variant;
        vscan_buffer *views[SCAN_QUEUE_VIEWS];
    } runs[SCAN_QUEUE_RUNS];
    int pending;
    int64_t done;
    int failures;
    char first[400];
};

void scan_queue_open(struct scan_queue *r, const struct expected_scan *w, vscan_ctx *ctx);

/* Enqueues a run on m elements, 1 .. n; checks those before it when the queue is full. */
void scan_queue_add(struct scan_queue *r, int64_t m, struct scan_variant variant);

/* Waits for what has been enqueued, and checks it. */
void scan_queue_check(struct scan_queue *r);

/* Enqueues one run into buffers of the caller's alone, so that it can be captured: scans in to out
   and adds the sum of its words to *sum, a one-element int buffer. */
void scan_queue_capture(struct scan_queue *r, int64_t m, vscan_buffer *sum);

/* Releases the queue after checking what is left; returns its failures, the first of them printed. */
int scan_queue_close(struct scan_queue *r);

#endif
