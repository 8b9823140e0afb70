/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the programs of this folder have in common: arguments, random numbers, a clock, and the
 * checks after every call. The use of vscan itself is in the programs.
 *
 * Exit statuses: 0 the result is right, 1 it is wrong or a call failed, 2 wrong use, 77 the backend
 * that VSCAN_BACKEND asks for is not there.
 */
#ifndef PROGRAM_H
#define PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <vscan.h>

/* Says "PROGRAM: sentence" on stderr and exits with status 2. */
void refuse(const char *program, const char *format, ...)
    __attribute__((noreturn, format(printf, 2, 3)));

/* The number that text is; refuses what is no number or outside least .. most. what names it. */
int64_t read_number(const char *program, const char *what, const char *text, int64_t least,
                    int64_t most);

/*
 * The command line "PROGRAM [n [seed]]": the number of elements, n if it is not given, and the seed
 * of the random numbers, VSCAN_TEST_SEED or the clock if it is not given. Prints "n" and "seed".
 */
int64_t read_n_and_seed(int argc, char **argv, int64_t n, int64_t least, int64_t most);

/* Starts the random numbers and prints the seed; text may be NULL, as above. */
void seed_random(const char *program, const char *text);
uint64_t random_bits(void);      /* 64 of them */
int64_t random_below(int64_t n); /* 0 .. n - 1 */
double random_unit(void);        /* [0, 1), multiples of 2^-53 */

/* Seconds since some moment. */
double seconds(void);

/* n elements of size bytes, all 0; exits where there is no memory. */
void *allocate(int64_t n, size_t size);

/*
 * Makes a context where VSCAN_BACKEND or the library says, and prints "backend". It is the one
 * whose last error check() prints.
 */
vscan_ctx *open_context(void);

/* Exits with what went wrong, unless nothing did. */
void check(vscan_status status);

/* A vector of n elements, undefined; and one with the n elements that are at host. */
vscan_buffer *new_vector(vscan_ctx *ctx, vscan_type type, int64_t n);
vscan_buffer *new_vector_of(vscan_ctx *ctx, vscan_type type, int64_t n, const void *host);

/* The element of a vector of one, which is destroyed. */
void take_one(vscan_buffer *vector, void *element);

/* Destroys the context, prints PASSED or FAILED, and returns main's exit status. */
int close_context(vscan_ctx *ctx, bool right);

#endif
