/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every collective function on random parts of random vectors, against one call of libvscan on the whole
 * vector. Run by mpirun with any number of ranks; arguments: [seed [cases]].
 */
#include <mpi.h>
#include <time.h>

#include "scan_case.h"
#include "stand_in.h"
#include "wrong.h"

int rank, ranks;
uint64_t seed;
vscan_ctx *ctx;
vscan_ranks *group;
bool small;
static int64_t cases = 100;

void end_badly(void) {
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}

void OK_(vscan_status status, const char *call) {
    CHECK(status == VSCAN_OK, "%s: %s: %s | %s", call, vscan_ranks_status_name(status),
          vscan_ranks_last_error(group), vscan_ctx_last_error(ctx));
}

/* A new vscan_ranks: other ranks have a GPU, or none, and an MPI that takes its memory, or does not. */
static void renew_with_stand_in(void) {
    OK(vscan_ranks_destroy(group));
    CHECK(locked == 0, "%lld rooms are locked", (long long)locked);
    pretends_gpu = draw() >> (rank % 32) & 1;
    OK(vscan_mpi_create(ctx, MPI_Comm_c2f(MPI_COMM_WORLD), &group));
    most_values = 0;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const char *from = getenv("VSCAN_TEST_SEED");
    struct timespec now; /* MPI_Wtime may count from its first call on */
    timespec_get(&now, TIME_UTC);
    seed = argc > 1       ? strtoull(argv[1], NULL, 10)
           : from != NULL ? strtoull(from, NULL, 10)
                          : (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
    MPI_Bcast(&seed, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    const char *const sizes = getenv("VSCAN_TEST_SIZES");
    small = sizes != NULL && strcmp(sizes, "small") == 0;
    if (small) cases = CUTS; /* one of each way to cut */
    if (argc > 2) cases = strtoll(argv[2], NULL, 10);
    if (rank == 0) printf("%d ranks, seed %llu\n", ranks, (unsigned long long)seed), fflush(stdout);
    const vscan_ctx_options options = {.size = sizeof options, .backend = VSCAN_BACKEND_CPU};
    OK(vscan_ctx_create(&options, &ctx));
    OK(vscan_mpi_create(ctx, MPI_Comm_c2f(MPI_COMM_WORLD), &group));
    CHECK(vscan_ranks_rank(group) == rank && vscan_ranks_size(group) == ranks, "not this rank");
    test_refused();
    test_mpi_failures();
    test_failures();
    pretends_gpu = rank % 2 == 1;
    test_wrong_moves();
    renew();
    locked = 0; /* what is abandoned stays locked */
    check_all_failed();
    test_segmented_blocks();
    test_reading_of_flags();
    test_memory_of_moves();

    for (int64_t i = 0; i < cases; i++) {
        if (i % 5 == 0) renew_with_stand_in();
        test_scan(i);
        test_segmented(i);
        test_positions(i);
        if (i % 4 > 0) continue; /* these take longer */
        test_moves(i / 4);
        test_sorts(i / 4);
    }
    OK(vscan_ranks_destroy(group));
    CHECK(locked == 0, "%lld rooms are locked", (long long)locked);
    pretends_gpu = false;
    const int32_t world = MPI_Comm_c2f(MPI_COMM_WORLD);
    OK(vscan_mpi_create(ctx, world, &group));
    MPI_Finalize();
    test_finalised(world);
    OK(vscan_ctx_destroy(ctx));
    if (rank == 0) printf("%lld cases passed\n", (long long)cases);
    return 0;
}
