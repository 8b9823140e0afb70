/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Head flags become bits in scan order: see scan/head_bits.cuh.
 *
 * Int flags: a block has 64 KiB of them, one tile of 4-byte values or two of 8-byte values, and there are
 * as many blocks as that takes, which start in the order of the scan. A thread asks for all its flags, 8
 * pieces of 16 bytes, before it waits for one. Where the flags do not begin at a multiple of 16 bytes, the
 * pieces begin up to three flags before them, and words are put together from two in shared memory.
 *
 * Three blocks on a multiprocessor are faster than two (of 2^26 and 2^28 ints with their scan by
 * 0.007), unless there are few: then they lie more evenly by twos (2^22 to 2^24: by 0.01 to 0.05).
 */
#include "scan/head_bits.cuh"

#include "common/tma.cuh"
#include "common/vectors.cuh"

namespace vscan {

static constexpr int heads_threads = 512, heads_pieces = 8; /* of a thread */
static constexpr int heads_items = heads_threads * heads_pieces * 4, heads_words = heads_items / 32;
static constexpr int64_t heads_few = 2048; /* blocks, fewer than that */
static_assert(heads_words == heads_threads, "a word a thread");

struct heads_arguments {
    const void *flags;
    int64_t n;
    made_heads heads;
    int32_t items; /* of a tile */
    int32_t early; /* blocks that there may be before the kernel before has ended */
    bool backward;
};

#ifdef VSCAN__TMA

/* Four ints in memory as four bits, those that lie in the vector. */
static __device__ __forceinline__ uint32_t bits_within(const int32_t *piece, const int32_t *begin,
                                                       const int32_t *end) {
    uint32_t bits = 0;
#pragma unroll
    for (int j = 0; j < 4; ++j)
        if (begin <= piece + j && piece + j < end) bits |= is_not_0(piece[j]) << j;
    return bits;
}

/* Row r of 8 lanes' 8 by 8 matrix of 4 bits becomes its column r. */
static __device__ __forceinline__ uint32_t exchange_rows(uint32_t row, int lane) {
#pragma unroll
    for (int d = 4; d > 0; d /= 2) {
        const uint32_t low = d == 4 ? 0x0000ffffu : d == 2 ? 0x00ff00ffu : 0x0f0f0f0fu;
        const uint32_t other = __shfl_xor_sync(0xffffffffu, row, d);
        row =
            lane & d ? (row & ~low) | (other >> 4 * d & low) : (row & low) | (other & low) << 4 * d;
    }
    return row;
}

/* The word of 32 positions, of which the vector may not have all. */
static __device__ __forceinline__ void write_heads(const heads_arguments &a, int64_t position,
                                                   uint32_t heads) {
    const int64_t left = a.n - position, tile = position / a.items;
    if (position == 0) heads |= 1;
    if (left < 32) heads &= left > 0 ? (1u << left) - 1 : 0;
    if (tile * a.items >= a.n) return;
    char *const tile_bits = a.heads.of(tile, a.n / a.items);
    ((uint32_t *)tile_bits)[position % a.items / 32] = heads;
}

static constexpr int heads_most = 3;
#else /* the kernel does nothing; sm_75 would not have the threads */
static constexpr int heads_most = 1;
#endif

/* Blocks: of a multiprocessor. */
template <int Blocks>
__global__ void __launch_bounds__(heads_threads, Blocks < heads_most ? Blocks : heads_most)
    head_bits(const __grid_constant__ heads_arguments a) {
#ifdef VSCAN__TMA
    __shared__ uint32_t words[heads_words + 1]; /* in the order of memory */
    const int thread = threadIdx.x, lane = thread % 32;
    const int64_t i = (int64_t)blockIdx.x * heads_items;
    /* position i of the scan has flag i, or n - i where it is backward */
    const int64_t number = a.backward ? a.n - i - (heads_items - 1) : i;
    const int32_t *const flags = (const int32_t *)a.flags;
    const int32_t *const end = flags + a.n, *const first = flags + number;
    const int shift = (int)((uintptr_t)first % 16 / 4);
    const int32_t *const from = first - shift, *const to = from + heads_items + (shift > 0) * 4;
    const int32_t *const mine = from + 4 * (thread / 32 * (32 * heads_pieces) + lane);
    const bool whole = flags <= from && to <= end;

    if (whole && blockIdx.x < (unsigned)a.early) prefetch_line(from + 32 * thread);
    wait_for_kernel_before();
    uint32_t bits = 0, beyond = 0; /* 4 of each piece */
    if (whole) {
        int4 x[heads_pieces], more = {};
#pragma unroll
        for (int j = 0; j < heads_pieces; ++j) x[j] = load_quad(mine + 128 * j);
        if (thread == 0 && shift > 0) more = load_quad(from + heads_items);
#pragma unroll
        for (int j = 0; j < heads_pieces; ++j) bits |= bits_of_ints(x[j]) << 4 * j;
        beyond = bits_of_ints(more);
    } else {
#pragma unroll 1
        for (int j = 0; j < heads_pieces; ++j)
            bits |= bits_within(mine + 128 * j, flags, end) << 4 * j;
        if (thread == 0) beyond = bits_within(from + heads_items, flags, end);
    }
    /* a word has the same piece of 8 lanes beside each other */
    words[thread / 32 * 32 + lane % 8 * 4 + lane / 8] = exchange_rows(bits, lane);
    if (thread == 0) words[heads_words] = beyond;
    __syncthreads();

    const int w = a.backward ? heads_words - 1 - thread : thread;
    uint32_t heads = __funnelshift_r(words[w], words[w + 1], (unsigned)shift);
    if (a.backward) heads = __brev(heads);
    write_heads(a, i + 32 * thread, heads);
#endif
}

/* The same of bits: a word a thread, put together from two. */
__global__ void __launch_bounds__(heads_threads)
    head_words(const __grid_constant__ heads_arguments a) {
#ifdef VSCAN__TMA
    const uint32_t *const flags = (const uint32_t *)a.flags;
    const int64_t position = ((int64_t)blockIdx.x * heads_words + threadIdx.x) * 32;
    /* as above: position i has flag n - i */
    const int64_t number = a.backward ? a.n - position - 31 : position;
    const int64_t w = number >> 5, words = (a.n + 31) / 32;
    wait_for_kernel_before();
    const uint32_t low = 0 <= w && w < words ? flags[w] : 0;
    const uint32_t high = 0 <= w + 1 && w + 1 < words ? flags[w + 1] : 0;
    const uint32_t heads = __funnelshift_r(low, high, (unsigned)number % 32);
    write_heads(a, position, a.backward ? __brev(heads) : heads);
#endif
}

cudaError_t make_heads(const vscan__launch *launch, const vscan__scan &scan, int items,
                       const made_heads &heads) {
    heads_arguments a;
    a.flags = scan.flags;
    a.n = scan.n;
    a.heads = heads;
    a.items = items;
    const int64_t blocks = (scan.n + heads_items - 1) / heads_items;
    const int each = blocks < heads_few ? 2 : 3;
    a.early = each * launch->multiprocessors;
    a.backward = scan.backward;
    return start(scan.flag_type == VSCAN_BIT ? head_words
                 : each == 2                 ? head_bits<2>
                                             : head_bits<3>,
                 blocks, heads_threads, 0, launch->stream, a, launch->may_overlap);
}

} /* namespace vscan */
