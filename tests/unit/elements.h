/* SPDX-License-Identifier: Apache-2.0 */
/* Vectors of every type on the host, to compare buffers with. */
#ifndef ELEMENTS_H
#define ELEMENTS_H

#include "harness.h"

enum { ELEMENTS_TYPES = 7, ELEMENTS_MOST = 1000 }; /* types; elements of the longest vector */
extern const vscan_type elements_types[ELEMENTS_TYPES];

/* Bits are whole 32-bit words. */
size_t elements_bytes(vscan_type type, int64_t n);

/* A vector of any type; 32-bit words, so that each bit can be looked at. */
struct elements {
    union {
        uint32_t words[ELEMENTS_MOST * 2 + 2];
        unsigned char bytes[ELEMENTS_MOST * 8 + 8];
    };
};

/* Contents that differ from salt to salt. */
struct elements elements_pattern(int salt);

bool elements_bit(const struct elements *h, int64_t i);
void elements_put_bit(struct elements *h, int64_t i, bool value);

/* One element from a host vector to another. */
void elements_put(vscan_type type, struct elements *to, int64_t i, const struct elements *from,
                  int64_t j);

/* What set and fill take for element j, until the next call: the element, or a byte for a bit. */
const void *elements_value(vscan_type type, const struct elements *h, int64_t j);

/* Buffers of the shared context, made and destroyed without failing. */
vscan_buffer *elements_buffer(vscan_type type, int64_t n, const struct elements *content);
vscan_buffer *elements_view(vscan_buffer *buffer, int64_t offset, int64_t n);
void elements_destroy(vscan_buffer *buffer);

/* The first n elements are these, bits past them are downloaded as 0, and no more is written. */
void elements_expect(const vscan_buffer *buffer, int64_t n, struct elements expected);

#endif
