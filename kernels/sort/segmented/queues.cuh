/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the sorts of segments share: the layout of the context's memory for sorts, and the queues.
 * The kernel that reads the offsets (sort/segmented/segmented.cu) sorts segments of up to
 * warp_segment keys, and puts longer ones into three queues for the kernels that sort by blocks
 * (sort/segmented/by_block.cu): medium (up to segment_tile keys), large (up to large_segment) and
 * long.
 */
#pragma once

#include "sort/segmented/network.cuh"

namespace vscan {

/* ---- Memory ---------------------------------------------------------------------------------- */

/* Counts and status words of a segment: it may be too long for 32 bits. */
using long_count = unsigned long long;

struct queued_segment {
    int64_t first, n;
};
struct long_segment {
    int64_t first, n, first_tile;
};

/* Capacities of the queues, and offsets after the header. The lengths of segments add up to n at
   most, since they do not overlap. */
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
    unsigned long long last; /* the last key in order, except NaNs */
    int passes;              /* even if the sort is in place */
    int chunk;               /* segments that a warp takes at a time */
    sort_header *header;
    queued_segment *medium, *large;
    long_segment *longs;
    int64_t most_medium, most_large, most_long;
    uint32_t *done;     /* finished tiles of each long segment, of all phases so far */
    long_count *counts; /* histograms: key_size * digits for each long segment */
    long_count *status; /* status words: two sets for each tile */
    int64_t most_tiles;
    void *keys, *values; /* n elements each: the output of every other pass */
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

/* header->longs: the number of long segments in the upper bits, of their tiles in the lower
   ones. */
static constexpr int tile_bits = 36;

static __host__ DEVICE int64_t tiles_of(int64_t n) {
    return (n + segment_tile - 1) / segment_tile;
}

/* ---- Values ---------------------------------------------------------------------------------- */

static DEVICE uint64_t value_at(const vscan__sort &sort, int64_t i) {
    return sort.value_size == 8 ? ((const uint64_t *)sort.values)[i]
                                : ((const uint32_t *)sort.values)[i];
}

static DEVICE void store_value(const vscan__sort &sort, int64_t i, uint64_t value) {
    if (sort.value_size == 8)
        ((uint64_t *)sort.values_out)[i] = value;
    else
        ((uint32_t *)sort.values_out)[i] = (uint32_t)value;
}

/* ---- Launching ------------------------------------------------------------------------------- */

/* Sorts the segments in the queues. */
cudaError_t start_queued_sorts(const vscan__launch *launch, const segment_sort_arguments &a);

} /* namespace vscan */
