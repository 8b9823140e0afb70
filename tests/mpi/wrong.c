/* SPDX-License-Identifier: Apache-2.0 */
#include "wrong.h"

#include <mpi.h>

#include "failing.h"

/* ---- Refused --------------------------------------------------------------------------------- */

int culprit;
vscan_buffer *in, *out, *ints, *more, *longs, *bytes, *bits, *longer, *ended, *foreign;
static vscan_ctx *another;
static float was[N];

void make_buffers(void) {
    const vscan_ctx_options cpu = {.size = sizeof cpu, .backend = VSCAN_BACKEND_CPU};
    OK(vscan_ctx_create(&cpu, &another));
    OK(vscan_buffer_create(ctx, VSCAN_FLOAT, N, &in));
    OK(vscan_buffer_create(ctx, VSCAN_FLOAT, N, &out));
    OK(vscan_buffer_create(ctx, VSCAN_INT, N, &ints));
    OK(vscan_buffer_create(ctx, VSCAN_INT, N, &more));
    OK(vscan_buffer_create(ctx, VSCAN_LONG, N, &longs));
    OK(vscan_buffer_create(ctx, VSCAN_BYTE, N, &bytes));
    OK(vscan_buffer_create(ctx, VSCAN_BIT, N, &bits));
    OK(vscan_buffer_create(ctx, VSCAN_FLOAT, N + 1, &longer));
    OK(vscan_buffer_create(ctx, VSCAN_FLOAT, N, &ended));
    OK(vscan_buffer_create(another, VSCAN_FLOAT, N, &foreign));
    OK(vscan_buffer_destroy(ended));
    draw_elements(VSCAN_FLOAT, was, N);
    OK(vscan_buffer_upload(in, 0, N, was));
    draw_elements(VSCAN_FLOAT, was, N);
    OK(vscan_buffer_upload(out, 0, N, was));
    const uint8_t set = 1;
    const float nothing = 0;
    OK(vscan_buffer_fill(bytes, &set));
    OK(vscan_buffer_fill(bits, &set));
    OK(vscan_buffer_fill(longer, &nothing));
    OK(vscan_index(ctx, (int64_t)rank * N, 1, longs));
    OK(vscan_index(ctx, (int64_t)rank * N, 1, ints));
}

void end_buffers(void) {
    vscan_buffer *const all[] = {in, out, ints, more, longs, bytes, bits, longer, foreign};
    for (int i = 0; i < 9; i++) OK(vscan_buffer_destroy(all[i]));
    OK(vscan_ctx_destroy(another));
}

void expect_name(vscan_status got, vscan_status status, const char *name, const char *words) {
    float is[N];
    CHECK(got == status, "%s, not %s: \"%s\"", vscan_ranks_status_name(got),
          vscan_ranks_status_name(status), vscan_ranks_last_error(group));
    CHECK(strstr(vscan_ranks_last_error(group), name) != NULL &&
              strstr(vscan_ranks_last_error(group), words) != NULL,
          "the sentence has no \"%s\" or \"%s\": \"%s\"", name, words,
          vscan_ranks_last_error(group));
    OK(vscan_buffer_download(out, 0, N, is));
    CHECK(memcmp(is, was, sizeof is) == 0, "a refused call has written");
}

void expect(vscan_status got, vscan_status status, const char *words) {
    char name[16];
    snprintf(name, sizeof name, "rank %d", culprit);
    expect_name(got, status, name, words);
}

/* ---- Failures -------------------------------------------------------------------------------- */

void renew(void) {
    OK(vscan_ranks_destroy(group));
    OK(vscan_mpi_create(ctx, MPI_Comm_c2f(MPI_COMM_WORLD), &group));
}

void fail_library(const struct tried *tried, int failing) {
    char name[16];
    snprintf(name, sizeof name, "rank %d:", failing);
    enum { EVERY = 8 }; /* call that has all to make */
    for (int64_t number = 1;; number++) {
        if (number % EVERY == 1) renew();
        if (rank == failing) library_calls_until_failure = number;
        const vscan_status status = tried->run(tried->call);
        int64_t left = library_calls_until_failure;
        library_calls_until_failure = 0;
        MPI_Bcast(&left, 1, MPI_INT64_T, failing, MPI_COMM_WORLD);
        if (left > 0) {
            CHECK(status == VSCAN_OK && number > 5, "failed after %lld calls", (long long)number);
            if (number % EVERY == 1) return;
            continue;
        }
        CHECK(status == VSCAN_ERROR_HOST_MEMORY &&
                  strstr(vscan_ranks_last_error(group), name) != NULL,
              "function %d, call %lld fails on rank %d: %s: %s", tried->call, (long long)number,
              failing, vscan_ranks_status_name(status), vscan_ranks_last_error(group));
        tried->check(tried->call);
    }
}
