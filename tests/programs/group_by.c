/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GROUP BY account: of a table of payments, in the order of time, the number of every account's payments, their
 * sum, the largest and its row, and the account's balance after each of them.
 *
 * A stable sort by account, with the numbers of rows as values, brings each account's payments together, still in
 * the order of time. Then three calls: vscan_runs gives the accounts, and where the payments of each begin;
 * vscan_reduce_by_offsets one number an account, as often as there are questions; vscan_scan_by_offsets the
 * balances. Where one sum is all that is asked for, vscan_reduce_by_key does it at once. The row of the largest
 * payment is the least of those whose amount is the account's largest. How many accounts there are is
 * known on the device alone; it is fetched once, to make vectors of that length. Amounts are in cents, and
 * exact. Literature: Blelloch, Vector Models for Data-Parallel Computing, 1990, ch. 3.
 *
 *     group_by [n [seed]]   n payments, drawn at random
 *     group_by FILE         lines "ACCOUNT,AMOUNT", such as "1207,-12.50"; the first line may have names
 *
 * Checked with a serial loop.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files.h"
#include "program.h"

enum { ROWS_AT_MOST = 100000000, AMOUNT_AT_MOST = 100000000 }; /* so that sums fit */

struct table {
    int64_t n;
    int32_t *accounts;
    int64_t *amounts;
};

static struct table new_table(int64_t n) {
    return (struct table){n, allocate(n, sizeof(int32_t)), allocate(n, sizeof(int64_t))};
}

/* ---- A file ---------------------------------------------------------------------------------- */

/* Whether text is a number with up to two decimals, of which *cents then has the hundredths. */
static bool read_cents(const char *text, int64_t *cents) {
    const bool minus = *text == '-';
    int places = 0;
    if (minus) text++;
    if (!isdigit((unsigned char)*text)) return false;
    for (*cents = 0; isdigit((unsigned char)*text) && *cents <= AMOUNT_AT_MOST; text++)
        *cents = 10 * *cents + (*text - '0');
    if (*text == '.')
        for (text++; isdigit((unsigned char)*text) && places < 2; text++, places++)
            *cents = 10 * *cents + (*text - '0');
    for (; places < 2; places++) *cents *= 10;
    if (*text != 0 || *cents > INT64_C(100) * AMOUNT_AT_MOST) return false;
    if (minus) *cents = -*cents;
    return true;
}

static bool read_row(const char *line, int32_t *account, int64_t *cents) {
    char *end;
    errno = 0;
    const long long number = strtoll(line, &end, 10);
    if (end == line || *end != ',' || errno || number < INT32_MIN || number > INT32_MAX)
        return false;
    *account = (int32_t)number;
    return read_cents(end + 1, cents);
}

static struct table read_table(const char *program, const char *path) {
    int64_t size, lines = 1;
    unsigned char *const bytes = read_file(program, path, &size);
    char *const text = realloc(bytes, (size_t)size + 1);
    if (!text) refuse(program, "%s is too large for the memory", path);
    for (int64_t i = 0; i < size; i++) lines += text[i] == '\n';
    if (lines > ROWS_AT_MOST) refuse(program, "%s has more than %d lines", path, ROWS_AT_MOST);
    struct table t = new_table(lines);
    t.n = 0;
    char *line = text, *const last = text + size;
    for (int64_t number = 1; line < last; number++) {
        char *end = memchr(line, '\n', (size_t)(last - line));
        char *const next = end ? end + 1 : last;
        if (!end) end = last;
        if (end > line && end[-1] == '\r') end--;
        *end = 0;
        const bool names = number == 1 && (isalpha((unsigned char)*line) || *line == '"');
        if (!names) {
            if (!read_row(line, &t.accounts[t.n], &t.amounts[t.n]))
                refuse(program, "%s, line %" PRId64 ": not \"ACCOUNT,AMOUNT\"", path, number);
            t.n++;
        }
        line = next;
    }
    free(text);
    return t;
}

static struct table draw_table(int64_t n) {
    struct table t = new_table(n);
    int32_t most = (int32_t)(n / 50 + 1); /* accounts, some of which have no payment */
    for (int64_t i = 0; i < n; i++) {
        t.accounts[i] = (int32_t)random_below(1 + random_below(most));
        t.amounts[i] = random_below(200001) - 100000;
    }
    return t;
}

/* ---- With vscan ------------------------------------------------------------------------------ */

/* Of each account; and of each payment, account after account, the balance after it. */
struct groups {
    int32_t *accounts, *rows;
    int64_t *counts, *sums, *largest, *balances;
    int64_t number;
};

static struct groups new_groups(int64_t n) {
    return (struct groups){.accounts = allocate(n, sizeof(int32_t)),
                           .rows = allocate(n, sizeof(int32_t)),
                           .counts = allocate(n, sizeof(int64_t)),
                           .sums = allocate(n, sizeof(int64_t)),
                           .largest = allocate(n, sizeof(int64_t)),
                           .balances = allocate(n, sizeof(int64_t))};
}

static void free_groups(struct groups *g) {
    void *all[] = {g->accounts, g->rows, g->counts, g->sums, g->largest, g->balances};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) free(all[k]);
}

/* Of each segment the first of the rows whose value is the largest one. */
static void rows_of_largest(vscan_ctx *ctx, const vscan_buffer *values, const vscan_buffer *rows,
                            const vscan_buffer *offsets, vscan_buffer *found) {
    const int64_t n = vscan_buffer_length(values);
    const int32_t no_row = INT32_MAX;
    vscan_buffer *heads = new_vector(ctx, VSCAN_BIT, n), *is = new_vector(ctx, VSCAN_BIT, n);
    vscan_buffer *largest = new_vector(ctx, VSCAN_LONG, n), *some = new_vector(ctx, VSCAN_INT, n);
    check(vscan_offsets_to_heads(ctx, offsets, heads));
    check(vscan_distribute_totals(ctx, VSCAN_MAX, values, heads, largest));
    check(vscan_compare(ctx, VSCAN_EQUAL, values, largest, is));
    check(vscan_select_right(ctx, is, rows, &no_row, some));
    check(vscan_reduce_by_offsets(ctx, VSCAN_MIN, some, offsets, found, NULL));
    vscan_buffer *all[] = {heads, is, largest, some};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) check(vscan_buffer_destroy(all[k]));
}

/* Returns the seconds that it took. */
static double group(vscan_ctx *ctx, const struct table *t, struct groups *g) {
    const int64_t n = t->n;
    vscan_buffer *keys = new_vector_of(ctx, VSCAN_INT, n, t->accounts);
    vscan_buffer *amounts = new_vector_of(ctx, VSCAN_LONG, n, t->amounts);
    vscan_buffer *rows = new_vector(ctx, VSCAN_INT, n), *values = new_vector(ctx, VSCAN_LONG, n);
    vscan_buffer *unique = new_vector(ctx, VSCAN_INT, n), *count = new_vector(ctx, VSCAN_LONG, 1);
    vscan_buffer *all_offsets = new_vector(ctx, VSCAN_LONG, n + 1), *offsets;
    vscan_buffer *by_key = new_vector(ctx, VSCAN_LONG, n);
    const vscan_runs_options options = {.size = sizeof options, .count = count};
    check(vscan_ctx_synchronize(ctx));
    double start = seconds();

    check(vscan_index(ctx, 0, 1, rows));
    check(vscan_sort(ctx, keys, rows, keys, rows, NULL));
    check(vscan_gather(ctx, amounts, rows, values));
    check(vscan_runs(ctx, keys, unique, all_offsets, &options));
    take_one(count, &g->number);
    check(vscan_buffer_view(all_offsets, 0, g->number + 1, &offsets));
    vscan_buffer *counts = new_vector(ctx, VSCAN_LONG, g->number);
    vscan_buffer *sums = new_vector(ctx, VSCAN_LONG, g->number);
    vscan_buffer *largest = new_vector(ctx, VSCAN_LONG, g->number);
    vscan_buffer *largest_rows = new_vector(ctx, VSCAN_INT, g->number);
    check(vscan_offsets_to_lengths(ctx, offsets, counts));
    check(vscan_reduce_by_offsets(ctx, VSCAN_PLUS, values, offsets, sums, NULL));
    check(vscan_reduce_by_offsets(ctx, VSCAN_MAX, values, offsets, largest, NULL));
    rows_of_largest(ctx, values, rows, offsets, largest_rows);
    /* the sums again */
    check(vscan_reduce_by_key(ctx, VSCAN_PLUS, keys, values, NULL, by_key, NULL));
    check(vscan_scan_by_offsets(ctx, VSCAN_PLUS, values, offsets, values, NULL));
    check(vscan_ctx_synchronize(ctx));
    double time = seconds() - start;

    check(vscan_buffer_download(unique, 0, g->number, g->accounts));
    check(vscan_buffer_download(counts, 0, g->number, g->counts));
    check(vscan_buffer_download(by_key, 0, g->number, g->largest));
    check(vscan_buffer_download(sums, 0, g->number, g->sums));
    if (memcmp(g->largest, g->sums, (size_t)g->number * sizeof *g->sums) != 0) g->number = -1;
    const int64_t number = g->number < 0 ? 0 : g->number;
    check(vscan_buffer_download(largest, 0, number, g->largest));
    check(vscan_buffer_download(largest_rows, 0, number, g->rows));
    check(vscan_buffer_download(values, 0, n, g->balances));
    vscan_buffer *all[] = {keys,        amounts, rows,   values, unique,  offsets,
                           all_offsets, by_key,  counts, sums,   largest, largest_rows};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) check(vscan_buffer_destroy(all[k]));
    return time;
}

/* ---- Without it ------------------------------------------------------------------------------ */

struct payment {
    int32_t account, row;
};

static int by_account(const void *a, const void *b) {
    const struct payment *const p = a, *const q = b;
    if (p->account != q->account) return p->account < q->account ? -1 : 1;
    return p->row < q->row ? -1 : p->row > q->row;
}

static void group_serially(const struct table *t, struct groups *g) {
    struct payment *const payments = allocate(t->n, sizeof *payments);
    for (int64_t i = 0; i < t->n; i++) payments[i] = (struct payment){t->accounts[i], (int32_t)i};
    qsort(payments, (size_t)t->n, sizeof *payments, by_account);
    for (int64_t i = 0; i < t->n; i++) {
        const struct payment p = payments[i];
        const int64_t amount = t->amounts[p.row];
        if (i == 0 || p.account != payments[i - 1].account) {
            g->accounts[g->number] = p.account;
            g->largest[g->number++] = INT64_MIN;
        }
        const int64_t k = g->number - 1;
        if (amount > g->largest[k]) {
            g->largest[k] = amount;
            g->rows[k] = p.row;
        }
        g->counts[k]++;
        g->balances[i] = g->sums[k] += amount;
    }
    free(payments);
}

static bool same(int64_t n, const struct groups *a, const struct groups *b) {
    const size_t number = (size_t)a->number;
    return a->number == b->number && memcmp(a->accounts, b->accounts, number * 4) == 0 &&
           memcmp(a->rows, b->rows, number * 4) == 0 &&
           memcmp(a->counts, b->counts, number * 8) == 0 &&
           memcmp(a->sums, b->sums, number * 8) == 0 &&
           memcmp(a->largest, b->largest, number * 8) == 0 &&
           memcmp(a->balances, b->balances, (size_t)n * 8) == 0;
}

/* ---- Both ------------------------------------------------------------------------------------ */

int main(int argc, char **argv) {
    struct table t;
    if (argc > 1 && is_file_name(argv[1])) {
        if (argc > 2) refuse(argv[0], "usage: %s [n [seed]] | FILE", argv[0]);
        t = read_table(argv[0], argv[1]);
    } else {
        t = draw_table(read_n_and_seed(argc, argv, 1000000, 0, ROWS_AT_MOST));
    }
    vscan_ctx *ctx = open_context();
    struct groups found = new_groups(t.n), expected = new_groups(t.n);
    double time = group(ctx, &t, &found), start = seconds();
    group_serially(&t, &expected);
    printf("time     %.3f ms, serial %.3f ms\n", 1e3 * time, 1e3 * (seconds() - start));
    printf("%" PRId64 " payments, %" PRId64 " accounts\n", t.n, found.number);
    for (int64_t k = 0; k < found.number && k < 3; k++)
        printf("account  %d: %" PRId64 " payments, sum %.2f, largest %.2f in row %d\n",
               (int)found.accounts[k], found.counts[k], 0.01 * (double)found.sums[k],
               0.01 * (double)found.largest[k], (int)found.rows[k] + 1);
    bool right = same(t.n, &found, &expected);
    free_groups(&found);
    free_groups(&expected);
    free(t.accounts);
    free(t.amounts);
    return close_context(ctx, right);
}
