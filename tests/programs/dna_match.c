/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All places where a pattern of up to 32 letters stands in a DNA sequence.
 *
 * Every place of the sequence gets a name for the letters from there on, such that equal letters
 * have equal names: a letter is its own name, of 2 bits, and the name for twice as many letters is
 * made of the names at i and, as far on as they reach, at i + length. All names are made at once,
 * by a shift and an or of the vector with a view of itself; after 3 such steps they stand for 8
 * letters. A pattern whose length is no power of two is covered by two names that overlap.
 * Comparing the names with the pattern's gives a flag for every place, and the numbers of the
 * places with a flag are packed: the plus scan of the flags says where each of them goes.
 * Literature: Karp, Miller and Rosenberg, Rapid Identification of Repeated Patterns in Strings,
 * Trees and Arrays, 1972; the pack: Blelloch, Vector Models for Data-Parallel Computing, 1990, ch.
 * 4.
 *
 *     dna_match [n [seed [pattern]]]   a random sequence of n letters, in which the pattern is put
 *                                      at a few places besides those where it is by chance
 *
 * Checked against a comparison of all letters at every place.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program.h"

static const char letters[] = "ACGT";

/* ---- On the vector model --------------------------------------------------------------------- */

static uint32_t name_of(const char *text, int64_t length) {
    uint32_t name = 0;
    for (int64_t k = 0; k < length; k++)
        name = name << 2 | (uint32_t)(strchr(letters, text[k]) - letters);
    return name;
}

/* A view of n elements from first on. */
static vscan_buffer *part(vscan_buffer *vector, int64_t first, int64_t n) {
    vscan_buffer *view;
    check(vscan_buffer_view(vector, first, n, &view));
    return view;
}

/* From names of length letters to those of twice as many, at n places. */
static void double_names(vscan_ctx *ctx, vscan_buffer *names, int32_t length, int64_t n,
                         vscan_buffer *longer) {
    int32_t bits = 2 * length;
    vscan_buffer *first = part(names, 0, n), *second = part(names, length, n);
    vscan_buffer *out = part(longer, 0, n);
    check(vscan_map_right(ctx, VSCAN_BINARY_SHIFT_LEFT, first, &bits, out));
    check(vscan_map_binary(ctx, VSCAN_BINARY_OR, out, second, out));
    check(vscan_buffer_destroy(first));
    check(vscan_buffer_destroy(second));
    check(vscan_buffer_destroy(out));
}

/* flags[i] = whether the name at i + first is that of the length letters at text. */
static void compare_names(vscan_ctx *ctx, vscan_buffer *names, int64_t first, const char *text,
                          int64_t length, vscan_buffer *flags) {
    uint32_t name = name_of(text, length);
    vscan_buffer *from = part(names, first, vscan_buffer_length(flags));
    check(vscan_compare_right(ctx, VSCAN_EQUAL, from, &name, flags));
    check(vscan_buffer_destroy(from));
}

/* The places of the pattern in ascending order, as many as returned; sequence is overwritten. */
static int64_t match(vscan_ctx *ctx, vscan_buffer *sequence, const char *pattern,
                     int32_t **places) {
    int64_t n = vscan_buffer_length(sequence), m = (int64_t)strlen(pattern), count = 0;
    if (n < m) {
        *places = NULL;
        return 0;
    }
    vscan_buffer *names = sequence, *other = new_vector(ctx, VSCAN_INT, n);
    int32_t length = 1;
    for (; 2 * length <= m && length < 16; length *= 2) {
        double_names(ctx, names, length, n - 2 * length + 1, other);
        vscan_buffer *longer = other;
        other = names;
        names = longer;
    }

    int64_t starts = n - m + 1;
    vscan_buffer *flags = new_vector(ctx, VSCAN_BYTE, starts);
    compare_names(ctx, names, 0, pattern, length, flags);
    if (length < m) {
        vscan_buffer *second = new_vector(ctx, VSCAN_BYTE, starts);
        compare_names(ctx, names, m - length, pattern + m - length, length, second);
        check(vscan_map_binary(ctx, VSCAN_BINARY_AND, flags, second, flags));
        check(vscan_buffer_destroy(second));
    }

    vscan_count_options options = {.size = sizeof options, .count = new_vector(ctx, VSCAN_LONG, 1)};
    vscan_buffer *numbers = part(other, 0, starts);
    check(vscan_flags_to_positions(ctx, flags, numbers, &options));
    take_one(options.count, &count);
    *places = allocate(count, sizeof **places);
    check(vscan_buffer_download(numbers, 0, count, *places));

    check(vscan_buffer_destroy(numbers));
    check(vscan_buffer_destroy(flags));
    check(vscan_buffer_destroy(names == sequence ? other : names));
    return count;
}

/* ---- The program ----------------------------------------------------------------------------- */

/* Whether places are those where the pattern stands, all of them, in order. */
static bool is_right(const char *text, int64_t n, const char *pattern, const int32_t *places,
                     int64_t count) {
    int64_t found = 0;
    size_t m = strlen(pattern);
    for (int64_t i = 0; i + (int64_t)m <= n; i++) {
        if (memcmp(text + i, pattern, m) != 0) continue;
        if (found == count || places[found] != i) return false;
        found++;
    }
    return found == count;
}

/* A place, with a few letters before and after it. */
static void print_place(const char *text, int64_t n, int64_t place, int64_t m) {
    int64_t first = place < 8 ? 0 : place - 8, end = place + m + 8 < n ? place + m + 8 : n;
    printf("%14" PRId64 "  %*s", place, (int)(8 - (place - first)), "");
    for (int64_t i = first; i < end; i++) {
        bool within = i >= place && i < place + m;
        putchar(within ? text[i] : "acgt"[strchr(letters, text[i]) - letters]);
    }
    printf("\n");
}

int main(int argc, char **argv) {
    const char *pattern = argc > 3 ? argv[3] : "GATTACAG";
    int64_t m = (int64_t)strlen(pattern);
    if (argc > 4) refuse(argv[0], "usage: %s [n [seed [pattern]]]", argv[0]);
    if (m < 1 || m > 32 || (int64_t)strspn(pattern, letters) != m)
        refuse(argv[0], "pattern is not 1 to 32 of the letters A, C, G and T: \"%s\"", pattern);
    int64_t n = read_n_and_seed(argc > 3 ? 3 : argc, argv, 16384, 0, INT32_MAX);

    char *text = allocate(n, 1);
    int32_t *codes = allocate(n, sizeof *codes);
    for (int64_t i = 0; i < n; i++) text[i] = letters[random_below(4)];
    for (int k = 0; k < 4 && n >= m; k++) /* at the very end, and anywhere */
        memcpy(text + (k == 0 ? n - m : random_below(n - m + 1)), pattern, (size_t)m);
    for (int64_t i = 0; i < n; i++) codes[i] = (int32_t)(strchr(letters, text[i]) - letters);

    vscan_ctx *ctx = open_context();
    vscan_buffer *sequence = new_vector_of(ctx, VSCAN_INT, n, codes);
    int32_t *places;
    int64_t count = match(ctx, sequence, pattern, &places);
    bool right = is_right(text, n, pattern, places, count);

    printf("pattern  %s, at %" PRId64 " places\n", pattern, count);
    for (int64_t k = 0; k < count && k < 8; k++) print_place(text, n, places[k], m);
    if (count > 8) printf("%14s\n", "...");

    check(vscan_buffer_destroy(sequence));
    free(places);
    free(codes);
    free(text);
    return close_context(ctx, right);
}
