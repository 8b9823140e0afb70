/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Segmented distribute; flags to offsets and back, offsets to lengths and back; against one plain
 * element after another. What the calls refuse is at the end.
 */
#include "cases.h"
#include "maps.h"
#include "move_reference.h"
#include "pairs.h"
#include "refusal.h"
#include "world.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { TEXT = 200, SIZES = MAPS_SIZES + 8 };

static const vscan_type flag_types[] = {VSCAN_INT, VSCAN_BYTE, VSCAN_BIT};

/* Those of all maps, and around tiles of a GPU. */
static size_t draw_sizes(int64_t sizes[SIZES], struct inputs_random *random) {
    static const int64_t more[] = {8191, 8192, 8193, 16384, 24577, 65536};
    size_t count = maps_sizes(sizes, random);
    for (size_t k = 0; k < sizeof more / sizeof more[0]; k++)
        if (!harness_small() || inputs_below(random, 4) == 0) sizes[count++] = more[k];
    if (!harness_small()) sizes[count++] = 100000 + inputs_below(random, 900000);
    return count;
}

/* Flags that the caller frees, 0 or 1, and the same as a vector of a type. */
struct flagged {
    uint8_t *set;
    vscan_type type;
    void *encoded;
};

static struct flagged draw_flags(int64_t n, struct inputs_random *random) {
    struct flagged f = {malloc((size_t)n + 1), flag_types[inputs_below(random, 3)], NULL};
    f.encoded = malloc(reference_bytes(f.type, n) + 8);
    assert_non_null(f.set);
    assert_non_null(f.encoded);
    inputs_flags_fill((enum inputs_flags)inputs_below(random, INPUTS_FLAGS_PATTERNS), 4096, n,
                      inputs_next(random), f.set);
    inputs_flags_encode(f.type, n, f.set, inputs_next(random), f.encoded);
    return f;
}

static void free_flags(struct flagged *f) {
    free(f->set);
    free(f->encoded);
}

/* ---- Distribute ------------------------------------------------------------------------------ */

static void run_distribute(vscan_type type, int64_t n, struct inputs_random *random) {
    vscan_ctx *ctx = harness_ctx();
    struct flagged f = draw_flags(n, random);
    void *in = maps_random(type, n, random);
    const bool last = inputs_below(random, 2), in_place = inputs_below(random, 2);
    int shift[3];
    maps_shifts(random, 3, shift);
    struct guarded from = guarded_make(ctx, type, n, shift[0], in);
    struct guarded flags = guarded_make(ctx, f.type, n, shift[1], f.encoded);
    struct guarded apart = guarded_make(ctx, type, n, shift[2], NULL);
    struct guarded *const to = in_place ? &from : &apart;
    copy_over_segments(type, n, f.set, last, in);
    char what[TEXT];
    snprintf(what, sizeof what, "%s of segments of %s by %s flags, n %" PRId64 "%s",
             last ? "last" : "first", reference_type_name(type), reference_type_name(f.type), n,
             in_place ? ", in place" : "");
    ok(ctx, vscan_distribute_segmented(ctx, last ? VSCAN_LAST : VSCAN_FIRST, from.view, flags.view,
                                       to->view));
    struct guarded *all[] = {&from, &flags, &apart, NULL};
    maps_judge(ctx, VSCAN_OK, to, in, all, what);
    free(in);
    free_flags(&f);
}

static void distribute(void **state) {
    (void)state;
    static const vscan_type types[] = {VSCAN_INT,  VSCAN_FLOAT, VSCAN_DOUBLE,
                                       VSCAN_BYTE, VSCAN_LONG,  VSCAN_UINT8};
    struct inputs_random random = {harness_seed() + 41};
    int64_t sizes[SIZES];
    for (int t = 0; t < 6; t++)
        for (int variant = harness_small() ? 2 : 0; variant < 3; variant++) {
            const size_t count = draw_sizes(sizes, &random);
            for (size_t s = 0; s < count; s++) run_distribute(types[t], sizes[s], &random);
        }
}

static void run_totals(vscan_op op, vscan_type type, int64_t n, struct inputs_random *random) {
    vscan_ctx *ctx = harness_ctx();
    struct flagged f = draw_flags(n, random);
    void *in = malloc(reference_bytes(type, n) + 8), *out = malloc(reference_bytes(type, n) + 8);
    assert_non_null(in);
    assert_non_null(out);
    inputs_fill(INPUTS_RANDOM, type, n, inputs_next(random), in);
    struct reference r = {.op = op, .type = type, .n = n, .in = in, .flags = f.set, .out = out};
    reference_scan(&r);
    copy_over_segments(type, n, f.set, true, out);
    const bool in_place = inputs_below(random, 2);
    struct guarded from = guarded_make(ctx, type, n, 1, in);
    struct guarded flags = guarded_make(ctx, f.type, n, 0, f.encoded);
    struct guarded apart = guarded_make(ctx, type, n, 0, NULL);
    struct guarded *const to = in_place ? &from : &apart;
    char what[TEXT];
    snprintf(what, sizeof what, "totals of %s of %s to all places, n %" PRId64 "%s",
             reference_op_name(op), reference_type_name(type), n, in_place ? ", in place" : "");
    ok(ctx, vscan_distribute_totals(ctx, op, from.view, flags.view, to->view));
    struct guarded *all[] = {&from, &flags, &apart, NULL};
    maps_judge(ctx, VSCAN_OK, to, out, all, what);
    free(in);
    free(out);
    free_flags(&f);
}

static vscan_op draw_op(vscan_type type, struct inputs_random *random) {
    struct pair p;
    do p = pair_at(inputs_below(random, vscan__pair_count));
    while (p.type != type);
    return p.op;
}

static void distribute_totals(void **state) {
    (void)state;
    struct inputs_random random = {harness_seed() + 42};
    int64_t sizes[SIZES];
    for (int t = 0; t < REFERENCE_TYPES; t++) {
        const size_t count = draw_sizes(sizes, &random);
        for (size_t s = 0; s < count; s++)
            run_totals(draw_op(reference_types[t], &random), reference_types[t], sizes[s], &random);
    }
}

/* From 16 MiB on a GPU finds totals without a scan. */
static void distribute_many_totals(void **state) {
    (void)state;
    struct inputs_random random = {harness_seed() + 45};
    for (int t = 0; t < REFERENCE_TYPES && !harness_small(); t++)
        for (int op = VSCAN_PLUS; op <= LAST_OP; op++)
            if (reference_has_pair(op, reference_types[t]))
                run_totals((vscan_op)op, reference_types[t],
                           (16 << 20) / (int64_t)reference_bytes(reference_types[t], 1) +
                               inputs_below(&random, 99999),
                           &random);
}

/* ---- Flags, offsets, lengths ----------------------------------------------------------------- */

static void put_number(vscan_type type, void *v, int64_t i, int64_t x) {
    if (type == VSCAN_LONG)
        ((int64_t *)v)[i] = x;
    else
        ((int32_t *)v)[i] = (int32_t)x;
}

static int64_t number(vscan_type type, const void *v, int64_t i) {
    return type == VSCAN_LONG ? ((const int64_t *)v)[i] : ((const int32_t *)v)[i];
}

/* heads: the first flag counts as set, and n follows; else the positions of set flags alone. */
static void run_flags_to_offsets(bool heads, vscan_type type, int64_t n,
                                 struct inputs_random *random) {
    vscan_ctx *ctx = harness_ctx();
    struct flagged f = draw_flags(n, random);
    int64_t found = 0, k = 0;
    for (int64_t i = 0; i < n; i++) found += (heads && i == 0) || f.set[i];
    const int64_t rooms[] = {found + heads, found + 4, heads + inputs_below(random, found + 1)};
    const int64_t room = rooms[inputs_below(random, 3)];
    int shift[2];
    maps_shifts(random, 2, shift);
    struct guarded flags = guarded_make(ctx, f.type, n, shift[0], f.encoded);
    struct guarded offsets = guarded_make(ctx, type, room, shift[1], NULL);
    struct guarded count = guarded_make(ctx, VSCAN_LONG, 1, 0, NULL);
    void *expected = maps_original(&offsets);
    for (int64_t i = 0; i < n + heads; i++)
        if ((heads && (i == 0 || i == n)) || f.set[i]) {
            if (k < room) put_number(type, expected, k, i);
            k++;
        }
    const bool on_device = inputs_below(random, 2);
    const vscan_count_options o = {.size = sizeof o, .count = on_device ? count.view : NULL};
    const vscan_status late = found + heads > room ? VSCAN_ERROR_OUT_LENGTH : VSCAN_OK;
    char what[TEXT];
    snprintf(what, sizeof what,
             "%s %s to %s %s, n %" PRId64 ", %" PRId64 " found, room for %" PRId64,
             reference_type_name(f.type), heads ? "heads" : "flags", reference_type_name(type),
             heads ? "offsets" : "positions", n, found, room);
    const vscan_status status = (heads ? vscan_heads_to_offsets : vscan_flags_to_positions)(
        ctx, flags.view, offsets.view, &o);
    if (status != VSCAN_OK) {
        print_error("%s: got %s\n", what, vscan_status_name(status));
        fail();
    }
    maps_late(ctx, late, what);
    maps_check(&offsets, expected, what);
    maps_check(&flags, guarded_original(&flags), what);
    maps_check(&count, on_device ? &found : guarded_original(&count), what);
    struct guarded *const all[] = {&flags, &offsets, &count};
    for (int j = 0; j < 3; j++) guarded_free(all[j]);
    free(expected);
    free_flags(&f);
}

static void flags_to_offsets(void **state) {
    (void)state;
    struct inputs_random random = {harness_seed() + 43};
    int64_t sizes[SIZES];
    for (int variant = harness_small() ? 4 : 0; variant < 8; variant++) {
        const size_t count = draw_sizes(sizes, &random);
        for (size_t s = 0; s < count; s++)
            run_flags_to_offsets(variant / 2 % 2, variant % 2 ? VSCAN_INT : VSCAN_LONG, sizes[s],
                                 &random);
    }
}

/* So many that a GPU's warps have all the rows that they can have, of bytes and of bits. */
static void many_flags_to_offsets(void **state) {
    (void)state;
    struct inputs_random random = {harness_seed() + 46};
    for (int variant = 0; variant < 8 && !harness_small(); variant++)
        run_flags_to_offsets(variant / 2 % 2, variant % 2 ? VSCAN_INT : VSCAN_LONG,
                             (variant < 4 ? 14000000 : 53000000) + inputs_below(&random, 99999),
                             &random);
}

/* k + 1 offsets of segments of 0 to 8 elements, or in some cases one in a hundred of up to 5000; some
   are wrong where there are faults. */
static void run_offsets(vscan_type type, int64_t k, struct inputs_random *random) {
    vscan_ctx *ctx = harness_ctx();
    const bool faults = inputs_below(random, 4) == 0;
    void *numbers = malloc(reference_bytes(type, k + 1) + 8);
    assert_non_null(numbers);
    const bool gaps = k < 20000 && inputs_below(random, 3) == 0;
    int64_t at = inputs_below(random, 3), before = 0;
    for (int64_t i = 0; i <= k; i++) {
        const bool wrong = faults && inputs_below(random, k + 1) < 2;
        put_number(type, numbers, i, wrong ? (inputs_below(random, 2) ? -1 : at + 100000) : at);
        if (i < k) at += inputs_below(random, 3) ? inputs_below(random, 9) : 0;
        if (i < k && gaps && inputs_below(random, 100) == 0) at += inputs_below(random, 5000);
    }
    const int64_t n = at; /* the last offset, if it is right */
    const vscan_type flag_type = flag_types[inputs_below(random, 3)];
    int shift[3];
    maps_shifts(random, 3, shift);
    char what[TEXT];
    snprintf(what, sizeof what, "%" PRId64 " %s offsets%s to %s flags, or lengths", k + 1,
             reference_type_name(type), faults ? ", some wrong," : "",
             reference_type_name(flag_type));

    struct guarded offsets = guarded_make(ctx, type, k + 1, shift[0], numbers);
    struct guarded flags = guarded_make(ctx, flag_type, n, shift[1], NULL);
    struct guarded lengths = guarded_make(ctx, type, k, shift[2], NULL);
    void *marked = maps_original(&flags), *between = maps_original(&lengths);
    bool outside = false, descends = k > 0 && number(type, numbers, 0) < 0;
    for (int64_t i = 0; i < n; i++) maps_put_flag(flag_type, marked, i, false);
    for (int64_t i = 0; i <= k; i++) {
        const int64_t o = number(type, numbers, i);
        const bool good = o >= 0 && o <= n && o >= before;
        if (good && o < n) maps_put_flag(flag_type, marked, o, true);
        outside |= !good;
        if (i > 0) put_number(type, between, i - 1, o - before);
        descends |= i > 0 && o < before;
        before = o;
    }
    ok(ctx, vscan_offsets_to_heads(ctx, offsets.view, flags.view));
    maps_late(ctx, outside ? VSCAN_ERROR_OFFSETS : VSCAN_OK, what);
    maps_check(&flags, marked, what);
    ok(ctx, vscan_offsets_to_lengths(ctx, offsets.view, lengths.view));
    maps_late(ctx, descends ? VSCAN_ERROR_OFFSETS : VSCAN_OK, what);
    maps_check(&lengths, between, what);
    maps_check(&offsets, guarded_original(&offsets), what);

    /* and back, beginning with 0 */
    const vscan_type sum_type = inputs_below(random, 2) ? VSCAN_LONG : type;
    struct guarded sums = guarded_make(ctx, sum_type, k + 1, shift[0], NULL);
    void *expected = maps_original(&sums);
    bool wrong = false;
    int64_t sum = 0;
    for (int64_t i = 0; i <= k; i++) {
        put_number(sum_type, expected, i, sum);
        wrong |= sum_type == VSCAN_INT && sum > INT32_MAX;
        if (i == k) break;
        wrong |= number(type, between, i) < 0;
        sum += number(type, between, i);
    }
    ok(ctx, vscan_lengths_to_offsets(ctx, lengths.view, sums.view));
    maps_late(ctx, wrong ? VSCAN_ERROR_OFFSETS : VSCAN_OK, what);
    maps_check(&sums, expected, what);
    maps_check(&lengths, between, what);
    struct guarded *const all[] = {&offsets, &flags, &lengths, &sums};
    for (int j = 0; j < 4; j++) guarded_free(all[j]);
    free(numbers);
    free(marked);
    free(between);
    free(expected);
}

static void offsets_to_others(void **state) {
    (void)state;
    struct inputs_random random = {harness_seed() + 44};
    int64_t sizes[SIZES];
    for (int variant = harness_small() ? 2 : 0; variant < 4; variant++) {
        const size_t count = draw_sizes(sizes, &random);
        for (size_t s = 0; s < count; s++)
            run_offsets(variant % 2 ? VSCAN_INT : VSCAN_LONG, sizes[s], &random);
    }
}

/* Sums beyond an int: found where offsets are int, right where they are long. */
/* Where there is nothing at all. */
static void none(void **state) {
    (void)state;
    vscan_ctx *ctx = harness_ctx();
    vscan_buffer *numbers, *flags, *set, *one, *ones;
    int32_t got[3] = {0};
    int64_t count = -1;
    ok(ctx, vscan_buffer_create(ctx, VSCAN_INT, 0, &numbers));
    ok(ctx, vscan_buffer_create(ctx, VSCAN_INT, 0, &flags));
    ok(ctx, vscan_buffer_create(ctx, VSCAN_INT, 3, &set));
    ok(ctx, vscan_buffer_create(ctx, VSCAN_INT, 1, &one));
    ok(ctx, vscan_buffer_create(ctx, VSCAN_LONG, 1, &ones));
    ok(ctx, vscan_buffer_fill(set, &(int32_t){7}));
    ok(ctx, vscan_buffer_fill(one, &(int32_t){7}));
    ok(ctx, vscan_distribute_segmented(ctx, VSCAN_FIRST, numbers, flags, numbers));
    ok(ctx, vscan_distribute_totals(ctx, VSCAN_PLUS, numbers, flags, numbers));
    const vscan_count_options counted = {.size = sizeof counted, .count = ones};
    ok(ctx, vscan_heads_to_offsets(ctx, flags, one, &counted));
    ok(ctx, vscan_buffer_get(ones, 0, &count));
    assert_int_equal(count, 0);
    ok(ctx, vscan_buffer_get(one, 0, got));
    assert_int_equal(got[0], 0);
    ok(ctx, vscan_offsets_to_heads(ctx, numbers, set)); /* no offset: no flag */
    ok(ctx, vscan_buffer_download(set, 0, 3, got));
    assert_true(got[0] == 0 && got[1] == 0 && got[2] == 0);
    ok(ctx, vscan_offsets_to_heads(ctx, one, flags));
    ok(ctx, vscan_offsets_to_heads(ctx, numbers, flags));
    ok(ctx, vscan_buffer_fill(one, &(int32_t){7}));
    ok(ctx, vscan_lengths_to_offsets(ctx, numbers, one));
    ok(ctx, vscan_lengths_to_offsets(ctx, numbers, ones));
    ok(ctx, vscan_buffer_get(one, 0, got));
    assert_int_equal(got[0], 0);
    vscan_buffer *const all[] = {numbers, flags, set, one, ones};
    for (int k = 0; k < 5; k++) ok(ctx, vscan_buffer_destroy(all[k]));
}

/* Lengths of which the first offset alone is below 0. */
static void first_offset_below_0(void **state) {
    (void)state;
    vscan_ctx *ctx = harness_ctx();
    for (int type = VSCAN_INT; type <= VSCAN_LONG; type += VSCAN_LONG - VSCAN_INT) {
        const int32_t ints[3] = {-2, 5, 9};
        const int64_t longs[3] = {-2, 5, 9};
        vscan_buffer *offsets, *lengths;
        ok(ctx, vscan_buffer_create(ctx, (vscan_type)type, 3, &offsets));
        ok(ctx, vscan_buffer_create(ctx, (vscan_type)type, 2, &lengths));
        ok(ctx, vscan_buffer_upload(offsets, 0, 3, type == VSCAN_INT ? (const void *)ints : longs));
        ok(ctx, vscan_offsets_to_lengths(ctx, offsets, lengths));
        refused(ctx, VSCAN_ERROR_OFFSETS, "element 0", vscan_ctx_synchronize(ctx));
        ok(ctx, vscan_buffer_destroy(offsets));
        ok(ctx, vscan_buffer_destroy(lengths));
    }
}

/* One offset gives no segment. Of no length it is not looked at; elsewhere it is checked. */
static void one_offset(void **state) {
    (void)state;
    vscan_ctx *ctx = harness_ctx();
    for (int k = 0; k < 4; k++) {
        const int64_t n = k / 2 ? 7 : 0, at = k % 2 ? n + 1 : -1;
        vscan_buffer *offset, *none, *in, *out, *heads;
        ok(ctx, vscan_buffer_create(ctx, VSCAN_LONG, 1, &offset));
        ok(ctx, vscan_buffer_set(offset, 0, &at));
        ok(ctx, vscan_buffer_create(ctx, VSCAN_LONG, 0, &none));
        ok(ctx, vscan_buffer_create(ctx, VSCAN_LONG, n, &in));
        ok(ctx, vscan_buffer_create(ctx, VSCAN_LONG, n, &out));
        ok(ctx, vscan_buffer_create(ctx, VSCAN_BYTE, n, &heads));
        ok(ctx, vscan_buffer_fill(in, &n));
        ok(ctx, vscan_offsets_to_lengths(ctx, offset, none));
        ok(ctx, vscan_ctx_synchronize(ctx));
        ok(ctx, vscan_offsets_to_heads(ctx, offset, heads));
        refused(ctx, VSCAN_ERROR_OFFSETS, "vscan_offsets_to_heads", vscan_ctx_synchronize(ctx));
        ok(ctx, vscan_reduce_by_offsets(ctx, VSCAN_PLUS, in, offset, none, NULL));
        refused(ctx, VSCAN_ERROR_OFFSETS, "vscan_reduce_by_offsets", vscan_ctx_synchronize(ctx));
        ok(ctx, vscan_sort_by_offsets(ctx, in, NULL, offset, out, NULL, NULL));
        refused(ctx, VSCAN_ERROR_OFFSETS, "vscan_sort_by_offsets", vscan_ctx_synchronize(ctx));
        vscan_buffer *const all[] = {offset, none, in, out, heads};
        for (int b = 0; b < 5; b++) ok(ctx, vscan_buffer_destroy(all[b]));
    }
}

/* Offsets and lengths for several threads; far from the first element two offsets descend. */
static void late_descent(void **state) {
    (void)state;
    enum { K = 400000, AT = 300001 };
    vscan_ctx *ctx = harness_ctx();
    int32_t *host = malloc((K + 1) * sizeof *host);
    vscan_buffer *offsets, *lengths, *sums;
    assert_non_null(host);
    ok(ctx, vscan_buffer_create(ctx, VSCAN_INT, K + 1, &offsets));
    ok(ctx, vscan_buffer_create(ctx, VSCAN_INT, K, &lengths));
    ok(ctx, vscan_buffer_create(ctx, VSCAN_INT, K + 1, &sums));
    for (int32_t i = 0; i <= K; i++) host[i] = 3 * i;
    for (int wrong = 0; wrong < 2; wrong++) {
        if (wrong) host[AT] = host[AT + 50] = 0;
        ok(ctx, vscan_buffer_upload(offsets, 0, K + 1, host));
        ok(ctx, vscan_offsets_to_lengths(ctx, offsets, lengths));
        if (!wrong)
            ok(ctx, vscan_ctx_synchronize(ctx));
        else if (harness_backend == VSCAN_BACKEND_CPU)
            refused(ctx, VSCAN_ERROR_OFFSETS, "element 300001", vscan_ctx_synchronize(ctx));
        else
            refuses(VSCAN_ERROR_OFFSETS, vscan_ctx_synchronize(ctx));
        if (wrong) continue;
        ok(ctx, vscan_lengths_to_offsets(ctx, lengths, sums));
        ok(ctx, vscan_buffer_download(sums, 0, K + 1, host));
        for (int32_t i = 0; i <= K; i++) assert_int_equal(host[i], 3 * i);
    }
    vscan_buffer *const all[] = {offsets, lengths, sums};
    for (int k = 0; k < 3; k++) ok(ctx, vscan_buffer_destroy(all[k]));
    free(host);
}

static void sums_beyond_int(void **state) {
    (void)state;
    vscan_ctx *ctx = harness_ctx();
    const int32_t values[3] = {INT32_MAX, 1, 5};
    int64_t sums[4];
    vscan_buffer *lengths, *narrow, *wide;
    ok(ctx, vscan_buffer_create(ctx, VSCAN_INT, 3, &lengths));
    ok(ctx, vscan_buffer_create(ctx, VSCAN_INT, 4, &narrow));
    ok(ctx, vscan_buffer_create(ctx, VSCAN_LONG, 4, &wide));
    ok(ctx, vscan_buffer_upload(lengths, 0, 3, values));
    ok(ctx, vscan_lengths_to_offsets(ctx, lengths, narrow));
    refused(ctx, VSCAN_ERROR_OFFSETS, "an offset", vscan_ctx_synchronize(ctx));
    ok(ctx, vscan_lengths_to_offsets(ctx, lengths, wide));
    ok(ctx, vscan_buffer_download(wide, 0, 4, sums));
    assert_true(sums[1] == INT32_MAX && sums[3] == (int64_t)INT32_MAX + 6);
    vscan_buffer *const all[] = {lengths, narrow, wide};
    for (int k = 0; k < 3; k++) ok(NULL, vscan_buffer_destroy(all[k]));
}

/* Lengths of long whose sum is beyond 63 bits, at drawn places among small ones: found wherever the sum
   passes, though it may be small again later, in the chunks of several threads too. */
static void sums_beyond_long(void **state) {
    (void)state;
    enum { N = 300000, CASES = 24 };
    vscan_ctx *ctx = harness_ctx();
    struct inputs_random random = {harness_seed() + 63};
    int64_t *values = malloc(N * sizeof *values), last;
    assert_non_null(values);
    for (int k = 0; k < CASES; k++) {
        const int64_t n = k % 2 ? N : 1 + inputs_below(&random, 50);
        const int huge = (int)inputs_below(&random, 5);
        for (int64_t i = 0; i < n; i++) values[i] = inputs_below(&random, 9);
        for (int h = 0; h < huge; h++) values[inputs_below(&random, n)] = INT64_MAX - h % 3;
        uint64_t sum = 0;
        int64_t at = -1;
        for (int64_t i = 0; i < n; i++) {
            sum += (uint64_t)values[i];
            if (at < 0 && sum > INT64_MAX) at = i;
        }
        vscan_buffer *lengths, *offsets;
        ok(ctx, vscan_buffer_create(ctx, VSCAN_LONG, n, &lengths));
        ok(ctx, vscan_buffer_create(ctx, VSCAN_LONG, n + 1, &offsets));
        ok(ctx, vscan_buffer_upload(lengths, 0, n, values));
        ok(ctx, vscan_lengths_to_offsets(ctx, lengths, offsets));
        refuses(at < 0 ? VSCAN_OK : VSCAN_ERROR_OFFSETS, vscan_ctx_synchronize(ctx));
        char place[40]; /* CUDA names an element near it */
        snprintf(place, sizeof place, "element %" PRId64, at);
        if (at >= 0 && harness_backend == VSCAN_BACKEND_CPU)
            assert_non_null(strstr(vscan_ctx_last_error(ctx), place));
        ok(ctx, vscan_buffer_get(offsets, n, &last));
        assert_true((uint64_t)last == sum);
        ok(ctx, vscan_buffer_destroy(lengths));
        ok(ctx, vscan_buffer_destroy(offsets));
    }
    free(values);
}

/* ---- Refusals -------------------------------------------------------------------------------- */

static vscan_status distribute_on(vscan_ctx *c) {
    return vscan_distribute_segmented(c, VSCAN_LAST, w.in, w.flags, w.out);
}
static vscan_status totals_on(vscan_ctx *c) {
    return vscan_distribute_totals(c, VSCAN_PLUS, w.in, w.flags, w.out);
}
static vscan_status to_offsets_on(vscan_ctx *c) {
    return vscan_heads_to_offsets(c, w.flags, w.out, NULL);
}
static vscan_status to_positions_on(vscan_ctx *c) {
    return vscan_flags_to_positions(c, w.flags, w.out, NULL);
}
static vscan_status to_flags_on(vscan_ctx *c) {
    return vscan_offsets_to_heads(c, w.in, w.out);
}
static vscan_status to_lengths_on(vscan_ctx *c) {
    return vscan_offsets_to_lengths(c, w.in, w.shorter);
}
static vscan_status lengths_on(vscan_ctx *c) {
    return vscan_lengths_to_offsets(c, w.shorter, w.out);
}

static void refused_handles(void **state) {
    (void)state;
    vscan_status (*const calls[])(vscan_ctx *) = {distribute_on,   totals_on,   to_offsets_on,
                                                  to_positions_on, to_flags_on, to_lengths_on,
                                                  lengths_on};
    for (int k = 0; k < 7; k++) world_check_contexts(calls[k]);
    vscan_ctx *c = w.ctx;
    const vscan_op op = VSCAN_PLUS;
    for (int i = 0; i < WRONG_HANDLES; i++) {
        const struct wrong_handle h = wrong_handle(i);
        vscan_buffer *const b = h.handle;
        refused_untouched(h.status, "in ",
                          vscan_distribute_segmented(c, VSCAN_LAST, b, w.flags, w.out));
        refused_untouched(h.status, "heads ",
                          vscan_distribute_segmented(c, VSCAN_LAST, w.in, b, w.out));
        refused_untouched(h.status, "out ",
                          vscan_distribute_segmented(c, VSCAN_LAST, w.in, w.flags, b));
        refused_untouched(h.status, "in ", vscan_distribute_totals(c, op, b, w.flags, w.out));
        refused_untouched(h.status, "heads ", vscan_distribute_totals(c, op, w.in, b, w.out));
        refused_untouched(h.status, "out ", vscan_distribute_totals(c, op, w.in, w.flags, b));
        refused_untouched(h.status, "heads ", vscan_heads_to_offsets(c, b, w.out, NULL));
        refused_untouched(h.status, "offsets ", vscan_heads_to_offsets(c, w.flags, b, NULL));
        refused_untouched(h.status, "flags ", vscan_flags_to_positions(c, b, w.out, NULL));
        refused_untouched(h.status, "positions ", vscan_flags_to_positions(c, w.flags, b, NULL));
        refused_untouched(h.status, "offsets ", vscan_offsets_to_heads(c, b, w.out));
        refused_untouched(h.status, "heads ", vscan_offsets_to_heads(c, w.in, b));
        refused_untouched(h.status, "offsets ", vscan_offsets_to_lengths(c, b, w.shorter));
        refused_untouched(h.status, "lengths ", vscan_offsets_to_lengths(c, w.in, b));
        refused_untouched(h.status, "lengths ", vscan_lengths_to_offsets(c, b, w.out));
        refused_untouched(h.status, "offsets ", vscan_lengths_to_offsets(c, w.shorter, b));
        if (b == NULL) continue; /* none */
        const vscan_count_options o = {.size = sizeof o, .count = b};
        refused_untouched(h.status, "count ", vscan_heads_to_offsets(c, w.flags, w.out, &o));
        refused_untouched(h.status, "count ", vscan_flags_to_positions(c, w.flags, w.out, &o));
    }
}

static void refused_vectors(void **state) {
    (void)state;
    vscan_ctx *c = w.ctx;
    const vscan_op op = VSCAN_PLUS;
    const vscan_end last = VSCAN_LAST;
    const vscan_status type = VSCAN_ERROR_TYPE, length = VSCAN_ERROR_LENGTH,
                       overlap = VSCAN_ERROR_OVERLAP;
    refused_untouched(VSCAN_ERROR_ENUM, "which ",
                      vscan_distribute_segmented(c, (vscan_end)2, w.in, w.flags, w.out));
    refused_untouched(type, "in ",
                      vscan_distribute_segmented(c, last, w.of_bit, w.flags, w.of_bit));
    refused_untouched(type, "out ", vscan_distribute_segmented(c, last, w.in, w.flags, w.of_float));
    refused_untouched(type, "heads ", vscan_distribute_segmented(c, last, w.in, w.of_long, w.out));
    refused_untouched(length, "heads ",
                      vscan_distribute_segmented(c, last, w.in, w.shorter, w.out));
    refused_untouched(length, "out ",
                      vscan_distribute_segmented(c, last, w.in, w.flags, w.shorter));
    refused_untouched(overlap, "out ",
                      vscan_distribute_segmented(c, last, w.in, w.flags, w.shifted));
    refused_untouched(overlap, "heads ", vscan_distribute_segmented(c, last, w.in, w.out, w.out));
    refused_untouched(VSCAN_ERROR_PAIR, "in ",
                      vscan_distribute_totals(c, op, w.of_uint8, w.flags, w.of_uint8));
    refused_untouched(VSCAN_ERROR_ENUM, "op ",
                      vscan_distribute_totals(c, (vscan_op)9, w.in, w.flags, w.out));
    refused_untouched(overlap, "heads ", vscan_distribute_totals(c, op, w.in, w.out, w.out));

    refused_untouched(type, "heads ", vscan_heads_to_offsets(c, w.of_long, w.out, NULL));
    refused_untouched(type, "offsets ", vscan_heads_to_offsets(c, w.in, w.of_float, NULL));
    refused_untouched(length, "offsets ",
                      vscan_heads_to_offsets(c, w.in, world_make(VSCAN_INT, 0), NULL));
    refused_untouched(overlap, "offsets ", vscan_heads_to_offsets(c, w.in, w.in, NULL));
    const vscan_count_options o = {.size = 7};
    refused_untouched(VSCAN_ERROR_STRUCT_SIZE, "size", vscan_heads_to_offsets(c, w.in, w.out, &o));
    refused_untouched(type, "flags ", vscan_flags_to_positions(c, w.of_long, w.out, NULL));
    refused_untouched(type, "positions ", vscan_flags_to_positions(c, w.in, w.of_float, NULL));
    refused_untouched(overlap, "positions ", vscan_flags_to_positions(c, w.in, w.shifted, NULL));
    refused_untouched(overlap, "positions ", vscan_flags_to_positions(c, w.in, w.in, NULL));
    refused_untouched(VSCAN_ERROR_STRUCT_SIZE, "size",
                      vscan_flags_to_positions(c, w.in, w.out, &o));
    const vscan_count_options into_flags = {.size = sizeof o, .count = w.two_long};
    refused_untouched(length, "count ", vscan_flags_to_positions(c, w.in, w.out, &into_flags));
    const vscan_count_options of_ints = {.size = sizeof o, .count = w.one_int};
    refused_untouched(type, "count ", vscan_flags_to_positions(c, w.in, w.out, &of_ints));
    vscan_count_options among = {.size = sizeof o};
    ok(c, vscan_buffer_view(w.of_long, N - 1, 1, &among.count));
    refused_untouched(overlap, "count ", vscan_flags_to_positions(c, w.in, w.of_long, &among));
    ok(NULL, vscan_buffer_destroy(among.count));
    refused_untouched(type, "offsets ", vscan_offsets_to_heads(c, w.of_byte, w.out));
    refused_untouched(type, "heads ", vscan_offsets_to_heads(c, w.in, w.of_double));
    refused_untouched(overlap, "heads ", vscan_offsets_to_heads(c, w.in, w.shifted));
    refused_untouched(type, "offsets ", vscan_offsets_to_lengths(c, w.of_float, w.shorter));
    refused_untouched(type, "lengths ", vscan_offsets_to_lengths(c, w.of_long, w.shorter));
    refused_untouched(length, "lengths ", vscan_offsets_to_lengths(c, w.in, w.out));
    refused_untouched(type, "lengths ", vscan_lengths_to_offsets(c, w.of_byte, w.in));
    refused_untouched(type, "offsets ", vscan_lengths_to_offsets(c, w.shorter, w.of_double));
    refused_untouched(length, "lengths ", vscan_lengths_to_offsets(c, w.in, w.out));
    vscan_buffer *longs;
    ok(c, vscan_buffer_view(w.of_long, 0, N - 1, &longs));
    refused_untouched(type, "offsets ", vscan_lengths_to_offsets(c, longs, w.out));
    ok(NULL, vscan_buffer_destroy(longs));
    vscan_buffer *const none = world_make(VSCAN_INT, 0);
    ok(c, vscan_offsets_to_heads(c, none, none)); /* nothing to do */
}

/* More flags than int positions can tell. They are never read, so their memory need not be there. */
static void refused_many_flags(void **state) {
    (void)state;
    if (harness_backend != VSCAN_BACKEND_CPU) skip();
    const int64_t n = INT64_C(1) << 31;
    void *const memory = mmap(NULL, (size_t)n / 8, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(memory != MAP_FAILED);
    vscan_buffer *flags, *ints;
    ok(w.ctx, vscan_buffer_wrap(w.ctx, VSCAN_BIT, memory, n, &flags));
    ok(w.ctx, vscan_buffer_wrap(w.ctx, VSCAN_INT, memory, n, &ints));
    refused_untouched(VSCAN_ERROR_LENGTH, "heads ",
                      vscan_heads_to_offsets(w.ctx, flags, w.out, NULL));
    refused_untouched(VSCAN_ERROR_LENGTH, "flags ",
                      vscan_flags_to_positions(w.ctx, flags, w.out, NULL));
    refused_untouched(VSCAN_ERROR_LENGTH, "out ", vscan_enumerate(w.ctx, flags, ints, NULL));
    ok(NULL, vscan_buffer_destroy(flags));
    ok(NULL, vscan_buffer_destroy(ints));
    munmap(memory, (size_t)n / 8);
}

/* One head, at the beginning of each sixteenth: threads find it for those that begin behind it, or end before it. */
static void distribute_one_head(void **state) {
    (void)state;
    enum { PARTS = 16, N = 1 << 19 };
    vscan_ctx *ctx = harness_ctx();
    vscan_buffer *in, *heads, *out;
    static int32_t got[N];
    static uint8_t flags[N];
    ok(ctx, vscan_buffer_create(ctx, VSCAN_INT, N, &in));
    ok(ctx, vscan_buffer_create(ctx, VSCAN_BYTE, N, &heads));
    ok(ctx, vscan_buffer_create(ctx, VSCAN_INT, N, &out));
    ok(ctx, vscan_index(ctx, 0, 1, in));
    for (int part = 0; part < PARTS; part++) {
        const int head = part * (N / PARTS) + 5;
        flags[head] = 1;
        ok(ctx, vscan_buffer_upload(heads, 0, N, flags));
        flags[head] = 0;
        for (int last = 0; last < 2; last++) {
            ok(ctx,
               vscan_distribute_segmented(ctx, last ? VSCAN_LAST : VSCAN_FIRST, in, heads, out));
            ok(ctx, vscan_buffer_download(out, 0, N, got));
            for (int i = 0; i < N; i++) {
                const int before = last ? head - 1 : 0, behind = last ? N - 1 : head;
                if (got[i] != (i < head ? before : behind))
                    fail_msg("head at %d, last %d: %d at %d", head, last, got[i], i);
            }
        }
    }
    ok(NULL, vscan_buffer_destroy(in));
    ok(NULL, vscan_buffer_destroy(heads));
    ok(NULL, vscan_buffer_destroy(out));
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distribute),           cmocka_unit_test(distribute_one_head),
        cmocka_unit_test(distribute_totals),    cmocka_unit_test(distribute_many_totals),
        cmocka_unit_test(flags_to_offsets),     cmocka_unit_test(many_flags_to_offsets),
        cmocka_unit_test(offsets_to_others),    cmocka_unit_test(none),
        cmocka_unit_test(first_offset_below_0), cmocka_unit_test(one_offset),
        cmocka_unit_test(late_descent),         cmocka_unit_test(sums_beyond_int),
        cmocka_unit_test(sums_beyond_long),     world_unit_test(refused_handles),
        world_unit_test(refused_vectors),       world_unit_test(refused_many_flags)};
    return harness_run(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
