/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stream compaction: of n random numbers, keep those greater than 0, in their order.
 *
 * Where does a number that is kept go? To the place whose number is the count of kept ones before
 * it, and these counts are the exclusive plus-scan of the flags "is kept". So the classic form is
 * three steps: compare (the flags), enumerate (the scan of the flags), and permute (each kept
 * number to its place). A permute moves every element, so the numbers that are not kept go behind
 * the others. vscan_pack_compare does it all in one pass over the numbers, with neither flags nor
 * positions in memory. Both are compared with a serial loop. Literature: Blelloch, Scans as
 * Primitive Parallel Operations, 1989; Horn, Stream Reduction Operations for GPGPU Applications
 * (GPU Gems 2), 2005.
 *
 *     compaction [n [seed]]
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program.h"

static int64_t compact_serial(const int32_t *in, int64_t n, int32_t *out) {
    int64_t kept = 0;
    for (int64_t i = 0; i < n; i++)
        if (in[i] > 0) out[kept++] = in[i];
    return kept;
}

struct vectors {
    vscan_buffer *in, *out;
    vscan_buffer *flags, *front, *behind, *written; /* for the chain */
};

/* Both forms write to out what is kept, and return how much that is. */
typedef int64_t compact_fn(vscan_ctx *ctx, const struct vectors *v);

static int64_t compact_by_chain(vscan_ctx *ctx, const struct vectors *v) {
    const int32_t zero = 0;
    int64_t kept;
    vscan_count_options count = {.size = sizeof count, .count = new_vector(ctx, VSCAN_LONG, 1)};
    check(vscan_compare_right(ctx, VSCAN_GREATER, v->in, &zero, v->flags));
    check(vscan_enumerate(ctx, v->flags, v->front, &count));
    take_one(count.count, &kept);
    /* Of the i elements before element i, i - front[i] are not kept. */
    check(vscan_index(ctx, kept, 1, v->behind));
    check(vscan_map_binary(ctx, VSCAN_BINARY_SUBTRACT, v->behind, v->front, v->behind));
    check(vscan_select(ctx, v->flags, v->front, v->behind, v->front));
    /* written has it checked that no two of them go to one place. */
    vscan_permute_options checked = {.size = sizeof checked, .written = v->written};
    check(vscan_permute(ctx, v->in, v->front, v->out, &checked));
    return kept;
}

static int64_t compact_by_pack(vscan_ctx *ctx, const struct vectors *v) {
    const int32_t zero = 0;
    int64_t kept;
    vscan_count_options count = {.size = sizeof count, .count = new_vector(ctx, VSCAN_LONG, 1)};
    check(vscan_pack_compare(ctx, VSCAN_GREATER, v->in, &zero, v->out, &count));
    take_one(count.count, &kept);
    return kept;
}

static void print_first(const char *what, const int32_t *values, int64_t n) {
    printf("%-8s", what);
    for (int64_t i = 0; i < n && i < 12; i++) printf(" %d", (int)values[i]);
    printf("%s\n", n > 12 ? " ..." : "");
}

/* Whether one form gives what the serial loop gave; timed the second time. */
static bool compare(const char *what, compact_fn *compact, vscan_ctx *ctx, const struct vectors *v,
                    const int32_t *expected, int64_t kept) {
    const int32_t poison = -1000;
    int64_t n = vscan_buffer_length(v->in), count = 0;
    double start = 0;
    int32_t *got = allocate(n, sizeof *got);
    for (int run = 0; run < 2; run++) {
        check(vscan_buffer_fill(v->out, &poison));
        check(vscan_ctx_synchronize(ctx));
        start = seconds();
        count = compact(ctx, v);
        check(vscan_ctx_synchronize(ctx));
    }
    double time = seconds() - start;
    check(vscan_buffer_download(v->out, 0, n, got));
    bool same = count == kept && memcmp(got, expected, (size_t)kept * sizeof *got) == 0;
    printf("%-8s %8.3f ms, %s\n", what, 1e3 * time, same ? "the same" : "NOT THE SAME");
    free(got);
    return same;
}

int main(int argc, char **argv) {
    int64_t n = read_n_and_seed(argc, argv, 1 << 20, 0, INT64_C(1) << 40);
    vscan_ctx *ctx = open_context();
    int32_t *in = allocate(n, sizeof *in), *expected = allocate(n, sizeof *expected);
    for (int64_t i = 0; i < n; i++) in[i] = (int32_t)random_below(199) - 99;
    vscan_type position = n <= INT32_MAX ? VSCAN_INT : VSCAN_LONG;
    struct vectors v = {.in = new_vector_of(ctx, VSCAN_INT, n, in),
                        .out = new_vector(ctx, VSCAN_INT, n),
                        .flags = new_vector(ctx, VSCAN_BYTE, n),
                        .front = new_vector(ctx, position, n),
                        .behind = new_vector(ctx, position, n),
                        .written = new_vector(ctx, VSCAN_BIT, n)};

    double start = seconds();
    int64_t kept = compact_serial(in, n, expected);
    double time = seconds() - start;
    print_first("in", in, n);
    print_first("out", expected, kept);
    printf("kept     %" PRId64 " of %" PRId64 "\n", kept, n);
    printf("serial   %8.3f ms\n", 1e3 * time);
    bool right = compare("chain", compact_by_chain, ctx, &v, expected, kept);
    right = compare("pack", compact_by_pack, ctx, &v, expected, kept) && right;

    free(in);
    free(expected);
    vscan_buffer_destroy(v.in);
    vscan_buffer_destroy(v.out);
    vscan_buffer_destroy(v.flags);
    vscan_buffer_destroy(v.front);
    vscan_buffer_destroy(v.behind);
    vscan_buffer_destroy(v.written);
    return close_context(ctx, right);
}
