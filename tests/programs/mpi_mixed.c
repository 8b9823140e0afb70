/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every operation of libvscan_ranks, with even ranks on a GPU and odd ones on the CPU:
 *
 *     mpirun -n 4 mpi_mixed [n [seed]]
 *
 * Where there is no GPU, or where VSCAN_BACKEND is cpu, all ranks are on the CPU. Each rank compares what it receives
 * with its piece of one call on the whole vector, on the CPU, bit for bit (tests/ranks/verbs.c). Prints "N passed, N
 * failed". Exit status 1 where one has failed.
 */
#include <inttypes.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vscan_mpi.h>

#include "verbs.h"

void stop(vscan_status status, const char *call) {
    fprintf(stderr, "rank %d: %s: %s: %s | %s\n", rank, call, vscan_ranks_status_name(status),
            vscan_ranks_last_error(group), vscan_ctx_last_error(ctx));
    MPI_Abort(MPI_COMM_WORLD, 1);
}

bool all_say(bool yes) {
    int all = yes;
    MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
    return all != 0;
}

/* The rank's context. An even rank's is on the GPU, if there is one. */
static bool open_context(void) {
    const char *const backend = getenv("VSCAN_BACKEND");
    vscan_ctx_options options = {.size = sizeof options, .backend = VSCAN_BACKEND_CPU};
    CHECK(vscan_ctx_create(&options, &host));
    options.backend = VSCAN_BACKEND_CUDA;
    const bool may = rank % 2 == 0 && (backend == NULL || strcmp(backend, "cpu") != 0);
    if (may && vscan_ctx_create(&options, &ctx) == VSCAN_OK) return true;
    options.backend = VSCAN_BACKEND_CPU;
    CHECK(vscan_ctx_create(&options, &ctx));
    return false;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int64_t n = argc > 1 ? strtoll(argv[1], NULL, 10) : 300000;
    const uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    if (n < 1 || ranks > MOST_RANKS) {
        if (rank == 0) fprintf(stderr, "usage: mpi_mixed [n [seed]], with at most 63 ranks\n");
        MPI_Finalize();
        return 2;
    }
    int on_gpu = open_context();
    CHECK(vscan_mpi_create(ctx, MPI_Comm_c2f(MPI_COMM_WORLD), &group));
    run_verbs(n, seed);
    MPI_Allreduce(MPI_IN_PLACE, &on_gpu, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("%d ranks on a GPU, %d on the CPU, n = %" PRId64 "\n", on_gpu, ranks - on_gpu, n);
        printf("%" PRId64 " passed, %" PRId64 " failed\n", passed, failed);
    }
    CHECK(vscan_ranks_destroy(group));
    CHECK(vscan_ctx_destroy(ctx));
    CHECK(vscan_ctx_destroy(host));
    MPI_Finalize();
    return failed > 0;
}
