/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An embedding bag: a table has one row of numbers for each word, and a text, a bag, is the sum or the mean of its
 * words' rows. The bags lie one after the other, as the numbers of rows, and offsets say where each begins. It is
 * a sparse matrix times a dense one (torch.nn.EmbeddingBag).
 *
 * The words' rows are gathered, each number by its place in the table, and the columns of each bag's rows are added by
 * one call. Bags may be as unlike in length as they please, and may be empty. The means divide by the lengths. A bag's sums depend on its own rows alone, to the bit: the same bag has the same sums in every batch, which
 * is checked with the bags in the opposite order. A sum of k floats has an error of at most (k - 1) epsilon / 2 times
 * the sum of their magnitudes (Higham, Accuracy and Stability of Numerical Algorithms, 2002, ch. 4); that of the loop,
 * which adds up doubles, is nothing beside it. Literature: Naumov et al., Deep Learning
 * Recommendation Model for Personalization and Recommendation Systems, 2019.
 *
 *     embedding_bag [n [seed]]   n words in bags of 0 to 40, and one of a fifth of them all
 *
 * Checked with a serial loop in doubles.
 */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program.h"

enum { WORDS = 5000, COLUMNS = 16, LONGEST = 40, WORDS_AT_MOST = 10000000 };

struct batch {
    int64_t n, bags;
    int32_t *cells;   /* where the numbers of n rows are in the table, bag after bag */
    int64_t *offsets; /* where each bag begins, and the last one ends */
};

static struct batch new_batch(int64_t n, int64_t bags) {
    return (struct batch){n, bags, allocate(n * COLUMNS, sizeof(int32_t)),
                          allocate(bags + 1, sizeof(int64_t))};
}

static void free_batch(struct batch *b) {
    free(b->cells);
    free(b->offsets);
}

static struct batch draw_batch(int64_t n) {
    struct batch b = new_batch(n, n + 1);
    const int64_t at_most = n / 5; /* of the long one, somewhere */
    b.bags = 0;
    for (int64_t end = 0; end < n || b.bags == 0; b.bags++) {
        int64_t length = random_below(LONGEST + 1);
        if (b.bags == 3) length = at_most;
        if (length > n - end || b.bags == n) length = n - end;
        end += length;
        b.offsets[b.bags + 1] = end;
    }
    for (int64_t i = 0; i < n; i++) {
        const int32_t row = (int32_t)random_below(1 + random_below(WORDS));
        for (int32_t c = 0; c < COLUMNS; c++) b.cells[i * COLUMNS + c] = row * COLUMNS + c;
    }
    return b;
}

/* The same bags in the opposite order. */
static struct batch turned(const struct batch *b) {
    struct batch t = new_batch(b->n, b->bags);
    for (int64_t k = 0; k < b->bags; k++) {
        const int64_t from = b->offsets[b->bags - 1 - k], length = b->offsets[b->bags - k] - from;
        memcpy(t.cells + t.offsets[k] * COLUMNS, b->cells + from * COLUMNS,
               (size_t)(length * COLUMNS) * sizeof *t.cells);
        t.offsets[k + 1] = t.offsets[k] + length;
    }
    return t;
}

/* ---- With vscan ------------------------------------------------------------------------------ */

/* sums and means receive a row for each bag. Returns the seconds that it took, of the second run. */
static double look_up(vscan_ctx *ctx, const float *table, const struct batch *b, float *sums,
                      float *means) {
    const float one = 1;
    const int64_t results = b->bags * COLUMNS;
    int32_t *bag_of = allocate(results, sizeof *bag_of); /* of each result */
    for (int64_t at = 0; at < results; at++) bag_of[at] = (int32_t)(at / COLUMNS);
    double start = 0;
    vscan_buffer *words = new_vector_of(ctx, VSCAN_FLOAT, WORDS * COLUMNS, table);
    vscan_buffer *cells = new_vector_of(ctx, VSCAN_INT, b->n * COLUMNS, b->cells);
    vscan_buffer *offsets = new_vector_of(ctx, VSCAN_LONG, b->bags + 1, b->offsets);
    vscan_buffer *bags = new_vector_of(ctx, VSCAN_INT, results, bag_of);
    vscan_buffer *rows = new_vector(ctx, VSCAN_FLOAT, b->n * COLUMNS);
    vscan_buffer *all_sums = new_vector(ctx, VSCAN_FLOAT, results);
    vscan_buffer *all_means = new_vector(ctx, VSCAN_FLOAT, results);
    vscan_buffer *lengths = new_vector(ctx, VSCAN_LONG, b->bags);
    vscan_buffer *divisors = new_vector(ctx, VSCAN_FLOAT, b->bags);

    for (int run = 0; run < 2; run++) {
        check(vscan_ctx_synchronize(ctx));
        start = seconds();
        check(vscan_gather(ctx, words, cells, rows));
        check(vscan_reduce_columns_by_offsets(ctx, VSCAN_PLUS, rows, offsets, b->n, COLUMNS,
                                              all_sums, NULL));
        check(vscan_offsets_to_lengths(ctx, offsets, lengths));
        check(vscan_convert(ctx, lengths, divisors));
        check(vscan_map_right(ctx, VSCAN_BINARY_MAX, divisors, &one, divisors)); /* of empty bags */
        check(vscan_gather(ctx, divisors, bags, all_means));
        check(vscan_map_binary(ctx, VSCAN_BINARY_DIVIDE, all_sums, all_means, all_means));
        check(vscan_ctx_synchronize(ctx));
    }
    const double time = seconds() - start;

    check(vscan_buffer_download(all_sums, 0, results, sums));
    check(vscan_buffer_download(all_means, 0, results, means));
    vscan_buffer *all[] = {words,    cells,     offsets, bags,    rows,
                           all_sums, all_means, lengths, divisors};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) check(vscan_buffer_destroy(all[k]));
    free(bag_of);
    return time;
}

/* ---- Without it ------------------------------------------------------------------------------ */

/* In doubles; magnitudes: the sums of |x|. */
static void look_up_serially(const float *table, const struct batch *b, double *sums,
                             double *magnitudes) {
    for (int64_t k = 0; k < b->bags; k++)
        for (int64_t i = b->offsets[k]; i < b->offsets[k + 1]; i++)
            for (int c = 0; c < COLUMNS; c++) {
                const double x = (double)table[b->cells[i * COLUMNS + c]];
                sums[k * COLUMNS + c] += x;
                magnitudes[k * COLUMNS + c] += fabs(x);
            }
}

/* Whether sums and means are right; prints how far they are apart. */
static bool compare(const struct batch *b, const float *sums, const float *means,
                    const double *expected, const double *magnitudes) {
    int64_t wrong = 0;
    double largest = 0;
    for (int64_t at = 0; at < b->bags * COLUMNS; at++) {
        const int64_t k = at / COLUMNS;
        const float terms = (float)(b->offsets[k + 1] - b->offsets[k]);
        const double difference = fabs((double)sums[at] - expected[at]);
        if (!(difference <= (double)terms * (double)FLT_EPSILON / 2 * magnitudes[at]) ||
            means[at] != sums[at] / (terms > 1 ? terms : 1))
            wrong++;
        if (difference > largest) largest = difference;
    }
    printf("check    largest difference %.1e, %s\n", largest,
           wrong ? "TOO LARGE" : "within the bound everywhere");
    return wrong == 0;
}

/* Whether the bags in the opposite order have the same sums and means, to the bit. */
static bool same_turned(vscan_ctx *ctx, const float *table, const struct batch *b,
                        const float *sums, const float *means) {
    struct batch t = turned(b);
    float *found[2];
    bool same = true;
    for (int f = 0; f < 2; f++) found[f] = allocate(b->bags * COLUMNS, sizeof(float));
    look_up(ctx, table, &t, found[0], found[1]);
    for (int64_t k = 0; k < b->bags; k++) {
        const int64_t at = k * COLUMNS, back = (b->bags - 1 - k) * COLUMNS;
        same &= memcmp(&found[0][at], &sums[back], COLUMNS * sizeof *sums) == 0 &&
                memcmp(&found[1][at], &means[back], COLUMNS * sizeof *means) == 0;
    }
    printf("turned   %s\n", same ? "the same bits" : "OTHER BITS");
    for (int f = 0; f < 2; f++) free(found[f]);
    free_batch(&t);
    return same;
}

/* ---- Both ------------------------------------------------------------------------------------ */

int main(int argc, char **argv) {
    struct batch b = draw_batch(read_n_and_seed(argc, argv, 1000000, 0, WORDS_AT_MOST));
    float *table = allocate(WORDS * COLUMNS, sizeof *table), *numbers[2];
    double *expected[2];
    for (int64_t i = 0; i < WORDS * COLUMNS; i++) table[i] = (float)(2 * random_unit() - 1);
    for (int k = 0; k < 2; k++) {
        numbers[k] = allocate(b.bags * COLUMNS, sizeof(float));
        expected[k] = allocate(b.bags * COLUMNS, sizeof(double));
    }
    vscan_ctx *ctx = open_context();
    printf("%" PRId64 " words in %" PRId64 " bags, %d columns\n", b.n, b.bags, COLUMNS);
    double time = look_up(ctx, table, &b, numbers[0], numbers[1]), start = seconds();
    look_up_serially(table, &b, expected[0], expected[1]);
    printf("time     %.3f ms, serial %.3f ms\n", 1e3 * time, 1e3 * (seconds() - start));
    bool right = compare(&b, numbers[0], numbers[1], expected[0], expected[1]);
    right = same_turned(ctx, table, &b, numbers[0], numbers[1]) && right;
    for (int k = 0; k < 2; k++) {
        free(numbers[k]);
        free(expected[k]);
    }
    free(table);
    free_batch(&b);
    return close_context(ctx, right);
}
