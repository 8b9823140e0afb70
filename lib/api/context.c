/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts: the choice of a backend, creation, destruction, the stream, threads. */
#include "api/context.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "api/check.h"
#include "api/device.h"
#include "core/threads.h"

/* ---- Creation -------------------------------------------------------------------------------- */

/* Opens the backend's part of a context and allocates what every context has. */
static vscan_status open_parts(vscan_ctx *ctx, void *stream) {
    TRY(ctx->backend->open(ctx, stream));
    vscan_status status = ctx->backend->allocate(ctx, VSCAN__SCRATCH, &ctx->scratch);
    if (status != VSCAN_OK) ctx->backend->close(ctx);
    return status;
}

static vscan_status create_on(vscan_backend backend, const vscan_ctx_options *options,
                              vscan_ctx **result) {
    const struct vscan__backend *table = vscan__backend_table(backend);
    TRY(vscan__check_device(table, options->device));
    if (backend == VSCAN_BACKEND_CPU && options->stream != NULL)
        return VSCAN__FAIL(NULL, VSCAN_ERROR_UNSUPPORTED,
                           "options->stream is set, and the CPU backend has no streams");
    vscan_ctx *ctx = vscan__pool_take(&vscan__ctx_pool);
    if (ctx == NULL)
        return VSCAN__FAIL(NULL, VSCAN_ERROR_HOST_MEMORY, "no memory for the context's handle");
    ctx->backend = table;
    ctx->device = options->device;
    ctx->threads = options->threads;
    ctx->references = 1;
    ctx->running = vscan__running(NULL);
    pthread_mutex_init(&ctx->mutex, NULL); /* cannot fail with default attributes on Linux */

    pthread_mutex_lock(&ctx->mutex);
    vscan_status status = open_parts(ctx, options->stream);
    pthread_mutex_unlock(&ctx->mutex);
    if (status != VSCAN_OK) {
        /* The context does not stay: its sentence becomes the thread's. */
        vscan__restore_thread_error(ctx->error);
        pthread_mutex_destroy(&ctx->mutex);
        vscan__pool_give(&vscan__ctx_pool, ctx);
        return status;
    }
    *result = vscan__publish(ctx);
    return VSCAN_OK;
}

/* The backend that the environment names in place of AUTO; AUTO where it names none. */
static vscan_status ask_environment(vscan_backend *backend) {
    const char *word = getenv("VSCAN_BACKEND");
    *backend = VSCAN_BACKEND_AUTO;
    if (word == NULL || word[0] == 0) return VSCAN_OK;
    if (strcmp(word, vscan__cpu.name) == 0)
        *backend = VSCAN_BACKEND_CPU;
    else if (strcmp(word, vscan__cuda.name) == 0)
        *backend = VSCAN_BACKEND_CUDA;
    else
        return VSCAN__FAIL(NULL, VSCAN_ERROR_VALUE,
                           "VSCAN_BACKEND is \"%.64s\" in the environment, must be cpu or cuda",
                           word);
    return VSCAN_OK;
}

/* Whether CUDA is not there, or cannot be used. Not for lack of memory: a program should not silently
   become slow because a GPU is full. */
static bool cannot_be_used(vscan_status status) {
    return status == VSCAN_ERROR_NO_BACKEND || status == VSCAN_ERROR_NO_DRIVER ||
           status == VSCAN_ERROR_NO_DEVICE || status == VSCAN_ERROR_NO_KERNEL ||
           status == VSCAN_ERROR_BACKEND;
}

vscan_status vscan_ctx_create(const vscan_ctx_options *options, vscan_ctx **ctx) {
    vscan__set_running(__func__);
    if (ctx == NULL) return VSCAN__FAIL(NULL, VSCAN_ERROR_NULL, "ctx is NULL");
    vscan_ctx_options set = {.backend = VSCAN_BACKEND_AUTO};
    if (options != NULL) {
        TRY(vscan__check_options(NULL, options, VSCAN__FIRST_CTX, sizeof set, &set));
        if (set.backend != VSCAN_BACKEND_AUTO)
            TRY(vscan__check_backend("options->backend", set.backend));
        if (set.threads < 0)
            return VSCAN__FAIL(NULL, VSCAN_ERROR_VALUE,
                               "options->threads is %" PRId32 ", must be at least 0", set.threads);
        if (set.unused != 0)
            return VSCAN__FAIL(NULL, VSCAN_ERROR_VALUE, "options->unused is not 0");
    }
    vscan_backend backend = (vscan_backend)set.backend;
    if (backend == VSCAN_BACKEND_AUTO) TRY(ask_environment(&backend));
    if (backend != VSCAN_BACKEND_AUTO) return create_on(backend, &set, ctx);

    char saved[VSCAN__ERROR_CAPACITY];
    vscan__save_thread_error(saved);
    vscan_status status = create_on(VSCAN_BACKEND_CUDA, &set, ctx);
    /* Only device 0 can be the CPU: another number means a GPU. */
    if (set.device != 0 || !cannot_be_used(status)) return status;
    vscan__restore_thread_error(saved);
    return create_on(VSCAN_BACKEND_CPU, &set, ctx);
}

vscan_status vscan__ctx_create_cpu(vscan_ctx **ctx) {
    vscan_ctx *handle = NULL;
    TRY(create_on(VSCAN_BACKEND_CPU, &(vscan_ctx_options){.backend = VSCAN_BACKEND_CPU}, &handle));
    *ctx = vscan__find_ctx(handle);
    return VSCAN_OK;
}

/* ---- Destruction ----------------------------------------------------------------------------- */

void vscan__ctx_own(vscan_ctx *ctx, struct vscan__owned *owned, void *memory) {
    *owned = (struct vscan__owned){memory, ctx->owned, &ctx->owned};
    if (owned->next != NULL) owned->next->link = &owned->next;
    ctx->owned = owned;
}

void vscan__ctx_disown(struct vscan__owned *owned) {
    *owned->link = owned->next;
    if (owned->next != NULL) owned->next->link = owned->link;
    owned->memory = NULL;
}

void vscan__ctx_unreference(vscan_ctx *ctx) {
    const bool last = --ctx->references == 0;
    pthread_mutex_unlock(&ctx->mutex);
    if (!last) return;
    pthread_mutex_destroy(&ctx->mutex);
    vscan__pool_give(&vscan__ctx_pool, ctx);
}

/* Ends the handle, and all of the backend's part: of buffers and carries no more than handles remain. */
static void end(vscan_ctx *ctx) {
    vscan__unpublish(ctx);
    for (struct vscan__owned *owned; (owned = ctx->owned) != NULL;) {
        ctx->backend->release(ctx, owned->memory);
        vscan__ctx_disown(owned);
    }
    ctx->backend->release(ctx, ctx->scratch);
    ctx->backend->close(ctx);
    vscan__ctx_unreference(ctx);
}

vscan_status vscan_ctx_destroy(vscan_ctx *ctx) {
    if (ctx == NULL) return VSCAN_OK;
    TRY(vscan__enter(&ctx, __func__));
    vscan_status status = ctx->backend->may_wait(ctx);
    if (status == VSCAN_ERROR_CAPTURE) return vscan__leave(ctx, status);
    if (status == VSCAN_OK) status = ctx->backend->synchronize(ctx);
    /* Any other failure, of a device that is lost for example, must not keep the context, nor be its last word. */
    if (status < VSCAN_ERROR_TOTALS_LENGTH) status = VSCAN_OK;
    /* The context does not stay: its sentence becomes the thread's. */
    if (status != VSCAN_OK) vscan__restore_thread_error(ctx->error);
    end(ctx);
    return status;
}

void vscan__ctx_end(vscan_ctx *ctx) {
    pthread_mutex_lock(&ctx->mutex);
    end(ctx);
}

/* ---- Running --------------------------------------------------------------------------------- */

vscan_status vscan_ctx_synchronize(vscan_ctx *ctx) {
    VSCAN__ENTER(ctx);
    TRY(ctx->backend->may_wait(ctx));
    return ctx->backend->synchronize(ctx);
}

vscan_status vscan_ctx_set_stream(vscan_ctx *ctx, void *stream) {
    VSCAN__ENTER(ctx);
    return ctx->backend->set_stream(ctx, stream);
}

vscan_status vscan_ctx_get_stream(vscan_ctx *ctx, void **stream) {
    VSCAN__ENTER(ctx);
    if (stream == NULL) return VSCAN__FAIL(ctx, VSCAN_ERROR_NULL, "stream is NULL");
    return ctx->backend->get_stream(ctx, stream);
}

vscan_status vscan_ctx_reserve(vscan_ctx *ctx, vscan_type type, int64_t n) {
    VSCAN__ENTER(ctx);
    int64_t bytes; /* a workspace is far smaller, but such a vector must be possible */
    TRY(vscan__check_size(ctx, type, n, &bytes));
    if (!vscan__has_pairs(type))
        return VSCAN__FAIL(ctx, VSCAN_ERROR_TYPE, "type is %s, must be int, long, float or double",
                           vscan__type_name(type));
    return ctx->backend->reserve(ctx, type, n);
}

vscan_status vscan_ctx_set_threads(vscan_ctx *ctx, int32_t threads) {
    VSCAN__ENTER(ctx);
    if (threads < 0)
        return VSCAN__FAIL(ctx, VSCAN_ERROR_VALUE, "threads is %" PRId32 ", must be at least 0",
                           threads);
    ctx->threads = threads;
    return VSCAN_OK;
}

/* ---- What a context is ----------------------------------------------------------------------- */

vscan_backend vscan_ctx_backend(const vscan_ctx *ctx) {
    const vscan_ctx *found = vscan__find_ctx(ctx);
    if (found == NULL) return VSCAN_BACKEND_AUTO;
    return found->backend == &vscan__cuda ? VSCAN_BACKEND_CUDA : VSCAN_BACKEND_CPU;
}

int32_t vscan_ctx_device(const vscan_ctx *ctx) {
    const vscan_ctx *found = vscan__find_ctx(ctx);
    return found != NULL ? found->device : -1;
}

int32_t vscan_ctx_threads(const vscan_ctx *ctx) {
    vscan_ctx *found = vscan__find_ctx(ctx);
    if (found == NULL) return 0;
    pthread_mutex_lock(&found->mutex);
    const int32_t threads = vscan__threads(found);
    pthread_mutex_unlock(&found->mutex);
    return threads;
}
