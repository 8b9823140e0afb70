/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pack and enumerate in one pass: for every alignment and length, except packs of small vectors,
 * which are in pack/small.cuh.
 *
 * A block owns the tiles that it takes by ticket, two at a time (protocol/chained_tiles.cuh). The
 * aggregate of a tile is the number of its flags. The results of the tile in hand stand packed in
 * shared memory, up to 64 KiB, until the number of flags before it is known.
 *
 * A lane has pack_chunks chunks of V consecutive elements, each read by one access. The chunks with
 * the same number of all lanes are V * 32 consecutive elements; pack_chunks times as many are a
 * warp's part of the tile. Counts of chunks are summed up over the lanes as bytes of one 32-bit
 * number: they are at most 128.
 *
 * When the next tile is prefetched has been measured. Where few elements are kept memory mostly
 * reads, and an early prefetch is best: after the tile in hand has been counted. Where most are
 * kept (dense, as the tile in hand tells), what is prefetched so early is presumably evicted from
 * the L2 cache by what is written, before it is loaded: there it is prefetched after the tile in
 * hand has been written, and then together with the elements, unless flags are ints.
 *
 * Memory order: a status word has value and epoch in one access, so relaxed order is enough
 * (kernels/README.md). In place, results go where elements of this or of earlier tiles were. Those
 * of this tile stand in shared memory by then. Those of an earlier tile have been read before its
 * aggregate was published, and that was seen: hence the fences in place.
 */
#pragma once

#include "protocol/chained_tiles.cuh"
#include "elements/flags.cuh"
#include "elements/relations.cuh"
#include "machine/tma.cuh"
#include "pack/pack.cuh"

namespace vscan {

#ifdef __CUDA_ARCH__
static constexpr int pack_chunks = pack_chunks_of(__CUDA_ARCH__);
#else
static constexpr int pack_chunks = pack_chunks_of(900);
#endif
static constexpr int pack_fours = pack_chunks / 4; /* 32-bit numbers with a byte for each chunk */

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

/* For every element the number of flags before it, of type T. */
template <class Number>
struct pack_numbers {
    using T = Number;
    static constexpr int V = 4;
    static constexpr bool flags = true, elements = false;
};

template <class Form>
static constexpr int pack_items = pack_threads *pack_chunks *Form::V;

/* Where chunk r of this lane begins. */
template <class Form>
static DEVICE int64_t chunk_at(int64_t tile, int r) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    return tile * pack_items<Form> + ((warp * pack_chunks + r) * 32 + lane) * Form::V;
}

/* ---- A tile's elements and flags ------------------------------------------------------------- */

/* This lane's chunks of a vector, with 0 from element n on. whole: the tile is; wide: chunks are
   aligned. */
template <class Form, class U>
static DEVICE void load_pack(U (&x)[pack_chunks][Form::V], const void *vector, int64_t n,
                             int64_t tile, bool whole, bool wide) {
    constexpr int V = Form::V;
    const U *const from = (const U *)vector;
    if (whole && wide) {
        UNROLL_FOR (int r = 0; r < pack_chunks; ++r)
            load_wide<U, V>(x[r], from + chunk_at<Form>(tile, r));
    } else if (sizeof(U) == 1 && V == 4 && (tile + 1) * pack_items<Form> + V <= n) {
        /* bytes that miss the alignment of words: each chunk from the two words that it lies in; before
           the vector this reaches only to the beginning of a word */
        const int misfit = (int)((uintptr_t)vector & 3);
        uint32_t low[pack_chunks], high[pack_chunks];
        UNROLL_FOR (int r = 0; r < pack_chunks; ++r) {
            const uint32_t *const words =
                (const uint32_t *)((const char *)vector - misfit + chunk_at<Form>(tile, r));
            low[r] = words[0];
            high[r] = words[1];
        }
        UNROLL_FOR (int r = 0; r < pack_chunks; ++r) {
            const uint32_t four = __funnelshift_r(low[r], high[r], 8 * (unsigned)misfit);
            memcpy(x[r], &four, sizeof(U) * V);
        }
    } else {
        UNROLL_FOR (int r = 0; r < pack_chunks; ++r)
            UNROLL_FOR (int j = 0; j < V; ++j) {
                const int64_t i = chunk_at<Form>(tile, r) + j;
                x[r][j] = i < n ? from[i] : (U)0;
            }
    }
}

template <class Form>
static DEVICE void load_tile(typename Form::T (&x)[pack_chunks][Form::V], const pack_arguments &a,
                             int64_t tile, bool whole) {
    using T = typename Form::T;
    load_pack<Form, T>(x, a.pack.in, a.pack.n, tile, whole, a.wide_in);
}

/* By one thread: prefetches what the aggregate of a whole tile depends on, flags or, without them,
   elements; and the elements that go with flags, if elements_too. Only where one instruction
   prefetches that much (sm_90). */
template <class Form>
static DEVICE void prefetch_tile(const pack_arguments &a, int64_t tile, bool elements_too) {
#ifdef VSCAN__TMA
    constexpr int size = sizeof(typename Form::T), items = pack_items<Form> / pack_prefetches;
    const char *const vector = (const char *)(Form::flags ? a.pack.flags : a.pack.in);
    if (pack_items<Form> * (tile + 1) > a.pack.n || (uintptr_t)vector % 16 != 0) return;
    const int bits = Form::flags ? map_bits(a.pack.flag_type) : 8 * size;
    ROLLED_FOR (int64_t at = tile * pack_items<Form>; at < (tile + 1) * pack_items<Form>;
                at += items) {
        tma_prefetch(vector + at * bits / 8, items * bits / 8);
        if constexpr (Form::flags && size == 8)
            if (elements_too && (uintptr_t)a.pack.in % 16 == 0)
                tma_prefetch((const char *)a.pack.in + at * 8, items * 8);
    }
#endif
}

/* Bit r * V + j: flag j of chunk r, of type Flag. */
template <class Form, class Flag>
static DEVICE uint32_t load_mask_of(const pack_arguments &a, int64_t tile, bool whole) {
    constexpr int V = Form::V;
    Flag x[pack_chunks][V];
    load_pack<Form, Flag>(x, a.pack.flags, a.pack.n, tile, whole, a.wide_flags);
    uint32_t mask = 0;
    UNROLL_FOR (int r = 0; r < pack_chunks; ++r) {
        if constexpr (sizeof(Flag) == 1) {
            uint32_t four = 0;
            memcpy(&four, x[r], V);
            mask |= (bits_of_bytes(four) & bits_below(V)) << r * V;
        } else {
            UNROLL_FOR (int j = 0; j < V; ++j) mask |= (uint32_t)(x[r][j] != 0) << (r * V + j);
        }
    }
    return mask;
}

/* The same for all types. Bits from element n on may be anything, but their flags are not read. */
template <class Form>
static DEVICE uint32_t load_mask(const pack_arguments &a, int64_t tile, bool whole) {
    if (a.pack.flag_type == VSCAN_INT) return load_mask_of<Form, int32_t>(a, tile, whole);
    if (a.pack.flag_type == VSCAN_BYTE) return load_mask_of<Form, uint8_t>(a, tile, whole);
    const uint32_t *const words = (const uint32_t *)a.pack.flags;
    uint32_t x[pack_chunks], mask = 0;
    UNROLL_FOR (int r = 0; r < pack_chunks; ++r) {
        const int64_t i = chunk_at<Form>(tile, r);
        x[r] = i < a.pack.n ? words[i >> 5] >> (i & 31) : 0;
    }
    UNROLL_FOR (int r = 0; r < pack_chunks; ++r)
        mask |= (x[r] & ((1u << Form::V) - 1)) << r * Form::V;
    return mask;
}

template <class T, int V>
static DEVICE uint32_t compare_mask(const pack_arguments &a, const T (&x)[pack_chunks][V]) {
    T scalar;
    memcpy(&scalar, &a.pack.scalar, sizeof scalar);
    const bool exchanged = a.pack.exchanged;
    uint32_t mask = 0;
    with_relation<T>(a.pack.row, [&](auto relation) {
        UNROLL_FOR (int r = 0; r < pack_chunks; ++r)
            UNROLL_FOR (int j = 0; j < V; ++j) {
                const T left = exchanged ? scalar : x[r][j], right = exchanged ? x[r][j] : scalar;
                mask |= (uint32_t)relation.apply(left, right) << (r * V + j);
            }
    });
    return a.pack.turned ? ~mask : mask;
}

/* Clears the bits from element n on. */
template <class Form>
static DEVICE uint32_t cut_mask(uint32_t mask, int64_t n, int64_t tile) {
    constexpr int V = Form::V;
    UNROLL_FOR (int r = 0; r < pack_chunks; ++r) {
        const int64_t left = n - chunk_at<Form>(tile, r);
        if (left < V) mask &= ~((((1u << V) - 1) & ~((1u << (left > 0 ? left : 0)) - 1)) << r * V);
    }
    return mask;
}

/* ---- Counts ---------------------------------------------------------------------------------- */

/* What a thread knows of a tile. A place is the number of flags before something in the tile. */
template <class Form>
struct pack_counts {
    uint32_t mask; /* see load_mask */
    /* byte r: flags of chunks r in the lanes before this one, and in all lanes of the warp */
    uint32_t before[pack_fours], totals[pack_fours];

    /* By whole warps. */
    DEVICE void count(uint32_t flags) {
        constexpr int V = Form::V;
        mask = flags;
        UNROLL_FOR (int f = 0; f < pack_fours; ++f) {
            uint32_t own = 0;
            UNROLL_FOR (int r = 0; r < 4; ++r)
                own |= (uint32_t)__popc(flags >> (4 * f + r) * V & ((1u << V) - 1)) << 8 * r;
            const uint32_t upto = warp_inclusive_sum(own);
            before[f] = upto - own;
            totals[f] = __shfl_sync(warp_mask, upto, 31);
        }
    }

    /* flags of the warp */
    DEVICE uint32_t total() const {
        uint32_t sum = 0;
        UNROLL_FOR (int r = 0; r < pack_chunks; ++r) sum += totals[r / 4] >> 8 * (r % 4) & 255;
        return sum;
    }

    /* Calls use(r, place of chunk r), given the place of the warp. */
    template <class Use>
    DEVICE void each_chunk(uint32_t place, Use use) const {
        UNROLL_FOR (int r = 0; r < pack_chunks; ++r) {
            use(r, place + (before[r / 4] >> 8 * (r % 4) & 255));
            place += totals[r / 4] >> 8 * (r % 4) & 255;
        }
    }
};

/* ---- Results --------------------------------------------------------------------------------- */

/* Numbers of a tile: base flags are before it, and place flags in it before this warp. */
template <class Form>
static DEVICE void write_numbers(const pack_arguments &a, int64_t tile, bool whole,
                                 const pack_counts<Form> &counts, uint32_t place, int64_t base) {
    using P = typename Form::T;
    constexpr int V = Form::V, quad = 16 / (int)sizeof(P);
    P *const out = (P *)a.pack.out;
    counts.each_chunk(place, [&](int r, uint32_t before) {
        const int64_t i = chunk_at<Form>(tile, r);
        P y[V / quad][quad];
        UNROLL_FOR (int j = 0; j < V; ++j) {
            const uint32_t earlier = counts.mask >> r * V & ((1u << j) - 1);
            y[j / quad][j % quad] = (P)(base + (before + (uint32_t)__popc(earlier)));
        }
        if (whole && a.wide_out) {
            UNROLL_FOR (int k = 0; k < V / quad; ++k) store_wide<P, quad>(out + i + k * quad, y[k]);
        } else {
            UNROLL_FOR (int j = 0; j < V; ++j)
                if (i + j < a.pack.n) out[i + j] = y[j / quad][j % quad];
        }
    });
}

/* Packed bytes by words, each of which is put together from two where `to` is not aligned as they are.
   Other blocks write what stands beside them, also in the first and the last word. */
static DEVICE void write_bytes(uint8_t *to, const uint8_t *packed, int count) {
    const int thread = threadIdx.x, ahead = (int)(-(uintptr_t)to & 3);
    const int head = ahead < count ? ahead : count, words = (count - head) / 4;
    const int tail = head + 4 * words;
    const uint32_t *const from = (const uint32_t *)packed;
    if (thread < head) to[thread] = packed[thread];
    if (tail + thread < count) to[tail + thread] = packed[tail + thread];
#pragma unroll 4
    for (int k = thread; k < words; k += pack_threads) {
        const uint32_t next = head > 0 ? from[k + 1] : 0;
        ((uint32_t *)(to + head))[k] = __funnelshift_r(from[k], next, 8 * (unsigned)head);
    }
}

/* ---- Kernel ---------------------------------------------------------------------------------- */

template <class Form>
struct pack_kernel : chained_kernel {
    using T = typename Form::T;
    static constexpr int V = Form::V, items = pack_items<Form>;
    static constexpr int ticket_warp = pack_warps - 1;

    struct shared_memory {
        uint32_t counts[pack_warps]; /* flags of the warps in the next tile */
        uint32_t places[pack_warps]; /* flags of the same tile before the warps */
        uint32_t count;              /* flags of the next tile */
        int64_t sums[pack_warps];    /* the warps' shares of the look-back */
    };

    const pack_arguments &a;
    shared_memory &shared;
    const int tiles;
    T *const packed = (T *)dynamic_shared(); /* items, if there are elements */
    T x[pack_chunks][V];
    pack_counts<Form> next_counts, counts; /* the latter for numbers only */
    uint32_t place = 0, set = 0;           /* flags of the tile in hand before this warp, and all */
    int64_t before = 0;                    /* flags before the tile in hand */

    DEVICE pack_kernel(const pack_arguments &a, shared_memory &shared)
        : a(a), shared(shared), tiles((int)((a.pack.n + items - 1) / items)) {}

    DEVICE bool is_whole(int tile) const { return (int64_t)(tile + 1) * items <= a.pack.n; }
    DEVICE bool is_dense() const { return set > pack_dense_above<items>; }

    DEVICE enum ticket_time ticket_time() const {
        return !Form::elements ? after_look_back : is_dense() ? after_writing : after_counting;
    }
    DEVICE void prefetch(int tile, bool first) const {
        if (first) return; /* prefetched before there was a ticket */
        if (tile < tiles)
            prefetch_tile<Form>(a, tile, is_dense() && a.pack.flag_type != VSCAN_INT);
        else
            launch_dependents();
    }

    DEVICE void stage() {
        place = shared.places[warp];
        if constexpr (!Form::elements) {
            counts = next_counts;
        } else {
            next_counts.each_chunk(place, [&](int r, uint32_t at) {
                UNROLL_FOR (int j = 0; j < V; ++j) {
                    const bool kept = next_counts.mask >> (r * V + j) & 1;
                    if (kept) packed[at] = x[r][j];
                    at += kept;
                }
            });
        }
    }

    DEVICE void count(int next) {
        const bool whole = is_whole(next);
        /* flags first: the aggregate depends on them alone */
        uint32_t mask;
        if constexpr (Form::flags) mask = load_mask<Form>(a, next, whole);
        if constexpr (Form::elements) load_tile<Form>(x, a, next, whole);
        if constexpr (!Form::flags) mask = compare_mask<T, V>(a, x);
        if (!whole) mask = cut_mask<Form>(mask, a.pack.n, next);
        next_counts.count(mask);
        if (lane == 0) shared.counts[warp] = next_counts.total();
        if (a.in_place) __threadfence();
    }

    DEVICE void publish(const chained_launch &launch, int next) {
        if (warp != 0) return;
        const uint32_t own = lane < pack_warps ? shared.counts[lane] : 0;
        const uint32_t upto = warp_inclusive_sum<pack_warps>(own);
        if (lane < pack_warps) shared.places[lane] = upto - own;
        if (lane == pack_warps - 1) {
            shared.count = upto;
            if (a.in_place) __threadfence();
            launch.publish(next, upto);
        }
        __syncwarp();
    }

    DEVICE void look_back(const chained_launch &launch, int seen, int tile) {
        launch.sum_by_warps<uint32_t>(shared.sums, seen, tile, pack_threads);
        if (a.in_place) __threadfence();
    }

    DEVICE void write(int tile) {
        UNROLL_FOR (int w = 0; w < pack_warps; ++w) before += shared.sums[w];
        if constexpr (Form::elements) {
            T *const to = (T *)a.pack.out + before;
            const int64_t room = a.pack.length - before;
            const int fits = room < set ? room > 0 ? (int)room : 0 : (int)set;
            if constexpr (sizeof(T) == 1)
                write_bytes((uint8_t *)to, packed, fits);
            else
#pragma unroll 4
                for (int k = threadIdx.x; k < fits; k += pack_threads) to[k] = packed[k];
        } else {
            write_numbers<Form>(a, tile, is_whole(tile), counts, place, before);
        }
        if (tile == tiles - 1 && threadIdx.x == 0) {
            const int64_t all = before + set;
            if (a.pack.count != nullptr) *a.pack.count = all;
            if (Form::elements) check_room(a, all);
        }
    }

    DEVICE void keep() {
        set = shared.count;
    }
};

template <class Form>
__global__ void __launch_bounds__(pack_threads, pack_blocks)
    pack_tiles(const __grid_constant__ pack_arguments a) {
    using kernel = pack_kernel<Form>;
    __shared__ typename kernel::shared_memory shared;
    const int64_t begin = (int64_t)blockIdx.x * kernel::items, end = begin + kernel::items;
    const int64_t stop = end < a.pack.n ? end : a.pack.n;
    const int bits = 8 * (int)sizeof(typename Form::T);
    if (a.pack.in != nullptr) prefetch_elements(a.pack.in, bits, begin, stop);
    if (Form::flags) prefetch_elements(a.pack.flags, map_bits(a.pack.flag_type), begin, stop);
    grid_dependency_wait(false);
    kernel tiles(a, shared);
    chain_tiles(tiles, a.lookback, tiles.tiles);
}

} /* namespace vscan */
