/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Quicksort on the vector model: all parts of the vector are partitioned at once, each one a
 * segment.
 *
 * In every round each segment takes its first key as its pivot, distributed to all its places;
 * every key is compared with its own pivot; a segmented split by "greater", and one by "greater or
 * equal", leave the less, the equal and the greater ones of every segment in this order; and where
 * the outcome of the comparison changes, a new segment begins. That ends when no key is less than
 * the one before it. The recursion has become flags: how many segments there are does not matter,
 * only how many rounds, which for random keys is of the order of log n (a vector that falls would
 * need n: take random pivots there). Compared with qsort. Literature: Blelloch, Vector Models for
 * Data-Parallel Computing, 1990, ch. 3, and Scans as Primitive Parallel Operations, 1989; the
 * serial one: Hoare, Quicksort, 1962.
 *
 *     quicksort [n [seed]]
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program.h"

static int by_number(const void *a, const void *b) {
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

static vscan_buffer *view(vscan_buffer *buffer, int64_t offset, int64_t n) {
    vscan_buffer *part;
    check(vscan_buffer_view(buffer, offset, n, &part));
    return part;
}

/* The keys, with a bar before each segment. */
static void print_round(int64_t round, const vscan_buffer *keys, const vscan_buffer *heads) {
    int64_t n = vscan_buffer_length(keys);
    int32_t *key = allocate(n, sizeof *key), *head = allocate(n, sizeof *head);
    check(vscan_buffer_download(keys, 0, n, key));
    check(vscan_buffer_download(heads, 0, n, head));
    printf("round %-3" PRId64, round);
    for (int64_t i = 0; i < n; i++) printf("%s%d", i && head[i] ? " | " : " ", (int)key[i]);
    printf("\n");
    free(key);
    free(head);
}

/* Sorts keys in place and returns the number of rounds; prints each of them if asked to. */
static int64_t quicksort(vscan_ctx *ctx, vscan_buffer *keys, bool print) {
    const int32_t zero = 0;
    int64_t n = vscan_buffer_length(keys), rounds = 0;
    if (n < 2) return 0;
    vscan_buffer *heads = new_vector(ctx, VSCAN_INT, n);
    vscan_buffer *pivots = new_vector(ctx, VSCAN_INT, n);
    vscan_buffer *split = new_vector(ctx, VSCAN_INT, n);
    vscan_buffer *greater = new_vector(ctx, VSCAN_INT, n);
    vscan_buffer *group = new_vector(ctx, VSCAN_INT, n);
    vscan_buffer *differs = new_vector(ctx, VSCAN_INT, n - 1), *any = new_vector(ctx, VSCAN_INT, 1);
    /* Each key but the first, beside the one before it. */
    vscan_buffer *key = view(keys, 1, n - 1), *key_before = view(keys, 0, n - 1);

    check(vscan_buffer_fill(heads, &zero)); /* element 0 always begins a segment */
    for (;; rounds++) {
        int32_t falls;
        if (print) print_round(rounds, keys, heads);
        check(vscan_compare(ctx, VSCAN_LESS, key, key_before, differs));
        check(vscan_reduce(ctx, VSCAN_OR, differs, any, NULL));
        check(vscan_buffer_get(any, 0, &falls));
        if (!falls || rounds == n) break; /* each round puts one key or more in place: n will do */

        check(vscan_distribute_segmented(ctx, VSCAN_FIRST, keys, heads, pivots));
        check(vscan_compare(ctx, VSCAN_GREATER, keys, pivots, greater));
        check(vscan_split_segmented(ctx, keys, greater, heads, split, NULL));
        check(vscan_compare(ctx, VSCAN_GREATER_OR_EQUAL, split, pivots, group));
        check(vscan_split_segmented(ctx, split, group, heads, keys, NULL));

        /* 0 for less, 1 for equal, 2 for greater; a change begins a segment. */
        check(vscan_compare(ctx, VSCAN_GREATER, keys, pivots, greater));
        check(vscan_compare(ctx, VSCAN_GREATER_OR_EQUAL, keys, pivots, group));
        check(vscan_map_binary(ctx, VSCAN_BINARY_ADD, group, greater, group));
        check(vscan_keys_to_heads(ctx, group, heads, heads));
    }

    vscan_buffer *all[] = {heads, pivots, split, greater, group, differs, key, key_before, any};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) vscan_buffer_destroy(all[k]);
    return rounds;
}

/* Sorts n keys of -range .. range, and compares. */
static bool sort_random(vscan_ctx *ctx, int64_t n, int64_t range, bool print) {
    int32_t *in = allocate(n, sizeof *in), *expected = allocate(n, sizeof *expected);
    for (int64_t i = 0; i < n; i++)
        expected[i] = in[i] = (int32_t)(random_below(2 * range + 1) - range);
    vscan_buffer *keys = new_vector_of(ctx, VSCAN_INT, n, in);

    double start = seconds();
    int64_t rounds = quicksort(ctx, keys, print);
    double time = seconds() - start;
    start = seconds();
    qsort(expected, (size_t)n, sizeof *expected, by_number);
    double serial = seconds() - start;

    check(vscan_buffer_download(keys, 0, n, in));
    bool same = memcmp(in, expected, (size_t)n * sizeof *in) == 0;
    printf("%" PRId64 " keys of -%" PRId64 " .. %" PRId64 ": %" PRId64 " rounds, ", n, range, range,
           rounds);
    if (!print) printf("%.3f ms, qsort %.3f ms, ", 1e3 * time, 1e3 * serial);
    printf("%s\n", same ? "the same" : "NOT THE SAME");
    free(in);
    free(expected);
    vscan_buffer_destroy(keys);
    return same;
}

int main(int argc, char **argv) {
    int64_t n = read_n_and_seed(argc, argv, 1 << 16, 0, INT64_C(1) << 40);
    vscan_ctx *ctx = open_context();
    bool right = sort_random(ctx, 16, 50, true);
    right = sort_random(ctx, n, INT32_MAX, false) && right;
    right = sort_random(ctx, n, 50, false) && right; /* many keys are equal */
    return close_context(ctx, right);
}
