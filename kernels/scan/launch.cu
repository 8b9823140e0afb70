/* SPDX-License-Identifier: Apache-2.0 */
/* The launchers of scans and segmented scans, one a row of core/pairs.h. Pairs of one form share its
   kernels. */
#include "scan/scan.cuh"

namespace vscan {

static_assert(2 * forms + 2 <= 32, "each has two bits in launch->large_ready, carries two more");

} /* namespace vscan */

#define X(name, op, type, OP, TYPE)                                                                \
    extern "C" cudaError_t vscan__launch_scan_##name(vscan__launch *launch,                        \
                                                     const vscan__scan *scan) {                    \
        using form = vscan::form<vscan::op_##op, type>;                                            \
        return vscan::launch_scan<form::kernel, false>(launch, scan, form::turned, form::index);   \
    }                                                                                              \
    extern "C" cudaError_t vscan__launch_scan_segmented_##name(vscan__launch *launch,              \
                                                               const vscan__scan *scan) {          \
        using form = vscan::form<vscan::op_##op, type>;                                            \
        return vscan::launch_scan<form::kernel, true>(launch, scan, form::turned, form::index);    \
    }
VSCAN__PAIRS(X)
