/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scans and reductions of the rows and the columns of a matrix. Rows are vectors: each thread has some
 * of them; where there are fewer long rows than threads, all threads work on one row after the other.
 * Columns are cut into bands of adjacent ones, some for each thread. A band is read row by row, in the
 * order of memory, with its columns side by side in vectors (cpu/simd/columns.h). A band lies in one matrix.
 * Short rows are transposed into a band, some at a time, as a vector of each would be nearly empty; for the same reason
 * few columns are taken apart into vectors, a tile at a time.
 */
#include "cpu/cpu.h"
#include "cpu/levels.h"
#include "cpu/modes.h"
#include "cpu/parallel.h"
#include "cpu/scan.h"

enum {
    WORTH = 2 * (64 << 10), /* bytes that a thread must go through to be worth its start */
    LONG_ROW = 1 << 20,     /* bytes of a row that all threads share if there are fewer rows */
    FEW_COLUMNS = 4,        /* of a matrix whose columns are taken apart, if it has */
    MANY_ROWS = 1024,       /* or more */
    /* bytes of a tile of each, a line of the cache apart */
    VECTORS = 3 * VSCAN__CPU_SPARE,
    SHORT_SCAN = 16, /* elements of rows that are transposed, and back again */
    SHORT_SUM = 24,  /* where they are only read */
    /* Bytes of a line of the band that they become; lines are a line of the cache apart, and so not in the same sets
       of the cache. Narrow where wide ones would not fit the block, which is on the stack */
    WIDE = VSCAN__CPU_BAND,
    NARROW = WIDE / 2,
    APART = 64,
    BLOCK_BYTES = SHORT_SCAN * (WIDE + APART)
};

/* One call. */
struct lines {
    const struct vscan__matrix *matrix;
    const struct vscan__cpu_pair *pair;
    struct vscan__cpu_levels begin; /* before a row without an initial value */
    char *vectors;                  /* of few columns, VECTORS bytes a thread, or NULL */
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

static void *total_of(const struct vscan__matrix *matrix, int64_t line, int64_t size) {
    return matrix->totals != NULL ? (char *)matrix->totals + line * size : NULL;
}

/* The row as a vector of its own. */
static struct vscan__scan scan_of(const struct vscan__matrix *matrix, int64_t line,
                                  const struct vscan__cpu_pair *pair) {
    const int64_t at = line * matrix->line_step, size = pair->size;
    return (struct vscan__scan){.n = matrix->length,
                                .in = place_in(matrix, matrix->in, at, pair->in_size),
                                .out = place_in(matrix, matrix->out, at, size),
                                .exclusive = matrix->exclusive,
                                .backward = matrix->backward,
                                .has_initial = matrix->has_initial == 0 ? 0 : 2,
                                .initial_at = initial_of(matrix, line, size),
                                .flag_type = matrix->head_type,
                                .flags = matrix->heads,
                                .first_flag = at,
                                .total = total_of(matrix, line, size)};
}

/* ---- One line by one thread ------------------------------------------------------------------ */

#define INLINE static inline __attribute__((always_inline))

/* How far a line has come. */
struct course {
    struct vscan__cpu_levels levels;
    union vscan__value first, empty; /* before its first element; the result of no elements */
    bool backward, exclusive, has_total;
};

INLINE void begin_line(struct course *course, const struct vscan__cpu_pair *pair,
                       const struct vscan__cpu_levels *begin, const void *initial) {
    union vscan__value empty = {.bits = 0}, first = begin->r4;
    if (!pair->sum) empty = first;
    if (initial != NULL) first = empty = pair->take(initial);
    course->levels = *begin;
    course->levels.r4 = course->first = first;
    course->empty = empty;
}

/* The next elements, a tile or the last ones; heads: words, or a constant NULL. */
INLINE void pass_elements(struct course *course, const struct vscan__cpu_pair *pair, const void *in,
                          void *out, int64_t n, const uint32_t *heads) {
    const struct vscan__cpu_segments segments = {
        .heads = heads, .z = course->first, .first = course->empty};
    const struct vscan__cpu_span span = {
        .in = in, .out = out, .n = n, .backward = course->backward, .exclusive = course->exclusive};
    const union vscan__value sum =
        out != NULL ? pair->scan(&span, heads != NULL ? &segments : NULL, &course->levels)
                    : pair->aggregate(&span, 0);
    if (course->has_total || n == pair->tile) vscan__cpu_pass(pair, &course->levels, sum);
}

/* first: where the result of the line's first element is, or NULL: it has none; total: or NULL. */
INLINE void end_line(const struct course *course, const struct vscan__cpu_pair *pair, void *first,
                     void *total, int64_t n) {
    /* what precedes the first element may be the inner identity: see vscan__cpu_scan */
    if (first != NULL && course->exclusive) pair->put(first, course->empty);
    if (total != NULL)
        pair->put(total, n > 0 ? vscan__cpu_last(pair, &course->levels) : course->empty);
}

/* initial: one element, or NULL; heads: whose flags cut the line, or a constant NULL. */
INLINE void run_vector(const struct vscan__cpu_pair *pair, const struct vscan__cpu_levels *begin,
                       const char *in, char *out, int64_t n, bool backward, bool exclusive,
                       const void *initial, void *total, const struct vscan__scan *heads) {
    uint32_t words[VSCAN__CPU_WORDS];
    struct course course;
    course.backward = backward;
    course.exclusive = exclusive;
    course.has_total = total != NULL;
    begin_line(&course, pair, begin, initial);
    /* at a time: where any order gives the same bits, a whole line can be reduced */
    const bool whole = out == NULL && !(pair->sum && pair->arithmetic);
    const int64_t most = whole ? n : pair->tile;
    for (int64_t done = 0; done < n; done += most) {
        const int64_t count = vscan__cpu_smaller(n - done, most);
        const int64_t offset = (backward ? n - done - count : done) * pair->size;
        if (heads != NULL) vscan__cpu_heads(heads, done, count, words);
        pass_elements(&course, pair, in + offset, out != NULL ? out + offset : NULL, count,
                      heads != NULL ? words : NULL);
    }
    end_line(&course, pair, out != NULL ? out + (backward ? n - 1 : 0) * pair->size : NULL, total,
             n);
}

void vscan__cpu_run_line(const struct vscan__scan *line, const struct vscan__cpu_pair *pair,
                         const struct vscan__cpu_levels *begin) {
    if (line->flags != NULL)
        run_vector(pair, begin, line->in, line->out, line->n, line->backward != 0,
                   line->exclusive != 0, vscan__cpu_initial(line), line->total, line);
    else
        run_vector(pair, begin, line->in, line->out, line->n, line->backward != 0,
                   line->exclusive != 0, vscan__cpu_initial(line), line->total, NULL);
}

static void run_row(const struct lines *lines, int64_t line) {
    const struct vscan__matrix *matrix = lines->matrix;
    const struct vscan__cpu_pair *pair = lines->pair;
    const int64_t at = line * matrix->line_step;
    if (matrix->heads != NULL) {
        const struct vscan__scan scan = scan_of(matrix, line, pair);
        vscan__cpu_run_line(&scan, pair, &lines->begin);
        return;
    }
    run_vector(pair, &lines->begin, place_in(matrix, matrix->in, at, pair->in_size),
               place_in(matrix, matrix->out, at, pair->size), matrix->length, matrix->backward != 0,
               matrix->exclusive != 0, initial_of(matrix, line, pair->size),
               total_of(matrix, line, pair->size), NULL);
}

/* ---- Columns side by side -------------------------------------------------------------------- */

/* Lines `first` .. first + columns - 1 as columns. */
static void run_band(const struct lines *lines, int64_t first, int64_t columns, const void *in,
                     void *out, int64_t pitch) {
    const struct vscan__matrix *matrix = lines->matrix;
    const struct vscan__cpu_pair *pair = lines->pair;
    const struct vscan__cpu_band band = {.in = in,
                                         .out = out,
                                         .totals = total_of(matrix, first, pair->size),
                                         .initial = initial_of(matrix, first, pair->size),
                                         .initial_step =
                                             matrix->has_initial == 2 ? matrix->initial_step : 0,
                                         .columns = columns,
                                         .rows = matrix->length,
                                         .pitch = pitch,
                                         .backward = matrix->backward != 0,
                                         .exclusive = matrix->exclusive != 0};
    pair->band(&band);
}

/* Columns of one matrix. */
static void run_columns(const struct lines *lines, int64_t first, int64_t columns) {
    const struct vscan__matrix *matrix = lines->matrix;
    const struct vscan__cpu_pair *pair = lines->pair;
    const int64_t at = first / matrix->each * matrix->apart + first % matrix->each;
    run_band(lines, first, columns, place_in(matrix, matrix->in, at, pair->in_size),
             place_in(matrix, matrix->out, at, pair->size), matrix->step);
}

/* ---- Short rows ------------------------------------------------------------------------------ */

static bool has_short_rows(const struct vscan__matrix *matrix, const struct vscan__cpu_pair *pair) {
    return pair->in_size == pair->size && !matrix->columns && matrix->heads == NULL &&
           matrix->length > 0 && matrix->length <= (matrix->out != NULL ? SHORT_SCAN : SHORT_SUM);
}

_Static_assert(SHORT_SUM *(NARROW + APART) <= BLOCK_BYTES, "narrow lines fit");

static int64_t block_line(int64_t length) {
    return length * (WIDE + APART) <= BLOCK_BYTES ? WIDE : NARROW;
}

/* Rows `first` .. first + rows - 1, as many as a line of the block has elements at most. */
#define TRANSPOSE(T)                                                                               \
    static void run_short_rows_##T(const struct lines *lines, int64_t first, int64_t rows) {       \
        T block[BLOCK_BYTES / sizeof(T)];                                                          \
        const struct vscan__matrix *matrix = lines->matrix;                                        \
        const int64_t pitch = matrix->line_step, length = matrix->length;                          \
        const int64_t apart = (block_line(length) + APART) / (int64_t)sizeof(T);                   \
        const T *in = (const T *)matrix->in + first * pitch;                                       \
        for (int64_t j = 0; j < length; j++)                                                       \
            for (int64_t i = 0; i < rows; i++) block[j * apart + i] = in[i * pitch + j];           \
        run_band(lines, first, rows, block, matrix->out != NULL ? block : NULL, apart);            \
        if (matrix->out == NULL) return;                                                           \
        T *out = (T *)matrix->out + first * pitch;                                                 \
        for (int64_t i = 0; i < rows; i++)                                                         \
            for (int64_t j = 0; j < length; j++) out[i * pitch + j] = block[j * apart + i];        \
    }
TRANSPOSE(uint32_t)
TRANSPOSE(uint64_t)
#undef TRANSPOSE

/* ---- Few columns ----------------------------------------------------------------------------- */

static bool has_few_columns(const struct vscan__matrix *matrix,
                            const struct vscan__cpu_pair *pair) {
    return pair->in_size == pair->size && matrix->columns && matrix->each >= 2 &&
           matrix->each <= FEW_COLUMNS && matrix->step == matrix->each &&
           matrix->length >= MANY_ROWS;
}

/* n rows of so many columns, a constant, to vectors that lie a tile apart, or back. */
#define MOVE_ROWS(T, COLUMNS)                                                                      \
    for (int64_t i = 0; i < n; i++)                                                                \
        for (int c = 0; c < (COLUMNS); c++) {                                                      \
            if (back)                                                                              \
                rows[i * (COLUMNS) + c] = vectors[c * tile + i];                                   \
            else                                                                                   \
                vectors[c * tile + i] = rows[i * (COLUMNS) + c];                                   \
        }
#define MOVE(T)                                                                                    \
    static inline __attribute__((always_inline)) void move_##T(                                    \
        T *restrict rows, T *restrict vectors, int64_t n, int64_t tile, int64_t columns,           \
        bool back) {                                                                               \
        if (columns == 2) {                                                                        \
            MOVE_ROWS(T, 2)                                                                        \
        } else if (columns == 3) {                                                                 \
            MOVE_ROWS(T, 3)                                                                        \
        } else {                                                                                   \
            MOVE_ROWS(T, 4)                                                                        \
        }                                                                                          \
    }
MOVE(uint32_t)
MOVE(uint64_t)
#undef MOVE
#undef MOVE_ROWS

static void take_apart(const struct lines *lines, const void *rows, void *vectors, int64_t n) {
    const struct vscan__cpu_pair *pair = lines->pair;
    const int64_t columns = lines->matrix->each;
    if (pair->size == 4)
        move_uint32_t((uint32_t *)(uintptr_t)rows, vectors, n, pair->tile + APART / pair->size,
                      columns, false);
    else
        move_uint64_t((uint64_t *)(uintptr_t)rows, vectors, n, pair->tile + APART / pair->size,
                      columns, false);
}

static void put_together(const struct lines *lines, void *rows, void *vectors, int64_t n) {
    const struct vscan__cpu_pair *pair = lines->pair;
    const int64_t columns = lines->matrix->each;
    if (pair->size == 4)
        move_uint32_t(rows, vectors, n, pair->tile + APART / pair->size, columns, true);
    else
        move_uint64_t(rows, vectors, n, pair->tile + APART / pair->size, columns, true);
}

/* All columns of the matrix that begins with line `first`, a tile of each at a time. */
static void run_few_columns(const struct lines *lines, int64_t first, char *vectors) {
    const struct vscan__matrix *matrix = lines->matrix;
    const struct vscan__cpu_pair *pair = lines->pair;
    const int64_t columns = matrix->each, size = pair->size;
    const int64_t at = first / columns * matrix->apart * size;
    struct course courses[FEW_COLUMNS];
    for (int c = 0; c < columns; c++) {
        courses[c].backward = matrix->backward != 0;
        courses[c].exclusive = matrix->exclusive != 0;
        courses[c].has_total = matrix->totals != NULL;
        begin_line(&courses[c], pair, &lines->begin, initial_of(matrix, first + c, size));
    }
    for (int64_t done = 0; done < matrix->length; done += pair->tile) {
        const int64_t n = vscan__cpu_smaller(matrix->length - done, pair->tile);
        const int64_t row = matrix->backward ? matrix->length - done - n : done;
        const int64_t offset = at + row * columns * size;
        take_apart(lines, (const char *)matrix->in + offset, vectors, n);
        for (int c = 0; c < columns; c++) {
            char *const vector = vectors + c * (pair->tile * size + APART);
            pass_elements(&courses[c], pair, vector, matrix->out != NULL ? vector : NULL, n, NULL);
        }
        if (matrix->out != NULL) put_together(lines, (char *)matrix->out + offset, vectors, n);
    }
    const int64_t begin = at + (matrix->backward ? (matrix->length - 1) * columns * size : 0);
    for (int c = 0; c < columns; c++)
        end_line(&courses[c], pair,
                 matrix->out != NULL ? (char *)matrix->out + begin + c * size : NULL,
                 total_of(matrix, first + c, size), matrix->length);
}

/* ---- Calls ----------------------------------------------------------------------------------- */

static void run_part(void *work, int part, int parts) {
    const struct lines *lines = work;
    const struct vscan__matrix *matrix = lines->matrix;
    const int64_t size = lines->pair->size;
    const struct vscan__modes modes = vscan__set_modes(lines->pair->arithmetic);
    /* columns: whole lines of the cache each, or whole matrices */
    const int64_t grain = lines->vectors != NULL ? matrix->each : matrix->columns ? 64 / size : 1;
    const int64_t grains = (matrix->lines + grain - 1) / grain;
    const int64_t from = grains * part / parts * grain;
    const int64_t to = vscan__cpu_smaller(grains * (part + 1) / parts * grain, matrix->lines);
    const bool is_short = has_short_rows(matrix, lines->pair);
    const int64_t most = (is_short ? block_line(matrix->length) : VSCAN__CPU_BAND) / size;
    int64_t count;
    for (int64_t line = from; line < to; line += count) {
        count = 1;
        if (lines->vectors != NULL) {
            count = matrix->each;
            run_few_columns(lines, line, lines->vectors + (int64_t)VECTORS * part);
        } else if (is_short) {
            count = vscan__cpu_smaller(to - line, most);
            (size == 4 ? run_short_rows_uint32_t : run_short_rows_uint64_t)(lines, line, count);
        } else if (matrix->columns) {
            count = vscan__cpu_smaller(to - line, matrix->each - line % matrix->each);
            count = vscan__cpu_smaller(count, most);
            run_columns(lines, line, count);
        } else {
            run_row(lines, line);
        }
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
            const struct vscan__scan scan = scan_of(matrix, line, pair);
            /* always OK: only what has no out may lack memory */
            (void)(matrix->heads != NULL ? vscan__cpu_scan_segmented(ctx, &scan, pair)
                   : matrix->out != NULL ? vscan__cpu_scan(ctx, &scan, pair)
                                         : vscan__cpu_reduce(ctx, &scan, pair));
        }
        return VSCAN_OK;
    }
    struct lines lines = {matrix, pair, vscan__cpu_begin(pair), NULL};
    threads = vscan__cpu_smaller(threads, matrix->lines);
    if (has_few_columns(matrix, pair)) { /* without memory, in a band */
        threads = vscan__cpu_smaller(threads, matrix->lines / matrix->each);
        lines.vectors =
            vscan__cpu_spare(ctx, VECTORS / VSCAN__CPU_SPARE * (threads < 2 ? 1 : (int)threads));
    }
    vscan__cpu_parallel(threads < 2 ? 1 : (int)threads, run_part, &lines);
    return VSCAN_OK;
}
