/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pack and enumerate, in one pass: for every alignment and length, but packs of short vectors,
 * which are in pack/small.cuh.
 *
 * A block owns one tile at a time, taken by ticket (common/lookback.cuh), and keeps the number of flags
 * before the last one it had, so it reads every word of the launch once. A word is the number of
 * flags of a tile; numbers before a tile are 64-bit sums of them. As soon as the flags of a tile
 * are there, and before anything is waited for, its word is published; that is why waiting blocks
 * always get on. It also has the loads of a tile under way while the results of the tile before it,
 * which stand packed in shared memory, wait for their place and are written.
 *
 * A lane has R pieces of V consecutive elements; a warp's pieces of one number are V * 32 elements
 * beside one another, its R times as many a part of the tile. Counts of the pieces are summed up
 * over the lanes as bytes of one 32-bit number: they are at most 128.
 *
 * Barriers: (1) counts of the warps written, and the tile before packed; (2) the warps' places
 * known, and the warps' sums of the words before the tile before; (3) that tile written, the next
 * ticket known.
 *
 * The last warp takes that, and asks memory for what the tile's word depends on. When it does has
 * been measured. Where few elements are kept memory mostly reads, and the sooner it is asked the
 * better: after barrier (1). Where most are (dense, as the tile in hand tells), what is asked for
 * so soon has left the L2 cache, presumably, for what is written, before it is loaded: there it is
 * asked when the tile has been written, and then for the elements as well, unless flags are ints.
 *
 * In place, results go where elements of this or of earlier tiles were. Those of this tile stand in
 * shared memory by then. Those of an earlier one have been read, as its word was seen, and that is
 * published, in place, only after all elements of the tile have come: hence the fences.
 */
#ifndef VSCAN_PACK_TILES_CUH
#define VSCAN_PACK_TILES_CUH

#include "common/tma.cuh"
#include "common/warp.cuh"
#include "pack/pack.cuh"
#include "common/relations.cuh"

namespace vscan {

static constexpr int pack_warps = 16, pack_threads = 32 * pack_warps;
static constexpr int pack_blocks = 2; /* of a multiprocessor */
/* Pieces of a lane: before sm_90 shared memory may not have room for two tiles of 64 KiB. */
static constexpr int pack_rows_of(int architecture) {
    return architecture < 900 ? 4 : 8;
}
#ifdef __CUDA_ARCH__
static constexpr int pack_rows = pack_rows_of(__CUDA_ARCH__);
#else
static constexpr int pack_rows = 8;
#endif
static constexpr int pack_fours = pack_rows / 4; /* 32-bit numbers of a byte a piece */

/* ---- What is counted, what is written -------------------------------------------------------- */

/* Elements by flags, as integers of their size. */
template <class Element>
struct pack_by_flags {
    using T = Element;
    static constexpr int V = sizeof(T) == 8 ? 2 : 4;
    static constexpr bool flags = true, elements = true;
};

/* Elements of a type by comparison. */
template <class Element>
struct pack_by_value {
    using T = Element;
    static constexpr int V = sizeof(T) == 8 ? 2 : 4;
    static constexpr bool flags = false, elements = true;
};

/* The numbers of flags, of type T. */
template <class Number>
struct pack_numbers {
    using T = Number;
    static constexpr int V = 4;
    static constexpr bool flags = true, elements = false;
};

template <class Form>
static constexpr int pack_items = pack_threads *pack_rows *Form::V;

/* Where piece r of this lane begins. */
template <class Form>
static __device__ __forceinline__ int64_t piece_at(int64_t tile, int r) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    return tile * pack_items<Form> + ((warp * pack_rows + r) * 32 + lane) * Form::V;
}

/* ---- A tile's elements and flags ------------------------------------------------------------- */

/* This lane's pieces of a vector; those past the n-th are 0. whole: the tile is, wide: aligned to
   pieces. */
template <class Form, class U>
static __device__ __forceinline__ void load_pieces(U (&x)[pack_rows][Form::V], const void *vector,
                                                   int64_t n, int64_t tile, bool whole, bool wide) {
    constexpr int V = Form::V;
    const U *const from = (const U *)vector;
    if (whole && wide) {
#pragma unroll
        for (int r = 0; r < pack_rows; ++r) load_piece<U, V>(x[r], from + piece_at<Form>(tile, r));
    } else {
#pragma unroll
        for (int r = 0; r < pack_rows; ++r)
#pragma unroll
            for (int j = 0; j < V; ++j) {
                const int64_t i = piece_at<Form>(tile, r) + j;
                x[r][j] = i < n ? from[i] : (U)0;
            }
    }
}

template <class Form>
static __device__ __forceinline__ void load_tile(typename Form::T (&x)[pack_rows][Form::V],
                                                 const pack_arguments &a, int64_t tile,
                                                 bool whole) {
    using T = typename Form::T;
    load_pieces<Form, T>(x, a.pack.in, a.pack.n, tile, whole, a.wide_in);
}

/* By a warp: memory is asked for all of a whole tile that its word depends on, flags or, without
   them, elements, for which there are no registers yet, and for elements after flags if asked to;
   where it is asked for as much as that by one instruction (sm_90). */
template <class Form>
static __device__ __forceinline__ void prefetch_tile(const pack_arguments &a, int64_t tile,
                                                     bool elements_too) {
#ifdef VSCAN__TMA
    constexpr int items = pack_items<Form>, parts = 4;
    const int lane = threadIdx.x % 32;
    const int64_t from = tile * items + lane * (items / parts);
    const char *const vector = (const char *)(Form::flags ? a.pack.flags : a.pack.in);
    if ((tile + 1) * items > a.pack.n || (uintptr_t)vector % 16 != 0 || lane >= parts) return;
    const int bits = Form::flags ? map_bits(a.pack.flag_type) : 8 * (int)sizeof(typename Form::T);
    tma_prefetch(vector + from * bits / 8, items / parts * bits / 8);
    if constexpr (Form::flags && sizeof(typename Form::T) == 8)
        if (elements_too && (uintptr_t)a.pack.in % 16 == 0)
            tma_prefetch((const char *)a.pack.in + from * 8, items / parts * 8);
#endif
}

/* Bit r * V + j: flag j of piece r, of type Flag. */
template <class Form, class Flag>
static __device__ __forceinline__ uint32_t load_mask_of(const pack_arguments &a, int64_t tile,
                                                        bool whole) {
    constexpr int V = Form::V;
    Flag x[pack_rows][V];
    load_pieces<Form, Flag>(x, a.pack.flags, a.pack.n, tile, whole, a.wide_flags);
    uint32_t mask = 0;
#pragma unroll
    for (int r = 0; r < pack_rows; ++r) {
        if constexpr (sizeof(Flag) == 1) {
            uint32_t four = 0;
            memcpy(&four, x[r], V);
            mask |= (bits_of_bytes(four) & bits_below(V)) << r * V;
        } else {
#pragma unroll
            for (int j = 0; j < V; ++j) mask |= (uint32_t)(x[r][j] != 0) << (r * V + j);
        }
    }
    return mask;
}

/* The same of all types. Those past the n-th may be anything, but are not read. */
template <class Form>
static __device__ __forceinline__ uint32_t load_mask(const pack_arguments &a, int64_t tile,
                                                     bool whole) {
    if (a.pack.flag_type == VSCAN_INT) return load_mask_of<Form, int32_t>(a, tile, whole);
    if (a.pack.flag_type == VSCAN_BYTE) return load_mask_of<Form, uint8_t>(a, tile, whole);
    const uint32_t *const words = (const uint32_t *)a.pack.flags;
    uint32_t x[pack_rows], mask = 0;
#pragma unroll
    for (int r = 0; r < pack_rows; ++r) {
        const int64_t i = piece_at<Form>(tile, r);
        x[r] = i < a.pack.n ? words[i >> 5] >> (i & 31) : 0;
    }
#pragma unroll
    for (int r = 0; r < pack_rows; ++r) mask |= (x[r] & ((1u << Form::V) - 1)) << r * Form::V;
    return mask;
}

template <class T, int V>
static __device__ __forceinline__ uint32_t compare_mask(const pack_arguments &a,
                                                        const T (&x)[pack_rows][V]) {
    T scalar;
    memcpy(&scalar, &a.pack.scalar, sizeof scalar);
    const bool exchanged = a.pack.exchanged;
    uint32_t mask = 0;
    with_relation<T>(a.pack.row, [&](auto relation) {
#pragma unroll
        for (int r = 0; r < pack_rows; ++r)
#pragma unroll
            for (int j = 0; j < V; ++j) {
                const T left = exchanged ? scalar : x[r][j], right = exchanged ? x[r][j] : scalar;
                mask |= (uint32_t)relation.apply(left, right) << (r * V + j);
            }
    });
    return a.pack.turned ? ~mask : mask;
}

/* Clears the bits of elements past the n-th. */
template <class Form>
static __device__ __forceinline__ uint32_t cut_mask(uint32_t mask, int64_t n, int64_t tile) {
    constexpr int V = Form::V;
#pragma unroll
    for (int r = 0; r < pack_rows; ++r) {
        const int64_t left = n - piece_at<Form>(tile, r);
        if (left < V) mask &= ~((((1u << V) - 1) & ~((1u << (left > 0 ? left : 0)) - 1)) << r * V);
    }
    return mask;
}

/* ---- Counts ---------------------------------------------------------------------------------- */

/* What a thread knows of a tile. A place is the number of flags before it in the tile. */
template <class Form>
struct pack_counts {
    uint32_t mask; /* see load_mask */
    uint32_t
        before[pack_fours]; /* byte r: flags of the warp's pieces r in the lanes before this one */
    uint32_t totals[pack_fours]; /* byte r: flags of all of them */

    /* By whole warps. */
    __device__ __forceinline__ void count(uint32_t flags) {
        constexpr int V = Form::V;
        mask = flags;
#pragma unroll
        for (int f = 0; f < pack_fours; ++f) {
            uint32_t own = 0;
#pragma unroll
            for (int r = 0; r < 4; ++r)
                own |= (uint32_t)__popc(flags >> (4 * f + r) * V & ((1u << V) - 1)) << 8 * r;
            const uint32_t upto = warp_inclusive_sum(own);
            before[f] = upto - own;
            totals[f] = __shfl_sync(0xffffffffu, upto, 31);
        }
    }

    /* of the warp */
    __device__ __forceinline__ uint32_t total() const {
        uint32_t sum = 0;
#pragma unroll
        for (int r = 0; r < pack_rows; ++r) sum += totals[r / 4] >> 8 * (r % 4) & 255;
        return sum;
    }

    /* Calls use(r, place of piece r), given the place of the warp. */
    template <class Use>
    __device__ __forceinline__ void each_piece(uint32_t place, Use use) const {
#pragma unroll
        for (int r = 0; r < pack_rows; ++r) {
            use(r, place + (before[r / 4] >> 8 * (r % 4) & 255));
            place += totals[r / 4] >> 8 * (r % 4) & 255;
        }
    }
};

/* ---- Results --------------------------------------------------------------------------------- */

/* The numbers of a tile before which there are base flags, and place in it before this warp. */
template <class Form>
static __device__ __forceinline__ void write_numbers(const pack_arguments &a, int64_t tile,
                                                     bool whole, const pack_counts<Form> &counts,
                                                     uint32_t place, int64_t base) {
    using P = typename Form::T;
    constexpr int V = Form::V, quad = 16 / (int)sizeof(P);
    P *const out = (P *)a.pack.out;
    counts.each_piece(place, [&](int r, uint32_t before) {
        const int64_t i = piece_at<Form>(tile, r);
        P y[V / quad][quad];
#pragma unroll
        for (int j = 0; j < V; ++j) {
            const uint32_t earlier = counts.mask >> r * V & ((1u << j) - 1);
            y[j / quad][j % quad] = (P)(base + (before + (uint32_t)__popc(earlier)));
        }
        if (whole && a.wide_out) {
#pragma unroll
            for (int k = 0; k < V / quad; ++k) store_piece<P, quad>(out + i + k * quad, y[k]);
        } else {
#pragma unroll
            for (int j = 0; j < V; ++j)
                if (i + j < a.pack.n) out[i + j] = y[j / quad][j % quad];
        }
    });
}

template <class Form>
__global__ void __launch_bounds__(pack_threads, pack_blocks)
    pack_tiles(const __grid_constant__ pack_arguments a) {
    using T = typename Form::T;
    constexpr int V = Form::V, items = pack_items<Form>;

    T *const packed = (T *)dynamic_shared();     /* items, where there are elements */
    __shared__ uint32_t warp_counts[pack_warps]; /* flags of the warps' parts of the next tile */
    __shared__ uint32_t warp_places[pack_warps]; /* flags of the tile before them */
    __shared__ int64_t warp_sums[pack_warps];    /* parts of a sum of words */
    __shared__ uint32_t shared_count;
    __shared__ ticket shared_ticket;

    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int64_t n = a.pack.n;
    const int64_t tiles = (n + items - 1) / items;

    T x[pack_rows][V];
    pack_counts<Form> counts = {};
    int64_t tile = -1;            /* whose results are to be written; -1: none */
    uint32_t count = 0;           /* of its flags */
    int64_t seen = 0, before = 0; /* flags in the tiles before number seen */

    const bool taker = warp == pack_warps - 1;
    const auto take = [&](int64_t tile, bool elements_too) {
        ticket t = {0, (uint32_t)tile + 1}; /* one tile needs no tickets */
        if (lane == 0) {
            if (tiles > 1) {
                t = take_ticket(a.lookback);
                end_launch_after(a.lookback, t, tiles + gridDim.x);
            }
            shared_ticket = t;
        }
        const int64_t taken = __shfl_sync(0xffffffffu, t.index, 0);
        if (tile < 0) return; /* the first one has been asked for */
        if (taken < tiles)
            prefetch_tile<Form>(a, taken, elements_too);
        else
            let_next_kernel_begin();
    };
    const int64_t begin = (int64_t)blockIdx.x * items, end = begin + items < n ? begin + items : n;
    if (a.pack.in != nullptr) prefetch_elements(a.pack.in, 8 * (int)sizeof(T), begin, end);
    if (Form::flags) prefetch_elements(a.pack.flags, map_bits(a.pack.flag_type), begin, end);
    wait_for_kernel_before(false);
    if (taker) take(-1, false);
    __syncthreads();

    for (;;) {
        const epoch_t epoch = shared_ticket.epoch;
        const int64_t next = shared_ticket.index;

        /* ---- Packs the tile ------------------------------------------------------------------ */
        const uint32_t place = tile >= 0 ? warp_places[warp] : 0;
        if (Form::elements && tile >= 0)
            counts.each_piece(place, [&](int r, uint32_t at) {
#pragma unroll
                for (int j = 0; j < V; ++j) {
                    const bool set = counts.mask >> (r * V + j) & 1;
                    if (set) packed[at] = x[r][j];
                    at += set;
                }
            });

        /* ---- The next tile: loads, counts ---------------------------------------------------- */
        const pack_counts<Form> written = counts;
        if (next < tiles) {
            const bool whole = (next + 1) * items <= n;
            /* flags first, the word of the tile waits for them alone */
            uint32_t mask;
            if constexpr (Form::flags) mask = load_mask<Form>(a, next, whole);
            if constexpr (Form::elements) load_tile<Form>(x, a, next, whole);
            if constexpr (!Form::flags) mask = compare_mask<T, V>(a, x);
            if (!whole) mask = cut_mask<Form>(mask, n, next);
            counts.count(mask);
            if (lane == 0) warp_counts[warp] = counts.total();
            if (a.in_place) __threadfence();
        }
        __syncthreads();

        /* ---- The first warp publishes, all of them fold what came before the tile ------------ */
        if (warp == 0 && next < tiles) {
            const uint32_t own = lane < pack_warps ? warp_counts[lane] : 0;
            const uint32_t upto = warp_inclusive_sum<pack_warps>(own);
            if (lane < pack_warps) warp_places[lane] = upto - own;
            if (lane == pack_warps - 1) {
                shared_count = upto;
                if (tiles > 1) {
                    jitter(a.lookback, epoch, next, jitter_publish);
                    if (a.in_place) __threadfence();
                    publish<uint32_t>(a.lookback, epoch, next, upto);
                }
            }
            __syncwarp();
        }
        const bool takes = taker && next < tiles;
        const bool dense = Form::elements && count > items / 4 * 3;
        if (Form::elements && takes && !dense) take(next, false);
        if (tile >= 0) {
            jitter(a.lookback, epoch, tile, jitter_wait);
            int64_t sum = sum_of_aggregates<uint32_t, int64_t>(a.lookback, epoch, seen, tile,
                                                               (int)threadIdx.x, pack_threads);
            __syncwarp();
            sum = warp_sum(sum);
            if (lane == 0) warp_sums[warp] = sum;
            if (a.in_place) __threadfence();
        }
        __syncthreads();

        /* ---- Results of the tile ------------------------------------------------------------- */
        const int64_t done = tile;
        tile = next;
        if (!Form::elements && takes) take(next, false);
        if (done >= 0) {
#pragma unroll
            for (int w = 0; w < pack_warps; ++w) before += warp_sums[w];
            seen = done;
            if constexpr (Form::elements) {
                T *const to = (T *)a.pack.out + before;
                const int64_t room = a.pack.length - before;
                const int fits = room < count ? room > 0 ? (int)room : 0 : (int)count;
#pragma unroll 4
                for (int k = threadIdx.x; k < fits; k += pack_threads) to[k] = packed[k];
            } else {
                write_numbers<Form>(a, done, (done + 1) * items <= n, written, place, before);
            }
            if (done == tiles - 1 && threadIdx.x == 0) {
                const int64_t all = before + count;
                if (a.pack.count != nullptr) *a.pack.count = all;
                if (Form::elements) check_room(a, all);
            }
        }
        if (next >= tiles) return;
        if (takes && dense) take(next, a.pack.flag_type != VSCAN_INT);
        count = shared_count;
        __syncthreads();
    }
}

} /* namespace vscan */

#endif
