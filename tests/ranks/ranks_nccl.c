/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Groups of ranks by NCCL, which are threads of this process here:
 *
 *     ranks_nccl cpu       contexts of the CPU that the library takes for a GPU's, and stand_in.c in place of NCCL
 *     ranks_nccl emulated  contexts of the emulated CUDA backend, and the same
 *     ranks_nccl cuda      the GPUs of this machine, and NCCL. Exit status 77 where one of them is missing
 *
 * With SECONDS [SEED] after that random lengths are all that is done.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ranks/words.h"
#include "stand_in.h"
#include "threads.h"

static bool small, is_real;
static vscan_backend backend = VSCAN_BACKEND_CPU;
static int most_ranks = 5; /* GPUs of the machine */

static struct {
    void *comms[MOST_RANKS];
    vscan_ranks_options options;
    int refusing; /* a rank that has no context, or -1 */
} opened = {.refusing = -1};

/* ---- Contexts that are taken for a GPU's ----------------------------------------------------- */

static bool pretends;

vscan_backend __real_vscan_ctx_backend(const vscan_ctx *of);
vscan_backend __wrap_vscan_ctx_backend(const vscan_ctx *of);
vscan_backend __wrap_vscan_ctx_backend(const vscan_ctx *of) {
    for (int r = 0; pretends && r < MOST_RANKS; r++)
        if (run.ctxs[r] == of) return VSCAN_BACKEND_CUDA;
    return __real_vscan_ctx_backend(of);
}

/* ---- Ranks that are not on one host ---------------------------------------------------------- */

static int elsewhere = -1; /* a rank that is on another host */

struct vscan__ranks_words *__real_vscan__ranks_join_words(const char *name, int count, int of_rank,
                                                          int64_t piece);
struct vscan__ranks_words *__wrap_vscan__ranks_join_words(const char *name, int count, int of_rank,
                                                          int64_t piece);
struct vscan__ranks_words *__wrap_vscan__ranks_join_words(const char *name, int count, int of_rank,
                                                          int64_t piece) {
    return __real_vscan__ranks_join_words(of_rank == elsewhere ? "/dev/shm/none" : name, count,
                                          of_rank, piece);
}

/* ---- Groups ---------------------------------------------------------------------------------- */

static void make_communicators(int count) {
    if (!is_real) {
        new_communicators(count, opened.comms);
        return;
    }
    static void *library;
    static int (*init_all)(void **comms, int count, const int *devices);
    if (library == NULL) library = dlopen("libnccl.so.2", RTLD_NOW);
    *(void **)&init_all = dlsym(library, "ncclCommInitAll");
    assert_int_equal(init_all(opened.comms, count, NULL), 0);
}

static void create(void) {
    note(vscan_ranks_create_nccl(rank == opened.refusing ? NULL : ctx, opened.comms[rank],
                                 &opened.options, &run.groups[rank]));
}

static void destroy(void) {
    CHECK(vscan_ranks_destroy(group));
    run.groups[rank] = NULL;
}

static void open_contexts(int count, int64_t timeout) {
    make_communicators(count);
    opened.options = (vscan_ranks_options){.size = sizeof opened.options, .timeout = timeout};
    for (int r = 0; r < count; r++) {
        const vscan_ctx_options options = {.size = sizeof options,
                                           .backend = (int32_t)backend,
                                           .device = is_real ? r : 0,
                                           .threads = backend == VSCAN_BACKEND_CPU};
        CHECK(vscan_ctx_create(&options, run.ctxs + r));
        run.groups[r] = NULL;
    }
}

static void close_contexts(int count) {
    for (int r = 0; r < count; r++) CHECK(vscan_ctx_destroy(run.ctxs[r]));
    memset(run.ctxs, 0, sizeof run.ctxs);
    if (!is_real) end_communicators();
}

static void open_group(int count, int64_t timeout) {
    open_contexts(count, timeout);
    on_all_ranks(count, create);
    for (int r = 0; r < count; r++) {
        if (run.status[r] != VSCAN_OK) fail_msg("rank %d: %s", r, run.sentence[r]);
        assert_int_equal(vscan_ranks_rank(run.groups[r]), r);
        assert_int_equal(vscan_ranks_size(run.groups[r]), count);
    }
}

static void close_group(int count) {
    on_all_ranks(count, destroy);
    close_contexts(count);
}

/* ---- What goes well -------------------------------------------------------------------------- */

static void each_function(void **state) {
    static const int sizes[] = {1, 2, 5};
    (void)state;
    for (int k = 0; k < 3 && sizes[k] <= most_ranks; k++) {
        for (elsewhere = -1; elsewhere < 1; elsewhere++) {
            open_group(sizes[k], LONG);
            on_all_ranks(sizes[k], transport_of_rank);
            close_group(sizes[k]);
        }
        elsewhere = -1;
    }
}

static void same_bits(void **state) {
    static const struct {
        int ranks;
        int64_t n;
    } cases[] = {{2, 300}, {2, 3}, {1, 3000}, {2, 20000}, {3, 40000}, {4, 3}, {5, 9000}};
    (void)state;
    const int last = small && backend == VSCAN_BACKEND_CUDA && !is_real ? 1 : 7;
    for (int k = 0; k < last; k++) {
        if (cases[k].ranks > most_ranks) continue;
        run.n = small && cases[k].n > 400 ? cases[k].n / 10 : cases[k].n;
        elsewhere = k % 3 == 0 ? cases[k].ranks - 1 : -1;
        open_group(cases[k].ranks, LONG);
        on_all_ranks(cases[k].ranks, verbs_of_rank);
        assert_int_equal(run.failed[0], 0);
        close_group(cases[k].ranks);
    }
    elsewhere = -1;
}

/* ---- What does not --------------------------------------------------------------------------- */

static void scan_noted(void) {
    note(scan_one());
}

static void all_but_0_scan(void) {
    if (rank > 0) note(scan_one());
}

/* Also where NCCL is real. */
static void nobody_waits_for_ever(void **state) {
    const int count = most_ranks < 3 ? most_ranks : 3;
    (void)state;
    if (count < 2) skip();
    open_group(count, LONG);
    on_all_ranks(count, scan_noted); /* connections that are made need no time */
    for (int r = 0; r < count; r++) assert_int_equal(run.status[r], VSCAN_OK);
    close_group(count);
    for (elsewhere = -1; elsewhere < 1; elsewhere++) {
        open_group(count, is_real ? 2000 : SHORT);
        on_all_ranks(count, all_but_0_scan);
        for (int r = 1; r < count; r++) { /* the first one whose time is over may tell the others */
            const bool told = elsewhere < 0 && strstr(run.sentence[r], "within") == NULL;
            expect(r, told      ? "another rank has given up"
                      : is_real ? "within 2000 ms"
                                : "within 200 ms");
        }
        on_all_ranks(count, scan_noted);
        for (int r = 1; r < count; r++) expect(r, "messages failed in an earlier call");
        assert_int_equal(run.status[0], VSCAN_RANKS_ERROR_TRANSPORT);
        if (elsewhere < 0) expect(0, "another rank has given up");
        close_group(count);
    }
    elsewhere = -1;
}

/* Rank 0 is refused, or all are. */
static void refuse(int count, vscan_status status, const char *words) {
    on_all_ranks(count, create);
    if (run.status[0] != status || strstr(run.sentence[0], words) == NULL)
        fail_msg("%d, \"%s\" is not %d, \"%s\"", (int)run.status[0], run.sentence[0], (int)status,
                 words);
    for (int r = 0; r < count; r++) assert_null(run.groups[r]);
}

static void bad_arguments(void **state) {
    (void)state;
    if (is_real) skip();
    open_contexts(2, LONG);
    opened.refusing = 0;
    refuse(2, VSCAN_ERROR_NULL, "vscan_ranks_create_nccl: ctx is NULL");
    expect(1, "rank 1: ncclCommSplit: another rank has refused its arguments");
    opened.refusing = -1;
    vscan_ctx *const own = run.ctxs[0];
    run.ctxs[0] = (vscan_ctx *)&own;
    refuse(2, VSCAN_ERROR_HANDLE, "ctx is no live context");
    run.ctxs[0] = own;
    opened.options.timeout = -1;
    refuse(2, VSCAN_ERROR_VALUE, "options->timeout is -1");
    opened.options.timeout = 0;
    opened.options.size = 1;
    refuse(2, VSCAN_ERROR_STRUCT_SIZE, "options->size is 1");
    opened.options.size = sizeof opened.options;
    has_driver = false;
    refuse(2, VSCAN_ERROR_UNSUPPORTED, "there is no libcuda.so.1");
    has_driver = true;
    lacks = "ncclCommSplit";
    refuse(2, VSCAN_ERROR_UNSUPPORTED, "older than version 2.18");
    lacks = "ncclGetErrorString";
    refuse(2, VSCAN_ERROR_UNSUPPORTED, "older than version 2.18");
    lacks = NULL;
    has_nccl = false;
    refuse(2, VSCAN_ERROR_UNSUPPORTED, "libnccl.so.2 cannot be opened");
    has_nccl = true;
    stand_in_device = 7;
    refuse(2, VSCAN_ERROR_VALUE, "comm is on device 7, the context on 0");
    stand_in_device = 0;
    vscan_ranks *made = NULL;
    assert_int_equal(vscan_ranks_create_nccl(own, NULL, NULL, &made), VSCAN_ERROR_NULL);
    assert_non_null(strstr(vscan_ranks_last_error(NULL), "comm is NULL"));
    close_contexts(2);
    if (backend != VSCAN_BACKEND_CPU) return;
    open_contexts(1, LONG);
    pretends = false;
    refuse(1, VSCAN_ERROR_UNSUPPORTED, "ctx is not on a GPU");
    pretends = true;
    close_contexts(1);
}

/* Each kind of message: words, states, longs from each to each, elements. */
static vscan_status call_each(void) {
    vscan_buffer *in, *out, *places;
    CHECK(vscan_buffer_create(ctx, VSCAN_FLOAT, 3, &in));
    CHECK(vscan_buffer_create(ctx, VSCAN_FLOAT, 3, &out));
    CHECK(vscan_buffer_create(ctx, VSCAN_INT, 3, &places));
    CHECK(vscan_buffer_upload(in, 0, 3, (const float[]){1, 2, 3}));
    CHECK(vscan_index(ctx, 1, 1, places)); /* positions 1, 2, 3 of 6 */
    vscan_status status = vscan_ranks_scan(group, VSCAN_PLUS, in, out, NULL);
    if (status == VSCAN_OK) status = vscan_ranks_gather(group, in, places, out);
    if (status == VSCAN_OK) status = vscan_ranks_sort(group, in, NULL, out, NULL, NULL);
    CHECK(vscan_buffer_destroy(in));
    CHECK(vscan_buffer_destroy(out));
    CHECK(vscan_buffer_destroy(places));
    return status;
}

static void try_all(void) {
    create();
    if (run.status[rank] != VSCAN_OK) return;
    group = run.groups[rank];
    note(call_each());
    const vscan_status ended = vscan_ranks_destroy(group);
    group = NULL;
    if (run.status[rank] == VSCAN_OK) note(ended);
    run.groups[rank] = NULL;
}

/* Every call ends, and the contexts go on. */
static void try_with_failure(const char *what) {
    enum { TIME = 300 };
    open_contexts(2, TIME);
    has_failed = false;
    on_all_ranks(2, try_all);
    /* the first time the device's context is for locking pages, which may fail */
    const bool may_fail = failing_at == 1 && strstr("cuDeviceGet cuDevicePrimaryCtxRetain "
                                                    "cuCtxPushCurrent_v2",
                                                    what) != NULL;
    if (has_failed && run.status[1] == VSCAN_OK && !may_fail)
        fail_msg("%s fails, and nobody says so", what);
    if (run.status[1] != VSCAN_OK && strstr(run.sentence[1], "vscan_ranks_") != run.sentence[1])
        fail_msg("%s fails: \"%s\"", what, run.sentence[1]);
    for (int r = 0; r < 2; r++) CHECK(vscan_ctx_synchronize(run.ctxs[r]));
    close_contexts(2);
}

static void each_call_fails(void **state) {
    static const char *const functions[] = {"ncclCommCount",
                                            "ncclCommUserRank",
                                            "ncclCommCuDevice",
                                            "ncclCommSplit",
                                            "ncclGroupStart",
                                            "ncclCommFinalize",
                                            "ncclCommDestroy",
                                            "ncclCommGetAsyncError",
                                            "ncclGroupEnd",
                                            "ncclSend",
                                            "ncclRecv",
                                            "ncclAllGather",
                                            "ncclAllReduce",
                                            "cuDeviceGet",
                                            "cuDevicePrimaryCtxRetain",
                                            "cuCtxPushCurrent_v2",
                                            "cuStreamCreate",
                                            "cuStreamQuery",
                                            "cuMemcpyAsync"};
    (void)state;
    if (is_real) skip();
    elsewhere = 1; /* words go through NCCL, too */
    failing_rank = 1;
    for (int k = 0; k < (int)(sizeof functions / sizeof *functions); k++)
        for (failing_at = 1; failing_at <= 3; failing_at++) {
            failing_function = functions[k];
            try_with_failure(functions[k]);
            /* on a busy machine the time may be over before it is called */
            if (failing_at == 1 && !has_failed && run.status[1] == VSCAN_OK)
                fail_msg("%s is not called", functions[k]);
            failing_function = NULL;
        }
    for (int at = -3; at <= 3; at += 2) {
        asynchronous_error = at;
        try_with_failure("NCCL");
        assert_true(has_failed || run.status[1] != VSCAN_OK);
        asynchronous_error = 0;
    }
    open_contexts(2, LONG); /* and without a failure nothing fails */
    on_all_ranks(2, try_all);
    for (int r = 0; r < 2; r++)
        if (run.status[r] != VSCAN_OK) fail_msg("%s", run.sentence[r]);
    close_contexts(2);
    elsewhere = -1;
}

int main(int argc, char **argv) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_function), cmocka_unit_test(same_bits),
        cmocka_unit_test(nobody_waits_for_ever), cmocka_unit_test(bad_arguments),
        cmocka_unit_test(each_call_fails)};
    const char *const sizes = getenv("VSCAN_TEST_SIZES"), *const mode = argc > 1 ? argv[1] : "cpu";
    small = sizes != NULL && strcmp(sizes, "small") == 0;
    is_real = strcmp(mode, "cuda") == 0;
    stands_in = !is_real;
    pretends = strcmp(mode, "cpu") == 0;
    if (!pretends) backend = VSCAN_BACKEND_CUDA;
    int32_t devices = 0;
    if (vscan_device_count(backend, &devices) != VSCAN_OK || devices < 1 ||
        (is_real && dlopen("libnccl.so.2", RTLD_NOW) == NULL)) {
        fprintf(stderr, "there is no GPU, or no libnccl.so.2\n");
        return 77;
    }
    if (is_real) most_ranks = devices;
    if (argc > 2) return run_at_random(argv, most_ranks, open_group, close_group);
    char name[32];
    (void)snprintf(name, sizeof name, "nccl.%s", mode);
    return cmocka_run_group_tests_name(name, tests, NULL, NULL);
}
