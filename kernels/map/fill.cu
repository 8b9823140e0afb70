/* SPDX-License-Identifier: Apache-2.0 */
/* Fills vectors, copies bits, counts segments. No communication between blocks but one atomic
   sum. */
#include "elements/vectors.cuh"
#include "machine/warp.cuh"

namespace vscan {

static constexpr int block_threads = 256;

static int blocks_for(const vscan__launch *launch, int64_t threads) {
    const int64_t needed = (threads + block_threads - 1) / block_threads;
    const int64_t resident = 8 * (int64_t)launch->multiprocessors; /* 2048 threads an SM */
    return (int)(needed < resident ? needed : resident);
}

static DEVICE int64_t first_index() {
    return (int64_t)blockIdx.x * block_threads + threadIdx.x;
}
static DEVICE int64_t index_step() {
    return (int64_t)gridDim.x * block_threads;
}

/* The bits of word w that are among bits first .. first + n - 1 of the vector. */
static DEVICE uint32_t bits_of_word(int64_t w, int64_t first, int64_t n) {
    const int64_t low = first - 32 * w, high = first + n - 32 * w;
    uint32_t mask = 0xffffffffu;
    if (low > 0) mask &= 0xffffffffu << low;
    if (high < 32) mask &= (1u << high) - 1;
    return mask;
}

/* Only the first and the last word may contain bits that must not change. */
__global__ void fill_bits(uint32_t *to, int64_t first, int64_t n, uint32_t ones) {
    const int64_t end = (first + n + 31) / 32;
    for (int64_t w = first / 32 + first_index(); w < end; w += index_step()) {
        const uint32_t mask = bits_of_word(w, first, n);
        to[w] = (mask == 0xffffffffu ? 0 : to[w] & ~mask) | (ones & mask);
    }
}

__global__ void copy_bits(uint32_t *to, const uint32_t *from, int64_t n) {
    for (int64_t w = first_index(); w < (n + 31) / 32; w += index_step()) {
        const uint32_t mask = bits_of_word(w, 0, n);
        to[w] = (mask == 0xffffffffu ? 0 : to[w] & ~mask) | (from[w] & mask);
    }
}

/* Adds to *segments the set flags of elements 1 .. n - 1, and 1 for element 0. A thread counts 32
   flags at a time. */
__global__ void count_segments(unsigned long long *segments, const void *flags, int type,
                               int64_t n) {
    unsigned long long count = 0;
    for (int64_t k = first_index(); k < (n + 31) / 32; k += index_step()) {
        if (type == VSCAN_BIT) {
            uint32_t bits = ((const uint32_t *)flags)[k] & bits_of_word(k, 0, n);
            if (k == 0) bits |= 1;
            count += __popc(bits);
        } else {
            for (int j = 0; j < 32; ++j) {
                const int64_t i = 32 * k + j;
                if (i < n) count += i == 0 || flag_at(flags, type, i);
            }
        }
    }
    count = warp_sum(count);
    if (threadIdx.x % 32 == 0 && count) atomicAdd(segments, count);
}

/* Not with <<<>>>, which reports by cudaGetLastError: that has errors of the caller's own too. */
template <class... Parameters, class... Arguments>
static cudaError_t start_filling(const vscan__launch *launch, int blocks,
                                 void (*kernel)(Parameters...), Arguments... arguments) {
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3((unsigned)blocks);
    config.blockDim = dim3(block_threads);
    config.stream = launch->stream;
    return cudaLaunchKernelEx(&config, kernel, Parameters(arguments)...);
}

} /* namespace vscan */

using namespace vscan;

extern "C" cudaError_t vscan__launch_fill(const vscan__launch *launch, vscan_type type,
                                          void *pointer, int64_t first, int64_t n,
                                          vscan__value value) {
    if (type == VSCAN_BYTE || type == VSCAN_UINT8)
        return cudaMemsetAsync((char *)pointer + first, value.as_byte, (size_t)n, launch->stream);
    if (type == VSCAN_BIT) {
        const int blocks = blocks_for(launch, n / 32 + 2);
        return start_filling(launch, blocks, fill_bits, (uint32_t *)pointer, first, n,
                             value.as_byte ? 0xffffffffu : 0);
    }
    /* index with step 0; as integers, so that every NaN keeps its bits */
    const bool narrow = type == VSCAN_INT || type == VSCAN_FLOAT;
    vscan__map map = {};
    map.n = n;
    map.out = (char *)pointer + first * (narrow ? 4 : 8);
    map.out_type = narrow ? VSCAN_INT : VSCAN_LONG;
    map.first = narrow ? value.as_int : value.as_long;
    return vscan__launch_index(launch, &map);
}

extern "C" cudaError_t vscan__launch_copy_bits(const vscan__launch *launch, void *to,
                                               const void *from, int64_t n) {
    return start_filling(launch, blocks_for(launch, n / 32 + 1), copy_bits, (uint32_t *)to,
                         (const uint32_t *)from, n);
}

extern "C" cudaError_t vscan__launch_count_segments(const vscan__launch *launch,
                                                    const vscan__scan *scan) {
    vscan__workspace_header *header = (vscan__workspace_header *)launch->workspace;
    const cudaError_t error =
        cudaMemsetAsync(&header->segments, 0, sizeof header->segments, launch->stream);
    if (error != cudaSuccess) return error;
    const int blocks = blocks_for(launch, scan->n / 32 + 1);
    return start_filling(launch, blocks, count_segments, &header->segments, scan->flags,
                         (int)scan->flag_type, scan->n);
}
