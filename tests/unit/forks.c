/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Forks at moments, and in ways, that a program linked with the library does not come to. So it loads the
 * library itself.
 *
 *     forks LIBRARY
 *
 * - Handlers of the program's own for forks, registered before the library is loaded, make calls.
 * - A signal handler forks after every single instruction of calls that make and destroy handles.
 * - The library's own handler does not run: _Fork, and a copy of the library that dlmopen has loaded.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "children.h"
#include "vscan.h"

enum { LIMIT = 60, N = 100000 }; /* seconds until a process is taken for hung; elements */

#define CALLS(X)                                                                                   \
    X(vscan_ctx_create)                                                                            \
    X(vscan_ctx_destroy)                                                                           \
    X(vscan_ctx_last_error)                                                                        \
    X(vscan_buffer_create)                                                                         \
    X(vscan_buffer_wrap)                                                                           \
    X(vscan_buffer_view)                                                                           \
    X(vscan_buffer_get) X(vscan_buffer_fill) X(vscan_buffer_destroy) X(vscan_scan)

#define X(name) __typeof__(name) *name;
struct calls {
    CALLS(X)
};
#undef X

#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition)) fail(__LINE__);                                                          \
    } while (0)

/* In a child too, that was forked in the middle of anything. */
static void fail(int line) {
    char text[64];
    const int length = snprintf(text, sizeof text, "forks: line %d\n", line);
    if (write(2, text, (size_t)length) < 0) abort();
    _Exit(1);
}

static void find_calls(void *library, struct calls *calls) {
    MUST(library != NULL);
#define X(name)                                                                                    \
    void *at_##name = dlsym(library, #name);                                                       \
    memcpy(&calls->name, &at_##name, sizeof at_##name); /* no cast to a function in ISO C */
    CALLS(X)
#undef X
}

static void wait_for(pid_t child) {
    MUST(child_status(child) == 0);
}

/* ---- Handlers of the program's own ----------------------------------------------------------- */

static struct calls own;
static vscan_ctx *pair;   /* a context with two threads */
static vscan_buffer *ten; /* elements, of another one */

static uintptr_t slot_of(const vscan_buffer *handle) {
    return (uintptr_t)handle >> 3 & ((1 << 26) - 1);
}

/* Two new handles: in slots of their own, and they work. other: a live one, or NULL. */
static void make_views(const vscan_buffer *other) {
    vscan_buffer *first, *second;
    int32_t got = 0;
    MUST(own.vscan_buffer_view(ten, 0, 4, &first) == VSCAN_OK);
    MUST(own.vscan_buffer_view(ten, 4, 4, &second) == VSCAN_OK);
    MUST(slot_of(first) != slot_of(second));
    MUST(slot_of(ten) != slot_of(first) && slot_of(ten) != slot_of(second));
    MUST(slot_of(other) != slot_of(first) && slot_of(other) != slot_of(second));
    MUST(own.vscan_buffer_get(second, 3, &got) == VSCAN_OK && got == 7);
    MUST(own.vscan_buffer_destroy(first) == VSCAN_OK);
    MUST(own.vscan_buffer_destroy(first) == VSCAN_ERROR_HANDLE);
    MUST(own.vscan_buffer_destroy(second) == VSCAN_OK);
}

static vscan_buffer *many; /* N elements, which the library has a thread for */
static bool handlers_call;
static int handlers_run;

static void scan_many(void) {
    int32_t got = 0;
    MUST(own.vscan_buffer_fill(many, &(int32_t){1}) == VSCAN_OK);
    MUST(own.vscan_scan(pair, VSCAN_PLUS, many, many, NULL) == VSCAN_OK);
    MUST(own.vscan_buffer_get(many, N - 1, &got) == VSCAN_OK && got == N);
}

static void handle_fork(void) {
    if (!handlers_call) return;
    make_views(NULL);
    scan_many();
    handlers_run++;
}

/* Hung, as the library had locked its tables before the handler ran. The child's handler comes before the
   library's, which finds that the child has begun, and has its thread. */
static void forks_with_handlers(void) {
    handlers_call = true;
    const pid_t child = fork();
    MUST(handlers_run == 2);
    if (child == 0) {
        alarm(LIMIT);
        make_views(NULL);
        scan_many();
        _exit(count_threads() == 2 ? 0 : 1);
    }
    handlers_call = false;
    wait_for(child);
}

/* ---- At every instruction -------------------------------------------------------------------- */

#if defined __x86_64__
enum { TRAP_FLAG = 0x100 };

static volatile sig_atomic_t stepping, steps;
static vscan_buffer *volatile live;

/* Comes after each instruction, as long as the thread goes on with the trap flag set. */
static void on_trap(int number, siginfo_t *info, void *context) {
    (void)number;
    (void)info;
    greg_t *flags = &((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL];
    *flags = stepping ? *flags | TRAP_FLAG : *flags & ~(greg_t)TRAP_FLAG;
    if (!stepping) return;
    steps = steps + 1;
    const pid_t child = fork();
    if (child == 0) {
        alarm(LIMIT);
        make_views(live);
        make_views(live);
        _Exit(0);
    }
    wait_for(child);
}

/* One from the list of free slots and one from those never used; then the list has none, and one. Hung
   where the call held the lock of its table. */
static void forks_at_every_instruction(void) {
    const vscan_ctx_options options = {
        .size = sizeof options, .backend = VSCAN_BACKEND_CPU, .threads = 1};
    const struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO};
    vscan_ctx *ctx;
    vscan_buffer *buffer, *first, *second;
    MUST(sigaction(SIGTRAP, &action, NULL) == 0);
    MUST(own.vscan_ctx_create(&options, &ctx) == VSCAN_OK);
    MUST(own.vscan_buffer_create(ctx, VSCAN_INT, 10, &buffer) == VSCAN_OK);
    MUST(own.vscan_buffer_view(buffer, 0, 1, &first) == VSCAN_OK);
    MUST(own.vscan_buffer_destroy(first) == VSCAN_OK);
    stepping = 1;
    raise(SIGTRAP);
    vscan_status status[4];
    status[0] = own.vscan_buffer_view(buffer, 0, 4, &first);
    status[1] = own.vscan_buffer_view(buffer, 0, 4, &second);
    live = first;
    status[2] = own.vscan_buffer_destroy(second);
    live = NULL;
    status[3] = own.vscan_buffer_destroy(first);
    stepping = 0;
    for (int i = 0; i < 4; i++) MUST(status[i] == VSCAN_OK);
    MUST(steps > 100);
    printf("forks after %d instructions\n", (int)steps);
    MUST(own.vscan_buffer_destroy(buffer) == VSCAN_OK);
    MUST(own.vscan_ctx_destroy(ctx) == VSCAN_OK);
}
#endif

/* ---- Without the library's handler ----------------------------------------------------------- */

enum { BYTES = N * (int)sizeof(int32_t) };

struct inside {
    const struct calls *calls;
    vscan_ctx *ctx;
    vscan_buffer *buffer;
    vscan_status status;
};

static void *page; /* the first of what the call reads */
static atomic_bool is_inside, goes_on;

/* Keeps a thread inside its call. */
static void on_fault(int number) {
    (void)number;
    atomic_store(&is_inside, true);
    while (!atomic_load(&goes_on)) usleep(1000);
    if (mprotect(page, BYTES, PROT_READ | PROT_WRITE) != 0) _Exit(2);
}

static void *scan_inside(void *argument) {
    struct inside *in = argument;
    in->status = in->calls->vscan_scan(in->ctx, VSCAN_PLUS, in->buffer, in->buffer, NULL);
    return NULL;
}

static void be_a_child(const struct inside *in, vscan_ctx *idle, vscan_buffer *buffer) {
    const struct calls *calls = in->calls;
    int32_t got = 0;
    alarm(LIMIT);
    /* hung, as a thread that is not here has locked it */
    MUST(calls->vscan_scan(in->ctx, VSCAN_PLUS, in->buffer, in->buffer, NULL) ==
         VSCAN_ERROR_HANDLE);
    MUST(strstr(calls->vscan_ctx_last_error(in->ctx), "forked") != NULL);
    MUST(calls->vscan_ctx_destroy(in->ctx) == VSCAN_ERROR_HANDLE);
    MUST(calls->vscan_buffer_destroy(in->buffer) == VSCAN_OK);
    MUST(calls->vscan_scan(idle, VSCAN_PLUS, buffer, buffer, NULL) == VSCAN_OK);
    MUST(calls->vscan_buffer_get(buffer, 1, &got) == VSCAN_OK && got == 3);
    MUST(count_threads() == 2);
    MUST(calls->vscan_buffer_destroy(buffer) == VSCAN_OK);
    MUST(calls->vscan_ctx_destroy(idle) == VSCAN_OK);
    _exit(0);
}

static void forks_while_inside(const struct calls *calls, pid_t (*fork_)(void)) {
    const vscan_ctx_options alone = {
        .size = sizeof alone, .backend = VSCAN_BACKEND_CPU, .threads = 1};
    const vscan_ctx_options two = {.size = sizeof two, .backend = VSCAN_BACKEND_CPU, .threads = 2};
    const struct sigaction action = {.sa_handler = on_fault};
    struct inside in = {.calls = calls};
    vscan_ctx *idle;
    vscan_buffer *buffer;
    pthread_t thread;
    atomic_store(&is_inside, false);
    atomic_store(&goes_on, false);
    MUST(sigaction(SIGSEGV, &action, NULL) == 0);
    page = mmap(NULL, BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    MUST(page != MAP_FAILED);
    MUST(calls->vscan_ctx_create(&alone, &in.ctx) == VSCAN_OK);
    MUST(calls->vscan_buffer_wrap(in.ctx, VSCAN_INT, page, N, &in.buffer) == VSCAN_OK);
    MUST(calls->vscan_ctx_create(&two, &idle) == VSCAN_OK);
    MUST(calls->vscan_buffer_create(idle, VSCAN_INT, N, &buffer) == VSCAN_OK);
    MUST(calls->vscan_buffer_fill(buffer, &(int32_t){1}) == VSCAN_OK);
    MUST(calls->vscan_scan(idle, VSCAN_PLUS, buffer, buffer, NULL) == VSCAN_OK);
    MUST(pthread_create(&thread, NULL, scan_inside, &in) == 0);
    while (!atomic_load(&is_inside)) usleep(1000);
    const pid_t child = fork_();
    if (child == 0) be_a_child(&in, idle, buffer);
    wait_for(child);
    atomic_store(&goes_on, true);
    MUST(pthread_join(thread, NULL) == 0 && in.status == VSCAN_OK);
    MUST(calls->vscan_buffer_destroy(in.buffer) == VSCAN_OK);
    MUST(calls->vscan_ctx_destroy(in.ctx) == VSCAN_OK);
    MUST(calls->vscan_buffer_destroy(buffer) == VSCAN_OK);
    MUST(calls->vscan_ctx_destroy(idle) == VSCAN_OK);
    munmap(page, BYTES);
}

/* What the library goes by where its handler does not run: Linux 4.14. */
static bool forks_wipe_memory(void) {
    void *memory = mmap(NULL, 1, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory != MAP_FAILED && madvise(memory, 1, MADV_WIPEONFORK) == 0;
}

int main(int argc, char **argv) {
    const vscan_ctx_options options = {
        .size = sizeof options, .backend = VSCAN_BACKEND_CPU, .threads = 2};
    vscan_ctx *ctx;
    pid_t (*fork_without_handlers)(void) = NULL;
    if (argc != 2) return 2;
    alarm(3 * LIMIT);
    MUST(pthread_atfork(handle_fork, handle_fork, handle_fork) == 0);
    find_calls(dlopen(argv[1], RTLD_NOW | RTLD_LOCAL), &own);
    MUST(own.vscan_ctx_create(&options, &ctx) == VSCAN_OK);
    MUST(own.vscan_buffer_create(ctx, VSCAN_INT, 10, &ten) == VSCAN_OK);
    MUST(own.vscan_buffer_fill(ten, &(int32_t){7}) == VSCAN_OK);
#if defined __x86_64__
    forks_at_every_instruction();
#endif
    MUST(own.vscan_ctx_create(&options, &pair) == VSCAN_OK);
    MUST(own.vscan_buffer_create(pair, VSCAN_INT, N, &many) == VSCAN_OK);
    forks_with_handlers();
    forks_while_inside(&own, fork);
    if (!forks_wipe_memory()) return 0;
    void *found = dlsym(RTLD_DEFAULT, "_Fork"); /* glibc 2.34, musl 1.2.2 */
    memcpy(&fork_without_handlers, &found, sizeof found);
    if (found != NULL) forks_while_inside(&own, fork_without_handlers);
#if defined LM_ID_NEWLM /* glibc */
    struct calls copied;
    find_calls(dlmopen(LM_ID_NEWLM, argv[1], RTLD_NOW | RTLD_LOCAL), &copied);
    forks_while_inside(&copied, fork);
#endif
    return 0;
}
