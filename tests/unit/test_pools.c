/* SPDX-License-Identifier: Apache-2.0 */
/* The pools of handles by themselves, with so few generations that a slot has had them all. Neither
   backend has a part in it. */
#define VSCAN__GENERATIONS UINT64_C(16)
#include "core/handle.c"

#include "children.h"
#include "harness.h"

#include <stdio.h>

enum { LIVES = 5000, LIMIT = 60 }; /* seconds until a process is taken for hung */

static int by_value(const void *a, const void *b) {
    const uintptr_t x = *(const uintptr_t *)a, y = *(const uintptr_t *)b;
    return (x > y) - (x < y);
}

static void every_generation(void **state) {
    (void)state;
    static void *handles[LIVES];
    struct vscan__pool *pool = &vscan__buffer_pool;
    for (int i = 0; i < LIVES; i++) {
        void *slot = vscan__pool_take(pool);
        assert_non_null(slot);
        handles[i] = vscan__publish(slot);
        assert_ptr_equal(vscan__find_buffer(handles[i]), slot);
        assert_null(vscan__find_carry(handles[i]));
        assert_null(vscan__find_ctx(handles[i]));
        vscan__pool_give(pool, slot);
        assert_null(vscan__find_buffer(handles[i]));
        assert_true(vscan__pool_had(pool, handles[i]));
        assert_false(vscan__pool_had(&vscan__ctx_pool, handles[i]));
        if (i >= 100) assert_true(vscan__pool_had(pool, handles[i - 100]));
    }
    /* one slot after the other, each of them 16 times */
    assert_int_equal(pool->next - pool->first, (LIVES + 15) / 16);
    assert_int_equal(pool->used, 0);
    for (int i = 0; i < LIVES; i++) assert_null(vscan__find_buffer(handles[i]));
    qsort(handles, LIVES, sizeof handles[0], by_value);
    for (int i = 1; i < LIVES; i++) assert_ptr_not_equal(handles[i], handles[i - 1]);
}

/* Unloading frees pools whose handles are all gone, and no others. */
static void emptied(void **state) {
    (void)state;
    struct vscan__pool *pool = &vscan__carry_pool;
    void *slots[3 * VSCAN__CARRY_FIRST];
    const int count = sizeof slots / sizeof slots[0];
    for (int i = 0; i < count; i++) vscan__publish(slots[i] = vscan__pool_take(pool));
    void *handle = (void *)(uintptr_t)vscan__word(slots[0]);
    for (int i = 1; i < count; i++) vscan__pool_give(pool, slots[i]);
    shrink_pools();
    assert_ptr_equal(vscan__find_carry(handle), slots[0]);
    vscan__pool_give(pool, slots[0]);
    shrink_pools();
    assert_int_equal(pool->end, 2 * pool->first);
    assert_null(pool->slab[1]);
    for (int i = 0; i < count; i++) slots[i] = vscan__pool_take(pool);
    for (int i = 0; i < count; i++) {
        assert_ptr_not_equal(vscan__publish(slots[i]), handle);
        vscan__pool_give(pool, slots[i]);
    }
    assert_null(vscan__find_carry(handle));
    assert_true(vscan__pool_had(pool, handle));
}

/* No slot has a number that a handle has no room for. */
static void no_number_left(void **state) {
    (void)state;
    static struct vscan__pool full = {.mutex = PTHREAD_MUTEX_INITIALIZER,
                                      .kind = vscan__kind_carry,
                                      .first = 64,
                                      .slot = VSCAN__CARRY_SLOT};
    full.next = full.end = UINT64_C(1) << VSCAN__NUMBER_BITS;
    assert_null(vscan__pool_take(&full));
    assert_int_equal(full.used, 0);
}

/* The thread that forks, in a handler of a signal, has the pools itself. */
static int forks_inside(void) {
    for (int p = 0; p < POOLS; p++) pthread_mutex_lock(&pools[p]->mutex);
    const pid_t child = fork();
    if (child != 0) {
        for (int p = 0; p < POOLS; p++) pthread_mutex_unlock(&pools[p]->mutex);
        return child_status(child);
    }
    alarm(LIMIT);
    for (int p = 0; p < POOLS; p++) {
        void *slot = vscan__pool_take(pools[p]);
        if (slot == NULL) return 1;
        vscan__pool_give(pools[p], slot);
    }
    return 0;
}

static void fork_inside(void **state) {
    (void)state;
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        alarm(LIMIT);
        _exit(forks_inside());
    }
    assert_int_equal(child_status(child), 0);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_generation),
                                       cmocka_unit_test(emptied), cmocka_unit_test(no_number_left),
                                       cmocka_unit_test(fork_inside)};
    return harness_run(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
