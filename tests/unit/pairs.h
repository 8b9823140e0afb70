/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which operators and pairs there are, for all tests that draw some, or go through all: the rows of
 * lib/core/pairs.h. A pair that has no row is refused.
 */
#ifndef PAIRS_H
#define PAIRS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/pairs.h"
#include "vscan.h"

enum { LAST_OP = VSCAN_PLUS + VSCAN__OPS - 1 };

struct pair {
    vscan_op op;
    vscan_type type;
};

/* Pair number k of vscan__pair_count. */
static inline struct pair pair_at(int64_t k) {
    static const struct pair all[] = {
#define X(pair, op, type, OP, TYPE) {VSCAN_##OP, VSCAN_##TYPE},
        VSCAN__PAIRS(X)
#undef X
    };
    return all[k];
}

static inline bool reference_has_pair(int64_t op, int64_t type) {
    for (int k = 0; k < vscan__pair_count; k++)
        if ((int64_t)pair_at(k).op == op && (int64_t)pair_at(k).type == type) return true;
    return false;
}

/* The pair of a random number below PAIR_DRAWS: half of them are sums, which show every difference. */
enum { PAIR_DRAWS = 2 * vscan__pair_count };
static inline struct pair draw_pair(int64_t random) {
    struct pair p = pair_at(random / 2);
    if (random % 2 != 0) p.op = VSCAN_PLUS;
    return p;
}

static inline const char *pair_op_name(vscan_op op) {
    static const char *const names[] = {
#define X(op, OP) #op,
        VSCAN__OPERATORS(X)
#undef X
    };
    return op < VSCAN_PLUS || (int)op > LAST_OP ? "?" : names[(int)op - VSCAN_PLUS];
}

#endif
