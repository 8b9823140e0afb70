/* SPDX-License-Identifier: Apache-2.0 */
/* A stream that is being captured: what waits or allocates is refused, and nothing else is. */
#include "faults.h"

void check_captures(struct tour *tour) {
    const vscan_ctx_options options = {.size = sizeof options, .backend = VSCAN_BACKEND_CUDA};
    vscan_ctx *ctx;
    vscan_buffer *v, *more;
    vscan_carry *carry;
    float host[8] = {0};
    WANT(tour, VSCAN_OK, vscan_ctx_create(&options, &ctx));
    WANT(tour, VSCAN_OK, vscan_buffer_create(ctx, VSCAN_FLOAT, 8, &v));
    WANT(tour, VSCAN_OK, vscan_carry_create(ctx, VSCAN_PLUS, VSCAN_FLOAT, VSCAN_FORWARD, &carry));
    for (int capture = CUDART_CAPTURING; capture <= CUDART_ANOTHER_CAPTURES; capture++) {
        cudart_capture((enum cudart_capture)capture);
        WANT(tour, VSCAN_OK, vscan_scan(ctx, VSCAN_PLUS, v, v, NULL));
        WANT(tour, VSCAN_OK, vscan_buffer_fill(v, host));
        WANT(tour, VSCAN_OK, vscan_ctx_set_stream(ctx, cudart_callers_stream()));
        WANT(tour, VSCAN_OK, vscan_ctx_set_stream(ctx, NULL));
        WANT(tour, VSCAN_ERROR_CAPTURE, vscan_buffer_create(ctx, VSCAN_FLOAT, 8, &more));
        WANT(tour, VSCAN_ERROR_CAPTURE, vscan_buffer_upload(v, 0, 8, host));
        WANT(tour, VSCAN_ERROR_CAPTURE, vscan_buffer_download(v, 0, 8, host));
        WANT(tour, VSCAN_ERROR_CAPTURE, vscan_ctx_synchronize(ctx));
        WANT(tour, VSCAN_ERROR_CAPTURE, vscan_ctx_reserve(ctx, VSCAN_FLOAT, (int64_t)1 << 30));
        WANT(tour, VSCAN_ERROR_CAPTURE, vscan_buffer_destroy(v));
        WANT(tour, VSCAN_ERROR_CAPTURE, vscan_carry_destroy(carry));
        WANT(tour, VSCAN_ERROR_CAPTURE, vscan_ctx_destroy(ctx));
        if (vscan_buffer_length(v) != 8) tour_wrong(tour, "a buffer that was kept is gone");
    }
    cudart_capture(CUDART_CALLERS_STREAM_CAPTURES);
    WANT(tour, VSCAN_OK, vscan_ctx_set_stream(ctx, cudart_callers_stream()));
    WANT(tour, VSCAN_ERROR_CAPTURE, vscan_ctx_synchronize(ctx));
    WANT(tour, VSCAN_OK, vscan_ctx_set_stream(ctx, NULL));
    WANT(tour, VSCAN_OK, vscan_ctx_synchronize(ctx));
    cudart_capture(CUDART_NONE);
    WANT(tour, VSCAN_OK, vscan_buffer_destroy(v));
    WANT(tour, VSCAN_OK, vscan_carry_destroy(carry));
    WANT(tour, VSCAN_OK, vscan_ctx_destroy(ctx));
}
