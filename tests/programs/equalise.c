/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Histogram equalisation of a grey picture: new samples, in the order of the old ones, of which each brightness
 * has about as many as any other. So a dim picture shows what is in it.
 *
 * The new sample for a level is the share of samples that are not above it. These numbers are the cumulated
 * histogram, and need no histogram: the samples are sorted, and the upper bound of each level is the number of
 * those not greater. A few maps make new samples of them, which all points look up in a table (gather). With c for
 * the upper bound of a level and c0 for that of the darkest one, it is round((c - c0) * maximum / (n - c0)).
 * Literature: Gonzalez and Woods, Digital Image Processing, ch. 3.
 *
 *     equalise [n [seed]]       a dim picture of n x n points, which it makes itself
 *     equalise IN.pgm OUT.pgm
 *
 * Checked with a loop that counts.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files.h"
#include "program.h"

/* ---- On the vector model --------------------------------------------------------------------- */

static void equalise(vscan_ctx *ctx, const struct picture *in, struct picture *out) {
    const int64_t n = in->width * in->height, levels = in->maximum + INT64_C(1);
    vscan_buffer *samples = new_vector_of(ctx, VSCAN_INT, n, in->samples);
    vscan_buffer *sorted = new_vector(ctx, VSCAN_INT, n),
                 *level = new_vector(ctx, VSCAN_INT, levels);
    vscan_buffer *bounds = new_vector(ctx, VSCAN_LONG, levels),
                 *table = new_vector(ctx, VSCAN_INT, levels);
    const vscan_sort_options of_16_bits = {.size = sizeof of_16_bits, .bits = 16};
    int32_t darkest;
    int64_t least, maximum = in->maximum;

    check(vscan_sort(ctx, samples, NULL, sorted, NULL, &of_16_bits));
    check(vscan_index(ctx, 0, 1, level));
    check(vscan_upper_bound(ctx, sorted, level, bounds));
    check(vscan_buffer_get(sorted, 0, &darkest));
    check(vscan_buffer_get(bounds, darkest, &least));
    const int64_t others = n - least, half = others / 2, zero = 0;
    if (others > 0) { /* else all points are of one level, and stay as they are */
        check(vscan_map_right(ctx, VSCAN_BINARY_SUBTRACT, bounds, &least, bounds));
        check(vscan_map_right(ctx, VSCAN_BINARY_MAX, bounds, &zero,
                              bounds)); /* of levels that no point has */
        check(vscan_map_right(ctx, VSCAN_BINARY_MULTIPLY, bounds, &maximum, bounds));
        check(vscan_map_right(ctx, VSCAN_BINARY_ADD, bounds, &half, bounds));
        check(vscan_map_right(ctx, VSCAN_BINARY_DIVIDE, bounds, &others, bounds));
        check(vscan_convert(ctx, bounds, table));
        check(vscan_gather(ctx, table, samples, sorted));
        check(vscan_buffer_download(sorted, 0, n, out->samples));
    } else {
        check(vscan_buffer_download(samples, 0, n, out->samples));
    }
    vscan_buffer *all[] = {samples, sorted, level, bounds, table};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) check(vscan_buffer_destroy(all[k]));
}

/* ---- Serially -------------------------------------------------------------------------------- */

static void equalise_serially(const struct picture *in, struct picture *out) {
    const int64_t n = in->width * in->height;
    int64_t *count = allocate(in->maximum + INT64_C(1), sizeof *count), darkest = 0, sum = 0;
    for (int64_t i = 0; i < n; i++) count[in->samples[i]]++;
    while (count[darkest] == 0) darkest++;
    const int64_t least = count[darkest];
    for (int64_t v = 0; v <= in->maximum; v++) {
        sum += count[v];
        count[v] = sum == 0 || least == n
                       ? v
                       : ((sum - least) * in->maximum + (n - least) / 2) / (n - least);
    }
    for (int64_t i = 0; i < n; i++) out->samples[i] = (int32_t)count[in->samples[i]];
    free(count);
}

/* Dim, with a bright spot. */
static struct picture make_picture(int64_t side) {
    struct picture picture = new_picture(side, side, 1, 255);
    for (int64_t i = 0; i < side * side; i++) {
        const int64_t x = i % side - side / 3, y = i / side - side / 2;
        const int64_t near = 40 - 160 * (x * x + y * y) / (side * side);
        picture.samples[i] = (int32_t)(20 + (near > 0 ? near : 0) + random_below(4));
    }
    return picture;
}

static void print_range(const char *what, const struct picture *picture) {
    const int64_t n = picture->width * picture->height;
    int32_t least = picture->maximum, most = 0;
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        const int32_t v = picture->samples[i];
        if (v < least) least = v;
        if (v > most) most = v;
        sum += v;
    }
    printf("%-8s samples %" PRId32 " to %" PRId32 " of %" PRId32 ", mean %.1f\n", what, least, most,
           picture->maximum, sum / (double)n);
}

int main(int argc, char **argv) {
    struct picture picture;
    const char *path = NULL;
    if (argc > 2 && is_file_name(argv[1])) {
        if (argc > 3) refuse(argv[0], "usage: %s [n [seed]] | IN.pgm OUT.pgm", argv[0]);
        picture = read_picture(argv[0], argv[1], 1);
        path = argv[2];
    } else {
        picture = make_picture(read_n_and_seed(argc, argv, 512, 1, 31622));
    }
    const int64_t n = picture.width * picture.height;
    vscan_ctx *ctx = open_context();
    struct picture result = new_picture(picture.width, picture.height, 1, picture.maximum);
    struct picture expected = new_picture(picture.width, picture.height, 1, picture.maximum);
    equalise(ctx, &picture, &result);
    equalise_serially(&picture, &expected);
    const bool right = memcmp(result.samples, expected.samples, (size_t)n * sizeof(int32_t)) == 0;

    printf("picture  %" PRId64 " x %" PRId64 " points\n", picture.width, picture.height);
    print_range("before", &picture);
    print_range("after", &expected);
    if (path && right) {
        write_picture(argv[0], path, &result);
        printf("written  %s\n", path);
    }
    free(picture.samples);
    free(result.samples);
    free(expected.samples);
    return close_context(ctx, right);
}
