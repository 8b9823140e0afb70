/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Run-length encoding and decoding of a text, and counts of its lines and words.
 *
 * A run starts at a letter that is not the one before it: with the letters as keys, at the heads of
 * their segments. Packing the letters by these flags gives one letter a run, and the distances of the
 * starts are the lengths. To decode, a scan of the lengths says where runs start again; their letters
 * are permuted to these places, and a segmented copy spreads each over its run. Lines and words are
 * counted likewise: words and the spaces between them are runs, too, and the scan that counts ends of
 * lines numbers the line of every letter. Literature: Golomb, Run-Length Encodings, 1966; the
 * operations: Blelloch, Vector Models for Data-Parallel Computing, 1990, ch. 3 and 4.
 *
 *     run_length [n [seed]]   a text of n letters, which it makes itself
 *     run_length FILE
 *
 * Checked against loops over the text.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files.h"
#include "program.h"

/* ---- On the vector model --------------------------------------------------------------------- */

struct runs {
    int64_t count;
    vscan_buffer *letters, *lengths;
};

static vscan_buffer *part(vscan_buffer *vector, int64_t first, int64_t n) {
    vscan_buffer *view;
    check(vscan_buffer_view(vector, first, n, &view));
    return view;
}

static void destroy(vscan_buffer *const *vectors, int count) {
    for (int k = 0; k < count; k++) check(vscan_buffer_destroy(vectors[k]));
}

static struct runs encode(vscan_ctx *ctx, vscan_buffer *text) {
    int64_t n = vscan_buffer_length(text);
    struct runs runs = {.count = 0};
    vscan_count_options options = {.size = sizeof options, .count = new_vector(ctx, VSCAN_LONG, 1)};
    vscan_buffer *flags = new_vector(ctx, VSCAN_BYTE, n);
    vscan_buffer *starts = new_vector(ctx, VSCAN_INT, n + 1);
    vscan_buffer *keys = new_vector(ctx, VSCAN_INT, n);
    check(vscan_convert(ctx, text, keys));
    check(vscan_keys_to_heads(ctx, keys, NULL, flags));
    check(vscan_heads_to_offsets(ctx, flags, starts, &options));
    take_one(options.count, &runs.count);

    vscan_buffer *offsets = part(starts, 0, runs.count + 1);
    runs.letters = new_vector(ctx, VSCAN_UINT8, runs.count);
    runs.lengths = new_vector(ctx, VSCAN_INT, runs.count);
    check(vscan_pack(ctx, text, flags, runs.letters, NULL));
    check(vscan_offsets_to_lengths(ctx, offsets, runs.lengths));

    vscan_buffer *all[] = {flags, starts, keys, offsets};
    destroy(all, 4);
    return runs;
}

/* text is as long as all runs are. */
static void decode(vscan_ctx *ctx, const struct runs *runs, vscan_buffer *text) {
    vscan_buffer *offsets = new_vector(ctx, VSCAN_INT, runs->count + 1);
    vscan_buffer *starts = part(offsets, 0, runs->count);
    vscan_buffer *flags = new_vector(ctx, VSCAN_BYTE, vscan_buffer_length(text));
    check(vscan_lengths_to_offsets(ctx, runs->lengths, offsets));
    check(vscan_offsets_to_heads(ctx, offsets, flags));
    check(vscan_permute(ctx, runs->letters, starts, text, NULL));
    check(vscan_distribute_segmented(ctx, VSCAN_FIRST, text, flags, text));
    vscan_buffer *all[] = {offsets, starts, flags};
    destroy(all, 3);
}

struct counts {
    int64_t lines, words;
    int32_t longest, line; /* the first of the longest runs: its length, line, letter */
    uint8_t letter;
};

/* flags[i] = 1 where text[i] is a space or one of the five controls that are like one, else 0 */
static void mark_spaces(vscan_ctx *ctx, vscan_buffer *text, vscan_buffer *flags) {
    const uint8_t space = ' ', first = '\t', last = '\r';
    vscan_buffer *other = new_vector(ctx, VSCAN_INT, vscan_buffer_length(text));
    check(vscan_compare_right(ctx, VSCAN_GREATER_OR_EQUAL, text, &first, flags));
    check(vscan_compare_right(ctx, VSCAN_LESS_OR_EQUAL, text, &last, other));
    check(vscan_map_binary(ctx, VSCAN_BINARY_AND, flags, other, flags));
    check(vscan_compare_right(ctx, VSCAN_EQUAL, text, &space, other));
    check(vscan_map_binary(ctx, VSCAN_BINARY_OR, flags, other, flags));
    check(vscan_buffer_destroy(other));
}

/* The first of the longest runs; lines[i] is the line that letter i is in. */
static void find_longest(vscan_ctx *ctx, const struct runs *runs, vscan_buffer *lines,
                         struct counts *counts) {
    int32_t run, place;
    vscan_buffer *longest = new_vector(ctx, VSCAN_INT, 1);
    vscan_buffer *numbers = new_vector(ctx, VSCAN_INT, runs->count);
    vscan_buffer *flags = new_vector(ctx, VSCAN_BYTE, runs->count);
    vscan_buffer *offsets = new_vector(ctx, VSCAN_INT, runs->count + 1);
    check(vscan_reduce(ctx, VSCAN_MAX, runs->lengths, longest, NULL));
    take_one(longest, &counts->longest);
    check(vscan_compare_right(ctx, VSCAN_EQUAL, runs->lengths, &counts->longest, flags));
    check(vscan_flags_to_positions(ctx, flags, numbers, NULL));
    check(vscan_lengths_to_offsets(ctx, runs->lengths, offsets));
    check(vscan_buffer_get(numbers, 0, &run));
    check(vscan_buffer_get(runs->letters, run, &counts->letter));
    check(vscan_buffer_get(offsets, run, &place));
    check(vscan_buffer_get(lines, place, &counts->line));
    vscan_buffer *all[] = {numbers, flags, offsets};
    destroy(all, 3);
}

static struct counts count(vscan_ctx *ctx, vscan_buffer *text, const struct runs *runs) {
    int64_t n = vscan_buffer_length(text);
    struct counts counts = {.lines = 0};
    vscan_count_options counted = {.size = sizeof counted};
    const uint8_t end = '\n';
    const int32_t first = 1;
    if (n == 0) return counts;

    counted.count = new_vector(ctx, VSCAN_LONG, 1);
    vscan_buffer *spaces = new_vector(ctx, VSCAN_INT, n), *heads = new_vector(ctx, VSCAN_INT, n);
    vscan_buffer *flags = new_vector(ctx, VSCAN_BYTE, n);
    vscan_buffer *number = new_vector(ctx, VSCAN_INT, n);
    mark_spaces(ctx, text, spaces);
    check(vscan_keys_to_heads(ctx, spaces, NULL, heads));
    check(vscan_compare(ctx, VSCAN_GREATER, heads, spaces, flags)); /* heads that are no spaces */
    check(vscan_enumerate(ctx, flags, number, &counted));
    check(vscan_buffer_get(counted.count, 0, &counts.words));

    check(vscan_compare_right(ctx, VSCAN_EQUAL, text, &end, flags));
    check(vscan_enumerate(ctx, flags, number, &counted));
    take_one(counted.count, &counts.lines);
    check(vscan_map_right(ctx, VSCAN_BINARY_ADD, number, &first, number)); /* from 1 on */
    find_longest(ctx, runs, number, &counts);

    vscan_buffer *all[] = {spaces, heads, flags, number};
    destroy(all, 4);
    return counts;
}

/* ---- The program ----------------------------------------------------------------------------- */

static bool is_space(int letter) {
    return letter == ' ' || (letter >= '\t' && letter <= '\r');
}

static bool counts_are_right(const struct counts *counts, const uint8_t *text, int64_t n) {
    struct counts expected = {.lines = 0};
    int32_t length = 0, line = 1;
    for (int64_t i = 0; i < n; i++) {
        length = i > 0 && text[i] == text[i - 1] ? length + 1 : 1;
        if (length == 1) line = (int32_t)expected.lines + 1; /* where the run starts */
        if (length > expected.longest) {
            expected.longest = length;
            expected.letter = text[i];
            expected.line = line;
        }
        expected.lines += text[i] == '\n';
        expected.words += !is_space(text[i]) && (i == 0 || is_space(text[i - 1]));
    }
    return counts->lines == expected.lines && counts->words == expected.words &&
           counts->longest == expected.longest && counts->letter == expected.letter &&
           counts->line == expected.line;
}

/* Whether these are the runs of the text, none divided or joined. */
static bool runs_are_right(const uint8_t *letters, const int32_t *lengths, int64_t runs,
                           const uint8_t *text, int64_t n) {
    int64_t i = 0;
    for (int64_t k = 0; k < runs; k++) {
        int64_t end = i;
        while (end < n && text[end] == text[i]) end++;
        if (i == n || letters[k] != text[i] || lengths[k] != end - i) return false;
        i = end;
    }
    return i == n;
}

/* Indented lines of words, with a rule here and there. */
static unsigned char *make_text(int64_t n) {
    unsigned char *text = allocate(n, 1);
    for (int64_t i = 0; i < n;) {
        int64_t kind = random_below(8);
        int64_t length = kind < 4 ? 1 : kind < 6 ? random_below(8) : random_below(80);
        unsigned char letter = (unsigned char)('a' + random_below(26));
        if (kind >= 4) letter = kind < 6 ? ' ' : kind == 6 ? '\n' : '-';
        if (kind == 6) length = 1;
        for (; length > 0 && i < n; length--) text[i++] = letter;
    }
    return text;
}

int main(int argc, char **argv) {
    int64_t n;
    unsigned char *bytes;
    if (argc > 1 && is_file_name(argv[1])) {
        if (argc > 2) refuse(argv[0], "usage: %s [n [seed]] | FILE", argv[0]);
        bytes = read_file(argv[0], argv[1], &n);
        if (n > INT32_MAX) refuse(argv[0], "%s is longer than 2^31 - 1 bytes", argv[1]);
    } else {
        n = read_n_and_seed(argc, argv, 1 << 20, 0, INT32_MAX);
        bytes = make_text(n);
    }

    vscan_ctx *ctx = open_context();
    vscan_buffer *text = new_vector_of(ctx, VSCAN_UINT8, n, bytes);
    struct runs runs = encode(ctx, text);
    struct counts counts = count(ctx, text, &runs);
    vscan_buffer *again = new_vector(ctx, VSCAN_UINT8, n);
    decode(ctx, &runs, again);

    uint8_t *letters = allocate(runs.count, 1), *decoded = allocate(n, 1);
    int32_t *lengths = allocate(runs.count, sizeof *lengths);
    check(vscan_buffer_download(runs.letters, 0, runs.count, letters));
    check(vscan_buffer_download(runs.lengths, 0, runs.count, lengths));
    check(vscan_buffer_download(again, 0, n, decoded));
    bool right = runs_are_right(letters, lengths, runs.count, bytes, n) &&
                 memcmp(decoded, bytes, (size_t)n) == 0 && counts_are_right(&counts, bytes, n);

    printf("text     %" PRId64 " lines, %" PRId64 " words, %" PRId64 " letters\n", counts.lines,
           counts.words, n);
    printf("runs     %" PRId64 ", %.2f letters in the mean\n", runs.count,
           n > 0 ? (double)n / (double)runs.count : 0.0);
    if (n > 0) {
        printf("longest  %d x ", (int)counts.longest);
        if (counts.letter >= ' ' && counts.letter < 127)
            printf("'%c'", counts.letter);
        else
            printf("byte %d", counts.letter);
        printf(", in line %d\n", (int)counts.line);
    }

    vscan_buffer *all[] = {text, again, runs.letters, runs.lengths};
    destroy(all, 4);
    free(bytes);
    free(decoded);
    free(letters);
    free(lengths);
    return close_context(ctx, right);
}
