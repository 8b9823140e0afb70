/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads the library, scans with two threads, and unloads it, CYCLES times; then the process is no larger
 * than it was after the first ones, and its threads have not become more.
 *
 *     dlclose LIBRARY CYCLES
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vscan.h"

enum { N = 300000, WARM_UP = 20, ROOM = 256 /* KiB, for what malloc keeps */ };

static int32_t values[N];

static void fail(const char *what) {
    const char *why = dlerror();
    fprintf(stderr, "dlclose: %s: %s\n", what, why != NULL ? why : "failed");
    exit(1);
}

/* A number of /proc/self/status. */
static long status(const char *name) {
    char line[256];
    long number = -1;
    FILE *file = fopen("/proc/self/status", "r");
    if (file == NULL) fail("/proc/self/status");
    while (fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, name, strlen(name)) == 0) number = atol(line + strlen(name));
    fclose(file);
    return number;
}

/* Sets a pointer to the function of that name. */
static void find(void *library, const char *name, void *function) {
    void *symbol = dlsym(library, name);
    if (symbol == NULL) fail(name);
    memcpy(function, &symbol, sizeof symbol);
}

static void cycle(const char *path) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) fail(path);
    vscan_status (*create)(const vscan_ctx_options *, vscan_ctx **);
    vscan_status (*wrap)(vscan_ctx *, vscan_type, void *, int64_t, vscan_buffer **);
    vscan_status (*scan)(vscan_ctx *, vscan_op, const vscan_buffer *, vscan_buffer *,
                         const vscan_scan_options *);
    vscan_status (*destroy_buffer)(vscan_buffer *), (*destroy)(vscan_ctx *);
    find(library, "vscan_ctx_create", &create);
    find(library, "vscan_buffer_wrap", &wrap);
    find(library, "vscan_scan", &scan);
    find(library, "vscan_buffer_destroy", &destroy_buffer);
    find(library, "vscan_ctx_destroy", &destroy);

    const vscan_ctx_options options = {
        .size = sizeof options, .backend = VSCAN_BACKEND_CPU, .threads = 2};
    vscan_ctx *ctx;
    vscan_buffer *buffer;
    for (int i = 0; i < N; i++) values[i] = 1;
    if (create(&options, &ctx) != VSCAN_OK) fail("vscan_ctx_create");
    if (wrap(ctx, VSCAN_INT, values, N, &buffer) != VSCAN_OK) fail("vscan_buffer_wrap");
    if (scan(ctx, VSCAN_PLUS, buffer, buffer, NULL) != VSCAN_OK) fail("vscan_scan");
    if (values[N - 1] != N) fail("the result");
    if (destroy_buffer(buffer) != VSCAN_OK || destroy(ctx) != VSCAN_OK) fail("destroying");
    if (dlclose(library) != 0) fail("dlclose");
}

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    long before = 0;
    for (int i = 0; i < atoi(argv[2]); i++) {
        if (i == WARM_UP) before = status("VmRSS:");
        cycle(argv[1]);
    }
    const long after = status("VmRSS:"), threads = status("Threads:");
    printf("%ld KiB after %d cycles, %ld at the end, %ld threads\n", before, WARM_UP, after,
           threads);
    if (after > before + ROOM) fail("the process has grown");
    if (threads > 2) fail("threads are left of every cycle");
    return 0;
}
