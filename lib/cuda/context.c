/* SPDX-License-Identifier: Apache-2.0 */
/* The CUDA part of a context: opening, closing, the stream, and which kernels a device can have. */
#include <stdlib.h>
#include <string.h>

#include "cuda/state.h"

/* ---- Open, close ----------------------------------------------------------------------------- */

/* Whatever fails, everything goes. */
void vscan__cuda_close(vscan_ctx *ctx) {
    struct vscan__cuda_state *state = vscan__cuda_state(ctx);
    int before;
    vscan__cuda_forget(vscan__cuda_make_current(ctx->device, &before));
    if (state->launch.stream != NULL)
        vscan__cuda_forget(cudaStreamSynchronize(state->launch.stream));
    vscan__free_growing(&state->words);
    vscan__free_growing(&state->lines);
    vscan__free_growing(&state->scratch);
    vscan__free_growing(&state->between);
    vscan__free_growing(&state->sorts);
    if (state->late.records != NULL) vscan__cuda_forget(cudaFreeHost(state->late.records));
    if (state->own != NULL) vscan__cuda_forget(cudaStreamDestroy(state->own));
    vscan__cuda_forget(vscan__cuda_make_current_again(before));
    free(state);
    ctx->state = NULL;
}

/* Bytes of a vector up to which the kernels for small vectors are taken, which can do no more; beyond,
   those with TMA are faster. The plots of benchmarks/ show both. */
enum { SMALL_TO = 8 << 20, LARGE_FROM = SMALL_TO + 1 };

/* Words of a new context: enough for plain scans of 4-byte elements of any length, in portions. */
enum { FIRST_WORDS = VSCAN__SCAN_TILES };

/* Elements that one launch of a sort goes through: its words are then a tenth of the vector, and
   vectors that are longer hardly notice where it is cut. */
enum { SORT_PORTION = 1 << 28 };

/* Bytes of a row from which the kernels for vectors, one row after the other, are faster than those for
   rows: ROWS_FROM with fewer rows than multiprocessors, MANY_ROWS_FROM with more, FORCED_ROWS_FROM
   where the tests choose the kernels. */
enum { ROWS_FROM = 8 << 20, MANY_ROWS_FROM = 32 << 20, FORCED_ROWS_FROM = 300000 };

/* Tiles of a portion where the tests choose the kernels with TMA: some more than there are multiprocessors. */
enum { FORCED_SCAN_TILES = 150 };

/*
 * Which kernels a device can have. VSCAN_TEST_KERNELS is for the tests alone: "portable" takes the
 * kernels for devices without TMA, "tma" those with TMA, both at every length, "none" is a device that
 * there are no kernels for. VSCAN_TEST_DELAY, for the tests too, is the seed
 * of pseudo-random waits in the kernels.
 */
static vscan_status choose_kernels(vscan_ctx *ctx, struct vscan__launch *launch) {
    int compiled_for = 0;
    TRY_CUDA(ctx, "reading device properties",
             cudaDeviceGetAttribute(&launch->multiprocessors, cudaDevAttrMultiProcessorCount,
                                    ctx->device));
    TRY_CUDA(ctx, "loading kernels", vscan__probe_kernels(&compiled_for));
    launch->architecture = compiled_for;
    int driver = 0;
    TRY_CUDA(ctx, "asking for the driver's version", cudaDriverGetVersion(&driver));
    /* capturing programmatic dependent launches needs the driver of CUDA 12.3 */
    launch->may_overlap = compiled_for >= 90 && driver >= 12030;
    const char *forced = getenv("VSCAN_TEST_KERNELS");
    if (forced == NULL) forced = "";
    if (strcmp(forced, "none") == 0)
        return vscan__cuda_failed(ctx, cudaErrorNoKernelImageForDevice, "loading kernels");
    const char *delay = getenv("VSCAN_TEST_DELAY");
    if (delay != NULL) launch->test_delay = (uint32_t)strtoul(delay, NULL, 10);
    const bool always = strcmp(forced, "tma") == 0;
    launch->sort_portion = SORT_PORTION;
    launch->small_to = always || strcmp(forced, "portable") == 0 ? 0 : SMALL_TO;
    launch->large_from = always ? 0 : LARGE_FROM;
    launch->rows_from = forced[0] != 0 ? FORCED_ROWS_FROM : ROWS_FROM;
    launch->many_rows_from = forced[0] != 0 ? FORCED_ROWS_FROM : MANY_ROWS_FROM;
    launch->scan_tiles = always ? FORCED_SCAN_TILES : VSCAN__SCAN_TILES;
    /* see VSCAN__TMA in kernels/machine/ptx.cuh */
    if (compiled_for < 90 || compiled_for >= 120 || strcmp(forced, "portable") == 0)
        return VSCAN_OK;
    void *encode = NULL;
    enum cudaDriverEntryPointQueryResult found;
    TRY_CUDA(ctx, "asking the driver for tensor maps",
             cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &encode, 12000,
                                              cudaEnableDefault, &found));
    if (found != cudaDriverEntryPointSuccess || encode == NULL) return VSCAN_OK;
    memcpy(&launch->encode_tiled, &encode, sizeof encode); /* a function: no cast in ISO C */
    TRY_CUDA(ctx, "reading device properties",
             cudaDeviceGetAttribute(&launch->shared_memory, cudaDevAttrMaxSharedMemoryPerBlockOptin,
                                    ctx->device));
    if (launch->shared_memory < VSCAN__TMA_SHARED) launch->shared_memory = 0;
    return VSCAN_OK;
}

static vscan_status fill_state(vscan_ctx *ctx, void *stream) {
    struct vscan__cuda_state *state = vscan__cuda_state(ctx);
    TRY(choose_kernels(ctx, &state->launch));
    TRY_CUDA(ctx, "creating a stream", cudaStreamCreate(&state->own));
    state->launch.stream = stream != NULL ? (cudaStream_t)stream : state->own;
    const size_t bytes = VSCAN__CUDA_FUNCTIONS * sizeof *state->late.records;
    TRY_CUDA(ctx, "allocating page-locked memory",
             cudaHostAlloc((void **)&state->late.records, bytes,
                           cudaHostAllocPortable | cudaHostAllocMapped));
    memset(state->late.records, 0, bytes);
    return vscan__cuda_grow_words(ctx, FIRST_WORDS);
}

vscan_status vscan__cuda_open(vscan_ctx *ctx, void *stream) {
    int before;
    TRY(vscan__cuda_enter(ctx, ctx->device, &before));
    ctx->state = calloc(1, sizeof(struct vscan__cuda_state));
    vscan_status status = ctx->state != NULL ? fill_state(ctx, stream)
                                             : VSCAN__FAIL(ctx, VSCAN_ERROR_HOST_MEMORY,
                                                           "no host memory for the context");
    status = vscan__cuda_leave(ctx, before, status);
    if (status != VSCAN_OK && ctx->state != NULL) vscan__cuda_close(ctx);
    return status;
}

/* ---- Stream ---------------------------------------------------------------------------------- */

struct vscan__launch *vscan__cuda_launch(vscan_ctx *ctx) {
    struct vscan__cuda_state *state = vscan__cuda_state(ctx);
    struct vscan__cuda_late *late = &state->late;
    const char *const running = vscan__running(ctx);
    int k = late->last; /* often the same function is called again and again */
    if (k == late->functions || late->function[k] != running)
        for (k = 0; k < late->functions && late->function[k] != running; k++) {
        }
    if (k == late->functions) late->function[late->functions++] = running;
    if (late->turn[k] == 0) late->turn[k] = ++late->turns;
    late->last = k;
    state->launch.late = &late->records[k];
    return &state->launch;
}

/* Of the functions in whose names there is a record, the one that was called first; or NONE. A replay of a
   graph is no call. */
enum { NONE = -1 };
static int first_late(const struct vscan__cuda_late *late) {
    int first = NONE;
    for (int k = 0; k < late->functions; k++)
        if (*(volatile int32_t *)&late->records[k].status != VSCAN_OK &&
            (first == NONE || late->turn[k] < late->turn[first]))
            first = k;
    return first;
}

static vscan_status take_late(vscan_ctx *ctx) {
    struct vscan__cuda_late *late = &vscan__cuda_state(ctx)->late;
    for (int k; (k = first_late(late)) != NONE;) {
        volatile struct vscan__late *record = &late->records[k];
        vscan__note_late(ctx, late->function[k], (vscan_status)record->status, record->at, -1);
        record->status = VSCAN_OK;
    }
    memset(late->turn, 0, sizeof late->turn);
    late->turns = 0;
    return vscan__report_late(ctx);
}

vscan_status vscan__cuda_synchronize(vscan_ctx *ctx) {
    int before;
    TRY(vscan__cuda_enter(ctx, ctx->device, &before));
    TRY(vscan__cuda_leave(ctx, before, vscan__cuda_wait(ctx)));
    return take_late(ctx);
}

static vscan_status order_streams(vscan_ctx *ctx, cudaStream_t from, cudaStream_t to) {
    cudaEvent_t event;
    TRY_CUDA(ctx, "creating an event", cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    cudaError_t error = cudaEventRecord(event, from);
    if (error == cudaSuccess) error = cudaStreamWaitEvent(to, event, 0);
    const cudaError_t at_end = cudaEventDestroy(event);
    return vscan__cuda_status(ctx, error != cudaSuccess ? error : at_end, "ordering the streams");
}

static vscan_status order_if_not_captured(vscan_ctx *ctx, cudaStream_t from, cudaStream_t to) {
    bool from_captured, to_captured;
    TRY(vscan__cuda_is_capturing(ctx, from, &from_captured));
    TRY(vscan__cuda_is_capturing(ctx, to, &to_captured));
    return from_captured || to_captured ? VSCAN_OK : order_streams(ctx, from, to);
}

vscan_status vscan__cuda_set_stream(vscan_ctx *ctx, void *stream) {
    struct vscan__cuda_state *state = vscan__cuda_state(ctx);
    const cudaStream_t from = state->launch.stream;
    const cudaStream_t to = stream != NULL ? (cudaStream_t)stream : state->own;
    if (from == to) return VSCAN_OK;
    int before;
    TRY(vscan__cuda_enter(ctx, ctx->device, &before));
    TRY(vscan__cuda_leave(ctx, before, order_if_not_captured(ctx, from, to)));
    state->launch.stream = to;
    return VSCAN_OK;
}

vscan_status vscan__cuda_get_stream(vscan_ctx *ctx, void **stream) {
    *stream = vscan__cuda_state(ctx)->launch.stream;
    return VSCAN_OK;
}
