/* SPDX-License-Identifier: Apache-2.0 */
/* Running maxima and minima with positions, by one plain element after another; used by the fuzzer, too. */
#ifndef EXTREME_REFERENCE_H
#define EXTREME_REFERENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "vscan.h"

/*
 * out[i] and positions[i] as vscan_scan_extreme defines them; either may be NULL. NaNs keep the bits that
 * they have in the vector. The result is the last position, or -1 where n is 0.
 */
int64_t extreme_reference(vscan_op op, vscan_type type, int64_t n, const void *in, bool backward,
                          void *out, vscan_type position_type, void *positions);

/* Element i of int or long = position. */
void extreme_put_position(vscan_type type, void *v, int64_t i, int64_t position);

#endif
