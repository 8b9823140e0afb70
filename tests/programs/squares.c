/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The squares of an array, their sum, and the root of their mean.
 *
 * The smallest use of the vector model: one elementwise operation, which needs nothing but its own
 * element, and one reduction, a tree of additions of which a scan would also keep what stands
 * between. The numbers are whole and small enough that every sum is exact in double. Literature:
 * Blelloch, Vector Models for Data-Parallel Computing, 1990, ch. 4; Hillis and Steele, Data
 * Parallel Algorithms, 1986.
 *
 *     squares [n [seed]]   n numbers of -1000 .. 1000
 *
 * Checked against a loop.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "program.h"

int main(int argc, char **argv) {
    int64_t n = read_n_and_seed(argc, argv, 1 << 20, 0, INT64_C(1) << 33);
    double *numbers = allocate(n, sizeof *numbers), *squares = allocate(n, sizeof *squares);
    for (int64_t i = 0; i < n; i++) numbers[i] = (double)(random_below(2001) - 1000);

    vscan_ctx *ctx = open_context();
    vscan_buffer *vector = new_vector_of(ctx, VSCAN_DOUBLE, n, numbers);
    double sum = -1;
    vscan_buffer *one = new_vector(ctx, VSCAN_DOUBLE, 1);
    check(vscan_map_unary(ctx, VSCAN_UNARY_SQUARE, vector, vector));
    check(vscan_reduce(ctx, VSCAN_PLUS, vector, one, NULL));
    take_one(one, &sum);
    check(vscan_buffer_download(vector, 0, n, squares));

    bool right = true;
    double expected = 0;
    for (int64_t i = 0; i < n; i++) {
        right = right && squares[i] == numbers[i] * numbers[i];
        expected += numbers[i] * numbers[i];
    }
    right = right && sum == expected;

    for (int64_t i = 0; i < n && i < 4; i++)
        printf("square   %.0f of %.0f\n", squares[i], numbers[i]);
    printf("sum      %.0f\n", sum);
    if (n > 0) printf("root     %.3f, of the mean\n", sqrt(sum / (double)n));

    check(vscan_buffer_destroy(vector));
    free(numbers);
    free(squares);
    return close_context(ctx, right);
}
