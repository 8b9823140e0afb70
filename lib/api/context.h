/* SPDX-License-Identifier: Apache-2.0 */
/* What context.c offers to buffer.c. */
#ifndef VSCAN_CONTEXT_H
#define VSCAN_CONTEXT_H

#include "core/internal.h"

/*
 * Gives back one of the context's references, and unlocks it. With the last one, that of the handle
 * or of a buffer that outlived it, the backend's part is closed and the context is no more.
 */
void vscan__ctx_unreference(vscan_ctx *ctx);

/* A context of the CPU backend whose handle nobody has, and its end. */
vscan_status vscan__ctx_create_cpu(vscan_ctx **ctx);
void vscan__ctx_destroy_cpu(vscan_ctx *ctx);

#endif
