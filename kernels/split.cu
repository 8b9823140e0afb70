/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Split, segmented split, and the positions of either.
 *
 * With K(i) the number of set flags before i, and Z(i) = i - K(i) that of the clear ones, an
 * element of the segment h .. e - 1 goes to
 *
 *     K(h) + Z(i) if its flag is clear,  Z(e) + K(i) if it is set;
 *
 * a plain split is that of one segment, h = 0, e = n. Z(e) is known only when the flags up to e
 * are, so there are two kernels, except for short vectors. The first reads the flags alone, which
 * it leaves as bits for the second, unless they are bits already: a tile is 4096 elements, a chunk
 * some tiles, and a block has a chunk. The block that ends last adds up what the chunks have found;
 * nobody waits for anybody. The second kernel moves the elements, a tile a block.
 *
 * Seen from a tile, the places of its elements are three runs, whatever segments there are. Let its
 * elements be split within the tile, as if segments were cut at its ends; the place in that is a
 * slot. The clear ones of the segment that was begun before the tile come first and go where that
 * one's clear ones go on; the set ones of the segment that is open at the tile's end come last, and
 * go where that one's set ones do; for all others, whose segment begins here, if they are clear, or
 * ends here, if they are set, the slot is the place. So elements are brought to their slots in
 * shared memory and written from there, runs side by side. Past the n-th element flags count as
 * set, so that such elements have the last slots.
 */
#include "map.cuh"
#include "short_rows.cuh"
#include "unit_words.cuh"

namespace vscan {

static constexpr int split_warps = 8, split_threads = 32 * split_warps;
static constexpr int tile_words = 128, tile_items = 32 * tile_words;
static constexpr int most_tiles = split_warps;             /* of a chunk */
static constexpr int lane_words = tile_words / 32;         /* of a tile's bits, side by side */
static constexpr int warp_rows = tile_words / split_warps; /* a row is 32 elements, one word */
static constexpr uint32_t nowhere = 0xffffffffu;

/* Of a tile: K where it begins, K(h) of the last head before it, Z(e) of the first head behind it;
   all of them less K or Z where the chunk begins, and the heads only if they are in the chunk. */
struct tile_entry {
    uint32_t before, head, next, unused;
};

/* Of a chunk: the same in all of the vector, where a segment begins at 0 and ends at n. */
struct chunk_entry {
    int64_t before, head, next, unused;
};

/* Of a chunk, as its block leaves it for the last one: set flags, and from its beginning on K(h) of
   the last head in it and Z(e) of the first. */
struct chunk_sums {
    uint32_t *set, *head, *next;
};

/* What lies in the scratch memory. */
struct split_scratch {
    int64_t *set; /* flags of the vector */
    chunk_sums sums;
    chunk_entry *chunks;
    tile_entry *tiles;
    uint32_t *flags, *heads; /* bits, 0 past the n-th; NULL: the caller's are bits */
};

struct split_arguments {
    vscan__split split;
    vscan__workspace_header *header;
    word *words; /* of short vectors: a tile's number of set flags */
    int64_t capacity;
    split_scratch scratch;
    int chunk_tiles; /* 2, or most_tiles */
    uint32_t delay;  /* for tests: see test_delay */
};

/* ---- Bits ------------------------------------------------------------------------------------ */

static __device__ __forceinline__ uint32_t bits_below(int count) {
    return count < 32 ? (1u << count) - 1 : 0xffffffffu;
}

/* Which bits of a word are elements before the n-th. */
static __device__ __forceinline__ uint32_t bits_that_are(int64_t word, int64_t n) {
    const int64_t left = n - 32 * word;
    return left >= 32 ? 0xffffffffu : left > 0 ? (1u << left) - 1 : 0;
}

static __device__ __forceinline__ bool flag_at(const void *flags, int type, int64_t i) {
    return type == VSCAN_INT    ? ((const int32_t *)flags)[i] != 0
           : type == VSCAN_BYTE ? ((const uint8_t *)flags)[i] != 0
                                : ((const uint32_t *)flags)[i >> 5] >> (i & 31) & 1;
}

/* This lane's words of a tile of bits; those past the n-th are 0. */
static __device__ __forceinline__ void load_words(uint32_t (&x)[lane_words], const uint32_t *bits,
                                                  int64_t tile, int64_t n) {
    const int64_t first = tile * tile_words + lane_words * (int)(threadIdx.x % 32);
    if ((tile + 1) * tile_items <= n && (uintptr_t)bits % 16 == 0) {
        load_piece<uint32_t, lane_words>(x, bits + first);
        return;
    }
#pragma unroll
    for (int j = 0; j < lane_words; ++j) {
        const uint32_t mask = bits_that_are(first + j, n);
        x[j] = mask != 0 ? bits[first + j] & mask : 0;
    }
}

/* A piece is what a warp loads as two quads a lane, 256 ints or 1024 bytes; so many at a time. */
static constexpr int warp_pieces = 4;

/* A whole piece as bits. */
static __device__ __forceinline__ void piece_to_bits(void *bits, const int4 (&quads)[2], int type) {
    const int lane = threadIdx.x % 32;
    if (type == VSCAN_INT) { /* 4 bits a quad: a lane has one of two neighbours' bytes */
        uint32_t own = 0;
#pragma unroll
        for (int half = 0; half < 2; ++half)
            own |= (uint32_t)((quads[half].x != 0) | (quads[half].y != 0) << 1 |
                              (quads[half].z != 0) << 2 | (quads[half].w != 0) << 3)
                   << 8 * half;
        const uint32_t other = __shfl_xor_sync(0xffffffffu, own, 1);
        const uint32_t both = lane % 2 ? other >> 8 | own >> 4 : own | other << 4;
        ((uint8_t *)bits)[lane % 2 * 16 + lane / 2] = (uint8_t)both;
        return;
    }
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        uint32_t fours[4], sixteen = 0;
        memcpy(fours, &quads[half], 16);
#pragma unroll
        for (int j = 0; j < 4; ++j) /* the product moves bit 8 b to bit 24 + b */
            sixteen |= (__vsetne4(fours[j], 0) * 0x01020408u >> 24 & 15) << 4 * j;
        ((uint16_t *)bits)[half * 32 + lane] = (uint16_t)sixteen;
    }
}

/* Ints or bytes from element `first` on as bits, so many of them, by a block; those past the n-th
   are 0. */
static __device__ __forceinline__ void flags_to_words(uint32_t *words, const void *flags, int type,
                                                      int64_t first, int items, int64_t n) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int each = type == VSCAN_INT ? 256 : 1024, size = 1024 / each;
    const bool aligned = (uintptr_t)flags % 16 == 0;
    const auto is_wide = [&](int at) { return aligned && at < items && first + at + each <= n; };
#pragma unroll 1
    for (int begin = warp * each; begin < items; begin += warp_pieces * split_warps * each) {
        const char *const from = (const char *)flags + (first + begin) * size + lane * 16;
        const int step = split_warps * each;
        int4 quads[warp_pieces][2];
#pragma unroll
        for (int k = 0; k < warp_pieces; ++k)
            if (is_wide(begin + k * step)) {
                quads[k][0] = load_quad(from + k * step * size);
                quads[k][1] = load_quad(from + k * step * size + 512);
            }
#pragma unroll
        for (int k = 0; k < warp_pieces; ++k) {
            const int at = begin + k * step;
            if (is_wide(at)) piece_to_bits((char *)words + at / 8, quads[k], type);
        }
#pragma unroll 1
        for (int at = begin; at < items && at < begin + warp_pieces * step; at += step) {
            if (is_wide(at)) continue;
#pragma unroll 8
            for (int r = 0; r < each / 32; ++r) {
                const int64_t i = first + at + 32 * r + lane;
                const uint32_t word = __ballot_sync(0xffffffffu, i < n && flag_at(flags, type, i));
                if (lane == 0) words[at / 32 + r] = word;
            }
        }
    }
}

/* What a warp knows of its tile's words; numbers count from the tile's beginning. */
struct tile_marks {
    uint32_t flags[lane_words], heads[lane_words];
    uint32_t before[lane_words]; /* K where the word begins */
    uint32_t head[lane_words];   /* K(h) of the last head before the word, or 0 */
    uint32_t next[lane_words];   /* Z(e) of the first head behind it, or all of the tile's Z */
    uint32_t set, last,
        first; /* of the whole tile: K, K(h) of the last and Z(e) of the first head */

    /* Elements past the tile's count-th have their flags set, so that they have the last slots. */
    __device__ __forceinline__ void set_behind(int count) {
        if (count == tile_items) return;
#pragma unroll
        for (int j = 0; j < lane_words; ++j)
            flags[j] |= ~bits_that_are(lane_words * ((int)threadIdx.x % 32) + j, count);
    }

    /* By whole warps, with flags and heads. */
    __device__ __forceinline__ void count(bool segmented) {
        const int lane = threadIdx.x % 32;
        uint32_t own = 0;
#pragma unroll
        for (int j = 0; j < lane_words; ++j) own += (uint32_t)__popc(flags[j]);
        uint32_t upto = own;
#pragma unroll
        for (int d = 1; d < 32; d *= 2) {
            const uint32_t left = __shfl_up_sync(0xffffffffu, upto, d);
            if (lane >= d) upto += left;
        }
        set = __shfl_sync(0xffffffffu, upto, 31);
        before[0] = upto - own;
#pragma unroll
        for (int j = 1; j < lane_words; ++j)
            before[j] = before[j - 1] + (uint32_t)__popc(flags[j - 1]);
        if (segmented) find_heads(lane);
    }

  private:
    /* K never falls from left to right, and Z neither: the last head has the greatest K, the first
       one the least Z. */
    __device__ __forceinline__ void find_heads(int lane) {
        uint32_t here[lane_words], there[lane_words]; /* of a word's last and first head */
#pragma unroll
        for (int j = 0; j < lane_words; ++j) {
            const uint32_t h = heads[j];
            const int l = 31 - __clz(h), f = __ffs((int)h) - 1;
            const uint32_t start = 32u * (uint32_t)(lane_words * lane + j);
            here[j] = h ? before[j] + (uint32_t)__popc(flags[j] & bits_below(l)) : 0;
            there[j] =
                h ? start + (uint32_t)f - before[j] - (uint32_t)__popc(flags[j] & bits_below(f))
                  : tile_items - set;
        }
        uint32_t greatest = here[0], least = there[0];
#pragma unroll
        for (int j = 1; j < lane_words; ++j) {
            greatest = here[j] > greatest ? here[j] : greatest;
            least = there[j] < least ? there[j] : least;
        }
#pragma unroll
        for (int d = 1; d < 32; d *= 2) { /* at the ends a lane gets what it has */
            const uint32_t left = __shfl_up_sync(0xffffffffu, greatest, d);
            const uint32_t right = __shfl_down_sync(0xffffffffu, least, d);
            greatest = left > greatest ? left : greatest;
            least = right < least ? right : least;
        }
        last = __shfl_sync(0xffffffffu, greatest, 31);
        first = __shfl_sync(0xffffffffu, least, 0);
        const uint32_t left = __shfl_up_sync(0xffffffffu, greatest, 1);
        const uint32_t right = __shfl_down_sync(0xffffffffu, least, 1);
        head[0] = lane > 0 ? left : 0;
        next[lane_words - 1] = lane < 31 ? right : tile_items - set;
#pragma unroll
        for (int j = 1; j < lane_words; ++j)
            head[j] = here[j - 1] > head[j - 1] ? here[j - 1] : head[j - 1];
#pragma unroll
        for (int j = lane_words - 1; j > 0; --j)
            next[j - 1] = there[j] < next[j] ? there[j] : next[j];
    }
};

/* ---- Counting -------------------------------------------------------------------------------- */

struct fold_plus {
    static __device__ __forceinline__ int64_t fold(int64_t a, int64_t b) { return a + b; }
};
struct fold_max {
    static __device__ __forceinline__ int64_t fold(int64_t a, int64_t b) { return a > b ? a : b; }
};
struct fold_min {
    static __device__ __forceinline__ int64_t fold(int64_t a, int64_t b) { return a < b ? a : b; }
};

/* By the block: *carry and the values of the threads before this one, or Backward of those behind
   it; all of them go into *carry. */
template <class Fold, bool Backward>
static __device__ int64_t scan_threads(int64_t value, int64_t *carry,
                                       int64_t (&sums)[split_warps]) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int rank = Backward ? 31 - lane : lane;
    int64_t upto = value;
#pragma unroll
    for (int d = 1; d < 32; d *= 2) {
        const int64_t other = Backward ? __shfl_down_sync(0xffffffffu, upto, d)
                                       : __shfl_up_sync(0xffffffffu, upto, d);
        if (rank >= d) upto = Fold::fold(other, upto);
    }
    if (rank == 31) sums[warp] = upto;
    __syncthreads();
    int64_t all = *carry, before = all;
#pragma unroll
    for (int k = 0; k < split_warps; ++k) {
        const int w = Backward ? split_warps - 1 - k : k;
        if (w == warp) before = all;
        all = Fold::fold(all, sums[w]);
    }
    *carry = all;
    __syncthreads();
    const int64_t other =
        Backward ? __shfl_down_sync(0xffffffffu, upto, 1) : __shfl_up_sync(0xffffffffu, upto, 1);
    return rank > 0 ? Fold::fold(before, other) : before;
}

/* Chunks that a thread adds up at a time, side by side. */
static constexpr int fold_items = 8, fold_chunks = split_threads * fold_items;

/* Sums from .. from + fold_items - 1, of which those at end and past it are `none`. */
static __device__ __forceinline__ void load_sums(uint32_t (&x)[fold_items], const uint32_t *sums,
                                                 int64_t from, int64_t end, uint32_t none) {
#pragma unroll
    for (int k = 0; k < fold_items; k += 4) {
        int4 quad = {};
        if (from + k < end) quad = load_quad(sums + from + k);
        memcpy(&x[k], &quad, 16);
    }
#pragma unroll
    for (int k = 0; k < fold_items; ++k)
        if (from + k >= end) x[k] = none;
}

/* The entries of all chunks, by one block, after all sums. */
static __device__ void add_up_chunks(const split_arguments &a, int64_t chunks,
                                     int64_t (&sums)[split_warps]) {
    const int64_t n = a.split.n, items = a.chunk_tiles * tile_items;
    const split_scratch &s = a.scratch;
    const bool segmented = a.split.heads != nullptr;
    int64_t all = 0, head = 0;
    for (int64_t begin = 0; begin < chunks; begin += fold_chunks) {
        const int64_t from = begin + threadIdx.x * fold_items;
        uint32_t set[fold_items], heads[fold_items];
        load_sums(set, s.sums.set, from, chunks, 0);
        if (segmented) load_sums(heads, s.sums.head, from, chunks, nowhere);
        int64_t own = 0;
#pragma unroll
        for (int k = 0; k < fold_items; ++k) own += set[k];
        const int64_t before = scan_threads<fold_plus, false>(own, &all, sums);
        int64_t greatest = 0, at = before;
        if (segmented) {
#pragma unroll
            for (int k = 0; k < fold_items; ++k) {
                if (heads[k] != nowhere) greatest = at + heads[k];
                at += set[k];
            }
            greatest = scan_threads<fold_max, false>(greatest, &head, sums);
            at = before;
        }
#pragma unroll
        for (int k = 0; k < fold_items; ++k) {
            if (from + k >= chunks) break;
            s.chunks[from + k].before = at;
            if (segmented) {
                s.chunks[from + k].head = greatest;
                if (heads[k] != nowhere) greatest = at + heads[k];
            }
            at += set[k];
        }
    }
    int64_t next = n - all;
    if (threadIdx.x == 0) {
        *s.set = all;
        if (a.split.count != nullptr) *a.split.count = n - all;
    }
    if (segmented) {
        for (int64_t begin = (chunks - 1) / fold_chunks * fold_chunks; begin >= 0;
             begin -= fold_chunks) {
            const int64_t from = begin + threadIdx.x * fold_items;
            uint32_t set[fold_items], firsts[fold_items];
            load_sums(set, s.sums.set, from, chunks, 0);
            load_sums(firsts, s.sums.next, from, chunks, nowhere);
            int64_t upto = from < chunks ? s.chunks[from].before : 0;
#pragma unroll
            for (int k = 0; k < fold_items; ++k) upto += set[k];
            int64_t least = n, at = upto;
#pragma unroll
            for (int k = fold_items - 1; k >= 0; --k) {
                at -= set[k];
                if (firsts[k] != nowhere) least = (from + k) * items - at + firsts[k];
            }
            least = scan_threads<fold_min, true>(least, &next, sums);
            at = upto;
#pragma unroll
            for (int k = fold_items - 1; k >= 0; --k) {
                at -= set[k];
                if (from + k < chunks) s.chunks[from + k].next = least;
                if (firsts[k] != nowhere) least = (from + k) * items - at + firsts[k];
            }
        }
    }
}

__global__ void __launch_bounds__(split_threads, 4)
    count_flags(const __grid_constant__ split_arguments a) {
    __shared__ __align__(16) uint32_t flag_words[most_tiles][tile_words];
    __shared__ __align__(16) uint32_t head_words[most_tiles][tile_words];
    __shared__ uint32_t tile_set[most_tiles], tile_last[most_tiles], tile_first[most_tiles];
    __shared__ int64_t sums[split_warps];
    __shared__ bool is_last;

    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int tiles = a.chunk_tiles;
    const bool segmented = a.split.heads != nullptr;
    const int64_t n = a.split.n, chunk = blockIdx.x, tile = chunk * tiles + warp;
    const bool is = warp < tiles && tile * tile_items < n; /* the warp has a tile */
    wait_for_kernel_before(); /* then the next one may begin, which loads elements at once */

    /* ---- Bits -------------------------------------------------------------------------------- */
#pragma unroll 1
    for (int k = 0; k < 1 + (int)segmented; ++k) {
        if ((k ? a.scratch.heads : a.scratch.flags) == nullptr) continue; /* bits already */
        flags_to_words(k ? head_words[0] : flag_words[0], k ? a.split.heads : a.split.flags,
                       k ? a.split.head_type : a.split.flag_type, chunk * tiles * tile_items,
                       tiles * tile_items, n);
    }
    __syncthreads();

    /* ---- A warp's tile ----------------------------------------------------------------------- */
    if (warp < tiles) {
        const auto keep = [&](uint32_t(&x)[lane_words], const void *bits, uint32_t *kept,
                              const uint32_t(&words)[tile_words]) {
            if (kept == nullptr) return load_words(x, (const uint32_t *)bits, tile, n);
            load_piece<uint32_t, lane_words>(x, &words[lane_words * lane]);
            if (is)
                store_piece<uint32_t, lane_words>(kept + tile * tile_words + lane_words * lane, x);
        };
        tile_marks marks;
        keep(marks.flags, a.split.flags, a.scratch.flags, flag_words[warp]);
        bool any_head = false;
        if (segmented) {
            keep(marks.heads, a.split.heads, a.scratch.heads, head_words[warp]);
            uint32_t any = 0;
#pragma unroll
            for (int j = 0; j < lane_words; ++j) any |= marks.heads[j];
            any_head = __any_sync(0xffffffffu, any != 0);
        }
        marks.count(segmented);
        if (lane == 0) {
            tile_set[warp] = marks.set;
            if (segmented) {
                tile_last[warp] = any_head ? marks.last : nowhere;
                tile_first[warp] = any_head ? marks.first : nowhere;
            }
        }
    }
    __syncthreads();

    /* ---- The chunk's tiles ------------------------------------------------------------------- */
    uint32_t set = 0; /* flags before tile k */
    tile_entry entry = {0, nowhere, nowhere, 0};
    uint32_t last = nowhere, first = nowhere; /* of the chunk */
    for (int k = 0; k < tiles; ++k) {
        if (k == warp) entry.before = set;
        if (segmented) {
            if (tile_first[k] != nowhere) {
                const uint32_t z = tile_items * (uint32_t)k - set + tile_first[k];
                const uint32_t h = set + tile_last[k];
                if (k < warp) entry.head = h;
                if (k > warp && entry.next == nowhere) entry.next = z;
                if (first == nowhere) first = z;
                last = h;
            }
        }
        set += tile_set[k];
    }
    if (lane == 0 && is) a.scratch.tiles[tile] = entry;

    /* ---- The last block adds up all chunks --------------------------------------------------- */
    if (threadIdx.x == 0) {
        a.scratch.sums.set[chunk] = set;
        if (segmented) {
            a.scratch.sums.head[chunk] = last;
            a.scratch.sums.next[chunk] = first;
        }
        __threadfence();
        is_last = gridDim.x == 1 || atomicAdd(&a.header->arrived, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (!is_last) return;
    __threadfence();
    if (threadIdx.x == 0) a.header->arrived = 0; /* for the next launch */
    add_up_chunks(a, gridDim.x, sums);
}

/* ---- Moving ---------------------------------------------------------------------------------- */

/* A tile, by a block. */
struct split_tile {
    int64_t first; /* element */
    int count;     /* of elements */
    int row;       /* this warp's first */

    __device__ __forceinline__ split_tile(int64_t tile, int64_t n) {
        first = tile * tile_items;
        count = n - first < tile_items ? (int)(n - first) : tile_items;
        row = (int)threadIdx.x / 32 * warp_rows;
    }
    template <class T>
    __device__ __forceinline__ void load(T (&x)[warp_rows], const void *vector) const {
        const int at = row * 32 + (int)threadIdx.x % 32;
        const T *const in = (const T *)vector + first + at;
#pragma unroll
        for (int r = 0; r < warp_rows; ++r)
            x[r] = count == tile_items || r * 32 + at < count ? in[r * 32] : (T)0;
    }
};

/* In the vector, K where a tile begins, K(h) of the last head before it, Z(e) of the first one
   behind it. */
struct tile_places {
    int64_t before, head, next;
};

/* What all warps need of a tile's marks, of which one warp knows all. */
struct tile_slots {
    uint4 rows[tile_words]; /* flags; slots of the first clear and the first set one; heads */
    uint32_t set, first, last;
};

/* By one warp, with the tile's flags and heads. */
static __device__ __forceinline__ void mark_tile(tile_slots &slots, tile_marks &marks, int count,
                                                 bool segmented) {
    const int lane = threadIdx.x % 32;
    marks.set_behind(count);
    marks.count(segmented);
#pragma unroll
    for (int j = 0; j < lane_words; ++j) {
        const int row = lane_words * lane + j;
        const uint32_t before = marks.before[j];
        const uint32_t head = segmented ? marks.head[j] : 0;
        const uint32_t next = segmented ? marks.next[j] : tile_items - marks.set;
        slots.rows[row] = uint4{marks.flags[j], 32u * (uint32_t)row - before + head, before + next,
                                segmented ? marks.heads[j] : 0};
    }
    if (lane > 0) return;
    slots.set = marks.set;
    slots.first = segmented ? marks.first : tile_items - marks.set;
    slots.last = segmented ? marks.last : 0;
}

/* Moves elements as integers T of their size, or writes Positions of type T. Segmented: there may
   be heads. */
template <class T, bool Positions, bool Segmented>
static __device__ __forceinline__ void move_tile(T *out, const split_tile &tile,
                                                 const tile_places &places, const tile_slots &slots,
                                                 const T (&x)[warp_rows], T *packed) {
    const int lane = threadIdx.x % 32, count = tile.count, row = tile.row;
    const int64_t first = tile.first, before = places.before;

    /* ---- The three runs ---------------------------------------------------------------------- */
    const int clear = tile_items - (int)slots.set;
    const int clear_end = Segmented ? (int)slots.first : clear; /* slots of the first run end, */
    const int set_begin = Segmented ? clear + (int)slots.last : clear; /* of the last begin */
    T *const to_clear = out + (first - before + places.head);
    T *const to_own = out + first;
    T *const to_set = out + (before + places.next - clear);

    /* ---- Slots ------------------------------------------------------------------------------- */
    const uint32_t below = bits_below(lane);
#pragma unroll
    for (int r = 0; r < warp_rows; ++r) {
        const uint4 at = slots.rows[row + r];
        const uint32_t start = 32u * (uint32_t)(row + r), i = start + (uint32_t)lane;
        const uint32_t set = (uint32_t)__popc(at.x & below);
        const bool is_set = at.x >> lane & 1;
        uint32_t slot = is_set ? at.z + set : at.y + (uint32_t)lane - set;
        if constexpr (Segmented) {
            const uint32_t heads = at.w;
            if (heads != 0) { /* for all lanes alike */
                const uint32_t behind = heads & ~(2 * below + 1);
                const uint32_t nearest = is_set ? behind & (0 - behind) : heads & (2 * below + 1);
                const int head_lane = 31 - __clz((int)nearest);
                const uint32_t set_there = __shfl_sync(0xffffffffu, set, head_lane);
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

/* Blocks of a multiprocessor: as many as have registers enough. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
static constexpr int most_blocks = 4; /* no more threads than that */
#else
static constexpr int most_blocks = 6;
#endif
template <class T, bool Positions, bool Segmented>
static constexpr int move_blocks = Positions        ? most_blocks
                                   : sizeof(T) == 1 ? 4
                                   : sizeof(T) == 8 ? (Segmented ? 3 : 4)
                                   : Segmented      ? 4
                                                    : most_blocks;

template <class T, bool Positions, bool Segmented>
__global__ void __launch_bounds__(split_threads, (move_blocks<T, Positions, Segmented>))
    split_tiles(const __grid_constant__ split_arguments a) {
    __shared__ T packed[Positions ? 1 : tile_items];
    __shared__ tile_slots slots;

    const int64_t n = a.split.n, number = blockIdx.x;
    const split_tile tile(number, n);
    T x[warp_rows];
    if constexpr (!Positions) tile.load(x, a.split.in);
    wait_for_kernel_before(); /* whose results all that follows needs, but not the elements */
    const bool segmented = Segmented && a.split.heads != nullptr;
    if (threadIdx.x < 32) {
        const split_scratch &kept = a.scratch;
        tile_marks marks;
        load_words(marks.flags, kept.flags != nullptr ? kept.flags : (uint32_t *)a.split.flags,
                   number, n);
        if (segmented)
            load_words(marks.heads, kept.heads != nullptr ? kept.heads : (uint32_t *)a.split.heads,
                       number, n);
        mark_tile(slots, marks, tile.count, segmented);
    }
    const int64_t in_chunk = number / a.chunk_tiles;
    const chunk_entry *const chunk = &a.scratch.chunks[in_chunk];
    const tile_entry *const entry = &a.scratch.tiles[number];
    tile_places places = {chunk->before + entry->before, 0, 0};
    if (segmented) {
        places.head = entry->head != nowhere ? chunk->before + entry->head : chunk->head;
        places.next = entry->next != nowhere
                          ? in_chunk * a.chunk_tiles * tile_items - chunk->before + entry->next
                          : chunk->next;
    } else {
        places.next = n - *a.scratch.set;
    }
    __syncthreads();
    move_tile<T, Positions, Segmented>((T *)a.split.out, tile, places, slots, x, packed);
}

/* ---- Short vectors --------------------------------------------------------------------------- */

/* Blocks of a multiprocessor; a vector is short that has no more tiles than all have blocks. */
template <class T>
static constexpr int most_short_blocks = sizeof(T) == 8 ? 2 : 3;

/* Looks at a word, each some hundred ns, before one does its block's work. */
static constexpr int patience = 256;

/* Set flags of a block's elements, in all lanes of a warp. */
static __device__ uint32_t count_elements(const vscan__split &split, int64_t first, int items) {
    const int64_t end = first + items < split.n ? first + items : split.n;
    uint32_t count = 0;
#pragma unroll 1
    for (int64_t i = first + threadIdx.x % 32; i < end; i += 32)
        count += flag_at(split.flags, split.flag_type, i);
    return sum_over_lanes(count);
}

/* By a block: set flags of all blocks, of so many elements each, and above bit 32 of those before
   this one. Each warp has a part of the sum, in all its lanes. */
static __device__ __forceinline__ uint64_t sum_of_blocks(const split_arguments &a, uint32_t tag,
                                                         int items) {
    const int lane = threadIdx.x % 32, number = (int)blockIdx.x, blocks = (int)gridDim.x;
    uint64_t sum = 0;
#pragma unroll 1
    for (int begin = (int)threadIdx.x - lane; begin < blocks; begin += (int)blockDim.x) {
        const int wanted = begin + lane;
        uint32_t value = 0, none;
        bool missing = wanted < blocks;
#pragma unroll 1
        for (int turn = 0; turn < patience && missing; ++turn)
            missing = !unit_word<uint32_t>::read(a.words, wanted, tag, &value, &none);
        for (uint32_t left; (left = __ballot_sync(0xffffffffu, missing)) != 0;) {
            const int helped = __ffs((int)left) - 1;
            const uint32_t count =
                count_elements(a.split, (int64_t)(begin + helped) * items, items);
            if (lane == helped) {
                value = count;
                missing = false;
            }
        }
        if (wanted < blocks) sum += value | (uint64_t)(wanted < number ? value : 0) << 32;
    }
#pragma unroll
    for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
    return sum;
}

/*
 * What split_short below does, for vectors that are shorter still: see short_rows.cuh. A block has
 * fewer elements, or all there are.
 */
template <class T>
__global__ void __launch_bounds__(short_most_threads, 1)
    split_rows(const __grid_constant__ split_arguments a) {
    __shared__ uint32_t warp_counts[32];
    __shared__ uint64_t sums[32];

    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = (int)blockDim.x / 32;
    const int number = (int)blockIdx.x, blocks = (int)gridDim.x;
    const int items = (int)blockDim.x * short_rows;
    const lane_rows rows(a.split.n);
    prefetch_rows(a.split.in, 8 * (int)sizeof(T), a.split.n);
    prefetch_rows(a.split.flags, map_bits(a.split.flag_type), a.split.n);
    wait_for_kernel_before();

    uint32_t launch = 0;
    if (blocks > 1) launch = (uint32_t)(load_relaxed(&a.header->launches_and_ticket) >> 32);
    T x[short_rows];
    rows.load(x, a.split.in);
    uint32_t masks[short_rows];
    rows.load_masks(masks, a.split.flags, a.split.flag_type);
    uint32_t own = 0;
#pragma unroll
    for (int r = 0; r < short_rows; ++r) own += (uint32_t)__popc(masks[r]);
    const uint32_t sum =
        sum_over_warps(own, warp_counts);        /* then all have read the launch number */
    uint32_t at = sum & 0xffff, all = sum >> 16; /* set flags before the warp, and of the vector */
    if (blocks > 1) {
        const uint32_t tag = tag_of(launch);
        unsigned before_me = (unsigned)blocks; /* blocks that have arrived */
        if (threadIdx.x == 0) {
            test_delay(a.delay, tag, number, 0);
            unit_word<uint32_t>::publish(a.words, number, tag, all);
            before_me = atomicAdd(&a.header->arrived, 1u);
        }
        test_delay(a.delay, tag, number, 1);
        __syncwarp();
        uint64_t total = sum_of_blocks(a, tag, items);
        if (lane == 0) sums[warp] = total;
        __syncthreads();
        total = lane < warps ? sums[lane] : 0;
#pragma unroll
        for (int d = 16; d > 0; d /= 2) total += __shfl_xor_sync(0xffffffffu, total, d);
        at += (uint32_t)(total >> 32);
        all = (uint32_t)total;
        if (before_me == (unsigned)blocks - 1) {
            a.header->arrived = 0;
            close_launch(a.header, launch, a.words, a.capacity, blocks);
        }
    }
    const uint32_t clear = (uint32_t)rows.n - all;
#pragma unroll
    for (int r = 0; r < short_rows; ++r) {
        const uint32_t set = at + (uint32_t)__popc(masks[r] & bits_below(lane));
        const uint32_t place = masks[r] >> lane & 1 ? clear + set : (uint32_t)rows.at(r) - set;
        if (rows.is(r)) ((T *)a.split.out)[place] = x[r];
        at += (uint32_t)__popc(masks[r]);
    }
    if (number == 0 && threadIdx.x == 0 && a.split.count != nullptr) *a.split.count = clear;
}

/*
 * A plain split by one launch: a block has the tile of its number, counts its flags, publishes the
 * number of set ones (unit_words.cuh), and waits for those of all tiles. Blocks need not be
 * resident together: one that has looked for a word for long counts the tile itself, so none
 * depends on another. Each arrives once it has read the launch number; the last one to do so moves
 * that on.
 *
 * Barriers: (1) bits and launch number written; (2) slots and the warps' sums written; (3) elements
 * in their slots.
 */
template <class T>
__global__ void __launch_bounds__(split_threads, most_short_blocks<T>)
    split_short(const __grid_constant__ split_arguments a) {
    __shared__ T packed[tile_items];
    __shared__ __align__(16) uint32_t flag_words[tile_words];
    __shared__ tile_slots slots;
    __shared__ uint64_t sums[split_warps];
    __shared__ uint32_t shared_launch;

    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, number = (int)blockIdx.x;
    const int tiles = (int)gridDim.x;
    const int64_t n = a.split.n;
    const split_tile tile(number, n);
    const int64_t end = tile.first + tile.count;
    prefetch_elements(a.split.in, 8 * (int)sizeof(T), tile.first, end);
    prefetch_elements(a.split.flags, map_bits(a.split.flag_type), tile.first, end);
    wait_for_kernel_before();

    /* ---- Elements and flags ------------------------------------------------------------------ */
    uint32_t launch = 0;
    if (threadIdx.x == 0 && tiles > 1)
        launch = (uint32_t)(load_relaxed(&a.header->launches_and_ticket) >> 32);
    T x[warp_rows];
    tile.load(x, a.split.in);
    const bool bits = a.split.flag_type == VSCAN_BIT;
    if (!bits)
        flags_to_words(flag_words, a.split.flags, a.split.flag_type, tile.first, tile_items, n);
    if (threadIdx.x == 0) shared_launch = launch;
    __syncthreads();
    uint32_t own = 0; /* set flags, known to the first warp */
    if (warp == 0) {
        tile_marks marks;
        if (bits)
            load_words(marks.flags, (const uint32_t *)a.split.flags, number, n);
        else
            load_piece<uint32_t, lane_words>(marks.flags, &flag_words[lane_words * lane]);
        mark_tile(slots, marks, tile.count, false);
        own = marks.set - (uint32_t)(tile_items - tile.count);
    }

    /* ---- Numbers of all tiles ---------------------------------------------------------------- */
    uint64_t sum = own;                   /* of all tiles, above bit 32 of those before this one */
    unsigned before_me = (unsigned)tiles; /* blocks that have arrived */
    if (tiles > 1) {
        const uint32_t tag = tag_of(shared_launch);
        if (threadIdx.x == 0) {
            test_delay(a.delay, tag, number, 0);
            unit_word<uint32_t>::publish(a.words, number, tag, own);
            before_me = atomicAdd(&a.header->arrived, 1u);
        }
        test_delay(a.delay, tag, number, 1);
        sum = sum_of_blocks(a, tag, tile_items);
    }
    if (lane == 0) sums[warp] = sum;
    __syncthreads();
    sum = 0;
#pragma unroll
    for (int w = 0; w < split_warps; ++w) sum += sums[w];
    if (threadIdx.x == 0 && before_me == (unsigned)tiles - 1) {
        a.header->arrived = 0;
        close_launch(a.header, shared_launch, a.words, a.capacity, tiles);
    }
    const int64_t all = (int64_t)(sum & 0xffffffffu);
    if (number == 0 && threadIdx.x == 0 && a.split.count != nullptr) *a.split.count = n - all;
    const tile_places places = {(int64_t)(sum >> 32), 0, n - all};
    move_tile<T, false, false>((T *)a.split.out, tile, places, slots, x, packed);
}

/* ---- Launching ------------------------------------------------------------------------------- */

/* Elements up to which chunks are small: there, more blocks are worth more than fewer sums, most of
   all for ints, of which a large chunk has more than a block can load at once. */
static constexpr int64_t small_to = 1 << 18, small_to_ints = 1 << 23;

/* Elements up to which split_rows is soonest done. */
static constexpr int64_t rows_to = 1 << 18;

/* Lays out the scratch memory from base on, NULL to learn its size: returns that. */
static int64_t lay_out(split_scratch *s, char *base, int64_t n, int flag_type, int head_type) {
    const int64_t tiles = (n + tile_items - 1) / tile_items;
    const int64_t chunks = (tiles + 1) / 2; /* where they are small */
    int64_t bytes = 0;
    const auto take = [&](int64_t count, int64_t size) {
        char *const at = base + bytes;
        bytes += (count * size + 255) / 256 * 256;
        return at;
    };
    s->set = (int64_t *)take(1, 8);
    s->sums.set = (uint32_t *)take(chunks, 4);
    s->sums.head = (uint32_t *)take(chunks, 4);
    s->sums.next = (uint32_t *)take(chunks, 4);
    s->chunks = (chunk_entry *)take(chunks, sizeof(chunk_entry));
    s->tiles = (tile_entry *)take(tiles, sizeof(tile_entry));
    s->flags = flag_type == VSCAN_BIT ? nullptr : (uint32_t *)take(tiles * tile_words, 4);
    s->heads = head_type == VSCAN_BIT || head_type == 0 ? nullptr
                                                        : (uint32_t *)take(tiles * tile_words, 4);
    return bytes;
}

} /* namespace vscan */

using namespace vscan;

extern "C" int64_t vscan__split_bytes(int64_t n, int flag_type, int head_type) {
    split_scratch scratch;
    return lay_out(&scratch, nullptr, n, flag_type, head_type);
}

extern "C" cudaError_t vscan__launch_split(const vscan__launch *launch, const vscan__split *split) {
    typedef void kernel(split_arguments);
    const bool positions = split->in == nullptr;
    const int64_t tiles = (split->n + tile_items - 1) / tile_items;
    const int64_t size = map_size(split->type);
    split_arguments a = {};
    a.split = *split;
    a.header = (vscan__workspace_header *)launch->workspace;
    a.words = (word *)((char *)launch->workspace + VSCAN__WORKSPACE_HEADER);
    a.capacity = launch->words;
    a.delay = launch->test_delay;
    const bool segmented = split->heads != nullptr;
    const bool moves = size >= 4 && !positions && !segmented; /* by one launch, where it is short */
    if (moves && split->n <= rows_to && split->n * size <= launch->short_to) {
        const int threads = short_threads(split->n);
        return start(size == 8 ? split_rows<uint64_t> : split_rows<uint32_t>,
                     short_blocks(split->n, threads), threads, 0, launch->stream, a,
                     launch->may_overlap);
    }
    const int blocks = size == 8 ? most_short_blocks<uint64_t> : most_short_blocks<uint32_t>;
    if (moves && tiles <= blocks * launch->multiprocessors && tiles <= launch->words)
        return start(size == 8 ? split_short<uint64_t> : split_short<uint32_t>, tiles,
                     split_threads, 0, launch->stream, a, launch->may_overlap);
    const bool ints = split->flag_type == VSCAN_INT || split->head_type == VSCAN_INT;
    a.chunk_tiles = split->n <= (ints ? small_to_ints : small_to) ? 2 : most_tiles;
    lay_out(&a.scratch, (char *)launch->scratch, split->n, split->flag_type, split->head_type);
    const cudaError_t error = start(count_flags, (tiles + a.chunk_tiles - 1) / a.chunk_tiles,
                                    split_threads, 0, launch->stream, a, launch->may_overlap);
    if (error != cudaSuccess) return error;
    kernel *const move =
        positions
            ? size == 8 ? split_tiles<uint64_t, true, true> : split_tiles<uint32_t, true, true>
        : size == 1 ? split_tiles<uint8_t, false, true>
        : size == 4
            ? segmented ? split_tiles<uint32_t, false, true> : split_tiles<uint32_t, false, false>
        : segmented ? split_tiles<uint64_t, false, true>
                    : split_tiles<uint64_t, false, false>;
    /* its first blocks load their elements while the last ones of the first kernel count flags */
    return start(move, tiles, split_threads, 0, launch->stream, a, launch->may_overlap);
}
