/* SPDX-License-Identifier: Apache-2.0 */
/* Devices and contexts: every status that their functions document, what they do when all is well,
   and the sentences of vscan_ctx_last_error. */
#include "harness.h"
#include "refusal.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static int32_t cuda_devices(void) {
    int32_t count = -1;
    ok(NULL, vscan_device_count(VSCAN_BACKEND_CUDA, &count));
    return count;
}

/* The statuses that say that CUDA cannot be used here. */
static bool says_no_cuda(vscan_status status) {
    return status == VSCAN_ERROR_NO_BACKEND || status == VSCAN_ERROR_NO_DRIVER ||
           status == VSCAN_ERROR_NO_DEVICE;
}

/* ---- Devices --------------------------------------------------------------------------------- */

static void device_count(void **state) {
    (void)state;
    int32_t count = -7;
    refused(NULL, VSCAN_ERROR_ENUM, "backend", vscan_device_count(VSCAN_BACKEND_AUTO, &count));
    refused(NULL, VSCAN_ERROR_ENUM, "backend", vscan_device_count((vscan_backend)3, &count));
    refused(NULL, VSCAN_ERROR_ENUM, "backend", vscan_device_count((vscan_backend)-1, &count));
    refused(NULL, VSCAN_ERROR_NULL, "count", vscan_device_count(VSCAN_BACKEND_CPU, NULL));
    assert_int_equal(count, -7);

    ok(NULL, vscan_device_count(VSCAN_BACKEND_CPU, &count));
    assert_int_equal(count, 1);
    assert_true(cuda_devices() >= 0);
    /* That there is no CUDA is an answer: no failure is left behind. */
    assert_non_null(strstr(vscan_ctx_last_error(NULL), "count is NULL"));
}

static void device_name(void **state) {
    (void)state;
    char name[256], cut[5];
    memset(name, '#', sizeof name);
    const vscan_backend backend = harness_backend;
    refused(NULL, VSCAN_ERROR_ENUM, "backend",
            vscan_device_name(VSCAN_BACKEND_AUTO, 0, name, sizeof name));
    refused(NULL, VSCAN_ERROR_NULL, "name", vscan_device_name(backend, 0, NULL, 10));
    refused(NULL, VSCAN_ERROR_LENGTH, "capacity", vscan_device_name(backend, 0, name, 0));
    refused(NULL, VSCAN_ERROR_LENGTH, "capacity", vscan_device_name(backend, 0, name, -1));
    refused(NULL, VSCAN_ERROR_NO_DEVICE, "device", vscan_device_name(backend, -1, name, 10));
    refused(NULL, VSCAN_ERROR_NO_DEVICE, "device", vscan_device_name(backend, 1000, name, 10));
    for (size_t i = 0; i < sizeof name; i++) assert_int_equal(name[i], '#');

    ok(NULL, vscan_device_name(backend, 0, name, sizeof name));
    assert_true(strlen(name) > 0);
    ok(NULL, vscan_device_name(backend, 0, cut, sizeof cut));
    assert_true(strlen(cut) < sizeof cut);
    assert_int_equal(strncmp(cut, name, sizeof cut - 1), 0);
    ok(NULL, vscan_device_name(backend, 0, cut, 1));
    assert_string_equal(cut, "");
}

static void device_memory(void **state) {
    (void)state;
    int64_t total = -7, available = -7;
    const vscan_backend backend = harness_backend;
    refused(NULL, VSCAN_ERROR_ENUM, "backend",
            vscan_device_memory((vscan_backend)9, 0, &total, &available));
    refused(NULL, VSCAN_ERROR_NO_DEVICE, "device",
            vscan_device_memory(backend, 1000, &total, &available));
    refused(NULL, VSCAN_ERROR_NO_DEVICE, "device",
            vscan_device_memory(backend, -1, &total, &available));
    assert_int_equal(total, -7);
    assert_int_equal(available, -7);

    ok(NULL, vscan_device_memory(backend, 0, &total, &available));
    assert_true(total > 0);
    assert_true(available > 0 && available <= total);
    ok(NULL, vscan_device_memory(backend, 0, NULL, NULL));
}

static void without_cuda(void **state) {
    (void)state;
    if (cuda_devices() > 0) skip();
    char name[16] = "########";
    vscan_status status = vscan_device_name(VSCAN_BACKEND_CUDA, 0, name, sizeof name);
    assert_true(says_no_cuda(status));
    assert_true(strlen(vscan_ctx_last_error(NULL)) > strlen("vscan_device_name: "));
    int64_t bytes = -7;
    assert_int_equal(vscan_device_memory(VSCAN_BACKEND_CUDA, 0, &bytes, &bytes), status);
    assert_int_equal(bytes, -7);
    assert_string_equal(name, "########");

    const vscan_ctx_options options = {.size = sizeof options, .backend = VSCAN_BACKEND_CUDA};
    vscan_ctx *poison = (vscan_ctx *)name, *ctx = poison;
    refused(NULL, status, "", vscan_ctx_create(&options, &ctx));
    assert_ptr_equal(ctx, poison);
}

/* ---- Creation -------------------------------------------------------------------------------- */

static void create_refused(void **state) {
    (void)state;
    vscan_ctx *const poison = refusal_stranger(0);
    vscan_ctx *ctx = poison;
    vscan_ctx_options options = {.size = sizeof options, .backend = (int32_t)harness_backend};

    refused(NULL, VSCAN_ERROR_NULL, "ctx", vscan_ctx_create(&options, NULL));
    refused(NULL, VSCAN_ERROR_NULL, "ctx", vscan_ctx_create(NULL, NULL));
    const int64_t sizes[] = {0, -1, 8, sizeof options - 1, INT64_MAX, INT64_MIN};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        options.size = sizes[i];
        refused(NULL, VSCAN_ERROR_STRUCT_SIZE, "size", vscan_ctx_create(&options, &ctx));
    }
    options.size = sizeof options;
    options.backend = 3;
    refused(NULL, VSCAN_ERROR_ENUM, "backend", vscan_ctx_create(&options, &ctx));
    options.backend = -1;
    refused(NULL, VSCAN_ERROR_ENUM, "backend", vscan_ctx_create(&options, &ctx));
    options.backend = (int32_t)harness_backend;
    options.threads = -1;
    refused(NULL, VSCAN_ERROR_VALUE, "threads", vscan_ctx_create(&options, &ctx));
    options.threads = 0;
    options.unused = 1;
    refused(NULL, VSCAN_ERROR_VALUE, "unused", vscan_ctx_create(&options, &ctx));
    options.unused = 0;
    options.device = -1;
    refused(NULL, VSCAN_ERROR_NO_DEVICE, "device", vscan_ctx_create(&options, &ctx));
    options.device = 1000;
    refused(NULL, VSCAN_ERROR_NO_DEVICE, "device", vscan_ctx_create(&options, &ctx));
    options.device = 0;
    options.backend = VSCAN_BACKEND_CPU;
    options.stream = refusal_stranger(0);
    refused(NULL, VSCAN_ERROR_UNSUPPORTED, "stream", vscan_ctx_create(&options, &ctx));
    assert_ptr_equal(ctx, poison);
}

/* Programs built against a later header: its further members are zero, or refused. */
static void create_larger_options(void **state) {
    (void)state;
    struct {
        vscan_ctx_options known;
        char later[24];
    } options = {.known = {.size = sizeof options, .backend = (int32_t)harness_backend}};
    vscan_ctx *const poison = refusal_stranger(0);
    vscan_ctx *ctx = poison;
    options.later[sizeof options.later - 1] = 1;
    refused(NULL, VSCAN_ERROR_STRUCT_SIZE, "size", vscan_ctx_create(&options.known, &ctx));
    assert_ptr_equal(ctx, poison);
    options.later[sizeof options.later - 1] = 0;
    ok(NULL, vscan_ctx_create(&options.known, &ctx));
    ok(NULL, vscan_ctx_destroy(ctx));
}

static vscan_backend created(const vscan_ctx_options *options) {
    vscan_ctx *ctx = NULL;
    ok(NULL, vscan_ctx_create(options, &ctx));
    const vscan_backend backend = vscan_ctx_backend(ctx);
    assert_int_equal(vscan_ctx_device(ctx), 0);
    ok(NULL, vscan_ctx_destroy(ctx));
    return backend;
}

/* AUTO, the environment in its place, and never in place of an explicit choice. */
static void choice_of_backend(void **state) {
    (void)state;
    const char *word = getenv("VSCAN_BACKEND");
    char *before = word != NULL ? strdup(word) : NULL;
    const bool cuda = cuda_devices() > 0;
    const vscan_ctx_options chosen = {.size = sizeof chosen, .backend = (int32_t)harness_backend};
    vscan_ctx_options second = {.size = sizeof second, .device = 1000};
    vscan_ctx *const poison = refusal_stranger(0);
    vscan_ctx *ctx = poison;

    unsetenv("VSCAN_BACKEND");
    assert_int_equal(created(NULL), cuda ? VSCAN_BACKEND_CUDA : VSCAN_BACKEND_CPU);
    /* AUTO with another device than 0 means a GPU, and does not turn into the CPU. */
    assert_true(says_no_cuda(vscan_ctx_create(&second, &ctx)));
    setenv("VSCAN_BACKEND", "", 1);
    assert_int_equal(created(NULL), cuda ? VSCAN_BACKEND_CUDA : VSCAN_BACKEND_CPU);

    setenv("VSCAN_BACKEND", "cpu", 1);
    assert_int_equal(created(NULL), VSCAN_BACKEND_CPU);
    assert_int_equal(created(&chosen), harness_backend);
    refused(NULL, VSCAN_ERROR_NO_DEVICE, "device", vscan_ctx_create(&second, &ctx));
    second.device = 0;
    second.stream = refusal_stranger(0);
    refused(NULL, VSCAN_ERROR_UNSUPPORTED, "stream", vscan_ctx_create(&second, &ctx));

    setenv("VSCAN_BACKEND", "cuda", 1);
    if (cuda)
        assert_int_equal(created(NULL), VSCAN_BACKEND_CUDA);
    else
        assert_true(says_no_cuda(vscan_ctx_create(NULL, &ctx)));
    assert_int_equal(created(&chosen), harness_backend);

    setenv("VSCAN_BACKEND", "abacus", 1);
    refused(NULL, VSCAN_ERROR_VALUE, "VSCAN_BACKEND", vscan_ctx_create(NULL, &ctx));
    assert_non_null(strstr(vscan_ctx_last_error(NULL), "abacus"));
    assert_int_equal(created(&chosen), harness_backend);
    assert_ptr_equal(ctx, poison);

    if (before != NULL)
        setenv("VSCAN_BACKEND", before, 1);
    else
        unsetenv("VSCAN_BACKEND");
    free(before);
}

/* ---- Handles --------------------------------------------------------------------------------- */

/* Every function that takes a context refuses this one, with this status. */
static void refuse_everywhere(vscan_ctx *ctx, vscan_status status) {
    void *stream = refusal_stranger(0);
    vscan_buffer *const poison = refusal_stranger(0);
    vscan_buffer *buffer = poison;
    int32_t element = 0;
    refused(NULL, status, "ctx", vscan_ctx_synchronize(ctx));
    refused(NULL, status, "ctx", vscan_ctx_set_stream(ctx, NULL));
    refused(NULL, status, "ctx", vscan_ctx_get_stream(ctx, &stream));
    refused(NULL, status, "ctx", vscan_ctx_set_threads(ctx, 1));
    refused(NULL, status, "ctx", vscan_ctx_reserve(ctx, VSCAN_INT, 1));
    refused(NULL, status, "ctx", vscan_buffer_create(ctx, VSCAN_INT, 1, &buffer));
    refused(NULL, status, "ctx", vscan_buffer_wrap(ctx, VSCAN_INT, &element, 1, &buffer));
    refused(NULL, status, "ctx", vscan_scan(ctx, VSCAN_PLUS, NULL, NULL, NULL));
    refused(NULL, status, "ctx", vscan_scan_segmented(ctx, VSCAN_PLUS, NULL, NULL, NULL, NULL));
    refused(NULL, status, "ctx", vscan_reduce(ctx, VSCAN_PLUS, NULL, NULL, NULL));
    assert_int_equal(vscan_ctx_backend(ctx), 0);
    assert_int_equal(vscan_ctx_device(ctx), -1);
    assert_int_equal(vscan_ctx_threads(ctx), 0);
    /* No text of its own: the thread's, which is about this very call. */
    assert_non_null(strstr(vscan_ctx_last_error(ctx), "vscan_reduce: ctx"));
    assert_ptr_equal(stream, refusal_stranger(0));
    assert_ptr_equal(buffer, poison);
    if (ctx != NULL) refused(NULL, status, "ctx", vscan_ctx_destroy(ctx));
}

static void handles(void **state) {
    (void)state;
    ok(NULL, vscan_ctx_destroy(NULL));
    refuse_everywhere(NULL, VSCAN_ERROR_NULL);
    for (int i = 0; i < REFUSAL_STRANGERS; i++)
        refuse_everywhere(refusal_stranger(i), VSCAN_ERROR_HANDLE);

    vscan_ctx *ctx = harness_new_ctx(0);
    refuse_everywhere((vscan_ctx *)((char *)ctx + 8), VSCAN_ERROR_HANDLE);
    vscan_buffer *buffer = NULL;
    ok(ctx, vscan_buffer_create(ctx, VSCAN_INT, 3, &buffer));
    refuse_everywhere((vscan_ctx *)buffer, VSCAN_ERROR_HANDLE);
    assert_non_null(strstr(vscan_ctx_last_error(NULL), "a buffer"));
    ok(ctx, vscan_buffer_destroy(buffer));

    ok(NULL, vscan_ctx_destroy(ctx));
    refuse_everywhere(ctx, VSCAN_ERROR_HANDLE);
    /* Later contexts do not bring the stale handle back to life. */
    vscan_ctx *later[4];
    for (int i = 0; i < 4; i++) later[i] = harness_new_ctx(0);
    refuse_everywhere(ctx, VSCAN_ERROR_HANDLE);
    assert_non_null(strstr(vscan_ctx_last_error(NULL), "destroyed"));
    for (int i = 0; i < 4; i++) ok(NULL, vscan_ctx_destroy(later[i]));
}

/* More contexts and buffers at a time than the first slab of either pool has. */
static void many(void **state) {
    (void)state;
    enum { CONTEXTS = 40, BUFFERS = 1000 };
    const int contexts = harness_backend == VSCAN_BACKEND_CUDA ? 20 : CONTEXTS;
    vscan_ctx *ctx[CONTEXTS];
    vscan_buffer *buffer[BUFFERS];
    for (int repetition = 0; repetition < 2; repetition++) {
        for (int i = 0; i < contexts; i++) ctx[i] = harness_new_ctx(0);
        for (int i = 0; i < BUFFERS; i++)
            ok(NULL, vscan_buffer_create(ctx[i % contexts], VSCAN_INT, i % 3, &buffer[i]));
        for (int i = 0; i < BUFFERS; i++) assert_int_equal(vscan_buffer_length(buffer[i]), i % 3);
        for (int i = 0; i < BUFFERS; i++) ok(NULL, vscan_buffer_destroy(buffer[i]));
        for (int i = 0; i < BUFFERS; i++)
            refuses(VSCAN_ERROR_HANDLE, vscan_buffer_destroy(buffer[i]));
        for (int i = 0; i < contexts; i++) ok(NULL, vscan_ctx_destroy(ctx[i]));
        for (int i = 0; i < contexts; i++) refuses(VSCAN_ERROR_HANDLE, vscan_ctx_destroy(ctx[i]));
    }
}

/* ---- The last error -------------------------------------------------------------------------- */

static void last_error(void **state) {
    (void)state;
    vscan_ctx *ctx = harness_new_ctx(0), *other = harness_new_ctx(0);
    assert_string_equal(vscan_ctx_last_error(ctx), "");

    refused(ctx, VSCAN_ERROR_VALUE, "threads", vscan_ctx_set_threads(ctx, -5));
    assert_string_equal(vscan_ctx_last_error(other), "");
    refused(NULL, VSCAN_ERROR_NULL, "ctx", vscan_ctx_synchronize(NULL));
    refused(ctx, VSCAN_ERROR_LENGTH, "-3", vscan_ctx_reserve(ctx, VSCAN_INT, -3));
    ok(ctx, vscan_ctx_synchronize(ctx)); /* success leaves the text */
    assert_string_equal(vscan_ctx_last_error(ctx), "vscan_ctx_reserve: n is -3, negative");
    assert_non_null(strstr(vscan_ctx_last_error(NULL), "vscan_ctx_synchronize: ctx is NULL"));

    ok(NULL, vscan_ctx_destroy(other));
    ok(NULL, vscan_ctx_destroy(ctx));
}

static void *in_another_thread(void *ctx) {
    const char *fresh = vscan_ctx_last_error(NULL);
    if (strcmp(fresh, "") != 0) return "the thread's own text is not empty at first";
    if (strstr(vscan_ctx_last_error(ctx), "vscan_ctx_reserve") == NULL)
        return "the context's text is not seen from another thread";
    if (vscan_ctx_destroy(refusal_stranger(0)) != VSCAN_ERROR_HANDLE) return "not refused";
    if (strstr(vscan_ctx_last_error(NULL), "vscan_ctx_destroy") == NULL) return "no text";
    return NULL;
}

static void last_error_of_threads(void **state) {
    (void)state;
    vscan_ctx *ctx = harness_ctx();
    refused(ctx, VSCAN_ERROR_LENGTH, "n", vscan_ctx_reserve(ctx, VSCAN_INT, -1));
    refused(NULL, VSCAN_ERROR_NULL, "ctx", vscan_ctx_reserve(NULL, VSCAN_INT, 1));
    const char *mine = vscan_ctx_last_error(NULL);
    pthread_t thread;
    void *complaint = NULL;
    assert_int_equal(pthread_create(&thread, NULL, in_another_thread, ctx), 0);
    assert_int_equal(pthread_join(thread, &complaint), 0);
    if (complaint != NULL) fail_msg("%s", (const char *)complaint);
    assert_non_null(strstr(mine, "vscan_ctx_reserve: ctx is NULL"));
}

/* ---- The rest -------------------------------------------------------------------------------- */

static void streams(void **state) {
    (void)state;
    vscan_ctx *ctx = harness_new_ctx(0);
    void *stream = refusal_stranger(0);
    refused(ctx, VSCAN_ERROR_NULL, "stream", vscan_ctx_get_stream(ctx, NULL));
    if (harness_backend == VSCAN_BACKEND_CPU) {
        refused(ctx, VSCAN_ERROR_UNSUPPORTED, "stream", vscan_ctx_get_stream(ctx, &stream));
        assert_ptr_equal(stream, refusal_stranger(0));
        refused(ctx, VSCAN_ERROR_UNSUPPORTED, "stream", vscan_ctx_set_stream(ctx, stream));
        refused(ctx, VSCAN_ERROR_UNSUPPORTED, "stream", vscan_ctx_set_stream(ctx, NULL));
    } else {
        /* The caller's stream is here that of another context. */
        vscan_ctx *lender = harness_new_ctx(0);
        void *own = NULL, *lent = NULL;
        ok(ctx, vscan_ctx_get_stream(ctx, &own));
        ok(lender, vscan_ctx_get_stream(lender, &lent));
        ok(ctx, vscan_ctx_set_stream(ctx, lent));
        ok(ctx, vscan_ctx_get_stream(ctx, &stream));
        assert_ptr_equal(stream, lent);
        ok(ctx, vscan_ctx_synchronize(ctx));
        ok(ctx, vscan_ctx_set_stream(ctx, NULL));
        ok(ctx, vscan_ctx_get_stream(ctx, &stream));
        assert_ptr_equal(stream, own);
        ok(NULL, vscan_ctx_destroy(lender));
    }
    ok(NULL, vscan_ctx_destroy(ctx));
}

static void threads(void **state) {
    (void)state;
    vscan_ctx *ctx = harness_new_ctx(3);
    assert_int_equal(vscan_ctx_threads(ctx), 3);
    refused(ctx, VSCAN_ERROR_VALUE, "threads", vscan_ctx_set_threads(ctx, -1));
    refused(ctx, VSCAN_ERROR_VALUE, "threads", vscan_ctx_set_threads(ctx, INT32_MIN));
    assert_int_equal(vscan_ctx_threads(ctx), 3);
    ok(ctx, vscan_ctx_set_threads(ctx, 1));
    assert_int_equal(vscan_ctx_threads(ctx), 1);
    ok(ctx, vscan_ctx_set_threads(ctx, 0));
    assert_true(vscan_ctx_threads(ctx) >= 1);
    ok(NULL, vscan_ctx_destroy(ctx));
}

static void reserve(void **state) {
    (void)state;
    vscan_ctx *ctx = harness_new_ctx(0);
    static const vscan_type types[] = {VSCAN_INT, VSCAN_FLOAT, VSCAN_DOUBLE, VSCAN_LONG};
    for (size_t k = 0; k < sizeof types / sizeof types[0]; k++) {
        const vscan_type type = types[k];
        refused(ctx, VSCAN_ERROR_LENGTH, "n", vscan_ctx_reserve(ctx, type, -1));
        refused(ctx, VSCAN_ERROR_LENGTH, "n", vscan_ctx_reserve(ctx, type, INT64_MIN));
        refused(ctx, VSCAN_ERROR_OVERFLOW, "n", vscan_ctx_reserve(ctx, type, INT64_MAX));
        refused(ctx, VSCAN_ERROR_OVERFLOW, "n", vscan_ctx_reserve(ctx, type, INT64_C(1) << 61));
        ok(ctx, vscan_ctx_reserve(ctx, type, 0));
        ok(ctx, vscan_ctx_reserve(ctx, type, 1 << 20));
        ok(ctx, vscan_ctx_reserve(ctx, type, 1));
    }
    static const vscan_type wrong[] = {VSCAN_BYTE, VSCAN_BIT, VSCAN_UINT8};
    for (size_t k = 0; k < sizeof wrong / sizeof wrong[0]; k++)
        refused(ctx, VSCAN_ERROR_TYPE, "type", vscan_ctx_reserve(ctx, wrong[k], 1));
    refused(ctx, VSCAN_ERROR_ENUM, "type", vscan_ctx_reserve(ctx, (vscan_type)0, 1));
    refused(ctx, VSCAN_ERROR_ENUM, "type", vscan_ctx_reserve(ctx, (vscan_type)7, 1));
    refused(ctx, VSCAN_ERROR_ENUM, "type", vscan_ctx_reserve(ctx, (vscan_type)-1, 1));
    ok(ctx, vscan_ctx_synchronize(ctx));
    ok(NULL, vscan_ctx_destroy(ctx));
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(device_count),
        cmocka_unit_test(device_name),
        cmocka_unit_test(device_memory),
        cmocka_unit_test(without_cuda),
        cmocka_unit_test(create_refused),
        cmocka_unit_test(create_larger_options),
        cmocka_unit_test(choice_of_backend),
        cmocka_unit_test(handles),
        cmocka_unit_test(many),
        cmocka_unit_test(last_error),
        cmocka_unit_test(last_error_of_threads),
        cmocka_unit_test(streams),
        cmocka_unit_test(threads),
        cmocka_unit_test(reserve),
    };
    return harness_run(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
