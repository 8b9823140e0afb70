/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The running sums of a file of floats, of any length: the file is read in pieces, so it need not fit in
 * memory, and a carry goes from piece to piece. The results have the bits of one scan of the whole,
 * whatever the pieces are; a second run with pieces of random lengths shows it.
 *
 *     stream_scan [n [seed]]           a temporary file of n random numbers in 0 .. 1
 *     stream_scan FILE [PIECE [OUT]]   a file of 32-bit floats, in pieces of so many (default 2^20);
 *                                      the running sums go to the file OUT
 *
 * Prints the total, and a digest of all results: the FNV-1a of their 32-bit words. The progress is shown
 * where the standard error is a terminal.
 */
#define _XOPEN_SOURCE 700 /* fseeko, isatty */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "files.h"
#include "program.h"

static const char *program;

/* What a run is about, and what came of it. */
struct stream {
    FILE *in, *out; /* out: or NULL */
    int64_t n;      /* floats in the file */
    int64_t piece;  /* of so many; 0: of random lengths */
    float total;
    uint64_t digest;
};

enum { LONGEST = 1 << 20 }; /* random piece */

static void show_progress(const struct stream *s, int64_t done, double since) {
    if (!isatty(STDERR_FILENO)) return;
    const double elapsed = seconds() - since;
    fprintf(stderr, "\r%3d %%, %.2f GB/s ", s->n > 0 ? (int)(100 * done / s->n) : 100,
            elapsed > 0 ? 4e-9 * (double)done / elapsed : 0);
    if (done == s->n) fprintf(stderr, "\r%30s\r", "");
}

static void run(vscan_ctx *ctx, struct stream *s) {
    const int64_t longest = s->piece > 0 ? s->piece : LONGEST;
    float *host = allocate(longest, sizeof *host);
    vscan_buffer *vector, *piece, *total;
    vscan_carry *carry;
    check(vscan_buffer_create(ctx, VSCAN_FLOAT, longest, &vector));
    check(vscan_carry_create(ctx, VSCAN_PLUS, VSCAN_FLOAT, VSCAN_FORWARD, &carry));
    check(vscan_buffer_create(ctx, VSCAN_FLOAT, 1, &total));
    const vscan_scan_options options = {.size = sizeof options, .total = total, .carry = carry};
    s->digest = UINT64_C(0xcbf29ce484222325);
    const double since = seconds();
    double shown = since;
    rewind(s->in);
    for (int64_t done = 0, here; done < s->n; done += here) {
        here = s->piece > 0 ? s->piece : 1 + random_below(random_below(LONGEST) + 1);
        if (here > s->n - done) here = s->n - done;
        if (fread(host, sizeof *host, (size_t)here, s->in) != (size_t)here)
            refuse(program, "the file cannot be read: %s",
                   ferror(s->in) ? strerror(errno) : "its end");
        check(vscan_buffer_view(vector, 0, here, &piece));
        check(vscan_buffer_upload(piece, 0, here, host));
        check(vscan_scan(ctx, VSCAN_PLUS, piece, piece, &options));
        check(vscan_buffer_download(piece, 0, here, host));
        check(vscan_buffer_destroy(piece));
        for (int64_t i = 0; i < here; i++) {
            uint32_t word;
            memcpy(&word, host + i, sizeof word);
            s->digest = (s->digest ^ word) * UINT64_C(0x100000001b3);
        }
        if (s->out != NULL && fwrite(host, sizeof *host, (size_t)here, s->out) != (size_t)here)
            refuse(program, "the results cannot be written: %s", strerror(errno));
        if (seconds() - shown > 0.1 || done + here == s->n) {
            shown = seconds();
            show_progress(s, done + here, since);
        }
    }
    if (s->n > 0) check(vscan_buffer_get(total, 0, &s->total));
    check(vscan_carry_destroy(carry));
    check(vscan_buffer_destroy(total));
    check(vscan_buffer_destroy(vector));
    free(host);
}

static FILE *random_file(int64_t n) {
    FILE *file = tmpfile();
    if (file == NULL) refuse(program, "there is no temporary file: %s", strerror(errno));
    for (int64_t i = 0; i < n; i++) {
        const float x = (float)random_unit();
        if (fwrite(&x, sizeof x, 1, file) != 1)
            refuse(program, "the temporary file cannot be written: %s", strerror(errno));
    }
    return file;
}

int main(int argc, char **argv) {
    program = argv[0];
    struct stream first = {.piece = 1 << 20};
    if (argc > 1 && is_file_name(argv[1])) {
        if (argc > 4) refuse(program, "usage: %s FILE [PIECE [OUT]]", program);
        first.in = fopen(argv[1], "rb");
        if (first.in == NULL || fseeko(first.in, 0, SEEK_END) != 0)
            refuse(program, "%s cannot be opened: %s", argv[1], strerror(errno));
        const int64_t bytes = (int64_t)ftello(first.in);
        if (bytes < 0 || bytes % (int64_t)sizeof(float) != 0)
            refuse(program, "%s has %" PRId64 " bytes, no file of floats", argv[1], bytes);
        first.n = bytes / (int64_t)sizeof(float);
        if (argc > 2) first.piece = read_number(program, "PIECE", argv[2], 1, INT64_C(1) << 32);
        if (argc > 3) {
            first.out = fopen(argv[3], "wb");
            if (first.out == NULL)
                refuse(program, "%s cannot be opened: %s", argv[3], strerror(errno));
        }
        printf("n        %" PRId64 "\n", first.n);
        seed_random(program, NULL);
    } else {
        first.n = read_n_and_seed(argc, argv, 1 << 22, 0, INT64_C(1) << 40);
        first.in = random_file(first.n);
    }

    vscan_ctx *ctx = open_context();
    run(ctx, &first);
    if (first.out != NULL && fclose(first.out) != 0)
        refuse(program, "the results cannot be written: %s", strerror(errno));
    printf("pieces   of %" PRId64 ": total %.9g, digest %016" PRIx64 "\n", first.piece,
           (double)first.total, first.digest);
    struct stream second = {.in = first.in, .n = first.n};
    run(ctx, &second);
    printf("pieces   of random lengths: total %.9g, digest %016" PRIx64 "\n", (double)second.total,
           second.digest);
    fclose(first.in);
    return close_context(ctx, first.digest == second.digest && first.total == second.total);
}
