/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What only the CUDA backend has: the caller's streams, captured graphs, device pointers, and
 * blocks that cannot all be resident. Expected results come from reference_scan.
 */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cuda_runtime_api.h>

#include "captured.h"
#include "harness.h"
#include "inputs.h"
#include "reference.h"
#include "queued_scans.h"

static float *new_input(int64_t n, uint64_t seed) {
    float *in = malloc((size_t)(n + 1) * sizeof *in);
    assert_non_null(in);
    inputs_fill(INPUTS_RANDOM, VSCAN_FLOAT, n, seed, in);
    return in;
}

static float *new_expected(const float *in, int64_t n) {
    float *out = malloc((size_t)(n + 1) * sizeof *out);
    assert_non_null(out);
    struct reference r = {.op = VSCAN_PLUS, .type = VSCAN_FLOAT, .n = n, .in = in, .out = out};
    reference_scan(&r);
    return out;
}

static void check_floats(vscan_ctx *ctx, const char *what, const vscan_buffer *got,
                         const float *want, int64_t n) {
    float *host = malloc((size_t)(n + 1) * sizeof *host);
    assert_non_null(host);
    ok(ctx, vscan_buffer_download(got, 0, n, host));
    const int64_t i = reference_difference(VSCAN_FLOAT, n, want, host);
    if (i >= 0) {
        char a[REFERENCE_TEXT], b[REFERENCE_TEXT];
        fail_msg("%s, n = %lld, index %lld: expected %s, got %s", what, (long long)n, (long long)i,
                 reference_text(VSCAN_FLOAT, want, i, a), reference_text(VSCAN_FLOAT, host, i, b));
    }
    free(host);
}

/* Scans in to out and compares. */
static void scan_and_check(vscan_ctx *ctx, const char *what, int64_t n, uint64_t seed) {
    float *in = new_input(n, seed), *want = new_expected(in, n);
    vscan_buffer *v = new_buffer(ctx, VSCAN_FLOAT, n);
    ok(ctx, vscan_buffer_upload(v, 0, n, in));
    ok(ctx, vscan_scan(ctx, VSCAN_PLUS, v, v, NULL));
    check_floats(ctx, what, v, want, n);
    ok(ctx, vscan_buffer_destroy(v));
    free(want);
    free(in);
}

/* A captured scan with its total, replayed on new data each time, with plain calls of other sizes
   (and a grown workspace) on the same context between replays. */
static void graph_replay(void **state) {
    (void)state;
    vscan_ctx *ctx = harness_new_ctx(0);
    static const int64_t sizes[] = {1000, 100000, 1 << 20, 9 << 20};
    const int count = harness_small() ? 2 : 4, replays = harness_small() ? 3 : 40;
    for (int s = 0; s < count; ++s) {
        const int64_t n = sizes[s];
        vscan_buffer *in = new_buffer(ctx, VSCAN_FLOAT, n), *out = new_buffer(ctx, VSCAN_FLOAT, n);
        vscan_buffer *total = new_buffer(ctx, VSCAN_FLOAT, 1),
                     *sum = new_buffer(ctx, VSCAN_FLOAT, 1);
        vscan_scan_options options = {.size = sizeof options, .total = total};
        ok(ctx, vscan_ctx_reserve(ctx, VSCAN_FLOAT, n));
        cudaStream_t stream = begin_capture(ctx);
        ok(ctx, vscan_scan(ctx, VSCAN_PLUS, in, out, &options));
        ok(ctx, vscan_reduce(ctx, VSCAN_PLUS, in, sum, NULL));
        cudaGraphExec_t graph = end_capture(stream);
        for (int k = 0; k < replays; ++k) {
            float *host = new_input(n, harness_seed() + (uint64_t)k), *want = new_expected(host, n);
            ok(ctx, vscan_buffer_upload(in, 0, n, host));
            ok(ctx, vscan_buffer_fill(out, &(float){-7}));
            cuda(cudaGraphLaunch(graph, stream));
            check_floats(ctx, "graph", out, want, n);
            check_floats(ctx, "graph, total", total, want + n - 1, 1);
            check_floats(ctx, "graph, reduce", sum, want + n - 1, 1);
            scan_and_check(ctx, "between replays", 3 + (int64_t)k * 7919 % 300000, (uint64_t)k);
            if (k == replays / 2 && !harness_small())
                ok(ctx, vscan_ctx_reserve(ctx, VSCAN_FLOAT, 64 * n));
            free(want);
            free(host);
        }
        for (int k = 0; k < (harness_small() ? 10 : 1000); ++k)
            cuda(cudaGraphLaunch(graph, stream));
        ok(ctx, vscan_ctx_synchronize(ctx));
        cuda(cudaGraphExecDestroy(graph));
        ok(ctx, vscan_buffer_destroy(in));
        ok(ctx, vscan_buffer_destroy(out));
        ok(ctx, vscan_buffer_destroy(total));
        ok(ctx, vscan_buffer_destroy(sum));
    }
    ok(NULL, vscan_ctx_destroy(ctx));
}

/* The first use of a kernel may be in a capture: a backward segmented scan with totals. */
static void graph_segmented(void **state) {
    (void)state;
    vscan_ctx *ctx = harness_new_ctx(0);
    enum { N = 50000 };
    static float in[N], want[N], want_totals[N];
    static uint8_t flags[N];
    vscan_buffer *v = new_buffer(ctx, VSCAN_FLOAT, N), *w = new_buffer(ctx, VSCAN_FLOAT, N);
    vscan_buffer *f = new_buffer(ctx, VSCAN_BYTE, N), *t = new_buffer(ctx, VSCAN_FLOAT, N);
    vscan_buffer *c = new_buffer(ctx, VSCAN_LONG, 1);
    vscan_scan_segmented_options options = {
        .size = sizeof options, .direction = VSCAN_BACKWARD, .totals = t, .count = c};
    cudaStream_t stream = begin_capture(ctx);
    ok(ctx, vscan_scan_segmented(ctx, VSCAN_PLUS, v, f, w, &options));
    cudaGraphExec_t graph = end_capture(stream);
    for (int k = 0; k < 5; ++k) {
        inputs_fill(INPUTS_RANDOM, VSCAN_FLOAT, N, (uint64_t)k, in);
        inputs_flags_fill(INPUTS_FLAGS_30 + k % 2, 16384, N, (uint64_t)k, flags);
        struct reference r = {.op = VSCAN_PLUS,
                              .type = VSCAN_FLOAT,
                              .n = N,
                              .in = in,
                              .flags = flags,
                              .backward = true,
                              .out = want,
                              .totals = want_totals};
        reference_scan(&r);
        ok(ctx, vscan_buffer_upload(v, 0, N, in));
        ok(ctx, vscan_buffer_upload(f, 0, N, flags));
        ok(ctx, vscan_buffer_fill(w, &(float){NAN}));
        ok(ctx, vscan_buffer_fill(t, &(float){NAN}));
        cuda(cudaGraphLaunch(graph, stream));
        check_floats(ctx, "segmented graph", w, want, N);
        check_floats(ctx, "segmented graph, totals", t, want_totals, r.count);
        int64_t count;
        ok(ctx, vscan_buffer_get(c, 0, &count));
        assert_int_equal(count, r.count);
    }
    cuda(cudaGraphExecDestroy(graph));
    ok(ctx, vscan_ctx_destroy(ctx)); /* before its buffers, which is allowed */
    ok(NULL, vscan_buffer_destroy(v));
    ok(NULL, vscan_buffer_destroy(w));
    ok(NULL, vscan_buffer_destroy(f));
    ok(NULL, vscan_buffer_destroy(t));
    ok(NULL, vscan_buffer_destroy(c));
}

/*
 * One graph of small and large, plain and segmented scans, replayed ten thousand times, and after each
 * replay a plain call of another length on the same context, with nothing waited for in between. The
 * graph poisons its outputs, and adds up the 32-bit words of its results over all replays.
 */
static void replay_often(const char *delay, int replays) {
    enum { SCANS = 4 };
    struct expected_scan scans[SCANS] = {
        {.op = VSCAN_PLUS, .type = VSCAN_FLOAT, .n = 600000},
        {.op = VSCAN_PLUS, .type = VSCAN_FLOAT, .n = 3000},
        {.op = VSCAN_PLUS, .type = VSCAN_DOUBLE, .n = 200000, .backward = true, .exclusive = true},
        {.op = VSCAN_PLUS,
         .type = VSCAN_FLOAT,
         .n = 100000,
         .flag_type = VSCAN_BIT,
         .flags = INPUTS_FLAGS_RUNS}};
    struct scan_queue captured[SCANS], plain[SCANS];
    struct inputs_random random = {harness_seed() + 5};
    vscan_buffer *sums[SCANS];
    if (delay != NULL) setenv("VSCAN_TEST_DELAY", delay, 1);
    vscan_ctx *ctx = harness_new_ctx(0);
    unsetenv("VSCAN_TEST_DELAY");
    for (int k = 0; k < SCANS; ++k) {
        if (harness_small()) scans[k].n /= 20;
        expected_scan_make(&scans[k]);
        scan_queue_open(&captured[k], &scans[k], ctx);
        scan_queue_open(&plain[k], &scans[k], ctx);
        sums[k] = new_buffer(ctx, VSCAN_INT, 1);
        ok(ctx, vscan_buffer_fill(sums[k], &(int32_t){0}));
        ok(ctx, vscan_ctx_reserve(ctx, scans[k].type, scans[k].n));
    }
    cudaStream_t stream = begin_capture(ctx);
    for (int k = 0; k < SCANS; ++k) scan_queue_capture(&captured[k], scans[k].n, sums[k]);
    cudaGraphExec_t graph = end_capture(stream);
    for (int i = 0; i < replays; ++i) {
        const int k = (int)inputs_below(&random, SCANS);
        cuda(cudaGraphLaunch(graph, stream));
        scan_queue_add(&plain[k], 1 + inputs_below(&random, scans[k].n),
                       scan_variant_draw(&scans[k], &random));
    }
    int failures = 0;
    for (int k = 0; k < SCANS; ++k) {
        uint32_t got;
        ok(ctx, vscan_buffer_get(sums[k], 0, &got));
        if (got != (uint32_t)replays * scans[k].sums[scans[k].n]) {
            print_error("graph, scan %d: the words of %d replays add up to %08x, not to %08x\n", k,
                        replays, (unsigned)got,
                        (unsigned)((uint32_t)replays * scans[k].sums[scans[k].n]));
            ++failures;
        }
        failures += scan_queue_close(&captured[k]) + scan_queue_close(&plain[k]);
        ok(ctx, vscan_buffer_destroy(sums[k]));
        expected_scan_free(&scans[k]);
    }
    cuda(cudaGraphExecDestroy(graph));
    ok(ctx, vscan_ctx_destroy(ctx));
    assert_int_equal(failures, 0);
}

static void graph_replayed_often(void **state) {
    (void)state;
    replay_often(NULL, harness_small() ? 8 : 10000);
}

/* The same where blocks wait for pseudo-random times (tests/unit/test_protocol.c). */
static void graph_replayed_with_delays(void **state) {
    (void)state;
    replay_often("3", harness_small() ? 4 : 500);
    replay_often("4", harness_small() ? 4 : 500);
}

/* What would wait or allocate is refused during a capture, which goes on unharmed. */
static void capture_refusals(void **state) {
    (void)state;
    vscan_ctx *ctx = harness_new_ctx(0);
    enum { N = 5000 };
    float host[N];
    inputs_fill(INPUTS_RANDOM, VSCAN_FLOAT, N, 1, host);
    float *want = new_expected(host, N);
    vscan_buffer *v = new_buffer(ctx, VSCAN_FLOAT, N), *w = new_buffer(ctx, VSCAN_FLOAT, N);
    vscan_buffer *f = new_buffer(ctx, VSCAN_BYTE, N), *other;
    ok(ctx, vscan_buffer_fill(f, &(uint8_t){0}));
    ok(ctx, vscan_buffer_upload(v, 0, N, host));
    cudaStream_t stream = begin_capture(ctx);
    refuses(VSCAN_ERROR_CAPTURE, vscan_ctx_synchronize(ctx));
    refuses(VSCAN_ERROR_CAPTURE, vscan_ctx_reserve(ctx, VSCAN_INT, INT64_C(1) << 33));
    refuses(VSCAN_ERROR_CAPTURE, vscan_buffer_create(ctx, VSCAN_INT, 10, &other));
    refuses(VSCAN_ERROR_CAPTURE, vscan_buffer_destroy(w));
    refuses(VSCAN_ERROR_CAPTURE, vscan_buffer_upload(v, 0, N, host));
    refuses(VSCAN_ERROR_CAPTURE, vscan_buffer_download(v, 0, N, host));
    refuses(VSCAN_ERROR_CAPTURE, vscan_buffer_get(v, 0, host));
    assert_non_null(strstr(vscan_ctx_last_error(ctx), "captured"));
    ok(ctx, vscan_scan(ctx, VSCAN_PLUS, v, w, NULL));
    cudaGraphExec_t graph = end_capture(stream);
    cuda(cudaGraphLaunch(graph, stream));
    check_floats(ctx, "after refusals", w, want, N);
    cuda(cudaGraphExecDestroy(graph));
    free(want);
    ok(ctx, vscan_buffer_destroy(v));
    ok(ctx, vscan_buffer_destroy(w));
    ok(ctx, vscan_buffer_destroy(f));
    ok(ctx, vscan_ctx_destroy(ctx));
}

/* A segmented scan longer than the workspace is refused in a capture, and runs outside of one; a
   plain scan is cut into portions and needs no more than there is. */
static void capture_needs_workspace(void **state) {
    (void)state;
    if (harness_small()) skip();
    vscan_ctx *ctx = harness_new_ctx(0);
    const int64_t n = INT64_C(200) << 20, four_bytes = 2 * n;
    vscan_buffer *v = new_buffer(ctx, VSCAN_DOUBLE, n), *f = new_buffer(ctx, VSCAN_BIT, n),
                 *ints = NULL;
    void *const memory = vscan_buffer_pointer(v);
    ok(ctx, vscan_buffer_fill(v, &(double){1}));
    ok(ctx, vscan_buffer_fill(f, &(uint8_t){0}));
    cudaStream_t stream = begin_capture(ctx);
    refuses(VSCAN_ERROR_CAPTURE, vscan_scan_segmented(ctx, VSCAN_PLUS, v, f, v, NULL));
    cuda(cudaGraphExecDestroy(end_capture(stream)));
    ok(ctx, vscan_scan_segmented(ctx, VSCAN_PLUS, v, f, v, NULL));
    double last;
    ok(ctx, vscan_buffer_get(v, n - 1, &last));
    assert_true(last == (double)n);
    stream = begin_capture(ctx);
    ok(ctx, vscan_scan_segmented(ctx, VSCAN_MAX, v, f, v, NULL));
    cuda(cudaGraphExecDestroy(end_capture(stream)));

    vscan_ctx *other = harness_new_ctx(0);
    ok(other, vscan_buffer_wrap(other, VSCAN_INT, memory, four_bytes, &ints));
    ok(other, vscan_buffer_fill(ints, &(int32_t){1}));
    stream = begin_capture(other);
    ok(other, vscan_scan(other, VSCAN_PLUS, ints, ints, NULL));
    cudaGraphExec_t graph = end_capture(stream);
    cuda(cudaGraphLaunch(graph, stream));
    int32_t count;
    ok(other, vscan_buffer_get(ints, four_bytes - 1, &count));
    assert_int_equal(count, four_bytes);
    cuda(cudaGraphExecDestroy(graph));
    ok(other, vscan_buffer_destroy(ints));
    ok(other, vscan_ctx_destroy(other));
    ok(ctx, vscan_buffer_destroy(f));
    ok(ctx, vscan_buffer_destroy(v));
    ok(ctx, vscan_ctx_destroy(ctx));
}

/* What vscan_ctx_reserve promises, for each type: a new context's first calls can be captured. */
static void capture_after_reserve(void **state) {
    (void)state;
    if (harness_small()) skip();
    const int64_t n = INT64_C(50) << 20;
    for (int type = VSCAN_INT; type <= VSCAN_DOUBLE; ++type) {
        vscan_ctx *ctx = harness_new_ctx(0);
        vscan_buffer *v = new_buffer(ctx, (vscan_type)type, n);
        vscan_buffer *flags = new_buffer(ctx, VSCAN_BIT, n);
        vscan_buffer *one = new_buffer(ctx, (vscan_type)type, 1);
        const vscan_scan_options with_total = {.size = sizeof with_total, .total = one};
        const vscan_scan_segmented_options with_totals = {
            .size = sizeof with_totals, .direction = VSCAN_BACKWARD, .totals = one};
        ok(ctx, vscan_ctx_reserve(ctx, (vscan_type)type, n));
        cudaStream_t stream = begin_capture(ctx);
        ok(ctx, vscan_buffer_fill(v, &(uint64_t){0})); /* zeros of any type */
        ok(ctx, vscan_buffer_fill(flags, &(uint8_t){0}));
        ok(ctx, vscan_scan(ctx, VSCAN_PLUS, v, v, &with_total));
        ok(ctx, vscan_scan_segmented(ctx, VSCAN_MAX, v, flags, v, &with_totals));
        ok(ctx, vscan_reduce(ctx, VSCAN_PLUS, v, one, NULL));
        if (type == VSCAN_INT) ok(ctx, vscan_enumerate(ctx, flags, v, NULL));
        ok(ctx, vscan_pack(ctx, v, flags, v, NULL));
        ok(ctx, vscan_pack_compare(ctx, VSCAN_NOT_EQUAL, v, &(uint64_t){0}, v, NULL));
        cudaGraphExec_t graph = end_capture(stream);
        cuda(cudaGraphLaunch(graph, stream));
        uint64_t total = 0;
        ok(ctx, vscan_buffer_get(one, 0, &total));
        assert_true(total == 0);
        cuda(cudaGraphExecDestroy(graph));
        ok(ctx, vscan_buffer_destroy(v));
        ok(ctx, vscan_buffer_destroy(flags));
        ok(ctx, vscan_buffer_destroy(one));
        ok(ctx, vscan_ctx_destroy(ctx));
    }
}

static void streams(void **state) {
    (void)state;
    cudaStream_t first, second;
    cuda(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
    cuda(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
    vscan_ctx_options options = {
        .size = sizeof options, .backend = VSCAN_BACKEND_CUDA, .stream = first};
    vscan_ctx *ctx;
    ok(NULL, vscan_ctx_create(&options, &ctx));
    void *stream;
    ok(ctx, vscan_ctx_get_stream(ctx, &stream));
    assert_ptr_equal(stream, first);

    /* work moves from stream to stream and stays in order */
    const int64_t n = harness_small() ? 20000 : 3000000;
    vscan_buffer *v = new_buffer(ctx, VSCAN_INT, n);
    ok(ctx, vscan_buffer_fill(v, &(int32_t){1}));
    void *const streams[] = {second, NULL, cudaStreamLegacy, first, cudaStreamPerThread,
                             second, NULL};
    for (size_t k = 0; k < sizeof streams / sizeof streams[0]; ++k) {
        ok(ctx, vscan_ctx_set_stream(ctx, streams[k]));
        ok(ctx, vscan_ctx_get_stream(ctx, &stream));
        if (streams[k] != NULL) assert_ptr_equal(stream, streams[k]);
        ok(ctx, vscan_scan(ctx, VSCAN_MAX, v, v, NULL));
        ok(ctx, vscan_scan(ctx, VSCAN_PLUS, v, v, NULL));
        ok(ctx, vscan_buffer_fill(v, &(int32_t){(int32_t)k}));
    }
    ok(ctx, vscan_scan(ctx, VSCAN_PLUS, v, v, NULL));
    int32_t last;
    ok(ctx, vscan_buffer_get(v, n - 1, &last));
    assert_int_equal(last, (int32_t)(6 * n));
    refuses(VSCAN_ERROR_NULL, vscan_ctx_get_stream(ctx, NULL));
    ok(ctx, vscan_buffer_destroy(v));
    ok(ctx, vscan_ctx_destroy(ctx));
    cuda(cudaStreamDestroy(first));
    cuda(cudaStreamDestroy(second));
}

static void pointers(void **state) {
    (void)state;
    vscan_ctx *ctx = harness_ctx();
    enum { N = 10000 };
    static float in[N];
    float *want, *device, *managed;
    vscan_buffer *d, *m, *none = NULL;
    inputs_fill(INPUTS_RANDOM, VSCAN_FLOAT, N, harness_seed(), in);
    want = new_expected(in, N);
    cuda(cudaMalloc((void **)&device, (N + 1) * sizeof *device));
    cuda(cudaMallocManaged((void **)&managed, N * sizeof *managed, cudaMemAttachGlobal));
    memcpy(managed, in, sizeof in);
    ok(ctx, vscan_buffer_wrap(ctx, VSCAN_FLOAT, device + 1, N, &d));
    ok(ctx, vscan_buffer_wrap(ctx, VSCAN_FLOAT, managed, N, &m));
    assert_ptr_equal(vscan_buffer_pointer(d), device + 1);
    ok(ctx, vscan_scan(ctx, VSCAN_PLUS, m, d, NULL));
    check_floats(ctx, "wrapped", d, want, N);
    ok(ctx, vscan_buffer_destroy(d));
    ok(ctx, vscan_buffer_destroy(m));
    cuda(cudaFree(device)); /* still the caller's */
    cuda(cudaFree(managed));

    float *pinned;
    cuda(cudaMallocHost((void **)&pinned, sizeof in));
    refuses(VSCAN_ERROR_POINTER, vscan_buffer_wrap(ctx, VSCAN_FLOAT, in, N, &none));
    refuses(VSCAN_ERROR_POINTER, vscan_buffer_wrap(ctx, VSCAN_FLOAT, pinned, N, &none));
    assert_null(none);
    /* page-locked memory may be used again at once after an upload */
    vscan_buffer *v = new_buffer(ctx, VSCAN_FLOAT, N);
    memcpy(pinned, in, sizeof in);
    ok(ctx, vscan_buffer_upload(v, 0, N, pinned));
    memset(pinned, 0xff, sizeof in);
    ok(ctx, vscan_scan(ctx, VSCAN_PLUS, v, v, NULL));
    check_floats(ctx, "pinned", v, want, N);
    ok(ctx, vscan_buffer_destroy(v));
    cuda(cudaFreeHost(pinned));
    free(want);
}

/* The 16-bit launch number in the status words wraps; those of the large scan are then old. */
static void many_launches(void **state) {
    (void)state;
    if (harness_small()) skip();
    vscan_ctx *ctx = harness_new_ctx(0);
    vscan_buffer *v = new_buffer(ctx, VSCAN_INT, 10000);
    ok(ctx, vscan_buffer_fill(v, &(int32_t){0}));
    for (int wrap = 0; wrap < 3; ++wrap) {
        scan_and_check(ctx, "long, before", 3000000, (uint64_t)(2 * wrap));
        for (int k = 0; k < 65535; ++k) ok(ctx, vscan_scan(ctx, VSCAN_PLUS, v, v, NULL));
        scan_and_check(ctx, "long, after", 3000000, (uint64_t)(2 * wrap + 1));
    }
    ok(ctx, vscan_buffer_destroy(v));
    ok(ctx, vscan_ctx_destroy(ctx));
}

/* Several contexts at once: blocks of the long scans fill the device and cannot all be resident. */
enum { CROWD = 4 };
static void *one_of_a_crowd(void *argument) {
    const int number = *(int *)argument;
    vscan_ctx *ctx = harness_new_ctx(0);
    const int64_t n = harness_small() ? 20000 : 20000000;
    const int32_t repeats = harness_small() ? 3 : 60;
    vscan_buffer *v = new_buffer(ctx, VSCAN_INT, n), *w = new_buffer(ctx, VSCAN_INT, n);
    vscan_buffer *bad = new_buffer(ctx, VSCAN_INT, 1);
    ok(ctx, vscan_buffer_fill(v, &(int32_t){number + 1}));
    ok(ctx, vscan_buffer_fill(w, &(int32_t){-1}));
    for (int32_t k = 0; k < repeats; ++k) {
        const int64_t length = n - k * 1001 - number;
        vscan_buffer *part, *to;
        ok(ctx, vscan_buffer_view(v, 0, length, &part));
        ok(ctx, vscan_buffer_view(w, 0, length, &to));
        vscan_scan_options options = {.size = sizeof options,
                                      .direction = k & 1 ? VSCAN_BACKWARD : VSCAN_FORWARD};
        ok(ctx, vscan_scan(ctx, VSCAN_PLUS, part, to, &options));
        ok(ctx, vscan_reduce(ctx, VSCAN_MAX, to, bad, NULL));
        int32_t largest;
        ok(ctx, vscan_buffer_get(bad, 0, &largest));
        if (largest != (int32_t)(length * (number + 1)))
            fail_msg("context %d, scan %d: %d, not %d", number, k, largest,
                     (int32_t)(length * (number + 1)));
        ok(ctx, vscan_buffer_destroy(part));
        ok(ctx, vscan_buffer_destroy(to));
    }
    ok(ctx, vscan_buffer_destroy(v));
    ok(ctx, vscan_buffer_destroy(w));
    ok(ctx, vscan_buffer_destroy(bad));
    ok(ctx, vscan_ctx_destroy(ctx));
    return NULL;
}

static void crowded_device(void **state) {
    (void)state;
    pthread_t threads[CROWD];
    int numbers[CROWD];
    for (int k = 0; k < CROWD; ++k) {
        numbers[k] = k;
        assert_int_equal(pthread_create(&threads[k], NULL, one_of_a_crowd, &numbers[k]), 0);
    }
    for (int k = 0; k < CROWD; ++k) pthread_join(threads[k], NULL);
}

static void no_kernels(void **state) {
    (void)state;
    vscan_ctx *ctx = NULL;
    vscan_ctx_options options = {.size = sizeof options, .backend = VSCAN_BACKEND_CUDA};
    const char *kernels = getenv("VSCAN_TEST_KERNELS");
    char kept[32] = "";
    if (kernels != NULL) snprintf(kept, sizeof kept, "%s", kernels);
    setenv("VSCAN_TEST_KERNELS", "none", 1);
    refuses(VSCAN_ERROR_NO_KERNEL, vscan_ctx_create(&options, &ctx));
    assert_null(ctx);
    assert_non_null(strstr(vscan_ctx_last_error(NULL), "vscan_ctx_create: CUDA"));
    options.backend = VSCAN_BACKEND_AUTO; /* takes the CPU then */
    unsetenv("VSCAN_BACKEND");
    ok(NULL, vscan_ctx_create(&options, &ctx));
    assert_int_equal(vscan_ctx_backend(ctx), VSCAN_BACKEND_CPU);
    ok(ctx, vscan_ctx_destroy(ctx));
    setenv("VSCAN_TEST_KERNELS", kept, 1);
}

/* The driver fails: memory that was wrapped is gone. The context lives on. */
static void backend_failure(void **state) {
    (void)state;
    if (harness_small()) skip(); /* compute-sanitizer counts a refused copy as an error */
    vscan_ctx *ctx = harness_new_ctx(0);
    enum { N = 1 << 20 };
    static float host[N];
    float *device;
    vscan_buffer *v;
    cuda(cudaMalloc((void **)&device, sizeof host));
    ok(ctx, vscan_buffer_wrap(ctx, VSCAN_FLOAT, device, N, &v));
    cuda(cudaFree(device));
    refuses(VSCAN_ERROR_BACKEND, vscan_buffer_download(v, 0, N, host));
    assert_non_null(strstr(vscan_ctx_last_error(ctx), "vscan_buffer_download: CUDA"));
    cuda(cudaGetLastError()); /* nothing is left behind for the caller to find */
    ok(ctx, vscan_buffer_destroy(v));
    scan_and_check(ctx, "after a failure", 1000, 1);
    ok(ctx, vscan_ctx_destroy(ctx));
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(graph_replay),
        cmocka_unit_test(graph_segmented),
        cmocka_unit_test(graph_replayed_often),
        cmocka_unit_test(graph_replayed_with_delays),
        cmocka_unit_test(capture_refusals),
        cmocka_unit_test(capture_needs_workspace),
        cmocka_unit_test(capture_after_reserve),
        cmocka_unit_test(streams),
        cmocka_unit_test(pointers),
        cmocka_unit_test(many_launches),
        cmocka_unit_test(crowded_device),
        cmocka_unit_test(no_kernels),
        cmocka_unit_test(backend_failure),
    };
    return harness_run(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
