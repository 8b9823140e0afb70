/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One call in a program that does other things too, on the CPU backend:
 *
 *     program [THREADS]
 *
 * Something else, then one vscan_scan of floats, again and again; the scan alone is timed. THREADS: of the context,
 * default all. Each line of CSV: what came before, elements, the median and the 9th decile of the scans in us, and the
 * processor time of the whole process for one of them beyond what the same without scans took. Linked with the
 * library dynamically, so that LD_LIBRARY_PATH chooses another: benchmarks/scripts/program.sh compares two.
 *
 *     nothing    calls back to back
 *     pause      nanosleep of 5 ms
 *     serial     2 ms of work by this thread
 *     openmp     a parallel loop of some 0.2 ms by all processors; libgomp's threads spin for some time after it
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "vscan.h"

enum { MOST = 64 };

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double processor_time(void) {
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

static int by_value(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void must(int well, const char *what) {
    if (well) return;
    fprintf(stderr, "program: %s: %s\n", what, vscan_ctx_last_error(NULL));
    exit(1);
}

/* ---- What comes before ----------------------------------------------------------------------- */

static void nothing(void) {}

static void rest(void) {
    const struct timespec pause = {.tv_nsec = 5 * 1000 * 1000};
    nanosleep(&pause, NULL);
}

static volatile double kept;

static void serial(void) {
    double x = 1;
    for (const double end = now() + 2e-3; now() < end;) x = x * 1.0000001 + 1e-9;
    kept = x;
}

static void openmp(void) {
    double sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < 1 << 21; i++) sum += 1 / (1.0 + i);
    kept = sum;
}

static const struct {
    const char *name;
    void (*run)(void);
} befores[] = {{"nothing", nothing}, {"pause", rest}, {"serial", serial}, {"openmp", openmp}};

/* ---- Scans ----------------------------------------------------------------------------------- */

static void measure(size_t before, int64_t n, int threads) {
    const vscan_ctx_options options = {
        .size = sizeof options, .backend = VSCAN_BACKEND_CPU, .threads = threads};
    const int count = n > 20000000 ? 9 : n > 2000000 ? 25 : MOST;
    const float zero = 0;
    double times[MOST];
    vscan_ctx *ctx = NULL;
    vscan_buffer *in = NULL, *out = NULL;
    must(vscan_ctx_create(&options, &ctx) == VSCAN_OK &&
             vscan_buffer_create(ctx, VSCAN_FLOAT, n, &in) == VSCAN_OK &&
             vscan_buffer_create(ctx, VSCAN_FLOAT, n, &out) == VSCAN_OK &&
             vscan_buffer_fill(in, &zero) == VSCAN_OK && vscan_buffer_fill(out, &zero) == VSCAN_OK,
         "a context with two vectors");
    for (int i = 0; i < 3; i++)
        must(vscan_scan(ctx, VSCAN_PLUS, in, out, NULL) == VSCAN_OK, "scan");
    double begin = processor_time();
    for (int i = 0; i < count; i++) befores[before].run();
    const double without = processor_time() - begin;
    begin = processor_time();
    for (int i = 0; i < count; i++) {
        befores[before].run();
        const double start = now();
        must(vscan_scan(ctx, VSCAN_PLUS, in, out, NULL) == VSCAN_OK, "scan");
        times[i] = 1e6 * (now() - start);
    }
    const double with = processor_time() - begin;
    qsort(times, (size_t)count, sizeof *times, by_value);
    printf("%s,%lld,%d,%.1f,%.1f,%.1f\n", befores[before].name, (long long)n, threads,
           times[count / 2], times[count * 9 / 10], 1e6 * (with - without) / count);
    fflush(stdout);
    vscan_buffer_destroy(in);
    vscan_buffer_destroy(out);
    vscan_ctx_destroy(ctx);
}

int main(int argc, char **argv) {
    static const int64_t lengths[] = {100000, 300000, 1000000, 20000000, 130000000};
    const int threads = argc > 1 ? atoi(argv[1]) : 0;
    printf("before,n,threads,median_us,decile9_us,processor_us\n");
    for (size_t before = 0; before < sizeof befores / sizeof befores[0]; before++)
        for (size_t k = 0; k < sizeof lengths / sizeof lengths[0]; k++)
            measure(before, lengths[k], threads);
    return 0;
}
