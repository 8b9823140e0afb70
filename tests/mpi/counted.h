/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stands between the library and MPI (the profiling interface): counts what this rank sends, and fails where
 * a test says so.
 */
#ifndef MPI_COUNTED_H
#define MPI_COUNTED_H

#include <stdbool.h>
#include <stdint.h>

struct counted {
    int64_t messages, bytes;          /* from rank to rank */
    int64_t collectives, contributed; /* calls that all ranks make, and the bytes this rank gives */
    int64_t waits;                    /* messages received */
};
extern struct counted counted;

/* That collective call, counted from now on, fails with MPI_ERR_OTHER; 0: none does. */
extern int64_t collectives_until_failure;

/* The same of messages between ranks, sent or received without waiting. */
extern int64_t messages_until_failure;

/* The next MPI_Waitall waits, and fails then. */
extern bool next_wait_fails;

#endif
