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

/* ---- Late errors ----------------------------------------------------------------------------- */

void vscan__note_late(vscan_ctx *ctx, const char *function, vscan_status late, int64_t at,
                      int64_t room) {
    struct vscan__late_errors *errors = &ctx->late;
    if (errors->status == VSCAN_OK) {
        errors->status = late;
        errors->at = at;
        errors->room = room;
    }
    for (int i = 0; i < errors->functions; i++)
        if (errors->function[i] == function) return;
    if (errors->functions < VSCAN__LATE_FUNCTIONS) errors->function[errors->functions++] = function;
}

/* What was found first. */
static void describe(const struct vscan__late_errors *errors, char *text, size_t capacity) {
    static const char *const found[] = {
        [VSCAN_ERROR_DIVISION - VSCAN_ERROR_DIVISION] = "divided an integer by 0",
        [VSCAN_ERROR_POSITION - VSCAN_ERROR_DIVISION] = "met a position outside its vector",
        [VSCAN_ERROR_REPEATED - VSCAN_ERROR_DIVISION] = "met a position for the second time",
        [VSCAN_ERROR_OFFSETS - VSCAN_ERROR_DIVISION] =
            "met an offset that is less than the one before it or outside the vector, a length "
            "below 0, or a sum of lengths that is too large"};
    if (errors->status == VSCAN_ERROR_OUT_LENGTH)
        snprintf(text, capacity,
                 "had %" PRId64 " elements to write and less room; those that fit were written",
                 errors->at);
    else if (errors->status != VSCAN_ERROR_TOTALS_LENGTH)
        snprintf(text, capacity, "%s, for instance at element %" PRId64,
                 found[errors->status - VSCAN_ERROR_DIVISION], errors->at);
    else if (errors->room >= 0)
        snprintf(text, capacity, "had %" PRId64 " segments and room for %" PRId64 " totals",
                 errors->at, errors->room);
    else
        snprintf(text, capacity,
                 "had more segments than room for totals; those that fit were written");
}

vscan_status vscan__report_late(vscan_ctx *ctx) {
    const struct vscan__late_errors errors = ctx->late;
    if (errors.status == VSCAN_OK) return VSCAN_OK;
    char first[200], others[VSCAN__ERROR_CAPACITY] = "";
    describe(&errors, first, sizeof first);
    size_t used = 0;
    for (int i = 1; i < errors.functions && used < sizeof others; i++)
        used += (size_t)snprintf(others + used, sizeof others - used, "%s%s",
                                 i == 1 ? "; errors were found too by " : ", ", errors.function[i]);
    ctx->late.status = VSCAN_OK;
    ctx->late.functions = 0;
    return VSCAN__FAIL(ctx, errors.status, "an earlier call of %s %s%s", errors.function[0], first,
                       others);
}

/* ---- The texts ------------------------------------------------------------------------------- */

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
