/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Line drawing: all pixels of all lines at once, however long each line is.
 *
 * A line from (x0, y0) to (x1, y1) has max(|x1 - x0|, |y1 - y0|) + 1 pixels. A plus-scan of these
 * lengths gives each line a segment of one long vector with an element for every pixel: that is
 * allocation. Heads at the segments' beginnings and a scan of the heads tell each pixel the number
 * of its line, by which it gathers what it has to know of that line, and its place in the segment
 * says how far along the line it lies. A permute of ones then draws the pixels. The serial version
 * is Bresenham's, pixel after pixel, line after line. Literature: Blelloch, Scans as Primitive
 * Parallel Operations, 1989; Bresenham, Algorithm for Computer Control of a Digital Plotter, 1965.
 *
 *     line_drawing [lines [seed]]
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program.h"

struct line {
    int32_t x0, y0, x1, y1;
};

/* A picture of width * height bytes, row by row from the top, each 0 or 1. */
struct picture {
    int32_t width, height;
    uint8_t *pixels;
};

/* ---- Serial ---------------------------------------------------------------------------------- */

/*
 * The shorter way is rounded to the nearest pixel, halves away from (x0, y0). Returns how many
 * pixels were drawn.
 */
static int64_t draw_serial(const struct line *lines, int64_t count, struct picture *picture) {
    int64_t drawn = 0;
    for (int64_t k = 0; k < count; k++) {
        struct line line = lines[k];
        int32_t dx = abs(line.x1 - line.x0), dy = abs(line.y1 - line.y0);
        int32_t steps = dx > dy ? dx : dy, error_x = steps, error_y = steps;
        for (int32_t x = line.x0, y = line.y0, step = 0; step <= steps; step++) {
            picture->pixels[(int64_t)y * picture->width + x] = 1;
            drawn++;
            error_x += 2 * dx;
            error_y += 2 * dy;
            if (error_x >= 2 * steps) {
                error_x -= 2 * steps;
                x += line.x1 > line.x0 ? 1 : -1;
            }
            if (error_y >= 2 * steps) {
                error_y -= 2 * steps;
                y += line.y1 > line.y0 ? 1 : -1;
            }
        }
    }
    return drawn;
}

/* ---- On the vector model --------------------------------------------------------------------- */

/*
 * One coordinate of every pixel: the end a of its line, and so much of the way b - a as step /
 * steps says, rounded as in draw_serial: a + sign(b - a) * ((2 |b - a| step + steps) / (2 steps)).
 */
static void interpolate(vscan_ctx *ctx, const vscan_buffer *a, const vscan_buffer *b,
                        const vscan_buffer *line, const vscan_buffer *step,
                        const vscan_buffer *steps, vscan_buffer *out) {
    const int32_t one = 1, two = 2, sign_bit = 31;
    int64_t n = vscan_buffer_length(out), lines = vscan_buffer_length(a);
    vscan_buffer *way = new_vector(ctx, VSCAN_INT, lines),
                 *sign = new_vector(ctx, VSCAN_INT, lines);
    vscan_buffer *part = new_vector(ctx, VSCAN_INT, n), *whole = new_vector(ctx, VSCAN_INT, n);

    check(vscan_map_binary(ctx, VSCAN_BINARY_SUBTRACT, b, a, way));
    check(vscan_map_right(ctx, VSCAN_BINARY_SHIFT_RIGHT, way, &sign_bit, sign)); /* 0 or -1 */
    check(vscan_map_right(ctx, VSCAN_BINARY_OR, sign, &one, sign));              /* 1 or -1 */
    check(vscan_map_unary(ctx, VSCAN_UNARY_ABSOLUTE, way, way));
    check(vscan_map_right(ctx, VSCAN_BINARY_MULTIPLY, way, &two, way));

    check(vscan_gather(ctx, way, line, part));
    check(vscan_map_binary(ctx, VSCAN_BINARY_MULTIPLY, part, step, part));
    check(vscan_map_binary(ctx, VSCAN_BINARY_ADD, part, steps, part));
    check(vscan_map_right(ctx, VSCAN_BINARY_MULTIPLY, steps, &two, whole));
    check(vscan_map_right(ctx, VSCAN_BINARY_MAX, whole, &one, whole)); /* a line of one pixel */
    check(vscan_map_binary(ctx, VSCAN_BINARY_DIVIDE, part, whole, part));
    check(vscan_gather(ctx, sign, line, whole));
    check(vscan_map_binary(ctx, VSCAN_BINARY_MULTIPLY, part, whole, part));
    check(vscan_gather(ctx, a, line, out));
    check(vscan_map_binary(ctx, VSCAN_BINARY_ADD, out, part, out));

    vscan_buffer *all[] = {way, sign, part, whole};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) check(vscan_buffer_destroy(all[k]));
}

/* Draws into pixels, a byte vector, and returns the number of pixels of all lines. */
static int64_t draw(vscan_ctx *ctx, const vscan_buffer *x0, const vscan_buffer *y0,
                    const vscan_buffer *x1, const vscan_buffer *y1, int32_t width,
                    vscan_buffer *pixels) {
    const int32_t one = 1;
    const uint8_t set = 1;
    int32_t n;
    int64_t count = vscan_buffer_length(x0);

    /* Lengths, and where each line's segment begins. */
    vscan_buffer *steps = new_vector(ctx, VSCAN_INT, count);
    vscan_buffer *other = new_vector(ctx, VSCAN_INT, count);
    vscan_buffer *lengths = new_vector(ctx, VSCAN_INT, count);
    vscan_buffer *offsets = new_vector(ctx, VSCAN_INT, count + 1);
    check(vscan_map_binary(ctx, VSCAN_BINARY_SUBTRACT, x1, x0, steps));
    check(vscan_map_unary(ctx, VSCAN_UNARY_ABSOLUTE, steps, steps));
    check(vscan_map_binary(ctx, VSCAN_BINARY_SUBTRACT, y1, y0, other));
    check(vscan_map_unary(ctx, VSCAN_UNARY_ABSOLUTE, other, other));
    check(vscan_map_binary(ctx, VSCAN_BINARY_MAX, steps, other, steps));
    check(vscan_map_right(ctx, VSCAN_BINARY_ADD, steps, &one, lengths));
    check(vscan_lengths_to_offsets(ctx, lengths, offsets));
    check(vscan_buffer_get(offsets, count, &n));

    /* For each pixel: its line, the line's number of steps, and its own step. */
    vscan_buffer *line = new_vector(ctx, VSCAN_INT, n), *step = new_vector(ctx, VSCAN_INT, n);
    vscan_buffer *pixel_steps = new_vector(ctx, VSCAN_INT, n);
    vscan_buffer *x = new_vector(ctx, VSCAN_INT, n), *y = new_vector(ctx, VSCAN_INT, n);
    check(vscan_offsets_to_heads(ctx, offsets, line));
    check(vscan_scan(ctx, VSCAN_PLUS, line, line, NULL)); /* 1, ... 1, 2, ...: no line is empty */
    check(vscan_map_right(ctx, VSCAN_BINARY_SUBTRACT, line, &one, line));
    check(vscan_gather(ctx, steps, line, pixel_steps));
    check(vscan_index(ctx, 0, 1, step));
    check(vscan_gather(ctx, offsets, line, x));
    check(vscan_map_binary(ctx, VSCAN_BINARY_SUBTRACT, step, x, step));

    interpolate(ctx, x0, x1, line, step, pixel_steps, x);
    interpolate(ctx, y0, y1, line, step, pixel_steps, y);

    /* Lines cross, so a position may stand more than once; it is all one which 1 is written. */
    vscan_buffer *ones = new_vector(ctx, VSCAN_BYTE, n);
    check(vscan_map_right(ctx, VSCAN_BINARY_MULTIPLY, y, &width, y));
    check(vscan_map_binary(ctx, VSCAN_BINARY_ADD, y, x, y));
    check(vscan_buffer_fill(ones, &set));
    check(vscan_permute(ctx, ones, y, pixels, NULL));

    vscan_buffer *all[] = {steps, other, lengths, offsets, line, step, pixel_steps, x, y, ones};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) check(vscan_buffer_destroy(all[k]));
    return n;
}

/* ---- Both ------------------------------------------------------------------------------------ */

static vscan_buffer *coordinate(vscan_ctx *ctx, const int32_t *first, int64_t count) {
    int32_t *values = allocate(count, sizeof *values);
    for (int64_t k = 0; k < count; k++) values[k] = first[4 * k]; /* a line is four of them */
    vscan_buffer *buffer = new_vector_of(ctx, VSCAN_INT, count, values);
    free(values);
    return buffer;
}

static void print_picture(const struct picture *picture) {
    for (int32_t y = 0; y < picture->height; y++) {
        for (int32_t x = 0; x < picture->width; x++)
            putchar(picture->pixels[y * picture->width + x] ? '#' : '.');
        putchar('\n');
    }
}

/* Draws the lines in both ways into a picture of that size. */
static bool draw_both(vscan_ctx *ctx, const struct line *lines, int64_t count, int32_t width,
                      int32_t height, bool print) {
    const uint8_t clear = 0;
    int64_t size = (int64_t)width * height;
    struct picture expected = {width, height, allocate(size, 1)};
    struct picture got = {width, height, allocate(size, 1)};
    static const struct line no_line;
    const int32_t *first = count > 0 ? &lines->x0 : &no_line.x0;
    vscan_buffer *x0 = coordinate(ctx, first, count), *y0 = coordinate(ctx, first + 1, count);
    vscan_buffer *x1 = coordinate(ctx, first + 2, count), *y1 = coordinate(ctx, first + 3, count);
    vscan_buffer *pixels = new_vector(ctx, VSCAN_BYTE, size);

    double start = 0;
    int64_t drawn = 0;
    for (int run = 0; run < 2; run++) { /* timed the second time */
        check(vscan_buffer_fill(pixels, &clear));
        check(vscan_ctx_synchronize(ctx));
        start = seconds();
        drawn = draw(ctx, x0, y0, x1, y1, width, pixels);
        check(vscan_ctx_synchronize(ctx));
    }
    double time = seconds() - start;
    check(vscan_buffer_download(pixels, 0, size, got.pixels));
    start = seconds();
    int64_t wanted = draw_serial(lines, count, &expected);
    double serial = seconds() - start;

    bool same = drawn == wanted && memcmp(got.pixels, expected.pixels, (size_t)size) == 0;
    if (print) print_picture(&got);
    printf("%" PRId64 " lines, %" PRId64 " pixels in %d x %d: %.3f ms, serial %.3f ms, %s\n", count,
           wanted, (int)width, (int)height, 1e3 * time, 1e3 * serial,
           same ? "the same" : "NOT THE SAME");
    vscan_buffer *all[] = {x0, y0, x1, y1, pixels};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) check(vscan_buffer_destroy(all[k]));
    free(expected.pixels);
    free(got.pixels);
    return same;
}

int main(int argc, char **argv) {
    enum { WIDTH = 2048, HEIGHT = 1024 };
    static const struct line house[] = {
        {12, 19, 12, 9}, {12, 9, 32, 9},   {32, 9, 32, 19},  {32, 19, 12, 19}, /* a wall */
        {12, 9, 22, 1},  {22, 1, 32, 9},   {32, 9, 52, 5},   {52, 5, 42, 0},   {42, 0, 22, 1},
        {52, 5, 52, 15}, {52, 15, 32, 19}, {17, 19, 17, 14}, {17, 14, 22, 14}, {22, 14, 22, 19},
        {0, 23, 63, 20}, {40, 10, 40, 10}, {46, 9, 46, 9}, /* two lines of one pixel */
    };
    /* With int offsets, the pixels of all lines must not be more than an int holds. */
    int64_t n = read_n_and_seed(argc, argv, 1000, 0, INT32_MAX / WIDTH);
    vscan_ctx *ctx = open_context();
    bool right = draw_both(ctx, house, sizeof house / sizeof *house, 64, 24, true);

    struct line *lines = allocate(n, sizeof *lines);
    for (int64_t k = 0; k < n; k++) {
        lines[k].x0 = (int32_t)random_below(WIDTH), lines[k].x1 = (int32_t)random_below(WIDTH);
        lines[k].y0 = (int32_t)random_below(HEIGHT), lines[k].y1 = (int32_t)random_below(HEIGHT);
    }
    right = draw_both(ctx, lines, n, WIDTH, HEIGHT, false) && right;
    free(lines);
    return close_context(ctx, right);
}
