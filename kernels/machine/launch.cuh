/* SPDX-License-Identifier: Apache-2.0 */
/* What a launcher asks of the CUDA runtime beside the launch itself (start, in machine/ptx.cuh). */
#pragma once

#include "cuda/launch.h"

namespace vscan {

/*
 * Lets the blocks of a kernel have so many bytes of dynamic shared memory at most; without it they have 48 KiB.
 * launch->allowed notes the kernels that it has been done for, by their addresses, in a hash table: it is done
 * once a context, and costs the others some nanoseconds.
 */
template <class Argument>
static cudaError_t allow_shared_memory(vscan__launch *launch, void (*kernel)(Argument), int bytes) {
    constexpr unsigned slots = sizeof launch->allowed / sizeof launch->allowed[0];
    const uintptr_t address = (uintptr_t)kernel;
    unsigned slot = (unsigned)(address * UINT64_C(0x9e3779b97f4a7c15) >> 32) % slots;
    for (unsigned looked_at = 1; launch->allowed[slot] != 0 && looked_at < slots; ++looked_at) {
        if (launch->allowed[slot] == address) return cudaSuccess;
        slot = (slot + 1) % slots;
    }
    const cudaError_t error =
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    if (error == cudaSuccess) launch->allowed[slot] = address;
    return error;
}

} /* namespace vscan */
