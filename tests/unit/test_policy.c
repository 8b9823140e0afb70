/* SPDX-License-Identifier: Apache-2.0 */
/* When calls use the pool, by numbers: no clock has a part in it. Neither backend has one. */
#include "harness.h"

#include "cpu/policy.h"

#define US INT64_C(1000)
#define MS (INT64_C(1000) * US)
#define S (INT64_C(1000) * MS)

enum { LOSS_TIMES = 8 }; /* the time without the pool, by what was lost */

static int64_t unhelped;

/* Of a call that took so long; the time without the pool after it, or -1: none. */
static int64_t judged(int64_t took, int64_t slept, int own, int parts) {
    const struct vscan__cpu_course call = {5 * S, 5 * S + took, slept, own, parts};
    const int64_t until = vscan__cpu_judge(&call, &unhelped);
    return until == 0 ? -1 : until - call.end;
}

static int forget(void **state) {
    (void)state;
    unhelped = 0;
    return 0;
}

/* Alone, the others' parts would have taken what the caller's took: less than it waited for them. */
static void waiting_for_longer_than_working(void **state) {
    (void)state;
    assert_int_equal(judged(100 * US, 0, 1, 2), -1);
    assert_int_equal(judged(100 * US, 50 * US, 1, 2), -1);
    assert_int_equal(judged(101 * US, 51 * US, 1, 2), LOSS_TIMES * 51 * US);
    assert_int_equal(judged(4 * MS, 2 * MS, 1, 2), -1);
    assert_int_equal(judged(5 * MS, 3 * MS, 1, 2), LOSS_TIMES * 3 * MS);
    /* of four parts three are the others': three times what the caller worked */
    assert_int_equal(judged(400 * US, 300 * US, 1, 4), -1);
    assert_int_equal(judged(401 * US, 301 * US, 1, 4), LOSS_TIMES * 301 * US);
    /* one is: a third */
    assert_int_equal(judged(400 * US, 100 * US, 3, 4), -1);
    assert_int_equal(judged(401 * US, 101 * US, 3, 4), LOSS_TIMES * 101 * US);
    /* the caller had none */
    assert_int_equal(judged(5 * MS, 4 * MS, 0, 4), -1);
}

/* Calls in a row in which no worker came, a millisecond of them. */
static void nobody_comes(void **state) {
    (void)state;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(judged(400 * US, 0, 2, 2), -1);
        assert_int_equal(judged(600 * US, 0, 2, 2), -1);
        assert_int_equal(judged(200 * US, 0, 2, 2), LOSS_TIMES * 300 * US);
    }
    assert_int_equal(judged(900 * US, 0, 2, 2), -1);
    assert_int_equal(judged(10 * US, 0, 1, 2), -1); /* one came */
    assert_int_equal(judged(900 * US, 0, 2, 2), -1);
    assert_int_equal(judged(101 * US, 0, 2, 2), LOSS_TIMES * 1001 * US / 4);
    assert_int_equal(judged(8 * MS, 0, 4, 4), LOSS_TIMES * 2 * MS);
}

/* Whoever was stopped for seconds or years does without the pool for 0.2 s. */
static void stopped(void **state) {
    (void)state;
    const int64_t times[] = {26 * MS, 3 * S, 3600 * S, 365 * 24 * 3600 * S};
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        assert_int_equal(judged(times[i], times[i] - MS, 1, 2), 200 * MS);
        assert_int_equal(judged(times[i] + 100 * MS, 0, 2, 2), 200 * MS); /* nobody came */
        assert_int_equal(judged(times[i], 0, 1, 2), -1);                  /* while both worked */
    }
    assert_int_equal(judged(25 * MS, 24 * MS, 1, 2), 192 * MS);
}

static void use(void **state) {
    (void)state;
    const int64_t now = 7 * S;
    assert_int_equal(vscan__cpu_helpful(now, 0, 0, 128), 32);
    assert_int_equal(vscan__cpu_helpful(now, now, 0, 128), 32);
    assert_int_equal(vscan__cpu_helpful(now, now + 1, 0, 128), 1);
    assert_int_equal(vscan__cpu_helpful(now, now + 1, now, 5), 1);
    /* in quick succession */
    assert_int_equal(vscan__cpu_helpful(now, 0, now, 5), 5);
    assert_int_equal(vscan__cpu_helpful(now, 0, now - 200 * US, 5), 5);
    assert_int_equal(vscan__cpu_helpful(now, 0, now + 5, 5),
                     5); /* another thread's has ended since */
    /* after a pause: at least 40 us for each */
    assert_int_equal(vscan__cpu_helpful(now, 0, now - 200 * US - 1, 24), 6);
    assert_int_equal(vscan__cpu_helpful(now, 0, 0, 61), 15);
    assert_int_equal(vscan__cpu_helpful(now, 0, 0, 23), 1);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(waiting_for_longer_than_working, forget),
        cmocka_unit_test_setup(nobody_comes, forget),
        cmocka_unit_test_setup(stopped, forget),
        cmocka_unit_test(use),
    };
    return harness_run(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
