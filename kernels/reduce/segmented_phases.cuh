/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The phases of the segmented reduction (reduce/segmented.cuh), in the order in which a block runs
 * them: load the next partition, reduce it, publish its aggregate; look back for the partition
 * before; write totals. A block's state between phases is in registers and in segments_shared.
 */
#pragma once

#include "machine/warp.cuh"
#include "reduce/segmented_tile.cuh"

namespace vscan {

/* A block's state between phases. */
template <class Pair>
struct segmented_state {
    using T = typename Pair::T;
    using U = typename Pair::U;
    using shape = segments_shape<Pair>;
    static constexpr int R = shape::line_items, V = shape::vector_items, G = shape::group_lines;

    /* Heads of a partition: of the lane's line; how many precede these in the warp; how many
       precede the warp's; of the warp; of the partition. */
    struct heads_of_partition {
        uint32_t line = 0;
        int line_rank = 0;
        uint32_t warp_rank = 0, warp_count = 0, count = 0;
        uint32_t blocks = 0; /* where the order matters: bit G * k: block k is before the first */
    };

    const segmented_reduce_arguments &a;
    segments_shared<Pair> &shared;
    const U initial;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
    const int items = warps * shape::share;
    const int parts = Pair::in_any_order ? 1 : shape::tile / items; /* of a tile: 1, 2 or 4 */

    int64_t next = -1, partition = -1; /* read; whose totals are staged; -1: none */
    epoch_t epoch = 0;
    int buffer = 1;                    /* of the next partition's shares */
    heads_of_partition coming, staged; /* of the next partition, of the other */
    uint32_t warps_with_heads = 0;     /* of the next partition: bit w: its warp w has some */
    U p = Pair::identity;              /* in any order, in the first warp: prefix of tile `seen` */
    int64_t seen = 0, before = 0;      /* heads before it */

    DEVICE segmented_state(const segmented_reduce_arguments &a, segments_shared<Pair> &shared)
        : a(a), shared(shared), initial(initial_of<Pair>(a)) {}

    DEVICE T *share_of(int number, int w) const {
        return (T *)dynamic_shared() + (number * warps + w) * shape::share;
    }

    /* Where the next partition's sums and first head are kept. */
    DEVICE int kept() const { return Pair::in_any_order ? 0 : buffer; }

    /* ---- Tickets ----------------------------------------------------------------------------- */

    /* The last thread takes the block's next ticket, if there may be more partitions. */
    DEVICE void take() const {
        if (threadIdx.x != blockDim.x - 1 || next >= a.partitions) return;
        ticket t = {0, (uint32_t)(next + 1)}; /* one partition needs no tickets */
        if (a.partitions > 1) {
            t = take_ticket(a.lookback);
            end_launch_after(a.lookback, t, a.partitions + gridDim.x);
        }
        shared.next = t;
    }
};

/* Reduces the next partition. */
template <class Pair>
struct next_partition : segmented_state<Pair> {
    using state = segmented_state<Pair>;
    using state::a, state::buffer, state::coming, state::G, state::initial, state::kept,
        state::lane, state::next, state::items, state::R, state::share_of, state::shared, state::V,
        state::warp, state::warps, state::warps_with_heads;
    using state::segmented_state;
    using typename state::shape;
    using typename state::T;
    using typename state::U;

    /* ---- The next partition: elements and heads ---------------------------------------------- */

    DEVICE void load() {
        const int64_t first = next * items + warp * shape::share;
        load_share<Pair>(a, share_of(buffer, warp), first);
#ifdef VSCAN__TMA
        commit_async_copies();
#endif
        coming.line = heads_of_flags<R>(a, first);
        const uint32_t upto = warp_inclusive_sum(__popc(coming.line));
        coming.line_rank = (int)upto - __popc(coming.line);
        coming.warp_count = __shfl_sync(warp_mask, upto, 31);
#ifdef VSCAN__TMA
        wait_async_copies(0);
#endif
        __syncwarp();
    }

    /* ---- The next partition: lines, lanes, warps --------------------------------------------- */

    /* Of a line's first head: what precedes it in its group, and in the partition before. */
    struct line_sums {
        U r1, pre;
        bool inside; /* the group has a head in an earlier line */
        unsigned any;
        int group; /* its first lane */
    };

    /* Reduces the lines; totals between two heads of a line are staged. */
    DEVICE line_sums reduce_lines(U &sum) const {
        T *const share = share_of(buffer, warp);
        const uint32_t heads = coming.line;
        line_sums s;
        U x[R];
        UNROLL_FOR (int c = 0; c < R / V; ++c) {
            T raw[V];
            const int4 quad = *(const int4 *)swizzled(share, lane * R + c * V);
            memcpy(raw, &quad, 16);
            UNROLL_FOR (int j = 0; j < V; ++j) x[c * V + j] = Pair::in(raw[j], a.transform);
        }
        __syncwarp();
        if (Pair::in_any_order && a.scan.has_initial) {
            UNROLL_FOR (int j = 0; j < R; ++j)
                if (heads >> j & 1) x[j] = Pair::combine(initial, x[j]);
        }
        if (coming.warp_count == 0)
            s.pre = sum = sum_items<Pair>(x);
        else
            reduce_line<Pair>(x, heads, share, coming.line_rank, &s.pre, &sum, a.transform);
        return s;
    }

    /* Adds the groups of a warp. */
    DEVICE U add_groups(int of, uint32_t mask, U sum) const {
        U x[32 / G];
        load_values(x, shared.groups + of * (32 / G));
        __syncwarp(); /* or ptxas would load them one by one, and wait for each */
        return add_under<Pair, G>(mask, sum, x);
    }

    /* r1 of all lines, and the sums of warps or of blocks of level 1. */
    DEVICE void add_lanes(line_sums &s, U &sum) const {
        bool head = coming.line != 0;
        s.inside = false;
        if (G == 2) {
            const U other = __shfl_xor_sync(warp_mask, sum, 1);
            const bool other_head = __shfl_xor_sync(warp_mask, (int)head, 1);
            if (lane & 1) {
                s.pre = Pair::combine(other, s.pre);
                s.inside = other_head;
                if (!head) sum = Pair::combine(other, sum);
            } else if (other_head) {
                sum = other;
            } else {
                sum = Pair::combine(sum, other);
            }
            head |= other_head;
        }
        s.any = __ballot_sync(warp_mask, head);
        s.group = lane & ~(G - 1);
        if constexpr (Pair::in_any_order) {
            UNROLL_FOR (int half = G; half < 32; half *= 2) {
                const int right = lane & ~(half - 1);
                const U left = __shfl_sync(warp_mask, sum, right - 1);
                const bool open = !head && !(s.any & ((1u << s.group) - (1u << right)));
                if ((lane & half) && open) sum = Pair::combine(left, sum);
            }
            s.r1 = __shfl_up_sync(warp_mask, sum, G);
            if (lane < G) s.r1 = Pair::identity;
        } else {
            const uint32_t below = (1u << s.group) - 1;
            if (lane % G == 0) shared.groups[threadIdx.x / G] = sum;
            s.r1 = Pair::identity;
            if (G == 2) {
                if (lane == 0) shared.any_heads[warp] = s.any;
                sync_warps(1 + warp / 2, 64);
                if (warp % 2) { /* the block begins in the warp before */
                    const uint32_t since = since_last_head<G>(shared.any_heads[warp - 1], ~0u);
                    s.r1 = add_groups(warp - 1, s.any & below ? 0 : since, s.r1);
                }
            } else {
                __syncwarp();
            }
            s.r1 = add_groups(warp, since_last_head<G>(s.any, below), s.r1);
            if (!head) sum = Pair::combine(s.r1, sum);
        }
        if (lane == 31) {
            if (warp % G == G - 1) shared.sums[kept()][warp / G] = sum;
            shared.counts[warp] = coming.warp_count;
        }
        __syncthreads(); /* (1) */
    }

    /* Counts the partition's heads, and those before the warp; in any order also adds warps, and
       returns the partition's sum from its last head on. */
    DEVICE U add_warps(line_sums &s) {
        U level = Pair::identity; /* of warp `lane` */
        uint32_t count = 0;
        if (lane < warps) {
            level = shared.sums[kept()][lane];
            count = shared.counts[lane];
        }
        const uint32_t with_heads = __ballot_sync(warp_mask, count != 0);
        warps_with_heads = with_heads;
        if constexpr (Pair::in_any_order) {
            const uint32_t counts = warp_inclusive_sum<segments_warps>(count);
            coming.count = __shfl_sync(warp_mask, counts, segments_warps - 1);
            coming.warp_rank = __shfl_sync(warp_mask, counts - count, warp);
            const bool first_group =
                !(s.any & ((1u << s.group) - 1)); /* no earlier heads in the warp */
            UNROLL_FOR (int half = 1; half < segments_warps; half *= 2) {
                const int right = lane & ~(half - 1), right_here = warp & ~(half - 1);
                const U left = __shfl_sync(warp_mask, level, right - 1);
                const U left_here = __shfl_sync(warp_mask, level, right_here - 1);
                if ((warp & half) && first_group &&
                    !(with_heads & ((1u << warp) - (1u << right_here))))
                    s.r1 = Pair::combine(left_here, s.r1);
                if ((lane & half) && !(with_heads & ((2u << lane) - (1u << right))))
                    level = Pair::combine(left, level);
            }
            return __shfl_sync(warp_mask, level, segments_warps - 1);
        } else { /* sooner than by shuffles: others wait for the count */
            uint32_t counts[segments_warps];
            load_values(counts, shared.counts);
            using plus = pair<op_plus, int>;
            coming.count = add_under<plus, 1>((1u << warps) - 1, 0u, counts);
            coming.warp_rank = add_under<plus, 1>((1u << warp) - 1, 0u, counts);
            const int first = __ffs((int)(with_heads | 1u << warps)) - 1;
            coming.blocks = (1u << (first & ~(G - 1))) - 1;
            return Pair::identity;
        }
    }

    /* Of a line, where an earlier one has a head. */
    DEVICE U r2_of(const line_sums &s) const {
        const uint32_t begin = 1u << (warp & ~(G - 1)); /* of the block */
        const bool in_block =
            (s.any & ((1u << s.group) - 1)) || warps_with_heads & ((1u << warp) - begin);
        if (in_block) return Pair::identity;
        return add_blocks(kept(), since_last_head<G>(warps_with_heads, begin - 1), Pair::identity);
    }
    DEVICE U add_blocks(int of, uint32_t mask, U sum) const {
        U x[segments_warps / G];
        load_values(x, shared.sums[of]);
        return add_under<Pair, G>(mask, sum, x);
    }
};

/* Stages its first total, publishes its aggregate, and looks back for the partition before. */
template <class Pair>
struct partition_look_back : next_partition<Pair> {
    using base = next_partition<Pair>;
    using base::a, base::add_blocks, base::before, base::buffer, base::coming, base::epoch, base::G,
        base::initial, base::items, base::kept, base::lane, base::next, base::p, base::partition,
        base::parts, base::R, base::r2_of, base::seen, base::shared, base::share_of, base::staged,
        base::warp, base::warps, base::warps_with_heads;
    using base::next_partition;
    using typename base::line_sums;
    using typename base::shape;
    using typename base::T;
    using typename base::U;

    /* The total that a line's first head ends: staged, but for the partition's first head. */
    DEVICE void stage_first_total(const line_sums &s) const {
        T *const share = share_of(buffer, warp);
        const int rank = coming.line_rank;
        if (coming.line == 0) return;
        if (s.inside) {
            share[staged_at<T>(rank)] = Pair::out(s.pre, a.transform);
        } else if (rank + coming.warp_rank == 0) {
            first_head<U> &first = shared.first[kept()];
            first.r1 = s.r1;
            first.pre = s.pre;
            first.at = threadIdx.x * R + __ffs((int)coming.line) - 1;
        } else {
            U total = Pair::combine(s.r1, s.pre);
            if constexpr (!Pair::in_any_order) total = Pair::combine(r2_of(s), total);
            share[staged_at<T>(rank)] = Pair::out(total, a.transform);
        }
    }

    /* In any order: the next partition's sum; else what its tile has from the last head on. */
    DEVICE void publish_next(U sum) const {
        if constexpr (!Pair::in_any_order) {
            publish_in_order();
        } else {
            if (threadIdx.x != 0 || a.partitions == 1) return;
            jitter(a.lookback, epoch, next, jitter_publish);
            if (a.scan.out == a.scan.in) __threadfence();
            publish<U>(a.lookback, epoch, next, sum, coming.count);
        }
    }

    /* By the last warp. Where the partition has a head, its sum from the last one on needs nothing
       of other partitions; else it continues that of its tile's partitions before. */
    DEVICE void publish_in_order() const {
        if (warp != warps - 1 || a.partitions == 1) return;
        jitter(a.lookback, epoch, next, jitter_publish);
        uint32_t none;
        const uint32_t heads = warps_with_heads;
        const U r2 = heads ? (U)Pair::identity : r2_at(next, none);
        const U sum = add_blocks(kept(), since_last_head<G>(heads, (1u << warps) - 1), r2);
        if (a.scan.out == a.scan.in) __threadfence();
        if (lane == 0) publish<U>(a.lookback, epoch, next, sum, coming.count);
    }

    /* r2 where a partition begins, and heads of its tile before it. */
    DEVICE U r2_at(int64_t of, uint32_t &heads) const {
        U r2 = Pair::identity;
        heads = 0;
        for (int64_t k = of & -(int64_t)parts; k < of; ++k) {
            uint32_t count;
            while (!try_read(a.lookback, epoch, k, &r2, &count)) {
            }
            heads += count;
        }
        return r2;
    }

    /* ---- Look-back --------------------------------------------------------------------------- */

    /* Moves p and `before` on to the partition's tile. A thread reads the aggregate of one tile. */
    DEVICE void look_back() {
        jitter(a.lookback, epoch, partition, jitter_wait);
        const int64_t own = partition >> parts / 2;
        if (!Pair::in_any_order && warp == warps - 1) { /* which seldom has a tile to read */
            first_head<U> &first = shared.first[buffer ^ 1];
            uint32_t heads;
            const U r2 = add_blocks(buffer ^ 1, staged.blocks, r2_at(partition, heads));
            if (lane == 0) {
                first.r2 = r2;
                first.heads = heads;
            }
        }
        for (;;) {
            read_tile(own);
            __syncthreads(); /* (2) */
            add_tiles(own);
            seen = first_tile() + blockDim.x;
            if (seen >= own) break;
            __syncthreads();
        }
        seen = own;
    }

    /* Where the order matters, so many are added at a time, of which a block of level 3 has a
       multiple. */
    static constexpr int step = shape::tile_step;
    /* Of those that are read at a time. */
    DEVICE int64_t first_tile() const { return seen & -(int64_t)step; }

    DEVICE void read_tile(int64_t own) const {
        const int64_t tile = first_tile() + threadIdx.x;
        const bool there = tile < own && (Pair::in_any_order || tile >= seen);
        U x[shape::parts];
        uint32_t count[shape::parts];
        wait_for_all<1>(a.lookback, epoch, (U)Pair::identity, x, count, tile * parts,
                        (there ? tile + 1 : tile) * parts);
        if (a.scan.out == a.scan.in) __threadfence();
        __syncwarp();
        U sum = x[0];
        uint32_t heads = count[0];
        if constexpr (!Pair::in_any_order) {
            sum = parts == 2 ? x[1] : x[3];
            heads += count[1] + count[2] + count[3];
        }
        const uint32_t all = warp_sum(heads);
        const unsigned cut = __ballot_sync(warp_mask, heads != 0);
        if constexpr (Pair::in_any_order) { /* nothing before the last head counts */
            if (cut && lane < 31 - __clz((int)cut)) sum = Pair::identity;
            UNROLL_FOR (int d = 16; d > 0; d /= 2)
                sum = Pair::combine(sum, __shfl_xor_sync(warp_mask, sum, d));
            if (lane == 0) shared.tiles[warp] = sum;
        } else {
            shared.tiles[threadIdx.x] = sum;
        }
        if (lane == 0) {
            shared.tile_heads[warp] = cut;
            shared.tile_counts[warp] = all;
        }
    }

    DEVICE void add_tiles(int64_t own) {
        uint32_t heads_here = lane < warps ? shared.tile_counts[lane] : 0;
        UNROLL_FOR (int d = segments_warps / 2; d > 0; d /= 2)
            heads_here += __shfl_down_sync(warp_mask, heads_here, d);
        before += __shfl_sync(warp_mask, heads_here, 0);
        if (warp != 0) return;
        if constexpr (Pair::in_any_order) {
            UNROLL_FOR (int w = 0; w < segments_warps; ++w) {
                if (w >= warps) continue;
                p = shared.tile_heads[w] ? shared.tiles[w] : Pair::combine(p, shared.tiles[w]);
            }
        } else {
            before_tile<Pair> p = shared.before;
            const uint32_t heads = lane < warps ? shared.tile_heads[lane] : 0;
            const unsigned with_heads = __ballot_sync(warp_mask, heads != 0);
            int t = 0;
            if (with_heads) { /* nothing before the last tile with a head counts */
                const int last = 31 - __clz((int)with_heads);
                const int from = 32 * last + 31 - __clz((int)__shfl_sync(warp_mask, heads, last));
                t = from & -step;
                if (t + lane < from) shared.tiles[t + lane] = Pair::identity;
                p.cut(initial);
            }
            __syncwarp();
            const int64_t first = first_tile();
            const int to = own - first < (int)blockDim.x ? (int)(own - first) : (int)blockDim.x;
            U x[step], next_x[step];
            load_values(x, shared.tiles + t);
#pragma unroll 1
            while (t < to) { /* the next ones are loaded while these are added */
                load_values(next_x, shared.tiles + t + step);
                __syncwarp(); /* or ptxas would load them later */
                UNROLL_FOR (int j = 0; j < step; ++j) {
                    p.r3 = Pair::combine(p.r3, x[j]);
                    x[j] = next_x[j];
                }
                t += step;
                if (t <= to && (uint32_t)(first + t) % nested<T>::tiles == 0) {
                    p.r4 = Pair::combine(p.r4, p.r3);
                    p.r3 = Pair::identity;
                }
            }
            if (lane == 0) shared.before = p;
            __syncwarp();
        }
    }
};

/* Writes totals. */
template <class Pair>
struct segmented_reduction : partition_look_back<Pair> {
    using base = partition_look_back<Pair>;
    using base::a, base::buffer, base::initial, base::items, base::lane, base::p, base::partition,
        base::R, base::share_of, base::shared, base::staged, base::warp;
    using base::partition_look_back;
    using typename base::T;
    using typename base::U;

    /* ---- Totals ------------------------------------------------------------------------------ */

    /* In any order, elements already contain the initial value. */
    DEVICE T with_initial(T total) const {
        if constexpr (Pair::in_any_order) return total;
        return Pair::out(Pair::combine(initial, Pair::in(total, a.transform)), a.transform);
    }

    /* The total that the partition's first head ends; base: heads before the partition. */
    DEVICE void write_first_total(int64_t base, const first_head<U> &first) const {
        if (threadIdx.x != 0 || staged.count == 0) return;
        U total = Pair::combine(first.r1, first.pre);
        if constexpr (Pair::in_any_order) {
            total = Pair::combine(p, total);
        } else {
            total = Pair::combine(first.r2, total);
            total = first.heads ? Pair::combine(initial, total) : shared.before.sum(total);
        }
        const int64_t k = base - 1;
        if (a.scan.out != nullptr && base > 0)
            ((T *)a.scan.out)[partition * items + first.at - 1] = Pair::out(total, a.transform);
        else if (k >= 0 && k < a.scan.totals_length)
            ((T *)a.scan.totals)[k] = Pair::out(total, a.transform);
    }

    /* All others: to the last elements of their segments, or in a row. */
    DEVICE void write_staged_totals(int64_t base) {
        const T *const share = share_of(buffer ^ 1, warp);
        if (a.scan.out != nullptr) {
            T *const line = (T *)a.scan.out + partition * items + threadIdx.x * R - 1;
            ROLLED_FOR (uint32_t left = staged.line; left != 0;
                        left &= left - 1, ++staged.line_rank)
                if (staged.warp_rank + staged.line_rank > 0)
                    line[__ffs((int)left) - 1] =
                        with_initial(share[staged_at<T>(staged.line_rank)]);
        } else {
#pragma unroll 4
            for (int i = lane; i < (int)staged.warp_count; i += 32) {
                const int64_t k = base + staged.warp_rank + i - 1;
                if (staged.warp_rank + i > 0 && k < a.scan.totals_length)
                    ((T *)a.scan.totals)[k] = with_initial(share[staged_at<T>(i)]);
            }
            if (threadIdx.x == 0 && partition == a.partitions - 1) {
                const int64_t segments = base + staged.count - 1;
                if (a.scan.count != nullptr) *a.scan.count = segments;
                if (segments > a.scan.totals_length) report_totals_length(a.late);
            }
        }
    }
};

} /* namespace vscan */
