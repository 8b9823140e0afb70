/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The clock. A sample is a number of calls, chosen so that it takes about plan->sample_us; engines
 * take turns, a sample each, so that all of them see the same machine.
 *
 * Cold: a call's data have left the caches because calls take turns over sets that are together
 * larger than the caches; where there are not enough sets for that, something else is read before
 * every sample, and no sample uses a set twice.
 */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { RUNS_AT_MOST = 1000, GRAPH_CALLS_AT_MOST = 256, CALLS_AT_MOST = 512, HOST_CALLS = 32 };

/* What is known of one engine while it is being timed. */
struct runner {
    const struct engine *engine;
    const struct work *work;
    enum mode mode;
    int64_t calls; /* a sample */
    int64_t next;  /* set */
    int64_t flush; /* bytes to read before a sample, or 0 */
    cudaGraphExec_t graph;
    double samples[RUNS_AT_MOST];
};

static cudaEvent_t begin_event, end_event;

double now_us(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

static bool synchronize(void) {
    return cuda_ok(cudaStreamSynchronize(device_stream), "waiting");
}

static bool call(struct runner *runner) {
    const int64_t set = runner->next;
    runner->next = (set + 1) % runner->work->sets;
    return runner->engine->run(runner->work, set);
}

static bool calls(struct runner *runner) {
    for (int64_t k = 0; k < runner->calls; k++)
        if (!call(runner)) return false;
    return true;
}

/* ---- Samples: microseconds a call ------------------------------------------------------------ */

/* Between two events; what is between them, a graph or calls, is enqueued by work. */
static bool sample_events(struct runner *runner, double *us) {
    float ms = 0;
    if (runner->flush && !device_flush(runner->flush)) return false;
    /* Calls start with an idle device, so that none is enqueued before the clock runs. A graph is
       enqueued while the flush is still being done, so that its launch is not part of the time. */
    if (runner->mode == MODE_STREAM && !synchronize()) return false;
    if (!cuda_ok(cudaEventRecord(begin_event, device_stream), "recording an event")) return false;
    if (runner->mode == MODE_GRAPH) {
        if (!cuda_ok(cudaGraphLaunch(runner->graph, device_stream), "launching a graph"))
            return false;
    } else if (!calls(runner)) {
        return false;
    }
    if (!cuda_ok(cudaEventRecord(end_event, device_stream), "recording an event")) return false;
    if (!cuda_ok(cudaEventSynchronize(end_event), "waiting for calls")) return false;
    if (!cuda_ok(cudaEventElapsedTime(&ms, begin_event, end_event), "reading events")) return false;
    *us = 1e3 * (double)ms / (double)runner->calls;
    return true;
}

static bool sample_latency(struct runner *runner, double *us) {
    double sum = 0;
    if (runner->flush && !device_flush(runner->flush)) return false;
    if (!synchronize()) return false;
    for (int64_t k = 0; k < runner->calls; k++) {
        const double begin = now_us();
        if (!call(runner) || !synchronize()) return false;
        sum += now_us() - begin;
    }
    *us = sum / (double)runner->calls;
    return true;
}

/* Few enough calls that the queue never fills, and an idle device to begin with. */
static bool sample_host(struct runner *runner, double *us) {
    if (!synchronize()) return false;
    const double begin = now_us();
    if (!calls(runner)) return false;
    *us = (now_us() - begin) / (double)runner->calls;
    return synchronize();
}

static bool sample_on_host(struct runner *runner, double *us) {
    if (runner->flush) host_flush(runner->flush);
    const double begin = now_us();
    if (!calls(runner)) return false;
    *us = (now_us() - begin) / (double)runner->calls;
    return true;
}

static bool sample(struct runner *runner, double *us) {
    if (runner->engine->place == ON_HOST) return sample_on_host(runner, us);
    if (runner->mode == MODE_LATENCY) return sample_latency(runner, us);
    if (runner->mode == MODE_HOST) return sample_host(runner, us);
    return sample_events(runner, us);
}

/* ---- Preparing one engine -------------------------------------------------------------------- */

static bool capture(struct runner *runner) {
    cudaGraph_t graph = NULL;
    runner->next = 0; /* so that set 0, which is checked, is among those used */
    if (!cuda_ok(cudaStreamBeginCapture(device_stream, cudaStreamCaptureModeThreadLocal),
                 "beginning a capture"))
        return false;
    const bool good = calls(runner);
    if (!cuda_ok(cudaStreamEndCapture(device_stream, &graph), "ending a capture")) return false;
    const bool instantiated =
        good && cuda_ok(cudaGraphInstantiate(&runner->graph, graph, 0), "instantiating a graph");
    (void)cudaGraphDestroy(graph);
    if (!instantiated || !cuda_ok(cudaGraphUpload(runner->graph, device_stream), "uploading it"))
        return false;
    const bool checked = runner->engine->computes && !runner->work->in_place;
    if (checked && !device_prepare_checked_call(runner->work)) return false;
    if (!cuda_ok(cudaGraphLaunch(runner->graph, device_stream), "launching it") || !synchronize())
        return false;
    return !checked || device_check(runner->work, runner->engine->name);
}

/* How many calls make a sample, from a first few. */
static bool choose_calls(const struct timing_plan *plan, struct runner *runner) {
    const int64_t bytes = work_bytes(runner->work);
    const bool covered = runner->work->sets * bytes >= plan->cache_bytes;
    double us = 0;
    runner->mode = plan->mode == MODE_GRAPH ? MODE_STREAM : plan->mode;
    runner->calls = bytes > 1 << 28 ? 1 : 4;
    if (!sample(runner, &us) || !sample(runner, &us)) return false;
    double wanted = plan->sample_us / (us > 0.1 ? us : 0.1);
    if (plan->mode == MODE_GRAPH && us < 20) wanted *= 2; /* launches were part of the time */
    int64_t most = plan->mode == MODE_GRAPH     ? GRAPH_CALLS_AT_MOST
                   : plan->mode == MODE_HOST    ? HOST_CALLS
                   : plan->mode == MODE_LATENCY ? 64
                                                : CALLS_AT_MOST;
    const int64_t sets = runner->work->sets;
    if (plan->cold && !covered && most > sets) most = sets;
    runner->calls = wanted < 2 ? 2 : wanted > (double)most ? most : (int64_t)wanted;
    if (runner->calls > most) runner->calls = most;
    runner->mode = plan->mode;
    /* a graph has the sets that its calls use, and no others */
    const int64_t used = plan->mode == MODE_GRAPH && runner->calls < sets ? runner->calls : sets;
    runner->flush = plan->cold && used * bytes < plan->cache_bytes ? plan->cache_bytes : 0;
    return plan->mode != MODE_GRAPH || capture(runner);
}

/* ---- All engines ----------------------------------------------------------------------------- */

static int by_value(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static struct timing summary(struct runner *runner, int runs) {
    qsort(runner->samples, (size_t)runs, sizeof runner->samples[0], by_value);
    return (struct timing){.median = runner->samples[runs / 2],
                           .p10 = runner->samples[runs / 10],
                           .p90 = runner->samples[runs * 9 / 10],
                           .calls = runner->calls};
}

static bool make_events(const struct engine *const engines[], int count) {
    for (int e = 0; e < count && !begin_event; e++)
        if (engines[e]->place == ON_DEVICE)
            return cuda_ok(cudaEventCreate(&begin_event), "making an event") &&
                   cuda_ok(cudaEventCreate(&end_event), "making an event");
    return true;
}

bool time_engines(const struct timing_plan *plan, const struct work *work,
                  const struct engine *const engines[], int count, struct timing timings[]) {
    const int runs = plan->runs < RUNS_AT_MOST ? plan->runs : RUNS_AT_MOST;
    struct runner *runners = calloc((size_t)count, sizeof *runners);
    bool good = runners && make_events(engines, count);
    for (int e = 0; good && e < count; e++) {
        runners[e].engine = engines[e];
        runners[e].work = work;
        good = choose_calls(plan, &runners[e]);
    }
    for (int run = -1; good && run < runs; run++) /* the first one warms up */
        for (int e = 0; good && e < count; e++)
            good = sample(&runners[e], &runners[e].samples[run < 0 ? 0 : run]);
    for (int e = 0; e < count && runners; e++) {
        if (good) timings[e] = summary(&runners[e], runs);
        if (runners[e].graph) (void)cudaGraphExecDestroy(runners[e].graph);
    }
    free(runners);
    return good;
}
