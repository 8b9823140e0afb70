/* SPDX-License-Identifier: Apache-2.0 */
/* Calls without vectors: versions, statuses, devices, contexts. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

/* ---- Versions and statuses --------------------------------------------------------------------- */

void fuzz_version(void) {
    count_function("vscan_version");
    if (vscan_version() != VSCAN_VERSION) wrong("vscan_version is %d", (int)vscan_version());
}

void fuzz_version_text(void) {
    count_function("vscan_version_text");
    if (atoi(vscan_version_text()) != VSCAN_VERSION_MAJOR)
        wrong("vscan_version_text is %s", vscan_version_text());
}

static int status_drawn(void) {
    return below(4) == 3 ? (int)hostile_number(VSCAN_OK) : (int)below(500);
}

void fuzz_status_name(void) {
    call_begin();
    const int status = status_drawn();
    const char *const name = vscan_status_name((vscan_status)status);
    count_function("vscan_status_name");
    if (strncmp(name, status == 0 ? "VSCAN_OK" : "VSCAN_ERROR_", 8) != 0 || strlen(name) > 40)
        wrong("the name of status %d", status);
}

void fuzz_status_text(void) {
    call_begin();
    const int status = status_drawn();
    const char *const text = vscan_status_text((vscan_status)status);
    count_function("vscan_status_text");
    const bool unknown =
        strcmp(vscan_status_name((vscan_status)status), "VSCAN_ERROR_UNKNOWN") == 0;
    if (text[0] == 0 || strlen(text) > 200 || unknown != (strstr(text, "no status") != NULL))
        wrong("the text of status %d", status);
}

/* ---- Devices ----------------------------------------------------------------------------------- */

static vscan_backend backend_drawn(void) {
    return (vscan_backend)enum_drawn(VSCAN_BACKEND_CPU, VSCAN_BACKEND_CUDA, VSCAN_ERROR_ENUM);
}

void fuzz_device_count(void) {
    call_begin();
    const vscan_backend backend = backend_drawn();
    int32_t *count = (int32_t *)(void *)call.host.value;
    const int32_t expected = backend == VSCAN_BACKEND_CPU;
    if (hostile()) {
        count = NULL;
        refuse(VSCAN_ERROR_NULL);
    }
    if (right()) expect_host(&expected, VSCAN_INT);
    MAKE(vscan_device_count, (backend, count));
}

/* Which device; those that are not there are refused. */
static int32_t device_drawn(vscan_backend backend) {
    const int32_t device = hostile() ? (int32_t)hostile_number(0) : 0;
    if (backend == VSCAN_BACKEND_CPU && device != 0) refuse(VSCAN_ERROR_NO_DEVICE);
    if (backend == VSCAN_BACKEND_CUDA) refuse(VSCAN_ERROR_NO_BACKEND);
    return device;
}

void fuzz_device_name(void) {
    call_begin();
    const vscan_backend backend = backend_drawn();
    const int32_t device = device_drawn(backend);
    int64_t capacity = 1 + below(100);
    char *name = scratch(capacity);
    if (hostile()) {
        capacity = hostile_number(0);
        if (capacity < 1) refuse(VSCAN_ERROR_LENGTH);
        if (capacity > 0) name = scratch(capacity < 10000 ? capacity : 10000);
    }
    if (hostile()) {
        name = NULL;
        refuse(VSCAN_ERROR_NULL);
    }
    const bool fine = right();
    char *const copy = name;
    if (fine) memset(name, 'x', (size_t)(capacity < 100 ? capacity : 100));
    if (!call_ready("vscan_device_name")) return;
    const vscan_status status = vscan_device_name(backend, device, name, capacity);
    if (fine && memchr(copy, 0, (size_t)(capacity < 10000 ? capacity : 10000)) == NULL)
        wrong("the name has no end");
    call_over("vscan_device_name", status);
}

void fuzz_device_memory(void) {
    call_begin();
    const vscan_backend backend = backend_drawn();
    const int32_t device = device_drawn(backend);
    int64_t total = -1, free_bytes = -1;
    int64_t *const a = below(4) ? &total : NULL, *const b = below(4) ? &free_bytes : NULL;
    const bool fine = right();
    if (!call_ready("vscan_device_memory")) return;
    const vscan_status status = vscan_device_memory(backend, device, a, b);
    const bool as_written = (total > 0) == (fine && a != NULL) && (free_bytes >= 0) == (fine && b);
    if (!as_written || (!fine && (total != -1 || free_bytes != -1)))
        wrong("%lld bytes, %lld free", (long long)total, (long long)free_bytes);
    call_over("vscan_device_memory", status);
}

void fuzz_describe(void) {
    call_begin();
    const int64_t capacity = hostile() ? hostile_number(0) : below(3000);
    const int64_t room = capacity > 0 && capacity < 10000 ? capacity : 0;
    char *const text = one_in(8) || capacity != room ? NULL : scratch(room);
    count_function("vscan_describe");
    const int64_t length = vscan_describe(text, capacity);
    const int64_t kept = length < room ? length : room - 1;
    if (length < 100 || length > 4000 ||
        (text != NULL && room > 0 &&
         (strncmp(text, "version: 1", (size_t)(kept < 10 ? kept : 10)) != 0 ||
          (int64_t)strlen(text) != kept)))
        wrong("vscan_describe returns %lld, capacity %lld", (long long)length, (long long)capacity);
}

/* ---- Contexts ---------------------------------------------------------------------------------- */

static const char *backend_in_environment(void) {
    static const char *const all[] = {NULL, "", "cpu", "cuda", "gpu"};
    const char *const word = all[one_in(4) ? below(5) : 0];
    if (word != NULL) setenv("VSCAN_BACKEND", word, 1);
    return word;
}

static void refuse_backend(const vscan_ctx_options *o, const char *word) {
    vscan_backend backend = (vscan_backend)o->backend;
    if (backend == VSCAN_BACKEND_AUTO && word != NULL && word[0] != 0) {
        if (strcmp(word, "gpu") == 0) refuse(VSCAN_ERROR_VALUE);
        backend = strcmp(word, "cuda") == 0 ? VSCAN_BACKEND_CUDA : VSCAN_BACKEND_CPU;
    }
    if (backend == VSCAN_BACKEND_CUDA) refuse(VSCAN_ERROR_NO_BACKEND);
    if (backend == VSCAN_BACKEND_AUTO && o->device != 0) refuse(VSCAN_ERROR_NO_BACKEND);
    if (backend == VSCAN_BACKEND_CPU && o->device != 0) refuse(VSCAN_ERROR_NO_DEVICE);
    if (o->stream != NULL) refuse(VSCAN_ERROR_UNSUPPORTED);
}

void fuzz_ctx_create(void) {
    call_begin();
    struct context *place = NULL;
    for (int k = 1; k < CONTEXTS; k++)
        if (!contexts[k].live) place = &contexts[k];
    if (place == NULL) return;
    vscan_ctx_options o = {.size = sizeof o};
    o.backend = enum_drawn(VSCAN_BACKEND_AUTO, VSCAN_BACKEND_CPU, VSCAN_ERROR_ENUM);
    if (o.backend == VSCAN_BACKEND_CUDA) call.refusals = 0; /* a value, which is refused below */
    o.threads = (int32_t)below(4);
    if (hostile()) o.threads = (int32_t)hostile_number(0);
    if (hostile()) o.device = (int32_t)hostile_number(0);
    if (hostile()) o.unused = (int32_t)hostile_number(0);
    if (hostile()) o.stream = &o;
    if (o.threads < 0 || o.unused != 0) refuse(VSCAN_ERROR_VALUE);
    const char *const word = backend_in_environment();
    refuse_backend(&o, word);
    vscan_ctx *handle = NULL, **const result = hostile() ? NULL : &handle;
    if (result == NULL) refuse(VSCAN_ERROR_NULL);
    const void *const options = options_drawn(&o, sizeof o);
    const bool fine = right();
    MAKE(vscan_ctx_create, (options, result));
    unsetenv("VSCAN_BACKEND");
    if (fine) context_opened(place, handle, o.threads);
    if (fine != (handle != NULL)) wrong("vscan_ctx_create and its handle differ");
}

void fuzz_ctx_destroy(void) {
    context_drawn();
    struct context *const ctx = call.ctx;
    if (call.ctx_handle == NULL) call.refusals = 0; /* NULL is legal */
    call.speaker = NULL;
    call.waits = ctx != NULL;
    MAKE(vscan_ctx_destroy, (call.ctx_handle));
    if (ctx != NULL) ctx->live = false;
}

void fuzz_ctx_synchronize(void) {
    context_drawn();
    call.waits = true;
    MAKE(vscan_ctx_synchronize, (call.ctx_handle));
}

void fuzz_ctx_set_stream(void) {
    context_drawn();
    refuse(VSCAN_ERROR_UNSUPPORTED);
    MAKE(vscan_ctx_set_stream, (call.ctx_handle, below(2) ? call.home : NULL));
}

void fuzz_ctx_get_stream(void) {
    context_drawn();
    refuse(VSCAN_ERROR_UNSUPPORTED);
    void **const stream = hostile() ? NULL : (void **)(void *)call.host.value;
    if (stream == NULL) refuse(VSCAN_ERROR_NULL);
    MAKE(vscan_ctx_get_stream, (call.ctx_handle, stream));
}

void fuzz_ctx_backend(void) {
    context_drawn();
    count_function("vscan_ctx_backend");
    const vscan_backend backend = vscan_ctx_backend(call.ctx_handle);
    if (backend != (call.ctx != NULL ? VSCAN_BACKEND_CPU : VSCAN_BACKEND_AUTO))
        wrong("vscan_ctx_backend is %d", (int)backend);
}

void fuzz_ctx_device(void) {
    context_drawn();
    count_function("vscan_ctx_device");
    if (vscan_ctx_device(call.ctx_handle) != (call.ctx != NULL ? 0 : -1))
        wrong("vscan_ctx_device is %d", (int)vscan_ctx_device(call.ctx_handle));
}

void fuzz_ctx_threads(void) {
    context_drawn();
    count_function("vscan_ctx_threads");
    const int32_t threads = vscan_ctx_threads(call.ctx_handle);
    const int32_t set = call.ctx != NULL ? call.ctx->threads : 0;
    /* 0: as many as the machine gives, and never more */
    if (call.ctx == NULL ? threads != 0 : threads < 1 || (set != 0 && threads > set))
        wrong("vscan_ctx_threads is %d, %d were set", (int)threads, (int)set);
}

void fuzz_ctx_set_threads(void) {
    context_drawn();
    const int32_t threads = hostile() ? (int32_t)hostile_number(0) : (int32_t)below(4);
    if (threads < 0) refuse(VSCAN_ERROR_VALUE);
    const bool fine = right();
    struct context *const ctx = call.ctx;
    MAKE(vscan_ctx_set_threads, (call.ctx_handle, threads));
    if (fine) ctx->threads = threads;
    /* a number of millions is kept, but the machine need not bear it here */
    if (fine && threads > 3)
        counted("vscan_ctx_set_threads", vscan_ctx_set_threads(ctx->handle, 2));
    if (fine && threads > 3) ctx->threads = 2;
}

void fuzz_ctx_reserve(void) {
    context_drawn();
    const vscan_type type = (vscan_type)enum_drawn(VSCAN_INT, VSCAN_UINT8, VSCAN_ERROR_ENUM);
    const int64_t n = hostile() ? hostile_number(0) : below(1 << 20);
    if (type >= VSCAN_INT && type <= VSCAN_UINT8 && (TYPES(type) & SCANNED) == 0)
        refuse(VSCAN_ERROR_TYPE);
    if (n < 0) refuse(VSCAN_ERROR_LENGTH);
    if (n > PTRDIFF_MAX / 8) refuse(VSCAN_ERROR_OVERFLOW);
    if (n > PTRDIFF_MAX / 8 && n <= PTRDIFF_MAX / 4) return; /* of 4 bytes each it would fit */
    MAKE(vscan_ctx_reserve, (call.ctx_handle, type, n));
}

void fuzz_ctx_last_error(void) {
    context_drawn();
    count_function("vscan_ctx_last_error");
    const char *const text = vscan_ctx_last_error(call.ctx_handle);
    if (text == NULL || strlen(text) >= 512) wrong("the sentence is none");
}
