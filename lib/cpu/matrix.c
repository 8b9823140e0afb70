/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scans and reductions of the rows and the columns of a matrix. Rows are vectors: threads take some
 * each, or, where there are fewer rows than threads, all of them one row after the other. Columns are
 * cut into bands of adjacent ones, which threads take; a band is worked off row by row, so that memory
 * is read in order, its columns beside one another in vectors (scan_band in cpu/simd/columns.h).
 */
#include <omp.h>
#include <string.h>

#include "cpu/cpu.h"
#include "cpu/modes.h"

enum {
    WORTH = 2 * (64 << 10), /* bytes that a thread must go through to be worth its start */
    LONG_ROW = 1 << 20      /* bytes of a row that several threads share if there are few */
};

/* One call. */
struct lines {
    const struct vscan__matrix *matrix;
    const struct vscan__cpu_row *row;
};

static int64_t smaller(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static const void *initial_of(const struct vscan__matrix *matrix, int64_t line, int64_t size) {
    if (matrix->has_initial == 0) return NULL;
    if (matrix->has_initial == 1) return &matrix->initial;
    return (const char *)matrix->initial_at + line * matrix->initial_step * size;
}

/* The row as a vector of its own. */
static struct vscan__scan scan_of(const struct vscan__matrix *matrix, int64_t line, int64_t size) {
    const int64_t at = line * matrix->line_step * size;
    return (struct vscan__scan){
        .n = matrix->length,
        .in = (const char *)matrix->in + at,
        .out = matrix->out != NULL ? (char *)matrix->out + at : NULL,
        .exclusive = matrix->exclusive,
        .backward = matrix->backward,
        .has_initial = matrix->has_initial == 0 ? 0 : 2,
        .initial_at = initial_of(matrix, line, size),
        .total = matrix->totals != NULL ? (char *)matrix->totals + line * size : NULL};
}

/* One row, by one thread. */
static void run_row(const struct lines *lines, int64_t line) {
    const struct vscan__cpu_row *row = lines->row;
    const struct vscan__scan scan = scan_of(lines->matrix, line, row->size);
    union vscan__value at = row->identity(), empty = {.bits = 0};
    if (!row->sum) empty = at;
    if (scan.initial_at != NULL) at = empty = row->take(scan.initial_at);
    for (int64_t first = 0; first < scan.n; first += row->tile) {
        const int64_t n = smaller(scan.n - first, row->tile);
        const int64_t offset = (scan.backward ? scan.n - first - n : first) * row->size;
        const struct vscan__cpu_span span = {.in = (const char *)scan.in + offset,
                                             .out = scan.out != NULL ? (char *)scan.out + offset
                                                                     : NULL,
                                             .n = n,
                                             .backward = scan.backward != 0,
                                             .exclusive = scan.exclusive != 0};
        at = scan.out != NULL ? row->scan(&span, NULL, at)
                              : row->fold(at, row->aggregate(&span, 0, row->identity()));
    }
    /* what precedes the first element may be the inner identity: see vscan__cpu_scan */
    if (scan.out != NULL && scan.exclusive && scan.n > 0)
        row->put((char *)scan.out + (scan.backward ? scan.n - 1 : 0) * row->size, empty);
    if (scan.total != NULL) row->put(scan.total, scan.n > 0 ? at : empty);
}

static void run_band(const struct lines *lines, int64_t first, int64_t columns) {
    const struct vscan__matrix *matrix = lines->matrix;
    const struct vscan__cpu_row *row = lines->row;
    const struct vscan__cpu_band band = {
        .in = (const char *)matrix->in + first * row->size,
        .out = matrix->out != NULL ? (char *)matrix->out + first * row->size : NULL,
        .totals = matrix->totals != NULL ? (char *)matrix->totals + first * row->size : NULL,
        .initial = initial_of(matrix, first, row->size),
        .initial_step = matrix->has_initial == 2 ? matrix->initial_step : 0,
        .columns = columns,
        .rows = matrix->length,
        .pitch = matrix->step,
        .backward = matrix->backward != 0,
        .exclusive = matrix->exclusive != 0};
    row->band(&band);
}

static void run_part(struct vscan__cpu_team *team, void *work, int thread, int threads) {
    (void)team;
    const struct lines *lines = work;
    const struct vscan__matrix *matrix = lines->matrix;
    const struct vscan__modes modes = vscan__set_modes(lines->row->arithmetic);
    /* columns: whole lines of the cache each */
    const int64_t grain = matrix->columns ? 64 / lines->row->size : 1;
    const int64_t grains = (matrix->lines + grain - 1) / grain;
    const int64_t from = grains * thread / threads * grain;
    const int64_t to = smaller(grains * (thread + 1) / threads * grain, matrix->lines);
    for (int64_t line = from; line < to;) {
        if (!matrix->columns) {
            run_row(lines, line++);
            continue;
        }
        const int64_t columns = smaller(to - line, VSCAN__CPU_BAND / lines->row->size);
        run_band(lines, line, columns);
        line += columns;
    }
    vscan__put_back_modes(lines->row->arithmetic, &modes);
}

vscan_status vscan__cpu_matrix(vscan_ctx *ctx, const struct vscan__matrix *matrix,
                               const struct vscan__cpu_row *row) {
    int64_t threads = ctx->threads > 0 ? ctx->threads : omp_get_max_threads();
    threads = smaller(threads, VSCAN__CPU_THREADS);
    if (!matrix->columns && matrix->lines < threads && matrix->length >= LONG_ROW / row->size) {
        for (int64_t line = 0; line < matrix->lines; line++) {
            const struct vscan__scan scan = scan_of(matrix, line, row->size);
            TRY(matrix->out != NULL ? vscan__cpu_scan(ctx, &scan, row)
                                    : vscan__cpu_reduce(ctx, &scan, row));
        }
        return VSCAN_OK;
    }
    struct lines lines = {matrix, row};
    threads = smaller(threads, matrix->lines);
    /* the product may be beyond 64 bits where there is more memory than a machine has */
    threads = smaller(threads, matrix->length / (WORTH / row->size) * matrix->lines +
                                   matrix->length % (WORTH / row->size) * matrix->lines /
                                       (WORTH / row->size));
    if (threads < 2 || omp_in_parallel())
        run_part(NULL, &lines, 0, 1);
    else
        vscan__cpu_together((int)threads, run_part, &lines);
    return VSCAN_OK;
}
