/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Split-radix sort: n random ints in order by 32 splits, one for each bit.
 *
 * A split moves the keys whose bit is 0 to the left and those whose bit is 1 to the right, both in
 * their order; the scans in it count how many of either kind come before a key, which is where it
 * goes. After the split by bit b, keys are in order by their bits 0 .. b, since the split keeps the
 * order that earlier ones made among keys that agree in bit b. The highest bit is the sign: there
 * keys with a 1 go to the left. vscan_sort does the same with eight bits at a time. Both are
 * compared with qsort. Literature: Blelloch, Prefix Sums and Their Applications, 1990; and Vector
 * Models for Data-Parallel Computing, 1990.
 *
 *     split_radix_sort [n [seed]]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program.h"

static int by_number(const void *a, const void *b) {
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

struct vectors {
    vscan_buffer *keys;
    vscan_buffer *flags, *other; /* for the splits */
};

/* Sorts keys in place. */
typedef void sort_fn(vscan_ctx *ctx, const struct vectors *v);

static void sort_by_splits(vscan_ctx *ctx, const struct vectors *v) {
    const int32_t zero = 0;
    vscan_buffer *from = v->keys, *to = v->other;
    for (int bit = 0; bit < 32; bit++) { /* an even number of splits: the last one ends in keys */
        const int32_t mask = (int32_t)(UINT32_C(1) << bit);
        if (bit < 31) /* a flag is set by any number but 0 */
            check(vscan_map_right(ctx, VSCAN_BINARY_AND, from, &mask, v->flags));
        else
            check(vscan_compare_right(ctx, VSCAN_GREATER_OR_EQUAL, from, &zero, v->flags));
        check(vscan_split(ctx, from, v->flags, to, NULL));
        vscan_buffer *next = from;
        from = to;
        to = next;
    }
}

static void sort_by_library(vscan_ctx *ctx, const struct vectors *v) {
    check(vscan_sort(ctx, v->keys, NULL, v->keys, NULL, NULL));
}

static void print_ends(const char *what, const int32_t *values, int64_t n) {
    printf("%-8s", what);
    for (int64_t i = 0; i < n; i++) {
        if (i == 3 && n > 6) {
            printf(" ...");
            i = n - 3;
        }
        printf(" %d", (int)values[i]);
    }
    printf("\n");
}

/* Whether one form gives what qsort gave; timed the second time. */
static bool compare(const char *what, sort_fn *sort, vscan_ctx *ctx, const struct vectors *v,
                    const int32_t *in, const int32_t *expected, int64_t n) {
    double start = 0;
    int32_t *got = allocate(n, sizeof *got);
    for (int run = 0; run < 2; run++) {
        check(vscan_buffer_upload(v->keys, 0, n, in));
        check(vscan_ctx_synchronize(ctx));
        start = seconds();
        sort(ctx, v);
        check(vscan_ctx_synchronize(ctx));
    }
    double time = seconds() - start;
    check(vscan_buffer_download(v->keys, 0, n, got));
    bool same = memcmp(got, expected, (size_t)n * sizeof *got) == 0;
    printf("%-8s %8.3f ms, %s\n", what, 1e3 * time, same ? "the same" : "NOT THE SAME");
    free(got);
    return same;
}

int main(int argc, char **argv) {
    int64_t n = read_n_and_seed(argc, argv, 1 << 20, 0, INT64_C(1) << 40);
    vscan_ctx *ctx = open_context();
    int32_t *in = allocate(n, sizeof *in), *expected = allocate(n, sizeof *expected);
    for (int64_t i = 0; i < n; i++) { /* of any size, or -2 .. 2 */
        uint32_t any = (uint32_t)random_bits();
        expected[i] = in[i] = random_below(64) ? (int32_t)any : (int32_t)(any % 5) - 2;
    }
    struct vectors v = {.keys = new_vector(ctx, VSCAN_INT, n),
                        .flags = new_vector(ctx, VSCAN_INT, n),
                        .other = new_vector(ctx, VSCAN_INT, n)};

    double start = seconds();
    qsort(expected, (size_t)n, sizeof *expected, by_number);
    double time = seconds() - start;
    print_ends("in", in, n);
    print_ends("out", expected, n);
    printf("qsort    %8.3f ms\n", 1e3 * time);
    bool right = compare("splits", sort_by_splits, ctx, &v, in, expected, n);
    right = compare("sort", sort_by_library, ctx, &v, in, expected, n) && right;

    free(in);
    free(expected);
    vscan_buffer_destroy(v.keys);
    vscan_buffer_destroy(v.flags);
    vscan_buffer_destroy(v.other);
    return close_context(ctx, right);
}
