/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reduction: one pass over the vector at the speed of memory, one launch, no atomics.
 *
 * The vector is a body, which workers sum, and a few elements outside it, which only the finisher
 * reads. Where the order does not matter (Pair::in_any_order), the body is all that lies on whole
 * 16-byte quads, wherever the vector begins. Float and double plus follow lib/order.h: there the
 * body is all whole groups, and outside are the elements after the last of these, whose sum is
 * added last to their tile's. The balanced tree does not mind left and right exchanged, so a unit,
 * a power of two of elements, is summed in the order of memory in both directions, and lanes may
 * hold its elements in any way that exchanges bits of their positions' numbers for bits of theirs.
 *
 * reduce_block: all in one block, of as many warps as the body needs.
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
    int begin;
    bool backward; /* in order only: units are counted from the body's end */
    bool aligned;  /* the body's units lie on whole 16-byte quads */
    int has_initial;
    vscan__value initial;
    const void *initial_at;
    void *total;
    vscan__workspace_header *header;
    word *words;
    int64_t capacity;
    uint32_t delay; /* for tests: see test_delay */
};

/* A unit: Rows rows of 512 bytes a warp. */
template <class Pair, int Rows>
struct reduce_shape {
    using T = typename Pair::T;
    static constexpr int lane_items = 16 / (int)sizeof(T);
    static constexpr int row_items = 32 * lane_items;
    static constexpr int part_items = Rows * row_items; /* of a warp */
    static constexpr int warps = 4;
    static constexpr int threads = 32 * warps;
    static constexpr int items = warps * part_items;
    static constexpr int tile = sizeof(T) == 8 ? VSCAN__TILE_DOUBLE : VSCAN__TILE_FLOAT;
    static constexpr int units = tile / items; /* of a tile */
    static constexpr int resident = 6; /* blocks an SM: 96 KiB in flight on it */
    static_assert(units * items == tile && units >= 2, "two words a thread belong to one tile");
};

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
    static __device__ __forceinline__ int64_t sum(int64_t x) {
        const int32_t high = sum((int32_t)(x >> 32));
        const uint32_t low = (int32_t)(x >> 32) == high ? (uint32_t)x : ~0u;
        return (int64_t)high << 32 | __reduce_min_sync(reduce_lanes, low);
    }
};
#endif

/* The balanced tree over 2^k values of a lane. */
template <class Pair, int N>
static __device__ __forceinline__ typename Pair::U sum_items(typename Pair::U (&x)[N]) {
#pragma unroll
    for (int half = 1; half < N; half *= 2)
#pragma unroll
        for (int j = 0; j < N; j += 2 * half) x[j] = Pair::combine(x[j], x[j + half]);
    return x[0];
}

/*
 * The balanced tree over N rows of 32 values, x[r] the lane's value of row r: over the lanes first,
 * then over the rows. While a lane has several rows, a step gives half of them to the lane across
 * and gets that lane's values of the other half, so it takes N - 1 exchanges until each lane has
 * one row, not N a level. Every lane returns the sum.
 */
template <class Pair, int Rows, int Distance = 1, int N>
static __device__ __forceinline__ typename Pair::U sum_rows(typename Pair::U (&x)[N], int lane) {
    using U = typename Pair::U;
    if constexpr (Distance == 32) {
#pragma unroll
        for (int d = 1; d < N; d *= 2) x[0] = across<Pair>(x[0], d);
        return x[0];
    } else if constexpr (Rows == 1) {
        x[0] = across<Pair>(x[0], Distance);
        return sum_rows<Pair, 1, 2 * Distance>(x, lane);
    } else {
        const bool odd = lane & Distance;
#pragma unroll
        for (int r = 0; r < Rows; r += 2) {
            const U keep = odd ? x[r + 1] : x[r], give = odd ? x[r] : x[r + 1];
            x[r / 2] = Pair::combine(keep, __shfl_xor_sync(reduce_lanes, give, Distance));
        }
        return sum_rows<Pair, Rows / 2, 2 * Distance>(x, lane);
    }
}

/* Not kept in the L1 cache: every element is read once. */
static __device__ __forceinline__ int4 load_quad(const void *at) {
    int4 quad;
    asm volatile("ld.global.L1::no_allocate.v4.s32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(quad.x), "=r"(quad.y), "=r"(quad.z), "=r"(quad.w)
                 : "l"(at));
    return quad;
}

/*
 * What a lane contributes to its warp's part of a unit: in order, the sum of the part (every lane
 * has it), else the lane's own elements combined. at   the part in memory, of which elements
 * from .. to - 1 are there; Whole: all are
 */
template <class Pair, int Rows, bool Whole>
static __device__ __forceinline__ typename Pair::U sum_part(const typename Pair::T *at, int from,
                                                            int to, bool aligned, int lane) {
    using T = typename Pair::T;
    using U = typename Pair::U;
    using shape = reduce_shape<Pair, Rows>;
    constexpr int V = shape::lane_items;
    if constexpr (!Pair::in_any_order) {
        if (!aligned) { /* by rows of 32 elements: as many bytes in flight, a bit more to exchange */
            U x[Rows * V];
#pragma unroll
            for (int r = 0; r < Rows * V; ++r) {
                const int i = 32 * r + lane;
                x[r] = Pair::identity;
                if (Whole || (i >= from && i < to)) x[r] = Pair::in(at[i]);
            }
            return sum_rows<Pair, Rows * V>(x, lane);
        }
    }
    int4 quads[Rows];
#pragma unroll
    for (int r = 0; r < Rows; ++r) {
        const int i = r * shape::row_items + lane * V;
        quads[r] = make_int4(0, 0, 0, 0);
        if (Whole || (i >= from && i < to)) quads[r] = load_quad(at + i);
    }
    U x[Rows];
#pragma unroll
    for (int r = 0; r < Rows; ++r) {
        const int i = r * shape::row_items + lane * V;
        T raw[V];
        U items[V];
        memcpy(raw, &quads[r], 16);
#pragma unroll
        for (int j = 0; j < V; ++j) items[j] = Pair::in(raw[j]);
        x[r] = sum_items<Pair>(items);
        if (!Whole && !(i >= from && i < to)) x[r] = Pair::identity;
    }
    if constexpr (Pair::in_any_order)
        return sum_items<Pair>(x);
    else
        return sum_rows<Pair, Rows>(x, lane);
}

/* sum_part of this warp in a unit of so many items. */
template <class Pair, int Rows>
static __device__ __forceinline__ typename Pair::U sum_unit(const reduce_arguments &a, int64_t unit,
                                                            int items, int warp, int lane) {
    using T = typename Pair::T;
    using shape = reduce_shape<Pair, Rows>;
    const int64_t begin = a.backward ? a.body_n - (unit + 1) * items : unit * items;
    const int64_t part = begin + warp * shape::part_items;
    const T *const at = (const T *)a.body + part;
    if (begin >= 0 && begin + items <= a.body_n)
        return sum_part<Pair, Rows, true>(at, 0, 0, a.aligned, lane);
    const int64_t left = a.body_n - part;
    return sum_part<Pair, Rows, false>(at, part < 0 ? (int)-part : 0,
                                       left < shape::part_items ? (int)left : shape::part_items,
                                       a.aligned, lane);
}

/* ---- What only the finisher does -------------------------------------------------------------- */

/* The lane's element outside the body, or the identity: there are fewer than 32 of them. */
template <class Pair>
static __device__ __forceinline__ typename Pair::U load_outside(const reduce_arguments &a,
                                                                int lane) {
    const int count = (int)(a.n - a.body_n);
    const int k = a.backward ? count - 1 - lane : lane; /* counted in memory */
    if (lane >= count) return Pair::identity;
    return Pair::in(((const typename Pair::T *)a.in)[k < a.begin ? k : a.body_n + k]);
}

/* What the fold begins with. */
template <class Pair>
static __device__ typename Pair::U initial_of(const reduce_arguments &a) {
    using T = typename Pair::T;
    T z;
    memcpy(&z, &a.initial, sizeof z);
    if (a.has_initial == 2) z = *(const T *)a.initial_at;
    if (a.has_initial) return Pair::in(z);
    return a.n == 0 ? Pair::visible : Pair::identity;
}

/*
 * The sum of the words of all workers, by the finisher of a pair in any order. Several words a
 * thread are asked for at once, and then waited for one by one, so that the last to come is not
 * waited for longer than one read takes.
 */
template <class Pair, int Rows>
static __device__ typename Pair::U fold_workers(const reduce_arguments &a, uint32_t tag,
                                                int workers) {
    using U = typename Pair::U;
    constexpr int threads = reduce_shape<Pair, Rows>::threads;
    constexpr int asked = 4;
    U sum = Pair::identity;
    for (int from = 0; from < workers; from += asked * threads) {
        U x[asked];
        bool ready[asked];
        const auto ask = [&](int k) {
            const int worker = from + k * threads + (int)threadIdx.x;
            uint32_t heads;
            x[k] = Pair::identity;
            ready[k] = worker >= workers || unit_word<U>::read(a.words, worker, tag, &x[k], &heads);
        };
#pragma unroll
        for (int k = 0; k < asked; ++k) ask(k);
#pragma unroll
        for (int k = 0; k < asked; ++k) {
            while (!ready[k]) ask(k);
            sum = Pair::combine(sum, x[k]);
        }
    }
    __syncwarp();
    return sum;
}

/*
 * P(tiles) from P(0) = p, valid in the first warp. Two words a thread are a chunk; those of
 * several chunks are asked for at once, since a read takes microseconds while memory is busy, and
 * then waited for chunk by chunk, so that what comes last meets a sum of everything before.
 *   rest   the sum outside the body, of the last tile
 */
template <class Pair, int Rows>
static __device__ typename Pair::U fold_tiles_in_order(
    const reduce_arguments &a, uint32_t tag, typename Pair::U p, typename Pair::U rest,
    typename Pair::U (
        &aggregates)[2][2 * reduce_shape<Pair, Rows>::threads / reduce_shape<Pair, Rows>::units],
    int warp) {
    using U = typename Pair::U;
    using shape = reduce_shape<Pair, Rows>;
    constexpr int chunks = Rows == 8 ? 8 : 2, chunk = 2 * shape::threads;
    constexpr int chunk_tiles = chunk / shape::units;
    const int64_t units = (a.body_n + shape::items - 1) / shape::items;
    const int64_t last = (a.n - 1) / shape::tile;
    for (int64_t from = 0; from <= last * shape::units; from += chunks * chunk) {
        U x[chunks][2];
        bool ready[chunks];
        const auto ask = [&](int c) {
            ready[c] = true;
#pragma unroll
            for (int e = 0; e < 2; ++e) {
                const int64_t unit = from + c * chunk + 2 * threadIdx.x + e;
                uint32_t heads;
                x[c][e] = Pair::identity;
                if (unit < units)
                    ready[c] &= unit_word<U>::read(a.words, unit, tag, &x[c][e], &heads);
            }
        };
#pragma unroll
        for (int c = 0; c < chunks; ++c)
            if (from + c * chunk <= last * shape::units) ask(c);
#pragma unroll
        for (int c = 0; c < chunks; ++c) {
            if (from + c * chunk > last * shape::units) break;
            while (!ready[c]) ask(c);
            __syncwarp();
            U sum = Pair::combine(x[c][0], x[c][1]);
#pragma unroll
            for (int d = 1; d < shape::units / 2; d *= 2) sum = across<Pair>(sum, d);
            const int place = (int)threadIdx.x / (shape::units / 2);
            if ((from + c * chunk) / shape::units + place == last) sum = Pair::combine(sum, rest);
            if (threadIdx.x % (shape::units / 2) == 0) aggregates[c & 1][place] = sum;
            __syncthreads();
            if (warp == 0) {
                U next[chunk_tiles]; /* identities beyond the last one change nothing */
                int4 quads[sizeof next / 16];
#pragma unroll
                for (int q = 0; q < (int)(sizeof next / 16); ++q)
                    quads[q] = ((const int4 *)aggregates[c & 1])[q];
                memcpy(next, quads, sizeof next);
#pragma unroll
                for (int j = 0; j < chunk_tiles; ++j) p = Pair::combine(p, next[j]);
            }
        }
    }
    return p;
}

/* ---- Kernels --------------------------------------------------------------------------------- */

/* Rows rows a warp, at most 32 warps. */
template <class Pair, int Rows>
__global__ void __launch_bounds__(1024) reduce_block(const __grid_constant__ reduce_arguments a) {
    using U = typename Pair::U;
    __shared__ U parts[32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
    U p = Pair::identity, rest = Pair::identity;
    if (warp == 0) {
        p = initial_of<Pair>(a);
        rest = load_outside<Pair>(a, lane);
    }
    const int items = warps * reduce_shape<Pair, Rows>::part_items;
    U sum = sum_unit<Pair, Rows>(a, 0, items, warp, lane);
    if constexpr (Pair::in_any_order) {
        sum = over_lanes<Pair>::sum(Pair::combine(sum, rest));
    } else {
        rest = over_lanes<Pair>::sum(rest);
    }
    if (warps > 1) {
        if (lane == 0) parts[warp] = sum;
        __syncthreads();
        if (warp != 0) return;
        /* backward the parts are counted from the end, as elements are: in memory the tree over 32
           of them would have those that are missing on its left */
        sum = lane < warps ? parts[a.backward ? warps - 1 - lane : lane] : Pair::identity;
        sum = over_lanes<Pair>::sum(sum);
    }
    if (threadIdx.x == 0) {
        if constexpr (!Pair::in_any_order) sum = Pair::combine(sum, rest);
        *(typename Pair::T *)a.total = Pair::out(Pair::combine(p, sum));
    }
}

template <class Pair, int Rows>
__global__ void __launch_bounds__(reduce_shape<Pair, Rows>::threads,
                                  reduce_shape<Pair, Rows>::resident)
    reduce_units(const __grid_constant__ reduce_arguments a) {
    using T = typename Pair::T;
    using U = typename Pair::U;
    using shape = reduce_shape<Pair, Rows>;
    __shared__ U parts[2][shape::warps];
    __shared__ __align__(16) U aggregates[2][2 * shape::threads / shape::units];

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
        U all = Pair::identity;
        int turn = 0;
        for (int64_t unit = blockIdx.x; unit < units; unit += workers) {
            const U sum = sum_unit<Pair, Rows>(a, unit, shape::items, warp, lane);
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
    U rest = load_outside<Pair>(a, lane); /* in any order: of one warp, in order: of each */
    U p = initial_of<Pair>(a);
    test_delay(a.delay, tag, published, 1);
    if constexpr (Pair::in_any_order) {
        if (warp > 0) rest = Pair::identity;
        const U sum = Pair::combine(fold_workers<Pair, Rows>(a, tag, workers), rest);
        const U part = over_lanes<Pair>::sum(sum);
        if (lane == 0) parts[0][warp] = part;
        __syncthreads();
        if (threadIdx.x == 0)
            for (int w = 0; w < shape::warps; ++w) p = Pair::combine(p, parts[0][w]);
    } else {
        rest = over_lanes<Pair>::sum(rest);
        p = fold_tiles_in_order<Pair, Rows>(a, tag, p, rest, aggregates, warp);
    }
    /* every thread is past the barrier before which all words have been seen */
    if (threadIdx.x == 0) *(T *)a.total = Pair::out(p);
    if (threadIdx.x == shape::threads - 1)
        close_launch(a.header, launch, a.words, a.capacity, published * unit_word<U>::words);
}

/* ---- Launch ---------------------------------------------------------------------------------- */

/* Bytes up to which one block is faster than several that have to meet (at most a tile), and up to
   which units of two rows a warp are faster than units of eight. Measured on an H200. */
enum { REDUCE_BLOCK_BYTES = 1 << 15, REDUCE_SMALL_UNITS_BYTES = 1 << 20 };

template <class Pair, int Rows>
static cudaError_t launch_reduce_block(const vscan__launch *launch, const reduce_arguments &a) {
    constexpr int part = reduce_shape<Pair, Rows>::part_items;
    const int warps = a.body_n <= part ? 1 : (int)((a.body_n + part - 1) / part);
    reduce_block<Pair, Rows><<<1, 32 * warps, 0, launch->stream>>>(a);
    return cudaGetLastError();
}

template <class Pair, int Rows>
static cudaError_t launch_reduce_units(const vscan__launch *launch, const reduce_arguments &a) {
    using shape = reduce_shape<Pair, Rows>;
    const int64_t units = (a.body_n + shape::items - 1) / shape::items;
    const int64_t resident = (int64_t)shape::resident * launch->multiprocessors - 1;
    const int blocks = (int)(units < resident ? units : resident) + 1;
    reduce_units<Pair, Rows><<<blocks, shape::threads, 0, launch->stream>>>(a);
    return cudaGetLastError();
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
    a.has_initial = scan->has_initial;
    a.initial = scan->initial;
    a.initial_at = scan->initial_at;
    a.total = scan->total;
    a.header = (vscan__workspace_header *)launch->workspace;
    a.words = (word *)((char *)launch->workspace + VSCAN__WORKSPACE_HEADER);
    a.capacity = launch->words;
    a.delay = launch->test_delay;

    const int64_t bytes = a.body_n * (int64_t)sizeof(T);
    if (bytes <= 32 * 512) return launch_reduce_block<Pair, 1>(launch, a);
    if (bytes <= REDUCE_BLOCK_BYTES) return launch_reduce_block<Pair, 4>(launch, a);
    const int64_t words = (bytes / (4 * 2 * 512) + 1) * unit_word<typename Pair::U>::words;
    if (bytes <= REDUCE_SMALL_UNITS_BYTES && words <= launch->words)
        return launch_reduce_units<Pair, 2>(launch, a);
    return launch_reduce_units<Pair, 8>(launch, a);
}

} /* namespace vscan */

#endif
