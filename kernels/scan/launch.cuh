/* SPDX-License-Identifier: Apache-2.0 */
/* Launches scans and segmented scans: chooses the kernel. */
#pragma once

#include "scan/large/large.cuh"
#include "scan/portable/portable.cuh"
#include "scan/scan.cuh"
#include "scan/small/small.cuh"

namespace vscan {

/* For scans without elements: writes the total and the number of segments. */
template <class Pair>
__global__ void scan_nothing(const __grid_constant__ scan_arguments a) {
    using T = typename Pair::T;
    const vscan__scan &scan = a.scan;
    T z = Pair::out(Pair::visible, a.transform);
    if (scan.has_initial == 1)
        z = Pair::out(Pair::in(element_of<T>(scan.initial), a.transform), a.transform);
    if (scan.has_initial == 2)
        z = Pair::out(Pair::in(*(const T *)scan.initial_at, a.transform), a.transform);
    if (scan.total != nullptr) *(T *)scan.total = z;
    if (scan.count != nullptr) *scan.count = 0;
}

template <class T>
static constexpr int64_t tile_items = sizeof(T) == 8 ? VSCAN__TILE_DOUBLE : VSCAN__TILE_FLOAT;

/*
 * Where a scan may be cut into launches: at whole tiles, in order at whole blocks of level 3, at
 * whose end the result is R4 of the next one.
 */
template <class Pair>
static constexpr int64_t portion_unit = Pair::in_any_order ? tile_items<typename Pair::T>
                                                           : (int64_t)VSCAN__LEVEL_3;

/* Elements that one launch scans at most. */
template <class Pair>
static int64_t portion_items(const vscan__launch *launch) {
    const int64_t unit = portion_unit<Pair>, tile = tile_items<typename Pair::T>;
    if (launch->scan_tiles > INT64_MAX / tile - unit) return INT64_MAX;
    return (launch->scan_tiles * tile + unit - 1) / unit * unit;
}

/* Scans in launches of at most `most` elements, about as many each. Each hands a carry to the
   next. */
template <class Pair>
static cudaError_t launch_portions(vscan__launch *launch, const vscan__scan *scan,
                                   const pair_transform &transform, int64_t most) {
    using T = typename Pair::T;
    const int64_t portions = (scan->n - 1) / most + 1, unit = portion_unit<Pair>;
    const int64_t units = (scan->n - 1) / unit + 1;
    const int64_t items = ((units - 1) / portions + 1) * unit;
    /* the carry alternates between two places: reading and writing the same one costs a fence a
       tile */
    auto &carry = ((vscan__workspace_header *)launch->workspace)->carry;
    int next = 0;
    vscan__scan portion = *scan;
    for (int64_t done = 0; done < scan->n; done += items) {
        const int64_t left = scan->n - done;
        portion.n = left < items ? left : items;
        const int64_t first = scan->backward ? left - portion.n : done;
        portion.in = (const T *)scan->in + first;
        portion.out = (T *)scan->out + first;
        portion.total = left > items ? &carry[next] : scan->total;
        const cudaError_t error = launch_scan<Pair, false>(launch, &portion, transform);
        if (error != cudaSuccess) return error;
        portion.has_initial = 2;
        portion.initial_at = &carry[next];
        next ^= 1;
    }
    return cudaSuccess;
}

template <class Pair, bool Segmented>
cudaError_t launch_scan(vscan__launch *launch, const vscan__scan *scan,
                        const pair_transform &transform) {
    if (scan->n == 0) {
        if (scan->total == nullptr && scan->count == nullptr) return cudaSuccess;
        return start(scan_nothing<Pair>, 1, 1, 0, launch->stream,
                     scan_arguments_of(launch, *scan, transform));
    }
    if (!Segmented && scan->n > portion_items<Pair>(launch))
        return launch_portions<Pair>(launch, scan, transform, portion_items<Pair>(launch));
    scan_arguments a = scan_arguments_of(launch, *scan, transform);
    a.count_backward = Segmented && scan->backward && scan->totals != nullptr;
    if (a.count_backward) {
        const cudaError_t error = vscan__launch_count_segments(launch, scan);
        if (error != cudaSuccess) return error;
    }
    if (large_fits<Pair, Segmented>(launch, scan)) return launch_large<Pair, Segmented>(launch, a);
    if (small_fits<Pair>(launch, scan)) return launch_small<Pair, Segmented>(launch, a);
    using shape = portable_tile<Pair, Segmented>;
    const int64_t tiles = (scan->n - 1) / shape::items + 1;
    const int blocks = (int)(tiles < launch->multiprocessors ? tiles : launch->multiprocessors);
    return start(scan_portable<Pair, Segmented>, blocks, shape::threads, 0, launch->stream, a,
                 launch->may_overlap);
}

} /* namespace vscan */

/* The launchers of one pair, with their kernels. */
#define SCANS_OF(op, type)                                                                         \
    template cudaError_t vscan::launch_scan<vscan::pair<vscan::op, type>, false>(                  \
        vscan__launch *, const vscan__scan *, const vscan::pair_transform &);                      \
    template cudaError_t vscan::launch_scan<vscan::pair<vscan::op, type>, true>(                   \
        vscan__launch *, const vscan__scan *, const vscan::pair_transform &);
