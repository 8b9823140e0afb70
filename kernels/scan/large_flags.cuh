/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Markers of scan/large.cuh: a tile's head flags become bits, one an element, in scan order.
 *
 * Warps of their own copy flags of any form to shared memory in chunks, each some ahead, and turn them
 * into bits as soon as a tile has been taken, so that the bits are there before the elements are:
 * reduction_warps that read flags themselves waited for them, and scans ran at half the speed. Memory is
 * asked for int flags two chunks ahead: for all of a tile at once, elements would come later.
 *
 * Where a tile's flags begin at a multiple of 16 bytes, bits of backward scans are in scan order at
 * once, else when all of the tile have been made.
 *
 * Bits that are in scan order already are copied: those that a kernel before this one has made
 * (scan/head_bits.cuh), and the caller's own in forward scans, where they begin at a multiple of 16 bytes.
 */
#ifndef VSCAN_SCAN_LARGE_FLAGS_CUH
#define VSCAN_SCAN_LARGE_FLAGS_CUH

#include "scan/large_roles.cuh"
#include "common/vectors.cuh"

namespace vscan {

#ifdef VSCAN__TMA

/* The flags of a tile in memory. */
struct tile_flags {
    uintptr_t from; /* a multiple of 16 */
    int bytes;      /* so is this */
    int bits;       /* between from and the first flag */
    bool whole;     /* all bytes are the vector's */
};

template <class Pair, bool Segmented>
struct flag_roles : large_role<Pair, Segmented> {
    using common = large_role<Pair, Segmented>;
    using shape = large_shape<Pair, Segmented>;
    static constexpr int slots = shape::flag_slots, flag_warps = shape::flag_warps;
    using common::a;
    using common::b;
    using common::heads_of;
    using common::lane;
    using common::shared;
    using common::stage_of;
    using common::tile_of;
    using common::tiles;
    using common::with_totals;

    static __device__ void sync_flag_warps() { meet_warps<2, 32 * flag_warps>(); }

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
     * Asks for chunk j of a tile's flags, of Size bytes; the last one has the rest too. What is not in
     * the vector stays as it was; a piece of 16 bytes that is only partly in it is copied by bytes.
     */
    template <int Log_bits, unsigned Size, unsigned Chunks>
    __device__ void ask(char *to, const tile_flags &x, unsigned j) const {
        const int o = 16 * lane;
        const int more = j == Chunks - 1 ? x.bytes - (int)(Chunks * Size) : 0;
        const char *const from = (const char *)x.from + (j * Size + o);
        to += o;
        if (x.whole) {
#pragma unroll
            for (unsigned k = 0; k < Size; k += 16 * 32)
                if (Size % (16 * 32) == 0 || o + k < Size) copy_piece(to + k, from + k);
            if (o < more) copy_piece(to + Size, from + Size);
        } else {
            const uintptr_t first = begin(), last = end(Log_bits);
#pragma unroll 1
            for (int k = 0; k < (int)Size + more - o; k += 16 * 32) {
                const uintptr_t piece = (uintptr_t)from + k;
                if (first <= piece && piece + 16 <= last) {
                    copy_piece(to + k, from + k);
                } else if (first < piece + 16 && piece < last) {
#pragma unroll 1
                    for (int j = 0; j < 16; ++j)
                        if (first <= piece + j && piece + j < last) to[k + j] = from[k + j];
                }
            }
        }
        end_of_pieces();
    }

    /* A chunk's flags become bits, from bit at on in the order of memory, or turned round. */
    template <int Log_bits>
    __device__ void make_bits(const char *flags, int bytes, uint32_t *words, int at,
                              bool turned) const {
        if (Log_bits == 5) { /* 16 flags a lane at a time, and others first in another lane: 8 lanes
                                meet in no bank */
            const int4 *const pieces = (const int4 *)flags;
            const int turn = lane >> 1 & 3;
#pragma unroll 1
            for (int h = lane; 64 * h < bytes; h += 32) {
                int4 x[4];
                uint32_t bits = 0;
#pragma unroll
                for (int j = 0; j < 4; ++j) x[j] = pieces[4 * h + (j ^ turn)];
#pragma unroll
                for (int j = 0; j < 4; ++j) bits |= bits_of_ints(x[j]) << 4 * (j ^ turn);
                const int half = at / 16 + h;
                if (turned)
                    ((uint16_t *)words)[shape::items / 16 - 1 - half] =
                        (uint16_t)(__brev(bits) >> 16);
                else
                    ((uint16_t *)words)[half] = (uint16_t)bits;
            }
        } else if (Log_bits == 3) {
            const int4 *const pieces = (const int4 *)flags;
#pragma unroll 1
            for (int w = lane; 32 * w < bytes; w += 32) {
                uint32_t raw[8], bits = 0;
                const int4 low = pieces[2 * w], high = pieces[2 * w + 1];
                memcpy(raw, &low, 16);
                memcpy(raw + 4, &high, 16);
#pragma unroll
                for (int j = 7; j >= 0; --j) bits = push_bytes(bits, raw[j]);
                write_word(words, at / 32 + w, bits, turned);
            }
        } else {
#pragma unroll 4
            for (int w = lane; 4 * w < bytes; w += 32)
                write_word(words, at / 32 + w, ((const uint32_t *)flags)[w], turned);
        }
    }

    static __device__ void write_word(uint32_t *words, int w, uint32_t bits, bool turned) {
        if (turned)
            words[shape::items / 32 - 1 - w] = __brev(bits);
        else
            words[w] = bits;
    }

    /* Words of bits in the order of memory become words in scan order, the first one at bit at. */
    __device__ void put_in_order(int flag_warp, uint32_t *words, int at) const {
        constexpr int all = shape::items / 32, count = (all / 32 + flag_warps - 1) / flag_warps;
        uint32_t mine[count];                     /* of a lane */
        const int lane = made_here(common::lane); /* what comes of it would be kept, and spilled */
#pragma unroll
        for (int r = 0; r < count; ++r) {
            const int w = (r * flag_warps + flag_warp) * 32 + lane;
            const int from = at + (a.scan.backward ? shape::items - 32 * (w + 1) : 32 * w);
            if (w >= all) continue;
            mine[r] = __funnelshift_r(words[from / 32], words[from / 32 + 1], (unsigned)from % 32);
            if (a.scan.backward) mine[r] = __brev(mine[r]);
        }
        sync_flag_warps();
#pragma unroll
        for (int r = 0; r < count; ++r) {
            const int w = (r * flag_warps + flag_warp) * 32 + lane;
            if (w < all) words[w] = mine[r];
        }
        sync_flag_warps();
    }

    /* Position 0 begins a segment; none begins beyond the vector, which ends at position n. */
    __device__ void mark_ends(int flag_warp, uint32_t *words, int64_t tile, int64_t n) const {
#pragma unroll 1
        for (int w = flag_warp * 32 + lane; w < shape::items / 32; w += 32 * flag_warps) {
            if (tile == 0 && w == 0) words[w] |= 1;
            if (32 * w + 32 > n) words[w] &= n > 32 * w ? ~(~0u << (n - 32 * w)) : 0;
        }
    }

    /* Whether the element after a tile begins a segment. */
    __device__ uint32_t head_after(int64_t tile) const {
        const int64_t i = (tile + 1) * shape::items;
        return i < a.scan.n ? head_at(a.scan, i) : 0;
    }

    /* The chunk that comes as number j in the order of the scan, as the elements do. */
    __device__ unsigned in_scan_order(unsigned j, unsigned chunks) const {
        return a.scan.backward ? chunks - 1 - j : j;
    }

    /* Whether tile k has been taken. */
    __device__ bool is_taken(int k) const {
        return __all_sync(all_lanes,
                          barrier_test(&shared.taken[k % shape::numbers], k / shape::numbers & 1));
    }

    template <int Log_bits>
    __device__ void mark_all(int flag_warp) const {
        constexpr unsigned all = (shape::items << Log_bits) / 8;
        constexpr unsigned size = all / 4 < shape::flag_bytes ? all / 4 : shape::flag_bytes;
        constexpr unsigned chunks =
            all / size; /* of a tile; chunk j by flag_warp j modulo flag_warps */
        const unsigned mine = (chunks - 1 - (unsigned)flag_warp) / flag_warps + 1;
        const auto slot = [&](unsigned c) { return shared.flags[flag_warp * slots + c % slots]; };
        tile_flags asking = {};
        int ahead = 0;             /* the tile of the chunk to be asked for */
        unsigned next = 0;         /* that chunk's number in the tile, over flag_warps */
        unsigned asked = 0, c = 0; /* chunks of the flag_warp */
        for (int k = 0;; ++k) {
            const int64_t tile = tile_of(k);
            if (tile >= tiles()) return;
            const int stage = stage_of(k);
            const tile_flags x = flags_of(tile, Log_bits);
            const bool turned = a.scan.backward;
            const bool in_order = x.bits == 0; /* once made, turned or not */
            uint32_t *const words = shared.heads[stage];
            const uint32_t after =
                flag_warp == 0 && lane == 0 && with_totals() ? head_after(tile) : 0;
#pragma unroll 1
            for (unsigned i = 0; i < mine; ++i, ++c) {
#pragma unroll 1
                for (; asked < c + slots; ++asked) { /* as far ahead as is known what comes */
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
                    ask<Log_bits, size, chunks>(
                        slot(asked), asking,
                        in_scan_order(next * flag_warps + (unsigned)flag_warp, chunks));
                    if (++next == mine) {
                        next = 0;
                        ++ahead;
                    }
                }
                wait_for_pieces((int)(asked - c - 1));
                __syncwarp();
                const unsigned j = in_scan_order(i * flag_warps + (unsigned)flag_warp, chunks);
                make_bits<Log_bits>(slot(c),
                                    j == chunks - 1 ? x.bytes - (int)(j * size) : (int)size, words,
                                    (int)(j * (size * 8 >> Log_bits)), in_order && turned);
                __syncwarp(); /* all have read the chunk */
            }
            const int64_t n = a.scan.n - tile * shape::items;
            const bool ends = tile == 0 || n < shape::items;
            if (!in_order || ends) sync_flag_warps();
            if (!in_order) put_in_order(flag_warp, words, x.bits >> Log_bits);
            if (ends) mark_ends(flag_warp, words, tile, n);
            if (flag_warp == 0 && lane == 0) words[shape::items / 32] = after;
            barrier_arrive_at(&shared.marked[stage]);
        }
    }

    /* Bits that are in scan order go straight to where they belong. Made ones lie where the tile's
       results will be stored, by copies of another kind: hence the fence. Of the caller's own (and it
       does no harm to those made of them), the first and the last tile's have to be seen to, and
       beyond the last nothing is read. */
    __device__ void copy_all(int flag_warp) const {
        const bool own = a.scan.flag_type == VSCAN_BIT;
        for (int k = 0;; ++k) {
            const int64_t tile = tile_of(k);
            if (tile >= tiles()) return;
            uint32_t *const words = shared.heads[stage_of(k)];
            const char *const from = heads_of(tile);
            const int64_t n = a.scan.n - tile * shape::items;
            const bool ends = own && (tile == 0 || n < shape::items);
            const int bytes = own && n < shape::items ? ((int)n + 31) / 32 * 4 : shape::items / 8;
#pragma unroll 1
            for (int o = 16 * (flag_warp * 32 + lane); o < bytes; o += 16 * 32 * flag_warps) {
                if (o + 16 <= bytes) {
                    copy_piece((char *)words + o, from + o);
                } else {
#pragma unroll 1
                    for (int j = o; j < bytes; j += 4) words[j / 4] = *(const uint32_t *)(from + j);
                }
            }
            end_of_pieces();
            if (flag_warp == 0 && lane == 0)
                words[shape::items / 32] = with_totals() ? head_after(tile) : 0;
            wait_for_pieces(0);
            if (ends) {
                sync_flag_warps();
                mark_ends(flag_warp, words, tile, n);
            }
            fence_for_tma_stores();
            barrier_arrive_at(&shared.marked[stage_of(k)]);
        }
    }

    __device__ void mark_tiles(int flag_warp) const {
        if (b.heads.first != nullptr)
            copy_all(flag_warp);
        else if (a.scan.flag_type == VSCAN_INT)
            mark_all<5>(flag_warp);
        else if (a.scan.flag_type == VSCAN_BYTE)
            mark_all<3>(flag_warp);
        else
            mark_all<0>(flag_warp);
    }
};

#endif

} /* namespace vscan */

#endif
