/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pool: threads that wait for the parts of a call.
 *
 * There is one for the process, and one caller at a time has it; another caller works alone meanwhile.
 * The caller opens the gate, runs parts itself, and takes every part that no worker has taken. Then it
 * closes the gate and waits for the workers inside. So it waits only for workers that have begun, never
 * for one that has still to be woken or to be given a processor.
 *
 * A worker that has found nothing to do for PATIENCE loads sleeps in the kernel until its part of a call
 * is there, and so does who waits for long inside a call. Every sleep follows one pattern: the sleeper says
 * that it sleeps, then the kernel looks once more at the word that it waits for; who changes the word
 * looks afterwards whether somebody sleeps. All four are sequentially consistent, so one of the two sees
 * the other.
 *
 * policy.h says which calls use the pool. A worker may run where the caller may: before a call wakes it, it
 * gets the affinity mask of the call's thread, if it has another one.
 *
 * In a forked child there are no workers, and whoever had the pool is not there: the child begins with an
 * empty one. The library is linked with -z nodelete: to join the threads when it is unloaded would mean
 * to wait for them inside dlclose, which holds the loader's lock, that they may need to end.
 */
#include "cpu/parallel.h"

#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/handle.h"
#include "core/threads.h"
#include "cpu/policy.h"

enum {
    PATIENCE = 1000, /* loads before a thread sleeps: 20 to 50 us */
    BRIEF = 250,     /* after a call that came alone: until its next round */
    /* before one sleeps that waits for a part which another one works on: parts take as long as that.
       With PATIENCE, segmented scans of 2^20 ints by 16 threads took 75 us in place of 39. */
    INSIDE_CALL = 8 * PATIENCE,
    STACK = 1 << 20, /* bytes of a worker's stack, of which a body needs less than a third */
    INSIDE = 0xffff  /* the bits of the gate that count workers; the others hold the parts */
};

#define RETRY (INT64_C(1000000000)) /* ns until a thread that could not be started is tried again */

static struct {
    /* what workers wait for */
    _Alignas(64) atomic_uint posts; /* calls so far */
    _Alignas(64) atomic_uint gate;  /* parts << 16 | workers inside; 0 parts: closed */
    atomic_uint caller_sleeps;
    atomic_int patience;                /* of workers */
    _Alignas(64) atomic_uint published; /* changes where somebody sleeps in await */
    atomic_uint awaiting;
    atomic_uchar sleeps[VSCAN__CPU_THREADS]; /* of each worker */
    atomic_uchar taken[VSCAN__CPU_THREADS];  /* of each part */

    /* set by the caller that has the pool */
    _Alignas(64) atomic_uint busy;
    int workers;                          /* started: numbers 1 .. workers; 0 is the caller */
    pthread_t thread[VSCAN__CPU_THREADS]; /* of each worker */
    struct vscan__mask mask;              /* of the last caller */
    uint32_t masks;                       /* how many there were */
    uint32_t mask_of[VSCAN__CPU_THREADS]; /* of each worker: which of them */
    vscan__cpu_body *body;
    void *work;
    pthread_t caller;
    int64_t ended;    /* when the last call did */
    int64_t slept;    /* ns, the caller in this call */
    int64_t unhelped; /* ns, calls since the last in which a worker came */
    int64_t retry_at; /* no thread is started before */

    /* any thread */
    _Alignas(64) atomic_int_least64_t alone_until; /* calls do without the pool */
} pool;

/* ---- Waiting --------------------------------------------------------------------------------- */

static void pause_processor(void) {
#if defined __SSE2__
    __builtin_ia32_pause();
#elif defined __aarch64__
    __asm__ volatile("isb"); /* "yield" takes no time on most processors */
#endif
}

/* set: one bit for each thread that a sleeper is, or that is woken. */
static void sleep_while(atomic_uint *word, unsigned int value, unsigned int set) {
    syscall(SYS_futex, word, FUTEX_WAIT_BITSET_PRIVATE, value, NULL, NULL, set);
}

static void wake(atomic_uint *word, unsigned int set) {
    syscall(SYS_futex, word, FUTEX_WAKE_BITSET_PRIVATE, INT_MAX, NULL, NULL, set);
}

static unsigned int bit_of(int worker) {
    return 1u << worker % 32;
}

/* ---- Workers --------------------------------------------------------------------------------- */

static bool take(int part) {
    return atomic_load_explicit(&pool.taken[part], memory_order_relaxed) == 0 &&
           atomic_exchange_explicit(&pool.taken[part], 1, memory_order_relaxed) == 0;
}

/* Runs the thread's own part, so that a thread finds in its cache what it had in the last call, and then
   any that nobody has taken. Returns how many. */
static int run_parts(int thread, int parts) {
    int count = 0;
    for (int k = 0; k < parts; k++) {
        const int part = (thread + k) % parts;
        if (!take(part)) continue;
        pool.body(pool.work, part, parts);
        count++;
    }
    return count;
}

/* Goes inside, unless the gate is closed or fewer threads are wanted; returns the parts, or 0. */
static int enter(int worker) {
    unsigned int gate = atomic_load_explicit(&pool.gate, memory_order_relaxed);
    while ((int)(gate >> 16) > worker)
        if (atomic_compare_exchange_weak_explicit(&pool.gate, &gate, gate + 1, memory_order_acquire,
                                                  memory_order_relaxed))
            return (int)(gate >> 16);
    return 0;
}

static void leave(void) {
    if (atomic_fetch_sub(&pool.gate, 1) == 1 && atomic_load(&pool.caller_sleeps))
        wake(&pool.gate, FUTEX_BITSET_MATCH_ANY);
}

static void *serve(void *number) {
    const int worker = (int)(intptr_t)number;
    pthread_setname_np(pthread_self(), "vscan");
    for (int loads = 0;;) {
        const unsigned int seen = atomic_load(&pool.posts);
        const int parts = enter(worker);
        if (parts > 0) {
            run_parts(worker, parts);
            leave();
            loads = 0;
        }
        const int patience = atomic_load_explicit(&pool.patience, memory_order_relaxed);
        for (; loads < patience; loads++) {
            if (atomic_load_explicit(&pool.posts, memory_order_relaxed) != seen) break;
            pause_processor();
        }
        if (loads < patience) continue;
        atomic_store(&pool.sleeps[worker], 1);
        sleep_while(&pool.posts, seen, bit_of(worker));
        atomic_store_explicit(&pool.sleeps[worker], 0, memory_order_relaxed);
    }
    return NULL;
}

/* ---- Starting -------------------------------------------------------------------------------- */

static void begin_anew(void) {
    memset(&pool, 0, sizeof pool);
    vscan__forget_quota();
}

static __attribute__((constructor)) void handle_fork(void) {
    vscan__begin_threads = begin_anew;
}

/* Workers get no signal that is meant for the process. Those that a thread's own access to memory brings
   about stay as the program has them: it may have put its data where a handler makes them come. */
static void block_signals(sigset_t *before) {
    static const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
    sigset_t set;
    sigfillset(&set);
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) sigdelset(&set, own[i]);
    pthread_sigmask(SIG_SETMASK, &set, before);
}

/* They begin with the mask of the thread that starts them. */
static void start_workers(int count) {
    pthread_attr_t attributes;
    sigset_t before;
    if (!vscan__notices_forks || vscan__now() < pool.retry_at ||
        pthread_attr_init(&attributes) != 0)
        return;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, STACK);
    block_signals(&before);
    while (pool.workers < count) {
        const intptr_t number = pool.workers + 1;
        if (pthread_create(&pool.thread[number], &attributes, serve, (void *)number) != 0) {
            pool.retry_at = vscan__now() + RETRY;
            break;
        }
        pool.mask_of[number] = pool.masks;
        pool.workers++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
}

/* Workers that do not run yet, or sleep, move when they are woken. */
static void place_workers(int parts) {
    for (int worker = 1; worker < parts && worker <= pool.workers; worker++) {
        if (pool.mask_of[worker] == pool.masks) continue;
        pthread_setaffinity_np(pool.thread[worker], sizeof pool.mask.sets, pool.mask.sets);
        pool.mask_of[worker] = pool.masks;
    }
}

/* Has the workers that a call of so many parts can use, where it may use them. */
static void prepare_workers(int parts) {
    const struct vscan__mask *mask = vscan__mask();
    if (memcmp(mask, &pool.mask, sizeof *mask) != 0) {
        pool.mask = *mask;
        pool.masks++;
    }
    if (pool.workers < parts - 1) start_workers(parts - 1);
    place_workers(parts);
}

/* ---- Calls ----------------------------------------------------------------------------------- */

int vscan__cpu_choose_threads(vscan_ctx *ctx, int64_t worth, bool is_long) {
    const int asked_for = vscan__threads_asked_for(ctx);
    int64_t now = 0;
    if (asked_for < 2 || atomic_load_explicit(&pool.busy, memory_order_relaxed)) return 1;
    if (!vscan__threads_are_tested()) {
        ctx->timed = true;
        now = vscan__now();
        worth =
            vscan__cpu_helpful(now, atomic_load_explicit(&pool.alone_until, memory_order_relaxed),
                               vscan__last_end(), worth);
        if (worth < 2) return 1;
        vscan__note_time(now); /* a matrix asks once more for each row */
    }
    const int threads = worth < asked_for ? (int)worth : asked_for;
    const int processors = vscan__processors(is_long ? 0 : now);
    return threads < processors ? threads : processors;
}

static void wake_workers(int parts) {
    unsigned int set = 0;
    for (int worker = 1; worker < parts; worker++)
        if (atomic_load(&pool.sleeps[worker])) set |= bit_of(worker);
    if (set != 0) wake(&pool.posts, set);
}

/* Closes the gate and waits until nobody is inside. */
static void close_gate(void) {
    unsigned int inside = atomic_fetch_and(&pool.gate, INSIDE) & INSIDE;
    for (int loads = 0; inside != 0 && loads < INSIDE_CALL; loads++) {
        pause_processor();
        inside = atomic_load_explicit(&pool.gate, memory_order_acquire);
    }
    if (inside == 0) return;
    const int64_t begin = vscan__now();
    atomic_store(&pool.caller_sleeps, 1);
    while ((inside = atomic_load(&pool.gate)) != 0)
        sleep_while(&pool.gate, inside, FUTEX_BITSET_MATCH_ANY);
    atomic_store_explicit(&pool.caller_sleeps, 0, memory_order_relaxed);
    pool.slept += vscan__now() - begin;
}

static void judge(int64_t begin, int own, int parts) {
    const struct vscan__cpu_course course = {begin, vscan__now(), pool.slept, own, parts};
    const int64_t until = vscan__cpu_judge(&course, &pool.unhelped);
    if (until > 0) atomic_store_explicit(&pool.alone_until, until, memory_order_relaxed);
    pool.ended = course.end;
    vscan__note_time(course.end);
}

void vscan__cpu_run_parts(int parts, vscan__cpu_body *body, void *work) {
    const bool mine = atomic_exchange_explicit(&pool.busy, 1, memory_order_acquire) == 0;
    if (mine) prepare_workers(parts);
    if (!mine || pool.workers == 0) {
        if (mine) atomic_store_explicit(&pool.busy, 0, memory_order_release);
        for (int part = 0; part < parts; part++) body(work, part, parts);
        return;
    }
    const int64_t begin = vscan__now();
    pool.body = body;
    pool.work = work;
    pool.caller = pthread_self();
    pool.slept = 0;
    atomic_store_explicit(&pool.patience,
                          begin - pool.ended <= VSCAN__CPU_SUCCESSION ? PATIENCE : BRIEF,
                          memory_order_relaxed);
    for (int part = 0; part < parts; part++)
        atomic_store_explicit(&pool.taken[part], 0, memory_order_relaxed);
    atomic_store_explicit(&pool.gate, (unsigned int)parts << 16, memory_order_release);
    atomic_fetch_add(&pool.posts, 1);
    wake_workers(parts);
    const int own = run_parts(0, parts);
    close_gate();
    judge(begin, own, parts);
    atomic_store_explicit(&pool.busy, 0, memory_order_release);
}

/* ---- Between parts --------------------------------------------------------------------------- */

void vscan__cpu_publish(atomic_uint_least64_t *word, uint64_t epoch) {
    atomic_store(word, epoch);
    if (atomic_load(&pool.awaiting) == 0) return;
    atomic_fetch_add(&pool.published, 1);
    wake(&pool.published, FUTEX_BITSET_MATCH_ANY);
}

void vscan__cpu_await(atomic_uint_least64_t *word, uint64_t epoch) {
    for (int loads = 0; loads < INSIDE_CALL; loads++) {
        if (atomic_load_explicit(word, memory_order_acquire) == epoch) return;
        pause_processor();
    }
    const bool is_caller = pthread_equal(pthread_self(), pool.caller);
    const int64_t begin = is_caller ? vscan__now() : 0;
    atomic_fetch_add(&pool.awaiting, 1);
    for (;;) {
        const unsigned int published = atomic_load(&pool.published);
        if (atomic_load(word) == epoch) break;
        sleep_while(&pool.published, published, FUTEX_BITSET_MATCH_ANY);
    }
    atomic_fetch_sub(&pool.awaiting, 1);
    if (is_caller) pool.slept += vscan__now() - begin;
}
