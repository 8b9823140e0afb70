/* SPDX-License-Identifier: Apache-2.0 */
/* The first or the last element of segments to all places. */
#include "segments/tiles.cuh"

namespace vscan {

static constexpr int distribute_blocks = 4; /* of a multiprocessor */

/*
 * Positions count in scan order, as in common/vectors.cuh: backward, a segment's last element comes first. The
 * first tile begins before position 0, by as many elements (shift) as let pieces of 16 bytes of out lie
 * on multiples of 16 bytes. A warp has a share of each tile, 32 rows of 32 elements, and a lane finds the
 * heads of a row. The word of a tile is the place of its last head.
 *
 * Where a share has few heads, their elements are asked for as soon as they are known, and stand side
 * by side in shared memory when results are written, which then wait for no memory. Else each lane reads
 * its pieces. Elements at heads keep their value, and others are read only by the lane that writes them,
 * so in place is like apart.
 *
 * Four blocks live on a multiprocessor: with five, more places of out are written at a time, which took
 * doubles 590 us in place of 337 (2^27, H200).
 *
 * Barriers: (1) last heads of the warps known; (2) the next ticket, and what earlier tiles have.
 */
static constexpr int distribute_share = 1024, distribute_items = distribute_share * segments_warps;

/* Heads of a share whose elements have room. */
template <class T>
static constexpr int distribute_small = sizeof(T) == 8 ? 64 : 128;

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
static __device__ __forceinline__ uint32_t heads_of_rows(const vscan__distribution &s,
                                                         int64_t first) {
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
static __device__ __forceinline__ void prefetch_flags(const vscan__distribution &s, int64_t first) {
#ifdef VSCAN__TMA
    const int log_bits = s.flag_type == VSCAN_INT ? 5 : s.flag_type == VSCAN_BYTE ? 3 : 0;
    const int64_t at = s.backward ? s.n - first - (distribute_items - 1) : first;
    if (at < 0 || at + distribute_items > s.n) return;
    const uintptr_t flags = (uintptr_t)s.flags;
    const uintptr_t from = (flags + (uintptr_t)(at << log_bits >> 3) + 15) & ~(uintptr_t)15;
    const uintptr_t to =
        (flags + (uintptr_t)((at + distribute_items) << log_bits >> 3)) & ~(uintptr_t)15;
    if (from < to) tma_prefetch((const void *)from, (uint32_t)(to - from));
#endif
}

/* The position of the last head in tiles seen .. tile - 1, or open, the one before them: by one warp,
   tile after tile backwards, until there is one. */
static __device__ __forceinline__ int64_t last_head(const lookback_memory &memory, epoch_t epoch,
                                                    int64_t seen, int64_t tile, int shift,
                                                    int64_t open) {
    const int lane = threadIdx.x % 32;
    for (int64_t last = tile - 1; last >= seen;) {
        const int64_t t = last - lane;
        uint32_t place = 0, has = 0;
        const bool there = t < seen || try_read<uint32_t>(memory, epoch, t, &place, &has);
        const uint32_t known = __ballot_sync(all_lanes, there);
        const uint32_t found = __ballot_sync(all_lanes, there && has);
        const uint32_t nearer = found ? (found & (0 - found)) - 1 : ~0u; /* tiles without a head */
        if ((known & nearer) != nearer) continue;
        if (found) {
            const int source = __ffs((int)found) - 1;
            place = __shfl_sync(all_lanes, place, source);
            return (last - source) * distribute_items - shift + place;
        }
        last -= 32;
    }
    return open;
}

/* *to = *from, when the warp has waited for its copies; a byte at once. */
template <class T>
static __device__ __forceinline__ void copy_element(T *to, const T *from) {
    if constexpr (sizeof(T) >= 4)
        copy_ahead(to, from);
    else
        *to = *from;
}

/* From the order of memory to that of positions, and back: backward memory descends with them. */
template <class T, int V>
static __device__ __forceinline__ void turn_over(T (&x)[V], bool backward) {
    if (!backward) return;
#pragma unroll
    for (int j = 0; j < V / 2; ++j) {
        const T other = x[j];
        x[j] = x[V - 1 - j];
        x[V - 1 - j] = other;
    }
}

/* Elements at positions i .. i + V - 1, of which the vector may not have all. */
template <class T, int V>
static __device__ __forceinline__ void write_piece(const vscan__distribution &s, int64_t i,
                                                   T (&y)[V]) {
    T *const out = (T *)s.out;
    if (i >= 0 && i + V <= s.n) {
        turn_over<T, V>(y, s.backward);
        store_piece<T, V>(out + (s.backward ? s.n - V - i : i), y);
        return;
    }
#pragma unroll
    for (int j = 0; j < V; ++j)
        if (i + j >= 0 && i + j < s.n) out[s.backward ? s.n - 1 - i - j : i + j] = y[j];
}

template <class T>
__global__ void __launch_bounds__(segments_threads, distribute_blocks)
    distribute_elements(const __grid_constant__ segments_work<vscan__distribution> a) {
    constexpr int V = 16 / (int)sizeof(T), pieces = distribute_share / (V * 32);
    /* pieces that are asked for before one is waited for */
    constexpr int batch = sizeof(T) == 1 ? 1 : 2;
    constexpr int few = distribute_small<T>;
    __shared__ uint32_t all_rows[2][segments_threads];  /* heads */
    __shared__ uint16_t all_ranks[2][segments_threads]; /* heads of the share before the row */
    __shared__ uint16_t all_places[segments_warps][few];
    __shared__ T all_values[2][segments_warps][few + 1]; /* the last: of the share's carry */
    __shared__ int lasts[segments_warps];
    __shared__ int64_t shared_last; /* of one warp: the last head before tile number seen */
    __shared__ T shared_open;       /* the element at the last one before the tile to be written */
    __shared__ ticket shared_ticket;
    const vscan__distribution &s = a.work;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int64_t n = s.n;
    const int tiles = (int)((n + a.shift + distribute_items - 1) / distribute_items);
    const T *const in = (const T *)s.in;
    uint16_t *const places = all_places[warp];
    const auto at = [&](int64_t i) { return s.backward ? n - 1 - i : i; }; /* in memory */
    int tile = -1; /* to be written; -1: none */
    int next = -1; /* to be read; -1: the first is not yet known */
    int seen = 0;
    epoch_t epoch = 0;
    int count = 0;         /* heads of the share to be written; */
    bool has_open = false; /* whether one comes before it in the tile, whose element is its carry */
    int parity = 0;        /* of the next tile's memory */
    for (;;) {

        /* ---- The next tile's heads, and their elements where there are few -------------------- */
        int next_count = 0;
        T *const values = all_values[parity][warp];
        const int64_t first = (int64_t)next * distribute_items - a.shift + warp * distribute_share;
        if (next >= 0 && next < tiles) {
            uint32_t row = heads_of_rows(s, first);
            const int64_t left = n - first - lane * 32;
            if (left < 32) row &= left > 0 ? (1u << left) - 1 : 0;
            int upto = __popc(row);
#pragma unroll
            for (int d = 1; d < 32; d *= 2) {
                const int heads = __shfl_up_sync(all_lanes, upto, d);
                if (lane >= d) upto += heads;
            }
            const uint32_t with_heads = __ballot_sync(all_lanes, row != 0);
            if (with_heads == 0) {
                if (lane == 0) lasts[warp] = -1;
            } else if (lane == 31 - __clz((int)with_heads)) {
                lasts[warp] = lane * 32 + 31 - __clz((int)row);
            }
            const int rank = upto - __popc(row);
            all_rows[parity][threadIdx.x] = row;
            all_ranks[parity][threadIdx.x] = (uint16_t)rank;
            next_count = __shfl_sync(all_lanes, upto, 31);
            if (next_count <= few) {
                int k = rank;
#pragma unroll 1
                for (uint32_t heads = row; heads != 0; heads &= heads - 1)
                    places[k++] = (uint16_t)(lane * 32 + __ffs((int)heads) - 1);
                __syncwarp();
#pragma unroll 1
                for (k = lane; k < next_count; k += 32)
                    copy_element(&values[k], &in[at(first + places[k])]);
            }
        }
        __syncthreads(); /* (1) */
        bool next_has_open = false;
        if (next >= 0 && next < tiles) {
            int of_tile = -1, earlier = -1;
#pragma unroll
            for (int w = 0; w < segments_warps; ++w) {
                if (w == warp) earlier = of_tile;
                if (lasts[w] >= 0) of_tile = w * distribute_share + lasts[w];
            }
            next_has_open = earlier >= 0;
            if (next_has_open && lane == 0)
                copy_element(&values[few], &in[at(first - warp * distribute_share + earlier)]);
            if (threadIdx.x == 0 && tiles > 1) {
                jitter(a.lookback, epoch, next, jitter_publish);
                publish<uint32_t>(a.lookback, epoch, next, (uint32_t)of_tile, (of_tile >= 0));
            }
        }
        if (threadIdx.x == 32 * taker && next < tiles) {
            const ticket t = take_tile(a, next, tiles);
            shared_ticket = t;
            prefetch_flags(s, (int64_t)t.index * distribute_items - a.shift);
        }
        if (tile >= 0 && warp == 1) {
            jitter(a.lookback, epoch, tile, jitter_wait);
            const int64_t last =
                last_head(a.lookback, epoch, seen, tile, a.shift, seen > 0 ? shared_last : 0);
            __syncwarp();
            if (lane == 0) {
                shared_last = last;
                shared_open = in[at(last)];
            }
            seen = tile;
            __syncwarp();
        }
        __syncthreads(); /* (2) */

        /* ---- Results of the tile -------------------------------------------------------------- */
        if (tile >= 0) {
            const int64_t base =
                (int64_t)tile * distribute_items - a.shift + warp * distribute_share;
            const uint32_t *const rows = all_rows[parity ^ 1] + warp * 32;
            const uint16_t *const ranks = all_ranks[parity ^ 1] + warp * 32;
            const T *const elements = all_values[parity ^ 1][warp];
            const T from_before = has_open ? elements[few] : shared_open;
            if (count <= few) {
#pragma unroll 2
                for (int k = 0; k < pieces; ++k) {
                    const int p = (k * 32 + lane) * V;
                    const uint32_t heads = rows[p / 32];
                    int place = ranks[p / 32] + __popc(heads & ((1u << p % 32) - 1)) - 1;
                    const uint32_t bits = heads >> p % 32;
                    T value = place >= 0 ? elements[place] : from_before, y[V];
#pragma unroll
                    for (int j = 0; j < V; ++j) {
                        if (bits >> j & 1) value = elements[++place];
                        y[j] = value;
                    }
                    write_piece<T, V>(s, base + p, y);
                }
            } else {
                const uint32_t row = rows[lane];
                int before = row ? lane * 32 + 31 - __clz((int)row) : -1; /* the row's last head */
#pragma unroll
                for (int d = 1; d < 32; d *= 2) {
                    const int other = __shfl_up_sync(all_lanes, before, d);
                    if (lane >= d && other > before) before = other;
                }
                before = __shfl_up_sync(all_lanes, before, 1); /* and the last one before the row */
                if (lane == 0) before = -1;
#pragma unroll 1
                for (int k = 0; k < pieces; k += batch) {
                    T value[batch], own[batch][V];
                    uint32_t bits[batch];
#pragma unroll
                    for (int b = 0; b < batch; ++b) {
                        const int p = ((k + b) * 32 + lane) * V;
                        const int64_t i = base + p;
                        const uint32_t heads = rows[p / 32];
                        const uint32_t below = heads & ((1u << p % 32) - 1);
                        int place = __shfl_sync(all_lanes, before, p / 32);
                        if (below) place = p / 32 * 32 + 31 - __clz((int)below);
                        bits[b] = heads >> p % 32 & ((1u << V) - 1);
                        value[b] = from_before;
                        if (place >= 0 && i < n && !(bits[b] & 1)) value[b] = in[at(base + place)];
                        if (bits[b] != 0 && a.wide_in && i >= 0 && i + V <= n) {
                            load_piece<T, V>(own[b], in + (s.backward ? n - V - i : i));
                            turn_over<T, V>(own[b], s.backward);
                        } else {
#pragma unroll
                            for (int j = 0; j < V; ++j)
                                if (bits[b] >> j & 1) own[b][j] = in[at(i + j)];
                        }
                    }
#pragma unroll
                    for (int b = 0; b < batch; ++b) {
                        T y[V];
#pragma unroll
                        for (int j = 0; j < V; ++j) {
                            if (bits[b] >> j & 1) value[b] = own[b][j];
                            y[j] = value[b];
                        }
                        write_piece<T, V>(s, base + ((k + b) * 32 + lane) * V, y);
                    }
                }
            }
        }
        if (next >= tiles) return;
        wait_for_copies();
        __syncwarp();
        count = next_count;
        has_open = next_has_open;
        parity ^= 1;
        tile = next;
        epoch = shared_ticket.epoch;
        next = (int)shared_ticket.index;
    }
}

} /* namespace vscan */

using namespace vscan;

extern "C" cudaError_t vscan__launch_distribute_segmented(const vscan__launch *launch,
                                                          const vscan__distribution *spread) {
    const int64_t size = map_size(spread->type);
    segments_work<vscan__distribution> a = segments_launch(launch, spread);
    const char *const out = (const char *)spread->out;
    a.shift = elements_shifted(out, size);
    if (spread->backward) /* elements from the end on to a multiple of 16 bytes */
        a.shift =
            (16 / (int)size - elements_shifted(out + spread->n * size, size)) % (16 / (int)size);
    a.wide_in = (uintptr_t)spread->in % 16 == (uintptr_t)spread->out % 16;
    const int64_t tiles = (spread->n + a.shift + distribute_items - 1) / distribute_items;
    return start(size == 8   ? distribute_elements<uint64_t>
                 : size == 4 ? distribute_elements<uint32_t>
                             : distribute_elements<uint8_t>,
                 blocks_of(launch, distribute_blocks, tiles), segments_threads, 0, launch->stream,
                 a);
}
