/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MPI_FAILING_H
#define MPI_FAILING_H

#include <stdbool.h>
#include <stdint.h>

/* That call of libvscan, counted from now on, fails with VSCAN_ERROR_HOST_MEMORY; 0: none does. */
extern int64_t library_calls_until_failure;

/*
 * Elements that scans and reductions of libvscan were given to read, and scans to write; those that were downloaded, and
 * flags that were counted; and elements of new buffers.
 */
struct given {
    int64_t read, written, downloaded, counted, created;
};
extern struct given given;

#endif
