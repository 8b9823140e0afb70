/* SPDX-License-Identifier: Apache-2.0 */
/* Pools of handles: slabs that double in size, a list of free slots; what a fork and an unload ask. */
#include "core/handle.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* What a slot holds while it is free: its word, as every slot, and the list. */
struct vscan__free_slot {
    uint64_t word;
    struct vscan__free_slot *next;
};

#define POOL(KIND, of)                                                                             \
    _Alignas(64) char vscan__##of##_slab[VSCAN__##KIND##_FIRST * VSCAN__##KIND##_SLOT];            \
    struct vscan__pool vscan__##of##_pool = {.mutex = PTHREAD_MUTEX_INITIALIZER,                   \
                                             .slot = VSCAN__##KIND##_SLOT,                         \
                                             .first = VSCAN__##KIND##_FIRST,                       \
                                             .kind = vscan__kind_##of,                             \
                                             .end = 2 * VSCAN__##KIND##_FIRST,                     \
                                             .slab = {vscan__##of##_slab},                         \
                                             .next = VSCAN__##KIND##_FIRST}
POOL(CTX, ctx);
POOL(BUFFER, buffer);
POOL(CARRY, carry);

static struct vscan__pool *const pools[] = {&vscan__ctx_pool, &vscan__buffer_pool,
                                            &vscan__carry_pool};
enum { POOLS = sizeof pools / sizeof pools[0] };

/* ---- Handles --------------------------------------------------------------------------------- */

#define GENERATION_BITS ((VSCAN__GENERATIONS - 1) << VSCAN__GENERATION_AT)

/* The first handle of a slot. Multiplying by the odd number near 2^32 divided by the golden ratio
   spreads the generations. */
static uint64_t first_handle(const struct vscan__pool *pool, uint64_t number) {
    return VSCAN__LIVE | (uint64_t)pool->kind << VSCAN__KIND_AT |
           (number * UINT64_C(0x9e3779b1) << VSCAN__GENERATION_AT & GENERATION_BITS) |
           number << VSCAN__NUMBER_AT;
}

/* The next one of the same slot; after the last one, the first. */
static uint64_t next_handle(uint64_t handle) {
    return (handle & ~GENERATION_BITS) |
           ((handle + (UINT64_C(1) << VSCAN__GENERATION_AT)) & GENERATION_BITS);
}

/* The handle that a slot has, had last, or will have next. */
static uint64_t handle_in(const void *slot) {
    const uint64_t word = vscan__word(slot);
    return (word & VSCAN__LIVE) != 0 ? word : word ^ VSCAN__INVERTED;
}

/* Gives a slot a handle that is not live. */
static void set_handle(struct vscan__free_slot *slot, uint64_t handle) {
    __atomic_store_n(&slot->word, handle ^ VSCAN__INVERTED, __ATOMIC_RELEASE);
}

void *vscan__pool_slot(const struct vscan__pool *pool, uint64_t number) {
    if (number < pool->first || number >= __atomic_load_n(&pool->end, __ATOMIC_ACQUIRE))
        return NULL;
    const int top = 63 - __builtin_clzll(number);
    return pool->slab[top - __builtin_ctzll(pool->first)] +
           (number - (UINT64_C(1) << top)) * pool->slot;
}

bool vscan__pool_had(const struct vscan__pool *pool, const void *handle) {
    const uint64_t word = (uint64_t)(uintptr_t)handle, number = vscan__number(word);
    const void *slot = vscan__pool_slot(pool, number);
    if (slot == NULL || vscan__word(slot) == 0) return false;
    const uint64_t first = first_handle(pool, number);
    return ((word ^ first) & ~GENERATION_BITS) == 0 &&
           ((word - first) & GENERATION_BITS) <= ((handle_in(slot) - first) & GENERATION_BITS);
}

/* ---- Slots ----------------------------------------------------------------------------------- */

/*
 * A fork may copy a pool at any point of these functions. So each of them changes the pool by one store,
 * of `free`, `next` or `end`, which comes after all that it stands for. A slot that was being taken or
 * given back then belongs to nobody in the child; a slab without its end is allocated once more.
 */
static void set_free(struct vscan__pool *pool, struct vscan__free_slot *slot) {
    __atomic_store_n(&pool->free, slot, __ATOMIC_RELEASE);
}

static void set_next(struct vscan__pool *pool, uint64_t next) {
    __atomic_store_n(&pool->next, next, __ATOMIC_RELEASE);
}

/* Adds a slab. false: there is no memory for one, or no number. */
static bool grow(struct vscan__pool *pool) {
    const int k = __builtin_ctzll(pool->end) - __builtin_ctzll(pool->first);
    const uint64_t slots = pool->end; /* it ends at twice the number that it begins with */
    void *memory;
    if (slots > VSCAN__NUMBERS / 2 ||
        posix_memalign(&memory, VSCAN__BUFFER_SLOT, slots * pool->slot) != 0)
        return false;
    pool->slab[k] = memset(memory, 0, slots * pool->slot);
    __atomic_store_n(&pool->end, pool->end + slots, __ATOMIC_RELEASE);
    return true;
}

static void *take(struct vscan__pool *pool) {
    struct vscan__free_slot *slot = pool->free;
    if (slot != NULL) {
        set_free(pool, slot->next);
    } else {
        if (pool->next == pool->end && !grow(pool)) return NULL;
        slot = vscan__pool_slot(pool, pool->next);
        set_handle(slot, first_handle(pool, pool->next));
        set_next(pool, pool->next + 1);
    }
    pool->used++;
    return slot;
}

void *vscan__pool_take(struct vscan__pool *pool) {
    vscan__begin();
    pthread_mutex_lock(&pool->mutex);
    struct vscan__free_slot *slot = take(pool);
    pthread_mutex_unlock(&pool->mutex);
    if (slot != NULL) memset((char *)slot + sizeof slot->word, 0, pool->slot - sizeof slot->word);
    return slot;
}

void vscan__pool_give(struct vscan__pool *pool, void *slot) {
    struct vscan__free_slot *freed = slot;
    const uint64_t handle = handle_in(slot), next = next_handle(handle);
    const bool had_all = next == first_handle(pool, vscan__number(handle));
    set_handle(freed, had_all ? handle : next);
    pthread_mutex_lock(&pool->mutex);
    pool->used--;
    if (!had_all) {
        freed->next = pool->free;
        set_free(pool, freed);
    }
    pthread_mutex_unlock(&pool->mutex);
}

/* ---- Fork ------------------------------------------------------------------------------------ */

/* Where the system has no memory that forks fill with 0. */
static unsigned int process = vscan__begun;
unsigned int *vscan__process = &process;
void (*vscan__begin_threads)(void);
bool vscan__notices_forks;

static pid_t begun_by; /* 0: the process that loaded the library */

/* The threads that were in a call on a context are not in the child: nobody will unlock it, and what it
   holds may be half changed. It is refused from now on, and what it holds is left as it is. */
static void lose_contexts(void) {
    const struct vscan__pool *pool = &vscan__ctx_pool;
    for (uint64_t number = pool->first; number < pool->next; number++) {
        vscan_ctx *ctx = vscan__pool_slot(pool, number);
        if (ctx->references == 0) continue; /* free, or being made */
        if (pthread_mutex_trylock(&ctx->mutex) == 0) {
            pthread_mutex_unlock(&ctx->mutex);
        } else {
            set_handle((struct vscan__free_slot *)(void *)ctx, handle_in(ctx)); /* live or not */
            ctx->lost = true;
        }
    }
}

/* No thread of the child is in a call yet. A fork in here leaves nothing half done: the child's child
   begins as this one did. */
void vscan__begin_process(void) {
    unsigned int state = vscan__not_begun;
    if (__atomic_compare_exchange_n(vscan__process, &state, vscan__begins, false, __ATOMIC_ACQUIRE,
                                    __ATOMIC_ACQUIRE)) {
        for (int p = 0; p < POOLS; p++) pthread_mutex_init(&pools[p]->mutex, NULL);
        lose_contexts();
        if (vscan__begin_threads != NULL) vscan__begin_threads();
        begun_by = getpid();
        __atomic_store_n(vscan__process, vscan__begun, __ATOMIC_RELEASE);
    }
    while (__atomic_load_n(vscan__process, __ATOMIC_ACQUIRE) != vscan__begun) sched_yield();
}

/* Unless it has begun: in a handler of the program's own, which came before this one. */
static void begin_child(void) {
    if (begun_by != getpid()) __atomic_store_n(vscan__process, vscan__not_begun, __ATOMIC_RELAXED);
    vscan__begin();
}

/* One of the two is enough for most forks. */
static __attribute__((constructor)) void prepare_for_forks(void) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    unsigned int *word =
        mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (word != MAP_FAILED && madvise(word, page, MADV_WIPEONFORK) == 0) {
        *word = vscan__begun;
        vscan__process = word;
        vscan__notices_forks = true;
    } else if (word != MAP_FAILED) {
        munmap(word, page);
    }
    if (pthread_atfork(NULL, NULL, begin_child) == 0) vscan__notices_forks = true;
}

/* ---- Unloading ------------------------------------------------------------------------------- */

/* A pool of which nothing is in use keeps its first slab alone. */
static void shrink(struct vscan__pool *pool) {
    const uint64_t end = 2 * pool->first;
    for (struct vscan__free_slot **link = &pool->free; *link != NULL;)
        if (vscan__number(handle_in(*link)) < end)
            link = &(*link)->next;
        else
            *link = (*link)->next;
    if (pool->next > end) set_next(pool, end);
    __atomic_store_n(&pool->end, end, __ATOMIC_RELEASE);
    for (int k = 1; k < VSCAN__SLABS; k++) {
        free(pool->slab[k]);
        pool->slab[k] = NULL;
    }
}

/* dlclose, or the end of the process, when other threads may still make handles. */
static __attribute__((destructor)) void shrink_pools(void) {
    for (int p = 0; p < POOLS; p++) {
        pthread_mutex_lock(&pools[p]->mutex);
        if (pools[p]->used == 0) shrink(pools[p]);
        pthread_mutex_unlock(&pools[p]->mutex);
    }
}
