/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sorts against a stable merge sort by a comparison that is written here once more: all
 * types of keys and values, both orders, windows of bits, in place and apart, segments by offsets of
 * both types. What the calls refuse is at the end.
 */
#include "maps.h"
#include "move_reference.h"
#include "refusal.h"
#include "world.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT = 200 };

static const vscan_type sorted[] = {VSCAN_INT, VSCAN_FLOAT, VSCAN_DOUBLE, VSCAN_LONG};
enum { SORTED = 4 };

/* ---- Inputs ---------------------------------------------------------------------------------- */

/* Random numbers of all kinds (special ones, many NaNs with different bits), or few different ones, or
   ones that are in order already, or random ones without NaNs; or the CPU's samples are all less than the rest. */
static void *draw_keys(vscan_type type, int64_t n, struct inputs_random *random) {
    void *keys = maps_random(type, n, random);
    const int64_t pattern = inputs_below(random, 6), step = n / (n < 2048 ? 16 : 32) + (n < 16);
    const bool nans = pattern < 2 || pattern == 3;
    for (int64_t i = 0; i < n; i++) {
        const uint64_t r = inputs_next(random);
        if (nans && (type == VSCAN_FLOAT || type == VSCAN_DOUBLE) && r % 16 == 0) {
            const uint32_t nan = 0x7f800001 | (uint32_t)(r >> 32);
            const uint64_t wide = UINT64_C(0x7ff0000000000001) | r;
            if (type == VSCAN_FLOAT) memcpy(maps_at(type, keys, i), &nan, 4);
            if (type == VSCAN_DOUBLE) memcpy(maps_at(type, keys, i), &wide, 8);
        } else if (pattern == 1) {
            memcpy(maps_at(type, keys, i), maps_at(type, keys, (int64_t)(r % 3) % n),
                   reference_bytes(type, 1));
        } else if (pattern == 2) {
            if (type == VSCAN_INT) ((int32_t *)keys)[i] = (int32_t)(i - n / 2);
            if (type == VSCAN_LONG) ((int64_t *)keys)[i] = n - i;
            if (type == VSCAN_FLOAT) ((float *)keys)[i] = (float)(n / 2 - i);
            if (type == VSCAN_DOUBLE) ((double *)keys)[i] = (double)(i - n / 2) / 3;
        } else if (pattern == 4) {
            if (type == VSCAN_FLOAT) ((float *)keys)[i] = (float)(r % 200) - 99.5f;
            if (type == VSCAN_DOUBLE) ((double *)keys)[i] = (double)(r % 200) - 99.5;
        } else if (pattern == 5) {
            const int64_t key = (int64_t)(r % 100000) + (i % step == 0 ? 0 : 1000000000);
            if (type == VSCAN_INT) ((int32_t *)keys)[i] = (int32_t)key;
            if (type == VSCAN_LONG) ((int64_t *)keys)[i] = key;
            if (type == VSCAN_FLOAT) ((float *)keys)[i] = (float)key;
            if (type == VSCAN_DOUBLE) ((double *)keys)[i] = (double)key;
        }
    }
    return keys;
}

static void draw_rule(struct sort_rule *rule, struct inputs_random *random) {
    rule->descending = inputs_below(random, 2);
    rule->first_bit = rule->bits = 0;
    if (rule->type == VSCAN_FLOAT || rule->type == VSCAN_DOUBLE || inputs_below(random, 2)) return;
    const int width = rule->type == VSCAN_INT ? 32 : 64;
    rule->first_bit = (int)inputs_below(random, width);
    rule->bits = (int)inputs_below(random, width - rule->first_bit + 1);
}

/* count offsets, the last one n at most, the first one 0 in most cases. Lengths are random, or around
   those at which the kernels take another way. */
static int64_t *draw_offsets(int64_t n, int64_t *count, struct inputs_random *random) {
    static const int64_t usual[] = {3, 6, 11, 21, 30, 200, 2000, 100000};
    static const int64_t borders[] = {0,   1,   8,    15,   16,   17,   31,    32,    33,    63,
                                      64,  65,  127,  128,  129,  255,  256,   257,   511,   512,
                                      513, 999, 4095, 4096, 4097, 8193, 11263, 11264, 11265, 16385};
    const int64_t most = usual[inputs_below(random, 8)];
    const bool of_borders = inputs_below(random, 3) == 0;
    int64_t *offsets = malloc((size_t)(n + 502) * sizeof *offsets);
    assert_non_null(offsets);
    offsets[0] = inputs_below(random, 3) ? 0 : inputs_below(random, n + 1);
    *count = 1;
    while (*count < n + 500 && inputs_below(random, 1000) > 0) {
        const int64_t length =
            of_borders ? borders[inputs_below(random, 30)] : inputs_below(random, most);
        const int64_t next = offsets[*count - 1] + length;
        offsets[(*count)++] = next < n ? next : n;
    }
    return offsets;
}

/* ---- Sorts ----------------------------------------------------------------------------------- */

static void *in_order(vscan_type type, const void *v, const int64_t *positions, int64_t n) {
    void *out = malloc(reference_bytes(type, n) + 8);
    assert_non_null(out);
    for (int64_t i = 0; i < n; i++)
        memcpy(maps_at(type, out, i), maps_at(type, (void *)(uintptr_t)v, positions[i]),
               reference_bytes(type, 1));
    return out;
}

/* value_type 0: keys alone. */
static void run_sort(vscan_type type, int value_type, bool segmented, int64_t n,
                     struct inputs_random *random) {
    vscan_ctx *ctx = harness_ctx();
    struct sort_rule rule = {.type = type};
    draw_rule(&rule, random);
    const vscan_type of_values = value_type != 0 ? (vscan_type)value_type : VSCAN_INT;
    const bool keys_in_place = inputs_below(random, 2), values_in_place = inputs_below(random, 2);
    int shift[5];
    maps_shifts(random, 5, shift);
    void *key_data = draw_keys(type, n, random), *value_data = maps_random(of_values, n, random);
    struct guarded keys = guarded_make(ctx, type, n, shift[0], key_data);
    struct guarded keys_apart = guarded_make(ctx, type, n, shift[1], NULL);
    struct guarded values = guarded_make(ctx, of_values, n, shift[2], value_data);
    struct guarded values_apart = guarded_make(ctx, of_values, n, shift[3], NULL);
    struct guarded *keys_out = keys_in_place ? &keys : &keys_apart;
    struct guarded *values_out = values_in_place ? &values : &values_apart;

    int64_t count = 2, *offsets = draw_offsets(n, &count, random);
    int64_t *positions = malloc((size_t)n * sizeof *positions + 8);
    int64_t *room = malloc((size_t)n * sizeof *room + 8);
    for (int64_t i = 0; i < n; i++) positions[i] = i;
    if (!segmented) sort_positions(&rule, key_data, positions, room, 0, n);
    for (int64_t k = 0; segmented && k + 1 < count; k++)
        sort_positions(&rule, key_data, positions, room, offsets[k], offsets[k + 1]);
    void *expected = in_order(type, key_data, positions, n);
    void *expected_values = in_order(of_values, value_data, positions, n);

    const vscan_type offset_type = inputs_below(random, 2) ? VSCAN_INT : VSCAN_LONG;
    if (offset_type == VSCAN_INT)
        for (int64_t k = 0; k < count; k++) ((int32_t *)offsets)[k] = (int32_t)offsets[k];
    struct guarded at = guarded_make(ctx, offset_type, count, shift[4], offsets);

    char what[TEXT];
    snprintf(what, sizeof what,
             "%s of %s%s%s, n %" PRId64 ", %s, bits %d from %d, in place %d %d, offsets %" PRId64
             ", shifts %d %d %d %d %d",
             segmented ? "segmented sort" : "sort", reference_type_name(type),
             value_type ? " with " : "", value_type ? reference_type_name(of_values) : "", n,
             rule.descending ? "descending" : "ascending", rule.bits, rule.first_bit,
             (int)keys_in_place, (int)values_in_place, count, shift[0], shift[1], shift[2],
             shift[3], shift[4]);
    const vscan_sort_options o = {.size = sizeof o,
                                  .order = rule.descending ? VSCAN_DESCENDING : VSCAN_ASCENDING,
                                  .first_bit = rule.first_bit,
                                  .bits = rule.bits};
    const bool plain = !rule.descending && rule.bits == 0 && rule.first_bit == 0;
    const vscan_sort_options *options = plain && inputs_below(random, 2) ? NULL : &o;
    vscan_buffer *const v = value_type ? values.view : NULL;
    vscan_buffer *const w_out = value_type ? values_out->view : NULL;
    if (segmented)
        ok(ctx, vscan_sort_by_offsets(ctx, keys.view, v, at.view, keys_out->view, w_out, options));
    else
        ok(ctx, vscan_sort(ctx, keys.view, v, keys_out->view, w_out, options));
    maps_late(ctx, VSCAN_OK, what);

    struct guarded *const all[] = {&keys, &keys_apart, &values, &values_apart, &at};
    for (int k = 0; k < 5; k++) {
        bool intact;
        const void *got = guarded_download(all[k], &intact);
        const void *wanted = all[k] == keys_out                   ? expected
                             : value_type && all[k] == values_out ? expected_values
                                                                  : guarded_original(all[k]);
        if (!intact || memcmp(got, wanted, all[k]->bytes) != 0) /* every bit of every NaN */
            maps_check(all[k], wanted, what);
        if (!intact || memcmp(got, wanted, all[k]->bytes) != 0) {
            print_error("%s: the bits of a NaN are other ones\n", what);
            fail();
        }
    }
    for (int k = 0; k < 5; k++) guarded_free(all[k]);
    free(key_data);
    free(value_data);
    free(offsets);
    free(positions);
    free(room);
    free(expected);
    free(expected_values);
}

static void run_all(bool segmented, struct inputs_random *random) {
    /* around what is sorted by insertion, by rank, by counting, by one block, and the tiles of the kernels */
    static const int64_t tiles[] = {6,    7,    104,   105,   112,   113,   48,    49,
                                    4095, 4096, 4097,  4607,  4608,  4609,  5120,  8191,
                                    8192, 8193, 11264, 11265, 16385, 30000, 65537, 131073};
    int64_t sizes[MAPS_SIZES];
    for (int t = 0; t < SORTED; t++)
        for (int v = -1; v < SORTED; v++) {
            const int value = v < 0 ? 0 : (int)sorted[v];
            const size_t count = maps_sizes(sizes, random);
            for (size_t s = 0; s < count; s++)
                if (s % 3 == (size_t)(v + 1) % 3 || sizes[s] < 3)
                    run_sort(sorted[t], value, segmented, sizes[s], random);
            for (size_t s = 0; s < sizeof tiles / sizeof tiles[0]; s++)
                if (inputs_below(random, harness_small() ? 30 : 4) == 0)
                    run_sort(sorted[t], value, segmented, tiles[s], random);
        }
}

static void sort_all(void **state) {
    (void)state;
    struct inputs_random random = {harness_seed() + 41};
    run_all(false, &random);
}

static void sort_segmented(void **state) {
    (void)state;
    struct inputs_random random = {harness_seed() + 42};
    run_all(true, &random);
}

/* Keys alone of every length up to what vectors hold, twice as many at most as a network of 32 of them. */
static void every_length(void **state) {
    (void)state;
    struct inputs_random random = {harness_seed() + 47};
    const int64_t most = harness_small() ? 300 : 1100;
    for (int64_t n = 1; n <= most; n++)
        for (int t = 0; t < SORTED; t++) run_sort(sorted[t], 0, n % 4 == 3, n, &random);
}

/* Keys of many digits, or so many small ones, and whether some are NaN. */
struct long_keys {
    vscan_type type;
    uint32_t different; /* 0: any number */
    bool nans;
};

static void *draw_long_keys(const struct long_keys *of, int64_t n, struct inputs_random *random) {
    void *keys = malloc(reference_bytes(of->type, n));
    assert_non_null(keys);
    for (int64_t i = 0; i < n; i++) {
        const uint64_t r = inputs_next(random);
        const bool nan = of->nans && r % 1000 == 0;
        uint64_t wide = of->different != 0 ? r % of->different : r;
        uint32_t narrow = (uint32_t)wide;
        if (of->type == VSCAN_FLOAT && narrow << 1 > 0xff000000) narrow = 0;
        if (of->type == VSCAN_DOUBLE && wide << 1 > UINT64_C(0x7ff) << 53) wide = 0;
        if (of->type == VSCAN_FLOAT && nan) narrow |= 0x7f800001;
        if (of->type == VSCAN_DOUBLE && nan) wide |= UINT64_C(0x7ff0000000000001);
        memcpy(maps_at(of->type, keys, i),
               reference_bytes(of->type, 1) == 4 ? (void *)&narrow : (void *)&wide,
               reference_bytes(of->type, 1));
    }
    return keys;
}

/* Positions that are sorted with their keys put the keys in order, equal ones in the order in which they were;
   and keys alone have the same bits then. The positions lie otherwise in their lines than the keys. */
static void run_positions(vscan_ctx *ctx, const struct long_keys *of, vscan_type of_positions,
                          int64_t n, struct inputs_random *random) {
    const vscan_type type = of->type;
    void *in = draw_long_keys(of, n, random);
    const bool descending = inputs_below(random, 2), in_place = inputs_below(random, 2);
    const vscan_sort_options o = {.size = sizeof o,
                                  .order = descending ? VSCAN_DESCENDING : VSCAN_ASCENDING};
    vscan_buffer *keys, *ordered, *from, *all, *p, *gathered;
    ok(ctx, vscan_buffer_create(ctx, type, n, &keys));
    ok(ctx, vscan_buffer_create(ctx, type, n, &ordered));
    ok(ctx, vscan_buffer_create(ctx, type, n, &gathered));
    ok(ctx, vscan_buffer_create(ctx, of_positions, n, &from));
    ok(ctx, vscan_buffer_create(ctx, of_positions, n + 1, &all));
    ok(ctx, vscan_buffer_view(all, 1, n, &p));
    ok(ctx, vscan_buffer_upload(keys, 0, n, in));
    ok(ctx, vscan_index(ctx, 0, 1, from));
    ok(ctx, vscan_sort(ctx, keys, from, ordered, p, &o));
    ok(ctx, vscan_gather(ctx, keys, p, gathered));
    const size_t bytes = reference_bytes(type, n);
    void *a = malloc(bytes), *b = malloc(bytes);
    int64_t *at = malloc((size_t)n * sizeof *at);
    ok(ctx, vscan_buffer_download(ordered, 0, n, a));
    ok(ctx, vscan_buffer_download(gathered, 0, n, b));
    ok(ctx, vscan_buffer_download(p, 0, n, at));
    assert_memory_equal(a, b, bytes);
    const struct sort_rule rule = {.type = type, .descending = descending};
    for (int64_t i = 0, last = 0; i < n; i++) {
        const int64_t here =
            of_positions == VSCAN_INT ? ((const int32_t *)(const void *)at)[i] : at[i];
        const int order = i == 0 ? -1 : sort_compare(&rule, a, i - 1, i);
        assert_true(order < 0 || (order == 0 && last < here));
        last = here;
    }
    vscan_buffer *const out = in_place ? keys : gathered;
    ok(ctx, vscan_sort(ctx, keys, NULL, out, NULL, &o));
    ok(ctx, vscan_buffer_download(out, 0, n, b));
    assert_memory_equal(a, b, bytes);
    free(in);
    free(a);
    free(b);
    free(at);
    ok(NULL, vscan_buffer_destroy(keys));
    ok(NULL, vscan_buffer_destroy(ordered));
    ok(NULL, vscan_buffer_destroy(gathered));
    ok(NULL, vscan_buffer_destroy(p));
    ok(NULL, vscan_buffer_destroy(all));
    ok(NULL, vscan_buffer_destroy(from));
}

/* By one thread, and by as many as there are; bytes: so many of keys alone, or of pairs. */
static void run_long_sorts(int64_t n, int64_t bytes, uint32_t different,
                           struct inputs_random *random) {
    for (int threads = 0; threads < 2; threads++) {
        vscan_ctx *ctx = harness_new_ctx(threads);
        for (int t = 0; t < SORTED; t++)
            for (int how = 0; how < 8; how++) {
                const vscan_type of_positions = how & 1 ? VSCAN_LONG : VSCAN_INT;
                const struct long_keys of = {sorted[t], how & 2 ? different : 0, how & 4};
                if (of.nans && sorted[t] != VSCAN_FLOAT && sorted[t] != VSCAN_DOUBLE) continue;
                const size_t size =
                    reference_bytes(of.type, 1) + (how & 1 ? 0 : reference_bytes(of_positions, 1));
                run_positions(ctx, &of, of_positions,
                              n + bytes / (int64_t)size + inputs_below(random, 1000), random);
            }
        ok(NULL, vscan_ctx_destroy(ctx));
    }
}

static void positions(void **state) {
    (void)state;
    struct inputs_random random = {harness_seed() + 43};
    run_long_sorts(20000, 0, 50000, &random);
    if (harness_small()) return;
    run_long_sorts(300000, 0, 50000, &random);
    run_long_sorts(300000, 0, 3, &random);     /* parts that are long, and in order */
    run_long_sorts(200000, 0, 65556, &random); /* and one with few elements */
}

/* Longer than what caches hold: elements are moved by lines. */
static void beyond_caches(void **state) {
    (void)state;
    struct inputs_random random = {harness_seed() + 46};
    if (harness_small()) skip();
    run_long_sorts(0, 33 << 20, 200, &random);
    run_long_sorts(0, 8 << 20, 5000000, &random);
}

/* The order that vscan.h describes, in both directions. */
static void order_of_floats(void **state) {
    (void)state;
    vscan_ctx *ctx = harness_ctx();
    const uint32_t in[] = {0x7fc00001, 0x00000000, 0xffc00002, 0x80000000, 0x7f800000,
                           0xff800000, 0x3f800000, 0xbf800000, 0x7f800001, 0x00000001};
    const uint32_t up[] = {0xff800000, 0xbf800000, 0x80000000, 0x00000000, 0x00000001,
                           0x3f800000, 0x7f800000, 0x7fc00001, 0xffc00002, 0x7f800001};
    const uint32_t down[] = {0x7fc00001, 0xffc00002, 0x7f800001, 0x7f800000, 0x3f800000,
                             0x00000001, 0x00000000, 0x80000000, 0xbf800000, 0xff800000};
    uint32_t got[10];
    vscan_buffer *v, *out;
    ok(ctx, vscan_buffer_create(ctx, VSCAN_FLOAT, 10, &v));
    ok(ctx, vscan_buffer_create(ctx, VSCAN_FLOAT, 10, &out));
    ok(ctx, vscan_buffer_upload(v, 0, 10, in));
    ok(ctx, vscan_sort(ctx, v, NULL, out, NULL, NULL));
    ok(ctx, vscan_buffer_download(out, 0, 10, got));
    assert_memory_equal(got, up, sizeof got);
    const vscan_sort_options o = {.size = sizeof o, .order = VSCAN_DESCENDING};
    ok(ctx, vscan_sort(ctx, v, NULL, out, NULL, &o));
    ok(ctx, vscan_buffer_download(out, 0, 10, got));
    assert_memory_equal(got, down, sizeof got);
    ok(NULL, vscan_buffer_destroy(v));
    ok(NULL, vscan_buffer_destroy(out));
}

/* Doubles in descending order that differ in their low halves alone, but for a NaN; alone and with values. */
static void low_halves(void **state) {
    (void)state;
    enum { N = 20 };
    vscan_ctx *ctx = harness_ctx();
    uint64_t in[N], up[N], got[N];
    for (uint64_t i = 0; i < N; i++) {
        in[i] = (UINT64_C(0x3ff) << 52) + N - i;
        up[i] = (UINT64_C(0x3ff) << 52) + 2 + i;
    }
    in[N - 1] = up[N - 1] = UINT64_C(0xfff) << 52 | 5;
    for (int with = 0; with < 3; with++) {
        const vscan_type type = with == 1 ? VSCAN_INT : VSCAN_LONG;
        vscan_buffer *v, *values;
        ok(ctx, vscan_buffer_create(ctx, VSCAN_DOUBLE, N, &v));
        ok(ctx, vscan_buffer_upload(v, 0, N, in));
        ok(ctx, vscan_buffer_create(ctx, type, N, &values));
        ok(ctx, vscan_index(ctx, 0, 1, values));
        vscan_buffer *const w = with == 0 ? NULL : values;
        ok(ctx, vscan_sort(ctx, v, w, v, w, NULL));
        ok(ctx, vscan_buffer_download(v, 0, N, got));
        assert_memory_equal(got, up, sizeof got);
        int64_t first = 0; /* an int writes its low half */
        ok(ctx, vscan_buffer_get(values, 0, &first));
        assert_int_equal(first, with == 0 ? 0 : N - 2);
        ok(NULL, vscan_buffer_destroy(v));
        ok(NULL, vscan_buffer_destroy(values));
    }
}

/* Offsets that decrease or lie outside are reported, and nothing beside the vectors is touched. */
static void late(void **state) {
    (void)state;
    vscan_ctx *ctx = harness_ctx();
    struct inputs_random random = {harness_seed() + 44};
    const int64_t n = 5000;
    const int64_t wrong[][3] = {{0, 6000, 5000},      {0, -1, 5000},   {3000, 2000, 5000},
                                {0, INT64_MAX, 5000}, {-7, 100, 5000}, {0, 5000, 5001},
                                {0, 5000, INT64_MIN}};
    for (size_t k = 0; k < sizeof wrong / sizeof wrong[0]; k++) {
        void *data = maps_random(VSCAN_DOUBLE, n, &random);
        struct guarded keys = guarded_make(ctx, VSCAN_DOUBLE, n, 3, data);
        struct guarded out = guarded_make(ctx, VSCAN_DOUBLE, n, 5, NULL);
        struct guarded values = guarded_make(ctx, VSCAN_FLOAT, n, 1, NULL);
        struct guarded offsets = guarded_make(ctx, VSCAN_LONG, 3, 2, wrong[k]);
        ok(ctx, vscan_sort_by_offsets(ctx, keys.view, values.view, offsets.view, out.view,
                                      values.view, NULL));
        refused(ctx, VSCAN_ERROR_OFFSETS, "an offset", vscan_ctx_synchronize(ctx));
        bool intact;
        assert_memory_equal(guarded_download(&keys, &intact), data, reference_bytes(keys.type, n));
        assert_true(intact);
        struct guarded *const all[] = {&keys, &out, &values, &offsets};
        for (int v = 0; v < 4; v++) {
            guarded_download(all[v], &intact);
            assert_true(intact);
        }
        for (int v = 0; v < 4; v++) guarded_free(all[v]);
        free(data);
        run_sort(VSCAN_INT, VSCAN_LONG, true, 3 * n, &random); /* right again */
    }
    /* no segments, and an offset that is none either */
    const int64_t beyond = 101;
    vscan_buffer *v, *at;
    ok(ctx, vscan_buffer_create(ctx, VSCAN_INT, 100, &v));
    ok(ctx, vscan_buffer_fill(v, &(int32_t){1}));
    ok(ctx, vscan_buffer_create(ctx, VSCAN_LONG, 1, &at));
    ok(ctx, vscan_buffer_upload(at, 0, 1, &beyond));
    ok(ctx, vscan_sort_by_offsets(ctx, v, NULL, at, v, NULL, NULL));
    refuses(VSCAN_ERROR_OFFSETS, vscan_ctx_synchronize(ctx));
    ok(NULL, vscan_buffer_destroy(v));
    ok(NULL, vscan_buffer_destroy(at));
}

/* One segment that is longer than a thread's share, among short ones. */
static void one_long_segment(void **state) {
    (void)state;
    enum { N = 300000, SEGMENTS = 4 };
    vscan_ctx *ctx = harness_ctx();
    const int64_t offsets[SEGMENTS + 1] = {0, 1000, 200000, 201000, N};
    int32_t *values = malloc(N * sizeof *values);
    vscan_buffer *v, *at;
    assert_non_null(values);
    for (int64_t i = 0; i < N; i++) values[i] = (int32_t)(i * 7919 % 100003);
    ok(ctx, vscan_buffer_create(ctx, VSCAN_INT, N, &v));
    ok(ctx, vscan_buffer_create(ctx, VSCAN_LONG, SEGMENTS + 1, &at));
    ok(ctx, vscan_buffer_upload(v, 0, N, values));
    ok(ctx, vscan_buffer_upload(at, 0, SEGMENTS + 1, offsets));
    ok(ctx, vscan_sort_by_offsets(ctx, v, NULL, at, v, NULL, NULL));
    uint32_t before = 0, after = 0; /* sums of squares: the same elements */
    for (int64_t i = 0; i < N; i++) before += (uint32_t)values[i] * (uint32_t)values[i];
    ok(ctx, vscan_buffer_download(v, 0, N, values));
    for (int64_t i = 0; i < N; i++) after += (uint32_t)values[i] * (uint32_t)values[i];
    assert_int_equal(before, after);
    for (int k = 0; k < SEGMENTS; k++)
        for (int64_t i = offsets[k] + 1; i < offsets[k + 1]; i++)
            assert_true(values[i - 1] <= values[i]);
    ok(NULL, vscan_buffer_destroy(v));
    ok(NULL, vscan_buffer_destroy(at));
    free(values);
}

/* Memory that is outgrown, and memory that is reserved, one sort after the other without waiting. */
static void in_a_row(void **state) {
    (void)state;
    vscan_ctx *ctx = harness_new_ctx(0);
    struct inputs_random random = {harness_seed() + 45};
    const int64_t lengths[] = {100, 5000, 4000, 20000, 8000, 50000};
    ok(ctx, vscan_sort_reserve(ctx, VSCAN_INT, 0, 6000));
    ok(ctx, vscan_sort_reserve(ctx, VSCAN_DOUBLE, VSCAN_LONG, 0));
    vscan_buffer *v[6];
    for (int k = 0; k < 6; k++) {
        int32_t *data = maps_random(VSCAN_INT, lengths[k], &random);
        ok(ctx, vscan_buffer_create(ctx, VSCAN_INT, lengths[k], &v[k]));
        ok(ctx, vscan_buffer_upload(v[k], 0, lengths[k], data));
        free(data);
    }
    for (int k = 0; k < 6; k++) ok(ctx, vscan_sort(ctx, v[k], NULL, v[k], NULL, NULL));
    for (int k = 0; k < 6; k++) {
        int32_t *got = malloc((size_t)lengths[k] * sizeof *got);
        ok(ctx, vscan_buffer_download(v[k], 0, lengths[k], got));
        for (int64_t i = 1; i < lengths[k]; i++) assert_true(got[i - 1] <= got[i]);
        free(got);
        ok(NULL, vscan_buffer_destroy(v[k]));
    }
    ok(NULL, vscan_ctx_destroy(ctx));
}

/* More than 2^31 elements, descending from numbers that come in ascending runs. */
static void beyond_2_31(void **state) {
    (void)state;
    if (!harness_long()) skip();
    const int64_t n = (INT64_C(1) << 31) + 100003;
    int64_t memory, available;
    ok(NULL, vscan_device_memory(harness_backend, 0, &memory, &available));
    if (available < 3 * 4 * n) {
        print_message("no memory for a sort of %" PRId64 " elements\n", n);
        skip();
    }
    vscan_ctx *ctx = harness_new_ctx(0);
    vscan_buffer *v;
    ok(ctx, vscan_buffer_create(ctx, VSCAN_INT, n, &v));
    ok(ctx, vscan_index(ctx, 12345, 1, v)); /* modulo 2^32, every number once */
    const vscan_sort_options o = {.size = sizeof o, .order = VSCAN_DESCENDING};
    ok(ctx, vscan_sort(ctx, v, NULL, v, NULL, &o));
    /* 12345 .. 2^31 - 1, and below -2^31 + 100003 + 12345 what has wrapped */
    const int64_t positive = (INT64_C(1) << 31) - 12345;
    const int64_t places[] = {0, 1, positive - 1, positive, n - 1};
    const int64_t numbers[] = {INT32_MAX, INT32_MAX - 1, 12345,
                               (int64_t)INT32_MIN + 100003 + 12345 - 1, INT32_MIN};
    for (int k = 0; k < 5; k++) {
        int32_t got = 0;
        ok(ctx, vscan_buffer_get(v, places[k], &got));
        assert_int_equal(got, numbers[k]);
    }
    ok(NULL, vscan_buffer_destroy(v));
    ok(NULL, vscan_ctx_destroy(ctx));
}

/* ---- Refusals -------------------------------------------------------------------------------- */

static vscan_status sort_on(vscan_ctx *ctx) {
    return vscan_sort(ctx, w.in, NULL, w.out, NULL, NULL);
}
static vscan_status sort_segmented_on(vscan_ctx *ctx) {
    return vscan_sort_by_offsets(ctx, w.in, NULL, w.flags, w.out, NULL, NULL);
}

static void refused_handles(void **state) {
    (void)state;
    world_check_contexts(sort_on);
    world_check_contexts(sort_segmented_on);
    vscan_ctx *c = w.ctx;
    for (int i = 0; i < WRONG_HANDLES; i++) {
        const struct wrong_handle h = wrong_handle(i);
        refused_untouched(h.status, "keys ", vscan_sort(c, h.handle, NULL, w.out, NULL, NULL));
        refused_untouched(h.status, "keys_out ", vscan_sort(c, w.in, NULL, h.handle, NULL, NULL));
        if (h.handle != NULL) /* or values_out is for the positions: test_argsort */
            refused_untouched(h.status, "values ",
                              vscan_sort(c, w.in, h.handle, w.out, w.of_float, NULL));
        refused_untouched(h.status, "values_out ",
                          vscan_sort(c, w.in, w.of_float, w.out, h.handle, NULL));
        refused_untouched(h.status, "keys ",
                          vscan_sort_by_offsets(c, h.handle, NULL, w.flags, w.out, NULL, NULL));
        refused_untouched(h.status, "offsets ",
                          vscan_sort_by_offsets(c, w.in, NULL, h.handle, w.out, NULL, NULL));
        refused_untouched(h.status, "keys_out ",
                          vscan_sort_by_offsets(c, w.in, NULL, w.flags, h.handle, NULL, NULL));
    }
}

/* Both calls, with these vectors. */
static void refused_with(vscan_status status, const char *word, vscan_buffer *keys,
                         vscan_buffer *keys_out, vscan_buffer *values, vscan_buffer *values_out,
                         const vscan_sort_options *o) {
    refused_untouched(status, word, vscan_sort(w.ctx, keys, values, keys_out, values_out, o));
    refused_untouched(
        status, word,
        vscan_sort_by_offsets(w.ctx, keys, values, w.of_long, keys_out, values_out, o));
}

static void refused_vectors(void **state) {
    (void)state;
    const vscan_status type = VSCAN_ERROR_TYPE, length = VSCAN_ERROR_LENGTH,
                       overlap = VSCAN_ERROR_OVERLAP;
    refused_with(type, "keys ", w.of_byte, w.of_byte, NULL, NULL, NULL);
    refused_with(type, "keys ", w.of_bit, w.of_bit, NULL, NULL, NULL);
    refused_with(type, "values ", w.in, w.out, w.of_byte, w.of_byte, NULL);
    refused_with(type, "values ", w.in, w.out, w.of_bit, w.of_bit, NULL);
    refused_with(type, "keys_out ", w.in, w.of_float, NULL, NULL, NULL);
    refused_with(type, "values_out ", w.in, w.out, w.of_double, w.of_float, NULL);
    refused_with(length, "keys_out ", w.in, w.shorter, NULL, NULL, NULL);
    refused_with(length, "values ", w.in, w.out, w.shorter, w.shorter, NULL);
    refused_with(length, "values_out ", w.in, w.out, w.flags, w.shorter, NULL);
    refused_with(overlap, "keys_out ", w.in, w.shifted, NULL, NULL, NULL);
    refused_with(overlap, "values ", w.in, w.out, w.out, w.flags, NULL);
    refused_with(overlap, "values_out ", w.in, w.out, w.flags, w.in, NULL);
    refused_with(overlap, "values_out ", w.in, w.out, w.flags, w.out, NULL);
    refused_with(overlap, "values_out ", w.flags, w.out, w.in, w.shifted, NULL);
    vscan_ctx *c = w.ctx;
    vscan_buffer *const no_offsets[] = {w.of_float, w.of_double, w.of_byte, w.of_bit};
    for (int k = 0; k < 4; k++)
        refused_untouched(type, "offsets ",
                          vscan_sort_by_offsets(c, w.in, NULL, no_offsets[k], w.out, NULL, NULL));
    refused_untouched(overlap, "offsets ",
                      vscan_sort_by_offsets(c, w.in, NULL, w.out, w.out, NULL, NULL));
    refused_untouched(
        overlap, "offsets ",
        vscan_sort_by_offsets(c, w.of_float, w.flags, w.flags, w.of_float, w.flags, NULL));
    vscan_buffer *none = NULL;
    ok(c, vscan_buffer_view(w.flags, 0, 0, &none));
    refused_untouched(length, "offsets ",
                      vscan_sort_by_offsets(c, w.in, NULL, none, w.out, NULL, NULL));
    ok(NULL, vscan_buffer_destroy(none));
}

static void refused_options(void **state) {
    (void)state;
    vscan_sort_options o = {.size = sizeof o};
    const int32_t orders[] = {-1, 2, 1000, INT32_MIN};
    for (int k = 0; k < 4; k++) {
        o.order = orders[k];
        refused_with(VSCAN_ERROR_ENUM, "options->order ", w.in, w.out, NULL, NULL, &o);
    }
    o.order = VSCAN_DESCENDING;
    const int32_t windows[][2] = {{-1, 0}, {32, 0}, {0, 33}, {0, -1}, {31, 2}, {INT32_MAX, 1}};
    for (int k = 0; k < 6; k++) {
        o.first_bit = windows[k][0];
        o.bits = windows[k][1];
        refused_with(VSCAN_ERROR_VALUE, "options->", w.in, w.out, NULL, NULL, &o);
    }
    o.first_bit = 0;
    o.bits = 8;
    refused_with(VSCAN_ERROR_VALUE, "options->", w.of_float, w.of_float, NULL, NULL, &o);
    o.bits = 0;
    o.unused = 1;
    refused_with(VSCAN_ERROR_VALUE, "options->unused ", w.in, w.out, NULL, NULL, &o);
    o.unused = 0;
    const int64_t sizes[] = {0, -1, 8, sizeof o - 1, INT64_MAX, INT64_MIN};
    for (int k = 0; k < 6; k++) {
        o.size = sizes[k];
        refused_with(VSCAN_ERROR_STRUCT_SIZE, "size", w.in, w.out, NULL, NULL, &o);
    }
}

static void refused_reserve(void **state) {
    (void)state;
    vscan_ctx *c = w.ctx;
    refused(NULL, VSCAN_ERROR_NULL, "ctx ", vscan_sort_reserve(NULL, VSCAN_INT, 0, 1));
    refused_untouched(VSCAN_ERROR_ENUM, "keys is 0, ", vscan_sort_reserve(c, (vscan_type)0, 0, 1));
    refused_untouched(VSCAN_ERROR_ENUM, "values is 7, ",
                      vscan_sort_reserve(c, VSCAN_INT, (vscan_type)7, 1));
    refused_untouched(VSCAN_ERROR_ENUM, "values is -1, ",
                      vscan_sort_reserve(c, VSCAN_INT, (vscan_type)-1, 1));
    static const vscan_type small[] = {VSCAN_BYTE, VSCAN_BIT, VSCAN_UINT8};
    for (int k = 0; k < 3; k++)
        refused_untouched(VSCAN_ERROR_TYPE, "keys ",
                          vscan_sort_reserve(c, small[k], VSCAN_NONE, 1));
    refused_untouched(VSCAN_ERROR_TYPE, "values ", vscan_sort_reserve(c, VSCAN_INT, VSCAN_BIT, 1));
    refused_untouched(VSCAN_ERROR_LENGTH, "n ", vscan_sort_reserve(c, VSCAN_INT, 0, -1));
    refused_untouched(VSCAN_ERROR_OVERFLOW, "n ", vscan_sort_reserve(c, VSCAN_INT, 0, INT64_MAX));
    refused_untouched(VSCAN_ERROR_OVERFLOW, "n ",
                      vscan_sort_reserve(c, VSCAN_INT, 0, INT64_MAX / 8));
    refused_untouched(VSCAN_ERROR_OVERFLOW, "n ",
                      vscan_sort_reserve(c, VSCAN_INT, VSCAN_LONG, INT64_MAX / 4));
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sort_all),         cmocka_unit_test(sort_segmented),
        cmocka_unit_test(every_length),     cmocka_unit_test(low_halves),
        cmocka_unit_test(positions),        cmocka_unit_test(beyond_caches),
        cmocka_unit_test(order_of_floats),  cmocka_unit_test(late),
        cmocka_unit_test(one_long_segment), cmocka_unit_test(in_a_row),
        cmocka_unit_test(beyond_2_31),      world_unit_test(refused_handles),
        world_unit_test(refused_vectors),   world_unit_test(refused_options),
        world_unit_test(refused_reserve),
    };
    return harness_run(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
