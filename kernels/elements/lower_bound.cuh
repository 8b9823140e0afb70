/* SPDX-License-Identifier: Apache-2.0 */
/* The lower bound of a key in an ascending sequence, by a warp. */
#pragma once

#include <math.h>
#include <stdint.h>

#include "machine/warp.cuh"

namespace vscan {

/*
 * Where a search probes first. If segments have similar lengths, an offset is close to where it
 * would be if all lengths were equal; with random segments it is within a few times the square root
 * of their number. Without a guess all searches of a launch would also begin at the same addresses,
 * and queue for them.
 */
struct search_guess {
    double each;  /* index = key * each, about */
    int64_t step; /* distance of two probes */
};

/* For searches with 32 * each probes at a time. */
static inline search_guess guess_search(int64_t n, int64_t keys, int each) {
    return {keys > 0 ? (double)n / (double)keys : 0, 1 + (int64_t)(sqrt((double)n) / (4 * each))};
}

/*
 * By a warp: for each key, how many of the n ascending numbers are less than it. Each iteration
 * loads 32 * Each probes a key. The result is in low .. high, and is low in the end. If the numbers
 * do not ascend, the result is some index of that range, always the same.
 */
template <int Each, int Keys, class Numbers>
static DEVICE void lower_bounds(const Numbers &numbers, int64_t n, const int64_t (&key)[Keys],
                                const search_guess &guess, int64_t (&low)[Keys],
                                int64_t (&high)[Keys]) {
    constexpr int probes = 32 * Each;
    const int lane = threadIdx.x % 32;
    int64_t base[Keys], step[Keys];
    bool more = false;
    UNROLL_FOR (int q = 0; q < Keys; ++q) {
        step[q] = guess.step;
        base[q] = (int64_t)((double)key[q] * guess.each) - probes / 2 * step[q];
        if (base[q] > n - probes * step[q]) base[q] = n - probes * step[q];
        if (base[q] < 0) base[q] = 0;
        more |= low[q] < high[q];
    }
#pragma unroll 1
    while (more) {
        bool less[Keys][Each];
        UNROLL_FOR (int q = 0; q < Keys; ++q)
            UNROLL_FOR (int k = 0; k < Each; ++k) {
                const int64_t i = base[q] + (k * 32 + lane + 1) * step[q] - 1;
                less[q][k] = low[q] < high[q] && i < high[q] && numbers[i] < key[q];
            }
        more = false;
        UNROLL_FOR (int q = 0; q < Keys; ++q) {
            if (low[q] >= high[q]) continue;
            int count = 0;
            UNROLL_FOR (int k = 0; k < Each; ++k)
                count += __popc(__ballot_sync(warp_mask, less[q][k]));
            if (count > 0) low[q] = base[q] + count * step[q];
            if (count < probes && base[q] + (count + 1) * step[q] - 1 < high[q])
                high[q] = base[q] + (count + 1) * step[q] - 1;
            base[q] = low[q];
            step[q] = (high[q] - low[q] + probes + 1) / (probes + 1);
            more |= low[q] < high[q];
        }
    }
}

/* The same for one key. */
template <int Each, class Numbers>
static DEVICE int64_t lower_bound(const Numbers &numbers, int64_t n, int64_t key,
                                  const search_guess &guess) {
    const int64_t keys[1] = {key};
    int64_t low[1] = {0}, high[1] = {n};
    lower_bounds<Each>(numbers, n, keys, guess, low, high);
    return low[0];
}

} /* namespace vscan */
