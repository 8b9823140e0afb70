/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Merges of sorted runs, two neighbours at a time, until one is left. Where keys are equal, those of the run before
 * come first. As every step of a merge waits for the one before, the results are cut into a few ranges, whose steps
 * take turns.
 */
#include <string.h>

#include "sort.h"

enum { RANGES = 4 };

/* What is left of two runs: elements first .. first_end - 1 and second .. second_end - 1. */
struct pair {
    int64_t first, first_end, second, second_end;
    int64_t to; /* where the next result goes */
};

static int64_t least(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/* Of the first n results, how many come from the first run. */
INLINE int64_t firsts_of(const struct vscan__ranks_order *order, vscan_type type, const char *keys,
                         const struct pair *pair, int64_t n) {
    const int64_t seconds = pair->second_end - pair->second;
    int64_t low = n > seconds ? n - seconds : 0, high = least(n, pair->first_end - pair->first);
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (vscan__ranks_ordered(order, type, keys, pair->second + n - middle - 1) <
            vscan__ranks_ordered(order, type, keys, pair->first + middle))
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* Copies the next n results, which all come from `at` on. */
INLINE void copy(struct pair *pair, int64_t size, int64_t value_size,
                 const struct vscan__ranks_elements *from, const struct vscan__ranks_elements *to,
                 int64_t at, int64_t n) {
    if (n == 0) return;
    memcpy(to->keys + pair->to * size, from->keys + at * size, (size_t)(n * size));
    if (value_size > 0)
        memcpy(to->values + pair->to * value_size, from->values + at * value_size,
               (size_t)(n * value_size));
    pair->to += n;
}

/* The next result, where both runs have elements left. */
INLINE void step(struct pair *pair, const struct vscan__ranks_order *order, vscan_type type,
                 int64_t size, int64_t value_size, const struct vscan__ranks_elements *from,
                 const struct vscan__ranks_elements *to) {
    const int64_t first = pair->first, second = pair->second;
    const bool takes_second = vscan__ranks_ordered(order, type, from->keys, second) <
                              vscan__ranks_ordered(order, type, from->keys, first);
    copy(pair, size, value_size, from, to, takes_second ? second : first, 1);
    pair->first = first + !takes_second;
    pair->second = second + takes_second;
}

INLINE int64_t sure_steps(const struct pair *pair) {
    return least(pair->first_end - pair->first, pair->second_end - pair->second);
}

/* type and value_size are constants. */
INLINE void merge_two(const struct vscan__ranks_order *given_order, vscan_type type,
                      int64_t value_size, const struct vscan__ranks_elements *given_from,
                      const struct vscan__ranks_elements *given_to, const struct pair *both) {
    const struct vscan__ranks_order order =
        *given_order; /* which nothing that is written can change */
    const struct vscan__ranks_elements from = *given_from, to = *given_to;
    const int64_t size = type == VSCAN_FLOAT ? 4 : 8;
    const int64_t n = both->second_end - both->first;
    struct pair pairs[RANGES];
    for (int r = 0; r < RANGES; r++) {
        const int64_t begin = n / RANGES * r;
        const int64_t firsts = firsts_of(&order, type, from.keys, both, begin);
        pairs[r] = *both;
        pairs[r].first += firsts;
        pairs[r].second += begin - firsts;
        pairs[r].to += begin;
        if (r == 0) continue;
        pairs[r - 1].first_end = pairs[r].first;
        pairs[r - 1].second_end = pairs[r].second;
    }
    for (int64_t steps = 1; steps > 0;) {
        steps = INT64_MAX;
        for (int r = 0; r < RANGES; r++) steps = least(steps, sure_steps(pairs + r));
        for (int64_t i = 0; i < steps; i++)
#pragma GCC unroll 4
            for (int r = 0; r < RANGES; r++)
                step(pairs + r, &order, type, size, value_size, &from, &to);
    }
    for (int r = 0; r < RANGES; r++) {
        struct pair *const p = pairs + r;
        while (sure_steps(p) > 0) step(p, &order, type, size, value_size, &from, &to);
        copy(p, size, value_size, &from, &to, p->first, p->first_end - p->first);
        copy(p, size, value_size, &from, &to, p->second, p->second_end - p->second);
    }
}

static void merge_pair(const struct vscan__ranks_order *order, int64_t value_size,
                       const struct vscan__ranks_elements *from,
                       const struct vscan__ranks_elements *to, const struct pair *pair) {
#define ROW(of)                                                                                    \
    if (order->type == (of) && value_size == 0) merge_two(order, of, 0, from, to, pair);           \
    if (order->type == (of) && value_size == 4) merge_two(order, of, 4, from, to, pair);           \
    if (order->type == (of) && value_size == 8) merge_two(order, of, 8, from, to, pair)
    ROW(VSCAN_FLOAT);
    ROW(VSCAN_DOUBLE);
#undef ROW
}

int vscan__ranks_merges_of(int runs) {
    int merges = 0;
    while (runs > 1 << merges) merges++;
    return merges;
}

void vscan__ranks_merge(const struct vscan__ranks_order *order, int64_t value_size,
                        const int64_t *begin, int runs, struct vscan__ranks_elements from,
                        struct vscan__ranks_elements to) {
    const bool begins_at_to = vscan__ranks_merges_of(runs) % 2 == 0;
    struct vscan__ranks_elements in = begins_at_to ? to : from, out = begins_at_to ? from : to;
    for (int64_t length = 1; length < runs; length *= 2) { /* runs that were merged to one */
        for (int64_t r = 0; r < runs; r += 2 * length) {
            const int64_t middle = begin[least(r + length, runs)];
            const struct pair pair = {begin[r], middle, middle, begin[least(r + 2 * length, runs)],
                                      begin[r]};
            merge_pair(order, value_size, &in, &out, &pair);
        }
        const struct vscan__ranks_elements was = in;
        in = out;
        out = was;
    }
}
