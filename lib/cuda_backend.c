/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The CUDA table: devices, streams and the host's part of launches, and the rows of lib/pairs.h, whose
 * kernels are in kernels/. Memory is in cuda_memory.c.
 *
 * Every slot makes the context's device current and puts the caller's device back.
 */
#include <stdlib.h>
#include <string.h>

#include "cuda_state.h"

/* ---- Errors ---------------------------------------------------------------------------------- */

static vscan_status status_of(cudaError_t error) {
    switch (error) {
    case cudaErrorInsufficientDriver:
    case cudaErrorInitializationError:
    case cudaErrorSystemDriverMismatch:
    case cudaErrorSystemNotReady:
        return VSCAN_ERROR_NO_DRIVER;
    case cudaErrorNoDevice:
    case cudaErrorInvalidDevice:
        return VSCAN_ERROR_NO_DEVICE;
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorUnsupportedPtxVersion:
        return VSCAN_ERROR_NO_KERNEL;
    case cudaErrorMemoryAllocation:
        return VSCAN_ERROR_DEVICE_MEMORY;
    case cudaErrorStreamCaptureUnsupported:
    case cudaErrorStreamCaptureInvalidated:
    case cudaErrorStreamCaptureImplicit:
    case cudaErrorStreamCaptureWrongThread:
        return VSCAN_ERROR_CAPTURE;
    default:
        return VSCAN_ERROR_BACKEND;
    }
}

vscan_status vscan__cuda_failed(vscan_ctx *ctx, cudaError_t error, const char *doing) {
    (void)cudaGetLastError(); /* an error that is not sticky is ours alone, not the caller's next */
    return VSCAN__FAIL(ctx, status_of(error), "CUDA, %s: %s (error %d)", doing,
                       cudaGetErrorString(error), (int)error);
}

/* ---- The current device ---------------------------------------------------------------------- */

int vscan__cuda_enter(int device) {
    int before = -1;
    if (cudaGetDevice(&before) != cudaSuccess || before == device) return -1;
    return cudaSetDevice(device) == cudaSuccess ? before : -1;
}

void vscan__cuda_leave(int before) {
    if (before >= 0) (void)cudaSetDevice(before);
}

/* ---- Devices --------------------------------------------------------------------------------- */

static vscan_status device_count(int32_t *count) {
    int found = 0;
    *count = 0;
    TRY_CUDA(NULL, "counting devices", cudaGetDeviceCount(&found));
    *count = found;
    return VSCAN_OK;
}

static vscan_status check_device(int32_t device) {
    int32_t count;
    TRY(device_count(&count));
    if (device < 0 || device >= count)
        return VSCAN__FAIL(NULL, VSCAN_ERROR_NO_DEVICE,
                           "argument 'device' is %d; CUDA shows %d devices here", (int)device,
                           (int)count);
    return VSCAN_OK;
}

static vscan_status device_name(int32_t device, char *name, int64_t capacity) {
    struct cudaDeviceProp properties;
    TRY(check_device(device));
    TRY_CUDA(NULL, "reading device properties", cudaGetDeviceProperties(&properties, device));
    size_t length = strlen(properties.name);
    if (length > (size_t)capacity - 1) length = (size_t)capacity - 1;
    memcpy(name, properties.name, length);
    name[length] = 0;
    return VSCAN_OK;
}

static vscan_status device_memory(int32_t device, int64_t *total, int64_t *available) {
    size_t free_bytes = 0, total_bytes = 0;
    TRY(check_device(device));
    const int before = vscan__cuda_enter(device);
    const cudaError_t error = cudaMemGetInfo(&free_bytes, &total_bytes);
    vscan__cuda_leave(before);
    TRY_CUDA(NULL, "reading free memory", error);
    *total = (int64_t)total_bytes;
    *available = (int64_t)free_bytes;
    return VSCAN_OK;
}

/* ---- Capture --------------------------------------------------------------------------------- */

bool vscan__cuda_capturing(cudaStream_t stream) {
    enum cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    if (cudaStreamIsCapturing(stream, &status) != cudaSuccess) {
        (void)cudaGetLastError();
        return true; /* the legacy stream answers so while another one is being captured */
    }
    return status != cudaStreamCaptureStatusNone;
}

vscan_status vscan__cuda_may_wait(vscan_ctx *ctx) {
    if (!vscan__cuda_capturing(vscan__cuda_state(ctx)->launch.stream)) return VSCAN_OK;
    return VSCAN__FAIL(ctx, VSCAN_ERROR_CAPTURE,
                       "the call would have to wait or allocate, which is not possible while the "
                       "stream is being captured");
}

/* ---- Workspace ------------------------------------------------------------------------------- */

/* Words of a new context: enough for scans of 4-byte elements of any length (with bulk copies). */
enum { FIRST_WORDS = VSCAN__SCAN_TILES };

static vscan_status grow_words(vscan_ctx *ctx, int64_t words) {
    struct vscan__cuda_state *state = vscan__cuda_state(ctx);
    if (words <= state->launch.words) return VSCAN_OK;
    const int64_t bytes = VSCAN__WORKSPACE_HEADER + 8 * words;
    TRY(vscan__grow(ctx, &state->words, bytes, INT64_MAX, true));
    state->launch.workspace = vscan__grown(&state->words);
    state->launch.words = (state->words.bytes - VSCAN__WORKSPACE_HEADER) / 8;
    return VSCAN_OK;
}

static vscan_status grow_scratch(vscan_ctx *ctx, int64_t bytes) {
    struct vscan__cuda_state *state = vscan__cuda_state(ctx);
    TRY(vscan__grow(ctx, &state->scratch, bytes, INT64_MAX, true));
    state->launch.scratch = vscan__grown(&state->scratch);
    return VSCAN_OK;
}

static vscan_status grow_for_sort(vscan_ctx *ctx, const struct vscan__sort *sort) {
    struct vscan__cuda_state *state = vscan__cuda_state(ctx);
    const int64_t bytes = vscan__sort_memory(&state->launch, sort);
    const vscan_status status = vscan__grow(ctx, &state->sorts, bytes, VSCAN__SORT_HEADER, false);
    state->launch.sort_memory = vscan__grown(&state->sorts); /* NULL where there is not enough */
    state->launch.sort_bytes = state->sorts.bytes;
    return status;
}

/* What needs most: segmented reductions have two units a tile and one for what ends at the end, and
   positions are sums of 8 bytes, whatever the type. */
static vscan_status reserve(vscan_ctx *ctx, vscan_type type, int64_t n) {
    (void)type;
    const int before = vscan__cuda_enter(ctx->device);
    const struct vscan__launch *launch = &vscan__cuda_state(ctx)->launch;
    const vscan_status status =
        grow_words(ctx, vscan__words_needed(launch, VSCAN_DOUBLE, 2 * n + 1));
    vscan__cuda_leave(before);
    return status;
}

/* ---- Open, close ----------------------------------------------------------------------------- */

static void close_state(vscan_ctx *ctx) {
    struct vscan__cuda_state *state = vscan__cuda_state(ctx);
    const int before = vscan__cuda_enter(ctx->device);
    (void)cudaStreamSynchronize(state->launch.stream);
    vscan__free_growing(&state->words);
    vscan__free_growing(&state->scratch);
    vscan__free_growing(&state->sorts);
    if (state->launch.late != NULL) (void)cudaFreeHost(state->launch.late);
    if (state->own != NULL) (void)cudaStreamDestroy(state->own);
    (void)cudaGetLastError();
    vscan__cuda_leave(before);
    free(state);
    ctx->state = NULL;
}

/* Bytes of a vector up to which the kernels for short vectors are taken, which is as far as they go;
   beyond, those with bulk copies are faster. The plots of benchmarks/ show both. */
enum { SHORT_TO = 8 << 20, BULK_FROM = SHORT_TO + 1 };

/* Elements that one launch of a sort goes through: its words are then a tenth of the vector, and
   vectors that are longer hardly notice where it is cut. */
enum { SORT_PORTION = 1 << 28 };

/* Bytes of a row from which on the kernels for vectors, row after row, are faster than those for rows,
   if there are fewer rows than multiprocessors; with more rows they are so from MANY_ROWS_FROM on. And
   where the tests choose the kernels for vectors. */
enum { ROWS_FROM = 8 << 20, MANY_ROWS_FROM = 32 << 20, FORCED_ROWS_FROM = 300000 };

/* Tiles of a portion where the tests choose the kernels: some more than there are multiprocessors. */
enum { FORCED_SCAN_TILES = 150 };

/*
 * Which kernels a device can have. VSCAN_TEST_KERNELS is for the tests alone: "units" takes the
 * kernels for devices without bulk copies, "bulk" those with bulk copies, both at every length,
 * "none" is a device that there are no kernels for. VSCAN_TEST_DELAY, for the tests too, is the seed
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
    const bool always = strcmp(forced, "bulk") == 0;
    launch->sort_portion = SORT_PORTION;
    launch->short_to = always || strcmp(forced, "units") == 0 ? 0 : SHORT_TO;
    launch->bulk_from = always ? 0 : BULK_FROM;
    launch->rows_from = forced[0] != 0 ? FORCED_ROWS_FROM : ROWS_FROM;
    launch->many_rows_from = forced[0] != 0 ? FORCED_ROWS_FROM : MANY_ROWS_FROM;
    launch->scan_tiles = forced[0] != 0 ? FORCED_SCAN_TILES : VSCAN__SCAN_TILES;
    /* see VSCAN__BULK in kernels/bulk.cuh */
    if (compiled_for < 90 || compiled_for >= 120 || strcmp(forced, "units") == 0) return VSCAN_OK;
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
    if (launch->shared_memory < VSCAN__BULK_SHARED) launch->shared_memory = 0;
    return VSCAN_OK;
}

static vscan_status fill_state(vscan_ctx *ctx, void *stream) {
    struct vscan__cuda_state *state = vscan__cuda_state(ctx);
    TRY(choose_kernels(ctx, &state->launch));
    TRY_CUDA(ctx, "creating a stream", cudaStreamCreate(&state->own));
    state->launch.stream = stream != NULL ? (cudaStream_t)stream : state->own;
    TRY_CUDA(ctx, "allocating page-locked memory",
             cudaHostAlloc((void **)&state->launch.late, sizeof *state->launch.late,
                           cudaHostAllocPortable | cudaHostAllocMapped));
    memset(state->launch.late, 0, sizeof *state->launch.late);
    return grow_words(ctx, FIRST_WORDS);
}

static vscan_status open_state(vscan_ctx *ctx, void *stream) {
    TRY(check_device(ctx->device));
    ctx->state = calloc(1, sizeof(struct vscan__cuda_state));
    if (ctx->state == NULL)
        return VSCAN__FAIL(ctx, VSCAN_ERROR_HOST_MEMORY, "no host memory for the context");
    const int before = vscan__cuda_enter(ctx->device);
    const vscan_status status = fill_state(ctx, stream);
    if (status != VSCAN_OK) close_state(ctx);
    vscan__cuda_leave(before);
    return status;
}

/* ---- Stream ---------------------------------------------------------------------------------- */

static vscan_status take_late(vscan_ctx *ctx) {
    volatile struct vscan__late *late = vscan__cuda_state(ctx)->launch.late;
    const vscan_status status = (vscan_status)late->status;
    if (status == VSCAN_OK) return VSCAN_OK;
    late->status = VSCAN_OK;
    if (status != VSCAN_ERROR_TOTALS_LENGTH) return vscan__fail_late(ctx, status, late->at);
    return VSCAN__FAIL(
        ctx, status,
        "an earlier segmented scan or reduction found more segments than 'totals' has "
        "elements; those that fit were written");
}

vscan_status vscan__cuda_wait(vscan_ctx *ctx) {
    TRY(vscan__cuda_may_wait(ctx));
    TRY_CUDA(ctx, "waiting for the stream (the failure may be of earlier work)",
             cudaStreamSynchronize(vscan__cuda_state(ctx)->launch.stream));
    return VSCAN_OK;
}

static vscan_status synchronize(vscan_ctx *ctx) {
    const int before = vscan__cuda_enter(ctx->device);
    vscan_status status = vscan__cuda_wait(ctx);
    vscan__cuda_leave(before);
    return status != VSCAN_OK ? status : take_late(ctx);
}

static vscan_status order_streams(vscan_ctx *ctx, cudaStream_t from, cudaStream_t to) {
    cudaEvent_t event;
    TRY_CUDA(ctx, "creating an event", cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    cudaError_t error = cudaEventRecord(event, from);
    if (error == cudaSuccess) error = cudaStreamWaitEvent(to, event, 0);
    (void)cudaEventDestroy(event);
    TRY_CUDA(ctx, "ordering the streams", error);
    return VSCAN_OK;
}

static vscan_status set_stream(vscan_ctx *ctx, void *stream) {
    struct vscan__cuda_state *state = vscan__cuda_state(ctx);
    const cudaStream_t from = state->launch.stream;
    const cudaStream_t to = stream != NULL ? (cudaStream_t)stream : state->own;
    if (from == to) return VSCAN_OK;
    const int before = vscan__cuda_enter(ctx->device);
    vscan_status status = VSCAN_OK;
    if (!vscan__cuda_capturing(from) && !vscan__cuda_capturing(to))
        status = order_streams(ctx, from, to);
    vscan__cuda_leave(before);
    if (status == VSCAN_OK) state->launch.stream = to;
    return status;
}

static vscan_status get_stream(vscan_ctx *ctx, void **stream) {
    *stream = vscan__cuda_state(ctx)->launch.stream;
    return VSCAN_OK;
}

/* ---- Bits and fills ---- */

static vscan_status fill(vscan_ctx *ctx, vscan_type type, void *pointer, int64_t first, int64_t n,
                         union vscan__value value) {
    const int before = vscan__cuda_enter(ctx->device);
    const cudaError_t error =
        vscan__launch_fill(&vscan__cuda_state(ctx)->launch, type, pointer, first, n, value);
    vscan__cuda_leave(before);
    TRY_CUDA(ctx, "filling", error);
    return VSCAN_OK;
}

static vscan_status copy_bits(vscan_ctx *ctx, void *to, const void *from, int64_t n) {
    const int before = vscan__cuda_enter(ctx->device);
    const cudaError_t error = vscan__launch_copy_bits(&vscan__cuda_state(ctx)->launch, to, from, n);
    vscan__cuda_leave(before);
    TRY_CUDA(ctx, "copying bits", error);
    return VSCAN_OK;
}

/* ---- Rows ------------------------------------------------------------------------------------ */

/* With the words that n elements of a type need. */
static vscan_status launch(vscan_ctx *ctx, const struct vscan__scan *scan, vscan_type type,
                           int64_t n, vscan__launcher *launcher) {
    const int before = vscan__cuda_enter(ctx->device);
    vscan_status status =
        grow_words(ctx, vscan__words_needed(&vscan__cuda_state(ctx)->launch, type, n));
    cudaError_t error = cudaSuccess;
    if (status == VSCAN_OK) error = launcher(&vscan__cuda_state(ctx)->launch, scan);
    vscan__cuda_leave(before);
    TRY(status);
    TRY_CUDA(ctx, "launching", error);
    return VSCAN_OK;
}

/* Elements that one launch of a scan goes through. */
static int64_t portion(vscan_ctx *ctx, vscan_type type, int64_t n) {
    const int64_t tile = type == VSCAN_DOUBLE ? VSCAN__TILE_DOUBLE : VSCAN__TILE_FLOAT;
    const int64_t most = vscan__cuda_state(ctx)->launch.scan_tiles * tile;
    return n < most ? n : most;
}

/* Bytes of a vector from which on totals at the ends of segments alone are faster than a whole scan. */
enum { ENDS_FROM = 16 << 20 };

/* A segmented reduction has units of half a tile at least, and one for what ends at the end. */
#define X(pair, op, type, OP, TYPE)                                                                \
    static vscan_status scan_##pair(vscan_ctx *ctx, const struct vscan__scan *scan) {              \
        return launch(ctx, scan, VSCAN_##TYPE, portion(ctx, VSCAN_##TYPE, scan->n),                \
                      vscan__launch_scan_##pair);                                                  \
    }                                                                                              \
    static vscan_status scan_segmented_##pair(vscan_ctx *ctx, const struct vscan__scan *scan) {    \
        return launch(ctx, scan, VSCAN_##TYPE, scan->n, vscan__launch_scan_segmented_##pair);      \
    }                                                                                              \
    static vscan_status reduce_##pair(vscan_ctx *ctx, const struct vscan__scan *scan) {            \
        return launch(ctx, scan, VSCAN_##TYPE, scan->n, vscan__launch_reduce_##pair);              \
    }                                                                                              \
    static vscan_status reduce_segmented_##pair(vscan_ctx *ctx, const struct vscan__scan *scan) {  \
        if (scan->out != NULL && scan->n < ENDS_FROM / vscan__element_size(VSCAN_##TYPE))          \
            return scan_segmented_##pair(ctx, scan);                                               \
        return launch(ctx, scan, VSCAN_##TYPE, 2 * scan->n + 1,                                    \
                      vscan__launch_reduce_segmented_##pair);                                      \
    }
VSCAN__PAIRS(X)
#undef X

/* Row after row. */
static vscan_status each_row(vscan_ctx *ctx, const struct vscan__matrix *matrix, int64_t size,
                             vscan__scan_fn *run) {
    for (int64_t row = 0; row < matrix->lines; row++) {
        const int64_t at = row * matrix->line_step * size;
        const struct vscan__scan scan = {
            .n = matrix->length,
            .in = (const char *)matrix->in + at,
            .out = matrix->out != NULL ? (char *)matrix->out + at : NULL,
            .exclusive = matrix->exclusive,
            .backward = matrix->backward,
            .has_initial = matrix->has_initial,
            .initial = matrix->initial,
            .initial_at = matrix->has_initial == 2
                              ? (const char *)matrix->initial_at + row * matrix->initial_step * size
                              : NULL,
            .total = matrix->totals != NULL ? (char *)matrix->totals + row * size : NULL};
        TRY(run(ctx, &scan));
    }
    return VSCAN_OK;
}

static vscan_status launch_matrix(vscan_ctx *ctx, const struct vscan__matrix *matrix,
                                  vscan_type type, enum vscan__pair pair,
                                  vscan__matrix_launcher *launcher) {
    const int64_t size = vscan__element_size(type);
    struct vscan__launch *launch = &vscan__cuda_state(ctx)->launch;
    const int64_t from =
        matrix->lines < launch->multiprocessors ? launch->rows_from : launch->many_rows_from;
    if (!matrix->columns && matrix->length >= from / size)
        return each_row(ctx, matrix, size,
                        matrix->out != NULL ? vscan__cuda.scan[pair] : vscan__cuda.reduce[pair]);
    const int before = vscan__cuda_enter(ctx->device);
    const vscan_status status = grow_words(ctx, vscan__matrix_words_needed(type, matrix));
    cudaError_t error = cudaSuccess;
    if (status == VSCAN_OK) error = launcher(launch, matrix);
    vscan__cuda_leave(before);
    TRY(status);
    TRY_CUDA(ctx, "launching", error);
    return VSCAN_OK;
}

#define X(pair, op, type, OP, TYPE)                                                                \
    static vscan_status matrix_##pair(vscan_ctx *ctx, const struct vscan__matrix *matrix) {        \
        return launch_matrix(ctx, matrix, VSCAN_##TYPE, vscan__pair_##pair,                        \
                             vscan__launch_matrix_##pair);                                         \
    }
VSCAN__PAIRS(X)
#undef X

static vscan_status launched(vscan_ctx *ctx, int before, cudaError_t error) {
    vscan__cuda_leave(before);
    TRY_CUDA(ctx, "launching", error);
    return VSCAN_OK;
}

#define MAP(family, structure)                                                                     \
    static vscan_status map_##family(vscan_ctx *ctx, const struct vscan__##structure *work) {      \
        const int before = vscan__cuda_enter(ctx->device);                                         \
        return launched(ctx, before,                                                               \
                        vscan__launch_##family(&vscan__cuda_state(ctx)->launch, work));            \
    }
MAP(unary, map)
MAP(binary, map)
MAP(compare, map)
MAP(logic, map)
MAP(select, map)
MAP(convert, map)
MAP(index, map)
MAP(distribute, map)
MAP(gather, move)
MAP(permute, move)
MAP(mark, ranges)
MAP(subtract, ranges)

/* A launch that publishes words, as many as for so many elements of a type that can be reserved for. */
#define PACK(family, as, structure, elements)                                                      \
    static vscan_status pack_##family(vscan_ctx *ctx, const struct vscan__##structure *pack) {     \
        struct vscan__launch *launch = &vscan__cuda_state(ctx)->launch;                            \
        const int before = vscan__cuda_enter(ctx->device);                                         \
        const vscan_status status =                                                                \
            grow_words(ctx, vscan__words_needed(launch, (as), (elements)));                        \
        const cudaError_t error =                                                                  \
            status == VSCAN_OK ? vscan__launch_##family(launch, pack) : cudaSuccess;               \
        TRY(launched(ctx, before, error));                                                         \
        return status;                                                                             \
    }
PACK(pack, vscan__element_size((vscan_type)pack->type) == 8 ? VSCAN_DOUBLE : VSCAN_INT, pack,
     pack->n)
PACK(enumerate, VSCAN_INT, pack, pack->n)
PACK(starts, VSCAN_INT, pack, pack->n + 127) /* the first tile may begin as far before the flags */
PACK(spread, VSCAN_INT, spread, 2 * pack->n + 1)
PACK(add, VSCAN_DOUBLE, ranges, 2 * pack->n + 1)

/* Notes which memory a graph may refer to. */
static vscan_status ready_for_sort(vscan_ctx *ctx, const struct vscan__sort *sort) {
    TRY(grow_for_sort(ctx, sort));
    vscan__note_capture(ctx, &vscan__cuda_state(ctx)->sorts);
    return VSCAN_OK;
}

#define SORT(name, launcher)                                                                       \
    static vscan_status name(vscan_ctx *ctx, const struct vscan__sort *sort) {                     \
        const int before = vscan__cuda_enter(ctx->device);                                         \
        const vscan_status status = ready_for_sort(ctx, sort);                                     \
        const cudaError_t error =                                                                  \
            status == VSCAN_OK ? launcher(&vscan__cuda_state(ctx)->launch, sort) : cudaSuccess;    \
        TRY(launched(ctx, before, error));                                                         \
        return status;                                                                             \
    }
SORT(sort_all, vscan__launch_sort)
SORT(sort_segmented, vscan__launch_sort_segmented)

static vscan_status reserve_sort(vscan_ctx *ctx, const struct vscan__sort *sort) {
    const int before = vscan__cuda_enter(ctx->device);
    const vscan_status status = grow_for_sort(ctx, sort);
    vscan__cuda_leave(before);
    return status;
}

static vscan_status split(vscan_ctx *ctx, const struct vscan__split *split) {
    const int before = vscan__cuda_enter(ctx->device);
    const vscan_status status =
        grow_scratch(ctx, vscan__split_bytes(split->n, split->flag_type, split->head_type));
    const cudaError_t error = status == VSCAN_OK
                                  ? vscan__launch_split(&vscan__cuda_state(ctx)->launch, split)
                                  : cudaSuccess;
    TRY(launched(ctx, before, error));
    return status;
}

const struct vscan__backend vscan__cuda = {
    .name = "cuda",
    .device_count = device_count,
    .device_name = device_name,
    .device_memory = device_memory,
    .open = open_state,
    .close = close_state,
    .reserve = reserve,
    .synchronize = synchronize,
    .set_stream = set_stream,
    .get_stream = get_stream,
    .may_wait = vscan__cuda_may_wait,
    .allocate = vscan__cuda_allocate,
    .release = vscan__cuda_release,
    .check_pointer = vscan__cuda_check_pointer,
    .upload = vscan__cuda_upload,
    .download = vscan__cuda_download,
    .copy = vscan__cuda_copy,
    .fill = fill,
    .copy_bits = copy_bits,
#define X(pair, op, type, OP, TYPE) [vscan__pair_##pair] = scan_##pair,
    .scan = {VSCAN__PAIRS(X)},
#undef X
#define X(pair, op, type, OP, TYPE) [vscan__pair_##pair] = scan_segmented_##pair,
    .scan_segmented = {VSCAN__PAIRS(X)},
#undef X
#define X(pair, op, type, OP, TYPE) [vscan__pair_##pair] = reduce_##pair,
    .reduce = {VSCAN__PAIRS(X)},
#undef X
#define X(pair, op, type, OP, TYPE) [vscan__pair_##pair] = reduce_segmented_##pair,
    .reduce_segmented = {VSCAN__PAIRS(X)},
#undef X
#define X(pair, op, type, OP, TYPE) [vscan__pair_##pair] = matrix_##pair,
    .matrix = {VSCAN__PAIRS(X)},
#undef X
    .unary = map_unary,
    .binary = map_binary,
    .compare = map_compare,
    .logic = map_logic,
    .select = map_select,
    .convert = map_convert,
    .index = map_index,
    .distribute = map_distribute,
    .gather = map_gather,
    .permute = map_permute,
    .pack = pack_pack,
    .enumerate = pack_enumerate,
    .sort = sort_all,
    .sort_segmented = sort_segmented,
    .reserve_sort = reserve_sort,
    .split = split,
    .starts = pack_starts,
    .spread = pack_spread,
    .mark = map_mark,
    .subtract = map_subtract,
    .add = pack_add,
};
