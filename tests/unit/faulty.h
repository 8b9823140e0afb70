/* SPDX-License-Identifier: Apache-2.0 */
/* Another library's kernel in the same process, which goes wrong. */
#ifndef TESTS_FAULTY_H
#define TESTS_FAULTY_H

#include <cuda_runtime_api.h>

enum faulty { FAULTY_ADDRESS, FAULTY_ALIGNMENT, FAULTY_TRAP, FAULTY_KINDS };

#ifdef __cplusplus
extern "C"
#endif
    /* Launches a kernel that writes to an illegal or a misaligned address, or traps. */
    cudaError_t
    go_wrong(enum faulty how, cudaStream_t stream);

#endif
