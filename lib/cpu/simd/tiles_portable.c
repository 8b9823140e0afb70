/* SPDX-License-Identifier: Apache-2.0 */
/* The rows for every processor of the architecture: on x86-64 with SSE2, on aarch64 with NEON. */
#define ROWS vscan__cpu_portable
#include "cpu/simd/tiles.h"
