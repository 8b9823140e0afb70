/* SPDX-License-Identifier: Apache-2.0 */
/* What the files that draw arguments have in common. */
#ifndef FUZZ_DRAW_H
#define FUZZ_DRAW_H

#include "fuzz.h"

struct context *
other_context(const struct context *than); /* a live one; made where there is none */
const void *some_carry(void);

int64_t element_size(vscan_type type); /* bits: of their words */
void fill(struct buffer *b, enum content content);
void fill_values(vscan_type type, int64_t n, void *v);

struct buffer *wrap(vscan_type type, struct memory *memory, uintptr_t address, int64_t n);
struct buffer *view_of(struct buffer *whole, int64_t first, int64_t n);
/* So many elements that an index of 32 bits does not reach them, at an address where nothing is. */
struct buffer *huge(vscan_type type);

#endif
