/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The serial truth that the tests compare libvscan with, written from include/vscan.h and
 * lib/core/order.h alone and sharing no code with the library. Slow where that keeps it plain.
 */
#ifndef REFERENCE_H
#define REFERENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vscan.h"

/* The types of pairs (lib/core/pairs.h). */
enum { REFERENCE_TYPES = 4 };
extern const vscan_type reference_types[REFERENCE_TYPES];

/* One scan, segmented scan or reduction on host memory. Only of reference_types. */
struct reference {
    vscan_op op;
    vscan_type type;
    int64_t n;
    const void *in;
    const uint8_t *flags; /* NULL: not segmented; else n bytes, set where not 0 */
    const void *initial;  /* one element, or NULL */
    bool exclusive;
    bool backward;

    void *out;     /* n elements, or NULL; not in */
    void *total;   /* one element, or NULL; of no meaning for a segmented scan */
    void *totals;  /* segmented: one element a segment, or NULL */
    int64_t count; /* segmented: the number of segments; set by reference_scan */
};

void reference_scan(struct reference *r);

/* The identity of a pair, as exclusive scans write it first and empty totals hold it. */
void reference_identity(vscan_op op, vscan_type type, void *element);

/* Elements of a tile of this type (lib/core/order.h); for int and long, where none is defined,
   that of the real numbers of the same size. */
int64_t reference_tile(vscan_type type);

/* Bytes of n elements; bits take whole 32-bit words. */
static inline size_t reference_bytes(vscan_type type, int64_t n) {
    static const uint8_t size[] = {4, 4, 8, 1, 0, 8, 1};
    return type == VSCAN_BIT ? ((size_t)n + 31) / 32 * 4 : (size_t)n * size[(int)type - VSCAN_INT];
}

/* The first i where two vectors differ, or -1. Bits are compared, but all NaNs are equal. */
int64_t reference_difference(vscan_type type, int64_t n, const void *expected, const void *got);

/* Element i as "value (0xbits)". */
enum { REFERENCE_TEXT = 64 };
const char *reference_text(vscan_type type, const void *v, int64_t i, char text[REFERENCE_TEXT]);

const char *reference_op_name(vscan_op op);
const char *reference_type_name(vscan_type type);

#endif
