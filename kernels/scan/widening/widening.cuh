/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scans of int with sums of long, of vectors that are too long for scan/small/any_order.cuh, in one pass.
 *
 * Sums are of 64 bits from the first addition on, modulo 2^64, so any order gives the same bits. Tile 0's
 * aggregate has the initial value in it. So only the block that has tile 0 reads that; and where the total
 * takes its place (resumed), the block that writes the total has seen an aggregate that was computed from it.
 *
 * A block owns the tiles that it takes by ticket, and has two of them in hand (protocol/chained_tiles.cuh): of
 * the next one, whose elements stand in registers, it only finds the sum, and it scans them once the tile
 * before is written. A lane has chunks of two consecutive elements of a tile: 8 bytes to read, 16 to
 * write. chunks with the same number are consecutive in a warp, and so are a warp's. Positions count in scan
 * order, from an element before the vector if chunks of results are aligned then (skew).
 *
 * Memory order: a status word has value and epoch in one access, so relaxed order is enough
 * (kernels/README.md). Where the total takes the initial value's place, there is a fence between reading it and
 * publishing tile 0, and one between the look-back and the total. in and out do not overlap.
 */
#pragma once

#include "protocol/chained_tiles.cuh"
#include "elements/elementwise.cuh"
#include "machine/tma.cuh"
#include "scan/partition.cuh"

namespace vscan {

static constexpr int widening_warps = 16, widening_threads = 32 * widening_warps;
static constexpr int widening_blocks = 2; /* of a multiprocessor */

/* Chunks of a lane. Of 2^28 ints on an H100: 4 took 1079 us, 6 1084, 8 1155, as registers go to memory then; with
   three blocks on a multiprocessor 4 took 1123. */
static constexpr int widening_chunks = 4, widening_items = 2 * widening_chunks * widening_threads;
static_assert(2 * widening_items >= VSCAN__TILE_DOUBLE,
              "as many status words as there is room for");

struct widening_arguments {
    vscan__scan scan;
    lookback_memory lookback;
    int32_t skew; /* 0 or 1 */
    bool wide_in; /* chunks of elements are aligned, too */
};

static DEVICE unsigned long long widening_initial(const vscan__scan &scan) {
    if (scan.has_initial == 2) return *(const volatile unsigned long long *)scan.initial_at;
    return scan.has_initial == 1 ? (unsigned long long)scan.initial.as_long : 0;
}

static DEVICE unsigned long long widened(int32_t x) {
    return (unsigned long long)(long long)x;
}

/* scan/small/any_order.cuh; compiled in eight_bytes.cu, whose kernels are nearly the same. */
cudaError_t launch_small_widening(const vscan__launch *launch, const scan_arguments &a);

struct widening_kernel : chained_kernel {
    using sum_type = unsigned long long;
    static constexpr int V = 2, chunks = widening_chunks, items = widening_items;
    static constexpr int ticket_warp = widening_warps - 1;
    /* what is written before barrier (1) or (2) is next written behind the other one, and read between */
    static constexpr bool barrier_3 = false;

    struct shared_memory {
        sum_type warps[widening_warps]; /* sums of the next tile's; before barrier (1) */
        sum_type
            earlier[widening_warps]; /* the warps' shares of the look-back; before barrier (2) */
    };

    const widening_arguments &a;
    shared_memory &shared;
    const vscan__scan &scan = a.scan;
    const int64_t n = scan.n + a.skew;
    const int tiles = (int)((n + items - 1) / items);
    const bool resumed = scan.has_initial == 2 && scan.initial_at == scan.total;
    int32_t next[chunks][V], own[chunks][V]; /* elements of the next tile and of the tile in hand */
    sum_type next_base, base;                /* before the warp, in these tiles */
    sum_type next_sum, sum;                  /* of the tiles */
    sum_type before = 0;  /* the aggregates of all tiles before the one in hand */
    sum_type initial = 0; /* in the block that has tile 0 */

    DEVICE widening_kernel(const widening_arguments &a, shared_memory &shared)
        : a(a), shared(shared) {}

    /* The place in the tile of element 0 of this lane's chunk r. */
    DEVICE int place_of(int r) const { return ((warp * chunks + r) * 32 + lane) * V; }
    /* Where positions i .. i + V - 1 begin in memory, and position i. */
    DEVICE int64_t chunk_in_memory(int64_t i) const {
        return scan.backward ? n - V - i : i - a.skew;
    }
    DEVICE int64_t in_memory(int64_t i) const { return scan.backward ? n - 1 - i : i - a.skew; }
    DEVICE bool is_there(int64_t i) const { return i >= a.skew && i < n; }
    DEVICE bool is_whole(int tile) const {
        return (tile > 0 || a.skew == 0) && (int64_t)(tile + 1) * items <= n;
    }

    DEVICE void prefetch(int tile, bool) const {
        if (tile >= tiles) {
            launch_dependents();
            return;
        }
#ifdef VSCAN__TMA
        if (!is_whole(tile)) return;
        const int64_t lowest =
            scan.backward ? (int64_t)(tile + 1) * items - 1 : (int64_t)tile * items;
        const uintptr_t from = (uintptr_t)((const int32_t *)scan.in + in_memory(lowest));
        tma_prefetch((const void *)(from / 16 * 16), items * (uint32_t)sizeof(int32_t));
#endif
    }

    DEVICE void count(int tile) {
        const int64_t first = (int64_t)tile * items + place_of(0);
        const int32_t *const from = (const int32_t *)scan.in + chunk_in_memory(first);
        const int step = (scan.backward ? -32 : 32) * V;
        if (is_whole(tile))
            load_chunks(next, from, step, a.wide_in);
        else
            load_chunks_where(next, from, step, 0, [&](int r, int j) {
                return is_there(first + r * 32 * V + (scan.backward ? V - 1 - j : j));
            });
        if (scan.backward) {
            UNROLL_FOR (int r = 0; r < chunks; ++r) {
                const int32_t x = next[r][0];
                next[r][0] = next[r][1];
                next[r][1] = x;
            }
        }
        if (tile == 0) initial = widening_initial(scan);
        sum_type of_lane = 0;
        UNROLL_FOR (int r = 0; r < chunks; ++r)
            of_lane += widened(next[r][0]) + widened(next[r][1]);
        of_lane = warp_sum(of_lane);
        if (lane == 0) shared.warps[warp] = of_lane;
    }

    DEVICE void publish(const chained_launch &launch, int tile) {
        next_sum = 0;
        UNROLL_FOR (int w = 0; w < widening_warps; ++w) {
            if (w == warp) next_base = next_sum;
            next_sum += shared.warps[w];
        }
        if (threadIdx.x != 0) return;
        if (tile == 0 && resumed) __threadfence();
        launch.publish(tile, tile == 0 ? initial + next_sum : next_sum);
    }

    DEVICE void look_back(const chained_launch &launch, int seen, int tile) {
        /* without the last warp, which waits for its ticket */
        const int end = warp == ticket_warp ? seen : tile;
        launch.sum_by_warps<sum_type>(shared.earlier, seen, end, 32 * ticket_warp);
    }

    DEVICE void write(int tile) {
        UNROLL_FOR (int w = 0; w < widening_warps; ++w) before += shared.earlier[w];
        sum_type running = tile == 0 ? initial : before;
        if (tile == tiles - 1 && threadIdx.x == 0 && scan.total != nullptr) {
            if (resumed) __threadfence();
            *(sum_type *)scan.total = running + sum;
        }
        running += base;
        const int64_t first = (int64_t)tile * items;
        const bool wide = is_whole(tile);
        UNROLL_FOR (int r = 0; r < chunks; ++r) {
            const sum_type x = widened(own[r][0]), both = x + widened(own[r][1]);
            const sum_type upto = warp_inclusive_sum(both), e = running + upto - both;
            running += __shfl_sync(warp_mask, upto, 31);
            sum_type y[V] = {e + x, e + both};
            if (scan.exclusive) {
                y[1] = y[0];
                y[0] = e;
            }
            store(first + place_of(r), y, wide);
        }
    }

    /* Positions i .. i + V - 1, as far as there are any. */
    DEVICE void store(int64_t i, sum_type (&y)[V], bool wide) const {
        sum_type *const out = (sum_type *)scan.out;
        if (wide) {
            const sum_type turned[V] = {scan.backward ? y[1] : y[0], scan.backward ? y[0] : y[1]};
            store_wide<sum_type, V>(out + chunk_in_memory(i), turned);
            return;
        }
        UNROLL_FOR (int j = 0; j < V; ++j)
            if (is_there(i + j)) out[in_memory(i + j)] = y[j];
    }

    DEVICE void keep() {
        UNROLL_FOR (int r = 0; r < chunks; ++r)
            UNROLL_FOR (int j = 0; j < V; ++j) own[r][j] = next[r][j];
        base = next_base;
        sum = next_sum;
    }
};

static __global__ void __launch_bounds__(widening_threads, widening_blocks)
    scan_widening(const __grid_constant__ widening_arguments a) {
    __shared__ widening_kernel::shared_memory shared;
    grid_dependency_wait(false);
    widening_kernel widening(a, shared);
    chain_tiles(widening, a.lookback, widening.tiles);
}

} /* namespace vscan */
