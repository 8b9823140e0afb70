/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where segments begin: the positions of set flags, of which the first counts as set, and then n. One
 * pass over flags of any kind.
 *
 * A block has tiles of up to 64 KiB of flags (of bits, 32 KiB), by ticket (common/lookback.cuh). The word of a
 * tile is the number of its flags, published as soon as it is known. Then the block writes the tile that
 * it had before, as soon as it knows how many flags come before that; a block that waits has nothing that
 * others wait for. Of a tile that waits, warps keep the places of their flags, if these are few. Memory is
 * asked for a tile as soon as there is a ticket.
 *
 * Barriers: (1) counts of the warps known; (2) the warps' sums of earlier words, too; (3) the next ticket.
 */
#include "segments/flags_to_offsets.cuh"

namespace vscan {

/* ---- Kernel ---------------------------------------------------------------------------------- */

template <class Flag>
__global__ void __launch_bounds__(32 * flag_warps_a_block, flags_blocks)
    flags_to_offsets(const __grid_constant__ flags_to_offsets_arguments a) {
    using shape = flags_shape<Flag>;
    constexpr int Rows = shape::rows, Each = shape::each;
    __shared__ __align__(16) uint16_t all_staged[flag_warps_a_block][offsets_staged];
    __shared__ __align__(16) uint16_t all_parts[flag_warps_a_block][256];
    __shared__ uint32_t warp_counts[flag_warps_a_block];
    __shared__ int64_t warp_sums[flag_warps_a_block];
    __shared__ ticket shared_ticket;

    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
    const int64_t n = a.pack.n;
    const int share = a.rows * 1024 * Each; /* flags of a warp */
    const int64_t items = (int64_t)warps * share;
    const int64_t tiles = (n + a.shift + items - 1) / items;
    uint16_t *const staged = all_staged[warp], *const parts = all_parts[warp];

    int64_t next = -1; /* to be read; -1: the first is not yet known */
    epoch_t epoch = 0;
    int64_t tile = -1;                          /* to be written; -1: none */
    uint32_t count = 0, place = 0, of_tile = 0; /* flags of the warp, of those before, of all */
    int64_t seen = 0, before = 0;               /* flags in tiles before number seen */

    const auto part_of = [&](int64_t of) -> offsets_part {
        const int64_t first = of * items - a.shift + warp * share, left = n - first;
        return {first, first < 0 ? (int)-first : 0,
                left < share ? left > 0 ? (int)left : 0 : share};
    };
    /* a line of 128 bytes for each thread is a block's first tile */
    const int64_t ahead = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) * 128;
    if (ahead < n * map_bits(a.pack.flag_type) / 8)
        prefetch_line((const char *)a.pack.flags + ahead);
    wait_for_kernel_before(false);

    for (;;) {

        /* ---- The next tile: flags, counts ---------------------------------------------------- */
        uint32_t x[Rows][Each];
        /* of two rows each, 16 bits a row: flags of the lanes before this one, and of all */
        uint32_t befores[(Rows + 1) / 2], totals[(Rows + 1) / 2];
        uint32_t next_count = 0, next_place = 0, of_next = 0;
        if (next >= 0 && next < tiles) {
            load_words<Flag>(x, a, part_of(next), 0, a.rows, parts);
            if constexpr (Each > 1) { /* no jump, or the words would be kept in memory */
                const uint32_t first = next == 0 && threadIdx.x == 0 ? 1u << a.shift % 32 : 0;
#pragma unroll
                for (int j = 0; j < Each; ++j) x[0][j] |= a.shift / 32 == j ? first : 0;
            } else if (next == 0 && threadIdx.x == 0) {
                if (a.shift / 32 == 0) x[0][0] |= 1u << a.shift % 32;
            }
#pragma unroll
            for (int p = 0; p < (Rows + 1) / 2; ++p) {
                uint32_t own = 0;
#pragma unroll
                for (int r = 2 * p; r < 2 * p + 2 && r < Rows; ++r)
#pragma unroll
                    for (int j = 0; j < Each; ++j) own += (uint32_t)__popc(x[r][j]) << 16 * (r & 1);
                const uint32_t upto = sum_upto(own);
                befores[p] = upto - own;
                totals[p] = __shfl_sync(all_lanes, upto, 31);
                next_count += (totals[p] & 0xffff) + (totals[p] >> 16);
            }
            if (lane == 0) warp_counts[warp] = next_count;
        }
        __syncthreads(); /* (1) */
        if (next >= 0 && next < tiles) {
            const uint32_t own = lane < warps ? warp_counts[lane] : 0, upto = sum_upto(own);
            next_place = __shfl_sync(all_lanes, upto - own, warp);
            of_next = __shfl_sync(all_lanes, upto, 31);
            if (threadIdx.x == 0 && tiles > 1) {
                jitter(a.lookback, epoch, next, jitter_publish);
                publish<uint32_t>(a.lookback, epoch, next, of_next);
            }
        }

        /* ---- Flags before the tile ----------------------------------------------------------- */
        if (tile >= 0) {
            jitter(a.lookback, epoch, tile, jitter_wait);
            int64_t sum = sum_of_aggregates<uint32_t, int64_t>(a.lookback, epoch, seen, tile,
                                                               (int)threadIdx.x, (int)blockDim.x);
            __syncwarp();
            sum = sum_of_lanes(sum);
            if (lane == 0) warp_sums[warp] = sum;
        }
        __syncthreads(); /* (2) */
        if (threadIdx.x == 0 && next < tiles) {
            ticket t = {0, (uint32_t)(next + 1)}; /* one tile needs no tickets */
            if (tiles > 1) {
                t = take_ticket(a.lookback);
                end_launch_after(a.lookback, t, tiles + gridDim.x);
            }
            shared_ticket = t;
            const int64_t then = t.index;
            if (then >= tiles) let_next_kernel_begin();
#ifdef VSCAN__TMA
            if (then > 0 && (then + 1) * items - a.shift <= n) {
                const int64_t bits = map_bits(a.pack.flag_type);
                tma_prefetch((const char *)a.pack.flags + (then * items - a.shift) * bits / 8,
                             (uint32_t)(items * bits / 8));
            }
#endif
        }

        /* ---- Positions ----------------------------------------------------------------------- */
        if (tile >= 0) {
            before += sum_of_lanes(lane < warps ? warp_sums[lane] : 0);
            seen = tile;
            const offsets_part part = part_of(tile);
            int64_t at = before + place;
            if constexpr (Each > 1) {
                if (count <= offsets_staged)
                    write_staged(a, staged, count, at, part.first);
                else
                    write_again(a, part, a.rows * Each, at, tile == 0, (uint2 *)parts);
            } else {
                const bool few = count <= offsets_staged;
#pragma unroll 1
                for (int r = 0; r < (few ? 1 : a.rows * Each); ++r) {
                    uint32_t all = count; /* flags that are staged */
                    if (!few) {
                        uint32_t y[1][1];
                        load_words<Flag>(y, a, part, r, a.rows * Each, parts);
                        if (tile == 0 && r == 0 && (int)threadIdx.x == a.shift / 32)
                            y[0][0] |= 1u << a.shift % 32;
                        const uint32_t own = (uint32_t)__popc(y[0][0]), upto = sum_upto(own);
                        all = __shfl_sync(all_lanes, upto, 31);
                        if (__any_sync(all_lanes, own > many_flags))
                            stage_many(y[0][0], r * 1024, upto - own, staged);
                        else
                            stage_few<1>(y[0], (r * 32 + lane) * 32, upto - own, staged);
                    }
                    write_staged(a, staged, all, at, part.first);
                    at += all;
                }
            }
            if (tile == tiles - 1 && threadIdx.x == 0) {
                const int64_t all = before + of_tile;
                if (a.pack.count != nullptr) *a.pack.count = all;
                if (all < a.pack.length) {
                    if (a.pack.type == VSCAN_INT)
                        ((int32_t *)a.pack.out)[all] = (int32_t)n;
                    else
                        ((int64_t *)a.pack.out)[all] = n;
                } else if (*(volatile int32_t *)&a.late->status == VSCAN_OK) {
                    *(volatile int64_t *)&a.late->at = all + 1;
                    *(volatile int32_t *)&a.late->status = VSCAN_ERROR_OUT_LENGTH;
                }
            }
        }
        if (next >= tiles) return;

        /* ---- The next tile: places, if they are few ------------------------------------------ */
        if (next >= 0 && next_count <= offsets_staged) {
            uint32_t at = 0;
#pragma unroll
            for (int r = 0; r < Rows; ++r) {
                const uint32_t own = at + (befores[r / 2] >> 16 * (r & 1) & 0xffff);
                if (Each == 1 && __any_sync(all_lanes, __popc(x[r][0]) > many_flags))
                    stage_many(x[r][0], r * 1024, own, staged);
                else
                    stage_few<Each>(x[r], (r * 32 + lane) * 32 * Each, own, staged);
                at += totals[r / 2] >> 16 * (r & 1) & 0xffff;
            }
        }
        tile = next;
        count = next_count;
        place = next_place;
        of_tile = of_next;
        __syncthreads(); /* (3) */
        next = shared_ticket.index;
        epoch = shared_ticket.epoch;
    }
}

/* ---- Launching ------------------------------------------------------------------------------- */

template <class Flag>
static cudaError_t launch_flags_to_offsets(const vscan__launch *launch, const vscan__pack *pack) {
    using shape = flags_shape<Flag>;
    const int64_t bits = map_bits(pack->flag_type);
    flags_to_offsets_arguments a = {};
    a.pack = *pack;
    a.lookback = lookback_of(launch);
    a.late = launch->late;
    a.shift = (int)((uintptr_t)pack->flags % 16 * 8 / (uintptr_t)bits);
    /* Smaller tiles and blocks where multiprocessors would have none. */
    a.rows = shape::rows;
    int warps = flag_warps_a_block;
    const auto tiles_of = [&] {
        const int64_t items = (int64_t)warps * a.rows * 1024 * shape::each;
        return (pack->n + a.shift + items - 1) / items;
    };
    while (a.rows > 1 && tiles_of() < launch->multiprocessors * 3 / 2) a.rows /= 2;
    while (warps > 4 && tiles_of() < launch->multiprocessors) warps /= 2;
    const int64_t resident = (int64_t)flags_blocks * launch->multiprocessors, tiles = tiles_of();
    return start(flags_to_offsets<Flag>, tiles < resident ? tiles : resident, 32 * warps, 0,
                 launch->stream, a, launch->may_overlap);
}

} /* namespace vscan */

using namespace vscan;

extern "C" cudaError_t vscan__launch_flags_to_offsets(vscan__launch *launch,
                                                      const vscan__pack *pack) {
    return pack->flag_type == VSCAN_BIT    ? launch_flags_to_offsets<one_bit>(launch, pack)
           : pack->flag_type == VSCAN_BYTE ? launch_flags_to_offsets<uint8_t>(launch, pack)
                                           : launch_flags_to_offsets<int32_t>(launch, pack);
}
