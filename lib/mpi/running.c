/* SPDX-License-Identifier: Apache-2.0 */
/* Which MPI runs, whether it can be called, what it has as a communicator, and whether it takes a GPU's memory. */
#include <mpi.h>
#include <string.h>

#include "running.h"

#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif

/*
 * MPIs whose handles are alike, so that one can stand for another: this is what the library was compiled for. A program
 * that is linked with another MPI has the functions of that one, which would be given handles that they do not know.
 */
#ifdef OPEN_MPI
static const char built_for[] = "Open MPI";
#elif defined(MPICH_NAME) || defined(I_MPI_VERSION)
#define MPICH_HANDLES 1
static const char built_for[] = "MPICH";
#else
static const char built_for[] = "";
#endif

/* Which of them calls itself so; "": that is not known. */
static const char *kind_of(const char *version) {
    if (strncmp(version, "Open MPI", strlen("Open MPI")) == 0) return "Open MPI";
    return strstr(version, "MPICH") != NULL || strstr(version, "MVAPICH") != NULL ||
                   strstr(version, "Intel(R) MPI") != NULL
               ? "MPICH"
               : "";
}

bool vscan__mpi_is_finalised(void) {
    int is_down = 0;
    (void)MPI_Finalized(&is_down);
    return is_down != 0;
}

vscan_status vscan__mpi_check_running(vscan__ranks *ranks) {
    enum { LONGEST = 8192 }; /* MPICH's names, which are longer than Open MPI's */
    _Static_assert(MPI_MAX_LIBRARY_VERSION_STRING <= LONGEST, "no room for MPI's name");
    const vscan_status status = (vscan_status)VSCAN_RANKS_ERROR_TRANSPORT;
    char version[LONGEST] = "";
    int length, is_up = 0;
    (void)MPI_Get_library_version(version, &length);
    const char *const running = kind_of(version);
    if (built_for[0] != '\0' && running[0] != '\0' && strcmp(built_for, running) != 0)
        return vscan__ranks_fail(ranks, status,
                                 "libvscan_mpi was built for %s, the program's MPI is %s",
                                 built_for, running);
    if (MPI_Initialized(&is_up) != MPI_SUCCESS || !is_up)
        return vscan__ranks_fail(ranks, status, "MPI is not initialised%s%s",
                                 built_for[0] != '\0' ? "; libvscan_mpi was built for " : "",
                                 built_for);
    return vscan__mpi_is_finalised() ? vscan__ranks_fail(ranks, status, "MPI is finalised")
                                     : VSCAN_OK;
}

bool vscan__mpi_is_comm(int32_t number) {
    const MPI_Comm comm = MPI_Comm_f2c(number);
#ifdef MPICH_HANDLES
    /* the highest two bits say where an object lies, where 0 is nowhere, and the next four what it is */
    const uint32_t bits = (uint32_t)number, of_world = (uint32_t)MPI_COMM_WORLD;
    if (bits >> 30 == 0 || ((bits ^ of_world) & UINT32_C(0x3c000000)) != 0) return false;
#endif /* Open MPI's MPI_Comm_f2c knows all communicators */
    return comm != MPI_COMM_NULL && comm != (MPI_Comm)0;
}

bool vscan__mpi_takes_gpu_memory(void) {
#if defined(OMPI_HAVE_MPI_EXT_CUDA)
    return MPIX_Query_cuda_support() == 1;
#elif defined(MPIX_GPU_SUPPORT_CUDA)
    int takes = 0;
    return MPIX_GPU_query_support(MPIX_GPU_SUPPORT_CUDA, &takes) == MPI_SUCCESS && takes;
#else
    return false;
#endif
}
