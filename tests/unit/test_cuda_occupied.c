/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Beside a foreign kernel that holds most multiprocessors and does not end before our work
 * has: blocks that wait for one another must get along with what is left, and results must have the
 * bits that they have on an empty device (which other tests compare with a serial loop). One kernel
 * cannot: the reduction of 16 to 512 KiB is a cluster, whose blocks only start together. It waits.
 */
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "captured.h"
#include "harness.h"
#include "inputs.h"
#include "occupy.h"

enum { N = 2000003, OUTS = 2 };

struct vectors {
    vscan_ctx *ctx;
    vscan_buffer *floats, *ints, *flags, *heads;
    vscan_buffer *out_floats, *out_ints; /* N + 1; every work fills a part of either */
};

static vscan_buffer *part(const struct vectors *v, vscan_buffer *buffer, int64_t n) {
    vscan_buffer *view;
    ok(v->ctx, vscan_buffer_view(buffer, 0, n, &view));
    return view;
}

/* ---- What is done ---------------------------------------------------------------------------- */

/* Each with the first n elements. */
static void scan(const struct vectors *v, vscan_buffer *in, vscan_buffer *out, vscan_buffer *flags,
                 int64_t n) {
    (void)flags, (void)n;
    ok(v->ctx, vscan_scan(v->ctx, VSCAN_PLUS, in, out, NULL));
}
static void scan_backward(const struct vectors *v, vscan_buffer *in, vscan_buffer *out,
                          vscan_buffer *flags, int64_t n) {
    (void)flags, (void)n;
    const vscan_scan_options options = {
        .size = sizeof options, .kind = VSCAN_EXCLUSIVE, .direction = VSCAN_BACKWARD};
    ok(v->ctx, vscan_scan(v->ctx, VSCAN_PLUS, in, out, &options));
}
static void scan_segmented(const struct vectors *v, vscan_buffer *in, vscan_buffer *out,
                           vscan_buffer *flags, int64_t n) {
    (void)n;
    ok(v->ctx, vscan_scan_segmented(v->ctx, VSCAN_PLUS, in, flags, out, NULL));
}
static void reduce(const struct vectors *v, vscan_buffer *in, vscan_buffer *out,
                   vscan_buffer *flags, int64_t n) {
    (void)flags, (void)n;
    vscan_buffer *total = part(v, out, 1);
    ok(v->ctx, vscan_reduce(v->ctx, VSCAN_PLUS, in, total, NULL));
    ok(v->ctx, vscan_buffer_destroy(total));
}
static void reduce_segmented(const struct vectors *v, vscan_buffer *in, vscan_buffer *out,
                             vscan_buffer *flags, int64_t n) {
    (void)n;
    ok(v->ctx, vscan_reduce_segmented(v->ctx, VSCAN_PLUS, in, flags, out, NULL));
}
static void distribute_totals(const struct vectors *v, vscan_buffer *in, vscan_buffer *out,
                              vscan_buffer *flags, int64_t n) {
    (void)n;
    ok(v->ctx, vscan_distribute_totals(v->ctx, VSCAN_PLUS, in, flags, out));
}
static void pack(const struct vectors *v, vscan_buffer *in, vscan_buffer *out, vscan_buffer *flags,
                 int64_t n) {
    (void)n;
    ok(v->ctx, vscan_pack(v->ctx, in, flags, out, NULL));
}
static void split(const struct vectors *v, vscan_buffer *in, vscan_buffer *out, vscan_buffer *flags,
                  int64_t n) {
    (void)n;
    ok(v->ctx, vscan_split(v->ctx, in, flags, out, NULL));
}
static void split_segmented(const struct vectors *v, vscan_buffer *in, vscan_buffer *out,
                            vscan_buffer *flags, int64_t n) {
    vscan_buffer *heads = part(v, v->heads, n);
    ok(v->ctx, vscan_split_segmented(v->ctx, in, flags, heads, out, NULL));
    ok(v->ctx, vscan_buffer_destroy(heads));
}
static void sort(const struct vectors *v, vscan_buffer *in, vscan_buffer *out, vscan_buffer *flags,
                 int64_t n) {
    (void)flags, (void)n;
    ok(v->ctx, vscan_sort(v->ctx, in, NULL, out, NULL, NULL));
}
static void rows(const struct vectors *v, vscan_buffer *in, vscan_buffer *out, vscan_buffer *flags,
                 int64_t n) {
    (void)flags;
    ok(v->ctx, vscan_scan_rows(v->ctx, VSCAN_PLUS, in, 3, n / 3, out, NULL));
}
static void columns(const struct vectors *v, vscan_buffer *in, vscan_buffer *out,
                    vscan_buffer *flags, int64_t n) {
    (void)flags;
    ok(v->ctx, vscan_scan_columns(v->ctx, VSCAN_PLUS, in, n / 100, 100, out, NULL));
}
static void offsets(const struct vectors *v, vscan_buffer *in, vscan_buffer *out,
                    vscan_buffer *flags, int64_t n) {
    (void)in, (void)out;
    vscan_buffer *to = part(v, v->out_ints, n + 1);
    ok(v->ctx, vscan_heads_to_offsets(v->ctx, flags, to, NULL));
    ok(v->ctx, vscan_buffer_destroy(to));
}
static void enumerate(const struct vectors *v, vscan_buffer *in, vscan_buffer *out,
                      vscan_buffer *flags, int64_t n) {
    (void)in, (void)out;
    vscan_buffer *to = part(v, v->out_ints, n);
    ok(v->ctx, vscan_enumerate(v->ctx, flags, to, NULL));
    ok(v->ctx, vscan_buffer_destroy(to));
}

#define WORK(f)                                                                                    \
    { #f, f }
static const struct work {
    const char *name;
    void (*enqueue)(const struct vectors *, vscan_buffer *in, vscan_buffer *out,
                    vscan_buffer *flags, int64_t n);
} works[] = {WORK(scan),
             WORK(scan_backward),
             WORK(scan_segmented),
             WORK(reduce),
             WORK(reduce_segmented),
             WORK(distribute_totals),
             WORK(pack),
             WORK(split),
             WORK(split_segmented),
             WORK(sort),
             WORK(rows),
             WORK(columns),
             WORK(offsets),
             WORK(enumerate)};
enum { WORKS = sizeof works / sizeof works[0] };

/* One block; several; the kernels for large vectors. No reduction of 16 to 512 KiB. */
static const int64_t lengths[] = {3000, 300007, N};
enum { LENGTHS = sizeof lengths / sizeof lengths[0], RUNS = WORKS * LENGTHS * OUTS };

/* Run number r, on floats or on ints, with poisoned outputs. */
static void enqueue(const struct vectors *v, int r) {
    const int64_t n = lengths[r / OUTS % LENGTHS];
    vscan_buffer *in = part(v, r % OUTS ? v->ints : v->floats, n), *flags = part(v, v->flags, n);
    vscan_buffer *out = part(v, r % OUTS ? v->out_ints : v->out_floats, n);
    ok(v->ctx, vscan_buffer_fill(v->out_floats, &(float){-7}));
    ok(v->ctx, vscan_buffer_fill(v->out_ints, &(int32_t){-7}));
    works[r / OUTS / LENGTHS].enqueue(v, in, out, flags, n);
    ok(v->ctx, vscan_buffer_destroy(out));
    ok(v->ctx, vscan_buffer_destroy(flags));
    ok(v->ctx, vscan_buffer_destroy(in));
}

/* FNV-1a over the words of both outputs of run number r, and one more. */
static uint64_t hash(const struct vectors *v, int r, uint32_t *host) {
    const int64_t n = lengths[r / OUTS % LENGTHS];
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (int k = 0; k < OUTS; k++) {
        ok(v->ctx, vscan_buffer_download(k ? v->out_ints : v->out_floats, 0, n + 1, host));
        for (int64_t i = 0; i < n + 1; i++) hash = (hash ^ host[i]) * UINT64_C(0x100000001b3);
    }
    return hash;
}

/* What is in the outputs now, compared with what they are after the same run alone. */
static void show_difference(const struct vectors *v, int r, uint32_t *host) {
    uint32_t *got = malloc(2 * (N + 1) * sizeof *got);
    assert_non_null(got);
    for (int k = 0; k < OUTS; k++)
        ok(v->ctx, vscan_buffer_download(k ? v->out_ints : v->out_floats, 0, N + 1,
                                         got + k * (N + 1)));
    enqueue(v, r);
    for (int k = 0; k < OUTS; k++) {
        int64_t count = 0;
        ok(v->ctx, vscan_buffer_download(k ? v->out_ints : v->out_floats, 0, N + 1, host));
        for (int64_t i = 0; i < N + 1; i++)
            if (got[k * (N + 1) + i] != host[i] && count++ < 20)
                print_error("%s[%lld]: expected 0x%08x, got 0x%08x\n", k ? "ints" : "floats",
                            (long long)i, (unsigned)host[i], (unsigned)got[k * (N + 1) + i]);
        print_error("%lld %s differ\n", (long long)count, k ? "ints" : "floats");
    }
    free(got);
}

static void open_vectors(struct vectors *v, uint32_t *host) {
    static const enum inputs_flags patterns[2] = {INPUTS_FLAGS_30, INPUTS_FLAGS_1000};
    uint8_t *flags = malloc(N);
    assert_non_null(flags);
    v->ctx = harness_new_ctx(0);
    v->floats = new_buffer(v->ctx, VSCAN_FLOAT, N);
    v->ints = new_buffer(v->ctx, VSCAN_INT, N);
    v->flags = new_buffer(v->ctx, VSCAN_BYTE, N);
    v->heads = new_buffer(v->ctx, VSCAN_BYTE, N);
    v->out_floats = new_buffer(v->ctx, VSCAN_FLOAT, N + 1);
    v->out_ints = new_buffer(v->ctx, VSCAN_INT, N + 1);
    inputs_fill(INPUTS_RANDOM, VSCAN_FLOAT, N, harness_seed(), host);
    ok(v->ctx, vscan_buffer_upload(v->floats, 0, N, host));
    inputs_fill(INPUTS_RANDOM, VSCAN_INT, N, harness_seed() + 1, host);
    ok(v->ctx, vscan_buffer_upload(v->ints, 0, N, host));
    for (int k = 0; k < 2; k++) {
        inputs_flags_fill(patterns[k], 16384, N, harness_seed() + 2 + (uint64_t)k, flags);
        ok(v->ctx, vscan_buffer_upload(k ? v->heads : v->flags, 0, N, flags));
    }
    free(flags);
}

static void close_vectors(struct vectors *v) {
    vscan_buffer *const all[] = {v->floats, v->ints,       v->flags,
                                 v->heads,  v->out_floats, v->out_ints};
    for (int k = 0; k < 6; k++) ok(v->ctx, vscan_buffer_destroy(all[k]));
    ok(NULL, vscan_ctx_destroy(v->ctx));
}

/* ---- The foreign kernel ---------------------------------------------------------------------- */

struct foreign {
    struct occupier *host, *device;
    cudaStream_t stream;
};

/* Returns when all blocks are there. */
static void arrive(struct foreign *f, int blocks, double seconds) {
    cuda(cudaHostAlloc((void **)&f->host, sizeof *f->host, cudaHostAllocMapped));
    cuda(cudaHostGetDevicePointer((void **)&f->device, f->host, 0));
    cuda(cudaStreamCreateWithFlags(&f->stream, cudaStreamNonBlocking));
    *f->host = (struct occupier){0};
    cuda(occupy(blocks, f->device, (uint64_t)(seconds * 1e9), f->stream));
    const time_t limit = time(NULL) + 30;
    while (*(volatile int32_t *)&f->host->running < blocks) {
        if (time(NULL) > limit) fail_msg("only %d blocks came of %d", f->host->running, blocks);
        sched_yield();
    }
}

static void depart(struct foreign *f) {
    *(volatile int32_t *)&f->host->leave = 1;
    cuda(cudaStreamSynchronize(f->stream));
    cuda(cudaStreamDestroy(f->stream));
    cuda(cudaFreeHost(f->host));
}

static int multiprocessors(void) {
    int device, count;
    cuda(cudaGetDevice(&device));
    cuda(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device));
    return count;
}

/* ---- Tests ----------------------------------------------------------------------------------- */

/* compute-sanitizer lets no two kernels run at once. */
static void beside_a_foreign_kernel(void **state) {
    (void)state;
    if (harness_small()) skip();
    /* where 9 work, a block has some 14 tiles, whose elements come from L2: no wait hides a mistake
       in the pipelines of the kernels with TMA */
    static const int left[] = {1, 2, 9, 9, 9, 9, 17, 33};
    uint32_t *host = malloc((N + 1) * sizeof *host);
    static uint64_t want[RUNS];
    struct vectors v;
    assert_non_null(host);
    open_vectors(&v, host);
    for (int r = 0; r < RUNS; r++) { /* this also allocates, which would wait for the foreign one */
        enqueue(&v, r);
        want[r] = hash(&v, r, host);
    }
    for (size_t k = 0; k < sizeof left / sizeof left[0]; k++) {
        struct foreign f;
        arrive(&f, multiprocessors() - left[k], 60);
        for (int r = 0; r < RUNS; r++) {
            enqueue(&v, r);
            const bool equal = hash(&v, r, host) == want[r];
            const bool late = *(volatile int32_t *)&f.host->late;
            if (equal && !late) continue;
            depart(&f);
            print_error("%d multiprocessors left, %s, %s, n = %lld\n", left[k],
                        works[r / OUTS / LENGTHS].name, r % OUTS ? "ints" : "floats",
                        (long long)lengths[r / OUTS % LENGTHS]);
            if (!equal) show_difference(&v, r, host);
            fail_msg("%s", late ? "the foreign kernel's 60 s were over" : "other bits than alone");
        }
        depart(&f);
    }
    close_vectors(&v);
    free(host);
}

/* A reduction by one cluster starts when there is room: at the latest when the foreign kernel
   ends. */
static void cluster_beside_a_foreign_kernel(void **state) {
    (void)state;
    if (harness_small()) skip();
    struct vectors v;
    uint32_t *host = malloc((N + 1) * sizeof *host);
    assert_non_null(host);
    open_vectors(&v, host);
    vscan_buffer *in = part(&v, v.floats, 20000);
    float want, got;
    reduce(&v, in, v.out_floats, NULL, 20000);
    ok(v.ctx, vscan_buffer_get(v.out_floats, 0, &want));
    struct foreign f;
    arrive(&f, multiprocessors() - 1, 0.5);
    reduce(&v, in, v.out_floats, NULL, 20000);
    ok(v.ctx, vscan_buffer_get(v.out_floats, 0, &got));
    depart(&f);
    assert_memory_equal(&got, &want, sizeof got);
    ok(v.ctx, vscan_buffer_destroy(in));
    close_vectors(&v);
    free(host);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(beside_a_foreign_kernel),
        cmocka_unit_test(cluster_beside_a_foreign_kernel),
    };
    return harness_run(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
