/* SPDX-License-Identifier: Apache-2.0 */
/* Statuses and sentences. */
#include <stdarg.h>
#include <stdio.h>

#include "internal.h"

const char *vscan_mpi_status_name(vscan_status status) {
    switch ((int)status) {
    case VSCAN_MPI_ERROR_DIFFERENT:
        return "VSCAN_MPI_ERROR_DIFFERENT";
    case VSCAN_MPI_ERROR_MPI:
        return "VSCAN_MPI_ERROR_MPI";
    default:
        return vscan_status_name(status);
    }
}

const char *vscan_mpi_status_text(vscan_status status) {
    switch ((int)status) {
    case VSCAN_MPI_ERROR_DIFFERENT:
        return "ranks call different functions, or the same with different arguments";
    case VSCAN_MPI_ERROR_MPI:
        return "MPI failed, is not initialised, is finalised, or is another one than expected";
    default:
        return vscan_status_text(status);
    }
}

vscan_status vscan__mpi_fail(vscan__mpi *mpi, vscan_status status, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const int used = snprintf(mpi->sentence, SENTENCE, "%s: ", mpi->function);
    vsnprintf(mpi->sentence + used, (size_t)(SENTENCE - used), format, arguments);
    va_end(arguments);
    return status;
}

vscan_status vscan__mpi_say(vscan__mpi *mpi, const vscan_ctx *ctx, vscan_status status) {
    if (status == VSCAN_OK) return VSCAN_OK;
    const char *words = status == VSCAN_ERROR_HANDLE ? "" : vscan_ctx_last_error(ctx);
    if (words[0] == '\0') words = vscan_ctx_last_error(NULL);
    return vscan__mpi_fail(mpi, status, "%s", words[0] != '\0' ? words : vscan_status_text(status));
}
