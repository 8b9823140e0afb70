/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the lines of a text begin, how many there are, which is the longest, and how many are empty.
 *
 * The text is a vector of uint8, one element a byte, as it lies in the file. A line begins after each
 * '\n', so one comparison of the text with '\n', whose flags lie one place further on, gives the heads
 * of all lines as segments; that the first line begins at byte 0 is what a head flag means anyway. A '\n'
 * at the very end begins no line, as nothing follows it. The numbers of the places with a head are where
 * lines begin: a plus scan of the flags says where each number goes, which vscan_heads_to_offsets does in
 * one pass. The first byte of each line is gathered from these places, and where it is '\n' the line is
 * empty: packing what equals '\n' counts these. Literature: Blelloch, Vector Models for Data-Parallel Computing, 1990, ch. 3 and 4.
 *
 *     line_starts [n [seed]]   a text of n bytes, which it makes itself
 *     line_starts FILE
 *
 * Checked against a loop over the text.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "files.h"
#include "program.h"

static const uint8_t newline = '\n';

struct lines {
    int64_t count, empty;
    int32_t longest;       /* bytes of the longest line, its '\n' among them */
    vscan_buffer *offsets; /* where each line begins, and at last where the text ends */
};

/* ---- On the vector model --------------------------------------------------------------------- */

static vscan_buffer *part(vscan_buffer *vector, int64_t first, int64_t n) {
    vscan_buffer *view;
    check(vscan_buffer_view(vector, first, n, &view));
    return view;
}

/* heads[i] = whether text[i - 1] is '\n'; heads[0] may be anything. */
static void mark_starts(vscan_ctx *ctx, vscan_buffer *text, vscan_buffer *heads) {
    int64_t n = vscan_buffer_length(text);
    vscan_buffer *before = part(text, 0, n - 1), *after = part(heads, 1, n - 1);
    check(vscan_compare_right(ctx, VSCAN_EQUAL, before, &newline, after));
    check(vscan_buffer_destroy(before));
    check(vscan_buffer_destroy(after));
}

static struct lines find_lines(vscan_ctx *ctx, vscan_buffer *text) {
    int64_t n = vscan_buffer_length(text);
    struct lines lines = {.count = 0};
    vscan_count_options options = {.size = sizeof options, .count = new_vector(ctx, VSCAN_LONG, 1)};
    vscan_buffer *heads = new_vector(ctx, VSCAN_BYTE, n);
    vscan_buffer *offsets = new_vector(ctx, VSCAN_INT, n + 1); /* as many lines as there can be */
    vscan_buffer *longest = new_vector(ctx, VSCAN_INT, 1);
    if (n > 0) mark_starts(ctx, text, heads);
    check(vscan_heads_to_offsets(ctx, heads, offsets, &options));
    check(vscan_buffer_get(options.count, 0, &lines.count));

    vscan_buffer *lengths = new_vector(ctx, VSCAN_INT, lines.count);
    vscan_buffer *firsts = new_vector(ctx, VSCAN_UINT8, lines.count);
    vscan_buffer *starts = part(offsets, 0, lines.count);
    lines.offsets = part(offsets, 0, lines.count + 1);
    check(vscan_offsets_to_lengths(ctx, lines.offsets, lengths));
    check(vscan_reduce(ctx, VSCAN_MAX, lengths, longest, NULL));
    take_one(longest, &lines.longest);

    check(vscan_gather(ctx, text, starts, firsts));
    check(vscan_pack_compare(ctx, VSCAN_EQUAL, firsts, &newline, firsts, &options));
    take_one(options.count, &lines.empty);

    vscan_buffer *const all[] = {heads, offsets, lengths, firsts, starts};
    for (int k = 0; k < 5; k++) check(vscan_buffer_destroy(all[k]));
    return lines;
}

/* ---- The program ----------------------------------------------------------------------------- */

static bool is_right(const struct lines *lines, const int32_t *offsets, const unsigned char *text,
                     int64_t n) {
    int64_t count = 0, empty = 0, start = 0, longest = 0;
    for (int64_t i = 0; i < n; i++) {
        if (i == start) {
            if (count == lines->count || offsets[count] != i) return false;
            count++;
            empty += text[i] == '\n';
        }
        if (i + 1 - start > longest) longest = i + 1 - start;
        if (text[i] == '\n') start = i + 1;
    }
    return count == lines->count && offsets[count] == n && empty == lines->empty &&
           (count == 0 || longest == lines->longest);
}

/* Lines of any bytes and of up to 117; every fourth or so is empty. */
static unsigned char *make_text(int64_t n) {
    unsigned char *text = allocate(n, 1);
    for (int64_t i = 0; i < n; i++) {
        for (int64_t length = random_below(4) * random_below(40); length > 0 && i < n; length--)
            text[i++] = (unsigned char)random_below(256);
        if (i < n) text[i] = newline;
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
    struct lines lines = find_lines(ctx, text);
    int32_t *offsets = allocate(lines.count + 1, sizeof *offsets);
    check(vscan_buffer_download(lines.offsets, 0, lines.count + 1, offsets));
    bool right = is_right(&lines, offsets, bytes, n);

    printf("text     %" PRId64 " bytes, %" PRId64 " lines, %" PRId64 " of them empty\n", n,
           lines.count, lines.empty);
    if (lines.count > 0) printf("longest  %d bytes\n", (int)lines.longest);
    for (int64_t k = 0; k < lines.count && k < 4; k++)
        printf("line %-3" PRId64 " begins at %d\n", k + 1, (int)offsets[k]);

    check(vscan_buffer_destroy(text));
    check(vscan_buffer_destroy(lines.offsets));
    free(offsets);
    free(bytes);
    return close_context(ctx, right);
}
