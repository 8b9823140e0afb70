/* SPDX-License-Identifier: Apache-2.0 */
/* Handles: one that was destroyed is refused for ever, no value is given out twice, nothing near a live
   one is taken for it; and what a fork leaves of them, while other threads make or use some. */
#include "harness.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "inputs.h"
#include "refusal.h"

/* ---- Refused for ever ------------------------------------------------------------------------ */

static int repetitions(void) {
    return harness_small() ? 2000 : 100000;
}

static void destroyed_contexts(void **state) {
    (void)state;
    vscan_ctx *const stale = harness_new_ctx(0);
    ok(NULL, vscan_ctx_destroy(stale));
    const int most = harness_backend == VSCAN_BACKEND_CUDA ? 40 : repetitions() / 10;
    for (int i = 0; i < most; i++) {
        vscan_ctx *ctx = harness_new_ctx(0);
        refuses(VSCAN_ERROR_HANDLE, vscan_ctx_synchronize(stale));
        refuses(VSCAN_ERROR_HANDLE, vscan_ctx_destroy(stale));
        ok(ctx, vscan_ctx_destroy(ctx));
    }
    refused(NULL, VSCAN_ERROR_HANDLE, "a destroyed context", vscan_ctx_synchronize(stale));
}

static void destroyed_buffers(void **state) {
    (void)state;
    vscan_ctx *ctx = harness_ctx();
    vscan_buffer *stale, *owner, *view;
    ok(ctx, vscan_buffer_create(ctx, VSCAN_INT, 0, &stale));
    ok(ctx, vscan_buffer_destroy(stale));
    ok(ctx, vscan_buffer_create(ctx, VSCAN_INT, 0, &owner));
    for (int i = 0; i < repetitions(); i++) {
        ok(ctx, vscan_buffer_view(owner, 0, 0, &view));
        assert_int_equal(vscan_buffer_length(stale), -1);
        refuses(VSCAN_ERROR_HANDLE, vscan_buffer_destroy(stale));
        ok(ctx, vscan_buffer_destroy(view));
    }
    refused(NULL, VSCAN_ERROR_HANDLE, "a destroyed buffer", vscan_buffer_destroy(stale));
    ok(ctx, vscan_buffer_destroy(owner));
}

static void destroyed_carries(void **state) {
    (void)state;
    vscan_ctx *ctx = harness_ctx();
    vscan_carry *stale, *carry;
    if (vscan_carry_create(ctx, VSCAN_PLUS, VSCAN_INT, VSCAN_FORWARD, &stale) != VSCAN_OK) skip();
    ok(ctx, vscan_carry_destroy(stale));
    for (int i = 0; i < repetitions() / 10; i++) {
        ok(ctx, vscan_carry_create(ctx, VSCAN_PLUS, VSCAN_INT, VSCAN_FORWARD, &carry));
        refuses(VSCAN_ERROR_HANDLE, vscan_carry_reset(stale, NULL));
        refuses(VSCAN_ERROR_HANDLE, vscan_carry_destroy(stale));
        ok(ctx, vscan_carry_destroy(carry));
    }
    refused(NULL, VSCAN_ERROR_HANDLE, "a destroyed carry", vscan_carry_reset(stale, NULL));
}

static int by_value(const void *a, const void *b) {
    const uintptr_t x = *(const uintptr_t *)a, y = *(const uintptr_t *)b;
    return (x > y) - (x < y);
}

/* Made and destroyed in drawn order. */
static void no_value_twice(void **state) {
    (void)state;
    enum { SLOTS = 500, MADE = 20000 };
    vscan_ctx *ctx = harness_ctx();
    vscan_buffer *live[SLOTS] = {NULL};
    uintptr_t *made = malloc(MADE * sizeof *made);
    assert_non_null(made);
    struct inputs_random random = {harness_seed()};
    for (int i = 0; i < MADE; i++) {
        vscan_buffer **slot = &live[inputs_below(&random, SLOTS)];
        ok(ctx, vscan_buffer_destroy(*slot));
        ok(ctx, vscan_buffer_create(ctx, VSCAN_INT, 0, slot));
        made[i] = (uintptr_t)*slot;
    }
    for (int i = 0; i < SLOTS; i++) ok(ctx, vscan_buffer_destroy(live[i]));
    qsort(made, MADE, sizeof *made, by_value);
    for (int i = 1; i < MADE; i++) assert_true(made[i] != made[i - 1]);
    free(made);
}

/* One bit or a few bytes away from a live handle, with others beside it, there is none. */
static void near_a_live_one(void **state) {
    (void)state;
    enum { LIVE = 40 };
    vscan_ctx *ctx = harness_ctx();
    vscan_buffer *live[LIVE];
    for (int i = 0; i < LIVE; i++) ok(ctx, vscan_buffer_create(ctx, VSCAN_INT, 0, &live[i]));
    const uintptr_t handle = (uintptr_t)live[LIVE / 2];
    for (int bit = 0; bit < 64; bit++) {
        void *wrong = (void *)(handle ^ (uintptr_t)1 << bit);
        assert_int_equal(vscan_buffer_length(wrong), -1);
        refuses(VSCAN_ERROR_HANDLE, vscan_buffer_destroy(wrong));
        refuses(VSCAN_ERROR_HANDLE, vscan_ctx_destroy(wrong));
        refuses(VSCAN_ERROR_HANDLE, vscan_carry_destroy(wrong));
    }
    for (uintptr_t step = 1; step <= 8192; step++) {
        assert_int_equal(vscan_buffer_length((void *)(handle + step)), -1);
        assert_int_equal(vscan_buffer_length((void *)(handle - step)), -1);
    }
    for (int i = 0; i < LIVE; i++) ok(ctx, vscan_buffer_destroy(live[i]));
}

/* ---- Fork ------------------------------------------------------------------------------------ */

enum { MAKERS = 3, CHILDREN = 200 };

static atomic_bool stop;

static vscan_status cpu_ctx(vscan_ctx **ctx) {
    const vscan_ctx_options options = {
        .size = sizeof options, .backend = VSCAN_BACKEND_CPU, .threads = 1};
    return vscan_ctx_create(&options, ctx);
}

/* A context, a buffer and a call, from nothing to nothing. */
static bool one_life(void) {
    vscan_ctx *ctx = NULL;
    vscan_buffer *buffer = NULL;
    const int32_t seven = 7;
    int32_t got = 0;
    bool good = cpu_ctx(&ctx) == VSCAN_OK;
    good = good && vscan_buffer_create(ctx, VSCAN_INT, 10, &buffer) == VSCAN_OK;
    good = good && vscan_buffer_fill(buffer, &seven) == VSCAN_OK;
    good = good && vscan_scan(ctx, VSCAN_PLUS, buffer, buffer, NULL) == VSCAN_OK;
    good = good && vscan_buffer_get(buffer, 9, &got) == VSCAN_OK && got == 70;
    return vscan_buffer_destroy(buffer) == VSCAN_OK && vscan_ctx_destroy(ctx) == VSCAN_OK && good;
}

/* Little but handles: a fork most often comes when one is being made or destroyed. */
static void *make(void *unused) {
    vscan_ctx *ctx = NULL;
    vscan_buffer *buffer = NULL;
    bool good = cpu_ctx(&ctx) == VSCAN_OK;
    while (good && !atomic_load(&stop)) {
        for (int i = 0; good && i < 1000; i++)
            good = vscan_buffer_create(ctx, VSCAN_INT, 0, &buffer) == VSCAN_OK &&
                   vscan_buffer_destroy(buffer) == VSCAN_OK;
        good = good && one_life();
    }
    return vscan_ctx_destroy(ctx) == VSCAN_OK && good ? unused : "a maker failed";
}

/* Forks, and expects 0 of a child that calls f. A child that hangs ends by its alarm. */
static void fork_one(int (*f)(void *), void *argument) {
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        alarm(60);
        _exit(f(argument));
    }
    int status = -1;
    assert_true(waitpid(child, &status, 0) == child);
    if (WIFSIGNALED(status)) fail_msg("the child ended by signal %d", WTERMSIG(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static int live_once(void *unused) {
    (void)unused;
    return one_life() ? 0 : 1;
}

static void fork_while_others_make(void **state) {
    (void)state;
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
    skip(); /* a child may find the lock of the sanitizer's allocator taken, and waits for ever */
#endif
    if (harness_backend != VSCAN_BACKEND_CPU) skip();
    pthread_t makers[MAKERS];
    void *complaint = NULL;
    fflush(NULL);
    atomic_store(&stop, false);
    for (int i = 0; i < MAKERS; i++)
        assert_int_equal(pthread_create(&makers[i], NULL, make, NULL), 0);
    for (int i = 0; i < CHILDREN; i++) fork_one(live_once, NULL);
    atomic_store(&stop, true);
    for (int i = 0; i < MAKERS; i++) {
        assert_int_equal(pthread_join(makers[i], &complaint), 0);
        assert_null(complaint);
    }
}

/* What a thread uses while another one forks. */
struct used {
    vscan_ctx *ctx;
    vscan_buffer *buffer, *idle_buffer;
    vscan_ctx *idle;
    vscan_carry *carry;
    atomic_int scans;
};

static void *use(void *argument) {
    struct used *used = argument;
    while (!atomic_load(&stop)) {
        if (vscan_scan(used->ctx, VSCAN_PLUS, used->buffer, used->buffer, NULL) != VSCAN_OK)
            return "a scan failed";
        atomic_fetch_add(&used->scans, 1);
    }
    return NULL;
}

/* In the child the context either goes on working, or is refused and all that is its can be destroyed. A
   context that nobody used goes on working. */
static int inherit(void *argument) {
    struct used *used = argument;
    int32_t got;
    const vscan_status status = vscan_scan(used->ctx, VSCAN_PLUS, used->buffer, used->buffer, NULL);
    if (status == VSCAN_ERROR_HANDLE) {
        if (strstr(vscan_ctx_last_error(used->ctx), "forked") == NULL) return 1;
        if (vscan_buffer_get(used->buffer, 0, &got) != VSCAN_ERROR_HANDLE) return 2;
        if (strstr(vscan_ctx_last_error(NULL), "forked") == NULL) return 3;
        if (vscan_ctx_destroy(used->ctx) != VSCAN_ERROR_HANDLE) return 4;
    } else if (status != VSCAN_OK || vscan_ctx_destroy(used->ctx) != VSCAN_OK) {
        return 5;
    }
    if (vscan_buffer_destroy(used->buffer) != VSCAN_OK) return 6;
    if (vscan_carry_destroy(used->carry) != VSCAN_OK) return 7;
    if (vscan_buffer_destroy(used->buffer) != VSCAN_ERROR_HANDLE) return 8;
    if (vscan_scan(used->idle, VSCAN_PLUS, used->idle_buffer, used->idle_buffer, NULL) != VSCAN_OK)
        return 9;
    if (vscan_buffer_destroy(used->idle_buffer) != VSCAN_OK) return 10;
    if (vscan_ctx_destroy(used->idle) != VSCAN_OK) return 11;
    return live_once(NULL) == 0 ? 0 : 12;
}

static void fork_while_another_uses(void **state) {
    (void)state;
    if (harness_backend != VSCAN_BACKEND_CPU) skip();
    enum { N = 1 << 20 };
    struct used used = {.ctx = NULL};
    void *complaint = NULL;
    pthread_t user;
    ok(NULL, cpu_ctx(&used.ctx));
    ok(NULL, cpu_ctx(&used.idle));
    ok(NULL, vscan_buffer_create(used.ctx, VSCAN_INT, N, &used.buffer));
    ok(NULL, vscan_buffer_create(used.idle, VSCAN_INT, 10, &used.idle_buffer));
    ok(NULL, vscan_carry_create(used.ctx, VSCAN_PLUS, VSCAN_INT, VSCAN_FORWARD, &used.carry));
    fflush(NULL);
    atomic_store(&stop, false);
    assert_int_equal(pthread_create(&user, NULL, use, &used), 0);
    while (atomic_load(&used.scans) == 0) usleep(100);
    for (int i = 0; i < CHILDREN; i++) fork_one(inherit, &used);
    atomic_store(&stop, true);
    assert_int_equal(pthread_join(user, &complaint), 0);
    assert_null(complaint);
    ok(NULL, vscan_carry_destroy(used.carry));
    ok(NULL, vscan_buffer_destroy(used.buffer));
    ok(NULL, vscan_buffer_destroy(used.idle_buffer));
    ok(NULL, vscan_ctx_destroy(used.idle));
    ok(NULL, vscan_ctx_destroy(used.ctx));
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(destroyed_contexts),      cmocka_unit_test(destroyed_buffers),
        cmocka_unit_test(destroyed_carries),       cmocka_unit_test(no_value_twice),
        cmocka_unit_test(near_a_live_one),         cmocka_unit_test(fork_while_others_make),
        cmocka_unit_test(fork_while_another_uses),
    };
    return harness_run(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
