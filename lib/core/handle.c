/* SPDX-License-Identifier: Apache-2.0 */
/* Pools of handles: slabs that double in size, and a queue of free slots. */
#include "core/handle.h"

#include <stdlib.h>
#include <string.h>

/* What a slot holds while it is free: the tag where every handle has it, and the queue. */
struct vscan__free_slot {
    uint64_t tag;
    struct vscan__free_slot *next;
};

struct vscan__pool vscan__ctx_pool = {
    .mutex = PTHREAD_MUTEX_INITIALIZER, .slot = VSCAN__CTX_SLOT, .first = VSCAN__CTX_FIRST};
struct vscan__pool vscan__buffer_pool = {
    .mutex = PTHREAD_MUTEX_INITIALIZER, .slot = VSCAN__BUFFER_SLOT, .first = VSCAN__BUFFER_FIRST};
struct vscan__pool vscan__carry_pool = {
    .mutex = PTHREAD_MUTEX_INITIALIZER, .slot = VSCAN__CARRY_SLOT, .first = VSCAN__CARRY_FIRST};

static void append(struct vscan__pool *pool, void *memory) {
    struct vscan__free_slot *slot = memory;
    slot->next = NULL;
    if (pool->newest != NULL)
        pool->newest->next = slot;
    else
        pool->oldest = slot;
    pool->newest = slot;
    pool->free++;
}

/* Adds a slab; where there is no memory for one, leaves the pool as it is. */
static void grow(struct vscan__pool *pool) {
    int s = pool->slabs;
    if (s == VSCAN__SLABS) return;
    size_t slots = pool->first << s;
    void *aligned;
    if (posix_memalign(&aligned, VSCAN__BUFFER_SLOT, slots * pool->slot) != 0) return;
    char *memory = memset(aligned, 0, slots * pool->slot);
    pool->memory[s] = memory;
    pool->start[s] = (uintptr_t)memory;
    for (size_t i = 0; i < slots; i++) {
        struct vscan__free_slot *slot = (void *)(memory + i * pool->slot);
        slot->tag = VSCAN__TAG_FREE;
        append(pool, slot);
    }
    __atomic_store_n(&pool->slabs, s + 1, __ATOMIC_RELEASE);
}

void *vscan__pool_take(struct vscan__pool *pool) {
    pthread_mutex_lock(&pool->mutex);
    /* A slot waits in the queue before it is used again, so that a stale handle is recognised: at least
       half of slab 0 is always waiting. */
    if (pool->free <= pool->first / 2) grow(pool);
    struct vscan__free_slot *slot = pool->oldest;
    if (slot != NULL) {
        pool->oldest = slot->next;
        if (pool->oldest == NULL) pool->newest = NULL;
        pool->free--;
    }
    pthread_mutex_unlock(&pool->mutex);
    if (slot != NULL) memset((char *)slot + sizeof slot->tag, 0, pool->slot - sizeof slot->tag);
    return slot;
}

void vscan__pool_give(struct vscan__pool *pool, void *slot) {
    vscan__set_tag(slot, VSCAN__TAG_FREE);
    pthread_mutex_lock(&pool->mutex);
    append(pool, slot);
    pthread_mutex_unlock(&pool->mutex);
}
