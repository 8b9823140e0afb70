/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scans and reductions of the rows and the columns of a matrix. Rows are vectors: each thread has some
 * of them; where there are fewer long rows than threads, all threads work on one row after the other.
 * Columns are cut into bands of adjacent ones, some for each thread. A band is read row by row, in the
 * order of memory, with its columns side by side in vectors (cpu/simd/columns.h). A band lies in one matrix.
 */
#include "cpu/cpu.h"
#include "cpu/levels.h"
#include "cpu/modes.h"
#include "cpu/parallel.h"

enum {
    WORTH = 2 * (64 << 10), /* bytes that a thread must go through to be worth its start */
    LONG_ROW = 1 << 20      /* bytes of a row that all threads share if there are fewer rows */
};

/* One call. */
struct lines {
    const struct vscan__matrix *matrix;
    const struct vscan__cpu_pair *pair;
    struct vscan__cpu_levels begin; /* before a row without an initial value */
};

static const void *initial_of(const struct vscan__matrix *matrix, int64_t line, int64_t size) {
    if (matrix->has_initial == 0) return NULL;
    if (matrix->has_initial == 1) return &matrix->initial;
    return (const char *)matrix->initial_at + line * matrix->initial_step * size;
}

/* Element `at` of a matrix; NULL where it has no elements, or there is none. */
static char *place_in(const struct vscan__matrix *matrix, const void *of, int64_t at,
                      int64_t size) {
    return of != NULL && matrix->length > 0 ? (char *)(uintptr_t)of + at * size : NULL;
}

/* The row as a vector of its own. */
static struct vscan__scan scan_of(const struct vscan__matrix *matrix, int64_t line, int64_t size) {
    const int64_t at = line * matrix->line_step;
    return (struct vscan__scan){
        .n = matrix->length,
        .in = place_in(matrix, matrix->in, at, size),
        .out = place_in(matrix, matrix->out, at, size),
        .exclusive = matrix->exclusive,
        .backward = matrix->backward,
        .has_initial = matrix->has_initial == 0 ? 0 : 2,
        .initial_at = initial_of(matrix, line, size),
        .flag_type = matrix->head_type,
        .flags = matrix->heads,
        .first_flag = at,
        .total = matrix->totals != NULL ? (char *)matrix->totals + line * size : NULL};
}

void vscan__cpu_run_line(const struct vscan__scan *line, const struct vscan__cpu_pair *pair,
                         const struct vscan__cpu_levels *begin) {
    const struct vscan__scan scan = *line;
    struct vscan__cpu_levels levels = *begin;
    union vscan__value empty = {.bits = 0};
    if (!pair->sum) empty = levels.r4;
    if (scan.initial_at != NULL) levels.r4 = empty = pair->take(scan.initial_at);
    uint32_t words[VSCAN__CPU_WORDS];
    const struct vscan__cpu_segments segments = {.heads = words, .z = levels.r4, .first = empty};
    /* at a time: where any order gives the same bits, a whole row can be reduced */
    const bool whole = scan.out == NULL && !(pair->sum && pair->arithmetic);
    const int64_t most = whole ? scan.n : pair->tile;
    for (int64_t first = 0; first < scan.n; first += most) {
        const int64_t n = vscan__cpu_smaller(scan.n - first, most);
        const int64_t offset = (scan.backward ? scan.n - first - n : first) * pair->size;
        const struct vscan__cpu_span span = {.in = (const char *)scan.in + offset,
                                             .out = scan.out != NULL ? (char *)scan.out + offset
                                                                     : NULL,
                                             .n = n,
                                             .backward = scan.backward != 0,
                                             .exclusive = scan.exclusive != 0};
        if (scan.flags != NULL) vscan__cpu_heads(&scan, first, n, words);
        const union vscan__value sum =
            scan.out != NULL ? pair->scan(&span, scan.flags != NULL ? &segments : NULL, &levels)
                             : pair->aggregate(&span, 0);
        if (scan.total != NULL || n == pair->tile) vscan__cpu_pass(pair, &levels, sum);
    }
    /* what precedes the first element may be the inner identity: see vscan__cpu_scan */
    if (scan.out != NULL && scan.exclusive) /* without elements there is no out */
        pair->put((char *)scan.out + (scan.backward ? scan.n - 1 : 0) * pair->size, empty);
    if (scan.total != NULL)
        pair->put(scan.total, scan.n > 0 ? vscan__cpu_last(pair, &levels) : empty);
}

/* Columns of one matrix. */
static void run_band(const struct lines *lines, int64_t first, int64_t columns) {
    const struct vscan__matrix *matrix = lines->matrix;
    const struct vscan__cpu_pair *pair = lines->pair;
    const int64_t at = first / matrix->each * matrix->apart + first % matrix->each;
    const struct vscan__cpu_band band = {
        .in = place_in(matrix, matrix->in, at, pair->size),
        .out = place_in(matrix, matrix->out, at, pair->size),
        .totals = matrix->totals != NULL ? (char *)matrix->totals + first * pair->size : NULL,
        .initial = initial_of(matrix, first, pair->size),
        .initial_step = matrix->has_initial == 2 ? matrix->initial_step : 0,
        .columns = columns,
        .rows = matrix->length,
        .pitch = matrix->step,
        .backward = matrix->backward != 0,
        .exclusive = matrix->exclusive != 0};
    pair->band(&band);
}

static void run_part(void *work, int part, int parts) {
    const struct lines *lines = work;
    const struct vscan__matrix *matrix = lines->matrix;
    const struct vscan__modes modes = vscan__set_modes(lines->pair->arithmetic);
    /* columns: whole lines of the cache each */
    const int64_t grain = matrix->columns ? 64 / lines->pair->size : 1;
    const int64_t grains = (matrix->lines + grain - 1) / grain;
    const int64_t from = grains * part / parts * grain;
    const int64_t to = vscan__cpu_smaller(grains * (part + 1) / parts * grain, matrix->lines);
    for (int64_t line = from; line < to;) {
        if (!matrix->columns) {
            const struct vscan__scan scan = scan_of(matrix, line++, lines->pair->size);
            vscan__cpu_run_line(&scan, lines->pair, &lines->begin);
            continue;
        }
        const int64_t left = vscan__cpu_smaller(to - line, matrix->each - line % matrix->each);
        const int64_t columns = vscan__cpu_smaller(left, VSCAN__CPU_BAND / lines->pair->size);
        run_band(lines, line, columns);
        line += columns;
    }
    vscan__restore_modes(lines->pair->arithmetic, &modes);
}

vscan_status vscan__cpu_matrix(vscan_ctx *ctx, const struct vscan__matrix *matrix,
                               const struct vscan__cpu_pair *pair) {
    /* the product may be beyond 64 bits where there is more memory than a machine has */
    const int64_t worth =
        matrix->length / (WORTH / pair->size) * matrix->lines +
        matrix->length % (WORTH / pair->size) * matrix->lines / (WORTH / pair->size);
    int64_t threads = vscan__cpu_threads(ctx, worth);
    const bool is_vector = matrix->lines == 1 && matrix->length > 0;
    if (!matrix->columns &&
        (is_vector || (matrix->lines < threads && matrix->length >= LONG_ROW / pair->size))) {
        for (int64_t line = 0; line < matrix->lines; line++) {
            const struct vscan__scan scan = scan_of(matrix, line, pair->size);
            /* always OK: only what has no out may lack memory */
            (void)(matrix->heads != NULL ? vscan__cpu_scan_segmented(ctx, &scan, pair)
                   : matrix->out != NULL ? vscan__cpu_scan(ctx, &scan, pair)
                                         : vscan__cpu_reduce(ctx, &scan, pair));
        }
        return VSCAN_OK;
    }
    struct lines lines = {matrix, pair, vscan__cpu_begin(pair)};
    threads = vscan__cpu_smaller(threads, matrix->lines);
    vscan__cpu_parallel(threads < 2 ? 1 : (int)threads, run_part, &lines);
    return VSCAN_OK;
}
