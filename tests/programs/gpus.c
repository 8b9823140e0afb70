/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All GPUs of this machine, in one process without MPI, a thread for each; without a GPU, four contexts of the CPU:
 *
 *     gpus [n [seed]]
 *
 * Scans n random floats, sorts n pairs of random keys and values, and groups these by key: the sum of each group, which
 * may go over any number of GPUs. All parts together are compared with one context's results, bit for bit. Then a table of
 * times in ms: of one context with the whole vector, and of the ranks together, which reach each other by copies between
 * GPUs and, where libnccl.so.2 is there, by NCCL. Exit status 1 where a bit is wrong.
 */
#define _POSIX_C_SOURCE 200809L
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <vscan_ranks.h>

enum { MOST_GPUS = 64, TIMES = 5 };
enum { SCAN, SORT, SUMS, OPERATIONS };
static const char *const names[OPERATIONS] = {"scan", "sort of pairs", "group by"};

/* The whole vectors on the host, and what one context makes of them. */
static struct {
    int64_t n, groups;
    float *values, *scanned, *sums;
    int32_t *keys, *sorted_keys, *group_keys;
    float *sorted_values;
} whole;

static int gpus; /* ranks */
static vscan_ctx *ctxs[MOST_GPUS];
static vscan_ranks *ranks[MOST_GPUS];
static pthread_barrier_t all;
static double best[OPERATIONS], alone[OPERATIONS];
static bool good[MOST_GPUS];

static void check(vscan_status status, const char *sentence, const char *call) {
    if (status == VSCAN_OK) return;
    fprintf(stderr, "gpus: %s: %s: %s\n", call, vscan_ranks_status_name(status), sentence);
    exit(1);
}
#define CHECK(ctx, call) check(call, vscan_ctx_last_error(ctx), #call)
#define CHECK_RANKS(ranks, call) check(call, vscan_ranks_last_error(ranks), #call)

static void *need(int64_t n) {
    void *const memory = calloc((size_t)n + 1, 4);
    if (memory != NULL) return memory;
    fprintf(stderr, "gpus: no host memory\n");
    exit(1);
}

static double milliseconds(void) {
    struct timespec now;
    timespec_get(&now, TIME_UTC);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

static vscan_buffer *new_buffer(vscan_ctx *ctx, vscan_type type, int64_t n, const void *elements) {
    vscan_buffer *made;
    CHECK(ctx, vscan_buffer_create(ctx, type, n, &made));
    if (elements != NULL) CHECK(ctx, vscan_buffer_upload(made, 0, n, elements));
    return made;
}

/* ---- A rank ---------------------------------------------------------------------------------- */

/* What a rank, or one context alone, works on. */
struct part {
    vscan_ctx *ctx;
    vscan_ranks *ranks; /* NULL: there are no others */
    int rank;
    int64_t first, n;
    vscan_buffer *values, *out, *keys, *sorted_keys, *sorted_values, *groups, *sums;
};

static struct part new_part(vscan_ctx *ctx, vscan_ranks *own, int rank, int64_t first, int64_t n) {
    struct part p = {.ctx = ctx, .ranks = own, .rank = rank, .first = first, .n = n};
    p.values = new_buffer(ctx, VSCAN_FLOAT, n, whole.values + first);
    p.keys = new_buffer(ctx, VSCAN_INT, n, whole.keys + first);
    p.out = new_buffer(ctx, VSCAN_FLOAT, n, NULL);
    p.sorted_keys = new_buffer(ctx, VSCAN_INT, n, NULL);
    p.sorted_values = new_buffer(ctx, VSCAN_FLOAT, n, NULL);
    p.groups = new_buffer(ctx, VSCAN_INT, n, NULL);
    p.sums = new_buffer(ctx, VSCAN_FLOAT, n, NULL);
    return p;
}

static void end_part(struct part *p) {
    vscan_buffer *const buffers[] = {p->values,        p->out,    p->keys, p->sorted_keys,
                                     p->sorted_values, p->groups, p->sums};
    for (int i = 0; i < 7; i++) CHECK(p->ctx, vscan_buffer_destroy(buffers[i]));
}

static void run(struct part *p, int operation) {
    vscan_ranks *const own = p->ranks;
    if (operation == SCAN && own != NULL)
        CHECK_RANKS(own, vscan_ranks_scan(own, VSCAN_PLUS, p->values, p->out, NULL));
    if (operation == SCAN && own == NULL)
        CHECK(p->ctx, vscan_scan(p->ctx, VSCAN_PLUS, p->values, p->out, NULL));
    if (operation == SORT && own != NULL)
        CHECK_RANKS(
            own, vscan_ranks_sort(own, p->keys, p->values, p->sorted_keys, p->sorted_values, NULL));
    if (operation == SORT && own == NULL)
        CHECK(p->ctx,
              vscan_sort(p->ctx, p->keys, p->values, p->sorted_keys, p->sorted_values, NULL));
    if (operation == SUMS && own != NULL)
        CHECK_RANKS(own, vscan_ranks_reduce_by_key(own, VSCAN_PLUS, p->sorted_keys,
                                                   p->sorted_values, p->groups, p->sums, NULL));
    if (operation == SUMS && own == NULL)
        CHECK(p->ctx, vscan_reduce_by_key(p->ctx, VSCAN_PLUS, p->sorted_keys, p->sorted_values,
                                          p->groups, p->sums, NULL));
    CHECK(p->ctx, vscan_ctx_synchronize(p->ctx));
}

/* The best time of some, of the slowest rank. */
static double time_of(struct part *p, int operation) {
    double least = 1e30;
    for (int i = 0; i < TIMES + 1; i++) { /* the first makes memory and connections */
        if (p->ranks != NULL) (void)pthread_barrier_wait(&all);
        const double begin = milliseconds();
        run(p, operation);
        if (p->ranks != NULL) (void)pthread_barrier_wait(&all);
        const double took = milliseconds() - begin;
        if (i > 0 && took < least) least = took;
    }
    return least;
}

static bool same(struct part *p, vscan_buffer *got, int64_t n, const void *expected) {
    void *const elements = need(n);
    CHECK(p->ctx, vscan_buffer_download(got, 0, n, elements));
    const bool equal = memcmp(elements, expected, (size_t)n * 4) == 0;
    free(elements);
    return equal;
}

static void *run_rank(void *number) {
    const int rank = *(const int *)number;
    int64_t first, n, before, groups, all_groups;
    CHECK_RANKS(ranks[rank], vscan_ranks_share(ranks[rank], whole.n, &first, &n));
    struct part p = new_part(ctxs[rank], ranks[rank], rank, first, n);
    for (int operation = 0; operation < OPERATIONS; operation++) {
        const double took = time_of(&p, operation);
        if (rank == 0) best[operation] = took;
    }
    vscan_buffer *const heads = new_buffer(p.ctx, VSCAN_BYTE, n, NULL);
    CHECK_RANKS(p.ranks, vscan_ranks_keys_to_heads(p.ranks, p.sorted_keys, NULL, heads));
    CHECK_RANKS(p.ranks, vscan_ranks_count_segments(p.ranks, heads, &before, &groups, &all_groups));
    CHECK(p.ctx, vscan_buffer_destroy(heads));
    good[rank] = same(&p, p.out, n, whole.scanned + first) &&
                 same(&p, p.sorted_keys, n, whole.sorted_keys + first) &&
                 same(&p, p.sorted_values, n, whole.sorted_values + first) &&
                 all_groups == whole.groups && same(&p, p.sums, groups, whole.sums + before) &&
                 same(&p, p.groups, groups, whole.group_keys + before);
    end_part(&p);
    CHECK_RANKS(NULL, vscan_ranks_destroy(ranks[rank]));
    return NULL;
}

/* ---- Groups ---------------------------------------------------------------------------------- */

static bool run_all(void *(*body)(void *)) {
    static int numbers[MOST_GPUS];
    pthread_t threads[MOST_GPUS];
    bool all_good = true;
    for (int r = 0; r < gpus; r++) {
        numbers[r] = r;
        if (pthread_create(&threads[r], NULL, body, numbers + r) != 0) exit(1);
    }
    for (int r = 0; r < gpus; r++) (void)pthread_join(threads[r], NULL);
    for (int r = 0; r < gpus; r++) all_good = all_good && good[r];
    return all_good;
}

static void *comms[MOST_GPUS];

static void *join_nccl(void *number) {
    const int rank = *(const int *)number;
    CHECK_RANKS(NULL, vscan_ranks_create_nccl(ctxs[rank], comms[rank], NULL, &ranks[rank]));
    return NULL;
}

/* A communicator a GPU. False: there is no NCCL, or no GPU. */
static bool make_communicators(bool on_gpus) {
    void *const library = on_gpus ? dlopen("libnccl.so.2", RTLD_NOW) : NULL;
    int (*init_all)(void **, int, const int *) = NULL;
    if (library != NULL) *(void **)&init_all = dlsym(library, "ncclCommInitAll");
    return init_all != NULL && init_all(comms, gpus, NULL) == 0;
}

static bool report(const char *way, bool bits) {
    for (int i = 0; i < OPERATIONS; i++)
        printf("%-24s  %-8s %10.3f %10.3f\n", names[i], way, alone[i], best[i]);
    printf("%s: the bits are %s\n", way, bits ? "those of one context" : "WRONG");
    return bits;
}

/* ---- The whole vectors ----------------------------------------------------------------------- */

static void fill(uint64_t seed) {
    const int64_t n = whole.n;
    whole.values = need(n), whole.scanned = need(n), whole.sums = need(n);
    whole.keys = need(n), whole.sorted_keys = need(n), whole.sorted_values = need(n);
    whole.group_keys = need(n);
    uint64_t state = seed;
    for (int64_t i = 0; i < n; i++) { /* splitmix64 (Steele, Lea, Flood, 2014) */
        uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15);
        z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
        z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
        z ^= z >> 31;
        whole.values[i] = (float)((double)(z >> 11) * 0x1p-53 - 0.25);
        whole.keys[i] = (int32_t)(z % (uint64_t)(n / 100 + 1));
    }
}

static void run_alone(void) {
    struct part p = new_part(ctxs[0], NULL, 0, 0, whole.n);
    vscan_buffer *const count = new_buffer(ctxs[0], VSCAN_LONG, 1, NULL);
    const vscan_reduce_by_key_options options = {.size = sizeof options, .count = count};
    for (int operation = 0; operation < OPERATIONS; operation++)
        alone[operation] = time_of(&p, operation);
    CHECK(p.ctx, vscan_reduce_by_key(p.ctx, VSCAN_PLUS, p.sorted_keys, p.sorted_values, p.groups,
                                     p.sums, &options));
    CHECK(p.ctx, vscan_buffer_get(count, 0, &whole.groups));
    CHECK(p.ctx, vscan_buffer_download(p.out, 0, whole.n, whole.scanned));
    CHECK(p.ctx, vscan_buffer_download(p.sorted_keys, 0, whole.n, whole.sorted_keys));
    CHECK(p.ctx, vscan_buffer_download(p.sorted_values, 0, whole.n, whole.sorted_values));
    CHECK(p.ctx, vscan_buffer_download(p.sums, 0, whole.groups, whole.sums));
    CHECK(p.ctx, vscan_buffer_download(p.groups, 0, whole.groups, whole.group_keys));
    CHECK(p.ctx, vscan_buffer_destroy(count));
    end_part(&p);
}

int main(int argc, char **argv) {
    int32_t devices = 0;
    const char *const asked = getenv("VSCAN_BACKEND");
    const bool on_gpus = (asked == NULL || strcmp(asked, "cpu") != 0) &&
                         vscan_device_count(VSCAN_BACKEND_CUDA, &devices) == VSCAN_OK &&
                         devices > 0;
    gpus = !on_gpus ? 4 : devices < MOST_GPUS ? devices : MOST_GPUS;
    whole.n = argc > 1 ? strtoll(argv[1], NULL, 10) : on_gpus ? (int64_t)gpus << 26 : 1 << 20;
    if (whole.n < 1) {
        fprintf(stderr, "usage: gpus [n [seed]]\n");
        return 2;
    }
    for (int r = 0; r < gpus; r++) {
        const vscan_ctx_options options = {.size = sizeof options,
                                           .backend =
                                               on_gpus ? VSCAN_BACKEND_CUDA : VSCAN_BACKEND_CPU,
                                           .device = on_gpus ? r : 0,
                                           .threads = !on_gpus};
        CHECK(NULL, vscan_ctx_create(&options, &ctxs[r]));
    }
    (void)pthread_barrier_init(&all, NULL, (unsigned)gpus);
    fill(argc > 2 ? strtoull(argv[2], NULL, 10) : 1);
    run_alone();
    printf("%d %s, n = %lld, %lld groups\n", gpus, on_gpus ? "GPUs" : "contexts of the CPU",
           (long long)whole.n, (long long)whole.groups);
    printf("%-24s  %-8s %10s %10s\n", "ms", "way", "alone", "together");
    CHECK_RANKS(NULL, vscan_ranks_create_all(ctxs, gpus, NULL, ranks));
    bool passed = report("threads", run_all(run_rank));
    if (make_communicators(on_gpus)) {
        (void)run_all(join_nccl);
        passed = report("NCCL", run_all(run_rank)) && passed;
    }
    (void)pthread_barrier_destroy(&all);
    for (int r = 0; r < gpus; r++) CHECK(NULL, vscan_ctx_destroy(ctxs[r]));
    void *const memory[] = {whole.values,      whole.scanned,       whole.sums,      whole.keys,
                            whole.sorted_keys, whole.sorted_values, whole.group_keys};
    for (int i = 0; i < 7; i++) free(memory[i]);
    printf("%s\n", passed ? "PASSED" : "FAILED");
    return !passed;
}
