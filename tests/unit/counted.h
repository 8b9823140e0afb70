/* SPDX-License-Identifier: Apache-2.0 */
/* The count that a call may be asked for: or not. */
#ifndef COUNTED_H
#define COUNTED_H

#include "guarded.h"
#include "inputs.h"

struct counted {
    struct guarded device;
    vscan_buffer *to_device; /* what the options of a call are given, or NULL */
};

/* c stays where it is until it has been checked. */
void counted_make(vscan_ctx *ctx, struct counted *c, struct inputs_random *random);

/* Expects that the call was right, the late status, and the count where it was asked for. */
void counted_check(vscan_ctx *ctx, struct counted *c, vscan_status status, vscan_status late,
                   int64_t count, const char *what);

#endif
