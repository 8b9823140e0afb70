/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VSCAN_COMMON_END_CARRY_CUH
#define VSCAN_COMMON_END_CARRY_CUH

#include "common/ptx.cuh"
#include "core/carry.h"

namespace vscan {

/*
 * Of a pair that any order suits, what goes on in a carry is a total: r4, which is the call's initial value
 * and the place of its total (scan/carried.cuh). Whoever writes that calls this: n elements have been passed,
 * and `value` is the last result, which goes to `total`, too, if that is not NULL. No result waits for it.
 */
template <class T>
static __device__ __forceinline__ void end_carry(vscan__carry *carry, int64_t n, void *total,
                                                 T value) {
    if (carry == nullptr) return;
    vscan__carry_state &state = carry->states[0];
    atomicAdd((unsigned long long *)&state.position, (unsigned long long)n);
    clear_bits((unsigned long long *)&state.flags, ~(unsigned long long)VSCAN__CARRY_HAS_INITIAL);
    *(T *)&state.last = value;
    if (total != nullptr) *(T *)total = value;
}

} /* namespace vscan */

#endif
