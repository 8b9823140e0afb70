/* SPDX-License-Identifier: Apache-2.0 */
/* The count that a call may be asked for: on the device, on the host, both, or not at all. */
#ifndef COUNTED_H
#define COUNTED_H

#include "guarded.h"
#include "inputs.h"

struct counted {
    struct guarded device;
    int64_t host;
    vscan_buffer *to_device; /* what the options of a call are given, or NULL */
    int64_t *to_host;
};

/* c stays where it is until it has been checked. */
void counted_make(vscan_ctx *ctx, struct counted *c, struct inputs_random *random);

/* Expects the late status, from the call if it waited, and the count in the places asked for. */
void counted_check(vscan_ctx *ctx, struct counted *c, vscan_status status, vscan_status late,
                   int64_t count, const char *what);

#endif
