/* SPDX-License-Identifier: Apache-2.0 */
/* Launches running and total maxima and minima with positions. */
#include "scan/extreme/total.cuh"

namespace vscan {

/* Whether whole chunks of V elements of that size, counted from the scan's beginning, are aligned to their
   size, or to 16 bytes. */
static bool chunks_fit(const vscan__extreme *work, const void *vector, int64_t size, int64_t V) {
    const uintptr_t begin = (uintptr_t)vector + (work->backward ? (uintptr_t)(work->n * size) : 0);
    return begin % (uintptr_t)(V * size < 16 ? V * size : 16) == 0;
}

template <class I, bool Real>
static cudaError_t launch_total(const vscan__launch *launch, const vscan__extreme *work) {
    constexpr int64_t size = sizeof(I), V = 16 / size, items = extreme_items<I>;
    extreme_total_arguments a = {};
    a.work = *work;
    a.lookback = lookback_of(launch);
    const int64_t begin = (int64_t)((uintptr_t)work->in / size) + (work->backward ? work->n : 0);
    a.skew = (int32_t)((work->backward ? -begin : begin) & (V - 1));
    a.tiles = (work->n + a.skew + items - 1) / items;
    const int64_t resident = (int64_t)extreme_blocks * launch->multiprocessors;
    const int64_t each = a.tiles / (resident * extreme_partitions);
    a.partition_tiles = each < 1                    ? 1
                        : each < extreme_most_tiles ? (int32_t)each
                                                    : extreme_most_tiles;
    const int64_t partitions = (a.tiles - 1) / a.partition_tiles + 1;
    return start(reduce_extreme<I, Real>, partitions < resident ? partitions : resident,
                 extreme_threads, 0, launch->stream, a, launch->may_overlap);
}

template <class I>
static cudaError_t launch_extreme(const vscan__launch *launch, const vscan__extreme *work) {
    if (work->positions == nullptr) {
        const bool real = work->type == VSCAN_FLOAT || work->type == VSCAN_DOUBLE;
        return real ? launch_total<I, true>(launch, work) : launch_total<I, false>(launch, work);
    }
    constexpr int64_t size = sizeof(I), V = 16 / size;
    extreme_arguments<I> a = {};
    a.work = *work;
    a.order = any_extreme_order<I>::of(*work);
    a.lookback = lookback_of(launch);
    a.wide_in = chunks_fit(work, work->in, size, V);
    a.wide_out = chunks_fit(work, work->out, size, V);
    a.wide_positions = chunks_fit(work, work->positions, map_size(work->position_type), V);
    const int64_t tiles = (work->n + extreme_items<I> - 1) / extreme_items<I>;
    const int64_t resident = (int64_t)extreme_blocks * launch->multiprocessors;
    return start(scan_extreme<I>, tiles < resident ? tiles : resident, extreme_threads, 0,
                 launch->stream, a, launch->may_overlap);
}

} /* namespace vscan */

using namespace vscan;

extern "C" cudaError_t vscan__launch_extreme(const vscan__launch *launch,
                                             const vscan__extreme *work) {
    return map_size(work->type) == 8 ? launch_extreme<int64_t>(launch, work)
                                     : launch_extreme<int32_t>(launch, work);
}
