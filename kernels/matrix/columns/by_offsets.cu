/* SPDX-License-Identifier: Apache-2.0 */
/* The launcher of reductions of columns by offsets. */
#include "matrix/columns/by_offsets.cuh"
#include "matrix/columns/long_groups.cuh"

namespace vscan {

template <int Size>
using of_size = std::conditional_t<Size == 4, float, double>;

static bool is_wide(vscan__pair pair) {
#define X(pair_name, op, type, OP, TYPE) sizeof(form<op_##op, type>::kernel::T) == 8,
    static constexpr bool wide[] = {VSCAN__PAIRS(X)};
#undef X
    return wide[pair];
}

template <class Op, class T>
static cudaError_t launch_any_groups(const vscan__launch *launch, const vscan__row_groups *work) {
    using pair = typename form<Op, T>::kernel;
    using Real = of_size<sizeof(typename pair::T)>;
    const pair_transform transform = any_transform<Op, T>();
    return launch->shared_memory > 0 && are_long_groups(*work, sizeof(Real))
               ? launch_long_groups<Real>(launch, work, any_op_of(pair{}), transform)
               : launch_row_groups<Real>(launch, work, any_op_of(pair{}), transform);
}

} /* namespace vscan */

extern "C" int64_t vscan__columns_by_offsets_words(const vscan__row_groups *work) {
    const int size = vscan::is_wide(work->pair) ? 8 : 4;
    const int64_t pieces = vscan::row_pieces_room(*work);
    const int64_t words =
        pieces * (work->matrix.lines * (size / 4) + (int64_t)sizeof(vscan::row_piece) / 8);
    const int64_t of_long = vscan::long_groups_words(*work, size);
    return vscan::are_long_groups(*work, size) && of_long > words ? of_long : words;
}

extern "C" cudaError_t vscan__launch_columns_by_offsets(vscan__launch *launch,
                                                        const vscan__row_groups *work) {
    using namespace vscan;
    switch ((vscan__pair)work->pair) {
#define X(pair_name, op, type, OP, TYPE)                                                           \
    case vscan__pair_##pair_name:                                                                  \
        return launch_any_groups<op_##op, type>(launch, work);
        VSCAN__PAIRS(X)
#undef X
    case vscan__pair_count:
        break;
    }
    return cudaErrorInvalidValue;
}
