/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The transport between threads of one process, a thread a rank. In a step that all ranks make, each one posts where its
 * own words or elements lie, and meets the others; it takes what it needs from where that lies, and meets them once more,
 * so that no rank goes on to change what another still reads. A rank that does not come is missed at the first of these
 * meetings, and then no rank reads anything; a rank that has come is always there for the second.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "internal.h"

/* Where a rank's words lie in a step, or its elements. */
struct posted {
    const void *own;
    const struct vscan__ranks_run *runs;
    int32_t device; /* of these */
};

/* A state for another rank; meetings: how many there were before it was sent, 0: it is none. */
struct state {
    int to;
    uint64_t meetings;
    unsigned char bytes[VSCAN_CARRY_BYTES];
};

/* What all ranks of a group share. */
struct group {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    int size, members;  /* ranks, and those that have not left */
    int64_t timeout;    /* ms */
    int arrived;        /* at the meeting that is next */
    atomic_ullong held; /* meetings that all have come to */
    atomic_bool failed; /* there will be no other */
    char why[SENTENCE / 2];
    struct of_one {
        vscan_ranks *handle;
        unsigned long long came; /* to so many meetings */
        struct posted posted;
        struct state states[2];
    } ranks[];
};

/* What is behind a handle. */
struct of_threads {
    vscan__ranks shared;
    struct group *group;
    unsigned long long meetings; /* that this rank has been to */
};

static struct of_threads *of(vscan__ranks *ranks) {
    return (struct of_threads *)ranks;
}

static struct of_one *own_of(struct of_threads *m) {
    return m->group->ranks + m->shared.rank;
}

/* ---- Waiting --------------------------------------------------------------------------------- */

/* A thread that is cancelled must not keep the mutex. */
static int lock(struct group *group) {
    int before;
    (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    (void)pthread_mutex_lock(&group->mutex);
    return before;
}

static void unlock(struct group *group, int before) {
    (void)pthread_mutex_unlock(&group->mutex);
    (void)pthread_setcancelstate(before, &before);
}

/* What this rank says of a group that has failed. */
static vscan_status say_failed(struct of_threads *m) {
    m->shared.broken = true;
    return vscan__ranks_fail(&m->shared, (vscan_status)VSCAN_RANKS_ERROR_TRANSPORT, "%s",
                             m->group->why);
}

/* When a wait that begins now ends. */
static struct timespec end_of_wait(const struct group *group) {
    enum { MS = 1000, NS = 1000000 };
    struct timespec end;
    (void)clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec += group->timeout / MS;
    end.tv_nsec += group->timeout % MS * NS;
    if (end.tv_nsec >= MS * (long)NS) end.tv_nsec -= MS * (long)NS, end.tv_sec++;
    return end;
}

/* All waiting ranks end, with the sentence. Under the mutex. */
static void fail(struct group *group, int rank, const char *words) {
    (void)snprintf(group->why, sizeof group->why, "rank %d %s", rank, words);
    group->failed = true;
    (void)pthread_cond_broadcast(&group->changed);
}

/* A rank that has not come for so long. */
static void miss(struct group *group, int rank) {
    char words[80];
    (void)snprintf(words, sizeof words, "has not come within %lld ms", (long long)group->timeout);
    fail(group, rank, words);
}

/* A meeting takes a microsecond or less where all are about to come; a thread that sleeps needs many more to wake up. */
static void look_for_a_while(struct group *group, unsigned long long meeting) {
    enum { LOOKS = 1000, YIELDS = 500 }; /* the latter let others work where processors are few */
    for (int i = 0; i < LOOKS + YIELDS && group->held < meeting && !group->failed; i++)
        if (i >= LOOKS) (void)sched_yield();
}

/* Waits until all ranks have come; `surely` says that all will. */
static vscan_status meet(struct of_threads *m, bool surely) {
    struct group *const group = m->group;
    const unsigned long long meeting = ++m->meetings;
    int before = lock(group);
    const bool refused = group->failed && !surely;
    if (!refused) {
        own_of(m)->came = meeting;
        if (++group->arrived == group->size) {
            group->arrived = 0;
            group->held = meeting;
            (void)pthread_cond_broadcast(&group->changed);
        }
    }
    unlock(group, before);
    if (refused) return say_failed(m);
    look_for_a_while(group, meeting);
    if (group->held >= meeting) return VSCAN_OK;
    const struct timespec end = end_of_wait(group);
    before = lock(group);
    while (group->held < meeting && (surely || !group->failed)) {
        const int code = surely ? pthread_cond_wait(&group->changed, &group->mutex)
                                : pthread_cond_timedwait(&group->changed, &group->mutex, &end);
        if (code != ETIMEDOUT || group->held >= meeting || group->failed) continue;
        int missing = 0;
        while (group->ranks[missing].came >= meeting) missing++;
        miss(group, missing);
    }
    unlock(group, before);
    return group->held >= meeting ? VSCAN_OK : say_failed(m);
}

/* The first meeting of a step. */
static vscan_status post(struct of_threads *m, struct posted posted) {
    own_of(m)->posted = posted;
    return meet(m, false);
}

/* ---- To all ranks ---------------------------------------------------------------------------- */

static vscan_status all_gather(vscan__ranks *ranks, const void *own, int bytes, void *all) {
    TRY(post(of(ranks), (struct posted){.own = own}));
    for (int r = 0; r < ranks->size; r++)
        memcpy((char *)all + (size_t)r * (size_t)bytes, of(ranks)->group->ranks[r].posted.own,
               (size_t)bytes);
    return meet(of(ranks), true);
}

static vscan_status all_gatherv(vscan__ranks *ranks, uint64_t *all, const int *counts,
                                const int *begins) {
    TRY(post(of(ranks), (struct posted){.own = all}));
    for (int r = 0; r < ranks->size; r++) {
        const uint64_t *const from = of(ranks)->group->ranks[r].posted.own;
        if (r != ranks->rank)
            memcpy(all + begins[r], from + begins[r], (size_t)counts[r] * sizeof *all);
    }
    return meet(of(ranks), true);
}

static vscan_status all_reduce(vscan__ranks *ranks, enum vscan__ranks_reduction how,
                               const int64_t *own, int64_t *all, int n) {
    TRY(post(of(ranks), (struct posted){.own = own}));
    const int end = how == REDUCE_SUM_BEFORE ? ranks->rank : ranks->size;
    for (int i = 0; i < n; i++) all[i] = how == REDUCE_MIN ? INT64_MAX : 0;
    for (int r = 0; r < end; r++) {
        const int64_t *const from = of(ranks)->group->ranks[r].posted.own;
        for (int i = 0; i < n; i++)
            if (how != REDUCE_MIN)
                all[i] += from[i];
            else if (from[i] < all[i])
                all[i] = from[i];
    }
    return meet(of(ranks), true);
}

static vscan_status all_to_all(vscan__ranks *ranks, const int64_t *own, int64_t *all) {
    TRY(post(of(ranks), (struct posted){.own = own}));
    for (int r = 0; r < ranks->size; r++)
        all[r] = ((const int64_t *)of(ranks)->group->ranks[r].posted.own)[ranks->rank];
    return meet(of(ranks), true);
}

/* ---- From rank to rank ----------------------------------------------------------------------- */

/* The receiver of an earlier one has been to a meeting since then. */
static vscan_status send(vscan__ranks *ranks, int to, int message, const void *state, int bytes) {
    struct of_threads *const m = of(ranks);
    struct state *const sent = own_of(m)->states + message;
    const int before = lock(m->group);
    sent->to = to;
    sent->meetings = m->meetings;
    memcpy(sent->bytes, state, (size_t)bytes);
    (void)pthread_cond_broadcast(&m->group->changed);
    unlock(m->group, before);
    return VSCAN_OK;
}

static vscan_status receive(vscan__ranks *ranks, int from, int message, void *state, int bytes) {
    struct of_threads *const m = of(ranks);
    const struct state *const sent = m->group->ranks[from].states + message;
    const struct timespec end = end_of_wait(m->group);
    const int before = lock(m->group);
    bool there = false;
    while (!there && !m->group->failed) {
        there = sent->meetings == m->meetings && sent->to == ranks->rank;
        if (!there &&
            pthread_cond_timedwait(&m->group->changed, &m->group->mutex, &end) == ETIMEDOUT)
            miss(m->group, from);
    }
    if (there) memcpy(state, sent->bytes, (size_t)bytes);
    unlock(m->group, before);
    return there ? VSCAN_OK : say_failed(m);
}

/* The receiver has its copy before this rank's next meeting ends. */
static vscan_status wait_sent(vscan__ranks *ranks) {
    return ranks->broken ? (vscan_status)VSCAN_RANKS_ERROR_TRANSPORT : VSCAN_OK;
}

/* What rank r has for this rank in run i. */
static vscan_status take(struct of_threads *m, int r, const struct vscan__ranks_run *runs, int i) {
    vscan__ranks *const ranks = &m->shared;
    const struct posted *const posted = &m->group->ranks[r].posted;
    const struct vscan__ranks_run *const from = posted->runs + i;
    const struct vscan__ranks_place to = runs[i].to;
    const int64_t *const begin = from->send_begin + ranks->rank;
    const int64_t size = runs[i].size, bytes = (begin[1] - begin[0]) * size;
    if (bytes == 0) return VSCAN_OK;
    char *const target = to.at + runs[i].receive_begin[r] * size;
    const char *const source = from->from.at + begin[0] * size;
    if (!to.on_gpu && !from->from.on_gpu) {
        memcpy(target, source, (size_t)bytes);
        return VSCAN_OK;
    }
    const int32_t here = to.on_gpu ? ranks->device : posted->device;
    if (vscan__ranks_copy(here, from->from.on_gpu ? posted->device : here, target, source, bytes))
        return VSCAN_OK;
    return vscan__ranks_fail(ranks, VSCAN_ERROR_BACKEND, "copying %lld bytes from rank %d failed",
                             (long long)bytes, r);
}

static vscan_status exchange(vscan__ranks *ranks, const struct vscan__ranks_run *runs, int n) {
    struct of_threads *const m = of(ranks);
    vscan_status status = VSCAN_OK;
    TRY(post(m, (struct posted){.runs = runs, .device = ranks->device}));
    for (int i = 1; i < ranks->size; i++) /* each from another one at a time */
        for (int k = 0; k < n && status == VSCAN_OK; k++)
            status = take(m, (ranks->rank + i) % ranks->size, runs, k);
    const vscan_status met = meet(m, true);
    return status != VSCAN_OK ? status : met;
}

/* ---- Making and destroying ------------------------------------------------------------------- */

static vscan_status check(vscan__ranks *ranks) {
    return of(ranks)->group->failed && !ranks->broken ? say_failed(of(ranks)) : VSCAN_OK;
}

/* Those that are left may only leave. */
static vscan_status end(vscan__ranks *ranks) {
    struct group *const group = of(ranks)->group;
    if (group == NULL) return VSCAN_OK;
    const int before = lock(group);
    const bool is_last = --group->members == 0;
    if (!is_last && !group->failed) fail(group, ranks->rank, "has left");
    unlock(group, before);
    if (!is_last) return VSCAN_OK;
    (void)pthread_cond_destroy(&group->changed);
    (void)pthread_mutex_destroy(&group->mutex);
    free(group);
    return VSCAN_OK;
}

static const struct vscan__ranks_transport transport = {.check = check,
                                                        .end = end,
                                                        .takes_gpu_memory = vscan__ranks_can_copy,
                                                        .all_gather = all_gather,
                                                        .all_gatherv = all_gatherv,
                                                        .all_reduce = all_reduce,
                                                        .all_to_all = all_to_all,
                                                        .send = send,
                                                        .receive = receive,
                                                        .wait_sent = wait_sent,
                                                        .exchange = exchange};

static struct group *new_group(int size, int64_t timeout) {
    struct group *const group = calloc(1, sizeof *group + (size_t)size * sizeof *group->ranks);
    if (group == NULL) return NULL;
    pthread_condattr_t attributes;
    (void)pthread_condattr_init(&attributes);
    (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    (void)pthread_mutex_init(&group->mutex, NULL);
    (void)pthread_cond_init(&group->changed, &attributes);
    (void)pthread_condattr_destroy(&attributes);
    group->size = size;
    group->timeout = timeout;
    return group;
}

/* Whether the contexts can make a group; and the options. */
static vscan_status check_all(vscan__ranks *first, vscan_ctx *const *ctxs, int32_t count,
                              const vscan_ranks_options *options, vscan_ranks *const *ranks,
                              vscan_ranks_options *known) {
    if (ctxs == NULL || ranks == NULL)
        return vscan__ranks_fail(first, VSCAN_ERROR_NULL, "%s is NULL",
                                 ctxs == NULL ? "ctxs" : "ranks");
    if (count < 1 || count > SLOTS)
        return vscan__ranks_fail(first, VSCAN_ERROR_LENGTH, "count is %d, must be 1 to %d",
                                 (int)count, SLOTS);
    for (int r = 0; r < count; r++) {
        if (ctxs[r] == NULL || vscan_ctx_device(ctxs[r]) < 0)
            return vscan__ranks_fail(first, ctxs[r] == NULL ? VSCAN_ERROR_NULL : VSCAN_ERROR_HANDLE,
                                     "ctxs[%d] is %s", r,
                                     ctxs[r] == NULL ? "NULL" : "no live context");
        for (int other = 0; other < r; other++)
            if (ctxs[r] == ctxs[other])
                return vscan__ranks_fail(first, VSCAN_ERROR_VALUE, "ctxs[%d] is ctxs[%d], too", r,
                                         other);
    }
    return vscan__ranks_read_making(first, options, known);
}

/* The group, before its first rank is there. */
static vscan_status prepare(vscan__ranks *first, vscan_ctx *const *ctxs, int32_t count,
                            const vscan_ranks_options *options, vscan_ranks *const *ranks,
                            struct group **group) {
    vscan_ranks_options known;
    TRY(check_all(first, ctxs, count, options, ranks, &known));
    *group = new_group(count, known.timeout);
    return *group != NULL ? VSCAN_OK
                          : vscan__ranks_fail(first, VSCAN_ERROR_HOST_MEMORY, "no host memory");
}

static vscan_status join(struct of_threads *m, int rank, struct group *group, vscan_ctx *ctx) {
    m->group = group;
    m->shared.rank = rank;
    m->shared.size = group->size;
    group->members++;
    return vscan__ranks_open(&m->shared, ctx, &own_of(m)->handle);
}

vscan_status vscan_ranks_create_all(vscan_ctx *const *ctxs, int32_t count,
                                    const vscan_ranks_options *options, vscan_ranks **ranks) {
    struct group *group = NULL;
    vscan_status status = VSCAN_OK;
    int made = 0;
    do {
        struct of_threads *const m = calloc(1, sizeof *m);
        vscan__ranks *const shared = vscan__ranks_new((vscan__ranks *)m, &transport, __func__);
        if (shared == NULL) status = VSCAN_ERROR_HOST_MEMORY;
        if (status == VSCAN_OK && made == 0)
            status = prepare(shared, ctxs, count, options, ranks, &group);
        if (status == VSCAN_OK) status = join(m, made, group, ctxs[made]);
        if (status == VSCAN_OK)
            made++;
        else if (shared != NULL)
            (void)vscan__ranks_release(shared, status); /* the thread has the sentence */
    } while (status == VSCAN_OK && made < count);
    for (int r = 0; r < made; r++)
        if (status == VSCAN_OK)
            ranks[r] = group->ranks[r].handle;
        else
            (void)vscan_ranks_destroy(group->ranks[r].handle);
    return status;
}
