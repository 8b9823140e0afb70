/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The flag warps of scan/large/large.cuh: they convert a tile's head flags to bits in scan order, one an
 * element.
 *
 * Each warp copies chunks of flags to shared memory, some of them ahead, and converts them as soon
 * as the tile has been taken. So the bits are ready before the elements arrive. (Scans whose
 * reduction warps read the flags themselves waited for them, and ran at half the speed.) Int flags
 * are prefetched two chunks ahead; with a whole tile of them prefetched, elements arrive later.
 *
 * Where a tile's flags begin at a multiple of 16 bytes, the bits of backward scans are written in
 * scan order at once; else they are put in order when the tile is complete.
 *
 * Bits that are in scan order already are copied: those of scan/large/head_bits.cuh, and the caller's bit
 * flags in forward scans where they begin at a multiple of 16 bytes.
 *
 * Shared memory: two chunks a warp, and heads[stage], complete when all flag warps have arrived at
 * heads_ready.
 */
#pragma once

#include "scan/large/roles.cuh"
#include "elements/vectors.cuh"

namespace vscan {

#ifdef VSCAN__TMA

/* The flags of a tile in memory. */
struct tile_flags {
    uintptr_t from; /* a multiple of 16 */
    int bytes;      /* a multiple of 16 */
    int bits;       /* between from and the first flag */
    bool whole;     /* all bytes are inside of the flag array */
};

/* The parts of a tile's flags, and of its bits. */
template <class Pair, bool Segmented>
struct tile_flag_bits : large_role<Pair, Segmented> {
    using common = large_role<Pair, Segmented>;
    using shape = large_shape<Pair, Segmented>;
    static constexpr int flag_warps = shape::flag_warps;
    using common::a, common::lane;

    static __device__ void sync_flag_warps() { sync_warps<2, 32 * flag_warps>(); }

    static __device__ uintptr_t down(uintptr_t x) { return x & ~(uintptr_t)15; }
    static __device__ uintptr_t up(uintptr_t x) { return down(x + 15); }

    __device__ uintptr_t begin() const { return (uintptr_t)a.scan.flags; }
    __device__ uintptr_t end(int log_bits) const {
        return begin() + (log_bits == 0 ? (a.scan.n + 31) / 32 * 4 : a.scan.n << log_bits >> 3);
    }

    /* Position i of the scan has flag i, or n - i where the scan is backward. */
    __device__ tile_flags flags_of(int64_t tile, int log_bits) const {
        const int64_t i = tile * shape::items;
        const int64_t bits = (a.scan.backward ? a.scan.n - i - (shape::items - 1) : i) << log_bits;
        const uintptr_t to = up(begin() + ((bits + (shape::items << log_bits) + 7) >> 3));
        tile_flags x;
        x.from = down(begin() + (bits >> 3));
        x.bytes = (int)(to - x.from);
        x.bits = (int)((int64_t)(begin() - x.from) * 8 + bits);
        x.whole = begin() <= x.from && to <= end(log_bits);
        return x;
    }

    /*
     * Starts the copy of chunk j of a tile's flags, of Size bytes; the last chunk also has the rest
     * of the tile. Bytes outside of the flag array are left as they are. A vector of 16 bytes that
     * is only partly inside is copied by bytes.
     */
    template <int Log_bits, unsigned Size, unsigned Chunks>
    __device__ void ask(char *to, const tile_flags &x, unsigned j) const {
        const int o = 16 * lane;
        const int more = j == Chunks - 1 ? x.bytes - (int)(Chunks * Size) : 0;
        const char *const from = (const char *)x.from + (j * Size + o);
        to += o;
        if (x.whole) {
            UNROLL_FOR (unsigned k = 0; k < Size; k += 16 * 32)
                if (Size % (16 * 32) == 0 || o + k < Size) async_copy_16(to + k, from + k);
            if (o < more) async_copy_16(to + Size, from + Size);
        } else {
            const uintptr_t first = begin(), last = end(Log_bits);
            ROLLED_FOR (int k = 0; k < (int)Size + more - o; k += 16 * 32) {
                const uintptr_t vector = (uintptr_t)from + k;
                if (first <= vector && vector + 16 <= last) {
                    async_copy_16(to + k, from + k);
                } else if (first < vector + 16 && vector < last) {
                    ROLLED_FOR (int j = 0; j < 16; ++j)
                        if (first <= vector + j && vector + j < last) to[k + j] = from[k + j];
                }
            }
        }
        commit_async_copies();
    }

    /* Converts a chunk's flags to bits, from bit `at` on in memory order, or reversed. */
    template <int Log_bits>
    __device__ void make_bits(const char *flags, int bytes, uint32_t *tile_bits, int at,
                              bool reversed) const {
        if (Log_bits == 5) { /* 16 flags a lane. Lanes begin with different vectors: 8 lanes read
                                without bank conflicts. */
            const int4 *const vectors = (const int4 *)flags;
            const int rotation = lane >> 1 & 3;
            ROLLED_FOR (int h = lane; 64 * h < bytes; h += 32) {
                int4 x[4];
                uint32_t bits = 0;
                UNROLL_FOR (int j = 0; j < 4; ++j) x[j] = vectors[4 * h + (j ^ rotation)];
                UNROLL_FOR (int j = 0; j < 4; ++j) bits |= bits_of_ints(x[j]) << 4 * (j ^ rotation);
                const int half = at / 16 + h;
                if (reversed)
                    ((uint16_t *)tile_bits)[shape::items / 16 - 1 - half] =
                        (uint16_t)(__brev(bits) >> 16);
                else
                    ((uint16_t *)tile_bits)[half] = (uint16_t)bits;
            }
        } else if (Log_bits == 3) {
            const int4 *const vectors = (const int4 *)flags;
            ROLLED_FOR (int w = lane; 32 * w < bytes; w += 32) {
                uint32_t raw[8];
                const int4 low = vectors[2 * w], high = vectors[2 * w + 1];
                memcpy(raw, &low, 16);
                memcpy(raw + 4, &high, 16);
                write_bits(tile_bits, at / 32 + w, bits_of_words<8>(raw), reversed);
            }
        } else {
#pragma unroll 4
            for (int w = lane; 4 * w < bytes; w += 32)
                write_bits(tile_bits, at / 32 + w, ((const uint32_t *)flags)[w], reversed);
        }
    }

    static __device__ void write_bits(uint32_t *tile_bits, int w, uint32_t bits, bool reversed) {
        if (reversed)
            tile_bits[shape::items / 32 - 1 - w] = __brev(bits);
        else
            tile_bits[w] = bits;
    }

    /* Words of bits in memory order become tile_bits in scan order; the first flag is bit `at`. */
    __device__ void put_in_order(int flag_warp, uint32_t *tile_bits, int at) const {
        constexpr int all = shape::items / 32, count = (all / 32 + flag_warps - 1) / flag_warps;
        uint32_t mine[count];                     /* of a lane */
        const int lane = made_here(common::lane); /* else what depends on it is kept, and spilled */
        UNROLL_FOR (int r = 0; r < count; ++r) {
            const int w = (r * flag_warps + flag_warp) * 32 + lane;
            const int from = at + (a.scan.backward ? shape::items - 32 * (w + 1) : 32 * w);
            if (w >= all) continue;
            mine[r] = __funnelshift_r(tile_bits[from / 32], tile_bits[from / 32 + 1],
                                      (unsigned)from % 32);
            if (a.scan.backward) mine[r] = __brev(mine[r]);
        }
        sync_flag_warps();
        UNROLL_FOR (int r = 0; r < count; ++r) {
            const int w = (r * flag_warps + flag_warp) * 32 + lane;
            if (w < all) tile_bits[w] = mine[r];
        }
        sync_flag_warps();
    }

    /* Position 0 begins a segment. No segment begins beyond the vector, which ends at position
       n. */
    __device__ void trim_ends(int flag_warp, uint32_t *tile_bits, int64_t tile, int64_t n) const {
        ROLLED_FOR (int w = flag_warp * 32 + lane; w < shape::items / 32; w += 32 * flag_warps) {
            if (tile == 0 && w == 0) tile_bits[w] |= 1;
            if (32 * w + 32 > n) tile_bits[w] &= n > 32 * w ? ~(~0u << (n - 32 * w)) : 0;
        }
    }

    /* Whether the element after a tile begins a segment. */
    __device__ uint32_t head_after(int64_t tile) const {
        const int64_t i = (tile + 1) * shape::items;
        return i < a.scan.n ? head_at(a.scan, i) : 0;
    }

    /* The chunk with index j in scan order. */
    __device__ unsigned in_scan_order(unsigned j, unsigned chunks) const {
        return a.scan.backward ? chunks - 1 - j : j;
    }
};

/* The flag warps. */
template <class Pair, bool Segmented>
struct flag_bit_warps : tile_flag_bits<Pair, Segmented> {
    using bits = tile_flag_bits<Pair, Segmented>;
    using shape = large_shape<Pair, Segmented>;
    static constexpr int slots = shape::flag_slots, flag_warps = shape::flag_warps;
    using bits::a, bits::b, bits::flags_of, bits::head_after, bits::heads_of, bits::in_scan_order,
        bits::lane, bits::put_in_order, bits::shared, bits::stage_of, bits::sync_flag_warps,
        bits::tile_of, bits::tiles, bits::trim_ends, bits::with_totals;

    /* Whether tile k has been taken. */
    __device__ bool is_taken(int k) const { return __all_sync(warp_mask, shared.taken.test(k)); }

    template <int Log_bits>
    __device__ void convert_tiles(int flag_warp) const {
        constexpr unsigned all = (shape::items << Log_bits) / 8;
        constexpr unsigned size = all / 4 < shape::flag_bytes ? all / 4 : shape::flag_bytes;
        constexpr unsigned chunks =
            all / size; /* of a tile; chunk j belongs to warp j modulo flag_warps */
        const unsigned mine = (chunks - 1 - (unsigned)flag_warp) / flag_warps + 1;
        const auto slot = [&](unsigned c) { return shared.flags[flag_warp * slots + c % slots]; };
        tile_flags asking = {};
        int ahead = 0;             /* the tile of the next chunk to copy */
        unsigned next = 0;         /* that chunk's index among the warp's in the tile */
        unsigned asked = 0, c = 0; /* chunks of the warp: copies started; converted */
        for (int k = 0;; ++k) {
            const int64_t tile = tile_of(k);
            if (tile >= tiles()) return;
            const int stage = stage_of(k);
            const tile_flags x = flags_of(tile, Log_bits);
            const bool reversed = a.scan.backward;
            const bool in_order = x.bits == 0; /* as soon as all are converted */
            uint32_t *const tile_bits = shared.heads[stage];
            const uint32_t after =
                flag_warp == 0 && lane == 0 && with_totals() ? head_after(tile) : 0;
            ROLLED_FOR (unsigned i = 0; i < mine; ++i, ++c) {
                ROLLED_FOR (; asked < c + slots;
                            ++asked) { /* as far ahead as tiles have been taken */
                    if (next == 0) {
                        if (ahead > k && !is_taken(ahead)) break;
                        const int64_t to_come = tile_of(ahead);
                        if (to_come >= tiles()) break;
                        asking = flags_of(to_come, Log_bits);
                    }
                    if (Log_bits == 5 && asking.whole) {
                        const unsigned j =
                            (next + shape::flags_ahead) * flag_warps + (unsigned)flag_warp;
                        if (lane < (int)size / 128 && j < chunks)
                            prefetch_line((char *)asking.from + in_scan_order(j, chunks) * size +
                                          lane * 128);
                    }
                    this->template ask<Log_bits, size, chunks>(
                        slot(asked), asking,
                        in_scan_order(next * flag_warps + (unsigned)flag_warp, chunks));
                    if (++next == mine) {
                        next = 0;
                        ++ahead;
                    }
                }
                wait_async_copies((int)(asked - c - 1));
                __syncwarp();
                const unsigned j = in_scan_order(i * flag_warps + (unsigned)flag_warp, chunks);
                this->template make_bits<Log_bits>(
                    slot(c), j == chunks - 1 ? x.bytes - (int)(j * size) : (int)size, tile_bits,
                    (int)(j * (size * 8 >> Log_bits)), in_order && reversed);
                __syncwarp(); /* all lanes have read the chunk */
            }
            const int64_t same = shared.taken.known(k); /* `tile`, read again: else it is spilled */
            const int64_t n = a.scan.n - same * shape::items;
            const bool ends = same == 0 || n < shape::items;
            if (!in_order || ends) sync_flag_warps();
            if (!in_order) put_in_order(flag_warp, tile_bits, x.bits >> Log_bits);
            if (ends) trim_ends(flag_warp, tile_bits, same, n);
            if (flag_warp == 0 && lane == 0) tile_bits[shape::items / 32] = after;
            shared.heads_ready.arrive(k);
        }
    }

    /* Copies bits that are in scan order already. Those of scan/large/head_bits.cuh lie where TMA will
       store the tile's results, hence the fence. The caller's own need the first and the last
       tile corrected, and nothing is read beyond the last one. (The correction does not harm
       those of head_bits.cuh.) */
    __device__ void copy_tiles(int flag_warp) const {
        const bool own = a.scan.flag_type == VSCAN_BIT;
        for (int k = 0;; ++k) {
            const int64_t tile = tile_of(k);
            if (tile >= tiles()) return;
            uint32_t *const tile_bits = shared.heads[stage_of(k)];
            const char *const from = heads_of(tile);
            const int64_t n = a.scan.n - tile * shape::items;
            const bool ends = own && (tile == 0 || n < shape::items);
            const int bytes = own && n < shape::items ? ((int)n + 31) / 32 * 4 : shape::items / 8;
            ROLLED_FOR (int o = 16 * (flag_warp * 32 + lane); o < bytes;
                        o += 16 * 32 * flag_warps) {
                if (o + 16 <= bytes) {
                    async_copy_16((char *)tile_bits + o, from + o);
                } else {
                    ROLLED_FOR (int j = o; j < bytes; j += 4)
                        tile_bits[j / 4] = *(const uint32_t *)(from + j);
                }
            }
            commit_async_copies();
            if (flag_warp == 0 && lane == 0)
                tile_bits[shape::items / 32] = with_totals() ? head_after(tile) : 0;
            wait_async_copies(0);
            if (ends) {
                sync_flag_warps();
                trim_ends(flag_warp, tile_bits, tile, n);
            }
            fence_for_tma_stores();
            shared.heads_ready.arrive(k);
        }
    }

    __device__ void make_tile_bits(int flag_warp) const {
        if (b.heads.first != nullptr)
            copy_tiles(flag_warp);
        else if (a.scan.flag_type == VSCAN_INT)
            convert_tiles<5>(flag_warp);
        else if (a.scan.flag_type == VSCAN_BYTE)
            convert_tiles<3>(flag_warp);
        else
            convert_tiles<0>(flag_warp);
    }
};

#endif

} /* namespace vscan */
