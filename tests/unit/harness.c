/* SPDX-License-Identifier: Apache-2.0 */
/* The test programs' common part: arguments, environment, the shared context. */
#include "harness.h"

#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SKIPPED = 77 }; /* the exit code that ctest and automake read as "skipped" */

vscan_backend harness_backend = VSCAN_BACKEND_CPU;

static vscan_ctx *shared_ctx;
static size_t part = 1, parts = 1;
static uint64_t seed = 20260729;
static enum { SIZES_NORMAL, SIZES_SMALL, SIZES_LONG } sizes;

const char *harness_backend_name(void) {
    return harness_backend == VSCAN_BACKEND_CUDA ? "cuda" : "cpu";
}

uint64_t harness_seed(void) {
    return seed;
}
bool harness_small(void) {
    return sizes == SIZES_SMALL;
}
bool harness_long(void) {
    return sizes == SIZES_LONG;
}

void harness_ok(const vscan_ctx *ctx, vscan_status status, const char *call, const char *file,
                int line) {
    if (status == VSCAN_OK) return;
    print_error("%s: %s: %s\n", call, vscan_status_name(status), vscan_ctx_last_error(ctx));
    _fail(file, line);
}

void harness_status(vscan_status expected, vscan_status got, const char *call, const char *file,
                    int line) {
    if (expected == got) return;
    print_error("%s: expected %s, got %s\n", call, vscan_status_name(expected),
                vscan_status_name(got));
    _fail(file, line);
}

vscan_ctx *harness_new_ctx(int32_t threads) {
    const vscan_ctx_options options = {
        .size = sizeof options, .backend = (int32_t)harness_backend, .threads = threads};
    vscan_ctx *ctx = NULL;
    ok(NULL, vscan_ctx_create(&options, &ctx));
    return ctx;
}

vscan_ctx *harness_new_cpu_ctx(int32_t threads, const char *instructions) {
    const char *before = getenv("VSCAN_TEST_CPU");
    char *kept = before != NULL ? strdup(before) : NULL;
    if (instructions != NULL) setenv("VSCAN_TEST_CPU", instructions, 1);
    const vscan_ctx_options options = {
        .size = sizeof options, .backend = VSCAN_BACKEND_CPU, .threads = threads};
    vscan_ctx *ctx = NULL;
    const vscan_status status = vscan_ctx_create(&options, &ctx);
    if (kept != NULL)
        setenv("VSCAN_TEST_CPU", kept, 1);
    else
        unsetenv("VSCAN_TEST_CPU");
    free(kept);
    if (status != VSCAN_ERROR_UNSUPPORTED) ok(NULL, status);
    return ctx;
}

vscan_ctx *harness_ctx(void) {
    if (shared_ctx == NULL) shared_ctx = harness_new_ctx(0);
    return shared_ctx;
}

static int destroy_shared(void **state) {
    (void)state;
    vscan_status status = vscan_ctx_destroy(shared_ctx);
    shared_ctx = NULL;
    return status == VSCAN_OK ? 0 : -1;
}

static bool read_arguments(int argc, char **argv) {
    if (argc > 2) return false;
    if (argc == 2 && strcmp(argv[1], "cpu") != 0 && strcmp(argv[1], "cuda") != 0) return false;
    if (argc == 2 && strcmp(argv[1], "cuda") == 0) harness_backend = VSCAN_BACKEND_CUDA;
    return true;
}

static bool read_environment(void) {
    const char *text = getenv("VSCAN_TEST_SEED");
    if (text != NULL && *text != '\0') {
        char *end;
        seed = strtoull(text, &end, 0);
        if (*end != '\0') return false;
    }
    text = getenv("VSCAN_TEST_SIZES");
    if (text != NULL && *text != '\0') {
        if (strcmp(text, "small") == 0)
            sizes = SIZES_SMALL;
        else if (strcmp(text, "long") == 0)
            sizes = SIZES_LONG;
        else if (strcmp(text, "normal") != 0)
            return false;
    }
    text = getenv("VSCAN_TEST_FILTER");
    if (text != NULL && *text != '\0') cmocka_set_test_filter(text);
    text = getenv("VSCAN_TEST_PART");
    if (text == NULL || *text == '\0') return true;
    char *end;
    part = strtoul(text, &end, 10);
    if (*end != '/') return false;
    parts = strtoul(end + 1, &end, 10);
    return *end == '\0' && part >= 1 && part <= parts;
}

/* Runs every parts-th test, from the part-th on. */
static int run_part(const char *name, const struct CMUnitTest *tests, size_t count) {
    struct CMUnitTest *chosen = malloc((count + 1) * sizeof *chosen);
    if (chosen == NULL) return 2;
    size_t n = 0;
    for (size_t k = part - 1; k < count; k += parts)
        memcpy(&chosen[n++], &tests[k], sizeof *chosen);
    const int failed = _cmocka_run_group_tests(name, chosen, n, NULL, destroy_shared);
    free(chosen);
    return failed;
}

int harness_run(int argc, char **argv, const struct CMUnitTest *tests, size_t count) {
    if (!read_arguments(argc, argv)) {
        fprintf(stderr, "usage: %s [cpu|cuda]\n", argv[0]);
        return 2;
    }
    if (!read_environment()) {
        fprintf(stderr,
                "%s: VSCAN_TEST_SEED is a number, VSCAN_TEST_SIZES small, normal or long, "
                "VSCAN_TEST_PART K/N\n",
                argv[0]);
        return 2;
    }

    int32_t devices = 0;
    const vscan_status status = vscan_device_count(harness_backend, &devices);
    if (harness_backend == VSCAN_BACKEND_CUDA && (status != VSCAN_OK || devices == 0)) {
        fprintf(stderr, "skipped: no CUDA device\n");
        return SKIPPED;
    }

    /* memory that is freed is not given back, or the kernel would clear it again for the next case: 2/5 of the time */
    mallopt(M_MMAP_THRESHOLD, 32 << 20); /* the most that glibc accepts */
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
    mallopt(M_TOP_PAD, 64 << 20);

    /* so that several threads are tested whatever the machine has, and in short calls too */
    setenv("VSCAN_TEST_THREADS", "12", 0);
    if (harness_backend == VSCAN_BACKEND_CPU) {
        vscan_ctx *ctx = harness_new_cpu_ctx(0, NULL);
        if (ctx == NULL) {
            fprintf(stderr, "skipped: %s\n", vscan_ctx_last_error(NULL));
            return SKIPPED;
        }
        vscan_ctx_destroy(ctx);
    }

    const char *program = strrchr(argv[0], '/');
    program = program == NULL ? argv[0] : program + 1;
    if (strncmp(program, "test_", 5) == 0) program += 5;
    char name[64];
    snprintf(name, sizeof name, "%s.%s", program, harness_backend_name());

    printf("%s: VSCAN_TEST_SEED=%" PRIu64 "\n", name, seed);
    fflush(stdout);
    return run_part(name, tests, count);
}

/* ---- Results and values ---------------------------------------------------------------------- */

vscan_value harness_value(vscan_type type, const void *element) {
    vscan_value value = {0};
    if (element == NULL) return value;
    value.holds = (int32_t)type;
    if (type == VSCAN_INT) memcpy(&value.as_int, element, sizeof value.as_int);
    if (type == VSCAN_FLOAT) memcpy(&value.as_float, element, sizeof value.as_float);
    if (type == VSCAN_DOUBLE) memcpy(&value.as_double, element, sizeof value.as_double);
    if (type == VSCAN_LONG) memcpy(&value.as_long, element, sizeof value.as_long);
    return value;
}

vscan_buffer *harness_one(vscan_ctx *ctx, vscan_type type) {
    vscan_buffer *one = NULL;
    ok(ctx, vscan_buffer_create(ctx, type, 1, &one));
    return one;
}

void harness_take(vscan_ctx *ctx, vscan_buffer *one, void *element) {
    ok(ctx, vscan_buffer_get(one, 0, element));
    ok(ctx, vscan_buffer_destroy(one));
}
