/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels of scans and segmented scans of 8-byte elements: see scan/four_bytes.cu. */
#include "scan/launch.cuh"
#include "scan/widening/widening.cuh"

VSCAN__FORMS_OF_8_BYTES(SCANS_OF)

cudaError_t vscan::launch_small_widening(const vscan__launch *launch, const scan_arguments &a) {
    return launch_small<widened_plus, false>(launch, a);
}
