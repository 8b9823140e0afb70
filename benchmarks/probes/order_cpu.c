/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Level sizes for the nested order (lib/core/order.h), float plus, one thread, data in cache. A candidate
 * is group | groups of a block of level 1 | such blocks of a tile of 16384; beside them a serial loop and
 * memcpy of the same data in the same run. Writes CSV to standard output. Compiled once for each set of
 * vector instructions (benchmarks/CMakeLists.txt).
 */
#define _POSIX_C_SOURCE 199309L
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TILE = 16384, TILES = 16, RUNS = 201 };

#if defined __AVX512F__
enum { LANES = 16 };
#elif defined __AVX2__
enum { LANES = 8 };
#else
enum { LANES = 4 }; /* NEON, SSE2 */
#endif
typedef float vector __attribute__((vector_size(4 * LANES), may_alias));
typedef int32_t indices __attribute__((vector_size(4 * LANES)));

static const float nothing = -0.0f;

static inline vector all(float x) {
    return x - (vector){0};
}

/* lanes whose number has bit `half` get the last lane of the half before theirs, others -0.0 */
#define LEFT(v, half)                                                                              \
    __builtin_shuffle(__builtin_shuffle(v, left_##half), all(nothing), keep_##half)
#define L4(i, h) (((i) & ~(h - 1)) - ((i) & (h) ? 1 : 0))
#define K4(i, h) ((i) & (h) ? (i) : (i) + LANES)
#define K8(h) K4(0, h), K4(1, h), K4(2, h), K4(3, h), K4(4, h), K4(5, h), K4(6, h), K4(7, h)
#define J8(h) K4(8, h), K4(9, h), K4(10, h), K4(11, h), K4(12, h), K4(13, h), K4(14, h), K4(15, h)
#define L8(h) L4(0, h), L4(1, h), L4(2, h), L4(3, h), L4(4, h), L4(5, h), L4(6, h), L4(7, h)
#define H8(h) L4(8, h), L4(9, h), L4(10, h), L4(11, h), L4(12, h), L4(13, h), L4(14, h), L4(15, h)
#ifdef __AVX512F__
#define ALL(h) L8(h), H8(h)
#define KEEP(h) K8(h), J8(h)
static const indices left_8 = {ALL(8)}, keep_8 = {KEEP(8)};
#elif defined __AVX2__
#define ALL(h) L8(h)
#define KEEP(h) K8(h)
#else
#define ALL(h) L4(0, h), L4(1, h), L4(2, h), L4(3, h)
#define KEEP(h) K4(0, h), K4(1, h), K4(2, h), K4(3, h)
#endif
static const indices left_1 = {ALL(1)}, left_2 = {ALL(2)};
static const indices keep_1 = {KEEP(1)}, keep_2 = {KEEP(2)};
#if defined __AVX2__ || defined __AVX512F__
static const indices left_4 = {ALL(4)}, keep_4 = {KEEP(4)};
#endif

static inline vector network(vector v) {
    v = LEFT(v, 1) + v;
    v = LEFT(v, 2) + v;
#if defined __AVX2__ || defined __AVX512F__
    v = LEFT(v, 4) + v;
#endif
#ifdef __AVX512F__
    v = LEFT(v, 8) + v;
#endif
    return v;
}

static inline vector last_of(vector v) {
    indices all_last = (indices){0} + (LANES - 1);
    return __builtin_shuffle(v, all_last);
}

/* ---- The nested order -------------------------------------------------------------------------- */

/* out = R3 + (R2 + (R1 + X0)); what a level of one block would add is left out. */
static inline __attribute__((always_inline)) float scan_tile(const float *in, float *out, float r3,
                                                             int group, int groups, int blocks) {
    const int vectors = group / LANES;
    float x3 = r3, r2 = nothing;
    for (int b = 0; b < blocks; ++b) {
        float r1 = nothing, x2 = r2;
        for (int g = 0; g < groups; ++g, in += group, out += group) {
            vector v[128 / LANES];
            for (int k = 0; k < vectors; ++k) v[k] = network(*(const vector *)(in + k * LANES));
            for (int half = 1; half < vectors; half *= 2)
                for (int k = 0; k < vectors; ++k)
                    if (k & half) v[k] = last_of(v[(k & ~(half - 1)) - 1]) + v[k];
            const float x1 = r1 + v[vectors - 1][LANES - 1];
            for (int k = 0; k < vectors; ++k) {
                vector sum = all(r1) + v[k];
                if (blocks > 1) sum = all(r2) + sum;
                *(vector *)(out + k * LANES) = all(r3) + sum;
            }
            r1 = x1;
            x2 = blocks > 1 ? r2 + x1 : x1;
        }
        r2 = x2;
    }
    x3 = r3 + r2;
    return x3;
}

#define CANDIDATE(name, group, groups, blocks)                                                     \
    static float name(const float *in, float *out, float p) {                                      \
        return scan_tile(in, out, p, group, groups, blocks);                                       \
    }
CANDIDATE(tile_32_16_32, 32, 16, 32)
CANDIDATE(tile_32_32_16, 32, 32, 16)
CANDIDATE(tile_32_64_8, 32, 64, 8)
CANDIDATE(tile_32_512, 32, 512, 1)
CANDIDATE(tile_128_128, 128, 128, 1)

/* ---- serial, copy ------------------------------------------------------------------------------ */

static float scan_tile_serial(const float *in, float *out, float p) {
    for (int i = 0; i < TILE; ++i) out[i] = p += in[i];
    return p;
}

static float copy_tile(const float *in, float *out, float p) {
    memcpy(out, in, TILE * sizeof *in);
    return p + out[TILE - 1];
}

/* ---- timing ------------------------------------------------------------------------------------ */

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int by_value(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(void) {
    static const struct {
        const char *name;
        float (*tile)(const float *, float *, float);
    } engines[] = {{"32|16|32", tile_32_16_32}, {"32|32|16", tile_32_32_16},
                   {"32|64|8", tile_32_64_8},   {"32|512", tile_32_512},
                   {"128|128", tile_128_128},   {"serial", scan_tile_serial},
                   {"memcpy", copy_tile}};
    enum { ENGINES = sizeof engines / sizeof engines[0], SERIAL = 5 };
    static float in[TILE * TILES] __attribute__((aligned(64)));
    static float out[TILE * TILES] __attribute__((aligned(64)));
    static double seconds[ENGINES][RUNS];
    volatile float sink = 0;
    uint64_t seed = 1;
    for (int i = 0; i < TILE * TILES; ++i) {
        seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
        in[i] = (float)(int32_t)(seed >> 32) * 0x1p-31f;
    }
    for (int run = 0; run < RUNS;
         ++run) /* the engines alternate, so that all see the same machine */
        for (int e = 0; e < ENGINES; ++e) {
            const double begin = now();
            float p = nothing;
            for (int t = 0; t < TILES; ++t) p = engines[e].tile(in + t * TILE, out + t * TILE, p);
            seconds[e][run] = now() - begin;
            sink = sink + p;
        }
    for (int e = 0; e < ENGINES; ++e) qsort(seconds[e], RUNS, sizeof(double), by_value);
    for (int e = 0; e < ENGINES; ++e)
        printf("cpu,%d,%s,%.1f,%.1f,%.1f,%.3f\n", LANES, engines[e].name,
               1e9 * seconds[e][RUNS / 2] / TILES, 1e9 * seconds[e][RUNS / 10] / TILES,
               1e9 * seconds[e][RUNS * 9 / 10] / TILES,
               seconds[SERIAL][RUNS / 2] / seconds[e][RUNS / 2]);
    return 0;
}
