/* SPDX-License-Identifier: Apache-2.0 */
/* What the files here share: the CUDA part of a context, errors, the current device, memory. */
#ifndef VSCAN_CUDA_STATE_H
#define VSCAN_CUDA_STATE_H

#include "cuda/launch.h"
#include "core/internal.h"

/* Device memory that grows with the longest vector so far. */
struct vscan__growing {
    struct vscan__block *newest; /* with those before it that may still be in use */
    int64_t bytes;               /* of the newest; 0: there is none */
};

/* A record of late errors for each public function that has launched kernels, so that a record tells whose
   call found one; also of a graph's launches, which keep the address. */
enum { VSCAN__CUDA_FUNCTIONS = 64 }; /* more than launch anything */
struct vscan__cuda_late {
    struct vscan__late *records; /* page-locked */
    const char *function[VSCAN__CUDA_FUNCTIONS];
    int64_t
        turn[VSCAN__CUDA_FUNCTIONS]; /* its first call since the last report, 1, 2, ...; 0: none */
    int functions, last;
    int64_t turns;
};

struct vscan__cuda_state {
    struct vscan__launch launch; /* its stream is the one in use */
    struct vscan__cuda_late late;
    cudaStream_t own;
    struct vscan__growing words;   /* launch.workspace */
    struct vscan__growing lines;   /* a workspace for matrices that need more words than that has */
    struct vscan__growing scratch; /* launch.scratch */
    struct vscan__growing between; /* what slots of one call hand on */
    struct vscan__growing sorts;   /* launch.sort_memory */
    bool sorts_unclean;            /* a sort of several launches ended early: see ready_for_sort */
};

static inline struct vscan__cuda_state *vscan__cuda_state(vscan_ctx *ctx) {
    return ctx->state;
}

/* ---- device.c -------------------------------------------------------------------------------- */

vscan_status vscan__cuda_failed(vscan_ctx *ctx, cudaError_t error, const char *doing);

/* OK, or what vscan__cuda_failed says. */
static inline vscan_status vscan__cuda_status(vscan_ctx *ctx, cudaError_t error,
                                              const char *doing) {
    return error == cudaSuccess ? VSCAN_OK : vscan__cuda_failed(ctx, error, doing);
}

#define TRY_CUDA(ctx, doing, call) TRY(vscan__cuda_status(ctx, call, doing))

/* Where a failure cannot be reported: the caller's next call must not see it. An error of the caller's
   own stays where it is. */
static inline void vscan__cuda_forget(cudaError_t error) {
    if (error != cudaSuccess) (void)cudaGetLastError();
}

/* Makes a device current, and the caller's device again. *before is what the second needs, also where
   the first fails. */
cudaError_t vscan__cuda_make_current(int device, int *before);
cudaError_t vscan__cuda_make_current_again(int before);

/* The same at the beginning and the end of a slot. */
static inline vscan_status vscan__cuda_enter(vscan_ctx *ctx, int device, int *before) {
    return vscan__cuda_status(ctx, vscan__cuda_make_current(device, before),
                              "making the context's device current");
}

static inline vscan_status vscan__cuda_leave(vscan_ctx *ctx, int before, vscan_status status) {
    const cudaError_t error = vscan__cuda_make_current_again(before);
    if (status == VSCAN_OK)
        return vscan__cuda_status(ctx, error, "making the caller's device current again");
    vscan__cuda_forget(error);
    return status;
}

/* Whether the stream is being captured; the legacy stream: whether any is. */
vscan_status vscan__cuda_is_capturing(vscan_ctx *ctx, cudaStream_t stream, bool *capturing);
vscan_status vscan__cuda_may_wait(vscan_ctx *ctx);
vscan_status vscan__cuda_wait(vscan_ctx *ctx); /* for the stream */

/* Slots of struct vscan__backend. */
vscan_status vscan__cuda_device_count(int32_t *count);
vscan_status vscan__cuda_device_name(int32_t device, char *name, int64_t capacity);
vscan_status vscan__cuda_device_memory(int32_t device, int64_t *total, int64_t *available);
void vscan__cuda_describe(struct vscan__text *text);

/* ---- context.c ------------------------------------------------------------------------------- */

/* What a launch needs: late errors will be told of in the name of the function that is running. */
struct vscan__launch *vscan__cuda_launch(vscan_ctx *ctx);

/* ---- memory.c -------------------------------------------------------------------------------- */

/* Notes whether a graph that is being captured may refer to the newest block. */
vscan_status vscan__note_capture(vscan_ctx *ctx, struct vscan__growing *memory);
void vscan__free_growing(struct vscan__growing *memory); /* waits */

/* What a launch needs of the context's memory. */
vscan_status vscan__cuda_grow_words(vscan_ctx *ctx, int64_t words);
vscan_status vscan__cuda_grow_lines(vscan_ctx *ctx, int64_t words, void **workspace, int64_t *has);
vscan_status vscan__cuda_grow_scratch(vscan_ctx *ctx, int64_t bytes);
vscan_status vscan__cuda_between(vscan_ctx *ctx, int64_t bytes, void **memory); /* a slot */
vscan_status vscan__cuda_grow_for_sort(vscan_ctx *ctx, const struct vscan__sort *sort);

/* Slots of struct vscan__backend. */
vscan_status vscan__cuda_allocate(vscan_ctx *ctx, int64_t bytes, void **pointer);
void vscan__cuda_release(vscan_ctx *ctx, void *pointer);
vscan_status vscan__cuda_check_pointer(vscan_ctx *ctx, const void *pointer, int64_t bytes);
vscan_status vscan__cuda_upload(vscan_ctx *ctx, void *to, const void *from, int64_t bytes);
vscan_status vscan__cuda_download(vscan_ctx *ctx, void *to, const void *from, int64_t bytes);
vscan_status vscan__cuda_copy(vscan_ctx *ctx, void *to, const void *from, int64_t bytes);

/* ---- context.c ------------------------------------------------------------------------------- */

/* Slots of struct vscan__backend. */
vscan_status vscan__cuda_open(vscan_ctx *ctx, void *stream);
void vscan__cuda_close(vscan_ctx *ctx);
vscan_status vscan__cuda_synchronize(vscan_ctx *ctx);
vscan_status vscan__cuda_set_stream(vscan_ctx *ctx, void *stream);
vscan_status vscan__cuda_get_stream(vscan_ctx *ctx, void **stream);

#endif
