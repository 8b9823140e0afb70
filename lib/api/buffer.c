/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers: creation, wrapping, views, destruction, and moving elements in and out. */
#include "api/check.h"
#include "api/context.h"

#include <inttypes.h>
#include <string.h>

/* ---- Creation -------------------------------------------------------------------------------- */

/* A buffer with its references counted, whose handle is not live yet. */
static vscan_status take_handle(vscan_ctx *ctx, vscan_buffer *root, vscan_buffer **result) {
    vscan_buffer *buffer = vscan__pool_take(&vscan__buffer_pool);
    if (buffer == NULL)
        return VSCAN__FAIL(ctx, VSCAN_ERROR_HOST_MEMORY, "no memory for the buffer's handle");
    buffer->ctx = ctx;
    buffer->root = root != NULL ? root : buffer;
    buffer->root->references++;
    ctx->references++;
    *result = buffer;
    return VSCAN_OK;
}

static void publish(vscan_buffer *buffer, vscan_buffer **result) {
    buffer->bytes = vscan__bytes(buffer->type, buffer->n);
    *result = vscan__publish(buffer);
}

vscan_status vscan_buffer_create(vscan_ctx *ctx, vscan_type type, int64_t n,
                                 vscan_buffer **buffer) {
    VSCAN__ENTER(ctx);
    if (buffer == NULL) return VSCAN__FAIL(ctx, VSCAN_ERROR_NULL, "buffer is NULL");
    int64_t bytes;
    TRY(vscan__check_size(ctx, type, n, &bytes));
    void *pointer = NULL;
    if (bytes > 0) {
        TRY(ctx->backend->may_wait(ctx)); /* allocation is as impossible in a capture as waiting */
        TRY(ctx->backend->allocate(ctx, bytes, &pointer));
    }
    vscan_buffer *made = NULL;
    vscan_status status = VSCAN_OK;
    /* Bits past the last are kept by whatever writes to their word, so they are given a value. */
    if (type == VSCAN_BIT && n % 32 != 0)
        status = ctx->backend->fill(ctx, VSCAN_INT, pointer, n / 32, 1, (union vscan__value){0});
    if (status == VSCAN_OK) status = take_handle(ctx, NULL, &made);
    if (status != VSCAN_OK) {
        if (pointer != NULL) ctx->backend->release(ctx, pointer);
        return status;
    }
    made->type = type;
    made->n = n;
    made->pointer = pointer;
    if (pointer != NULL) vscan__ctx_own(ctx, &made->owned, pointer);
    publish(made, buffer);
    return VSCAN_OK;
}

static vscan_status check_wrapped(vscan_ctx *ctx, vscan_type type, const void *pointer, int64_t n) {
    int64_t bytes;
    TRY(vscan__check_size(ctx, type, n, &bytes));
    if (pointer == NULL && n > 0) return VSCAN__FAIL(ctx, VSCAN_ERROR_NULL, "pointer is NULL");
    uintptr_t partition = type == VSCAN_BIT ? 4 : (uintptr_t)vscan__element_size(type);
    if ((uintptr_t)pointer % partition != 0)
        return VSCAN__FAIL(ctx, VSCAN_ERROR_ALIGNMENT, "pointer is not aligned to %d bytes",
                           (int)partition);
    if ((uintptr_t)bytes > UINTPTR_MAX - (uintptr_t)pointer)
        return VSCAN__FAIL(ctx, VSCAN_ERROR_OVERFLOW,
                           "n is %" PRId64 ": the memory would end beyond the address range", n);
    return bytes > 0 ? ctx->backend->check_pointer(ctx, pointer, bytes) : VSCAN_OK;
}

vscan_status vscan_buffer_wrap(vscan_ctx *ctx, vscan_type type, void *pointer, int64_t n,
                               vscan_buffer **buffer) {
    VSCAN__ENTER(ctx);
    if (buffer == NULL) return VSCAN__FAIL(ctx, VSCAN_ERROR_NULL, "buffer is NULL");
    TRY(check_wrapped(ctx, type, pointer, n));
    vscan_buffer *made = NULL;
    TRY(take_handle(ctx, NULL, &made));
    made->type = type;
    made->n = n;
    made->pointer = n > 0 ? pointer : NULL;
    publish(made, buffer);
    return VSCAN_OK;
}

/* Address of element i; bits: of its word. */
static char *element(const vscan_buffer *buffer, int64_t i) {
    return (char *)buffer->pointer +
           (buffer->type == VSCAN_BIT ? i / 32 * 4 : i * vscan__element_size(buffer->type));
}

vscan_status vscan_buffer_view(vscan_buffer *buffer, int64_t offset, int64_t n,
                               vscan_buffer **view) {
    VSCAN__ENTER_BUFFER(ctx, buffer);
    if (view == NULL) return VSCAN__FAIL(ctx, VSCAN_ERROR_NULL, "view is NULL");
    TRY(vscan__check_range(ctx, buffer, offset, n));
    vscan_buffer *made = NULL; /* the compiler does not see that a failed take returns */
    TRY(take_handle(ctx, buffer->root, &made));
    made->type = buffer->type;
    made->n = n;
    made->pointer = n > 0 ? element(buffer, offset) : NULL;
    publish(made, view);
    return VSCAN_OK;
}

/* ---- Destruction ----------------------------------------------------------------------------- */

vscan_status vscan_buffer_destroy(vscan_buffer *buffer) {
    if (buffer == NULL) return VSCAN_OK;
    vscan__set_running(__func__);
    vscan_buffer *found = vscan__find_buffer(buffer), *root;
    if (found == NULL) return vscan__refuse_buffer(NULL, "buffer", buffer);
    vscan_ctx *ctx = found->ctx; /* perhaps destroyed itself; the buffer has kept its slot */
    if (ctx->lost) { /* what it holds cannot be released: see lose_contexts in core/handle.c */
        vscan__pool_give(&vscan__buffer_pool, found);
        return VSCAN_OK;
    }
    root = found->root;
    pthread_mutex_lock(&ctx->mutex);
    ctx->running = __func__;

    /* a context that was destroyed has waited, and has released the memory */
    if (root->references == 1 && root->pointer != NULL && vscan__is_live(ctx)) {
        vscan_status status = ctx->backend->may_wait(ctx);
        /* Any other failure, of a device that is lost for example, must not keep the buffer. */
        if (status == VSCAN_ERROR_CAPTURE) return vscan__leave(ctx, status);
        /* The caller's memory is not released, but the caller may do so next: NULL only waits. */
        ctx->backend->release(ctx, root->owned.memory);
        if (root->owned.memory != NULL) vscan__ctx_disown(&root->owned);
    }

    vscan__unpublish(found);
    if (found != root) vscan__pool_give(&vscan__buffer_pool, found);
    if (--root->references == 0) vscan__pool_give(&vscan__buffer_pool, root);
    vscan__ctx_unreference(ctx);
    return VSCAN_OK;
}

/* ---- What a buffer is ------------------------------------------------------------------------ */

/* NULL unless it is live and its context too. */
static const vscan_buffer *find_usable(const vscan_buffer *buffer) {
    const vscan_buffer *found = vscan__find_buffer(buffer);
    return found != NULL && vscan__is_live(found->ctx) ? found : NULL;
}

int64_t vscan_buffer_length(const vscan_buffer *buffer) {
    const vscan_buffer *found = find_usable(buffer);
    return found != NULL ? found->n : -1;
}

vscan_type vscan_buffer_type(const vscan_buffer *buffer) {
    const vscan_buffer *found = find_usable(buffer);
    return found != NULL ? found->type : (vscan_type)0;
}

void *vscan_buffer_pointer(const vscan_buffer *buffer) {
    const vscan_buffer *found = find_usable(buffer);
    return found != NULL ? found->pointer : NULL;
}

/* ---- Elements from and to the host ----------------------------------------------------------- */

static vscan_status check_host(vscan_ctx *ctx, const vscan_buffer *buffer, int64_t offset,
                               int64_t n, const void *host) {
    TRY(vscan__check_range(ctx, buffer, offset, n));
    if (host == NULL && n > 0) return VSCAN__FAIL(ctx, VSCAN_ERROR_NULL, "host is NULL");
    return VSCAN_OK;
}

vscan_status vscan_buffer_upload(vscan_buffer *buffer, int64_t offset, int64_t n,
                                 const void *host) {
    VSCAN__ENTER_BUFFER(ctx, buffer);
    TRY(check_host(ctx, buffer, offset, n, host));
    if (n == 0) return VSCAN_OK;
    TRY(ctx->backend->may_wait(ctx));
    int64_t tail = buffer->type == VSCAN_BIT ? n % 32 : 0;
    int64_t bytes = vscan__bytes(buffer->type, n - tail);
    char *to = element(buffer, offset);
    if (bytes > 0) TRY(ctx->backend->upload(ctx, to, host, bytes));
    if (tail == 0) return VSCAN_OK;
    /* The last word's other bits must not change: it goes by way of the scratch space. */
    TRY(ctx->backend->upload(ctx, ctx->scratch, (const char *)host + bytes, 4));
    return ctx->backend->copy_bits(ctx, to + bytes, ctx->scratch, tail);
}

/* Sets the bits of a host word past the first count to 0. */
static void clear_rest(char *word_at, int64_t count) {
    uint32_t word;
    memcpy(&word, word_at, sizeof word);
    word &= (UINT32_C(1) << count) - 1;
    memcpy(word_at, &word, sizeof word);
}

vscan_status vscan_buffer_download(const vscan_buffer *buffer, int64_t offset, int64_t n,
                                   void *host) {
    VSCAN__ENTER_BUFFER(ctx, buffer);
    TRY(check_host(ctx, buffer, offset, n, host));
    TRY(ctx->backend->may_wait(ctx));
    if (n == 0) return ctx->backend->synchronize(ctx);
    int64_t bytes = vscan__bytes(buffer->type, n);
    vscan_status status = vscan__fetch(ctx, host, element(buffer, offset), bytes);
    if (buffer->type == VSCAN_BIT && n % 32 != 0) clear_rest((char *)host + bytes - 4, n % 32);
    return status;
}

/* ---- Single elements ------------------------------------------------------------------------- */

static vscan_status check_place(vscan_ctx *ctx, const vscan_buffer *buffer, int64_t i) {
    if (i >= 0 && i < buffer->n) return VSCAN_OK;
    return VSCAN__FAIL(ctx, VSCAN_ERROR_RANGE,
                       "i is %" PRId64 ", the buffer has %" PRId64 " elements", i, buffer->n);
}

static vscan_status fill(vscan_ctx *ctx, const vscan_buffer *buffer, int64_t first, int64_t n,
                         const void *value) {
    if (value == NULL) return VSCAN__FAIL(ctx, VSCAN_ERROR_NULL, "value is NULL");
    if (n == 0) return VSCAN_OK;
    return ctx->backend->fill(ctx, buffer->type, buffer->pointer, first, n,
                              vscan__load(buffer->type, value));
}

vscan_status vscan_buffer_fill(vscan_buffer *buffer, const void *value) {
    VSCAN__ENTER_BUFFER(ctx, buffer);
    return fill(ctx, buffer, 0, buffer->n, value);
}

vscan_status vscan_buffer_set(vscan_buffer *buffer, int64_t i, const void *value) {
    VSCAN__ENTER_BUFFER(ctx, buffer);
    TRY(check_place(ctx, buffer, i));
    return fill(ctx, buffer, i, 1, value);
}

vscan_status vscan_buffer_get(const vscan_buffer *buffer, int64_t i, void *value) {
    VSCAN__ENTER_BUFFER(ctx, buffer);
    if (value == NULL) return VSCAN__FAIL(ctx, VSCAN_ERROR_NULL, "value is NULL");
    TRY(check_place(ctx, buffer, i));
    TRY(ctx->backend->may_wait(ctx));
    if (buffer->type != VSCAN_BIT)
        return vscan__fetch(ctx, value, element(buffer, i), vscan__element_size(buffer->type));
    uint32_t word;
    TRY(ctx->backend->download(ctx, &word, element(buffer, i), sizeof word));
    *(uint8_t *)value = (word >> (i % 32)) & 1;
    return ctx->backend->synchronize(ctx);
}

/* ---- Copy ------------------------------------------------------------------------------------ */

vscan_status vscan_buffer_copy(const vscan_buffer *from, vscan_buffer *to) {
    VSCAN__ENTER_BUFFER(ctx, to);
    VSCAN__FIND(ctx, from);
    TRY(vscan__check_like(ctx, "to", to, "from", from));
    TRY(vscan__check_same_or_apart(ctx, "to", to, "from", from));
    if (to->n == 0 || to->pointer == from->pointer) return VSCAN_OK;
    if (to->type == VSCAN_BIT)
        return ctx->backend->copy_bits(ctx, to->pointer, from->pointer, to->n);
    return ctx->backend->copy(ctx, to->pointer, from->pointer, to->bytes);
}
