/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The transport by NCCL, on a communicator that is split from the caller's and does not block. Words of the host go through
 * a staging area on the GPU, on a stream that waits for nothing else; elements go from GPU to GPU. Whatever is waited for
 * has a deadline: after it, and after any error, the communicator is aborted, which ends its kernels, and the group is
 * useless. So a failure on one rank is told to no other; these miss it, by time. Where all ranks are on one host, words go
 * through memory that they share instead, and who gives up is seen there.
 */
#include <dlfcn.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "gpu.h"
#include "internal.h"
#include "nccl.h"
#include "words.h"

/* Bytes of the staging area: words of all ranks, piece by piece; at its end are states, two that are sent and one that comes. */
enum { WORDS = 1 << 18, FOR_A_RANK = 64, STATE = BYTES_OF_STATE };

/* What is behind a handle. */
struct of_nccl {
    vscan__ranks shared;
    struct vscan__ranks_nccl nccl;
    struct vscan__ranks_driver driver;
    void *comm, *stream;
    struct vscan__ranks_words *words; /* NULL: not all ranks are on one host */
    vscan_buffer *buffer;             /* the staging area on the GPU */
    vscan_buffer *stage;              /* for elements, or NULL */
    char *there, *here;               /* its memory, and the host's beside it */
    int64_t bytes;                    /* of words */
    int64_t timeout;                  /* ms */
    int64_t deadline;                 /* of what is waited for, ms */
    int device;                       /* the driver's name of it */
};

static struct of_nccl *of(vscan__ranks *ranks) {
    return (struct of_nccl *)ranks;
}

/* ---- Failing, and waiting -------------------------------------------------------------------- */

static int64_t now(void) {
    struct timespec time;
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * INT64_C(1000) + time.tv_nsec / 1000000;
}

/* Ends whatever runs. */
static vscan_status give_up(struct of_nccl *m, const char *what, const char *why) {
    if (m->comm != NULL) (void)m->nccl.CommAbort(m->comm);
    m->comm = NULL;
    m->shared.broken = true;
    vscan__ranks_fail_words(m->words);
    return vscan__ranks_fail(&m->shared, (vscan_status)VSCAN_RANKS_ERROR_TRANSPORT,
                             "rank %d: %s: %s", m->shared.rank, what, why);
}

static vscan_status miss(struct of_nccl *m, const char *what) {
    char words[80];
    (void)snprintf(words, sizeof words, "another rank has not come within %lld ms",
                   (long long)m->timeout);
    return give_up(m, what, words);
}

/* Between two looks; the first ones are near together. */
static void pause_between(int look) {
    enum { LOOKS = 2000, NAP = 20000 }; /* ns */
    if (look < LOOKS)
        (void)sched_yield();
    else
        (void)nanosleep(&(struct timespec){.tv_nsec = NAP}, NULL);
}

/* What a function of NCCL has returned, or what has come of it. */
static vscan_status note(struct of_nccl *m, int code, const char *what) {
    for (int look = 0; code == NCCL_IN_PROGRESS; look++) {
        if (now() > m->deadline) return miss(m, what);
        pause_between(look);
        const int asked = m->nccl.CommGetAsyncError(m->comm, &code);
        if (asked != NCCL_SUCCESS) code = asked;
    }
    return code == NCCL_SUCCESS ? VSCAN_OK : give_up(m, what, m->nccl.GetErrorString(code));
}

/* The same of the driver. */
static vscan_status note_driver(struct of_nccl *m, int code, const char *what) {
    return code == 0 ? VSCAN_OK : give_up(m, what, "CUDA failed");
}

/* Between two looks at what other ranks do. */
static vscan_status look_again(struct of_nccl *m, int look) {
    if (m->words != NULL && vscan__ranks_words_failed(m->words))
        return give_up(m, "messages", "another rank has given up");
    if (now() > m->deadline) return miss(m, "messages");
    pause_between(look);
    return VSCAN_OK;
}

/* Waits until all that was enqueued is done. */
static vscan_status wait_done(struct of_nccl *m) {
    int code;
    for (int look = 0; (code = m->driver.stream_query(m->stream)) == NOT_READY; look++) {
        int error = NCCL_SUCCESS;
        TRY(note(m, m->nccl.CommGetAsyncError(m->comm, &error), "ncclCommGetAsyncError"));
        if (error != NCCL_IN_PROGRESS) TRY(note(m, error, "NCCL"));
        TRY(look_again(m, look));
    }
    return note_driver(m, code, "cuStreamQuery");
}

/* Begins what one function of the transport does: there is a deadline. */
static vscan_status begin(struct of_nccl *m) {
    m->deadline = now() + m->timeout;
    return m->comm == NULL ? vscan__ranks_is_broken(&m->shared) : VSCAN_OK;
}

/* The same, and ends it, where the device's context is to be current. */
static vscan_status enter(struct of_nccl *m) {
    void *context;
    TRY(begin(m));
    if (vscan__ranks_enter_device(&m->driver, m->shared.device, &m->device, &context))
        return VSCAN_OK;
    return give_up(m, "cuCtxPushCurrent", "CUDA failed");
}

static vscan_status leave(struct of_nccl *m, vscan_status status) {
    vscan__ranks_leave_device(&m->driver, m->device);
    return status;
}

/* ---- Words ----------------------------------------------------------------------------------- */

/* Bytes of the staging area, to the GPU and from there. */
static vscan_status upload(struct of_nccl *m, int64_t at, int64_t bytes) {
    return note_driver(m,
                       m->driver.copy((uintptr_t)(m->there + at), (uintptr_t)(m->here + at),
                                      (size_t)bytes, m->stream),
                       "cuMemcpyAsync");
}

static vscan_status download(struct of_nccl *m, int64_t at, int64_t bytes) {
    TRY(note_driver(m,
                    m->driver.copy((uintptr_t)(m->here + at), (uintptr_t)(m->there + at),
                                   (size_t)bytes, m->stream),
                    "cuMemcpyAsync"));
    return wait_done(m);
}

/* How many bytes of each rank there is room for at a time. */
static int64_t piece_of(const struct of_nccl *m) {
    return m->bytes / (m->shared.size + 1) / 8 * 8;
}

/* The first bytes of the host's side of the staging area from each rank to all, behind them. */
static vscan_status gather_piece(struct of_nccl *m, int64_t bytes) {
    if (m->words != NULL) {
        vscan__ranks_put_words(m->words, m->here, bytes);
        for (int look = 0; !vscan__ranks_words_came(m->words); look++) TRY(look_again(m, look));
        for (int r = 0; r < m->shared.size; r++)
            memcpy(m->here + bytes * (1 + r), vscan__ranks_words_of(m->words, r), (size_t)bytes);
        return VSCAN_OK;
    }
    TRY(upload(m, 0, bytes));
    TRY(note(
        m,
        m->nccl.AllGather(m->there, m->there + bytes, (size_t)bytes, NCCL_INT8, m->comm, m->stream),
        "ncclAllGather"));
    return download(m, bytes, bytes * m->shared.size);
}

/* Words need the device only where they go through it. */
static vscan_status enter_words(struct of_nccl *m) {
    return m->words != NULL ? begin(m) : enter(m);
}

static vscan_status leave_words(struct of_nccl *m, vscan_status status) {
    return m->words != NULL ? status : leave(m, status);
}

/* own has counts[rank] bytes, all those of each rank r from all + begins[r] on; its own may be there before. */
static vscan_status gather(struct of_nccl *m, const void *own, char *all, const int64_t *counts,
                           const int64_t *begins) {
    const int size = m->shared.size;
    const int64_t piece = piece_of(m);
    int64_t most = 0;
    for (int r = 0; r < size; r++) most = counts[r] > most ? counts[r] : most;
    for (int64_t at = 0; at < most; at += piece) {
        const int64_t bytes = most - at < piece ? most - at : piece;
        const int64_t left = counts[m->shared.rank] - at, mine = left < bytes ? left : bytes;
        memset(m->here, 0, (size_t)bytes);
        if (mine > 0) memcpy(m->here, (const char *)own + at, (size_t)mine);
        TRY(gather_piece(m, bytes));
        for (int r = 0; r < size; r++) {
            const int64_t rest = counts[r] - at < bytes ? counts[r] - at : bytes;
            if (rest > 0) memcpy(all + begins[r] + at, m->here + bytes * (1 + r), (size_t)rest);
        }
    }
    return VSCAN_OK;
}

static vscan_status gather_evenly(struct of_nccl *m, const void *own, int64_t bytes, char *all) {
    int64_t *const counts = m->shared.word_counts, *const begins = counts + m->shared.size;
    for (int r = 0; r < m->shared.size; r++) counts[r] = bytes, begins[r] = r * bytes;
    return gather(m, own, all, counts, begins);
}

static vscan_status all_gather(vscan__ranks *ranks, const void *own, int bytes, void *all) {
    struct of_nccl *const m = of(ranks);
    TRY(enter_words(m));
    return leave_words(m, gather_evenly(m, own, bytes, all));
}

static vscan_status all_gatherv(vscan__ranks *ranks, uint64_t *all, const int *counts,
                                const int *begins) {
    struct of_nccl *const m = of(ranks);
    int64_t *const in_bytes = ranks->word_counts, *const places = in_bytes + ranks->size;
    for (int r = 0; r < ranks->size; r++) {
        in_bytes[r] = counts[r] * (int64_t)sizeof *all;
        places[r] = begins[r] * (int64_t)sizeof *all;
    }
    TRY(enter_words(m));
    return leave_words(m, gather(m, all + begins[ranks->rank], (char *)all, in_bytes, places));
}

/* From all longs of all ranks: the sum of the ranks before, which is of few, and where ranks share words all of them. */
static vscan_status reduce_here(struct of_nccl *m, enum vscan__ranks_reduction how,
                                const int64_t *own, int64_t *all, int n) {
    const int64_t piece = piece_of(m) / 8;
    const int end = how == REDUCE_SUM_BEFORE ? m->shared.rank : m->shared.size;
    for (int64_t at = 0; at < n; at += piece) {
        const int64_t longs = n - at < piece ? n - at : piece;
        memcpy(m->here, own + at, (size_t)longs * sizeof *own);
        TRY(gather_piece(m, longs * 8));
        const int64_t *const told = (const int64_t *)(const void *)m->here + longs;
        for (int64_t i = 0; i < longs; i++) {
            int64_t result = how == REDUCE_MIN ? INT64_MAX : 0;
            for (int r = 0; r < end; r++) {
                const int64_t one = told[r * longs + i];
                if (how != REDUCE_MIN) result += one;
                if (how == REDUCE_MIN && one < result) result = one;
            }
            all[at + i] = result;
        }
    }
    return VSCAN_OK;
}

static vscan_status reduce(struct of_nccl *m, int op, const int64_t *own, int64_t *all, int n) {
    const int64_t piece = m->bytes / 8;
    for (int64_t at = 0; at < n; at += piece) {
        const int64_t longs = n - at < piece ? n - at : piece;
        memcpy(m->here, own + at, (size_t)longs * sizeof *own);
        TRY(upload(m, 0, longs * 8));
        TRY(note(m,
                 m->nccl.AllReduce(m->there, m->there, (size_t)longs, NCCL_INT64, op, m->comm,
                                   m->stream),
                 "ncclAllReduce"));
        TRY(download(m, 0, longs * 8));
        memcpy(all + at, m->here, (size_t)longs * sizeof *all);
    }
    return VSCAN_OK;
}

static vscan_status all_reduce(vscan__ranks *ranks, enum vscan__ranks_reduction how,
                               const int64_t *own, int64_t *all, int n) {
    struct of_nccl *const m = of(ranks);
    TRY(enter_words(m));
    return leave_words(m, how == REDUCE_SUM_BEFORE || m->words != NULL
                              ? reduce_here(m, how, own, all, n)
                              : reduce(m, how == REDUCE_MIN ? NCCL_MIN : NCCL_SUM, own, all, n));
}

/* ---- From rank to rank ----------------------------------------------------------------------- */

static bool is_good(int code) {
    return code == NCCL_SUCCESS || code == NCCL_IN_PROGRESS;
}

/*
 * NCCL is some times slower where memory does not begin with a multiple of 16 bytes, as parts that are cut anywhere do. So
 * what is long and begins so goes through memory that does not, which is kept: on either side by itself.
 */
enum { ALIGNMENT = 16 };
#ifndef VSCAN__RANKS_LONG_RUN /* tests have others */
#define VSCAN__RANKS_LONG_RUN (1 << 20)
#endif

static bool is_staged(const char *at, int64_t bytes) {
    return bytes >= VSCAN__RANKS_LONG_RUN && (uintptr_t)at % ALIGNMENT != 0;
}

/* What goes to another rank, or comes from there. */
struct message {
    char *at;
    int64_t bytes;
    int rank;
};

static struct message message_of(const struct of_nccl *m, const struct vscan__ranks_run *run, int i,
                                 bool comes) {
    const int size = m->shared.size, rank = (m->shared.rank + (comes ? size - i : i)) % size;
    const int64_t *const begin = (comes ? run->receive_begin : run->send_begin) + rank;
    char *const at = comes ? run->to.at : run->from.at; /* NULL: a part without elements */
    return (struct message){at == NULL ? NULL : at + begin[0] * run->size,
                            (begin[1] - begin[0]) * run->size, rank};
}

/* Memory for all that is staged, or none: then nothing is. */
static char *stage_of(struct of_nccl *m, const struct vscan__ranks_run *runs, int n) {
    int64_t bytes = 0;
    for (int k = 0; k < 2 * n; k++)
        for (int i = 1; i < m->shared.size; i++) {
            const struct message one = message_of(m, runs + k / 2, i, k % 2 != 0);
            if (is_staged(one.at, one.bytes)) bytes += one.bytes + ALIGNMENT;
        }
    if (bytes == 0) return NULL;
    if (m->stage != NULL && vscan_buffer_length(m->stage) >= bytes)
        return vscan_buffer_pointer(m->stage);
    (void)vscan_buffer_destroy(m->stage);
    m->stage = NULL;
    const bool made = vscan_buffer_create(m->shared.ctx, VSCAN_BYTE, bytes, &m->stage) == VSCAN_OK;
    return made ? vscan_buffer_pointer(m->stage) : NULL;
}

/* Where a message lies on the way, from `stage` on. */
static char *staged(const struct message *one, char **stage) {
    if (*stage == NULL || !is_staged(one->at, one->bytes)) return one->at;
    char *const there = *stage;
    *stage += (one->bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return there;
}

/* Copies what is staged of what comes, or of what is sent: all messages are staged in one order. */
static vscan_status copy_staged(struct of_nccl *m, const struct vscan__ranks_run *runs, int n,
                                char *stage, bool that_come) {
    for (int k = 0; k < 2 * n; k++)
        for (int i = 1; i < m->shared.size; i++) {
            const bool comes = k % 2 != 0;
            const struct message one = message_of(m, runs + k / 2, i, comes);
            char *const at = staged(&one, &stage);
            if (at == one.at || comes != that_come) continue;
            TRY(note_driver(m,
                            m->driver.copy((uintptr_t)(comes ? one.at : at),
                                           (uintptr_t)(comes ? at : one.at), (size_t)one.bytes,
                                           m->stream),
                            "cuMemcpyAsync"));
        }
    return VSCAN_OK;
}

/* To a group of NCCL's. */
static int add_all(struct of_nccl *m, const struct vscan__ranks_run *runs, int n, char *stage) {
    int code = NCCL_SUCCESS;
    for (int k = 0; k < 2 * n; k++)
        for (int i = 1; i < m->shared.size; i++) {
            const struct message one = message_of(m, runs + k / 2, i, k % 2 != 0);
            char *const at = staged(&one, &stage);
            const size_t bytes = (size_t)one.bytes;
            if (bytes == 0 || !is_good(code)) continue;
            code = k % 2 != 0 ? m->nccl.Recv(at, bytes, NCCL_INT8, one.rank, m->comm, m->stream)
                              : m->nccl.Send(at, bytes, NCCL_INT8, one.rank, m->comm, m->stream);
        }
    return code;
}

/* Elements to each rank and from each, from one memory of the GPU to another: all at once. */
static vscan_status swap(struct of_nccl *m, const struct vscan__ranks_run *runs, int n) {
    char *const stage = stage_of(m, runs, n);
    TRY(copy_staged(m, runs, n, stage, false));
    TRY(note(m, m->nccl.GroupStart(), "ncclGroupStart"));
    const int code = add_all(m, runs, n, stage);
    const int ended = m->nccl.GroupEnd(); /* in any case */
    if (!is_good(code)) return note(m, code, "ncclSend, ncclRecv");
    TRY(note(m, ended, "ncclGroupEnd"));
    return copy_staged(m, runs, n, stage, true);
}

/* Of what all tell to all, what is for this rank. */
static vscan_status pick_from_all(struct of_nccl *m, int64_t bytes, int64_t *all) {
    TRY(gather_piece(m, bytes));
    for (int r = 0; r < m->shared.size; r++)
        all[r] = ((const int64_t *)(const void *)(m->here + bytes * (1 + r)))[m->shared.rank];
    return VSCAN_OK;
}

static vscan_status swap_longs(struct of_nccl *m, const int64_t *own, int64_t bytes, int64_t *all) {
    int64_t *const begin = m->shared.word_counts;
    for (int r = 0; r <= m->shared.size; r++) begin[r] = r;
    TRY(upload(m, 0, bytes));
    const struct vscan__ranks_run run = {
        {m->there, true}, {m->there + bytes, true}, begin, begin, sizeof *own};
    TRY(swap(m, &run, 1));
    TRY(download(m, bytes, bytes));
    memcpy(all, m->here + bytes, (size_t)bytes);
    all[m->shared.rank] = own[m->shared.rank];
    return VSCAN_OK;
}

static vscan_status all_to_all(vscan__ranks *ranks, const int64_t *own, int64_t *all) {
    struct of_nccl *const m = of(ranks);
    const int64_t bytes = ranks->size * (int64_t)sizeof *own;
    memcpy(m->here, own, (size_t)bytes);
    TRY(enter(m));
    return leave(m, m->words != NULL && bytes <= piece_of(m) ? pick_from_all(m, bytes, all)
                                                             : swap_longs(m, own, bytes, all));
}

/* Where a state lies in the staging area: 0 and 1 are sent, 2 comes. */
static int64_t place_of(const struct of_nccl *m, int which) {
    return m->bytes + which * (int64_t)STATE;
}

/* On its stream a state is sent once the receiver takes it; messages of a call all have one direction, so none waits for itself. */
static vscan_status send_state(struct of_nccl *m, int to, int message, const void *state,
                               int bytes) {
    const int64_t at = place_of(m, message);
    memcpy(m->here + at, state, (size_t)bytes);
    TRY(upload(m, at, bytes));
    return note(m, m->nccl.Send(m->there + at, (size_t)bytes, NCCL_INT8, to, m->comm, m->stream),
                "ncclSend");
}

static vscan_status receive_state(struct of_nccl *m, int from, void *state, int bytes) {
    const int64_t at = place_of(m, 2);
    TRY(note(m, m->nccl.Recv(m->there + at, (size_t)bytes, NCCL_INT8, from, m->comm, m->stream),
             "ncclRecv"));
    TRY(download(m, at, bytes));
    memcpy(state, m->here + at, (size_t)bytes);
    return VSCAN_OK;
}

static vscan_status send(vscan__ranks *ranks, int to, int message, const void *state, int bytes) {
    struct of_nccl *const m = of(ranks);
    if (m->words != NULL) vscan__ranks_put_state(m->words, message, state, bytes);
    TRY(enter_words(m));
    return leave_words(m, m->words != NULL ? VSCAN_OK : send_state(m, to, message, state, bytes));
}

static vscan_status receive(vscan__ranks *ranks, int from, int message, void *state, int bytes) {
    struct of_nccl *const m = of(ranks);
    TRY(enter_words(m));
    if (m->words == NULL) /* they come in the order in which they are sent */
        return leave(m, receive_state(m, from, state, bytes));
    for (int look = 0; !vscan__ranks_take_state(m->words, from, message, state, bytes); look++)
        TRY(look_again(m, look));
    return VSCAN_OK;
}

static vscan_status wait_sent(vscan__ranks *ranks) {
    struct of_nccl *const m = of(ranks);
    TRY(enter_words(m));
    if (m->words == NULL) return leave(m, wait_done(m));
    for (int look = 0; !vscan__ranks_states_are_taken(m->words); look++) TRY(look_again(m, look));
    return VSCAN_OK;
}

/*
 * Memory of the host goes through the staging area, in pieces that both sides know: so many bytes for each rank, and from
 * each. All ranks have either side at the same place, as they run the same code.
 */
static vscan_status swap_staged(struct of_nccl *m, const struct vscan__ranks_run *run) {
    const vscan__ranks *const ranks = &m->shared;
    const int n = ranks->size;
    const int64_t piece = m->bytes / (2 * n) / 8 * 8, behind = m->bytes / 2; /* bytes */
    const int64_t size = run->size;
    int64_t *const sent = ranks->word_counts, *const come = sent + n + 1;
    int64_t most = 0;
    for (int r = 0; r < n; r++) {
        const int64_t out = (run->send_begin[r + 1] - run->send_begin[r]) * size,
                      in = (run->receive_begin[r + 1] - run->receive_begin[r]) * size;
        if (r != ranks->rank && out > most) most = out;
        if (r != ranks->rank && in > most) most = in;
    }
    for (int64_t at = 0; at < most; at += piece) {
        sent[0] = come[0] = 0;
        for (int r = 0; r < n; r++) {
            const int64_t out = (run->send_begin[r + 1] - run->send_begin[r]) * size - at,
                          in = (run->receive_begin[r + 1] - run->receive_begin[r]) * size - at;
            const bool other = r != ranks->rank;
            sent[r + 1] = sent[r] + (!other || out < 0 ? 0 : out < piece ? out : piece);
            come[r + 1] = come[r] + (!other || in < 0 ? 0 : in < piece ? in : piece);
            if (sent[r + 1] > sent[r])
                memcpy(m->here + sent[r], run->from.at + run->send_begin[r] * size + at,
                       (size_t)(sent[r + 1] - sent[r]));
        }
        const struct vscan__ranks_run bytes = {
            {m->there, true}, {m->there + behind, true}, sent, come, 1};
        if (sent[n] > 0) TRY(upload(m, 0, sent[n]));
        TRY(swap(m, &bytes, 1));
        if (come[n] > 0) TRY(download(m, behind, come[n]));
        TRY(wait_done(m));
        for (int r = 0; r < n; r++)
            if (come[r + 1] > come[r])
                memcpy(run->to.at + run->receive_begin[r] * size + at, m->here + behind + come[r],
                       (size_t)(come[r + 1] - come[r]));
    }
    return VSCAN_OK;
}

static vscan_status swap_all(struct of_nccl *m, const struct vscan__ranks_run *runs, int n) {
    if (runs->from.on_gpu && runs->to.on_gpu) {
        TRY(swap(m, runs, n));
        return wait_done(m);
    }
    for (int i = 0; i < n; i++) TRY(swap_staged(m, runs + i));
    return VSCAN_OK;
}

static vscan_status exchange(vscan__ranks *ranks, const struct vscan__ranks_run *runs, int n) {
    TRY(enter(of(ranks)));
    return leave(of(ranks), swap_all(of(ranks), runs, n));
}

/* ---- Making and destroying ------------------------------------------------------------------- */

static vscan_status check(vscan__ranks *ranks) {
    (void)ranks; /* messages will show */
    return VSCAN_OK;
}

static bool takes_gpu_memory(void) {
    return true;
}

/* Leaves the others, which all do so. */
static vscan_status leave_all(struct of_nccl *m) {
    vscan_status status = note(m, m->nccl.CommFinalize(m->comm), "ncclCommFinalize");
    if (status == VSCAN_OK) status = note(m, m->nccl.CommDestroy(m->comm), "ncclCommDestroy");
    if (status == VSCAN_OK) m->comm = NULL;
    return status;
}

static vscan_status end(vscan__ranks *ranks) {
    struct of_nccl *const m = of(ranks);
    vscan_status status = VSCAN_OK;
    if (m->comm != NULL) status = enter(m);
    if (m->comm != NULL) status = leave(m, leave_all(m));
    if (m->stream != NULL) (void)m->driver.stream_destroy(m->stream);
    (void)vscan_buffer_destroy(m->buffer);
    (void)vscan_buffer_destroy(m->stage);
    vscan__ranks_leave_words(m->words);
    vscan__ranks_close_driver(&m->driver);
    if (m->nccl.library != NULL) (void)dlclose(m->nccl.library);
    return status;
}

static const struct vscan__ranks_transport transport = {.check = check,
                                                        .end = end,
                                                        .takes_gpu_memory = takes_gpu_memory,
                                                        .all_gather = all_gather,
                                                        .all_gatherv = all_gatherv,
                                                        .all_reduce = all_reduce,
                                                        .all_to_all = all_to_all,
                                                        .send = send,
                                                        .receive = receive,
                                                        .wait_sent = wait_sent,
                                                        .exchange = exchange};

static vscan_status open_nccl(struct of_nccl *m) {
    struct vscan__ranks_nccl *const nccl = &m->nccl;
    nccl->library = dlopen("libnccl.so.2", RTLD_NOW);
    if (nccl->library == NULL)
        return vscan__ranks_fail(&m->shared, VSCAN_ERROR_UNSUPPORTED,
                                 "libnccl.so.2 cannot be opened");
    bool there = vscan__ranks_find(nccl->library, "ncclGetErrorString", &nccl->GetErrorString);
#define X(name, arguments)                                                                         \
    there = there && vscan__ranks_find(nccl->library, "nccl" #name, &nccl->name);
    NCCL_FUNCTIONS(X)
#undef X
    return there ? VSCAN_OK
                 : vscan__ranks_fail(&m->shared, VSCAN_ERROR_UNSUPPORTED,
                                     "libnccl.so.2 is older than version 2.18");
}

/* What this rank needs of its own before it can join. */
static vscan_status prepare(struct of_nccl *m, vscan_ctx *ctx, const vscan_ranks_options *options,
                            void *comm) {
    vscan__ranks *const ranks = &m->shared;
    vscan_ranks_options known;
    int device = -1;
    if (ctx == NULL) return vscan__ranks_fail(ranks, VSCAN_ERROR_NULL, "ctx is NULL");
    if (vscan_ctx_device(ctx) < 0)
        return vscan__ranks_fail(ranks, VSCAN_ERROR_HANDLE, "ctx is no live context");
    TRY(vscan__ranks_read_making(ranks, options, &known));
    m->timeout = known.timeout;
    ranks->ctx = ctx;
    ranks->device = vscan_ctx_device(ctx);
    if (!vscan__ranks_is_on_gpu(ranks))
        return vscan__ranks_fail(ranks, VSCAN_ERROR_UNSUPPORTED, "ctx is not on a GPU");
    TRY(note(m, m->nccl.CommCuDevice(comm, &device), "ncclCommCuDevice"));
    if (device != ranks->device)
        return vscan__ranks_fail(ranks, VSCAN_ERROR_VALUE,
                                 "comm is on device %d, the context on %d", device,
                                 (int)ranks->device);
    if (!vscan__ranks_open_driver(&m->driver))
        return vscan__ranks_fail(ranks, VSCAN_ERROR_UNSUPPORTED, "there is no libcuda.so.1");
    m->bytes = WORDS + FOR_A_RANK * (int64_t)ranks->size;
    const int64_t bytes = place_of(m, 3);
    m->here = vscan__ranks_room(ranks, &ranks->room_words, bytes);
    ranks->word_counts = calloc(2 * (size_t)ranks->size + 2, sizeof *ranks->word_counts);
    if (m->here == NULL || ranks->word_counts == NULL)
        return vscan__ranks_fail(ranks, VSCAN_ERROR_HOST_MEMORY, "no host memory");
    TRY(vscan__ranks_say(ranks, ctx, vscan_buffer_create(ctx, VSCAN_BYTE, bytes, &m->buffer)));
    m->there = vscan_buffer_pointer(m->buffer);
    void *context;
    if (!vscan__ranks_enter_device(&m->driver, ranks->device, &m->device, &context))
        return vscan__ranks_fail(ranks, VSCAN_ERROR_BACKEND, "cuCtxPushCurrent failed");
    const int code = m->driver.stream_create(&m->stream, NON_BLOCKING);
    return leave(m, code == 0
                        ? VSCAN_OK
                        : vscan__ranks_fail(ranks, VSCAN_ERROR_BACKEND, "cuStreamCreate failed"));
}

/* A communicator of this group's own. A rank that has failed takes no part in it, which the others see. */
static vscan_status join(struct of_nccl *m, vscan_status status, void *comm) {
    struct vscan__ranks_nccl_config config = NCCL_NON_BLOCKING;
    const int size = m->shared.size;
    int members = 0;
    m->deadline = now() + m->timeout;
    const int code = m->nccl.CommSplit(comm, status == VSCAN_OK ? 0 : NCCL_NO_COLOR, m->shared.rank,
                                       &m->comm, &config);
    if (status != VSCAN_OK) return status;
    TRY(note(m, code, "ncclCommSplit"));
    TRY(note(m, m->nccl.CommCount(m->comm, &members), "ncclCommCount"));
    if (members == size) return VSCAN_OK;
    return give_up(m, "ncclCommSplit", "another rank has refused its arguments");
}

/* Memory for words, where all ranks can share it. The name of rank 0 is told to all, and whether all have joined. */
static vscan_status share_words(struct of_nccl *m) {
    vscan__ranks *const ranks = &m->shared;
    char name[NAME_OF_WORDS] = "";
    const int64_t piece = piece_of(m);
    if (ranks->rank == 0) vscan__ranks_make_words(name, ranks->size, piece);
    memcpy(m->here, name, sizeof name);
    vscan_status status = gather_piece(m, NAME_OF_WORDS);
    if (status == VSCAN_OK) memcpy(name, m->here + NAME_OF_WORDS, sizeof name);
    struct vscan__ranks_words *const words =
        vscan__ranks_join_words(name, ranks->size, ranks->rank, piece);
    const int64_t joined = words != NULL;
    int64_t all_joined = 0;
    if (status == VSCAN_OK) status = reduce(m, NCCL_MIN, &joined, &all_joined, 1);
    if (ranks->rank == 0) vscan__ranks_forget_words(name);
    if (status == VSCAN_OK && all_joined != 0)
        m->words = words;
    else
        vscan__ranks_leave_words(words);
    return status;
}

vscan_status vscan_ranks_create_nccl(vscan_ctx *ctx, void *comm, const vscan_ranks_options *options,
                                     vscan_ranks **ranks) {
    struct of_nccl *const m = calloc(1, sizeof *m);
    vscan__ranks *const shared = vscan__ranks_new((vscan__ranks *)m, &transport, __func__);
    if (shared == NULL) return VSCAN_ERROR_HOST_MEMORY;
    vscan_status status = VSCAN_OK;
    if (comm == NULL) status = vscan__ranks_fail(shared, VSCAN_ERROR_NULL, "comm is NULL");
    if (status == VSCAN_OK) status = open_nccl(m);
    if (status == VSCAN_OK)
        status = note(m, m->nccl.CommUserRank(comm, &shared->rank), "ncclCommUserRank");
    if (status == VSCAN_OK)
        status = note(m, m->nccl.CommCount(comm, &shared->size), "ncclCommCount");
    if (status == VSCAN_OK) {
        status = join(m, prepare(m, ctx, options, comm), comm);
        if (status == VSCAN_OK) status = enter(m);
        if (status == VSCAN_OK) status = leave(m, share_words(m));
        if (status == VSCAN_OK) status = vscan__ranks_publish(shared, VSCAN_OK, ctx, ranks);
    }
    return status == VSCAN_OK ? VSCAN_OK : vscan__ranks_release(shared, status);
}
