/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The positions of set flags; or where segments begin: the first flag counts as set then, and n follows.
 * One pass over flags of any type.
 *
 * A block owns the tiles that it takes by ticket (protocol/chained_tiles.cuh): up to 64 KiB of flags
 * or, of bits, 32 KiB. The aggregate of a tile is the number of its flags. Of the tile in hand,
 * each warp has the places of its flags in shared memory (40 KiB in all), if there are at most
 * flag_places of them. Relaxed order is enough, because a status word has value and epoch in one
 * access (kernels/README.md).
 */
#include "protocol/chained_tiles.cuh"
#include "segments/flags_to_offsets.cuh"

namespace vscan {

/* ---- Kernel ---------------------------------------------------------------------------------- */

template <class Flag>
struct flags_to_offsets_kernel : chained_kernel {
    using shape = flags_shape<Flag>;
    static constexpr int Lines = shape::lines, Each = shape::each, Pairs = (Lines + 1) / 2;
    static constexpr int ticket_warp = 0;

    struct shared_memory {
        __align__(16) uint16_t staged[flag_warps][flag_places];
        __align__(16) uint16_t scratch[flag_warps][256];
        uint32_t counts[flag_warps];
        int64_t sums[flag_warps]; /* the warps' shares of the look-back */
    };

    const flags_to_offsets_arguments &a;
    shared_memory &shared;
    const int64_t n = a.pack.n;
    const int warps = blockDim.x / 32;
    const int share_flags = a.lines * 1024 * Each; /* of a warp */
    const int64_t items = (int64_t)warps * share_flags;
    const int tiles = (int)((n + a.shift + items - 1) / items);
    uint16_t *const staged = shared.staged[warp], *const scratch = shared.scratch[warp];

    /* the next tile: its flag words; flags in the lanes before this one, and in all, 16 bits a line
       */
    uint32_t x[Lines][Each], befores[Pairs], totals[Pairs];
    /* flags of the warp, of the warps before it, of the tile: the next tile, and the tile in hand
       */
    uint32_t next_own = 0, next_place = 0, next_all = 0, own = 0, place = 0, all = 0;
    int64_t before = 0; /* flags before the tile in hand */

    DEVICE flags_to_offsets_kernel(const flags_to_offsets_arguments &a, shared_memory &shared)
        : a(a), shared(shared) {}

    DEVICE warp_share share_of(int64_t tile) const {
        const int64_t first = tile * items - a.shift + warp * share_flags, left = n - first;
        return {first, first < 0 ? (int)-first : 0,
                left < share_flags ? left > 0 ? (int)left : 0 : share_flags};
    }

    /* The first flag in its word, if it counts as set. */
    DEVICE uint32_t first_flag() const { return (uint32_t)a.pack.first_is_set << a.shift % 32; }

    DEVICE enum ticket_time ticket_time() const { return after_look_back; }
    DEVICE void prefetch(int tile, bool first) const {
        if (first) return; /* prefetched before there was a ticket */
        if (tile >= tiles) launch_dependents();
#ifdef VSCAN__TMA
        if (((int64_t)tile + 1) * items - a.shift <= n) {
            const int64_t bits = map_bits(a.pack.flag_type);
            tma_prefetch((const char *)a.pack.flags + (tile * items - a.shift) * bits / 8,
                         (uint32_t)(items * bits / 8));
        }
#endif
    }

    DEVICE void count(int next) {
        load_flag_words<Flag>(x, a, share_of(next), 0, a.lines, scratch);
        if constexpr (Each > 1) { /* no branch, or the flag words would be in local memory */
            const uint32_t first = next == 0 && threadIdx.x == 0 ? first_flag() : 0;
            UNROLL_FOR (int j = 0; j < Each; ++j) x[0][j] |= a.shift / 32 == j ? first : 0;
        } else if (next == 0 && threadIdx.x == 0) {
            if (a.shift / 32 == 0) x[0][0] |= first_flag();
        }
        next_own = 0;
        UNROLL_FOR (int p = 0; p < Pairs; ++p) {
            uint32_t flags = 0;
            UNROLL_FOR (int r = 2 * p; r < 2 * p + 2 && r < Lines; ++r)
                UNROLL_FOR (int j = 0; j < Each; ++j)
                    flags += (uint32_t)__popc(x[r][j]) << 16 * (r & 1);
            const uint32_t upto = warp_inclusive_sum(flags);
            befores[p] = upto - flags;
            totals[p] = __shfl_sync(warp_mask, upto, 31);
            next_own += (totals[p] & 0xffff) + (totals[p] >> 16);
        }
        if (lane == 0) shared.counts[warp] = next_own;
    }

    DEVICE void publish(const chained_launch &launch, int next) {
        const uint32_t flags = lane < warps ? shared.counts[lane] : 0;
        const uint32_t upto = warp_inclusive_sum(flags);
        next_place = __shfl_sync(warp_mask, upto - flags, warp);
        next_all = __shfl_sync(warp_mask, upto, 31);
        if (threadIdx.x == 0) launch.publish(next, next_all);
    }

    DEVICE void look_back(const chained_launch &launch, int seen, int tile) {
        launch.sum_by_warps<uint32_t>(shared.sums, seen, tile, (int)blockDim.x);
    }

    DEVICE void write(int tile) {
        before += warp_sum(lane < warps ? shared.sums[lane] : 0);
        const warp_share share = share_of(tile);
        const int64_t at = before + place;
        const bool first_set = tile == 0 && a.pack.first_is_set != 0;
        if constexpr (Each == 1)
            write_lines(share, at, first_set);
        else if (own <= flag_places)
            write_staged(a, staged, own, at, share.first);
        else
            write_again(a, share, a.lines * Each, at, first_set, (uint2 *)scratch);
        if (tile == tiles - 1 && threadIdx.x == 0) write_end(before + all);
    }

    /* Writes the places that are staged or, if these are too many, reads the flags once more and
       stages and writes them line by line. */
    DEVICE void write_lines(const warp_share &share, int64_t at, bool first_set) {
        const bool are_staged = own <= flag_places;
        const int lines = are_staged ? 1 : a.lines;
        ROLLED_FOR (int r = 0; r < lines; ++r) {
            uint32_t count = own;
            if (!are_staged) {
                uint32_t y[1][1];
                load_flag_words<Flag>(y, a, share, r, a.lines, scratch);
                if (first_set && r == 0 && (int)threadIdx.x == a.shift / 32)
                    y[0][0] |= 1u << a.shift % 32;
                const uint32_t flags = (uint32_t)__popc(y[0][0]), upto = warp_inclusive_sum(flags);
                count = __shfl_sync(warp_mask, upto, 31);
                if (__any_sync(warp_mask, flags > dense_flags))
                    stage_dense(y[0][0], r * 1024, upto - flags, staged);
                else
                    stage_sparse<1>(y[0], (r * 32 + lane) * 32, upto - flags, staged);
            }
            write_staged(a, staged, count, at, share.first);
            at += count;
        }
    }

    /* By one thread: the number of positions, and of segments n after the last one. */
    DEVICE void write_end(int64_t count) const {
        const int64_t needed = count + a.pack.first_is_set;
        if (a.pack.count != nullptr) *a.pack.count = count;
        if (needed <= a.pack.length) {
            if (a.pack.first_is_set == 0) return;
            if (a.pack.type == VSCAN_INT)
                ((int32_t *)a.pack.out)[count] = (int32_t)n;
            else
                ((int64_t *)a.pack.out)[count] = n;
        } else if (*(volatile int32_t *)&a.late->status == VSCAN_OK) {
            *(volatile int64_t *)&a.late->at = needed;
            *(volatile int32_t *)&a.late->status = VSCAN_ERROR_OUT_LENGTH;
        }
    }

    /* Before barrier (3), while the ticket is on its way. */
    DEVICE void keep() {
        if (next_own <= flag_places) {
            uint32_t at = 0;
            UNROLL_FOR (int r = 0; r < Lines; ++r) {
                const uint32_t rank = at + (befores[r / 2] >> 16 * (r & 1) & 0xffff);
                if (Each == 1 && __any_sync(warp_mask, __popc(x[r][0]) > dense_flags))
                    stage_dense(x[r][0], r * 1024, rank, staged);
                else
                    stage_sparse<Each>(x[r], (r * 32 + lane) * 32 * Each, rank, staged);
                at += totals[r / 2] >> 16 * (r & 1) & 0xffff;
            }
        }
        own = next_own;
        place = next_place;
        all = next_all;
    }
};

template <class Flag>
__global__ void __launch_bounds__(32 * flag_warps, flag_blocks)
    flags_to_offsets(const __grid_constant__ flags_to_offsets_arguments a) {
    using kernel = flags_to_offsets_kernel<Flag>;
    __shared__ typename kernel::shared_memory shared;
    /* a block's first tile has a line of 128 bytes for each thread */
    const int64_t ahead = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) * 128;
    if (ahead < a.pack.n * map_bits(a.pack.flag_type) / 8)
        prefetch_line((const char *)a.pack.flags + ahead);
    grid_dependency_wait(false);
    kernel offsets(a, shared);
    chain_tiles(offsets, a.lookback, offsets.tiles);
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
    /* Smaller tiles and blocks where some multiprocessors would have none. */
    a.lines = shape::lines;
    int warps = flag_warps;
    const auto tiles_of = [&] {
        const int64_t items = (int64_t)warps * a.lines * 1024 * shape::each;
        return (pack->n + a.shift + items - 1) / items;
    };
    while (a.lines > 1 && tiles_of() < launch->multiprocessors * 3 / 2) a.lines /= 2;
    while (warps > 4 && tiles_of() < launch->multiprocessors) warps /= 2;
    const int64_t resident = (int64_t)flag_blocks * launch->multiprocessors, tiles = tiles_of();
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
