/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scans and segmented scans of long vectors on sm_90 and later, at the speed of memory.
 *
 * A multiprocessor has one block. The block takes one tile after the other by ticket. Its warps
 * have roles and form a pipeline; `->` names the mbarrier by which a role hands a tile to the next:
 *
 *   load warp         takes a ticket                                      -> taken
 *                     loads the tile by quarters (TMA)                    -> loaded[q]
 *   flag warps        segmented: make bits of head flags                  -> heads_ready
 *   reduction warps   sum groups of 32 elements, publish the aggregate,
 *                     find R1 and R2 of the groups                        -> groups_ready
 *   prefix warp       looks back: P, what precedes the tile, R3 and R4    -> prefix_ready
 *   scan warps        read a 128-byte line a lane                         -> emptied[q]
 *                     scan it: X0, add R1 and R2, wait for P, add R3 and
 *                     R4, write the results                               -> staged_full[q]
 *   store warp        stores the results by quarters (TMA)                -> staged_empty[q]
 *
 * R1 to R4 and X0 are those of the nested order (lib/core/order.h). Pairs that any order suits are
 * added in this one, too.
 *
 * Shared memory (scan/large/tile.cuh): two slots for tiles that are loaded, one tile of results, and
 * four stages of what is known of a tile: heads, what precedes groups, P.
 *
 * The time between a tile's ticket and its results is that of its load, of the slowest load among
 * the other blocks, and of its stores. The two slots and the registers of the scan warps cover it:
 * a slot is free as soon as the scan warps have read it, long before P is known.
 *
 * No block waits for the P of another one, only for aggregates. The prefix warp combines them from
 * left to right: 131 from one of a block's tiles to its next one, on an H200.
 *
 * Memory order: status words are relaxed, see kernels/README.md. Inside the block whoever waits at
 * an mbarrier sees all that was written before the arrivals. Each thread that has read or written
 * arrives, not one for its warp: this is no slower, and compute-sanitizer's racecheck can follow
 * it.
 *
 * Forward progress: blocks need not be resident together. A block waits only for the aggregates of
 * tiles with smaller tickets, and between a ticket and its aggregate there are only a load and
 * sums.
 *
 * Launches overlap (programmatic dependent launch): a block that has no more tiles lets the next
 * kernel begin. Its blocks prefetch, and wait for this kernel to end before they take a tile.
 */
#pragma once

#include "machine/launch.cuh"
#include "scan/large/copy.cuh"
#include "scan/large/flags.cuh"
#include "scan/large/prefix.cuh"
#include "scan/large/reduce.cuh"
#include "scan/large/scan.cuh"

namespace vscan {

#ifdef VSCAN__TMA

template <class Shape>
static __device__ void init_barriers(typename Shape::shared &shared) {
    init_handovers(shared.taken);
    init_handovers(shared.loaded, shared.emptied);
    init_handovers(shared.heads_ready, shared.groups_ready, shared.prefix_ready);
    init_handovers(shared.edge);
    if constexpr (Shape::resumed) init_handovers(shared.carry.written);
    init_handovers(shared.staged_full, shared.staged_empty);
    fence_for_tma();
}

/* The whole of a block: prepares shared memory, and gives each warp its role. */
template <class Pair, bool Segmented>
static DEVICE void scan_large_block(const large_arguments &b) {
    using T = typename Pair::T;
    using U = typename Pair::U;
    using shape = large_shape<Pair, Segmented>;
    typename shape::shared &shared = address_once(*(typename shape::shared *)dynamic_shared());

    const vscan__scan &scan = b.rest.scan;
    const int warp = threadIdx.x / 32;
    const large_role<Pair, Segmented> block = {b, b.rest, shared, (int)threadIdx.x % 32};
    if (warp == shape::loader) load_warp<Pair, Segmented>{block}.begin_early();
    if (threadIdx.x == 0) init_barriers<shape>(shared);
    grid_dependency_wait(false);
    ticket first = {};
    if constexpr (is_carried<Pair>) {
        if (threadIdx.x == 32 * shape::loader) first = take_ticket(b.rest.lookback);
        begin_carry<Pair>(shared, b);
    }
    if (threadIdx.x == 0) {
        U initial = Pair::identity;
        if (scan.has_initial == 1)
            initial = Pair::in(element_of<T>(scan.initial), b.rest.transform);
        if (scan.has_initial == 2 && !is_row_by_row<Pair>)
            initial = Pair::in(*(const volatile T *)scan.initial_at, b.rest.transform);
        shared.initial = initial;
        shared.visible = scan.has_initial ? initial : Pair::visible;
    }
    __syncthreads();
    if (warp < shape::scanners) {
        if (Segmented) set_max_registers<shape::scanner_registers, 64>();
        large_scan_warps<Pair, Segmented>{block}.scan(warp);
        return;
    }
    if (warp < shape::prefix_warp) {
        if (Segmented) set_max_registers<shape::reduction_registers, 64>();
        reduce_warps<Pair, Segmented>{block}.sum(warp - shape::scanners);
        return;
    }
    if (Segmented) set_max_registers<shape::other_registers, 64>();
    if (warp == shape::prefix_warp)
        prefix_warp<Pair, Segmented>{block}.find_prefixes();
    else if (warp == shape::loader)
        load_warp<Pair, Segmented>{block}.load_tiles(first);
    else if (warp == shape::storer)
        store_warp<Pair, Segmented>{block}.store_tiles();
    else if (Segmented && warp < shape::flag_warp + shape::flag_warps)
        flag_bit_warps<Pair, Segmented>{{block}}.make_tile_bits(warp - shape::flag_warp);
}

#endif

template <class Pair, bool Segmented>
__global__ void __launch_bounds__(large_shape<Pair, Segmented>::threads, 1)
    scan_large(const __grid_constant__ large_arguments b) {
#ifdef VSCAN__TMA
    scan_large_block<Pair, Segmented>(b);
#endif
}

/* ---- Launching ------------------------------------------------------------------------------- */

/* Whether scan_large can process a scan, and should. */
template <class Pair, bool Segmented>
static bool large_fits(const vscan__launch *launch, const vscan__scan *scan) {
    const int64_t bytes = scan->n * (int64_t)sizeof(typename Pair::T);
    static_assert(sizeof(typename large_shape<Pair, Segmented>::shared) <= VSCAN__TMA_SHARED,
                  "as choose_kernels has it");
    return bytes >= launch->large_from && launch->shared_memory > 0;
}

template <class Shape>
static cudaError_t map_lines(const vscan__launch *launch, line_map *v, const void *vector,
                             const vscan__scan *scan) {
    using T = typename Shape::T;
    constexpr int R = Shape::line_items;
    v->first = scan->backward && !Shape::resumed ? scan->n % R : 0;
    char *const first = (char *)vector + v->first * sizeof(T);
    v->shift = (int)((uintptr_t)first % 16 / sizeof(T));
    v->lines = (scan->n - v->first + v->shift) / R;
    if (v->lines == 0) return cudaSuccess;
    const cuuint64_t sizes[2] = {Shape::line_bytes / 4, (cuuint64_t)v->lines};
    const cuuint64_t stride = Shape::line_bytes;
    const cuuint32_t box[2] = {Shape::line_bytes / 4, Shape::quarter_lines};
    const cuuint32_t steps[2] = {1, 1};
    const CUresult result = launch->encode_tiled(
        &v->map, CU_TENSOR_MAP_DATA_TYPE_INT32, 2, first - v->shift * sizeof(T), sizes, &stride,
        box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
        CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    return (cudaError_t)result; /* the numbers are the same; of a lost device too */
}

template <class Pair, bool Segmented>
static cudaError_t launch_large(vscan__launch *launch, const scan_arguments &a) {
    using shape = large_shape<Pair, Segmented>;
    constexpr int bytes = (int)sizeof(typename shape::shared);
    cudaError_t error = allow_shared_memory(launch, scan_large<Pair, Segmented>, bytes);
    if (error != cudaSuccess) return error;
    large_arguments b;
    b.rest = a;
    error = map_lines<shape>(launch, &b.in, a.scan.in, &a.scan);
    if (error == cudaSuccess) error = map_lines<shape>(launch, &b.out, a.scan.out, &a.scan);
    if (error != cudaSuccess) return error;
    b.heads = {};
    if (Segmented && flags_are_head_bits(a.scan)) {
        b.heads = head_bits_in_flags(a.scan, shape::items);
    } else if (Segmented && head_bits_wanted(a.scan)) {
        b.heads =
            head_bits_in_output(a.scan, shape::items, sizeof(typename Pair::T), a.lookback.header);
        error = launch_head_bits(launch, a.scan, shape::items, b.heads);
        if (error != cudaSuccess) return error;
    }
    const int64_t longest = a.scan.n + (shape::resumed ? shape::items - 1 : 0);
    const int64_t tiles = (longest + shape::items - 1) / shape::items;
    const int blocks = (int)(tiles < launch->multiprocessors ? tiles : launch->multiprocessors);
    return start(scan_large<Pair, Segmented>, blocks, shape::threads, bytes, launch->stream, b,
                 launch->may_overlap);
}

} /* namespace vscan */
