/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Contexts that libvscan_ranks takes for those of a GPU, by the linker's --wrap: all elements are copied to the host and
 * back, through memory whose pages it asks to lock. A vscan_ranks of two has an MPI that takes a GPU's memory.
 */
#include <stdlib.h>

#include "internal.h"
#include "stand_in.h"

bool pretends_gpu;
int64_t locked;

vscan_backend __real_vscan_ctx_backend(const vscan_ctx *ctx);
vscan_backend __wrap_vscan_ctx_backend(const vscan_ctx *ctx);
vscan_backend __wrap_vscan_ctx_backend(const vscan_ctx *ctx) {
    return pretends_gpu ? VSCAN_BACKEND_CUDA : __real_vscan_ctx_backend(ctx);
}

bool __real_vscan__mpi_takes_gpu_memory(void);
bool __wrap_vscan__mpi_takes_gpu_memory(void);
bool __wrap_vscan__mpi_takes_gpu_memory(void) {
    static bool takes = true;
    (void)__real_vscan__mpi_takes_gpu_memory(); /* whatever this MPI says */
    return takes = !takes;
}

bool __wrap_vscan__ranks_lock_pages(const vscan__ranks *group, void *memory, int64_t bytes);
bool __wrap_vscan__ranks_lock_pages(const vscan__ranks *group, void *memory, int64_t bytes) {
    (void)group;
    if (memory == NULL || bytes < 1) abort();
    locked++;
    return true;
}

void __wrap_vscan__ranks_unlock_pages(const vscan__ranks *group, void *memory);
void __wrap_vscan__ranks_unlock_pages(const vscan__ranks *group, void *memory) {
    (void)group;
    if (memory == NULL) abort();
    locked--;
}
