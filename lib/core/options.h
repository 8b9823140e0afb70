/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which sizes of an options struct are understood, for both libraries. A struct may grow at its end; members that a
 * caller's size does not cover are 0.
 */
#ifndef VSCAN_OPTIONS_H
#define VSCAN_OPTIONS_H

#include <stdint.h>
#include <string.h>

/* The size in bytes of each struct in the first version that had it. No header ever had a smaller one, so a smaller
   size is refused. These numbers never change. The test consumer.later_library has a library in which all structs
   have grown. */
enum {
    VSCAN__FIRST_COUNT = 16,
    VSCAN__FIRST_CTX = 32,
    VSCAN__FIRST_SCAN = 72,
    VSCAN__FIRST_SCAN_SEGMENTED = 80,
    VSCAN__FIRST_REDUCE = 64,
    VSCAN__FIRST_EXTREME = 16,
    VSCAN__FIRST_EXTREME_LINES = 32,
    VSCAN__FIRST_REDUCE_SEGMENTED = 56,
    VSCAN__FIRST_REDUCE_BY_OFFSETS = 48,
    VSCAN__FIRST_SCAN_BY_OFFSETS = 64,
    VSCAN__FIRST_RUNS = 24,
    VSCAN__FIRST_REDUCE_BY_KEY = 64,
    VSCAN__FIRST_MATRIX = 80,
    VSCAN__FIRST_PERMUTE = 16,
    VSCAN__FIRST_SORT = 24,
    VSCAN__FIRST_RANKS = 16,
    VSCAN__FIRST_RANKS_PACK = 24,
};

/* More than any of them will ever have. A size that was never set may be any number, and so many bytes need not be
   readable. */
enum { VSCAN__OPTIONS_LIMIT = 4096 };

/*
 * Copies the members that the caller's size covers to *copy, a zero struct of `known` bytes; first: its number above.
 * Returns 0, or copies nothing and returns -1 where size is none that the struct can have had, else the number of a
 * byte behind the known ones that is set.
 */
static inline int64_t vscan__read_options(const void *options, int64_t first, int64_t known,
                                          void *copy) {
    int64_t size;
    memcpy(&size, options, sizeof size);
    if (size < first || size > VSCAN__OPTIONS_LIMIT) return -1;
    for (int64_t i = known; i < size; i++)
        if (((const unsigned char *)options)[i] != 0) return i;
    memcpy(copy, options, (size_t)(size < known ? size : known));
    return 0;
}

#endif
