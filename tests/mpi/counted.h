/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stands between the library and MPI (the profiling interface): counts what this rank sends, and fails where
 * a test says so.
 */
#ifndef MPI_COUNTED_H
#define MPI_COUNTED_H

#include <stdbool.h>
#include <stdint.h>

struct counted {
    int64_t messages, bytes;          /* from rank to rank */
    int64_t collectives, contributed; /* calls that all ranks make, and the bytes this rank gives */
    int64_t waits;                    /* messages received */
};
extern struct counted counted;

/* X(NAME): every function of MPI that the library calls and that can fail; functions.sh compares. */
#define MPI_COLLECTIVE(X)                                                                          \
    X(Allgather) X(Allgatherv) X(Allreduce) X(Alltoall) X(Comm_dup) X(Comm_free) X(Exscan)
#define MPI_LOCAL(X)                                                                               \
    X(Comm_rank)                                                                                   \
    X(Comm_set_errhandler)                                                                         \
    X(Comm_size)                                                                                   \
    X(Comm_test_inter)                                                                             \
    X(Error_string)                                                                                \
    X(Finalized)                                                                                   \
    X(Get_library_version)                                                                         \
    X(Initialized)                                                                                 \
    X(Irecv)                                                                                       \
    X(Isend)                                                                                       \
    X(Recv)                                                                                        \
    X(Request_free)                                                                                \
    X(Waitall)

#define X(name) OF_##name,
enum mpi_function {
    MPI_COLLECTIVE(X) COLLECTIVE_FUNCTIONS,
    OF_LAST = COLLECTIVE_FUNCTIONS - 1,
    MPI_LOCAL(X) MPI_FUNCTIONS
};
#undef X

/* A function: its calls by this rank, which of them fails from now on (0: none), and how many after it. */
struct mpi_calls {
    const char *name;
    int64_t made;
    int64_t until_failure, more;
    bool failed;
};
extern struct mpi_calls mpi_calls[MPI_FUNCTIONS];

/* What the library has of MPI and has not given back: requests. And how often it changed another's error handler. */
struct mpi_held {
    int64_t requests, handlers;
};
extern struct mpi_held mpi_held;

#endif
