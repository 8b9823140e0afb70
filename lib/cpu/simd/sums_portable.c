/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions for every processor of the architecture: on x86-64 with SSE2, on aarch64 with NEON. */
#define SUMS vscan__cpu_sums_portable
#include "cpu/simd/sums.h"
