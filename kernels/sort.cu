/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Radix sort from the least digit up, 8 bits a pass, every pass stable and one sweep over memory
 * (Adinets and Merrill, Onesweep, 2022), for every architecture, alignment and length.
 *
 * Elements are never changed on their way, not even into what they compare as: digits are made of
 * them each time, so a NaN keeps its bits, and one kernel does for all types of a size.
 *
 * count_digits reads the keys once, counts the digits of all passes, and makes bases of the counts:
 * where the first element of each digit goes. Then sort_pass, once a pass: a block owns one tile, by
 * ticket, and publishes for each digit how many keys of its tile have it, as soon as that is known
 * and before anything is waited for; that is why waiting blocks always get on. It puts the tile in
 * order in shared memory while the words of earlier tiles arrive, adds them up, from the tile before
 * backwards to the first one that has the sum up to itself (decoupled look-back), and writes runs of
 * equal digits. Vectors longer than a word can count are swept in portions, one launch each; the
 * bases of a portion are those of the one before and what that has written.
 *
 * A word has 32 bits: whether it is there at all, whether it is the tile's count or the sum of all
 * tiles up to it, and 30 bits of number. Nothing else is handed over between blocks of a launch, so
 * relaxed order is enough. Words are cleared by the launch before: there are two sets of them.
 *
 * sort_segments gives a segment of up to 128 elements to a warp, where each counts those that come
 * before it, and a longer one to a block, which goes through it alone, pass by pass and tile by tile,
 * and so needs no words. Short vectors are one segment.
 *
 * An element's place in a tile: warps count the digits of their parts of it, the counts are summed up
 * over digits and warps, and then each warp goes through its elements in their order once more, 32 at
 * a time, and asks by votes which lanes have the same digit.
 */
#include "map.cuh"

namespace vscan {

static constexpr int sort_threads = 512, sort_warps = sort_threads / 32;
static constexpr int digit_bits = 8, digits = 1 << digit_bits;
static constexpr int most_passes = 64 / digit_bits;
static constexpr int count_threads = 512, count_blocks = 4; /* of a multiprocessor */
static constexpr int warp_pieces = 4;    /* of 32 elements that a warp sorts by itself */
static constexpr int most_segments = 32; /* that a block takes at a time */

static constexpr uint32_t word_is_count = 1u << 30, word_is_sum = 2u << 30;
static constexpr uint32_t word_number = word_is_count - 1;

/* In the place of values where there are none. */
struct no_value {};

template <class V>
static constexpr bool has_values = !same_type<V, no_value>;

/* Items of a thread. Larger tiles write longer runs, as far as shared memory and registers go (measured
   on an H200); where a block has a segment to itself, smaller ones make more blocks, and less code. */
template <class K, class V>
static constexpr int pass_items = sizeof(V) == 8                    ? 9
                                  : sizeof(K) == 8 && has_values<V> ? 9
                                  : sizeof(K) == 8                  ? 10
                                                                    : 16;
static constexpr int segment_items = 8;
static constexpr int segment_tile = sort_threads * segment_items;

template <class K, class V>
static constexpr int pass_tile = sort_threads *pass_items<K, V>;

/* ---- Keys ------------------------------------------------------------------------------------ */

/*
 * What keys of a type compare as, in a few instructions: as the unsigned number
 *
 *     min((x ^ (x < 0 ? turned : 0)) + shift, most)
 *
 * Integers: x with its sign bit turned over. Floating point: the other bits of negative numbers turned
 * over too, and then -infinity is 0, and every NaN, of either sign, comes to lie beyond +infinity.
 */
struct sort_order {
    unsigned long long turned, shift, most;
    uint32_t descending; /* ~0: digits are turned over; else 0 */
    int first_bit, bits;
};

template <class K>
static __device__ __forceinline__ K ordered(K x, const sort_order &order) {
    constexpr int top = 8 * (int)sizeof(K) - 1;
    const K negative = (K)0 - (x >> top);
    const K number = (x ^ (negative & (K)order.turned)) + (K)order.shift;
    return number < (K)order.most ? number : (K)order.most;
}

/* One digit of what keys compare as. */
struct sort_digit {
    int first_bit;
    uint32_t mask; /* 0 where no bit is left */
    uint32_t turned;
};

static __host__ __device__ __forceinline__ sort_digit digit_of_pass(const sort_order &order,
                                                                    int pass) {
    const int left = order.bits - pass * digit_bits;
    const uint32_t mask = left <= 0           ? 0
                          : left < digit_bits ? (1u << left) - 1
                                              : (uint32_t)(digits - 1);
    return {mask ? order.first_bit + pass * digit_bits : 0, mask, mask & order.descending};
}

template <class K>
static __device__ __forceinline__ uint32_t digit_of(K number, const sort_digit &digit) {
    return ((uint32_t)(number >> digit.first_bit) & digit.mask) ^ digit.turned;
}

/* The digit of a key, by numbers that stay in registers: a tile asks for it again and again. */
template <class K>
struct digit_maker {
    K turned, shift, most;
    sort_digit digit;

    __device__ __forceinline__ digit_maker(const sort_order &order, const sort_digit &of)
        : digit(of) {
        turned = opaque((K)order.turned);
        shift = opaque((K)order.shift);
        most = opaque((K)order.most);
        digit.first_bit = opaque(digit.first_bit);
        digit.mask = opaque(digit.mask);
        digit.turned = opaque(digit.turned);
    }
    __device__ __forceinline__ uint32_t operator()(K x) const {
        const sort_order order = {turned, shift, most, 0, 0, 0};
        return digit_of(ordered(x, order), digit);
    }
};

/* ---- Memory of a context for sorts ----------------------------------------------------------- */

/* At its beginning; zero when it is new. */
struct sort_header {
    unsigned long long counts[most_passes][digits]; /* 0 between sorts */
    int64_t bases[most_passes][2][digits];          /* of a pass's even and odd portions */
    uint32_t ticket, counted; /* 0 between launches; blocks that have counted */
    uint32_t unused[62];
};
static_assert(sizeof(sort_header) == VSCAN__SORT_HEADER, "what is cleared where it is new");

/* ---- Counting -------------------------------------------------------------------------------- */

struct count_arguments {
    const void *keys;
    int64_t n;
    sort_order order;
    sort_digit digit[most_passes];
    int passes;
    sort_header *header;
    uint32_t *words; /* to be cleared */
    int64_t word_count;
};

template <class K>
__global__ void __launch_bounds__(count_threads)
    count_digits(const __grid_constant__ count_arguments a) {
    constexpr int passes = (int)sizeof(K), unroll = 16 / (int)sizeof(K);
    __shared__ uint32_t counts[passes][digits];
    __shared__ bool last;
    const int64_t step = (int64_t)gridDim.x * count_threads;
    const int64_t first = (int64_t)blockIdx.x * count_threads + threadIdx.x;
#pragma unroll 1
    for (int k = threadIdx.x; k < passes * digits; k += count_threads) (&counts[0][0])[k] = 0;
#pragma unroll 1
    for (int64_t k = first; k < a.word_count; k += step) a.words[k] = 0;
    __syncthreads();

    const K *const keys = (const K *)a.keys;
#pragma unroll 1
    for (int64_t i = first; i < a.n; i += unroll * step) {
        K x[unroll];
#pragma unroll
        for (int j = 0; j < unroll; ++j) x[j] = i + j * step < a.n ? keys[i + j * step] : (K)0;
#pragma unroll
        for (int j = 0; j < unroll; ++j) {
            if (i + j * step >= a.n) break;
            const K number = ordered(x[j], a.order);
#pragma unroll
            for (int p = 0; p < passes; ++p)
                if (p < a.passes) atomicAdd(&counts[p][digit_of(number, a.digit[p])], 1u);
        }
    }
    __syncthreads();
#pragma unroll 1
    for (int k = threadIdx.x; k < a.passes * digits; k += count_threads) {
        const uint32_t count = (&counts[0][0])[k];
        if (count > 0) atomicAdd(&a.header->counts[0][0] + k, (unsigned long long)count);
    }

    /* ---- The last block makes bases, and clears the counts ------------------------------------ */
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) last = atomicAdd(&a.header->counted, 1u) == gridDim.x - 1;
    __syncthreads();
    if (!last) return;
    __threadfence();
    const int lane = threadIdx.x % 32;
#pragma unroll 1
    for (int p = threadIdx.x / 32; p < a.passes; p += count_threads / 32) {
        int64_t before = 0;
#pragma unroll 1
        for (int k = lane; k < digits; k += 32) {
            const int64_t own = (int64_t)load_relaxed(&a.header->counts[p][k]);
            int64_t upto = own;
#pragma unroll
            for (int d = 1; d < 32; d *= 2) {
                const int64_t left = __shfl_up_sync(0xffffffffu, upto, d);
                if (lane >= d) upto += left;
            }
            a.header->bases[p][0][k] = before + upto - own;
            a.header->counts[p][k] = 0;
            before += __shfl_sync(0xffffffffu, upto, 31);
        }
    }
    if (threadIdx.x == 0) a.header->counted = 0;
}

/* ---- A tile ---------------------------------------------------------------------------------- */

template <class K, class V, int I>
struct sort_shared {
    union { /* one after the other */
        uint32_t counts[sort_warps][digits];
        K keys[sort_threads * I];
        V values[sort_threads * I];
    };
    int64_t bases[digits]; /* where an element goes, less its place in the tile */
    uint32_t sums[digits / 32];
    uint32_t ticket;
};

/* What the thread of a digit knows of it. */
struct digit_counts {
    uint32_t count; /* elements of the tile that have it */
    uint32_t place; /* of the first of them */
};

/* Where item i of this thread stands in the tile, before it is put in order. */
template <int I>
static __device__ __forceinline__ int item_at(int i) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    return (warp * I + i) * 32 + lane;
}

/* By the whole block: makes places of the digits of a tile's items. publish(count) is called by the
   first threads, one a digit, as soon as the digit is counted. The last barrier is before the last
   use of s.counts. */
template <class Shared, int I, class Publish>
static __device__ __forceinline__ digit_counts digits_to_places(Shared &s, uint32_t (&x)[I],
                                                                Publish publish) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    uint32_t *const mine = s.counts[warp];
#pragma unroll
    for (int k = 0; k < digits / 32; ++k) mine[k * 32 + lane] = 0;
    __syncwarp();
#pragma unroll
    for (int i = 0; i < I; ++i) atomicAdd(&mine[x[i]], 1u);
    __syncthreads();
    digit_counts own = {0, 0};
    uint32_t counts[sort_warps];
    if (threadIdx.x < digits) {
#pragma unroll
        for (int w = 0; w < sort_warps; ++w) {
            counts[w] = s.counts[w][threadIdx.x];
            own.count += counts[w];
        }
        publish(own.count);
        uint32_t upto = own.count;
#pragma unroll
        for (int d = 1; d < 32; d *= 2) {
            const uint32_t left = __shfl_up_sync(0xffffffffu, upto, d);
            if (lane >= d) upto += left;
        }
        own.place = upto - own.count;
        if (lane == 31) s.sums[warp] = upto;
    }
    __syncthreads();
    if (threadIdx.x < digits) {
#pragma unroll
        for (int w = 0; w < digits / 32 - 1; ++w)
            if (w < warp) own.place += s.sums[w];
        uint32_t place = own.place;
#pragma unroll
        for (int w = 0; w < sort_warps; ++w) {
            s.counts[w][threadIdx.x] = place;
            place += counts[w];
        }
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < I; ++i) {
        uint32_t same = 0xffffffffu; /* lanes with the same digit */
#pragma unroll
        for (int b = 0; b < digit_bits; ++b) same &= lanes_alike(x[i], 1u << b);
        const int last = 31 - __clz((int)same);
        const uint32_t before = (uint32_t)__popc(same & ((1u << lane) - 1));
        uint32_t place = 0;
        if (lane == last) {
            place = mine[x[i]];
            mine[x[i]] = place + before + 1;
        }
        x[i] = __shfl_sync(0xffffffffu, place, last) + before;
        __syncwarp();
    }
    return own;
}

/* A tile's place in memory; it has count elements. */
template <class K, class V>
struct sort_tile {
    const K *keys;
    const V *values;
    int count;
};

/* Items past the tile's end get the last digit: they stand after all others, and stay there. */
template <class K, int I>
static __device__ __forceinline__ void digits_of_items(uint32_t (&x)[I], const K (&key)[I],
                                                       int count, const digit_maker<K> &digit) {
#pragma unroll
    for (int i = 0; i < I; ++i) x[i] = digit(key[i]);
    if (count == sort_threads * I) return;
#pragma unroll
    for (int i = 0; i < I; ++i)
        if (item_at<I>(i) >= count) x[i] = digits - 1;
}

/* Wide: whole tiles without a question between one element and the next, by code of their own. */
template <bool Wide, class T, int I>
static __device__ __forceinline__ void load_items(T (&x)[I], const T *from, int count) {
    from += item_at<I>(0);
    if (Wide && count == sort_threads * I) {
#pragma unroll
        for (int i = 0; i < I; ++i) x[i] = from[i * 32];
    } else {
#pragma unroll
        for (int i = 0; i < I; ++i) x[i] = item_at<I>(i) < count ? from[i * 32] : T{};
    }
}

/* Writes items to their digits' bases and on. */
template <bool Wide, class T, int I>
static __device__ __forceinline__ void store_runs(T *to, const T (&x)[I], const int64_t *bases,
                                                  const uint32_t (&digit)[I], int count) {
    to += threadIdx.x;
    if (Wide && count == sort_threads * I) {
#pragma unroll
        for (int i = 0; i < I; ++i) to[bases[digit[i]] + i * sort_threads] = x[i];
    } else {
#pragma unroll
        for (int i = 0; i < I; ++i)
            if (i * sort_threads + (int)threadIdx.x < count)
                to[bases[digit[i]] + i * sort_threads] = x[i];
    }
}

/* Writes the tile in order, from s.keys, each digit's elements from its base on. Needs a barrier
   before it, and afterwards before s is used again. */
template <bool Wide, class K, class V, int I>
static __device__ __forceinline__ void
write_tile(sort_shared<K, V, I> &s, const uint32_t (&place)[I], const sort_tile<K, V> &tile,
           const digit_maker<K> &digit_of_key, K *keys_out, V *values_out) {
    V values[I];
    if constexpr (has_values<V>) load_items<Wide>(values, tile.values, tile.count);
    K keys[I];
    uint32_t digit[I];
#pragma unroll
    for (int i = 0; i < I; ++i) keys[i] = s.keys[i * sort_threads + threadIdx.x];
#pragma unroll
    for (int i = 0; i < I; ++i) digit[i] = digit_of_key(keys[i]);
    store_runs<Wide>(keys_out, keys, s.bases, digit, tile.count);
    if constexpr (has_values<V>) {
        __syncthreads();
#pragma unroll
        for (int i = 0; i < I; ++i) s.values[place[i]] = values[i];
        __syncthreads();
#pragma unroll
        for (int i = 0; i < I; ++i) values[i] = s.values[i * sort_threads + threadIdx.x];
        store_runs<Wide>(values_out, values, s.bases, digit, tile.count);
    }
}

/* ---- A pass over a portion ------------------------------------------------------------------- */

struct pass_arguments {
    const void *keys, *values; /* of the portion, n elements */
    void *keys_out, *values_out;
    int64_t n;
    sort_order order;
    sort_digit digit;
    const int64_t *bases; /* of this portion */
    int64_t *next_bases;  /* NULL: there is none */
    uint32_t *words;      /* digits of them a tile, clear */
    uint32_t *next_words; /* to be cleared */
    int64_t next_word_count;
    uint32_t *ticket;
};

/* How many elements of earlier tiles have this thread's digit. */
static __device__ __forceinline__ uint32_t look_back(const uint32_t *words, int64_t tile) {
    constexpr int at_once = 4;
    uint32_t sum = 0;
#pragma unroll 1
    for (int64_t t = tile - 1;;) {
        uint32_t w[at_once];
#pragma unroll
        for (int k = 0; k < at_once; ++k)
            w[k] = t >= k ? load_relaxed(words + (t - k) * digits + threadIdx.x) : word_is_sum;
#pragma unroll
        for (int k = 0; k < at_once; ++k) {
            if ((w[k] & ~word_number) == 0) break;
            sum += w[k] & word_number;
            if (w[k] & word_is_sum) return sum;
            --t;
        }
    }
}

template <class K, class V>
__global__ void __launch_bounds__(sort_threads, 2)
    sort_pass(const __grid_constant__ pass_arguments a) {
    constexpr int I = pass_items<K, V>, items = pass_tile<K, V>;
    __shared__ sort_shared<K, V, I> s;

    if (threadIdx.x == 0) {
        s.ticket = atomicAdd(a.ticket, 1u);
        if (s.ticket == gridDim.x - 1) *a.ticket = 0; /* all have been taken */
    }
    __syncthreads();
    const int64_t tile = s.ticket;
    const int64_t first = tile * items;
    const int64_t left = a.n - first;
    const sort_tile<K, V> here = {(const K *)a.keys + first,
                                  has_values<V> ? (const V *)a.values + first : nullptr,
                                  left < items ? (int)left : items};
    const digit_maker<K> digit(a.order, a.digit);
    K key[I];
    load_items<true>(key, here.keys, here.count);
    if (threadIdx.x < digits) {
#pragma unroll 1
        for (int64_t k = tile * digits + threadIdx.x; k < a.next_word_count;
             k += (int64_t)gridDim.x * digits)
            a.next_words[k] = 0;
    }
    uint32_t place[I];
    digits_of_items(place, key, here.count, digit);
    uint32_t *const own_word = a.words + tile * digits + threadIdx.x;
    const digit_counts own = digits_to_places(s, place, [&](uint32_t count) {
        store_relaxed(own_word, count | (tile == 0 ? word_is_sum : word_is_count));
    });
    __syncthreads();
#pragma unroll
    for (int i = 0; i < I; ++i) s.keys[place[i]] = key[i];
    if (threadIdx.x < digits) {
        const uint32_t before = look_back(a.words, tile);
        if (tile > 0) store_relaxed(own_word, (before + own.count) | word_is_sum);
        const int64_t base = a.bases[threadIdx.x] + before;
        s.bases[threadIdx.x] = base - own.place;
        if (tile == gridDim.x - 1 && a.next_bases != nullptr)
            a.next_bases[threadIdx.x] = base + own.count;
    }
    __syncthreads();
    write_tile<true>(s, place, here, digit, (K *)a.keys_out, (V *)a.values_out);
}

/* ---- Segments -------------------------------------------------------------------------------- */

struct segments_arguments {
    vscan__sort sort;
    sort_order order;
    int passes;          /* even where a sort is in place */
    int chunk;           /* segments that a block takes at a time */
    void *keys, *values; /* n elements each: where every other pass writes to */
    vscan__late *late;
};

static __device__ __forceinline__ int64_t offset_at(const vscan__sort &sort, int64_t k) {
    if (sort.offsets == nullptr) return k == 0 ? 0 : sort.n;
    return sort.offset_type == VSCAN_INT ? ((const int32_t *)sort.offsets)[k]
                                         : ((const int64_t *)sort.offsets)[k];
}

/* By one warp, up to warp_pieces * 32 elements. */
template <class K, class V>
static __device__ __forceinline__ void sort_by_warp(const segments_arguments &a, int64_t first,
                                                    int count) {
    constexpr int R = warp_pieces;
    const int lane = threadIdx.x % 32;
    const K *const keys = (const K *)a.sort.keys + first;
    K x[R], compared[R];
    V value[R];
    int place[R];
    const K window = (K)(~(K)0 >> (8 * (int)sizeof(K) - a.order.bits));
#pragma unroll
    for (int r = 0; r < R; ++r) {
        const int i = r * 32 + lane;
        x[r] = i < count ? keys[i] : (K)0;
        if constexpr (has_values<V>)
            value[r] = i < count ? ((const V *)a.sort.values + first)[i] : V{};
        compared[r] =
            (ordered(x[r], a.order) >> a.order.first_bit ^ (K)(int32_t)a.order.descending) & window;
        place[r] = 0;
    }
#pragma unroll
    for (int q = 0; q < R; ++q) {
        if (q * 32 >= count) break;
#pragma unroll 1
        for (int l = 0; l < 32 && q * 32 + l < count; ++l) {
            const K other = __shfl_sync(0xffffffffu, compared[q], l);
            const int at = q * 32 + l;
#pragma unroll
            for (int r = 0; r < R; ++r)
                place[r] += other < compared[r] || (other == compared[r] && at < r * 32 + lane);
        }
    }
    __syncwarp();
#pragma unroll
    for (int r = 0; r < R; ++r) {
        if (r * 32 + lane >= count) continue;
        ((K *)a.sort.keys_out + first)[place[r]] = x[r];
        if constexpr (has_values<V>) ((V *)a.sort.values_out + first)[place[r]] = value[r];
    }
}

/* By the block, any number of elements. One tile needs no counting beforehand: its elements go to their
   places in it. */
template <class K, class V>
static __device__ __forceinline__ void sort_by_block(const segments_arguments &a,
                                                     sort_shared<K, V, segment_items> &s,
                                                     int64_t first, int64_t n) {
    constexpr int I = segment_items;
    const int warp = threadIdx.x / 32;
    const K *keys = (const K *)a.sort.keys;
    const V *values = (const V *)a.sort.values;
#pragma unroll 1
    for (int pass = 0; pass < a.passes; ++pass) {
        const digit_maker<K> digit(a.order, digit_of_pass(a.order, pass));
        const bool to_out = (a.passes - 1 - pass) % 2 == 0; /* the last one, and every other */
        K *const keys_out = to_out ? (K *)a.sort.keys_out : (K *)a.keys;
        V *const values_out = to_out ? (V *)a.sort.values_out : (V *)a.values;

        /* ---- The digits of the segment, counted and summed up --------------------------------- */
        const bool counted = n > segment_tile;
        int64_t base = first; /* of this thread's digit */
        __syncthreads();
        if (counted) {
#pragma unroll 1
            for (int k = threadIdx.x; k < sort_warps * digits; k += sort_threads)
                (&s.counts[0][0])[k] = 0;
            __syncthreads();
#pragma unroll 1
            for (int64_t i = first + threadIdx.x; i < first + n; i += sort_threads)
                atomicAdd(&s.counts[warp][digit(keys[i])], 1u);
            __syncthreads();
            if (threadIdx.x < digits) {
                int64_t own = 0;
#pragma unroll 1
                for (int w = 0; w < sort_warps; ++w) own += s.counts[w][threadIdx.x];
                s.bases[threadIdx.x] = own;
            }
            __syncthreads();
            if (threadIdx.x < digits)
#pragma unroll 1
                for (int k = 0; k < (int)threadIdx.x; ++k) base += s.bases[k];
        }

        /* ---- One tile after the other --------------------------------------------------------- */
#pragma unroll 1
        for (int64_t at = 0; at < n; at += segment_tile) {
            const int64_t left = n - at;
            const sort_tile<K, V> here = {keys + first + at,
                                          has_values<V> ? values + first + at : nullptr,
                                          left < segment_tile ? (int)left : segment_tile};
            K key[I];
            load_items<false>(key, here.keys, here.count);
            uint32_t place[I];
            digits_of_items(place, key, here.count, digit);
            __syncthreads();
            const digit_counts counts = digits_to_places(s, place, [](uint32_t) {});
            __syncthreads();
#pragma unroll
            for (int i = 0; i < I; ++i) s.keys[place[i]] = key[i];
            if (threadIdx.x < digits) {
                s.bases[threadIdx.x] = counted ? base - counts.place : base;
                base += counts.count;
            }
            __syncthreads();
            write_tile<false>(s, place, here, digit, keys_out, values_out);
        }
        keys = keys_out;
        values = values_out;
    }
    __syncthreads();
}

static __device__ void report_segment(vscan__late *late, int64_t at) {
    if (*(volatile int32_t *)&late->status != VSCAN_OK) return;
    *(volatile int64_t *)&late->at = at;
    *(volatile int32_t *)&late->status = VSCAN_ERROR_POSITION;
}

/* Elements first .. end - 1, which are in no segment, by all threads of the launch. */
template <class T>
static __device__ __forceinline__ void copy_elements(void *to, const void *from, int64_t first,
                                                     int64_t end) {
    if (to == from) return;
    const int64_t step = (int64_t)gridDim.x * sort_threads;
#pragma unroll 1
    for (int64_t i = first + (int64_t)blockIdx.x * sort_threads + threadIdx.x; i < end; i += step)
        ((T *)to)[i] = ((const T *)from)[i];
}

template <class K, class V>
__global__ void __launch_bounds__(sort_threads, 2)
    sort_segments(const __grid_constant__ segments_arguments a) {
    __shared__ sort_shared<K, V, segment_items> s;
    __shared__ int64_t begins[most_segments + 1];
    const vscan__sort &sort = a.sort;
    const int warp = threadIdx.x / 32;

#pragma unroll 1
    for (int64_t chunk = (int64_t)blockIdx.x * a.chunk; chunk < sort.segments;
         chunk += (int64_t)gridDim.x * a.chunk) {
        const int64_t left = sort.segments - chunk;
        const int count = left < a.chunk ? (int)left : a.chunk;
        __syncthreads();
        if ((int)threadIdx.x <= count) begins[threadIdx.x] = offset_at(sort, chunk + threadIdx.x);
        __syncthreads();
        if ((int)threadIdx.x < count) {
            const int64_t begin = begins[threadIdx.x], end = begins[threadIdx.x + 1];
            if (begin < 0 || end < begin || end > sort.n)
                report_segment(a.late, chunk + threadIdx.x);
        }
        const auto length = [&](int k) { /* -1: the segment is none */
                                         const int64_t begin = begins[k], end = begins[k + 1];
                                         return begin < 0 || end < begin || end > sort.n
                                                    ? -1
                                                    : end - begin;
        };
#pragma unroll 1
        for (int k = warp; k < count; k += sort_warps) {
            const int64_t n = length(k);
            if (n > 0 && n <= 32 * warp_pieces) sort_by_warp<K, V>(a, begins[k], (int)n);
        }
#pragma unroll 1
        for (int k = 0; k < count; ++k) {
            const int64_t n = length(k);
            if (n > 32 * warp_pieces) sort_by_block<K, V>(a, s, begins[k], n);
        }
    }
    const int64_t first = offset_at(sort, 0), end = offset_at(sort, sort.segments);
    if (sort.segments == 0 && threadIdx.x == 0 && (first < 0 || first > sort.n))
        report_segment(a.late, 0);
    if (first > 0 && first <= sort.n) {
        copy_elements<K>(sort.keys_out, sort.keys, 0, first);
        if constexpr (has_values<V>) copy_elements<V>(sort.values_out, sort.values, 0, first);
    }
    if (end >= 0 && end < sort.n) {
        copy_elements<K>(sort.keys_out, sort.keys, end, sort.n);
        if constexpr (has_values<V>) copy_elements<V>(sort.values_out, sort.values, end, sort.n);
    }
}

/* ---- Launching ------------------------------------------------------------------------------- */

/* How a sort is cut, and where things lie in the context's memory for sorts. */
struct sort_plan {
    int passes;
    int64_t tiles, rows; /* of all, and of a portion at most */
    int64_t words, keys, values, bytes;
};

static int64_t rounded(int64_t bytes) {
    return (bytes + 255) / 256 * 256;
}

static sort_plan plan_sort(const vscan__launch *launch, const vscan__sort *sort, int64_t tile) {
    sort_plan plan;
    plan.passes = (sort->bits + digit_bits - 1) / digit_bits;
    const bool in_place = sort->keys == sort->keys_out ||
                          (sort->values != nullptr && sort->values == sort->values_out);
    if (in_place) plan.passes += plan.passes % 2; /* the last one then finds no bits, and copies */
    plan.tiles = (sort->n + tile - 1) / tile;
    const int64_t most = launch->sort_portion / tile;
    const int64_t portions = plan.tiles > most ? (plan.tiles + most - 1) / most : 1;
    plan.rows = (plan.tiles + portions - 1) / portions;
    plan.words = sizeof(sort_header);
    plan.keys = plan.words + 2 * plan.rows * digits * (int64_t)sizeof(uint32_t);
    plan.values = plan.keys + rounded(sort->n * sort->key_size);
    plan.bytes = plan.values + rounded(sort->n * sort->value_size);
    return plan;
}

static int64_t tile_of(const vscan__sort *sort) {
    if (sort->value_size == 8) return pass_tile<uint32_t, uint64_t>;
    if (sort->value_size == 4)
        return sort->key_size == 8 ? pass_tile<uint64_t, uint32_t> : pass_tile<uint32_t, uint32_t>;
    return sort->key_size == 8 ? pass_tile<uint64_t, no_value> : pass_tile<uint32_t, no_value>;
}

static sort_order order_of(const vscan__sort *sort) {
    const unsigned long long sign = 1ull << (8 * sort->key_size - 1);
    const unsigned long long infinity = sort->key_size == 8 ? 0x7ff0000000000000ull : 0x7f800000u;
    sort_order order = {0, sign, ~0ull, sort->descending ? ~0u : 0, sort->first_bit, sort->bits};
    if (sort->real) {
        order.turned = sign - 1;
        order.shift = infinity + 1; /* -infinity, turned, is sign + sign - 1 - infinity */
        order.most = 2 * infinity + 2;
    }
    return order;
}

template <class K, class V>
static cudaError_t launch_segments(const vscan__launch *launch, const vscan__sort *sort) {
    const sort_plan plan = plan_sort(launch, sort, pass_tile<K, V>);
    segments_arguments a;
    a.sort = *sort;
    a.order = order_of(sort);
    a.passes = plan.passes;
    a.keys = (char *)launch->sort_memory + plan.keys;
    a.values = (char *)launch->sort_memory + plan.values;
    a.late = launch->late;
    /* few segments: a block for each of them */
    const int64_t each = sort->segments / (8 * (int64_t)launch->multiprocessors);
    a.chunk = each < 1 ? 1 : each < most_segments ? (int)each : most_segments;
    const int64_t chunks = (sort->segments + a.chunk - 1) / a.chunk;
    const int64_t most = INT64_C(1) << 30;
    return start(sort_segments<K, V>, chunks < most ? chunks > 0 ? chunks : 1 : most, sort_threads,
                 0, launch->stream, a);
}

template <class K, class V>
static cudaError_t launch_passes(const vscan__launch *launch, const vscan__sort *sort) {
    constexpr int64_t tile = pass_tile<K, V>;
    const sort_plan plan = plan_sort(launch, sort, tile);
    char *const memory = (char *)launch->sort_memory;
    sort_header *const header = (sort_header *)memory;
    uint32_t *const words[2] = {(uint32_t *)(memory + plan.words),
                                (uint32_t *)(memory + plan.words) + plan.rows * digits};
    count_arguments c;
    c.keys = sort->keys;
    c.n = sort->n;
    c.order = order_of(sort);
    c.passes = plan.passes;
    for (int pass = 0; pass < most_passes; ++pass) c.digit[pass] = digit_of_pass(c.order, pass);
    c.header = header;
    c.words = words[0];
    c.word_count = plan.rows * digits;
    const int64_t resident = (int64_t)count_blocks * launch->multiprocessors;
    cudaError_t error = start(count_digits<K>, plan.tiles < resident ? plan.tiles : resident,
                              count_threads, 0, launch->stream, c);

    int launches = 0;
    const void *keys = sort->keys, *values = sort->values;
    for (int pass = 0; pass < plan.passes && error == cudaSuccess; ++pass) {
        const bool to_out = (plan.passes - 1 - pass) % 2 == 0; /* the last one, and every other */
        pass_arguments a;
        a.keys_out = to_out ? sort->keys_out : memory + plan.keys;
        a.values_out = to_out ? sort->values_out : memory + plan.values;
        a.order = c.order;
        a.digit = c.digit[pass];
        a.next_word_count = c.word_count;
        a.ticket = &header->ticket;
        for (int64_t at = 0, portion = 0; at < plan.tiles && error == cudaSuccess;
             at += plan.rows, ++portion) {
            const int64_t left = plan.tiles - at, rows = left < plan.rows ? left : plan.rows;
            const int64_t first = at * tile;
            a.keys = (const K *)keys + first;
            a.values = has_values<V> ? (const V *)values + first : nullptr;
            a.n = left > rows ? rows * tile : sort->n - first;
            a.bases = header->bases[pass][portion % 2];
            a.next_bases = left > rows ? header->bases[pass][(portion + 1) % 2] : nullptr;
            a.words = words[launches % 2];
            a.next_words = words[(launches + 1) % 2];
            ++launches;
            error = start(sort_pass<K, V>, rows, sort_threads, 0, launch->stream, a);
        }
        keys = a.keys_out;
        values = a.values_out;
    }
    return error;
}

template <class K, class V>
static cudaError_t launch_sort(const vscan__launch *launch, const vscan__sort *sort) {
    if (sort->n > segment_tile) return launch_passes<K, V>(launch, sort);
    vscan__sort one = *sort;
    one.offsets = nullptr;
    one.segments = 1;
    return launch_segments<K, V>(launch, &one);
}

} /* namespace vscan */

using namespace vscan;

extern "C" int64_t vscan__sort_memory(const vscan__launch *launch, const vscan__sort *sort) {
    return plan_sort(launch, sort, tile_of(sort)).bytes;
}

#define SORT_BY_SIZE(name)                                                                         \
    (sort->key_size == 8     ? sort->value_size == 8   ? name<uint64_t, uint64_t>(launch, sort)    \
                               : sort->value_size == 4 ? name<uint64_t, uint32_t>(launch, sort)    \
                                                       : name<uint64_t, no_value>(launch, sort)    \
         : sort->value_size == 8 ? name<uint32_t, uint64_t>(launch, sort)                          \
     : sort->value_size == 4 ? name<uint32_t, uint32_t>(launch, sort)                              \
                             : name<uint32_t, no_value>(launch, sort))

extern "C" cudaError_t vscan__launch_sort(const vscan__launch *launch, const vscan__sort *sort) {
    return SORT_BY_SIZE(launch_sort);
}

extern "C" cudaError_t vscan__launch_sort_segmented(const vscan__launch *launch,
                                                    const vscan__sort *sort) {
    return SORT_BY_SIZE(launch_segments);
}
