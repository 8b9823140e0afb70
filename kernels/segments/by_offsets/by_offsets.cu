/* SPDX-License-Identifier: Apache-2.0 */
/* The launchers of scans and reductions by offsets, one a row of lib/pairs.h. */
#include "segments/by_offsets/by_offsets.cuh"

extern "C" int64_t vscan__by_offsets_words(vscan_type type, int64_t n) {
    const bool wide = type == VSCAN_DOUBLE || type == VSCAN_LONG;
    const int64_t tiles = n / (wide ? VSCAN__TILE_DOUBLE : VSCAN__TILE_FLOAT);
    return (n / VSCAN__LEVEL_1 + tiles + n / VSCAN__LEVEL_3 + 3) * (wide ? 2 : 1);
}

namespace vscan {

/* Reductions of segments that are long on average are those of the only column of groups of rows. */
template <class Pair>
static bool are_long(const vscan__launch *launch, const vscan__scan *scan) {
    return launch->shared_memory > 0 && scan->out == nullptr && scan->totals != nullptr &&
           scan->count == nullptr && !scan->backward && scan->totals_length > 0 &&
           scan->n / scan->totals_length >= by_offsets_long<Pair> &&
           scan->n >= by_offsets_long_bytes / (int64_t)sizeof(typename Pair::T);
}

static cudaError_t launch_long(vscan__launch *launch, const vscan__scan *scan, vscan__pair pair) {
    vscan__row_groups work = {};
    work.matrix.lines = work.matrix.each = work.matrix.line_step = work.matrix.step = 1;
    work.matrix.length = scan->n;
    work.matrix.in = scan->in;
    work.matrix.totals = scan->totals;
    work.matrix.columns = 1;
    work.matrix.has_initial = scan->has_initial;
    work.matrix.initial = scan->initial;
    work.matrix.initial_at = scan->initial_at;
    work.offsets = scan->offsets;
    work.groups = scan->totals_length;
    work.offset_type = scan->offset_type;
    work.pair = pair;
    return vscan__launch_columns_by_offsets(launch, &work);
}

} /* namespace vscan */

#define X(pair_name, op, type, OP, TYPE)                                                           \
    extern "C" cudaError_t vscan__launch_by_offsets_##pair_name(vscan__launch *launch,             \
                                                                const vscan__scan *scan) {         \
        using form = vscan::form<vscan::op_##op, type>;                                            \
        if (vscan::are_long<form::kernel>(launch, scan))                                           \
            return vscan::launch_long(launch, scan, vscan__pair_##pair_name);                      \
        return scan->out == nullptr                                                                \
                   ? vscan::launch_by_offsets<form::kernel, false>(launch, scan, form::transform)  \
                   : vscan::launch_by_offsets<form::kernel, true>(launch, scan, form::transform);  \
    }
VSCAN__PAIRS(X)
#undef X

extern "C" cudaError_t vscan__launch_by_offsets_widening(vscan__launch *launch,
                                                         const vscan__scan *scan) {
    const bool are_short =
        launch->shared_memory > 0 && scan->n / vscan::by_offsets_widened_long < scan->totals_length;
    return are_short ? vscan::launch_by_offsets<vscan::widened_plus, false>(launch, scan, {})
                     : vscan__launch_long_by_offsets_widening(launch, scan);
}
