/* SPDX-License-Identifier: Apache-2.0 */
#include "threads.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct run run = {.seed = 7};

void stop(vscan_status status, const char *call) {
    fprintf(stderr, "rank %d: %s: %s: %s | %s\n", rank, call, vscan_ranks_status_name(status),
            vscan_ranks_last_error(group), vscan_ctx_last_error(ctx));
    exit(1);
}

bool all_say(bool yes) {
    run.says[rank] = yes;
    (void)pthread_barrier_wait(&run.all);
    bool all = true;
    for (int r = 0; r < ranks; r++) all = all && run.says[r];
    (void)pthread_barrier_wait(&run.all);
    return all;
}

/* ---- Threads --------------------------------------------------------------------------------- */

struct thread {
    pthread_t thread;
    int rank, ranks;
    void (*body)(void);
};

static void *begin(void *argument) {
    const struct thread *const own = argument;
    rank = own->rank;
    ranks = own->ranks;
    ctx = run.ctxs[rank];
    group = run.groups[rank];
    own->body();
    return NULL;
}

void on_all_ranks(int count, void (*body)(void)) {
    struct thread threads[MOST_RANKS];
    assert_int_equal(pthread_barrier_init(&run.all, NULL, (unsigned)count), 0);
    for (int r = 0; r < count; r++) {
        threads[r] = (struct thread){.rank = r, .ranks = count, .body = body};
        assert_int_equal(pthread_create(&threads[r].thread, NULL, begin, threads + r), 0);
    }
    for (int r = 0; r < count; r++) assert_int_equal(pthread_join(threads[r].thread, NULL), 0);
    (void)pthread_barrier_destroy(&run.all);
}

void note(vscan_status status) {
    run.status[rank] = status;
    (void)snprintf(run.sentence[rank], sizeof run.sentence[rank], "%s",
                   vscan_ranks_last_error(group));
}

void expect(int r, const char *words) {
    assert_int_equal(run.status[r], VSCAN_RANKS_ERROR_TRANSPORT);
    if (strstr(run.sentence[r], words) == NULL)
        fail_msg("rank %d says \"%s\", not \"%s\"", r, run.sentence[r], words);
}

vscan_status scan_one(void) {
    vscan_buffer *one;
    CHECK(vscan_buffer_create(ctx, VSCAN_INT, 1, &one));
    CHECK(vscan_buffer_set(one, 0, &(int32_t){1}));
    const vscan_status status = vscan_ranks_scan(group, VSCAN_PLUS, one, one, NULL);
    CHECK(vscan_buffer_destroy(one));
    return status;
}

void verbs_of_rank(void) {
    const vscan_ctx_options options = {.size = sizeof options, .backend = VSCAN_BACKEND_CPU};
    CHECK(vscan_ctx_create(&options, &host));
    passed = failed = 0;
    run_verbs(run.n, run.seed);
    run.passed[rank] = passed;
    run.failed[rank] = failed;
    CHECK(vscan_ctx_destroy(host));
}

int run_at_random(char **argv, int most, void (*open)(int count, int64_t timeout),
                  void (*close)(int count)) {
    const time_t end = time(NULL) + strtoll(argv[2], NULL, 10);
    const uint64_t first = argv[3] == NULL ? (uint64_t)end : strtoull(argv[3], NULL, 10);
    int64_t good = 0, bad = 0;
    for (run.seed = first; time(NULL) < end && bad == 0; run.seed++) {
        const uint64_t drawn = run.seed * UINT64_C(0x9e3779b97f4a7c15) >> 20;
        const int count = 1 + (int)(drawn % (uint64_t)most);
        run.n = (int64_t)(drawn >> 8 & ((UINT64_C(2) << (drawn >> 32) % 21) - 1));
        open(count, LONG);
        on_all_ranks(count, verbs_of_rank);
        close(count);
        good += run.passed[0], bad += run.failed[0];
        if (run.failed[0] > 0)
            fprintf(stderr, "wrong: %d ranks, n = %lld, seed %llu\n", count, (long long)run.n,
                    (unsigned long long)run.seed);
    }
    printf("%s at random: seeds %llu to %llu, %lld comparisons passed, %lld failed\n", argv[1],
           (unsigned long long)first, (unsigned long long)run.seed - 1, (long long)good,
           (long long)bad);
    return bad > 0 || good == 0;
}

/* ---- A transport alone ----------------------------------------------------------------------- */

/* Longs of a rank, at a place. */
static int64_t told_by(int r, int64_t i) {
    return (r + 3) * INT64_C(1000003) - i * i;
}

static void check_all(bool good, const char *what) {
    if (!good) stop(VSCAN_ERROR_VALUE, what);
}

/* A vector that is cut evenly goes to where parts grow, through memory of the host. */
static void exchange_alone(vscan__ranks *own, int64_t n) {
    const int64_t mine = n + rank;
    int64_t *const from = malloc((size_t)((mine + 1) * ranks) * sizeof *from);
    int64_t *const to = calloc((size_t)((n + ranks) * ranks), sizeof *to);
    if (from == NULL || to == NULL) stop(VSCAN_ERROR_HOST_MEMORY, "malloc");
    for (int r = 0; r <= ranks; r++) {
        own->send_begin[r] = r * mine; /* as many to each rank */
        own->receive_begin[r] = r * n + r * (r - 1) / 2;
    }
    for (int64_t i = 0; i < mine * ranks; i++) from[i] = told_by(rank, i);
    const struct vscan__ranks_run run = {
        {(char *)from, false}, {(char *)to, false}, own->send_begin, own->receive_begin, 8};
    CHECK(own->transport->exchange(own, &run, 1));
    bool good = true;
    for (int r = 0; r < ranks; r++)
        for (int64_t i = 0; i < n + r && r != rank; i++)
            good = good && to[own->receive_begin[r] + i] == told_by(r, rank * (n + r) + i);
    free(from);
    free(to);
    check_all(good, "exchange");
}

void transport_of_rank(void) {
    enum { LONGS = 40000 };
    static const int lengths[] = {1, 3, 64, LONGS};
    vscan__ranks *const own = vscan__ranks_enter(group, "test");
    int64_t *const told = malloc(LONGS * sizeof *told);
    int64_t *const all = malloc((size_t)ranks * LONGS * sizeof *all);
    if (told == NULL || all == NULL) stop(VSCAN_ERROR_HOST_MEMORY, "malloc");
    for (int k = 0; k < 4; k++) {
        const int n = lengths[k];
        bool good = true;
        for (int i = 0; i < n; i++) told[i] = told_by(rank, i);
        CHECK(own->transport->all_gather(own, told, n * 8 - 3, all));
        for (int r = 0; r < ranks; r++)
            for (int i = 0; i < n * 8 - 3; i++) {
                const int64_t expected = told_by(r, i / 8);
                good =
                    good && ((char *)all)[r * (n * 8 - 3) + i] == ((const char *)&expected)[i % 8];
            }
        check_all(good, "all_gather");
        for (int how = REDUCE_MIN; how <= REDUCE_SUM_BEFORE; how++) {
            CHECK(own->transport->all_reduce(own, (enum vscan__ranks_reduction)how, told, all, n));
            for (int i = 0; i < n; i++) {
                int64_t expected = how == REDUCE_MIN ? INT64_MAX : 0;
                for (int r = 0; r < (how == REDUCE_SUM_BEFORE ? rank : ranks); r++)
                    if (how != REDUCE_MIN)
                        expected += told_by(r, i);
                    else if (told_by(r, i) < expected)
                        expected = told_by(r, i);
                good = good && all[i] == expected;
            }
            check_all(good, "all_reduce");
        }
        exchange_alone(own, n);
    }
    int counts[MOST_RANKS], begins[MOST_RANKS], begin = 0;
    for (int r = 0; r < ranks; r++)
        counts[r] = r % 3 == 1 ? 0 : 20000 * r + 1, begins[r] = begin, begin += counts[r];
    uint64_t *const words = calloc((size_t)begin, sizeof *words);
    if (words == NULL) stop(VSCAN_ERROR_HOST_MEMORY, "calloc");
    for (int i = 0; i < counts[rank]; i++) words[begins[rank] + i] = (uint64_t)told_by(rank, i);
    CHECK(own->transport->all_gatherv(own, words, counts, begins));
    bool good = true;
    for (int r = 0; r < ranks; r++)
        for (int i = 0; i < counts[r]; i++)
            good = good && words[begins[r] + i] == (uint64_t)told_by(r, i);
    check_all(good, "all_gatherv");
    free(words);
    for (int r = 0; r < ranks; r++) told[r] = told_by(rank, r);
    CHECK(own->transport->all_to_all(own, told, all));
    for (int r = 0; r < ranks; r++) good = good && all[r] == told_by(r, rank);
    check_all(good, "all_to_all");
    char state[2][VSCAN_CARRY_BYTES],
        got[VSCAN_CARRY_BYTES]; /* from each rank to the next, as a scan's */
    for (int message = 0; message < 2; message++) {
        memset(state[message], 10 * rank + message, sizeof state[message]);
        if (rank + 1 < ranks)
            CHECK(own->transport->send(own, rank + 1, message, state[message], 100));
    }
    for (int message = 0; message < 2 && rank > 0; message++) {
        CHECK(own->transport->receive(own, rank - 1, message, got, 100));
        for (int i = 0; i < 100; i++) good = good && got[i] == 10 * (rank - 1) + message;
    }
    check_all(good, "receive");
    CHECK(own->transport->wait_sent(own));
    free(told);
    free(all);
    const bool all_good = all_say(true); /* nobody leaves before */
    check_all(all_good, "all_say");
}
