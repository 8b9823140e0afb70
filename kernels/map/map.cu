/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unary and binary operators. There is one kernel a type, and it is told the row of core/map_ops.h:
 * a kernel a row would be six times the code, and the switch costs little beside the memory
 * traffic. Divisions have kernels of their own, because they need more registers and have late
 * errors.
 *
 * A block owns a tile, uses no shared memory and communicates with no other block.
 */
#include "elements/elementwise.cuh"
#include "map/tuning.cuh"

namespace vscan {

/* ---- Unary ----------------------------------------------------------------------------------- */

#define X(row, OP, TYPE, type, result)                                                             \
    struct unary_##row {                                                                           \
        using T = type;                                                                            \
        static DEVICE T apply(T a) { return (result); }                                            \
    };
VSCAN__UNARY(X)
#undef X

/* Applies the row if it is one of type T; otherwise there is no code. */
template <class Row, class T, int V, int R>
static DEVICE void apply_unary(T (&a)[R][V]) {
    if constexpr (same_type<T, typename Row::T>) {
        for_each_item<R, V>([&](int r, int j) { a[r][j] = Row::apply(a[r][j]); });
    }
}

template <class T>
__global__ void __launch_bounds__(map_threads) map_unary(const __grid_constant__ map_arguments g) {
    constexpr int V = 16 / (int)sizeof(T), R = operator_chunks;
    const map_tile<V, R> tile(g.map.n, g.begin, g.wide);
    T a[R][V];
    load_elements<T, V, R>(a, g.map.a, tile);
    switch (g.map.row) {
#define X(row, OP, TYPE, type, result)                                                             \
    case vscan__unary_##row:                                                                       \
        apply_unary<unary_##row, T, V, R>(a);                                                      \
        break;
        VSCAN__UNARY(X)
#undef X
    }
    store_elements<T, V, R>(g.map.out, a, tile);
}

/* ---- Binary ---------------------------------------------------------------------------------- */

static constexpr bool is_division(int op) {
    return op == VSCAN_BINARY_DIVIDE || op == VSCAN_BINARY_REMAINDER;
}

#define X(row, OP, TYPE, type, result, by_0)                                                       \
    struct binary_##row {                                                                          \
        using T = type;                                                                            \
        static constexpr bool division = is_division(VSCAN_BINARY_##OP);                           \
        static DEVICE T apply(T a, T b) { return (result); }                                       \
        static DEVICE bool wrong(T a, T b) { return (by_0); }                                      \
    };
VSCAN__BINARY(X)
#undef X

/* The same for divisions, or for all others. *wrong: an element that was divided by 0. */
template <class Row, bool Division, class T, int V, int R>
static DEVICE void apply_binary(T (&a)[R][V], const T (&b)[R][V], const map_tile<V, R> &tile,
                                int64_t *wrong) {
    if constexpr (same_type<T, typename Row::T> && Row::division == Division) {
        for_each_item<R, V>([&](int r, int j) {
            if (Row::wrong(a[r][j], b[r][j]) && tile.at(r, j) < tile.end) *wrong = tile.at(r, j);
            a[r][j] = Row::apply(a[r][j], b[r][j]);
        });
    }
}

template <class T, bool Division>
__global__ void __launch_bounds__(map_threads) map_binary(const __grid_constant__ map_arguments g) {
    constexpr int V = 16 / (int)sizeof(T), R = operator_chunks;
    const map_tile<V, R> tile(g.map.n, g.begin, g.wide);
    T a[R][V], b[R][V];
    load_operand<T, V, R>(a, g.map.a, g.map.scalar, tile);
    load_operand<T, V, R>(b, g.map.b, g.map.scalar, tile);
    int64_t wrong = -1;
    switch (g.map.row) {
#define X(row, OP, TYPE, type, result, by_0)                                                       \
    case vscan__binary_##row:                                                                      \
        apply_binary<binary_##row, Division, T, V, R>(a, b, tile, &wrong);                         \
        break;
        VSCAN__BINARY(X)
#undef X
    }
    store_elements<T, V, R>(g.map.out, a, tile);
    if constexpr (Division && (T)0.5 == 0) report(g.late, VSCAN_ERROR_DIVISION, wrong);
}

} /* namespace vscan */

using namespace vscan;

extern "C" cudaError_t vscan__launch_unary(const vscan__launch *launch, const vscan__map *map) {
    map_kernel *const kernel = kernel_of_type(map->type, map_unary<int32_t>, map_unary<int64_t>,
                                              map_unary<float>, map_unary<double>);
    const int64_t size = map_size(map->type);
    return start_map(kernel, launch, {*map}, 16 / size, operator_chunks, map->n,
                     {{map->a, size}, {map->out, size}});
}

template <bool Division>
static map_kernel *binary_kernel(int type) {
    return kernel_of_type(type, map_binary<int32_t, Division>, map_binary<int64_t, Division>,
                          map_binary<float, Division>, map_binary<double, Division>);
}

extern "C" cudaError_t vscan__launch_binary(const vscan__launch *launch, const vscan__map *map) {
#define X(row, OP, TYPE, T, result, by_0) is_division(VSCAN_BINARY_##OP),
    static constexpr bool divisions[] = {VSCAN__BINARY(X)};
#undef X
    map_kernel *const kernel =
        divisions[map->row] ? binary_kernel<true>(map->type) : binary_kernel<false>(map->type);
    const int64_t size = map_size(map->type);
    return start_map(kernel, launch, {*map}, 16 / size, operator_chunks, map->n,
                     {{map->a, size}, {map->b, size}, {map->out, size}});
}
