/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lower and upper bounds of values in a sorted vector, by binary search, a thread for some values at a
 * time: their loads are in flight together. The first steps of all searches are the same, so each block
 * first loads what these compare with, equidistant samples, into shared memory (8 or 16 KiB). They lie
 * there as a tree, level after level, the root at 1 and the children of node k at 2 k and 2 k + 1: all
 * lanes of a warp then read one level at a time, whose nodes are in different banks. A block takes every
 * so many tiles of values; neighbours in order read the same lines of the L1 cache in the later steps.
 * Blocks do not communicate.
 */
#include "map/tuning.cuh"
#include "sort/tile.cuh"

namespace vscan {

struct bounds_arguments {
    vscan__bounds bounds;
    sort_order order;
    int levels; /* of the tree of 2^levels - 1 samples, all different elements */
};

/* Where sample 1 .. 2^levels - 1 is, in order; the one after the last is the end. */
static __device__ __forceinline__ int64_t sample_at(const bounds_arguments &a, int64_t k) {
    return k * a.bounds.length >> a.levels;
}

/* K: an unsigned integer of the size of an element. */
template <class K>
__global__ void __launch_bounds__(bounds_threads, bounds_blocks)
    search_bounds(const __grid_constant__ bounds_arguments a) {
    constexpr int R = bounds_values;
    __shared__ K samples[1 << bounds_levels];
    const K *const sorted = (const K *)a.bounds.sorted, *const values = (const K *)a.bounds.values;
    const int threads = (int)blockDim.x, thread = (int)threadIdx.x, end = 1 << a.levels;

    /* ---- Samples ---- */
    for (int node = 1 + thread; node < end; node += threads) {
        const int level = 31 - __clz(node);
        const int k = (2 * (node - (1 << level)) + 1) << (a.levels - 1 - level);
        samples[node] = ordered(sorted[sample_at(a, k)], a.order);
    }
    __syncthreads();

    const int64_t items = (int64_t)threads * R;
    for (int64_t first = blockIdx.x * items; first < a.bounds.n; first += gridDim.x * items) {
        /* ---- Values: elements up to `last` count; none do where nothing is less ---- */
        K last[R];
        bool none[R];
        int node[R];
#pragma unroll
        for (int r = 0; r < R; ++r) {
            const int64_t i = first + r * threads + thread;
            const K value = i < a.bounds.n ? ordered(values[i], a.order) : 0;
            none[r] = i >= a.bounds.n || (!a.bounds.upper && value == 0);
            last[r] = value - (a.bounds.upper ? 0 : 1);
            node[r] = 1;
        }

        /* ---- Between which samples ---- */
        for (int level = 0; level < a.levels; ++level)
#pragma unroll
            for (int r = 0; r < R; ++r) node[r] = 2 * node[r] + (samples[node[r]] <= last[r]);

        /* ---- Between which elements ---- */
        int64_t low[R], high[R];
        bool more = false;
#pragma unroll
        for (int r = 0; r < R; ++r) {
            const int k = node[r] - end;
            low[r] = none[r] || k == 0 ? 0 : sample_at(a, k) + 1;
            high[r] = none[r] ? 0 : sample_at(a, k + 1);
            more |= low[r] < high[r];
        }
#pragma unroll 1
        while (more) {
            K x[R];
#pragma unroll
            for (int r = 0; r < R; ++r)
                if (low[r] < high[r]) x[r] = sorted[low[r] + (high[r] - low[r]) / 2];
            more = false;
#pragma unroll
            for (int r = 0; r < R; ++r) {
                if (low[r] >= high[r]) continue;
                const int64_t middle = low[r] + (high[r] - low[r]) / 2;
                if (ordered(x[r], a.order) <= last[r])
                    low[r] = middle + 1;
                else
                    high[r] = middle;
                more |= low[r] < high[r];
            }
        }

#pragma unroll
        for (int r = 0; r < R; ++r) {
            const int64_t i = first + r * threads + thread;
            if (i >= a.bounds.n) continue;
            if (a.bounds.out_type == VSCAN_INT)
                ((int32_t *)a.bounds.out)[i] = (int32_t)low[r];
            else
                ((int64_t *)a.bounds.out)[i] = low[r];
        }
    }
}

} /* namespace vscan */

using namespace vscan;

extern "C" cudaError_t vscan__launch_bounds(const vscan__launch *launch,
                                            const vscan__bounds *bounds) {
    vscan__sort keys = {};
    keys.key_size = (int)map_size(bounds->type);
    keys.real = bounds->type == VSCAN_FLOAT || bounds->type == VSCAN_DOUBLE;
    bounds_arguments a = {*bounds, order_of(&keys), 0};
    while (a.levels < bounds_levels && bounds->length >> (a.levels + 1) > 0) ++a.levels;
    /* Smaller blocks where some multiprocessors would have none. */
    int threads = bounds_threads;
    const auto tiles_of = [&] {
        const int64_t items = (int64_t)threads * bounds_values;
        return (bounds->n + items - 1) / items;
    };
    while (threads > 64 && tiles_of() < launch->multiprocessors) threads /= 2;
    const int64_t resident = (int64_t)bounds_blocks * launch->multiprocessors, tiles = tiles_of();
    return start(keys.key_size == 8 ? search_bounds<uint64_t> : search_bounds<uint32_t>,
                 tiles < resident ? tiles : resident, threads, 0, launch->stream, a);
}
