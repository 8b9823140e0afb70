/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Segment heads. Flags are int, bytes or bits, and a backward scan begins a segment where a forward scan
 * ends one. Tiles see neither: they get one bit a position, in scan order.
 *
 * Forward, position p is a head where p = 0 or flag[p] is set. Backward, position p is element
 * n - 1 - p, the last one of its segment where p = 0 or flag[n - p] is set.
 */
#include <string.h>

#if defined __SSE2__
#include <emmintrin.h>
#endif

#include "cpu/cpu.h"

/* Flags at .. at + 31 as a word, lowest first. */
#if defined __SSE2__
/* Bit j: byte j of the two is 0. */
static uint32_t zeros(__m128i low, __m128i high) {
    const __m128i zero = _mm_setzero_si128();
    return (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(low, zero)) |
           (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(high, zero)) << 16;
}

static uint32_t word_of_bytes(const uint8_t *flags) {
    return ~zeros(_mm_loadu_si128((const __m128i *)flags),
                  _mm_loadu_si128((const __m128i *)(flags + 16)));
}

/* Of sixteen flags, bytes of ones where they are 0. */
static __m128i sixteen_ints(const int32_t *flags) {
    const __m128i *at = (const __m128i *)flags, zero = _mm_setzero_si128();
    __m128i x[4];
    for (int k = 0; k < 4; k++) x[k] = _mm_cmpeq_epi32(_mm_loadu_si128(at + k), zero);
    return _mm_packs_epi16(_mm_packs_epi32(x[0], x[1]), _mm_packs_epi32(x[2], x[3]));
}

static uint32_t word_of_ints(const int32_t *flags) {
    return ~((uint32_t)_mm_movemask_epi8(sixteen_ints(flags)) |
             (uint32_t)_mm_movemask_epi8(sixteen_ints(flags + 16)) << 16);
}
#else
/* The bits come from a table, as not every instruction set can shift each element of a vector by a
   number of its own. */
static uint32_t word_of_ints(const int32_t *flags) {
#define FOUR(i) 1u << (i), 1u << ((i) + 1), 1u << ((i) + 2), 1u << ((i) + 3)
    static const uint32_t bits[32] = {FOUR(0),  FOUR(4),  FOUR(8),  FOUR(12),
                                      FOUR(16), FOUR(20), FOUR(24), FOUR(28)};
#undef FOUR
    uint32_t word = 0;
    for (int j = 0; j < 32; j++) word |= flags[j] != 0 ? bits[j] : 0;
    return word;
}

static uint32_t word_of_bytes(const uint8_t *flags) {
    const uint64_t low = UINT64_C(0x7f7f7f7f7f7f7f7f);
    uint32_t word = 0;
    for (int j = 0; j < 4; j++) {
        uint64_t x;
        memcpy(&x, flags + 8 * j, 8);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
        x = __builtin_bswap64(x);
#endif
        /* the top bit of every byte: the byte is not 0 */
        x = ((((x & low) + low) | x) & ~low) >> 7;
        /* byte b has its bit at 8 b; the factor moves it to 56 + b, and no two sums overlap */
        word |= (uint32_t)((x * UINT64_C(0x0102040810204080)) >> 56) << (8 * j);
    }
    return word;
}

#endif

static uint32_t word_of_bits(const uint32_t *flags, int64_t at) {
    int shift = (int)(at % 32);
    uint32_t word = flags[at / 32] >> shift;
    if (shift != 0) word |= flags[at / 32 + 1] << (32 - shift);
    return word;
}

bool vscan__cpu_flag_at(const struct vscan__scan *scan, int64_t i) {
    i += scan->first_flag;
    switch (scan->flag_type) {
    case VSCAN_INT:
        return ((const int32_t *)scan->flags)[i] != 0;
    case VSCAN_BYTE:
        return ((const uint8_t *)scan->flags)[i] != 0;
    default:
        return (((const uint32_t *)scan->flags)[i / 32] >> (i % 32) & 1) != 0;
    }
}

static uint32_t reversed(uint32_t word) {
    word = (word >> 1 & 0x55555555u) | (word & 0x55555555u) << 1;
    word = (word >> 2 & 0x33333333u) | (word & 0x33333333u) << 2;
    word = (word >> 4 & 0x0f0f0f0fu) | (word & 0x0f0f0f0fu) << 4;
    return __builtin_bswap32(word);
}

/* Flags at .. at + 31; all of them exist. */
static inline uint32_t word_at(const struct vscan__scan *scan, int32_t type, int64_t at) {
    at += scan->first_flag;
    switch (type) {
    case VSCAN_INT:
        return word_of_ints((const int32_t *)scan->flags + at);
    case VSCAN_BYTE:
        return word_of_bytes((const uint8_t *)scan->flags + at);
    default:
        return word_of_bits(scan->flags, at);
    }
}

/* ---- Flags ----------------------------------------------------------------------------------- */

/* Heads at positions p .. p + 31. Position p + j has flag number p + j, backward n - p - j. */
static uint32_t word_of_small(const struct vscan__scan *scan, int64_t p) {
    uint32_t word = p == 0;
    for (int64_t j = p == 0; j < 32 && p + j < scan->n; j++)
        word |= (uint32_t)vscan__cpu_flag_at(scan, scan->backward ? scan->n - p - j : p + j) << j;
    return word;
}

/* The same where there are more than 32 flags: where some of the word's do not exist, 32 others that do
   are read, and shifted to their places. */
static uint32_t edge_word(const struct vscan__scan *scan, int64_t p) {
    const int32_t type = scan->flag_type;
    if (scan->backward) {
        if (p == 0) return reversed(word_at(scan, type, scan->n - 32)) << 1 | 1;
        const int64_t lowest = scan->n - p - 31, at = lowest > 1 ? lowest : 1;
        return reversed(word_at(scan, type, at)) >> (at - lowest);
    }
    const int64_t at = p < scan->n - 32 ? p : scan->n - 32;
    return word_at(scan, type, at) >> (p - at) | (p == 0);
}

/* Words from that at p on, all of whose flags exist, and none of which is the vector's first. */
static inline __attribute__((always_inline)) void whole_words(const struct vscan__scan *scan,
                                                              int32_t type, int64_t p,
                                                              int64_t count, uint32_t *words) {
    if (scan->backward) {
        for (int64_t i = 0; i < count; i++)
            words[i] = reversed(word_at(scan, type, scan->n - p - 31 - 32 * i));
    } else {
        for (int64_t i = 0; i < count; i++) words[i] = word_at(scan, type, p + 32 * i);
    }
}

void vscan__cpu_heads(const struct vscan__scan *scan, int64_t first, int64_t n, uint32_t *words) {
    const int64_t count = (n + 31) / 32;
    /* the words between the vector's first and one that lacks flags: position p has flag p,
       backward flag n - p */
    const int64_t from = first == 0, reach = scan->n - first;
    const int64_t whole = reach / 32 < count ? reach / 32 : count;
    if (whole > from) {
        uint32_t *to = words + from;
        const int64_t p = first + 32 * from;
        if (scan->flag_type == VSCAN_INT)
            whole_words(scan, VSCAN_INT, p, whole - from, to);
        else if (scan->flag_type == VSCAN_BYTE)
            whole_words(scan, VSCAN_BYTE, p, whole - from, to);
        else if (scan->backward || (scan->first_flag + p) % 32 != 0)
            whole_words(scan, VSCAN_BIT, p, whole - from, to);
        else
            memcpy(to, (const uint32_t *)scan->flags + (scan->first_flag + p) / 32,
                   (size_t)(whole - from) * sizeof *words);
    }
    for (int64_t i = 0; i < count; i++) {
        if (i == from && whole > from) i = whole;
        if (i == count) break;
        const int64_t p = first + 32 * i;
        words[i] = scan->n > 32 ? edge_word(scan, p) : word_of_small(scan, p);
    }
    if (n % 32 != 0) words[count - 1] &= ~(UINT32_MAX << n % 32);
}

/* Without the instruction, which not every processor has. */
int64_t vscan__cpu_count_heads(const uint32_t *words, int64_t n) {
    uint32_t count = 0;
    for (int64_t i = 0; i < (n + 31) / 32; i++) {
        uint32_t x = words[i];
        x -= x >> 1 & 0x55555555u;
        x = (x & 0x33333333u) + (x >> 2 & 0x33333333u);
        x = (x + (x >> 4)) & 0x0f0f0f0fu;
        x += x >> 8;
        count += (x + (x >> 16)) & 63;
    }
    return count;
}
