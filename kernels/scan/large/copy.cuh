/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The load warp and the store warp of scan/large/large.cuh.
 *
 * Whole lines are copied by TMA. The elements that belong to no whole line, at the ends of the
 * vector, are copied by ordinary loads and stores. Where TMA and ordinary accesses touch the same
 * shared memory, a proxy fence stands between them.
 */
#pragma once

#include "scan/carried/large.cuh"

namespace vscan {

#ifdef VSCAN__TMA

template <class Pair, bool Segmented>
struct load_warp : large_role<Pair, Segmented> {
    using common = large_role<Pair, Segmented>;
    using T = typename Pair::T;
    using shape = large_shape<Pair, Segmented>;
    static constexpr int R = shape::line_items;
    using common::a, common::address, common::b, common::first_line, common::resumed,
        common::heads_of, common::in_memory, common::in_shift, common::lane, common::left_over,
        common::matrix, common::matrix_row_of, common::of_rows, common::shared, common::slot_of,
        common::tiles;

    __device__ int64_t take(bool first, ticket t) const {
        if (lane == 0) {
            if (!(resumed && first)) t = take_ticket(a.lookback);
            const int64_t tickets = tiles() + (resumed ? 2 : 1) * (int64_t)gridDim.x;
            end_launch_after(a.lookback, t, tickets);
            if constexpr (resumed)
                if (t.index == tickets - 1) replace_state(a.scan.carry, shared.carry.old);
            if (first) shared.epoch = t.epoch;
        }
        return __shfl_sync(warp_mask, t.index, 0);
    }

    /* Prefetches a quarter's flags together with its elements. By one thread. */
    __device__ void prefetch_flags(int64_t tile, int quarter) const {
        constexpr int count = shape::quarter_items;
        const int log_bits = log_bits_of_flags(a.scan.flag_type);
        const int64_t i = tile * shape::items + quarter * count;
        const int64_t first = a.scan.backward ? a.scan.n - i - (count - 1) : i;
        const uintptr_t flags = (uintptr_t)a.scan.flags;
        if (first < 0 || first + count > a.scan.n) return;
        const uintptr_t from = (flags + (first << log_bits >> 3) + 15) & ~(uintptr_t)15;
        const uintptr_t to = (flags + ((first + count) << log_bits >> 3)) & ~(uintptr_t)15;
        if (from < to) tma_prefetch((const void *)from, (uint32_t)(to - from));
    }

    /* Prefetches a tile as soon as its ticket is known, before there is a slot for it. */
    __device__ void prefetch(int64_t tile) const {
        if (Segmented && b.heads.first != nullptr) {
            if (lane == shape::quarters && tile < a.scan.n / shape::items)
                tma_prefetch(heads_of(tile), shape::items / 8);
        } else if (Segmented && lane / shape::quarters == 1) {
            const int quarter = lane % shape::quarters;
            /* of int flags only what the flag warps begin with; they prefetch the rest */
            if (a.scan.flag_type != VSCAN_INT || quarter < shape::flags_first)
                prefetch_flags(tile, quarter);
        }
        const int64_t line = first_line(b.in, tile);
        if (lane >= shape::quarters || line < 0 || line + shape::lines > b.in.lines) return;
        const T *from;
        if (of_rows)
            from = (const T *)a.scan.in + matrix_row_of(tile) * matrix().pitch + line * R +
                   lane * shape::quarter_items;
        else
            from = address((const T *)a.scan.in, b.in, tile, lane * shape::quarter_items);
        tma_prefetch(from, shape::quarter_items * sizeof(T));
    }

    /* By the load warp, while the preceding kernel may still run. Nothing is read that it may
       write, but what will most likely be this block's first tile is prefetched. */
    __device__ void begin_early() const {
        if (lane == 0 && b.in.lines > 0) tensor_prefetch(&b.in.map);
        if (lane == 1 && b.out.lines > 0) tensor_prefetch(&b.out.map);
        if (!resumed) {
            prefetch(blockIdx.x);
        } else if (lane < shape::quarters) {
            /* where the tiles are, only the carry tells: about here */
            const int64_t n = a.scan.n, i = (int64_t)blockIdx.x * shape::items;
            const T *const from =
                (const T *)a.scan.in - b.in.shift + (a.scan.backward ? n - i - shape::items : i);
            if (i + shape::items <= n)
                tma_prefetch((const T *)((uintptr_t)from & ~(uintptr_t)15) +
                                 lane * shape::quarter_items,
                             shape::quarter_items * sizeof(T));
        }
    }

    /* Whether any line of the quarter that begins with line `first` is whole in the vector. */
    __device__ bool is_in(const line_map &v, int64_t first) const {
        return first > -shape::quarter_lines && first < v.lines;
    }

    /* All whole lines, by one thread; quarter q completes on barriers[q * step]. */
    __device__ void load_lines(int slot, int64_t tile, uint64_t *barriers, int step) const {
        const int64_t line = first_line(b.in, tile);
        /* a tile may have no whole line */
        const bool more = in_shift() > 0 && line + shape::lines < b.in.lines &&
                          (resumed ? line + shape::lines >= 0
                                   : line + shape::lines > 0 || b.in.first >= b.in.shift);
        constexpr int after_bytes = shape::after_items * (int)sizeof(T);
        ROLLED_FOR (int q = 0; q < shape::quarters; ++q) {
            const int quarter = in_memory(q, shape::quarters);
            const bool last = more && quarter == shape::quarters - 1;
            const int64_t first = line + quarter * shape::quarter_lines;
            const bool any = of_rows || is_in(b.in, first);
            uint64_t *const barrier = barriers + q * step;
            barrier_arrive_expecting(barrier, (any ? shape::quarter_items * sizeof(T) : 0) +
                                                  after_bytes * last);
            T *const to = shared.slot[slot] + quarter * shape::quarter_items;
            if constexpr (of_rows)
                tensor_load(to, &b.in.map, (int)first, matrix_row_of(tile), barrier);
            else if (any)
                tensor_load(to, &b.in.map, (int)first, barrier);
            if (last)
                tma_load(shared.after[slot],
                         address((const T *)a.scan.in, b.in, tile, shape::items), after_bytes,
                         barrier);
        }
    }

    /* Only lane 0 writes, and then arrives: racecheck does not follow a warp's own barrier to
       the arrival of another lane. */
    __device__ void load_left_over(int slot, int64_t tile, bool low) const {
        int from, to;
        left_over(b.in, tile, low, &from, &to);
        for (int o = from; o < to; o += 32) {
            T mine = T();
            if (o + lane < to) mine = *address((const T *)a.scan.in, b.in, tile, o + lane);
            for (int j = o; j < o + 32 && j < to; ++j) {
                const T x = __shfl_sync(warp_mask, mine, j - o);
                T *const at = j < shape::items ? swizzled(shared.slot[slot], j)
                                               : shared.after[slot] + (j - shape::items);
                if (lane == 0) *at = x;
            }
        }
    }

    __device__ bool has_left_over(const line_map &v, int64_t tile) const {
        int from[2], to[2];
        left_over(v, tile, true, from, to);
        left_over(v, tile, false, from + 1, to + 1);
        return to[0] + to[1] > 0;
    }

    __device__ void load(int k, int64_t tile) const {
        if (lane == 0) load_lines(slot_of(k), tile, shared.loaded.of(k), 1);
    }

    /* Loads a tile that has elements outside of whole lines, as `edges` tiles before had. */
    __device__ void load_edge(int k, int64_t tile, int edges) const {
        const int slot = slot_of(k);
        if (lane == 0 && b.in.lines > 0) load_lines(slot, tile, shared.edge.of(0), 0);
        if constexpr (resumed) {
            load_carried_edge(*this, slot, tile, edges);
        } else {
            if (b.in.lines > 0) shared.edge.wait(edges);
            load_left_over(slot, tile, true);
            load_left_over(slot, tile, false);
        }
        fence_for_tma(); /* TMA loads the slot's next tile */
        for (int q = 0; q < shape::quarters && lane == 0; ++q) shared.loaded.arrive(k, q);
    }

    /* first: taken already, by lane 0, where a carry goes on */
    __device__ void load_tiles(ticket first) const {
        int edges = 0;
        for (int k = 0;; ++k) {
            /* A ticket takes some time to arrive, and later tiles wait for it from then on. */
            if (k > shape::slots) shared.prefix_ready.wait(k - shape::slots - 1);
            const int64_t tile = take(k == 0, first);
            if (tile < tiles() && !(k == 0 && (resumed || tile == blockIdx.x))) prefetch(tile);
            /* The scan warps have read tile k - 3 (`emptied`, when tile k - 1 was loaded), so
               they have finished tile k - 4: its stage can be overwritten. */
            if (lane == 0) {
                shared.taken.set(k, tile);
                shared.taken.arrive(k);
            }
            if (tile >= tiles()) break;
            const bool edge =
                !of_rows && (has_left_over(b.in, tile) || (tile == 0 && this->skew() > 0));
            for (int q = 0; q < shape::quarters; ++q) shared.emptied.wait_for_previous(k, q);
            if (edge)
                load_edge(k, tile, edges++);
            else
                load(k, tile);
        }
        if (resumed) take(false, first);
        launch_dependents();
    }
};

template <class Pair, bool Segmented>
struct store_warp : large_role<Pair, Segmented> {
    using common = large_role<Pair, Segmented>;
    using T = typename Pair::T;
    using shape = large_shape<Pair, Segmented>;
    static constexpr int R = shape::line_items;
    using common::a, common::address, common::b, common::first_line, common::resumed,
        common::in_memory, common::lane, common::matrix_row_of, common::of_rows, common::out_shift,
        common::shared, common::tile_of, common::tiles;

    /* Stores those of the elements o .. o + count - 1 of a tile that are in the vector. */
    __device__ void store_elements(int64_t tile, int o, int count) const {
        for (int j = o; j < o + count; ++j) {
            T *const to = address((T *)a.scan.out, b.out, tile, j);
            if ((T *)a.scan.out <= to && to < (T *)a.scan.out + a.scan.n)
                *to = *swizzled(shared.staged, j);
        }
    }

    /* Stores a tile that is not completely in the vector, by 16-byte vectors and single
       elements. */
    __device__ void store_vectors(int64_t tile) const {
        constexpr int V = shape::vector_items;
        const int shift = b.out.shift;
        T *const out = (T *)a.scan.out, *const begin = address(out, b.out, tile, 0);
        const int64_t low = out - begin, high = low + a.scan.n; /* of the vector */
        /* whole vectors; a tile may have few, or so many that they must be under way together */
        const int first = low > V ? (int)(low + V - 1) / V * V : V;
        const int end = (high < shape::items ? (int)high : shape::items) / V * V;
#pragma unroll 8
        for (int o = first + lane * V; o < end; o += 32 * V)
            *(int4 *)(begin + o) = *(const int4 *)swizzled(shared.staged, o);
        if (lane == 0) store_elements(tile, shift, V - shift);
        if (lane == 1) store_elements(tile, shape::items, shift);
        if (lane == 2 && V < first && first <= shape::items) store_elements(tile, first - V, V);
        if (lane == 3 && V <= end && end < shape::items) store_elements(tile, end, V);
    }

    /*
     * Stores a shifted tile. The first line in memory is shared with the tile before, and what it
     * lacks at its end lies in the line after the last one. These two are stored by elements, all
     * others by tensor stores of a quarter's number of lines. The first of them begins a line
     * later, so it overlaps the second one by a line.
     */
    __device__ void store_shifted(int64_t tile, int64_t line) const {
        const int shift = b.out.shift;
        const int o = lane < R ? lane : R;
        const int mine = o < shift ? shape::items + o : o; /* in the last line, or in the first */
        if (lane < R) *address((T *)a.scan.out, b.out, tile, mine) = *swizzled(shared.staged, mine);
        if (lane != 0) return;
        ROLLED_FOR (int q = 0; q < shape::quarters; ++q) {
            const int from = q * shape::quarter_lines + (q == 0);
            tensor_store(&b.out.map, (int)line + from, shared.staged + from * R);
        }
    }

    DEVICE void store_quarter(int64_t tile, int line, const T *from) const {
        if constexpr (of_rows)
            tensor_store(&b.out.map, line, matrix_row_of(tile), from);
        else
            tensor_store(&b.out.map, line, from);
    }

    __device__ void store_tiles() const {
        for (int k = 0;; ++k) {
            const int64_t tile = tile_of(k);
            if (tile >= tiles()) return;
            const int64_t line = first_line(b.out, tile);
            const int shift = out_shift();
            /* shifted, a tile ends in a line that may not be whole */
            const bool by_lines =
                of_rows ||
                (line >= 0 && line + shape::lines <= b.out.lines &&
                 (resumed      ? shift == 0 && line * R >= b.out.shift
                  : shift == 0 ? true
                               : line * R + b.out.first >= 0 &&
                                     (line + shape::lines) * R + b.out.first <= a.scan.n));
            ROLLED_FOR (int q = 0; q < shape::quarters; ++q) {
                const int quarter = in_memory(q, shape::quarters);
                shared.staged_full.wait(k, q);
                if (by_lines && shift == 0 && lane == 0)
                    store_quarter(tile, (int)line + quarter * shape::quarter_lines,
                                  shared.staged + quarter * shape::quarter_items);
            }
            if (resumed && !by_lines)
                store_carried(*this, tile);
            else if (!by_lines)
                store_vectors(tile);
            else if (shift > 0)
                store_shifted(tile, line);
            if (by_lines && lane == 0) {
                /* shifted, a quarter lies in two stores */
                if (shift == 0)
                    tensor_stores_read<3>();
                else
                    tensor_stores_read<0>();
            }
            shared.staged_empty.arrive(k, 0);
            if (by_lines && lane == 0) tensor_stores_read<2>();
            shared.staged_empty.arrive(k, 1);
            if (by_lines && lane == 0) tensor_stores_read<1>();
            shared.staged_empty.arrive(k, 2);
            if (by_lines && lane == 0) tensor_stores_read<0>();
            shared.staged_empty.arrive(k, 3);
        }
    }
};

#endif

} /* namespace vscan */
