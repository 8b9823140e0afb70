/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scans and reductions of segments given by offsets, each a vector of its own. Each thread has some
 * adjacent ones, as many as are one part of all elements and segments. A segment that is much of the whole
 * is left out then, and all threads work on it together.
 *
 * Rows of a matrix take the places of elements where columns are reduced. A group of them is a matrix of its own,
 * which is read in bands, as in matrix.c.
 */
#include "cpu/cpu.h"
#include "cpu/levels.h"
#include "cpu/modes.h"
#include "cpu/parallel.h"

enum {
    WORTH = 2 * (64 << 10), /* bytes that a thread must go through to be worth its start */
    SEGMENT = VSCAN__CPU_SEGMENT,
    SHARED = 1 << 20        /* bytes of a segment that all threads share, or more */
};

/* One call. */
struct by_offsets {
    const struct vscan__scan *scan;
    const struct vscan__cpu_pair *pair;
    const struct vscan__matrix *matrix; /* of all rows, or NULL: a vector */
    int64_t step, totals_step;       /* bytes from row to row, or element to element; of totals */
    struct vscan__cpu_levels begin;  /* before a vector without an initial value */
    struct vscan__cpu_ragged ragged; /* for the pair's loop */
    int64_t most;                    /* elements of a segment that one thread has */
    int64_t from[VSCAN__CPU_THREADS + 1]; /* each part's first segment */
    int64_t wrong[VSCAN__CPU_THREADS];    /* each part's first wrong offset, or -1 */
};

/* A segment as a vector; n = -1: it is wrong. */
static struct vscan__scan segment_of(const struct by_offsets *call, int64_t k) {
    const struct vscan__scan *scan = call->scan;
    const int64_t begin = vscan__cpu_offset(scan, k), end = vscan__cpu_offset(scan, k + 1);
    if (begin < 0 || end < begin || end > scan->n) return (struct vscan__scan){.n = -1};
    const bool any = end > begin; /* else there may be no vectors */
    return (struct vscan__scan){
        .n = end - begin,
        .in = any ? (const char *)scan->in + begin * call->step : NULL,
        .out = any && scan->out != NULL ? (char *)scan->out + begin * call->pair->size : NULL,
        .exclusive = scan->exclusive,
        .backward = scan->backward,
        .has_initial = scan->has_initial != 0 ? 2 : 0,
        .initial_at = vscan__cpu_initial(scan),
        .total = scan->totals != NULL ? (char *)scan->totals + k * call->totals_step : NULL};
}

/* A group of rows, all columns, by the calling thread. */
static void run_group(const struct by_offsets *call, const struct vscan__scan *group) {
    const struct vscan__matrix *matrix = call->matrix;
    const int64_t size = call->pair->size, most = VSCAN__CPU_BAND / size;
    for (int64_t c = 0; c < matrix->lines; c += most) {
        const char *const initial = group->initial_at;
        const struct vscan__cpu_band band = {
            .in = group->in != NULL ? (const char *)group->in + c * size : NULL,
            .totals = (char *)group->total + c * size,
            .initial = initial != NULL ? initial + c * size * matrix->initial_step : NULL,
            .initial_step = matrix->initial_step,
            .columns = vscan__cpu_smaller(matrix->lines - c, most),
            .rows = group->n,
            .pitch = matrix->step,
            .backward = group->backward != 0};
        call->pair->band(&band);
    }
}

static void run_part(void *work, int part, int parts) {
    (void)parts;
    struct by_offsets *call = work;
    const struct vscan__scan *scan = call->scan;
    const struct vscan__modes modes = vscan__set_modes(call->pair->arithmetic);
    const int64_t to = call->from[part + 1];
    int64_t wrong = -1;
    for (int64_t k = call->from[part]; k < to; k++) {
        if (call->matrix == NULL) k = call->pair->short_segments(&call->ragged, k, to);
        if (k == to) break;
        const struct vscan__scan segment = segment_of(call, k);
        if (segment.n >= 0 && segment.n <= call->most && call->matrix != NULL)
            run_group(call, &segment);
        else if (segment.n >= 0 && segment.n <= call->most)
            vscan__cpu_run_line(&segment, call->pair, &call->begin);
        else if (segment.n < 0 && wrong < 0) /* of a wrong one, what is wrong first */
            wrong = k == 0 && (uint64_t)vscan__cpu_offset(scan, 0) > (uint64_t)scan->n ? 0 : k + 1;
    }
    call->wrong[part] = wrong;
    vscan__restore_modes(call->pair->arithmetic, &modes);
}

int64_t vscan__cpu_segments_before(const struct vscan__scan *scan, uint64_t at) {
    int64_t low = 0, high = scan->totals_length;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if ((uint64_t)vscan__cpu_offset(scan, middle) + SEGMENT * (uint64_t)middle < at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The last segment that begins at or before an element. */
static int64_t segment_at(const struct vscan__scan *scan, int64_t at) {
    int64_t low = 0, high = scan->totals_length - 1;
    while (low < high) {
        const int64_t middle = low + (high - low + 1) / 2;
        if (vscan__cpu_offset(scan, middle) <= at)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* All threads on one segment. Always OK: only what has no out may lack memory. */
static void share(vscan_ctx *ctx, const struct by_offsets *call,
                  const struct vscan__scan *segment) {
    if (call->matrix == NULL) {
        (void)(segment->out != NULL ? vscan__cpu_scan(ctx, segment, call->pair)
                                    : vscan__cpu_reduce(ctx, segment, call->pair));
        return;
    }
    struct vscan__matrix group = *call->matrix;
    group.length = segment->n;
    group.in = segment->in;
    group.totals = segment->total;
    (void)vscan__cpu_matrix(ctx, &group, call->pair);
}

/* matrix: whose rows are grouped, or NULL. */
static vscan_status run(vscan_ctx *ctx, const struct vscan__scan *scan,
                        const struct vscan__matrix *matrix, const struct vscan__cpu_pair *pair) {
    const int64_t segments = scan->totals_length, columns = matrix != NULL ? matrix->lines : 1;
    const int64_t size = vscan__cpu_smaller(columns, WORTH / pair->size) * pair->size;
    const int64_t first = vscan__cpu_offset(scan, 0);
    if (first < 0 || first > scan->n) vscan__cpu_note_late(ctx, VSCAN_ERROR_OFFSETS, 0);
    if (segments == 0) return VSCAN_OK;
    struct by_offsets call; /* not set as a whole, which would take longer than a small call */
    call.scan = scan;
    call.pair = pair;
    call.matrix = matrix;
    call.step = (matrix != NULL ? matrix->step : 1) * pair->in_size;
    call.totals_step = columns * pair->size;
    call.begin = vscan__cpu_begin(pair);
    call.ragged = (struct vscan__cpu_ragged){.scan = scan, .z = call.begin.r4};
    if (!pair->sum) call.ragged.empty = call.begin.r4;
    const void *initial = vscan__cpu_initial(scan);
    if (initial != NULL) call.ragged.z = call.ragged.empty = pair->take(initial);
    const uint64_t elements = (uint64_t)scan->n, all = elements + SEGMENT * (uint64_t)segments;
    const int threads = vscan__cpu_threads(ctx, (int64_t)(all / (uint64_t)(WORTH / size)));
    /* elements in no segment count to the first and the last part */
    for (int t = 0; t < threads; t++)
        call.from[t] = t == 0 ? 0 : vscan__cpu_segments_before(scan, all / (uint64_t)threads * (uint64_t)t);
    for (int t = 1; t < threads; t++) /* what another thread changes may not ascend */
        if (call.from[t] < call.from[t - 1]) call.from[t] = call.from[t - 1];
    call.from[threads] = segments;
    /* of a group, threads share the columns */
    const bool shared = threads > 1 && (matrix == NULL || columns * pair->size > VSCAN__CPU_BAND);
    call.most = shared ? scan->n / threads / 2 : scan->n;
    if (call.most < SHARED / size) call.most = SHARED / size;
    vscan__cpu_parallel(threads, run_part, &call);
    for (int t = 0; t < threads; t++)
        if (call.wrong[t] >= 0) vscan__cpu_note_late(ctx, VSCAN_ERROR_OFFSETS, call.wrong[t]);
    /* a segment of more than `most` elements has one that is a multiple of it */
    int64_t done = -1;
    for (int64_t at = 0; shared && at < scan->n; at += call.most) {
        const int64_t k = segment_at(scan, at);
        const struct vscan__scan segment = segment_of(&call, k);
        if (segment.n <= call.most || k == done) continue;
        done = k;
        share(ctx, &call, &segment);
    }
    return VSCAN_OK;
}

vscan_status vscan__cpu_by_offsets(vscan_ctx *ctx, const struct vscan__scan *scan,
                                   const struct vscan__cpu_pair *pair) {
    if (scan->count == NULL) return run(ctx, scan, NULL, pair);
    struct vscan__scan counted = *scan;
    const int64_t count = *scan->count;
    if (count > scan->totals_length)
        vscan__note_late(ctx, vscan__running(ctx), VSCAN_ERROR_TOTALS_LENGTH, count,
                         scan->totals_length);
    else
        counted.totals_length = count;
    return run(ctx, &counted, NULL, pair);
}

vscan_status vscan__cpu_columns_by_offsets(vscan_ctx *ctx, const struct vscan__row_groups *work,
                                           const struct vscan__cpu_pair *pair) {
    const struct vscan__scan scan = vscan__as_segments(work);
    return run(ctx, &scan, &work->matrix, pair);
}
