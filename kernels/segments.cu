/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Segments: their first or last element to all places, and what tells where they begin, as flags, offsets
 * or lengths. Positions of flags are found in pack.cu.
 *
 * Two of the kernels have tiles that need to know what lies before them, by ticket (unit_words.cuh). As
 * in pack.cu a block has two of them in hand: it reads a tile and publishes its word, and only then waits
 * for the words before its last tile, and writes that.
 */
#include "bulk.cuh"
#include "map.cuh"
#include "unit_words.cuh"
#include "vectors.cuh"

namespace vscan {

static constexpr unsigned all_lanes = 0xffffffffu;
static constexpr int segments_warps = 8, segments_threads = 32 * segments_warps;
/* of a multiprocessor; before sm_80 it may have no more than 1024 threads */
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
static constexpr int spread_blocks = 6, mark_blocks = 5, add_blocks = 4;
#else
static constexpr int spread_blocks = 4, mark_blocks = 4, add_blocks = 4;
#endif
static constexpr int taker = segments_warps - 1; /* the warp that takes tickets */

template <class Work>
struct segments_work {
    Work work;
    vscan__workspace_header *header;
    word *words;
    int64_t capacity;
    vscan__late *late;
    uint32_t delay;         /* for tests: see test_delay */
    bool wide_in, wide_out; /* aligned to pieces of 16 bytes */
    int shift;              /* elements: see the kernels */
    int64_t items;          /* offsets to flags: of a tile */
};

/* The block's next tile, whose number is tiles or more where there is none; by one thread. */
template <class Work>
static __device__ __forceinline__ ticket take_tile(const segments_work<Work> &a, int64_t tile,
                                                   int64_t tiles, int words_each) {
    if (tiles == 1) return {0, (uint32_t)(tile + 1)}; /* one tile needs no tickets */
    const ticket t = take_ticket(a.header);
    if (t.index == tiles + gridDim.x - 1)
        end_tickets(a.header, a.words, a.capacity, tiles * words_each);
    return t;
}

/* Elements that lie between the last multiple of 16 bytes before the vector and its begin. */
static int elements_shifted(const void *vector, int64_t size) {
    return size == 0 ? 0 : (int)((uintptr_t)vector % 16 / (uintptr_t)size);
}

template <class Work>
static segments_work<Work> segments_launch(const vscan__launch *launch, const Work *work) {
    segments_work<Work> a = {};
    a.work = *work;
    a.header = (vscan__workspace_header *)launch->workspace;
    a.words = (word *)((char *)launch->workspace + VSCAN__WORKSPACE_HEADER);
    a.capacity = launch->words;
    a.late = launch->late;
    a.delay = launch->test_delay;
    a.wide_in = (uintptr_t)work->in % 16 == 0;
    a.wide_out = (uintptr_t)work->out % 16 == 0;
    return a;
}

/* ---- The first or the last element of segments ------------------------------------------------ */

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

/*
 * How many of the n numbers are less than key, if they ascend: by a warp, that asks for 128 of them at a
 * time. If they do not, what is found still ascends with the key.
 */
template <class P>
static __device__ __forceinline__ int64_t numbers_below(const P *numbers, int64_t n, int64_t key) {
    constexpr int each = 4, probes = 32 * each;
    const int lane = threadIdx.x % 32;
    int64_t low = 0, high = n; /* what is looked for is low .. high */
#pragma unroll 1
    while (low < high) {
        const int64_t step = (high - low + probes + 1) / (probes + 1);
        bool less[each];
#pragma unroll
        for (int k = 0; k < each; ++k) {
            const int64_t i = low + (k * 32 + lane + 1) * step - 1;
            less[k] = i < high && numbers[i] < key;
        }
        int count = 0;
#pragma unroll
        for (int k = 0; k < each; ++k) count += __popc(__ballot_sync(all_lanes, less[k]));
        low += count * step;
        if (low + step - 1 < high) high = low + step - 1;
    }
    return low;
}

/* Whether the offset at i is as it should be, given the one before it. */
static __device__ __forceinline__ bool is_offset(int64_t offset, int64_t before, int64_t i,
                                                 int64_t length) {
    return offset >= 0 && offset <= length && (i == 0 || before <= offset);
}

/* Sets the bits of offsets beside each other, if they ascend from lowest to highest at most: bits count
   from first. */
template <class P, int V>
static __device__ __forceinline__ bool mark_piece(uint32_t *marks, const P (&x)[V], int64_t first,
                                                  int64_t lowest, int64_t highest) {
    bool good = x[0] >= lowest && x[V - 1] <= highest;
#pragma unroll
    for (int j = 1; j < V; ++j) good = good && x[j - 1] <= x[j];
    if (!good) return false;
    uint32_t place[V], bits = 0; /* a tile has fewer flags than 2^32 */
#pragma unroll
    for (int j = 0; j < V; ++j) {
        place[j] = (uint32_t)x[j] - (uint32_t)first;
        bits |= 1u << (place[j] & 31);
    }
    if (place[0] / 32 == place[V - 1] / 32) {
        atomicOr(&marks[place[0] / 32], bits);
    } else {
#pragma unroll
        for (int j = 0; j < V; ++j) atomicOr(&marks[place[j] / 32], 1u << (place[j] & 31));
    }
    return true;
}

/*
 * A block has a tile of flags, looks for the offsets that lie in it, sets their bits in shared memory,
 * and writes the tile from there: one pass, and no flag is written twice. Each offset is some block's,
 * also where they do not ascend; one that is good but lies in another block's tile is then set by the
 * last block that ends, which goes through all offsets once more.
 */
template <class P>
__global__ void __launch_bounds__(segments_threads, mark_blocks)
    mark_offsets(const __grid_constant__ segments_work<vscan__ranges> a) {
    constexpr int V = 16 / (int)sizeof(P), batch = sizeof(P) == 8 ? 2 : 4;
    __shared__ int64_t range[2];
    __shared__ bool misplaced, last;
    uint32_t *const marks = (uint32_t *)dynamic_shared();
    const vscan__ranges &s = a.work;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int64_t length = s.length, first = (int64_t)blockIdx.x * a.items - a.shift;
    const P *const in = (const P *)s.in;
#pragma unroll 1
    for (int w = threadIdx.x; w < a.items / 32; w += segments_threads) marks[w] = 0;
    if (warp < 2) { /* where the tile begins, and where the next one does */
        const bool edge = blockIdx.x + warp == 0 || blockIdx.x + warp == gridDim.x;
        const int64_t found = edge ? warp * s.n : numbers_below(in, s.n, first + warp * a.items);
        if (lane == 0) range[warp] = found;
    }
    if (threadIdx.x == 0) misplaced = false;
    __syncthreads();

    const int64_t from = range[0], to = range[1];
    /* pieces are aligned from here on; the first one begins before from */
    const int64_t aligned = from - (int64_t)((uintptr_t)(in + from) % 16 / sizeof(P));
    const int64_t lowest = first > 0 ? first : 0; /* offsets whose flags the tile has */
    const int64_t highest = (first + a.items < length ? first + a.items : length) - 1;
#ifdef VSCAN__BULK
    if (threadIdx.x == 0 && to - from >= 2 * V && to - from < 1 << 16)
        bulk_prefetch(in + aligned + V, (uint32_t)((to - aligned) / V * 16 - 16));
#endif
    int64_t wrong = -1;
    bool elsewhere = false;
#pragma unroll 1
    for (int64_t k = aligned + warp * 32 * V; k < to; k += batch * segments_threads * V) {
        P x[batch][V], before[batch];
        uint32_t slow = 0; /* bit b: piece b has to be taken one by one */
#pragma unroll
        for (int b = 0; b < batch; ++b) {
            const int64_t i = k + b * segments_threads * V + lane * V;
            before[b] = 0;
            if (lane == 0 && i > 0 && i < to) before[b] = in[i - 1];
            if (i >= 0 && i < to && i + V <= s.n) load_piece<P, V>(x[b], in + i);
        }
#pragma unroll
        for (int b = 0; b < batch; ++b) {
            const int64_t i = k + b * segments_threads * V + lane * V;
            const P left = __shfl_up_sync(all_lanes, x[b][V - 1], 1);
            const P previous = lane == 0 ? before[b] : left;
            const bool known = i >= from && i + V <= to && (lane == 0 || i >= V);
            if (i >= to || i + V <= from) continue;
            if (!known || previous > x[b][0] ||
                !mark_piece<P, V>(marks, x[b], first, lowest, highest))
                slow |= 1u << b;
        }
#pragma unroll 1
        for (int o = 0; slow != 0 && o < batch * V; ++o) {
            const int64_t i = k + o / V * segments_threads * V + lane * V + o % V;
            if (!(slow >> o / V & 1) || i < from || i >= to) continue;
            const int64_t offset = in[i], place = offset - first;
            if (!is_offset(offset, i > 0 ? in[i - 1] : 0, i, length))
                wrong = i;
            else if (offset < length && (place < 0 || place >= a.items))
                elsewhere = true;
            else if (offset < length)
                atomicOr(&marks[place / 32], 1u << place % 32);
        }
    }
    if (elsewhere) misplaced = true;
    __syncthreads();

    if (s.out_type == VSCAN_BIT) {
        uint32_t *const out = (uint32_t *)s.out + first / 32;
        const int64_t left = length - first;
        const bool wide = a.wide_out && left >= a.items;
#pragma unroll 1
        for (int w = (int)threadIdx.x * 4; wide && w < a.items / 32; w += segments_threads * 4)
            *(int4 *)(out + w) = *(const int4 *)(marks + w);
#pragma unroll 1
        for (int w = threadIdx.x; !wide && w < a.items / 32 && 32 * (int64_t)w < left;
             w += segments_threads) {
            uint32_t kept = 0;
            if (left < 32 * (int64_t)w + 32) kept = out[w] & ~0u << left % 32;
            out[w] = marks[w] | kept;
        }
    } else {
        const int each = s.out_type == VSCAN_BYTE ? 16 : 4; /* flags of a piece */
#pragma unroll 1
        for (int p = (int)threadIdx.x * each; p < a.items; p += segments_threads * each) {
            const uint32_t bits = marks[p / 32] >> p % 32;
            const int64_t i = first + p;
            if (i >= 0 && i + each <= length) {
                uint32_t y[4];
#pragma unroll
                for (int j = 0; j < 4; ++j)
                    y[j] = each == 4 ? bits >> j & 1 : bytes_of_bits(bits >> 4 * j & 15);
                store_piece<uint32_t, 4>(
                    each == 4 ? (uint32_t *)s.out + i : (uint32_t *)((uint8_t *)s.out + i), y);
            } else {
#pragma unroll 1
                for (int j = 0; j < each; ++j) {
                    if (i + j < 0 || i + j >= length) continue;
                    if (each == 4)
                        ((int32_t *)s.out)[i + j] = bits >> j & 1;
                    else
                        ((uint8_t *)s.out)[i + j] = bits >> j & 1;
                }
            }
        }
    }
    report(a.late, VSCAN_ERROR_OFFSETS, wrong);

    /* ---- What lies in other tiles ------------------------------------------------------------- */
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
        const word one = 1ull | (word)misplaced << 32;
        const word all = atomicAdd(&a.header->marked, one) + one;
        last = (uint32_t)all == gridDim.x;
        misplaced = all >> 32 != 0;
        if (last) a.header->marked = 0;
    }
    __syncthreads();
    if (!last || !misplaced) return;
    __threadfence();
#pragma unroll 1
    for (int64_t i = threadIdx.x; i < s.n; i += segments_threads) {
        const int64_t at = in[i];
        if (!is_offset(at, i > 0 ? in[i - 1] : 0, i, length) || at == length) continue;
        if (s.out_type == VSCAN_BIT)
            atomicOr(&((uint32_t *)s.out)[at >> 5], 1u << (at & 31));
        else if (s.out_type == VSCAN_BYTE)
            ((uint8_t *)s.out)[at] = 1;
        else
            ((int32_t *)s.out)[at] = 1;
    }
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
 * out[i] = in[0] + ... + in[i - 1], one more than there are lengths. A warp has rows of 32 pieces of 16
 * bytes of lengths beside each other. A tile's sums from its own begin on stand in shared memory until
 * what comes before it is known. Its word is its sum in 64 bits, whatever the offsets are: so an int that
 * does not fit is found by the sums of tiles alone, as sums ascend where no length is less than 0.
 *
 * Barriers: (1) sums of the warps known; (2) the next ticket, and what earlier tiles have, too; (3) the
 * tile written.
 */
static constexpr int sums_bytes = 32 << 10; /* of a tile's sums */

template <class Out>
static constexpr int lengths_items = sums_bytes / (int)sizeof(Out);

/* U: Out without a sign, as sums may be too large. */
template <class In, class Out, class U>
__global__ void __launch_bounds__(segments_threads, add_blocks)
    add_lengths(const __grid_constant__ segments_work<vscan__ranges> a) {
    constexpr int V = 16 / (int)sizeof(In), Q = 16 / (int)sizeof(Out);
    constexpr int items = lengths_items<Out>, rows = items / (V * segments_threads);
    __shared__ __align__(16) Out sums[items];
    __shared__ word warp_sums[segments_warps], folded[segments_warps];
    __shared__ ticket shared_ticket;
    const vscan__ranges &s = a.work;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int64_t n = s.n, tiles = n / items + 1; /* the total has a place in one, too */
    const In *const in = (const In *)s.in;
    Out *const out = (Out *)s.out;
    int64_t tile = -1, wrong = -1, seen = 0;
    word before = 0, of_tile = 0; /* lengths before tile number seen; of the tile to be written */
    int64_t next = -1;            /* to be read; -1: the first is not yet known */
    uint32_t tag = 0;
    for (;;) {

        /* ---- The next tile: loads, sums in the warps ------------------------------------------- */
        U x[rows][V];
        if (next >= 0 && next < tiles) {
            const int64_t first = next * items + (warp * rows * 32 + lane) * V;
            In raw[rows][V];
            if (a.wide_in && (next + 1) * items <= n) {
#pragma unroll
                for (int r = 0; r < rows; ++r) load_piece<In, V>(raw[r], in + first + r * 32 * V);
            } else {
#pragma unroll
                for (int r = 0; r < rows; ++r)
#pragma unroll
                    for (int j = 0; j < V; ++j) {
                        const int64_t i = first + r * 32 * V + j;
                        raw[r][j] = i < n ? in[i] : 0;
                    }
            }
            U carry = 0;
            word sum = 0;
            bool less = false;
#pragma unroll
            for (int r = 0; r < rows; ++r) {
                U own = 0;
#pragma unroll
                for (int j = 0; j < V; ++j) {
                    less |= raw[r][j] < 0;
                    if (sizeof(Out) < 8) sum += (word)(long long)raw[r][j];
                    x[r][j] = own;
                    own += (U)(long long)raw[r][j];
                }
                U upto = own;
#pragma unroll
                for (int d = 1; d < 32; d *= 2) {
                    const U left = __shfl_up_sync(all_lanes, upto, d);
                    if (lane >= d) upto += left;
                }
#pragma unroll
                for (int j = 0; j < V; ++j) x[r][j] += carry + upto - own;
                carry += __shfl_sync(all_lanes, upto, 31);
            }
            if (less) wrong = first;
            if (sizeof(Out) < 8) {
#pragma unroll
                for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(all_lanes, sum, d);
            } else {
                sum = (word)carry;
            }
            if (lane == 0) warp_sums[warp] = sum;
        }
        __syncthreads(); /* (1) */
        U base = 0;
        const word of_tile_before = of_tile;
        if (next >= 0 && next < tiles) {
            of_tile = 0;
#pragma unroll
            for (int w = 0; w < segments_warps; ++w) {
                if (w == warp) base = (U)of_tile;
                of_tile += warp_sums[w];
            }
            if (threadIdx.x == 0 && tiles > 1) {
                test_delay(a.delay, tag, next, 0);
                unit_word<word>::publish(a.words, next, tag, of_tile);
            }
        }
        if (threadIdx.x == 32 * taker && next < tiles) {
            const ticket t = take_tile(a, next, tiles, 2);
            shared_ticket = t;
#ifdef VSCAN__BULK
            if (a.wide_in && ((int64_t)t.index + 1) * items <= n)
                bulk_prefetch(in + (int64_t)t.index * items, items * sizeof(In));
#endif
        }
        if (tile >= 0) {
            test_delay(a.delay, tag, tile, 1);
            word fold = 0;
            if (warp != taker)
#pragma unroll 1
                for (int64_t t = seen + threadIdx.x; t < tile; t += 32 * taker) {
                    word value;
                    uint32_t none;
                    while (!unit_word<word>::read(a.words, t, tag, &value, &none)) {
                    }
                    fold += value;
                }
            __syncwarp();
#pragma unroll
            for (int d = 16; d > 0; d /= 2) fold += __shfl_xor_sync(all_lanes, fold, d);
            if (lane == 0) folded[warp] = fold;
        }
        __syncthreads(); /* (2) */

        /* ---- Results of the tile --------------------------------------------------------------- */
        if (tile >= 0) {
#pragma unroll
            for (int w = 0; w < segments_warps; ++w) before += folded[w];
            seen = tile;
            const int64_t first = tile * items;
            if (a.wide_out && first + items <= n + 1) {
#pragma unroll 4
                for (int k = (int)threadIdx.x * Q; k < items; k += segments_threads * Q) {
                    Out y[Q];
                    load_piece<Out, Q>(y, sums + k);
#pragma unroll
                    for (int j = 0; j < Q; ++j) y[j] = (Out)((U)y[j] + (U)before);
                    store_piece<Out, Q>(out + first + k, y);
                }
            } else {
#pragma unroll 2
                for (int k = threadIdx.x; k < items; k += segments_threads)
                    if (first + k <= n) out[first + k] = (Out)((U)sums[k] + (U)before);
            }
            if (sizeof(Out) < 8 && (long long)(before + of_tile_before) > INT32_MAX) wrong = first;
        }
        if (next >= tiles) break;
        const ticket t = shared_ticket;
        __syncthreads(); /* (3) */
#pragma unroll
        for (int r = 0; r < rows && next >= 0; ++r) {
            Out y[V];
#pragma unroll
            for (int j = 0; j < V; ++j) y[j] = (Out)(x[r][j] + base);
            Out *const to = sums + ((warp * rows + r) * 32 + lane) * V;
#pragma unroll
            for (int k = 0; k < V; k += Q) {
                Out piece[Q];
                memcpy(piece, y + k, sizeof piece);
                store_piece<Out, Q>(to + k, piece);
            }
        }
        tile = next;
        tag = t.tag;
        next = t.index;
    }
    report(a.late, VSCAN_ERROR_OFFSETS, wrong);
}

} /* namespace vscan */

using namespace vscan;

/* As many blocks as there are at a time, or tiles. */
static int64_t blocks_of(const vscan__launch *launch, int each, int64_t tiles) {
    const int64_t resident = (int64_t)each * launch->multiprocessors;
    return tiles < resident ? tiles : resident;
}

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

extern "C" cudaError_t vscan__launch_mark(const vscan__launch *launch,
                                          const vscan__ranges *ranges) {
    segments_work<vscan__ranges> a = segments_launch(launch, ranges);
    const int64_t size = map_size(ranges->out_type), length = ranges->length;
    a.shift = elements_shifted(ranges->out, size);
    /* Tiles of 64 KiB of offsets or, where these are few, 256 KiB of flags: of those tried the fastest.
       Smaller ones where the multiprocessors would not have three each. */
    const double offsets = (double)ranges->n * (double)map_size(ranges->type);
    const int64_t flags = size == 0 ? 1 << 18 : (1 << 18) / size;
    a.items = flags;
    while (a.items > 4096 && ((double)a.items * offsets > 98304.0 * (double)length ||
                              length / a.items < (int64_t)3 * launch->multiprocessors))
        a.items /= 2;
    const int64_t tiles = length > 0 ? (length + a.shift + a.items - 1) / a.items : 1;
    return start(ranges->type == VSCAN_LONG ? mark_offsets<int64_t> : mark_offsets<int32_t>, tiles,
                 segments_threads, (int)(a.items / 8), launch->stream, a);
}

extern "C" cudaError_t vscan__launch_subtract(const vscan__launch *launch,
                                              const vscan__ranges *ranges) {
    return start(subtract_offsets, (ranges->n + 8 * map_threads - 1) / (8 * map_threads),
                 map_threads, 0, launch->stream, segments_launch(launch, ranges));
}

extern "C" cudaError_t vscan__launch_add(const vscan__launch *launch, const vscan__ranges *ranges) {
    const bool narrow = ranges->out_type == VSCAN_INT;
    const int64_t items = narrow ? lengths_items<int32_t> : lengths_items<int64_t>;
    return start(narrow                      ? add_lengths<int32_t, int32_t, uint32_t>
                 : ranges->type == VSCAN_INT ? add_lengths<int32_t, int64_t, word>
                                             : add_lengths<int64_t, int64_t, word>,
                 blocks_of(launch, add_blocks, ranges->n / items + 1), segments_threads, 0,
                 launch->stream, segments_launch(launch, ranges));
}
