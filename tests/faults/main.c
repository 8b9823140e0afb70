/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes every event of every_call.c fail, one after the other:
 *
 *     faults cpu|cuda|NO_ATFORK|EMPTY_FILES (the last two with VSCAN_FAULTS_... set, see wrapped.c)
 *
 * First cold, each in a process of its own, in which what the library makes once (pools, threads) is
 * still to be made; then warm, in this process, where what stays behind can be counted. Prints how many
 * faults there were and what they led to; exits with 1 where anything was wrong.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "faults.h"

#if defined(__has_feature) /* clang's way to say it */
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/lsan_interface.h>
#define LEAKS() __lsan_do_recoverable_leak_check()
#else
#define LEAKS() 0
#endif

/* Where coverage is counted (tests/coverage.sh): _exit would lose it. */
void __gcov_dump(void) __attribute__((weak));

enum { MOST_PRINTED = 20 };

static vscan_backend backend;
static uint64_t expected; /* results of a run without faults */
static int64_t live;      /* allocations that stay: the pools */
static int64_t all_wrong;

static void print_wrong(const char *what, enum fault_kind kind, enum fault_mode mode, int64_t n) {
    if (all_wrong++ < MOST_PRINTED)
        printf("WRONG, %s, number %lld %s: %s\n", fault_kind_names[kind], (long long)n,
               fault_mode_names[mode], what);
}

/* What must hold after any run. */
static void check_run(enum fault_kind kind, enum fault_mode mode, int64_t n,
                      const struct tour *tour) {
    char what[256];
    if (tour->wrong > 0) print_wrong(tour->first_wrong, kind, mode, n);
    const struct cudart_live left = cudart_live();
    if (left.device_memory != 0 || left.host_memory != 0 || left.streams != 0 || left.events != 0) {
        snprintf(what, sizeof what,
                 "left behind: %lld device memory, %lld page-locked, %lld streams, %lld events",
                 (long long)left.device_memory, (long long)left.host_memory,
                 (long long)left.streams, (long long)left.events);
        print_wrong(what, kind, mode, n);
    }
    const char *first;
    if (cudart_wrong(&first) != 0) print_wrong(first, kind, mode, n);
    if (mode == FAULT_ONCE && expected != 0 && tour->calls > 0 && tour->results != expected)
        print_wrong("the results are not those of a run without faults", kind, mode, n);
}

/* A run; the device that is current is not the context's. */
static void run_with(enum fault_kind kind, enum fault_mode mode, int64_t n, struct tour *tour) {
    const int64_t watched = kind != FAULT_NONE ? every_call_of_event(kind, n) : 0;
    if (backend == VSCAN_BACKEND_CUDA) cudart_set_current_device(1);
    faults_arm(kind, mode, n);
    every_call(backend, watched, tour);
}

static void run_without(struct tour *tour) {
    run_with(FAULT_NONE, FAULT_ONCE, 0, tour);
    faults_disarm();
    check_run(FAULT_NONE, FAULT_ONCE, 0, tour);
}

/* A device that is lost stays lost, and says so. */
static void check_lost(int64_t n) {
    vscan_ctx *ctx = NULL;
    const vscan_ctx_options options = {.size = sizeof options, .backend = VSCAN_BACKEND_CUDA};
    if (faults_injected() == 0) return; /* the last events are not among those that fail */
    if (vscan_ctx_create(&options, &ctx) != VSCAN_ERROR_DEVICE_LOST ||
        strstr(vscan_ctx_last_error(NULL), "can use the device no longer") == NULL ||
        vscan_ctx_create(NULL, &ctx) != VSCAN_ERROR_DEVICE_LOST || ctx != NULL)
        print_wrong("a new context on a lost device", FAULT_CUDA, FAULT_LOST, n);
}

struct counts {
    int64_t runs, injected, failed, absorbed;
};

static void print_counts(const char *state, enum fault_kind kind, enum fault_mode mode,
                         const struct counts *c) {
    printf("%s, %s, %s: %lld runs, %lld faults, %lld calls failed, %lld did their work all the "
           "same\n",
           state, fault_kind_names[kind], fault_mode_names[mode], (long long)c->runs,
           (long long)c->injected, (long long)c->failed, (long long)c->absorbed);
    fflush(stdout);
}

/* ---- Warm ------------------------------------------------------------------------------------ */

static void run_warm(enum fault_kind kind, enum fault_mode mode, int64_t events) {
    struct counts counts = {0};
    for (int64_t n = 1; n <= events; n++) {
        struct tour tour;
        run_with(kind, mode, n, &tour);
        counts.runs++;
        counts.injected += faults_injected();
        counts.failed += tour.failed;
        counts.absorbed += tour.absorbed;
        /* with VSCAN_TEST_THREADS set no call asks the clock how many threads it takes */
        if (mode == FAULT_ONCE && faults_injected() != 1)
            print_wrong("the fault did not come", kind, mode, n);
        if (mode == FAULT_LOST) check_lost(n);
        faults_disarm();
        check_run(kind, mode, n, &tour);
        if (wrapped_live() != live) {
            char what[64];
            snprintf(what, sizeof what, "%lld allocations left",
                     (long long)(wrapped_live() - live));
            print_wrong(what, kind, mode, n);
            live = wrapped_live();
        }
    }
    print_counts("warm", kind, mode, &counts);
}

static void check_all_called(void) {
    FILE *const exports = fopen(EXPORTS_FILE, "r");
    char name[64];
    if (exports == NULL) {
        printf("WRONG: no %s\n", EXPORTS_FILE);
        all_wrong++;
        return;
    }
    while (fscanf(exports, "%63s", name) == 1)
        if (!every_call_has(name)) {
            printf("WRONG: every_call.c does not call %s\n", name);
            all_wrong++;
        }
    fclose(exports);
}

static void all_warm(void) {
    struct tour tour;
    int64_t events[FAULT_KINDS];
    expected = 0;
    for (int k = 0; k < 3; k++) run_without(&tour); /* the pools grow in the first ones */
    for (int kind = 0; kind < FAULT_KINDS; kind++) events[kind] = faults_events(kind);
    expected = tour.results;
    live = wrapped_live();
    printf("%s: %lld calls; %lld allocations, %lld CUDA calls\n",
           backend == VSCAN_BACKEND_CUDA ? "cuda" : "cpu", (long long)tour.calls,
           (long long)events[FAULT_MEMORY], (long long)events[FAULT_CUDA]);
    check_all_called();
    for (int mode = 0; mode < FAULT_LOST; mode++)
        run_warm(FAULT_MEMORY, mode, events[FAULT_MEMORY]);
    if (backend == VSCAN_BACKEND_CPU) {
        every_call_short = true; /* there are many slots, and they fail before they work */
        expected = 0;
        run_without(&tour);
        expected = tour.results;
        live = wrapped_live();
        for (int mode = 0; mode < FAULT_LOST; mode++)
            run_warm(FAULT_SLOT, mode, faults_events(FAULT_SLOT));
        return;
    }
    for (int mode = 0; mode < FAULT_MODES; mode++) run_warm(FAULT_CUDA, mode, events[FAULT_CUDA]);
    memset(&tour, 0, sizeof tour);
    check_captures(&tour);
    check_late_errors(&tour);
    check_answers(&tour);
    check_pairs(&tour);
    check_run(FAULT_NONE, FAULT_ONCE, 0, &tour);
}

/* ---- Cold ------------------------------------------------------------------------------------ */

/* What a child hands its parent. */
struct report {
    int64_t events[FAULT_KINDS], wrong;
    struct counts counts;
};

static void run_child(enum fault_kind kind, enum fault_mode mode, int64_t n,
                      struct report *report) {
    struct tour tour;
    all_wrong = 0; /* the parent has its own */
    run_with(kind, mode, n, &tour);
    faults_disarm();
    for (int k = 0; k < FAULT_KINDS; k++) report->events[k] = faults_events(k);
    report->counts.runs++;
    report->counts.injected += faults_injected();
    report->counts.failed += tour.failed;
    report->counts.absorbed += tour.absorbed;
    check_run(kind, mode, n, &tour);
    const uint64_t results = tour.results;
    if (kind != FAULT_NONE) {
        run_without(&tour); /* the process is as good as new */
        if (mode == FAULT_ONCE && tour.results != results)
            print_wrong("results after a fault differ", kind, mode, n);
    }
    if (LEAKS() != 0) print_wrong("memory has leaked", kind, mode, n);
    report->wrong += all_wrong;
}

/* Whether the child came to its end. */
static bool in_child(enum fault_kind kind, enum fault_mode mode, int64_t n, struct report *report) {
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        run_child(kind, mode, n, report);
        fflush(stdout);
        if (__gcov_dump) __gcov_dump();
        _exit(0);
    }
    int status = -1;
    if (child > 0 && waitpid(child, &status, 0) == child && status == 0) return true;
    char what[64];
    snprintf(what, sizeof what, "the process ended with wait status %#x", (unsigned)status);
    print_wrong(what, kind, mode, n);
    return false;
}

static void all_cold(void) {
    struct report *const report =
        mmap(NULL, sizeof *report, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (report == MAP_FAILED || !in_child(FAULT_NONE, FAULT_ONCE, 0, report)) {
        all_wrong++;
        return;
    }
    int64_t events[FAULT_KINDS];
    memcpy(events, report->events, sizeof events);
    for (int kind = FAULT_MEMORY; kind <= FAULT_THREAD; kind++)
        for (int mode = 0; mode < FAULT_LOST; mode++) {
            memset(&report->counts, 0, sizeof report->counts);
            for (int64_t n = 1; n <= events[kind]; n++) in_child(kind, mode, n, report);
            print_counts("cold", kind, mode, &report->counts);
        }
    all_wrong += report->wrong;
    munmap(report, sizeof *report);
}

static int run_check(void (*check)(struct tour *)) {
    struct tour tour = {0};
    check(&tour);
    if (tour.wrong > 0) printf("WRONG: %s\n", tour.first_wrong);
    return tour.wrong > 0;
}

int main(int argc, char **argv) {
    if (argc == 2 && strcmp(argv[1], "cpu") == 0) backend = VSCAN_BACKEND_CPU;
    if (argc == 2 && strcmp(argv[1], "cuda") == 0) backend = VSCAN_BACKEND_CUDA;
    if (argc == 2 && strcmp(argv[1], "NO_ATFORK") == 0) return run_check(check_no_atfork);
    if (argc == 2 && strcmp(argv[1], "EMPTY_FILES") == 0) return run_check(check_empty_files);
    if (backend == 0) {
        fprintf(stderr, "usage: %s cpu|cuda|NO_ATFORK|EMPTY_FILES\n", argv[0]);
        return 2;
    }
    all_cold();
    all_warm();
    struct tour tour = {0};
    check_full_pools(backend, &tour);
    check_reserved(backend, &tour);
    check_orphans(backend, &tour);
    check_missing_pair(backend, &tour);
    if (backend == VSCAN_BACKEND_CPU) {
        check_long_scan(&tour);
        check_many_keys(&tour);
    }
    check_run(FAULT_NONE, FAULT_ONCE, 0, &tour);
    for (int k = 0; k < 2 && backend == VSCAN_BACKEND_CUDA; k++) {
        setenv("VSCAN_TEST_KERNELS", k == 0 ? "tma" : "portable", 1); /* lib/cuda/context.c */
        printf("VSCAN_TEST_KERNELS=%s\n", getenv("VSCAN_TEST_KERNELS"));
        all_warm();
    }
    printf("%lld wrong\n", (long long)all_wrong);
    return all_wrong != 0;
}
