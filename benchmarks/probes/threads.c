/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What several threads cost and gain where the processors are not the program's alone:
 *
 *     threads [SECONDS]
 *
 * Each measurement is made with one thread and with two in turns, seven times; a line has the medians and
 * two / one. Linked with the library dynamically, so that LD_LIBRARY_PATH chooses another.
 *
 *     idle       processor time of a call of 2^20 elements every 2 ms, in us
 *     load       2^24 ints while 8 other processes keep busy: mean, median and 9th decile in ms
 *     callers    16 threads with a context each, 2^20 ints: s until all have done 60 calls
 *
 * For a quota of one processor run it in a control group that has one: benchmarks/scripts/threads.sh.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "vscan.h"

enum { TURNS = 7, CALLERS = 16, CALLS = 60, MOST = 1 << 16 };

static double seconds = 0.5; /* of one measurement */

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

static double decile(double *values, int count, int tenths) {
    qsort(values, (size_t)count, sizeof *values, by_value);
    return values[(count - 1) * tenths / 10];
}

static void must(int well, const char *what) {
    if (well) return;
    fprintf(stderr, "threads: %s: %s\n", what, vscan_ctx_last_error(NULL));
    exit(1);
}

/* ---- A scan ---------------------------------------------------------------------------------- */

struct job {
    vscan_ctx *ctx;
    vscan_buffer *in, *out;
};

static struct job make_job(vscan_type type, int64_t n, int threads) {
    struct job job;
    const vscan_ctx_options options = {
        .size = sizeof options, .backend = VSCAN_BACKEND_CPU, .threads = threads};
    const double zero = 0;
    must(vscan_ctx_create(&options, &job.ctx) == VSCAN_OK &&
             vscan_buffer_create(job.ctx, type, n, &job.in) == VSCAN_OK &&
             vscan_buffer_create(job.ctx, type, n, &job.out) == VSCAN_OK &&
             vscan_buffer_fill(job.in, &zero) == VSCAN_OK &&
             vscan_buffer_fill(job.out, &zero) == VSCAN_OK,
         "a context with two vectors");
    return job;
}

static void end_job(struct job *job) {
    vscan_buffer_destroy(job->in);
    vscan_buffer_destroy(job->out);
    vscan_ctx_destroy(job->ctx);
}

static void scan(const struct job *job) {
    must(vscan_scan(job->ctx, VSCAN_PLUS, job->in, job->out, NULL) == VSCAN_OK, "vscan_scan");
}

/* ---- Measurements: results[0], and some have more ---------------------------------------------- */

static vscan_type idle_type;

static void idle(int threads, double *results) {
    struct job job = make_job(idle_type, 1 << 20, threads);
    const struct timespec pause = {.tv_nsec = 2000 * 1000};
    int calls = 0;
    for (int i = 0; i < 5; i++) scan(&job);
    nanosleep(&pause, NULL);
    const double begin = processor_time(), end = now() + seconds;
    for (; now() < end; calls++) {
        scan(&job);
        nanosleep(&pause, NULL);
    }
    results[0] = 1e6 * (processor_time() - begin) / calls;
    end_job(&job);
}

static void load(int threads, double *results) {
    static double times[MOST];
    struct job job = make_job(VSCAN_INT, 1 << 24, threads);
    int count = 0;
    for (int i = 0; i < 3; i++) scan(&job);
    const double begin = now();
    double last = begin;
    while (count < 20 || (last < begin + 4 * seconds && count < MOST)) {
        scan(&job);
        const double time = now();
        times[count++] = 1e3 * (time - last);
        last = time;
    }
    results[0] = 1e3 * (last - begin) / count;
    results[1] = decile(times, count, 5);
    results[2] = decile(times, count, 9);
    end_job(&job);
}

static void *call(void *job) {
    for (int i = 0; i < CALLS; i++) scan(job);
    return NULL;
}

static void callers(int threads, double *results) {
    struct job jobs[CALLERS];
    pthread_t ids[CALLERS];
    for (int t = 0; t < CALLERS; t++) jobs[t] = make_job(VSCAN_INT, 1 << 20, threads);
    const double begin = now();
    for (int t = 0; t < CALLERS; t++)
        must(pthread_create(&ids[t], NULL, call, &jobs[t]) == 0, "pthread_create");
    for (int t = 0; t < CALLERS; t++) pthread_join(ids[t], NULL);
    results[0] = now() - begin;
    for (int t = 0; t < CALLERS; t++) end_job(&jobs[t]);
}

static void compare(const char *name, void (*measure)(int threads, double *results), int results) {
    double all[3][2][TURNS];
    for (int turn = 0; turn < TURNS; turn++)
        for (int t = 0; t < 2; t++) {
            double found[3];
            measure(1 + (t + turn) % 2, found);
            for (int r = 0; r < results; r++) all[r][(t + turn) % 2][turn] = found[r];
        }
    static const char *const names[] = {"", ".median", ".decile9"};
    for (int r = 0; r < results; r++) {
        const double one = decile(all[r][0], TURNS, 5), two = decile(all[r][1], TURNS, 5);
        printf("%s%s,%.3f,%.3f,%.2f\n", name, names[r], one, two, two / one);
    }
    fflush(stdout);
}

static void keep_busy(pid_t *children, int count) {
    for (int i = 0; i < count; i++) {
        children[i] = fork();
        must(children[i] >= 0, "fork");
        if (children[i] != 0) continue;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (volatile unsigned int k = 0;; k++) {
        }
    }
}

int main(int argc, char **argv) {
    if (argc > 1) seconds = atof(argv[1]);
    if (argc > 2 || !(seconds > 0)) {
        fprintf(stderr, "usage: %s [SECONDS]\n", argv[0]);
        return 2;
    }
    printf("measurement,one,two,ratio\n");
    idle_type = VSCAN_INT;
    compare("idle.int", idle, 1);
    idle_type = VSCAN_DOUBLE;
    compare("idle.double", idle, 1);
    compare("alone", load, 3);
    compare("callers", callers, 1);
    pid_t children[8];
    keep_busy(children, 8);
    compare("load", load, 3);
    for (int i = 0; i < 8; i++) kill(children[i], SIGKILL);
    for (int i = 0; i < 8; i++) waitpid(children[i], NULL, 0);
    return 0;
}
