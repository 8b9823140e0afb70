/* SPDX-License-Identifier: Apache-2.0 */
/* Devices, errors of the CUDA runtime, the current device, and waiting for a stream. */
#include <stdio.h>
#include <string.h>

#include "core/text.h"
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
    case cudaErrorECCUncorrectable: /* after these, every later call of the process fails alike */
    case cudaErrorNvlinkUncorrectable:
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchFailure:
        return VSCAN_ERROR_DEVICE_LOST;
    default:
        return VSCAN_ERROR_BACKEND;
    }
}

/* NVIDIA's first driver for this major version of CUDA; those before it are too old, and it is enough. */
#define DRIVER_NEEDED (CUDART_VERSION >= 13000 ? "580" : CUDART_VERSION >= 12000 ? "525" : "450")

/* CUDA says "insufficient" of a driver that is too old, and where there is none. */
static void explain(cudaError_t error, char text[160]) {
    int driver = 0;
    snprintf(text, 160, "%s", cudaGetErrorString(error));
    if (error != cudaErrorInsufficientDriver) return;
    vscan__cuda_forget(cudaDriverGetVersion(&driver));
    if (driver == 0)
        snprintf(text, 160, "no driver found");
    else
        snprintf(text, 160,
                 "the driver is one of CUDA %d.%d, and this libvscan needs CUDA %d.0, driver %s%s",
                 driver / 1000, driver % 1000 / 10, CUDART_VERSION / 1000, DRIVER_NEEDED,
                 CUDART_VERSION >= 13000 ? "; one built with VSCAN_CUDA=12: 525" : "");
}

vscan_status vscan__cuda_failed(vscan_ctx *ctx, cudaError_t error, const char *doing) {
    vscan__cuda_forget(error);
    const vscan_status status = status_of(error);
    char text[160];
    explain(error, text);
    return VSCAN__FAIL(
        ctx, status, "CUDA, %s: %s (error %d)%s", doing, text, (int)error,
        status == VSCAN_ERROR_DEVICE_LOST ? "; this process can use the device no longer" : "");
}

/* ---- The current device ---------------------------------------------------------------------- */

enum { NOTHING_TO_UNDO = -1 };

cudaError_t vscan__cuda_make_current(int device, int *before) {
    int current = device;
    *before = NOTHING_TO_UNDO;
    cudaError_t error = cudaGetDevice(&current);
    if (error != cudaSuccess || current == device) return error;
    error = cudaSetDevice(device);
    if (error == cudaSuccess) *before = current;
    return error;
}

cudaError_t vscan__cuda_make_current_again(int before) {
    return before == NOTHING_TO_UNDO ? cudaSuccess : cudaSetDevice(before);
}

/* ---- Devices --------------------------------------------------------------------------------- */

vscan_status vscan__cuda_device_count(int32_t *count) {
    int found = 0;
    *count = 0;
    TRY_CUDA(NULL, "counting devices", cudaGetDeviceCount(&found));
    *count = found;
    return VSCAN_OK;
}

vscan_status vscan__cuda_device_name(int32_t device, char *name, int64_t capacity) {
    struct cudaDeviceProp properties;
    TRY_CUDA(NULL, "reading device properties", cudaGetDeviceProperties(&properties, device));
    size_t length = strlen(properties.name);
    if (length > (size_t)capacity - 1) length = (size_t)capacity - 1;
    memcpy(name, properties.name, length);
    name[length] = 0;
    return VSCAN_OK;
}

vscan_status vscan__cuda_device_memory(int32_t device, int64_t *total, int64_t *available) {
    size_t free_bytes = 0, total_bytes = 0;
    int before;
    TRY(vscan__cuda_enter(NULL, device, &before));
    const cudaError_t error = cudaMemGetInfo(&free_bytes, &total_bytes);
    TRY(vscan__cuda_leave(NULL, before, vscan__cuda_status(NULL, error, "reading free memory")));
    *total = (int64_t)total_bytes;
    *available = (int64_t)free_bytes;
    return VSCAN_OK;
}

/* The line of /proc that names the driver's kernel module, or nothing. */
static void add_module(struct vscan__text *text) {
    FILE *file = fopen("/proc/driver/nvidia/version", "re");
    if (file == NULL) return;
    char line[256];
    if (fscanf(file, "NVRM version: %255[^\n]", line) == 1) vscan__add(text, ", %s", line);
    fclose(file);
}

static void add_device(struct vscan__text *text, int32_t device) {
    struct cudaDeviceProp properties;
    const cudaError_t error = cudaGetDeviceProperties(&properties, device);
    vscan__add(text, "CUDA device %d: ", (int)device);
    if (vscan__cuda_status(NULL, error, "reading device properties") != VSCAN_OK)
        vscan__add(text, "%s\n", vscan_ctx_last_error(NULL));
    else /* what is free cannot be asked for without a CUDA context, which takes memory */
        vscan__add(text, "%s, compute capability %d.%d, %.1f GiB\n", properties.name,
                   properties.major, properties.minor,
                   (double)properties.totalGlobalMem / (1 << 30));
}

#ifndef VSCAN__ARCHITECTURES /* CMakeLists.txt says for which ones */
#define VSCAN__ARCHITECTURES "unknown architectures"
#endif

void vscan__cuda_describe(struct vscan__text *text) {
    int driver = 0, count = 0;
    vscan__add(text, "CUDA that built it: %d.%d, for %s and drivers from %s on\n",
               CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10, VSCAN__ARCHITECTURES,
               DRIVER_NEEDED);
    vscan__cuda_forget(cudaDriverGetVersion(&driver));
    if (driver == 0)
        vscan__add(text, "CUDA of the driver: no driver found");
    else
        vscan__add(text, "CUDA of the driver: %d.%d", driver / 1000, driver % 1000 / 10);
    add_module(text);
    vscan__add(text, "\n");
    if (vscan__cuda_device_count(&count) != VSCAN_OK)
        vscan__add(text, "CUDA devices: none, %s\n", vscan_ctx_last_error(NULL));
    for (int32_t device = 0; device < count; device++) add_device(text, device);
}

/* ---- Waiting --------------------------------------------------------------------------------- */

vscan_status vscan__cuda_is_capturing(vscan_ctx *ctx, cudaStream_t stream, bool *capturing) {
    enum cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    const cudaError_t error = cudaStreamIsCapturing(stream, &status);
    /* the legacy stream answers so while another one is being captured */
    const bool implicit = error == cudaErrorStreamCaptureImplicit;
    *capturing = implicit || status != cudaStreamCaptureStatusNone;
    if (!implicit) TRY_CUDA(ctx, "asking whether the stream is being captured", error);
    vscan__cuda_forget(error);
    return VSCAN_OK;
}

vscan_status vscan__cuda_may_wait(vscan_ctx *ctx) {
    bool capturing;
    TRY(vscan__cuda_is_capturing(ctx, vscan__cuda_state(ctx)->launch.stream, &capturing));
    if (!capturing) return VSCAN_OK;
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
