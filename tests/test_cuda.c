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

#include "harness.h"
#include "inputs.h"
#include "reference.h"
#include "witness.h"

#define cuda(call) harness_cuda((call), #call, __LINE__)
static void harness_cuda(cudaError_t error, const char *call, int line) {
    if (error != cudaSuccess) fail_msg("line %d: %s: %s", line, call, cudaGetErrorString(error));
}

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

static vscan_buffer *new_buffer(vscan_ctx *ctx, vscan_type type, int64_t n) {
    vscan_buffer *buffer;
    ok(ctx, vscan_buffer_create(ctx, type, n, &buffer));
    return buffer;
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

static cudaStream_t begin_capture(vscan_ctx *ctx) {
    void *stream;
    ok(ctx, vscan_ctx_get_stream(ctx, &stream));
    cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    return stream;
}

static cudaGraphExec_t end_capture(cudaStream_t stream) {
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cuda(cudaStreamEndCapture(stream, &graph));
    cuda(cudaGraphInstantiate(&exec, graph, 0));
    cuda(cudaGraphDestroy(graph));
    return exec;
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
    vscan_segmented_options options = {
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
 * One graph of short and long, plain and segmented scans, replayed ten thousand times, and after each
 * replay a plain call of another length on the same context, with nothing waited for in between. The
 * graph poisons its outputs, and adds up the words of its results over all replays.
 */
static void replay_often(const char *delay, int replays) {
    enum { SCANS = 4 };
    struct witness witnesses[SCANS] = {
        {.op = VSCAN_PLUS, .type = VSCAN_FLOAT, .n = 600000},
        {.op = VSCAN_PLUS, .type = VSCAN_FLOAT, .n = 3000},
        {.op = VSCAN_PLUS, .type = VSCAN_DOUBLE, .n = 200000, .backward = true, .exclusive = true},
        {.op = VSCAN_PLUS,
         .type = VSCAN_FLOAT,
         .n = 100000,
         .flag_type = VSCAN_BIT,
         .flags = INPUTS_FLAGS_RUNS}};
    struct witness_runner captured[SCANS], plain[SCANS];
    struct inputs_random random = {harness_seed() + 5};
    vscan_buffer *sums[SCANS];
    if (delay != NULL) setenv("VSCAN_TEST_DELAY", delay, 1);
    vscan_ctx *ctx = harness_new_ctx(0);
    unsetenv("VSCAN_TEST_DELAY");
    for (int k = 0; k < SCANS; ++k) {
        if (harness_small()) witnesses[k].n /= 20;
        witness_make(&witnesses[k]);
        witness_open(&captured[k], &witnesses[k], ctx);
        witness_open(&plain[k], &witnesses[k], ctx);
        sums[k] = new_buffer(ctx, VSCAN_INT, 1);
        ok(ctx, vscan_buffer_fill(sums[k], &(int32_t){0}));
        ok(ctx, vscan_ctx_reserve(ctx, witnesses[k].type, witnesses[k].n));
    }
    ok(ctx, vscan_ctx_reserve(ctx, VSCAN_INT, 2 * witnesses[0].n)); /* the words of results */
    cudaStream_t stream = begin_capture(ctx);
    for (int k = 0; k < SCANS; ++k) witness_enqueue(&captured[k], witnesses[k].n, sums[k]);
    cudaGraphExec_t graph = end_capture(stream);
    for (int i = 0; i < replays; ++i) {
        const int k = (int)inputs_below(&random, SCANS);
        cuda(cudaGraphLaunch(graph, stream));
        witness_run(&plain[k], 1 + inputs_below(&random, witnesses[k].n),
                    witness_draw(&witnesses[k], &random));
    }
    int failures = 0;
    for (int k = 0; k < SCANS; ++k) {
        uint32_t got;
        ok(ctx, vscan_buffer_get(sums[k], 0, &got));
        if (got != (uint32_t)replays * witnesses[k].sums[witnesses[k].n]) {
            print_error("graph, scan %d: the words of %d replays add up to %08x, not to %08x\n", k,
                        replays, (unsigned)got,
                        (unsigned)((uint32_t)replays * witnesses[k].sums[witnesses[k].n]));
            ++failures;
        }
        failures += witness_close(&captured[k]) + witness_close(&plain[k]);
        ok(ctx, vscan_buffer_destroy(sums[k]));
        witness_free(&witnesses[k]);
    }
    cuda(cudaGraphExecDestroy(graph));
    ok(ctx, vscan_ctx_destroy(ctx));
    assert_int_equal(failures, 0);
}

/* What works element by element and by position, captured and replayed on new data; the late errors
   of replays are reported like those of calls. */
static void graph_maps(void **state) {
    (void)state;
    vscan_ctx *ctx = harness_new_ctx(0);
    enum { N = 100003 };
    static int32_t in[N], divisors[N], got[N], want[N];
    vscan_buffer *v = new_buffer(ctx, VSCAN_INT, N), *d = new_buffer(ctx, VSCAN_INT, N);
    vscan_buffer *p = new_buffer(ctx, VSCAN_LONG, N), *r = new_buffer(ctx, VSCAN_INT, N);
    vscan_buffer *f = new_buffer(ctx, VSCAN_BIT, N), *written = new_buffer(ctx, VSCAN_BIT, N);
    vscan_buffer *out = new_buffer(ctx, VSCAN_INT, N), *one = new_buffer(ctx, VSCAN_INT, 1);
    const vscan_permute_options options = {.size = sizeof options, .written = written};
    int32_t least = 0;
    ok(ctx, vscan_buffer_fill(one, &(int32_t){5}));
    cudaStream_t stream = begin_capture(ctx);
    ok(ctx, vscan_index(ctx, N - 1, -1, p));
    ok(ctx, vscan_permute(ctx, v, p, r, &options)); /* r is v, reversed */
    ok(ctx, vscan_compare_right(ctx, VSCAN_LESS, r, &least, f));
    ok(ctx, vscan_distribute(ctx, one, out));
    ok(ctx, vscan_select(ctx, f, out, r, out)); /* 5 where it is negative */
    ok(ctx, vscan_map_binary(ctx, VSCAN_BINARY_DIVIDE, out, d, out));
    ok(ctx, vscan_gather(ctx, out, p, r)); /* and back again */
    cudaGraphExec_t graph = end_capture(stream);
    least = 77; /* has been read */
    struct inputs_random random = {harness_seed()};
    for (int k = 0; k < 6; ++k) {
        for (int i = 0; i < N; ++i) {
            in[i] = (int32_t)(uint32_t)inputs_next(&random);
            divisors[i] = 1 + (int32_t)inputs_below(&random, 1000);
        }
        if (k % 2) divisors[inputs_below(&random, N)] = 0;
        for (int i = 0; i < N; ++i) {
            const int32_t divisor = divisors[N - 1 - i];
            want[i] = divisor == 0 ? 0 : (in[i] < 0 ? 5 : in[i]) / divisor;
        }
        ok(ctx, vscan_buffer_upload(v, 0, N, in));
        ok(ctx, vscan_buffer_upload(d, 0, N, divisors));
        cuda(cudaGraphLaunch(graph, stream));
        refuses(k % 2 ? VSCAN_ERROR_DIVISION : VSCAN_OK, vscan_buffer_download(r, 0, N, got));
        assert_int_equal(reference_difference(VSCAN_INT, N, want, got), -1);
    }
    cuda(cudaGraphExecDestroy(graph));
    vscan_buffer *const all[] = {v, d, p, r, f, written, out, one};
    for (int k = 0; k < 8; ++k) ok(ctx, vscan_buffer_destroy(all[k]));
    ok(NULL, vscan_ctx_destroy(ctx));
}

/* Sorts in a graph, replayed on new data each time, with plain calls of other lengths in between that
   grow the context's memory for sorts: that of the graph stays. */
static void graph_sorts(void **state) {
    (void)state;
    vscan_ctx *ctx = harness_new_ctx(0);
    enum { N = 50021, SEGMENT = 100 };
    static int32_t in[N], got[N], where[N], offsets[N / SEGMENT + 2];
    const int64_t longer = 400000;
    vscan_buffer *v = new_buffer(ctx, VSCAN_INT, N), *p = new_buffer(ctx, VSCAN_INT, N);
    vscan_buffer *out = new_buffer(ctx, VSCAN_INT, N), *parts = new_buffer(ctx, VSCAN_INT, N);
    vscan_buffer *at = new_buffer(ctx, VSCAN_INT, N / SEGMENT + 2);
    vscan_buffer *other = new_buffer(ctx, VSCAN_INT, longer);
    for (int k = 0; k < N / SEGMENT + 2; ++k) offsets[k] = k * SEGMENT < N ? k * SEGMENT : N;
    ok(ctx, vscan_buffer_upload(at, 0, N / SEGMENT + 2, offsets));
    ok(ctx, vscan_sort_reserve(ctx, VSCAN_INT, VSCAN_INT, N));
    cudaStream_t stream = begin_capture(ctx);
    ok(ctx, vscan_sort_segmented(ctx, v, at, parts, NULL, NULL, NULL));
    ok(ctx, vscan_index(ctx, 0, 1, p));
    ok(ctx, vscan_sort(ctx, v, out, p, p, NULL));
    refuses(VSCAN_ERROR_CAPTURE, vscan_sort(ctx, other, other, NULL, NULL, NULL));
    cudaGraphExec_t graph = end_capture(stream);
    struct inputs_random random = {harness_seed() + 6};
    for (int k = 0; k < 6; ++k) {
        for (int i = 0; i < N; ++i) in[i] = (int32_t)inputs_below(&random, k % 2 ? 3000 : 1 << 30);
        ok(ctx, vscan_buffer_upload(v, 0, N, in));
        cuda(cudaGraphLaunch(graph, stream));
        ok(ctx, vscan_index(ctx, 5, -1, other));
        ok(ctx, vscan_sort(ctx, other, other, NULL, NULL, NULL));
        ok(ctx, vscan_buffer_download(out, 0, N, got));
        ok(ctx, vscan_buffer_download(p, 0, N, where));
        for (int i = 0; i < N; ++i) {
            assert_int_equal(got[i], in[where[i]]);
            if (i == 0) continue;
            assert_true(got[i - 1] < got[i] || (got[i - 1] == got[i] && where[i - 1] < where[i]));
        }
        ok(ctx, vscan_buffer_download(parts, 0, N, got));
        for (int i = 0; i < N; ++i) assert_true(i % SEGMENT == 0 || got[i - 1] <= got[i]);
        int32_t least = 0;
        ok(ctx, vscan_buffer_get(other, 0, &least));
        assert_int_equal(least, 6 - longer);
    }
    cuda(cudaGraphExecDestroy(graph));
    vscan_buffer *const all[] = {v, p, out, parts, at, other};
    for (int k = 0; k < 6; ++k) ok(ctx, vscan_buffer_destroy(all[k]));
    ok(NULL, vscan_ctx_destroy(ctx));
}

/* Segments in a graph, from flags to offsets to lengths and back, their totals by flags, by offsets and to
   all places; replayed on new data each time, with plain calls in between. */
static void graph_segments(void **state) {
    (void)state;
    vscan_ctx *ctx = harness_new_ctx(0);
    enum { N = 70001 };
    static uint8_t flags[N];
    static double values[N];
    vscan_buffer *v = new_buffer(ctx, VSCAN_DOUBLE, N), *f = new_buffer(ctx, VSCAN_BYTE, N);
    vscan_buffer *offsets = new_buffer(ctx, VSCAN_INT, N + 1),
                 *back = new_buffer(ctx, VSCAN_INT, N + 1);
    vscan_buffer *lengths = new_buffer(ctx, VSCAN_INT, N), *bits = new_buffer(ctx, VSCAN_BIT, N);
    vscan_buffer *totals = new_buffer(ctx, VSCAN_DOUBLE, N),
                 *same = new_buffer(ctx, VSCAN_DOUBLE, N);
    vscan_buffer *places = new_buffer(ctx, VSCAN_DOUBLE, N),
                 *again = new_buffer(ctx, VSCAN_DOUBLE, N);
    const int32_t end = N;
    ok(ctx, vscan_ctx_reserve(ctx, VSCAN_DOUBLE, N));
    cudaStream_t stream = begin_capture(ctx);
    /* offsets past the last segment's end are n: as many empty segments more */
    ok(ctx, vscan_buffer_fill(offsets, &end));
    ok(ctx, vscan_flags_to_offsets(ctx, f, offsets, NULL));
    ok(ctx, vscan_offsets_to_lengths(ctx, offsets, lengths));
    ok(ctx, vscan_lengths_to_offsets(ctx, lengths, back));
    ok(ctx, vscan_offsets_to_flags(ctx, back, bits));
    ok(ctx, vscan_reduce_offsets(ctx, VSCAN_PLUS, v, back, totals, NULL));
    ok(ctx, vscan_reduce_segmented(ctx, VSCAN_PLUS, v, bits, same, NULL));
    ok(ctx, vscan_distribute_totals(ctx, VSCAN_PLUS, v, bits, places));
    ok(ctx, vscan_distribute_segmented(ctx, VSCAN_FIRST, places, bits, again));
    cudaGraphExec_t graph = end_capture(stream);
    struct inputs_random random = {harness_seed() + 5};
    for (int k = 0; k < 6; ++k) {
        inputs_fill(INPUTS_RANDOM, VSCAN_DOUBLE, N, inputs_next(&random), values);
        inputs_flags_fill((enum inputs_flags)inputs_below(&random, INPUTS_FLAGS_PATTERNS), 4096, N,
                          inputs_next(&random), flags);
        ok(ctx, vscan_buffer_upload(v, 0, N, values));
        ok(ctx, vscan_buffer_upload(f, 0, N, flags));
        cuda(cudaGraphLaunch(graph, stream));
        static double want[N], got[N];
        struct reference r = {.op = VSCAN_PLUS,
                              .type = VSCAN_DOUBLE,
                              .n = N,
                              .in = values,
                              .flags = flags,
                              .totals = want};
        reference_scan(&r);
        ok(ctx, vscan_buffer_download(totals, 0, N, got));
        assert_int_equal(reference_difference(VSCAN_DOUBLE, r.count, want, got), -1);
        for (int64_t i = r.count; i < N; ++i) assert_true(got[i] == 0);
        ok(ctx, vscan_buffer_download(same, 0, r.count, got)); /* the rest is not written */
        assert_int_equal(reference_difference(VSCAN_DOUBLE, r.count, want, got), -1);
        ok(ctx, vscan_buffer_download(again, 0, N, got));
        int64_t segment = -1;
        for (int i = 0; i < N; ++i) {
            segment += i == 0 || flags[i];
            assert_true(memcmp(&got[i], &want[segment], sizeof got[i]) == 0);
        }
        ok(ctx, vscan_scan(ctx, VSCAN_PLUS, v, places, NULL)); /* something else, in between */
    }
    cuda(cudaGraphExecDestroy(graph));
    vscan_buffer *const all[] = {v, f, offsets, back, lengths, bits, totals, same, places, again};
    for (int k = 0; k < 10; ++k) ok(ctx, vscan_buffer_destroy(all[k]));
    ok(NULL, vscan_ctx_destroy(ctx));
}

/* Packs in a graph, whose counts on the device are the total of what comes next; replayed on new data
   each time, with plain calls of other lengths in between. The first use of the kernels is in the
   capture. */
static void graph_packs(void **state) {
    (void)state;
    vscan_ctx *ctx = harness_new_ctx(0);
    enum { N = 300007, ROOM = N / 2 };
    static int32_t in[N], got[N], want[N], numbers[N], want_numbers[N];
    static uint8_t flags[N];
    vscan_buffer *v = new_buffer(ctx, VSCAN_INT, N), *f = new_buffer(ctx, VSCAN_BYTE, N);
    vscan_buffer *out = new_buffer(ctx, VSCAN_INT, ROOM), *e = new_buffer(ctx, VSCAN_INT, N);
    vscan_buffer *counts = new_buffer(ctx, VSCAN_LONG, 3), *count[3];
    ok(ctx, vscan_ctx_reserve(ctx, VSCAN_INT, N));
    for (int k = 0; k < 3; ++k) ok(ctx, vscan_buffer_view(counts, k, 1, &count[k]));
    vscan_pack_options o = {.size = sizeof o};
    int32_t least = 0;
    cudaStream_t stream = begin_capture(ctx);
    o.count = count[0];
    ok(ctx, vscan_enumerate(ctx, f, e, &o));
    o.count = count[1];
    ok(ctx, vscan_pack(ctx, v, f, v, &o)); /* in place */
    o.count = count[2];
    ok(ctx, vscan_pack_compare(ctx, v, VSCAN_GREATER_OR_EQUAL, &least, out, &o));
    int64_t host_count = -1;
    o.host_count = &host_count;
    refuses(VSCAN_ERROR_CAPTURE, vscan_pack(ctx, v, f, v, &o));
    cudaGraphExec_t graph = end_capture(stream);
    least = 77; /* has been read */
    o = (vscan_pack_options){.size = sizeof o, .host_count = &host_count};
    struct inputs_random random = {harness_seed() + 5};
    for (int k = 0; k < 8; ++k) {
        int64_t set = 0, kept = 0;
        for (int i = 0; i < N; ++i) {
            in[i] = (int32_t)(uint32_t)inputs_next(&random);
            if (k % 2 && i % 5) in[i] |= INT32_MIN; /* mostly negative: there is room */
            flags[i] = (uint8_t)inputs_below(&random, k < 4 ? 2 : 4);
            if (k == 6) in[i] &= INT32_MAX; /* more than there is room for */
        }
        for (int i = 0; i < N; ++i) {
            want_numbers[i] = (int32_t)set;
            want[i] = in[i];
            set += flags[i] != 0;
        }
        set = 0;
        for (int i = 0; i < N; ++i)
            if (flags[i]) want[set++] = in[i];
        ok(ctx, vscan_buffer_upload(v, 0, N, in));
        ok(ctx, vscan_buffer_upload(f, 0, N, flags));
        cuda(cudaGraphLaunch(graph, stream));
        for (int i = 0; i < N; ++i) kept += want[i] >= 0;
        const vscan_status late = kept > ROOM ? VSCAN_ERROR_OUT_LENGTH : VSCAN_OK;
        refuses(late, vscan_buffer_download(v, 0, N, got));
        assert_int_equal(reference_difference(VSCAN_INT, N, want, got), -1);
        ok(ctx, vscan_buffer_download(e, 0, N, numbers));
        assert_int_equal(reference_difference(VSCAN_INT, N, want_numbers, numbers), -1);
        int64_t device_counts[3];
        ok(ctx, vscan_buffer_download(counts, 0, 3, device_counts));
        assert_int_equal(device_counts[0], set);
        assert_int_equal(device_counts[1], set);
        assert_int_equal(device_counts[2], kept);
        int64_t fits = 0;
        for (int i = 0; i < N && fits < ROOM; ++i)
            if (want[i] >= 0) want[fits++] = want[i];
        ok(ctx, vscan_buffer_download(out, 0, fits, got));
        assert_int_equal(reference_difference(VSCAN_INT, fits, want, got), -1);
        ok(ctx, vscan_enumerate(ctx, f, e, &o));
        assert_int_equal(host_count, set);
    }
    cuda(cudaGraphExecDestroy(graph));
    vscan_buffer *const all[] = {v, f, out, e, count[0], count[1], count[2], counts};
    for (int k = 0; k < 8; ++k) ok(ctx, vscan_buffer_destroy(all[k]));
    ok(NULL, vscan_ctx_destroy(ctx));
}

/* Splits in a graph, replayed on new data each time. The workspace has been grown by calls before; to
   grow it in the capture is refused, and waiting too. */
static void graph_splits(void **state) {
    (void)state;
    vscan_ctx *ctx = harness_new_ctx(0);
    enum { N = 300007 };
    static int32_t in[N], got[N], want[N];
    static uint8_t flags[N], heads[N];
    vscan_buffer *v = new_buffer(ctx, VSCAN_INT, N), *out = new_buffer(ctx, VSCAN_INT, N);
    vscan_buffer *parts = new_buffer(ctx, VSCAN_INT, N), *p = new_buffer(ctx, VSCAN_INT, N);
    vscan_buffer *f = new_buffer(ctx, VSCAN_BYTE, N), *h = new_buffer(ctx, VSCAN_BYTE, N);
    vscan_buffer *count = new_buffer(ctx, VSCAN_LONG, 1);
    vscan_split_options o = {.size = sizeof o, .count = count};
    vscan_buffer *const read[] = {v, f, h};
    for (int k = 0; k < 3; ++k) ok(ctx, vscan_buffer_fill(read[k], &(int32_t){0}));
    cudaStream_t stream = begin_capture(ctx);
    refuses(VSCAN_ERROR_CAPTURE, vscan_split_segmented(ctx, v, f, h, parts, NULL));
    cuda(cudaGraphExecDestroy(end_capture(stream)));
    ok(ctx, vscan_split_segmented(ctx, v, f, h, parts, NULL));
    stream = begin_capture(ctx);
    ok(ctx, vscan_split(ctx, v, f, out, &o));
    ok(ctx, vscan_split_segmented(ctx, v, f, h, parts, NULL));
    ok(ctx, vscan_split_positions(ctx, f, p, NULL));
    int64_t host_count = -1;
    o.host_count = &host_count;
    refuses(VSCAN_ERROR_CAPTURE, vscan_split(ctx, v, f, out, &o));
    cudaGraphExec_t graph = end_capture(stream);
    struct inputs_random random = {harness_seed() + 6};
    for (int k = 0; k < 6; ++k) {
        int64_t clear = 0, device_count = 0;
        for (int i = 0; i < N; ++i) {
            in[i] = (int32_t)(uint32_t)inputs_next(&random);
            flags[i] = (uint8_t)inputs_below(&random, k < 3 ? 2 : 4);
            heads[i] = inputs_below(&random, k % 2 ? 10 : 20000) == 0;
            if (!flags[i]) want[clear++] = in[i];
        }
        for (int64_t i = 0, set = clear; i < N; ++i)
            if (flags[i]) want[set++] = in[i];
        ok(ctx, vscan_buffer_upload(v, 0, N, in));
        ok(ctx, vscan_buffer_upload(f, 0, N, flags));
        ok(ctx, vscan_buffer_upload(h, 0, N, heads));
        cuda(cudaGraphLaunch(graph, stream));
        ok(ctx, vscan_buffer_get(count, 0, &device_count));
        assert_int_equal(device_count, clear);
        ok(ctx, vscan_buffer_download(out, 0, N, got));
        assert_int_equal(reference_difference(VSCAN_INT, N, want, got), -1);
        ok(ctx, vscan_permute(ctx, v, p, out, NULL));
        ok(ctx, vscan_buffer_download(out, 0, N, got));
        assert_int_equal(reference_difference(VSCAN_INT, N, want, got), -1);
        for (int64_t begin = 0, end; begin < N; begin = end) {
            int64_t to = begin;
            for (end = begin + 1; end < N && !heads[end];) ++end;
            for (int64_t i = begin; i < end; ++i)
                if (!flags[i]) want[to++] = in[i];
            for (int64_t i = begin; i < end; ++i)
                if (flags[i]) want[to++] = in[i];
        }
        ok(ctx, vscan_buffer_download(parts, 0, N, got));
        assert_int_equal(reference_difference(VSCAN_INT, N, want, got), -1);
        ok(ctx, vscan_split(ctx, v, f, out, &o)); /* with host_count, between replays */
        assert_int_equal(host_count, clear);
    }
    cuda(cudaGraphExecDestroy(graph));
    vscan_buffer *const all[] = {v, out, parts, p, f, h, count};
    for (int k = 0; k < 7; ++k) ok(ctx, vscan_buffer_destroy(all[k]));
    ok(NULL, vscan_ctx_destroy(ctx));
}

static void graph_replayed_often(void **state) {
    (void)state;
    replay_often(NULL, harness_small() ? 8 : 10000);
}

/* The same where blocks wait for pseudo-random times (tests/test_protocol.c). */
static void graph_replayed_with_delays(void **state) {
    (void)state;
    replay_often("3", harness_small() ? 4 : 500);
    replay_often("4", harness_small() ? 4 : 500);
}

/* Rows and columns that several blocks share, in a graph: replayed on new data each time, with plain
   calls of other shapes in between, against the same calls outside of it, which also grow the
   workspace. */
static void graph_matrix(void **state) {
    (void)state;
    vscan_ctx *ctx = harness_new_ctx(0);
    enum { ROWS = 7, COLUMNS = 41003, N = ROWS * COLUMNS };
    static float in[N], got[N], want[N];
    vscan_buffer *v = new_buffer(ctx, VSCAN_FLOAT, N), *rows = new_buffer(ctx, VSCAN_FLOAT, N);
    vscan_buffer *out = new_buffer(ctx, VSCAN_FLOAT, N);
    vscan_buffer *totals = new_buffer(ctx, VSCAN_FLOAT, ROWS);
    const vscan_matrix_options o = {.size = sizeof o, .totals = totals};
    const vscan_matrix_options carry = {.size = sizeof carry, .initial_buffer = totals};
    struct inputs_random random = {harness_seed() + 7};
    cudaStream_t stream = NULL;
    cudaGraphExec_t graph = NULL;
    for (int k = 0; k < 7; ++k) {
        for (int i = 0; i < N; ++i) in[i] = (float)(inputs_below(&random, 2000001) - 1000000) / 997;
        ok(ctx, vscan_buffer_upload(v, 0, N, in));
        for (int captured = 0; captured < 2; ++captured) {
            ok(ctx, vscan_buffer_fill(out, &(float){0}));
            if (k > 0 && captured) {
                cuda(cudaGraphLaunch(graph, stream));
            } else {
                if (captured) stream = begin_capture(ctx);
                ok(ctx, vscan_scan_rows(ctx, VSCAN_PLUS, v, rows, ROWS, COLUMNS, &o));
                ok(ctx, vscan_scan_columns(ctx, VSCAN_PLUS, rows, out, COLUMNS, ROWS, &carry));
                if (captured) graph = end_capture(stream);
                if (captured) cuda(cudaGraphLaunch(graph, stream));
            }
            ok(ctx, vscan_buffer_download(out, 0, N, captured ? got : want));
            ok(ctx, vscan_scan_rows(ctx, VSCAN_MAX, v, rows, 1 + k, 9000 + k, NULL));
        }
        assert_int_equal(reference_difference(VSCAN_FLOAT, N, want, got), -1);
    }
    cuda(cudaGraphExecDestroy(graph));
    vscan_buffer *const all[] = {v, rows, out, totals};
    for (int k = 0; k < 4; ++k) ok(ctx, vscan_buffer_destroy(all[k]));
    ok(NULL, vscan_ctx_destroy(ctx));
}

/* What would wait or allocate is refused during a capture, which goes on unharmed. */
static void capture_refusals(void **state) {
    (void)state;
    vscan_ctx *ctx = harness_new_ctx(0);
    enum { N = 5000 };
    float host[N], total = 42;
    int64_t host_count = 42;
    inputs_fill(INPUTS_RANDOM, VSCAN_FLOAT, N, 1, host);
    float *want = new_expected(host, N);
    vscan_buffer *v = new_buffer(ctx, VSCAN_FLOAT, N), *w = new_buffer(ctx, VSCAN_FLOAT, N);
    vscan_buffer *f = new_buffer(ctx, VSCAN_BYTE, N), *other;
    ok(ctx, vscan_buffer_fill(f, &(uint8_t){0}));
    ok(ctx, vscan_buffer_upload(v, 0, N, host));
    vscan_scan_options scan = {.size = sizeof scan, .host_total = &total};
    vscan_reduce_options reduce = {.size = sizeof reduce, .host_total = &total};
    vscan_segmented_options segmented = {.size = sizeof segmented, .host_count = &host_count};
    cudaStream_t stream = begin_capture(ctx);
    refuses(VSCAN_ERROR_CAPTURE, vscan_ctx_synchronize(ctx));
    refuses(VSCAN_ERROR_CAPTURE, vscan_ctx_reserve(ctx, VSCAN_INT, INT64_C(1) << 33));
    refuses(VSCAN_ERROR_CAPTURE, vscan_buffer_create(ctx, VSCAN_INT, 10, &other));
    refuses(VSCAN_ERROR_CAPTURE, vscan_buffer_destroy(w));
    refuses(VSCAN_ERROR_CAPTURE, vscan_buffer_upload(v, 0, N, host));
    refuses(VSCAN_ERROR_CAPTURE, vscan_buffer_download(v, 0, N, host));
    refuses(VSCAN_ERROR_CAPTURE, vscan_buffer_get(v, 0, host));
    refuses(VSCAN_ERROR_CAPTURE, vscan_scan(ctx, VSCAN_PLUS, v, w, &scan));
    refuses(VSCAN_ERROR_CAPTURE, vscan_reduce(ctx, VSCAN_PLUS, v, NULL, &reduce));
    refuses(VSCAN_ERROR_CAPTURE, vscan_scan_segmented(ctx, VSCAN_PLUS, v, f, w, &segmented));
    assert_non_null(strstr(vscan_ctx_last_error(ctx), "captured"));
    ok(ctx, vscan_scan(ctx, VSCAN_PLUS, v, w, NULL));
    cudaGraphExec_t graph = end_capture(stream);
    assert_true(total == 42 && host_count == 42);
    cuda(cudaGraphLaunch(graph, stream));
    check_floats(ctx, "after refusals", w, want, N);
    cuda(cudaGraphExecDestroy(graph));
    free(want);
    ok(ctx, vscan_buffer_destroy(v));
    ok(ctx, vscan_buffer_destroy(w));
    ok(ctx, vscan_buffer_destroy(f));
    ok(ctx, vscan_ctx_destroy(ctx));
}

/* A scan longer than the workspace is refused in a capture, and runs outside of one. */
static void capture_needs_workspace(void **state) {
    (void)state;
    if (harness_small()) skip();
    vscan_ctx *ctx = harness_new_ctx(0);
    const int64_t n = INT64_C(200) << 20;
    vscan_buffer *v = new_buffer(ctx, VSCAN_DOUBLE, n);
    ok(ctx, vscan_buffer_fill(v, &(double){1}));
    cudaStream_t stream = begin_capture(ctx);
    refuses(VSCAN_ERROR_CAPTURE, vscan_scan(ctx, VSCAN_PLUS, v, v, NULL));
    cuda(cudaGraphExecDestroy(end_capture(stream)));
    ok(ctx, vscan_scan(ctx, VSCAN_PLUS, v, v, NULL));
    double last;
    ok(ctx, vscan_buffer_get(v, n - 1, &last));
    assert_true(last == (double)n);
    stream = begin_capture(ctx);
    ok(ctx, vscan_scan(ctx, VSCAN_MAX, v, v, NULL));
    cuda(cudaGraphExecDestroy(end_capture(stream)));
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
        const vscan_segmented_options with_totals = {
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
        ok(ctx, vscan_pack_compare(ctx, v, VSCAN_NOT_EQUAL, &(uint64_t){0}, v, NULL));
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
    void *const turns[] = {second, NULL, cudaStreamLegacy, first, cudaStreamPerThread,
                           second, NULL};
    for (size_t k = 0; k < sizeof turns / sizeof turns[0]; ++k) {
        ok(ctx, vscan_ctx_set_stream(ctx, turns[k]));
        ok(ctx, vscan_ctx_get_stream(ctx, &stream));
        if (turns[k] != NULL) assert_ptr_equal(stream, turns[k]);
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

/* The 16-bit launch number in the unit words comes round; words of the long scan are then old. */
static void many_launches(void **state) {
    (void)state;
    if (harness_small()) skip();
    vscan_ctx *ctx = harness_new_ctx(0);
    vscan_buffer *v = new_buffer(ctx, VSCAN_INT, 10000);
    ok(ctx, vscan_buffer_fill(v, &(int32_t){0}));
    for (int round = 0; round < 3; ++round) {
        scan_and_check(ctx, "long, before", 3000000, (uint64_t)(2 * round));
        for (int k = 0; k < 65535; ++k) ok(ctx, vscan_scan(ctx, VSCAN_PLUS, v, v, NULL));
        scan_and_check(ctx, "long, after", 3000000, (uint64_t)(2 * round + 1));
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
        vscan_scan_options options = {.size = sizeof options, .direction = k & 1};
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
        cmocka_unit_test(graph_maps),
        cmocka_unit_test(graph_packs),
        cmocka_unit_test(graph_sorts),
        cmocka_unit_test(graph_splits),
        cmocka_unit_test(graph_segments),
        cmocka_unit_test(graph_replayed_often),
        cmocka_unit_test(graph_replayed_with_delays),
        cmocka_unit_test(graph_matrix),
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
