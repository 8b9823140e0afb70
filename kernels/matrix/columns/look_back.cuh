/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The look-back of the scans of columns (matrix/columns/columns.cuh, where it is explained): a
 * block reads the aggregates of earlier chunks, a few for each digit of its chunk's number, and of
 * earlier tiles.
 */
#pragma once

#include "matrix/columns/chunk.cuh"

namespace vscan {

/* ---- Look-back by digits --------------------------------------------------------------------- */

/* By all threads of a column together; see the top of this file. */
template <class Pair>
struct column_look_back {
    using T = typename Pair::T;
    using U = typename Pair::U;
    static constexpr int tile_items = sizeof(T) == 8 ? VSCAN__TILE_DOUBLE : VSCAN__TILE_FLOAT;

    const matrix_arguments<columns_shape> &a;
    const epoch_t epoch;
    const uint32_t chunk, my_line;
    const bool there; /* the thread has a slice of a column */
    const int slice, line, slices;
    const int lines = a.shape.lines, log_radix = a.shape.log_radix;
    const int highest = (1 << log_radix) - 1;
    const int chunks_a_tile = tile_items / (matrix_slice_bytes / (int)sizeof(T) * slices);
    const int m = (int)chunk & (chunks_a_tile - 1);
    const uint32_t tile = chunk / (uint32_t)chunks_a_tile;
    const int tiles =
        (int)(tile < (uint32_t)a.shape.window ? tile : (uint32_t)a.shape.window); /* to be added */
    /* aggregates to be read: for the digits of m, from the lowest on; for the low own_bits of m,
       which the chunk's own aggregate has */
    int digits = 0, own_digits = 0, own_bits = 0;

    /* values that have been read, [aggregate][line]: for digits, then of tiles, then the prefix */
    DEVICE U *values() const { return (U *)dynamic_shared(); }

    DEVICE void count_digits() {
        ROLLED_FOR (int bit = 0; m >> bit; bit += log_radix) {
            const int digit = m >> bit & highest;
            digits += digit;
            if (own_bits != bit || (digit != highest && m != chunks_a_tile - 1)) continue;
            own_bits += log_radix;
            own_digits = digits;
        }
    }

    /* Aggregate number k of those to be read, as a number in its column. */
    DEVICE uint32_t number_of(int k) const {
        if (k == digits + tiles) return (uint32_t)a.shape.chunks + tile - tiles;
        if (k >= digits) return (tile - tiles + (k - digits) + 1) * chunks_a_tile - 1;
        int bit = 0;
        while (k >= (m >> bit & highest)) {
            k -= m >> bit & highest;
            bit += log_radix;
        }
        return chunk - m + (m >> bit >> log_radix << log_radix << bit) + ((k + 1) << bit) - 1;
    }

    /* Aggregates of all columns are adjacent for each number; indices are below 2^32. */
    DEVICE uint32_t index_of(uint32_t number) const {
        return my_line + number * (uint32_t)a.matrix.lines;
    }

    DEVICE void read(int from, int to) const {
        if (!there) return;
        read_of_line<8 / (int)sizeof(U)>(a.lookback, epoch, values() + line, lines, slice, slices,
                                         from, to, [&](int k) { return index_of(number_of(k)); });
    }

    /* Calls f(first, log_count) for each bit of m from `from` to `to` that is set: the first
       value, and how many there are, of the chunks that this bit stands for. sum_nodes puts
       their sum in its place. */
    template <class F>
    DEVICE void each_node(int from, int to, F &&f) const {
        int before = 0;
        ROLLED_FOR (int bit = 0; bit < to && m >> bit; bit += log_radix) {
            const int digit = m >> bit & highest;
            if (bit >= from) {
                ROLLED_FOR (int b = 0; digit >> b; ++b)
                    if (digit >> b & 1) f((before + (digit >> b >> 1 << b << 1)) * lines + line, b);
            }
            before += digit;
        }
    }
    DEVICE void sum_nodes(int from, int to) const {
        if (!there) return;
        int next = 0;
        each_node(from, to, [&](int first, int log_count) {
            if ((next++ & (slices - 1)) != slice) return;
            ROLLED_FOR (int half = 1; half < 1 << log_count; half *= 2)
                ROLLED_FOR (int k = 0; k < 1 << log_count; k += 2 * half) {
                    U *const left = values() + first + k * lines;
                    *left = Pair::combine(*left, left[half * lines]);
                }
        });
    }

    /* sum, end: of the chunk up to the slice, and before its group; become those of the tile.
       Returns the prefix of the tile; initial: that of the column. */
    DEVICE U look_back(U initial, U &sum, U &end) {
        const bool last = there && slice == slices - 1; /* publishes the column's aggregate */
        const bool resumed = chunk + 1 < a.shape.chunks;
        count_digits();

        /* Published before anything else is waited for: otherwise each chunk would wait for the one
           before. */
        U node = sum;
        if (own_digits > 0) {
            read(0, own_digits);
            __syncthreads();
            sum_nodes(0, own_bits);
            __syncthreads();
        }
        if (last && resumed) {
            each_node(0, own_bits,
                      [&](int first, int) { node = Pair::combine(values()[first], node); });
            jitter(a.lookback, epoch, blockIdx.x, jitter_publish);
            publish<U>(a.lookback, epoch, index_of(chunk), node);
        }
        jitter(a.lookback, epoch, blockIdx.x, jitter_wait);
        read(own_digits, digits + tiles + (tile > (uint32_t)tiles));
        __syncthreads();
        sum_nodes(own_bits, 32);
        U p = initial;
        if (last) {
            U *const of_tiles = values() + digits * lines + line;
            if (tile > (uint32_t)tiles) p = of_tiles[tiles * lines];
#pragma unroll 8
            for (int k = 0; k < tiles; ++k) p = Pair::combine(p, of_tiles[k * lines]);
            of_tiles[tiles * lines] = p;
            if (resumed && m == chunks_a_tile - 1 && a.shape.tiles > a.shape.window)
                publish<U>(a.lookback, epoch, index_of((uint32_t)a.shape.chunks + tile + 1),
                           Pair::combine(p, node));
        }
        __syncthreads();
        p = values()[(digits + tiles) * lines + line];
        each_node(0, 32, [&](int first, int) {
            const U left = values()[first];
            end = Pair::combine(left, end);
            sum = Pair::combine(left, sum);
        });
        return p;
    }
};

} /* namespace vscan */
