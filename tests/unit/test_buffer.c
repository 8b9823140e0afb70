/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers: creation, wrapping, views, lifetimes, and every status on the way. */
#include "elements.h"
#include "harness.h"
#include "refusal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
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
    for (int t = 0; t < ELEMENTS_TYPES; t++) {
        refused(ctx, VSCAN_ERROR_LENGTH, "n", vscan_buffer_create(ctx, elements_types[t], -1, &b));
        refused(ctx, VSCAN_ERROR_LENGTH, "n",
                vscan_buffer_create(ctx, elements_types[t], INT64_MIN, &b));
    }
    refused(ctx, VSCAN_ERROR_OVERFLOW, "n", vscan_buffer_create(ctx, VSCAN_INT, 2 * large, &b));
    refused(ctx, VSCAN_ERROR_OVERFLOW, "n", vscan_buffer_create(ctx, VSCAN_DOUBLE, large, &b));
    refused(ctx, VSCAN_ERROR_OVERFLOW, "n", vscan_buffer_create(ctx, VSCAN_LONG, INT64_MAX, &b));
    assert_ptr_equal(b, poison);
}

static void memory_exhausted(void **state) {
    (void)state;
    vscan_ctx *ctx = harness_ctx();
    vscan_buffer *const poison = refusal_stranger(0);
    vscan_buffer *b = poison;
    const bool cuda = harness_backend == VSCAN_BACKEND_CUDA;
    if (cuda && harness_small()) skip(); /* compute-sanitizer takes a refusal for an error */
    const vscan_status no_memory = cuda ? VSCAN_ERROR_DEVICE_MEMORY : VSCAN_ERROR_HOST_MEMORY;
    refused(ctx, no_memory, "", vscan_buffer_create(ctx, VSCAN_BYTE, INT64_C(1) << 60, &b));
    refused(ctx, no_memory, "", vscan_buffer_create(ctx, VSCAN_BIT, INT64_MAX, &b));
    refused(ctx, no_memory, "", vscan_buffer_create(ctx, VSCAN_DOUBLE, INT64_C(1) << 57, &b));
    assert_ptr_equal(b, poison);
    ok(ctx, vscan_ctx_synchronize(ctx)); /* the context lives on */
}

static void create_and_ask(void **state) {
    (void)state;
    const int64_t lengths[] = {0, 1, 31, 32, 33, ELEMENTS_MOST};
    for (int t = 0; t < ELEMENTS_TYPES; t++)
        for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
            vscan_buffer *buffer = NULL;
            ok(harness_ctx(),
               vscan_buffer_create(harness_ctx(), elements_types[t], lengths[i], &buffer));
            assert_int_equal(vscan_buffer_length(buffer), lengths[i]);
            assert_int_equal(vscan_buffer_type(buffer), elements_types[t]);
            assert_int_equal(vscan_buffer_pointer(buffer) == NULL, lengths[i] == 0);
            assert_int_equal((uintptr_t)vscan_buffer_pointer(buffer) % 8, 0);
            elements_destroy(buffer);
        }
}

static void wrap(void **state) {
    (void)state;
    vscan_ctx *ctx = harness_ctx();
    const struct elements content = elements_pattern(1);
    vscan_buffer *const poison = refusal_stranger(0);
    for (int t = 0; t < ELEMENTS_TYPES; t++) {
        /* Memory that this backend can use, whichever it is: another buffer's. */
        vscan_buffer *owner = elements_buffer(elements_types[t], ELEMENTS_MOST, &content),
                     *b = poison;
        char *memory = vscan_buffer_pointer(owner);
        refused(ctx, VSCAN_ERROR_NULL, "buffer",
                vscan_buffer_wrap(ctx, elements_types[t], memory, 5, NULL));
        refused(ctx, VSCAN_ERROR_NULL, "pointer",
                vscan_buffer_wrap(ctx, elements_types[t], NULL, 5, &b));
        refused(ctx, VSCAN_ERROR_LENGTH, "n",
                vscan_buffer_wrap(ctx, elements_types[t], memory, -1, &b));
        refused(ctx, VSCAN_ERROR_ENUM, "type",
                vscan_buffer_wrap(ctx, (vscan_type)7, memory, 1, &b));
        if (elements_types[t] != VSCAN_BYTE && elements_types[t] != VSCAN_UINT8) {
            refused(ctx, VSCAN_ERROR_ALIGNMENT, "pointer",
                    vscan_buffer_wrap(ctx, elements_types[t], memory + 2, 5, &b));
            refused(ctx, VSCAN_ERROR_ALIGNMENT, "pointer",
                    vscan_buffer_wrap(ctx, elements_types[t], memory + 1, 0, &b));
        }
        refused(ctx, VSCAN_ERROR_OVERFLOW, "n",
                vscan_buffer_wrap(ctx, elements_types[t], (void *)(UINTPTR_MAX - 15), 1000, &b));
        assert_ptr_equal(b, poison);

        ok(ctx, vscan_buffer_wrap(ctx, elements_types[t], memory, ELEMENTS_MOST, &b));
        assert_ptr_equal(vscan_buffer_pointer(b), memory);
        assert_int_equal(vscan_buffer_length(b), ELEMENTS_MOST);
        assert_int_equal(vscan_buffer_type(b), elements_types[t]);
        elements_expect(b, ELEMENTS_MOST, content);
        elements_destroy(b);
        elements_expect(owner, ELEMENTS_MOST, content); /* not freed */
        ok(ctx, vscan_buffer_wrap(ctx, elements_types[t], NULL, 0, &b));
        elements_destroy(b);
        ok(ctx, vscan_buffer_wrap(ctx, elements_types[t], memory, 0, &b));
        assert_null(vscan_buffer_pointer(b));
        elements_destroy(b);
        elements_destroy(owner);
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
            elements_destroy(b);
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
    elements_destroy(b);
    assert_int_equal(element, 42);
}

/* ---- Views and lifetimes --------------------------------------------------------------------- */

static void view_refused(void **state) {
    (void)state;
    vscan_ctx *ctx = harness_ctx();
    const struct elements content = elements_pattern(2);
    vscan_buffer *const poison = refusal_stranger(0);
    for (int t = 0; t < ELEMENTS_TYPES; t++) {
        vscan_buffer *b = elements_buffer(elements_types[t], 96, &content), *v = poison;
        refused(ctx, VSCAN_ERROR_NULL, "view", vscan_buffer_view(b, 0, 1, NULL));
        const int64_t ranges[][2] = {
            {-1, 1},  {0, -1},        {0, 97},        {96, 1},          {97, 0},
            {64, 33}, {INT64_MAX, 1}, {1, INT64_MAX}, {INT64_MIN, 100}, {32, INT64_MIN}};
        for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++)
            refused(ctx, VSCAN_ERROR_RANGE, ranges[i][0] < 0 ? "offset" : "n",
                    vscan_buffer_view(b, ranges[i][0], ranges[i][1], &v));
        if (elements_types[t] == VSCAN_BIT)
            refused(ctx, VSCAN_ERROR_ALIGNMENT, "offset", vscan_buffer_view(b, 33, 5, &v));
        assert_ptr_equal(v, poison);
        elements_destroy(b);
    }
}

static void views(void **state) {
    (void)state;
    const struct elements content = elements_pattern(3);
    for (int t = 0; t < ELEMENTS_TYPES; t++) {
        vscan_buffer *b = elements_buffer(elements_types[t], ELEMENTS_MOST, &content);
        vscan_buffer *v = elements_view(b, 64, 500), *w = elements_view(v, 32, 77),
                     *e = elements_view(b, 992, 0);
        assert_int_equal(vscan_buffer_length(v), 500);
        assert_int_equal(vscan_buffer_type(w), elements_types[t]);
        assert_ptr_equal(vscan_buffer_pointer(w),
                         (char *)vscan_buffer_pointer(b) + elements_bytes(elements_types[t], 96));
        assert_int_equal(vscan_buffer_length(e), 0);
        assert_null(vscan_buffer_pointer(e));

        /* The memory lives as long as any handle to it; the handles die one by one. */
        struct elements part = elements_pattern(98);
        for (int64_t i = 0; i < 77; i++)
            elements_put(elements_types[t], &part, i, &content, 96 + i);
        elements_expect(w, 77, part);
        elements_destroy(b);
        assert_int_equal(vscan_buffer_length(b), -1);
        refused(NULL, VSCAN_ERROR_HANDLE, "buffer", vscan_buffer_destroy(b));
        elements_expect(w, 77, part);
        elements_destroy(v);
        refused(NULL, VSCAN_ERROR_HANDLE, "buffer", vscan_buffer_destroy(v));
        elements_expect(w, 77, part);
        vscan_buffer *x =
            elements_view(w, 0, 77); /* a view of what is left of a destroyed buffer */
        elements_destroy(w);
        elements_expect(x, 77, part);
        elements_destroy(x);
        elements_destroy(e);
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
    const struct elements content = elements_pattern(4);
    vscan_buffer *live = elements_buffer(VSCAN_INT, 4, &content);
    refused(ctx, status, "from", vscan_buffer_copy(b, live));
    elements_expect(live, 4, content);
    elements_destroy(live);
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

    const struct elements content = elements_pattern(5);
    vscan_buffer *stale = elements_buffer(VSCAN_INT, 10, &content);
    elements_destroy(stale);
    vscan_buffer *later[50];
    for (int i = 0; i < 50; i++) later[i] = elements_buffer(VSCAN_INT, 1, &content);
    refuse_everywhere(stale, VSCAN_ERROR_HANDLE);
    refused(NULL, VSCAN_ERROR_HANDLE, "destroyed", vscan_buffer_destroy(stale));
    for (int i = 0; i < 50; i++) elements_destroy(later[i]);
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
        elements_destroy(all[i]);
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
    const struct elements content = elements_pattern(20);
    vscan_buffer *b = elements_buffer(VSCAN_INT, 8, &content), *const poison = refusal_stranger(0);
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
    /* qemu's user mode takes the limit, and does not keep to it */
    void *more = mmap(NULL, 64 << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (more != MAP_FAILED) {
        munmap(more, 64 << 20);
        assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
        free(view);
        elements_destroy(b);
        skip();
    }

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

    elements_expect(view[made - 1], 8, content);
    vscan_buffer *one_more = elements_view(b, 0, 8);
    elements_destroy(one_more);
    for (int i = 0; i < made; i++) elements_destroy(view[i]);
    elements_expect(b, 8, content);
    elements_destroy(b);
    free(view);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(create_refused),
        cmocka_unit_test(memory_exhausted),
        cmocka_unit_test(create_and_ask),
        cmocka_unit_test(wrap),
        cmocka_unit_test(wrap_host_memory),
        cmocka_unit_test(view_refused),
        cmocka_unit_test(views),
        cmocka_unit_test(handles),
        cmocka_unit_test(orphans),
        cmocka_unit_test(handles_exhausted),
    };
    return harness_run(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
