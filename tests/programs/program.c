/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "program.h"

/* ---- Arguments ------------------------------------------------------------------------------- */

void refuse(const char *program, const char *format, ...) {
    va_list arguments;
    fflush(stdout);
    fprintf(stderr, "%s: ", program);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fprintf(stderr, "\n");
    exit(2);
}

int64_t read_number(const char *program, const char *what, const char *text, int64_t least,
                    int64_t most) {
    char *end;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    if (end == text || *end) refuse(program, "%s is not a number: \"%s\"", what, text);
    if (errno || number < least || number > most)
        refuse(program, "%s is not in %" PRId64 " .. %" PRId64 ": %s", what, least, most, text);
    return number;
}

int64_t read_n_and_seed(int argc, char **argv, int64_t n, int64_t least, int64_t most) {
    if (argc > 3) refuse(argv[0], "usage: %s [n [seed]]", argv[0]);
    if (argc > 1) n = read_number(argv[0], "n", argv[1], least, most);
    printf("n        %" PRId64 "\n", n);
    seed_random(argv[0], argc > 2 ? argv[2] : NULL);
    return n;
}

/* ---- Random numbers: splitmix64 -------------------------------------------------------------- */

static uint64_t state;

void seed_random(const char *program, const char *text) {
    if (!text) text = getenv("VSCAN_TEST_SEED");
    state =
        text ? (uint64_t)read_number(program, "seed", text, 0, INT64_MAX) : (uint64_t)time(NULL);
    printf("seed     %" PRIu64 "\n", state);
}

uint64_t random_bits(void) {
    uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

int64_t random_below(int64_t n) {
    return (int64_t)(random_bits() % (uint64_t)n);
}

double random_unit(void) {
    return (double)(random_bits() >> 11) * 0x1p-53;
}

/* ---- The machine ----------------------------------------------------------------------------- */

double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void *allocate(int64_t n, size_t size) {
    void *memory = calloc(n > 0 ? (size_t)n : 1, size);
    if (!memory) {
        fprintf(stderr, "no memory for %" PRId64 " elements of %zu bytes\n", n, size);
        exit(1);
    }
    return memory;
}

/* ---- vscan ----------------------------------------------------------------------------------- */

static vscan_ctx *context; /* NULL: last errors are those of this thread */

void check(vscan_status status) {
    if (status == VSCAN_OK) return;
    fflush(stdout);
    fprintf(stderr, "%s: %s\n", vscan_status_name(status), vscan_ctx_last_error(context));
    exit(status == VSCAN_ERROR_NO_BACKEND || status == VSCAN_ERROR_NO_DRIVER ||
                 status == VSCAN_ERROR_NO_DEVICE
             ? 77
             : 1);
}

vscan_ctx *open_context(void) {
    vscan_ctx *ctx;
    char name[256];
    check(vscan_ctx_create(NULL, &ctx));
    context = ctx;
    vscan_backend backend = vscan_ctx_backend(ctx);
    check(vscan_device_name(backend, vscan_ctx_device(ctx), name, sizeof name));
    printf("backend  %s, %s\n", backend == VSCAN_BACKEND_CUDA ? "cuda" : "cpu", name);
    return ctx;
}

vscan_buffer *new_vector(vscan_ctx *ctx, vscan_type type, int64_t n) {
    vscan_buffer *buffer;
    check(vscan_buffer_create(ctx, type, n, &buffer));
    return buffer;
}

vscan_buffer *new_vector_of(vscan_ctx *ctx, vscan_type type, int64_t n, const void *host) {
    vscan_buffer *buffer = new_vector(ctx, type, n);
    check(vscan_buffer_upload(buffer, 0, n, host));
    return buffer;
}

void take_one(vscan_buffer *vector, void *element) {
    check(vscan_buffer_get(vector, 0, element));
    check(vscan_buffer_destroy(vector));
}

int close_context(vscan_ctx *ctx, bool right) {
    context = NULL;
    check(vscan_ctx_destroy(ctx));
    printf("%s\n", right ? "PASSED" : "FAILED");
    return right ? 0 : 1;
}
