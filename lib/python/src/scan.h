/* SPDX-License-Identifier: Apache-2.0 */
/* What scans, reductions and carries share. */
#ifndef SCAN_H
#define SCAN_H

#include "arguments.h"
#include "arrays.h"

/* How to scan. */
struct mode {
    const char *function;
    vscan_op op;
    vscan_kind kind;
    vscan_direction direction;
    PyObject *initial;     /* borrowed, or NULL */
    vscan_type type;       /* of the result; VSCAN_NONE: not chosen yet */
    bool widens;           /* int32 is added as int64 where the caller chose nothing */
    bool includes_initial; /* one more result, which covers nothing */
};

/* The type of the results, from mode->type, out (or NULL) and the input. */
bool mode_choose_type(struct mode *mode, const struct array *a, const struct array *out);

/* What the caller gave for results: checks it, and says whether results can be written to it at once.
   Where not, *place becomes a new array like a. */
bool out_begin(const struct array *a, const struct mode *mode, struct array *out,
               struct array *place, bool *direct);

#endif
