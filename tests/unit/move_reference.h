/* SPDX-License-Identifier: Apache-2.0 */
/* What sorts, splits and distributions over segments mean, the plain way. */
#ifndef MOVE_REFERENCE_H
#define MOVE_REFERENCE_H

#include "vectors.h"

/* What is compared, and how. */
struct sort_rule {
    vscan_type type;
    bool descending;
    int first_bit, bits; /* bits 0: all from first_bit on */
};

/* Less than, equal to, or more than 0, as key i goes before, with or after key j. */
int sort_compare(const struct sort_rule *rule, const void *keys, int64_t i, int64_t j);

/* Sorts positions first .. end - 1 by their keys, stable, with room for as many. */
void sort_positions(const struct sort_rule *rule, const void *keys, int64_t *positions,
                    int64_t *room, int64_t first, int64_t end);

/* positions[i]: where element i goes; how many flags are clear. heads NULL: one segment. */
int64_t split_positions(int64_t n, const uint8_t *flags, const uint8_t *heads, int64_t *positions);

/* The element at a segment's first, or last, place goes to all its places. set: n flags, 0 or 1. */
void copy_over_segments(vscan_type type, int64_t n, const uint8_t *set, bool last, void *v);

#endif
