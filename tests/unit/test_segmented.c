/* SPDX-License-Identifier: Apache-2.0 */
/* vscan_scan_segmented: one test a pair, with lengths, patterns, flags and modes inside. */
#include "cases.h"

#include <stdlib.h>

#include "core/pairs.h"

static const vscan_type flag_types[] = {VSCAN_INT, VSCAN_BYTE, VSCAN_BIT};

/* One run, with everything drawn but the values. */
static void run_drawn(struct test_case *c, struct inputs_random *random) {
    c->seed = inputs_next(random);
    void *in = malloc(reference_bytes(c->type, c->n) + 1);
    uint8_t *flags = malloc((size_t)c->n + 1);
    assert_non_null(in);
    assert_non_null(flags);
    inputs_fill(c->pattern, c->type, c->n, c->seed, in);
    inputs_flags_fill(c->flags, reference_tile(c->type), c->n, c->seed, flags);
    case_segmented(c, in, flags);
    free(in);
    free(flags);
}

/* The same; mode: bit 0 exclusive, bit 1 backward. Values are random every other time. */
static void run(struct test_case *c, struct inputs_random *random, int mode, int flag_type) {
    case_draw(c, random);
    c->exclusive = mode & 1;
    c->backward = mode >> 1 & 1;
    c->in_place = inputs_below(random, 2);
    c->flag_type = flag_types[flag_type % 3];
    c->pattern = INPUTS_RANDOM;
    if (inputs_below(random, 2))
        c->pattern = (enum inputs_pattern)inputs_below(random, INPUTS_PATTERNS);
    run_drawn(c, random);
}

static void test_pair(vscan_op op, vscan_type type) {
    struct test_case c = {.family = "segmented", .op = op, .type = type};
    struct inputs_random random = {case_seed(op, type, 2)};
    int64_t sizes[CASE_SIZES];
    const size_t count = case_sizes(type, inputs_next(&random), sizes);
    int shift = (int)op + (int)type;
    for (size_t s = 0; s < count; s++) {
        c.n = sizes[s];
        for (int p = 0; p < INPUTS_FLAGS_PATTERNS; p++) {
            c.flags = (enum inputs_flags)p;
            if (harness_small() && (p + shift) % 3 != 0 && p != INPUTS_FLAGS_30) continue;
            shift++;
            /* four modes, or two, or one, one after the other; with every kind of flags likewise */
            const int step = c.n <= 130 && !harness_small() ? 1 : (c.n <= 5000 ? 2 : 4);
            for (int mode = shift % step; mode < 4; mode += step)
                run(&c, &random, mode, shift + mode);
        }
    }
    if (harness_small()) return;

    static const int64_t limits[] = {1000000, 3000000, 10000000};
    static const enum inputs_flags flags[] = {INPUTS_FLAGS_1000, INPUTS_FLAGS_RUNS,
                                              INPUTS_FLAGS_MIXED, INPUTS_FLAGS_NONE};
    for (int k = 0; k < 3; k++) {
        c.n = 1 + inputs_below(&random, limits[k]);
        c.flags = flags[(shift + k) % 4];
        run(&c, &random, ((int)op + (int)type * 3 + k) % 4, shift + 2 * k);
    }
}

/*
 * Int flags or bits, and out apart from in: a GPU may keep what it makes of a tile's flags where the tile's
 * results will be (kernels/scan/large/head_bits.cuh), long vectors by default, any with VSCAN_TEST_KERNELS=tma.
 * Lengths around whole tiles, last tiles that have less room than their bits need, and addresses at
 * which tiles begin between multiples of 16 bytes.
 */
static void test_flags_apart(vscan_op op, vscan_type type) {
    enum { LONG = 8 << 20 }; /* bytes, from which on kernels for long vectors are the default */
    const int64_t tile = reference_tile(type);
    const int64_t rests[] = {0, 1, 2, 3, 7, 31, 40, 129, tile - 33, tile - 1};
    enum { RESTS = sizeof rests / sizeof rests[0] };
    const int64_t whole = harness_small() ? 1 : LONG / (int64_t)reference_bytes(type, tile);
    const int cases = harness_small() ? 4 : 8;
    struct test_case c = {.family = "segmented", .op = op, .type = type};
    struct inputs_random random = {case_seed(op, type, 3)};
    const int shift = (int)op * 3 + (int)type;
    for (int k = 0; k < cases; k++) {
        const int64_t tiles = whole + 1 + inputs_below(&random, harness_small() ? 2 : 8);
        c.n = tiles * tile + rests[(k + cases * shift) % RESTS];
        c.flags = (enum inputs_flags)((shift + k) % INPUTS_FLAGS_PATTERNS);
        if (k % 3 != 2) c.flags = INPUTS_FLAGS_HALF; /* hardly two tiles have the same bits */
        case_draw(&c, &random);
        c.shift_out = (shift + k / 2) % 4;
        c.exclusive = inputs_below(&random, 2);
        c.backward = (shift + k / 2) % 2;
        c.in_place = false;
        c.flag_type = k % 2 ? VSCAN_BIT : VSCAN_INT;
        c.pattern = INPUTS_RANDOM;
        run_drawn(&c, &random);
    }
}

#define X(pair, op, type, OP, TYPE)                                                                \
    static void segmented_##pair(void **state) {                                                   \
        (void)state;                                                                               \
        test_pair(VSCAN_##OP, VSCAN_##TYPE);                                                       \
    }                                                                                              \
    static void segmented_apart_##pair(void **state) {                                             \
        (void)state;                                                                               \
        test_flags_apart(VSCAN_##OP, VSCAN_##TYPE);                                                \
    }
VSCAN__PAIRS(X)
#undef X

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
#define X(pair, op, type, OP, TYPE)                                                                \
    cmocka_unit_test(segmented_##pair), cmocka_unit_test(segmented_apart_##pair),
        VSCAN__PAIRS(X)
#undef X
    };
    return harness_run(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
