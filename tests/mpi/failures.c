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

static float elements[N];
static char results[8 * N + 8]; /* of the whole vector */
static uint8_t flags[N];
static int64_t cut[MOST_RANKS + 1];
static struct part in, out, heads, total, totals, numbers;
static struct { int64_t first, n; /* of this rank */ } segments;

/* The calls: scans with the two exchanges, a segmented one, and those that work piece by piece. */
enum { PLUS, MAX, SEGMENTED, TOTALS, OFFSETS, ENUMERATE, CALLS };

static vscan_status run(int call) {
    const vscan_op op = call == MAX ? VSCAN_MAX : VSCAN_PLUS;
    const vscan_scan_options options = {.size = sizeof options, .total = total.buffer};
    const vscan_scan_segmented_options segmented = {.size = sizeof segmented,
                                                    .totals = totals.buffer};
    switch (call) {
    case SEGMENTED:
        return vscan_mpi_scan_segmented(mpi, op, in.buffer, heads.buffer, out.buffer, &segmented);
    case TOTALS:
        return vscan_mpi_reduce_segmented(mpi, op, in.buffer, heads.buffer, out.buffer, NULL);
    case OFFSETS:
        return vscan_mpi_heads_to_offsets(mpi, heads.buffer, numbers.buffer, NULL);
    case ENUMERATE:
        return vscan_mpi_enumerate(mpi, heads.buffer, out.buffer, NULL);
    default:
        return vscan_mpi_scan(mpi, op, in.buffer, out.buffer, &options);
    }
}

static vscan_type type_of(int call) { /* of the results */
    return call == ENUMERATE ? VSCAN_INT : call == OFFSETS ? VSCAN_LONG : VSCAN_FLOAT;
}

/* What the calls should give, by one call on the whole vector. */
static void compute(int call) {
    vscan_buffer *all, *result, *starts;
    const vscan_op op = call == MAX ? VSCAN_MAX : VSCAN_PLUS;
    const vscan_type type = type_of(call);
    OK(vscan_buffer_wrap(ctx, VSCAN_FLOAT, elements, N, &all));
    OK(vscan_buffer_wrap(ctx, type, results, N, &result));
    OK(vscan_buffer_wrap(ctx, VSCAN_BYTE, flags, N, &starts));
    switch (call) {
    case SEGMENTED:
        OK(vscan_scan_segmented(ctx, op, all, starts, result, NULL));
        break;
    case TOTALS:
        OK(vscan_reduce_segmented(ctx, op, all, starts, result, NULL));
        break;
    case OFFSETS:
        OK(vscan_heads_to_offsets(ctx, starts, result, NULL));
        break;
    case ENUMERATE:
        OK(vscan_enumerate(ctx, starts, result, NULL));
        break;
    default:
        OK(vscan_scan(ctx, op, all, result, NULL));
    }
    OK(vscan_buffer_destroy(all));
    OK(vscan_buffer_destroy(result));
    OK(vscan_buffer_destroy(starts));
    segments.first = segments.n = 0;
    for (int64_t i = 0; i < cut[rank + 1]; i++)
        *(i < cut[rank] ? &segments.first : &segments.n) += i == 0 || flags[i] != 0;
}

/* What is kept from call to call is made anew. */
static void renew(void) {
    OK(vscan_mpi_destroy(mpi));
    OK(vscan_mpi_create(ctx, MPI_Comm_c2f(MPI_COMM_WORLD), &mpi));
}

static void check_right(int call) {
    OK(run(call));
    const bool by_segment = call == TOTALS || call == OFFSETS;
    const vscan_type type = type_of(call);
    const char *const right = results + size_of(type) * (by_segment ? segments.first : cut[rank]);
    const int64_t n = by_segment ? segments.n : cut[rank + 1] - cut[rank];
    CHECK(first_difference(type, elements_of(call == OFFSETS ? &numbers : &out), right, n) < 0,
          "wrong after a failure");
}

static void fail_library(int call, int culprit) {
    char name[16];
    snprintf(name, sizeof name, "rank %d", culprit);
    enum { EVERY = 8 }; /* call that has all to make */
    for (int64_t number = 1;; number++) {
        if (number % EVERY == 1) renew();
        if (rank == culprit) library_calls_until_failure = number;
        const vscan_status status = run(call);
        int64_t left = library_calls_until_failure;
        library_calls_until_failure = 0;
        MPI_Bcast(&left, 1, MPI_INT64_T, culprit, MPI_COMM_WORLD);
        if (left > 0) {
            CHECK(status == VSCAN_OK && number > 5, "failed after %lld calls", (long long)number);
            if (number % EVERY == 1) return;
            continue;
        }
        CHECK(status == VSCAN_ERROR_HOST_MEMORY, "call %lld fails on rank %d: %s: %s",
              (long long)number, culprit, vscan_mpi_status_name(status), vscan_mpi_last_error(mpi));
        CHECK(strstr(vscan_mpi_last_error(mpi), name) != NULL, "who has failed? \"%s\"",
              vscan_mpi_last_error(mpi));
        check_right(call);
    }
}

static void fail_mpi(int call) {
    const vscan_status failed = (vscan_status)VSCAN_MPI_ERROR_MPI;
    for (int64_t number = 1;; number++) {
        renew();
        collectives_until_failure = number;
        const vscan_status status = run(call);
        const int64_t left = collectives_until_failure;
        collectives_until_failure = 0;
        if (left > 0) {
            CHECK(status == VSCAN_OK && number > 2, "failed");
            return;
        }
        CHECK(status == failed && strstr(vscan_mpi_last_error(mpi), "MPI_All") != NULL, "%s: %s",
              vscan_mpi_status_name(status), vscan_mpi_last_error(mpi));
        CHECK(run(call) == failed && strstr(vscan_mpi_last_error(mpi), "earlier") != NULL,
              "goes on: %s", vscan_mpi_last_error(mpi));
    }
}

void test_failures(void) {
    draw_elements(VSCAN_FLOAT, elements, N);
    for (int i = 0; i < 20; i++) flags[draw_below(N)] = 1;
    const int only = ranks > 4 ? (int)draw_below(CALLS) : -1; /* many ranks take long */
    for (int call = 0; call < CALLS; call++) {
        if (only >= 0 && call != only) continue;
        const int way = call == PLUS ? 1 : (int)draw_below(CUTS); /* even parts send most */
        draw_cuts(way, N, VSCAN__TILE_FLOAT, cut);
        const int64_t length = cut[rank + 1] - cut[rank];
        in = new_part(VSCAN_FLOAT, elements + cut[rank], length);
        out = new_part(type_of(call) == VSCAN_INT ? VSCAN_INT : VSCAN_FLOAT, NULL, length);
        numbers = new_part(VSCAN_LONG, NULL, length + 1);
        heads = new_part(VSCAN_BYTE, flags + cut[rank], length);
        total = new_part(VSCAN_FLOAT, NULL, 1);
        totals = new_part(VSCAN_FLOAT, NULL, length);
        compute(call);
        fail_library(call, call == PLUS ? ranks - 1 : (int)draw_below(ranks));
        fail_mpi(call);
        renew();
        end_part(&in);
        end_part(&out);
        end_part(&numbers);
        end_part(&heads);
        end_part(&total);
        end_part(&totals);
    }
}
