/* SPDX-License-Identifier: Apache-2.0
 * cc hello.c $(pkg-config --cflags --libs libvscan) */
#include <stdio.h>
#include <vscan.h>

int main(void) {
    int32_t v[8] = {3, 1, 4, 1, 5, 9, 2, 6};
    vscan_ctx_options on_cpu = {.size = sizeof on_cpu, .backend = VSCAN_BACKEND_CPU};
    vscan_scan_options exclusive = {.size = sizeof exclusive, .kind = VSCAN_EXCLUSIVE};
    vscan_ctx *ctx = NULL;
    vscan_buffer *wrapped = NULL; /* v itself, no copy of it */
    if (vscan_ctx_create(&on_cpu, &ctx) || vscan_buffer_wrap(ctx, VSCAN_INT, v, 8, &wrapped) ||
        vscan_scan(ctx, VSCAN_PLUS, wrapped, wrapped, NULL) || vscan_ctx_synchronize(ctx))
        return fprintf(stderr, "%s\n", vscan_ctx_last_error(ctx));
    for (int i = 0; i < 8; i++) printf("%d%c", v[i], i < 7 ? ' ' : '\n');
    if (vscan_scan(ctx, VSCAN_PLUS, wrapped, wrapped, &exclusive) || vscan_ctx_synchronize(ctx))
        return fprintf(stderr, "%s\n", vscan_ctx_last_error(ctx));
    for (int i = 0; i < 8; i++) printf("%d%c", v[i], i < 7 ? ' ' : '\n');
    vscan_status refused = vscan_scan(ctx, VSCAN_PLUS, wrapped, NULL, NULL);
    printf("status %d: %s\n", refused, vscan_ctx_last_error(ctx));
    vscan_buffer_destroy(wrapped);
    vscan_ctx_destroy(ctx);
}
