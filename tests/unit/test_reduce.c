/* SPDX-License-Identifier: Apache-2.0 */
/* vscan_reduce: one test a pair, with lengths, patterns and modes inside. */
#include "cases.h"

#include <stdlib.h>

#include "core/pairs.h"

/* One run; modes that are odd are backward. */
static void run(struct test_case *c, struct inputs_random *random, int mode) {
    case_draw(c, random);
    c->backward = mode & 1;
    c->seed = inputs_next(random);
    void *in = malloc(reference_bytes(c->type, c->n) + 1);
    assert_non_null(in);
    inputs_fill(c->pattern, c->type, c->n, c->seed, in);
    case_reduce(c, in);
    free(in);
}

static void test_pair(vscan_op op, vscan_type type) {
    struct test_case c = {.family = "reduce", .op = op, .type = type};
    struct inputs_random random = {case_seed(op, type, 3)};
    int64_t sizes[CASE_SIZES];
    const size_t count = case_sizes(type, inputs_next(&random), sizes);
    int counter = 0;
    for (size_t s = 0; s < count; s++) {
        c.n = sizes[s];
        for (int p = 0; p < INPUTS_PATTERNS; p++) {
            counter++;
            if (harness_small() && p != INPUTS_RANDOM && (p + counter) % 5 != 0) continue;
            c.pattern = (enum inputs_pattern)p;
            const int step = c.n <= 130 && !harness_small() ? 1 : (c.n <= 5000 ? 2 : 5);
            for (int mode = counter % step; mode < 6; mode += step) run(&c, &random, mode);
        }
    }

    /* Bytes at which a backend may change kernels or the vector fills what they have at a time, and
       lengths just beside, by less and by more than 16 bytes or a group. */
    static const int64_t edges[] = {1 << 10, 2 << 10, 4 << 10,   8 << 10,   16 << 10,
                                    1 << 15, 1 << 16, 512 << 10, 544 << 10, 3000 << 10};
    static const int64_t beside[] = {-33, -32, -5, -1, 0, 1, 3, 31, 32, 40};
    c.pattern = INPUTS_RANDOM;
    for (int k = 0; k < 10; k++) {
        for (int b = 0; b < 10; b++) {
            counter++;
            if (harness_small() && (edges[k] > 1 << 16 || counter % 7 != 0)) continue;
            if (edges[k] > 1 << 16 && b % 3 != 0) continue;
            c.n = edges[k] / (int64_t)reference_bytes(type, 1) + beside[b];
            run(&c, &random, counter % 6);
        }
    }
    if (harness_small()) return;

    static const int64_t limits[] = {1000000, 3000000, 10000000};
    for (int k = 0; k < 3; k++) {
        c.n = 1 + inputs_below(&random, limits[k]);
        c.pattern = INPUTS_RANDOM;
        run(&c, &random, ((int)op + (int)type * 2 + k) % 6);
    }
}

#define X(pair, op, type, OP, TYPE)                                                                \
    static void reduce_##pair(void **state) {                                                      \
        (void)state;                                                                               \
        test_pair(VSCAN_##OP, VSCAN_##TYPE);                                                       \
    }
VSCAN__PAIRS(X)
#undef X

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
#define X(pair, op, type, OP, TYPE) cmocka_unit_test(reduce_##pair),
        VSCAN__PAIRS(X)
#undef X
    };
    return harness_run(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
