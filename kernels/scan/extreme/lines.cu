/* SPDX-License-Identifier: Apache-2.0 */
/* Launches maxima and minima of rows, columns and segments, with positions. */
#include "scan/extreme/segments.cuh"

using namespace vscan;

extern "C" int64_t vscan__extreme_lines_words(const vscan__launch *launch,
                                              const vscan__extreme_lines *work) {
    if (work->offsets != nullptr) return entries_shape_of(launch, *work).blocks * 2;
    const lines_shape s = lines_shape_of(launch, *work);
    return s.chunks > 1 ? s.groups * s.chunks * s.width * (map_size(work->type) / 4) : 0;
}

extern "C" cudaError_t vscan__launch_extreme_lines(const vscan__launch *launch,
                                                   const vscan__extreme_lines *work) {
    if (work->offsets != nullptr) return launch_extreme_segments(launch, work);
    return map_size(work->type) == 8 ? launch_extreme_lines<int64_t>(launch, work)
                                     : launch_extreme_lines<int32_t>(launch, work);
}
