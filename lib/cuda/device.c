/* SPDX-License-Identifier: Apache-2.0 */
/* Devices, errors of the CUDA runtime, the current device, and waiting for a stream. */
#include <string.h>

#include "cuda/state.h"

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
    (void)cudaGetLastError(); /* the caller's next call must not see an error of ours */
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

vscan_status vscan__cuda_device_count(int32_t *count) {
    int found = 0;
    *count = 0;
    TRY_CUDA(NULL, "counting devices", cudaGetDeviceCount(&found));
    *count = found;
    return VSCAN_OK;
}

vscan_status vscan__cuda_check_device(int32_t device) {
    int32_t count;
    TRY(vscan__cuda_device_count(&count));
    if (device < 0 || device >= count)
        return VSCAN__FAIL(NULL, VSCAN_ERROR_NO_DEVICE,
                           "argument 'device' is %d; CUDA shows %d devices here", (int)device,
                           (int)count);
    return VSCAN_OK;
}

vscan_status vscan__cuda_device_name(int32_t device, char *name, int64_t capacity) {
    struct cudaDeviceProp properties;
    TRY(vscan__cuda_check_device(device));
    TRY_CUDA(NULL, "reading device properties", cudaGetDeviceProperties(&properties, device));
    size_t length = strlen(properties.name);
    if (length > (size_t)capacity - 1) length = (size_t)capacity - 1;
    memcpy(name, properties.name, length);
    name[length] = 0;
    return VSCAN_OK;
}

vscan_status vscan__cuda_device_memory(int32_t device, int64_t *total, int64_t *available) {
    size_t free_bytes = 0, total_bytes = 0;
    TRY(vscan__cuda_check_device(device));
    const int before = vscan__cuda_enter(device);
    const cudaError_t error = cudaMemGetInfo(&free_bytes, &total_bytes);
    vscan__cuda_leave(before);
    TRY_CUDA(NULL, "reading free memory", error);
    *total = (int64_t)total_bytes;
    *available = (int64_t)free_bytes;
    return VSCAN_OK;
}

/* ---- Waiting --------------------------------------------------------------------------------- */

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

vscan_status vscan__cuda_wait(vscan_ctx *ctx) {
    TRY(vscan__cuda_may_wait(ctx));
    TRY_CUDA(ctx, "waiting for the stream (the failure may be of earlier work)",
             cudaStreamSynchronize(vscan__cuda_state(ctx)->launch.stream));
    return VSCAN_OK;
}
