/* SPDX-License-Identifier: Apache-2.0 */
/* Tuned constants of packs and enumerations. */
#pragma once

#include <stdint.h>

namespace vscan {

/* ---- Small vectors: pack/small.cuh ----------------------------------------------------------- */

/* Elements of a small vector at most. */
static constexpr int64_t small_packs_to = 3 << 18;

/* Blocks of 1024 threads of a multiprocessor: as many as it has room for. */
#if defined(__CUDA_ARCH__) && (__CUDA_ARCH__ < 800 || __CUDA_ARCH__ >= 1200)
static constexpr int pack_small_blocks = 1;
#else
static constexpr int pack_small_blocks = 2;
#endif

/* ---- All others: pack/tiles.cuh -------------------------------------------------------------- */

static constexpr int pack_warps = 16, pack_threads = 32 * pack_warps;
static constexpr int pack_blocks = 2; /* of a multiprocessor */

/* Chunks of a lane: before sm_90 shared memory may not have room for two tiles of 64 KiB. */
static constexpr int pack_chunks_of(int architecture) {
    return architecture < 900 ? 4 : 8;
}

/* Elements kept of a tile from which on it is dense: see pack/tiles.cuh. */
template <int Items>
static constexpr uint32_t pack_dense_above = Items / 4 * 3;

static constexpr int pack_prefetches = 4; /* instructions that prefetch a tile, each a part of it */

/* ---- Counts of flags: pack/count.cu ---------------------------------------------------------- */

static constexpr int count_threads = 1024, count_blocks = 2; /* of a block; of a multiprocessor */
static constexpr int count_loads = 4;                 /* of 16 bytes, in flight in a thread */
static constexpr int count_least = 2 * count_threads; /* loads that are worth a block */

} /* namespace vscan */
