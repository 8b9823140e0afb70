/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Segments: their first or last element to all places, and what tells where they begin, as flags, offsets
 * or lengths. Positions of flags are found in pack.cu.
 */
#include "map.cuh"
#include "unit_words.cuh"
#include "vectors.cuh"

namespace vscan {

static constexpr unsigned spread_lanes = 0xffffffffu;
static constexpr int spread_warps = 8, spread_threads = 32 * spread_warps;
static constexpr int spread_blocks = 4; /* of a multiprocessor */

template <class Work>
struct segments_work {
    Work work;
    vscan__workspace_header *header;
    word *words;
    int64_t capacity;
    vscan__late *late;
    uint32_t delay; /* for tests: see test_delay */
};

/* The next tile of the launch, the same for all threads, who have met; `tag` if there are several. */
template <class Work>
static __device__ __forceinline__ int64_t next_tile(const segments_work<Work> &a, ticket &shared,
                                                    int64_t tile, int64_t tiles, int words_each,
                                                    uint32_t &tag) {
    if (threadIdx.x == 0) {
        ticket t = {0, (uint32_t)(tile + 1)}; /* one tile needs no tickets */
        if (tiles > 1) {
            t = take_ticket(a.header);
            if (t.index == tiles + gridDim.x - 1)
                end_tickets(a.header, a.words, a.capacity, tiles * words_each);
        }
        shared = t;
    }
    __syncthreads();
    tag = shared.tag;
    return shared.index;
}

template <class Work>
static segments_work<Work> segments_launch(const vscan__launch *launch, const Work *work) {
    segments_work<Work> a;
    a.work = *work;
    a.header = (vscan__workspace_header *)launch->workspace;
    a.words = (word *)((char *)launch->workspace + VSCAN__WORKSPACE_HEADER);
    a.capacity = launch->words;
    a.late = launch->late;
    a.delay = launch->test_delay;
    return a;
}

/* ---- The first or the last element of segments ------------------------------------------------ */

/*
 * Positions count in scan order, as in vectors.cuh: backward, a segment's last element comes first. A
 * warp has 32 rows of 32 elements beside each other; lane r keeps the heads of row r. The word of a
 * tile is the place of its last head, published before anything is waited for. Of in only elements are
 * read that begin a segment; those keep their value, so in place is like apart.
 *
 * Barriers: (1) ticket known; (2) last heads of the warps known; (3) what earlier tiles have, too.
 */
static constexpr int spread_items = 1024 * spread_warps;

/* Lane r: the heads of 32 elements from position first + 32 r on, bits past the n-th being anything. */
static __device__ __forceinline__ uint32_t heads_of_rows(const vscan__spread &s, int64_t first) {
    const int lane = threadIdx.x % 32;
    uint32_t heads = 0;
    if (s.flag_type == VSCAN_BIT) {
        const uint32_t *const words = (const uint32_t *)s.flags;
        const int64_t i = first + lane * 32, at = s.backward ? s.n - i - 31 : i; /* in memory */
        if (s.backward ? at > 0 && i > 0 : i < s.n) {
            heads = words[at >> 5] >> (at & 31);
            if (at & 31) heads |= words[(at >> 5) + 1] << (32 - (at & 31));
            if (s.backward) heads = __brev(heads);
        } else if (s.backward) {
            for (int j = 0; j < 32; ++j)
                if (i + j > 0 && i + j < s.n)
                    heads |= flag_at(s.flags, VSCAN_BIT, s.n - i - j) << j;
        }
        return i == 0 ? heads | 1 : heads;
    }
#pragma unroll 16
    for (int r = 0; r < 32; ++r) {
        const int64_t i = first + r * 32 + lane;
        bool head = i == 0;
        if (i > 0 && i < s.n) head = flag_at(s.flags, s.flag_type, s.backward ? s.n - i : i);
        const uint32_t row = __ballot_sync(spread_lanes, head);
        if (lane == r) heads = row;
    }
    return heads;
}

template <class T>
__global__ void __launch_bounds__(spread_threads, spread_blocks)
    spread_elements(const __grid_constant__ segments_work<vscan__spread> a) {
    __shared__ ticket shared_ticket;
    __shared__ int lasts[spread_warps];
    __shared__ long long opens[spread_warps];
    const vscan__spread &s = a.work;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int64_t n = s.n, tiles = (n + spread_items - 1) / spread_items;
    const bool backward = s.backward;
    const T *const in = (const T *)s.in;
    T *const out = (T *)s.out;
    int64_t seen = 0;
    long long open = 0; /* where the last segment begins that begins before tile number seen */
    for (int64_t tile = -1;;) {
        uint32_t tag;
        tile = next_tile(a, shared_ticket, tile, tiles, 1, tag); /* (1) */
        if (tile >= tiles) return;
        const int64_t first = tile * spread_items + warp * 1024;
        const uint32_t heads = heads_of_rows(s, first);
        /* place of the last head in row `lane` of the tile, then in all of the warp's rows up to it */
        int last = heads ? warp * 1024 + lane * 32 + 31 - __clz((int)heads) : -1;
#pragma unroll
        for (int d = 1; d < 32; d *= 2) {
            const int left = __shfl_up_sync(spread_lanes, last, d);
            if (lane >= d && left > last) last = left;
        }
        int before = __shfl_up_sync(spread_lanes, last, 1); /* row `lane` */
        if (lane == 0) before = -1;
        if (lane == 31) lasts[warp] = last;
        __syncthreads();                 /* (2) */
        int of_tile = -1, of_warps = -1; /* of those before this one */
#pragma unroll
        for (int w = 0; w < spread_warps; ++w) {
            if (lasts[w] > of_tile) of_tile = lasts[w];
            if (w < warp && lasts[w] > of_warps) of_warps = lasts[w];
        }
        if (threadIdx.x == 0 && tiles > 1) {
            test_delay(a.delay, tag, tile, 0);
            unit_word<uint32_t>::publish(a.words, tile, tag | (of_tile >= 0), (uint32_t)of_tile);
        }
        test_delay(a.delay, tag, tile, 1);
        for (int64_t t = seen + threadIdx.x; t < tile; t += spread_threads) {
            uint32_t place, has;
            while (!unit_word<uint32_t>::read(a.words, t, tag, &place, &has)) {
            }
            if (has) open = t * spread_items + place;
        }
        __syncwarp();
#pragma unroll
        for (int d = 16; d > 0; d /= 2) {
            const long long other = __shfl_xor_sync(spread_lanes, open, d);
            if (other > open) open = other;
        }
        if (lane == 0) opens[warp] = open;
        __syncthreads(); /* (3) */
#pragma unroll
        for (int w = 0; w < spread_warps; ++w)
            if (opens[w] > open) open = opens[w];
        seen = tile;
        if (before < of_warps) before = of_warps;
#pragma unroll 8
        for (int r = 0; r < 32; ++r) {
            const uint32_t row = __shfl_sync(spread_lanes, heads, r) & ((2u << lane) - 1);
            int place = __shfl_sync(spread_lanes, before, r);
            if (row) place = warp * 1024 + r * 32 + 31 - __clz((int)row);
            const int64_t i = first + r * 32 + lane;
            const int64_t from = place >= 0 ? tile * spread_items + place : open;
            if (i < n) out[backward ? n - 1 - i : i] = in[backward ? n - 1 - from : from];
        }
    }
}

/* ---- Offsets ---------------------------------------------------------------------------------- */

static __device__ __forceinline__ int64_t number_at(const void *numbers, int type, int64_t i) {
    return type == VSCAN_LONG ? ((const int64_t *)numbers)[i] : ((const int32_t *)numbers)[i];
}

static __device__ __forceinline__ void put_number(void *numbers, int type, int64_t i, int64_t x) {
    if (type == VSCAN_LONG)
        ((int64_t *)numbers)[i] = x;
    else
        ((int32_t *)numbers)[i] = (int32_t)x;
}

/* Sets the flags, all clear, at the offsets; one at the end of the flags has none. */
__global__ void __launch_bounds__(map_threads)
    mark_offsets(const __grid_constant__ segments_work<vscan__ranges> a) {
    const vscan__ranges &s = a.work;
    const int64_t i = (int64_t)blockIdx.x * map_threads + threadIdx.x;
    int64_t wrong = -1, word_at = -1;
    uint32_t bits = 0;
    if (i < s.n) {
        const int64_t at = number_at(s.in, s.type, i);
        if (at < 0 || at > s.length || (i > 0 && number_at(s.in, s.type, i - 1) > at))
            wrong = i;
        else if (at == s.length)
            ;
        else if (s.out_type == VSCAN_BIT)
            word_at = at >> 5, bits = 1u << (at & 31);
        else if (s.out_type == VSCAN_BYTE)
            ((uint8_t *)s.out)[at] = 1;
        else
            ((int32_t *)s.out)[at] = 1;
    }
    if (s.out_type ==
        VSCAN_BIT) { /* lanes beside each other that have the same word are one access */
        const int lane = threadIdx.x % 32;
        const int64_t left = __shfl_up_sync(spread_lanes, word_at, 1);
#pragma unroll
        for (int d = 1; d < 32; d *= 2) {
            const int64_t other_at = __shfl_down_sync(spread_lanes, word_at, d);
            const uint32_t other = __shfl_down_sync(spread_lanes, bits, d);
            if (lane + d < 32 && other_at == word_at) bits |= other;
        }
        if (word_at >= 0 && (lane == 0 || left != word_at))
            atomicOr(&((uint32_t *)s.out)[word_at], bits);
    }
    report(a.late, VSCAN_ERROR_OFFSETS, wrong);
}

/* out[i] = in[i + 1] - in[i] */
__global__ void __launch_bounds__(map_threads)
    subtract_offsets(const __grid_constant__ segments_work<vscan__ranges> a) {
    const vscan__ranges &s = a.work;
    constexpr int rows = 8;
    const int64_t first = (int64_t)blockIdx.x * (rows * map_threads) + threadIdx.x;
    int64_t wrong = -1, low[rows], high[rows];
#pragma unroll
    for (int r = 0; r < rows; ++r) {
        const int64_t i = first + r * map_threads;
        low[r] = i < s.n ? number_at(s.in, s.type, i) : 0;
        high[r] = i < s.n ? number_at(s.in, s.type, i + 1) : 0;
    }
#pragma unroll
    for (int r = 0; r < rows; ++r) {
        const int64_t i = first + r * map_threads;
        if (i >= s.n) continue;
        put_number(s.out, s.out_type, i, high[r] - low[r]);
        if (high[r] < low[r] || (i == 0 && low[r] < 0)) wrong = i;
    }
    report(a.late, VSCAN_ERROR_OFFSETS, wrong);
}

/*
 * out[i] = in[0] + ... + in[i - 1], one more than there are lengths: one pass, as pack.cu has it, but
 * sums of 64 bits. A warp has rows of 32 lengths beside each other.
 */
static constexpr int lengths_rows = 16, lengths_items = 32 * lengths_rows * spread_warps;

__global__ void __launch_bounds__(spread_threads, spread_blocks)
    add_lengths(const __grid_constant__ segments_work<vscan__ranges> a) {
    __shared__ ticket shared_ticket;
    __shared__ long long sums[spread_warps], folded[spread_warps];
    const vscan__ranges &s = a.work;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int64_t n = s.n, tiles = n / lengths_items + 1; /* the total has a place in one, too */
    int64_t seen = 0;
    long long before = 0; /* lengths of the tiles before number seen */
    int64_t wrong = -1;
    for (int64_t tile = -1;;) {
        uint32_t tag;
        tile = next_tile(a, shared_ticket, tile, tiles, 2, tag);
        if (tile >= tiles) break;
        const int64_t first = tile * lengths_items + warp * (32 * lengths_rows) + lane;
        long long x[lengths_rows], sum = 0; /* of the warp's rows so far */
#pragma unroll
        for (int r = 0; r < lengths_rows; ++r) {
            const int64_t i = first + r * 32;
            x[r] = i < n ? number_at(s.in, s.type, i) : 0;
        }
#pragma unroll
        for (int r = 0; r < lengths_rows; ++r) {
            if (x[r] < 0) wrong = first + r * 32;
            const long long own = x[r];
            long long upto = own;
#pragma unroll
            for (int d = 1; d < 32; d *= 2) {
                const long long left = __shfl_up_sync(spread_lanes, upto, d);
                if (lane >= d) upto = (long long)((word)upto + (word)left);
            }
            x[r] = (long long)((word)sum + (word)upto - (word)own);
            sum = (long long)((word)sum + (word)__shfl_sync(spread_lanes, upto, 31));
        }
        if (lane == 0) sums[warp] = sum;
        __syncthreads();
        word all = 0, base = 0;
#pragma unroll
        for (int w = 0; w < spread_warps; ++w) {
            all += (word)sums[w];
            if (w < warp) base += (word)sums[w];
        }
        if (threadIdx.x == 0 && tiles > 1) {
            test_delay(a.delay, tag, tile, 0);
            unit_word<word>::publish(a.words, tile, tag, all);
        }
        test_delay(a.delay, tag, tile, 1);
        word fold = 0;
        for (int64_t t = seen + threadIdx.x; t < tile; t += spread_threads) {
            word value;
            uint32_t none;
            while (!unit_word<word>::read(a.words, t, tag, &value, &none)) {
            }
            fold += value;
        }
        __syncwarp();
#pragma unroll
        for (int d = 16; d > 0; d /= 2) fold += __shfl_xor_sync(spread_lanes, fold, d);
        if (lane == 0) folded[warp] = (long long)fold;
        __syncthreads();
#pragma unroll
        for (int w = 0; w < spread_warps; ++w) before = (long long)((word)before + (word)folded[w]);
        seen = tile;
#pragma unroll
        for (int r = 0; r < lengths_rows; ++r) {
            const int64_t i = first + r * 32;
            const long long y = (long long)((word)before + base + (word)x[r]);
            if (i > n) continue;
            put_number(s.out, s.out_type, i, y);
            if (s.out_type == VSCAN_INT && y > INT32_MAX) wrong = i;
        }
    }
    report(a.late, VSCAN_ERROR_OFFSETS, wrong);
}

} /* namespace vscan */

using namespace vscan;

extern "C" cudaError_t vscan__launch_spread(const vscan__launch *launch,
                                            const vscan__spread *spread) {
    const int64_t tiles = (spread->n + spread_items - 1) / spread_items;
    const int64_t resident = (int64_t)spread_blocks * launch->multiprocessors;
    const int64_t size = map_size(spread->type);
    return start(size == 8   ? spread_elements<uint64_t>
                 : size == 4 ? spread_elements<uint32_t>
                             : spread_elements<uint8_t>,
                 tiles < resident ? tiles : resident, spread_threads, 0, launch->stream,
                 segments_launch(launch, spread));
}

extern "C" cudaError_t vscan__launch_mark(const vscan__launch *launch,
                                          const vscan__ranges *ranges) {
    return start(mark_offsets, (ranges->n + map_threads - 1) / map_threads, map_threads, 0,
                 launch->stream, segments_launch(launch, ranges));
}

extern "C" cudaError_t vscan__launch_subtract(const vscan__launch *launch,
                                              const vscan__ranges *ranges) {
    return start(subtract_offsets, (ranges->n + 8 * map_threads - 1) / (8 * map_threads),
                 map_threads, 0, launch->stream, segments_launch(launch, ranges));
}

extern "C" cudaError_t vscan__launch_add(const vscan__launch *launch, const vscan__ranges *ranges) {
    const int64_t tiles = ranges->n / lengths_items + 1;
    const int64_t resident = (int64_t)spread_blocks * launch->multiprocessors;
    return start(add_lengths, tiles < resident ? tiles : resident, spread_threads, 0,
                 launch->stream, segments_launch(launch, ranges));
}
