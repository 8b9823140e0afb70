/* SPDX-License-Identifier: Apache-2.0 */
/* What the clock on the host (timing.c) and the one on the device (timing_cuda.c) share. */
#ifndef BENCH_TIMING_H
#define BENCH_TIMING_H

#include "bench.h"

enum { RUNS_AT_MOST = 1000 };

/* What is known of one engine while it is being timed. */
struct runner {
    const struct engine *engine;
    const struct work *work;
    enum mode mode;
    int64_t calls; /* a sample */
    int64_t next;  /* set */
    int64_t flush; /* bytes to read before a sample, or 0 */
    void *graph;   /* a cudaGraphExec_t */
    double samples[RUNS_AT_MOST];
};

/* One call, on the next set; a sample's calls. */
bool timing_call(struct runner *runner);
bool timing_calls(struct runner *runner);

/* ---- timing_cuda.c; device_absent.c ---------------------------------------------------------- */

bool device_sample(struct runner *runner, double *us); /* microseconds a call */
bool device_capture(struct runner *runner);            /* the calls of a sample, into a graph */
void device_release(struct runner *runner);

#endif
