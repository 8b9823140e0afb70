/* SPDX-License-Identifier: Apache-2.0 */
/* The first or the last element of segments to all places. */
#include "segments.cuh"

namespace vscan {

/* Blocks of a multiprocessor; before sm_80 it may have no more than 1024 threads. */
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
static constexpr int spread_blocks = 6;
#else
static constexpr int spread_blocks = 4;
#endif

/*
 * Positions count in scan order, as in vectors.cuh: backward, a segment's last element comes first. The
 * first tile begins before position 0, by as many elements (shift) as let pieces of 16 bytes of out lie
 * on multiples of 16 bytes. A tile has 256 rows of 32 elements; thread r finds the heads of row r. The
 * word of a tile is the place of its last head. A thread writes a piece: the element at the last head
 * before it, and those at heads in it. Elements at heads keep their value, and others are read only by
 * the thread that writes them, so in place is like apart.
 *
 * Of a tile that waits only its heads are kept, so little that six blocks live on a multiprocessor; with
 * two pieces asked for at a time these were faster than five or four with four or eight (H200).
 *
 * Barriers: (1) last heads of the warps known; (2) rows, the next ticket, and what earlier tiles have,
 * too. What is known of rows stands in a ring of three, as a warp may be one tile ahead of another.
 */
static constexpr int spread_items = 32 * segments_threads, spread_rings = 3;

/* 32 bytes from here on as bits, by pieces of 16 bytes; false where these are not all in the vector. */
static __device__ __forceinline__ bool bits_of_row(uint32_t &bits, const uint8_t *from,
                                                   const uint8_t *begin, const uint8_t *end) {
    const int misfit = (int)((uintptr_t)from & 15);
    const int4 *const pieces = (const int4 *)(from - misfit);
    if ((const uint8_t *)pieces < begin || (const uint8_t *)(pieces + (misfit ? 3 : 2)) > end)
        return false;
    uint32_t raw[12] = {};
    const int4 first = pieces[0], second = pieces[1];
    memcpy(raw, &first, 16);
    memcpy(raw + 4, &second, 16);
    if (misfit) {
        const int4 third = pieces[2];
        memcpy(raw + 8, &third, 16);
    }
    uint32_t low = 0, high = 0;
#pragma unroll
    for (int j = 7; j >= 0; --j) low = push_bytes(low, raw[j]);
#pragma unroll
    for (int j = 11; j >= 8; --j) high = push_bytes(high, raw[j]);
    bits = __funnelshift_r(low, high, (unsigned)misfit);
    return true;
}

/* Lane r: the heads of 32 elements from position first + 32 r on. Bits of positions below 0 are clear,
   those from the n-th on may be anything. */
static __device__ __forceinline__ uint32_t heads_of_rows(const vscan__spread &s, int64_t first) {
    const int lane = threadIdx.x % 32;
    uint32_t heads = 0;
    if (s.flag_type == VSCAN_INT) {
        const int32_t *const flags = (const int32_t *)s.flags;
        if (first > 0 && first + 1024 <= s.n) {
            const int32_t *const from = flags + (s.backward ? s.n - first - lane : first + lane);
            const int step = s.backward ? -32 : 32;
#pragma unroll 16
            for (int r = 0; r < 32; ++r) {
                const uint32_t row = __ballot_sync(all_lanes, from[r * step] != 0);
                if (lane == r) heads = row;
            }
            return heads;
        }
#pragma unroll 1
        for (int r = 0; r < 32; ++r) {
            const int64_t i = first + r * 32 + lane;
            bool head = i == 0;
            if (i > 0 && i < s.n) head = flags[s.backward ? s.n - i : i] != 0;
            const uint32_t row = __ballot_sync(all_lanes, head);
            if (lane == r) heads = row;
        }
        return heads;
    }
    const int64_t i = first + lane * 32, at = s.backward ? s.n - i - 31 : i; /* in memory */
    if (i >= s.n) return 0;
    bool done = at >= 0 && i >= 0 && at + 32 <= s.n;
    if (done && s.flag_type == VSCAN_BIT) {
        const uint32_t *const words = (const uint32_t *)s.flags + (at >> 5);
        heads = __funnelshift_r(words[0], at & 31 ? words[1] : 0, (unsigned)at & 31);
    } else if (done) {
        const uint8_t *const flags = (const uint8_t *)s.flags;
        done = bits_of_row(heads, flags + at, flags, flags + s.n);
    }
    if (done && s.backward) heads = __brev(heads);
    if (!done) {
#pragma unroll 1
        for (int j = 0; j < 32; ++j)
            if (i + j > 0 && i + j < s.n)
                heads |= flag_at(s.flags, s.flag_type, s.backward ? s.n - i - j : i + j) << j;
    }
    if (i <= 0 && i > -32) heads = (heads & ~0u << -i) | 1u << -i;
    return heads;
}

/* Memory is asked for the flags of the tile that begins at position first, if it is whole. */
static __device__ __forceinline__ void prefetch_flags(const vscan__spread &s, int64_t first) {
#ifdef VSCAN__BULK
    const int log_bits = s.flag_type == VSCAN_INT ? 5 : s.flag_type == VSCAN_BYTE ? 3 : 0;
    const int64_t at = s.backward ? s.n - first - (spread_items - 1) : first;
    if (at < 0 || at + spread_items > s.n) return;
    const uintptr_t flags = (uintptr_t)s.flags;
    const uintptr_t from = (flags + (uintptr_t)(at << log_bits >> 3) + 15) & ~(uintptr_t)15;
    const uintptr_t to =
        (flags + (uintptr_t)((at + spread_items) << log_bits >> 3)) & ~(uintptr_t)15;
    if (from < to) bulk_prefetch((const void *)from, (uint32_t)(to - from));
#endif
}

/* The position of the last head in tiles seen .. tile - 1, or open, the one before them: by one warp,
   tile after tile backwards, until there is one. */
static __device__ __forceinline__ int64_t last_head(const word *words, uint32_t tag, int64_t seen,
                                                    int64_t tile, int shift, int64_t open) {
    const int lane = threadIdx.x % 32;
    for (int64_t last = tile - 1; last >= seen;) {
        const int64_t t = last - lane;
        uint32_t place = 0, has = 0;
        const bool there = t < seen || unit_word<uint32_t>::read(words, t, tag, &place, &has);
        const uint32_t known = __ballot_sync(all_lanes, there);
        const uint32_t found = __ballot_sync(all_lanes, there && has);
        const uint32_t nearer = found ? (found & (0 - found)) - 1 : ~0u; /* tiles without a head */
        if ((known & nearer) != nearer) continue;
        if (found) {
            const int source = __ffs((int)found) - 1;
            place = __shfl_sync(all_lanes, place, source);
            return (last - source) * spread_items - shift + place;
        }
        last -= 32;
    }
    return open;
}

template <class T>
__global__ void __launch_bounds__(segments_threads, spread_blocks)
    spread_elements(const __grid_constant__ segments_work<vscan__spread> a) {
    constexpr int V = 16 / (int)sizeof(T), pieces = spread_items / (V * segments_threads);
    /* pieces that are asked for before one is waited for */
    constexpr int batch = sizeof(T) == 1 ? 1 : 2;
    __shared__ uint32_t heads[spread_rings][segments_threads];
    __shared__ int befores[spread_rings][segments_threads]; /* the last head before a row, or -1 */
    __shared__ int lasts[segments_warps];
    __shared__ int64_t shared_open;
    __shared__ ticket shared_ticket;
    const vscan__spread &s = a.work;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int64_t n = s.n, tiles = (n + a.shift + spread_items - 1) / spread_items;
    const bool backward = s.backward;
    const T *const in = (const T *)s.in;
    T *const out = (T *)s.out;
    int64_t tile = -1;          /* to be written; -1: none */
    int64_t seen = 0, open = 0; /* of the folder: the last head before tile number seen */
    int64_t next = -1;          /* to be read; -1: the first is not yet known */
    uint32_t tag = 0;
    for (int ring = 0, ring_before = 0;; ring_before = ring, ring = (ring + 1) % spread_rings) {

        /* ---- The next tile's heads ----------------------------------------------------------- */
        int before = -1; /* in the warp's rows before this one */
        if (next >= 0 && next < tiles) {
            const uint32_t row = heads_of_rows(s, next * spread_items - a.shift + warp * 1024);
            heads[ring][threadIdx.x] = row;
            int last = row ? (int)threadIdx.x * 32 + 31 - __clz((int)row) : -1;
#pragma unroll
            for (int d = 1; d < 32; d *= 2) {
                const int left = __shfl_up_sync(all_lanes, last, d);
                if (lane >= d && left > last) last = left;
            }
            before = __shfl_up_sync(all_lanes, last, 1);
            if (lane == 0) before = -1;
            if (lane == 31) lasts[warp] = last;
        }
        __syncthreads(); /* (1) */
        if (next >= 0 && next < tiles) {
            int of_tile = -1;
#pragma unroll
            for (int w = 0; w < segments_warps; ++w) {
                if (w == warp && of_tile > before) before = of_tile;
                if (lasts[w] > of_tile) of_tile = lasts[w];
            }
            befores[ring][threadIdx.x] = before;
            if (threadIdx.x == 0 && tiles > 1) {
                test_delay(a.delay, tag, next, 0);
                unit_word<uint32_t>::publish(a.words, next, tag | (of_tile >= 0),
                                             (uint32_t)of_tile);
            }
        }
        if (threadIdx.x == 32 * taker && next < tiles) {
            shared_ticket = take_tile(a, next, tiles, 1);
            prefetch_flags(s, (int64_t)shared_ticket.index * spread_items - a.shift);
        }
        if (tile >= 0 && warp == 1) {
            test_delay(a.delay, tag, tile, 1);
            open = last_head(a.words, tag, seen, tile, a.shift, open);
            seen = tile;
            if (lane == 0) shared_open = open;
        }
        __syncthreads(); /* (2) */

        /* ---- Results of the tile -------------------------------------------------------------- */
        if (tile >= 0) {
            const int64_t base = tile * spread_items - a.shift, from_before = shared_open;
            /* of memory: forward it ascends with the position, backward it descends */
            const auto at = [&](int64_t i) { return backward ? n - 1 - i : i; };
#pragma unroll 1
            for (int k = 0; k < pieces; k += batch) {
                T value[batch], own[batch][V];
                uint32_t bits[batch];
#pragma unroll
                for (int b = 0; b < batch; ++b) {
                    const int p = ((k + b) * segments_threads + (int)threadIdx.x) * V;
                    const uint32_t row = heads[ring_before][p / 32];
                    const uint32_t below = row & ((1u << p % 32) - 1);
                    int place = befores[ring_before][p / 32];
                    if (below) place = p / 32 * 32 + 31 - __clz((int)below);
                    const int64_t i = base + p;
                    bits[b] = row >> p % 32 & ((1u << V) - 1);
                    value[b] = 0;
                    if (i < n && !(bits[b] & 1))
                        value[b] = in[at(place >= 0 ? base + place : from_before)];
                    if (bits[b] == 0 || i < 0 || i + V > n) continue;
                    const T *const from = in + (backward ? n - V - i : i);
                    if (a.wide_in)
                        load_piece<T, V>(own[b], from);
                    else
#pragma unroll
                        for (int j = 0; j < V; ++j) own[b][j] = from[j];
                }
#pragma unroll
                for (int b = 0; b < batch; ++b) {
                    const int64_t i = base + ((k + b) * segments_threads + (int)threadIdx.x) * V;
                    if (i < 0 || i + V > n) { /* at an end of the vector: one by one */
#pragma unroll 1
                        for (int j = 0; j < V; ++j) {
                            if (i + j < 0 || i + j >= n) continue;
                            if (bits[b] >> j & 1) value[b] = in[at(i + j)];
                            out[at(i + j)] = value[b];
                        }
                        continue;
                    }
                    T y[V]; /* in the order of memory */
#pragma unroll
                    for (int j = 0; j < V; ++j) {
                        if (bits[b] >> j & 1) value[b] = backward ? own[b][V - 1 - j] : own[b][j];
                        y[j] = value[b];
                    }
                    if (backward) {
#pragma unroll
                        for (int j = 0; j < V / 2; ++j) {
                            const T other = y[j];
                            y[j] = y[V - 1 - j];
                            y[V - 1 - j] = other;
                        }
                    }
                    store_piece<T, V>(out + (backward ? n - V - i : i), y);
                }
            }
        }
        if (next >= tiles) return;
        tile = next;
        tag = shared_ticket.tag;
        next = shared_ticket.index;
    }
}

} /* namespace vscan */

using namespace vscan;

extern "C" cudaError_t vscan__launch_spread(const vscan__launch *launch,
                                            const vscan__spread *spread) {
    const int64_t size = map_size(spread->type);
    segments_work<vscan__spread> a = segments_launch(launch, spread);
    const char *const out = (const char *)spread->out;
    a.shift = elements_shifted(out, size);
    if (spread->backward) /* elements from the end on to a multiple of 16 bytes */
        a.shift =
            (16 / (int)size - elements_shifted(out + spread->n * size, size)) % (16 / (int)size);
    a.wide_in = (uintptr_t)spread->in % 16 == (uintptr_t)spread->out % 16;
    const int64_t tiles = (spread->n + a.shift + spread_items - 1) / spread_items;
    return start(size == 8   ? spread_elements<uint64_t>
                 : size == 4 ? spread_elements<uint32_t>
                             : spread_elements<uint8_t>,
                 blocks_of(launch, spread_blocks, tiles), segments_threads, 0, launch->stream, a);
}
