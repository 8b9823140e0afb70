/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that must be refused: the status, and a sentence that names the function and the argument.
 */
#ifndef REFUSAL_H
#define REFUSAL_H

#include "harness.h"

#include <string.h>

/*
 * Fails the test unless the call returns this status and vscan_ctx_last_error(ctx) begins with the
 * function's name and contains word, the argument's name. ctx is NULL where the thread keeps it.
 */
#define refused(ctx, expected, word, call)                                                         \
    refusal_check((ctx), (expected), (word), (call), #call, __FILE__, __LINE__)

static inline void refusal_check(const vscan_ctx *ctx, vscan_status expected, const char *word,
                                 vscan_status got, const char *call, const char *file, int line) {
    harness_status(expected, got, call, file, line);
    const char *sentence = vscan_ctx_last_error(ctx);
    size_t name = strcspn(call, "(");
    if (strncmp(sentence, call, name) == 0 && sentence[name] == ':' &&
        strstr(sentence + name, word) != NULL)
        return;
    print_error("%s: the sentence does not name the function and \"%s\": %s\n", call, word,
                sentence);
    _fail(file, line);
}

/* Pointers that are no handles of any kind, for functions that take one. */
enum { REFUSAL_STRANGERS = 4 };

static inline void *refusal_stranger(int i) {
    static uint64_t zeroed[32];
    static char text[] = "a string that is no handle";
    switch (i) {
    case 0:
        return zeroed;
    case 1:
        return text;
    case 2:
        return text + 1;
    default:
        return (void *)(uintptr_t)1;
    }
}

#endif
