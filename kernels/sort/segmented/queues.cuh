/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the sorts of segments share: where things lie in the context's memory, and the queues by which
 * the kernel that tells segments apart (sort/segmented/segmented.cu) gives the longer ones to those that sort by
 * blocks (sort/segmented/by_block.cu). Also the sorts of vectors that take one launch.
 */
#ifndef VSCAN_SORT_SEGMENTED_QUEUES_CUH
#define VSCAN_SORT_SEGMENTED_QUEUES_CUH

#include "sort/segmented/network.cuh"

namespace vscan {

/* What a warp sorts in registers. */
static constexpr int warp_segment = network_size;

/* ---- Memory ---------------------------------------------------------------------------------- */

/* A segment may be too long for words of 32 bits. */
using long_count = unsigned long long;

struct queued_segment {
    int64_t first, n;
};
struct long_segment {
    int64_t first, n, first_tile;
};

/* Where things lie, after the header. Lengths of segments that do not overlap have n for their sum. */
struct segments_plan {
    int64_t most_medium, most_large, most_long, most_tiles;
    int64_t medium, large, longs, done, counts, status, keys, values, bytes;
};

static inline segments_plan plan_segments(const vscan__sort *sort) {
    segments_plan p;
    const int64_t n = sort->n;
    p.most_medium = n / (warp_segment + 1);
    p.most_large = n / (segment_tile + 1);
    p.most_long = n / (large_segment + 1);
    p.most_tiles = p.most_long > 0 ? n / segment_tile + p.most_long : 0;
    p.medium = sizeof(sort_header);
    p.large = p.medium + rounded(p.most_medium * (int64_t)sizeof(queued_segment));
    p.longs = p.large + rounded(p.most_large * (int64_t)sizeof(queued_segment));
    p.done = p.longs + rounded(p.most_long * (int64_t)sizeof(long_segment));
    p.counts = p.done + rounded(p.most_long * (int64_t)sizeof(uint32_t));
    p.status = p.counts + p.most_long * sort->key_size * digits * (int64_t)sizeof(long_count);
    p.keys = p.status + 2 * p.most_tiles * digits * (int64_t)sizeof(long_count);
    const int64_t scratch = p.most_long > 0 ? n : 0;
    p.values = p.keys + rounded(scratch * sort->key_size);
    p.bytes = p.values + rounded(scratch * sort->value_size);
    return p;
}

struct segment_sort_arguments {
    vscan__sort sort;
    sort_order order;
    unsigned long long last; /* a key after which none comes, but NaNs */
    int passes;              /* even where a sort is in place */
    int chunk;               /* segments that a warp takes at a time */
    sort_header *header;
    queued_segment *medium, *large;
    long_segment *longs;
    int64_t most_medium, most_large, most_long;
    uint32_t *done;       /* tiles of long segments, of the passes so far */
    long_count *counts; /* of digits, key_size * digits for each long segment */
    long_count *status;  /* two sets for each tile */
    int64_t most_tiles;
    void *keys, *values; /* n elements each: where every other pass writes to */
    vscan__late *late;
};

static inline segment_sort_arguments arguments_of(const vscan__launch *launch,
                                              const vscan__sort *sort) {
    segment_sort_arguments a = {};
    a.sort = *sort;
    a.order = order_of(sort);
    a.last =
        sort->descending ? a.order.shift : a.order.shift - 1; /* the least integer, or the most */
    if (sort->real) {
        const unsigned long long sign = a.order.flipped + 1, infinity = a.order.most / 2 - 1;
        a.last = sort->descending ? sign | infinity : infinity;
    }
    a.passes = passes_of(sort);
    a.late = launch->late;
    return a;
}

/* How many long segments there are is in the upper bits, and in the lower ones how many tiles. */
static constexpr int tile_bits = 36;

static __host__ __device__ __forceinline__ int64_t tiles_of(int64_t n) {
    return (n + segment_tile - 1) / segment_tile;
}

/* ---- Values ---------------------------------------------------------------------------------- */

static __device__ __forceinline__ uint64_t value_at(const vscan__sort &sort, int64_t i) {
    return sort.value_size == 8 ? ((const uint64_t *)sort.values)[i]
                                : ((const uint32_t *)sort.values)[i];
}

static __device__ __forceinline__ void store_value(const vscan__sort &sort, int64_t i,
                                                 uint64_t value) {
    if (sort.value_size == 8)
        ((uint64_t *)sort.values_out)[i] = value;
    else
        ((uint32_t *)sort.values_out)[i] = (uint32_t)value;
}

/* ---- Launching ------------------------------------------------------------------------------- */

/* Sorts what sort/segmented/segmented.cu has put into the queues. */
cudaError_t start_queued_sorts(const vscan__launch *launch, const segment_sort_arguments &a);

} /* namespace vscan */

#endif
