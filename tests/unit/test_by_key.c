/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs of equal keys, and their totals, against a serial loop: keys, offsets, the number of runs, in one column
 * and in two; totals have the bits of a vector of the run's elements alone. What the calls refuse is at the end.
 */
#include "cases.h"
#include "core/pairs.h"
#include "maps.h"
#include "refusal.h"
#include "world.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* ---- Runs ------------------------------------------------------------------------------------ */

/* Keys in runs, among them zeros of both signs and NaNs; begins: where runs begin, by keys or by flags. */
static void draw_keys(vscan_type type, int64_t n, const uint8_t *within,
                      struct inputs_random *random, char *keys, int64_t *begins, int64_t *runs) {
    static const double special[] = {0.0, -0.0, 1, -1, NAN, INFINITY};
    const int64_t longest = INT64_C(1) << inputs_below(random, 15);
    int64_t which = 0;
    *runs = 0;
    for (int64_t i = 0, end = 0; i < n; i++) {
        const bool new_key = i == end;
        if (new_key) { /* another key than before */
            end = i + 1 + inputs_below(random, longest);
            which = (which + 1 + inputs_below(random, 5)) % 6;
        }
        char *const to = keys + reference_bytes(type, i);
        if (type == VSCAN_INT) memcpy(to, &(int32_t){(int32_t)which - 3}, 4);
        if (type == VSCAN_LONG) memcpy(to, &(int64_t){which * (INT64_C(1) << 40)}, 8);
        if (type == VSCAN_FLOAT) memcpy(to, &(float){(float)special[which]}, 4);
        if (type == VSCAN_DOUBLE) memcpy(to, &special[which], 8);
        if (new_key || (within != NULL && within[i])) begins[(*runs)++] = i;
    }
    begins[*runs] = n;
}

static void one_case(vscan_op op, vscan_type type, vscan_type key_type, int64_t n,
                     struct inputs_random *random) {
    vscan_ctx *ctx = harness_ctx();
    const bool two = inputs_below(random, 3) == 0;
    uint8_t *set = maps_draw_flags((int)inputs_below(random, MAPS_DENSITIES), n, random);
    char *keys = malloc(reference_bytes(key_type, n) + 8),
         *in = malloc(reference_bytes(type, n) + 8);
    int64_t *begins = malloc((size_t)(n + 2) * sizeof *begins), runs;
    char z[8];
    assert_true(keys != NULL && in != NULL && begins != NULL);
    draw_keys(key_type, n, two ? set : NULL, random, keys, begins, &runs);
    inputs_fill(INPUTS_RANDOM, type, n, inputs_next(random), in);
    inputs_fill(INPUTS_RANDOM, type, 1, inputs_next(random), z);
    const bool initial = inputs_below(random, 3) == 0;
    /* room: as much as is needed, more, or less */
    const int64_t rooms[] = {runs, runs + 3, runs > 0 ? inputs_below(random, runs) : 0};
    const int64_t room = rooms[inputs_below(random, 3)], keys_room = rooms[inputs_below(random, 3)];
    const int64_t offsets_room = 1 + rooms[inputs_below(random, 3)];
    const vscan_type offset_type = inputs_below(random, 2) ? VSCAN_INT : VSCAN_LONG;
    const vscan_type flag_type = VSCAN_BYTE;
    int shift[3];
    maps_shifts(random, 3, shift);
    struct guarded k = guarded_make(ctx, key_type, n, shift[0], keys);
    struct guarded v = guarded_make(ctx, type, n, shift[1], in);
    struct guarded flags = guarded_make(ctx, flag_type, n, shift[2], set);
    struct guarded keys_out = guarded_make(ctx, key_type, keys_room, shift[0], NULL);
    struct guarded totals = guarded_make(ctx, type, room, shift[2], NULL);
    struct guarded offsets = guarded_make(ctx, offset_type, offsets_room, shift[1], NULL);
    struct guarded count = guarded_make(ctx, VSCAN_LONG, 1, 0, NULL);
    void *expected_keys = maps_original(&keys_out), *expected_totals = maps_original(&totals);
    void *expected_offsets = maps_original(&offsets);
    for (int64_t r = 0; r <= runs; r++) {
        if (r < offsets_room && offset_type == VSCAN_INT)
            ((int32_t *)expected_offsets)[r] = (int32_t)begins[r];
        else if (r < offsets_room)
            ((int64_t *)expected_offsets)[r] = begins[r];
        if (r < runs && r < keys_room)
            memcpy(maps_at(key_type, expected_keys, r), keys + reference_bytes(key_type, begins[r]),
                   reference_bytes(key_type, 1));
        struct reference total = {.op = op,
                                  .type = type,
                                  .n = begins[r + (r < runs)] - begins[r],
                                  .in = in + reference_bytes(type, begins[r]),
                                  .initial = initial ? z : NULL,
                                  .total = maps_at(type, expected_totals, r)};
        if (r < runs && r < room) reference_scan(&total);
    }
    char what[200];
    snprintf(what, sizeof what,
             "%s of %s by %s keys, n %" PRId64 ", %" PRId64 " runs, room %" PRId64 " %" PRId64
             " %" PRId64 ", seed %" PRIu64,
             reference_op_name(op), reference_type_name(type), reference_type_name(key_type), n,
             runs, keys_room, room, offsets_room, harness_seed());
    const bool wants_keys = inputs_below(random, 4) != 0;
    const vscan_reduce_by_key_options by = {.size = sizeof by,
                                            .initial = harness_value(type, initial ? z : NULL),
                                            .within = two ? flags.view : NULL,
                                            .count = count.view};
    ok(ctx, vscan_reduce_by_key(ctx, op, k.view, v.view, wants_keys ? keys_out.view : NULL,
                                totals.view, &by));
    const bool keys_late = wants_keys && runs > keys_room, totals_late = runs > room;
    maps_late(ctx,
              keys_late     ? VSCAN_ERROR_OUT_LENGTH
              : totals_late ? VSCAN_ERROR_TOTALS_LENGTH
                            : VSCAN_OK,
              what);
    maps_check(&totals, expected_totals, what);
    maps_check(&keys_out, wants_keys ? expected_keys : guarded_original(&keys_out), what);
    maps_check(&count, &runs, what);
    const vscan_runs_options o = {
        .size = sizeof o, .within = two ? flags.view : NULL, .count = count.view};
    ok(ctx, vscan_runs(ctx, k.view, keys_out.view, offsets.view, &o));
    const bool short_offsets = runs + 1 > offsets_room;
    maps_late(ctx, runs > keys_room || short_offsets ? VSCAN_ERROR_OUT_LENGTH : VSCAN_OK, what);
    maps_check(&keys_out, expected_keys, what);
    maps_check(&offsets, expected_offsets, what);
    maps_check(&count, &runs, what);
    maps_check(&k, keys, what);
    maps_check(&v, in, what);
    maps_check(&flags, set, what);
    struct guarded *const all[] = {&k, &v, &flags, &keys_out, &totals, &offsets, &count};
    for (int g = 0; g < 7; g++) guarded_free(all[g]);
    void *const memory[] = {
        set, keys, in, begins, expected_keys, expected_totals, expected_offsets};
    for (int g = 0; g < 7; g++) free(memory[g]);
}

static void test_pair(vscan_op op, vscan_type type) {
    struct inputs_random random = {case_seed(op, type, 71)};
    static const vscan_type keys[] = {VSCAN_INT, VSCAN_LONG, VSCAN_FLOAT, VSCAN_DOUBLE};
    int64_t sizes[MAPS_SIZES];
    const size_t count = maps_sizes(sizes, &random);
    for (size_t s = 0; s < count; s++)
        one_case(op, type, keys[inputs_below(&random, 4)], sizes[s], &random);
    if (!harness_small())
        one_case(op, type, keys[inputs_below(&random, 4)], 1 + inputs_below(&random, 600000),
                 &random);
}

#define X(pair, op, type, OP, TYPE)                                                                \
    static void by_key_##pair(void **state) {                                                      \
        (void)state;                                                                               \
        test_pair(VSCAN_##OP, VSCAN_##TYPE);                                                       \
    }
VSCAN__PAIRS(X)
#undef X

/* Only the number; only the keys; nothing at all. */
static void runs_in_part(void **state) {
    (void)state;
    vscan_ctx *ctx = harness_ctx();
    const int32_t keys[] = {5, 5, 7, 7, 7, 5}, unique[] = {5, 7, 5, 0};
    int32_t got[4] = {0};
    int64_t number = 0;
    vscan_buffer *k, *out, *count;
    ok(ctx, vscan_buffer_create(ctx, VSCAN_INT, 6, &k));
    ok(ctx, vscan_buffer_create(ctx, VSCAN_INT, 4, &out));
    ok(ctx, vscan_buffer_create(ctx, VSCAN_LONG, 1, &count));
    ok(ctx, vscan_buffer_upload(k, 0, 6, keys));
    ok(ctx, vscan_buffer_upload(out, 0, 4, got));
    ok(ctx, vscan_runs(ctx, k, NULL, NULL,
                       &(vscan_runs_options){.size = sizeof(vscan_runs_options), .count = count}));
    ok(ctx, vscan_buffer_download(count, 0, 1, &number));
    assert_int_equal(number, 3);
    ok(ctx, vscan_runs(ctx, k, out, NULL, NULL));
    ok(ctx, vscan_buffer_download(out, 0, 4, got));
    assert_memory_equal(got, unique, sizeof got);
    ok(ctx, vscan_runs(ctx, k, NULL, NULL, NULL));
    ok(ctx, vscan_ctx_synchronize(ctx));
    ok(ctx, vscan_buffer_destroy(k));
    ok(ctx, vscan_buffer_destroy(out));
    ok(ctx, vscan_buffer_destroy(count));
}

/* No keys have no runs: the offsets are a single 0, and nothing else is written. */
static void no_keys(void **state) {
    (void)state;
    vscan_ctx *ctx = harness_ctx();
    const int32_t old[] = {8, 9};
    int32_t got[2] = {0};
    vscan_buffer *none, *some;
    ok(ctx, vscan_buffer_create(ctx, VSCAN_INT, 0, &none));
    ok(ctx, vscan_buffer_create(ctx, VSCAN_INT, 2, &some));
    ok(ctx, vscan_buffer_upload(some, 0, 2, old));
    ok(ctx, vscan_runs(ctx, none, some, NULL, NULL));
    ok(ctx, vscan_reduce_by_key(ctx, VSCAN_MAX, none, none, NULL, some, NULL));
    ok(ctx, vscan_buffer_download(some, 0, 2, got));
    assert_memory_equal(got, old, sizeof got);
    ok(ctx, vscan_runs(ctx, none, NULL, some, NULL));
    ok(ctx, vscan_buffer_download(some, 0, 2, got));
    assert_int_equal(got[0], 0);
    assert_int_equal(got[1], 9);
    ok(ctx, vscan_buffer_destroy(none));
    ok(ctx, vscan_buffer_destroy(some));
}

/* ---- Refusals -------------------------------------------------------------------------------- */

static vscan_status runs_on(vscan_ctx *ctx) {
    return vscan_runs(ctx, w.in, w.out, w.flags, NULL);
}
static vscan_status by_key_on(vscan_ctx *ctx) {
    return vscan_reduce_by_key(ctx, VSCAN_PLUS, w.in, w.in, w.out, w.totals, NULL);
}

static void refused_arguments(void **state) {
    (void)state;
    world_check_contexts(runs_on);
    world_check_contexts(by_key_on);
    vscan_ctx *c = w.ctx;
    const vscan_op op = VSCAN_PLUS;
    for (int i = 0; i < WRONG_HANDLES; i++) {
        const struct wrong_handle h = wrong_handle(i);
        vscan_buffer *const bad = h.handle;
        refused_untouched(h.status, "keys ", vscan_runs(c, bad, w.out, w.flags, NULL));
        refused_untouched(h.status, "keys ",
                          vscan_reduce_by_key(c, op, bad, w.in, w.out, w.totals, NULL));
        refused_untouched(h.status, "in ",
                          vscan_reduce_by_key(c, op, w.in, bad, w.out, w.totals, NULL));
        refused_untouched(h.status, "totals ",
                          vscan_reduce_by_key(c, op, w.in, w.in, w.out, bad, NULL));
        if (bad == NULL) continue; /* none */
        refused_untouched(h.status, "keys_out ", vscan_runs(c, w.in, bad, w.flags, NULL));
        refused_untouched(h.status, "offsets ", vscan_runs(c, w.in, w.out, bad, NULL));
        const vscan_runs_options within = {.size = sizeof within, .within = bad};
        refused_untouched(h.status, "within ", vscan_runs(c, w.in, w.out, w.flags, &within));
        const vscan_runs_options count = {.size = sizeof count, .count = bad};
        refused_untouched(h.status, "count ", vscan_runs(c, w.in, w.out, w.flags, &count));
        refused_untouched(h.status, "keys_out ",
                          vscan_reduce_by_key(c, op, w.in, w.in, bad, w.totals, NULL));
    }
    refused_untouched(VSCAN_ERROR_TYPE, "keys ", vscan_runs(c, w.of_byte, NULL, w.flags, NULL));
    refused_untouched(VSCAN_ERROR_TYPE, "keys_out ", vscan_runs(c, w.in, w.of_float, NULL, NULL));
    refused_untouched(VSCAN_ERROR_TYPE, "offsets ", vscan_runs(c, w.in, NULL, w.of_float, NULL));
    refused_untouched(VSCAN_ERROR_LENGTH, "offsets ",
                      vscan_runs(c, w.in, NULL, world_make(VSCAN_INT, 0), NULL));
    refused_untouched(VSCAN_ERROR_OVERLAP, "keys_out ", vscan_runs(c, w.in, w.in, NULL, NULL));
    refused_untouched(VSCAN_ERROR_OVERLAP, "offsets ", vscan_runs(c, w.in, NULL, w.in, NULL));
    refused_untouched(VSCAN_ERROR_OVERLAP, "keys_out ", vscan_runs(c, w.in, w.out, w.out, NULL));
    refused_untouched(VSCAN_ERROR_LENGTH, "in ",
                      vscan_reduce_by_key(c, op, w.in, w.shorter, w.out, w.totals, NULL));
    refused_untouched(VSCAN_ERROR_PAIR, "in ",
                      vscan_reduce_by_key(c, op, w.in, w.of_byte, w.out, w.totals, NULL));
    refused_untouched(VSCAN_ERROR_TYPE, "totals ",
                      vscan_reduce_by_key(c, op, w.in, w.in, w.out, w.of_float, NULL));
    refused_untouched(VSCAN_ERROR_OVERLAP, "totals ",
                      vscan_reduce_by_key(c, op, w.in, w.in, NULL, w.in, NULL));
    refused_untouched(VSCAN_ERROR_OVERLAP, "keys_out ",
                      vscan_reduce_by_key(c, op, w.in, w.in, w.out, w.out, NULL));
    refused_untouched(VSCAN_ERROR_ENUM, "op ",
                      vscan_reduce_by_key(c, (vscan_op)6, w.in, w.in, w.out, w.totals, NULL));
    const vscan_reduce_by_key_options size = {.size = sizeof size - 1};
    refused_untouched(VSCAN_ERROR_STRUCT_SIZE, "options->size ",
                      vscan_reduce_by_key(c, op, w.in, w.in, w.out, w.totals, &size));
    const vscan_reduce_by_key_options wrong = {.size = sizeof wrong, .within = w.of_float};
    refused_untouched(VSCAN_ERROR_TYPE, "options->within ",
                      vscan_reduce_by_key(c, op, w.in, w.in, w.out, w.totals, &wrong));
    const vscan_reduce_by_key_options initial = {.size = sizeof initial,
                                                 .initial_buffer = w.one_float};
    refused_untouched(VSCAN_ERROR_TYPE, "options->initial_buffer ",
                      vscan_reduce_by_key(c, op, w.in, w.in, w.out, w.totals, &initial));
    const vscan_reduce_by_key_options within = {.size = sizeof within, .within = w.flags};
    refused_untouched(VSCAN_ERROR_OVERLAP, "totals overlaps options->within",
                      vscan_reduce_by_key(c, op, w.in, w.in, w.out, w.flags, &within));
    vscan_runs_options runs = {.size = sizeof runs - 1};
    refused_untouched(VSCAN_ERROR_STRUCT_SIZE, "options->size ",
                      vscan_runs(c, w.in, w.out, NULL, &runs));
    runs = (vscan_runs_options){.size = sizeof runs, .within = w.shorter};
    refused_untouched(VSCAN_ERROR_LENGTH, "options->within ",
                      vscan_runs(c, w.in, w.out, NULL, &runs));
    runs.within = w.flags;
    refused_untouched(VSCAN_ERROR_OVERLAP, "offsets overlaps options->within",
                      vscan_runs(c, w.in, w.out, w.flags, &runs));
}

/* More keys than an int can count. They are never read, so their memory need not be there. */
static void refused_many(void **state) {
    (void)state;
    if (harness_backend != VSCAN_BACKEND_CPU) skip();
    const int64_t n = INT64_C(1) << 31;
    void *const memory =
        mmap(NULL, (size_t)n * 4, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_true(memory != MAP_FAILED);
    vscan_buffer *many;
    ok(w.ctx, vscan_buffer_wrap(w.ctx, VSCAN_INT, memory, n, &many));
    refused_untouched(VSCAN_ERROR_LENGTH, "offsets of type int ",
                      vscan_runs(w.ctx, many, NULL, w.out, NULL));
    ok(NULL, vscan_buffer_destroy(many));
    munmap(memory, (size_t)n * 4);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
#define X(pair, op, type, OP, TYPE) cmocka_unit_test(by_key_##pair),
        VSCAN__PAIRS(X)
#undef X
            cmocka_unit_test(runs_in_part),
        cmocka_unit_test(no_keys),
        world_unit_test(refused_arguments),
        world_unit_test(refused_many),
    };
    return harness_run(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
