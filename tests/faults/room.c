/* SPDX-License-Identifier: Apache-2.0 */
/* No memory at three places that every_call.c does not come to. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "core/handle.h"
#include "faults.h"

/* There is no memory for this. */
#define WANT_NONE(tour, what, call)                                                                \
    do {                                                                                           \
        WANT(tour, VSCAN_ERROR_HOST_MEMORY, call);                                                 \
        if (strstr(vscan_ctx_last_error(ctx), what) == NULL)                                       \
            tour_wrong(tour, "%s: \"%s\"", #call, vscan_ctx_last_error(ctx));                      \
    } while (0)

/* ---- Handles ------------------------------------------------------------------------------------- */

/* Takes slots until the next one needs a new slab; returns how many. */
enum { MOST = 1 << 16 };
static void *taken[MOST];

static int fill_pool(struct vscan__pool *pool) {
    int count = 0;
    while (pool->free != NULL || pool->next < pool->end) taken[count++] = vscan__pool_take(pool);
    return count;
}

static void empty_pool(struct vscan__pool *pool, int count) {
    while (count > 0) vscan__pool_give(pool, taken[--count]);
}

void check_full_pools(vscan_backend backend, struct tour *tour) {
    const vscan_ctx_options options = {.size = sizeof options, .backend = (int32_t)backend};
    vscan_ctx *ctx = NULL, *another = NULL;
    vscan_buffer *buffer = NULL;
    vscan_carry *carry = NULL;
    int count = fill_pool(&vscan__ctx_pool);
    faults_arm(FAULT_MEMORY, FAULT_ON, 1);
    WANT_NONE(tour, "the context's handle", vscan_ctx_create(&options, &ctx));
    faults_disarm();
    WANT(tour, VSCAN_OK, vscan_ctx_create(&options, &ctx)); /* it needs the new slab */
    WANT(tour, VSCAN_OK, vscan_ctx_create(&options, &another));
    WANT(tour, VSCAN_OK, vscan_ctx_destroy(another));
    empty_pool(&vscan__ctx_pool, count);

    count = fill_pool(&vscan__buffer_pool);
    for (int64_t n = 0; n < 2;
         n++) { /* one element: its memory is the first allocation on the CPU */
        faults_arm(FAULT_MEMORY, FAULT_ON, backend == VSCAN_BACKEND_CPU ? n + 1 : 1);
        WANT_NONE(tour, "the buffer", vscan_buffer_create(ctx, VSCAN_INT, n, &buffer));
        faults_disarm();
    }
    empty_pool(&vscan__buffer_pool, count);

    count = fill_pool(&vscan__carry_pool);
    faults_arm(FAULT_MEMORY, FAULT_ON, backend == VSCAN_BACKEND_CPU ? 2 : 1);
    WANT_NONE(tour, "the carry's handle",
              vscan_carry_create(ctx, VSCAN_PLUS, VSCAN_INT, VSCAN_FORWARD, &carry));
    faults_disarm();
    empty_pool(&vscan__carry_pool, count);
    if (buffer != NULL || carry != NULL) tour_wrong(tour, "a handle though there was no memory");
    WANT(tour, VSCAN_OK, vscan_ctx_destroy(ctx));
}

/* ---- A scan past the caches ---------------------------------------------------------------------- */

enum { N = 9 << 20 }; /* floats, more than 32 MiB */

void check_long_scan(struct tour *tour) {
    const vscan_ctx_options options = {
        .size = sizeof options, .backend = VSCAN_BACKEND_CPU, .threads = 2};
    vscan_ctx *ctx = NULL;
    vscan_buffer *in = NULL, *out = NULL;
    int64_t events = 1;
    for (int64_t n = 0; n <= events; n++) { /* without a fault, then with each */
        WANT(tour, VSCAN_OK, vscan_ctx_create(&options, &ctx));
        WANT(tour, VSCAN_OK, vscan_buffer_create(ctx, VSCAN_FLOAT, N, &in));
        WANT(tour, VSCAN_OK, vscan_buffer_create(ctx, VSCAN_FLOAT, N, &out));
        WANT(tour, VSCAN_OK, vscan_buffer_fill(in, &(float){1}));
        faults_arm(FAULT_MEMORY, FAULT_ONCE, n); /* 0: never */
        WANT(tour, VSCAN_OK, vscan_scan(ctx, VSCAN_PLUS, in, out, NULL));
        if (n == 0) events = faults_events(FAULT_MEMORY);
        faults_disarm();
        const float *results = vscan_buffer_pointer(out);
        for (int i = 0; i < N; i++)
            if (results[i] != (float)(i + 1)) {
                tour_wrong(tour, "a scan without memory for its workspace is wrong at %d", i);
                break;
            }
        WANT(tour, VSCAN_OK, vscan_buffer_destroy(in));
        WANT(tour, VSCAN_OK, vscan_buffer_destroy(out));
        WANT(tour, VSCAN_OK, vscan_ctx_destroy(ctx));
    }
    if (events < 2) tour_wrong(tour, "a long scan makes %lld allocations", (long long)events);
}

/* ---- More keys than an int can count ------------------------------------------------------------- */

/* They are never read, as there is no memory for their offsets: theirs need not be there. */
void check_many_keys(struct tour *tour) {
    const int64_t n = INT64_C(1) << 31;
    const vscan_ctx_options options = {.size = sizeof options, .backend = VSCAN_BACKEND_CPU};
    vscan_ctx *ctx = NULL;
    vscan_buffer *keys = NULL;
    void *const memory =
        mmap(NULL, (size_t)n * 4, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        tour_wrong(tour, "no addresses");
        return;
    }
    WANT(tour, VSCAN_OK, vscan_ctx_create(&options, &ctx));
    WANT(tour, VSCAN_OK, vscan_buffer_wrap(ctx, VSCAN_INT, memory, n, &keys));
    faults_arm(FAULT_MEMORY, FAULT_ON, 1);
    WANT(tour, VSCAN_ERROR_HOST_MEMORY, vscan_runs(ctx, keys, NULL, NULL, NULL));
    faults_disarm();
    WANT(tour, VSCAN_OK, vscan_buffer_destroy(keys));
    WANT(tour, VSCAN_OK, vscan_ctx_destroy(ctx));
    munmap(memory, (size_t)n * 4);
}
