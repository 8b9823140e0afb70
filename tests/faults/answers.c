/* SPDX-License-Identifier: Apache-2.0 */
/* The CUDA backend on machines other than the stand-in's: what the runtime answers there decides which status a
   call has, and which kernels a context takes. */
#include <stdlib.h>
#include <string.h>

#include <cuda_runtime_api.h>

#include "core/handle.h"
#include "cuda/state.h"
#include "faults.h"

static const vscan_ctx_options on_cuda = {.size = sizeof on_cuda, .backend = VSCAN_BACKEND_CUDA};

/* ---- Errors -------------------------------------------------------------------------------------- */

static vscan_status expected_of(int error) {
    static const struct {
        int error;
        vscan_status status;
    } known[] = {{cudaErrorInsufficientDriver, VSCAN_ERROR_NO_DRIVER},
                 {cudaErrorInitializationError, VSCAN_ERROR_NO_DRIVER},
                 {cudaErrorSystemDriverMismatch, VSCAN_ERROR_NO_DRIVER},
                 {cudaErrorSystemNotReady, VSCAN_ERROR_NO_DRIVER},
                 {cudaErrorNoDevice, VSCAN_ERROR_NO_DEVICE},
                 {cudaErrorInvalidDevice, VSCAN_ERROR_NO_DEVICE},
                 {cudaErrorNoKernelImageForDevice, VSCAN_ERROR_NO_KERNEL},
                 {cudaErrorUnsupportedPtxVersion, VSCAN_ERROR_NO_KERNEL},
                 {cudaErrorMemoryAllocation, VSCAN_ERROR_DEVICE_MEMORY},
                 {cudaErrorStreamCaptureUnsupported, VSCAN_ERROR_CAPTURE},
                 {cudaErrorStreamCaptureInvalidated, VSCAN_ERROR_CAPTURE},
                 {cudaErrorStreamCaptureImplicit, VSCAN_ERROR_CAPTURE},
                 {cudaErrorStreamCaptureWrongThread, VSCAN_ERROR_CAPTURE},
                 {cudaErrorECCUncorrectable, VSCAN_ERROR_DEVICE_LOST},
                 {cudaErrorNvlinkUncorrectable, VSCAN_ERROR_DEVICE_LOST},
                 {cudaErrorIllegalAddress, VSCAN_ERROR_DEVICE_LOST},
                 {cudaErrorLaunchTimeout, VSCAN_ERROR_DEVICE_LOST},
                 {cudaErrorAssert, VSCAN_ERROR_DEVICE_LOST},
                 {cudaErrorHardwareStackError, VSCAN_ERROR_DEVICE_LOST},
                 {cudaErrorIllegalInstruction, VSCAN_ERROR_DEVICE_LOST},
                 {cudaErrorMisalignedAddress, VSCAN_ERROR_DEVICE_LOST},
                 {cudaErrorInvalidAddressSpace, VSCAN_ERROR_DEVICE_LOST},
                 {cudaErrorInvalidPc, VSCAN_ERROR_DEVICE_LOST},
                 {cudaErrorLaunchFailure, VSCAN_ERROR_DEVICE_LOST}};
    for (size_t k = 0; k < sizeof known / sizeof known[0]; k++)
        if (known[k].error == error) return known[k].status;
    return VSCAN_ERROR_BACKEND;
}

static void check_errors(struct tour *tour) {
    for (int error = 1; error < 1000; error++) {
        vscan_ctx *ctx = NULL;
        cudart_answers.error_of_count = error;
        const vscan_status status = vscan_ctx_create(&on_cuda, &ctx);
        if (status != expected_of(error))
            tour_wrong(tour, "error %d of CUDA is %s", error, vscan_status_name(status));
    }
    memset(&cudart_answers, 0, sizeof cudart_answers);
}

/* ---- Kernels ------------------------------------------------------------------------------------- */

/* What a context would launch; NULL: it cannot be created. */
static const struct vscan__launch *launch_of(vscan_ctx *ctx) {
    return &vscan__cuda_state(vscan__find_ctx(ctx))->launch;
}

static void check_kernels(struct tour *tour) {
    static const struct {
        struct cudart_answers answers;
        const char *kernels; /* VSCAN_TEST_KERNELS */
        bool may_overlap, tma;
    } machines[] = {{{0}, "", true, true},
                    {{.driver = 12020}, "", false, true},
                    {{.kernels = 80}, "", false, false},
                    {{.kernels = 120}, "", true, false},
                    {{.little_shared_memory = true}, "", true, false},
                    {{.tensor_maps = CUDART_NOT_FOUND}, "", true, false},
                    {{.tensor_maps = CUDART_NULL}, "", true, false},
                    {{0}, "portable", true, false},
                    {{0}, "tma", true, true}};
    const char *before = getenv("VSCAN_TEST_KERNELS");
    char *kept = before != NULL ? strdup(before) : NULL;
    vscan_ctx *ctx = NULL;
    for (size_t k = 0; k < sizeof machines / sizeof machines[0]; k++) {
        cudart_answers = machines[k].answers;
        setenv("VSCAN_TEST_KERNELS", machines[k].kernels, 1);
        if (vscan_ctx_create(&on_cuda, &ctx) != VSCAN_OK) {
            tour_wrong(tour, "machine %zu: %s", k, vscan_ctx_last_error(NULL));
            continue;
        }
        const bool tma = launch_of(ctx)->encode_tiled != NULL && launch_of(ctx)->shared_memory != 0;
        if (tma != machines[k].tma || launch_of(ctx)->may_overlap != machines[k].may_overlap)
            tour_wrong(tour, "machine %zu has other kernels", k);
        WANT(tour, VSCAN_OK, vscan_ctx_destroy(ctx));
    }
    memset(&cudart_answers, 0, sizeof cudart_answers);
    setenv("VSCAN_TEST_KERNELS", "none", 1);
    WANT(tour, VSCAN_ERROR_NO_KERNEL, vscan_ctx_create(&on_cuda, &ctx));
    if (kept != NULL)
        setenv("VSCAN_TEST_KERNELS", kept, 1);
    else
        unsetenv("VSCAN_TEST_KERNELS");
    free(kept);
    setenv("VSCAN_TEST_DELAY", "17", 1);
    WANT(tour, VSCAN_OK, vscan_ctx_create(&on_cuda, &ctx));
    unsetenv("VSCAN_TEST_DELAY");
    if (launch_of(ctx)->test_delay != 17) tour_wrong(tour, "VSCAN_TEST_DELAY is not read");
    WANT(tour, VSCAN_OK, vscan_ctx_destroy(ctx));
}

/* ---- vscan_describe ------------------------------------------------------------------------------ */

#if CUDART_VERSION >= 13000
#define NEEDED_CUDA "13.0"
#define NEEDED "580"
#define LESS "; one built with VSCAN_CUDA=12: 525"
#else
#define NEEDED_CUDA "12.0"
#define NEEDED "525"
#define LESS ""
#endif

static void check_description(struct tour *tour) {
    static const struct {
        struct cudart_answers answers;
        const char *module, *says;
    } machines[] = {
        {{0},
         "",
         "\nCUDA of the driver: 13.0\nCUDA device 0: stand-in 0, compute capability 0.0, "},
        {{.driver = 12020}, "NVRM version: 535.1 x\nGCC", "\nCUDA of the driver: 12.2, 535.1 x\n"},
        {{.driver = -1}, "?", "\nCUDA of the driver: no driver found\n"},
        {{.driver = -1}, "?", " and drivers from " NEEDED " on\nCUDA of the driver: "},
        {{.driver = -1, .error_of_count = cudaErrorInsufficientDriver}, "?", ": no driver found ("},
        {{.driver = 12020, .error_of_count = cudaErrorInsufficientDriver},
         "?",
         ": the driver is one of CUDA 12.2, and this libvscan needs CUDA " NEEDED_CUDA
         ", driver " NEEDED LESS " ("},
        {{.error_of_count = cudaErrorNoDevice}, "?", "\nCUDA devices: none, vscan_describe: "}};
    char text[4096];
    for (size_t k = 0; k < sizeof machines / sizeof machines[0]; k++) {
        cudart_answers = machines[k].answers;
        setenv("VSCAN_FAULTS_MODULE", machines[k].module, 1);
        vscan_describe(text, sizeof text);
        if (strstr(text, machines[k].says) == NULL) tour_wrong(tour, "machine %zu: %s", k, text);
    }
    unsetenv("VSCAN_FAULTS_MODULE");
    memset(&cudart_answers, 0, sizeof cudart_answers);
}

/* ---- Devices, pointers, streams ------------------------------------------------------------------ */

static void check_others(struct tour *tour) {
    char name[6];
    vscan_ctx *ctx, *second;
    vscan_buffer *buffer = NULL;
    float host[8] = {0};
    WANT(tour, VSCAN_OK, vscan_device_name(VSCAN_BACKEND_CUDA, 1, name, sizeof name));
    if (strcmp(name, "stand") != 0) tour_wrong(tour, "a long name becomes %s", name);
    WANT(tour, VSCAN_ERROR_NO_DEVICE, vscan_device_name(VSCAN_BACKEND_CUDA, 2, name, sizeof name));

    vscan_ctx_options options = on_cuda;
    options.stream = cudart_callers_stream();
    WANT(tour, VSCAN_OK, vscan_ctx_create(&options, &ctx));
    options = on_cuda;
    options.device = 1;
    WANT(tour, VSCAN_OK, vscan_ctx_create(&options, &second));
    void *const memory = cudart_callers_memory();
    WANT(tour, VSCAN_ERROR_POINTER, vscan_buffer_wrap(ctx, VSCAN_FLOAT, host, 8, &buffer));
    WANT(tour, VSCAN_ERROR_POINTER, vscan_buffer_wrap(second, VSCAN_FLOAT, memory, 8, &buffer));
    cudart_answers.pointers = CUDART_OLD;
    WANT(tour, VSCAN_ERROR_POINTER, vscan_buffer_wrap(ctx, VSCAN_FLOAT, host, 8, &buffer));
    cudart_answers.pointers = CUDART_MANAGED;
    WANT(tour, VSCAN_OK, vscan_buffer_wrap(ctx, VSCAN_FLOAT, memory, 8, &buffer));
    cudart_answers.pointers = CUDART_KNOWN;
    /* what is no ordinary memory of the host may still be read when the copy returns: it waits */
    WANT(tour, VSCAN_OK, vscan_buffer_upload(buffer, 0, 8, memory));
    WANT(tour, VSCAN_OK, vscan_buffer_destroy(buffer));
    WANT(tour, VSCAN_OK, vscan_ctx_destroy(second));
    WANT(tour, VSCAN_OK, vscan_ctx_destroy(ctx));
}

void check_answers(struct tour *tour) {
    check_errors(tour);
    check_kernels(tour);
    check_description(tour);
    check_others(tour);
}
