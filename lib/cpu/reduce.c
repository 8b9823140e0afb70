/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reductions of whole vectors. Each thread goes through a piece of adjacent elements, as memory likes
 * it. Where any order gives the same bits, it has one aggregate then, and these are folded. Float and
 * double plus are folded tile by tile, strictly from left to right (core/order.h): there the vector is
 * worked off in rounds of as many tiles as there is room for, and the first thread folds those of a
 * round while the others have begun the next. There are two sets of aggregates, used in turn, and
 * nobody writes one for the second time before all have met in the round between.
 */
#include <omp.h>
#include <string.h>

#include "cpu/cpu.h"
#include "cpu/modes.h"

enum {
    TILE_BYTES = 64 << 10,
    WORTH = 2 * TILE_BYTES /* bytes that a thread must go through to be worth its start */
};

/* One call. */
struct reduction {
    const struct vscan__scan *scan;
    const struct vscan__cpu_row *row;
    vscan__cpu_sum *sum;
    struct vscan__cpu_state *state;
    union vscan__value last; /* the result */
};

static int64_t smaller(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/* What is folded in any order: only the adding of floating-point numbers is not. */
static bool is_exact(const struct vscan__cpu_row *row) {
    return !(row->sum && row->arithmetic);
}

/* The aggregate of a tile, counted in the direction of the scan. */
static union vscan__value aggregate(const struct reduction *reduction, int64_t tile) {
    const struct vscan__scan *scan = reduction->scan;
    const struct vscan__cpu_row *row = reduction->row;
    const int64_t first = tile * row->tile;
    const int64_t n = smaller(scan->n - first, row->tile);
    const char *in =
        (const char *)scan->in + (scan->backward ? scan->n - first - n : first) * row->size;
    if (n == row->tile) return reduction->sum(in, n);
    const struct vscan__cpu_span span = {.in = in, .n = n, .backward = scan->backward != 0};
    return row->aggregate(&span, 0, row->identity());
}

static void fold_tiles(struct vscan__cpu_team *team, struct reduction *reduction, int thread,
                       int threads) {
    const struct vscan__cpu_row *row = reduction->row;
    const int64_t tiles = (reduction->scan->n - 1) / row->tile + 1;
    union vscan__value last = reduction->last;
    int set = 0;
    for (int64_t first = 0; first < tiles; first += VSCAN__CPU_ROUND, set = 1 - set) {
        struct vscan__cpu_share *shares = reduction->state->shares[set];
        const int64_t count = smaller(tiles - first, VSCAN__CPU_ROUND);
        const int64_t end = count * (thread + 1) / threads;
        for (int64_t i = count * thread / threads; i < end; i++)
            shares[i].aggregate = aggregate(reduction, first + i);
        if (threads > 1) vscan__cpu_meet(team, threads);
        for (int64_t i = 0; thread == 0 && i < count; i++)
            last = row->fold(last, shares[i].aggregate);
    }
    if (thread == 0) reduction->last = last;
}

static void fold_pieces(struct vscan__cpu_team *team, struct reduction *reduction, int thread,
                        int threads) {
    const struct vscan__scan *scan = reduction->scan;
    struct vscan__cpu_share *shares = reduction->state->shares[0];
    const int64_t tile = reduction->row->tile, tiles = (scan->n - 1) / tile + 1;
    const int64_t first = smaller(tiles * thread / threads * tile, scan->n);
    const int64_t end = smaller(tiles * (thread + 1) / threads * tile, scan->n);
    shares[thread].aggregate =
        reduction->sum((const char *)scan->in + first * reduction->row->size, end - first);
    if (threads > 1) vscan__cpu_meet(team, threads);
    if (thread != 0) return;
    for (int i = 0; i < threads; i++)
        reduction->last = reduction->row->fold(reduction->last, shares[i].aggregate);
}

static void member(struct vscan__cpu_team *team, void *work, int thread, int threads) {
    struct reduction *reduction = work;
    const struct vscan__modes modes = vscan__set_modes(reduction->row->arithmetic);
    if (is_exact(reduction->row))
        fold_pieces(team, reduction, thread, threads);
    else
        fold_tiles(team, reduction, thread, threads);
    vscan__put_back_modes(reduction->row->arithmetic, &modes);
}

vscan_status vscan__cpu_reduce(vscan_ctx *ctx, const struct vscan__scan *scan,
                               const struct vscan__cpu_row *row) {
    struct vscan__cpu_state *state = ctx->state;
    struct reduction reduction = {
        .scan = scan, .row = row, .sum = state->sums[row - state->rows], .state = state};
    const struct vscan__modes modes = vscan__set_modes(row->arithmetic);
    /* the total may come to lie where the initial value is: it is read here, once */
    reduction.last = row->identity();
    if (scan->has_initial != 0)
        reduction.last =
            row->take(scan->has_initial == 2 ? scan->initial_at : (const void *)&scan->initial);
    union vscan__value empty = {.bits = 0};
    if (scan->n > 0)
        vscan__cpu_in_threads(ctx, scan->n / (WORTH / row->size), member, &reduction);
    else if (row->sum && scan->has_initial == 0)
        reduction.last = empty; /* what callers see where nothing was added */
    row->put(scan->total, reduction.last);
    vscan__put_back_modes(row->arithmetic, &modes);
    return VSCAN_OK;
}
