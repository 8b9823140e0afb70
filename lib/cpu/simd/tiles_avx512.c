/* SPDX-License-Identifier: Apache-2.0 */
/* The rows for x86-64 processors with AVX-512 (F, DQ, BW, VL); CMakeLists.txt sets the compiler's flags. */
#include "cpu/cpu.h"

#if defined __x86_64__
#define ROWS vscan__cpu_avx512
#include "cpu/simd/tiles.h"
#endif
