/* SPDX-License-Identifier: Apache-2.0 */
/* Loader and storer of scan/large.cuh. */
#ifndef VSCAN_SCAN_LARGE_COPY_CUH
#define VSCAN_SCAN_LARGE_COPY_CUH

#include "scan/large_roles.cuh"

namespace vscan {

#ifdef VSCAN__TMA

template <class Pair, bool Segmented>
struct copy_roles : large_role<Pair, Segmented> {
    using common = large_role<Pair, Segmented>;
    using T = typename Pair::T;
    using U = typename Pair::U;
    using shape = large_shape<Pair, Segmented>;
    static constexpr int R = shape::row_items;
    using common::a;
    using common::address;
    using common::b;
    using common::heads_of;
    using common::in_memory;
    using common::in_shift;
    using common::lane;
    using common::left_over;
    using common::line_of;
    using common::matrix;
    using common::of_rows;
    using common::out_shift;
    using common::row_of;
    using common::shared;
    using common::slot_of;
    using common::slot_parity;
    using common::stage_of;
    using common::stage_phase;
    using common::tile_of;
    using common::tiles;

    /* ---- Loader ---- */

    __device__ int64_t take(bool first) const {
        ticket t = {0, 0};
        if (lane == 0) {
            t = take_ticket(a.lookback);
            end_launch_after(a.lookback, t, tiles() + gridDim.x);
            if (first) shared.epoch = t.epoch;
        }
        return __shfl_sync(all_lanes, t.index, 0);
    }

    /* Memory is asked for a tile's flags together with its elements, where they are few: a quarter,
       by one thread. */
    __device__ void prefetch_flags(int64_t tile, int quarter) const {
        constexpr int count = shape::quarter_items;
        const int log_bits = log_bits_of_flags(a.scan);
        const int64_t i = tile * shape::items + quarter * count;
        const int64_t first = a.scan.backward ? a.scan.n - i - (count - 1) : i;
        const uintptr_t flags = (uintptr_t)a.scan.flags;
        if (first < 0 || first + count > a.scan.n) return;
        const uintptr_t from = (flags + (first << log_bits >> 3) + 15) & ~(uintptr_t)15;
        const uintptr_t to = (flags + ((first + count) << log_bits >> 3)) & ~(uintptr_t)15;
        if (from < to) tma_prefetch((const void *)from, (uint32_t)(to - from));
    }

    /* Memory is asked for the tile as soon as there is a ticket, before there is a slot for it. */
    __device__ void prefetch(int64_t tile) const {
        if (Segmented && b.heads.first != nullptr) {
            if (lane == shape::quarters && tile < a.scan.n / shape::items)
                tma_prefetch(heads_of(tile), shape::items / 8);
        } else if (Segmented && lane / shape::quarters == 1) {
            const int quarter = lane % shape::quarters;
            /* of int flags those that the flag_warps begin with; they ask for the others */
            if (a.scan.flag_type != VSCAN_INT || quarter < shape::flags_first)
                prefetch_flags(tile, quarter);
        }
        const int64_t row = row_of(b.in, tile);
        if (lane >= shape::quarters || row < 0 || row + shape::rows > b.in.rows) return;
        const T *from;
        if (of_rows)
            from = (const T *)a.scan.in + line_of(tile) * matrix().pitch + row * R +
                   lane * shape::quarter_items;
        else
            from = address((const T *)a.scan.in, b.in, tile, lane * shape::quarter_items);
        tma_prefetch(from, shape::quarter_items * sizeof(T));
    }

    /* By the loader, when the kernel before this one may still be running: nothing is read that it
       may write, but memory is asked for what will be, most likely, this block's first tile. */
    __device__ void begin_early() const {
        if (lane == 0 && b.in.rows > 0) tensor_prefetch(&b.in.map);
        if (lane == 1 && b.out.rows > 0) tensor_prefetch(&b.out.map);
        prefetch(blockIdx.x);
    }

    /* Whether any row of the quarter that begins with row first lies in the vector. */
    __device__ bool is_in(const large_vector &v, int64_t first) const {
        return first > -shape::quarter_rows && first < v.rows;
    }

    /* All rows, by one thread: quarter q to barriers[q * step]. */
    __device__ void load_rows(int slot, int64_t tile, uint64_t *barriers, int step) const {
        const int64_t row = row_of(b.in, tile);
        /* a tile may have nothing but elements left over */
        const bool more = in_shift() > 0 && row + shape::rows < b.in.rows &&
                          (row + shape::rows > 0 || b.in.first >= b.in.shift);
#pragma unroll 1
        for (int q = 0; q < shape::quarters; ++q) {
            const int quarter = in_memory(q, shape::quarters);
            const bool last = more && quarter == shape::quarters - 1;
            const int64_t first = row + quarter * shape::quarter_rows;
            const bool rows = of_rows || is_in(b.in, first);
            uint64_t *const barrier = barriers + q * step;
            barrier_arrive_expecting(barrier,
                                     (rows ? shape::quarter_items * sizeof(T) : 0) + 16 * last);
            T *const to = shared.slot[slot] + quarter * shape::quarter_items;
            if constexpr (of_rows)
                tensor_load(to, &b.in.map, (int)first, line_of(tile), barrier);
            else if (rows)
                tensor_load(to, &b.in.map, (int)first, barrier);
            if (last)
                tma_load(shared.after[slot],
                         address((const T *)a.scan.in, b.in, tile, shape::items), 16, barrier);
        }
    }

    /* Written by lane 0 alone, which then arrives: racecheck does not follow a warp's own barrier to
       the arrival of another lane. */
    __device__ void load_left_over(int slot, int64_t tile, bool low) const {
        int from, to;
        left_over(b.in, tile, low, &from, &to);
        for (int o = from; o < to; o += 32) {
            T mine = T();
            if (o + lane < to) mine = *address((const T *)a.scan.in, b.in, tile, o + lane);
            for (int j = o; j < o + 32 && j < to; ++j) {
                const T x = __shfl_sync(all_lanes, mine, j - o);
                T *const at = j < shape::items ? swizzled(shared.slot[slot], j)
                                               : shared.after[slot] + (j - shape::items);
                if (lane == 0) *at = x;
            }
        }
    }

    __device__ bool has_left_over(const large_vector &v, int64_t tile) const {
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
        fence_for_tma(); /* the slot's next tile comes by a copy */
        for (int q = 0; q < shape::quarters && lane == 0; ++q)
            barrier_arrive_at(&shared.loaded[slot][q]);
    }

    __device__ void load_tiles() const {
        int edges = 0;
        for (int k = 0;; ++k) {
            const int before = k - shape::slots; /* the tile whose slot this will be */
            /* A ticket takes some time to come, and makes those behind it wait from then on. */
            if (before > 0)
                barrier_wait(&shared.folded[stage_of(before - 1)], stage_phase(before - 1));
            const int64_t tile = take(k == 0);
            if (tile < tiles() && !(k == 0 && tile == blockIdx.x)) prefetch(tile);
            /* The scanners have read tile k - 3 (emptied, when tile k - 1 was loaded), and so finished
               tile k - 4: what is known of it may be overwritten. */
            if (lane == 0) {
                shared.tile[k % shape::numbers] = tile;
                barrier_arrive_at(&shared.taken[k % shape::numbers]);
            }
            if (tile >= tiles()) break;
            const bool edge = !of_rows && has_left_over(b.in, tile);
            for (int q = 0; q < shape::quarters && before >= 0; ++q)
                barrier_wait(&shared.emptied[slot_of(k)][q], slot_parity(before));
            if (edge)
                load_edge(k, tile, edges++ & 1);
            else
                load(k, tile);
        }
        let_next_kernel_begin();
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

    /* A tile that tensor copies cannot store, as it is not all in the vector. */
    __device__ void store_pieces(int64_t tile) const {
        constexpr int V = shape::piece;
        const int shift = b.out.shift;
        T *const out = (T *)a.scan.out, *const begin = address(out, b.out, tile, 0);
        const int64_t low = out - begin, high = low + a.scan.n; /* of the vector */
        if (lane == 0) store_elements(tile, shift, V - shift);
        if (lane == 1) store_elements(tile, shape::items, shift);
        /* pieces of the vector alone: a tile may have few, and trying all the others takes 20 us */
        const int first = low > V ? (int)(low / V) * V : V;
        const int end = high < shape::items ? (int)high : shape::items;
#pragma unroll 1
        for (int o = first + lane * V; o < end; o += 32 * V) {
            if (low <= o && o + V <= high)
                *(int4 *)(begin + o) = *(const int4 *)swizzled(shared.staged, o);
            else
                store_elements(tile, o, V);
        }
    }

    /*
     * Shifted: the tile's first row is shared with its neighbour in memory, and what that row lacks at
     * the end is in the row after the last. Both are stored by elements, all others by the copies that
     * there are, of a quarter's number of rows: the first one begins a row later, and has one row in
     * common with the second.
     */
    __device__ void store_shifted(int64_t tile, int64_t row) const {
        const int shift = b.out.shift;
        const int o = lane < R ? lane : R;
        const int mine = o < shift ? shape::items + o : o; /* of the last row, or of the first */
        if (lane < R) *address((T *)a.scan.out, b.out, tile, mine) = *swizzled(shared.staged, mine);
        if (lane != 0) return;
#pragma unroll 1
        for (int q = 0; q < shape::quarters; ++q) {
            const int from = q * shape::quarter_rows + (q == 0);
            tensor_store(&b.out.map, (int)row + from, shared.staged + from * R);
        }
    }

    __device__ __forceinline__ void store_quarter(int64_t tile, int row, const T *from) const {
        if constexpr (of_rows)
            tensor_store(&b.out.map, row, line_of(tile), from);
        else
            tensor_store(&b.out.map, row, from);
    }

    __device__ void store_tiles() const {
        for (int k = 0;; ++k) {
            const int64_t tile = tile_of(k);
            if (tile >= tiles()) return;
            const int64_t row = row_of(b.out, tile);
            const int shift = out_shift();
            /* shifted, a tile ends in a row that may not be whole */
            const bool by_rows =
                of_rows || (row >= 0 && row + shape::rows <= b.out.rows &&
                            (shift == 0 || (row * R + b.out.first >= 0 &&
                                            (row + shape::rows) * R + b.out.first <= a.scan.n)));
#pragma unroll 1
            for (int q = 0; q < shape::quarters; ++q) {
                const int quarter = in_memory(q, shape::quarters);
                barrier_wait(&shared.staged_full[q], k & 1);
                if (by_rows && shift == 0 && lane == 0)
                    store_quarter(tile, (int)row + quarter * shape::quarter_rows,
                                  shared.staged + quarter * shape::quarter_items);
            }
            if (!by_rows)
                store_pieces(tile);
            else if (shift > 0)
                store_shifted(tile, row);
            if (by_rows && lane == 0) {
                /* shifted, what is staged next meets more than one copy */
                if (shift == 0)
                    tensor_stores_read<3>();
                else
                    tensor_stores_read<0>();
            }
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

#endif

} /* namespace vscan */

#endif
