/* SPDX-License-Identifier: Apache-2.0 */
/* Tuned constants of the kernels for segments. "Blocks" are those of a multiprocessor. */
#pragma once

#include <stdint.h>

namespace vscan {

/* Before sm_80 a multiprocessor may have no more than 1024 threads. */
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
static constexpr bool many_threads = true;
#else
static constexpr bool many_threads = false;
#endif

/* Warps of a block of distribution, lengths and offsets. */
static constexpr int segments_warps = 8, segments_threads = 32 * segments_warps;

/* ---- keys.cu --------------------------------------------------------------------------------- */

/* Chunks of 16 bytes that a thread loads, as comparisons have (map/tuning.cuh). */
static constexpr int keys_chunks = 2;

/* ---- distribute.cu --------------------------------------------------------------------------- */

/* With five blocks more places of out are written at a time: doubles then took 590 us, not 337
   (2^27, H200). */
static constexpr int distribute_blocks = 4;
/* Elements of a warp, and of a tile. */
static constexpr int distribute_share = 1024, distribute_items = distribute_share * segments_warps;
/* Heads of a share whose elements have room in shared memory. */
template <class T>
static constexpr int distribute_sparse = sizeof(T) == 8 ? 64 : 128;
/* Chunks that a lane begins to load before it waits for one, where heads are not sparse. */
template <class T>
static constexpr int distribute_batch = sizeof(T) == 1 ? 1 : 2;

/* ---- lengths.cu ------------------------------------------------------------------------------ */

static constexpr int lengths_blocks = 4;
static constexpr int lengths_shared = 32 << 10; /* bytes of the offsets of a tile */

/* ---- offsets.cu ------------------------------------------------------------------------------ */

static constexpr int mark_blocks = many_threads ? 5 : 4;
/* A tile begins as mark_flag_bytes of flags, or as many flags of one bit. It is halved while it has
   more than mark_offset_bytes of offsets on average (so 48 to 96 KiB), or while multiprocessors
   have less than mark_tiles tiles each: the fastest of the sizes that were tried. */
static constexpr int64_t mark_flag_bytes = 1 << 18, mark_least_items = 4096;
static constexpr double mark_offset_bytes = 98304;
static constexpr int mark_tiles = 3;

/* ---- flags_to_offsets.cu --------------------------------------------------------------------- */

static constexpr int flag_warps = 16; /* of a block at most */
static constexpr int flag_blocks = many_threads ? 2 : 1;
/* Places of flags that a warp has room for in shared memory. */
static constexpr int flag_places = 1024;
/* If more than so many of 32 flags are set, a warp takes them a bit a lane. */
static constexpr int dense_flags = 8;

/* ---- by_offsets/ ----------------------------------------------------------------------------- */

static constexpr int by_offsets_threads = 256; /* that work; one warp more looks up partitions */
/* Elements and segments of a partition, so that a block needs no more than 48 KiB. */
template <class T>
static constexpr int by_offsets_items = sizeof(T) == 8 ? 3584 : 8192;
/* Blocks of a multiprocessor: what registers allow, 56 a thread or 75. */
template <bool Scan>
static constexpr int by_offsets_blocks = many_threads ? (Scan ? 3 : 4) : 3;
static constexpr int by_offsets_tries = 4096; /* reads of a word before offsets are looked at */
/* Elements of a segment on average, from which on reductions are by matrix/columns/long_groups.cuh, and bytes of all. Not
   below its long_groups_rows. */
template <class Pair>
static constexpr int64_t by_offsets_long = Pair::in_any_order              ? 4096
                                           : sizeof(typename Pair::T) == 8 ? 512
                                                                           : 800;
static constexpr int64_t by_offsets_long_bytes = 8 << 20;
/* The same for sums of ints as longs, which reduce/widening.cu adds up from then on. */
static constexpr int64_t by_offsets_widened_long = 256;

} /* namespace vscan */
