/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GPUs: one context for each, made at the first use, which works on the stream of each call's arrays.
 *
 * A context of the library can destroy a buffer of the caller's memory only when it waits. So buffers of
 * jobs, and arrays whose library does not free them in the stream's order, are parked, and released
 * together: by vscan.synchronize, or when many are parked.
 */
#ifndef GPU_H
#define GPU_H

#include "module.h"

/* The GPU with its context on this stream (0: the context's own), of which it keeps the owner, if there
   is one, until it is on another stream; NULL: an exception is set. */
struct gpu *gpu_enter(int device, uintptr_t stream, PyObject *owner);
vscan_ctx *gpu_context(const struct gpu *gpu);

void gpu_park_buffer(struct gpu *gpu, vscan_buffer *buffer);
void gpu_park_object(struct gpu *gpu, PyObject *object); /* takes the reference */
/* Releases what is parked, where there is much; false: an exception is set. */
bool gpu_release_some(struct gpu *gpu);

/* The stream of the context's own; 0: an exception is set. */
uintptr_t gpu_own_stream(int device);
/* Lets a stream wait for all work of a context so far. */
bool gpu_make_wait(vscan_ctx *ctx, uintptr_t stream);

/* Waits for all GPUs, raises late errors, releases what is parked. */
bool gpu_synchronize(void);

#endif
