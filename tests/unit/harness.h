/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every test program shares: which backend it runs on, its context, its seed, its sizes.
 *
 *     test_scan [cpu|cuda]
 *
 * VSCAN_TEST_SEED=number   the seed of everything random (printed at the start)
 * VSCAN_TEST_SIZES=small   a few seconds in all, for compute-sanitizer and the like
 * VSCAN_TEST_SIZES=long    also the tests above 2^31 elements
 * VSCAN_TEST_FILTER=glob   only the tests whose name matches
 * VSCAN_TEST_PART=k/n      only tests k, k + n, k + 2n, ..., counted from 1
 */
#ifndef HARNESS_H
#define HARNESS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "vscan.h"

/* The backend under test, VSCAN_BACKEND_CPU or VSCAN_BACKEND_CUDA; never AUTO. */
extern vscan_backend harness_backend;

/* "cpu" or "cuda". */
const char *harness_backend_name(void);

/*
 * Reads the arguments and runs the tests as one group, named for the program and the backend
 * ("scan.cpu"). Returns what main should return: 0, the number of failures, or 77 where the
 * backend has no device, or the processor lacks the instruction set that VSCAN_TEST_CPU asks for,
 * after saying so on stderr.
 */
int harness_run(int argc, char **argv, const struct CMUnitTest *tests, size_t count);

/* A context of the backend under test, made when first asked for, destroyed after the last test. */
vscan_ctx *harness_ctx(void);

/* Makes another context of that backend; threads as in vscan_ctx_options. The caller destroys it.
 */
vscan_ctx *harness_new_ctx(int32_t threads);

/* Makes a context of the CPU backend with the instruction set of that name, see VSCAN_TEST_CPU in
   lib/cpu/backend.c; NULL: as the environment has it. NULL where the processor lacks the set. */
vscan_ctx *harness_new_cpu_ctx(int32_t threads, const char *instructions);

uint64_t harness_seed(void);
bool harness_small(void);
bool harness_long(void);

/* Fails the test, with the context's sentence, unless the call returns VSCAN_OK. */
#define ok(ctx, call) harness_ok((ctx), (call), #call, __FILE__, __LINE__)
void harness_ok(const vscan_ctx *ctx, vscan_status status, const char *call, const char *file,
                int line);

/* Fails the test unless the call returns this status; prints both names. */
#define refuses(expected, call) harness_status((expected), (call), #call, __FILE__, __LINE__)
void harness_status(vscan_status expected, vscan_status got, const char *call, const char *file,
                    int line);

/* One element as a value for an option; NULL: none. */
vscan_value harness_value(vscan_type type, const void *element);

/* A buffer of one element for a result; its element, when it has been destroyed. */
vscan_buffer *harness_one(vscan_ctx *ctx, vscan_type type);
void harness_take(vscan_ctx *ctx, vscan_buffer *one, void *element);

#endif
