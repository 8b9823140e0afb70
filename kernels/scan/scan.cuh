/* SPDX-License-Identifier: Apache-2.0 */
/* The launcher of scans and segmented scans of a kernel's pair. Each is compiled once, in
   scan/four_bytes.cu or scan/eight_bytes.cu. */
#pragma once

#include "cuda/launch.h"
#include "elements/operators.cuh"

namespace vscan {

template <class Pair, bool Segmented>
cudaError_t launch_scan(vscan__launch *launch, const vscan__scan *scan,
                        const pair_transform &transform);

} /* namespace vscan */
