/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pool of threads under all that a program may do around it: threads that end or are cancelled, signals,
 * small stacks, very many callers, limits that keep threads from starting. Forks and pinned threads:
 * test_pool_forks.c, test_pool_pinned.c.
 */
#include "pool_job.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <time.h>

static struct job inherited;

/* ---- Threads that cannot start ------------------------------------------------------------------ */

/* As another user, as no limit on processes holds for root; the other limit is on this process alone. */
static int no_processes(void) {
    const struct rlimit none = {0, 0};
    if (geteuid() == 0) MUST(setgid(54321) == 0 && setuid(54321) == 0);
    MUST(setrlimit(RLIMIT_NPROC, &none) == 0);
    MUST(scans() == 0);
    MUST(SANITIZED || count_threads() == 1);
    return 0;
}

/* What is mapped now, and too little more for a thread's stack. */
static int no_address_space(void) {
    struct job job;
    MUST(make_job(&job, 4));
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    MUST(file != NULL && fscanf(file, "%ld", &pages) == 1);
    fclose(file);
    const rlim_t bytes = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + (700 << 10);
    const struct rlimit most = {bytes, bytes};
    MUST(setrlimit(RLIMIT_AS, &most) == 0);
    for (int i = 0; i < 3; i++) MUST(scan(&job));
    MUST(count_threads() == 1);
    return end_job(&job) ? 0 : __LINE__;
}

/* ---- Threads of the caller ---------------------------------------------------------------------- */

static void *scan_and_exit(void *well) {
    if (scan(&inherited)) *(bool *)well = true;
    pthread_exit(NULL);
    return NULL;
}

static void *scan_until_cancelled(void *begun) {
    for (;;) {
        scan(&inherited);
        atomic_store((atomic_bool *)begun, true);
        pthread_testcancel();
    }
    return NULL;
}

/* A thread that has used a context ends, or is cancelled at a moment of another's choice. */
static int threads_end(void) {
    MUST(make_job(&inherited, 2));
    for (int i = 0; i < 20; i++) {
        pthread_t thread;
        atomic_bool begun = false;
        MUST(pthread_create(&thread, NULL, scan_until_cancelled, &begun) == 0);
        while (i > 0 && !atomic_load(&begun)) sched_yield();
        MUST(pthread_cancel(thread) == 0);
        MUST(pthread_join(thread, NULL) == 0);
        bool well = false;
        MUST(pthread_create(&thread, NULL, scan_and_exit, &well) == 0);
        MUST(pthread_join(thread, NULL) == 0);
        MUST(well);
    }
    MUST(scan(&inherited));
    return end_job(&inherited) ? 0 : __LINE__;
}

static vscan_buffer *vast; /* LONG elements */

static void *scan_once_cancelled(void *unused) {
    pthread_cancel(pthread_self());
    vscan_scan(inherited.ctx, VSCAN_PLUS, vast, vast, NULL);
    pthread_testcancel();
    return unused;
}

/* The first call that is worth several threads reads files, each of which is a cancellation point, while it
   has the context. */
static int first_call_cancelled(void) {
    pthread_t thread;
    void *ended;
    ask_the_machine();
    MUST(make_job(&inherited, 2));
    MUST(vscan_buffer_create(inherited.ctx, VSCAN_INT, LONG, &vast) == VSCAN_OK);
    MUST(pthread_create(&thread, NULL, scan_once_cancelled, NULL) == 0);
    MUST(pthread_join(thread, &ended) == 0 && ended == PTHREAD_CANCELED);
    MUST(scan(&inherited)); /* waited for ever */
    MUST(vscan_buffer_destroy(vast) == VSCAN_OK);
    return end_job(&inherited) ? 0 : __LINE__;
}

static void *scan_once(void *failures) {
    if (!scan_in_new_context(2)) atomic_fetch_add((atomic_int *)failures, 1);
    return NULL;
}

static int run_callers(int count, size_t stack) {
    static pthread_t threads[1000];
    atomic_int failures = 0;
    pthread_attr_t attributes;
    MUST(pthread_attr_init(&attributes) == 0);
    MUST(pthread_attr_setstacksize(&attributes, stack) == 0);
    for (int t = 0; t < count; t++)
        MUST(pthread_create(&threads[t], &attributes, scan_once, &failures) == 0);
    for (int t = 0; t < count; t++) MUST(pthread_join(threads[t], NULL) == 0);
    pthread_attr_destroy(&attributes);
    MUST(atomic_load(&failures) == 0);
    return 0;
}

static int many_callers(void) {
    return run_callers(harness_small() || SANITIZED ? 100 : 1000, 1 << 20);
}

static int small_stacks(void) {
    return run_callers(8, SANITIZED ? 512 << 10 : 64 << 10);
}

/* ---- Signals ------------------------------------------------------------------------------------ */

static atomic_int signals_here, signals_elsewhere;
static pthread_t main_thread;

static void on_signal(int number) {
    (void)number;
    atomic_fetch_add(
        pthread_equal(pthread_self(), main_thread) ? &signals_here : &signals_elsewhere, 1);
}

/* At 1 kHz, without SA_RESTART: all come to the one thread of the program, none to the pool's. */
static int signals(void) {
    const struct sigaction action = {.sa_handler = on_signal};
    const struct itimerval often = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
    struct job job;
    main_thread = pthread_self();
    MUST(make_job(&job, 4));
    MUST(sigaction(SIGALRM, &action, NULL) == 0);
    MUST(setitimer(ITIMER_REAL, &often, NULL) == 0);
    while (atomic_load(&signals_here) < (harness_small() ? 200 : 1000)) MUST(scan(&job));
    MUST(setitimer(ITIMER_REAL, &never, NULL) == 0);
    MUST(SANITIZED || count_threads() == 4);
    MUST(atomic_load(&signals_elsewhere) == 0);
    return end_job(&job) ? 0 : __LINE__;
}

/* Many signals for the process while the program's own thread blocks them: had a worker not, it would run
   the handler. */
static int signals_are_blocked(void) {
    const struct sigaction action = {.sa_handler = on_signal};
    sigset_t set;
    struct job job;
    main_thread = pthread_self();
    MUST(make_job(&job, 4));
    for (int number = 1; number <= SIGRTMAX; number++) {
        const bool own = number == SIGSEGV || number == SIGBUS || number == SIGFPE ||
                         number == SIGILL || number == SIGTRAP;
        if (!own) sigaction(number, &action, NULL); /* fails for a few */
    }
    MUST(scan(&job));
    sigfillset(&set);
    MUST(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
    for (int number = SIGRTMIN; number <= SIGRTMAX; number++) kill(getpid(), number);
    kill(getpid(), SIGTERM);
    kill(getpid(), SIGUSR1);
    for (int i = 0; i < 10; i++) MUST(scan(&job));
    MUST(atomic_load(&signals_elsewhere) == 0);
    MUST(pthread_sigmask(SIG_UNBLOCK, &set, NULL) == 0);
    MUST(atomic_load(&signals_here) >= 3);
    return end_job(&job) ? 0 : __LINE__;
}

static char *lazy; /* memory of which every page is made by the handler */
static atomic_int faults_here, faults_elsewhere;

/* The program's own thread goes on when a thread of the library has come to a page too. */
static void on_fault(int number) {
    (void)number;
    const bool here = pthread_equal(pthread_self(), main_thread);
    atomic_fetch_add(here ? &faults_here : &faults_elsewhere, 1);
    while (here && atomic_load(&faults_elsewhere) == 0) sched_yield();
    if (mprotect(lazy, N * sizeof(int32_t), PROT_READ | PROT_WRITE) != 0) _exit(3);
}

/* A program that keeps its data where a handler makes the pages. A thread that blocks SIGSEGV would end the
   process. */
static int own_faults_are_handled(void) {
    const struct sigaction action = {.sa_handler = on_fault};
    struct job job;
    main_thread = pthread_self();
    MUST(make_job(&job, 2));
    lazy = mmap(NULL, N * sizeof(int32_t), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    MUST(lazy != MAP_FAILED);
    MUST(sigaction(SIGSEGV, &action, NULL) == 0);
    vscan_buffer *zeros;
    MUST(vscan_buffer_wrap(job.ctx, VSCAN_INT, lazy, N, &zeros) == VSCAN_OK);
    MUST(vscan_scan(job.ctx, VSCAN_PLUS, zeros, zeros, NULL) == VSCAN_OK);
    MUST(atomic_load(&faults_elsewhere) > 0);
    MUST(vscan_buffer_destroy(zeros) == VSCAN_OK);
    return end_job(&job) ? 0 : __LINE__;
}

/* Calls one after the other wake the pool, a short one after a pause does not, a long one does; all give the same. */
static int in_succession(void) {
    const struct timespec pause = {.tv_nsec = 3000 * 1000};
    unsetenv("VSCAN_TEST_THREADS");
    struct job job;
    MUST(make_job(&job, 2));
    for (int i = 0; i < 50; i++) {
        MUST(scan(&job));
        MUST(SANITIZED || count_threads() == 1);
        nanosleep(&pause, NULL);
    }
    vscan_buffer *ones = NULL;
    const int32_t one = 1;
    int32_t last = 0;
    MUST(vscan_buffer_create(job.ctx, VSCAN_INT, 8 * N, &ones) == VSCAN_OK);
    MUST(vscan_buffer_fill(ones, &one) == VSCAN_OK);
    nanosleep(&pause, NULL);
    MUST(vscan_scan(job.ctx, VSCAN_PLUS, ones, ones, NULL) == VSCAN_OK);
    MUST(SANITIZED || vscan_ctx_threads(job.ctx) < 2 || count_threads() == 2);
    MUST(vscan_buffer_get(ones, 8 * N - 1, &last) == VSCAN_OK && last == 8 * N);
    MUST(vscan_buffer_destroy(ones) == VSCAN_OK);
    const vscan_scan_options backward = {.size = sizeof backward, .direction = VSCAN_BACKWARD};
    for (int i = 0; i < 2000; i++)
        MUST(vscan_scan(job.ctx, VSCAN_PLUS, job.in, job.out, &backward) == VSCAN_OK);
    MUST(scan(&job));
    return end_job(&job) ? 0 : __LINE__;
}

/* The processor time of sleeping workers: none. Five seconds of a machine's noise would not make one. */
static int idle_workers_sleep(void) {
    struct job job;
    MUST(make_job(&job, 12));
    MUST(scan(&job));
    const struct timespec pause = {.tv_nsec = 300 * 1000 * 1000};
    nanosleep(&pause, NULL); /* whatever they had to do */
    struct rusage before, after;
    MUST(getrusage(RUSAGE_SELF, &before) == 0);
    for (int i = 0; i < 5; i++) nanosleep(&pause, NULL);
    MUST(getrusage(RUSAGE_SELF, &after) == 0);
    /* eleven threads that spin would be preempted, or use the time up */
    MUST(after.ru_nivcsw - before.ru_nivcsw < 100);
    MUST(SANITIZED || after.ru_utime.tv_sec - before.ru_utime.tv_sec < 2);
    return end_job(&job) ? 0 : __LINE__;
}

/* More threads are asked for than the pool has parts. The number for tests is read once in a process, so this
   is one that begins anew. */
static int most_threads(void) {
    enum { BYTES = 45 << 20, POOL = 256 };
    if (SANITIZED) return 0;
    if (strcmp(getenv("VSCAN_TEST_THREADS"), "300") != 0) {
        setenv("VSCAN_TEST_THREADS", "300", 1);
        setenv("VSCAN_TEST_FILTER", "pool_most_threads", 1);
        execl("/proc/self/exe", "test_pool", "cpu", (char *)NULL);
        return __LINE__;
    }
    const vscan_ctx_options options = {
        .size = sizeof options, .backend = VSCAN_BACKEND_CPU, .threads = 300};
    vscan_ctx *ctx;
    vscan_buffer *buffer;
    MUST(vscan_ctx_create(&options, &ctx) == VSCAN_OK);
    MUST(vscan_buffer_create(ctx, VSCAN_BYTE, BYTES, &buffer) == VSCAN_OK);
    MUST(vscan_buffer_fill(buffer, &(uint8_t){3}) == VSCAN_OK);
    MUST(count_threads() == POOL);
    const uint8_t *bytes = vscan_buffer_pointer(buffer);
    for (int i = 0; i < BYTES; i++) MUST(bytes[i] == 3);
    MUST(vscan_buffer_destroy(buffer) == VSCAN_OK);
    return vscan_ctx_destroy(ctx) == VSCAN_OK ? 0 : __LINE__;
}

/* ---- The environment ---------------------------------------------------------------------------- */

static int threads_by_default(void) {
    vscan_ctx *ctx = NULL;
    const vscan_ctx_options options = {.size = sizeof options, .backend = VSCAN_BACKEND_CPU};
    if (vscan_ctx_create(&options, &ctx) != VSCAN_OK) return -1;
    const int threads = vscan_ctx_threads(ctx);
    vscan_ctx_destroy(ctx);
    return threads;
}

struct setting {
    const char *own, *omp;
    int threads; /* 0: what the machine gives, 12 here, and no more are in force */
};

static const struct setting *setting;

static int asks_environment(void) {
    setenv("VSCAN_TEST_THREADS", "12", 1);
    unsetenv("VSCAN_NUM_THREADS");
    unsetenv("OMP_NUM_THREADS");
    if (setting->own != NULL) setenv("VSCAN_NUM_THREADS", setting->own, 1);
    if (setting->omp != NULL) setenv("OMP_NUM_THREADS", setting->omp, 1);
    setenv("OMP_STACKSIZE", "16k", 1); /* ended the process with OpenMP */
    MUST(threads_by_default() == (setting->threads > 0 ? setting->threads : 12));
    return scans();
}

/* ---- Tests -------------------------------------------------------------------------------------- */

#define TESTS(X)                                                                                   \
    X(no_processes)                                                                                \
    X(threads_end)                                                                                 \
    X(first_call_cancelled)                                                                        \
    X(many_callers)                                                                                \
    X(small_stacks)                                                                                \
    X(signals)                                                                                     \
    X(signals_are_blocked)                                                                         \
    X(own_faults_are_handled)                                                                      \
    X(in_succession)                                                                               \
    X(idle_workers_sleep)                                                                          \
    X(most_threads)
TESTS(POOL_TEST)

static void pool_no_address_space(void **state) {
    (void)state;
    if (SANITIZED) skip(); /* their shadows are larger than any limit */
    run_alone(no_address_space);
}

static void pool_environment(void **state) {
    (void)state;
    static const struct setting settings[] = {
        {NULL, NULL, 0},  {"3", NULL, 3},   {NULL, "5", 5},
        {"3", "5", 3},    {NULL, "4,2", 4}, {NULL, " 6 ", 6},
        {"", "5", 5},     {"0", "5", 5},    {"-2", NULL, 0},
        {"many", "7", 7}, {NULL, "3x", 0},  {NULL, "!!", 0},
        {NULL, "1e3", 0}, {NULL, "", 0},    {"99999999999", NULL, 0},
        {"300", NULL, 0}};
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        setting = &settings[i];
        print_message("VSCAN_NUM_THREADS=%s OMP_NUM_THREADS=%s\n",
                      setting->own != NULL ? setting->own : "(unset)",
                      setting->omp != NULL ? setting->omp : "(unset)");
        run_alone(asks_environment);
    }
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        TESTS(POOL_UNIT_TEST) cmocka_unit_test(pool_no_address_space),
        cmocka_unit_test(pool_environment),
    };
    return harness_run(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
