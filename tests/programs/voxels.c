/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Voxels: a cloud of points becomes a smaller one, with one point, the mean, for each cube that has any.
 *
 * A point's cube is its three coordinates, rounded down, as one number. The points' positions are sorted by
 * cube; runs of equal numbers are the points of one cube, and heads of runs become offsets. Then the
 * coordinates are gathered in that order, added by offsets, and divided by the lengths. No cube is stored that has
 * no point, so the space may be large. Sums are exact here, because coordinates are multiples of 1/1024; so
 * means can be compared to the bit with those of a loop in any order. Literature: Rusu and Cousins, 3D is here:
 * Point Cloud Library (PCL), 2011 (the voxel grid filter).
 *
 *     voxels [n [seed]]   n points on a few walls of a room of 64 x 64 x 64 cubes, around its middle
 *
 * Checked with a table of all cubes.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program.h"

enum { SIDE = 64, CUBES = SIDE * SIDE * SIDE, MIDDLE = SIDE / 2 * (SIDE * SIDE + SIDE + 1) };

/* Of each cube that has points, in the order of their numbers. */
struct cloud {
    int64_t n;
    int32_t *cube;
    int64_t *points; /* how many */
    double *mean[3];
};

static struct cloud new_cloud(int64_t n) {
    struct cloud cloud = {.cube = allocate(n, sizeof(int32_t)),
                          .points = allocate(n, sizeof(int64_t))};
    for (int k = 0; k < 3; k++) cloud.mean[k] = allocate(n, sizeof(double));
    return cloud;
}

static void free_cloud(struct cloud *cloud) {
    free(cloud->cube);
    free(cloud->points);
    for (int k = 0; k < 3; k++) free(cloud->mean[k]);
}

/* out = (out * SIDE) + in, rounded down */
static void append(vscan_ctx *ctx, const vscan_buffer *in, vscan_buffer *down,
                   vscan_buffer *rounded, vscan_buffer *out) {
    const int32_t side = SIDE;
    check(vscan_map_unary(ctx, VSCAN_UNARY_FLOOR, in, down)); /* convert alone: -0.5 to 0 */
    check(vscan_convert(ctx, down, rounded));
    check(vscan_map_right(ctx, VSCAN_BINARY_MULTIPLY, out, &side, out));
    check(vscan_map_binary(ctx, VSCAN_BINARY_ADD, out, rounded, out));
}

static void reduce_cloud(vscan_ctx *ctx, double *const points[3], int64_t n, struct cloud *cloud) {
    vscan_buffer *axis[3], *rounded = new_vector(ctx, VSCAN_INT, n),
                           *cubes = new_vector(ctx, VSCAN_INT, n);
    vscan_buffer *places = new_vector(ctx, VSCAN_LONG, n), *heads = new_vector(ctx, VSCAN_BYTE, n);
    vscan_buffer *sorted = new_vector(ctx, VSCAN_DOUBLE, n),
                 *offsets = new_vector(ctx, VSCAN_LONG, n + 1);
    vscan_count_options counted = {.size = sizeof counted, .count = new_vector(ctx, VSCAN_LONG, 1)};
    const int32_t nothing = 0;
    check(vscan_buffer_fill(cubes, &nothing));
    for (int k = 0; k < 3; k++) {
        axis[k] = new_vector_of(ctx, VSCAN_DOUBLE, n, points[k]);
        append(ctx, axis[k], sorted, rounded, cubes);
    }
    check(vscan_index(ctx, 0, 1, places));
    check(vscan_sort(ctx, cubes, places, cubes, places, NULL));
    check(vscan_keys_to_heads(ctx, cubes, NULL, heads));
    check(vscan_heads_to_offsets(ctx, heads, offsets, &counted));
    take_one(counted.count, &cloud->n);
    check(vscan_pack(ctx, cubes, heads, rounded, NULL)); /* the number of each cube */
    check(vscan_buffer_download(rounded, 0, cloud->n, cloud->cube));

    vscan_buffer *bounds, *lengths = new_vector(ctx, VSCAN_LONG, cloud->n);
    vscan_buffer *sums = new_vector(ctx, VSCAN_DOUBLE, cloud->n);
    vscan_buffer *numbers = new_vector(ctx, VSCAN_DOUBLE, cloud->n);
    check(vscan_buffer_view(offsets, 0, cloud->n + 1, &bounds));
    check(vscan_offsets_to_lengths(ctx, bounds, lengths));
    check(vscan_convert(ctx, lengths, numbers));
    check(vscan_buffer_download(lengths, 0, cloud->n, cloud->points));
    for (int k = 0; k < 3; k++) {
        check(vscan_gather(ctx, axis[k], places, sorted));
        check(vscan_reduce_by_offsets(ctx, VSCAN_PLUS, sorted, bounds, sums, NULL));
        check(vscan_map_binary(ctx, VSCAN_BINARY_DIVIDE, sums, numbers, sums));
        check(vscan_buffer_download(sums, 0, cloud->n, cloud->mean[k]));
    }
    vscan_buffer *all[] = {axis[0], axis[1], axis[2], rounded, cubes, places, heads,
                           sorted,  offsets, bounds,  lengths, sums,  numbers};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) check(vscan_buffer_destroy(all[k]));
}

static void reduce_serially(double *const points[3], int64_t n, struct cloud *cloud) {
    int64_t *count = allocate(CUBES, sizeof *count);
    double *sum[3] = {allocate(CUBES, sizeof(double)), allocate(CUBES, sizeof(double)),
                      allocate(CUBES, sizeof(double))};
    for (int64_t i = 0; i < n; i++) {
        int64_t cube = 0;
        for (int k = 0; k < 3; k++) cube = cube * SIDE + (int64_t)(points[k][i] + SIDE / 2);
        count[cube]++;
        for (int k = 0; k < 3; k++) sum[k][cube] += points[k][i];
    }
    for (int32_t cube = 0; cube < CUBES; cube++) {
        if (count[cube] == 0) continue;
        for (int k = 0; k < 3; k++) cloud->mean[k][cloud->n] = sum[k][cube] / (double)count[cube];
        cloud->cube[cloud->n] = cube - MIDDLE;
        cloud->points[cloud->n++] = count[cube];
    }
    free(count);
    for (int k = 0; k < 3; k++) free(sum[k]);
}

static bool same_clouds(const struct cloud *a, const struct cloud *b) {
    const size_t n = (size_t)a->n;
    bool same = a->n == b->n && memcmp(a->cube, b->cube, n * sizeof *a->cube) == 0 &&
                memcmp(a->points, b->points, n * sizeof *a->points) == 0;
    for (int k = 0; k < 3; k++)
        same = same && memcmp(a->mean[k], b->mean[k], n * sizeof *a->mean[k]) == 0;
    return same;
}

int main(int argc, char **argv) {
    const int64_t n = read_n_and_seed(argc, argv, 1 << 20, 0, 1 << 28);
    vscan_ctx *ctx = open_context();
    double *points[3];
    for (int k = 0; k < 3; k++) points[k] = allocate(n, sizeof(double));
    for (int64_t i = 0; i < n; i++) {
        const int wall = (int)random_below(3), far = (int)random_below(2);
        for (int k = 0; k < 3; k++)
            points[k][i] = (double)(k == wall ? (far ? SIDE - 1 : 0) * 1024 + random_below(512)
                                              : random_below(SIDE * 1024)) /
                               1024 -
                           SIDE / 2;
    }
    struct cloud got = new_cloud(n), expected = new_cloud(n);
    reduce_cloud(ctx, points, n, &got);
    reduce_serially(points, n, &expected);
    const bool right = same_clouds(&got, &expected);

    int64_t most = 0;
    for (int64_t i = 0; i < expected.n; i++)
        if (expected.points[i] > expected.points[most]) most = i;
    printf("cloud    %" PRId64 " points in %" PRId64 " of %d cubes\n", n, expected.n, CUBES);
    if (n > 0)
        printf("most     %" PRId64 " points, around %.3f %.3f %.3f\n", expected.points[most],
               expected.mean[0][most], expected.mean[1][most], expected.mean[2][most]);
    for (int k = 0; k < 3; k++) free(points[k]);
    free_cloud(&got);
    free_cloud(&expected);
    return close_context(ctx, right);
}
