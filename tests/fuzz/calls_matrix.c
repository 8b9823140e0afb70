/* SPDX-License-Identifier: Apache-2.0 */
/* Scans and reductions of rows and of columns, of one matrix or several, segmented scans of rows, and maxima and minima
   of rows and columns with positions. */
#include <string.h>

#include "extreme_reference.h"
#include "fuzz.h"
#include "reference.h"

struct matrix {
    int op, kind, direction;
    int64_t rows, columns, pitch; /* pitch as passed: 0 is columns */
    int64_t matrices;             /* as passed: 0 is one */
    struct arg in, heads, to, initial_buffer, totals;
    const void *initial, *options;
    bool reduce, by_columns, segmented;
    bool grouped; /* rows, by offsets */
    struct arg offsets;
};

static int64_t matrices_of(const struct matrix *m) {
    return m->matrices == 0 ? 1 : m->matrices;
}

/* All lines; those of a shape that is refused may be any number. */
static int64_t lines_in(const struct matrix *m) {
    int64_t lines;
    if (__builtin_mul_overflow(matrices_of(m), m->by_columns ? m->columns : m->rows, &lines))
        return -1;
    return lines;
}

static int64_t pitch_of(const struct matrix *m) {
    return m->pitch == 0 ? m->columns : m->pitch;
}

/* Elements from the first to the last; refuses shapes that are none. */
static int64_t check_shape(const struct matrix *m) {
    if (m->rows < 0 || m->columns < 0) refuse(VSCAN_ERROR_LENGTH);
    if (pitch_of(m) < m->columns || m->matrices < 0) refuse(VSCAN_ERROR_VALUE);
    if (m->rows < 0 || m->columns < 0 || pitch_of(m) < m->columns || m->matrices < 0) return 0;
    __extension__ typedef __int128 wide;
    const wide rows = (wide)matrices_of(m) * m->rows, columns = (wide)matrices_of(m) * m->columns;
    if (rows > INT64_MAX || columns > INT64_MAX) refuse(VSCAN_ERROR_OVERFLOW);
    if (m->rows == 0 || m->columns == 0 || rows > INT64_MAX || columns > INT64_MAX) return 0;
    const wide all = (rows - 1) * pitch_of(m) + m->columns;
    if (all <= INT64_MAX) return (int64_t)all;
    refuse(VSCAN_ERROR_OVERFLOW);
    return 0;
}

/* Of results: in's, or long of a sum of ints, where in is a buffer. */
static vscan_type results_of(const struct matrix *m) {
    const bool longs = m->reduce && m->op == VSCAN_PLUS && m->in.b->type == VSCAN_INT &&
                       m->to.b != NULL && m->to.b->type == VSCAN_LONG;
    return longs ? VSCAN_LONG : m->in.b->type;
}

static void check_lines(struct arg a, const struct matrix *m, int64_t lines) {
    if (m->in.b != NULL) check_type(a, TYPES(results_of(m)));
    check_length(a, lines);
}

static void draw_shape(struct matrix *m) {
    const int64_t n = length_drawn();
    static const int64_t usual[] = {1, 2, 3, 31, 33, 100, 1024, 5000};
    m->columns = below(4) ? usual[below(8)] : below(n + 1);
    if (m->columns > n && m->columns > 0) m->columns = n;
    m->rows = m->columns > 0 ? n / m->columns : below(5);
    if (below(2)) {
        const int64_t t = m->rows;
        m->rows = m->columns;
        m->columns = t;
    }
    m->pitch = below(2) ? 0 : m->columns + below(20);
    m->matrices = below(3) ? 0 : below(5);
    if (m->matrices > 1) m->rows /= m->matrices;
}

/* A shape, and a vector that has it; how many lines. */
static int64_t draw_in(struct matrix *m, vscan_type type) {
    draw_shape(m);
    const int64_t n = m->rows > 0 && m->columns > 0
                          ? (matrices_of(m) * m->rows - 1) * pitch_of(m) + m->columns
                          : below(50);
    m->in = vector_drawn(type, n + (below(4) == 0 ? below(40) : 0), VALUES);
    return lines_in(m);
}

static void hostile_shape(struct matrix *m) {
    if (hostile()) m->rows = hostile_number(m->rows);
    if (hostile()) m->columns = hostile_number(m->columns);
    if (hostile()) m->pitch = hostile_number(m->columns);
    if (hostile()) m->matrices = hostile_number(2);
}

/* The number of the first element of a line that has some: without any, multiples of a pitch may be beyond 63 bits. */
static int64_t first_of(const struct matrix *m, int64_t l) {
    return m->by_columns ? l / m->columns * m->rows * pitch_of(m) + l % m->columns
                         : l * pitch_of(m);
}

/* The results of all lines, in copies of the vectors. */
static void lines_of(const struct matrix *m, char *out, char *totals) {
    const vscan_type type = results_of(m);
    const int64_t size = bytes_of(type, 1);
    const bool widens = type != m->in.b->type;
    const int64_t lines = lines_in(m);
    const int64_t length = m->by_columns ? m->rows : m->columns;
    const int64_t step = m->by_columns ? pitch_of(m) : 1;
    const char *const in = (const char *)shadow_of(m->in.b);
    if (lines == 0 || (length == 0 && totals == NULL)) return; /* the other one may be any number */
    char *const line = scratch(length * size + 8), *const result = scratch(length * size + 8);
    const uint8_t *const heads = m->segmented ? flags_of(m->heads) : NULL;
    for (int64_t l = 0; l < lines; l++) {
        const int64_t first = length > 0 ? first_of(m, l) : 0;
        const void *z = m->initial;
        if (m->initial_buffer.handle != NULL)
            z = shadow_of(m->initial_buffer.b) + (m->initial_buffer.b->n != 1 ? l * size : 0);
        for (int64_t i = 0; i < length; i++)
            if (widens)
                ((int64_t *)(void *)line)[i] =
                    ((const int32_t *)(const void *)in)[first + i * step];
            else
                memcpy(line + i * size, in + (first + i * step) * size, (size_t)size);
        struct reference r = {.op = (vscan_op)m->op,
                              .type = type,
                              .n = length,
                              .in = line,
                              .flags = m->segmented ? heads + first : NULL,
                              .initial = z,
                              .exclusive = m->kind != 0,
                              .backward = m->direction != 0,
                              .out = result,
                              .total = totals != NULL ? totals + l * size : NULL};
        if (m->segmented && length > 0 && totals != NULL) { /* the last inclusive result */
            struct reference inclusive = r;
            inclusive.exclusive = false;
            inclusive.total = r.total = NULL;
            reference_scan(&inclusive);
            memcpy(totals + l * size, result + (r.backward ? 0 : length - 1) * size, (size_t)size);
        } else if (length == 0) {
            r.flags = NULL;
        }
        reference_scan(&r);
        for (int64_t i = 0; i < length && out != NULL; i++)
            memcpy(out + (first + i * step) * size, result + i * size, (size_t)size);
    }
}

/* The totals of all groups of rows; false where offsets are not in order. */
static bool groups_of(const struct matrix *m, char *totals) {
    const vscan_type type = m->in.b->type;
    const int64_t size = bytes_of(type, 1), pitch = pitch_of(m), groups = m->offsets.b->n - 1;
    char *const line = scratch((m->columns > 0 ? m->rows : 0) * size + 8);
    int64_t before = 0;
    for (int64_t k = 0; k <= groups && m->columns > 0; k++) {
        const int64_t at = number_at(m->offsets.b->type, shadow_of(m->offsets.b), k);
        if (at < before || at > m->rows) return false;
        for (int64_t c = 0; k > 0 && c < m->columns; c++) {
            for (int64_t i = before; i < at; i++)
                memcpy(line + (i - before) * size,
                       (const char *)shadow_of(m->in.b) + (i * pitch + c) * size, (size_t)size);
            const void *z = m->initial;
            if (m->initial_buffer.handle != NULL)
                z = shadow_of(m->initial_buffer.b) + (m->initial_buffer.b->n != 1 ? c * size : 0);
            struct reference r = {.op = (vscan_op)m->op,
                                  .type = type,
                                  .n = at - before,
                                  .in = line,
                                  .initial = z,
                                  .backward = m->direction != 0,
                                  .total = totals + ((k - 1) * m->columns + c) * size};
            reference_scan(&r);
        }
        before = at;
    }
    return true;
}

static void check_groups(const struct matrix *m) {
    int64_t length;
    if (m->matrices > 1) refuse(VSCAN_ERROR_VALUE);
    check_buffer(m->offsets);
    check_type(m->offsets, INTEGERS);
    check_apart(m->to, m->offsets);
    if (m->in.b != NULL) check_type(m->to, TYPES(m->in.b->type));
    if (m->offsets.b == NULL) return;
    if (m->offsets.b->n < 1 || __builtin_mul_overflow(m->offsets.b->n - 1, m->columns, &length))
        refuse(VSCAN_ERROR_LENGTH);
    else
        check_length(m->to, length);
}

static void check_vectors(const struct matrix *m) {
    const int64_t elements = check_shape(m);
    const int64_t lines = lines_in(m);
    const struct arg none = {NULL, NULL}, out = m->reduce ? none : m->to;
    const struct arg totals = m->reduce ? m->to : m->totals;
    check_buffer(m->in);
    check_buffer(m->to);
    check_pair(m->op, m->in);
    if (m->in.b != NULL && m->in.b->n < elements) refuse(VSCAN_ERROR_LENGTH);
    check_like(out, m->in);
    check_same_or_apart(out, m->in);
    if (m->segmented) check_flags(m->heads, m->in, out);
    if (m->initial_buffer.handle != NULL) {
        check_buffer(m->initial_buffer);
        if (m->initial_buffer.b != NULL && m->initial_buffer.b->n != 1)
            check_lines(m->initial_buffer, m, lines);
        if (m->in.b != NULL) check_type(m->initial_buffer, TYPES(results_of(m)));
        check_apart(m->initial_buffer, out);
    }
    if (m->initial != NULL && m->initial_buffer.handle != NULL) refuse(VSCAN_ERROR_VALUE);
    if (totals.handle == NULL) return;
    check_buffer(totals);
    if (m->grouped)
        check_groups(m);
    else
        check_lines(totals, m, lines);
    check_apart(totals, m->in);
    check_apart(totals, out);
    check_apart(totals, m->initial_buffer);
    if (m->segmented) check_apart(totals, m->heads);
}

static void draw(struct matrix *m, bool reduce, bool by_columns, bool segmented, bool grouped) {
    context_drawn();
    *m = (struct matrix){
        .reduce = reduce, .by_columns = by_columns, .segmented = segmented, .grouped = grouped};
    m->op = enum_drawn(VSCAN_PLUS, LAST_OP, VSCAN_ERROR_ENUM);
    m->direction = enum_drawn(VSCAN_FORWARD, VSCAN_BACKWARD, VSCAN_ERROR_ENUM);
    if (!reduce) m->kind = enum_drawn(VSCAN_INCLUSIVE, VSCAN_EXCLUSIVE, VSCAN_ERROR_ENUM);
    const vscan_type type = type_drawn(SCANNED);
    const bool ints = reduce && !grouped && m->op == VSCAN_PLUS && type == VSCAN_LONG && below(2);
    int64_t lines = draw_in(m, ints ? VSCAN_INT : type);
    if (grouped) {
        m->matrices = below(2);
        m->offsets = offsets_drawn(type_drawn(INTEGERS), m->rows);
        lines = lines_in(m);
    }
    const int64_t totals_length = grouped ? (length_of(m->offsets, 1) - 1) * m->columns : lines;
    m->to =
        reduce ? vector_drawn(type, totals_length, OPEN) : output_drawn(type, length_of(m->in, 0), &m->in);
    if (segmented) m->heads = vector_drawn(type_drawn(FLAG_TYPES), length_of(m->in, 0), FLAGS);
    const int64_t way = below(4);
    const bool two = hostile();
    const vscan_type given = m->in.b != NULL ? results_of(m) : type;
    if (way == 1 || two) m->initial = value_drawn(given, true);
    if (way == 2 || two) m->initial_buffer = vector_drawn(type, below(2) ? 1 : lines, VALUES);
    if (!reduce && below(2)) m->totals = vector_drawn(type, lines, OPEN);
    hostile_shape(m);
    if (reduce && hostile()) m->kind = VSCAN_EXCLUSIVE;
    if (reduce && hostile()) m->totals = vector_drawn(type, lines, OPEN);
    if (reduce && (m->kind != 0 || m->totals.handle != NULL)) refuse(VSCAN_ERROR_VALUE);
    check_vectors(m);
    const vscan_matrix_options o = {.size = sizeof o,
                                    .kind = m->kind,
                                    .direction = m->direction,
                                    .pitch = m->pitch,
                                    .initial = option_value(given, m->initial),
                                    .initial_buffer = m->initial_buffer.handle,
                                    .totals = m->totals.handle,
                                    .matrices = m->matrices};
    m->options = options_drawn(&o, sizeof o);
    if (!right()) return;
    const struct arg totals = reduce ? m->to : m->totals;
    if (grouped) {
        char *const all = copy_of(totals);
        const bool in_order = groups_of(m, all);
        if (!in_order) expect_late(VSCAN_ERROR_OFFSETS);
        expect(totals, in_order ? all : NULL);
        return;
    }
    char *const out = reduce ? NULL : copy_of(m->to);
    char *const sums = totals.handle != NULL ? copy_of(totals) : NULL;
    lines_of(m, out, sums);
    if (!reduce) expect(m->to, out);
    if (sums != NULL) expect(totals, sums);
}

#define MATRIX(name, reduce, by_columns)                                                           \
    void fuzz_##name(void) {                                                                       \
        struct matrix m;                                                                           \
        draw(&m, reduce, by_columns, false, false);                                                       \
        MAKE(vscan_##name, (call.ctx_handle, (vscan_op)m.op, m.in.handle, m.rows, m.columns,       \
                            m.to.handle, m.options));                                              \
    }
MATRIX(scan_rows, false, false)
MATRIX(scan_columns, false, true)
MATRIX(reduce_rows, true, false)
MATRIX(reduce_columns, true, true)

void fuzz_scan_rows_segmented(void) {
    struct matrix m;
    draw(&m, false, false, true, false);
    MAKE(vscan_scan_rows_segmented, (call.ctx_handle, (vscan_op)m.op, m.in.handle, m.heads.handle,
                                     m.rows, m.columns, m.to.handle, m.options));
}

void fuzz_reduce_columns_by_offsets(void) {
    struct matrix m;
    draw(&m, true, true, false, true);
    MAKE(vscan_reduce_columns_by_offsets,
         (call.ctx_handle, (vscan_op)m.op, m.in.handle, m.offsets.handle, m.rows, m.columns,
          m.to.handle, m.options));
}

/* Maxima or minima of lines, with positions; all options but their size. */
static vscan_extreme_lines_options draw_extreme(struct matrix *m, bool by_columns, bool reduce) {
    context_drawn();
    *m = (struct matrix){.by_columns = by_columns};
    m->op = enum_drawn(VSCAN_MAX, VSCAN_MIN, VSCAN_ERROR_ENUM);
    m->direction = enum_drawn(VSCAN_FORWARD, VSCAN_BACKWARD, VSCAN_ERROR_ENUM);
    const vscan_type type = type_drawn(NUMBERS);
    const int64_t lines = draw_in(m, type), n = reduce ? lines : length_of(m->in, 0);
    m->to = vector_drawn(type_drawn(INTEGERS), n, OPEN);
    if (below(4))
        m->totals = reduce ? vector_drawn(type, n, OPEN) : output_drawn(type, n, &m->in);
    hostile_shape(m);
    int32_t in_vector = (int32_t)below(2);
    if (hostile()) in_vector = 2 + (int32_t)below(200);
    if (in_vector > 1) refuse(VSCAN_ERROR_VALUE);
    const int64_t elements = check_shape(m), length = by_columns ? m->rows : m->columns;
    check_buffer(m->in);
    check_buffer(m->to);
    check_type(m->in, NUMBERS);
    if (m->op != VSCAN_MAX && m->op != VSCAN_MIN) refuse(VSCAN_ERROR_ENUM);
    if (m->in.b != NULL && m->in.b->n < elements) refuse(VSCAN_ERROR_LENGTH);
    check_countable(m->to, in_vector && m->in.b != NULL ? m->in.b->n : length);
    check_apart(m->to, m->in);
    return (vscan_extreme_lines_options){.size = sizeof(vscan_extreme_lines_options),
                                         .direction = m->direction,
                                         .in_vector = in_vector,
                                         .pitch = m->pitch,
                                         .matrices = m->matrices};
}

/* The elements of a line whose first one has that number, to `line`. */
static void gather_line(const struct matrix *m, int64_t first, int64_t length, char *line) {
    const int64_t size = bytes_of(m->in.b->type, 1), step = m->by_columns ? pitch_of(m) : 1;
    for (int64_t i = 0; i < length; i++)
        memcpy(line + i * size, shadow_of(m->in.b) + (first + i * step) * size, (size_t)size);
}

static void draw_reduce_extreme(struct matrix *m, bool by_columns) {
    const vscan_extreme_lines_options o = draw_extreme(m, by_columns, true);
    const int64_t lines = lines_in(m), length = by_columns ? m->rows : m->columns;
    check_length(m->to, lines);
    if (m->totals.handle != NULL) {
        check_buffer(m->totals);
        check_lines(m->totals, m, lines);
        check_apart(m->totals, m->in);
        check_apart(m->totals, m->to);
    }
    m->options = options_drawn(&o, sizeof o);
    if (!right()) return;
    const vscan_type given = m->in.b->type;
    const int64_t size = bytes_of(given, 1), step = by_columns ? pitch_of(m) : 1;
    char *const line = scratch((lines > 0 ? length : 0) * size + 8), *const at = copy_of(m->to);
    char *const totals = m->totals.handle != NULL ? copy_of(m->totals) : NULL;
    for (int64_t l = 0; l < lines; l++) {
        const int64_t first = length > 0 ? first_of(m, l) : 0;
        gather_line(m, first, length, line);
        const int64_t best = extreme_expected((vscan_op)m->op, given, length, line,
                                              m->direction != 0,
                                              totals != NULL ? totals + l * size : NULL);
        extreme_put_position(m->to.b->type, at, l,
                             best >= 0 && o.in_vector ? first + best * step : best);
    }
    expect(m->to, at);
    if (totals != NULL) expect(m->totals, totals);
}

static void draw_scan_extreme(struct matrix *m, bool by_columns) {
    const vscan_extreme_lines_options o = draw_extreme(m, by_columns, false);
    const int64_t lines = lines_in(m), length = by_columns ? m->rows : m->columns;
    if (m->in.b != NULL) check_length(m->to, m->in.b->n);
    if (m->totals.handle != NULL) {
        check_buffer(m->totals);
        if (m->in.b != NULL) check_lines(m->totals, m, m->in.b->n);
        check_same_or_apart(m->totals, m->in);
        check_apart(m->totals, m->to);
    }
    m->options = options_drawn(&o, sizeof o);
    if (!right()) return;
    const vscan_type given = m->in.b->type;
    const int64_t size = bytes_of(given, 1), step = by_columns ? pitch_of(m) : 1;
    const int64_t all = lines > 0 ? length : 0;
    char *const line = scratch(all * size + 8), *const scanned = scratch(all * size + 8);
    int64_t *const places = scratch(all * 8 + 8);
    char *const at = copy_of(m->to), *out = NULL;
    if (m->totals.handle != NULL) out = copy_of(m->totals);
    for (int64_t l = 0; all > 0 && l < lines; l++) {
        const int64_t first = first_of(m, l);
        gather_line(m, first, length, line);
        extreme_reference((vscan_op)m->op, given, length, line, m->direction != 0, scanned,
                          VSCAN_LONG, places);
        for (int64_t i = 0; i < length; i++) {
            const int64_t k = first + i * step;
            if (out != NULL) memcpy(out + k * size, scanned + i * size, (size_t)size);
            extreme_put_position(m->to.b->type, at, k,
                                 o.in_vector ? first + places[i] * step : places[i]);
        }
    }
    expect(m->to, at);
    if (out != NULL) expect(m->totals, out);
}

#define EXTREME(name, draw, by_columns)                                                            \
    void fuzz_##name(void) {                                                                       \
        struct matrix m;                                                                           \
        draw(&m, by_columns);                                                                      \
        MAKE(vscan_##name, (call.ctx_handle, (vscan_op)m.op, m.in.handle, m.rows, m.columns,       \
                            m.totals.handle, m.to.handle, m.options));                             \
    }
EXTREME(reduce_extreme_rows, draw_reduce_extreme, false)
EXTREME(reduce_extreme_columns, draw_reduce_extreme, true)
EXTREME(scan_extreme_rows, draw_scan_extreme, false)
EXTREME(scan_extreme_columns, draw_scan_extreme, true)
