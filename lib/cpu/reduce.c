/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reductions of whole vectors. Where any order gives the same bits, each thread reduces one chunk of
 * adjacent elements, and the aggregates of the chunks are combined. Float and double plus go tile by
 * tile (levels.h): a batch has as many tiles as there is room for, and the first part of a batch combines
 * the aggregates of the batch before. There are two sets of them, used in turn.
 */
#include "cpu/cpu.h"
#include "cpu/scan.h"
#include "cpu/modes.h"
#include "cpu/parallel.h"

enum {
    TILE_BYTES = 64 << 10,
    WORTH = 2 * TILE_BYTES /* bytes that a thread must go through to be worth its start */
};

/* One call. */
struct reduction {
    const struct vscan__scan *scan;
    const struct vscan__cpu_pair *pair;
    struct vscan__cpu_state *state;
    struct vscan__cpu_levels levels; /* after all so far */
    int64_t tiles, first;            /* all, and where the batch begins */
};

/* Whether any order gives the same bits: not for sums of floating-point numbers. */
static bool is_exact(const struct vscan__cpu_pair *pair) {
    return !(pair->sum && pair->arithmetic);
}

/* The aggregate of tiles from .. to - 1, counted in the direction of the scan; one, unless any order
   gives the same bits. */
static union vscan__value aggregate(const struct reduction *reduction, int64_t from, int64_t to) {
    const struct vscan__scan *scan = reduction->scan;
    const struct vscan__cpu_pair *pair = reduction->pair;
    const int64_t first = vscan__cpu_smaller(from * pair->tile, scan->n);
    const int64_t n = vscan__cpu_smaller(scan->n - first, (to - from) * pair->tile);
    const struct vscan__cpu_span span = {
        .in =
            (const char *)scan->in + (scan->backward ? scan->n - first - n : first) * pair->in_size,
        .n = n,
        .backward = scan->backward != 0};
    return pair->aggregate(&span, 0);
}

/* Passes the tiles of the batch that begins with this one. */
static void pass_batch(struct reduction *reduction, int64_t first) {
    const struct vscan__cpu_aggregate *aggregates =
        reduction->state->aggregates[first / VSCAN__CPU_BATCH % 2];
    const int64_t count = vscan__cpu_smaller(reduction->tiles - first, VSCAN__CPU_BATCH);
    for (int64_t i = 0; i < count; i++)
        vscan__cpu_pass(reduction->pair, &reduction->levels, aggregates[i].value);
}

static void reduce_batch(void *work, int part, int parts) {
    struct reduction *reduction = work;
    const struct vscan__modes modes = vscan__set_modes(reduction->pair->arithmetic);
    const int64_t first = reduction->first;
    struct vscan__cpu_aggregate *aggregates =
        reduction->state->aggregates[first / VSCAN__CPU_BATCH % 2];
    const int64_t count = vscan__cpu_smaller(reduction->tiles - first, VSCAN__CPU_BATCH);
    const int64_t end = count * (part + 1) / parts;
    if (part == 0 && first > 0) pass_batch(reduction, first - VSCAN__CPU_BATCH);
    for (int64_t i = count * part / parts; i < end; i++)
        aggregates[i].value = aggregate(reduction, first + i, first + i + 1);
    vscan__restore_modes(reduction->pair->arithmetic, &modes);
}

static void reduce_chunk(void *work, int part, int parts) {
    struct reduction *reduction = work;
    const struct vscan__modes modes = vscan__set_modes(reduction->pair->arithmetic);
    const int64_t tiles = reduction->tiles;
    reduction->state->aggregates[0][part].value =
        aggregate(reduction, tiles * part / parts, tiles * (part + 1) / parts);
    vscan__restore_modes(reduction->pair->arithmetic, &modes);
}

/* Adds all tiles to the levels. */
static void reduce(vscan_ctx *ctx, struct reduction *reduction) {
    const struct vscan__cpu_pair *pair = reduction->pair;
    const int64_t n = reduction->scan->n;
    const int threads = vscan__cpu_threads(ctx, n / (WORTH / pair->in_size));
    reduction->tiles = (n - 1) / pair->tile + 1;
    if (is_exact(pair)) {
        vscan__cpu_parallel(threads, reduce_chunk, reduction);
        for (int i = 0; i < threads; i++)
            vscan__cpu_pass(pair, &reduction->levels, reduction->state->aggregates[0][i].value);
        return;
    }
    int64_t last = 0;
    for (int64_t first = 0; first < reduction->tiles; first += VSCAN__CPU_BATCH) {
        reduction->first = last = first;
        vscan__cpu_parallel(threads, reduce_batch, reduction);
    }
    pass_batch(reduction, last);
}

void vscan__cpu_reduce_levels(vscan_ctx *ctx, const struct vscan__scan *scan,
                              const struct vscan__cpu_pair *pair, struct vscan__cpu_levels *levels,
                              struct vscan__cpu_levels *partial) {
    struct vscan__scan whole = *scan;
    const int64_t left = scan->n % pair->tile;
    whole.n = scan->n - left;
    if (scan->backward) whole.in = (const char *)scan->in + left * pair->in_size;
    struct reduction reduction = {
        .scan = &whole, .pair = pair, .state = ctx->state, .levels = *levels};
    if (whole.n > 0) reduce(ctx, &reduction);
    *levels = *partial = reduction.levels;
    if (left == 0) return;
    reduction.scan = scan;
    const int64_t tiles = whole.n / pair->tile;
    vscan__cpu_pass(pair, levels, aggregate(&reduction, tiles, tiles + 1));
}

vscan_status vscan__cpu_reduce(vscan_ctx *ctx, const struct vscan__scan *scan,
                               const struct vscan__cpu_pair *pair) {
    const struct vscan__modes modes = vscan__set_modes(pair->arithmetic);
    /* the total may come to lie where the initial value is: it is read here, once */
    const void *initial = vscan__cpu_initial(scan);
    struct reduction reduction = {
        .scan = scan, .pair = pair, .state = ctx->state, .levels = vscan__cpu_begin(pair)};
    if (initial != NULL) reduction.levels.r4 = pair->take(initial);
    reduce(ctx, &reduction); /* there are elements: see is_small in backend.c */
    pair->put(scan->total, vscan__cpu_last(pair, &reduction.levels));
    vscan__restore_modes(pair->arithmetic, &modes);
    return VSCAN_OK;
}
