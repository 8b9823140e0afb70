/* SPDX-License-Identifier: Apache-2.0 */
/* Device memory: workspaces that grow, and the memory of buffers. */
#include <stdlib.h>

#include "cuda/state.h"

/* ---- What grows ------------------------------------------------------------------------------ */

struct vscan__block {
    struct vscan__block *older;
    void *memory;
    bool captured; /* a graph may refer to it */
};

static void free_newest(struct vscan__growing *memory) {
    struct vscan__block *newest = memory->newest;
    memory->newest = newest->older;
    memory->bytes = 0;
    vscan__cuda_forget(cudaFree(newest->memory)); /* waits for its work */
    free(newest);
}

void vscan__free_growing(struct vscan__growing *memory) {
    while (memory->newest != NULL) free_newest(memory);
}

/* Its address; NULL: there is none. */
static void *grown(const struct vscan__growing *memory) {
    return memory->bytes > 0 ? memory->newest->memory : NULL;
}

vscan_status vscan__note_capture(vscan_ctx *ctx, struct vscan__growing *memory) {
    if (memory->newest == NULL) return VSCAN_OK;
    bool capturing;
    TRY(vscan__cuda_is_capturing(ctx, vscan__cuda_state(ctx)->launch.stream, &capturing));
    if (capturing) memory->newest->captured = true;
    return VSCAN_OK;
}

/*
 * So many bytes or more, of which the first `cleared` are zero when they are new. With keep, smaller
 * blocks are kept until the context goes, as a captured graph may refer to them; without it, only where
 * vscan__note_capture has noted that a graph may.
 */
static vscan_status grow(vscan_ctx *ctx, struct vscan__growing *memory, int64_t bytes,
                         int64_t cleared, bool keep) {
    if (bytes <= memory->bytes) return VSCAN_OK;
    TRY(vscan__cuda_may_wait(ctx));
    struct vscan__block *block = malloc(sizeof *block);
    if (block == NULL)
        return VSCAN__FAIL(ctx, VSCAN_ERROR_HOST_MEMORY, "no host memory for the workspace");
    if (!keep && memory->newest != NULL && !memory->newest->captured) free_newest(memory);
    /* at least doubled, so that all that are kept together are no larger than the one in use */
    if (keep && bytes < 2 * memory->bytes) bytes = 2 * memory->bytes;
    cudaError_t error = cudaMalloc(&block->memory, (size_t)bytes);
    if (error == cudaSuccess) {
        error = cudaMemsetAsync(block->memory, 0, (size_t)(cleared < bytes ? cleared : bytes),
                                vscan__cuda_state(ctx)->launch.stream);
        if (error != cudaSuccess) vscan__cuda_forget(cudaFree(block->memory));
    }
    if (error != cudaSuccess) {
        free(block);
        return vscan__cuda_failed(ctx, error, "allocating workspace");
    }
    block->older = memory->newest;
    block->captured = false;
    memory->newest = block;
    memory->bytes = bytes;
    return VSCAN_OK;
}

/* ---- Workspace ------------------------------------------------------------------------------- */

/* A header and so many status words or more, all zero when they are new. */
static vscan_status grow_workspace(vscan_ctx *ctx, struct vscan__growing *memory, int64_t words,
                                   void **workspace, int64_t *has) {
    TRY(grow(ctx, memory, VSCAN__WORKSPACE_HEADER + 8 * words, INT64_MAX, true));
    *workspace = grown(memory);
    *has = (memory->bytes - VSCAN__WORKSPACE_HEADER) / 8;
    return VSCAN_OK;
}

vscan_status vscan__cuda_grow_words(vscan_ctx *ctx, int64_t words) {
    struct vscan__cuda_state *state = vscan__cuda_state(ctx);
    if (words <= state->launch.words) return VSCAN_OK;
    return grow_workspace(ctx, &state->words, words, &state->launch.workspace,
                          &state->launch.words);
}

vscan_status vscan__cuda_grow_lines(vscan_ctx *ctx, int64_t words, void **workspace, int64_t *has) {
    return grow_workspace(ctx, &vscan__cuda_state(ctx)->lines, words, workspace, has);
}

vscan_status vscan__cuda_grow_scratch(vscan_ctx *ctx, int64_t bytes) {
    struct vscan__cuda_state *state = vscan__cuda_state(ctx);
    TRY(grow(ctx, &state->scratch, bytes, INT64_MAX, true));
    state->launch.scratch = grown(&state->scratch);
    return VSCAN_OK;
}

vscan_status vscan__cuda_between(vscan_ctx *ctx, int64_t bytes, void **memory) {
    struct vscan__cuda_state *state = vscan__cuda_state(ctx);
    int before;
    TRY(vscan__cuda_enter(ctx, ctx->device, &before));
    const vscan_status status = grow(ctx, &state->between, bytes, 0, true);
    *memory = grown(&state->between);
    return vscan__cuda_leave(ctx, before, status);
}

vscan_status vscan__cuda_grow_for_sort(vscan_ctx *ctx, const struct vscan__sort *sort) {
    struct vscan__cuda_state *state = vscan__cuda_state(ctx);
    const int64_t bytes = vscan__sort_memory(&state->launch, sort);
    const vscan_status status = grow(ctx, &state->sorts, bytes, VSCAN__SORT_HEADER, false);
    state->launch.sort_memory = grown(&state->sorts); /* NULL where there is not enough */
    state->launch.sort_bytes = state->sorts.bytes;
    return status;
}

/* ---- Memory of buffers ----------------------------------------------------------------------- */

static vscan_status allocate_here(vscan_ctx *ctx, int64_t bytes, void **pointer) {
    TRY(vscan__cuda_may_wait(ctx));
    TRY_CUDA(ctx, "allocating device memory", cudaMalloc(pointer, (size_t)bytes));
    return VSCAN_OK;
}

vscan_status vscan__cuda_allocate(vscan_ctx *ctx, int64_t bytes, void **pointer) {
    void *memory = NULL;
    int before;
    TRY(vscan__cuda_enter(ctx, ctx->device, &before));
    const vscan_status status = vscan__cuda_leave(ctx, before, allocate_here(ctx, bytes, &memory));
    if (status == VSCAN_OK)
        *pointer = memory;
    else if (memory != NULL) /* leaving has failed */
        vscan__cuda_forget(cudaFree(memory));
    return status;
}

/* Whatever fails, the memory goes: CUDA knows by its address which device it is of. */
void vscan__cuda_release(vscan_ctx *ctx, void *pointer) {
    int before;
    vscan__cuda_forget(vscan__cuda_make_current(ctx->device, &before));
    vscan__cuda_forget(cudaStreamSynchronize(vscan__cuda_state(ctx)->launch.stream));
    vscan__cuda_forget(cudaFree(pointer));
    vscan__cuda_forget(vscan__cuda_make_current_again(before));
}

vscan_status vscan__cuda_check_pointer(vscan_ctx *ctx, const void *pointer, int64_t bytes) {
    struct cudaPointerAttributes attributes;
    (void)bytes;
    int before;
    TRY(vscan__cuda_enter(ctx, ctx->device, &before));
    const cudaError_t error = cudaPointerGetAttributes(&attributes, pointer);
    TRY(vscan__cuda_leave(ctx, before,
                          error == cudaErrorInvalidValue
                              ? VSCAN_OK
                              : vscan__cuda_status(ctx, error, "asking what a pointer is")));
    vscan__cuda_forget(error);
    if (error != cudaSuccess ||
        (attributes.type != cudaMemoryTypeDevice && attributes.type != cudaMemoryTypeManaged))
        return VSCAN__FAIL(ctx, VSCAN_ERROR_POINTER,
                           "argument 'pointer' is neither device nor managed memory");
    if (attributes.type == cudaMemoryTypeDevice && attributes.device != ctx->device)
        return VSCAN__FAIL(ctx, VSCAN_ERROR_POINTER,
                           "argument 'pointer' is memory of device %d, the context is on device %d",
                           attributes.device, (int)ctx->device);
    return VSCAN_OK;
}

/* Pageable memory has been read when cudaMemcpyAsync returns; page-locked memory has not. */
static vscan_status upload_here(vscan_ctx *ctx, void *to, const void *from, int64_t bytes) {
    struct cudaPointerAttributes attributes;
    TRY(vscan__cuda_may_wait(ctx));
    TRY_CUDA(ctx, "copying to the device",
             cudaMemcpyAsync(to, from, (size_t)bytes, cudaMemcpyHostToDevice,
                             vscan__cuda_state(ctx)->launch.stream));
    const cudaError_t error = cudaPointerGetAttributes(&attributes, from);
    if (error == cudaSuccess && attributes.type == cudaMemoryTypeUnregistered) return VSCAN_OK;
    vscan__cuda_forget(error); /* what is not known may be page-locked */
    return vscan__cuda_wait(ctx);
}

vscan_status vscan__cuda_upload(vscan_ctx *ctx, void *to, const void *from, int64_t bytes) {
    int before;
    TRY(vscan__cuda_enter(ctx, ctx->device, &before));
    return vscan__cuda_leave(ctx, before, upload_here(ctx, to, from, bytes));
}

static vscan_status download_here(vscan_ctx *ctx, void *to, const void *from, int64_t bytes) {
    TRY(vscan__cuda_may_wait(ctx));
    TRY_CUDA(ctx, "copying from the device",
             cudaMemcpyAsync(to, from, (size_t)bytes, cudaMemcpyDeviceToHost,
                             vscan__cuda_state(ctx)->launch.stream));
    return vscan__cuda_wait(ctx);
}

vscan_status vscan__cuda_download(vscan_ctx *ctx, void *to, const void *from, int64_t bytes) {
    int before;
    TRY(vscan__cuda_enter(ctx, ctx->device, &before));
    return vscan__cuda_leave(ctx, before, download_here(ctx, to, from, bytes));
}

vscan_status vscan__cuda_copy(vscan_ctx *ctx, void *to, const void *from, int64_t bytes) {
    int before;
    TRY(vscan__cuda_enter(ctx, ctx->device, &before));
    const cudaError_t error = cudaMemcpyAsync(to, from, (size_t)bytes, cudaMemcpyDeviceToDevice,
                                              vscan__cuda_state(ctx)->launch.stream);
    return vscan__cuda_leave(ctx, before, vscan__cuda_status(ctx, error, "copying"));
}
