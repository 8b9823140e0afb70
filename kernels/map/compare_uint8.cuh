/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Comparisons of uint8, four of them at a time in a 32-bit word: a pass over bytes leaves a
 * multiprocessor too few instructions for each byte to compare one after the other at the speed of memory.
 *
 * A block owns a tile, uses no shared memory and communicates with no other block. Tiles begin where
 * chunks of flags are aligned. Elements that are not are read as the two aligned chunks that they lie
 * in, which are shifted together; all lanes of a launch shift alike. At the ends of a vector, where
 * such a chunk may reach beyond it, a tile is read element by element.
 */
#pragma once

#include "elements/elementwise.cuh"
#include "core/map_ops.h"
#include "map/tuning.cuh"

namespace vscan {

/* Byte k: 1 where row holds for byte k of a and of b. Bit 7 of each byte carries what is found out;
   no sum or difference of the lower bits leaves its byte. */
static DEVICE uint32_t compare_four(int row, uint32_t a, uint32_t b) {
    const uint32_t high = 0x80808080u, different = a ^ b;
    uint32_t holds;
    if (row == vscan__compare_equal_uint8) {
        holds = ~(((different & ~high) + ~high) | different);
    } else {
        if (row == vscan__compare_less_or_equal_uint8) { /* not b < a */
            const uint32_t c = a;
            a = b;
            b = c;
        }
        const uint32_t not_less = (a | high) - (b & ~high); /* of the lower bits */
        holds = (~a & b) | ~(different | not_less);
        if (row == vscan__compare_less_or_equal_uint8) holds = ~holds;
    }
    return (holds & high) >> 7;
}

/* Bytes by which the first chunk of tiles misses its alignment. */
template <int W>
static DEVICE uint32_t misfit_of(const void *vector, int begin) {
    return vector == nullptr ? 0 : ((uint32_t)(uintptr_t)vector + (uint32_t)begin) % (4 * W);
}

/* Chunks of W words of four elements, or of the scalar where the vector is NULL. */
template <int W, int R>
static DEVICE void load_fours(uint32_t (&x)[R][W], const void *vector, uint32_t misfit,
                              uint8_t scalar, const map_tile<4 * W, R> &tile) {
    const uint8_t *const from = (const uint8_t *)vector;
    if (vector == nullptr) {
        for_each_item<R, W>([&](int r, int w) { x[r][w] = scalar * 0x01010101u; });
    } else if (!tile.wide) {
        for_each_item<R, W>([&](int r, int w) { x[r][w] = 0; });
        for_each_item<R, 4 * W>([&](int r, int j) {
            const int64_t i = tile.at(r, j);
            if (i < tile.end) x[r][j / 4] |= (uint32_t)from[i] << 8 * (j % 4);
        });
    } else if (misfit == 0) {
        UNROLL_FOR (int r = 0; r < R; ++r)
            load_wide<uint32_t, W>(x[r], (const uint32_t *)(from + tile.at(r, 0)));
    } else {
        uint32_t two[R][2 * W];
        UNROLL_FOR (int r = 0; r < R; ++r) {
            const uint32_t *const words = (const uint32_t *)(from + tile.at(r, 0) - misfit);
            uint32_t low[W], high[W];
            load_wide<uint32_t, W>(low, words);
            load_wide<uint32_t, W>(high, words + W);
            UNROLL_FOR (int w = 0; w < W; ++w) {
                two[r][w] = low[w];
                two[r][W + w] = high[w];
            }
        }
        UNROLL_FOR (int r = 0; r < R; ++r) {
            /* by whole words, which a constant index keeps in registers, then by the bytes left */
            UNROLL_FOR (int step = W / 2; step > 0; step /= 2)
                if (misfit / 4 & step)
                    UNROLL_FOR (int w = 0; w + step < 2 * W; ++w) two[r][w] = two[r][w + step];
            UNROLL_FOR (int w = 0; w < W; ++w)
                x[r][w] = __funnelshift_r(two[r][w], two[r][w + 1], 8 * (misfit % 4));
        }
    }
}

/* W: words of a lane's chunk: 4 where the flags are bytes or bits, 1 where they are ints. */
template <int W>
__global__ void __launch_bounds__(map_threads)
    compare_uint8(const __grid_constant__ map_arguments g) {
    constexpr int V = 4 * W, R = uint8_chunks;
    const uint32_t misfit_a = misfit_of<W>(g.map.a, g.begin);
    const uint32_t misfit_b = misfit_of<W>(g.map.b, g.begin);
    map_tile<V, R> tile(g.map.n, g.begin, g.wide);
    if ((misfit_a | misfit_b) && (tile.first < V || tile.end + V > g.map.n)) tile.wide = false;
    uint32_t a[R][W], b[R][W];
    load_fours<W, R>(a, g.map.a, misfit_a, g.map.scalar.as_byte, tile);
    load_fours<W, R>(b, g.map.b, misfit_b, g.map.scalar.as_byte, tile);
    const uint32_t turned = g.map.turned ? 0x01010101u : 0;
    for_each_item<R, W>(
        [&](int r, int w) { a[r][w] = compare_four(g.map.row, a[r][w], b[r][w]) ^ turned; });
    if constexpr (W == 1) {
        uint32_t f[R][V];
        for_each_item<R, V>([&](int r, int j) { f[r][j] = a[r][0] >> 8 * j & 1; });
        store_elements<uint32_t, V, R>(g.map.out, f, tile);
    } else if (tile.wide && g.map.out_type == VSCAN_BYTE) {
        UNROLL_FOR (int r = 0; r < R; ++r)
            store_wide<uint32_t, W>((uint32_t *)((uint8_t *)g.map.out + tile.at(r, 0)), a[r]);
    } else if (tile.wide) {
        UNROLL_FOR (int r = 0; r < R; ++r) {
            uint32_t bits = 0;
            UNROLL_FOR (int w = 0; w < W; ++w) /* the product moves bit 8 j to bit 24 + j */
                bits |= (a[r][w] * 0x01020408u >> 24) << 4 * w;
            ((uint16_t *)g.map.out)[tile.at(r, 0) / 16] = (uint16_t)bits;
        }
    } else {
        for_each_item<R, V>([&](int r, int j) {
            const int64_t i = tile.at(r, j);
            const uint32_t f = a[r][j / 4] >> 8 * (j % 4) & 1;
            if (g.map.out_type == VSCAN_BIT)
                store_word((uint32_t *)g.map.out, __ballot_sync(warp_mask, f != 0), i, tile.end);
            else if (i < tile.end)
                ((uint8_t *)g.map.out)[i] = (uint8_t)f;
        });
    }
}

static cudaError_t launch_compare_uint8(const vscan__launch *launch, const vscan__map *map) {
    const bool ints = map->out_type == VSCAN_INT;
    return start_map(ints ? compare_uint8<1> : compare_uint8<4>, launch, {*map}, ints ? 4 : 16,
                     uint8_chunks, map->n, {{map->out, map_size(map->out_type)}});
}

} /* namespace vscan */
