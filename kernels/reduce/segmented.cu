/* SPDX-License-Identifier: Apache-2.0 */
/* The launchers of segmented reductions, one a row of lib/pairs.h. */
#include "reduce/segmented.cuh"

#define X(pair_name, op, type, OP, TYPE)                                                           \
    extern "C" cudaError_t vscan__launch_reduce_segmented_##pair_name(vscan__launch *launch,       \
                                                                      const vscan__scan *scan) {   \
        using form = vscan::form<vscan::op_##op, type>;                                            \
        if (vscan::is_scanned(launch, scan, sizeof(type)))                                         \
            return vscan__launch_scan_segmented_##pair_name(launch, scan);                         \
        return vscan::launch_segments<form::kernel>(launch, scan, form::transform);                \
    }
VSCAN__PAIRS(X)
#undef X
