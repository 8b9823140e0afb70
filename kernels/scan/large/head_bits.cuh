/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Head flags of long vectors as bits in scan order, made by a separate kernel before the scan.
 *
 * The blocks of scan/large/large.cuh can have only some 16 KiB of flags in flight beside their elements.
 * That is too little for int flags, and with more the elements arrive later. A kernel that only
 * reads flags reads them at the speed of memory, and bits cost the scan almost nothing.
 *
 * The workspace has no room for a bit an element, but the output has. The bits of a tile lie where
 * the tile's results will be, at the first multiple of 16 bytes. The block that scans the tile
 * reads them before it stores the results, and no other block accesses this memory. So the output
 * must not be the input. The last tile, if partial, may be too small for its bits; they are in the
 * header of the workspace.
 *
 * Bit i of word w belongs to position 32 w + i of the tile, in scan order. Position 0 of the vector
 * begins a segment, and no segment begins beyond its end.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "cuda/launch.h"

namespace vscan {

static_assert(sizeof(vscan__workspace_header) <= VSCAN__WORKSPACE_HEADER, "room for it");
static_assert(offsetof(vscan__workspace_header, heads) % 16 == 0, "copied by 16 bytes");

struct head_bits_view {
    char *first;  /* bits of tile 0; NULL: there are none */
    int64_t step; /* bytes from a tile's bits to those of the next tile */
    char *last;   /* bits of the partial tile, if there is one */

    __host__ __device__ char *of(int64_t tile, int64_t whole) const {
        return tile < whole ? first + tile * step : last;
    }
};

/* Whether a segmented scan of a long vector should use this kernel. For int flags it was as fast
   or faster at all lengths for which scan/large/large.cuh is used, from 8 MiB on. */
static inline bool head_bits_wanted(const vscan__scan &scan) {
    return scan.out != scan.in && scan.flag_type == VSCAN_INT;
}

/* Whether the caller's bits can be used as they are, but for the first and the last tile. */
static inline bool flags_are_head_bits(const vscan__scan &scan) {
    return scan.flag_type == VSCAN_BIT && !scan.backward && (uintptr_t)scan.flags % 16 == 0;
}

static inline head_bits_view head_bits_in_flags(const vscan__scan &scan, int64_t items) {
    char *const flags = (char *)scan.flags; /* only read */
    return {flags, items / 8, flags + scan.n / items * (items / 8)};
}

/* Where the kernel puts the bits. Backward, the next tile lies before this one in memory. */
static inline head_bits_view head_bits_in_output(const vscan__scan &scan, int64_t items,
                                                 int64_t size, vscan__workspace_header *header) {
    const uintptr_t out = (uintptr_t)scan.out;
    /* where n < items this address is invalid, and not used */
    const uintptr_t first = scan.backward ? out + (uintptr_t)((scan.n - items) * size) : out;
    return {(char *)((first + 15) & ~(uintptr_t)15), scan.backward ? -items * size : items * size,
            (char *)header->heads};
}

/* Enqueues the kernel; items: elements of a tile. */
cudaError_t launch_head_bits(const vscan__launch *launch, const vscan__scan &scan, int items,
                             const head_bits_view &heads);

} /* namespace vscan */
