/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plain scans of long, 16-byte-aligned vectors on sm_90 and later, at the speed of memory: whole
 * tiles that pass through shared memory by bulk copies.
 *
 * One block of 16 scanning warps and a 17th, the scout, lives on each multiprocessor. It owns two
 * tiles: one whose aggregate is being published, one that is being finished. Shared memory: a slot
 * of 64 KiB for each, in which elements are replaced by results, and small arrays. Each scanning
 * warp owns a sixteenth of every tile: it alone loads it, sums it, scans it in place, stores it,
 * and then loads its part of the next tile, so data move while other warps compute.
 *
 * A tile's aggregate is published one tile before its results are computed. So when a block needs
 * P(t), the fold of all earlier aggregates, these have almost always been published; no block ever
 * waits for another's P. The scout folds them strictly from left to right (131 between two of a
 * block's own tiles on an H200) while the other warps work.
 *
 * Per tile, between scanning warps and scout: barrier `summed`, the warps' sums of the next tile
 * are in shared memory; barrier `folded`, P of the current tile and the ticket after the next are
 * there. A warp arrives at one only after it has passed the other, so two warps are never further
 * apart than one computing results of a tile and one summing the second tile after it: arrays by
 * tile need three copies, and have four.
 */
#ifndef VSCAN_SCAN_BULK_CUH
#define VSCAN_SCAN_BULK_CUH

#include "bulk.cuh"
#include "scan_units.cuh"

namespace vscan {

template <class Pair>
struct bulk_shape {
    using T = typename Pair::T;
    using U = typename Pair::U;
    static constexpr int lane_items = 16 / (int)sizeof(T);
    static constexpr int rows = 8; /* of a warp */
    static constexpr int warps = 16;
    static constexpr int threads = 32 * (warps + 1);
    static constexpr int row_items = 32 * lane_items;
    static constexpr int warp_items = rows * row_items;
    static constexpr int items = warps * warp_items;
    static constexpr int group_lanes = VSCAN__GROUP / lane_items;
    static constexpr int row_groups = 32 / group_lanes;
    static constexpr int groups = rows * row_groups; /* of a warp: 32 or 16, one a lane */
    static constexpr int slots = 2;
    static constexpr int fold_words = 5; /* of a lane of the scout at a time: 160 tiles */
    static_assert(items == (sizeof(T) == 8 ? VSCAN__TILE_DOUBLE : VSCAN__TILE_FLOAT), "a tile");

    struct shared {
        T slot[slots][items];
        U aggregates[32 * fold_words]; /* of the tiles that are being folded */
        U sums[4][warps];              /* of warps, by the tile's number in the block modulo 4 */
        uint32_t tickets[4];           /* of the block's tiles, likewise */
        U p;
        uint64_t loaded[slots][warps];
    };
};

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900

static constexpr int barrier_summed = 1, barrier_folded = 2;

template <int Threads>
static __device__ __forceinline__ void barrier_arrive(int barrier) {
    asm volatile("barrier.cta.arrive %0, %1;" ::"r"(barrier), "n"(Threads) : "memory");
}
template <int Threads>
static __device__ __forceinline__ void barrier_sync(int barrier) {
    asm volatile("barrier.cta.sync %0, %1;" ::"r"(barrier), "n"(Threads) : "memory");
}

/* P(to) from P(from), by the scout. */
template <class Pair>
static __device__ typename Pair::U fold_tiles(typename Pair::U p, const word *words, uint32_t tag,
                                              int64_t from, int64_t to,
                                              typename Pair::U *aggregates, int lane) {
    using U = typename Pair::U;
    constexpr int per_lane = bulk_shape<Pair>::fold_words;
    while (from < to) {
        U a[per_lane];
        bool ready;
        do {
            ready = true;
#pragma unroll
            for (int k = 0; k < per_lane; ++k) {
                const int64_t tile = from + 32 * k + lane;
                uint32_t heads;
                a[k] = Pair::identity;
                if (tile < to) ready &= unit_word<U>::read(words, tile, tag, &a[k], &heads);
            }
        } while (!ready);
        __syncwarp();
#pragma unroll
        for (int k = 0; k < per_lane; ++k) aggregates[32 * k + lane] = a[k];
        __syncwarp();
        const int count = to - from < 32 * per_lane ? (int)(to - from) : 32 * per_lane;
        /* identities beyond the last one change nothing */
        for (int k = 0; k < count; k += 8) {
            int4 quads[8 * sizeof(U) / 16];
            U next[8];
#pragma unroll
            for (int q = 0; q < (int)(sizeof quads / 16); ++q)
                quads[q] = ((const int4 *)(aggregates + k))[q];
            memcpy(next, quads, sizeof next);
#pragma unroll
            for (int j = 0; j < 8; ++j) p = Pair::combine(p, next[j]);
        }
        __syncwarp();
        from += count;
    }
    return p;
}

/* The addresses of a warp's part of a tile, and of its rows in shared memory. */
template <class Pair>
struct bulk_part {
    using T = typename Pair::T;
    using shape = bulk_shape<Pair>;
    static constexpr int V = shape::lane_items;
    static constexpr uint32_t bytes = shape::warp_items * sizeof(T);

    int64_t n;
    bool backward;
    int warp, lane;

    /* of position i in the tile */
    __device__ int in_slot(int i) const { return backward ? shape::items - V - i : i; }
    /* first element of the part in a slot, and in memory */
    __device__ int begin_in_slot() const {
        return (backward ? shape::warps - 1 - warp : warp) * shape::warp_items;
    }
    __device__ int64_t begin_in_memory(int64_t tile) const {
        return (backward ? n - (tile + 1) * shape::items : tile * shape::items) + begin_in_slot();
    }
    __device__ bool is_whole(int64_t tile) const { return (tile + 1) * shape::items <= n; }

    __device__ void load(const T *in, T *slot, int64_t tile, uint64_t *loaded) const {
        if (is_whole(tile)) {
            if (lane == 0)
                bulk_load(slot + begin_in_slot(), in + begin_in_memory(tile), bytes, loaded);
            return;
        }
#pragma unroll
        for (int r = 0; r < shape::rows; ++r) {
            const int i = warp * shape::warp_items + r * shape::row_items + lane * V;
#pragma unroll
            for (int j = 0; j < V; ++j) {
                const int64_t at = tile * shape::items + i + j;
                slot[in_slot(i) + (backward ? V - 1 - j : j)] =
                    at < n ? in[backward ? n - 1 - at : at] : Pair::out(Pair::identity);
            }
        }
        __syncwarp();
    }

    __device__ void read_row(typename Pair::U (&x)[V], const T *slot, int r) const {
        T raw[V];
        const int i = warp * shape::warp_items + r * shape::row_items + lane * V;
        const int4 quad = *(const int4 *)(slot + in_slot(i));
        memcpy(raw, &quad, 16);
#pragma unroll
        for (int j = 0; j < V; ++j) x[j] = Pair::in(backward ? raw[V - 1 - j] : raw[j]);
    }

    __device__ void write_row(const typename Pair::U (&y)[V], T *slot, int r) const {
        T raw[V];
        const int i = warp * shape::warp_items + r * shape::row_items + lane * V;
#pragma unroll
        for (int j = 0; j < V; ++j) raw[j] = Pair::out(backward ? y[V - 1 - j] : y[j]);
        int4 quad;
        memcpy(&quad, raw, 16);
        *(int4 *)(slot + in_slot(i)) = quad;
    }

    __device__ void store(T *out, T *slot, int64_t tile) const {
        if (is_whole(tile)) {
            fence_for_bulk();
            __syncwarp();
            if (lane == 0) bulk_store(out + begin_in_memory(tile), slot + begin_in_slot(), bytes);
            return;
        }
        __syncwarp();
        for (int k = lane; k < shape::warp_items; k += 32) {
            const int at = begin_in_slot() + k; /* in the slot */
            const int64_t i = tile * shape::items + (backward ? shape::items - 1 - at : at);
            if (i < n) out[backward ? n - 1 - i : i] = slot[at];
        }
    }
};

/* The sums of a warp's groups, one a lane: lane g has group g (lanes beyond the groups: garbage).
 */
template <class Pair>
static __device__ __forceinline__ typename Pair::U group_sums(const bulk_part<Pair> &part,
                                                              const typename Pair::T *slot) {
    using U = typename Pair::U;
    using shape = bulk_shape<Pair>;
    U mine = Pair::identity;
#pragma unroll
    for (int r = 0; r < shape::rows; ++r) {
        U x[shape::lane_items];
        part.read_row(x, slot, r);
#pragma unroll
        for (int half = 1; half < shape::lane_items; half *= 2)
#pragma unroll
            for (int j = 0; j < shape::lane_items; j += 2 * half)
                x[j] = Pair::combine(x[j], x[j + half]);
#pragma unroll
        for (int half = 1; half < shape::group_lanes; half *= 2)
            x[0] = Pair::combine(x[0], __shfl_xor_sync(all_lanes, x[0], half));
        const U here =
            __shfl_sync(all_lanes, x[0], part.lane % shape::row_groups * shape::group_lanes);
        if (part.lane / shape::row_groups == r) mine = here;
    }
    return mine;
}

/* What the levels above a warp's part add: for each level, the sum of the left half if it is right.
 */
template <class Pair>
static __device__ __forceinline__ typename Pair::U
add_upper(typename Pair::U value, const typename Pair::U *sums, int warp, int lane) {
    using U = typename Pair::U;
    using shape = bulk_shape<Pair>;
    U sum = sums[lane % shape::warps];
#pragma unroll
    for (int half = 1; half < shape::warps; half *= 2) {
        /* sum is that of the block of `half` warps which has warp `lane` in it */
        const U left = __shfl_sync(all_lanes, sum, (warp & ~(half - 1)) - 1);
        value = Pair::combine(warp & half ? left : Pair::identity, value);
        sum = Pair::combine(sum, __shfl_xor_sync(all_lanes, sum, half));
    }
    return value;
}

template <class Pair>
static __device__ __forceinline__ void
scan_part(const scan_arguments &a, const bulk_part<Pair> &part, typename Pair::T *slot,
          typename Pair::U group_sum, const typename Pair::U *sums, typename Pair::U p,
          typename Pair::U visible, bool carry, int64_t tile) {
    using T = typename Pair::T;
    using U = typename Pair::U;
    using shape = bulk_shape<Pair>;
    constexpr int V = shape::lane_items;
    const int lane = part.lane;

    /* prefixes of the groups: to the end of lane's group, and to its beginning */
    U one[1] = {group_sum};
    sklansky<Pair, false, shape::groups>(one, 0, 0, lane);
    const U left = __shfl_up_sync(all_lanes, one[0], 1);
    const U to_end = add_upper<Pair>(one[0], sums, part.warp, lane);
    const U to_begin = add_upper<Pair>(lane == 0 ? Pair::identity : left, sums, part.warp, lane);

    const int64_t begin = tile * shape::items + part.warp * shape::warp_items + lane * V;
#pragma unroll
    for (int r = 0; r < shape::rows; ++r) {
        const int group = r * shape::row_groups + lane / shape::group_lanes;
        const U e = __shfl_sync(all_lanes, to_begin, group);
        const U end = __shfl_sync(all_lanes, to_end, group);
        const bool group_begin = lane % shape::group_lanes == 0;
        const bool group_end = lane % shape::group_lanes == shape::group_lanes - 1;
        const int64_t i = begin + r * shape::row_items;
        U y[V];
        part.read_row(y, slot, r);
        sklansky<Pair, false, shape::group_lanes>(y, 0, 0, lane);
#pragma unroll
        for (int j = 0; j < V; ++j) {
            const U local = Pair::combine(e, y[j]);
            y[j] = Pair::combine(p, j == V - 1 && group_end ? end : local);
        }
        if (a.scan.total != nullptr && i + V >= part.n && i < part.n) {
            if (carry) __threadfence();
#pragma unroll
            for (int j = 0; j < V; ++j)
                if (i + j == part.n - 1) *(T *)a.scan.total = Pair::out(y[j]);
        }
        if (a.scan.exclusive) {
            const U before = __shfl_up_sync(all_lanes, y[V - 1], 1);
#pragma unroll
            for (int j = V - 1; j > 0; --j) y[j] = y[j - 1];
            y[0] = group_begin ? Pair::combine(p, e) : before;
            if (i == 0) y[0] = visible;
        }
        part.write_row(y, slot, r);
    }
}

#endif

template <class Pair>
__global__ void __launch_bounds__(bulk_shape<Pair>::threads, 1)
    scan_bulk(const __grid_constant__ scan_arguments a) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    using T = typename Pair::T;
    using U = typename Pair::U;
    using shape = bulk_shape<Pair>;
    extern __shared__ __align__(128) char shared_bytes[];
    typename shape::shared &shared = *(typename shape::shared *)shared_bytes;

    const vscan__scan &scan = a.scan;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int64_t tiles = (scan.n + shape::items - 1) / shape::items;
    constexpr int threads = shape::threads;

    U initial = Pair::identity;
    if (scan.has_initial == 1) initial = Pair::in(element_of<T>(scan.initial));
    if (scan.has_initial == 2) initial = Pair::in(*(const volatile T *)scan.initial_at);
    /* as in scan_units: the initial value must have been read before an aggregate is published */
    const bool carry = scan.has_initial == 2 && scan.initial_at == scan.total;

    /* ---- The scout: tickets, publishing, folding
     * ------------------------------------------------- */
    if (warp == shape::warps) {
        uint32_t tag = 0;
        const auto take = [&]() -> uint32_t {
            ticket t = {0, 0};
            if (lane == 0) {
                t = take_ticket(a.header);
                if (t.index == tiles + gridDim.x - 1)
                    end_tickets(a.header, a.words, a.capacity, tiles * unit_word<U>::words);
            }
            tag = __shfl_sync(all_lanes, t.tag, 0);
            return __shfl_sync(all_lanes, t.index, 0);
        };
        const auto publish = [&](int64_t tile, const U *sums) {
            U sum = sums[lane % shape::warps];
#pragma unroll
            for (int half = 1; half < shape::warps; half *= 2)
                sum = Pair::combine(sum, __shfl_xor_sync(all_lanes, sum, half));
            if (carry) __threadfence();
            if (lane == 0) unit_word<U>::publish(a.words, tile, tag, sum);
        };
        uint32_t current = take();
        uint32_t next = current < tiles ? take() : current;
        if (lane == 0) {
            shared.tickets[0] = current;
            shared.tickets[1] = next;
        }
        if (lane < shape::warps)
            for (int s = 0; s < shape::slots; ++s) barrier_init(&shared.loaded[s][lane], 1);
        fence_for_bulk();
        __syncthreads();
        if (current >= tiles) return;

        barrier_sync<threads>(barrier_summed);
        publish(current, shared.sums[0]);
        U p = initial;
        int64_t folded = 0;
        for (int k = 0; current < tiles; ++k) {
            uint32_t after = next;
            if (next < tiles) {
                after = take();
                if (lane == 0) shared.tickets[(k + 2) & 3] = after;
                barrier_sync<threads>(barrier_summed);
                publish(next, shared.sums[(k + 1) & 3]);
            }
            p = fold_tiles<Pair>(p, a.words, tag, folded, current, shared.aggregates, lane);
            folded = current;
            if (lane == 0) shared.p = p;
            __syncwarp();
            barrier_arrive<threads>(barrier_folded);
            current = next;
            next = after;
        }
        return;
    }

    /* ---- Scanning warps
     * -------------------------------------------------------------------------- */
    const bulk_part<Pair> part = {scan.n, (bool)scan.backward, warp, lane};
    const U visible = scan.has_initial ? initial : Pair::visible;
    const T *in = (const T *)scan.in;
    __syncthreads();
    uint32_t current = shared.tickets[0], next = shared.tickets[1];
    if (current >= tiles) return;
    part.load(in, shared.slot[0], current, &shared.loaded[0][warp]);
    if (next < tiles) part.load(in, shared.slot[1], next, &shared.loaded[1][warp]);

    const auto sum = [&](int k, int64_t tile) {
        if (part.is_whole(tile)) barrier_wait(&shared.loaded[k & 1][warp], k >> 1 & 1);
        const U mine = group_sums<Pair>(part, shared.slot[k & 1]);
        U all = lane < shape::groups ? mine : Pair::identity;
#pragma unroll
        for (int half = 1; half < shape::groups; half *= 2)
            all = Pair::combine(all, __shfl_xor_sync(all_lanes, all, half));
        if (lane == 0) shared.sums[k & 3][warp] = all;
        __syncwarp();
        return mine;
    };

    U current_sum = sum(0, current), next_sum = Pair::identity;
    barrier_sync<threads>(barrier_summed); /* waits, for there is no `folded` before the next one */
    for (int k = 0; current < tiles; ++k) {
        if (next < tiles) {
            next_sum = sum(k + 1, next);
            barrier_arrive<threads>(barrier_summed);
        }
        barrier_sync<threads>(barrier_folded);
        T *const slot = shared.slot[k & 1];
        scan_part<Pair>(a, part, slot, current_sum, shared.sums[k & 3], shared.p, visible, carry,
                        current);
        part.store((T *)scan.out, slot, current);
        current = next;
        current_sum = next_sum;
        if (next < tiles) {
            next = shared.tickets[(k + 2) & 3];
            if (next < tiles) {
                if (lane == 0) bulk_stores_read();
                __syncwarp();
                part.load(in, slot, next, &shared.loaded[k & 1][warp]);
            }
        }
    }
    if (lane == 0) bulk_stores_read();
#endif
}

} /* namespace vscan */

#endif
