/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tile in shared memory, for the kernels with TMA copies, and what one lane does with its line.
 *
 * A line is 128 bytes, the share of one lane: a group of 32 elements of 4 bytes, or half a group of
 * doubles. So the networks inside of groups are additions in one lane, without shuffles.
 *
 * A line's 8 vectors of 16 bytes lie as tensor copies with a 128-byte swizzle put them: vector c of
 * line r is at index c XOR r mod 8. So 8 lanes that read the same vector of 8 lines do it without
 * bank conflicts.
 */
#pragma once

#include <type_traits>

#include "order/nested.cuh"
#include "protocol/pipeline.cuh"
#include "core/carry.h"
#include "scan/partition.cuh"
#include "scan/tuning.cuh"

namespace vscan {

/* Marks a pair whose scans go on where a carry is: see scan/carried/large.cuh. */
template <class Pair>
struct carried : Pair {};
template <class Pair>
static constexpr bool is_carried = false;
template <class Pair>
static constexpr bool is_carried<carried<Pair>> = true;

/* Shared memory of such a scan. */
struct carried_state {
    alignas(16) vscan__carry old;
    int64_t skew;               /* the elements of the carry's tile that precede the call's */
    int in_offset, out_offset;  /* elements before a tile's first one in its first line */
    handover<1, 1, 32> written; /* by the load warp */
};

template <class Pair, bool Segmented>
struct large_shape {
    using T = typename Pair::T;
    using U = typename Pair::U;
    static constexpr int line_bytes = 128;
    static constexpr int line_items = line_bytes / (int)sizeof(T);
    static constexpr int vector_items = 16 / (int)sizeof(T);
    static constexpr int group_lanes = VSCAN__GROUP / line_items; /* of 8-byte elements 2, else 1 */
    static constexpr int parts = 16;                              /* of a tile, 32 lines each */
    static constexpr int lines = 32 * parts;
    static constexpr int part_items = 32 * line_items;
    static constexpr int part_groups = 32 / group_lanes;
    static constexpr int items = parts * part_items;
    static_assert(items == nested<T>::tile, "a tile");
    /* A block of level 1 is one part, of 8-byte elements two. */
    static constexpr int blocks = nested<T>::blocks, block_groups = nested<T>::groups;
    static constexpr int quarters = 4; /* what is copied at a time */
    static constexpr int quarter_parts = parts / quarters;
    static constexpr int quarter_items = items / quarters;
    static constexpr int quarter_lines = lines / quarters;

    static constexpr int slots =
        large_slots;                  /* tiles in flight; one more is in the registers of the scan
                                        warps */
    static constexpr int stages = 4;  /* of what is known of a tile: see load_tiles */
    static constexpr int numbers = 8; /* of ticket results: the store warp may be behind by one
                                         more */

    static constexpr int scanners = parts; /* a part each */
    /* Heads in a part up to which searching for the ends of segments is faster than passing over
       all elements: some 55 instructions for 32 ends, some 20 for 32 elements. */
    static constexpr int sparse_heads = part_items * 3 / 8;
    static constexpr int reduction_warps = large_reduction_warps;
    static constexpr int sums = parts / reduction_warps; /* parts of a reduction warp */
    /* indices of warps */
    static constexpr int prefix_warp = scanners + reduction_warps, loader = prefix_warp + 1,
                         storer = loader + 1;
    static constexpr int flag_warp = storer + 1, flag_warps = 4; /* segmented */
    /* 27 warps: up to 72 registers a thread. 32 warps: 64, redistributed by role where possible. */
    static constexpr int threads = 32 * (Segmented ? 32 : storer + 1);
    static constexpr int scanner_registers = scan_warp_registers,
                         reduction_registers = reduction_warp_registers,
                         other_registers = other_warp_registers;
    static_assert(scanners * scanner_registers + reduction_warps * reduction_registers +
                          (32 - scanners - reduction_warps) * other_registers <=
                      32 * 64,
                  "that there are");
    static constexpr int flag_slots = large_flag_slots,
                         flag_bytes = large_flag_bytes; /* chunks of a flag warp */
    static constexpr int flags_ahead =
        large_flags_ahead; /* chunks of int flags that are prefetched */
    /* quarters of a tile's flags that contain the first chunks of all flag warps */
    static constexpr int flags_first =
        (flags_ahead * flag_warps * flag_bytes + quarter_items * 4 - 1) / (quarter_items * 4);
    static constexpr int lookback_words =
        large_lookback_words; /* of a lane of the prefix warp at a time: 160 tiles */
    static constexpr bool resumed = is_carried<Pair>;
    static constexpr int after_items = resumed ? line_items : vector_items;

    struct shared {
        T slot[slots][items];
        T staged[items + after_items];
        /* what follows a slot's last line in memory */
        alignas(resumed ? line_bytes : 16) T after[slots][after_items];
        alignas(16) U r1[stages][parts * part_groups]; /* of each group, at index_of_group */
        alignas(16) U sums[stages][parts];             /* of the blocks of level 1 */
        alignas(16) U aggregates[32];                  /* of tiles, in the look-back */
        U r4[stages];                                  /* of the tile */
        /* bit i of heads[stage][w]: element 32 w + i begins a segment */
        alignas(16) uint32_t heads[stages][Segmented ? items / 32 + 8 : 1];
        uint32_t part_heads[stages][parts]; /* bit g: a head in group g */
        uint32_t part_count[stages][parts]; /* head flags */
        int first_group[stages];            /* that has a head; tile_groups: none has */
        int64_t heads_before[stages];       /* head flags in all tiles before */
        alignas(16) char flags[Segmented ? flag_warps * flag_slots : 1]
                              [Segmented ? flag_bytes + 64 : 1]; /* read by 64 */
        U initial, visible; /* without an initial value: the identities */
        epoch_t epoch;
        /* The pipeline: stages, parts of a stage, and how many threads arrive. */
        taken_tiles<numbers> taken; /* tiles() or more: the end */
        handover<slots, quarters, 1> loaded;
        handover<slots, quarters, 32 * 2 * quarter_parts> emptied; /* a scan warp and a reduction
                                                                      warp read each part */
        handover<stages, 1, 32 * flag_warps> heads_ready;
        handover<stages, 1, 32 * reduction_warps> groups_ready;
        handover<stages, 1, 1> prefix_ready;
        handover<1, 1, quarters> edge;
        handover<1, quarters, 32 * quarter_parts> staged_full;
        handover<1, quarters, 32> staged_empty;
        U r2[stages][blocks]; /* of the blocks of level 1 */
        U r3[stages];         /* of the tile */
        std::conditional_t<resumed, carried_state, char> carry;

        /* Bit g: a segment begins in group g of a block of level 1. */
        DEVICE uint32_t block_heads(int stage, int block) const {
            const uint32_t *const heads = &part_heads[stage][block * (parts / blocks)];
            return parts == blocks ? heads[0] : heads[0] | heads[1] << part_groups % 32;
        }
    };

    /*
     * Where a group's sum or R1 is. The 16-byte vectors of a block of level 1 are swizzled, so that
     * 8 lanes that read the same vector of 8 blocks do it without bank conflicts: vector c of block
     * r is at index c XOR r mod 8.
     */
    static DEVICE int index_of_group(int group) {
        return group ^ group / block_groups % 8 * (16 / (int)sizeof(U));
    }
};

/* raw[j] = raw[j + shift], for a shift of 1 to V - 1. In place for doubles: registers do not suffice
   for copies. */
template <int V, class T, int N>
static DEVICE void shift_elements(T (&raw)[N], int shift) {
    if (shift & 1) {
        UNROLL_FOR (int j = 0; j + 1 < N; ++j)
            if (V == 2)
                move_here(raw[j], raw[j + 1]);
            else
                raw[j] = raw[j + 1];
    }
    if (V > 2 && shift & 2) {
        UNROLL_FOR (int j = 0; j + 2 < N; ++j) raw[j] = raw[j + 2];
    }
}

/* x[j] = raw[j], or reversed. */
template <class Pair, int R, int N>
static DEVICE void take_line(typename Pair::U (&x)[R], typename Pair::T (&raw)[N], bool reversed,
                             const pair_transform &transform) {
    if (reversed) {
        UNROLL_FOR (int j = 0; j < R / 2; ++j) exchange_here(raw[j], raw[R - 1 - j]);
    }
    UNROLL_FOR (int j = 0; j < R; ++j) x[j] = Pair::in(raw[j], transform);
}

/*
 * Reads a line: x[j] = its element j, in memory order or reversed. `line` counts in memory order,
 * through all slots.
 *
 * Where a vector does not begin at a multiple of 16 bytes, its elements lie `shift` elements
 * further on in a slot, so a lane's share begins in one line and ends in the next. What would be in
 * the line after the slot's last one is at `after`.
 */
template <class Pair, int R>
static DEVICE void read_line(typename Pair::U (&x)[R], const typename Pair::T *slot, int line,
                             int shift, const typename Pair::T *after, bool reversed,
                             const pair_transform &transform) {
    using T = typename Pair::T;
    constexpr int V = 16 / (int)sizeof(T), vectors = R / V;
    T raw[R + V];
    const int from =
        made_here(16 * (line * vectors + line % vectors)); /* of the first vector, in bytes */
    UNROLL_FOR (int c = 0; c < vectors; ++c) {
        const int4 quad = *(const int4 *)((const char *)slot + (from ^ 16 * c));
        memcpy(raw + c * V, &quad, 16);
    }
    if (shift > 0) {
        const int next = line + 1;
        const int4 quad = *(next % 512 /* a slot has 512 lines */
                                ? (const int4 *)slot + next * vectors + next % vectors
                                : (const int4 *)after);
        memcpy(raw + R, &quad, 16);
        shift_elements<V>(raw, shift);
    }
    take_line<Pair>(x, raw, reversed, transform);
}

/* Calls use with a constant for each `first` below Count: the 16-byte vectors of a line are then at
   constant places. */
template <int Count, class Use>
static DEVICE void with_constant(int first, const Use &use) {
    if constexpr (Count == 1) {
        use(std::integral_constant<int, 0>());
    } else if (first == Count - 1) {
        use(std::integral_constant<int, Count - 1>());
    } else {
        with_constant<Count - 1>(first, use);
    }
}

/* The same where the elements lie any number of elements further on in a slot, fewer than a line
   has. `after` has a whole line then, and is aligned to it. */
template <class Pair, int R>
static DEVICE void read_line_at(typename Pair::U (&x)[R], const typename Pair::T *slot, int line,
                                int offset, const typename Pair::T *after, bool reversed,
                                const pair_transform &transform) {
    using T = typename Pair::T;
    constexpr int V = 16 / (int)sizeof(T), vectors = R / V;
    T raw[R + V];
    const int next = line + 1;
    /* of the vectors 0 of both lines, in bytes */
    const int here = made_here(16 * (line * vectors + line % vectors));
    const int there = made_here(next % 512 ? 16 * (next * vectors + next % vectors)
                                           : (int)((const char *)after - (const char *)slot));
    with_constant<vectors>(offset / V, [&](auto constant) {
        constexpr int first = decltype(constant)::value;
        UNROLL_FOR (int c = 0; c <= vectors; ++c) {
            const int at = (first + c < vectors ? here : there) ^ 16 * ((first + c) % vectors);
            const int4 quad = *(const int4 *)((const char *)slot + at);
            memcpy(raw + c * V, &quad, 16);
        }
    });
    shift_elements<V>(raw, offset % V);
    take_line<Pair>(x, raw, reversed, transform);
}

/* Reverses the elements of a line. */
template <class U, int R>
static DEVICE void reverse_line(U (&x)[R]) {
    UNROLL_FOR (int j = 0; j < R / 2; ++j) exchange_here(x[j], x[R - 1 - j]);
}

/* Writes a line: y[j] becomes its element j, in memory order. The slot has room for one more
   line. Elements lie further on by First vectors and Shift elements. */
template <class Pair, int Shift, int First, int R>
static DEVICE void write_line(const typename Pair::U (&y)[R], typename Pair::T *slot, int line,
                              const pair_transform &transform) {
    using T = typename Pair::T;
    constexpr int V = 16 / (int)sizeof(T), vectors = R / V;
    T raw[R];
    UNROLL_FOR (int j = 0; j < R; ++j) raw[j] = Pair::out(y[j], transform);
    const int next = line + 1;
    /* of the vectors 0 of both lines, in bytes */
    const int here = made_here(16 * (line * vectors + line % vectors));
    const int there = 16 * (next * vectors + next % vectors);
    UNROLL_FOR (int c = Shift > 0; c < vectors; ++c) {
        int4 quad;
        memcpy(&quad, raw + c * V - Shift, 16);
        const int at = (First + c < vectors ? here : there) ^ 16 * ((First + c) % vectors);
        *(int4 *)((char *)slot + at) = quad;
    }
    if (Shift > 0) {
        T *const begin = (T *)((char *)slot + (here ^ 16 * First));
        T *const end = (T *)((char *)slot + (there ^ 16 * First));
        UNROLL_FOR (int j = Shift; j < V; ++j) begin[j] = raw[j - Shift];
        UNROLL_FOR (int j = 0; j < Shift; ++j) end[j] = raw[R - Shift + j];
    }
}

} /* namespace vscan */
