/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Balances with resets: after every entry of a ledger, what is on its account?
 *
 * An entry adds an amount, or it sets the balance anew, as a count of the stock does. The ledger has the
 * entries of all accounts, account after account, each in the order of time. So a balance is the sum since the
 * last entry that set it, or since the account's first one: a segmented sum, whose segments begin where the
 * account changes and at the entries that set. vscan_keys_to_heads makes these heads of the accounts and, as
 * `within`, of the flags "sets". The last balance of an account stands before the next account's first entry,
 * and the lowest one is a segmented minimum. Amounts are in cents, and exact. Literature: Blelloch, Vector Models
 * for Data-Parallel Computing, 1990, ch. 3 (segmented scans).
 *
 *     balances [n [seed]]   n entries
 *
 * Checked with a serial loop.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program.h"

/* Of each entry the balance after it; of each account the last one and the lowest. */
struct balances {
    int64_t *after, *last, *lowest;
    int64_t accounts;
};

static struct balances new_balances(int64_t n) {
    return (struct balances){.after = allocate(n, sizeof(int64_t)),
                             .last = allocate(n, sizeof(int64_t)),
                             .lowest = allocate(n, sizeof(int64_t))};
}

static void free_balances(struct balances *b) {
    free(b->after);
    free(b->last);
    free(b->lowest);
}

static void find_serially(const int32_t *account, const uint8_t *sets, const int64_t *amount,
                          int64_t n, struct balances *b) {
    int64_t k = -1;
    for (int64_t i = 0; i < n; i++) {
        const bool first = i == 0 || account[i] != account[i - 1];
        b->after[i] = amount[i] + (first || sets[i] ? 0 : b->after[i - 1]);
        if (first) b->lowest[++k] = b->after[i];
        if (b->after[i] < b->lowest[k]) b->lowest[k] = b->after[i];
        b->last[k] = b->after[i];
    }
    b->accounts = k + 1;
}

static void find(vscan_ctx *ctx, const int32_t *account, const uint8_t *sets, const int64_t *amount,
                 int64_t n, struct balances *b) {
    vscan_buffer *accounts = new_vector_of(ctx, VSCAN_INT, n, account);
    vscan_buffer *setting = new_vector_of(ctx, VSCAN_BYTE, n, sets);
    vscan_buffer *amounts = new_vector_of(ctx, VSCAN_LONG, n, amount);
    vscan_buffer *heads = new_vector(ctx, VSCAN_BYTE, n), *firsts = new_vector(ctx, VSCAN_BYTE, n);
    vscan_buffer *after = new_vector(ctx, VSCAN_LONG, n), *lowest = new_vector(ctx, VSCAN_LONG, n);
    vscan_buffer *offsets = new_vector(ctx, VSCAN_LONG, n + 1),
                 *last = new_vector(ctx, VSCAN_LONG, n);
    const vscan_count_options counted = {.size = sizeof counted,
                                         .count = new_vector(ctx, VSCAN_LONG, 1)};

    check(vscan_keys_to_heads(ctx, accounts, setting, heads));
    check(vscan_scan_segmented(ctx, VSCAN_PLUS, amounts, heads, after, NULL));

    check(vscan_keys_to_heads(ctx, accounts, NULL, firsts));
    check(vscan_reduce_segmented(ctx, VSCAN_MIN, after, firsts, lowest, NULL));
    check(vscan_heads_to_offsets(ctx, firsts, offsets, &counted));
    take_one(counted.count, &b->accounts);
    vscan_buffer *ends, *some; /* offsets[k + 1] - 1 is where account k ends */
    const int64_t one = 1;
    check(vscan_buffer_view(offsets, n > 0, b->accounts, &ends));
    check(vscan_buffer_view(last, 0, b->accounts, &some));
    check(vscan_map_right(ctx, VSCAN_BINARY_SUBTRACT, ends, &one, ends));
    check(vscan_gather(ctx, after, ends, some));

    check(vscan_buffer_download(after, 0, n, b->after));
    check(vscan_buffer_download(lowest, 0, b->accounts, b->lowest));
    check(vscan_buffer_download(some, 0, b->accounts, b->last));
    vscan_buffer *all[] = {accounts, setting, amounts, heads, firsts, after,
                           lowest,   offsets, last,    ends,  some};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) check(vscan_buffer_destroy(all[k]));
}

int main(int argc, char **argv) {
    const int64_t n = read_n_and_seed(argc, argv, 1 << 20, 0, INT64_C(1) << 40);
    vscan_ctx *ctx = open_context();
    int32_t *account = allocate(n, sizeof *account);
    int64_t *amount = allocate(n, sizeof *amount);
    uint8_t *sets = allocate(n, 1);
    for (int64_t i = 0; i < n; i++) {
        account[i] = i == 0 ? 1000 : account[i - 1] + (random_below(40) == 0);
        sets[i] = random_below(25) == 0;
        amount[i] = sets[i] ? random_below(100000) : random_below(20001) - 10000;
    }
    struct balances got = new_balances(n), expected = new_balances(n);
    find(ctx, account, sets, amount, n, &got);
    find_serially(account, sets, amount, n, &expected);
    const size_t bytes = (size_t)expected.accounts * sizeof(int64_t);
    const bool right = got.accounts == expected.accounts &&
                       memcmp(got.after, expected.after, (size_t)n * sizeof(int64_t)) == 0 &&
                       memcmp(got.last, expected.last, bytes) == 0 &&
                       memcmp(got.lowest, expected.lowest, bytes) == 0;

    for (int64_t i = 0; i < n && i < 12; i++)
        printf("account  %" PRId32 "  %s %10.2f  balance %10.2f\n", account[i], sets[i] ? "=" : "+",
               (double)amount[i] / 100, (double)expected.after[i] / 100);
    printf("ledger   %" PRId64 " entries of %" PRId64 " accounts\n", n, expected.accounts);
    free_balances(&got);
    free_balances(&expected);
    free(account);
    free(amount);
    free(sets);
    return close_context(ctx, right);
}
