/* SPDX-License-Identifier: Apache-2.0 */
#include "core/text.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

void vscan__add(struct vscan__text *text, const char *format, ...) {
    const bool room = text->length < text->capacity;
    va_list arguments;
    va_start(arguments, format);
    text->length +=
        vsnprintf(room ? text->at + text->length : NULL,
                  room ? (size_t)(text->capacity - text->length) : 0, format, arguments);
    va_end(arguments);
}
