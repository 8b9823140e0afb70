/* SPDX-License-Identifier: Apache-2.0 */
/* The loops for x86-64 processors with AVX2; CMakeLists.txt sets the compiler's flags. */
#include "cpu/cpu.h"

#if defined __x86_64__
#define MAPS vscan__cpu_maps_avx2
#include "cpu/simd/maps.h"
#endif
