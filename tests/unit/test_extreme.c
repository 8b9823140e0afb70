/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Running and total maximum and minimum with positions, of vectors, against one plain element after another, and
 * against vscan_scan and vscan_reduce. What the calls refuse is at the end.
 */
#include "extreme_inputs.h"
#include "extreme_reference.h"
#include "maps.h"
#include "pairs.h"
#include "refusal.h"
#include "world.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { TEXT = 200, SIZES = MAPS_SIZES + 12 };

static const vscan_type numbers[] = {VSCAN_INT, VSCAN_LONG, VSCAN_FLOAT, VSCAN_DOUBLE};

/* Those of all maps, and around the tiles of a GPU. */
static size_t draw_sizes(int64_t sizes[SIZES], struct inputs_random *random) {
    size_t count = maps_sizes(sizes, random);
    for (int64_t tile = 4096; tile <= 8192; tile *= 2)
        for (int64_t beside = -1; beside <= 1; beside++) sizes[count++] = tile + beside;
    for (int k = 0; k < (harness_small() ? 0 : 3); k++)
        sizes[count++] = 100000 + inputs_below(random, 400000);
    return count;
}

/* ---- Calls ----------------------------------------------------------------------------------- */

static void run(enum extreme_pattern pattern, vscan_type type, int64_t n, struct inputs_random *random) {
    vscan_ctx *ctx = harness_ctx();
    int shift[4];
    maps_shifts(random, 4, shift);
    void *const v = extreme_draw(pattern, type, n, random);
    const bool min = inputs_below(random, 2), backward = inputs_below(random, 2);
    const int64_t place = inputs_below(random, 3); /* 0: no out, 1: in place */
    const vscan_type of = inputs_below(random, 2) ? VSCAN_INT : VSCAN_LONG;
    const vscan_op op = min ? VSCAN_MIN : VSCAN_MAX;
    const vscan_extreme_options options = {.size = sizeof options,
                                           .direction = backward ? VSCAN_BACKWARD : VSCAN_FORWARD};
    struct guarded in = guarded_make(ctx, type, n, shift[0], v);
    struct guarded apart = guarded_make(ctx, type, n, shift[1], NULL);
    struct guarded positions = guarded_make(ctx, of, n, shift[2], NULL);
    struct guarded total = guarded_make(ctx, type, 1, shift[3], NULL);
    struct guarded last = guarded_make(ctx, of, 1, shift[1], NULL);
    struct guarded *const out = place == 1 ? &in : &apart;
    void *const results = maps_original(out), *const places = maps_original(&positions);
    void *const end = maps_original(&total), *const end_place = maps_original(&last);
    const size_t size = reference_bytes(type, 1);
    const int64_t best = extreme_reference(op, type, n, v, backward, results, of, places);
    if (n > 0)
        memcpy(end, (char *)v + (size_t)best * size, size);
    else
        extreme_put(type, end, 0, min ? INFINITY : -INFINITY);
    extreme_put_position(of, end_place, 0, best);
    char what[TEXT];
    snprintf(what, sizeof what,
             "%s %s, pattern %d, n %" PRId64 "%s%s, positions %s, shifts %d %d %d",
             min ? "min" : "max", reference_type_name(type), (int)pattern, n,
             backward ? ", backward" : "",
             place == 0   ? ", no out"
             : place == 1 ? ", in place"
                          : "",
             reference_type_name(of), shift[0], shift[1], shift[2]);
    const bool plain = !backward && inputs_below(random, 2),
               no_total = inputs_below(random, 3) == 0;
    ok(ctx, vscan_reduce_extreme(ctx, op, in.view, no_total ? NULL : total.view, last.view,
                                 plain ? NULL : &options));
    ok(ctx, vscan_scan_extreme(ctx, op, in.view, place == 0 ? NULL : out->view, positions.view,
                               plain ? NULL : &options));
    maps_late(ctx, VSCAN_OK, what);
    maps_check(&positions, places, what);
    maps_check(&last, end_place, what);
    maps_check(&total, no_total ? guarded_original(&total) : end, what);
    maps_check(out, place == 0 ? guarded_original(out) : results, what);
    maps_check(place == 1 ? &apart : &in, guarded_original(place == 1 ? &apart : &in), what);
    if (place == 2 && type != VSCAN_LONG) { /* the bits of vscan_scan and vscan_reduce */
        const vscan_scan_options scan = {.size = sizeof scan, .direction = options.direction};
        const vscan_reduce_options reduce = {.size = sizeof reduce, .direction = options.direction};
        ok(ctx, vscan_scan(ctx, op, in.view, apart.view, &scan));
        ok(ctx, vscan_reduce(ctx, op, in.view, total.view, &reduce));
        maps_check(&apart, results, what);
        maps_check(&total, end, what);
    }
    struct guarded *all[] = {&in, &apart, &positions, &total, &last};
    for (int k = 0; k < 5; k++) guarded_free(all[k]);
    free(v);
    free(results);
    free(places);
    free(end);
    free(end_place);
}

static void extremes(void **state) {
    (void)state;
    struct inputs_random random = {harness_seed() + 71};
    int64_t sizes[SIZES];
    for (int t = 0; t < 4; t++)
        for (int pattern = 0; pattern < PATTERNS; pattern++) {
            const size_t count = draw_sizes(sizes, &random);
            for (size_t s = 0; s < count; s++)
                if (!harness_small() || s % PATTERNS == (size_t)pattern)
                    run((enum extreme_pattern)pattern, numbers[t], sizes[s], &random);
        }
}

/* So many that all threads have some, and blocks several tiles. */
static void many(void **state) {
    (void)state;
    if (harness_small()) skip();
    struct inputs_random random = {harness_seed() + 72};
    for (int pattern = 0; pattern < PATTERNS; pattern++)
        run((enum extreme_pattern)pattern, numbers[inputs_below(&random, 4)],
            3000000 + inputs_below(&random, 2000000), &random);
}

/* Of no element: the identity, and position -1. */
static void nothing(void **state) {
    (void)state;
    vscan_ctx *ctx = harness_ctx();
    for (int k = 0; k < 32;
         k++) { /* every type, operator and type of positions, with a total and without */
        const vscan_type type = numbers[k % 4], of = k & 4 ? VSCAN_INT : VSCAN_LONG;
        const bool min = k & 8, has_total = k & 16;
        struct guarded in = guarded_make(ctx, type, 0, 0, NULL);
        struct guarded total = guarded_make(ctx, type, 1, 0, NULL);
        struct guarded position = guarded_make(ctx, of, 1, 0, NULL);
        void *const end = maps_original(&total), *const place = maps_original(&position);
        if (has_total) extreme_put(type, end, 0, min ? INFINITY : -INFINITY);
        extreme_put_position(of, place, 0, -1);
        ok(ctx, vscan_reduce_extreme(ctx, min ? VSCAN_MIN : VSCAN_MAX, in.view,
                                     has_total ? total.view : NULL, position.view, NULL));
        struct guarded none = guarded_make(ctx, of, 0, 0, NULL);
        ok(ctx,
           vscan_scan_extreme(ctx, min ? VSCAN_MIN : VSCAN_MAX, in.view, NULL, none.view, NULL));
        maps_check(&total, end, "no elements");
        maps_check(&position, place, "no elements");
        guarded_free(&none);
        guarded_free(&in);
        guarded_free(&total);
        guarded_free(&position);
        free(end);
        free(place);
    }
}

/* ---- Refusals -------------------------------------------------------------------------------- */

static vscan_status scan_on(vscan_ctx *c) {
    return vscan_scan_extreme(c, VSCAN_MAX, w.in, w.out, w.flags, NULL);
}
static vscan_status reduce_on(vscan_ctx *c) {
    return vscan_reduce_extreme(c, VSCAN_MIN, w.in, w.total, w.one_int, NULL);
}

static void refused_handles(void **state) {
    (void)state;
    world_check_contexts(scan_on);
    world_check_contexts(reduce_on);
    vscan_ctx *c = w.ctx;
    for (int i = 0; i < WRONG_HANDLES; i++) {
        const struct wrong_handle h = wrong_handle(i);
        vscan_buffer *const b = h.handle;
        refused_untouched(h.status, "in ",
                          vscan_scan_extreme(c, VSCAN_MAX, b, w.out, w.flags, NULL));
        refused_untouched(h.status, "positions ",
                          vscan_scan_extreme(c, VSCAN_MAX, w.in, w.out, b, NULL));
        refused_untouched(h.status, "in ",
                          vscan_reduce_extreme(c, VSCAN_MAX, b, w.total, w.one_int, NULL));
        refused_untouched(h.status, "position ",
                          vscan_reduce_extreme(c, VSCAN_MAX, w.in, w.total, b, NULL));
        if (b == NULL) continue; /* then there is none */
        refused_untouched(h.status, "out ",
                          vscan_scan_extreme(c, VSCAN_MAX, w.in, b, w.flags, NULL));
        refused_untouched(h.status, "total ",
                          vscan_reduce_extreme(c, VSCAN_MAX, w.in, b, w.one_int, NULL));
    }
}

#define SCAN(status, word, in, out, positions)                                                     \
    refused_untouched(status, word, vscan_scan_extreme(w.ctx, VSCAN_MIN, in, out, positions, NULL))
#define REDUCE(status, word, in, total, position)                                                  \
    refused_untouched(status, word,                                                                \
                      vscan_reduce_extreme(w.ctx, VSCAN_MIN, in, total, position, NULL))

static void refused_vectors(void **state) {
    (void)state;
    const vscan_status type = VSCAN_ERROR_TYPE, length = VSCAN_ERROR_LENGTH,
                       overlap = VSCAN_ERROR_OVERLAP;
    SCAN(type, "in ", w.of_byte, w.of_byte, w.flags);
    SCAN(type, "in ", w.of_bit, w.of_bit, w.flags);
    SCAN(type, "in ", w.of_uint8, w.of_uint8, w.flags);
    SCAN(type, "out ", w.in, w.of_float, w.flags);
    SCAN(type, "positions ", w.in, w.out, w.of_float);
    SCAN(length, "out ", w.in, w.shorter, w.flags);
    SCAN(length, "positions ", w.in, w.out, w.shorter);
    SCAN(overlap, "out ", w.in, w.shifted, w.flags);
    SCAN(overlap, "positions ", w.in, w.out, w.in);
    SCAN(overlap, "positions ", w.in, w.out, w.out);
    SCAN(overlap, "positions ", w.in, NULL, w.shifted);
    REDUCE(type, "in ", w.of_byte, w.total, w.one_int);
    REDUCE(type, "total ", w.in, w.one_float, w.one_int);
    REDUCE(type, "position ", w.in, w.total, w.one_float);
    REDUCE(length, "total ", w.in, w.out, w.one_int);
    REDUCE(length, "position ", w.in, w.total, w.two_long);
    REDUCE(overlap, "position ", w.in, w.one_int, w.one_int);
    vscan_buffer *element; /* of in */
    ok(w.ctx, vscan_buffer_view(w.in, 3, 1, &element));
    REDUCE(overlap, "position ", w.in, NULL, element);
    REDUCE(overlap, "total ", w.in, element, w.one_int);
    ok(w.ctx, vscan_buffer_destroy(element));
}

/* Both functions. */
static void refused_by_both(vscan_status status, const char *word, vscan_op op,
                            const vscan_extreme_options *options) {
    refused_untouched(status, word, vscan_scan_extreme(w.ctx, op, w.in, w.out, w.flags, options));
    refused_untouched(status, word,
                      vscan_reduce_extreme(w.ctx, op, w.in, w.total, w.one_int, options));
}

static void refused_options(void **state) {
    (void)state;
    vscan_extreme_options o = {.size = sizeof o, .direction = VSCAN_BACKWARD};
    const int ops[] = {0, VSCAN_PLUS, VSCAN_AND, VSCAN_OR, LAST_OP + 1, VSCAN_BINARY_MAX, -1};
    for (size_t k = 0; k < sizeof ops / sizeof ops[0]; k++)
        refused_by_both(VSCAN_ERROR_ENUM, "op ", (vscan_op)ops[k], &o);
    o.direction = VSCAN_EXCLUSIVE;
    refused_by_both(VSCAN_ERROR_ENUM, "options->direction ", VSCAN_MAX, &o);
    o.direction = 0;
    o.unused = 1;
    refused_by_both(VSCAN_ERROR_VALUE, "options->unused ", VSCAN_MAX, &o);
    o.unused = 0;
    o.size = 8;
    refused_by_both(VSCAN_ERROR_STRUCT_SIZE, "options", VSCAN_MAX, &o);
}

/* More elements than an int can count. They are never read, so their memory need not be there. */
static void refused_many(void **state) {
    (void)state;
    if (harness_backend != VSCAN_BACKEND_CPU) skip();
    const int64_t n = INT64_C(1) << 31;
    void *const memory =
        mmap(NULL, (size_t)n * 4, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_true(memory != MAP_FAILED);
    vscan_buffer *many;
    ok(w.ctx, vscan_buffer_wrap(w.ctx, VSCAN_INT, memory, n, &many));
    SCAN(VSCAN_ERROR_LENGTH, "positions ", many, NULL, w.out);
    REDUCE(VSCAN_ERROR_LENGTH, "position ", many, w.total, w.one_int);
    ok(NULL, vscan_buffer_destroy(many));
    munmap(memory, (size_t)n * 4);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(extremes),       cmocka_unit_test(many),
        cmocka_unit_test(nothing),        world_unit_test(refused_handles),
        world_unit_test(refused_vectors), world_unit_test(refused_options),
        world_unit_test(refused_many)};
    return harness_run(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
