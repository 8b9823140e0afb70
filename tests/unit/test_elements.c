/* SPDX-License-Identifier: Apache-2.0 */
/* Elements of buffers: upload, download, fill, set, get, copy, of all six types, and every status.
 */
#include "elements.h"
#include "harness.h"
#include "refusal.h"

#include <stdlib.h>
#include <string.h>

/* ---- Upload, download ------------------------------------------------------------------------ */

static void transfer_refused(void **state) {
    (void)state;
    vscan_ctx *ctx = harness_ctx();
    const struct elements content = elements_pattern(6);
    struct elements host = elements_pattern(7);
    for (int t = 0; t < ELEMENTS_TYPES; t++) {
        vscan_buffer *b = elements_buffer(elements_types[t], 96, &content);
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
        if (elements_types[t] == VSCAN_BIT) {
            refused(ctx, VSCAN_ERROR_ALIGNMENT, "offset",
                    vscan_buffer_upload(b, 31, 1, host.bytes));
            refused(ctx, VSCAN_ERROR_ALIGNMENT, "offset",
                    vscan_buffer_download(b, 1, 1, host.bytes));
        }
        ok(ctx, vscan_buffer_upload(b, 32, 0, NULL));
        ok(ctx, vscan_buffer_download(b, 96, 0, NULL));
        elements_expect(b, 96, content);
        elements_destroy(b);
    }
    const struct elements before = elements_pattern(7);
    assert_memory_equal(&host, &before, sizeof host);
}

static void parts(void **state) {
    (void)state;
    vscan_ctx *ctx = harness_ctx();
    const struct elements old = elements_pattern(8), new = elements_pattern(9);
    const int64_t lengths[] = {1, 5, 31, 32, 33, 63, 64, 65, 500};
    for (int t = 0; t < ELEMENTS_TYPES; t++)
        for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
            const int64_t n = lengths[i], offset = 96;
            vscan_buffer *b = elements_buffer(elements_types[t], ELEMENTS_MOST, &old);
            ok(ctx, vscan_buffer_upload(b, offset, n, new.bytes));
            struct elements expected = old, part = elements_pattern(10);
            for (int64_t k = 0; k < n; k++)
                elements_put(elements_types[t], &expected, offset + k, &new, k);
            elements_expect(b, ELEMENTS_MOST, expected);
            ok(ctx, vscan_buffer_download(b, offset, n, part.bytes));
            struct elements begin = new;
            if (elements_types[t] == VSCAN_BIT)
                for (int64_t k = n; k % 32 != 0; k++) elements_put_bit(&begin, k, false);
            assert_memory_equal(part.bytes, begin.bytes, elements_bytes(elements_types[t], n));
            elements_destroy(b);
        }
}

/* Host addresses need no alignment. */
static void unaligned_host(void **state) {
    (void)state;
    vscan_ctx *ctx = harness_ctx();
    const struct elements content = elements_pattern(11);
    char memory[1 + 70 * 8], back[3 + 70 * 8];
    for (int t = 0; t < ELEMENTS_TYPES; t++) {
        const size_t bytes = elements_bytes(elements_types[t], 70);
        vscan_buffer *b = elements_buffer(elements_types[t], 70, &content);
        memcpy(memory + 1, content.bytes, bytes);
        ok(ctx, vscan_buffer_upload(b, 0, 70, memory + 1));
        ok(ctx, vscan_buffer_download(b, 0, 64, back + 3));
        assert_memory_equal(back + 3, content.bytes, elements_bytes(elements_types[t], 64));
        ok(ctx, vscan_buffer_fill(b, memory + 1));
        ok(ctx, vscan_buffer_get(b, 69, back + 3));
        if (elements_types[t] == VSCAN_BIT)
            assert_int_equal(back[3], memory[1] != 0);
        else
            assert_memory_equal(back + 3, memory + 1, elements_bytes(elements_types[t], 1));
        elements_destroy(b);
    }
}

/* ---- Fill, set, get, copy -------------------------------------------------------------------- */

static void element_refused(void **state) {
    (void)state;
    vscan_ctx *ctx = harness_ctx();
    const struct elements content = elements_pattern(12);
    const int64_t places[] = {-1, 40, 41, INT64_MAX, INT64_MIN};
    for (int t = 0; t < ELEMENTS_TYPES; t++) {
        vscan_buffer *b = elements_buffer(elements_types[t], 40, &content),
                     *empty = elements_view(b, 0, 0);
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
        elements_expect(b, 40, content);
        elements_destroy(empty);
        elements_destroy(b);
    }
}

static void fill(void **state) {
    (void)state;
    vscan_ctx *ctx = harness_ctx();
    const struct elements old = elements_pattern(13), values = elements_pattern(14);
    const int64_t lengths[] = {0, 1, 7, 31, 32, 33, 64, 71, 800};
    for (int t = 0; t < ELEMENTS_TYPES; t++)
        for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++)
            for (int64_t j = 0; j < 4; j++) {
                const int64_t n = lengths[i];
                vscan_buffer *b = elements_buffer(elements_types[t], ELEMENTS_MOST, &old),
                             *v = elements_view(b, 64, n);
                ok(ctx, vscan_buffer_fill(v, elements_value(elements_types[t], &values, j)));
                struct elements expected = old;
                for (int64_t k = 0; k < n; k++)
                    elements_put(elements_types[t], &expected, 64 + k, &values, j);
                elements_expect(b, ELEMENTS_MOST, expected);
                elements_destroy(v);
                elements_destroy(b);
            }
}

static void set_and_get(void **state) {
    (void)state;
    vscan_ctx *ctx = harness_ctx();
    const struct elements old = elements_pattern(15), values = elements_pattern(16);
    for (int t = 0; t < ELEMENTS_TYPES; t++) {
        vscan_buffer *b = elements_buffer(elements_types[t], ELEMENTS_MOST, &old),
                     *v = elements_view(b, 32, 70);
        struct elements expected = old;
        const int64_t places[] = {0, 1, 30, 31, 32, 33, 63, 64, 69};
        for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
            ok(ctx, vscan_buffer_set(v, places[i],
                                     elements_value(elements_types[t], &values, (int64_t)i)));
            elements_put(elements_types[t], &expected, 32 + places[i], &values, (int64_t)i);
        }
        elements_expect(b, ELEMENTS_MOST, expected);
        for (int64_t i = 0; i < 70; i++) {
            unsigned char got[9], one[8] = {0};
            memset(got, 0x5a, sizeof got);
            ok(ctx, vscan_buffer_get(v, i, got));
            const size_t size =
                elements_types[t] == VSCAN_BIT ? 1 : elements_bytes(elements_types[t], 1);
            if (elements_types[t] == VSCAN_BIT)
                one[0] = elements_bit(&expected, 32 + i);
            else
                memcpy(one, expected.bytes + (size_t)(32 + i) * size, size);
            assert_memory_equal(got, one, size);
            assert_int_equal(got[size], 0x5a);
        }
        elements_destroy(v);
        elements_destroy(b);
    }
}

static void copy(void **state) {
    (void)state;
    vscan_ctx *ctx = harness_ctx();
    const struct elements old = elements_pattern(17), new = elements_pattern(18);
    const int64_t lengths[] = {0, 1, 31, 32, 33, 70, 500};
    for (int t = 0; t < ELEMENTS_TYPES; t++)
        for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
            const int64_t n = lengths[i];
            vscan_buffer *to = elements_buffer(elements_types[t], ELEMENTS_MOST, &old),
                         *from = elements_buffer(elements_types[t], ELEMENTS_MOST, &new);
            vscan_buffer *a = elements_view(to, 32, n), *b = elements_view(from, 64, n);
            ok(ctx, vscan_buffer_copy(b, a));
            struct elements expected = old;
            for (int64_t k = 0; k < n; k++)
                elements_put(elements_types[t], &expected, 32 + k, &new, 64 + k);
            elements_expect(to, ELEMENTS_MOST, expected);
            elements_expect(from, ELEMENTS_MOST, new);
            ok(ctx, vscan_buffer_copy(to, to));
            elements_expect(to, ELEMENTS_MOST, expected);
            elements_destroy(a);
            elements_destroy(b);
            elements_destroy(to);
            elements_destroy(from);
        }
}

/* So long that the CPU backend does it by all threads, and stores past the caches. */
static void long_copy(void **state) {
    (void)state;
    vscan_ctx *ctx = harness_ctx();
    enum { LENGTHS = 4, MOST = (32 << 20) + 12345 };
    static const int64_t lengths[LENGTHS] = {(256 << 10) + 1, (3 << 20) + 77, 32 << 20, MOST};
    uint8_t *host = malloc(MOST + 2), *got = malloc(MOST + 3);
    vscan_buffer *a = NULL, *b = NULL;
    assert_non_null(host);
    assert_non_null(got);
    for (int64_t i = 0; i < MOST + 2; i++) host[i] = (uint8_t)(i ^ i >> 8 ^ i >> 15);
    ok(ctx, vscan_buffer_create(ctx, VSCAN_BYTE, MOST + 5, &a));
    ok(ctx, vscan_buffer_create(ctx, VSCAN_BYTE, MOST + 5, &b));
    for (int k = 0; k < LENGTHS; k++) {
        const int64_t n = lengths[k], offset = k % 2 == 0 ? 0 : 3;
        vscan_buffer *from = NULL, *to = NULL;
        ok(ctx, vscan_buffer_fill(b, &(uint8_t){0xa5}));
        ok(ctx, vscan_buffer_upload(a, 1, n, host + 2));
        ok(ctx, vscan_buffer_view(a, 1, n, &from));
        ok(ctx, vscan_buffer_view(b, offset, n, &to));
        ok(ctx, vscan_buffer_copy(from, to));
        memset(got, 0, MOST + 3);
        ok(ctx, vscan_buffer_download(b, offset, n + 1, got + 1));
        assert_memory_equal(got + 1, host + 2, (size_t)n);
        assert_int_equal(got[0], 0);
        assert_int_equal(got[n + 1], 0xa5);
        assert_int_equal(got[n + 2], 0);
        if (offset > 0) {
            uint8_t before = 0;
            ok(ctx, vscan_buffer_get(b, offset - 1, &before));
            assert_int_equal(before, 0xa5);
        }
        elements_destroy(from);
        elements_destroy(to);
    }
    elements_destroy(a);
    elements_destroy(b);
    free(host);
    free(got);
}

static void copy_refused(void **state) {
    (void)state;
    vscan_ctx *ctx = harness_ctx(), *other = harness_new_ctx(0);
    const struct elements old = elements_pattern(19);
    for (int t = 0; t < ELEMENTS_TYPES; t++) {
        vscan_buffer *b = elements_buffer(elements_types[t], 256, &old), *foreign = NULL;
        vscan_buffer *a = elements_view(b, 0, 100), *shifted = elements_view(b, 64, 100);
        vscan_buffer *apart = elements_view(b, 128, 100), *longer = elements_view(b, 128, 101);
        vscan_buffer *typed = elements_buffer(elements_types[(t + 1) % ELEMENTS_TYPES], 100, &old);
        vscan_buffer *none = elements_view(b, 64, 0), *none_too = elements_view(b, 0, 0);
        ok(other, vscan_buffer_create(other, elements_types[t], 100, &foreign));
        refused(ctx, VSCAN_ERROR_CONTEXT, "from", vscan_buffer_copy(foreign, a));
        refused(other, VSCAN_ERROR_CONTEXT, "from", vscan_buffer_copy(a, foreign));
        refused(ctx, VSCAN_ERROR_TYPE, "to", vscan_buffer_copy(typed, a));
        refused(ctx, VSCAN_ERROR_LENGTH, "to", vscan_buffer_copy(longer, a));
        refused(ctx, VSCAN_ERROR_LENGTH, "to", vscan_buffer_copy(none, a));
        refused(ctx, VSCAN_ERROR_OVERLAP, "to", vscan_buffer_copy(shifted, a));
        refused(ctx, VSCAN_ERROR_OVERLAP, "to", vscan_buffer_copy(a, shifted));
        refused(ctx, VSCAN_ERROR_NULL, "from", vscan_buffer_copy(NULL, a));
        ok(ctx, vscan_buffer_copy(none_too, none)); /* nothing overlaps nothing */
        elements_expect(b, 256, old);
        ok(ctx, vscan_buffer_copy(a, apart));
        vscan_buffer *const all[] = {a, shifted, apart, longer, typed, none, none_too, foreign, b};
        for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) elements_destroy(all[i]);
    }
    ok(NULL, vscan_ctx_destroy(other));
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(transfer_refused),
        cmocka_unit_test(parts),
        cmocka_unit_test(unaligned_host),
        cmocka_unit_test(element_refused),
        cmocka_unit_test(fill),
        cmocka_unit_test(set_and_get),
        cmocka_unit_test(copy),
        cmocka_unit_test(long_copy),
        cmocka_unit_test(copy_refused),
    };
    return harness_run(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
