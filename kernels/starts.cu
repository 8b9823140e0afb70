/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where segments begin: the positions of set flags, of which the first counts as set, and then n. One
 * pass over flags of any kind.
 *
 * A block has tiles of up to 64 KiB of flags (of bits, 32 KiB), by ticket (unit_words.cuh). Flags become
 * words of 32 bits, which lanes keep: a warp has rows of 32 lanes, a lane of a row `each` words beside
 * one another. The word of a tile is the number of its flags, published as soon as it is known. Then the
 * block writes the tile that it had before, as soon as it knows how many flags come before that; a block
 * that waits has nothing that others wait for. Memory is asked for a tile as soon as there is a ticket.
 *
 * Of a tile that waits, each warp has the places of its flags side by side in shared memory; where they
 * are too many for that, they are read once more, row by row. So what is written is written 32 positions
 * at a time.
 *
 * The first tile begins up to 16 bytes before the vector, so that pieces of 16 bytes lie on multiples of
 * 16 bytes; what lies outside of the vector is not read.
 *
 * Barriers: (1) counts of the warps known; (2) the warps' sums of earlier words, too; (3) the next ticket.
 */
#include "bulk.cuh"
#include "map.cuh"
#include "unit_words.cuh"
#include "vectors.cuh"

namespace vscan {

static constexpr unsigned all_lanes = 0xffffffffu;
static constexpr int starts_warps = 16;    /* of a block at most */
static constexpr int starts_staged = 1024; /* places that a warp has room for */
static constexpr int many_flags = 8;       /* of a word: more are taken a bit a lane */

/* Blocks of a multiprocessor; before sm_80 it may have no more than 1024 threads. */
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
static constexpr int starts_blocks = 2;
#else
static constexpr int starts_blocks = 1;
#endif

struct starts_arguments {
    vscan__pack pack;
    vscan__workspace_header *header;
    word *words;
    int64_t capacity;
    vscan__late *late;
    uint32_t delay; /* for tests: see test_delay */
    int shift;      /* flags that the first tile has before the vector */
    int rows;       /* of a warp */
};

/* Rows of a warp at most, and words of a lane in a row. */
template <class Flag>
struct starts_shape;
struct one_bit {};
template <>
struct starts_shape<one_bit> {
    static constexpr int rows = 4, each = 4;
};
template <>
struct starts_shape<uint8_t> {
    static constexpr int rows = 4, each = 1;
    using part = uint16_t; /* bits of 16 bytes of flags */
};
template <>
struct starts_shape<int32_t> {
    static constexpr int rows = 1, each = 1;
    using part = uint8_t; /* the same; half of it is not used */
};

/* A warp's part of a tile: flags begin .. end - 1 of it are in the vector, whose number `first` is its
   first one. */
struct starts_part {
    int64_t first;
    int begin, end;
};

/* ---- Flags as words -------------------------------------------------------------------------- */

/* The word of bits at flag o of a part; those outside are 0. */
static __device__ __forceinline__ uint32_t word_at(const starts_arguments &a,
                                                   const starts_part &part, int o) {
    if (o < part.begin || o >= part.end) return 0;
    const uint32_t bits = ((const uint32_t *)a.pack.flags + part.first / 32)[o / 32];
    return part.end - o < 32 ? bits & ((1u << (part.end - o)) - 1) : bits;
}

/* x[r][j]: word j of this lane in row `from` + r, of so many rows. A part that is whole has no jump
   between its loads, as else the compiler waits for one before the next. */
template <int Rows, int Each>
static __device__ __forceinline__ void load_bits(uint32_t (&x)[Rows][Each],
                                                 const starts_arguments &a, const starts_part &part,
                                                 int from, int rows) {
    const uint32_t *const words =
        (const uint32_t *)a.pack.flags + part.first / 32 + (int)(threadIdx.x % 32) * Each;
#pragma unroll
    for (int r = 0; r < Rows; ++r)
#pragma unroll
        for (int j = 0; j < Each; ++j) x[r][j] = 0;
    if (part.begin == 0 && part.end == rows * 1024 * Each) {
#pragma unroll
        for (int r = 0; r < Rows; ++r)
            if (from + r < rows) load_piece<uint32_t, Each>(x[r], words + (from + r) * 32 * Each);
    } else {
#pragma unroll
        for (int r = 0; r < Rows; ++r)
#pragma unroll
            for (int j = 0; j < Each; ++j)
                x[r][j] =
                    word_at(a, part, (((from + r) * 32 + (int)threadIdx.x % 32) * Each + j) * 32);
    }
}

/* 16 bytes of flags as bits. */
static __device__ __forceinline__ uint32_t bits_of_piece(const uint8_t (&flags)[16]) {
    uint32_t fours[4], bits = 0;
    memcpy(fours, flags, 16);
#pragma unroll
    for (int j = 3; j >= 0; --j) bits = push_bytes(bits, fours[j]);
    return bits;
}
static __device__ __forceinline__ uint32_t bits_of_piece(const int32_t (&flags)[4]) {
    uint32_t bits = 0;
#pragma unroll
    for (int j = 0; j < 4; ++j) bits |= (uint32_t)(flags[j] != 0) << j;
    return bits;
}

/* Word number w of the bits of pieces, that lie side by side: 16 bits each or, of ints, a byte. */
static __device__ __forceinline__ uint32_t word_of_parts(const uint16_t *parts, int w) {
    return ((const uint32_t *)parts)[w];
}
static __device__ __forceinline__ uint32_t word_of_parts(const uint8_t *parts, int w) {
    const uint2 fours = ((const uint2 *)parts)[w];
    uint32_t low = fours.x | fours.x >> 4, high = fours.y | fours.y >> 4;
    low = (low & 255) | (low >> 8 & 0xff00);
    high = (high & 255) | (high >> 8 & 0xff00);
    return low | high << 16;
}

/* The same of the bits of flags; memory: of the warp, without any contents. */
template <class Flag, int Rows>
static __device__ __forceinline__ void load_flags(uint32_t (&x)[Rows][1], const starts_arguments &a,
                                                  const starts_part &part, int from, int rows,
                                                  uint16_t *memory) {
    using part_type = typename starts_shape<Flag>::part;
    constexpr int F = 16 / (int)sizeof(Flag); /* flags of a piece */
    constexpr int pieces = 32 / F;            /* of a lane in a row */
    part_type *const parts = (part_type *)memory;
    const Flag *const flags = (const Flag *)a.pack.flags + part.first;
    const int lane = threadIdx.x % 32, last = rows - from < Rows ? rows - from : Rows;
    Flag raw[Rows * pieces][F];
#pragma unroll
    for (int k = 0; k < Rows * pieces; ++k) {
        const int o = from * 1024 + (k * 32 + lane) * F;
#pragma unroll
        for (int j = 0; j < F; ++j) raw[k][j] = 0;
        if (k < last * pieces && o >= part.begin && o + F <= part.end)
            load_piece<Flag, F>(raw[k], flags + o);
    }
#pragma unroll
    for (int k = 0; k < Rows * pieces; ++k) parts[k * 32 + lane] = (part_type)bits_of_piece(raw[k]);
    if (part.begin > 0 || part.end < rows * 1024) { /* pieces that lie partly in the vector */
#pragma unroll 1
        for (int k = 0; k < last * pieces; ++k) {
            const int o = from * 1024 + (k * 32 + lane) * F;
            if (o + F <= part.begin || o >= part.end) continue;
            uint32_t bits = 0;
#pragma unroll
            for (int j = 0; j < F; ++j)
                if (o + j >= part.begin && o + j < part.end)
                    bits |= (uint32_t)(flags[o + j] != 0) << j;
            parts[k * 32 + lane] = (part_type)bits;
        }
    }
    __syncwarp();
#pragma unroll
    for (int r = 0; r < Rows; ++r) x[r][0] = r < last ? word_of_parts(parts, r * 32 + lane) : 0;
    __syncwarp();
}

template <class Flag, int Rows, int Each>
static __device__ __forceinline__ void
load_words(uint32_t (&x)[Rows][Each], const starts_arguments &a, const starts_part &part, int from,
           int rows, uint16_t *memory) {
    if constexpr (same_type<Flag, one_bit>)
        load_bits(x, a, part, from, rows);
    else
        load_flags<Flag>(x, a, part, from, rows, memory);
}

/* ---- Places ---------------------------------------------------------------------------------- */

/* The sum of x over the lanes up to this one. */
static __device__ __forceinline__ uint32_t sum_upto(uint32_t x) {
#pragma unroll
    for (int d = 1; d < 32; d *= 2) {
        const uint32_t other = __shfl_up_sync(all_lanes, x, d);
        if ((int)(threadIdx.x % 32) >= d) x += other;
    }
    return x;
}

static __device__ __forceinline__ int64_t sum_of_lanes(int64_t x) {
#pragma unroll
    for (int d = 16; d > 0; d /= 2) x += __shfl_xor_sync(all_lanes, x, d);
    return x;
}

/* The places of a lane's flags, the first of which is `first`, to staged[at], ...; for few flags. */
template <int Each>
static __device__ __forceinline__ void stage_few(const uint32_t (&x)[Each], int first, uint32_t at,
                                                 uint16_t *staged) {
#pragma unroll
    for (int j = 0; j < Each; ++j) {
        uint32_t left = x[j];
#pragma unroll 1
        for (; left != 0; left &= left - 1)
            staged[at++] = (uint16_t)(first + 32 * j + __ffs((int)left) - 1);
    }
}

/* The same of a row of 32 words, one word at a time, a bit a lane; first: the place of the row's first
   flag. By whole warps. */
static __device__ __forceinline__ void stage_many(uint32_t x, int first, uint32_t at,
                                                  uint16_t *staged) {
    const int lane = threadIdx.x % 32;
    const uint32_t below = (1u << lane) - 1;
#pragma unroll 4
    for (int q = 0; q < 32; ++q) {
        const uint32_t bits = __shfl_sync(all_lanes, x, q);
        const uint32_t place = __shfl_sync(all_lanes, at, q) + __popc(bits & below);
        if (bits >> lane & 1) staged[place] = (uint16_t)(first + q * 32 + lane);
    }
}

/* Writes count positions, from place `at` of out on, each first + its place. By whole warps. */
static __device__ __forceinline__ void write_staged(const starts_arguments &a,
                                                    const uint16_t *staged, uint32_t count,
                                                    int64_t at, int64_t first) {
    __syncwarp();
    const int64_t room = a.pack.length - at;
    const int fits = room < count ? room > 0 ? (int)room : 0 : (int)count;
    const bool narrow = a.pack.type == VSCAN_INT;
#pragma unroll 2
    for (int k = threadIdx.x % 32; k < fits; k += 32) {
        if (narrow)
            ((int32_t *)a.pack.out)[at + k] = (int32_t)first + staged[k];
        else
            ((int64_t *)a.pack.out)[at + k] = first + staged[k];
    }
    __syncwarp();
}

/*
 * Writes the positions of the flags of a row of 32 words, one a lane, a bit a lane; first: the position
 * of the row's first flag; at: the place of the lane's first one in out, from `to` on; pairs: memory of
 * the warp. By whole warps.
 */
static __device__ __forceinline__ void write_many(const starts_arguments &a, uint32_t x,
                                                  uint32_t at, int64_t to, int64_t first,
                                                  uint2 *pairs) {
    const int lane = threadIdx.x % 32;
    const uint32_t below = (1u << lane) - 1;
    const int64_t space = a.pack.length - to;
    const uint32_t room = space < 0 ? 0 : space > 1024 ? 1024 : (uint32_t)space;
    pairs[lane] = {x, at};
    __syncwarp();
    const auto each = [&](auto *out, auto position) {
#pragma unroll 4
        for (int q = 0; q < 32; q += 2) {
            const uint4 two = *(const uint4 *)(pairs + q); /* of two words */
            const uint32_t low = two.y + __popc(two.x & below);
            const uint32_t high = two.w + __popc(two.z & below);
            if (two.x >> lane & 1 && low < room) out[low] = position + q * 32;
            if (two.z >> lane & 1 && high < room) out[high] = position + q * 32 + 32;
        }
    };
    if (a.pack.type == VSCAN_INT)
        each((int32_t *)a.pack.out + to, (int32_t)first + lane);
    else
        each((int64_t *)a.pack.out + to, first + lane);
    __syncwarp();
}

/* Reads so many rows of bits of a part once more and writes their positions, from place `at` of out on;
   first_set: the vector's first flag is set in any case. By whole warps. */
static __device__ __forceinline__ void write_again(const starts_arguments &a,
                                                   const starts_part &part, int rows, int64_t at,
                                                   bool first_set, uint2 *pairs) {
    uint32_t y[1][1];
    load_bits(y, a, part, 0, rows);
    if (first_set && (int)threadIdx.x == a.shift / 32) y[0][0] |= 1u << a.shift % 32;
#pragma unroll 1
    for (int r = 0; r < rows; ++r) {
        const uint32_t bits = y[0][0], own = (uint32_t)__popc(bits);
        if (r + 1 < rows) load_bits(y, a, part, r + 1, rows);
        const uint32_t upto = sum_upto(own);
        write_many(a, bits, upto - own, at, part.first + r * 1024, pairs);
        at += __shfl_sync(all_lanes, upto, 31);
    }
}

/* ---- Kernel ---------------------------------------------------------------------------------- */

template <class Flag>
__global__ void __launch_bounds__(32 * starts_warps, starts_blocks)
    find_starts(const __grid_constant__ starts_arguments a) {
    using shape = starts_shape<Flag>;
    constexpr int Rows = shape::rows, Each = shape::each;
    __shared__ __align__(16) uint16_t all_staged[starts_warps][starts_staged];
    __shared__ __align__(16) uint16_t all_parts[starts_warps][256];
    __shared__ uint32_t warp_counts[starts_warps];
    __shared__ int64_t warp_sums[starts_warps];
    __shared__ ticket shared_ticket;

    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
    const int64_t n = a.pack.n;
    const int share = a.rows * 1024 * Each; /* flags of a warp */
    const int64_t items = (int64_t)warps * share;
    const int64_t tiles = (n + a.shift + items - 1) / items;
    uint16_t *const staged = all_staged[warp], *const parts = all_parts[warp];

    int64_t next = -1; /* to be read; -1: the first is not yet known */
    uint32_t tag = 0;
    int64_t tile = -1;                          /* to be written; -1: none */
    uint32_t count = 0, place = 0, of_tile = 0; /* flags of the warp, of those before, of all */
    int64_t seen = 0, before = 0;               /* flags in tiles before number seen */

    const auto part_of = [&](int64_t of) -> starts_part {
        const int64_t first = of * items - a.shift + warp * share, left = n - first;
        return {first, first < 0 ? (int)-first : 0,
                left < share ? left > 0 ? (int)left : 0 : share};
    };
    /* a line of 128 bytes for each thread is a block's first tile */
    const int64_t ahead = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) * 128;
    if (ahead < n * map_bits(a.pack.flag_type) / 8)
        prefetch_line((const char *)a.pack.flags + ahead);
    wait_for_kernel_before(false);

    for (;;) {

        /* ---- The next tile: flags, counts ---------------------------------------------------- */
        uint32_t x[Rows][Each];
        /* of two rows each, 16 bits a row: flags of the lanes before this one, and of all */
        uint32_t befores[(Rows + 1) / 2], totals[(Rows + 1) / 2];
        uint32_t next_count = 0, next_place = 0, of_next = 0;
        if (next >= 0 && next < tiles) {
            load_words<Flag>(x, a, part_of(next), 0, a.rows, parts);
            if constexpr (Each > 1) { /* no jump, or the words would be kept in memory */
                const uint32_t first = next == 0 && threadIdx.x == 0 ? 1u << a.shift % 32 : 0;
#pragma unroll
                for (int j = 0; j < Each; ++j) x[0][j] |= a.shift / 32 == j ? first : 0;
            } else if (next == 0 && threadIdx.x == 0) {
                if (a.shift / 32 == 0) x[0][0] |= 1u << a.shift % 32;
            }
#pragma unroll
            for (int p = 0; p < (Rows + 1) / 2; ++p) {
                uint32_t own = 0;
#pragma unroll
                for (int r = 2 * p; r < 2 * p + 2 && r < Rows; ++r)
#pragma unroll
                    for (int j = 0; j < Each; ++j) own += (uint32_t)__popc(x[r][j]) << 16 * (r & 1);
                const uint32_t upto = sum_upto(own);
                befores[p] = upto - own;
                totals[p] = __shfl_sync(all_lanes, upto, 31);
                next_count += (totals[p] & 0xffff) + (totals[p] >> 16);
            }
            if (lane == 0) warp_counts[warp] = next_count;
        }
        __syncthreads(); /* (1) */
        if (next >= 0 && next < tiles) {
            const uint32_t own = lane < warps ? warp_counts[lane] : 0, upto = sum_upto(own);
            next_place = __shfl_sync(all_lanes, upto - own, warp);
            of_next = __shfl_sync(all_lanes, upto, 31);
            if (threadIdx.x == 0 && tiles > 1) {
                test_delay(a.delay, tag, next, 0);
                unit_word<uint32_t>::publish(a.words, next, tag, of_next);
            }
        }

        /* ---- Flags before the tile ----------------------------------------------------------- */
        if (tile >= 0) {
            test_delay(a.delay, tag, tile, 1);
            int64_t sum = 0;
            for (int64_t t = seen + threadIdx.x; t < tile; t += blockDim.x) {
                uint32_t value, none;
                while (!unit_word<uint32_t>::read(a.words, t, tag, &value, &none)) {
                }
                sum += value;
            }
            __syncwarp();
            sum = sum_of_lanes(sum);
            if (lane == 0) warp_sums[warp] = sum;
        }
        __syncthreads(); /* (2) */
        if (threadIdx.x == 0 && next < tiles) {
            ticket t = {0, (uint32_t)(next + 1)}; /* one tile needs no tickets */
            if (tiles > 1) {
                t = take_ticket(a.header);
                if (t.index == tiles + gridDim.x - 1)
                    end_tickets(a.header, a.words, a.capacity, tiles);
            }
            shared_ticket = t;
            const int64_t then = t.index;
            if (then >= tiles) let_next_kernel_begin();
#ifdef VSCAN__BULK
            if (then > 0 && (then + 1) * items - a.shift <= n) {
                const int64_t bits = map_bits(a.pack.flag_type);
                bulk_prefetch((const char *)a.pack.flags + (then * items - a.shift) * bits / 8,
                              (uint32_t)(items * bits / 8));
            }
#endif
        }

        /* ---- Positions ----------------------------------------------------------------------- */
        if (tile >= 0) {
            before += sum_of_lanes(lane < warps ? warp_sums[lane] : 0);
            seen = tile;
            const starts_part part = part_of(tile);
            int64_t at = before + place;
            if constexpr (Each > 1) {
                if (count <= starts_staged)
                    write_staged(a, staged, count, at, part.first);
                else
                    write_again(a, part, a.rows * Each, at, tile == 0, (uint2 *)parts);
            } else {
                const bool few = count <= starts_staged;
#pragma unroll 1
                for (int r = 0; r < (few ? 1 : a.rows * Each); ++r) {
                    uint32_t all = count; /* flags that are staged */
                    if (!few) {
                        uint32_t y[1][1];
                        load_words<Flag>(y, a, part, r, a.rows * Each, parts);
                        if (tile == 0 && r == 0 && (int)threadIdx.x == a.shift / 32)
                            y[0][0] |= 1u << a.shift % 32;
                        const uint32_t own = (uint32_t)__popc(y[0][0]), upto = sum_upto(own);
                        all = __shfl_sync(all_lanes, upto, 31);
                        if (__any_sync(all_lanes, own > many_flags))
                            stage_many(y[0][0], r * 1024, upto - own, staged);
                        else
                            stage_few<1>(y[0], (r * 32 + lane) * 32, upto - own, staged);
                    }
                    write_staged(a, staged, all, at, part.first);
                    at += all;
                }
            }
            if (tile == tiles - 1 && threadIdx.x == 0) {
                const int64_t all = before + of_tile;
                if (a.pack.count != nullptr) *a.pack.count = all;
                if (all < a.pack.length) {
                    if (a.pack.type == VSCAN_INT)
                        ((int32_t *)a.pack.out)[all] = (int32_t)n;
                    else
                        ((int64_t *)a.pack.out)[all] = n;
                } else if (*(volatile int32_t *)&a.late->status == VSCAN_OK) {
                    *(volatile int64_t *)&a.late->at = all + 1;
                    *(volatile int32_t *)&a.late->status = VSCAN_ERROR_OUT_LENGTH;
                }
            }
        }
        if (next >= tiles) return;

        /* ---- The next tile: places, if they are few ------------------------------------------ */
        if (next >= 0 && next_count <= starts_staged) {
            uint32_t at = 0;
#pragma unroll
            for (int r = 0; r < Rows; ++r) {
                const uint32_t own = at + (befores[r / 2] >> 16 * (r & 1) & 0xffff);
                if (Each == 1 && __any_sync(all_lanes, __popc(x[r][0]) > many_flags))
                    stage_many(x[r][0], r * 1024, own, staged);
                else
                    stage_few<Each>(x[r], (r * 32 + lane) * 32 * Each, own, staged);
                at += totals[r / 2] >> 16 * (r & 1) & 0xffff;
            }
        }
        tile = next;
        count = next_count;
        place = next_place;
        of_tile = of_next;
        __syncthreads(); /* (3) */
        next = shared_ticket.index;
        tag = shared_ticket.tag;
    }
}

/* ---- Launching ------------------------------------------------------------------------------- */

template <class Flag>
static cudaError_t launch_starts(const vscan__launch *launch, const vscan__pack *pack) {
    using shape = starts_shape<Flag>;
    const int64_t bits = map_bits(pack->flag_type);
    starts_arguments a = {};
    a.pack = *pack;
    a.header = (vscan__workspace_header *)launch->workspace;
    a.words = (word *)((char *)launch->workspace + VSCAN__WORKSPACE_HEADER);
    a.capacity = launch->words;
    a.late = launch->late;
    a.delay = launch->test_delay;
    a.shift = (int)((uintptr_t)pack->flags % 16 * 8 / (uintptr_t)bits);
    /* Smaller tiles and blocks where multiprocessors would have none. */
    a.rows = shape::rows;
    int warps = starts_warps;
    const auto tiles_of = [&] {
        const int64_t items = (int64_t)warps * a.rows * 1024 * shape::each;
        return (pack->n + a.shift + items - 1) / items;
    };
    while (a.rows > 1 && tiles_of() < launch->multiprocessors * 3 / 2) a.rows /= 2;
    while (warps > 4 && tiles_of() < launch->multiprocessors) warps /= 2;
    const int64_t resident = (int64_t)starts_blocks * launch->multiprocessors, tiles = tiles_of();
    return start(find_starts<Flag>, tiles < resident ? tiles : resident, 32 * warps, 0,
                 launch->stream, a, launch->may_overlap);
}

} /* namespace vscan */

using namespace vscan;

extern "C" cudaError_t vscan__launch_starts(vscan__launch *launch, const vscan__pack *pack) {
    return pack->flag_type == VSCAN_BIT    ? launch_starts<one_bit>(launch, pack)
           : pack->flag_type == VSCAN_BYTE ? launch_starts<uint8_t>(launch, pack)
                                           : launch_starts<int32_t>(launch, pack);
}
