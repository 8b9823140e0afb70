/* SPDX-License-Identifier: Apache-2.0 */
/* The launchers of reductions, one a row of lib/pairs.h, and that of ints to a long. */
#include "reduce/launch.cuh"

#define X(pair_name, op, type, OP, TYPE)                                                           \
    extern "C" cudaError_t vscan__launch_reduce_##pair_name(vscan__launch *launch,                 \
                                                            const vscan__scan *scan) {             \
        using form = vscan::form<vscan::op_##op, type>;                                            \
        return vscan::launch_reduce<form::kernel>(launch, scan, form::transform);                  \
    }
VSCAN__PAIRS(X)
#undef X

extern "C" cudaError_t vscan__launch_reduce_widening(vscan__launch *launch,
                                                     const vscan__scan *scan) {
    return vscan::launch_reduce<vscan::widened_plus>(launch, scan, {});
}
