/* SPDX-License-Identifier: Apache-2.0 */
/* The launchers of scans and reductions by offsets, one a row of lib/pairs.h. */
#include "segments/by_offsets/by_offsets.cuh"

extern "C" int64_t vscan__by_offsets_words(vscan_type type, int64_t n) {
    const bool wide = type == VSCAN_DOUBLE || type == VSCAN_LONG;
    const int64_t tiles = n / (wide ? VSCAN__TILE_DOUBLE : VSCAN__TILE_FLOAT);
    return (n / VSCAN__LEVEL_1 + tiles + n / VSCAN__LEVEL_3 + 3) * (wide ? 2 : 1);
}

#define X(pair_name, op, type, OP, TYPE)                                                           \
    extern "C" cudaError_t vscan__launch_by_offsets_##pair_name(vscan__launch *launch,             \
                                                                const vscan__scan *scan) {         \
        using form = vscan::form<vscan::op_##op, type>;                                            \
        return scan->out == nullptr                                                                \
                   ? vscan::launch_by_offsets<form::kernel, false>(launch, scan, form::transform)  \
                   : vscan::launch_by_offsets<form::kernel, true>(launch, scan, form::transform);  \
    }
VSCAN__PAIRS(X)
#undef X

extern "C" cudaError_t vscan__launch_by_offsets_widening(vscan__launch *launch,
                                                         const vscan__scan *scan) {
    const bool are_short = launch->shared_memory > 0 &&
                           scan->n / vscan::by_offsets_widened_long < scan->totals_length;
    return are_short ? vscan::launch_by_offsets<vscan::widened_plus, false>(launch, scan, {})
                     : vscan__launch_long_by_offsets_widening(launch, scan);
}
