/* SPDX-License-Identifier: Apache-2.0 */
/* What the roles of scan/large/large.cuh share: how vectors lie in 128-byte lines, and which tiles a
   block has. */
#pragma once

#include "scan/large/tile.cuh"
#include "scan/large/head_bits.cuh"

namespace vscan {

/*
 * A vector as lines of 128 bytes, the first of which begins at a multiple of 16 bytes: element m of
 * the vector is element m - first + shift of the lines. A tile is 512 lines, counted from the end
 * at which the scan begins. Lines beyond the vector have undefined elements and are not stored. The
 * elements that belong to no whole line, fewer than 32 + 4 at an end, are copied one by one.
 */
struct line_map {
    CUtensorMap map;
    int64_t lines; /* whole lines; 0: there is no map */
    int64_t first; /* below 32 */
    int shift;
};

struct large_arguments {
    line_map in, out;
    head_bits_view heads; /* segmented */
    scan_arguments rest;
};

/* A matrix, its rows one after the other: see matrix/rows/large.cuh. The maps have the row as a
   third dimension; n counts all tiles as if each were whole; a.scan.total is the array of row
   totals. */
struct large_rows_arguments : large_arguments {
    int64_t length, pitch;
    uint32_t row_tiles;
    int32_t rows, initial_step;
};

/* Marks a pair whose scans are of matrix rows. */
template <class Pair>
struct row_by_row : Pair {};
template <class Pair>
static constexpr bool is_row_by_row = false;
template <class Pair>
static constexpr bool is_row_by_row<row_by_row<Pair>> = true;

#ifdef VSCAN__TMA

/* What each role begins with. k: index of a tile among those of the block. */
template <class Pair, bool Segmented>
struct large_role {
    using pair = Pair;
    using T = typename Pair::T;
    using U = typename Pair::U;
    using shape = large_shape<Pair, Segmented>;
    static constexpr int R = shape::line_items;
    static constexpr bool of_rows = is_row_by_row<Pair>, resumed = shape::resumed;

    const large_arguments &b;
    const scan_arguments &a;
    typename shape::shared &shared;
    int lane;

    static __device__ int slot_of(int k) { return position<shape::slots>(k).stage; }
    static __device__ int stage_of(int k) { return position<shape::stages>(k).stage; }

    __device__ const large_rows_arguments &matrix() const {
        return static_cast<const large_rows_arguments &>(b);
    }
    /* Elements of a tile's first line that precede the tile. Rows of a matrix begin at multiples of
       16 bytes. */
    __device__ int in_shift() const {
        if constexpr (resumed) return shared.carry.in_offset;
        return of_rows ? 0 : b.in.shift;
    }
    __device__ int out_shift() const {
        if constexpr (resumed) return shared.carry.out_offset;
        return of_rows ? 0 : b.out.shift;
    }
    /* Elements of all tiles, and of those before the call. */
    __device__ int64_t length() const { return a.scan.n + skew(); }
    __device__ int64_t skew() const {
        if constexpr (resumed) return shared.carry.skew;
        return 0;
    }

    /* A tile's index in its matrix row; the row's index in the matrix. */
    __device__ uint32_t tile_in_row(int64_t tile) const {
        return (uint32_t)tile % matrix().row_tiles;
    }
    __device__ int matrix_row_of(int64_t tile) const {
        const int line = (int)((uint32_t)tile / matrix().row_tiles);
        return a.scan.backward ? matrix().rows - 1 - line : line;
    }
    /* The index in memory order of a slot's quarter or line, from its index in scan order. */
    __device__ int in_memory(int number, int count) const {
        return a.scan.backward ? count - 1 - number : number;
    }
    /* The first of a tile's lines, as a line of the vector or matrix row; it may be outside. */
    __device__ int64_t first_line(const line_map &v, int64_t tile) const {
        if (of_rows) {
            const int64_t t = tile_in_row(tile);
            return a.scan.backward ? matrix().length / R - (t + 1) * shape::lines
                                   : t * shape::lines;
        }
        if constexpr (resumed) { /* rounded down; v.first is 0 */
            const int64_t begin = a.scan.backward ? length() - (tile + 1) * shape::items
                                                  : tile * shape::items - skew();
            return (begin + v.shift) >> (R == 32 ? 5 : 4);
        }
        return a.scan.backward ? (a.scan.n - v.first) / R - (tile + 1) * shape::lines
                               : tile * shape::lines;
    }
    /* The elements of a tile that are in the vector but in no whole line are from .. to - 1,
       counted from the tile's first line: those before (low) or after the whole lines. */
    __device__ void left_over(const line_map &v, int64_t tile, bool low, int *from, int *to) const {
        const int64_t begin = first_line(v, tile) * R;
        const int64_t first = v.shift - v.first; /* of the vector: in the first line or before */
        int64_t f = low || v.lines * R < first ? first : v.lines * R;
        int64_t t = low ? (first > 0 ? v.shift : 0) : a.scan.n + first;
        f = f - begin < 0 ? 0 : f - begin;
        const int end = shape::items + (resumed ? in_shift() : v.shift); /* of the tile */
        t = t - begin > end ? end : t - begin;
        *from = f < t ? (int)f : 0;
        *to = f < t ? (int)t : 0;
    }
    /* The address of element o of a tile, counted in the same way. */
    template <class P>
    __device__ P *address(P *vector, const line_map &v, int64_t tile, int o) const {
        return vector + (first_line(v, tile) * R + o + v.first - v.shift);
    }

    /* Waits until tile k has been taken, and returns its index in the vector. */
    __device__ int64_t tile_of(int k) const { return shared.taken.index_of(k); }

    /* Where a tile's head flags are as bits in scan order; NULL: nowhere. */
    __device__ const char *heads_of(int64_t tile) const {
        return b.heads.of(tile, a.scan.n / shape::items);
    }
    __device__ int64_t tiles() const { return (length() + shape::items - 1) / shape::items; }
    /* As in scan_portable: the initial value is read before an aggregate is published. */
    __device__ bool carry() const {
        return !Segmented && a.scan.has_initial == 2 && a.scan.initial_at == a.scan.total;
    }
    __device__ bool with_totals() const {
        return a.scan.totals != nullptr || a.scan.count != nullptr;
    }

    /* Bit i: a segment begins at element i of the group. */
    __device__ uint32_t group_heads(int stage, int group) const {
        return shared.heads[stage][group];
    }

    /* read_line, of the slots of tiles that are loaded. */
    DEVICE void read(U (&x)[R], int slot, int at_line, bool reversed) const {
        const int line = slot * shape::lines + at_line;
        if constexpr (resumed)
            read_line_at<Pair>(x, shared.slot[0], line, in_shift(), shared.after[slot], reversed,
                               a.transform);
        else
            read_line<Pair>(x, shared.slot[0], line, in_shift(), shared.after[slot], reversed,
                            a.transform);
    }

    /* Waits until a quarter can be read; where lines are shifted, the next one too. */
    __device__ void wait_loaded(int k, int quarter) const {
        shared.loaded.wait(k, quarter);
        if (in_shift() == 0) return;
        ROLLED_FOR (int q = 0; q < shape::quarters; ++q) shared.loaded.wait(k, q);
    }

    /* The thread has read a quarter, and TMA may load the next tile there. The arrival alone is not
       enough: it overtook reads that were still queued, and they got elements of the next tile (seen
       on an H200, where 9 multiprocessors worked and elements came from L2; test_cuda_occupied). */
    DEVICE void hand_back(int k, int quarter) const {
        fence_for_tma();
        shared.emptied.arrive(k, quarter);
    }
};

#endif

} /* namespace vscan */
