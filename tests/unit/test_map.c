/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What works element by element, against one plain element after another: every operator, relation,
 * type and conversion, with random and special values, at any alignment, in place and apart, and with
 * a scalar on either side. What the calls refuse is in test_map_refused.c.
 */
#include "map_reference.h"
#include "maps.h"
#include "refusal.h"

#include <fenv.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const vscan_type numbers[] = {VSCAN_INT, VSCAN_LONG, VSCAN_FLOAT, VSCAN_DOUBLE, VSCAN_UINT8};
static const vscan_type flag_types[] = {VSCAN_INT, VSCAN_BYTE, VSCAN_BIT};
enum { NUMBERS = 5, FLAG_TYPES = 3, TEXT = 160 };

/* ---- Unary, binary --------------------------------------------------------------------------- */

static void run_unary(vscan_unary op, vscan_type type, int64_t n, struct inputs_random *random) {
    vscan_ctx *ctx = harness_ctx();
    int shift[2];
    maps_shifts(random, 2, shift);
    void *a = maps_random(type, n, random);
    const bool in_place = inputs_below(random, 3) == 0;
    struct guarded in = guarded_make(ctx, type, n, shift[0], a);
    struct guarded out = guarded_make(ctx, type, n, shift[1], NULL);
    struct guarded *to = in_place ? &in : &out;
    void *expected = maps_original(to);
    for (int64_t i = 0; i < n; i++) {
        if (maps_is_flag(type))
            maps_put_flag(type, expected, i, !maps_flag(type, a, i));
        else
            maps_unary(op, type, maps_at(type, a, i), maps_at(type, expected, i));
    }
    char what[TEXT];
    snprintf(what, sizeof what, "unary %d of %s, n %" PRId64 ", shifts %d %d%s", (int)op,
             reference_type_name(type), n, shift[0], shift[1], in_place ? ", in place" : "");
    ok(ctx, vscan_map_unary(ctx, op, in.view, to->view));
    maps_judge(ctx, VSCAN_OK, to, expected, (struct guarded *[]){&in, &out, NULL}, what);
    free(a);
    free(expected);
}

static void unary(void **state) {
    (void)state;
    struct inputs_random random = {harness_seed() + 1};
    int64_t sizes[MAPS_SIZES];
    for (int op = VSCAN_UNARY_NEGATE; op <= VSCAN_UNARY_ROUND_EVEN; op++)
        for (int type = VSCAN_INT; type <= VSCAN_LONG; type++) {
            if (!maps_has_unary((vscan_unary)op, (vscan_type)type)) continue;
            const size_t count = maps_sizes(sizes, &random);
            for (size_t s = 0; s < count; s++)
                run_unary((vscan_unary)op, (vscan_type)type, sizes[s], &random);
        }
}

enum side { VECTORS, RIGHT, LEFT, SIDES };
enum place { APART, PLACE_A, PLACE_B, PLACES };

static void run_binary(vscan_binary op, vscan_type type, int64_t n, enum side side,
                       struct inputs_random *random) {
    vscan_ctx *ctx = harness_ctx();
    int shift[3];
    maps_shifts(random, 3, shift);
    void *a = maps_random(type, n + 1, random), *b = maps_random(type, n + 1, random);
    const bool same = side == VECTORS && inputs_below(random, 8) == 0; /* b is a */
    enum place place = (enum place)inputs_below(random, PLACES);
    if (side == RIGHT && place == PLACE_B) place = PLACE_A;
    if ((side == LEFT || same) && place == PLACE_A) place = same ? PLACE_A : PLACE_B;
    struct guarded va = guarded_make(ctx, type, n, shift[0], a);
    struct guarded vb = guarded_make(ctx, type, n, shift[1], b);
    struct guarded out = guarded_make(ctx, type, n, shift[2], NULL);
    if (same && place == PLACE_B) place = PLACE_A;
    struct guarded *to = place == PLACE_A ? &va : place == PLACE_B ? &vb : &out;
    void *expected = maps_original(to);
    bool by_0 = false;
    for (int64_t i = 0; i < n; i++) {
        if (maps_is_flag(type)) {
            const double x = maps_flag(type, a, i), y = maps_flag(type, same ? a : b, i);
            double both = 0;
            maps_binary(op, VSCAN_DOUBLE, &x, &y, &both);
            maps_put_flag(type, expected, i, both != 0);
            continue;
        }
        const void *x = maps_at(type, a, side == LEFT ? 0 : i);
        const void *y = same ? x : maps_at(type, b, side == RIGHT ? 0 : i);
        maps_binary(op, type, x, y, maps_at(type, expected, i));
        if (maps_is_integer(type) && (op == VSCAN_BINARY_DIVIDE || op == VSCAN_BINARY_REMAINDER))
            by_0 |= !maps_truth(type, y, 0);
    }
    char what[TEXT];
    snprintf(what, sizeof what,
             "binary %d of %s, side %d, place %d%s, n %" PRId64 ", shifts %d %d %d", (int)op,
             reference_type_name(type), (int)side, (int)place, same ? ", b is a" : "", n, shift[0],
             shift[1], shift[2]);
    switch (side) {
    case LEFT:
        ok(ctx, vscan_map_left(ctx, op, a, vb.view, to->view));
        break;
    case RIGHT:
        ok(ctx, vscan_map_right(ctx, op, va.view, b, to->view));
        break;
    default:
        ok(ctx, vscan_map_binary(ctx, op, va.view, same ? va.view : vb.view, to->view));
    }
    maps_judge(ctx, by_0 ? VSCAN_ERROR_DIVISION : VSCAN_OK, to, expected,
               (struct guarded *[]){&va, &vb, &out, NULL}, what);
    free(a);
    free(b);
    free(expected);
}

static void test_binary(vscan_type type) {
    struct inputs_random random = {harness_seed() + 100 + (uint64_t)type};
    int64_t sizes[MAPS_SIZES];
    for (int op = VSCAN_BINARY_ADD; op <= VSCAN_BINARY_SHIFT_RIGHT; op++) {
        if (!maps_has_binary((vscan_binary)op, type)) continue;
        const size_t count = maps_sizes(sizes, &random);
        for (size_t s = 0; s < count; s++)
            for (int side = VECTORS; side < (maps_is_flag(type) ? RIGHT : SIDES); side++)
                run_binary((vscan_binary)op, type, sizes[s], (enum side)side, &random);
    }
}

static void binary_int(void **state) {
    (void)state;
    test_binary(VSCAN_INT);
}
static void binary_long(void **state) {
    (void)state;
    test_binary(VSCAN_LONG);
}
static void binary_float(void **state) {
    (void)state;
    test_binary(VSCAN_FLOAT);
}
static void binary_double(void **state) {
    (void)state;
    test_binary(VSCAN_DOUBLE);
}
static void binary_flags(void **state) {
    (void)state;
    test_binary(VSCAN_BYTE);
    test_binary(VSCAN_BIT);
}

/* ---- Comparison ------------------------------------------------------------------------------ */

static void run_compare(vscan_relation relation, vscan_type type, vscan_type flag_type, int64_t n,
                        struct inputs_random *random) {
    vscan_ctx *ctx = harness_ctx();
    int shift[3];
    maps_shifts(random, 3, shift);
    if (flag_type == VSCAN_BIT && inputs_below(random, 2)) shift[0] = shift[1] = shift[2] = 0;
    void *a = maps_random(type, n + 1, random), *b = maps_random(type, n + 1, random);
    /* equal elements, more than chance would bring */
    for (int64_t i = 0; i < n; i += 1 + inputs_below(random, 4))
        memcpy(maps_at(type, b, i), maps_at(type, a, i), reference_bytes(type, 1));
    const bool scalar = inputs_below(random, 2);
    const bool in_place = type == VSCAN_INT && flag_type == VSCAN_INT && inputs_below(random, 2);
    struct guarded va = guarded_make(ctx, type, n, shift[0], a);
    struct guarded vb = guarded_make(ctx, type, n, shift[1], b);
    struct guarded out = guarded_make(ctx, flag_type, n, shift[2], NULL);
    struct guarded *to = !in_place ? &out : scalar ? &va : &vb;
    void *expected = maps_original(to);
    for (int64_t i = 0; i < n; i++)
        maps_put_flag(
            flag_type, expected, i,
            maps_related(relation, type, maps_at(type, a, i), maps_at(type, b, scalar ? 0 : i)));
    char what[TEXT];
    snprintf(what, sizeof what, "relation %d of %s, flags %s, %s%s, n %" PRId64 ", shifts %d %d %d",
             (int)relation, reference_type_name(type), reference_type_name(flag_type),
             scalar ? "scalar" : "vectors", in_place ? ", in place" : "", n, shift[0], shift[1],
             shift[2]);
    if (scalar)
        ok(ctx, vscan_compare_right(ctx, relation, va.view, b, to->view));
    else
        ok(ctx, vscan_compare(ctx, relation, va.view, vb.view, to->view));
    maps_judge(ctx, VSCAN_OK, to, expected, (struct guarded *[]){&va, &vb, &out, NULL}, what);
    free(a);
    free(b);
    free(expected);
}

static void compare(void **state) {
    (void)state;
    struct inputs_random random = {harness_seed() + 2};
    int64_t sizes[MAPS_SIZES];
    for (int relation = VSCAN_EQUAL; relation <= VSCAN_GREATER_OR_EQUAL; relation++)
        for (int t = 0; t < NUMBERS; t++)
            for (int f = 0; f < FLAG_TYPES; f++) {
                const size_t count = maps_sizes(sizes, &random);
                for (size_t s = 0; s < count; s++)
                    run_compare((vscan_relation)relation, numbers[t], flag_types[f], sizes[s],
                                &random);
            }
}

/* ---- Select ---------------------------------------------------------------------------------- */

static void run_select(vscan_type type, vscan_type flag_type, int64_t n, enum side side,
                       struct inputs_random *random) {
    vscan_ctx *ctx = harness_ctx();
    int shift[4];
    maps_shifts(random, 4, shift);
    if (inputs_below(random, 3) == 0) memset(shift, 0, sizeof shift);
    void *a = maps_random(type, n + 1, random), *b = maps_random(type, n + 1, random);
    void *flags = maps_random(flag_type, n, random);
    if (flag_type == VSCAN_INT)
        for (int64_t i = 0; i < n; i++)
            if (inputs_below(random, 2)) ((int32_t *)flags)[i] = 0;
    enum place place = (enum place)inputs_below(random, PLACES);
    if (side == RIGHT && place == PLACE_B) place = PLACE_A;
    if (side == LEFT && place == PLACE_A) place = PLACE_B;
    struct guarded vf = guarded_make(ctx, flag_type, n, shift[3], flags);
    struct guarded va = guarded_make(ctx, type, n, shift[0], a);
    struct guarded vb = guarded_make(ctx, type, n, shift[1], b);
    struct guarded out = guarded_make(ctx, type, n, shift[2], NULL);
    struct guarded *to = place == PLACE_A ? &va : place == PLACE_B ? &vb : &out;
    void *expected = maps_original(to);
    for (int64_t i = 0; i < n; i++) {
        const bool set = maps_flag(flag_type, flags, i);
        const void *from = set ? a : b;
        const int64_t k = side == (set ? LEFT : RIGHT) ? 0 : i; /* the scalar is element 0 */
        if (type == VSCAN_BIT)
            maps_put_flag(type, expected, i, maps_flag(type, from, k));
        else
            memcpy(maps_at(type, expected, i), maps_at(type, from, k), reference_bytes(type, 1));
    }
    char what[TEXT];
    snprintf(what, sizeof what,
             "select of %s, flags %s, side %d, place %d, n %" PRId64 ", shifts %d %d %d %d",
             reference_type_name(type), reference_type_name(flag_type), (int)side, (int)place, n,
             shift[0], shift[1], shift[2], shift[3]);
    const void *scalar = side == LEFT ? a : b;
    const uint8_t bit = type == VSCAN_BIT && maps_flag(type, scalar, 0) ? 0x40 : 0;
    if (type == VSCAN_BIT) scalar = &bit;
    if (side == VECTORS)
        ok(ctx, vscan_select(ctx, vf.view, va.view, vb.view, to->view));
    else if (side == RIGHT)
        ok(ctx, vscan_select_right(ctx, vf.view, va.view, scalar, to->view));
    else
        ok(ctx, vscan_select_left(ctx, vf.view, scalar, vb.view, to->view));
    maps_judge(ctx, VSCAN_OK, to, expected, (struct guarded *[]){&va, &vb, &vf, &out, NULL}, what);
    free(flags);
    free(a);
    free(b);
    free(expected);
}

static void select_elements(void **state) {
    (void)state;
    struct inputs_random random = {harness_seed() + 3};
    int64_t sizes[MAPS_SIZES];
    for (int type = VSCAN_INT; type <= VSCAN_UINT8; type++)
        for (int f = 0; f < FLAG_TYPES; f++) {
            const size_t count = maps_sizes(sizes, &random);
            for (size_t s = 0; s < count; s++)
                for (int side = VECTORS; side < SIDES; side++)
                    run_select((vscan_type)type, flag_types[f], sizes[s], (enum side)side, &random);
        }
}

/* ---- Conversion ------------------------------------------------------------------------------ */

static void run_convert(vscan_type from, vscan_type to, int64_t n, struct inputs_random *random) {
    vscan_ctx *ctx = harness_ctx();
    int shift[2];
    maps_shifts(random, 2, shift);
    if (inputs_below(random, 3) == 0) memset(shift, 0, sizeof shift);
    const bool in_place = from == to && inputs_below(random, 2);
    void *a = maps_random(from, n, random);
    struct guarded in = guarded_make(ctx, from, n, shift[0], a);
    struct guarded out = guarded_make(ctx, to, n, shift[1], NULL);
    struct guarded *target = in_place ? &in : &out;
    void *expected = maps_original(target);
    for (int64_t i = 0; i < n; i++) {
        if (maps_is_flag(to)) {
            maps_put_flag(to, expected, i, maps_truth(from, a, i));
        } else if (maps_is_flag(from)) {
            const int32_t one = maps_truth(from, a, i);
            maps_convert(VSCAN_INT, &one, to, maps_at(to, expected, i));
        } else if (from == to) {
            memcpy(maps_at(to, expected, i), maps_at(to, a, i), reference_bytes(to, 1));
        } else {
            maps_convert(from, maps_at(from, a, i), to, maps_at(to, expected, i));
        }
    }
    char what[TEXT];
    snprintf(what, sizeof what, "convert of %s to %s, n %" PRId64 ", shifts %d %d%s",
             reference_type_name(from), reference_type_name(to), n, shift[0], shift[1],
             in_place ? ", in place" : "");
    ok(ctx, vscan_convert(ctx, in.view, target->view));
    maps_judge(ctx, VSCAN_OK, target, expected, (struct guarded *[]){&in, &out, NULL}, what);
    free(a);
    free(expected);
}

static void convert(void **state) {
    (void)state;
    struct inputs_random random = {harness_seed() + 4};
    int64_t sizes[MAPS_SIZES];
    for (int from = VSCAN_INT; from <= VSCAN_UINT8; from++)
        for (int to = VSCAN_INT; to <= VSCAN_UINT8; to++) {
            const size_t count = maps_sizes(sizes, &random);
            for (size_t s = 0; s < count; s++)
                run_convert((vscan_type)from, (vscan_type)to, sizes[s], &random);
        }
}

/* ---- What is decided ------------------------------------------------------------------------- */

/* The cases that include/vscan.h names, with their results as plain numbers. */
static void decided(void **state) {
    (void)state;
    vscan_ctx *ctx = harness_ctx();
    static const struct {
        vscan_binary op;
        int32_t a, b, result;
    } ints[] = {{VSCAN_BINARY_ADD, INT32_MAX, 1, INT32_MIN},
                {VSCAN_BINARY_MULTIPLY, 65536, 65537, 65536},
                {VSCAN_BINARY_DIVIDE, -7, 2, -3},
                {VSCAN_BINARY_DIVIDE, INT32_MIN, -1, INT32_MIN},
                {VSCAN_BINARY_REMAINDER, INT32_MIN, -1, 0},
                {VSCAN_BINARY_REMAINDER, -7, 2, -1},
                {VSCAN_BINARY_SHIFT_LEFT, 3, 31, INT32_MIN},
                {VSCAN_BINARY_SHIFT_LEFT, 3, 32, 0},
                {VSCAN_BINARY_SHIFT_LEFT, 3, -1, 0},
                {VSCAN_BINARY_SHIFT_RIGHT, -5, 1, -3},
                {VSCAN_BINARY_SHIFT_RIGHT, -5, 32, -1},
                {VSCAN_BINARY_SHIFT_RIGHT, 5, -1, 0}};
    vscan_buffer *a = NULL, *b = NULL;
    ok(ctx, vscan_buffer_create(ctx, VSCAN_INT, 1, &a));
    ok(ctx, vscan_buffer_create(ctx, VSCAN_FLOAT, 1, &b));
    for (size_t k = 0; k < sizeof ints / sizeof ints[0]; k++) {
        int32_t got = 0;
        ok(ctx, vscan_buffer_set(a, 0, &ints[k].a));
        ok(ctx, vscan_map_right(ctx, ints[k].op, a, &ints[k].b, a));
        ok(ctx, vscan_buffer_get(a, 0, &got));
        assert_int_equal(got, ints[k].result);
    }
    static const struct {
        vscan_binary op;
        float a, b, result;
    } floats[] = {{VSCAN_BINARY_MAX, -0.0F, 0.0F, 0.0F},
                  {VSCAN_BINARY_MIN, 0.0F, -0.0F, -0.0F},
                  {VSCAN_BINARY_MAX, 1, NAN, NAN},
                  {VSCAN_BINARY_MIN, NAN, -INFINITY, NAN},
                  {VSCAN_BINARY_DIVIDE, 1, 0, INFINITY},
                  {VSCAN_BINARY_DIVIDE, 0, 0, NAN},
                  {VSCAN_BINARY_AND, NAN, -3, 1},
                  {VSCAN_BINARY_OR, -0.0F, 0, 0},
                  {VSCAN_BINARY_XOR, 2, 3, 0},
                  {VSCAN_BINARY_DIVIDE, 0x1p-126F, 2, 0x1p-127F},
                  {VSCAN_BINARY_MULTIPLY, 0x1p-100F, 0x1p-100F, 0}};
    for (size_t k = 0; k < sizeof floats / sizeof floats[0]; k++) {
        float got = 0;
        ok(ctx, vscan_buffer_set(b, 0, &floats[k].a));
        ok(ctx, vscan_map_right(ctx, floats[k].op, b, &floats[k].b, b));
        ok(ctx, vscan_buffer_get(b, 0, &got));
        assert_int_equal(reference_difference(VSCAN_FLOAT, 1, &floats[k].result, &got), -1);
    }
    ok(NULL, vscan_buffer_destroy(a));
    ok(NULL, vscan_buffer_destroy(b));
}

/* Maxima and minima of each pair of values that are treated apart. */
static void decided_extremes(void **state) {
    (void)state;
    vscan_ctx *ctx = harness_ctx();
    static const double values[] = {-INFINITY, -1, -0.0, 0.0, 1, INFINITY, NAN};
    enum { COUNT = sizeof values / sizeof values[0] };
    for (int type = VSCAN_FLOAT; type <= VSCAN_DOUBLE; type++) {
        vscan_buffer *b = NULL;
        ok(ctx, vscan_buffer_create(ctx, (vscan_type)type, 1, &b));
        for (int k = 0; k < 2 * COUNT * COUNT; k++) {
            const vscan_binary op = k % 2 == 0 ? VSCAN_BINARY_MAX : VSCAN_BINARY_MIN;
            double x = values[k / 2 % COUNT], y = values[k / 2 / COUNT], expected = 0, got = 0;
            if (type == VSCAN_FLOAT) {
                const float narrow[] = {(float)x, (float)y};
                memcpy(&x, narrow, sizeof(float));
                memcpy(&y, narrow + 1, sizeof(float));
            }
            maps_binary(op, (vscan_type)type, &x, &y, &expected);
            ok(ctx, vscan_buffer_set(b, 0, &x));
            ok(ctx, vscan_map_right(ctx, op, b, &y, b));
            ok(ctx, vscan_buffer_get(b, 0, &got));
            assert_int_equal(reference_difference((vscan_type)type, 1, &expected, &got), -1);
        }
        ok(NULL, vscan_buffer_destroy(b));
    }
}

/* What a conversion of floats and doubles does with what does not fit, at each place of a vector and behind its last
   whole one, as plain numbers. */
static void decided_conversions(void **state) {
    (void)state;
    enum { LENGTH = 19 };
    vscan_ctx *ctx = harness_ctx();
    static const struct {
        double from; /* a float, too */
        int64_t to_long;
        int32_t to_int;
        uint8_t to_uint8;
    } cases[] = {{NAN, 0, 0, 0},
                 {INFINITY, INT64_MAX, INT32_MAX, 255},
                 {-INFINITY, INT64_MIN, INT32_MIN, 0},
                 {0x1p63, INT64_MAX, INT32_MAX, 255},
                 {-0x1p63, INT64_MIN, INT32_MIN, 0},
                 {0x1p31, 0x80000000, INT32_MAX, 255},
                 {-0x1p31, -0x80000000L, INT32_MIN, 0},
                 {-0.75, 0, 0, 0},
                 {254.75, 254, 254, 254},
                 {255.5, 255, 255, 255}};
    for (int type = VSCAN_FLOAT; type <= VSCAN_DOUBLE; type++)
        for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++)
            for (int64_t n = 1; n <= LENGTH; n++) {
                float floats[LENGTH];
                double doubles[LENGTH];
                for (int i = 0; i < LENGTH; i++) floats[i] = (float)(doubles[i] = cases[c].from);
                vscan_buffer *in = NULL, *outs[3] = {NULL};
                static const vscan_type types[] = {VSCAN_INT, VSCAN_LONG, VSCAN_UINT8};
                const void *const expected[] = {&cases[c].to_int, &cases[c].to_long,
                                                &cases[c].to_uint8};
                ok(ctx, vscan_buffer_create(ctx, (vscan_type)type, n, &in));
                ok(ctx,
                   vscan_buffer_upload(in, 0, n, type == VSCAN_FLOAT ? (void *)floats : doubles));
                for (int k = 0; k < 3; k++) {
                    int64_t got = 0;
                    ok(ctx, vscan_buffer_create(ctx, types[k], n, &outs[k]));
                    ok(ctx, vscan_convert(ctx, in, outs[k]));
                    for (int64_t i = 0; i < n; i++) {
                        ok(ctx, vscan_buffer_get(outs[k], i, &got));
                        assert_memory_equal(&got, expected[k], reference_bytes(types[k], 1));
                    }
                    ok(NULL, vscan_buffer_destroy(outs[k]));
                }
                ok(NULL, vscan_buffer_destroy(in));
            }
}

/* Numbers rounded down, up and to even, at each place of a vector and behind its last whole one, and their negatives. */
static void decided_roundings(void **state) {
    (void)state;
    enum { LENGTH = 35 };
    vscan_ctx *ctx = harness_ctx();
    static const struct {
        vscan_type most; /* a double alone, or a float, too */
        double from, floor, ceil, even;
    } cases[] = {{VSCAN_FLOAT, 0, 0, 0, 0},
                 {VSCAN_FLOAT, 0x1p-149, 0, 1, 0},
                 {VSCAN_DOUBLE, 0x1p-1074, 0, 1, 0},
                 {VSCAN_FLOAT, 0x1.fffffep-2, 0, 1, 0},
                 {VSCAN_DOUBLE, 0x1.fffffffffffffp-2, 0, 1, 0},
                 {VSCAN_FLOAT, 0.5, 0, 1, 0},
                 {VSCAN_FLOAT, 0x1.000002p-1, 0, 1, 1},
                 {VSCAN_FLOAT, 1, 1, 1, 1},
                 {VSCAN_FLOAT, 1.5, 1, 2, 2},
                 {VSCAN_FLOAT, 2.5, 2, 3, 2},
                 {VSCAN_FLOAT, 2.75, 2, 3, 3},
                 {VSCAN_FLOAT, 0x1p22 + 0.5, 0x1p22, 0x1p22 + 1, 0x1p22},
                 {VSCAN_FLOAT, 0x1p23 - 0.5, 0x1p23 - 1, 0x1p23, 0x1p23},
                 {VSCAN_FLOAT, 0x1p23 + 1, 0x1p23 + 1, 0x1p23 + 1, 0x1p23 + 1},
                 {VSCAN_DOUBLE, 0x1p51 + 0.5, 0x1p51, 0x1p51 + 1, 0x1p51},
                 {VSCAN_DOUBLE, 0x1p52 - 0.5, 0x1p52 - 1, 0x1p52, 0x1p52},
                 {VSCAN_DOUBLE, 0x1p52 + 1, 0x1p52 + 1, 0x1p52 + 1, 0x1p52 + 1},
                 {VSCAN_FLOAT, 0x1.fffffep127, 0x1.fffffep127, 0x1.fffffep127, 0x1.fffffep127},
                 {VSCAN_FLOAT, INFINITY, INFINITY, INFINITY, INFINITY},
                 {VSCAN_FLOAT, NAN, NAN, NAN, NAN}};
    for (size_t c = 0; c < 2 * sizeof cases / sizeof cases[0]; c++)
        for (int type = VSCAN_FLOAT; type <= VSCAN_DOUBLE; type++) {
            const bool less = c % 2;
            const double sign = less ? -1 : 1, from = sign * cases[c / 2].from;
            const double expected[] = {
                sign * (less ? cases[c / 2].ceil : cases[c / 2].floor),
                sign * (less ? cases[c / 2].floor : cases[c / 2].ceil), sign * cases[c / 2].even};
            if (type == VSCAN_FLOAT && cases[c / 2].most == VSCAN_DOUBLE) continue;
            vscan_buffer *in = NULL, *out = NULL;
            ok(ctx, vscan_buffer_create(ctx, (vscan_type)type, LENGTH, &in));
            ok(ctx, vscan_buffer_create(ctx, (vscan_type)type, LENGTH, &out));
            const float as_float = (float)from;
            ok(ctx, vscan_buffer_fill(in, type == VSCAN_FLOAT ? (const void *)&as_float : &from));
            for (int op = VSCAN_UNARY_FLOOR; op <= VSCAN_UNARY_ROUND_EVEN; op++) {
                ok(ctx, vscan_map_unary(ctx, (vscan_unary)op, in, out));
                union {
                    float as_float[LENGTH];
                    double as_double[LENGTH];
                } got;
                ok(ctx, vscan_buffer_download(out, 0, LENGTH, &got));
                for (int i = 0; i < LENGTH; i++) {
                    const double x = type == VSCAN_FLOAT ? got.as_float[i] : got.as_double[i];
                    const double y = expected[op - VSCAN_UNARY_FLOOR];
                    if (isnan(y) ? isnan(x) : x == y && !signbit(x) == !signbit(y)) continue;
                    fail_msg("operator %d of %a, type %d, element %d: %a, not %a", op, from, type,
                             i, x, y);
                }
            }
            ok(NULL, vscan_buffer_destroy(in));
            ok(NULL, vscan_buffer_destroy(out));
        }
}

/* A division by 0: results all the same, one report, by each function that waits; then no more. */
static void division(void **state) {
    (void)state;
    vscan_ctx *ctx = harness_ctx();
    vscan_buffer *a = NULL, *b = NULL;
    int32_t values[4] = {7, -7, 9, 5}, divisors[4] = {2, 2, 0, 5}, got[4] = {0};
    ok(ctx, vscan_buffer_create(ctx, VSCAN_INT, 4, &a));
    ok(ctx, vscan_buffer_create(ctx, VSCAN_INT, 4, &b));
    for (int way = 0; way < 4; way++) {
        ok(ctx, vscan_buffer_upload(a, 0, 4, values));
        ok(ctx, vscan_buffer_upload(b, 0, 4, divisors));
        ok(ctx, vscan_map_binary(ctx, VSCAN_BINARY_DIVIDE, a, b, a));
        ok(ctx, vscan_map_right(ctx, VSCAN_BINARY_ADD, a, &divisors[0], b)); /* reports nothing */
        if (way == 0) refused(ctx, VSCAN_ERROR_DIVISION, "element 2", vscan_ctx_synchronize(ctx));
        if (way == 1)
            refused(ctx, VSCAN_ERROR_DIVISION, "element 2", vscan_buffer_download(a, 0, 4, got));
        if (way == 2) refused(ctx, VSCAN_ERROR_DIVISION, "element 2", vscan_buffer_get(a, 2, got));
        if (way == 3) {
            vscan_buffer *total = harness_one(ctx, VSCAN_INT);
            ok(ctx, vscan_reduce(ctx, VSCAN_PLUS, a, total, NULL));
            refused(ctx, VSCAN_ERROR_DIVISION, "element 2", vscan_buffer_get(total, 0, got));
            ok(ctx, vscan_buffer_destroy(total));
            assert_int_equal(got[0], 3 - 3 + 0 + 1);
        }
        ok(ctx, vscan_ctx_synchronize(ctx));
        ok(ctx, vscan_buffer_download(a, 0, 4, got));
        const int32_t expected[4] = {3, -3, 0, 1};
        assert_memory_equal(got, expected, sizeof got);
    }
    /* scalars: found with elements alone */
    const int32_t zero = 0;
    ok(ctx, vscan_map_right(ctx, VSCAN_BINARY_REMAINDER, a, &zero, a));
    refuses(VSCAN_ERROR_DIVISION, vscan_ctx_synchronize(ctx));
    vscan_buffer *none = NULL;
    ok(ctx, vscan_buffer_view(a, 0, 0, &none));
    ok(ctx, vscan_map_right(ctx, VSCAN_BINARY_REMAINDER, none, &zero, none));
    ok(ctx, vscan_ctx_synchronize(ctx));
    ok(NULL, vscan_buffer_destroy(none));
    ok(NULL, vscan_buffer_destroy(a));
    ok(NULL, vscan_buffer_destroy(b));
}

/* ---- Long vectors ---------------------------------------------------------------------------- */

/* So long that the CPU backend stores what is not in place past the caches. */
static void long_vectors(void **state) {
    (void)state;
    struct inputs_random random = {harness_seed() + 6};
    const int64_t bytes = (32 << 20) + inputs_below(&random, 5000) * 8;
    run_convert(VSCAN_INT, VSCAN_DOUBLE, bytes / 8, &random);
    run_convert(VSCAN_BYTE, VSCAN_LONG, bytes / 8, &random);
    if (harness_small()) return;
    for (int k = 0; k < 2; k++) {
        run_unary(VSCAN_UNARY_NEGATE, VSCAN_FLOAT, bytes / 4, &random);
        run_binary(VSCAN_BINARY_REMAINDER, VSCAN_LONG, bytes / 8, (enum side)k, &random);
        run_compare(VSCAN_LESS, VSCAN_DOUBLE, VSCAN_INT, bytes / 4, &random);
        run_select(VSCAN_FLOAT, VSCAN_BIT, bytes / 4, (enum side)k, &random);
    }
}

/* ---- The same bits --------------------------------------------------------------------------- */

/* By a caller that rounds upward, or to nearest as usual; he keeps his mode. */
static void map_rounding(bool upward, vscan_ctx *ctx, vscan_binary op, const struct guarded *a,
                         const struct guarded *b, const struct guarded *out) {
    const int wanted = upward ? FE_UPWARD : FE_TONEAREST;
    fesetround(wanted);
    const vscan_status status = vscan_map_binary(ctx, op, a->view, b->view, out->view);
    const int rounding = fegetround();
    fesetround(FE_TONEAREST);
    ok(ctx, status);
    assert_int_equal(rounding, wanted);
}

/*
 * Vectors long enough for several threads, and callers with floating-point modes of their own: one whose
 * threads may do all of the work, and one who does it himself.
 */
static void same_bits(void **state) {
    (void)state;
    struct inputs_random random = {harness_seed() + 5};
    const int64_t n = harness_small() ? 70000 : 700000 + inputs_below(&random, 5000);
    vscan_ctx *one = harness_new_cpu_ctx(1, NULL), *many = harness_new_ctx(5);
    for (int t = VSCAN_FLOAT; t <= VSCAN_DOUBLE; t++) {
        const vscan_type type = (vscan_type)t;
        void *a = maps_random(type, n, &random), *b = maps_random(type, n, &random);
        struct guarded one_a = guarded_make(one, type, n, -1, a);
        struct guarded one_b = guarded_make(one, type, n, -1, b);
        struct guarded one_out = guarded_make(one, type, n, -1, NULL);
        struct guarded many_a = guarded_make(many, type, n, 1, a);
        struct guarded many_b = guarded_make(many, type, n, 2, b);
        struct guarded many_out = guarded_make(many, type, n, 1, NULL);
        for (int k = 0; k < 2 * (VSCAN_BINARY_DIVIDE + 1 - VSCAN_BINARY_ADD); k++) {
            const vscan_binary op = (vscan_binary)(VSCAN_BINARY_ADD + k / 2);
            map_rounding(k % 2 == 0, one, op, &one_a, &one_b, &one_out);
            map_rounding(k % 2 != 0, many, op, &many_a, &many_b, &many_out);
            bool intact;
            char what[TEXT];
            snprintf(what, sizeof what, "same bits, binary %d of %s", (int)op,
                     reference_type_name(type));
            maps_check(&many_out, guarded_download(&one_out, &intact), what);
        }
        struct guarded *const all[] = {&one_a, &one_b, &one_out, &many_a, &many_b, &many_out};
        for (int k = 0; k < 6; k++) guarded_free(all[k]);
        free(a);
        free(b);
    }
    ok(NULL, vscan_ctx_destroy(one));
    ok(NULL, vscan_ctx_destroy(many));
}

/* More elements than an int counts: bytes, so that it fits. */
static void beyond_2_31(void **state) {
    (void)state;
    if (!harness_long()) skip();
    vscan_ctx *ctx = harness_ctx();
    const int64_t n = (INT64_C(1) << 31) + 4097;
    const uint8_t zero = 0, seven = 7;
    vscan_buffer *bytes = NULL, *bits = NULL;
    ok(ctx, vscan_buffer_create(ctx, VSCAN_BYTE, n, &bytes));
    ok(ctx, vscan_buffer_create(ctx, VSCAN_BIT, n, &bits));
    ok(ctx, vscan_buffer_fill(bytes, &zero));
    const int64_t places[] = {0, 77, INT64_C(1) << 31, n - 1};
    for (int k = 0; k < 4; k++) ok(ctx, vscan_buffer_set(bytes, places[k], &seven));
    ok(ctx, vscan_convert(ctx, bytes, bits));
    ok(ctx, vscan_map_unary(ctx, VSCAN_UNARY_NOT, bits, bits));
    ok(ctx, vscan_convert(ctx, bits, bytes));
    for (int k = 0; k < 4; k++) {
        uint8_t got = 9;
        ok(ctx, vscan_buffer_get(bytes, places[k], &got));
        assert_int_equal(got, 0);
        ok(ctx, vscan_buffer_get(bytes, places[k] == n - 1 ? n - 2 : places[k] + 1, &got));
        assert_int_equal(got, 1);
    }
    ok(NULL, vscan_buffer_destroy(bytes));
    ok(NULL, vscan_buffer_destroy(bits));
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unary),
        cmocka_unit_test(binary_int),
        cmocka_unit_test(binary_long),
        cmocka_unit_test(binary_float),
        cmocka_unit_test(binary_double),
        cmocka_unit_test(binary_flags),
        cmocka_unit_test(compare),
        cmocka_unit_test(select_elements),
        cmocka_unit_test(convert),
        cmocka_unit_test(decided),
        cmocka_unit_test(decided_extremes),
        cmocka_unit_test(decided_conversions),
        cmocka_unit_test(decided_roundings),
        cmocka_unit_test(division),
        cmocka_unit_test(same_bits),
        cmocka_unit_test(long_vectors),
        cmocka_unit_test(beyond_2_31),
    };
    return harness_run(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
