/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The histogram of the digits of all passes, in one sweep over the keys, and its exclusive prefix
 * sums, the bases: where the first element of each digit goes. It also clears the status words of
 * the first pass.
 *
 * count_digits has one counter for each digit of each pass, in shared memory.
 * count_digits_privately is for large vectors, where a block may use most of a multiprocessor's
 * shared memory: each lane of a warp (with 8-byte keys, two lanes) has counters of its own, in a
 * bank of their own. So lanes never conflict; with shared counters the conflicts take as long as
 * reading the keys. Its blocks load the next keys while they count.
 *
 * Blocks add their counts to the header with atomics. The last block to arrive computes the bases:
 * the fences before and after its arrival order the counts before the bases.
 */
#pragma once

#include "machine/launch.cuh"
#include "sort/tile.cuh"

namespace vscan {

struct count_arguments {
    const void *keys;
    int64_t n;
    sort_order order;
    sort_digit digit[most_passes];
    int passes;
    sort_header *header;
    uint32_t *status; /* status words to clear */
    int64_t status_words;
};

/* After a block has added its counts. The last block turns all counts into bases, and clears
   them. */
static DEVICE void make_bases(const count_arguments &a) {
    __shared__ bool last;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) last = atomicAdd(&a.header->counted, 1u) == gridDim.x - 1;
    __syncthreads();
    if (!last) return;
    __threadfence();
    const int lane = threadIdx.x % 32;
    ROLLED_FOR (int p = threadIdx.x / 32; p < a.passes; p += (int)blockDim.x / 32) {
        int64_t before = 0;
        ROLLED_FOR (int k = lane; k < digits; k += 32) {
            const int64_t own = (int64_t)load_relaxed(&a.header->counts[p][k]);
            const int64_t upto = warp_inclusive_sum(own);
            a.header->bases[p][0][k] = before + upto - own;
            a.header->counts[p][k] = 0;
            before += __shfl_sync(warp_mask, upto, 31);
        }
    }
    if (threadIdx.x == 0) a.header->counted = 0;
}

template <class K>
__global__ void __launch_bounds__(histogram_threads)
    count_digits(const __grid_constant__ count_arguments a) {
    constexpr int passes = (int)sizeof(K), unroll = 16 / (int)sizeof(K);
    __shared__ uint32_t counts[passes][digits];
    const int64_t step = (int64_t)gridDim.x * histogram_threads;
    const int64_t first = (int64_t)blockIdx.x * histogram_threads + threadIdx.x;
    ROLLED_FOR (int k = threadIdx.x; k < passes * digits; k += histogram_threads)
        (&counts[0][0])[k] = 0;
    ROLLED_FOR (int64_t k = first; k < a.status_words; k += step) a.status[k] = 0;
    __syncthreads();

    const K *const keys = (const K *)a.keys;
    ROLLED_FOR (int64_t i = first; i < a.n; i += unroll * step) {
        K x[unroll];
        UNROLL_FOR (int j = 0; j < unroll; ++j)
            x[j] = i + j * step < a.n ? keys[i + j * step] : (K)0;
        UNROLL_FOR (int j = 0; j < unroll; ++j) {
            if (i + j * step >= a.n) break;
            const K number = ordered(x[j], a.order);
            UNROLL_FOR (int p = 0; p < passes; ++p)
                if (p < a.passes) atomicAdd(&counts[p][digit_of(number, a.digit[p])], 1u);
        }
    }
    __syncthreads();
    ROLLED_FOR (int k = threadIdx.x; k < a.passes * digits; k += histogram_threads) {
        const uint32_t count = (&counts[0][0])[k];
        if (count > 0) atomicAdd(&a.header->counts[0][0] + k, (unsigned long long)count);
    }

    make_bases(a);
}

/* ---- Large vectors --------------------------------------------------------------------------- */

template <class K>
static constexpr int private_lanes = 128 / (int)sizeof(K); /* with counters of their own */
template <class K>
static constexpr int private_bytes = (int)sizeof(K) * digits *private_lanes<K> * 4;

/* Counts keys with a lane's own counters. Passes that do not exist count digit 0. */
template <class K>
struct private_counter {
    sort_order order;
    char *counts;
    uint32_t lane; /* offset of its counters in bytes */
    sort_digit digit[sizeof(K)];

    DEVICE private_counter(const count_arguments &a, uint32_t *counts)
        : order(a.order), counts((char *)&address_once(*counts)),
          lane(opaque(threadIdx.x % private_lanes<K> * 4)) {
        constexpr int first_bit =
            31 - __builtin_clz(private_lanes<K> * 4); /* of a digit, in the offset of its counter */
        UNROLL_FOR (int p = 0; p < (int)sizeof(K); ++p) {
            digit[p] = a.digit[p];
            if (sizeof(K) == 4) { /* rotate keys so that the digit is the offset */
                digit[p].first_bit = (first_bit - a.digit[p].first_bit) & 31;
                digit[p].mask <<= first_bit;
            }
        }
    }
    DEVICE void operator()(K key) const {
        K number = ordered(key, order);
        if (sizeof(K) == 4) number ^= order.descending;
        UNROLL_FOR (int p = 0; p < (int)sizeof(K); ++p) {
            uint32_t at;
            if (sizeof(K) == 4)
                at = __funnelshift_l((uint32_t)number, (uint32_t)number, digit[p].first_bit) &
                     digit[p].mask;
            else
                at = digit_of(number, digit[p]) * (private_lanes<K> * 4);
            atomicAdd((uint32_t *)(counts + p * digits * private_lanes<K> * 4 + (at | lane)), 1u);
        }
    }
};

template <class K>
__global__ void __launch_bounds__(private_threads, 1)
    count_digits_privately(const __grid_constant__ count_arguments a) {
#if !defined(__CUDA_ARCH__) || (__CUDA_ARCH__ >= 900 && __CUDA_ARCH__ < 1200)
    constexpr int V = 16 / (int)sizeof(K), unroll = sizeof(K) == 4 ? 4 : 3,
                  lanes = private_lanes<K>;
    uint32_t *const counts = (uint32_t *)dynamic_shared();
    const int64_t step = (int64_t)gridDim.x * private_threads;
    const int64_t first = (int64_t)blockIdx.x * private_threads + threadIdx.x;
    ROLLED_FOR (int k = threadIdx.x; k < private_bytes<K> / 16; k += private_threads)
        ((int4 *)counts)[k] = int4{0, 0, 0, 0};
    ROLLED_FOR (int64_t k = first; k < a.status_words; k += step) a.status[k] = 0;
    __syncthreads();

    /* aligned vectors of 16 bytes */
    const private_counter<K> count(a, counts);
    const int before = (int)((16 - (uintptr_t)a.keys % 16) % 16 / sizeof(K));
    const K *const keys = (const K *)a.keys + before;
    const int64_t vectors = (a.n - before) / V;
    K x[unroll][V], next[unroll][V];
    const auto load = [&](int64_t i) {
        UNROLL_FOR (int j = 0; j < unroll; ++j) {
            const int64_t vector = i + j * private_threads;
            if (vector < vectors) load_wide<K, V>(next[j], keys + vector * V);
        }
    };
    int64_t i = (int64_t)blockIdx.x * unroll * private_threads + threadIdx.x;
    load(i);
    ROLLED_FOR (; i < vectors; i += unroll * step) {
        UNROLL_FOR (int j = 0; j < unroll; ++j)
            UNROLL_FOR (int v = 0; v < V; ++v) x[j][v] = next[j][v];
        load(i + unroll * step);
        UNROLL_FOR (int j = 0; j < unroll; ++j) {
            if (i + j * private_threads >= vectors) break;
            UNROLL_FOR (int v = 0; v < V; ++v) count(x[j][v]);
        }
    }
    if (blockIdx.x == 0) { /* the keys before the first and after the last vector */
        const int64_t after = before + vectors * V;
        const int64_t at = threadIdx.x < V ? threadIdx.x : after + threadIdx.x - V;
        if (threadIdx.x < V ? at < before : at < a.n) count(((const K *)a.keys)[at]);
    }
    __syncthreads();
    ROLLED_FOR (int k = threadIdx.x; k < a.passes * digits; k += private_threads) {
        uint32_t sum = 0;
#pragma unroll 8
        for (int j = 0; j < lanes; ++j) sum += counts[k * lanes + (threadIdx.x + j) % lanes];
        if (sum > 0) atomicAdd(&a.header->counts[0][0] + k, (unsigned long long)sum);
    }
    make_bases(a);
#endif /* other architectures have less shared memory; this is never started there */
}

/* ---- Launching ------------------------------------------------------------------------------- */

template <class K>
static cudaError_t start_count(vscan__launch *launch, const count_arguments &a, int64_t tiles) {
    if (a.n * (int64_t)sizeof(K) >= private_from && launch->shared_memory >= private_bytes<K>) {
        const cudaError_t error =
            allow_shared_memory(launch, count_digits_privately<K>, private_bytes<K>);
        if (error != cudaSuccess) return error;
        return start(count_digits_privately<K>, launch->multiprocessors, private_threads,
                     private_bytes<K>, launch->stream, a);
    }
    const int64_t resident = (int64_t)histogram_blocks * launch->multiprocessors;
    return start(count_digits<K>, tiles < resident ? tiles : resident, histogram_threads, 0,
                 launch->stream, a);
}

} /* namespace vscan */
