/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the radix sorts of vectors (sort/onesweep, sort/small) and of segments (sort/segmented)
 * share: digits of keys, the memory, what a block does with a tile, and the look-back.
 *
 * Elements are never changed, not even into the numbers that they compare as. Digits are computed
 * from the elements each time. So a NaN keeps its bits, and one kernel serves all types of a size.
 *
 * The rank of an element is its position in the sorted tile. Each warp counts the digits of its
 * part of the tile; the counts are summed over digits and warps. Then each warp goes through its
 * elements in order again, 32 at a time, and finds the lanes with equal digits by ballots.
 *
 * Look-back: each tile has one status word for each digit, and thread d looks back for digit d. A
 * status word is a flag (aggregate: the count of the tile; inclusive prefix: the count of all tiles
 * up to it) and the count. It is all that a tile publishes, so relaxed order is enough. This is not
 * protocol/lookback.cuh, for three reasons: a tile publishes 256 words, not one value; the words have
 * no epoch, because an earlier kernel of the same sort clears them (the histogram kernel, then each
 * pass the words of the next; sort/segmented likewise); and tickets restart at 0 in each launch.
 */
#pragma once

#include "elements/elementwise.cuh"
#include "elements/key_order.cuh"
#include "sort/tuning.cuh"

namespace vscan {

/* Status words, of 32 bits or, where a segment may be too long for them, of 64. Zero: not yet
   written. */
template <class W>
static constexpr W status_is_aggregate = (W)1 << (8 * sizeof(W) - 2);
template <class W>
static constexpr W status_is_prefix = (W)2 << (8 * sizeof(W) - 2);
template <class W>
static constexpr W status_value = status_is_aggregate<W> - 1;

/* The type of values where there are none. */
struct no_value {};

template <class V>
static constexpr bool has_values = !same_type<V, no_value>;

/* ---- Keys ------------------------------------------------------------------------------------ */

/* One digit of the number that a key compares as. */
struct sort_digit {
    int first_bit;
    uint32_t mask; /* 0 if no bits are left */
    uint32_t flipped;
};

static __host__ DEVICE sort_digit digit_of_pass(const sort_order &order, int pass) {
    const int left = order.bits - pass * digit_bits;
    const uint32_t mask = left <= 0           ? 0
                          : left < digit_bits ? (1u << left) - 1
                                              : (uint32_t)(digits - 1);
    return {mask ? order.first_bit + pass * digit_bits : 0, mask, mask & order.descending};
}

template <class K>
static DEVICE uint32_t digit_of(K number, const sort_digit &digit) {
    return ((uint32_t)(number >> digit.first_bit) & digit.mask) ^ digit.flipped;
}

/* The digit of a key. Its parameters stay in registers, because a tile needs it many times. */
template <class K>
struct digit_maker {
    K flipped, shift, most;
    sort_digit digit;

    DEVICE digit_maker(const sort_order &order, const sort_digit &of) : digit(of) {
        flipped = opaque((K)order.flipped);
        shift = opaque((K)order.shift);
        most = opaque((K)order.most);
        digit.first_bit = opaque(digit.first_bit);
        digit.mask = opaque(digit.mask);
        digit.flipped = opaque(digit.flipped);
    }
    DEVICE uint32_t operator()(K x) const {
        const sort_order order = {flipped, shift, most, 0, 0, 0};
        return digit_of(ordered(x, order), digit);
    }
};

/* ---- Memory of a context for sorts ----------------------------------------------------------- */

/* At the beginning of the memory; zero when it is new. */
struct sort_header {
    unsigned long long counts[most_passes][digits]; /* 0 between sorts */
    int64_t bases[most_passes][2][digits];          /* of even and odd portions */
    uint32_t ticket, counted; /* 0 between launches; counted: blocks that have arrived */
    /* sorts of segments, 0 between sorts: see sort/segmented/queues.cuh */
    unsigned long long medium, large;            /* segments in the queues */
    unsigned long long longs;                    /* segments << tile_bits | tiles of them */
    uint32_t next_medium, next_large, next_long; /* tickets */
    uint32_t finished, bad_offsets; /* blocks that have finished; 1: offsets are wrong */
    uint32_t unused[51];
};
static_assert(sizeof(sort_header) == VSCAN__SORT_HEADER, "what is cleared where it is new");

/* ---- A tile ---------------------------------------------------------------------------------- */

/* What thread d knows of digit d. */
struct digit_counts {
    uint32_t count; /* elements of the tile that have it */
    uint32_t rank;  /* of the first of them */
};

/* The index of item i of this thread in the unsorted tile. */
template <int I>
static DEVICE int item_at(int i) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    return (warp * I + i) * 32 + lane;
}

/* By a warp: replaces the digits x of its items by their ranks, in order. next[d]: the rank of the
   next element with digit d. */
template <int I>
static DEVICE void rank_items(uint32_t *next, uint32_t (&x)[I], int items) {
    const int lane = threadIdx.x % 32;
    UNROLL_FOR (int i = 0; i < I; ++i) {
        if (i == items) break;
        uint32_t same = 0xffffffffu; /* lanes with the same digit */
        UNROLL_FOR (int b = 0; b < digit_bits; b += 2)
            same = all_three(same, lanes_alike(x[i], 1u << b), lanes_alike(x[i], 2u << b));
        const int last = 31 - __clz((int)same);
        const uint32_t before = (uint32_t)__popc(same & ((1u << lane) - 1));
        uint32_t rank = 0;
        if (lane == last) {
            rank = next[x[i]];
            next[x[i]] = rank + before + 1;
        }
        x[i] = __shfl_sync(warp_mask, rank, last) + before;
        __syncwarp();
    }
}

/* By the block: replaces the digits x of a tile by their ranks. items: of each thread of this warp.
   Thread d calls publish(count) as soon as digit d is counted. The last barrier comes before the
   last use of s.counts. */
template <class Shared, int I, class Publish>
static DEVICE digit_counts rank_tile(Shared &s, uint32_t (&x)[I], int items, Publish publish) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    uint32_t *const mine = s.counts[warp];
    UNROLL_FOR (int k = 0; k < digits / 32; ++k) mine[k * 32 + lane] = 0;
    __syncwarp();
    UNROLL_FOR (int i = 0; i < I; ++i) {
        if (i >= items) break;
        atomicAdd(&mine[x[i]], 1u);
    }
    __syncthreads();
    digit_counts own = {0, 0};
    if (threadIdx.x < digits) {
        UNROLL_FOR (int w = 0; w < sort_warps; ++w) own.count += s.counts[w][threadIdx.x];
        publish(own.count);
        const uint32_t upto = warp_inclusive_sum(own.count);
        own.rank = upto - own.count;
        if (lane == 31) s.sums[warp] = upto;
    }
    __syncthreads();
    if (threadIdx.x < digits) {
        UNROLL_FOR (int w = 0; w < digits / 32 - 1; ++w)
            if (w < warp) own.rank += s.sums[w];
        uint32_t rank = own.rank;
        UNROLL_FOR (int w = 0; w < sort_warps; ++w) {
            const uint32_t count = s.counts[w][threadIdx.x];
            s.counts[w][threadIdx.x] = rank;
            rank += count;
        }
    }
    __syncthreads();
    rank_items(mine, x, items);
    return own;
}

/* Items past the tile's end get the last digit, so that they stay behind all others. */
template <class K, int I>
static DEVICE void digits_of_items(uint32_t (&x)[I], const K (&key)[I], int count,
                                   const digit_maker<K> &digit) {
    UNROLL_FOR (int i = 0; i < I; ++i) x[i] = digit(key[i]);
    if (count == sort_threads * I) return;
    UNROLL_FOR (int i = 0; i < I; ++i)
        if (item_at<I>(i) >= count) x[i] = digits - 1;
}

/* Wide: whole tiles have code of their own, without a bounds check an element. */
template <bool Wide, class T, int I>
static DEVICE void load_items(T (&x)[I], const T *from, int count) {
    from += item_at<I>(0);
    if (Wide && count == sort_threads * I) {
        UNROLL_FOR (int i = 0; i < I; ++i) x[i] = from[i * 32];
    } else {
        UNROLL_FOR (int i = 0; i < I; ++i) x[i] = item_at<I>(i) < count ? from[i * 32] : T{};
    }
}

/* Writes a thread's items of the sorted tile: to[base of the digit + rank]. */
template <bool Wide, class T, int I>
static DEVICE void store_runs(T *to, const T (&x)[I], const int64_t *bases,
                              const uint32_t (&digit)[I], int count) {
    to += threadIdx.x;
    if (Wide && count == sort_threads * I) {
        UNROLL_FOR (int i = 0; i < I; ++i) to[bases[digit[i]] + i * sort_threads] = x[i];
    } else {
        UNROLL_FOR (int i = 0; i < I; ++i)
            if (i * sort_threads + (int)threadIdx.x < count)
                to[bases[digit[i]] + i * sort_threads] = x[i];
    }
}

/* Writes the tile's keys from s.keys, where they are in order. Needs a barrier before. */
template <bool Wide, class Shared, class K, int I>
static DEVICE void write_keys(Shared &s, uint32_t (&digit)[I], int count,
                              const digit_maker<K> &digit_of_key, K *keys_out) {
    K keys[I];
    UNROLL_FOR (int i = 0; i < I; ++i) keys[i] = s.keys[i * sort_threads + threadIdx.x];
    UNROLL_FOR (int i = 0; i < I; ++i) digit[i] = digit_of_key(keys[i]);
    store_runs<Wide>(keys_out, keys, s.bases, digit, count);
}

/* The same for values, after the keys, through `buffer` in s. Needs a barrier before s is used
   again. */
template <bool Wide, class Shared, class V, int I>
static DEVICE void write_values(Shared &s, V *buffer, V (&values)[I], const uint32_t (&rank)[I],
                                const uint32_t (&digit)[I], int count, V *values_out) {
    __syncthreads();
    UNROLL_FOR (int i = 0; i < I; ++i) buffer[rank[i]] = values[i];
    __syncthreads();
    UNROLL_FOR (int i = 0; i < I; ++i) values[i] = buffer[i * sort_threads + threadIdx.x];
    store_runs<Wide>(values_out, values, s.bases, digit, count);
}

/* ---- Look-back ------------------------------------------------------------------------------- */

/* How many elements of earlier tiles have this thread's digit. Adds aggregates backwards up to the
   first inclusive prefix. */
template <class W>
static DEVICE W look_back(const W *status, int64_t tile) {
    W sum = 0;
    ROLLED_FOR (int64_t t = tile - 1;;) {
        W w[look_back_loads];
        UNROLL_FOR (int k = 0; k < look_back_loads; ++k)
            w[k] = t >= k ? load_relaxed(status + (t - k) * digits + threadIdx.x)
                          : status_is_prefix<W>;
        UNROLL_FOR (int k = 0; k < look_back_loads; ++k) {
            if ((w[k] & ~status_value<W>) == 0) break;
            sum += w[k] & status_value<W>;
            if (w[k] & status_is_prefix<W>) return sum;
            --t;
        }
    }
}

/* ---- Plans ----------------------------------------------------------------------------------- */

static inline int64_t rounded(int64_t bytes) {
    return (bytes + 255) / 256 * 256;
}

/* The last pass writes to the outputs, and the first must not write to what it reads. So in place
   the number of passes is even; the last one may then have no bits left, and copies. */
static inline int passes_of(const vscan__sort *sort) {
    const int passes = (sort->bits + digit_bits - 1) / digit_bits;
    const bool in_place = sort->keys == sort->keys_out ||
                          (sort->values != nullptr && sort->values == sort->values_out);
    return in_place ? passes + passes % 2 : passes;
}

/* Bytes that a sort of segments needs: see sort/segmented/segmented.cu. */
int64_t segments_memory(const vscan__sort *sort);

/* Sorts n <= large_segment elements by one block: see sort/segmented/by_block.cu. */
cudaError_t start_block_sort(const vscan__launch *launch, const vscan__sort *sort);

/* Sorts by counting, if sorts_by_counting says so: see sort/small/small.cu. */
bool sorts_by_counting(const vscan__sort *sort);
cudaError_t start_counting_sort(const vscan__launch *launch, const vscan__sort *sort);

} /* namespace vscan */
