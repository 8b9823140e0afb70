/* SPDX-License-Identifier: Apache-2.0 */
/* A text that is made piece by piece, in as much memory as there is. */
#ifndef VSCAN_TEXT_H
#define VSCAN_TEXT_H

#include <stdint.h>

struct vscan__text {
    char *at;
    int64_t capacity; /* bytes at `at`, with a closing 0 where there are any */
    int64_t length;   /* of the whole text so far, without a closing 0, kept or not */
};

void vscan__add(struct vscan__text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
