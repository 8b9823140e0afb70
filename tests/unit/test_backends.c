/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the library makes of backends that fail, in every way that they may: how many devices there are,
 * which backend AUTO takes, what a context says. lib/api's own code with backends that are made here. And,
 * by themselves, the contexts of calls on arrays of the host, options structs that have grown, and the
 * sentences of late errors.
 */
#include "api/context.c"
#include "api/device.c"
#include "api/host.c"

#include <stdio.h>

#include "harness.h"
#include "refusal.h"

/* ---- Backends -------------------------------------------------------------------------------- */

static vscan_status failure_of_count, failure_of_open;

static vscan_status count_cuda(int32_t *count) {
    *count = failure_of_count == VSCAN_OK ? 2 : 77;
    if (failure_of_count == VSCAN_OK) return VSCAN_OK;
    return VSCAN__FAIL(NULL, failure_of_count, "the test wants it");
}

static vscan_status count_cpu(int32_t *count) {
    *count = 1;
    return VSCAN_OK;
}

static vscan_status open_cuda(vscan_ctx *ctx, void *stream) {
    (void)stream;
    if (failure_of_open == VSCAN_OK) return VSCAN_OK;
    return VSCAN__FAIL(ctx, failure_of_open, "the test wants it");
}

static int opened, closed; /* contexts of the CPU */

static vscan_status open_cpu(vscan_ctx *ctx, void *stream) {
    (void)ctx, (void)stream;
    opened++;
    return VSCAN_OK;
}

static void close_cpu(vscan_ctx *ctx) {
    (void)ctx;
    closed++;
}

static void close_cuda(vscan_ctx *ctx) {
    (void)ctx;
}

static vscan_status allocate(vscan_ctx *ctx, int64_t bytes, void **pointer) {
    (void)ctx;
    *pointer = malloc((size_t)bytes);
    return VSCAN_OK;
}

static void release(vscan_ctx *ctx, void *pointer) {
    (void)ctx;
    free(pointer);
}

static vscan_status no_wait(vscan_ctx *ctx) {
    (void)ctx;
    return VSCAN_OK;
}

/* A reduction that calls a reduction, which takes another context. */
static int more_calls;
static vscan_status reduce_within(vscan_ctx *ctx, const struct vscan__scan *reduction) {
    (void)ctx;
    int32_t *const total = reduction->total;
    *total = 1;
    if (more_calls-- == 0) return VSCAN_OK;
    int32_t inner = 0;
    const int32_t *const in = reduction->in;
    const vscan_status status =
        vscan_host_reduce(VSCAN_PLUS, VSCAN_INT, VSCAN_FORWARD, in, reduction->n, &inner);
    *total += inner;
    return status;
}

const struct vscan__backend vscan__cuda = {.name = "cuda",
                                           .device_count = count_cuda,
                                           .open = open_cuda,
                                           .close = close_cuda,
                                           .may_wait = no_wait,
                                           .synchronize = no_wait,
                                           .allocate = allocate,
                                           .release = release};
const struct vscan__backend vscan__cpu = {.name = "cpu",
                                          .device_count = count_cpu,
                                          .open = open_cpu,
                                          .close = close_cpu,
                                          .may_wait = no_wait,
                                          .synchronize = no_wait,
                                          .allocate = allocate,
                                          .release = release,
                                          .pairs[vscan__pair_plus_int].reduce = reduce_within};

enum { FIRST_STATUS = 100, LAST_STATUS = 399 };

/* ---- Devices, contexts ----------------------------------------------------------------------- */

static void device_count(void **state) {
    (void)state;
    int32_t count = -1;
    assert_int_equal(vscan_device_count(VSCAN_BACKEND_CPU, NULL), VSCAN_ERROR_NULL);
    for (int status = FIRST_STATUS; status <= LAST_STATUS; status++) {
        failure_of_count = (vscan_status)status;
        count = -1;
        assert_int_equal(vscan_device_count(VSCAN_BACKEND_CUDA, &count), VSCAN_OK);
        assert_int_equal(count, 0);
        assert_string_equal(vscan_ctx_last_error(NULL), "vscan_device_count: count is NULL");
    }
    failure_of_count = VSCAN_OK;
    assert_int_equal(vscan_device_count(VSCAN_BACKEND_CPU, &count), VSCAN_OK);
    assert_int_equal(count, 1);
}

/* What must be for a failure to mean that there is no CUDA. */
static bool means_no_cuda(vscan_status status) {
    static const vscan_status all[] = {VSCAN_ERROR_NO_BACKEND, VSCAN_ERROR_NO_DRIVER,
                                       VSCAN_ERROR_NO_DEVICE, VSCAN_ERROR_NO_KERNEL,
                                       VSCAN_ERROR_BACKEND};
    for (size_t k = 0; k < sizeof all / sizeof all[0]; k++)
        if (status == all[k]) return true;
    return false;
}

static void check_auto(vscan_status status) {
    vscan_ctx_options second = {.size = sizeof second, .device = 1};
    vscan_ctx *ctx = NULL;
    assert_int_equal(vscan_ctx_create(&second, &ctx), status);
    assert_null(ctx);
    refuses(VSCAN_ERROR_NULL, vscan_ctx_create(NULL, NULL));
    if (means_no_cuda(status)) {
        ok(NULL, vscan_ctx_create(NULL, &ctx));
        assert_int_equal(vscan_ctx_backend(ctx), VSCAN_BACKEND_CPU);
        assert_string_equal(vscan_ctx_last_error(NULL), "vscan_ctx_create: ctx is NULL");
        ok(ctx, vscan_ctx_destroy(ctx));
    } else {
        refused(NULL, status, "the test wants it", vscan_ctx_create(NULL, &ctx));
        assert_null(ctx);
    }
}

static void choice_of_auto(void **state) {
    (void)state;
    unsetenv("VSCAN_BACKEND");
    for (int status = FIRST_STATUS; status <= LAST_STATUS; status++) {
        failure_of_count = (vscan_status)status;
        check_auto((vscan_status)status);
        failure_of_count = VSCAN_OK;
        failure_of_open = (vscan_status)status;
        check_auto((vscan_status)status);
        failure_of_open = VSCAN_OK;
    }
    vscan_ctx *ctx = NULL;
    ok(NULL, vscan_ctx_create(NULL, &ctx));
    assert_int_equal(vscan_ctx_backend(ctx), VSCAN_BACKEND_CUDA);
    ok(ctx, vscan_ctx_destroy(ctx));
    int32_t stream = 0;
    const vscan_ctx_options streamed = {
        .size = sizeof streamed, .backend = VSCAN_BACKEND_CPU, .stream = &stream};
    refused(NULL, VSCAN_ERROR_UNSUPPORTED, "options->stream", vscan_ctx_create(&streamed, &ctx));
}

/* ---- Arrays on the host ---------------------------------------------------------------------- */

/* Of as many contexts as there were calls at a time, KEPT are left, and taken by the next calls. */
static void more_calls_than_kept(void **state) {
    (void)state;
    const int before = opened - closed;
    for (int round = 1; round <= 3; round++) {
        int32_t total = 0;
        more_calls = KEPT + 4;
        ok(NULL, vscan_host_reduce(VSCAN_PLUS, VSCAN_INT, VSCAN_FORWARD, &(int32_t){7}, 1, &total));
        assert_int_equal(total, KEPT + 5);
        assert_int_equal(opened - closed - before, KEPT);
        more_calls = KEPT - 1;
        const int had = opened;
        ok(NULL, vscan_host_reduce(VSCAN_PLUS, VSCAN_INT, VSCAN_FORWARD, &(int32_t){7}, 1, &total));
        assert_int_equal(total, KEPT);
        assert_int_equal(opened, had);
    }
}

/* ---- Options --------------------------------------------------------------------------------- */

/* A struct of 16 bytes that has become one of 32: no size between them was ever a struct's. */
static void grown_options(void **state) {
    (void)state;
    enum { FIRST = 16, NOW = 32 };
    int64_t options[6] = {0, 1, 2, 3, 0, 0}, copy[NOW / 8];
    for (int64_t size = 8; size <= (int64_t)sizeof options; size += 8) {
        const bool fits = size >= FIRST; /* the struct may have grown more than once */
        options[0] = size;
        memset(copy, 0, sizeof copy);
        refuses(fits ? VSCAN_OK : VSCAN_ERROR_STRUCT_SIZE,
                vscan__check_options(NULL, options, FIRST, NOW, copy));
        for (int k = 0; k < NOW / 8; k++)
            assert_int_equal(copy[k], fits && 8 * k < size ? options[k] : 0);
    }
    options[4] = 1;
    refuses(VSCAN_ERROR_STRUCT_SIZE, vscan__check_options(NULL, options, FIRST, NOW, copy));
}

/* ---- Late errors ----------------------------------------------------------------------------- */

/* A backend may not know how much room there was; and there may be more functions, or longer names, than a
   sentence has room for. */
static void late_errors(void **state) {
    (void)state;
    static vscan_ctx ctx = {.running = "f"};
    static char names[VSCAN__LATE_FUNCTIONS + 2][80];
    vscan__note_late(&ctx, "g", VSCAN_ERROR_TOTALS_LENGTH, -1, -1);
    assert_int_equal(vscan__report_late(&ctx), VSCAN_ERROR_TOTALS_LENGTH);
    assert_string_equal(ctx.error,
                        "f: an earlier call of g had more segments than room for totals; "
                        "those that fit were written");
    for (int k = 0; k < VSCAN__LATE_FUNCTIONS + 2; k++) {
        snprintf(names[k], sizeof names[k], "%c%050d", 'a' + k, k);
        for (int i = 0; i < 2; i++)
            vscan__note_late(&ctx, names[k], VSCAN_ERROR_POSITION, 7 + k, -1);
    }
    assert_int_equal(ctx.late.functions, VSCAN__LATE_FUNCTIONS);
    assert_int_equal(vscan__report_late(&ctx), VSCAN_ERROR_POSITION);
    assert_int_equal(strlen(ctx.error), VSCAN__ERROR_CAPACITY - 1);
    assert_non_null(strstr(ctx.error, names[0]));
    assert_non_null(strstr(ctx.error, "element 7; errors were found too by b"));
    assert_int_equal(vscan__report_late(&ctx), VSCAN_OK);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(device_count), cmocka_unit_test(choice_of_auto),
        cmocka_unit_test(more_calls_than_kept), cmocka_unit_test(grown_options),
        cmocka_unit_test(late_errors)};
    return harness_run(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
