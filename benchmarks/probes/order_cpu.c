/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two candidates for the tree inside a tile (lib/core/order.h), float plus, one thread, data in cache:
 *
 *   groups   the network over groups of 32, then over the totals of the groups, one addition (chosen)
 *   whole    the network over the whole tile of 16384
 *
 * beside a serial loop and memcpy of the same data in the same run. Writes CSV to standard output.
 * Compiled once for AVX2 and once for AVX-512 (benchmarks/CMakeLists.txt).
 */
#define _POSIX_C_SOURCE 199309L
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TILE = 16384, TILES = 16, GROUP = 32, BLOCK = 4096, RUNS = 201 };

#ifdef __AVX512F__
enum { LANES = 16 };
#else
enum { LANES = 8 };
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
#else
#define ALL(h) L8(h)
#define KEEP(h) K8(h)
#endif
static const indices left_1 = {ALL(1)}, left_2 = {ALL(2)}, left_4 = {ALL(4)};
static const indices keep_1 = {KEEP(1)}, keep_2 = {KEEP(2)}, keep_4 = {KEEP(4)};

static inline vector network(vector v) {
    v = LEFT(v, 1) + v;
    v = LEFT(v, 2) + v;
    v = LEFT(v, 4) + v;
#ifdef __AVX512F__
    v = LEFT(v, 8) + v;
#endif
    return v;
}

static inline vector last_of(vector v) {
    indices all_last = (indices){0} + (LANES - 1);
    return __builtin_shuffle(v, all_last);
}

/* the network over 32 elements */
static inline void scan_group(const float *in, float *out) {
    vector v[GROUP / LANES];
    for (int k = 0; k < GROUP / LANES; ++k) v[k] = network(*(const vector *)(in + k * LANES));
    for (int half = 1; half < GROUP / LANES; half *= 2)
        for (int k = 0; k < GROUP / LANES; ++k)
            if (k & half) v[k] = last_of(v[(k & ~(half - 1)) - 1]) + v[k];
    for (int k = 0; k < GROUP / LANES; ++k) *(vector *)(out + k * LANES) = v[k];
}

/* ---- groups ------------------------------------------------------------------------------------ */

static float scan_tile_groups(const float *in, float *out, float p) {
    static float local[BLOCK] __attribute__((aligned(64)));
    static float total[BLOCK / GROUP] __attribute__((aligned(64)));
    float block_total[TILE / BLOCK];
    float e = nothing;
    for (int b = 0; b < TILE / BLOCK; ++b) {
        for (int g = 0; g < BLOCK / GROUP; ++g) {
            scan_group(in + b * BLOCK + g * GROUP, local + g * GROUP);
            total[g] = local[g * GROUP + GROUP - 1];
        }
        for (int g = 0; g < BLOCK / GROUP; g += GROUP) scan_group(total + g, total + g);
        for (int half = GROUP; half < BLOCK / GROUP; half *= 2)
            for (int g = half; g < BLOCK / GROUP; g += 2 * half)
                for (int j = 0; j < half; j += LANES)
                    *(vector *)(total + g + j) = all(total[g - 1]) + *(vector *)(total + g + j);
        block_total[b] = total[BLOCK / GROUP - 1];
        const float beside = b & 1 ? block_total[b - 1] : nothing;
        const float above = b & 2 ? block_total[0] + block_total[1] : nothing;
        for (int g = 0; g < BLOCK / GROUP; ++g) {
            const float next = above + (beside + total[g]);
            float *to = out + b * BLOCK + g * GROUP;
            for (int k = 0; k < GROUP; k += LANES)
                *(vector *)(to + k) = all(p) + (all(e) + *(vector *)(local + g * GROUP + k));
            to[GROUP - 1] = p + next;
            e = next;
        }
    }
    return p + e;
}

/* ---- whole ------------------------------------------------------------------------------------- */

static void scan_whole(const float *in, float *out, int n) {
    if (n == GROUP) {
        scan_group(in, out);
        return;
    }
    const int half = n / 2;
    scan_whole(in, out, half);
    scan_whole(in + half, out + half, half);
    const vector left = all(out[half - 1]);
    for (int j = half; j < n; j += LANES) *(vector *)(out + j) = left + *(vector *)(out + j);
}

static float scan_tile_whole(const float *in, float *out, float p) {
    scan_whole(in, out, TILE);
    const float next = p + out[TILE - 1];
    for (int j = 0; j < TILE; j += LANES) *(vector *)(out + j) = all(p) + *(vector *)(out + j);
    return next;
}

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
    } engines[] = {{"groups", scan_tile_groups},
                   {"whole", scan_tile_whole},
                   {"serial", scan_tile_serial},
                   {"memcpy", copy_tile}};
    enum { ENGINES = sizeof engines / sizeof engines[0] };
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
               seconds[2][RUNS / 2] / seconds[e][RUNS / 2]);
    return 0;
}
