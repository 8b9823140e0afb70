/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scans n random floats that lie in even parts on all ranks:
 *
 *     mpirun -n 4 mpi_scan [n [seed [REPETITIONS]]]
 *
 * Prints the best time, GB/s (each element read twice and written once), what the slowest rank sends, and a
 * digest of all results. Rank 0 then computes the digest alone, with a carry from piece to piece: it must be the
 * same for any number of ranks. Exit status 1 where it is not.
 */
#include <inttypes.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vscan_mpi.h>

static int rank, ranks;
static vscan_ctx *ctx;
static vscan_ranks *group;

static void check(vscan_status status, const char *words) {
    if (status == VSCAN_OK) return;
    fprintf(stderr, "rank %d: %s: %s\n", rank, vscan_ranks_status_name(status), words);
    MPI_Abort(MPI_COMM_WORLD, 1);
}
#define VSCAN(call) check(call, vscan_ctx_last_error(ctx))
#define VSCAN_MPI(call) check(call, vscan_ranks_last_error(group))

/* ---- What is sent: MPI's profiling interface ------------------------------------------------- */

static int64_t sent;

static int64_t bytes_of(int count, MPI_Datatype type) {
    int size;
    PMPI_Type_size(type, &size);
    return (int64_t)count * size;
}

int MPI_Isend(const void *from, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request *request) {
    sent += bytes_of(count, type);
    return PMPI_Isend(from, count, type, to, tag, comm, request);
}

int MPI_Allgather(const void *from, int count, MPI_Datatype type, void *to, int to_count,
                  MPI_Datatype to_type, MPI_Comm comm) {
    sent += bytes_of(count, type);
    return PMPI_Allgather(from, count, type, to, to_count, to_type, comm);
}

int MPI_Allgatherv(const void *from, int count, MPI_Datatype type, void *to, const int *counts,
                   const int *displacements, MPI_Datatype to_type, MPI_Comm comm) {
    sent += bytes_of(counts[rank], to_type);
    return PMPI_Allgatherv(from, count, type, to, counts, displacements, to_type, comm);
}

int MPI_Allreduce(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm) {
    sent += bytes_of(count, type);
    return PMPI_Allreduce(from, to, count, type, op, comm);
}

/* ---- Data ------------------------------------------------------------------------------------ */

static uint64_t mix(uint64_t z) { /* splitmix64 (Steele, Lea, Flood, 2014) */
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* Elements first .. first + n - 1 of the vector: in 0 .. 1. */
static void generate(float *to, int64_t first, int64_t n, uint64_t seed) {
    for (int64_t i = 0; i < n; i++)
        to[i] = (float)(mix(seed + (uint64_t)(first + i)) >> 40) * 0x1p-24f;
}

/* A sum over all elements, so that it does not depend on the parts. */
static uint64_t digest(const float *v, int64_t first, int64_t n) {
    uint64_t sum = 0;
    for (int64_t i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, v + i, sizeof bits);
        sum += mix((uint64_t)(first + i) << 32 ^ bits);
    }
    return sum;
}

static float *allocate(int64_t n) {
    float *const memory = malloc((size_t)(n > 0 ? n : 1) * sizeof(float));
    check(memory != NULL ? VSCAN_OK : VSCAN_ERROR_HOST_MEMORY, "no memory");
    return memory;
}

/* The digest of the whole vector's scan, by this rank alone. */
static uint64_t digest_alone(int64_t n, uint64_t seed) {
    enum { PIECE = 1 << 22 };
    float *const host = allocate(PIECE);
    uint64_t sum = 0;
    vscan_carry *carry;
    vscan_buffer *whole, *piece;
    VSCAN(vscan_carry_create(ctx, VSCAN_PLUS, VSCAN_FLOAT, VSCAN_FORWARD, &carry));
    VSCAN(vscan_buffer_create(ctx, VSCAN_FLOAT, PIECE, &whole));
    const vscan_scan_options options = {.size = sizeof options, .carry = carry};
    for (int64_t i = 0; i < n; i += PIECE) {
        const int64_t here = n - i < PIECE ? n - i : PIECE;
        VSCAN(vscan_buffer_view(whole, 0, here, &piece));
        generate(host, i, here, seed);
        VSCAN(vscan_buffer_upload(piece, 0, here, host));
        VSCAN(vscan_scan(ctx, VSCAN_PLUS, piece, piece, &options));
        VSCAN(vscan_buffer_download(piece, 0, here, host));
        VSCAN(vscan_buffer_destroy(piece));
        sum += digest(host, i, here);
    }
    VSCAN(vscan_buffer_destroy(whole));
    VSCAN(vscan_carry_destroy(carry));
    free(host);
    return sum;
}

static int64_t argument(int argc, char **argv, int i, int64_t usual, int64_t least) {
    char *end = NULL;
    const int64_t number = argc > i ? strtoll(argv[i], &end, 10) : usual;
    if (number >= least && (end == NULL || (end != argv[i] && *end == '\0'))) return number;
    if (rank == 0) fprintf(stderr, "usage: mpi_scan [n [seed [REPETITIONS]]]\n");
    MPI_Finalize();
    exit(2);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int64_t n = argument(argc, argv, 1, INT64_C(1) << 24, 0);
    const uint64_t seed = (uint64_t)argument(argc, argv, 2, 1, 0);
    const int64_t repetitions = argument(argc, argv, 3, 3, 1);
    check(vscan_ctx_create(NULL, &ctx), vscan_ctx_last_error(NULL));
    check(vscan_mpi_create(ctx, MPI_Comm_c2f(MPI_COMM_WORLD), &group),
          vscan_ranks_last_error(NULL));

    int64_t first, length;
    VSCAN_MPI(vscan_ranks_share(group, n, &first, &length));
    float *const host = allocate(length);
    vscan_buffer *in, *out;
    VSCAN(vscan_buffer_create(ctx, VSCAN_FLOAT, length, &in));
    VSCAN(vscan_buffer_create(ctx, VSCAN_FLOAT, length, &out));
    generate(host, first, length, seed);
    VSCAN(vscan_buffer_upload(in, 0, length, host));

    double best = 0;
    for (int64_t i = 0; i <= repetitions; i++) { /* the first one makes room */
        MPI_Barrier(MPI_COMM_WORLD);
        sent = 0;
        const double since = MPI_Wtime();
        VSCAN_MPI(vscan_ranks_scan(group, VSCAN_PLUS, in, out, NULL));
        VSCAN(vscan_ctx_synchronize(ctx));
        double elapsed = MPI_Wtime() - since, slowest;
        PMPI_Allreduce(&elapsed, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        if (i == 1 || (i > 1 && slowest < best)) best = slowest;
    }
    VSCAN(vscan_buffer_download(out, 0, length, host));
    uint64_t own = digest(host, first, length), all = 0;
    int64_t most = 0;
    PMPI_Allreduce(&own, &all, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    PMPI_Allreduce(&sent, &most, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    int right = 1;
    if (rank == 0) {
        printf("ranks   %d\nn       %" PRId64 "\ntime    %.6f s, %.2f GB/s\n", ranks, n, best,
               best > 0 ? 12e-9 * (double)n / best : 0);
        printf("sent    %" PRId64 " bytes by the rank that sends most\n", most);
        printf("digest  %016" PRIx64 "\n", all);
        right = digest_alone(n, seed) == all;
        puts(right ? "PASSED" : "FAILED: one rank alone has another digest");
    }
    MPI_Bcast(&right, 1, MPI_INT, 0, MPI_COMM_WORLD);
    free(host);
    VSCAN(vscan_buffer_destroy(in));
    VSCAN(vscan_buffer_destroy(out));
    VSCAN_MPI(vscan_ranks_destroy(group));
    VSCAN(vscan_ctx_destroy(ctx));
    MPI_Finalize();
    return right ? 0 : 1;
}
