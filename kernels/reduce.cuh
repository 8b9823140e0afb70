/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reduction: one pass over the vector at the speed of memory, one launch, no atomics.
 *
 * The vector is a body, which workers sum, and a few elements outside it, which only the finisher
 * reads. Where the order does not matter (Pair::in_any_order), the body is all that lies on whole
 * 16-byte quads, wherever the vector begins. Float and double plus follow lib/order.h: there the
 * body is all whole groups, and outside are the elements after the last of these, whose sum is
 * added last to their tile's. The balanced tree does not mind left and right exchanged, so a lane's
 * 16 bytes are summed in the order of memory in both directions.
 *
 * reduce_block: all in one block, of as many warps as the body needs, up to a tile.
 *
 * reduce_blocks: in one cluster of blocks, up to eight tiles, where there are clusters. Every warp
 * writes the sum of its part to the first block's shared memory.
 *
 * reduce_units: the last block is the finisher, all others are workers. Workers take units in turn,
 * unit k by worker k modulo their number; in order, they publish every unit's sum as a word
 * (unit_words.cuh), else one word in the end. The finisher waits for the words as they come, and
 * folds the sums of tiles strictly from left to right while others still read.
 *
 * The finisher is the only one that waits for anybody, and blocks start in the order of their
 * numbers, as single-pass scans elsewhere rely on too: when it runs, all workers run or are done.
 * There are no tickets. Every block reads the launch number at its start; the finisher has seen a
 * word of every worker in the end, hence all have read it, and moves it on.
 *
 * The total may be written over the initial value: only the finisher touches either.
 */
#ifndef VSCAN_REDUCE_CUH
#define VSCAN_REDUCE_CUH

#include "ops.cuh"
#include "unit_words.cuh"

namespace vscan {

struct reduce_arguments {
    const void *in;   /* n elements */
    const void *body; /* body_n of them, begin elements after in */
    int64_t n, body_n;
    int begin, outside; /* outside the body: before it, and before and after it, fewer than 32 */
    bool backward;      /* in order only: units are counted from the body's end */
    bool aligned;       /* the body's units lie on whole 16-byte quads */
    int has_initial;
    vscan__value initial;
    const void *initial_at;
    void *total;
    vscan__workspace_header *header;
    word *words;
    int64_t capacity;
    uint32_t delay; /* for tests: see test_delay */
};

/* Rows rows of 512 bytes a warp. */
template <class Pair, int Rows>
struct reduce_shape {
    using T = typename Pair::T;
    static constexpr int lane_items = 16 / (int)sizeof(T);
    static constexpr int row_items = 32 * lane_items;
    static constexpr int part_items = Rows * row_items; /* of a warp */
    static constexpr int warps = 8;
    static constexpr int threads = 32 * warps;
    static constexpr int items = warps * part_items;
    static constexpr int tile = sizeof(T) == 8 ? VSCAN__TILE_DOUBLE : VSCAN__TILE_FLOAT;
    static constexpr int units = tile / items; /* of a tile */
    static constexpr int resident = 3;         /* blocks an SM: 96 KiB in flight on it */
    static_assert(items > tile || units * items == tile, "units make up tiles");
};

/* The unit of reduce_units: 32 KiB. */
static constexpr int reduce_unit_rows = 8;
template <class Pair>
using reduce_unit = reduce_shape<Pair, reduce_unit_rows>;

static constexpr unsigned reduce_lanes = 0xffffffffu;

template <class Pair>
static __device__ __forceinline__ typename Pair::U across(typename Pair::U x, int distance) {
    return Pair::combine(x, __shfl_xor_sync(reduce_lanes, x, distance));
}

/* The balanced tree over the lanes of a warp, in all of them. */
template <class Pair>
struct over_lanes {
    using U = typename Pair::U;
    static __device__ __forceinline__ U sum(U x) {
#pragma unroll
        for (int d = 1; d < 32; d *= 2) x = across<Pair>(x, d);
        return x;
    }
};

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800 /* one instruction, where there is one */
template <>
struct over_lanes<pair<op_plus, int>> {
    static __device__ __forceinline__ int32_t sum(int32_t x) {
        return (int32_t)__reduce_add_sync(reduce_lanes, (uint32_t)x);
    }
};
template <class T>
struct over_lanes<pair<op_and, T>> {
    static __device__ __forceinline__ int32_t sum(int32_t x) {
        return (int32_t)__reduce_and_sync(reduce_lanes, (uint32_t)x);
    }
};
template <class T>
struct over_lanes<pair<op_or, T>> {
    static __device__ __forceinline__ int32_t sum(int32_t x) {
        return (int32_t)__reduce_or_sync(reduce_lanes, (uint32_t)x);
    }
};
template <class T>
struct over_lanes<pair<op_max, T>> {
    static __device__ __forceinline__ int32_t sum(int32_t x) {
        return __reduce_max_sync(reduce_lanes, x);
    }
    static __device__ __forceinline__ float sum(float x) {
        using key = extreme_float_key<true>;
        return key::out(sum(key::in(x)));
    }
    /* the high half decides; among lanes that have the same, the low one */
    static __device__ __forceinline__ int64_t sum(int64_t x) {
        const int32_t high = sum((int32_t)(x >> 32));
        const uint32_t low = (int32_t)(x >> 32) == high ? (uint32_t)x : 0;
        return (int64_t)high << 32 | __reduce_max_sync(reduce_lanes, low);
    }
};
template <class T>
struct over_lanes<pair<op_min, T>> {
    static __device__ __forceinline__ int32_t sum(int32_t x) {
        return __reduce_min_sync(reduce_lanes, x);
    }
    static __device__ __forceinline__ float sum(float x) {
        using key = extreme_float_key<false>;
        return key::out(sum(key::in(x)));
    }
    static __device__ __forceinline__ int64_t sum(int64_t x) {
        const int32_t high = sum((int32_t)(x >> 32));
        const uint32_t low = (int32_t)(x >> 32) == high ? (uint32_t)x : ~0u;
        return (int64_t)high << 32 | __reduce_min_sync(reduce_lanes, low);
    }
};
#endif

/*
 * Sums over the lanes of N rows, x[r] the lane's value of row r: lane l returns that of row l % N,
 * over the End lanes of its block of so many, by the balanced tree. While a lane has several rows, a
 * step gives half of them to the lane across and gets that lane's values of the other half: N - 1
 * exchanges until each lane has one row, not N a level.
 */
template <class Pair, int Rows, int End, int Distance = 1, int N>
static __device__ __forceinline__ typename Pair::U rows_over_lanes(typename Pair::U (&x)[N],
                                                                   int lane) {
    using U = typename Pair::U;
    static_assert(N <= 32, "a lane has one row in the end");
    if constexpr (Distance == End) {
        return x[0];
    } else if constexpr (Rows == 1) {
        x[0] = across<Pair>(x[0], Distance);
        return rows_over_lanes<Pair, 1, End, 2 * Distance>(x, lane);
    } else {
        const bool odd = lane & Distance;
#pragma unroll
        for (int r = 0; r < Rows; r += 2) {
            const U keep = odd ? x[r + 1] : x[r], give = odd ? x[r] : x[r + 1];
            x[r / 2] = Pair::combine(keep, __shfl_xor_sync(reduce_lanes, give, Distance));
        }
        return rows_over_lanes<Pair, Rows / 2, End, 2 * Distance>(x, lane);
    }
}

/* The balanced tree over N rows of 32 values: over the lanes, then over the rows. In all lanes. */
template <class Pair, int N>
static __device__ __forceinline__ typename Pair::U sum_rows(typename Pair::U (&x)[N], int lane) {
    typename Pair::U sum = rows_over_lanes<Pair, N, 32>(x, lane);
#pragma unroll
    for (int d = 1; d < N; d *= 2) sum = across<Pair>(sum, d);
    return sum;
}

/* What the finisher reads besides the body: loaded first, used later. */
template <class Pair>
struct finish {
    using T = typename Pair::T;
    using U = typename Pair::U;
    T element = 0, z = 0; /* the lane's element outside the body, the initial value */

    __device__ __forceinline__ void load(const reduce_arguments &a, int lane) {
        const int k = a.backward ? a.outside - 1 - lane : lane; /* counted in memory */
        if (lane < a.outside) element = ((const T *)a.in)[k < a.begin ? k : a.body_n + k];
        memcpy(&z, &a.initial, sizeof z);
        if (a.has_initial == 2) z = *(const T *)a.initial_at;
    }
    /* the lane's share of what is outside */
    __device__ __forceinline__ U rest(const reduce_arguments &a, int lane) const {
        return lane < a.outside ? Pair::in(element) : Pair::identity;
    }
    /* what the fold begins with */
    __device__ __forceinline__ U initial(const reduce_arguments &a) const {
        if (a.has_initial) return Pair::in(z);
        return a.n == 0 ? Pair::visible : Pair::identity;
    }
};

/* What a warp that sums a part does for the finisher at the same time. */
enum reduce_role {
    reduce_part, /* nothing */
    reduce_first, /* where asked to, it loads what is outside the body, once the part's loads are out */
    reduce_alone /* it does so and returns the sum of both, in order: B(part) + B(outside) */
};

/*
 * What a lane contributes to its warp's part, Rows rows from position `first` of the body: in order,
 * the sum of the part (every lane has it), else the lane's own elements combined. Whole: all of the
 * part is there. Backward, position i is at body_n - 1 - i in memory.
 */
template <class Pair, int Rows, bool Whole, bool Aligned, reduce_role Role>
static __device__ __forceinline__ typename Pair::U
sum_part(const reduce_arguments &a, int64_t first, int lane, finish<Pair> &f, bool asked) {
    using T = typename Pair::T;
    using U = typename Pair::U;
    using shape = reduce_shape<Pair, Rows>;
    /* not aligned: by rows of 32 elements, as many bytes in flight, more exchanges */
    constexpr int V = Aligned ? shape::lane_items : 1;
    constexpr int rows = Rows * shape::lane_items / V;
    constexpr bool with_rest = Role == reduce_alone && !Pair::in_any_order;
    const int sign = !Pair::in_any_order && a.backward ? -1 : 1;
    const int i = lane * V; /* in the part, of which `left` elements are there */
    const int left =
        a.body_n - first < shape::part_items ? (int)(a.body_n - first) : shape::part_items;
    const T *const at = (const T *)a.body + (sign < 0 ? a.body_n - V - first : first);
    T raw[rows][V];
#pragma unroll
    for (int r = 0; r < rows; ++r)
#pragma unroll
        for (int j = 0; j < V; ++j) raw[r][j] = 0;
    const auto load = [&](int r, int k) {
        if constexpr (Aligned) {
            const int4 quad = load_quad(at + sign * k);
            memcpy(raw[r], &quad, 16);
        } else {
            raw[r][0] = at[sign * k];
        }
    };
    if constexpr (Role == reduce_part) {
        /* Rows that are not there load the last that is: loads without conditions are sooner out. A
           block that runs once is slower with that. */
        if (Whole || left > 0) {
#pragma unroll
            for (int r = 0; r < rows; ++r) {
                const int k = i + r * 32 * V;
                load(r, Whole || k < left ? k : left - V);
            }
        }
    } else {
#pragma unroll
        for (int r = 0; r < rows; ++r)
            if (i + r * 32 * V < left) load(r, i + r * 32 * V);
    }
    if (Role == reduce_alone || (Role == reduce_first && asked)) f.load(a, lane);
    U x[with_rest ? 2 * rows : rows];
#pragma unroll
    for (int r = 0; r < rows; ++r) {
        U items[V];
#pragma unroll
        for (int j = 0; j < V; ++j) items[j] = Pair::in(raw[r][j]);
        x[r] = sum_items<Pair>(items);
        if (!Whole && i + r * 32 * V >= left) x[r] = Pair::identity;
    }
    if constexpr (Pair::in_any_order) {
        return sum_items<Pair>(x);
    } else {
        if constexpr (with_rest) {
            x[rows] = f.rest(a, lane);
#pragma unroll
            for (int r = rows + 1; r < 2 * rows; ++r) x[r] = Pair::identity;
        }
        return sum_rows<Pair>(x, lane);
    }
}

/* The same with what is known of the alignment only when the kernel runs. */
template <class Pair, int Rows, bool Whole, reduce_role Role>
static __device__ __forceinline__ typename Pair::U
sum_any_part(const reduce_arguments &a, int64_t first, int lane, finish<Pair> &f, bool asked) {
    if (Pair::in_any_order || a.aligned)
        return sum_part<Pair, Rows, Whole, true, Role>(a, first, lane, f, asked);
    return sum_part<Pair, Rows, Whole, Pair::in_any_order, Role>(a, first, lane, f, asked);
}

/* ---- What only the finisher does -------------------------------------------------------------- */

/*
 * The thread's share of the words of all workers, for the finisher of a pair in any order. All words
 * are read again until the last is there, so that it is not waited for longer than one read takes.
 */
template <class Pair>
static __device__ __forceinline__ typename Pair::U fold_workers(const reduce_arguments &a,
                                                                uint32_t tag, int workers) {
    using U = typename Pair::U;
    constexpr int threads = reduce_unit<Pair>::threads;
    U sum = Pair::identity;
    for (int from = (int)threadIdx.x; from < workers; from += 2 * threads) {
        const bool two = from + threads < workers;
        U x[2];
        uint32_t heads;
        bool ready;
        do {
            ready = unit_word<U>::read(a.words, from, tag, &x[0], &heads);
            ready &= unit_word<U>::read(a.words, two ? from + threads : from, tag, &x[1], &heads);
        } while (!ready);
        sum = Pair::combine(sum, x[0]);
        if (two) sum = Pair::combine(sum, x[1]);
    }
    __syncwarp();
    return sum;
}

/*
 * P(tiles) from P(0) = p, valid in the first warp. One word a thread is a chunk. Several chunks are
 * read at once, again and again until the first is there, since a read takes microseconds while
 * memory is busy and so must not be waited for once a chunk.
 *   rest   the sum outside the body, of the last tile
 */
template <class Pair>
struct tile_folder {
    using U = typename Pair::U;
    using shape = reduce_unit<Pair>;
    static constexpr int chunk = shape::threads;
    static constexpr int chunk_tiles = chunk / shape::units;
    static constexpr int batch = 16; /* tiles folded at a time */
    static_assert(chunk_tiles % batch == 0, "chunks are made of batches");
    struct shared {
        __align__(16) U aggregates[2][chunk_tiles];
    };

    const reduce_arguments &a;
    shared &s;
    uint32_t tag;
    U p, rest;
    int64_t units, last; /* last: the last tile */

    static __device__ __forceinline__ void read_tiles(U (&to)[batch], const U *from) {
        int4 quads[sizeof to / 16];
#pragma unroll
        for (int q = 0; q < (int)(sizeof to / 16); ++q) quads[q] = ((const int4 *)from)[q];
        memcpy(to, quads, sizeof to);
    }

    template <int Chunks>
    __device__ __forceinline__ void fold(int64_t from) {
        const int thread = (int)threadIdx.x;
        U x[Chunks];
        bool ready[Chunks];
        const auto read = [&](int first) {
#pragma unroll
            for (int c = first; c < Chunks; ++c) {
                const int64_t unit = from + c * chunk + thread;
                uint32_t heads;
                x[c] = Pair::identity;
                ready[c] = true;
                if (unit < units) ready[c] = unit_word<U>::read(a.words, unit, tag, &x[c], &heads);
            }
        };
        read(0);
#pragma unroll
        for (int c = 0; c < Chunks; ++c) {
            while (!ready[c]) read(c);
            __syncwarp();
            U sum = x[c];
#pragma unroll
            for (int d = 1; d < shape::units; d *= 2) sum = across<Pair>(sum, d);
            const int64_t first = (from + c * chunk) / shape::units;
            if (first + thread / shape::units == last) sum = Pair::combine(sum, rest);
            if (thread % shape::units == 0) s.aggregates[c & 1][thread / shape::units] = sum;
            __syncthreads();
            if (thread >= 32) continue;
            const int tiles =
                last + 1 - first < chunk_tiles ? (int)(last + 1 - first) : chunk_tiles;
            U next[batch];
            read_tiles(next, s.aggregates[c & 1]);
#pragma unroll 1
            for (int t = batch; t < tiles + batch; t += batch) {
                U now[batch];
                memcpy(now, next, sizeof now);
                read_tiles(next, s.aggregates[c & 1] + (t < chunk_tiles ? t : 0));
#pragma unroll
                for (int j = 0; j < batch; ++j) p = Pair::combine(p, now[j]);
            }
        }
    }

    __device__ __forceinline__ void fold_all() {
        int64_t from = 0;
        const int64_t end = last * shape::units + 1;
        for (; end - from > 2 * chunk; from += 4 * chunk) fold<4>(from);
        if (end - from > chunk)
            fold<2>(from);
        else if (end > from)
            fold<1>(from);
    }
};

/* ---- Kernels --------------------------------------------------------------------------------- */

/*
 * One block of at most 32 warps, Rows rows each; at most a tile. Alone: one warp. What is short runs
 * once, so its time is that of fetching instructions: few of them, and no jumps.
 */
template <class Pair, int Rows, bool Aligned, bool Alone>
__global__ void __launch_bounds__(Alone ? 32 : 1024)
    reduce_block(const __grid_constant__ reduce_arguments a) {
    using T = typename Pair::T;
    using U = typename Pair::U;
    constexpr reduce_role role = Alone ? reduce_alone : reduce_first;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int first = warp * reduce_shape<Pair, Rows>::part_items;
    finish<Pair> f;
    U sum = sum_part<Pair, Rows, false, Aligned, role>(a, first, lane, f, warp == 0);
    const U rest = warp == 0 ? f.rest(a, lane) : Pair::identity;
    if constexpr (Pair::in_any_order) sum = over_lanes<Pair>::sum(Pair::combine(sum, rest));
    if constexpr (!Alone) {
        __shared__ U parts[32];
        if (lane == 0) parts[warp] = sum;
        __syncthreads();
        if (warp != 0) return;
        sum = lane < (int)blockDim.x / 32 ? parts[lane] : Pair::identity;
        if constexpr (Pair::in_any_order) {
            sum = over_lanes<Pair>::sum(sum);
        } else {
            U both[2] = {sum, rest};
            sum = sum_rows<Pair>(both, lane);
        }
    }
    if (threadIdx.x == 0) *(T *)a.total = Pair::out(Pair::combine(f.initial(a), sum));
}

/* Blocks of a cluster, which every GPU with clusters can have, and rows of their warps. */
static constexpr int reduce_cluster = 8, reduce_block_rows = 4;

/*
 * One cluster: as reduce_block, with the parts of all blocks' warps in the first block's shared
 * memory, where the first warp sums the tiles and folds them.
 */
template <class Pair>
__global__ void __launch_bounds__(1024) reduce_blocks(const __grid_constant__ reduce_arguments a) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    using T = typename Pair::T;
    using U = typename Pair::U;
    using shape = reduce_shape<Pair, reduce_block_rows>;
    static_assert(32 * shape::part_items == shape::tile, "a tile is a row of 32 parts");
    __shared__ U parts[reduce_cluster][32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
    cluster_arrive_started();
    const bool finisher = warp == 0 && blockIdx.x == 0;
    const int part = (int)blockIdx.x * warps + warp;
    finish<Pair> f;
    U sum = sum_any_part<Pair, reduce_block_rows, false, reduce_first>(a, part * shape::part_items,
                                                                       lane, f, finisher);
    U rest = finisher ? f.rest(a, lane) : Pair::identity;
    if constexpr (Pair::in_any_order) sum = over_lanes<Pair>::sum(Pair::combine(sum, rest));
    cluster_wait_started();
    if (lane == 0) store_to_first_block(&parts[part / 32][part % 32], sum);
    __syncwarp();
    cluster_arrive();
    if (blockIdx.x > 0) return;
    if constexpr (!Pair::in_any_order) rest = over_lanes<Pair>::sum(rest);
    cluster_wait();
    if (warp > 0) return;

    U x[reduce_cluster], p = f.initial(a);
#pragma unroll
    for (int k = 0; k < reduce_cluster; ++k)
        x[k] = 32 * k + lane < reduce_cluster * warps ? parts[k][lane] : Pair::identity;
    if constexpr (Pair::in_any_order) {
        p = Pair::combine(p, over_lanes<Pair>::sum(sum_items<Pair>(x)));
    } else {
        U aggregate = rows_over_lanes<Pair, reduce_cluster, 32>(x, lane); /* of tile lane % 8 */
        if (lane % reduce_cluster == (int)((a.n - 1) / shape::tile))
            aggregate = Pair::combine(aggregate, rest);
#pragma unroll
        for (int t = 0; t < reduce_cluster; ++t)
            p = Pair::combine(p, __shfl_sync(reduce_lanes, aggregate, t));
    }
    if (lane == 0) *(T *)a.total = Pair::out(p);
#endif
}

template <class Pair>
__global__ void __launch_bounds__(reduce_unit<Pair>::threads, reduce_unit<Pair>::resident)
    reduce_units(const __grid_constant__ reduce_arguments a) {
    using T = typename Pair::T;
    using U = typename Pair::U;
    using shape = reduce_unit<Pair>;
    __shared__ U parts[2][shape::warps];
    __shared__ typename tile_folder<Pair>::shared folding;

    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const uint32_t launch = (uint32_t)(load_relaxed(&a.header->launches_and_ticket) >> 32);
    const uint32_t tag = tag_of(launch);
    const int workers = (int)gridDim.x - 1;
    const int64_t units = (a.body_n + shape::items - 1) / shape::items;

    /* ---- Workers ----------------------------------------------------------------------------- */
    if ((int)blockIdx.x < workers) {
        const auto publish = [&](int64_t at, const U(&sums)[shape::warps]) {
            if (threadIdx.x != 0) return;
            U x[shape::warps];
#pragma unroll
            for (int w = 0; w < shape::warps; ++w) x[w] = sums[w];
            test_delay(a.delay, tag, at, 0);
            unit_word<U>::publish(a.words, at, tag, sum_items<Pair>(x));
        };
        finish<Pair> f; /* not used */
        U all = Pair::identity;
        int turn = 0;
        for (int64_t unit = blockIdx.x; unit < units; unit += workers) {
            const int64_t first = unit * shape::items + warp * shape::part_items;
            const U sum = (unit + 1) * shape::items <= a.body_n
                              ? sum_any_part<Pair, reduce_unit_rows, true, reduce_part>(
                                    a, first, lane, f, false)
                              : sum_any_part<Pair, reduce_unit_rows, false, reduce_part>(
                                    a, first, lane, f, false);
            if constexpr (Pair::in_any_order) {
                all = Pair::combine(all, sum);
            } else {
                if (lane == 0) parts[turn][warp] = sum;
                __syncthreads(); /* also: what is written in the next turn but one has been read */
                publish(unit, parts[turn]);
                turn ^= 1;
            }
        }
        if constexpr (Pair::in_any_order) {
            all = over_lanes<Pair>::sum(all);
            if (lane == 0) parts[0][warp] = all;
            __syncthreads();
            publish(blockIdx.x, parts[0]);
        }
        return;
    }

    /* ---- Finisher ---------------------------------------------------------------------------- */
    const int64_t published = Pair::in_any_order ? workers : units;
    finish<Pair> f;
    f.load(a, lane);
    test_delay(a.delay, tag, published, 1);
    U p;
    if constexpr (Pair::in_any_order) {
        U sum = fold_workers<Pair>(a, tag, workers);
        if (warp == 0) sum = Pair::combine(sum, f.rest(a, lane));
        sum = over_lanes<Pair>::sum(sum);
        if (lane == 0) parts[0][warp] = sum;
        __syncthreads();
        sum = over_lanes<Pair>::sum(lane < shape::warps ? parts[0][lane] : Pair::identity);
        p = Pair::combine(f.initial(a), sum);
    } else {
        const U rest = over_lanes<Pair>::sum(f.rest(a, lane));
        tile_folder<Pair> folder = {
            a, folding, tag, f.initial(a), rest, units, (a.n - 1) / shape::tile};
        folder.fold_all();
        p = folder.p;
    }
    /* here all threads of the block have seen their words */
    if (threadIdx.x == 0) *(T *)a.total = Pair::out(p);
    if (threadIdx.x == shape::threads - 1)
        close_launch(a.header, launch, a.words, a.capacity, published * unit_word<U>::words);
}

/* ---- Launch ---------------------------------------------------------------------------------- */

/* Bytes up to which kernels and shapes are the fastest. Measured on an H200. */
enum {
    REDUCE_WARP_BYTES = 1 << 10,      /* one warp, two rows */
    REDUCE_LONG_WARP_BYTES = 2 << 10, /* one warp, four rows */
    REDUCE_ROW_BYTES = 16 << 10,      /* one block, one row a warp */
    REDUCE_BLOCK_BYTES = 64 << 10,    /* one block, four rows a warp: a tile */
    REDUCE_CLUSTER_BYTES = 512 << 10, /* one cluster, where there are clusters; what it can hold */
    REDUCE_FEW_BYTES = 64 << 20       /* units, two blocks an SM; then three */
};

/* Warps for a vector, dealt to so many blocks. */
template <class Pair, int Rows>
static int reduce_warps(const reduce_arguments &a, int blocks) {
    const int items = blocks * reduce_shape<Pair, Rows>::part_items;
    return a.n <= items ? 1 : (int)((a.n + items - 1) / items);
}

template <class Pair, int Rows, bool Alone>
static cudaError_t launch_reduce_block(const vscan__launch *launch, const reduce_arguments &a) {
    const int threads = Alone ? 32 : 32 * reduce_warps<Pair, Rows>(a, 1);
    const auto kernel = a.aligned ? reduce_block<Pair, Rows, true, Alone>
                                  : reduce_block<Pair, Rows, Pair::in_any_order, Alone>;
    return start(kernel, 1, threads, 0, launch->stream, a);
}

template <class Pair>
static cudaError_t launch_reduce_blocks(const vscan__launch *launch, const reduce_arguments &a) {
    cudaLaunchAttribute cluster;
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim.x = reduce_cluster;
    cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
    return start(reduce_blocks<Pair>, reduce_cluster,
                 32 * reduce_warps<Pair, reduce_block_rows>(a, reduce_cluster), 0, launch->stream,
                 a, &cluster);
}

template <class Pair>
static cudaError_t launch_reduce_units(const vscan__launch *launch, const reduce_arguments &a) {
    using shape = reduce_unit<Pair>;
    const int64_t units = (a.body_n + shape::items - 1) / shape::items;
    const int per_sm =
        (size_t)a.n * sizeof(typename Pair::T) > REDUCE_FEW_BYTES ? shape::resident : 2;
    const int64_t resident = (int64_t)per_sm * launch->multiprocessors - 1;
    const int blocks = (int)(units < resident ? units : resident) + 1;
    return start(reduce_units<Pair>, blocks, shape::threads, 0, launch->stream, a);
}

template <class Pair>
static cudaError_t launch_reduce(const vscan__launch *launch, const vscan__scan *scan) {
    using T = typename Pair::T;
    const int64_t n = scan->n;
    reduce_arguments a;
    a.in = scan->in;
    a.n = n;
    if (Pair::in_any_order) {
        const int64_t before = (int64_t)(-(uintptr_t)scan->in % 16 / sizeof(T));
        a.begin = (int)(before < n ? before : n);
        a.body_n = (n - a.begin) * (int64_t)sizeof(T) / 16 * 16 / (int64_t)sizeof(T);
        a.backward = false;
        a.aligned = true;
    } else {
        a.body_n = n / VSCAN__GROUP * VSCAN__GROUP;
        a.backward = scan->backward;
        a.begin = a.backward ? (int)(n - a.body_n) : 0;
        a.aligned = (uintptr_t)((const T *)scan->in + a.begin) % 16 == 0;
    }
    a.body = (const T *)scan->in + a.begin;
    a.outside = (int)(n - a.body_n);
    a.has_initial = scan->has_initial;
    a.initial = scan->initial;
    a.initial_at = scan->initial_at;
    a.total = scan->total;
    a.header = (vscan__workspace_header *)launch->workspace;
    a.words = (word *)((char *)launch->workspace + VSCAN__WORKSPACE_HEADER);
    a.capacity = launch->words;
    a.delay = launch->test_delay;

    const int64_t bytes = n * (int64_t)sizeof(T);
    const bool clusters = launch->shared_memory > 0; /* they came with bulk copies */
    if (bytes <= REDUCE_WARP_BYTES) return launch_reduce_block<Pair, 2, true>(launch, a);
    if (bytes <= REDUCE_LONG_WARP_BYTES) return launch_reduce_block<Pair, 4, true>(launch, a);
    if (bytes <= REDUCE_ROW_BYTES) return launch_reduce_block<Pair, 1, false>(launch, a);
    if (bytes <= REDUCE_BLOCK_BYTES)
        return launch_reduce_block<Pair, reduce_block_rows, false>(launch, a);
    if (clusters && bytes <= REDUCE_CLUSTER_BYTES) return launch_reduce_blocks<Pair>(launch, a);
    return launch_reduce_units<Pair>(launch, a);
}

} /* namespace vscan */

#endif
