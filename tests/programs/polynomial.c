/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The value of a polynomial with millions of coefficients, modulo 2^32.
 *
 * Horner's rule is n steps, each waiting for the one before it. In the vector model the powers of
 * x come first, then all terms at once, then their sum, a reduction. The powers are a scan of x,
 * x, x, ... by multiplication. vscan has no scan by that operator, so they are made as the scans
 * of the first data-parallel computers were, by doubling: when the first k powers are there, they
 * times x^k are the next k ones, and after log2 n steps all are. Ints are modulo 2^32, in which
 * sums and products are exact. (Modulo a prime, such values are the fingerprints of texts of Karp
 * and Rabin.) Literature: Hillis and Steele, Data Parallel Algorithms, 1986; Karp and Rabin,
 * Efficient Randomized Pattern-Matching Algorithms, 1987.
 *
 *     polynomial [n [seed]]   n coefficients, at the points 0, 1, -1, 2 and a random one
 *
 * Checked against Horner's rule.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "program.h"

/* powers[i] = x^i */
static void make_powers(vscan_ctx *ctx, uint32_t x, vscan_buffer *powers) {
    int64_t n = vscan_buffer_length(powers);
    const int32_t one = 1;
    if (n > 0) check(vscan_buffer_set(powers, 0, &one));
    for (int64_t k = 1; k < n; k *= 2, x *= x) { /* x is the given one to the k-th */
        int64_t count = k < n - k ? k : n - k;
        vscan_buffer *first, *next;
        check(vscan_buffer_view(powers, 0, count, &first));
        check(vscan_buffer_view(powers, k, count, &next));
        check(vscan_map_right(ctx, VSCAN_BINARY_MULTIPLY, first, &x, next));
        check(vscan_buffer_destroy(first));
        check(vscan_buffer_destroy(next));
    }
}

/* terms is of the coefficients' length, and overwritten. */
static uint32_t value_at(vscan_ctx *ctx, uint32_t x, const vscan_buffer *coefficients,
                         vscan_buffer *terms) {
    uint32_t value;
    vscan_buffer *one = new_vector(ctx, VSCAN_INT, 1);
    make_powers(ctx, x, terms);
    check(vscan_map_binary(ctx, VSCAN_BINARY_MULTIPLY, coefficients, terms, terms));
    check(vscan_reduce(ctx, VSCAN_PLUS, terms, one, NULL));
    take_one(one, &value);
    return value;
}

static uint32_t horner(const uint32_t *coefficients, int64_t n, uint32_t x) {
    uint32_t value = 0;
    for (int64_t i = n; i-- > 0;) value = value * x + coefficients[i];
    return value;
}

int main(int argc, char **argv) {
    int64_t n = read_n_and_seed(argc, argv, 1 << 20, 0, INT64_C(1) << 36);
    uint32_t *host = allocate(n, sizeof *host);
    for (int64_t i = 0; i < n; i++) host[i] = (uint32_t)random_bits();
    const uint32_t points[] = {0, 1, UINT32_MAX, 2, (uint32_t)random_bits() | 1};

    vscan_ctx *ctx = open_context();
    vscan_buffer *coefficients = new_vector_of(ctx, VSCAN_INT, n, host);
    vscan_buffer *terms = new_vector(ctx, VSCAN_INT, n);
    bool right = true;
    for (size_t k = 0; k < sizeof points / sizeof *points; k++) {
        uint32_t value = value_at(ctx, points[k], coefficients, terms);
        printf("value    %" PRIu32 " at %" PRIu32 "\n", value, points[k]);
        right = right && value == horner(host, n, points[k]);
    }

    check(vscan_buffer_destroy(coefficients));
    check(vscan_buffer_destroy(terms));
    free(host);
    return close_context(ctx, right);
}
