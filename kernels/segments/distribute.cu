/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Distribution of the first or the last element of each segment to all its positions.
 *
 * Positions count in scan order, as in elements/vectors.cuh: backward, a segment's last element comes
 * first. The first tile begins `shift` positions before position 0, so that chunks of 16 bytes of
 * out are aligned. A block owns the tiles that it takes by ticket (protocol/chained_tiles.cuh). A
 * warp has a share of each tile: 32 lines of 32 elements. A lane finds the heads of one line. The
 * aggregate of a tile is the place of its last head.
 *
 * Where the heads of a share are sparse, their elements are copied to shared memory as soon as they
 * are known, so that nothing waits for memory when results are written. Elsewhere each lane loads
 * its chunks. Elements at heads keep their value, and other elements are read only by the lane that
 * writes them, so this works in place, too.
 *
 * Shared memory: heads of two tiles, and the copied elements, 12 to 14 KiB. As the next tile and
 * the tile in hand have memory of their own, two barriers are enough. Relaxed order is enough,
 * because a status word has value and epoch in one access (kernels/README.md).
 */
#include "elements/flags.cuh"
#include "protocol/chained_tiles.cuh"
#include "segments/segments.cuh"

namespace vscan {

/* Lane r: the heads of line r, at positions from first + 32 r on. Bits of positions below 0 are
   clear, those from position n on may be anything. */
static DEVICE uint32_t heads_of_lines(const vscan__distribution &s, int64_t first) {
    const int lane = threadIdx.x % 32;
    const int64_t i = first + lane * 32, at = s.backward ? s.n - i - 31 : i; /* in memory */
    uint32_t heads = 0;
    if (s.flag_type == VSCAN_INT) {
        const int64_t own = first + lane; /* the lane's position in line 0 */
        const int32_t *const from = (const int32_t *)s.flags + (s.backward ? s.n - own : own);
        const int step = s.backward ? -32 : 32;
        if (first > 0 && first + 1024 <= s.n)
            return flags_by_ballots<32, 16>(from, step, [](int) { return true; });
        heads = flags_by_ballots<32, 16>(
            from, step, [&](int r) { return own + r * 32 > 0 && own + r * 32 < s.n; });
    } else if (i < s.n) {
        bool done = at >= 0 && i >= 0 && at + 32 <= s.n;
        if (done && s.flag_type == VSCAN_BIT) {
            heads = read_flags<32>(s.flags, VSCAN_BIT, at);
        } else if (done) {
            const uint8_t *const flags = (const uint8_t *)s.flags;
            done = read_32_bytes(heads, flags + at, flags, flags + s.n);
        }
        if (done && s.backward) heads = __brev(heads);
        if (!done) {
            ROLLED_FOR (int j = 0; j < 32; ++j)
                if (i + j > 0 && i + j < s.n)
                    heads |= flag_at(s.flags, s.flag_type, s.backward ? s.n - i - j : i + j) << j;
        }
    }
    if (i <= 0 && i > -32) heads = (heads & ~0u << -i) | 1u << -i;
    return heads;
}

/* Prefetches the flags of the tile that begins at position first, if it is whole. */
static DEVICE void prefetch_flags(const vscan__distribution &s, int64_t first) {
#ifdef VSCAN__TMA
    const int log_bits = log_bits_of_flags(s.flag_type);
    const int64_t at = s.backward ? s.n - first - (distribute_items - 1) : first;
    if (at < 0 || at + distribute_items > s.n) return;
    const uintptr_t flags = (uintptr_t)s.flags;
    const uintptr_t from = (flags + (uintptr_t)(at << log_bits >> 3) + 15) & ~(uintptr_t)15;
    const uintptr_t to =
        (flags + (uintptr_t)((at + distribute_items) << log_bits >> 3)) & ~(uintptr_t)15;
    if (from < to) tma_prefetch((const void *)from, (uint32_t)(to - from));
#endif
}

/* The look-back, by one warp: the position of the last head in tiles seen .. tile - 1, 32 tiles at
   a time backwards until there is one; or `earlier`, the last head before them. */
static DEVICE int64_t last_head(const lookback_memory &memory, epoch_t epoch, int64_t seen,
                                int64_t tile, int shift, int64_t earlier) {
    const int lane = threadIdx.x % 32;
    for (int64_t last = tile - 1; last >= seen;) {
        const int64_t t = last - lane;
        uint32_t place = 0, has = 0;
        const bool there = t < seen || try_read<uint32_t>(memory, epoch, t, &place, &has);
        const uint32_t known = __ballot_sync(warp_mask, there);
        const uint32_t found = __ballot_sync(warp_mask, there && has);
        const uint32_t nearer = found ? (found & (0 - found)) - 1 : ~0u; /* without a head */
        if ((known & nearer) != nearer) continue;
        if (found) {
            const int source = __ffs((int)found) - 1;
            place = __shfl_sync(warp_mask, place, source);
            return (last - source) * distribute_items - shift + place;
        }
        last -= 32;
    }
    return earlier;
}

/* *to = *from, after the warp has waited for its copies; for bytes, at once. */
template <class T>
static DEVICE void copy_element(T *to, const T *from) {
    if constexpr (sizeof(T) >= 4)
        async_copy(to, from);
    else
        *to = *from;
}

/* From memory order to scan order, and back. */
template <class T, int V>
static DEVICE void reverse_if(T (&x)[V], bool backward) {
    if (!backward) return;
    UNROLL_FOR (int j = 0; j < V / 2; ++j) {
        const T other = x[j];
        x[j] = x[V - 1 - j];
        x[V - 1 - j] = other;
    }
}

/* Stores elements at positions i .. i + V - 1, as far as the vector has them. */
template <class T, int V>
static DEVICE void store_chunk(const vscan__distribution &s, int64_t i, T (&y)[V]) {
    T *const out = (T *)s.out;
    if (i >= 0 && i + V <= s.n) {
        reverse_if<T, V>(y, s.backward);
        store_wide<T, V>(out + (s.backward ? s.n - V - i : i), y);
        return;
    }
    UNROLL_FOR (int j = 0; j < V; ++j)
        if (i + j >= 0 && i + j < s.n) out[s.backward ? s.n - 1 - i - j : i + j] = y[j];
}

template <class T>
struct distribute_kernel : chained_kernel {
    static constexpr int V = 16 / (int)sizeof(T), chunks = distribute_share / (V * 32);
    static constexpr int sparse = distribute_sparse<T>;
    static constexpr int ticket_warp = segments_warps - 1, look_back_warp = 1;
    static constexpr bool barrier_3 = false;

    struct shared_memory {
        uint32_t heads[2][segments_threads]; /* of the lines */
        uint16_t ranks[2][segments_threads]; /* heads of the share before the line */
        uint16_t places[segments_warps][sparse];
        T values[2][segments_warps][sparse + 1]; /* the last: the share's carry from its tile */
        int lasts[segments_warps];               /* places of the last heads in the shares */
        int64_t last; /* of look_back_warp: the last head before the tile in hand */
        T carry;      /* its element */
    };

    const segments_work<vscan__distribution> &a;
    shared_memory &shared;
    const vscan__distribution &s = a.work;
    const T *const in = (const T *)s.in;
    const int64_t n = s.n;
    const int tiles = (int)((n + a.shift + distribute_items - 1) / distribute_items);
    int parity = 0; /* of the next tile's shared memory */
    int next_heads = 0,
        own_heads = 0; /* heads of the share, in the next tile and in the tile in hand */
    /* whether a head is before the share in its tile, whose element is then the share's carry */
    bool next_carries = false, carries = false;

    DEVICE distribute_kernel(const segments_work<vscan__distribution> &a, shared_memory &shared)
        : a(a), shared(shared) {}

    DEVICE int64_t in_memory(int64_t i) const { return s.backward ? n - 1 - i : i; }
    /* The position at which this warp's share of a tile begins. */
    DEVICE int64_t share_at(int tile) const {
        return (int64_t)tile * distribute_items - a.shift + warp * distribute_share;
    }

    DEVICE void prefetch(int tile, bool) const {
        prefetch_flags(s, (int64_t)tile * distribute_items - a.shift);
    }

    DEVICE void count(int next) {
        const int64_t first = share_at(next);
        uint32_t line = heads_of_lines(s, first);
        const int64_t left = n - first - lane * 32;
        if (left < 32) line &= left > 0 ? (1u << left) - 1 : 0;
        const int upto = warp_inclusive_sum(__popc(line));
        const uint32_t with_heads = __ballot_sync(warp_mask, line != 0);
        if (with_heads == 0) {
            if (lane == 0) shared.lasts[warp] = -1;
        } else if (lane == 31 - __clz((int)with_heads)) {
            shared.lasts[warp] = lane * 32 + 31 - __clz((int)line);
        }
        const int rank = upto - __popc(line);
        shared.heads[parity][threadIdx.x] = line;
        shared.ranks[parity][threadIdx.x] = (uint16_t)rank;
        next_heads = __shfl_sync(warp_mask, upto, 31);
        if (next_heads > sparse) return;
        uint16_t *const places = shared.places[warp];
        int k = rank;
        ROLLED_FOR (uint32_t heads = line; heads != 0; heads &= heads - 1)
            places[k++] = (uint16_t)(lane * 32 + __ffs((int)heads) - 1);
        __syncwarp();
        ROLLED_FOR (k = lane; k < next_heads; k += 32)
            copy_element(&shared.values[parity][warp][k], &in[in_memory(first + places[k])]);
    }

    DEVICE void publish(const chained_launch &launch, int next) {
        int of_tile = -1, earlier = -1; /* last heads of the tile, and before the share */
        UNROLL_FOR (int w = 0; w < segments_warps; ++w) {
            if (w == warp) earlier = of_tile;
            if (shared.lasts[w] >= 0) of_tile = w * distribute_share + shared.lasts[w];
        }
        next_carries = earlier >= 0;
        if (next_carries && lane == 0)
            copy_element(&shared.values[parity][warp][sparse],
                         &in[in_memory(share_at(next) - warp * distribute_share + earlier)]);
        if (threadIdx.x == 0) launch.publish(next, (uint32_t)of_tile, of_tile >= 0);
    }

    DEVICE void look_back(const chained_launch &launch, int seen, int tile) {
        if (warp != look_back_warp) return;
        const int64_t last =
            last_head(launch.memory, launch.epoch, seen, tile, a.shift, seen > 0 ? shared.last : 0);
        __syncwarp();
        if (lane == 0) {
            shared.last = last;
            shared.carry = in[in_memory(last)];
        }
        __syncwarp();
    }

    DEVICE void write(int tile) {
        const T *const values = shared.values[parity ^ 1][warp];
        const T carry = carries ? values[sparse] : shared.carry;
        if (own_heads <= sparse)
            write_sparse(share_at(tile), values, carry);
        else
            write_dense(share_at(tile), carry);
    }

    /* All elements at heads of the share, which begins at position first, are in shared memory. */
    DEVICE void write_sparse(int64_t first, const T *values, T carry) {
        const uint32_t *const lines = shared.heads[parity ^ 1] + warp * 32;
        const uint16_t *const ranks = shared.ranks[parity ^ 1] + warp * 32;
#pragma unroll 2
        for (int k = 0; k < chunks; ++k) {
            const int p = (k * 32 + lane) * V;
            const uint32_t heads = lines[p / 32], bits = heads >> p % 32;
            int rank = ranks[p / 32] + __popc(heads & ((1u << p % 32) - 1)) - 1;
            T value = rank >= 0 ? values[rank] : carry, y[V];
            UNROLL_FOR (int j = 0; j < V; ++j) {
                if (bits >> j & 1) value = values[++rank];
                y[j] = value;
            }
            store_chunk<T, V>(s, first + p, y);
        }
    }

    /* They are loaded here. */
    DEVICE void write_dense(int64_t first, T carry) {
        constexpr int batch = distribute_batch<T>;
        const uint32_t *const lines = shared.heads[parity ^ 1] + warp * 32;
        const uint32_t line = lines[lane];
        int before = line ? lane * 32 + 31 - __clz((int)line) : -1; /* last head up to this line */
        UNROLL_FOR (int d = 1; d < 32; d *= 2) {
            const int other = __shfl_up_sync(warp_mask, before, d);
            if (lane >= d && other > before) before = other;
        }
        before = __shfl_up_sync(warp_mask, before, 1); /* before this line */
        if (lane == 0) before = -1;
        ROLLED_FOR (int k = 0; k < chunks; k += batch) {
            T value[batch], own[batch][V];
            uint32_t bits[batch];
            UNROLL_FOR (int b = 0; b < batch; ++b) {
                const int p = ((k + b) * 32 + lane) * V;
                const int64_t i = first + p;
                const uint32_t heads = lines[p / 32];
                const uint32_t below = heads & ((1u << p % 32) - 1);
                int place = __shfl_sync(warp_mask, before, p / 32);
                if (below) place = p / 32 * 32 + 31 - __clz((int)below);
                bits[b] = heads >> p % 32 & ((1u << V) - 1);
                value[b] = carry;
                if (place >= 0 && i < n && !(bits[b] & 1)) value[b] = in[in_memory(first + place)];
                if (bits[b] != 0 && a.wide_in && i >= 0 && i + V <= n) {
                    load_wide<T, V>(own[b], in + (s.backward ? n - V - i : i));
                    reverse_if<T, V>(own[b], s.backward);
                } else {
                    UNROLL_FOR (int j = 0; j < V; ++j)
                        if (bits[b] >> j & 1) own[b][j] = in[in_memory(i + j)];
                }
            }
            UNROLL_FOR (int b = 0; b < batch; ++b) {
                T y[V];
                UNROLL_FOR (int j = 0; j < V; ++j) {
                    if (bits[b] >> j & 1) value[b] = own[b][j];
                    y[j] = value[b];
                }
                store_chunk<T, V>(s, first + ((k + b) * 32 + lane) * V, y);
            }
        }
    }

    DEVICE void keep() {
        async_copies_wait();
        __syncwarp();
        own_heads = next_heads;
        carries = next_carries;
        parity ^= 1;
    }
};

template <class T>
__global__ void __launch_bounds__(segments_threads, distribute_blocks)
    distribute_elements(const __grid_constant__ segments_work<vscan__distribution> a) {
    using kernel = distribute_kernel<T>;
    __shared__ typename kernel::shared_memory shared;
    kernel distribution(a, shared);
    chain_tiles(distribution, a.lookback, distribution.tiles);
}

} /* namespace vscan */

using namespace vscan;

extern "C" cudaError_t vscan__launch_distribute_segmented(const vscan__launch *launch,
                                                          const vscan__distribution *work) {
    const int64_t size = map_size(work->type);
    segments_work<vscan__distribution> a = work_of(launch, work);
    const char *const out = (const char *)work->out;
    a.shift = elements_shifted(out, size);
    if (work->backward) /* from the end on to a multiple of 16 bytes */
        a.shift =
            (16 / (int)size - elements_shifted(out + work->n * size, size)) % (16 / (int)size);
    a.wide_in = (uintptr_t)work->in % 16 == (uintptr_t)work->out % 16;
    const int64_t tiles = (work->n + a.shift + distribute_items - 1) / distribute_items;
    return start(size == 8   ? distribute_elements<uint64_t>
                 : size == 4 ? distribute_elements<uint32_t>
                             : distribute_elements<uint8_t>,
                 blocks_of(launch, distribute_blocks, tiles), segments_threads, 0, launch->stream,
                 a);
}
