/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tile in shared memory, for kernels with bulk copies, and what one lane does with its row of it.
 *
 * A row is 128 bytes, one lane's share: a group of 32 elements of 4 bytes, or half a group of
 * doubles. So networks inside groups are additions in one lane, without a shuffle.
 *
 * In a slot a row's 16-byte pieces are permuted as tensor copies do it with a 128-byte swizzle:
 * piece c of row r is at place c XOR r mod 8. Then 8 lanes that read the same piece of 8 rows meet
 * in no bank.
 */
#ifndef VSCAN_SCAN_LARGE_TILE_CUH
#define VSCAN_SCAN_LARGE_TILE_CUH

#include "common/tma.cuh"
#include "scan/portable.cuh"

namespace vscan {

template <class Pair, bool Segmented>
struct large_shape {
    using T = typename Pair::T;
    using U = typename Pair::U;
    static constexpr int row_bytes = 128;
    static constexpr int row_items = row_bytes / (int)sizeof(T);
    static constexpr int piece = 16 / (int)sizeof(T);
    /* What reduction_warps know prefixes of. Where any order will do, a group is a row. */
    static constexpr int group_items = Pair::in_any_order ? row_items : VSCAN__GROUP;
    static constexpr int group_lanes = group_items / row_items;             /* 1; doubles plus: 2 */
    static constexpr bool many_groups = group_lanes == 1 && sizeof(U) == 8; /* much memory */
    static constexpr int parts = 16; /* of a tile, 32 rows each */
    static constexpr int levels = 4; /* of the tree above a part */
    static constexpr int rows = 32 * parts;
    static constexpr int part_items = 32 * row_items;
    static constexpr int part_groups = 32 / group_lanes;
    static constexpr int items = parts * part_items;
    static_assert(items == (sizeof(T) == 8 ? VSCAN__TILE_DOUBLE : VSCAN__TILE_FLOAT), "a tile");
    static constexpr int quarters = 4; /* what is copied at a time */
    static constexpr int quarter_parts = parts / quarters;
    static constexpr int quarter_items = items / quarters;
    static constexpr int quarter_rows = rows / quarters;

    static constexpr int slots = 2;  /* tiles on their way in; one more is in the scanners' hands */
    static constexpr int stages = 4; /* of what is known of a tile: see load_tiles */
    static constexpr int numbers = 8; /* of tiles: the storer may be behind by one more */

    static constexpr int scanners = parts; /* a part each */
    /* Heads in a part up to which it is sooner done to look for segments' ends than to go through all
       elements: some 55 instructions for 32 ends, some 20 for 32 elements. */
    static constexpr int few_heads = part_items * 3 / 8;
    static constexpr int reduction_warps = 8;
    static constexpr int sums = parts / reduction_warps; /* parts of a reduction_warp */
    /* warp numbers */
    static constexpr int prefix_warp = scanners + reduction_warps, loader = prefix_warp + 1,
                         storer = loader + 1;
    static constexpr int flag_warp = storer + 1, flag_warps = many_groups ? 3 : 4; /* segmented */
    /* 27 warps: a thread can have 72 registers. 32: 64, to be shared out by role where that can be */
    static constexpr int threads = 32 * (Segmented ? 32 : storer + 1);
    static constexpr int scanner_registers = 72, reduction_registers = 64, other_registers = 48;
    static_assert(scanners * scanner_registers + reduction_warps * reduction_registers +
                          (32 - scanners - reduction_warps) * other_registers <=
                      32 * 64,
                  "that there are");
    static constexpr int flag_slots = 2, flag_bytes = 2048; /* of a flag_warp's chunks of flags */
    static constexpr int flags_ahead = 2; /* chunks of int flags that memory is asked for */
    /* quarters of a tile's flags with the first so many chunks of all flag_warps */
    static constexpr int flags_first =
        (flags_ahead * flag_warps * flag_bytes + quarter_items * 4 - 1) / (quarter_items * 4);
    static constexpr int fold_words = 5; /* of a lane of the prefix_warp at a time: 160 tiles */

    struct shared {
        T slot[slots][items];
        T staged[items + piece];
        alignas(16) T after[slots][piece]; /* what follows a slot's last row in memory */
        U prefixes[stages]
                  [parts * part_groups + 2]; /* of the tile up to a group; last: to the end */
        U sums[stages][parts];
        alignas(16) U aggregates[32]; /* of tiles that are being folded */
        U p[stages];
        int64_t tile[numbers]; /* one past the last: the end */
        alignas(16) uint32_t heads[stages][Segmented ? items / 32 + 8 : 1]; /* bit i of word w:
                                                                               element 32 w + i */
        uint32_t part_heads[stages][parts]; /* bit g: a head in group g */
        uint32_t part_count[stages][parts]; /* head flags */
        int part_first[stages][parts];      /* as first_head; where there is one */
        int first_head[stages];             /* position in the tile; items: there is none */
        int64_t heads_before[stages];       /* head flags in all tiles before */
        alignas(16) char flags[Segmented ? flag_warps * flag_slots : 1]
                              [Segmented ? flag_bytes + 64 : 1]; /* read by 64 */
        U initial, visible; /* without an initial value: the identities */
        epoch_t epoch;
        uint64_t taken[numbers];
        uint64_t loaded[slots][quarters], emptied[slots][quarters];
        uint64_t marked[stages], summed[stages], folded[stages];
        uint64_t edge;
        uint64_t staged_full[quarters], staged_empty[quarters];
    };
};

/* The address of element o of a slot. */
template <class T>
static __device__ __forceinline__ T *swizzled(T *slot, int o) {
    constexpr int piece_items = 16 / (int)sizeof(T), row_items = 128 / (int)sizeof(T);
    return slot + (o ^ (o / row_items % 8) * piece_items);
}

/* x becomes left and x, where they are to be combined. */
template <class Pair>
static __device__ __forceinline__ void combine_where(bool there, typename Pair::U left,
                                                     typename Pair::U &x) {
    if constexpr (sizeof(left) == 8 && Pair::in_any_order) {
        take_where<(Pair::identity < 0)>(there, left, x); /* keys of max or min */
    } else if (there) {
        x = Pair::combine(left, x);
        changed_here(x);
    }
}

/*
 * Where a vector's address is no multiple of 16 bytes, its elements lie shift elements further on in
 * a slot, so a lane's share begins in one row and ends in the next; what would be in the row after
 * the slot's last one is in the 16 bytes at after.
 *
 * x[j] = element j of a row, turned round or not; row counts in memory, on through the slots.
 */
template <class Pair, int R>
static __device__ __forceinline__ void read_row(typename Pair::U (&x)[R],
                                                const typename Pair::T *slot, int row, int shift,
                                                const typename Pair::T *after, bool turned) {
    using T = typename Pair::T;
    constexpr int V = 16 / (int)sizeof(T), pieces = R / V;
    T raw[R + V];
    const int from =
        made_here(16 * (row * pieces + row % pieces)); /* of the first piece, in bytes */
#pragma unroll
    for (int c = 0; c < pieces; ++c) {
        const int4 quad = *(const int4 *)((const char *)slot + (from ^ 16 * c));
        memcpy(raw + c * V, &quad, 16);
    }
    if (shift > 0) {
        const int next = row + 1;
        const int4 quad = *(next % 512 /* a slot has 512 rows */
                                ? (const int4 *)slot + next * pieces + next % pieces
                                : (const int4 *)after);
        memcpy(raw + R, &quad, 16);
        /* in place for doubles, whose copies would not fit in the registers */
        if (shift & 1) {
#pragma unroll
            for (int j = 0; j + 1 < R + V; ++j)
                if (V == 2)
                    move_here(raw[j], raw[j + 1]);
                else
                    raw[j] = raw[j + 1];
        }
        if (V > 2 && shift & 2) {
#pragma unroll
            for (int j = 0; j + 2 < R + V; ++j) raw[j] = raw[j + 2];
        }
    }
    if (turned) {
#pragma unroll
        for (int j = 0; j < R / 2; ++j) exchange_here(raw[j], raw[R - 1 - j]);
    }
#pragma unroll
    for (int j = 0; j < R; ++j) x[j] = Pair::in(raw[j]);
}

/* A row the other way round. */
template <class U, int R>
static __device__ __forceinline__ void turn_row(U (&x)[R]) {
#pragma unroll
    for (int j = 0; j < R / 2; ++j) exchange_here(x[j], x[R - 1 - j]);
}

/* y[j] = element j of a row in memory. The row after the slot's last one lies behind it. */
template <class Pair, int Shift, int R>
static __device__ __forceinline__ void write_row(const typename Pair::U (&y)[R],
                                                 typename Pair::T *slot, int row) {
    using T = typename Pair::T;
    constexpr int V = 16 / (int)sizeof(T), pieces = R / V;
    T raw[R];
#pragma unroll
    for (int j = 0; j < R; ++j) raw[j] = Pair::out(y[j]);
    const int to = made_here(16 * (row * pieces + row % pieces)); /* of the first piece, in bytes */
#pragma unroll
    for (int c = Shift > 0; c < pieces; ++c) {
        int4 quad;
        memcpy(&quad, raw + c * V - Shift, 16);
        *(int4 *)((char *)slot + (to ^ 16 * c)) = quad;
    }
    if (Shift > 0) {
        const int next = row + 1;
        T *const begin = (T *)((char *)slot + to);
        T *const end = (T *)((int4 *)slot + next * pieces + next % pieces);
#pragma unroll
        for (int j = Shift; j < V; ++j) begin[j] = raw[j - Shift];
#pragma unroll
        for (int j = 0; j < Shift; ++j) end[j] = raw[R - Shift + j];
    }
}

/*
 * x[j] becomes the sum of x[0 .. j], of its segment: the Sklansky network.
 * heads   bit j: a segment starts at x[j]
 * Returns  bit j: one starts among x[0 .. j]
 */
template <class Pair, bool Segmented, int R>
static __device__ __forceinline__ uint32_t scan_row(typename Pair::U (&x)[R], uint32_t heads) {
#pragma unroll
    for (int half = 1; half < R; half *= 2) {
        /* heads: bit j, one starts in its block of half elements, up to x[j] */
#pragma unroll
        for (int j = 0; j < R; ++j) {
            if (!(j & half)) continue;
            const typename Pair::U left = x[(j & ~(half - 1)) - 1];
            if (Segmented)
                combine_where<Pair>(!(heads & 1u << j), left, x[j]);
            else
                x[j] = Pair::combine(left, x[j]);
        }
        if (Segmented) {
            /* the last bits of left halves, to all bits of the right halves */
            const uint32_t last = heads & 0xffffffffu / ((1u << half) + 1) / ((1u << half) - 1)
                                              << (half - 1);
            heads |= (last << half) * 2 - last * 2;
        }
    }
    return heads;
}

} /* namespace vscan */

#endif
