/* SPDX-License-Identifier: Apache-2.0 */
#include "core/threads.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* 0: not known yet. Whoever asks first finds it out; two who do so at once find the same. */
static atomic_int quota, asked_for, tested, online;

/* A number of threads from the environment, or -1. Of OpenMP's list, one for each level of nesting, the
   first; anything else that is no number above 0 is ignored. */
static int read_number(const char *name) {
    const char *text = getenv(name);
    if (text == NULL) return -1;
    char *end;
    const long number = strtol(text, &end, 10);
    if (end == text || number < 1 || number > INT32_MAX) return -1;
    end += strspn(end, " \t");
    return *end == 0 || *end == ',' ? (int)number : -1;
}

static int once(atomic_int *number, int (*find)(void)) {
    int known = atomic_load_explicit(number, memory_order_relaxed);
    if (known == 0) {
        known = find();
        atomic_store_explicit(number, known, memory_order_relaxed);
    }
    return known;
}

static int find_tested(void) {
    return read_number("VSCAN_TEST_THREADS");
}

static int find_quota(void) {
    const int number = vscan__quota("");
    return number > 0 ? number : INT32_MAX;
}

static int find_online(void) {
    return (int)sysconf(_SC_NPROCESSORS_ONLN);
}

static int find_asked_for(void) {
    const int number = read_number("VSCAN_NUM_THREADS");
    return number > 0 ? number : read_number("OMP_NUM_THREADS");
}

bool vscan__threads_are_tested(void) {
    return once(&tested, find_tested) > 0;
}

int vscan__threads_asked_for(const vscan_ctx *ctx) {
    int number = ctx->threads;
    if (number == 0) number = once(&asked_for, find_asked_for);
    return number > 0 && number < VSCAN__CPU_THREADS ? number : VSCAN__CPU_THREADS;
}

int vscan__threads(const vscan_ctx *ctx) {
    const int number = vscan__threads_asked_for(ctx), processors = vscan__processors(0);
    return number < processors ? number : processors;
}

/* ---- Processors ------------------------------------------------------------------------------ */

#define MASK_LASTS (INT64_C(1000) * 1000) /* ns */

static _Thread_local struct {
    int64_t read_at; /* 0: it is read before it is used again */
    int processors;
    struct vscan__mask mask;
} own;

static int within_quota(int number) {
    const int for_tests = once(&tested, find_tested);
    if (for_tests > 0) return for_tests;
    const int most = once(&quota, find_quota);
    return number < most ? number : most;
}

int vscan__processors(int64_t now) {
    if (now == 0 || own.read_at == 0 || now - own.read_at >= MASK_LASTS) {
        own.processors = vscan__read_mask(&own.mask);
        own.read_at = now;
        if (own.processors > once(&online, find_online)) /* some C libraries go by the mask there */
            atomic_store_explicit(&online, own.processors, memory_order_relaxed);
    }
    return within_quota(own.processors);
}

int vscan__most_processors(void) {
    return within_quota(once(&online, find_online));
}

const struct vscan__mask *vscan__mask(void) {
    return &own.mask;
}

void vscan__forget_quota(void) {
    atomic_store_explicit(&quota, 0, memory_order_relaxed);
}

const char *const vscan__limit_names[VSCAN__LIMITS] = {"processors", "the affinity mask",
                                                       "the quota of the control group",
                                                       "VSCAN_NUM_THREADS", "OMP_NUM_THREADS"};

void vscan__find_limits(const char *root, struct vscan__limits *limits) {
    struct vscan__mask mask;
    limits->number[0] = sysconf(_SC_NPROCESSORS_ONLN);
    limits->number[1] = vscan__read_mask(&mask);
    limits->number[2] = vscan__quota(root);
    const int own = read_number("VSCAN_NUM_THREADS"), omp = read_number("OMP_NUM_THREADS");
    limits->number[3] = own > 0 ? own : 0;
    limits->number[4] = own > 0 || omp < 0 ? 0 : omp;
}

/* ---- Time ------------------------------------------------------------------------------------ */

static atomic_int_least64_t last_end;

int64_t vscan__now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

int64_t vscan__last_end(void) {
    return atomic_load_explicit(&last_end, memory_order_relaxed);
}

void vscan__note_time(int64_t now) {
    atomic_store_explicit(&last_end, now, memory_order_relaxed);
}

void vscan__note_end(vscan_ctx *ctx) {
    ctx->timed = false;
    vscan__note_time(vscan__now());
}
