/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What works by position, against one plain element after another: index, distribute, gather,
 * permute, with positions of both types, out of range and repeated ones too. What the calls refuse is
 * at the end.
 */
#include "maps.h"
#include "refusal.h"
#include "world.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT = 160 };

/* ---- Index, distribute ----------------------------------------------------------------------- */

static void run_index(vscan_type type, int64_t n, struct inputs_random *random) {
    static const int64_t firsts[] = {0, 1, -5, INT32_MAX - 100, INT64_MAX - 1000, 16777216};
    static const int64_t steps[] = {1, 0, -1, 3, INT64_C(1) << 33, 1000003};
    vscan_ctx *ctx = harness_ctx();
    const int64_t first = firsts[inputs_below(random, 6)], step = steps[inputs_below(random, 6)];
    int shift;
    maps_shifts(random, 1, &shift);
    struct guarded out = guarded_make(ctx, type, n, shift, NULL);
    void *expected = maps_original(&out);
    for (int64_t i = 0; i < n; i++) {
        const uint64_t x = (uint64_t)first + (uint64_t)i * (uint64_t)step;
        if (type == VSCAN_INT) ((uint32_t *)expected)[i] = (uint32_t)x;
        if (type == VSCAN_LONG) ((uint64_t *)expected)[i] = x;
        if (type == VSCAN_FLOAT) ((float *)expected)[i] = (float)(int64_t)x;
        if (type == VSCAN_DOUBLE) ((double *)expected)[i] = (double)(int64_t)x;
    }
    char what[TEXT];
    snprintf(what, sizeof what,
             "index of %s from %" PRId64 " by %" PRId64 ", n %" PRId64 ", shift %d",
             reference_type_name(type), first, step, n, shift);
    ok(ctx, vscan_index(ctx, first, step, out.view));
    maps_judge(ctx, VSCAN_OK, &out, expected, (struct guarded *[]){&out, NULL}, what);
    free(expected);
}

static void index_elements(void **state) {
    (void)state;
    static const vscan_type types[] = {VSCAN_INT, VSCAN_LONG, VSCAN_FLOAT, VSCAN_DOUBLE};
    struct inputs_random random = {harness_seed() + 11};
    int64_t sizes[MAPS_SIZES];
    for (int t = 0; t < 4; t++) {
        const size_t count = maps_sizes(sizes, &random);
        for (size_t s = 0; s < count; s++) run_index(types[t], sizes[s], &random);
    }
}

static void run_distribute(vscan_type type, int64_t n, struct inputs_random *random) {
    vscan_ctx *ctx = harness_ctx();
    int shift[2];
    maps_shifts(random, 2, shift);
    void *value = maps_random(type, 1, random);
    struct guarded one = guarded_make(ctx, type, 1, shift[0], value);
    struct guarded out = guarded_make(ctx, type, n, shift[1], NULL);
    void *expected = maps_original(&out);
    for (int64_t i = 0; i < n; i++) {
        if (type == VSCAN_BIT)
            maps_put_flag(type, expected, i, maps_flag(type, value, 0));
        else
            memcpy(maps_at(type, expected, i), value, reference_bytes(type, 1));
    }
    char what[TEXT];
    snprintf(what, sizeof what, "distribute of %s, n %" PRId64 ", shifts %d %d",
             reference_type_name(type), n, shift[0], shift[1]);
    ok(ctx, vscan_distribute(ctx, one.view, out.view));
    maps_judge(ctx, VSCAN_OK, &out, expected, (struct guarded *[]){&one, &out, NULL}, what);
    free(value);
    free(expected);
}

static void distribute(void **state) {
    (void)state;
    struct inputs_random random = {harness_seed() + 12};
    int64_t sizes[MAPS_SIZES];
    for (int type = VSCAN_INT; type <= VSCAN_UINT8; type++) {
        const size_t count = maps_sizes(sizes, &random);
        for (size_t s = 0; s < count; s++) run_distribute((vscan_type)type, sizes[s], &random);
    }
}

/* ---- Gather, permute ------------------------------------------------------------------------- */

static void put_position(vscan_type type, void *positions, int64_t i, int64_t position) {
    if (type == VSCAN_INT)
        ((int32_t *)positions)[i] = (int32_t)position;
    else
        ((int64_t *)positions)[i] = position;
}

static int64_t position_at(vscan_type type, const void *positions, int64_t i) {
    return type == VSCAN_INT ? ((const int32_t *)positions)[i] : ((const int64_t *)positions)[i];
}

/* Some position that is none of a vector of that length. */
static int64_t outside(vscan_type type, int64_t length, struct inputs_random *random) {
    const int64_t all[] = {-1, length, length + 1, INT32_MIN, INT32_MAX, INT64_MIN, INT64_MAX};
    return all[inputs_below(random, type == VSCAN_INT ? 5 : 7)];
}

static void run_gather(vscan_type type, vscan_type position_type, int64_t n,
                       struct inputs_random *random) {
    vscan_ctx *ctx = harness_ctx();
    const int64_t lengths[] = {1, 7, n + 1, 3 * n + 5};
    const int64_t length = lengths[inputs_below(random, 4)];
    const bool some_outside = inputs_below(random, 3) == 0;
    int shift[3];
    maps_shifts(random, 3, shift);
    void *in = maps_random(type, length, random);
    void *positions = maps_random(position_type, n, random); /* for its size */
    bool bad = false;
    for (int64_t i = 0; i < n; i++) {
        const bool is_outside = some_outside && inputs_below(random, 50) == 0;
        bad |= is_outside;
        put_position(position_type, positions, i,
                     is_outside ? outside(position_type, length, random)
                                : inputs_below(random, length));
    }
    struct guarded from = guarded_make(ctx, type, length, shift[0], in);
    struct guarded at = guarded_make(ctx, position_type, n, shift[1], positions);
    struct guarded out = guarded_make(ctx, type, n, shift[2], NULL);
    void *expected = maps_original(&out);
    for (int64_t i = 0; i < n; i++) {
        const int64_t p = position_at(position_type, positions, i);
        if (p < 0 || p >= length) continue;
        memcpy(maps_at(type, expected, i), maps_at(type, in, p), reference_bytes(type, 1));
    }
    char what[TEXT];
    snprintf(what, sizeof what, "gather of %s by %s, n %" PRId64 " of %" PRId64 ", shifts %d %d %d",
             reference_type_name(type), reference_type_name(position_type), n, length, shift[0],
             shift[1], shift[2]);
    ok(ctx, vscan_gather(ctx, from.view, at.view, out.view));
    maps_judge(ctx, bad ? VSCAN_ERROR_POSITION : VSCAN_OK, &out, expected,
               (struct guarded *[]){&from, &at, &out, NULL}, what);
    free(in);
    free(positions);
    free(expected);
}

static const vscan_type moved[] = {VSCAN_INT, VSCAN_FLOAT, VSCAN_DOUBLE, VSCAN_BYTE, VSCAN_LONG,
                                   VSCAN_UINT8};
enum { MOVED = 6 };

static void gather(void **state) {
    (void)state;
    struct inputs_random random = {harness_seed() + 13};
    int64_t sizes[MAPS_SIZES];
    for (int t = 0; t < MOVED; t++)
        for (int p = 0; p < 2; p++) {
            const size_t count = maps_sizes(sizes, &random);
            for (size_t s = 0; s < count; s++)
                run_gather(moved[t], p ? VSCAN_LONG : VSCAN_INT, sizes[s], &random);
        }
}

/* n different positions below length >= n, in random order. */
static void draw(vscan_type type, int64_t n, int64_t length, struct inputs_random *random,
                 void *positions) {
    int64_t *all = malloc((size_t)length * sizeof *all + 1);
    assert_non_null(all);
    for (int64_t k = 0; k < length; k++) all[k] = k;
    for (int64_t i = 0; i < n; i++) {
        const int64_t k = i + inputs_below(random, length - i);
        const int64_t taken = all[k];
        all[k] = all[i];
        put_position(type, positions, i, taken);
    }
    free(all);
}

enum faults { NO_FAULT, OUTSIDE, REPEATED, BOTH, FAULTS };

static void run_permute(vscan_type type, vscan_type position_type, int64_t n, enum faults faults,
                        struct inputs_random *random) {
    vscan_ctx *ctx = harness_ctx();
    const int64_t length = n + (inputs_below(random, 2) ? 0 : inputs_below(random, n + 100));
    const bool marked = inputs_below(random, 2);
    int shift[4];
    maps_shifts(random, 4, shift);
    void *in = maps_random(type, n, random);
    void *positions = maps_random(position_type, n, random);
    draw(position_type, n, length, random, positions);
    if (n < 3) faults = NO_FAULT;
    const bool outsiders = faults == OUTSIDE || faults == BOTH;
    const bool repeated = faults == REPEATED || faults == BOTH;
    const int64_t other = inputs_below(random, n < 3 ? 1 : n - 1); /* in the end stands there too */
    if (repeated) {
        put_position(position_type, positions, n - 1, position_at(position_type, positions, other));
        /* the same element, so that it does not matter which is written */
        memcpy(maps_at(type, in, n - 1), maps_at(type, in, other), reference_bytes(type, 1));
    }
    if (outsiders)
        for (int k = 0; k < 3; k++) {
            const int64_t i = inputs_below(random, n - 1);
            if (i == other) continue;
            put_position(position_type, positions, i, outside(position_type, length, random));
        }
    struct guarded from = guarded_make(ctx, type, n, shift[0], in);
    struct guarded at = guarded_make(ctx, position_type, n, shift[1], positions);
    struct guarded out = guarded_make(ctx, type, length, shift[2], NULL);
    struct guarded written = guarded_make(ctx, VSCAN_BIT, length, shift[3], NULL);
    void *expected = maps_original(&out), *expected_written = maps_original(&written);
    bool bad = false;
    if (marked)
        for (int64_t k = 0; k < length; k++) maps_put_flag(VSCAN_BIT, expected_written, k, false);
    for (int64_t i = 0; i < n; i++) {
        const int64_t p = position_at(position_type, positions, i);
        if (p < 0 || p >= length) {
            bad = true;
            continue;
        }
        memcpy(maps_at(type, expected, p), maps_at(type, in, i), reference_bytes(type, 1));
        if (marked) maps_put_flag(VSCAN_BIT, expected_written, p, true);
    }
    char what[TEXT];
    snprintf(what, sizeof what,
             "permute of %s by %s%s, n %" PRId64 " of %" PRId64 ", faults %d, shifts %d %d %d",
             reference_type_name(type), reference_type_name(position_type),
             marked ? ", marked" : "", n, length, (int)faults, shift[0], shift[1], shift[2]);
    const vscan_permute_options o = {.size = sizeof o, .written = marked ? written.view : NULL};
    ok(ctx, vscan_permute(ctx, from.view, at.view, out.view,
                          marked || inputs_below(random, 2) ? &o : NULL));
    const vscan_status late = bad                  ? VSCAN_ERROR_POSITION
                              : marked && repeated ? VSCAN_ERROR_REPEATED
                                                   : VSCAN_OK;
    maps_late(ctx, late, what);
    maps_check(&out, expected, what);
    maps_check(&written, expected_written, what);
    maps_check(&from, guarded_original(&from), what);
    maps_check(&at, guarded_original(&at), what);
    struct guarded *const all[] = {&from, &at, &out, &written};
    for (int k = 0; k < 4; k++) guarded_free(all[k]);
    free(in);
    free(positions);
    free(expected);
    free(expected_written);
}

static void permute(void **state) {
    (void)state;
    struct inputs_random random = {harness_seed() + 14};
    int64_t sizes[MAPS_SIZES];
    for (int t = 0; t < MOVED; t++)
        for (int p = 0; p < 2; p++) {
            const size_t count = maps_sizes(sizes, &random);
            for (size_t s = 0; s < count; s++)
                for (int faults = NO_FAULT; faults < FAULTS; faults++)
                    run_permute(moved[t], p ? VSCAN_LONG : VSCAN_INT, sizes[s], (enum faults)faults,
                                &random);
        }
}

/* There and back again, in enough chunks for several threads; every element with all its bits. */
static void there_and_back(void **state) {
    (void)state;
    vscan_ctx *ctx = harness_ctx();
    struct inputs_random random = {harness_seed() + 15};
    const int64_t n = harness_small() ? 50000 : 300000 + inputs_below(&random, 1000);
    void *in = maps_random(VSCAN_DOUBLE, n, &random);
    void *positions = maps_random(VSCAN_INT, n, &random);
    draw(VSCAN_INT, n, n, &random, positions);
    struct guarded v = guarded_make(ctx, VSCAN_DOUBLE, n, 1, in);
    struct guarded p = guarded_make(ctx, VSCAN_INT, n, 2, positions);
    struct guarded there = guarded_make(ctx, VSCAN_DOUBLE, n, 3, NULL);
    struct guarded back = guarded_make(ctx, VSCAN_DOUBLE, n, 1, NULL);
    struct guarded written = guarded_make(ctx, VSCAN_BIT, n, 0, NULL);
    const vscan_permute_options o = {.size = sizeof o, .written = written.view};
    ok(ctx, vscan_permute(ctx, v.view, p.view, there.view, &o));
    ok(ctx, vscan_gather(ctx, there.view, p.view, back.view));
    maps_late(ctx, VSCAN_OK, "there and back");
    maps_check(&back, in, "there and back");
    struct guarded *const all[] = {&v, &p, &there, &back, &written};
    for (int k = 0; k < 5; k++) guarded_free(all[k]);
    free(in);
    free(positions);
}

/* The first late error stays until it is reported, and names an element. */
static void late(void **state) {
    (void)state;
    vscan_ctx *ctx = harness_ctx();
    const int64_t positions[4] = {3, 9, 0, 0};
    const int32_t values[4] = {1, 2, 3, 4}, zero = 0;
    int32_t got[4] = {0};
    vscan_buffer *v = NULL, *p = NULL, *out = NULL;
    ok(ctx, vscan_buffer_create(ctx, VSCAN_INT, 4, &v));
    ok(ctx, vscan_buffer_create(ctx, VSCAN_LONG, 4, &p));
    ok(ctx, vscan_buffer_create(ctx, VSCAN_INT, 4, &out));
    ok(ctx, vscan_buffer_upload(v, 0, 4, values));
    ok(ctx, vscan_buffer_upload(p, 0, 4, positions));
    ok(ctx, vscan_buffer_fill(out, &zero));
    ok(ctx, vscan_gather(ctx, v, p, out));
    ok(ctx, vscan_map_right(ctx, VSCAN_BINARY_DIVIDE, v, &zero, v));
    refused(ctx, VSCAN_ERROR_POSITION, "element 1", vscan_buffer_download(out, 0, 4, got));
    const int32_t expected[4] = {4, 0, 1, 1};
    assert_memory_equal(got, expected, sizeof got);
    ok(ctx, vscan_ctx_synchronize(ctx));
    ok(ctx, vscan_map_right(ctx, VSCAN_BINARY_DIVIDE, v, &zero, v));
    ok(ctx, vscan_gather(ctx, v, p, out));
    refuses(VSCAN_ERROR_DIVISION, vscan_ctx_synchronize(ctx));
    ok(ctx, vscan_ctx_synchronize(ctx));
    ok(NULL, vscan_buffer_destroy(v));
    ok(NULL, vscan_buffer_destroy(p));
    ok(NULL, vscan_buffer_destroy(out));
}

/* Of several wrong positions, in chunks of several threads, the first one is named; so is the first repeated
   one. A vector without elements has no position at all. */
static void first_of_many(void **state) {
    (void)state;
    enum { N = 400000 };
    vscan_ctx *ctx = harness_ctx();
    int64_t *positions = malloc(N * sizeof *positions);
    vscan_buffer *v, *p, *out, *bytes, *none;
    assert_non_null(positions);
    ok(ctx, vscan_buffer_create(ctx, VSCAN_INT, N, &v));
    ok(ctx, vscan_buffer_create(ctx, VSCAN_LONG, N, &p));
    ok(ctx, vscan_buffer_create(ctx, VSCAN_INT, N, &out));
    ok(ctx, vscan_buffer_create(ctx, VSCAN_BIT, N, &bytes));
    ok(ctx, vscan_buffer_create(ctx, VSCAN_INT, 0, &none));
    ok(ctx, vscan_buffer_fill(v, &(int32_t){1}));
    const vscan_permute_options options = {.size = sizeof options, .written = bytes};
    for (int repeated = 0; repeated < 2; repeated++) {
        for (int64_t i = 0; i < N; i++) positions[i] = N - 1 - i;
        for (int64_t i = 123456; i < N; i += 10007) positions[i] = repeated ? N - 1 : -i;
        ok(ctx, vscan_buffer_upload(p, 0, N, positions));
        ok(ctx, vscan_permute(ctx, v, p, out, &options));
        const vscan_status status = repeated ? VSCAN_ERROR_REPEATED : VSCAN_ERROR_POSITION;
        if (harness_backend == VSCAN_BACKEND_CPU && !repeated)
            refused(ctx, status, "element 123456", vscan_ctx_synchronize(ctx));
        else /* who is the second of several threads may change */
            refused(ctx, status, "element ", vscan_ctx_synchronize(ctx));
    }
    ok(ctx, vscan_gather(ctx, none, p, out));
    refused(ctx, VSCAN_ERROR_POSITION, "element ", vscan_ctx_synchronize(ctx));
    ok(ctx, vscan_buffer_destroy(v));
    ok(ctx, vscan_buffer_destroy(p));
    ok(ctx, vscan_buffer_destroy(out));
    ok(ctx, vscan_buffer_destroy(bytes));
    ok(ctx, vscan_buffer_destroy(none));
    free(positions);
}

/* ---- Refusals -------------------------------------------------------------------------------- */

static vscan_status index_on(vscan_ctx *ctx) {
    return vscan_index(ctx, 0, 1, w.out);
}
static vscan_status distribute_on(vscan_ctx *ctx) {
    return vscan_distribute(ctx, w.one_int, w.out);
}
static vscan_status gather_on(vscan_ctx *ctx) {
    return vscan_gather(ctx, w.in, w.flags, w.out);
}
static vscan_status permute_on(vscan_ctx *ctx) {
    return vscan_permute(ctx, w.in, w.flags, w.out, NULL);
}

static void refused_handles(void **state) {
    (void)state;
    world_check_contexts(index_on);
    world_check_contexts(distribute_on);
    world_check_contexts(gather_on);
    world_check_contexts(permute_on);
    vscan_ctx *c = w.ctx;
    for (int i = 0; i < WRONG_HANDLES; i++) {
        const struct wrong_handle h = wrong_handle(i);
        refused_untouched(h.status, "out ", vscan_index(c, 0, 1, h.handle));
        refused_untouched(h.status, "value ", vscan_distribute(c, h.handle, w.out));
        refused_untouched(h.status, "out ", vscan_distribute(c, w.one_int, h.handle));
        refused_untouched(h.status, "in ", vscan_gather(c, h.handle, w.flags, w.out));
        refused_untouched(h.status, "positions ", vscan_gather(c, w.in, h.handle, w.out));
        refused_untouched(h.status, "out ", vscan_gather(c, w.in, w.flags, h.handle));
        refused_untouched(h.status, "in ", vscan_permute(c, h.handle, w.flags, w.out, NULL));
        refused_untouched(h.status, "positions ", vscan_permute(c, w.in, h.handle, w.out, NULL));
        refused_untouched(h.status, "out ", vscan_permute(c, w.in, w.flags, h.handle, NULL));
        if (h.handle == NULL) continue; /* none */
        const vscan_permute_options o = {.size = sizeof o, .written = h.handle};
        refused_untouched(h.status, "written ", vscan_permute(c, w.in, w.flags, w.out, &o));
    }
}

static void refused_vectors(void **state) {
    (void)state;
    vscan_ctx *c = w.ctx;
    const vscan_status type = VSCAN_ERROR_TYPE, length = VSCAN_ERROR_LENGTH,
                       overlap = VSCAN_ERROR_OVERLAP;
    refused_untouched(type, "out ", vscan_index(c, 0, 1, w.of_byte));
    refused_untouched(type, "out ", vscan_index(c, 0, 1, w.of_bit));
    refused_untouched(type, "value ", vscan_distribute(c, w.one_float, w.out));
    refused_untouched(length, "value ", vscan_distribute(c, w.in, w.out));
    vscan_buffer *inside = NULL;
    ok(c, vscan_buffer_view(w.out, 5, 1, &inside));
    refused_untouched(overlap, "value ", vscan_distribute(c, inside, w.out));
    ok(NULL, vscan_buffer_destroy(inside));

    refused_untouched(type, "in ", vscan_gather(c, w.of_bit, w.flags, w.of_bit));
    refused_untouched(type, "in ", vscan_permute(c, w.of_bit, w.flags, w.of_bit, NULL));
    vscan_buffer *const no_positions[] = {w.of_float, w.of_double, w.of_byte, w.of_bit};
    for (int k = 0; k < 4; k++) {
        refused_untouched(type, "positions ", vscan_gather(c, w.in, no_positions[k], w.out));
        refused_untouched(type, "positions ", vscan_permute(c, w.in, no_positions[k], w.out, NULL));
    }
    refused_untouched(type, "out ", vscan_gather(c, w.in, w.flags, w.of_float));
    refused_untouched(type, "out ", vscan_permute(c, w.in, w.flags, w.of_float, NULL));
    refused_untouched(length, "positions ", vscan_gather(c, w.in, w.flags, w.shorter));
    refused_untouched(length, "positions ", vscan_permute(c, w.shorter, w.flags, w.out, NULL));
    refused_untouched(overlap, "out ", vscan_gather(c, w.in, w.flags, w.in));
    refused_untouched(overlap, "out ", vscan_gather(c, w.in, w.flags, w.flags));
    refused_untouched(overlap, "out ", vscan_gather(c, w.in, w.flags, w.shifted));
    refused_untouched(overlap, "out ", vscan_permute(c, w.in, w.flags, w.in, NULL));
    refused_untouched(overlap, "out ", vscan_permute(c, w.in, w.flags, w.flags, NULL));
    refused_untouched(overlap, "out ", vscan_permute(c, w.in, w.flags, w.shifted, NULL));

    vscan_permute_options o = {.size = sizeof o, .written = w.of_byte};
    refused_untouched(type, "written ", vscan_permute(c, w.in, w.flags, w.out, &o));
    o.written = w.of_bit;
    refused_untouched(length, "written ", vscan_permute(c, w.in, w.flags, w.one_int, &o));
    void *const taken[] = {vscan_buffer_pointer(w.in), vscan_buffer_pointer(w.flags),
                           vscan_buffer_pointer(w.out)};
    for (int k = 0; k < 3; k++) {
        vscan_buffer *bits = NULL;
        ok(c, vscan_buffer_wrap(c, VSCAN_BIT, taken[k], N, &bits));
        o.written = bits;
        refused_untouched(overlap, "written ", vscan_permute(c, w.in, w.flags, w.out, &o));
        ok(NULL, vscan_buffer_destroy(bits));
    }
    o.written = w.of_bit;
    const int64_t sizes[] = {0, -1, 8, sizeof o - 1, INT64_MAX, INT64_MIN};
    for (int k = 0; k < 6; k++) {
        o.size = sizes[k];
        refused_untouched(VSCAN_ERROR_STRUCT_SIZE, "size",
                          vscan_permute(c, w.in, w.flags, w.out, &o));
    }
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(index_elements), cmocka_unit_test(distribute),
        cmocka_unit_test(gather),         cmocka_unit_test(permute),
        cmocka_unit_test(there_and_back), cmocka_unit_test(late),
        cmocka_unit_test(first_of_many),  world_unit_test(refused_handles),
        world_unit_test(refused_vectors),
    };
    return harness_run(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
