/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting for a lock, by the kernel's futex. */
#include "lock.h"

#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    LOOKS = 100,            /* before a thread sleeps: the shortest calls are over by then */
    SLEEP = 5 * 1000 * 1000 /* nanoseconds at most until it looks again, see lock.h */
};

static void pause_a_little(void) {
#if defined __SSE2__
    __builtin_ia32_pause();
#endif
}

void vscan__lock_wait(struct vscan__lock *lock) {
    for (int looks = 0; looks < LOOKS; looks++) {
        if (__atomic_load_n(&lock->held, __ATOMIC_RELAXED) == 0 &&
            __atomic_exchange_n(&lock->held, 1, __ATOMIC_ACQUIRE) == 0)
            return;
        pause_a_little();
    }
    __atomic_fetch_add(&lock->waiting, 1, __ATOMIC_SEQ_CST);
    while (__atomic_exchange_n(&lock->held, 1, __ATOMIC_ACQUIRE) != 0) {
        const struct timespec most = {.tv_nsec = SLEEP};
        syscall(SYS_futex, &lock->held, FUTEX_WAIT_PRIVATE, 1, &most, NULL, 0);
    }
    __atomic_fetch_sub(&lock->waiting, 1, __ATOMIC_RELAXED);
}

void vscan__lock_wake(struct vscan__lock *lock) {
    syscall(SYS_futex, &lock->held, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}
