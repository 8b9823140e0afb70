/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The clock. A sample is a number of calls, chosen so that it takes about plan->sample_us. The engines
 * alternate, a sample each, so that all of them see the same machine.
 *
 * Cold: a call's data have left the caches because calls go over sets that are together
 * larger than the caches; where there are not enough sets for that, and always on the host,
 * something else is read before every sample, and no sample uses a set twice. On the host it must
 * be always: an engine would find in the cache what another has just read, and would have to wait
 * until what a third one has left there to be written is written.
 */
#include "timing.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum {
    GRAPH_CALLS_AT_MOST = 256,
    CALLS_AT_MOST = 512,
    CALLS_AT_MOST_ON_HOST = 1 << 16, /* there is no queue that could fill */
    HOST_CALLS = 32,
    WAKING_CALLS = 2
};

double now_us(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

bool timing_call(struct runner *runner) {
    const int64_t set = runner->next;
    runner->next = set + 1 < runner->work->sets ? set + 1 : 0;
    return runner->engine->run(runner->work, set);
}

bool timing_calls(struct runner *runner) {
    for (int64_t k = 0; k < runner->calls; k++)
        if (!timing_call(runner)) return false;
    return true;
}

/* ---- Samples: microseconds a call ------------------------------------------------------------ */

/*
 * A sample is about calls in succession, whose threads are awake (what a single call takes is mode
 * latency), so calls that are not counted come first: the first call after a pause may do without threads
 * that sleep, and the second wakes them. After a parallel region the idle threads of GNU's OpenMP ask for
 * work for some 20 ms before they sleep, and would keep their processors from an engine that brings
 * threads of its own: for such an engine they are ended.
 */
static bool settle(struct runner *runner) {
    const int threads = runner->work->threads;
    if (threads > 1 && runner->engine->own_threads) host_end_openmp();
    if (runner->flush) host_flush(runner->flush, runner->engine->own_threads ? 1 : threads);
    const bool asleep = threads > 1 && (runner->engine->own_threads || !runner->flush);
    for (int call = 0; call < WAKING_CALLS && asleep; call++)
        if (!timing_call(runner)) return false;
    return true;
}

static bool sample_on_host(struct runner *runner, double *us) {
    if (!settle(runner)) return false;
    const double begin = now_us();
    if (!timing_calls(runner)) return false;
    *us = (now_us() - begin) / (double)runner->calls;
    return true;
}

static bool sample(struct runner *runner, double *us) {
    if (runner->engine->place == ON_HOST) return sample_on_host(runner, us);
    return device_sample(runner, us);
}

/* ---- Preparing one engine -------------------------------------------------------------------- */

/* How many calls make a sample, from the time of some first calls. */
static bool choose_calls(const struct timing_plan *plan, struct runner *runner) {
    const int64_t bytes = work_bytes(runner->work);
    const bool covered = runner->work->sets * bytes >= plan->cache_bytes;
    double us = 0;
    runner->mode = plan->mode == MODE_GRAPH ? MODE_STREAM : plan->mode;
    const bool on_host = runner->engine->place == ON_HOST;
    const bool one_suffices = bytes > (on_host ? 1 << 24 : 1 << 28); /* the clock is fine enough */
    runner->calls = one_suffices ? 1 : 4;
    if (!sample(runner, &us)) return false;
    const bool long_enough = on_host && one_suffices && us > plan->sample_us; /* to be one call */
    if (!long_enough && !sample(runner, &us)) return false;
    const double least = on_host ? 0.001 : 0.1; /* microseconds: what a call takes at the least */
    double wanted = plan->sample_us / (us > least ? us : least);
    if (plan->mode == MODE_GRAPH && us < 20) wanted *= 2; /* launches were part of the time */
    int64_t most = plan->mode == MODE_GRAPH     ? GRAPH_CALLS_AT_MOST
                   : plan->mode == MODE_HOST    ? HOST_CALLS
                   : plan->mode == MODE_LATENCY ? 64
                   : on_host                    ? CALLS_AT_MOST_ON_HOST
                                                : CALLS_AT_MOST;
    if (plan->calls_most > 0 && most > plan->calls_most) most = plan->calls_most;
    const int64_t sets = runner->work->sets;
    if (plan->cold && (on_host || !covered) && most > sets) most = sets;
    /* nor one that a call not counted has used */
    if (plan->cold && on_host && most > sets - WAKING_CALLS && sets > 2 * WAKING_CALLS)
        most = sets - WAKING_CALLS;
    const int64_t least_calls = on_host && one_suffices ? 1 : 2;
    runner->calls = wanted < (double)least_calls ? least_calls
                    : wanted > (double)most      ? most
                                                 : (int64_t)wanted;
    if (runner->calls > most) runner->calls = most;
    runner->mode = plan->mode;
    /* a graph has the sets that its calls use, and no others */
    const int64_t used = plan->mode == MODE_GRAPH && runner->calls < sets ? runner->calls : sets;
    const bool flushed = plan->cold && (on_host || used * bytes < plan->cache_bytes);
    runner->flush = flushed ? plan->cache_bytes : 0;
    return plan->mode != MODE_GRAPH || device_capture(runner);
}

/* ---- All engines ----------------------------------------------------------------------------- */

static int by_value(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median of what `reference` took over what the engine took in the same run. */
static double of_reference(const struct runner *runner, const struct runner *reference, int runs) {
    double ratios[RUNS_AT_MOST];
    for (int run = 0; run < runs; run++)
        ratios[run] = reference->samples[run] / runner->samples[run];
    qsort(ratios, (size_t)runs, sizeof ratios[0], by_value);
    return ratios[runs / 2];
}

static void summarise(struct runner *runner, int runs, struct timing *timing) {
    qsort(runner->samples, (size_t)runs, sizeof runner->samples[0], by_value);
    timing->median = runner->samples[runs / 2];
    timing->p10 = runner->samples[runs / 10];
    timing->p90 = runner->samples[runs * 9 / 10];
    timing->calls = runner->calls;
}

bool time_engines(const struct timing_plan *plan, const struct work *work,
                  const struct engine *const engines[], int count, int reference,
                  struct timing timings[]) {
    const int runs = plan->runs < RUNS_AT_MOST ? plan->runs : RUNS_AT_MOST;
    struct runner *runners = calloc((size_t)count, sizeof *runners);
    bool good = runners != NULL;
    for (int e = 0; good && e < count; e++) {
        runners[e].engine = engines[e];
        runners[e].work = work;
        good = choose_calls(plan, &runners[e]);
        if (engines[e]->place == ON_HOST) runners[e].next = 0; /* in a run all use the same set */
    }
    for (int run = -1; good && run < runs; run++) /* the first run warms up */
        for (int k = 0; good && k < count; k++) {
            /* on the host, no engine is always the first */
            const bool backward = run % 2 != 0 && engines[0]->place == ON_HOST;
            const int e = backward ? count - 1 - k : k;
            good = sample(&runners[e], &runners[e].samples[run < 0 ? 0 : run]);
        }
    for (int e = 0; good && e < count && reference >= 0; e++)
        timings[e].of_reference = of_reference(&runners[e], &runners[reference], runs);
    for (int e = 0; e < count && runners; e++) {
        if (good) summarise(&runners[e], runs, &timings[e]);
        if (engines[e]->place == ON_DEVICE) device_release(&runners[e]);
    }
    free(runners);
    return good;
}
