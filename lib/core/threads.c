/* SPDX-License-Identifier: Apache-2.0 */
#include "core/threads.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* 0: not known yet. Whoever asks first finds it out; two who do so at once find the same. */
static atomic_int processors, asked_for, tested;

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

static int find_processors(void) {
    const int number = once(&tested, find_tested);
    return number > 0 ? number : vscan__count_processors("");
}

static int find_asked_for(void) {
    const int number = read_number("VSCAN_NUM_THREADS");
    return number > 0 ? number : read_number("OMP_NUM_THREADS");
}

bool vscan__threads_are_tested(void) {
    return once(&tested, find_tested) > 0;
}

int vscan__processors(void) {
    return once(&processors, find_processors);
}

int vscan__threads(const vscan_ctx *ctx) {
    if (ctx->threads > 0) return ctx->threads;
    const int number = once(&asked_for, find_asked_for);
    return number > 0 ? number : vscan__processors();
}

void vscan__forget_processors(void) {
    atomic_store_explicit(&processors, 0, memory_order_relaxed);
}

const char *const vscan__limit_names[VSCAN__LIMITS] = {
    "processors", "the affinity mask", "the quota of the control group", "VSCAN_NUM_THREADS",
    "OMP_NUM_THREADS"};

void vscan__find_limits(const char *root, struct vscan__limits *limits) {
    vscan__count_each(root, limits->number);
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
