/* SPDX-License-Identifier: Apache-2.0 */
/* Tuned constants of reductions and segmented reductions. All figures are from an H200. */
#pragma once

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

/* Elements of a vector up to which it is rather scanned (of an H100: 0.46 to 0.94 of the time; of 2^19 0.83 to 1.24). */
static constexpr int64_t segments_scanned_to = 1 << 18;

/* Warps of a block; half as many where it can have no more than 48 KiB of shared memory. */
static constexpr int segments_warps = 8;
static constexpr int segments_share = 4096; /* bytes of a warp's elements */
static constexpr int segments_resident = 3; /* blocks of a multiprocessor */

} /* namespace vscan */
