/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sorts small vectors by counting: the position of an element is the number of elements that are
 * less than it, or equal and before it. A block owns 32 elements, one a lane, and has all keys of
 * the vector in shared memory; each warp compares the block's elements with a part of them. So all
 * multiprocessors do what one would need several passes for, and no block waits for another. It
 * cannot be done in place.
 */
#include "sort/tile.cuh"

namespace vscan {

template <class K>
struct counting_shared {
    alignas(16) K numbers[counting_capacity<K>];
    uint32_t counts[counting_warps][32];
};

struct counting_arguments {
    vscan__sort sort;
    sort_order order;
};

/* How many of numbers first .. end - 1 (multiples of 32) are less than mine, or with Equal not
   greater. */
template <bool Equal, class K>
static DEVICE uint32_t count_less(const K *numbers, int first, int end, K mine) {
    constexpr int V = 16 / (int)sizeof(K);
    uint32_t count[V] = {};
    ROLLED_FOR (int i = first; i < end; i += 32) {
        UNROLL_FOR (int k = 0; k < 32; k += V) {
            K x[V];
            load_wide<K, V>(x, numbers + i + k);
            UNROLL_FOR (int v = 0; v < V; ++v) count[v] += Equal ? x[v] <= mine : x[v] < mine;
        }
    }
    uint32_t sum = 0;
    UNROLL_FOR (int v = 0; v < V; ++v) sum += count[v];
    return sum;
}

template <class K>
__global__ void __launch_bounds__(counting_threads, counting_blocks)
    sort_by_counting(const __grid_constant__ counting_arguments a) {
    __shared__ counting_shared<K> s;
    K *const numbers = s.numbers;
    const vscan__sort &sort = a.sort;
    const K *const keys = (const K *)sort.keys;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, n = (int)sort.n;
    const int own = blockIdx.x * 32, mine = own + lane, parts = (n + 31) / 32;
    const K window = (K)(~(K)0 >> (8 * (int)sizeof(K) - a.order.bits));
    K key = 0;
    uint64_t value = 0;
    if (warp == 0 && mine < n) {
        key = keys[mine];
        if (sort.value_size == 8) value = ((const uint64_t *)sort.values)[mine];
        if (sort.value_size == 4) value = ((const uint32_t *)sort.values)[mine];
    }
#pragma unroll 8
    for (int i = threadIdx.x; i < parts * 32; i += counting_threads) {
        /* numbers past the end are not less than any */
        numbers[i] = i < n ? (ordered(keys[i], a.order) >> a.order.first_bit ^
                              (K)(int32_t)a.order.descending) &
                                 window
                           : ~(K)0;
    }
    __syncthreads();
    const int each = (parts + counting_warps - 1) / counting_warps * 32;
    const int first = warp * each, past = first + each < parts * 32 ? first + each : parts * 32;
    const K number = numbers[mine];
    uint32_t count = count_less<true>(numbers, first, past < own ? past : own, number);
    if (first <= own && own < past) {
#pragma unroll 4
        for (int k = 0; k < 32; ++k) {
            const K x = numbers[own + k];
            count += x < number || (x == number && k < lane);
        }
    }
    count += count_less<false>(numbers, first > own ? first : own + 32, past, number);
    s.counts[warp][lane] = count;
    __syncthreads();
    if (warp > 0 || mine >= n) return;
    count = 0;
    UNROLL_FOR (int w = 0; w < counting_warps; ++w) count += s.counts[w][lane];
    ((K *)sort.keys_out)[count] = key;
    if (sort.value_size == 8) ((uint64_t *)sort.values_out)[count] = value;
    if (sort.value_size == 4) ((uint32_t *)sort.values_out)[count] = (uint32_t)value;
}

bool sorts_by_counting(const vscan__sort *sort) {
    const bool in_place = sort->keys == sort->keys_out ||
                          (sort->values != nullptr && sort->values == sort->values_out);
    return !in_place && sort->n <= (sort->key_size == 8 ? counting_capacity<uint64_t>
                                                        : counting_capacity<uint32_t>);
}

cudaError_t start_counting_sort(const vscan__launch *launch, const vscan__sort *sort) {
    const counting_arguments a = {*sort, order_of(sort)};
    return start(sort->key_size == 8 ? sort_by_counting<uint64_t> : sort_by_counting<uint32_t>,
                 (sort->n + 31) / 32, counting_threads, 0, launch->stream, a);
}

} /* namespace vscan */
