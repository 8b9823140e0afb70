/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A libnccl.so.2 and a libcuda.so.1 that stand in for NVIDIA's, on memory of the host: streams are threads, and ranks of a
 * communicator are threads of this process. They are found by dlopen and dlsym, through the linker's --wrap.
 */
#ifndef RANKS_STAND_IN_H
#define RANKS_STAND_IN_H

#include <stdbool.h>

/* Whether they stand in, and are there; and a function that libnccl.so.2 lacks, or NULL. */
extern bool stands_in, has_nccl, has_driver;
extern const char *lacks;

/* Call number `at`, counted from 1, of that function fails on that rank; NULL: none does. */
extern const char *failing_function;
extern int failing_rank, failing_at;
extern bool has_failed;

/* After how many asynchronous answers an error comes on the failing rank; less than 0: while a stream is waited for; 0: none. */
extern int asynchronous_error;

/* The device of all communicators. */
extern int stand_in_device;

/* As ncclCommInitAll, with the caller's threads. */
void new_communicators(int count, void **comms);

/* Their memory, once nobody uses them; and that no stream is left. */
void end_communicators(void);

#endif
