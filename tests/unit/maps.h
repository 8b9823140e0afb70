/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of maps and of permutes share: vectors of any type, and the check of what was
   written. */
#ifndef MAPS_H
#define MAPS_H

#include "guarded.h"
#include "inputs.h"
#include "reference.h"
#include "vectors.h"

/* n elements that the caller frees: special values, small ones and random bits, alternating. */
void *maps_random(vscan_type type, int64_t n, struct inputs_random *random);

/* Lengths from 0 to some blocks of a GPU, around what vectors and tiles hold; fewer if small. */
enum { MAPS_SIZES = 40 };
size_t maps_sizes(int64_t sizes[MAPS_SIZES], struct inputs_random *random);

/* Elements by which a view misses its alignment: all the same every other time, else each its own. */
void maps_shifts(struct inputs_random *random, int count, int shifts[]);

/* n flags that the caller frees, 0 or 1: none, one in a thousand, half of them, all, or long runs. */
enum { MAPS_DENSITIES = 5 };
uint8_t *maps_draw_flags(int density, int64_t n, struct inputs_random *random);

/* The same as a vector of a type that the caller frees. */
void *maps_encode_flags(vscan_type type, int64_t n, const uint8_t *flags,
                        struct inputs_random *random);

/* A copy of what the buffer held when it was made, for the expected results to be written into. */
void *maps_original(const struct guarded *g);

/* Fails unless the vector is as expected (bits past the last too) and nothing else was written. */
void maps_check(struct guarded *g, const void *expected, const char *what);

/*
 * After a call: fails unless its late error is this one, `to` is as expected, and every other one of
 * all (ending with NULL; to is among them) is as it was. Frees them.
 */
void maps_judge(vscan_ctx *ctx, vscan_status late, struct guarded *to, const void *expected,
                struct guarded *all[], const char *what);

/* Fails unless the context's late error is this one, or VSCAN_OK. */
void maps_late(vscan_ctx *ctx, vscan_status expected, const char *what);

#endif
