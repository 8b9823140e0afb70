/* SPDX-License-Identifier: Apache-2.0 */
#include "counted.h"

#include <mpi.h>
#include <sched.h>

struct counted counted;
int64_t collectives_until_failure, messages_until_failure;
bool next_wait_fails;

static int fails(void) {
    return collectives_until_failure > 0 && --collectives_until_failure == 0;
}

static int message_fails(void) {
    return messages_until_failure > 0 && --messages_until_failure == 0;
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
    if (message_fails()) return MPI_ERR_OTHER;
    counted.messages++;
    counted.bytes += bytes_of(count, type);
    return PMPI_Isend(from, count, type, to, tag, comm, request);
}

int MPI_Recv(void *to, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
             MPI_Status *status) {
    counted.waits++;
    (void)status;
    MPI_Request request;
    return wait_for(PMPI_Irecv(to, count, type, from, tag, comm, &request), &request);
}

int MPI_Allgather(const void *from, int count, MPI_Datatype type, void *to, int to_count,
                  MPI_Datatype to_type, MPI_Comm comm) {
    if (fails()) return MPI_ERR_OTHER;
    counted.collectives++;
    counted.contributed += bytes_of(count, type);
    MPI_Request request;
    return wait_for(PMPI_Iallgather(from, count, type, to, to_count, to_type, comm, &request),
                    &request);
}

int MPI_Allgatherv(const void *from, int count, MPI_Datatype type, void *to, const int *counts,
                   const int *displacements, MPI_Datatype to_type, MPI_Comm comm) {
    if (fails()) return MPI_ERR_OTHER;
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
    if (fails()) return MPI_ERR_OTHER;
    counted.collectives++;
    counted.contributed += bytes_of(count, type);
    MPI_Request request;
    return wait_for(PMPI_Iallreduce(from, to, count, type, op, comm, &request), &request);
}

int MPI_Bcast(void *data, int count, MPI_Datatype type, int root, MPI_Comm comm) {
    if (fails()) return MPI_ERR_OTHER;
    counted.collectives++;
    MPI_Request request;
    return wait_for(PMPI_Ibcast(data, count, type, root, comm, &request), &request);
}

int MPI_Irecv(void *to, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
              MPI_Request *request) {
    if (message_fails()) return MPI_ERR_OTHER;
    return PMPI_Irecv(to, count, type, from, tag, comm, request);
}

int MPI_Waitall(int n, MPI_Request requests[], MPI_Status statuses[]) {
    int code = MPI_SUCCESS;
    for (int done = 0; code == MPI_SUCCESS;) {
        code = PMPI_Testall(n, requests, &done, statuses);
        if (done) break;
        sched_yield();
    }
    if (next_wait_fails) code = MPI_ERR_OTHER;
    next_wait_fails = false;
    return code;
}

int MPI_Alltoall(const void *from, int count, MPI_Datatype type, void *to, int to_count,
                 MPI_Datatype to_type, MPI_Comm comm) {
    if (fails()) return MPI_ERR_OTHER;
    int ranks;
    PMPI_Comm_size(comm, &ranks);
    counted.collectives++;
    counted.contributed += ranks * bytes_of(count, type);
    MPI_Request request;
    return wait_for(PMPI_Ialltoall(from, count, type, to, to_count, to_type, comm, &request),
                    &request);
}

int MPI_Exscan(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
    if (fails()) return MPI_ERR_OTHER;
    counted.collectives++;
    counted.contributed += bytes_of(count, type);
    MPI_Request request;
    return wait_for(PMPI_Iexscan(from, to, count, type, op, comm, &request), &request);
}
