/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Handles and their pools. What a caller holds of a context, a buffer or a carry is not its address but
 * a number in the guise of a pointer:
 *
 *     bits 62, 63   01, which no address of a program has
 *     bits 60, 61   the kind
 *     bits 29 - 59  the generation
 *     bits 3 - 28   the number of the slot
 *     bits 0 - 2    0, as in the address of a struct
 *
 * Whatever is passed as a handle, nothing but slots is read to find out whether it is one. Each handle of
 * a slot has another generation, and a slot that has had all generations is never used again: so a
 * handle that was destroyed is refused for ever. The first generation goes by the number, so that a
 * handle to which something was added is not one of the slots beside it.
 */
#ifndef VSCAN_HANDLE_H
#define VSCAN_HANDLE_H

#include <pthread.h>
#include <stddef.h>

#include "core/internal.h"

_Static_assert(sizeof(void *) == 8, "a handle has room for a generation");

#define VSCAN__LIVE (UINT64_C(1) << 62)
enum { VSCAN__KIND_AT = 60, VSCAN__GENERATION_AT = 29, VSCAN__NUMBER_AT = 3 };
enum { VSCAN__NUMBER_BITS = VSCAN__GENERATION_AT - VSCAN__NUMBER_AT };

#ifndef VSCAN__GENERATIONS /* the tests have fewer of them */
#define VSCAN__GENERATIONS (UINT64_C(1) << (VSCAN__KIND_AT - VSCAN__GENERATION_AT))
#endif

enum vscan__kind { vscan__kind_ctx = 1, vscan__kind_buffer = 2, vscan__kind_carry = 3 };

/* Slab k has the slots of numbers (first << k) to (first << k) * 2 - 1; first is a power of two. The
   first slab, with all handles of most programs, is static: to find a slot there takes no load. A slot
   is whole lines of the cache. */
enum {
    VSCAN__SLABS = VSCAN__NUMBER_BITS,
    VSCAN__CTX_SLOT = 1024,
    VSCAN__CTX_FIRST = 16,
    VSCAN__BUFFER_SLOT = 128,
    VSCAN__BUFFER_FIRST = 256,
    VSCAN__CARRY_SLOT = 128,
    VSCAN__CARRY_FIRST = 64
};

_Static_assert(sizeof(vscan_ctx) <= VSCAN__CTX_SLOT, "a context fits in its slot");
_Static_assert(sizeof(vscan_buffer) <= VSCAN__BUFFER_SLOT, "a buffer fits in its slot");
_Static_assert(sizeof(vscan_carry) <= VSCAN__CARRY_SLOT, "a carry fits in its slot");

struct vscan__free_slot;

struct vscan__pool {
    pthread_mutex_t mutex; /* guards everything but end and slab, which readers use unlocked */
    size_t slot;           /* bytes of a slot */
    uint64_t first;        /* slots of slab 0 */
    enum vscan__kind kind;
    uint64_t end; /* of the numbers; stored (release) after the newest slab */
    char *slab[VSCAN__SLABS];
    uint64_t next;                 /* the first number that has never been used */
    uint64_t used;                 /* slots in use now */
    struct vscan__free_slot *free; /* those that can be used again */
};

extern struct vscan__pool vscan__ctx_pool, vscan__buffer_pool, vscan__carry_pool;
extern char vscan__ctx_slab[VSCAN__CTX_FIRST * VSCAN__CTX_SLOT];
extern char vscan__buffer_slab[VSCAN__BUFFER_FIRST * VSCAN__BUFFER_SLOT];
extern char vscan__carry_slab[VSCAN__CARRY_FIRST * VSCAN__CARRY_SLOT];

/*
 * Forks. None takes a lock, so one may come at any moment: in a signal handler that interrupts a thread
 * which has a pool, or has asked for it; in the middle of another thread's call. The child finds every
 * pool between two of its states, see handle.c, and begins with mutexes of its own. Where the handler of
 * pthread_atfork does not run (_Fork, clone, a fork through another copy of the C library, as when this
 * library was loaded by dlmopen), the child begins when it first looks for a handle: the word below is in
 * memory that a fork fills with 0.
 */
enum vscan__beginning { vscan__not_begun, vscan__begins, vscan__begun };

extern unsigned int *vscan__process;

/* Whether a child would find out that it is one: without that, the process has no threads. */
extern bool vscan__notices_forks;

/* What else a child begins with, set when the library is loaded; or NULL. */
extern void (*vscan__begin_threads)(void);

void vscan__begin_process(void);

/* Before a call takes anything: in a child, once for all of its threads. */
static inline void vscan__begin(void) {
    if (__builtin_expect(__atomic_load_n(vscan__process, __ATOMIC_ACQUIRE) != vscan__begun, 0))
        vscan__begin_process();
}

/* A slot, zero but for its word, with a handle that is not live yet; NULL where there is no memory. */
void *vscan__pool_take(struct vscan__pool *pool);

/* Ends the slot's handle, and frees the slot. */
void vscan__pool_give(struct vscan__pool *pool, void *slot);

/* The slot of any number, or NULL. */
void *vscan__pool_slot(const struct vscan__pool *pool, uint64_t number);

/* Whether a pointer that is no live handle was one of this pool's, as far as can be told. */
bool vscan__pool_had(const struct vscan__pool *pool, const void *handle);

/*
 * Every slot begins with its word: while its handle is live, the handle; while not, the handle with
 * VSCAN__LIVE and the bits of the number inverted; 0 before the first one. So a word that is not live
 * equals nothing that leads to its slot. Words are atomic: another thread may create or destroy a handle
 * in the same slot meanwhile. That is a caller's mistake, which must do no harm here.
 */
#define VSCAN__NUMBERS ((UINT64_C(1) << VSCAN__NUMBER_BITS) - 1)
#define VSCAN__INVERTED (VSCAN__LIVE | VSCAN__NUMBERS << VSCAN__NUMBER_AT)

static inline uint64_t vscan__word(const void *slot) {
    return __atomic_load_n((const uint64_t *)slot, __ATOMIC_ACQUIRE);
}

static inline bool vscan__is_live(const void *slot) {
    return (vscan__word(slot) & VSCAN__LIVE) != 0;
}

/* Makes the slot's handle live; its value, for the caller. */
static inline void *vscan__publish(void *slot) {
    const uint64_t handle = vscan__word(slot) ^ VSCAN__INVERTED;
    __atomic_store_n((uint64_t *)slot, handle, __ATOMIC_RELEASE);
    return (void *)(uintptr_t)handle;
}

/* The handle, a live one, is refused from now on; the slot stays in use. */
static inline void vscan__unpublish(void *slot) {
    __atomic_store_n((uint64_t *)slot, vscan__word(slot) ^ VSCAN__INVERTED, __ATOMIC_RELEASE);
}

static inline uint64_t vscan__number(uint64_t handle) {
    return handle >> VSCAN__NUMBER_AT & VSCAN__NUMBERS;
}

/* What a handle, which may be any pointer, is the live handle of; or NULL. slab, slot and first are the
   pool's, as constants. */
static inline void *vscan__pool_find(const struct vscan__pool *pool, char *slab, size_t slot,
                                     uint64_t first, const void *handle) {
    vscan__begin();
    const uint64_t word = (uint64_t)(uintptr_t)handle, number = vscan__number(word);
    void *found;
    if (__builtin_expect(number - first < first, 1))
        found = slab + (number - first) * slot;
    else if ((found = vscan__pool_slot(pool, number)) == NULL)
        return NULL;
    return __builtin_expect(vscan__word(found) == word, 1) ? found : NULL;
}

static inline vscan_ctx *vscan__find_ctx(const void *handle) {
    return vscan__pool_find(&vscan__ctx_pool, vscan__ctx_slab, VSCAN__CTX_SLOT, VSCAN__CTX_FIRST,
                            handle);
}

static inline vscan_buffer *vscan__find_buffer(const void *handle) {
    return vscan__pool_find(&vscan__buffer_pool, vscan__buffer_slab, VSCAN__BUFFER_SLOT,
                            VSCAN__BUFFER_FIRST, handle);
}

static inline vscan_carry *vscan__find_carry(const void *handle) {
    return vscan__pool_find(&vscan__carry_pool, vscan__carry_slab, VSCAN__CARRY_SLOT,
                            VSCAN__CARRY_FIRST, handle);
}

#endif
