/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Times scans of floats, or sorts of ints, that lie in parts on all ranks, beside what they are compared with:
 *
 *     mpirun -n RANKS bench_mpi weak N RUNS        a scan; a reduction and a scan of each part by itself
 *     mpirun -n RANKS bench_mpi exscan N RUNS      a scan; loops in C around MPI_Exscan, in two ways
 *     mpirun -n RANKS bench_mpi exchange N RUNS    a scan; what of it is spent in calls of MPI
 *     mpirun -n RANKS bench_mpi sort N RUNS        a sort; a sort of each part by itself
 *
 * N is the length of each part. Engines take turns, RUNS times after one that is not counted. A time is that of the
 * slowest rank from a barrier on. Results are checked once. Rank 0 prints a row of CSV for each engine; with 0 runs, the line of names.
 */
#include <inttypes.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vscan_mpi.h>

enum { MOST_RUNS = 1000, MOST_ENGINES = 3 };

static int rank, ranks;
static vscan_ctx *ctx;
static vscan_ranks *group;
static int64_t n;
static vscan_buffer *in, *out, *total;
static float *elements, *results; /* on the host */

static void check(vscan_status status, const char *words) {
    if (status == VSCAN_OK) return;
    fprintf(stderr, "rank %d: %s: %s\n", rank, vscan_ranks_status_name(status), words);
    MPI_Abort(MPI_COMM_WORLD, 1);
}
#define VSCAN(call) check(call, vscan_ctx_last_error(ctx))
#define VSCAN_MPI(call) check(call, vscan_ranks_last_error(group))

/* ---- Time in MPI: its profiling interface ---------------------------------------------------- */

static double in_mpi;

#define TIMED(call)                                                                                \
    const double since = MPI_Wtime();                                                              \
    const int code = call;                                                                         \
    in_mpi += MPI_Wtime() - since;                                                                 \
    return code

int MPI_Isend(const void *from, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request *request) {
    TIMED(PMPI_Isend(from, count, type, to, tag, comm, request));
}

int MPI_Recv(void *to, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
             MPI_Status *status) {
    TIMED(PMPI_Recv(to, count, type, from, tag, comm, status));
}

int MPI_Waitall(int count, MPI_Request *requests, MPI_Status *statuses) {
    TIMED(PMPI_Waitall(count, requests, statuses));
}

int MPI_Allgather(const void *from, int count, MPI_Datatype type, void *to, int to_count,
                  MPI_Datatype to_type, MPI_Comm comm) {
    TIMED(PMPI_Allgather(from, count, type, to, to_count, to_type, comm));
}

int MPI_Allgatherv(const void *from, int count, MPI_Datatype type, void *to, const int *counts,
                   const int *displacements, MPI_Datatype to_type, MPI_Comm comm) {
    TIMED(PMPI_Allgatherv(from, count, type, to, counts, displacements, to_type, comm));
}

int MPI_Allreduce(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm) {
    TIMED(PMPI_Allreduce(from, to, count, type, op, comm));
}

/* ---- Engines --------------------------------------------------------------------------------- */

static void scan(void) {
    VSCAN_MPI(vscan_ranks_scan(group, VSCAN_PLUS, in, out, NULL));
}

/* What the parts cost without their neighbours. */
static void reduce_and_scan(void) {
    VSCAN(vscan_reduce(ctx, VSCAN_PLUS, in, total, NULL));
    VSCAN(vscan_scan(ctx, VSCAN_PLUS, in, out, NULL));
}

/* The sum of all parts before this one. */
static float sum_before(float sum) {
    float before = 0;
    PMPI_Exscan(&sum, &before, 1, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    return rank == 0 ? 0 : before;
}

/* Each part's sum first, then its scan from what comes before: two passes that read, one that writes. */
static void sum_then_scan(void) {
    float sums[16] = {
        0}; /* as many as a processor's vector has; a compiler makes a loop of vectors */
    const float *const from = elements;
    float *const to = results;
    int64_t i = 0;
    for (; i + 16 <= n; i += 16)
        for (int k = 0; k < 16; k++) sums[k] += from[i + k];
    float sum = 0;
    for (; i < n; i++) sum += from[i];
    for (int k = 0; k < 16; k++) sum += sums[k];
    sum = sum_before(sum);
    for (i = 0; i < n; i++) to[i] = sum += from[i];
}

/* Each part's scan first, then what comes before is added to all of it. */
static void scan_then_add(void) {
    float sum = 0;
    for (int64_t i = 0; i < n; i++) results[i] = sum += elements[i];
    const float before = sum_before(sum);
    for (int64_t i = 0; i < n; i++) results[i] += before;
}

static void sort(void) {
    VSCAN_MPI(vscan_ranks_sort(group, in, NULL, out, NULL, NULL));
}

static void sort_parts(void) {
    VSCAN(vscan_sort(ctx, in, NULL, out, NULL, NULL));
}

/* ---- Measurements ---------------------------------------------------------------------------- */

struct engine {
    const char *name;
    void (*run)(void);
    double times[MOST_RUNS], times_in_mpi[MOST_RUNS];
};

static double slowest(double time) {
    double all = 0;
    PMPI_Allreduce(&time, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return all;
}

static void run_once(struct engine *engine, int64_t run) {
    PMPI_Barrier(MPI_COMM_WORLD);
    PMPI_Barrier(MPI_COMM_WORLD); /* the first one wakes who sleeps */
    in_mpi = 0;
    const double since = MPI_Wtime();
    engine->run();
    VSCAN(vscan_ctx_synchronize(ctx));
    const double time = slowest(MPI_Wtime() - since), part = slowest(in_mpi);
    if (run >= 0) engine->times[run] = time, engine->times_in_mpi[run] = part;
}

static int compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print_row(const char *what, const char *name, double *times, int64_t runs) {
    qsort(times, (size_t)runs, sizeof *times, compare);
    if (rank == 0)
        printf("%s,%s,%d,%d,%" PRId64 ",%" PRId64 ",%" PRId64 ",%s,%.3f,%.3f,%.3f\n", what,
               vscan_ctx_backend(ctx) == VSCAN_BACKEND_CPU ? "cpu" : "cuda", ranks,
               (int)vscan_ctx_threads(ctx), n, n * ranks, runs, name, 1e6 * times[runs / 2],
               1e6 * times[0], 1e6 * times[runs - 1]);
}

/* Every 64th element is 1 and the others are 0, so that all sums are exact, in any order, up to 2^30 elements. */
static bool is_one(int64_t i) {
    return (rank * n + i) % 64 == 0;
}

static void check_results(const char *name, bool on_host) {
    if (!on_host) VSCAN(vscan_buffer_download(out, 0, n, results));
    for (int64_t i = 0; i < n; i++)
        if (results[i] != (float)((rank * n + i) / 64 + 1)) {
            fprintf(stderr, "rank %d: %s: element %" PRId64 " is %g\n", rank, name, i,
                    (double)results[i]);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
}

/* Sorted, also from one rank to the next, and with the sum of the keys. */
static void check_sorted(const int32_t *keys, int32_t *sorted) {
    int64_t sums[2] = {0, 0};
    int32_t last = INT32_MIN; /* of the ranks before */
    VSCAN(vscan_buffer_download(out, 0, n, sorted));
    bool right = true;
    for (int64_t i = 0; i < n; i++) {
        right = right && (i == 0 || sorted[i - 1] <= sorted[i]);
        sums[0] += keys[i];
        sums[1] += sorted[i];
    }
    PMPI_Exscan(sorted + n - 1, &last, 1, MPI_INT32_T, MPI_MAX, MPI_COMM_WORLD);
    PMPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    if (right && (rank == 0 || last <= sorted[0]) && sums[0] == sums[1]) return;
    fprintf(stderr, "rank %d: the keys are not sorted\n", rank);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* splitmix64's mixing of a number (Steele, Lea, Flood, 2014). */
static int32_t random_key(uint64_t i) {
    uint64_t z = (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return (int32_t)(z >> 32);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const char *const what = argc > 1 ? argv[1] : "";
    n = argc > 2 ? strtoll(argv[2], NULL, 10) : 0;
    const int64_t runs = argc > 3 ? strtoll(argv[3], NULL, 10) : 0;
    static struct engine engines[MOST_ENGINES] = {{.name = "vscan_ranks_scan", .run = scan}};
    int count = 1;
    const bool sorts = strcmp(what, "sort") == 0;
    if (strcmp(what, "weak") == 0) {
        engines[count++] = (struct engine){.name = "local reduce + scan", .run = reduce_and_scan};
    } else if (strcmp(what, "exscan") == 0) {
        engines[count++] = (struct engine){.name = "sum + MPI_Exscan + scan", .run = sum_then_scan};
        engines[count++] = (struct engine){.name = "scan + MPI_Exscan + add", .run = scan_then_add};
    } else if (sorts) {
        engines[0] = (struct engine){.name = "vscan_ranks_sort", .run = sort};
        engines[count++] = (struct engine){.name = "local sort", .run = sort_parts};
    } else if (strcmp(what, "exchange") != 0) {
        count = 0;
    }
    if (count == 0 || n < 1 || n > (INT64_C(1) << 30) / ranks || runs < 0 || runs > MOST_RUNS) {
        if (rank == 0) fprintf(stderr, "usage: bench_mpi weak|exscan|exchange|sort N RUNS\n");
        MPI_Finalize();
        return 2;
    }
    if (runs == 0) {
        if (rank == 0)
            puts("measurement,backend,ranks,threads,part,n,runs,engine,median_us,least_us,most_us");
        MPI_Finalize();
        return 0;
    }
    check(vscan_ctx_create(NULL, &ctx), vscan_ctx_last_error(NULL));
    check(vscan_mpi_create(ctx, MPI_Comm_c2f(MPI_COMM_WORLD), &group),
          vscan_ranks_last_error(NULL));
    elements = malloc((size_t)n * sizeof(float));
    results = malloc((size_t)n * sizeof(float));
    check(elements != NULL && results != NULL ? VSCAN_OK : VSCAN_ERROR_HOST_MEMORY, "no memory");
    int32_t *const keys = (int32_t *)(void *)elements;
    for (int64_t i = 0; i < n; i++) {
        elements[i] = is_one(i), results[i] = 0;
        if (sorts) keys[i] = random_key((uint64_t)(rank * n + i));
    }
    const vscan_type type = sorts ? VSCAN_INT : VSCAN_FLOAT;
    VSCAN(vscan_buffer_create(ctx, type, n, &in));
    VSCAN(vscan_buffer_create(ctx, type, n, &out));
    VSCAN(vscan_buffer_create(ctx, VSCAN_FLOAT, 1, &total));
    VSCAN(vscan_buffer_upload(in, 0, n, elements));
    for (int64_t run = -1; run < runs; run++)
        for (int e = 0; e < count; e++) {
            run_once(engines + e, run);
            if (run >= 0) continue;
            if (engines[e].run == sort)
                check_sorted(keys, (int32_t *)(void *)results);
            else if (e == 0 || strcmp(what, "exscan") == 0)
                check_results(engines[e].name, e > 0);
        }
    for (int e = 0; e < count; e++) print_row(what, engines[e].name, engines[e].times, runs);
    if (strcmp(what, "exchange") == 0)
        print_row(what, "of that in MPI", engines[0].times_in_mpi, runs);
    VSCAN(vscan_buffer_destroy(in));
    VSCAN(vscan_buffer_destroy(out));
    VSCAN(vscan_buffer_destroy(total));
    VSCAN_MPI(vscan_ranks_destroy(group));
    VSCAN(vscan_ctx_destroy(ctx));
    free(elements);
    free(results);
    MPI_Finalize();
    return 0;
}
