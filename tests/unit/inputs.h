/* SPDX-License-Identifier: Apache-2.0 */
/* Test inputs: random numbers, patterns of values, patterns of flags. All follow from a seed. */
#ifndef INPUTS_H
#define INPUTS_H

#include <stddef.h>
#include <stdint.h>

#include "vscan.h"

/* SplitMix64 (Steele, Lea, Flood 2014): a state of one word, the same numbers everywhere. */
struct inputs_random {
    uint64_t state;
};
uint64_t inputs_next(struct inputs_random *random);
int64_t inputs_below(struct inputs_random *random, int64_t bound); /* 0 .. bound - 1; bound > 0 */

enum inputs_pattern {
    INPUTS_RANDOM,     /* int: small; long: of 47 bits; float, double: 21 binary orders of magnitude, both signs */
    INPUTS_CONSTANT,   /* 1 */
    INPUTS_EQUAL,      /* one random value everywhere */
    INPUTS_SAWTOOTH,   /* -8 .. 8, again and again; quarters of it for float, double */
    INPUTS_EXTREMES,   /* the largest and smallest finite values among ordinary ones */
    INPUTS_NAN_FIRST,  /* random, with a NaN in the first place; int: with INT32_MIN, so long */
    INPUTS_NAN_MIDDLE, /* the same in place n / 2 */
    INPUTS_NAN_LAST,   /* the same in the last place */
    INPUTS_INFINITE,   /* infinities of both signs, rarely; int: INT32_MAX and INT32_MIN, so long */
    INPUTS_ZEROS,      /* -0 and +0 alone; int: 0 and, rarely, another value */
    INPUTS_DENORMAL,   /* subnormal numbers of both signs; int: -1, 0, 1 */
    INPUTS_OVERFLOW,   /* all bits random (int, long), the upper half of the finite range (others) */
    INPUTS_RARE_ZERO,  /* random, not 0, but at some places: for and */
    INPUTS_RARE_ONE,   /* 0, but at some places: for or */
    INPUTS_PATTERNS
};
const char *inputs_name(enum inputs_pattern pattern);

/* Fills v with n elements of a scannable type. INPUTS_RANDOM is frozen: tests/golden/ needs it. */
void inputs_fill(enum inputs_pattern pattern, vscan_type type, int64_t n, uint64_t seed, void *v);

enum inputs_flags {
    INPUTS_FLAGS_NONE,        /* one segment, no flag set */
    INPUTS_FLAGS_FIRST,       /* one segment, element 0 marked */
    INPUTS_FLAGS_ALL,         /* segments of length 1 */
    INPUTS_FLAGS_LAST,        /* only the last element marked */
    INPUTS_FLAGS_HALF,        /* random, 1 in 2 */
    INPUTS_FLAGS_30,          /* random, 1 in 30 */
    INPUTS_FLAGS_1000,        /* random, 1 in 1000 */
    INPUTS_FLAGS_GROUP,       /* every 32 */
    INPUTS_FLAGS_TILE,        /* the first element of every tile */
    INPUTS_FLAGS_BEFORE_TILE, /* the last element of every tile */
    INPUTS_FLAGS_AFTER_TILE,  /* the second element of every tile */
    INPUTS_FLAGS_RUNS,        /* runs of half a tile to two and a half tiles */
    INPUTS_FLAGS_MIXED,       /* alternating dense stretches and long runs */
    INPUTS_FLAGS_PATTERNS
};
const char *inputs_flags_name(enum inputs_flags pattern);

/* Fills flags with n bytes, each 0 or 1. */
void inputs_flags_fill(enum inputs_flags pattern, int64_t tile, int64_t n, uint64_t seed,
                       uint8_t *flags);

/*
 * Writes the same flags as a vector of VSCAN_INT, VSCAN_BYTE or VSCAN_BIT: set ones as any value
 * that is not 0 (256, negative ones); bits past the n-th of the last 32-bit word are random.
 */
void inputs_flags_encode(vscan_type type, int64_t n, const uint8_t *flags, uint64_t seed,
                         void *encoded);

#endif
