/* SPDX-License-Identifier: Apache-2.0 */
/* Maps that read or write flags (comparison, logic, select), and conversions. A block owns a tile,
   uses no shared memory and communicates with no other block. */
#include "elements/relations.cuh"
#include "elements/vectors.cuh"
#include "map/compare_uint8.cuh"
#include "map/tuning.cuh"

namespace vscan {

/* ---- Comparison ------------------------------------------------------------------------------ */

template <class T>
__global__ void __launch_bounds__(map_threads)
    map_compare(const __grid_constant__ map_arguments g) {
    constexpr int V = 16 / (int)sizeof(T), R = compare_chunks;
    const map_tile<V, R> tile(g.map.n, g.begin, g.wide);
    T a[R][V], b[R][V];
    load_operand<T, V, R>(a, g.map.a, g.map.scalar, tile);
    load_operand<T, V, R>(b, g.map.b, g.map.scalar, tile);
    uint32_t f[R][V] = {};
    with_relation<T>(g.map.row, [&](auto relation) {
        for_each_item<R, V>(
            [&](int r, int j) { f[r][j] = (uint32_t)relation.apply(a[r][j], b[r][j]); });
    });
    for_each_item<R, V>([&](int r, int j) { f[r][j] ^= (uint32_t)g.map.turned; });
    store_flags<V, R>(g.map.out, g.map.out_type, f, tile);
}

/* ---- Logic ----------------------------------------------------------------------------------- */

static DEVICE uint32_t logic(int op, uint32_t a, uint32_t b) {
    return op == vscan__logic_and ? a & b : op == vscan__logic_or ? a | b : a ^ b;
}

__global__ void __launch_bounds__(map_threads)
    logic_bytes(const __grid_constant__ map_arguments g) {
    constexpr int V = 4, R = logic_chunks;
    const map_tile<V, R> tile(g.map.n, g.begin, g.wide);
    uint32_t a[R][V], b[R][V];
    load_flags<V, R>(a, g.map.a, VSCAN_BYTE, tile);
    if (g.map.row != vscan__logic_not) load_flags<V, R>(b, g.map.b, VSCAN_BYTE, tile);
    for_each_item<R, V>([&](int r, int j) {
        a[r][j] = logic(g.map.row, a[r][j], g.map.row == vscan__logic_not ? 1 : b[r][j]);
    });
    store_flags<V, R>(g.map.out, VSCAN_BYTE, a, tile);
}

/* The elements of the tile are 32-bit flag words. Only the last one may have bits past the end,
   which are kept. */
__global__ void __launch_bounds__(map_threads) logic_bits(const __grid_constant__ map_arguments g) {
    constexpr int V = 4, R = 1;
    const int64_t n = (g.map.n + 31) / 32;
    const map_tile<V, R> tile(n, g.begin, g.wide);
    uint32_t a[R][V], b[R][V];
    load_elements<uint32_t, V, R>(a, g.map.a, tile);
    if (g.map.row != vscan__logic_not) load_elements<uint32_t, V, R>(b, g.map.b, tile);
    UNROLL_FOR (int j = 0; j < V; ++j) {
        a[0][j] = logic(g.map.row, a[0][j], g.map.row == vscan__logic_not ? ~0u : b[0][j]);
        if (tile.at(0, j) == n - 1 && g.map.n % 32 != 0) {
            const uint32_t kept = 0xffffffffu << g.map.n % 32;
            a[0][j] = (a[0][j] & ~kept) | (((const uint32_t *)g.map.out)[n - 1] & kept);
        }
    }
    store_elements<uint32_t, V, R>(g.map.out, a, tile);
}

/* ---- Select ---------------------------------------------------------------------------------- */

/* T: an unsigned integer of the size of an element. */
template <class T>
__global__ void __launch_bounds__(map_threads)
    select_elements(const __grid_constant__ map_arguments g) {
    constexpr int V = sizeof(T) == 8 ? 2 : 4, R = select_chunks;
    const map_tile<V, R> tile(g.map.n, g.begin, g.wide);
    T a[R][V], b[R][V];
    uint32_t f[R][V];
    load_operand<T, V, R>(a, g.map.a, g.map.scalar, tile);
    load_operand<T, V, R>(b, g.map.b, g.map.scalar, tile);
    load_flags<V, R>(f, g.map.flags, g.map.flag_type, tile);
    for_each_item<R, V>([&](int r, int j) { a[r][j] = f[r][j] ? a[r][j] : b[r][j]; });
    store_elements<T, V, R>(g.map.out, a, tile);
}

/* The bits of the vector, or the scalar where the vector is NULL. */
template <int V, int R>
static DEVICE void load_bits(uint32_t (&x)[R][V], const void *vector, const vscan__value &scalar,
                             const map_tile<V, R> &tile) {
    if (vector != nullptr) {
        load_flags<V, R>(x, vector, VSCAN_BIT, tile);
        return;
    }
    for_each_item<R, V>([&](int r, int j) { x[r][j] = scalar.as_byte; });
}

__global__ void __launch_bounds__(map_threads)
    select_bits(const __grid_constant__ map_arguments g) {
    constexpr int V = 4, R = select_chunks;
    const map_tile<V, R> tile(g.map.n, g.begin, g.wide);
    uint32_t a[R][V], b[R][V], f[R][V];
    load_bits<V, R>(a, g.map.a, g.map.scalar, tile);
    load_bits<V, R>(b, g.map.b, g.map.scalar, tile);
    load_flags<V, R>(f, g.map.flags, g.map.flag_type, tile);
    for_each_item<R, V>([&](int r, int j) { a[r][j] = f[r][j] ? a[r][j] : b[r][j]; });
    store_flags<V, R>(g.map.out, VSCAN_BIT, a, tile);
}

/* ---- Conversion ------------------------------------------------------------------------------ */

#define X(row, FROM, from, TO, to, result)                                                         \
    struct convert_##row {                                                                         \
        using F = from;                                                                            \
        using T = to;                                                                              \
        static DEVICE T apply(F a) { return (result); }                                            \
    };
VSCAN__CONVERT(X)
#undef X

/* One kernel serves all conversions between two sizes; From and To are unsigned integers of these
   sizes. Applies the row if it is one of them. */
template <class Row, class To, class From, int V, int R>
static DEVICE void apply_convert(To (&x)[R][V], const From (&a)[R][V]) {
    if constexpr (sizeof(From) == sizeof(typename Row::F) &&
                  sizeof(To) == sizeof(typename Row::T)) {
        for_each_item<R, V>([&](int r, int j) {
            typename Row::F from;
            memcpy(&from, &a[r][j], sizeof from);
            const typename Row::T to = Row::apply(from);
            memcpy(&x[r][j], &to, sizeof to);
        });
    }
}

template <class From, class To>
__global__ void __launch_bounds__(map_threads)
    map_convert(const __grid_constant__ map_arguments g) {
    constexpr int V = sizeof(From) == 8 || sizeof(To) == 8 ? 2 : 4;
    constexpr int R = convert_chunks(sizeof(From), sizeof(To));
    const map_tile<V, R> tile(g.map.n, g.begin, g.wide);
    From a[R][V];
    load_elements<From, V, R>(a, g.map.a, tile);
    To x[R][V] = {};
    switch (g.map.row) {
#define X(row, FROM, from, TO, to, result)                                                         \
    case vscan__convert_##row:                                                                     \
        apply_convert<convert_##row, To, From, V, R>(x, a);                                        \
        break;
        VSCAN__CONVERT(X)
#undef X
    }
    store_elements<To, V, R>(g.map.out, x, tile);
}

/* T: an unsigned integer of the size of a number; the scalar has the bits of the number 1. */
template <class T>
__global__ void __launch_bounds__(map_threads)
    numbers_of_flags(const __grid_constant__ map_arguments g) {
    constexpr int V = sizeof(T) == 8 ? 2 : 4, R = number_chunks;
    const map_tile<V, R> tile(g.map.n, g.begin, g.wide);
    uint32_t f[R][V];
    load_flags<V, R>(f, g.map.a, g.map.type, tile);
    T x[R][V];
    for_each_item<R, V>([&](int r, int j) { x[r][j] = f[r][j] ? (T)g.map.scalar.bits : 0; });
    store_elements<T, V, R>(g.map.out, x, tile);
}

__global__ void __launch_bounds__(map_threads)
    flags_of_flags(const __grid_constant__ map_arguments g) {
    constexpr int V = 4, R = flag_chunks;
    const map_tile<V, R> tile(g.map.n, g.begin, g.wide);
    uint32_t f[R][V];
    load_flags<V, R>(f, g.map.a, g.map.type, tile);
    store_flags<V, R>(g.map.out, g.map.out_type, f, tile);
}

/* Bytes to bits or bits to bytes: a chunk is 16 bytes on one side and 16 bits on the other. */
__global__ void __launch_bounds__(map_threads)
    bits_and_bytes(const __grid_constant__ map_arguments g) {
    constexpr int V = 16, R = byte_chunks;
    const map_tile<V, R> tile(g.map.n, g.begin, g.wide);
    const bool to_bits = g.map.out_type == VSCAN_BIT;
    if (tile.wide && to_bits) {
        uint32_t x[R][4];
        UNROLL_FOR (int r = 0; r < R; ++r)
            load_wide<uint32_t, 4>(x[r],
                                   (const uint32_t *)((const uint8_t *)g.map.a + tile.at(r, 0)));
        UNROLL_FOR (int r = 0; r < R; ++r) {
            ((uint16_t *)g.map.out)[tile.at(r, 0) / V] = (uint16_t)bits_of_words<4>(x[r]);
        }
    } else if (tile.wide) {
        uint32_t bits[R];
        UNROLL_FOR (int r = 0; r < R; ++r) bits[r] = ((const uint16_t *)g.map.a)[tile.at(r, 0) / V];
        UNROLL_FOR (int r = 0; r < R; ++r) {
            uint32_t x[4];
            UNROLL_FOR (int j = 0; j < 4; ++j) x[j] = bytes_of_bits(bits[r] >> 4 * j & 15);
            store_wide<uint32_t, 4>((uint32_t *)((uint8_t *)g.map.out + tile.at(r, 0)), x);
        }
    } else {
#pragma unroll 4
        for (int k = 0; k < V * R; ++k) {
            const int64_t i = tile.first + k * map_threads + threadIdx.x;
            const uint32_t f = i < tile.end ? flag_at(g.map.a, g.map.type, i) : 0;
            if (to_bits)
                store_word((uint32_t *)g.map.out, __ballot_sync(warp_mask, f != 0), i, tile.end);
            else if (i < tile.end)
                ((uint8_t *)g.map.out)[i] = (uint8_t)f;
        }
    }
}

} /* namespace vscan */

using namespace vscan;

extern "C" cudaError_t vscan__launch_compare(const vscan__launch *launch, const vscan__map *map) {
    if (map->type == VSCAN_UINT8) return launch_compare_uint8(launch, map);
    map_kernel *const kernel = kernel_of_type(map->type, map_compare<int32_t>, map_compare<int64_t>,
                                              map_compare<float>, map_compare<double>);
    const int64_t size = map_size(map->type);
    return start_map(kernel, launch, {*map}, 16 / size, compare_chunks, map->n,
                     {{map->a, size}, {map->b, size}, {map->out, map_size(map->out_type)}});
}

extern "C" cudaError_t vscan__launch_logic(const vscan__launch *launch, const vscan__map *map) {
    const bool bits = map->type == VSCAN_BIT;
    const int64_t size = bits ? 4 : 1;
    return start_map(bits ? logic_bits : logic_bytes, launch, {*map}, 4, bits ? 1 : logic_chunks,
                     bits ? (map->n + 31) / 32 : map->n,
                     {{map->a, size}, {map->b, size}, {map->out, size}});
}

extern "C" cudaError_t vscan__launch_select(const vscan__launch *launch, const vscan__map *map) {
    const int64_t size = map_size(map->type);
    map_kernel *const kernel = size == 8   ? select_elements<uint64_t>
                               : size == 4 ? select_elements<uint32_t>
                               : size == 1 ? select_elements<uint8_t>
                                           : select_bits;
    return start_map(
        kernel, launch, {*map}, size == 8 ? 2 : 4, select_chunks, map->n,
        {{map->a, size}, {map->b, size}, {map->out, size}, {map->flags, map_size(map->flag_type)}});
}

extern "C" cudaError_t vscan__launch_convert(const vscan__launch *launch, const vscan__map *map) {
    const int64_t from = map_size(map->type), to = map_size(map->out_type);
    const map_vector vectors[] = {{map->a, from}, {map->out, to}};
    const int V = from == 8 || to == 8 ? 2 : 4;
    if (map->row >= 0) {
        map_kernel *const kernel =
            from == 1 ? to == 8 ? map_convert<uint8_t, uint64_t> : map_convert<uint8_t, uint32_t>
            : to == 1 ? from == 8 ? map_convert<uint64_t, uint8_t> : map_convert<uint32_t, uint8_t>
            : from == 8
                ? to == 8 ? map_convert<uint64_t, uint64_t> : map_convert<uint64_t, uint32_t>
            : to == 8 ? map_convert<uint32_t, uint64_t>
                      : map_convert<uint32_t, uint32_t>;
        return start_map(kernel, launch, {*map}, V, convert_chunks(from, to), map->n, vectors);
    }
    vscan__map to_numbers = *map;
    vscan__value &one = to_numbers.scalar;
    one.bits = 0;
    switch (map->out_type) {
    case VSCAN_FLOAT:
        one.as_float = 1;
        return start_map(numbers_of_flags<uint32_t>, launch, {to_numbers}, V, number_chunks, map->n,
                         vectors);
    case VSCAN_DOUBLE:
    case VSCAN_LONG:
        if (map->out_type == VSCAN_DOUBLE)
            one.as_double = 1;
        else
            one.as_long = 1;
        return start_map(numbers_of_flags<uint64_t>, launch, {to_numbers}, V, number_chunks, map->n,
                         vectors);
    default:
        if (from + to == 1) /* sizes 1 and, for bits, 0 */
            return start_map(bits_and_bytes, launch, {*map}, 16, byte_chunks, map->n, vectors);
        return start_map(flags_of_flags, launch, {*map}, V, flag_chunks, map->n, vectors);
    }
}
