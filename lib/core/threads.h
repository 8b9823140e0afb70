/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VSCAN_THREADS_H
#define VSCAN_THREADS_H

#include <omp.h>

#include "core/internal.h"

/* The threads that a context's calls on the CPU may use: as set, or as OpenMP decides. */
static inline int vscan__threads(const vscan_ctx *ctx) {
    return ctx->threads > 0 ? ctx->threads : omp_get_max_threads();
}

#endif
