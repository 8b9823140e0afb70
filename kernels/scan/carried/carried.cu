/* SPDX-License-Identifier: Apache-2.0 */
/* The launchers of scans, segmented scans and reductions with a carry. */
#include "scan/carried/carried.cuh"

#define X(name, op, type, OP, TYPE)                                                                \
    extern "C" cudaError_t vscan__launch_carried_##name(vscan__launch *launch,                     \
                                                        const vscan__scan *scan) {                 \
        using form = vscan::form<vscan::op_##op, type>;                                            \
        return vscan::launch_carried<form::kernel>(launch, scan, form::transform,                  \
                                                   vscan__launch_scan_##name,                      \
                                                   vscan__launch_reduce_##name);                   \
    }
VSCAN__PAIRS(X)

extern "C" cudaError_t vscan__launch_carried_widening(vscan__launch *launch,
                                                      const vscan__scan *scan) {
    using form = vscan::form<vscan::op_plus, long>;
    return vscan::launch_carried<form::kernel>(
        launch, scan, form::transform, vscan__launch_scan_widening, vscan__launch_reduce_widening);
}
#undef X
