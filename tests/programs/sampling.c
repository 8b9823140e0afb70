/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sampling: draws numbers 0 .. n - 1, each as often as its weight says.
 *
 * The inclusive plus-scan of the weights is their cumulative distribution, and its last element is their sum.
 * A uniform number u below the sum falls into the first interval that ends above it: upper_bound of u gives the
 * number of elements that are not greater, which is where that one is. Weights of 0 are never drawn. It works
 * because sums of numbers that are not negative are monotone here, also of floats: a search in a distribution
 * that falls somewhere could end anywhere. How often each number was drawn is a histogram: a sort, the lower
 * bounds of 0 .. n, and their differences. Literature: Devroye, Non-Uniform Random Variate Generation, 1986,
 * ch. 3 (inversion).
 *
 *     sampling [n [seed]]   2 n draws
 *
 * Checked with a loop: the draws in order of size walk along the distribution, which is compared with sums in
 * double.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program.h"

/* times[i]: how often i is among the picks, which are sorted in place. */
static void count_times(vscan_ctx *ctx, vscan_buffer *picks, int64_t n, int32_t *times) {
    vscan_buffer *numbers = new_vector(ctx, VSCAN_INT, n + 1);
    vscan_buffer *offsets = new_vector(ctx, VSCAN_INT, n + 1);
    vscan_buffer *lengths = new_vector(ctx, VSCAN_INT, n);
    check(vscan_index(ctx, 0, 1, numbers));
    check(vscan_sort(ctx, picks, NULL, picks, NULL, NULL));
    check(vscan_lower_bound(ctx, picks, numbers, offsets));
    check(vscan_offsets_to_lengths(ctx, offsets, lengths));
    check(vscan_buffer_download(lengths, 0, n, times));
    check(vscan_buffer_destroy(numbers));
    check(vscan_buffer_destroy(offsets));
    check(vscan_buffer_destroy(lengths));
}

static int compare_floats(const void *a, const void *b) {
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* Whether it rises, and is near the sums. */
static bool is_distribution(const float *distribution, const float *weights, int64_t n) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        sum += (double)weights[i];
        const double off = (double)distribution[i] - sum;
        if ((i > 0 && distribution[i] < distribution[i - 1]) || off > 1e-4 * sum ||
            -off > 1e-4 * sum)
            return false;
    }
    return true;
}

/* As count_times, by a walk; draws are sorted. */
static void walk(const float *distribution, int64_t n, float *draws, int64_t m, int32_t *times) {
    qsort(draws, (size_t)m, sizeof *draws, compare_floats);
    int64_t i = 0;
    for (int64_t k = 0; k < m; k++) {
        while (i < n - 1 && distribution[i] <= draws[k]) i++;
        times[i]++;
    }
}

int main(int argc, char **argv) {
    const int64_t n = read_n_and_seed(argc, argv, 1 << 16, 1, 1 << 28), m = 2 * n;
    vscan_ctx *ctx = open_context();
    float *weights = allocate(n, sizeof *weights),
          *distribution = allocate(n, sizeof *distribution);
    float *draws = allocate(m, sizeof *draws), sum;
    int32_t *times = allocate(n, sizeof *times), *expected = allocate(n, sizeof *expected);
    for (int64_t i = 0; i < n;
         i++) /* a third of the weights is 0, some are a hundred times as large */
        weights[i] =
            random_below(3) == 0 ? 0 : (float)(random_unit() * (random_below(50) ? 1 : 100));
    weights[random_below(n)] = 1; /* so they are not all 0 */

    vscan_buffer *cumulated = new_vector_of(ctx, VSCAN_FLOAT, n, weights);
    check(vscan_scan(ctx, VSCAN_PLUS, cumulated, cumulated, NULL));
    check(vscan_buffer_get(cumulated, n - 1, &sum));
    for (int64_t k = 0; k < m; k++) do
            draws[k] = (float)(random_unit() * (double)sum);
        while (draws[k] >= sum); /* which rounding can make of it */
    vscan_buffer *drawn = new_vector_of(ctx, VSCAN_FLOAT, m, draws);
    vscan_buffer *picks = new_vector(ctx, VSCAN_INT, m);
    check(vscan_upper_bound(ctx, cumulated, drawn, picks));
    count_times(ctx, picks, n, times);

    check(vscan_buffer_download(cumulated, 0, n, distribution));
    walk(distribution, n, draws, m, expected);
    bool right = is_distribution(distribution, weights, n) &&
                 memcmp(times, expected, (size_t)n * sizeof *times) == 0;
    int64_t most = 0;
    for (int64_t i = 0; i < n; i++) {
        if (weights[i] == 0 && times[i] != 0) right = false;
        if (times[i] > times[most]) most = i;
    }
    printf("drawn    %" PRId64 " times from %" PRId64 " weights, whose sum is %g\n", m, n,
           (double)sum);
    printf("most     %" PRId32 " times: %" PRId64 ", expected %.1f times\n", times[most], most,
           (double)m * (double)weights[most] / (double)sum);
    check(vscan_buffer_destroy(cumulated));
    check(vscan_buffer_destroy(drawn));
    check(vscan_buffer_destroy(picks));
    free(weights);
    free(distribution);
    free(draws);
    free(times);
    free(expected);
    return close_context(ctx, right);
}
