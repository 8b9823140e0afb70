/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Saved carries: their bytes, against the committed file tests/golden/carries.txt, and blocks that nobody
 * has saved, with a right hash: each is refused or does no harm.
 *
 *     test_saved [cpu|cuda]          the tests; VSCAN_TEST_GOLDEN_CARRIES=FILE names another file
 *     test_saved --write FILE        writes the file, from the CPU backend
 *
 * A line is a case, and those of the block's words of 8 bytes that are not 0, each with where it begins,
 * byte after byte; but for the hash, which follows from them. Inputs are made by integer arithmetic.
 */
#include "harness.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/order.h"
#include "guarded.h"
#include "inputs.h"
#include "pairs.h"
#include "reference.h"
#include "refusal.h"

enum { BYTES = VSCAN_CARRY_BYTES, AT_STATE = 16, AT_GROUP = 72, AT_ZEROS = 328, AT_SUM = 376 };

/* ---- A carry with a past --------------------------------------------------------------------- */

struct past {
    vscan_op op;
    vscan_type type;
    int64_t n;
    bool backward, segmented, initial;
};

/* Initial values with all bits of the mantissa in use. */
static const float z_float = 0x1.6db6dcp+3F;
static const double z_double = 0x1.6db6db6db6db7p+3;
static const int32_t z_int = -1234567;
static const int64_t z_long = INT64_C(-1234567890123456);

static const void *initial_of(vscan_type type) {
    return type == VSCAN_FLOAT    ? (const void *)&z_float
           : type == VSCAN_DOUBLE ? (const void *)&z_double
           : type == VSCAN_INT    ? (const void *)&z_int
                                  : (const void *)&z_long;
}

static vscan_carry *new_carry(const struct past *p) {
    vscan_carry *carry;
    ok(harness_ctx(), vscan_carry_create(harness_ctx(), p->op, p->type,
                                         p->backward ? VSCAN_BACKWARD : VSCAN_FORWARD, &carry));
    return carry;
}

/* Goes on with n elements of in; flags are those of segments, or NULL. */
static void go_on(const struct past *p, vscan_carry *carry, vscan_buffer *in, vscan_buffer *flags,
                  vscan_buffer *out) {
    vscan_ctx *ctx = harness_ctx();
    const int32_t direction = p->backward ? VSCAN_BACKWARD : VSCAN_FORWARD;
    if (flags != NULL) {
        const vscan_scan_segmented_options options = {
            .size = sizeof options, .direction = direction, .carry = carry};
        ok(ctx, vscan_scan_segmented(ctx, p->op, in, flags, out, &options));
    } else {
        const vscan_scan_options options = {
            .size = sizeof options, .direction = direction, .carry = carry};
        ok(ctx, vscan_scan(ctx, p->op, in, out, &options));
    }
}

/* The block of a carry with that past, in pieces of lengths drawn, or in one: random is NULL. */
static void block_of(const struct past *p, struct inputs_random *random, unsigned char *block) {
    vscan_ctx *ctx = harness_ctx();
    vscan_carry *carry = new_carry(p);
    if (p->initial) ok(ctx, vscan_carry_reset(carry, initial_of(p->type)));
    void *in = malloc(reference_bytes(p->type, p->n) + 8);
    uint8_t *set = calloc((size_t)p->n + 1, 1);
    assert_true(in != NULL && set != NULL);
    inputs_fill(INPUTS_RANDOM, p->type, p->n, (uint64_t)p->n, in);
    /* the last ones that the carry sees begin in its unfinished group, and perhaps behind it */
    set[p->n / 2] = 1;
    if (p->n > 3) set[p->backward ? 2 : p->n - 3] = 1;
    if (p->backward && p->n % 2) set[0] = 1;
    vscan_buffer *v, *flags;
    ok(ctx, vscan_buffer_create(ctx, p->type, p->n, &v));
    ok(ctx, vscan_buffer_create(ctx, VSCAN_BYTE, p->n, &flags));
    ok(ctx, vscan_buffer_upload(v, 0, p->n, in));
    ok(ctx, vscan_buffer_upload(flags, 0, p->n, set));
    for (int64_t done = 0; done < p->n;) {
        const int64_t left = p->n - done, n = random ? 1 + inputs_below(random, left) : left;
        const int64_t first = p->backward ? left - n : done;
        vscan_buffer *piece, *piece_flags;
        ok(ctx, vscan_buffer_view(v, first, n, &piece));
        ok(ctx, vscan_buffer_view(flags, first, n, &piece_flags));
        go_on(p, carry, piece, p->segmented ? piece_flags : NULL, piece);
        ok(ctx, vscan_buffer_destroy(piece));
        ok(ctx, vscan_buffer_destroy(piece_flags));
        done += n;
    }
    ok(ctx, vscan_carry_save(carry, block, BYTES));
    ok(ctx, vscan_carry_destroy(carry));
    ok(ctx, vscan_buffer_destroy(v));
    ok(ctx, vscan_buffer_destroy(flags));
    free(in);
    free(set);
}

/* ---- Golden bytes ---------------------------------------------------------------------------- */

static void write_case(FILE *file, const struct past *p, struct inputs_random *random) {
    unsigned char block[BYTES];
    static const unsigned char none[8];
    block_of(p, random, block);
    fprintf(file, "%s_%s %s %s %s %" PRId64 ":", reference_op_name(p->op),
            reference_type_name(p->type), p->backward ? "backward" : "forward",
            p->segmented ? "segmented" : "scan", p->initial ? "initial" : "-", p->n);
    for (int at = 0; at < AT_SUM; at += 8) {
        if (memcmp(block + at, none, 8) == 0) continue;
        fprintf(file, " %d ", at);
        for (int i = 0; i < 8; i++) fprintf(file, "%02x", block[at + i]);
    }
    fprintf(file, "\n");
}

static void write_all(FILE *file, struct inputs_random *random) {
    for (int t = 0; t < REFERENCE_TYPES; t++) {
        const vscan_type type = reference_types[t];
        const int64_t tile = reference_tile(type);
        const bool real = type == VSCAN_FLOAT || type == VSCAN_DOUBLE;
        const int64_t sizes[] = {0, 1, 32, 33, 1101, tile, tile + 2087};
        for (int op = VSCAN_PLUS; op <= LAST_OP; op++) {
            if (!reference_has_pair(op, type)) continue;
            const bool in_order = op == VSCAN_PLUS && real;
            for (int s = 0; s < 7; s += in_order ? 1 : 3) /* others have a total alone */
                for (int mode = 0; mode < (in_order ? 4 : 2); mode++) {
                    struct past p = {.op = (vscan_op)op, .type = type, .n = sizes[s]};
                    p.initial = p.backward = mode & 1;
                    p.segmented = in_order ? mode >> 1 : mode;
                    write_case(file, &p, random);
                }
        }
        const struct past far = {.op = VSCAN_PLUS, .type = type, .n = VSCAN__LEVEL_3 + 77};
        if (real && !harness_small()) write_case(file, &far, random);
    }
}

/* As of test_golden. */
static FILE *open_golden(void) {
    const char *path = getenv("VSCAN_TEST_GOLDEN_CARRIES");
    if (path != NULL && *path != '\0') return fopen(path, "r");
    FILE *file = fopen(GOLDEN_FILE, "r");
    return file != NULL ? file : fopen("tests/golden/carries.txt", "r");
}

static void compare(struct inputs_random *random) {
    FILE *golden = open_golden();
    if (golden == NULL)
        fail_msg("tests/golden/carries.txt: not found; set VSCAN_TEST_GOLDEN_CARRIES");
    char *text = NULL, *expected = NULL;
    size_t bytes = 0, capacity = 0;
    FILE *file = open_memstream(&text, &bytes);
    assert_non_null(file);
    write_all(file, random);
    fclose(file);
    int compared = 0, different = 0;
    for (char *line = text, *end; line < text + bytes; line = end, compared++) {
        end = strchr(line, '\n') + 1;
        /* small sizes leave out some cases of the file, and comments are not cases */
        while (getline(&expected, &capacity, golden) > 0)
            if (strncmp(expected, line, strcspn(line, ":")) == 0) break;
        if (strncmp(expected, line, (size_t)(end - line)) == 0) continue;
        if (different++ < 5)
            print_error("%s: expected %.400s\n     got      %.400s\n", harness_backend_name(),
                        expected, line);
    }
    free(expected);
    free(text);
    fclose(golden);
    assert_int_equal(different, 0);
    assert_int_equal(compared,
                     2 * 7 * 4 + (vscan__pair_count - 2) * 3 * 2 + (harness_small() ? 0 : 2));
}

static void saved_in_one(void **state) {
    (void)state;
    compare(NULL);
}

static void saved_in_pieces(void **state) {
    (void)state;
    struct inputs_random random = {harness_seed() + 70};
    for (int k = 0; k < (harness_small() ? 1 : 3); k++) compare(&random);
}

/* ---- Forged blocks --------------------------------------------------------------------------- */

static void put(unsigned char *to, uint64_t number, int bytes) {
    for (int i = 0; i < bytes; i++) to[i] = (unsigned char)(number >> 8 * i);
}

static void put_hash(unsigned char *block) {
    uint64_t sum = UINT64_C(0xcbf29ce484222325);
    for (int i = 0; i < AT_SUM; i++) sum = (sum ^ block[i]) * UINT64_C(0x100000001b3);
    put(block + AT_SUM, sum, 8);
}

/* The block with another number there, and its hash, is refused, and the carry is as before. */
static void refuses_forged(vscan_carry *carry, const unsigned char *block, int at, uint64_t number,
                           int bytes, const char *word) {
    unsigned char forged[BYTES], before[BYTES], after[BYTES];
    vscan_ctx *ctx = harness_ctx();
    memcpy(forged, block, BYTES);
    put(forged + at, number, bytes);
    put_hash(forged);
    ok(ctx, vscan_carry_save(carry, before, BYTES));
    refused(ctx, VSCAN_ERROR_CARRY, word, vscan_carry_restore(carry, forged, BYTES));
    ok(ctx, vscan_carry_save(carry, after, BYTES));
    assert_memory_equal(before, after, BYTES);
}

static void forged_refused(void **state) {
    (void)state;
    const struct past pasts[] = {
        {.op = VSCAN_PLUS, .type = VSCAN_FLOAT, .n = 40},
        {.op = VSCAN_PLUS, .type = VSCAN_DOUBLE, .n = 1101, .backward = true, .initial = true},
        {.op = VSCAN_MAX, .type = VSCAN_INT, .n = 40},
        {.op = VSCAN_PLUS, .type = VSCAN_FLOAT, .n = 0, .backward = true},
        {.op = VSCAN_PLUS, .type = VSCAN_LONG, .n = 0, .initial = true}};
    for (size_t k = 0; k < sizeof pasts / sizeof pasts[0]; k++) {
        const struct past *p = &pasts[k];
        const bool in_order = p->op == VSCAN_PLUS && p->type != VSCAN_LONG;
        const bool four = p->type == VSCAN_FLOAT || p->type == VSCAN_INT;
        unsigned char block[BYTES];
        vscan_carry *carry = new_carry(p);
        block_of(p, NULL, block);
        ok(harness_ctx(), vscan_carry_restore(carry, block, BYTES));
        refuses_forged(carry, block, 0, 'v', 1, "no saved carry");
        refuses_forged(carry, block, 7, ' ', 1, "no saved carry");
        refuses_forged(carry, block, 8, 0, 4, "version 0");
        refuses_forged(carry, block, 8, 2, 4, "version 2");
        refuses_forged(carry, block, 8, UINT64_C(0x80000001), 4, "version 2147483649");
        refuses_forged(carry, block, 12, VSCAN_OR, 1, "another operator");
        refuses_forged(carry, block, 13, VSCAN_UINT8, 1, "another operator");
        refuses_forged(carry, block, 14, 1, 1, "another operator");
        static const int64_t counts[] = {-1, INT64_MIN, INT64_MAX, INT64_MAX - 99,
                                         (INT64_C(1) << 62) + 1};
        for (int c = 0; c < 5; c++)
            refuses_forged(carry, block, AT_STATE, (uint64_t)counts[c], 8, " elements");
        for (int bit = 2; bit < 8; bit++)
            refuses_forged(carry, block, 15, block[15] | 1u << bit, 1, "byte 15 ");
        if (!p->backward || p->n == 0)
            refuses_forged(carry, block, 15, block[15] | 2u, 1, "byte 15 ");
        if (!p->initial) refuses_forged(carry, block, 24, 1, 1, "byte 24 ");
        if (p->initial) refuses_forged(carry, block, 15, 0, 1, "byte 24 ");
        if (four && p->n > 0) /* behind an element of four bytes */
            for (int at = in_order ? 36 : 60; at <= (in_order ? AT_GROUP + 4 : 68); at += 8)
                refuses_forged(carry, block, at, 1, 1, "must be 0");
        for (int at = 32; at < AT_GROUP; at += 8)
            if (p->n == 0 || (!in_order && at < 56))
                refuses_forged(carry, block, at, 3, 1, "byte ");
        const int64_t unfinished = in_order ? p->n % VSCAN__GROUP : 0;
        for (int at = AT_GROUP + 8 * (int)unfinished; at < AT_SUM; at++)
            refuses_forged(carry, block, at, 0x80, 1, "must be 0");
        ok(harness_ctx(), vscan_carry_restore(carry, block, BYTES));
        ok(harness_ctx(), vscan_carry_destroy(carry));
    }
}

/* Goes on from a carry that may hold anything, in every way; nothing else than the outputs is written. */
static void use(const struct past *p, vscan_carry *carry, struct inputs_random *random) {
    vscan_ctx *ctx = harness_ctx();
    static const int64_t sizes[] = {0, 1, 33, 5000, 70000};
    const int64_t n = sizes[inputs_below(random, harness_small() ? 4 : 5)];
    struct guarded in = guarded_make(ctx, p->type, n, 1, NULL),
                   out = guarded_make(ctx, p->type, n, 3, NULL),
                   totals = guarded_make(ctx, p->type, 20, 0, NULL);
    const int32_t direction = p->backward ? VSCAN_BACKWARD : VSCAN_FORWARD;
    const int32_t kind = inputs_below(random, 2) ? VSCAN_EXCLUSIVE : VSCAN_INCLUSIVE;
    if (p->segmented) {
        uint8_t *set = calloc((size_t)n + 1, 1);
        assert_non_null(set);
        for (int k = 0; k < 9 && n > 0; k++) set[inputs_below(random, n)] = 1;
        vscan_buffer *flags;
        ok(ctx, vscan_buffer_create(ctx, VSCAN_BYTE, n, &flags));
        ok(ctx, vscan_buffer_upload(flags, 0, n, set));
        const vscan_scan_segmented_options options = {.size = sizeof options,
                                                      .kind = kind,
                                                      .direction = direction,
                                                      .totals = totals.view,
                                                      .carry = carry};
        ok(ctx, vscan_scan_segmented(ctx, p->op, in.view, flags, out.view, &options));
        ok(ctx, vscan_buffer_destroy(flags));
        free(set);
    } else if (inputs_below(random, 3) == 0) {
        const vscan_reduce_options options = {
            .size = sizeof options, .direction = direction, .carry = carry};
        ok(ctx, vscan_reduce(ctx, p->op, in.view, NULL, &options));
    } else {
        const vscan_scan_options options = {
            .size = sizeof options, .kind = kind, .direction = direction, .carry = carry};
        ok(ctx, vscan_scan(ctx, p->op, in.view, out.view, &options));
    }
    struct guarded *const all[] = {&in, &out, &totals};
    for (int k = 0; k < 3; k++) {
        bool intact;
        guarded_download(all[k], &intact);
        assert_true(intact);
        guarded_free(all[k]);
    }
}

/* A number that a forger may like. */
static uint64_t forged_number(struct inputs_random *random) {
    static const uint64_t numbers[] = {1,          INT64_MAX,  UINT64_C(1) << 63,
                                       UINT64_MAX, 0x7f800001, UINT64_C(0x7ff0000000000001)};
    switch (inputs_below(random, 4)) {
    case 0:
        return numbers[inputs_below(random, 6)];
    case 1:
        return (UINT64_C(1) << 62) - (uint64_t)inputs_below(random, 70000);
    case 2:
        return (uint64_t)inputs_below(random, VSCAN__LEVEL_3 * 3);
    default:
        return inputs_next(random) >> inputs_below(random, 64);
    }
}

static void forged_harmless(void **state) {
    (void)state;
    struct inputs_random random = {harness_seed() + 71};
    int taken = 0, far = 0;
    for (int k = 0; k < (harness_small() ? 100 : 1000); k++) {
        struct past p = {.op = (vscan_op)(VSCAN_PLUS + inputs_below(&random, 5)),
                         .type = reference_types[inputs_below(&random, REFERENCE_TYPES)],
                         .n = inputs_below(&random, 20000),
                         .backward = inputs_below(&random, 2),
                         .segmented = inputs_below(&random, 2),
                         .initial = inputs_below(&random, 2)};
        if (inputs_below(&random, 2)) p.op = VSCAN_PLUS, p.type = VSCAN_FLOAT;
        unsigned char block[BYTES];
        vscan_carry *carry = new_carry(&p);
        block_of(&p, NULL, block);
        if (k % 2) { /* another count with as many elements in the unfinished group */
            const uint64_t number = forged_number(&random) % (UINT64_C(1) << 62);
            put(block + AT_STATE, number - number % VSCAN__GROUP + (uint64_t)p.n % VSCAN__GROUP, 8);
        }
        for (int64_t words = inputs_below(&random, 4); words > 0; words--)
            put(block + AT_STATE + 8 + 8 * inputs_below(&random, 10), forged_number(&random),
                p.type == VSCAN_FLOAT || p.type == VSCAN_INT ? 4 : 8);
        if (inputs_below(&random, 8) == 0)
            put(block + AT_STATE + 8 * inputs_below(&random, 45), forged_number(&random), 8);
        put_hash(block);
        const vscan_status status = vscan_carry_restore(carry, block, BYTES);
        if (status != VSCAN_OK) refuses(VSCAN_ERROR_CARRY, status);
        if (status == VSCAN_OK) {
            taken++;
            far += block[AT_STATE + 7] >= 0x3f;
            for (int calls = 0; calls < 3; calls++) use(&p, carry, &random);
            ok(harness_ctx(), vscan_carry_save(carry, block, BYTES));
        }
        ok(harness_ctx(), vscan_carry_destroy(carry));
    }
    assert_in_range(taken, harness_small() ? 20 : 200, harness_small() ? 95 : 950);
    assert_true(far > 5);
}

int main(int argc, char **argv) {
    if (argc == 3 && strcmp(argv[1], "--write") == 0) {
        FILE *file = fopen(argv[2], "w");
        if (file == NULL) return 1;
        fprintf(file, "# Bytes of saved carries; written by test_saved --write.\n"
                      "# pair direction scan|segmented initial elements: [at bytes]\n");
        write_all(file, NULL);
        return vscan_ctx_destroy(harness_ctx()) == VSCAN_OK && fclose(file) == 0 ? 0 : 1;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(saved_in_one),
        cmocka_unit_test(saved_in_pieces),
        cmocka_unit_test(forged_refused),
        cmocka_unit_test(forged_harmless),
    };
    return harness_run(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
