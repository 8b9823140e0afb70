/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A context's lock: one atomic operation to take it, a store and a look to give it back. Taking and
 * giving back a mutex of the C library are two such operations and two calls, which took a third of
 * the time of the shortest scans.
 *
 * Who gives back looks for threads that wait only after its store, and a processor may do the two in
 * the other order: then a thread that has just begun to wait is not woken. So nobody waits longer
 * than a few milliseconds without looking again. All zero is a lock that nobody holds, and nothing
 * need be done at its end: a thread may still look at `waiting` when another has taken the lock
 * since and given the context back to its pool, where the memory stays.
 */
#ifndef VSCAN_LOCK_H
#define VSCAN_LOCK_H

#include <stdint.h>

struct vscan__lock {
    uint32_t held;    /* 0 or 1 */
    uint32_t waiting; /* threads */
};

/* Waits for a lock that was held, and takes it. */
void vscan__lock_wait(struct vscan__lock *lock);

/* Wakes one of the threads that wait. */
void vscan__lock_wake(struct vscan__lock *lock);

static inline void vscan__lock_take(struct vscan__lock *lock) {
    if (__builtin_expect(__atomic_exchange_n(&lock->held, 1, __ATOMIC_ACQUIRE) != 0, 0))
        vscan__lock_wait(lock);
}

static inline void vscan__lock_give(struct vscan__lock *lock) {
    __atomic_store_n(&lock->held, 0, __ATOMIC_RELEASE);
    if (__builtin_expect(__atomic_load_n(&lock->waiting, __ATOMIC_RELAXED) != 0, 0))
        vscan__lock_wake(lock);
}

#endif
