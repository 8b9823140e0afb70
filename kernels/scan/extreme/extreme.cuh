/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Running maximum and minimum with positions, in one pass, and their total where it is wanted, too. A total
 * alone: scan/extreme/total.cuh.
 *
 * Elements become keys, signed integers of their size, of which the greatest is the maximum, or the
 * minimum (transform). Positions count in scan order, as in elements/vectors.cuh. Of equal elements the first one
 * counts: what comes later must be strictly greater. So a pair of key and position is combined in the order
 * of positions by one comparison. Where the order is another one, positions of equal keys are compared, too.
 *
 * A block owns the tiles that it takes by ticket, and has two of them in hand (protocol/chained_tiles.cuh):
 * the keys of the next one, of which it only finds the best, stand in registers, and those of the tile that
 * it writes in shared memory, 32 KiB. The aggregate of a tile is its best key and the place of that in the
 * tile, where other kernels have the number of heads; it is below 2^13. A lane has extreme_chunks chunks of
 * V consecutive elements of a tile, and reads each by one access. Chunks with the same number are
 * consecutive in a warp, and so are a warp's.
 *
 * Memory order: a status word has value, place and epoch in one access, so relaxed order is enough
 * (kernels/README.md); the two words of an 8-byte key are each judged by their own epoch. In place, an
 * element is read and written by the same thread, and by no other.
 */
#pragma once

#include "protocol/chained_tiles.cuh"
#include "elements/elementwise.cuh"
#include "machine/tma.cuh"

namespace vscan {

static constexpr int extreme_warps = 16, extreme_threads = 32 * extreme_warps;
static constexpr int extreme_blocks = 2; /* of a multiprocessor */
static constexpr int extreme_chunks = 4; /* of 16 bytes, of a lane */
/* Warps that look back, at the tiles of about all resident blocks. */
static constexpr int extreme_lookers = 8;

/* Elements of a tile. */
template <class I>
static constexpr int extreme_items = extreme_threads *extreme_chunks * 16 / (int)sizeof(I);

/* Keys of elements, whose bits are I, and elements of keys. Every NaN is the greatest integer, which becomes a NaN
   again. What tells maximum from minimum and integers from numbers are members: one kernel serves all of a size. */
template <class I>
struct any_extreme_order {
    static constexpr I highest = (I)(sizeof(I) == 4 ? INT32_MAX : INT64_MAX);
    static constexpr I lowest = ~highest; /* loses to everything, or ties */
    I transform; /* -1 for the minimum */
    I flipped;   /* the bits that are inverted where the sign is set: of integers none */
    I infinity;  /* what has more than this besides the sign is a NaN: of integers nothing */

    template <class Work>
    static any_extreme_order of(const Work &work) {
        const bool real = work.type == VSCAN_FLOAT || work.type == VSCAN_DOUBLE;
        const I infinite = (I)(sizeof(I) == 4 ? 0x7f800000 : INT64_C(0x7ff0000000000000));
        return {work.min ? (I)-1 : (I)0, real ? highest : (I)0, real ? infinite : highest};
    }
    DEVICE I key(I x) const {
        return (x & highest) > infinity ? highest : x ^ (x < 0 ? flipped : 0) ^ transform;
    }
    DEVICE I element(I key) const {
        const I x = key ^ transform;
        return x < 0 ? x ^ flipped : x;
    }
    /* The identity: loses to all elements, or ties. */
    DEVICE I nothing() const { return element(~infinity); }
};

template <class I>
struct extreme_arguments {
    vscan__extreme work;
    any_extreme_order<I> order;
    lookback_memory lookback;
    bool wide_in, wide_out, wide_positions; /* whole chunks are aligned */
};

/* P: int32_t for a place in a tile, int64_t for a position in the vector. */
template <class I, class P>
struct extreme_pair {
    I key;
    P at;

    /* y comes later. */
    DEVICE void then(I y, P y_at) {
        if (y <= key) return;
        key = y;
        at = y_at;
    }
    /* y comes earlier or later. */
    DEVICE void with(I y, P y_at) {
        if (y < key || (y == key && y_at >= at)) return;
        key = y;
        at = y_at;
    }
    /* The best of all lanes, in every lane. */
    DEVICE void reduce() {
        UNROLL_FOR (int d = 16; d > 0; d /= 2) {
            const I y = __shfl_xor_sync(warp_mask, key, d);
            const P y_at = __shfl_xor_sync(warp_mask, at, d);
            with(y, y_at);
        }
    }
    /* The best of the lanes up to this one. Only the first Lanes count. */
    template <int Lanes>
    DEVICE void scan() {
        const int lane = threadIdx.x % 32;
        UNROLL_FOR (int d = 1; d < Lanes; d *= 2) {
            const I y = __shfl_up_sync(warp_mask, key, d);
            const P y_at = __shfl_up_sync(warp_mask, at, d);
            const bool left = lane >= d && y >= key;
            key = left ? y : key;
            at = left ? y_at : at;
        }
    }
};

/* Stores x at positions i .. i + V - 1 of a vector of n elements T, as far as there are any. wide: all are, aligned. */
template <class T, class X, int V>
static DEVICE void store_positions(void *vector, int64_t n, bool backward, int64_t i,
                                   const X (&x)[V], bool wide) {
    T *const to = (T *)vector;
    if (!wide) {
        UNROLL_FOR (int j = 0; j < V; ++j)
            if (i + j < n) to[backward ? n - 1 - i - j : i + j] = (T)x[j];
        return;
    }
    constexpr int each = V * (int)sizeof(T) > 16 ? 16 / (int)sizeof(T) : V;
    UNROLL_FOR (int k = 0; k < V; k += each) {
        T y[each];
        UNROLL_FOR (int j = 0; j < each; ++j) y[j] = (T)(backward ? x[V - 1 - k - j] : x[k + j]);
        store_wide<T, each>(to + (backward ? n - V - i : i) + k, y);
    }
}

template <class I>
struct extreme_kernel : chained_kernel {
    static constexpr I lowest = any_extreme_order<I>::lowest;
    using in_tile = extreme_pair<I, int32_t>;
    static constexpr int V = 16 / (int)sizeof(I), chunks = extreme_chunks;
    static constexpr int items = extreme_items<I>;
    static constexpr int ticket_warp = extreme_warps - 1;
    /* what is written before barrier (1) or (2) is next written behind the other one, and read between */
    static constexpr bool barrier_3 = false;

    struct shared_memory {
        in_tile bests[extreme_warps];  /* of the warps in the next tile; before barrier (1) */
        in_tile before[extreme_warps]; /* of the earlier warps in that tile; before barrier (2) */
        in_tile tile;                  /* of all that tile; before barrier (2) */
        extreme_pair<I, int64_t> earlier[extreme_lookers]; /* the warps' shares of the look-back */
        /* keys of the tile in hand; each thread reads what it has written itself */
        alignas(16) I own[chunks][extreme_threads][V];
    };

    const extreme_arguments<I> &a;
    shared_memory &shared;
    const vscan__extreme &w = a.work;
    const int64_t n = w.n;
    const int tiles;
    I next[chunks][V];                                     /* keys of the next tile */
    in_tile before_warp;                                   /* in the tile in hand */
    extreme_pair<I, int64_t> earlier = {lowest, 0}; /* before the tile in hand */

    DEVICE extreme_kernel(const extreme_arguments<I> &a, shared_memory &shared)
        : a(a), shared(shared), tiles((int)((a.work.n + items - 1) / items)) {}

    /* The place in the tile of element 0 of this lane's chunk r. */
    DEVICE int place_of(int r) const { return ((warp * chunks + r) * 32 + lane) * V; }
    /* Where positions i .. i + V - 1 begin in memory, and position i + j. */
    DEVICE int64_t chunk_in_memory(int64_t i) const { return w.backward ? n - V - i : i; }
    DEVICE int64_t in_memory(int64_t i) const { return w.backward ? n - 1 - i : i; }
    DEVICE bool is_whole(int tile) const { return (int64_t)(tile + 1) * items <= n; }

    DEVICE void prefetch(int tile, bool) const {
        if (tile >= tiles) {
            launch_dependents();
            return;
        }
#ifdef VSCAN__TMA
        const I *const from = (const I *)w.in + (w.backward ? n - (int64_t)(tile + 1) * items
                                                            : (int64_t)tile * items);
        if (is_whole(tile) && (uintptr_t)from % 16 == 0)
            tma_prefetch(from, items * (uint32_t)sizeof(I));
#endif
    }

    DEVICE void stage() {
        UNROLL_FOR (int r = 0; r < chunks; ++r) store_wide<I, V>(shared.own[r][threadIdx.x], next[r]);
        before_warp = shared.before[warp];
    }

    DEVICE void count(int tile) {
        const int64_t first = (int64_t)tile * items;
        const bool whole = is_whole(tile);
        const I *const from = (const I *)w.in + chunk_in_memory(first + place_of(0));
        const int step = (w.backward ? -32 : 32) * V;
        I x[chunks][V];
        if (whole && a.wide_in)
            load_chunks(x, from, step, true);
        else
            load_chunks_where(x, from, step, (I)0, [&](int r, int j) {
                return first + place_of(r) + (w.backward ? V - 1 - j : j) < n;
            });
        in_tile best = {lowest, place_of(0)};
        UNROLL_FOR (int r = 0; r < chunks; ++r)
            UNROLL_FOR (int j = 0; j < V; ++j) {
                const I raw = w.backward ? x[r][V - 1 - j] : x[r][j];
                const int place = place_of(r) + j;
                next[r][j] =
                    whole || first + place < n ? a.order.key(raw) : lowest;
                best.then(next[r][j], place);
            }
        best.reduce();
        if (lane == 0) shared.bests[warp] = best;
    }

    DEVICE void publish(const chained_launch &launch, int tile) {
        if (warp != 0) return;
        in_tile best = {lowest, 0};
        if (lane < extreme_warps) best = shared.bests[lane];
        best.template scan<extreme_warps>();
        if (lane == 0) shared.before[0] = {lowest, 0};
        if (lane < extreme_warps - 1) shared.before[lane + 1] = best;
        if (lane == extreme_warps - 1) {
            shared.tile = best;
            launch.publish(tile, best.key, (uint32_t)best.at);
        }
        __syncwarp();
    }

    DEVICE void look_back(const chained_launch &launch, int seen, int tile) {
        if (warp >= extreme_lookers) return;
        extreme_pair<I, int64_t> best = {lowest, INT64_MAX};
        for (int t = seen + (int)threadIdx.x; t < tile; t += 32 * extreme_lookers) {
            I key;
            uint32_t place;
            while (!try_read<I>(launch.memory, launch.epoch, t, &key, &place)) {
            }
            best.with(key, (int64_t)t * items + place);
        }
        __syncwarp();
        best.reduce();
        if (lane == 0) shared.earlier[warp] = best;
    }

    DEVICE void write(int tile) {
        UNROLL_FOR (int k = 0; k < extreme_lookers; ++k)
            earlier.with(shared.earlier[k].key, shared.earlier[k].at);
        write_results(tile);
        /* the last one: no other was counted since, so shared.tile is this tile's */
        if (tile == tiles - 1 && threadIdx.x == 0 && w.position != nullptr)
            write_total((int64_t)tile * items);
    }

    DEVICE void write_total(int64_t first) const {
        extreme_pair<I, int64_t> best = earlier;
        best.then(shared.tile.key, first + shared.tile.at);
        const int64_t position = in_memory(best.at);
        if (w.total != nullptr) *(I *)w.total = a.order.element(best.key);
        if (w.position_type == VSCAN_INT)
            *(int32_t *)w.position = (int32_t)position;
        else
            *(int64_t *)w.position = position;
    }

    /* Chunk by chunk: `best` is that of all before it, at a place of the tile or at -1 before it. */
    DEVICE void write_results(int tile) {
        const int64_t first = (int64_t)tile * items;
        const bool whole = is_whole(tile);
        in_tile best = {earlier.key, -1};
        best.then(before_warp.key, before_warp.at);
        UNROLL_FOR (int r = 0; r < chunks; ++r) {
            I own[V];
            load_wide<I, V>(own, shared.own[r][threadIdx.x]);
            in_tile of_lane = best;
            UNROLL_FOR (int j = 0; j < V; ++j) of_lane.then(own[j], place_of(r) + j);
            in_tile running = best;
            /* mostly no element is better than all before it */
            if (__any_sync(warp_mask, of_lane.key > best.key)) {
                of_lane.template scan<32>();
                const I key = __shfl_up_sync(warp_mask, of_lane.key, 1);
                const int32_t at = __shfl_up_sync(warp_mask, of_lane.at, 1);
                if (lane > 0) running = {key, at};
                best.key = __shfl_sync(warp_mask, of_lane.key, 31);
                best.at = __shfl_sync(warp_mask, of_lane.at, 31);
            }
            I y[V];
            int64_t positions[V];
            UNROLL_FOR (int j = 0; j < V; ++j) {
                running.then(own[j], place_of(r) + j);
                y[j] = a.order.element(running.key);
                positions[j] = in_memory(running.at < 0 ? earlier.at : first + running.at);
            }
            const int64_t i = first + place_of(r);
            if (w.out != nullptr)
                store_positions<I>(w.out, n, w.backward, i, y, whole && a.wide_out);
            const bool wide = whole && a.wide_positions;
            if (w.position_type == VSCAN_INT)
                store_positions<int32_t>(w.positions, n, w.backward, i, positions, wide);
            else
                store_positions<int64_t>(w.positions, n, w.backward, i, positions, wide);
        }
    }
};

template <class I>
__global__ void __launch_bounds__(extreme_threads, extreme_blocks)
    scan_extreme(const __grid_constant__ extreme_arguments<I> a) {
    using kernel = extreme_kernel<I>;
    __shared__ typename kernel::shared_memory shared;
    grid_dependency_wait(false);
    kernel extreme(a, shared);
    chain_tiles(extreme, a.lookback, extreme.tiles);
}

} /* namespace vscan */
