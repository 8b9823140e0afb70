/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program of version 1.0: every options struct, each in memory of its own that ends where the struct of
 * 1.0 ends, with known results. It is compiled with tests/golden/vscan_1_0.h, and run with the library of
 * today, and with one whose structs have grown (consume.sh, older_header and later_library).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vscan.h>

enum { N = 8, MOST = 16 };
static vscan_ctx *ctx;

static void check(vscan_status status, const char *what) {
    if (status == VSCAN_OK) return;
    fprintf(stderr, "%s: %s: %s\n", what, vscan_status_name(status), vscan_ctx_last_error(ctx));
    exit(1);
}
#define OK(call) check(call, #call)

/* A copy behind which AddressSanitizer lets nobody read. */
static void *own(const void *options, size_t bytes) {
    void *const copy = malloc(bytes);
    if (copy == NULL) exit(1);
    memcpy(copy, options, bytes);
    return copy;
}
#define OWN(type, ...) (type *)own(&(type){.size = sizeof(type), __VA_ARGS__}, sizeof(type))

static vscan_buffer *buffer_of(vscan_type type, int64_t n, const void *values) {
    vscan_buffer *buffer;
    OK(vscan_buffer_create(ctx, type, n, &buffer));
    if (values != NULL) OK(vscan_buffer_upload(buffer, 0, n, values));
    return buffer;
}

static void expect(const char *what, const vscan_buffer *buffer, const int32_t *values) {
    const int64_t n = vscan_buffer_length(buffer);
    int32_t ints[MOST];
    int64_t longs[MOST];
    const int is_long = vscan_buffer_type(buffer) == VSCAN_LONG;
    OK(vscan_buffer_download(buffer, 0, n, is_long ? (void *)longs : (void *)ints));
    for (int64_t i = 0; i < n; i++) {
        const long long got = is_long ? longs[i] : ints[i];
        if (got == values[i]) continue;
        fprintf(stderr, "%s: element %d is %lld, not %d\n", what, (int)i, got, (int)values[i]);
        exit(1);
    }
}
#define EXPECT(buffer, ...) expect(#buffer, buffer, (const int32_t[]){__VA_ARGS__})

int main(void) {
    const int32_t values[N] = {3, 1, 4, 1, 5, 9, 2, 6}, ends[3] = {0, 5, N};
    const int32_t places[N] = {7, 6, 5, 4, 3, 2, 1, 0};
    const uint8_t heads_of[N] = {1, 0, 0, 1, 0, 0, 0, 1};
    const vscan_value five = {.holds = VSCAN_INT, .as_int = 5};

    vscan_ctx_options *on_cpu = OWN(vscan_ctx_options, .backend = VSCAN_BACKEND_CPU, .threads = 1);
    OK(vscan_ctx_create(on_cpu, &ctx));
    vscan_buffer *in = buffer_of(VSCAN_INT, N, values), *out = buffer_of(VSCAN_INT, N, NULL);
    vscan_buffer *heads = buffer_of(VSCAN_BYTE, N, heads_of);
    vscan_buffer *total = buffer_of(VSCAN_INT, 1, NULL), *count = buffer_of(VSCAN_LONG, 1, NULL);
    vscan_buffer *totals = buffer_of(VSCAN_INT, 3, NULL), *pair = buffer_of(VSCAN_INT, 2, NULL);
    vscan_buffer *offsets = buffer_of(VSCAN_INT, 3, ends), *at = buffer_of(VSCAN_INT, N, places);
    vscan_buffer *written = buffer_of(VSCAN_BIT, N, NULL), *lines = buffer_of(VSCAN_INT, 4, NULL);
    vscan_carry *carry;
    OK(vscan_carry_create(ctx, VSCAN_PLUS, VSCAN_INT, VSCAN_FORWARD, &carry));

    vscan_scan_options *scan = OWN(vscan_scan_options, .kind = VSCAN_EXCLUSIVE,
                                   .direction = VSCAN_BACKWARD, .initial = five, .total = total);
    OK(vscan_scan(ctx, VSCAN_PLUS, in, out, scan));
    EXPECT(out, 33, 32, 28, 27, 22, 13, 11, 5);
    EXPECT(total, 36);
    vscan_scan_options *carried = OWN(vscan_scan_options, .carry = carry);
    for (int i = 0; i < 2; i++) OK(vscan_scan(ctx, VSCAN_PLUS, in, out, carried));
    EXPECT(out, 34, 35, 39, 40, 45, 54, 56, 62);

    vscan_scan_segmented_options *segmented =
        OWN(vscan_scan_segmented_options, .kind = VSCAN_EXCLUSIVE, .initial = five,
            .totals = totals, .count = count);
    OK(vscan_scan_segmented(ctx, VSCAN_PLUS, in, heads, out, segmented));
    EXPECT(out, 5, 8, 9, 5, 6, 11, 20, 5);
    EXPECT(totals, 13, 22, 11);
    EXPECT(count, 3);

    vscan_reduce_options *reduce =
        OWN(vscan_reduce_options, .direction = VSCAN_BACKWARD, .initial = five);
    OK(vscan_reduce(ctx, VSCAN_MAX, in, total, reduce));
    EXPECT(total, 9);
    vscan_extreme_options *extreme = OWN(vscan_extreme_options, .direction = VSCAN_BACKWARD);
    OK(vscan_scan_extreme(ctx, VSCAN_MIN, in, NULL, out, extreme));
    EXPECT(out, 3, 3, 3, 3, 6, 6, 6, 7);

    vscan_reduce_segmented_options *of_segments =
        OWN(vscan_reduce_segmented_options, .initial = five, .count = count);
    OK(vscan_reduce_segmented(ctx, VSCAN_PLUS, in, heads, totals, of_segments));
    EXPECT(totals, 13, 22, 11);
    vscan_reduce_by_offsets_options *by_offsets =
        OWN(vscan_reduce_by_offsets_options, .initial = five);
    OK(vscan_reduce_by_offsets(ctx, VSCAN_PLUS, in, offsets, pair, by_offsets));
    EXPECT(pair, 19, 22);

    vscan_matrix_options *matrix = OWN(vscan_matrix_options, .direction = VSCAN_BACKWARD,
                                       .pitch = 2, .initial = five, .totals = lines, .matrices = 2);
    OK(vscan_scan_rows(ctx, VSCAN_PLUS, in, 2, 2, out, matrix));
    EXPECT(out, 9, 6, 10, 6, 19, 14, 13, 11);
    EXPECT(lines, 9, 10, 19, 13);

    vscan_permute_options *permute = OWN(vscan_permute_options, .written = written);
    OK(vscan_permute(ctx, in, at, out, permute));
    EXPECT(out, 6, 2, 9, 5, 1, 4, 1, 3);
    vscan_count_options *counted = OWN(vscan_count_options, .count = count);
    OK(vscan_pack(ctx, in, heads, totals, counted));
    EXPECT(totals, 3, 1, 6);
    vscan_sort_options *sort =
        OWN(vscan_sort_options, .order = VSCAN_DESCENDING, .first_bit = 0, .bits = 32);
    OK(vscan_sort(ctx, in, NULL, out, NULL, sort));
    EXPECT(out, 9, 6, 5, 4, 3, 2, 1, 1);

    void *const all[] = {on_cpu,      scan,       carried, segmented, reduce,  extreme,
                         of_segments, by_offsets, matrix,  permute,   counted, sort};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) free(all[i]);
    vscan_buffer *const buffers[] = {in,   out,     heads, total,   count, totals,
                                     pair, offsets, at,    written, lines};
    for (size_t i = 0; i < sizeof buffers / sizeof buffers[0]; i++)
        OK(vscan_buffer_destroy(buffers[i]));
    OK(vscan_carry_destroy(carry));
    OK(vscan_ctx_destroy(ctx));
    printf("a program of 1.0 with library %s: right\n", vscan_version_text());
    return 0;
}
