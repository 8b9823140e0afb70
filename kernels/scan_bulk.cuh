/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scans and segmented scans of long vectors on sm_90 and later, at the speed of memory: whole tiles
 * that pass through shared memory, in by one slot and out by another, with a tile in the registers
 * of the scanning warps between the two.
 *
 * One block lives on each multiprocessor. Its warps hand tiles on:
 *
 *   loader     takes a ticket (-> taken), and loads the tile by quarters              -> loaded[q]
 *   marker     segmented: makes the tile's head flags bits, one an element            -> marked[q]
 *   summers    sum groups of 32, publish the tile's aggregate, scan the groups         -> summed
 *   folder     folds the aggregates of all earlier tiles: P(t)                         -> folded
 *   scanners   read a row each (-> emptied[q]), scan it, wait for P, write it     -> staged_full[q]
 *   storer     stores the quarters                                               -> staged_empty[q]
 *
 * Each arrow is a barrier in shared memory (mbarrier); whoever waits at it sees all that was written
 * before it. Every thread that has read or written arrives, not one for its warp: that is no
 * slower, and compute-sanitizer's racecheck can follow it.
 *
 * A tile's time on a multiprocessor is its load, the wait for the slowest of the other blocks'
 * loads, and its results. Two slots to load into and the registers cover that: a slot is free again
 * as soon as the scanners have read it, long before P is known, and results leave by a slot of their
 * own.
 *
 * Nobody waits for another block's P, only for its aggregates. The folder adds them strictly from
 * left to right, 131 between two of a block's own tiles on an H200.
 *
 * Blocks need not be resident together: a block waits only for aggregates of tiles with smaller
 * tickets, and between a ticket and its aggregate there are a load and sums, which wait for nobody.
 */
#ifndef VSCAN_SCAN_BULK_CUH
#define VSCAN_SCAN_BULK_CUH

#include "bulk_tile.cuh"

namespace vscan {

struct bulk_arguments {
    scan_arguments rest;
    /* the vectors' whole tiles as rows, where their addresses are multiples of 16 bytes */
    bool in_rows, out_rows;
    CUtensorMap in, out;
};

#ifdef VSCAN__BULK

/*
 * P(to) from P(from), by the folder. All words are asked for at once, and then waited for 32 at a
 * time, so that what comes last meets a sum of everything before.
 */
template <class Pair, bool Segmented>
static __device__ typename Pair::U fold_tiles(typename Pair::U p, const word *words, uint32_t tag,
                                              int64_t from, int64_t to,
                                              typename Pair::U *aggregates, int lane) {
    using U = typename Pair::U;
    constexpr int per_lane = bulk_shape<Pair, Segmented>::fold_words;
    while (from < to) {
        U a[per_lane];
        uint32_t heads[per_lane];
        bool ready[per_lane];
        const auto ask = [&](int k) {
            const int64_t tile = from + 32 * k + lane;
            a[k] = Pair::identity;
            heads[k] = 0;
            ready[k] = tile >= to || unit_word<U>::read(words, tile, tag, &a[k], &heads[k]);
        };
#pragma unroll
        for (int k = 0; k < per_lane; ++k) ask(k);
        U sum = Pair::identity;
#pragma unroll
        for (int k = 0; k < per_lane; ++k) {
            if (from + 32 * k >= to) break;
            while (!__all_sync(all_lanes, ready[k]))
                if (!ready[k]) ask(k);
            if (Segmented) { /* what lies before the last tile with a head is of no account */
                const unsigned cut = __ballot_sync(all_lanes, heads[k] != 0);
                if (cut) {
                    if (lane < 31 - __clz(cut)) a[k] = Pair::identity;
                    sum = p = Pair::identity;
                }
            }
            if (Pair::in_any_order) {
                sum = Pair::combine(sum, a[k]);
                continue;
            }
            aggregates[lane] = a[k];
            __syncwarp();
            int4 quads[2 * sizeof(U)];
            U next[32]; /* identities beyond the last one change nothing */
#pragma unroll
            for (int q = 0; q < (int)(2 * sizeof(U)); ++q) quads[q] = ((const int4 *)aggregates)[q];
            memcpy(next, quads, sizeof next);
#pragma unroll
            for (int j = 0; j < 32; ++j) p = Pair::combine(p, next[j]);
            __syncwarp();
        }
        if (Pair::in_any_order) {
#pragma unroll
            for (int d = 16; d > 0; d /= 2)
                sum = Pair::combine(sum, __shfl_xor_sync(all_lanes, sum, d));
            p = Pair::combine(p, sum);
        }
        from = to - from < 32 * per_lane ? to : from + 32 * per_lane;
    }
    return p;
}

/* ---- The kinds of warps; k counts the block's tiles ------------------------------------------ */

template <class Pair, bool Segmented>
struct bulk_block {
    using T = typename Pair::T;
    using U = typename Pair::U;
    using shape = bulk_shape<Pair, Segmented>;
    static constexpr int R = shape::row_items;

    const bulk_arguments &b;
    const scan_arguments &a;
    typename shape::shared &shared;
    int64_t tiles;
    typename Pair::U initial, visible;
    bool carry; /* as in scan_units: the initial value is read before an aggregate is published */
    int lane;

    static __device__ int slot_of(int k) { return k % shape::slots; }
    static __device__ uint32_t slot_parity(int k) { return k / shape::slots & 1; }
    static __device__ int ring_of(int k) { return k % shape::rings; }
    static __device__ uint32_t ring_parity(int k) { return k / shape::rings & 1; }

    __device__ bool is_whole(int64_t tile) const { return (tile + 1) * shape::items <= a.scan.n; }

    /* The element in memory that a slot begins with; below 0: it begins with padding. */
    __device__ int64_t begin_of(int64_t tile) const {
        return a.scan.backward ? a.scan.n - (tile + 1) * shape::items : tile * shape::items;
    }
    /* A slot's quarter or row in memory, from its number in scan order. */
    __device__ int in_memory(int number, int count) const {
        return a.scan.backward ? count - 1 - number : number;
    }
    /* The row of the tensor map that a whole tile's quarter begins with. */
    __device__ int map_row(int64_t tile, int quarter) const {
        const int64_t whole = a.scan.n / shape::items;
        const int64_t at = a.scan.backward ? whole - 1 - tile : tile;
        return (int)(at * shape::rows) + quarter * shape::quarter_rows;
    }

    /* Waits until tile k has been taken, and says which it is. */
    __device__ int64_t tile_of(int k) const {
        barrier_wait(&shared.taken[k % shape::numbers], k / shape::numbers & 1);
        return shared.tile[k % shape::numbers];
    }

    /* ---- Loader ---- */

    __device__ int64_t take(bool first) const {
        ticket t = {0, 0};
        if (lane == 0) {
            t = take_ticket(a.header);
            if (t.index == tiles + gridDim.x - 1)
                end_tickets(a.header, a.words, a.capacity, tiles * unit_word<U>::words);
            if (first) shared.tag = t.tag;
        }
        return __shfl_sync(all_lanes, t.index, 0);
    }

    __device__ void load(int k, int64_t tile, int q) const {
        uint64_t *const barrier = &shared.loaded[slot_of(k)][q];
        const int quarter = in_memory(q, shape::quarters);
        T *const to = shared.slot[slot_of(k)] + quarter * shape::quarter_items;
        if (b.in_rows && is_whole(tile)) {
            if (lane != 0) return barrier_arrive_at(barrier);
            barrier_arrive_expecting(barrier, shape::quarter_items * sizeof(T));
            tensor_load(to, &b.in, map_row(tile, quarter), barrier);
            return;
        }
        const int64_t begin = begin_of(tile) + quarter * shape::quarter_items;
        const T *const from = (const T *)a.scan.in + begin;
        const int64_t low = -begin, high = a.scan.n - begin; /* what is not padding */
#pragma unroll 8
        for (int i = 0; i < shape::quarter_items / 32; ++i) {
            const int o = 32 * i + lane;
            if (low <= o && o < high)
                element_load(swizzled(to, o), from + o);
            else
                *swizzled(to, o) = Pair::out(Pair::identity);
        }
        if (is_whole(tile)) return element_loads_arrive_at(barrier);
        element_loads_wait();
        barrier_arrive_at(barrier);
    }

    __device__ void load_tiles() const {
        for (int k = 0;; ++k) {
            const int before = k - shape::slots; /* the tile whose slot this will be */
            /* A ticket takes some time to come, and makes those behind it wait from then on. */
            if (before > 0)
                barrier_wait(&shared.folded[ring_of(before - 1)], ring_parity(before - 1));
            const int64_t tile = take(k == 0);
#pragma unroll 1
            for (int q = 0; q < shape::quarters; ++q) {
                if (before >= 0) barrier_wait(&shared.emptied[slot_of(k)][q], slot_parity(before));
                if (tile < tiles) load(k, tile, q);
            }
            /* The scanners have finished tile k - 3: what is known of it may be overwritten. */
            if (lane == 0) {
                shared.tile[k % shape::numbers] = tile;
                barrier_arrive_at(&shared.taken[k % shape::numbers]);
            }
            if (tile >= tiles) return;
        }
    }

    /* ---- Marker: head flags as bits in scan order ---- */

    struct flag_source {
        const void *from; /* 16-byte aligned; NULL: flags have to be read one by one */
        uint32_t bytes;
        int skip; /* flags of from before the part's first one in memory */
    };

    /* The flags of the part that begins at position i. */
    __device__ flag_source flags_of(int64_t i) const {
        constexpr int items = shape::part_items;
        const vscan__scan &scan = a.scan;
        const int64_t first = scan.backward ? scan.n - i - (items - 1) : i;
        if (i == 0 || i + items > scan.n) return {nullptr, 0, 0};
        const int log_bits = scan.flag_type == VSCAN_INT ? 5 : scan.flag_type == VSCAN_BYTE ? 3 : 0;
        const uintptr_t base = (uintptr_t)scan.flags;
        const uintptr_t end = base + (scan.flag_type == VSCAN_BIT ? (scan.n + 31) / 32 * 4
                                                                  : scan.n << (log_bits - 3));
        const uintptr_t from = (base + (first << log_bits >> 3)) & ~(uintptr_t)15;
        const int64_t skip = first - ((int64_t)(from - base) * 8 >> log_bits);
        const uint32_t bytes = (uint32_t)(((skip + items) << log_bits) + 127) / 128 * 16;
        if (from < base || from + bytes > end) return {nullptr, 0, 0};
        return {(const void *)from, bytes, (int)skip};
    }

    /* The word of lane's group, where flags are read one by one. */
    __device__ uint32_t slow_word(int64_t i) const {
        uint32_t word = 0;
        i += lane * VSCAN__GROUP;
        if (lane >= shape::part_groups) return 0;
#pragma unroll 8
        for (int j = 0; j < VSCAN__GROUP; ++j)
            if (i + j < a.scan.n && (i + j == 0 || head_at(a.scan, i + j))) word |= 1u << j;
        return word;
    }

    template <class Flag>
    __device__ uint32_t word_of(const Flag *flags) const {
        uint32_t word = 0;
#pragma unroll
        for (int g = 0; g < shape::part_groups; ++g) {
            const int at = in_memory(g * VSCAN__GROUP + lane, shape::part_items);
            const uint32_t bits = __ballot_sync(all_lanes, flags[at] != 0);
            if (lane == g) word = bits;
        }
        return word;
    }

    __device__ uint32_t word_of_bits(const uint32_t *words, int skip) const {
        const int at =
            skip + in_memory(lane % shape::part_groups, shape::part_groups) * VSCAN__GROUP;
        const uint32_t word = __funnelshift_r(words[at / 32], words[(at + 31) / 32], at % 32);
        return a.scan.backward ? __brev(word) : word;
    }

    __device__ uint32_t fast_word(const unsigned char *chunk, int skip) const {
        if (a.scan.flag_type == VSCAN_INT) return word_of((const int32_t *)chunk + skip);
        if (a.scan.flag_type == VSCAN_BYTE) return word_of(chunk + skip);
        return word_of_bits((const uint32_t *)chunk, skip);
    }

    /* Parts are numbered through all tiles of the block: part c belongs to its tile c / 16. */
    __device__ void mark() const {
        int64_t asked_tile = tile_of(0), tile = asked_tile;
        int asked = 0; /* parts whose flags are on their way or have come */
        for (int c = 0; tile < tiles; ++c) {
            while (asked < c + shape::chunks && asked_tile < tiles) {
                const int k = asked / shape::parts;
                if (asked % shape::parts == 0 && asked > c &&
                    !barrier_passed(&shared.taken[k % shape::numbers], k / shape::numbers & 1))
                    break;
                if (asked % shape::parts == 0) asked_tile = tile_of(k);
                if (asked_tile >= tiles) break;
                const flag_source source =
                    flags_of(asked_tile * shape::items + asked % shape::parts * shape::part_items);
                const int at = asked % shape::chunks;
                if (source.from != nullptr && lane == 0) {
                    barrier_arrive_expecting(&shared.chunk_full[at], source.bytes);
                    bulk_load(shared.chunk[at], source.from, source.bytes, &shared.chunk_full[at]);
                } else {
                    barrier_arrive_at(&shared.chunk_full[at]);
                }
                ++asked;
            }
            const int k = c / shape::parts, part = c % shape::parts, at = c % shape::chunks;
            if (part == 0) tile = tile_of(k);
            if (tile >= tiles) return;
            const int64_t i = tile * shape::items + part * shape::part_items;
            barrier_wait(&shared.chunk_full[at], c / shape::chunks & 1);
            const flag_source source = flags_of(i);
            const uint32_t word =
                source.from != nullptr ? fast_word(shared.chunk[at], source.skip) : slow_word(i);
            if (lane < shape::part_groups)
                shared.heads[ring_of(k)][part * shape::part_groups + lane] = word;
            __syncwarp(); /* all have read the chunk */
            if (part % shape::quarter_parts == shape::quarter_parts - 1)
                barrier_arrive_at(&shared.marked[ring_of(k)][part / shape::quarter_parts]);
        }
    }

    /* ---- Summers ---- */

    static __device__ void meet_summers() {
        asm volatile("barrier.cta.sync 1, %0;" ::"n"(32 * shape::summers) : "memory");
    }

    /*
     * The sums of a part's groups, one a lane: lane g has group g; lanes beyond: the identity.
     * Segmented: the sums from a group's last head on, with the initial value added to that element.
     * The balanced tree does not mind scanning backward: only left and right change places.
     */
    __device__ U sum_groups(const T *slot, int ring, int part) const {
        const int row = part * 32 + lane;
        U x[R];
        read_row<Pair>(x, slot, in_memory(row, shape::rows), false);
        if (Segmented) {
            const uint32_t heads = shared.heads[ring][row / shape::group_lanes];
            const uint32_t last = heads ? 0x80000000u >> __clz(heads) : 0;
            const int shift = row % shape::group_lanes * R;
            uint32_t present = (heads ? ~(last - 1) : ~0u) >> shift, head = last >> shift;
            if (a.scan.backward) { /* in the order of memory */
                present = __brev(present) >> (32 - R);
                head = __brev(head) >> (32 - R);
            }
            if (a.scan.has_initial) {
#pragma unroll
                for (int j = 0; j < R; ++j)
                    if (head & 1u << j) x[j] = Pair::combine(initial, x[j]);
            }
#pragma unroll
            for (int j = 0; j < R; ++j)
                if (!(present & 1u << j)) x[j] = Pair::identity;
        }
        const U sum = sum_row<Pair>(x);
        if (shape::group_lanes == 1) return sum;
        const U both = Pair::combine(sum, __shfl_xor_sync(all_lanes, sum, 1));
        const U mine = __shfl_sync(all_lanes, both, 2 * lane);
        return lane < shape::part_groups ? mine : Pair::identity;
    }

    __device__ void sum(int summer) const {
        for (int k = 0;; ++k) {
            const int64_t tile = tile_of(k);
            if (tile >= tiles) return;
            const int slot = slot_of(k), ring = ring_of(k);
            U inside[shape::sums][1]; /* prefix of lane's group in its part */
#pragma unroll
            for (int q = 0; q < shape::quarters; ++q) {
                const int part = q * shape::quarter_parts + summer;
                if (Segmented) barrier_wait(&shared.marked[ring][q], ring_parity(k));
                barrier_wait(&shared.loaded[slot][q], slot_parity(k));
                inside[q][0] = sum_groups(shared.slot[slot], ring, part);
                barrier_arrive_at(&shared.emptied[slot][q]);
                sum_part(ring, part, inside[q]);
            }
            meet_summers();
            finish_sums(summer, ring, tile, inside);
            barrier_arrive_at(&shared.summed[ring]);
        }
    }

    /* From the sums of a part's groups to prefixes in the part, and the part's own sum and heads. */
    __device__ void sum_part(int ring, int part, U (&inside)[1]) const {
        uint32_t any = 0;
        if (Segmented) {
            const uint32_t word = lane < shape::part_groups
                                      ? shared.heads[ring][part * shape::part_groups + lane]
                                      : 0;
            any = __ballot_sync(all_lanes, word != 0);
            const int group = __ffs((int)any) - 1; /* of the part's first head */
            if (lane == (group < 0 ? 0 : group)) {
                const int at =
                    (part * shape::part_groups + group) * VSCAN__GROUP + __ffs((int)word) - 1;
                shared.first_head[ring][part] = group < 0 ? shape::items : at;
                shared.part_heads[ring][part] = any;
            }
        }
        sklansky<Pair, Segmented, shape::part_groups>(inside, any >> lane & 1, any, lane);
        if (lane == shape::part_groups - 1) shared.sums[ring][part] = inside[0];
    }

    /* Bits from .. to - 1. */
    static __device__ uint32_t bits(int from, int to) {
        return (1u << to) - (1u << from);
    }

    /* When all parts have been summed: the tile's aggregate, and the prefixes in the tile. */
    __device__ void finish_sums(int summer, int ring, int64_t tile,
                                const U (&inside)[shape::sums][1]) const {
        uint32_t any = 0; /* bit p: a head in part p */
        if (Segmented)
            any =
                __ballot_sync(all_lanes, lane < shape::parts && shared.part_heads[ring][lane] != 0);
        /* the levels of the tree above the parts: lane p has the block of 2^level with part p */
        U block[shape::levels + 1] = {shared.sums[ring][lane % shape::parts]};
#pragma unroll
        for (int level = 0; level < shape::levels; ++level) {
            const int half = 1 << level;
            const U other = __shfl_xor_sync(all_lanes, block[level], half);
            block[level + 1] = Pair::combine(block[level], other);
            if (Segmented) {
                const int right = (lane % shape::parts | half) & ~(half - 1);
                if (any & bits(right, right + half))
                    block[level + 1] = lane & half ? block[level] : other;
            }
        }
        if (summer == 0) {
            if (carry) __threadfence();
            if (lane == 0) {
                unit_word<U>::publish(a.words, tile, shared.tag | (any != 0), block[shape::levels]);
                shared.prefixes[ring][0] = Pair::identity;
            }
            if (Segmented) {
                const int first = any ? shared.first_head[ring][__ffs((int)any) - 1] : shape::items;
                if (lane == 0) shared.first_head[ring][shape::parts] = first;
            }
        }
#pragma unroll
        for (int s = 0; s < shape::sums; ++s) {
            const int part = s * shape::summers + summer;
            const bool open = !Segmented || !(shared.part_heads[ring][part] & ((2u << lane) - 1));
            U prefix = inside[s][0];
#pragma unroll
            for (int level = 0; level < shape::levels; ++level) {
                const int half = 1 << level, right = part & ~(half - 1);
                const U left = __shfl_sync(all_lanes, block[level], right - 1);
                const bool take = (part & half) && open && !(any & bits(right, part));
                prefix = Pair::combine(take ? left : Pair::identity, prefix);
            }
            if (lane < shape::part_groups)
                shared.prefixes[ring][part * shape::part_groups + lane + 1] = prefix;
        }
    }

    /* ---- Folder ---- */

    __device__ void fold(U p) const {
        int64_t folded = 0;
        for (int k = 0;; ++k) {
            const int64_t tile = tile_of(k);
            if (tile >= tiles) return;
            p = fold_tiles<Pair, Segmented>(p, a.words, shared.tag, folded, tile, shared.aggregates,
                                            lane);
            folded = tile;
            if (lane == 0) {
                shared.p[ring_of(k)] = p;
                barrier_arrive_at(&shared.folded[ring_of(k)]);
            }
        }
    }

    /* ---- Scanners: a row each, in scan order ---- */

    __device__ void scan(int part) const {
        constexpr bool half_groups = shape::group_lanes == 2;
        const int row = part * 32 + lane, q = part / shape::quarter_parts;
        const int group = row / shape::group_lanes, at_row = in_memory(row, shape::rows);
        const bool right = half_groups && (lane & 1); /* half of its group */
        for (int k = 0;; ++k) {
            const int64_t tile = tile_of(k);
            if (tile >= tiles) return;
            const int slot = slot_of(k), ring = ring_of(k);
            uint32_t heads = 0;
            bool closed = false; /* a head in the left half of the group */
            if (Segmented) {
                barrier_wait(&shared.marked[ring][q], ring_parity(k));
                heads = shared.heads[ring][group];
                closed = right && (heads & 0xffff);
                heads >>= right ? 16 : 0;
            }

            U x[R];
            barrier_wait(&shared.loaded[slot][q], slot_parity(k));
            read_row<Pair>(x, shared.slot[slot], at_row, a.scan.backward);
            barrier_arrive_at(&shared.emptied[slot][q]);
            if (Segmented && a.scan.has_initial) {
#pragma unroll
                for (int j = 0; j < R; ++j)
                    if (heads & 1u << j) x[j] = Pair::combine(initial, x[j]);
            }
            scan_row<Pair, Segmented>(x, heads);
            U left = Pair::identity;
            if (half_groups) {
                left = __shfl_up_sync(all_lanes, x[R - 1], 1);
                if (!right) left = Pair::identity;
                if (!Pair::in_any_order) {
#pragma unroll
                    for (int j = 0; j < R; ++j)
                        if (!Segmented || !(heads & ((2u << j) - 1)))
                            x[j] = Pair::combine(left, x[j]);
                }
            }

            barrier_wait(&shared.summed[ring], ring_parity(k));
            const U e = shared.prefixes[ring][group], end = shared.prefixes[ring][group + 1];
            const bool reached =
                !Segmented || group * VSCAN__GROUP <= shared.first_head[ring][shape::parts];
            barrier_wait(&shared.folded[ring], ring_parity(k));
            const U p = reached ? shared.p[ring] : Pair::identity;
            U first = Pair::combine(p, e); /* exclusive: the lane's first result */
            if (Pair::in_any_order) {
                const U base = closed ? left : Pair::combine(first, left);
#pragma unroll
                for (int j = 0; j < R; ++j)
                    if (!Segmented || !(heads & ((2u << j) - 1))) x[j] = Pair::combine(base, x[j]);
            } else if (!closed) {
#pragma unroll
                for (int j = 0; j < R; ++j)
                    if (!Segmented || !(heads & ((2u << j) - 1)))
                        x[j] = Pair::combine(p, Pair::combine(e, x[j]));
                if ((right || !half_groups) && (!Segmented || !(heads & ((2u << (R - 1)) - 1))))
                    x[R - 1] = Pair::combine(p, end);
            }
            if (half_groups) {
                const U before = __shfl_up_sync(all_lanes, x[R - 1], 1);
                if (right) first = before;
            }
            if (!Segmented && tile == tiles - 1 && a.scan.total != nullptr)
                write_total(x, tile, row);

            if (k > 0) barrier_wait(&shared.staged_empty[q], (k - 1) & 1);
            if (a.scan.exclusive) {
                U y[R];
                y[0] = first;
#pragma unroll
                for (int j = 1; j < R; ++j) y[j] = x[j - 1];
                if (Segmented) {
#pragma unroll
                    for (int j = 0; j < R; ++j)
                        if (heads & 1u << j) y[j] = visible;
                } else if (tile == 0 && row == 0) {
                    y[0] = visible;
                }
                write(y, at_row);
            } else {
                write(x, at_row);
            }
            fence_for_bulk();
            barrier_arrive_at(&shared.staged_full[q]);
        }
    }

    __device__ __forceinline__ void write(const U (&y)[R], int at_row) const {
        if (a.scan.backward)
            write_row<Pair, true>(y, shared.staged, at_row);
        else
            write_row<Pair, false>(y, shared.staged, at_row);
    }

    /* The inclusive result of the vector's last element. */
    __device__ void write_total(const U (&y)[R], int64_t tile, int row) const {
        const int64_t last = a.scan.n - 1 - tile * shape::items;
        if (last / R != row) return;
        if (carry) __threadfence();
#pragma unroll
        for (int j = 0; j < R; ++j)
            if (last % R == j) *(T *)a.scan.total = Pair::out(y[j]);
    }

    /* ---- Storer ---- */

    __device__ void store_elements(int64_t tile, int quarter) const {
        T *const from = shared.staged + quarter * shape::quarter_items;
        const int64_t begin = begin_of(tile) + quarter * shape::quarter_items;
        T *const to = (T *)a.scan.out + begin;
        const int64_t low = -begin, high = a.scan.n - begin; /* what is not padding */
#pragma unroll 8
        for (int i = 0; i < shape::quarter_items / 32; ++i) {
            const int o = 32 * i + lane;
            if (low <= o && o < high) to[o] = *swizzled(from, o);
        }
    }

    __device__ void store_tiles() const {
        for (int k = 0;; ++k) {
            const int64_t tile = tile_of(k);
            if (tile >= tiles) return;
            const bool by_rows = b.out_rows && is_whole(tile);
#pragma unroll
            for (int q = 0; q < shape::quarters; ++q) {
                const int quarter = in_memory(q, shape::quarters);
                barrier_wait(&shared.staged_full[q], k & 1);
                if (!by_rows)
                    store_elements(tile, quarter);
                else if (lane == 0)
                    tensor_store(&b.out, map_row(tile, quarter),
                                 shared.staged + quarter * shape::quarter_items);
            }
            if (by_rows && lane == 0) tensor_stores_read<3>();
            barrier_arrive_at(&shared.staged_empty[0]);
            if (by_rows && lane == 0) tensor_stores_read<2>();
            barrier_arrive_at(&shared.staged_empty[1]);
            if (by_rows && lane == 0) tensor_stores_read<1>();
            barrier_arrive_at(&shared.staged_empty[2]);
            if (by_rows && lane == 0) tensor_stores_read<0>();
            barrier_arrive_at(&shared.staged_empty[3]);
        }
    }
};

template <class Shape>
static __device__ void init_barriers(typename Shape::shared &shared) {
    for (int k = 0; k < Shape::numbers; ++k) barrier_init(&shared.taken[k], 1);
    for (int s = 0; s < Shape::slots; ++s)
        for (int q = 0; q < Shape::quarters; ++q) {
            barrier_init(&shared.loaded[s][q], 32);
            /* the warps that scan the quarter, and the summers */
            barrier_init(&shared.emptied[s][q], 32 * (Shape::quarter_parts + Shape::summers));
        }
    for (int r = 0; r < Shape::rings; ++r) {
        for (int q = 0; q < Shape::quarters; ++q) barrier_init(&shared.marked[r][q], 32);
        barrier_init(&shared.summed[r], 32 * Shape::summers);
        barrier_init(&shared.folded[r], 1);
    }
    for (int q = 0; q < Shape::quarters; ++q) {
        barrier_init(&shared.staged_full[q], 32 * Shape::quarter_parts);
        barrier_init(&shared.staged_empty[q], 32);
    }
    for (int c = 0; c < Shape::chunks; ++c) barrier_init(&shared.chunk_full[c], 32);
    fence_for_bulk();
}

#endif

template <class Pair, bool Segmented>
__global__ void __launch_bounds__(bulk_shape<Pair, Segmented>::threads, 1)
    scan_bulk(const __grid_constant__ bulk_arguments b) {
#ifdef VSCAN__BULK
    using T = typename Pair::T;
    using U = typename Pair::U;
    using shape = bulk_shape<Pair, Segmented>;
    extern __shared__ __align__(1024) char shared_bytes[]; /* the swizzle counts from 1024 bytes */
    typename shape::shared &shared = *(typename shape::shared *)shared_bytes;

    const vscan__scan &scan = b.rest.scan;
    U initial = Pair::identity;
    if (scan.has_initial == 1) initial = Pair::in(element_of<T>(scan.initial));
    if (scan.has_initial == 2) initial = Pair::in(*(const volatile T *)scan.initial_at);
    const bool carry = !Segmented && scan.has_initial == 2 && scan.initial_at == scan.total;
    if (threadIdx.x == 0) init_barriers<shape>(shared);
    __syncthreads();

    const int warp = threadIdx.x / 32;
    const bulk_block<Pair, Segmented> block = {b,       b.rest,
                                               shared,  (scan.n + shape::items - 1) / shape::items,
                                               initial, scan.has_initial ? initial : Pair::visible,
                                               carry,   (int)threadIdx.x % 32};
    if (warp < shape::scanners)
        block.scan(warp);
    else if (warp < shape::folder)
        block.sum(warp - shape::scanners);
    else if (warp == shape::folder)
        block.fold(Segmented ? Pair::identity : initial);
    else if (warp == shape::loader)
        block.load_tiles();
    else if (warp == shape::storer)
        block.store_tiles();
    else
        block.mark();
#endif
}

/* ---- Launching ------------------------------------------------------------------------------- */

/* Whether scan_bulk can do a scan, and should. */
template <class Pair, bool Segmented>
static bool bulk_fits(const vscan__launch *launch, const vscan__scan *scan) {
    const int64_t bytes = scan->n * (int64_t)sizeof(typename Pair::T);
    return scan->out != nullptr && scan->totals == nullptr && scan->count == nullptr &&
           bytes >= (Segmented ? launch->bulk_segmented_from : launch->bulk_from) &&
           launch->shared_memory >= (int)sizeof(typename bulk_shape<Pair, Segmented>::shared);
}

/* Maps the whole tiles of a vector as rows of 128 bytes; false where they cannot be copied so. */
template <class Shape>
static bool map_rows(const vscan__launch *launch, CUtensorMap *map, const void *vector,
                     const vscan__scan *scan) {
    using T = typename Shape::T;
    const int64_t whole = scan->n / Shape::items;
    const T *const begin =
        (const T *)vector + (scan->backward ? scan->n - whole * Shape::items : 0);
    if (whole == 0 || (uintptr_t)begin % 16 != 0) return false;
    const cuuint64_t sizes[2] = {Shape::row_bytes / 4, (cuuint64_t)(whole * Shape::rows)};
    const cuuint64_t stride = Shape::row_bytes;
    const cuuint32_t box[2] = {Shape::row_bytes / 4, Shape::quarter_rows};
    const cuuint32_t steps[2] = {1, 1};
    return launch->encode_tiled(map, CU_TENSOR_MAP_DATA_TYPE_INT32, 2, (void *)begin, sizes,
                                &stride, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
                                CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                                CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS;
}

template <class Pair, bool Segmented>
static cudaError_t launch_bulk(vscan__launch *launch, const scan_arguments &a, int pair) {
    using shape = bulk_shape<Pair, Segmented>;
    constexpr int bytes = (int)sizeof(typename shape::shared);
    const int row = pair + (Segmented ? vscan__pair_count : 0);
    if (!(launch->bulk_ready >> row & 1)) {
        const cudaError_t error = cudaFuncSetAttribute(
            scan_bulk<Pair, Segmented>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
        if (error != cudaSuccess) return error;
        launch->bulk_ready |= 1u << row;
    }
    bulk_arguments b = {a};
    b.in_rows = map_rows<shape>(launch, &b.in, a.scan.in, &a.scan);
    b.out_rows = map_rows<shape>(launch, &b.out, a.scan.out, &a.scan);
    const int64_t tiles = (a.scan.n + shape::items - 1) / shape::items;
    const int blocks = (int)(tiles < launch->multiprocessors ? tiles : launch->multiprocessors);
    scan_bulk<Pair, Segmented><<<blocks, shape::threads, bytes, launch->stream>>>(b);
    return cudaGetLastError();
}

} /* namespace vscan */

#endif
