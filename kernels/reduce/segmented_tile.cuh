/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a warp of the segmented reduction (reduce/segmented.cuh) does to its share of a partition:
 * it loads the elements and heads of lines, and reduces lines. Also the shared
 * memory of a block.
 *
 * A line is the 128 bytes of one lane. A share is the 32 lines of a warp, swizzled in shared
 * memory.
 */
#pragma once

#include "machine/tma.cuh"
#include "elements/elementwise.cuh"
#include "elements/flags.cuh"
#include "order/nested.cuh"
#include "protocol/lookback.cuh"
#include "machine/warp.cuh"
#include "reduce/tuning.cuh"

namespace vscan {

struct segmented_reduce_arguments {
    vscan__scan scan;
    lookback_memory lookback;
    int64_t partitions; /* the position behind the last element also lies in one */
    vscan__late *late;
    bool aligned;    /* elements, at 16 bytes */
    bool wide_flags; /* byte flags, at 16 bytes */
    pair_transform transform;
};

template <class Pair>
struct segments_shape {
    using T = typename Pair::T;
    static constexpr int line_items = 128 / (int)sizeof(T);
    static constexpr int vector_items = 16 / (int)sizeof(T);
    static constexpr int share = 32 * line_items;
    static constexpr int tile = nested<T>::tile;
    /* Lines of a group; where the order matters, also shares of a block of level 1. */
    static constexpr int group_lines = Pair::in_any_order ? 1 : VSCAN__GROUP / line_items;
    static_assert(Pair::in_any_order || share * group_lines == VSCAN__LEVEL_1, "whole blocks");
    static constexpr int parts = Pair::in_any_order ? 1 : 4; /* partitions of a tile, at most */
    static constexpr int tiles = nested<T>::tiles, tile_step_at_most = 64 / (int)sizeof(T);
    static constexpr int tile_step = Pair::in_any_order          ? 1
                                     : tiles < tile_step_at_most ? tiles
                                                                 : tile_step_at_most;
};

/* Of a partition's first head: what precedes it in the partition, whole groups and the rest, and
   where it is. */
template <class U>
struct first_head {
    U r1, pre;
    int at;
    /* where the order matters: as in lib/core/order.h, and r1 too; heads of the tile before the
       partition */
    U r2;
    uint32_t heads;
};

template <class Pair>
struct segments_shared {
    using U = typename Pair::U;
    using shape = segments_shape<Pair>;
    /* partitions in hand whose sums and first heads are kept */
    static constexpr int kept = Pair::in_any_order ? 1 : 2;
    /* from the last head on: of warps, or of blocks of level 1 */
    alignas(16) U sums[kept][segments_warps];
    alignas(16) uint32_t counts[segments_warps]; /* of heads of warps */
    first_head<U> first[kept];
    ticket next;
    /* look-back: sums and heads of tiles; in any order: of the partitions that a warp has read */
    alignas(16) U tiles[32 * segments_warps + shape::tile_step];
    uint32_t tile_heads[segments_warps], tile_counts[segments_warps];
    /* where the order matters: sums of groups, from the last head on; of a warp, bit k: the group
       of line k has a head; what precedes the tile that was read last, for the first warp */
    alignas(16) U groups[Pair::in_any_order ? 4 : 32 * segments_warps / shape::group_lines];
    uint32_t any_heads[segments_warps];
    before_tile<Pair> before;
};

/* The initial value, or an identity. */
template <class Pair>
static DEVICE typename Pair::U initial_of(const segmented_reduce_arguments &a) {
    using T = typename Pair::T;
    const vscan__scan &scan = a.scan;
    if (scan.has_initial == 2) return Pair::in(*(const T *)scan.initial_at, a.transform);
    if (scan.has_initial == 0) return Pair::identity;
    T z;
    memcpy(&z, &scan.initial, sizeof z);
    return Pair::in(z, a.transform);
}

/* ---- Sums under a mask ----------------------------------------------------------------------- */

/* Of `below`, the bits from the block on with the last of the heads below; blocks have G bits. */
template <int G>
static DEVICE uint32_t since_last_head(uint32_t heads, uint32_t below) {
    const int last = 31 - __clz((int)((heads & below) | 1));
    return below & (~0u << (last & ~(G - 1)));
}

/* Loads N values, 16-byte aligned, from shared memory. */
template <int N, class U>
static DEVICE void load_values(U (&x)[N], const U *values) {
    constexpr int V = N * (int)sizeof(U) < 16 ? N : 16 / (int)sizeof(U); /* a test may have few */
    UNROLL_FOR (int c = 0; c < N; c += V) {
        if (V * sizeof(U) < 16) {
            memcpy(x, values, sizeof x);
            continue;
        }
        const int4 quad = *(const int4 *)(values + c);
        memcpy(x + c, &quad, 16);
    }
}

/* Adds, from left to right, the values j whose bit G * j is set. */
template <class Pair, int G, int N, class U>
static DEVICE U add_under(uint32_t mask, U sum, const U (&x)[N]) {
    UNROLL_FOR (int j = 0; j < N; ++j)
        if (mask & 1u << (G * j)) sum = Pair::combine(sum, x[j]);
    return sum;
}

/* ---- Lines ----------------------------------------------------------------------------------- */

/* Where total k of a warp is staged in its share: lanes that write consecutive totals of their
   lines do so without bank conflicts. */
template <class T>
static DEVICE int staged_at(int k) {
    constexpr int R = 128 / (int)sizeof(T);
    return k ^ (int)((unsigned)k / R % R);
}

/* Loads a warp's share from element `first` of the vector on; with TMA hardware asynchronously. */
template <class Pair>
static DEVICE void load_share(const segmented_reduce_arguments &a, typename Pair::T *share,
                              int64_t first) {
    using T = typename Pair::T;
    using shape = segments_shape<Pair>;
    constexpr int V = shape::vector_items, vectors = shape::share / V / 32;
    const int lane = threadIdx.x % 32;
    const T *const in = (const T *)a.scan.in;
    if (a.aligned && first + shape::share <= a.scan.n) {
#ifdef VSCAN__TMA
        UNROLL_FOR (int r = 0; r < vectors; ++r)
            async_copy_16(swizzled(share, (r * 32 + lane) * V), in + first + (r * 32 + lane) * V);
#else
        int4 x[vectors];
        UNROLL_FOR (int r = 0; r < vectors; ++r) x[r] = load_quad(in + first + (r * 32 + lane) * V);
        UNROLL_FOR (int r = 0; r < vectors; ++r)
            *(int4 *)swizzled(share, (r * 32 + lane) * V) = x[r];
#endif
    } else {
        const int64_t to_end = a.scan.n - first;
        const int left = (to_end > shape::share ? shape::share : (int)to_end) - lane;
        T x[shape::line_items];
        UNROLL_FOR (int r = 0; r < shape::line_items; ++r) {
            x[r] = Pair::out(Pair::identity, a.transform);
            if (r * 32 < left) x[r] = in[first + lane + r * 32];
        }
        UNROLL_FOR (int r = 0; r < shape::line_items; ++r) *swizzled(share, r * 32 + lane) = x[r];
    }
}

/*
 * Bit j: a segment begins at element first + lane * R + j, or that is position n, where the last
 * one ends. By whole warps.
 */
template <int R>
static DEVICE uint32_t heads_of_flags(const segmented_reduce_arguments &a, int64_t first) {
    const int lane = threadIdx.x % 32;
    const int64_t to_end = a.scan.n - first;
    const int left = to_end > 32 * R ? 32 * R : to_end < 0 ? -1 : (int)to_end;
    uint32_t heads = 0;
    if (a.scan.flag_type == VSCAN_BIT) {
        const int64_t at = first + lane * R;
        if (lane * R < left) heads = ((const uint32_t *)a.scan.flags)[at >> 5] >> (at & 31);
    } else if (a.scan.flag_type == VSCAN_BYTE && a.wide_flags && left == 32 * R) {
        const int4 *const from = (const int4 *)((const uint8_t *)a.scan.flags + first + lane * R);
        UNROLL_FOR (int q = 0; q < R / 16; ++q) heads |= bits_of_quad<uint8_t>(from[q]) << 16 * q;
    } else {
        const auto there = [&](int r) { return r * 32 + lane < left; };
        heads =
            a.scan.flag_type == VSCAN_BYTE
                ? flags_by_ballots<R, R>((const uint8_t *)a.scan.flags + first + lane, 32, there)
                : flags_by_ballots<R, R>((const int32_t *)a.scan.flags + first + lane, 32, there);
    }
    if (first + lane == 0) heads |= 1;
    const int end = left - lane * R; /* in the line */
    if (end < 0) return 0;
    if (R < 32) heads &= (1u << R % 32) - 1;
    return end < R ? (heads & ((1u << end) - 1)) | 1u << end : heads;
}

/*
 * Reduces the elements x of a line. pre: the sum before the first head, or of all where there is
 * none. suf: the sum from the last head on. The totals of segments between two heads are staged at
 * rank + 1, rank + 2, ... of the share.
 */
template <class Pair, int R>
static DEVICE void reduce_line(typename Pair::U (&x)[R], uint32_t heads, typename Pair::T *share,
                               int rank, typename Pair::U *pre, typename Pair::U *suf,
                               const pair_transform &transform) {
    using T = typename Pair::T;
    using U = typename Pair::U;
    if constexpr (Pair::in_any_order) {
        U sum = Pair::identity;
        const int begin = rank;
        UNROLL_FOR (int j = 0; j < R; ++j) {
            if (heads >> j & 1) {
                share[staged_at<T>(rank++)] = Pair::out(sum, transform);
                sum = x[j];
            } else {
                sum = Pair::combine(sum, x[j]);
            }
        }
        *pre = rank == begin ? sum : Pair::in(share[staged_at<T>(begin)], transform);
        *suf = sum;
    } else {
        U p[R];
        UNROLL_FOR (int j = 0; j < R; ++j) p[j] = heads >> j & 1 ? Pair::identity : x[j];
        UNROLL_FOR (int half = 1; half < R; half *= 2) {
            UNROLL_FOR (int j = 0; j < R; j += 2 * half) {
                const uint32_t left = heads & ((1u << half) - 1) << j;
                const uint32_t right = heads & ((1u << half) - 1) << (j + half);
                const U sum = Pair::combine(x[j], p[j + half]);
                if (left && right)
                    share[staged_at<T>(rank + __popc(heads & ((1u << (j + half)) - 1)))] =
                        Pair::out(sum, transform);
                p[j] = left ? p[j] : sum;
                x[j] = right ? x[j + half] : sum;
            }
        }
        *pre = p[0];
        *suf = x[0];
    }
}

} /* namespace vscan */
