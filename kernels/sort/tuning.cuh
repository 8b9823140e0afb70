/* SPDX-License-Identifier: Apache-2.0 */
/* Tuned constants of the sorts. Measured on an H200. */
#pragma once

#include <stdint.h>

namespace vscan {

/* ---- All radix sorts ------------------------------------------------------------------------- */

static constexpr int sort_threads = 512, sort_warps = sort_threads / 32;
static constexpr int digit_bits = 8, digits = 1 << digit_bits; /* at least one thread a digit */
static constexpr int most_passes = 64 / digit_bits;

/* Status words that a thread loads at once in its look-back. */
static constexpr int look_back_loads = 4;

/* ---- Small vectors: sort/small --------------------------------------------------------------- */

static constexpr int counting_threads = 512, counting_warps = counting_threads / 32;
static constexpr int counting_blocks = 2;       /* of a multiprocessor */
static constexpr int counting_bytes = 32 << 10; /* of keys in shared memory */
template <class K>
static constexpr int counting_capacity = counting_bytes / (int)sizeof(K);

/* ---- Large vectors: sort/onesweep ------------------------------------------------------------ */

/* Histogram with one counter a digit. */
static constexpr int histogram_threads = 512, histogram_blocks = 4; /* of a multiprocessor */

/* Histogram with private counters, one block a multiprocessor. */
static constexpr int private_threads = 1024;
static constexpr int64_t private_from = 1 << 20; /* bytes of keys */

/* Blocks of a multiprocessor, and items of a thread. Larger tiles write longer runs of equal
   digits, as far as shared memory and registers suffice. value_size: 0 without values. */
static constexpr int pass_blocks = 2;
static constexpr int pass_items_of(int key_size, int value_size) {
    return value_size == 8 ? 9 : key_size == 4 ? 16 : value_size == 4 ? 9 : 10;
}

/* ---- Segments: sort/segmented ---------------------------------------------------------------- */

/* By size: up to warp_segment keys a warp sorts in registers; up to segment_tile a block in shared
   memory, two blocks a multiprocessor; up to large_segment one block a multiprocessor, with as many
   items as 48 KiB hold; longer ones are sorted tile by tile. */
static constexpr int network_items = 16; /* of a lane */
static constexpr int network_size = 32 * network_items, warp_segment = network_size;
static constexpr int segment_items = 8, segment_tile = sort_threads * segment_items;
static constexpr int large_items = 22, large_segment = sort_threads * large_items;

/* The kernel that sorts by warps. */
static constexpr int warp_threads = 128, warp_warps = warp_threads / 32; /* of a block */
template <class K>
static constexpr int warp_blocks = sizeof(K) == 4 ? 8 : 6; /* of a multiprocessor */
static constexpr int most_segments = 32;                   /* that one network sorts at once */

/* Where segments have fewer keys than this on average, each lane sorts whole segments, up to so
   many one after the other. */
static constexpr int lane_average = 12, most_lane_segments = 8;
/* Keys of such a segment at most. */
template <class K>
static constexpr int lane_keys = 128 / (int)sizeof(K);

} /* namespace vscan */
