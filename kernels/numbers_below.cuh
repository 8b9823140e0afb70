/* SPDX-License-Identifier: Apache-2.0 */
/* Where a number belongs among others that ascend. */
#ifndef VSCAN_NUMBERS_BELOW_CUH
#define VSCAN_NUMBERS_BELOW_CUH

#include <math.h>
#include <stdint.h>

namespace vscan {

/*
 * Where the first look of a search is. Offsets of segments that are not too unlike one another lie about
 * where they would if all were alike; those of random segments within a few times the square root of
 * their number. Without that look every search of a launch begins with the same addresses, too, for
 * which they all wait in turn.
 */
struct numbers_guess {
    double each;  /* numbers for each 1 of the key */
    int64_t step; /* numbers from one that is looked at to the next */
};

/* Of searches that ask for 32 * each numbers at a time. */
static inline numbers_guess guess_numbers(int64_t n, int64_t keys, int each) {
    return {keys > 0 ? (double)n / (double)keys : 0, 1 + (int64_t)(sqrt((double)n) / (4 * each))};
}

/*
 * How many of the n numbers are less than key >= 0, if they ascend: by a warp, that asks for 32 * Each of
 * them at a time. If they do not, some number of 0 .. n, the same every time.
 */
template <int Each, class Numbers>
static __device__ __forceinline__ int64_t numbers_below(const Numbers &numbers, int64_t n,
                                                        int64_t key, const numbers_guess &guess) {
    constexpr int probes = 32 * Each;
    const int lane = threadIdx.x % 32;
    int64_t low = 0, high = n; /* what is looked for is low .. high */
    int64_t step = guess.step;
    int64_t base = (int64_t)((double)key * guess.each) - probes / 2 * step;
    if (base > n - probes * step) base = n - probes * step;
    if (base < 0) base = 0;
#pragma unroll 1
    while (low < high) {
        bool less[Each];
#pragma unroll
        for (int k = 0; k < Each; ++k) {
            const int64_t i = base + (k * 32 + lane + 1) * step - 1;
            less[k] = i < high && numbers[i] < key;
        }
        int count = 0;
#pragma unroll
        for (int k = 0; k < Each; ++k) count += __popc(__ballot_sync(0xffffffffu, less[k]));
        if (count > 0) low = base + count * step;
        if (count < probes && base + (count + 1) * step - 1 < high)
            high = base + (count + 1) * step - 1;
        base = low;
        step = (high - low + probes + 1) / (probes + 1);
    }
    return low;
}

} /* namespace vscan */

#endif
