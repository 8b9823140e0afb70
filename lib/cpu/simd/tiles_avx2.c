/* SPDX-License-Identifier: Apache-2.0 */
/* Tiles for x86-64 processors with AVX2; CMakeLists.txt sets the compiler's flags. */
#include "cpu/simd/simd.h"

#if defined __x86_64__
#define PAIRS vscan__cpu_pairs_avx2
#include "cpu/simd/tiles.h"
#endif
