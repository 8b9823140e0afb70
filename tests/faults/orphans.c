/* SPDX-License-Identifier: Apache-2.0 */
/* A context that goes before its buffers and carries takes all memory with it; handles are what remains. */
#include "faults.h"

/* What the library has allocated and not yet released. */
static int64_t allocations(void) {
    const struct cudart_live live = cudart_live();
    return wrapped_live() + live.device_memory + live.host_memory + live.streams + live.events;
}

void check_orphans(vscan_backend backend, struct tour *tour) {
    enum { OWNED, VIEW, LEFT, GONE, WRAPPED, EMPTY, BUFFERS };
    const vscan_ctx_options options = {.size = sizeof options, .backend = (int32_t)backend};
    static _Alignas(64) float host[32];
    void *const callers = backend == VSCAN_BACKEND_CUDA ? cudart_callers_memory() : host;
    vscan_ctx *ctx;
    vscan_buffer *b[BUFFERS];
    vscan_carry *carry[2];
    const int64_t before = allocations();
    WANT(tour, VSCAN_OK, vscan_ctx_create(&options, &ctx));
    WANT(tour, VSCAN_OK, vscan_buffer_create(ctx, VSCAN_FLOAT, 1000, &b[OWNED]));
    WANT(tour, VSCAN_OK, vscan_buffer_view(b[OWNED], 0, 10, &b[VIEW]));
    WANT(tour, VSCAN_OK, vscan_buffer_create(ctx, VSCAN_FLOAT, 1000, &b[GONE]));
    WANT(tour, VSCAN_OK,
         vscan_buffer_view(b[GONE], 5, 10, &b[LEFT])); /* what it is a view of goes first */
    WANT(tour, VSCAN_OK, vscan_buffer_wrap(ctx, VSCAN_FLOAT, callers, 32, &b[WRAPPED]));
    WANT(tour, VSCAN_OK, vscan_buffer_create(ctx, VSCAN_FLOAT, 0, &b[EMPTY]));
    for (int k = 0; k < 2; k++)
        WANT(tour, VSCAN_OK,
             vscan_carry_create(ctx, VSCAN_PLUS, VSCAN_FLOAT, VSCAN_FORWARD, &carry[k]));
    WANT(tour, VSCAN_OK, vscan_buffer_destroy(b[GONE]));
    WANT(tour, VSCAN_OK, vscan_carry_destroy(carry[1]));
    WANT(tour, VSCAN_OK, vscan_sort_reserve(ctx, VSCAN_INT, 0, 1 << 20));
    WANT(tour, VSCAN_OK, vscan_scan(ctx, VSCAN_PLUS, b[OWNED], b[OWNED], NULL));
    WANT(tour, VSCAN_OK, vscan_ctx_destroy(ctx));
    if (allocations() != before)
        tour_wrong(tour, "%lld allocations outlive their context",
                   (long long)(allocations() - before));
    host[0] = 1; /* the caller's is still there */
    if (vscan_buffer_length(b[VIEW]) != -1) tour_wrong(tour, "a view of memory that is gone");
    static const int order[] = {VIEW, WRAPPED, LEFT, EMPTY, OWNED};
    for (int k = 0; k < BUFFERS - 1; k++) WANT(tour, VSCAN_OK, vscan_buffer_destroy(b[order[k]]));
    WANT(tour, VSCAN_OK, vscan_carry_destroy(carry[0]));
    if (allocations() != before) tour_wrong(tour, "handles without memory have released some");
}
