/* SPDX-License-Identifier: Apache-2.0 */
/* What kernels/map/fill.cu and the CUDA runtime are for the launchers. */
#include "cuda/launch.h"

extern "C" cudaError_t cudaGetLastError(void) {
    return cudaSuccess;
}

static bool flag(const void *flags, int type, int64_t i) {
    if (type == VSCAN_INT) return ((const int32_t *)flags)[i] != 0;
    if (type == VSCAN_BYTE) return ((const uint8_t *)flags)[i] != 0;
    return ((const uint32_t *)flags)[i / 32] >> i % 32 & 1;
}

extern "C" cudaError_t vscan__launch_count_segments(const vscan__launch *launch,
                                                    const vscan__scan *scan) {
    unsigned long long count = 1;
    for (int64_t i = 1; i < scan->n; ++i) count += flag(scan->flags, scan->flag_type, i);
    ((vscan__workspace_header *)launch->workspace)->segments = count;
    return cudaSuccess;
}
