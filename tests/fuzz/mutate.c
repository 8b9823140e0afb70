/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How libFuzzer makes an input from another. Its own mutations change a few bytes, of one call or two, and like
 * runs of equal ones, which are the same call again and again. So in three cases of four whole calls, pieces of
 * the input (model.c), are put in, taken out, repeated elsewhere or replaced by random ones, one of them or all
 * that follow.
 */
#include <string.h>

#include "fuzz.h"

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed) {
    struct inputs_random random = {seed};
    const int64_t way = inputs_below(&random, 8), pieces = (int64_t)(size / PIECE);
    if (way < 2 || most < PIECE) return LLVMFuzzerMutate(data, size, most);
    uint8_t piece[PIECE];
    for (int i = 0; i < PIECE; i++) piece[i] = (uint8_t)(inputs_next(&random) >> 32);
    uint8_t *const at = data + PIECE * inputs_below(&random, pieces + 1);
    const size_t rest = size - (size_t)(at - data);
    if (way > 5) { /* all that follow, and as many as there may be in half of the room */
        if (size < most / 2) size = most / 2;
        for (uint8_t *byte = at; byte < data + size; byte++)
            *byte = (uint8_t)(inputs_next(&random) >> 32);
        return size;
    }
    if (way == 2 && pieces > 0) memcpy(piece, data + PIECE * inputs_below(&random, pieces), PIECE);
    if (way == 3 && rest >= PIECE) {
        memmove(at, at + PIECE, rest - PIECE);
        return size - PIECE;
    }
    const bool replaces = way == 4 && rest >= PIECE;
    if (!replaces && size + PIECE > most) return LLVMFuzzerMutate(data, size, most);
    if (!replaces) memmove(at + PIECE, at, rest);
    memcpy(at, piece, PIECE);
    return replaces ? size : size + PIECE;
}
