/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A GPU that goes wrong: a kernel of somebody else's that ends the process's use of the device, no device
 * memory left at every allocation, several processes at once of which one fails, contexts destroyed in
 * the middle of work. What must happen in a process of its own is this program with other arguments:
 *
 *     test_cuda_faults lost HOW STREAM    test_cuda_faults work SECONDS
 *
 * Takes all the memory of the GPU for a while: nothing else should run on it. Not for compute-sanitizer
 * (VSCAN_TEST_SIZES=small), to which faults are errors. tests/faults/ has faults without a GPU.
 */
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "captured.h"
#include "faulty.h"
#include "harness.h"
#include "occupy.h"

extern char **environ;

enum { N = 3 << 20 };

static const vscan_ctx_options on_cuda = {.size = sizeof on_cuda, .backend = VSCAN_BACKEND_CUDA};

/* ---- Work with a known result ---------------------------------------------------------------- */

/* Vectors of a context, and the calls that need most memory. Of ones the inclusive sum is 1, 2, 3, ... */
struct work {
    vscan_ctx *ctx;
    vscan_buffer *ones, *sums, *flags;
};

static void destroy_work(struct work *w) {
    vscan_buffer_destroy(w->ones);
    vscan_buffer_destroy(w->sums);
    vscan_buffer_destroy(w->flags);
    vscan_ctx_destroy(w->ctx);
    memset(w, 0, sizeof *w);
}

#define TRY_WORK(call)                                                                             \
    do {                                                                                           \
        const vscan_status status_ = (call);                                                       \
        if (status_ != VSCAN_OK) return status_;                                                   \
    } while (0)

static vscan_status make_work(struct work *w) {
    memset(w, 0, sizeof *w);
    TRY_WORK(vscan_ctx_create(&on_cuda, &w->ctx));
    TRY_WORK(vscan_buffer_create(w->ctx, VSCAN_INT, N, &w->ones));
    TRY_WORK(vscan_buffer_create(w->ctx, VSCAN_INT, N, &w->sums));
    TRY_WORK(vscan_buffer_create(w->ctx, VSCAN_BIT, N, &w->flags));
    TRY_WORK(vscan_buffer_fill(w->ones, &(int32_t){1}));
    return vscan_buffer_fill(w->flags, &(uint8_t){1});
}

static vscan_status do_work(const struct work *w) {
    static int32_t host[N];
    TRY_WORK(vscan_ctx_reserve(w->ctx, VSCAN_DOUBLE, 1 << 28));
    TRY_WORK(vscan_scan(w->ctx, VSCAN_PLUS, w->ones, w->sums, NULL));
    TRY_WORK(vscan_split(w->ctx, w->sums, w->flags, w->ones, NULL));
    TRY_WORK(vscan_sort(w->ctx, w->ones, NULL, w->sums, NULL, NULL));
    TRY_WORK(vscan_scan_columns(w->ctx, VSCAN_MAX, w->sums, N, 1, w->sums, NULL));
    TRY_WORK(vscan_buffer_fill(w->ones, &(int32_t){1}));
    TRY_WORK(vscan_buffer_download(w->sums, 0, N, host));
    for (int32_t i = 0; i < N; i++)
        if (host[i] != i + 1) {
            print_error("element %d is %d\n", (int)i, (int)host[i]);
            return VSCAN_ERROR_VALUE;
        }
    return VSCAN_OK;
}

/* ---- Processes of their own ------------------------------------------------------------------ */

static pid_t start_process(const char *what, const char *first, const char *second) {
    char *const arguments[] = {"test_cuda_faults", (char *)what, (char *)first, (char *)second,
                               NULL};
    pid_t child;
    assert_int_equal(posix_spawn(&child, "/proc/self/exe", NULL, NULL, arguments, environ), 0);
    return child;
}

static void ends_well(pid_t child) {
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (status != 0) fail_msg("a process of its own ended with wait status %#x", (unsigned)status);
}

/* In such a process: says what is wrong and ends it. */
#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (condition) break;                                                                      \
        fprintf(stderr, "line %d: not so: %s; last error \"%s\"\n", __LINE__, #condition,          \
                vscan_ctx_last_error(NULL));                                                       \
        exit(1);                                                                                   \
    } while (0)

static int work_for(double seconds) {
    const time_t end = time(NULL) + (time_t)seconds;
    do {
        struct work w;
        MUST(make_work(&w) == VSCAN_OK);
        for (int k = 0; k < 20; k++) MUST(do_work(&w) == VSCAN_OK);
        destroy_work(&w);
    } while (time(NULL) < end);
    return 0;
}

static void must_be_lost(vscan_ctx *ctx, vscan_status status, int line) {
    const char *const text = vscan_ctx_last_error(ctx);
    if (status == VSCAN_ERROR_DEVICE_LOST && strstr(text, "can use the device no longer") != NULL)
        return;
    fprintf(stderr, "line %d: says %s, \"%s\"\n", line, vscan_status_name(status), text);
    exit(1);
}
#define LOST(ctx, call) must_be_lost(ctx, call, __LINE__)

/* on_caller_stream: the fault comes on a stream that the context does not know. */
static int lose_device(enum faulty how, int on_caller_stream) {
    struct work w, another;
    int32_t host = 7;
    int64_t memory;
    vscan_buffer *view, *none = NULL;
    MUST(make_work(&w) == VSCAN_OK && make_work(&another) == VSCAN_OK);
    MUST(vscan_buffer_view(w.sums, 32, 100, &view) == VSCAN_OK);
    MUST(do_work(&w) == VSCAN_OK);

    void *stream;
    MUST(vscan_ctx_get_stream(w.ctx, &stream) == VSCAN_OK);
    if (on_caller_stream)
        MUST(cudaStreamCreateWithFlags((cudaStream_t *)&stream, cudaStreamNonBlocking) ==
             cudaSuccess);
    MUST(go_wrong(how, stream) == cudaSuccess);
    MUST(cudaStreamSynchronize(stream) != cudaSuccess);

    LOST(w.ctx, vscan_ctx_synchronize(w.ctx));
    LOST(w.ctx, vscan_ctx_synchronize(w.ctx)); /* and so it stays */
    LOST(w.ctx, vscan_buffer_get(w.sums, 0, &host));
    MUST(host == 7);
    LOST(w.ctx, vscan_buffer_upload(w.sums, 0, 1, &host));
    LOST(w.ctx, vscan_buffer_create(w.ctx, VSCAN_INT, N, &none));
    LOST(w.ctx, vscan_scan(w.ctx, VSCAN_PLUS, w.ones, w.sums, NULL));
    LOST(another.ctx, vscan_ctx_synchronize(another.ctx));
    MUST(vscan_device_memory(VSCAN_BACKEND_CUDA, 0, &memory, NULL) != VSCAN_OK);

    vscan_ctx *made = NULL;
    unsetenv("VSCAN_BACKEND");
    LOST(NULL, vscan_ctx_create(&on_cuda, &made));
    LOST(NULL, vscan_ctx_create(NULL, &made)); /* AUTO does not take the CPU in silence */
    MUST(made == NULL && none == NULL);

    MUST(vscan_buffer_destroy(w.ones) == VSCAN_OK); /* before its context, the others after it */
    MUST(vscan_ctx_destroy(w.ctx) == VSCAN_OK);
    MUST(vscan_buffer_destroy(w.sums) == VSCAN_OK);
    MUST(vscan_buffer_destroy(view) == VSCAN_OK);
    MUST(vscan_buffer_destroy(w.flags) == VSCAN_OK);
    destroy_work(&another);

    /* the way on that the manual names */
    const vscan_ctx_options on_cpu = {.size = sizeof on_cpu, .backend = VSCAN_BACKEND_CPU};
    vscan_buffer *v;
    MUST(vscan_ctx_create(&on_cpu, &made) == VSCAN_OK);
    MUST(vscan_buffer_create(made, VSCAN_INT, 100, &v) == VSCAN_OK);
    MUST(vscan_buffer_fill(v, &(int32_t){1}) == VSCAN_OK);
    MUST(vscan_scan(made, VSCAN_PLUS, v, v, NULL) == VSCAN_OK);
    MUST(vscan_buffer_get(v, 99, &host) == VSCAN_OK && host == 100);
    MUST(vscan_buffer_destroy(v) == VSCAN_OK && vscan_ctx_destroy(made) == VSCAN_OK);
    return 0;
}

/* ---- Tests ----------------------------------------------------------------------------------- */

static void device_lost(void **state) {
    (void)state;
    if (harness_small()) skip();
    for (int how = 0; how < FAULTY_KINDS; how++)
        for (int stream = 0; stream < 2; stream++) {
            char first[8], second[8];
            snprintf(first, sizeof first, "%d", how);
            snprintf(second, sizeof second, "%d", stream);
            ends_well(start_process("lost", first, second));
        }
    struct work w; /* this process has lost nothing */
    ok(NULL, make_work(&w));
    ok(w.ctx, do_work(&w));
    destroy_work(&w);
}

/* Three processes that work, beside this one, while others come and lose the device. */
static void several_processes(void **state) {
    (void)state;
    if (harness_small()) skip();
    pid_t workers[3];
    for (int k = 0; k < 3; k++) workers[k] = start_process("work", "8", NULL);
    for (int k = 0; k < 3; k++) {
        const pid_t faulty = start_process("lost", "0", "0");
        assert_int_equal(work_for(1), 0);
        ends_well(faulty);
    }
    for (int k = 0; k < 3; k++) ends_well(workers[k]);
}

/* All of the device's memory is taken, and given back by 2 MiB: so every allocation of make_work and
   do_work is once the first one for which there is no room. */
static void no_memory(void **state) {
    (void)state;
    if (harness_small()) skip();
    enum { MOST = 1 << 12, LEAST = 2 << 20, TRIES = 400 };
    static void *taken[MOST];
    int count = 0, failures = 0;
    for (size_t bytes = (size_t)1 << 36; bytes >= LEAST && count < MOST; bytes /= 2)
        while (count < MOST && cudaMalloc(&taken[count], bytes) == cudaSuccess) count++;
    (void)cudaGetLastError();
    vscan_status status = VSCAN_ERROR_DEVICE_MEMORY;
    vscan_status last = VSCAN_OK;
    for (int tries = 0; tries < TRIES && status != VSCAN_OK; tries++) {
        struct work w;
        status = make_work(&w);
        if (status == VSCAN_OK) status = do_work(&w);
        if (status == VSCAN_ERROR_DEVICE_MEMORY) failures++;
        if (status != VSCAN_OK && status != VSCAN_ERROR_DEVICE_MEMORY) last = status;
        if (status != VSCAN_OK && vscan_ctx_last_error(w.ctx)[0] == 0) last = VSCAN_ERROR_VALUE;
        destroy_work(&w);
        if (status == VSCAN_OK) break;
        if (count > 0) cuda(cudaFree(taken[--count]));
    }
    while (count > 0) cuda(cudaFree(taken[--count]));
    print_message("%d times no memory before there was enough\n", failures);
    assert_string_equal(vscan_status_name(last), "VSCAN_OK");
    assert_string_equal(vscan_status_name(status), "VSCAN_OK");
    assert_true(failures > 0);
}

/* A kernel holds the context's stream for 20 ms, with work behind it. Destroying waits for both. */
static void destroyed_at_work(void **state) {
    (void)state;
    if (harness_small()) skip();
    enum { BLOCKS = 4, TIMES = 30 };
    struct occupier *host, *device;
    cuda(cudaHostAlloc((void **)&host, sizeof *host, cudaHostAllocMapped));
    cuda(cudaHostGetDevicePointer((void **)&device, host, 0));
    for (int k = 0; k < TIMES; k++) {
        struct work w;
        void *stream;
        ok(NULL, make_work(&w));
        ok(w.ctx, vscan_ctx_get_stream(w.ctx, &stream));
        memset(host, 0, sizeof *host);
        cuda(occupy(BLOCKS, device, 20000000, stream));
        ok(w.ctx, vscan_scan(w.ctx, VSCAN_PLUS, w.ones, w.sums, NULL));
        ok(w.ctx, vscan_split(w.ctx, w.sums, w.flags, w.ones, NULL));
        if (k % 3 == 0) ok(w.ctx, vscan_buffer_destroy(w.ones));
        if (k % 3 == 1) ok(w.ctx, vscan_ctx_destroy(w.ctx));
        if (k % 3 == 2) destroy_work(&w);
        assert_int_equal(host->late, BLOCKS); /* they have ended, in their own time */
        if (k % 3 == 0) ok(w.ctx, vscan_ctx_destroy(w.ctx));
        if (k % 3 == 1) ok(NULL, vscan_buffer_destroy(w.ones));
        if (k % 3 != 2) ok(NULL, vscan_buffer_destroy(w.sums));
        if (k % 3 != 2) ok(NULL, vscan_buffer_destroy(w.flags));
    }
    cuda(cudaFreeHost(host));
    struct work w;
    ok(NULL, make_work(&w));
    ok(w.ctx, do_work(&w));
    destroy_work(&w);
}

int main(int argc, char **argv) {
    if (argc == 4 && strcmp(argv[1], "lost") == 0)
        return lose_device((enum faulty)atoi(argv[2]), atoi(argv[3]));
    if (argc == 3 && strcmp(argv[1], "work") == 0) return work_for(atof(argv[2]));
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(device_lost), cmocka_unit_test(several_processes),
        cmocka_unit_test(no_memory), cmocka_unit_test(destroyed_at_work)};
    return harness_run(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
