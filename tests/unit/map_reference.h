/* SPDX-License-Identifier: Apache-2.0 */
/* What the functions that work element by element mean, one element at a time: the plain way. */
#ifndef MAP_REFERENCE_H
#define MAP_REFERENCE_H

#include "vectors.h"

bool maps_is_integer(vscan_type type); /* int, long */
bool maps_is_flag(vscan_type type);    /* byte, bit */

/* Whether the operator works on vectors of the type. */
bool maps_has_unary(vscan_unary op, vscan_type type);
bool maps_has_binary(vscan_binary op, vscan_type type);

/* *out = op *a, and *out = *a op *b, for a number of the type. */
void maps_unary(vscan_unary op, vscan_type type, const void *a, void *out);
void maps_binary(vscan_binary op, vscan_type type, const void *a, const void *b, void *out);

/* Whether *a relation *b holds. */
bool maps_related(vscan_relation relation, vscan_type type, const void *a, const void *b);

/* *out = *at, from one type of number to another. */
void maps_convert(vscan_type from, const void *at, vscan_type to, void *out);

/* Whether element i of a vector of any type is unequal to 0. */
bool maps_truth(vscan_type type, const void *v, int64_t i);

#endif
