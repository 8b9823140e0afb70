/* SPDX-License-Identifier: Apache-2.0 */
/* What the warps of scan/large.cuh have in common: the vectors as rows, and a block's tiles. */
#ifndef VSCAN_SCAN_LARGE_ROLES_CUH
#define VSCAN_SCAN_LARGE_ROLES_CUH

#include "scan/large_tile.cuh"
#include "scan/head_bits.cuh"

namespace vscan {

/*
 * A vector as rows of 128 bytes: element m of memory is element m - first + shift of the rows, which
 * begin at an address that is a multiple of 16. A tile is 512 rows, counted from the end that the
 * scan begins at. Rows beyond the vector read as anything and are not written; the fewer than 32 + 4
 * elements that whole rows leave over at an end are copied one by one.
 */
struct large_vector {
    CUtensorMap map;
    int64_t rows;  /* that lie in the vector; 0: there is no map */
    int64_t first; /* below 32 */
    int shift;
};

struct large_arguments {
    large_vector in, out;
    made_heads heads; /* segmented */
    scan_arguments rest;
};

/* Rows of a matrix, one tile after the other: see matrix/rows/large.cuh. Maps have the rows as a third
   dimension; n counts all tiles as if each were whole, and totals of rows go where the total does. */
struct large_rows_arguments : large_arguments {
    int64_t length, pitch;
    uint32_t row_tiles;
    int32_t lines, initial_step;
};

/* A pair whose scans are of rows. */
template <class Pair>
struct row_by_row : Pair {};
template <class Pair>
static constexpr bool is_row_by_row = false;
template <class Pair>
static constexpr bool is_row_by_row<row_by_row<Pair>> = true;

#ifdef VSCAN__TMA

static __device__ __forceinline__ int log_bits_of_flags(const vscan__scan &scan) {
    return scan.flag_type == VSCAN_INT ? 5 : scan.flag_type == VSCAN_BYTE ? 3 : 0;
}

/* k counts the block's tiles. */
template <class Pair, bool Segmented>
struct large_role {
    using T = typename Pair::T;
    using U = typename Pair::U;
    using shape = large_shape<Pair, Segmented>;
    static constexpr int R = shape::row_items;
    static constexpr bool of_rows = is_row_by_row<Pair>;

    const large_arguments &b;
    const scan_arguments &a;
    typename shape::shared &shared;
    int lane;

    static __device__ int slot_of(int k) { return k % shape::slots; }
    static __device__ uint32_t slot_parity(int k) { return k / shape::slots & 1; }
    static __device__ int stage_of(int k) { return k % shape::stages; }
    static __device__ uint32_t stage_phase(int k) { return k / shape::stages & 1; }

    __device__ const large_rows_arguments &matrix() const {
        return static_cast<const large_rows_arguments &>(b);
    }
    /* Rows of a matrix begin at multiples of 16 bytes. */
    __device__ int in_shift() const { return of_rows ? 0 : b.in.shift; }
    __device__ int out_shift() const { return of_rows ? 0 : b.out.shift; }

    /* A tile's number in its row; the row's number in the matrix. */
    __device__ uint32_t tile_in_row(int64_t tile) const {
        return (uint32_t)tile % matrix().row_tiles;
    }
    __device__ int line_of(int64_t tile) const {
        const int line = (int)((uint32_t)tile / matrix().row_tiles);
        return a.scan.backward ? matrix().lines - 1 - line : line;
    }
    /* A slot's quarter or row in memory, from its number in scan order. */
    __device__ int in_memory(int number, int count) const {
        return a.scan.backward ? count - 1 - number : number;
    }
    /* The first of a vector's, or a matrix row's, rows in a tile; below 0 or beyond the last: not in the vector. */
    __device__ int64_t row_of(const large_vector &v, int64_t tile) const {
        if (of_rows) {
            const int64_t t = tile_in_row(tile);
            return a.scan.backward ? matrix().length / R - (t + 1) * shape::rows : t * shape::rows;
        }
        return a.scan.backward ? (a.scan.n - v.first) / R - (tile + 1) * shape::rows
                               : tile * shape::rows;
    }
    /* Elements of a tile, counted from its first row on: those of the vector that are in no whole row
       are from .. to - 1, before (low) or after the whole rows. */
    __device__ void left_over(const large_vector &v, int64_t tile, bool low, int *from,
                              int *to) const {
        const int64_t begin = row_of(v, tile) * R;
        const int64_t first = v.shift - v.first; /* of the vector; in the first row, or before it */
        int64_t f = low || v.rows * R < first ? first : v.rows * R;
        int64_t t = low ? (first > 0 ? v.shift : 0) : a.scan.n + first;
        f = f - begin < 0 ? 0 : f - begin;
        t = t - begin > shape::items + v.shift ? shape::items + v.shift : t - begin;
        *from = f < t ? (int)f : 0;
        *to = f < t ? (int)t : 0;
    }
    /* The address in memory of element o of a tile, counted in the same way. */
    template <class P>
    __device__ P *address(P *vector, const large_vector &v, int64_t tile, int o) const {
        return vector + (row_of(v, tile) * R + o + v.first - v.shift);
    }

    /* Waits until tile k has been taken, and says which it is. */
    __device__ int64_t tile_of(int k) const {
        barrier_wait(&shared.taken[k % shape::numbers], k / shape::numbers & 1);
        return shared.tile[k % shape::numbers];
    }

    /* Where a tile's head flags are as bits, in scan order; NULL: they are not. */
    __device__ const char *heads_of(int64_t tile) const {
        return b.heads.of(tile, a.scan.n / shape::items);
    }
    __device__ int64_t tiles() const { return (a.scan.n + shape::items - 1) / shape::items; }
    /* As in scan_portable: the initial value is read before an aggregate is published. */
    __device__ bool carry() const {
        return !Segmented && a.scan.has_initial == 2 && a.scan.initial_at == a.scan.total;
    }
    __device__ bool with_totals() const {
        return a.scan.totals != nullptr || a.scan.count != nullptr;
    }

    /* Bit i: a segment begins at element i of a group. */
    __device__ uint32_t group_heads(int stage, int group) const {
        constexpr int G = shape::group_items;
        const uint32_t word = shared.heads[stage][group * G / 32];
        return G == 32 ? word : word >> (group * G % 32) & ((1u << G % 32) - 1);
    }

    /* Until a quarter can be read; where rows are shifted, its neighbour too. */
    __device__ void wait_loaded(int k, int quarter) const {
        barrier_wait(&shared.loaded[slot_of(k)][quarter], slot_parity(k));
        if (in_shift() == 0) return;
#pragma unroll 1
        for (int q = 0; q < shape::quarters; ++q)
            barrier_wait(&shared.loaded[slot_of(k)][q], slot_parity(k));
    }
};

#endif

} /* namespace vscan */

#endif
