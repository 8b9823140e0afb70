/* SPDX-License-Identifier: Apache-2.0 */
/* What the CUDA runtime is for the launchers. */
#include <cstring>

#include "cuda/launch.h"

extern "C" cudaError_t cudaGetLastError(void) {
    return cudaSuccess;
}
extern "C" cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t) {
    memset(to, value, bytes);
    return cudaSuccess;
}
