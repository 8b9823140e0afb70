/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Split, segmented split and the positions of both, against one plain element after another: all types,
 * every type of flags and of heads, densities, lengths of segments. What the calls refuse is at the end.
 */
#include "counted.h"
#include "maps.h"
#include "move_reference.h"
#include "refusal.h"
#include "world.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT = 240, SIZES = MAPS_SIZES + 16 };

static const vscan_type split_types[] = {VSCAN_INT,  VSCAN_FLOAT, VSCAN_DOUBLE,
                                         VSCAN_BYTE, VSCAN_LONG,  VSCAN_UINT8};
static const vscan_type position_types[] = {VSCAN_INT, VSCAN_LONG};
static const vscan_type flag_types[] = {VSCAN_INT, VSCAN_BYTE, VSCAN_BIT};
enum { TYPES = 6, POSITION_TYPES = 2, FLAG_TYPES = 3 };

/* Those of all maps, and around one to many tiles and chunks of a GPU. */
static size_t draw_sizes(int64_t sizes[SIZES], struct inputs_random *random) {
    static const int64_t more[] = {4095, 4097, 8193, 12288, 32767, 32768, 32769, 65537, 131071};
    size_t count = maps_sizes(sizes, random);
    for (size_t k = 0; k < sizeof more / sizeof more[0]; k++)
        if (!harness_small() || inputs_below(random, 6) == 0) sizes[count++] = more[k];
    for (int k = 0; k < (harness_small() ? 0 : 2); k++)
        sizes[count++] = 100000 + inputs_below(random, 500000);
    /* where blocks grow, and where the shortest vectors end */
    const int64_t border = inputs_below(random, 2) ? 1 << 17 : 1 << 18;
    if (!harness_small() || inputs_below(random, 6) == 0)
        sizes[count++] = border - 1 + inputs_below(random, 3);
    return count;
}

/* ---- One call -------------------------------------------------------------------------------- */

/* in NULL: positions; heads NULL: one segment. Flags and heads are 0 or 1. */
struct splitting {
    vscan_type type, flag_type, head_type;
    int64_t n;
    const void *in;
    const uint8_t *flags, *heads;
};

static vscan_status call(vscan_ctx *ctx, const struct splitting *s, const vscan_buffer *in,
                         const vscan_buffer *flags, const vscan_buffer *heads, vscan_buffer *out,
                         const vscan_count_options *options) {
    if (s->in != NULL)
        return s->heads != NULL ? vscan_split_segmented(ctx, in, flags, heads, out, options)
                                : vscan_split(ctx, in, flags, out, options);
    return s->heads != NULL ? vscan_split_segmented_positions(ctx, flags, heads, out, options)
                            : vscan_split_positions(ctx, flags, out, options);
}

static void run_split(const struct splitting *s, struct inputs_random *random) {
    vscan_ctx *ctx = harness_ctx();
    int shift[4];
    maps_shifts(random, 4, shift);
    void *flags_encoded = maps_encode_flags(s->flag_type, s->n, s->flags, random);
    void *heads_encoded =
        s->heads != NULL ? maps_encode_flags(s->head_type, s->n, s->heads, random) : NULL;
    struct guarded in = guarded_make(ctx, s->type, s->n, shift[0], s->in);
    struct guarded flags = guarded_make(ctx, s->flag_type, s->n, shift[1], flags_encoded);
    struct guarded heads = guarded_make(ctx, s->head_type, s->n, shift[2], heads_encoded);
    struct guarded out = guarded_make(ctx, s->type, s->n, shift[3], NULL);
    struct counted count;
    counted_make(ctx, &count, random);
    int64_t *positions = malloc((size_t)(s->n + 1) * sizeof *positions);
    assert_non_null(positions);
    const int64_t clear = split_positions(s->n, s->flags, s->heads, positions);
    void *expected = maps_original(&out);
    for (int64_t i = 0; i < s->n; i++) {
        if (s->in != NULL)
            memcpy(maps_at(s->type, expected, positions[i]), maps_at(s->type, s->in, i),
                   reference_bytes(s->type, 1));
        else if (s->type == VSCAN_INT)
            ((int32_t *)expected)[i] = (int32_t)positions[i];
        else
            ((int64_t *)expected)[i] = positions[i];
    }
    char what[TEXT];
    snprintf(what, sizeof what,
             "%ssplit of %s%s by %s%s%s, n %" PRId64 ", %" PRId64 " clear, shifts %d %d %d %d",
             s->heads != NULL ? "segmented " : "", reference_type_name(s->type),
             s->in != NULL ? "" : " positions", reference_type_name(s->flag_type),
             s->heads != NULL ? ", segments by " : "",
             s->heads != NULL ? reference_type_name(s->head_type) : "", s->n, clear, shift[0],
             shift[1], shift[2], shift[3]);
    const vscan_count_options options = {.size = sizeof options, .count = count.to_device};
    const bool asked = count.to_device != NULL || s->n % 2;
    const vscan_status status =
        call(ctx, s, in.view, flags.view, heads.view, out.view, asked ? &options : NULL);
    counted_check(ctx, &count, status, VSCAN_OK, clear, what);
    maps_judge(ctx, VSCAN_OK, &out, expected, (struct guarded *[]){&in, &flags, &heads, &out, NULL},
               what);
    free(flags_encoded);
    free(heads_encoded);
    free(positions);
    free(expected);
}

/* Every size and density, of a type; with segments, each with another density of heads. */
static void all_sizes(vscan_type type, vscan_type flag_type, bool moves, bool segmented,
                      struct inputs_random *random) {
    int64_t sizes[SIZES];
    const size_t count = draw_sizes(sizes, random);
    for (size_t k = 0; k < count; k++)
        for (int density = 0; density < MAPS_DENSITIES; density++) {
            struct splitting s = {.type = type,
                                  .flag_type = flag_type,
                                  .head_type = flag_types[inputs_below(random, FLAG_TYPES)],
                                  .n = sizes[k]};
            void *in = moves ? maps_random(type, s.n, random) : NULL;
            uint8_t *flags = maps_draw_flags(density, s.n, random);
            uint8_t *heads =
                segmented ? maps_draw_flags((int)inputs_below(random, MAPS_DENSITIES), s.n, random)
                          : NULL;
            s.in = in;
            s.flags = flags;
            s.heads = heads;
            run_split(&s, random);
            free(in);
            free(flags);
            free(heads);
        }
}

static void split(void **state) {
    (void)state;
    struct inputs_random random = {harness_seed() + 31};
    for (int t = 0; t < TYPES; t++)
        for (int f = 0; f < FLAG_TYPES; f++)
            all_sizes(split_types[t], flag_types[f], true, false, &random);
}

static void split_segmented(void **state) {
    (void)state;
    struct inputs_random random = {harness_seed() + 32};
    for (int t = 0; t < TYPES; t++)
        for (int f = 0; f < FLAG_TYPES; f++)
            all_sizes(split_types[t], flag_types[f], true, true, &random);
}

static void positions(void **state) {
    (void)state;
    struct inputs_random random = {harness_seed() + 33};
    for (int t = 0; t < POSITION_TYPES; t++)
        for (int f = 0; f < FLAG_TYPES; f++) {
            all_sizes(position_types[t], flag_types[f], false, false, &random);
            all_sizes(position_types[t], flag_types[f], false, true, &random);
        }
}

/* The patterns of the segmented scans, whose segments begin at, before and behind borders. */
static void patterns_of_heads(void **state) {
    (void)state;
    struct inputs_random random = {harness_seed() + 34};
    static const int64_t borders[] = {4096, 32768};
    for (int p = 0; p < INPUTS_FLAGS_PATTERNS; p++)
        for (int b = 0; b < 2; b++) {
            const int64_t n = harness_small() ? 9000 : 5 * borders[b] + 77;
            uint8_t *heads = malloc((size_t)n);
            assert_non_null(heads);
            inputs_flags_fill((enum inputs_flags)p, borders[b], n, inputs_next(&random), heads);
            void *in = maps_random(VSCAN_INT, n, &random);
            uint8_t *flags = maps_draw_flags(2, n, &random);
            run_split(&(struct splitting){.type = VSCAN_INT,
                                          .flag_type = VSCAN_BYTE,
                                          .head_type = VSCAN_BIT,
                                          .n = n,
                                          .in = in,
                                          .flags = flags,
                                          .heads = heads},
                      &random);
            free(heads);
            free(in);
            free(flags);
        }
}

/* Long enough for all that a GPU does with long vectors but what beyond_2_31 alone can show. */
static void long_vectors(void **state) {
    (void)state;
    if (harness_small()) skip();
    struct inputs_random random = {harness_seed() + 36};
    for (int density = 1; density < MAPS_DENSITIES; density++) {
        const int64_t n = (INT64_C(1) << 24) + inputs_below(&random, 100000);
        void *in = maps_random(VSCAN_INT, n, &random);
        uint8_t *flags = maps_draw_flags(density, n, &random);
        uint8_t *heads = maps_draw_flags(density == 4 ? 1 : 4, n, &random);
        run_split(&(struct splitting){.type = VSCAN_INT,
                                      .flag_type = flag_types[density % FLAG_TYPES],
                                      .head_type = VSCAN_BYTE,
                                      .n = n,
                                      .in = in,
                                      .flags = flags,
                                      .heads = density == 3 ? NULL : heads},
                  &random);
        free(in);
        free(flags);
        free(heads);
    }
}

/* Plain splits longer than a GPU does by one launch, in few chunks and in many. */
static void plain_vectors(void **state) {
    (void)state;
    if (harness_small()) skip();
    struct inputs_random random = {harness_seed() + 37};
    for (int t = 0; t < TYPES; t++)
        for (int f = 0; f < FLAG_TYPES; f++) {
            const int64_t n = (INT64_C(1) << 21) + inputs_below(&random, 100000);
            void *in = maps_random(split_types[t], n, &random);
            uint8_t *flags = maps_draw_flags(1 + (t + f) % (MAPS_DENSITIES - 1), n, &random);
            run_split(&(struct splitting){.type = split_types[t],
                                          .flag_type = flag_types[f],
                                          .head_type = VSCAN_BYTE,
                                          .n = n,
                                          .in = in,
                                          .flags = flags},
                      &random);
            free(in);
            free(flags);
        }
}

/* ---- Several calls --------------------------------------------------------------------------- */

/* A radix sort of positive ints by splits (Blelloch 1990, 3.4.2), other calls between them: each
   leaves the workspace as the next one needs it. Meanwhile scans of another context keep a GPU busy,
   so that not all blocks of a split may run at once. */
static void sorts(void **state) {
    (void)state;
    vscan_ctx *ctx = harness_ctx();
    struct inputs_random random = {harness_seed() + 35};
    enum { BITS = 16 };
    const int64_t n = harness_small() ? 20000 : 700001;
    int32_t *values = malloc((size_t)n * sizeof *values),
            *sorted = malloc((size_t)n * sizeof *values);
    assert_non_null(values);
    assert_non_null(sorted);
    int64_t counts[1 << BITS] = {0};
    for (int64_t i = 0; i < n; i++) counts[values[i] = (int32_t)inputs_below(&random, 1 << BITS)]++;
    vscan_buffer *v[2], *flags, *sums;
    for (int k = 0; k < 2; k++) ok(ctx, vscan_buffer_create(ctx, VSCAN_INT, n, &v[k]));
    ok(ctx, vscan_buffer_create(ctx, VSCAN_INT, n, &flags));
    ok(ctx, vscan_buffer_create(ctx, VSCAN_INT, n, &sums));
    ok(ctx, vscan_buffer_upload(v[0], 0, n, values));
    const vscan_ctx_options own = {.size = sizeof own, .backend = (int32_t)harness_backend};
    vscan_ctx *other = NULL;
    vscan_buffer *busy;
    ok(NULL, vscan_ctx_create(&own, &other));
    ok(other, vscan_buffer_create(other, VSCAN_INT,
                                  harness_backend == VSCAN_BACKEND_CUDA ? n * 20 : n, &busy));
    ok(other, vscan_buffer_fill(busy, &(int32_t){1}));
    for (int b = 0; b < BITS; b++) {
        ok(other, vscan_scan(other, VSCAN_MAX, busy, busy, NULL));
        ok(ctx, vscan_map_right(ctx, VSCAN_BINARY_AND, v[b % 2], &(int32_t){1 << b}, flags));
        ok(ctx, vscan_split(ctx, v[b % 2], flags, v[1 - b % 2], NULL));
        if (b % 3 == 0) ok(ctx, vscan_scan(ctx, VSCAN_PLUS, flags, sums, NULL));
        if (b % 3 == 1) ok(ctx, vscan_pack(ctx, v[b % 2], flags, sums, NULL));
        if (b % 3 == 2) ok(ctx, vscan_split_segmented(ctx, v[b % 2], flags, flags, sums, NULL));
    }
    ok(ctx, vscan_buffer_download(v[BITS % 2], 0, n, sorted));
    for (int32_t x = 0, i = 0; x < 1 << BITS; x++)
        for (int64_t k = 0; k < counts[x]; k++) assert_int_equal(sorted[i++], x);
    vscan_buffer *const all[] = {v[0], v[1], flags, sums};
    for (int k = 0; k < 4; k++) ok(NULL, vscan_buffer_destroy(all[k]));
    ok(NULL, vscan_buffer_destroy(busy));
    ok(NULL, vscan_ctx_destroy(other));
    free(values);
    free(sorted);
}

/* Positions are those of vscan_permute, and vscan_gather undoes it. */
static void positions_move(void **state) {
    (void)state;
    vscan_ctx *ctx = harness_ctx();
    const float values[6] = {5, -1, 7, 0, -9, 2};
    const uint8_t flags[6] = {1, 0, 0, 1, 1, 0}, heads[6] = {0, 0, 0, 1, 0, 0};
    const float expected[6] = {-1, 7, 5, 2, 0, -9};
    float got[6];
    vscan_buffer *v, *out, *f, *h, *p;
    ok(ctx, vscan_buffer_create(ctx, VSCAN_FLOAT, 6, &v));
    ok(ctx, vscan_buffer_create(ctx, VSCAN_FLOAT, 6, &out));
    ok(ctx, vscan_buffer_create(ctx, VSCAN_BYTE, 6, &f));
    ok(ctx, vscan_buffer_create(ctx, VSCAN_BYTE, 6, &h));
    ok(ctx, vscan_buffer_create(ctx, VSCAN_INT, 6, &p));
    ok(ctx, vscan_buffer_upload(v, 0, 6, values));
    ok(ctx, vscan_buffer_upload(f, 0, 6, flags));
    ok(ctx, vscan_buffer_upload(h, 0, 6, heads));
    ok(ctx, vscan_split_segmented_positions(ctx, f, h, p, NULL));
    ok(ctx, vscan_permute(ctx, v, p, out, NULL));
    ok(ctx, vscan_buffer_download(out, 0, 6, got));
    assert_memory_equal(got, expected, sizeof got);
    ok(ctx, vscan_split_segmented(ctx, v, f, h, out, NULL));
    ok(ctx, vscan_buffer_download(out, 0, 6, got));
    assert_memory_equal(got, expected, sizeof got);
    ok(ctx, vscan_buffer_fill(v, &(float){77}));
    ok(ctx, vscan_gather(ctx, out, p, v));
    ok(ctx, vscan_buffer_download(v, 0, 6, got));
    assert_memory_equal(got, values, sizeof got);
    vscan_buffer *const all[] = {v, out, f, h, p};
    for (int k = 0; k < 5; k++) ok(NULL, vscan_buffer_destroy(all[k]));
}

/* More than 2^31 elements: bytes whose values tell their flags. */
static void beyond_2_31(void **state) {
    (void)state;
    if (!harness_long()) skip();
    vscan_ctx *ctx = harness_new_ctx(0);
    const int64_t n = (INT64_C(1) << 31) + 100003;
    const int64_t marks[] = {3, INT32_MAX, INT64_C(1) << 31, n - 1}; /* set, all others are clear */
    int64_t count = 0;
    uint8_t got[4];
    vscan_buffer *v, *out, *bits, *heads;
    const vscan_count_options o = {.size = sizeof o, .count = harness_one(ctx, VSCAN_LONG)};
    ok(ctx, vscan_buffer_create(ctx, VSCAN_BYTE, n, &v));
    ok(ctx, vscan_buffer_create(ctx, VSCAN_BYTE, n, &out));
    ok(ctx, vscan_buffer_create(ctx, VSCAN_BIT, n, &bits));
    ok(ctx, vscan_buffer_create(ctx, VSCAN_BIT, n, &heads));
    ok(ctx, vscan_buffer_fill(v, &(uint8_t){0}));
    for (uint8_t k = 0; k < 4; k++) ok(ctx, vscan_buffer_set(v, marks[k], &(uint8_t){k + 1}));
    ok(ctx, vscan_convert(ctx, v, bits));
    vscan_buffer *const flags[] = {v, bits};
    for (int f = 0; f < 2; f++) {
        ok(ctx, vscan_buffer_fill(out, &(uint8_t){99}));
        ok(ctx, vscan_split(ctx, v, flags[f], out, &o));
        ok(ctx, vscan_buffer_get(o.count, 0, &count));
        assert_int_equal(count, n - 4);
        ok(ctx, vscan_buffer_download(out, n - 4, 4, got));
        for (int k = 0; k < 4; k++) assert_int_equal(got[k], k + 1);
    }
    /* two segments: the second begins at the third mark, which goes behind what is clear in it */
    ok(ctx, vscan_buffer_fill(heads, &(uint8_t){0}));
    ok(ctx, vscan_buffer_set(heads, marks[2], &(uint8_t){1}));
    ok(ctx, vscan_split_segmented(ctx, v, bits, heads, out, &o));
    ok(ctx, vscan_buffer_get(o.count, 0, &count));
    assert_int_equal(count, n - 4);
    const int64_t places[] = {marks[2] - 2, marks[2] - 1, n - 2, n - 1};
    for (int k = 0; k < 4; k++) {
        ok(ctx, vscan_buffer_get(out, places[k], got));
        assert_int_equal(got[0], k + 1);
    }
    ok(ctx, vscan_pack(ctx, out, out, v, &o)); /* and there are no others */
    harness_take(ctx, o.count, &count);
    assert_int_equal(count, 4);
    ok(NULL, vscan_buffer_destroy(v));
    ok(NULL, vscan_buffer_destroy(out));
    int64_t memory, available; /* positions take 17 GB */
    ok(NULL, vscan_device_memory(harness_backend, 0, &memory, &available));
    if (available < INT64_C(20000000000)) {
        print_message("no memory for the positions of %" PRId64 " flags\n", n);
    } else {
        vscan_buffer *numbers, *too_short;
        ok(ctx, vscan_buffer_create(ctx, VSCAN_LONG, n, &numbers));
        ok(ctx, vscan_split_segmented_positions(ctx, bits, heads, numbers, NULL));
        for (int k = 0; k < 4; k++) {
            int64_t number = 0;
            ok(ctx, vscan_buffer_get(numbers, marks[k], &number));
            assert_int_equal(number, places[k]);
        }
        ok(ctx, vscan_buffer_wrap(ctx, VSCAN_INT, vscan_buffer_pointer(numbers), n, &too_short));
        refuses(VSCAN_ERROR_LENGTH, vscan_split_positions(ctx, bits, too_short, NULL));
        ok(NULL, vscan_buffer_destroy(too_short));
        ok(NULL, vscan_buffer_destroy(numbers));
    }
    ok(NULL, vscan_buffer_destroy(bits));
    ok(NULL, vscan_buffer_destroy(heads));
    ok(NULL, vscan_ctx_destroy(ctx));
}

/* ---- Refusals -------------------------------------------------------------------------------- */

static vscan_status split_on(vscan_ctx *ctx) {
    return vscan_split(ctx, w.in, w.flags, w.out, NULL);
}
static vscan_status segmented_on(vscan_ctx *ctx) {
    return vscan_split_segmented(ctx, w.in, w.flags, w.flags, w.out, NULL);
}
static vscan_status positions_on(vscan_ctx *ctx) {
    return vscan_split_positions(ctx, w.flags, w.out, NULL);
}
static vscan_status segmented_positions_on(vscan_ctx *ctx) {
    return vscan_split_segmented_positions(ctx, w.flags, w.flags, w.out, NULL);
}

/* What all calls that have such a vector say to it. */
static void refused_in(vscan_status status, const vscan_buffer *in) {
    refused_untouched(status, "in ", vscan_split(w.ctx, in, w.flags, w.out, NULL));
    refused_untouched(status, "in ",
                      vscan_split_segmented(w.ctx, in, w.flags, w.flags, w.out, NULL));
}
static void refused_flags(vscan_status status, const vscan_buffer *flags) {
    refused_untouched(status, "flags ", vscan_split(w.ctx, w.in, flags, w.out, NULL));
    refused_untouched(status, "flags ",
                      vscan_split_segmented(w.ctx, w.in, flags, w.flags, w.out, NULL));
    refused_untouched(status, "flags ", vscan_split_positions(w.ctx, flags, w.out, NULL));
    refused_untouched(status, "flags ",
                      vscan_split_segmented_positions(w.ctx, flags, w.flags, w.out, NULL));
}
static void refused_heads(vscan_status status, const vscan_buffer *heads) {
    refused_untouched(status, "heads ",
                      vscan_split_segmented(w.ctx, w.in, w.flags, heads, w.out, NULL));
    refused_untouched(status, "heads ",
                      vscan_split_segmented_positions(w.ctx, w.flags, heads, w.out, NULL));
}
static void refused_out(vscan_status status, vscan_buffer *out) {
    refused_untouched(status, "out ", vscan_split(w.ctx, w.in, w.flags, out, NULL));
    refused_untouched(status, "out ",
                      vscan_split_segmented(w.ctx, w.in, w.flags, w.flags, out, NULL));
}
static void refused_positions(vscan_status status, const char *word, vscan_buffer *out) {
    refused_untouched(status, word, vscan_split_positions(w.ctx, w.flags, out, NULL));
    refused_untouched(status, word,
                      vscan_split_segmented_positions(w.ctx, w.flags, w.flags, out, NULL));
}
static void refused_with(vscan_status status, const char *word, const vscan_count_options *o) {
    refused_untouched(status, word, vscan_split(w.ctx, w.in, w.flags, w.out, o));
    refused_untouched(status, word, vscan_split_segmented(w.ctx, w.in, w.flags, w.flags, w.out, o));
    refused_untouched(status, word, vscan_split_positions(w.ctx, w.in, w.out, o));
    refused_untouched(status, word, vscan_split_segmented_positions(w.ctx, w.in, w.in, w.out, o));
}

static void refused_handles(void **state) {
    (void)state;
    world_check_contexts(split_on);
    world_check_contexts(segmented_on);
    world_check_contexts(positions_on);
    world_check_contexts(segmented_positions_on);
    for (int i = 0; i < WRONG_HANDLES; i++) {
        const struct wrong_handle h = wrong_handle(i);
        refused_in(h.status, h.handle);
        refused_flags(h.status, h.handle);
        refused_heads(h.status, h.handle);
        refused_out(h.status, h.handle);
        refused_positions(h.status, "out ", h.handle);
        if (h.handle == NULL) continue; /* no count is asked for */
        const vscan_count_options o = {.size = sizeof o, .count = h.handle};
        refused_with(h.status, "count ", &o);
    }
}

static void refused_vectors(void **state) {
    (void)state;
    const vscan_status type = VSCAN_ERROR_TYPE, length = VSCAN_ERROR_LENGTH,
                       overlap = VSCAN_ERROR_OVERLAP;
    refused_in(type, w.of_bit);
    vscan_buffer *const no_flags[] = {w.of_float, w.of_double, w.of_long};
    for (int k = 0; k < 3; k++) {
        refused_flags(type, no_flags[k]);
        refused_heads(type, no_flags[k]);
    }
    vscan_buffer *const no_positions[] = {w.of_float, w.of_double, w.of_byte, w.of_bit};
    for (int k = 0; k < 4; k++) refused_positions(type, "out ", no_positions[k]);
    refused_out(type, w.of_float);
    refused_out(length, w.shorter);
    refused_flags(length, w.shorter);
    refused_heads(length, w.shorter);
    refused_positions(length, "flags ", w.shorter);
    refused_out(overlap, w.in); /* never in place */
    refused_out(overlap, w.shifted);
    refused_flags(overlap, w.out);
    refused_heads(overlap, w.out);
    refused_positions(overlap, "flags ", w.flags);
}

static void refused_options(void **state) {
    (void)state;
    world_refuse_counts(refused_with);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(split),          cmocka_unit_test(split_segmented),
        cmocka_unit_test(positions),      cmocka_unit_test(patterns_of_heads),
        cmocka_unit_test(long_vectors),   cmocka_unit_test(plain_vectors),
        cmocka_unit_test(sorts),          cmocka_unit_test(positions_move),
        cmocka_unit_test(beyond_2_31),    world_unit_test(refused_handles),
        world_unit_test(refused_vectors), world_unit_test(refused_options),
    };
    return harness_run(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
