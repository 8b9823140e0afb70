/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Radix sort of segments, and of vectors that fit in the shared memory of a block. Offsets are on the
 * device, so it is there that segments are told apart by their length, in three launches, of which the
 * last two are left out where the vectors are too short for what they do:
 *
 * sort_tiny_segments: a warp has up to 32 segments beside one another. As many tiny ones as there are in
 * 128 elements it sorts at once: each element counts those of its segment that come before it. Those of
 * more than warp_segment elements are put into queues. A kernel of its own, as it needs few registers.
 *
 * sort_by_warps: a warp sorts those in between one by one, by radix, in shared memory.
 *
 * sort_by_blocks: as many blocks as there is room for take from the queues, by ticket. Segments of up to
 * one tile are read once, sorted in shared memory, and written once. Longer ones are sorted by all
 * blocks, tile by tile, as sort.cu sorts a vector: first the digits of all passes are counted, then
 * comes pass after pass. A ticket is a tile of a pass, and all tiles of a pass come before those of the
 * next: who waits for tiles, of this pass or the one before, waits for earlier tickets, whose blocks
 * are at work, so all get on however few blocks there are. Per segment a number says how many of its
 * tiles are done; who does a tile of the next pass waits for it, and fences make the elements seen.
 *
 * Values do not go through the passes in shared memory: positions do, of 16 bits, and at the end values
 * are taken from where they are.
 */
#include "sort.cuh"

namespace vscan {

static constexpr int warp_threads = 128, warp_warps = warp_threads / 32; /* of a block */
static constexpr int warp_items = 12;
static constexpr int warp_segment = 32 * warp_items;
static constexpr int tiny_segment = 32; /* elements that are counted against one another */
static constexpr int tiny_pieces = 4;   /* of 32 elements */
static constexpr int most_segments = 32;

/* ---- Memory ---------------------------------------------------------------------------------- */

struct middling_segment {
    int64_t first, n;
};
struct long_segment {
    int64_t first, n, first_tile;
};

/* Where things lie, after the header. Lengths of segments that do not overlap have n for their sum. */
struct segments_plan {
    int64_t most_middling, most_long, most_tiles;
    int64_t word_size;
    int64_t middling, longs, done, counts, words, keys, values, bytes;
};

static segments_plan plan_segments(const vscan__launch *launch, const vscan__sort *sort) {
    segments_plan p;
    const int64_t n = sort->n;
    p.most_middling = n / (warp_segment + 1);
    p.most_long = n / (segment_tile + 1);
    p.most_tiles = p.most_long > 0 ? n / segment_tile + p.most_long : 0;
    p.word_size = n <= launch->sort_portion ? 4 : 8;
    p.middling = sizeof(sort_header);
    p.longs = p.middling + rounded(p.most_middling * (int64_t)sizeof(middling_segment));
    p.done = p.longs + rounded(p.most_long * (int64_t)sizeof(long_segment));
    p.counts = p.done + rounded(p.most_long * (int64_t)sizeof(uint32_t));
    p.words = p.counts + p.most_long * sort->key_size * digits * p.word_size;
    p.keys = p.words + 2 * p.most_tiles * digits * p.word_size;
    const int64_t scratch = p.most_long > 0 ? n : 0;
    p.values = p.keys + rounded(scratch * sort->key_size);
    p.bytes = p.values + rounded(scratch * sort->value_size);
    return p;
}

int64_t segments_memory(const vscan__launch *launch, const vscan__sort *sort) {
    return plan_segments(launch, sort).bytes;
}

struct segments_arguments {
    vscan__sort sort;
    sort_order order;
    int passes; /* even where a sort is in place */
    int chunk;  /* segments that a warp takes at a time */
    sort_header *header;
    middling_segment *middling;
    long_segment *longs;
    int64_t most_middling, most_long;
    uint32_t *done; /* tiles of long segments, of the passes so far */
    void *counts;   /* of digits, key_size * digits for each long segment */
    void *words;    /* two sets for each tile */
    int64_t most_tiles;
    int64_t word_size;   /* and of counts: 8 where n may be too much for 4 */
    void *keys, *values; /* n elements each: where every other pass writes to */
    vscan__late *late;
};

/* How many long segments there are is in the upper bits, and in the lower ones how many tiles. */
static constexpr int tile_bits = 36;

static __host__ __device__ __forceinline__ int64_t tiles_of(int64_t n) {
    return (n + segment_tile - 1) / segment_tile;
}

/* ---- Values ---------------------------------------------------------------------------------- */

static __device__ __forceinline__ uint64_t value_at(const vscan__sort &sort, int64_t i) {
    return sort.value_size == 8 ? ((const uint64_t *)sort.values)[i]
                                : ((const uint32_t *)sort.values)[i];
}

static __device__ __forceinline__ void put_value(const vscan__sort &sort, int64_t i,
                                                 uint64_t value) {
    if (sort.value_size == 8)
        ((uint64_t *)sort.values_out)[i] = value;
    else
        ((uint32_t *)sort.values_out)[i] = (uint32_t)value;
}

/* ---- By a warp ------------------------------------------------------------------------------- */

template <class K>
struct tiny_shared {
    K keys[32 * tiny_pieces +
           tiny_segment];        /* what is past the last element is read, and not used */
    uint32_t heads[tiny_pieces]; /* bits: where segments begin; 0 in between */
};

/* Elements b .. b + n - 1, n <= 32 * tiny_pieces, of several segments. Those of this lane's segment, if
   it is one of them, begin `start` elements after b; length is else 0. */
template <class K>
static __device__ __forceinline__ void sort_tiny(const segments_arguments &a, tiny_shared<K> &s,
                                                 int64_t b, int n, int start, int length) {
    constexpr int R = tiny_pieces;
    const int lane = threadIdx.x % 32;
    const K window = (K)(~(K)0 >> (8 * (int)sizeof(K) - a.order.bits));
    if (length > 0) atomicOr(&s.heads[start / 32], 1u << start % 32);
    int longest = length;
#pragma unroll
    for (int d = 16; d > 0; d /= 2) {
        const int other = __shfl_xor_sync(0xffffffffu, longest, d);
        if (other > longest) longest = other;
    }
    K x[R], compared[R];
    int first[R], end[R], place[R]; /* of this element's segment; and where in it */
#pragma unroll
    for (int r = 0; r < R; ++r) {
        const int i = r * 32 + lane;
        x[r] = i < n ? ((const K *)a.sort.keys)[b + i] : (K)0;
    }
    int before = 0,
        after = n; /* where the segments begin that have a piece's first element, and next */
#pragma unroll
    for (int r = 0; r < R; ++r) {
        compared[r] =
            (ordered(x[r], a.order) >> a.order.first_bit ^ (K)(int32_t)a.order.descending) & window;
        s.keys[r * 32 + lane] = compared[r];
        place[r] = 0;
    }
    __syncwarp();
#pragma unroll
    for (int r = 0; r < R; ++r) {
        const uint32_t heads = s.heads[r], upto = heads & (0xffffffffu >> (31 - lane));
        first[r] = upto != 0 ? r * 32 + 31 - __clz((int)upto) : before;
        if (heads != 0) before = r * 32 + 31 - __clz((int)heads);
    }
#pragma unroll
    for (int r = R - 1; r >= 0; --r) {
        const uint32_t heads = s.heads[r], next = heads & ~(0xffffffffu >> (31 - lane));
        end[r] = next != 0 ? r * 32 + __ffs((int)next) - 1 : after;
        if (heads != 0) after = r * 32 + __ffs((int)heads) - 1;
        if (r * 32 + lane >= n) end[r] = 0;
    }
    __syncwarp();
    if (lane < R) s.heads[lane] = 0;
#pragma unroll 1
    for (int t = 0; t < longest; ++t) {
#pragma unroll
        for (int r = 0; r < R; ++r) {
            const int i = first[r] + t;
            const K other = s.keys[i];
            const bool before_this =
                other < compared[r] || (other == compared[r] && i < r * 32 + lane);
            place[r] += i < end[r] && before_this;
        }
    }
#pragma unroll
    for (int r = 0; r < R; ++r)
        if (r * 32 + lane < n) ((K *)a.sort.keys_out)[b + first[r] + place[r]] = x[r];
    if (a.sort.value_size) {
        uint64_t value[R];
#pragma unroll
        for (int r = 0; r < R; ++r)
            if (r * 32 + lane < n) value[r] = value_at(a.sort, b + r * 32 + lane);
        __syncwarp(); /* in place all are read before one is written */
#pragma unroll
        for (int r = 0; r < R; ++r)
            if (r * 32 + lane < n) put_value(a.sort, b + first[r] + place[r], value[r]);
    }
    __syncwarp();
}

template <class K>
struct warp_shared {
    alignas(16) uint32_t counts[digits];
    K keys[warp_segment];
    uint16_t from[warp_segment];
};

/* n <= warp_segment elements from b on. Items past the end get the last digit, and stay at the end. */
template <class K>
static __device__ __forceinline__ void sort_by_radix(const segments_arguments &a, warp_shared<K> &s,
                                                     int64_t b, int n) {
    constexpr int I = warp_items;
    const int lane = threadIdx.x % 32, items = (n + 31) / 32;
    const int passes = (a.order.bits + digit_bits - 1) / digit_bits;
    const bool pairs = a.sort.value_size != 0;
    K key[I];
    uint16_t from[I];
#pragma unroll
    for (int i = 0; i < I; ++i) {
        if (i >= items) break;
        from[i] = (uint16_t)(i * 32 + lane);
        key[i] = i * 32 + lane < n ? ((const K *)a.sort.keys)[b + i * 32 + lane] : (K)0;
    }
#pragma unroll 1
    for (int pass = 0; pass < passes; ++pass) {
        const digit_maker<K> digit(a.order, digit_of_pass(a.order, pass));
        uint32_t x[I];
        __syncwarp();
#pragma unroll
        for (int k = 0; k < digits / 32; ++k) s.counts[k * 32 + lane] = 0;
        __syncwarp();
#pragma unroll
        for (int i = 0; i < I; ++i) {
            if (i >= items) break;
            x[i] = i * 32 + lane < n ? digit(key[i]) : digits - 1;
            atomicAdd(&s.counts[x[i]], 1u);
        }
        __syncwarp();
        uint32_t own[2][4], sum = 0; /* of consecutive digits */
#pragma unroll
        for (int k = 0; k < 2; ++k) load_piece<uint32_t, 4>(own[k], s.counts + lane * 8 + k * 4);
#pragma unroll
        for (int k = 0; k < 8; ++k) sum += own[k / 4][k % 4];
        uint32_t upto = sum;
#pragma unroll
        for (int d = 1; d < 32; d *= 2) {
            const uint32_t left = __shfl_up_sync(0xffffffffu, upto, d);
            if (lane >= d) upto += left;
        }
        upto -= sum;
#pragma unroll
        for (int k = 0; k < 8; ++k) {
            const uint32_t count = own[k / 4][k % 4];
            own[k / 4][k % 4] = upto;
            upto += count;
        }
#pragma unroll
        for (int k = 0; k < 2; ++k) store_piece<uint32_t, 4>(s.counts + lane * 8 + k * 4, own[k]);
        __syncwarp();
        rank_items(s.counts, x, items);
#pragma unroll
        for (int i = 0; i < I; ++i) {
            if (i >= items) break;
            s.keys[x[i]] = key[i];
            if (pairs) s.from[x[i]] = from[i];
        }
        __syncwarp();
#pragma unroll
        for (int i = 0; i < I; ++i) {
            if (i >= items) break;
            key[i] = s.keys[i * 32 + lane];
            if (pairs) from[i] = s.from[i * 32 + lane];
        }
    }
#pragma unroll
    for (int i = 0; i < I; ++i)
        if (i * 32 + lane < n) ((K *)a.sort.keys_out)[b + i * 32 + lane] = key[i];
    if (!pairs) return;
    uint64_t value[I];
#pragma unroll
    for (int i = 0; i < I; ++i)
        if (i * 32 + lane < n) value[i] = value_at(a.sort, b + from[i]);
    __syncwarp(); /* in place all are read before one is written */
#pragma unroll
    for (int i = 0; i < I; ++i)
        if (i * 32 + lane < n) put_value(a.sort, b + i * 32 + lane, value[i]);
}

/* Segments that are longer, one a lane, into the queues. Where offsets are wrong, they may not fit. */
static __device__ __forceinline__ void enqueue(const segments_arguments &a, int64_t begin,
                                               int64_t n) {
    const int lane = threadIdx.x % 32;
    const bool is_long = n > segment_tile;
    const uint32_t middling = __ballot_sync(0xffffffffu, n > warp_segment && !is_long);
    uint32_t longs = __ballot_sync(0xffffffffu, is_long);
    if (middling != 0) {
        unsigned long long slot = 0;
        if (lane == 0) slot = atomicAdd(&a.header->middling, (unsigned long long)__popc(middling));
        slot = __shfl_sync(0xffffffffu, slot, 0) +
               (unsigned long long)__popc(middling & ((1u << lane) - 1));
        if (middling >> lane & 1 && slot < (unsigned long long)a.most_middling)
            a.middling[slot] = {begin, n};
    }
    for (; longs != 0; longs &= longs - 1) {
        const int k = __ffs((int)longs) - 1;
        unsigned long long slot = 0;
        if (lane == k)
            slot = atomicAdd(&a.header->longs, 1ull << tile_bits | (unsigned long long)tiles_of(n));
        slot = __shfl_sync(0xffffffffu, slot, k);
        const int64_t at = (int64_t)(slot >> tile_bits);
        if (at >= a.most_long) continue;
        if (lane == k) {
            a.longs[at] = {begin, n, (int64_t)(slot & ((1ull << tile_bits) - 1))};
            a.done[at] = 0;
        }
        const int size = a.sort.key_size * digits;
        const int64_t words = a.word_size / 4 * size;
        for (int64_t w = lane; w < words; w += 32) ((uint32_t *)a.counts)[at * words + w] = 0;
    }
}

static __device__ __forceinline__ int64_t offset_at(const vscan__sort &sort, int64_t k) {
    return sort.offset_type == VSCAN_INT ? ((const int32_t *)sort.offsets)[k]
                                         : ((const int64_t *)sort.offsets)[k];
}

static __device__ void report_segment(const segments_arguments &a, int64_t at) {
    if (a.most_middling > 0) a.header->wrong = 1; /* for sort_by_blocks */
    if (*(volatile int32_t *)&a.late->status != VSCAN_OK) return;
    *(volatile int64_t *)&a.late->at = at;
    *(volatile int32_t *)&a.late->status = VSCAN_ERROR_POSITION;
}

/* Elements first .. end - 1, which are in no segment, by all threads of the launch. */
template <class T>
static __device__ __forceinline__ void copy_elements(void *to, const void *from, int64_t first,
                                                     int64_t end) {
    if (to == from) return;
    const int64_t step = (int64_t)gridDim.x * warp_threads;
#pragma unroll 1
    for (int64_t i = first + (int64_t)blockIdx.x * warp_threads + threadIdx.x; i < end; i += step)
        ((T *)to)[i] = ((const T *)from)[i];
}

template <class K>
static __device__ __forceinline__ void copy_all(const vscan__sort &sort, int64_t first,
                                                int64_t end) {
    copy_elements<K>(sort.keys_out, sort.keys, first, end);
    if (sort.value_size == 8) copy_elements<uint64_t>(sort.values_out, sort.values, first, end);
    if (sort.value_size == 4) copy_elements<uint32_t>(sort.values_out, sort.values, first, end);
}

/* The segments of a warp, one a lane; n: -1 where it is none. */
struct lane_segment {
    int64_t begin, n;
};

static __device__ __forceinline__ lane_segment segment_of(const vscan__sort &sort, int64_t k) {
    if (k >= sort.segments) return {0, -1};
    const int64_t begin = offset_at(sort, k), end = offset_at(sort, k + 1);
    return {begin, begin < 0 || end < begin || end > sort.n ? -1 : end - begin};
}

/* What is tiny, and what is longer than a warp sorts, into the queues. */
template <class K>
__global__ void __launch_bounds__(warp_threads, 9)
    sort_tiny_segments(const __grid_constant__ segments_arguments a) {
    __shared__ tiny_shared<K> shared[warp_warps];
    const vscan__sort &sort = a.sort;
    const int lane = threadIdx.x % 32;
    tiny_shared<K> &s = shared[threadIdx.x / 32];
    const int64_t step = (int64_t)gridDim.x * warp_warps * a.chunk;
    const int64_t warp = (int64_t)blockIdx.x * warp_warps + threadIdx.x / 32;
    if (lane < tiny_pieces) s.heads[lane] = 0;
    __syncwarp();

#pragma unroll 1
    for (int64_t chunk = warp * a.chunk; chunk < sort.segments; chunk += step) {
        lane_segment own = {0, -1};
        if (lane < a.chunk) {
            own = segment_of(sort, chunk + lane);
            if (own.n < 0 && chunk + lane < sort.segments) report_segment(a, chunk + lane);
        }
        if (__any_sync(0xffffffffu, own.n > warp_segment)) enqueue(a, own.begin, own.n);
        uint32_t todo = __ballot_sync(0xffffffffu, own.n > 0 && own.n <= tiny_segment);
        while (todo != 0) {
            /* as many as there are beside one another, empty ones too */
            const int at = __ffs((int)todo) - 1;
            const int64_t b = __shfl_sync(0xffffffffu, own.begin, at);
            const bool fits = lane >= at && own.n >= 0 && own.n <= tiny_segment &&
                              own.begin + own.n - b <= 32 * tiny_pieces;
            const uint32_t others = ~(__ballot_sync(0xffffffffu, fits) >> at);
            const int last = others != 0 ? at + __ffs((int)others) - 2 : 31;
            const int n = (int)(__shfl_sync(0xffffffffu, own.begin + own.n, last) - b);
            const bool among = lane >= at && lane <= last;
            sort_tiny(a, s, b, n, among ? (int)(own.begin - b) : 0, among ? (int)own.n : 0);
            todo &= last < 31 ? 0xffffffffu << (last + 1) : 0;
        }
    }
    const int64_t first = offset_at(sort, 0), end = offset_at(sort, sort.segments);
    if (sort.segments == 0 && threadIdx.x == 0 && (first < 0 || first > sort.n))
        report_segment(a, 0);
    if (first > 0 && first <= sort.n) copy_all<K>(sort, 0, first);
    if (end >= 0 && end < sort.n) copy_all<K>(sort, end, sort.n);
}

/* What is neither. */
template <class K>
__global__ void __launch_bounds__(warp_threads, 5)
    sort_by_warps(const __grid_constant__ segments_arguments a) {
    __shared__ warp_shared<K> shared[warp_warps];
    const int lane = threadIdx.x % 32;
    const int64_t step = (int64_t)gridDim.x * warp_warps * a.chunk;
    const int64_t warp = (int64_t)blockIdx.x * warp_warps + threadIdx.x / 32;
#pragma unroll 1
    for (int64_t chunk = warp * a.chunk; chunk < a.sort.segments; chunk += step) {
        lane_segment own = {0, -1};
        if (lane < a.chunk) own = segment_of(a.sort, chunk + lane);
        uint32_t todo = __ballot_sync(0xffffffffu, own.n > tiny_segment && own.n <= warp_segment);
        for (; todo != 0; todo &= todo - 1) {
            const int at = __ffs((int)todo) - 1;
            const int64_t b = __shfl_sync(0xffffffffu, own.begin, at);
            sort_by_radix(a, shared[threadIdx.x / 32], b, (int)__shfl_sync(0xffffffffu, own.n, at));
        }
    }
}

/* ---- By a block, in shared memory ------------------------------------------------------------ */

template <class K>
struct block_shared {
    union { /* one after the other */
        uint32_t counts[sort_warps][digits];
        uint32_t all_counts[sizeof(K)][digits];
        K keys[segment_tile];
        uint64_t wide_values[segment_tile];
        uint32_t values[segment_tile];
    };
    union {
        uint16_t from[segment_tile];
        int64_t bases[digits]; /* where an element goes, less its place in the tile */
    };
    uint32_t sums[digits / 32];
    uint32_t ticket;
};

/* n <= segment_tile elements from b on. */
template <class K>
static __device__ __forceinline__ void sort_in_shared(const segments_arguments &a,
                                                      block_shared<K> &s, int64_t b, int n) {
    constexpr int I = segment_items;
    const int passes = (a.order.bits + digit_bits - 1) / digit_bits;
    const int each = (n + sort_threads - 1) / sort_threads;
    const int first = threadIdx.x / 32 * each * 32 + threadIdx.x % 32;
    const int items = first - (int)(threadIdx.x % 32) < n ? each : 0; /* of this warp */
    const bool pairs = a.sort.value_size != 0;
    K key[I];
    uint16_t from[I];
#pragma unroll
    for (int i = 0; i < I; ++i) {
        if (i >= items) break;
        from[i] = (uint16_t)(first + i * 32);
        key[i] = first + i * 32 < n ? ((const K *)a.sort.keys)[b + first + i * 32] : (K)0;
    }
#pragma unroll 1
    for (int pass = 0; pass < passes; ++pass) {
        const digit_maker<K> digit(a.order, digit_of_pass(a.order, pass));
        uint32_t place[I];
#pragma unroll
        for (int i = 0; i < I; ++i) {
            if (i >= items) break;
            place[i] = first + i * 32 < n ? digit(key[i]) : digits - 1;
        }
        __syncthreads();
        digits_to_places(s, place, items, [](uint32_t) {});
        __syncthreads();
#pragma unroll
        for (int i = 0; i < I; ++i) {
            if (i >= items) break;
            s.keys[place[i]] = key[i];
            if (pairs) s.from[place[i]] = from[i];
        }
        __syncthreads();
#pragma unroll
        for (int i = 0; i < I; ++i) {
            if (i >= items) break;
            key[i] = s.keys[first + i * 32];
            if (pairs) from[i] = s.from[first + i * 32];
        }
    }
#pragma unroll
    for (int i = 0; i < I; ++i)
        if (i < items && first + i * 32 < n) ((K *)a.sort.keys_out)[b + first + i * 32] = key[i];
    if (!pairs) return;
    uint64_t value[I];
#pragma unroll
    for (int i = 0; i < I; ++i)
        if (i < items && first + i * 32 < n) value[i] = value_at(a.sort, b + from[i]);
    __syncthreads(); /* in place all are read before one is written */
#pragma unroll
    for (int i = 0; i < I; ++i)
        if (i < items && first + i * 32 < n) put_value(a.sort, b + first + i * 32, value[i]);
}

/* ---- By all blocks, tile by tile --------------------------------------------------------------- */

/* Adds the digits of a tile, of all passes, to the counts of its segment. */
template <class K, class W>
static __device__ __forceinline__ void count_tile(const segments_arguments &a, block_shared<K> &s,
                                                  const K *keys, int count, W *counts) {
    const int all = a.passes * digits;
#pragma unroll 1
    for (int k = threadIdx.x; k < all; k += sort_threads) (&s.all_counts[0][0])[k] = 0;
    K key[segment_items];
    load_items<false>(key, keys, count);
    __syncthreads();
#pragma unroll 1
    for (int p = 0; p < a.passes; ++p) {
        const digit_maker<K> digit(a.order, digit_of_pass(a.order, p));
#pragma unroll
        for (int i = 0; i < segment_items; ++i)
            if (item_at<segment_items>(i) < count) atomicAdd(&s.all_counts[p][digit(key[i])], 1u);
    }
    __syncthreads();
#pragma unroll 1
    for (int k = threadIdx.x; k < all; k += sort_threads) {
        const uint32_t number = (&s.all_counts[0][0])[k];
        if (number > 0) atomicAdd(counts + k, (W)number);
    }
}

/* Where elements of a tile are, and go. */
struct moved_tile {
    const void *keys, *values;
    void *keys_out, *values_out; /* of the segment */
    int count;
};

/* Sorts a tile of a segment by one digit, which its segment has as often as counts say. words: of the
   segment's tiles, of which this is one. */
template <class K, class W>
static __device__ __forceinline__ void sort_tile(const segments_arguments &a, block_shared<K> &s,
                                                 const moved_tile &here, const sort_digit &of_pass,
                                                 const W *counts, W *words, int64_t tile) {
    constexpr int I = segment_items;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const digit_maker<K> digit(a.order, of_pass);
    K key[I];
    load_items<false>(key, (const K *)here.keys, here.count);
    uint32_t place[I];
    digits_of_items(place, key, here.count, digit);
    int64_t base = 0; /* of this thread's digit in the segment */
    if (threadIdx.x < digits) base = (int64_t)load_relaxed(counts + threadIdx.x);
    W *const own_word = words + tile * digits + threadIdx.x;
    const digit_counts own = digits_to_places(s, place, I, [&](uint32_t number) {
        store_relaxed(own_word, (W)number | (tile == 0 ? word_is_sum<W> : word_is_count<W>));
    });
    __syncthreads();
#pragma unroll
    for (int i = 0; i < I; ++i) s.keys[place[i]] = key[i];
    W before = 0;
    if (threadIdx.x < digits) {
        before = look_back((const W *)words, tile);
        if (tile > 0) store_relaxed(own_word, (before + own.count) | word_is_sum<W>);
        int64_t upto = base;
#pragma unroll
        for (int d = 1; d < 32; d *= 2) {
            const int64_t left = __shfl_up_sync(0xffffffffu, upto, d);
            if (lane >= d) upto += left;
        }
        if (lane == 31) s.bases[warp] = upto;
        base = upto - base;
    }
    __syncthreads();
    if (threadIdx.x < digits)
#pragma unroll
        for (int w = 0; w < digits / 32 - 1; ++w)
            if (w < warp) base += s.bases[w];
    __syncthreads();
    if (threadIdx.x < digits) s.bases[threadIdx.x] = base + (int64_t)before - own.place;
    __syncthreads();
    uint32_t digit_at[I];
    write_keys<false>(s, digit_at, here.count, digit, (K *)here.keys_out);
    if (a.sort.value_size == 8) {
        uint64_t values[I];
        load_items<false>(values, (const uint64_t *)here.values, here.count);
        write_values<false>(s, s.wide_values, values, place, digit_at, here.count,
                            (uint64_t *)here.values_out);
    } else if (a.sort.value_size == 4) {
        uint32_t values[I];
        load_items<false>(values, (const uint32_t *)here.values, here.count);
        write_values<false>(s, s.values, values, place, digit_at, here.count,
                            (uint32_t *)here.values_out);
    }
}

static __device__ __forceinline__ char *moved_by(const void *vector, int64_t elements, int size) {
    return (char *)vector + elements * size;
}

/* Long segment k, which has the tile; `phase` 0 counts, and others are passes. */
template <class K, class W>
static __device__ __forceinline__ void do_tile(const segments_arguments &a, block_shared<K> &s,
                                               int64_t k, int64_t tile, int phase) {
    const vscan__sort &sort = a.sort;
    const long_segment segment = a.longs[k];
    const int64_t in_segment = tile - segment.first_tile, at = in_segment * segment_tile;
    const int64_t left = segment.n - at, first = segment.first + at;
    const int count = left < segment_tile ? (int)left : segment_tile;
    W *const counts = (W *)a.counts + k * (int)sizeof(K) * digits;
    W *const words = (W *)a.words;

    if (threadIdx.x == 0 && phase > 0) {
        const uint32_t needed = (uint32_t)(phase * tiles_of(segment.n));
        while (load_relaxed(a.done + k) < needed) {
        }
        __threadfence();
    }
    __syncthreads();
    /* those of the pass after this one, which the pass before this one has done with */
    if (threadIdx.x < digits) words[((phase & 1) * a.most_tiles + tile) * digits + threadIdx.x] = 0;
    if (phase == 0) {
        count_tile(a, s, (const K *)sort.keys + first, count, counts);
    } else {
        const int pass = phase - 1;
        const bool to_out = (a.passes - 1 - pass) % 2 == 0; /* the last one, and every other */
        const void *const keys = pass == 0 ? sort.keys : to_out ? a.keys : sort.keys_out;
        const void *const values = pass == 0 ? sort.values : to_out ? a.values : sort.values_out;
        const moved_tile here = {
            moved_by(keys, first, (int)sizeof(K)), moved_by(values, first, sort.value_size),
            moved_by(to_out ? sort.keys_out : a.keys, segment.first, (int)sizeof(K)),
            moved_by(to_out ? sort.values_out : a.values, segment.first, sort.value_size), count};
        sort_tile<K>(a, s, here, digit_of_pass(a.order, pass), (const W *)counts + pass * digits,
                     words + ((pass & 1) * a.most_tiles + segment.first_tile) * digits, in_segment);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(a.done + k, 1u);
    }
}

template <class K>
__global__ void __launch_bounds__(sort_threads, 2)
    sort_by_blocks(const __grid_constant__ segments_arguments a) {
    __shared__ block_shared<K> s;
    if (a.sort.offsets == nullptr) {
        sort_in_shared(a, s, 0, (int)a.sort.n);
        return;
    }
    const bool wrong = a.header->wrong != 0; /* then segments may overlap */
    const int64_t longs = wrong ? 0 : (int64_t)(a.header->longs >> tile_bits);
    const int64_t tiles = wrong ? 0 : (int64_t)(a.header->longs & ((1ull << tile_bits) - 1));
    const int64_t middling = wrong ? 0 : (int64_t)a.header->middling;
    const int64_t tickets = tiles * (a.passes + 1);
    for (;;) {
        __syncthreads();
        if (threadIdx.x == 0 && tickets > 0) s.ticket = atomicAdd(&a.header->next_long, 1u);
        __syncthreads();
        if (tickets == 0 || s.ticket >= tickets) break;
        const int64_t tile = s.ticket % tiles;
        const int phase = (int)(s.ticket / tiles);
        int64_t low = 0, high = longs; /* the last segment that does not begin after the tile */
        while (high - low > 1) {
            const int64_t middle = (low + high) / 2;
            if (a.longs[middle].first_tile <= tile)
                low = middle;
            else
                high = middle;
        }
        if (a.word_size == 8)
            do_tile<K, unsigned long long>(a, s, low, tile, phase);
        else
            do_tile<K, uint32_t>(a, s, low, tile, phase);
    }
    for (;;) {
        __syncthreads();
        if (threadIdx.x == 0) s.ticket = atomicAdd(&a.header->next_middling, 1u);
        __syncthreads();
        if (s.ticket >= middling) break;
        const middling_segment segment = a.middling[s.ticket];
        sort_in_shared(a, s, segment.first, (int)segment.n);
    }
    /* all have read what the last one clears */
    if (threadIdx.x > 0) return;
    __threadfence();
    if (atomicAdd(&a.header->left, 1u) < gridDim.x - 1) return;
    a.header->longs = a.header->middling = 0;
    a.header->next_long = a.header->next_middling = 0;
    a.header->left = a.header->wrong = 0;
}

/* ---- Launching ------------------------------------------------------------------------------- */

static segments_arguments arguments_of(const vscan__launch *launch, const vscan__sort *sort) {
    segments_arguments a = {};
    a.sort = *sort;
    a.order = order_of(sort);
    a.passes = passes_of(sort);
    a.late = launch->late;
    return a;
}

cudaError_t start_short_sort(const vscan__launch *launch, const vscan__sort *sort) {
    const segments_arguments a = arguments_of(launch, sort);
    return start(sort->key_size == 8 ? sort_by_blocks<uint64_t> : sort_by_blocks<uint32_t>, 1,
                 sort_threads, 0, launch->stream, a);
}

} /* namespace vscan */

using namespace vscan;

extern "C" cudaError_t vscan__launch_sort_segmented(const vscan__launch *launch,
                                                    const vscan__sort *sort) {
    const segments_plan plan = plan_segments(launch, sort);
    char *const memory = (char *)launch->sort_memory;
    segments_arguments a = arguments_of(launch, sort);
    a.header = (sort_header *)memory;
    a.middling = (middling_segment *)(memory + plan.middling);
    a.longs = (long_segment *)(memory + plan.longs);
    a.most_middling = plan.most_middling;
    a.most_long = plan.most_long;
    a.done = (uint32_t *)(memory + plan.done);
    a.counts = memory + plan.counts;
    a.words = memory + plan.words;
    a.most_tiles = plan.most_tiles;
    a.word_size = plan.word_size;
    a.keys = memory + plan.keys;
    a.values = memory + plan.values;
    /* few segments: a warp for each of them */
    const int64_t each = sort->segments / (16 * warp_warps * (int64_t)launch->multiprocessors);
    a.chunk = each < 1 ? 1 : each < most_segments ? (int)each : most_segments;
    const int64_t chunks = (sort->segments + a.chunk - 1) / a.chunk;
    const int64_t most = INT64_C(1) << 30;
    int64_t blocks = (chunks + warp_warps - 1) / warp_warps;
    blocks = blocks < 1 ? 1 : blocks < most ? blocks : most;
    const bool wide = sort->key_size == 8;
    cudaError_t error = start(wide ? sort_tiny_segments<uint64_t> : sort_tiny_segments<uint32_t>,
                              blocks, warp_threads, 0, launch->stream, a);
    if (error == cudaSuccess && sort->n > tiny_segment)
        error = start(wide ? sort_by_warps<uint64_t> : sort_by_warps<uint32_t>, blocks,
                      warp_threads, 0, launch->stream, a);
    if (error != cudaSuccess || plan.most_middling == 0) return error;
    const int64_t room = 2 * (int64_t)launch->multiprocessors;
    return start(wide ? sort_by_blocks<uint64_t> : sort_by_blocks<uint32_t>,
                 plan.most_middling < room ? plan.most_middling : room, sort_threads, 0,
                 launch->stream, a);
}
