/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vectors that other threads change while a call reads them, which the manual forbids: the results may be
 * anything, but nothing outside the vectors is read or written, and every call ends. Each call is made again and
 * again in a child process, on vectors between pages that cannot be touched, while threads put numbers into them
 * that lie outside, or change all of them at once. It races on purpose, so ThreadSanitizer does not see it.
 */
#include "harness.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    N = 1 << 16,      /* elements of most vectors: whole pages, so that both ends lie at a guard */
    SORTED = 1 << 18, /* of sorts by several threads */
    LONG = 9 << 20,   /* of a sort that goes by lines of the cache */
    HAMMERS = 2,
    GUARD = 1 << 16
};

/* ---- Vectors --------------------------------------------------------------------------------- */

/* Memory that ends at a page that cannot be touched, and, if it is of whole pages, begins at one. */
static void *guarded_memory(size_t bytes) {
    const size_t whole = (bytes + 4095) / 4096 * 4096;
    char *const all = mmap(NULL, whole + 2 * GUARD, PROT_NONE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (all == MAP_FAILED || mprotect(all + GUARD, whole, PROT_READ | PROT_WRITE) != 0) _exit(3);
    return all + GUARD + whole - bytes;
}

static vscan_ctx *ctx;

static vscan_buffer *vector(vscan_type type, int64_t n) {
    static const int sizes[] = {4, 4, 8, 1, 0, 8, 1};
    const size_t bytes =
        type == VSCAN_BIT ? (size_t)(n + 31) / 32 * 4 : (size_t)n * (size_t)sizes[type - VSCAN_INT];
    vscan_buffer *buffer = NULL;
    if (vscan_buffer_wrap(ctx, type, guarded_memory(bytes), n, &buffer) != VSCAN_OK) _exit(4);
    return buffer;
}

/* ---- Hammers --------------------------------------------------------------------------------- */

/*
 * What is changed: numbers i * step, of so many bytes. ALL: all become 0 and -1 in turn. STRAY: some are wild ones for
 * a moment. RARE: so seldom that there is time to check all of them between two.
 */
enum how { ALL, STRAY, RARE };
static struct {
    void *at;
    int64_t n, step;
    int size;
    enum how how;
} changed;
static _Atomic bool stop;

static void put(int64_t i, int64_t number) {
    if (changed.size == 8)
        ((volatile int64_t *)changed.at)[i] = number;
    else if (changed.size == 4)
        ((volatile int32_t *)changed.at)[i] = (int32_t)number;
    else
        ((volatile uint8_t *)changed.at)[i] = (uint8_t)number;
}

static void *hammer(void *seed) {
    static const int64_t wild[] = {-1, INT32_MIN, INT32_MAX, 0x40000000, -0x30000000};
    uint64_t random = (uint64_t)(uintptr_t)seed;
    int64_t last = 0;
    for (int64_t round = 0; !stop; round++) {
        if (changed.how == ALL) {
            for (int64_t i = 0; i < changed.n; i++) put(i, -(round & 1));
            continue;
        }
        random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
        const int64_t i = (int64_t)((random >> 33) % (uint64_t)changed.n);
        put(i, wild[(random >> 20) % 5]);
        put(last, last * changed.step);
        last = i;
        if (changed.how != RARE) continue;
        for (volatile int k = 0; k < 50;) k++;
        put(i, i * changed.step);
        for (volatile int k = 0, end = (int)(random >> 30) % 8000; k < end;) k++;
    }
    return NULL;
}

/* The numbers that are hammered on begin as they return to. */
static void change(vscan_buffer *buffer, enum how how, int64_t step) {
    static const int sizes[] = {4, 4, 8, 1, 4, 8, 1};
    const vscan_type type = vscan_buffer_type(buffer);
    changed.at = vscan_buffer_pointer(buffer);
    changed.n = vscan_buffer_length(buffer) / (type == VSCAN_BIT ? 32 : 1);
    changed.size = sizes[type - VSCAN_INT];
    changed.step = step;
    changed.how = how;
    for (int64_t i = 0; i < changed.n; i++) put(i, i * step);
}

/* ---- Calls ----------------------------------------------------------------------------------- */

/* X(name, elements, what is made of them first, the call) */
#define CALLS(X)                                                                                   \
    X(gather_int,                                                                                  \
      (v = vector(VSCAN_INT, N), change(v, STRAY, 1), in = vector(VSCAN_INT, N),                   \
       out = vector(VSCAN_INT, N)),                                                                \
      vscan_gather(ctx, in, v, out))                                                               \
    X(gather_long,                                                                                 \
      (v = vector(VSCAN_LONG, N), change(v, STRAY, 1), in = vector(VSCAN_DOUBLE, N),               \
       out = vector(VSCAN_DOUBLE, N)),                                                             \
      vscan_gather(ctx, in, v, out))                                                               \
    X(gather_near,                                                                                 \
      (v = vector(VSCAN_INT, 1024), change(v, STRAY, 1), in = vector(VSCAN_UINT8, 4096),           \
       out = vector(VSCAN_UINT8, 1024)),                                                           \
      vscan_gather(ctx, in, v, out))                                                               \
    X(permute_int,                                                                                 \
      (v = vector(VSCAN_INT, N), change(v, STRAY, 1), in = vector(VSCAN_FLOAT, N),                 \
       out = vector(VSCAN_FLOAT, N)),                                                              \
      vscan_permute(ctx, in, v, out, NULL))                                                        \
    X(permute_written,                                                                             \
      (v = vector(VSCAN_LONG, N), change(v, STRAY, 1), in = vector(VSCAN_INT, N),                  \
       out = vector(VSCAN_INT, N), one = vector(VSCAN_BIT, N)),                                    \
      vscan_permute(                                                                               \
          ctx, in, v, out,                                                                         \
          &(vscan_permute_options){.size = sizeof(vscan_permute_options), .written = one}))        \
    X(pack,                                                                                        \
      (v = vector(VSCAN_INT, N), change(v, ALL, 0), in = vector(VSCAN_INT, N),                     \
       out = vector(VSCAN_INT, N / 2)),                                                            \
      vscan_pack(ctx, in, v, out, NULL))                                                           \
    X(pack_compare, (in = vector(VSCAN_INT, N), change(in, ALL, 0), out = vector(VSCAN_INT, N)),   \
      vscan_pack_compare(ctx, VSCAN_LESS, in, &(int32_t){0}, out, NULL))                           \
    X(heads_to_offsets,                                                                            \
      (v = vector(VSCAN_BYTE, N), change(v, ALL, 0), out = vector(VSCAN_INT, N + 1)),              \
      vscan_heads_to_offsets(ctx, v, out, NULL))                                                   \
    X(split,                                                                                       \
      (v = vector(VSCAN_INT, N), change(v, ALL, 0), in = vector(VSCAN_INT, N),                     \
       out = vector(VSCAN_INT, N)),                                                                \
      vscan_split(ctx, in, v, out, NULL))                                                          \
    X(split_bytes,                                                                                 \
      (v = vector(VSCAN_BIT, N), change(v, ALL, 0), in = vector(VSCAN_UINT8, N),                   \
       out = vector(VSCAN_UINT8, N)),                                                              \
      vscan_split(ctx, in, v, out, NULL))                                                          \
    X(split_flags,                                                                                 \
      (v = vector(VSCAN_BYTE, N), change(v, ALL, 0), in = vector(VSCAN_DOUBLE, N),                 \
       heads = vector(VSCAN_BIT, N), set_some(heads), out = vector(VSCAN_DOUBLE, N)),              \
      vscan_split_segmented(ctx, in, v, heads, out, NULL))                                         \
    X(split_heads,                                                                                 \
      (heads = vector(VSCAN_BYTE, N), change(heads, ALL, 0), in = vector(VSCAN_INT, N),            \
       v = vector(VSCAN_BIT, N), set_some(v), out = vector(VSCAN_INT, N)),                         \
      vscan_split_segmented(ctx, in, v, heads, out, NULL))                                         \
    X(sort_int,                                                                                    \
      (in = vector(VSCAN_INT, SORTED), change(in, ALL, 0), out = vector(VSCAN_INT, SORTED)),       \
      vscan_sort(ctx, in, NULL, out, NULL, NULL))                                                  \
    X(sort_stray,                                                                                  \
      (in = vector(VSCAN_INT, N), change(in, STRAY, 7919), out = vector(VSCAN_INT, N)),            \
      vscan_sort(ctx, in, NULL, out, NULL, NULL))                                                  \
    X(sort_float,                                                                                  \
      (in = vector(VSCAN_FLOAT, N), change(in, ALL, 0), v = vector(VSCAN_LONG, N),                 \
       out = vector(VSCAN_FLOAT, N), more = vector(VSCAN_LONG, N)),                                \
      vscan_sort(ctx, in, v, out, more, NULL))                                                     \
    X(sort_double,                                                                                 \
      (in = vector(VSCAN_DOUBLE, N), change(in, STRAY, -7919), out = vector(VSCAN_DOUBLE, N)),     \
      vscan_sort(ctx, in, NULL, out, NULL, NULL))                                                  \
    X(sort_out,                                                                                    \
      (in = vector(VSCAN_LONG, SORTED), change(in, STRAY, -7919),                                  \
       out = vector(VSCAN_LONG, SORTED), change(out, ALL, 0)),                                     \
      vscan_sort(ctx, in, NULL, out, NULL, NULL))                                                  \
    X(sort_few, (in = vector(VSCAN_INT, 100), change(in, ALL, 0), out = vector(VSCAN_INT, 100)),   \
      vscan_sort(ctx, in, NULL, out, NULL, NULL))                                                  \
    X(sort_long,                                                                                   \
      (in = vector(VSCAN_INT, LONG), change(in, STRAY, 2654435), out = vector(VSCAN_INT, LONG),    \
       change(out, ALL, 0)),                                                                       \
      vscan_sort(ctx, in, NULL, out, NULL, NULL))                                                  \
    X(sort_by_offsets,                                                                             \
      (in = vector(VSCAN_INT, N), v = vector(VSCAN_INT, N / 64 + 1), change(v, RARE, 64),          \
       out = vector(VSCAN_INT, N)),                                                                \
      vscan_sort_by_offsets(ctx, in, NULL, v, out, NULL, NULL))                                    \
    X(offsets_to_heads,                                                                            \
      (v = vector(VSCAN_LONG, N / 8), change(v, STRAY, 8), out = vector(VSCAN_BIT, N)),            \
      vscan_offsets_to_heads(ctx, v, out))                                                         \
    X(offsets_to_lengths,                                                                          \
      (v = vector(VSCAN_INT, 1024 + 1), change(v, STRAY, 8), out = vector(VSCAN_INT, 1024)),       \
      vscan_offsets_to_lengths(ctx, v, out))                                                       \
    X(lengths_to_offsets,                                                                          \
      (v = vector(VSCAN_INT, 1024), change(v, STRAY, 0), out = vector(VSCAN_INT, 1024 + 1)),       \
      vscan_lengths_to_offsets(ctx, v, out))                                                       \
    X(reduce_by_offsets,                                                                           \
      (in = vector(VSCAN_FLOAT, N), v = vector(VSCAN_INT, N / 8 + 1), change(v, RARE, 8),          \
       out = vector(VSCAN_FLOAT, N / 8)),                                                          \
      vscan_reduce_by_offsets(ctx, VSCAN_PLUS, in, v, out, NULL))                                  \
    X(scan_by_offsets,                                                                             \
      (in = vector(VSCAN_FLOAT, N), v = vector(VSCAN_INT, N / 8 + 1), change(v, RARE, 8),          \
       out = vector(VSCAN_FLOAT, N)),                                                              \
      vscan_scan_by_offsets(ctx, VSCAN_PLUS, in, v, out, NULL))                                    \
    X(reduce_segmented,                                                                            \
      (in = vector(VSCAN_LONG, N), v = vector(VSCAN_BYTE, N), change(v, ALL, 0),                   \
       out = vector(VSCAN_LONG, N / 2)),                                                           \
      vscan_reduce_segmented(ctx, VSCAN_PLUS, in, v, out, NULL))                                   \
    X(scan_backward,                                                                               \
      (in = vector(VSCAN_INT, N), v = vector(VSCAN_BIT, N), change(v, ALL, 0),                     \
       out = vector(VSCAN_INT, N), more = vector(VSCAN_INT, N)),                                   \
      vscan_scan_segmented(                                                                        \
          ctx, VSCAN_MAX, in, v, out,                                                              \
          &(vscan_scan_segmented_options){.size = sizeof(vscan_scan_segmented_options),            \
                                          .direction = VSCAN_BACKWARD,                             \
                                          .totals = more}))                                        \
    X(distribute,                                                                                  \
      (in = vector(VSCAN_INT, N), v = vector(VSCAN_INT, N), change(v, ALL, 0),                     \
       out = vector(VSCAN_INT, N)),                                                                \
      vscan_distribute_segmented(ctx, VSCAN_LAST, in, v, out))                                     \
    X(lower_bound,                                                                                 \
      (in = vector(VSCAN_INT, N), change(in, STRAY, 1), v = vector(VSCAN_INT, N),                  \
       out = vector(VSCAN_INT, N)),                                                                \
      vscan_lower_bound(ctx, in, v, out))                                                          \
    X(reduce_extreme,                                                                              \
      (in = vector(VSCAN_INT, 4096), change(in, STRAY, 0), one = vector(VSCAN_INT, 1),             \
       more = vector(VSCAN_LONG, 1)),                                                              \
      vscan_reduce_extreme(ctx, VSCAN_MAX, in, one, more, NULL))                                   \
    X(keys_to_heads, (in = vector(VSCAN_INT, N), change(in, ALL, 0), out = vector(VSCAN_BIT, N)),  \
      vscan_keys_to_heads(ctx, in, NULL, out))                                                     \
    X(host_scan_by_offsets,                                                                        \
      (in = vector(VSCAN_INT, N), v = vector(VSCAN_LONG, N / 8 + 1), change(v, RARE, 8),           \
       out = vector(VSCAN_INT, N)),                                                                \
      vscan_host_scan_by_offsets(VSCAN_PLUS, VSCAN_INT, VSCAN_INCLUSIVE, VSCAN_FORWARD,            \
                                 vscan_buffer_pointer(in), N, VSCAN_LONG, vscan_buffer_pointer(v), \
                                 N / 8, vscan_buffer_pointer(out)))

/* Heads or flags at some places. */
static void set_some(vscan_buffer *bits) {
    uint32_t *const word = vscan_buffer_pointer(bits);
    for (int64_t i = 0; i < vscan_buffer_length(bits) / 32; i++) word[i] = i % 5 == 0 ? 0x10100 : 0;
}

static int64_t milliseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int made;
static int64_t until;

/* Whether the call is to be made once more: for some time, and often enough on a machine that is busy. */
static bool go_on(void) {
    if (made++ == 0) until = milliseconds() + (harness_small() ? 40 : 120);
    return made <= 3 || milliseconds() < until;
}

#define X(name, setting, call)                                                                     \
    static void calls_##name(void) {                                                               \
        vscan_buffer *in, *v, *heads, *out, *more, *one;                                           \
        in = v = heads = out = more = one = NULL;                                                  \
        (void)setting;                                                                             \
        (void)in, (void)v, (void)heads, (void)out, (void)more, (void)one;                          \
        pthread_t thread[HAMMERS];                                                                 \
        for (int k = 0; k < HAMMERS; k++)                                                          \
            if (pthread_create(&thread[k], NULL, hammer, (void *)(uintptr_t)(k + 1)) != 0)         \
                _exit(5);                                                                          \
        while (go_on()) {                                                                          \
            const vscan_status status = call;                                                      \
            if (status != VSCAN_OK && status != VSCAN_ERROR_OFFSETS) _exit(6);                     \
            const vscan_status late = vscan_ctx_synchronize(ctx);                                  \
            if (late != VSCAN_OK && late < 400) _exit(7);                                          \
        }                                                                                          \
        stop = true;                                                                               \
        for (int k = 0; k < HAMMERS; k++) pthread_join(thread[k], NULL);                           \
    }
CALLS(X)
#undef X

static void in_child(const char *name, void (*calls)(void)) {
    static const int faults[] = {SIGSEGV, SIGBUS, SIGABRT, SIGILL,
                                 SIGFPE}; /* cmocka handles them */
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        for (size_t k = 0; k < sizeof faults / sizeof faults[0]; k++) signal(faults[k], SIG_DFL);
        alarm(60); /* a call that does not end */
        ctx = harness_new_ctx(0);
        calls();
        vscan_ctx_destroy(ctx);
        _exit(0);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFSIGNALED(status)) fail_msg("%s: signal %d", name, WTERMSIG(status));
    if (status != 0) fail_msg("%s: exit status %d", name, WEXITSTATUS(status));
}

#define X(name, setting, call)                                                                     \
    static void name(void **state) {                                                               \
        (void)state;                                                                               \
        in_child(#name, calls_##name);                                                             \
    }
CALLS(X)
#undef X

#if defined(__SANITIZE_THREAD__)
enum { SKIPPED = 1 }; /* it races on purpose */
#else
enum { SKIPPED = 0 };
#endif

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
#define X(name, setting, call) cmocka_unit_test(name),
        CALLS(X)
#undef X
    };
    if (SKIPPED) return 77;
    if (argc == 2 && strcmp(argv[1], "cuda") == 0) return 77; /* the vectors are the host's */
    return harness_run(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
