/* SPDX-License-Identifier: Apache-2.0 */
/* Statuses and sentences. */
#include <stdarg.h>
#include <stdio.h>

#include "internal.h"

const char *vscan_ranks_status_name(vscan_status status) {
    switch ((int)status) {
    case VSCAN_RANKS_ERROR_DIFFERENT:
        return "VSCAN_RANKS_ERROR_DIFFERENT";
    case VSCAN_RANKS_ERROR_TRANSPORT:
        return "VSCAN_RANKS_ERROR_TRANSPORT";
    default:
        return vscan_status_name(status);
    }
}

const char *vscan_ranks_status_text(vscan_status status) {
    switch ((int)status) {
    case VSCAN_RANKS_ERROR_DIFFERENT:
        return "ranks call different functions, or the same with different arguments";
    case VSCAN_RANKS_ERROR_TRANSPORT:
        return "ranks cannot reach each other";
    default:
        return vscan_status_text(status);
    }
}

vscan_status vscan__ranks_fail(vscan__ranks *ranks, vscan_status status, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const int used = snprintf(ranks->sentence, SENTENCE, "%s: ", ranks->function);
    vsnprintf(ranks->sentence + used, (size_t)(SENTENCE - used), format, arguments);
    va_end(arguments);
    return status;
}

vscan_status vscan__ranks_say(vscan__ranks *ranks, const vscan_ctx *ctx, vscan_status status) {
    if (status == VSCAN_OK) return VSCAN_OK;
    const char *words = status == VSCAN_ERROR_HANDLE ? "" : vscan_ctx_last_error(ctx);
    if (words[0] == '\0') words = vscan_ctx_last_error(NULL);
    return vscan__ranks_fail(ranks, status, "%s",
                             words[0] != '\0' ? words : vscan_status_text(status));
}
