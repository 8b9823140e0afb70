/* SPDX-License-Identifier: Apache-2.0 */
/* What sorts do with every element: count digits, move by a digit, count those that are less. For sort.c. */
#ifndef VSCAN_CPU_SORT_PASSES_H
#define VSCAN_CPU_SORT_PASSES_H

#include "cpu/cpu.h"
#include "cpu/key_order.h"

enum {
    VSCAN__DIGIT_BITS = 8,
    VSCAN__DIGITS = 1 << VSCAN__DIGIT_BITS,
    VSCAN__PASSES = 64 / VSCAN__DIGIT_BITS, /* at most */
    VSCAN__RANKED = 112,                    /* elements at most that rank takes */
    /* Elements that are moved together: 64 bytes, where they have 4 each. */
    VSCAN__LINE = 16,
    VSCAN__LINES_BYTES =
        VSCAN__DIGITS * VSCAN__LINE * (8 + 8) /* keys and values of a line for each digit */
};

/* What keys are, as that decides how fast they become numbers: integers, floating point without NaN, or with. */
enum vscan__key_kind { VSCAN__INTEGER, VSCAN__REAL, VSCAN__ANY, VSCAN__KEY_KINDS };

/* What keys compare as: bits first_bit and up, as many as window has, of a number. */
struct vscan__order {
    struct vscan__key_order keys;
    uint64_t least;  /* the number of minus infinity */
    uint64_t turned; /* bits of numbers that are turned over: with integers, the sign */
    uint64_t descending;
    uint64_t window;
    int first_bit;
};

/* Where elements are. */
struct vscan__vectors {
    void *keys, *values;
};

/* What a count sees besides: bits in which any number differs from the first one; and of floating point the greatest
   number, counted from minus infinity's, which is more than infinity's where there is a NaN. */
struct vscan__seen {
    uint64_t differing, greatest;
};

/* Elements first .. end - 1. */
struct vscan__sort_loops {
    /* Adds to counts the digits of passes pass .. pass + passes - 1. */
    struct vscan__seen (*count)(const struct vscan__order *order, const void *keys, int64_t first,
                                int64_t end, int pass, int passes,
                                int64_t (*counts)[VSCAN__DIGITS]);
    /* Moves elements to places, one for each digit, which go on, but none to `bound` or beyond: keys that another
       thread changes after they were counted have no place. */
    void (*scatter)(const struct vscan__order *order, const struct vscan__vectors *from,
                    const struct vscan__vectors *to, int64_t first, int64_t end, int pass,
                    int64_t *places, int64_t bound);
    /* The same, for places that lie in more pages and lines than the caches hold. lines: LINES_BYTES. */
    void (*scatter_lines)(const struct vscan__order *order, const struct vscan__vectors *from,
                          const struct vscan__vectors *to, int64_t first, int64_t end, int pass,
                          int64_t *places, int64_t bound, char *lines);
    /* Sorts n <= RANKED elements from first on; out may be in. */
    void (*rank)(const struct vscan__order *order, const struct vscan__vectors *in,
                 const struct vscan__vectors *out, int64_t first, int64_t n);
};

extern const struct vscan__sort_loops vscan__sort_loops[VSCAN__KEY_KINDS][2]
                                                       [3]; /* key size / 8, value size / 4 */

struct vscan__order vscan__order_of(const struct vscan__sort *sort);

/* What keys compare as, whatever they are. */
static inline __attribute__((always_inline)) uint64_t
vscan__compared(const struct vscan__order *order, int key_size, const void *keys, int64_t i) {
    const uint64_t number = vscan__key_number(&order->keys, key_size, keys, i) + order->least;
    return ((number >> order->first_bit) ^ order->descending) & order->window;
}

#endif
