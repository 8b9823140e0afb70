/* SPDX-License-Identifier: Apache-2.0 */
/* Index, distribute, gather, permute. */
#include "common/elementwise.cuh"

namespace vscan {

static constexpr int index_rows = 1, mark_rows = 2;

/* ---- Index, distribute ----------------------------------------------------------------------- */

/* U: what the sum is taken for before it becomes a T. */
template <class T, class U>
__global__ void __launch_bounds__(map_threads)
    index_elements(const __grid_constant__ map_arguments g) {
    constexpr int V = 16 / (int)sizeof(T), R = index_rows;
    const map_tile<V, R> tile(g.map.n, g.begin, g.wide);
    T x[R][V];
#pragma unroll
    for (int r = 0; r < R; ++r)
#pragma unroll
        for (int j = 0; j < V; ++j)
            x[r][j] =
                (T)(U)((uint64_t)g.map.first + (uint64_t)tile.at(r, j) * (uint64_t)g.map.step);
    store_elements<T, V, R>(g.map.out, x, tile);
}

template <class T>
__global__ void __launch_bounds__(map_threads)
    distribute_element(const __grid_constant__ map_arguments g) {
    constexpr int V = sizeof(T) == 8 ? 2 : 4, R = index_rows;
    const map_tile<V, R> tile(g.map.n, g.begin, g.wide);
    const T value = *(const T *)g.map.a;
    T x[R][V];
#pragma unroll
    for (int r = 0; r < R; ++r)
#pragma unroll
        for (int j = 0; j < V; ++j) x[r][j] = value;
    store_elements<T, V, R>(g.map.out, x, tile);
}

__global__ void __launch_bounds__(map_threads)
    distribute_bit(const __grid_constant__ map_arguments g) {
    constexpr int V = 4, R = index_rows;
    const map_tile<V, R> tile(g.map.n, g.begin, g.wide);
    const uint32_t value = *(const uint32_t *)g.map.a & 1;
    uint32_t x[R][V];
#pragma unroll
    for (int r = 0; r < R; ++r)
#pragma unroll
        for (int j = 0; j < V; ++j) x[r][j] = value;
    store_bits<V, R>((uint32_t *)g.map.out, x, tile);
}

/* ---- Gather, permute ------------------------------------------------------------------------- */

/*
 * A thread has one element: of a multiprocessor's threads some read positions while others move what
 * they have, and all together have as much memory under way as can be. Four or eight elements a thread
 * took 4 to 6 % longer at 2^20 and no less anywhere.
 *
 * P: int32_t or int64_t, the type of positions. Their sign makes them too large.
 */
template <class T, class P>
__global__ void __launch_bounds__(map_threads)
    gather_elements(const __grid_constant__ move_arguments g) {
    const int64_t i = (int64_t)blockIdx.x * map_threads + threadIdx.x;
    int64_t wrong = -1;
    if (i < g.move.n) {
        const P p = ((const P *)g.move.positions)[i];
        if ((uint64_t)(int64_t)p < (uint64_t)g.move.length)
            ((T *)g.move.out)[i] = ((const T *)g.move.in)[p];
        else
            wrong = i;
    }
    report(g.late, VSCAN_ERROR_POSITION, wrong);
}

template <class T, class P>
__global__ void __launch_bounds__(map_threads)
    permute_elements(const __grid_constant__ move_arguments g) {
    const int64_t i = (int64_t)blockIdx.x * map_threads + threadIdx.x;
    int64_t wrong = -1;
    if (i < g.move.n) {
        const P p = ((const P *)g.move.positions)[i];
        const T x = ((const T *)g.move.in)[i];
        if ((uint64_t)(int64_t)p < (uint64_t)g.move.length)
            ((T *)g.move.out)[p] = x;
        else
            wrong = i;
    }
    report(g.late, VSCAN_ERROR_POSITION, wrong);
}

/* Sets the bits of written, which are clear, at the positions. A kernel of its own, after the permute,
   so that of two late errors it is always the same one that comes first. */
template <class P>
__global__ void __launch_bounds__(map_threads)
    mark_positions(const __grid_constant__ move_arguments g) {
    constexpr int V = 16 / (int)sizeof(P), R = mark_rows;
    const map_tile<V, R> tile(g.move.n, g.begin, g.wide);
    P p[R][V];
    load_elements<P, V, R>(p, g.move.positions, tile);
    int64_t repeated = -1;
#pragma unroll
    for (int r = 0; r < R; ++r)
#pragma unroll
        for (int j = 0; j < V; ++j) {
            const int64_t i = tile.at(r, j);
            const uint64_t at = (uint64_t)(int64_t)p[r][j];
            if (i >= tile.end || at >= (uint64_t)g.move.length) continue;
            const uint32_t bit = 1u << (at & 31);
            if (atomicOr(&g.move.written[at >> 5], bit) & bit) repeated = i;
        }
    report(g.late, VSCAN_ERROR_REPEATED, repeated);
}

} /* namespace vscan */

using namespace vscan;

typedef void map_kernel(map_arguments);
typedef void move_kernel(move_arguments);

extern "C" cudaError_t vscan__launch_index(const vscan__launch *launch, const vscan__map *map) {
    const int64_t size = map_size(map->out_type);
    const map_vector vectors[] = {{map->out, size}};
    map_kernel *const kernel = map->out_type == VSCAN_INT     ? index_elements<int32_t, uint32_t>
                               : map->out_type == VSCAN_LONG  ? index_elements<int64_t, uint64_t>
                               : map->out_type == VSCAN_FLOAT ? index_elements<float, int64_t>
                                                              : index_elements<double, int64_t>;
    map_arguments arguments = {*map};
    return start_map(kernel, launch, (int)(16 / size), index_rows, map->n, vectors, 1, arguments);
}

extern "C" cudaError_t vscan__launch_distribute(const vscan__launch *launch,
                                                const vscan__map *map) {
    const int64_t size = map_size(map->type);
    const map_vector vectors[] = {{map->out, size}};
    map_kernel *const kernel = size == 8   ? distribute_element<uint64_t>
                               : size == 4 ? distribute_element<uint32_t>
                               : size == 1 ? distribute_element<uint8_t>
                                           : distribute_bit;
    map_arguments arguments = {*map};
    return start_map(kernel, launch, size == 8 ? 2 : 4, index_rows, map->n, vectors, 1, arguments);
}

/* One kernel for each size of elements and each type of positions. */
#define MOVE_KERNELS(name)                                                                         \
    {                                                                                              \
        {name<uint8_t, int32_t>, name<uint32_t, int32_t>, name<uint64_t, int32_t>}, {              \
            name<uint8_t, int64_t>, name<uint32_t, int64_t>, name<uint64_t, int64_t>               \
        }                                                                                          \
    }

static cudaError_t launch_move(move_kernel *const (&kernels)[2][3], const vscan__launch *launch,
                               const vscan__move *move) {
    const int64_t size = map_size(move->type), position = map_size(move->position_type);
    const int64_t blocks = (move->n + map_threads - 1) / map_threads;
    return start(kernels[position == 8][size == 8 ? 2 : size == 4], blocks, map_threads, 0,
                 launch->stream, move_arguments{*move, launch->late});
}

extern "C" cudaError_t vscan__launch_gather(const vscan__launch *launch, const vscan__move *move) {
    static move_kernel *const kernels[2][3] = MOVE_KERNELS(gather_elements);
    return launch_move(kernels, launch, move);
}

extern "C" cudaError_t vscan__launch_permute(const vscan__launch *launch, const vscan__move *move) {
    static move_kernel *const kernels[2][3] = MOVE_KERNELS(permute_elements);
    const cudaError_t error = launch_move(kernels, launch, move);
    if (error != cudaSuccess || move->written == nullptr) return error;
    const int64_t position = map_size(move->position_type);
    const map_vector vectors[] = {{move->positions, position}};
    move_arguments arguments = {*move};
    return start_map(position == 8 ? mark_positions<int64_t> : mark_positions<int32_t>, launch,
                     (int)(16 / position), mark_rows, move->n, vectors, 1, arguments);
}
