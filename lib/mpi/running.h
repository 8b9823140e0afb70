/* SPDX-License-Identifier: Apache-2.0 */
/* running.c: which MPI runs, and what it says of itself. */
#ifndef VSCAN_MPI_RUNNING_H
#define VSCAN_MPI_RUNNING_H

#include "ranks/internal.h"

/*
 * Whether the MPI that runs is one that the library was built for, and is initialised and not finalised. Before that is
 * known no handle of MPI's is used.
 */
vscan_status vscan__mpi_check_running(vscan__ranks *ranks);

/* After that. Where MPI does not say, it is taken to be there. */
bool vscan__mpi_is_finalised(void);

/* Whether MPI sends from and receives to a GPU's memory. */
bool vscan__mpi_takes_gpu_memory(void);

/*
 * Whether the number is a communicator's, as far as that shows without MPI, which would call an error handler of the
 * caller's that by default ends the process.
 */
bool vscan__mpi_is_comm(int32_t number);

#endif
