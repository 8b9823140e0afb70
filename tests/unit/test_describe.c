/* SPDX-License-Identifier: Apache-2.0 */
/* vscan_describe: the text that a report of an error has. */
#include "harness.h"
#include "refusal.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CAPACITY = 4096 };

/* The value of a line "name: value", or NULL. */
static const char *value_of(const char *name, char value[CAPACITY]) {
    static char text[CAPACITY];
    const int64_t length = vscan_describe(text, CAPACITY);
    assert_in_range(length, 100, CAPACITY - 1);
    assert_int_equal(strlen(text), length);
    for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n"))
        if (strncmp(line, name, strlen(name)) == 0 && line[strlen(name)] == ':')
            return strcpy(value, line + strlen(name) + 2);
    return NULL;
}

static void says(const char *name, const char *expected) {
    char value[CAPACITY];
    assert_non_null(value_of(name, value));
    assert_string_equal(value, expected);
}

static void begins(const char *name, const char *expected) {
    char value[CAPACITY];
    assert_non_null(value_of(name, value));
    if (strncmp(value, expected, strlen(expected)) != 0) assert_string_equal(value, expected);
}

/* As snprintf: nothing is written beyond the capacity, and the length is that of the whole. */
static void cut(void **state) {
    (void)state;
    char text[CAPACITY], whole[CAPACITY];
    const int64_t length = vscan_describe(NULL, 0);
    assert_in_range(length, 100, CAPACITY - 1);
    assert_in_range(vscan_describe(NULL, 100), length - 20, length + 20);
    vscan_describe(whole, CAPACITY);
    assert_int_equal(strncmp(whole, "version: ", 9), 0);
    for (int64_t capacity = -1; capacity <= length; capacity += capacity < 20 ? 1 : 97) {
        memset(text, '#', CAPACITY);
        assert_in_range(vscan_describe(text, capacity), length - 20, length + 20);
        const int64_t kept = capacity < 1 ? 0 : capacity;
        for (int64_t i = kept; i < CAPACITY; i++) assert_int_equal(text[i], '#');
        if (capacity < 1) continue;
        assert_int_equal(strlen(text), capacity - 1);
        if (capacity < 60) assert_int_equal(strncmp(text, whole, (size_t)capacity - 1), 0);
    }
}

/* Every line has a name and a value. */
static void lines(void **state) {
    (void)state;
    char text[CAPACITY];
    vscan_describe(text, CAPACITY);
    assert_int_equal(text[strlen(text) - 1], '\n');
    for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        const char *colon = strstr(line, ": ");
        assert_non_null(colon);
        assert_true(colon > line && colon[2] != 0);
        for (const char *at = line; *at != 0; at++) assert_true(isprint((unsigned char)*at));
    }
    says("version", vscan_version_text());
    char commit[CAPACITY];
    assert_non_null(value_of("commit", commit));
    if (strcmp(commit, "unknown") != 0) {
        assert_int_equal(strlen(commit), 12);
        assert_int_equal(strspn(commit, "0123456789abcdef"), 12);
    }
    const char *set = getenv("VSCAN_TEST_CPU");
    if (set != NULL && set[0] != 0) says("instruction set", set);
    setenv("VSCAN_TEST_CPU", "none", 1);
    begins("instruction set", "vscan_describe: VSCAN_TEST_CPU is \"none\"");
    unsetenv("VSCAN_TEST_CPU");
}

static void backend(void **state) {
    (void)state;
    vscan_ctx *ctx = NULL;
    refused(NULL, VSCAN_ERROR_NULL, "ctx", vscan_ctx_create(NULL, NULL));
    unsetenv("VSCAN_BACKEND");
    ok(NULL, vscan_ctx_create(NULL, &ctx));
    const bool cuda = vscan_ctx_backend(ctx) == VSCAN_BACKEND_CUDA;
    ok(ctx, vscan_ctx_destroy(ctx));
    if (cuda)
        says("backend", "cuda");
    else
        begins("backend", "cpu, VSCAN_ERROR_NO_");
    setenv("VSCAN_BACKEND", "cpu", 1);
    says("backend", "cpu, as VSCAN_BACKEND is \"cpu\" in the environment");
    setenv("VSCAN_BACKEND", "cuda", 1);
    begins("backend", cuda ? "cuda, as VSCAN_BACKEND is \"cuda\" in the environment"
                           : "none, as VSCAN_BACKEND is \"cuda\" in the environment, "
                             "VSCAN_ERROR_NO_");
    setenv("VSCAN_BACKEND", "gpu", 1);
    begins("backend", "none, as VSCAN_BACKEND is \"gpu\" in the environment, "
                      "VSCAN_ERROR_VALUE: VSCAN_BACKEND");
    setenv("VSCAN_BACKEND", "", 1);
    begins("backend", cuda ? "cuda" : "cpu, VSCAN_ERROR_NO_");
    unsetenv("VSCAN_BACKEND");
    /* it leaves the sentence of an earlier failure */
    assert_string_equal(vscan_ctx_last_error(NULL), "vscan_ctx_create: ctx is NULL");
}

/* The smallest limit has the name; what the environment asks for is shown where it is a number. */
static void threads(void **state) {
    (void)state;
    char value[CAPACITY], threads[CAPACITY];
    begins("threads", "3, limited by "); /* as it was when the first call asked */
    setenv("VSCAN_NUM_THREADS", "1", 1);
    setenv("OMP_NUM_THREADS", "3", 1);
    says("VSCAN_NUM_THREADS", "1");
    says("OMP_NUM_THREADS", "no limit");
    assert_non_null(value_of("processors", value));
    assert_non_null(value_of("threads", threads));
    assert_true(atoi(threads) >= 1);
    if (atoi(value) > 1)
        assert_true(strstr(threads, ", limited by VSCAN_NUM_THREADS") ||
                    strstr(threads, ", limited by the affinity mask") ||
                    strstr(threads, ", limited by the quota of the control group"));
    setenv("VSCAN_NUM_THREADS", "none", 1);
    says("VSCAN_NUM_THREADS", "no limit");
    says("OMP_NUM_THREADS", "3");
    unsetenv("VSCAN_NUM_THREADS");
    unsetenv("OMP_NUM_THREADS");
    says("OMP_NUM_THREADS", "no limit");
    assert_non_null(value_of("the affinity mask", value));
    assert_true(atoi(value) >= 1);
    assert_non_null(value_of("the quota of the control group", value));
    /* where none is smaller, the first one has the name */
    char processors[CAPACITY], mask[CAPACITY];
    assert_non_null(value_of("processors", processors));
    assert_non_null(value_of("the affinity mask", mask));
    assert_non_null(value_of("threads", threads));
    if (strcmp(value, "no limit") == 0 && strcmp(mask, processors) == 0)
        assert_non_null(strstr(threads, ", limited by processors"));
}

int main(int argc, char **argv) {
    setenv("VSCAN_NUM_THREADS", "3", 1);
    const struct CMUnitTest tests[] = {cmocka_unit_test(cut), cmocka_unit_test(lines),
                                       cmocka_unit_test(backend), cmocka_unit_test(threads)};
    return harness_run(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
