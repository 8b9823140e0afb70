/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Distributed vectors for tests: lengths and cuts, drawn alike on all ranks, whole vectors on every rank, and
 * the rank's own part of one between canaries.
 */
#ifndef MPI_CASES_H
#define MPI_CASES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/order.h"
#include "vscan_mpi.h"

enum { MOST_RANKS = 64, LONGEST = 6 << VSCAN__LOG2_LEVEL_3 };

extern int rank, ranks;
extern uint64_t seed;
extern bool small; /* fewer cases */
extern vscan_ctx *ctx;
extern vscan_ranks *group;

/* Ends the program, on all ranks, with a sentence where this rank has found something wrong. */
#define CHECK(condition, ...)                                                                      \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "rank %d of %d, seed %llu: %s:%d: ", rank, ranks,                      \
                    (unsigned long long)seed, __FILE__, __LINE__);                                 \
            fprintf(stderr, __VA_ARGS__);                                                          \
            fprintf(stderr, "\n");                                                                 \
            end_badly();                                                                           \
        }                                                                                          \
    } while (0)
void end_badly(void) __attribute__((noreturn));

/* VSCAN_OK, on this rank. */
#define OK(call) OK_(call, #call)
void OK_(vscan_status status, const char *call);

/* Random numbers, the same on all ranks. */
uint64_t draw(void);
int64_t draw_below(int64_t n); /* 0 .. n - 1 */

/* A length: those that matter, or any. */
int64_t draw_length(void);

/* cut[r] .. cut[r + 1] - 1 is the part of rank r. A way of cutting, of which there are CUTS. */
enum { CUTS = 8 };
void draw_cuts(int way, int64_t n, int64_t tile, int64_t *cut);

/* Elements of a type, with sums that depend on their order. */
void draw_elements(vscan_type type, void *to, int64_t n);
int64_t size_of(vscan_type type);

/* A buffer of elements in the middle of host memory, with canaries on both sides. */
struct part {
    char *memory;
    int64_t bytes;
    vscan_buffer *buffer;
};
struct part new_part(vscan_type type, const void *elements, int64_t n);
void *elements_of(const struct part *part);
void end_part(struct part *part); /* checks the canaries */

/* Flags: rare, frequent or none, often at the cuts; and n of them as a part of a type of flags. */
void draw_heads(uint8_t *flags, int64_t n, const int64_t *cut);
struct part new_flags(vscan_type type, const uint8_t *flags, int64_t n);

/* The first element that differs, or -1; all NaNs are equal. */
int64_t first_difference(vscan_type type, const void *a, const void *b, int64_t n);

/* The tests; of these, number is the case's, for its way of cutting. */
void test_scan(int64_t number);
void test_segmented(int64_t number);
void test_segmented_blocks(void);
void test_reading_of_flags(void);
void test_memory_of_moves(void);
void test_positions(int64_t number);
void test_refused(void);
void test_failures(void);
void test_moves(int64_t number);
void test_sorts(int64_t number);
void test_wrong_moves(void);

#endif
