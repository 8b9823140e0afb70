/* SPDX-License-Identifier: Apache-2.0 */
/* The buffers that tests of refusals use, and the check that nothing was written to them. */
#include "world.h"

#include <string.h>

enum { BYTES = N * 8 };

struct world w;

static unsigned char content(int which, size_t i) {
    return (unsigned char)((size_t)(which * 31) + i * 7 + 1);
}

static vscan_buffer *make_in(vscan_ctx *ctx, vscan_type type, int64_t n) {
    unsigned char bytes[2 * BYTES];
    vscan_buffer *buffer = NULL;
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = content(w.made, i);
    ok(ctx, vscan_buffer_create(ctx, type, n, &buffer));
    ok(ctx, vscan_buffer_upload(buffer, 0, n, bytes));
    w.all[w.made++] = buffer;
    return buffer;
}

vscan_buffer *world_make(vscan_type type, int64_t n) {
    return make_in(w.ctx, type, n);
}

int world_set_up(void **state) {
    (void)state;
    memset(&w, 0, sizeof w);
    w.ctx = harness_new_ctx(0);
    w.other = harness_new_ctx(0);
    w.in = world_make(VSCAN_INT, N + 10);
    vscan_buffer *whole = w.in;
    ok(w.ctx, vscan_buffer_view(whole, 0, N, &w.in));
    ok(w.ctx, vscan_buffer_view(whole, 10, N, &w.shifted));
    w.out = world_make(VSCAN_INT, N);
    w.flags = world_make(VSCAN_INT, N);
    w.initial = world_make(VSCAN_INT, 1);
    w.total = world_make(VSCAN_INT, 1);
    w.totals = world_make(VSCAN_INT, N);
    w.count = world_make(VSCAN_LONG, 1);
    w.of_float = world_make(VSCAN_FLOAT, N);
    w.of_double = world_make(VSCAN_DOUBLE, N);
    w.of_byte = world_make(VSCAN_BYTE, N);
    w.of_bit = world_make(VSCAN_BIT, N);
    w.of_long = world_make(VSCAN_LONG, N);
    w.of_uint8 = world_make(VSCAN_UINT8, N);
    w.shorter = world_make(VSCAN_INT, N - 1);
    w.one_float = world_make(VSCAN_FLOAT, 1);
    w.one_int = world_make(VSCAN_INT, 1);
    w.two_long = world_make(VSCAN_LONG, 2);
    w.foreign = make_in(w.other, VSCAN_INT, N);
    w.one_foreign = make_in(w.other, VSCAN_INT, 1);

    vscan_ctx *gone = harness_new_ctx(0);
    ok(gone, vscan_buffer_create(gone, VSCAN_INT, N, &w.orphan));
    ok(NULL, vscan_ctx_destroy(gone));
    ok(w.ctx, vscan_buffer_create(w.ctx, VSCAN_INT, N, &w.stale));
    ok(NULL, vscan_buffer_destroy(w.stale));
    return 0;
}

int world_tear_down(void **state) {
    (void)state;
    ok(NULL, vscan_buffer_destroy(w.in));
    ok(NULL, vscan_buffer_destroy(w.shifted));
    ok(NULL, vscan_buffer_destroy(w.orphan));
    for (int i = 0; i < w.made; i++) ok(NULL, vscan_buffer_destroy(w.all[i]));
    ok(NULL, vscan_ctx_destroy(w.other));
    ok(NULL, vscan_ctx_destroy(w.ctx));
    return 0;
}

static size_t bytes_of(const vscan_buffer *buffer, unsigned char *last_mask) {
    const size_t n = (size_t)vscan_buffer_length(buffer);
    *last_mask = 255;
    switch (vscan_buffer_type(buffer)) {
    case VSCAN_BIT:
        if (n % 8 != 0) *last_mask = (unsigned char)((1 << n % 8) - 1);
        return (n + 7) / 8;
    case VSCAN_BYTE:
    case VSCAN_UINT8:
        return n;
    case VSCAN_INT:
    case VSCAN_FLOAT:
        return n * 4;
    default:
        return n * 8;
    }
}

/* Nothing has been written anywhere. */
void world_check_untouched(const char *file, int line) {
    for (int b = 0; b < w.made; b++) {
        unsigned char bytes[2 * BYTES], last_mask;
        ok(NULL, vscan_buffer_download(w.all[b], 0, vscan_buffer_length(w.all[b]), bytes));
        const size_t size = bytes_of(w.all[b], &last_mask);
        for (size_t i = 0; i < size; i++) {
            const unsigned char expected =
                content(b, i) & (i == size - 1 ? last_mask : (unsigned char)255);
            if (bytes[i] == expected) continue;
            print_error("buffer %d, byte %zu: %d, was %d\n", b, i, bytes[i], expected);
            _fail(file, line);
        }
    }
}

struct wrong_handle wrong_handle(int i) {
    const struct wrong_handle known[] = {{VSCAN_ERROR_NULL, NULL},
                                         {VSCAN_ERROR_HANDLE, (vscan_buffer *)w.ctx},
                                         {VSCAN_ERROR_HANDLE, w.stale},
                                         {VSCAN_ERROR_HANDLE, w.orphan},
                                         {VSCAN_ERROR_CONTEXT, w.foreign}};
    if (i < 5) return known[i];
    return (struct wrong_handle){VSCAN_ERROR_HANDLE, refusal_stranger(i - 5)};
}

/* The contexts that are none. */
void world_check_contexts(vscan_status (*call)(vscan_ctx *ctx)) {
    vscan_ctx *gone = harness_new_ctx(0);
    ok(NULL, vscan_ctx_destroy(gone));
    refuses(VSCAN_ERROR_NULL, call(NULL));
    assert_non_null(strstr(vscan_ctx_last_error(NULL), "ctx is NULL"));
    refuses(VSCAN_ERROR_HANDLE, call(gone));
    assert_non_null(strstr(vscan_ctx_last_error(NULL), "a destroyed context"));
    refuses(VSCAN_ERROR_HANDLE, call((vscan_ctx *)w.in));
    assert_non_null(strstr(vscan_ctx_last_error(NULL), "a buffer"));
    for (int i = 0; i < REFUSAL_STRANGERS; i++)
        refuses(VSCAN_ERROR_HANDLE, call(refusal_stranger(i)));
    refuses(VSCAN_ERROR_CONTEXT, call(w.other)); /* live, but not that of the buffers */
    world_check_untouched(__FILE__, __LINE__);
}

void world_refuse_counts(void (*refused_with)(vscan_status status, const char *word,
                                              const vscan_count_options *options)) {
    vscan_count_options o = {.size = sizeof o};
    o.count = w.one_int;
    refused_with(VSCAN_ERROR_TYPE, "options->count ", &o);
    o.count = w.two_long;
    refused_with(VSCAN_ERROR_LENGTH, "options->count ", &o);
    vscan_buffer *const taken[] = {w.in, w.out};
    for (int k = 0; k < 2; k++) {
        vscan_buffer *inside = NULL;
        char *const first = vscan_buffer_pointer(taken[k]);
        ok(w.ctx, vscan_buffer_wrap(w.ctx, VSCAN_LONG, first + 16, 1, &inside));
        o.count = inside;
        refused_with(VSCAN_ERROR_OVERLAP, "options->count ", &o);
        ok(NULL, vscan_buffer_destroy(inside));
    }
    o.count = w.count;
    const int64_t sizes[] = {0, -1, 8, sizeof o - 1, INT64_MAX, INT64_MIN};
    for (int k = 0; k < 6; k++) {
        o.size = sizes[k];
        refused_with(VSCAN_ERROR_STRUCT_SIZE, "size", &o);
    }
}
