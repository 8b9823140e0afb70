/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Addition of two long binary numbers, by carry-lookahead.
 *
 * By hand, digits are added from the lowest on, because a carry may come in from the digit before,
 * and that one's from the one before it: 1 to ...1111 changes all of them. But every digit can be
 * looked at at once, and is one of three: its sum carries out whatever comes in (generate),
 * carries out what comes in (propagate: the sum is all ones), or carries out nothing. So the carry
 * into a digit is decided by the last digit before it that does not propagate, and "the last one
 * before that ..." is a scan. Digits are words of 32 bits here. Those that do not propagate start
 * segments, those that do belong to the one before them, and a segmented copy of "generates", from
 * the first word of each segment to all of it, is the carry out of every word; it goes into the
 * next one. Literature: Ofman, On the Algorithmic Complexity of Discrete Functions, 1963; Ladner
 * and Fischer, Parallel Prefix Computation, 1980; Brent and Kung, A Regular Layout for Parallel
 * Adders, 1982.
 *
 *     carry_lookahead [n [seed]]   numbers of n words, once random with long runs of words that
 *                                  propagate, once all ones and 1
 *
 * Checked against, and timed beside, the addition word after word.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program.h"

/* ---- On the vector model --------------------------------------------------------------------- */

/* The vectors of an addition; those called low are views of all but the highest of n + 1 words. */
struct adder {
    vscan_ctx *ctx;
    vscan_buffer *a, *b;             /* n words, the lowest first */
    vscan_buffer *sum, *sum_low;     /* n + 1 words */
    vscan_buffer *starts;            /* n flags: the words that do not propagate */
    vscan_buffer *carry, *carry_out; /* n + 1 flags: carries into words; n: those out of words */
    vscan_buffer *words, *words_low; /* n + 1 words to work with */
    vscan_buffer *turned;            /* n words to work with */
};

static vscan_buffer *part(vscan_buffer *vector, int64_t first, int64_t n) {
    vscan_buffer *view;
    check(vscan_buffer_view(vector, first, n, &view));
    return view;
}

static struct adder new_adder(vscan_ctx *ctx, int64_t n) {
    struct adder x = {.ctx = ctx};
    x.a = new_vector(ctx, VSCAN_INT, n);
    x.b = new_vector(ctx, VSCAN_INT, n);
    x.sum = new_vector(ctx, VSCAN_INT, n + 1);
    x.sum_low = part(x.sum, 0, n);
    x.starts = new_vector(ctx, VSCAN_BYTE, n);
    x.carry = new_vector(ctx, VSCAN_BYTE, n + 1);
    x.carry_out = part(x.carry, 1, n);
    x.words = new_vector(ctx, VSCAN_INT, n + 1);
    x.words_low = part(x.words, 0, n);
    x.turned = new_vector(ctx, VSCAN_INT, n);
    return x;
}

static void destroy_adder(struct adder *x) {
    vscan_buffer *all[] = {x->a,     x->b,         x->sum,   x->sum_low,   x->starts,
                           x->carry, x->carry_out, x->words, x->words_low, x->turned};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) check(vscan_buffer_destroy(all[k]));
}

/* sum = a + b */
static void add(struct adder *x) {
    const int32_t none = 0, ones = -1, sign = INT32_MIN;
    const uint8_t no_carry = 0;

    /* The words' sums modulo 2^32, and which of them propagate. */
    check(vscan_map_binary(x->ctx, VSCAN_BINARY_ADD, x->a, x->b, x->sum_low));
    check(vscan_compare_right(x->ctx, VSCAN_NOT_EQUAL, x->sum_low, &ones, x->starts));

    /* A word generates where its sum is less than a, without signs; with the highest bit turned
     * round, that is where it is less as an int. */
    check(vscan_map_right(x->ctx, VSCAN_BINARY_XOR, x->a, &sign, x->turned));
    check(vscan_map_right(x->ctx, VSCAN_BINARY_XOR, x->sum_low, &sign, x->words_low));
    check(vscan_compare(x->ctx, VSCAN_LESS, x->words_low, x->turned, x->carry_out));

    /* The carry out of every word is into the next one. Should word 0 propagate, it starts a
     * segment all the same, and does not generate: a sum of all ones is not less than a. */
    check(vscan_distribute_segmented(x->ctx, VSCAN_FIRST, x->carry_out, x->starts, x->carry_out));
    check(vscan_buffer_set(x->carry, 0, &no_carry));

    check(vscan_convert(x->ctx, x->carry, x->words));
    check(vscan_buffer_set(x->sum, vscan_buffer_length(x->a), &none));
    check(vscan_map_binary(x->ctx, VSCAN_BINARY_ADD, x->sum, x->words, x->sum));
}

/* ---- Word after word ------------------------------------------------------------------------- */

/* Returns the most words that one carry went through. */
static int64_t add_serially(const uint32_t *a, const uint32_t *b, int64_t n, uint32_t *sum) {
    uint64_t carry = 0;
    int64_t way = 0, longest = 0;
    for (int64_t i = 0; i < n; i++) {
        uint64_t alone = (uint64_t)a[i] + b[i], total = alone + carry;
        sum[i] = (uint32_t)total;
        way = carry && alone == UINT32_MAX ? way + 1 : 0;
        longest = way > longest ? way : longest;
        carry = total >> 32;
    }
    sum[n] = (uint32_t)carry;
    return longest;
}

/* ---- The program ----------------------------------------------------------------------------- */

struct numbers {
    uint32_t *a, *b, *sum, *expected;
};

/* Adds and compares, and prints a line. */
static bool addition(struct adder *x, const struct numbers *host, const char *what) {
    int64_t n = vscan_buffer_length(x->a);
    check(vscan_buffer_upload(x->a, 0, n, host->a));
    check(vscan_buffer_upload(x->b, 0, n, host->b));
    add(x); /* the first one makes the workspace */
    check(vscan_ctx_synchronize(x->ctx));
    double start = seconds();
    add(x);
    check(vscan_ctx_synchronize(x->ctx));
    double parallel = seconds() - start;
    check(vscan_buffer_download(x->sum, 0, n + 1, host->sum));

    start = seconds();
    int64_t longest = add_serially(host->a, host->b, n, host->expected);
    double serial = seconds() - start;
    bool right = memcmp(host->sum, host->expected, (size_t)(n + 1) * sizeof *host->sum) == 0;
    printf("%-11s  %15" PRId64 "  %15" PRId64 "  %9.3f ms  %9.3f ms  %s\n", what, 32 * n, longest,
           1e3 * parallel, 1e3 * serial, right ? "right" : "WRONG");
    return right;
}

/* One in 8 is 0, one in 8 is all ones: both are limits for "carries out". */
static uint32_t random_word(void) {
    uint64_t bits = random_bits();
    uint32_t word = (uint32_t)bits;
    return bits >> 61 == 0 ? 0 : bits >> 61 == 1 ? UINT32_MAX : word;
}

int main(int argc, char **argv) {
    int64_t n = read_n_and_seed(argc, argv, 1 << 20, 1, INT64_C(1) << 36);
    struct numbers host = {allocate(n, 4), allocate(n, 4), allocate(n + 1, 4), allocate(n + 1, 4)};
    vscan_ctx *ctx = open_context();
    struct adder x = new_adder(ctx, n);
    printf("\n%-11s  %15s  %15s  %12s  %12s\n", "numbers", "bits", "longest carry", "by segments",
           "one by one");

    /* Between random words, runs of words that make all ones: 1 to 1000 of them. */
    int64_t run = 0;
    for (int64_t i = 0; i < n; i++) {
        host.a[i] = random_word();
        host.b[i] = run > 0 ? ~host.a[i] : random_word();
        run = run > 0 ? run - 1 : random_below(1001);
    }
    bool right = addition(&x, &host, "random");

    memset(host.a, 0xff, (size_t)n * sizeof *host.a);
    memset(host.b, 0, (size_t)n * sizeof *host.b);
    host.b[0] = 1;
    right = addition(&x, &host, "2^bits-1, 1") && right;
    printf("\n");

    destroy_adder(&x);
    free(host.a);
    free(host.b);
    free(host.sum);
    free(host.expected);
    return close_context(ctx, right);
}
