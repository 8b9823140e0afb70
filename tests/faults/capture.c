/* SPDX-License-Identifier: Apache-2.0 */
/* A stream that is being captured: what waits or allocates is refused, and nothing else is. */
#include "faults.h"

static void want(struct tour *tour, const char *call, vscan_status got, vscan_status wanted) {
    if (got != wanted)
        tour_wrong(tour, "in a capture, %s says %s, not %s", call, vscan_status_name(got),
                   vscan_status_name(wanted));
}
#define WANT(status, call) want(tour, #call, call, status)

void check_captures(struct tour *tour) {
    const vscan_ctx_options options = {.size = sizeof options, .backend = VSCAN_BACKEND_CUDA};
    vscan_ctx *ctx;
    vscan_buffer *v, *more;
    float host[8] = {0};
    WANT(VSCAN_OK, vscan_ctx_create(&options, &ctx));
    WANT(VSCAN_OK, vscan_buffer_create(ctx, VSCAN_FLOAT, 8, &v));
    for (int capture = CUDART_CAPTURING; capture <= CUDART_ANOTHER_CAPTURES; capture++) {
        cudart_capture((enum cudart_capture)capture);
        WANT(VSCAN_OK, vscan_scan(ctx, VSCAN_PLUS, v, v, NULL));
        WANT(VSCAN_OK, vscan_buffer_fill(v, host));
        WANT(VSCAN_OK, vscan_ctx_set_stream(ctx, cudart_callers_stream()));
        WANT(VSCAN_OK, vscan_ctx_set_stream(ctx, NULL));
        WANT(VSCAN_ERROR_CAPTURE, vscan_buffer_create(ctx, VSCAN_FLOAT, 8, &more));
        WANT(VSCAN_ERROR_CAPTURE, vscan_buffer_upload(v, 0, 8, host));
        WANT(VSCAN_ERROR_CAPTURE, vscan_buffer_download(v, 0, 8, host));
        WANT(VSCAN_ERROR_CAPTURE, vscan_ctx_synchronize(ctx));
        WANT(VSCAN_ERROR_CAPTURE, vscan_ctx_reserve(ctx, VSCAN_FLOAT, (int64_t)1 << 30));
        WANT(VSCAN_ERROR_CAPTURE, vscan_buffer_destroy(v));
        if (vscan_buffer_length(v) != 8) tour_wrong(tour, "a buffer that was kept is gone");
    }
    cudart_capture(CUDART_NONE);
    WANT(VSCAN_OK, vscan_buffer_destroy(v));
    WANT(VSCAN_OK, vscan_ctx_destroy(ctx));
}
