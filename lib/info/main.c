/* SPDX-License-Identifier: Apache-2.0 */
/* vscan-info: says what libvscan is running on, checks it, and measures it. vscan-info.1 is its manual page. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "info/info.h"

bool info_ok(vscan_ctx *ctx, vscan_status status, const char *what) {
    if (status != VSCAN_OK)
        fprintf(stderr, "vscan-info: %s: %s, %s\n", what, vscan_status_name(status),
                vscan_ctx_last_error(ctx));
    return status == VSCAN_OK;
}

double info_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

bool info_each_device(bool (*body)(vscan_ctx *ctx, const char *name, void *state), void *state) {
    static const vscan_backend backends[] = {VSCAN_BACKEND_CPU, VSCAN_BACKEND_CUDA};
    bool good = true;
    for (int k = 0; k < 2; k++) {
        int32_t count = 0;
        good &= info_ok(NULL, vscan_device_count(backends[k], &count), "counting devices");
        for (int32_t device = 0; device < count; device++) {
            const vscan_ctx_options options = {
                .size = sizeof options, .backend = (int32_t)backends[k], .device = device};
            vscan_ctx *ctx = NULL;
            char name[256], all[300];
            bool here = info_ok(NULL, vscan_device_name(backends[k], device, name, sizeof name),
                                "the name of a device");
            here = here && info_ok(NULL, vscan_ctx_create(&options, &ctx), "making a context");
            if (backends[k] == VSCAN_BACKEND_CPU)
                snprintf(all, sizeof all, "cpu, %s, %" PRId32 " threads", name,
                         vscan_ctx_threads(ctx));
            else
                snprintf(all, sizeof all, "cuda %" PRId32 ", %s", device, name);
            here = here && body(ctx, all, state);
            vscan_ctx_destroy(ctx);
            good &= here;
        }
    }
    return good;
}

/* ---- The command line ------------------------------------------------------------------------- */

static int usage(FILE *file) {
    fputs("usage: vscan-info [--check [SECONDS] [--seed SEED] | --time [N] | --version | --help]\n"
          "\n"
          "Says which libvscan this is and what it runs on: the text for a report of an error.\n"
          "\n"
          "  --check [SECONDS]  random calls on every device against serial loops (60 s);\n"
          "                     the exit status is 1 where one is wrong\n"
          "  --seed SEED        the same calls again\n"
          "  --time [N]         how long ten calls take on N elements (16777216), beside a copy\n",
          file);
    return 2;
}

/* The number that text is; false: it is none in least .. most. */
static bool read_number(const char *text, uint64_t least, uint64_t most, uint64_t *number) {
    char *end;
    errno = 0;
    *number = strtoull(text, &end, 10);
    return text[0] >= '0' && text[0] <= '9' && *end == 0 && errno == 0 && *number >= least &&
           *number <= most;
}

static int describe(void) {
    const int64_t length = vscan_describe(NULL, 0) + 64; /* free memory may have more digits then */
    char *text = malloc((size_t)length);
    if (text == NULL) return 1;
    vscan_describe(text, length);
    fputs(text, stdout);
    free(text);
    return 0;
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    uint64_t number = 0, seed = (uint64_t)time(NULL);
    int at = 2;
    if (argc == 1) return describe();
    if (argc == 2 && strcmp(what, "--help") == 0) return usage(stdout) - 2;
    if (argc == 2 && strcmp(what, "--version") == 0)
        return printf("vscan-info, libvscan %s\n", vscan_version_text()) < 0;
    if (strcmp(what, "--check") == 0) {
        number = 60;
        if (at < argc && argv[at][0] != '-' && !read_number(argv[at++], 1, 1000000, &number))
            return usage(stderr);
        if (at + 2 == argc && strcmp(argv[at], "--seed") == 0 &&
            read_number(argv[at + 1], 0, UINT64_MAX, &seed))
            at += 2;
        if (at != argc) return usage(stderr);
        return !info_check((double)number, seed);
    }
    if (strcmp(what, "--time") == 0) {
        number = 1 << 24;
        if (at < argc && !read_number(argv[at++], 1, INT64_MAX / 16, &number)) return usage(stderr);
        if (at != argc) return usage(stderr);
        return !info_time((int64_t)number);
    }
    return usage(stderr);
}
