/* SPDX-License-Identifier: Apache-2.0 */
#include "counted.h"

#include <mpi.h>
#include <sched.h>

struct counted counted;
struct mpi_held mpi_held;

#define X(function) [OF_##function] = {.name = "MPI_" #function},
struct mpi_calls mpi_calls[MPI_FUNCTIONS] = {MPI_COLLECTIVE(X) MPI_LOCAL(X)};
#undef X

static bool fails(enum mpi_function function) {
    struct mpi_calls *const calls = mpi_calls + function;
    calls->made++;
    if (calls->until_failure == 0 || --calls->until_failure > 0) return false;
    if (calls->more > 0) calls->more--, calls->until_failure = 1;
    return calls->failed = true;
}

static int64_t bytes_of(int count, MPI_Datatype type) {
    int size;
    PMPI_Type_size(type, &size);
    return (int64_t)count * size;
}

/* MPICH spins while it waits, which takes long where there are more ranks than processors. */
static int wait_for(int code, MPI_Request *request) {
    for (int done = 0; code == MPI_SUCCESS;) {
        code = PMPI_Test(request, &done, MPI_STATUS_IGNORE);
        if (done) break;
        sched_yield();
    }
    return code;
}

int MPI_Isend(const void *from, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request *request) {
    if (fails(OF_Isend)) return MPI_ERR_OTHER;
    counted.messages++;
    counted.bytes += bytes_of(count, type);
    mpi_held.requests++;
    return PMPI_Isend(from, count, type, to, tag, comm, request);
}

int MPI_Recv(void *to, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
             MPI_Status *status) {
    if (fails(OF_Recv)) return MPI_ERR_OTHER;
    counted.waits++;
    (void)status;
    MPI_Request request;
    return wait_for(PMPI_Irecv(to, count, type, from, tag, comm, &request), &request);
}

int MPI_Allgather(const void *from, int count, MPI_Datatype type, void *to, int to_count,
                  MPI_Datatype to_type, MPI_Comm comm) {
    if (fails(OF_Allgather)) return MPI_ERR_OTHER;
    counted.collectives++;
    counted.contributed += bytes_of(count, type);
    MPI_Request request;
    return wait_for(PMPI_Iallgather(from, count, type, to, to_count, to_type, comm, &request),
                    &request);
}

int MPI_Allgatherv(const void *from, int count, MPI_Datatype type, void *to, const int *counts,
                   const int *displacements, MPI_Datatype to_type, MPI_Comm comm) {
    if (fails(OF_Allgatherv)) return MPI_ERR_OTHER;
    int rank;
    PMPI_Comm_rank(comm, &rank);
    counted.collectives++;
    counted.contributed += bytes_of(counts[rank], to_type);
    MPI_Request request;
    return wait_for(
        PMPI_Iallgatherv(from, count, type, to, counts, displacements, to_type, comm, &request),
        &request);
}

int MPI_Allreduce(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm) {
    if (fails(OF_Allreduce)) return MPI_ERR_OTHER;
    counted.collectives++;
    counted.contributed += bytes_of(count, type);
    MPI_Request request;
    return wait_for(PMPI_Iallreduce(from, to, count, type, op, comm, &request), &request);
}

int MPI_Irecv(void *to, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
              MPI_Request *request) {
    if (fails(OF_Irecv)) return MPI_ERR_OTHER;
    mpi_held.requests++;
    return PMPI_Irecv(to, count, type, from, tag, comm, request);
}

int MPI_Waitall(int n, MPI_Request requests[], MPI_Status statuses[]) {
    if (fails(OF_Waitall)) return MPI_ERR_OTHER; /* and does not wait */
    int code = MPI_SUCCESS;
    for (int i = 0; i < n; i++) mpi_held.requests -= requests[i] != MPI_REQUEST_NULL;
    for (int done = 0; code == MPI_SUCCESS;) {
        code = PMPI_Testall(n, requests, &done, statuses);
        if (done) break;
        sched_yield();
    }
    return code;
}

int MPI_Alltoall(const void *from, int count, MPI_Datatype type, void *to, int to_count,
                 MPI_Datatype to_type, MPI_Comm comm) {
    if (fails(OF_Alltoall)) return MPI_ERR_OTHER;
    int ranks;
    PMPI_Comm_size(comm, &ranks);
    counted.collectives++;
    counted.contributed += ranks * bytes_of(count, type);
    MPI_Request request;
    return wait_for(PMPI_Ialltoall(from, count, type, to, to_count, to_type, comm, &request),
                    &request);
}

int MPI_Exscan(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
    if (fails(OF_Exscan)) return MPI_ERR_OTHER;
    counted.collectives++;
    counted.contributed += bytes_of(count, type);
    MPI_Request request;
    return wait_for(PMPI_Iexscan(from, to, count, type, op, comm, &request), &request);
}

/* Waits, so that no message is under way when a test frees its memory. */
int MPI_Request_free(MPI_Request *request) {
    mpi_held.requests--;
    const int code = wait_for(MPI_SUCCESS, request);
    return fails(OF_Request_free) ? MPI_ERR_OTHER : code;
}

int MPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler handler) {
    if (fails(OF_Comm_set_errhandler)) return MPI_ERR_OTHER;
    mpi_held.handlers += comm == MPI_COMM_WORLD || comm == MPI_COMM_SELF;
    return PMPI_Comm_set_errhandler(comm, handler);
}

int MPI_Comm_free(MPI_Comm *comm) {
    const int code = PMPI_Comm_free(comm);
    return fails(OF_Comm_free) ? MPI_ERR_OTHER : code;
}

/* Those that do nothing else but fail. */
#define FAILING(name, parameters, arguments)                                                       \
    int MPI_##name parameters {                                                                    \
        return fails(OF_##name) ? MPI_ERR_OTHER : PMPI_##name arguments;                           \
    }

FAILING(Comm_dup, (MPI_Comm comm, MPI_Comm *duplicate), (comm, duplicate))
FAILING(Comm_rank, (MPI_Comm comm, int *rank), (comm, rank))
FAILING(Comm_size, (MPI_Comm comm, int *size), (comm, size))
FAILING(Comm_test_inter, (MPI_Comm comm, int *is_inter), (comm, is_inter))
FAILING(Error_string, (int code, char *words, int *length), (code, words, length))
FAILING(Finalized, (int *is_down), (is_down))
FAILING(Get_library_version, (char *words, int *length), (words, length))
FAILING(Initialized, (int *is_up), (is_up))
