/* SPDX-License-Identifier: Apache-2.0 */
/*
 * More than 2^31 elements, and bytes, go from the first of two ranks to the second one and back: three messages each
 * time, of the greatest length that the library uses. And 2^31 flags have offsets that are no ints. Needs 5 GB; runs
 * where VSCAN_TEST_SIZES is long.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counted.h"
#include "vscan_mpi.h"

enum { SKIPPED = 77 };

static int rank, ranks;
static const int64_t n = (INT64_C(1) << 31) + 4096, stays = 72; /* elements of one byte */

static void check(int good, const char *words) {
    if (good) return;
    fprintf(stderr, "rank %d: %s\n", rank, words);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Word i of the vector: its bytes tell where it belongs. */
static uint64_t word_at(int64_t i) {
    return (uint64_t)i * UINT64_C(0x9e3779b97f4a7c15);
}

static void check_part(const vscan_buffer *part, int64_t first) {
    const uint64_t *const words = vscan_buffer_pointer(part);
    int64_t wrong = 0;
    for (int64_t i = 0; i < vscan_buffer_length(part) / 8; i++)
        wrong += words[i] != word_at(first / 8 + i);
    check(wrong == 0, "elements are wrong");
}

/* Moves the vector; `sends`: this rank sends all but a few of its elements. */
static void move(vscan_ranks *group, const vscan_buffer *from, vscan_buffer *to, int sends) {
    const struct counted before = counted;
    check(vscan_ranks_rebalance(group, from, to) == VSCAN_OK, vscan_ranks_last_error(group));
    check(counted.bytes - before.bytes == (sends ? n - stays : 0), "not as many bytes");
    check(counted.messages - before.messages == (sends ? 3 : 0), "not 3 messages");
}

/* Both ranks have 2^30 flags, none of them set: one more than ints can number, and as many. */
static void check_offsets(vscan_ctx *ctx, vscan_ranks *group) {
    const int64_t each = INT64_C(1) << 30;
    for (int64_t less = 0; less < 2; less++) {
        vscan_buffer *heads, *offsets;
        int32_t numbers[2] = {7, 7};
        check(vscan_buffer_create(ctx, VSCAN_BIT, each - less * rank, &heads) == VSCAN_OK &&
                  vscan_buffer_wrap(ctx, VSCAN_INT, numbers, 2, &offsets) == VSCAN_OK,
              vscan_ctx_last_error(ctx));
        memset(vscan_buffer_pointer(heads), 0, (size_t)each / 8);
        const vscan_status status = vscan_ranks_heads_to_offsets(group, heads, offsets, NULL);
        check(status == (less ? VSCAN_OK : VSCAN_ERROR_LENGTH), "not the status");
        const int32_t first = !less ? 7 : rank == 0 ? 0 : INT32_MAX;
        check(numbers[0] == first && numbers[1] == 7, "not the offsets");
        check(vscan_buffer_destroy(heads) == VSCAN_OK && vscan_buffer_destroy(offsets) == VSCAN_OK,
              "not destroyed");
    }
}

int main(int argc, char **argv) {
    const char *const sizes = getenv("VSCAN_TEST_SIZES");
    if (sizes == NULL || strcmp(sizes, "long") != 0) return SKIPPED;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    check(ranks == 2, "not two ranks");
    vscan_ctx *ctx;
    vscan_ranks *group;
    vscan_buffer *in, *out;
    const vscan_ctx_options cpu = {.size = sizeof cpu, .backend = VSCAN_BACKEND_CPU};
    check(vscan_ctx_create(&cpu, &ctx) == VSCAN_OK, vscan_ctx_last_error(NULL));
    check(vscan_mpi_create(ctx, MPI_Comm_c2f(MPI_COMM_WORLD), &group) == VSCAN_OK,
          vscan_ranks_last_error(NULL));
    check(vscan_buffer_create(ctx, VSCAN_UINT8, rank == 0 ? n : 0, &in) == VSCAN_OK &&
              vscan_buffer_create(ctx, VSCAN_UINT8, rank == 0 ? stays : n - stays, &out) ==
                  VSCAN_OK,
          vscan_ctx_last_error(ctx));
    uint64_t *const words = vscan_buffer_pointer(in);
    for (int64_t i = 0; i < vscan_buffer_length(in) / 8; i++) words[i] = word_at(i);
    move(group, in, out, rank == 0);
    check_part(out, rank == 0 ? 0 : stays);
    if (rank == 0) memset(words, 0, (size_t)n);
    move(group, out, in, rank == 1);
    check_part(in, 0);
    check_offsets(ctx, group);
    check(vscan_buffer_destroy(in) == VSCAN_OK && vscan_buffer_destroy(out) == VSCAN_OK &&
              vscan_ranks_destroy(group) == VSCAN_OK && vscan_ctx_destroy(ctx) == VSCAN_OK,
          "not destroyed");
    MPI_Finalize();
    return 0;
}
