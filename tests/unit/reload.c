/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads the library, uses it and unloads it, again and again; with every handle destroyed, nothing may
 * be lost. Not linked with it.
 *
 *     reload LIBRARY CYCLES
 *
 * The first cycles are not counted: the dynamic linker and the C library keep some memory.
 */
#include <dlfcn.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vscan.h"

enum { FIRST = 10, BUFFERS = 300, N = 1000, ALLOWED = 64 }; /* bytes a cycle */

#define CALLS(X)                                                                                   \
    X(vscan_ctx_create)                                                                            \
    X(vscan_ctx_destroy) X(vscan_buffer_create) X(vscan_buffer_destroy) X(vscan_scan)

#define X(name) __typeof__(name) *name;
struct calls {
    CALLS(X)
};
#undef X

static bool use(const struct calls *calls) {
    const vscan_ctx_options options = {
        .size = sizeof options, .backend = VSCAN_BACKEND_CPU, .threads = 1};
    vscan_ctx *ctx = NULL;
    vscan_buffer *buffers[BUFFERS];
    bool good = calls->vscan_ctx_create(&options, &ctx) == VSCAN_OK;
    for (int i = 0; i < BUFFERS; i++)
        good = calls->vscan_buffer_create(ctx, VSCAN_INT, N, &buffers[i]) == VSCAN_OK && good;
    good = calls->vscan_scan(ctx, VSCAN_PLUS, buffers[0], buffers[0], NULL) == VSCAN_OK && good;
    for (int i = 0; i < BUFFERS; i++)
        good = calls->vscan_buffer_destroy(buffers[i]) == VSCAN_OK && good;
    return calls->vscan_ctx_destroy(ctx) == VSCAN_OK && good;
}

static bool cycle(const char *library) {
    struct calls calls;
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        return false;
    }
#define X(name)                                                                                    \
    void *at_##name = dlsym(handle, #name);                                                        \
    memcpy(&calls.name, &at_##name, sizeof at_##name); /* no cast to a function in ISO C */
    CALLS(X)
#undef X
    const bool good = use(&calls);
    if (!good) fprintf(stderr, "a call failed\n");
    return dlclose(handle) == 0 && good;
}

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    const long cycles = strtol(argv[2], NULL, 10);
    size_t before = 0;
    for (long i = 0; i < FIRST + cycles; i++) {
        if (i == FIRST) before = mallinfo2().uordblks;
        if (!cycle(argv[1])) return 1;
    }
    const long long lost = (long long)mallinfo2().uordblks - (long long)before;
    printf("%ld cycles, %lld bytes lost\n", cycles, lost);
    return lost > cycles * ALLOWED;
}
