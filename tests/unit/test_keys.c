/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Heads of keys, and lower and upper bounds in a sorted vector, against one plain element after another in
 * the order of sorts. What the calls refuse is at the end.
 */
#include "maps.h"
#include "move_reference.h"
#include "refusal.h"
#include "world.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { TEXT = 200, SIZES = MAPS_SIZES + 8 };

static const vscan_type numbers[] = {VSCAN_INT, VSCAN_LONG, VSCAN_FLOAT, VSCAN_DOUBLE};
static const vscan_type flag_types[] = {VSCAN_INT, VSCAN_BYTE, VSCAN_BIT};

/* Those of all maps, and some blocks of a GPU. */
static size_t draw_sizes(int64_t sizes[SIZES], struct inputs_random *random) {
    size_t count = maps_sizes(sizes, random);
    if (!harness_small()) sizes[count++] = 100000 + inputs_below(random, 900000);
    return count;
}

/* n keys that the caller frees: runs of one key after the other, special ones too; where it is a NaN its
   bits change within the run. */
static void *draw_keys(vscan_type type, int64_t n, int64_t longest, struct inputs_random *random) {
    char *const keys = maps_random(type, n, random);
    const size_t size = reference_bytes(type, 1);
    for (int64_t i = 0, end; i < n; i = end) {
        end = i + 1 + inputs_below(random, longest);
        if (end > n) end = n;
        for (int64_t k = i + 1; k < end; k++)
            memcpy(keys + (size_t)k * size, keys + (size_t)i * size, size);
        const bool nan =
            type == VSCAN_FLOAT    ? ((float *)(void *)keys)[i] != ((float *)(void *)keys)[i]
            : type == VSCAN_DOUBLE ? ((double *)(void *)keys)[i] != ((double *)(void *)keys)[i]
                                   : false;
        for (int64_t k = i; k < end && nan; k++) { /* the payload's lowest byte, and the sign */
            keys[(size_t)k * size] ^= (char)(inputs_below(random, 128) << 1);
            if (inputs_below(random, 2)) keys[(size_t)(k + 1) * size - 1] ^= (char)0x80;
        }
    }
    return keys;
}

/* ---- Heads ----------------------------------------------------------------------------------- */

struct column {
    vscan_type type;
    void *keys;
    struct guarded at;
};

static struct column draw_column(vscan_type type, int64_t n, int shift,
                                 struct inputs_random *random) {
    static const int64_t longest[] = {1, 2, 9, 300, 5000};
    struct column c = {.type = type};
    c.keys = draw_keys(type, n, longest[inputs_below(random, 5)], random);
    c.at = guarded_make(harness_ctx(), type, n, shift, c.keys);
    return c;
}

/* A call with or without flags, in place or apart. */
static void run_heads(vscan_type type, int64_t n, struct inputs_random *random) {
    vscan_ctx *ctx = harness_ctx();
    int shift[3];
    maps_shifts(random, 3, shift);
    struct column column = draw_column(type, n, shift[0], random);
    const bool has_within = inputs_below(random, 2),
               in_place = has_within && inputs_below(random, 2);
    const vscan_type head_type = flag_types[inputs_below(random, 3)];
    const vscan_type within_type = in_place ? head_type : flag_types[inputs_below(random, 3)];
    uint8_t *const set = maps_draw_flags((int)inputs_below(random, MAPS_DENSITIES), n, random);
    void *const encoded = maps_encode_flags(within_type, n, set, random);
    struct guarded within = guarded_make(ctx, within_type, n, shift[1], encoded);
    struct guarded apart = guarded_make(ctx, head_type, n, shift[2], NULL);
    struct guarded *const heads = in_place ? &within : &apart;
    void *const expected = maps_original(heads);
    const struct sort_rule rule = {.type = type};
    for (int64_t i = 0; i < n; i++)
        maps_put_flag(head_type, expected, i,
                      i == 0 || (has_within && set[i]) ||
                          sort_compare(&rule, column.keys, i - 1, i) != 0);
    char what[TEXT];
    snprintf(what, sizeof what, "%s keys to %s heads, n %" PRId64 "%s%s%s, shifts %d %d %d",
             reference_type_name(type), reference_type_name(head_type), n,
             has_within ? ", within " : "", has_within ? reference_type_name(within_type) : "",
             in_place ? " in place" : "", shift[0], shift[1], shift[2]);
    ok(ctx, vscan_keys_to_heads(ctx, column.at.view, has_within ? within.view : NULL, heads->view));
    struct guarded *all[] = {&column.at, &within, &apart, NULL};
    maps_judge(ctx, VSCAN_OK, heads, expected, all, what);
    free(expected);
    free(encoded);
    free(set);
    free(column.keys);
}

static void heads(void **state) {
    (void)state;
    struct inputs_random random = {harness_seed() + 61};
    int64_t sizes[SIZES];
    for (int t = 0; t < 4; t++)
        for (int variant = harness_small() ? 3 : 0; variant < 4; variant++) {
            const size_t count = draw_sizes(sizes, &random);
            for (size_t s = 0; s < count; s++) run_heads(numbers[t], sizes[s], &random);
        }
}

/* Runs of rows that are equal in all of several columns, of every type, call by call. */
static void columns(void **state) {
    (void)state;
    vscan_ctx *ctx = harness_ctx();
    struct inputs_random random = {harness_seed() + 62};
    for (int run = 0; run < (harness_small() ? 3 : 40); run++) {
        const int64_t n = 1 + inputs_below(&random, 9000);
        const int many = 2 + (int)inputs_below(&random, 4);
        const vscan_type head_type = flag_types[inputs_below(&random, 3)];
        struct guarded to = guarded_make(ctx, head_type, n, (int)inputs_below(&random, 4), NULL);
        struct column all[5];
        void *const expected = maps_original(&to);
        for (int64_t i = 0; i < n; i++) maps_put_flag(head_type, expected, i, i == 0);
        for (int k = 0; k < many; k++) {
            all[k] = draw_column(numbers[inputs_below(&random, 4)], n, k, &random);
            const struct sort_rule rule = {.type = all[k].type};
            for (int64_t i = 1; i < n; i++)
                if (sort_compare(&rule, all[k].keys, i - 1, i) != 0)
                    maps_put_flag(head_type, expected, i, true);
            ok(ctx, vscan_keys_to_heads(ctx, all[k].at.view, k > 0 ? to.view : NULL, to.view));
        }
        maps_check(&to, expected, "heads of several columns");
        guarded_free(&to);
        free(expected);
        for (int k = 0; k < many; k++) {
            guarded_free(&all[k].at);
            free(all[k].keys);
        }
    }
}

/* ---- Bounds ---------------------------------------------------------------------------------- */

/* The numbers of sorted keys before value v, by a plain search: both are in one vector. */
static int64_t bound_of(const struct sort_rule *rule, const void *keys, int64_t n, int64_t v,
                        bool upper) {
    int64_t low = 0, high = n;
    while (low < high) {
        const int64_t middle = (low + high) / 2;
        const int order = sort_compare(rule, keys, middle, v);
        if (order < 0 || (upper && order == 0))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* In the order of sorts, as the reference has it. */
static void sort_keys(const struct sort_rule *rule, void *keys, int64_t n) {
    const size_t size = reference_bytes(rule->type, 1);
    int64_t *const positions = malloc((size_t)n * 8 + 8), *const room = malloc((size_t)n * 8 + 8);
    char *const copy = malloc((size_t)n * size + 8);
    assert_non_null(positions);
    assert_non_null(room);
    assert_non_null(copy);
    for (int64_t i = 0; i < n; i++) positions[i] = i;
    sort_positions(rule, keys, positions, room, 0, n);
    memcpy(copy, keys, (size_t)n * size);
    for (int64_t i = 0; i < n; i++)
        memcpy((char *)keys + (size_t)i * size, copy + (size_t)positions[i] * size, size);
    free(copy);
    free(room);
    free(positions);
}

/* n numbers, m values: half of them are among the numbers; perhaps they are in order, too. */
static void run_bounds(vscan_type type, int64_t n, int64_t m, struct inputs_random *random) {
    vscan_ctx *ctx = harness_ctx();
    const struct sort_rule rule = {.type = type};
    const size_t size = reference_bytes(type, 1);
    const bool in_order = inputs_below(random, 2), is_sorted = inputs_below(random, 8) > 0;
    /* the sorted ones, and then the values, so that one comparison serves both */
    char *const keys = draw_keys(type, n + m, 1 + inputs_below(random, 40), random);
    char *const values = keys + (size_t)n * size;
    if (is_sorted) sort_keys(&rule, keys, n);
    for (int64_t i = 0; i < m && n > 0; i++)
        if (inputs_below(random, 2))
            memcpy(values + (size_t)i * size, keys + (size_t)inputs_below(random, n) * size, size);
    if (in_order) sort_keys(&rule, values, m);
    const vscan_type to = inputs_below(random, 2) ? VSCAN_INT : VSCAN_LONG;
    for (int upper = 0; upper < 2; upper++) {
        int shift[3];
        maps_shifts(random, 3, shift);
        struct guarded sorted = guarded_make(ctx, type, n, shift[0], keys);
        struct guarded wanted = guarded_make(ctx, type, m, shift[1], values);
        struct guarded positions = guarded_make(ctx, to, m, shift[2], NULL);
        char what[TEXT];
        snprintf(what, sizeof what,
                 "%s bounds of %" PRId64 " %s values%s in %" PRId64 "%s, to %s, shifts %d %d %d",
                 upper ? "upper" : "lower", m, reference_type_name(type),
                 in_order ? " in order" : "", n, is_sorted ? "" : " that are not sorted",
                 reference_type_name(to), shift[0], shift[1], shift[2]);
        ok(ctx, (upper ? vscan_upper_bound : vscan_lower_bound)(ctx, sorted.view, wanted.view,
                                                                positions.view));
        void *const expected = maps_original(&positions);
        bool intact;
        const void *const got = guarded_download(&positions, &intact);
        for (int64_t i = 0; i < m; i++) {
            int64_t at = bound_of(&rule, keys, n, n + i, upper);
            if (!is_sorted) { /* only that it is some place is promised */
                at = to == VSCAN_LONG ? ((const int64_t *)got)[i] : ((const int32_t *)got)[i];
                assert_true(at >= 0 && at <= n);
            }
            if (to == VSCAN_LONG)
                ((int64_t *)expected)[i] = at;
            else
                ((int32_t *)expected)[i] = (int32_t)at;
        }
        struct guarded *all[] = {&sorted, &wanted, &positions, NULL};
        maps_judge(ctx, VSCAN_OK, &positions, expected, all, what);
        free(expected);
    }
    free(keys);
}

static void bounds(void **state) {
    (void)state;
    struct inputs_random random = {harness_seed() + 63};
    int64_t sizes[SIZES];
    for (int t = 0; t < 4; t++)
        for (int variant = harness_small() ? 2 : 0; variant < 3; variant++) {
            const size_t count = draw_sizes(sizes, &random);
            for (size_t s = 0; s < count; s++) {
                const int64_t other = sizes[inputs_below(&random, (int64_t)count)];
                run_bounds(numbers[t], variant == 0 ? other : sizes[s],
                           variant == 0 ? sizes[s] : other, &random);
            }
        }
}

/* Keys and sizes at which the samples of a GPU's block, one more or one less, are all there are; many values and few. */
static void bounds_around_samples(void **state) {
    (void)state;
    struct inputs_random random = {harness_seed() + 64};
    static const int64_t sizes[] = {1,    2,    3,    4,    5,    7,    8,   9,
                                    2046, 2047, 2048, 2049, 4095, 4096, 4097};
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++)
        for (int t = 0; t < 4; t++) {
            run_bounds(numbers[t], sizes[s], 3000, &random);
            run_bounds(numbers[t], sizes[s], 3, &random);
        }
}

/* So many that all threads have some; of one type, for time's sake. */
static void many(void **state) {
    (void)state;
    if (harness_small()) skip();
    struct inputs_random random = {harness_seed() + 66};
    const vscan_type type = numbers[inputs_below(&random, 4)];
    const int64_t n = 2000000 + inputs_below(&random, 1000000);
    run_heads(type, n, &random);
    run_bounds(type, n, 30000, &random);
    run_bounds(type, 30000, n, &random);
}

/* Keys that are flags, too: a segment begins where a key differs or is not 0. */
static void keys_within_themselves(void **state) {
    (void)state;
    vscan_ctx *ctx = harness_ctx();
    struct inputs_random random = {harness_seed() + 67};
    enum { MANY = 3000 };
    int32_t keys[MANY];
    for (int i = 0; i < MANY; i++) keys[i] = (int32_t)inputs_below(&random, 2);
    struct guarded at = guarded_make(ctx, VSCAN_INT, MANY, 1, keys);
    struct guarded heads = guarded_make(ctx, VSCAN_BYTE, MANY, 3, NULL);
    uint8_t *const expected = maps_original(&heads);
    for (int i = 0; i < MANY; i++) expected[i] = i == 0 || keys[i] || keys[i - 1];
    ok(ctx, vscan_keys_to_heads(ctx, at.view, at.view, heads.view));
    struct guarded *all[] = {&at, &heads, NULL};
    maps_judge(ctx, VSCAN_OK, &heads, expected, all, "keys that are flags, too");
    free(expected);
}

/* A key is a head where its lower bound is its own place. */
static void heads_are_lower_bounds(void **state) {
    (void)state;
    vscan_ctx *ctx = harness_ctx();
    struct inputs_random random = {harness_seed() + 65};
    enum { MANY = 5000 };
    for (int t = 0; t < 4; t++) {
        void *const drawn = draw_keys(numbers[t], MANY, 7, &random);
        vscan_buffer *keys, *flags, *lower, *upper;
        ok(ctx, vscan_buffer_create(ctx, numbers[t], MANY, &keys));
        ok(ctx, vscan_buffer_create(ctx, VSCAN_BYTE, MANY, &flags));
        ok(ctx, vscan_buffer_create(ctx, VSCAN_LONG, MANY, &lower));
        ok(ctx, vscan_buffer_create(ctx, VSCAN_LONG, MANY, &upper));
        ok(ctx, vscan_buffer_upload(keys, 0, MANY, drawn));
        ok(ctx, vscan_sort(ctx, keys, NULL, keys, NULL, NULL));
        ok(ctx, vscan_keys_to_heads(ctx, keys, NULL, flags));
        ok(ctx, vscan_lower_bound(ctx, keys, keys, lower));
        ok(ctx, vscan_upper_bound(ctx, keys, keys, upper));
        static uint8_t is_head[MANY];
        static int64_t low[MANY], high[MANY];
        ok(ctx, vscan_buffer_download(flags, 0, MANY, is_head));
        ok(ctx, vscan_buffer_download(lower, 0, MANY, low));
        ok(ctx, vscan_buffer_download(upper, 0, MANY, high));
        int64_t first = 0;
        for (int64_t i = 0; i < MANY; i++) {
            if (is_head[i]) first = i;
            assert_int_equal(low[i], first);
            assert_true(high[i] > i && (high[i] == MANY || is_head[high[i]]));
        }
        vscan_buffer *const all[] = {keys, flags, lower, upper};
        for (int k = 0; k < 4; k++) ok(ctx, vscan_buffer_destroy(all[k]));
        free(drawn);
    }
}

/* No keys, no heads; nothing is searched for. */
static void nothing(void **state) {
    (void)state;
    vscan_ctx *ctx = harness_ctx();
    vscan_buffer *keys, *heads, *sorted;
    ok(ctx, vscan_buffer_create(ctx, VSCAN_LONG, 0, &keys));
    ok(ctx, vscan_buffer_create(ctx, VSCAN_INT, 0, &heads));
    ok(ctx, vscan_buffer_create(ctx, VSCAN_LONG, 5, &sorted));
    ok(ctx, vscan_keys_to_heads(ctx, keys, NULL, heads));
    ok(ctx, vscan_lower_bound(ctx, sorted, keys, heads));
    ok(ctx, vscan_upper_bound(ctx, keys, keys, heads));
    ok(NULL, vscan_buffer_destroy(sorted));
    ok(NULL, vscan_buffer_destroy(heads));
    ok(NULL, vscan_buffer_destroy(keys));
}

/* ---- Refusals -------------------------------------------------------------------------------- */

static vscan_status heads_on(vscan_ctx *c) {
    return vscan_keys_to_heads(c, w.in, w.flags, w.out);
}
static vscan_status lower_on(vscan_ctx *c) {
    return vscan_lower_bound(c, w.in, w.flags, w.out);
}
static vscan_status upper_on(vscan_ctx *c) {
    return vscan_upper_bound(c, w.in, w.flags, w.out);
}

/* Both bounds refuse the same. */
static void bounds_refused(vscan_status status, const char *word, vscan_buffer *sorted,
                           vscan_buffer *values, vscan_buffer *positions) {
    refused_untouched(status, word, vscan_lower_bound(w.ctx, sorted, values, positions));
    refused_untouched(status, word, vscan_upper_bound(w.ctx, sorted, values, positions));
}

static void refused_handles(void **state) {
    (void)state;
    world_check_contexts(heads_on);
    world_check_contexts(lower_on);
    world_check_contexts(upper_on);
    vscan_ctx *c = w.ctx;
    for (int i = 0; i < WRONG_HANDLES; i++) {
        const struct wrong_handle h = wrong_handle(i);
        vscan_buffer *const b = h.handle;
        refused_untouched(h.status, "keys ", vscan_keys_to_heads(c, b, w.flags, w.out));
        refused_untouched(h.status, "heads ", vscan_keys_to_heads(c, w.in, w.flags, b));
        bounds_refused(h.status, "sorted ", b, w.flags, w.out);
        bounds_refused(h.status, "values ", w.in, b, w.out);
        bounds_refused(h.status, "positions ", w.in, w.flags, b);
        if (b != NULL) /* else there are none */
            refused_untouched(h.status, "within ", vscan_keys_to_heads(c, w.in, b, w.out));
    }
}

static void refused_vectors(void **state) {
    (void)state;
    vscan_ctx *c = w.ctx;
    const vscan_status type = VSCAN_ERROR_TYPE, length = VSCAN_ERROR_LENGTH,
                       overlap = VSCAN_ERROR_OVERLAP;
    refused_untouched(type, "keys ", vscan_keys_to_heads(c, w.of_byte, NULL, w.out));
    refused_untouched(type, "keys ", vscan_keys_to_heads(c, w.of_bit, NULL, w.out));
    refused_untouched(type, "heads ", vscan_keys_to_heads(c, w.in, NULL, w.of_float));
    refused_untouched(type, "heads ", vscan_keys_to_heads(c, w.in, NULL, w.of_long));
    refused_untouched(type, "within ", vscan_keys_to_heads(c, w.in, w.of_double, w.out));
    refused_untouched(length, "heads ", vscan_keys_to_heads(c, w.in, NULL, w.shorter));
    refused_untouched(length, "within ", vscan_keys_to_heads(c, w.in, w.shorter, w.out));
    refused_untouched(overlap, "heads ", vscan_keys_to_heads(c, w.in, NULL, w.in));
    refused_untouched(overlap, "heads ", vscan_keys_to_heads(c, w.in, NULL, w.shifted));
    refused_untouched(overlap, "heads ", vscan_keys_to_heads(c, w.flags, w.in, w.shifted));
    bounds_refused(type, "sorted ", w.of_byte, w.of_byte, w.out);
    bounds_refused(type, "sorted ", w.of_bit, w.of_bit, w.out);
    bounds_refused(type, "values ", w.in, w.of_float, w.out);
    bounds_refused(type, "positions ", w.in, w.flags, w.of_double);
    bounds_refused(length, "positions ", w.in, w.flags, w.shorter);
    bounds_refused(overlap, "positions ", w.in, w.flags, w.shifted);
    bounds_refused(overlap, "positions ", w.flags, w.in, w.shifted);
    bounds_refused(overlap, "positions ", w.flags, w.in, w.in);
}

/* More numbers than an int can count. They are never read, so their memory need not be there. */
static void refused_many(void **state) {
    (void)state;
    if (harness_backend != VSCAN_BACKEND_CPU) skip();
    const int64_t n = INT64_C(1) << 31;
    void *const memory =
        mmap(NULL, (size_t)n * 4, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_true(memory != MAP_FAILED);
    vscan_buffer *many;
    ok(w.ctx, vscan_buffer_wrap(w.ctx, VSCAN_INT, memory, n, &many));
    bounds_refused(VSCAN_ERROR_LENGTH, "sorted ", many, w.in, w.out);
    ok(NULL, vscan_buffer_destroy(many));
    munmap(memory, (size_t)n * 4);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(heads),
                                       cmocka_unit_test(columns),
                                       cmocka_unit_test(bounds),
                                       cmocka_unit_test(bounds_around_samples),
                                       cmocka_unit_test(many),
                                       cmocka_unit_test(keys_within_themselves),
                                       cmocka_unit_test(heads_are_lower_bounds),
                                       cmocka_unit_test(nothing),
                                       world_unit_test(refused_handles),
                                       world_unit_test(refused_vectors),
                                       world_unit_test(refused_many)};
    return harness_run(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
