/* SPDX-License-Identifier: Apache-2.0 */
/* Heads of keys. A block's heads are made as bytes, and then written as flags of any type. */
#include "cpu/chunks.h"

/* Keys are compared as bits: they differ, and are not both a NaN. nan: what a key without its sign is
   larger than then; no integer is. */
#define HEADS(T, S, nan)                                                                           \
    do {                                                                                           \
        const T *key = (const T *)keys->keys + first;                                              \
        const T sign = (T)1 << (8 * sizeof(T) - 1);                                                \
        bytes[0] |= first == 0;                                                                    \
        for (int64_t i = first == 0; i < n; i++) {                                                 \
            const T a = key[i - 1], b = key[i];                                                    \
            const uint8_t both = ((S)(a & ~sign) > (nan)) & ((S)(b & ~sign) > (nan));              \
            bytes[i] |= (uint8_t)((a != b) & !both);                                               \
        }                                                                                          \
    } while (0)

static struct found heads_chunk(const void *work, int64_t from, int64_t count) {
    const struct vscan__keys *keys = work;
    uint8_t bytes[BLOCK];
    EACH_BLOCK(first, n, from, count) {
        if (keys->flags != NULL)
            vscan__cpu_read_flags(keys->flags, keys->flag_type, first, n, bytes);
        else
            EACH(i, n) bytes[i] = 0;
        if (keys->type == VSCAN_FLOAT)
            HEADS(uint32_t, int32_t, 0x7f800000);
        else if (keys->type == VSCAN_DOUBLE)
            HEADS(uint64_t, int64_t, INT64_C(0x7ff0000000000000));
        else if (keys->type == VSCAN_LONG)
            HEADS(uint64_t, int64_t, INT64_MAX);
        else
            HEADS(uint32_t, int32_t, INT32_MAX);
        vscan__cpu_write_flags(keys->out, keys->out_type, first, n, bytes);
    }
    return nothing;
}

vscan_status vscan__cpu_keys_to_heads(vscan_ctx *ctx, const struct vscan__keys *keys) {
    return run_chunks(ctx, heads_chunk, keys, keys->n, vscan__element_size((vscan_type)keys->type),
                      2, VSCAN_OK);
}
