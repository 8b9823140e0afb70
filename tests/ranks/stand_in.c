/* SPDX-License-Identifier: Apache-2.0 */
#include "stand_in.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ranks/gpu.h"
#include "ranks/nccl.h"
#include "verbs.h"

bool stands_in, has_nccl = true, has_driver = true;
const char *lacks;
const char *failing_function;
int failing_rank, failing_at;
bool has_failed;
int asynchronous_error;
int stand_in_device;

static _Thread_local int calls_left; /* until the failure */
static _Thread_local bool on_stream; /* for a stream, not for a function */
static _Thread_local const char *counts_for;

/* Whether this call of this rank's thread fails. */
static bool fails(const char *function) {
    if (failing_function == NULL || rank != failing_rank || strcmp(function, failing_function) != 0)
        return false;
    if (counts_for != failing_function) counts_for = failing_function, calls_left = failing_at;
    if (--calls_left != 0) return false;
    return has_failed = true;
}

/* ---- Streams --------------------------------------------------------------------------------- */

/* What a stream does, in order. */
struct job {
    struct job *next;
    void (*run)(struct job *);
};

struct stream {
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    struct job *first, **last;
    bool runs, ends;
    bool is_new; /* what was enqueued since it was asked */
};

static int streams; /* that are there */
static pthread_mutex_t streams_mutex = PTHREAD_MUTEX_INITIALIZER;

static void count_streams(int more) {
    pthread_mutex_lock(&streams_mutex);
    streams += more;
    pthread_mutex_unlock(&streams_mutex);
}

static void *work(void *argument) {
    struct stream *const s = argument;
    pthread_mutex_lock(&s->mutex);
    while (s->first != NULL || !s->ends) {
        struct job *const job = s->first;
        if (job == NULL) {
            pthread_cond_wait(&s->changed, &s->mutex);
            continue;
        }
        s->first = job->next;
        if (s->first == NULL) s->last = &s->first;
        s->runs = true;
        pthread_mutex_unlock(&s->mutex);
        job->run(job);
        free(job);
        pthread_mutex_lock(&s->mutex);
        s->runs = false;
        pthread_cond_broadcast(&s->changed);
    }
    pthread_mutex_unlock(&s->mutex);
    return NULL;
}

static void enqueue(struct stream *s, struct job *job) {
    pthread_mutex_lock(&s->mutex);
    job->next = NULL;
    *s->last = job;
    s->last = &job->next;
    s->is_new = true;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->mutex);
}

static void *need(size_t bytes) {
    void *const memory = calloc(1, bytes);
    if (memory == NULL) abort();
    return memory;
}

/* ---- libcuda.so.1 ---------------------------------------------------------------------------- */

enum { CUDA_FAILS = 999 };

static int device_get(int *device, int number) {
    *device = number;
    return fails("cuDeviceGet") ? CUDA_FAILS : 0;
}

static int retain(void **context, int device) {
    (void)device;
    *context = (void *)&streams;
    return fails("cuDevicePrimaryCtxRetain") ? CUDA_FAILS : 0;
}

static int release(int device) {
    (void)device;
    return 0;
}

static int push(void *context) {
    (void)context;
    return fails("cuCtxPushCurrent_v2") ? CUDA_FAILS : 0;
}

static int pop(void **context) {
    *context = (void *)&streams;
    return 0;
}

static int lock(void *memory, size_t bytes, unsigned flags) {
    (void)flags;
    return memory == NULL || bytes == 0 || fails("cuMemHostRegister_v2") ? CUDA_FAILS : 0;
}

static int unlock(void *memory) {
    return memory == NULL ? CUDA_FAILS : 0;
}

static int stream_create(void **stream, unsigned flags) {
    if (flags != NON_BLOCKING) abort();
    if (fails("cuStreamCreate")) return CUDA_FAILS;
    struct stream *const s = need(sizeof *s);
    s->last = &s->first;
    pthread_mutex_init(&s->mutex, NULL);
    pthread_cond_init(&s->changed, NULL);
    if (pthread_create(&s->thread, NULL, work, s) != 0) abort();
    count_streams(1);
    *stream = s;
    return 0;
}

static int stream_query(void *stream) {
    struct stream *const s = stream;
    if (fails("cuStreamQuery")) return CUDA_FAILS;
    on_stream = true;
    pthread_mutex_lock(&s->mutex);
    const bool busy =
        s->first != NULL || s->runs || s->is_new; /* the first look always comes too early */
    s->is_new = false;
    pthread_mutex_unlock(&s->mutex);
    return busy ? NOT_READY : 0;
}

static int stream_synchronize(void *stream) {
    struct stream *const s = stream;
    pthread_mutex_lock(&s->mutex);
    while (s->first != NULL || s->runs) pthread_cond_wait(&s->changed, &s->mutex);
    pthread_mutex_unlock(&s->mutex);
    return fails("cuStreamSynchronize") ? CUDA_FAILS : 0;
}

static int stream_destroy(void *stream) {
    struct stream *const s = stream;
    pthread_mutex_lock(&s->mutex);
    s->ends = true;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->mutex);
    pthread_join(s->thread, NULL);
    pthread_cond_destroy(&s->changed);
    pthread_mutex_destroy(&s->mutex);
    free(s);
    count_streams(-1);
    return 0;
}

struct copy {
    struct job job;
    void *to;
    const void *from;
    size_t bytes;
};

static void run_copy(struct job *job) {
    const struct copy *const copy = (const struct copy *)job;
    memcpy(copy->to, copy->from, copy->bytes);
}

static int copy(uintptr_t to, uintptr_t from, size_t bytes, void *stream) {
    if (fails("cuMemcpyAsync")) return CUDA_FAILS;
    struct copy *const made = need(sizeof *made);
    *made = (struct copy){{NULL, run_copy}, (void *)to, (const void *)from, bytes};
    enqueue(stream, &made->job);
    return 0;
}

static int enable_peer(void *context, unsigned flags) {
    return context == NULL || flags != 0 ? CUDA_FAILS : 0;
}

static int copy_peer(uintptr_t to, void *to_context, uintptr_t from, void *from_context,
                     size_t bytes, void *stream) {
    return to_context == NULL || from_context == NULL ? CUDA_FAILS : copy(to, from, bytes, stream);
}

/* ---- libnccl.so.2 ---------------------------------------------------------------------------- */

enum { NCCL_FAILS = 2 }; /* ncclSystemError */

/* A message that its sender has, until the receiver has taken it. */
struct message {
    struct message *next;
    const void *from;
    size_t bytes;
    bool taken;
};

/* What the ranks of a communicator share. */
struct world {
    struct world *older;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    int size, expected,
        come; /* members; a communicator that is split: of whom, and how many have come */
    struct world *split;
    struct message *messages[MOST_RANKS][MOST_RANKS]; /* from, to: the oldest first */
};

struct comm {
    struct comm *older;
    struct world *world;
    int rank;
    bool aborted, ended;
    bool pending; /* the next answer is that it is in progress */
    int answers;
};

static struct world *worlds;
static struct comm *comms;
static pthread_mutex_t list_mutex = PTHREAD_MUTEX_INITIALIZER;

static struct world *new_world(int size, int expected) {
    struct world *const world = need(sizeof *world);
    pthread_mutex_init(&world->mutex, NULL);
    pthread_cond_init(&world->changed, NULL);
    world->size = size;
    world->expected = expected;
    pthread_mutex_lock(&list_mutex);
    world->older = worlds;
    worlds = world;
    pthread_mutex_unlock(&list_mutex);
    return world;
}

static struct comm *new_comm(struct world *world, int of_rank) {
    struct comm *const comm = need(sizeof *comm);
    comm->world = world;
    comm->rank = of_rank;
    pthread_mutex_lock(&list_mutex);
    comm->older = comms;
    comms = comm;
    pthread_mutex_unlock(&list_mutex);
    return comm;
}

void new_communicators(int count, void **made) {
    struct world *const world = new_world(count, 0);
    for (int r = 0; r < count; r++) made[r] = new_comm(world, r);
}

void end_communicators(void) {
    if (streams != 0) abort();
    while (comms != NULL) {
        struct comm *const older = comms->older;
        free(comms);
        comms = older;
    }
    while (worlds != NULL) {
        struct world *const older = worlds->older;
        pthread_cond_destroy(&worlds->changed);
        pthread_mutex_destroy(&worlds->mutex);
        free(worlds);
        worlds = older;
    }
}

/* A function that does not block says so from time to time. */
static int answer(struct comm *comm) {
    on_stream = false;
    comm->pending = ++comm->answers % 2 == 0;
    return comm->pending ? NCCL_IN_PROGRESS : NCCL_SUCCESS;
}

static int CommCount(void *comm, int *count) {
    *count = ((struct comm *)comm)->world->size;
    return fails("ncclCommCount") ? NCCL_FAILS : NCCL_SUCCESS;
}

static int CommUserRank(void *comm, int *of_rank) {
    *of_rank = ((struct comm *)comm)->rank;
    return fails("ncclCommUserRank") ? NCCL_FAILS : NCCL_SUCCESS;
}

static int CommCuDevice(void *comm, int *device) {
    (void)comm;
    *device = stand_in_device;
    return fails("ncclCommCuDevice") ? NCCL_FAILS : NCCL_SUCCESS;
}

static int CommSplit(void *comm, int color, int key, void **made,
                     struct vscan__ranks_nccl_config *config) {
    struct comm *const parent = comm;
    struct world *const world = parent->world;
    if (config->size != sizeof *config || config->magic != 0xcafebeef || config->blocking != 0 ||
        key != parent->rank)
        abort();
    if (fails("ncclCommSplit")) return NCCL_FAILS; /* and does not come */
    pthread_mutex_lock(&world->mutex);
    if (world->split == NULL) world->split = new_world(0, world->size);
    struct world *const split = world->split;
    pthread_mutex_lock(&split->mutex);
    if (color >= 0) split->size++, *made = new_comm(split, key);
    if (++split->come == split->expected) world->split = NULL; /* the next is another one */
    pthread_mutex_unlock(&split->mutex);
    pthread_mutex_unlock(&world->mutex);
    return NCCL_IN_PROGRESS;
}

static int CommGetAsyncError(void *comm, int *result) {
    struct comm *const c = comm;
    if (fails("ncclCommGetAsyncError")) return NCCL_FAILS;
    pthread_mutex_lock(&c->world->mutex);
    const bool waits = c->world->come < c->world->expected;
    pthread_mutex_unlock(&c->world->mutex);
    *result = waits || c->pending ? NCCL_IN_PROGRESS : NCCL_SUCCESS;
    c->pending = false;
    const bool now = asynchronous_error > 0 || (asynchronous_error < 0 && on_stream);
    if (now && rank == failing_rank && c->answers >= abs(asynchronous_error))
        *result = NCCL_FAILS, has_failed = true;
    return NCCL_SUCCESS;
}

static int CommFinalize(void *comm) {
    return fails("ncclCommFinalize") ? NCCL_FAILS : answer(comm);
}

static int CommDestroy(void *comm) {
    if (fails("ncclCommDestroy")) return NCCL_FAILS;
    if (((struct comm *)comm)->ended) abort();
    ((struct comm *)comm)->ended = true;
    return NCCL_SUCCESS;
}

/* Ends what this rank waits for; others go on waiting. */
static int CommAbort(void *comm) {
    struct comm *const c = comm;
    if (c->ended) abort();
    pthread_mutex_lock(&c->world->mutex);
    c->aborted = c->ended = true;
    pthread_cond_broadcast(&c->world->changed);
    pthread_mutex_unlock(&c->world->mutex);
    return NCCL_SUCCESS;
}

/* ---- Operations ------------------------------------------------------------------------------ */

enum { MOST_OPS = 4 * MOST_RANKS };
struct op {
    bool sends;
    int other;
    const void *from;
    void *to;
    size_t bytes;
};

/* Messages of one group of calls, and what becomes of them. */
struct messages {
    struct job job;
    struct comm *comm;
    int count;
    struct op ops[MOST_OPS];
    int64_t *gathered, *reduced; /* a reduction, of longs; gathered: its own memory */
    size_t longs;
    int how;
};

static void post(struct messages *m, struct message *own) {
    struct world *const world = m->comm->world;
    for (int i = 0; i < m->count; i++) {
        const struct op *const op = m->ops + i;
        if (!op->sends) continue;
        own[i] = (struct message){NULL, op->from, op->bytes, false};
        struct message **last = &world->messages[m->comm->rank][op->other];
        while (*last != NULL) last = &(*last)->next;
        *last = own + i;
    }
    pthread_cond_broadcast(&world->changed);
}

static void take_all(struct messages *m) {
    struct world *const world = m->comm->world;
    for (int i = 0; i < m->count && !m->comm->aborted; i++) {
        const struct op *const op = m->ops + i;
        if (op->sends) continue;
        struct message **const first = &world->messages[op->other][m->comm->rank];
        while (*first == NULL && !m->comm->aborted)
            pthread_cond_wait(&world->changed, &world->mutex);
        if (m->comm->aborted) return;
        if ((*first)->bytes != op->bytes) {
            fprintf(stderr, "rank %d expects %zu bytes of rank %d, gets %zu\n", m->comm->rank,
                    op->bytes, op->other, (*first)->bytes);
            abort();
        }
        memcpy(op->to, (*first)->from, op->bytes);
        (*first)->taken = true;
        *first = (*first)->next;
        pthread_cond_broadcast(&world->changed);
    }
}

/* Waits until all is taken; what is not, at the end, is taken back. */
static void end_own(struct messages *m, struct message *own) {
    struct world *const world = m->comm->world;
    for (int i = 0; i < m->count; i++) {
        if (!m->ops[i].sends) continue;
        while (!own[i].taken && !m->comm->aborted)
            pthread_cond_wait(&world->changed, &world->mutex);
        struct message **at = &world->messages[m->comm->rank][m->ops[i].other];
        while (*at != NULL && *at != own + i) at = &(*at)->next;
        if (*at != NULL) *at = own[i].next;
    }
}

static void reduce(const struct messages *m) {
    const int size = m->comm->world->size;
    for (size_t i = 0; i < m->longs; i++) {
        int64_t all = m->gathered[i];
        for (int r = 1; r < size; r++) {
            const int64_t one = m->gathered[(size_t)r * m->longs + i];
            all = m->how == NCCL_SUM ? all + one : one < all ? one : all;
        }
        m->reduced[i] = all;
    }
}

static void run_messages(struct job *job) {
    struct messages *const m = (struct messages *)job;
    struct message own[MOST_OPS];
    pthread_mutex_lock(&m->comm->world->mutex);
    post(m, own);
    take_all(m);
    end_own(m, own);
    const bool aborted = m->comm->aborted;
    pthread_mutex_unlock(&m->comm->world->mutex);
    if (m->gathered != NULL && !aborted) reduce(m);
    free(m->gathered);
}

static _Thread_local struct messages *grouped; /* between GroupStart and GroupEnd */
static _Thread_local struct stream *grouped_on;
static _Thread_local bool in_group;

static struct messages *new_messages(struct comm *comm) {
    struct messages *const m = need(sizeof *m);
    m->job.run = run_messages;
    m->comm = comm;
    return m;
}

static void add(struct messages *m, struct op op) {
    if (m->count == MOST_OPS || op.bytes == 0) abort();
    m->ops[m->count++] = op;
}

static int add_or_run(struct comm *comm, struct op op, void *stream) {
    if (!in_group) {
        struct messages *const m = new_messages(comm);
        add(m, op);
        enqueue(stream, &m->job);
        return answer(comm);
    }
    if (grouped == NULL) grouped = new_messages(comm);
    grouped_on = stream;
    add(grouped, op);
    return NCCL_SUCCESS;
}

static int GroupStart(void) {
    if (in_group) abort();
    if (fails("ncclGroupStart")) return NCCL_FAILS;
    in_group = true;
    return NCCL_SUCCESS;
}

static int GroupEnd(void) {
    struct messages *const m = grouped;
    if (!in_group) abort();
    in_group = false;
    grouped = NULL;
    if (fails("ncclGroupEnd")) {
        free(m);
        return NCCL_FAILS;
    }
    if (m == NULL) return NCCL_SUCCESS;
    struct comm *const comm = m->comm;
    enqueue(grouped_on, &m->job);
    return answer(comm);
}

static int Send(const void *from, size_t n, int type, int to, void *comm, void *stream) {
    if (type != NCCL_INT8) abort();
    if (fails("ncclSend")) return NCCL_FAILS;
    return add_or_run(comm, (struct op){.sends = true, .other = to, .from = from, .bytes = n},
                      stream);
}

static int Recv(void *to, size_t n, int type, int from, void *comm, void *stream) {
    if (type != NCCL_INT8) abort();
    if (fails("ncclRecv")) return NCCL_FAILS;
    return add_or_run(comm, (struct op){.other = from, .to = to, .bytes = n}, stream);
}

/* From each rank to each, also to itself. */
static void add_all(struct messages *m, const void *own, char *all, size_t bytes) {
    for (int r = 0; r < m->comm->world->size; r++) {
        add(m, (struct op){.sends = true, .other = r, .from = own, .bytes = bytes});
        add(m, (struct op){.other = r, .to = all + (size_t)r * bytes, .bytes = bytes});
    }
}

static int AllGather(const void *own, void *all, size_t n, int type, void *comm, void *stream) {
    if (type != NCCL_INT8) abort();
    if (fails("ncclAllGather")) return NCCL_FAILS;
    struct messages *const m = new_messages(comm);
    add_all(m, own, all, n);
    enqueue(stream, &m->job);
    return answer(comm);
}

static int AllReduce(const void *own, void *all, size_t n, int type, int op, void *comm,
                     void *stream) {
    if (type != NCCL_INT64 || (op != NCCL_SUM && op != NCCL_MIN)) abort();
    if (fails("ncclAllReduce")) return NCCL_FAILS;
    struct messages *const m = new_messages(comm);
    const size_t size = (size_t)m->comm->world->size;
    m->gathered = need(size * n * sizeof *m->gathered);
    m->reduced = all;
    m->longs = n;
    m->how = op;
    add_all(m, own, (char *)m->gathered, n * sizeof *m->gathered);
    enqueue(stream, &m->job);
    return answer(comm);
}

static const char *GetErrorString(int result) {
    return result == NCCL_FAILS ? "the stand-in fails" : "another error";
}

/* ---- dlopen and dlsym ------------------------------------------------------------------------ */

typedef void (*function)(void);
static const struct named {
    const char *name;
    function function;
} of_nccl[] =
    {
#define X(name, arguments) {"nccl" #name, (function)name},
        NCCL_FUNCTIONS(X)
#undef X
            {"ncclGetErrorString", (function)GetErrorString},
        {NULL, NULL}},
  of_driver[] = {{"cuDeviceGet", (function)device_get},
                 {"cuDevicePrimaryCtxRetain", (function)retain},
                 {"cuDevicePrimaryCtxRelease_v2", (function)release},
                 {"cuCtxPushCurrent_v2", (function)push},
                 {"cuCtxPopCurrent_v2", (function)pop},
                 {"cuMemHostRegister_v2", (function)lock},
                 {"cuMemHostUnregister", (function)unlock},
                 {"cuStreamCreate", (function)stream_create},
                 {"cuStreamQuery", (function)stream_query},
                 {"cuStreamSynchronize", (function)stream_synchronize},
                 {"cuStreamDestroy_v2", (function)stream_destroy},
                 {"cuCtxEnablePeerAccess", (function)enable_peer},
                 {"cuMemcpyAsync", (function)copy},
                 {"cuMemcpyPeerAsync", (function)copy_peer},
                 {NULL, NULL}};

void *__real_dlopen(const char *name, int flags);
void *__wrap_dlopen(const char *name, int flags);
void *__wrap_dlopen(const char *name, int flags) {
    const bool nccl = strcmp(name, "libnccl.so.2") == 0;
    if (!stands_in) return __real_dlopen(name, flags);
    if (nccl) return has_nccl ? (void *)(uintptr_t)of_nccl : NULL;
    return has_driver ? (void *)(uintptr_t)of_driver : NULL;
}

void *__real_dlsym(void *library, const char *name);
void *__wrap_dlsym(void *library, const char *name);
void *__wrap_dlsym(void *library, const char *name) {
    if (library != of_nccl && library != of_driver) return __real_dlsym(library, name);
    if (lacks != NULL && strcmp(name, lacks) == 0) return NULL;
    void *found = NULL;
    for (const struct named *at = library; at->name != NULL; at++)
        if (strcmp(at->name, name) == 0) memcpy(&found, &at->function, sizeof found);
    return found;
}

int __real_dlclose(void *library);
int __wrap_dlclose(void *library);
int __wrap_dlclose(void *library) {
    return library == of_nccl || library == of_driver ? 0 : __real_dlclose(library);
}
