/* SPDX-License-Identifier: Apache-2.0 */
/* What error.c offers beside vscan__fail and vscan__running (internal.h). */
#ifndef VSCAN_ERROR_H
#define VSCAN_ERROR_H

#include "core/internal.h"

/* A public function that has no context, or not yet, begins with it, or one that refuses what it was
   given for its context. function lives for ever: __func__. */
void vscan__set_running(const char *function);

/*
 * The thread's own text is for failures without a live context. Some calls try one thing, fail, and
 * then succeed in another way: they keep the text first and put it back.
 */
void vscan__keep_thread_error(char kept[VSCAN__ERROR_CAPACITY]);
void vscan__put_back_thread_error(const char kept[VSCAN__ERROR_CAPACITY]);

#endif
