/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every call that libvscan_mpi makes of libvscan fails once on one rank, and every collective call of MPI
 * once on all: each time all ranks have the status, and the call after it is right.
 */
#include <mpi.h>

#include "cases.h"
#include "counted.h"
#include "failing.h"

enum { N = 3 * VSCAN__TILE_FLOAT };

static float elements[N], results[N];
static int64_t cut[MOST_RANKS + 1];

static vscan_status run(const struct part *in, const struct part *out) {
    return vscan_mpi_scan(mpi, VSCAN_PLUS, in->buffer, out->buffer, NULL);
}

/* A vector that was made anew: what is kept from call to call is made then too. */
static void renew(void) {
    OK(vscan_mpi_destroy(mpi));
    OK(vscan_mpi_create(ctx, MPI_Comm_c2f(MPI_COMM_WORLD), &mpi));
}

static void check_right(const struct part *in, const struct part *out) {
    OK(run(in, out));
    CHECK(first_difference(VSCAN_FLOAT, elements_of(out), results + cut[rank],
                           cut[rank + 1] - cut[rank]) < 0,
          "wrong after a failure");
}

static void fail_library(const struct part *in, const struct part *out, int culprit) {
    char name[16];
    snprintf(name, sizeof name, "rank %d", culprit);
    for (int64_t call = 1;; call++) {
        if (call % 3 == 1) renew();
        if (rank == culprit) library_calls_until_failure = call;
        const vscan_status status = run(in, out);
        int64_t left = library_calls_until_failure;
        library_calls_until_failure = 0;
        MPI_Bcast(&left, 1, MPI_INT64_T, culprit, MPI_COMM_WORLD);
        if (left > 0) {
            CHECK(status == VSCAN_OK && call > 5, "failed after %lld calls", (long long)call);
            if (call % 3 == 1) return; /* when all is made anew, there are most calls */
            continue;
        }
        CHECK(status == VSCAN_ERROR_HOST_MEMORY, "call %lld fails on rank %d: %s: %s",
              (long long)call, culprit, vscan_mpi_status_name(status), vscan_mpi_last_error(mpi));
        CHECK(strstr(vscan_mpi_last_error(mpi), name) != NULL, "who has failed? \"%s\"",
              vscan_mpi_last_error(mpi));
        check_right(in, out);
    }
}

static void fail_mpi(const struct part *in, const struct part *out) {
    const vscan_status failed = (vscan_status)VSCAN_MPI_ERROR_MPI;
    for (int64_t call = 1;; call++) {
        renew();
        collectives_until_failure = call;
        const vscan_status status = run(in, out);
        const int64_t left = collectives_until_failure;
        collectives_until_failure = 0;
        if (left > 0) {
            CHECK(status == VSCAN_OK && call > 3, "failed");
            return;
        }
        CHECK(status == failed && strstr(vscan_mpi_last_error(mpi), "MPI_All") != NULL, "%s: %s",
              vscan_mpi_status_name(status), vscan_mpi_last_error(mpi));
        CHECK(run(in, out) == failed && strstr(vscan_mpi_last_error(mpi), "earlier") != NULL,
              "goes on: %s", vscan_mpi_last_error(mpi));
    }
}

void test_failures(void) {
    vscan_buffer *all, *result;
    draw_elements(VSCAN_FLOAT, elements, N);
    OK(vscan_buffer_wrap(ctx, VSCAN_FLOAT, elements, N, &all));
    OK(vscan_buffer_wrap(ctx, VSCAN_FLOAT, results, N, &result));
    OK(vscan_scan(ctx, VSCAN_PLUS, all, result, NULL));
    OK(vscan_buffer_destroy(all));
    OK(vscan_buffer_destroy(result));
    for (int i = 0; i < 3; i++) {
        draw_cuts(i == 0 ? 1 : (int)draw_below(CUTS), N, VSCAN__TILE_FLOAT, cut);
        const int64_t length = cut[rank + 1] - cut[rank];
        struct part in = new_part(VSCAN_FLOAT, elements + cut[rank], length);
        struct part out = new_part(VSCAN_FLOAT, NULL, length);
        fail_library(&in, &out, i == 0 ? ranks - 1 : (int)draw_below(ranks));
        if (i == 0) fail_mpi(&in, &out);
        renew();
        end_part(&in);
        end_part(&out);
    }
}
