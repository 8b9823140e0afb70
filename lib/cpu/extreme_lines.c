/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The maximum or minimum of every row, column or segment, with its position. Rows and segments are vectors; each
 * thread has some adjacent ones. Where there are fewer long rows than threads, all threads work on one row after the
 * other. Columns are gone through abreast, in the order of memory, and so are short rows. Of few columns several rows
 * are abreast, too: the columns of a matrix of m times as many columns and an m-th of the rows, whose results are
 * compared then.
 */
#include "cpu/chunks.h"
#include "cpu/simd/extreme.h"

enum {
    LONG_ROW = 1 << 20,            /* bytes of a row that all threads share if there are fewer rows */
    SHORT_ROW = 96,                /* bytes of rows that are gone through abreast, */
    ROWS_ABREAST = 64,             /* so many */
    NARROW = 16,                   /* fewer columns are few; with gaps so many rows are abreast then */
    AT_ONCE = 1 << 16,             /* elements of a column that numbers of 4 bytes count */
    ABREAST = VSCAN__CPU_ABREAST
};

/* One call. */
struct call {
    const struct vscan__extreme_lines *work;
    const struct vscan__cpu_extremes *loops;
    struct vscan__scan segments; /* by offsets: only those are set */
    int64_t size;
    int64_t least; /* the key of the identity */
    int32_t turn;
    int64_t wrong[VSCAN__CPU_THREADS]; /* each part's first wrong offset, or -1 */
};

static const void *element_at(const struct call *call, int64_t i) {
    return (const char *)call->work->in + i * call->size;
}

/* Of a line whose first element, in memory, is number `first` of in, and whose element number `at`, in memory too, has
   the key. */
static void put(const struct call *call, int64_t line, int64_t key, int64_t at, int64_t first) {
    const struct vscan__extreme_lines *work = call->work;
    const int64_t position = work->in_vector ? first + at * work->step : at;
    if (work->position_type == VSCAN_INT)
        ((int32_t *)work->positions)[line] = (int32_t)position;
    else
        ((int64_t *)work->positions)[line] = position;
    if (work->totals == NULL) return;
    const int64_t element =
        vscan__extreme_element(key, call->turn, VSCAN__IS_REAL(work->type), call->size);
    if (call->size == 4)
        ((int32_t *)work->totals)[line] = (int32_t)element;
    else
        ((int64_t *)work->totals)[line] = element;
}

#define PUT_ALL(vector, narrow, value)                                                             \
    do {                                                                                           \
        int32_t *const ints = (int32_t *)(vector) + line;                                          \
        int64_t *const longs = (int64_t *)(vector) + line;                                         \
        if (narrow)                                                                                \
            EACH(j, lines) ints[j] = (int32_t)(value);                                             \
        else                                                                                       \
            EACH(j, lines) longs[j] = (value);                                                     \
    } while (0)

/* A part of n lines. */
static int64_t first_of(int64_t n, int part, int parts) {
    return n / parts * part + n % parts * part / parts;
}

/* The same of so many rows or columns from this one on. Numbers count in the direction. */
static void put_all(const struct call *call, int64_t line, int64_t first, int64_t lines,
                    const int64_t *keys, const int64_t *numbers) {
    const struct vscan__extreme_lines *work = call->work;
    const bool real = VSCAN__IS_REAL(work->type);
    const int64_t sign = work->backward ? -1 : 1;
    const int64_t step = sign * (work->in_vector ? work->step : 1);
    const int64_t next = work->in_vector ? work->line_step : 0;
    int64_t begin = work->in_vector ? first : 0;
    if (work->backward) begin -= (work->length - 1) * step;
    PUT_ALL(work->positions, work->position_type == VSCAN_INT, begin + j * next + numbers[j] * step);
    if (work->totals != NULL)
        PUT_ALL(work->totals, call->size == 4,
                vscan__extreme_element(keys[j], call->turn, real, call->size));
}

/* ---- Columns --------------------------------------------------------------------------------- */

/* As `abreast`, of any length. */
static void go_abreast(const struct call *call, int64_t first, int64_t line_step, int64_t step,
                       int64_t lines, int64_t length, int64_t *keys, int64_t *numbers) {
    int64_t later[ABREAST], later_numbers[ABREAST];
    call->loops->abreast(element_at(call, first), line_step, step, lines,
                         vscan__cpu_smaller(length, AT_ONCE), call->turn, keys, numbers);
    for (int64_t at = AT_ONCE; at < length; at += AT_ONCE) {
        call->loops->abreast(element_at(call, first + at * step), line_step, step, lines,
                             vscan__cpu_smaller(length - at, AT_ONCE), call->turn, later,
                             later_numbers);
        for (int64_t j = 0; j < lines; j++)
            if (later[j] > keys[j]) keys[j] = later[j], numbers[j] = at + later_numbers[j];
    }
}

/* Few columns, of m elements or more, with m rows abreast: without gaps all columns, with gaps one. */
static void go_folded(const struct call *call, int64_t first, int64_t lines, int64_t m,
                      int64_t *keys, int64_t *numbers) {
    const struct vscan__extreme_lines *work = call->work;
    const bool backward = work->backward != 0;
    const int64_t step = work->step, folds = work->length / m, left = work->length % m;
    int64_t all[ABREAST], all_numbers[ABREAST];
    go_abreast(call, first + (backward ? (work->length - m) * step : 0), lines > 1 ? 1 : step,
               backward ? -m * step : m * step, lines * m, folds, all, all_numbers);
    for (int64_t j = 0; j < lines * m; j++) {
        const int64_t row = j / lines, c = j % lines;
        const int64_t k = all_numbers[j] * m + (backward ? m - 1 - row : row);
        if (row > 0 && (all[j] < keys[c] || (all[j] == keys[c] && k > numbers[c]))) continue;
        keys[c] = all[j];
        numbers[c] = k;
    }
    if (left == 0) return;
    go_abreast(call, first + (backward ? left - 1 : work->length - left) * step, 1,
               backward ? -step : step, lines, left, all, all_numbers);
    for (int64_t c = 0; c < lines; c++)
        if (all[c] > keys[c]) keys[c] = all[c], numbers[c] = folds * m + all_numbers[c];
}

static void columns_part(void *of, int part, int parts) {
    const struct call *call = of;
    const struct vscan__extreme_lines *work = call->work;
    const int64_t end = first_of(work->lines, part + 1, parts);
    int64_t keys[ABREAST], numbers[ABREAST];
    for (int64_t line = first_of(work->lines, part, parts), lines; line < end; line += lines) {
        const int64_t column = line % work->each;
        const int64_t first = line / work->each * work->apart + column;
        lines = vscan__cpu_smaller(vscan__cpu_smaller(end - line, work->each - column), ABREAST);
        const bool dense = lines > 1 && lines == work->step;
        const int64_t m = dense ? ABREAST / lines : NARROW;
        if (lines < NARROW && work->length >= m) {
            if (!dense) lines = 1;
            go_folded(call, first, lines, m, keys, numbers);
        } else {
            const int64_t last = (work->length - 1) * work->step;
            go_abreast(call, first + (work->backward ? last : 0), 1,
                       work->backward ? -work->step : work->step, lines, work->length, keys,
                       numbers);
        }
        put_all(call, line, first, lines, keys, numbers);
    }
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static void rows_part(void *of, int part, int parts) {
    const struct call *call = of;
    const struct vscan__extreme_lines *work = call->work;
    const int64_t end = first_of(work->lines, part + 1, parts), length = work->length;
    int64_t keys[ROWS_ABREAST], numbers[ROWS_ABREAST];
    for (int64_t line = first_of(work->lines, part, parts), lines; line < end; line += lines) {
        const int64_t first = line * work->line_step;
        if (length * call->size > SHORT_ROW) {
            lines = 1;
            const int64_t at = call->loops->best(element_at(call, first), length,
                                                 work->backward != 0, call->turn, keys);
            put(call, line, keys[0], at, first);
            continue;
        }
        lines = vscan__cpu_smaller(end - line, ROWS_ABREAST);
        call->loops->abreast(element_at(call, first + (work->backward ? length - 1 : 0)),
                             work->line_step, work->backward ? -1 : 1, lines, length, call->turn,
                             keys, numbers);
        put_all(call, line, first, lines, keys, numbers);
    }
}

/* One row after the other, each by all threads. */
static void each_row(vscan_ctx *ctx, const struct call *call) {
    const struct vscan__extreme_lines *work = call->work;
    const int64_t of_position = work->position_type == VSCAN_INT ? 4 : 8;
    for (int64_t line = 0; line < work->lines; line++) {
        const int64_t first = line * work->line_step;
        char *const positions =
            (char *)work->positions + (work->scan != 0 ? first : line) * of_position;
        const struct vscan__extreme row = {
            .n = work->length,
            .in = element_at(call, first),
            .out = work->out != NULL ? (char *)work->out + first * call->size : NULL,
            .positions = work->scan != 0 ? positions : NULL,
            .total = work->totals != NULL ? (char *)work->totals + line * call->size : NULL,
            .position = work->scan != 0 ? NULL : positions,
            .type = work->type,
            .position_type = work->position_type,
            .min = work->min,
            .backward = work->backward};
        vscan__cpu_extreme_from(ctx, &row, work->in_vector != 0 ? first : 0);
    }
}

/* ---- Scans ----------------------------------------------------------------------------------- */

/* Of lines from that element on, which has that position. */
static struct vscan__cpu_running running_of(const struct call *call, int64_t first,
                                            int64_t position) {
    const struct vscan__extreme_lines *work = call->work;
    const bool wide = work->position_type == VSCAN_LONG;
    return (struct vscan__cpu_running){
        .in = element_at(call, first),
        .out = work->out != NULL ? (char *)work->out + first * call->size : NULL,
        .positions = (char *)work->positions + first * (wide ? 8 : 4),
        .n = work->length,
        .position = position,
        .turn = call->turn,
        .backward = work->backward != 0,
        .wide = wide};
}

static void scan_rows_part(void *of, int part, int parts) {
    const struct call *call = of;
    const struct vscan__extreme_lines *work = call->work;
    const int64_t from = first_of(work->lines, part, parts);
    const int64_t first = from * work->line_step;
    const bool in_vector = work->in_vector != 0;
    const struct vscan__cpu_running running = running_of(call, first, in_vector ? first : 0);
    call->loops->scan_lines(&running, first_of(work->lines, part + 1, parts) - from,
                            work->line_step, in_vector ? work->line_step : 0);
}

static void scan_columns_part(void *of, int part, int parts) {
    const struct call *call = of;
    const struct vscan__extreme_lines *work = call->work;
    const int64_t end = first_of(work->lines, part + 1, parts);
    const int64_t sign = work->backward != 0 ? -1 : 1;
    const int64_t begin = work->backward != 0 ? work->length - 1 : 0;
    const bool in_vector = work->in_vector != 0;
    for (int64_t line = first_of(work->lines, part, parts), lines; line < end; line += lines) {
        const int64_t column = line % work->each;
        const int64_t first = line / work->each * work->apart + column + begin * work->step;
        lines = vscan__cpu_smaller(vscan__cpu_smaller(end - line, work->each - column), ABREAST);
        const struct vscan__cpu_running running =
            running_of(call, first, in_vector ? first : begin);
        call->loops->scan_columns(&running, sign * work->step, lines,
                                  sign * (in_vector ? work->step : 1), in_vector);
    }
}

/* ---- Segments -------------------------------------------------------------------------------- */

/* Positions of wrong segments may be anything. */
static void segments_part(void *of, int part, int parts) {
    struct call *call = of;
    const struct vscan__extreme_lines *work = call->work;
    const struct vscan__scan *segments = &call->segments;
    const uint64_t all = (uint64_t)work->n + VSCAN__CPU_SEGMENT * (uint64_t)work->lines;
    const uint64_t each = all / (uint64_t)parts;
    const int64_t from =
        part == 0 ? 0 : vscan__cpu_segments_before(segments, each * (uint64_t)part);
    const int64_t to = part == parts - 1
                           ? work->lines
                           : vscan__cpu_segments_before(segments, each * (uint64_t)(part + 1));
    call->wrong[part] = -1;
    for (int64_t k = from; k < to; k++) {
        const int64_t begin = vscan__cpu_offset(segments, k);
        const int64_t end = vscan__cpu_offset(segments, k + 1);
        if (begin < 0 || end < begin || end > work->n) {
            if (call->wrong[part] < 0)
                call->wrong[part] = k == 0 && (uint64_t)begin > (uint64_t)work->n ? 0 : k + 1;
            continue;
        }
        int64_t key = call->least;
        if (begin == end) {
            put(call, k, key, -1, 0);
            continue;
        }
        const int64_t at = call->loops->best(element_at(call, begin), end - begin,
                                             work->backward != 0, call->turn, &key);
        put(call, k, key, at, begin);
    }
}

/* ---- Calls ----------------------------------------------------------------------------------- */

static vscan_status run_segments(vscan_ctx *ctx, struct call *call) {
    const struct vscan__extreme_lines *work = call->work;
    call->segments = (struct vscan__scan){.n = work->n,
                                          .totals_length = work->lines,
                                          .offsets = work->offsets,
                                          .offset_type = work->offset_type};
    const int64_t begin = vscan__cpu_offset(&call->segments, 0);
    if (begin < 0 || begin > work->n) vscan__cpu_note_late(ctx, VSCAN_ERROR_OFFSETS, 0);
    const int threads =
        vscan__cpu_threads(ctx, (work->n + VSCAN__CPU_SEGMENT * work->lines) / (WORTH / call->size));
    vscan__cpu_parallel(threads, segments_part, call);
    for (int t = 0; t < threads; t++)
        if (call->wrong[t] >= 0) vscan__cpu_note_late(ctx, VSCAN_ERROR_OFFSETS, call->wrong[t]);
    return VSCAN_OK;
}

vscan_status vscan__cpu_extreme_lines(vscan_ctx *ctx, const struct vscan__extreme_lines *work) {
    struct call call; /* not set as a whole, which would take longer than a small call */
    call.work = work;
    call.loops = extremes_of(ctx, work->type);
    call.size = vscan__element_size((vscan_type)work->type);
    call.turn = work->min != 0 ? -1 : 0;
    call.least = work->type == VSCAN_FLOAT    ? ~(int64_t)0x7f800000
                 : work->type == VSCAN_DOUBLE ? ~INT64_C(0x7ff0000000000000)
                 : call.size == 4             ? INT32_MIN
                                              : INT64_MIN;
    if (work->offsets != NULL) return run_segments(ctx, &call);
    const bool is_vector = work->lines == 1 && work->step == 1;
    int threads = 1;
    if (!is_vector)
        threads = vscan__cpu_threads(ctx, work->lines * work->length / (WORTH / call.size));
    if (work->columns && threads > work->lines / NARROW) /* no band is narrow */
        threads = work->lines < NARROW ? 1 : (int)(work->lines / NARROW);
    if (is_vector ||
        (!work->columns && work->lines < threads && work->length >= LONG_ROW / call.size))
        each_row(ctx, &call);
    else if (work->scan)
        vscan__cpu_parallel(threads, work->columns ? scan_columns_part : scan_rows_part, &call);
    else
        vscan__cpu_parallel(threads, work->columns ? columns_part : rows_part, &call);
    return VSCAN_OK;
}
