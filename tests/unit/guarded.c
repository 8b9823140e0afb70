/* SPDX-License-Identifier: Apache-2.0 */
/* Views with canaries; see guarded.h. */
#include "guarded.h"

#include <stdlib.h>
#include <string.h>

#include "reference.h"

enum {
    ALIGNMENT = 256, /* bytes; a multiple of everything that a backend may like */
    AFTER = 256      /* bytes of canary after the view */
};

/* No test computes this by chance: as float and double a number near -1e-16 and -1e-130. */
enum { POISON = 0xa5 };

/* Elements in so many bytes. */
static int64_t elements(vscan_type type, size_t bytes) {
    if (type == VSCAN_BIT) return (int64_t)bytes * 8;
    return (int64_t)(bytes / reference_bytes(type, 1));
}

struct guarded guarded_make(vscan_ctx *ctx, vscan_type type, int64_t n, int shift,
                            const void *data) {
    struct guarded g = {.ctx = ctx, .type = type, .n = n};
    const size_t step = type == VSCAN_BIT ? 4 : reference_bytes(type, 1);
    g.bytes = reference_bytes(type, n);
    g.before = shift < 0 ? 0 : ALIGNMENT + (size_t)shift * step;
    g.total = n;
    if (shift >= 0) g.total = elements(type, (g.before + g.bytes + AFTER + 7) / 8 * 8);
    const size_t all = reference_bytes(type, g.total);
    g.image = malloc(all + 1);
    g.after = malloc(all + 1);
    assert_non_null(g.image);
    assert_non_null(g.after);
    memset(g.image, POISON, all + 1);
    if (data != NULL && n > 0) memcpy(g.image + g.before, data, g.bytes);
    ok(ctx, vscan_buffer_create(ctx, type, g.total, &g.whole));
    ok(ctx, vscan_buffer_upload(g.whole, 0, g.total, g.image));
    ok(ctx, vscan_buffer_view(g.whole, elements(type, g.before), n, &g.view));
    return g;
}

/* The canary bits in the last 32-bit word of a vector of bits. */
static bool same_tail(const struct guarded *g) {
    if (g->type != VSCAN_BIT || g->n % 32 == 0 || g->total == g->n) return true;
    uint32_t expected, got;
    const size_t at = g->before + g->bytes - 4;
    memcpy(&expected, g->image + at, 4);
    memcpy(&got, g->after + at, 4);
    return (expected ^ got) >> g->n % 32 == 0;
}

const void *guarded_download(struct guarded *g, bool *intact) {
    const size_t all = reference_bytes(g->type, g->total), end = g->before + g->bytes;
    ok(g->ctx, vscan_buffer_download(g->whole, 0, g->total, g->after));
    *intact = memcmp(g->image, g->after, g->before) == 0 &&
              memcmp(g->image + end, g->after + end, all - end) == 0 && same_tail(g);
    return g->after + g->before;
}

const void *guarded_original(const struct guarded *g) {
    return g->image + g->before;
}

void guarded_free(struct guarded *g) {
    ok(g->ctx, vscan_buffer_destroy(g->view));
    ok(g->ctx, vscan_buffer_destroy(g->whole));
    free(g->image);
    free(g->after);
    *g = (struct guarded){0};
}
