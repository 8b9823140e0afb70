/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Running and total maximum and minimum with positions. One thread goes from block to block and, for each,
 * first finds the greatest key by vectors. Mostly none is greater than what came before, and all results
 * of the block are the same; else it goes through the block element by element. Several threads first find
 * the best element of every chunk, and then each begins its chunk with the best of the earlier ones.
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
    int64_t (*highest)(const void *in, int64_t n, int32_t turn);
    int64_t size;
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
    return run->highest((const char *)work->in + lowest_of(work, first, n) * run->size, n,
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

#define FILL(T, vector, value)                                                                     \
    do {                                                                                           \
        T *const to = (T *)(vector) + lowest;                                                      \
        const T all = (T)(value);                                                                  \
        EACH(i, n) to[i] = all;                                                                    \
    } while (0)

static void fill(const struct run *run, int64_t first, int64_t n, struct best best) {
    const struct vscan__extreme *work = run->work;
    const int64_t lowest = lowest_of(work, first, n);
    const int64_t position = lowest_of(work, best.position, 1);
    if (work->position_type == VSCAN_INT)
        FILL(int32_t, work->positions, position);
    else
        FILL(int64_t, work->positions, position);
    if (work->out == NULL) return;
    if (run->size == 4)
        FILL(int32_t, work->out, element_of(run, best.key));
    else
        FILL(int64_t, work->out, element_of(run, best.key));
}

/* The running best of a block, as keys and as positions in scan order. */
#define RUN(name, I)                                                                               \
    do {                                                                                           \
        const I *x = (const I *)work->in + (work->backward != 0 ? work->n - 1 - first : first);    \
        const int64_t step = work->backward != 0 ? -1 : 1;                                         \
        I key = (I)best.key;                                                                       \
        int64_t position = best.position;                                                          \
        for (int64_t k = 0; k < n; k++) {                                                          \
            const I here = vscan__extreme_key_##name(x[k * step], run->turn);                      \
            if (here > key) {                                                                      \
                key = here;                                                                        \
                position = first + k;                                                              \
            }                                                                                      \
            keys[k] = key;                                                                         \
            positions[k] = position;                                                               \
        }                                                                                          \
        best = (struct best){key, position};                                                       \
    } while (0)

#define WRITE(T, vector, value)                                                                    \
    do {                                                                                           \
        T *const to = (T *)(vector) + lowest;                                                      \
        for (int64_t i = 0; i < n; i++) {                                                          \
            const int64_t k = work->backward != 0 ? n - 1 - i : i;                                 \
            to[i] = (T)(value);                                                                    \
        }                                                                                          \
    } while (0)

static struct best run_block(const struct run *run, int64_t first, int64_t n, struct best best) {
    const struct vscan__extreme *work = run->work;
    const int64_t lowest = lowest_of(work, first, n);
    int64_t keys[BLOCK], positions[BLOCK];
    if (work->type == VSCAN_INT)
        RUN(int, int32_t);
    else if (work->type == VSCAN_LONG)
        RUN(long, int64_t);
    else if (work->type == VSCAN_FLOAT)
        RUN(float, int32_t);
    else
        RUN(double, int64_t);
    if (work->position_type == VSCAN_INT)
        WRITE(int32_t, work->positions, lowest_of(work, positions[k], 1));
    else
        WRITE(int64_t, work->positions, lowest_of(work, positions[k], 1));
    if (work->out == NULL) return best;
    if (run->size == 4)
        WRITE(int32_t, work->out, element_of(run, keys[k]));
    else
        WRITE(int64_t, work->out, element_of(run, keys[k]));
    return best;
}

static void scan_part(void *work, int part, int parts) {
    struct run *run = work;
    const struct chunk chunk = chunk_of(run->work->n, part, parts);
    struct best best = best_before(run, part);
    EACH_BLOCK(at, count, chunk.first, chunk.n) {
        if (highest_of(run, at, count) > best.key)
            best = run_block(run, at, count, best);
        else
            fill(run, at, count, best);
    }
}

/* ---- Calls ----------------------------------------------------------------------------------- */

static void write_total(const struct run *run, struct best best) {
    const struct vscan__extreme *work = run->work;
    const int64_t element = element_of(run, best.key);
    const int64_t position = lowest_of(work, best.position, 1);
    if (work->total != NULL && run->size == 4) *(int32_t *)work->total = (int32_t)element;
    if (work->total != NULL && run->size == 8) *(int64_t *)work->total = element;
    if (work->position_type == VSCAN_INT)
        *(int32_t *)work->position = (int32_t)position;
    else
        *(int64_t *)work->position = position;
}

vscan_status vscan__cpu_extreme(vscan_ctx *ctx, const struct vscan__extreme *extreme) {
    struct run run; /* not set as a whole, which would take longer than a small call */
    run.work = extreme;
    run.highest = extremes_of(ctx, extreme->type)->highest;
    run.size = vscan__element_size((vscan_type)extreme->type);
    run.turn = extreme->min != 0 ? -1 : 0;
    const int threads = vscan__cpu_threads(ctx, extreme->n / (WORTH / run.size));
    const bool total = extreme->position != NULL;
    if (threads > 1 || total) vscan__cpu_parallel(threads, best_part, &run);
    if (extreme->positions != NULL) vscan__cpu_parallel(threads, scan_part, &run);
    if (total) write_total(&run, best_before(&run, threads));
    return VSCAN_OK;
}
