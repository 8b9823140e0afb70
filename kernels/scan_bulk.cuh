/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scans and segmented scans of long vectors on sm_90 and later, at the speed of memory: whole tiles
 * that pass through shared memory, in by one slot and out by another, with a tile in the registers
 * of the scanning warps between the two.
 *
 * One block lives on each multiprocessor. Its warps hand tiles on:
 *
 *   loader     takes a ticket (-> taken), and loads the tile by quarters              -> loaded[q]
 *   summers    sum groups of 32 elements, publish the tile's aggregate, scan the groups -> summed;
 *              segmented: first make head flags bits, one an element                  -> marked[q]
 *   folder     folds the aggregates of all earlier tiles: P(t)                         -> folded
 *   scanners   read a row each (-> emptied[q]), scan it, wait for P, write it     -> staged_full[q]
 *   storer     stores the quarters                                            -> staged_empty[q]
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
#include "heads.cuh"

namespace vscan {

/*
 * A vector as rows of 128 bytes: element m of memory is element m - first + shift of the rows, which
 * begin at an address that is a multiple of 16. A tile is 512 rows, counted from the end that the
 * scan begins at. Rows beyond the vector read as anything and are not written; the fewer than 32 + 4
 * elements that whole rows leave over at an end are copied one by one.
 */
struct bulk_vector {
    CUtensorMap map;
    int64_t rows;  /* that lie in the vector; 0: there is no map */
    int64_t first; /* below 32 */
    int shift;
};

struct bulk_arguments {
    bulk_vector in, out;
    scan_arguments rest;
};

#ifdef VSCAN__BULK

/*
 * P(to) from P(from), by the folder. All words are asked for at once, and then waited for 32 at a
 * time, so that what comes last meets a sum of everything before.
 */
template <class Pair, bool Segmented>
static __device__ typename Pair::U
fold_tiles(typename Pair::U p, const word *words, uint32_t tag, int64_t from, int64_t to,
           typename Pair::U *aggregates, int lane, int64_t *heads_before) {
    using U = typename Pair::U;
    constexpr int per_lane = bulk_shape<Pair, Segmented>::fold_words;
    uint32_t count = 0;
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
            count += heads[k];
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
        if (Segmented) {
            *heads_before += __reduce_add_sync(all_lanes, count);
            count = 0;
        }
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

    /* A slot's quarter or row in memory, from its number in scan order. */
    __device__ int in_memory(int number, int count) const {
        return a.scan.backward ? count - 1 - number : number;
    }
    /* The first of a vector's rows in a tile; below 0 or beyond the last: not in the vector. */
    __device__ int64_t row_of(const bulk_vector &v, int64_t tile) const {
        return a.scan.backward ? (a.scan.n - v.first) / R - (tile + 1) * shape::rows
                               : tile * shape::rows;
    }
    /* Elements of a tile, counted from its first row on: those of the vector that are in no whole row
       are from .. to - 1, before (low) or after the whole rows. */
    __device__ void left_over(const bulk_vector &v, int64_t tile, bool low, int *from,
                              int *to) const {
        const int64_t begin = row_of(v, tile) * R;
        int64_t f = low ? v.shift - v.first : v.rows * R;
        int64_t t = low ? 0 : a.scan.n - v.first + v.shift;
        f = f - begin < 0 ? 0 : f - begin;
        t = t - begin > shape::items + v.shift ? shape::items + v.shift : t - begin;
        *from = f < t ? (int)f : 0;
        *to = f < t ? (int)t : 0;
    }
    /* The address in memory of element o of a tile, counted in the same way. */
    template <class P>
    __device__ P *address(P *vector, const bulk_vector &v, int64_t tile, int o) const {
        return vector + (row_of(v, tile) * R + o + v.first - v.shift);
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

    /* Memory is asked for the tile as soon as there is a ticket, before there is a slot for it. */
    __device__ void prefetch(int64_t tile) const {
        if (Segmented && lane / shape::quarters == 1) prefetch_flags(tile, lane % shape::quarters);
        const int64_t row = row_of(b.in, tile);
        if (lane >= shape::quarters || row < 0 || row + shape::rows > b.in.rows) return;
        bulk_prefetch(address((const T *)a.scan.in, b.in, tile, lane * shape::quarter_items),
                      shape::quarter_items * sizeof(T));
    }

    /* Whether any row of the quarter that begins with row first lies in the vector. */
    __device__ bool is_in(const bulk_vector &v, int64_t first) const {
        return first > -shape::quarter_rows && first < v.rows;
    }

    /* All rows, by one thread: quarter q to barriers[q * step]. */
    __device__ void load_rows(int slot, int64_t tile, uint64_t *barriers, int step) const {
        const int64_t row = row_of(b.in, tile);
        const bool more = b.in.shift > 0 && row + shape::rows < b.in.rows;
#pragma unroll 1
        for (int q = 0; q < shape::quarters; ++q) {
            const int quarter = in_memory(q, shape::quarters);
            const bool last = more && quarter == shape::quarters - 1;
            const int64_t first = row + quarter * shape::quarter_rows;
            const bool rows = is_in(b.in, first);
            uint64_t *const barrier = barriers + q * step;
            barrier_arrive_expecting(barrier,
                                     (rows ? shape::quarter_items * sizeof(T) : 0) + 16 * last);
            if (rows)
                tensor_load(shared.slot[slot] + quarter * shape::quarter_items, &b.in.map,
                            (int)first, barrier);
            if (last)
                bulk_load(shared.after[slot],
                          address((const T *)a.scan.in, b.in, tile, shape::items), 16, barrier);
        }
    }

    __device__ void load_left_over(int slot, int64_t tile, bool low) const {
        int from, to;
        left_over(b.in, tile, low, &from, &to);
        for (int o = from + lane; o < to; o += 32) {
            T *const at = o < shape::items ? swizzled(shared.slot[slot], o)
                                           : shared.after[slot] + (o - shape::items);
            *at = *address((const T *)a.scan.in, b.in, tile, o);
        }
    }

    __device__ bool has_left_over(const bulk_vector &v, int64_t tile) const {
        int from[2], to[2];
        left_over(v, tile, true, from, to);
        left_over(v, tile, false, from + 1, to + 1);
        return to[0] + to[1] > 0;
    }

    __device__ void load(int k, int64_t tile) const {
        if (lane == 0) load_rows(slot_of(k), tile, shared.loaded[slot_of(k)], 1);
    }

    /* A tile with elements that are in no whole row. */
    __device__ void load_edge(int k, int64_t tile, uint32_t parity) const {
        const int slot = slot_of(k);
        uint64_t *const edge = &shared.edge;
        if (b.in.rows > 0) {
            if (lane == 0) load_rows(slot, tile, edge, 0);
            barrier_wait(edge, parity);
        }
        load_left_over(slot, tile, true);
        load_left_over(slot, tile, false);
        fence_for_bulk(); /* the slot's next tile comes by a copy */
        __syncwarp();
        if (lane < shape::quarters) barrier_arrive_at(&shared.loaded[slot][lane]);
    }

    __device__ void load_tiles() const {
        int edges = 0;
        for (int k = 0;; ++k) {
            const int before = k - shape::slots; /* the tile whose slot this will be */
            /* A ticket takes some time to come, and makes those behind it wait from then on. */
            if (before > 0)
                barrier_wait(&shared.folded[ring_of(before - 1)], ring_parity(before - 1));
            const int64_t tile = take(k == 0);
            if (tile < tiles) prefetch(tile);
            const bool edge = tile < tiles && has_left_over(b.in, tile);
            for (int q = 0; q < shape::quarters && before >= 0; ++q)
                barrier_wait(&shared.emptied[slot_of(k)][q], slot_parity(before));
            /* The scanners have finished tile k - 3: what is known of it may be overwritten. */
            if (lane == 0) {
                shared.tile[k % shape::numbers] = tile;
                barrier_arrive_at(&shared.taken[k % shape::numbers]);
            }
            if (tile >= tiles) return;
            if (edge)
                load_edge(k, tile, edges++ & 1);
            else
                load(k, tile);
        }
    }

    /* ---- Flags ---- */

    /* Memory is asked for a tile's flags together with its elements: a quarter, by one thread. */
    __device__ void prefetch_flags(int64_t tile, int quarter) const {
        constexpr int count = shape::quarter_items;
        const int log_bits = a.scan.flag_type == VSCAN_INT    ? 5
                             : a.scan.flag_type == VSCAN_BYTE ? 3
                                                              : 0;
        const int64_t i = tile * shape::items + quarter * count;
        const int64_t first = a.scan.backward ? a.scan.n - i - (count - 1) : i;
        const uintptr_t flags = (uintptr_t)a.scan.flags;
        if (first < 0 || first + count > a.scan.n) return;
        const uintptr_t from = (flags + (first << log_bits >> 3) + 15) & ~(uintptr_t)15;
        const uintptr_t to = (flags + ((first + count) << log_bits >> 3)) & ~(uintptr_t)15;
        if (from < to) bulk_prefetch((const void *)from, (uint32_t)(to - from));
    }

    /* The head flags of a tile to shared.heads, in scan order, by all summers: 16 flags a lane. */
    __device__ void mark(int summer, int k, int64_t tile) const {
        if (a.scan.flag_type == VSCAN_INT)
            mark_from<VSCAN_INT, 2>(summer, k, tile);
        else if (a.scan.flag_type == VSCAN_BYTE)
            mark_from<VSCAN_BYTE, 4>(summer, k, tile);
        else
            mark_from<VSCAN_BIT, 4>(summer, k, tile);
    }

    /* Most: how often a lane asks for 16 flags before it uses any; 16 registers each for ints. */
    template <int Type, int Most>
    __device__ void mark_from(int summer, int k, int64_t tile) const {
        constexpr int lanes = 32 * shape::summers, rounds = shape::items / 16 / lanes;
        constexpr int batch = Most < rounds ? Most : rounds;
        uint16_t *const heads = (uint16_t *)shared.heads[ring_of(k)];
#pragma unroll 1
        for (int begin = 0; begin < rounds; begin += batch) {
            head_flags<Type> flags[batch];
#pragma unroll
            for (int r = 0; r < batch; ++r) {
                const int at = (begin + r) * lanes + summer * 32 + lane;
                flags[r].load(a.scan, tile * shape::items + at * 16);
            }
#pragma unroll
            for (int r = 0; r < batch; ++r) {
                const int at = (begin + r) * lanes + summer * 32 + lane;
                heads[at] = (uint16_t)flags[r].bits(a.scan, tile * shape::items + at * 16);
                barrier_arrive_at(&shared.marked[ring_of(k)][at * 16 / shape::quarter_items]);
            }
        }
    }

    /* Until a quarter can be read; where rows are shifted, its neighbour too. */
    __device__ void wait_loaded(int k, int quarter) const {
        for (int q = 0; q < shape::quarters; ++q)
            if (q == quarter || b.in.shift > 0)
                barrier_wait(&shared.loaded[slot_of(k)][q], slot_parity(k));
    }

    /* ---- Summers ---- */

    static __device__ void meet_summers() {
        meet_warps<1, 32 * shape::summers>();
    }

    /*
     * The sums of a part's groups, one a lane: lane g has group g; lanes beyond: the identity.
     * Segmented: the sums from a group's last head on, with the initial value added to that element.
     * The balanced tree does not mind scanning backward: only left and right change places.
     */
    __device__ U sum_groups(int slot, int ring, int part) const {
        const int row = part * 32 + lane;
        U x[R];
        read_row<Pair>(x, shared.slot[slot], in_memory(row, shape::rows), b.in.shift,
                       shared.after[slot], false);
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
            if (Segmented) mark(summer, k, tile);
#pragma unroll
            for (int s = 0; s < shape::sums; ++s) {
                const int part = s * shape::summers + summer, q = part / shape::quarter_parts;
                if (Segmented) barrier_wait(&shared.marked[ring][q], ring_parity(k));
                wait_loaded(k, q);
                inside[s][0] = sum_groups(slot, ring, part);
                barrier_arrive_at(&shared.emptied[slot][q]);
                sum_part(ring, part, inside[s]);
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
            const uint32_t count = __reduce_add_sync(all_lanes, (uint32_t)__popc(word));
            if (lane == 0) shared.part_count[ring][part] = (int)count;
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
            uint32_t count = 0;
            if (Segmented)
                count = __reduce_add_sync(
                    all_lanes, lane < shape::parts ? (uint32_t)shared.part_count[ring][lane] : 0u);
            if (lane == 0) {
                test_delay(a.delay, shared.tag, tile, 0);
                unit_word<U>::publish(a.words, tile, shared.tag | count, block[shape::levels]);
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
        int64_t folded = 0, heads_before = 0;
        for (int k = 0;; ++k) {
            const int64_t tile = tile_of(k);
            if (tile >= tiles) return;
            test_delay(a.delay, shared.tag, tile, 1);
            p = fold_tiles<Pair, Segmented>(p, a.words, shared.tag, folded, tile, shared.aggregates,
                                            lane, &heads_before);
            folded = tile;
            if (lane == 0) {
                shared.p[ring_of(k)] = p;
                shared.heads_before[ring_of(k)] = heads_before;
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
            wait_loaded(k, q);
            read_row<Pair>(x, shared.slot[slot], at_row, b.in.shift, shared.after[slot],
                           a.scan.backward);
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
            /* all but P first */
            if (!Pair::in_any_order && !closed) {
#pragma unroll
                for (int j = 0; j < R; ++j)
                    if (!Segmented || !(heads & ((2u << j) - 1))) x[j] = Pair::combine(e, x[j]);
                if ((right || !half_groups) && (!Segmented || !(heads & ((2u << (R - 1)) - 1))))
                    x[R - 1] = end;
            }
            barrier_wait(&shared.folded[ring], ring_parity(k));
            const U p = reached ? shared.p[ring] : Pair::identity;
            U first = Pair::combine(p, e); /* exclusive: the lane's first result */
            if (Pair::in_any_order || !closed) {
                const U base = Pair::in_any_order ? closed ? left : Pair::combine(first, left) : p;
#pragma unroll
                for (int j = 0; j < R; ++j)
                    if (!Segmented || !(heads & ((2u << j) - 1))) x[j] = Pair::combine(base, x[j]);
            }
            if (half_groups) {
                const U before = __shfl_up_sync(all_lanes, x[R - 1], 1);
                if (right) first = before;
            }
            if (!Segmented && tile == tiles - 1 && a.scan.total != nullptr)
                write_total(x, tile, row);
            if (Segmented && (a.scan.totals != nullptr || a.scan.count != nullptr))
                write_totals(x, heads, tile, part, ring);

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

    template <int Shift>
    __device__ __forceinline__ void write_shifted(const U (&y)[R], int at_row) const {
        if (a.scan.backward)
            write_row<Pair, true, Shift>(y, shared.staged, at_row);
        else
            write_row<Pair, false, Shift>(y, shared.staged, at_row);
    }

    __device__ __forceinline__ void write(const U (&y)[R], int at_row) const {
        if (b.out.shift == 0)
            write_shifted<0>(y, at_row);
        else if (b.out.shift == 1)
            write_shifted<1>(y, at_row);
        else if (b.out.shift == 2)
            write_shifted<2 % shape::piece>(y, at_row);
        else
            write_shifted<3 % shape::piece>(y, at_row);
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

    /* The totals of the segments that end in the lane's row, and the number of segments. */
    __device__ __forceinline__ void write_totals(const U (&y)[R], uint32_t heads, int64_t tile,
                                                 int part, int ring) const {
        const vscan__scan &scan = a.scan;
        const int64_t i = tile * shape::items + (part * 32 + lane) * R;
        if (R < 32) heads &= (1u << R % 32) - 1;
        /* the segments that have begun before the row */
        const uint32_t in_parts = __reduce_add_sync(
            all_lanes, lane < part ? (uint32_t)shared.part_count[ring][lane] : 0u);
        int in_rows = __popc(heads);
#pragma unroll
        for (int d = 1; d < 32; d *= 2) {
            const int left = __shfl_up_sync(all_lanes, in_rows, d);
            if (lane >= d) in_rows += left;
        }
        const int64_t before = shared.heads_before[ring] + in_parts + in_rows - __popc(heads);
        /* where the next element begins a segment, one ends */
        uint32_t next = __shfl_down_sync(all_lanes, heads & 1, 1);
        if (lane == 31) {
            if (part + 1 < shape::parts)
                next = shared.heads[ring][(part + 1) * shape::part_groups] & 1;
            else
                next = i + R < scan.n ? head_at(scan, i + R) : 0;
        }
        const uint32_t ends = heads >> 1 | next << (R - 1);
#pragma unroll
        for (int j = 0; j < R; ++j) {
            const bool last = i + j == scan.n - 1;
            if (!last && !(ends & 1u << j)) continue;
            const int64_t segments = before + __popc(heads & ((2u << j) - 1));
            if (last && scan.count != nullptr) *scan.count = segments;
            if (scan.totals == nullptr || i + j >= scan.n) continue;
            const int64_t k =
                a.count_backward ? (int64_t)a.header->segments - segments : segments - 1;
            if (k < scan.totals_length)
                ((T *)scan.totals)[k] = Pair::out(y[j]);
            else
                *(volatile int32_t *)&a.late->status = VSCAN_ERROR_TOTALS_LENGTH;
        }
    }

    /* ---- Storer ---- */

    /* Elements o .. o + count - 1 of a tile that lie in the vector. */
    __device__ void store_elements(int64_t tile, int o, int count) const {
        for (int j = o; j < o + count; ++j) {
            T *const to = address((T *)a.scan.out, b.out, tile, j);
            if ((T *)a.scan.out <= to && to < (T *)a.scan.out + a.scan.n)
                *to = *swizzled(shared.staged, j);
        }
    }

    /* A tile that tensor copies cannot store: shifted, or not all in the vector. */
    __device__ void store_pieces(int64_t tile) const {
        constexpr int V = shape::piece, batch = 8;
        const int shift = b.out.shift;
        T *const out = (T *)a.scan.out, *const begin = address(out, b.out, tile, 0);
        const int64_t low = out - begin, high = low + a.scan.n; /* of the vector */
        if (lane == 0) store_elements(tile, shift, V - shift);
        if (lane == 1) store_elements(tile, shape::items, shift);
        if (low <= V && shape::items <= high) {
#pragma unroll 1
            for (int first = lane * V; first < shape::items; first += 32 * V * batch) {
                int4 quads[batch];
#pragma unroll
                for (int j = 0; j < batch; ++j)
                    quads[j] = *(const int4 *)swizzled(shared.staged, first + j * 32 * V);
#pragma unroll
                for (int j = 0; j < batch; ++j)
                    if (first + j > 0) /* not the first piece */
                        *(int4 *)(begin + first + j * 32 * V) = quads[j];
            }
            return;
        }
#pragma unroll 1
        for (int o = (lane + 1) * V; o < shape::items; o += 32 * V) {
            if (low <= o && o + V <= high)
                *(int4 *)(begin + o) = *(const int4 *)swizzled(shared.staged, o);
            else
                store_elements(tile, o, V);
        }
    }

    __device__ void store_tiles() const {
        for (int k = 0;; ++k) {
            const int64_t tile = tile_of(k);
            if (tile >= tiles) return;
            const int64_t row = row_of(b.out, tile);
            const bool by_rows = b.out.shift == 0 && row >= 0 && row + shape::rows <= b.out.rows;
#pragma unroll 1
            for (int q = 0; q < shape::quarters; ++q) {
                const int quarter = in_memory(q, shape::quarters);
                barrier_wait(&shared.staged_full[q], k & 1);
                if (by_rows && lane == 0)
                    tensor_store(&b.out.map, (int)row + quarter * shape::quarter_rows,
                                 shared.staged + quarter * shape::quarter_items);
            }
            if (!by_rows) store_pieces(tile);
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
    constexpr int a = 32; /* arrivals of a warp */
    for (int k = 0; k < Shape::numbers; ++k) barrier_init(&shared.taken[k], 1);
    for (int s = 0; s < Shape::slots; ++s)
        for (int q = 0; q < Shape::quarters; ++q) {
            barrier_init(&shared.loaded[s][q], 1);
            /* a scanner and a summer read each part */
            barrier_init(&shared.emptied[s][q], a * 2 * Shape::quarter_parts);
        }
    for (int r = 0; r < Shape::rings; ++r) {
        for (int q = 0; q < Shape::quarters; ++q)
            barrier_init(&shared.marked[r][q], Shape::quarter_items / 16); /* 16 flags a lane */
        barrier_init(&shared.summed[r], a * Shape::summers);
        barrier_init(&shared.folded[r], 1);
    }
    barrier_init(&shared.edge, 4);
    for (int q = 0; q < Shape::quarters; ++q) {
        barrier_init(&shared.staged_full[q], a * Shape::quarter_parts);
        barrier_init(&shared.staged_empty[q], a);
    }
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
    typename shape::shared &shared = *(typename shape::shared *)dynamic_shared();

    const vscan__scan &scan = b.rest.scan;
    U initial = Pair::identity;
    if (scan.has_initial == 1) initial = Pair::in(element_of<T>(scan.initial));
    if (scan.has_initial == 2) initial = Pair::in(*(const volatile T *)scan.initial_at);
    const bool carry = !Segmented && scan.has_initial == 2 && scan.initial_at == scan.total;
    const int warp = threadIdx.x / 32;
    const bulk_block<Pair, Segmented> block = {b,       b.rest,
                                               shared,  (scan.n + shape::items - 1) / shape::items,
                                               initial, scan.has_initial ? initial : Pair::visible,
                                               carry,   (int)threadIdx.x % 32};
    if (threadIdx.x == 0) init_barriers<shape>(shared);
    __syncthreads();
    if (warp < shape::scanners)
        block.scan(warp);
    else if (warp < shape::folder)
        block.sum(warp - shape::scanners);
    else if (warp == shape::folder)
        block.fold(Segmented ? Pair::identity : initial);
    else if (warp == shape::loader)
        block.load_tiles();
    else
        block.store_tiles();
#endif
}

/* ---- Launching ------------------------------------------------------------------------------- */

/* Whether scan_bulk can do a scan, and should. */
template <class Pair, bool Segmented>
static bool bulk_fits(const vscan__launch *launch, const vscan__scan *scan) {
    const int64_t bytes = scan->n * (int64_t)sizeof(typename Pair::T);
    static_assert(sizeof(typename bulk_shape<Pair, Segmented>::shared) <= VSCAN__BULK_SHARED,
                  "as choose_kernels has it");
    return bytes >= launch->bulk_from && launch->shared_memory > 0;
}

template <class Shape>
static cudaError_t map_vector(const vscan__launch *launch, bulk_vector *v, const void *vector,
                              const vscan__scan *scan) {
    using T = typename Shape::T;
    constexpr int R = Shape::row_items;
    v->first = scan->backward ? scan->n % R : 0;
    char *const first = (char *)vector + v->first * sizeof(T);
    v->shift = (int)((uintptr_t)first % 16 / sizeof(T));
    v->rows = (scan->n - v->first + v->shift) / R;
    if (v->rows == 0) return cudaSuccess;
    const cuuint64_t sizes[2] = {Shape::row_bytes / 4, (cuuint64_t)v->rows};
    const cuuint64_t stride = Shape::row_bytes;
    const cuuint32_t box[2] = {Shape::row_bytes / 4, Shape::quarter_rows};
    const cuuint32_t steps[2] = {1, 1};
    const CUresult result = launch->encode_tiled(
        &v->map, CU_TENSOR_MAP_DATA_TYPE_INT32, 2, first - v->shift * sizeof(T), sizes, &stride,
        box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
        CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    return result == CUDA_SUCCESS ? cudaSuccess : cudaErrorUnknown;
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
    bulk_arguments b;
    b.rest = a;
    cudaError_t error = map_vector<shape>(launch, &b.in, a.scan.in, &a.scan);
    if (error == cudaSuccess) error = map_vector<shape>(launch, &b.out, a.scan.out, &a.scan);
    if (error != cudaSuccess) return error;
    const int64_t tiles = (a.scan.n + shape::items - 1) / shape::items;
    const int blocks = (int)(tiles < launch->multiprocessors ? tiles : launch->multiprocessors);
    return start(scan_bulk<Pair, Segmented>, blocks, shape::threads, bytes, launch->stream, b);
}

} /* namespace vscan */

#endif
