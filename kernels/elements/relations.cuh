/* SPDX-License-Identifier: Apache-2.0 */
/* The relations of core/map_ops.h, for all kernels that compare elements. */
#pragma once

#include "elements/elementwise.cuh"
#include "core/map_ops.h"

namespace vscan {

#define X(row, RELATION, TYPE, type, result)                                                       \
    struct compare_##row {                                                                         \
        static DEVICE bool apply(type a, type b) { return (result); }                              \
    };
VSCAN__COMPARE(X)
#undef X

/* use(row), the row of this number, whose type must be T. A kernel contains all rows of its type,
   since they hardly differ. */
template <class T, class Use>
static DEVICE void with_relation(int number, Use use) {
    switch (number) {
#define X(row, RELATION, TYPE, type, result)                                                       \
    case vscan__compare_##row:                                                                     \
        if constexpr (same_type<T, type>) use(compare_##row());                                    \
        break;
        VSCAN__COMPARE(X)
#undef X
    }
}

} /* namespace vscan */
