/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that make buffers, destroy them, and move elements in and out. */
#include <string.h>

#include "fuzz.h"
#include "vectors.h"

/* 0 .. n, of a buffer's length; one wrapped around flags may be as long as a number can be. */
static int64_t up_to(int64_t n) {
    return below(n < INT64_MAX ? n + 1 : n);
}

/* ---- Creation ---------------------------------------------------------------------------------- */

/* Where the handle goes; it must be left alone where the call is refused. */
static vscan_buffer **result_drawn(vscan_buffer **handle) {
    *handle = NULL;
    if (!hostile()) return handle;
    refuse(VSCAN_ERROR_NULL);
    return NULL;
}

static void check_number(vscan_type type, int64_t n) {
    if (n < 0) refuse(VSCAN_ERROR_LENGTH);
    if (type < VSCAN_INT || type > VSCAN_UINT8 || n <= 0) return;
    static const int64_t sizes[] = {4, 4, 8, 1, 0, 8, 1};
    const int64_t size = sizes[type - VSCAN_INT];
    if (size > 0 && n > PTRDIFF_MAX / size) refuse(VSCAN_ERROR_OVERFLOW);
}

void fuzz_buffer_create(void) {
    context_drawn();
    const vscan_type type = (vscan_type)enum_drawn(VSCAN_INT, VSCAN_UINT8, VSCAN_ERROR_ENUM);
    const int64_t n = hostile() ? hostile_number(0) : length_drawn();
    check_number(type, n);
    if (n > LONGEST) refuse(VSCAN_ERROR_HOST_MEMORY); /* -max_allocation_size_mb of fuzz.c */
    vscan_buffer *handle, **const result = result_drawn(&handle);
    const bool fine = right();
    struct buffer *const slot = buffer_slot();
    if (!call_ready("vscan_buffer_create")) return;
    const vscan_status status = vscan_buffer_create(call.ctx_handle, type, n, result);
    if (fine != (handle != NULL)) wrong("status %d, handle %p", (int)status, (void *)handle);
    if (fine) adopt(slot, handle, type, n, NULL);
    call_over("vscan_buffer_create", status);
}

void fuzz_buffer_wrap(void) {
    context_drawn();
    const vscan_type type = (vscan_type)enum_drawn(VSCAN_INT, VSCAN_UINT8, VSCAN_ERROR_ENUM);
    const bool is_type = type >= VSCAN_INT && type <= VSCAN_UINT8;
    int64_t n = below(1000);
    uintptr_t at = (uintptr_t)arena.at + (uintptr_t)below(60000) * 8;
    if (hostile()) {
        n = hostile_number(0);
        check_number(type, n);
        if (n > 0 && right() &&
            (uintptr_t)bytes_of(type, n) > UINTPTR_MAX - at) /* beyond the end of all addresses */
            refuse(VSCAN_ERROR_OVERFLOW);
    }
    if (hostile()) at += (uintptr_t)below(8);
    if (hostile()) at = 0;
    if (at == 0 && n > 0) refuse(VSCAN_ERROR_NULL);
    if (is_type && at % (type == VSCAN_BIT ? 4 : (uintptr_t)bytes_of(type, 1)) != 0)
        refuse(VSCAN_ERROR_ALIGNMENT);
    vscan_buffer *handle, **const result = result_drawn(&handle);
    const bool fine = right();
    struct buffer *const slot = buffer_slot();
    if (!call_ready("vscan_buffer_wrap")) return;
    const vscan_status status = vscan_buffer_wrap(call.ctx_handle, type, (void *)at, n, result);
    if (fine != (handle != NULL)) wrong("status %d, handle %p", (int)status, (void *)handle);
    if (fine) adopt(slot, handle, type, n, at != 0 ? (void *)at : (void *)arena.at);
    call_over("vscan_buffer_wrap", status);
}

/* ---- One buffer -------------------------------------------------------------------------------- */

/* Begins a call on a buffer alone, which its context and its sentence follow. */
static struct arg buffer_drawn(void) {
    call_begin();
    struct context *const home = home_drawn();
    const vscan_type type = type_drawn(ALL_TYPES);
    const struct arg a = below(2) ? vector_drawn(type, length_drawn(), VALUES)
                                  : any_drawn(vector_drawn(type, below(70), FLAGS));
    call.ctx = a.b != NULL ? a.b->ctx : home;
    call.speaker = a.b != NULL ? a.b->ctx->handle : NULL;
    call.home = call.ctx;
    check_buffer(a);
    return a;
}

void fuzz_buffer_view(void) {
    const struct arg a = buffer_drawn();
    const int64_t length = a.b != NULL ? a.b->n : 10;
    int64_t offset = up_to(length), n = up_to(length - offset);
    if (a.b != NULL && a.b->type == VSCAN_BIT) offset = offset / 32 * 32;
    if (hostile()) offset = hostile_number(length);
    if (hostile()) n = hostile_number(length - offset / 2);
    check_range(a, offset, n);
    vscan_buffer *handle, **const result = result_drawn(&handle);
    const bool fine = call.refusals == 0;
    call.untouchable = false;
    struct buffer *const slot = buffer_slot();
    if (!call_ready("vscan_buffer_view")) return;
    const vscan_status status = vscan_buffer_view(a.handle, offset, n, result);
    if (fine != (handle != NULL)) wrong("status %d, handle %p", (int)status, (void *)handle);
    if (fine) adopt_view(slot, handle, a.b, offset, n);
    call_over("vscan_buffer_view", status);
}

void fuzz_buffer_destroy(void) {
    call_begin();
    home_drawn();
    struct arg a = below(2) ? vector_drawn(type_drawn(ALL_TYPES), below(100), OPEN)
                            : any_drawn((struct arg){NULL, NULL});
    /* also one whose context is gone; it is not a.b then */
    struct buffer *found = NULL;
    for (int k = 0; k < BUFFERS; k++)
        if (a.handle != NULL && buffers[k].live && buffers[k].handle == a.handle)
            found = &buffers[k];
    if (found == NULL && a.handle != NULL) refuse(VSCAN_ERROR_HANDLE);
    call.speaker = NULL;
    call.untouchable = false;
    if (!call_ready("vscan_buffer_destroy")) return;
    const vscan_status status = vscan_buffer_destroy(a.handle);
    if (found != NULL && status == VSCAN_OK) forget(found);
    call_over("vscan_buffer_destroy", status);
}

void fuzz_buffer_length(void) {
    const struct arg a = buffer_drawn();
    count_function("vscan_buffer_length");
    const int64_t n = vscan_buffer_length(a.handle);
    if (n != (a.b != NULL ? a.b->n : -1)) wrong("vscan_buffer_length is %lld", (long long)n);
}

void fuzz_buffer_type(void) {
    const struct arg a = buffer_drawn();
    count_function("vscan_buffer_type");
    const vscan_type type = vscan_buffer_type(a.handle);
    if (type != (a.b != NULL ? a.b->type : 0)) wrong("vscan_buffer_type is %d", (int)type);
}

void fuzz_buffer_pointer(void) {
    const struct arg a = buffer_drawn();
    count_function("vscan_buffer_pointer");
    const uintptr_t at = (uintptr_t)vscan_buffer_pointer(a.handle);
    if (at != (a.b != NULL && a.b->n > 0 ? a.b->address : 0)) wrong("vscan_buffer_pointer");
}

/* ---- Elements from and to the host ------------------------------------------------------------- */

/* A range of the buffer, and memory on the host for it. */
struct range {
    int64_t offset, n, bytes;
    unsigned char *host;
};

static struct range range_drawn(struct arg a, bool poisoned) {
    const int64_t length = a.b != NULL ? a.b->n : 10;
    struct range r = {.offset = below(4) ? 0 : up_to(length)};
    if (a.b != NULL && a.b->type == VSCAN_BIT) r.offset = r.offset / 32 * 32;
    r.n = below(4) ? length - r.offset : up_to(length - r.offset);
    if (hostile()) r.offset = hostile_number(length);
    if (hostile()) r.n = hostile_number(length);
    check_range(a, r.offset, r.n);
    const bool fine = call.refusals == 0 && !call.untouchable;
    r.bytes = fine ? bytes_of(a.b->type, r.n) : 64;
    const int64_t skew = below(4) == 3;
    r.host = (unsigned char *)scratch(r.bytes + skew) + skew;
    struct inputs_random random = random_drawn();
    for (int64_t i = 0; i < r.bytes; i++)
        r.host[i] = poisoned ? 0x5b : (unsigned char)inputs_next(&random);
    if (hostile()) {
        r.host = NULL;
        if (r.n != 0) refuse(VSCAN_ERROR_NULL);
    }
    return r;
}

static int64_t byte_of(vscan_type type, int64_t i) {
    return type == VSCAN_BIT ? i / 8 : bytes_of(type, i);
}

void fuzz_buffer_upload(void) {
    const struct arg a = buffer_drawn();
    const struct range r = range_drawn(a, false);
    if (right() && r.n > 0) {
        unsigned char *const v = copy_of(a);
        if (a.b->type != VSCAN_BIT) {
            memcpy(v + byte_of(a.b->type, r.offset), r.host, (size_t)r.bytes);
        } else {
            uint32_t *const words = scratch(r.bytes);
            memcpy(words, r.host, (size_t)r.bytes);
            for (int64_t i = 0; i < r.n; i++)
                maps_put_flag(VSCAN_BIT, v, r.offset + i, maps_flag(VSCAN_BIT, words, i));
        }
        expect(a, v);
    }
    MAKE(vscan_buffer_upload, (a.handle, r.offset, r.n, r.host));
}

void fuzz_buffer_download(void) {
    const struct arg a = buffer_drawn();
    const struct range r = range_drawn(a, true);
    call.waits = true;
    if (r.host != NULL) {
        call.host_vector = r.host;
        call.host_vector_bytes = r.bytes;
        call.host_vector_expected = scratch(r.bytes);
        memset(call.host_vector_expected, 0x5b, (size_t)r.bytes);
    }
    if (right() && r.n > 0) {
        memcpy(call.host_vector_expected, shadow_of(a.b) + byte_of(a.b->type, r.offset),
               (size_t)r.bytes);
        for (int64_t i = r.n; a.b->type == VSCAN_BIT && i % 32 != 0; i++)
            maps_put_flag(VSCAN_BIT, call.host_vector_expected, i, false);
    }
    MAKE(vscan_buffer_download, (a.handle, r.offset, r.n, r.host));
}

void fuzz_buffer_fill(void) {
    const struct arg a = buffer_drawn();
    const vscan_type type = a.b != NULL ? a.b->type : VSCAN_INT;
    const void *const value = value_drawn(type, false);
    if (right()) {
        unsigned char *const v = copy_of(a);
        for (int64_t i = 0; i < a.b->n; i++) put_element(type, v, i, value);
        expect(a, v);
    }
    MAKE(vscan_buffer_fill, (a.handle, value));
}

/* An element's number; one that is not there is refused. */
static int64_t index_drawn(struct arg a) {
    const int64_t n = a.b != NULL ? a.b->n : 10;
    const int64_t i = hostile() ? hostile_number(n) : below(n);
    if (i < 0 || i >= n) refuse(VSCAN_ERROR_RANGE);
    return i;
}

void fuzz_buffer_set(void) {
    const struct arg a = buffer_drawn();
    const vscan_type type = a.b != NULL ? a.b->type : VSCAN_INT;
    const int64_t i = index_drawn(a);
    const void *const value = value_drawn(type, false);
    if (right()) {
        unsigned char *const v = copy_of(a);
        put_element(type, v, i, value);
        expect(a, v);
    }
    MAKE(vscan_buffer_set, (a.handle, i, value));
}

void fuzz_buffer_get(void) {
    const struct arg a = buffer_drawn();
    const int64_t i = index_drawn(a);
    unsigned char *const value = hostile() ? NULL : call.host.value;
    if (value == NULL) refuse(VSCAN_ERROR_NULL);
    call.waits = true;
    if (right() && a.b->type == VSCAN_BIT)
        call.host_expected.value[0] = maps_flag(VSCAN_BIT, shadow_of(a.b), i);
    else if (right())
        expect_host(shadow_of(a.b) + bytes_of(a.b->type, i), a.b->type);
    MAKE(vscan_buffer_get, (a.handle, i, value));
}

void fuzz_buffer_copy(void) {
    const struct arg to = buffer_drawn();
    const vscan_type type = to.b != NULL ? to.b->type : VSCAN_INT;
    const struct arg from =
        output_drawn(type, to.b != NULL && to.b->memory != NULL ? to.b->n : 10, &to);
    check_buffer(from);
    check_like(to, from);
    check_same_or_apart(to, from);
    if (right()) expect(to, copy_of(from));
    MAKE(vscan_buffer_copy, (from.handle, to.handle));
}
