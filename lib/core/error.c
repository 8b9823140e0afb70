/* SPDX-License-Identifier: Apache-2.0 */
/* Failing with a sentence, kept in the context or in the thread. */
#include "core/internal.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/handle.h"

/* Not initial-exec, which would save a function call: a process that loads such a library late may have
   no room left for its thread-local memory ("static TLS block"). */
static _Thread_local struct {
    const char *running; /* the public function that the thread is in, if it has no context */
    char failure[VSCAN__ERROR_CAPACITY]; /* the last one without a live context */
    char answer[VSCAN__ERROR_CAPACITY];  /* what vscan_ctx_last_error gave out last */
} thread;

void vscan__set_running(const char *function) {
    thread.running = function;
}

const char *vscan__running(const vscan_ctx *ctx) {
    return ctx != NULL ? ctx->running : thread.running;
}

vscan_status vscan__fail(vscan_ctx *ctx, vscan_status status, const char *function,
                         const char *format, ...) {
    char *text = ctx != NULL ? ctx->error : thread.failure;
    const size_t used = (size_t)snprintf(text, VSCAN__ERROR_CAPACITY, "%s: ", function);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + used, VSCAN__ERROR_CAPACITY - used, format, arguments);
    va_end(arguments);
    return status;
}

vscan_status vscan__fail_late(vscan_ctx *ctx, vscan_status late, int64_t at) {
    if (late == VSCAN_ERROR_OUT_LENGTH)
        return VSCAN__FAIL(ctx, late,
                           "an earlier pack had %" PRId64
                           " elements to write, and 'out' has room for fewer; those that fit were "
                           "written",
                           at);
    static const char *const found[] = {
        [VSCAN_ERROR_DIVISION - VSCAN_ERROR_DIVISION] = "an earlier division of integers met a 0",
        [VSCAN_ERROR_POSITION - VSCAN_ERROR_DIVISION] =
            "an earlier gather, permute or segmented sort met a position outside its vector, or an "
            "offset smaller than the one before it",
        [VSCAN_ERROR_REPEATED - VSCAN_ERROR_DIVISION] =
            "an earlier permute met a position for the second time",
        [VSCAN_ERROR_OFFSETS - VSCAN_ERROR_DIVISION] =
            "an earlier call met an offset that is less than the one before it, or outside the "
            "vector"};
    return VSCAN__FAIL(ctx, late, "%s, for instance at element %" PRId64,
                       found[late - VSCAN_ERROR_DIVISION], at);
}

void vscan__save_thread_error(char saved[VSCAN__ERROR_CAPACITY]) {
    memcpy(saved, thread.failure, VSCAN__ERROR_CAPACITY);
}

void vscan__restore_thread_error(const char saved[VSCAN__ERROR_CAPACITY]) {
    memcpy(thread.failure, saved, VSCAN__ERROR_CAPACITY);
}

const char *vscan_ctx_last_error(const vscan_ctx *ctx) {
    /* No live context has no text of its own: the call that failed on it left its sentence with the
       thread. */
    vscan_ctx *locked = vscan__find_ctx(ctx);
    if (locked == NULL) {
        memcpy(thread.answer, thread.failure, VSCAN__ERROR_CAPACITY);
        return thread.answer;
    }
    pthread_mutex_lock(&locked->mutex);
    memcpy(thread.answer, locked->error, VSCAN__ERROR_CAPACITY);
    pthread_mutex_unlock(&locked->mutex);
    return thread.answer;
}
