/* SPDX-License-Identifier: Apache-2.0 */
/* What the files that use the CUDA runtime share beside bench.h. */
#ifndef BENCH_DEVICE_H
#define BENCH_DEVICE_H

#include <cuda_runtime_api.h>

#include "bench.h"

#ifdef __cplusplus
extern "C" {
#endif

extern cudaStream_t device_stream;

bool cuda_ok(cudaError_t error, const char *doing);

#ifdef __cplusplus
}
#endif

#endif
