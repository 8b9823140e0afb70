/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pack, by flags and by comparison, and enumerate, against one plain element after another: all
 * types, densities, room for more or fewer, in place and apart. What the calls refuse is at the end.
 */
#include "counted.h"
#include "maps.h"
#include "refusal.h"
#include "world.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT = 200, SIZES = MAPS_SIZES + 16 };

static const vscan_type packed_types[] = {VSCAN_INT,  VSCAN_FLOAT, VSCAN_DOUBLE,
                                          VSCAN_BYTE, VSCAN_LONG,  VSCAN_UINT8};
static const vscan_type flag_types[] = {VSCAN_INT, VSCAN_BYTE, VSCAN_BIT};
enum { PACKED = 6, FLAG_TYPES = 3 };

/* Those of all maps, and around one to many tiles of a GPU. */
static size_t draw_sizes(int64_t sizes[SIZES], struct inputs_random *random) {
    static const int64_t more[] = {8191, 8193, 12288, 16383, 16384, 16385, 40961, 65536, 131071};
    size_t count = maps_sizes(sizes, random);
    for (size_t k = 0; k < sizeof more / sizeof more[0]; k++)
        if (!harness_small() || inputs_below(random, 6) == 0) sizes[count++] = more[k];
    for (int k = 0; k < (harness_small() ? 0 : 2); k++)
        sizes[count++] = 100000 + inputs_below(random, 500000);
    /* where blocks grow, and where short vectors end */
    static const int64_t borders[] = {1 << 15, 1 << 17, 3 << 18};
    const int64_t border = borders[inputs_below(random, 3)];
    if (!harness_small() || inputs_below(random, 6) == 0)
        sizes[count++] = border - 1 + inputs_below(random, 3);
    return count;
}

/* NULL now and then, where nothing is asked for. */
static const vscan_count_options *count_options(const struct counted *c, int64_t n,
                                                vscan_count_options *options) {
    *options = (vscan_count_options){.size = sizeof *options, .count = c->to_device};
    return c->to_device != NULL || n % 2 ? options : NULL;
}

/* ---- Pack ------------------------------------------------------------------------------------ */

/* What is packed: by an encoding of the flags, or (encoded NULL) by a comparison that gives them. */
struct packing {
    vscan_type type, flag_type;
    int64_t n;
    const void *in, *encoded;
    const uint8_t *flags;
    vscan_relation relation;
    const void *right;
};

static void run_pack(const struct packing *p, struct inputs_random *random) {
    vscan_ctx *ctx = harness_ctx();
    int64_t set = 0;
    for (int64_t i = 0; i < p->n; i++) set += p->flags[i];
    const int64_t lengths[] = {p->n, set, p->n + 9, inputs_below(random, set + 1),
                               inputs_below(random, p->n + 1)};
    const int64_t length = lengths[inputs_below(random, 5)];
    const bool in_place = inputs_below(random, 3) == 0 && length <= p->n;
    int shift[3];
    maps_shifts(random, 3, shift);
    struct guarded from = guarded_make(ctx, p->type, p->n, shift[0], p->in);
    struct guarded apart = guarded_make(ctx, p->type, length, shift[2], NULL);
    struct guarded flags = guarded_make(ctx, p->encoded != NULL ? p->flag_type : VSCAN_BYTE, p->n,
                                        shift[1], p->encoded);
    struct counted count;
    counted_make(ctx, &count, random);
    vscan_buffer *front = NULL;
    ok(ctx, vscan_buffer_view(from.view, 0, in_place ? length : 0, &front));

    struct guarded *const to = in_place ? &from : &apart;
    void *expected = maps_original(to);
    int64_t k = 0;
    for (int64_t i = 0; i < p->n; i++) {
        if (!p->flags[i]) continue;
        if (k < length)
            memcpy(maps_at(p->type, expected, k), maps_at(p->type, (void *)p->in, i),
                   reference_bytes(p->type, 1));
        k++;
    }
    char what[TEXT];
    snprintf(what, sizeof what,
             "pack of %s by %s %d, n %" PRId64 ", %" PRId64 " set, room for %" PRId64
             "%s, shifts %d %d %d",
             reference_type_name(p->type),
             p->encoded != NULL ? reference_type_name(p->flag_type) : "relation", (int)p->relation,
             p->n, set, length, in_place ? ", in place" : "", shift[0], shift[1], shift[2]);
    vscan_buffer *out = in_place ? front : apart.view;
    vscan_count_options space;
    const vscan_count_options *options = count_options(&count, p->n, &space);
    const vscan_status status =
        p->encoded != NULL
            ? vscan_pack(ctx, from.view, flags.view, out, options)
            : vscan_pack_compare(ctx, p->relation, from.view, p->right, out, options);
    counted_check(ctx, &count, status, set > length ? VSCAN_ERROR_OUT_LENGTH : VSCAN_OK, set, what);
    maps_check(to, expected, what);
    if (in_place)
        maps_check(&apart, guarded_original(&apart), what);
    else
        maps_check(&from, guarded_original(&from), what);
    maps_check(&flags, guarded_original(&flags), what);
    ok(NULL, vscan_buffer_destroy(front));
    guarded_free(&from);
    guarded_free(&apart);
    guarded_free(&flags);
    free(expected);
}

static void pack(void **state) {
    (void)state;
    struct inputs_random random = {harness_seed() + 21};
    int64_t sizes[SIZES];
    for (int t = 0; t < PACKED; t++)
        for (int f = 0; f < FLAG_TYPES; f++) {
            const size_t count = draw_sizes(sizes, &random);
            for (size_t s = 0; s < count; s++)
                for (int density = 0; density < MAPS_DENSITIES; density++) {
                    const int64_t n = sizes[s];
                    void *in = maps_random(packed_types[t], n, &random);
                    uint8_t *flags = maps_draw_flags(density, n, &random);
                    void *encoded = maps_encode_flags(flag_types[f], n, flags, &random);
                    run_pack(&(struct packing){.type = packed_types[t],
                                               .flag_type = flag_types[f],
                                               .n = n,
                                               .in = in,
                                               .encoded = encoded,
                                               .flags = flags},
                             &random);
                    free(in);
                    free(flags);
                    free(encoded);
                }
        }
}

#define HOLDS(T)                                                                                   \
    do {                                                                                           \
        const T a = *(const T *)left, b = *(const T *)right;                                       \
        return relation == VSCAN_EQUAL           ? a == b                                          \
               : relation == VSCAN_NOT_EQUAL     ? a != b                                          \
               : relation == VSCAN_LESS          ? a < b                                           \
               : relation == VSCAN_LESS_OR_EQUAL ? a <= b                                          \
               : relation == VSCAN_GREATER       ? a > b                                           \
                                                 : a >= b;                                               \
    } while (0)

static bool holds(vscan_type type, vscan_relation relation, const void *left, const void *right) {
    switch (type) {
    case VSCAN_INT:
        HOLDS(int32_t);
    case VSCAN_LONG:
        HOLDS(int64_t);
    case VSCAN_UINT8:
        HOLDS(uint8_t);
    case VSCAN_FLOAT:
        HOLDS(float);
    default:
        HOLDS(double);
    }
}

static void pack_compare(void **state) {
    (void)state;
    static const vscan_type types[] = {VSCAN_INT, VSCAN_LONG, VSCAN_FLOAT, VSCAN_DOUBLE,
                                       VSCAN_UINT8};
    struct inputs_random random = {harness_seed() + 22};
    int64_t sizes[SIZES];
    for (int t = 0; t < 5; t++)
        for (int r = VSCAN_EQUAL; r <= VSCAN_GREATER_OR_EQUAL; r++) {
            const size_t count = draw_sizes(sizes, &random);
            for (size_t s = 0; s < count; s++) {
                const vscan_type type = types[t];
                const vscan_relation relation = (vscan_relation)r;
                const int64_t n = sizes[s];
                void *in = maps_random(type, n, &random);
                /* one of the elements, or another: both zeros and NaN are among them */
                void *right = maps_random(type, 1, &random);
                if (n > 0 && inputs_below(&random, 2))
                    memcpy(right, maps_at(type, in, inputs_below(&random, n)),
                           reference_bytes(type, 1));
                uint8_t *flags = malloc((size_t)n + 1);
                assert_non_null(flags);
                for (int64_t i = 0; i < n; i++)
                    flags[i] = holds(type, relation, maps_at(type, in, i), right);
                run_pack(&(struct packing){.type = type,
                                           .n = n,
                                           .in = in,
                                           .flags = flags,
                                           .relation = relation,
                                           .right = right},
                         &random);
                free(in);
                free(right);
                free(flags);
            }
        }
}

/* ---- Enumerate ------------------------------------------------------------------------------- */

static void run_enumerate(vscan_type flag_type, vscan_type type, int64_t n, int density,
                          struct inputs_random *random) {
    vscan_ctx *ctx = harness_ctx();
    int shift[2];
    maps_shifts(random, 2, shift);
    uint8_t *flags = maps_draw_flags(density, n, random);
    void *encoded = maps_encode_flags(flag_type, n, flags, random);
    const bool in_place = flag_type == type && inputs_below(random, 2);
    struct guarded from = guarded_make(ctx, flag_type, n, shift[0], encoded);
    struct guarded apart = guarded_make(ctx, type, n, shift[1], NULL);
    struct guarded *const to = in_place ? &from : &apart;
    void *expected = maps_original(to);
    struct counted count;
    counted_make(ctx, &count, random);
    int64_t set = 0;
    for (int64_t i = 0; i < n; i++) {
        if (type == VSCAN_INT)
            ((int32_t *)expected)[i] = (int32_t)set;
        else
            ((int64_t *)expected)[i] = set;
        set += flags[i];
    }
    char what[TEXT];
    snprintf(what, sizeof what,
             "enumerate of %s as %s, n %" PRId64 ", %" PRId64 " set%s, shifts %d %d",
             reference_type_name(flag_type), reference_type_name(type), n, set,
             in_place ? ", in place" : "", shift[0], shift[1]);
    vscan_count_options space;
    const vscan_status status =
        vscan_enumerate(ctx, from.view, to->view, count_options(&count, n, &space));
    counted_check(ctx, &count, status, VSCAN_OK, set, what);
    maps_check(to, expected, what);
    struct guarded *const other = in_place ? &apart : &from;
    maps_check(other, guarded_original(other), what);
    guarded_free(&from);
    guarded_free(&apart);
    free(flags);
    free(encoded);
    free(expected);
}

static void enumerate(void **state) {
    (void)state;
    struct inputs_random random = {harness_seed() + 23};
    int64_t sizes[SIZES];
    for (int f = 0; f < FLAG_TYPES; f++)
        for (int t = 0; t < 2; t++) {
            const size_t count = draw_sizes(sizes, &random);
            for (size_t s = 0; s < count; s++)
                for (int density = 0; density < MAPS_DENSITIES; density++)
                    run_enumerate(flag_types[f], t ? VSCAN_LONG : VSCAN_INT, sizes[s], density,
                                  &random);
        }
}

/* ---- Count ----------------------------------------------------------------------------------- */

static void run_count(vscan_type flag_type, int64_t n, int density, struct inputs_random *random) {
    vscan_ctx *ctx = harness_ctx();
    int shift[2];
    maps_shifts(random, 2, shift);
    uint8_t *flags = maps_draw_flags(density, n, random);
    void *encoded = maps_encode_flags(flag_type, n, flags, random);
    struct guarded from = guarded_make(ctx, flag_type, n, shift[0], encoded);
    struct guarded count = guarded_make(ctx, VSCAN_LONG, 1, shift[1], NULL);
    int64_t set = 0;
    for (int64_t i = 0; i < n; i++) set += flags[i];
    char what[TEXT];
    snprintf(what, sizeof what, "count of %s, n %" PRId64 ", %" PRId64 " set, shifts %d %d",
             reference_type_name(flag_type), n, set, shift[0], shift[1]);
    ok(ctx, vscan_count(ctx, from.view, count.view));
    maps_judge(ctx, VSCAN_OK, &count, &set, (struct guarded *[]){&from, &count, NULL}, what);
    free(flags);
    free(encoded);
}

static void count(void **state) {
    (void)state;
    struct inputs_random random = {harness_seed() + 25};
    int64_t sizes[SIZES];
    for (int f = 0; f < FLAG_TYPES; f++) {
        const size_t count = draw_sizes(sizes, &random);
        for (size_t s = 0; s < count; s++)
            for (int density = 0; density < MAPS_DENSITIES; density++)
                run_count(flag_types[f], sizes[s], density, &random);
        for (int n = 0; n < 300; n++) run_count(flag_types[f], n, 2 + n % 2, &random);
    }
}

/* ---- Several calls --------------------------------------------------------------------------- */

/* One call after the other, of alternating lengths, without a wait: each leaves the workspace as
   the next one needs it. Sizes of one call are the inputs of others, through counts on the device. */
static void in_a_row(void **state) {
    (void)state;
    vscan_ctx *ctx = harness_ctx();
    struct inputs_random random = {harness_seed() + 24};
    enum { CALLS = 40 };
    const int64_t n = harness_small() ? 30000 : 1000003;
    void *in = maps_random(VSCAN_INT, n, &random);
    uint8_t *flags = maps_draw_flags(2, n, &random);
    vscan_buffer *v, *f, *out, *numbers, *counts;
    ok(ctx, vscan_buffer_create(ctx, VSCAN_INT, n, &v));
    ok(ctx, vscan_buffer_create(ctx, VSCAN_BYTE, n, &f));
    ok(ctx, vscan_buffer_create(ctx, VSCAN_INT, n, &out));
    ok(ctx, vscan_buffer_create(ctx, VSCAN_INT, n, &numbers));
    ok(ctx, vscan_buffer_create(ctx, VSCAN_LONG, 3 * CALLS, &counts));
    ok(ctx, vscan_buffer_upload(v, 0, n, in));
    ok(ctx, vscan_buffer_upload(f, 0, n, flags));
    int64_t lengths[CALLS];
    for (int c = 0; c < CALLS; c++) {
        lengths[c] = c % 3 == 2 ? n : 1 + inputs_below(&random, c % 3 ? 20000 : n);
        vscan_buffer *part, *part_flags, *part_numbers, *count[3];
        ok(ctx, vscan_buffer_view(v, 0, lengths[c], &part));
        ok(ctx, vscan_buffer_view(f, 0, lengths[c], &part_flags));
        ok(ctx, vscan_buffer_view(numbers, 0, lengths[c], &part_numbers));
        for (int k = 0; k < 3; k++) ok(ctx, vscan_buffer_view(counts, 3 * c + k, 1, &count[k]));
        vscan_count_options o = {.size = sizeof o, .count = count[0]};
        ok(ctx, vscan_pack(ctx, part, part_flags, out, &o));
        o.count = count[1];
        ok(ctx, vscan_enumerate(ctx, part_flags, part_numbers, &o));
        ok(ctx, vscan_scan(ctx, VSCAN_PLUS, part_numbers, part_numbers, NULL));
        o.count = count[2];
        ok(ctx, vscan_pack_compare(ctx, VSCAN_LESS, part, &(int32_t){0}, out, &o));
        vscan_buffer *const views[] = {part,     part_flags, part_numbers,
                                       count[0], count[1],   count[2]};
        for (int k = 0; k < 6; k++) ok(NULL, vscan_buffer_destroy(views[k]));
    }
    int64_t got[3 * CALLS];
    ok(ctx, vscan_buffer_download(counts, 0, 3 * CALLS, got));
    for (int c = 0; c < CALLS; c++) {
        int64_t set = 0, negative = 0;
        for (int64_t i = 0; i < lengths[c]; i++) {
            set += flags[i];
            negative += ((const int32_t *)in)[i] < 0;
        }
        assert_int_equal(got[3 * c], set);
        assert_int_equal(got[3 * c + 1], set);
        assert_int_equal(got[3 * c + 2], negative);
    }
    vscan_buffer *const all[] = {v, f, out, numbers, counts};
    for (int k = 0; k < 5; k++) ok(NULL, vscan_buffer_destroy(all[k]));
    free(in);
    free(flags);
}

/* The late error names how many there were, and comes once. */
static void late(void **state) {
    (void)state;
    vscan_ctx *ctx = harness_ctx();
    const int32_t values[5] = {5, -1, 7, 0, 9};
    int32_t got[2] = {0};
    int64_t count = 0;
    vscan_buffer *v = NULL, *out = NULL;
    ok(ctx, vscan_buffer_create(ctx, VSCAN_INT, 5, &v));
    ok(ctx, vscan_buffer_create(ctx, VSCAN_INT, 2, &out));
    ok(ctx, vscan_buffer_upload(v, 0, 5, values));
    ok(ctx, vscan_pack_compare(ctx, VSCAN_GREATER, v, &(int32_t){0}, out, NULL));
    refused(ctx, VSCAN_ERROR_OUT_LENGTH, "had 3 elements", vscan_buffer_download(out, 0, 2, got));
    assert_int_equal(got[0], 5);
    assert_int_equal(got[1], 7);
    ok(ctx, vscan_ctx_synchronize(ctx));
    const vscan_count_options o = {.size = sizeof o, .count = harness_one(ctx, VSCAN_LONG)};
    ok(ctx, vscan_pack_compare(ctx, VSCAN_GREATER_OR_EQUAL, v, &(int32_t){0}, out, &o));
    refused(ctx, VSCAN_ERROR_OUT_LENGTH, "had 4 elements", vscan_buffer_get(o.count, 0, &count));
    assert_int_equal(count, 4);
    ok(ctx, vscan_buffer_destroy(o.count));
    ok(ctx, vscan_ctx_synchronize(ctx));
    ok(NULL, vscan_buffer_destroy(v));
    ok(NULL, vscan_buffer_destroy(out));
}

/* More than 2^31 elements: bytes that are their own flags. */
static void beyond_2_31(void **state) {
    (void)state;
    if (!harness_long()) skip();
    vscan_ctx *ctx = harness_new_ctx(0);
    const int64_t n = (INT64_C(1) << 31) + 100003;
    const int64_t marks[] = {3, INT32_MAX, INT64_C(1) << 31, n - 1};
    int64_t count = 0;
    vscan_buffer *v, *out, *bits;
    const vscan_count_options o = {.size = sizeof o, .count = harness_one(ctx, VSCAN_LONG)};
    ok(ctx, vscan_buffer_create(ctx, VSCAN_BYTE, n, &v));
    ok(ctx, vscan_buffer_create(ctx, VSCAN_BYTE, n, &out));
    ok(ctx, vscan_buffer_create(ctx, VSCAN_BIT, n, &bits));
    ok(ctx, vscan_buffer_fill(v, &(uint8_t){0}));
    ok(ctx, vscan_buffer_fill(out, &(uint8_t){99}));
    for (uint8_t k = 0; k < 4; k++) ok(ctx, vscan_buffer_set(v, marks[k], &(uint8_t){k + 1}));
    ok(ctx, vscan_pack(ctx, v, v, out, &o));
    ok(ctx, vscan_buffer_get(o.count, 0, &count));
    assert_int_equal(count, 4);
    uint8_t got[5];
    ok(ctx, vscan_buffer_download(out, 0, 5, got));
    for (uint8_t k = 0; k < 5; k++) assert_int_equal(got[k], k < 4 ? k + 1 : 99);
    ok(ctx, vscan_buffer_fill(bits, &(uint8_t){1}));
    ok(ctx, vscan_buffer_set(bits, 7, &(uint8_t){0}));
    ok(ctx, vscan_pack(ctx, v, bits, v, &o)); /* in place, one place on */
    assert_int_equal(count, n - 1);
    for (int k = 0; k < 4; k++) {
        ok(ctx, vscan_buffer_get(v, marks[k] - (k > 0), got));
        assert_int_equal(got[0], k + 1);
    }
    ok(NULL, vscan_buffer_destroy(v));
    ok(NULL, vscan_buffer_destroy(out));
    int64_t memory, available; /* the numbers take 17 GB */
    ok(NULL, vscan_device_memory(harness_backend, 0, &memory, &available));
    if (available < INT64_C(20000000000)) {
        print_message("no memory for the numbers of %" PRId64 " flags\n", n);
        ok(NULL, vscan_buffer_destroy(bits));
        ok(NULL, vscan_ctx_destroy(ctx));
        return;
    }
    vscan_buffer *numbers;
    ok(ctx, vscan_buffer_create(ctx, VSCAN_LONG, n, &numbers));
    ok(ctx, vscan_enumerate(ctx, bits, numbers, &o));
    assert_int_equal(count, n - 1);
    for (int k = 0; k < 4; k++) {
        int64_t number = 0;
        ok(ctx, vscan_buffer_get(numbers, marks[k], &number));
        assert_int_equal(number, marks[k] - (k > 0));
    }
    vscan_buffer *too_short;
    ok(ctx, vscan_buffer_wrap(ctx, VSCAN_INT, vscan_buffer_pointer(numbers), n, &too_short));
    refuses(VSCAN_ERROR_LENGTH, vscan_enumerate(ctx, bits, too_short, NULL));
    ok(NULL, vscan_buffer_destroy(too_short));
    ok(NULL, vscan_buffer_destroy(numbers));
    ok(NULL, vscan_buffer_destroy(bits));
    ok(NULL, vscan_ctx_destroy(ctx));
}

/* ---- Refusals -------------------------------------------------------------------------------- */

static const int32_t three = 3;

static vscan_status pack_on(vscan_ctx *ctx) {
    return vscan_pack(ctx, w.in, w.flags, w.out, NULL);
}
static vscan_status pack_compare_on(vscan_ctx *ctx) {
    return vscan_pack_compare(ctx, VSCAN_LESS, w.in, &three, w.out, NULL);
}
static vscan_status enumerate_on(vscan_ctx *ctx) {
    return vscan_enumerate(ctx, w.flags, w.out, NULL);
}
static vscan_status count_on(vscan_ctx *ctx) {
    return vscan_count(ctx, w.flags, w.count);
}

static void refused_handles(void **state) {
    (void)state;
    world_check_contexts(pack_on);
    world_check_contexts(pack_compare_on);
    world_check_contexts(enumerate_on);
    world_check_contexts(count_on);
    vscan_ctx *c = w.ctx;
    for (int i = 0; i < WRONG_HANDLES; i++) {
        const struct wrong_handle h = wrong_handle(i);
        refused_untouched(h.status, "in ", vscan_pack(c, h.handle, w.flags, w.out, NULL));
        refused_untouched(h.status, "flags ", vscan_pack(c, w.in, h.handle, w.out, NULL));
        refused_untouched(h.status, "out ", vscan_pack(c, w.in, w.flags, h.handle, NULL));
        refused_untouched(h.status, "in ",
                          vscan_pack_compare(c, VSCAN_LESS, h.handle, &three, w.out, NULL));
        refused_untouched(h.status, "out ",
                          vscan_pack_compare(c, VSCAN_LESS, w.in, &three, h.handle, NULL));
        refused_untouched(h.status, "flags ", vscan_enumerate(c, h.handle, w.out, NULL));
        refused_untouched(h.status, "out ", vscan_enumerate(c, w.flags, h.handle, NULL));
        refused_untouched(h.status, "flags ", vscan_count(c, h.handle, w.count));
        refused_untouched(h.status, "count ", vscan_count(c, w.flags, h.handle));
        if (h.handle == NULL) continue; /* none */
        const vscan_count_options o = {.size = sizeof o, .count = h.handle};
        refused_untouched(h.status, "count ", vscan_pack(c, w.in, w.flags, w.out, &o));
        refused_untouched(h.status, "count ",
                          vscan_pack_compare(c, VSCAN_LESS, w.in, &three, w.out, &o));
        refused_untouched(h.status, "count ", vscan_enumerate(c, w.flags, w.out, &o));
    }
}

static void refused_vectors(void **state) {
    (void)state;
    vscan_ctx *c = w.ctx;
    const vscan_status type = VSCAN_ERROR_TYPE, length = VSCAN_ERROR_LENGTH,
                       overlap = VSCAN_ERROR_OVERLAP;
    refused_untouched(type, "in ", vscan_pack(c, w.of_bit, w.flags, w.of_bit, NULL));
    refused_untouched(type, "in ",
                      vscan_pack_compare(c, VSCAN_LESS, w.of_bit, &three, w.of_bit, NULL));
    refused_untouched(type, "in ",
                      vscan_pack_compare(c, VSCAN_LESS, w.of_byte, &three, w.of_byte, NULL));
    vscan_buffer *const no_flags[] = {w.of_float, w.of_double, w.of_long};
    for (int k = 0; k < 3; k++) {
        refused_untouched(type, "flags ", vscan_pack(c, w.in, no_flags[k], w.out, NULL));
        refused_untouched(type, "flags ", vscan_enumerate(c, no_flags[k], w.out, NULL));
        refused_untouched(type, "flags ", vscan_count(c, no_flags[k], w.count));
    }
    vscan_buffer *const no_numbers[] = {w.of_float, w.of_double, w.of_byte, w.of_bit};
    for (int k = 0; k < 4; k++)
        refused_untouched(type, "out ", vscan_enumerate(c, w.flags, no_numbers[k], NULL));
    refused_untouched(type, "out ", vscan_pack(c, w.in, w.flags, w.of_float, NULL));
    refused_untouched(type, "out ",
                      vscan_pack_compare(c, VSCAN_LESS, w.in, &three, w.of_float, NULL));
    refused_untouched(type, "count ", vscan_count(c, w.flags, w.one_int));
    refused_untouched(length, "count ", vscan_count(c, w.flags, w.two_long));
    vscan_buffer *ints, *inside; /* of which some are a long, too */
    ok(c, vscan_buffer_wrap(c, VSCAN_INT, vscan_buffer_pointer(w.of_long), 8, &ints));
    ok(c, vscan_buffer_view(w.of_long, 3, 1, &inside));
    refused_untouched(overlap, "count ", vscan_count(c, ints, inside));
    ok(c, vscan_buffer_destroy(ints));
    ok(c, vscan_buffer_destroy(inside));
    refused_untouched(length, "flags ", vscan_pack(c, w.in, w.shorter, w.out, NULL));
    refused_untouched(length, "out ", vscan_enumerate(c, w.flags, w.shorter, NULL));
    refused_untouched(overlap, "out ", vscan_pack(c, w.in, w.flags, w.shifted, NULL));
    refused_untouched(overlap, "out ", vscan_pack(c, w.shifted, w.flags, w.in, NULL));
    refused_untouched(overlap, "out ",
                      vscan_pack_compare(c, VSCAN_LESS, w.in, &three, w.shifted, NULL));
    refused_untouched(overlap, "flags ", vscan_pack(c, w.in, w.out, w.out, NULL));
    refused_untouched(overlap, "flags ", vscan_pack(c, w.in, w.in, w.in, NULL));
    refused_untouched(overlap, "out ", vscan_enumerate(c, w.in, w.shifted, NULL));
    refused_untouched(VSCAN_ERROR_NULL, "right ",
                      vscan_pack_compare(c, VSCAN_LESS, w.in, NULL, w.out, NULL));
    static const int no_relations[] = {0, -1, 7, 1000, INT32_MIN};
    for (int k = 0; k < 5; k++)
        refused_untouched(
            VSCAN_ERROR_ENUM, "relation ",
            vscan_pack_compare(c, (vscan_relation)no_relations[k], w.in, &three, w.out, NULL));
}

/* What all three calls say to these options. */
static void refused_with(vscan_status status, const char *word, const vscan_count_options *o) {
    refused_untouched(status, word, vscan_pack(w.ctx, w.in, w.flags, w.out, o));
    refused_untouched(status, word, vscan_pack_compare(w.ctx, VSCAN_LESS, w.in, &three, w.out, o));
    refused_untouched(status, word, vscan_enumerate(w.ctx, w.in, w.out, o));
}

static void refused_options(void **state) {
    (void)state;
    world_refuse_counts(refused_with);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pack),           cmocka_unit_test(pack_compare),
        cmocka_unit_test(enumerate),      cmocka_unit_test(count),
        cmocka_unit_test(in_a_row),       cmocka_unit_test(late),
        cmocka_unit_test(beyond_2_31),    world_unit_test(refused_handles),
        world_unit_test(refused_vectors), world_unit_test(refused_options),
    };
    return harness_run(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
