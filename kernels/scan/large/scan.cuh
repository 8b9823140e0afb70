/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scan warps of scan/large/large.cuh: each lane scans a line, adds what precedes it, and writes the
 * results.
 */
#pragma once

#include "scan/large/roles.cuh"

namespace vscan {

#ifdef VSCAN__TMA

/* Totals: of the vector or a matrix row, and of segments, from results that are staged. */
template <class Pair, bool Segmented>
struct large_totals : large_role<Pair, Segmented> {
    using common = large_role<Pair, Segmented>;
    using T = typename Pair::T;
    using U = typename Pair::U;
    using shape = large_shape<Pair, Segmented>;
    static constexpr int R = shape::line_items;
    using common::a, common::carry, common::in_memory, common::lane, common::matrix,
        common::matrix_row_of, common::out_shift, common::shared, common::tile_in_row;

    /* Stores the inclusive result of the vector's last element as the total. */
    __device__ void write_total(const U (&y)[R], int64_t tile, int line) const {
        const int64_t last = this->length() - 1 - tile * shape::items;
        if (last / R != line) return;
        if (carry()) __threadfence();
        UNROLL_FOR (int j = 0; j < R; ++j)
            if (last % R == j) *(T *)a.scan.total = Pair::out(y[j], a.transform);
    }

    /* The same, of a matrix row. */
    __device__ void write_matrix_row_total(const U (&y)[R], int64_t tile, int line) const {
        const int64_t lines = matrix().length / R; /* all lines are whole */
        if (line + 1 != (int)(lines - (int64_t)tile_in_row(tile) * shape::lines)) return;
        ((T *)a.scan.total)[matrix_row_of(tile)] = Pair::out(y[R - 1], a.transform);
    }

    /*
     * Stores the totals of the segments that end in a part, and the number of segments. The
     * inclusive results have been written to `staged`; a warp reads 32 adjacent ones at a time, so
     * that adjacent totals are stored together.
     */
    DEVICE void write_totals(int64_t tile, int part, int stage) const {
        constexpr int part_words = shape::part_items / 32, batch = 4;
        const vscan__scan &scan = a.scan;
        const uint32_t *const heads = &shared.heads[stage][part * part_words]; /* and a word more */
        const int64_t to_end = scan.n - tile * shape::items - part * shape::part_items;
        if (to_end <= 0) return;
        const int last = to_end <= shape::part_items ? (int)to_end - 1 : shape::part_items;
        if (last == shape::part_items && shared.part_heads[stage][part] == 0 &&
            !(heads[part_words] & 1))
            return;
        /* segments that have begun before the part */
        const int64_t before =
            shared.heads_before[stage] +
            __reduce_add_sync(warp_mask, lane < part ? shared.part_count[stage][lane] : 0u);
        if (last < shape::part_items && lane == 0 && scan.count != nullptr)
            *scan.count = before + shared.part_count[stage][part];
        if (scan.totals == nullptr) return;

        /* the total of the part's segment s goes to at[s], backward to at[-s], if there is room */
        const int64_t first =
            a.count_backward ? (int64_t)a.lookback.header->segments - before : before - 1;
        T *const at = (T *)scan.totals + first;
        const int64_t room = scan.totals_length - first; /* for s < room, backward -s < room */
        const auto store = [&](int s, int o) {
            const int k = a.count_backward ? -s : s;
            if (k < room)
                at[k] =
                    *swizzled(shared.staged,
                              in_memory(part * shape::part_items + o, shape::items) + out_shift());
            else
                report_totals_length(a.late);
        };
        if (shared.part_count[stage][part] <= shape::sparse_heads) {
            store_sparse(heads, last, store);
            return;
        }
        int s_before = 0;
        ROLLED_FOR (int w = 0; w < part_words; w += batch) {
            uint32_t begins[batch + 1], ends[batch], any = 0;
            memcpy(begins, __builtin_assume_aligned(heads + w, 16), 16);
            begins[batch] = heads[w + batch];
            UNROLL_FOR (int j = 0; j < batch; ++j) {
                /* a segment ends where the next element begins one */
                ends[j] = __funnelshift_r(begins[j], begins[j + 1], 1);
                if (last / 32 == w + j) ends[j] |= 1u << last % 32;
                any |= ends[j];
            }
            UNROLL_FOR (int j = 0; j < batch; ++j) {
                const int s = s_before + __popc(begins[j] & ((2u << lane) - 1));
                s_before += __popc(begins[j]);
                if (any != 0 && ends[j] >> lane & 1) store(s, (w + j) * 32 + lane);
            }
        }
    }

    /* The same where heads are sparse: each lane takes a segment, and searches for its end. */
    template <class Store>
    __device__ void store_sparse(const uint32_t *heads, int last, Store store) const {
        constexpr int part_words = shape::part_items / 32;
        uint32_t ends = 0; /* in one 32-bit word */
        if (lane < part_words) ends = __funnelshift_r(heads[lane], heads[lane + 1], 1);
        if (last / 32 == lane && lane < part_words) ends |= 1u << last % 32;
        int upto = __popc(ends); /* in this word and those before it */
        UNROLL_FOR (int d = 1; d < 32; d *= 2) {
            const int left = __shfl_up_sync(warp_mask, upto, d);
            if (lane >= d) upto += left;
        }
        const int before = upto - __popc(ends), all = __shfl_sync(warp_mask, upto, 31);
        const int s = heads[0] & 1; /* of the first end; the next ends have the next numbers */
        ROLLED_FOR (int first = 0; first < all; first += 32) {
            const int number = first + lane;
            int w = 0; /* the number of words whose ends all have smaller numbers */
            UNROLL_FOR (int step = 16; step > 0; step /= 2)
                if (__shfl_sync(warp_mask, upto, w + step - 1) <= number) w += step;
            uint32_t bits = __shfl_sync(warp_mask, ends, w);
            int rank = number - __shfl_sync(warp_mask, before, w), o = w * 32;
            UNROLL_FOR (int half = 16; half > 0; half /= 2) {
                const int low = __popc(bits & ((1u << half) - 1));
                if (rank < low) continue;
                rank -= low;
                bits >>= half;
                o += half;
            }
            if (number < all) store(s + number, o);
        }
    }
};

/* A line a lane, in scan order. */
template <class Pair, bool Segmented>
struct large_scan_warps : large_totals<Pair, Segmented> {
    using common = large_role<Pair, Segmented>;
    using T = typename Pair::T;
    using U = typename Pair::U;
    using shape = large_shape<Pair, Segmented>;
    static constexpr int R = shape::line_items;
    using common::a, common::b, common::resumed, common::group_heads, common::hand_back,
        common::in_memory, common::lane, common::matrix, common::matrix_row_of, common::of_rows,
        common::out_shift, common::shared, common::slot_of, common::stage_of, common::tile_in_row,
        common::tile_of, common::tiles, common::wait_loaded, common::with_totals;

    __device__ void scan(int part) const {
        constexpr bool two_lane_groups = shape::group_lanes == 2;
        const int line = part * 32 + lane, q = part / shape::quarter_parts;
        const int group = line / shape::group_lanes, at_line = in_memory(line, shape::lines);
        const bool right = two_lane_groups && (lane & 1); /* of its group */
        const bool backward = a.scan.backward;
        for (int k = 0;; ++k) {
            const int64_t tile = tile_of(k);
            if (tile >= tiles()) return;
            const int slot = slot_of(k), stage = stage_of(k);
            uint32_t heads = 0;
            bool closed = false; /* a head in the left lane of the group */
            if (Segmented) {
                shared.heads_ready.wait(k);
                heads = group_heads(stage, group);
                closed = right && (heads & 0xffff);
                heads >>= right ? 16 : 0;
            }

            U x[R]; /* in scan order */
            wait_loaded(k, q);
            this->read(x, slot, at_line, backward);
            hand_back(k, q);
            /* bit j: a segment begins in the group up to x[j] */
            uint32_t begun = network_spreading_heads<Pair, Segmented>(x, heads);
            if (two_lane_groups) {
                const U left = __shfl_up_sync(warp_mask, x[R - 1], 1);
                const uint32_t absent = right ? begun : ~0u;
                UNROLL_FOR (int j = 0; j < R; ++j)
                    combine_where<Pair>(!(absent & 1u << j), left, x[j]);
                if (closed) begun = ~0u;
            }

            U first = add_levels(x, k, group, begun); /* exclusive: the lane's first result */
            if (two_lane_groups) {
                const U before = __shfl_up_sync(warp_mask, x[R - 1], 1);
                if (right) first = before;
            }
            if constexpr (of_rows) {
                if (a.scan.total != nullptr && tile_in_row(tile) == matrix().row_tiles - 1)
                    this->write_matrix_row_total(x, tile, line);
            } else if (!Segmented && tile == tiles() - 1 && a.scan.total != nullptr) {
                this->write_total(x, tile, line);
            }

            shared.staged_empty.wait_for_previous(k, q);
            /* totals are the inclusive results, so these are written first where both are
                   wanted */
            ROLLED_FOR (bool more = Segmented && with_totals();; more = false) {
                if (a.scan.exclusive && !more) {
                    const U visible = shared.visible;
                    if constexpr (of_rows) { /* the prefix contains the initial value already */
                        if (!a.scan.has_initial && line == 0 && tile_in_row(tile) == 0)
                            first = Pair::visible;
                    } else if (!Segmented && tile == 0 && line == 0) {
                        if (begins()) first = visible;
                    }
                    heads = opaque(heads);
                    make_exclusive(x, first, visible, heads);
                }
                if (backward) reverse_line(x);
                write(x, at_line);
                if (!more) break;
                __syncwarp();
                if (sizeof(U) == 8)
                    write_totals_apart(b, shared, lane, tile, part, stage);
                else
                    this->write_totals(tile, part, stage);
                __syncwarp();
                if (!a.scan.exclusive) break;
                /* one by one: a 16-byte vector may hold elements of a neighbour that is
                   writing them */
                UNROLL_FOR (int j = 0; j < R; ++j)
                    x[j] = Pair::in(
                        *swizzled(shared.staged, (backward ? in_memory(line * R + j, shape::items)
                                                           : at_line * R + j) +
                                                     out_shift()),
                        a.transform);
            }
            fence_for_tma();
            shared.staged_full.arrive(k, q);
        }
    }

    /*
     * X0 becomes X4. A lane has the same R1 to R4 for all elements before the
     * first head in its group; after it there is only the initial value. Returns X4 at the end of
     * the group before: X0 is nothing there.
     *   begun  bit j: a segment begins in the group up to x[j]
     */
    DEVICE U add_levels(U (&x)[R], int k, int group, uint32_t begun) const {
        const int stage = stage_of(k), block = group / shape::block_groups;
        if (Segmented && a.scan.has_initial) {
            U initial = shared.initial;
            changed_here(initial); /* read once, not for each element */
            UNROLL_FOR (int j = 0; j < R; ++j) combine_where<Pair>(begun & 1u << j, initial, x[j]);
        }
        U first = Pair::identity;
        /* A loop, as else the compiler does most of the additions of R1 and R2 after the wait for
           R3 and R4. */
        ROLLED_FOR (int above = 0; above < 2; above = made_here(above + 1)) {
            U inner, outer;
            if (above == 0) {
                shared.groups_ready.wait(k);
                inner = shared.r1[stage][shape::index_of_group(group)];
                outer = shared.r2[stage][block];
                /* only before the first head of the block */
                const uint32_t before = (1u << group % shape::block_groups) - 1;
                if (Segmented && shared.block_heads(stage, block) & before) outer = Pair::identity;
            } else {
                shared.prefix_ready.wait(k);
                inner = shared.r3[stage];
                outer = shared.r4[stage];
                /* only before the first head of the tile */
                if (Segmented && group > shared.first_group[stage]) {
                    inner = Pair::identity;
                    outer = shared.initial;
                }
            }
            if (Segmented) begun = opaque(begun); /* registers do not suffice to keep predicates */
            UNROLL_FOR (int j = 0; j < R; ++j)
                combine_twice<Pair>(!Segmented || !(begun & 1u << j), outer, inner, x[j]);
            combine_twice<Pair>(true, outer, inner, first);
        }
        return first;
    }

    /* Inclusive results become exclusive ones. */
    static DEVICE void make_exclusive(U (&x)[R], U first, U visible, uint32_t heads) {
        UNROLL_FOR (int j = R - 1; j >= 0; --j)
            x[j] = Segmented && heads & 1u << j ? visible : j == 0 ? first : x[j - 1];
    }

    /* Nothing precedes element 0, no initial value either. */
    __device__ bool begins() const {
        if constexpr (resumed)
            return present(shared.carry.old).position == 0 &&
                   !(present(shared.carry.old).flags & VSCAN__CARRY_HAS_INITIAL);
        return true;
    }

    DEVICE void write(const U (&y)[R], int at_line) const {
        constexpr int V = shape::vector_items;
        const int offset = out_shift();
        with_constant<resumed ? R / V : 1>(offset / V, [&](auto constant) {
            constexpr int first = decltype(constant)::value;
            if (offset % V == 0)
                write_line<Pair, 0, first>(y, shared.staged, at_line, a.transform);
            else if (offset % V == 1)
                write_line<Pair, 1, first>(y, shared.staged, at_line, a.transform);
            else if (offset % V == 2)
                write_line<Pair, 2 % V, first>(y, shared.staged, at_line, a.transform);
            else
                write_line<Pair, 3 % V, first>(y, shared.staged, at_line, a.transform);
        });
    }

    /* Not inlined: with 8-byte values its code slows scans without totals by 0.04 of memcpy's
       rate. */
    static __device__ __noinline__ void write_totals_apart(const large_arguments &b,
                                                           typename shape::shared &shared, int lane,
                                                           int64_t tile, int part, int stage) {
        large_scan_warps{{{b, b.rest, shared, lane}}}.write_totals(tile, part, stage);
    }
};

#endif

} /* namespace vscan */
