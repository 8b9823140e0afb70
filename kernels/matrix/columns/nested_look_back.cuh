/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Float and double plus in the scans of columns (matrix/columns/columns.cuh): the levels of the
 * nested order above the slices of threads, and the look-back (matrix/columns/nested.cuh).
 *
 * Few threads of a column fold: one for each block of level 1 in the chunk (R1), one over the
 * blocks (R2), one over the tiles (R3, R4). All others wait at a barrier. Shared memory has
 *
 *   sums       a group's sum, of its last slice's thread; then its R1
 *   r2s        [block][line]: the sum of a block of the chunk; then its R2
 *   r3, r4     [line]
 *   tile_sums  [line]: of a chunk that ends a tile
 *   values     [aggregate][line]: what has been read: groups, blocks, tiles, R3 and R4 before these
 */
#pragma once

#include "matrix/columns/chunk.cuh"

namespace vscan {

/* Sums of a line in dynamic shared memory, beside the values that are read: R2 of each block of level 1 in the chunk;
   R3, R4, the sum of the tile. */
static int nested_sums_of_line(int64_t chunk_items) {
    const int64_t blocks = chunk_items / VSCAN__LEVEL_1;
    return (int)(blocks > 1 ? blocks : 1) + 3;
}

template <class Pair, bool Small>
struct nested_look_back {
    using T = typename Pair::T;
    using U = typename Pair::U;
    static constexpr int R = column_chunk<Pair>::R, log_R = sizeof(T) == 8 ? 4 : 5;
    static constexpr int group_slices = column_chunk<Pair>::group_slices;
    static constexpr int block_slices = VSCAN__LEVEL_1 / R;
    static_assert(1 << log_R == R, "");
    /* registers are scarce in large blocks */
    static constexpr int batch = Small ? 8 : 4 / words_each<U>;

    column_chunk<Pair> &c;
    const matrix_arguments<columns_shape> &a = c.a;
    const int lines = c.lines, line = c.line, slice = c.slice;
    const nested_place<T> place = nested_place<T>::of(c.chunk, log_R + a.shape.log_slices);
    const bool resumed = c.chunk + 1 < a.shape.chunks;
    const int own_blocks = c.slices > block_slices ? c.slices / block_slices : 1;
    epoch_t epoch = 0;

    DEVICE U *r2s() const { return (U *)dynamic_shared() + line; }
    DEVICE U *r3() const { return r2s() + own_blocks * lines; }
    DEVICE U *r4() const { return r3() + lines; }
    DEVICE U *tile_sum() const { return r4() + lines; }
    DEVICE U *values() const { return tile_sum() + lines; }

    /* Columns have at most one block of level 1. */
    DEVICE bool is_one_block() const { return a.shape.chunks == 1 && own_blocks == 1; }
    /* Tiles to be added one by one. */
    DEVICE int tiles() const {
        const uint32_t tile = place.tile(), window = (uint32_t)a.shape.window;
        return (int)(tile < window ? tile : window);
    }

    /* ---- Publishing and reading -------------------------------------------------------------- */

    /* Aggregates of all columns are adjacent for each number; indices are below 2^32. */
    DEVICE uint32_t index_of(uint32_t number) const {
        return (uint32_t)c.my_line + number * (uint32_t)a.matrix.lines;
    }
    DEVICE void publish_sum(uint32_t number, U value) const {
        if (c.there) publish<U>(a.lookback, epoch, index_of(number), value);
    }
    /* R3 and R4 of a tile stand behind the aggregates of chunks. */
    DEVICE uint32_t prefix_number(uint32_t tile) const {
        return ((uint32_t)a.shape.chunks << place.log_own) + 2 * tile;
    }

    /* Value number k of those to be read, as a number in its column. */
    DEVICE uint32_t number_of(int k) const {
        const int groups = place.groups(), blocks = place.blocks();
        if (k < groups) return place.first_group() + k;
        k -= groups;
        if (k < blocks) return place.block(k);
        k -= blocks;
        if (k < tiles()) return place.tile_number(place.tile() - tiles() + k);
        return prefix_number(place.tile() - tiles()) + (k - tiles());
    }

    DEVICE void read(int from, int to) const {
        if (!c.there) return;
        read_of_line<8 / (int)sizeof(U)>(a.lookback, epoch, values(), lines, slice, c.slices, from,
                                         to, [&](int k) { return index_of(number_of(k)); });
    }

    /* ---- Folds ------------------------------------------------------------------------------- */

    /* R1 of the groups of a block, by its first thread; returns X1. before: R1 of the first. */
    DEVICE U fold_groups(U before) const {
        const int groups = (c.slices < block_slices ? c.slices : block_slices) / group_slices;
        return fold_in_place<Pair, batch>(before,
                                          c.sums + (slice + group_slices - 1) * lines + line,
                                          groups, group_slices * lines);
    }
    /* x1: of the chunk's last group in the thread's block. */
    DEVICE void end_block(U x1) const {
        const int block = slice / block_slices;
        r2s()[block * lines] = x1;
        if (!resumed || (place.ends_tile() && block == own_blocks - 1)) return;
        publish_sum(own_blocks > 1 ? place.first + block : place.last(), x1);
    }

    /* R2 of the chunk's blocks, and X2 at its end. */
    DEVICE U fold_blocks() const {
        const U before = fold<Pair, batch>(Pair::identity, values() + place.groups() * lines,
                                           place.blocks(), lines);
        return fold_in_place<Pair, batch>(before, r2s(), own_blocks, lines);
    }

    /* R3 and R4 of the tile, and of the next one. */
    DEVICE void fold_tiles() const {
        const uint32_t tile = place.tile();
        const U *const sum = values() + (place.groups() + place.blocks()) * lines;
        before_tile<Pair> p;
        if (tile > (uint32_t)tiles())
            p = {sum[tiles() * lines], sum[(tiles() + 1) * lines]};
        else
            p = before_tile<Pair>::from(c.there ? initial_of<Pair>(a, c.my_line) : Pair::identity);
#pragma unroll 4
        for (int k = 0; k < tiles(); ++k) p.pass(tile - tiles() + k, sum[k * lines]);
        *r3() = p.r3;
        *r4() = p.r4;
        if (!resumed || !place.ends_tile() || a.shape.tiles <= a.shape.window) return;
        p.pass(tile, *tile_sum());
        publish_sum(prefix_number(tile + 1), p.r3);
        publish_sum(prefix_number(tile + 1) + 1, p.r4);
    }

    /* ---- Phases, by the whole block ---------------------------------------------------------- */

    /* What needs no other chunk. */
    DEVICE void begin() const {
        if (place.begins_block()) {
            if (slice % block_slices == 0 && slice < c.slices)
                end_block(fold_groups(Pair::identity));
        } else if (resumed && !place.ends_block() && slice % group_slices == group_slices - 1) {
            publish_sum(place.first + slice / group_slices, c.sums[threadIdx.x]);
        }
    }

    /* R1, R2, R3 and R4; of a column that is not split, too. */
    DEVICE void add_levels() const {
        if (a.shape.chunks > 1) jitter(a.lookback, epoch, blockIdx.x, jitter_publish);
        begin();
        if (is_one_block()) return __syncthreads();
        if (a.shape.chunks > 1) jitter(a.lookback, epoch, blockIdx.x, jitter_wait);
        const bool ends_tile = resumed && place.ends_tile();
        const bool joins = resumed && place.ends_block() && !place.begins_block();
        /* First, if others need it: what the sum of the block or of the tile needs. It is published
           before anything else is waited for: otherwise chunks would wait in a chain. */
        const int sums = place.groups() + place.blocks();
        int have = 0;
        ROLLED_FOR (int last = !joins && !ends_tile; last <= 1; ++last) {
            const bool first = !last;
            const int prefix = place.tile() > (uint32_t)tiles() ? 2 : 0;
            const int need = last ? sums + tiles() + prefix : ends_tile ? sums : place.groups();
            read(have, need);
            have = need;
            __syncthreads();
            if (slice == 0 && !place.begins_block() && first == joins) {
                const U x1 =
                    fold_groups(fold<Pair, batch>(Pair::identity, values(), place.groups(), lines));
                if (joins) end_block(x1);
            }
            /* by another thread where it need not come afterwards */
            if (slice == !ends_tile && first == ends_tile) {
                const U x2 = fold_blocks();
                if (ends_tile) {
                    *tile_sum() = x2;
                    publish_sum(place.last(), x2);
                }
            }
        }
        if (slice == 2) fold_tiles(); /* split or not, there are at least four slices here */
        __syncthreads();
    }

    /* x: of the groups; becomes results. part: of the group before the slice. */
    DEVICE void write(U part) const {
        U r1 = Pair::identity, r2 = Pair::identity, r3 = Pair::identity, r4 = Pair::identity;
        if (c.there) {
            if (c.slices > 1) r1 = c.sums[(slice | (group_slices - 1)) * lines + line];
            if (is_one_block())
                r4 = initial_of<Pair>(a, c.my_line);
            else
                r2 = r2s()[slice / block_slices * lines], r3 = *this->r3(), r4 = *this->r4();
        }
        UNROLL_FOR (int j = 0; j < R; ++j) c.x[j] = Pair::combine(r1, c.x[j]);
        U earlier = Pair::combine(r1, part);
        if (!is_one_block()) {
            UNROLL_FOR (int j = 0; j < R; ++j)
                c.x[j] = Pair::combine(r3, Pair::combine(r2, c.x[j]));
            earlier = Pair::combine(r3, Pair::combine(r2, earlier));
        }
        UNROLL_FOR (int j = 0; j < R; ++j) c.x[j] = Pair::combine(r4, c.x[j]);
        earlier = Pair::combine(r4, earlier);
        const U none = c.visible(r4);
        c.write(c.begin + c.at == 0 ? none : earlier, none);
    }
};

} /* namespace vscan */
