/* SPDX-License-Identifier: Apache-2.0 */
/* What context.c offers to buffer.c, carry.c and host.c. */
#ifndef VSCAN_CONTEXT_H
#define VSCAN_CONTEXT_H

#include "core/internal.h"

/* Gives back one of the context's references, that of the handle or of a buffer or carry, and unlocks it.
   With the last one the context is no more. */
void vscan__ctx_unreference(vscan_ctx *ctx);

/* Memory that a buffer or a carry of the context has from now on, or that will be released now. The context
   is locked. */
void vscan__ctx_own(vscan_ctx *ctx, struct vscan__owned *owned, void *memory);
void vscan__ctx_disown(struct vscan__owned *owned);

/* A context of the CPU backend whose handle nobody has; and the end of such a one, on any backend. */
vscan_status vscan__ctx_create_cpu(vscan_ctx **ctx);
void vscan__ctx_end(vscan_ctx *ctx);

#endif
