/* SPDX-License-Identifier: Apache-2.0 */
#include "faulty.h"

#include <stdint.h>

static __global__ void fault(int how) {
    if (how == FAULTY_TRAP)
        __trap();
    else
        *(volatile uint32_t *)(uintptr_t)(how == FAULTY_ADDRESS ? 256 : 257) = 1;
}

extern "C" cudaError_t go_wrong(enum faulty how, cudaStream_t stream) {
    fault<<<1, 1, 0, stream>>>((int)how);
    return cudaGetLastError();
}
