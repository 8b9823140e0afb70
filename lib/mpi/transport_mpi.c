/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The transport by MPI, on a duplicate of the caller's communicator. Where MPI fails at a message, the other ranks know
 * nothing of it, and wait for what this rank should send. So the rank goes on with the call, tries once more what
 * others depend on, and tells its failure with the next collective call.
 */
#include "vscan_mpi.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "running.h"

/* What is behind a handle. */
struct of_mpi {
    vscan__ranks shared;
    MPI_Comm comm;
    MPI_Request *requests; /* two a rank */
    MPI_Status *statuses;
    int begun;                                /* requests of messages that are under way */
    unsigned char sent[2][VSCAN_CARRY_BYTES]; /* states, which MPI may need after a call to send */
};

static struct of_mpi *of(vscan__ranks *ranks) {
    return (struct of_mpi *)ranks;
}

/*
 * What an MPI function has returned that fails on this rank alone, as a status. The rank must go on with the call, and
 * tell all ranks.
 */
static vscan_status note(vscan__ranks *ranks, int code, const char *name) {
    if (code == MPI_SUCCESS) return VSCAN_OK;
    char words[MPI_MAX_ERROR_STRING + 1] = "";
    int length = 0;
    if (MPI_Error_string(code, words, &length) != MPI_SUCCESS) length = 0;
    words[length] = '\0';
    return vscan__ranks_fail(ranks, (vscan_status)VSCAN_RANKS_ERROR_TRANSPORT, "%s: %s", name,
                             words);
}

/* What a collective MPI function has returned, as a status. After a failure the ranks are no longer together. */
static vscan_status note_for_all(vscan__ranks *ranks, int code, const char *name) {
    if (code == MPI_SUCCESS) return VSCAN_OK;
    char called[40];
    snprintf(called, sizeof called, "rank %d: %s", ranks->rank, name);
    ranks->broken = true;
    return note(ranks, code, called);
}

/* ---- To all ranks ---------------------------------------------------------------------------- */

static vscan_status all_gather(vscan__ranks *ranks, const void *own, int bytes, void *all) {
    return note_for_all(ranks,
                        MPI_Allgather(own, bytes, MPI_BYTE, all, bytes, MPI_BYTE, of(ranks)->comm),
                        "MPI_Allgather");
}

static vscan_status all_gatherv(vscan__ranks *ranks, uint64_t *all, const int *counts,
                                const int *begins) {
    return note_for_all(ranks,
                        MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_UINT64_T, all, counts, begins,
                                       MPI_UINT64_T, of(ranks)->comm),
                        "MPI_Allgatherv");
}

static vscan_status all_reduce(vscan__ranks *ranks, enum vscan__ranks_reduction how,
                               const int64_t *own, int64_t *all, int n) {
    if (how != REDUCE_SUM_BEFORE)
        return note_for_all(ranks,
                            MPI_Allreduce(own, all, n, MPI_INT64_T,
                                          how == REDUCE_MIN ? MPI_MIN : MPI_SUM, of(ranks)->comm),
                            "MPI_Allreduce");
    const int code = MPI_Exscan(own, all, n, MPI_INT64_T, MPI_SUM, of(ranks)->comm);
    for (int i = 0; ranks->rank == 0 && i < n; i++) all[i] = 0; /* MPI leaves it open */
    return note_for_all(ranks, code, "MPI_Exscan");
}

static vscan_status all_to_all(vscan__ranks *ranks, const int64_t *own, int64_t *all) {
    return note_for_all(ranks,
                        MPI_Alltoall(own, 1, MPI_INT64_T, all, 1, MPI_INT64_T, of(ranks)->comm),
                        "MPI_Alltoall");
}

/* ---- From rank to rank ----------------------------------------------------------------------- */

enum { TAG_ELEMENTS = 2 }; /* after those of states */

/* Begins a message. After a failure it is tried once more; the status is the failure. */
static vscan_status begin_send(struct of_mpi *m, const void *from, int bytes, int to, int tag) {
    MPI_Request *const request = m->requests + m->begun;
    int code = MPI_Isend(from, bytes, MPI_BYTE, to, tag, m->comm, request);
    const vscan_status status = note(&m->shared, code, "MPI_Isend");
    if (status != VSCAN_OK) code = MPI_Isend(from, bytes, MPI_BYTE, to, tag, m->comm, request);
    m->begun += code == MPI_SUCCESS;
    return status;
}

static vscan_status begin_receive(struct of_mpi *m, void *to, int bytes, int from, int tag) {
    MPI_Request *const request = m->requests + m->begun;
    int code = MPI_Irecv(to, bytes, MPI_BYTE, from, tag, m->comm, request);
    const vscan_status status = note(&m->shared, code, "MPI_Irecv");
    if (status != VSCAN_OK) /* a long message that nobody receives would keep its sender waiting */
        code = MPI_Irecv(to, bytes, MPI_BYTE, from, tag, m->comm, request);
    m->begun += code == MPI_SUCCESS;
    return status;
}

/* Waits for none of the messages any more. */
static void abandon(struct of_mpi *m) {
    for (int i = 0; i < m->begun; i++)
        if (m->requests[i] != MPI_REQUEST_NULL) {
            (void)MPI_Request_free(m->requests + i);
            m->shared.abandoned = true;
        }
}

/* Waits for all messages that are under way. After a failure, too, none is left. */
static vscan_status wait_begun(struct of_mpi *m) {
    const vscan_status status =
        note(&m->shared, MPI_Waitall(m->begun, m->requests, m->statuses), "MPI_Waitall");
    /* those that have failed are no more; others may still be under way */
    if (status != VSCAN_OK && MPI_Waitall(m->begun, m->requests, m->statuses) != MPI_SUCCESS)
        abandon(m);
    m->begun = 0;
    return status;
}

static vscan_status send(vscan__ranks *ranks, int to, int message, const void *state, int bytes) {
    memcpy(of(ranks)->sent[message], state, (size_t)bytes);
    return begin_send(of(ranks), of(ranks)->sent[message], bytes, to, message);
}

static vscan_status receive(vscan__ranks *ranks, int from, int message, void *state, int bytes) {
    return note(ranks,
                MPI_Recv(state, bytes, MPI_BYTE, from, message, of(ranks)->comm, MPI_STATUS_IGNORE),
                "MPI_Recv");
}

static vscan_status wait_sent(vscan__ranks *ranks) {
    if (!ranks->broken) return wait_begun(of(ranks));
    abandon(of(ranks)); /* what was sent may never be received */
    return (vscan_status)VSCAN_RANKS_ERROR_TRANSPORT;
}

#ifndef VSCAN__MPI_LONGEST_MESSAGE
#define VSCAN__MPI_LONGEST_MESSAGE (1 << 30) /* bytes: MPI counts by an int. Tests have less */
#endif

/*
 * Begins the messages of what lies from byte `at` on in each rank's run, also after a failure. False: there are none.
 */
static bool begin_all(struct of_mpi *m, const struct vscan__ranks_run *run, int64_t at,
                      vscan_status *status) {
    const vscan__ranks *const ranks = &m->shared;
    bool any = false;
    for (int i = 1; i < 2 * ranks->size; i++) {
        if (i == ranks->size) continue;
        const bool receives =
            i < ranks->size; /* all of these first, so that no message has to wait */
        const int r = receives ? (ranks->rank + ranks->size - i) % ranks->size
                               : (ranks->rank + i) % ranks->size;
        const int64_t *const begin = (receives ? run->receive_begin : run->send_begin) + r;
        const int64_t left = (begin[1] - begin[0]) * run->size - at;
        if (left <= 0) continue;
        const int bytes =
            left < VSCAN__MPI_LONGEST_MESSAGE ? (int)left : VSCAN__MPI_LONGEST_MESSAGE;
        const int64_t place = begin[0] * run->size + at;
        const vscan_status begun =
            receives ? begin_receive(m, run->to.at + place, bytes, r, TAG_ELEMENTS)
                     : begin_send(m, run->from.at + place, bytes, r, TAG_ELEMENTS);
        if (*status == VSCAN_OK) *status = begun;
        any = true;
    }
    return any;
}

static vscan_status exchange(vscan__ranks *ranks, const struct vscan__ranks_run *runs, int n) {
    vscan_status status = VSCAN_OK;
    for (int i = 0; i < n; i++)
        for (int64_t at = 0; begin_all(of(ranks), runs + i, at, &status);
             at += VSCAN__MPI_LONGEST_MESSAGE) {
            const vscan_status waited = wait_begun(of(ranks));
            if (status == VSCAN_OK) status = waited;
        }
    return status;
}

/* ---- Making and destroying ------------------------------------------------------------------- */

static vscan_status check(vscan__ranks *ranks) {
    if (!vscan__mpi_is_finalised()) return VSCAN_OK;
    return vscan__ranks_fail(ranks, (vscan_status)VSCAN_RANKS_ERROR_TRANSPORT, "MPI is finalised");
}

static vscan_status end(vscan__ranks *ranks) {
    struct of_mpi *const m = of(ranks);
    vscan_status status = VSCAN_OK;
    if (m->comm != MPI_COMM_NULL && !ranks->broken && !vscan__mpi_is_finalised())
        status = note_for_all(ranks, MPI_Comm_free(&m->comm), "MPI_Comm_free");
    free(m->requests);
    free(m->statuses);
    return status;
}

static const struct vscan__ranks_transport transport = {.check = check,
                                                        .end = end,
                                                        .takes_gpu_memory =
                                                            vscan__mpi_takes_gpu_memory,
                                                        .all_gather = all_gather,
                                                        .all_gatherv = all_gatherv,
                                                        .all_reduce = all_reduce,
                                                        .all_to_all = all_to_all,
                                                        .send = send,
                                                        .receive = receive,
                                                        .wait_sent = wait_sent,
                                                        .exchange = exchange};

/*
 * Duplicates the communicator. No error handler is touched but the duplicate's: those of other communicators are the
 * caller's, whose other threads may need them meanwhile.
 */
static vscan_status take_comm(struct of_mpi *m, int32_t number) {
    vscan__ranks *const ranks = &m->shared;
    TRY(vscan__mpi_check_running(ranks));
    int between = 0;
    const MPI_Comm comm = MPI_Comm_f2c(number);
    if (!vscan__mpi_is_comm(number))
        return vscan__ranks_fail(ranks, VSCAN_ERROR_VALUE, "comm is no communicator");
    TRY(note(ranks, MPI_Comm_test_inter(comm, &between), "MPI_Comm_test_inter"));
    if (between) return vscan__ranks_fail(ranks, VSCAN_ERROR_VALUE, "comm is an intercommunicator");
    const vscan_status status = note_for_all(ranks, MPI_Comm_dup(comm, &m->comm), "MPI_Comm_dup");
    if (status != VSCAN_OK) m->comm = MPI_COMM_NULL;
    return status;
}

/* What the duplicate is asked. A failure is this rank's alone; tried once more, as others must be told of it. */
static vscan_status ask_comm(struct of_mpi *m) {
    vscan__ranks *const ranks = &m->shared;
    int code = MPI_Comm_set_errhandler(m->comm, MPI_ERRORS_RETURN);
    vscan_status status = note(ranks, code, "MPI_Comm_set_errhandler");
    if (code != MPI_SUCCESS) (void)MPI_Comm_set_errhandler(m->comm, MPI_ERRORS_RETURN);
    code = MPI_Comm_rank(m->comm, &ranks->rank);
    if (code != MPI_SUCCESS) {
        status = note(ranks, code, "MPI_Comm_rank");
        (void)MPI_Comm_rank(m->comm, &ranks->rank);
    }
    code = MPI_Comm_size(m->comm, &ranks->size);
    if (code != MPI_SUCCESS) {
        status = note(ranks, code, "MPI_Comm_size");
        (void)MPI_Comm_size(m->comm, &ranks->size);
    }
    m->requests = calloc(2 * (size_t)ranks->size, sizeof *m->requests);
    m->statuses = calloc(2 * (size_t)ranks->size, sizeof *m->statuses);
    const bool there = m->requests != NULL && m->statuses != NULL;
    return there ? status : vscan__ranks_fail(ranks, VSCAN_ERROR_HOST_MEMORY, "no host memory");
}

vscan_status vscan_mpi_create(vscan_ctx *ctx, int32_t comm, vscan_ranks **ranks) {
    struct of_mpi *const made = calloc(1, sizeof *made);
    vscan__ranks *const shared = vscan__ranks_new((vscan__ranks *)made, &transport, __func__);
    if (shared == NULL) return VSCAN_ERROR_HOST_MEMORY; /* nobody can be told */
    made->comm = MPI_COMM_NULL;
    vscan_status status = take_comm(made, comm);
    if (status == VSCAN_OK) status = vscan__ranks_publish(shared, ask_comm(made), ctx, ranks);
    return status == VSCAN_OK ? VSCAN_OK : vscan__ranks_release(shared, status);
}
