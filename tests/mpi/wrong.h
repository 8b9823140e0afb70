/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests share of calls that go wrong: bad arguments of one rank, and failures of libvscan and of MPI. */
#ifndef MPI_WRONG_H
#define MPI_WRONG_H

#include "cases.h"

/* ---- Refused --------------------------------------------------------------------------------- */

/* Good and bad arguments of N elements; longer has one more, ended is no more, foreign is of another context. */
enum { N = 1000 };
extern vscan_buffer *in, *out, *ints, *more, *longs, *bytes, *bits, *longer, *ended, *foreign;
void make_buffers(void);
void end_buffers(void);

/* The rank whose arguments are bad. */
extern int culprit;

/* Every rank has that status, a sentence with the words and the culprit's name, and `out` as it was. */
void expect(vscan_status got, vscan_status status, const char *words);

/* The same with another name. */
void expect_name(vscan_status got, vscan_status status, const char *name, const char *words);

/* ---- Failures -------------------------------------------------------------------------------- */

/* A collective call, and a check that it gives what it should. */
struct tried {
    vscan_status (*run)(int call);
    void (*check)(int call);
    int call;
};

/* Each call of libvscan fails once on the rank: all ranks have the status and its name, and go on. */
void fail_library(const struct tried *tried, int failing);

/* A new vscan_ranks in place of the one that was: what it keeps from call to call is made anew. */
void renew(void);

/*
 * mpi_wrong.c. Each call of a function of MPI fails once: on all ranks, and, unless that function is collective, on one
 * rank alone. All ranks say so, and that the vscan_ranks is of no use then. The vscan_ranks is a new one afterwards.
 */
void fail_mpi(const struct tried *tried);

/* The same where a vscan_ranks is made and destroyed. */
void test_mpi_failures(void);

/* After MPI_Finalize every function says so that would call MPI. world: MPI_COMM_WORLD. */
void test_finalised(int32_t world);

/* Every function has failed in some test. */
void check_all_failed(void);

#endif
