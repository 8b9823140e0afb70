/* SPDX-License-Identifier: Apache-2.0 */
/* Launches maxima and minima of rows, columns and segments, and running ones of rows and columns, with positions. */
#include "scan/extreme/scan_lines.cuh"
#include "scan/extreme/segments.cuh"

using namespace vscan;

extern "C" int64_t vscan__extreme_lines_words(const vscan__launch *launch,
                                              const vscan__extreme_lines *work) {
    if (work->offsets != nullptr) return entries_shape_of(launch, *work).blocks * 2;
    if (work->scan) return scan_lines_words(launch, *work);
    const lines_shape s = lines_shape_of(launch, *work);
    return s.chunks > 1 ? s.groups * s.chunks * s.width * (map_size(work->type) / 4) : 0;
}

extern "C" cudaError_t vscan__launch_extreme_lines(const vscan__launch *launch,
                                                   const vscan__extreme_lines *work) {
    const bool wide = map_size(work->type) == 8;
    if (work->offsets != nullptr) return launch_extreme_segments(launch, work);
    if (work->scan)
        return wide ? launch_scan_lines<int64_t>(launch, work)
                    : launch_scan_lines<int32_t>(launch, work);
    return wide ? launch_extreme_lines<int64_t>(launch, work)
                : launch_extreme_lines<int32_t>(launch, work);
}
