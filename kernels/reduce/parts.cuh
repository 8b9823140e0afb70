/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a reduction reads. A vector is a body and fewer than 32 elements outside it. A warp reads
 * its part of the body and reduces it; the warp that finishes also reads the elements outside and
 * the initial value.
 */
#ifndef VSCAN_REDUCE_PARTS_CUH
#define VSCAN_REDUCE_PARTS_CUH

#include "common/warp_reduce.cuh"
#include "common/lookback.cuh"
#include "reduce/tuning.cuh"

namespace vscan {

struct reduce_arguments {
    const void *in;   /* n elements */
    const void *body; /* body_n of them, begin elements after in */
    int64_t n, body_n;
    int begin, outside; /* elements before the body; before and after it together, < 32 */
    bool backward;      /* in order only: partitions count from the end of the body */
    bool aligned;       /* the body begins at a multiple of 16 bytes */
    int has_initial;
    vscan__value initial;
    const void *initial_at;
    void *total;
    lookback_memory lookback;
};

/* A part: what a warp reduces at a time, as many warp loads of 512 bytes as Loads says. */
template <class Pair, int Loads>
struct reduce_part_shape {
    using T = typename Pair::T;
    static constexpr int lane_items = 16 / (int)sizeof(T);
    static constexpr int items = Loads * 32 * lane_items;
    static constexpr int tile = sizeof(T) == 8 ? VSCAN__TILE_DOUBLE : VSCAN__TILE_FLOAT;
};

/* x = 16-byte reads from shared memory; from is a multiple of 16 bytes. */
template <class U, int N>
static __device__ __forceinline__ void read_quads(U (&x)[N], const U *from) {
    int4 quads[sizeof x / 16];
#pragma unroll
    for (int q = 0; q < (int)(sizeof x / 16); ++q) quads[q] = ((const int4 *)from)[q];
    memcpy(x, quads, sizeof x);
}

/* What the finishing warp reads besides the body: loaded early, used late. */
template <class Pair>
struct finish {
    using T = typename Pair::T;
    using U = typename Pair::U;
    T element = 0, z = 0; /* the lane's element outside the body; the initial value */

    /* No branch: with one, the compiler adds what was loaded earlier before it issues these
       loads. */
    __device__ __forceinline__ void load(const reduce_arguments &a, int lane, bool asked) {
        const int k = a.backward ? a.outside - 1 - lane : lane; /* in memory order */
        if (asked && lane < a.outside) element = ((const T *)a.in)[k < a.begin ? k : a.body_n + k];
        memcpy(&z, &a.initial, sizeof z);
        if (asked && a.has_initial == 2) z = *(const T *)a.initial_at;
    }
    /* the lane's element outside the body */
    __device__ __forceinline__ U rest(const reduce_arguments &a, int lane) const {
        return lane < a.outside ? Pair::in(element) : Pair::identity;
    }
    /* the leftmost operand of the total */
    __device__ __forceinline__ U initial(const reduce_arguments &a) const {
        if (a.has_initial) return Pair::in(z);
        return a.n == 0 ? Pair::visible : Pair::identity;
    }
};

/* What a warp that reduces a part also does for the total. */
enum reduce_role {
    reduce_part,  /* nothing */
    reduce_first, /* if asked, loads what is outside the body, after the loads of the part */
    reduce_alone  /* does so, and returns the sum of both, in order: part + outside */
};

/*
 * What a lane contributes to its warp's part, Loads warp loads from position `first` of the body.
 * In order: the sum of the part, in every lane. In any order: the lane's own elements combined.
 * Whole: the part lies wholly inside the body. Backward, position i is element body_n - 1 - i in
 * memory.
 */
template <class Pair, int Loads, bool Whole, bool Aligned, reduce_role Role>
static __device__ __forceinline__ typename Pair::U
sum_part(const reduce_arguments &a, int64_t first, int lane, finish<Pair> &f, bool asked) {
    using T = typename Pair::T;
    using U = typename Pair::U;
    using shape = reduce_part_shape<Pair, Loads>;
    /* not aligned: 32 elements a load, the same bytes in flight, more shuffles */
    constexpr int V = Aligned ? shape::lane_items : 1;
    constexpr int loads = Loads * shape::lane_items / V;
    constexpr bool with_rest = Role == reduce_alone && !Pair::in_any_order;
    const int sign = !Pair::in_any_order && a.backward ? -1 : 1;
    const int i = lane * V; /* in the part; `left` elements of the part exist */
    const int left = a.body_n - first < shape::items ? (int)(a.body_n - first) : shape::items;
    const T *const at = (const T *)a.body + (sign < 0 ? a.body_n - V - first : first);
    T raw[loads][V];
#pragma unroll
    for (int r = 0; r < loads; ++r)
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
        /* Loads behind the end repeat the last vector, since unconditional loads are issued
           sooner. In a block that runs once this is slower. */
        if (Whole || left > 0) {
#pragma unroll
            for (int r = 0; r < loads; ++r) {
                const int k = i + r * 32 * V;
                load(r, Whole || k < left ? k : left - V);
            }
        }
    } else {
#pragma unroll
        for (int r = 0; r < loads; ++r)
            if (i + r * 32 * V < left) load(r, i + r * 32 * V);
    }
    if (Role != reduce_part) f.load(a, lane, Role == reduce_alone || asked);
    U x[with_rest ? 2 * loads : loads];
#pragma unroll
    for (int r = 0; r < loads; ++r) {
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
            x[loads] = f.rest(a, lane);
#pragma unroll
            for (int r = loads + 1; r < 2 * loads; ++r) x[r] = Pair::identity;
        }
        return sum_rows<Pair>(x, lane);
    }
}

/* The same, for an alignment known only at run time. */
template <class Pair, int Loads, bool Whole, reduce_role Role>
static __device__ __forceinline__ typename Pair::U
sum_any_part(const reduce_arguments &a, int64_t first, int lane, finish<Pair> &f, bool asked) {
    if (Pair::in_any_order || a.aligned)
        return sum_part<Pair, Loads, Whole, true, Role>(a, first, lane, f, asked);
    return sum_part<Pair, Loads, Whole, Pair::in_any_order, Role>(a, first, lane, f, asked);
}

/*
 * Sums of parts in shared memory. A lane reads eight of them at a time. Groups of eight are 16
 * bytes apart, so that lanes read without bank conflicts.
 */
template <class U, int Eights>
struct part_sums {
    static constexpr int pitch = 8 + 16 / (int)sizeof(U);
    __align__(16) U sums[Eights * pitch];

    __device__ __forceinline__ U *at(int part) { return &sums[part / 8 * pitch + part % 8]; }

    template <class Pair>
    __device__ __forceinline__ U sum_eight(int eight) const {
        U x[8];
        read_quads(x, &sums[eight * pitch]);
        return sum_items<Pair>(x);
    }
};

} /* namespace vscan */

#endif
