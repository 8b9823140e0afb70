/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the kernels for small vectors share (scan/small/small.cuh, scan/small/any_order.cuh): parameters,
 * the shapes of blocks, prefetches, loads and stores.
 *
 * A lane's `vector` is 16 bytes; the 32 adjacent vectors of a warp are a warp load.
 */
#pragma once

#include <stddef.h>

#include "order/nested.cuh"
#include "scan/partition.cuh"
#include "scan/tuning.cuh"

namespace vscan {

/*
 * Parameters come through a cache that is cold when a kernel starts. The first 48 bytes are in the
 * same line as what precedes them: they are what every scan needs.
 */
struct small_arguments {
    const void *in;
    void *out;
    void *total;
    int32_t n;
    uint8_t exclusive, backward;
    uint8_t initial_from; /* as has_initial; 3: from the place of the total */
    uint8_t delay;        /* a seed for jitter, or 0 */
    vscan__value initial;
    vscan__workspace_header *header;
    scan_arguments rest;
};
static_assert(offsetof(small_arguments, rest) == 48, "one line");

template <class Pair, int Loads, int Warps>
struct small_shape {
    using T = typename Pair::T;
    static constexpr int loads = Loads; /* of a warp */
    static constexpr int threads = 32 * Warps;
    static constexpr int lane_items = 16 / (int)sizeof(T);
    static constexpr int load_items = 32 * lane_items;
    static constexpr int items = Warps * Loads * load_items;
    static_assert(nested<T>::tile % items == 0, "partitions make up tiles");
    static constexpr int group_lanes = VSCAN__GROUP / lane_items;
    static constexpr int load_groups = 32 / group_lanes;
    static constexpr int warp_groups = Loads * load_groups;
    static constexpr int groups = Warps * warp_groups;
    static constexpr int scan_groups = groups / 32; /* of a lane */
    static constexpr int scan_lanes = groups / scan_groups;
    static constexpr int polls =
        Loads == 1 || Warps > small_warps ? 1 : 2; /* partitions that a thread waits for */
    static constexpr int max_partitions = polls * threads;
};

/*
 * Between publishing and the first read of others' aggregates. A read that comes too early costs a
 * whole round trip to the L2 cache. Blocks that start together publish at about the same time, the
 * less so the more there are. The cycles were chosen on an H200 among a constant of 0 to 128 and 0
 * to 3 a partition, in order on an H100 among 0 to 480 and 2 to 5 a partition:
 * benchmarks/notes/look_back.md. In order one warp of a block publishes, after 32 additions that the
 * others need not wait for: they wait as long here. With heads these take longer.
 */
template <class Pair, bool Segmented = false, int Loads = wide_loads>
static DEVICE void wait_before_first_read(bool publishes = true) {
    using T = typename Pair::T;
    constexpr bool wide = sizeof(typename Pair::U) == 8, narrow = Loads == narrow_loads<T>;
    const uint32_t partitions = gridDim.x;
    if (Pair::in_any_order) {
        if (!wide && partitions >= 32) wait_cycles(partitions);
        return;
    }
    /* cycles a partition, where these are short */
    constexpr int each = wide ? 2 : Segmented ? 4 : 3;
    constexpr bool shorter = narrow || (!wide && Segmented && Loads == medium_loads);
    const uint32_t until_published =
        shorter ? each * partitions + (wide ? 32 : 0) : 96 + partitions + partitions / 2;
    constexpr int additions = !wide && narrow && Segmented ? 400 : 160;
    wait_cycles(until_published + (publishes ? 0 : additions));
}

/* The shapes: one_block for at most its items; the others for at most max_partitions partitions. */
template <class Pair>
using one_block = small_shape<Pair, 1, 32>;
template <class Pair>
using narrow_partitions = small_shape<Pair, narrow_loads<typename Pair::T>, small_warps>;
template <class Pair>
using wide_partitions = small_shape<Pair, wide_loads, small_warps>;

/* in order: one for each block of level 1 */
template <class Pair>
static constexpr int small_words =
    wide_partitions<Pair>::max_partitions *(wide_partitions<Pair>::items / VSCAN__LEVEL_1) *
    words_each<typename Pair::T>;
static_assert(small_words<pair<op_plus, float>> <= VSCAN__SMALL_WORDS &&
                  small_words<pair<op_plus, double>> <= VSCAN__SMALL_WORDS,
              "status words for small vectors");

/* Prefetches element i of the scan, if there is one, and its flag. Useful where launches
   overlap. */
template <bool Segmented, class T>
static DEVICE void prefetch_element(const small_arguments &hot, int i) {
#if __CUDA_ARCH__ >= 900
    if (i >= hot.n) return;
    const int at = hot.backward ? hot.n - 1 - i : i;
    prefetch_line((const T *)hot.in + at);
    if (!Segmented) return;
    const vscan__scan &scan = hot.rest.scan;
    const int log_bits = log_bits_of_flags(scan.flag_type);
    prefetch_line((const char *)scan.flags + (((int64_t)at << log_bits) >> 3));
#endif
}

/* Prefetches a warp's loads from position i on: each lane one or two sectors of 32 bytes. */
template <class T, int Loads>
static DEVICE void prefetch_loads(const small_arguments &hot, int i, int lane) {
    constexpr int sector = 32 / (int)sizeof(T);
    if (Loads == 1 && lane >= 16) return;
    UNROLL_FOR (int r = 0; r < Loads; r += 2)
        prefetch_element<false, T>(hot, i + (r * 16 + lane) * sector);
}

/* Reverses a lane's vectors: from memory order to scan order, or back. */
template <class Pair, int Loads, int V>
static DEVICE void reverse_vectors(lane_items<Pair, V> (&items)[Loads]) {
    UNROLL_FOR (int r = 0; r < Loads; ++r)
        UNROLL_FOR (int j = 0; j < V / 2; ++j)
            exchange_here(items[r].raw[j], items[r].raw[V - 1 - j]);
}

/* Loads or stores what is not forward, aligned and whole. */
template <class Pair, int Loads, int V>
static DEVICE void load_each(lane_items<Pair, V> (&items)[Loads], const small_arguments &hot,
                             int begin, bool whole) {
    using In = typename Pair::In;
    const In *const in = (const In *)hot.in;
    const bool backward = hot.backward;
    if (whole && is_aligned<lane_items<Pair, V>::in_bytes>(in, hot.n, backward)) {
        UNROLL_FOR (int r = 0; r < Loads; ++r)
            items[r].load_whole(in, begin + r * 32 * V, hot.n, backward);
    } else {
        UNROLL_FOR (int r = 0; r < Loads; ++r)
            items[r].load(in, begin + r * 32 * V, hot.n, backward, hot.rest.transform);
    }
    if (backward) reverse_vectors(items);
}

template <class Pair, int Loads, int V>
static DEVICE void store_each(lane_items<Pair, V> (&items)[Loads], const small_arguments &hot,
                              int begin, bool whole) {
    using T = typename Pair::T;
    T *const out = (T *)hot.out;
    const bool backward = hot.backward;
    if (backward) reverse_vectors(items);
    if (whole && is_aligned((const T *)out, hot.n, backward)) {
        UNROLL_FOR (int r = 0; r < Loads; ++r)
            items[r].store_whole(out, begin + r * 32 * V, hot.n, backward);
    } else {
        UNROLL_FOR (int r = 0; r < Loads; ++r)
            items[r].store(out, begin + r * 32 * V, hot.n, backward);
    }
}

/*
 * A lane's vectors of the warp's loads, the first from position `begin` on, in scan order. fast:
 * forward and whole, so that nothing is to be chosen for each vector.
 */
template <class Pair, int Loads, int V>
static DEVICE void load_vectors(lane_items<Pair, V> (&items)[Loads], const small_arguments &hot,
                                int begin, bool whole, bool fast) {
    using In = typename Pair::In;
    constexpr int bytes = lane_items<Pair, V>::in_bytes;
    if (fast && is_aligned<bytes>((const In *)hot.in, hot.n, false)) {
        UNROLL_FOR (int r = 0; r < Loads; ++r)
            items[r].load_whole((const In *)hot.in, begin + r * (32 * V), hot.n, false);
    } else {
        load_each<Pair, Loads, V>(items, hot, begin, whole);
    }
}

/* The same to the output. Reverses the vectors. */
template <class Pair, int Loads, int V>
static DEVICE void store_vectors(lane_items<Pair, V> (&items)[Loads], const small_arguments &hot,
                                 int begin, bool whole, bool fast) {
    using T = typename Pair::T;
    if (fast && is_aligned((const T *)hot.out, hot.n, false)) {
        UNROLL_FOR (int r = 0; r < Loads; ++r)
            items[r].store_whole((T *)hot.out, begin + r * (32 * V), hot.n, false);
    } else {
        store_each<Pair, Loads, V>(items, hot, begin, whole);
    }
}

} /* namespace vscan */
