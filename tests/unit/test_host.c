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
#include "refusal.h"

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

/* Offsets of the segments, empty ones among them. */
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
        for (int64_t k = 0; k < segments; k++) { /* each a vector of its own */
            const size_t at = reference_bytes(c->type, offsets[k]);
            r.n = offsets[k + 1] - offsets[k];
            r.in = (char *)in + at;
            r.out = (char *)expected + at;
            reference_scan(&r);
        }
        ok(NULL, vscan_host_scan_by_offsets(c->op, c->type, kind, direction, from.at, c->n, offsets,
                                            segments, out));
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
        }
    struct host_case many = {.op = op, .type = type, .n = 700001, .pattern = INPUTS_RANDOM};
    for (; many.segments < 3; many.segments++) run_scan(&many, &random); /* several threads */
}

#define X(pair, op, type, OP, TYPE)                                                                \
    static void host_##pair(void **state) {                                                        \
        (void)state;                                                                               \
        scan_pair(VSCAN_##OP, VSCAN_##TYPE);                                                       \
    }
VSCAN__PAIRS(X)
#undef X

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

/* ---- Refusals -------------------------------------------------------------------------------- */

static void refused_calls(void **state) {
    (void)state;
    if (harness_backend != VSCAN_BACKEND_CPU) skip();
    int32_t in[8] = {1, 2, 3, 4, 5, 6, 7, 8}, out[8] = {9, 9, 9, 9, 9, 9, 9, 9};
    uint8_t heads[8] = {0};
    int64_t offsets[4] = {0, 3, 3, 8};
    const vscan_op plus = VSCAN_PLUS;
    const vscan_type i32 = VSCAN_INT;
#define REFUSED(status, word, op, type, kind, direction, in, n, out)                               \
    do {                                                                                           \
        refused(NULL, status, word, vscan_host_scan(op, type, kind, direction, in, n, out));       \
        refused(NULL, status, word,                                                                \
                vscan_host_scan_segmented(op, type, kind, direction, in, heads, n, out));          \
        refused(NULL, status, word,                                                                \
                vscan_host_scan_by_offsets(op, type, kind, direction, in, n, offsets, 3, out));    \
    } while (0)
    REFUSED(VSCAN_ERROR_ENUM, "op ", (vscan_op)VSCAN_INT, i32, VSCAN_INCLUSIVE, VSCAN_FORWARD, in,
            8, out);
    REFUSED(VSCAN_ERROR_ENUM, "type ", plus, (vscan_type)VSCAN_PLUS, VSCAN_INCLUSIVE, VSCAN_FORWARD,
            in, 8, out);
    REFUSED(VSCAN_ERROR_ENUM, "kind ", plus, i32, (vscan_kind)1, VSCAN_FORWARD, in, 8, out);
    REFUSED(VSCAN_ERROR_ENUM, "direction ", plus, i32, VSCAN_INCLUSIVE,
            (vscan_direction)VSCAN_EXCLUSIVE, in, 8, out);
    REFUSED(VSCAN_ERROR_PAIR, "type is uint8,", plus, VSCAN_UINT8, VSCAN_INCLUSIVE, VSCAN_FORWARD,
            in, 4, out);
    REFUSED(VSCAN_ERROR_PAIR, "type is bit,", plus, VSCAN_BIT, VSCAN_INCLUSIVE, VSCAN_FORWARD, in,
            4, out);
    REFUSED(VSCAN_ERROR_NULL, "in ", plus, i32, VSCAN_INCLUSIVE, VSCAN_FORWARD, NULL, 8, out);
    REFUSED(VSCAN_ERROR_NULL, "out ", plus, i32, VSCAN_INCLUSIVE, VSCAN_FORWARD, in, 8, NULL);
    REFUSED(VSCAN_ERROR_LENGTH, "n ", plus, i32, VSCAN_INCLUSIVE, VSCAN_FORWARD, in, -1, out);
    REFUSED(VSCAN_ERROR_OVERFLOW, "n ", plus, i32, VSCAN_INCLUSIVE, VSCAN_FORWARD, in, INT64_MAX,
            out);
    REFUSED(VSCAN_ERROR_ALIGNMENT, "in ", plus, i32, VSCAN_INCLUSIVE, VSCAN_FORWARD, (char *)in + 1,
            4, out);
    REFUSED(VSCAN_ERROR_OVERLAP, "out ", plus, i32, VSCAN_INCLUSIVE, VSCAN_FORWARD, in, 7, in + 1);
#undef REFUSED
    refused(NULL, VSCAN_ERROR_NULL, "heads ",
            vscan_host_scan_segmented(plus, i32, VSCAN_INCLUSIVE, VSCAN_FORWARD, in, NULL, 8, out));
    refused(NULL, VSCAN_ERROR_OVERLAP, "heads ",
            vscan_host_scan_segmented(plus, i32, VSCAN_INCLUSIVE, VSCAN_FORWARD, in, (uint8_t *)out,
                                      8, out));
    static const int64_t wrong[][4] = {{1, 3, 3, 8}, {0, 3, 2, 8},  {0, 3, 3, 7},
                                       {0, 3, 3, 9}, {0, -1, 3, 8}, {0, 9, 9, 8}};
    for (size_t k = 0; k < sizeof wrong / sizeof wrong[0]; k++)
        refused(NULL, VSCAN_ERROR_OFFSETS, "offsets",
                vscan_host_scan_by_offsets(plus, i32, VSCAN_INCLUSIVE, VSCAN_FORWARD, in, 8,
                                           wrong[k], 3, out));
    /* no segments: the only offset is the first and the last */
    const int64_t only[] = {0, 8};
    for (int k = 0; k < 2; k++)
        refused(NULL, VSCAN_ERROR_OFFSETS, "offsets",
                vscan_host_scan_by_offsets(plus, i32, VSCAN_INCLUSIVE, VSCAN_FORWARD, in, 8,
                                           only + k, 0, out));
    refused(NULL, VSCAN_ERROR_OFFSETS, "offsets",
            vscan_host_scan_by_offsets(plus, i32, VSCAN_INCLUSIVE, VSCAN_FORWARD, in, 0, only + 1,
                                       0, out));
    refused(NULL, VSCAN_ERROR_OVERLAP, "offsets ",
            vscan_host_scan_by_offsets(plus, i32, VSCAN_INCLUSIVE, VSCAN_FORWARD, in, 8, offsets, 3,
                                       offsets));
    static const int64_t no_count[] = {-1, INT64_MIN, INT64_MAX};
    for (int k = 0; k < 3; k++)
        refused(NULL, VSCAN_ERROR_LENGTH, "segments ",
                vscan_host_scan_by_offsets(plus, i32, VSCAN_INCLUSIVE, VSCAN_FORWARD, in, 8,
                                           offsets, no_count[k], out));
    refused(
        NULL, VSCAN_ERROR_NULL, "offsets ",
        vscan_host_scan_by_offsets(plus, i32, VSCAN_INCLUSIVE, VSCAN_FORWARD, in, 8, NULL, 3, out));
    refused(NULL, VSCAN_ERROR_NULL, "in ",
            vscan_host_reduce(plus, i32, VSCAN_FORWARD, NULL, 8, out));
    refused(NULL, VSCAN_ERROR_NULL, "total ",
            vscan_host_reduce(plus, i32, VSCAN_FORWARD, in, 8, NULL));
    refused(NULL, VSCAN_ERROR_OVERLAP, "total ",
            vscan_host_reduce(plus, i32, VSCAN_FORWARD, in, 8, in + 3));
    refused(NULL, VSCAN_ERROR_PAIR, "type is byte,",
            vscan_host_reduce(plus, VSCAN_BYTE, VSCAN_FORWARD, in, 8, out));
    refused(NULL, VSCAN_ERROR_ENUM, "direction ",
            vscan_host_reduce(plus, i32, (vscan_direction)1, in, 8, out));

    const vscan_order up = VSCAN_ASCENDING;
    const vscan_type none = VSCAN_NONE;
    refused(NULL, VSCAN_ERROR_ENUM, "order ",
            vscan_host_sort((vscan_order)1, i32, in, none, NULL, 8, out, NULL));
    refused(NULL, VSCAN_ERROR_ENUM, "key_type ",
            vscan_host_sort(up, none, in, none, NULL, 8, out, NULL));
    refused(NULL, VSCAN_ERROR_TYPE, "key_type ",
            vscan_host_sort(up, VSCAN_BYTE, in, none, NULL, 8, out, NULL));
    refused(NULL, VSCAN_ERROR_TYPE, "value_type ",
            vscan_host_sort(up, i32, in, VSCAN_BIT, in, 8, out, out));
    refused(NULL, VSCAN_ERROR_NULL, "values ",
            vscan_host_sort(up, i32, in, i32, NULL, 8, out, out));
    refused(NULL, VSCAN_ERROR_VALUE, "values ",
            vscan_host_sort(up, i32, in, none, in, 8, out, NULL));
    refused(NULL, VSCAN_ERROR_VALUE, "values_out ",
            vscan_host_sort(up, i32, in, none, NULL, 8, out, out));
    int32_t values[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9}, values_out[8];
    refused(NULL, VSCAN_ERROR_OVERLAP, "values_out ",
            vscan_host_sort(up, i32, in, i32, values, 8, out, out));
    refused(NULL, VSCAN_ERROR_OVERLAP, "values_out ",
            vscan_host_sort(up, i32, in, i32, values, 8, out, in));
    refused(NULL, VSCAN_ERROR_OVERLAP, "values_out ",
            vscan_host_sort(up, i32, in, i32, values, 8, out, values + 1));
    refused(NULL, VSCAN_ERROR_OVERLAP, "values ",
            vscan_host_sort(up, i32, in, i32, out, 8, out, values_out));
    refused(NULL, VSCAN_ERROR_OVERLAP, "keys_out ",
            vscan_host_sort(up, i32, in, none, NULL, 7, in + 1, NULL));
    for (int i = 0; i < 8; i++) assert_true(in[i] == i + 1 && out[i] == 9 && values[i] == i + 1);
    ok(NULL, vscan_host_scan(plus, i32, VSCAN_INCLUSIVE, VSCAN_FORWARD, NULL, 0, NULL));
    ok(NULL, vscan_host_scan_by_offsets(plus, i32, VSCAN_INCLUSIVE, VSCAN_FORWARD, NULL, 0, offsets,
                                        0, NULL));
    ok(NULL, vscan_host_sort(up, i32, NULL, none, NULL, 0, NULL, NULL));
    ok(NULL, vscan_host_reduce(VSCAN_MIN, i32, VSCAN_FORWARD, NULL, 0, out));
    assert_int_equal(out[0], INT32_MAX);
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
            cmocka_unit_test(sort),
        cmocka_unit_test(refused_calls),
        cmocka_unit_test(many_threads),
        cmocka_unit_test(forked_children),
    };
    return harness_run(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
