/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Summed-area table of a grey picture, and a blur by boxes of any size from it.
 *
 * The table has, for every point, the sum of all samples above and to the left of it. It is a scan
 * of every row and then of every column, and it is made once: the sum over any box is then four
 * reads, those at its corners, so that a blur costs the same for a small and for a large box. Here
 * the table has a row and a column of zeros before the first ones, corners are found by maps of
 * the points' numbers, and read by gathers. Sums are ints modulo 2^32: the table of a large
 * picture may overflow, differences of its entries are right all the same as long as the box's own
 * sum fits. Literature: Crow, Summed-Area Tables for Texture Mapping, 1984; by scans on GPUs:
 * Hensley et al., Fast Summed-Area Table Generation and its Applications, 2005.
 *
 *     summed_area [n [seed]]                a picture of n x n points, which it makes itself
 *     summed_area IN.pgm OUT.pgm [radius]   blurs by boxes of 2 radius + 1 points, cut at the edges
 *
 * Checked against sums that run along with the box, point after point.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files.h"
#include "program.h"

/* ---- On the vector model --------------------------------------------------------------------- */

/* The picture becomes its table; both stand after a row and a column of zeros. */
static void make_table(vscan_ctx *ctx, vscan_buffer *table, int64_t width, int64_t height) {
    check(vscan_scan_rows(ctx, VSCAN_PLUS, table, height + 1, width + 1, table, NULL));
    check(vscan_scan_columns(ctx, VSCAN_PLUS, table, height + 1, width + 1, table, NULL));
}

static void map_right(vscan_ctx *ctx, vscan_binary op, vscan_buffer *a, int64_t right,
                      vscan_buffer *out) {
    int32_t value = (int32_t)right;
    check(vscan_map_right(ctx, op, a, &value, out));
}

/* From positions 0 .. n - 1 in *from to the box around them: *from .. *to - 1, within 0 .. n. */
static void widen(vscan_ctx *ctx, vscan_buffer *from, vscan_buffer *to, int64_t radius, int64_t n) {
    map_right(ctx, VSCAN_BINARY_ADD, from, radius + 1, to);
    map_right(ctx, VSCAN_BINARY_MIN, to, n, to);
    map_right(ctx, VSCAN_BINARY_SUBTRACT, from, radius, from);
    map_right(ctx, VSCAN_BINARY_MAX, from, 0, from);
}

/* Means over boxes, rounded to nearest, halves up. */
static void blur(vscan_ctx *ctx, const vscan_buffer *table, int64_t width, int64_t height,
                 int64_t radius, vscan_buffer *out) {
    int64_t n = width * height;
    vscan_buffer *left = new_vector(ctx, VSCAN_INT, n), *right = new_vector(ctx, VSCAN_INT, n);
    vscan_buffer *top = new_vector(ctx, VSCAN_INT, n), *bottom = new_vector(ctx, VSCAN_INT, n);
    vscan_buffer *area = new_vector(ctx, VSCAN_INT, n), *other = new_vector(ctx, VSCAN_INT, n);

    check(vscan_index(ctx, 0, 1, left));
    map_right(ctx, VSCAN_BINARY_DIVIDE, left, width, top);
    map_right(ctx, VSCAN_BINARY_REMAINDER, left, width, left);
    widen(ctx, left, right, radius, width);
    widen(ctx, top, bottom, radius, height);
    check(vscan_map_binary(ctx, VSCAN_BINARY_SUBTRACT, right, left, area));
    check(vscan_map_binary(ctx, VSCAN_BINARY_SUBTRACT, bottom, top, other));
    check(vscan_map_binary(ctx, VSCAN_BINARY_MULTIPLY, area, other, area));

    map_right(ctx, VSCAN_BINARY_MULTIPLY, top, width + 1, top); /* where rows begin in the table */
    map_right(ctx, VSCAN_BINARY_MULTIPLY, bottom, width + 1, bottom);
    const struct {
        vscan_buffer *row, *column;
        vscan_binary op;
    } corners[] = {{bottom, right, VSCAN_BINARY_ADD},
                   {bottom, left, VSCAN_BINARY_SUBTRACT},
                   {top, right, VSCAN_BINARY_SUBTRACT},
                   {top, left, VSCAN_BINARY_ADD}};
    vscan_buffer *corner = new_vector(ctx, VSCAN_INT, n);
    map_right(ctx, VSCAN_BINARY_DIVIDE, area, 2, out); /* for the rounding */
    for (int k = 0; k < 4; k++) {
        check(vscan_map_binary(ctx, VSCAN_BINARY_ADD, corners[k].row, corners[k].column, other));
        check(vscan_gather(ctx, table, other, corner));
        check(vscan_map_binary(ctx, corners[k].op, out, corner, out));
    }
    check(vscan_map_binary(ctx, VSCAN_BINARY_DIVIDE, out, area, out));

    vscan_buffer *all[] = {left, right, top, bottom, area, other, corner};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) check(vscan_buffer_destroy(all[k]));
}

/* ---- One by one ------------------------------------------------------------------------------ */

/* out[i] = the sum of in from i - radius to i + radius, of n elements. */
static void running_sums(const int64_t *in, int64_t *out, int64_t n, int64_t radius) {
    int64_t sum = 0;
    for (int64_t i = 0; i < n && i < radius; i++) sum += in[i];
    for (int64_t i = 0; i < n; i++) {
        if (i + radius < n) sum += in[i + radius];
        if (i - radius > 0) sum -= in[i - radius - 1];
        out[i] = sum;
    }
}

/* Adds row y of the picture, times factor, to sums; nothing where there is no such row. */
static void add_row(const struct picture *picture, int64_t y, int64_t factor, int64_t *sums) {
    if (y < 0 || y >= picture->height) return;
    for (int64_t x = 0; x < picture->width; x++)
        sums[x] += factor * picture->samples[y * picture->width + x];
}

static int64_t smaller(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/* How many of the n points around position i, at most radius away, there are. */
static int64_t width_of_box(int64_t i, int64_t n, int64_t radius) {
    return smaller(i + radius, n - 1) - (i > radius ? i - radius : 0) + 1;
}

static void blur_serially(const struct picture *in, int64_t radius, struct picture *out) {
    int64_t width = in->width, height = in->height;
    int64_t *columns = allocate(width, sizeof *columns); /* the sums of each column's box */
    int64_t *boxes = allocate(width, sizeof *boxes);
    for (int64_t y = 0; y < radius && y < height; y++) add_row(in, y, 1, columns);
    for (int64_t y = 0; y < height; y++) {
        add_row(in, y + radius, 1, columns);
        add_row(in, y - radius - 1, -1, columns);
        running_sums(columns, boxes, width, radius);
        for (int64_t x = 0; x < width; x++) {
            int64_t area = width_of_box(x, width, radius) * width_of_box(y, height, radius);
            out->samples[y * width + x] = (int32_t)((boxes[x] + area / 2) / area);
        }
    }
    free(columns);
    free(boxes);
}

/* Whether every entry, modulo 2^32, is the sample more than the three before it make. */
static bool table_is_right(const uint32_t *table, const struct picture *picture) {
    int64_t pitch = picture->width + 1;
    for (int64_t x = 0; x < pitch; x++)
        if (table[x] != 0) return false;
    for (int64_t y = 0; y < picture->height; y++) {
        const uint32_t *above = table + y * pitch, *row = above + pitch;
        if (row[0] != 0) return false;
        for (int64_t x = 0; x < picture->width; x++) {
            uint32_t sample = (uint32_t)picture->samples[y * picture->width + x];
            if (row[x + 1] != row[x] + above[x + 1] - above[x] + sample) return false;
        }
    }
    return true;
}

/* ---- The program ----------------------------------------------------------------------------- */

/* A bright disc before stripes, with noise. */
static struct picture make_picture(int64_t n) {
    struct picture picture = new_picture(n, n, 1, 255);
    for (int64_t i = 0; i < n * n; i++) {
        int64_t x = 2 * (i % n) - n, y = 2 * (i / n) - n;
        int64_t grey = 4 * (x * x + y * y) < n * n ? 190 : 16 * ((x + y + 2 * n) * 4 / n % 8);
        picture.samples[i] = (int32_t)(grey + random_below(64));
    }
    return picture;
}

/* The picture in letters, each the mean of its box in the table. */
static void print_picture(const uint32_t *table, const struct picture *picture) {
    static const char shades[] = " .:-=+*#%@";
    int64_t width = picture->width, height = picture->height;
    int64_t columns = smaller(width, 48);
    int64_t rows = smaller(height, (columns * height + width) / (2 * width)); /* letters are high */
    for (int64_t r = 0; r < rows; r++) {
        printf("    ");
        for (int64_t c = 0; c < columns; c++) {
            const uint32_t *top = table + r * height / rows * (width + 1);
            const uint32_t *bottom = table + (r + 1) * height / rows * (width + 1);
            int64_t left = c * width / columns, right = (c + 1) * width / columns;
            double points = (double)(bottom - top) / (double)(width + 1) * (double)(right - left);
            double sum = bottom[right] - bottom[left] - top[right] + top[left];
            putchar(shades[(int)(sum / points / (picture->maximum + 1.0) * 10.0)]);
        }
        printf("\n");
    }
}

/* The mean difference of neighbours in a row: what a blur makes smaller. */
static double roughness(const struct picture *picture) {
    double sum = 0;
    for (int64_t i = 0; i < picture->width * picture->height; i++)
        if (i % picture->width) sum += abs(picture->samples[i] - picture->samples[i - 1]);
    return sum / (double)(picture->width * picture->height);
}

int main(int argc, char **argv) {
    int64_t radius = 8;
    struct picture picture;
    const char *path = NULL;
    if (argc > 2 && is_file_name(argv[1])) {
        if (argc > 4) refuse(argv[0], "usage: %s [n [seed]] | IN.pgm OUT.pgm [radius]", argv[0]);
        if (argc > 3) radius = read_number(argv[0], "radius", argv[3], 0, SAMPLES_AT_MOST);
        picture = read_picture(argv[0], argv[1], 1);
        path = argv[2];
    } else {
        picture = make_picture(read_n_and_seed(argc, argv, 512, 1, 31622));
    }
    int64_t width = picture.width, height = picture.height, n = width * height;
    int64_t box = smaller(2 * radius + 1, width) * smaller(2 * radius + 1, height);
    if (box > INT32_MAX / (picture.maximum + 1))
        refuse(argv[0], "radius is too large: the sum over a box must fit in 31 bits");

    vscan_ctx *ctx = open_context();
    int64_t pitch = width + 1;
    uint32_t *host_table = allocate(pitch * (height + 1), sizeof *host_table);
    for (int64_t y = 0; y < height; y++)
        memcpy(host_table + (y + 1) * pitch + 1, picture.samples + y * width,
               (size_t)width * sizeof *host_table);
    vscan_buffer *table = new_vector_of(ctx, VSCAN_INT, pitch * (height + 1), host_table);
    vscan_buffer *blurred = new_vector(ctx, VSCAN_INT, n);
    make_table(ctx, table, width, height);
    blur(ctx, table, width, height, radius, blurred);

    struct picture result = new_picture(width, height, 1, picture.maximum);
    struct picture expected = new_picture(width, height, 1, picture.maximum);
    check(vscan_buffer_download(table, 0, pitch * (height + 1), host_table));
    check(vscan_buffer_download(blurred, 0, n, result.samples));
    blur_serially(&picture, radius, &expected);
    bool right = table_is_right(host_table, &picture) &&
                 memcmp(result.samples, expected.samples, (size_t)n * sizeof(int32_t)) == 0;

    print_picture(host_table, &picture);
    printf("picture  %" PRId64 " x %" PRId64 " points\n", width, height);
    printf("blur     boxes of %" PRId64 " x %" PRId64
           ": neighbours differ by %.2f, by %.2f before\n",
           2 * radius + 1, 2 * radius + 1, roughness(&result), roughness(&picture));
    if (path && right) {
        write_picture(argv[0], path, &result);
        printf("written  %s\n", path);
    }

    check(vscan_buffer_destroy(table));
    check(vscan_buffer_destroy(blurred));
    free(host_table);
    free(picture.samples);
    free(result.samples);
    free(expected.samples);
    return close_context(ctx, right);
}
