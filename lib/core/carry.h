/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a carry holds, in the backend's memory.
 *
 * A state is also bytes 16 .. 327 of a saved carry (vscan.h), with the same numbers in the same places. An
 * element is its bits in the low bytes of 8.
 *
 * With position = 0 only the first three members mean anything; but in pairs that any order suits r4 is
 * the total so far, with the initial value in it, from the reset on, and so is last behind the first
 * element; r1, r2, r3 and group stay 0.
 */
#ifndef VSCAN_CORE_CARRY_H
#define VSCAN_CORE_CARRY_H

#include <stdbool.h>

#include "core/backend.h"
#include "core/order.h"

enum {
    VSCAN__CARRY_HAS_INITIAL = 1, /* flags: there is an initial value */
    VSCAN__CARRY_STARTS = 2       /* the next element starts a segment, whatever its own flag is */
};

/* Whether the pair adds in the order of core/order.h: the others need nothing but a total. */
static inline bool vscan__adds_in_order(enum vscan__pair pair) {
    return pair == vscan__pair_plus_float || pair == vscan__pair_plus_double;
}

struct vscan__carry_state {
    int64_t position; /* elements so far */
    int64_t flags;
    union vscan__value initial;
    union vscan__value r1, r2, r3, r4; /* before the next element; -0.0 where there is nothing */
    union vscan__value last;           /* the result of the element before */
    union vscan__value
        group[VSCAN__GROUP]; /* elements of the unfinished group; -0.0 where absent */
};

/*
 * There are two states. A launch may write the new one where the old one is not, while other blocks read
 * that, and at last changes `present`. On the CPU, and of pairs that any order suits, the first one is
 * always the present one.
 */
struct vscan__carry {
    int64_t present; /* 0 or 1: states[present] is the carry's */
    int64_t unused;  /* kernels copy it by 16 bytes */
    struct vscan__carry_state states[2];
};

#endif
