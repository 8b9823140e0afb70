/* SPDX-License-Identifier: Apache-2.0 */
/* Tuned constants of reductions and segmented reductions. All figures are from an H200. */
#ifndef VSCAN_REDUCE_TUNING_CUH
#define VSCAN_REDUCE_TUNING_CUH

#include <stdint.h>

namespace vscan {

/* ---- Reduction ------------------------------------------------------------------------------- */

/* Bytes of a vector up to which each kernel is the fastest. */
enum {
    reduce_warp_bytes = 1 << 10,            /* one warp, two warp loads */
    reduce_large_warp_bytes = 2 << 10,      /* one warp, four warp loads */
    reduce_one_load_bytes = 16 << 10,       /* one block, one load a warp */
    reduce_block_bytes = 32 << 10,          /* one block, four loads a warp */
    reduce_portable_block_bytes = 64 << 10, /* the same without clusters: as much as it can do */
    reduce_cluster_bytes = 512 << 10,       /* one cluster: as much as it can do */
    reduce_medium_bytes =
        128 << 20 /* partitions of half a tile, fixed; then of a tile, by ticket */
};

static constexpr int reduce_cluster = 8; /* blocks of a cluster: every GPU with clusters has 8 */
static constexpr int reduce_block_loads = 4; /* of a warp, in small blocks and clusters */
static constexpr int reduce_large_warps = 16, reduce_resident = 2; /* blocks of a multiprocessor */

/* ---- Segmented reduction --------------------------------------------------------------------- */

/* Warps of a block; half as many where it can have no more than 48 KiB of shared memory. */
static constexpr int segments_warps = 8;
static constexpr int segments_share = 4096; /* bytes of a warp's elements */
static constexpr int segments_resident = 3; /* blocks of a multiprocessor */
static constexpr int segments_batch = 4;    /* offsets of a thread whose loads are in flight */

/* ---- Segmented reduction by offsets ---------------------------------------------------------- */

/* Two search warps keep up with eight reduction warps: a search takes about as long as a
   partition. */
static constexpr int offsets_reduction_warps = 8, offsets_search_warps = 2;
static constexpr int offsets_threads = 32 * (offsets_reduction_warps + offsets_search_warps + 1);
/* Blocks of a multiprocessor; before sm_80 it may have no more than 1024 threads. */
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
static constexpr int offsets_resident = 3;
#else
static constexpr int offsets_resident = 2;
#endif
static constexpr int offsets_stages = 4;  /* partitions of a block in the pipeline */
static constexpr int offsets_pending = 4; /* segments that wait for earlier partitions */
static constexpr int offsets_copied =
    128; /* offsets of a partition copied to shared memory, at most */

/*
 * Elements a segment has on average where reduce_offsets is faster than reduce_segments. With huge
 * segments one warp adds up the tiles of a segment at the end (2^28 floats: 290 us), which
 * reduce_segments does while it runs.
 */
static constexpr int64_t offsets_from_any_order = 96, offsets_from_in_order = 96;
static constexpr int64_t offsets_below = 1 << 20;

} /* namespace vscan */

#endif
