/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reductions of whole vectors. Where any order gives the same bits, each thread reduces one chunk of
 * adjacent elements, and the first thread combines the aggregates of the chunks. Float and double plus
 * go tile by tile (levels.h): a batch has as many tiles as there is room for, and the first thread
 * combines those of one batch while the others work on the next. There are two sets of aggregates, used
 * in turn. A set is written again only after all threads have met at the barrier of the batch between.
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
        .in = (const char *)scan->in + (scan->backward ? scan->n - first - n : first) * pair->size,
        .n = n,
        .backward = scan->backward != 0};
    return pair->aggregate(&span, 0);
}

static void reduce_tiles(struct vscan__cpu_team *team, struct reduction *reduction, int thread,
                         int threads) {
    const struct vscan__cpu_pair *pair = reduction->pair;
    const int64_t tiles = (reduction->scan->n - 1) / pair->tile + 1;
    struct vscan__cpu_levels levels = reduction->levels;
    int set = 0;
    for (int64_t first = 0; first < tiles; first += VSCAN__CPU_BATCH, set = 1 - set) {
        struct vscan__cpu_aggregate *aggregates = reduction->state->aggregates[set];
        const int64_t count = vscan__cpu_smaller(tiles - first, VSCAN__CPU_BATCH);
        const int64_t end = count * (thread + 1) / threads;
        for (int64_t i = count * thread / threads; i < end; i++)
            aggregates[i].value = aggregate(reduction, first + i, first + i + 1);
        vscan__cpu_barrier(team, threads);
        for (int64_t i = 0; thread == 0 && i < count; i++)
            vscan__cpu_pass(pair, &levels, aggregates[i].value);
    }
    if (thread == 0) reduction->levels = levels;
}

static void reduce_chunks(struct vscan__cpu_team *team, struct reduction *reduction, int thread,
                          int threads) {
    struct vscan__cpu_aggregate *aggregates = reduction->state->aggregates[0];
    const int64_t tiles = (reduction->scan->n - 1) / reduction->pair->tile + 1;
    aggregates[thread].value =
        aggregate(reduction, tiles * thread / threads, tiles * (thread + 1) / threads);
    vscan__cpu_barrier(team, threads);
    if (thread != 0) return;
    for (int i = 0; i < threads; i++)
        vscan__cpu_pass(reduction->pair, &reduction->levels, aggregates[i].value);
}

static void reduce(struct vscan__cpu_team *team, void *work, int thread, int threads) {
    struct reduction *reduction = work;
    const struct vscan__modes modes = vscan__set_modes(reduction->pair->arithmetic);
    if (is_exact(reduction->pair))
        reduce_chunks(team, reduction, thread, threads);
    else
        reduce_tiles(team, reduction, thread, threads);
    vscan__restore_modes(reduction->pair->arithmetic, &modes);
}

void vscan__cpu_reduce_levels(vscan_ctx *ctx, const struct vscan__scan *scan,
                              const struct vscan__cpu_pair *pair, struct vscan__cpu_levels *levels,
                              struct vscan__cpu_levels *partial) {
    struct vscan__scan whole = *scan;
    const int64_t left = scan->n % pair->tile;
    whole.n = scan->n - left;
    if (scan->backward) whole.in = (const char *)scan->in + left * pair->size;
    struct reduction reduction = {
        .scan = &whole, .pair = pair, .state = ctx->state, .levels = *levels};
    if (whole.n > 0)
        vscan__cpu_parallel(vscan__cpu_threads(ctx, whole.n / (WORTH / pair->size)), reduce,
                            &reduction);
    *levels = *partial = reduction.levels;
    if (left == 0) return;
    reduction.scan = scan;
    const int64_t tiles = whole.n / pair->tile;
    vscan__cpu_pass(pair, levels, aggregate(&reduction, tiles, tiles + 1));
}

vscan_status vscan__cpu_reduce(vscan_ctx *ctx, const struct vscan__scan *scan,
                               const struct vscan__cpu_pair *pair) {
    if (scan->carry != NULL) return vscan__cpu_scan_on(ctx, scan, pair);
    const struct vscan__modes modes = vscan__set_modes(pair->arithmetic);
    /* the total may come to lie where the initial value is: it is read here, once */
    const void *initial = vscan__cpu_initial(scan);
    struct reduction reduction = {
        .scan = scan, .pair = pair, .state = ctx->state, .levels = vscan__cpu_begin(pair)};
    if (initial != NULL) reduction.levels.r4 = pair->take(initial);
    union vscan__value last = {.bits = 0}; /* what callers see where nothing was added */
    if (scan->n > 0)
        vscan__cpu_parallel(vscan__cpu_threads(ctx, scan->n / (WORTH / pair->size)), reduce,
                            &reduction);
    if (scan->n > 0 || !pair->sum || initial != NULL)
        last = vscan__cpu_last(pair, &reduction.levels);
    pair->put(scan->total, last);
    vscan__restore_modes(pair->arithmetic, &modes);
    return VSCAN_OK;
}
