/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A warp sorts many tiny segments; each lane sorts one at a time in its registers. The segments are
 * consecutive, so their keys are copied to shared memory and back as one range. There, 4 or 8 bytes
 * of padding follow every 128 bytes, so that lanes whose segments begin at multiples of a power of
 * two have no bank conflicts.
 */
#pragma once

#include "sort/segmented/queues.cuh"

namespace vscan {

/* A segment that is sorted together with others; begin: relative to the first one's. */
struct slot_segment {
    int begin, n;
};

struct warp_shared {
    alignas(16) uint64_t numbers[network_size];
    union {
        slot_segment slots[most_segments];
        uint16_t begins[32 * most_lane_segments + 1];
    };
};

/* Keys of all segments that the lanes of a warp sort at once, at most. */
template <class K>
static constexpr int lanes_capacity = network_size * 8 / (128 + (int)sizeof(K)) * 128 /
                                      (int)sizeof(K);

/* Converts keys to the numbers that they compare as, with all bits; keys_of converts back. False:
   some key is a NaN. */
template <class K, int N>
static DEVICE bool numbers_of(K (&x)[N], const vscan__sort &sort, const sort_order &order) {
    const K flipped = (K)(int32_t)order.descending;
    bool nan = false;
    if (sort.real) {
        UNROLL_FOR (int i = 0; i < N; ++i) {
            x[i] = ordered(x[i], order);
            nan = nan || x[i] == (K)order.most;
            x[i] ^= flipped;
        }
    } else {
        UNROLL_FOR (int i = 0; i < N; ++i) x[i] ^= (K)order.shift ^ flipped; /* the sign */
    }
    return !__any_sync(warp_mask, nan);
}
template <class K, int N>
static DEVICE void keys_of(K (&x)[N], const vscan__sort &sort, const sort_order &order) {
    constexpr int top = 8 * (int)sizeof(K) - 1;
    const K flipped = (K)(int32_t)order.descending;
    if (sort.real) {
        UNROLL_FOR (int i = 0; i < N; ++i) {
            x[i] = (x[i] ^ flipped) - (K)order.shift;
            x[i] ^= ((K)0 - (x[i] >> top)) & (K)order.flipped;
        }
    } else {
        UNROLL_FOR (int i = 0; i < N; ++i) x[i] ^= (K)order.shift ^ flipped;
    }
}

static DEVICE int64_t offset_at(const vscan__sort &sort, int64_t k) {
    return sort.offset_type == VSCAN_INT ? ((const int32_t *)sort.offsets)[k]
                                         : ((const int64_t *)sort.offsets)[k];
}

/* Key p of a warp's segments, in the padded layout. */
template <class K>
static DEVICE K &padded(K *buffer, int p) {
    return buffer[p + p / lane_keys<K>];
}

/* One segment a lane, of up to N keys. False: some key is a NaN. */
template <int N, class K>
static DEVICE bool sort_lanes(const segment_sort_arguments &a, K *buffer, int begin, int n) {
    K x[N];
    UNROLL_FOR (int i = 0; i < N; ++i) x[i] = i < n ? padded(buffer, begin + i) : (K)a.last;
    if (!numbers_of(x, a.sort, a.order)) return false;
    sort_items(x);
    keys_of(x, a.sort, a.order);
    UNROLL_FOR (int i = 0; i < N; ++i)
        if (i < n) padded(buffer, begin + i) = x[i];
    return true;
}

/* In the first two lanes: where the keys of a chunk of segments begin, and where they end. */
static DEVICE int64_t edge_of(const vscan__sort &sort, int64_t chunk, int segments) {
    const int lane = threadIdx.x % 32;
    const int64_t k = chunk + (lane == 0 ? 0 : segments);
    return lane < 2 ? offset_at(sort, k < sort.segments ? k : sort.segments) : 0;
}

/* Prefetches the offsets of a chunk, and its keys if they are begin .. end - 1. */
template <class K>
static DEVICE void prefetch_chunk(const segment_sort_arguments &a, int64_t chunk, int64_t begin,
                                  int64_t end) {
    const vscan__sort &sort = a.sort;
    const int lane = threadIdx.x % 32;
    constexpr int line = lane_keys<K>;
    const int size = sort.offset_type == VSCAN_INT ? 4 : 8, offset = lane * (128 / size);
    if (offset < a.chunk && chunk + offset < sort.segments)
        prefetch_line((const char *)sort.offsets + (chunk + offset) * size);
    if (begin >= 0 && end <= sort.n && end - begin <= lanes_capacity<K>)
        ROLLED_FOR (int64_t i = begin + lane * line; i < end; i += 32 * line)
            prefetch_line((const K *)sort.keys + i);
}

/* Sorts the a.chunk segments from `chunk` on. Returns n: segments of up to n keys are sorted. 0:
   none are, and nothing has been written. */
template <class K>
static DEVICE int sort_by_lanes(const segment_sort_arguments &a, warp_shared &s, int64_t chunk) {
    const vscan__sort &sort = a.sort;
    const int lane = threadIdx.x % 32;
    const int64_t chunk_end = chunk + a.chunk < sort.segments ? chunk + a.chunk : sort.segments;
    const int64_t first = offset_at(sort, chunk), end = offset_at(sort, chunk_end);
    if (first < 0 || end > sort.n || end < first || end - first > lanes_capacity<K>) return 0;
    const int all = (int)(end - first);
    K *const buffer = (K *)s.numbers;
    const K *const keys = (const K *)sort.keys + first;
    for (int p = lane; p < all; p += 32) async_copy(&padded(buffer, p), keys + p);

    bool good = true;
    UNROLL_FOR (int r = 0; r < most_lane_segments; ++r) {
        if (r * 32 >= a.chunk) break;
        const int64_t k = chunk + r * 32 + lane;
        const int64_t begin = k < chunk_end ? offset_at(sort, k) - first : all;
        good = good && begin >= 0 && begin <= all;
        s.begins[r * 32 + lane] = (uint16_t)begin;
    }
    if (lane == 0) s.begins[a.chunk] = (uint16_t)all;
    async_copies_wait();
    __syncwarp();
    good = __all_sync(warp_mask, good);
    int sorted = lanes_capacity<K>; /* no segment is longer */
    ROLLED_FOR (int k = lane; good && k < a.chunk; k += 32) {
        const int begin = s.begins[k], all_keys = s.begins[k + 1] - begin;
        const int n = all_keys > lane_keys<K> ? 0 : all_keys;
        const auto longer = [&](int than) { return __any_sync(warp_mask, n > than); };
        if (__any_sync(warp_mask, all_keys > lane_keys<K>)) sorted = lane_keys<K>;
        if (__any_sync(warp_mask, n < 0))
            good = false;
        else if (sizeof(K) == 4 && longer(16))
            good = sort_lanes<lane_keys<K>>(a, buffer, begin, n);
        else if (longer(8))
            good = sort_lanes<16>(a, buffer, begin, n);
        else if (longer(4))
            good = sort_lanes<8>(a, buffer, begin, n);
        else if (longer(2))
            good = sort_lanes<4>(a, buffer, begin, n);
        else
            good = sort_lanes<2>(a, buffer, begin, n);
    }
    __syncwarp();
    if (good)
        for (int p = lane; p < all; p += 32) ((K *)sort.keys_out + first)[p] = padded(buffer, p);
    __syncwarp(); /* buffer is free */
    return good ? sorted : 0;
}

} /* namespace vscan */
