/* SPDX-License-Identifier: Apache-2.0 */
/* The loops for x86-64 processors with AVX-512 (F, DQ, BW, VL); CMakeLists.txt sets the compiler's flags. */
#include "cpu/cpu.h"

#if defined __x86_64__
#define MAPS vscan__cpu_maps_avx512
#include "cpu/simd/maps.h"
#endif
