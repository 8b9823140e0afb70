/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every family but the scans in captured graphs, replayed on new data, with plain calls in between.
 * Those of the scans are in test_cuda.c.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "captured.h"
#include "elements.h"
#include "extreme_reference.h"
#include "inputs.h"
#include "reference.h"

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

/* Packs in a graph, whose counts on the device are the total of what comes next; replayed on new data
   each time, with plain calls of other lengths in between. The first use of the kernels is in the
   capture. */
static void packs_of(int n) {
    vscan_ctx *ctx = harness_new_ctx(0);
    enum { N = 900001 };
    const int room = n / 2;
    assert_true(n <= N);
    static int32_t in[N], got[N], want[N], numbers[N], want_numbers[N];
    static uint8_t flags[N];
    vscan_buffer *v = new_buffer(ctx, VSCAN_INT, n), *f = new_buffer(ctx, VSCAN_BYTE, n);
    vscan_buffer *out = new_buffer(ctx, VSCAN_INT, room), *e = new_buffer(ctx, VSCAN_INT, n);
    vscan_buffer *counts = new_buffer(ctx, VSCAN_LONG, 3), *count[3];
    ok(ctx, vscan_ctx_reserve(ctx, VSCAN_INT, n));
    for (int k = 0; k < 3; ++k) ok(ctx, vscan_buffer_view(counts, k, 1, &count[k]));
    vscan_count_options o = {.size = sizeof o};
    int32_t least = 0;
    cudaStream_t stream = begin_capture(ctx);
    o.count = count[0];
    ok(ctx, vscan_enumerate(ctx, f, e, &o));
    o.count = count[1];
    ok(ctx, vscan_pack(ctx, v, f, v, &o)); /* in place */
    o.count = count[2];
    ok(ctx, vscan_pack_compare(ctx, VSCAN_GREATER_OR_EQUAL, v, &least, out, &o));
    cudaGraphExec_t graph = end_capture(stream);
    least = 77; /* has been read */
    o = (vscan_count_options){.size = sizeof o, .count = harness_one(ctx, VSCAN_LONG)};
    struct inputs_random random = {harness_seed() + 5};
    for (int k = 0; k < 8; ++k) {
        int64_t set = 0, kept = 0;
        for (int i = 0; i < n; ++i) {
            in[i] = (int32_t)(uint32_t)inputs_next(&random);
            if (k % 2 && i % 5) in[i] |= INT32_MIN; /* mostly negative: there is room */
            flags[i] = (uint8_t)inputs_below(&random, k < 4 ? 2 : 4);
            if (k == 6) in[i] &= INT32_MAX; /* more than there is room for */
        }
        for (int i = 0; i < n; ++i) {
            want_numbers[i] = (int32_t)set;
            want[i] = in[i];
            set += flags[i] != 0;
        }
        set = 0;
        for (int i = 0; i < n; ++i)
            if (flags[i]) want[set++] = in[i];
        ok(ctx, vscan_buffer_upload(v, 0, n, in));
        ok(ctx, vscan_buffer_upload(f, 0, n, flags));
        cuda(cudaGraphLaunch(graph, stream));
        for (int i = 0; i < n; ++i) kept += want[i] >= 0;
        const vscan_status late = kept > room ? VSCAN_ERROR_OUT_LENGTH : VSCAN_OK;
        refuses(late, vscan_buffer_download(v, 0, n, got));
        assert_int_equal(reference_difference(VSCAN_INT, n, want, got), -1);
        ok(ctx, vscan_buffer_download(e, 0, n, numbers));
        assert_int_equal(reference_difference(VSCAN_INT, n, want_numbers, numbers), -1);
        int64_t device_counts[3];
        ok(ctx, vscan_buffer_download(counts, 0, 3, device_counts));
        assert_int_equal(device_counts[0], set);
        assert_int_equal(device_counts[1], set);
        assert_int_equal(device_counts[2], kept);
        int64_t fits = 0;
        for (int i = 0; i < n && fits < room; ++i)
            if (want[i] >= 0) want[fits++] = want[i];
        ok(ctx, vscan_buffer_download(out, 0, fits, got));
        assert_int_equal(reference_difference(VSCAN_INT, fits, want, got), -1);
        ok(ctx, vscan_enumerate(ctx, f, e, &o));
        ok(ctx, vscan_buffer_get(o.count, 0, &kept));
        assert_int_equal(kept, set);
    }
    ok(ctx, vscan_buffer_destroy(o.count));
    cuda(cudaGraphExecDestroy(graph));
    vscan_buffer *const all[] = {v, f, out, e, count[0], count[1], count[2], counts};
    for (int k = 0; k < 8; ++k) ok(ctx, vscan_buffer_destroy(all[k]));
    ok(NULL, vscan_ctx_destroy(ctx));
}

/* Of one block, of several, and longer than the kernels for small vectors go. */
static void graph_packs(void **state) {
    (void)state;
    packs_of(3001);
    packs_of(70001);
    packs_of(900001);
}

/* Sorts in a graph, replayed on new data and on segments of other lengths each time, with plain calls of
   other lengths in between that grow the context's memory for sorts: that of the graph stays. */
static void graph_sorts(void **state) {
    (void)state;
    vscan_ctx *ctx = harness_new_ctx(0);
    enum { N = 50021, SEGMENT = 100, SMALL = 3000 };
    static int32_t in[N], got[N], where[N], offsets[N / SEGMENT + 2];
    const int lengths[] = {SEGMENT, 20000, 1000, N};
    const int64_t longer = 400000;
    vscan_buffer *v = new_buffer(ctx, VSCAN_INT, N), *p = new_buffer(ctx, VSCAN_INT, N);
    vscan_buffer *out = new_buffer(ctx, VSCAN_INT, N), *parts = new_buffer(ctx, VSCAN_INT, N);
    vscan_buffer *at = new_buffer(ctx, VSCAN_INT, N / SEGMENT + 2);
    vscan_buffer *other = new_buffer(ctx, VSCAN_INT, longer);
    vscan_buffer *small = new_buffer(ctx, VSCAN_INT, SMALL);
    ok(ctx, vscan_sort_reserve(ctx, VSCAN_INT, VSCAN_INT, N));
    cudaStream_t stream = begin_capture(ctx);
    ok(ctx, vscan_sort_by_offsets(ctx, v, NULL, at, parts, NULL, NULL));
    ok(ctx, vscan_index(ctx, 0, 1, p));
    ok(ctx, vscan_sort(ctx, v, p, out, p, NULL));
    ok(ctx, vscan_sort(ctx, small, NULL, small, NULL, NULL));
    refuses(VSCAN_ERROR_CAPTURE, vscan_sort(ctx, other, NULL, other, NULL, NULL));
    cudaGraphExec_t graph = end_capture(stream);
    struct inputs_random random = {harness_seed() + 6};
    for (int k = 0; k < 6; ++k) {
        for (int i = 0; i < N; ++i) in[i] = (int32_t)inputs_below(&random, k % 2 ? 3000 : 1 << 30);
        const int length = lengths[k % 4];
        for (int s = 0; s < N / SEGMENT + 2; ++s)
            offsets[s] = (int64_t)s * length < N ? s * length : N;
        ok(ctx, vscan_buffer_upload(v, 0, N, in));
        ok(ctx, vscan_buffer_upload(at, 0, N / SEGMENT + 2, offsets));
        ok(ctx, vscan_index(ctx, k, -1, small));
        cuda(cudaGraphLaunch(graph, stream));
        ok(ctx, vscan_index(ctx, 5, -1, other));
        ok(ctx, vscan_sort(ctx, other, NULL, other, NULL, NULL));
        ok(ctx, vscan_buffer_download(out, 0, N, got));
        ok(ctx, vscan_buffer_download(p, 0, N, where));
        for (int i = 0; i < N; ++i) {
            assert_int_equal(got[i], in[where[i]]);
            if (i == 0) continue;
            assert_true(got[i - 1] < got[i] || (got[i - 1] == got[i] && where[i - 1] < where[i]));
        }
        ok(ctx, vscan_buffer_download(parts, 0, N, got));
        for (int i = 0; i < N; ++i) assert_true(i % length == 0 || got[i - 1] <= got[i]);
        ok(ctx, vscan_buffer_download(small, 0, SMALL, got));
        for (int i = 0; i < SMALL; ++i) assert_int_equal(got[i], k - SMALL + 1 + i);
        int32_t least = 0;
        ok(ctx, vscan_buffer_get(other, 0, &least));
        assert_int_equal(least, 6 - longer);
    }
    cuda(cudaGraphExecDestroy(graph));
    vscan_buffer *const all[] = {v, p, out, parts, at, other, small};
    for (int k = 0; k < 7; ++k) ok(ctx, vscan_buffer_destroy(all[k]));
    ok(NULL, vscan_ctx_destroy(ctx));
}

/* Splits in a graph, replayed on new data each time. The workspace has been grown by calls before; to
   grow it in the capture is refused, and waiting too. */
static void splits_of(int n) {
    vscan_ctx *ctx = harness_new_ctx(0);
    enum { N = 300007 };
    assert_true(n <= N);
    static int32_t in[N], got[N], want[N];
    static uint8_t flags[N], heads[N];
    vscan_buffer *v = new_buffer(ctx, VSCAN_INT, n), *out = new_buffer(ctx, VSCAN_INT, n);
    vscan_buffer *parts = new_buffer(ctx, VSCAN_INT, n), *p = new_buffer(ctx, VSCAN_INT, n);
    vscan_buffer *f = new_buffer(ctx, VSCAN_BYTE, n), *h = new_buffer(ctx, VSCAN_BYTE, n);
    vscan_buffer *count = new_buffer(ctx, VSCAN_LONG, 1);
    vscan_count_options o = {.size = sizeof o, .count = count};
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
    cudaGraphExec_t graph = end_capture(stream);
    struct inputs_random random = {harness_seed() + 6};
    for (int k = 0; k < 6; ++k) {
        int64_t clear = 0, device_count = 0;
        for (int i = 0; i < n; ++i) {
            in[i] = (int32_t)(uint32_t)inputs_next(&random);
            flags[i] = (uint8_t)inputs_below(&random, k < 3 ? 2 : 4);
            heads[i] = inputs_below(&random, k % 2 ? 10 : 20000) == 0;
            if (!flags[i]) want[clear++] = in[i];
        }
        for (int64_t i = 0, set = clear; i < n; ++i)
            if (flags[i]) want[set++] = in[i];
        ok(ctx, vscan_buffer_upload(v, 0, n, in));
        ok(ctx, vscan_buffer_upload(f, 0, n, flags));
        ok(ctx, vscan_buffer_upload(h, 0, n, heads));
        cuda(cudaGraphLaunch(graph, stream));
        ok(ctx, vscan_buffer_get(count, 0, &device_count));
        assert_int_equal(device_count, clear);
        ok(ctx, vscan_buffer_download(out, 0, n, got));
        assert_int_equal(reference_difference(VSCAN_INT, n, want, got), -1);
        ok(ctx, vscan_permute(ctx, v, p, out, NULL));
        ok(ctx, vscan_buffer_download(out, 0, n, got));
        assert_int_equal(reference_difference(VSCAN_INT, n, want, got), -1);
        for (int64_t begin = 0, end; begin < n; begin = end) {
            int64_t to = begin;
            for (end = begin + 1; end < n && !heads[end];) ++end;
            for (int64_t i = begin; i < end; ++i)
                if (!flags[i]) want[to++] = in[i];
            for (int64_t i = begin; i < end; ++i)
                if (flags[i]) want[to++] = in[i];
        }
        ok(ctx, vscan_buffer_download(parts, 0, n, got));
        assert_int_equal(reference_difference(VSCAN_INT, n, want, got), -1);
        ok(ctx, vscan_split(ctx, v, f, out, &o)); /* between replays */
        ok(ctx, vscan_buffer_get(count, 0, &device_count));
        assert_int_equal(device_count, clear);
    }
    cuda(cudaGraphExecDestroy(graph));
    vscan_buffer *const all[] = {v, out, parts, p, f, h, count};
    for (int k = 0; k < 7; ++k) ok(ctx, vscan_buffer_destroy(all[k]));
    ok(NULL, vscan_ctx_destroy(ctx));
}

static void graph_splits(void **state) {
    (void)state;
    splits_of(3001);
    splits_of(70001);
    splits_of(300007);
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
    ok(ctx, vscan_heads_to_offsets(ctx, f, offsets, NULL));
    ok(ctx, vscan_offsets_to_lengths(ctx, offsets, lengths));
    ok(ctx, vscan_lengths_to_offsets(ctx, lengths, back));
    ok(ctx, vscan_offsets_to_heads(ctx, back, bits));
    ok(ctx, vscan_reduce_by_offsets(ctx, VSCAN_PLUS, v, back, totals, NULL));
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
        static double alone[N]; /* by offsets a segment is a vector of its own */
        int64_t begins = 0;
        for (int64_t s = 0, i = 1; i <= N; ++i) {
            if (i < N && !flags[i]) continue;
            struct reference segment = {.op = VSCAN_PLUS,
                                        .type = VSCAN_DOUBLE,
                                        .n = i - begins,
                                        .in = values + begins,
                                        .total = &alone[s++]};
            reference_scan(&segment);
            begins = i;
        }
        assert_int_equal(reference_difference(VSCAN_DOUBLE, r.count, alone, got), -1);
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
                ok(ctx, vscan_scan_rows(ctx, VSCAN_PLUS, v, ROWS, COLUMNS, rows, &o));
                ok(ctx, vscan_scan_columns(ctx, VSCAN_PLUS, rows, COLUMNS, ROWS, out, &carry));
                if (captured) graph = end_capture(stream);
                if (captured) cuda(cudaGraphLaunch(graph, stream));
            }
            ok(ctx, vscan_buffer_download(out, 0, N, captured ? got : want));
            ok(ctx, vscan_scan_rows(ctx, VSCAN_MAX, v, 1 + k, 9000 + k, rows, NULL));
        }
        assert_int_equal(reference_difference(VSCAN_FLOAT, N, want, got), -1);
    }
    cuda(cudaGraphExecDestroy(graph));
    vscan_buffer *const all[] = {v, rows, out, totals};
    for (int k = 0; k < 4; ++k) ok(ctx, vscan_buffer_destroy(all[k]));
    ok(NULL, vscan_ctx_destroy(ctx));
}

/* Maxima and minima with positions, in place and backward, in a graph: replayed on new data each time, with
   a plain call in between. */
static void graph_extreme(void **state) {
    (void)state;
    vscan_ctx *ctx = harness_new_ctx(0);
    enum { N = 300007 };
    static float in[N], got[N], want[2][N];
    static int32_t places[N], want_places[2][N];
    vscan_buffer *v = new_buffer(ctx, VSCAN_FLOAT, N), *out = new_buffer(ctx, VSCAN_FLOAT, N);
    vscan_buffer *at[2] = {new_buffer(ctx, VSCAN_INT, N), new_buffer(ctx, VSCAN_INT, N)};
    vscan_buffer *total = new_buffer(ctx, VSCAN_FLOAT, 1), *last = new_buffer(ctx, VSCAN_LONG, 1);
    const vscan_extreme_options backward = {.size = sizeof backward, .direction = VSCAN_BACKWARD};
    ok(ctx, vscan_ctx_reserve(ctx, VSCAN_FLOAT, N));
    cudaStream_t stream = begin_capture(ctx);
    ok(ctx, vscan_scan_extreme(ctx, VSCAN_MAX, v, out, at[0], NULL));
    ok(ctx, vscan_scan_extreme(ctx, VSCAN_MIN, out, out, at[1], &backward));
    ok(ctx, vscan_reduce_extreme(ctx, VSCAN_MIN, v, total, last, &backward));
    cudaGraphExec_t graph = end_capture(stream);
    struct inputs_random random = {harness_seed() + 9};
    for (int k = 0; k < 6; ++k) {
        for (int i = 0; i < N; ++i) in[i] = (float)inputs_below(&random, 2 * i / 3 + 2);
        extreme_reference(VSCAN_MAX, VSCAN_FLOAT, N, in, false, want[0], VSCAN_INT, want_places[0]);
        extreme_reference(VSCAN_MIN, VSCAN_FLOAT, N, want[0], true, want[1], VSCAN_INT,
                          want_places[1]);
        const int64_t best =
            extreme_reference(VSCAN_MIN, VSCAN_FLOAT, N, in, true, NULL, VSCAN_INT, NULL);
        ok(ctx, vscan_buffer_upload(v, 0, N, in));
        cuda(cudaGraphLaunch(graph, stream));
        ok(ctx, vscan_buffer_download(out, 0, N, got));
        assert_int_equal(reference_difference(VSCAN_FLOAT, N, want[1], got), -1);
        for (int j = 0; j < 2; ++j) {
            ok(ctx, vscan_buffer_download(at[j], 0, N, places));
            assert_int_equal(reference_difference(VSCAN_INT, N, want_places[j], places), -1);
        }
        float least;
        int64_t place;
        ok(ctx, vscan_buffer_get(total, 0, &least));
        ok(ctx, vscan_buffer_get(last, 0, &place));
        assert_true(least == in[best]);
        assert_int_equal(place, best);
        ok(ctx, vscan_reduce_extreme(ctx, VSCAN_MAX, out, NULL, last, NULL));
    }
    cuda(cudaGraphExecDestroy(graph));
    vscan_buffer *const all[] = {v, out, at[0], at[1], total, last};
    for (int k = 0; k < 6; ++k) ok(ctx, vscan_buffer_destroy(all[k]));
    ok(NULL, vscan_ctx_destroy(ctx));
}

/* A scan and a reduction with a carry each, in a graph: each replay goes on where the carry is then,
   and so does a call behind them. The workspace has been grown by a call before. */
static void graph_carry(void **state) {
    (void)state;
    vscan_ctx *ctx = harness_new_ctx(0);
    enum { PIECE = 1000, REPLAYS = 5, LAST = 37, N = PIECE * REPLAYS + LAST };
    float in[N], want[N], got[PIECE], want_total, total;
    struct inputs_random random = {harness_seed() + 8};
    for (int i = 0; i < N; ++i) in[i] = (float)(inputs_below(&random, 2000001) - 1000000) / 997;
    struct reference r = {.op = VSCAN_PLUS,
                          .type = VSCAN_FLOAT,
                          .n = N,
                          .in = in,
                          .exclusive = true,
                          .out = want,
                          .total = &want_total};
    reference_scan(&r);
    vscan_buffer *v = new_buffer(ctx, VSCAN_FLOAT, PIECE),
                 *out = new_buffer(ctx, VSCAN_FLOAT, PIECE);
    vscan_buffer *view, *sum = new_buffer(ctx, VSCAN_FLOAT, 1);
    ok(ctx, vscan_buffer_view(v, 0, LAST, &view));
    vscan_carry *scanned, *reduced;
    ok(ctx, vscan_carry_create(ctx, VSCAN_PLUS, VSCAN_FLOAT, VSCAN_FORWARD, &scanned));
    ok(ctx, vscan_carry_create(ctx, VSCAN_PLUS, VSCAN_FLOAT, VSCAN_FORWARD, &reduced));
    const vscan_scan_options scan = {
        .size = sizeof scan, .kind = VSCAN_EXCLUSIVE, .carry = scanned};
    const vscan_reduce_options reduce = {.size = sizeof reduce, .carry = reduced};
    ok(ctx, vscan_buffer_fill(v, &(float){1}));
    ok(ctx, vscan_scan(ctx, VSCAN_PLUS, v, out, &scan));
    ok(ctx, vscan_carry_reset(scanned, NULL));
    cudaStream_t stream = begin_capture(ctx);
    ok(ctx, vscan_scan(ctx, VSCAN_PLUS, v, out, &scan));
    ok(ctx, vscan_reduce(ctx, VSCAN_PLUS, v, sum, &reduce));
    cudaGraphExec_t graph = end_capture(stream);
    for (int k = 0; k < REPLAYS; ++k) {
        ok(ctx, vscan_buffer_upload(v, 0, PIECE, in + k * PIECE));
        cuda(cudaGraphLaunch(graph, stream));
        ok(ctx, vscan_buffer_download(out, 0, PIECE, got));
        assert_int_equal(reference_difference(VSCAN_FLOAT, PIECE, want + k * PIECE, got), -1);
        ok(ctx, vscan_buffer_get(sum, 0, &total));
        assert_int_equal(reference_difference(VSCAN_FLOAT, 1, want + (k + 1) * PIECE, &total), -1);
    }
    ok(ctx, vscan_buffer_upload(v, 0, LAST, in + REPLAYS * PIECE));
    ok(ctx, vscan_reduce(ctx, VSCAN_PLUS, view, sum, &reduce));
    ok(ctx, vscan_scan(ctx, VSCAN_PLUS, view, view, &scan));
    ok(ctx, vscan_buffer_download(view, 0, LAST, got));
    assert_int_equal(reference_difference(VSCAN_FLOAT, LAST, want + REPLAYS * PIECE, got), -1);
    ok(ctx, vscan_buffer_get(sum, 0, &total));
    assert_int_equal(reference_difference(VSCAN_FLOAT, 1, &want_total, &total), -1);
    cuda(cudaGraphExecDestroy(graph));
    ok(ctx, vscan_carry_destroy(scanned));
    ok(ctx, vscan_carry_destroy(reduced));
    vscan_buffer *const all[] = {v, out, view, sum};
    for (int k = 0; k < 4; ++k) ok(ctx, vscan_buffer_destroy(all[k]));
    ok(NULL, vscan_ctx_destroy(ctx));
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(graph_maps),     cmocka_unit_test(graph_packs),
        cmocka_unit_test(graph_sorts),    cmocka_unit_test(graph_splits),
        cmocka_unit_test(graph_segments), cmocka_unit_test(graph_matrix),
        cmocka_unit_test(graph_carry),    cmocka_unit_test(graph_extreme),
    };
    return harness_run(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
