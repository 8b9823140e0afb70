/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the CUDA runtime is for libvscan_emulated, the whole library with its CUDA backend over emulated kernels: one
 * device of compute capability 9.0 whose memory is the host's. Work is done when the call that enqueues it returns.
 */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

#include "cuda/launch.h"

struct CUstream_st {};
struct CUevent_st {};

namespace {

CUstream_st stream_of_all;
CUevent_st event_of_all;

/* Memory of the device, or page-locked. */
struct piece {
    size_t bytes;
    bool host;
};
std::map<char *, piece> pieces;
std::mutex lock;

cudaError_t take(void **memory, size_t bytes, bool host) {
    const size_t whole = (bytes + 255) / 256 * 256 + 256;
    char *const first = (char *)aligned_alloc(256, whole);
    if (first == nullptr) return cudaErrorMemoryAllocation;
    memset(first, 0xa5, whole);
    const std::lock_guard<std::mutex> alone(lock);
    pieces[first] = {bytes, host};
    *memory = first;
    return cudaSuccess;
}

cudaError_t give(void *memory) {
    if (memory == nullptr) return cudaSuccess;
    const std::lock_guard<std::mutex> alone(lock);
    if (pieces.erase((char *)memory) != 1) abort(); /* not there, or freed before */
    free(memory);
    return cudaSuccess;
}

} /* namespace */

extern "C" {

cudaError_t cudaGetDeviceCount(int *count) {
    *count = 1;
    return cudaSuccess;
}
cudaError_t cudaGetDevice(int *device) {
    *device = 0;
    return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) {
    return device == 0 ? cudaSuccess : cudaErrorInvalidDevice;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int) {
    *properties = {};
    snprintf(properties->name, sizeof properties->name, "emulated");
    properties->major = 9;
    properties->totalGlobalMem = 1 << 30;
    return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int) {
    *value = attribute == cudaDevAttrMultiProcessorCount ? 132 : 227 << 10;
    return cudaSuccess;
}
cudaError_t cudaDriverGetVersion(int *version) {
    *version = CUDART_VERSION;
    return cudaSuccess;
}
cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes) {
    *free_bytes = *total_bytes = 1 << 30;
    return cudaSuccess;
}
cudaError_t cudaGetDriverEntryPointByVersion(const char *, void **function, unsigned,
                                             unsigned long long,
                                             cudaDriverEntryPointQueryResult *found) {
    *function = (void *)&vscan::encode_tiled;
    *found = cudaDriverEntryPointSuccess;
    return cudaSuccess;
}
cudaError_t cudaGetLastError() {
    return cudaSuccess;
}
const char *cudaGetErrorString(cudaError_t error) {
    return error == cudaErrorMemoryAllocation ? "out of memory" : "an error of the emulated device";
}

cudaError_t cudaStreamCreate(cudaStream_t *stream) {
    *stream = &stream_of_all;
    return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t) {
    return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t) {
    return cudaSuccess;
}
cudaError_t cudaStreamIsCapturing(cudaStream_t, cudaStreamCaptureStatus *status) {
    *status = cudaStreamCaptureStatusNone;
    return cudaSuccess;
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned) {
    *event = &event_of_all;
    return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t) {
    return cudaSuccess;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned) {
    return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t) {
    return cudaSuccess;
}

cudaError_t cudaMalloc(void **memory, size_t bytes) {
    return take(memory, bytes, false);
}
cudaError_t cudaFree(void *memory) {
    return give(memory);
}
cudaError_t cudaHostAlloc(void **memory, size_t bytes, unsigned) {
    return take(memory, bytes, true);
}
cudaError_t cudaFreeHost(void *memory) {
    return give(memory);
}
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *attributes, const void *pointer) {
    const std::lock_guard<std::mutex> alone(lock);
    auto found = pieces.upper_bound((char *)pointer);
    const bool known = found != pieces.begin() && (--found, (char *)pointer < found->first + found->second.bytes);
    *attributes = {};
    attributes->type = !known               ? cudaMemoryTypeUnregistered
                       : found->second.host ? cudaMemoryTypeHost
                                            : cudaMemoryTypeDevice;
    attributes->device = known ? 0 : -1;
    return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t) {
    memset(to, value, bytes);
    return cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind,
                            cudaStream_t) {
    memmove(to, from, bytes);
    return cudaSuccess;
}

} /* extern "C" */
