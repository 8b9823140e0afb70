/* SPDX-License-Identifier: Apache-2.0 */
/* Unary and binary operators: one kernel a row of lib/map_ops.h. */
#include "map.cuh"

namespace vscan {

/* 32 bytes of each vector a thread; a unary operator has one vector to ask for, a binary two. */
static constexpr int map_rows = 2;

#define X(row, OP, TYPE, type, result)                                                             \
    struct unary_##row {                                                                           \
        using T = type;                                                                            \
        static __device__ __forceinline__ T apply(T a) { return (result); }                        \
    };
VSCAN__UNARY(X)
#undef X

#define X(row, OP, TYPE, type, result, by_0)                                                       \
    struct binary_##row {                                                                          \
        using T = type;                                                                            \
        static constexpr bool divides = (VSCAN_BINARY_##OP == VSCAN_BINARY_DIVIDE ||               \
                                         VSCAN_BINARY_##OP == VSCAN_BINARY_REMAINDER) &&           \
                                        (T)0.5 == 0;                                               \
        static __device__ __forceinline__ T apply(T a, T b) { return (result); }                   \
        static __device__ __forceinline__ bool wrong(T a, T b) { return (by_0); }                  \
    };
VSCAN__BINARY(X)
#undef X

template <class Row>
__global__ void __launch_bounds__(map_threads) map_unary(const __grid_constant__ map_arguments g) {
    using T = typename Row::T;
    constexpr int V = 16 / (int)sizeof(T), R = map_rows;
    const map_tile<V, R> tile(g.map.n, g.begin, g.wide);
    T a[R][V];
    load_elements<T, V, R>(a, g.map.a, tile);
#pragma unroll
    for (int r = 0; r < R; ++r)
#pragma unroll
        for (int j = 0; j < V; ++j) a[r][j] = Row::apply(a[r][j]);
    store_elements<T, V, R>(g.map.out, a, tile);
}

template <class Row>
__global__ void __launch_bounds__(map_threads) map_binary(const __grid_constant__ map_arguments g) {
    using T = typename Row::T;
    constexpr int V = 16 / (int)sizeof(T), R = map_rows;
    const map_tile<V, R> tile(g.map.n, g.begin, g.wide);
    T a[R][V], b[R][V];
    load_operand<T, V, R>(a, g.map.a, g.map.scalar, tile);
    load_operand<T, V, R>(b, g.map.b, g.map.scalar, tile);
    int64_t wrong = -1;
#pragma unroll
    for (int r = 0; r < R; ++r)
#pragma unroll
        for (int j = 0; j < V; ++j) {
            if (Row::divides && Row::wrong(a[r][j], b[r][j]) && tile.at(r, j) < tile.end)
                wrong = tile.at(r, j);
            a[r][j] = Row::apply(a[r][j], b[r][j]);
        }
    store_elements<T, V, R>(g.map.out, a, tile);
    if (Row::divides) report(g.late, VSCAN_ERROR_DIVISION, wrong);
}

} /* namespace vscan */

using namespace vscan;

typedef void map_kernel(map_arguments);

extern "C" cudaError_t vscan__launch_unary(const vscan__launch *launch, const vscan__map *map) {
#define X(row, OP, TYPE, T, result) map_unary<unary_##row>,
    static map_kernel *const kernels[] = {VSCAN__UNARY(X)};
#undef X
    const int64_t size = map_size(map->type);
    const map_vector vectors[] = {{map->a, size}, {map->out, size}};
    map_arguments arguments = {*map};
    return start_map(kernels[map->row], launch, (int)(16 / size), map_rows, map->n, vectors, 2,
                     arguments);
}

extern "C" cudaError_t vscan__launch_binary(const vscan__launch *launch, const vscan__map *map) {
#define X(row, OP, TYPE, T, result, by_0) map_binary<binary_##row>,
    static map_kernel *const kernels[] = {VSCAN__BINARY(X)};
#undef X
    const int64_t size = map_size(map->type);
    const map_vector vectors[] = {{map->a, size}, {map->b, size}, {map->out, size}};
    map_arguments arguments = {*map};
    return start_map(kernels[map->row], launch, (int)(16 / size), map_rows, map->n, vectors, 3,
                     arguments);
}
