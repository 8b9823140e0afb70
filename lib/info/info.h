/* SPDX-License-Identifier: Apache-2.0 */
/* The program vscan-info. It knows the public interface alone, so that it runs with any libvscan. */
#ifndef VSCAN_INFO_H
#define VSCAN_INFO_H

#include <stdbool.h>
#include <stdint.h>

#include "vscan.h"

/* ---- main.c ---------------------------------------------------------------------------------- */

/* Says which call failed, and why, unless none did; returns whether all is well. */
bool info_ok(vscan_ctx *ctx, vscan_status status, const char *what);

double info_seconds(void); /* since some moment */

/* Calls body for each device of each backend, with its name and a context; returns whether all went well. */
bool info_each_device(bool (*body)(vscan_ctx *ctx, const char *name, void *state), void *state);

/* ---- check.c, time.c ------------------------------------------------------------------------- */

bool info_check(double seconds, uint64_t seed); /* random calls against reference.c */
bool info_time(int64_t n);

/* ---- reference.c ----------------------------------------------------------------------------- */

/* A scan, by a serial loop; float and double plus in the order of addition (cmake/manual). */
struct info_scan {
    vscan_op op;
    vscan_type type;
    bool exclusive, backward;
    int64_t n;
    const void *in;
    const uint8_t *heads; /* a byte an element, or NULL */
    void *out;
    void *total; /* one element: of the whole vector, where there are no heads */
};

int64_t info_size(vscan_type type); /* bytes of an element */

/* false: no memory */
bool info_reference_scan(const struct info_scan *scan);

/* Integers in the order of vscan_sort's keys: by them elements are compared. */
int64_t info_rank(vscan_type type, const void *element);

/* Whether two elements have the same bits, or are both NaN. */
bool info_same(vscan_type type, const void *a, const void *b);

#endif
