/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Running and total maximum and minimum with positions. Several threads first find the best element of every
 * chunk, and then each begins its chunk with the best of the earlier ones.
 *
 * Positions count in the direction of the scan here: backward, position k is element n - 1 - k.
 */
#include "cpu/chunks.h"
#include "cpu/simd/extreme.h"

/* The best element so far. */
struct best {
    int64_t key, position;
};

struct run {
    const struct vscan__extreme *work;
    const struct vscan__cpu_extremes *loops;
    int64_t size, origin; /* origin: the position of the first element in memory */
    int32_t turn;
    struct best bests[VSCAN__CPU_THREADS]; /* of the chunks */
};

/* The index in memory of the lowest of n elements from position first on. */
static int64_t lowest_of(const struct vscan__extreme *work, int64_t first, int64_t n) {
    return work->backward != 0 ? work->n - first - n : first;
}

static int64_t key_at(const struct run *run, int64_t position) {
    const struct vscan__extreme *work = run->work;
    const int64_t i = lowest_of(work, position, 1);
    switch (work->type) {
    case VSCAN_INT:
        return vscan__extreme_key_int(((const int32_t *)work->in)[i], run->turn);
    case VSCAN_LONG:
        return vscan__extreme_key_long(((const int64_t *)work->in)[i], run->turn);
    case VSCAN_FLOAT:
        return vscan__extreme_key_float(((const int32_t *)work->in)[i], run->turn);
    default:
        return vscan__extreme_key_double(((const int64_t *)work->in)[i], run->turn);
    }
}

static int64_t element_of(const struct run *run, int64_t key) {
    return vscan__extreme_element(key, run->turn, VSCAN__IS_REAL(run->work->type), run->size);
}

static int64_t highest_of(const struct run *run, int64_t first, int64_t n) {
    const struct vscan__extreme *work = run->work;
    return run->loops->highest((const char *)work->in + lowest_of(work, first, n) * run->size, n,
                        run->turn);
}

/* Loses to every number, or ties with it, and has that position. */
static struct best nothing_at(const struct run *run, int64_t position) {
    return (struct best){run->size == 4 ? INT32_MIN : INT64_MIN, position};
}

/* ---- Total ----------------------------------------------------------------------------------- */

/* Of positions first .. first + n - 1, n > 0. */
static struct best best_of(const struct run *run, int64_t first, int64_t n) {
    struct best best = nothing_at(run, first);
    EACH_BLOCK(at, count, first, n) {
        const int64_t key = highest_of(run, at, count);
        if (key > best.key) best = (struct best){key, at};
    }
    /* it is there, unless another thread has changed it meanwhile */
    while (best.position < first + n - 1 && key_at(run, best.position) != best.key) best.position++;
    return best;
}

static void best_part(void *work, int part, int parts) {
    struct run *run = work;
    const struct chunk chunk = chunk_of(run->work->n, part, parts);
    run->bests[part] = best_of(run, chunk.first, chunk.n);
}

static struct best best_before(const struct run *run, int part) {
    struct best best = nothing_at(run, 0);
    for (int p = 0; p < part; p++)
        if (run->bests[p].key > best.key) best = run->bests[p];
    return best;
}

/* ---- Scan ------------------------------------------------------------------------------------ */

static void scan_part(void *work, int part, int parts) {
    struct run *run = work;
    const struct vscan__extreme *extreme = run->work;
    const struct chunk chunk = chunk_of(extreme->n, part, parts);
    const int64_t lowest = lowest_of(extreme, chunk.first, chunk.n);
    const bool wide = extreme->position_type == VSCAN_LONG;
    struct best best = best_before(run, part);
    const struct vscan__cpu_running running = {
        .in = (const char *)extreme->in + lowest * run->size,
        .out = extreme->out != NULL ? (char *)extreme->out + lowest * run->size : NULL,
        .positions = (char *)extreme->positions + lowest * (wide ? 8 : 4),
        .n = chunk.n,
        .position = run->origin + lowest,
        .turn = run->turn,
        .backward = extreme->backward != 0,
        .wide = wide};
    int64_t at = run->origin + lowest_of(extreme, best.position, 1);
    run->loops->scan(&running, &best.key, &at);
}

/* ---- Calls ----------------------------------------------------------------------------------- */

static void write_total(const struct run *run, struct best best) {
    const struct vscan__extreme *work = run->work;
    const int64_t element = element_of(run, best.key);
    const int64_t position = run->origin + lowest_of(work, best.position, 1);
    if (work->total != NULL && run->size == 4) *(int32_t *)work->total = (int32_t)element;
    if (work->total != NULL && run->size == 8) *(int64_t *)work->total = element;
    if (work->position_type == VSCAN_INT)
        *(int32_t *)work->position = (int32_t)position;
    else
        *(int64_t *)work->position = position;
}

void vscan__cpu_extreme_from(vscan_ctx *ctx, const struct vscan__extreme *extreme, int64_t origin) {
    struct run run; /* not set as a whole, which would take longer than a small call */
    run.work = extreme;
    run.loops = extremes_of(ctx, extreme->type);
    run.origin = origin;
    run.size = vscan__element_size((vscan_type)extreme->type);
    run.turn = extreme->min != 0 ? -1 : 0;
    const int threads = vscan__cpu_threads(ctx, extreme->n / (WORTH / run.size));
    const bool total = extreme->position != NULL;
    if (threads > 1 || total) vscan__cpu_parallel(threads, best_part, &run);
    if (extreme->positions != NULL) vscan__cpu_parallel(threads, scan_part, &run);
    if (total) write_total(&run, best_before(&run, threads));
}

vscan_status vscan__cpu_extreme(vscan_ctx *ctx, const struct vscan__extreme *extreme) {
    vscan__cpu_extreme_from(ctx, extreme, 0);
    return VSCAN_OK;
}
