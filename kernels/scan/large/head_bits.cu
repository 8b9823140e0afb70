/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts int head flags to bits in scan order: see scan/large/head_bits.cuh.
 *
 * A block converts 64 KiB of them, which belong to one tile of 4-byte values or two of 8-byte
 * values. A thread issues the loads of all its flags, 8 vectors of 16 bytes, before it uses one.
 * Where the flags do not begin at a multiple of 16 bytes, the vectors begin up to three flags
 * earlier, and each 32 bits are put together from two words in shared memory.
 *
 * A block writes only its own bits, and the scan waits for this kernel to end; so no order beyond
 * __syncthreads is needed.
 */
#include "scan/large/head_bits.cuh"

#include "machine/tma.cuh"
#include "elements/vectors.cuh"
#include "scan/tuning.cuh"

namespace vscan {

static constexpr int threads = head_bits_threads,
                     thread_vectors = head_bits_vectors; /* 16-byte vectors of a thread */
static constexpr int block_items = threads * thread_vectors * 4, block_words = block_items / 32;
static_assert(block_words == threads, "a 32-bit word a thread");

struct head_bits_arguments {
    const void *flags;
    int64_t n;
    head_bits_view heads;
    int32_t items; /* elements of a tile */
    int32_t early; /* blocks that may be resident before the preceding kernel has ended */
    bool backward;
};

#ifdef VSCAN__TMA

/* Four ints as four bits; those outside of the array become 0. */
static DEVICE uint32_t bits_within(const int32_t *vector, const int32_t *begin,
                                   const int32_t *end) {
    uint32_t bits = 0;
    UNROLL_FOR (int j = 0; j < 4; ++j)
        if (begin <= vector + j && vector + j < end) bits |= is_not_0(vector[j]) << j;
    return bits;
}

/* 8 lanes hold an 8 by 8 matrix of 4-bit values, a row each. Afterwards each holds a column. */
static DEVICE uint32_t transpose_4_bits(uint32_t x, int lane) {
    UNROLL_FOR (int d = 4; d > 0; d /= 2) {
        const uint32_t low = d == 4 ? 0x0000ffffu : d == 2 ? 0x00ff00ffu : 0x0f0f0f0fu;
        const uint32_t other = __shfl_xor_sync(0xffffffffu, x, d);
        x = lane & d ? (x & ~low) | (other >> 4 * d & low) : (x & low) | (other & low) << 4 * d;
    }
    return x;
}

/* Stores the bits of positions position to position + 31, as far as they are in the vector. */
static DEVICE void write_heads(const head_bits_arguments &a, int64_t position, uint32_t heads) {
    const int64_t left = a.n - position, tile = position / a.items;
    if (position == 0) heads |= 1;
    if (left < 32) heads &= left > 0 ? (1u << left) - 1 : 0;
    if (tile * a.items >= a.n) return;
    char *const tile_bits = a.heads.of(tile, a.n / a.items);
    ((uint32_t *)tile_bits)[position % a.items / 32] = heads;
}

static constexpr int max_blocks = 3;
#else /* the kernel does nothing; sm_75 does not have the threads */
static constexpr int max_blocks = 1;
#endif

/* Blocks: on one multiprocessor. */
template <int Blocks>
__global__ void __launch_bounds__(threads, Blocks < max_blocks ? Blocks : max_blocks)
    head_bits(const __grid_constant__ head_bits_arguments a) {
#ifdef VSCAN__TMA
    __shared__ uint32_t flag_words[block_words + 1]; /* in memory order */
    const int thread = threadIdx.x, lane = thread % 32;
    const int64_t i = (int64_t)blockIdx.x * block_items;
    /* position i of the scan has flag i, or n - i where it is backward */
    const int64_t number = a.backward ? a.n - i - (block_items - 1) : i;
    const int32_t *const flags = (const int32_t *)a.flags;
    const int32_t *const end = flags + a.n, *const first = flags + number;
    const int shift = (int)((uintptr_t)first % 16 / 4);
    const int32_t *const from = first - shift, *const to = from + block_items + (shift > 0) * 4;
    const int32_t *const mine = from + 4 * (thread / 32 * (32 * thread_vectors) + lane);
    const bool whole = flags <= from && to <= end;

    if (whole && blockIdx.x < (unsigned)a.early) prefetch_line(from + 32 * thread);
    grid_dependency_wait();
    uint32_t bits = 0, beyond = 0; /* 4 of each vector */
    if (whole) {
        int4 x[thread_vectors], more = {};
        UNROLL_FOR (int j = 0; j < thread_vectors; ++j) x[j] = load_quad(mine + 128 * j);
        if (thread == 0 && shift > 0) more = load_quad(from + block_items);
        UNROLL_FOR (int j = 0; j < thread_vectors; ++j) bits |= bits_of_ints(x[j]) << 4 * j;
        beyond = bits_of_ints(more);
    } else {
        ROLLED_FOR (int j = 0; j < thread_vectors; ++j)
            bits |= bits_within(mine + 128 * j, flags, end) << 4 * j;
        if (thread == 0) beyond = bits_within(from + block_items, flags, end);
    }
    /* 32 bits are made of the same vector of 8 adjacent lanes */
    flag_words[thread / 32 * 32 + lane % 8 * 4 + lane / 8] = transpose_4_bits(bits, lane);
    if (thread == 0) flag_words[block_words] = beyond;
    __syncthreads();

    const int w = a.backward ? block_words - 1 - thread : thread;
    uint32_t heads = __funnelshift_r(flag_words[w], flag_words[w + 1], (unsigned)shift);
    if (a.backward) heads = __brev(heads);
    write_heads(a, i + 32 * thread, heads);
#endif
}

cudaError_t launch_head_bits(const vscan__launch *launch, const vscan__scan &scan, int items,
                             const head_bits_view &heads) {
    head_bits_arguments a;
    a.flags = scan.flags;
    a.n = scan.n;
    a.heads = heads;
    a.items = items;
    const int64_t blocks = (scan.n + block_items - 1) / block_items;
    const int each = blocks < head_bits_by_twos ? 2 : 3;
    a.early = each * launch->multiprocessors;
    a.backward = scan.backward;
    return start(each == 2 ? head_bits<2> : head_bits<3>, blocks, threads, 0, launch->stream, a,
                 launch->may_overlap);
}

} /* namespace vscan */
