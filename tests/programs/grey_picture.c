/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A grey picture from one in colour: (299 red + 587 green + 114 blue) / 1000, rounded down.
 *
 * One element of the result for each point of the picture, and none depends on another: maps do
 * it. In the file the three samples of a point stand side by side; each channel is gathered from
 * its positions, 3 i + channel, which vscan_index numbers. What is darkest, brightest and the mean
 * are reductions, the last results of scans. Literature: the weights are those of ITU-R
 * Recommendation BT.601; elementwise instructions: Blelloch, Vector Models for Data-Parallel
 * Computing, 1990, ch. 4.
 *
 *     grey_picture [n [seed]]        a picture of n x n points, which it makes itself
 *     grey_picture IN.ppm OUT.pgm
 *
 * Checked against a loop.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "files.h"
#include "program.h"

static const int32_t weights[3] = {299, 587, 114};

static void make_grey(vscan_ctx *ctx, const vscan_buffer *samples, vscan_buffer *grey) {
    int64_t n = vscan_buffer_length(grey);
    int32_t none = 0, thousand = 1000;
    vscan_buffer *positions = new_vector(ctx, VSCAN_INT, n);
    vscan_buffer *channel = new_vector(ctx, VSCAN_INT, n);
    check(vscan_buffer_fill(grey, &none));
    for (int c = 0; c < 3; c++) {
        check(vscan_index(ctx, c, 3, positions));
        check(vscan_gather(ctx, samples, positions, channel));
        check(vscan_map_right(ctx, VSCAN_BINARY_MULTIPLY, channel, &weights[c], channel));
        check(vscan_map_binary(ctx, VSCAN_BINARY_ADD, grey, channel, grey));
    }
    check(vscan_map_right(ctx, VSCAN_BINARY_DIVIDE, grey, &thousand, grey));
    check(vscan_buffer_destroy(positions));
    check(vscan_buffer_destroy(channel));
}

static double reduced(vscan_ctx *ctx, vscan_op op, const vscan_buffer *in) {
    double total;
    vscan_buffer *as_double = new_vector(ctx, VSCAN_DOUBLE, vscan_buffer_length(in));
    vscan_buffer *one = new_vector(ctx, VSCAN_DOUBLE, 1);
    check(vscan_convert(ctx, in, as_double)); /* the sum of all points may be too large for int */
    check(vscan_reduce(ctx, op, as_double, one, NULL));
    take_one(one, &total);
    check(vscan_buffer_destroy(as_double));
    return total;
}

/* Colours from left to right, darker downwards, with noise. */
static struct picture make_picture(int64_t n) {
    struct picture picture = new_picture(n, n, 3, 255);
    for (int64_t i = 0; i < n * n; i++) {
        for (int64_t c = 0; c < 3; c++) {
            int64_t hue = (6 * (i % n) / n + 2 * c) % 6; /* which sixth of the rainbow */
            int64_t light = (hue < 3 ? 230 : 40) * (n - i / n) / n;
            picture.samples[3 * i + c] = (int32_t)(light + random_below(26));
        }
    }
    return picture;
}

int main(int argc, char **argv) {
    struct picture picture;
    const char *path = NULL;
    if (argc > 2 && is_file_name(argv[1])) {
        if (argc > 3) refuse(argv[0], "usage: %s [n [seed]] | IN.ppm OUT.pgm", argv[0]);
        picture = read_picture(argv[0], argv[1], 3);
        path = argv[2];
    } else {
        picture = make_picture(read_n_and_seed(argc, argv, 512, 1, 18257));
    }
    int64_t n = picture.width * picture.height;

    vscan_ctx *ctx = open_context();
    vscan_buffer *samples = new_vector_of(ctx, VSCAN_INT, 3 * n, picture.samples);
    vscan_buffer *grey = new_vector(ctx, VSCAN_INT, n);
    make_grey(ctx, samples, grey);
    struct picture result = new_picture(picture.width, picture.height, 1, picture.maximum);
    check(vscan_buffer_download(grey, 0, n, result.samples));
    double darkest = reduced(ctx, VSCAN_MIN, grey), brightest = reduced(ctx, VSCAN_MAX, grey);
    double sum = reduced(ctx, VSCAN_PLUS, grey);

    bool right = true;
    int32_t least = INT32_MAX, most = 0;
    int64_t expected_sum = 0;
    for (int64_t i = 0; i < n; i++) {
        const int32_t *point = picture.samples + 3 * i;
        int32_t expected = (299 * point[0] + 587 * point[1] + 114 * point[2]) / 1000;
        right = right && result.samples[i] == expected;
        least = expected < least ? expected : least;
        most = expected > most ? expected : most;
        expected_sum += expected;
    }
    right = right && darkest == least && brightest == most && sum == (double)expected_sum;

    printf("picture  %" PRId64 " x %" PRId64 " points\n", picture.width, picture.height);
    printf("grey     %.0f to %.0f, %.1f in the mean, of %d\n", darkest, brightest, sum / (double)n,
           (int)picture.maximum);
    if (path && right) {
        write_picture(argv[0], path, &result);
        printf("written  %s\n", path);
    }

    check(vscan_buffer_destroy(samples));
    check(vscan_buffer_destroy(grey));
    free(picture.samples);
    free(result.samples);
    return close_context(ctx, right);
}
