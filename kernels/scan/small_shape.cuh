/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the kernels for short vectors have in common (scan/small.cuh, scan/small_any_order.cuh): their
 * parameters, the shapes of their blocks, and how they ask for memory before they may read it.
 */
#ifndef VSCAN_SCAN_SMALL_SHAPE_CUH
#define VSCAN_SCAN_SMALL_SHAPE_CUH

#include <stddef.h>

#include "scan/partition.cuh"

namespace vscan {

/*
 * Parameters come through a cache that is cold when a kernel starts. The first 48 bytes of them lie in
 * one line of it, with what was there before: so these are what every scan needs.
 */
struct small_arguments {
    const void *in;
    void *out;
    void *total;
    int32_t n;
    uint8_t exclusive, backward;
    uint8_t initial_from; /* as has_initial; 3: from where the total goes, too */
    uint8_t delay;        /* a seed for jitter, or 0 */
    vscan__value initial;
    vscan__workspace_header *header;
    scan_arguments rest;
};
static_assert(offsetof(small_arguments, rest) == 48, "one line");

/* log2 of a power of two. */
static constexpr int log2_of(int power) {
    return power == 1 ? 0 : 1 + log2_of(power / 2);
}

template <class Pair, int Rows, int Warps>
struct small_shape {
    using T = typename Pair::T;
    static constexpr int rows = Rows; /* of a warp */
    static constexpr int threads = 32 * Warps;
    static constexpr int lane_items = 16 / (int)sizeof(T);
    static constexpr int row_items = 32 * lane_items;
    static constexpr int items = Warps * Rows * row_items;
    static constexpr int parts = /* partitions of a tile */
        (sizeof(T) == 8 ? VSCAN__TILE_DOUBLE : VSCAN__TILE_FLOAT) / items;
    static constexpr int levels = log2_of(parts); /* of the tree above a partition */
    static_assert(parts == 1 << levels && parts <= 32,
                  "partitions make up tiles, a warp has whole ones");
    static constexpr int group_lanes = VSCAN__GROUP / lane_items;
    static constexpr int row_groups = 32 / group_lanes;
    static constexpr int warp_groups = Rows * row_groups;
    static constexpr int groups = Warps * warp_groups;
    static constexpr int scan_groups = groups / 32; /* of a lane */
    static constexpr int scan_lanes = groups / scan_groups;
    static constexpr int polls = Rows == 1 ? 1 : 2; /* words a thread waits for */
    static constexpr int max_partitions = polls * threads;
    static constexpr int tiles = max_partitions / parts;
    static constexpr int fold_step = 16;          /* tiles */
    static constexpr bool all_fold = tiles <= 32; /* sooner done by every warp than handed on */
};

/*
 * Cycles between publishing and the first read of others' aggregates. A read that comes too early costs a
 * whole round trip to the L2 cache. Blocks that start together publish at about the same time, the less so
 * the more there are, and later where the Sklansky network takes longer. Chosen among a constant of 0 to
 * 128 cycles and 0 to 3 cycles a partition on an H200: sums of 2^16 to 2^20 floats take 0.83 to 0.87 of the
 * time without it, no other row is slower (graph replay, plus and max, 2^10 to 2^20).
 */
template <class Pair>
static __device__ __forceinline__ uint32_t first_read_delay(uint32_t partitions) {
    constexpr bool wide = sizeof(typename Pair::U) == 8;
    if (Pair::in_any_order) return wide ? 0 : partitions;
    return (wide ? 32 : 96) + partitions + partitions / 2;
}

/* The shapes: n of one_block at most; of the others, max_partitions partitions at most. */
template <class Pair>
using one_block = small_shape<Pair, 1, 32>;
template <class Pair>
using narrow_partitions = small_shape<Pair, sizeof(typename Pair::T) == 8 ? 2 : 1, 8>;
template <class Pair>
using wide_partitions = small_shape<Pair, 4, 8>;

static_assert(wide_partitions<pair<op_plus, double>>::max_partitions * words_each<double> <=
                  VSCAN__SMALL_WORDS,
              "words for short vectors");

/* As much of shared memory as one instruction reads. */
template <class U, int N>
struct __align__(N * sizeof(U)) packed {
    U value[N];
};

/* Asks memory for element i of the scan, if there is one, and for its flag: where launches overlap. */
template <bool Segmented, class T>
static __device__ __forceinline__ void prefetch_element(const small_arguments &hot, int i) {
#if __CUDA_ARCH__ >= 900
    if (i >= hot.n) return;
    const int at = hot.backward ? hot.n - 1 - i : i;
    prefetch_line((const T *)hot.in + at);
    if (!Segmented) return;
    const vscan__scan &scan = hot.rest.scan;
    const int log_bits = scan.flag_type == VSCAN_INT ? 5 : scan.flag_type == VSCAN_BYTE ? 3 : 0;
    prefetch_line((const char *)scan.flags + (((int64_t)at << log_bits) >> 3));
#endif
}

/* Asks memory for a warp's rows from position i on: each lane for a sector of 32 bytes, or two. */
template <class T, int Rows>
static __device__ __forceinline__ void prefetch_rows(const small_arguments &hot, int i, int lane) {
    constexpr int sector = 32 / (int)sizeof(T);
    if (Rows == 1 && lane >= 16) return;
#pragma unroll
    for (int r = 0; r < Rows; r += 2) prefetch_element<false, T>(hot, i + (r * 16 + lane) * sector);
}

/* The lane's pieces of a vector in the order of the scan, or of memory again. */
template <class Pair, int Rows, int V>
static __device__ __forceinline__ void turn_round(lane_items<Pair, V> (&items)[Rows]) {
#pragma unroll
    for (int r = 0; r < Rows; ++r)
#pragma unroll
        for (int j = 0; j < V / 2; ++j) exchange_here(items[r].raw[j], items[r].raw[V - 1 - j]);
}

/* What is not a whole part of a vector, forward and aligned: loaded and turned round, or stored. */
template <class Pair, int Rows, int V>
static __device__ __forceinline__ void
load_rows(lane_items<Pair, V> (&items)[Rows], const small_arguments &hot, int begin, bool whole) {
    using T = typename Pair::T;
    const T *const in = (const T *)hot.in;
    const bool backward = hot.backward;
    if (whole && is_aligned(in, hot.n, backward)) {
#pragma unroll
        for (int r = 0; r < Rows; ++r) items[r].load_whole(in, begin + r * 32 * V, hot.n, backward);
    } else {
#pragma unroll
        for (int r = 0; r < Rows; ++r) items[r].load(in, begin + r * 32 * V, hot.n, backward);
    }
    if (backward) turn_round(items);
}

template <class Pair, int Rows, int V>
static __device__ __forceinline__ void
store_rows(lane_items<Pair, V> (&items)[Rows], const small_arguments &hot, int begin, bool whole) {
    using T = typename Pair::T;
    T *const out = (T *)hot.out;
    const bool backward = hot.backward;
    if (backward) turn_round(items);
    if (whole && is_aligned((const T *)out, hot.n, backward)) {
#pragma unroll
        for (int r = 0; r < Rows; ++r)
            items[r].store_whole(out, begin + r * 32 * V, hot.n, backward);
    } else {
#pragma unroll
        for (int r = 0; r < Rows; ++r) items[r].store(out, begin + r * 32 * V, hot.n, backward);
    }
}

/*
 * A lane's pieces of the warp's rows, the first from position begin on, in the order of the scan;
 * fast: a whole part of a vector, forward, where nothing is to be chosen for each piece.
 */
template <class Pair, int Rows, int V>
static __device__ __forceinline__ void load_turned(lane_items<Pair, V> (&items)[Rows],
                                                   const small_arguments &hot, int begin,
                                                   bool whole, bool fast) {
    using T = typename Pair::T;
    if (fast && is_aligned((const T *)hot.in, hot.n, false)) {
#pragma unroll
        for (int r = 0; r < Rows; ++r)
            items[r].load_whole((const T *)hot.in, begin + r * (32 * V), hot.n, false);
    } else {
        load_rows<Pair, Rows, V>(items, hot, begin, whole);
    }
}

/* The same to out; the pieces are turned round. */
template <class Pair, int Rows, int V>
static __device__ __forceinline__ void store_turned(lane_items<Pair, V> (&items)[Rows],
                                                    const small_arguments &hot, int begin,
                                                    bool whole, bool fast) {
    using T = typename Pair::T;
    if (fast && is_aligned((const T *)hot.out, hot.n, false)) {
#pragma unroll
        for (int r = 0; r < Rows; ++r)
            items[r].store_whole((T *)hot.out, begin + r * (32 * V), hot.n, false);
    } else {
        store_rows<Pair, Rows, V>(items, hot, begin, whole);
    }
}

} /* namespace vscan */

#endif
