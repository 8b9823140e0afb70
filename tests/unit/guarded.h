/* SPDX-License-Identifier: Apache-2.0 */
/* A view inside a larger buffer, with canaries on both sides. */
#ifndef GUARDED_H
#define GUARDED_H

#include "harness.h"

struct guarded {
    vscan_buffer *view; /* what the library is given; n elements */
    vscan_buffer *whole;
    vscan_ctx *ctx;
    vscan_type type;
    int64_t n, total;             /* elements of the view, and of it all */
    size_t before;                /* bytes before the view */
    size_t bytes;                 /* of the view */
    unsigned char *image, *after; /* the buffer as it was filled, and as last downloaded */
};

/*
 * Makes the buffers. The view is `shift` elements (bits: 32-bit words) past a multiple of 256 bytes. It
 * holds a copy of data, or poison where data is NULL. With shift < 0 it is the whole buffer,
 * without canaries, for AddressSanitizer to watch its ends. Bits after the n-th of the last 32-bit word
 * belong to the canaries.
 */
struct guarded guarded_make(vscan_ctx *ctx, vscan_type type, int64_t n, int shift,
                            const void *data);

/*
 * Downloads everything and returns the view's part of it, until the next call. *intact tells
 * whether the canaries are as they were. A late error is the caller's to expect before this.
 */
const void *guarded_download(struct guarded *g, bool *intact);

/* What the view held when it was made. */
const void *guarded_original(const struct guarded *g);

void guarded_free(struct guarded *g);

#endif
