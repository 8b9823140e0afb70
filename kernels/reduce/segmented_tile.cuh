/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a warp of the segmented reduction (reduce/segmented.cuh) does to its share of a partition: elements and
 * heads by rows, sums of rows, offsets; and what a block shares.
 */
#ifndef VSCAN_REDUCE_SEGMENTED_TILE_CUH
#define VSCAN_REDUCE_SEGMENTED_TILE_CUH

#include "common/tma.cuh"
#include "common/elementwise.cuh"
#include "common/lower_bound.cuh"
#include "common/operators.cuh"
#include "common/lookback.cuh"

namespace vscan {

struct segments_arguments {
    vscan__scan scan;
    lookback_memory lookback;
    int64_t partitions; /* one past the last element lies in one, too */
    vscan__late *late;
    bool aligned;       /* elements, to 16 bytes */
    bool wide_flags;    /* bytes, to 16 */
    search_guess guess; /* by offsets */
    int copied; /* offsets of a partition that have a place in shared memory, and one more */
};

static constexpr unsigned segments_lanes = 0xffffffffu;
static constexpr int segments_warps =
    8; /* of a block at most; half as many where memory is scarce */
static constexpr int segments_share = 4096; /* bytes of a warp's elements */
static constexpr int segments_resident = 3; /* blocks of a multiprocessor */

template <class Pair>
struct segments_shape {
    using T = typename Pair::T;
    static constexpr int row_items = 128 / (int)sizeof(T);
    static constexpr int piece = 16 / (int)sizeof(T);
    static constexpr int share = 32 * row_items;
    static constexpr int tile = sizeof(T) == 8 ? VSCAN__TILE_DOUBLE : VSCAN__TILE_FLOAT;
    static constexpr int group_lanes = Pair::in_any_order ? 1 : VSCAN__GROUP / row_items;
    static constexpr int parts = Pair::in_any_order ? 1 : 4; /* partitions of a tile, at most */
};

template <class Pair>
struct segments_shared {
    using U = typename Pair::U;
    U sums[segments_warps];          /* of warps, from their last head on */
    uint32_t counts[segments_warps]; /* of heads */
    U first_prefix, first_pre; /* of the partition's first head: groups before its own, the rest */
    int first_at;              /* where it is in the partition */
    int64_t first_segment;     /* by offsets: which segment it closes, or -1 */
    int64_t edges[2]; /* by offsets: the first that lies in the partition, and in the next */
    ticket next;
    /* folding: sums and heads of tiles (in any order: of warps' tiles), and of the own tile */
    U tiles[32 * segments_warps];
    uint32_t tile_heads[segments_warps], tile_counts[segments_warps];
    U beside, above;
    uint32_t beside_heads, own_heads;
    uint32_t rows[32 * segments_warps];  /* by offsets: heads of rows, */
    uint16_t ranks[32 * segments_warps]; /* and how many come before them in the warp's share */
};

/* The initial value, or an identity. */
template <class Pair>
static __device__ __forceinline__ typename Pair::U initial_of(const vscan__scan &scan) {
    using T = typename Pair::T;
    if (scan.has_initial == 2) return Pair::in(*(const T *)scan.initial_at);
    if (scan.has_initial == 0) return Pair::identity;
    T z;
    memcpy(&z, &scan.initial, sizeof z);
    return Pair::in(z);
}

/* ---- Rows ------------------------------------------------------------------------------------ */

/* Element o of a warp's share. */
template <class T>
static __device__ __forceinline__ T *segments_at(T *share, unsigned o) {
    constexpr unsigned V = 16 / (unsigned)sizeof(T), R = 128 / (unsigned)sizeof(T);
    return share + (o ^ (o / R % 8) * V);
}

/* Where total k of a warp waits in its share: lanes that write some each, one after the other, do not
   meet in a bank. */
template <class T>
static __device__ __forceinline__ int staged_at(int k) {
    constexpr int R = 128 / (int)sizeof(T);
    return k ^ (k / R % R);
}

/* Asks for the elements of a warp's share, from element first of the vector on. */
template <class Pair>
static __device__ __forceinline__ void load_share(const segments_arguments &a,
                                                  typename Pair::T *share, int64_t first) {
    using T = typename Pair::T;
    using shape = segments_shape<Pair>;
    constexpr int V = shape::piece, pieces = shape::share / V / 32;
    const int lane = threadIdx.x % 32;
    const T *const in = (const T *)a.scan.in;
    if (a.aligned && first + shape::share <= a.scan.n) {
#ifdef VSCAN__TMA
#pragma unroll
        for (int r = 0; r < pieces; ++r)
            copy_piece(segments_at(share, (r * 32 + lane) * V), in + first + (r * 32 + lane) * V);
#else
        int4 x[pieces];
#pragma unroll
        for (int r = 0; r < pieces; ++r) x[r] = load_quad(in + first + (r * 32 + lane) * V);
#pragma unroll
        for (int r = 0; r < pieces; ++r) *(int4 *)segments_at(share, (r * 32 + lane) * V) = x[r];
#endif
    } else {
        const int64_t to_end = a.scan.n - first;
        const int left = (to_end > shape::share ? shape::share : (int)to_end) - lane;
        T x[shape::row_items];
#pragma unroll
        for (int r = 0; r < shape::row_items; ++r) {
            x[r] = Pair::out(Pair::identity);
            if (r * 32 < left) x[r] = in[first + lane + r * 32];
        }
#pragma unroll
        for (int r = 0; r < shape::row_items; ++r) *segments_at(share, r * 32 + lane) = x[r];
    }
}

/*
 * Bit j: a segment starts at element first + lane * R + j, or has ended before it, as this is the n-th.
 * By whole warps.
 */
template <int R>
static __device__ __forceinline__ uint32_t row_of_flags(const segments_arguments &a,
                                                        int64_t first) {
    const int lane = threadIdx.x % 32;
    const int64_t to_end = a.scan.n - first;
    const int left = to_end > 32 * R ? 32 * R : to_end < 0 ? -1 : (int)to_end;
    uint32_t heads = 0;
    if (a.scan.flag_type == VSCAN_BIT) {
        const int64_t at = first + lane * R;
        if (lane * R < left) heads = ((const uint32_t *)a.scan.flags)[at >> 5] >> (at & 31);
    } else if (a.scan.flag_type == VSCAN_BYTE && a.wide_flags && left == 32 * R) {
        const int4 *const from = (const int4 *)((const uint8_t *)a.scan.flags + first + lane * R);
        uint32_t fours[R / 4];
#pragma unroll
        for (int q = 0; q < R / 16; ++q) {
            const int4 quad = from[q];
            memcpy(fours + 4 * q, &quad, 16);
        }
#pragma unroll
        for (int q = 0; q < R / 4; ++q) /* as in load_mask of pack/pack.cu */
            heads |= (__vsetne4(fours[q], 0) * 0x01020408u >> 24) << 4 * q;
    } else { /* 32 beside each other at a time, by votes */
        const bool bytes = a.scan.flag_type == VSCAN_BYTE;
        const int32_t *const as_ints = (const int32_t *)a.scan.flags + first + lane;
        const uint8_t *const as_bytes = (const uint8_t *)a.scan.flags + first + lane;
        int32_t x[R];
#pragma unroll
        for (int r = 0; r < R; ++r) {
            const bool there = r * 32 + lane < left;
            x[r] = 0;
            if (there && !bytes) x[r] = as_ints[r * 32];
            if (there && bytes) x[r] = as_bytes[r * 32];
        }
#pragma unroll
        for (int r = 0; r < R; ++r) {
            const uint32_t word = __ballot_sync(segments_lanes, x[r] != 0);
            if (lane * R / 32 == r) heads = R == 32 ? word : word >> lane * R % 32;
        }
    }
    if (first + lane == 0) heads |= 1;
    const int end = left - lane * R; /* in the row */
    if (end < 0) return 0;
    if (R < 32) heads &= (1u << R % 32) - 1;
    return end < R ? (heads & ((1u << end) - 1)) | 1u << end : heads;
}

/*
 * What a row's elements x come to: pre, what precedes its first head (all of it where there is none),
 * suf, what follows its last one from that on. The totals of segments between heads go to
 * places rank + 1, ... of the warp's share.
 */
template <class Pair, int R>
static __device__ __forceinline__ void sum_row(typename Pair::U (&x)[R], uint32_t heads,
                                               typename Pair::T *share, int rank,
                                               typename Pair::U *pre, typename Pair::U *suf) {
    using T = typename Pair::T;
    using U = typename Pair::U;
    if constexpr (Pair::in_any_order) {
        U sum = Pair::identity;
        const int begin = rank;
#pragma unroll
        for (int j = 0; j < R; ++j) {
            if (heads >> j & 1) {
                share[staged_at<T>(rank++)] = Pair::out(sum);
                sum = x[j];
            } else {
                sum = Pair::combine(sum, x[j]);
            }
        }
        *pre = rank == begin ? sum : Pair::in(share[staged_at<T>(begin)]);
        *suf = sum;
    } else {
        U p[R];
#pragma unroll
        for (int j = 0; j < R; ++j) p[j] = heads >> j & 1 ? Pair::identity : x[j];
#pragma unroll
        for (int half = 1; half < R; half *= 2) {
#pragma unroll
            for (int j = 0; j < R; j += 2 * half) {
                const uint32_t left = heads & ((1u << half) - 1) << j;
                const uint32_t right = heads & ((1u << half) - 1) << (j + half);
                const U sum = Pair::combine(x[j], p[j + half]);
                if (left && right)
                    share[staged_at<T>(rank + __popc(heads & ((1u << (j + half)) - 1)))] =
                        Pair::out(sum);
                p[j] = left ? p[j] : sum;
                x[j] = right ? x[j + half] : sum;
            }
        }
        *pre = p[0];
        *suf = x[0];
    }
}

/* ---- Offsets --------------------------------------------------------------------------------- */

struct segments_offsets {
    const void *at;
    int64_t n;
    bool wide;
    __device__ __forceinline__ int64_t operator[](int64_t i) const {
        return wide ? ((const int64_t *)at)[i] : ((const int32_t *)at)[i];
    }
};

/* Offsets b, b + threads, ..., before `to`, and the one before each; before `from`, anything small. */
static constexpr int segments_batch = 4;
static __device__ __forceinline__ void load_batch(int64_t (&o)[segments_batch],
                                                  int64_t (&before)[segments_batch],
                                                  const segments_offsets &offsets, int64_t b,
                                                  int64_t from, int64_t to) {
#pragma unroll
    for (int j = 0; j < segments_batch; ++j) {
        const int64_t i = b + j * (int)blockDim.x;
        o[j] = i < to ? offsets[i] : 0;
        before[j] = i > from && i < to ? offsets[i - 1] : INT64_MIN;
    }
}

} /* namespace vscan */

#endif
