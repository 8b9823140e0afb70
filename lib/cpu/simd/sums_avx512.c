/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions for x86-64 processors with AVX-512 (F, DQ, BW, VL): CMakeLists.txt has the flags. */
#include "cpu/simd/simd.h"

#if defined __x86_64__
#define SUMS vscan__cpu_sums_avx512
#include "cpu/simd/sums.h"
#endif
