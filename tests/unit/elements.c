/* SPDX-License-Identifier: Apache-2.0 */
/* Vectors of every type on the host. */
#include "elements.h"

#include <string.h>

const vscan_type elements_types[ELEMENTS_TYPES] = {VSCAN_INT,  VSCAN_FLOAT, VSCAN_DOUBLE,
                                                   VSCAN_BYTE, VSCAN_BIT,   VSCAN_LONG,
                                                   VSCAN_UINT8};

size_t elements_bytes(vscan_type type, int64_t n) {
    switch (type) {
    case VSCAN_BIT:
        return (size_t)((n + 31) / 32 * 4);
    case VSCAN_BYTE:
    case VSCAN_UINT8:
        return (size_t)n;
    case VSCAN_INT:
    case VSCAN_FLOAT:
        return (size_t)n * 4;
    default:
        return (size_t)n * 8;
    }
}

struct elements elements_pattern(int salt) {
    struct elements h;
    for (size_t i = 0; i < sizeof h.bytes; i++)
        h.bytes[i] = (unsigned char)((i * 167 + (size_t)salt * 59 + i / 251) & 255);
    return h;
}

bool elements_bit(const struct elements *h, int64_t i) {
    return (h->words[i / 32] >> (i % 32)) & 1;
}

void elements_put_bit(struct elements *h, int64_t i, bool value) {
    const uint32_t mask = UINT32_C(1) << (i % 32);
    h->words[i / 32] = value ? h->words[i / 32] | mask : h->words[i / 32] & ~mask;
}

void elements_put(vscan_type type, struct elements *to, int64_t i, const struct elements *from,
                  int64_t j) {
    const size_t size = elements_bytes(type, 1);
    if (type == VSCAN_BIT)
        elements_put_bit(to, i, elements_bit(from, j));
    else
        memcpy(to->bytes + (size_t)i * size, from->bytes + (size_t)j * size, size);
}

const void *elements_value(vscan_type type, const struct elements *h, int64_t j) {
    static uint8_t truth;
    truth = elements_bit(h, j) ? 0x40 : 0;
    return type == VSCAN_BIT ? &truth : h->bytes + (size_t)j * elements_bytes(type, 1);
}

vscan_buffer *elements_buffer(vscan_type type, int64_t n, const struct elements *content) {
    vscan_buffer *buffer = NULL;
    ok(harness_ctx(), vscan_buffer_create(harness_ctx(), type, n, &buffer));
    ok(harness_ctx(), vscan_buffer_upload(buffer, 0, n, content->bytes));
    return buffer;
}

vscan_buffer *elements_view(vscan_buffer *buffer, int64_t offset, int64_t n) {
    vscan_buffer *view = NULL;
    ok(harness_ctx(), vscan_buffer_view(buffer, offset, n, &view));
    return view;
}

void elements_expect(const vscan_buffer *buffer, int64_t n, struct elements expected) {
    const vscan_type type = vscan_buffer_type(buffer);
    struct elements got = elements_pattern(99);
    const struct elements before = got;
    ok(harness_ctx(), vscan_buffer_download(buffer, 0, n, got.bytes));
    const size_t bytes = elements_bytes(type, n);
    if (type == VSCAN_BIT && n % 32 != 0)
        for (int64_t i = n; i % 32 != 0; i++) elements_put_bit(&expected, i, false);
    assert_memory_equal(got.bytes, expected.bytes, bytes);
    assert_memory_equal(got.bytes + bytes, before.bytes + bytes, sizeof got.bytes - bytes);
}

void elements_destroy(vscan_buffer *buffer) {
    ok(NULL, vscan_buffer_destroy(buffer));
}
