/* SPDX-License-Identifier: Apache-2.0 */
/* For the tests that call the CUDA runtime themselves: its errors, new buffers, captured graphs. */
#ifndef TESTS_CAPTURED_H
#define TESTS_CAPTURED_H

#include <cuda_runtime_api.h>

#include "harness.h"

#define cuda(call) harness_cuda((call), #call, __LINE__)
static inline void harness_cuda(cudaError_t error, const char *call, int line) {
    if (error != cudaSuccess) fail_msg("line %d: %s: %s", line, call, cudaGetErrorString(error));
}

static inline vscan_buffer *new_buffer(vscan_ctx *ctx, vscan_type type, int64_t n) {
    vscan_buffer *buffer;
    ok(ctx, vscan_buffer_create(ctx, type, n, &buffer));
    return buffer;
}

static inline cudaStream_t begin_capture(vscan_ctx *ctx) {
    void *stream;
    ok(ctx, vscan_ctx_get_stream(ctx, &stream));
    cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    return stream;
}

static inline cudaGraphExec_t end_capture(cudaStream_t stream) {
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cuda(cudaStreamEndCapture(stream, &graph));
    cuda(cudaGraphInstantiate(&exec, graph, 0));
    cuda(cudaGraphDestroy(graph));
    return exec;
}

#endif
