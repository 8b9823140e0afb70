/* SPDX-License-Identifier: Apache-2.0 */
/* Tuned constants of splits. Measured on an H200. */
#pragma once

#include <stdint.h>

namespace vscan {

static constexpr int split_warps = 8, split_threads = 32 * split_warps;
static constexpr int tile_words = 128, tile_items = 32 * tile_words; /* words of 32 flags */

/* Blocks of a multiprocessor, as many as have enough registers. Before sm_80 there are no more
   threads. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
static constexpr int most_blocks = 4;
#else
static constexpr int most_blocks = 6;
#endif
static constexpr int move_blocks(int size, bool positions, bool segmented) {
    return positions || (size == 4 && !segmented) ? most_blocks
           : size == 4 && most_blocks > 5         ? 5
                                                  : 4;
}

/* ---- First kernel ---------------------------------------------------------------------------- */

/* Tiles of a chunk. Up to small_to elements (with int flags small_to_ints) chunks are small: more
   blocks help more than fewer sums, most of all with ints, of which a large chunk has more than a
   block can load at once. From large_from on they are large, so that the block that scans the
   chunks finishes soon. */
static constexpr int64_t small_to = 1 << 18, small_to_ints = 1 << 23, large_from = 1 << 25;
static inline int chunk_log2_of(int64_t n, bool ints) {
    return n <= (ints ? small_to_ints : small_to) ? 1 : n <= large_from ? 3 : ints ? 4 : 5;
}

/* Warp loads of flags in flight at a time, each of 1024 bytes. */
static constexpr int loads_at_once = 4;

/* Chunks that a thread of the last block scans at a time. */
static constexpr int thread_chunks = 8;

/* The architecture with a kernel for flags that are bits: it leaves room for more blocks, but is
   worth its size only where it has been measured. */
static constexpr int bits_architecture = 90;

/* ---- Small vectors, by one launch ------------------------------------------------------------ */

/* Elements up to which split_lines is the fastest. */
static constexpr int64_t lines_to = 1 << 18;

/* Blocks of a multiprocessor; split_small serves vectors of no more tiles than there are such
   blocks. */
template <class T>
static constexpr int small_most_blocks = sizeof(T) == 8 ? 2 : 3;

/* Polls of a status word, each some hundred ns, before a block counts that block's flags itself. */
static constexpr int most_polls = 256;

} /* namespace vscan */
