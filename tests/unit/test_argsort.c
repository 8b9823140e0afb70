/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sorts without values, but with a vector for them: it becomes the permutation, as if the values were the
 * positions.
 */
#include "harness.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "guarded.h"
#include "inputs.h"
#include "reference.h"
#include "world.h"

/* Offsets of some segments; the first need not begin at 0, nor the last end at n. */
static vscan_buffer *draw_offsets(vscan_ctx *ctx, int64_t n, struct inputs_random *random) {
    int64_t at[20];
    const int64_t count = 1 + inputs_below(random, 20);
    for (int64_t k = 0, from = inputs_below(random, n + 1); k < count; k++) {
        at[k] = from;
        from += inputs_below(random, n - from + 1);
    }
    vscan_buffer *offsets;
    ok(ctx, vscan_buffer_create(ctx, VSCAN_LONG, count, &offsets));
    ok(ctx, vscan_buffer_upload(offsets, 0, count, at));
    return offsets;
}

static void check(vscan_type type, vscan_type positions, int64_t n, struct inputs_random *random) {
    vscan_ctx *const ctx = harness_ctx();
    void *const in = malloc(reference_bytes(type, n) + 1);
    assert_non_null(in);
    inputs_fill(inputs_below(random, 2) ? INPUTS_RANDOM : INPUTS_SAWTOOTH, type, n,
                inputs_next(random), in);
    const int shift = (int)inputs_below(random, 4);
    struct guarded keys = guarded_make(ctx, type, n, 1, in),
                   places = guarded_make(ctx, positions, n, 0, NULL);
    struct guarded sorted = guarded_make(ctx, type, n, shift, NULL),
                   out = guarded_make(ctx, positions, n, 3 - shift, NULL);
    vscan_buffer *const offsets = inputs_below(random, 2) ? draw_offsets(ctx, n, random) : NULL;
    const vscan_sort_options o = {
        .size = sizeof o,
        .order = inputs_below(random, 2) ? VSCAN_DESCENDING : VSCAN_ASCENDING};
    bool intact;
    ok(ctx, vscan_index(ctx, 0, 1, places.view));
    if (offsets == NULL)
        ok(ctx, vscan_sort(ctx, keys.view, places.view, sorted.view, places.view, &o));
    else
        ok(ctx, vscan_sort_by_offsets(ctx, keys.view, places.view, offsets, sorted.view,
                                      places.view, &o));
    void *const expected = malloc(reference_bytes(positions, n) + 1);
    assert_non_null(expected);
    memcpy(expected, guarded_download(&places, &intact), reference_bytes(positions, n));
    vscan_buffer *const keys_out = inputs_below(random, 2) ? keys.view : sorted.view;
    if (offsets == NULL)
        ok(ctx, vscan_sort(ctx, keys.view, NULL, keys_out, out.view, &o));
    else
        ok(ctx, vscan_sort_by_offsets(ctx, keys.view, NULL, offsets, keys_out, out.view, &o));
    const void *const got = guarded_download(&out, &intact);
    assert_true(intact);
    assert_memory_equal(expected, got, reference_bytes(positions, n));
    void *const sorted_keys = malloc(reference_bytes(type, n) + 1);
    assert_non_null(sorted_keys);
    memcpy(sorted_keys, guarded_download(&sorted, &intact), reference_bytes(type, n));
    assert_memory_equal(sorted_keys,
                        guarded_download(keys_out == keys.view ? &keys : &sorted, &intact),
                        reference_bytes(type, n));
    free(sorted_keys);
    free(expected);
    free(in);
    ok(NULL, vscan_buffer_destroy(offsets));
    guarded_free(&keys);
    guarded_free(&places);
    guarded_free(&sorted);
    guarded_free(&out);
}

static void permutations(void **state) {
    (void)state;
    struct inputs_random random = {harness_seed()};
    static const int64_t lengths[] = {0, 1, 2, 100, 5000, 70000};
    for (int t = 0; t < REFERENCE_TYPES; t++)
        for (int k = 0; k < (harness_small() ? 5 : 6); k++)
            for (int repeat = 0; repeat < 4; repeat++)
                check(reference_types[t], repeat % 2 ? VSCAN_LONG : VSCAN_INT,
                      lengths[k] + (k > 2 ? inputs_below(&random, lengths[k]) : 0), &random);
}

/* ---- Refused --------------------------------------------------------------------------------- */

static void refused_with(vscan_status status, const char *word, vscan_buffer *keys,
                         vscan_buffer *keys_out, vscan_buffer *values_out) {
    refused_untouched(status, word, vscan_sort(w.ctx, keys, NULL, keys_out, values_out, NULL));
    refused_untouched(
        status, word,
        vscan_sort_by_offsets(w.ctx, keys, NULL, w.of_long, keys_out, values_out, NULL));
}

static void refused_vectors(void **state) {
    (void)state;
    vscan_buffer *const not_positions[] = {w.of_float, w.of_double, w.of_byte, w.of_bit};
    for (int k = 0; k < 4; k++)
        refused_with(VSCAN_ERROR_TYPE, "values_out ", w.in, w.out, not_positions[k]);
    refused_with(VSCAN_ERROR_LENGTH, "values_out ", w.in, w.out, w.shorter);
    refused_with(VSCAN_ERROR_OVERLAP, "values_out ", w.in, w.out, w.in);
    refused_with(VSCAN_ERROR_OVERLAP, "values_out ", w.in, w.out, w.out);
    const vscan_sort_options o = {.size = sizeof o, .unused = 1};
    refused_untouched(VSCAN_ERROR_VALUE, "options->unused ",
                      vscan_sort(w.ctx, w.in, NULL, w.out, w.flags, &o));
}

/* More keys than an int can count. They are never read, so their memory need not be there. */
static void refused_many(void **state) {
    (void)state;
    if (harness_backend != VSCAN_BACKEND_CPU) skip();
    const int64_t n = INT64_C(1) << 31;
    char *const memory = mmap(NULL, (size_t)n * 8, PROT_NONE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_true(memory != MAP_FAILED);
    vscan_buffer *many, *positions;
    ok(w.ctx, vscan_buffer_wrap(w.ctx, VSCAN_INT, memory, n, &many));
    ok(w.ctx, vscan_buffer_wrap(w.ctx, VSCAN_INT, memory + n * 4, n, &positions));
    refused_with(VSCAN_ERROR_LENGTH, "keys ", many, many, positions);
    ok(NULL, vscan_buffer_destroy(many));
    ok(NULL, vscan_buffer_destroy(positions));
    munmap(memory, (size_t)n * 8);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(permutations),
                                       world_unit_test(refused_vectors),
                                       world_unit_test(refused_many)};
    return harness_run(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
