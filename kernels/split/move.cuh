/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The second kernel of a split (split/split.cuh): moves the elements. A block owns a tile. Shared
 * memory: the tile in the order of its slots, and what one warp finds out about its flags. What it
 * reads of the first kernel is visible because of the kernel boundary (grid_dependency_wait).
 */
#pragma once

#include "split/split.cuh"

namespace vscan {

/* The tile of a block. */
struct split_tile {
    int64_t first; /* its first element */
    int count;     /* its elements */
    int line;      /* the first line of this warp */

    DEVICE split_tile(int64_t tile, int64_t n) {
        first = tile * tile_items;
        count = n - first < tile_items ? (int)(n - first) : tile_items;
        line = (int)threadIdx.x / 32 * warp_lines;
    }
    template <class T>
    DEVICE void load(T (&x)[warp_lines], const void *vector) const {
        const int at = line * 32 + (int)threadIdx.x % 32;
        const T *const in = (const T *)vector + first + at;
        if (count == tile_items) {
            UNROLL_FOR (int r = 0; r < warp_lines; ++r) x[r] = in[r * 32];
        } else {
            UNROLL_FOR (int r = 0; r < warp_lines; ++r)
                x[r] = r * 32 + at < count ? in[r * 32] : (T)0;
        }
    }
};

/* In the vector: K at the begin of a tile, K(h) of the last head before it, Z(e) of the first head
   after. */
struct tile_bases {
    int64_t before, head, next;
};

/* What all warps need to know about the flags of the tile; one warp computes it. */
struct tile_slots {
    uint4 lines[tile_words]; /* flags; slots of the first clear and the first set one; heads */
    uint32_t set, first, last;
};

/* By one warp that has loaded the tile's flags and heads. */
static DEVICE void find_slots(tile_slots &slots, tile_flags &marks, int count, bool segmented) {
    const int lane = threadIdx.x % 32;
    marks.set_past(count);
    marks.count();
    if (segmented) marks.find_heads();
    UNROLL_FOR (int j = 0; j < lane_words; ++j) {
        const int line = lane_words * lane + j;
        const uint32_t before = marks.before[j];
        const uint32_t head = segmented ? marks.head[j] : 0;
        const uint32_t next = segmented ? marks.next[j] : tile_items - marks.set;
        slots.lines[line] = uint4{marks.flags[j], 32u * (uint32_t)line - before + head,
                                  before + next, segmented ? marks.heads[j] : 0};
    }
    if (lane > 0) return;
    slots.set = marks.set;
    slots.first = segmented ? marks.first : tile_items - marks.set;
    slots.last = segmented ? marks.last : 0;
}

/* Moves elements as integers T of their size, or writes Positions of type T. Segmented: there may
   be heads. */
template <class T, bool Positions, bool Segmented>
static DEVICE void move_tile(T *out, const split_tile &tile, const tile_bases &bases,
                             const tile_slots &slots, const T (&x)[warp_lines], T *packed) {
    const int lane = threadIdx.x % 32, count = tile.count, line = tile.line;
    const int64_t first = tile.first, before = bases.before;

    /* ---- The three runs ---------------------------------------------------------------------- */
    const int clear = tile_items - (int)slots.set;
    const int clear_end =
        Segmented ? (int)slots.first : clear; /* end of the slots of the first run, */
    const int set_begin =
        Segmented ? clear + (int)slots.last : clear; /* begin of those of the last */
    T *const to_clear = out + (first - before + bases.head);
    T *const to_own = out + first;
    T *const to_set = out + (before + bases.next - clear);

    /* ---- Slots ------------------------------------------------------------------------------- */
    const uint32_t below = bits_below(lane);
    UNROLL_FOR (int r = 0; r < warp_lines; ++r) {
        const uint4 at = slots.lines[line + r];
        const uint32_t start = 32u * (uint32_t)(line + r), i = start + (uint32_t)lane;
        const uint32_t set = (uint32_t)__popc(at.x & below);
        const bool is_set = at.x >> lane & 1;
        uint32_t slot = is_set ? at.z + set : at.y + (uint32_t)lane - set;
        if constexpr (Segmented) {
            const uint32_t heads = at.w;
            if (heads != 0) { /* the same for all lanes */
                const uint32_t after = heads & ~(2 * below + 1);
                const uint32_t nearest = is_set ? after & (0 - after) : heads & (2 * below + 1);
                const int head_lane = 31 - __clz((int)nearest);
                const uint32_t set_there = __shfl_sync(warp_mask, set, head_lane);
                if (nearest != 0)
                    slot = is_set ? start + (uint32_t)head_lane - set_there + set
                                  : i - set + set_there;
            }
        }
        if constexpr (Positions) {
            const T *const to = (int)slot < clear_end   ? to_clear
                                : (int)slot < set_begin ? to_own
                                                        : to_set;
            if ((int)i < count) out[first + i] = (T)(to - out + slot);
        } else {
            packed[slot] = x[r];
        }
    }
    if constexpr (!Positions) {
        __syncthreads();
        const auto write_run = [&](T *to, int begin, int end) {
            const int off = (int)((uintptr_t)(to + begin) / sizeof(T) % (128 / sizeof(T)));
            int slot = begin - off + (int)threadIdx.x;
            if (slot >= begin && slot < end) to[slot] = packed[slot];
#pragma unroll 4
            for (slot += split_threads; slot < end; slot += split_threads) to[slot] = packed[slot];
        };
        write_run(to_clear, 0, clear_end < count ? clear_end : count);
        if (Segmented) write_run(to_own, clear_end, set_begin < count ? set_begin : count);
        write_run(to_set, set_begin, count);
    }
}

/* By one thread. Loads all that may be needed at once, before it knows what is. */
static DEVICE tile_bases find_bases(const split_scratch &kept, int64_t tile, int chunk_log2,
                                    int64_t n, bool segmented) {
    const int64_t in_chunk = tile >> chunk_log2;
    const chunk_entry chunk = kept.chunks[in_chunk];
    const tile_entry entry = kept.tiles[tile];
    const int64_t set = *kept.set;
    if (!segmented) return {chunk.before + entry.before, 0, n - set};
    const int64_t clear = (in_chunk << chunk_log2) * tile_items - chunk.before;
    return {chunk.before + entry.before,
            entry.head != nowhere ? chunk.before + entry.head : chunk.head,
            entry.next != nowhere ? clear + entry.next : chunk.next};
}

template <class T, bool Positions, bool Segmented>
__global__ void __launch_bounds__(split_threads, move_blocks(sizeof(T), Positions, Segmented))
    split_tiles(const __grid_constant__ split_arguments a) {
    __shared__ T packed[Positions ? 1 : tile_items];
    __shared__ tile_slots slots;
    __shared__ tile_bases bases;

    const int64_t n = a.split.n, number = blockIdx.x;
    const split_tile tile(number, n);
    T x[warp_lines];
    if constexpr (!Positions) tile.load(x, a.split.in);
    const void *const flags = a.scratch.flags != nullptr ? a.scratch.flags : a.split.flags;
    const void *const heads = a.scratch.heads != nullptr ? a.scratch.heads : a.split.heads;
    grid_dependency_wait(); /* all but the elements comes from it */
    const bool segmented = Segmented && heads != nullptr;
    if (threadIdx.x < 32) {
        tile_flags marks;
        load_words(marks.flags, (const uint32_t *)flags, number, n);
        if (segmented) load_words(marks.heads, (const uint32_t *)heads, number, n);
        find_slots(slots, marks, tile.count, segmented);
    } else if (threadIdx.x == 32) {
        bases = find_bases(a.scratch, number, a.chunk_log2, n, segmented);
    }
    __syncthreads();
    move_tile<T, Positions, Segmented>((T *)a.split.out, tile, bases, slots, x, packed);
}

} /* namespace vscan */
