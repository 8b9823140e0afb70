/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program of one MPI with a libvscan_mpi that was built for another one: that is a status, and a sentence which names
 * both. Arguments: their names, of the library's first. (Nothing of MPI's could be said otherwise: with the functions of
 * one and the handles of the other, it ends the process.)
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "vscan_mpi.h"

int main(int argc, char **argv) {
    vscan_ctx *ctx;
    vscan_ranks *group = NULL;
    char expected[128];
    if (argc != 3) return 2;
    MPI_Init(&argc, &argv);
    snprintf(expected, sizeof expected, "built for %s, the program's MPI is %s", argv[1], argv[2]);
    const vscan_ctx_options cpu = {.size = sizeof cpu, .backend = VSCAN_BACKEND_CPU};
    int good = vscan_ctx_create(&cpu, &ctx) == VSCAN_OK;
    const vscan_status status = vscan_mpi_create(ctx, MPI_Comm_c2f(MPI_COMM_WORLD), &group);
    const char *const sentence = vscan_ranks_last_error(NULL);
    good = good && (int)status == VSCAN_RANKS_ERROR_TRANSPORT && group == NULL &&
           strstr(sentence, expected) != NULL;
    printf("%s: %s: %s\n", good ? "PASSED" : "FAILED", vscan_ranks_status_name(status), sentence);
    (void)vscan_ctx_destroy(ctx);
    MPI_Finalize();
    return good ? 0 : 1;
}
