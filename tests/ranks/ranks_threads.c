/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Groups of ranks that are threads of this process:
 *
 *     ranks_threads cpu|cuda [SECONDS [SEED]]
 *
 * With cuda even ranks are on a GPU. With SECONDS random lengths are all that is done, on GPUs alone at every other
 * seed. Every operation is compared with one call on the whole vector; ranks that do not come, that leave, that call
 * something else, and bad arguments are statuses and sentences. The program is made of the library's sources, so that
 * it can also ask the transport itself. Exit status 77 where there is no GPU.
 */
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "threads.h"

static vscan_backend backend = VSCAN_BACKEND_CPU;
static bool small;
static int32_t devices;

static void open_group(int count, int64_t timeout) {
    const vscan_ranks_options options = {.size = sizeof options, .timeout = timeout};
    const bool all_equal = run.seed % 2 == 0;
    for (int r = 0; r < count; r++) {
        const bool on_backend = all_equal || r % 2 == 0;
        const vscan_ctx_options of_ctx = {
            .size = sizeof of_ctx,
            .backend = on_backend ? (int32_t)backend : VSCAN_BACKEND_CPU,
            .device = on_backend ? (all_equal ? r : r / 2) % devices : 0,
            .threads = 1};
        CHECK(vscan_ctx_create(&of_ctx, run.ctxs + r));
    }
    CHECK(vscan_ranks_create_all(run.ctxs, count, &options, run.groups));
    for (int r = 0; r < count; r++) {
        assert_int_equal(vscan_ranks_rank(run.groups[r]), r);
        assert_int_equal(vscan_ranks_size(run.groups[r]), count);
    }
}

static void close_group(int count) {
    for (int r = 0; r < count; r++) {
        CHECK(vscan_ranks_destroy(run.groups[r]));
        CHECK(vscan_ctx_destroy(run.ctxs[r]));
    }
}

/* ---- Every operation ------------------------------------------------------------------------- */

static void same_bits(void **state) {
    static const struct {
        int ranks;
        int64_t n;
    } cases[] = {{2, 3},     {3, 4000}, {1, 3000}, {2, 20000},
                 {3, 40000}, {4, 3},    {7, 9000}, {3, 300000}};
    (void)state;
    const int last = small && backend == VSCAN_BACKEND_CUDA ? 2 : 8;
    for (int k = 0; k < last; k++) {
        run.n = small && cases[k].n > 100 ? cases[k].n / 10 : cases[k].n;
        open_group(cases[k].ranks, LONG);
        on_all_ranks(cases[k].ranks, verbs_of_rank);
        assert_int_equal(run.failed[0], 0);
        close_group(cases[k].ranks);
    }
}

static void each_function(void **state) {
    static const int sizes[] = {1, 2, 5};
    (void)state;
    for (int k = 0; k < 3; k++) {
        open_group(sizes[k], LONG);
        on_all_ranks(sizes[k], transport_of_rank);
        close_group(sizes[k]);
    }
}

/* ---- Elements in the memory of GPUs ---------------------------------------------------------- */

/* Contexts of the CPU at odd ranks that the library takes for a GPU's, by the linker's --wrap, and copies that fail. */
static bool pretends;
static atomic_int copied;
static int failing = -1; /* of this rank */

vscan_backend __real_vscan_ctx_backend(const vscan_ctx *of);
vscan_backend __wrap_vscan_ctx_backend(const vscan_ctx *of);
vscan_backend __wrap_vscan_ctx_backend(const vscan_ctx *of) {
    for (int r = 1; pretends && r < MOST_RANKS; r += 2)
        if (run.ctxs[r] == of) return VSCAN_BACKEND_CUDA;
    return __real_vscan_ctx_backend(of);
}

bool __real_vscan__ranks_can_copy(void);
bool __wrap_vscan__ranks_can_copy(void);
bool __wrap_vscan__ranks_can_copy(void) {
    return __real_vscan__ranks_can_copy() || pretends;
}

bool __real_vscan__ranks_copy(int32_t here, int32_t there, void *to, const void *from, int64_t n);
bool __wrap_vscan__ranks_copy(int32_t here, int32_t there, void *to, const void *from, int64_t n);
bool __wrap_vscan__ranks_copy(int32_t here, int32_t there, void *to, const void *from, int64_t n) {
    copied++;
    if (rank == failing) return false;
    if (!pretends) return __real_vscan__ranks_copy(here, there, to, from, n);
    memcpy(to, from, (size_t)n);
    return true;
}

static void rebalance_noted(void) {
    vscan_buffer *in, *out;
    CHECK(vscan_buffer_create(ctx, VSCAN_INT, rank == 1 ? 1 : 5, &in));
    CHECK(vscan_buffer_create(ctx, VSCAN_INT, rank == 1 ? 9 : 1, &out));
    note(vscan_ranks_rebalance(group, in, out));
    CHECK(vscan_buffer_destroy(in));
    CHECK(vscan_buffer_destroy(out));
}

static void elements_of_gpus(void **state) {
    (void)state;
    if (backend != VSCAN_BACKEND_CPU) skip();
    pretends = true;
    run.n = 3000;
    open_group(4, LONG);
    on_all_ranks(4, verbs_of_rank);
    close_group(4);
    assert_int_equal(run.failed[0], 0);
    assert_true(copied > 0);
    open_group(3, LONG);
    failing = 1;
    on_all_ranks(3, rebalance_noted);
    for (int r = 0; r < 3; r++) {
        assert_int_equal(run.status[r], VSCAN_ERROR_BACKEND);
        assert_non_null(strstr(run.sentence[r], "rank 1: copying 16 bytes from rank 2 failed"));
    }
    failing = -1;
    on_all_ranks(3, rebalance_noted);
    for (int r = 0; r < 3; r++) assert_int_equal(run.status[r], VSCAN_OK);
    close_group(3);
    pretends = false;
}

/* ---- Ranks that do not come ------------------------------------------------------------------ */

static void all_but_0_scan(void) {
    if (rank > 0) note(scan_one());
}

static void all_scan_noted(void) {
    note(scan_one());
}

static void nobody_waits_for_ever(void **state) {
    (void)state;
    open_group(4, SHORT);
    on_all_ranks(4, all_but_0_scan);
    for (int r = 1; r < 4; r++) expect(r, "vscan_ranks_scan: rank 0 has not come within 200 ms");
    on_all_ranks(4, all_scan_noted); /* contexts go on; the group says why it does not */
    expect(0, "vscan_ranks_scan: rank 0 has not come within 200 ms");
    for (int r = 1; r < 4; r++) expect(r, "messages failed in an earlier call");
    close_group(4);
}

/* Rank 0 leaves while the others wait for it, or before they come. */
static void leave_or_scan(void) {
    if (rank == 0)
        CHECK(vscan_ranks_destroy(group));
    else
        note(scan_one());
}

static void who_leaves_is_told(void **state) {
    (void)state;
    open_group(3, LONG);
    on_all_ranks(3, leave_or_scan);
    for (int r = 1; r < 3; r++) expect(r, "vscan_ranks_scan: rank 0 has left");
    for (int r = 1; r < 3; r++) CHECK(vscan_ranks_destroy(run.groups[r]));
    for (int r = 0; r < 3; r++) CHECK(vscan_ctx_destroy(run.ctxs[r]));
}

/* All have come to one meeting, and rank 1 waits for a state that is not sent since then; rank 2 for one that rank 1 sends. */
static void wait_for_state(void) {
    vscan__ranks *const own = vscan__ranks_enter(group, "test");
    const int64_t told = rank;
    int64_t all[3], state = 0;
    if (rank == 0)
        CHECK(own->transport->send(own, 1, 0, &told, sizeof told)); /* of an earlier call */
    CHECK(own->transport->all_gather(own, &told, sizeof told, all));
    if (rank == 1) CHECK(own->transport->send(own, 2, 1, &told, sizeof told));
    if (rank == 2) CHECK(own->transport->receive(own, 1, 1, &state, sizeof state));
    if (rank == 2 && (state != 1 || all[2] != 2)) stop(VSCAN_ERROR_VALUE, "receive");
    CHECK(own->transport->all_to_all(own, all, (int64_t[3]){0})); /* they leave together */
    if (rank == 1) note(own->transport->receive(own, 0, 0, &state, sizeof state));
    if (rank == 1 && own->transport->wait_sent(own) == VSCAN_OK) stop(VSCAN_OK, "wait_sent");
}

static void states_are_missed(void **state) {
    (void)state;
    open_group(3, SHORT * 25); /* of three threads that do nothing else */
    on_all_ranks(3, wait_for_state);
    expect(1, "test: rank 0 has not come within 5000 ms");
    close_group(3);
}

/* ---- Ranks that differ ----------------------------------------------------------------------- */

static void call_another(void) {
    vscan_buffer *one;
    CHECK(vscan_buffer_create(ctx, VSCAN_INT, 1, &one));
    note(rank == 1 ? vscan_ranks_index(group, 0, 1, one)
                   : vscan_ranks_scan(group, VSCAN_PLUS, one, one, NULL));
    CHECK(vscan_buffer_destroy(one));
    if (scan_one() != VSCAN_OK) stop(VSCAN_OK, "a scan after that");
}

static void all_agree(void **state) {
    (void)state;
    open_group(3, LONG);
    on_all_ranks(3, call_another);
    for (int r = 0; r < 3; r++) {
        assert_int_equal(run.status[r], VSCAN_RANKS_ERROR_DIFFERENT);
        assert_non_null(
            strstr(run.sentence[r], "rank 1 calls vscan_ranks_index, rank 0 vscan_ranks_scan"));
    }
    close_group(3);
}

/* ---- Runs that are refused ------------------------------------------------------------------- */

/* Calls of the functions on runs with one argument of rank 1 that all ranks are told of; nothing is written. */
enum { KEYS, WITHIN, HEADS, KEYS_OUT, OFFSETS, COUNT, IN, TOTALS, ARGUMENTS };
static int refused_call, refused_argument; /* 0: keys to heads, 1: runs, 2: reduce by key */
static const char *refused_for;

static vscan_status call_on_runs(vscan_buffer *const *with) {
    const vscan_runs_options of_runs = {
        .size = sizeof of_runs, .within = with[WITHIN], .count = with[COUNT]};
    const vscan_reduce_by_key_options by_key = {
        .size = sizeof by_key, .within = with[WITHIN], .count = with[COUNT]};
    if (refused_call == 0)
        return vscan_ranks_keys_to_heads(group, with[KEYS], with[WITHIN], with[HEADS]);
    return refused_call == 1
               ? vscan_ranks_runs(group, with[KEYS], with[KEYS_OUT], with[OFFSETS], &of_runs)
               : vscan_ranks_reduce_by_key(group, VSCAN_PLUS, with[KEYS], with[IN], with[KEYS_OUT],
                                           with[TOTALS], &by_key);
}

static void runs_refused(void) {
    enum { LENGTH = 4 };
    static const vscan_type types[ARGUMENTS] = {VSCAN_INT,  VSCAN_BYTE, VSCAN_BYTE, VSCAN_INT,
                                                VSCAN_LONG, VSCAN_LONG, VSCAN_INT,  VSCAN_INT};
    static const int32_t different[LENGTH] = {4, 3, 2, 1};
    vscan_buffer *made[ARGUMENTS], *with[ARGUMENTS], *other;
    for (int i = 0; i < ARGUMENTS; i++) {
        CHECK(
            vscan_buffer_create(ctx, types[i], i == COUNT ? 1 : LENGTH + (i == OFFSETS), made + i));
        CHECK(vscan_buffer_fill(made[i], &(int64_t){0}));
        with[i] = made[i];
    }
    CHECK(vscan_buffer_upload(made[KEYS], 0, LENGTH, different));
    const bool is_short = strcmp(refused_for, "short") == 0;
    CHECK(vscan_buffer_create(ctx, is_short ? types[refused_argument] : VSCAN_UINT8,
                              is_short ? LENGTH - 1 : LENGTH, &other));
    if (rank == 1) with[refused_argument] = strcmp(refused_for, "keys") == 0 ? made[KEYS] : other;
    if (rank == 1 && strcmp(refused_for, "NULL") == 0) with[refused_argument] = NULL;
    note(call_on_runs(with));
    for (int i = HEADS; i < ARGUMENTS; i++) { /* nothing is written */
        int64_t first = 1;
        CHECK(vscan_buffer_get(made[i], 0, &first));
        if ((first & 0xff) != 0) stop(VSCAN_ERROR_VALUE, "what was refused has written");
    }
    CHECK(vscan_buffer_destroy(other));
    for (int i = 0; i < ARGUMENTS; i++) CHECK(vscan_buffer_destroy(made[i]));
    if (scan_one() != VSCAN_OK) stop(VSCAN_OK, "a scan after that");
}

static void refuse_runs(void **state) {
    static const struct {
        int call, argument;
        const char *what;
        vscan_status status;
        const char *words;
    } cases[] = {{0, KEYS, "NULL", VSCAN_ERROR_NULL, "keys is NULL"},
                 {0, KEYS, "type", VSCAN_ERROR_TYPE, "keys are not int"},
                 {0, WITHIN, "type", VSCAN_ERROR_TYPE, "options->within are not int, byte or bit"},
                 {0, WITHIN, "short", VSCAN_ERROR_LENGTH, "options->within has 3 elements"},
                 {0, HEADS, "NULL", VSCAN_ERROR_NULL, "heads is NULL"},
                 {0, HEADS, "short", VSCAN_ERROR_LENGTH, "heads has 3 elements"},
                 {0, HEADS, "keys", VSCAN_ERROR_OVERLAP, "heads overlaps keys"},
                 {1, KEYS_OUT, "type", VSCAN_ERROR_TYPE, "keys_out has the wrong type"},
                 {1, KEYS_OUT, "keys", VSCAN_ERROR_OVERLAP, "keys_out overlaps keys"},
                 {1, KEYS_OUT, "short", VSCAN_ERROR_OUT_LENGTH, "keys_out has 3 elements"},
                 {1, OFFSETS, "type", VSCAN_ERROR_TYPE, "offsets are not int or long"},
                 {1, OFFSETS, "short", VSCAN_ERROR_OUT_LENGTH, "offsets has 3 elements"},
                 {1, OFFSETS, "NULL", (vscan_status)VSCAN_RANKS_ERROR_DIFFERENT, "kind is 0"},
                 {1, COUNT, "type", VSCAN_ERROR_TYPE, "count has the wrong type"},
                 {2, IN, "NULL", VSCAN_ERROR_NULL, "in is NULL"},
                 {2, IN, "short", VSCAN_ERROR_LENGTH, "in has 3 elements"},
                 {2, IN, "type", VSCAN_ERROR_PAIR, "no operator works on in's type"},
                 {2, TOTALS, "NULL", VSCAN_ERROR_NULL, "totals is NULL"},
                 {2, TOTALS, "short", VSCAN_ERROR_TOTALS_LENGTH, "totals has 3 elements"},
                 {2, TOTALS, "keys", VSCAN_ERROR_OVERLAP, "totals overlaps keys"},
                 {2, KEYS_OUT, "short", VSCAN_ERROR_OUT_LENGTH, "keys_out has 3 elements"},
                 {2, COUNT, "type", VSCAN_ERROR_TYPE, "count has the wrong type"}};
    (void)state;
    open_group(3, LONG);
    for (int k = 0; k < (int)(sizeof cases / sizeof *cases); k++) {
        refused_call = cases[k].call;
        refused_argument = cases[k].argument;
        refused_for = cases[k].what;
        on_all_ranks(3, runs_refused);
        for (int r = 0; r < 3; r++)
            if (run.status[r] != cases[k].status || strstr(run.sentence[r], "rank 1: ") == NULL ||
                strstr(run.sentence[r], cases[k].words) == NULL)
                fail_msg("case %d, rank %d: %d, \"%s\"", k, r, (int)run.status[r], run.sentence[r]);
    }
    close_group(3);
}

/* Keys at the cuts: NaNs of other bits, a part without elements between two of one run, a flag at a part's first key. */
static bool flagged;

static void runs_at_cuts(void) {
    static const float keys[4][2] = {{1, NAN}, {0, 0}, {-NAN, 2}, {2, 2}};
    static const int64_t lengths[4] = {2, 0, 2, 2};
    static const struct {
        int64_t begun;
        uint8_t heads[2];
        float totals[2];
        int64_t offsets[3];
    } expected[2][4] = {{{2, {1, 1}, {11, 12}, {0, 1}},
                         {0, {0}, {0}, {0}},
                         {1, {0, 1}, {13}, {3}},
                         {0, {0, 0}, {0}, {6}}},
                        {{2, {1, 1}, {11, 12}, {0, 1}},
                         {0, {0}, {0}, {0}},
                         {1, {0, 1}, {11}, {3}},
                         {1, {1, 0}, {12}, {4, 6}}}};
    const int64_t n = lengths[rank], last = rank == 3, begun = expected[flagged][rank].begun;
    const float one = 1, ten = 10;
    uint8_t heads[2] = {0};
    float totals[2] = {0}, keys_out[2];
    int64_t offsets[3] = {0}, runs = 0;
    vscan_buffer *of_keys, *in, *within, *marks, *sums, *begins, *count, *initial, *first_keys;
    CHECK(vscan_buffer_create(ctx, VSCAN_FLOAT, n, &of_keys));
    CHECK(vscan_buffer_create(ctx, VSCAN_FLOAT, n, &in));
    CHECK(vscan_buffer_create(ctx, VSCAN_BIT, n, &within));
    CHECK(vscan_buffer_create(ctx, VSCAN_BYTE, n, &marks));
    CHECK(vscan_buffer_create(ctx, VSCAN_FLOAT, begun, &sums));
    CHECK(vscan_buffer_create(ctx, VSCAN_FLOAT, begun, &first_keys));
    CHECK(vscan_buffer_create(ctx, VSCAN_LONG, begun + last, &begins));
    CHECK(vscan_buffer_create(ctx, VSCAN_LONG, 1, &count));
    CHECK(vscan_buffer_create(ctx, VSCAN_FLOAT, 1, &initial));
    CHECK(vscan_buffer_upload(of_keys, 0, n, keys[rank]));
    CHECK(vscan_buffer_fill(in, &one));
    CHECK(vscan_buffer_fill(within, &(uint8_t){0}));
    if (last && flagged) CHECK(vscan_buffer_set(within, 0, &(uint8_t){1}));
    CHECK(vscan_buffer_set(initial, 0, &ten));
    const vscan_runs_options of_runs = {.size = sizeof of_runs, .within = within, .count = count};
    const vscan_reduce_by_key_options by_key = {
        .size = sizeof by_key, .within = within, .initial_buffer = initial};
    CHECK(vscan_ranks_keys_to_heads(group, of_keys, within, marks));
    CHECK(vscan_ranks_runs(group, of_keys, first_keys, begins, &of_runs));
    CHECK(vscan_ranks_reduce_by_key(group, VSCAN_PLUS, of_keys, in, NULL, sums, &by_key));
    CHECK(vscan_buffer_download(marks, 0, n, heads));
    CHECK(vscan_buffer_download(sums, 0, begun, totals));
    CHECK(vscan_buffer_download(first_keys, 0, begun, keys_out));
    CHECK(vscan_buffer_download(begins, 0, begun + last, offsets));
    CHECK(vscan_buffer_get(count, 0, &runs));
    run.failed[rank] = memcmp(heads, expected[flagged][rank].heads, sizeof heads) != 0 ||
                       memcmp(totals, expected[flagged][rank].totals, sizeof totals) != 0 ||
                       memcmp(offsets, expected[flagged][rank].offsets, sizeof offsets) != 0 ||
                       (rank == 2 && keys_out[0] != 2) || runs != 3 + flagged;
    vscan_buffer *const made[] = {of_keys, in,    within,  marks,     sums,
                                  begins,  count, initial, first_keys};
    for (int i = 0; i < 9; i++) CHECK(vscan_buffer_destroy(made[i]));
}

static void cut_runs(void **state) {
    (void)state;
    open_group(4, LONG);
    for (int with = 0; with < 2; with++) {
        flagged = with;
        on_all_ranks(4, runs_at_cuts);
        for (int r = 0; r < 4; r++)
            if (run.failed[r] != 0) fail_msg("rank %d, flagged: %d", r, with);
    }
    close_group(4);
}

/* ---- Refused --------------------------------------------------------------------------------- */

static void refuse(vscan_ctx *const *ctxs, int32_t count, const vscan_ranks_options *options,
                   vscan_ranks **made, vscan_status status, const char *words) {
    vscan_ranks *const before = made != NULL ? made[0] : NULL;
    assert_int_equal(vscan_ranks_create_all(ctxs, count, options, made), status);
    const char *const sentence = vscan_ranks_last_error(NULL);
    if (strstr(sentence, "vscan_ranks_create_all: ") != sentence || strstr(sentence, words) == NULL)
        fail_msg("\"%s\" has no \"%s\"", sentence, words);
    if (made != NULL) assert_ptr_equal(made[0], before);
}

static void bad_arguments(void **state) {
    (void)state;
    open_group(2, LONG);
    vscan_ctx *const *const two = run.ctxs;
    vscan_ctx *twice[] = {two[0], two[0]}, *none[] = {two[0], NULL};
    vscan_ctx *dead[] = {two[0], (vscan_ctx *)run.groups[0]};
    vscan_ranks *made[2] = {NULL, NULL};
    const vscan_ranks_options negative = {.size = sizeof negative, .timeout = -1},
                              sizeless = {.size = 3};
    refuse(NULL, 2, NULL, made, VSCAN_ERROR_NULL, "ctxs is NULL");
    refuse(two, 2, NULL, NULL, VSCAN_ERROR_NULL, "ranks is NULL");
    refuse(two, 0, NULL, made, VSCAN_ERROR_LENGTH, "count is 0");
    refuse(two, 1025, NULL, made, VSCAN_ERROR_LENGTH, "count is 1025");
    refuse(none, 2, NULL, made, VSCAN_ERROR_NULL, "ctxs[1] is NULL");
    refuse(dead, 2, NULL, made, VSCAN_ERROR_HANDLE, "ctxs[1] is no live context");
    refuse(twice, 2, NULL, made, VSCAN_ERROR_VALUE, "ctxs[1] is ctxs[0]");
    refuse(two, 2, &negative, made, VSCAN_ERROR_VALUE, "options->timeout is -1");
    refuse(two, 2, &sizeless, made, VSCAN_ERROR_STRUCT_SIZE, "options->size is 3");
    CHECK(vscan_ranks_create_all(two, 2, NULL, made)); /* a context may be in several groups */
    for (int r = 0; r < 2; r++) CHECK(vscan_ranks_destroy(made[r]));
    close_group(2);
}

/* Handles come to an end: those that were made are given back, and the group before goes on. */
static void too_many(void **state) {
    enum { GROUPS = 1024 };
    static vscan_ranks *made[GROUPS][2];
    (void)state;
    open_group(2, LONG);
    int n = 0;
    while (n < GROUPS && vscan_ranks_create_all(run.ctxs, 2, NULL, made[n]) == VSCAN_OK) n++;
    assert_int_equal(n, GROUPS / 2 - 1);
    CHECK(vscan_ranks_destroy(made[0][0]));
    refuse(run.ctxs, 2, NULL, made[0], VSCAN_ERROR_HOST_MEMORY, "there are 1024 already");
    vscan_ranks *one;
    CHECK(vscan_ranks_create_all(run.ctxs, 1, NULL, &one));
    CHECK(vscan_ranks_destroy(one));
    CHECK(vscan_ranks_destroy(made[0][1]));
    for (int k = 1; k < n; k++)
        for (int r = 0; r < 2; r++) CHECK(vscan_ranks_destroy(made[k][r]));
    on_all_ranks(2, all_scan_noted);
    assert_int_equal(run.status[0], VSCAN_OK);
    close_group(2);
}

int main(int argc, char **argv) {
    static const struct CMUnitTest tests[] = {cmocka_unit_test(each_function),
                                              cmocka_unit_test(same_bits),
                                              cmocka_unit_test(nobody_waits_for_ever),
                                              cmocka_unit_test(who_leaves_is_told),
                                              cmocka_unit_test(states_are_missed),
                                              cmocka_unit_test(all_agree),
                                              cmocka_unit_test(refuse_runs),
                                              cmocka_unit_test(cut_runs),
                                              cmocka_unit_test(elements_of_gpus),
                                              cmocka_unit_test(bad_arguments),
                                              cmocka_unit_test(too_many)};
    const char *const sizes = getenv("VSCAN_TEST_SIZES");
    small = sizes != NULL && strcmp(sizes, "small") == 0;
    if (argc > 1 && strcmp(argv[1], "cuda") == 0) backend = VSCAN_BACKEND_CUDA;
    if (vscan_device_count(backend, &devices) != VSCAN_OK || devices < 1) {
        fprintf(stderr, "there is no GPU\n");
        return 77;
    }
    if (argc > 2) return run_at_random(argv, 5, open_group, close_group);
    return cmocka_run_group_tests_name(backend == VSCAN_BACKEND_CPU ? "ranks.cpu" : "ranks.cuda",
                                       tests, NULL, NULL);
}
