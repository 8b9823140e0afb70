/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GROUP BY account: of a table of payments, in the order of time, the number of every account's payments, their
 * sum, the largest, and the account's balance after each of them.
 *
 * A stable sort by account, with the payments as values, brings each account's payments together, still in the
 * order of time. Then three calls: vscan_runs gives the accounts, and where the payments of each begin;
 * vscan_reduce_by_offsets one number an account, as often as there are questions; vscan_scan_by_offsets the
 * balances. Where one sum is all that is asked for, vscan_reduce_by_key does it at once. How many accounts there are is
 * known on the device alone; it is fetched once, to make vectors of that length. Amounts are in cents, and
 * exact. Literature: Blelloch, Vector Models for Data-Parallel Computing, 1990, ch. 3.
 *
 *     group_by [n [seed]]   n payments
 *
 * Checked with a serial loop.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program.h"

/* Of each account; and of each payment, account after account, the balance after it. */
struct groups {
    int32_t *accounts;
    int64_t *counts, *sums, *largest, *balances;
    int64_t number;
};

static struct groups new_groups(int64_t n) {
    return (struct groups){.accounts = allocate(n, sizeof(int32_t)),
                           .counts = allocate(n, sizeof(int64_t)),
                           .sums = allocate(n, sizeof(int64_t)),
                           .largest = allocate(n, sizeof(int64_t)),
                           .balances = allocate(n, sizeof(int64_t))};
}

static void free_groups(struct groups *g) {
    void *all[] = {g->accounts, g->counts, g->sums, g->largest, g->balances};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) free(all[k]);
}

/* Returns the seconds that it took. */
static double group(vscan_ctx *ctx, int64_t n, const int32_t *accounts, const int64_t *amounts,
                    struct groups *g) {
    vscan_buffer *keys = new_vector_of(ctx, VSCAN_INT, n, accounts);
    vscan_buffer *values = new_vector_of(ctx, VSCAN_LONG, n, amounts);
    vscan_buffer *unique = new_vector(ctx, VSCAN_INT, n), *count = new_vector(ctx, VSCAN_LONG, 1);
    vscan_buffer *all_offsets = new_vector(ctx, VSCAN_LONG, n + 1), *offsets;
    vscan_buffer *by_key = new_vector(ctx, VSCAN_LONG, n);
    const vscan_runs_options options = {.size = sizeof options, .count = count};
    check(vscan_ctx_synchronize(ctx));
    double start = seconds();

    check(vscan_sort(ctx, keys, values, keys, values, NULL));
    check(vscan_runs(ctx, keys, unique, all_offsets, &options));
    take_one(count, &g->number);
    check(vscan_buffer_view(all_offsets, 0, g->number + 1, &offsets));
    vscan_buffer *counts = new_vector(ctx, VSCAN_LONG, g->number);
    vscan_buffer *sums = new_vector(ctx, VSCAN_LONG, g->number);
    vscan_buffer *largest = new_vector(ctx, VSCAN_LONG, g->number);
    check(vscan_offsets_to_lengths(ctx, offsets, counts));
    check(vscan_reduce_by_offsets(ctx, VSCAN_PLUS, values, offsets, sums, NULL));
    check(vscan_reduce_by_offsets(ctx, VSCAN_MAX, values, offsets, largest, NULL));
    check(vscan_reduce_by_key(ctx, VSCAN_PLUS, keys, values, NULL, by_key,
                              NULL)); /* the sums again */
    check(vscan_scan_by_offsets(ctx, VSCAN_PLUS, values, offsets, values, NULL));
    check(vscan_ctx_synchronize(ctx));
    double time = seconds() - start;

    check(vscan_buffer_download(unique, 0, g->number, g->accounts));
    check(vscan_buffer_download(counts, 0, g->number, g->counts));
    check(vscan_buffer_download(by_key, 0, g->number, g->largest));
    check(vscan_buffer_download(sums, 0, g->number, g->sums));
    if (memcmp(g->largest, g->sums, (size_t)g->number * sizeof *g->sums) != 0) g->number = -1;
    check(vscan_buffer_download(largest, 0, g->number < 0 ? 0 : g->number, g->largest));
    check(vscan_buffer_download(values, 0, n, g->balances));
    vscan_buffer *all[] = {keys,   values, unique, offsets, all_offsets,
                           by_key, counts, sums,   largest};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) check(vscan_buffer_destroy(all[k]));
    return time;
}

/* The payments of one account after the other, found one by one. */
static void group_serially(int64_t n, int32_t most, const int32_t *accounts, const int64_t *amounts,
                           struct groups *g) {
    int64_t *first = allocate((int64_t)most + 1, sizeof *first); /* counts, then where they go */
    for (int64_t i = 0; i < n; i++) first[accounts[i] + 1]++;
    for (int32_t a = 0; a < most; a++) {
        if (first[a + 1] > 0) {
            g->accounts[g->number] = a;
            g->counts[g->number] = first[a + 1];
            g->number++;
        }
        first[a + 1] += first[a];
    }
    for (int64_t i = 0; i < n; i++) g->balances[first[accounts[i]]++] = amounts[i];
    free(first);
    for (int64_t k = 0, at = 0; k < g->number; k++) {
        int64_t sum = 0, largest = INT64_MIN;
        for (int64_t end = at + g->counts[k]; at < end; at++) {
            if (g->balances[at] > largest) largest = g->balances[at];
            g->balances[at] = sum += g->balances[at];
        }
        g->sums[k] = sum;
        g->largest[k] = largest;
    }
}

static bool same(int64_t n, const struct groups *a, const struct groups *b) {
    const size_t number = (size_t)a->number;
    return a->number == b->number && memcmp(a->accounts, b->accounts, number * 4) == 0 &&
           memcmp(a->counts, b->counts, number * 8) == 0 &&
           memcmp(a->sums, b->sums, number * 8) == 0 &&
           memcmp(a->largest, b->largest, number * 8) == 0 &&
           memcmp(a->balances, b->balances, (size_t)n * 8) == 0;
}

int main(int argc, char **argv) {
    int64_t n = read_n_and_seed(argc, argv, 1000000, 0, 100000000);
    int32_t most = (int32_t)(n / 50 + 1); /* accounts, some of which have no payment */
    vscan_ctx *ctx = open_context();
    int32_t *accounts = allocate(n, sizeof *accounts);
    int64_t *amounts = allocate(n, sizeof *amounts);
    for (int64_t i = 0; i < n; i++) {
        accounts[i] = (int32_t)random_below(1 + random_below(most));
        amounts[i] = random_below(200001) - 100000;
    }
    struct groups found = new_groups(n), expected = new_groups(n);
    double time = group(ctx, n, accounts, amounts, &found), start = seconds();
    group_serially(n, most, accounts, amounts, &expected);
    printf("time     %.3f ms, serial %.3f ms\n", 1e3 * time, 1e3 * (seconds() - start));
    printf("%" PRId64 " payments, %" PRId64 " accounts\n", n, found.number);
    for (int64_t k = 0; k < found.number && k < 3; k++)
        printf("account  %d: %" PRId64 " payments, sum %" PRId64 ", largest %" PRId64 "\n",
               (int)found.accounts[k], found.counts[k], found.sums[k], found.largest[k]);
    bool right = same(n, &found, &expected);
    free_groups(&found);
    free_groups(&expected);
    free(accounts);
    free(amounts);
    return close_context(ctx, right);
}
