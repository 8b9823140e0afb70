/* SPDX-License-Identifier: Apache-2.0 */
/* The launcher of reductions of columns by offsets. */
#include "matrix/columns/by_offsets.cuh"

namespace vscan {

template <int Size>
using of_size = std::conditional_t<Size == 4, float, double>;

/* The transform of a pair; that of a maximum of floats makes keys of them, as that of doubles does. */
template <class Op, class T>
static pair_transform any_transform() {
    using form = form<Op, T>;
    pair_transform t = form::transform;
    if (std::is_same_v<typename form::kernel, pair<op_max, float>>) {
        t.mask = (uint32_t)key_of_float::below_zero;
        t.number = key_of_float::offset;
    }
    return t;
}

static bool is_wide(vscan__pair pair) {
#define X(pair_name, op, type, OP, TYPE) sizeof(form<op_##op, type>::kernel::T) == 8,
    static constexpr bool wide[] = {VSCAN__PAIRS(X)};
#undef X
    return wide[pair];
}

} /* namespace vscan */

extern "C" int64_t vscan__columns_by_offsets_words(const vscan__row_groups *work) {
    const int64_t pieces = vscan::row_pieces_room(*work);
    return pieces * (work->matrix.lines * (vscan::is_wide(work->pair) ? 2 : 1) +
                     (int64_t)sizeof(vscan::row_piece) / 8);
}

extern "C" cudaError_t vscan__launch_columns_by_offsets(vscan__launch *launch,
                                                        const vscan__row_groups *work) {
    using namespace vscan;
    switch ((vscan__pair)work->pair) {
#define X(pair_name, op, type, OP, TYPE)                                                           \
    case vscan__pair_##pair_name:                                                                  \
        return launch_row_groups<of_size<sizeof(form<op_##op, type>::kernel::T)>>(                 \
            launch, work, any_op_of(form<op_##op, type>::kernel{}),                                \
            any_transform<op_##op, type>());
        VSCAN__PAIRS(X)
#undef X
    case vscan__pair_count:
        break;
    }
    return cudaErrorInvalidValue;
}
