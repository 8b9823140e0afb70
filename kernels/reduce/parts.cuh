/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a reduction sums: a vector is a body and a few elements outside it. A warp reads its part of
 * the body and sums it; the warp that finishes reads what is outside, and the initial value.
 */
#ifndef VSCAN_REDUCE_PARTS_CUH
#define VSCAN_REDUCE_PARTS_CUH

#include "common/warp_reduce.cuh"
#include "common/lookback.cuh"

namespace vscan {

struct reduce_arguments {
    const void *in;   /* n elements */
    const void *body; /* body_n of them, begin elements after in */
    int64_t n, body_n;
    int begin, outside; /* outside the body: before it, and before and after it, fewer than 32 */
    bool backward;      /* in order only: partitions are counted from the body's end */
    bool aligned;       /* the body's partitions lie on whole 16-byte quads */
    int has_initial;
    vscan__value initial;
    const void *initial_at;
    void *total;
    lookback_memory lookback;
};

/* What a warp sums at a time: Rows rows of 512 bytes. */
template <class Pair, int Rows>
struct reduce_part_shape {
    using T = typename Pair::T;
    static constexpr int lane_items = 16 / (int)sizeof(T);
    static constexpr int items = Rows * 32 * lane_items;
    static constexpr int tile = sizeof(T) == 8 ? VSCAN__TILE_DOUBLE : VSCAN__TILE_FLOAT;
};

/* x from shared memory, at a multiple of 16 bytes. */
template <class U, int N>
static __device__ __forceinline__ void read_quads(U (&x)[N], const U *from) {
    int4 quads[sizeof x / 16];
#pragma unroll
    for (int q = 0; q < (int)(sizeof x / 16); ++q) quads[q] = ((const int4 *)from)[q];
    memcpy(x, quads, sizeof x);
}

/* What the finisher reads besides the body: loaded first, used later. */
template <class Pair>
struct finish {
    using T = typename Pair::T;
    using U = typename Pair::U;
    T element = 0, z = 0; /* the lane's element outside the body, the initial value */

    /* Without a jump: the compiler would move sums of what has been loaded before to before it. */
    __device__ __forceinline__ void load(const reduce_arguments &a, int lane, bool asked) {
        const int k = a.backward ? a.outside - 1 - lane : lane; /* counted in memory */
        if (asked && lane < a.outside) element = ((const T *)a.in)[k < a.begin ? k : a.body_n + k];
        memcpy(&z, &a.initial, sizeof z);
        if (asked && a.has_initial == 2) z = *(const T *)a.initial_at;
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
    using shape = reduce_part_shape<Pair, Rows>;
    /* not aligned: by rows of 32 elements, as many bytes in flight, more exchanges */
    constexpr int V = Aligned ? shape::lane_items : 1;
    constexpr int rows = Rows * shape::lane_items / V;
    constexpr bool with_rest = Role == reduce_alone && !Pair::in_any_order;
    const int sign = !Pair::in_any_order && a.backward ? -1 : 1;
    const int i = lane * V; /* in the part, of which `left` elements are there */
    const int left = a.body_n - first < shape::items ? (int)(a.body_n - first) : shape::items;
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
    if (Role != reduce_part) f.load(a, lane, Role == reduce_alone || asked);
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

/*
 * Sums of parts in shared memory. A lane reads eight at a time; eights lie apart so that lanes do so
 * without conflicts.
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
