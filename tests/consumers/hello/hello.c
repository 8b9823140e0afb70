/* SPDX-License-Identifier: Apache-2.0
 * cc hello.c $(pkg-config --cflags --libs libvscan) */
#include <stdio.h>
#include <stdlib.h>
#include <vscan.h>

static void check(vscan_status status, const vscan_ctx *ctx) {
    if (status == VSCAN_OK) return;
    fprintf(stderr, "%s\n", vscan_ctx_last_error(ctx));
    exit(EXIT_FAILURE);
}

static void print(const int32_t v[8]) {
    for (int i = 0; i < 8; i++) printf("%d%c", v[i], i < 7 ? ' ' : '\n');
}

int main(void) {
    int32_t v[8] = {3, 1, 4, 1, 5, 9, 2, 6}, sums[8];

    /* An array: one call. */
    check(vscan_host_scan(VSCAN_PLUS, VSCAN_INT, VSCAN_INCLUSIVE, VSCAN_FORWARD, v, 8, sums), NULL);
    print(sums);

    /* Many calls, or a GPU: a context, and buffers; here they are the arrays themselves, no copies. */
    vscan_ctx_options on_cpu = {.size = sizeof on_cpu, .backend = VSCAN_BACKEND_CPU};
    vscan_scan_options exclusive = {.size = sizeof exclusive, .kind = VSCAN_EXCLUSIVE};
    vscan_ctx *ctx = NULL;
    vscan_buffer *in = NULL, *out = NULL, *shorter = NULL;
    check(vscan_ctx_create(&on_cpu, &ctx), NULL);
    check(vscan_buffer_wrap(ctx, VSCAN_INT, v, 8, &in), ctx);
    check(vscan_buffer_wrap(ctx, VSCAN_INT, sums, 8, &out), ctx);
    check(vscan_scan(ctx, VSCAN_PLUS, in, out, &exclusive), ctx);
    check(vscan_ctx_synchronize(ctx), ctx); /* before sums is read */
    print(sums);

    /* What is refused has a status and a sentence. */
    check(vscan_buffer_wrap(ctx, VSCAN_INT, sums, 7, &shorter), ctx);
    vscan_status refused = vscan_scan(ctx, VSCAN_PLUS, in, shorter, NULL);
    printf("status %d: %s\n", refused, vscan_ctx_last_error(ctx));

    vscan_buffer_destroy(shorter);
    vscan_buffer_destroy(out);
    vscan_buffer_destroy(in);
    vscan_ctx_destroy(ctx);
}
