/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Carries: a vector that is scanned and reduced in pieces of random lengths has the bits of one
 * reference, also where the carry is copied, saved and restored, or goes to the other backend on the way.
 * And what is refused.
 */
#include "harness.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "core/order.h"
#include "pairs.h"
#include "refusal.h"

static void *allocate(vscan_type type, int64_t n) {
    void *memory = malloc(reference_bytes(type, n) + 8);
    assert_non_null(memory);
    return memory;
}

static char *at(vscan_type type, const void *v, int64_t i) {
    return (char *)(uintptr_t)v + reference_bytes(type, 1) * (size_t)i;
}

/* ---- Pieces ---------------------------------------------------------------------------------- */

struct pieces {
    vscan_op op;
    vscan_type type;
    int64_t n, longest; /* longest: of a piece */
    bool exclusive, backward, segmented, initial, mixed;
};

/* What is done to the carry between two pieces; the result is the carry to go on with. */
static vscan_carry *between(const struct pieces *p, vscan_ctx *ctx, vscan_carry *carry,
                            struct inputs_random *random) {
    if (!p->mixed || inputs_below(random, 4) > 0) return carry;
    unsigned char block[VSCAN_CARRY_BYTES];
    vscan_carry *other;
    ok(ctx, vscan_carry_create(ctx, p->op, p->type, p->backward ? VSCAN_BACKWARD : VSCAN_FORWARD,
                               &other));
    if (inputs_below(random, 2) == 0) {
        ok(ctx, vscan_carry_copy(carry, other));
    } else { /* through the CPU backend, with a piece of length 0 there */
        ok(ctx, vscan_carry_save(carry, block, sizeof block));
        const vscan_ctx_options options = {.size = sizeof options, .backend = VSCAN_BACKEND_CPU};
        vscan_ctx *cpu;
        vscan_carry *there;
        ok(NULL, vscan_ctx_create(&options, &cpu));
        ok(cpu, vscan_carry_create(cpu, p->op, p->type,
                                   p->backward ? VSCAN_BACKWARD : VSCAN_FORWARD, &there));
        ok(cpu, vscan_carry_restore(there, block, sizeof block));
        ok(cpu, vscan_carry_save(there, block, sizeof block));
        ok(ctx, vscan_carry_restore(other, block, sizeof block));
        ok(cpu, vscan_carry_destroy(there));
        ok(cpu, vscan_ctx_destroy(cpu));
    }
    ok(ctx, vscan_carry_destroy(carry));
    return other;
}

static int64_t length_of_piece(const struct pieces *p, int64_t done, struct inputs_random *random) {
    int64_t n = inputs_below(random, p->longest + 1);
    if (inputs_below(random, 4) == 0) n = inputs_below(random, 3);
    if (inputs_below(random, 8) == 0) /* up to the end of a block */
        n = VSCAN__LEVEL_1 - done % VSCAN__LEVEL_1;
    if (inputs_below(random, 8) == 0) /* of a tile, or one more */
        n = (1 + inputs_below(random, 2)) * reference_tile(p->type) -
            done % reference_tile(p->type);
    return n < p->n - done ? n : p->n - done;
}

/* The flags of a piece, of any type. */
static vscan_buffer *flags_of_piece(const uint8_t *flags, int64_t n, struct inputs_random *random) {
    static const vscan_type types[] = {VSCAN_INT, VSCAN_BYTE, VSCAN_BIT};
    const vscan_type type = types[inputs_below(random, 3)];
    void *const encoded = allocate(type, n);
    vscan_buffer *buffer;
    inputs_flags_encode(type, n, flags, inputs_next(random), encoded);
    ok(harness_ctx(), vscan_buffer_create(harness_ctx(), type, n, &buffer));
    ok(harness_ctx(), vscan_buffer_upload(buffer, 0, n, encoded));
    free(encoded);
    return buffer;
}

static void in_pieces(const struct pieces *p) {
    vscan_ctx *ctx = harness_ctx();
    struct inputs_random random = {case_seed(p->op, p->type, 50) + (uint64_t)p->n * 16 +
                                   p->exclusive + 2 * p->backward + 4 * p->segmented};
    const vscan_type type = p->type;
    void *in = allocate(type, p->n), *expected = allocate(type, p->n), *got = allocate(type, p->n);
    uint8_t *flags = malloc((size_t)p->n + 1);
    assert_non_null(flags);
    inputs_fill(INPUTS_RANDOM, type, p->n, inputs_next(&random), in);
    inputs_flags_fill((enum inputs_flags)inputs_below(&random, INPUTS_FLAGS_PATTERNS),
                      reference_tile(type), p->n, inputs_next(&random), flags);
    uint64_t z, total = 0, piece_total = 0;
    inputs_fill(INPUTS_RANDOM, type, 1, inputs_next(&random), &z);
    struct reference r = {.op = p->op,
                          .type = type,
                          .n = p->n,
                          .in = in,
                          .flags = p->segmented ? flags : NULL,
                          .initial = p->initial ? &z : NULL,
                          .exclusive = p->exclusive,
                          .backward = p->backward,
                          .out = expected,
                          .total = &total};
    reference_scan(&r);
    memcpy(got, expected, reference_bytes(type, p->n)); /* for what is only reduced */

    vscan_buffer *v;
    vscan_carry *carry;
    ok(ctx, vscan_buffer_create(ctx, type, p->n, &v));
    ok(ctx, vscan_buffer_upload(v, 0, p->n, in));
    ok(ctx,
       vscan_carry_create(ctx, p->op, type, p->backward ? VSCAN_BACKWARD : VSCAN_FORWARD, &carry));
    if (p->initial) ok(ctx, vscan_carry_reset(carry, &z));
    for (int64_t done = 0; done < p->n;) {
        const int64_t here = length_of_piece(p, done, &random);
        const int64_t first = p->backward ? p->n - done - here : done;
        vscan_buffer *piece, *piece_flags = NULL;
        ok(ctx, vscan_buffer_view(v, first, here, &piece));
        if (p->segmented) {
            piece_flags = flags_of_piece(flags + first, here, &random);
            const vscan_scan_segmented_options options = {
                .size = sizeof options,
                .kind = p->exclusive ? VSCAN_EXCLUSIVE : VSCAN_INCLUSIVE,
                .direction = p->backward ? VSCAN_BACKWARD : VSCAN_FORWARD,
                .carry = carry};
            ok(ctx, vscan_scan_segmented(ctx, p->op, piece, piece_flags, piece, &options));
        } else if (p->mixed && inputs_below(&random, 4) == 0) {
            const vscan_reduce_options options = {.size = sizeof options,
                                                  .direction =
                                                      p->backward ? VSCAN_BACKWARD : VSCAN_FORWARD,
                                                  .carry = carry};
            ok(ctx, vscan_reduce(ctx, p->op, piece, NULL, &options));
            ok(ctx, vscan_buffer_upload(piece, 0, here, at(type, expected, first)));
        } else {
            const vscan_scan_options options = {
                .size = sizeof options,
                .kind = p->exclusive ? VSCAN_EXCLUSIVE : VSCAN_INCLUSIVE,
                .direction = p->backward ? VSCAN_BACKWARD : VSCAN_FORWARD,
                .total = p->mixed ? harness_one(ctx, type) : NULL,
                .carry = carry};
            ok(ctx, vscan_scan(ctx, p->op, piece, piece, &options));
            if (p->mixed) harness_take(ctx, options.total, &piece_total);
        }
        ok(ctx, vscan_buffer_destroy(piece));
        ok(ctx, vscan_buffer_destroy(piece_flags));
        done += here;
        if (done < p->n) carry = between(p, ctx, carry, &random);
    }
    ok(ctx, vscan_buffer_download(v, 0, p->n, got));
    const int64_t i = reference_difference(type, p->n, expected, got);
    char a[REFERENCE_TEXT], b[REFERENCE_TEXT];
    if (i >= 0) {
        print_error("%s in pieces: %s_%s, n %" PRId64 ", longest %" PRId64
                    ", %s %s%s%s, seed %" PRIu64 ", index %" PRId64 ": expected %s, got %s\n",
                    harness_backend_name(), reference_op_name(p->op), reference_type_name(type),
                    p->n, p->longest, p->exclusive ? "exclusive" : "inclusive",
                    p->backward ? "backward" : "forward", p->segmented ? " segmented" : "",
                    p->initial ? " initial" : "", harness_seed(), i,
                    reference_text(type, expected, i, a), reference_text(type, got, i, b));
        fail();
    }
    if (!p->segmented) { /* the carry has the total: a piece of no elements tells it */
        vscan_buffer *none;
        ok(ctx, vscan_buffer_create(ctx, type, 0, &none));
        const vscan_reduce_options options = {.size = sizeof options,
                                              .direction =
                                                  p->backward ? VSCAN_BACKWARD : VSCAN_FORWARD,
                                              .carry = carry};
        vscan_buffer *one = harness_one(ctx, type);
        ok(ctx, vscan_reduce(ctx, p->op, none, one, &options));
        harness_take(ctx, one, &piece_total);
        assert_int_equal(reference_difference(type, 1, &total, &piece_total), -1);
        ok(ctx, vscan_buffer_destroy(none));
    }
    ok(ctx, vscan_carry_destroy(carry));
    ok(ctx, vscan_buffer_destroy(v));
    free(in);
    free(expected);
    free(got);
    free(flags);
}

static void carry_pieces(void **state) {
    (void)state;
    static const int64_t sizes[][2] = {{100, 7},      {1000, 40},       {5000, 700},
                                       {40000, 9000}, {100000, 100000}, {1000000, 200000}};
    int k = 0;
    for (int op = VSCAN_PLUS; op <= LAST_OP; op++)
        for (int t = 0; t < REFERENCE_TYPES; t++)
            for (int i = 0; i < (harness_small() ? 3 : 6); i++)
                for (int mode = 0; mode < 8; mode++) {
                    const vscan_type type = reference_types[t];
                    if (!reference_has_pair(op, type)) continue;
                    if (op != VSCAN_PLUS && mode != (op + (int)type + i) % 8) continue;
                    const struct pieces p = {.op = (vscan_op)op,
                                             .type = type,
                                             .n = sizes[i][0],
                                             .longest = sizes[i][1],
                                             .exclusive = mode & 1,
                                             .backward = mode >> 1 & 1,
                                             .segmented = mode >> 2 & 1,
                                             .initial = k % 3 == 0,
                                             .mixed = k % 2};
                    in_pieces(&p);
                    k++;
                }
}

/* By pieces for each shape of the kernels, from the shortest to the longest; across the end of a block of
   level 3, too. */
static void carry_long(void **state) {
    (void)state;
    static const int64_t longest[] = {300000, 1200000, 5000000};
    if (harness_small()) skip();
    for (int type = VSCAN_FLOAT; type <= VSCAN_DOUBLE; type++)
        for (int i = 0; i < 3; i++)
            for (int mode = 0; mode < 4; mode++) {
                if (i == 2 && (mode & 1) != (mode >> 1)) continue;
                const bool end = (mode & 1) != (type == VSCAN_FLOAT);
                const struct pieces p = {.op = VSCAN_PLUS,
                                         .type = (vscan_type)type,
                                         .n = i == 2 || end ? VSCAN__LEVEL_3 + 100000
                                                            : 7 * longest[i],
                                         .longest = longest[i],
                                         .exclusive = mode & 1,
                                         .backward = mode >> 1,
                                         .initial = true,
                                         .mixed = i == 2};
                in_pieces(&p);
            }
}

/* A carry goes on where it is, and begins anew after a reset. */
static void carry_reset(void **state) {
    (void)state;
    vscan_ctx *ctx = harness_ctx();
    vscan_carry *carry;
    vscan_buffer *v;
    const float ones[3] = {1, 1, 1}, five = 5;
    float total = 0;
    ok(ctx, vscan_carry_create(ctx, VSCAN_PLUS, VSCAN_FLOAT, VSCAN_FORWARD, &carry));
    ok(ctx, vscan_buffer_create(ctx, VSCAN_FLOAT, 3, &v));
    ok(ctx, vscan_buffer_upload(v, 0, 3, ones));
    const vscan_reduce_options options = {.size = sizeof options, .carry = carry};
    static const float expected[] = {3, 6, 8, 11, 3};
    for (int k = 0; k < 5; k++) {
        if (k == 2) ok(ctx, vscan_carry_reset(carry, &five));
        if (k == 4) ok(ctx, vscan_carry_reset(carry, NULL));
        vscan_buffer *one = harness_one(ctx, VSCAN_FLOAT);
        ok(ctx, vscan_reduce(ctx, VSCAN_PLUS, v, one, &options));
        harness_take(ctx, one, &total);
        assert_true(total == expected[k]);
    }
    ok(ctx, vscan_carry_destroy(carry));
    ok(ctx, vscan_buffer_destroy(v));
}

/* What a carry begins with changes nothing, though all elements be next to it. */
static void carry_begins(void **state) {
    (void)state;
    vscan_ctx *ctx = harness_ctx();
    for (int k = 0; k < 4; k++) {
        const vscan_type type = k / 2 ? VSCAN_LONG : VSCAN_INT;
        const vscan_op op = k % 2 ? VSCAN_MIN : VSCAN_MAX;
        int64_t element = 0, total = 0;
        vscan_carry *carry;
        vscan_buffer *v, *one;
        reference_identity(op, type, &element);
        element ^= 1;
        ok(ctx, vscan_carry_create(ctx, op, type, VSCAN_FORWARD, &carry));
        ok(ctx, vscan_buffer_create(ctx, type, 1000, &v));
        ok(ctx, vscan_buffer_create(ctx, type, 1, &one));
        ok(ctx, vscan_buffer_fill(v, &element));
        const vscan_reduce_options options = {.size = sizeof options, .carry = carry};
        for (int piece = 0; piece < 2; piece++) {
            ok(ctx, vscan_reduce(ctx, op, v, one, &options));
            ok(ctx, vscan_buffer_get(one, 0, &total));
            assert_memory_equal(&total, &element, sizeof total);
        }
        ok(ctx, vscan_carry_destroy(carry));
        ok(ctx, vscan_buffer_destroy(v));
        ok(ctx, vscan_buffer_destroy(one));
    }
}

/* A carry that has seen no element, of pairs with an order and without, with an initial value or none. */
static void carry_saved_at_first(void **state) {
    (void)state;
    vscan_ctx *ctx = harness_ctx();
    static const vscan_type types[] = {VSCAN_INT, VSCAN_FLOAT, VSCAN_LONG};
    for (int k = 0; k < 6; k++) {
        const vscan_type type = types[k / 2];
        const int64_t initial = k % 2 ? 7 : 0,
                      each = 1; /* little-endian: an int and a long alike */
        unsigned char before[VSCAN_CARRY_BYTES], after[VSCAN_CARRY_BYTES];
        vscan_carry *carry;
        vscan_buffer *v, *one;
        int64_t total = 0;
        ok(ctx, vscan_carry_create(ctx, VSCAN_PLUS, type, VSCAN_FORWARD, &carry));
        if (initial != 0) ok(ctx, vscan_carry_reset(carry, &initial));
        ok(ctx, vscan_carry_save(carry, before, sizeof before));
        ok(ctx, vscan_buffer_create(ctx, type, 40, &v));
        ok(ctx, vscan_buffer_fill(v, &each));
        ok(ctx, vscan_buffer_create(ctx, type, 1, &one));
        const vscan_reduce_options options = {.size = sizeof options, .carry = carry};
        ok(ctx, vscan_reduce(ctx, VSCAN_PLUS, v, one, &options));
        ok(ctx, vscan_buffer_get(one, 0, &total));
        assert_int_equal(total, 40 + initial); /* as a float too: multiples of the least one */
        ok(ctx, vscan_carry_restore(carry, before, sizeof before));
        ok(ctx, vscan_carry_save(carry, after, sizeof after));
        assert_memory_equal(before, after, sizeof before);
        ok(ctx, vscan_reduce(ctx, VSCAN_PLUS, v, one, &options));
        ok(ctx, vscan_buffer_get(one, 0, &total));
        assert_int_equal(total, 40 + initial);
        ok(ctx, vscan_carry_destroy(carry));
        ok(ctx, vscan_buffer_destroy(v));
        ok(ctx, vscan_buffer_destroy(one));
    }
}

/* Backward pieces of segments: the totals and their number are those of the piece. A late error is
   reported where a carry is saved, which is complete all the same. */
static void carry_totals(void **state) {
    (void)state;
    vscan_ctx *ctx = harness_ctx();
    vscan_carry *carry;
    vscan_buffer *v, *flags, *totals, *positions;
    const int32_t values[6] = {1, 2, 3, 4, 5, 6}, outside[6] = {0, 1, 2, 3, 4, 6};
    const uint8_t set[6] = {1, 0, 0, 1, 0, 0};
    unsigned char before[VSCAN_CARRY_BYTES], after[VSCAN_CARRY_BYTES];
    int32_t sums[6] = {0};
    int64_t count = 0;
    ok(ctx, vscan_carry_create(ctx, VSCAN_PLUS, VSCAN_INT, VSCAN_BACKWARD, &carry));
    ok(ctx, vscan_buffer_create(ctx, VSCAN_INT, 6, &v));
    ok(ctx, vscan_buffer_create(ctx, VSCAN_INT, 6, &positions));
    ok(ctx, vscan_buffer_create(ctx, VSCAN_BYTE, 6, &flags));
    ok(ctx, vscan_buffer_create(ctx, VSCAN_INT, 6, &totals));
    ok(ctx, vscan_buffer_upload(v, 0, 6, values));
    ok(ctx, vscan_buffer_upload(positions, 0, 6, outside));
    ok(ctx, vscan_buffer_upload(flags, 0, 6, set));
    const vscan_scan_segmented_options options = {.size = sizeof options,
                                                  .direction = VSCAN_BACKWARD,
                                                  .totals = totals,
                                                  .count = harness_one(ctx, VSCAN_LONG),
                                                  .carry = carry};
    ok(ctx, vscan_scan_segmented(ctx, VSCAN_PLUS, v, flags, v, &options));
    ok(ctx, vscan_buffer_download(totals, 0, 2, sums));
    harness_take(ctx, options.count, &count);
    assert_int_equal(count, 2);
    assert_int_equal(sums[0], 1 + 2 + 3);
    assert_int_equal(sums[1], 4 + 5 + 6);
    vscan_scan_segmented_options counted = options;
    counted.totals = NULL;
    counted.count = harness_one(ctx, VSCAN_LONG);
    ok(ctx, vscan_scan_segmented(ctx, VSCAN_PLUS, v, flags, totals, &counted));
    harness_take(ctx, counted.count, &count);
    assert_int_equal(count, 2); /* without the totals too */

    ok(ctx, vscan_carry_save(carry, before, sizeof before));
    ok(ctx, vscan_gather(ctx, v, positions, totals));
    refuses(VSCAN_ERROR_POSITION, vscan_carry_save(carry, after, sizeof after));
    assert_memory_equal(before, after, sizeof before);
    ok(ctx, vscan_carry_destroy(carry));
    ok(ctx, vscan_buffer_destroy(v));
    ok(ctx, vscan_buffer_destroy(flags));
    ok(ctx, vscan_buffer_destroy(totals));
    ok(ctx, vscan_buffer_destroy(positions));
}

/* ---- What is refused ------------------------------------------------------------------------- */

static void carry_refused(void **state) {
    (void)state;
    vscan_ctx *ctx = harness_ctx(), *other_ctx = harness_new_ctx(0);
    vscan_carry *carry, *ints, *back, *max, *foreign, *none = NULL;
    vscan_buffer *v;
    float three[3] = {1, 2, 3}, unchanged[3], one = 1;
    refused(ctx, VSCAN_ERROR_NULL, "carry",
            vscan_carry_create(ctx, VSCAN_PLUS, VSCAN_FLOAT, VSCAN_FORWARD, NULL));
    refused(NULL, VSCAN_ERROR_NULL, "ctx",
            vscan_carry_create(NULL, VSCAN_PLUS, VSCAN_FLOAT, VSCAN_FORWARD, &none));
    refused(ctx, VSCAN_ERROR_ENUM, "op",
            vscan_carry_create(ctx, (vscan_op)0, VSCAN_FLOAT, VSCAN_FORWARD, &none));
    refused(ctx, VSCAN_ERROR_ENUM, "op",
            vscan_carry_create(ctx, (vscan_op)6, VSCAN_FLOAT, VSCAN_FORWARD, &none));
    refused(ctx, VSCAN_ERROR_ENUM, "type",
            vscan_carry_create(ctx, VSCAN_PLUS, (vscan_type)7, VSCAN_FORWARD, &none));
    static const vscan_type pairless[] = {VSCAN_BYTE, VSCAN_BIT, VSCAN_UINT8};
    for (int k = 0; k < 3; k++)
        refused(ctx, VSCAN_ERROR_PAIR, "type",
                vscan_carry_create(ctx, VSCAN_PLUS, pairless[k], VSCAN_FORWARD, &none));
    refused(ctx, VSCAN_ERROR_ENUM, "direction",
            vscan_carry_create(ctx, VSCAN_PLUS, VSCAN_FLOAT, 2, &none));
    assert_null(none);
    ok(ctx, vscan_carry_create(ctx, VSCAN_PLUS, VSCAN_FLOAT, VSCAN_FORWARD, &carry));
    ok(ctx, vscan_carry_create(ctx, VSCAN_PLUS, VSCAN_INT, VSCAN_FORWARD, &ints));
    ok(ctx, vscan_carry_create(ctx, VSCAN_PLUS, VSCAN_FLOAT, VSCAN_BACKWARD, &back));
    ok(ctx, vscan_carry_create(ctx, VSCAN_MAX, VSCAN_FLOAT, VSCAN_FORWARD, &max));
    ok(other_ctx, vscan_carry_create(other_ctx, VSCAN_PLUS, VSCAN_FLOAT, VSCAN_FORWARD, &foreign));
    ok(ctx, vscan_buffer_create(ctx, VSCAN_FLOAT, 3, &v));
    ok(ctx, vscan_buffer_upload(v, 0, 3, three));

    /* calls: each refused use leaves the vector and the carry as they are */
    const struct {
        vscan_carry *carry;
        vscan_status status;
    } wrong[] = {{ints, VSCAN_ERROR_CARRY},
                 {back, VSCAN_ERROR_CARRY},
                 {max, VSCAN_ERROR_CARRY},
                 {foreign, VSCAN_ERROR_CONTEXT},
                 {(vscan_carry *)(void *)v, VSCAN_ERROR_HANDLE},
                 {refusal_stranger(0), VSCAN_ERROR_HANDLE},
                 {refusal_stranger(3), VSCAN_ERROR_HANDLE}};
    for (size_t k = 0; k < sizeof wrong / sizeof wrong[0]; k++) {
        const vscan_scan_options scan = {.size = sizeof scan, .carry = wrong[k].carry};
        const vscan_scan_segmented_options segmented = {.size = sizeof segmented,
                                                        .carry = wrong[k].carry};
        const vscan_reduce_options reduce = {.size = sizeof reduce, .carry = wrong[k].carry};
        vscan_buffer *flags;
        ok(ctx, vscan_buffer_create(ctx, VSCAN_BIT, 3, &flags));
        refused(ctx, wrong[k].status, "options->carry", vscan_scan(ctx, VSCAN_PLUS, v, v, &scan));
        refused(ctx, wrong[k].status, "options->carry",
                vscan_scan_segmented(ctx, VSCAN_PLUS, v, flags, v, &segmented));
        refused(ctx, wrong[k].status, "options->carry",
                vscan_reduce(ctx, VSCAN_PLUS, v, NULL, &reduce));
        ok(ctx, vscan_buffer_destroy(flags));
    }
    const vscan_scan_options backward = {
        .size = sizeof backward, .direction = VSCAN_BACKWARD, .carry = carry};
    refused(ctx, VSCAN_ERROR_CARRY, "forward", vscan_scan(ctx, VSCAN_PLUS, v, v, &backward));
    refused(ctx, VSCAN_ERROR_HANDLE, "a carry",
            vscan_scan(ctx, VSCAN_PLUS, (vscan_buffer *)(void *)carry, v, NULL));
    const vscan_scan_options both = {
        .size = sizeof both, .initial = harness_value(VSCAN_FLOAT, &one), .carry = carry};
    refused(ctx, VSCAN_ERROR_VALUE, "options->carry", vscan_scan(ctx, VSCAN_PLUS, v, v, &both));
    ok(ctx, vscan_buffer_download(v, 0, 3, unchanged));
    assert_memory_equal(three, unchanged, sizeof three);

    refused(ctx, VSCAN_ERROR_CARRY, "from", vscan_carry_copy(ints, carry));
    refused(ctx, VSCAN_ERROR_CARRY, "from", vscan_carry_copy(back, carry));
    refused(ctx, VSCAN_ERROR_CONTEXT, "from", vscan_carry_copy(foreign, carry));
    refused(ctx, VSCAN_ERROR_NULL, "from", vscan_carry_copy(NULL, carry));
    refused(NULL, VSCAN_ERROR_NULL, "to is NULL", vscan_carry_copy(carry, NULL));
    refused(NULL, VSCAN_ERROR_NULL, "carry", vscan_carry_reset(NULL, NULL));
    refused(NULL, VSCAN_ERROR_NULL, "carry", vscan_carry_save(NULL, three, sizeof three));
    refused(NULL, VSCAN_ERROR_NULL, "carry", vscan_carry_restore(NULL, three, sizeof three));
    ok(ctx, vscan_carry_copy(carry, carry));
    ok(ctx, vscan_carry_destroy(NULL));
    refused(NULL, VSCAN_ERROR_HANDLE, "carry", vscan_carry_destroy((vscan_carry *)(void *)v));

    /* blocks */
    unsigned char block[VSCAN_CARRY_BYTES], after[VSCAN_CARRY_BYTES];
    const vscan_reduce_options three_more = {.size = sizeof three_more, .carry = carry};
    ok(ctx, vscan_reduce(ctx, VSCAN_PLUS, v, NULL, &three_more));
    refused(ctx, VSCAN_ERROR_NULL, "block", vscan_carry_save(carry, NULL, sizeof block));
    refused(ctx, VSCAN_ERROR_LENGTH, "bytes", vscan_carry_save(carry, block, sizeof block - 1));
    ok(ctx, vscan_carry_save(carry, block, sizeof block));
    refused(ctx, VSCAN_ERROR_NULL, "block", vscan_carry_restore(carry, NULL, sizeof block));
    refused(ctx, VSCAN_ERROR_LENGTH, "bytes", vscan_carry_restore(carry, block, sizeof block - 1));
    refused(ctx, VSCAN_ERROR_CARRY, "block", vscan_carry_restore(ints, block, sizeof block));
    refused(ctx, VSCAN_ERROR_CARRY, "block", vscan_carry_restore(back, block, sizeof block));
    refused(ctx, VSCAN_ERROR_CARRY, "block", vscan_carry_restore(max, block, sizeof block));
    for (int i = 0; i < VSCAN_CARRY_BYTES; i++) {
        block[i] ^= (unsigned char)(1 << i % 8);
        refused(ctx, VSCAN_ERROR_CARRY, "block", vscan_carry_restore(carry, block, sizeof block));
        block[i] ^= (unsigned char)(1 << i % 8);
    }
    ok(ctx, vscan_carry_save(carry, after, sizeof after));
    assert_memory_equal(block, after, sizeof block);
    ok(ctx, vscan_carry_restore(carry, block, sizeof block));

    ok(ctx, vscan_buffer_destroy(v));
    ok(ctx, vscan_carry_destroy(carry));
    ok(ctx, vscan_carry_destroy(ints));
    ok(ctx, vscan_carry_destroy(back));
    ok(ctx, vscan_carry_destroy(max));
    refused(NULL, VSCAN_ERROR_HANDLE, "carry", vscan_carry_reset(carry, NULL));
    ok(other_ctx, vscan_ctx_destroy(other_ctx));
    refused(NULL, VSCAN_ERROR_HANDLE, "carry", vscan_carry_reset(foreign, NULL));
    ok(NULL, vscan_carry_destroy(foreign)); /* after its context */
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(carry_pieces),         cmocka_unit_test(carry_long),
        cmocka_unit_test(carry_saved_at_first), cmocka_unit_test(carry_reset),
        cmocka_unit_test(carry_totals),         cmocka_unit_test(carry_begins),
        cmocka_unit_test(carry_refused),
    };
    return harness_run(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
