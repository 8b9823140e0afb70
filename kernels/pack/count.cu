/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vscan_count: the number of set flags, in one pass and one launch.
 *
 * The body is what lies in whole 16-byte vectors, of ints, bytes or bits alike; a thread has count_loads of them in
 * flight, and the whole grid reads side by side. The few flags before and behind the body are block 0's, one a
 * thread. In a word, a set flag becomes one bit: its highest one, which (x & low) + low sets where any other is set,
 * low being all bits of flags but the highest ones. So bits are counted, whatever the type.
 *
 * Memory order: one atomic addition of a block counts its flags and the block itself, in one word. So relaxed order is
 * enough: the last block knows all flags, and leaves 0 to the next launch.
 */
#include "machine/warp.cuh"
#include "elements/elementwise.cuh"
#include "elements/flags.cuh"
#include "pack/tuning.cuh"

namespace vscan {

struct flag_count_arguments {
    const void *flags; /* n */
    const int4 *body;  /* so many vectors of it */
    int64_t n, vectors;
    int before, type; /* flags before the body; their type */
    int behind;       /* and behind it */
    uint32_t low;     /* all bits of the flags of a word but the highest of each */
    int64_t *count;
    vscan__workspace_header *header;
};

/* Above the flags, in header->counted. */
static constexpr unsigned long long counted_block = 1ull << 48;

static DEVICE uint32_t set_in_vector(int4 vector, uint32_t low) {
    uint32_t words[4], set = 0;
    memcpy(words, &vector, sizeof words);
    UNROLL_FOR (int k = 0; k < 4; ++k) set += __popc((((words[k] & low) + low) | words[k]) & ~low);
    return set;
}

static __global__ void __launch_bounds__(count_threads, count_blocks)
    count_set_flags(const __grid_constant__ flag_count_arguments a) {
    __shared__ unsigned long long of_warps[count_threads / 32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    grid_dependency_wait(false);

    unsigned long long set = 0;
    const int64_t step = (int64_t)gridDim.x * count_threads;
    ROLLED_FOR (int64_t at = (int64_t)blockIdx.x * count_threads + threadIdx.x; at < a.vectors;
                at += count_loads * step) {
        int4 x[count_loads] = {};
        UNROLL_FOR (int r = 0; r < count_loads; ++r)
            if (at + r * step < a.vectors) x[r] = load_quad(a.body + at + r * step);
        uint32_t here = 0;
        UNROLL_FOR (int r = 0; r < count_loads; ++r) here += set_in_vector(x[r], a.low);
        set += here;
    }
    const int edge = (int)threadIdx.x; /* outside the body */
    if (blockIdx.x == 0 && edge < a.before + a.behind)
        set +=
            flag_at(a.flags, a.type, edge < a.before ? edge : a.n - a.behind + (edge - a.before));
    launch_dependents();

    set = warp_sum(set);
    if (lane == 0) of_warps[warp] = set;
    __syncthreads();
    if (warp > 0) return;
    set = warp_sum(lane < count_threads / 32 ? of_warps[lane] : 0);
    if (lane > 0) return;
    if (gridDim.x > 1) {
        const unsigned long long others = atomicAdd(&a.header->counted, set + counted_block);
        if (others / counted_block < gridDim.x - 1) return;
        set += others % counted_block;
        a.header->counted = 0;
    }
    *a.count = (int64_t)set;
}

} /* namespace vscan */

using namespace vscan;

extern "C" cudaError_t vscan__launch_count(const vscan__launch *launch, const vscan__pack *pack) {
    const int bits = map_bits(pack->flag_type);
    const int64_t misfit = (int64_t)((0 - (uintptr_t)pack->flags) % 16 * 8) / bits;
    flag_count_arguments a = {};
    a.flags = pack->flags;
    a.n = pack->n;
    a.before = (int)(misfit < a.n ? misfit : a.n);
    a.body = (const int4 *)((const char *)a.flags + (int64_t)a.before * bits / 8);
    a.vectors = (a.n - a.before) / (128 / bits);
    a.behind = (int)((a.n - a.before) % (128 / bits));
    a.type = pack->flag_type;
    a.low = pack->flag_type == VSCAN_INT    ? 0x7fffffff
            : pack->flag_type == VSCAN_BYTE ? 0x7f7f7f7f
                                            : 0;
    a.count = pack->count;
    a.header = (vscan__workspace_header *)launch->workspace;
    const int64_t blocks = (a.vectors + count_least - 1) / count_least;
    const int64_t resident = (int64_t)count_blocks * launch->multiprocessors;
    return start(count_set_flags,
                 blocks < 1          ? 1
                 : blocks < resident ? blocks
                                     : resident,
                 count_threads, 0, launch->stream, a, launch->may_overlap);
}
