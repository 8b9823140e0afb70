/* SPDX-License-Identifier: Apache-2.0 */
/* Vectors of any type on the host, on which the references for maps and moves work. */
#ifndef VECTORS_H
#define VECTORS_H

#include <stdbool.h>
#include <stdint.h>

#include "inputs.h"
#include "reference.h"

/* Fills v with n elements: special values, small ones and random bits, alternating. */
void maps_fill(vscan_type type, int64_t n, struct inputs_random *random, void *v);

/* A flag of an int, byte or bit vector; put writes 0 or 1 and changes nothing else. */
bool maps_flag(vscan_type type, const void *flags, int64_t i);
void maps_put_flag(vscan_type type, void *flags, int64_t i, bool set);

/* Element i of a vector of numbers. */
static inline void *maps_at(vscan_type type, const void *v, int64_t i) {
    return (char *)(uintptr_t)v + (size_t)i * reference_bytes(type, 1);
}

#endif
