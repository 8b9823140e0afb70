/* SPDX-License-Identifier: Apache-2.0 */
/* Memory: room that grows, copies, fills, bits. */
#include <stdlib.h>
#include <string.h>

#include "cpu/chunks.h"

bool vscan__cpu_grow(void **memory, int64_t *held, int64_t bytes) {
    if (bytes <= *held) return true;
    free(*memory);
    *memory = NULL;
    *held = 0;
    if (posix_memalign(memory, 64, (size_t)bytes) != 0) return false;
    *held = bytes;
    return true;
}

/* ---- Copy ------------------------------------------------------------------------------------ */

struct copy {
    void *to;
    const void *from;
    const struct vscan__cpu_maps *maps;
    bool stream;
};

static struct found copy_chunk(const void *work, int64_t first, int64_t n) {
    const struct copy *copy = work;
    char *const to = (char *)copy->to + first;
    const char *const from = (const char *)copy->from + first;
    if (copy->stream) {
        copy->maps->stream(to, from, n);
        vscan__cpu_fence();
    } else {
        memcpy(to, from, (size_t)n);
    }
    return nothing;
}

vscan_status vscan__cpu_copy(vscan_ctx *ctx, void *to, const void *from, int64_t bytes) {
    if (bytes < 2 * WORTH) {
        memcpy(to, from, (size_t)bytes);
        return VSCAN_OK;
    }
    const struct copy copy = {to, from, maps_of(ctx), bytes >= STREAM_FROM};
    return run_chunks(ctx, copy_chunk, &copy, bytes, 1, 2, VSCAN_OK);
}

/* ---- Fill ------------------------------------------------------------------------------------ */

struct fill {
    char *to;
    int64_t size; /* of an element */
    union vscan__value value;
    const struct vscan__cpu_maps *maps;
    bool stream;
};

/* As integers, whatever the type: every NaN keeps its bits. */
static void fill_elements(const struct fill *fill, void *to, int64_t n) {
    if (fill->size == 4)
        EACH(i, n)((int32_t *)to)[i] = fill->value.as_int;
    else if (fill->size == 8)
        EACH(i, n)((int64_t *)to)[i] = fill->value.as_long;
    else
        memset(to, fill->value.as_byte, (size_t)n);
}

static struct found fill_chunk(const void *work, int64_t first, int64_t n) {
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
    vscan__cpu_fence();
    return nothing;
}

/* The bits first .. end - 1 of a word. */
static uint32_t word_mask(int64_t first, int64_t end) {
    const uint32_t from = UINT32_MAX << first;
    return end < 32 ? from & ~(UINT32_MAX << end) : from;
}

static void fill_bits(uint32_t *words, int64_t first, int64_t n, bool value) {
    const int64_t end = first + n;
    for (int64_t word = first / 32; word <= (end - 1) / 32; word++) {
        const int64_t base = 32 * word;
        const uint32_t mask = word_mask(first > base ? first - base : 0, end - base);
        words[word] = value ? words[word] | mask : words[word] & ~mask;
    }
}

vscan_status vscan__cpu_fill(vscan_ctx *ctx, vscan_type type, void *pointer, int64_t first,
                             int64_t n, union vscan__value value) {
    const int64_t size = vscan__element_size(type);
    if (type == VSCAN_BIT) {
        fill_bits(pointer, first, n, value.as_byte != 0);
        return VSCAN_OK;
    }
    const struct fill fill = {(char *)pointer + first * size, size, value, maps_of(ctx),
                              n * size >= STREAM_FROM};
    return run_chunks(ctx, fill_chunk, &fill, n, size, 2, VSCAN_OK);
}

vscan_status vscan__cpu_repeat(vscan_ctx *ctx, const struct vscan__map *map) {
    union vscan__value value = {.bits = 0};
    if (map->type == VSCAN_BIT)
        value.as_byte = *(const uint32_t *)map->a & 1;
    else
        memcpy(&value, map->a, (size_t)vscan__element_size((vscan_type)map->type));
    return vscan__cpu_fill(ctx, (vscan_type)map->type, map->out, 0, map->n, value);
}

vscan_status vscan__cpu_copy_bits(vscan_ctx *ctx, void *to, const void *from, int64_t n) {
    (void)ctx;
    uint32_t *target = to;
    const uint32_t *source = from;
    const int64_t whole = n / 32;
    memcpy(target, source, (size_t)whole * 4);
    if (n % 32 != 0) {
        const uint32_t mask = word_mask(0, n % 32);
        target[whole] = (target[whole] & ~mask) | (source[whole] & mask);
    }
    return VSCAN_OK;
}
