/* SPDX-License-Identifier: Apache-2.0 */
/* Copies and fills. */
#include <string.h>

#include "cpu/pieces.h"

/* ---- Copy ------------------------------------------------------------------------------------ */

struct copy {
    void *to;
    const void *from;
    const struct vscan__cpu_maps *maps;
    bool stream;
};

static struct found copy_piece(const void *work, int64_t first, int64_t n) {
    const struct copy *copy = work;
    char *const to = (char *)copy->to + first;
    const char *const from = (const char *)copy->from + first;
    if (copy->stream) {
        copy->maps->stream(to, from, n);
        fence();
    } else {
        memcpy(to, from, (size_t)n);
    }
    return nothing;
}

vscan_status vscan__cpu_copy(vscan_ctx *ctx, void *to, const void *from, int64_t bytes) {
    if (to == from) return VSCAN_OK;
    if (bytes < 2 * WORTH) {
        memcpy(to, from, (size_t)bytes);
        return VSCAN_OK;
    }
    const struct copy copy = {to, from, maps_of(ctx), bytes >= STREAM_FROM};
    return vscan__cpu_run_pieces(ctx, copy_piece, &copy, bytes, 1, 2, VSCAN_OK);
}

/* ---- Fill ------------------------------------------------------------------------------------ */

struct fill {
    char *to;
    int64_t size; /* of an element */
    union vscan__value value;
    const struct vscan__cpu_maps *maps;
    bool stream;
};

/* Integers whatever the type: every NaN keeps its bits. */
static void fill_elements(const struct fill *fill, void *to, int64_t n) {
    if (fill->size == 4)
        EACH(i, n)((int32_t *)to)[i] = fill->value.as_int;
    else if (fill->size == 8)
        EACH(i, n)((int64_t *)to)[i] = fill->value.as_long;
    else
        memset(to, fill->value.as_byte, (size_t)n);
}

static struct found fill_piece(const void *work, int64_t first, int64_t n) {
    const struct fill *fill = work;
    if (!fill->stream) {
        fill_elements(fill, fill->to + first * fill->size, n);
        return nothing;
    }
    _Alignas(64) char block[BLOCK * sizeof(int64_t)];
    fill_elements(fill, block, BLOCK);
    EACH_BLOCK(at, count, first, n) {
        fill->maps->stream(fill->to + at * fill->size, block, count * fill->size);
    }
    fence();
    return nothing;
}

vscan_status vscan__cpu_fill(vscan_ctx *ctx, void *to, int64_t size, int64_t n,
                             union vscan__value value) {
    const struct fill fill = {to, size, value, maps_of(ctx), n * size >= STREAM_FROM};
    return vscan__cpu_run_pieces(ctx, fill_piece, &fill, n, size, 2, VSCAN_OK);
}
