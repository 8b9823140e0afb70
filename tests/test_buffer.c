/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers: creation, wrapping, views, moving elements in and out, and every status on the way. */
#include "harness.h"
#include "refusal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* Sanitizers end the program when malloc is asked for too much, unless told not to. */
#if defined(__SANITIZE_ADDRESS__)
const char *__asan_default_options(void);
const char *__asan_default_options(void) {
    return "allocator_may_return_null=1";
}
#elif defined(__SANITIZE_THREAD__)
const char *__tsan_default_options(void);
const char *__tsan_default_options(void) {
    return "allocator_may_return_null=1";
}
#endif

/* ---- Elements on the host -------------------------------------------------------------------- */

static const vscan_type types[] = {VSCAN_INT,  VSCAN_FLOAT, VSCAN_DOUBLE,
                                   VSCAN_BYTE, VSCAN_BIT,   VSCAN_LONG};
enum { TYPES = 6, MOST = 1000 }; /* MOST: elements of the longest vector here */

static size_t host_bytes(vscan_type type, int64_t n) {
    switch (type) {
    case VSCAN_BIT:
        return (size_t)((n + 31) / 32 * 4);
    case VSCAN_BYTE:
        return (size_t)n;
    case VSCAN_INT:
    case VSCAN_FLOAT:
        return (size_t)n * 4;
    default:
        return (size_t)n * 8;
    }
}

/* A vector on the host; words, so that bits can be looked at as such. */
struct host {
    union {
        uint32_t words[MOST * 2 + 2];
        unsigned char bytes[MOST * 8 + 8];
    };
};

static struct host pattern(int salt) {
    struct host h;
    for (size_t i = 0; i < sizeof h.bytes; i++)
        h.bytes[i] = (unsigned char)((i * 167 + (size_t)salt * 59 + i / 251) & 255);
    return h;
}

static bool bit(const struct host *h, int64_t i) {
    return (h->words[i / 32] >> (i % 32)) & 1;
}

static void put_bit(struct host *h, int64_t i, bool value) {
    const uint32_t mask = UINT32_C(1) << (i % 32);
    h->words[i / 32] = value ? h->words[i / 32] | mask : h->words[i / 32] & ~mask;
}

/* One element from a host vector to another. */
static void put(vscan_type type, struct host *to, int64_t i, const struct host *from, int64_t j) {
    const size_t size = host_bytes(type, 1);
    if (type == VSCAN_BIT)
        put_bit(to, i, bit(from, j));
    else
        memcpy(to->bytes + (size_t)i * size, from->bytes + (size_t)j * size, size);
}

/* What set and fill take for element j: the element, or a byte for a bit. */
static const void *value_of(vscan_type type, const struct host *h, int64_t j) {
    static uint8_t truth;
    truth = bit(h, j) ? 0x40 : 0;
    return type == VSCAN_BIT ? &truth : h->bytes + (size_t)j * host_bytes(type, 1);
}

static vscan_buffer *filled(vscan_type type, int64_t n, const struct host *content) {
    vscan_buffer *buffer = NULL;
    ok(harness_ctx(), vscan_buffer_create(harness_ctx(), type, n, &buffer));
    ok(harness_ctx(), vscan_buffer_upload(buffer, 0, n, content->bytes));
    return buffer;
}

static vscan_buffer *view_of(vscan_buffer *buffer, int64_t offset, int64_t n) {
    vscan_buffer *view = NULL;
    ok(harness_ctx(), vscan_buffer_view(buffer, offset, n, &view));
    return view;
}

/* The first n elements are these. Downloading shows 0 for bits past them. */
static void expect(const vscan_buffer *buffer, int64_t n, struct host expected) {
    const vscan_type type = vscan_buffer_type(buffer);
    struct host got = pattern(99);
    const struct host before = got;
    ok(harness_ctx(), vscan_buffer_download(buffer, 0, n, got.bytes));
    const size_t bytes = host_bytes(type, n);
    if (type == VSCAN_BIT && n % 32 != 0)
        for (int64_t i = n; i % 32 != 0; i++) put_bit(&expected, i, false);
    assert_memory_equal(got.bytes, expected.bytes, bytes);
    assert_memory_equal(got.bytes + bytes, before.bytes + bytes, sizeof got.bytes - bytes);
}

static void destroy(vscan_buffer *buffer) {
    ok(NULL, vscan_buffer_destroy(buffer));
}

/* ---- Creation -------------------------------------------------------------------------------- */

static void create_refused(void **state) {
    (void)state;
    vscan_ctx *ctx = harness_ctx();
    vscan_buffer *const poison = refusal_stranger(0);
    vscan_buffer *b = poison;
    const int64_t large = INT64_C(1) << 60;
    refused(ctx, VSCAN_ERROR_NULL, "buffer", vscan_buffer_create(ctx, VSCAN_INT, 1, NULL));
    const int wrong[] = {0, 7, -1, INT32_MIN, INT32_MAX};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        refused(ctx, VSCAN_ERROR_ENUM, "type",
                vscan_buffer_create(ctx, (vscan_type)wrong[i], 1, &b));
    for (int t = 0; t < TYPES; t++) {
        refused(ctx, VSCAN_ERROR_LENGTH, "n", vscan_buffer_create(ctx, types[t], -1, &b));
        refused(ctx, VSCAN_ERROR_LENGTH, "n", vscan_buffer_create(ctx, types[t], INT64_MIN, &b));
    }
    refused(ctx, VSCAN_ERROR_OVERFLOW, "n", vscan_buffer_create(ctx, VSCAN_INT, 2 * large, &b));
    refused(ctx, VSCAN_ERROR_OVERFLOW, "n", vscan_buffer_create(ctx, VSCAN_DOUBLE, large, &b));
    refused(ctx, VSCAN_ERROR_OVERFLOW, "n", vscan_buffer_create(ctx, VSCAN_LONG, INT64_MAX, &b));

    const vscan_status no_memory =
        harness_backend == VSCAN_BACKEND_CPU ? VSCAN_ERROR_HOST_MEMORY : VSCAN_ERROR_DEVICE_MEMORY;
    refused(ctx, no_memory, "", vscan_buffer_create(ctx, VSCAN_BYTE, large, &b));
    refused(ctx, no_memory, "", vscan_buffer_create(ctx, VSCAN_BIT, INT64_MAX, &b));
    refused(ctx, no_memory, "", vscan_buffer_create(ctx, VSCAN_DOUBLE, large / 8, &b));
    assert_ptr_equal(b, poison);
    ok(ctx, vscan_ctx_synchronize(ctx)); /* the context lives on */
}

static void create_and_ask(void **state) {
    (void)state;
    const int64_t lengths[] = {0, 1, 31, 32, 33, MOST};
    for (int t = 0; t < TYPES; t++)
        for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
            vscan_buffer *buffer = NULL;
            ok(harness_ctx(), vscan_buffer_create(harness_ctx(), types[t], lengths[i], &buffer));
            assert_int_equal(vscan_buffer_length(buffer), lengths[i]);
            assert_int_equal(vscan_buffer_type(buffer), types[t]);
            assert_int_equal(vscan_buffer_pointer(buffer) == NULL, lengths[i] == 0);
            assert_int_equal((uintptr_t)vscan_buffer_pointer(buffer) % 8, 0);
            destroy(buffer);
        }
}

static void wrap(void **state) {
    (void)state;
    vscan_ctx *ctx = harness_ctx();
    const struct host content = pattern(1);
    vscan_buffer *const poison = refusal_stranger(0);
    for (int t = 0; t < TYPES; t++) {
        /* Memory that this backend can use, whichever it is: another buffer's. */
        vscan_buffer *owner = filled(types[t], MOST, &content), *b = poison;
        char *memory = vscan_buffer_pointer(owner);
        refused(ctx, VSCAN_ERROR_NULL, "buffer", vscan_buffer_wrap(ctx, types[t], memory, 5, NULL));
        refused(ctx, VSCAN_ERROR_NULL, "pointer", vscan_buffer_wrap(ctx, types[t], NULL, 5, &b));
        refused(ctx, VSCAN_ERROR_LENGTH, "n", vscan_buffer_wrap(ctx, types[t], memory, -1, &b));
        refused(ctx, VSCAN_ERROR_ENUM, "type",
                vscan_buffer_wrap(ctx, (vscan_type)7, memory, 1, &b));
        if (types[t] != VSCAN_BYTE) {
            refused(ctx, VSCAN_ERROR_ALIGNMENT, "pointer",
                    vscan_buffer_wrap(ctx, types[t], memory + 2, 5, &b));
            refused(ctx, VSCAN_ERROR_ALIGNMENT, "pointer",
                    vscan_buffer_wrap(ctx, types[t], memory + 1, 0, &b));
        }
        refused(ctx, VSCAN_ERROR_OVERFLOW, "n",
                vscan_buffer_wrap(ctx, types[t], (void *)(UINTPTR_MAX - 15), 1000, &b));
        assert_ptr_equal(b, poison);

        ok(ctx, vscan_buffer_wrap(ctx, types[t], memory, MOST, &b));
        assert_ptr_equal(vscan_buffer_pointer(b), memory);
        assert_int_equal(vscan_buffer_length(b), MOST);
        assert_int_equal(vscan_buffer_type(b), types[t]);
        expect(b, MOST, content);
        destroy(b);
        expect(owner, MOST, content); /* not freed */
        ok(ctx, vscan_buffer_wrap(ctx, types[t], NULL, 0, &b));
        destroy(b);
        ok(ctx, vscan_buffer_wrap(ctx, types[t], memory, 0, &b));
        assert_null(vscan_buffer_pointer(b));
        destroy(b);
        destroy(owner);
    }
}

static void wrap_host_memory(void **state) {
    (void)state;
    vscan_ctx *ctx = harness_ctx();
    static int32_t element = 41;
    vscan_buffer *const poison = refusal_stranger(0);
    vscan_buffer *b = poison;
    if (harness_backend == VSCAN_BACKEND_CUDA) {
        /* Systems on which a GPU can use any host memory may accept it. */
        if (vscan_buffer_wrap(ctx, VSCAN_INT, &element, 1, &b) == VSCAN_OK) {
            destroy(b);
            skip();
        }
        refused(ctx, VSCAN_ERROR_POINTER, "pointer",
                vscan_buffer_wrap(ctx, VSCAN_INT, &element, 1, &b));
        assert_ptr_equal(b, poison);
        return;
    }
    ok(ctx, vscan_buffer_wrap(ctx, VSCAN_INT, &element, 1, &b));
    int32_t value = 42;
    ok(ctx, vscan_buffer_set(b, 0, &value));
    destroy(b);
    assert_int_equal(element, 42);
}

/* ---- Views and lifetimes --------------------------------------------------------------------- */

static void view_refused(void **state) {
    (void)state;
    vscan_ctx *ctx = harness_ctx();
    const struct host content = pattern(2);
    vscan_buffer *const poison = refusal_stranger(0);
    for (int t = 0; t < TYPES; t++) {
        vscan_buffer *b = filled(types[t], 96, &content), *v = poison;
        refused(ctx, VSCAN_ERROR_NULL, "view", vscan_buffer_view(b, 0, 1, NULL));
        const int64_t ranges[][2] = {
            {-1, 1},  {0, -1},        {0, 97},        {96, 1},          {97, 0},
            {64, 33}, {INT64_MAX, 1}, {1, INT64_MAX}, {INT64_MIN, 100}, {32, INT64_MIN}};
        for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++)
            refused(ctx, VSCAN_ERROR_RANGE, ranges[i][0] < 0 ? "offset" : "n",
                    vscan_buffer_view(b, ranges[i][0], ranges[i][1], &v));
        if (types[t] == VSCAN_BIT)
            refused(ctx, VSCAN_ERROR_ALIGNMENT, "offset", vscan_buffer_view(b, 33, 5, &v));
        assert_ptr_equal(v, poison);
        destroy(b);
    }
}

static void views(void **state) {
    (void)state;
    const struct host content = pattern(3);
    for (int t = 0; t < TYPES; t++) {
        vscan_buffer *b = filled(types[t], MOST, &content);
        vscan_buffer *v = view_of(b, 64, 500), *w = view_of(v, 32, 77), *e = view_of(b, 992, 0);
        assert_int_equal(vscan_buffer_length(v), 500);
        assert_int_equal(vscan_buffer_type(w), types[t]);
        assert_ptr_equal(vscan_buffer_pointer(w),
                         (char *)vscan_buffer_pointer(b) + host_bytes(types[t], 96));
        assert_int_equal(vscan_buffer_length(e), 0);
        assert_null(vscan_buffer_pointer(e));

        /* The memory lives as long as any handle to it; the handles die one by one. */
        struct host part = pattern(98);
        for (int64_t i = 0; i < 77; i++) put(types[t], &part, i, &content, 96 + i);
        expect(w, 77, part);
        destroy(b);
        assert_int_equal(vscan_buffer_length(b), -1);
        refused(NULL, VSCAN_ERROR_HANDLE, "buffer", vscan_buffer_destroy(b));
        expect(w, 77, part);
        destroy(v);
        refused(NULL, VSCAN_ERROR_HANDLE, "buffer", vscan_buffer_destroy(v));
        expect(w, 77, part);
        vscan_buffer *x = view_of(w, 0, 77); /* a view of what is left of a destroyed buffer */
        destroy(w);
        expect(x, 77, part);
        destroy(x);
        destroy(e);
    }
}

/* Every function that takes a buffer refuses this one; the sentence is with the thread. */
static void refuse_everywhere(vscan_buffer *b, vscan_status status) {
    vscan_ctx *ctx = harness_ctx();
    uint64_t value = 0x5a5a5a5a5a5a5a5a;
    vscan_buffer *const poison = refusal_stranger(0);
    vscan_buffer *v = poison;
    refused(NULL, status, "buffer", vscan_buffer_view(b, 0, 0, &v));
    refused(NULL, status, "buffer", vscan_buffer_upload(b, 0, 0, &value));
    refused(NULL, status, "buffer", vscan_buffer_download(b, 0, 1, &value));
    refused(NULL, status, "buffer", vscan_buffer_fill(b, &value));
    refused(NULL, status, "buffer", vscan_buffer_set(b, 0, &value));
    refused(NULL, status, "buffer", vscan_buffer_get(b, 0, &value));
    refused(NULL, status, "to", vscan_buffer_copy(b, b));
    assert_int_equal(vscan_buffer_length(b), -1);
    assert_int_equal(vscan_buffer_type(b), 0);
    assert_null(vscan_buffer_pointer(b));
    const struct host content = pattern(4);
    vscan_buffer *live = filled(VSCAN_INT, 4, &content);
    refused(ctx, status, "from", vscan_buffer_copy(live, b));
    expect(live, 4, content);
    destroy(live);
    assert_ptr_equal(v, poison);
    assert_true(value == 0x5a5a5a5a5a5a5a5a);
}

static void handles(void **state) {
    (void)state;
    ok(NULL, vscan_buffer_destroy(NULL));
    refuse_everywhere(NULL, VSCAN_ERROR_NULL);
    for (int i = 0; i < REFUSAL_STRANGERS; i++) {
        refuse_everywhere(refusal_stranger(i), VSCAN_ERROR_HANDLE);
        refused(NULL, VSCAN_ERROR_HANDLE, "buffer", vscan_buffer_destroy(refusal_stranger(i)));
    }
    refuse_everywhere((vscan_buffer *)harness_ctx(), VSCAN_ERROR_HANDLE);
    refused(NULL, VSCAN_ERROR_HANDLE, "a context",
            vscan_buffer_destroy((vscan_buffer *)harness_ctx()));

    const struct host content = pattern(5);
    vscan_buffer *stale = filled(VSCAN_INT, 10, &content);
    destroy(stale);
    vscan_buffer *later[50];
    for (int i = 0; i < 50; i++) later[i] = filled(VSCAN_INT, 1, &content);
    refuse_everywhere(stale, VSCAN_ERROR_HANDLE);
    refused(NULL, VSCAN_ERROR_HANDLE, "destroyed", vscan_buffer_destroy(stale));
    for (int i = 0; i < 50; i++) destroy(later[i]);
}

/* A context goes before its buffers: these can be destroyed, in any order, and nothing else. */
static void orphans(void **state) {
    (void)state;
    vscan_ctx *ctx = harness_new_ctx(0);
    vscan_buffer *b = NULL, *v = NULL, *w = NULL, *wrapped = NULL, *empty = NULL;
    ok(ctx, vscan_buffer_create(ctx, VSCAN_INT, 100, &b));
    ok(ctx, vscan_buffer_view(b, 10, 20, &v));
    ok(ctx, vscan_buffer_view(v, 1, 2, &w));
    ok(ctx, vscan_buffer_wrap(ctx, VSCAN_INT, vscan_buffer_pointer(b), 5, &wrapped));
    ok(ctx, vscan_buffer_create(ctx, VSCAN_INT, 0, &empty));
    ok(NULL, vscan_ctx_destroy(ctx));
    refused(NULL, VSCAN_ERROR_HANDLE, "ctx", vscan_ctx_destroy(ctx));
    vscan_buffer *const all[] = {v, wrapped, b, empty, w};
    for (int i = 0; i < 5; i++) refuse_everywhere(all[i], VSCAN_ERROR_HANDLE);
    for (int i = 0; i < 5; i++) {
        vscan_ctx *later = harness_new_ctx(0); /* does not take the place of the one that is kept */
        refuse_everywhere(all[i], VSCAN_ERROR_HANDLE);
        destroy(all[i]);
        refused(NULL, VSCAN_ERROR_HANDLE, "buffer", vscan_buffer_destroy(all[i]));
        ok(NULL, vscan_ctx_destroy(later));
    }
}

/* Views until there is no memory for one more: refused, and nothing is lost. */
static void handles_exhausted(void **state) {
    (void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    skip(); /* sanitizers need address space of their own */
#endif
    if (harness_backend != VSCAN_BACKEND_CPU) skip(); /* drivers too; the handles are the same */
    enum { VIEWS = 1 << 20 };
    const struct host content = pattern(20);
    vscan_buffer *b = filled(VSCAN_INT, 8, &content), *const poison = refusal_stranger(0);
    vscan_buffer **view = malloc(VIEWS * sizeof(vscan_buffer *));
    assert_non_null(view);

    /* What the program has mapped, in pages, is the first number there. */
    FILE *file = fopen("/proc/self/statm", "r");
    unsigned long pages = 0;
    if (file == NULL || fscanf(file, "%lu", &pages) != 1) skip();
    fclose(file);
    struct rlimit before, tight;
    assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
    tight = before;
    tight.rlim_cur = pages * (unsigned long)sysconf(_SC_PAGESIZE) + (16UL << 20);
    assert_int_equal(setrlimit(RLIMIT_AS, &tight), 0);

    int made = 0;
    vscan_status status = VSCAN_OK;
    for (; made < VIEWS; made++) {
        view[made] = poison;
        status = vscan_buffer_view(b, 0, 8, &view[made]);
        if (status != VSCAN_OK) break;
    }
    vscan_buffer *wrapped = poison;
    vscan_status status_of_wrap =
        vscan_buffer_wrap(harness_ctx(), VSCAN_INT, vscan_buffer_pointer(b), 8, &wrapped);
    assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
    refuses(VSCAN_ERROR_HOST_MEMORY, status);
    refuses(VSCAN_ERROR_HOST_MEMORY, status_of_wrap);
    assert_ptr_equal(view[made], poison);
    assert_ptr_equal(wrapped, poison);

    expect(view[made - 1], 8, content);
    vscan_buffer *one_more = view_of(b, 0, 8);
    destroy(one_more);
    for (int i = 0; i < made; i++) destroy(view[i]);
    expect(b, 8, content);
    destroy(b);
    free(view);
}

/* ---- Upload, download ------------------------------------------------------------------------ */

static void transfer_refused(void **state) {
    (void)state;
    vscan_ctx *ctx = harness_ctx();
    const struct host content = pattern(6);
    struct host host = pattern(7);
    for (int t = 0; t < TYPES; t++) {
        vscan_buffer *b = filled(types[t], 96, &content);
        const int64_t ranges[][2] = {{-32, 1},
                                     {0, -1},
                                     {0, 97},
                                     {64, 33},
                                     {128, 0},
                                     {96, INT64_MAX},
                                     {INT64_MAX, INT64_MAX}};
        for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
            const int64_t offset = ranges[i][0], n = ranges[i][1];
            refused(ctx, VSCAN_ERROR_RANGE, offset < 0 ? "offset" : "n",
                    vscan_buffer_upload(b, offset, n, host.bytes));
            refused(ctx, VSCAN_ERROR_RANGE, offset < 0 ? "offset" : "n",
                    vscan_buffer_download(b, offset, n, host.bytes));
        }
        refused(ctx, VSCAN_ERROR_NULL, "host", vscan_buffer_upload(b, 0, 1, NULL));
        refused(ctx, VSCAN_ERROR_NULL, "host", vscan_buffer_download(b, 0, 1, NULL));
        if (types[t] == VSCAN_BIT) {
            refused(ctx, VSCAN_ERROR_ALIGNMENT, "offset",
                    vscan_buffer_upload(b, 31, 1, host.bytes));
            refused(ctx, VSCAN_ERROR_ALIGNMENT, "offset",
                    vscan_buffer_download(b, 1, 1, host.bytes));
        }
        ok(ctx, vscan_buffer_upload(b, 32, 0, NULL));
        ok(ctx, vscan_buffer_download(b, 96, 0, NULL));
        expect(b, 96, content);
        destroy(b);
    }
    const struct host before = pattern(7);
    assert_memory_equal(&host, &before, sizeof host);
}

static void parts(void **state) {
    (void)state;
    vscan_ctx *ctx = harness_ctx();
    const struct host old = pattern(8), new = pattern(9);
    const int64_t lengths[] = {1, 5, 31, 32, 33, 63, 64, 65, 500};
    for (int t = 0; t < TYPES; t++)
        for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
            const int64_t n = lengths[i], offset = 96;
            vscan_buffer *b = filled(types[t], MOST, &old);
            ok(ctx, vscan_buffer_upload(b, offset, n, new.bytes));
            struct host expected = old, part = pattern(10);
            for (int64_t k = 0; k < n; k++) put(types[t], &expected, offset + k, &new, k);
            expect(b, MOST, expected);
            ok(ctx, vscan_buffer_download(b, offset, n, part.bytes));
            struct host begin = new;
            if (types[t] == VSCAN_BIT)
                for (int64_t k = n; k % 32 != 0; k++) put_bit(&begin, k, false);
            assert_memory_equal(part.bytes, begin.bytes, host_bytes(types[t], n));
            destroy(b);
        }
}

/* Host addresses need no alignment. */
static void unaligned_host(void **state) {
    (void)state;
    vscan_ctx *ctx = harness_ctx();
    const struct host content = pattern(11);
    char memory[1 + 70 * 8], back[3 + 70 * 8];
    for (int t = 0; t < TYPES; t++) {
        const size_t bytes = host_bytes(types[t], 70);
        vscan_buffer *b = filled(types[t], 70, &content);
        memcpy(memory + 1, content.bytes, bytes);
        ok(ctx, vscan_buffer_upload(b, 0, 70, memory + 1));
        ok(ctx, vscan_buffer_download(b, 0, 64, back + 3));
        assert_memory_equal(back + 3, content.bytes, host_bytes(types[t], 64));
        ok(ctx, vscan_buffer_fill(b, memory + 1));
        ok(ctx, vscan_buffer_get(b, 69, back + 3));
        if (types[t] == VSCAN_BIT)
            assert_int_equal(back[3], memory[1] != 0);
        else
            assert_memory_equal(back + 3, memory + 1, host_bytes(types[t], 1));
        destroy(b);
    }
}

/* ---- Fill, set, get, copy -------------------------------------------------------------------- */

static void element_refused(void **state) {
    (void)state;
    vscan_ctx *ctx = harness_ctx();
    const struct host content = pattern(12);
    const int64_t places[] = {-1, 40, 41, INT64_MAX, INT64_MIN};
    for (int t = 0; t < TYPES; t++) {
        vscan_buffer *b = filled(types[t], 40, &content), *empty = view_of(b, 0, 0);
        uint64_t value = 0x5a5a5a5a5a5a5a5a;
        for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
            refused(ctx, VSCAN_ERROR_RANGE, "i", vscan_buffer_set(b, places[i], &value));
            refused(ctx, VSCAN_ERROR_RANGE, "i", vscan_buffer_get(b, places[i], &value));
        }
        refused(ctx, VSCAN_ERROR_RANGE, "i", vscan_buffer_set(empty, 0, &value));
        refused(ctx, VSCAN_ERROR_RANGE, "i", vscan_buffer_get(empty, 0, &value));
        refused(ctx, VSCAN_ERROR_NULL, "value", vscan_buffer_fill(b, NULL));
        refused(ctx, VSCAN_ERROR_NULL, "value", vscan_buffer_set(b, 0, NULL));
        refused(ctx, VSCAN_ERROR_NULL, "value", vscan_buffer_get(b, 0, NULL));
        ok(ctx, vscan_buffer_fill(empty, &value));
        assert_true(value == 0x5a5a5a5a5a5a5a5a);
        expect(b, 40, content);
        destroy(empty);
        destroy(b);
    }
}

static void fill(void **state) {
    (void)state;
    vscan_ctx *ctx = harness_ctx();
    const struct host old = pattern(13), values = pattern(14);
    const int64_t lengths[] = {0, 1, 7, 31, 32, 33, 64, 71, 800};
    for (int t = 0; t < TYPES; t++)
        for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++)
            for (int64_t j = 0; j < 4; j++) {
                const int64_t n = lengths[i];
                vscan_buffer *b = filled(types[t], MOST, &old), *v = view_of(b, 64, n);
                ok(ctx, vscan_buffer_fill(v, value_of(types[t], &values, j)));
                struct host expected = old;
                for (int64_t k = 0; k < n; k++) put(types[t], &expected, 64 + k, &values, j);
                expect(b, MOST, expected);
                destroy(v);
                destroy(b);
            }
}

static void set_and_get(void **state) {
    (void)state;
    vscan_ctx *ctx = harness_ctx();
    const struct host old = pattern(15), values = pattern(16);
    for (int t = 0; t < TYPES; t++) {
        vscan_buffer *b = filled(types[t], MOST, &old), *v = view_of(b, 32, 70);
        struct host expected = old;
        const int64_t places[] = {0, 1, 30, 31, 32, 33, 63, 64, 69};
        for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
            ok(ctx, vscan_buffer_set(v, places[i], value_of(types[t], &values, (int64_t)i)));
            put(types[t], &expected, 32 + places[i], &values, (int64_t)i);
        }
        expect(b, MOST, expected);
        for (int64_t i = 0; i < 70; i++) {
            unsigned char got[9], one[8] = {0};
            memset(got, 0x5a, sizeof got);
            ok(ctx, vscan_buffer_get(v, i, got));
            const size_t size = types[t] == VSCAN_BIT ? 1 : host_bytes(types[t], 1);
            if (types[t] == VSCAN_BIT)
                one[0] = bit(&expected, 32 + i);
            else
                memcpy(one, expected.bytes + (size_t)(32 + i) * size, size);
            assert_memory_equal(got, one, size);
            assert_int_equal(got[size], 0x5a);
        }
        destroy(v);
        destroy(b);
    }
}

static void copy(void **state) {
    (void)state;
    vscan_ctx *ctx = harness_ctx();
    const struct host old = pattern(17), new = pattern(18);
    const int64_t lengths[] = {0, 1, 31, 32, 33, 70, 500};
    for (int t = 0; t < TYPES; t++)
        for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
            const int64_t n = lengths[i];
            vscan_buffer *to = filled(types[t], MOST, &old), *from = filled(types[t], MOST, &new);
            vscan_buffer *a = view_of(to, 32, n), *b = view_of(from, 64, n);
            ok(ctx, vscan_buffer_copy(a, b));
            struct host expected = old;
            for (int64_t k = 0; k < n; k++) put(types[t], &expected, 32 + k, &new, 64 + k);
            expect(to, MOST, expected);
            expect(from, MOST, new);
            ok(ctx, vscan_buffer_copy(to, to));
            expect(to, MOST, expected);
            destroy(a);
            destroy(b);
            destroy(to);
            destroy(from);
        }
}

static void copy_refused(void **state) {
    (void)state;
    vscan_ctx *ctx = harness_ctx(), *other = harness_new_ctx(0);
    const struct host old = pattern(19);
    for (int t = 0; t < TYPES; t++) {
        vscan_buffer *b = filled(types[t], 256, &old), *foreign = NULL;
        vscan_buffer *a = view_of(b, 0, 100), *shifted = view_of(b, 64, 100);
        vscan_buffer *apart = view_of(b, 128, 100), *longer = view_of(b, 128, 101);
        vscan_buffer *typed = filled(types[(t + 1) % TYPES], 100, &old);
        vscan_buffer *none = view_of(b, 64, 0), *none_too = view_of(b, 0, 0);
        ok(other, vscan_buffer_create(other, types[t], 100, &foreign));
        refused(ctx, VSCAN_ERROR_CONTEXT, "from", vscan_buffer_copy(a, foreign));
        refused(other, VSCAN_ERROR_CONTEXT, "from", vscan_buffer_copy(foreign, a));
        refused(ctx, VSCAN_ERROR_TYPE, "to", vscan_buffer_copy(a, typed));
        refused(ctx, VSCAN_ERROR_LENGTH, "to", vscan_buffer_copy(a, longer));
        refused(ctx, VSCAN_ERROR_LENGTH, "to", vscan_buffer_copy(a, none));
        refused(ctx, VSCAN_ERROR_OVERLAP, "to", vscan_buffer_copy(a, shifted));
        refused(ctx, VSCAN_ERROR_OVERLAP, "to", vscan_buffer_copy(shifted, a));
        refused(ctx, VSCAN_ERROR_NULL, "from", vscan_buffer_copy(a, NULL));
        ok(ctx, vscan_buffer_copy(none, none_too)); /* nothing overlaps nothing */
        expect(b, 256, old);
        ok(ctx, vscan_buffer_copy(apart, a));
        vscan_buffer *const all[] = {a, shifted, apart, longer, typed, none, none_too, foreign, b};
        for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) destroy(all[i]);
    }
    ok(NULL, vscan_ctx_destroy(other));
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(create_refused),
        cmocka_unit_test(create_and_ask),
        cmocka_unit_test(wrap),
        cmocka_unit_test(wrap_host_memory),
        cmocka_unit_test(view_refused),
        cmocka_unit_test(views),
        cmocka_unit_test(handles),
        cmocka_unit_test(orphans),
        cmocka_unit_test(handles_exhausted),
        cmocka_unit_test(transfer_refused),
        cmocka_unit_test(parts),
        cmocka_unit_test(unaligned_host),
        cmocka_unit_test(element_refused),
        cmocka_unit_test(fill),
        cmocka_unit_test(set_and_get),
        cmocka_unit_test(copy),
        cmocka_unit_test(copy_refused),
    };
    return harness_run(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
