/* SPDX-License-Identifier: Apache-2.0 */
/* The calls on arrays of the host, against the reference and against the calls on buffers. */
#include "harness.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cases.h"
#include "core/pairs.h"
#include "inputs.h"
#include "maps.h"
#include "move_reference.h"
#include "reference.h"

enum { GUARD = 64, POISON = 0x5a };

/* n elements between two stretches of poison, `shift` elements off. */
struct guarded_array {
    char *memory, *at;
    size_t bytes;
};

static struct guarded_array new_array(vscan_type type, int64_t n, int shift, const void *elements) {
    struct guarded_array a = {.bytes = reference_bytes(type, n)};
    a.memory = malloc(a.bytes + 3 * GUARD);
    assert_non_null(a.memory);
    memset(a.memory, POISON, a.bytes + 3 * GUARD);
    a.at = a.memory + GUARD + (size_t)shift * reference_bytes(type, 1);
    if (elements != NULL && a.bytes > 0) memcpy(a.at, elements, a.bytes);
    return a;
}

static void end_array(struct guarded_array *a) {
    for (const char *b = a->memory; b < a->memory + a->bytes + 3 * GUARD; b++)
        if ((b < a->at || b >= a->at + a->bytes) && *b != POISON)
            fail_msg("written beside an array");
    free(a->memory);
}

/* ---- Scans and reductions -------------------------------------------------------------------- */

struct host_case {
    vscan_op op;
    vscan_type type;
    int64_t n;
    enum inputs_pattern pattern;
    bool exclusive, backward, in_place;
    int segments; /* 0: none, 1: by heads, 2: by offsets */
    uint64_t seed;
};

static void must_be_same(const struct host_case *c, const char *what, int64_t n,
                         const void *expected, const void *got) {
    const int64_t i = reference_difference(c->type, n, expected, got);
    char a[REFERENCE_TEXT], b[REFERENCE_TEXT];
    if (i < 0) return;
    print_error("host %s: %s_%s, n %" PRId64 " (%s), %s %s%s, segments %d, seed %" PRIu64
                ", index %" PRId64 ": expected %s, got %s\n",
                what, reference_op_name(c->op), reference_type_name(c->type), c->n,
                inputs_name(c->pattern), c->exclusive ? "exclusive" : "inclusive",
                c->backward ? "backward" : "forward", c->in_place ? ", in place" : "", c->segments,
                c->seed, i, reference_text(c->type, expected, i, a),
                reference_text(c->type, got, i, b));
    fail();
}

/* Numbers as offsets are written: to a guarded array of int or long. */
static struct guarded_array written(const int64_t *numbers, int64_t n, vscan_type type,
                                    struct inputs_random *random) {
    struct guarded_array a = new_array(type, n, (int)inputs_below(random, 4), NULL);
    for (int64_t k = 0; k < n; k++) {
        if (type == VSCAN_INT) ((int32_t *)(void *)a.at)[k] = (int32_t)numbers[k];
        if (type == VSCAN_LONG) ((int64_t *)(void *)a.at)[k] = numbers[k];
    }
    return a;
}

static vscan_type int_or_long(struct inputs_random *random) {
    return inputs_below(random, 2) ? VSCAN_INT : VSCAN_LONG;
}

/* Offsets of the segments, empty ones among them; half of the time not from 0 on, nor to n. */
static int64_t *offsets_of(const uint8_t *set, int64_t n, struct inputs_random *random,
                           int64_t *segments) {
    int64_t *offsets = malloc((size_t)(2 * n + 8) * sizeof *offsets), count = 0;
    assert_non_null(offsets);
    offsets[count++] = 0;
    for (int64_t i = 0; i < n; i++) {
        if (i > 0 && set[i]) offsets[count++] = i;
        if (inputs_below(random, 40) == 0 && offsets[count - 1] == i) offsets[count++] = i;
    }
    if (n > 0 || inputs_below(random, 2)) offsets[count++] = n;
    if (inputs_below(random, 2)) offsets[count++] = n;
    if (inputs_below(random, 2)) {
        const int64_t first = inputs_below(random, count);
        count = 1 + inputs_below(random, count - first);
        memmove(offsets, offsets + first, (size_t)count * sizeof *offsets);
    }
    *segments = count - 1;
    return offsets;
}

static void run_scan(struct host_case *c, struct inputs_random *random) {
    c->seed = inputs_next(random);
    c->in_place = inputs_below(random, 2);
    void *in = malloc(reference_bytes(c->type, c->n) + 1);
    void *expected = malloc(reference_bytes(c->type, c->n) + 1);
    uint8_t *set = calloc((size_t)c->n + 1, 1);
    uint64_t expected_total = 0, total = 0;
    assert_true(in != NULL && expected != NULL && set != NULL);
    inputs_fill(c->pattern, c->type, c->n, c->seed, in);
    inputs_flags_fill((enum inputs_flags)inputs_below(random, INPUTS_FLAGS_PATTERNS),
                      reference_tile(c->type), c->n, c->seed, set);
    struct reference r = {.op = c->op,
                          .type = c->type,
                          .n = c->n,
                          .in = in,
                          .flags = c->segments == 1 ? set : NULL,
                          .exclusive = c->exclusive,
                          .backward = c->backward,
                          .out = expected,
                          .total = &expected_total};
    reference_scan(&r);
    struct guarded_array from = new_array(c->type, c->n, (int)inputs_below(random, 4), in);
    struct guarded_array apart = new_array(c->type, c->n, (int)inputs_below(random, 4), NULL);
    char *const out = c->in_place ? from.at : apart.at;
    const vscan_kind kind = c->exclusive ? VSCAN_EXCLUSIVE : VSCAN_INCLUSIVE;
    const vscan_direction direction = c->backward ? VSCAN_BACKWARD : VSCAN_FORWARD;
    if (c->segments == 0) {
        ok(NULL, vscan_host_reduce(c->op, c->type, direction, from.at, c->n, &total));
        must_be_same(c, "reduction", 1, &expected_total, &total);
        ok(NULL, vscan_host_scan(c->op, c->type, kind, direction, from.at, c->n, out));
    } else if (c->segments == 1) {
        ok(NULL,
           vscan_host_scan_segmented(c->op, c->type, kind, direction, from.at, set, c->n, out));
    } else {
        int64_t segments;
        int64_t *offsets = offsets_of(set, c->n, random, &segments);
        const vscan_type of = int_or_long(random);
        struct guarded_array by = written(offsets, segments + 1, of, random);
        if (c->n > 0) memcpy(expected, out, reference_bytes(c->type, c->n));
        for (int64_t k = 0; k < segments; k++) { /* each a vector of its own */
            const size_t at = reference_bytes(c->type, offsets[k]);
            r.n = offsets[k + 1] - offsets[k];
            r.in = (char *)in + at;
            r.out = (char *)expected + at;
            reference_scan(&r);
        }
        ok(NULL, vscan_host_scan_by_offsets(c->op, c->type, kind, direction, from.at, c->n, of,
                                            by.at, segments, out));
        end_array(&by);
        free(offsets);
    }
    must_be_same(c, "scan", c->n, expected, out);
    if (!c->in_place) must_be_same(c, "scan, its input", c->n, in, from.at);
    end_array(&from);
    end_array(&apart);
    free(in);
    free(expected);
    free(set);
}

/* Offsets int or long, of which the first is not 0, nor the last n. */
static void run_reduce_by_offsets(struct host_case *c, struct inputs_random *random) {
    const vscan_type of = int_or_long(random);
    const int64_t some[] = {0, 1 + inputs_below(random, 9), c->n / 7, 2 * c->n};
    const int64_t segments = some[inputs_below(random, 4)],
                  size = (int64_t)reference_bytes(c->type, 1);
    void *in = malloc(reference_bytes(c->type, c->n) + 1);
    char *expected = calloc((size_t)segments + 1, (size_t)size);
    int64_t *at = calloc((size_t)segments + 1, sizeof *at);
    assert_true(in != NULL && expected != NULL && at != NULL);
    c->seed = inputs_next(random);
    inputs_fill(c->pattern, c->type, c->n, c->seed, in);
    int64_t place = inputs_below(random, c->n / 3 + 1);
    for (int64_t k = 0; k <= segments; k++) {
        at[k] = place;
        const int64_t left = c->n - place, most = 2 * c->n / (segments + 1) + 2;
        place += inputs_below(random, (left < most ? left : most) + 1);
    }
    struct guarded_array offsets = written(at, segments + 1, of, random);
    for (int64_t k = 0; k < segments; k++) {
        struct reference r = {.op = c->op,
                              .type = c->type,
                              .n = at[k + 1] - at[k],
                              .in = (char *)in + at[k] * size,
                              .total = expected + k * size};
        reference_scan(&r);
    }
    struct guarded_array from = new_array(c->type, c->n, (int)inputs_below(random, 4), in);
    struct guarded_array totals = new_array(c->type, segments, 1, NULL);
    ok(NULL, vscan_host_reduce_by_offsets(c->op, c->type, from.at, c->n, of, offsets.at, segments,
                                          totals.at));
    must_be_same(c, "reduction by offsets", segments, expected, totals.at);
    must_be_same(c, "reduction, its input", c->n, in, from.at);
    end_array(&from);
    end_array(&offsets);
    end_array(&totals);
    free(in);
    free(expected);
    free(at);
}

/* Keys 0 to 2, in runs. */
static void run_reduce_by_key(struct host_case *c, struct inputs_random *random) {
    static const vscan_type types[] = {VSCAN_INT, VSCAN_LONG, VSCAN_FLOAT, VSCAN_DOUBLE};
    const vscan_type key = types[inputs_below(random, 4)];
    const size_t size = reference_bytes(c->type, 1), key_size = reference_bytes(key, 1);
    const int64_t change = 1 + inputs_below(random, 1 + inputs_below(random, 5000));
    const bool wants_keys = inputs_below(random, 3) != 0;
    struct guarded_array keys = new_array(key, c->n, 1, NULL),
                         in = new_array(c->type, c->n, 2, NULL);
    struct guarded_array keys_out = new_array(key, c->n, 3, NULL);
    struct guarded_array totals = new_array(c->type, c->n, 0, NULL);
    char *expected = malloc(totals.bytes + 1), *expected_keys = malloc(keys.bytes + 1);
    int64_t *ends = malloc((size_t)(c->n + 1) * sizeof *ends);
    assert_true(expected != NULL && expected_keys != NULL && ends != NULL);
    memset(expected, POISON, totals.bytes); /* behind the last run */
    memset(expected_keys, POISON, keys.bytes);
    c->seed = inputs_next(random);
    inputs_fill(c->pattern, c->type, c->n, c->seed, in.at);
    int64_t runs = 0, count = -1;
    for (int64_t i = 0, x = 0; i < c->n; i++) {
        const bool next = i > 0 && inputs_below(random, change) == 0;
        if (next) x = (x + 1 + inputs_below(random, 2)) % 3;
        if (key == VSCAN_INT) ((int32_t *)(void *)keys.at)[i] = (int32_t)x;
        if (key == VSCAN_LONG) ((int64_t *)(void *)keys.at)[i] = x << 40;
        if (key == VSCAN_FLOAT) ((float *)(void *)keys.at)[i] = (float)x;
        if (key == VSCAN_DOUBLE) ((double *)(void *)keys.at)[i] = (double)x;
        if (next || i == 0) {
            memcpy(expected_keys + (size_t)runs * key_size, keys.at + (size_t)i * key_size,
                   key_size);
            runs++;
        }
        ends[runs - 1] = i + 1;
    }
    for (int64_t k = 0; k < runs; k++) {
        struct reference r = {.op = c->op,
                              .type = c->type,
                              .n = ends[k] - (k > 0 ? ends[k - 1] : 0),
                              .in = in.at + (size_t)(k > 0 ? ends[k - 1] : 0) * size,
                              .total = expected + (size_t)k * size};
        reference_scan(&r);
    }
    ok(NULL, vscan_host_reduce_by_key(c->op, c->type, key, keys.at, in.at, c->n,
                                      wants_keys ? keys_out.at : NULL, totals.at, &count));
    assert_int_equal(count, runs);
    must_be_same(c, "reduction by key", c->n, expected, totals.at);
    if (!wants_keys) memset(expected_keys, POISON, keys.bytes);
    assert_memory_equal(keys_out.at, expected_keys, keys.bytes);
    struct guarded_array *const all[] = {&keys, &in, &keys_out, &totals};
    for (int a = 0; a < 4; a++) end_array(all[a]);
    free(expected);
    free(expected_keys);
    free(ends);
}

static void scan_pair(vscan_op op, vscan_type type) {
    if (harness_backend != VSCAN_BACKEND_CPU) skip();
    struct inputs_random random = {case_seed(op, type, 31)};
    int64_t sizes[CASE_SIZES + 2];
    size_t count = case_sizes(type, inputs_next(&random), sizes);
    sizes[count++] = 2048; /* as many bits as need no allocation, and one more */
    sizes[count++] = 2049;
    for (size_t s = 0; s < count; s++)
        for (int mode = 0; mode < 12; mode++) {
            struct host_case c = {.op = op,
                                  .type = type,
                                  .n = sizes[s],
                                  .exclusive = mode & 1,
                                  .backward = mode >> 1 & 1,
                                  .segments = mode >> 2};
            c.pattern = (enum inputs_pattern)inputs_below(&random, INPUTS_PATTERNS);
            if (harness_small() && inputs_below(&random, 4) != 0) continue;
            run_scan(&c, &random);
            if (mode < 3) run_reduce_by_offsets(&c, &random);
            if (mode == 3) run_reduce_by_key(&c, &random);
        }
    struct host_case many = {.op = op, .type = type, .n = 700001, .pattern = INPUTS_RANDOM};
    for (; many.segments < 3; many.segments++) run_scan(&many, &random); /* several threads */
    run_reduce_by_offsets(&many, &random);
    run_reduce_by_key(&many, &random);
}

#define X(pair, op, type, OP, TYPE)                                                                \
    static void host_##pair(void **state) {                                                        \
        (void)state;                                                                               \
        scan_pair(VSCAN_##OP, VSCAN_##TYPE);                                                       \
    }
VSCAN__PAIRS(X)
#undef X

/* ---- Pack ------------------------------------------------------------------------------------ */

static void run_pack(vscan_type type, int64_t n, struct inputs_random *random) {
    const size_t size = reference_bytes(type, 1);
    const bool in_place = inputs_below(random, 2);
    const int64_t one_in = 1 + inputs_below(random, 1 + inputs_below(random, 40));
    void *elements = maps_random(type, n, random);
    struct guarded_array in = new_array(type, n, 1, elements), out = new_array(type, n, 2, NULL);
    struct guarded_array flags = new_array(VSCAN_BYTE, n, 3, NULL);
    char *const to = in_place ? in.at : out.at, *expected = malloc(in.bytes + 1);
    int64_t set = 0, count = -1;
    assert_non_null(expected);
    memcpy(expected, to, in.bytes); /* behind the last one */
    for (int64_t i = 0; i < n; i++) {
        flags.at[i] = inputs_below(random, one_in) == 0 ? (char)(1 + inputs_below(random, 255)) : 0;
        if (flags.at[i] != 0)
            memcpy(expected + (size_t)set++ * size, (char *)elements + (size_t)i * size, size);
    }
    ok(NULL, vscan_host_pack(type, in.at, (uint8_t *)flags.at, n, to, &count));
    assert_int_equal(count, set);
    assert_memory_equal(to, expected, in.bytes);
    end_array(&in);
    end_array(&out);
    end_array(&flags);
    free(elements);
    free(expected);
}

static void pack(void **state) {
    (void)state;
    if (harness_backend != VSCAN_BACKEND_CPU) skip();
    static const vscan_type types[] = {VSCAN_INT,    VSCAN_LONG,  VSCAN_FLOAT,
                                       VSCAN_DOUBLE, VSCAN_UINT8, VSCAN_BYTE};
    struct inputs_random random = {harness_seed() + 77};
    for (int t = 0; t < 6; t++)
        for (int k = 0; k < 30; k++)
            run_pack(types[t],
                     k < 3 ? k : inputs_below(&random, INT64_C(1) << inputs_below(&random, 17)),
                     &random);
}

/* What numbers of int or long are. */
static void numbers_are(const struct guarded_array *a, vscan_type type, int64_t n,
                        const int64_t *expected, const char *what) {
    for (int64_t k = 0; k < n; k++) {
        const int64_t got = type == VSCAN_INT ? ((const int32_t *)(const void *)a->at)[k]
                                              : ((const int64_t *)(const void *)a->at)[k];
        if (got != expected[k])
            fail_msg("host %s: number %" PRId64 " of %" PRId64 " is %" PRId64 ", must be %" PRId64,
                     what, k, n, got, expected[k]);
    }
}

static void run_positions(int64_t n, struct inputs_random *random) {
    const vscan_type type = int_or_long(random);
    const int64_t one_in = 1 + inputs_below(random, 1 + inputs_below(random, 40));
    struct guarded_array flags = new_array(VSCAN_BYTE, n, 1, NULL),
                         positions = new_array(type, n, 3, NULL);
    int64_t *expected = malloc((size_t)(n + 1) * sizeof *expected), set = 0, count = -1;
    assert_non_null(expected);
    for (int64_t i = 0; i < n; i++) {
        flags.at[i] = inputs_below(random, one_in) == 0 ? (char)(1 + inputs_below(random, 255)) : 0;
        if (flags.at[i] != 0) expected[set++] = i;
    }
    ok(NULL, vscan_host_positions((uint8_t *)flags.at, n, type, positions.at, &count));
    assert_int_equal(count, set);
    numbers_are(&positions, type, set, expected, "positions");
    for (size_t b = reference_bytes(type, set); b < positions.bytes; b++)
        assert_int_equal(positions.at[b], POISON); /* behind the last one */
    end_array(&flags);
    end_array(&positions);
    free(expected);
}

static void positions(void **state) {
    (void)state;
    if (harness_backend != VSCAN_BACKEND_CPU) skip();
    struct inputs_random random = {harness_seed() + 78};
    for (int k = 0; k < 60; k++)
        run_positions(k < 3 ? k : inputs_below(&random, INT64_C(1) << inputs_below(&random, 17)),
                      &random);
}

/* ---- Sums of ints as longs ------------------------------------------------------------------- */

static void run_as_long(int64_t n, bool exclusive, bool backward, struct inputs_random *random) {
    int64_t *expected = malloc((size_t)(n + 1) * sizeof *expected), sum = 0, total = -1;
    assert_non_null(expected);
    struct guarded_array in = new_array(VSCAN_INT, n, (int)inputs_below(random, 4), NULL);
    struct guarded_array out = new_array(VSCAN_LONG, n, (int)inputs_below(random, 4), NULL);
    for (int64_t k = 0; k < n; k++) {
        const int64_t i = backward ? n - 1 - k : k;
        const int32_t x = INT32_MAX - (int32_t)inputs_below(random, 1000); /* far beyond an int */
        ((int32_t *)(void *)in.at)[i] = x;
        expected[i] = exclusive ? sum : sum + x;
        sum += x;
    }
    ok(NULL, vscan_host_reduce_as_long((int32_t *)(void *)in.at, n, &total));
    assert_true(total == sum);
    ok(NULL, vscan_host_scan_as_long(exclusive ? VSCAN_EXCLUSIVE : VSCAN_INCLUSIVE,
                                     backward ? VSCAN_BACKWARD : VSCAN_FORWARD,
                                     (int32_t *)(void *)in.at, n, (int64_t *)(void *)out.at));
    numbers_are(&out, VSCAN_LONG, n, expected, "sums as longs");
    end_array(&in);
    end_array(&out);
    free(expected);
}

static void as_long(void **state) {
    (void)state;
    if (harness_backend != VSCAN_BACKEND_CPU) skip();
    struct inputs_random random = {harness_seed() + 79};
    static const int64_t sizes[] = {0, 1, 2, 33, 1025, 5000, 70001};
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++)
        for (int mode = 0; mode < 4; mode++) run_as_long(sizes[s], mode & 1, mode >> 1, &random);
}

/* ---- Sort ------------------------------------------------------------------------------------ */

static void run_sort(vscan_type key, vscan_type value, int64_t n, struct inputs_random *random) {
    const vscan_type of_values = value != VSCAN_NONE ? value : VSCAN_INT;
    const struct sort_rule rule = {.type = key, .descending = inputs_below(random, 2)};
    void *keys = maps_random(key, n, random), *values = maps_random(of_values, n, random);
    struct guarded_array k = new_array(key, n, 1, keys), v = new_array(of_values, n, 2, values);
    struct guarded_array k_out = new_array(key, n, 3, NULL),
                         v_out = new_array(of_values, n, 0, NULL);
    const bool in_place = inputs_below(random, 2), has_values = value != VSCAN_NONE;
    char *const to = in_place ? k.at : k_out.at, *const values_to = in_place ? v.at : v_out.at;
    int64_t *p = malloc((size_t)(n + 1) * sizeof *p),
            *room = malloc((size_t)(n + 1) * sizeof *room);
    assert_true(p != NULL && room != NULL);
    for (int64_t i = 0; i < n; i++) p[i] = i;
    sort_positions(&rule, keys, p, room, 0, n);
    ok(NULL, vscan_host_sort(rule.descending ? VSCAN_DESCENDING : VSCAN_ASCENDING, key, k.at, value,
                             has_values ? v.at : NULL, n, to, has_values ? values_to : NULL));
    if (!in_place) {
        const vscan_type type = int_or_long(random);
        struct guarded_array at = new_array(type, n, 1, NULL);
        ok(NULL, vscan_host_argsort(rule.descending ? VSCAN_DESCENDING : VSCAN_ASCENDING, key, k.at,
                                    n, type, at.at));
        numbers_are(&at, type, n, p, "argsort");
        if (n > 0) assert_memory_equal(k.at, keys, k.bytes);
        end_array(&at);
    }
    const size_t size = reference_bytes(key, 1), value_size = reference_bytes(of_values, 1);
    for (int64_t i = 0; i < n; i++) {
        assert_memory_equal(to + (size_t)i * size, (char *)keys + (size_t)p[i] * size, size);
        if (has_values)
            assert_memory_equal(values_to + (size_t)i * value_size,
                                (char *)values + (size_t)p[i] * value_size, value_size);
    }
    struct guarded_array *const all[] = {&k, &v, &k_out, &v_out};
    for (int a = 0; a < 4; a++) end_array(all[a]);
    free(keys);
    free(values);
    free(p);
    free(room);
}

static void sort(void **state) {
    (void)state;
    if (harness_backend != VSCAN_BACKEND_CPU) skip();
    struct inputs_random random = {harness_seed() + 51};
    static const vscan_type types[] = {VSCAN_INT, VSCAN_FLOAT, VSCAN_DOUBLE, VSCAN_LONG};
    static const int64_t sizes[] = {0, 1, 2, 33, 129, 1025, 5000, 40000};
    for (int k = 0; k < 4; k++)
        for (int v = -1; v < 4; v++)
            for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++)
                run_sort(types[k], v < 0 ? VSCAN_NONE : types[v], sizes[s], &random);
}

/* ---- Bounds ---------------------------------------------------------------------------------- */

/* The numbers of n sorted keys before key v: those that are less, or not greater. */
static int64_t bound_of(const struct sort_rule *rule, const void *keys, int64_t n, int64_t v,
                        bool upper) {
    int64_t before = 0;
    for (int64_t i = 0; i < n; i++) {
        const int order = sort_compare(rule, keys, i, v);
        before += order < 0 || (upper && order == 0);
    }
    return before;
}

/* n numbers, and m values behind them, of which every other one is one of the numbers. */
static void run_bounds(vscan_type type, int64_t n, int64_t m, struct inputs_random *random) {
    const size_t size = reference_bytes(type, 1);
    const struct sort_rule rule = {.type = type};
    char *const keys = maps_random(type, n + m, random), *const values = keys + (size_t)n * size;
    ok(NULL, vscan_host_sort(VSCAN_ASCENDING, type, keys, VSCAN_NONE, NULL, n, keys, NULL));
    for (int64_t i = 0; i < m && n > 0; i += 2)
        memcpy(values + (size_t)i * size, keys + (size_t)inputs_below(random, n) * size, size);
    struct guarded_array sorted = new_array(type, n, 1, keys), of = new_array(type, m, 2, values);
    int64_t *const expected = malloc((size_t)(m + 1) * sizeof *expected);
    assert_non_null(expected);
    for (int upper = 0; upper < 2; upper++) {
        const vscan_type to = int_or_long(random);
        struct guarded_array at = new_array(to, m, 3, NULL);
        ok(NULL, (upper ? vscan_host_upper_bound : vscan_host_lower_bound)(type, sorted.at, n,
                                                                           of.at, m, to, at.at));
        for (int64_t i = 0; i < m; i++) expected[i] = bound_of(&rule, keys, n, n + i, upper);
        numbers_are(&at, to, m, expected, upper ? "upper bounds" : "lower bounds");
        end_array(&at);
    }
    end_array(&sorted);
    end_array(&of);
    free(keys);
    free(expected);
}

static void bounds(void **state) {
    (void)state;
    if (harness_backend != VSCAN_BACKEND_CPU) skip();
    struct inputs_random random = {harness_seed() + 52};
    static const vscan_type types[] = {VSCAN_INT, VSCAN_FLOAT, VSCAN_DOUBLE, VSCAN_LONG};
    static const int64_t sizes[] = {0, 1, 2, 33, 300};
    for (int t = 0; t < 4; t++)
        for (int n = 0; n < 5; n++)
            for (int m = 0; m < 5; m++) run_bounds(types[t], sizes[n], sizes[m], &random);
}

/* ---- Threads, forks -------------------------------------------------------------------------- */

enum { THREADS = 24, CALLS = 400, LENGTH = 3000 };

/* More threads than contexts are kept; returns its failures. */
static void *calls(void *argument) {
    struct inputs_random random = {harness_seed() + 60 + *(const uint64_t *)argument};
    int32_t v[LENGTH];
    intptr_t failures = 0;
    for (int k = 0; k < CALLS; k++) {
        const int64_t n = 1 + inputs_below(&random, LENGTH);
        int32_t total = 0;
        for (int64_t i = 0; i < n; i++) v[i] = (int32_t)i;
        failures +=
            vscan_host_reduce(VSCAN_PLUS, VSCAN_INT, VSCAN_FORWARD, v, n, &total) != VSCAN_OK;
        failures += vscan_host_scan(VSCAN_PLUS, VSCAN_INT, VSCAN_INCLUSIVE, VSCAN_FORWARD, v, n,
                                    v) != VSCAN_OK;
        failures += v[n - 1] != total || total != (int32_t)(n * (n - 1) / 2);
    }
    return (void *)failures;
}

static void many_threads(void **state) {
    (void)state;
    if (harness_backend != VSCAN_BACKEND_CPU) skip();
    pthread_t threads[THREADS];
    uint64_t numbers[THREADS];
    for (int t = 0; t < THREADS; t++) {
        numbers[t] = (uint64_t)t;
        assert_int_equal(pthread_create(&threads[t], NULL, calls, &numbers[t]), 0);
    }
    for (int t = 0; t < THREADS; t++) {
        void *failures = NULL;
        assert_int_equal(pthread_join(threads[t], &failures), 0);
        assert_null(failures);
    }
}

static void forked_children(void **state) {
    (void)state;
    if (harness_backend != VSCAN_BACKEND_CPU) skip();
    uint64_t number = 99;
    assert_null(calls(&number));
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) _exit(calls(&number) == NULL ? 0 : 1);
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
#define X(pair, op, type, OP, TYPE) cmocka_unit_test(host_##pair),
        VSCAN__PAIRS(X)
#undef X
            cmocka_unit_test(pack),
        cmocka_unit_test(positions),
        cmocka_unit_test(as_long),
        cmocka_unit_test(sort),
        cmocka_unit_test(bounds),
        cmocka_unit_test(many_threads),
        cmocka_unit_test(forked_children),
    };
    return harness_run(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
