/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What stands in place of the CUDA runtime: two devices of compute capability 9.0 whose memory is the
 * host's. Copies and fills are done at once; kernels do nothing. Every call is an event that can fail,
 * and a call on the wrong device, or of memory that is not there, is noted. As in the real runtime, a
 * function that gives something back has done so even where it reports a failure, which then is one of
 * earlier work.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/launch.h" /* and CUDA's headers */
#include "faults.h"

enum { DEVICES = 2, MOST = 4096 };

void *__real_calloc(size_t count, size_t bytes);
void __real_free(void *memory);

/* ---- The state ------------------------------------------------------------------------------- */

struct CUstream_st {
    int device;
};

struct CUevent_st {
    int device;
};

/* Memory of a device, or page-locked: host. */
static struct memory {
    char *first;
    int64_t bytes;
    int device;
    bool host;
} memories[MOST];

struct cudart_answers cudart_answers;

static struct cudart_live alive;
static _Thread_local int current;
static _Thread_local cudaError_t pending;
static enum cudart_capture capturing;
static int64_t cleared_sorts, launches, wrong_calls;
static char first_wrong[256];

static void __attribute__((format(printf, 1, 2))) note_wrong(const char *format, ...) {
    if (wrong_calls++ > 0) return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(first_wrong, sizeof first_wrong, format, arguments);
    va_end(arguments);
}

struct cudart_live cudart_live(void) {
    return alive;
}
int64_t cudart_wrong(const char **first) {
    *first = first_wrong;
    return wrong_calls;
}
int64_t cudart_launches(void) {
    return launches;
}
int64_t cudart_cleared_sorts(void) {
    return cleared_sorts;
}
int cudart_current_device(void) {
    return current;
}
void cudart_set_current_device(int device) {
    current = device;
}
void cudart_set_pending(int error) {
    pending = (cudaError_t)error;
}
int cudart_pending(void) {
    return (int)pending;
}
void cudart_capture(enum cudart_capture capture) {
    capturing = capture;
}

/* An event. otherwise: the error of this function where it fails by itself. */
static cudaError_t strike(const char *function, bool reaches_device, cudaError_t otherwise) {
    if (!faults_strike(FAULT_CUDA, function, reaches_device)) return cudaSuccess;
    pending = faults_mode() == FAULT_LOST ? cudaErrorIllegalAddress : otherwise;
    return pending;
}
#define EVENT_OF(reaches_device, otherwise)                                                        \
    do {                                                                                           \
        const cudaError_t error_ = strike(__func__, reaches_device, otherwise);                    \
        if (error_ != cudaSuccess) return error_;                                                  \
    } while (0)
#define EVENT(reaches_device) EVENT_OF(reaches_device, cudaErrorUnknown)

static struct memory *memory_at(const void *address) {
    for (int i = 0; i < MOST; i++)
        if (memories[i].first != NULL && (const char *)address >= memories[i].first &&
            (const char *)address < memories[i].first + memories[i].bytes)
            return &memories[i];
    return NULL;
}

static void *take(size_t bytes, int device, bool host) {
    for (int i = 1; i < MOST; i++) { /* the first is the caller's */
        if (memories[i].first != NULL) continue;
        char *const first = __real_calloc(1, bytes);
        if (first != NULL) memories[i] = (struct memory){first, (int64_t)bytes, device, host};
        return first;
    }
    return NULL;
}

static void give(void *first, bool host) {
    struct memory *memory = memory_at(first);
    if (memory == NULL || memory->first != first || memory->host != host) {
        note_wrong("freed memory that is not there");
        return;
    }
    __real_free(first);
    memory->first = NULL;
}

void *cudart_callers_memory(void) {
    static char memory[4096] __attribute__((aligned(256)));
    memories[0] = (struct memory){memory, sizeof memory, 0, false};
    return memory;
}
static struct CUstream_st callers_stream;
static bool callers_stream_gone;
void *cudart_callers_stream(void) {
    callers_stream_gone = false;
    return &callers_stream;
}
void cudart_destroy_callers_stream(void) {
    callers_stream_gone = true;
}

/* So many bytes must lie in one piece of device memory. */
static void check_memory(const char *function, const void *address, size_t bytes) {
    const struct memory *memory = memory_at(address);
    if (memory == NULL || memory->host)
        note_wrong("%s: no device memory", function);
    else if ((const char *)address + bytes > memory->first + memory->bytes)
        note_wrong("%s: beyond the end of its memory", function);
    else if (memory->device != current)
        note_wrong("%s: memory of device %d, device %d is current", function, memory->device,
                   current);
}

static void check_live(const char *function, cudaStream_t stream) {
    if (stream == NULL)
        note_wrong("%s: the legacy stream", function);
    else if (stream == &callers_stream && callers_stream_gone)
        note_wrong("%s: a stream that has been destroyed", function);
}

static void check_stream(const char *function, cudaStream_t stream) {
    check_live(function, stream);
    if (stream != NULL && stream->device != current)
        note_wrong("%s: stream of device %d, device %d is current", function, stream->device,
                   current);
}

/* ---- Devices and errors ---------------------------------------------------------------------- */

cudaError_t cudaGetLastError(void) {
    const cudaError_t error = pending;
    pending = cudaSuccess;
    return error;
}

const char *cudaGetErrorString(cudaError_t error) {
    return error == cudaErrorMemoryAllocation ? "out of memory"
           : error == cudaErrorIllegalAddress ? "an illegal memory access was encountered"
                                              : "unknown error";
}

cudaError_t cudaGetDeviceCount(int *count) {
    EVENT(false);
    if (cudart_answers.error_of_count != 0)
        return pending = (cudaError_t)cudart_answers.error_of_count;
    *count = DEVICES;
    return cudaSuccess;
}

cudaError_t cudaGetDevice(int *device) {
    EVENT(false);
    *device = current;
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) {
    EVENT(false);
    current = device;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *properties, int device) {
    EVENT(false);
    memset(properties, 0, sizeof *properties);
    snprintf(properties->name, sizeof properties->name, "stand-in %d", device);
    return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device) {
    EVENT(false);
    (void)device;
    *value = attribute == cudaDevAttrMultiProcessorCount ? 132
             : cudart_answers.little_shared_memory       ? 48 << 10
                                                         : 227 << 10;
    return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int *version) {
    EVENT(false);
    *version = cudart_answers.driver == 0 ? 13000 : cudart_answers.driver < 0 ? 0 : cudart_answers.driver;
    return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes) {
    EVENT(true);
    *free_bytes = 1 << 20;
    *total_bytes = 1 << 21;
    return cudaSuccess;
}

static CUresult encode_tiled(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank,
                             void *first, const cuuint64_t *sizes, const cuuint64_t *strides,
                             const cuuint32_t *box, const cuuint32_t *steps,
                             CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                             CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill) {
    (void)type, (void)rank, (void)first, (void)sizes, (void)strides, (void)box, (void)steps;
    (void)interleave, (void)swizzle, (void)promotion, (void)fill;
    memset(map, 0, sizeof *map);
    return strike("cuTensorMapEncodeTiled", false, cudaErrorUnknown) == cudaSuccess
               ? CUDA_SUCCESS
               : CUDA_ERROR_INVALID_VALUE;
}

cudaError_t cudaGetDriverEntryPointByVersion(const char *symbol, void **function, unsigned version,
                                             unsigned long long flags,
                                             enum cudaDriverEntryPointQueryResult *found) {
    EVENT(false);
    (void)symbol, (void)version, (void)flags;
    CUresult (*const encode)(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *,
                             const cuuint64_t *, const cuuint64_t *, const cuuint32_t *,
                             const cuuint32_t *, CUtensorMapInterleave, CUtensorMapSwizzle,
                             CUtensorMapL2promotion, CUtensorMapFloatOOBfill) = encode_tiled;
    if (cudart_answers.tensor_maps != CUDART_NULL) memcpy(function, &encode, sizeof encode);
    *found = cudart_answers.tensor_maps == CUDART_NOT_FOUND ? cudaDriverEntryPointSymbolNotFound
                                                            : cudaDriverEntryPointSuccess;
    return cudaSuccess;
}

/* ---- Streams and events ---------------------------------------------------------------------- */

cudaError_t cudaStreamCreate(cudaStream_t *stream) {
    EVENT_OF(true, cudaErrorMemoryAllocation);
    *stream = __real_calloc(1, sizeof **stream);
    (*stream)->device = current;
    alive.streams++;
    return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
    __real_free(stream);
    alive.streams--;
    EVENT(true);
    return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
    EVENT(true);
    check_live(__func__, stream);
    return cudaSuccess;
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *status) {
    EVENT(true);
    check_stream(__func__, stream);
    const bool captured =
        capturing == CUDART_CAPTURING ||
        (capturing == CUDART_CALLERS_STREAM_CAPTURES && stream == &callers_stream);
    *status = captured ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
    if (capturing != CUDART_ANOTHER_CAPTURES) return cudaSuccess;
    return pending = cudaErrorStreamCaptureImplicit;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags) {
    EVENT_OF(true, cudaErrorMemoryAllocation);
    (void)flags;
    *event = __real_calloc(1, sizeof **event);
    (*event)->device = current;
    alive.events++;
    return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    EVENT(true);
    if (event->device != stream->device) note_wrong("%s: another device's stream", __func__);
    return cudaSuccess;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
    EVENT(true);
    check_live(__func__, stream);
    (void)event, (void)flags;
    return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
    __real_free(event);
    alive.events--;
    EVENT(true);
    return cudaSuccess;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

cudaError_t cudaMalloc(void **memory, size_t bytes) {
    EVENT_OF(true, cudaErrorMemoryAllocation);
    *memory = take(bytes, current, false);
    if (*memory == NULL) return pending = cudaErrorMemoryAllocation;
    alive.device_memory++;
    return cudaSuccess;
}

cudaError_t cudaFree(void *memory) {
    if (memory != NULL) {
        give(memory, false);
        alive.device_memory--;
    }
    EVENT(true);
    return cudaSuccess;
}

cudaError_t cudaHostAlloc(void **memory, size_t bytes, unsigned flags) {
    EVENT_OF(true, cudaErrorMemoryAllocation);
    (void)flags;
    *memory = take(bytes, -1, true);
    if (*memory == NULL) return pending = cudaErrorMemoryAllocation;
    memset(*memory, 0xa5, bytes);
    alive.host_memory++;
    return cudaSuccess;
}

cudaError_t cudaFreeHost(void *memory) {
    give(memory, true);
    alive.host_memory--;
    EVENT(true);
    return cudaSuccess;
}

cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes,
                                     const void *pointer) {
    EVENT(true);
    const struct memory *memory = memory_at(pointer);
    memset(attributes, 0, sizeof *attributes);
    if (cudart_answers.pointers == CUDART_OLD) return pending = cudaErrorInvalidValue;
    attributes->type = cudart_answers.pointers == CUDART_MANAGED ? cudaMemoryTypeManaged
                       : memory == NULL                          ? cudaMemoryTypeUnregistered
                       : memory->host                            ? cudaMemoryTypeHost
                                                                 : cudaMemoryTypeDevice;
    attributes->device = memory != NULL ? memory->device : -1;
    return cudaSuccess;
}

cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t stream) {
    EVENT(true);
    check_stream(__func__, stream);
    check_memory(__func__, to, bytes);
    memset(to, value, bytes);
    if (value == 0 && bytes == VSCAN__SORT_HEADER) cleared_sorts++;
    return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                            cudaStream_t stream) {
    EVENT(true);
    check_stream(__func__, stream);
    if (kind != cudaMemcpyDeviceToHost) check_memory(__func__, to, bytes);
    if (kind != cudaMemcpyHostToDevice) check_memory(__func__, from, bytes);
    memmove(to, from, bytes);
    return cudaSuccess;
}

/* ---- Kernels --------------------------------------------------------------------------------- */

cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attributes, const void *function) {
    EVENT_OF(true, cudaErrorMemoryAllocation);
    (void)function;
    memset(attributes, 0, sizeof *attributes);
    attributes->ptxVersion = cudart_answers.kernels != 0 ? cudart_answers.kernels : 90;
    return cudaSuccess;
}

cudaError_t cudaFuncSetAttribute(const void *function, enum cudaFuncAttribute attribute,
                                 int value) {
    EVENT(true);
    (void)function, (void)attribute, (void)value;
    return cudaSuccess;
}

/* The first launch of a kernel loads it, for which there may be no memory. */
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *function,
                                void **arguments) {
    launches++;
    EVENT_OF(true, cudaErrorMemoryAllocation);
    (void)function, (void)arguments;
    check_stream(__func__, config->stream);
    if (config->gridDim.x == 0 || config->blockDim.x == 0)
        note_wrong("%s: no blocks or no threads", __func__);
    return cudaSuccess;
}
