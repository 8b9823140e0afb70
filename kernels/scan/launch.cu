/* SPDX-License-Identifier: Apache-2.0 */
/* The launchers of scans and segmented scans, one a row of core/pairs.h. Pairs of one form share its
   kernels. */
#include "scan/scan.cuh"

extern "C" int64_t vscan__words_needed(const vscan__launch *launch, vscan_type type, int64_t n) {
    const int64_t size = type == VSCAN_DOUBLE || type == VSCAN_LONG ? 8 : 4;
    const int64_t tile = size == 8 ? VSCAN__TILE_DOUBLE : VSCAN__TILE_FLOAT;
    int64_t words = n / tile + (n % tile > 0); /* a scan publishes whole tiles */
    /* what does not grow with n: scans of small vectors, reductions of up to 128 MiB, and 2 blocks a
       multiprocessor that reduce */
    if (words < VSCAN__SMALL_WORDS) words = VSCAN__SMALL_WORDS;
    if (words < 2 * launch->multiprocessors) words = 2 * launch->multiprocessors;
    return words * (size / 4); /* 8-byte values take two */
}

#define X(name, op, type, OP, TYPE)                                                                \
    extern "C" cudaError_t vscan__launch_scan_##name(vscan__launch *launch,                        \
                                                     const vscan__scan *scan) {                    \
        using form = vscan::form<vscan::op_##op, type>;                                            \
        return vscan::launch_scan<form::kernel, false>(launch, scan, form::transform);             \
    }                                                                                              \
    extern "C" cudaError_t vscan__launch_scan_segmented_##name(vscan__launch *launch,              \
                                                               const vscan__scan *scan) {          \
        using form = vscan::form<vscan::op_##op, type>;                                            \
        return vscan::launch_scan<form::kernel, true>(launch, scan, form::transform);              \
    }
VSCAN__PAIRS(X)
