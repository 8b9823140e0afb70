/* SPDX-License-Identifier: Apache-2.0 */
/* The loops for every processor of the architecture: on x86-64 with SSE2, on aarch64 with NEON. */
#define MAPS vscan__cpu_maps_portable
#include "cpu/simd/maps.h"
