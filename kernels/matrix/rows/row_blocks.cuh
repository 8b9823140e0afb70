/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reductions of rows: how a block of threads is divided among parts of rows, and how sums of the
 * groups of parts become the sum of a row, one after the other (core/order.h).
 *
 * A lane that adds 32 sums reads them from shared memory, where warps have written those of
 * their groups. Where a warp has all of a block of level 1, it adds that block itself, so that only
 * the sums of blocks are left behind the barrier; else the row's first warp adds all blocks, one
 * a lane. Then each of its lanes adds the blocks of a tile.
 */
#pragma once

#include "elements/warp_reduce.cuh"
#include "matrix/rows/levels.cuh"

namespace vscan {

struct row_sums_shape {
    int row_warps;      /* of a row */
    int over_row_warps; /* 256 / row_warps, rounded up */
    int rows;           /* of a block or, if small, of a warp */
    int parts;          /* of a row */
    uint32_t tiles;     /* of a row, each with its own block; or 1 */
    /* small rows: warp loads of each, a power of 2; bit l of whole: load l of the warp has 32
       elements; bit l of left: it has the elements behind the last whole group */
    int load_bits;
    uint32_t whole, left;
    bool small_rows;
    bool whole_blocks; /* in order: a warp has all of a block of level 1 */
};

/* A part: elements of a lane in each load, and loads. */
template <class Pair, bool Vectors>
struct sum_part_shape {
    using T = typename Pair::T;
    static constexpr int V = Vectors ? 16 / (int)sizeof(T) : 1;
    static constexpr int items = sum_part_bytes / (int)sizeof(T);
    static constexpr int load_items = 32 * V, loads = items / load_items;
};

/* What the warps of a block share. Blocks: of level 1. */
template <class Pair, bool InAnyOrder = Pair::in_any_order>
struct row_sums_shared {
    using T = typename Pair::T;
    using U = typename Pair::U;
    static constexpr int quad = 16 / (int)sizeof(U); /* against bank conflicts, see levels.cuh */
    static constexpr int most_tiles = sum_most_parts / tile_parts + 1;

    /* of the block that a warp adds, or of all blocks */
    alignas(16) U groups[sum_warps][nested<T>::groups + quad];
    /* of the tiles; two of each row, if there are several rows */
    alignas(16) U blocks[most_tiles][nested<T>::blocks + quad];
};
template <class Pair>
struct row_sums_shared<Pair, true> {
    typename Pair::U warps[sum_warps];
};

/* In order: the sums of the groups and blocks of a row, or of a row's tile that has a block of
   threads of its own. */
template <class Pair, bool Vectors>
struct row_blocks {
    using T = typename Pair::T;
    using U = typename Pair::U;
    static constexpr int part_groups = sum_part_bytes / (int)sizeof(T) / VSCAN__GROUP;
    static constexpr int P = Pair::in_any_order ? 1 : nested<T>::groups / part_groups; /* a block */

    const row_sums_shape &shape;
    row_sums_shared<Pair> &shared;
    const int row, row_warp, lane;
    const int groups; /* whole ones */
    /* Whether a warp has whole blocks. Else it has a part of one, and the row's first warp adds. */
    const bool whole = P == 1 || shape.whole_blocks;

    DEVICE U &block_sum(int block) const {
        return shared.blocks[2 * row + block / nested<T>::blocks][block % nested<T>::blocks];
    }
    /* Where the groups of a block are, if no warp has whole ones. */
    DEVICE U *groups_of(int block) const {
        return shared.groups[row * ((shape.row_warps + P - 1) / P) + block];
    }
    /* The sum of the groups of a block. */
    DEVICE U sum_of(int block, const U *of_groups) const {
        return add_where<Pair, 64 / (int)sizeof(U)>(Pair::identity, of_groups,
                                                    bits_below(groups - block * nested<T>::groups),
                                                    nested<T>::groups);
    }

    DEVICE int first_part() const { return row_warp * (whole ? P : 1); }
    DEVICE int part_after(int part) const {
        if (!whole) return part + shape.row_warps;
        return part % P == P - 1 ? part + 1 + (shape.row_warps - 1) * P : part + 1;
    }

    /* x: the lane's sums of the loads of part number `part` of `parts`. Writes those of its groups
       and, if the block ends with it, returns that of the block. */
    template <int N>
    DEVICE U add_part(U (&x)[N], int part, int parts) const {
        constexpr int lanes = VSCAN__GROUP / sum_part_shape<Pair, Vectors>::V; /* of a group */
        U *const of_groups = whole ? shared.groups[threadIdx.x / 32] : groups_of(part / P);
        const U group_sum = rows_over_lanes<Pair, N, lanes>(x, lane);
        const int group = lane % N * (32 / lanes) + lane / lanes;
        if (lane % lanes < N && part * part_groups + group < groups)
            of_groups[part % P * part_groups + group] = group_sum;
        if (!whole || (part % P < P - 1 && part < parts - 1)) return Pair::identity;
        __syncwarp();
        const U sum = sum_of(part / P, of_groups);
        if (shape.row_warps > 1 && lane == 0) block_sum(part / P) = sum;
        __syncwarp();
        return sum;
    }

    /* By the row's first warp, behind the barrier: the sum of the last tile; passes the others.
       left: that of the elements behind the last whole group, if there are any. */
    DEVICE U sum_tiles(before_tile<Pair> &before, bool has_left, U left) const {
        constexpr int block_groups = nested<T>::groups, tile_blocks = nested<T>::blocks;
        int blocks = (groups + block_groups - 1) / block_groups;
        if (!whole) {
            const int block = lane < blocks ? lane : 0;
            const U sum = sum_of(block, groups_of(block));
            if (blocks == 1 && !has_left) return sum;
            if (lane < blocks) block_sum(lane) = sum;
        }
        if (has_left) {
            blocks = groups / block_groups + 1;
            __syncwarp();
            U &last = block_sum(blocks - 1);
            if (lane == 0) last = groups % block_groups > 0 ? Pair::combine(last, left) : left;
        }
        __syncwarp();
        const int tiles = (blocks + tile_blocks - 1) / tile_blocks;
        const int tile = lane < tiles ? lane : 0;
        const U sum = add_where<Pair, nested<T>::blocks>(
            Pair::identity, &block_sum(tile * tile_blocks), bits_below(blocks - tile * tile_blocks),
            tile_blocks);
        ROLLED_FOR (int t = 0; t < tiles - 1; ++t) before.pass(t, __shfl_sync(warp_mask, sum, t));
        return __shfl_sync(warp_mask, sum, tiles - 1);
    }
};

} /* namespace vscan */
