/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Line of sight: which points of a height profile can be seen from its beginning?
 *
 * The observer stands at point 0. Point i is seen when the ray to it rises more steeply than those
 * to all points before it: when its slope, (height[i] - eye) / i, is greater than the largest of
 * the slopes before it, which is their exclusive max-scan. (Blelloch compares angles; the arc
 * tangent keeps the order, so it can be left out.) So: index and two maps for the slopes, a scan, a
 * comparison, and the positions of the flags that it sets. A serial loop does the same with a running
 * maximum. Literature: Blelloch, Prefix Sums and Their Applications, 1990.
 *
 *     line_of_sight [n [seed]]
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program.h"

#define EYE 2.0    /* above the ground at point 0 */
#define TURN 6.283 /* radians */

/*
 * Both ways of looking take the heights of points 1 .. n and the height of the eye, fill seen, a
 * flag for each of the points, and positions, where flags are set, and return how many are.
 */
static int64_t look_serial(const double *height, int64_t n, double eye, uint8_t *seen,
                           int64_t *positions) {
    int64_t count = 0;
    double largest = -INFINITY;
    for (int64_t i = 0; i < n; i++) {
        double slope = (height[i] - eye) / (double)(i + 1);
        seen[i] = slope > largest;
        if (seen[i]) {
            largest = slope;
            positions[count++] = i;
        }
    }
    return count;
}

static int64_t look(vscan_ctx *ctx, const double *height, int64_t n, double eye, uint8_t *seen,
                    int64_t *positions, double *time) {
    int64_t count = 0;
    vscan_buffer *heights = new_vector_of(ctx, VSCAN_DOUBLE, n, height);
    vscan_buffer *slopes = new_vector(ctx, VSCAN_DOUBLE, n);
    vscan_buffer *before = new_vector(ctx, VSCAN_DOUBLE, n);
    vscan_buffer *flags = new_vector(ctx, VSCAN_BYTE, n);
    vscan_buffer *places = new_vector(ctx, VSCAN_LONG, n);
    vscan_scan_options exclusive = {.size = sizeof exclusive, .kind = VSCAN_EXCLUSIVE};
    vscan_count_options counted = {.size = sizeof counted, .count = new_vector(ctx, VSCAN_LONG, 1)};

    for (int run = 0; run < 2; run++) { /* timed the second time */
        check(vscan_ctx_synchronize(ctx));
        double start = seconds();
        check(vscan_index(ctx, 1, 1, before)); /* the distances, until the scan needs the place */
        check(vscan_map_right(ctx, VSCAN_BINARY_SUBTRACT, heights, &eye, slopes));
        check(vscan_map_binary(ctx, VSCAN_BINARY_DIVIDE, slopes, before, slopes));
        check(vscan_scan(ctx, VSCAN_MAX, slopes, before, &exclusive));
        check(vscan_compare(ctx, VSCAN_GREATER, slopes, before, flags));
        check(vscan_flags_to_positions(ctx, flags, places, &counted));
        check(vscan_buffer_get(counted.count, 0, &count)); /* waits */
        *time = seconds() - start;
    }

    check(vscan_buffer_download(flags, 0, n, seen));
    check(vscan_buffer_download(places, 0, count, positions));
    vscan_buffer *all[] = {heights, slopes, before, flags, places, counted.count};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) check(vscan_buffer_destroy(all[k]));
    return count;
}

/* Hills of several lengths, the longer the higher; the first ones are `longest` points long. */
static void make_hills(double *height, int64_t n, double longest) {
    for (double length = longest; length >= 8 && length >= longest / 64; length /= 2) {
        double phase = TURN * random_unit(), top = length * (0.05 + 0.1 * random_unit());
        for (int64_t i = 0; i < n; i++)
            height[i] += top * (1 + sin(TURN * (double)i / length + phase));
    }
    for (int64_t i = 0; i < n; i++) height[i] += 0.25 * random_unit();
}

/* 'o' is the eye, '*' ground that is seen, '.' ground that is not. */
static void print_profile(const double *height, const uint8_t *seen, int64_t n) {
    enum { LINES = 12 };
    double top = height[0] + EYE;
    for (int64_t i = 0; i < n; i++)
        if (height[i] > top) top = height[i];
    for (int line = LINES; line >= 0; line--) {
        for (int64_t i = 0; i < n; i++) {
            int level = (int)(LINES * height[i] / top),
                eye = (int)(LINES * (height[0] + EYE) / top);
            char ground = i > 0 && seen[i - 1] ? '*' : '.';
            putchar(i == 0 && line == eye ? 'o'
                    : line == level       ? ground
                    : line < level        ? ':'
                                          : ' ');
        }
        putchar('\n');
    }
}

/* Hills with n + 1 points, looked over in both ways. */
static bool look_over_hills(vscan_ctx *ctx, int64_t n, double longest, bool print) {
    double *height = allocate(n + 1, sizeof *height);
    uint8_t *seen = allocate(n, 1), *expected = allocate(n, 1);
    int64_t *positions = allocate(n, sizeof *positions);
    int64_t *expected_positions = allocate(n, sizeof *expected_positions);
    make_hills(height, n + 1, longest);
    double eye = height[0] + EYE, time;

    int64_t count = look(ctx, height + 1, n, eye, seen, positions, &time);
    double start = seconds();
    int64_t wanted = look_serial(height + 1, n, eye, expected, expected_positions);
    double serial = seconds() - start;
    bool same = count == wanted && memcmp(seen, expected, (size_t)n) == 0 &&
                memcmp(positions, expected_positions, (size_t)count * sizeof *positions) == 0;

    if (print) print_profile(height, expected, n + 1);
    printf("%" PRId64 " of %" PRId64 " points are seen", wanted, n);
    if (wanted > 0) printf(", the last one is point %" PRId64, expected_positions[wanted - 1] + 1);
    printf("; %.3f ms, serial %.3f ms, %s\n", 1e3 * time, 1e3 * serial,
           same ? "the same" : "NOT THE SAME");
    free(height);
    free(seen);
    free(expected);
    free(positions);
    free(expected_positions);
    return same;
}

int main(int argc, char **argv) {
    int64_t n = read_n_and_seed(argc, argv, 1 << 20, 0, INT64_C(1) << 40);
    vscan_ctx *ctx = open_context();
    bool right = look_over_hills(ctx, 95, 80, true);
    right = look_over_hills(ctx, n, 0.7 * (double)n, false) && right;
    return close_context(ctx, right);
}
