/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reductions of the CPU backend: sum.h for each kind of element, and from it one function for
 * each pair of core/pairs.h, in a table that the includer names:
 *
 *     SUMS   vscan__cpu_sums_portable, ...
 *
 * sums_*.c include it, each compiled for an instruction set; the results are the same.
 */
#include "cpu/cpu.h"

enum { AHEAD = 8192 }; /* bytes from an element to the one that memory is asked for meanwhile */

#define KIND_BODY "cpu/simd/sum.h"
#include "cpu/simd/kinds.h"

#define X(pair, op, type, OP, TYPE)                                                                \
    static union vscan__value sum_##pair(const void *from, int64_t n) {                            \
        return KIND_OF(reduce, op, type)(VSCAN_##OP, from, n);                                     \
    }
VSCAN__PAIRS(X)
#undef X

vscan__cpu_sum *const SUMS[vscan__pair_count] = {
#define X(pair, op, type, OP, TYPE) [vscan__pair_##pair] = sum_##pair,
    VSCAN__PAIRS(X)
#undef X
};
