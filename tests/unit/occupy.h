/* SPDX-License-Identifier: Apache-2.0 */
/* Another program's work on the GPU: blocks that take whole multiprocessors until they are told to go. */
#ifndef TESTS_OCCUPY_H
#define TESTS_OCCUPY_H

#include <stdint.h>

#include <cuda_runtime_api.h>

/* In memory that the host and the device see alike. */
struct occupier {
    int32_t running; /* blocks that have begun */
    int32_t leave;   /* set by the host: blocks end */
    int32_t late;    /* blocks that ended because their time was over */
};

#ifdef __cplusplus
extern "C"
#endif
    /* Launches so many blocks, one a multiprocessor with nothing beside it, which stay for so many
   nanoseconds at most; occupier is its address on the device. */
    cudaError_t
    occupy(int blocks, struct occupier *occupier, uint64_t nanoseconds, cudaStream_t stream);

#endif
