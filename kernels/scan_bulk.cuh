/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scans and segmented scans of long, 16-byte-aligned vectors on sm_90 and later, at the speed of
 * memory: whole tiles that pass through shared memory by bulk copies.
 *
 * One block lives on each multiprocessor. It has three tiles at a time, each in a slot of 64 KiB of
 * shared memory, and its warps hand the slots on:
 *
 *   mover      takes a ticket (-> taken), and loads the tile by quarters              -> loaded[q]
 *   summers    sum groups of 32 as they come, publish the tile's aggregate, scan groups -> summed
 *   folder     folds the aggregates of all earlier tiles: P(t)                          -> folded
 *   scanners   replace elements by results, a quarter at a time                     -> scanned[q]
 *   mover      stores the quarters, and reloads each when it has left the slot
 *
 * Each arrow is a barrier of the slot in shared memory (mbarrier); whoever waits at it sees all that
 * was written before it. Every thread that has read or written arrives, not one for its warp: that
 * is no slower, and compute-sanitizer's racecheck can follow it.
 *
 * A slot is taken for as long as a load, a wait for the slowest of the other blocks' loads, and a
 * store take; three of them have to cover that, so everything else is arranged to be short or to
 * overlap: an aggregate is published as early as it can be, the folder has folded all but the
 * latest ones when these come, and quarters leave while others are still scanned.
 *
 * Segmented scans have the summers write the tile's head flags to shared memory first, a bit an
 * element (-> marked); one number, the position of the tile's first head, then tells which elements
 * P reaches.
 *
 * Nobody waits for another block's P, only for its aggregates. The folder adds them strictly from
 * left to right, 131 between two of a block's own tiles on an H200.
 *
 * Blocks need not be resident together: a block waits only for aggregates of tiles with smaller
 * tickets, and between a ticket and its aggregate there are a load and sums, which wait for nobody.
 */
#ifndef VSCAN_SCAN_BULK_CUH
#define VSCAN_SCAN_BULK_CUH

#include "bulk.cuh"
#include "heads.cuh"
#include "scan_units.cuh"

namespace vscan {

template <class Pair, bool Segmented>
struct bulk_shape {
    using T = typename Pair::T;
    using U = typename Pair::U;
    static constexpr int lane_items = 16 / (int)sizeof(T);
    static constexpr int rows = 8;   /* of a part, what a warp sums at a time */
    static constexpr int parts = 16; /* of a tile */
    static constexpr int levels = 4; /* of the tree above a part: 2^4 parts */
    static constexpr int row_items = 32 * lane_items;
    static constexpr int part_items = rows * row_items;
    static constexpr int items = parts * part_items;
    static constexpr int group_lanes = VSCAN__GROUP / lane_items;
    static constexpr int row_groups = 32 / group_lanes;
    static constexpr int groups = rows * row_groups; /* of a part: 32 or 16, one a lane */
    static_assert(items == (sizeof(T) == 8 ? VSCAN__TILE_DOUBLE : VSCAN__TILE_FLOAT), "a tile");

    static constexpr int slots = 3;
    static constexpr int quarters = 4;
    static constexpr int quarter_items = items / quarters;
    static constexpr int quarter_rows = parts * rows / quarters;
    static constexpr int scanners = 16;
    static constexpr int scanner_rows = quarter_rows / scanners; /* of a quarter */
    static constexpr int summers = 6; /* 24 warps in all, so that a thread can have 80 registers */
    static constexpr int sums = (parts + summers - 1) / summers; /* of a summer: parts of a tile */
    static constexpr int folder = scanners + summers, mover = folder + 1; /* warp numbers */
    static constexpr int threads = 32 * (mover + 1);
    static constexpr int fold_words = 5; /* of a lane of the folder at a time: 160 tiles */

    struct shared {
        T slot[slots][items];
        U prefixes[slots][parts * groups + 4]; /* of the tile up to a group; the last: to the end */
        U sums[slots][parts];
        U aggregates[32]; /* of tiles that are being folded */
        U p[slots];
        int64_t tile[slots]; /* which one is in the slot; one past the last: the end */
        uint32_t heads[slots]
                      [Segmented ? parts * groups : 1]; /* bit i of word g: element 32 g + i */
        uint32_t part_heads[slots][parts];              /* bit g: a head in group g */
        int first_head[slots][parts + 1]; /* position in the tile, of a part; last: of all parts */
        uint32_t tag;
        uint64_t marked[slots];
        uint64_t taken[slots], loaded[slots][quarters];
        uint64_t summed[slots], folded[slots], scanned[slots][quarters];
    };
};

#ifdef VSCAN__BULK

/*
 * The Sklansky network over a group: as sklansky, with the group's head flags in one word.
 */
template <class Pair, int Lanes, int V>
static __device__ __forceinline__ void sklansky_group(typename Pair::U (&x)[V], uint32_t heads,
                                                      int lane) {
    using U = typename Pair::U;
    const int place = lane % Lanes;
    const uint32_t mine = heads >> (place * V);
#pragma unroll
    for (int half = 1; half < V; half *= 2) {
#pragma unroll
        for (int j = 0; j < V; ++j) {
            if (!(j & half)) continue;
            const int first = j & ~(half - 1);
            const U sum = Pair::combine(x[first - 1], x[j]);
            x[j] = mine & ((2u << j) - (1u << first)) ? x[j] : sum;
        }
    }
#pragma unroll
    for (int half = 1; half < Lanes; half *= 2) {
        const int first = place & ~(half - 1);
        const U left = __shfl_sync(all_lanes, x[V - 1], (lane & ~(half - 1)) - 1);
        const bool take = (lane & half) && !(heads & ((1u << (place * V)) - (1u << (first * V))));
#pragma unroll
        for (int j = 0; j < V; ++j) {
            const bool here = take && !(mine & ((2u << j) - 1));
            x[j] = Pair::combine(here ? left : Pair::identity, x[j]);
        }
    }
}

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

/* A tile in its slot, for one lane. Positions count in scan order, rows are 512 bytes. */
template <class Pair, bool Segmented>
struct bulk_tile {
    using T = typename Pair::T;
    using shape = bulk_shape<Pair, Segmented>;
    static constexpr int V = shape::lane_items;

    T *slot;
    bool backward;
    int lane;

    /* of the lane's items in row r, in the tile */
    __device__ int position(int r) const { return r * shape::row_items + lane * V; }
    __device__ int4 *address(int r) const {
        return (int4 *)(slot + (backward ? shape::items - V - position(r) : position(r)));
    }

    __device__ void read(typename Pair::U (&x)[V], int r) const {
        T raw[V];
        const int4 quad = *address(r);
        memcpy(raw, &quad, 16);
#pragma unroll
        for (int j = 0; j < V; ++j) x[j] = Pair::in(backward ? raw[V - 1 - j] : raw[j]);
    }

    __device__ void write(const typename Pair::U (&y)[V], int r) const {
        T raw[V];
#pragma unroll
        for (int j = 0; j < V; ++j) raw[j] = Pair::out(backward ? y[V - 1 - j] : y[j]);
        int4 quad;
        memcpy(&quad, raw, 16);
        *address(r) = quad;
    }
};

/*
 * The sums of a part's groups, one a lane: lane g has group g; lanes beyond: the identity.
 * Segmented: the sums from a group's last head on, with the initial value added to that element.
 *
 * A lane sums 128 consecutive bytes of the slot by itself, in 8 pieces of 16. In every step the
 * lanes of a quarter warp read different pieces, j XOR lane, so that no two of them meet in a bank.
 * The balanced tree does not mind: XOR with a constant maps its subtrees to its subtrees, only left and
 * right may change places, and so does scanning backward.
 */
template <class Pair, bool Segmented>
static __device__ __forceinline__ typename Pair::U
group_sums(const bulk_tile<Pair, Segmented> &tile, int part, const uint32_t *heads,
           bool has_initial, typename Pair::U initial) {
    using T = typename Pair::T;
    using U = typename Pair::U;
    using shape = bulk_shape<Pair, Segmented>;
    constexpr int V = shape::lane_items, pieces = 8, items = V * pieces;
    constexpr int lanes = VSCAN__GROUP / items; /* of a group */
    const int run = part * 32 + tile.lane;      /* of 128 bytes, in scan order */
    const int4 *const from =
        (const int4 *)tile.slot + (tile.backward ? shape::parts * 32 - 1 - run : run) * pieces;
    uint32_t present = ~0u, head = 0; /* bit i: of element i of the run in memory */
    if (Segmented) {
        const uint32_t word = heads[run / lanes];
        const uint32_t last = word ? 0x80000000u >> __clz(word) : 0;
        const int shift = run % lanes * items;
        present = (word ? ~(last - 1) : ~0u) >> shift;
        head = last >> shift;
        if (tile.backward) {
            present = __brev(present) >> (32 - items);
            head = __brev(head) >> (32 - items);
        }
    }
    U sum[pieces];
#pragma unroll
    for (int j = 0; j < pieces; ++j) {
        T raw[V];
        const int piece = j ^ (tile.lane & (pieces - 1));
        const int4 quad = from[piece];
        memcpy(raw, &quad, 16);
        U x[V];
#pragma unroll
        for (int i = 0; i < V; ++i) {
            x[i] = Pair::in(raw[i]);
            if (Segmented && has_initial && (head >> (piece * V) & 1u << i))
                x[i] = Pair::combine(initial, x[i]);
            if (Segmented && !(present >> (piece * V) & 1u << i)) x[i] = Pair::identity;
        }
#pragma unroll
        for (int half = 1; half < V; half *= 2)
#pragma unroll
            for (int i = 0; i < V; i += 2 * half) x[i] = Pair::combine(x[i], x[i + half]);
        sum[j] = x[0];
    }
#pragma unroll
    for (int half = 1; half < pieces; half *= 2)
#pragma unroll
        for (int j = 0; j < pieces; j += 2 * half) sum[j] = Pair::combine(sum[j], sum[j + half]);
    if (lanes == 1) return sum[0];
    sum[0] = Pair::combine(sum[0], __shfl_xor_sync(all_lanes, sum[0], 1));
    const U mine = __shfl_sync(all_lanes, sum[0], 2 * tile.lane);
    return tile.lane < shape::groups ? mine : Pair::identity;
}

/* ---- The kinds of warps; k counts the block's tiles ------------------------------------------- */

template <class Pair, bool Segmented>
struct bulk_block {
    using T = typename Pair::T;
    using U = typename Pair::U;
    using shape = bulk_shape<Pair, Segmented>;

    const scan_arguments &a;
    typename shape::shared &shared;
    int64_t tiles;
    typename Pair::U initial, visible;
    bool carry; /* as in scan_units: the initial value is read before an aggregate is published */
    int lane;

    static __device__ int slot_of(int k) { return k % shape::slots; }
    static __device__ uint32_t parity_of(int k) { return k / shape::slots & 1; }
    __device__ bool is_whole(int64_t tile) const { return (tile + 1) * shape::items <= a.scan.n; }
    /* where the slot of a whole tile begins in memory */
    __device__ int64_t begin_of(int64_t tile) const {
        return a.scan.backward ? a.scan.n - (tile + 1) * shape::items : tile * shape::items;
    }
    __device__ bulk_tile<Pair, Segmented> in_slot(int slot) const {
        return {shared.slot[slot], (bool)a.scan.backward, lane};
    }

    /* ---- Mover: one thread ---- */

    __device__ ticket take() const {
        const ticket t = take_ticket(a.header);
        if (t.index == tiles + gridDim.x - 1)
            end_tickets(a.header, a.words, a.capacity, tiles * unit_word<U>::words);
        return t;
    }

    __device__ void announce(int k, int64_t tile) const {
        shared.tile[slot_of(k)] = tile;
        barrier_arrive_at(&shared.taken[slot_of(k)]);
    }

    /* elements from the beginning of a tile's slot to the quarter */
    __device__ int offset_of(int quarter) const {
        return (a.scan.backward ? shape::quarters - 1 - quarter : quarter) * shape::quarter_items;
    }

    /* A tile that is not whole, and the end, are only announced. */
    __device__ void load(int k, int64_t tile, int quarter) const {
        const int slot = slot_of(k), offset = offset_of(quarter);
        if (tile < tiles && is_whole(tile))
            bulk_load(shared.slot[slot] + offset, (const T *)a.scan.in + begin_of(tile) + offset,
                      shape::quarter_items * sizeof(T), &shared.loaded[slot][quarter]);
        else
            barrier_arrive_at(&shared.loaded[slot][quarter]);
    }

    __device__ void store(int k, int64_t tile, int quarter) const {
        const int offset = offset_of(quarter);
        if (is_whole(tile))
            bulk_store((T *)a.scan.out + begin_of(tile) + offset, shared.slot[slot_of(k)] + offset,
                       shape::quarter_items * sizeof(T));
    }

    __device__ void move() const {
        int64_t next = 0; /* the last ticket */
        for (int k = 0; k < shape::slots && next < tiles; ++k) {
            const ticket t = take();
            if (k == 0) shared.tag = t.tag;
            next = t.index;
            announce(k, next);
            for (int q = 0; q < shape::quarters; ++q) load(k, next, q);
        }
        for (int k = 0;; ++k) {
            const int slot = slot_of(k);
            const int64_t tile = shared.tile[slot];
            if (tile >= tiles) return;
#pragma unroll
            for (int q = 0; q < shape::quarters; ++q) {
                barrier_wait(&shared.scanned[slot][q], parity_of(k));
                store(k, tile, q);
            }
            if (next >= tiles) {
                bulk_stores_read<0>();
                continue;
            }
            next = take().index; /* comes while the tile leaves the slot */
            announce(k + shape::slots, next);
            bulk_stores_read<3>();
            load(k + shape::slots, next, 0);
            bulk_stores_read<2>();
            load(k + shape::slots, next, 1);
            bulk_stores_read<1>();
            load(k + shape::slots, next, 2);
            bulk_stores_read<0>();
            load(k + shape::slots, next, 3);
        }
    }

    /* ---- Summers ---- */

    static __device__ void meet_summers() {
        asm volatile("barrier.cta.sync 1, %0;" ::"n"(32 * shape::summers) : "memory");
    }

    __device__ void sum(int summer) const {
        for (int k = 0;; ++k) {
            const int slot = slot_of(k);
            barrier_wait(&shared.taken[slot], parity_of(k));
            const int64_t tile = shared.tile[slot];
            if (tile >= tiles) {
                barrier_arrive_at(&shared.summed[slot]);
                return;
            }
            if (Segmented) {
                mark(summer, slot, tile);
                barrier_arrive_at(&shared.marked[slot]);
                meet_summers();
            }
            U inside[shape::sums][1]; /* prefix of lane's group in its part */
#pragma unroll
            for (int s = 0; s < shape::sums; ++s) {
                const int part = s * shape::summers + summer; /* in the order of loading */
                if (part >= shape::parts) break;
                barrier_wait(&shared.loaded[slot][part / (shape::parts / shape::quarters)],
                             parity_of(k));
                if (!is_whole(tile)) load_rest(slot, tile, part);
                inside[s][0] = group_sums<Pair, Segmented>(in_slot(slot), part, shared.heads[slot],
                                                           a.scan.has_initial, initial);
                sum_part(slot, part, inside[s]);
            }
            meet_summers();
            finish_sums(summer, slot, tile, inside);
            barrier_arrive_at(&shared.summed[slot]);
        }
    }

    /* The head flags of a tile as bits in scan order. */
    __device__ void mark(int summer, int slot, int64_t tile) const {
        if (a.scan.flag_type == VSCAN_INT)
            mark_from<VSCAN_INT, 1>(summer, slot, tile);
        else if (a.scan.flag_type == VSCAN_BYTE)
            mark_from<VSCAN_BYTE, 3>(summer, slot, tile);
        else
            mark_from<VSCAN_BIT, 3>(summer, slot, tile);
    }

    /* Batch: how often a lane asks for 16 flags before it uses any; 6 would be all of a tile, at the
       price of registers that the scanners need. */
    template <int Type, int Batch>
    __device__ void mark_from(int summer, int slot, int64_t tile) const {
        constexpr int lanes = 32 * shape::summers, pieces = shape::items / 16;
        uint16_t *const heads = (uint16_t *)shared.heads[slot];
        for (int begin = summer * 32 + lane; begin < pieces; begin += Batch * lanes) {
            head_flags<Type> flags[Batch];
#pragma unroll
            for (int b = 0; b < Batch; ++b) {
                const int piece = begin + b * lanes;
                if (piece < pieces) flags[b].load(a.scan, tile * shape::items + piece * 16);
            }
#pragma unroll
            for (int b = 0; b < Batch; ++b) {
                const int piece = begin + b * lanes;
                if (piece < pieces)
                    heads[piece] =
                        (uint16_t)flags[b].bits(a.scan, tile * shape::items + piece * 16);
            }
        }
    }

    /* From the sums of a part's groups to prefixes in the part, and the part's own sum and heads. */
    __device__ void sum_part(int slot, int part, U (&inside)[1]) const {
        uint32_t any = 0;
        if (Segmented) {
            const uint32_t word =
                lane < shape::groups ? shared.heads[slot][part * shape::groups + lane] : 0;
            any = __ballot_sync(all_lanes, word != 0);
            const int group = __ffs((int)any) - 1; /* of the part's first head */
            if (lane == (group < 0 ? 0 : group)) {
                const int at = (part * shape::groups + group) * VSCAN__GROUP + __ffs((int)word) - 1;
                shared.first_head[slot][part] = group < 0 ? shape::items : at;
                shared.part_heads[slot][part] = any;
            }
        }
        sklansky<Pair, Segmented, shape::groups>(inside, any >> lane & 1, any, lane);
        if (lane == shape::groups - 1) shared.sums[slot][part] = inside[0];
    }

    /* Bits from .. to - 1. */
    static __device__ uint32_t bits(int from, int to) {
        return (1u << to) - (1u << from);
    }

    /* When all parts have been summed: the tile's aggregate, and the prefixes in the tile. */
    __device__ void finish_sums(int summer, int slot, int64_t tile,
                                const U (&inside)[shape::sums][1]) const {
        uint32_t any = 0; /* bit p: a head in part p */
        if (Segmented)
            any =
                __ballot_sync(all_lanes, lane < shape::parts && shared.part_heads[slot][lane] != 0);
        /* the levels of the tree above the parts: lane p has the block of 2^level with part p */
        U block[shape::levels + 1] = {shared.sums[slot][lane % shape::parts]};
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
                shared.prefixes[slot][0] = Pair::identity;
            }
            if (Segmented) {
                const int first = any ? shared.first_head[slot][__ffs((int)any) - 1] : shape::items;
                if (lane == 0) shared.first_head[slot][shape::parts] = first;
            }
        }
#pragma unroll
        for (int s = 0; s < shape::sums; ++s) {
            const int part = s * shape::summers + summer;
            if (part >= shape::parts) break;
            const bool open = !Segmented || !(shared.part_heads[slot][part] & ((2u << lane) - 1));
            U prefix = inside[s][0];
#pragma unroll
            for (int level = 0; level < shape::levels; ++level) {
                const int half = 1 << level, right = part & ~(half - 1);
                const U left = __shfl_sync(all_lanes, block[level], right - 1);
                const bool take = (part & half) && open && !(any & bits(right, part));
                prefix = Pair::combine(take ? left : Pair::identity, prefix);
            }
            if (lane < shape::groups)
                shared.prefixes[slot][part * shape::groups + lane + 1] = prefix;
        }
    }

    /* of the last tile, where it is not whole */
    __device__ void load_rest(int slot, int64_t tile, int part) const {
        for (int r = part * shape::rows; r < (part + 1) * shape::rows; ++r) {
            U x[shape::lane_items];
            load_items<Pair>(x, (const T *)a.scan.in,
                             tile * shape::items + in_slot(slot).position(r), a.scan.n,
                             a.scan.backward, false);
            in_slot(slot).write(x, r);
        }
        __syncwarp();
    }

    /* ---- Folder ---- */

    __device__ void fold(U p) const {
        int64_t folded = 0;
        for (int k = 0;; ++k) {
            const int slot = slot_of(k);
            barrier_wait(&shared.taken[slot], parity_of(k));
            const int64_t tile = shared.tile[slot];
            if (tile < tiles) {
                p = fold_tiles<Pair, Segmented>(p, a.words, shared.tag, folded, tile,
                                                shared.aggregates, lane);
                folded = tile;
            }
            if (lane == 0) {
                shared.p[slot] = p;
                barrier_arrive_at(&shared.folded[slot]);
            }
            if (tile >= tiles) return;
        }
    }

    /* ---- Scanners: all that needs no P before there is one ---- */

    __device__ void scan(int scanner) const {
        constexpr int R = shape::scanner_rows;
        for (int k = 0;; ++k) {
            const int slot = slot_of(k);
            barrier_wait(&shared.taken[slot], parity_of(k));
            const int64_t tile = shared.tile[slot];
            if (tile >= tiles) return;
            if (Segmented) barrier_wait(&shared.marked[slot], parity_of(k));
            if (!is_whole(tile)) barrier_wait(&shared.summed[slot], parity_of(k)); /* load_rest */
            U rows[shape::quarters][R][shape::lane_items];
#pragma unroll
            for (int q = 0; q < shape::quarters; ++q) {
                barrier_wait(&shared.loaded[slot][q], parity_of(k));
#pragma unroll
                for (int r = 0; r < R; ++r) in_slot(slot).read(rows[q][r], row_of(scanner, q, r));
#pragma unroll
                for (int r = 0; r < R; ++r) scan_groups(slot, rows[q][r], row_of(scanner, q, r));
            }
            barrier_wait(&shared.summed[slot], parity_of(k));
            barrier_wait(&shared.folded[slot], parity_of(k));
            const U p = shared.p[slot];
#pragma unroll
            for (int q = 0; q < shape::quarters; ++q) {
#pragma unroll
                for (int r = 0; r < R; ++r)
                    finish_row(slot, rows[q][r], row_of(scanner, q, r), p, tile);
                fence_for_bulk();
                barrier_arrive_at(&shared.scanned[slot][q]);
            }
        }
    }

    static __device__ int row_of(int scanner, int quarter, int r) {
        return quarter * shape::quarter_rows + scanner * shape::scanner_rows + r;
    }

    /* the lane's group in a row, and the head flags of that group */
    __device__ int group_of(int row) const {
        return row * shape::row_groups + lane / shape::group_lanes;
    }

    __device__ __forceinline__ void scan_groups(int slot, U (&x)[shape::lane_items],
                                                int row) const {
        constexpr int V = shape::lane_items;
        if (!Segmented) return sklansky<Pair, false, shape::group_lanes>(x, 0, 0, lane);
        const uint32_t heads = shared.heads[slot][group_of(row)];
        if (a.scan.has_initial) {
#pragma unroll
            for (int j = 0; j < V; ++j)
                if (heads >> lane % shape::group_lanes * V & 1u << j)
                    x[j] = Pair::combine(initial, x[j]);
        }
        sklansky_group<Pair, shape::group_lanes>(x, heads, lane);
    }

    /* Results of a row from its sums inside groups, y, to the slot. */
    __device__ __forceinline__ void finish_row(int slot, U (&y)[shape::lane_items], int row, U p,
                                               int64_t tile) const {
        constexpr int V = shape::lane_items;
        const int place = lane % shape::group_lanes, group = group_of(row);
        const bool group_end = place == shape::group_lanes - 1;
        const U e = shared.prefixes[slot][group], end = shared.prefixes[slot][group + 1];
        const uint32_t heads = Segmented ? shared.heads[slot][group] : 0;
        const int reach = Segmented ? shared.first_head[slot][shape::parts] : shape::items;
        const int at = in_slot(slot).position(row);
#pragma unroll
        for (int j = 0; j < V; ++j) {
            const bool cut = Segmented && (heads & ((2u << (place * V + j)) - 1));
            const U local = Pair::combine(cut ? Pair::identity : e, y[j]);
            const bool reached = !Segmented || at + j < reach;
            y[j] =
                Pair::combine(reached ? p : Pair::identity, j == V - 1 && group_end ? end : local);
        }
        const int64_t i = tile * shape::items + at;
        if (tile == tiles - 1 && a.scan.total != nullptr) {
            if (carry) __threadfence();
#pragma unroll
            for (int j = 0; j < V; ++j)
                if (i + j == a.scan.n - 1) *(T *)a.scan.total = Pair::out(y[j]);
        }
        if (a.scan.exclusive) {
            const U before = __shfl_up_sync(all_lanes, y[V - 1], 1);
            const bool reached = !Segmented || group * VSCAN__GROUP <= reach;
#pragma unroll
            for (int j = V - 1; j > 0; --j) y[j] = y[j - 1];
            y[0] = place == 0 ? Pair::combine(reached ? p : Pair::identity, e) : before;
#pragma unroll
            for (int j = 0; j < V; ++j)
                if (Segmented ? heads >> (place * V) & 1u << j : i + j == 0) y[j] = visible;
        }
        if (is_whole(tile))
            in_slot(slot).write(y, row);
        else
            store_items<Pair>(y, (T *)a.scan.out, i, a.scan.n, a.scan.backward, false);
    }
};

#endif

template <class Pair, bool Segmented>
__global__ void __launch_bounds__(bulk_shape<Pair, Segmented>::threads, 1)
    scan_bulk(const __grid_constant__ scan_arguments a) {
#ifdef VSCAN__BULK
    using T = typename Pair::T;
    using U = typename Pair::U;
    using shape = bulk_shape<Pair, Segmented>;
    extern __shared__ __align__(128) char shared_bytes[];
    typename shape::shared &shared = *(typename shape::shared *)shared_bytes;

    const vscan__scan &scan = a.scan;
    U initial = Pair::identity;
    if (scan.has_initial == 1) initial = Pair::in(element_of<T>(scan.initial));
    if (scan.has_initial == 2) initial = Pair::in(*(const volatile T *)scan.initial_at);
    const bool carry = !Segmented && scan.has_initial == 2 && scan.initial_at == scan.total;

    if (threadIdx.x == 0) {
        for (int s = 0; s < shape::slots; ++s) {
            barrier_init(&shared.taken[s], 1);
            barrier_init(&shared.marked[s], 32 * shape::summers);
            barrier_init(&shared.summed[s], 32 * shape::summers);
            barrier_init(&shared.folded[s], 1);
            for (int q = 0; q < shape::quarters; ++q) {
                barrier_init(&shared.loaded[s][q], 1);
                barrier_init(&shared.scanned[s][q], 32 * shape::scanners);
            }
        }
        fence_for_bulk();
    }
    __syncthreads();

    const int warp = threadIdx.x / 32;
    const bulk_block<Pair, Segmented> block = {a,
                                               shared,
                                               (scan.n + shape::items - 1) / shape::items,
                                               initial,
                                               scan.has_initial ? initial : Pair::visible,
                                               carry,
                                               (int)threadIdx.x % 32};
    if (warp == shape::mover) {
        if (block.lane == 0) block.move();
    } else if (warp == shape::folder) {
        block.fold(Segmented ? Pair::identity : initial);
    } else if (warp >= shape::scanners) {
        block.sum(warp - shape::scanners);
    } else {
        block.scan(warp);
    }
#endif
}

} /* namespace vscan */

#endif
