/* SPDX-License-Identifier: Apache-2.0 */
/* Vectors for maxima and minima with positions. */
#ifndef EXTREME_INPUTS_H
#define EXTREME_INPUTS_H

#include "inputs.h"

/* How vectors are made: where records are, new greatest or least elements, is what matters. */
enum extreme_pattern {
    SPECIAL,  /* special values, small ones and random bits */
    NO_NAN,   /* the same without NaN, which would end all records */
    RISING,   /* a record nearly everywhere */
    FALLING,  /* backward the same */
    LOWEST,   /* the greatest and the least number alone */
    ZEROS,    /* -0 and +0 */
    AT_EDGES, /* a record beside the edges of tiles and chunks, sometimes */
    LATE_NAN, /* small numbers, and NaNs of all kinds from somewhere on */
    PATTERNS
};

/* n elements that the caller frees. */
void *extreme_draw(enum extreme_pattern pattern, vscan_type type, int64_t n,
                   struct inputs_random *random);

/* Element i = x, or the nearest integer that there is. */
void extreme_put(vscan_type type, void *v, int64_t i, double x);

#endif
