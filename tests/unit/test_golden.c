/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bits of float and double plus, against the committed file tests/golden/plus.txt, so that no
 * change of the order goes unnoticed: first the reference's, then the library's.
 *
 *     test_golden [cpu|cuda]          the tests; VSCAN_TEST_GOLDEN=FILE names another file
 *     test_golden --write FILE        writes the file, from the reference
 *
 * A line is a case, the 64-bit FNV-1a digest of the result's bytes (lowest byte of an element
 * first), and for up to 33 elements the elements' bits. Inputs are made by integer arithmetic.
 */
#include "harness.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/order.h"
#include "inputs.h"
#include "reference.h"

enum { SHOWN = 33 };

/* Cases of a length; those that go into a second block of level 3: scans with an initial value in
   both directions, a reduction. */
enum { ALL = 20, LONG_ONES = 1 << 2 | 1 << 3 | 1 << 18, LONG_COUNT = 3 };

/* Initial values with all bits of the mantissa in use. */
static const float z_float = 0x1.6db6dcp+3F;
static const double z_double = 0x1.6db6db6db6db7p+3;

/* Small segments for 20000 elements, then one of 20000, and so on. */
static void fill_flags(int64_t n, uint8_t *flags) {
    for (int64_t i = 0; i < n; i++) flags[i] = i / 20000 % 2 == 0 && i % 13 == 7 && i % 1000 < 200;
}

/* Computes r->out, or r->total where r->out is NULL. */
typedef void evaluate_fn(struct reference *r);

static void write_result(FILE *file, const char *family, const struct reference *r) {
    const int64_t n = r->out != NULL ? r->n : 1;
    const uint8_t *at = r->out != NULL ? r->out : r->total;
    const size_t size = reference_bytes(r->type, 1);
    fprintf(file, "plus_%s %s %s %s %s %" PRId64, reference_type_name(r->type), family,
            r->out == NULL ? "-" : (r->exclusive ? "exclusive" : "inclusive"),
            r->backward ? "backward" : "forward", r->initial != NULL ? "initial" : "-", r->n);
    uint64_t digest = UINT64_C(0xcbf29ce484222325);
    uint64_t shown[SHOWN];
    for (int64_t i = 0; i < n; i++, at += size) {
        uint64_t bits = 0;
        if (r->type == VSCAN_FLOAT) {
            uint32_t word;
            memcpy(&word, at, sizeof word);
            bits = word;
        } else {
            memcpy(&bits, at, sizeof bits);
        }
        for (size_t b = 0; b < size; b++)
            digest = (digest ^ (bits >> 8 * b & 0xff)) * UINT64_C(0x100000001b3);
        if (i < SHOWN) shown[i] = bits;
    }
    fprintf(file, " %016" PRIx64, digest);
    for (int64_t i = 0; i < n && n <= SHOWN; i++)
        fprintf(file, " %0*" PRIx64, (int)(2 * size), shown[i]);
    fprintf(file, "\n");
}

/* The cases of one type and length of which `some` has the bit. */
static void write_cases(FILE *file, vscan_type type, int64_t n, evaluate_fn *evaluate,
                        unsigned some) {
    void *in = malloc(reference_bytes(type, n)), *out = malloc(reference_bytes(type, n));
    uint8_t *flags = malloc((size_t)n);
    if (in == NULL || out == NULL || flags == NULL) abort();
    inputs_fill(INPUTS_RANDOM, type, n, (uint64_t)n, in);
    fill_flags(n, flags);
    const void *z = type == VSCAN_FLOAT ? (const void *)&z_float : (const void *)&z_double;
    for (int k = 0; k < ALL; k++) {
        if (!(some >> k & 1)) continue;
        uint64_t total = 0;
        struct reference r = {.op = VSCAN_PLUS, .type = type, .n = n, .in = in};
        r.backward = k & 1;
        r.initial = k & 2 ? z : NULL;
        if (k < 16) {
            r.exclusive = k >> 2 & 1;
            r.flags = k & 8 ? flags : NULL;
            r.out = out;
        } else {
            r.total = &total;
        }
        evaluate(&r);
        write_result(file, k < 8 ? "scan" : (k < 16 ? "segmented" : "reduce"), &r);
    }
    free(in);
    free(out);
    free(flags);
}

static void write_all(FILE *file, evaluate_fn *evaluate) {
    static const int64_t sizes[] = {1, 2, 31, 33, 100, 1000, 4097, 100003, 1000003};
    static const vscan_type types[] = {VSCAN_FLOAT, VSCAN_DOUBLE};
    for (int t = 0; t < 2; t++) {
        const int64_t tile = reference_tile(types[t]);
        const int64_t tiles[] = {tile - 1, tile, tile + 1, 3 * tile + 5};
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
            if (!harness_small() || sizes[i] < 10000)
                write_cases(file, types[t], sizes[i], evaluate, ~0u);
        for (size_t i = 0; i < sizeof tiles / sizeof tiles[0]; i++)
            write_cases(file, types[t], tiles[i], evaluate, ~0u);
        if (!harness_small())
            write_cases(file, types[t], VSCAN__LEVEL_3 + tile + 5, evaluate, LONG_ONES);
    }
}

/* ---- The library, as an evaluate_fn ---------------------------------------------------------- */

static void evaluate_library(struct reference *r) {
    vscan_ctx *ctx = harness_ctx();
    vscan_buffer *v, *flags;
    ok(ctx, vscan_buffer_create(ctx, r->type, r->n, &v));
    ok(ctx, vscan_buffer_create(ctx, VSCAN_BYTE, r->n, &flags));
    ok(ctx, vscan_buffer_upload(v, 0, r->n, r->in));
    if (r->out == NULL) {
        const vscan_reduce_options options = {.size = sizeof options,
                                              .direction =
                                                  r->backward ? VSCAN_BACKWARD : VSCAN_FORWARD,
                                              .initial = harness_value(r->type, r->initial)};
        vscan_buffer *total = harness_one(ctx, r->type);
        ok(ctx, vscan_reduce(ctx, r->op, v, total, &options));
        harness_take(ctx, total, r->total);
    } else if (r->flags == NULL) {
        const vscan_scan_options options = {
            .size = sizeof options,
            .kind = r->exclusive ? VSCAN_EXCLUSIVE : VSCAN_INCLUSIVE,
            .direction = r->backward ? VSCAN_BACKWARD : VSCAN_FORWARD,
            .initial = harness_value(r->type, r->initial)};
        ok(ctx, vscan_scan(ctx, r->op, v, v, &options));
    } else {
        ok(ctx, vscan_buffer_upload(flags, 0, r->n, r->flags));
        const vscan_scan_segmented_options options = {
            .size = sizeof options,
            .kind = r->exclusive ? VSCAN_EXCLUSIVE : VSCAN_INCLUSIVE,
            .direction = r->backward ? VSCAN_BACKWARD : VSCAN_FORWARD,
            .initial = harness_value(r->type, r->initial)};
        ok(ctx, vscan_scan_segmented(ctx, r->op, v, flags, v, &options));
    }
    if (r->out != NULL) ok(ctx, vscan_buffer_download(v, 0, r->n, r->out));
    ok(ctx, vscan_buffer_destroy(v));
    ok(ctx, vscan_buffer_destroy(flags));
}

/* ---- Comparison with the file ---------------------------------------------------------------- */

/* The committed file; on a machine that has no checkout where this was compiled, the working directory
   is looked in. */
static FILE *open_golden(void) {
    const char *path = getenv("VSCAN_TEST_GOLDEN");
    if (path != NULL && *path != '\0') return fopen(path, "r");
    FILE *file = fopen(GOLDEN_FILE, "r");
    return file != NULL ? file : fopen("tests/golden/plus.txt", "r");
}

/* The names before the digest and the elements: what the case is. */
static size_t length_of_case(const char *line) {
    size_t length = 0;
    for (int field = 0; field < 6; field++) {
        length += strcspn(line + length, " ");
        length += strspn(line + length, " ");
    }
    return length;
}

static void compare(evaluate_fn *evaluate) {
    FILE *golden = open_golden();
    if (golden == NULL) fail_msg("tests/golden/plus.txt: not found; set VSCAN_TEST_GOLDEN");
    char *text = NULL;
    size_t bytes = 0;
    FILE *file = open_memstream(&text, &bytes);
    assert_non_null(file);
    write_all(file, evaluate);
    fclose(file);

    int compared = 0, different = 0;
    char *expected = NULL;
    size_t capacity = 0;
    for (char *line = text, *end; line < text + bytes; line = end) {
        end = strchr(line, '\n') + 1;
        const size_t name = length_of_case(line);
        /* small sizes leave out some cases of the file, and comments are not cases */
        while (getline(&expected, &capacity, golden) > 0)
            if (strncmp(expected, line, name) == 0) break;
        compared++;
        if (strncmp(expected, line, (size_t)(end - line)) == 0) continue;
        if (different++ < 5)
            print_error("%s: expected %.200s\n     got      %.200s\n", harness_backend_name(),
                        expected, line);
    }
    free(expected);
    free(text);
    fclose(golden);
    assert_int_equal(different, 0);
    assert_int_equal(compared, harness_small() ? 2 * 11 * ALL : 2 * (13 * ALL + LONG_COUNT));
}

static void golden_reference(void **state) {
    (void)state;
    compare(reference_scan);
}

static void golden_library(void **state) {
    (void)state;
    compare(evaluate_library);
}

int main(int argc, char **argv) {
    if (argc == 3 && strcmp(argv[1], "--write") == 0) {
        FILE *file = fopen(argv[2], "w");
        if (file == NULL) return 1;
        fprintf(file, "# Bits of float and double plus; written by test_golden --write.\n"
                      "# pair family kind direction initial n FNV-1a-64 [elements]\n");
        write_all(file, reference_scan);
        return fclose(file) == 0 ? 0 : 1;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_reference),
        cmocka_unit_test(golden_library),
    };
    return harness_run(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
