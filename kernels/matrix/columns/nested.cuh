/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The nested order (core/order.h) along columns that are cut into chunks of rows: which sums a
 * chunk publishes, and where they stand among the aggregates of a column.
 *
 * A chunk has 2^log_rows rows: a part of a block of level 1 (1024 rows), or some of them. What is
 * added from left to right cannot be added beforehand, so sums of groups are handed on:
 *
 *   the first chunk of a block    one aggregate, X1 at its end
 *   a later one                   one for each of its groups
 *   the last one, or the only one X1 at its end, the sum of the block; in place of the last block
 *                                 of a tile, X2, the sum of the tile
 *   with several blocks           one for each of them, likewise
 *
 * Chunks of 512 rows thus have one each. What has to be read is adjacent: of earlier chunks of the
 * block from the first one's last aggregate on, of earlier blocks and tiles each one's last.
 *
 * Progress: chunks are taken by ticket or in block order. Sums of groups, X1 of a first chunk and
 * sums of blocks that one chunk has alone are published before anything is waited for; sums of
 * other blocks once those of groups have arrived, sums of tiles once those of blocks have, and all
 * of them are of earlier chunks. So by induction over the chunks each is published.
 */
#pragma once

#include "order/nested.cuh"
#include "matrix/lines.cuh"

namespace vscan {

static constexpr int log_group = 5, log_level_1 = 10;
static_assert(1 << log_group == VSCAN__GROUP && 1 << log_level_1 == VSCAN__LEVEL_1, "");

/* Aggregates of a chunk of 2^log_rows rows, of a block of level 1: logarithms. */
static __host__ __device__ constexpr int log_words_of_chunk(int log_rows) {
    return log_rows >= log_level_1       ? log_rows - log_level_1
           : log_rows == log_level_1 - 1 ? 0
                                         : log_rows - log_group;
}
static __host__ __device__ constexpr int log_words_of_block(int log_rows) {
    return log_rows >= log_level_1 ? 0 : log_words_of_chunk(log_rows) + log_level_1 - log_rows;
}

/* The place of a chunk among the blocks and tiles of its columns. */
template <class T>
struct nested_place {
    static constexpr int tile_blocks = nested<T>::blocks;

    int log_own, log_block; /* aggregates of a chunk and of a block */
    uint32_t first;         /* number of the chunk's first aggregate */

    static DEVICE nested_place of(uint32_t chunk, int log_rows) {
        const int log_own = log_words_of_chunk(log_rows);
        return {log_own, log_words_of_block(log_rows), chunk << log_own};
    }
    DEVICE int own() const { return 1 << log_own; }
    DEVICE uint32_t last() const { return first + own() - 1; }

    /* It begins a block, or ends a block or a tile. */
    DEVICE bool begins_block() const { return (first & ((1u << log_block) - 1)) == 0; }
    DEVICE bool ends_block() const { return ((last() + 1) & ((1u << log_block) - 1)) == 0; }
    DEVICE bool ends_tile() const {
        return ((last() + 1) & (((uint32_t)tile_blocks << log_block) - 1)) == 0;
    }

    /* Aggregates before it: in the block; of blocks in the tile; tiles. */
    DEVICE int groups() const {
        const int before = (int)(first & ((1u << log_block) - 1));
        return before == 0 ? 0 : before - own() + 1;
    }
    DEVICE int blocks() const { return (int)(first >> log_block) & (tile_blocks - 1); }
    DEVICE uint32_t tile() const { return (first >> log_block) / (uint32_t)tile_blocks; }
    /* Their numbers. */
    DEVICE uint32_t first_group() const { return first - groups(); }
    DEVICE uint32_t block(int k) const {
        return (((first >> log_block) - blocks() + k + 1) << log_block) - 1;
    }
    DEVICE uint32_t tile_number(uint32_t tile) const {
        return ((tile + 1) * (uint32_t)tile_blocks << log_block) - 1;
    }
};

/* Reads aggregates number from .. to - 1 of a line, that with number k to values[k * lines]. By the slices of the line
   together; Reads: in flight. index_of(k): where it is. */
template <int Reads, class U, class Index>
static DEVICE void read_of_line(const lookback_memory &memory, epoch_t epoch, U *values, int lines,
                                int slice, int slices, int from, int to, const Index &index_of) {
    ROLLED_FOR (int k = from + slice; k < to; k += Reads * slices) {
        U value[Reads];
        uint32_t index[Reads];
        bool ready[Reads];
        UNROLL_FOR (int j = 0; j < Reads; ++j) {
            index[j] = index_of(k + j * slices < to ? k + j * slices : k);
            ready[j] = try_read<U>(memory, epoch, index[j], &value[j]);
        }
        UNROLL_FOR (int j = 0; j < Reads; ++j) {
            if (!ready[j]) value[j] = wait_for<U>(memory, epoch, index[j]);
            if (k + j * slices < to) values[(k + j * slices) * lines] = value[j];
        }
    }
}

/* The sum of `sum` and count values, `step` apart, from left to right; of two at a time, which are added first, if a
   value has two Parts. Batch: how many are loaded at a time. */
template <class Pair, int Batch, int Parts = 1>
static DEVICE typename Pair::U fold(typename Pair::U sum, const typename Pair::U *value, int count,
                                    int step) {
    ROLLED_FOR (int k = 0; k < count; k += Batch, value += Batch * step) {
        typename Pair::U x[Batch];
        UNROLL_FOR (int j = 0; j < Batch; ++j)
            x[j] = k + j < count ? value[j * step] : Pair::identity;
        UNROLL_FOR (int j = 0; j < Batch; j += Parts)
            sum = Pair::combine(sum, Parts == 1 ? x[j] : Pair::combine(x[j], x[j + Parts - 1]));
    }
    return sum;
}

/* The same of values of one part, and each value becomes the sum of what was before it. */
template <class Pair, int Batch>
static DEVICE typename Pair::U fold_in_place(typename Pair::U sum, typename Pair::U *value,
                                             int count, int step) {
    ROLLED_FOR (int k = 0; k < count; k += Batch, value += Batch * step) {
        typename Pair::U x[Batch];
        UNROLL_FOR (int j = 0; j < Batch; ++j)
            x[j] = k + j < count ? value[j * step] : Pair::identity;
        UNROLL_FOR (int j = 0; j < Batch; ++j) {
            if (k + j < count) value[j * step] = sum;
            sum = Pair::combine(sum, x[j]);
        }
    }
    return sum;
}

} /* namespace vscan */
