/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions for x86-64 processors with AVX-512 (F, DQ, BW, VL); CMakeLists.txt sets the compiler's flags. */
#include "cpu/cpu.h"

#if defined __x86_64__
#define SUMS vscan__cpu_sums_avx512
#include "cpu/simd/sums.h"
#endif
