/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The product of two matrices by segmented sums: c[i][j] = the sum over l of a[i][l] b[l][j].
 *
 * All n^3 products are made at once, in the order i, j, l, so that those of one entry of the
 * result are n elements side by side: a segment. Element p is for i = p / n^2, j = p / n mod n and
 * l = p mod n, and with these its factors are gathered. What is left is one total a segment. It is
 * not the way with the least work on memory, which has to hold all products, but it is one step of
 * multiplications and one segmented sum whatever n is, and the same program does matrices with
 * rows of all lengths, as sparse ones are. The numbers are whole, so that all sums are exact.
 * Literature: Blelloch, Heroux and Zagha, Segmented Operations for Sparse Matrix Computation on
 * Vector Multiprocessors, 1993; the product in O(log n) steps: JaJa, An Introduction to Parallel
 * Algorithms, 1992, ch. 1.
 *
 *     matrix_product [n [seed]]   matrices of n rows and n columns, of numbers -9 .. 9
 *
 * Checked against three loops.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "program.h"

static void map_right(vscan_ctx *ctx, vscan_binary op, vscan_buffer *a, int64_t right,
                      vscan_buffer *out) {
    int32_t value = (int32_t)right;
    check(vscan_map_right(ctx, op, a, &value, out));
}

/* out[p] = p / divisor mod n */
static void digit(vscan_ctx *ctx, int64_t divisor, int64_t n, vscan_buffer *out) {
    check(vscan_index(ctx, 0, 1, out));
    map_right(ctx, VSCAN_BINARY_DIVIDE, out, divisor, out);
    map_right(ctx, VSCAN_BINARY_REMAINDER, out, n, out);
}

/* factors[p] = matrix[row[p]][column[p]]; row is overwritten. */
static void gather_factors(vscan_ctx *ctx, const vscan_buffer *matrix, int64_t n, vscan_buffer *row,
                           const vscan_buffer *column, vscan_buffer *factors) {
    map_right(ctx, VSCAN_BINARY_MULTIPLY, row, n, row);
    check(vscan_map_binary(ctx, VSCAN_BINARY_ADD, row, column, row));
    check(vscan_gather(ctx, matrix, row, factors));
}

static void multiply(vscan_ctx *ctx, const vscan_buffer *a, const vscan_buffer *b, int64_t n,
                     vscan_buffer *c) {
    int64_t products = n * n * n;
    vscan_buffer *row = new_vector(ctx, VSCAN_INT, products);
    vscan_buffer *column = new_vector(ctx, VSCAN_INT, products);
    vscan_buffer *left = new_vector(ctx, VSCAN_DOUBLE, products);
    vscan_buffer *right = new_vector(ctx, VSCAN_DOUBLE, products);
    vscan_buffer *offsets = new_vector(ctx, VSCAN_INT, n * n + 1);

    digit(ctx, n * n, n, row); /* i */
    digit(ctx, 1, n, column);  /* l */
    gather_factors(ctx, a, n, row, column, left);
    digit(ctx, 1, n, row);    /* l */
    digit(ctx, n, n, column); /* j */
    gather_factors(ctx, b, n, row, column, right);
    check(vscan_map_binary(ctx, VSCAN_BINARY_MULTIPLY, left, right, left));
    check(vscan_index(ctx, 0, n, offsets)); /* every n products are a segment */
    check(vscan_reduce_by_offsets(ctx, VSCAN_PLUS, left, offsets, c, NULL));

    vscan_buffer *all[] = {row, column, left, right, offsets};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) check(vscan_buffer_destroy(all[k]));
}

/* Row after row, so that memory is read in its order. */
static void multiply_serially(const double *a, const double *b, int64_t n, double *c) {
    for (int64_t i = 0; i < n; i++)
        for (int64_t l = 0; l < n; l++)
            for (int64_t j = 0; j < n; j++) c[i * n + j] += a[i * n + l] * b[l * n + j];
}

int main(int argc, char **argv) {
    int64_t n = read_n_and_seed(argc, argv, 128, 1, 1290); /* n^3 < 2^31 */
    double *a = allocate(n * n, sizeof *a), *b = allocate(n * n, sizeof *b);
    double *c = allocate(n * n, sizeof *c), *expected = allocate(n * n, sizeof *expected);
    for (int64_t i = 0; i < n * n; i++) {
        a[i] = (double)(random_below(19) - 9);
        b[i] = (double)(random_below(19) - 9);
    }

    vscan_ctx *ctx = open_context();
    vscan_buffer *vector_a = new_vector_of(ctx, VSCAN_DOUBLE, n * n, a);
    vscan_buffer *vector_b = new_vector_of(ctx, VSCAN_DOUBLE, n * n, b);
    vscan_buffer *vector_c = new_vector(ctx, VSCAN_DOUBLE, n * n);
    multiply(ctx, vector_a, vector_b, n, vector_c);
    check(vscan_buffer_download(vector_c, 0, n * n, c));
    multiply_serially(a, b, n, expected);
    bool right = true;
    for (int64_t i = 0; i < n * n; i++) right = right && c[i] == expected[i];

    printf("product  of %" PRId64 " products of two numbers; its first rows and columns:\n",
           n * n * n);
    for (int64_t i = 0; i < n && i < 4; i++) {
        printf("        ");
        for (int64_t j = 0; j < n && j < 8; j++) printf(" %7.0f", c[i * n + j]);
        printf("%s\n", n > 8 ? "  ..." : "");
    }

    vscan_buffer *all[] = {vector_a, vector_b, vector_c};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) check(vscan_buffer_destroy(all[k]));
    free(a);
    free(b);
    free(c);
    free(expected);
    return close_context(ctx, right);
}
