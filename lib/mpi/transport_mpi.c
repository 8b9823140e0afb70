/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The transport by MPI, on a duplicate of the caller's communicator. Where MPI fails at a message, the other ranks know
 * nothing of it, and wait for what this rank should send. So the rank goes on with the call, tries once more what
 * others depend on, and tells its failure with the next collective call.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/* What is behind a handle. */
struct of_mpi {
    vscan__mpi shared;
    MPI_Comm comm;
    MPI_Request *requests; /* two a rank */
    MPI_Status *statuses;
    int begun;                                /* requests of messages that are under way */
    unsigned char sent[2][VSCAN_CARRY_BYTES]; /* states, which MPI may need after a call to send */
};

static struct of_mpi *of(vscan__mpi *mpi) {
    return (struct of_mpi *)mpi;
}

/*
 * What an MPI function has returned that fails on this rank alone, as a status. The rank must go on with the call, and
 * tell all ranks.
 */
static vscan_status note(vscan__mpi *mpi, int code, const char *name) {
    if (code == MPI_SUCCESS) return VSCAN_OK;
    char words[MPI_MAX_ERROR_STRING + 1] = "";
    int length = 0;
    if (MPI_Error_string(code, words, &length) != MPI_SUCCESS) length = 0;
    words[length] = '\0';
    return vscan__mpi_fail(mpi, (vscan_status)VSCAN_MPI_ERROR_MPI, "%s: %s", name, words);
}

/* What a collective MPI function has returned, as a status. After a failure the ranks are no longer together. */
static vscan_status note_for_all(vscan__mpi *mpi, int code, const char *name) {
    if (code == MPI_SUCCESS) return VSCAN_OK;
    char called[40];
    snprintf(called, sizeof called, "rank %d: %s", mpi->rank, name);
    mpi->broken = true;
    return note(mpi, code, called);
}

/* ---- To all ranks ---------------------------------------------------------------------------- */

static vscan_status all_gather(vscan__mpi *mpi, const void *own, int bytes, void *all) {
    return note_for_all(mpi,
                        MPI_Allgather(own, bytes, MPI_BYTE, all, bytes, MPI_BYTE, of(mpi)->comm),
                        "MPI_Allgather");
}

static vscan_status all_gatherv(vscan__mpi *mpi, uint64_t *all, const int *counts,
                                const int *begins) {
    return note_for_all(mpi,
                        MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_UINT64_T, all, counts, begins,
                                       MPI_UINT64_T, of(mpi)->comm),
                        "MPI_Allgatherv");
}

static vscan_status all_reduce(vscan__mpi *mpi, enum vscan__mpi_reduction how, const int64_t *own,
                               int64_t *all, int n) {
    if (how != REDUCE_SUM_BEFORE)
        return note_for_all(mpi,
                            MPI_Allreduce(own, all, n, MPI_INT64_T,
                                          how == REDUCE_MIN ? MPI_MIN : MPI_SUM, of(mpi)->comm),
                            "MPI_Allreduce");
    const int code = MPI_Exscan(own, all, n, MPI_INT64_T, MPI_SUM, of(mpi)->comm);
    for (int i = 0; mpi->rank == 0 && i < n; i++) all[i] = 0; /* MPI leaves it open */
    return note_for_all(mpi, code, "MPI_Exscan");
}

static vscan_status all_to_all(vscan__mpi *mpi, const int64_t *own, int64_t *all) {
    return note_for_all(mpi, MPI_Alltoall(own, 1, MPI_INT64_T, all, 1, MPI_INT64_T, of(mpi)->comm),
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

static vscan_status send(vscan__mpi *mpi, int to, int message, const void *state, int bytes) {
    memcpy(of(mpi)->sent[message], state, (size_t)bytes);
    return begin_send(of(mpi), of(mpi)->sent[message], bytes, to, message);
}

static vscan_status receive(vscan__mpi *mpi, int from, int message, void *state, int bytes) {
    return note(mpi,
                MPI_Recv(state, bytes, MPI_BYTE, from, message, of(mpi)->comm, MPI_STATUS_IGNORE),
                "MPI_Recv");
}

static vscan_status wait_sent(vscan__mpi *mpi) {
    if (!mpi->broken) return wait_begun(of(mpi));
    abandon(of(mpi)); /* what was sent may never be received */
    return (vscan_status)VSCAN_MPI_ERROR_MPI;
}

#ifndef VSCAN__MPI_LONGEST_MESSAGE
#define VSCAN__MPI_LONGEST_MESSAGE (1 << 30) /* bytes: MPI counts by an int. Tests have less */
#endif

/*
 * Begins the messages of what lies from byte `at` on in each rank's run, also after a failure. False: there are none.
 */
static bool begin_all(struct of_mpi *m, const char *from, char *to, int64_t size, int64_t at,
                      vscan_status *status) {
    const vscan__mpi *const mpi = &m->shared;
    bool any = false;
    for (int i = 1; i < 2 * mpi->size; i++) {
        if (i == mpi->size) continue;
        const bool receives =
            i < mpi->size; /* all of these first, so that no message has to wait */
        const int r =
            receives ? (mpi->rank + mpi->size - i) % mpi->size : (mpi->rank + i) % mpi->size;
        const int64_t *const begin = (receives ? mpi->receive_begin : mpi->send_begin) + r;
        const int64_t left = (begin[1] - begin[0]) * size - at;
        if (left <= 0) continue;
        const int bytes =
            left < VSCAN__MPI_LONGEST_MESSAGE ? (int)left : VSCAN__MPI_LONGEST_MESSAGE;
        const int64_t place = begin[0] * size + at;
        const vscan_status begun = receives ? begin_receive(m, to + place, bytes, r, TAG_ELEMENTS)
                                            : begin_send(m, from + place, bytes, r, TAG_ELEMENTS);
        if (*status == VSCAN_OK) *status = begun;
        any = true;
    }
    return any;
}

static vscan_status exchange(vscan__mpi *mpi, struct vscan__mpi_place from,
                             struct vscan__mpi_place to, int64_t size) {
    vscan_status status = VSCAN_OK;
    for (int64_t at = 0; begin_all(of(mpi), from.at, to.at, size, at, &status);
         at += VSCAN__MPI_LONGEST_MESSAGE) {
        const vscan_status waited = wait_begun(of(mpi));
        if (status == VSCAN_OK) status = waited;
    }
    return status;
}

/* ---- Making and destroying ------------------------------------------------------------------- */

static vscan_status check(vscan__mpi *mpi) {
    if (!vscan__mpi_is_finalised()) return VSCAN_OK;
    return vscan__mpi_fail(mpi, (vscan_status)VSCAN_MPI_ERROR_MPI, "MPI is finalised");
}

static vscan_status end(vscan__mpi *mpi) {
    struct of_mpi *const m = of(mpi);
    vscan_status status = VSCAN_OK;
    if (m->comm != MPI_COMM_NULL && !mpi->broken && !vscan__mpi_is_finalised())
        status = note_for_all(mpi, MPI_Comm_free(&m->comm), "MPI_Comm_free");
    free(m->requests);
    free(m->statuses);
    return status;
}

static const struct vscan__mpi_transport transport = {.check = check,
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
    vscan__mpi *const mpi = &m->shared;
    TRY(vscan__mpi_check_running(mpi));
    int between = 0;
    const MPI_Comm comm = MPI_Comm_f2c(number);
    if (!vscan__mpi_is_comm(number))
        return vscan__mpi_fail(mpi, VSCAN_ERROR_VALUE, "comm is no communicator");
    TRY(note(mpi, MPI_Comm_test_inter(comm, &between), "MPI_Comm_test_inter"));
    if (between) return vscan__mpi_fail(mpi, VSCAN_ERROR_VALUE, "comm is an intercommunicator");
    const vscan_status status = note_for_all(mpi, MPI_Comm_dup(comm, &m->comm), "MPI_Comm_dup");
    if (status != VSCAN_OK) m->comm = MPI_COMM_NULL;
    return status;
}

/* What the duplicate is asked. A failure is this rank's alone; tried once more, as others must be told of it. */
static vscan_status ask_comm(struct of_mpi *m) {
    vscan__mpi *const mpi = &m->shared;
    int code = MPI_Comm_set_errhandler(m->comm, MPI_ERRORS_RETURN);
    vscan_status status = note(mpi, code, "MPI_Comm_set_errhandler");
    if (code != MPI_SUCCESS) (void)MPI_Comm_set_errhandler(m->comm, MPI_ERRORS_RETURN);
    code = MPI_Comm_rank(m->comm, &mpi->rank);
    if (code != MPI_SUCCESS) {
        status = note(mpi, code, "MPI_Comm_rank");
        (void)MPI_Comm_rank(m->comm, &mpi->rank);
    }
    code = MPI_Comm_size(m->comm, &mpi->size);
    if (code != MPI_SUCCESS) {
        status = note(mpi, code, "MPI_Comm_size");
        (void)MPI_Comm_size(m->comm, &mpi->size);
    }
    m->requests = calloc(2 * (size_t)mpi->size, sizeof *m->requests);
    m->statuses = calloc(2 * (size_t)mpi->size, sizeof *m->statuses);
    const bool there = m->requests != NULL && m->statuses != NULL;
    return there ? status : vscan__mpi_fail(mpi, VSCAN_ERROR_HOST_MEMORY, "no host memory");
}

vscan_status vscan_mpi_create(vscan_ctx *ctx, int32_t comm, vscan_mpi **mpi) {
    struct of_mpi *const made = calloc(1, sizeof *made);
    vscan__mpi *const shared = vscan__mpi_new((vscan__mpi *)made, &transport, __func__);
    if (shared == NULL) return VSCAN_ERROR_HOST_MEMORY; /* nobody can be told */
    made->comm = MPI_COMM_NULL;
    vscan_status status = take_comm(made, comm);
    if (status == VSCAN_OK) status = vscan__mpi_publish(shared, ask_comm(made), ctx, mpi);
    return status == VSCAN_OK ? VSCAN_OK : vscan__mpi_release(shared, status);
}
