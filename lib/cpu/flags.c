/* SPDX-License-Identifier: Apache-2.0 */
/* Flags of any type as bytes, each 0 or 1, so that loops know of bytes alone. */
#include <string.h>

#include "cpu/chunks.h"

/* The 8 lowest bits, as bytes: one in each of 8 copies, made 1 by a carry into the highest bit of its
   byte. */
static inline void eight_bits(uint32_t bits, uint8_t *bytes) {
    const uint64_t ones = UINT64_C(0x0101010101010101), each = UINT64_C(0x8040201008040201);
    const uint64_t x = (((bits & 255) * ones & each) + 127 * ones) >> 7 & ones;
    for (int j = 0; j < 8; j++) bytes[j] = (uint8_t)(x >> 8 * j);
}

/* The other way: the factor moves the bit of byte j to 56 + j, and no two sums overlap. */
static inline uint32_t bits_of_eight(const uint8_t *bytes) {
    uint64_t x;
    memcpy(&x, bytes, sizeof x);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    x = __builtin_bswap64(x);
#endif
    return (uint32_t)(x * UINT64_C(0x0102040810204080) >> 56);
}

void vscan__cpu_read_flags(const void *flags, int32_t type, int64_t first, int64_t n,
                           uint8_t *bytes) {
    if (type == VSCAN_INT) {
        const int32_t *from = (const int32_t *)flags + first;
        EACH(i, n) bytes[i] = from[i] != 0;
    } else if (type == VSCAN_BYTE) {
        const uint8_t *from = (const uint8_t *)flags + first;
        EACH(i, n) bytes[i] = from[i] != 0;
    } else {
        const uint32_t *from = (const uint32_t *)flags + first / 32;
        for (int64_t i = 0; i < n / 8; i++) eight_bits(from[i / 4] >> 8 * (i % 4), bytes + 8 * i);
        for (int64_t i = n & ~(int64_t)7; i < n; i++)
            bytes[i] = (uint8_t)(from[i / 32] >> (i % 32) & 1);
    }
}

/* In a word of bits: pairs, fours and bytes of them, and then all are added. */
static inline uint32_t set_bits(uint32_t x) {
    x -= x >> 1 & 0x55555555;
    x = (x & 0x33333333) + (x >> 2 & 0x33333333);
    x = (x + (x >> 4)) & 0x0f0f0f0f;
    x += x >> 8;
    return (x + (x >> 16)) & 0xff;
}

int64_t vscan__cpu_count_flags(const void *flags, int32_t type, int64_t first, int64_t n) {
    int64_t all = 0;
    EACH_BLOCK(at, size, first, n) {
        uint32_t count = 0; /* not as wide as all, for vectors of it */
        if (type == VSCAN_INT) {
            const int32_t *from = (const int32_t *)flags + at;
            EACH(i, size) count += from[i] != 0;
        } else if (type == VSCAN_BYTE) {
            const uint8_t *from = (const uint8_t *)flags + at;
            EACH(i, size) count += from[i] != 0;
        } else {
            const uint32_t *from = (const uint32_t *)flags + at / 32;
            EACH(w, size / 32) count += set_bits(from[w]);
            if (size % 32 != 0) count += set_bits(from[size / 32] << (32 - size % 32));
        }
        all += count;
    }
    return all;
}

void vscan__cpu_write_flags(void *flags, int32_t type, int64_t first, int64_t n,
                            const uint8_t *bytes) {
    if (type == VSCAN_INT) {
        int32_t *to = (int32_t *)flags + first;
        EACH(i, n) to[i] = bytes[i];
    } else if (type == VSCAN_BYTE) {
        memcpy((uint8_t *)flags + first, bytes, (size_t)n);
    } else {
        uint32_t *to = (uint32_t *)flags + first / 32;
        for (int64_t w = 0; w < n / 32; w++) {
            uint32_t word = 0;
            for (int j = 0; j < 4; j++) word |= bits_of_eight(bytes + 32 * w + 8 * j) << 8 * j;
            to[w] = word;
        }
        if (n % 32 == 0) return;
        const int64_t w = n / 32;
        uint32_t word = to[w] & UINT32_MAX << n % 32;
        for (int64_t j = 0; j < n % 32; j++) word |= (uint32_t)bytes[32 * w + j] << j;
        to[w] = word;
    }
}
