/* SPDX-License-Identifier: Apache-2.0 */
/* Launches scans of int with sums of long. With a carry: carried.cu; small vectors: eight_bytes.cu. */
#include "scan/small/small.cuh"
#include "scan/widening/widening.cuh"

namespace vscan {

static cudaError_t launch_long(const vscan__launch *launch, const vscan__scan *scan) {
    widening_arguments a = {};
    a.scan = *scan;
    a.lookback = lookback_of(launch);
    /* in elements, so that chunks of two begin at multiples of two */
    const int64_t end = scan->backward ? scan->n : 0;
    const int64_t in = (int64_t)((uintptr_t)scan->in / sizeof(int32_t)) + end;
    const int64_t out = (int64_t)((uintptr_t)scan->out / sizeof(int64_t)) + end;
    a.skew = (int32_t)(out % 2);
    a.wide_in = (in + a.skew) % 2 == 0;
    const int64_t tiles = (scan->n + a.skew - 1) / widening_items + 1;
    const int64_t resident = (int64_t)widening_blocks * launch->multiprocessors;
    return start(scan_widening, tiles < resident ? tiles : resident, widening_threads, 0,
                 launch->stream, a, launch->may_overlap);
}

} /* namespace vscan */

using namespace vscan;

extern "C" cudaError_t vscan__launch_scan_widening(vscan__launch *launch, const vscan__scan *scan) {
    if (small_fits<widened_plus>(launch, scan))
        return launch_small_widening(launch, scan_arguments_of(launch, *scan, {}));
    return launch_long(launch, scan);
}
