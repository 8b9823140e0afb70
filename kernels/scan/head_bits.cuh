/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Head flags of long vectors as bits in scan order, made by a kernel of its own before the scan.
 *
 * The blocks of scan/large.cuh have some 16 KiB of flags under way beside their elements, which is too
 * little for int flags, and with more of them elements come later. A kernel that does nothing but read
 * flags reads them at the speed of memory, and bits hardly cost the scan anything.
 *
 * The workspace has no room for a bit an element. But out has: the bits of a tile lie where the tile's
 * results will be, at the first multiple of 16 bytes. These are stored when the bits have been read,
 * by the same block, and nobody else reads or writes there. So out must not be in. Those of a last tile
 * that is not whole, and may be too short for them, are in the workspace's header.
 *
 * They are in scan order: bit i of word w belongs to position 32 w + i of the tile. Position 0 of the
 * vector begins a segment, and none begins beyond its end.
 */
#ifndef VSCAN_SCAN_HEAD_BITS_CUH
#define VSCAN_SCAN_HEAD_BITS_CUH

#include <stddef.h>
#include <stdint.h>

#include "common/launch.h"

namespace vscan {

static_assert(sizeof(vscan__workspace_header) <= VSCAN__WORKSPACE_HEADER, "room for it");
static_assert(offsetof(vscan__workspace_header, heads) % 16 == 0, "pieces of 16 bytes");

struct made_heads {
    char *first;  /* bits of tile 0; NULL: there are none */
    int64_t step; /* bytes from a tile's bits to those of the next */
    char *last;   /* bits of the tile that is not whole, after so many that are */

    __host__ __device__ char *of(int64_t tile, int64_t whole) const {
        return tile < whole ? first + tile * step : last;
    }
};

/* Whether a segmented scan of a long vector should have bits made: of int flags at every length at which
   scan/large.cuh is used, from 8 MiB on, as that was as fast or faster; of bits where the scan itself is
   slow, and flag_warps that only copy leave it the instructions that it wants. */
static inline bool heads_wanted(const vscan__scan &scan, bool slow) {
    return scan.out != scan.in &&
           (scan.flag_type == VSCAN_INT || (slow && scan.flag_type == VSCAN_BIT));
}

/* Whether the caller's own bits will do, but for the first and the last tile's. */
static inline bool heads_as_they_are(const vscan__scan &scan) {
    return scan.flag_type == VSCAN_BIT && !scan.backward && (uintptr_t)scan.flags % 16 == 0;
}

static inline made_heads heads_of_flags(const vscan__scan &scan, int64_t items) {
    char *const flags = (char *)scan.flags; /* read only */
    return {flags, items / 8, flags + scan.n / items * (items / 8)};
}

/* Where they are to be. Backward, tiles lie one before the other. */
static inline made_heads heads_in(const vscan__scan &scan, int64_t items, int64_t size,
                                  vscan__workspace_header *header) {
    const uintptr_t out = (uintptr_t)scan.out;
    /* where n < items this is nowhere, and is not used */
    const uintptr_t first = scan.backward ? out + (uintptr_t)((scan.n - items) * size) : out;
    return {(char *)((first + 15) & ~(uintptr_t)15), scan.backward ? -items * size : items * size,
            (char *)header->heads};
}

/* Enqueues the kernel, for tiles of so many elements. */
cudaError_t make_heads(const vscan__launch *launch, const vscan__scan &scan, int items,
                       const made_heads &heads);

} /* namespace vscan */

#endif
