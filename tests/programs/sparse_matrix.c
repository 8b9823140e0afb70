/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sparse matrix times vector, y = A x, with A in the compressed sparse row format (CSR): the
 * entries that are not 0, row after row, the column of each, and where each row begins.
 *
 * Three steps on vectors with one element for every entry: gather the x of each entry's column,
 * multiply the entries by them, and sum the products of each row, a segment, by a segmented sum. It
 * does not matter how unlike the rows are: one long row and many empty ones take no longer than
 * rows of one length. The serial version adds up the entries in the order in which they were read.
 * Both sums of the k products of a row have an error of at most (k - 1) epsilon / 2 times the sum
 * of their magnitudes (Higham, Accuracy and Stability of Numerical Algorithms, 2002, ch. 4), so
 * they may differ by twice that. A row's sum depends on its own entries alone: with the rows in another
 * order all results have the same bits, which is checked. Literature: Blelloch, Heroux and Zagha, Segmented Operations for
 * Sparse Matrix Computation on Vector Multiprocessors, 1993; the format of the file: Boisvert, Pozo
 * and Remington, The Matrix Market Exchange Formats: Initial Design, 1996.
 *
 *     sparse_matrix [FILE.mtx [seed]]      x is random; without a file, a grid's Poisson matrix
 *     sparse_matrix --poisson SIDE [seed]  of SIDE x SIDE points, 256 if not given
 */
#include <ctype.h>
#include <errno.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program.h"

/* Entries as they come, and the same as CSR. */
struct entry {
    int32_t row, column; /* from 0 */
    double value;
};

struct matrix {
    int32_t rows, columns;
    int64_t count, room;
    struct entry *entries;
    int64_t *offsets; /* where each row begins, and the last one ends */
    int32_t *row_columns;
    double *values;
};

static void add_entry(struct matrix *a, int64_t row, int64_t column, double value) {
    if (a->count == a->room) {
        a->room = a->room ? 2 * a->room : 1024;
        struct entry *more = realloc(a->entries, (size_t)a->room * sizeof *more);
        if (!more) {
            fprintf(stderr, "no memory for %" PRId64 " entries\n", a->room);
            exit(1);
        }
        a->entries = more;
    }
    a->entries[a->count++] = (struct entry){(int32_t)row, (int32_t)column, value};
}

/* A stable counting sort by rows. */
static void make_rows(struct matrix *a) {
    a->offsets = allocate((int64_t)a->rows + 1, sizeof *a->offsets);
    a->row_columns = allocate(a->count, sizeof *a->row_columns);
    a->values = allocate(a->count, sizeof *a->values);
    for (int64_t e = 0; e < a->count; e++) a->offsets[a->entries[e].row]++;
    int64_t end = 0;
    for (int32_t row = 0; row <= a->rows; row++) {
        int64_t begin = end;
        if (row < a->rows) end += a->offsets[row];
        a->offsets[row] = begin;
    }
    for (int64_t e = 0; e < a->count; e++) {
        int64_t place = a->offsets[a->entries[e].row]++;
        a->row_columns[place] = a->entries[e].column;
        a->values[place] = a->entries[e].value;
    }
    for (int32_t row = a->rows; row > 0; row--) a->offsets[row] = a->offsets[row - 1];
    a->offsets[0] = 0;
}

/* ---- Matrix Market files --------------------------------------------------------------------- */

struct reader {
    const char *program, *path;
    FILE *file;
    int64_t line;        /* number of the line in text, from 1 */
    char text[1024 + 2]; /* no line of the format is longer */
};

/* Reads a line, without its end; false at the end of the file. */
static bool next_line(struct reader *r) {
    r->line++;
    if (!fgets(r->text, sizeof r->text, r->file)) {
        if (ferror(r->file)) refuse(r->program, "%s cannot be read: %s", r->path, strerror(errno));
        return false;
    }
    size_t length = strcspn(r->text, "\r\n");
    if (length == sizeof r->text - 1)
        refuse(r->program, "%s, line %" PRId64 ": more than 1024 characters", r->path, r->line);
    r->text[length] = 0;
    return true;
}

static bool is_blank(const char *text) {
    return text[strspn(text, " \t")] == 0;
}

/* Takes a whole number off *text, or a number with a fraction; false where there is none. */
static bool take_integer(char **text, int64_t *number) {
    char *end;
    errno = 0;
    *number = strtoll(*text, &end, 10);
    if (end == *text || errno || !(*end == 0 || *end == ' ' || *end == '\t')) return false;
    *text = end;
    return true;
}

static bool take_real(char **text, double *number) {
    char *end;
    *number = strtod(*text, &end);
    if (end == *text || !isfinite(*number) || !(*end == 0 || *end == ' ' || *end == '\t'))
        return false;
    *text = end;
    return true;
}

static bool is_word(const char *a, const char *b) {
    while (*a && tolower((unsigned char)*a) == *b) a++, b++;
    return *a == *b;
}

static void read_matrix(struct reader *r, struct matrix *a) {
    char object[32], format[32], field[32], symmetry[32], rest[2];
    int64_t rows, columns, stated, read = 0;
    r->file = fopen(r->path, "r");
    if (!r->file) refuse(r->program, "%s cannot be opened: %s", r->path, strerror(errno));

    if (!next_line(r) || sscanf(r->text, "%%%%MatrixMarket %31s %31s %31s %31s %1s", object, format,
                                field, symmetry, rest) != 4)
        refuse(r->program, "%s, line 1: not \"%%%%MatrixMarket matrix coordinate FIELD SYMMETRY\"",
               r->path);
    if (!is_word(object, "matrix") || !is_word(format, "coordinate"))
        refuse(r->program, "%s, line 1: \"%s %s\" is not \"matrix coordinate\"", r->path, object,
               format);
    bool integer = is_word(field, "integer"), pattern = is_word(field, "pattern");
    if (!integer && !pattern && !is_word(field, "real"))
        refuse(r->program, "%s, line 1: \"%s\" is not real, integer or pattern", r->path, field);
    bool symmetric = is_word(symmetry, "symmetric");
    if (!symmetric && !is_word(symmetry, "general"))
        refuse(r->program, "%s, line 1: \"%s\" is not general or symmetric", r->path, symmetry);

    bool there;
    do there = next_line(r);
    while (there && (r->text[0] == '%' || is_blank(r->text)));
    char *text = r->text;
    if (!there || !take_integer(&text, &rows) || !take_integer(&text, &columns) ||
        !take_integer(&text, &stated) || !is_blank(text))
        refuse(r->program, "%s, line %" PRId64 ": not \"ROWS COLUMNS ENTRIES\"", r->path, r->line);
    if (rows < 0 || rows >= INT32_MAX || columns < 0 || columns >= INT32_MAX || stated < 0)
        refuse(r->program, "%s, line %" PRId64 ": a size is negative or not less than %d", r->path,
               r->line, INT32_MAX);
    if (symmetric && rows != columns)
        refuse(r->program,
               "%s, line %" PRId64 ": symmetric, but of %" PRId64 " x %" PRId64 " elements",
               r->path, r->line, rows, columns);
    a->rows = (int32_t)rows;
    a->columns = (int32_t)columns;

    while (next_line(r)) {
        int64_t row, column, whole = 1;
        double value = 1;
        if (is_blank(r->text)) continue;
        if (read == stated)
            refuse(r->program,
                   "%s, line %" PRId64 ": more entries than the %" PRId64 " that were announced",
                   r->path, r->line, stated);
        text = r->text;
        bool good = take_integer(&text, &row) && take_integer(&text, &column);
        if (good && integer) {
            good = take_integer(&text, &whole);
            value = (double)whole;
        } else if (good && !pattern) {
            good = take_real(&text, &value);
        }
        if (!good || !is_blank(text))
            refuse(r->program, "%s, line %" PRId64 ": not \"%s\"", r->path, r->line,
                   pattern   ? "ROW COLUMN"
                   : integer ? "ROW COLUMN INTEGER"
                             : "ROW COLUMN NUMBER");
        if (row < 1 || row > rows || column < 1 || column > columns)
            refuse(r->program,
                   "%s, line %" PRId64 ": (%" PRId64 ", %" PRId64 ") is not in a matrix "
                   "of %" PRId64 " x %" PRId64,
                   r->path, r->line, row, column, rows, columns);
        if (symmetric && row < column)
            refuse(r->program, "%s, line %" PRId64 ": above the diagonal of a symmetric matrix",
                   r->path, r->line);
        add_entry(a, row - 1, column - 1, value);
        if (symmetric && row > column) add_entry(a, column - 1, row - 1, value);
        read++;
    }
    if (read < stated)
        refuse(r->program,
               "%s, line %" PRId64 ": the file ends after %" PRId64 " of %" PRId64 " entries",
               r->path, r->line, read, stated);
    fclose(r->file);
}

/* The Laplace operator on a square grid with five points: 4 for a point, -1 for each neighbour. */
static void make_poisson(int64_t side, struct matrix *a) {
    a->rows = a->columns = (int32_t)(side * side);
    for (int64_t y = 0; y < side; y++) {
        for (int64_t x = 0; x < side; x++) {
            int64_t point = y * side + x;
            if (y > 0) add_entry(a, point, point - side, -1);
            if (x > 0) add_entry(a, point, point - 1, -1);
            add_entry(a, point, point, 4);
            if (x < side - 1) add_entry(a, point, point + 1, -1);
            if (y < side - 1) add_entry(a, point, point + side, -1);
        }
    }
}

/* ---- y = A x --------------------------------------------------------------------------------- */

/* magnitudes[i]: the sum of |a| |x| of row i. */
static void multiply_serial(const struct matrix *a, const double *x, double *y,
                            double *magnitudes) {
    for (int64_t e = 0; e < a->count; e++) {
        double product = a->entries[e].value * x[a->entries[e].column];
        y[a->entries[e].row] += product;
        magnitudes[a->entries[e].row] += fabs(product);
    }
}

/* Returns the seconds that it took, of the second run. */
static double multiply(vscan_ctx *ctx, const struct matrix *a, const double *x_host,
                       double *y_host) {
    const double poison = NAN;
    vscan_buffer *offsets = new_vector_of(ctx, VSCAN_LONG, (int64_t)a->rows + 1, a->offsets);
    vscan_buffer *columns = new_vector_of(ctx, VSCAN_INT, a->count, a->row_columns);
    vscan_buffer *values = new_vector_of(ctx, VSCAN_DOUBLE, a->count, a->values);
    vscan_buffer *x = new_vector_of(ctx, VSCAN_DOUBLE, a->columns, x_host);
    vscan_buffer *products = new_vector(ctx, VSCAN_DOUBLE, a->count);
    vscan_buffer *y = new_vector(ctx, VSCAN_DOUBLE, a->rows);
    double start = 0;

    check(vscan_buffer_fill(y, &poison));
    for (int run = 0; run < 2; run++) {
        check(vscan_ctx_synchronize(ctx));
        start = seconds();
        check(vscan_gather(ctx, x, columns, products));
        check(vscan_map_binary(ctx, VSCAN_BINARY_MULTIPLY, values, products, products));
        check(vscan_reduce_by_offsets(ctx, VSCAN_PLUS, products, offsets, y, NULL));
        check(vscan_ctx_synchronize(ctx));
    }
    double time = seconds() - start;

    check(vscan_buffer_download(y, 0, a->rows, y_host));
    vscan_buffer *all[] = {offsets, columns, values, x, products, y};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) check(vscan_buffer_destroy(all[k]));
    return time;
}

/* Whether the rows in the opposite order have the same results, to the bit. */
static bool same_permuted(vscan_ctx *ctx, const struct matrix *a, const double *x,
                          const double *y) {
    struct matrix b = {.rows = a->rows, .columns = a->columns, .count = a->count};
    b.offsets = allocate((int64_t)a->rows + 1, sizeof *b.offsets);
    b.row_columns = allocate(a->count, sizeof *b.row_columns);
    b.values = allocate(a->count, sizeof *b.values);
    double *y_back = allocate(a->rows, sizeof *y_back);
    b.offsets[0] = 0;
    for (int32_t row = 0; row < a->rows; row++) {
        int64_t from = a->offsets[a->rows - 1 - row], to = b.offsets[row];
        int64_t count = a->offsets[a->rows - row] - from;
        for (int64_t e = 0; e < count; e++) {
            b.row_columns[to + e] = a->row_columns[from + e];
            b.values[to + e] = a->values[from + e];
        }
        b.offsets[row + 1] = to + count;
    }
    multiply(ctx, &b, x, y_back);
    bool same = true;
    for (int32_t row = 0; row < a->rows; row++)
        same &= memcmp(&y[row], &y_back[a->rows - 1 - row], sizeof *y) == 0;
    printf("permuted %s\n", same ? "the same bits" : "OTHER BITS");
    void *all[] = {b.offsets, b.row_columns, b.values, y_back};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) free(all[k]);
    return same;
}

static void print_matrix(const struct matrix *a) {
    int64_t longest = 0, empty = 0;
    for (int32_t row = 0; row < a->rows; row++) {
        int64_t length = a->offsets[row + 1] - a->offsets[row];
        if (length > longest) longest = length;
        if (length == 0) empty++;
    }
    printf("matrix   %d x %d, %" PRId64 " entries, longest row %" PRId64 ", empty rows %" PRId64
           "\n",
           (int)a->rows, (int)a->columns, a->count, longest, empty);
}

/* Whether y is right; prints its beginning, and how far the two are apart. */
static bool compare(const struct matrix *a, const double *y, const double *expected,
                    const double *magnitudes) {
    double largest = 0;
    int32_t wrong = 0;
    printf("y       ");
    for (int32_t row = 0; row < a->rows && row < 6; row++) printf(" %.6g", y[row]);
    printf("%s\n", a->rows > 6 ? " ..." : "");
    for (int32_t row = 0; row < a->rows; row++) {
        double terms = (double)(a->offsets[row + 1] - a->offsets[row]);
        double difference = fabs(y[row] - expected[row]);
        if (!(difference <= terms * DBL_EPSILON * magnitudes[row])) wrong++;
        if (difference > largest) largest = difference;
    }
    printf("check    largest difference %.1e, %s\n", largest,
           wrong ? "TOO LARGE" : "within the bound everywhere");
    return wrong == 0;
}

int main(int argc, char **argv) {
    struct matrix a = {0};
    bool poisson = argc < 2 || strcmp(argv[1], "--poisson") == 0;
    int arguments = argc < 2 ? 0 : poisson ? 2 : 1; /* before the seed */
    if (argc == 2 && poisson) refuse(argv[0], "--poisson needs a number of points");
    if (argc > arguments + 2)
        refuse(argv[0], "usage: %s [FILE.mtx [seed]] or --poisson SIDE [seed]", argv[0]);
    if (poisson) {
        make_poisson(argc < 2 ? 256 : read_number(argv[0], "SIDE", argv[2], 0, 46340), &a);
    } else {
        struct reader reader = {.program = argv[0], .path = argv[1]};
        read_matrix(&reader, &a);
    }
    make_rows(&a);
    seed_random(argv[0], argc > arguments + 1 ? argv[arguments + 1] : NULL);
    vscan_ctx *ctx = open_context();
    print_matrix(&a);

    double *x = allocate(a.columns, sizeof *x), *y = allocate(a.rows, sizeof *y);
    double *expected = allocate(a.rows, sizeof *expected);
    double *magnitudes = allocate(a.rows, sizeof *magnitudes);
    for (int32_t k = 0; k < a.columns; k++) x[k] = 2 * random_unit() - 1;
    double time = multiply(ctx, &a, x, y);
    double start = seconds();
    multiply_serial(&a, x, expected, magnitudes);
    printf("time     %.3f ms, serial %.3f ms\n", 1e3 * time, 1e3 * (seconds() - start));
    bool right = compare(&a, y, expected, magnitudes);
    right = same_permuted(ctx, &a, x, y) && right;

    void *all[] = {x, y, expected, magnitudes, a.entries, a.offsets, a.row_columns, a.values};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) free(all[k]);
    return close_context(ctx, right);
}
