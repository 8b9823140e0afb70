/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * vscan_mpi.h - groups of ranks that reach each other by MPI.
 *
 * This header is the whole interface of libvscan_mpi, and its manual: it makes a vscan_ranks of a communicator. The
 * functions of vscan_ranks.h do the rest.
 *
 *     vscan_ranks *ranks;
 *     vscan_mpi_create(ctx, MPI_Comm_c2f(MPI_COMM_WORLD), &ranks);
 *     vscan_ranks_scan(ranks, VSCAN_PLUS, part, part, NULL);
 *     vscan_ranks_destroy(ranks);
 *
 * Threads. MPI must be initialised with a thread level that suits the caller; the library calls MPI only inside
 * calls, in the caller's thread.
 *
 * GPUs. Messages lie in a GPU's memory where MPI says that it takes that.
 *
 * MPI's errors. The library works on a duplicate of the communicator, which returns errors, and never aborts. The
 * error handlers of other communicators are the caller's, and are left alone; so an error of MPI while
 * vscan_mpi_create makes the duplicate goes to the handler of the communicator that is duplicated, as after any
 * call of MPI (by default it ends the process). After an error of MPI the vscan_ranks is useless, and every later
 * call with it returns TRANSPORT. Until MPI_Finalize, MPI may go on using the buffers of the call that failed; do not
 * free them. After MPI_Finalize every call returns TRANSPORT, too. A rank that never comes leaves the others waiting,
 * as in MPI.
 */
#ifndef VSCAN_MPI_H
#define VSCAN_MPI_H

#include <vscan_ranks.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Making ---------------------------------------------------------------------------------- */

/**
 * Makes a vscan_ranks. Collective over the communicator, which is duplicated.
 *   ctx    this rank's context; it must outlive the vscan_ranks
 *   comm   an intracommunicator as an integer: MPI_Comm_c2f(communicator), or comm.py2f() of mpi4py. So this
 *          header needs no mpi.h, and callers in other languages need no struct of MPI's. What is no
 *          communicator is refused where that shows; MPICH alone knows which ones have been freed, and calls
 *          its error handler
 *   ranks  not NULL; receives the vscan_ranks, and is unchanged after a failure
 * A library that was built for Open MPI cannot work in a program of MPICH, nor the other way round: that is the
 * status TRANSPORT, and the sentence names both. (MPIs with the interface of MPICH stand for each other.)
 * A rank whose comm is refused, whose MPI cannot be used, or that has no memory for the handle itself
 * returns alone. All other failures are known to all ranks. The sentence is that of
 * vscan_ranks_last_error(NULL).
 * Statuses: NULL, HANDLE (ctx), VALUE (comm is no intracommunicator), HOST_MEMORY (also: there are 1024
 * already), TRANSPORT. Since 1.0.0.
 */
VSCAN_API vscan_status vscan_mpi_create(vscan_ctx *ctx, int32_t comm, vscan_ranks **ranks);

#ifdef __cplusplus
}
#endif

#endif
