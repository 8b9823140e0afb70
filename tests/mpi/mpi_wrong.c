/* SPDX-License-Identifier: Apache-2.0 */
/* Failures of MPI: every call of each of its functions that the library makes. */
#include <mpi.h>

#include "counted.h"
#include "failing.h"
#include "wrong.h"

static const vscan_status of_mpi = (vscan_status)VSCAN_RANKS_ERROR_TRANSPORT;
static bool ever_failed[MPI_FUNCTIONS];

/* That call of the function fails from now on, and `more` after it. */
static void arm(enum mpi_function function, int64_t call, int64_t more) {
    mpi_calls[function].until_failure = call;
    mpi_calls[function].more = more;
}

/* No function fails any more. Whether this one has, on any rank. */
static bool disarm(enum mpi_function function) {
    int failed = mpi_calls[function].failed;
    for (int f = 0; f < MPI_FUNCTIONS; f++) {
        ever_failed[f] = ever_failed[f] || mpi_calls[f].failed;
        mpi_calls[f].until_failure = mpi_calls[f].more = 0;
        mpi_calls[f].failed = false;
    }
    MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_LOR, MPI_COMM_WORLD);
    return failed != 0;
}

static void check_nothing_is_held(enum mpi_function function, int64_t call) {
    CHECK(mpi_held.requests == 0 && mpi_held.handlers == 0,
          "%s, call %lld: %lld requests are left, %lld error handlers of others were changed",
          mpi_calls[function].name, (long long)call, (long long)mpi_held.requests,
          (long long)mpi_held.handlers);
}

/* All ranks have the status, and a sentence that names one of them and the function. */
static void check_failed(vscan_status status, enum mpi_function function, int64_t call) {
    const char *const sentence = vscan_ranks_last_error(group);
    const char *const at = strstr(sentence, ": rank ");
    char name[40];
    snprintf(name, sizeof name, ": %s: ", mpi_calls[function].name);
    CHECK(status == of_mpi && at != NULL && strstr(at + 1, name) != NULL, "%s, call %lld: %s: %s",
          mpi_calls[function].name, (long long)call, vscan_ranks_status_name(status), sentence);
    check_nothing_is_held(function, call);
}

/* One call with a failure; on all ranks, or on one rank alone. False: no rank makes so many calls. */
static bool fail_once(const struct tried *tried, enum mpi_function function, int64_t call,
                      int64_t more, int alone) {
    renew();
    if (alone < 0 || alone == rank) arm(function, call, more);
    if (function == OF_Waitall && more > 0) arm(OF_Request_free, 1, 0);
    if (function == OF_Allgather) arm(OF_Error_string, 1, 0);
    const vscan_status status = tried->run(tried->call);
    if (!disarm(function)) {
        CHECK(status == VSCAN_OK, "%s, call %lld is not made: %s: %s", mpi_calls[function].name,
              (long long)call, vscan_ranks_status_name(status), vscan_ranks_last_error(group));
        return false;
    }
    check_failed(status, function, call);
    CHECK(tried->run(tried->call) == of_mpi &&
              strstr(vscan_ranks_last_error(group), "earlier") != NULL,
          "goes on: %s", vscan_ranks_last_error(group));
    return true;
}

/* The reduction that tells a failure of libvscan fails too. */
static void fail_to_tell(const struct tried *tried) {
    renew();
    const int first = (int)draw_below(ranks);
    if (rank == first) library_calls_until_failure = 1;
    arm(OF_Allreduce, 1, 0);
    const vscan_status status = tried->run(tried->call);
    library_calls_until_failure = 0;
    CHECK(disarm(OF_Allreduce), "nothing is told");
    check_failed(status, OF_Allreduce, 1);
}

void fail_mpi(const struct tried *tried) {
    int64_t before[MPI_FUNCTIONS], made[MPI_FUNCTIONS];
    renew();
    for (int f = 0; f < MPI_FUNCTIONS; f++) before[f] = mpi_calls[f].made;
    OK(tried->run(tried->call));
    for (int f = 0; f < MPI_FUNCTIONS; f++) made[f] = mpi_calls[f].made - before[f];
    MPI_Allreduce(MPI_IN_PLACE, made, MPI_FUNCTIONS, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    for (int f = 0; f < MPI_FUNCTIONS; f++)
        for (int64_t call = 1; call <= made[f] && f != OF_Finalized; call++) {
            if ((small || ranks > 3) && call > 1 && call < made[f]) continue; /* these take long */
            (void)fail_once(tried, f, call, 0, -1);
            if (f >= COLLECTIVE_FUNCTIONS)
                (void)fail_once(tried, f, call, 0, (int)draw_below(ranks));
            if (f == OF_Waitall) (void)fail_once(tried, f, call, 1, -1); /* and once more */
        }
    fail_to_tell(tried);
    renew();
}

/* ---- Making and destroying ------------------------------------------------------------------- */

/* These only tell what MPI is; where they fail it is taken to be the right one, and to be there. */
static bool is_ignored(enum mpi_function function) {
    return function == OF_Finalized || function == OF_Get_library_version;
}

/* Whether a rank that fails can tell the others, as the communicator is duplicated. */
static bool can_tell(enum mpi_function function) {
    return function == OF_Comm_rank || function == OF_Comm_size ||
           function == OF_Comm_set_errhandler;
}

static bool fail_create(enum mpi_function function, int64_t call, int alone) {
    vscan_ranks *made = NULL;
    if (alone < 0 || alone == rank) arm(function, call, 0);
    const vscan_status status = vscan_mpi_create(ctx, MPI_Comm_c2f(MPI_COMM_WORLD), &made);
    const bool failed = disarm(function);
    const bool refused = status == of_mpi || status == VSCAN_ERROR_VALUE;
    CHECK(failed && !is_ignored(function) ? refused && made == NULL
                                          : status == VSCAN_OK && made != NULL,
          "%s, call %lld: %s: %s", mpi_calls[function].name, (long long)call,
          vscan_ranks_status_name(status), vscan_ranks_last_error(NULL));
    check_nothing_is_held(function, call);
    OK(vscan_ranks_destroy(made));
    return failed;
}

static void fail_destroy(void) {
    vscan_ranks *made;
    OK(vscan_mpi_create(ctx, MPI_Comm_c2f(MPI_COMM_WORLD), &made));
    arm(OF_Finalized, 1, 0);
    OK(vscan_ranks_destroy(made)); /* MPI is taken to be there */
    CHECK(disarm(OF_Finalized), "MPI_Finalized is not called");
    OK(vscan_mpi_create(ctx, MPI_Comm_c2f(MPI_COMM_WORLD), &made));
    arm(OF_Comm_free, 1, 0);
    CHECK(vscan_ranks_destroy(made) == of_mpi &&
              strstr(vscan_ranks_last_error(NULL), "MPI_Comm_free") != NULL,
          "%s", vscan_ranks_last_error(NULL));
    CHECK(disarm(OF_Comm_free) && vscan_ranks_destroy(made) == VSCAN_ERROR_HANDLE, "not destroyed");
    arm(OF_Comm_free, 1, 0); /* of a vscan_ranks that cannot be made */
    CHECK(vscan_mpi_create(NULL, MPI_Comm_c2f(MPI_COMM_WORLD), &made) == VSCAN_ERROR_NULL, "%s",
          vscan_ranks_last_error(NULL));
    CHECK(disarm(OF_Comm_free), "the duplicate is not freed");
}

void test_mpi_failures(void) {
    mpi_held = (struct mpi_held){0, 0}; /* MPI_Init may have used these functions */
    for (int f = 0; f < MPI_FUNCTIONS; f++)
        for (int64_t call = 1; fail_create(f, call, -1); call++)
            if (can_tell(f)) CHECK(fail_create(f, call, ranks - 1), "no failure");
    fail_destroy();
}

static void check_finalised(vscan_status status, const vscan_ranks *of) {
    CHECK(status == of_mpi && strstr(vscan_ranks_last_error(of), "MPI is finalised") != NULL,
          "%s: %s", vscan_ranks_status_name(status), vscan_ranks_last_error(of));
}

void test_finalised(int32_t world) {
    vscan_ranks *made = NULL;
    int64_t first, length;
    make_buffers();
    check_finalised(vscan_mpi_create(ctx, world, &made), NULL);
    check_finalised(vscan_ranks_scan(group, VSCAN_PLUS, in, out, NULL), group);
    check_finalised(vscan_ranks_reduce(group, VSCAN_PLUS, in, NULL, NULL), group);
    check_finalised(vscan_ranks_scan_segmented(group, VSCAN_PLUS, in, bytes, out, NULL), group);
    check_finalised(vscan_ranks_reduce_segmented(group, VSCAN_PLUS, in, bytes, out, NULL), group);
    check_finalised(vscan_ranks_count_segments(group, bytes, NULL, NULL, NULL), group);
    check_finalised(vscan_ranks_heads_to_offsets(group, bytes, longs, NULL), group);
    check_finalised(vscan_ranks_keys_to_heads(group, ints, NULL, bytes), group);
    check_finalised(vscan_ranks_runs(group, ints, ints, longs, NULL), group);
    check_finalised(vscan_ranks_reduce_by_key(group, VSCAN_PLUS, ints, in, ints, out, NULL), group);
    check_finalised(vscan_ranks_enumerate(group, bytes, ints, NULL), group);
    check_finalised(vscan_ranks_index(group, 0, 1, ints), group);
    check_finalised(vscan_ranks_rebalance(group, in, out), group);
    check_finalised(vscan_ranks_pack(group, in, bytes, out, NULL, NULL), group);
    check_finalised(vscan_ranks_split(group, in, bytes, out, NULL), group);
    check_finalised(vscan_ranks_gather(group, in, longs, out), group);
    check_finalised(vscan_ranks_permute(group, in, longs, out, NULL), group);
    check_finalised(vscan_ranks_sort(group, in, NULL, out, NULL, NULL), group);
    CHECK(vscan_ranks_rank(group) == rank && vscan_ranks_size(group) == ranks, "not this rank");
    OK(vscan_ranks_share(group, 1, &first, &length));
    OK(vscan_ranks_destroy(group));
    end_buffers();
}

void check_all_failed(void) {
    for (int f = 0; f < MPI_FUNCTIONS; f++) {
        int failed = ever_failed[f];
        MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_LOR, MPI_COMM_WORLD);
        /* many ranks try only a few calls, and one rank sends nothing */
        CHECK(failed || ranks == 1 || ranks > 4, "%s has not failed", mpi_calls[f].name);
    }
}
