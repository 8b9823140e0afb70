/* SPDX-License-Identifier: Apache-2.0 */
/* Tiles for every processor of the architecture: on x86-64 with SSE2, on aarch64 with NEON. */
#define PAIRS vscan__cpu_pairs_portable
#include "cpu/simd/tiles.h"
