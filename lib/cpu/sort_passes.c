/* SPDX-License-Identifier: Apache-2.0 */
#include "cpu/sort_passes.h"

#include <string.h>
#if defined __SSE2__
#include <emmintrin.h>
#endif

#define INLINE static inline __attribute__((always_inline))

/* ---- Keys ------------------------------------------------------------------------------------ */

struct vscan__order vscan__order_of(const struct vscan__sort *sort) {
    const uint64_t sign = UINT64_C(1) << (8 * sort->key_size - 1);
    const uint64_t descending = sort->descending ? UINT64_MAX : 0;
    const uint64_t infinity = sort->key_size == 8 ? UINT64_C(0x7ff) << 52 : UINT64_C(0xff) << 23;
    return (struct vscan__order){.keys = vscan__key_order_of(sort->key_size, sort->real),
                                 .least = sort->real ? sign - 1 - infinity : 0,
                                 .turned = sort->real ? descending : descending ^ sign,
                                 .descending = descending,
                                 .window = UINT64_MAX >> (64 - sort->bits),
                                 .first_bit = sort->first_bit};
}

/* Of the numbers, the bits of a digit. */
struct digit {
    uint64_t turned;
    int shift;
    unsigned mask;
};

static struct digit digit_of(const struct vscan__order *order, int pass) {
    const int shift = VSCAN__DIGIT_BITS * pass;
    return (struct digit){order->turned, order->first_bit + shift,
                          (unsigned)(order->window >> shift) & (VSCAN__DIGITS - 1)};
}

/* Key i of this kind, as a number before bits are turned over. */
INLINE uint64_t number_of(int key_size, enum vscan__key_kind kind, const struct vscan__order *order,
                          const void *keys, int64_t i) {
    if (kind == VSCAN__ANY) /* the same ones, and NaN is the greatest */
        return vscan__key_number(&order->keys, key_size, keys, i) + order->least;
    if (key_size == 4) {
        const uint32_t x = ((const uint32_t *)keys)[i], sign = UINT32_C(1) << 31;
        return kind == VSCAN__INTEGER ? x : x ^ ((0 - (x >> 31)) | sign);
    }
    const uint64_t x = ((const uint64_t *)keys)[i], sign = UINT64_C(1) << 63;
    return kind == VSCAN__INTEGER ? x : x ^ ((0 - (x >> 63)) | sign);
}

INLINE unsigned digit_in(int key_size, const struct digit *digit, uint64_t number) {
    if (key_size == 4)
        return (((uint32_t)number ^ (uint32_t)digit->turned) >> digit->shift) & digit->mask;
    return (unsigned)((number ^ digit->turned) >> digit->shift) & digit->mask;
}

/* ---- Passes over a range --------------------------------------------------------------------- */

INLINE void move_element(int size, void *to, int64_t at, const void *from, int64_t i) {
    if (size == 4) ((uint32_t *)to)[at] = ((const uint32_t *)from)[i];
    if (size == 8) ((uint64_t *)to)[at] = ((const uint64_t *)from)[i];
}

/* Adds to counts the digits of passes first_pass .. first_pass + passes - 1; passes is a constant. */
INLINE struct vscan__seen count(int key_size, enum vscan__key_kind kind,
                                const struct vscan__order *given, const void *keys, int64_t first,
                                int64_t end, int first_pass, int passes,
                                int64_t (*counts)[VSCAN__DIGITS]) {
    const struct vscan__order order = *given;
    const uint64_t one = number_of(key_size, kind, &order, keys, first);
    struct digit digits[VSCAN__PASSES];
    for (int p = 0; p < passes; p++) digits[p] = digit_of(&order, first_pass + p);
    struct vscan__seen seen = {0, 0};
    for (int64_t i = first; i < end; i++) {
        const uint64_t x = number_of(key_size, kind, &order, keys, i);
        seen.differing |= x ^ one;
        if (kind == VSCAN__REAL) { /* NaN is out of the infinities' bounds on either side */
            const uint64_t y = key_size == 4 ? (uint32_t)(x - order.least) : x - order.least;
            seen.greatest = y > seen.greatest ? y : seen.greatest;
        }
        for (int p = 0; p < passes; p++) counts[p][digit_in(key_size, digits + p, x)]++;
    }
    return seen;
}

/* Moves elements to places, one for each digit, which go on. */
INLINE void scatter(int key_size, int value_size, enum vscan__key_kind kind,
                    const struct vscan__order *given, const struct vscan__vectors *from,
                    const struct vscan__vectors *to, int64_t first, int64_t end, int pass,
                    int64_t *places, int64_t bound) {
    const struct vscan__order order = *given;
    const struct vscan__vectors in = *from, out = *to;
    const struct digit digit = digit_of(&order, pass);
#pragma GCC unroll 4 /* pays for the comparison with bound */
    for (int64_t i = first; i < end; i++) {
        const uint64_t x = number_of(key_size, kind, &order, in.keys, i);
        const unsigned d = digit_in(key_size, &digit, x);
        const int64_t at = places[d];
        if (__builtin_expect(at >= bound, 0)) continue;
        places[d] = at + 1;
        move_element(key_size, out.keys, at, in.keys, i);
        move_element(value_size, out.values, at, in.values, i);
    }
}

/* n elements of a line to where they are to be; a whole one past the caches, where it begins at a multiple of 16. */
INLINE void put(int size, void *to, int64_t at, const char *from, int64_t n, bool is_aligned) {
    char *const there = (char *)to + at * size;
#if defined __SSE2__
    if (is_aligned && n == VSCAN__LINE) {
        for (int i = 0; i < VSCAN__LINE * size / 16; i++)
            _mm_stream_si128((__m128i *)(void *)there + i,
                             _mm_load_si128((const __m128i *)(const void *)from + i));
        return;
    }
#else
    (void)is_aligned;
#endif
    memcpy(there, from, (size_t)(n * size));
}

/* As scatter, where the places lie in more pages and lines than the caches hold: by lines of the output. */
INLINE void scatter_lines(int key_size, int value_size, enum vscan__key_kind kind,
                          const struct vscan__order *given, const struct vscan__vectors *from,
                          const struct vscan__vectors *to, int64_t first, int64_t end, int pass,
                          int64_t *places, int64_t bound, char *lines) {
    const struct vscan__order order = *given;
    const struct vscan__vectors in = *from, out = *to;
    const struct digit digit = digit_of(&order, pass);
    /* elements between a line's begin and the output's first key; values may lie otherwise */
    const int64_t skew = (int64_t)((uintptr_t)out.keys / (unsigned)key_size % VSCAN__LINE);
    const bool alike = value_size > 0 &&
                       (uintptr_t)out.values / (unsigned)(value_size + !value_size) % VSCAN__LINE ==
                           (uintptr_t)skew;
    char *const values = lines + VSCAN__DIGITS * VSCAN__LINE * key_size;
    int64_t begins[VSCAN__DIGITS]; /* of what is not yet moved */
    memcpy(begins, places, sizeof begins);
    for (int64_t i = first; i < end; i++) {
        const uint64_t x = number_of(key_size, kind, &order, in.keys, i);
        const unsigned d = digit_in(key_size, &digit, x);
        const int64_t at = places[d]++, slot = (at + skew) & (VSCAN__LINE - 1);
        move_element(key_size, lines, d * VSCAN__LINE + slot, in.keys, i);
        move_element(value_size, values, d * VSCAN__LINE + slot, in.values, i);
        if (slot < VSCAN__LINE - 1) continue;
        const int64_t begin = begins[d], n = at + 1 - begin;
        const int64_t line = d * VSCAN__LINE + VSCAN__LINE - n;
        begins[d] = at + 1;
        if (__builtin_expect(at >= bound, 0)) continue;
        put(key_size, out.keys, begin, lines + line * key_size, n, true);
        if (value_size > 0)
            put(value_size, out.values, begin, values + line * value_size, n, alike);
    }
    for (int d = 0; d < VSCAN__DIGITS; d++) {
        const int64_t begin = begins[d], n = places[d] - begin;
        const int64_t line = d * VSCAN__LINE + ((begin + skew) & (VSCAN__LINE - 1));
        if (__builtin_expect(places[d] > bound, 0)) {
            places[d] = bound;
            continue;
        }
        put(key_size, out.keys, begin, lines + line * key_size, n, false);
        if (value_size > 0)
            put(value_size, out.values, begin, values + line * value_size, n, false);
    }
    vscan__cpu_fence();
}

typedef int32_t four __attribute__((vector_size(16)));
enum { FOUR = 4 };

/* How many of n numbers are less than each. Without a branch, as it would be taken at random. numbers: room for FOUR
   more, which are set. */
INLINE void count_less(int32_t *numbers, int32_t *less, int64_t n) {
    four v[VSCAN__RANKED / FOUR + 1];
    const int64_t blocks = (n + FOUR - 1) / FOUR;
    for (int64_t i = n; i < blocks * FOUR; i++) numbers[i] = INT32_MAX;
    memcpy(v, numbers, (size_t)blocks * sizeof *v);
    for (int64_t i = 0; i < n; i++) {
        const four x = {numbers[i], numbers[i], numbers[i], numbers[i]};
        four sum = {0, 0, 0, 0};
        for (int64_t b = 0; b < blocks; b++) sum += v[b] < x; /* -1 where it is */
        less[i] = -(sum[0] + sum[1] + sum[2] + sum[3]);
    }
}

/* Puts numbers in order that are nearly so, with what belongs to them. */
INLINE void insert(int key_size, int value_size, uint64_t *numbers, void *keys, void *values,
                   int64_t n) {
    for (int64_t i = 1; i < n; i++) {
        const uint64_t x = numbers[i];
        uint64_t key, value;
        move_element(key_size, &key, 0, keys, i);
        move_element(value_size, &value, 0, values, i);
        int64_t at = i;
        for (; at > 0 && numbers[at - 1] > x; at--) {
            numbers[at] = numbers[at - 1];
            move_element(key_size, keys, at, keys, at - 1);
            move_element(value_size, values, at, values, at - 1);
        }
        numbers[at] = x;
        move_element(key_size, keys, at, &key, 0);
        move_element(value_size, values, at, &value, 0);
    }
}

/* What was put in order goes to elements first .. first + n - 1. */
INLINE void write_back(int key_size, int value_size, const struct vscan__vectors *out,
                       int64_t first, const uint64_t *keys, const uint64_t *values, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        move_element(key_size, out->keys, first + i, keys, i);
        move_element(value_size, out->values, first + i, values, i);
    }
}

/* Fewer elements are inserted at once. */
enum { WORTH_RANKS = 7 };

/*
 * Elements first .. first + n - 1, n <= VSCAN__RANKED, each to its rank; out may be in. Of equal ones every next one goes
 * one further. Of numbers with more than 32 bits that differ the highest 32 are compared; where these are equal, the
 * others are put in order afterwards.
 */
INLINE void rank(int key_size, int value_size, const struct vscan__order *order,
                 const struct vscan__vectors *in, const struct vscan__vectors *out, int64_t first,
                 int64_t n) {
    uint64_t numbers[VSCAN__RANKED], sorted[VSCAN__RANKED];
    uint64_t keys[VSCAN__RANKED], values[VSCAN__RANKED], differing = 0;
    int32_t compared[VSCAN__RANKED + FOUR], less[VSCAN__RANKED];
    uint8_t before[VSCAN__RANKED] = {0};
    for (int64_t i = 0; i < n; i++) {
        numbers[i] = vscan__compared(order, key_size, in->keys, first + i);
        differing |= numbers[i] ^ numbers[0];
    }
    __atomic_signal_fence(__ATOMIC_SEQ_CST); /* the keys may be others from here on */
    int shift = 0; /* bits that are not compared */
    if (key_size == 8 && differing >> 32 != 0)
        shift = 32 - __builtin_clz((unsigned)(differing >> 32));
    for (int64_t i = 0; i < n; i++)
        compared[i] = (int32_t)((uint32_t)(numbers[i] >> shift) ^ UINT32_C(1) << 31);
    count_less(compared, less, n);
    bool alike = false;
    for (int64_t i = 0; i < n; i++) {
        const int64_t at = less[i] + before[less[i]];
        alike |= before[less[i]]++ > 0;
        sorted[at] = numbers[i];
        move_element(key_size, keys, at, in->keys, first + i);
        move_element(value_size, values, at, in->values, first + i);
    }
    if (alike && shift > 0) insert(key_size, value_size, sorted, keys, values, n);
    write_back(key_size, value_size, out, first, keys, values, n);
}

/* The same, n < WORTH_RANKS. */
INLINE void insert_few(int key_size, int value_size, const struct vscan__order *order,
                       const struct vscan__vectors *in, const struct vscan__vectors *out,
                       int64_t first, int64_t n) {
    uint64_t numbers[WORTH_RANKS], keys[WORTH_RANKS], values[WORTH_RANKS];
    for (int64_t i = 0; i < n; i++) {
        numbers[i] = vscan__compared(order, key_size, in->keys, first + i);
        move_element(key_size, keys, i, in->keys, first + i);
        move_element(value_size, values, i, in->values, first + i);
    }
    __atomic_signal_fence(__ATOMIC_SEQ_CST); /* as in rank */
    insert(key_size, value_size, numbers, keys, values, n);
    write_back(key_size, value_size, out, first, keys, values, n);
}

/* ---- For each kind and sizes ------------------------------------------------------------------- */

#define KEYS(X, kind) X(4, kind) X(8, kind)
#define SIZES(X, kind)                                                                             \
    X(4, 0, kind) X(4, 4, kind) X(4, 8, kind) X(8, 0, kind) X(8, 4, kind) X(8, 8, kind)
#define EACH(OF, X) OF(X, VSCAN__INTEGER) OF(X, VSCAN__REAL) OF(X, VSCAN__ANY)

#define X(key, kind)                                                                               \
    static struct vscan__seen count_##key##_##kind(                                                \
        const struct vscan__order *order, const void *keys, int64_t first, int64_t end, int pass,  \
        int passes, int64_t(*counts)[VSCAN__DIGITS]) {                                             \
        /* constants, so that the loop over passes is unrolled */                                  \
        if (passes == 1) return count(key, kind, order, keys, first, end, pass, 1, counts);        \
        if (passes == 2) return count(key, kind, order, keys, first, end, pass, 2, counts);        \
        if (passes == 3) return count(key, kind, order, keys, first, end, pass, 3, counts);        \
        if ((key) == 8 && passes > 4)                                                              \
            (void)count_##key##_##kind(order, keys, first, end, pass + 4, passes - 4, counts + 4); \
        return count(key, kind, order, keys, first, end, pass, 4, counts);                         \
    }
EACH(KEYS, X)
#undef X

#define X(key, value, kind)                                                                        \
    static void scatter_##key##_##value##_##kind(                                                  \
        const struct vscan__order *order, const struct vscan__vectors *from,                       \
        const struct vscan__vectors *to, int64_t first, int64_t end, int pass, int64_t *places,    \
        int64_t bound) {                                                                           \
        scatter(key, value, kind, order, from, to, first, end, pass, places, bound);               \
    }                                                                                              \
    static void scatter_lines_##key##_##value##_##kind(                                            \
        const struct vscan__order *order, const struct vscan__vectors *from,                       \
        const struct vscan__vectors *to, int64_t first, int64_t end, int pass, int64_t *places,    \
        int64_t bound, char *lines) {                                                              \
        scatter_lines(key, value, kind, order, from, to, first, end, pass, places, bound, lines);  \
    }
EACH(SIZES, X)
#undef X

#define X(key, value, kind)                                                                        \
    static void rank_##key##_##value(const struct vscan__order *order,                             \
                                     const struct vscan__vectors *in,                              \
                                     const struct vscan__vectors *out, int64_t first, int64_t n) { \
        if (n < WORTH_RANKS)                                                                       \
            insert_few(key, value, order, in, out, first, n);                                      \
        else                                                                                       \
            rank(key, value, order, in, out, first, n);                                            \
    }
SIZES(X, VSCAN__ANY)
#undef X

const struct vscan__sort_loops vscan__sort_loops[VSCAN__KEY_KINDS][2][3] = {
#define X(key, value, kind)                                                                        \
    [kind][(key) / 8][(value) / 4] = {count_##key##_##kind, scatter_##key##_##value##_##kind,      \
                                      scatter_lines_##key##_##value##_##kind,                      \
                                      rank_##key##_##value},
    EACH(SIZES, X)
#undef X
};
