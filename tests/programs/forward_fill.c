/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Forward fill: in a table of measurements, whatever is missing (NaN) takes the last value before it of the same
 * sensor. What comes before a sensor's first value stays missing.
 *
 * Values are not copied along; their positions are. The position of each value that is there, and -1 elsewhere,
 * under a max-scan, is the position of the last one; a gather brings the values. A sensor's first row counts
 * as if it were there, whatever it has: its position is greater than all before it, so nothing comes over from
 * the sensor before, and a NaN in it is what rows without a value take. So no segmented scan is needed. The
 * difference of positions says how old each value is. Literature: Blelloch, Prefix Sums and Their Applications,
 * 1990 (copies by a max-scan of positions).
 *
 *     forward_fill [n [seed]]   n rows
 *
 * Checked with a serial loop.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program.h"

static void fill_serially(const int32_t *sensor, const float *value, int64_t n, float *filled,
                          int64_t *age) {
    int64_t last = 0;
    for (int64_t i = 0; i < n; i++) {
        if (i == 0 || sensor[i] != sensor[i - 1] || !isnan(value[i])) last = i;
        filled[i] = value[last];
        age[i] = i - last;
    }
}

static void fill(vscan_ctx *ctx, const int32_t *sensor, const float *value, int64_t n,
                 float *filled, int64_t *age) {
    vscan_buffer *sensors = new_vector_of(ctx, VSCAN_INT, n, sensor);
    vscan_buffer *values = new_vector_of(ctx, VSCAN_FLOAT, n, value);
    vscan_buffer *out = new_vector(ctx, VSCAN_FLOAT, n), *flags = new_vector(ctx, VSCAN_BYTE, n);
    vscan_buffer *rows = new_vector(ctx, VSCAN_LONG, n), *last = new_vector(ctx, VSCAN_LONG, n);
    const int64_t nowhere = -1;

    check(
        vscan_compare(ctx, VSCAN_EQUAL, values, values, flags)); /* a NaN is not equal to itself */
    check(vscan_keys_to_heads(ctx, sensors, flags, flags));      /* first rows and values */
    check(vscan_index(ctx, 0, 1, rows));
    check(vscan_select_right(ctx, flags, rows, &nowhere, last));
    check(vscan_scan(ctx, VSCAN_MAX, last, last, NULL));
    check(vscan_gather(ctx, values, last, out));
    check(vscan_map_binary(ctx, VSCAN_BINARY_SUBTRACT, rows, last, rows));

    check(vscan_buffer_download(out, 0, n, filled));
    check(vscan_buffer_download(rows, 0, n, age));
    vscan_buffer *all[] = {sensors, values, out, flags, rows, last};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) check(vscan_buffer_destroy(all[k]));
}

int main(int argc, char **argv) {
    const int64_t n = read_n_and_seed(argc, argv, 1 << 20, 0, INT64_C(1) << 40);
    vscan_ctx *ctx = open_context();
    int32_t *sensor = allocate(n, sizeof *sensor);
    float *value = allocate(n, sizeof *value);
    float *filled = allocate(n, sizeof *filled), *expected = allocate(n, sizeof *expected);
    int64_t *age = allocate(n, sizeof *age), *expected_age = allocate(n, sizeof *expected_age);
    for (int64_t i = 0; i < n; i++) {
        sensor[i] = i == 0 ? 1 : sensor[i - 1] + (random_below(50) == 0);
        value[i] = random_below(3) != 0 ? NAN : (float)(random_below(400) - 100) / 10;
    }
    fill(ctx, sensor, value, n, filled, age);
    fill_serially(sensor, value, n, expected, expected_age);

    int64_t missing = 0, left = 0, oldest = 0;
    bool right = memcmp(age, expected_age, (size_t)n * sizeof *age) == 0;
    for (int64_t i = 0; i < n; i++) {
        right = right && (filled[i] == expected[i] || (isnan(filled[i]) && isnan(expected[i])));
        missing += isnan(value[i]) != 0;
        left += isnan(expected[i]) != 0;
        if (!isnan(expected[i]) && expected_age[i] > oldest) oldest = expected_age[i];
    }
    for (int64_t i = 0; i < n && i < 12; i++)
        printf("row      sensor %" PRId32 "  %5.1f -> %5.1f\n", sensor[i], (double)value[i],
               (double)expected[i]);
    printf("missing  %" PRId64 " of %" PRId64 " before, %" PRId64
           " after; the oldest value is of %" PRId64 " rows before\n",
           missing, n, left, oldest);
    free(sensor);
    free(value);
    free(filled);
    free(expected);
    free(age);
    free(expected_age);
    return close_context(ctx, right);
}
