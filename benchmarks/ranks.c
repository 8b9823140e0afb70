/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Times what libvscan_ranks does on all GPUs of this machine, a thread for each; without a GPU, on two contexts of the
 * CPU:
 *
 *     bench_ranks [PART [RUNS [NAME]]]
 *
 * PART is the length of each rank's part; gathers and permutes take a quarter of it. NAME: only what begins so. Prints
 * rows of CSV: one context with a part, one with the whole vector, ranks that reach each other by copies between GPUs,
 * and by NCCL where that is there. A time is that of the slowest rank from a barrier until its work is done. Every
 * result has the bits of the one context with the whole vector, else the exit status is 1.
 */
#define _POSIX_C_SOURCE 200809L
#include <dlfcn.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <vscan_ranks.h>

enum { MOST_GPUS = 64, MOST_RUNS = 100, RUN = 100 };
enum measured {
    SCAN,
    REDUCE,
    SEGMENTED,
    ONE_SEGMENT,
    SORT_INTS,
    SORT_FLOATS,
    SORT_PAIRS,
    SPLIT,
    REBALANCE,
    PACK,
    GATHER,
    PERMUTE,
    BY_KEY,
    SCAN_MILLION,
    SCAN_ONE,
    MEASURED
};
static const struct {
    const char *name;
    vscan_type type, of_second; /* flags, positions, or values */
} works[MEASURED] = {
    [SCAN] = {"scan", VSCAN_FLOAT, VSCAN_NONE},
    [REDUCE] = {"reduce", VSCAN_FLOAT, VSCAN_NONE},
    [SEGMENTED] = {"segmented scan", VSCAN_FLOAT, VSCAN_BYTE},
    [ONE_SEGMENT] = {"segmented scan of one segment", VSCAN_FLOAT, VSCAN_BYTE},
    [SORT_INTS] = {"sort", VSCAN_INT, VSCAN_NONE},
    [SORT_FLOATS] = {"sort", VSCAN_FLOAT, VSCAN_NONE},
    [SORT_PAIRS] = {"sort of pairs", VSCAN_INT, VSCAN_INT},
    [SPLIT] = {"split", VSCAN_INT, VSCAN_BYTE},
    [REBALANCE] = {"rebalance by half a part", VSCAN_INT, VSCAN_NONE},
    [PACK] = {"pack and rebalance", VSCAN_INT, VSCAN_BYTE},
    [GATHER] = {"gather", VSCAN_INT, VSCAN_LONG},
    [PERMUTE] = {"permute", VSCAN_INT, VSCAN_LONG},
    [BY_KEY] = {"totals by key", VSCAN_INT, VSCAN_INT},
    [SCAN_MILLION] = {"scan of 1000000 a rank", VSCAN_FLOAT, VSCAN_NONE},
    [SCAN_ONE] = {"scan of 1 a rank", VSCAN_FLOAT, VSCAN_NONE},
};

static int64_t part, runs = 7;
static int gpus; /* ranks */
static vscan_ctx *ctxs[MOST_GPUS];
static vscan_ranks *ranks[MOST_GPUS];
static bool all_good = true;

/* Of the whole vector, on the host: what is given, and what one context makes of it. */
static struct {
    int64_t n;
    float *floats;
    int32_t *ints, *values, *keys; /* keys: runs of RUN */
    uint8_t *flags, *none;         /* one in two; none but the first */
    int64_t *positions;
    char *expected, *expected_second;
    int64_t packed;
} whole;

static void check(vscan_status status, const char *sentence, const char *call) {
    if (status == VSCAN_OK) return;
    fprintf(stderr, "bench_ranks: %s: %s: %s\n", call, vscan_ranks_status_name(status), sentence);
    exit(1);
}
#define CHECK(ctx, call) check(call, vscan_ctx_last_error(ctx), #call)
#define CHECK_RANKS(ranks, call) check(call, vscan_ranks_last_error(ranks), #call)

static void *need(int64_t n, size_t size) {
    void *const memory = calloc((size_t)n + 1, size);
    if (memory != NULL) return memory;
    fprintf(stderr, "bench_ranks: no host memory\n");
    exit(1);
}

/* ---- Threads --------------------------------------------------------------------------------- */

/* A barrier that nobody sleeps in, as being woken takes longer than some calls. */
static atomic_int come, round_of_all;
static double took_of[MOST_GPUS];

static void meet(void) {
    const int now = atomic_load(&round_of_all);
    if (atomic_fetch_add(&come, 1) == gpus - 1) {
        atomic_store(&come, 0);
        atomic_fetch_add(&round_of_all, 1);
    } else {
        while (atomic_load(&round_of_all) == now) (void)sched_yield();
    }
}

static double microseconds(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec * 1e-3;
}

static int compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* ---- A rank ---------------------------------------------------------------------------------- */

/* What a rank, or one context alone, works on. */
struct work {
    vscan_ctx *ctx;
    vscan_ranks *ranks; /* NULL: there are no others */
    int rank;
    enum measured what;
    int64_t all, first, n, first_out, n_out; /* elements of all, of this part, and of its output */
    vscan_buffer *in, *second, *out, *second_out;
};

static const void *given(enum measured what, bool second, int64_t first) {
    if (second && works[what].of_second == VSCAN_LONG) return whole.positions + first;
    if (second && works[what].of_second == VSCAN_INT)
        return (what == BY_KEY ? whole.keys : whole.values) + first;
    if (second) return (what == ONE_SEGMENT ? whole.none : whole.flags) + first;
    return works[what].type == VSCAN_FLOAT ? (const void *)(whole.floats + first)
                                           : whole.ints + first;
}

static vscan_buffer *new_buffer(vscan_ctx *ctx, vscan_type type, int64_t n, const void *elements) {
    vscan_buffer *made;
    CHECK(ctx, vscan_buffer_create(ctx, type, n, &made));
    if (elements != NULL) CHECK(ctx, vscan_buffer_upload(made, 0, n, elements));
    return made;
}

/* How many elements a measurement has on each rank. */
static int64_t part_of(enum measured what) {
    if (what == SCAN_MILLION) return 1000000 < part ? 1000000 : part;
    if (what == SCAN_ONE) return 1;
    return what == GATHER || what == PERMUTE ? part / 4 : part;
}

static struct work new_work(vscan_ctx *ctx, vscan_ranks *own, int rank, enum measured what,
                            int64_t all) {
    struct work w = {.ctx = ctx, .ranks = own, .rank = rank, .what = what, .all = all, .n = all};
    const vscan_type type = works[what].type, of_second = works[what].of_second;
    if (own != NULL) CHECK_RANKS(own, vscan_ranks_share(own, all, &w.first, &w.n));
    w.first_out = w.first, w.n_out = w.n;
    if (own != NULL && what == PACK)
        CHECK_RANKS(own, vscan_ranks_share(own, whole.packed, &w.first_out, &w.n_out));
    if (own != NULL && what == REBALANCE) { /* half of each part goes to the next rank */
        const int64_t begin = w.first - w.n / 2, end = begin + w.n;
        w.first_out = rank == 0 ? 0 : begin;
        w.n_out = (rank == gpus - 1 ? all : end) - w.first_out;
    }
    if (what == REDUCE) w.first_out = 0, w.n_out = 1;
    if (what == BY_KEY) { /* runs that begin in the part */
        w.first_out = (w.first + RUN - 1) / RUN;
        w.n_out = (w.first + w.n + RUN - 1) / RUN - w.first_out;
    }
    w.in = new_buffer(ctx, type, w.n, given(what, false, w.first));
    w.out = new_buffer(ctx, type, w.n_out, NULL);
    w.second = of_second == VSCAN_NONE
                   ? NULL
                   : new_buffer(ctx, of_second, w.n, given(what, true, w.first));
    w.second_out = what == SORT_PAIRS ? new_buffer(ctx, of_second, w.n_out, NULL) : NULL;
    return w;
}

static void end_work(struct work *w) {
    vscan_buffer *const buffers[] = {w->in, w->second, w->out, w->second_out};
    for (int i = 0; i < 4; i++) CHECK(w->ctx, vscan_buffer_destroy(buffers[i]));
}

static vscan_status run_alone(struct work *w) {
    switch (w->what) {
    case REDUCE:
        return vscan_reduce(w->ctx, VSCAN_PLUS, w->in, w->out, NULL);
    case SEGMENTED:
    case ONE_SEGMENT:
        return vscan_scan_segmented(w->ctx, VSCAN_PLUS, w->in, w->second, w->out, NULL);
    case SORT_INTS:
    case SORT_FLOATS:
    case SORT_PAIRS:
        return vscan_sort(w->ctx, w->in, w->second, w->out, w->second_out, NULL);
    case SPLIT:
        return vscan_split(w->ctx, w->in, w->second, w->out, NULL);
    case REBALANCE:
        return vscan_buffer_copy(w->in, w->out);
    case PACK:
        return vscan_pack(w->ctx, w->in, w->second, w->out, NULL);
    case BY_KEY:
        return vscan_reduce_by_key(w->ctx, VSCAN_PLUS, w->second, w->in, NULL, w->out, NULL);
    case GATHER:
        return vscan_gather(w->ctx, w->in, w->second, w->out);
    case PERMUTE:
        return vscan_permute(w->ctx, w->in, w->second, w->out, NULL);
    default:
        return vscan_scan(w->ctx, VSCAN_PLUS, w->in, w->out, NULL);
    }
}

static vscan_status run_together(struct work *w) {
    static const vscan_ranks_pack_options evenly = {.size = sizeof evenly, .rebalance = 1};
    vscan_ranks *const own = w->ranks;
    switch (w->what) {
    case REDUCE:
        return vscan_ranks_reduce(own, VSCAN_PLUS, w->in, w->out, NULL);
    case SEGMENTED:
    case ONE_SEGMENT:
        return vscan_ranks_scan_segmented(own, VSCAN_PLUS, w->in, w->second, w->out, NULL);
    case SORT_INTS:
    case SORT_FLOATS:
    case SORT_PAIRS:
        return vscan_ranks_sort(own, w->in, w->second, w->out, w->second_out, NULL);
    case SPLIT:
        return vscan_ranks_split(own, w->in, w->second, w->out, NULL);
    case REBALANCE:
        return vscan_ranks_rebalance(own, w->in, w->out);
    case PACK:
        return vscan_ranks_pack(own, w->in, w->second, w->out, NULL, &evenly);
    case BY_KEY:
        return vscan_ranks_reduce_by_key(own, VSCAN_PLUS, w->second, w->in, NULL, w->out, NULL);
    case GATHER:
        return vscan_ranks_gather(own, w->in, w->second, w->out);
    case PERMUTE:
        return vscan_ranks_permute(own, w->in, w->second, w->out, NULL);
    default:
        return vscan_ranks_scan(own, VSCAN_PLUS, w->in, w->out, NULL);
    }
}

/* Times of the slowest rank, on rank 0; the first run, which makes memory and connections, is not counted. */
static void time_work(struct work *w, double *times) {
    for (int64_t i = -1; i < runs; i++) {
        if (w->ranks != NULL) meet();
        const double begin = microseconds();
        if (w->ranks != NULL)
            CHECK_RANKS(w->ranks, run_together(w));
        else
            CHECK(w->ctx, run_alone(w));
        CHECK(w->ctx, vscan_ctx_synchronize(w->ctx));
        took_of[w->rank] = microseconds() - begin;
        if (w->ranks != NULL) meet();
        double slowest = took_of[w->rank];
        for (int r = 0; w->ranks != NULL && r < gpus; r++)
            slowest = took_of[r] > slowest ? took_of[r] : slowest;
        if (i >= 0) times[i] = slowest;
        if (w->ranks != NULL) meet(); /* nobody begins before all have read */
    }
}

static void print_row(const struct work *w, const char *way, double *times) {
    static const char *const types[] = {[VSCAN_INT] = "int", [VSCAN_FLOAT] = "float"};
    qsort(times, (size_t)runs, sizeof *times, compare);
    printf("%s,%s,%s,%d,%" PRId64 ",%" PRId64 ",%" PRId64 ",%.1f,%.1f,%.1f\n", works[w->what].name,
           types[works[w->what].type], way, w->ranks == NULL ? 1 : gpus, w->n, w->all, runs,
           times[runs / 2], times[0], times[runs - 1]);
    (void)fflush(stdout);
}

/* ---- One context, then all ------------------------------------------------------------------- */

static struct work time_alone(enum measured what, int64_t n, const char *way) {
    double times[MOST_RUNS];
    struct work w = new_work(ctxs[0], NULL, 0, what, n);
    time_work(&w, times);
    print_row(&w, way, times);
    return w;
}

/* With a part, but where positions are of the whole vector; and with the whole vector, which gives the bits. */
static void alone(enum measured what) {
    struct work w;
    if (what != GATHER && what != PERMUTE) {
        w = time_alone(what, part_of(what), "one with a part");
        end_work(&w);
    }
    w = time_alone(what, part_of(what) * gpus, "one with all");
    CHECK(w.ctx, vscan_buffer_download(w.out, 0, w.n_out, whole.expected));
    if (w.second_out != NULL)
        CHECK(w.ctx, vscan_buffer_download(w.second_out, 0, w.n_out, whole.expected_second));
    end_work(&w);
    whole.packed = 0;
    for (int64_t i = 0; what == PACK && i < w.all; i++) whole.packed += whole.flags[i] != 0;
}

static bool same(const struct work *w, vscan_buffer *got, const char *expected) {
    char *const elements = need(w->n_out, 4);
    CHECK(w->ctx, vscan_buffer_download(got, 0, w->n_out, elements));
    const bool equal = memcmp(elements, expected + w->first_out * 4, (size_t)w->n_out * 4) == 0;
    free(elements);
    return equal;
}

static enum measured measured_now;
static const char *way_now;

static void *run_rank(void *number) {
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    const int rank = *(const int *)number;
    double times[MOST_RUNS];
    struct work w =
        new_work(ctxs[rank], ranks[rank], rank, measured_now, part_of(measured_now) * gpus);
    time_work(&w, times);
    if (rank == 0) print_row(&w, way_now, times);
    const bool good = same(&w, w.out, whole.expected) &&
                      (w.second_out == NULL || same(&w, w.second_out, whole.expected_second));
    end_work(&w);
    if (good) return NULL;
    pthread_mutex_lock(&mutex);
    fprintf(stderr, "bench_ranks: rank %d, %s, %s: not the bits of one context\n", rank,
            works[measured_now].name, way_now);
    all_good = false;
    pthread_mutex_unlock(&mutex);
    return NULL;
}

static void run_all(void *(*body)(void *)) {
    static int numbers[MOST_GPUS];
    pthread_t threads[MOST_GPUS];
    for (int r = 0; r < gpus; r++) {
        numbers[r] = r;
        if (pthread_create(&threads[r], NULL, body, numbers + r) != 0) exit(1);
    }
    for (int r = 0; r < gpus; r++) (void)pthread_join(threads[r], NULL);
}

/* ---- Groups ---------------------------------------------------------------------------------- */

static void *comms[MOST_GPUS];
static vscan_ranks *by_nccl[MOST_GPUS], *by_threads[MOST_GPUS];

static void *join_nccl(void *number) {
    const int rank = *(const int *)number;
    CHECK_RANKS(NULL, vscan_ranks_create_nccl(ctxs[rank], comms[rank], NULL, &by_nccl[rank]));
    return NULL;
}

static void *leave_all(void *number) {
    const int rank = *(const int *)number;
    CHECK_RANKS(NULL, vscan_ranks_destroy(by_threads[rank]));
    CHECK_RANKS(NULL, vscan_ranks_destroy(by_nccl[rank]));
    return NULL;
}

/* A communicator a GPU. False: there is no NCCL, or no GPU. */
static bool make_communicators(bool on_gpus) {
    void *const library = on_gpus ? dlopen("libnccl.so.2", RTLD_NOW) : NULL;
    int (*init_all)(void **, int, const int *) = NULL, (*get_version)(int *) = NULL;
    if (library == NULL) return false;
    *(void **)&init_all = dlsym(library, "ncclCommInitAll");
    *(void **)&get_version = dlsym(library, "ncclGetVersion");
    int version = 0;
    if (get_version != NULL && get_version(&version) == 0) printf("# NCCL %d\n", version);
    return init_all != NULL && init_all(comms, gpus, NULL) == 0;
}

/* ---- What is given --------------------------------------------------------------------------- */

static uint64_t mix(uint64_t z) { /* splitmix64 (Steele, Lea, Flood, 2014) */
    z = (z + 1) * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static void fill(void) {
    const int64_t n = whole.n = part * gpus, places = part_of(GATHER) * gpus;
    whole.floats = need(n, 4), whole.ints = need(n, 4), whole.values = need(n, 4);
    whole.keys = need(n, 4);
    whole.flags = need(n, 1), whole.none = need(n, 1);
    whole.positions = need(places, 8);
    whole.expected = need(n, 4), whole.expected_second = need(n, 4);
    for (int64_t i = 0; i < n; i++) {
        const uint64_t bits = mix((uint64_t)i);
        whole.floats[i] = (float)((double)(bits >> 11) * 0x1p-53 - 0.25);
        whole.ints[i] = (int32_t)(bits >> 32);
        whole.values[i] = (int32_t)i;
        whole.keys[i] = (int32_t)(i / RUN);
        whole.flags[i] = bits % 2 == 0;
    }
    whole.none[0] = 1;
    uint64_t least =
        1; /* a permutation of as many places as the next power of two, without those beyond the end */
    while (least < (uint64_t)places) least *= 2;
    int64_t k = 0;
    for (uint64_t i = 0; i < least; i++) {
        uint64_t place = i * UINT64_C(0x9e3779b97f4a7c15) & (least - 1);
        place ^= place >> 7;
        place = place * UINT64_C(0xbf58476d1ce4e5b9) & (least - 1);
        if (place < (uint64_t)places) whole.positions[k++] = (int64_t)place;
    }
}

int main(int argc, char **argv) {
    int32_t devices = 0;
    const char *const asked = getenv("VSCAN_BACKEND");
    const bool on_gpus = (asked == NULL || strcmp(asked, "cpu") != 0) &&
                         vscan_device_count(VSCAN_BACKEND_CUDA, &devices) == VSCAN_OK &&
                         devices > 0;
    gpus = !on_gpus ? 2 : devices < MOST_GPUS ? devices : MOST_GPUS;
    part = argc > 1 ? strtoll(argv[1], NULL, 10) : on_gpus ? 1 << 26 : 1 << 18;
    if (argc > 2) runs = strtoll(argv[2], NULL, 10);
    const char *const name = argc > 3 ? argv[3] : "";
    if (part < 4 || part > INT64_C(1) << 30 || runs < 1 || runs > MOST_RUNS) {
        fprintf(stderr, "usage: bench_ranks [PART [RUNS [NAME]]]\n");
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
    fill();
    CHECK_RANKS(NULL, vscan_ranks_create_all(ctxs, gpus, NULL, by_threads));
    const bool with_nccl = make_communicators(on_gpus);
    if (with_nccl) run_all(join_nccl);
    puts("measurement,type,way,ranks,part,n,runs,median_us,least_us,most_us");
    for (int what = 0; what < MEASURED; what++) {
        if (strncmp(works[what].name, name, strlen(name)) != 0) continue;
        measured_now = (enum measured)what;
        alone(measured_now);
        way_now = "threads";
        memcpy(ranks, by_threads, sizeof ranks);
        run_all(run_rank);
        if (!with_nccl) continue;
        way_now = "NCCL";
        memcpy(ranks, by_nccl, sizeof ranks);
        run_all(run_rank);
    }
    run_all(leave_all);
    for (int r = 0; r < gpus; r++) CHECK(NULL, vscan_ctx_destroy(ctxs[r]));
    void *const memory[] = {whole.keys,      whole.floats,   whole.ints,
                            whole.values,    whole.flags,    whole.none,
                            whole.positions, whole.expected, whole.expected_second};
    for (int i = 0; i < 9; i++) free(memory[i]);
    fprintf(stderr, "bench_ranks: the bits are %s\n", all_good ? "those of one context" : "WRONG");
    return !all_good;
}
