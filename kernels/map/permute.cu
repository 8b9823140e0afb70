/* SPDX-License-Identifier: Apache-2.0 */
/* Index, distribute, gather, permute. No shared memory, and no communication between blocks. */
#include "elements/elementwise.cuh"
#include "map/tuning.cuh"

namespace vscan {

/* ---- Index, distribute ----------------------------------------------------------------------- */

/* The 64-bit sum is converted to U, then to T. */
template <class T, class U>
__global__ void __launch_bounds__(map_threads)
    index_elements(const __grid_constant__ map_arguments g) {
    constexpr int V = 16 / (int)sizeof(T), R = index_chunks;
    const map_tile<V, R> tile(g.map.n, g.begin, g.wide);
    T x[R][V];
    for_each_item<R, V>([&](int r, int j) {
        x[r][j] = (T)(U)((uint64_t)g.map.first + (uint64_t)tile.at(r, j) * (uint64_t)g.map.step);
    });
    store_elements<T, V, R>(g.map.out, x, tile);
}

template <class T>
__global__ void __launch_bounds__(map_threads)
    distribute_element(const __grid_constant__ map_arguments g) {
    constexpr int V = sizeof(T) == 8 ? 2 : 4, R = index_chunks;
    const map_tile<V, R> tile(g.map.n, g.begin, g.wide);
    const T value = *(const T *)g.map.a;
    T x[R][V];
    for_each_item<R, V>([&](int r, int j) { x[r][j] = value; });
    store_elements<T, V, R>(g.map.out, x, tile);
}

__global__ void __launch_bounds__(map_threads)
    distribute_bit(const __grid_constant__ map_arguments g) {
    constexpr int V = 4, R = index_chunks;
    const map_tile<V, R> tile(g.map.n, g.begin, g.wide);
    const uint32_t value = *(const uint32_t *)g.map.a & 1;
    uint32_t x[R][V];
    for_each_item<R, V>([&](int r, int j) { x[r][j] = value; });
    store_bits<V, R>((uint32_t *)g.map.out, x, tile);
}

/* ---- Gather, permute ------------------------------------------------------------------------- */

/*
 * out[i] = in[p] (gather) or out[p] = in[i], p being position i. A thread has one element: then
 * some threads of a multiprocessor read positions while others move elements, and most memory
 * accesses are in flight. 4 or 8 elements a thread took 4 to 6 % longer at 2^20 and were no faster
 * at any n.
 *
 * P: int32_t or int64_t, the type of positions. Negative ones are too large as unsigned numbers.
 */
template <class T, class P, bool Gather>
__global__ void __launch_bounds__(map_threads)
    move_elements(const __grid_constant__ move_arguments g) {
    const int64_t i = (int64_t)blockIdx.x * map_threads + threadIdx.x;
    const T *const in = (const T *)g.move.in;
    T *const out = (T *)g.move.out;
    int64_t wrong = -1;
    if (i < g.move.n) {
        const P p = ((const P *)g.move.positions)[i];
        T x = 0;
        if (!Gather) x = in[i];
        if ((uint64_t)(int64_t)p < (uint64_t)g.move.length)
            (Gather ? out[i] : out[p]) = Gather ? in[p] : x;
        else
            wrong = i;
    }
    report(g.late, VSCAN_ERROR_POSITION, wrong);
}

/* Sets the bit of each position in `written`, which is zero before, to find positions that are
   repeated. This is a separate kernel after the permute, so that of two late errors always the same
   is reported. */
template <class P>
__global__ void __launch_bounds__(map_threads)
    mark_positions(const __grid_constant__ move_arguments g) {
    constexpr int V = 16 / (int)sizeof(P), R = mark_chunks;
    const map_tile<V, R> tile(g.move.n, g.begin, g.wide);
    P p[R][V];
    load_elements<P, V, R>(p, g.move.positions, tile);
    int64_t repeated = -1;
    for_each_item<R, V>([&](int r, int j) {
        const int64_t i = tile.at(r, j);
        const uint64_t at = (uint64_t)(int64_t)p[r][j];
        if (i >= tile.end || at >= (uint64_t)g.move.length) return;
        const uint32_t bit = 1u << (at & 31);
        if (atomicOr(&g.move.written[at >> 5], bit) & bit) repeated = i;
    });
    report(g.late, VSCAN_ERROR_REPEATED, repeated);
}

} /* namespace vscan */

using namespace vscan;

typedef void move_kernel(move_arguments);

extern "C" cudaError_t vscan__launch_index(const vscan__launch *launch, const vscan__map *map) {
    const int64_t size = map_size(map->out_type);
    map_kernel *const kernel = kernel_of_type(
        map->out_type, index_elements<int32_t, uint32_t>, index_elements<int64_t, uint64_t>,
        index_elements<float, int64_t>, index_elements<double, int64_t>);
    return start_map(kernel, launch, {*map}, 16 / size, index_chunks, map->n, {{map->out, size}});
}

extern "C" cudaError_t vscan__launch_distribute(const vscan__launch *launch,
                                                const vscan__map *map) {
    const int64_t size = map_size(map->type);
    map_kernel *const kernel = size == 8   ? distribute_element<uint64_t>
                               : size == 4 ? distribute_element<uint32_t>
                               : size == 1 ? distribute_element<uint8_t>
                                           : distribute_bit;
    return start_map(kernel, launch, {*map}, size == 8 ? 2 : 4, index_chunks, map->n,
                     {{map->out, size}});
}

template <bool Gather>
static cudaError_t launch_move(const vscan__launch *launch, const vscan__move *move) {
    static move_kernel *const kernels[2][3] = {
        {move_elements<uint8_t, int32_t, Gather>, move_elements<uint32_t, int32_t, Gather>,
         move_elements<uint64_t, int32_t, Gather>},
        {move_elements<uint8_t, int64_t, Gather>, move_elements<uint32_t, int64_t, Gather>,
         move_elements<uint64_t, int64_t, Gather>}};
    const int64_t size = map_size(move->type), position = map_size(move->position_type);
    const int64_t blocks = (move->n + map_threads - 1) / map_threads;
    return start(kernels[position == 8][size == 8 ? 2 : size == 4], blocks, map_threads, 0,
                 launch->stream, move_arguments{*move, launch->late});
}

extern "C" cudaError_t vscan__launch_gather(const vscan__launch *launch, const vscan__move *move) {
    return launch_move<true>(launch, move);
}

extern "C" cudaError_t vscan__launch_permute(const vscan__launch *launch, const vscan__move *move) {
    const cudaError_t error = launch_move<false>(launch, move);
    if (error != cudaSuccess || move->written == nullptr) return error;
    const int64_t position = map_size(move->position_type);
    return start_map(position == 8 ? mark_positions<int64_t> : mark_positions<int32_t>, launch,
                     {*move}, 16 / position, mark_chunks, move->n, {{move->positions, position}});
}
