/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages from rank to rank. Where MPI fails at one, the other ranks know nothing of it, and wait for what this rank
 * should send. So the rank goes on with the call, tries once more what others depend on, and tells its failure with
 * the next collective call.
 */
#include "internal.h"

vscan_status vscan__mpi_note(vscan__mpi *mpi, int code, const char *name) {
    if (code == MPI_SUCCESS) return VSCAN_OK;
    char words[MPI_MAX_ERROR_STRING + 1] = "";
    int length = 0;
    if (MPI_Error_string(code, words, &length) != MPI_SUCCESS) length = 0;
    words[length] = '\0';
    return vscan__mpi_fail(mpi, (vscan_status)VSCAN_MPI_ERROR_MPI, "%s: %s", name, words);
}

vscan_status vscan__mpi_send(vscan__mpi *mpi, const void *from, int bytes, int to, int tag,
                             MPI_Request *requests, int *begun) {
    MPI_Request *const request = requests + *begun;
    int code = MPI_Isend(from, bytes, MPI_BYTE, to, tag, mpi->comm, request);
    const vscan_status status = vscan__mpi_note(mpi, code, "MPI_Isend");
    if (status != VSCAN_OK) code = MPI_Isend(from, bytes, MPI_BYTE, to, tag, mpi->comm, request);
    *begun += code == MPI_SUCCESS;
    return status;
}

vscan_status vscan__mpi_receive(vscan__mpi *mpi, void *to, int bytes, int from, int tag,
                                MPI_Request *requests, int *begun) {
    MPI_Request *const request = requests + *begun;
    int code = MPI_Irecv(to, bytes, MPI_BYTE, from, tag, mpi->comm, request);
    const vscan_status status = vscan__mpi_note(mpi, code, "MPI_Irecv");
    if (status != VSCAN_OK) /* a long message that nobody receives would keep its sender waiting */
        code = MPI_Irecv(to, bytes, MPI_BYTE, from, tag, mpi->comm, request);
    *begun += code == MPI_SUCCESS;
    return status;
}

void vscan__mpi_abandon(vscan__mpi *mpi, MPI_Request *requests, int begun) {
    for (int i = 0; i < begun; i++)
        if (requests[i] != MPI_REQUEST_NULL) {
            (void)MPI_Request_free(requests + i);
            mpi->abandoned = true;
        }
}

vscan_status vscan__mpi_wait(vscan__mpi *mpi, MPI_Request *requests, int begun) {
    const vscan_status status =
        vscan__mpi_note(mpi, MPI_Waitall(begun, requests, mpi->statuses), "MPI_Waitall");
    if (status == VSCAN_OK) return VSCAN_OK;
    /* those that have failed are no more; others may still be under way */
    if (MPI_Waitall(begun, requests, mpi->statuses) != MPI_SUCCESS)
        vscan__mpi_abandon(mpi, requests, begun);
    return status;
}
