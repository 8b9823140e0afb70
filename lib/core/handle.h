/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pools of handles. A handle that a caller passes may be anything: destroyed, of the wrong kind, any
 * other pointer. So a handle's memory always comes from a pool, pools are never freed, and an address
 * is looked up in the pool before anything there is read.
 */
#ifndef VSCAN_HANDLE_H
#define VSCAN_HANDLE_H

#include <pthread.h>
#include <stddef.h>

#include "core/internal.h"

/* Slab k has (first << k) slots, so 32 slabs are more than any memory holds. The bytes of a slot are a
   power of two, which makes it fast to tell whether an address is one; a buffer's slot is a line of the
   cache. */
enum {
    VSCAN__SLABS = 32,
    VSCAN__CTX_SLOT = 1024,
    VSCAN__CTX_FIRST = 16,
    VSCAN__BUFFER_SLOT = 64,
    VSCAN__BUFFER_FIRST = 256,
    VSCAN__CARRY_SLOT = 64,
    VSCAN__CARRY_FIRST = 64
};

_Static_assert(sizeof(vscan_ctx) <= VSCAN__CTX_SLOT, "a context fits in its slot");
_Static_assert(sizeof(vscan_buffer) <= VSCAN__BUFFER_SLOT, "a buffer fits in its slot");
_Static_assert(sizeof(vscan_carry) <= VSCAN__CARRY_SLOT, "a carry fits in its slot");

struct vscan__free_slot;

struct vscan__pool {
    pthread_mutex_t mutex; /* guards everything but slabs and start, which readers use unlocked */
    size_t slot;           /* bytes of a slot */
    size_t first;          /* slots of slab 0 */
    int slabs;             /* stored (release) after the slab's start, loaded (acquire) before it */
    uintptr_t start[VSCAN__SLABS];
    void *memory[VSCAN__SLABS]; /* the same as pointers: keeps slabs reachable for leak checkers */
    struct vscan__free_slot *oldest, *newest; /* freed first, freed last */
    size_t free;
};

extern struct vscan__pool vscan__ctx_pool;
extern struct vscan__pool vscan__buffer_pool;
extern struct vscan__pool vscan__carry_pool;

/* A slot, zero but for its tag, which is VSCAN__TAG_FREE; NULL where there is no memory. */
void *vscan__pool_take(struct vscan__pool *pool);

/* Frees a slot. Its tag is VSCAN__TAG_FREE from now on. */
void vscan__pool_give(struct vscan__pool *pool, void *slot);

/*
 * Tags are atomic: another thread may create or destroy a handle in the same slot meanwhile. That is a
 * caller's mistake, which must do no harm here.
 */
static inline uint64_t vscan__tag(const uint64_t *tag) {
    return __atomic_load_n(tag, __ATOMIC_ACQUIRE);
}

static inline void vscan__set_tag(uint64_t *tag, uint64_t value) {
    __atomic_store_n(tag, value, __ATOMIC_RELEASE);
}

/* Whether p is a slot of the pool, of which slot and first are constants. */
static inline bool vscan__pool_has(const struct vscan__pool *pool, size_t slot, size_t first,
                                   const void *p) {
    int slabs = __atomic_load_n(&pool->slabs, __ATOMIC_ACQUIRE);
    for (int s = 0; s < slabs; s++) {
        uintptr_t offset = (uintptr_t)p - pool->start[s];
        if (offset < slot * first << s) return offset % slot == 0;
    }
    return false;
}

static inline bool vscan__was_ctx(const void *p) {
    return vscan__pool_has(&vscan__ctx_pool, VSCAN__CTX_SLOT, VSCAN__CTX_FIRST, p);
}

static inline bool vscan__was_buffer(const void *p) {
    return vscan__pool_has(&vscan__buffer_pool, VSCAN__BUFFER_SLOT, VSCAN__BUFFER_FIRST, p);
}

static inline bool vscan__was_carry(const void *p) {
    return vscan__pool_has(&vscan__carry_pool, VSCAN__CARRY_SLOT, VSCAN__CARRY_FIRST, p);
}

/* Whether p, which may be any address, is a live context, a live buffer, a live carry. */
static inline bool vscan__is_ctx(const void *p) {
    return vscan__was_ctx(p) && vscan__tag(&((const vscan_ctx *)p)->tag) == VSCAN__TAG_CTX;
}

static inline bool vscan__is_buffer(const void *p) {
    return vscan__was_buffer(p) && vscan__tag(&((const vscan_buffer *)p)->tag) == VSCAN__TAG_BUFFER;
}

static inline bool vscan__is_carry(const void *p) {
    return vscan__was_carry(p) && vscan__tag(&((const vscan_carry *)p)->tag) == VSCAN__TAG_CARRY;
}

#endif
