/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much of the stack calls of the CPU backend use: less than vscan.h promises. Each call is made in a
 * thread with a stack of our own, filled with a pattern before; the lowest byte that has changed tells.
 */
#include "harness.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "calls.h"
#include "inputs.h"

enum { STACK = 1 << 20, PROMISED = 32 << 10, PATTERN = 0xa5, LENGTH = 400000, MOST = 200000 };

struct job {
    vscan_status (*call)(void *argument);
    void *argument;
    char *stack, *begin;
    vscan_status status;
};

static void *run(void *argument) {
    struct job *job = argument;
    job->begin = __builtin_frame_address(0);
    /* below this frame all is as the start of the thread left it */
    job->status = job->call(job->argument);
    return NULL;
}

static vscan_status nothing(void *argument) {
    (void)argument;
    return VSCAN_OK;
}

/* Bytes below the frame of run() that have changed. */
static long used(vscan_status (*call)(void *argument), void *argument, const char *what) {
    struct job job = {.call = call, .argument = argument};
    pthread_attr_t attributes;
    pthread_t thread;
    job.stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(job.stack != MAP_FAILED);
    memset(job.stack, PATTERN, STACK);
    assert_int_equal(pthread_attr_init(&attributes), 0);
    assert_int_equal(pthread_attr_setstack(&attributes, job.stack, STACK), 0);
    assert_int_equal(pthread_create(&thread, &attributes, run, &job), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    pthread_attr_destroy(&attributes);
    const char *lowest = job.stack;
    while (lowest < job.begin && *(const unsigned char *)lowest == PATTERN) lowest++;
    const long bytes = (long)(job.begin - lowest);
    munmap(job.stack, STACK);
    if (job.status != VSCAN_OK && job.status < 400)
        fail_msg("%s: %s", what, vscan_status_name(job.status));
    return bytes;
}

static void check(vscan_status (*call)(void *argument), void *argument, const char *what,
                  long *most) {
    const long bytes = used(call, argument, what);
    if (bytes > *most) *most = bytes;
#if !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__
    if (bytes > PROMISED) fail_msg("%s used %ld bytes of stack", what, bytes);
#endif
}

/* ---- All families of calls.h ----------------------------------------------------------------- */

struct ready {
    const struct call_ready *ready;
    vscan_buffer *outputs[CALL_OUTPUTS];
};

static vscan_status make_ready(void *argument) {
    const struct ready *r = argument;
    return call_make(r->ready, r->outputs);
}

static void check_family(struct call_inputs *inputs, struct inputs_random *random,
                         enum call_family family, long *most) {
    const struct call call = call_draw(random, family, MOST);
    struct call_ready ready;
    char text[CALL_TEXT];
    ok(inputs->ctx, call_open(inputs, &call, &ready));
    struct ready r = {.ready = &ready};
    for (int k = 0; k < CALL_OUTPUTS; k++)
        if (k == 0 || ready.outputs[k].n > 0)
            ok(inputs->ctx, vscan_buffer_create(inputs->ctx, ready.outputs[k].type,
                                                ready.outputs[k].n, &r.outputs[k]));
    check(make_ready, &r, call_text(&call, text), most);
    (void)vscan_ctx_synchronize(inputs->ctx); /* packs may have had no room */
    for (int k = 0; k < CALL_OUTPUTS; k++) ok(NULL, vscan_buffer_destroy(r.outputs[k]));
    call_close(&ready);
}

static void families(void **state) {
    (void)state;
    if (harness_backend != VSCAN_BACKEND_CPU) skip();
    struct inputs_random random = {harness_seed()};
    long most = 0;
    for (int threads = 1; threads <= 2; threads++) {
        vscan_ctx *ctx = harness_new_ctx(threads);
        struct call_inputs inputs = call_inputs(ctx, harness_seed(), LENGTH);
        for (int k = 0; k < (harness_small() ? 6 : 30); k++)
            for (int family = 0; family < CALL_FAMILIES; family++)
                check_family(&inputs, &random, (enum call_family)family, &most);
        call_inputs_free(&inputs);
        ok(NULL, vscan_ctx_destroy(ctx));
    }
    print_message("%ld bytes at most, %ld of them without a call\n", most,
                  used(nothing, NULL, "no call"));
    assert_true(most > 0);
}

/* ---- The others ------------------------------------------------------------------------------ */

enum { N = 100000 };

/* Contexts, buffers of all types, what works element by element or by position, and carries. */
static vscan_status live(void *argument) {
    const vscan_type type = *(const vscan_type *)argument;
    const vscan_ctx_options options = {
        .size = sizeof options, .backend = VSCAN_BACKEND_CPU, .threads = 2};
    vscan_ctx *ctx = NULL;
    vscan_buffer *v[3] = {NULL}, *flags = NULL, *positions = NULL;
    vscan_carry *carry = NULL;
    const int64_t one = 1;
    int failed = vscan_ctx_create(&options, &ctx) != VSCAN_OK;
#define TRIED(call) failed |= (call) != VSCAN_OK
    for (int i = 0; i < 3; i++) TRIED(vscan_buffer_create(ctx, type, N, &v[i]));
    TRIED(vscan_buffer_create(ctx, VSCAN_BIT, N, &flags));
    TRIED(vscan_buffer_create(ctx, VSCAN_LONG, N, &positions));
    TRIED(vscan_index(ctx, N - 1, -1, positions));
    for (int i = 0; i < 3; i++) TRIED(vscan_buffer_fill(v[i], &one));
    TRIED(vscan_buffer_fill(flags, &one));
    TRIED(vscan_convert(ctx, v[0], flags));
    TRIED(vscan_convert(ctx, flags, v[1]));
    TRIED(vscan_select(ctx, flags, v[0], v[1], v[2]));
    TRIED(vscan_buffer_copy(v[2], v[0]));
    if (type == VSCAN_BYTE || type == VSCAN_BIT) {
        TRIED(vscan_map_binary(ctx, VSCAN_BINARY_XOR, v[0], v[1], v[2]));
    } else {
        if (type != VSCAN_UINT8) TRIED(vscan_map_binary(ctx, VSCAN_BINARY_ADD, v[0], v[1], v[2]));
        TRIED(vscan_compare(ctx, VSCAN_LESS, v[0], v[1], flags));
    }
    if (type != VSCAN_BIT) {
        TRIED(vscan_gather(ctx, v[0], positions, v[1]));
        TRIED(vscan_permute(ctx, v[0], positions, v[1], NULL));
    }
    if (type == VSCAN_INT || type == VSCAN_FLOAT || type == VSCAN_DOUBLE) {
        TRIED(vscan_carry_create(ctx, VSCAN_PLUS, type, VSCAN_FORWARD, &carry));
        const vscan_scan_options go_on = {.size = sizeof go_on, .carry = carry};
        const vscan_scan_segmented_options by_flags = {.size = sizeof by_flags, .carry = carry};
        TRIED(vscan_scan(ctx, VSCAN_PLUS, v[0], v[1], &go_on));
        TRIED(vscan_scan(ctx, VSCAN_PLUS, v[0], v[1], &go_on)); /* in the middle of a tile */
        TRIED(vscan_scan_segmented(ctx, VSCAN_PLUS, v[0], flags, v[1], &by_flags));
        TRIED(vscan_carry_destroy(carry));
    }
#undef TRIED
    for (int i = 0; i < 3; i++) failed |= vscan_buffer_destroy(v[i]) != VSCAN_OK;
    failed |= vscan_buffer_destroy(flags) != VSCAN_OK;
    failed |= vscan_buffer_destroy(positions) != VSCAN_OK;
    return vscan_ctx_destroy(ctx) == VSCAN_OK && !failed ? VSCAN_OK : VSCAN_ERROR_BACKEND;
}

static void others(void **state) {
    (void)state;
    if (harness_backend != VSCAN_BACKEND_CPU) skip();
    long most = 0;
    for (vscan_type type = VSCAN_INT; type <= VSCAN_UINT8; type++)
        check(live, &type, "live", &most);
    print_message("%ld bytes at most\n", most);
}

/* Keys of which most have the digit 0 in common, digit after digit: a sort divides what is left once more. */
enum { SORTED = 1200000 };

struct sort {
    vscan_ctx *ctx;
    vscan_buffer *keys, *values;
};

static vscan_status sort(void *argument) {
    const struct sort *s = argument;
    return vscan_sort(s->ctx, s->keys, s->values, s->keys, s->values, NULL);
}

static void sorts(void **state) {
    (void)state;
    if (harness_backend != VSCAN_BACKEND_CPU) skip();
    struct inputs_random random = {harness_seed()};
    long most = 0;
    int64_t *keys = malloc(SORTED * sizeof *keys);
    assert_non_null(keys);
    for (int64_t i = 0; i < SORTED; i++)
        keys[i] = (int64_t)(inputs_next(&random) >> (8 * inputs_below(&random, 8)));
    for (int threads = 1; threads <= 2; threads++) {
        vscan_ctx *ctx = harness_new_ctx(threads);
        struct sort s = {.ctx = ctx};
        ok(ctx, vscan_buffer_create(ctx, VSCAN_LONG, SORTED, &s.keys));
        ok(ctx, vscan_buffer_create(ctx, VSCAN_LONG, SORTED, &s.values));
        ok(ctx, vscan_buffer_upload(s.keys, 0, SORTED, keys));
        ok(ctx, vscan_buffer_upload(s.values, 0, SORTED, keys));
        check(sort, &s, "vscan_sort", &most);
        ok(NULL, vscan_buffer_destroy(s.keys));
        ok(NULL, vscan_buffer_destroy(s.values));
        ok(NULL, vscan_ctx_destroy(ctx));
    }
    free(keys);
    print_message("%ld bytes at most\n", most);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(families), cmocka_unit_test(others),
                                       cmocka_unit_test(sorts)};
    return harness_run(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
